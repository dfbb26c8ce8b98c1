//! Stimulus of `transmitter`: connections and paths that may send, each at most once in its queue, probes, and the tables between a job's rules, each of which answers in order and after a while.
//!
//! A connection may send anew once its TAKE was in vain, its BLOCK was taken or its packet was cut; a path once its TAKE was taken. What a table says is drawn when it answers, and agrees with what it was
//! asked: paths are of the connection, packets within their messages. What the contract does not look at is garbage. The unit's queues and jobs are kept here too, by the contract's rules and without their
//! fields, for the bins, which tell of the clock of a decision.

use crate::{
    answers::Answers,
    bins::Bins,
    stimulus::{Flow, Offer, Random, Resets, Spray, Stimulus, low_bits, random},
};
use metaroce_model::{
    Params,
    port::{
        packet_table, request_table, sack_tx, scheduler,
        transmitter::{Inputs, Outputs, path_op},
    },
    unit::transmitter::Transmitter as Unit,
};
use rand::RngExt;
use std::collections::VecDeque;

/// Bins of *take* and *enter*.
const ENTER_BINS: [&str; 29] = [
    "take",
    "take waits for jobs alone",
    "take gives way to the BLOCK of route",
    "take gives way to the BLOCK of sent",
    "take in two clocks together",
    "take and probe at once",
    "take and retry at once",
    "a new packet enters while most jobs are under way",
    "nothing to take: the job ends",
    "nothing to take: beside a probe",
    "nothing to take: beside a path with something pending",
    "nothing to take while path is full",
    "probe",
    "probe before a path with something pending and a new packet",
    "probe waits for path alone",
    "probe waits for jobs alone",
    "probe gives way to SEND",
    "retry",
    "retry after retry",
    "retry before a new packet",
    "retry waits for path alone",
    "retry waits for jobs alone",
    "retry waits for take alone",
    "retry gives way to SEND",
    "retry gives way to a new packet after retry",
    "new",
    "new waits for path alone",
    "new gives way to SEND",
    "new after retry after new",
];

/// Bins of *route* and *sent*.
const SEND_BINS: [&str; 25] = [
    "route: new",
    "route: again",
    "route: probe",
    "route: no path",
    "route waits for its answer",
    "route waits for sack",
    "route: goes though schedule is full",
    "route: no path in two clocks together",
    "sent: new",
    "sent: again",
    "sent: probe",
    "sent: FULL",
    "sent: nothing is pending",
    "sent waits for its answer",
    "sent waits for path alone",
    "sent waits for next alone",
    "sent: probe waits for path or next",
    "sent: again goes though schedule is full",
    "sent: probe goes though schedule is full",
    "sent: FULL waits for the BLOCK of route",
    "sent: new waits for the BLOCK of route",
    "sent: again waits for the BLOCK of route",
    "sent: probe waits for the BLOCK of route",
    "sent: FULL in two clocks together",
    "sent: SEND in two clocks together",
];

/// Bins of *pack*, *read* and *look*.
const LOOK_BINS: [&str; 26] = [
    "pack: new",
    "pack: again",
    "pack: probe",
    "pack: nothing to cut",
    "pack: new waits for its answer",
    "pack: new waits for packet alone",
    "pack: nothing to cut, waits for packet alone",
    "pack: again waits for packet",
    "pack: probe waits for packet",
    "pack: another goes before a new packet whose answer is there",
    "read: new",
    "read: again",
    "read: probe",
    "read waits for its answer",
    "read waits for its operation alone",
    "read: probe waits for the operation of another",
    "read: probe goes before a packet whose answer is there",
    "look: new",
    "look: again",
    "look: probe",
    "look: the message was released",
    "look waits for its answer",
    "look waits for lookup alone",
    "look: the message was released, waits for lookup alone",
    "look: probe waits for lookup",
    "look: probe goes before a packet whose answer is there",
];

/// Bins of *finish*.
const FINISH_BINS: [&str; 25] = [
    "finish: Write",
    "finish: Write with immediate",
    "finish: Send",
    "finish: Send with immediate",
    "finish: probe",
    "finish: packet sent again",
    "finish: connection not known",
    "finish: connection of a probe not known",
    "finish: no bytes",
    "finish: one byte",
    "finish: the most bytes",
    "finish: first packet of several",
    "finish: last packet of several",
    "finish: packet that ends with the longest message",
    "finish waits for its answer",
    "finish waits for data alone",
    "finish waits for fetch alone",
    "finish waits for align alone",
    "finish waits for charge alone",
    "finish: probe waits for align alone",
    "finish in the clock after one of a connection not known",
    "finish in the clock after data was taken",
    "finish in the clock after fetch was taken",
    "fetched from the first lane",
    "fetched from the last lane",
];

/// Bins of jobs and queues.
const QUEUE_BINS: [&str; 31] = [
    "all jobs are under way",
    "all jobs but one are under way",
    "two jobs end at once",
    "three jobs end at once",
    "four jobs end at once",
    "two jobs begin and two end at once",
    "every rule but take in one clock",
    "every connection waits in ready",
    "every path waits in retry",
    "probe waits with every place full",
    "probe held until it is accepted",
    "as many as can wait in scheduled",
    "nearly all jobs wait in to_route for an answer",
    "nearly all jobs wait in to_route with an answer",
    "nearly all jobs wait in to_send for an answer",
    "nearly all jobs wait in to_send with an answer",
    "nearly all jobs wait in to_pack",
    "nearly all jobs wait in to_read for an answer",
    "nearly all jobs wait in to_read with an answer",
    "nearly all jobs wait in to_look for an answer",
    "nearly all jobs wait in to_look with an answer",
    "nearly all jobs wait in to_finish for an answer",
    "nearly all jobs wait in to_finish with an answer",
    "as many new packets as can wait for next",
    "most transfers wait in align",
    "as many connections taken as can be without an answer",
    "all tables but that of NEXT answer at once",
    "first job after all are gone",
    "reset while nearly all jobs are under way",
    "reset after an entry of a path with something pending",
    "reset while paths and connections wait",
];

/// Each is held back; each owes an answer at a reset.
const OUTPUTS: [&str; 12] = [
    "schedule", "take", "path", "sack", "next", "packet", "read", "lookup", "charge", "data", "fetch",
    "align",
];
const TABLES: [&str; 7] = [
    "scheduler",
    "path_table",
    "sack_tx",
    "request_table (NEXT)",
    "packet_table",
    "request_table (READ)",
    "connection_table",
];

/// Bins of what waits for a full `schedule`. With two connections nobody does: an entry of `schedule` is of a connection that has no other job and does not wait in `ready`.
const SCHEDULE_BINS: [&str; 4] = [
    "take waits for schedule alone",
    "route: no path, waits for schedule alone",
    "sent: new waits for schedule alone",
    "sent: FULL waits for schedule alone",
];

/// What goes to `sack_tx`, for bins of every pair on one path.
const KINDS: [&str; 3] = ["new", "again", "probe"];

const SEND: usize = ENTER_BINS.len();
const LOOK: usize = SEND + SEND_BINS.len();
const FINISH: usize = LOOK + LOOK_BINS.len();
const QUEUE: usize = FINISH + FINISH_BINS.len();
const HELD: usize = QUEUE + QUEUE_BINS.len();
const OWED: usize = HELD + OUTPUTS.len();
const PAIR: usize = OWED + TABLES.len();
const SCHEDULE: usize = PAIR + KINDS.len() * KINDS.len();

/// Indices of [`OUTPUTS`].
mod output {
    pub const SCHEDULE: usize = 0;
    pub const TAKE: usize = 1;
    pub const PATH: usize = 2;
    pub const SACK: usize = 3;
    pub const NEXT: usize = 4;
    pub const PACKET: usize = 5;
    pub const READ: usize = 6;
    pub const LOOKUP: usize = 7;
    pub const CHARGE: usize = 8;
    pub const DATA: usize = 9;
    pub const FETCH: usize = 10;
    pub const ALIGN: usize = 11;
}

/// An output that is stuck is taken once in so many clocks.
const STUCK_CLOCKS: u32 = 256;

/// Drives the unit.
pub struct Transmitter {
    random: Random,
    resets: Resets,
    ready: Flow,
    retry: Flow,
    probe: Offer,
    /// When each of [`TABLES`] answers.
    answers: [Answers; 7],
    /// Back-pressure of each of [`OUTPUTS`].
    takes: [Flow; 12],
    widths: Widths,
    paths: Spray,
    mixture: Mixture,
    /// In this phase no output is held back but this one of [`OUTPUTS`], taken once in [`STUCK_CLOCKS`]; a number beyond them: none is.
    stuck: Option<usize>,
    /// In this phase all connections and paths may send, in turn.
    all: bool,
    /// Clocks left of the phase.
    left: u32,
    now: u32,
    next_probe: u16,
    asked: Asked,
    unit: State,
    last: Last,
    bins: Bins,
}

/// Widths of fields, and what they number.
#[derive(Clone, Copy, Debug)]
struct Widths {
    connection: u32,
    path: u32,
    stream: u32,
    plane: u32,
    psn: u32,
    timestamp: u32,
    slot: u32,
    packet: u32,
    payload: u32,
    mtu: u32,
    lanes: u64,
    connections: usize,
    paths: usize,
    jobs: usize,
}

/// Who waits outside, and what the tables were asked and have not answered.
#[derive(Clone, Debug, Default)]
struct Asked {
    /// Connections and paths that are in their queue, or were taken from it and have not come back.
    connections: Vec<bool>,
    paths: Vec<bool>,
    take: VecDeque<u16>,
    /// Operation and path.
    route: VecDeque<(u8, u16)>,
    /// Operation.
    sack: VecDeque<u8>,
    /// Connection.
    next: VecDeque<u16>,
    /// The descriptor to be kept, if it is one.
    packet: VecDeque<Option<(u8, u16, u32)>>,
    /// Message and packet.
    read: VecDeque<(u16, u32)>,
    /// The last job given to `sack_tx`: path and kind.
    last: Option<(u16, Kind)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    New,
    Again,
    Probe,
}

/// What is known of a packet's request: what tells its bins.
#[derive(Clone, Copy, Debug, Default)]
struct Request {
    done: bool,
    kind: u8,
    bytes: u32,
    offset: u32,
    length: u32,
    local: u64,
}

/// What the unit's queues hold.
#[derive(Clone, Debug, Default)]
struct State {
    jobs: usize,
    again: bool,
    ready: usize,
    retry: usize,
    probe: usize,
    /// Answers: taken, found, not in vain, cut.
    scheduled: VecDeque<bool>,
    routed: VecDeque<bool>,
    sacked: VecDeque<bool>,
    next: VecDeque<bool>,
    packet: usize,
    read: VecDeque<Request>,
    /// Known.
    looked: VecDeque<bool>,
    to_route: VecDeque<Kind>,
    to_send: VecDeque<Kind>,
    to_pack: VecDeque<Kind>,
    to_read: VecDeque<Kind>,
    to_look: VecDeque<Kind>,
    to_finish: VecDeque<(Kind, Request)>,
    /// Entries of each of [`OUTPUTS`].
    outputs: [usize; 12],
    /// What happens in this clock.
    decided: Rules,
}

/// What is decided in a clock, and happens in the next: each rule with its head.
#[derive(Clone, Copy, Debug, Default)]
struct Rules {
    takes: bool,
    dropped: bool,
    probes: bool,
    retries: bool,
    news: bool,
    /// Of a new packet: whether a path was found.
    routes: Option<(Kind, bool)>,
    /// Whether the job goes on.
    sends: Option<(Kind, bool)>,
    packs: Option<(Kind, bool)>,
    reads: Option<Kind>,
    looks: Option<(Kind, bool)>,
    finishes: Option<(Kind, Request, bool)>,
}

/// What was decided last.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    /// Those that are decided together, when one of them could be.
    rules: Rules,
    /// *finish* of the clock before.
    finished: Option<(Kind, Request, bool)>,
    /// The outputs of these names were offered.
    data: bool,
    fetch: bool,
    /// The last two entries that were no probes, latest first.
    entered: [Option<Kind>; 2],
    /// There were jobs since the last reset.
    worked: bool,
}

/// Chances in 16ths in a phase.
#[derive(Clone, Copy, Debug)]
struct Mixture {
    ready: u32,
    retry: u32,
    probe: u32,
    /// Of each table's answers, those that end a job.
    ends: u32,
    /// Messages without bytes, and packets of a byte or so.
    short: u32,
}

const MIXTURES: [Mixture; 7] = [
    // New packets.
    Mixture {
        ready: 16,
        retry: 1,
        probe: 1,
        ends: 0,
        short: 2,
    },
    // As much as there can be of everything.
    Mixture {
        ready: 16,
        retry: 16,
        probe: 4,
        ends: 1,
        short: 8,
    },
    // Losses.
    Mixture {
        ready: 4,
        retry: 16,
        probe: 0,
        ends: 1,
        short: 0,
    },
    // Probes.
    Mixture {
        ready: 1,
        retry: 2,
        probe: 16,
        ends: 1,
        short: 4,
    },
    // Jobs that end early.
    Mixture {
        ready: 16,
        retry: 8,
        probe: 1,
        ends: 8,
        short: 4,
    },
    Mixture {
        ready: 16,
        retry: 2,
        probe: 2,
        ends: 14,
        short: 4,
    },
    // Little.
    Mixture {
        ready: 1,
        retry: 1,
        probe: 1,
        ends: 2,
        short: 4,
    },
];

impl Stimulus<Unit> for Transmitter {
    fn new(params: &Params, seed: u64) -> Self {
        let connections = params.connections as usize;
        let paths = params.total_paths() as usize;
        let names = [&ENTER_BINS[..], &SEND_BINS, &LOOK_BINS, &FINISH_BINS, &QUEUE_BINS].concat();
        let waits = SCHEDULE_BINS.into_iter().filter(|_| connections > 2);
        let pairs = KINDS
            .iter()
            .flat_map(|second| KINDS.map(|first| format!("{second} after {first} of its path")));
        Self {
            random: random(seed),
            resets: Resets::new(2000),
            ready: Flow::new(400),
            retry: Flow::new(400),
            probe: Offer::new(400),
            answers: std::array::from_fn(|_| Answers::new(500)),
            takes: std::array::from_fn(|_| Flow::new(500)),
            widths: Widths {
                connection: params.connection_bits(),
                path: params.path_bits(),
                stream: params.stream_bits(),
                plane: params.plane_bits(),
                psn: params.psn_bits,
                timestamp: params.timestamp_bits,
                slot: params.message_slot_bits(),
                packet: params.packet_bits(),
                payload: params.payload_bits(),
                mtu: params.mtu_bytes,
                lanes: params.lanes().into(),
                connections,
                paths,
                jobs: params.jobs() as usize,
            },
            paths: Spray::new(params.total_paths()),
            mixture: MIXTURES[0],
            stuck: None,
            all: false,
            left: 0,
            now: 0,
            next_probe: 0,
            asked: Asked {
                connections: vec![false; connections],
                paths: vec![false; paths],
                ..Asked::default()
            },
            unit: State::default(),
            last: Last::default(),
            bins: Bins::new(
                (names.into_iter().map(String::from))
                    .chain(OUTPUTS.map(|name| format!("{name} held back")))
                    .chain(TABLES.map(|name| format!("reset while {name} owes an answer")))
                    .chain(pairs)
                    .chain(waits.map(String::from)),
            ),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.left == 0 {
            self.change_phase();
        }
        self.left -= 1;
        self.now = self.now.wrapping_add(1) & low_bits(self.widths.timestamp) as u32;
        let was_held = self.probe.held();
        let mut inputs = self.garbage();
        inputs.rst = self.resets.next(&mut self.random);
        inputs.now = self.now;
        self.strobe(&mut inputs);
        self.offer_probe(&mut inputs, outputs);
        self.answer(&mut inputs);
        self.answer_requests(&mut inputs);
        let random = &mut self.random;
        let mut takes = self.takes.each_mut().map(|flow| flow.next(random));
        if let Some(stuck) = self.stuck {
            takes = [true; 12];
            if let Some(take) = takes.get_mut(stuck) {
                *take = self.left.is_multiple_of(STUCK_CLOCKS);
            }
        }
        inputs.m_axis_schedule_tready = takes[output::SCHEDULE];
        inputs.m_axis_take_tready = takes[output::TAKE];
        inputs.m_axis_path_tready = takes[output::PATH];
        inputs.m_axis_sack_tready = takes[output::SACK];
        inputs.m_axis_next_tready = takes[output::NEXT];
        inputs.m_axis_packet_tready = takes[output::PACKET];
        inputs.m_axis_read_tready = takes[output::READ];
        inputs.m_axis_lookup_tready = takes[output::LOOKUP];
        inputs.m_axis_charge_tready = takes[output::CHARGE];
        inputs.m_axis_data_tready = takes[output::DATA];
        inputs.m_axis_fetch_tready = takes[output::FETCH];
        inputs.m_axis_align_tready = takes[output::ALIGN];
        if inputs.rst {
            self.count_reset();
            self.reset();
        } else {
            debug_assert!(
                self.unit.outputs.map(|held| held > 0) == taken(outputs, [true; 12]),
                "the queues kept here are not the unit's"
            );
            let rules = self.unit.rules(self.widths.jobs);
            self.count_enter(&rules);
            self.count_send(&rules);
            self.count_look(&rules);
            self.count_finish(&rules);
            self.count_queues(&rules, &inputs, outputs, was_held);
            let taken = taken(outputs, takes);
            for (index, is_taken) in taken.into_iter().enumerate() {
                self.bins
                    .hit(HELD + index, !is_taken && self.unit.outputs[index] > 0);
                self.unit.outputs[index] -= usize::from(is_taken);
            }
            let happening = std::mem::replace(&mut self.unit.decided, rules);
            self.unit.apply(&happening);
            self.last = self.last.then(happening, rules, outputs);
            self.clock(&inputs, outputs, taken);
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

/// Which of [`OUTPUTS`] are taken.
#[inline]
fn taken(outputs: &Outputs, ready: [bool; 12]) -> [bool; 12] {
    let valid = [
        outputs.m_axis_schedule_tvalid,
        outputs.m_axis_take_tvalid,
        outputs.m_axis_path_tvalid,
        outputs.m_axis_sack_tvalid,
        outputs.m_axis_next_tvalid,
        outputs.m_axis_packet_tvalid,
        outputs.m_axis_read_tvalid,
        outputs.m_axis_lookup_tvalid,
        outputs.m_axis_charge_tvalid,
        outputs.m_axis_data_tvalid,
        outputs.m_axis_fetch_tvalid,
        outputs.m_axis_align_tvalid,
    ];
    std::array::from_fn(|index| valid[index] && ready[index])
}

impl Rules {
    /// One of those happens that are decided together.
    fn moves(&self) -> bool {
        self.takes
            || self.dropped
            || self.probes
            || self.retries
            || self.news
            || self.routes.is_some()
            || self.sends.is_some()
    }

    /// *block*: of *route*, and of *sent*.
    fn blocks(&self) -> [bool; 2] {
        [
            self.routes == Some((Kind::New, false)),
            self.sends == Some((Kind::New, false)),
        ]
    }

    /// *sent* puts a SEND into `path`.
    fn puts_send(&self) -> bool {
        self.sends.is_some_and(|(kind, goes)| goes && kind != Kind::Probe)
    }

    fn begun(&self) -> usize {
        usize::from(self.takes) + usize::from(self.probes || self.retries)
    }

    fn ended(&self) -> usize {
        let ends = [
            self.dropped,
            self.routes.is_some_and(|(_, found)| !found),
            self.sends.is_some_and(|(_, goes)| !goes),
            self.packs.is_some_and(|(_, goes)| !goes),
            self.looks.is_some_and(|(_, goes)| !goes),
            self.finishes.is_some(),
        ];
        ends.into_iter().map(usize::from).sum()
    }
}

impl Last {
    fn then(self, happening: Rules, rules: Rules, outputs: &Outputs) -> Self {
        let entered = match (rules.news, rules.retries) {
            (true, _) => [Some(Kind::New), self.entered[0]],
            (_, true) => [Some(Kind::Again), self.entered[0]],
            _ => self.entered,
        };
        Self {
            rules: if happening.moves() { self.rules } else { rules },
            finished: happening.finishes,
            data: outputs.m_axis_data_tvalid,
            fetch: outputs.m_axis_fetch_tvalid,
            entered,
            worked: self.worked || rules.begun() > 0,
        }
    }
}

impl State {
    /// An output other than `align` has room.
    fn has_room(&self, output: usize) -> bool {
        let most = match output {
            output::DATA | output::FETCH => 1,
            _ => 2,
        };
        self.outputs[output] < most
    }

    /// What is decided.
    #[inline]
    fn rules(&self, most: usize) -> Rules {
        let mut rules = self.holding(most);
        if self.decided.moves() {
            rules = Rules {
                packs: rules.packs,
                reads: rules.reads,
                looks: rules.looks,
                finishes: rules.finishes,
                ..Rules::default()
            };
        }
        rules.packs = rules.packs.filter(|_| self.decided.packs.is_none());
        rules.reads = rules.reads.filter(|_| self.decided.reads.is_none());
        rules.looks = rules.looks.filter(|_| self.decided.looks.is_none());
        rules.finishes = rules.finishes.filter(|_| self.decided.finishes.is_none());
        rules
    }

    /// The rules that hold of the state.
    #[inline]
    fn holding(&self, most: usize) -> Rules {
        let may_begin = self.jobs + 2 <= most;
        let schedule_room = self.has_room(output::SCHEDULE);
        let mut rules = Rules::default();
        if let (Some(&kind), Some(&found), true) = (
            self.to_route.front(),
            self.routed.front(),
            self.has_room(output::SACK),
        ) {
            let found = found || kind != Kind::New;
            rules.routes = (found || schedule_room).then_some((kind, found));
        }
        let route_blocks = rules.blocks()[0];
        if let (Some(&kind), Some(&goes)) = (self.to_send.front(), self.sacked.front()) {
            let may = self.has_room(output::PATH)
                && self.has_room(output::NEXT)
                && !route_blocks
                && (kind != Kind::New || schedule_room);
            rules.sends = may.then_some((kind, goes));
        }
        let blocks = rules.blocks().contains(&true);
        rules.takes = self.ready > 0 && may_begin && schedule_room && !blocks;
        let path_free = self.has_room(output::PATH) && !rules.puts_send();
        let has_new = self.scheduled.front() == Some(&true);
        rules.dropped = self.scheduled.front() == Some(&false);
        rules.probes = path_free && may_begin && self.probe > 0;
        rules.retries = path_free
            && may_begin
            && !rules.probes
            && self.retry > 0
            && self.has_room(output::TAKE)
            && !(self.again && has_new);
        rules.news = path_free && !rules.probes && !rules.retries && has_new;
        if let (Some(&kind), true) = (self.to_pack.front(), self.has_room(output::PACKET)) {
            rules.packs = match (kind, self.next.front()) {
                (Kind::New, cut) => cut.map(|&cut| (kind, cut)),
                _ => Some((kind, true)),
            };
        }
        if let (Some(&kind), true) = (self.to_read.front(), self.has_room(output::READ)) {
            rules.reads = (kind == Kind::Probe || self.packet > 0).then_some(kind);
        }
        if let (Some(&kind), true) = (self.to_look.front(), self.has_room(output::LOOKUP)) {
            rules.looks = match (kind, self.read.front()) {
                (Kind::Probe, _) => Some((kind, true)),
                (_, request) => request.map(|request| (kind, request.done)),
            };
        }
        let last_room = self.has_room(output::DATA)
            && self.has_room(output::FETCH)
            && self.outputs[output::ALIGN] < most
            && self.has_room(output::CHARGE);
        if let (Some(&(kind, request)), Some(&known), true) =
            (self.to_finish.front(), self.looked.front(), last_room)
        {
            rules.finishes = Some((kind, request, known));
        }
        rules
    }

    /// What the rules do.
    #[inline]
    fn apply(&mut self, rules: &Rules) {
        let mut puts = [0; 12];
        if let Some((kind, request, known)) = rules.finishes {
            self.to_finish.pop_front();
            self.looked.pop_front();
            let payload = known && kind != Kind::Probe && request.bytes > 0;
            puts[output::DATA] = usize::from(known);
            puts[output::CHARGE] = usize::from(known);
            puts[output::FETCH] = usize::from(payload);
            puts[output::ALIGN] = usize::from(payload);
        }
        if let Some((kind, goes)) = rules.looks {
            self.to_look.pop_front();
            let request = match kind {
                Kind::Probe => Request::default(),
                _ => self.read.pop_front().unwrap_or_default(),
            };
            if goes {
                self.to_finish.push_back((kind, request));
            }
            puts[output::LOOKUP] = usize::from(goes);
        }
        if let Some(kind) = rules.reads {
            self.to_read.pop_front();
            self.to_look.push_back(kind);
            puts[output::READ] = usize::from(kind != Kind::Probe);
            self.packet -= puts[output::READ];
        }
        if let Some((kind, goes)) = rules.packs {
            self.to_pack.pop_front();
            if kind == Kind::New {
                self.next.pop_front();
            }
            if goes {
                self.to_read.push_back(kind);
            }
            puts[output::PACKET] = usize::from(goes && kind != Kind::Probe);
        }
        if let Some((kind, goes)) = rules.sends {
            self.to_send.pop_front();
            self.sacked.pop_front();
            if goes {
                self.to_pack.push_back(kind);
            }
            puts[output::NEXT] = usize::from(goes && kind == Kind::New);
        }
        if let Some((kind, found)) = rules.routes {
            self.to_route.pop_front();
            self.routed.pop_front();
            if found {
                self.to_send.push_back(kind);
            }
            puts[output::SACK] = usize::from(found);
        }
        if rules.dropped || rules.news {
            self.scheduled.pop_front();
        }
        let entered = [
            (rules.probes, Kind::Probe),
            (rules.retries, Kind::Again),
            (rules.news, Kind::New),
        ];
        let entered = entered
            .into_iter()
            .find_map(|(enters, kind)| enters.then_some(kind));
        self.to_route.extend(entered);
        self.probe -= usize::from(rules.probes);
        self.retry -= usize::from(rules.retries);
        self.ready -= usize::from(rules.takes);
        self.again = (self.again || rules.retries) && !rules.news;
        puts[output::TAKE] = usize::from(rules.retries);
        puts[output::PATH] = usize::from(entered.is_some() || rules.puts_send());
        puts[output::SCHEDULE] = usize::from(rules.takes || rules.blocks().contains(&true));
        for (held, put) in self.outputs.iter_mut().zip(puts) {
            *held += put;
        }
        self.jobs = self.jobs + rules.begun() - rules.ended();
    }
}

impl Transmitter {
    fn change_phase(&mut self) {
        let random = &mut self.random;
        self.left = random.random_range(1..600);
        self.mixture = MIXTURES[random.random_range(0..MIXTURES.len())];
        self.stuck = random
            .random::<bool>()
            .then(|| random.random_range(0..2 * OUTPUTS.len()));
        self.all = random.random_range(0..4) == 0;
        self.paths.change(random, 3);
    }

    #[inline]
    fn chance(&mut self, sixteenths: u32) -> bool {
        self.random.random::<u32>() >> 28 < sixteenths
    }

    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let mut words: [u64; 12] = std::array::from_fn(|_| self.random.random());
        let mut bits = |word: usize, width: u32| {
            let value = words[word] & low_bits(width);
            words[word] >>= width.min(63);
            value
        };
        let widths = self.widths;
        let path_index = widths.connection + widths.path;
        Inputs {
            ready_connection: bits(0, widths.connection) as u16,
            retry_path: bits(0, path_index) as u16,
            s_axis_probe_path: bits(0, path_index) as u16,
            scheduled_connection: bits(0, widths.connection) as u16,
            scheduled_taken: bits(1, 1) != 0,
            scheduled_stream: bits(1, widths.stream) as u8,
            routed_found: bits(1, 1) != 0,
            routed_path: bits(1, path_index) as u16,
            routed_plane: bits(1, widths.plane) as u8,
            routed_source_port: bits(1, 16) as u16,
            sacked_status: bits(1, 2) as u8,
            sacked_psn: bits(2, widths.psn) as u32,
            next_status: bits(2, 2) as u8,
            next_message: bits(2, 24) as u32,
            next_offset: bits(3, 32) as u32,
            packet_stream: bits(3, widths.stream) as u8,
            packet_message: bits(3, widths.slot) as u16,
            packet_packet: bits(4, widths.packet) as u32,
            read_status: bits(4, 2) as u8,
            read_kind: bits(4, 2) as u8,
            read_message: bits(4, 24) as u32,
            read_message_length: bits(5, 32) as u32,
            read_offset: bits(5, 32) as u32,
            read_bytes: bits(6, widths.payload) as u16,
            read_immediate: bits(6, 32) as u32,
            read_key: bits(7, 32) as u32,
            read_receive: bits(7, 24) as u32,
            looked_dscp: bits(7, 6) as u8,
            looked_known: bits(7, 1) != 0,
            looked_peer: bits(8, 24) as u32,
            looked_destination_address: bits(8, 32) as u32,
            looked_destination_mac: bits(9, 48),
            looked_source_address: bits(10, 32) as u32,
            looked_source_mac: bits(9, 16) | bits(10, 32) << 16,
            read_local: bits(11, 63) << 1 | bits(11, 1),
            read_remote: self.random.random(),
            ..Inputs::default()
        }
    }

    /// Connections and paths that may send: each at most once.
    #[inline]
    fn strobe(&mut self, inputs: &mut Inputs) {
        let in_turn = self.left as u16;
        let connection = if self.all {
            in_turn & low_bits(self.widths.connection) as u16
        } else {
            self.paths.next(self.random.random()) >> self.widths.path
        };
        let wanted = self.ready.next(&mut self.random) && self.chance(self.mixture.ready);
        if wanted && !self.asked.connections[usize::from(connection)] {
            inputs.ready_valid = true;
            inputs.ready_connection = connection;
        }
        let path = if self.all {
            in_turn & low_bits(self.widths.connection + self.widths.path) as u16
        } else {
            self.paths.next(self.random.random())
        };
        let wanted = self.retry.next(&mut self.random) && self.chance(self.mixture.retry);
        if wanted && !self.asked.paths[usize::from(path)] {
            inputs.retry_valid = true;
            inputs.retry_path = path;
        }
    }

    #[inline]
    fn offer_probe(&mut self, inputs: &mut Inputs, outputs: &Outputs) {
        let accepts = outputs.s_axis_probe_tready && !inputs.rst;
        let was_held = self.probe.held();
        let wanted = was_held || self.chance(self.mixture.probe);
        let offered = self.probe.next(&mut self.random, accepts, wanted);
        inputs.s_axis_probe_tvalid = offered.valid;
        if !offered.real {
            return;
        }
        if !was_held {
            self.next_probe = self.paths.next(self.random.random());
        }
        inputs.s_axis_probe_path = self.next_probe;
    }

    /// Answers of `scheduler`, `path_table`, `sack_tx` and `connection_table` in this clock.
    #[inline]
    fn answer(&mut self, inputs: &mut Inputs) {
        let ends = self.mixture.ends;
        let [schedule, route, sack, _, _, _, look] = &mut self.answers;
        let random = &mut self.random;
        inputs.scheduled_valid = schedule.next(random);
        inputs.routed_valid = route.next(random);
        inputs.sacked_valid = sack.next(random);
        inputs.looked_valid = look.next(random);
        let mut chance = |sixteenths: u32| random.random::<u32>() >> 28 < sixteenths;
        if let (true, Some(&connection)) = (inputs.scheduled_valid, self.asked.take.front()) {
            inputs.scheduled_taken = !chance(ends);
            inputs.scheduled_connection = connection;
        }
        if let (true, Some(&(op, path))) = (inputs.routed_valid, self.asked.route.front()) {
            let path_mask = low_bits(self.widths.path) as u16;
            if op == path_op::SELECT {
                inputs.routed_found = !chance(ends);
            }
            let hot = self.paths.hot(u32::from(inputs.routed_path) % self.paths.count());
            let found = if self.all { inputs.routed_path } else { hot };
            // SELECT: any path of the connection, if one was found.
            inputs.routed_path = if op == path_op::SELECT && inputs.routed_found {
                path & !path_mask | found & path_mask
            } else {
                path
            };
        }
        if let (true, Some(&op)) = (inputs.sacked_valid, self.asked.sack.front()) {
            // FULL and NONE are one code.
            inputs.sacked_status = if op != sack_tx::op::PROBE && chance(ends) {
                sack_tx::status::FULL
            } else {
                sack_tx::status::DONE
            };
        }
        if inputs.looked_valid {
            inputs.looked_known = !chance(ends);
        }
    }

    /// Answers of `request_table` and `packet_table` in this clock.
    #[inline]
    fn answer_requests(&mut self, inputs: &mut Inputs) {
        let ends = self.mixture.ends;
        let [_, _, _, next, packet, read, _] = &mut self.answers;
        let random = &mut self.random;
        inputs.next_valid = next.next(random);
        inputs.packet_valid = packet.next(random);
        inputs.read_valid = read.next(random);
        let mut status = || {
            if random.random::<u32>() >> 28 < ends {
                request_table::status::NONE
            } else {
                request_table::status::DONE
            }
        };
        if inputs.next_valid {
            inputs.next_status = status();
        }
        if inputs.read_valid {
            inputs.read_status = status();
        }
        if inputs.next_valid {
            let first = random.random();
            inputs.next_offset = if first {
                0
            } else {
                inputs.next_offset & !(self.widths.mtu - 1)
            };
        }
        if let (true, Some(&descriptor)) = (inputs.packet_valid, self.asked.packet.front()) {
            if let Some((stream, message, packet)) = descriptor {
                inputs.packet_stream = stream;
                inputs.packet_message = message;
                inputs.packet_packet = packet;
            } else {
                match self.random.random_range(0..8) {
                    0..=3 => inputs.packet_packet &= 1,
                    4 => inputs.packet_packet = low_bits(self.widths.packet) as u32,
                    _ => {}
                }
            }
        }
        if let (true, Some(&(message, packet))) = (inputs.read_valid, self.asked.read.front()) {
            inputs.read_message =
                inputs.read_message & !(low_bits(self.widths.slot) as u32) | u32::from(message);
            self.request(inputs, packet);
        }
    }

    /// The packet of that number of some message.
    fn request(&mut self, inputs: &mut Inputs, packet: u32) {
        let mtu = self.widths.mtu;
        let short = self.chance(self.mixture.short);
        let random = &mut self.random;
        let offset = packet * mtu;
        let length = match random.random_range(0..8) {
            0..=3 if short && packet == 0 => 0,
            _ if short => offset + 1,
            0 => offset.saturating_add(mtu),
            1 | 2 => offset + random.random_range(1..mtu),
            3 => u32::MAX,
            _ => random.random_range(offset + 1..=u32::MAX),
        };
        inputs.read_offset = offset;
        inputs.read_message_length = length;
        inputs.read_bytes = (length - offset).min(mtu) as u16;
        let lanes = self.widths.lanes;
        match random.random_range(0..8) {
            0 => inputs.read_local &= !(lanes - 1),
            1 => inputs.read_local |= lanes - 1,
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.probe.clear();
        self.answers.iter_mut().for_each(Answers::reset);
        let asked = &mut self.asked;
        asked.connections.fill(false);
        asked.paths.fill(false);
        asked.take.clear();
        asked.route.clear();
        asked.sack.clear();
        asked.next.clear();
        asked.packet.clear();
        asked.read.clear();
        asked.last = None;
        self.unit = State::default();
        self.last = Last::default();
        // Time goes on; now and then it is just below its wrap.
        if self.random.random() {
            self.now = low_bits(self.widths.timestamp) as u32 - self.random.random_range(0..2000);
        }
    }

    /// The rising edge: what is put into the unit's queues from outside, and what of its outputs is `taken`.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs, taken: [bool; 12]) {
        let (asked, unit) = (&mut self.asked, &mut self.unit);
        unit.probe += usize::from(inputs.s_axis_probe_tvalid && outputs.s_axis_probe_tready);
        if inputs.ready_valid {
            unit.ready += 1;
            asked.connections[usize::from(inputs.ready_connection)] = true;
        }
        if inputs.retry_valid {
            unit.retry += 1;
            asked.paths[usize::from(inputs.retry_path)] = true;
        }
        if inputs.scheduled_valid {
            unit.scheduled.push_back(inputs.scheduled_taken);
            asked.take.pop_front();
            asked.connections[usize::from(inputs.scheduled_connection)] &= inputs.scheduled_taken;
        }
        if inputs.routed_valid {
            unit.routed.push_back(inputs.routed_found);
            asked.route.pop_front();
        }
        if inputs.sacked_valid {
            unit.sacked
                .push_back(inputs.sacked_status == sack_tx::status::DONE);
            asked.sack.pop_front();
        }
        if let (true, Some(connection)) = (inputs.next_valid, asked.next.front()) {
            asked.connections[usize::from(*connection)] = false;
            asked.next.pop_front();
            unit.next
                .push_back(inputs.next_status == request_table::status::DONE);
        }
        if inputs.packet_valid {
            unit.packet += 1;
            asked.packet.pop_front();
        }
        if inputs.read_valid {
            asked.read.pop_front();
            unit.read.push_back(Request {
                done: inputs.read_status == request_table::status::DONE,
                kind: inputs.read_kind,
                bytes: inputs.read_bytes.into(),
                offset: inputs.read_offset,
                length: inputs.read_message_length,
                local: inputs.read_local,
            });
        }
        if inputs.looked_valid {
            unit.looked.push_back(inputs.looked_known);
        }

        let is_take = outputs.m_axis_schedule_op == scheduler::op::TAKE;
        let is_route = outputs.m_axis_path_op != path_op::SEND;
        let answered = [
            inputs.scheduled_valid,
            inputs.routed_valid,
            inputs.sacked_valid,
            inputs.next_valid,
            inputs.packet_valid,
            inputs.read_valid,
            inputs.looked_valid,
        ];
        let now_asked = [
            taken[output::SCHEDULE] && is_take,
            taken[output::PATH] && is_route,
            taken[output::SACK],
            taken[output::NEXT],
            taken[output::PACKET],
            taken[output::READ],
            taken[output::LOOKUP],
        ];
        for (table, (is_asked, is_answered)) in
            self.answers.iter_mut().zip(now_asked.into_iter().zip(answered))
        {
            table.clock(is_asked, is_answered);
        }
        if taken[output::SCHEDULE] {
            let connection = outputs.m_axis_schedule_connection;
            if is_take {
                asked.take.push_back(connection);
            } else {
                asked.connections[usize::from(connection)] = false;
            }
        }
        if taken[output::TAKE] {
            asked.paths[usize::from(outputs.m_axis_take_path)] = false;
        }
        if taken[output::PATH] && is_route {
            asked
                .route
                .push_back((outputs.m_axis_path_op, outputs.m_axis_path_path));
        }
        if taken[output::SACK] {
            asked.sack.push_back(outputs.m_axis_sack_op);
            self.count_sack(outputs);
        }
        let asked = &mut self.asked;
        if taken[output::NEXT] {
            asked
                .next
                .push_back(outputs.m_axis_next_stream >> self.widths.stream);
        }
        if taken[output::PACKET] {
            let descriptor = (
                outputs.m_axis_packet_stream,
                outputs.m_axis_packet_message,
                outputs.m_axis_packet_packet,
            );
            let is_write = outputs.m_axis_packet_op == packet_table::op::WRITE;
            asked.packet.push_back(is_write.then_some(descriptor));
        }
        if taken[output::READ] {
            asked
                .read
                .push_back((outputs.m_axis_read_message, outputs.m_axis_read_packet));
        }
    }

    /// A job is given to `sack_tx`.
    fn count_sack(&mut self, outputs: &Outputs) {
        let path = outputs.m_axis_sack_path;
        let kind = match outputs.m_axis_sack_op {
            sack_tx::op::SEND => Kind::New,
            sack_tx::op::RETRANSMIT => Kind::Again,
            _ => Kind::Probe,
        };
        if let Some((last_path, last)) = self.asked.last {
            let pair = PAIR + KINDS.len() * kind as usize + last as usize;
            self.bins.hit(pair, last_path == path);
        }
        self.asked.last = Some((path, kind));
    }

    #[inline]
    fn count_enter(&mut self, rules: &Rules) {
        let unit = &self.unit;
        let most = self.widths.jobs;
        let may_begin = unit.jobs + 2 <= most;
        let schedule_room = unit.has_room(output::SCHEDULE);
        let path_room = unit.has_room(output::PATH);
        let take_room = unit.has_room(output::TAKE);
        let [route_blocks, sent_blocks] = rules.blocks();
        let could_take = unit.ready > 0 && may_begin && schedule_room;
        let sends = rules.puts_send();
        let path_free = path_room && !sends;
        let has_new = unit.scheduled.front() == Some(&true);
        let (has_probe, has_retry) = (unit.probe > 0, unit.retry > 0);
        let fair = unit.again && has_new;
        self.bins.hit_each(
            0,
            [
                rules.takes,
                unit.ready > 0 && !may_begin && schedule_room,
                could_take && route_blocks,
                could_take && sent_blocks,
                rules.takes && self.last.rules.takes,
                rules.takes && rules.probes,
                rules.takes && rules.retries,
                rules.news && !may_begin,
                rules.dropped,
                rules.dropped && rules.probes,
                rules.dropped && rules.retries,
                rules.dropped && !path_room,
                rules.probes,
                rules.probes && has_retry && has_new,
                has_probe && may_begin && !path_room,
                has_probe && !may_begin && path_free,
                has_probe && may_begin && path_room && sends,
                rules.retries,
                rules.retries && self.last.entered[0] == Some(Kind::Again),
                rules.retries && has_new,
                !has_probe && has_retry && may_begin && take_room && !fair && !path_room,
                !has_probe && has_retry && !may_begin && take_room && !fair && path_free,
                !has_probe && has_retry && may_begin && !take_room && !fair && path_free,
                !has_probe && has_retry && may_begin && take_room && !fair && path_room && sends,
                rules.news && has_retry && may_begin && take_room,
                rules.news,
                has_new && !path_room,
                has_new && path_room && sends,
                rules.news && self.last.entered == [Some(Kind::Again), Some(Kind::New)],
            ],
        );
    }

    #[inline]
    fn count_send(&mut self, rules: &Rules) {
        let unit = &self.unit;
        let schedule_room = unit.has_room(output::SCHEDULE);
        let sack_room = unit.has_room(output::SACK);
        let (path_room, next_room) = (unit.has_room(output::PATH), unit.has_room(output::NEXT));
        let routed = unit.to_route.front().copied().zip(unit.routed.front().copied());
        let lost_way = routed == Some((Kind::New, false));
        let sent = unit.to_send.front().copied().zip(unit.sacked.front().copied());
        let could = |kind: Kind, goes: bool| path_room && next_room && sent == Some((kind, goes));
        let route_blocks = rules.blocks()[0];
        let blocked = |kind: Kind, goes: bool| route_blocks && could(kind, goes);
        let routes = |kind: Kind| rules.routes == Some((kind, true));
        let sends = |kind: Kind, goes: bool| rules.sends == Some((kind, goes));
        let last = &self.last.rules;
        self.bins.hit_each(
            SEND,
            [
                routes(Kind::New),
                routes(Kind::Again),
                routes(Kind::Probe),
                route_blocks,
                !unit.to_route.is_empty() && routed.is_none() && sack_room,
                routed.is_some() && !lost_way && !sack_room,
                rules.routes.is_some() && !schedule_room,
                route_blocks && last.blocks()[0],
                sends(Kind::New, true),
                sends(Kind::Again, true),
                sends(Kind::Probe, true),
                sends(Kind::New, false),
                sends(Kind::Again, false),
                !unit.to_send.is_empty() && sent.is_none() && path_room && next_room,
                sent.is_some() && !path_room && next_room,
                sent.is_some() && path_room && !next_room,
                sent == Some((Kind::Probe, true)) && !(path_room && next_room),
                sends(Kind::Again, true) && !schedule_room,
                sends(Kind::Probe, true) && !schedule_room,
                blocked(Kind::New, false),
                blocked(Kind::New, true),
                blocked(Kind::Again, true),
                blocked(Kind::Probe, true),
                sends(Kind::New, false) && last.blocks()[1],
                rules.puts_send() && last.puts_send(),
            ],
        );
        if self.widths.connections > 2 && !schedule_room {
            self.bins.hit_each(
                SCHEDULE,
                [
                    unit.ready > 0 && unit.jobs + 2 <= self.widths.jobs,
                    lost_way && sack_room,
                    could(Kind::New, true),
                    could(Kind::New, false),
                ],
            );
        }
    }

    #[inline]
    fn count_look(&mut self, rules: &Rules) {
        let unit = &self.unit;
        let packet_room = unit.has_room(output::PACKET);
        let read_room = unit.has_room(output::READ);
        let lookup_room = unit.has_room(output::LOOKUP);
        let pack = unit.to_pack.front().copied();
        let new = pack == Some(Kind::New);
        let cut = unit.next.front().copied();
        let read = unit.to_read.front().copied();
        let data = matches!(read, Some(Kind::New | Kind::Again));
        let look = unit.to_look.front().copied();
        let wants = matches!(look, Some(Kind::New | Kind::Again));
        let there = unit.read.front().map(|request| request.done);
        let packs = |kind: Kind| rules.packs == Some((kind, true));
        let looks = |kind: Kind| rules.looks == Some((kind, true));
        self.bins.hit_each(
            LOOK,
            [
                packs(Kind::New),
                packs(Kind::Again),
                packs(Kind::Probe),
                rules.packs == Some((Kind::New, false)),
                new && cut.is_none() && packet_room,
                new && cut == Some(true) && !packet_room,
                new && cut == Some(false) && !packet_room,
                pack == Some(Kind::Again) && !packet_room,
                pack == Some(Kind::Probe) && !packet_room,
                (packs(Kind::Again) || packs(Kind::Probe)) && cut.is_some(),
                rules.reads == Some(Kind::New),
                rules.reads == Some(Kind::Again),
                rules.reads == Some(Kind::Probe),
                data && unit.packet == 0 && read_room,
                data && unit.packet > 0 && !read_room,
                read == Some(Kind::Probe) && !read_room,
                rules.reads == Some(Kind::Probe) && unit.packet > 0,
                looks(Kind::New),
                looks(Kind::Again),
                looks(Kind::Probe),
                rules.looks.is_some_and(|(_, goes)| !goes),
                wants && there.is_none() && lookup_room,
                wants && there == Some(true) && !lookup_room,
                wants && there == Some(false) && !lookup_room,
                look == Some(Kind::Probe) && !lookup_room,
                looks(Kind::Probe) && there.is_some(),
            ],
        );
    }

    #[inline]
    fn count_finish(&mut self, rules: &Rules) {
        let unit = &self.unit;
        let lanes = self.widths.lanes;
        let full = [output::DATA, output::FETCH, output::CHARGE].map(|output| !unit.has_room(output));
        let align_full = unit.outputs[output::ALIGN] == self.widths.jobs;
        let head = unit.to_finish.front().map(|&(kind, _)| kind);
        let answered = head.is_some() && !unit.looked.is_empty();
        let (kind, request, known) = rules.finishes.unwrap_or((Kind::Probe, Request::default(), false));
        let probe = rules.finishes.is_some() && kind == Kind::Probe;
        let data = rules.finishes.is_some() && kind != Kind::Probe;
        let header = data && known;
        let fetches = header && request.bytes > 0;
        let end = u64::from(request.offset) + u64::from(request.bytes);
        let lane = request.local & (lanes - 1);
        self.bins.hit_each(
            FINISH,
            [
                header && request.kind == 0,
                header && request.kind == 1,
                header && request.kind == 2,
                header && request.kind == 3,
                probe && known,
                header && kind == Kind::Again,
                data && !known,
                probe && !known,
                header && request.bytes == 0,
                header && request.bytes == 1,
                header && request.bytes == self.widths.mtu,
                fetches && request.offset == 0 && end < u64::from(request.length),
                fetches && request.offset > 0 && end == u64::from(request.length),
                fetches && end == u64::from(u32::MAX),
                head.is_some() && !answered && full == [false; 3] && !align_full,
                answered && full == [true, false, false] && !align_full,
                answered && full == [false, true, false] && !align_full,
                answered && full == [false; 3] && align_full,
                answered && full == [false, false, true] && !align_full,
                answered && head == Some(Kind::Probe) && full == [false; 3] && align_full,
                rules.finishes.is_some() && self.last.finished.is_some_and(|(_, _, known)| !known),
                rules.finishes.is_some() && self.last.data,
                rules.finishes.is_some() && self.last.fetch,
                fetches && lane == 0,
                fetches && lane == lanes - 1,
            ],
        );
    }

    #[inline]
    fn count_queues(&mut self, rules: &Rules, inputs: &Inputs, outputs: &Outputs, was_held: bool) {
        let unit = &self.unit;
        let widths = &self.widths;
        let most = widths.jobs;
        let nearly = most - 3;
        let waits = |jobs: usize, answers: usize| [jobs >= nearly && answers == 0, answers >= nearly];
        let [route_waits, route_answered] = waits(unit.to_route.len(), unit.routed.len());
        let [send_waits, send_answered] = waits(unit.to_send.len(), unit.sacked.len());
        let [read_waits, read_answered] = waits(unit.to_read.len(), unit.packet);
        let [look_waits, look_answered] = waits(unit.to_look.len(), unit.read.len());
        let [finish_waits, finish_answered] = waits(unit.to_finish.len(), unit.looked.len());
        let ended = rules.ended();
        // Each connection has one new packet at most between TAKE and NEXT.
        let new_packets = widths.connections.min(most / 2);
        self.bins.hit_each(
            QUEUE,
            [
                unit.jobs == most,
                unit.jobs == most - 1,
                ended == 2,
                ended == 3,
                ended >= 4,
                rules.begun() == 2 && ended == 2,
                (rules.probes || rules.retries || rules.news)
                    && rules.routes.is_some()
                    && rules.sends.is_some()
                    && rules.packs.is_some()
                    && rules.reads.is_some()
                    && rules.looks.is_some()
                    && rules.finishes.is_some(),
                unit.ready == widths.connections,
                unit.retry == widths.paths,
                inputs.s_axis_probe_tvalid && !outputs.s_axis_probe_tready,
                was_held && outputs.s_axis_probe_tready,
                unit.scheduled.len() == new_packets,
                route_waits,
                route_answered,
                send_waits,
                send_answered,
                unit.to_pack.len() >= nearly,
                read_waits,
                read_answered,
                look_waits,
                look_answered,
                finish_waits,
                finish_answered,
                unit.next.len() == new_packets,
                unit.outputs[output::ALIGN] == most,
                self.answers[0].waiting() as usize == new_packets,
                inputs.scheduled_valid
                    && inputs.routed_valid
                    && inputs.sacked_valid
                    && inputs.packet_valid
                    && inputs.read_valid
                    && inputs.looked_valid,
                unit.jobs == 0 && self.last.worked && rules.begun() > 0,
            ],
        );
    }

    fn count_reset(&mut self) {
        let unit = &self.unit;
        self.bins.hit_each(
            QUEUE + 28,
            [
                unit.jobs + 2 >= self.widths.jobs,
                unit.again,
                unit.ready > 0 && unit.retry > 0,
            ],
        );
        self.bins
            .hit_each(OWED, self.answers.each_ref().map(|answers| answers.waiting() > 0));
    }
}
