//! Stimulus of `acknowledger`: paths that are due one by one or all at once, refusals between them, and tables that answer at once or late.

use crate::{
    bins::Bins,
    stimulus::{Flow, Offer, Random, Resets, Stimulus, low_bits, random},
};
use metaroce_model::{
    Params,
    port::{
        Vector,
        acknowledger::{Inputs, Outputs},
    },
    unit::acknowledger::Acknowledger as Unit,
    wire::Opcode,
};
use rand::RngExt;
use std::collections::VecDeque;

/// Bins of a clock.
const CLOCK_BINS: [&str; 45] = [
    "take",
    "take waits for a job alone",
    "take waits for the queue take alone",
    "look",
    "look waits for lookup alone",
    "look waits for sack alone",
    "refuse",
    "refuse waits for take alone",
    "refuse waits for look alone",
    "refuse waits for take and look",
    "refuse waits for a job alone",
    "refuse waits for lookup alone",
    "finish: acknowledgement",
    "finish: refusal",
    "finish: acknowledgement of a connection that is not known",
    "finish: refusal to a connection that is not known",
    "finish: refusal while an answer of a later acknowledgement's vector is there",
    "acknowledgement waits for looked alone",
    "acknowledgement waits for sacked alone",
    "refusal waits for looked alone",
    "finish waits for ack alone",
    "take and look at once",
    "take, look and finish at once",
    "refuse and finish at once",
    "all four strobes at once",
    "due holds all paths",
    "taken holds J - 2: two more are in lookup or sack",
    "looked holds J",
    "sacked holds J",
    "waiting holds J",
    "waiting holds J refusals",
    "a path is due again while its acknowledgement is under way",
    "NAK waits while its queue is full",
    "take not taken",
    "lookup not taken",
    "sack not taken",
    "ack not taken",
    "the time wraps while a header is finished",
    "reset while paths are due",
    "reset while J jobs are under way",
    "reset while a refusal waits",
    "reset while an acknowledgement waits for its vector",
    "reset while a header is offered",
    "acknowledgement finished in the clock after a refusal to a connection that is not known",
    "acknowledgement finished in the clock after the header of a refusal was taken",
];

/// Bins of each path within the connection.
const PATH_BINS: [&str; 2] = ["acknowledgement of path {}", "refusal on path {}"];

/// Drives the unit.
pub struct Acknowledger {
    random: Random,
    due: Flow,
    nak: Offer,
    take: Flow,
    lookup: Flow,
    sack: Flow,
    ack: Flow,
    /// When the tables answer.
    taken: Flow,
    looked: Flow,
    sacked: Flow,
    resets: Resets,
    params: Params,
    phase: Phase,
    now: u32,
    held: Option<Inputs>,
    /// Paths that `ack_table` told and of which TAKE has not come yet.
    told: Box<[bool]>,
    /// What the tables have still to answer, the oldest first.
    takes: VecDeque<u16>,
    lookups: usize,
    sacks: usize,
    unit: State,
    /// In the clock before, a refusal was finished, and the header of one was offered.
    refused_last: bool,
    offered_last: bool,
    bins: Bins,
}

/// What the unit's queues hold.
#[derive(Clone, Debug, Default)]
struct State {
    jobs: usize,
    due: usize,
    /// Paths.
    taken: VecDeque<u16>,
    /// Whether the connections are known.
    looked: VecDeque<bool>,
    sacked: usize,
    waiting: VecDeque<Job>,
    /// A path within the connection.
    nak: Option<u8>,
    take: usize,
    lookup: usize,
    sack: usize,
    ack: usize,
    /// *finish* is decided.
    finishes: bool,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    is_nak: bool,
    /// Among all paths; of a refusal, within the connection.
    path: u16,
}

#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    left: u32,
    /// No path becomes due.
    only_refusals: bool,
    /// Chance in 256ths that a connection is not known.
    unknown: u32,
    /// Ticks of a clock, at most.
    ticks: u32,
    hint: u16,
}

impl Stimulus<Unit> for Acknowledger {
    fn new(params: &Params, seed: u64) -> Self {
        let paths =
            (0..params.paths).flat_map(|path| PATH_BINS.map(|name| name.replace("{}", &path.to_string())));
        Self {
            random: random(seed),
            due: Flow::new(100),
            nak: Offer::new(100),
            take: Flow::new(100),
            lookup: Flow::new(100),
            sack: Flow::new(100),
            ack: Flow::new(100),
            taken: Flow::new(100),
            looked: Flow::new(100),
            sacked: Flow::new(100),
            resets: Resets::new(3000),
            params: params.clone(),
            phase: Phase::default(),
            now: 0,
            held: None,
            told: vec![false; params.total_paths() as usize].into(),
            takes: VecDeque::new(),
            lookups: 0,
            sacks: 0,
            unit: State::default(),
            refused_last: false,
            offered_last: false,
            bins: Bins::new(CLOCK_BINS.map(String::from).into_iter().chain(paths)),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let rst = self.resets.next(&mut self.random);
        let accepts = outputs.s_axis_nak_tready && !rst;
        let nak = self.nak.next(&mut self.random, accepts, true);
        let mut inputs = self.garbage();
        if nak.real {
            let held = *self.held.get_or_insert(inputs);
            inputs.s_axis_nak_connection = held.s_axis_nak_connection;
            inputs.s_axis_nak_path = held.s_axis_nak_path;
            inputs.s_axis_nak_plane = held.s_axis_nak_plane;
            inputs.s_axis_nak_stream = held.s_axis_nak_stream;
            inputs.s_axis_nak_message = held.s_axis_nak_message;
            inputs.s_axis_nak_code = held.s_axis_nak_code;
        }
        inputs.rst = rst;
        inputs.s_axis_nak_tvalid = nak.valid;
        let random = &mut self.random;
        inputs.m_axis_take_tready = self.take.next(random);
        inputs.m_axis_lookup_tready = self.lookup.next(random);
        inputs.m_axis_sack_tready = self.sack.next(random);
        inputs.m_axis_ack_tready = self.ack.next(random);
        let is_due = self.due.next(random) && !self.phase.only_refusals;
        if is_due && let Some(path) = self.untold(inputs.due_path) {
            (inputs.due_valid, inputs.due_path) = (true, path);
        }
        let random = &mut self.random;
        if self.taken.next(random)
            && let Some(&path) = self.takes.front()
        {
            (inputs.taken_valid, inputs.taken_path) = (true, path);
        }
        inputs.looked_valid = self.looked.next(random) && self.lookups > 0;
        inputs.sacked_valid = self.sacked.next(random) && self.sacks > 0;
        self.count_clock(&inputs, outputs);
        if rst {
            self.reset();
        } else {
            self.clock(&inputs, outputs);
        }
        self.now = inputs.now;
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Acknowledger {
    fn reset(&mut self) {
        self.nak.clear();
        self.held = None;
        self.told.fill(false);
        self.takes.clear();
        (self.lookups, self.sacks) = (0, 0);
        self.unit = State::default();
        (self.refused_last, self.offered_last) = (false, false);
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let rules = self.unit.rules(self.params.jobs() as usize);
        self.refused_last = self.unit.finishes && self.unit.waiting[0].is_nak;
        self.offered_last = outputs.m_axis_ack_opcode == Opcode::Nak.value();
        if outputs.m_axis_take_tvalid && inputs.m_axis_take_tready {
            self.told[usize::from(outputs.m_axis_take_path)] = false;
            self.takes.push_back(outputs.m_axis_take_path);
            self.unit.take -= 1;
        }
        if inputs.taken_valid {
            self.takes.pop_front();
        }
        let looks_up = outputs.m_axis_lookup_tvalid && inputs.m_axis_lookup_tready;
        self.unit.lookup -= usize::from(looks_up);
        self.lookups = self.lookups + usize::from(looks_up) - usize::from(inputs.looked_valid);
        let acknowledges = outputs.m_axis_sack_tvalid && inputs.m_axis_sack_tready;
        self.unit.sack -= usize::from(acknowledges);
        self.sacks = self.sacks + usize::from(acknowledges) - usize::from(inputs.sacked_valid);
        self.unit.ack -= usize::from(outputs.m_axis_ack_tvalid && inputs.m_axis_ack_tready);
        self.unit.act(rules);
        if inputs.due_valid {
            self.told[usize::from(inputs.due_path)] = true;
            self.unit.due += 1;
        }
        if inputs.taken_valid {
            self.unit.taken.push_back(inputs.taken_path);
        }
        if inputs.looked_valid {
            self.unit.looked.push_back(inputs.looked_known);
        }
        self.unit.sacked += usize::from(inputs.sacked_valid);
        if inputs.s_axis_nak_tvalid && outputs.s_axis_nak_tready {
            self.unit.nak = Some(inputs.s_axis_nak_path);
            self.held = None;
        }
    }

    /// The first path from `first` on that may be told.
    #[inline]
    fn untold(&self, first: u16) -> Option<u16> {
        let (before, after) = self.told.split_at(usize::from(first));
        let mut told = after.iter().chain(before);
        let distance = told.position(|told| !told)?;
        Some(((usize::from(first) + distance) % self.told.len()) as u16)
    }

    /// Random values that fit in the fields, and the time.
    fn garbage(&mut self) -> Inputs {
        let (params, phase) = (&self.params, self.phase);
        let random = &mut self.random;
        let (a, b, c, d): (u64, u64, u64, u64) =
            (random.random(), random.random(), random.random(), random.random());
        let mask = |value: u64, bits: u32| value & low_bits(bits);
        let mut vector = Vector::default();
        for (number, limb) in vector.data.iter_mut().enumerate() {
            let bits = params.sack_bits.saturating_sub(64 * number as u32).min(64);
            *limb = mask(c.rotate_left(19 * number as u32) ^ a, bits);
        }
        let ticks = (u64::from(d as u32) * u64::from(phase.ticks + 1)) >> 32;
        Inputs {
            now: mask(u64::from(self.now) + ticks, params.timestamp_bits) as u32,
            config_hint: phase.hint,
            due_path: mask(a, params.path_index_bits()) as u16,
            taken_path: mask(a >> 16, params.path_index_bits()) as u16,
            taken_plane: mask(a >> 32, params.plane_bits()) as u8,
            taken_echo: mask(b, params.timestamp_bits) as u32,
            taken_hold: (b >> 32) as u16,
            taken_packets: (b >> 48) as u16,
            taken_marked: c as u16,
            looked_known: mask(d >> 32, 8) as u32 >= phase.unknown,
            looked_peer: mask(c >> 16, 24) as u32,
            looked_dscp: mask(c >> 40, 6) as u8,
            looked_destination_mac: mask(a ^ b, 48),
            looked_destination_address: (b ^ c >> 9) as u32,
            looked_source_mac: mask(a ^ c, 48),
            looked_source_address: (a ^ d >> 7) as u32,
            sacked_base: mask(d >> 11 ^ b, params.psn_bits) as u32,
            sacked_vector: vector,
            s_axis_nak_connection: mask(d >> 40, params.connection_bits()) as u16,
            s_axis_nak_path: mask(d >> 56, params.path_bits()) as u8,
            s_axis_nak_plane: mask(c >> 50, params.plane_bits()) as u8,
            s_axis_nak_stream: (b >> 20 ^ c) as u16,
            s_axis_nak_message: mask(a >> 30 ^ c >> 3, 24) as u32,
            s_axis_nak_code: mask(a >> 50 ^ d, 8) as u8,
            ..Default::default()
        }
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        self.phase = Phase {
            left: random.random_range(1..=2000),
            only_refusals: random.random_range(0..6) == 0,
            unknown: [0, 0, 64, 128, 256][random.random_range(0..5)],
            ticks: [0, 1, 1000, low_bits(self.params.timestamp_bits - 1) as u32][random.random_range(0..4)],
            hint: random.random::<u16>() & 0xfff,
        };
        self.nak.change([10, 200, 1000][random.random_range(0..3)]);
        for flow in [
            &mut self.due,
            &mut self.take,
            &mut self.lookup,
            &mut self.sack,
            &mut self.ack,
            &mut self.taken,
            &mut self.looked,
            &mut self.sacked,
        ] {
            *flow = Flow::new([10, 200, 1000, 1000][random.random_range(0..4)]);
        }
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let unit = &self.unit;
        let jobs = self.params.jobs() as usize;
        let rst = inputs.rst;
        let rules = unit.rules(jobs);
        let (is_due, is_taken, is_refused) = (unit.due > 0, !unit.taken.is_empty(), unit.nak.is_some());
        let (may_begin, lookup_room) = (unit.jobs < jobs, unit.lookup < 2);
        let (take_room, sack_room, ack_room) = (unit.take < 2, unit.sack < 2, unit.ack == 0);
        let may_refuse = is_refused && may_begin && lookup_room;
        let job = unit.waiting.front();
        let is_nak = job.is_some_and(|job| job.is_nak);
        let is_ack = job.is_some_and(|job| !job.is_nak);
        let known = unit.looked.front();
        let is_looked = known.is_some();
        let not_known = known == Some(&false);
        let is_sacked = unit.sacked > 0;
        let finishes = rules.finishes && !rst;
        let path_under_way = unit.taken.contains(&inputs.due_path)
            || (unit.waiting.iter()).any(|job| !job.is_nak && job.path == inputs.due_path);
        self.bins.hit_each(
            0,
            [
                rules.takes && !rst,
                is_due && !may_begin && take_room,
                is_due && may_begin && !take_room,
                rules.looks && !rst,
                is_taken && !lookup_room && sack_room,
                is_taken && lookup_room && !sack_room,
                rules.refuses && !rst,
                may_refuse && rules.takes && !rules.looks,
                may_refuse && !rules.takes && rules.looks,
                may_refuse && rules.takes && rules.looks,
                is_refused && !may_begin && lookup_room && !rules.looks,
                is_refused && may_begin && !lookup_room && !rules.takes,
                finishes && is_ack,
                finishes && is_nak,
                finishes && is_ack && not_known,
                finishes && is_nak && not_known,
                finishes && is_nak && is_sacked,
                is_ack && !is_looked && is_sacked && ack_room,
                is_ack && is_looked && !is_sacked && ack_room,
                is_nak && !is_looked && ack_room,
                is_looked && (is_nak || is_ack && is_sacked) && !ack_room,
                rules.takes && rules.looks && !rst,
                rules.takes && rules.looks && finishes,
                rules.refuses && finishes,
                inputs.due_valid && inputs.taken_valid && inputs.looked_valid && inputs.sacked_valid && !rst,
                unit.due == self.told.len(),
                unit.taken.len() + 2 == jobs,
                unit.looked.len() == jobs,
                unit.sacked == jobs,
                unit.waiting.len() == jobs,
                unit.waiting.iter().filter(|job| job.is_nak).count() == jobs,
                inputs.due_valid && path_under_way && !rst,
                inputs.s_axis_nak_tvalid && !outputs.s_axis_nak_tready && !rst,
                outputs.m_axis_take_tvalid && !inputs.m_axis_take_tready,
                outputs.m_axis_lookup_tvalid && !inputs.m_axis_lookup_tready,
                outputs.m_axis_sack_tvalid && !inputs.m_axis_sack_tready,
                outputs.m_axis_ack_tvalid && !inputs.m_axis_ack_tready,
                finishes && !not_known && inputs.now < self.now,
                rst && is_due,
                rst && unit.jobs == jobs,
                rst && is_refused,
                rst && is_ack && is_looked && !is_sacked,
                rst && outputs.m_axis_ack_tvalid,
                finishes && is_ack && self.refused_last,
                finishes && is_ack && self.offered_last,
            ],
        );
        if finishes
            && known == Some(&true)
            && let Some(job) = job
        {
            let path = u32::from(job.path) % self.params.paths;
            let bin = CLOCK_BINS.len() + PATH_BINS.len() * path as usize + usize::from(job.is_nak);
            self.bins.hit(bin, true);
        }
    }
}

/// The rules that happen in a clock; *finish* is decided in it.
#[derive(Clone, Copy, Debug)]
struct Rules {
    takes: bool,
    looks: bool,
    refuses: bool,
    finishes: bool,
}

impl State {
    #[inline]
    fn rules(&self, jobs: usize) -> Rules {
        let may_begin = self.jobs < jobs;
        let takes = self.due > 0 && may_begin && self.take < 2;
        let looks = !self.taken.is_empty() && self.lookup < 2 && self.sack < 2;
        let answered = !self.finishes && !self.looked.is_empty() && self.ack == 0;
        Rules {
            takes,
            looks,
            refuses: !takes && !looks && self.nak.is_some() && may_begin && self.lookup < 2,
            finishes: answered && (self.waiting.front()).is_some_and(|job| job.is_nak || self.sacked > 0),
        }
    }

    /// What the rules do to the queues, after the outputs were taken.
    #[inline]
    fn act(&mut self, rules: Rules) {
        if std::mem::replace(&mut self.finishes, rules.finishes)
            && let (Some(job), Some(known)) = (self.waiting.pop_front(), self.looked.pop_front())
        {
            self.sacked -= usize::from(!job.is_nak);
            self.ack += usize::from(known);
            self.jobs -= 1;
        }
        if rules.looks
            && let Some(path) = self.taken.pop_front()
        {
            self.waiting.push_back(Job { is_nak: false, path });
            self.lookup += 1;
            self.sack += 1;
        }
        if rules.takes {
            self.due -= 1;
            self.take += 1;
            self.jobs += 1;
        }
        if rules.refuses
            && let Some(path) = self.nak.take()
        {
            self.waiting.push_back(Job {
                is_nak: true,
                path: path.into(),
            });
            self.lookup += 1;
            self.jobs += 1;
        }
    }
}
