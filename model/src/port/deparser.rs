//! Contract of `deparser`: puts frames together from headers and payload, with lengths and checksums (requirements R2, R4, R5, R6). It is `parser` the other way round.
//!
//! The layout of a frame, the constant fields and the checksum are those of the wire table (`wire`). Let B be the lanes of a beat.
//!
//! # A frame
//! - From a header at `s_axis_data` (opcode WRITE, WRITE_IMMEDIATE, SEND, SEND_IMMEDIATE or PROBE): Ethernet, IPv4, UDP and base header; for all but PROBE data and target header and `payload_bytes` of payload; ICRC.
//!   `payload_bytes` of a PROBE mean nothing.
//! - From one at `s_axis_ack` (opcode ACK or NAK): Ethernet, IPv4, UDP, base header, ACK or NAK header, ICRC.
//!
//! The opcodes of data all have the field `immediate`; it is sent as it is offered (0, by whoever offers it, with an opcode that has no use for it), and so are all four bits of `flags`.
//! Any other opcode must not be offered. Fields that a header's opcode does not have are not sent; numbers narrower than on the wire are extended with zeros (a vector of fewer than 256 bits too). Every data header has an `immediate`: it is sent as it is given, with all four opcodes of data. Fields that no port carries are constants: `ether_type` 0x0800, IPv4 `version` 4, `header_length` 5,
//! `ecn` 2 (ECT(0)), `identification` 0, `fragment_flags` 2 (do not fragment), `fragment_offset` 0, `time_to_live` 64, `protocol` 17, `udp_checksum` 0, `wire_version` 0, reserved fields 0; `flags` and `psn` of a NAK, `flags` of an ACK 0. Lengths and `header_checksum` are computed.
//!
//! The payload of a frame comes at `s_axis_payload`, and is needed for data with `payload_bytes` > 0 only: beats whose bytes stand from lane `88 mod B` of the first beat on, `tlast` on the last one. Just `ceil((88 mod B + payload_bytes) / B)` beats; `tlast` and lanes outside the payload are not looked at.
//!
//! # Choice
//! One header register. A header is *chosen* in a clock in which the pipeline moves and either no frame is being made or the last beat of one enters the pipeline: of the two streams the one that offers a header; if both do, the other than the one
//! chosen last (after reset: `s_axis_ack` first). `s_axis_data_tready` and `s_axis_ack_tready` cannot depend on `tvalid`, so each stream ends in an input register of one entry, and it is these that are chosen from: `s_axis_data_tready` = that register is empty, and so for `s_axis_ack`.
//! A chosen entry leaves its register, which is empty in the next clock, in which the frame's first beat may enter the pipeline.
//!
//! # Beats
//! A frame of N bytes, checksum included, has `ceil(N / B)` beats; beat k enters the pipeline in the k-th of the clocks after the choice in which the pipeline moves and, if the beat holds bytes of payload, a payload beat is accepted.
//! `s_axis_payload_tready` = the pipeline moves, a frame is being made, and its next beat holds bytes of payload. All beats are full but the last, whose lanes behind the frame's end are zero. `tkeep` marks the frame's bytes. `plane` is the header's in every beat of the frame.
//! The transmit timestamp is the header's (`timestamp`): the sender's scoreboard must know it.
//!
//! # Timing
//! The pipeline is rigid; it moves in the clocks in which the output queue (two entries) has room. [`LATENCY`] clocks from a beat's entry to that beat at `m_axis_tx_tvalid`. A beat a clock, frames back to back: the first beat of a frame may enter in the clock after
//! the last one's last. After reset no frame is being made and all registers are empty; there is no clear.

use super::{Beat, Vector};
use crate::ports;

/// Clocks from a beat's entry to the beat at the output, without stalls.
pub const LATENCY: usize = 12;

ports! {
    /// Inputs of `deparser`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// A header of data or of a probe is offered.
        s_axis_data_tvalid: bool = 1,
        /// MAC address of the next hop, first byte most significant.
        s_axis_data_destination_mac: u64 = 48,
        /// This NIC's MAC address on the plane.
        s_axis_data_source_mac: u64 = 48,
        /// This NIC's IPv4 address on the plane.
        s_axis_data_source_address: u32 = 32,
        /// The other NIC's IPv4 address on the plane.
        s_axis_data_destination_address: u32 = 32,
        /// UDP source port: the path's entropy.
        s_axis_data_source_port: u16 = 16,
        /// Class of service.
        s_axis_data_dscp: u8 = 6,
        /// The plane on which it leaves.
        s_axis_data_plane: u8 = params.plane_bits(),
        /// The opcode.
        s_axis_data_opcode: u8 = 8,
        /// The flags.
        s_axis_data_flags: u8 = 4,
        /// The other NIC's connection.
        s_axis_data_connection: u32 = 24,
        /// The path within the connection.
        s_axis_data_path: u8 = params.path_bits(),
        /// The packet's PSN.
        s_axis_data_psn: u32 = params.psn_bits,
        /// The transmit timestamp.
        s_axis_data_timestamp: u32 = params.timestamp_bits,
        /// Bytes of payload, at most `mtu_bytes`.
        s_axis_data_payload_bytes: u16 = params.payload_bits(),
        /// The stream.
        s_axis_data_stream: u16 = 16,
        /// The message within the stream.
        s_axis_data_message: u32 = 24,
        /// Bytes of the message.
        s_axis_data_message_length: u32 = 32,
        /// Where the payload stands in the message.
        s_axis_data_offset: u32 = 32,
        /// The immediate.
        s_axis_data_immediate: u32 = 32,
        /// Writes: the key of the memory region.
        s_axis_data_key: u32 = 32,
        /// Writes: the address of the payload's first byte.
        s_axis_data_address: u64 = 64,
        /// Sends: the receive that the message takes.
        s_axis_data_receive: u32 = 24,
        /// A header of an ACK or NAK is offered.
        s_axis_ack_tvalid: bool = 1,
        /// MAC address of the next hop, first byte most significant.
        s_axis_ack_destination_mac: u64 = 48,
        /// This NIC's MAC address on the plane.
        s_axis_ack_source_mac: u64 = 48,
        /// This NIC's IPv4 address on the plane.
        s_axis_ack_source_address: u32 = 32,
        /// The other NIC's IPv4 address on the plane.
        s_axis_ack_destination_address: u32 = 32,
        /// UDP source port.
        s_axis_ack_source_port: u16 = 16,
        /// Class of service.
        s_axis_ack_dscp: u8 = 6,
        /// The plane on which it leaves.
        s_axis_ack_plane: u8 = params.plane_bits(),
        /// The opcode.
        s_axis_ack_opcode: u8 = 8,
        /// The other NIC's connection.
        s_axis_ack_connection: u32 = 24,
        /// The path within the connection.
        s_axis_ack_path: u8 = params.path_bits(),
        /// The transmit timestamp.
        s_axis_ack_timestamp: u32 = params.timestamp_bits,
        /// ACK: the cumulative PSN.
        s_axis_ack_psn: u32 = params.psn_bits,
        /// ACK: the selective vector.
        s_axis_ack_vector: Vector = params.sack_bits,
        /// ACK: the echoed transmit timestamp.
        s_axis_ack_echo: u32 = params.timestamp_bits,
        /// ACK: ticks that it was held back.
        s_axis_ack_hold: u16 = 16,
        /// ACK: running count of the path's packets received.
        s_axis_ack_packets: u16 = 16,
        /// ACK: running count of those that came marked.
        s_axis_ack_marked: u16 = 16,
        /// ACK: the rate allotted.
        s_axis_ack_hint: u16 = 12,
        /// ACK: the receiver's window state.
        s_axis_ack_window_state: u8 = 4,
        /// NAK: the stream.
        s_axis_ack_stream: u16 = 16,
        /// NAK: the message.
        s_axis_ack_message: u32 = 24,
        /// NAK: the code.
        s_axis_ack_code: u8 = 8,
        /// A beat of payload is offered.
        s_axis_payload_tvalid: bool = 1,
        /// The beat.
        s_axis_payload_tdata: Beat = params.data_bits,
        /// The beat at `m_axis_tx` is taken.
        m_axis_tx_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `deparser`.
    Output Outputs (params) {
        /// A header of data would be accepted.
        s_axis_data_tready: bool = 1,
        /// A header of an acknowledgement would be accepted.
        s_axis_ack_tready: bool = 1,
        /// A beat of payload would be accepted.
        s_axis_payload_tready: bool = 1,
        /// A beat of a frame is offered.
        m_axis_tx_tvalid: bool = 1,
        /// The beat.
        m_axis_tx_tdata: Beat = params.data_bits,
        /// The lanes that hold bytes of the frame.
        m_axis_tx_tkeep: u64 = params.lanes(),
        /// It is the last of its frame.
        m_axis_tx_tlast: bool = 1,
        /// The plane on which the frame leaves (`tuser`).
        m_axis_tx_plane: u8 = params.plane_bits(),
    }
}
