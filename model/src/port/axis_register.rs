//! Contract of `axis_register`: an AXI4-Stream register slice, a queue of two entries.
//!
//! It cuts every combinational path between two streams and still moves one entry a clock. Every other unit ends in
//! one: `s_axis_tready`, a register, is then the enable of the unit's pipeline.
//!
//! Latency 1 clock, initiation interval 1. `s_axis_tready` is high while fewer than two entries are held.

use crate::ports;

ports! {
    /// Inputs of `axis_register`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An entry is offered.
        s_axis_tvalid: bool = 1,
        /// The entry; any width will do, here that of a timestamp.
        s_axis_tdata: u32 = params.timestamp_bits,
        /// The entry at `m_axis` is taken.
        m_axis_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `axis_register`.
    Output Outputs (params) {
        /// There is room for an entry.
        s_axis_tready: bool = 1,
        /// An entry is offered.
        m_axis_tvalid: bool = 1,
        /// The oldest entry held, zero when none is.
        m_axis_tdata: u32 = params.timestamp_bits,
    }
}
