//! Contract of `packet_table`: what every outstanding packet carries, so that it can be built again (requirement R6).
//!
//! A packet that is lost is sent again with the same PSN, its payload fetched from memory anew; nothing is buffered in the NIC but this descriptor. There is one for every path and PSN
//! modulo `sack_bits`, since no more are outstanding. It is by far the NIC's largest memory, so it holds no more than is needed to find the rest: the stream (within the connection), the lowest
//! `message_slot_bits` of the message's number, which `request_table` completes, and the number of the packet within its message (its offset is that times `mtu_bytes`).
//!
//! # Operations
//! - [`op::WRITE`]: the packet of `path` and `psn` is number `packet` of `message` of `stream`.
//! - [`op::READ`]: which is it? What was never written since power-up is undefined, and must not be asked for.
//!
//! # Outputs
//! `op`, `path`, `psn` and `tag` are the operation's (`tag` is for whoever asks: several may share the unit); `stream`, `message`, `packet`: WRITE as they were given, READ as they are kept.
//!
//! # Timing
//! Operations take effect in the order of acceptance, one a clock, without any distance. The pipeline is rigid: it moves in the clocks in which the output queue (two entries) has room; `s_axis_op_tready` = it moves.
//! [`LATENCY`] clocks from acceptance to `m_axis_result_tvalid`. There is no clear after reset; descriptors stay.

use crate::{params::index_bits, ports};

/// Clocks from acceptance of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 4;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// Keep a descriptor.
    pub const WRITE: u8 = 0;
    /// Give it.
    pub const READ: u8 = 1;
}

ports! {
    /// Inputs of `packet_table`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 1,
        /// The path's index among all paths.
        s_axis_op_path: u16 = params.path_index_bits(),
        /// The packet's PSN.
        s_axis_op_psn: u32 = params.psn_bits,
        /// Comes back with the result.
        s_axis_op_tag: u8 = 1,
        /// WRITE: the stream within the path's connection.
        s_axis_op_stream: u8 = index_bits(params.streams),
        /// WRITE: the lowest bits of the message's number.
        s_axis_op_message: u16 = params.message_slot_bits(),
        /// WRITE: the number of the packet within its message.
        s_axis_op_packet: u32 = params.packet_bits(),
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `packet_table`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 1,
        /// The operation's path.
        m_axis_result_path: u16 = params.path_index_bits(),
        /// The operation's PSN.
        m_axis_result_psn: u32 = params.psn_bits,
        /// The operation's tag.
        m_axis_result_tag: u8 = 1,
        /// The stream within the path's connection.
        m_axis_result_stream: u8 = index_bits(params.streams),
        /// The lowest bits of the message's number.
        m_axis_result_message: u16 = params.message_slot_bits(),
        /// The number of the packet within its message.
        m_axis_result_packet: u32 = params.packet_bits(),
    }
}
