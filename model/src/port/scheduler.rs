//! Contract of `scheduler`: which connection may send next, and which of its streams (requirements R7, R8, R10).
//!
//! Connections that may send wait in a queue outside this unit, each once; whoever takes one from it asks which stream's turn it is. So the choice is fair among connections (the queue) and among streams (a pointer), and its cost
//! does not grow with either.
//!
//! For each connection it keeps: `unsent`, a bit a stream; `last`, the stream chosen last; `queued` (it is in the queue, or was taken from it and has not come back), `opened`, and what holds it back: `window_closed`, `rate_closed`, `stopped`.
//! It *may send* if a bit of `unsent` is set and none of these three is.
//!
//! # Operations
//! - [`op::UNSENT`]: the stream's bit in `unsent` becomes `flag`.
//! - [`op::TAKE`]: the connection was taken from the queue. If it may send: the result has `taken`, and `stream` = the first stream with its bit set after `last`, round the ring and with `last` itself last; `last` becomes it, `opened` is cleared, `queued` stays. Otherwise `queued` is cleared.
//! - [`op::SENT`]: a packet of the stream was cut: its bit becomes `flag`; `queued` is cleared.
//! - [`op::BLOCK`]: no path had room for what was taken: `queued` is cleared; and if `opened` is clear, `window_closed` is set.
//! - [`op::OPEN`]: a path may have room again: `window_closed` is cleared, `opened` is set. (An OPEN that comes between TAKE and BLOCK is not lost so.)
//! - [`op::RATE`]: `rate_closed` = not `flag`.
//! - [`op::START`]: `stopped` = not `flag`, `window_closed` is cleared.
//! - [`op::STOP`]: `stopped` is set; the result's `stopped` tells whether it was clear.
//!
//! After each of them but TAKE: if the connection may send and is not `queued`, `queued` is set, and the result has `ready`: it is to be put into the queue.
//!
//! # Outputs
//! `op`, `connection`; `ready`, `taken`, `stopped` as above, otherwise 0; `stream`: of TAKE with `taken`, otherwise 0.
//!
//! # Timing
//! One operation a clock on distinct connections; two operations on one connection are issued at least [`SAME_CONNECTION_CLOCKS`] moving clocks apart. Acceptance, issue, `s_axis_op_tready` and stalls are as in `sack_tx`, with the connection in the path's place.
//! [`LATENCY`] clocks from issue to `m_axis_result_tvalid`, so one more from acceptance. After reset nothing is unsent, `last` is 0, `rate_closed` and `stopped` are set, all else is clear; `s_axis_op_tready` is low for the `connections` clocks that follow the last clock with `rst` high.

use crate::ports;

/// Clocks from issue of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 4;
/// Moving clocks between the issue of two operations on one connection, at least.
pub const SAME_CONNECTION_CLOCKS: usize = 4;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// Whether a stream has something to send for the first time.
    pub const UNSENT: u8 = 0;
    /// The connection was taken from the queue.
    pub const TAKE: u8 = 1;
    /// A packet was cut.
    pub const SENT: u8 = 2;
    /// No path had room.
    pub const BLOCK: u8 = 3;
    /// A path may have room again.
    pub const OPEN: u8 = 4;
    /// Whether the rate allows more.
    pub const RATE: u8 = 5;
    /// The connection may send, or not, as the driver says.
    pub const START: u8 = 6;
    /// The connection may send no more, since a message was refused.
    pub const STOP: u8 = 7;
}

ports! {
    /// Inputs of `scheduler`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 3,
        /// The connection.
        s_axis_op_connection: u16 = params.connection_bits(),
        /// UNSENT, SENT: the stream within the connection.
        s_axis_op_stream: u8 = params.stream_bits(),
        /// UNSENT, SENT: something is left to send. RATE, START: more may be sent.
        s_axis_op_flag: bool = 1,
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `scheduler`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 3,
        /// The connection.
        m_axis_result_connection: u16 = params.connection_bits(),
        /// The connection is to be put into the queue.
        m_axis_result_ready: bool = 1,
        /// TAKE: a stream was chosen.
        m_axis_result_taken: bool = 1,
        /// TAKE: the stream within the connection.
        m_axis_result_stream: u8 = params.stream_bits(),
        /// STOP: the connection was not stopped before.
        m_axis_result_stopped: bool = 1,
    }
}
