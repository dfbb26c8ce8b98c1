#!/usr/bin/env bash
# The benchmarks behind docs/performance.md. Arguments go to `cargo bench`.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    cat <<'END'
Usage: scripts/bench.sh [ARGUMENT...]

Sets up the tools and runs `cargo bench` of metaroce-verif with the arguments.

Exit codes: 0 done, 3 a tool is missing, too old or failed.
END
    exit 0
fi

"$root/scripts/setup.sh" --quiet || exit
cd "$root"
cargo bench --locked --package metaroce-verif "$@" || die "$EXIT_TOOL" "The benchmark failed; the reason is above."
