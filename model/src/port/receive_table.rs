//! Contract of `receive_table`: the receives that are posted on every stream, and which of them a Send takes (requirement R5).
//!
//! A Send tells in every packet the number of the receive that its message takes within its stream, so it finds its buffer though messages ahead of it are missing.
//! For each stream it keeps two counts of 24 bits that wrap, `posted` and `completed`, and a ring of `receives` (R) entries: address, length, identifier.
//! Receive number n of a stream is in entry n mod R while it is posted and not completed.
//!
//! # Operations
//! `stream` is the index among all streams, `connection * streams + stream`. `open = (posted - completed) mod 2^24`, which is at most R.
//! - [`op::POST`]: with `open < R`: address, length and identifier become those of receive number `posted`, and `posted` moves up by one. Otherwise [`status::REFUSED`], nothing changes.
//!   The result gives `number` = `posted` before the operation.
//! - [`op::MATCH`]: looks for receive `number`, of which the bytes `[offset, offset + bytes)` are to be filled. Let `ahead = (number - completed) mod 2^24`. The first that applies:
//!   - `ahead >= 2^23`: [`status::GONE`], it was completed before.
//!   - `ahead >= open`: [`status::NOT_POSTED`].
//!   - `offset + bytes > length` (no modulus): [`status::TOO_LONG`].
//!   - Otherwise [`status::DONE`]; the result gives `address` = (the entry's address + `offset`) mod 2^64.
//! - [`op::COMPLETE`]: the oldest receive is completed: with `open > 0` `completed` moves up by one, and the result gives `number` = `completed` before and the entry's `identifier`. Otherwise [`status::REFUSED`], nothing changes.
//! - [`op::INIT`]: nothing is posted; `posted = completed = number`. Status DONE.
//!
//! # Outputs
//! `op`, `stream`, `status`; `open` after the operation. `address` for MATCH with status DONE only; `identifier` for MATCH with status DONE and COMPLETE with status DONE; `number`: MATCH and INIT the operation's own, POST and COMPLETE as above in any case
//! (`posted` or `completed` before the operation, whether or not it was refused). What is not mentioned is zero.
//!
//! # Timing
//! One operation a clock on distinct streams; two operations on one stream are issued at least [`SAME_STREAM_CLOCKS`] moving clocks apart. Acceptance, issue, `s_axis_op_tready` and stalls are as in `sack_tx`, with the stream in the path's place.
//! [`LATENCY`] clocks from issue to `m_axis_result_tvalid`, so one more from acceptance. After reset nothing is posted and both counts are 0; `s_axis_op_tready` is low for the
//! `connections * streams` clocks that follow the last clock with `rst` high.

use crate::ports;

/// Clocks from issue of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 8;
/// Moving clocks between the issue of two operations on one stream, at least.
pub const SAME_STREAM_CLOCKS: usize = 4;
/// Width of the number of a receive, and of a message.
pub const NUMBER_BITS: u32 = 24;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// Post a receive.
    pub const POST: u8 = 0;
    /// Find the receive that a Send takes.
    pub const MATCH: u8 = 1;
    /// The oldest receive is completed.
    pub const COMPLETE: u8 = 2;
    /// The stream starts anew.
    pub const INIT: u8 = 3;
}

/// Status codes of `m_axis_result_status`.
pub mod status {
    /// Done.
    pub const DONE: u8 = 0;
    /// POST: no entry is free. COMPLETE: none is posted.
    pub const REFUSED: u8 = 1;
    /// MATCH: not posted yet.
    pub const NOT_POSTED: u8 = 2;
    /// MATCH: completed before.
    pub const GONE: u8 = 3;
    /// MATCH: the message is longer than the receive.
    pub const TOO_LONG: u8 = 4;
}

ports! {
    /// Inputs of `receive_table`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 2,
        /// The stream's index among all streams.
        s_axis_op_stream: u16 = params.stream_index_bits(),
        /// MATCH: the receive. INIT: the first receive.
        s_axis_op_number: u32 = NUMBER_BITS,
        /// MATCH: where in the message the bytes stand.
        s_axis_op_offset: u32 = 32,
        /// MATCH: bytes to fill.
        s_axis_op_bytes: u16 = params.payload_bits(),
        /// POST: the buffer's address.
        s_axis_op_address: u64 = 64,
        /// POST: the buffer's bytes.
        s_axis_op_length: u32 = 32,
        /// POST: what the completion is to bear.
        s_axis_op_identifier: u32 = 32,
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `receive_table`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 2,
        /// The operation's stream.
        m_axis_result_stream: u16 = params.stream_index_bits(),
        /// How it ended: see `status`.
        m_axis_result_status: u8 = 3,
        /// The receive's number.
        m_axis_result_number: u32 = NUMBER_BITS,
        /// Where the bytes go.
        m_axis_result_address: u64 = 64,
        /// What the completion is to bear.
        m_axis_result_identifier: u32 = 32,
        /// Receives posted and not completed.
        m_axis_result_open: u8 = crate::params::index_bits(params.receives) + 1,
    }
}
