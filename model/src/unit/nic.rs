//! Model of `nic`. Contract: [`crate::port::nic`].
//!
//! Every output of every unit is a function of registers alone, so a clock is: all outputs, then what they mean for each unit's inputs, then all units' clocks, in any order.

use super::{
    Unit, ack_table::AckTable, acknowledger::Acknowledger, align::Align, completion::Completion,
    configuration::Configuration, connection_table::ConnectionTable, counters::Counters, deparser::Deparser,
    frame_buffer::FrameBuffer, key_table::KeyTable, message_table::MessageTable, packet_table::PacketTable,
    parser::Parser, path_table::PathTable, placement::Placement, rate_limiter::RateLimiter,
    receive_table::ReceiveTable, receiver::Receiver, request_table::RequestTable, retirement::Retirement,
    retry_table::RetryTable, sack_rx::SackRx, sack_tx::SackTx, scheduler::Scheduler, teller::Teller,
    timer::Timer, transmitter::Transmitter,
};
use crate::{
    Params,
    pipeline::Funnel,
    port::{
        ack_table, acknowledger, align, completion, configuration, connection_table, counters, deparser,
        frame_buffer, key_table, message_table,
        nic::{Inputs, Outputs},
        packet_table, parser, path_table, placement, rate_limiter, receive_table, receiver, request_table,
        retirement, retry_table, sack_rx, sack_tx, scheduler, teller, timer, transmitter,
    },
};

/// Tags of `connection_table`: who asked.
const RECEIVER: u8 = 1;
const ACKNOWLEDGER: u8 = 2;
const TRANSMITTER: u8 = 3;
/// Tags of `request_table` and `packet_table`.
const FOR_TRANSMITTER: u8 = 0;
const FOR_RETIREMENT: u8 = 1;

/// A table and the funnel before it.
#[derive(Clone, Debug)]
struct Joined<U: Unit, const N: usize> {
    funnel: Funnel<U::Inputs, N>,
    table: U,
}

impl<U: Unit, const N: usize> Joined<U, N> {
    fn new(params: &Params) -> Self {
        Self {
            funnel: Funnel::new(),
            table: U::new(params),
        }
    }

    /// What the funnel offers to the table: an operation's fields, all else zero.
    #[inline]
    fn operation(&self) -> U::Inputs {
        self.funnel.head().copied().unwrap_or_default()
    }
}

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Nic {
    /// Streams of a connection.
    streams: u16,
    /// Paths of a connection.
    paths_each: u16,
    connections: Joined<ConnectionTable, 4>,
    keys: Joined<KeyTable, 2>,
    receives: Joined<ReceiveTable, 4>,
    sack_rx: Joined<SackRx, 3>,
    acks: Joined<AckTable, 4>,
    received: Joined<MessageTable, 2>,
    sent: Joined<MessageTable, 2>,
    requests: Joined<RequestTable, 6>,
    packets: Joined<PacketTable, 2>,
    paths: Joined<PathTable, 4>,
    sack_tx: Joined<SackTx, 4>,
    rates: Joined<RateLimiter, 2>,
    schedule: Joined<Scheduler, 6>,
    retries: Joined<RetryTable, 2>,
    configuration: Configuration,
    parser: Parser,
    frame_buffer: FrameBuffer,
    receiver: Receiver,
    placement: Placement,
    placing: Align,
    received_teller: Teller,
    acknowledger: Acknowledger,
    transmitter: Transmitter,
    fetching: Align,
    deparser: Deparser,
    retirement: Retirement,
    sent_teller: Teller,
    completion: Completion,
    timer: Timer,
    counters: Counters,
}

impl Unit for Nic {
    const NAME: &'static str = "nic";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            streams: params.streams as u16,
            paths_each: params.paths as u16,
            connections: Joined::new(params),
            keys: Joined::new(params),
            receives: Joined::new(params),
            sack_rx: Joined::new(params),
            acks: Joined::new(params),
            received: Joined::new(params),
            sent: Joined::new(params),
            requests: Joined::new(params),
            packets: Joined::new(params),
            paths: Joined::new(params),
            sack_tx: Joined::new(params),
            rates: Joined::new(params),
            schedule: Joined::new(params),
            retries: Joined::new(params),
            configuration: Configuration::new(params),
            parser: Parser::new(params),
            frame_buffer: FrameBuffer::new(params),
            receiver: Receiver::new(params),
            placement: Placement::new(params),
            placing: Align::new(params),
            received_teller: Teller::new(params),
            acknowledger: Acknowledger::new(params),
            transmitter: Transmitter::new(params),
            fetching: Align::new(params),
            deparser: Deparser::new(params),
            retirement: Retirement::new(params),
            sent_teller: Teller::new(params),
            completion: Completion::new(params),
            timer: Timer::new(params),
            counters: Counters::new(params),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let deparser = self.deparser.outputs();
        let completion = self.completion.outputs();
        let transmitter = self.transmitter.outputs();
        let placement = self.placement.outputs();
        Outputs {
            s_axis_command_tready: self.configuration.outputs().s_axis_command_tready,
            s_axis_wqe_tready: self
                .requests
                .funnel
                .ready(self.requests.table.outputs().s_axis_op_tready)[1],
            s_axis_rq_tready: self
                .receives
                .funnel
                .ready(self.receives.table.outputs().s_axis_op_tready)[1],
            s_axis_rx_tready: self.parser.outputs().s_axis_rx_tready,
            s_axis_read_tready: self.fetching.outputs().s_axis_tready,
            counter_value: self.counters.outputs().value,
            m_axis_tx_tvalid: deparser.m_axis_tx_tvalid,
            m_axis_tx_tdata: deparser.m_axis_tx_tdata,
            m_axis_tx_tkeep: deparser.m_axis_tx_tkeep,
            m_axis_tx_tlast: deparser.m_axis_tx_tlast,
            m_axis_tx_plane: deparser.m_axis_tx_plane,
            m_axis_cqe_tvalid: completion.m_axis_cqe_tvalid,
            m_axis_cqe_received: completion.m_axis_cqe_received,
            m_axis_cqe_error: completion.m_axis_cqe_error,
            m_axis_cqe_stream: completion.m_axis_cqe_stream,
            m_axis_cqe_message: completion.m_axis_cqe_message,
            m_axis_cqe_length: completion.m_axis_cqe_length,
            m_axis_cqe_immediate: completion.m_axis_cqe_immediate,
            m_axis_cqe_kind: completion.m_axis_cqe_kind,
            m_axis_cqe_identifier: completion.m_axis_cqe_identifier,
            m_axis_fetch_tvalid: transmitter.m_axis_fetch_tvalid,
            m_axis_fetch_address: transmitter.m_axis_fetch_address,
            m_axis_fetch_bytes: transmitter.m_axis_fetch_bytes,
            m_axis_write_tvalid: placement.m_axis_write_tvalid,
            m_axis_write_tdata: placement.m_axis_write_tdata,
            m_axis_write_tkeep: placement.m_axis_write_tkeep,
            m_axis_write_tlast: placement.m_axis_write_tlast,
            m_axis_write_address: placement.m_axis_write_address,
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        let (rst, now) = (inputs.rst, inputs.now);

        let connections = self.connections.table.outputs();
        let connections_ready = self.connections.funnel.ready(connections.s_axis_op_tready);
        let keys = self.keys.table.outputs();
        let keys_ready = self.keys.funnel.ready(keys.s_axis_op_tready);
        let receives = self.receives.table.outputs();
        let receives_ready = self.receives.funnel.ready(receives.s_axis_op_tready);
        let sack_rx = self.sack_rx.table.outputs();
        let sack_rx_ready = self.sack_rx.funnel.ready(sack_rx.s_axis_rx_tready);
        let acks = self.acks.table.outputs();
        let acks_ready = self.acks.funnel.ready(acks.s_axis_op_tready);
        let received = self.received.table.outputs();
        let received_ready = self.received.funnel.ready(received.s_axis_op_tready);
        let sent = self.sent.table.outputs();
        let sent_ready = self.sent.funnel.ready(sent.s_axis_op_tready);
        let requests = self.requests.table.outputs();
        let requests_ready = self.requests.funnel.ready(requests.s_axis_op_tready);
        let packets = self.packets.table.outputs();
        let packets_ready = self.packets.funnel.ready(packets.s_axis_op_tready);
        let paths = self.paths.table.outputs();
        let paths_ready = self.paths.funnel.ready(paths.s_axis_op_tready);
        let sack_tx = self.sack_tx.table.outputs();
        let sack_tx_ready = self.sack_tx.funnel.ready(sack_tx.s_axis_op_tready);
        let rates = self.rates.table.outputs();
        let rates_ready = self.rates.funnel.ready(rates.s_axis_op_tready);
        let schedule = self.schedule.table.outputs();
        let schedule_ready = self.schedule.funnel.ready(schedule.s_axis_op_tready);
        let retries = self.retries.table.outputs();
        let retries_ready = self.retries.funnel.ready(retries.s_axis_op_tready);
        let configuration = self.configuration.outputs();
        let parser = self.parser.outputs();
        let frame_buffer = self.frame_buffer.outputs();
        let receiver = self.receiver.outputs();
        let placement = self.placement.outputs();
        let placing = self.placing.outputs();
        let received_teller = self.received_teller.outputs();
        let acknowledger = self.acknowledger.outputs();
        let transmitter = self.transmitter.outputs();
        let fetching = self.fetching.outputs();
        let deparser = self.deparser.outputs();
        let retirement = self.retirement.outputs();
        let sent_teller = self.sent_teller.outputs();
        let completion = self.completion.outputs();
        let timer = self.timer.outputs();

        // Results that go into a funnel too are taken when that has room for them.
        let requests_taken = requests.m_axis_result_tvalid && schedule_ready[1];
        let paths_taken = paths.m_axis_result_tvalid && schedule_ready[2];
        let rates_taken = rates.m_axis_event_tvalid && schedule_ready[3];
        let sack_tx_taken = sack_tx.m_axis_result_tvalid && retries_ready[1];
        let request_op = requests.m_axis_result_op;
        let path_op = paths.m_axis_result_op;
        let sack_tx_op = sack_tx.m_axis_result_op;
        let request_event = matches!(
            request_op,
            request_table::op::POST | request_table::op::INIT | request_table::op::NEXT
        );
        let request_event = (requests_taken && request_event).then(|| scheduler::Inputs {
            s_axis_op_tvalid: true,
            s_axis_op_op: if request_op == request_table::op::NEXT {
                scheduler::op::SENT
            } else {
                scheduler::op::UNSENT
            },
            s_axis_op_connection: requests.m_axis_result_stream / self.streams,
            s_axis_op_stream: (requests.m_axis_result_stream % self.streams) as u8,
            s_axis_op_flag: requests.m_axis_result_unsent,
            ..Default::default()
        });
        let path_event = matches!(
            path_op,
            path_table::op::ACKNOWLEDGE | path_table::op::TIMEOUT | path_table::op::CONFIGURE
        );
        let path_event = (paths_taken && path_event).then(|| scheduler::Inputs {
            s_axis_op_tvalid: true,
            s_axis_op_op: scheduler::op::OPEN,
            s_axis_op_connection: paths.m_axis_result_path / self.paths_each,
            ..Default::default()
        });
        let rate_event = rates_taken.then(|| scheduler::Inputs {
            s_axis_op_tvalid: true,
            s_axis_op_op: scheduler::op::RATE,
            s_axis_op_connection: rates.m_axis_event_connection,
            s_axis_op_flag: rates.m_axis_event_eligible,
            ..Default::default()
        });
        let sack_event = matches!(
            sack_tx_op,
            sack_tx::op::ACKNOWLEDGE | sack_tx::op::TIMEOUT | sack_tx::op::RETRANSMIT
        );
        let sack_event =
            (sack_tx_taken && sack_event && sack_tx.m_axis_result_pending).then(|| retry_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: retry_table::op::MARK,
                s_axis_op_path: sack_tx.m_axis_result_path,
                ..Default::default()
            });
        let looked = |tag| {
            connections.m_axis_result_tvalid
                && connections.m_axis_result_op == connection_table::op::LOOKUP
                && connections.m_axis_result_tag == tag
        };
        let received_op = |code| receives.m_axis_result_tvalid && receives.m_axis_result_op == code;
        let requested = |code, tag| requests_taken && request_op == code && requests.m_axis_result_tag == tag;
        let kept = |tag| packets.m_axis_result_tvalid && packets.m_axis_result_tag == tag;
        let scheduled = |code| schedule.m_axis_result_tvalid && schedule.m_axis_result_op == code;
        let sacked_for_acknowledger = sack_rx.m_axis_rx_op == sack_rx::op::ACKNOWLEDGE;
        let sacked_for_receiver = matches!(sack_rx.m_axis_rx_op, sack_rx::op::PACKET | sack_rx::op::QUERY);

        // The tables.
        let offered = [
            configuration
                .m_axis_connection_tvalid
                .then(|| connection_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: configuration.m_axis_connection_op,
                    s_axis_op_connection: configuration.m_axis_connection_connection,
                    s_axis_op_plane: configuration.m_axis_connection_plane,
                    s_axis_op_enabled: configuration.m_axis_connection_enabled,
                    s_axis_op_peer: configuration.m_axis_connection_peer,
                    s_axis_op_domain: configuration.m_axis_connection_domain,
                    s_axis_op_dscp: configuration.m_axis_connection_dscp,
                    s_axis_op_mac: configuration.m_axis_connection_mac,
                    s_axis_op_address: configuration.m_axis_connection_address,
                    ..Default::default()
                }),
            receiver.m_axis_lookup_tvalid.then(|| connection_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: connection_table::op::LOOKUP,
                s_axis_op_connection: receiver.m_axis_lookup_connection,
                s_axis_op_plane: receiver.m_axis_lookup_plane,
                s_axis_op_tag: RECEIVER,
                ..Default::default()
            }),
            acknowledger
                .m_axis_lookup_tvalid
                .then(|| connection_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: connection_table::op::LOOKUP,
                    s_axis_op_connection: acknowledger.m_axis_lookup_connection,
                    s_axis_op_plane: acknowledger.m_axis_lookup_plane,
                    s_axis_op_tag: ACKNOWLEDGER,
                    ..Default::default()
                }),
            transmitter
                .m_axis_lookup_tvalid
                .then(|| connection_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: connection_table::op::LOOKUP,
                    s_axis_op_connection: transmitter.m_axis_lookup_connection,
                    s_axis_op_plane: transmitter.m_axis_lookup_plane,
                    s_axis_op_tag: TRANSMITTER,
                    ..Default::default()
                }),
        ];
        let operation = self.connections.operation();
        self.connections.table.clock(&connection_table::Inputs {
            rst,
            m_axis_result_tready: true,
            ..operation
        });
        self.connections
            .funnel
            .clock(offered, connections.s_axis_op_tready);
        let offered = [
            configuration.m_axis_key_tvalid.then(|| key_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: key_table::op::CONFIGURE,
                s_axis_op_key: configuration.m_axis_key_key,
                s_axis_op_address: configuration.m_axis_key_address,
                s_axis_op_domain: configuration.m_axis_key_domain,
                s_axis_op_length: configuration.m_axis_key_length,
                s_axis_op_valid: configuration.m_axis_key_valid,
                s_axis_op_write: configuration.m_axis_key_write,
                ..Default::default()
            }),
            receiver.m_axis_check_tvalid.then(|| key_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: key_table::op::CHECK,
                s_axis_op_key: receiver.m_axis_check_key,
                s_axis_op_address: receiver.m_axis_check_address,
                s_axis_op_bytes: receiver.m_axis_check_bytes,
                s_axis_op_domain: receiver.m_axis_check_domain,
                ..Default::default()
            }),
        ];
        let operation = self.keys.operation();
        self.keys.table.clock(&key_table::Inputs {
            rst,
            m_axis_result_tready: true,
            ..operation
        });
        self.keys.funnel.clock(offered, keys.s_axis_op_tready);
        let offered = [
            configuration
                .m_axis_receive_tvalid
                .then(|| receive_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: receive_table::op::INIT,
                    s_axis_op_stream: configuration.m_axis_receive_stream,
                    s_axis_op_number: configuration.m_axis_receive_number,
                    ..Default::default()
                }),
            inputs.s_axis_rq_tvalid.then(|| receive_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: receive_table::op::POST,
                s_axis_op_stream: inputs.s_axis_rq_stream,
                s_axis_op_address: inputs.s_axis_rq_address,
                s_axis_op_length: inputs.s_axis_rq_length,
                s_axis_op_identifier: inputs.s_axis_rq_identifier,
                ..Default::default()
            }),
            receiver.m_axis_match_tvalid.then(|| receive_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: receive_table::op::MATCH,
                s_axis_op_stream: receiver.m_axis_match_stream,
                s_axis_op_number: receiver.m_axis_match_number,
                s_axis_op_offset: receiver.m_axis_match_offset,
                s_axis_op_bytes: receiver.m_axis_match_bytes,
                ..Default::default()
            }),
            completion.m_axis_complete_tvalid.then(|| receive_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: receive_table::op::COMPLETE,
                s_axis_op_stream: completion.m_axis_complete_stream,
                ..Default::default()
            }),
        ];
        let operation = self.receives.operation();
        self.receives.table.clock(&receive_table::Inputs {
            rst,
            m_axis_result_tready: true,
            ..operation
        });
        self.receives.funnel.clock(offered, receives.s_axis_op_tready);
        let offered = [
            configuration.m_axis_sack_rx_tvalid.then(|| sack_rx::Inputs {
                s_axis_rx_tvalid: true,
                s_axis_rx_op: sack_rx::op::INIT,
                s_axis_rx_path: configuration.m_axis_sack_rx_path,
                s_axis_rx_psn: configuration.m_axis_sack_rx_psn,
                ..Default::default()
            }),
            receiver.m_axis_sack_tvalid.then(|| sack_rx::Inputs {
                s_axis_rx_tvalid: true,
                s_axis_rx_op: receiver.m_axis_sack_op,
                s_axis_rx_path: receiver.m_axis_sack_path,
                s_axis_rx_psn: receiver.m_axis_sack_psn,
                ..Default::default()
            }),
            acknowledger.m_axis_sack_tvalid.then(|| sack_rx::Inputs {
                s_axis_rx_tvalid: true,
                s_axis_rx_op: sack_rx::op::ACKNOWLEDGE,
                s_axis_rx_path: acknowledger.m_axis_sack_path,
                ..Default::default()
            }),
        ];
        let operation = self.sack_rx.operation();
        self.sack_rx.table.clock(&sack_rx::Inputs {
            rst,
            m_axis_rx_tready: true,
            ..operation
        });
        self.sack_rx.funnel.clock(offered, sack_rx.s_axis_rx_tready);
        let offered = [
            configuration.m_axis_ack_tvalid.then(|| ack_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: ack_table::op::INIT,
                s_axis_op_path: configuration.m_axis_ack_path,
                ..Default::default()
            }),
            receiver.m_axis_owe_tvalid.then(|| ack_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: ack_table::op::RECEIVE,
                s_axis_op_path: receiver.m_axis_owe_path,
                s_axis_op_timestamp: receiver.m_axis_owe_timestamp,
                s_axis_op_arrival: receiver.m_axis_owe_arrival,
                s_axis_op_plane: receiver.m_axis_owe_plane,
                s_axis_op_counts: receiver.m_axis_owe_counts,
                s_axis_op_marked: receiver.m_axis_owe_marked,
                s_axis_op_at_once: receiver.m_axis_owe_at_once,
                ..Default::default()
            }),
            acknowledger.m_axis_take_tvalid.then(|| ack_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: ack_table::op::TAKE,
                s_axis_op_path: acknowledger.m_axis_take_path,
                s_axis_op_now: acknowledger.m_axis_take_now,
                ..Default::default()
            }),
            timer.m_axis_ack_tvalid.then(|| ack_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: ack_table::op::SCAN,
                s_axis_op_path: timer.m_axis_ack_path,
                s_axis_op_now: timer.m_axis_ack_now,
                ..Default::default()
            }),
        ];
        let operation = self.acks.operation();
        self.acks.table.clock(&ack_table::Inputs {
            rst,
            config_delay: inputs.config_delay,
            m_axis_result_tready: true,
            ..operation
        });
        self.acks.funnel.clock(offered, acks.s_axis_op_tready);
        let offered = [
            configuration
                .m_axis_received_tvalid
                .then(|| message_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: message_table::op::INIT,
                    s_axis_op_stream: configuration.m_axis_received_stream,
                    s_axis_op_message: configuration.m_axis_received_message,
                    ..Default::default()
                }),
            received_teller.m_axis_op_tvalid.then(|| message_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: received_teller.m_axis_op_op,
                s_axis_op_stream: received_teller.m_axis_op_stream,
                s_axis_op_message: received_teller.m_axis_op_message,
                s_axis_op_bytes: received_teller.m_axis_op_bytes,
                s_axis_op_length: received_teller.m_axis_op_length,
                s_axis_op_immediate: received_teller.m_axis_op_immediate,
                s_axis_op_kind: received_teller.m_axis_op_kind,
                ..Default::default()
            }),
        ];
        let operation = self.received.operation();
        self.received.table.clock(&message_table::Inputs {
            rst,
            m_axis_result_tready: true,
            ..operation
        });
        self.received.funnel.clock(offered, received.s_axis_op_tready);
        let offered = [
            configuration.m_axis_sent_tvalid.then(|| message_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: message_table::op::INIT,
                s_axis_op_stream: configuration.m_axis_sent_stream,
                s_axis_op_message: configuration.m_axis_sent_message,
                ..Default::default()
            }),
            sent_teller.m_axis_op_tvalid.then(|| message_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: sent_teller.m_axis_op_op,
                s_axis_op_stream: sent_teller.m_axis_op_stream,
                s_axis_op_message: sent_teller.m_axis_op_message,
                s_axis_op_bytes: sent_teller.m_axis_op_bytes,
                s_axis_op_length: sent_teller.m_axis_op_length,
                s_axis_op_immediate: sent_teller.m_axis_op_immediate,
                s_axis_op_kind: sent_teller.m_axis_op_kind,
                ..Default::default()
            }),
        ];
        let operation = self.sent.operation();
        self.sent.table.clock(&message_table::Inputs {
            rst,
            m_axis_result_tready: true,
            ..operation
        });
        self.sent.funnel.clock(offered, sent.s_axis_op_tready);
        let offered = [
            configuration
                .m_axis_request_tvalid
                .then(|| request_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: request_table::op::INIT,
                    s_axis_op_stream: configuration.m_axis_request_stream,
                    s_axis_op_message: configuration.m_axis_request_message,
                    s_axis_op_receive: configuration.m_axis_request_receive,
                    ..Default::default()
                }),
            inputs.s_axis_wqe_tvalid.then(|| request_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: request_table::op::POST,
                s_axis_op_stream: inputs.s_axis_wqe_stream,
                s_axis_op_kind: inputs.s_axis_wqe_kind,
                s_axis_op_length: inputs.s_axis_wqe_length,
                s_axis_op_local: inputs.s_axis_wqe_local,
                s_axis_op_remote: inputs.s_axis_wqe_remote,
                s_axis_op_key: inputs.s_axis_wqe_key,
                s_axis_op_immediate: inputs.s_axis_wqe_immediate,
                s_axis_op_identifier: inputs.s_axis_wqe_identifier,
                ..Default::default()
            }),
            transmitter.m_axis_next_tvalid.then(|| request_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: request_table::op::NEXT,
                s_axis_op_stream: transmitter.m_axis_next_stream,
                ..Default::default()
            }),
            transmitter.m_axis_read_tvalid.then(|| request_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: request_table::op::READ,
                s_axis_op_stream: transmitter.m_axis_read_stream,
                s_axis_op_message: transmitter.m_axis_read_message.into(),
                s_axis_op_packet: transmitter.m_axis_read_packet,
                s_axis_op_tag: FOR_TRANSMITTER,
                ..Default::default()
            }),
            retirement.m_axis_read_tvalid.then(|| request_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: request_table::op::READ,
                s_axis_op_stream: retirement.m_axis_read_stream,
                s_axis_op_message: retirement.m_axis_read_message.into(),
                s_axis_op_packet: retirement.m_axis_read_packet,
                s_axis_op_tag: FOR_RETIREMENT,
                ..Default::default()
            }),
            completion.m_axis_release_tvalid.then(|| request_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: request_table::op::RELEASE,
                s_axis_op_stream: completion.m_axis_release_stream,
                ..Default::default()
            }),
        ];
        let operation = self.requests.operation();
        self.requests.table.clock(&request_table::Inputs {
            rst,
            m_axis_result_tready: schedule_ready[1],
            ..operation
        });
        self.requests.funnel.clock(offered, requests.s_axis_op_tready);
        let offered = [
            transmitter.m_axis_packet_tvalid.then(|| packet_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: transmitter.m_axis_packet_op,
                s_axis_op_path: transmitter.m_axis_packet_path,
                s_axis_op_psn: transmitter.m_axis_packet_psn,
                s_axis_op_tag: FOR_TRANSMITTER,
                s_axis_op_stream: transmitter.m_axis_packet_stream,
                s_axis_op_message: transmitter.m_axis_packet_message,
                s_axis_op_packet: transmitter.m_axis_packet_packet,
                ..Default::default()
            }),
            retirement.m_axis_packet_tvalid.then(|| packet_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: packet_table::op::READ,
                s_axis_op_path: retirement.m_axis_packet_path,
                s_axis_op_psn: retirement.m_axis_packet_psn,
                s_axis_op_tag: FOR_RETIREMENT,
                ..Default::default()
            }),
        ];
        let operation = self.packets.operation();
        self.packets.table.clock(&packet_table::Inputs {
            rst,
            m_axis_result_tready: true,
            ..operation
        });
        self.packets.funnel.clock(offered, packets.s_axis_op_tready);
        let offered = [
            configuration.m_axis_path_tvalid.then(|| path_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: path_table::op::CONFIGURE,
                s_axis_op_path: configuration.m_axis_path_path,
                s_axis_op_clear: configuration.m_axis_path_clear,
                s_axis_op_plane: configuration.m_axis_path_plane,
                s_axis_op_source_port: configuration.m_axis_path_source_port,
                s_axis_op_state: configuration.m_axis_path_state,
                s_axis_op_window: configuration.m_axis_path_window,
                s_axis_op_now: now,
                ..Default::default()
            }),
            transmitter.m_axis_path_tvalid.then(|| path_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: transmitter.m_axis_path_op,
                s_axis_op_path: transmitter.m_axis_path_path,
                s_axis_op_now: transmitter.m_axis_path_now,
                ..Default::default()
            }),
            retirement.m_axis_path_tvalid.then(|| path_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: path_table::op::ACKNOWLEDGE,
                s_axis_op_path: retirement.m_axis_path_path,
                s_axis_op_acknowledged: retirement.m_axis_path_acknowledged,
                s_axis_op_lost: retirement.m_axis_path_lost,
                s_axis_op_marked: retirement.m_axis_path_marked,
                s_axis_op_rtt_valid: retirement.m_axis_path_rtt_valid,
                s_axis_op_rtt: retirement.m_axis_path_rtt,
                s_axis_op_now: retirement.m_axis_path_now,
                ..Default::default()
            }),
            timer.m_axis_path_tvalid.then(|| path_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: timer.m_axis_path_op,
                s_axis_op_path: timer.m_axis_path_path,
                s_axis_op_now: timer.m_axis_path_now,
                ..Default::default()
            }),
        ];
        let operation = self.paths.operation();
        self.paths.table.clock(&path_table::Inputs {
            rst,
            m_axis_result_tready: schedule_ready[2],
            ..operation
        });
        self.paths.funnel.clock(offered, paths.s_axis_op_tready);
        let offered = [
            configuration.m_axis_sack_tx_tvalid.then(|| sack_tx::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: sack_tx::op::INIT,
                s_axis_op_path: configuration.m_axis_sack_tx_path,
                s_axis_op_psn: configuration.m_axis_sack_tx_psn,
                s_axis_op_now: now,
                ..Default::default()
            }),
            transmitter.m_axis_sack_tvalid.then(|| sack_tx::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: transmitter.m_axis_sack_op,
                s_axis_op_path: transmitter.m_axis_sack_path,
                s_axis_op_now: transmitter.m_axis_sack_now,
                ..Default::default()
            }),
            retirement.m_axis_sack_tvalid.then(|| sack_tx::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: sack_tx::op::ACKNOWLEDGE,
                s_axis_op_path: retirement.m_axis_sack_path,
                s_axis_op_psn: retirement.m_axis_sack_psn,
                s_axis_op_vector: retirement.m_axis_sack_vector,
                s_axis_op_echo: retirement.m_axis_sack_echo,
                s_axis_op_now: retirement.m_axis_sack_now,
                ..Default::default()
            }),
            timer.m_axis_sack_tvalid.then(|| sack_tx::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: sack_tx::op::TIMEOUT,
                s_axis_op_path: timer.m_axis_sack_path,
                s_axis_op_now: timer.m_axis_sack_now,
                ..Default::default()
            }),
        ];
        let operation = self.sack_tx.operation();
        self.sack_tx.table.clock(&sack_tx::Inputs {
            rst,
            m_axis_result_tready: retries_ready[1],
            ..operation
        });
        self.sack_tx.funnel.clock(offered, sack_tx.s_axis_op_tready);
        let offered = [
            configuration.m_axis_rate_tvalid.then(|| rate_limiter::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: rate_limiter::op::CONFIGURE,
                s_axis_op_connection: configuration.m_axis_rate_connection,
                s_axis_op_rate: configuration.m_axis_rate_rate,
                s_axis_op_burst: configuration.m_axis_rate_burst,
                ..Default::default()
            }),
            transmitter.m_axis_charge_tvalid.then(|| rate_limiter::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: rate_limiter::op::CHARGE,
                s_axis_op_connection: transmitter.m_axis_charge_connection,
                s_axis_op_bytes: transmitter.m_axis_charge_bytes,
                ..Default::default()
            }),
        ];
        let operation = self.rates.operation();
        self.rates.table.clock(&rate_limiter::Inputs {
            rst,
            now,
            m_axis_event_tready: schedule_ready[3],
            ..operation
        });
        self.rates.funnel.clock(offered, rates.s_axis_op_tready);
        let offered = [
            configuration.m_axis_schedule_tvalid.then(|| scheduler::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: scheduler::op::START,
                s_axis_op_connection: configuration.m_axis_schedule_connection,
                s_axis_op_flag: configuration.m_axis_schedule_flag,
                ..Default::default()
            }),
            request_event,
            path_event,
            rate_event,
            transmitter.m_axis_schedule_tvalid.then(|| scheduler::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: transmitter.m_axis_schedule_op,
                s_axis_op_connection: transmitter.m_axis_schedule_connection,
                ..Default::default()
            }),
            completion.m_axis_stop_tvalid.then(|| scheduler::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: scheduler::op::STOP,
                s_axis_op_connection: completion.m_axis_stop_connection,
                ..Default::default()
            }),
        ];
        let operation = self.schedule.operation();
        self.schedule.table.clock(&scheduler::Inputs {
            rst,
            m_axis_result_tready: true,
            ..operation
        });
        self.schedule.funnel.clock(offered, schedule.s_axis_op_tready);
        let offered = [
            transmitter.m_axis_take_tvalid.then(|| retry_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: retry_table::op::TAKE,
                s_axis_op_path: transmitter.m_axis_take_path,
                ..Default::default()
            }),
            sack_event,
        ];
        let operation = self.retries.operation();
        self.retries.table.clock(&retry_table::Inputs {
            rst,
            m_axis_result_tready: true,
            ..operation
        });
        self.retries.funnel.clock(offered, retries.s_axis_op_tready);

        // What joins them.
        self.configuration.clock(&configuration::Inputs {
            rst,
            s_axis_command_tvalid: inputs.s_axis_command_tvalid,
            s_axis_command_command: inputs.s_axis_command_command,
            s_axis_command_index: inputs.s_axis_command_index,
            s_axis_command_plane: inputs.s_axis_command_plane,
            s_axis_command_flag: inputs.s_axis_command_flag,
            s_axis_command_first: inputs.s_axis_command_first,
            s_axis_command_second: inputs.s_axis_command_second,
            s_axis_command_third: inputs.s_axis_command_third,
            s_axis_command_fourth: inputs.s_axis_command_fourth,
            s_axis_command_domain: inputs.s_axis_command_domain,
            s_axis_command_dscp: inputs.s_axis_command_dscp,
            s_axis_command_mac: inputs.s_axis_command_mac,
            s_axis_command_address: inputs.s_axis_command_address,
            s_axis_command_key: inputs.s_axis_command_key,
            s_axis_command_source_port: inputs.s_axis_command_source_port,
            s_axis_command_state: inputs.s_axis_command_state,
            s_axis_command_window: inputs.s_axis_command_window,
            s_axis_command_rate: inputs.s_axis_command_rate,
            s_axis_command_burst: inputs.s_axis_command_burst,
            m_axis_connection_tready: connections_ready[0],
            m_axis_key_tready: keys_ready[0],
            m_axis_path_tready: paths_ready[0],
            m_axis_sack_tx_tready: sack_tx_ready[0],
            m_axis_sack_rx_tready: sack_rx_ready[0],
            m_axis_ack_tready: acks_ready[0],
            m_axis_retirement_tready: retirement.s_axis_init_tready,
            m_axis_request_tready: requests_ready[0],
            m_axis_sent_tready: sent_ready[0],
            m_axis_received_tready: received_ready[0],
            m_axis_receive_tready: receives_ready[0],
            m_axis_rate_tready: rates_ready[0],
            m_axis_schedule_tready: schedule_ready[0],
        });
        self.parser.clock(&parser::Inputs {
            rst,
            now,
            config_write: configuration.local_write,
            config_plane: configuration.local_plane,
            config_address: configuration.local_address,
            s_axis_rx_tvalid: inputs.s_axis_rx_tvalid,
            s_axis_rx_tdata: inputs.s_axis_rx_tdata,
            s_axis_rx_tkeep: inputs.s_axis_rx_tkeep,
            s_axis_rx_tlast: inputs.s_axis_rx_tlast,
            s_axis_rx_plane: inputs.s_axis_rx_plane,
            s_axis_rx_bad: inputs.s_axis_rx_bad,
            m_axis_payload_tready: frame_buffer.s_axis_tready,
            m_axis_data_tready: receiver.s_axis_data_tready,
            m_axis_ack_tready: retirement.s_axis_ack_tready,
        });
        self.frame_buffer.clock(&frame_buffer::Inputs {
            rst,
            s_axis_tvalid: parser.m_axis_payload_tvalid,
            s_axis_tdata: parser.m_axis_payload_tdata,
            s_axis_tlast: parser.m_axis_payload_tlast,
            s_axis_keep: parser.m_axis_payload_keep,
            m_axis_tready: placement.s_axis_payload_tready,
        });
        self.receiver.clock(&receiver::Inputs {
            rst,
            s_axis_data_tvalid: parser.m_axis_data_tvalid,
            s_axis_data_opcode: parser.m_axis_data_opcode,
            s_axis_data_connection: parser.m_axis_data_connection,
            s_axis_data_path: parser.m_axis_data_path,
            s_axis_data_psn: parser.m_axis_data_psn,
            s_axis_data_timestamp: parser.m_axis_data_timestamp,
            s_axis_data_arrival: parser.m_axis_data_arrival,
            s_axis_data_marked: parser.m_axis_data_marked,
            s_axis_data_plane: parser.m_axis_data_plane,
            s_axis_data_payload_bytes: parser.m_axis_data_payload_bytes,
            s_axis_data_stream: parser.m_axis_data_stream,
            s_axis_data_message: parser.m_axis_data_message,
            s_axis_data_message_length: parser.m_axis_data_message_length,
            s_axis_data_offset: parser.m_axis_data_offset,
            s_axis_data_immediate: parser.m_axis_data_immediate,
            s_axis_data_key: parser.m_axis_data_key,
            s_axis_data_address: parser.m_axis_data_address,
            s_axis_data_receive: parser.m_axis_data_receive,
            m_axis_lookup_tready: connections_ready[1],
            m_axis_check_tready: keys_ready[1],
            m_axis_match_tready: receives_ready[2],
            m_axis_sack_tready: sack_rx_ready[1],
            m_axis_place_tready: placement.s_axis_place_tready,
            m_axis_owe_tready: acks_ready[1],
            m_axis_nak_tready: acknowledger.s_axis_nak_tready,
            looked_valid: looked(RECEIVER),
            looked_known: connections.m_axis_result_known,
            looked_domain: connections.m_axis_result_domain,
            checked_valid: keys.m_axis_result_tvalid && keys.m_axis_result_op == key_table::op::CHECK,
            checked_status: keys.m_axis_result_status,
            matched_valid: received_op(receive_table::op::MATCH),
            matched_status: receives.m_axis_result_status,
            matched_address: receives.m_axis_result_address,
            sacked_valid: sack_rx.m_axis_rx_tvalid && sacked_for_receiver,
            sacked_verdict: sack_rx.m_axis_rx_verdict,
            sacked_new_hole: sack_rx.m_axis_rx_new_hole,
            sacked_filled: sack_rx.m_axis_rx_filled,
        });
        self.placement.clock(&placement::Inputs {
            rst,
            s_axis_place_tvalid: receiver.m_axis_place_tvalid,
            s_axis_place_discard: receiver.m_axis_place_discard,
            s_axis_place_bytes: receiver.m_axis_place_bytes,
            s_axis_place_address: receiver.m_axis_place_address,
            s_axis_place_stream: receiver.m_axis_place_stream,
            s_axis_place_message: receiver.m_axis_place_message,
            s_axis_place_length: receiver.m_axis_place_length,
            s_axis_place_immediate: receiver.m_axis_place_immediate,
            s_axis_place_kind: receiver.m_axis_place_kind,
            s_axis_payload_tvalid: frame_buffer.m_axis_tvalid,
            s_axis_payload_tdata: frame_buffer.m_axis_tdata,
            s_axis_payload_tlast: frame_buffer.m_axis_tlast,
            m_axis_command_tready: placing.s_axis_command_tready,
            m_axis_beat_tready: placing.s_axis_tready,
            s_axis_aligned_tvalid: placing.m_axis_tvalid,
            s_axis_aligned_tdata: placing.m_axis_tdata,
            s_axis_aligned_tkeep: placing.m_axis_tkeep,
            s_axis_aligned_tlast: placing.m_axis_tlast,
            m_axis_write_tready: inputs.m_axis_write_tready,
            m_axis_count_tready: received_teller.s_axis_count_tready,
        });
        self.placing.clock(&align::Inputs {
            rst,
            s_axis_command_tvalid: placement.m_axis_command_tvalid,
            s_axis_command_from: placement.m_axis_command_from,
            s_axis_command_to: placement.m_axis_command_to,
            s_axis_command_bytes: placement.m_axis_command_bytes,
            s_axis_tvalid: placement.m_axis_beat_tvalid,
            s_axis_tdata: placement.m_axis_beat_tdata,
            s_axis_tlast: placement.m_axis_beat_tlast,
            m_axis_tready: placement.s_axis_aligned_tready,
        });
        self.received_teller.clock(&teller::Inputs {
            rst,
            s_axis_count_tvalid: placement.m_axis_count_tvalid,
            s_axis_count_stream: placement.m_axis_count_stream,
            s_axis_count_message: placement.m_axis_count_message,
            s_axis_count_bytes: placement.m_axis_count_bytes,
            s_axis_count_length: placement.m_axis_count_length,
            s_axis_count_immediate: placement.m_axis_count_immediate,
            s_axis_count_kind: placement.m_axis_count_kind,
            m_axis_op_tready: received_ready[1],
            m_axis_told_tready: completion.s_axis_received_tready,
            result_valid: received.m_axis_result_tvalid,
            result_op: received.m_axis_result_op,
            result_stream: received.m_axis_result_stream,
            result_status: received.m_axis_result_status,
            result_message: received.m_axis_result_message,
            result_length: received.m_axis_result_length,
            result_immediate: received.m_axis_result_immediate,
            result_kind: received.m_axis_result_kind,
            result_more: received.m_axis_result_more,
        });
        self.sent_teller.clock(&teller::Inputs {
            rst,
            s_axis_count_tvalid: retirement.m_axis_count_tvalid,
            s_axis_count_stream: retirement.m_axis_count_stream,
            s_axis_count_message: retirement.m_axis_count_message,
            s_axis_count_bytes: retirement.m_axis_count_bytes,
            s_axis_count_length: retirement.m_axis_count_length,
            s_axis_count_immediate: 0,
            s_axis_count_kind: 0,
            m_axis_op_tready: sent_ready[1],
            m_axis_told_tready: completion.s_axis_sent_tready,
            result_valid: sent.m_axis_result_tvalid,
            result_op: sent.m_axis_result_op,
            result_stream: sent.m_axis_result_stream,
            result_status: sent.m_axis_result_status,
            result_message: sent.m_axis_result_message,
            result_length: sent.m_axis_result_length,
            result_immediate: sent.m_axis_result_immediate,
            result_kind: sent.m_axis_result_kind,
            result_more: sent.m_axis_result_more,
        });
        self.acknowledger.clock(&acknowledger::Inputs {
            rst,
            now,
            config_hint: inputs.config_hint,
            s_axis_nak_tvalid: receiver.m_axis_nak_tvalid,
            s_axis_nak_connection: receiver.m_axis_nak_connection,
            s_axis_nak_path: receiver.m_axis_nak_path,
            s_axis_nak_plane: receiver.m_axis_nak_plane,
            s_axis_nak_stream: receiver.m_axis_nak_stream,
            s_axis_nak_message: receiver.m_axis_nak_message,
            s_axis_nak_code: receiver.m_axis_nak_code,
            m_axis_take_tready: acks_ready[2],
            m_axis_lookup_tready: connections_ready[2],
            m_axis_sack_tready: sack_rx_ready[2],
            m_axis_ack_tready: deparser.s_axis_ack_tready,
            due_valid: acks.m_axis_result_tvalid && acks.m_axis_result_due,
            due_path: acks.m_axis_result_path,
            taken_valid: acks.m_axis_result_tvalid && acks.m_axis_result_op == ack_table::op::TAKE,
            taken_path: acks.m_axis_result_path,
            taken_plane: acks.m_axis_result_plane,
            taken_echo: acks.m_axis_result_echo,
            taken_hold: acks.m_axis_result_hold,
            taken_packets: acks.m_axis_result_packets,
            taken_marked: acks.m_axis_result_marked,
            looked_valid: looked(ACKNOWLEDGER),
            looked_known: connections.m_axis_result_known,
            looked_peer: connections.m_axis_result_peer,
            looked_dscp: connections.m_axis_result_dscp,
            looked_destination_mac: connections.m_axis_result_destination_mac,
            looked_destination_address: connections.m_axis_result_destination_address,
            looked_source_mac: connections.m_axis_result_source_mac,
            looked_source_address: connections.m_axis_result_source_address,
            sacked_valid: sack_rx.m_axis_rx_tvalid && sacked_for_acknowledger,
            sacked_base: sack_rx.m_axis_rx_base,
            sacked_vector: sack_rx.m_axis_rx_vector,
        });
        self.transmitter.clock(&transmitter::Inputs {
            rst,
            now,
            s_axis_probe_tvalid: timer.m_axis_probe_tvalid,
            s_axis_probe_path: timer.m_axis_probe_path,
            m_axis_schedule_tready: schedule_ready[4],
            m_axis_take_tready: retries_ready[0],
            m_axis_path_tready: paths_ready[1],
            m_axis_sack_tready: sack_tx_ready[1],
            m_axis_next_tready: requests_ready[2],
            m_axis_packet_tready: packets_ready[0],
            m_axis_read_tready: requests_ready[3],
            m_axis_lookup_tready: connections_ready[3],
            m_axis_charge_tready: rates_ready[1],
            m_axis_data_tready: deparser.s_axis_data_tready,
            m_axis_fetch_tready: inputs.m_axis_fetch_tready,
            m_axis_align_tready: fetching.s_axis_command_tready,
            ready_valid: schedule.m_axis_result_tvalid && schedule.m_axis_result_ready,
            ready_connection: schedule.m_axis_result_connection,
            retry_valid: retries.m_axis_result_tvalid && retries.m_axis_result_ready,
            retry_path: retries.m_axis_result_path,
            scheduled_valid: scheduled(scheduler::op::TAKE),
            scheduled_taken: schedule.m_axis_result_taken,
            scheduled_connection: schedule.m_axis_result_connection,
            scheduled_stream: schedule.m_axis_result_stream,
            routed_valid: paths_taken && matches!(path_op, path_table::op::SELECT | path_table::op::ROUTE),
            routed_found: paths.m_axis_result_found,
            routed_path: paths.m_axis_result_path,
            routed_plane: paths.m_axis_result_plane,
            routed_source_port: paths.m_axis_result_source_port,
            sacked_valid: sack_tx_taken
                && matches!(
                    sack_tx_op,
                    sack_tx::op::SEND | sack_tx::op::RETRANSMIT | sack_tx::op::PROBE
                ),
            sacked_status: sack_tx.m_axis_result_status,
            sacked_psn: sack_tx.m_axis_result_psn,
            next_valid: requests_taken && request_op == request_table::op::NEXT,
            next_status: requests.m_axis_result_status,
            next_message: requests.m_axis_result_message,
            next_offset: requests.m_axis_result_offset,
            packet_valid: kept(FOR_TRANSMITTER),
            packet_stream: packets.m_axis_result_stream,
            packet_message: packets.m_axis_result_message,
            packet_packet: packets.m_axis_result_packet,
            read_valid: requested(request_table::op::READ, FOR_TRANSMITTER),
            read_status: requests.m_axis_result_status,
            read_message: requests.m_axis_result_message,
            read_kind: requests.m_axis_result_kind,
            read_message_length: requests.m_axis_result_message_length,
            read_offset: requests.m_axis_result_offset,
            read_bytes: requests.m_axis_result_bytes,
            read_immediate: requests.m_axis_result_immediate,
            read_key: requests.m_axis_result_key,
            read_receive: requests.m_axis_result_receive,
            read_local: requests.m_axis_result_local,
            read_remote: requests.m_axis_result_remote,
            looked_valid: looked(TRANSMITTER),
            looked_known: connections.m_axis_result_known,
            looked_peer: connections.m_axis_result_peer,
            looked_dscp: connections.m_axis_result_dscp,
            looked_destination_mac: connections.m_axis_result_destination_mac,
            looked_destination_address: connections.m_axis_result_destination_address,
            looked_source_mac: connections.m_axis_result_source_mac,
            looked_source_address: connections.m_axis_result_source_address,
        });
        self.fetching.clock(&align::Inputs {
            rst,
            s_axis_command_tvalid: transmitter.m_axis_align_tvalid,
            s_axis_command_from: transmitter.m_axis_align_from,
            s_axis_command_to: transmitter.m_axis_align_to,
            s_axis_command_bytes: transmitter.m_axis_align_bytes,
            s_axis_tvalid: inputs.s_axis_read_tvalid,
            s_axis_tdata: inputs.s_axis_read_tdata,
            s_axis_tlast: inputs.s_axis_read_tlast,
            m_axis_tready: deparser.s_axis_payload_tready,
        });
        self.deparser.clock(&deparser::Inputs {
            rst,
            s_axis_data_tvalid: transmitter.m_axis_data_tvalid,
            s_axis_data_destination_mac: transmitter.m_axis_data_destination_mac,
            s_axis_data_source_mac: transmitter.m_axis_data_source_mac,
            s_axis_data_source_address: transmitter.m_axis_data_source_address,
            s_axis_data_destination_address: transmitter.m_axis_data_destination_address,
            s_axis_data_source_port: transmitter.m_axis_data_source_port,
            s_axis_data_dscp: transmitter.m_axis_data_dscp,
            s_axis_data_plane: transmitter.m_axis_data_plane,
            s_axis_data_opcode: transmitter.m_axis_data_opcode,
            s_axis_data_flags: transmitter.m_axis_data_flags,
            s_axis_data_connection: transmitter.m_axis_data_connection,
            s_axis_data_path: transmitter.m_axis_data_path,
            s_axis_data_psn: transmitter.m_axis_data_psn,
            s_axis_data_timestamp: transmitter.m_axis_data_timestamp,
            s_axis_data_payload_bytes: transmitter.m_axis_data_payload_bytes,
            s_axis_data_stream: transmitter.m_axis_data_stream,
            s_axis_data_message: transmitter.m_axis_data_message,
            s_axis_data_message_length: transmitter.m_axis_data_message_length,
            s_axis_data_offset: transmitter.m_axis_data_offset,
            s_axis_data_immediate: transmitter.m_axis_data_immediate,
            s_axis_data_key: transmitter.m_axis_data_key,
            s_axis_data_address: transmitter.m_axis_data_address,
            s_axis_data_receive: transmitter.m_axis_data_receive,
            s_axis_ack_tvalid: acknowledger.m_axis_ack_tvalid,
            s_axis_ack_destination_mac: acknowledger.m_axis_ack_destination_mac,
            s_axis_ack_source_mac: acknowledger.m_axis_ack_source_mac,
            s_axis_ack_source_address: acknowledger.m_axis_ack_source_address,
            s_axis_ack_destination_address: acknowledger.m_axis_ack_destination_address,
            s_axis_ack_source_port: acknowledger.m_axis_ack_source_port,
            s_axis_ack_dscp: acknowledger.m_axis_ack_dscp,
            s_axis_ack_plane: acknowledger.m_axis_ack_plane,
            s_axis_ack_opcode: acknowledger.m_axis_ack_opcode,
            s_axis_ack_connection: acknowledger.m_axis_ack_connection,
            s_axis_ack_path: acknowledger.m_axis_ack_path,
            s_axis_ack_timestamp: acknowledger.m_axis_ack_timestamp,
            s_axis_ack_psn: acknowledger.m_axis_ack_psn,
            s_axis_ack_vector: acknowledger.m_axis_ack_vector,
            s_axis_ack_echo: acknowledger.m_axis_ack_echo,
            s_axis_ack_hold: acknowledger.m_axis_ack_hold,
            s_axis_ack_packets: acknowledger.m_axis_ack_packets,
            s_axis_ack_marked: acknowledger.m_axis_ack_marked,
            s_axis_ack_hint: acknowledger.m_axis_ack_hint,
            s_axis_ack_window_state: acknowledger.m_axis_ack_window_state,
            s_axis_ack_stream: acknowledger.m_axis_ack_stream,
            s_axis_ack_message: acknowledger.m_axis_ack_message,
            s_axis_ack_code: acknowledger.m_axis_ack_code,
            s_axis_payload_tvalid: fetching.m_axis_tvalid,
            s_axis_payload_tdata: fetching.m_axis_tdata,
            m_axis_tx_tready: inputs.m_axis_tx_tready,
        });
        self.retirement.clock(&retirement::Inputs {
            rst,
            now,
            s_axis_ack_tvalid: parser.m_axis_ack_tvalid,
            s_axis_ack_opcode: parser.m_axis_ack_opcode,
            s_axis_ack_connection: parser.m_axis_ack_connection,
            s_axis_ack_path: parser.m_axis_ack_path,
            s_axis_ack_psn: parser.m_axis_ack_psn,
            s_axis_ack_vector: parser.m_axis_ack_vector,
            s_axis_ack_echo: parser.m_axis_ack_echo,
            s_axis_ack_hold: parser.m_axis_ack_hold,
            s_axis_ack_marked: parser.m_axis_ack_marked,
            s_axis_ack_stream: parser.m_axis_ack_stream,
            s_axis_ack_message: parser.m_axis_ack_message,
            s_axis_ack_code: parser.m_axis_ack_code,
            s_axis_init_tvalid: configuration.m_axis_retirement_tvalid,
            s_axis_init_path: configuration.m_axis_retirement_path,
            s_axis_init_psn: configuration.m_axis_retirement_psn,
            m_axis_sack_tready: sack_tx_ready[2],
            m_axis_path_tready: paths_ready[2],
            m_axis_packet_tready: packets_ready[1],
            m_axis_read_tready: requests_ready[4],
            m_axis_count_tready: sent_teller.s_axis_count_tready,
            m_axis_error_tready: completion.s_axis_error_tready,
            sacked_valid: sack_tx_taken && sack_tx_op == sack_tx::op::ACKNOWLEDGE,
            sacked_status: sack_tx.m_axis_result_status,
            sacked_psn: sack_tx.m_axis_result_psn,
            sacked_acknowledged: sack_tx.m_axis_result_acknowledged,
            sacked_holes: sack_tx.m_axis_result_holes,
            sacked_lost_again: sack_tx.m_axis_result_lost_again,
            packet_valid: kept(FOR_RETIREMENT),
            packet_path: packets.m_axis_result_path,
            packet_stream: packets.m_axis_result_stream,
            packet_message: packets.m_axis_result_message,
            packet_packet: packets.m_axis_result_packet,
            read_valid: requested(request_table::op::READ, FOR_RETIREMENT),
            read_status: requests.m_axis_result_status,
            read_stream: requests.m_axis_result_stream,
            read_message: requests.m_axis_result_message,
            read_message_length: requests.m_axis_result_message_length,
            read_bytes: requests.m_axis_result_bytes,
        });
        self.completion.clock(&completion::Inputs {
            rst,
            s_axis_received_tvalid: received_teller.m_axis_told_tvalid,
            s_axis_received_stream: received_teller.m_axis_told_stream,
            s_axis_received_message: received_teller.m_axis_told_message,
            s_axis_received_length: received_teller.m_axis_told_length,
            s_axis_received_immediate: received_teller.m_axis_told_immediate,
            s_axis_received_kind: received_teller.m_axis_told_kind,
            s_axis_sent_tvalid: sent_teller.m_axis_told_tvalid,
            s_axis_sent_stream: sent_teller.m_axis_told_stream,
            s_axis_error_tvalid: retirement.m_axis_error_tvalid,
            s_axis_error_stream: retirement.m_axis_error_stream,
            s_axis_error_message: retirement.m_axis_error_message,
            s_axis_error_code: retirement.m_axis_error_code,
            m_axis_complete_tready: receives_ready[3],
            m_axis_release_tready: requests_ready[5],
            m_axis_stop_tready: schedule_ready[5],
            m_axis_cqe_tready: inputs.m_axis_cqe_tready,
            completed_valid: received_op(receive_table::op::COMPLETE),
            completed_identifier: receives.m_axis_result_identifier,
            released_valid: requests_taken && request_op == request_table::op::RELEASE,
            released_message: requests.m_axis_result_message,
            released_kind: requests.m_axis_result_kind,
            released_length: requests.m_axis_result_message_length,
            released_identifier: requests.m_axis_result_identifier,
            stopped_valid: scheduled(scheduler::op::STOP),
            stopped_newly: schedule.m_axis_result_stopped,
        });
        self.timer.clock(&timer::Inputs {
            rst,
            now,
            config_probe: inputs.config_probe,
            config_first_probe: inputs.config_first_probe,
            m_axis_path_tready: paths_ready[3],
            m_axis_sack_tready: sack_tx_ready[3],
            m_axis_probe_tready: transmitter.s_axis_probe_tready,
            m_axis_ack_tready: acks_ready[3],
            read_valid: paths_taken && path_op == path_table::op::READ,
            read_path: paths.m_axis_result_path,
            read_in_flight: paths.m_axis_result_in_flight,
            read_rtt_valid: paths.m_axis_result_rtt_valid,
            read_smoothed_rtt: paths.m_axis_result_smoothed_rtt,
            read_timeout: paths.m_axis_result_timeout,
            read_backoff: paths.m_axis_result_backoff,
            read_last_progress: paths.m_axis_result_last_progress,
        });
        self.counters.clock(&counters::Inputs {
            rst,
            parser_valid: parser.dropped,
            parser_reason: parser.drop_reason,
            receiver_valid: receiver.event_valid,
            receiver_event: receiver.event_code,
            retirement_valid: retirement.event_valid,
            retirement_event: retirement.event_code,
            received_refused: received_teller.refused,
            sent_refused: sent_teller.refused,
            request_refused: requests_taken
                && request_op == request_table::op::POST
                && requests.m_axis_result_status == request_table::status::REFUSED,
            receive_refused: received_op(receive_table::op::POST)
                && receives.m_axis_result_status == receive_table::status::REFUSED,
            timed_out: sack_tx_taken && sack_tx_op == sack_tx::op::TIMEOUT,
            sent_again: sack_tx_taken
                && sack_tx_op == sack_tx::op::RETRANSMIT
                && sack_tx.m_axis_result_status == sack_tx::status::DONE,
            probed: sack_tx_taken && sack_tx_op == sack_tx::op::PROBE,
            read_index: inputs.counter_index,
        });

        if rst {
            self.reset_funnels();
        }
    }
}

impl Nic {
    /// Names of the units in which something is left that an idle NIC must not have: packets in flight or outstanding, requests and messages, debts, tokens of jobs, entries of
    /// queues.
    pub fn leftovers(&self) -> Vec<&'static str> {
        let units = [
            (PathTable::NAME, self.paths.table.is_at_rest()),
            (SackTx::NAME, self.sack_tx.table.is_at_rest()),
            (RequestTable::NAME, self.requests.table.is_at_rest()),
            (ReceiveTable::NAME, self.receives.table.is_at_rest()),
            ("received messages", self.received.table.is_at_rest()),
            ("sent messages", self.sent.table.is_at_rest()),
            (AckTable::NAME, self.acks.table.is_at_rest()),
            (Scheduler::NAME, self.schedule.table.is_at_rest()),
            (RetryTable::NAME, self.retries.table.is_at_rest()),
            (FrameBuffer::NAME, self.frame_buffer.is_at_rest()),
            (Receiver::NAME, self.receiver.is_at_rest()),
            (Placement::NAME, self.placement.is_at_rest()),
            ("received teller", self.received_teller.is_at_rest()),
            ("sent teller", self.sent_teller.is_at_rest()),
            (Completion::NAME, self.completion.is_at_rest()),
            (Acknowledger::NAME, self.acknowledger.is_at_rest()),
            (Transmitter::NAME, self.transmitter.is_at_rest()),
            (Retirement::NAME, self.retirement.is_at_rest()),
        ];
        let left = units.into_iter().filter(|(_, at_rest)| !at_rest);
        left.map(|(name, _)| name).collect()
    }

    fn reset_funnels(&mut self) {
        self.connections.funnel = Funnel::new();
        self.keys.funnel = Funnel::new();
        self.receives.funnel = Funnel::new();
        self.sack_rx.funnel = Funnel::new();
        self.acks.funnel = Funnel::new();
        self.received.funnel = Funnel::new();
        self.sent.funnel = Funnel::new();
        self.requests.funnel = Funnel::new();
        self.packets.funnel = Funnel::new();
        self.paths.funnel = Funnel::new();
        self.sack_tx.funnel = Funnel::new();
        self.rates.funnel = Funnel::new();
        self.schedule.funnel = Funnel::new();
        self.retries.funnel = Funnel::new();
    }
}
