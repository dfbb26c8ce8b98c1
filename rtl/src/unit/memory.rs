//! `ram_DEPTHxWIDTH`: the block RAM of every table: one write port, one read port, synchronous read.
//!
//! Nothing stands between the array and its read register, and the array has no reset, so that synthesis puts it in block RAM
//! whole. A read of the address that is written in the same clock gives an undefined word (`no_rw_check`): the
//! units forward around it, which costs less than the bypass that synthesis would build.

use crate::hdl::{Builder, Module};
use std::rc::Rc;

/// A memory of `depth` words (a power of two) of `width` bits.
///
/// Ports: `write_enable`, `write_address`, `write_data`, `read_enable`, `read_address`, `read_data`.
pub fn ram(depth: u32, width: u32) -> Rc<Module> {
    assert!(depth.is_power_of_two() && depth >= 2, "a memory of {depth} words");
    let address_bits = depth.trailing_zeros();
    let builder = Builder::new(
        &format!("ram_{depth}x{width}"),
        &format!(
            "Block RAM of {depth} words of {width} bits: one write port, one read port, synchronous read.
            Reading the word that is written in the same clock gives an undefined value: users forward around it.
            Latency 1 clock, initiation interval 1."
        ),
    );
    builder.add_input("write_enable", 1, "Write in this clock.");
    builder.add_input("write_address", address_bits, "");
    builder.add_input("write_data", width, "");
    builder.add_input("read_enable", 1, "Read in this clock; otherwise read_data stays.");
    builder.add_input("read_address", address_bits, "");
    builder.declare_output("read_data", width, "The word read, one clock later.");
    builder.custom(format!(
        "    (* no_rw_check, ram_style = \"block\" *)
    reg [{}:0] memory [0:{}];

    always @(posedge clk) begin
        if (write_enable) begin
            memory[write_address] <= write_data;
        end
        if (read_enable) begin
            read_data <= memory[read_address];
        end
    end
",
        width - 1,
        depth - 1
    ));
    builder.finish()
}

/// A small memory of `depth` words (a power of two) of `width` bits whose read port is asynchronous, for queues: look-up tables used as memory.
///
/// Ports: `write_enable`, `write_address`, `write_data`, `read_address`, `read_data`.
pub fn lookup_ram(depth: u32, width: u32) -> Rc<Module> {
    assert!(depth.is_power_of_two() && depth >= 2, "a memory of {depth} words");
    let address_bits = depth.trailing_zeros();
    let builder = Builder::new(
        &format!("lookup_ram_{depth}x{width}"),
        &format!(
            "Memory of {depth} words of {width} bits in look-up tables: one write port, one asynchronous read port.
            Latency 0 clocks, initiation interval 1."
        ),
    );
    builder.add_input("write_enable", 1, "Write in this clock.");
    builder.add_input("write_address", address_bits, "");
    builder.add_input("write_data", width, "");
    builder.add_input("read_address", address_bits, "");
    builder.declare_output("read_data", width, "The word at read_address.");
    builder.custom(format!(
        "    (* ram_style = \"distributed\" *)
    reg [{}:0] memory [0:{}];

    always @(posedge clk) begin
        if (write_enable) begin
            memory[write_address] <= write_data;
        end
    end

    assign read_data = memory[read_address];
",
        width - 1,
        depth - 1
    ));
    builder.finish()
}
