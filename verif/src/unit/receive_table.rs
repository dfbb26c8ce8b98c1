//! Stimulus of `receive_table`: streams whose rings fill, run full and drain, and Sends that find their receive, come too early or too late, or are too long.

use crate::{
    bins::Bins,
    intake::{EVENTS, Intake},
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::receive_table::{Inputs, LATENCY, NUMBER_BITS, Outputs, SAME_STREAM_CLOCKS, op, status},
    serial::Serial,
    unit::receive_table::ReceiveTable as Unit,
};
use rand::RngExt;

/// Bins of an operation that takes effect.
const COUNT_BINS: [&str; 16] = [
    "POST",
    "POST into the last free entry",
    "POST into the first entry again",
    "POST refused",
    "POST of no bytes",
    "POST of most bytes",
    "COMPLETE",
    "COMPLETE of a full ring",
    "COMPLETE of the last one",
    "COMPLETE refused",
    "POST of the last number before the wrap",
    "COMPLETE of the last number before the wrap",
    "INIT, nothing posted",
    "INIT, something posted",
    "INIT of a full ring",
    "INIT just below the wrap",
];

/// Bins of a MATCH that takes effect.
const MATCH_BINS: [&str; 30] = [
    "DONE: the oldest",
    "DONE: the newest of several",
    "DONE: one in the middle",
    "DONE: ring full",
    "DONE: beyond the end of the ring",
    "DONE: beyond the wrap of the numbers",
    "DONE: no bytes at the end",
    "DONE: no bytes of none",
    "DONE: address carries into its upper half",
    "DONE: address wraps",
    "DONE: offset with its highest bit set",
    "GONE: the last one completed",
    "GONE: half the numbers ahead",
    "GONE: same entry as one that is posted",
    "GONE: before number 0",
    "GONE: nothing posted",
    "NOT_POSTED: the next one",
    "NOT_POSTED: the next one, ring full",
    "NOT_POSTED: one less than half the numbers ahead",
    "NOT_POSTED: same entry as one that is posted",
    "NOT_POSTED: nothing posted",
    "NOT_POSTED: beyond the wrap of the numbers",
    "bytes end one before the receive's end",
    "bytes end at the receive's end",
    "bytes end one after the receive's end",
    "TOO_LONG: no bytes after the end",
    "TOO_LONG: only by the carry out of 32 bits",
    "DONE: to the end of 2^32 - 1 bytes",
    "GONE and too long",
    "NOT_POSTED and too long",
];

/// Moving clocks between two operations on one stream, from acceptance to acceptance, that have a bin.
const ACCEPTED_DISTANCES: usize = 8;
/// Name of their bins.
const ACCEPTED_BIN: &str = "operation accepted {} moving clocks after another of its stream";

/// Moving clocks between two operations on one stream, from issue to issue, that have bins: these to [`FARTHEST`].
const NEAREST: usize = SAME_STREAM_CLOCKS;
const FARTHEST: usize = 12;
const DISTANCES: usize = FARTHEST + 1 - NEAREST;
/// Bins of two operations on one stream, for each distance.
const HAZARD_BINS: [&str; 17] = [
    "POST issued {} moving clocks after another",
    "POST refused, issued {} moving clocks after another that was not",
    "POST issued {} moving clocks after the COMPLETE that freed its entry",
    "POST issued {} moving clocks after a MATCH that missed it",
    "MATCH issued {} moving clocks after the POST of its receive",
    "MATCH issued {} moving clocks after the COMPLETE of its receive",
    "MATCH issued {} moving clocks after the POST of another into its entry",
    "MATCH issued {} moving clocks after another of its receive",
    "COMPLETE issued {} moving clocks after the POST of its receive",
    "COMPLETE issued {} moving clocks after a MATCH of its receive",
    "COMPLETE issued {} moving clocks after another",
    "COMPLETE refused, issued {} moving clocks after another that was not",
    "INIT issued {} moving clocks after a POST",
    "INIT issued {} moving clocks after a COMPLETE",
    "POST issued {} moving clocks after an INIT",
    "MATCH issued {} moving clocks after an INIT",
    "COMPLETE refused, issued {} moving clocks after an INIT",
];

const COUNT: usize = EVENTS.len();
const MATCH: usize = COUNT + COUNT_BINS.len();
const ACCEPTED: usize = MATCH + MATCH_BINS.len();
const HAZARD: usize = ACCEPTED + ACCEPTED_DISTANCES;

/// Numbers of receives.
const NUMBERS: Serial = Serial::new(NUMBER_BITS);
/// Streams that can be hot at a time.
const HOT: u32 = 13;

/// Drives the unit.
pub struct ReceiveTable {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    stream_mask: u16,
    bytes_mask: u16,
    receives: u32,
    spray: Spray,
    phase: Phase,
    streams: Box<[Stream]>,
    /// The rings of all streams, one after the other.
    entries: Box<[Entry]>,
    intake: Intake<Inputs>,
    bins: Bins,
}

/// One stream, as the unit has it.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    posted: u32,
    completed: u32,
    /// Moving clock of the last acceptance.
    accepted: usize,
    /// What was issued last, the latest first: as many as can be within [`FARTHEST`].
    recent: [Issued; FARTHEST / NEAREST],
}

#[derive(Clone, Copy, Debug, Default)]
struct Issued {
    moment: usize,
    op: u8,
    status: u8,
    number: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    address: u64,
    length: u32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Post,
    Complete,
    /// MATCH of any receive that is posted.
    Open,
    Oldest,
    Newest,
    /// MATCH of the next receive to be posted, or one soon after.
    Next,
    /// MATCH of the receive completed last, or one soon before.
    Gone,
    /// MATCH around half of the numbers ahead.
    Half,
    /// MATCH of another number with the entry of one that is posted.
    Alias,
    /// MATCH of any number.
    Any,
    Init,
}

/// Mixtures of kinds, in parts.
const MIXTURES: [&[(Kind, usize)]; 7] = [
    // A stream at work.
    &[
        (Kind::Post, 8),
        (Kind::Open, 10),
        (Kind::Oldest, 3),
        (Kind::Newest, 2),
        (Kind::Complete, 8),
        (Kind::Init, 1),
    ],
    // The ring fills up.
    &[
        (Kind::Post, 22),
        (Kind::Newest, 4),
        (Kind::Open, 4),
        (Kind::Next, 2),
    ],
    // The ring drains.
    &[
        (Kind::Complete, 20),
        (Kind::Oldest, 4),
        (Kind::Gone, 4),
        (Kind::Newest, 4),
    ],
    // One in, one out.
    &[
        (Kind::Post, 14),
        (Kind::Complete, 12),
        (Kind::Oldest, 2),
        (Kind::Newest, 3),
        (Kind::Alias, 1),
    ],
    // Senders that run ahead or lag behind.
    &[
        (Kind::Post, 7),
        (Kind::Complete, 6),
        (Kind::Next, 8),
        (Kind::Gone, 7),
        (Kind::Open, 4),
    ],
    // Senders that make up numbers.
    &[
        (Kind::Half, 8),
        (Kind::Alias, 9),
        (Kind::Any, 4),
        (Kind::Init, 3),
        (Kind::Post, 5),
        (Kind::Complete, 3),
    ],
    // Mostly packets.
    &[
        (Kind::Open, 14),
        (Kind::Oldest, 6),
        (Kind::Newest, 6),
        (Kind::Post, 3),
        (Kind::Complete, 3),
    ],
];

/// Stretch of operations with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    kinds: [Kind; 32],
}

impl Stimulus<Unit> for ReceiveTable {
    fn new(params: &Params, seed: u64) -> Self {
        let total = params.total_streams();
        let with_distance = |name: &str, distance: usize| name.replace("{}", &distance.to_string());
        let names = [&EVENTS[..], &COUNT_BINS, &MATCH_BINS].concat();
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
            stream_mask: (total - 1) as u16,
            bytes_mask: (1 << params.payload_bits()) - 1,
            receives: params.receives,
            spray: Spray::new(total),
            phase: Phase {
                left: 0,
                kinds: [Kind::Any; 32],
            },
            streams: vec![Stream::default(); total as usize].into(),
            entries: vec![Entry::default(); (total * params.receives) as usize].into(),
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
            let steady = garbage.s_axis_op_identifier >> 28 == 0;
            let offered = match self.intake.held() {
                None if valid && (ready || steady) => Some(self.operation(garbage)),
                held => held,
            };
            if self.intake.clock(offered, ready, result && taken) {
                self.count_acceptance(offered.unwrap_or(garbage).s_axis_op_stream);
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

impl ReceiveTable {
    fn reset(&mut self) {
        if !self.intake.is_clearing() {
            self.streams.fill(Stream::default());
        }
        self.intake.reset();
    }

    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let (a, b, c): (u64, u64, u64) = (self.random.random(), self.random.random(), self.random.random());
        Inputs {
            s_axis_op_op: (a & 3) as u8,
            s_axis_op_stream: (a >> 2) as u16 & self.stream_mask,
            s_axis_op_number: (a >> 18) as u32 & NUMBERS.mask(),
            s_axis_op_bytes: (a >> 42) as u16 & self.bytes_mask,
            s_axis_op_offset: b as u32,
            s_axis_op_length: (b >> 32) as u32,
            s_axis_op_address: c,
            s_axis_op_identifier: ((c >> 16) as u32) ^ b as u32,
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
        let index = self.spray.next(dice as u16);
        let kind = self.phase.kinds[(dice >> 16) as usize & 31];
        let mut operation = Inputs {
            s_axis_op_stream: index,
            ..garbage
        };
        match kind {
            Kind::Post => self.post(&mut operation),
            Kind::Complete => operation.s_axis_op_op = op::COMPLETE,
            Kind::Init => self.init(&mut operation, dice >> 21),
            _ => self.find(&mut operation, kind, dice >> 21),
        }
        operation
    }

    /// An INIT: more often than not numbers soon wrap, or pass half of them.
    fn init(&mut self, operation: &mut Inputs, dice: u32) {
        operation.s_axis_op_op = op::INIT;
        let below = dice >> 3 & (2 * self.receives - 1);
        operation.s_axis_op_number = match dice & 7 {
            0 => operation.s_axis_op_number,
            1 => self.streams[usize::from(operation.s_axis_op_stream)].completed,
            2 => NUMBERS.half() - 1 - below,
            _ => NUMBERS.mask() - below,
        };
    }

    /// A POST: the buffer lies where something carries, as often as not.
    fn post(&mut self, operation: &mut Inputs) {
        operation.s_axis_op_op = op::POST;
        let (address, length) = (operation.s_axis_op_address, operation.s_axis_op_length);
        operation.s_axis_op_length = match self.random.random_range(0..8) {
            0 => length,
            1 => u32::MAX,
            2 => length & 1,
            3 => length >> (length & 31),
            4 => u32::MAX - (length & 0xff),
            _ => length & 0xfff,
        };
        operation.s_axis_op_address = match self.random.random_range(0..4) {
            0 => address,
            1 => address | 0xffff_f000,
            2 => address | 0xffff_ffff_ffff_f000,
            _ => address & 0xffff,
        };
    }

    /// A MATCH of that kind.
    fn find(&mut self, operation: &mut Inputs, kind: Kind, dice: u32) {
        operation.s_axis_op_op = op::MATCH;
        let index = operation.s_axis_op_stream;
        let stream = &self.streams[usize::from(index)];
        let open = NUMBERS.distance(stream.completed, stream.posted);
        let some = self.random.random_range(0..open.max(1));
        let few = dice & 3;
        let (from, steps) = match kind {
            Kind::Oldest => (stream.completed, 0),
            Kind::Newest => (stream.posted, NUMBERS.mask()),
            Kind::Next => (stream.posted, few & dice >> 2),
            Kind::Gone => (stream.completed, NUMBERS.mask() - (few & dice >> 2)),
            Kind::Half => (stream.completed, NUMBERS.half() - (dice & 1)),
            Kind::Alias => {
                let turns = match dice >> 2 & 3 {
                    0 => 1,
                    1 => NUMBERS.mask(),
                    _ => 1 << self.random.random_range(0..NUMBER_BITS),
                };
                (stream.completed, some.wrapping_add(turns * self.receives))
            }
            Kind::Any => (operation.s_axis_op_number, 0),
            _ => (stream.completed, some),
        };
        operation.s_axis_op_number = NUMBERS.add(from, steps);
        let length = self.entries[self.entry(index, operation.s_axis_op_number)].length;
        let bytes = match dice >> 4 & 7 {
            0 => 0,
            1 => 1,
            2 => self.bytes_mask,
            _ => operation.s_axis_op_bytes,
        };
        operation.s_axis_op_bytes = bytes;
        let bytes = u32::from(bytes);
        let within = self.random.random_range(0..=length.saturating_sub(bytes));
        operation.s_axis_op_offset = match dice >> 7 & 15 {
            0 => operation.s_axis_op_offset,
            1 => u32::MAX - (operation.s_axis_op_offset & 0xff),
            2 => 0,
            3 => length.saturating_add(1),
            4 => length,
            5 | 6 => length.wrapping_sub(bytes).wrapping_add(1),
            7 => length.wrapping_sub(bytes).wrapping_sub(1),
            8 | 9 => length.wrapping_sub(bytes),
            10 => length.saturating_sub(bytes),
            _ => within,
        };
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let mixture = MIXTURES[random.random_range(0..MIXTURES.len())];
        let mut parts = (mixture.iter()).flat_map(|&(kind, parts)| std::iter::repeat_n(kind, parts));
        self.phase.kinds = std::array::from_fn(|_| parts.next().unwrap_or(Kind::Any));
        // The hot streams often stay, so that one mixture finds what another left.
        if self.spray.count() > HOT || random.random_range(0..4) == 0 {
            let most = if random.random() { 8 } else { HOT };
            self.spray.change(random, most);
        }
        self.phase.left = random.random_range(1..=4 * self.receives * self.spray.count().min(HOT));
    }

    /// Place of a receive among all entries.
    #[inline]
    fn entry(&self, stream: u16, number: u32) -> usize {
        (u32::from(stream) * self.receives + number % self.receives) as usize
    }

    #[inline]
    fn count_acceptance(&mut self, stream: u16) {
        let moment = self.intake.moment();
        let accepted = &mut self.streams[usize::from(stream)].accepted;
        let distance = moment - std::mem::replace(accepted, moment);
        if (1..=ACCEPTED_DISTANCES).contains(&distance) {
            self.bins.hit(ACCEPTED + distance - 1, true);
        }
    }

    /// The operation takes effect.
    #[inline]
    fn execute(&mut self, operation: &Inputs) {
        let index = operation.s_axis_op_stream;
        let before = self.streams[usize::from(index)];
        let stream = &mut self.streams[usize::from(index)];
        let open = NUMBERS.distance(stream.completed, stream.posted);
        let (number, status) = match operation.s_axis_op_op {
            op::POST if open < self.receives => {
                stream.posted = NUMBERS.add(stream.posted, 1);
                (before.posted, status::DONE)
            }
            op::POST => (before.posted, status::REFUSED),
            op::COMPLETE if open > 0 => {
                stream.completed = NUMBERS.add(stream.completed, 1);
                (before.completed, status::DONE)
            }
            op::COMPLETE => (before.completed, status::REFUSED),
            op::MATCH => {
                let number = operation.s_axis_op_number;
                (number, self.count_match(operation, &before, open))
            }
            _ => {
                let number = operation.s_axis_op_number;
                (stream.posted, stream.completed) = (number, number);
                (number, status::DONE)
            }
        };
        let done = status == status::DONE;
        let is = |op: u8, done_is: bool| operation.s_axis_op_op == op && done == done_is;
        let entry = self.entry(index, number);
        self.bins.hit_each(
            COUNT,
            [
                is(op::POST, true),
                is(op::POST, true) && open == self.receives - 1,
                is(op::POST, true) && number > 0 && number % self.receives == 0,
                is(op::POST, false),
                is(op::POST, true) && operation.s_axis_op_length == 0,
                is(op::POST, true) && operation.s_axis_op_length == u32::MAX,
                is(op::COMPLETE, true),
                is(op::COMPLETE, true) && open == self.receives,
                is(op::COMPLETE, true) && open == 1,
                is(op::COMPLETE, false),
                is(op::POST, true) && number == NUMBERS.mask(),
                is(op::COMPLETE, true) && number == NUMBERS.mask(),
                is(op::INIT, true) && open == 0,
                is(op::INIT, true) && open > 0,
                is(op::INIT, true) && open == self.receives,
                is(op::INIT, true) && number > NUMBERS.mask() - self.receives,
            ],
        );
        if is(op::POST, true) {
            self.entries[entry] = Entry {
                address: operation.s_axis_op_address,
                length: operation.s_axis_op_length,
            };
        }
        self.count_hazards(
            usize::from(index),
            Issued {
                moment: self.intake.moment(),
                op: operation.s_axis_op_op,
                status,
                number,
            },
        );
    }

    /// Counts what follows on what of one stream.
    #[inline]
    fn count_hazards(&mut self, stream: usize, now: Issued) {
        let is =
            |issued: &Issued, op: u8, done: bool| issued.op == op && (issued.status == status::DONE) == done;
        let (post, found, complete) = (
            is(&now, op::POST, true),
            now.op == op::MATCH,
            is(&now, op::COMPLETE, true),
        );
        for last in self.streams[stream].recent {
            let distance = now.moment - last.moment;
            if !(NEAREST..=FARTHEST).contains(&distance) {
                continue;
            }
            let same = last.number == now.number;
            let same_entry = last.number % self.receives == now.number % self.receives;
            let posted = is(&last, op::POST, true);
            let completed = is(&last, op::COMPLETE, true);
            let (init, last_init) = (now.op == op::INIT, last.op == op::INIT);
            let hazards = [
                post && posted,
                is(&now, op::POST, false) && posted,
                post && completed && same_entry,
                post && last.op == op::MATCH && last.status == status::NOT_POSTED && same,
                found && posted && same,
                found && completed && same,
                found && posted && same_entry && !same,
                found && last.op == op::MATCH && same,
                complete && posted && same,
                complete && is(&last, op::MATCH, true) && same,
                complete && completed,
                is(&now, op::COMPLETE, false) && completed,
                init && posted,
                init && completed,
                post && last_init,
                found && last_init,
                is(&now, op::COMPLETE, false) && last_init,
            ];
            for (hazard, happened) in hazards.into_iter().enumerate() {
                self.bins
                    .hit(HAZARD + hazard * DISTANCES + distance - NEAREST, happened);
            }
        }
        let recent = &mut self.streams[stream].recent;
        recent.rotate_right(1);
        recent[0] = now;
    }

    /// Counts a MATCH; gives its status.
    #[inline]
    fn count_match(&mut self, operation: &Inputs, stream: &Stream, open: u32) -> u8 {
        let number = operation.s_axis_op_number;
        let entry = self.entries[self.entry(operation.s_axis_op_stream, number)];
        let ahead = NUMBERS.distance(stream.completed, number);
        let (offset, bytes) = (operation.s_axis_op_offset, operation.s_axis_op_bytes);
        let (end, length) = (u64::from(offset) + u64::from(bytes), u64::from(entry.length));
        let status = if ahead >= NUMBERS.half() {
            status::GONE
        } else if ahead >= open {
            status::NOT_POSTED
        } else if end > length {
            status::TOO_LONG
        } else {
            status::DONE
        };
        let done = status == status::DONE;
        let (gone, not_posted) = (status == status::GONE, status == status::NOT_POSTED);
        let posted = ahead < open;
        let address = entry.address.wrapping_add(offset.into());
        let alias = ahead % self.receives < open;
        self.bins.hit_each(
            MATCH,
            [
                done && ahead == 0,
                done && ahead + 1 == open && open > 2,
                done && 0 < ahead && ahead + 1 < open,
                done && open == self.receives,
                done && number % self.receives < stream.completed % self.receives,
                done && number < stream.completed,
                done && bytes == 0 && end == length && length > 0,
                done && bytes == 0 && length == 0,
                done && address >> 32 != entry.address >> 32,
                done && address < entry.address,
                done && offset >> 31 != 0,
                gone && ahead == NUMBERS.mask(),
                gone && ahead == NUMBERS.half(),
                gone && alias,
                gone && number > stream.completed,
                gone && open == 0,
                not_posted && ahead == open && open > 0,
                not_posted && ahead == open && open == self.receives,
                not_posted && ahead == NUMBERS.half() - 1,
                not_posted && alias && ahead > open,
                not_posted && open == 0,
                not_posted && number < stream.completed,
                posted && end + 1 == length,
                posted && end == length,
                posted && end == length + 1,
                posted && bytes == 0 && end > length,
                posted && end >> 32 != 0 && end & 0xffff_ffff <= length,
                done && end == length && entry.length == u32::MAX,
                gone && end > length,
                not_posted && end > length,
            ],
        );
        status
    }
}
