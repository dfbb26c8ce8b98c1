"""Reads Verilog with slang: `slang_lint.py FOLDER TOP...`, run by .tools/bin/python.

Prints every finding of slang on the folder's *.v files, plus two of our own: a module that none of the tops
uses (the other readers start from a top and would not see it), and a top that is not there.
Exit code: 0 nothing found, 1 findings, 2 unusable arguments.
"""

import pathlib
import sys

from pyslang.driver import Driver

# Beyond the defaults: everything about widths and signs, unused and undriven signals.
WARNINGS = ["extra", "conversion", "unused"]


def main() -> int:
    if len(sys.argv) < 3:
        print("Usage: slang_lint.py FOLDER TOP...", file=sys.stderr)
        return 2
    folder, tops = pathlib.Path(sys.argv[1]), set(sys.argv[2:])
    files = sorted(str(file) for file in folder.glob("*.v"))
    if not files:
        print(f"There is no .v file in {folder}.", file=sys.stderr)
        return 2

    driver = Driver()
    driver.addStandardArgs()
    arguments = ["slang", *(f"-W{name}" for name in WARNINGS), *files]
    if not driver.parseCommandLine(" ".join(map(quoted, arguments))) or not driver.processOptions():
        return 2
    parsed = driver.parseAllSources()
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    driver.runAnalysis(compilation)
    accepted = driver.reportDiagnostics(True)
    findings = driver.diagEngine.numErrors + driver.diagEngine.numWarnings

    # Without a given top, slang takes each module that nobody instantiates as one.
    found = {instance.name for instance in compilation.getRoot().topInstances}
    for name in sorted(found - tops):
        print(f"{folder}: module {name} is used by none of: {' '.join(sorted(tops))}")
        findings += 1
    for name in sorted(tops - found):
        print(f"{folder}: module {name} is not there, or is used by another module and so is no top")
        findings += 1
    return 0 if parsed and accepted and findings == 0 else 1


def quoted(argument: str) -> str:
    """One word of slang's command line, which knows double quotes and backslashes."""
    return '"' + argument.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    sys.exit(main())
