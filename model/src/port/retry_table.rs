//! Contract of `retry_table`: which paths wait in the queue of those that have something to send again (requirement R6).
//!
//! For each path it keeps a bit, `queued`. The queue itself is outside: it holds each path once, so no more than all paths.
//!
//! # Operations
//! - [`op::MARK`]: something is pending on the path. If `queued` is clear it is set, and the result has `ready`: the path is to be put into the queue.
//! - [`op::TAKE`]: the path was taken from the queue: `queued` is cleared. (Whoever takes it sends one packet again, and marks it anew if more are pending.)
//!
//! # Outputs
//! `op`, `path`, `ready`.
//!
//! # Timing
//! One operation a clock on distinct paths; two operations on one path are issued at least [`SAME_PATH_CLOCKS`] moving clocks apart. Acceptance, issue, `s_axis_op_tready`, stalls and the clear after reset (`connections * paths` clocks) are as in `sack_tx`.
//! [`LATENCY`] clocks from issue to `m_axis_result_tvalid`, so one more from acceptance. After reset no path is queued.

use crate::ports;

/// Clocks from issue of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 4;
/// Moving clocks between the issue of two operations on one path, at least.
pub const SAME_PATH_CLOCKS: usize = 4;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// Something is pending on the path.
    pub const MARK: u8 = 0;
    /// The path was taken from the queue.
    pub const TAKE: u8 = 1;
}

ports! {
    /// Inputs of `retry_table`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 1,
        /// The path's index among all paths.
        s_axis_op_path: u16 = params.path_index_bits(),
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `retry_table`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 1,
        /// The path's index among all paths.
        m_axis_result_path: u16 = params.path_index_bits(),
        /// The path is to be put into the queue.
        m_axis_result_ready: bool = 1,
    }
}
