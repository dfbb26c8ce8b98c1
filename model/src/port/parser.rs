//! Contract of `parser`: takes frames apart, checks them, and tells the packets of data from the acknowledgements (requirements R2, R4, R5, R6).
//!
//! The layout of a frame, the values of the opcodes and the checksum are those of the wire table (`wire`). Let B be the lanes of a beat.
//!
//! # A frame
//! Its beats are full (`tkeep` means nothing) but for the last, whose bytes are the lanes before the first one whose `tkeep` bit is clear (none, if bit 0 is). Its *length* is the number of its bytes.
//! The frame's `plane` and `bad` (the MAC found it damaged) are those of its last beat. Its *verdict* is the first of these reasons that applies, or [`drop::NONE`]; a field beyond the frame's end, or beyond the headers of its opcode, is not looked at.
//! - [`drop::BAD`]: `bad` is set.
//! - [`drop::TRUNCATED`]: the length is less than 60.
//! - [`drop::NOT_IPV4`]: `ether_type` is not 0x0800.
//! - [`drop::IP_HEADER`]: `version` is not 4, `header_length` not 5, the more-fragments flag (the lowest of `fragment_flags`) is set, `fragment_offset` not 0, `protocol` not 17, or the one's complement sum of the header's ten words is not 0xffff.
//! - [`drop::ADDRESS`]: `destination_address` is not the address configured for `plane`, or that one is 0.
//! - [`drop::PORT`]: `destination_port` is not `udp_port`.
//! - [`drop::LENGTH`]: `total_length` is not the length less 14, `udp_length` not the length less 34, or the length is more than `max_packet_bytes`.
//! - [`drop::VERSION`]: `wire_version` is not 0.
//! - [`drop::OPCODE`]: `opcode` is not one of WRITE, WRITE_IMMEDIATE, SEND, SEND_IMMEDIATE, ACK, NAK, PROBE.
//! - [`drop::SIZE`]: the length is less than the opcode's headers and checksum, or for ACK, NAK and PROBE not just that; or the payload (what is between them) is more than `mtu_bytes`; or a field of the base header is beyond what
//!   the profile can count: `connection`, `path` or `psn` does not fit in `connection_bits`, `path_bits`, `psn_bits`.
//! - [`drop::ICRC`]: the checksum is wrong.
//!
//! # What comes out
//! - Payload: the frame's beats from number floor([`HEADER_BYTES`] / B) (counted from 0) on, as they came, if there are any; but of those whose first byte's number in the frame is `max_packet_bytes` or more, only the last. With the frame's
//!   last beat `tlast`, and `keep` if the verdict is `NONE`, the opcode is one of data, and the payload is not empty. (The payload begins at lane `HEADER_BYTES mod B`; its length is told by the header; the checksum comes after it.)
//!   The beats of ACKs and of foreign frames come out too, with `keep` clear: `frame_buffer` forgets them.
//! - For verdict `NONE` and an opcode of data, or PROBE: the header at `m_axis_data`. With PROBE the fields from `stream` on are zero. With WRITE and WRITE_IMMEDIATE `receive` is zero; with SEND and SEND_IMMEDIATE `key` and `address` are. `immediate` is that of the data header with all four opcodes of data.
//!   `flags` (all four bits) and `immediate` (with every opcode of data) are as they came.
//!   `marked`: the field `ecn` of the IPv4 header is 3 (CE).
//! - For verdict `NONE` and ACK or NAK: the header at `m_axis_ack`. With ACK the fields from `stream` on are zero, with NAK those from `psn` to `window_state`.
//! - For every other verdict: `dropped` is high for one clock, with the reason at `drop_reason` (0 while `dropped` is low).
//!
//! # Timing
//! `payload` is an output queue, `data` and `ack` are output registers. The pipeline is rigid; it moves in the clocks in which `payload` has room and, if its last stage holds a frame's last beat, `data` and `ack` are empty: a header that is taken before the next frame ends stops nothing.
//! `s_axis_rx_tready` = it moves. [`LATENCY`] clocks from the acceptance of a beat to that beat at `m_axis_payload_tvalid`, and from that of
//! a frame's last beat to `m_axis_data_tvalid` or `m_axis_ack_tvalid`. `dropped` is high in the first of the clocks in which the header would have been at the output's head had the queue been empty: [`LATENCY`] moving clocks after acceptance, whether or not the pipeline moves then, and for one clock only.
//! A beat a clock, frames back to back; only a frame of one beat (on a bus of 512 bits) waits a clock behind another whose header is taken at once. `arrival` is `now` in the clock in which the frame's last beat was accepted.
//!
//! The local addresses are written in any clock with `config_write` high: the entry `config_plane` takes `config_address` at the edge that ends the clock. A frame is judged with the addresses of the clock in which its last beat was accepted (before a write in that clock takes effect).
//! After reset every address is 0, no frame has begun, and there is no clear.

use super::{Beat, Vector};
use crate::ports;

/// Clocks from the acceptance of a beat to the beat at the output, without stalls.
pub const LATENCY: usize = 13;
/// Bytes of a data packet before its payload: Ethernet, IPv4, UDP, base, data and target headers.
pub const HEADER_BYTES: u32 = 88;
/// Bytes of the checksum behind the payload.
pub const ICRC_BYTES: u32 = 4;

/// Why a frame was dropped: values of `drop_reason`, and the indices of the drop counters.
pub mod drop {
    /// The MAC found the frame damaged.
    pub const BAD: u8 = 0;
    /// Shorter than the shortest packet.
    pub const TRUNCATED: u8 = 1;
    /// Not IPv4.
    pub const NOT_IPV4: u8 = 2;
    /// An IPv4 header that is not UDP's, is a fragment's, has options or a wrong checksum.
    pub const IP_HEADER: u8 = 3;
    /// Not for this NIC's address on that plane.
    pub const ADDRESS: u8 = 4;
    /// Not for the transport's UDP port.
    pub const PORT: u8 = 5;
    /// The lengths of IPv4, UDP and the frame do not agree, or the frame is too long.
    pub const LENGTH: u8 = 6;
    /// Another version of the wire.
    pub const VERSION: u8 = 7;
    /// Unknown or unsupported opcode.
    pub const OPCODE: u8 = 8;
    /// Too short or too long for its opcode, or numbers that the profile has no room for.
    pub const SIZE: u8 = 9;
    /// Wrong checksum.
    pub const ICRC: u8 = 10;
    /// Not dropped. (Never seen at `drop_reason`.)
    pub const NONE: u8 = 15;
}

ports! {
    /// Inputs of `parser`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// The present time.
        now: u32 = params.timestamp_bits,
        /// An address is configured.
        config_write: bool = 1,
        /// The plane whose address it is.
        config_plane: u8 = params.plane_bits(),
        /// The IPv4 address, first byte most significant.
        config_address: u32 = 32,
        /// A beat of a frame is offered.
        s_axis_rx_tvalid: bool = 1,
        /// The beat.
        s_axis_rx_tdata: Beat = params.data_bits,
        /// The last beat's bytes.
        s_axis_rx_tkeep: u64 = params.lanes(),
        /// It is the last of its frame.
        s_axis_rx_tlast: bool = 1,
        /// Of the last beat: the plane on which the frame came (part of `tuser`).
        s_axis_rx_plane: u8 = params.plane_bits(),
        /// Of the last beat: the frame is damaged (part of `tuser`).
        s_axis_rx_bad: bool = 1,
        /// The beat at `m_axis_payload` is taken.
        m_axis_payload_tready: bool = 1,
        /// The header at `m_axis_data` is taken.
        m_axis_data_tready: bool = 1,
        /// The header at `m_axis_ack` is taken.
        m_axis_ack_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `parser`.
    Output Outputs (params) {
        /// A beat would be accepted.
        s_axis_rx_tready: bool = 1,
        /// A beat of a frame's payload is offered.
        m_axis_payload_tvalid: bool = 1,
        /// The beat.
        m_axis_payload_tdata: Beat = params.data_bits,
        /// It is the last of its frame.
        m_axis_payload_tlast: bool = 1,
        /// Of a last beat: the frame is good, and has payload.
        m_axis_payload_keep: bool = 1,
        /// A header of data or of a probe is offered.
        m_axis_data_tvalid: bool = 1,
        /// The opcode.
        m_axis_data_opcode: u8 = 8,
        /// The flags.
        m_axis_data_flags: u8 = 4,
        /// This NIC's connection.
        m_axis_data_connection: u16 = params.connection_bits(),
        /// The path within the connection.
        m_axis_data_path: u8 = params.path_bits(),
        /// The packet's PSN.
        m_axis_data_psn: u32 = params.psn_bits,
        /// The sender's transmit timestamp (the lowest `timestamp_bits` of it).
        m_axis_data_timestamp: u32 = params.timestamp_bits,
        /// The present time when the frame had arrived.
        m_axis_data_arrival: u32 = params.timestamp_bits,
        /// Congestion was experienced.
        m_axis_data_marked: bool = 1,
        /// The plane on which it came.
        m_axis_data_plane: u8 = params.plane_bits(),
        /// Bytes of payload.
        m_axis_data_payload_bytes: u16 = params.payload_bits(),
        /// The stream.
        m_axis_data_stream: u16 = 16,
        /// The message within the stream.
        m_axis_data_message: u32 = 24,
        /// Bytes of the message.
        m_axis_data_message_length: u32 = 32,
        /// Where the payload stands in the message.
        m_axis_data_offset: u32 = 32,
        /// The immediate.
        m_axis_data_immediate: u32 = 32,
        /// Writes: the key of the memory region.
        m_axis_data_key: u32 = 32,
        /// Writes: the address of the payload's first byte.
        m_axis_data_address: u64 = 64,
        /// Sends: the receive that the message takes.
        m_axis_data_receive: u32 = 24,
        /// A header of an ACK or NAK is offered.
        m_axis_ack_tvalid: bool = 1,
        /// The opcode.
        m_axis_ack_opcode: u8 = 8,
        /// This NIC's connection.
        m_axis_ack_connection: u16 = params.connection_bits(),
        /// The path within the connection.
        m_axis_ack_path: u8 = params.path_bits(),
        /// ACK: the cumulative PSN.
        m_axis_ack_psn: u32 = params.psn_bits,
        /// ACK: the selective vector (its lowest `sack_bits`).
        m_axis_ack_vector: Vector = params.sack_bits,
        /// ACK: the echoed transmit timestamp (the lowest `timestamp_bits` of it).
        m_axis_ack_echo: u32 = params.timestamp_bits,
        /// ACK: ticks that the receiver held it back.
        m_axis_ack_hold: u16 = 16,
        /// ACK: running count of the path's packets received.
        m_axis_ack_packets: u16 = 16,
        /// ACK: running count of those that came marked.
        m_axis_ack_marked: u16 = 16,
        /// ACK: the rate that the receiver allots.
        m_axis_ack_hint: u16 = 12,
        /// ACK: the receiver's window state.
        m_axis_ack_window_state: u8 = 4,
        /// NAK: the stream.
        m_axis_ack_stream: u16 = 16,
        /// NAK: the message.
        m_axis_ack_message: u32 = 24,
        /// NAK: the code.
        m_axis_ack_code: u8 = 8,
        /// A frame was dropped.
        dropped: bool = 1,
        /// Why: see `drop`.
        drop_reason: u8 = 4,
    }
}
