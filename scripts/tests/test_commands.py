"""The command lines of the scripts, and the launchers that setup.sh leaves."""

import pathlib
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
