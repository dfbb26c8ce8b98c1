//! Model of `nic`. Contract: [`crate::port::nic`].
//!
//! Every output of every unit is a function of registers alone, so a clock is: what the outputs mean for each unit's inputs, all units' clocks, in any order, then all outputs.
//! Most units rest most of the time; such a unit is passed over.

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

/// A unit that is clocked only when that can change it.
#[derive(Clone, Debug)]
struct Part<U> {
    unit: U,
    /// It rests, as [`Unit::rests`] tells.
    rests: bool,
    /// It was clocked in the last clock.
    clocked: bool,
}

impl<U: Unit> Part<U> {
    fn new(params: &Params) -> Self {
        Self {
            unit: U::new(params),
            rests: false,
            clocked: true,
        }
    }

    /// The end of a clock. `wakes`: reset, and whether each stream that goes to the unit offers something and each of its strobes is high.
    #[inline]
    fn clock<const N: usize>(&mut self, wakes: [bool; N], inputs: impl FnOnce() -> U::Inputs) {
        self.clocked = !self.rests | any(wakes);
        if self.clocked {
            self.unit.clock(&inputs());
        }
    }

    /// The outputs after a clock, where they were those before it.
    #[inline]
    fn show(&mut self, outputs: &mut U::Outputs) {
        if self.clocked {
            *outputs = self.unit.outputs();
            self.rests = self.unit.rests();
        }
    }
}

/// A table and the funnel before it, clocked together as a [`Part`] is.
#[derive(Clone, Debug)]
struct Joined<U: Unit, const N: usize> {
    funnel: Funnel<U::Inputs, N>,
    table: U,
    /// The table rests and the funnel is empty.
    rests: bool,
    clocked: bool,
}

impl<U: Unit, const N: usize> Joined<U, N> {
    fn new(params: &Params) -> Self {
        Self {
            funnel: Funnel::new(),
            table: U::new(params),
            rests: false,
            clocked: true,
        }
    }

    /// The end of a clock: at which of the funnel's inputs something is `offered`, and what; what the table is given besides an operation, whose fields are zero when there
    /// is none; whether it takes one.
    #[inline]
    fn clock(
        &mut self,
        rst: bool,
        offered: [bool; N],
        entry: impl Fn(usize) -> U::Inputs,
        inputs: impl FnOnce(U::Inputs) -> U::Inputs,
        table_ready: bool,
    ) {
        let offers = any(offered);
        self.clocked = !self.rests | rst | offers;
        if !self.clocked {
            return;
        }
        let operation = self.funnel.head().copied().unwrap_or_default();
        self.table.clock(&inputs(operation));
        if rst {
            self.funnel = Funnel::new();
        } else if offers || !self.funnel.is_empty() {
            self.funnel.clock(offered, entry, table_ready);
        }
    }

    /// As [`Part::show`], and the funnel's `tready`.
    #[inline]
    fn show(&mut self, outputs: &mut U::Outputs, ready: &mut [bool; N]) {
        if self.clocked {
            *outputs = self.table.outputs();
            *ready = self.funnel.ready();
            self.rests = self.funnel.is_empty() && self.table.rests();
        }
    }
}

/// One of them holds. Without branches: they are seldom foreseeable.
#[inline]
fn any<const N: usize>(conditions: [bool; N]) -> bool {
    conditions
        .into_iter()
        .fold(false, |any, condition| any | condition)
}

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Nic {
    /// Streams of a connection.
    streams: u16,
    /// Paths of a connection.
    paths_each: u16,
    units: Units,
    shown: Shown,
}

/// Declares what the NIC is made of: tables, each with a name for its funnel's `tready` and the number of its inputs; then all other units.
macro_rules! units {
    (
        tables { $($table:ident, $ready:ident: $table_type:ty, $inputs:literal;)+ }
        others { $($unit:ident: $unit_type:ty;)+ }
    ) => {
        /// What the NIC is made of.
        #[derive(Clone, Debug)]
        struct Units {
            $($table: Joined<$table_type, $inputs>,)+
            $($unit: Part<$unit_type>,)+
        }

        /// The outputs of all units in the present clock, and each funnel's `tready`.
        #[derive(Clone, Debug, Default)]
        struct Shown {
            $($table: <$table_type as Unit>::Outputs, $ready: [bool; $inputs],)+
            $($unit: <$unit_type as Unit>::Outputs,)+
        }

        impl Units {
            fn new(params: &Params) -> Self {
                Self {
                    $($table: Joined::new(params),)+
                    $($unit: Part::new(params),)+
                }
            }

            /// The outputs after a clock, where they were those before it.
            #[inline]
            fn show(&mut self, shown: &mut Shown) {
                $(self.$table.show(&mut shown.$table, &mut shown.$ready);)+
                $(self.$unit.show(&mut shown.$unit);)+
            }
        }
    };
}

units! {
    tables {
        connections, connections_ready: ConnectionTable, 4;
        keys, keys_ready: KeyTable, 2;
        receives, receives_ready: ReceiveTable, 4;
        sack_rx, sack_rx_ready: SackRx, 3;
        acks, acks_ready: AckTable, 4;
        received, received_ready: MessageTable, 2;
        sent, sent_ready: MessageTable, 2;
        requests, requests_ready: RequestTable, 6;
        packets, packets_ready: PacketTable, 2;
        paths, paths_ready: PathTable, 4;
        sack_tx, sack_tx_ready: SackTx, 4;
        rates, rates_ready: RateLimiter, 2;
        schedule, schedule_ready: Scheduler, 6;
        retries, retries_ready: RetryTable, 2;
    }
    others {
        configuration: Configuration;
        parser: Parser;
        frame_buffer: FrameBuffer;
        receiver: Receiver;
        placement: Placement;
        placing: Align;
        received_teller: Teller;
        acknowledger: Acknowledger;
        transmitter: Transmitter;
        fetching: Align;
        deparser: Deparser;
        retirement: Retirement;
        sent_teller: Teller;
        completion: Completion;
        timer: Timer;
        counters: Counters;
    }
}

impl Unit for Nic {
    const NAME: &'static str = "nic";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let (mut units, mut shown) = (Units::new(params), Shown::default());
        units.show(&mut shown);
        Self {
            streams: params.streams as u16,
            paths_each: params.paths as u16,
            units,
            shown,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let Shown {
            deparser,
            completion,
            transmitter,
            placement,
            ..
        } = &self.shown;
        Outputs {
            s_axis_command_tready: self.shown.configuration.s_axis_command_tready,
            s_axis_wqe_tready: self.shown.requests_ready[1],
            s_axis_rq_tready: self.shown.receives_ready[1],
            s_axis_rx_tready: self.shown.parser.s_axis_rx_tready,
            s_axis_read_tready: self.shown.fetching.s_axis_tready,
            counter_value: self.shown.counters.value,
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
        let (streams, paths_each) = (self.streams, self.paths_each);

        let units = &mut self.units;
        let Shown {
            connections,
            connections_ready,
            keys,
            keys_ready,
            receives,
            receives_ready,
            sack_rx,
            sack_rx_ready,
            acks,
            acks_ready,
            received,
            received_ready,
            sent,
            sent_ready,
            requests,
            requests_ready,
            packets,
            packets_ready,
            paths,
            paths_ready,
            sack_tx,
            sack_tx_ready,
            rates,
            rates_ready,
            schedule,
            schedule_ready,
            retries,
            retries_ready,
            configuration,
            parser,
            frame_buffer,
            receiver,
            placement,
            placing,
            received_teller,
            acknowledger,
            transmitter,
            fetching,
            deparser,
            retirement,
            sent_teller,
            completion,
            timer,
            counters: _,
        } = &self.shown;

        // Results that go into a funnel too are taken when that has room for them.
        let requests_taken = requests.m_axis_result_tvalid && schedule_ready[1];
        let paths_taken = paths.m_axis_result_tvalid && schedule_ready[2];
        let rates_taken = rates.m_axis_event_tvalid && schedule_ready[3];
        let sack_tx_taken = sack_tx.m_axis_result_tvalid && retries_ready[1];
        let request_op = requests.m_axis_result_op;
        let path_op = paths.m_axis_result_op;
        let sack_tx_op = sack_tx.m_axis_result_op;
        let request_event = requests_taken
            && matches!(
                request_op,
                request_table::op::POST | request_table::op::INIT | request_table::op::NEXT
            );
        let path_event = paths_taken
            && matches!(
                path_op,
                path_table::op::ACKNOWLEDGE | path_table::op::TIMEOUT | path_table::op::CONFIGURE
            );
        let sack_event = sack_tx_taken
            && sack_tx.m_axis_result_pending
            && matches!(
                sack_tx_op,
                sack_tx::op::ACKNOWLEDGE | sack_tx::op::TIMEOUT | sack_tx::op::RETRANSMIT
            );
        let looked = |tag| {
            connections.m_axis_result_tvalid
                && connections.m_axis_result_op == connection_table::op::LOOKUP
                && connections.m_axis_result_tag == tag
        };
        let received_op = |code| receives.m_axis_result_tvalid && receives.m_axis_result_op == code;
        let requested = |code, tag| requests_taken && request_op == code && requests.m_axis_result_tag == tag;
        let kept = |tag| packets.m_axis_result_tvalid && packets.m_axis_result_tag == tag;
        let scheduled = |code| schedule.m_axis_result_tvalid && schedule.m_axis_result_op == code;
        let checked = keys.m_axis_result_tvalid && keys.m_axis_result_op == key_table::op::CHECK;
        let sacked_for_receiver = sack_rx.m_axis_rx_tvalid
            && matches!(sack_rx.m_axis_rx_op, sack_rx::op::PACKET | sack_rx::op::QUERY);
        let sacked_for_acknowledger =
            sack_rx.m_axis_rx_tvalid && sack_rx.m_axis_rx_op == sack_rx::op::ACKNOWLEDGE;
        let due = acks.m_axis_result_tvalid && acks.m_axis_result_due;
        let taken = acks.m_axis_result_tvalid && acks.m_axis_result_op == ack_table::op::TAKE;
        let ready = schedule.m_axis_result_tvalid && schedule.m_axis_result_ready;
        let retry = retries.m_axis_result_tvalid && retries.m_axis_result_ready;
        let routed = paths_taken && matches!(path_op, path_table::op::SELECT | path_table::op::ROUTE);
        let next = requests_taken && request_op == request_table::op::NEXT;
        let released = requests_taken && request_op == request_table::op::RELEASE;
        let acknowledged = sack_tx_taken && sack_tx_op == sack_tx::op::ACKNOWLEDGE;
        let sacked_for_transmitter = sack_tx_taken
            && matches!(
                sack_tx_op,
                sack_tx::op::SEND | sack_tx::op::RETRANSMIT | sack_tx::op::PROBE
            );

        // The tables.
        units.connections.clock(
            rst,
            [
                configuration.m_axis_connection_tvalid,
                receiver.m_axis_lookup_tvalid,
                acknowledger.m_axis_lookup_tvalid,
                transmitter.m_axis_lookup_tvalid,
            ],
            |input| match input {
                0 => connection_table::Inputs {
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
                },
                1 => connection_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: connection_table::op::LOOKUP,
                    s_axis_op_connection: receiver.m_axis_lookup_connection,
                    s_axis_op_plane: receiver.m_axis_lookup_plane,
                    s_axis_op_tag: RECEIVER,
                    ..Default::default()
                },
                2 => connection_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: connection_table::op::LOOKUP,
                    s_axis_op_connection: acknowledger.m_axis_lookup_connection,
                    s_axis_op_plane: acknowledger.m_axis_lookup_plane,
                    s_axis_op_tag: ACKNOWLEDGER,
                    ..Default::default()
                },
                _ => connection_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: connection_table::op::LOOKUP,
                    s_axis_op_connection: transmitter.m_axis_lookup_connection,
                    s_axis_op_plane: transmitter.m_axis_lookup_plane,
                    s_axis_op_tag: TRANSMITTER,
                    ..Default::default()
                },
            },
            |operation| connection_table::Inputs {
                rst,
                m_axis_result_tready: true,
                ..operation
            },
            connections.s_axis_op_tready,
        );
        units.keys.clock(
            rst,
            [configuration.m_axis_key_tvalid, receiver.m_axis_check_tvalid],
            |input| match input {
                0 => key_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: key_table::op::CONFIGURE,
                    s_axis_op_key: configuration.m_axis_key_key,
                    s_axis_op_address: configuration.m_axis_key_address,
                    s_axis_op_domain: configuration.m_axis_key_domain,
                    s_axis_op_length: configuration.m_axis_key_length,
                    s_axis_op_valid: configuration.m_axis_key_valid,
                    s_axis_op_write: configuration.m_axis_key_write,
                    ..Default::default()
                },
                _ => key_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: key_table::op::CHECK,
                    s_axis_op_key: receiver.m_axis_check_key,
                    s_axis_op_address: receiver.m_axis_check_address,
                    s_axis_op_bytes: receiver.m_axis_check_bytes,
                    s_axis_op_domain: receiver.m_axis_check_domain,
                    ..Default::default()
                },
            },
            |operation| key_table::Inputs {
                rst,
                m_axis_result_tready: true,
                ..operation
            },
            keys.s_axis_op_tready,
        );
        units.receives.clock(
            rst,
            [
                configuration.m_axis_receive_tvalid,
                inputs.s_axis_rq_tvalid,
                receiver.m_axis_match_tvalid,
                completion.m_axis_complete_tvalid,
            ],
            |input| match input {
                0 => receive_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: receive_table::op::INIT,
                    s_axis_op_stream: configuration.m_axis_receive_stream,
                    s_axis_op_number: configuration.m_axis_receive_number,
                    ..Default::default()
                },
                1 => receive_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: receive_table::op::POST,
                    s_axis_op_stream: inputs.s_axis_rq_stream,
                    s_axis_op_address: inputs.s_axis_rq_address,
                    s_axis_op_length: inputs.s_axis_rq_length,
                    s_axis_op_identifier: inputs.s_axis_rq_identifier,
                    ..Default::default()
                },
                2 => receive_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: receive_table::op::MATCH,
                    s_axis_op_stream: receiver.m_axis_match_stream,
                    s_axis_op_number: receiver.m_axis_match_number,
                    s_axis_op_offset: receiver.m_axis_match_offset,
                    s_axis_op_bytes: receiver.m_axis_match_bytes,
                    ..Default::default()
                },
                _ => receive_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: receive_table::op::COMPLETE,
                    s_axis_op_stream: completion.m_axis_complete_stream,
                    ..Default::default()
                },
            },
            |operation| receive_table::Inputs {
                rst,
                m_axis_result_tready: true,
                ..operation
            },
            receives.s_axis_op_tready,
        );
        units.sack_rx.clock(
            rst,
            [
                configuration.m_axis_sack_rx_tvalid,
                receiver.m_axis_sack_tvalid,
                acknowledger.m_axis_sack_tvalid,
            ],
            |input| match input {
                0 => sack_rx::Inputs {
                    s_axis_rx_tvalid: true,
                    s_axis_rx_op: sack_rx::op::INIT,
                    s_axis_rx_path: configuration.m_axis_sack_rx_path,
                    s_axis_rx_psn: configuration.m_axis_sack_rx_psn,
                    ..Default::default()
                },
                1 => sack_rx::Inputs {
                    s_axis_rx_tvalid: true,
                    s_axis_rx_op: receiver.m_axis_sack_op,
                    s_axis_rx_path: receiver.m_axis_sack_path,
                    s_axis_rx_psn: receiver.m_axis_sack_psn,
                    ..Default::default()
                },
                _ => sack_rx::Inputs {
                    s_axis_rx_tvalid: true,
                    s_axis_rx_op: sack_rx::op::ACKNOWLEDGE,
                    s_axis_rx_path: acknowledger.m_axis_sack_path,
                    ..Default::default()
                },
            },
            |operation| sack_rx::Inputs {
                rst,
                m_axis_rx_tready: true,
                ..operation
            },
            sack_rx.s_axis_rx_tready,
        );
        units.acks.clock(
            rst,
            [
                configuration.m_axis_ack_tvalid,
                receiver.m_axis_owe_tvalid,
                acknowledger.m_axis_take_tvalid,
                timer.m_axis_ack_tvalid,
            ],
            |input| match input {
                0 => ack_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: ack_table::op::INIT,
                    s_axis_op_path: configuration.m_axis_ack_path,
                    ..Default::default()
                },
                1 => ack_table::Inputs {
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
                },
                2 => ack_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: ack_table::op::TAKE,
                    s_axis_op_path: acknowledger.m_axis_take_path,
                    s_axis_op_now: acknowledger.m_axis_take_now,
                    ..Default::default()
                },
                _ => ack_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: ack_table::op::SCAN,
                    s_axis_op_path: timer.m_axis_ack_path,
                    s_axis_op_now: timer.m_axis_ack_now,
                    ..Default::default()
                },
            },
            |operation| ack_table::Inputs {
                rst,
                config_delay: inputs.config_delay,
                m_axis_result_tready: true,
                ..operation
            },
            acks.s_axis_op_tready,
        );
        units.received.clock(
            rst,
            [
                configuration.m_axis_received_tvalid,
                received_teller.m_axis_op_tvalid,
            ],
            |input| match input {
                0 => message_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: message_table::op::INIT,
                    s_axis_op_stream: configuration.m_axis_received_stream,
                    s_axis_op_message: configuration.m_axis_received_message,
                    ..Default::default()
                },
                _ => message_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: received_teller.m_axis_op_op,
                    s_axis_op_stream: received_teller.m_axis_op_stream,
                    s_axis_op_message: received_teller.m_axis_op_message,
                    s_axis_op_bytes: received_teller.m_axis_op_bytes,
                    s_axis_op_length: received_teller.m_axis_op_length,
                    s_axis_op_immediate: received_teller.m_axis_op_immediate,
                    s_axis_op_kind: received_teller.m_axis_op_kind,
                    ..Default::default()
                },
            },
            |operation| message_table::Inputs {
                rst,
                m_axis_result_tready: true,
                ..operation
            },
            received.s_axis_op_tready,
        );
        units.sent.clock(
            rst,
            [configuration.m_axis_sent_tvalid, sent_teller.m_axis_op_tvalid],
            |input| match input {
                0 => message_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: message_table::op::INIT,
                    s_axis_op_stream: configuration.m_axis_sent_stream,
                    s_axis_op_message: configuration.m_axis_sent_message,
                    ..Default::default()
                },
                _ => message_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: sent_teller.m_axis_op_op,
                    s_axis_op_stream: sent_teller.m_axis_op_stream,
                    s_axis_op_message: sent_teller.m_axis_op_message,
                    s_axis_op_bytes: sent_teller.m_axis_op_bytes,
                    s_axis_op_length: sent_teller.m_axis_op_length,
                    s_axis_op_immediate: sent_teller.m_axis_op_immediate,
                    s_axis_op_kind: sent_teller.m_axis_op_kind,
                    ..Default::default()
                },
            },
            |operation| message_table::Inputs {
                rst,
                m_axis_result_tready: true,
                ..operation
            },
            sent.s_axis_op_tready,
        );
        units.requests.clock(
            rst,
            [
                configuration.m_axis_request_tvalid,
                inputs.s_axis_wqe_tvalid,
                transmitter.m_axis_next_tvalid,
                transmitter.m_axis_read_tvalid,
                retirement.m_axis_read_tvalid,
                completion.m_axis_release_tvalid,
            ],
            |input| match input {
                0 => request_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: request_table::op::INIT,
                    s_axis_op_stream: configuration.m_axis_request_stream,
                    s_axis_op_message: configuration.m_axis_request_message,
                    s_axis_op_receive: configuration.m_axis_request_receive,
                    ..Default::default()
                },
                1 => request_table::Inputs {
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
                },
                2 => request_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: request_table::op::NEXT,
                    s_axis_op_stream: transmitter.m_axis_next_stream,
                    ..Default::default()
                },
                3 => request_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: request_table::op::READ,
                    s_axis_op_stream: transmitter.m_axis_read_stream,
                    s_axis_op_message: transmitter.m_axis_read_message.into(),
                    s_axis_op_packet: transmitter.m_axis_read_packet,
                    s_axis_op_tag: FOR_TRANSMITTER,
                    ..Default::default()
                },
                4 => request_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: request_table::op::READ,
                    s_axis_op_stream: retirement.m_axis_read_stream,
                    s_axis_op_message: retirement.m_axis_read_message.into(),
                    s_axis_op_packet: retirement.m_axis_read_packet,
                    s_axis_op_tag: FOR_RETIREMENT,
                    ..Default::default()
                },
                _ => request_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: request_table::op::RELEASE,
                    s_axis_op_stream: completion.m_axis_release_stream,
                    ..Default::default()
                },
            },
            |operation| request_table::Inputs {
                rst,
                m_axis_result_tready: schedule_ready[1],
                ..operation
            },
            requests.s_axis_op_tready,
        );
        units.packets.clock(
            rst,
            [transmitter.m_axis_packet_tvalid, retirement.m_axis_packet_tvalid],
            |input| match input {
                0 => packet_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: transmitter.m_axis_packet_op,
                    s_axis_op_path: transmitter.m_axis_packet_path,
                    s_axis_op_psn: transmitter.m_axis_packet_psn,
                    s_axis_op_tag: FOR_TRANSMITTER,
                    s_axis_op_stream: transmitter.m_axis_packet_stream,
                    s_axis_op_message: transmitter.m_axis_packet_message,
                    s_axis_op_packet: transmitter.m_axis_packet_packet,
                    ..Default::default()
                },
                _ => packet_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: packet_table::op::READ,
                    s_axis_op_path: retirement.m_axis_packet_path,
                    s_axis_op_psn: retirement.m_axis_packet_psn,
                    s_axis_op_tag: FOR_RETIREMENT,
                    ..Default::default()
                },
            },
            |operation| packet_table::Inputs {
                rst,
                m_axis_result_tready: true,
                ..operation
            },
            packets.s_axis_op_tready,
        );
        units.paths.clock(
            rst,
            [
                configuration.m_axis_path_tvalid,
                transmitter.m_axis_path_tvalid,
                retirement.m_axis_path_tvalid,
                timer.m_axis_path_tvalid,
            ],
            |input| match input {
                0 => path_table::Inputs {
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
                },
                1 => path_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: transmitter.m_axis_path_op,
                    s_axis_op_path: transmitter.m_axis_path_path,
                    s_axis_op_now: transmitter.m_axis_path_now,
                    ..Default::default()
                },
                2 => path_table::Inputs {
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
                },
                _ => path_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: timer.m_axis_path_op,
                    s_axis_op_path: timer.m_axis_path_path,
                    s_axis_op_now: timer.m_axis_path_now,
                    ..Default::default()
                },
            },
            |operation| path_table::Inputs {
                rst,
                m_axis_result_tready: schedule_ready[2],
                ..operation
            },
            paths.s_axis_op_tready,
        );
        units.sack_tx.clock(
            rst,
            [
                configuration.m_axis_sack_tx_tvalid,
                transmitter.m_axis_sack_tvalid,
                retirement.m_axis_sack_tvalid,
                timer.m_axis_sack_tvalid,
            ],
            |input| match input {
                0 => sack_tx::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: sack_tx::op::INIT,
                    s_axis_op_path: configuration.m_axis_sack_tx_path,
                    s_axis_op_psn: configuration.m_axis_sack_tx_psn,
                    s_axis_op_now: now,
                    ..Default::default()
                },
                1 => sack_tx::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: transmitter.m_axis_sack_op,
                    s_axis_op_path: transmitter.m_axis_sack_path,
                    s_axis_op_now: transmitter.m_axis_sack_now,
                    ..Default::default()
                },
                2 => sack_tx::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: sack_tx::op::ACKNOWLEDGE,
                    s_axis_op_path: retirement.m_axis_sack_path,
                    s_axis_op_psn: retirement.m_axis_sack_psn,
                    s_axis_op_vector: retirement.m_axis_sack_vector,
                    s_axis_op_echo: retirement.m_axis_sack_echo,
                    s_axis_op_now: retirement.m_axis_sack_now,
                    ..Default::default()
                },
                _ => sack_tx::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: sack_tx::op::TIMEOUT,
                    s_axis_op_path: timer.m_axis_sack_path,
                    s_axis_op_now: timer.m_axis_sack_now,
                    ..Default::default()
                },
            },
            |operation| sack_tx::Inputs {
                rst,
                m_axis_result_tready: retries_ready[1],
                ..operation
            },
            sack_tx.s_axis_op_tready,
        );
        units.rates.clock(
            rst,
            [configuration.m_axis_rate_tvalid, transmitter.m_axis_charge_tvalid],
            |input| match input {
                0 => rate_limiter::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: rate_limiter::op::CONFIGURE,
                    s_axis_op_connection: configuration.m_axis_rate_connection,
                    s_axis_op_rate: configuration.m_axis_rate_rate,
                    s_axis_op_burst: configuration.m_axis_rate_burst,
                    ..Default::default()
                },
                _ => rate_limiter::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: rate_limiter::op::CHARGE,
                    s_axis_op_connection: transmitter.m_axis_charge_connection,
                    s_axis_op_bytes: transmitter.m_axis_charge_bytes,
                    ..Default::default()
                },
            },
            |operation| rate_limiter::Inputs {
                rst,
                now,
                m_axis_event_tready: schedule_ready[3],
                ..operation
            },
            rates.s_axis_op_tready,
        );
        units.schedule.clock(
            rst,
            [
                configuration.m_axis_schedule_tvalid,
                request_event,
                path_event,
                rates_taken,
                transmitter.m_axis_schedule_tvalid,
                completion.m_axis_stop_tvalid,
            ],
            |input| match input {
                0 => scheduler::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: scheduler::op::START,
                    s_axis_op_connection: configuration.m_axis_schedule_connection,
                    s_axis_op_flag: configuration.m_axis_schedule_flag,
                    ..Default::default()
                },
                1 => scheduler::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: if request_op == request_table::op::NEXT {
                        scheduler::op::SENT
                    } else {
                        scheduler::op::UNSENT
                    },
                    s_axis_op_connection: requests.m_axis_result_stream / streams,
                    s_axis_op_stream: (requests.m_axis_result_stream % streams) as u8,
                    s_axis_op_flag: requests.m_axis_result_unsent,
                    ..Default::default()
                },
                2 => scheduler::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: scheduler::op::OPEN,
                    s_axis_op_connection: paths.m_axis_result_path / paths_each,
                    ..Default::default()
                },
                3 => scheduler::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: scheduler::op::RATE,
                    s_axis_op_connection: rates.m_axis_event_connection,
                    s_axis_op_flag: rates.m_axis_event_eligible,
                    ..Default::default()
                },
                4 => scheduler::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: transmitter.m_axis_schedule_op,
                    s_axis_op_connection: transmitter.m_axis_schedule_connection,
                    ..Default::default()
                },
                _ => scheduler::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: scheduler::op::STOP,
                    s_axis_op_connection: completion.m_axis_stop_connection,
                    ..Default::default()
                },
            },
            |operation| scheduler::Inputs {
                rst,
                m_axis_result_tready: true,
                ..operation
            },
            schedule.s_axis_op_tready,
        );
        units.retries.clock(
            rst,
            [transmitter.m_axis_take_tvalid, sack_event],
            |input| match input {
                0 => retry_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: retry_table::op::TAKE,
                    s_axis_op_path: transmitter.m_axis_take_path,
                    ..Default::default()
                },
                _ => retry_table::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: retry_table::op::MARK,
                    s_axis_op_path: sack_tx.m_axis_result_path,
                    ..Default::default()
                },
            },
            |operation| retry_table::Inputs {
                rst,
                m_axis_result_tready: true,
                ..operation
            },
            retries.s_axis_op_tready,
        );

        // What joins them.
        units
            .configuration
            .clock([rst, inputs.s_axis_command_tvalid], || configuration::Inputs {
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
        units
            .parser
            .clock([rst, configuration.local_write, inputs.s_axis_rx_tvalid], || {
                parser::Inputs {
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
                }
            });
        units
            .frame_buffer
            .clock([rst, parser.m_axis_payload_tvalid], || frame_buffer::Inputs {
                rst,
                s_axis_tvalid: parser.m_axis_payload_tvalid,
                s_axis_tdata: parser.m_axis_payload_tdata,
                s_axis_tlast: parser.m_axis_payload_tlast,
                s_axis_keep: parser.m_axis_payload_keep,
                m_axis_tready: placement.s_axis_payload_tready,
            });
        units.receiver.clock(
            [
                rst,
                parser.m_axis_data_tvalid,
                looked(RECEIVER),
                checked,
                received_op(receive_table::op::MATCH),
                sacked_for_receiver,
            ],
            || receiver::Inputs {
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
                checked_valid: checked,
                checked_status: keys.m_axis_result_status,
                matched_valid: received_op(receive_table::op::MATCH),
                matched_status: receives.m_axis_result_status,
                matched_address: receives.m_axis_result_address,
                sacked_valid: sacked_for_receiver,
                sacked_verdict: sack_rx.m_axis_rx_verdict,
                sacked_new_hole: sack_rx.m_axis_rx_new_hole,
                sacked_filled: sack_rx.m_axis_rx_filled,
            },
        );
        units.placement.clock(
            [
                rst,
                receiver.m_axis_place_tvalid,
                frame_buffer.m_axis_tvalid,
                placing.m_axis_tvalid,
            ],
            || placement::Inputs {
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
            },
        );
        units.placing.clock(
            [rst, placement.m_axis_command_tvalid, placement.m_axis_beat_tvalid],
            || align::Inputs {
                rst,
                s_axis_command_tvalid: placement.m_axis_command_tvalid,
                s_axis_command_from: placement.m_axis_command_from,
                s_axis_command_to: placement.m_axis_command_to,
                s_axis_command_bytes: placement.m_axis_command_bytes,
                s_axis_tvalid: placement.m_axis_beat_tvalid,
                s_axis_tdata: placement.m_axis_beat_tdata,
                s_axis_tlast: placement.m_axis_beat_tlast,
                m_axis_tready: placement.s_axis_aligned_tready,
            },
        );
        units.received_teller.clock(
            [rst, placement.m_axis_count_tvalid, received.m_axis_result_tvalid],
            || teller::Inputs {
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
            },
        );
        units.sent_teller.clock(
            [rst, retirement.m_axis_count_tvalid, sent.m_axis_result_tvalid],
            || teller::Inputs {
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
            },
        );
        units.acknowledger.clock(
            [
                rst,
                receiver.m_axis_nak_tvalid,
                due,
                taken,
                looked(ACKNOWLEDGER),
                sacked_for_acknowledger,
            ],
            || acknowledger::Inputs {
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
                due_valid: due,
                due_path: acks.m_axis_result_path,
                taken_valid: taken,
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
                sacked_valid: sacked_for_acknowledger,
                sacked_base: sack_rx.m_axis_rx_base,
                sacked_vector: sack_rx.m_axis_rx_vector,
            },
        );
        units.transmitter.clock(
            [
                rst,
                timer.m_axis_probe_tvalid,
                ready,
                retry,
                scheduled(scheduler::op::TAKE),
                routed,
                sacked_for_transmitter,
                next,
                kept(FOR_TRANSMITTER),
                requested(request_table::op::READ, FOR_TRANSMITTER),
                looked(TRANSMITTER),
            ],
            || transmitter::Inputs {
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
                ready_valid: ready,
                ready_connection: schedule.m_axis_result_connection,
                retry_valid: retry,
                retry_path: retries.m_axis_result_path,
                scheduled_valid: scheduled(scheduler::op::TAKE),
                scheduled_taken: schedule.m_axis_result_taken,
                scheduled_connection: schedule.m_axis_result_connection,
                scheduled_stream: schedule.m_axis_result_stream,
                routed_valid: routed,
                routed_found: paths.m_axis_result_found,
                routed_path: paths.m_axis_result_path,
                routed_plane: paths.m_axis_result_plane,
                routed_source_port: paths.m_axis_result_source_port,
                sacked_valid: sacked_for_transmitter,
                sacked_status: sack_tx.m_axis_result_status,
                sacked_psn: sack_tx.m_axis_result_psn,
                next_valid: next,
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
            },
        );
        units.fetching.clock(
            [rst, transmitter.m_axis_align_tvalid, inputs.s_axis_read_tvalid],
            || align::Inputs {
                rst,
                s_axis_command_tvalid: transmitter.m_axis_align_tvalid,
                s_axis_command_from: transmitter.m_axis_align_from,
                s_axis_command_to: transmitter.m_axis_align_to,
                s_axis_command_bytes: transmitter.m_axis_align_bytes,
                s_axis_tvalid: inputs.s_axis_read_tvalid,
                s_axis_tdata: inputs.s_axis_read_tdata,
                s_axis_tlast: inputs.s_axis_read_tlast,
                m_axis_tready: deparser.s_axis_payload_tready,
            },
        );
        units.deparser.clock(
            [
                rst,
                transmitter.m_axis_data_tvalid,
                acknowledger.m_axis_ack_tvalid,
                fetching.m_axis_tvalid,
            ],
            || deparser::Inputs {
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
            },
        );
        units.retirement.clock(
            [
                rst,
                parser.m_axis_ack_tvalid,
                configuration.m_axis_retirement_tvalid,
                acknowledged,
                kept(FOR_RETIREMENT),
                requested(request_table::op::READ, FOR_RETIREMENT),
            ],
            || retirement::Inputs {
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
                sacked_valid: acknowledged,
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
            },
        );
        units.completion.clock(
            [
                rst,
                received_teller.m_axis_told_tvalid,
                sent_teller.m_axis_told_tvalid,
                retirement.m_axis_error_tvalid,
                received_op(receive_table::op::COMPLETE),
                released,
                scheduled(scheduler::op::STOP),
            ],
            || completion::Inputs {
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
                released_valid: released,
                released_message: requests.m_axis_result_message,
                released_kind: requests.m_axis_result_kind,
                released_length: requests.m_axis_result_message_length,
                released_identifier: requests.m_axis_result_identifier,
                stopped_valid: scheduled(scheduler::op::STOP),
                stopped_newly: schedule.m_axis_result_stopped,
            },
        );
        units.timer.clock([rst], || timer::Inputs {
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
        units.counters.clock([rst], || counters::Inputs {
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

        units.show(&mut self.shown);
    }
}

impl Nic {
    /// Names of the units in which something is left that an idle NIC must not have: packets in flight or outstanding, requests and messages, debts, tokens of jobs, entries of
    /// queues.
    pub fn leftovers(&self) -> Vec<&'static str> {
        let units = &self.units;
        let parts = [
            (PathTable::NAME, units.paths.table.is_at_rest()),
            (SackTx::NAME, units.sack_tx.table.is_at_rest()),
            (RequestTable::NAME, units.requests.table.is_at_rest()),
            (ReceiveTable::NAME, units.receives.table.is_at_rest()),
            ("received messages", units.received.table.is_at_rest()),
            ("sent messages", units.sent.table.is_at_rest()),
            (AckTable::NAME, units.acks.table.is_at_rest()),
            (Scheduler::NAME, units.schedule.table.is_at_rest()),
            (RetryTable::NAME, units.retries.table.is_at_rest()),
            (FrameBuffer::NAME, units.frame_buffer.unit.is_at_rest()),
            (Receiver::NAME, units.receiver.unit.is_at_rest()),
            (Placement::NAME, units.placement.unit.is_at_rest()),
            ("received teller", units.received_teller.unit.is_at_rest()),
            ("sent teller", units.sent_teller.unit.is_at_rest()),
            (Completion::NAME, units.completion.unit.is_at_rest()),
            (Acknowledger::NAME, units.acknowledger.unit.is_at_rest()),
            (Transmitter::NAME, units.transmitter.unit.is_at_rest()),
            (Retirement::NAME, units.retirement.unit.is_at_rest()),
        ];
        let left = parts.into_iter().filter(|(_, at_rest)| !at_rest);
        left.map(|(name, _)| name).collect()
    }
}
