//! Contract of `receiver`: follows every packet of data and every probe from its header to what becomes of it (requirements R4, R5, R6).
//!
//! A job goes through four rules; between them it waits for the answers of four tables. Queues of J: `looked`, `checked`, `matched`, `sacked` (strobes), `to_check`, `to_judge`, `to_finish` (what a rule needs of the header), `known`, `judged`.
//! Output registers: `lookup`, `check`, `match`, `sack`, `place`, `owe`, `nak`. A count `jobs`, of those under way.
//!
//! # Rules
//! All are decided ahead.
//! - *admit*: `s_axis_data_tready` = `jobs < J` and `lookup` has room. An accepted header goes to the three queues; LOOKUP of its connection and plane to `lookup`; `jobs` + 1.
//! - *check*: `looked` and `to_check` have entries, `check` and `match` have room. Both heads are taken; `known` to `known`. To `check`: key, address and `domain`, with `bytes` for an opcode of Write, and 0 for others. For an opcode of Send also to `match`:
//!   stream `connection * streams + stream mod streams`, number `receive`, offset and bytes.
//! - *judge*: `checked`, `known` and `to_judge` have entries, for a Send `matched` too, and `sack` has room. They are taken. The *judgement* is the first that applies:
//!   1. not known: [`judgement::UNKNOWN`]
//!   2. a probe: [`judgement::PROBE`]
//!   3. `stream >= streams`, or `offset + bytes > message_length` (no modulus), or `bytes` is 0 and `message_length` is not: [`judgement::MALFORMED`]
//!   4. a Write whose check says BAD_KEY: [`judgement::BAD_KEY`]; OUT_OF_BOUNDS: [`judgement::OUT_OF_BOUNDS`]
//!   5. a Send whose match says NOT_POSTED: [`judgement::NOT_POSTED`]; TOO_LONG: [`judgement::TOO_LONG`]; GONE: [`judgement::GONE`]
//!   6. otherwise [`judgement::ACCEPTED`].
//!
//!   The judgement goes to `judged` with the address (a Write's own, a Send's from `matched`, of a probe 0); to `sack`: path `connection * paths + path`, the PSN, and PACKET if accepted, QUERY if not.
//! - *finish*: `sacked`, `judged` and `to_finish` have entries; `place`, `owe` and `nak` have room. They are taken, `jobs` - 1, and with the verdict:
//!
//! | judgement | verdict | place | owe | nak | event |
//! |---|---|---|---|---|---|
//! | UNKNOWN, MALFORMED, GONE | any | discarded | | | the judgement |
//! | PROBE | any | | not counted, at once | | |
//! | NOT_POSTED, BAD_KEY, OUT_OF_BOUNDS, TOO_LONG | DUPLICATE | discarded | at once | | DUPLICATE |
//! | the same | other | discarded | | ReceiverNotReady, BadKey, OutOfBounds, BadLength | the judgement |
//! | ACCEPTED | NEW | placed | at once if `new_hole`, `filled` or `offset + bytes == message_length` | | |
//! | ACCEPTED | DUPLICATE | discarded | at once | | DUPLICATE |
//! | ACCEPTED | OUT_OF_WINDOW | discarded | | | OUT_OF_WINDOW |
//!
//! A packet without payload that is discarded puts nothing into `place` (nor does a probe); one that is placed does. In `owe`: timestamp, arrival, plane and `marked` of the header; `counts` unless it is a probe.
//! A refused packet is not acknowledged and not marked received: its path will find it lost and send it again; the NAK only tells why. (A duplicate is acknowledged even if it would be refused now: its message may be complete and its buffer gone.)
//! `event_valid` is high in the clock after a *finish* with an event, with its code at `event_code` (0 otherwise).

use super::key_table::DOMAIN_BITS;
use crate::ports;

/// What `receiver` thinks of a packet, and its events: indices of counters.
pub mod judgement {
    /// Nothing is wrong with it. (Never an event.)
    pub const ACCEPTED: u8 = 0;
    /// A probe. (Never an event.)
    pub const PROBE: u8 = 1;
    /// Its connection is not enabled.
    pub const UNKNOWN: u8 = 2;
    /// Its stream or its place in the message cannot be.
    pub const MALFORMED: u8 = 3;
    /// Its key names no region that the connection may write to.
    pub const BAD_KEY: u8 = 4;
    /// Its bytes are not all in the region.
    pub const OUT_OF_BOUNDS: u8 = 5;
    /// Its receive is not posted yet.
    pub const NOT_POSTED: u8 = 6;
    /// Its receive is too short.
    pub const TOO_LONG: u8 = 7;
    /// Its receive was completed before.
    pub const GONE: u8 = 8;
    /// Event: it came before.
    pub const DUPLICATE: u8 = 9;
    /// Event: its PSN is beyond the window.
    pub const OUT_OF_WINDOW: u8 = 10;
}

ports! {
    /// Inputs of `receiver`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// A header of data or of a probe is offered.
        s_axis_data_tvalid: bool = 1,
        /// The opcode.
        s_axis_data_opcode: u8 = 8,
        /// This NIC's connection.
        s_axis_data_connection: u16 = params.connection_bits(),
        /// The path within the connection.
        s_axis_data_path: u8 = params.path_bits(),
        /// The packet's PSN.
        s_axis_data_psn: u32 = params.psn_bits,
        /// The sender's transmit timestamp.
        s_axis_data_timestamp: u32 = params.timestamp_bits,
        /// When the frame had arrived.
        s_axis_data_arrival: u32 = params.timestamp_bits,
        /// Congestion was experienced.
        s_axis_data_marked: bool = 1,
        /// The plane on which it came.
        s_axis_data_plane: u8 = params.plane_bits(),
        /// Bytes of payload.
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
        /// The operation at `m_axis_lookup` is taken.
        m_axis_lookup_tready: bool = 1,
        /// A connection was looked up.
        looked_valid: bool = 1,
        /// It is enabled.
        looked_known: bool = 1,
        /// Its protection domain.
        looked_domain: u8 = DOMAIN_BITS,
        /// The operation at `m_axis_check` is taken.
        m_axis_check_tready: bool = 1,
        /// A key was checked.
        checked_valid: bool = 1,
        /// The status that `key_table` gives.
        checked_status: u8 = 2,
        /// The operation at `m_axis_match` is taken.
        m_axis_match_tready: bool = 1,
        /// A receive was looked for.
        matched_valid: bool = 1,
        /// The status that `receive_table` gives.
        matched_status: u8 = 3,
        /// Where the bytes go.
        matched_address: u64 = 64,
        /// The operation at `m_axis_sack` is taken.
        m_axis_sack_tready: bool = 1,
        /// `sack_rx` has dealt with the packet.
        sacked_valid: bool = 1,
        /// Its verdict.
        sacked_verdict: u8 = 2,
        /// The packet opened a hole.
        sacked_new_hole: bool = 1,
        /// The packet filled a hole or part of one.
        sacked_filled: bool = 1,
        /// What is at `m_axis_place` is taken.
        m_axis_place_tready: bool = 1,
        /// What is at `m_axis_owe` is taken.
        m_axis_owe_tready: bool = 1,
        /// What is at `m_axis_nak` is taken.
        m_axis_nak_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `receiver`.
    Output Outputs (params) {
        /// A header would be accepted.
        s_axis_data_tready: bool = 1,
        /// A connection is to be looked up.
        m_axis_lookup_tvalid: bool = 1,
        /// The connection.
        m_axis_lookup_connection: u16 = params.connection_bits(),
        /// The plane.
        m_axis_lookup_plane: u8 = params.plane_bits(),
        /// A key is to be checked.
        m_axis_check_tvalid: bool = 1,
        /// The key.
        m_axis_check_key: u32 = 32,
        /// The first address to write.
        m_axis_check_address: u64 = 64,
        /// Bytes to write.
        m_axis_check_bytes: u16 = params.payload_bits(),
        /// The connection's protection domain.
        m_axis_check_domain: u8 = DOMAIN_BITS,
        /// A receive is to be found.
        m_axis_match_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_match_stream: u16 = params.stream_index_bits(),
        /// The receive.
        m_axis_match_number: u32 = 24,
        /// Where in the message the bytes stand.
        m_axis_match_offset: u32 = 32,
        /// Bytes to fill.
        m_axis_match_bytes: u16 = params.payload_bits(),
        /// A packet is to be marked received, or a path looked at.
        m_axis_sack_tvalid: bool = 1,
        /// PACKET or QUERY of `sack_rx`.
        m_axis_sack_op: u8 = 2,
        /// The path's index among all paths.
        m_axis_sack_path: u16 = params.path_index_bits(),
        /// The PSN.
        m_axis_sack_psn: u32 = params.psn_bits,
        /// A packet's payload is to be placed or discarded.
        m_axis_place_tvalid: bool = 1,
        /// It is discarded. (All fields but `bytes` are given as if it were not.)
        m_axis_place_discard: bool = 1,
        /// Bytes of payload.
        m_axis_place_bytes: u16 = params.payload_bits(),
        /// Where the first byte goes.
        m_axis_place_address: u64 = 64,
        /// The stream's index among all streams.
        m_axis_place_stream: u16 = params.stream_index_bits(),
        /// The message.
        m_axis_place_message: u32 = 24,
        /// Bytes of the message.
        m_axis_place_length: u32 = 32,
        /// The message's immediate.
        m_axis_place_immediate: u32 = 32,
        /// The lowest two bits of the opcode.
        m_axis_place_kind: u8 = 2,
        /// A packet was received that is to be acknowledged.
        m_axis_owe_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_owe_path: u16 = params.path_index_bits(),
        /// The packet's transmit timestamp.
        m_axis_owe_timestamp: u32 = params.timestamp_bits,
        /// When it came.
        m_axis_owe_arrival: u32 = params.timestamp_bits,
        /// The plane on which it came.
        m_axis_owe_plane: u8 = params.plane_bits(),
        /// It is a packet of data.
        m_axis_owe_counts: bool = 1,
        /// It came marked.
        m_axis_owe_marked: bool = 1,
        /// It calls for an acknowledgement at once.
        m_axis_owe_at_once: bool = 1,
        /// A message is refused.
        m_axis_nak_tvalid: bool = 1,
        /// This NIC's connection.
        m_axis_nak_connection: u16 = params.connection_bits(),
        /// The path within the connection.
        m_axis_nak_path: u8 = params.path_bits(),
        /// The plane on which the packet came.
        m_axis_nak_plane: u8 = params.plane_bits(),
        /// The stream, as it came.
        m_axis_nak_stream: u16 = 16,
        /// The message.
        m_axis_nak_message: u32 = 24,
        /// The NAK's code on the wire.
        m_axis_nak_code: u8 = 8,
        /// Something happened that is counted.
        event_valid: bool = 1,
        /// What: see `judgement`.
        event_code: u8 = 4,
    }
}
