//! Contract of `acknowledger`: makes the acknowledgements that are due, and the refusals (requirements R6, R7).
//!
//! Queues: `due` (strobe), of `connections * paths`: `ack_table` tells a path once until it is taken, so they all fit; of J: `taken`, `looked`, `sacked` (strobes) and `waiting`. Input register `nak`; output queues `take`, `lookup`, `sack`; output register `ack`. A count `jobs`, of those under way.
//!
//! # Rules
//! - *take*: `due` has an entry, `jobs < J`, `take` has room. It is taken: TAKE of the path at `now` to `take`; `jobs` + 1.
//! - *look*: `taken` has an entry, `lookup` and `sack` have room. It is taken: LOOKUP of connection `path / paths` on its plane to `lookup`, ACKNOWLEDGE of the path to `sack`, what TAKE gave to `waiting`.
//!   (Only now, so that the vector is never older than the echo: an echo claims that all that was sent before it has arrived or is in a hole.)
//! - *refuse*: neither *take* nor *look* happens, `nak` has an entry, `jobs < J`, `lookup` has room. It is taken: LOOKUP of its connection and plane, the NAK to `waiting`; `jobs` + 1.
//! - *finish* (decided ahead): `waiting` and `looked` have entries, for an acknowledgement `sacked` too, and `ack` has room. They are taken, `jobs` - 1. If the connection is known a header goes to `ack`: addresses and `dscp` as looked up, `connection` = the peer's number,
//!   plane and path within the connection (`path mod paths`) the job's, `source_port` = [`SOURCE_PORT`] + the path within the connection, `timestamp` = `now`. ACK: `psn` = base, the vector, echo, hold, packets, marked, `hint` = `config_hint`, `window_state` 0; the NAK's fields 0. NAK: its stream, message and code; the ACK's fields 0.

use super::Vector;
use crate::ports;

/// UDP source port of the acknowledgements of a connection's first path: the first of the dynamic ports. Acknowledgements take an ECMP route for each path.
pub const SOURCE_PORT: u16 = 49152;

ports! {
    /// Inputs of `acknowledger`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// The present time.
        now: u32 = params.timestamp_bits,
        /// Hint that every acknowledgement bears.
        config_hint: u16 = 12,
        /// A path is due.
        due_valid: bool = 1,
        /// The path's index among all paths.
        due_path: u16 = params.path_index_bits(),
        /// The operation at `m_axis_take` is taken.
        m_axis_take_tready: bool = 1,
        /// `ack_table` gives what is to be acknowledged.
        taken_valid: bool = 1,
        /// The path's index among all paths.
        taken_path: u16 = params.path_index_bits(),
        /// The plane of the packet that came last.
        taken_plane: u8 = params.plane_bits(),
        /// Its transmit timestamp.
        taken_echo: u32 = params.timestamp_bits,
        /// Ticks since it came.
        taken_hold: u16 = 16,
        /// Running count of packets.
        taken_packets: u16 = 16,
        /// Running count of those that came marked.
        taken_marked: u16 = 16,
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
        /// The operation at `m_axis_sack` is taken.
        m_axis_sack_tready: bool = 1,
        /// `sack_rx` gives base and vector.
        sacked_valid: bool = 1,
        /// The cumulative PSN.
        sacked_base: u32 = params.psn_bits,
        /// The selective vector.
        sacked_vector: Vector = params.sack_bits,
        /// A message is refused.
        s_axis_nak_tvalid: bool = 1,
        /// This NIC's connection.
        s_axis_nak_connection: u16 = params.connection_bits(),
        /// The path within the connection.
        s_axis_nak_path: u8 = params.path_bits(),
        /// The plane on which the packet came.
        s_axis_nak_plane: u8 = params.plane_bits(),
        /// The stream.
        s_axis_nak_stream: u16 = 16,
        /// The message.
        s_axis_nak_message: u32 = 24,
        /// The code.
        s_axis_nak_code: u8 = 8,
        /// The header at `m_axis_ack` is taken.
        m_axis_ack_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `acknowledger`.
    Output Outputs (params) {
        /// What is owed to a path is to be taken.
        m_axis_take_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_take_path: u16 = params.path_index_bits(),
        /// The present time.
        m_axis_take_now: u32 = params.timestamp_bits,
        /// A connection is to be looked up.
        m_axis_lookup_tvalid: bool = 1,
        /// The connection.
        m_axis_lookup_connection: u16 = params.connection_bits(),
        /// The plane.
        m_axis_lookup_plane: u8 = params.plane_bits(),
        /// Base and vector are to be read.
        m_axis_sack_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_sack_path: u16 = params.path_index_bits(),
        /// A refusal would be accepted.
        s_axis_nak_tready: bool = 1,
        /// A header is offered.
        m_axis_ack_tvalid: bool = 1,
        /// MAC address of the next hop.
        m_axis_ack_destination_mac: u64 = 48,
        /// This NIC's MAC address on the plane.
        m_axis_ack_source_mac: u64 = 48,
        /// This NIC's IPv4 address on the plane.
        m_axis_ack_source_address: u32 = 32,
        /// The other NIC's IPv4 address on the plane.
        m_axis_ack_destination_address: u32 = 32,
        /// UDP source port.
        m_axis_ack_source_port: u16 = 16,
        /// Class of service.
        m_axis_ack_dscp: u8 = 6,
        /// The plane on which it leaves.
        m_axis_ack_plane: u8 = params.plane_bits(),
        /// The opcode.
        m_axis_ack_opcode: u8 = 8,
        /// The other NIC's connection.
        m_axis_ack_connection: u32 = 24,
        /// The path within the connection.
        m_axis_ack_path: u8 = params.path_bits(),
        /// The transmit timestamp.
        m_axis_ack_timestamp: u32 = params.timestamp_bits,
        /// ACK: the cumulative PSN.
        m_axis_ack_psn: u32 = params.psn_bits,
        /// ACK: the selective vector.
        m_axis_ack_vector: Vector = params.sack_bits,
        /// ACK: the echoed transmit timestamp.
        m_axis_ack_echo: u32 = params.timestamp_bits,
        /// ACK: ticks that it was held back.
        m_axis_ack_hold: u16 = 16,
        /// ACK: running count of packets.
        m_axis_ack_packets: u16 = 16,
        /// ACK: running count of those that came marked.
        m_axis_ack_marked: u16 = 16,
        /// ACK: the rate allotted.
        m_axis_ack_hint: u16 = 12,
        /// ACK: the receiver's window state.
        m_axis_ack_window_state: u8 = 4,
        /// NAK: the stream.
        m_axis_ack_stream: u16 = 16,
        /// NAK: the message.
        m_axis_ack_message: u32 = 24,
        /// NAK: the code.
        m_axis_ack_code: u8 = 8,
    }
}
