//! Contract of `ack_table`: what the receiver owes the sender of every path, and when (requirements R6, R7).
//!
//! Acknowledgements are coalesced: one for every [`EVERY`] packets, at once when the packet calls for it (a new hole or its filling, a duplicate, a probe, the last packet of a message), and never later than a delay.
//! For each path it keeps: `waiting` (packets not acknowledged yet, 0 to 15), `due` (an acknowledgement has been asked for and not been taken), `echo`, `arrival` and `plane` of the packet that came last, and the
//! running counts `packets` and `marked` (16 bits, wrap), which go into every acknowledgement, so that a lost one loses nothing.
//!
//! # Operations
//! - [`op::INIT`]: all of the path is 0.
//! - [`op::RECEIVE`]: a packet came: `echo`, `arrival` and `plane` are the operation's. If `counts` (a packet of data, not a probe): `packets + 1`, and `marked + 1` if `marked`.
//!   `waiting` + 1 (at most 15). If `due` is clear and `at_once` is set or `waiting` (after) is [`EVERY`] or more: `due` is set, and the result says so.
//! - [`op::SCAN`]: if `due` is clear, `waiting` is not 0 and `(now - arrival) mod 2^timestamp_bits >= config_delay`: `due` is set, and the result says so.
//! - [`op::TAKE`]: the acknowledgement is made: the result gives `plane`, `echo`, `packets`, `marked` and `hold` = `min((now - arrival) mod 2^timestamp_bits, 65535)`; `waiting` and `due` are cleared.
//! - Codes 4 to 7 are reserved and change nothing.
//!
//! Whoever drives the unit keeps the paths that became due in a queue, and takes each once: so no more than all paths are ever in it.
//!
//! # Outputs
//! `op`, `path`; `due`: this operation (RECEIVE or SCAN) set it; with TAKE the fields above, otherwise these are zero.
//!
//! # Timing
//! One operation a clock on distinct paths; two operations on one path are issued at least [`SAME_PATH_CLOCKS`] moving clocks apart. Acceptance, issue, `s_axis_op_tready`, stalls and the clear after reset (`connections * paths` clocks) are as in `sack_tx`.
//! [`LATENCY`] clocks from issue to `m_axis_result_tvalid`, so one more from acceptance. After reset every path is as after INIT. `config_delay` may change only while `rst` is high.

use crate::ports;

/// Clocks from issue of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 6;
/// Moving clocks between the issue of two operations on one path, at least.
pub const SAME_PATH_CLOCKS: usize = 4;
/// Packets that one acknowledgement is for, unless something calls for it earlier.
pub const EVERY: u8 = 4;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// The path starts anew.
    pub const INIT: u8 = 0;
    /// A packet came.
    pub const RECEIVE: u8 = 1;
    /// Has it waited long enough?
    pub const SCAN: u8 = 2;
    /// The acknowledgement is made.
    pub const TAKE: u8 = 3;
}

ports! {
    /// Inputs of `ack_table`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// Ticks after which a packet is acknowledged though no other followed.
        config_delay: u16 = 16,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 3,
        /// The path's index among all paths.
        s_axis_op_path: u16 = params.path_index_bits(),
        /// RECEIVE: the packet's transmit timestamp.
        s_axis_op_timestamp: u32 = params.timestamp_bits,
        /// RECEIVE: when it came.
        s_axis_op_arrival: u32 = params.timestamp_bits,
        /// RECEIVE: the plane on which it came.
        s_axis_op_plane: u8 = params.plane_bits(),
        /// RECEIVE: it is a packet of data.
        s_axis_op_counts: bool = 1,
        /// RECEIVE: it came marked.
        s_axis_op_marked: bool = 1,
        /// RECEIVE: it calls for an acknowledgement at once.
        s_axis_op_at_once: bool = 1,
        /// SCAN, TAKE: the present time.
        s_axis_op_now: u32 = params.timestamp_bits,
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `ack_table`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 3,
        /// The operation's path.
        m_axis_result_path: u16 = params.path_index_bits(),
        /// An acknowledgement became due.
        m_axis_result_due: bool = 1,
        /// TAKE: the plane of the packet that came last.
        m_axis_result_plane: u8 = params.plane_bits(),
        /// TAKE: its transmit timestamp.
        m_axis_result_echo: u32 = params.timestamp_bits,
        /// TAKE: ticks since it came, saturating.
        m_axis_result_hold: u16 = 16,
        /// TAKE: running count of packets.
        m_axis_result_packets: u16 = 16,
        /// TAKE: running count of those that came marked.
        m_axis_result_marked: u16 = 16,
    }
}
