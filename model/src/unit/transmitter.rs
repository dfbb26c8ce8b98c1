//! Model of `transmitter`. Contract: [`crate::port::transmitter`].

use super::Unit;
use crate::{
    Params,
    pipeline::Queue,
    port::{
        packet_table,
        parser::ICRC_BYTES,
        request_table, sack_tx, scheduler,
        transmitter::{HEADER_BYTES, Inputs, Outputs, PROBE_BYTES, path_op},
    },
    wire::Opcode,
};

/// The bit of a kind of message that tells a Send from a Write.
const SEND: u8 = 2;

/// Model of the unit. Queues towards others hold entries with the fields of their stream, all others zero; those of strobes hold the inputs.
#[derive(Clone, Debug)]
pub struct Transmitter {
    streams: u16,
    paths: u16,
    mtu_bytes: u32,
    lanes: u64,
    slot_mask: u32,
    most_jobs: usize,
    jobs: usize,
    /// The last entry was one of [`Kind::Again`].
    again: bool,
    decided: Decided,
    /// Connections.
    ready: Queue<u16>,
    /// Paths.
    retry: Queue<u16>,
    probe: Queue<u16>,
    scheduled: Queue<Scheduled>,
    routed: Queue<Routed>,
    /// Status and PSN.
    sacked: Queue<(u8, u32)>,
    next: Queue<Next>,
    packet: Queue<Packet>,
    read: Queue<Request>,
    looked: Queue<Looked>,
    to_route: Queue<Job>,
    to_send: Queue<Job>,
    to_pack: Queue<Job>,
    to_read: Queue<Job>,
    to_look: Queue<Job>,
    to_finish: Queue<(Job, Request)>,
    schedule: Queue<Outputs>,
    take: Queue<Outputs>,
    path: Queue<Outputs>,
    sack: Queue<Outputs>,
    next_op: Queue<Outputs>,
    packet_op: Queue<Outputs>,
    read_op: Queue<Outputs>,
    lookup: Queue<Outputs>,
    charge: Queue<Outputs>,
    data: Queue<Outputs>,
    fetch: Queue<Outputs>,
    align: Queue<Outputs>,
}

/// What a packet is sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    New,
    Again,
    Probe,
}

/// A packet on its way; what is not known yet is zero.
#[derive(Clone, Copy, Debug)]
struct Job {
    kind: Kind,
    /// Stream within the connection.
    stream: u8,
    path: u16,
    plane: u8,
    source_port: u16,
    timestamp: u32,
    psn: u32,
}

/// What `scheduler` gave.
#[derive(Clone, Copy, Debug)]
struct Scheduled {
    taken: bool,
    connection: u16,
    stream: u8,
}

/// What `path_table` gave.
#[derive(Clone, Copy, Debug)]
struct Routed {
    found: bool,
    path: u16,
    plane: u8,
    source_port: u16,
}

/// What `request_table` gave for NEXT.
#[derive(Clone, Copy, Debug)]
struct Next {
    done: bool,
    message: u32,
    offset: u32,
}

/// What `packet_table` gave.
#[derive(Clone, Copy, Debug)]
struct Packet {
    stream: u8,
    message: u16,
    packet: u32,
}

/// What `request_table` gave for READ.
#[derive(Clone, Copy, Debug, Default)]
struct Request {
    done: bool,
    message: u32,
    kind: u8,
    message_length: u32,
    offset: u32,
    bytes: u16,
    immediate: u32,
    key: u32,
    receive: u32,
    local: u64,
    remote: u64,
}

/// What `connection_table` gave.
#[derive(Clone, Copy, Debug)]
struct Looked {
    known: bool,
    peer: u32,
    dscp: u8,
    destination_mac: u64,
    destination_address: u32,
    source_mac: u64,
    source_address: u32,
}

/// What rule *route* does with its job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Route {
    #[default]
    Stays,
    Blocks,
    Goes,
}

/// What rule *sent* does with its job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sent {
    #[default]
    Stays,
    Blocks,
    Ends,
    Goes,
}

/// Rules that happen in this clock, decided in the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Decided {
    route: Route,
    sent: Sent,
    takes: bool,
    drops: bool,
    enter: Option<Kind>,
    packs: bool,
    reads: bool,
    looks: bool,
    finishes: bool,
}

impl Decided {
    /// One of those happens that are decided together: *take*, *enter*, *route*, *sent*.
    #[inline]
    fn moves(&self) -> bool {
        self.route != Route::Stays
            || self.sent != Sent::Stays
            || self.takes
            || self.drops
            || self.enter.is_some()
    }
}

impl Unit for Transmitter {
    const NAME: &'static str = "transmitter";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let jobs = params.jobs() as usize;
        Self {
            streams: params.streams as u16,
            paths: params.paths as u16,
            mtu_bytes: params.mtu_bytes,
            lanes: params.lanes().into(),
            slot_mask: (1 << params.message_slot_bits()) - 1,
            most_jobs: jobs,
            jobs: 0,
            again: false,
            decided: Decided::default(),
            ready: Queue::new(params.connections as usize),
            retry: Queue::new(params.total_paths() as usize),
            probe: Queue::new(2),
            align: Queue::new(jobs),
            scheduled: Queue::new(jobs),
            routed: Queue::new(jobs),
            sacked: Queue::new(jobs),
            next: Queue::new(jobs),
            packet: Queue::new(jobs),
            read: Queue::new(jobs),
            looked: Queue::new(jobs),
            to_route: Queue::new(jobs),
            to_send: Queue::new(jobs),
            to_pack: Queue::new(jobs),
            to_read: Queue::new(jobs),
            to_look: Queue::new(jobs),
            to_finish: Queue::new(jobs),
            schedule: Queue::new(2),
            take: Queue::new(2),
            path: Queue::new(2),
            sack: Queue::new(2),
            next_op: Queue::new(2),
            packet_op: Queue::new(2),
            read_op: Queue::new(2),
            lookup: Queue::new(2),
            charge: Queue::new(2),
            data: Queue::new(1),
            fetch: Queue::new(1),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let schedule = self.schedule.head().copied().unwrap_or_default();
        let take = self.take.head().copied().unwrap_or_default();
        let path = self.path.head().copied().unwrap_or_default();
        let sack = self.sack.head().copied().unwrap_or_default();
        let next = self.next_op.head().copied().unwrap_or_default();
        let packet = self.packet_op.head().copied().unwrap_or_default();
        let read = self.read_op.head().copied().unwrap_or_default();
        let lookup = self.lookup.head().copied().unwrap_or_default();
        let charge = self.charge.head().copied().unwrap_or_default();
        let data = self.data.head().copied().unwrap_or_default();
        let fetch = self.fetch.head().copied().unwrap_or_default();
        let align = self.align.head().copied().unwrap_or_default();
        Outputs {
            s_axis_probe_tready: self.probe.has_room(),
            m_axis_schedule_tvalid: schedule.m_axis_schedule_tvalid,
            m_axis_schedule_op: schedule.m_axis_schedule_op,
            m_axis_schedule_connection: schedule.m_axis_schedule_connection,
            m_axis_take_tvalid: take.m_axis_take_tvalid,
            m_axis_take_path: take.m_axis_take_path,
            m_axis_path_tvalid: path.m_axis_path_tvalid,
            m_axis_path_op: path.m_axis_path_op,
            m_axis_path_path: path.m_axis_path_path,
            m_axis_path_now: path.m_axis_path_now,
            m_axis_sack_tvalid: sack.m_axis_sack_tvalid,
            m_axis_sack_op: sack.m_axis_sack_op,
            m_axis_sack_path: sack.m_axis_sack_path,
            m_axis_sack_now: sack.m_axis_sack_now,
            m_axis_next_tvalid: next.m_axis_next_tvalid,
            m_axis_next_stream: next.m_axis_next_stream,
            m_axis_packet_tvalid: packet.m_axis_packet_tvalid,
            m_axis_packet_op: packet.m_axis_packet_op,
            m_axis_packet_path: packet.m_axis_packet_path,
            m_axis_packet_psn: packet.m_axis_packet_psn,
            m_axis_packet_stream: packet.m_axis_packet_stream,
            m_axis_packet_message: packet.m_axis_packet_message,
            m_axis_packet_packet: packet.m_axis_packet_packet,
            m_axis_read_tvalid: read.m_axis_read_tvalid,
            m_axis_read_stream: read.m_axis_read_stream,
            m_axis_read_message: read.m_axis_read_message,
            m_axis_read_packet: read.m_axis_read_packet,
            m_axis_lookup_tvalid: lookup.m_axis_lookup_tvalid,
            m_axis_lookup_connection: lookup.m_axis_lookup_connection,
            m_axis_lookup_plane: lookup.m_axis_lookup_plane,
            m_axis_charge_tvalid: charge.m_axis_charge_tvalid,
            m_axis_charge_connection: charge.m_axis_charge_connection,
            m_axis_charge_bytes: charge.m_axis_charge_bytes,
            m_axis_data_tvalid: data.m_axis_data_tvalid,
            m_axis_data_destination_mac: data.m_axis_data_destination_mac,
            m_axis_data_source_mac: data.m_axis_data_source_mac,
            m_axis_data_source_address: data.m_axis_data_source_address,
            m_axis_data_destination_address: data.m_axis_data_destination_address,
            m_axis_data_source_port: data.m_axis_data_source_port,
            m_axis_data_dscp: data.m_axis_data_dscp,
            m_axis_data_plane: data.m_axis_data_plane,
            m_axis_data_opcode: data.m_axis_data_opcode,
            m_axis_data_flags: data.m_axis_data_flags,
            m_axis_data_connection: data.m_axis_data_connection,
            m_axis_data_path: data.m_axis_data_path,
            m_axis_data_psn: data.m_axis_data_psn,
            m_axis_data_timestamp: data.m_axis_data_timestamp,
            m_axis_data_payload_bytes: data.m_axis_data_payload_bytes,
            m_axis_data_stream: data.m_axis_data_stream,
            m_axis_data_message: data.m_axis_data_message,
            m_axis_data_message_length: data.m_axis_data_message_length,
            m_axis_data_offset: data.m_axis_data_offset,
            m_axis_data_immediate: data.m_axis_data_immediate,
            m_axis_data_key: data.m_axis_data_key,
            m_axis_data_address: data.m_axis_data_address,
            m_axis_data_receive: data.m_axis_data_receive,
            m_axis_fetch_tvalid: fetch.m_axis_fetch_tvalid,
            m_axis_fetch_address: fetch.m_axis_fetch_address,
            m_axis_fetch_bytes: fetch.m_axis_fetch_bytes,
            m_axis_align_tvalid: align.m_axis_align_tvalid,
            m_axis_align_from: align.m_axis_align_from,
            m_axis_align_to: align.m_axis_align_to,
            m_axis_align_bytes: align.m_axis_align_bytes,
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let accepts_probe = self.probe.has_room() && inputs.s_axis_probe_tvalid;
        let now = self.decided;
        let next = self.decide();
        self.outputs_taken(inputs);
        if now.finishes {
            self.finish();
        }
        if now.looks {
            self.look();
        }
        if now.reads {
            self.read();
        }
        if now.packs {
            self.pack();
        }
        if now.sent != Sent::Stays {
            self.send(now.sent, inputs.now);
        }
        if now.route != Route::Stays {
            self.route(now.route, inputs.now);
        }
        if now.drops {
            self.scheduled.take();
            self.jobs -= 1;
        }
        if let Some(kind) = now.enter {
            self.enter(kind, inputs.now);
        }
        if now.takes
            && let Some(connection) = self.ready.take()
        {
            self.schedule(scheduler::op::TAKE, connection);
            self.jobs += 1;
        }
        self.decided = next;
        self.strobes(inputs);
        if accepts_probe {
            self.probe.put(inputs.s_axis_probe_path);
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.ready.is_empty()
            && self.retry.is_empty()
            && self.probe.is_empty()
            && self.scheduled.is_empty()
            && self.routed.is_empty()
            && self.sacked.is_empty()
            && self.looked.is_empty()
            && self.to_pack.is_empty()
            && self.to_read.is_empty()
            && self.to_look.is_empty()
            && self.schedule.is_empty()
            && self.take.is_empty()
            && self.path.is_empty()
            && self.sack.is_empty()
            && self.next_op.is_empty()
            && self.packet_op.is_empty()
            && self.read_op.is_empty()
            && self.lookup.is_empty()
            && self.charge.is_empty()
            && self.data.is_empty()
            && self.fetch.is_empty()
            && self.align.is_empty()
    }
}

impl Transmitter {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.jobs == 0
            && self.ready.is_empty()
            && self.retry.is_empty()
            && self.probe.is_empty()
            && self.to_route.is_empty()
            && self.to_send.is_empty()
            && self.to_pack.is_empty()
            && self.to_read.is_empty()
            && self.to_look.is_empty()
            && self.to_finish.is_empty()
            && self.data.is_empty()
            && self.fetch.is_empty()
            && self.align.is_empty()
            && self.charge.is_empty()
    }

    fn reset(&mut self) {
        self.jobs = 0;
        self.again = false;
        self.decided = Decided::default();
        self.ready.clear();
        self.retry.clear();
        self.scheduled.clear();
        self.routed.clear();
        self.sacked.clear();
        self.next.clear();
        self.packet.clear();
        self.read.clear();
        self.looked.clear();
        self.to_route.clear();
        self.to_send.clear();
        self.to_pack.clear();
        self.to_read.clear();
        self.to_look.clear();
        self.to_finish.clear();
        self.probe.clear();
        self.schedule.clear();
        self.take.clear();
        self.path.clear();
        self.sack.clear();
        self.next_op.clear();
        self.packet_op.clear();
        self.read_op.clear();
        self.lookup.clear();
        self.charge.clear();
        self.data.clear();
        self.fetch.clear();
        self.align.clear();
    }

    #[inline]
    fn outputs_taken(&mut self, inputs: &Inputs) {
        if inputs.m_axis_schedule_tready {
            self.schedule.take();
        }
        if inputs.m_axis_take_tready {
            self.take.take();
        }
        if inputs.m_axis_path_tready {
            self.path.take();
        }
        if inputs.m_axis_sack_tready {
            self.sack.take();
        }
        if inputs.m_axis_next_tready {
            self.next_op.take();
        }
        if inputs.m_axis_packet_tready {
            self.packet_op.take();
        }
        if inputs.m_axis_read_tready {
            self.read_op.take();
        }
        if inputs.m_axis_lookup_tready {
            self.lookup.take();
        }
        if inputs.m_axis_charge_tready {
            self.charge.take();
        }
        if inputs.m_axis_data_tready {
            self.data.take();
        }
        if inputs.m_axis_fetch_tready {
            self.fetch.take();
        }
        if inputs.m_axis_align_tready {
            self.align.take();
        }
    }

    #[inline]
    fn strobes(&mut self, inputs: &Inputs) {
        if inputs.ready_valid {
            self.ready.put(inputs.ready_connection);
        }
        if inputs.retry_valid {
            self.retry.put(inputs.retry_path);
        }
        if inputs.scheduled_valid {
            self.scheduled.put(Scheduled {
                taken: inputs.scheduled_taken,
                connection: inputs.scheduled_connection,
                stream: inputs.scheduled_stream,
            });
        }
        if inputs.routed_valid {
            self.routed.put(Routed {
                found: inputs.routed_found,
                path: inputs.routed_path,
                plane: inputs.routed_plane,
                source_port: inputs.routed_source_port,
            });
        }
        if inputs.sacked_valid {
            self.sacked.put((inputs.sacked_status, inputs.sacked_psn));
        }
        if inputs.next_valid {
            self.next.put(Next {
                done: inputs.next_status == request_table::status::DONE,
                message: inputs.next_message,
                offset: inputs.next_offset,
            });
        }
        if inputs.packet_valid {
            self.packet.put(Packet {
                stream: inputs.packet_stream,
                message: inputs.packet_message,
                packet: inputs.packet_packet,
            });
        }
        if inputs.read_valid {
            self.read.put(Request {
                done: inputs.read_status == request_table::status::DONE,
                message: inputs.read_message,
                kind: inputs.read_kind,
                message_length: inputs.read_message_length,
                offset: inputs.read_offset,
                bytes: inputs.read_bytes,
                immediate: inputs.read_immediate,
                key: inputs.read_key,
                receive: inputs.read_receive,
                local: inputs.read_local,
                remote: inputs.read_remote,
            });
        }
        if inputs.looked_valid {
            self.looked.put(Looked {
                known: inputs.looked_known,
                peer: inputs.looked_peer,
                dscp: inputs.looked_dscp,
                destination_mac: inputs.looked_destination_mac,
                destination_address: inputs.looked_destination_address,
                source_mac: inputs.looked_source_mac,
                source_address: inputs.looked_source_address,
            });
        }
    }

    #[inline]
    fn schedule(&mut self, op: u8, connection: u16) {
        self.schedule.put(Outputs {
            m_axis_schedule_tvalid: true,
            m_axis_schedule_op: op,
            m_axis_schedule_connection: connection,
            ..Outputs::default()
        });
    }

    #[inline]
    fn path_operation(&mut self, op: u8, path: u16, now: u32) {
        self.path.put(Outputs {
            m_axis_path_tvalid: true,
            m_axis_path_op: op,
            m_axis_path_path: path,
            m_axis_path_now: now,
            ..Outputs::default()
        });
    }

    /// What is decided in this clock, of the state at its start.
    #[inline]
    fn decide(&self) -> Decided {
        let packs = self
            .to_pack
            .head()
            .is_some_and(|job| job.kind != Kind::New || !self.next.is_empty())
            && self.packet_op.has_room();
        let reads = self
            .to_read
            .head()
            .is_some_and(|job| job.kind == Kind::Probe || !self.packet.is_empty())
            && self.read_op.has_room();
        let looks = self
            .to_look
            .head()
            .is_some_and(|job| job.kind == Kind::Probe || !self.read.is_empty())
            && self.lookup.has_room();
        let finishes = !self.to_finish.is_empty()
            && !self.looked.is_empty()
            && self.data.has_room()
            && self.fetch.has_room()
            && self.align.has_room()
            && self.charge.has_room();
        let decided = Decided {
            packs: packs && !self.decided.packs,
            reads: reads && !self.decided.reads,
            looks: looks && !self.decided.looks,
            finishes: finishes && !self.decided.finishes,
            ..Decided::default()
        };
        if self.decided.moves() {
            return decided;
        }
        let may_begin = self.jobs + 2 <= self.most_jobs;
        let route = self.decide_route();
        let sent = if route == Route::Blocks {
            Sent::Stays
        } else {
            self.decide_sent()
        };
        let blocks = route == Route::Blocks || sent == Sent::Blocks;
        let puts_send = sent == Sent::Goes && self.to_send.head().is_some_and(|job| job.kind != Kind::Probe);
        let scheduled = self.scheduled.head().map(|scheduled| scheduled.taken);
        Decided {
            route,
            sent,
            takes: !self.ready.is_empty() && may_begin && self.schedule.has_room() && !blocks,
            drops: scheduled == Some(false),
            enter: if puts_send || !self.path.has_room() {
                None
            } else {
                self.decide_enter(may_begin, scheduled == Some(true))
            },
            ..decided
        }
    }

    /// What enters, if it can. `has_new`: `scheduled` has an entry that is taken.
    #[inline]
    fn decide_enter(&self, may_begin: bool, has_new: bool) -> Option<Kind> {
        if may_begin && !self.probe.is_empty() {
            return Some(Kind::Probe);
        }
        if may_begin && !self.retry.is_empty() && self.take.has_room() && !(self.again && has_new) {
            return Some(Kind::Again);
        }
        has_new.then_some(Kind::New)
    }

    #[inline]
    fn enter(&mut self, kind: Kind, now: u32) {
        let (op, path, stream) = match kind {
            Kind::Probe => {
                let Some(path) = self.probe.take() else { return };
                self.jobs += 1;
                (path_op::ROUTE, path, 0)
            }
            Kind::Again => {
                let Some(path) = self.retry.take() else { return };
                self.jobs += 1;
                self.again = true;
                self.take.put(Outputs {
                    m_axis_take_tvalid: true,
                    m_axis_take_path: path,
                    ..Outputs::default()
                });
                (path_op::ROUTE, path, 0)
            }
            Kind::New => {
                let Some(scheduled) = self.scheduled.take() else {
                    return;
                };
                self.again = false;
                (
                    path_op::SELECT,
                    scheduled.connection * self.paths,
                    scheduled.stream,
                )
            }
        };
        self.path_operation(op, path, now);
        self.to_route.put(Job {
            kind,
            stream,
            path: 0,
            plane: 0,
            source_port: 0,
            timestamp: 0,
            psn: 0,
        });
    }

    #[inline]
    fn decide_route(&self) -> Route {
        let (Some(routed), Some(job)) = (self.routed.head(), self.to_route.head()) else {
            return Route::Stays;
        };
        let not_found = job.kind == Kind::New && !routed.found;
        if !self.sack.has_room() || not_found && !self.schedule.has_room() {
            Route::Stays
        } else if not_found {
            Route::Blocks
        } else {
            Route::Goes
        }
    }

    #[inline]
    fn route(&mut self, route: Route, now: u32) {
        let (Some(routed), Some(job)) = (self.routed.take(), self.to_route.take()) else {
            return;
        };
        if route == Route::Blocks {
            self.schedule(scheduler::op::BLOCK, routed.path / self.paths);
            self.jobs -= 1;
            return;
        }
        let op = match job.kind {
            Kind::New => sack_tx::op::SEND,
            Kind::Again => sack_tx::op::RETRANSMIT,
            Kind::Probe => sack_tx::op::PROBE,
        };
        self.sack.put(Outputs {
            m_axis_sack_tvalid: true,
            m_axis_sack_op: op,
            m_axis_sack_path: routed.path,
            m_axis_sack_now: now,
            ..Outputs::default()
        });
        self.to_send.put(Job {
            path: routed.path,
            plane: routed.plane,
            source_port: routed.source_port,
            timestamp: now,
            ..job
        });
    }

    /// What *sent* does with the heads, if *route* does not block.
    #[inline]
    fn decide_sent(&self) -> Sent {
        let (Some((status, _)), Some(job)) = (self.sacked.head(), self.to_send.head()) else {
            return Sent::Stays;
        };
        if !self.path.has_room() || !self.next_op.has_room() {
            return Sent::Stays;
        }
        match job.kind {
            Kind::New if !self.schedule.has_room() => Sent::Stays,
            Kind::New if *status == sack_tx::status::FULL => Sent::Blocks,
            Kind::Again if *status == sack_tx::status::NONE => Sent::Ends,
            _ => Sent::Goes,
        }
    }

    #[inline]
    fn send(&mut self, sent: Sent, now: u32) {
        let (Some((_, psn)), Some(job)) = (self.sacked.take(), self.to_send.take()) else {
            return;
        };
        if sent == Sent::Blocks {
            self.schedule(scheduler::op::BLOCK, job.path / self.paths);
        }
        if sent != Sent::Goes {
            self.jobs -= 1;
            return;
        }
        if job.kind != Kind::Probe {
            self.path_operation(path_op::SEND, job.path, now);
        }
        if job.kind == Kind::New {
            self.next_op.put(Outputs {
                m_axis_next_tvalid: true,
                m_axis_next_stream: self.stream(&job),
                ..Outputs::default()
            });
        }
        self.to_pack.put(Job { psn, ..job });
    }

    /// The index of a job's stream among all streams.
    #[inline]
    fn stream(&self, job: &Job) -> u16 {
        job.path / self.paths * self.streams + u16::from(job.stream)
    }

    #[inline]
    fn pack(&mut self) {
        let Some(job) = self.to_pack.take() else { return };
        let mut operation = Outputs {
            m_axis_packet_tvalid: true,
            m_axis_packet_op: packet_table::op::READ,
            m_axis_packet_path: job.path,
            m_axis_packet_psn: job.psn,
            ..Outputs::default()
        };
        if job.kind == Kind::New {
            let Some(next) = self.next.take().filter(|next| next.done) else {
                self.jobs -= 1;
                return;
            };
            operation.m_axis_packet_op = packet_table::op::WRITE;
            operation.m_axis_packet_stream = job.stream;
            operation.m_axis_packet_message = (next.message & self.slot_mask) as u16;
            operation.m_axis_packet_packet = next.offset / self.mtu_bytes;
        }
        if job.kind != Kind::Probe {
            self.packet_op.put(operation);
        }
        self.to_read.put(job);
    }

    #[inline]
    fn read(&mut self) {
        let Some(mut job) = self.to_read.take() else {
            return;
        };
        if job.kind != Kind::Probe
            && let Some(packet) = self.packet.take()
        {
            job.stream = packet.stream;
            self.read_op.put(Outputs {
                m_axis_read_tvalid: true,
                m_axis_read_stream: self.stream(&job),
                m_axis_read_message: packet.message,
                m_axis_read_packet: packet.packet,
                ..Outputs::default()
            });
        }
        self.to_look.put(job);
    }

    #[inline]
    fn look(&mut self) {
        let Some(job) = self.to_look.take() else { return };
        let mut request = Request::default();
        if job.kind != Kind::Probe {
            let Some(read) = self.read.take().filter(|read| read.done) else {
                self.jobs -= 1;
                return;
            };
            request = read;
        }
        self.lookup.put(Outputs {
            m_axis_lookup_tvalid: true,
            m_axis_lookup_connection: job.path / self.paths,
            m_axis_lookup_plane: job.plane,
            ..Outputs::default()
        });
        self.to_finish.put((job, request));
    }

    #[inline]
    fn finish(&mut self) {
        let (Some((job, request)), Some(looked)) = (self.to_finish.take(), self.looked.take()) else {
            return;
        };
        self.jobs -= 1;
        if !looked.known {
            return;
        }
        let probe = job.kind == Kind::Probe;
        let header = Outputs {
            m_axis_data_tvalid: true,
            m_axis_data_destination_mac: looked.destination_mac,
            m_axis_data_source_mac: looked.source_mac,
            m_axis_data_source_address: looked.source_address,
            m_axis_data_destination_address: looked.destination_address,
            m_axis_data_source_port: job.source_port,
            m_axis_data_dscp: looked.dscp,
            m_axis_data_plane: job.plane,
            m_axis_data_opcode: Opcode::Probe.value(),
            m_axis_data_connection: looked.peer,
            m_axis_data_path: (job.path % self.paths) as u8,
            m_axis_data_psn: job.psn,
            m_axis_data_timestamp: job.timestamp,
            ..Outputs::default()
        };
        let send = request.kind & SEND != 0;
        self.data.put(if probe {
            header
        } else {
            Outputs {
                m_axis_data_opcode: Opcode::Write.value() + request.kind,
                m_axis_data_payload_bytes: request.bytes,
                m_axis_data_stream: job.stream.into(),
                m_axis_data_message: request.message,
                m_axis_data_message_length: request.message_length,
                m_axis_data_offset: request.offset,
                m_axis_data_immediate: request.immediate,
                m_axis_data_key: if send { 0 } else { request.key },
                m_axis_data_address: if send { 0 } else { request.remote },
                m_axis_data_receive: if send { request.receive } else { 0 },
                ..header
            }
        });
        if request.bytes != 0 {
            self.fetch.put(Outputs {
                m_axis_fetch_tvalid: true,
                m_axis_fetch_address: request.local,
                m_axis_fetch_bytes: request.bytes,
                ..Outputs::default()
            });
            self.align.put(Outputs {
                m_axis_align_tvalid: true,
                m_axis_align_from: (request.local % self.lanes) as u8,
                m_axis_align_to: (u64::from(HEADER_BYTES) % self.lanes) as u8,
                m_axis_align_bytes: request.bytes,
                ..Outputs::default()
            });
        }
        let headers = if probe { PROBE_BYTES } else { HEADER_BYTES };
        self.charge.put(Outputs {
            m_axis_charge_tvalid: true,
            m_axis_charge_connection: job.path / self.paths,
            m_axis_charge_bytes: (headers + ICRC_BYTES) as u16 + request.bytes,
            ..Outputs::default()
        });
    }
}
