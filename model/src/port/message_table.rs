//! Contract of `message_table`: counts the bytes of every message that arrive, in any order and over any paths, and tells the messages that are whole in the order of their stream
//! (requirements R4, R10).
//!
//! For each stream it keeps `oldest` (24 bits, wraps), the lowest message number that has not been told; and for each of the `messages` (M) numbers from it on, at place number mod M, two bits, *begun* and *whole*, the bytes
//! `counted` (32 bits) of one that is begun, and `length`, `immediate` and `kind` of one that is whole.
//!
//! # Operations
//! `stream` is the index among all streams, `connection * streams + stream`.
//! - [`op::COUNT`]: `bytes` bytes of `message`, which has `length` bytes in all, were placed (each packet is counted once, `sack_rx` sees to that). Let `ahead = (message - oldest) mod 2^24`, and `sum = counted + bytes`, where `counted` is 0 if the message is not begun. The first that applies:
//!   - `ahead >= M`: [`status::OUTSIDE`], nothing changes.
//!   - The message is whole, or `sum > length` (no modulus): [`status::TOO_LONG`], nothing changes.
//!   - `sum < length`: the message is begun, `counted = sum`: [`status::PART`].
//!   - Otherwise it is begun and whole, and its `length`, `immediate` and `kind` are kept: [`status::WHOLE`]. (A message of no bytes is whole with its one packet.)
//! - [`op::TELL`]: if `oldest` is whole: the result gives `message` = `oldest` with its `length`, `immediate` and `kind`, it is neither begun nor whole any more, and `oldest` moves up by one: [`status::TOLD`]. Otherwise
//!   [`status::NONE`], nothing changes.
//! - [`op::INIT`]: every message of the stream is neither begun nor whole, `oldest = message`: [`status::DONE`].
//! - Code 3 is reserved: [`status::NONE`], nothing changes.
//!
//! # Outputs
//! `op`, `stream`, `status`; `message`: COUNT and INIT the operation's own, TELL `oldest` before it, code 3 zero; `length`, `immediate`, `kind`: with status TOLD only, otherwise zero. `more`: after the operation the message `oldest` is whole, so that a TELL will find one.
//!
//! # Timing
//! One operation a clock on distinct streams; two operations on one stream are issued at least [`SAME_STREAM_CLOCKS`] moving clocks apart. Acceptance, issue, `s_axis_op_tready` and stalls are as in `sack_tx`, with the stream in the path's place.
//! [`LATENCY`] clocks from issue to `m_axis_result_tvalid`, so one more from acceptance. After reset every stream is as after INIT with message 0; `s_axis_op_tready` is low for the `connections * streams` clocks that follow the last clock with `rst` high.

use super::receive_table::NUMBER_BITS;
use crate::ports;

/// Clocks from issue of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 9;
/// Moving clocks between the issue of two operations on one stream, at least.
pub const SAME_STREAM_CLOCKS: usize = 4;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// Bytes of a message were placed.
    pub const COUNT: u8 = 0;
    /// Tell the oldest message, if it is whole.
    pub const TELL: u8 = 1;
    /// The stream starts anew.
    pub const INIT: u8 = 2;
}

/// Status codes of `m_axis_result_status`.
pub mod status {
    /// INIT: done.
    pub const DONE: u8 = 0;
    /// COUNT: the message is not whole yet.
    pub const PART: u8 = 1;
    /// COUNT: the message is whole with this.
    pub const WHOLE: u8 = 2;
    /// COUNT: no such message is due.
    pub const OUTSIDE: u8 = 3;
    /// COUNT: more bytes than the message has.
    pub const TOO_LONG: u8 = 4;
    /// TELL: told.
    pub const TOLD: u8 = 5;
    /// TELL: the oldest is not whole. Or a reserved operation.
    pub const NONE: u8 = 6;
}

ports! {
    /// Inputs of `message_table`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 2,
        /// The stream's index among all streams.
        s_axis_op_stream: u16 = params.stream_index_bits(),
        /// COUNT: the message. INIT: the first message.
        s_axis_op_message: u32 = NUMBER_BITS,
        /// COUNT: bytes that were placed.
        s_axis_op_bytes: u16 = params.payload_bits(),
        /// COUNT: bytes of the message.
        s_axis_op_length: u32 = 32,
        /// COUNT: the message's immediate.
        s_axis_op_immediate: u32 = 32,
        /// COUNT: the lowest two bits of the message's opcode: Send or Write, with immediate or without.
        s_axis_op_kind: u8 = 2,
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `message_table`.
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
        /// The message.
        m_axis_result_message: u32 = NUMBER_BITS,
        /// TOLD: bytes of the message.
        m_axis_result_length: u32 = 32,
        /// TOLD: the message's immediate.
        m_axis_result_immediate: u32 = 32,
        /// TOLD: the message's kind.
        m_axis_result_kind: u8 = 2,
        /// A TELL will find a whole message.
        m_axis_result_more: bool = 1,
    }
}
