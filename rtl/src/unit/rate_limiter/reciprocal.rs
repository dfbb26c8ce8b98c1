//! `reciprocal`: the division of `rate_limiter`, a table of `floor(2^16 / mantissa)`.
//!
//! A table read through one register is block RAM with contents, the only memory of the project that relies on any: no reset
//! can write it, and none has to.

use crate::hdl::{Builder, Module};
use metaroce_model::port::rate_limiter::RATE_MANTISSA_BITS;
use std::{fmt::Write, rc::Rc};

/// Width of a reciprocal: that of mantissa 1 is 2^16.
pub const RECIPROCAL_BITS: u32 = 17;

const DOC: &str = "Table of floor(2^16 / mantissa), and 0 for mantissa 0, for which nobody asks.
    Latency 1 clock, initiation interval 1.";

/// The table. Ports: `read_enable`, `mantissa`, `quotient`.
pub fn reciprocal() -> Rc<Module> {
    let builder = Builder::new("reciprocal", DOC);
    builder.add_input("read_enable", 1, "Read in this clock; otherwise quotient stays.");
    builder.add_input("mantissa", RATE_MANTISSA_BITS, "");
    builder.declare_output(
        "quotient",
        RECIPROCAL_BITS,
        "floor(2^16 / mantissa), one clock later.",
    );
    let mut text = String::from(
        "    always @(posedge clk) begin
        if (read_enable) begin
            case (mantissa)
",
    );
    for mantissa in 1..1u32 << RATE_MANTISSA_BITS {
        let _ = writeln!(
            text,
            "                {RATE_MANTISSA_BITS}'h{mantissa:02x}: quotient <= {RECIPROCAL_BITS}'h{:05x};",
            (1 << 16) / mantissa
        );
    }
    let _ = writeln!(
        text,
        "                default: quotient <= {RECIPROCAL_BITS}'h00000;
            endcase
        end
    end"
    );
    builder.custom(text);
    builder.finish()
}
