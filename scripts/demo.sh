#!/usr/bin/env bash
# The demonstration: a RoCEv2 capture through the four units, model and RTL in lockstep.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    cat <<'END'
Usage: scripts/demo.sh [ARGUMENT...]

Sets up the tools, builds, and runs `cargo cosim demo` with the arguments (`cargo cosim demo --help` lists them).

Exit codes: 0 model and RTL equal, 1 mismatch, 2 bad input, 3 a tool is missing, too old or failed.
END
    exit 0
fi

"$root/scripts/setup.sh" --quiet || exit
caller=$PWD
cd "$root"
cargo build --locked --release --package metaroce-verif --bin metaroce-cosim ||
    die "$EXIT_TOOL" "The build failed; the reason is above."
target=$(cargo metadata --no-deps --format-version 1 |
    "$root/.tools/bin/python" -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')

# What `cargo cosim` runs, but in the caller's folder, so that a path among the arguments means what it says.
cd "$caller"
exec "$target/release/metaroce-cosim" demo "$@"
