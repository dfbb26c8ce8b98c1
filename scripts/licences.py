"""Checks that every crate in Cargo.lock may be used in this project: `licences.py`, from any folder.

A check of our own, because cargo-deny has to be compiled on each new machine, for minutes, and this part of
it is small. Advisories are not checked here: their database is not part of a checkout, so a run without
network could not do it. The weekly job in .github/workflows/ci.yml does.
Exit code: 0 all allowed, 1 a crate is not, 3 cargo failed.
"""

import json
import pathlib
import re
import subprocess
import sys

# Permissive licences that go with MIT OR Apache-2.0. A new one is added here with thought, not in passing.
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    metadata = subprocess.run(command, cwd=root, stdout=subprocess.PIPE)
    if metadata.returncode != 0:
        print("'cargo metadata --locked' failed; the reason is above.", file=sys.stderr)
        return 3
    packages = json.loads(metadata.stdout)["packages"]
    refused = [p for p in packages if not allowed(p["license"])]
    for package in refused:
        name, version, licence = package["name"], package["version"], package["license"]
        print(
            f"{name} {version} has the licence '{licence or 'none in its Cargo.toml'}', which is not among the "
            "allowed ones in scripts/licences.py: read it, then allow it there or replace the crate."
        )
    print(f"Licences of {len(packages)} crates read, {len(refused)} not allowed.")
    return 1 if refused else 0


def allowed(expression: str | None) -> bool:
    """Whether an SPDX expression can be met with allowed licences alone.

    >>> allowed("MIT"), allowed("GPL-3.0-only"), allowed(None), allowed("")
    (True, False, False, False)
    >>> allowed("GPL-3.0-only OR MIT"), allowed("GPL-3.0-only AND MIT")
    (True, False)
    >>> allowed("(MIT OR GPL-3.0-only) AND Unicode-3.0"), allowed("MIT OR GPL-3.0-only AND GPL-2.0-only")
    (True, True)
    >>> allowed("MIT/GPL-2.0"), allowed("Apache-2.0 WITH LLVM-exception"), allowed("MIT WITH Nothing")
    (True, True, False)
    >>> allowed("MIT OR"), allowed("(MIT"), allowed("MIT MIT"), allowed("MIT)")
    (False, False, False, False)
    """
    # A slash is how older crates write OR.
    tokens = re.findall(r"[()]|[^\s()]+", (expression or "").replace("/", " OR "))
    try:
        verdict = either(tokens)
    except IndexError:
        return False
    return verdict and not tokens


def either(tokens: list[str]) -> bool:
    verdict = both(tokens)
    while tokens[:1] == ["OR"]:
        tokens.pop(0)
        verdict = both(tokens) or verdict
    return verdict


def both(tokens: list[str]) -> bool:
    verdict = single(tokens)
    while tokens[:1] == ["AND"]:
        tokens.pop(0)
        verdict = single(tokens) and verdict
    return verdict


def single(tokens: list[str]) -> bool:
    token = tokens.pop(0)
    if token == "(":
        verdict = either(tokens)
        return tokens.pop(0) == ")" and verdict
    if tokens[:1] == ["WITH"]:
        tokens.pop(0)
        token += " WITH " + tokens.pop(0)
    return token in ALLOWED


if __name__ == "__main__":
    sys.exit(main())
