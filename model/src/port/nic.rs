//! Contract of `nic`: the MetaRoCE NIC, from work requests to the wire and from the wire to memory and completions (requirements R2 to R6, R8, R10, R11).
//!
//! It is nothing but units, each as its own contract says, and what joins them: wires, and the *funnels* through which several units use one table. All joining is told here.
//!
//! # Funnels
//! A funnel has a register for each of its inputs and one for its output, which is offered to the table. An input's `tready` = its register is empty. In a clock in which the output register is empty or the table's `s_axis_op_tready` is high, the first full input register after the one chosen last, round the ring (after reset: after the last input, so the first input goes first),
//! is *chosen*: its entry goes to the output register. With `rst` high all registers are emptied. So an operation takes two clocks through a funnel; one a clock may pass, of one input every second clock. (A packet takes one or two operations of one unit at each table, so on a bus of 64 bits, where the shortest frame has eight beats, no unit waits for that; on one of 512 bits frames of less than four beats are sent at less than the bus's rate.)
//!
//! | table | inputs of its funnel, in this order |
//! |---|---|
//! | `connection_table` | `configuration.connection`; `receiver.lookup` (LOOKUP, tag 1); `acknowledger.lookup` (LOOKUP, tag 2); `transmitter.lookup` (LOOKUP, tag 3) |
//! | `key_table` | `configuration.key` (CONFIGURE); `receiver.check` (CHECK) |
//! | `receive_table` | `configuration.receive` (INIT); `s_axis_rq` (POST); `receiver.match` (MATCH); `completion.complete` (COMPLETE) |
//! | `sack_rx` | `configuration.sack_rx` (INIT); `receiver.sack`; `acknowledger.sack` (ACKNOWLEDGE, PSN 0) |
//! | `ack_table` | `configuration.ack` (INIT); `receiver.owe` (RECEIVE); `acknowledger.take` (TAKE); `timer.ack` (SCAN) |
//! | `message_table` `received` | `configuration.received` (INIT); the receive side's `teller.op` |
//! | `message_table` `sent` | `configuration.sent` (INIT); the send side's `teller.op` |
//! | `request_table` | `configuration.request` (INIT); `s_axis_wqe` (POST); `transmitter.next` (NEXT); `transmitter.read` (READ, tag 0); `retirement.read` (READ, tag 1); `completion.release` (RELEASE) |
//! | `packet_table` | `transmitter.packet` (tag 0); `retirement.packet` (READ, tag 1) |
//! | `path_table` | `configuration.path` (CONFIGURE, at `now`); `transmitter.path`; `retirement.path` (ACKNOWLEDGE); `timer.path` |
//! | `sack_tx` | `configuration.sack_tx` (INIT, at `now`); `transmitter.sack`; `retirement.sack` (ACKNOWLEDGE); `timer.sack` (TIMEOUT) |
//! | `rate_limiter` | `configuration.rate` (CONFIGURE); `transmitter.charge` (CHARGE) |
//! | `scheduler` | `configuration.schedule` (START); results of `request_table`; results of `path_table`; events of `rate_limiter`; `transmitter.schedule`; `completion.stop` (STOP) |
//! | `retry_table` | `transmitter.take` (TAKE); results of `sack_tx` |
//!
//! "At `now`" means the time at which the entry goes into the funnel's register. Fields that an input does not have are 0; hardware may leave one that no other input has as it is, since no table looks at a field that an operation does not use.
//!
//! # Results
//! The results of a table whose results go into a funnel as well are taken in the clocks in which that input of the funnel is ready (whatever the result is); all other tables' results are taken in every clock. A strobe is high in the clock in which its result is taken:
//!
//! | result | goes to |
//! |---|---|
//! | `connection_table` LOOKUP, by tag | `receiver.looked` (1), `acknowledger.looked` (2), `transmitter.looked` (3) |
//! | `key_table` CHECK | `receiver.checked` |
//! | `receive_table` MATCH; COMPLETE; POST refused | `receiver.matched`; `completion.completed`; counter |
//! | `sack_rx` PACKET, QUERY; ACKNOWLEDGE | `receiver.sacked`; `acknowledger.sacked` |
//! | `ack_table` with `due`; TAKE | `acknowledger.due`; `acknowledger.taken` |
//! | `message_table` | its teller's `result` |
//! | `request_table` NEXT; READ, by tag; RELEASE; POST refused | `transmitter.next`; `transmitter.read` (0), `retirement.read` (1); `completion.released`; counter |
//! | `request_table` POST, INIT; NEXT | to `scheduler`, of the stream's connection and stream within it, with flag `unsent`: UNSENT; SENT |
//! | `packet_table`, by tag | `transmitter.packet` (0), `retirement.packet` (1) |
//! | `path_table` SELECT, ROUTE; READ | `transmitter.routed`; `timer.read` |
//! | `path_table` ACKNOWLEDGE, TIMEOUT, CONFIGURE | to `scheduler`: OPEN of the path's connection |
//! | `sack_tx` SEND, RETRANSMIT, PROBE; ACKNOWLEDGE | `transmitter.sacked`; `retirement.sacked` |
//! | `sack_tx` ACKNOWLEDGE, TIMEOUT, RETRANSMIT with `pending` | to `retry_table`: MARK of the path |
//! | `sack_tx` TIMEOUT; RETRANSMIT done; PROBE | counters |
//! | `rate_limiter`, every event | to `scheduler`: RATE of the connection, flag `eligible` |
//! | `scheduler` with `ready`; TAKE; STOP | `transmitter.ready`; `transmitter.scheduled`; `completion.stopped` |
//! | `retry_table` with `ready` | `transmitter.retry` |
//!
//! # Wires
//! `s_axis_rx` to `parser`, whose payload goes to `frame_buffer` and on to `placement.payload`, data headers to `receiver`, acknowledgements to `retirement`. `configuration.local` to `parser.config`. `placement.command` and `beat` to the `align` `placing`, whose output goes to `placement.aligned`.
//! `receiver.place` to `placement.place`; `placement.count` to the `teller` `received`, whose messages go to `completion.received`. `receiver.nak` to `acknowledger.nak`. `retirement.count` (immediate and kind 0) to the `teller` `sent`, whose messages go to `completion.sent`. `retirement.error` to `completion.error`.
//! `configuration.retirement` to `retirement.init`. `timer.probe` to `transmitter.probe`. `transmitter.data` and `acknowledger.ack` to `deparser`. `transmitter.fetch` to `m_axis_fetch`. `transmitter.align` and `s_axis_read` to the `align` `fetching`, whose output goes to `deparser.payload`. Events to `counters`.
//!
//! # Memory
//! `m_axis_fetch` asks for `bytes` bytes from `address` on; `s_axis_read` answers in order, with the beats of memory that hold them, from the one at `address` rounded down to a multiple of the lanes on; `tlast` with the last. `m_axis_write` writes the lanes with `tkeep` set.
//! A completion is offered after all that it tells of was taken at `m_axis_write`.
//!
//! # Work requests and receives
//! A stream takes `messages` work requests that are not completed, and `receives` receives: whoever posts counts them. One more is refused, and counted.

use super::Beat;
use crate::ports;

ports! {
    /// Inputs of `nic`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// The present time: rises by one every clock.
        now: u32 = params.timestamp_bits,
        /// Hint that every acknowledgement bears.
        config_hint: u16 = 12,
        /// Ticks after which a packet is acknowledged though no other followed.
        config_delay: u16 = 16,
        /// Ticks added to a probe's time.
        config_probe: u16 = 16,
        /// Ticks after which a path without a round-trip time is probed.
        config_first_probe: u32 = params.timestamp_bits - 1,
        /// The counter to show.
        counter_index: u8 = super::counters::INDEX_BITS,
        /// A command for `configuration` is offered.
        s_axis_command_tvalid: bool = 1,
        /// Which.
        s_axis_command_command: u8 = 4,
        /// The connection, path or stream, among all.
        s_axis_command_index: u16 = 16,
        /// The plane.
        s_axis_command_plane: u8 = params.plane_bits(),
        /// It is enabled, valid, started.
        s_axis_command_flag: bool = 1,
        /// Of the send side: the peer's connection, first PSN, first message.
        s_axis_command_first: u32 = 24,
        /// Of the receive side: first PSN, first message.
        s_axis_command_second: u32 = 24,
        /// Of the send side: first receive.
        s_axis_command_third: u32 = 24,
        /// Of the receive side: first receive.
        s_axis_command_fourth: u32 = 24,
        /// Protection domain.
        s_axis_command_domain: u8 = super::key_table::DOMAIN_BITS,
        /// Class of service.
        s_axis_command_dscp: u8 = 6,
        /// A MAC address; a region's bytes.
        s_axis_command_mac: u64 = 48,
        /// An IPv4 address; a region's first address.
        s_axis_command_address: u64 = 64,
        /// A region's key.
        s_axis_command_key: u32 = 32,
        /// UDP source port.
        s_axis_command_source_port: u16 = 16,
        /// State of a path.
        s_axis_command_state: u8 = 2,
        /// Congestion window in sixteenths of a packet.
        s_axis_command_window: u16 = params.window_bits + super::path_table::WINDOW_FRACTION_BITS,
        /// The rate.
        s_axis_command_rate: u16 = super::rate_limiter::RATE_BITS,
        /// The burst in bytes.
        s_axis_command_burst: u32 = params.burst_bits,
        /// A work request is offered.
        s_axis_wqe_tvalid: bool = 1,
        /// The stream's index among all streams.
        s_axis_wqe_stream: u16 = params.stream_index_bits(),
        /// Bit 0: with immediate. Bit 1: a Send, otherwise a Write.
        s_axis_wqe_kind: u8 = 2,
        /// Bytes of the message.
        s_axis_wqe_length: u32 = 32,
        /// Where they are.
        s_axis_wqe_local: u64 = 64,
        /// Writes: where they go.
        s_axis_wqe_remote: u64 = 64,
        /// Writes: the key of the region there.
        s_axis_wqe_key: u32 = 32,
        /// The immediate.
        s_axis_wqe_immediate: u32 = 32,
        /// What the completion is to bear.
        s_axis_wqe_identifier: u32 = 32,
        /// A receive is offered.
        s_axis_rq_tvalid: bool = 1,
        /// The stream's index among all streams.
        s_axis_rq_stream: u16 = params.stream_index_bits(),
        /// The buffer's address.
        s_axis_rq_address: u64 = 64,
        /// Its bytes.
        s_axis_rq_length: u32 = 32,
        /// What the completion is to bear.
        s_axis_rq_identifier: u32 = 32,
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
        /// A beat from memory is offered.
        s_axis_read_tvalid: bool = 1,
        /// The beat.
        s_axis_read_tdata: Beat = params.data_bits,
        /// It is the last of its transfer.
        s_axis_read_tlast: bool = 1,
        /// The beat at `m_axis_tx` is taken.
        m_axis_tx_tready: bool = 1,
        /// The completion at `m_axis_cqe` is taken.
        m_axis_cqe_tready: bool = 1,
        /// The request at `m_axis_fetch` is taken.
        m_axis_fetch_tready: bool = 1,
        /// The beat at `m_axis_write` is taken.
        m_axis_write_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `nic`.
    Output Outputs (params) {
        /// A command would be accepted.
        s_axis_command_tready: bool = 1,
        /// A work request would be accepted.
        s_axis_wqe_tready: bool = 1,
        /// A receive would be accepted.
        s_axis_rq_tready: bool = 1,
        /// A beat of a frame would be accepted.
        s_axis_rx_tready: bool = 1,
        /// A beat from memory would be accepted.
        s_axis_read_tready: bool = 1,
        /// The counter's value, of the index in the clock before.
        counter_value: u32 = 32,
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
        /// A completion is offered.
        m_axis_cqe_tvalid: bool = 1,
        /// Of a received message (otherwise of a sent one).
        m_axis_cqe_received: bool = 1,
        /// 0, or the code with which the other NIC refused the message: the connection is stopped.
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
        /// Payload is to be read from memory.
        m_axis_fetch_tvalid: bool = 1,
        /// Where its first byte is.
        m_axis_fetch_address: u64 = 64,
        /// Its bytes.
        m_axis_fetch_bytes: u16 = params.payload_bits(),
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
    }
}
