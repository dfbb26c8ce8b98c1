//! Model of `retirement`. Contract: [`crate::port::retirement`].

use super::Unit;
use crate::{
    Params,
    pipeline::Queue,
    port::{
        request_table, retirement,
        retirement::{Inputs, Outputs},
        sack_tx,
    },
    serial::Serial,
    wire::{NakCode, Opcode},
};

/// Clocks from the read of a path's word to *apply*.
const READ_CLOCKS: u8 = 2;

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Retirement {
    streams: u16,
    paths: u16,
    psns: Serial,
    timestamps: Serial,
    largest_rtt: u32,
    largest_count: u16,
    most_jobs: usize,
    words: Box<[Word]>,
    machine: Machine,
    jobs: usize,
    walking: usize,
    sacked: Queue<Sacked>,
    contexts: Queue<Context>,
    packet: Queue<Packet>,
    read: Queue<Count>,
    /// Path and PSN.
    init: Queue<(u16, u32)>,
    sack: Queue<Outputs>,
    path: Queue<Outputs>,
    /// Path and PSN.
    packet_op: Queue<(u16, u32)>,
    /// Stream, message, packet.
    read_op: Queue<(u16, u16, u32)>,
    count: Queue<Count>,
    /// Stream, message, code.
    error: Queue<(u16, u32, u8)>,
    event: Option<u8>,
    clearing: u32,
    /// An acknowledgement is accepted in this clock if one is offered.
    ready: bool,
    /// *walk* takes a step in this clock, decided in the one before.
    walks: bool,
    /// *count* happens in this clock, decided in the one before.
    counts: bool,
}

/// What is kept of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    retired: u32,
    marked: u16,
}

/// What `sack_tx` made of an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Sacked {
    status: u8,
    base: u32,
    acknowledged: u16,
    lost: u32,
}

/// What is kept of an acknowledgement meanwhile.
#[derive(Clone, Copy, Debug)]
struct Context {
    path: u16,
    marked: u16,
    rtt: u32,
    rtt_valid: bool,
}

/// What `packet_table` gave.
#[derive(Clone, Copy, Debug)]
struct Packet {
    path: u16,
    stream: u8,
    message: u16,
    packet: u32,
}

/// An acknowledged packet, if the request was still there.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    done: bool,
    stream: u16,
    message: u32,
    bytes: u16,
    length: u32,
}

/// Where the work on one acknowledgement stands.
#[derive(Clone, Copy, Debug)]
enum Machine {
    Idle,
    Read(u8, Sacked, Context),
    Apply(Sacked, Context),
    /// The PSN to retire next.
    Walk(u32, Sacked, Context),
}

impl Unit for Retirement {
    const NAME: &'static str = "retirement";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let jobs = params.jobs() as usize;
        Self {
            streams: params.streams as u16,
            paths: params.paths as u16,
            psns: Serial::new(params.psn_bits),
            timestamps: Serial::new(params.timestamp_bits),
            largest_rtt: (1 << params.rtt_bits) - 1,
            largest_count: ((1u32 << params.sack_count_bits()) - 1) as u16,
            most_jobs: jobs,
            words: vec![Word::default(); params.total_paths() as usize].into(),
            machine: Machine::Idle,
            jobs: 0,
            walking: 0,
            sacked: Queue::new(jobs),
            contexts: Queue::new(jobs),
            packet: Queue::new(jobs),
            read: Queue::new(jobs),
            init: Queue::new(2),
            sack: Queue::new(1),
            path: Queue::new(1),
            packet_op: Queue::new(2),
            read_op: Queue::new(2),
            count: Queue::new(1),
            error: Queue::new(1),
            event: None,
            clearing: params.total_paths(),
            ready: false,
            walks: false,
            counts: false,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let sack = self.sack.head().copied().unwrap_or_default();
        let path = self.path.head().copied().unwrap_or_default();
        let (packet_path, packet_psn) = self.packet_op.head().copied().unwrap_or_default();
        let (read_stream, read_message, read_packet) = self.read_op.head().copied().unwrap_or_default();
        let count = self.count.head().copied().unwrap_or_default();
        let (error_stream, error_message, error_code) = self.error.head().copied().unwrap_or_default();
        Outputs {
            s_axis_ack_tready: self.ready,
            s_axis_init_tready: self.init.has_room(),
            m_axis_path_tvalid: path.m_axis_path_tvalid,
            m_axis_path_path: path.m_axis_path_path,
            m_axis_path_acknowledged: path.m_axis_path_acknowledged,
            m_axis_path_lost: path.m_axis_path_lost,
            m_axis_path_marked: path.m_axis_path_marked,
            m_axis_path_rtt_valid: path.m_axis_path_rtt_valid,
            m_axis_path_rtt: path.m_axis_path_rtt,
            m_axis_path_now: path.m_axis_path_now,
            m_axis_packet_tvalid: !self.packet_op.is_empty(),
            m_axis_packet_path: packet_path,
            m_axis_packet_psn: packet_psn,
            m_axis_read_tvalid: !self.read_op.is_empty(),
            m_axis_read_stream: read_stream,
            m_axis_read_message: read_message,
            m_axis_read_packet: read_packet,
            m_axis_count_tvalid: !self.count.is_empty(),
            m_axis_count_stream: count.stream,
            m_axis_count_message: count.message,
            m_axis_count_bytes: count.bytes,
            m_axis_count_length: count.length,
            m_axis_error_tvalid: !self.error.is_empty(),
            m_axis_error_stream: error_stream,
            m_axis_error_message: error_message,
            m_axis_error_code: error_code,
            event_valid: self.event.is_some(),
            event_code: self.event.unwrap_or_default(),
            ..sack
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let admits = self.ready && inputs.s_axis_ack_tvalid;
        self.ready = self.admits() && !admits;
        let accepts_init = self.init.has_room() && inputs.s_axis_init_tvalid;
        let reads = !self.packet.is_empty() && self.read_op.has_room();
        let counts = self.counts;
        self.counts = !counts && !self.read.is_empty() && self.count.has_room();
        let path_room = self.path.has_room();
        let may_walk = self.packet_op.has_room() && self.walking < self.most_jobs;
        let clearing = self.clearing > 0;
        let has_init = !self.init.is_empty();
        let has_work = !self.sacked.is_empty() && !self.contexts.is_empty();

        self.clearing = self.clearing.saturating_sub(1);
        self.event = None;
        if inputs.m_axis_sack_tready {
            self.sack.take();
        }
        if inputs.m_axis_path_tready {
            self.path.take();
        }
        if inputs.m_axis_packet_tready {
            self.packet_op.take();
        }
        if inputs.m_axis_read_tready {
            self.read_op.take();
        }
        if inputs.m_axis_count_tready {
            self.count.take();
        }
        if inputs.m_axis_error_tready {
            self.error.take();
        }
        if counts && let Some(count) = self.read.take() {
            self.walking -= 1;
            if count.done {
                self.count.put(count);
            }
        }
        if reads && let Some(packet) = self.packet.take() {
            let stream = packet.path / self.paths * self.streams + u16::from(packet.stream);
            self.read_op.put((stream, packet.message, packet.packet));
        }
        if !clearing {
            self.machine = match self.machine {
                Machine::Idle => self.idle(has_init, has_work),
                Machine::Read(1, sacked, context) => Machine::Apply(sacked, context),
                Machine::Read(clocks, sacked, context) => Machine::Read(clocks - 1, sacked, context),
                Machine::Apply(sacked, context) if path_room => self.apply(sacked, context, inputs.now),
                Machine::Walk(retired, sacked, context) if self.walks => {
                    self.walks = false;
                    self.walk(retired, sacked, context)
                }
                Machine::Walk(retired, sacked, _) => {
                    self.walks = retired == sacked.base || may_walk;
                    self.machine
                }
                waiting @ Machine::Apply(..) => waiting,
            };
        }
        self.strobes(inputs);
        if accepts_init {
            self.init.put((inputs.s_axis_init_path, inputs.s_axis_init_psn));
        }
        if admits {
            self.admit(inputs);
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.clearing == 0
            && self.ready
            && self.event.is_none()
            && matches!(self.machine, Machine::Idle)
            && self.sacked.is_empty()
            && self.packet.is_empty()
            && self.read.is_empty()
            && self.init.is_empty()
            && self.sack.is_empty()
            && self.path.is_empty()
            && self.packet_op.is_empty()
            && self.read_op.is_empty()
            && self.count.is_empty()
            && self.error.is_empty()
    }
}

impl Retirement {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.walking == 0
            && self.jobs == 0
            && self.sacked.is_empty()
            && self.contexts.is_empty()
            && self.packet.is_empty()
            && self.read.is_empty()
            && self.count.is_empty()
            && self.error.is_empty()
    }

    fn reset(&mut self) {
        self.words.fill(Word::default());
        self.machine = Machine::Idle;
        self.jobs = 0;
        self.walking = 0;
        self.sacked.clear();
        self.contexts.clear();
        self.packet.clear();
        self.read.clear();
        self.init.clear();
        self.sack.clear();
        self.path.clear();
        self.packet_op.clear();
        self.read_op.clear();
        self.count.clear();
        self.error.clear();
        self.event = None;
        (self.ready, self.walks, self.counts) = (false, false, false);
        self.clearing = self.words.len() as u32;
    }

    #[inline]
    fn admits(&self) -> bool {
        self.clearing == 0 && self.jobs < self.most_jobs && self.sack.has_room() && self.error.has_room()
    }

    #[inline]
    fn admit(&mut self, inputs: &Inputs) {
        let connection = inputs.s_axis_ack_connection;
        if inputs.s_axis_ack_opcode == Opcode::Nak.value() {
            if inputs.s_axis_ack_code == NakCode::ReceiverNotReady.value() {
                self.event = Some(retirement::event::NOT_READY);
            } else {
                let stream = connection * self.streams + inputs.s_axis_ack_stream % self.streams;
                self.error
                    .put((stream, inputs.s_axis_ack_message, inputs.s_axis_ack_code));
            }
            return;
        }
        let path = connection * self.paths + u16::from(inputs.s_axis_ack_path);
        let hold = u32::from(inputs.s_axis_ack_hold);
        let sent = self.timestamps.add(inputs.s_axis_ack_echo, hold);
        let rtt = self.timestamps.distance(sent, inputs.now);
        self.contexts.put(Context {
            path,
            marked: inputs.s_axis_ack_marked,
            rtt: rtt.min(self.largest_rtt),
            rtt_valid: inputs.s_axis_ack_hold != u16::MAX && rtt < self.timestamps.half(),
        });
        self.sack.put(Outputs {
            m_axis_sack_tvalid: true,
            m_axis_sack_path: path,
            m_axis_sack_psn: inputs.s_axis_ack_psn,
            m_axis_sack_vector: inputs.s_axis_ack_vector,
            m_axis_sack_echo: inputs.s_axis_ack_echo,
            m_axis_sack_now: inputs.now,
            ..Outputs::default()
        });
        self.jobs += 1;
    }

    #[inline]
    fn strobes(&mut self, inputs: &Inputs) {
        if inputs.sacked_valid {
            self.sacked.put(Sacked {
                status: inputs.sacked_status,
                base: inputs.sacked_psn,
                acknowledged: inputs.sacked_acknowledged,
                lost: u32::from(inputs.sacked_holes) + u32::from(inputs.sacked_lost_again),
            });
        }
        if inputs.packet_valid {
            self.packet.put(Packet {
                path: inputs.packet_path,
                stream: inputs.packet_stream,
                message: inputs.packet_message,
                packet: inputs.packet_packet,
            });
        }
        if inputs.read_valid {
            self.read.put(Count {
                done: inputs.read_status == request_table::status::DONE,
                stream: inputs.read_stream,
                message: inputs.read_message,
                bytes: inputs.read_bytes,
                length: inputs.read_message_length,
            });
        }
    }

    #[inline]
    fn idle(&mut self, has_init: bool, has_work: bool) -> Machine {
        if has_init {
            if let Some((path, retired)) = self.init.take() {
                self.words[usize::from(path)] = Word { retired, marked: 0 };
            }
        } else if has_work && let (Some(sacked), Some(context)) = (self.sacked.take(), self.contexts.take()) {
            self.jobs -= 1;
            match sacked.status {
                sack_tx::status::DONE => return Machine::Read(READ_CLOCKS, sacked, context),
                sack_tx::status::STALE => self.event = Some(retirement::event::STALE),
                _ => self.event = Some(retirement::event::INVALID),
            }
        }
        Machine::Idle
    }

    #[inline]
    fn apply(&mut self, sacked: Sacked, context: Context, now: u32) -> Machine {
        let word = self.words[usize::from(context.path)];
        if sacked.acknowledged != 0 || sacked.lost != 0 {
            self.path.put(Outputs {
                m_axis_path_tvalid: true,
                m_axis_path_path: context.path,
                m_axis_path_acknowledged: sacked.acknowledged,
                m_axis_path_lost: sacked.lost.min(self.largest_count.into()) as u16,
                m_axis_path_marked: context.marked.wrapping_sub(word.marked).min(sacked.acknowledged),
                m_axis_path_rtt_valid: context.rtt_valid && sacked.acknowledged != 0,
                m_axis_path_rtt: context.rtt,
                m_axis_path_now: now,
                ..Outputs::default()
            });
        }
        Machine::Walk(word.retired, sacked, context)
    }

    #[inline]
    fn walk(&mut self, retired: u32, sacked: Sacked, context: Context) -> Machine {
        if retired == sacked.base {
            self.words[usize::from(context.path)] = Word {
                retired,
                marked: context.marked,
            };
            return Machine::Idle;
        }
        self.packet_op.put((context.path, retired));
        self.walking += 1;
        Machine::Walk(self.psns.add(retired, 1), sacked, context)
    }
}
