//! The order of the bits in the scan chain, for whoever drives it.

use serde::Serialize;
use std::fmt::Write;

/// What is where in the chain. Bit 0 is the first bit sent, and the first bit received after a capture.
#[derive(Clone, Debug, Serialize)]
pub struct Layout {
    /// Bits of the input register: the last this many bits sent before a load count.
    pub input_bits: u32,
    /// Bits of the output register. Sending on beyond these returns what was sent, `output_bits` + `input_bits` scan
    /// clocks after it went in.
    pub output_bits: u32,
    /// Fields of the input register, from bit 0 on.
    pub inputs: Vec<Field>,
    /// Fields of the output register, from bit 0 on.
    pub outputs: Vec<Field>,
}

/// Bits `bit` to `bit + width - 1`, least significant first.
#[derive(Clone, Debug, Serialize)]
pub struct Field {
    /// The first bit.
    pub bit: u32,
    /// How many there are.
    pub width: u32,
    /// The unit that the field belongs to.
    pub unit: String,
    /// The unit's port.
    pub port: String,
    /// What the bits do to the port, or tell of it.
    pub role: Role,
    /// The port's documentation.
    pub doc: String,
}

/// What a field does to its port, or tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The port's value.
    Value,
    /// Set: the port goes high at the load and falls after one handshake.
    Once,
    /// Set: the port goes high at the load and stays until a load that clears it.
    Always,
    /// The port is high: its handshake has not happened yet, or it is held.
    Presented,
}

impl Role {
    fn sentence(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Once => "high from the load to one handshake",
            Self::Always => "high from the load on",
            Self::Presented => "is still high",
        }
    }
}

impl Layout {
    /// The layout of no fields.
    pub fn new() -> Self {
        Self {
            input_bits: 0,
            output_bits: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// The layout as a page for people.
    pub fn markdown(&self, title: &str) -> String {
        let Self {
            input_bits,
            output_bits,
            ..
        } = self;
        let mut text = format!(
            "# Scan chain of {title}

All pins are sampled by the design's clock and may change at any time; keep each level of `scan_clock`, `load` and
`capture` for 4 clocks of the design, and change `scan_in` while `scan_clock` is low. A rising edge of
- `scan_clock` moves the chain `scan_in` -> input register ({input_bits} bits) -> output register ({output_bits} bits) -> `scan_out` by one bit;
- `load` hands the input register to the units, all ports in the same clock;
- `capture` takes the units' outputs into the output register, all in the same clock.

Bit 0 goes first in each direction. To do one operation: send {input_bits} bits with `once` of the operation's `tvalid` set, pulse
`load`; `waiting` goes high when a result is there; pulse `capture`, read {output_bits} bits from `scan_out` (the level before the
first scan clock is bit 0); then load with `once` of the result's `tready` set to let it go. `reset` (active) resets the units
and clears what is presented. What is sent comes back {} scan clocks later, which proves the chain.

A load while an operation is still presented replaces its fields, which AXI4-Stream forbids: look at `is still high` first.
To end `always`, load the same fields without it, wait until the port is not high any more, and only then load others.

",
            input_bits + output_bits
        );
        for (heading, fields) in [
            ("Input register", &self.inputs),
            ("Output register", &self.outputs),
        ] {
            let _ = writeln!(
                text,
                "## {heading}\n\n| bits | unit | port | what | meaning |\n|---|---|---|---|---|"
            );
            for field in fields {
                let bits = match field.width {
                    1 => field.bit.to_string(),
                    width => format!("{} to {}", field.bit, field.bit + width - 1),
                };
                let _ = writeln!(
                    text,
                    "| {bits} | {} | {} | {} | {} |",
                    field.unit,
                    field.port,
                    field.role.sentence(),
                    field.doc
                );
            }
            text.push('\n');
        }
        text
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::new()
    }
}
