//! Stimulus of `timer`: a `path_table` that answers after a while, for paths that are idle for just as long as a rule asks, or a tick less, or for any time.
//!
//! It knows of each path the probes that the unit counts, and of a result the clock in which it will be judged if nothing holds it up; so it can let all probes of a path be due one after
//! another, and let the time, which goes on slowly, fast or not at all, stand at a limit in just that clock. Each reset brings another configuration.

use crate::{
    bins::Bins,
    stimulus::{Flow, Random, Resets, Stimulus, low_bits, random},
};
use metaroce_model::{
    Params,
    port::{
        path_table::{MAX_BACKOFF, op},
        timer::{Inputs, MAX_PROBES, Outputs, STEP_CLOCKS},
    },
    unit::timer::Timer as Unit,
};
use rand::RngExt;
use std::collections::VecDeque;

/// Results that may be under way.
const READS: usize = 4;
/// Clocks for which a result is the head before it is judged.
const JUDGE_CLOCKS: u32 = 4;
/// Clocks by which the time that a result is judged by is older than the clock in which it is.
const JUDGED_AFTER: u32 = 2;

/// Bins of a clock.
const CLOCK_BINS: [&str; 26] = [
    "step",
    "step of the last path",
    "step as soon as it may be after another",
    "step waits for path alone",
    "step waits for ack alone",
    "step waits for a result to be judged alone",
    "step waits for a timeout alone",
    "step and judge at once",
    "step and a probe at once",
    "judge as soon as it may be",
    "judge later",
    "judge waits for path alone",
    "judge waits for sack alone",
    "judge waits for probe alone",
    "judge as soon as it may be after another",
    "four results wait to be judged",
    "result comes as the one before it is judged",
    "four READs without a result",
    "READ not taken",
    "TIMEOUT not taken by path_table",
    "TIMEOUT not taken by sack_tx",
    "probe not taken",
    "SCAN not taken",
    "TIMEOUT waits behind a READ",
    "READ waits behind a TIMEOUT",
    "TIMEOUT waits behind another",
];

/// Bins of a result that is judged.
const JUDGE_BINS: [&str; 24] = [
    "nothing in flight",
    "nothing in flight, idle for longer than the limit",
    "nothing in flight, probes were sent",
    "idle one tick less than base",
    "idle for less than base, probes were sent",
    "idle for base",
    "probe, idle for as long as it asks",
    "no probe, idle one tick less than it asks",
    "no probe, all were sent",
    "timeout, idle for the limit",
    "no timeout, idle one tick less than the limit",
    "timeout after all probes",
    "timeout before the first probe",
    "limit is the path's timeout",
    "limit is of base",
    "limit is cut",
    "base of a round-trip time",
    "base without a round-trip time",
    "base is 0",
    "idle for half the range of time or more",
    "the time has wrapped since the last progress",
    "first probe of a path that had probes before a reset",
    "last path times out",
    "last path is probed",
];

/// Bins of a clock with reset.
const RESET_BINS: [&str; 5] = [
    "reset during the clear after reset",
    "reset while a READ is under way",
    "reset while four results wait to be judged",
    "reset while the head is about to be judged",
    "reset while a TIMEOUT is offered",
];

const JUDGE: usize = CLOCK_BINS.len();
const RESET: usize = JUDGE + JUDGE_BINS.len();
/// Bins of each probe since the last progress.
const PROBE: usize = RESET + RESET_BINS.len();
/// Bins of each back-off.
const BACKOFF: usize = PROBE + MAX_PROBES as usize;
/// Bins of a base that is cut, each in the profiles in which one can be so long.
const CUT: usize = BACKOFF + MAX_BACKOFF as usize + 1;

/// Drives the unit.
pub struct Timer {
    random: Random,
    resets: Resets,
    path: Flow,
    sack: Flow,
    probe: Flow,
    ack: Flow,
    /// When `path_table` answers.
    answer: Flow,
    params: Params,
    /// Largest time that a timer can wait for.
    longest: u64,
    phase: Phase,
    now: u32,
    /// `now` of the clock before the last.
    earlier: u32,
    /// `config_probe` and `config_first_probe`.
    config: (u16, u32),
    /// Paths of the READs that were taken and have no result yet, the oldest first.
    asked: VecDeque<u16>,
    paths: Box<[Path]>,
    unit: State,
    bins: Bins,
}

/// A path, as the unit has it.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    probes: u8,
    /// It had probes when a reset came.
    had_probes: bool,
}

/// What the unit's queues and registers hold.
#[derive(Clone, Debug, Default)]
struct State {
    /// Operation codes.
    path: VecDeque<u8>,
    sack: usize,
    probe: usize,
    ack: usize,
    read: VecDeque<Inputs>,
    /// Clocks that the head has been it.
    headed: u32,
    /// The head came up as the one before it was judged.
    follows: bool,
    index: usize,
    wait: u32,
    /// Clocks since the last step.
    since_step: u32,
    reads: usize,
    clearing: usize,
}

impl State {
    /// Clocks until a result that comes now is judged, if nothing holds it up.
    fn clocks_to_judge(&self) -> u32 {
        let left = JUDGE_CLOCKS.saturating_sub(self.headed);
        match self.read.len() as u32 {
            0 => JUDGE_CLOCKS + 1,
            before => left + before * (JUDGE_CLOCKS + 1),
        }
    }
}

/// Stretch of clocks of one mixture.
#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    left: u32,
    /// Ticks of a clock.
    ticks: u32,
    /// Chance in 16ths that the next probe of a path is just due.
    due: u32,
    /// Chance in 16ths that it is just the time for a timeout.
    timeout: u32,
    /// Bits of a round-trip time and of a timeout, and the largest back-off, at most.
    rtt_bits: u32,
    timeout_bits: u32,
    backoff: u8,
    /// Chance in 16ths that there is no round-trip time.
    unmeasured: u32,
}

/// The times by which a result is judged.
#[derive(Clone, Copy, Debug)]
struct Times {
    base: u64,
    uncut_base: u64,
    /// The limit of `base` alone, not cut.
    of_base: u64,
    limit: u64,
}

/// How long a path shall have been idle when its result is judged.
#[derive(Clone, Copy, Debug)]
enum Wish {
    /// As the next probe asks.
    Due,
    /// As a timeout asks.
    Timeout,
    Base,
    /// Half the range of time.
    Half,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Nothing,
    Progress,
    Probe,
    Timeout,
}

impl Stimulus<Unit> for Timer {
    fn new(params: &Params, seed: u64) -> Self {
        let total = params.total_paths();
        let probes = (1..=MAX_PROBES).map(|number| format!("probe {number} since the last progress"));
        let backoffs = (0..=MAX_BACKOFF).map(|backoff| format!("timeout under back-off {backoff}"));
        let names = [&CLOCK_BINS[..], &JUDGE_BINS, &RESET_BINS].concat();
        let longest = low_bits(params.timestamp_bits - 1);
        let longest_rtt = low_bits(params.rtt_bits);
        let longest_base = longest_rtt + longest_rtt / 4 + u64::from(u16::MAX);
        let cuts = [
            ("base is cut", longest),
            (
                "base is cut that is longer than a timestamp",
                low_bits(params.timestamp_bits),
            ),
        ];
        let cuts = (cuts.into_iter())
            .filter(|(_, most)| longest_base > *most)
            .map(|(name, _)| name.to_string());
        Self {
            random: random(seed),
            // Long enough now and then for all probes of a path.
            resets: Resets::with_clear(20 * STEP_CLOCKS * total, total),
            path: Flow::new(100),
            sack: Flow::new(100),
            probe: Flow::new(100),
            ack: Flow::new(100),
            answer: Flow::new(100),
            params: params.clone(),
            longest,
            phase: Phase::default(),
            now: 0,
            earlier: 0,
            config: (0, 0),
            asked: VecDeque::new(),
            paths: vec![Path::default(); total as usize].into(),
            unit: State {
                clearing: total as usize,
                ..State::default()
            },
            bins: Bins::new(
                names
                    .into_iter()
                    .map(String::from)
                    .chain(probes)
                    .chain(backoffs)
                    .chain(cuts),
            ),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let before = self.now;
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let rst = self.resets.next(&mut self.random);
        if rst {
            self.configure();
        }
        let mut inputs = self.garbage();
        inputs.rst = rst;
        let random = &mut self.random;
        inputs.m_axis_path_tready = self.path.next(random);
        inputs.m_axis_sack_tready = self.sack.next(random);
        inputs.m_axis_probe_tready = self.probe.next(random);
        inputs.m_axis_ack_tready = self.ack.next(random);
        if self.answer.next(random)
            && let Some(&path) = self.asked.front()
        {
            self.result(&mut inputs, path);
        }
        if rst {
            self.reset();
        } else {
            self.clock(&inputs, outputs);
        }
        (self.earlier, self.now) = (before, inputs.now);
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Timer {
    /// A configuration: small values, large ones, any.
    fn configure(&mut self) {
        let time_bits = self.params.timestamp_bits - 1;
        let random = &mut self.random;
        let (probe, first_probe): (u16, u32) = (random.random(), random.random());
        let probe_bits = [0, 4, 10, 16][random.random_range(0..4)];
        let first_bits = [0, 6, 10, time_bits][random.random_range(0..4)];
        self.config = (
            probe & low_bits(probe_bits) as u16,
            first_probe & low_bits(first_bits) as u32,
        );
        if random.random_range(0..16) == 0 {
            self.config.0 |= 0xff00;
        }
    }

    fn reset(&mut self) {
        let unit = &self.unit;
        self.bins.hit_each(
            RESET,
            [
                unit.clearing > 0,
                !self.asked.is_empty(),
                unit.read.len() == READS,
                unit.headed >= JUDGE_CLOCKS,
                unit.path.contains(&op::TIMEOUT),
            ],
        );
        for path in &mut self.paths {
            *path = Path {
                probes: 0,
                had_probes: path.probes > 0 || path.had_probes,
            };
        }
        self.asked.clear();
        self.unit = State {
            clearing: self.paths.len(),
            ..State::default()
        };
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let unit = &self.unit;
        let may_judge = unit.headed >= JUDGE_CLOCKS;
        let rooms = [unit.path.len() < 2, unit.sack < 2, unit.probe < 2];
        let head = unit.read.front().copied();
        let judged = head.filter(|_| may_judge && rooms == [true; 3]);
        let judgement = judged.map(|read| self.judge(&read, self.earlier));
        let judges = judged.is_some();
        let times_out = judgement == Some(Judgement::Timeout);
        let probes = judgement == Some(Judgement::Probe);

        let unit = &mut self.unit;
        let is_due = unit.clearing == 0 && unit.wait == 0;
        let may_read = unit.reads < READS;
        let needs = [unit.path.len() < 2, unit.ack < 2, may_read, !times_out];
        let steps = is_due && needs == [true; 4];
        let at_once = unit.headed == JUDGE_CLOCKS;
        let offers = |code: u8| outputs.m_axis_path_tvalid && outputs.m_axis_path_op == code;
        self.bins.hit_each(
            0,
            [
                steps,
                steps && unit.index + 1 == self.paths.len(),
                steps && unit.since_step == STEP_CLOCKS,
                is_due && needs == [false, true, true, true],
                is_due && needs == [true, false, true, true],
                is_due && needs == [true, true, false, true],
                is_due && needs == [true, true, true, false],
                steps && judges,
                steps && probes,
                judges && at_once,
                judges && !at_once,
                may_judge && rooms == [false, true, true],
                may_judge && rooms == [true, false, true],
                may_judge && rooms == [true, true, false],
                judges && at_once && unit.follows,
                unit.read.len() == READS,
                judges && inputs.read_valid,
                self.asked.len() == READS,
                offers(op::READ) && !inputs.m_axis_path_tready,
                offers(op::TIMEOUT) && !inputs.m_axis_path_tready,
                outputs.m_axis_sack_tvalid && !inputs.m_axis_sack_tready,
                outputs.m_axis_probe_tvalid && !inputs.m_axis_probe_tready,
                outputs.m_axis_ack_tvalid && !inputs.m_axis_ack_tready,
                unit.path == [op::READ, op::TIMEOUT],
                unit.path == [op::TIMEOUT, op::READ],
                unit.path == [op::TIMEOUT, op::TIMEOUT],
            ],
        );

        if judges {
            unit.read.pop_front();
            unit.reads -= 1;
            unit.follows = !unit.read.is_empty();
        }
        unit.headed = match head {
            Some(_) if !judges => unit.headed + 1,
            _ => 0,
        };
        if outputs.m_axis_path_tvalid && inputs.m_axis_path_tready {
            unit.path.pop_front();
        }
        unit.sack -= usize::from(outputs.m_axis_sack_tvalid && inputs.m_axis_sack_tready);
        unit.probe -= usize::from(outputs.m_axis_probe_tvalid && inputs.m_axis_probe_tready);
        unit.ack -= usize::from(outputs.m_axis_ack_tvalid && inputs.m_axis_ack_tready);
        if times_out {
            unit.path.push_back(op::TIMEOUT);
            unit.sack += 1;
        }
        unit.probe += usize::from(probes);
        unit.clearing = unit.clearing.saturating_sub(1);
        unit.wait = unit.wait.saturating_sub(1);
        unit.since_step += 1;
        if steps {
            unit.path.push_back(op::READ);
            unit.ack += 1;
            unit.index = (unit.index + 1) % self.paths.len();
            (unit.wait, unit.since_step) = (STEP_CLOCKS - 1, 1);
            unit.reads += 1;
        }
        if inputs.read_valid {
            unit.read.push_back(*inputs);
            self.asked.pop_front();
        }
        if offers(op::READ) && inputs.m_axis_path_tready {
            self.asked.push_back(outputs.m_axis_path_path);
        }
    }

    /// A result is judged.
    fn judge(&mut self, read: &Inputs, now: u32) -> Judgement {
        let times = self.times(read);
        let number = usize::from(read.read_path);
        let is_last = number + 1 == self.paths.len();
        let path = &mut self.paths[number];
        let (base, limit, probes) = (times.base, times.limit, path.probes);
        let ever = low_bits(self.params.timestamp_bits);
        let idle = u64::from(now.wrapping_sub(read.read_last_progress)) & ever;
        let in_flight = read.read_in_flight > 0;
        let may_probe = probes < MAX_PROBES;
        let due = base * u64::from(probes + 1);
        let judgement = if !in_flight || idle < base {
            Judgement::Progress
        } else if idle >= limit {
            Judgement::Timeout
        } else if may_probe && idle >= due {
            Judgement::Probe
        } else {
            Judgement::Nothing
        };
        let waits = judgement != Judgement::Progress;
        let nothing = judgement == Judgement::Nothing;
        let is_probed = judgement == Judgement::Probe;
        let times_out = judgement == Judgement::Timeout;
        let unlimited = read.read_timeout.into();
        self.bins.hit_each(
            JUDGE,
            [
                !in_flight,
                !in_flight && idle >= limit,
                !in_flight && probes > 0,
                in_flight && idle + 1 == base,
                in_flight && idle < base && probes > 0,
                waits && idle == base,
                is_probed && idle == due,
                nothing && may_probe && idle + 1 == due,
                nothing && !may_probe,
                times_out && idle == limit,
                waits && !times_out && idle + 1 == limit,
                times_out && probes == MAX_PROBES,
                times_out && probes == 0,
                waits && limit == unlimited && limit > times.of_base,
                waits && limit == times.of_base && limit > unlimited,
                waits && limit < times.of_base,
                waits && read.read_rtt_valid,
                waits && !read.read_rtt_valid,
                waits && base == 0,
                waits && idle > self.longest,
                waits && now < read.read_last_progress,
                is_probed && path.had_probes,
                is_last && times_out,
                is_last && is_probed,
            ],
        );
        self.bins.hit(
            BACKOFF + usize::from(read.read_backoff),
            times_out && base > 0 && limit > unlimited,
        );
        if waits && times.uncut_base > self.longest {
            self.bins.hit(CUT, true);
        }
        if waits && times.uncut_base > ever {
            self.bins.hit(CUT + 1, true);
        }
        match judgement {
            Judgement::Nothing => {}
            Judgement::Probe => {
                self.bins.hit(PROBE + usize::from(probes), true);
                path.probes += 1;
            }
            Judgement::Progress | Judgement::Timeout => path.probes = 0,
        }
        path.had_probes = false;
        judgement
    }

    /// The times by which a result is judged.
    fn times(&self, read: &Inputs) -> Times {
        let (probe, first_probe) = self.config;
        let rtt = u64::from(read.read_smoothed_rtt);
        let base = if read.read_rtt_valid {
            rtt + rtt / 4 + u64::from(probe)
        } else {
            first_probe.into()
        };
        let uncut_base = base;
        let base = base.min(self.longest);
        let of_base = (base * 16) << read.read_backoff;
        Times {
            base,
            uncut_base,
            of_base,
            limit: of_base.max(read.read_timeout.into()).min(self.longest),
        }
    }

    /// Random values that fit in the fields, the time and the configuration.
    fn garbage(&mut self) -> Inputs {
        let params = &self.params;
        let (a, b, c): (u64, u64, u64) = (self.random.random(), self.random.random(), self.random.random());
        let mask = |value: u64, bits: u32| value & low_bits(bits);
        let now = u64::from(self.now) + u64::from(self.phase.ticks);
        Inputs {
            now: mask(now, params.timestamp_bits) as u32,
            config_probe: self.config.0,
            config_first_probe: self.config.1,
            read_path: mask(a, params.path_index_bits()) as u16,
            read_in_flight: mask(a >> 16, params.window_bits) as u16,
            read_rtt_valid: a >> 32 & 1 != 0,
            read_backoff: mask(a >> 33, 4) as u8,
            read_smoothed_rtt: mask(b, params.rtt_bits) as u32,
            read_timeout: mask(b >> 32, params.timestamp_bits - 1) as u32,
            read_last_progress: mask(c, params.timestamp_bits) as u32,
            ..Inputs::default()
        }
    }

    /// The result of a READ of `path`.
    fn result(&mut self, inputs: &mut Inputs, path: u16) {
        let phase = self.phase;
        let random = &mut self.random;
        inputs.read_valid = true;
        inputs.read_path = path;
        inputs.read_rtt_valid = random.random_range(0..16) >= phase.unmeasured;
        inputs.read_smoothed_rtt &= low_bits(phase.rtt_bits) as u32;
        inputs.read_timeout &= low_bits(phase.timeout_bits) as u32;
        inputs.read_backoff = random.random_range(0..=phase.backoff);
        let drawn = random.random_range(0..16);
        let wish = if drawn < phase.due {
            Some(Wish::Due)
        } else if drawn < phase.due + phase.timeout {
            Some(Wish::Timeout)
        } else {
            [Some(Wish::Base), Some(Wish::Half), None][random.random_range(0..3)]
        };
        // A tick or two around what a rule asks for, or rather later.
        let late = [-1, 0, 0, 0, 1, 2, 3, 40][random.random_range(0..8)];
        if wish.is_some() {
            inputs.read_in_flight = inputs.read_in_flight.max(1);
        } else if random.random() {
            inputs.read_in_flight = 0;
        }
        let times = self.times(inputs);
        let probes = self.paths[usize::from(path)].probes;
        let idle = match wish {
            Some(Wish::Due) => times.base * u64::from(probes.min(MAX_PROBES - 1) + 1),
            Some(Wish::Timeout) => times.limit,
            Some(Wish::Base) => times.base,
            Some(Wish::Half) => self.longest + 1,
            None => return,
        };
        let clocks = self.unit.clocks_to_judge() - JUDGED_AFTER;
        let now = u64::from(inputs.now) + u64::from(phase.ticks) * u64::from(clocks);
        let last_progress = now.wrapping_sub(idle).wrapping_sub_signed(late);
        inputs.read_last_progress = (last_progress & low_bits(self.params.timestamp_bits)) as u32;
    }

    fn change_phase(&mut self) {
        let (time_bits, rtt_bits) = (self.params.timestamp_bits - 1, self.params.rtt_bits);
        let total = self.paths.len() as u32;
        let random = &mut self.random;
        let (due, timeout) = [(15, 0), (15, 1), (8, 4), (2, 12), (1, 1)][random.random_range(0..5)];
        self.phase = Phase {
            left: random.random_range(1..=40 * STEP_CLOCKS * total),
            ticks: [0, 1, 1, 3, low_bits(time_bits - 1) as u32][random.random_range(0..5)],
            due,
            timeout,
            rtt_bits: random.random_range(0..=rtt_bits),
            timeout_bits: random.random_range(0..=time_bits),
            backoff: [0, 3, MAX_BACKOFF][random.random_range(0..3)],
            unmeasured: [0, 1, 8, 16][random.random_range(0..4)],
        };
        // Now and then the time jumps to just before its wrap.
        if random.random() {
            self.now = (low_bits(time_bits + 1) - random.random_range(0..1000)) as u32;
        }
        for flow in [
            &mut self.path,
            &mut self.sack,
            &mut self.probe,
            &mut self.ack,
            &mut self.answer,
        ] {
            *flow = Flow::new([10, 200, 1000][random.random_range(0..3)]);
        }
    }
}
