//! The harness: elaborates and lints clean for every profile, and does on a simulator what its description says.

use metaroce_fpga::{
    board::Board,
    harness::{FULL, harness},
    scan::{Field, Layout, Role},
    top::top,
};
use metaroce_model::{Params, params::PROFILES};
use std::{fs, path::Path, process::Command};

const VERILATOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools/bin/verilator");

fn write(folder: &Path, module: &std::rc::Rc<metaroce_rtl::hdl::Module>) -> Vec<String> {
    let files = metaroce_rtl::files(module).into_iter().map(|(name, text)| {
        let file = folder.join(format!("{name}.v"));
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_string()
    });
    files.collect()
}

/// Fields follow each other without gap, and cover the registers.
fn assert_gapless(fields: &[Field], bits: u32) {
    let end = fields.iter().fold(0, |bit, field| {
        assert_eq!(field.bit, bit, "{field:?}");
        bit + field.width
    });
    assert_eq!(end, bits);
}

#[test]
fn elaborates_for_every_board_and_profile() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        for board in Board::names() {
            let top = top(&Board::load(board).unwrap(), &FULL, &params, None).unwrap();
            assert_gapless(&top.layout.inputs, top.layout.input_bits);
            assert_gapless(&top.layout.outputs, top.layout.output_bits);
            let units: Vec<&str> = top.layout.inputs.iter().map(|f| f.unit.as_str()).collect();
            assert!(FULL.iter().all(|unit| units.contains(unit)));
        }
    }
}

/// On a board with a PLL the harness runs at the PLL's clock, and the PLL alone at the oscillator's.
#[test]
fn clock_of_the_harness() {
    let params = Params::load("tiny").unwrap();
    let clock = |board: &str, instance: &str| {
        let top = top(&Board::load(board).unwrap(), &["sack_rx"], &params, None).unwrap();
        let found = top.module.instances.iter().find(|i| i.name == instance).unwrap();
        found
            .connections
            .iter()
            .find(|(port, _)| port == "clk")
            .unwrap()
            .1
            .clone()
    };
    assert_eq!(clock("ulx3s-85f", "harness"), "pll_design_clock");
    assert_eq!(clock("ulx3s-85f", "pll"), "clk");
    assert_eq!(clock("ice40-hx8k", "harness"), "clk");
}

#[test]
fn lints_clean_for_every_profile() {
    if !Path::new(VERILATOR).exists() {
        eprintln!("SKIPPED: there is no .tools/bin/verilator; scripts/setup.sh installs it");
        return;
    }
    for profile in PROFILES {
        let folder = tempfile::tempdir().unwrap();
        let harness = harness(&FULL, &Params::load(profile).unwrap()).unwrap();
        let files = write(folder.path(), &harness.module);
        let lint = Command::new(VERILATOR)
            .args(["--lint-only", "-Wall", "--top-module", "harness"])
            .args(files)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&lint.stderr);
        assert!(
            lint.status.success() && !said.contains("%Warning"),
            "{profile}: {said}"
        );
    }
}

/// A value of the input register, as a Verilog literal.
fn sent(layout: &Layout, fields: &[(&str, Role, u64)]) -> String {
    let mut bits = vec!['0'; layout.input_bits as usize];
    for (port, role, value) in fields {
        let field = layout
            .inputs
            .iter()
            .find(|f| f.port == *port && f.role == *role)
            .unwrap();
        for bit in 0..field.width {
            if value >> bit & 1 == 1 {
                bits[(field.bit + bit) as usize] = '1';
            }
        }
    }
    format!("{}'b{}", bits.len(), bits.iter().rev().collect::<String>())
}

/// A field of the output register, as a Verilog expression.
fn got(layout: &Layout, port: &str) -> String {
    let field = layout.outputs.iter().find(|f| f.port == port).unwrap();
    format!("got[{} +: {}]", field.bit, field.width)
}

/// Operates a register slice through the pins as scan.md tells it.
#[test]
fn scan_chain_operates_a_unit() {
    if Command::new("iverilog").arg("-V").output().is_err() {
        eprintln!("SKIPPED: there is no iverilog; scripts/setup.sh installs it or says how");
        return;
    }
    let harness = harness(&["axis_register"], &Params::load("tiny").unwrap()).unwrap();
    let layout = &harness.layout;
    let (inputs, outputs) = (layout.input_bits, layout.output_bits);
    let once = sent(
        layout,
        &[
            ("s_axis_tvalid", Role::Once, 1),
            ("s_axis_tdata", Role::Value, 0xbeef),
        ],
    );
    let take = sent(layout, &[("m_axis_tready", Role::Once, 1)]);
    let always = sent(
        layout,
        &[
            ("s_axis_tvalid", Role::Always, 1),
            ("s_axis_tdata", Role::Value, 0x1234),
        ],
    );
    let shown: Vec<String> = [
        "m_axis_tvalid",
        "m_axis_tdata",
        "s_axis_tready",
        "s_axis_tvalid",
        "m_axis_tready",
    ]
    .map(|port| got(layout, port))
    .into();
    let shown = shown.join(", ");
    let folder = tempfile::tempdir().unwrap();
    let bench = folder.path().join("bench.v");
    fs::write(
        &bench,
        format!(
            "`timescale 1ns / 1ns
module bench;
    reg clk = 0;
    always #5 clk = !clk;
    reg reset = 1, scan_clock = 1, scan_in = 0, load = 1, capture = 1;
    wire scan_out, waiting, heartbeat;
    harness dut (.clk(clk), .clock_ready(1'b1), .reset(reset), .scan_clock(scan_clock), .scan_in(scan_in), .load(load),
        .capture(capture), .scan_out(scan_out), .waiting(waiting), .heartbeat(heartbeat));

    integer i;
    reg [{all}-1:0] chain, back;
    reg [{outputs}-1:0] got;
    task shift(input value); begin
        scan_clock = 0; scan_in = value; #43; scan_clock = 1; #43;
    end endtask
    task send(input [{inputs}-1:0] value); begin
        for (i = 0; i < {inputs}; i = i + 1) shift(value[i]);
        load = 0; #43; load = 1; #203;
    end endtask
    task show; begin
        capture = 0; #43; capture = 1; #43;
        for (i = 0; i < {outputs}; i = i + 1) begin got[i] = scan_out; shift(0); end
        $display(\"%b %h %b %b %b, %b\", {shown}, waiting);
    end endtask

    initial begin
        #201; reset = 0; #200;
        chain = 64'h0123456789abcdef;
        for (i = 0; i < {all}; i = i + 1) shift(chain[i]);
        for (i = 0; i < {all}; i = i + 1) begin back[i] = scan_out; shift(0); end
        $display(\"%b\", back == chain);
        show;
        send({once}); show;
        send({take}); show;
        send({always}); show;
        send({nothing}); show;
        reset = 1; #100; reset = 0; #100; show;
        $finish;
    end
endmodule
",
            all = inputs + outputs,
            nothing = sent(layout, &[("s_axis_tdata", Role::Value, 0x1234)]),
        ),
    )
    .unwrap();
    let program = folder.path().join("bench");
    let compiled = Command::new("iverilog")
        .args(["-g2005", "-o"])
        .arg(&program)
        .arg(&bench)
        .args(write(folder.path(), &harness.module))
        .output()
        .unwrap();
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let ran = Command::new(&program).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    // Result there, its data, room for another, operation and take still presented; waiting.
    let expected = [
        "1",               // the chain returns what was sent
        "0 0000 1 0 0, 0", // nothing yet
        "1 beef 1 0 0, 1", // presented for one handshake: the second entry is free
        "0 0000 1 0 0, 0", // taken, once
        "1 1234 0 1 0, 1", // presented on and on: both entries are full
        "1 1234 0 1 0, 1", // not presented any more, but the slice before the unit still holds some
        "0 0000 1 0 0, 0", // reset clears entries and what is presented
    ];
    let said: Vec<&str> = said.lines().filter(|line| !line.contains("$finish")).collect();
    assert_eq!(said, expected);
}
