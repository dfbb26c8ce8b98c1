#!/usr/bin/env bash
# The one test command. `scripts/test.sh --help` says how.
#
# A step is a function step_NAME and a line in `steps` below. Each runs from the project folder in a shell of its
# own with `set -euo pipefail`, so the first failing command ends it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly bin=$root/.tools/bin

# Name and purpose, in the order of running: the quick ones first.
readonly steps=(
    "format|the Rust code is formatted"
    "scripts|the scripts pass shellcheck and their own tests"
    "licences|every dependency has an allowed licence"
    "clippy|the Rust code has no clippy warning"
    "doc|the documentation builds without a warning"
    "test|all Rust tests"
    "lint|the generated Verilog is clean in four tools"
    "cosim|model and RTL in lockstep, every unit, profiles tiny and ecp5, every functional bin hit"
    "demo|the main job, on the default capture and at 10 % loss"
    "fpga|a bitstream of one unit for the iCE40 HX8K"
)

step_format() {
    cargo fmt --all --check
}

step_scripts() {
    "$bin/shellcheck" --external-sources --source-path=. scripts/*.sh .ci/run
    "$bin/python" -m doctest scripts/licences.py
    "$bin/python" -m unittest discover --start-directory scripts/tests
}

step_licences() {
    "$bin/python" scripts/licences.py
}

step_clippy() {
    # Clippy builds in folders of its own, and looks at no Verilated RTL: one small model will do.
    METAROCE_UNITS=axis_register METAROCE_PROFILES=tiny \
        cargo clippy --release --locked --workspace --all-targets -- -D warnings
}

step_doc() {
    # Like clippy, it looks at no Verilated RTL.
    METAROCE_UNITS=axis_register METAROCE_PROFILES=tiny RUSTDOCFLAGS="-D warnings" \
        cargo doc --release --locked --workspace --no-deps
}

step_test() {
    if cargo nextest --version >/dev/null 2>&1; then
        cargo nextest run --release --locked --workspace
        cargo test --release --locked --workspace --doc # nextest leaves these out
    else
        cargo test --release --locked --workspace
    fi
}

step_lint() {
    scripts/lint.sh
}

step_cosim() {
    local profile
    for profile in tiny ecp5; do
        cargo cosim run all --profile "$profile" --cycles 2000000 --seed 1 --require-bins
    done
}

step_demo() {
    scripts/demo.sh --rounds 20
    scripts/demo.sh --rounds 20 --loss 10 --profile tiny --seed 2
}

step_fpga() {
    cargo fpga build --board ice40-hx8k --profile tiny --unit path_table --require-mhz 12
}

usage() {
    cat <<'END'
Usage: scripts/test.sh [--list] [--help] [STEP...]

Runs all steps, or the named ones, to the end even when one fails, and sums up. Sets up the tools first.

  --list   list the steps

Exit codes: 0 all passed, 1 a step failed, 2 unknown step or option, 3 a tool is missing.
END
}

main() {
    local step selected=()
    while (($# > 0)); do
        case $1 in
        --list) list_steps && exit 0 ;;
        --help | -h) usage && exit 0 ;;
        *)
            declare -F "step_$1" >/dev/null ||
                die "$EXIT_INPUT" "test.sh has no step or option '$1'; scripts/test.sh --list lists the steps."
            selected+=("$1")
            ;;
        esac
        shift
    done
    if ((${#selected[@]} == 0)); then
        for step in "${steps[@]}"; do
            selected+=("${step%%|*}")
        done
    fi

    "$root/scripts/setup.sh" --quiet || exit
    cd "$root"
    local passed=0 failed=0 summary="" outcome start
    for step in "${selected[@]}"; do
        printf '\n=== %s: %s\n' "$step" "$(purpose_of "$step")"
        start=$SECONDS
        # Not in an `if`, where bash would switch the step's own `set -e` off.
        set +e
        (
            set -e
            "step_$step"
        )
        outcome=$?
        set -e
        if ((outcome == 0)); then
            passed=$((passed + 1))
            summary+=$(printf '  passed  %-10s %4d s' "$step" $((SECONDS - start)))$'\n'
        else
            failed=$((failed + 1))
            summary+=$(printf '  FAILED  %-10s %4d s   again: scripts/test.sh %s' "$step" $((SECONDS - start)) "$step")$'\n'
            printf '=== %s failed; to run it alone: scripts/test.sh %s\n' "$step" "$step"
        fi
    done
    printf '\n=== Summary\n%s%d passed, %d failed\n' "$summary" "$passed" "$failed"
    ((failed == 0)) || exit "$EXIT_FAILED"
}

list_steps() {
    local step
    for step in "${steps[@]}"; do
        printf '%-10s %s\n' "${step%%|*}" "${step#*|}"
    done
}

purpose_of() {
    local step
    for step in "${steps[@]}"; do
        [[ ${step%%|*} != "$1" ]] || printf '%s' "${step#*|}"
    done
}

main "$@"
