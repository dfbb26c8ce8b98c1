//! Contract of `completion`: makes completions of messages that are whole, on both sides (requirements R10, R11).
//!
//! Input registers `received` and `sent` (messages told by the tellers), `error` (refusals by the other NIC). Output registers `complete` (to `receive_table`), `release` (to `request_table`), `stop` (to `scheduler`), `cqe`.
//! Queues of [`WAITING`]: `waiting_error`, `stopped` (strobe), `waiting_received`, `completed` (strobe), `waiting_sent`, `released` (strobe).
//!
//! # Rules
//! - *received*: `received` has an entry, `complete` and `waiting_received` have room. It is taken. A Write (kind 0): nothing more, the receiver's application is not told. A Write with immediate (1): to `waiting_received`. A Send (2, 3): to `waiting_received`, and COMPLETE of its stream to `complete`.
//! - *sent*: `sent` has an entry, `release` and `waiting_sent` have room. It is taken: to `waiting_sent`, and RELEASE of its stream to `release`.
//! - *error*: `error` has an entry, `stop` and `waiting_error` have room. It is taken: to `waiting_error`, and STOP of connection `stream / streams` to `stop`.
//! - *deliver*: `cqe` has room. The first that applies:
//!   1. `waiting_error` and `stopped` have entries: they are taken. If the connection was stopped by this, a completion (otherwise none, and nothing else is delivered in this clock: the first refusal told it) with `error` = its code, its stream and message, the rest 0 (side sent).
//!   2. A received message is ready (`waiting_received` has an entry and, if that is a Send, `completed` too) and a sent one is (`waiting_sent` and `released` have entries): of the two the other than was delivered last (after reset: the received one first).
//!   3. The one that is ready.
//!
//!   Both heads are taken. A received message: stream, message, length, kind; `immediate` if the kind has one, otherwise 0; the receive's `identifier`, of a Write 0. A sent one: stream, message, length, kind and identifier as `released` has them (its `stream` as `waiting_sent` has it), immediate 0.

use crate::ports;

/// Messages that wait for an identifier at once, on each side.
pub const WAITING: usize = 8;

ports! {
    /// Inputs of `completion`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// A message was received.
        s_axis_received_tvalid: bool = 1,
        /// The stream's index among all streams.
        s_axis_received_stream: u16 = params.stream_index_bits(),
        /// The message.
        s_axis_received_message: u32 = 24,
        /// Its bytes.
        s_axis_received_length: u32 = 32,
        /// Its immediate.
        s_axis_received_immediate: u32 = 32,
        /// Its kind.
        s_axis_received_kind: u8 = 2,
        /// A message was sent and acknowledged.
        s_axis_sent_tvalid: bool = 1,
        /// The stream's index among all streams.
        s_axis_sent_stream: u16 = params.stream_index_bits(),
        /// The other NIC refused a message.
        s_axis_error_tvalid: bool = 1,
        /// The stream's index among all streams.
        s_axis_error_stream: u16 = params.stream_index_bits(),
        /// The message.
        s_axis_error_message: u32 = 24,
        /// The NAK's code, not 0.
        s_axis_error_code: u8 = 8,
        /// The operation at `m_axis_complete` is taken.
        m_axis_complete_tready: bool = 1,
        /// A receive was completed.
        completed_valid: bool = 1,
        /// Its identifier.
        completed_identifier: u32 = 32,
        /// The operation at `m_axis_release` is taken.
        m_axis_release_tready: bool = 1,
        /// A request was released.
        released_valid: bool = 1,
        /// Its message.
        released_message: u32 = 24,
        /// Its kind.
        released_kind: u8 = 2,
        /// Its bytes.
        released_length: u32 = 32,
        /// Its identifier.
        released_identifier: u32 = 32,
        /// The operation at `m_axis_stop` is taken.
        m_axis_stop_tready: bool = 1,
        /// A connection is stopped.
        stopped_valid: bool = 1,
        /// It was not before.
        stopped_newly: bool = 1,
        /// The completion at `m_axis_cqe` is taken.
        m_axis_cqe_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `completion`.
    Output Outputs (params) {
        /// A received message would be accepted.
        s_axis_received_tready: bool = 1,
        /// A sent message would be accepted.
        s_axis_sent_tready: bool = 1,
        /// A refusal would be accepted.
        s_axis_error_tready: bool = 1,
        /// The oldest receive of a stream is complete.
        m_axis_complete_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_complete_stream: u16 = params.stream_index_bits(),
        /// The oldest request of a stream is complete.
        m_axis_release_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_release_stream: u16 = params.stream_index_bits(),
        /// A connection is to be stopped.
        m_axis_stop_tvalid: bool = 1,
        /// The connection.
        m_axis_stop_connection: u16 = params.connection_bits(),
        /// A completion is offered.
        m_axis_cqe_tvalid: bool = 1,
        /// Of a received message (otherwise of a sent one).
        m_axis_cqe_received: bool = 1,
        /// 0, or the code with which the other NIC refused the message.
        m_axis_cqe_error: u8 = 8,
        /// The stream's index among all streams.
        m_axis_cqe_stream: u16 = params.stream_index_bits(),
        /// The message.
        m_axis_cqe_message: u32 = 24,
        /// Its bytes.
        m_axis_cqe_length: u32 = 32,
        /// Its immediate.
        m_axis_cqe_immediate: u32 = 32,
        /// Its kind.
        m_axis_cqe_kind: u8 = 2,
        /// What the work request or the receive bore.
        m_axis_cqe_identifier: u32 = 32,
    }
}
