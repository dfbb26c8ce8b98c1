#!/usr/bin/env bash
# Reads the generated Verilog with four independent tools. `scripts/lint.sh --help` says how.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly default_folder=$root/rtl/generated/ecp5
readonly default_tops=(axis_register nic)
readonly verilator_waivers=$root/rtl/lint.vlt
readonly yosys_allowed=$root/rtl/yosys-warnings.allow
readonly bin=$root/.tools/bin

usage() {
    cat <<END
Usage: scripts/lint.sh [--help] [FOLDER [TOP...]]

Reads all *.v files of FOLDER (rtl/generated/ecp5) from each TOP module (${default_tops[*]}) with
  verilator   -Wall, waivers only from rtl/lint.vlt, which explains each
  yosys       netlist check, no latch, no asynchronous reset; warnings (tri-states are one) only
              as explained in rtl/yosys-warnings.allow
  iverilog    Verilog-2005, -Wall
  slang       extra, conversion and unused warnings; no module without a user
One finding of any of them is a failure.

Exit codes: 0 clean, 1 findings, 2 unusable arguments, 3 a tool is missing.
END
}

main() {
    case ${1:-} in
    --help | -h) usage && exit 0 ;;
    -*) die "$EXIT_INPUT" "lint.sh does not know '$1'; scripts/lint.sh --help lists the arguments." ;;
    esac
    local folder=${1:-$default_folder}
    [[ -d $folder ]] || die "$EXIT_INPUT" "There is no folder $folder to lint; 'cargo rtl' generates the Verilog."
    shift $(($# > 0))
    tops=("${default_tops[@]}")
    (($# == 0)) || tops=("$@")

    "$root/scripts/setup.sh" --quiet || exit
    cd "$folder"
    shopt -s nullglob
    files=(*.v)
    ((${#files[@]} > 0)) || die "$EXIT_INPUT" "There is no .v file in $folder; 'cargo rtl' generates the Verilog."

    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    findings=0
    missing_tool=false
    local top
    check waivers "" waivers_are_explained
    for top in "${tops[@]}"; do
        check verilator "$top" read_by_verilator "$top"
        check yosys "$top" read_by_yosys "$top"
        if command -v iverilog >/dev/null; then
            check iverilog "$top" read_by_iverilog "$top"
        fi
    done
    check slang "" read_by_slang
    if ! command -v iverilog >/dev/null; then
        warn "iverilog is missing, so this lint is not complete; install it with: apt-get install -y iverilog"
        missing_tool=true
    fi
    ((findings == 0)) || die "$EXIT_FAILED" "$findings of the checks above found something in $folder."
    ! $missing_tool || exit "$EXIT_TOOL"
}

# check READER TOP FUNCTION...: a function is content when it succeeds and prints nothing.
check() {
    local name="$1${2:+ $2}"
    shift 2
    if "$@" >"$log" 2>&1 && ! grep -q . "$log"; then
        printf '  clean     %s\n' "$name"
    else
        printf '  FINDINGS  %s\n' "$name"
        sed 's/^/    /' "$log"
        findings=$((findings + 1))
    fi
}

# Every waiver has a comment line right above it, names its rule, and none is about widths: they are how
# wrong arithmetic shows.
waivers_are_explained() {
    local ok=true
    awk '
        /^[ \t]*(\/\/|`verilator_config|$)/ { explained = /\/\//; next }
        !explained { print FILENAME ":" FNR ": the line above this waiver does not say why"; bad = 1 }
        /lint_off/ && !/-rule/ { print FILENAME ":" FNR ": the waiver does not name its rule"; bad = 1 }
        /WIDTH/ { print FILENAME ":" FNR ": a WIDTH warning is never waived"; bad = 1 }
        { explained = 0 }
        END { exit bad }' "$verilator_waivers" || ok=false
    awk '
        /^[ \t]*(#|$)/ { explained = /#/; next }
        !explained { print FILENAME ":" FNR ": the line above this pattern does not say why"; bad = 1 }
        { explained = 0 }
        END { exit bad }' "$yosys_allowed" || ok=false
    if grep -nE 'verilator +lint_off|translate_off|slang +lint_off' "${files[@]}" /dev/null; then
        echo "A waiver inside a generated file hides what the readers would say."
        ok=false
    fi
    $ok
}

read_by_verilator() {
    local output status=0
    output=$("$bin/verilator" --lint-only -Wall --top-module "$1" "$verilator_waivers" "${files[@]}" 2>&1) || status=$?
    grep -v '^- ' <<<"$output" || true # newer versions report their run time in such lines
    return "$status"
}

read_by_yosys() {
    local output status=0 allowed
    output=$("$bin/yosys" -p "
        read_verilog ${files[*]}
        hierarchy -check -top $1
        proc
        check -assert
        select -assert-none t:\$dlatch t:\$adlatch t:\$dlatchsr t:\$sr
        select -assert-none t:\$adff t:\$aldff t:\$dffsr" 2>&1) || status=$?
    allowed=$(grep -vE '^[[:blank:]]*(#|$)' "$yosys_allowed") || allowed='^$'
    grep -E 'Warning:|ERROR:' <<<"$output" | grep -vE -f <(printf '%s\n' "$allowed") || true
    if ((status != 0)); then
        echo "yosys ended with exit code $status."
        return 1
    fi
}

read_by_iverilog() {
    iverilog -g2005 -Wall -t null -s "$1" "${files[@]}"
}

read_by_slang() {
    "$bin/python" "$root/scripts/slang_lint.py" . "${tops[@]}"
}

main "$@"
