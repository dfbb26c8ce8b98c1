//! Contract of `transmitter`: brings every packet from the decision to send it to its header: new ones, ones sent again, and probes (requirements R2, R3, R4, R6, R8, R10).
//!
//! All packets of a path keep the order in which `sack_tx` dealt with them: they go through the same queues. A job is NEW (a stream of a connection), AGAIN (a path with something pending) or PROBE (a path).
//!
//! Queues: `ready` (strobe), of `connections`; `retry` (strobe), of `connections * paths`; of J: `scheduled`, `routed`, `sacked`, `next`, `packet`, `read`, `looked` (strobes) and `to_route`, `to_send`, `to_pack`, `to_read`, `to_look`, `to_finish` (jobs between the rules).
//! Input queue `probe`. Output queues `schedule`, `take` (to `retry_table`), `path`, `sack`, `next_op` (stream `m_axis_next`), `packet_op` (`m_axis_packet`), `read_op` (`m_axis_read`), `lookup`, `charge`; output registers `data`, `fetch`; `align`, a queue of J (offered at `m_axis_align`).
//! A count `jobs`, of those under way; `again`: the last entry was one of AGAIN.
//!
//! Every job leaves by one of the ends below; `jobs` - 1 each. `now` is the input in the clock in which the rule happens. `connection` is `path / paths`; a stream's index is `connection * streams + stream`.
//!
//! # Rules
//! All are decided ahead; *take*, *enter*, *route* and *sent* together: none of these is decided in a clock in which one of them happens. What is said of a clock is said of the clock of the decision, but for `now`.
//! - *take*: `ready` has an entry, `jobs + 2 <= J`, `schedule` has room, and *block* does not happen in this clock (in *route* or *sent*). It is taken: TAKE of the connection to `schedule`; `jobs` + 1.
//! - *enter*: `path` has room, and *sent* does not put a SEND into it in this clock. The first that applies:
//!   1. `scheduled` has an entry that is not `taken`: it is taken, the job ends. (This needs no room in `path`, waits for no SEND, and happens beside one of the others.)
//!   2. `probe` has an entry and `jobs + 2 <= J`: PROBE. It is taken: [`path_op::ROUTE`] of the path; `jobs` + 1.
//!   3. `retry` has an entry, `jobs + 2 <= J`, `take` has room, and not (`again` is set and `scheduled` has a `taken` entry): AGAIN. It is taken: ROUTE of the path, TAKE of the path to `take`; `jobs` + 1, `again` is set.
//!   4. `scheduled` has a `taken` entry: NEW. It is taken: SELECT of path `connection * paths`; `again` is cleared.
//!
//!   The job (kind, stream) goes to `to_route`.
//! - *route*: `routed` and `to_route` have entries, and `sack` has room; if the job is NEW and no path was found, `schedule` must have room too. They are taken. NEW and not found: *block*: BLOCK of the connection (of `routed`'s path) to `schedule`, the job ends. Otherwise SEND, RETRANSMIT or PROBE of `routed`'s path at `now` to `sack`; the job with path, plane, source port and `timestamp = now` to `to_send`.
//! - *sent*: `sacked` and `to_send` have entries; `path` and `next_op` have room; *route* does not *block* in this clock; for NEW `schedule` has room. They are taken. NEW with status FULL: *block* of the connection, the job ends. AGAIN with status NONE: the job ends. Otherwise NEW and AGAIN: [`path_op::SEND`] of the path to `path`; NEW: NEXT of its stream to `next_op`; the job with its PSN to `to_pack`.
//! - *pack*: `to_pack` has an entry, for NEW `next` too, and `packet_op` has room. They are taken. NEW with a status of `next` that is not DONE: the job ends. NEW: WRITE of path, PSN, stream, the lowest `message_slot_bits` of the message and `offset / mtu_bytes` to `packet_op`. AGAIN: READ of path and PSN. PROBE: nothing. The job to `to_read`.
//! - *read*: `to_read` has an entry, for NEW and AGAIN `packet` too, and `read_op` has room. They are taken. NEW, AGAIN: READ of the stream's index, message and packet number to `read_op`. The job, with the stream that `packet` gives, to `to_look`.
//! - *look*: `to_look` has an entry, for NEW and AGAIN `read` too, and `lookup` has room. They are taken. A status of `read` that is not DONE: the message was released, the job ends. Otherwise LOOKUP of connection and plane to `lookup`, the job with what `read` gave to `to_finish`.
//! - *finish*: `to_finish` and `looked` have entries; `data`, `fetch`, `align` and `charge` have room. They are taken, the job ends. If the connection is known: a header goes to `data`; if it has payload, address and bytes to `fetch`, and to `align` `from = address mod B`, `to = HEADER_BYTES mod B` and the bytes (B lanes); and to `charge` the bytes of the packet on the
//!   wire: those of its headers ([`HEADER_BYTES`], of a probe [`PROBE_BYTES`]), payload and checksum.
//!
//! The header: opcode WRITE + `kind`, or PROBE; `flags` 0; `connection` the peer's number, `path` within the connection, PSN (of a probe what `sack_tx` gave), `timestamp`; stream within the connection, message, length, offset, bytes, immediate; key and `address` (= `remote`) of a Write, 0 for a Send; `receive` of a Send, 0 for a Write. Of a probe all from the payload's bytes on is 0.

pub use super::parser::HEADER_BYTES;
use crate::ports;

/// Bytes of a probe before its checksum: Ethernet, IPv4, UDP and base headers.
pub const PROBE_BYTES: u32 = 60 - super::parser::ICRC_BYTES;

/// Operations that this unit asks of `path_table`, by their codes there.
pub mod path_op {
    /// Choose a path.
    pub const SELECT: u8 = super::super::path_table::op::SELECT;
    /// A packet left.
    pub const SEND: u8 = super::super::path_table::op::SEND;
    /// Where does the path lead?
    pub const ROUTE: u8 = super::super::path_table::op::ROUTE;
}

ports! {
    /// Inputs of `transmitter`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// The present time.
        now: u32 = params.timestamp_bits,
        /// A connection may send.
        ready_valid: bool = 1,
        /// The connection.
        ready_connection: u16 = params.connection_bits(),
        /// A path has something to send again.
        retry_valid: bool = 1,
        /// The path's index among all paths.
        retry_path: u16 = params.path_index_bits(),
        /// A path is to be probed.
        s_axis_probe_tvalid: bool = 1,
        /// The path's index among all paths.
        s_axis_probe_path: u16 = params.path_index_bits(),
        /// The operation at `m_axis_schedule` is taken.
        m_axis_schedule_tready: bool = 1,
        /// `scheduler` answers a TAKE.
        scheduled_valid: bool = 1,
        /// A stream was chosen.
        scheduled_taken: bool = 1,
        /// The connection.
        scheduled_connection: u16 = params.connection_bits(),
        /// The stream within the connection.
        scheduled_stream: u8 = params.stream_bits(),
        /// The operation at `m_axis_take` is taken.
        m_axis_take_tready: bool = 1,
        /// The operation at `m_axis_path` is taken.
        m_axis_path_tready: bool = 1,
        /// `path_table` answers a SELECT or ROUTE.
        routed_valid: bool = 1,
        /// SELECT: a path was found. ROUTE: not looked at.
        routed_found: bool = 1,
        /// The path's index among all paths.
        routed_path: u16 = params.path_index_bits(),
        /// The plane.
        routed_plane: u8 = params.plane_bits(),
        /// The UDP source port.
        routed_source_port: u16 = 16,
        /// The operation at `m_axis_sack` is taken.
        m_axis_sack_tready: bool = 1,
        /// `sack_tx` answers a SEND, RETRANSMIT or PROBE.
        sacked_valid: bool = 1,
        /// Its status.
        sacked_status: u8 = 2,
        /// The PSN.
        sacked_psn: u32 = params.psn_bits,
        /// The operation at `m_axis_next` is taken.
        m_axis_next_tready: bool = 1,
        /// `request_table` answers a NEXT.
        next_valid: bool = 1,
        /// Its status.
        next_status: u8 = 2,
        /// The message.
        next_message: u32 = 24,
        /// Where in it the packet begins.
        next_offset: u32 = 32,
        /// The operation at `m_axis_packet` is taken.
        m_axis_packet_tready: bool = 1,
        /// `packet_table` answers.
        packet_valid: bool = 1,
        /// The stream within the connection.
        packet_stream: u8 = params.stream_bits(),
        /// The lowest bits of the message's number.
        packet_message: u16 = params.message_slot_bits(),
        /// The number of the packet within its message.
        packet_packet: u32 = params.packet_bits(),
        /// The operation at `m_axis_read` is taken.
        m_axis_read_tready: bool = 1,
        /// `request_table` answers a READ.
        read_valid: bool = 1,
        /// Its status.
        read_status: u8 = 2,
        /// The message.
        read_message: u32 = 24,
        /// Its kind.
        read_kind: u8 = 2,
        /// Its bytes.
        read_message_length: u32 = 32,
        /// Where in it the packet begins.
        read_offset: u32 = 32,
        /// The packet's bytes.
        read_bytes: u16 = params.payload_bits(),
        /// The message's immediate.
        read_immediate: u32 = 32,
        /// The key of the memory region there.
        read_key: u32 = 32,
        /// The receive that the message takes.
        read_receive: u32 = 24,
        /// Where the packet's bytes are.
        read_local: u64 = 64,
        /// Where they go.
        read_remote: u64 = 64,
        /// The operation at `m_axis_lookup` is taken.
        m_axis_lookup_tready: bool = 1,
        /// A connection was looked up.
        looked_valid: bool = 1,
        /// It is enabled.
        looked_known: bool = 1,
        /// Its number at the other NIC.
        looked_peer: u32 = 24,
        /// Its class of service.
        looked_dscp: u8 = 6,
        /// The other NIC's MAC address on the plane.
        looked_destination_mac: u64 = 48,
        /// The other NIC's IPv4 address on the plane.
        looked_destination_address: u32 = 32,
        /// This NIC's MAC address on the plane.
        looked_source_mac: u64 = 48,
        /// This NIC's IPv4 address on the plane.
        looked_source_address: u32 = 32,
        /// The operation at `m_axis_charge` is taken.
        m_axis_charge_tready: bool = 1,
        /// The header at `m_axis_data` is taken.
        m_axis_data_tready: bool = 1,
        /// The request at `m_axis_fetch` is taken.
        m_axis_fetch_tready: bool = 1,
        /// The command at `m_axis_align` is taken.
        m_axis_align_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `transmitter`.
    Output Outputs (params) {
        /// A path to probe would be accepted.
        s_axis_probe_tready: bool = 1,
        /// An operation for `scheduler` is offered.
        m_axis_schedule_tvalid: bool = 1,
        /// TAKE or BLOCK.
        m_axis_schedule_op: u8 = 3,
        /// The connection.
        m_axis_schedule_connection: u16 = params.connection_bits(),
        /// A path was taken from the queue of `retry_table`.
        m_axis_take_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_take_path: u16 = params.path_index_bits(),
        /// An operation for `path_table` is offered.
        m_axis_path_tvalid: bool = 1,
        /// SELECT, SEND or ROUTE.
        m_axis_path_op: u8 = 3,
        /// The path's index among all paths.
        m_axis_path_path: u16 = params.path_index_bits(),
        /// The present time.
        m_axis_path_now: u32 = params.timestamp_bits,
        /// An operation for `sack_tx` is offered.
        m_axis_sack_tvalid: bool = 1,
        /// SEND, RETRANSMIT or PROBE.
        m_axis_sack_op: u8 = 3,
        /// The path's index among all paths.
        m_axis_sack_path: u16 = params.path_index_bits(),
        /// The present time.
        m_axis_sack_now: u32 = params.timestamp_bits,
        /// The next packet of a stream is to be cut.
        m_axis_next_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_next_stream: u16 = params.stream_index_bits(),
        /// An operation for `packet_table` is offered.
        m_axis_packet_tvalid: bool = 1,
        /// WRITE or READ.
        m_axis_packet_op: u8 = 1,
        /// The path's index among all paths.
        m_axis_packet_path: u16 = params.path_index_bits(),
        /// The PSN.
        m_axis_packet_psn: u32 = params.psn_bits,
        /// WRITE: the stream within the connection.
        m_axis_packet_stream: u8 = params.stream_bits(),
        /// WRITE: the lowest bits of the message's number.
        m_axis_packet_message: u16 = params.message_slot_bits(),
        /// WRITE: the number of the packet within its message.
        m_axis_packet_packet: u32 = params.packet_bits(),
        /// A packet's request is to be read.
        m_axis_read_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_read_stream: u16 = params.stream_index_bits(),
        /// The lowest bits of the message's number.
        m_axis_read_message: u16 = params.message_slot_bits(),
        /// The number of the packet within its message.
        m_axis_read_packet: u32 = params.packet_bits(),
        /// A connection is to be looked up.
        m_axis_lookup_tvalid: bool = 1,
        /// The connection.
        m_axis_lookup_connection: u16 = params.connection_bits(),
        /// The plane.
        m_axis_lookup_plane: u8 = params.plane_bits(),
        /// A packet is to be charged.
        m_axis_charge_tvalid: bool = 1,
        /// The connection.
        m_axis_charge_connection: u16 = params.connection_bits(),
        /// Its bytes on the wire.
        m_axis_charge_bytes: u16 = super::rate_limiter::BYTES_BITS,
        /// A header is offered.
        m_axis_data_tvalid: bool = 1,
        /// MAC address of the next hop.
        m_axis_data_destination_mac: u64 = 48,
        /// This NIC's MAC address on the plane.
        m_axis_data_source_mac: u64 = 48,
        /// This NIC's IPv4 address on the plane.
        m_axis_data_source_address: u32 = 32,
        /// The other NIC's IPv4 address on the plane.
        m_axis_data_destination_address: u32 = 32,
        /// UDP source port.
        m_axis_data_source_port: u16 = 16,
        /// Class of service.
        m_axis_data_dscp: u8 = 6,
        /// The plane on which it leaves.
        m_axis_data_plane: u8 = params.plane_bits(),
        /// The opcode.
        m_axis_data_opcode: u8 = 8,
        /// The flags.
        m_axis_data_flags: u8 = 4,
        /// The other NIC's connection.
        m_axis_data_connection: u32 = 24,
        /// The path within the connection.
        m_axis_data_path: u8 = params.path_bits(),
        /// The PSN.
        m_axis_data_psn: u32 = params.psn_bits,
        /// The transmit timestamp.
        m_axis_data_timestamp: u32 = params.timestamp_bits,
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
        /// Writes: the key.
        m_axis_data_key: u32 = 32,
        /// Writes: the address of the payload's first byte.
        m_axis_data_address: u64 = 64,
        /// Sends: the receive that the message takes.
        m_axis_data_receive: u32 = 24,
        /// Payload is to be read from memory.
        m_axis_fetch_tvalid: bool = 1,
        /// Where its first byte is.
        m_axis_fetch_address: u64 = 64,
        /// Its bytes.
        m_axis_fetch_bytes: u16 = params.payload_bits(),
        /// A transfer is to be aligned.
        m_axis_align_tvalid: bool = 1,
        /// Lane of the first byte in the first beat from memory.
        m_axis_align_from: u8 = params.lane_bits(),
        /// Lane of the first byte in the first beat of payload.
        m_axis_align_to: u8 = params.lane_bits(),
        /// Bytes of the transfer.
        m_axis_align_bytes: u16 = params.payload_bits(),
    }
}
