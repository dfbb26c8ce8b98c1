"""The command lines of the scripts, and the launchers that setup.sh leaves."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


class CommandLines(unittest.TestCase):
    def test_help(self):
        for name in ("setup", "test", "lint", "demo", "bench"):
            with self.subTest(script=name):
                answer = run(ROOT / f"scripts/{name}.sh", "--help")
                self.assertEqual(answer.returncode, 0)
                self.assertIn("Exit codes:", answer.stdout)

    def test_unknown_step(self):
        answer = run(ROOT / "scripts/test.sh", "lint", "nonsense")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("no step or option 'nonsense'", answer.stderr)

    def test_every_listed_step_exists(self):
        listed = [line.split()[0] for line in run(ROOT / "scripts/test.sh", "--list").stdout.splitlines()]
        source = (ROOT / "scripts/test.sh").read_text()
        defined = [line[len("step_") : -len("() {")] for line in source.splitlines() if line.startswith("step_")]
        self.assertEqual(listed, defined)


class Steps(unittest.TestCase):
    """test.sh with steps of our own in place of the real ones."""

    def run_steps(self, steps, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            scripts = pathlib.Path(folder, "scripts")
            scripts.mkdir()
            (scripts / "lib.sh").write_text((ROOT / "scripts/lib.sh").read_text())
            (scripts / "setup.sh").write_text("#!/bin/sh\n")
            (scripts / "setup.sh").chmod(0o755)
            source = (ROOT / "scripts/test.sh").read_text()
            head, rest = source.split("readonly steps=(\n")
            tail = rest[rest.index("usage() {") :]
            table = "".join(f'    "{name}|a step"\n' for name in steps)
            bodies = "".join(f"step_{name}() {{\n{body}\n}}\n" for name, body in steps.items())
            (scripts / "test.sh").write_text(f"{head}readonly steps=(\n{table})\n{bodies}{tail}")
            return run("bash", scripts / "test.sh", *arguments)

    def test_all_pass(self):
        answer = self.run_steps({"one": "true", "two": "true"})
        self.assertEqual(answer.returncode, 0)
        self.assertEqual(answer.stdout.splitlines()[-1], "2 passed, 0 failed")

    def test_first_failing_command_ends_a_step_and_the_rest_still_runs(self):
        answer = self.run_steps({"one": "false\necho not reached", "two": "echo reached"})
        self.assertEqual(answer.returncode, 1)
        self.assertNotIn("not reached", answer.stdout)
        self.assertIn("reached", answer.stdout)
        self.assertIn("to run it alone: scripts/test.sh one", answer.stdout)
        self.assertEqual(answer.stdout.splitlines()[-1], "1 passed, 1 failed")

    def test_named_steps_only(self):
        answer = self.run_steps({"one": "false", "two": "true"}, "two")
        self.assertEqual(answer.stdout.splitlines()[-1], "1 passed, 0 failed")


class Demo(unittest.TestCase):
    """demo.sh with stand-ins for cargo and for the program that it builds."""

    def run_demo(self, *arguments, cargo_fails=False):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder, "project")
            programs = {
                "bin/cargo": f"""[ "$1" = metadata ] || exit {101 if cargo_fails else 0}
echo '{{"target_directory": "{folder}/built"}}'""",
                "built/release/metaroce-cosim": 'echo "$PWD: $*"; exit 1',
                "project/scripts/setup.sh": "",
                "project/.tools/bin/python": 'exec python3 "$@"',
            }
            for name, body in programs.items():
                file = pathlib.Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"#!/bin/sh\n{body}\n")
                file.chmod(0o755)
            for name in ("demo.sh", "lib.sh"):
                shutil.copy(ROOT / "scripts" / name, project / "scripts" / name)
            environment = os.environ | {"PATH": f"{folder}/bin:{os.environ['PATH']}"}
            return run(project / "scripts/demo.sh", *arguments, cwd="/", env=environment)

    def test_runs_in_the_callers_folder_and_passes_the_exit_code_on(self):
        answer = self.run_demo("my capture.pcap")
        self.assertEqual((answer.stdout, answer.returncode), ("/: demo my capture.pcap\n", 1))

    def test_failed_build_is_a_tool_failure(self):
        self.assertEqual(self.run_demo(cargo_fails=True).returncode, 3)


class Launchers(unittest.TestCase):
    def test_wasm_tool_sees_tmp(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            pathlib.Path(folder, "m.v").write_text("module m (input a, output y); assign y = a; endmodule\n")
            script = f"read_verilog {folder}/m.v; write_rtlil {folder}/m.il"
            answer = run(ROOT / ".tools/bin/yosys", "-q", "-p", script, cwd="/")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertIn("module \\m", pathlib.Path(folder, "m.il").read_text())

    def test_verilator_knows_its_root(self):
        answer = run(ROOT / ".tools/bin/verilator", "-getenv", "VERILATOR_ROOT")
        self.assertTrue(pathlib.Path(answer.stdout.strip(), "include/verilated.h").is_file())
        self.assertEqual(answer.stdout, (ROOT / ".tools/verilator-root").read_text())

    def test_solver(self):
        answer = run(ROOT / ".tools/bin/z3", "-in", input="(declare-const x Int)(assert (> x 1))(check-sat)")
        self.assertEqual(answer.stdout, "sat\n")


if __name__ == "__main__":
    unittest.main()
