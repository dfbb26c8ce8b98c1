"""lint.sh on small hand-written Verilog: the good passes, and each fault is found by the reader that should."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

TOP = """// Sums up its steps.
module top (
    input wire clk,
    input wire rst,
    input wire [7:0] step,
    output wire [7:0] total
);
    reg [7:0] state;
    wire [7:0] sum;
    adder add (.a(state), .b(step), .sum(sum));
    always @(posedge clk) begin
        if (rst) state <= 8'h00;
        else state <= sum;
    end
    assign total = state;
endmodule
"""

ADDER = """// Adds, and wraps.
module adder (
    input wire [7:0] a,
    input wire [7:0] b,
    output reg [7:0] sum
);
    always @(*) begin
        sum = 8'h00;
        sum = (a + b);
    end
endmodule
"""


class Lint(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lint test "))  # with a blank, on purpose
        self.addCleanup(shutil.rmtree, self.folder)
        self.write(top=TOP, adder=ADDER)

    def write(self, **modules):
        for name, text in modules.items():
            (self.folder / f"{name}.v").write_text(text)

    def lint(self, *arguments, expect):
        run = subprocess.run([ROOT / "scripts/lint.sh", *arguments], capture_output=True, text=True)
        self.assertEqual(run.returncode, expect, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def test_good_verilog_is_clean(self):
        self.assertNotIn("FINDINGS", self.lint(self.folder, "top", expect=0))

    def test_wrong_width(self):
        self.write(top=TOP.replace("<= sum", "<= {1'b0, sum}"))
        output = self.lint(self.folder, "top", expect=1)
        self.assertIn("WIDTHTRUNC", output)
        self.assertIn("[-Wwidth-trunc]", output)

    def test_missing_parentheses(self):
        self.write(adder=ADDER.replace("(a + b)", "(a & b == a)"))
        self.assertIn("[-Wbitwise-rel-precedence]", self.lint(self.folder, "top", expect=1))

    def test_latch(self):
        self.write(adder=ADDER.replace("sum = 8'h00;", "if (a[0])"))
        output = self.lint(self.folder, "top", expect=1)
        self.assertIn("%Warning-LATCH", output)
        self.assertIn("FINDINGS  yosys top", output)

    def test_asynchronous_reset(self):
        self.write(top=TOP.replace("posedge clk", "posedge clk or posedge rst"))
        self.assertIn("FINDINGS  yosys top", self.lint(self.folder, "top", expect=1))

    def test_tri_state(self):
        self.write(top=TOP.replace("= state;", "= (rst ? state : 8'bz);"))
        self.assertIn("limited support for tri-state", self.lint(self.folder, "top", expect=1))

    def test_two_drivers(self):
        self.write(top=TOP.replace("endmodule", "    assign total = step;\nendmodule"))
        self.assertIn("FINDINGS  yosys top", self.lint(self.folder, "top", expect=1))

    def test_missing_connection(self):
        self.write(top=TOP.replace(".b(step), ", ""))
        self.assertIn("FINDINGS  iverilog top", self.lint(self.folder, "top", expect=1))

    def test_what_verilog_2005_does_not_have(self):
        self.write(top=TOP.replace("always @(posedge clk)", "always_ff @(posedge clk)"))
        self.assertIn("FINDINGS  iverilog top", self.lint(self.folder, "top", expect=1))

    def test_module_without_a_user(self):
        self.write(stray=ADDER.replace("module adder", "module stray"))
        self.assertIn("module stray is used by none of: top", self.lint(self.folder, "top", expect=1))

    def test_waiver_inside_a_file(self):
        self.write(adder=ADDER.replace("sum = 8", "/* verilator lint_off WIDTH */ sum = 8"))
        self.assertIn("FINDINGS  waivers", self.lint(self.folder, "top", expect=1))

    def test_top_that_is_not_there(self):
        self.assertIn("module other is not there", self.lint(self.folder, "other", expect=1))

    def test_unusable_arguments(self):
        self.assertIn("There is no folder", self.lint(self.folder / "none", expect=2))
        (self.folder / "empty").mkdir()
        self.assertIn("There is no .v file", self.lint(self.folder / "empty", expect=2))
        self.assertIn("does not know '--fast'", self.lint("--fast", expect=2))


class WaiverFiles(unittest.TestCase):
    """The rule that a waiver explains itself, on a copy of the project with other waiver files."""

    def findings(self, vlt="`verilator_config\n", allow=""):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder)
            (project / "scripts").mkdir()
            for name in ("lint.sh", "lib.sh", "slang_lint.py", "wasm_tool.py"):
                shutil.copy(ROOT / "scripts" / name, project / "scripts" / name)
            setup = project / "scripts/setup.sh"
            setup.write_text("#!/bin/sh\n")
            setup.chmod(0o755)
            (project / ".tools").symlink_to(ROOT / ".tools")
            generated = project / "rtl/generated/ecp5"
            generated.mkdir(parents=True)
            (project / "rtl/lint.vlt").write_text(vlt)
            (project / "rtl/yosys-warnings.allow").write_text(allow)
            (generated / "top.v").write_text(TOP)
            (generated / "adder.v").write_text(ADDER.replace("(a + b)", "{7'h00, (a[0] & b[0])}"))
            lint = [project / "scripts/lint.sh", generated, "top"]
            output = subprocess.run(lint, capture_output=True, text=True).stdout
        return [line.split(maxsplit=1)[1] for line in output.splitlines() if "FINDINGS" in line], output

    def test_explained_waiver_works(self):
        why = "// The upper bits are unused on purpose.\n"
        waiver = "lint_off -rule UNUSEDSIGNAL -file \"*adder.v\"\n"
        found, output = self.findings(vlt="`verilator_config\n" + why + waiver)
        self.assertNotIn("waivers", found, output)
        self.assertNotIn("verilator top", found, output)
        found, output = self.findings()
        self.assertIn("verilator top", found, output)

    def test_waivers_that_are_refused(self):
        for vlt in (
            "lint_off -rule UNUSEDSIGNAL\n",
            "// Why.\n\nlint_off -rule UNUSEDSIGNAL\n",
            "// Why, for the first only.\nlint_off -rule UNUSEDSIGNAL\nlint_off -rule UNDRIVEN\n",
            "// Why.\nlint_off -file \"*\"\n",
            "// Why.\nlint_off -rule WIDTHTRUNC\n",
        ):
            with self.subTest(vlt=vlt):
                self.assertIn("waivers", self.findings(vlt="`verilator_config\n" + vlt)[0])
        self.assertIn("waivers", self.findings(allow="Replacing memory\n")[0])
        self.assertNotIn("waivers", self.findings(allow="# Why.\nReplacing memory\n")[0])


if __name__ == "__main__":
    unittest.main()
