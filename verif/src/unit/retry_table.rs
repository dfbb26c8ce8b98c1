//! Stimulus of `retry_table`: a few paths at a time that are marked and taken at every short distance, seldom, often and needlessly.

use crate::{
    bins::Bins,
    intake::{EVENTS, Intake},
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::retry_table::{Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op},
    unit::retry_table::RetryTable as Unit,
};
use rand::RngExt;

/// Bins of an operation that takes effect.
const OPERATION_BINS: [&str; 11] = [
    "MARK: the path is queued",
    "MARK: queued already",
    "MARK: first of its path since reset",
    "MARK: queued before a reset",
    "MARK: three in a row that find it queued",
    "TAKE: queued",
    "TAKE: not queued",
    "TAKE: first of its path since reset",
    "first path",
    "last path",
    "all paths are queued",
];

/// Moving clocks between two operations on one path, from acceptance to acceptance, that have a bin.
const ACCEPTED_DISTANCES: usize = 8;
/// Name of their bins.
const ACCEPTED_BIN: &str = "operation accepted {} moving clocks after another of its path";

/// Moving clocks between two operations on one path, from issue to issue, that have bins: these to [`FARTHEST`].
const NEAREST: usize = SAME_PATH_CLOCKS;
const FARTHEST: usize = 12;
const DISTANCES: usize = FARTHEST + 1 - NEAREST;
/// Bins of two operations on one path, for each distance.
const HAZARD_BINS: [&str; 8] = [
    "MARK that queues, issued {} moving clocks after a TAKE of a queued path",
    "MARK that queues, issued {} moving clocks after a needless TAKE",
    "MARK of a queued path, issued {} moving clocks after the MARK that queued it",
    "MARK of a queued path, issued {} moving clocks after another",
    "TAKE of a queued path, issued {} moving clocks after the MARK that queued it",
    "TAKE of a queued path, issued {} moving clocks after a MARK that found it queued",
    "needless TAKE, issued {} moving clocks after a TAKE of a queued path",
    "needless TAKE, issued {} moving clocks after another",
];

const OPERATION: usize = EVENTS.len();
const ACCEPTED: usize = OPERATION + OPERATION_BINS.len();
const HAZARD: usize = ACCEPTED + ACCEPTED_DISTANCES;

/// Paths that can be hot at a time.
const HOT: u32 = 13;

/// Drives the unit.
pub struct RetryTable {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    path_mask: u16,
    spray: Spray,
    phase: Phase,
    paths: Box<[Path]>,
    /// Paths that are queued.
    queued: usize,
    intake: Intake<Inputs>,
    bins: Bins,
}

/// One path, as the unit has it.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    queued: bool,
    /// It was queued when a reset came, and no operation was on it since.
    was_queued: bool,
    /// Something was done since the reset.
    begun: bool,
    /// MARKs in a row that found it queued.
    needless: u8,
    /// Moving clock of the last acceptance.
    accepted: usize,
    /// What was issued last, the latest first: as many as can be within [`FARTHEST`].
    recent: [Issued; FARTHEST / NEAREST],
}

#[derive(Clone, Copy, Debug, Default)]
struct Issued {
    moment: usize,
    op: u8,
    /// It found the path queued.
    found: bool,
}

/// Stretch of operations of one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    /// MARKs among 8 operations.
    marks: u32,
    /// Who takes a path knows that it is queued, and who marks it that it is not, but for one in 8.
    knows: bool,
}

impl Stimulus<Unit> for RetryTable {
    fn new(params: &Params, seed: u64) -> Self {
        let total = params.total_paths();
        let with_distance = |name: &str, distance: usize| name.replace("{}", &distance.to_string());
        let names = [&EVENTS[..], &OPERATION_BINS].concat();
        let accepted = (1..=ACCEPTED_DISTANCES).map(|distance| with_distance(ACCEPTED_BIN, distance));
        let hazards = HAZARD_BINS
            .iter()
            .flat_map(|name| (NEAREST..=FARTHEST).map(move |distance| with_distance(name, distance)));
        let names = names.into_iter().map(String::from).chain(accepted).chain(hazards);
        Self {
            random: random(seed),
            valid: Flow::new(400),
            ready: Flow::new(100),
            resets: Resets::with_clear((20 * total).max(4000), total),
            path_mask: (total - 1) as u16,
            spray: Spray::new(total),
            phase: Phase {
                left: 0,
                marks: 0,
                knows: false,
            },
            paths: vec![Path::default(); total as usize].into(),
            queued: 0,
            intake: Intake::new(LATENCY),
            bins: Bins::new(names),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let ready = outputs.s_axis_op_tready;
        let valid = self.intake.held().is_some() || self.valid.next(&mut self.random);
        let taken = self.ready.next(&mut self.random);
        let result = outputs.m_axis_result_tvalid;
        self.bins
            .hit_each(0, self.intake.events(rst, valid, ready, result, taken));
        let dice: u64 = self.random.random();
        let garbage = Inputs {
            s_axis_op_op: (dice & 1) as u8,
            s_axis_op_path: (dice >> 1) as u16 & self.path_mask,
            ..Default::default()
        };
        let fields = if rst {
            self.reset();
            garbage
        } else {
            if let Some(operation) = self.intake.issue(ready) {
                self.execute(&operation);
            }
            // Nothing is accepted: garbage, unless the operation is one of those that are held steadily.
            let steady = dice >> 60 == 0;
            let offered = match self.intake.held() {
                None if valid && (ready || steady) => Some(self.operation((dice >> 17) as u32)),
                held => held,
            };
            if self.intake.clock(offered, ready, result && taken) {
                self.count_acceptance(offered.unwrap_or(garbage).s_axis_op_path);
            }
            offered.unwrap_or(garbage)
        };
        Inputs {
            rst,
            s_axis_op_tvalid: valid,
            m_axis_result_tready: taken,
            ..fields
        }
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl RetryTable {
    fn reset(&mut self) {
        if !self.intake.is_clearing() {
            for path in &mut self.paths {
                *path = Path {
                    was_queued: path.queued,
                    ..Path::default()
                };
            }
            self.queued = 0;
        }
        self.intake.reset();
    }

    /// An operation to offer, given random bits.
    fn operation(&mut self, dice: u32) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let index = self.spray.next(dice as u16);
        let marks = if self.phase.knows && dice >> 16 & 7 != 0 {
            !self.paths[usize::from(index)].queued
        } else {
            (dice >> 19 & 7) < self.phase.marks
        };
        Inputs {
            s_axis_op_op: if marks { op::MARK } else { op::TAKE },
            s_axis_op_path: index,
            ..Default::default()
        }
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        self.phase.marks = random.random_range(0..=8);
        self.phase.knows = random.random_range(0..3) == 0;
        // The hot paths often stay, so that one mixture finds what another left.
        if self.spray.count() > HOT || random.random_range(0..4) == 0 {
            let most = if random.random() { 8 } else { HOT };
            self.spray.change(random, most);
        }
        // Longer where all are hot, so that all are queued.
        self.phase.left = random.random_range(1..=16 * self.spray.count());
    }

    #[inline]
    fn count_acceptance(&mut self, path: u16) {
        let moment = self.intake.moment();
        let accepted = &mut self.paths[usize::from(path)].accepted;
        let distance = moment - std::mem::replace(accepted, moment);
        if (1..=ACCEPTED_DISTANCES).contains(&distance) {
            self.bins.hit(ACCEPTED + distance - 1, true);
        }
    }

    /// The operation takes effect.
    #[inline]
    fn execute(&mut self, operation: &Inputs) {
        let index = usize::from(operation.s_axis_op_path);
        let total = self.paths.len();
        let path = &mut self.paths[index];
        let before = *path;
        let mark = operation.s_axis_op_op == op::MARK;
        let take = !mark;
        path.queued = mark;
        (path.was_queued, path.begun) = (false, true);
        path.needless = if mark && before.queued {
            before.needless.saturating_add(1)
        } else {
            0
        };
        self.queued = self.queued + usize::from(mark) - usize::from(before.queued);
        self.bins.hit_each(
            OPERATION,
            [
                mark && !before.queued,
                mark && before.queued,
                mark && !before.begun,
                mark && before.was_queued,
                mark && before.needless == 2,
                take && before.queued,
                take && !before.queued,
                take && !before.begun,
                index == 0,
                index == total - 1,
                self.queued == total,
            ],
        );
        let now = Issued {
            moment: self.intake.moment(),
            op: operation.s_axis_op_op,
            found: before.queued,
        };
        self.count_hazards(index, now);
    }

    /// Counts what follows on what of one path.
    #[inline]
    fn count_hazards(&mut self, path: usize, now: Issued) {
        let (mark, take) = (now.op == op::MARK, now.op == op::TAKE);
        for last in self.paths[path].recent {
            let distance = now.moment - last.moment;
            if !(NEAREST..=FARTHEST).contains(&distance) {
                continue;
            }
            let (marked, taken) = (last.op == op::MARK, last.op == op::TAKE);
            let hazards = [
                mark && !now.found && taken && last.found,
                mark && !now.found && taken && !last.found,
                mark && now.found && marked && !last.found,
                mark && now.found && marked && last.found,
                take && now.found && marked && !last.found,
                take && now.found && marked && last.found,
                take && !now.found && taken && last.found,
                take && !now.found && taken && !last.found,
            ];
            for (hazard, happened) in hazards.into_iter().enumerate() {
                self.bins
                    .hit(HAZARD + hazard * DISTANCES + distance - NEAREST, happened);
            }
        }
        let recent = &mut self.paths[path].recent;
        recent.rotate_right(1);
        recent[0] = now;
    }
}
