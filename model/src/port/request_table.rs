//! Contract of `request_table`: the work requests of every stream, cut into packets (requirements R5, R10, R11).
//!
//! For each stream it keeps four counts of 24 bits that wrap: `posted`, `current` (the message being cut), `oldest` (not released) and `receives` (Sends posted); `offset` (32 bits, where in the current
//! message the next packet begins); and a ring of `messages` (M) requests, message n in entry n mod M: kind, length, local address, remote address, key, immediate, identifier, and the receive that a Send takes.
//! `oldest <= current <= posted <= oldest + M` in serial-number order.
//!
//! # Operations
//! `stream` is the index among all streams, `connection * streams + stream`.
//! - [`op::POST`]: with `posted - oldest < M`: the fields become those of message `posted`, with receive number `receives`; `posted` moves up by one, and `receives` too if the kind is a Send's (2 or 3).
//!   Status DONE, the result gives `message`. Otherwise [`status::REFUSED`], nothing changes.
//! - [`op::NEXT`]: with `current != posted`: the next packet of message `current`: it begins at `offset` and has `bytes = min(mtu_bytes, length - offset)`, of a message of no bytes 0. `last` = `offset + bytes == length`. If `last`, `current` moves up by one and
//!   `offset = 0`, otherwise `offset += bytes`. Status DONE. Otherwise [`status::NONE`], nothing changes.
//! - [`op::READ`]: packet number `packet` of a message of which the lowest `message_slot_bits` bits of the number are given, again. Let `behind = (message - oldest) mod 2^message_slot_bits`. With `behind < posted - oldest`
//!   it is message `oldest + behind` (24 bits), `offset = packet * mtu_bytes`, and `bytes`, `last` and the rest are as NEXT gives them: `bytes = min(mtu_bytes, (length - offset) mod 2^32)`, `last` tells whether that is all that is left. Nothing changes. Status DONE.
//!   Otherwise the message was released: [`status::NONE`].
//! - [`op::RELEASE`]: with `oldest != current`: the result gives `message` = `oldest` with its `identifier`, and `oldest` moves up by one. Status DONE. Otherwise [`status::NONE`], nothing changes.
//! - [`op::INIT`]: no requests; `posted = current = oldest = message`, `receives = receive`, `offset = 0`. Status DONE.
//! - Codes 5 to 7 are reserved: [`status::NONE`], nothing changes.
//!
//! # Outputs
//! `op`, `stream`, `tag` (for whoever asks: several may share the unit), `status`. `unsent`: after the operation `current != posted`. `message`: the message (INIT: the operation's; whenever the status is not DONE: 0). For NEXT and READ with status DONE: `kind`, `message_length`, `offset`, `bytes`, `last`, `immediate`, `key`, `receive`,
//! `local` = (local address + offset) mod 2^64, `remote` = (remote address + offset) mod 2^64, `identifier`. For RELEASE with status DONE: `kind`, `message_length`, `identifier`. What is not mentioned is zero.
//!
//! # Timing
//! One operation a clock on distinct streams; two operations on one stream are issued at least [`SAME_STREAM_CLOCKS`] moving clocks apart. Acceptance, issue, `s_axis_op_tready` and stalls are as in `sack_tx`, with the stream in the path's place.
//! [`LATENCY`] clocks from issue to `m_axis_result_tvalid`, so one more from acceptance. After reset every stream is as after INIT with message and receive 0; `s_axis_op_tready` is low for the `connections * streams` clocks that follow the last clock with `rst` high.

use super::receive_table::NUMBER_BITS;
use crate::ports;

/// Clocks from issue of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 10;
/// Moving clocks between the issue of two operations on one stream, at least.
pub const SAME_STREAM_CLOCKS: usize = 4;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// A new request.
    pub const POST: u8 = 0;
    /// The next packet to send for the first time.
    pub const NEXT: u8 = 1;
    /// A packet to send again, or to account for.
    pub const READ: u8 = 2;
    /// The oldest request is complete.
    pub const RELEASE: u8 = 3;
    /// The stream starts anew.
    pub const INIT: u8 = 4;
}

/// Status codes of `m_axis_result_status`.
pub mod status {
    /// Done.
    pub const DONE: u8 = 0;
    /// POST: M requests are not released yet.
    pub const REFUSED: u8 = 1;
    /// NEXT: nothing is left to send. READ: the message was released. RELEASE: nothing was sent. Or a reserved operation.
    pub const NONE: u8 = 2;
}

ports! {
    /// Inputs of `request_table`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 3,
        /// The stream's index among all streams.
        s_axis_op_stream: u16 = params.stream_index_bits(),
        /// READ: the message (its lowest `message_slot_bits`). INIT: the first message.
        s_axis_op_message: u32 = NUMBER_BITS,
        /// READ: the number of the packet within its message.
        s_axis_op_packet: u32 = params.packet_bits(),
        /// Comes back with the result.
        s_axis_op_tag: u8 = 1,
        /// INIT: the first receive.
        s_axis_op_receive: u32 = NUMBER_BITS,
        /// POST: the lowest two bits of the opcode: Send or Write, with immediate or without.
        s_axis_op_kind: u8 = 2,
        /// POST: bytes of the message.
        s_axis_op_length: u32 = 32,
        /// POST: where the bytes are.
        s_axis_op_local: u64 = 64,
        /// POST, Writes: where they go.
        s_axis_op_remote: u64 = 64,
        /// POST, Writes: the key of the memory region there.
        s_axis_op_key: u32 = 32,
        /// POST: the immediate.
        s_axis_op_immediate: u32 = 32,
        /// POST: what the completion is to bear.
        s_axis_op_identifier: u32 = 32,
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `request_table`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 3,
        /// The operation's stream.
        m_axis_result_stream: u16 = params.stream_index_bits(),
        /// The operation's tag.
        m_axis_result_tag: u8 = 1,
        /// How it ended: see `status`.
        m_axis_result_status: u8 = 2,
        /// There is something to send for the first time.
        m_axis_result_unsent: bool = 1,
        /// The message.
        m_axis_result_message: u32 = NUMBER_BITS,
        /// Its kind.
        m_axis_result_kind: u8 = 2,
        /// Its bytes.
        m_axis_result_message_length: u32 = 32,
        /// Where in it the packet begins.
        m_axis_result_offset: u32 = 32,
        /// The packet's bytes.
        m_axis_result_bytes: u16 = params.payload_bits(),
        /// The packet is its message's last.
        m_axis_result_last: bool = 1,
        /// The message's immediate.
        m_axis_result_immediate: u32 = 32,
        /// The key of the memory region there.
        m_axis_result_key: u32 = 32,
        /// The receive that the message takes.
        m_axis_result_receive: u32 = NUMBER_BITS,
        /// Where the packet's bytes are.
        m_axis_result_local: u64 = 64,
        /// Where they go.
        m_axis_result_remote: u64 = 64,
        /// What the completion is to bear.
        m_axis_result_identifier: u32 = 32,
    }
}
