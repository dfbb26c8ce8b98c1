#!/usr/bin/env bash
# The benchmarks behind docs/performance.md. Arguments go to `cargo bench`.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    cat <<'END'
Usage: scripts/bench.sh [ARGUMENT...]

Sets up the tools, runs `cargo bench` of metaroce-verif with the arguments, and writes the ratios, with the machine's
name, to docs/performance.md.

Exit codes: 0 done, 3 a tool is missing, too old or failed.
END
    exit 0
fi

"$root/scripts/setup.sh" --quiet || exit
cd "$root"
cargo bench --locked --package metaroce-verif "$@" || die "$EXIT_TOOL" "The benchmark failed; the reason is above."
target=$(cargo metadata --no-deps --format-version 1 |
    "$root/.tools/bin/python" -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
"$root/.tools/bin/python" scripts/bench_table.py "$target/criterion" docs/performance.md
