//! Contract of `teller`: has the bytes of messages counted by a `message_table`, and asks it for whole messages as long as there are any (requirements R4, R10).
//!
//! While a stream's messages are being told no further packet of it is counted: else a fast sender could come so far ahead of what has been told that its messages fall outside the table.
//! [`SLOTS`] streams are worked on at once. A slot has `busy`, `stream`, and `tell`. Input register `count`, output register `op`, and `told`, a queue of 2 x [`SLOTS`] whose head is offered at `m_axis_told`.
//!
//! # Rules
//! *tell* and *count* are decided ahead, together: none is decided in a clock in which one happens. The slot is that of the clock of the decision.
//! - *tell*: a busy slot has `tell` set, `op` has room, and `told` holds at most [`SLOTS`] entries. The lowest-numbered such slot: TELL of its stream goes to `op`, `tell` is cleared.
//! - *count*: *tell* does not happen, `op` has room, `count` has an entry, no busy slot has its stream, and some slot is not busy. The lowest-numbered such slot becomes busy with that stream; the entry is taken and goes to `op` as a COUNT.
//! - *result*: with `result_valid` high and the operation COUNT or TELL: of the busy slot with that stream (there is one; if there is none nothing happens), `more` sets `tell`, otherwise `busy` is cleared. With status TOLD the message goes to `told`.
//!   With status OUTSIDE or TOO_LONG `refused` is high in the next clock.
//!
//! Fields of a TELL but the stream are 0.

use crate::ports;

/// Streams that are worked on at once.
pub const SLOTS: usize = 4;

ports! {
    /// Inputs of `teller`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// A packet is to be counted.
        s_axis_count_tvalid: bool = 1,
        /// The stream's index among all streams.
        s_axis_count_stream: u16 = params.stream_index_bits(),
        /// The message.
        s_axis_count_message: u32 = 24,
        /// The packet's bytes.
        s_axis_count_bytes: u16 = params.payload_bits(),
        /// Bytes of the message.
        s_axis_count_length: u32 = 32,
        /// The message's immediate.
        s_axis_count_immediate: u32 = 32,
        /// The message's kind.
        s_axis_count_kind: u8 = 2,
        /// The operation at `m_axis_op` is taken.
        m_axis_op_tready: bool = 1,
        /// The table gives a result.
        result_valid: bool = 1,
        /// The operation's code.
        result_op: u8 = 2,
        /// The operation's stream.
        result_stream: u16 = params.stream_index_bits(),
        /// How it ended.
        result_status: u8 = 3,
        /// The message.
        result_message: u32 = 24,
        /// TOLD: bytes of the message.
        result_length: u32 = 32,
        /// TOLD: the message's immediate.
        result_immediate: u32 = 32,
        /// TOLD: the message's kind.
        result_kind: u8 = 2,
        /// A TELL will find a whole message.
        result_more: bool = 1,
        /// The message at `m_axis_told` is taken.
        m_axis_told_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `teller`.
    Output Outputs (params) {
        /// A packet would be accepted.
        s_axis_count_tready: bool = 1,
        /// An operation for the table is offered.
        m_axis_op_tvalid: bool = 1,
        /// COUNT or TELL of `message_table`.
        m_axis_op_op: u8 = 2,
        /// The stream's index among all streams.
        m_axis_op_stream: u16 = params.stream_index_bits(),
        /// The message.
        m_axis_op_message: u32 = 24,
        /// The packet's bytes.
        m_axis_op_bytes: u16 = params.payload_bits(),
        /// Bytes of the message.
        m_axis_op_length: u32 = 32,
        /// The message's immediate.
        m_axis_op_immediate: u32 = 32,
        /// The message's kind.
        m_axis_op_kind: u8 = 2,
        /// A whole message is told.
        m_axis_told_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_told_stream: u16 = params.stream_index_bits(),
        /// The message.
        m_axis_told_message: u32 = 24,
        /// Bytes of the message.
        m_axis_told_length: u32 = 32,
        /// The message's immediate.
        m_axis_told_immediate: u32 = 32,
        /// The message's kind.
        m_axis_told_kind: u8 = 2,
        /// A packet was not counted: its message is not due, or it is longer than its message.
        refused: bool = 1,
    }
}
