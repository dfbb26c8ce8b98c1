//! Stimulus of `ack_table`: paths on which packets gather until enough are there, one calls at once, or the delay is just over; acknowledgements that are made in time, late or needlessly.

use crate::{
    bins::Bins,
    intake::{EVENTS, Intake},
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::ack_table::{EVERY, Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op},
    serial::Serial,
    unit::ack_table::AckTable as Unit,
};
use rand::RngExt;

/// Bins of a RECEIVE that takes effect.
const RECEIVE_BINS: [&str; 14] = [
    "due: the packet that makes it enough",
    "due: at once, alone",
    "due: at once, the packet that makes it enough",
    "not due: one fewer than enough",
    "not due: at once, due already",
    "not due: enough, due already",
    "waiting packets become 15",
    "waiting packets stay 15",
    "packet of data, marked",
    "packet of data, not marked",
    "packet of data, carries to the 32nd",
    "probe, marked",
    "probe, not marked",
    "packet on another plane than the one before",
];

/// Bins of another operation that takes effect.
const OTHER_BINS: [&str; 27] = [
    "SCAN: just old enough",
    "SCAN: one tick too young",
    "SCAN: older",
    "SCAN: old enough over a wrap of the time",
    "SCAN: 65535 ticks or more",
    "SCAN: no delay, no tick",
    "SCAN: old enough after the longest delay",
    "SCAN: old enough, due already",
    "SCAN: old enough, nothing waits",
    "SCAN: old enough, nothing came since INIT",
    "TAKE: due",
    "TAKE: not due, something waits",
    "TAKE: nothing waits, again",
    "TAKE: nothing came since INIT",
    "TAKE: held for no tick",
    "TAKE: held for 65534 ticks",
    "TAKE: held for 65535 ticks or more",
    "TAKE: held over a wrap of the time",
    "TAKE: held for half of the time",
    "TAKE: all marked",
    "TAKE: some marked",
    "TAKE: more than 31 packets",
    "INIT: due",
    "INIT: not due, something waits",
    "INIT: nothing waits",
    "reserved code, due",
    "reserved code, not due, something waits",
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
const HAZARD_BINS: [&str; 18] = [
    "RECEIVE that makes due, issued {} moving clocks after one that did not",
    "RECEIVE that does not make due, issued {} moving clocks after another",
    "RECEIVE that would make due, issued {} moving clocks after one that did",
    "RECEIVE that would make due, issued {} moving clocks after a SCAN that did",
    "RECEIVE that makes due, issued {} moving clocks after a TAKE",
    "RECEIVE that does not make due, issued {} moving clocks after a TAKE",
    "RECEIVE issued {} moving clocks after an INIT",
    "SCAN that makes due, issued {} moving clocks after a RECEIVE",
    "SCAN that makes due, issued {} moving clocks after one that did not",
    "SCAN that would make due, issued {} moving clocks after a RECEIVE that did",
    "SCAN that would make due, issued {} moving clocks after one that did",
    "SCAN of nothing, issued {} moving clocks after a TAKE",
    "SCAN issued {} moving clocks after an INIT",
    "TAKE issued {} moving clocks after a RECEIVE that made due",
    "TAKE issued {} moving clocks after a SCAN that made due",
    "TAKE issued {} moving clocks after another",
    "TAKE issued {} moving clocks after an INIT",
    "INIT issued {} moving clocks after an operation that made due",
];

const RECEIVE: usize = EVENTS.len();
const OTHER: usize = RECEIVE + RECEIVE_BINS.len();
const ACCEPTED: usize = OTHER + OTHER_BINS.len();
const HAZARD: usize = ACCEPTED + ACCEPTED_DISTANCES;

/// Most packets that are counted as waiting.
const MOST_WAITING: u8 = 15;
/// Paths that can be hot at a time.
const HOT: u32 = 13;

/// Drives the unit.
pub struct AckTable {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    times: Serial,
    path_mask: u16,
    plane_mask: u8,
    spray: Spray,
    phase: Phase,
    paths: Box<[Path]>,
    /// The present time, which starts anew below its wrap after every reset.
    now: u32,
    delay: u16,
    intake: Intake<Inputs>,
    bins: Bins,
}

/// One path, as the unit has it.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    waiting: u8,
    due: bool,
    /// Something came since INIT.
    begun: bool,
    arrival: u32,
    plane: u8,
    packets: u32,
    marked: u32,
    /// Moving clock of the last acceptance.
    accepted: usize,
    /// What was issued last, the latest first: as many as can be within [`FARTHEST`].
    recent: [Issued; FARTHEST / NEAREST],
}

#[derive(Clone, Copy, Debug, Default)]
struct Issued {
    moment: usize,
    op: u8,
    /// It would make an acknowledgement due.
    asks: bool,
    /// It did.
    due: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// RECEIVE of a packet of data.
    Data,
    /// RECEIVE that calls for an acknowledgement at once.
    AtOnce,
    /// RECEIVE of a probe.
    Probe,
    /// RECEIVE of anything.
    Packet,
    /// SCAN at the present time.
    Scan,
    /// SCAN around the end of the delay.
    Edge,
    /// SCAN at another time.
    Late,
    Take,
    /// TAKE at another time.
    TakeLate,
    Init,
    Reserved,
}

/// Mixtures of kinds, in parts.
const MIXTURES: [&[(Kind, usize)]; 6] = [
    // A path at work.
    &[
        (Kind::Data, 16),
        (Kind::AtOnce, 2),
        (Kind::Probe, 1),
        (Kind::Scan, 5),
        (Kind::Take, 7),
        (Kind::Reserved, 1),
    ],
    // Nobody makes acknowledgements.
    &[
        (Kind::Data, 17),
        (Kind::Packet, 4),
        (Kind::AtOnce, 2),
        (Kind::Scan, 4),
        (Kind::Edge, 4),
        (Kind::Reserved, 1),
    ],
    // Few packets, which wait for the delay.
    &[
        (Kind::Data, 8),
        (Kind::Edge, 11),
        (Kind::Scan, 2),
        (Kind::Late, 3),
        (Kind::Take, 6),
        (Kind::TakeLate, 2),
    ],
    // Acknowledgements are made all the time.
    &[
        (Kind::Take, 12),
        (Kind::TakeLate, 4),
        (Kind::AtOnce, 6),
        (Kind::Packet, 4),
        (Kind::Late, 2),
        (Kind::Edge, 4),
    ],
    // Any time and packet.
    &[
        (Kind::Packet, 8),
        (Kind::Late, 10),
        (Kind::TakeLate, 10),
        (Kind::Reserved, 3),
        (Kind::Init, 1),
    ],
    // Paths start anew all the time.
    &[
        (Kind::Init, 8),
        (Kind::Packet, 5),
        (Kind::Data, 4),
        (Kind::AtOnce, 4),
        (Kind::Late, 3),
        (Kind::Edge, 3),
        (Kind::Take, 3),
        (Kind::TakeLate, 2),
    ],
];

/// Stretch of operations with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    kinds: [Kind; 32],
}

impl Stimulus<Unit> for AckTable {
    fn new(params: &Params, seed: u64) -> Self {
        let total = params.total_paths();
        let with_distance = |name: &str, distance: usize| name.replace("{}", &distance.to_string());
        let names = [&EVENTS[..], &RECEIVE_BINS, &OTHER_BINS].concat();
        let accepted = (1..=ACCEPTED_DISTANCES).map(|distance| with_distance(ACCEPTED_BIN, distance));
        let hazards = HAZARD_BINS
            .iter()
            .flat_map(|name| (NEAREST..=FARTHEST).map(move |distance| with_distance(name, distance)));
        let names = names.into_iter().map(String::from).chain(accepted).chain(hazards);
        Self {
            random: random(seed),
            valid: Flow::new(400),
            ready: Flow::new(100),
            resets: Resets::with_clear((20 * total).max(20_000), total),
            times: Serial::new(params.timestamp_bits),
            path_mask: (total - 1) as u16,
            plane_mask: (1 << params.plane_bits()) - 1,
            spray: Spray::new(total),
            phase: Phase {
                left: 0,
                kinds: [Kind::Packet; 32],
            },
            paths: vec![Path::default(); total as usize].into(),
            now: 0,
            delay: 0,
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
        let garbage = self.garbage();
        let fields = if rst {
            self.reset();
            garbage
        } else {
            if let Some(operation) = self.intake.issue(ready) {
                self.execute(&operation);
            }
            // Nothing is accepted: garbage, unless the operation is one of those that are held steadily.
            let steady = garbage.s_axis_op_arrival & 15 == 0;
            let offered = match self.intake.held() {
                None if valid && (ready || steady) => Some(self.operation(garbage)),
                held => held,
            };
            if self.intake.clock(offered, ready, result && taken) {
                self.count_acceptance(offered.unwrap_or(garbage).s_axis_op_path);
            }
            offered.unwrap_or(garbage)
        };
        Inputs {
            rst,
            config_delay: self.delay,
            s_axis_op_tvalid: valid,
            m_axis_result_tready: taken,
            ..fields
        }
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl AckTable {
    fn reset(&mut self) {
        if !self.intake.is_clearing() {
            self.paths.fill(Path::default());
        }
        self.intake.reset();
        let random = &mut self.random;
        self.now = self.times.mask() - random.random_range(0..2000);
        self.delay = match random.random_range(0..8) {
            0 => 0,
            1..3 => u16::MAX,
            3 => random.random(),
            4 => random.random_range(0..4),
            _ => random.random_range(4..256),
        };
    }

    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let (a, b): (u64, u64) = (self.random.random(), self.random.random());
        Inputs {
            s_axis_op_op: (a & 7) as u8,
            s_axis_op_path: (a >> 3) as u16 & self.path_mask,
            s_axis_op_plane: (a >> 19) as u8 & self.plane_mask,
            s_axis_op_counts: a >> 27 & 1 != 0,
            s_axis_op_marked: a >> 28 & 1 != 0,
            s_axis_op_at_once: a >> 29 & 1 != 0,
            s_axis_op_timestamp: (a >> 32) as u32 & self.times.mask(),
            s_axis_op_arrival: b as u32 & self.times.mask(),
            s_axis_op_now: (b >> 32) as u32 & self.times.mask(),
            ..Default::default()
        }
    }

    /// An operation to offer; the fields that it does not use stay `garbage`.
    fn operation(&mut self, garbage: Inputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let dice = self.random.random::<u32>();
        self.now = self.times.add(self.now, dice >> 30);
        let index = self.spray.next(dice as u16);
        let kind = self.phase.kinds[(dice >> 16) as usize & 31];
        let mut operation = Inputs {
            s_axis_op_path: index,
            ..garbage
        };
        match kind {
            Kind::Data | Kind::AtOnce | Kind::Probe | Kind::Packet => {
                self.receive(&mut operation, kind, dice >> 21);
            }
            Kind::Scan | Kind::Edge | Kind::Late => {
                operation.s_axis_op_op = op::SCAN;
                operation.s_axis_op_now = self.time(&operation, kind, dice >> 21);
            }
            Kind::Take | Kind::TakeLate => {
                operation.s_axis_op_op = op::TAKE;
                operation.s_axis_op_now = self.time(&operation, kind, dice >> 21);
            }
            Kind::Init => operation.s_axis_op_op = op::INIT,
            Kind::Reserved => operation.s_axis_op_op |= 4,
        }
        operation
    }

    /// A RECEIVE of that kind.
    fn receive(&mut self, operation: &mut Inputs, kind: Kind, dice: u32) {
        operation.s_axis_op_op = op::RECEIVE;
        match kind {
            Kind::Data => (operation.s_axis_op_counts, operation.s_axis_op_at_once) = (true, false),
            Kind::AtOnce => operation.s_axis_op_at_once = true,
            Kind::Probe => operation.s_axis_op_counts = false,
            _ => operation.s_axis_op_at_once &= dice & 3 == 0,
        }
        // Mostly it came a moment ago.
        if dice >> 2 & 31 != 0 {
            let ago = dice >> 7 & 3;
            operation.s_axis_op_arrival = self.times.distance(ago, self.now);
        }
    }

    /// The time of a SCAN or TAKE of that kind.
    fn time(&mut self, operation: &Inputs, kind: Kind, dice: u32) -> u32 {
        let path = self.paths[usize::from(operation.s_axis_op_path)];
        let delay = u32::from(self.delay);
        let ticks = match kind {
            Kind::Edge => match dice & 7 {
                0..4 => delay,
                4..6 => delay.saturating_sub(1),
                _ => delay + 1,
            },
            Kind::Late | Kind::TakeLate => match dice & 7 {
                0 => 0,
                1 => 65_534,
                2 => 65_535,
                3 => 65_536,
                4 => self.times.half(),
                5 => self.random.random_range(0..=65_536),
                _ => return operation.s_axis_op_now,
            },
            _ => return self.now,
        };
        self.times.add(path.arrival, ticks)
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let mixture = MIXTURES[random.random_range(0..MIXTURES.len())];
        let mut parts = (mixture.iter()).flat_map(|&(kind, parts)| std::iter::repeat_n(kind, parts));
        self.phase.kinds = std::array::from_fn(|_| parts.next().unwrap_or(Kind::Packet));
        // The hot paths often stay, so that one mixture finds what another left.
        if self.spray.count() > HOT || random.random_range(0..4) == 0 {
            let most = if random.random() { 8 } else { HOT };
            self.spray.change(random, most);
        }
        self.phase.left = random.random_range(1..=64 * self.spray.count().min(HOT));
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
        let path = &mut self.paths[index];
        let before = *path;
        let ticks = self.times.distance(before.arrival, operation.s_axis_op_now);
        let is_old = ticks >= u32::from(self.delay);
        let mut asks = false;
        match operation.s_axis_op_op {
            op::INIT => {
                *path = Path {
                    accepted: before.accepted,
                    recent: before.recent,
                    ..Default::default()
                };
            }
            op::RECEIVE => {
                path.waiting = (before.waiting + 1).min(MOST_WAITING);
                (path.arrival, path.plane) = (operation.s_axis_op_arrival, operation.s_axis_op_plane);
                path.begun = true;
                path.packets += u32::from(operation.s_axis_op_counts);
                path.marked += u32::from(operation.s_axis_op_counts && operation.s_axis_op_marked);
                asks = operation.s_axis_op_at_once || path.waiting >= EVERY;
                self.count_receive(operation, &before);
            }
            op::SCAN => asks = before.waiting > 0 && is_old,
            op::TAKE => (path.waiting, path.due) = (0, false),
            _ => (),
        }
        let path = &mut self.paths[index];
        path.due |= asks;
        if operation.s_axis_op_op != op::RECEIVE {
            self.count_other(operation, &before, ticks);
        }
        self.count_hazards(
            index,
            Issued {
                moment: self.intake.moment(),
                op: operation.s_axis_op_op,
                asks,
                due: asks && !before.due,
            },
        );
    }

    #[inline]
    fn count_receive(&mut self, operation: &Inputs, before: &Path) {
        let (at_once, due) = (operation.s_axis_op_at_once, before.due);
        let (counts, marked) = (operation.s_axis_op_counts, operation.s_axis_op_marked);
        let waiting = before.waiting + 1;
        self.bins.hit_each(
            RECEIVE,
            [
                !due && !at_once && waiting == EVERY,
                !due && at_once && waiting == 1,
                !due && at_once && waiting == EVERY,
                !due && !at_once && waiting == EVERY - 1,
                due && at_once,
                due && !at_once && waiting >= EVERY,
                waiting == MOST_WAITING,
                waiting > MOST_WAITING,
                counts && marked,
                counts && !marked,
                counts && before.packets % 32 == 31,
                !counts && marked,
                !counts && !marked,
                before.begun && before.plane != operation.s_axis_op_plane,
            ],
        );
    }

    #[inline]
    fn count_other(&mut self, operation: &Inputs, before: &Path, ticks: u32) {
        let is = |code: u8| operation.s_axis_op_op == code;
        let (scan, take, init) = (is(op::SCAN), is(op::TAKE), is(op::INIT));
        let reserved = operation.s_axis_op_op > op::TAKE;
        let delay = u32::from(self.delay);
        let (due, waits) = (before.due, before.waiting > 0);
        let wrapped = operation.s_axis_op_now < before.arrival;
        let makes_due = scan && waits && !due && ticks >= delay;
        let young = scan && waits && !due && ticks < delay;
        self.bins.hit_each(
            OTHER,
            [
                makes_due && ticks == delay,
                young && ticks + 1 == delay,
                makes_due && ticks > delay,
                makes_due && wrapped,
                makes_due && ticks >= 65_535,
                makes_due && ticks == 0,
                makes_due && self.delay == u16::MAX,
                scan && due && ticks >= delay,
                scan && !waits && before.begun && ticks >= delay,
                scan && !before.begun && ticks >= delay,
                take && due,
                take && !due && waits,
                take && !waits && before.begun,
                take && !before.begun,
                take && waits && ticks == 0,
                take && ticks == 65_534,
                take && ticks >= 65_535,
                take && waits && wrapped,
                take && ticks == self.times.half(),
                take && before.marked > 0 && before.marked == before.packets,
                take && before.marked > 0 && before.marked < before.packets,
                take && before.packets > 31,
                init && due,
                init && !due && waits,
                init && !waits,
                reserved && due,
                reserved && !due && waits,
            ],
        );
    }

    /// Counts what follows on what of one path.
    #[inline]
    fn count_hazards(&mut self, path: usize, now: Issued) {
        let [receive, scan, take] = [op::RECEIVE, op::SCAN, op::TAKE].map(|code| now.op == code);
        for last in self.paths[path].recent {
            let distance = now.moment - last.moment;
            if !(NEAREST..=FARTHEST).contains(&distance) {
                continue;
            }
            let received = last.op == op::RECEIVE;
            let scanned = last.op == op::SCAN;
            let taken = last.op == op::TAKE;
            let anew = last.op == op::INIT;
            let needless = now.asks && !now.due;
            let hazards = [
                receive && now.due && received && !last.due,
                receive && !now.asks && received,
                receive && needless && received && last.due,
                receive && needless && scanned && last.due,
                receive && now.due && taken,
                receive && !now.asks && taken,
                receive && anew,
                scan && now.due && received,
                scan && now.due && scanned && !last.due,
                scan && needless && received && last.due,
                scan && needless && scanned && last.due,
                scan && !now.asks && taken,
                scan && anew,
                take && received && last.due,
                take && scanned && last.due,
                take && taken,
                take && anew,
                now.op == op::INIT && last.due,
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
