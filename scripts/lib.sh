# What the scripts share. Sourced by them, never run on its own.
# shellcheck shell=bash

# shellcheck disable=SC2034 # used by the sourcing scripts
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The exit codes of every command of the project; 0 is success.
# shellcheck disable=SC2034
{
    readonly EXIT_FAILED=1 # a mismatch, a failed test, a lint finding
    readonly EXIT_INPUT=2  # an argument, profile or capture that cannot be used
    readonly EXIT_TOOL=3   # a tool that is missing, too old, or fails
}

# Everything that is not a script's result goes to standard error.
warn() { printf '%s\n' "$*" >&2; }

# die CODE SENTENCE
die() {
    warn "$2"
    exit "$1"
}

# version_at_least HAVE WANT: compares major.minor by number, so that 5.006 is 5.6.
version_at_least() {
    local have_major have_minor want_major want_minor
    IFS=. read -r have_major have_minor _ <<<"$1.0.0"
    IFS=. read -r want_major want_minor _ <<<"$2.0.0"
    ((10#$have_major > 10#$want_major ||
        (10#$have_major == 10#$want_major && 10#$have_minor >= 10#$want_minor)))
}
