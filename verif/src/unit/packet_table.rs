//! Stimulus of `packet_table`: a few paths at a time, each with a PSN that moves up and wraps, and descriptors that are read at every short distance, and over resets.

use crate::{
    bins::Bins,
    occupancy::Occupancy,
    stimulus::{Flow, Random, Resets, Spray, Stimulus, low_bits, random},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::packet_table::{Inputs, LATENCY, Outputs, op},
    serial::Serial,
    unit::packet_table::PacketTable as Unit,
};
use rand::RngExt;

/// Bins of a clock.
const CLOCK_BINS: [&str; 6] = [
    "offered while standing still with every place full",
    "operation held until it is accepted",
    "result held back",
    "reset while operations are in the pipeline",
    "reset in the clock after a WRITE was accepted",
    "WRITE offered in a clock with reset",
];

/// Bins of an accepted operation.
const OPERATION_BINS: [&str; 18] = [
    "WRITE: first of its place",
    "WRITE: another descriptor",
    "WRITE: the same descriptor",
    "WRITE: the PSN after its wrap",
    "READ: as written",
    "READ: another PSN of the same place",
    "READ: first place",
    "READ: last place",
    "READ: all bits are zero",
    "READ: all bits are one",
    "READ: only the stream is not zero",
    "READ: only the message is not zero",
    "READ: only the packet is not zero",
    "READ: written before a reset",
    "READ: written in the clock before a reset",
    "READ: of a WRITE that reset kept out",
    "READ: the same under another tag",
    "READ: after a WRITE of the same PSN on another path",
];

/// Moving clocks between two operations on one place that have bins of their own.
const DISTANCES: usize = LATENCY;
/// Bins of two operations on one place, for each distance.
const HAZARD_BINS: [&str; 5] = [
    "READ {} moving clocks after the WRITE that changed its descriptor",
    "READ {} moving clocks after the second of two close WRITEs that changed its descriptor",
    "READ {} moving clocks after another of its place",
    "WRITE {} moving clocks after a READ of its place that it would have changed",
    "WRITE {} moving clocks after another of its place",
];

const OPERATION: usize = CLOCK_BINS.len();
const HAZARD: usize = OPERATION + OPERATION_BINS.len();

/// Paths that can be hot at a time.
const HOT: u32 = 6;

/// Drives the unit.
pub struct PacketTable {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    path_mask: u16,
    sack_bits: u32,
    psns: Serial,
    /// Masks of the descriptor's fields.
    highest: Descriptor,
    spray: Spray,
    phase: Phase,
    /// The next PSN of each path.
    next: Box<[u32]>,
    /// For each place the number of its entry in `places`, from 1; 0 before anything is written.
    numbers: Box<[u32]>,
    places: Vec<Place>,
    resets_seen: usize,
    last: Inputs,
    /// Entry in `places` that a WRITE accepted in the clock before went to.
    just_written: Option<usize>,
    pipeline: Occupancy,
    /// The present moving clock.
    moment: usize,
    held: Option<Inputs>,
    bins: Bins,
}

/// What is written: stream, message, packet.
type Descriptor = (u8, u16, u32);

/// A place that was written, and what was last done to it.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    now: Descriptor,
    before: Descriptor,
    psn: u32,
    /// Moving clocks of the last WRITE, of the one before it, and of the last READ.
    written: usize,
    written_before: usize,
    read: usize,
    /// Resets until it was written.
    resets: usize,
    /// It was written in the clock before a reset.
    at_reset: bool,
    /// A reset kept a WRITE out that would have changed it.
    kept_out: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// WRITE of the path's next PSN.
    Next,
    /// WRITE of one of its last PSNs.
    Again,
    /// READ of one of its last PSNs.
    Last,
    /// READ of any PSN of the window.
    Window,
    /// READ of a PSN some windows away.
    Alias,
    /// The first place or the last.
    Edge,
    /// Any path and PSN.
    Any,
}

/// Mixtures of kinds, in parts.
const MIXTURES: [&[(Kind, usize)]; 5] = [
    // Packets leave, few are lost.
    &[
        (Kind::Next, 22),
        (Kind::Last, 4),
        (Kind::Window, 5),
        (Kind::Edge, 1),
    ],
    // Many are lost.
    &[
        (Kind::Next, 10),
        (Kind::Window, 12),
        (Kind::Last, 8),
        (Kind::Edge, 2),
    ],
    // The same ones over and over.
    &[(Kind::Again, 14), (Kind::Last, 14), (Kind::Next, 4)],
    // Reads.
    &[
        (Kind::Last, 10),
        (Kind::Window, 8),
        (Kind::Alias, 10),
        (Kind::Again, 4),
    ],
    // All over the memory.
    &[
        (Kind::Any, 10),
        (Kind::Edge, 10),
        (Kind::Next, 6),
        (Kind::Window, 6),
    ],
];

/// Stretch of operations with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    kinds: [Kind; 32],
}

impl Stimulus<Unit> for PacketTable {
    fn new(params: &Params, seed: u64) -> Self {
        let paths = params.total_paths();
        let names = [&CLOCK_BINS[..], &OPERATION_BINS].concat();
        let hazards = HAZARD_BINS
            .iter()
            .flat_map(|name| (1..=DISTANCES).map(move |distance| name.replace("{}", &distance.to_string())));
        let mut random = random(seed);
        let psns = Serial::new(params.psn_bits);
        // Most paths soon wrap.
        let next = (0..paths).map(|_| psns.mask() - (random.random_range(0..256) & psns.mask() >> 1));
        let next = next.collect();
        Self {
            random,
            valid: Flow::new(200),
            ready: Flow::new(100),
            resets: Resets::new(2000),
            path_mask: (paths - 1) as u16,
            sack_bits: params.sack_bits,
            psns,
            highest: (
                low_bits(index_bits(params.streams)) as u8,
                low_bits(params.message_slot_bits()) as u16,
                low_bits(params.packet_bits()) as u32,
            ),
            spray: Spray::new(paths),
            phase: Phase {
                left: 0,
                kinds: [Kind::Any; 32],
            },
            next,
            numbers: vec![0; (paths * params.sack_bits) as usize].into(),
            places: Vec::new(),
            resets_seen: 0,
            last: Inputs::default(),
            just_written: None,
            pipeline: Occupancy::new(LATENCY),
            moment: 2 * DISTANCES,
            held: None,
            bins: Bins::new(names.into_iter().map(String::from).chain(hazards)),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let ready = outputs.s_axis_op_tready;
        let valid = self.held.is_some() || self.valid.next(&mut self.random);
        let (garbage, steady) = self.garbage();
        let offered = if let Some(held) = self.held {
            Some(held)
        } else if valid && (ready || steady) {
            Some(self.operation(garbage))
        } else {
            None
        };
        // Nothing is accepted: garbage, unless the operation is one of those that are held steadily, or that reset keeps out.
        let inputs = Inputs {
            rst,
            s_axis_op_tvalid: valid,
            m_axis_result_tready: self.ready.next(&mut self.random),
            ..offered.unwrap_or(garbage)
        };
        self.count_clock(&inputs, outputs);
        if rst {
            self.reset(valid && ready, &inputs);
        } else {
            self.clock(valid && ready, &inputs, outputs);
            self.held = if ready { None } else { offered };
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl PacketTable {
    /// A clock with reset, in which what is `offered` would have been accepted without it.
    fn reset(&mut self, offered: bool, inputs: &Inputs) {
        if let Some(written) = self.just_written.take() {
            self.places[written].at_reset = true;
        }
        if offered
            && inputs.s_axis_op_op == op::WRITE
            && let Some(number) = self.number(inputs)
        {
            self.places[number].kept_out |= self.places[number].now != descriptor(inputs);
        }
        self.resets_seen += 1;
        self.pipeline.clear();
        self.held = None;
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, accepted: bool, inputs: &Inputs, outputs: &Outputs) {
        self.moment += usize::from(self.pipeline.moves());
        self.just_written = None;
        if accepted {
            self.accept(inputs);
        }
        self.pipeline.clock(
            accepted,
            outputs.m_axis_result_tvalid && inputs.m_axis_result_tready,
        );
    }

    /// Entry in `places` of what an operation is about, if it was written.
    #[inline]
    fn number(&self, operation: &Inputs) -> Option<usize> {
        (self.numbers[self.index(operation)] as usize).checked_sub(1)
    }

    #[inline]
    fn index(&self, operation: &Inputs) -> usize {
        let path = u32::from(operation.s_axis_op_path);
        (path * self.sack_bits + operation.s_axis_op_psn % self.sack_bits) as usize
    }

    /// Random values that fit in the fields, and whether to hold an operation steadily.
    #[inline]
    fn garbage(&mut self) -> (Inputs, bool) {
        let (a, b): (u64, u64) = (self.random.random(), self.random.random());
        let (stream, message, packet) = self.highest;
        let garbage = Inputs {
            s_axis_op_op: (a & 1) as u8,
            s_axis_op_tag: (a >> 1 & 1) as u8,
            s_axis_op_path: (a >> 2) as u16 & self.path_mask,
            s_axis_op_psn: (a >> 18) as u32 & self.psns.mask(),
            s_axis_op_stream: (a >> 50) as u8 & stream,
            s_axis_op_message: b as u16 & message,
            s_axis_op_packet: (b >> 16) as u32 & packet,
            ..Default::default()
        };
        (garbage, b >> 60 == 0)
    }

    /// An operation to offer; the fields that it does not use stay `garbage`.
    fn operation(&mut self, garbage: Inputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let dice = self.random.random::<u64>();
        let kind = self.phase.kinds[(dice >> 16) as usize & 31];
        let path = self.spray.next(dice as u16);
        let mut operation = Inputs {
            s_axis_op_path: path,
            ..garbage
        };
        let next = self.next[usize::from(path)];
        let back = |steps: u32| self.psns.distance(steps, next);
        let few = 1 + (dice >> 21 & dice >> 23 & 3) as u32;
        let some = 1 + (dice >> 25) as u32 % self.sack_bits;
        let turns = (dice >> 40 & 7) as u32 * self.sack_bits;
        let (op, psn) = match kind {
            Kind::Next => (op::WRITE, next),
            Kind::Again => (op::WRITE, back(few)),
            Kind::Last => (op::READ, back(few)),
            Kind::Window => (op::READ, back(some)),
            Kind::Alias => (op::READ, self.psns.add(back(few), turns)),
            Kind::Edge => {
                let last = dice >> 43 & 1 != 0;
                operation.s_axis_op_path = if last { self.path_mask } else { 0 };
                let low = if last { self.sack_bits - 1 } else { 0 };
                (garbage.s_axis_op_op, turns + low)
            }
            Kind::Any => (garbage.s_axis_op_op, garbage.s_axis_op_psn),
        };
        if matches!(kind, Kind::Next) {
            self.next[usize::from(path)] = self.psns.add(next, 1);
        }
        operation.s_axis_op_psn = psn & self.psns.mask();
        operation.s_axis_op_op = op;
        let number = self.number(&operation);
        if number.is_none() {
            // It must not be asked for.
            operation.s_axis_op_op = op::WRITE;
        }
        if operation.s_axis_op_op == op::WRITE {
            let now = number.map_or((0, 0, 0), |number| self.places[number].now);
            self.describe(&mut operation, now, dice >> 44);
        }
        operation
    }

    /// What to write: anything, something that stands out, or nearly what is there.
    fn describe(&self, operation: &mut Inputs, now: Descriptor, dice: u64) {
        let (stream, message, packet) = self.highest;
        let given = descriptor(operation);
        let written = match dice & 15 {
            0 => (0, 0, 0),
            1 => self.highest,
            2 => (given.0, 0, 0),
            3 => (0, given.1, 0),
            4 => (0, 0, given.2),
            5 => now,
            6 => (now.0 ^ (1 & stream), now.1, now.2),
            7 => (now.0, now.1 ^ (1 << (dice >> 4 & 15) & message), now.2),
            8 => (now.0, now.1, now.2 ^ (1 << (dice >> 4 & 31) & packet)),
            _ => given,
        };
        operation.s_axis_op_stream = written.0;
        operation.s_axis_op_message = written.1;
        operation.s_axis_op_packet = written.2;
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let mixture = MIXTURES[random.random_range(0..MIXTURES.len())];
        let mut parts = (mixture.iter()).flat_map(|&(kind, parts)| std::iter::repeat_n(kind, parts));
        self.phase.kinds = std::array::from_fn(|_| parts.next().unwrap_or(Kind::Any));
        // The hot paths often stay, so that one mixture finds what another left.
        if self.spray.count() > HOT || random.random() {
            self.spray.change(random, HOT);
        }
        self.phase.left = random.random_range(1..600);
    }

    /// The operation takes effect.
    #[inline]
    fn accept(&mut self, operation: &Inputs) {
        let number = self.number(operation);
        let place = number.map_or_else(Place::default, |number| self.places[number]);
        if operation.s_axis_op_op == op::WRITE {
            self.count_write(operation, number.map(|_| &place));
            let number = number.unwrap_or_else(|| {
                self.places.push(place);
                let index = self.index(operation);
                self.numbers[index] = self.places.len() as u32;
                self.places.len() - 1
            });
            self.places[number] = Place {
                now: descriptor(operation),
                before: place.now,
                psn: operation.s_axis_op_psn,
                written: self.moment,
                written_before: place.written,
                read: place.read,
                resets: self.resets_seen,
                at_reset: false,
                kept_out: false,
            };
            self.just_written = Some(number);
        } else {
            self.count_read(operation, &place);
            let number = number.expect("nothing is asked for that was not written");
            self.places[number].read = self.moment;
        }
        self.last = *operation;
    }

    #[inline]
    fn count_hazard(&mut self, hazard: usize, since: usize, happened: bool) {
        let distance = self.moment - since;
        if happened && distance <= DISTANCES {
            self.bins.hit(HAZARD + hazard * DISTANCES + distance - 1, true);
        }
    }

    #[inline]
    fn count_write(&mut self, operation: &Inputs, place: Option<&Place>) {
        let change = place.is_some_and(|place| place.now != descriptor(operation));
        let wraps = place.is_some_and(|place| place.psn > operation.s_axis_op_psn);
        self.bins.hit_each(
            OPERATION,
            [
                place.is_none(),
                change,
                place.is_some() && !change,
                operation.s_axis_op_psn == 0 || wraps && operation.s_axis_op_psn < self.sack_bits,
            ],
        );
        if let Some(place) = place {
            self.count_hazard(3, place.read, change);
            self.count_hazard(4, place.written, true);
        }
    }

    #[inline]
    fn count_read(&mut self, operation: &Inputs, place: &Place) {
        let change = place.now != place.before;
        let close = place.written - place.written_before <= DISTANCES;
        self.count_hazard(0, place.written, change);
        self.count_hazard(1, place.written, change && close);
        self.count_hazard(2, place.read, true);
        let index = self.index(operation);
        let (stream, message, packet) = place.now;
        let last = &self.last;
        let same_psn = last.s_axis_op_psn == operation.s_axis_op_psn;
        let same_path = last.s_axis_op_path == operation.s_axis_op_path;
        let read = last.s_axis_op_op == op::READ;
        let another_tag = last.s_axis_op_tag != operation.s_axis_op_tag;
        self.bins.hit_each(
            OPERATION + 4,
            [
                place.psn == operation.s_axis_op_psn,
                place.psn != operation.s_axis_op_psn,
                index == 0,
                index + 1 == self.numbers.len(),
                place.now == (0, 0, 0),
                place.now == self.highest,
                stream != 0 && message == 0 && packet == 0,
                stream == 0 && message != 0 && packet == 0,
                stream == 0 && message == 0 && packet != 0,
                place.resets < self.resets_seen,
                place.at_reset,
                place.kept_out,
                read && same_psn && same_path && another_tag,
                !read && same_psn && !same_path,
            ],
        );
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let waits = inputs.s_axis_op_tvalid && !outputs.s_axis_op_tready && !inputs.rst;
        let write = inputs.s_axis_op_tvalid && inputs.s_axis_op_op == op::WRITE;
        self.bins.hit_each(
            0,
            [
                waits && self.pipeline.is_full(),
                self.held.is_some() && outputs.s_axis_op_tready,
                outputs.m_axis_result_tvalid && !inputs.m_axis_result_tready,
                inputs.rst && !self.pipeline.is_empty(),
                inputs.rst && self.just_written.is_some(),
                inputs.rst && write && outputs.s_axis_op_tready,
            ],
        );
    }
}

/// What a WRITE writes.
#[inline]
fn descriptor(operation: &Inputs) -> Descriptor {
    (
        operation.s_axis_op_stream,
        operation.s_axis_op_message,
        operation.s_axis_op_packet,
    )
}
