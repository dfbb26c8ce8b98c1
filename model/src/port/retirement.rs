//! Contract of `retirement`: what an acknowledgement does: to the path's scoreboard and window, and to the messages of which packets are acknowledged (requirements R6, R7, R10).
//!
//! For each path it keeps `retired`, the PSN up to which packets have been accounted for, and `marked`, the receiver's running count of marked packets as last heard. Queues of J: `sacked`, `packet`, `read` (strobes), `contexts`. Input queue `init`.
//! Output queues `packet_op` (stream `m_axis_packet`), `read_op` (`m_axis_read`); output registers `sack`, `path`, `count`, `error`. Counts: `jobs` (acknowledgements under way), `walking` (packets asked for and not given to `count`).
//!
//! # Rules
//! - *admit*: `s_axis_ack_tready` is decided ahead: `jobs < J`, and `sack` and `error` have room, outside the clear. An accepted ACK: ACKNOWLEDGE of path `connection * paths + path` with PSN, vector, echo and `now` to `sack`; to `contexts` the path, `marked`, and the sample `rtt = (now - echo - hold) mod 2^timestamp_bits` with `rtt_valid` = `hold` is not 65535 and `rtt < 2^(timestamp_bits-1)`,
//!   cut to `2^rtt_bits - 1`; `jobs` + 1. An accepted NAK: of code ReceiverNotReady only an event; otherwise to `error` its stream index (`connection * streams + stream mod streams`), message and code.
//! - A machine takes one acknowledgement after the other. In *idle*, the first that applies:
//!   1. `init` has an entry: it is taken, `retired` = its PSN and `marked` = 0 are written for its path.
//!   2. `sacked` and `contexts` have entries: they are taken, `jobs` - 1. A status that is not DONE is an event, and the machine stays. Otherwise the memory's word of the path is read, and the machine goes through *read* (2 clocks) to *apply*.
//! - *apply*: waits until `path` has room. If `acknowledged` or `holes + lost_again` is not 0: ACKNOWLEDGE of the path at `now` to `path`, with `acknowledged`, `lost = holes + lost_again` (at most the largest that fits), `marked = min((context's marked - marked kept) mod 2^16, acknowledged)`, and the sample, valid if it was and `acknowledged` is not 0. The machine goes to *walk*.
//! - *walk* (each step is decided ahead): if `retired` is not `base` (the PSN of `sacked`), `packet_op` has room and `walking < J`: READ of path and `retired` to `packet_op`, `retired` + 1, `walking` + 1. If it is: the word is written with `retired` and the context's `marked`, and the machine goes to *idle*.
//! - *read*: `packet` has an entry and `read_op` has room: READ of the stream's index (`path / paths * streams + stream`), message and packet to `read_op`.
//! - *count* (decided ahead): `read` has an entry and `count` has room: it is taken; stream, message, bytes and length to `count`; `walking` - 1. (If the status is not DONE nothing goes to `count`.)
//!
//! `event_valid` is high in the clock after an event, with its code at `event_code` (0 otherwise); a NAK's event goes before one of the machine, which is lost if both happen at once.
//! After reset `retired` and `marked` of every path are 0; the memory is cleared in the `connections * paths` clocks that follow the last clock with `rst` high, in which `s_axis_ack_tready` is low and the machine rests in *idle*.

use super::Vector;
use crate::ports;

/// Events: indices of counters.
pub mod event {
    /// An acknowledgement was older than one before it.
    pub const STALE: u8 = 0;
    /// It acknowledged what was never sent.
    pub const INVALID: u8 = 1;
    /// The other NIC had no receive posted.
    pub const NOT_READY: u8 = 2;
}

ports! {
    /// Inputs of `retirement`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// The present time.
        now: u32 = params.timestamp_bits,
        /// An acknowledgement or a refusal is offered.
        s_axis_ack_tvalid: bool = 1,
        /// The opcode: ACK or NAK.
        s_axis_ack_opcode: u8 = 8,
        /// This NIC's connection.
        s_axis_ack_connection: u16 = params.connection_bits(),
        /// The path within the connection.
        s_axis_ack_path: u8 = params.path_bits(),
        /// ACK: the cumulative PSN.
        s_axis_ack_psn: u32 = params.psn_bits,
        /// ACK: the selective vector.
        s_axis_ack_vector: Vector = params.sack_bits,
        /// ACK: the echoed transmit timestamp.
        s_axis_ack_echo: u32 = params.timestamp_bits,
        /// ACK: ticks that the receiver held it back.
        s_axis_ack_hold: u16 = 16,
        /// ACK: running count of packets that came marked.
        s_axis_ack_marked: u16 = 16,
        /// NAK: the stream.
        s_axis_ack_stream: u16 = 16,
        /// NAK: the message.
        s_axis_ack_message: u32 = 24,
        /// NAK: the code.
        s_axis_ack_code: u8 = 8,
        /// A path starts anew.
        s_axis_init_tvalid: bool = 1,
        /// The path's index among all paths.
        s_axis_init_path: u16 = params.path_index_bits(),
        /// Its first PSN.
        s_axis_init_psn: u32 = params.psn_bits,
        /// The operation at `m_axis_sack` is taken.
        m_axis_sack_tready: bool = 1,
        /// `sack_tx` answers an ACKNOWLEDGE.
        sacked_valid: bool = 1,
        /// Its status.
        sacked_status: u8 = 2,
        /// The path's base.
        sacked_psn: u32 = params.psn_bits,
        /// PSNs newly acknowledged.
        sacked_acknowledged: u16 = params.sack_count_bits(),
        /// PSNs found lost that were sent once.
        sacked_holes: u16 = params.sack_count_bits(),
        /// PSNs found lost that had been sent again.
        sacked_lost_again: u16 = params.sack_count_bits(),
        /// The operation at `m_axis_path` is taken.
        m_axis_path_tready: bool = 1,
        /// The operation at `m_axis_packet` is taken.
        m_axis_packet_tready: bool = 1,
        /// `packet_table` answers a READ.
        packet_valid: bool = 1,
        /// The path's index among all paths.
        packet_path: u16 = params.path_index_bits(),
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
        /// The stream's index among all streams.
        read_stream: u16 = params.stream_index_bits(),
        /// The message.
        read_message: u32 = 24,
        /// Its bytes.
        read_message_length: u32 = 32,
        /// The packet's bytes.
        read_bytes: u16 = params.payload_bits(),
        /// What is at `m_axis_count` is taken.
        m_axis_count_tready: bool = 1,
        /// The refusal at `m_axis_error` is taken.
        m_axis_error_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `retirement`.
    Output Outputs (params) {
        /// An acknowledgement or a refusal would be accepted.
        s_axis_ack_tready: bool = 1,
        /// A path would be accepted.
        s_axis_init_tready: bool = 1,
        /// ACKNOWLEDGE for `sack_tx` is offered.
        m_axis_sack_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_sack_path: u16 = params.path_index_bits(),
        /// The cumulative PSN.
        m_axis_sack_psn: u32 = params.psn_bits,
        /// The selective vector.
        m_axis_sack_vector: Vector = params.sack_bits,
        /// The echoed transmit timestamp.
        m_axis_sack_echo: u32 = params.timestamp_bits,
        /// The present time.
        m_axis_sack_now: u32 = params.timestamp_bits,
        /// ACKNOWLEDGE for `path_table` is offered.
        m_axis_path_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_path_path: u16 = params.path_index_bits(),
        /// Packets newly acknowledged.
        m_axis_path_acknowledged: u16 = params.sack_count_bits(),
        /// Packets found lost.
        m_axis_path_lost: u16 = params.sack_count_bits(),
        /// Packets that arrived marked.
        m_axis_path_marked: u16 = params.sack_count_bits(),
        /// `rtt` is a sample.
        m_axis_path_rtt_valid: bool = 1,
        /// Round-trip time in ticks.
        m_axis_path_rtt: u32 = params.rtt_bits,
        /// The present time.
        m_axis_path_now: u32 = params.timestamp_bits,
        /// READ for `packet_table` is offered.
        m_axis_packet_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_packet_path: u16 = params.path_index_bits(),
        /// The PSN.
        m_axis_packet_psn: u32 = params.psn_bits,
        /// READ for `request_table` is offered.
        m_axis_read_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_read_stream: u16 = params.stream_index_bits(),
        /// The lowest bits of the message's number.
        m_axis_read_message: u16 = params.message_slot_bits(),
        /// The number of the packet within its message.
        m_axis_read_packet: u32 = params.packet_bits(),
        /// A packet is acknowledged.
        m_axis_count_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_count_stream: u16 = params.stream_index_bits(),
        /// The message.
        m_axis_count_message: u32 = 24,
        /// The packet's bytes.
        m_axis_count_bytes: u16 = params.payload_bits(),
        /// Bytes of the message.
        m_axis_count_length: u32 = 32,
        /// The other NIC refused a message.
        m_axis_error_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_error_stream: u16 = params.stream_index_bits(),
        /// The message.
        m_axis_error_message: u32 = 24,
        /// The code.
        m_axis_error_code: u8 = 8,
        /// Something happened that is counted.
        event_valid: bool = 1,
        /// What: see `event`.
        event_code: u8 = 2,
    }
}
