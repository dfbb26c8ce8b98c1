//! H2: patterns in which rust-hdl 0.46 silently prints wrong Verilog. Each is shown to be wrong in its own printer and right in ours; the
//! proof is a Verilog simulation where Icarus is installed, and the printed text everywhere.

use metaroce_rtl::hdl::{
    emit,
    import::{ImportError, import},
};
use rust_hdl::{core::module_defines::generate_verilog_unchecked, prelude::*};
use std::process::Command;

#[derive(LogicBlock, Default)]
struct Precedence {
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    c: Signal<In, Bits<8>>,
    pub x: Signal<Out, Bit>,
}

impl Logic for Precedence {
    #[hdl_gen]
    fn update(&mut self) {
        // In Rust `&` binds tighter than `==`; in Verilog it is the other way round.
        self.x.next = self.a.val() & self.b.val() == self.c.val();
    }
}

#[derive(LogicBlock, Default)]
struct Wrap {
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    pub x: Signal<Out, Bit>,
}

impl Logic for Wrap {
    #[hdl_gen]
    fn update(&mut self) {
        // In Rust the sum wraps at 8 bits; beside a literal of 32 bits Verilog adds in 32.
        self.x.next = self.a.val() + 1 == self.b.val();
    }
}

#[derive(LogicBlock, Default)]
struct Latch {
    a: Signal<In, Bit>,
    pub x: Signal<Out, Bit>,
}

impl Logic for Latch {
    #[hdl_gen]
    fn update(&mut self) {
        if self.a.val() {
            self.x.next = true;
        }
    }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Phase {
    Idle,
    Busy,
}

#[derive(LogicBlock, Default)]
struct Labels {
    a: Signal<In, Bits<8>>,
    phase: Signal<Local, Phase>,
    pub x: Signal<Out, Bits<8>>,
}

impl Logic for Labels {
    #[hdl_gen]
    fn update(&mut self) {
        self.phase.next = Phase::Idle;
        if self.a.val() == 31 {
            self.phase.next = Phase::Busy;
        }
        match self.phase.val() {
            Phase::Busy => self.x.next = 1.into(),
            _ => self.x.next = 0.into(),
        }
    }
}

#[derive(LogicBlock, Default)]
struct Nested {
    clock: Signal<In, Clock>,
    a: Signal<In, Bits<8>>,
    pub x: Signal<Out, Bits<8>>,
    register: rust_hdl::widgets::prelude::DFF<Bits<8>>,
}

impl Logic for Nested {
    #[hdl_gen]
    fn update(&mut self) {
        self.register.clock.next = self.clock.val();
        self.register.d.next = self.a.val() + 1;
        self.x.next = self.register.q.val();
    }
}

/// Both printers' text of a block.
fn both<B: Block>(mut block: B) -> (String, String) {
    block.connect_all();
    let plain = generate_verilog_unchecked(&block);
    let module = import("top", &block).unwrap();
    let ours = metaroce_rtl::files(&module)
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    (plain, ours)
}

/// The value of the output `x` that Icarus computes, or `None` where Icarus is not installed.
fn simulate(verilog: &str, inputs: &[(&str, u32)]) -> Option<u32> {
    let folder = tempfile::tempdir().unwrap();
    let declarations: String = inputs
        .iter()
        .map(|(name, value)| format!("reg [7:0] {name} = {value};\n"))
        .collect();
    let ports: String = inputs
        .iter()
        .map(|(name, _)| format!(".{name}({name}), "))
        .collect();
    let bench = format!(
        "{verilog}\nmodule bench;\n{declarations}wire [7:0] x;\ntop dut ({ports}.x(x));\ninitial #1 $display(\"%0d\", x);\nendmodule\n"
    );
    let source = folder.path().join("bench.v");
    std::fs::write(&source, bench).unwrap();
    let binary = folder.path().join("bench");
    let compiled = Command::new("iverilog")
        .arg("-o")
        .arg(&binary)
        .arg(&source)
        .output();
    let Ok(compiled) = compiled else {
        eprintln!("skipped the simulation: Icarus (iverilog) is not installed");
        return None;
    };
    assert!(
        compiled.status.success(),
        "{}\n{verilog}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let run = Command::new("vvp").arg(&binary).output().unwrap();
    Some(String::from_utf8_lossy(&run.stdout).trim().parse().unwrap())
}

/// `a & b == c`: 4 & 6 is 4. rust-hdl's text computes 4 & (6 == 4), which is 0.
#[test]
fn parentheses_are_kept() {
    let (plain, ours) = both(Precedence::default());
    assert!(
        plain.contains("a & b == c"),
        "rust-hdl prints this right now: drop the work-around\n{plain}"
    );
    assert!(ours.contains("((a & b) == c)"), "{ours}");
    let inputs = [("a", 4), ("b", 6), ("c", 4)];
    if let Some(wrong) = simulate(&plain, &inputs) {
        assert_eq!(wrong, 0, "rust-hdl prints this right now: drop the work-around");
        assert_eq!(simulate(&ours, &inputs), Some(1));
    }
}

/// `a + 1 == b` with a = 255, b = 0: equal in 8 bits. rust-hdl's text compares 256 with 0.
#[test]
fn literals_have_the_width_of_their_neighbour() {
    let (plain, ours) = both(Wrap::default());
    assert!(
        plain.contains("32'h1"),
        "rust-hdl prints this right now: drop the work-around\n{plain}"
    );
    assert!(ours.contains("((a + 8'h1) == b)"), "{ours}");
    let inputs = [("a", 255), ("b", 0)];
    if let Some(wrong) = simulate(&plain, &inputs) {
        assert_eq!(wrong, 0, "rust-hdl prints this right now: drop the work-around");
        assert_eq!(simulate(&ours, &inputs), Some(1));
    }
}

/// An `if` without `else` makes a latch: refused.
#[test]
fn latches_are_refused() {
    let mut block = Latch::default();
    block.connect_all();
    let error = import("top", &block).unwrap_err();
    assert_eq!(
        error,
        ImportError::Latch {
            module: "top".into(),
            signal: "x".into()
        }
    );
}

/// Labels of a `match` are printed as sized literals: rust-hdl copies a Rust pattern verbatim, and gives names with `$`.
#[test]
fn case_labels_are_sized_literals() {
    let (plain, ours) = both(Labels::default());
    assert!(
        plain.contains("Phase$Busy"),
        "rust-hdl prints this right now: drop the work-around\n{plain}"
    );
    assert!(ours.contains("1'h1: begin") && !ours.contains('$'), "{ours}");
    assert!(matches!(simulate(&ours, &[("a", 31)]), None | Some(1)));
    assert!(matches!(simulate(&ours, &[("a", 30)]), None | Some(0)));
}

/// Blocks within blocks, and rust-hdl's own flip-flop: plain names, no `$`.
#[test]
fn nested_blocks_have_plain_names() {
    let mut block = Nested::default();
    block.connect_all();
    let top = import("top", &block).unwrap();
    let text = metaroce_rtl::files(&top)
        .into_iter()
        .map(|(_, text)| text)
        .collect::<String>();
    assert!(!text.contains('$'), "{text}");
    assert!(
        text.contains("top_register register (") && text.contains(".q(register_q)"),
        "{text}"
    );
    assert!(emit::module(&top).contains("register_d = (a + 8'h1);"), "{text}");
}
