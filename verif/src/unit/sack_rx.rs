//! Stimulus of `sack_rx`: senders that mostly keep the rules, on few paths at a time, and some that do not.

use crate::{
    bins::Bins,
    occupancy::Occupancy,
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::sack_rx::{COMMIT, Inputs, LATENCY, Outputs, op, verdict},
    serial::Serial,
    unit::sack_rx::SackRx as Unit,
};
use rand::RngExt;

/// Bins of a clock.
const CLOCK_BINS: [&str; 7] = [
    "offered while standing still with every place full",
    "offered while an INIT settles",
    "offered during the clear after reset",
    "operation held until it is accepted",
    "result held back",
    "reset while operations are in the pipeline",
    "reset during the clear after reset",
];

/// Bins of an accepted operation.
const ACCEPTED_BINS: [&str; 19] = [
    "PACKET accepted",
    "INIT accepted",
    "QUERY accepted",
    "ACKNOWLEDGE accepted",
    "INIT while packets of other paths are in the pipeline",
    "INIT near the wrap of the PSN",
    "PSN base - 1",
    "PSN base",
    "PSN base + sack_bits - 1",
    "PSN base + sack_bits",
    "PSN half the range before base, less 1",
    "PSN half the range before base",
    "PSN half the range before base, plus 1",
    "base moves by one",
    "base moves by several",
    "base moves by more than half the window",
    "base moves over the whole full window",
    "base moves past the wrap of the PSN",
    "highest received PSN moves past the wrap, base does not",
];

/// Bins of a result that is taken.
const RESULT_BINS: [&str; 17] = [
    "INIT done",
    "NEW in order",
    "NEW opens a hole",
    "NEW fills in, holes remain",
    "NEW fills the last hole",
    "DUPLICATE before the window",
    "DUPLICATE in the window",
    "OUT_OF_WINDOW",
    "OUT_OF_WINDOW only because the committed base lags",
    "window empty",
    "window full but for its base",
    "window spans the wrap of the PSN",
    "window's lowest and highest bits both set",
    "QUERY or ACKNOWLEDGE: NEW",
    "QUERY or ACKNOWLEDGE: DUPLICATE before the window",
    "QUERY or ACKNOWLEDGE: DUPLICATE in the window",
    "QUERY or ACKNOWLEDGE: OUT_OF_WINDOW",
];

/// Moving clocks between operations on one path that have bins of their own.
const DISTANCES: usize = 8;
/// Bins of two operations on one path, for each distance.
const HAZARD_BINS: [&str; 6] = [
    "PACKET {} moving clocks after the last one of its path",
    "PACKET {} moving clocks after the last one of its path, which had the same PSN",
    "PACKET {} moving clocks after the last one of its path, which moved the base",
    "INIT {} moving clocks after the last PACKET of its path",
    "QUERY {} moving clocks after the last PACKET of its path",
    "QUERY {} moving clocks after the last PACKET of its path, which had the same PSN",
];

const ACCEPTED: usize = CLOCK_BINS.len();
const RESULT: usize = ACCEPTED + ACCEPTED_BINS.len();
const HAZARD: usize = RESULT + RESULT_BINS.len();

/// Drives the unit.
pub struct SackRx {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    psns: Serial,
    sack_bits: u32,
    path_mask: u16,
    spray: Spray,
    phase: Phase,
    /// What each path's receiver has seen.
    paths: Box<[Path]>,
    pipeline: Occupancy,
    /// What was accepted in each of the last moving clocks: that of clock t at t modulo the length.
    recent: [Accepted; RECENT],
    /// The present moving clock.
    moment: usize,
    /// Moving clocks left in which nothing is accepted because of an INIT.
    settling: usize,
    held: Option<Operation>,
    bins: Bins,
}

const RECENT: usize = 16;
const _: () = assert!(COMMIT < RECENT && DISTANCES < RECENT);

/// Receive state of one path.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    received: [u64; 4],
    base: u32,
    next: u32,
    /// The committed base.
    window: u32,
    /// The moving clock in which its latest packet was accepted, the packet's PSN, and whether it moved the base.
    last: usize,
    last_psn: u32,
    last_moved: bool,
}

#[derive(Clone, Copy, Debug)]
struct Accepted {
    /// `u16::MAX` where nothing was accepted.
    path: u16,
    psn: u32,
    /// Base after it.
    base: u32,
}

const NOTHING: Accepted = Accepted {
    path: u16::MAX,
    psn: 0,
    base: 0,
};

#[derive(Clone, Copy, Debug)]
struct Operation {
    op: u8,
    path: u16,
    psn: u32,
}

/// What a packet's PSN is relative to its path's state.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The next one; the lowest missing one when the window is used up.
    InOrder,
    /// The next one, whatever is missing, but never the lowest missing one.
    Ahead,
    /// Some are lost before it.
    Skip,
    /// The lowest missing one.
    Base,
    /// Anywhere between the lowest missing and the highest received one.
    Fill,
    /// Anywhere in the window.
    Window,
    /// Down through the window.
    Down,
    /// Received a short while ago.
    Again,
    /// An edge of the window or of the half range.
    Edge,
    /// Anything.
    Far,
    /// The path starts anew.
    Init,
    /// QUERY or ACKNOWLEDGE, with the PSN of a packet that came, may come or is forged.
    Query,
}

/// Mixtures of kinds, in parts.
const MIXTURES: [&[(Kind, usize)]; 8] = [
    // A healthy path.
    &[
        (Kind::InOrder, 25),
        (Kind::Query, 3),
        (Kind::Skip, 1),
        (Kind::Base, 1),
        (Kind::Again, 1),
        (Kind::Edge, 1),
    ],
    // Heavy loss.
    &[
        (Kind::InOrder, 10),
        (Kind::Query, 2),
        (Kind::Skip, 6),
        (Kind::Base, 5),
        (Kind::Fill, 5),
        (Kind::Again, 2),
        (Kind::Edge, 2),
    ],
    // The lowest missing packet never comes: the window fills up.
    &[(Kind::Ahead, 31), (Kind::Edge, 1)],
    // And then it comes.
    &[(Kind::Base, 20), (Kind::Ahead, 10), (Kind::Edge, 2)],
    // No order at all.
    &[
        (Kind::Window, 28),
        (Kind::Base, 2),
        (Kind::Again, 1),
        (Kind::Edge, 1),
    ],
    // The wrong way round.
    &[(Kind::Down, 30), (Kind::Again, 2)],
    // A sender that does not keep the rules, or forged packets.
    &[
        (Kind::InOrder, 6),
        (Kind::Edge, 14),
        (Kind::Query, 2),
        (Kind::Far, 6),
        (Kind::Again, 4),
    ],
    // Paths start anew all the time.
    &[
        (Kind::InOrder, 16),
        (Kind::Ahead, 4),
        (Kind::Skip, 3),
        (Kind::Base, 2),
        (Kind::Edge, 3),
        (Kind::Init, 4),
    ],
];

const FILL_UP: usize = 2;

/// Stretch of clocks with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    kinds: [Kind; 32],
    /// Where in the window [`Kind::Down`] is.
    down: u32,
}

impl Stimulus<Unit> for SackRx {
    fn new(params: &Params, seed: u64) -> Self {
        let clear = params.total_paths() + COMMIT as u32;
        let names = [&CLOCK_BINS[..], &ACCEPTED_BINS, &RESULT_BINS].concat();
        let hazards = HAZARD_BINS
            .iter()
            .flat_map(|name| (1..=DISTANCES).map(move |distance| name.replace("{}", &distance.to_string())));
        Self {
            random: random(seed),
            valid: Flow::new(200),
            ready: Flow::new(100),
            resets: Resets::with_clear((20 * clear).max(4000), clear),
            psns: Serial::new(params.psn_bits),
            sack_bits: params.sack_bits,
            path_mask: (params.total_paths() - 1) as u16,
            spray: Spray::new(params.total_paths()),
            phase: Phase {
                left: 0,
                kinds: [Kind::InOrder; 32],
                down: 0,
            },
            paths: vec![Path::default(); params.total_paths() as usize].into(),
            pipeline: Occupancy::new(LATENCY),
            recent: [NOTHING; RECENT],
            moment: RECENT,
            settling: 0,
            held: None,
            bins: Bins::new(names.into_iter().map(String::from).chain(hazards)),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let accepts = outputs.s_axis_rx_tready && !rst;
        let valid = self.held.is_some() || self.valid.next(&mut self.random);
        let bits: u64 = self.random.random();
        let offered = if let Some(held) = self.held {
            Some(held)
        } else if valid && (accepts || bits >> 60 == 0) {
            Some(self.operation(bits))
        } else {
            None
        };
        // Nothing is accepted: garbage, unless the operation is one of those that are held steadily.
        let fields = offered.unwrap_or(Operation {
            op: (bits & 3) as u8,
            path: (bits >> 2) as u16 & self.path_mask,
            psn: (bits >> 32) as u32 & self.psns.mask(),
        });
        let inputs = Inputs {
            rst,
            s_axis_rx_tvalid: valid,
            s_axis_rx_op: fields.op,
            s_axis_rx_path: fields.path,
            s_axis_rx_psn: fields.psn,
            m_axis_rx_tready: self.ready.next(&mut self.random),
        };
        self.count_clock(&inputs, outputs);
        if rst {
            self.reset();
        } else {
            self.clock(offered.filter(|_| valid && accepts), &inputs, outputs);
            self.held = if accepts { None } else { offered };
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl SackRx {
    fn reset(&mut self) {
        self.paths.fill(Path::default());
        self.pipeline.clear();
        self.recent = [NOTHING; RECENT];
        self.settling = 0;
        self.held = None;
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, accepted: Option<Operation>, inputs: &Inputs, outputs: &Outputs) {
        let taken = outputs.m_axis_rx_tvalid && inputs.m_axis_rx_tready;
        if taken {
            self.count_result(outputs);
        }
        if self.pipeline.moves() {
            self.moment += 1;
            self.settling = self.settling.saturating_sub(1);
            let committed = self.recent[(self.moment - COMMIT) % RECENT];
            if committed.path != NOTHING.path {
                self.paths[usize::from(committed.path)].window = committed.base;
            }
            self.recent[self.moment % RECENT] = accepted.map_or(NOTHING, |operation| self.accept(operation));
        }
        self.pipeline.clock(accepted.is_some(), taken);
    }

    /// An operation to offer.
    #[inline]
    fn operation(&mut self, bits: u64) -> Operation {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let number = self.spray.next(bits as u16);
        let path = self.paths[usize::from(number)];
        let psns = self.psns;
        let any = (bits >> 21) as u32 & 0xffff;
        let within = |span: u32| (any * span) >> 16;
        let mut op = op::PACKET;
        let psn = match self.phase.kinds[(bits >> 16) as usize & 31] {
            Kind::InOrder if psns.distance(path.window, path.next) >= self.sack_bits && any & 7 != 0 => {
                path.base
            }
            Kind::Ahead if path.next == path.base => psns.add(path.next, 1),
            Kind::InOrder | Kind::Ahead => path.next,
            Kind::Skip => psns.add(path.next, 1 + (any & 3)),
            Kind::Base => path.base,
            Kind::Fill => psns.add(
                path.base,
                within(psns.distance(path.base, path.next).min(self.sack_bits)),
            ),
            Kind::Window => psns.add(path.base, within(self.sack_bits)),
            Kind::Down => {
                self.phase.down = self.phase.down.wrapping_sub(1);
                psns.add(path.base, self.phase.down & (self.sack_bits - 1))
            }
            Kind::Again => match self.recent[(self.moment - (any as usize & 7)) % RECENT] {
                recent if any & 8 != 0 && recent.path != NOTHING.path => {
                    return Operation {
                        op,
                        path: recent.path,
                        psn: recent.psn,
                    };
                }
                _ => psns.distance(1 + (any & 3), path.next),
            },
            Kind::Edge => self.edge(&path, any),
            // Half of them have the place of one in the window.
            Kind::Far if any & 1 != 0 => {
                psns.add(path.base, (any >> 1 & 7) * self.sack_bits + (any >> 4 & 63))
            }
            Kind::Far => (bits >> 32) as u32 & psns.mask(),
            Kind::Query => {
                op = [op::QUERY, op::ACKNOWLEDGE][(any & 1) as usize];
                match any >> 1 & 7 {
                    0 => path.next,
                    1 => path.base,
                    2 => path.last_psn,
                    3 => self.edge(&path, any >> 4),
                    4 | 5 => psns.add(path.base, within(self.sack_bits)),
                    _ => (bits >> 32) as u32 & psns.mask(),
                }
            }
            Kind::Init => {
                op = op::INIT;
                match any & 3 {
                    0 => psns.add(path.base, (any >> 2 & 3) * self.sack_bits + (any >> 4 & 63)),
                    1 => (bits >> 32) as u32 & psns.mask(),
                    _ => psns.mask() - (any >> 4 & 15),
                }
            }
        };
        Operation {
            op,
            path: number,
            psn,
        }
    }

    /// A PSN at an edge of the window, or one beside it.
    #[inline]
    fn edge(&self, path: &Path, any: u32) -> u32 {
        let from = if any & 1 != 0 { path.base } else { path.window };
        let (edge, beside) = match any >> 1 & 7 {
            0 => (0, 1),
            1..=4 => (self.sack_bits, 1),
            5 => (self.psns.half(), 1),
            6 => (self.psns.mask(), 1),
            _ => (self.sack_bits, 8),
        };
        // From one less than the edge to one more.
        let off = [0, beside, self.psns.mask(), self.psns.mask()][(any >> 4 & 3) as usize];
        self.psns.add(self.psns.add(from, edge), off)
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let mixture = random.random_range(0..MIXTURES.len());
        let mut parts =
            (MIXTURES[mixture].iter()).flat_map(|&(kind, parts)| std::iter::repeat_n(kind, parts));
        self.phase.kinds = std::array::from_fn(|_| parts.next().unwrap_or(Kind::InOrder));
        self.phase.down = 0;
        // The hot paths often stay, so that one mixture finds what another left.
        let most = if mixture == FILL_UP { 2 } else { COMMIT as u32 + 2 };
        if self.spray.count() > most || random.random_range(0..4) == 0 {
            self.spray.change(random, most);
        }
        let longest = if mixture == FILL_UP {
            3 * self.spray.count().min(most)
        } else {
            2
        };
        self.phase.left = random.random_range(1..=longest * self.sack_bits);
    }

    /// The operation takes effect.
    #[inline]
    fn accept(&mut self, operation: Operation) -> Accepted {
        let psns = self.psns;
        let (init, packet) = (operation.op == op::INIT, operation.op == op::PACKET);
        let path = &mut self.paths[usize::from(operation.path)];
        let before = *path;
        if init {
            *path = Path {
                base: operation.psn,
                next: operation.psn,
                ..Path::default()
            };
            self.settling = COMMIT - 1;
        } else if packet {
            path.receive(operation.psn, psns, self.sack_bits);
            (path.last, path.last_psn) = (self.moment, operation.psn);
            path.last_moved = path.base != before.base;
        }
        let moved = if init {
            0
        } else {
            psns.distance(before.base, path.base)
        };
        let accepted = Accepted {
            path: operation.path,
            psn: operation.psn,
            base: path.base,
        };
        let wraps = !init && path.next < before.next;
        let base_wraps = moved > 0 && path.base < before.base;
        let ahead = psns.distance(before.base, operation.psn);
        let packet_at = |distance: u32| packet && ahead == distance;
        self.bins.hit_each(
            ACCEPTED,
            [
                packet,
                init,
                operation.op == op::QUERY,
                operation.op == op::ACKNOWLEDGE,
                init && !self.pipeline.is_empty(),
                init && operation.psn > psns.mask() - 16,
                packet_at(psns.mask()),
                packet_at(0),
                packet_at(self.sack_bits - 1),
                packet_at(self.sack_bits),
                packet_at(psns.half() - 1),
                packet_at(psns.half()),
                packet_at(psns.half() + 1),
                moved == 1,
                moved > 1,
                moved > self.sack_bits / 2,
                moved == self.sack_bits,
                base_wraps,
                wraps && !base_wraps,
            ],
        );
        let distance = self.moment - before.last;
        if distance <= DISTANCES {
            let kinds = [
                packet,
                packet && operation.psn == before.last_psn,
                packet && before.last_moved,
                init,
                operation.op == op::QUERY,
                operation.op == op::QUERY && operation.psn == before.last_psn,
            ];
            for (kind, happened) in kinds.into_iter().enumerate() {
                self.bins.hit(HAZARD + kind * DISTANCES + distance - 1, happened);
            }
        }
        accepted
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let idle = !outputs.m_axis_rx_tvalid || inputs.m_axis_rx_tready;
        if idle && outputs.s_axis_rx_tready && self.held.is_none() && !inputs.rst {
            return;
        }
        let waits = inputs.s_axis_rx_tvalid && !outputs.s_axis_rx_tready && !inputs.rst;
        let moves = self.pipeline.moves();
        let clears = moves && !outputs.s_axis_rx_tready && self.settling == 0;
        self.bins.hit_each(
            0,
            [
                waits && self.pipeline.is_full(),
                waits && moves && self.settling > 0,
                waits && clears,
                self.held.is_some() && outputs.s_axis_rx_tready,
                outputs.m_axis_rx_tvalid && !inputs.m_axis_rx_tready,
                inputs.rst && !self.pipeline.is_empty(),
                inputs.rst && clears,
            ],
        );
    }

    #[inline]
    fn count_result(&mut self, outputs: &Outputs) {
        let packet = outputs.m_axis_rx_op == op::PACKET;
        let new = packet && outputs.m_axis_rx_verdict == verdict::NEW;
        let in_order = new && !outputs.m_axis_rx_new_hole && !outputs.m_axis_rx_filled;
        let asked = [op::QUERY, op::ACKNOWLEDGE].contains(&outputs.m_axis_rx_op);
        let gives = |verdict: u8| outputs.m_axis_rx_verdict == verdict;
        let duplicate = gives(verdict::DUPLICATE);
        let out = packet && gives(verdict::OUT_OF_WINDOW);
        let ahead = self.psns.distance(outputs.m_axis_rx_base, outputs.m_axis_rx_psn);
        let vector = outputs.m_axis_rx_vector.data;
        let set: u32 = vector.iter().map(|limb| limb.count_ones()).sum();
        let bit = |psn: u32| {
            let bit = psn & (self.sack_bits - 1);
            vector[(bit / 64) as usize] >> (bit % 64) & 1 != 0
        };
        let base = outputs.m_axis_rx_base;
        self.bins.hit_each(
            RESULT,
            [
                outputs.m_axis_rx_op == op::INIT,
                in_order,
                outputs.m_axis_rx_new_hole,
                outputs.m_axis_rx_filled && outputs.m_axis_rx_hole,
                outputs.m_axis_rx_filled && !outputs.m_axis_rx_hole,
                packet && duplicate && ahead >= self.psns.half(),
                packet && duplicate && ahead < self.psns.half(),
                out,
                out && ahead < self.sack_bits,
                packet && set == 0,
                set == self.sack_bits - 1,
                outputs.m_axis_rx_hole
                    && base > self.psns.mask() - self.sack_bits
                    && bit(self.psns.mask())
                    && bit(0),
                bit(0) && bit(self.sack_bits - 1),
                asked && gives(verdict::NEW),
                asked && duplicate && ahead >= self.psns.half(),
                asked && duplicate && ahead < self.psns.half(),
                asked && gives(verdict::OUT_OF_WINDOW),
            ],
        );
    }
}

impl Path {
    #[inline]
    fn receive(&mut self, psn: u32, psns: Serial, sack_bits: u32) {
        // Within the committed window, and not before the base.
        if psns.distance(self.window, psn) >= sack_bits || psns.distance(self.base, psn) >= sack_bits {
            return;
        }
        if psns.reaches(psn, self.next) {
            self.next = psns.add(psn, 1);
        }
        let place = |psn: u32| {
            (
                (psn & (sack_bits - 1)) as usize / 64,
                1u64 << (psn & (sack_bits - 1) & 63),
            )
        };
        let (limb, bit) = place(psn);
        self.received[limb] |= bit;
        loop {
            let (limb, bit) = place(self.base);
            if self.received[limb] & bit == 0 {
                return;
            }
            self.received[limb] &= !bit;
            self.base = psns.add(self.base, 1);
        }
    }
}
