//! Contract of `placement`: brings the payload of received packets to memory, and says so when it is there (requirement R4).
//!
//! It stands before and behind an `align`: it gives that unit commands and beats, and takes the aligned beats from it. Let B be the lanes of a beat.
//!
//! Queues of J: `place` (the stream `s_axis_place`), `transfers` (address and `empty`), `tokens` (what is to be counted). Output queues: `command`, `beat`, `write`. `passing`: nothing, a frame that is placed, or a frame that is discarded.
//! `released`: tokens that may be given.
//!
//! # Rules
//! - *accept*: `s_axis_place_tready` = `place` has room.
//! - *begin*: nothing is passing, `place` has an entry, and `command`, `transfers` and `tokens` have room. It is taken. Discarded: a frame that is discarded is passing. Otherwise its token goes to `tokens` (all fields but the address). If it has no bytes, an empty transfer goes to `transfers` and nothing is passing;
//!   otherwise to `transfers` the address rounded down to a multiple of B, to `command` `from = HEADER_BYTES mod B`, `to = address mod B` and the bytes, and a frame that is placed is passing.
//! - *pass*: `s_axis_payload_tready` = a discarded frame is passing, or one that is placed and `beat` has room. A beat of a placed frame goes to `beat`. After one with `tlast` nothing is passing.
//! - *write*: `s_axis_aligned_tready` = `write` has room, and the head of `transfers` is there and not empty. The accepted beat goes to `write`, with the address of its lane 0: the transfer's plus B for every beat of it before. With `tlast` the head of `transfers` is taken.
//! - *empty*: the head of `transfers` is empty and `write` has room: it is taken, and a null entry goes to `write`.
//! - *leave*: the head of `write` leaves if it is null (`m_axis_write_tvalid` is low then), or if `m_axis_write_tready` is high. If it is null or has `tlast`: `released` + 1.
//! - *count*: `m_axis_count` offers the head of `tokens` while `released` is not 0. When it is taken, `released` - 1.
//!
//! So a packet is counted after its last beat has been taken by the memory.

use super::Beat;
use crate::ports;

ports! {
    /// Inputs of `placement`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// A packet is to be placed or discarded.
        s_axis_place_tvalid: bool = 1,
        /// It is discarded; it has payload then.
        s_axis_place_discard: bool = 1,
        /// Bytes of payload.
        s_axis_place_bytes: u16 = params.payload_bits(),
        /// Where the first byte goes.
        s_axis_place_address: u64 = 64,
        /// The stream's index among all streams.
        s_axis_place_stream: u16 = params.stream_index_bits(),
        /// The message.
        s_axis_place_message: u32 = 24,
        /// Bytes of the message.
        s_axis_place_length: u32 = 32,
        /// The message's immediate.
        s_axis_place_immediate: u32 = 32,
        /// The lowest two bits of the opcode.
        s_axis_place_kind: u8 = 2,
        /// A beat of a frame's payload is offered.
        s_axis_payload_tvalid: bool = 1,
        /// The beat.
        s_axis_payload_tdata: Beat = params.data_bits,
        /// It is the last of its frame.
        s_axis_payload_tlast: bool = 1,
        /// The command at `m_axis_command` is taken.
        m_axis_command_tready: bool = 1,
        /// The beat at `m_axis_beat` is taken.
        m_axis_beat_tready: bool = 1,
        /// An aligned beat is offered.
        s_axis_aligned_tvalid: bool = 1,
        /// The beat.
        s_axis_aligned_tdata: Beat = params.data_bits,
        /// The lanes that hold bytes.
        s_axis_aligned_tkeep: u64 = params.lanes(),
        /// It is the last of its transfer.
        s_axis_aligned_tlast: bool = 1,
        /// The beat at `m_axis_write` is taken.
        m_axis_write_tready: bool = 1,
        /// What is at `m_axis_count` is taken.
        m_axis_count_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `placement`.
    Output Outputs (params) {
        /// A packet would be accepted.
        s_axis_place_tready: bool = 1,
        /// A beat of payload would be accepted.
        s_axis_payload_tready: bool = 1,
        /// A transfer is to be aligned.
        m_axis_command_tvalid: bool = 1,
        /// Lane of the first byte in the first beat.
        m_axis_command_from: u8 = params.lane_bits(),
        /// Lane of the first byte in memory.
        m_axis_command_to: u8 = params.lane_bits(),
        /// Bytes of the transfer.
        m_axis_command_bytes: u16 = params.payload_bits(),
        /// A beat to align is offered.
        m_axis_beat_tvalid: bool = 1,
        /// The beat.
        m_axis_beat_tdata: Beat = params.data_bits,
        /// It is the last of its frame.
        m_axis_beat_tlast: bool = 1,
        /// An aligned beat would be accepted.
        s_axis_aligned_tready: bool = 1,
        /// A beat for memory is offered.
        m_axis_write_tvalid: bool = 1,
        /// The beat.
        m_axis_write_tdata: Beat = params.data_bits,
        /// The lanes to write.
        m_axis_write_tkeep: u64 = params.lanes(),
        /// It is the last of its packet.
        m_axis_write_tlast: bool = 1,
        /// Address of lane 0, a multiple of the lanes.
        m_axis_write_address: u64 = 64,
        /// A packet is in memory.
        m_axis_count_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_count_stream: u16 = params.stream_index_bits(),
        /// The message.
        m_axis_count_message: u32 = 24,
        /// Bytes that were placed.
        m_axis_count_bytes: u16 = params.payload_bits(),
        /// Bytes of the message.
        m_axis_count_length: u32 = 32,
        /// The message's immediate.
        m_axis_count_immediate: u32 = 32,
        /// The lowest two bits of the opcode.
        m_axis_count_kind: u8 = 2,
    }
}
