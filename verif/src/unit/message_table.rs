//! Stimulus of `message_table`: streams whose messages come in any order, a packet too many, too early or too late, and streams that start anew.

use crate::{
    bins::Bins,
    intake::{EVENTS, Intake},
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::{
        message_table::{Inputs, LATENCY, Outputs, SAME_STREAM_CLOCKS, op, status},
        receive_table::NUMBER_BITS,
    },
    serial::Serial,
    unit::message_table::MessageTable as Unit,
};
use rand::RngExt;

/// Bins of a COUNT that takes effect.
const COUNT_BINS: [&str; 27] = [
    "PART: begun",
    "PART: continued",
    "PART: no bytes",
    "PART: one byte left",
    "PART: more to tell",
    "PART: length with its highest bit set",
    "begun where another was begun and then told",
    "begun where another was begun before INIT",
    "begun with a count in its place that would be too much",
    "WHOLE: with one packet",
    "WHOLE: with the last of several",
    "WHOLE: no bytes",
    "WHOLE: the oldest",
    "WHOLE: the last that is due",
    "WHOLE: the last of all that are due",
    "WHOLE: beyond the wrap, the oldest before it",
    "WHOLE: shorter than its first packet said",
    "TOO_LONG: by one byte, begun",
    "TOO_LONG: by one byte, not begun",
    "TOO_LONG: whole, no bytes",
    "TOO_LONG: whole, longer than before",
    "OUTSIDE: the first that is not due",
    "OUTSIDE: told last",
    "OUTSIDE: half the numbers ahead",
    "OUTSIDE: place of one that is whole",
    "OUTSIDE: would be whole at once",
    "OUTSIDE: more to tell",
];

/// Bins of another operation that takes effect.
const OTHER_BINS: [&str; 23] = [
    "TOLD: more to tell",
    "TOLD: no more to tell",
    "TOLD: all that are due were whole",
    "TOLD: the last before the wrap",
    "TOLD: several packets",
    "TOLD: kind 0",
    "TOLD: kind 1",
    "TOLD: kind 2",
    "TOLD: kind 3",
    "NONE: the oldest not begun",
    "NONE: the oldest begun",
    "NONE: the next is whole",
    "NONE: the one a ring before is told",
    "INIT: the oldest whole",
    "INIT: the oldest begun",
    "INIT: all but the oldest whole",
    "INIT: to a place that is whole",
    "INIT: to the same message",
    "INIT: to the last before the wrap",
    "INIT: to 0",
    "INIT: nothing begun",
    "reserved code, more to tell",
    "reserved code, no more to tell",
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
    "COUNT that continues, issued {} moving clocks after another of its message",
    "COUNT that makes whole, issued {} moving clocks after another of its message",
    "COUNT that is too much, issued {} moving clocks after another of its message",
    "COUNT of a whole message, issued {} moving clocks after the one that made it so",
    "COUNT issued {} moving clocks after another of its message that was too much",
    "COUNT issued {} moving clocks after that of another message",
    "TELL issued {} moving clocks after the COUNT that made its message whole",
    "TELL of none, issued {} moving clocks after a COUNT of the oldest",
    "COUNT that makes the oldest whole, issued {} moving clocks after a TELL of none",
    "TELL issued {} moving clocks after another",
    "TELL of none, issued {} moving clocks after another that told",
    "COUNT of a message issued {} moving clocks after it was told",
    "COUNT issued {} moving clocks after the one at its place was told",
    "COUNT issued {} moving clocks after an INIT",
    "TELL issued {} moving clocks after an INIT",
    "INIT issued {} moving clocks after a COUNT that made whole",
    "INIT issued {} moving clocks after another",
];

const COUNT: usize = EVENTS.len();
const OTHER: usize = COUNT + COUNT_BINS.len();
const ACCEPTED: usize = OTHER + OTHER_BINS.len();
const HAZARD: usize = ACCEPTED + ACCEPTED_DISTANCES;

/// Numbers of messages.
const NUMBERS: Serial = Serial::new(NUMBER_BITS);
/// Streams that can be hot at a time.
const HOT: u32 = 13;

/// Drives the unit.
pub struct MessageTable {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    stream_mask: u16,
    bytes_mask: u16,
    /// Messages of a stream.
    places: u32,
    spray: Spray,
    phase: Phase,
    streams: Box<[Stream]>,
    /// The messages of all streams, one stream after the other.
    messages: Box<[Message]>,
    intake: Intake<Inputs>,
    bins: Bins,
}

/// One stream, as the unit has it: bit i of a set stands for the message at place i.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    oldest: u32,
    begun: u64,
    whole: u64,
    /// Those of which an INIT took something away that was begun.
    broken: u64,
    /// Those in which one was told.
    told: u64,
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
    message: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Message {
    counted: u32,
    /// What its first packet said, or the one that made it whole.
    length: u32,
    packets: u32,
    kind: u8,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A packet of any message that is due.
    Packet,
    /// The last packet of any message that is due.
    Last,
    /// The last packet of any message that is due but the oldest.
    Later,
    /// The last packet of the oldest message.
    Oldest,
    /// A packet that ends where its message does, or one byte before or after.
    Edge,
    /// A packet of a message that is whole.
    Again,
    /// A packet of the message that the last operation on the stream was about, which ends as in [`Kind::Edge`].
    Repeat,
    /// A packet of a message that is not due.
    Outside,
    /// A packet with any fields.
    Any,
    Tell,
    Init,
    Reserved,
}

/// Mixtures of kinds, in parts.
const MIXTURES: [&[(Kind, usize)]; 7] = [
    // A stream at work.
    &[
        (Kind::Packet, 9),
        (Kind::Last, 8),
        (Kind::Oldest, 4),
        (Kind::Tell, 9),
        (Kind::Outside, 1),
        (Kind::Reserved, 1),
    ],
    // The oldest message never ends: all others become whole.
    &[
        (Kind::Later, 22),
        (Kind::Packet, 6),
        (Kind::Tell, 2),
        (Kind::Outside, 2),
    ],
    // And then it ends.
    &[(Kind::Oldest, 8), (Kind::Tell, 20), (Kind::Packet, 4)],
    // One in, one out.
    &[
        (Kind::Oldest, 13),
        (Kind::Tell, 15),
        (Kind::Packet, 2),
        (Kind::Again, 2),
    ],
    // Lengths that do not fit, repetition.
    &[
        (Kind::Edge, 8),
        (Kind::Repeat, 10),
        (Kind::Again, 4),
        (Kind::Packet, 4),
        (Kind::Tell, 4),
        (Kind::Any, 2),
    ],
    // Messages that are not due.
    &[
        (Kind::Outside, 11),
        (Kind::Repeat, 3),
        (Kind::Oldest, 4),
        (Kind::Packet, 3),
        (Kind::Tell, 6),
        (Kind::Reserved, 2),
        (Kind::Any, 3),
    ],
    // Streams start anew all the time.
    &[
        (Kind::Init, 7),
        (Kind::Packet, 6),
        (Kind::Last, 5),
        (Kind::Oldest, 5),
        (Kind::Tell, 7),
        (Kind::Outside, 2),
    ],
];

/// Stretch of operations with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    kinds: [Kind; 32],
}

impl Stimulus<Unit> for MessageTable {
    fn new(params: &Params, seed: u64) -> Self {
        let total = params.total_streams();
        let with_distance = |name: &str, distance: usize| name.replace("{}", &distance.to_string());
        let names = [&EVENTS[..], &COUNT_BINS, &OTHER_BINS].concat();
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
            places: params.messages,
            spray: Spray::new(total),
            phase: Phase {
                left: 0,
                kinds: [Kind::Any; 32],
            },
            streams: vec![Stream::default(); total as usize].into(),
            messages: vec![Message::default(); (total * params.messages) as usize].into(),
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
            let steady = garbage.s_axis_op_immediate >> 28 == 0;
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

impl MessageTable {
    fn reset(&mut self) {
        if !self.intake.is_clearing() {
            self.streams.fill(Stream::default());
        }
        self.intake.reset();
    }

    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let (a, b): (u64, u64) = (self.random.random(), self.random.random());
        Inputs {
            s_axis_op_op: (a & 3) as u8,
            s_axis_op_stream: (a >> 2) as u16 & self.stream_mask,
            s_axis_op_message: (a >> 18) as u32 & NUMBERS.mask(),
            s_axis_op_bytes: (a >> 42) as u16 & self.bytes_mask,
            s_axis_op_kind: (a >> 58 & 3) as u8,
            s_axis_op_length: b as u32,
            s_axis_op_immediate: (b >> 32) as u32,
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
            Kind::Tell => operation.s_axis_op_op = op::TELL,
            Kind::Reserved => operation.s_axis_op_op = 3,
            Kind::Init => self.init(&mut operation, dice >> 21),
            _ => self.count(&mut operation, kind, dice >> 21),
        }
        operation
    }

    fn init(&mut self, operation: &mut Inputs, dice: u32) {
        operation.s_axis_op_op = op::INIT;
        let oldest = self.streams[usize::from(operation.s_axis_op_stream)].oldest;
        operation.s_axis_op_message = match dice & 7 {
            0 => operation.s_axis_op_message,
            1 => oldest,
            2 => NUMBERS.add(oldest, self.random.random_range(0..2 * self.places)),
            3 => dice >> 3 & 1,
            4 => NUMBERS.mask(),
            _ => NUMBERS.mask() - self.random.random_range(0..2 * self.places),
        };
    }

    /// A COUNT of that kind.
    fn count(&mut self, operation: &mut Inputs, kind: Kind, dice: u32) {
        operation.s_axis_op_op = op::COUNT;
        let stream = self.streams[usize::from(operation.s_axis_op_stream)];
        let places = self.places;
        let random = &mut self.random;
        // Mostly one that is wanted, if there is any: whole or not.
        let mut due = |from: u32, whole: bool| {
            let ahead = (from..places)
                .map(|_| random.random_range(from..places))
                .take(8)
                .find(|ahead| (stream.whole >> ((stream.oldest + ahead) % places) & 1 != 0) == whole);
            ahead.unwrap_or(from)
        };
        let ahead = match kind {
            Kind::Any => return,
            Kind::Oldest => 0,
            Kind::Later => due(1, false),
            Kind::Again => due(0, true),
            Kind::Repeat => NUMBERS.distance(stream.oldest, stream.recent[0].message),
            Kind::Packet | Kind::Last | Kind::Edge => due(0, false),
            _ => match dice & 7 {
                0 | 1 => places,
                2 => NUMBERS.mask(),
                3 => NUMBERS.half() - (dice >> 3 & 1),
                4 => 1 << random.random_range(0..NUMBER_BITS),
                5 => places << (dice >> 3 & 7),
                6 => NUMBERS.distance(dice >> 3 & 7, 0),
                _ => operation.s_axis_op_message,
            },
        };
        operation.s_axis_op_message = NUMBERS.add(stream.oldest, ahead);
        let place = self.place(operation.s_axis_op_stream, operation.s_axis_op_message);
        let message = self.messages[place];
        let is_begun = stream.begun >> (place as u32 % places) & 1 != 0;
        let any = operation.s_axis_op_length;
        let (counted, length) = if is_begun {
            (message.counted, message.length)
        } else {
            (0, self.length(any, dice >> 6))
        };
        let left = length.saturating_sub(counted);
        let most = u32::from(self.bytes_mask);
        let mut bytes = match dice >> 8 & 7 {
            0 => 0,
            1 => most,
            2 => left.saturating_sub(1).min(most),
            3 => 1,
            _ => any & most,
        };
        let sum = counted.saturating_add(bytes);
        operation.s_axis_op_length = match kind {
            Kind::Packet => {
                bytes = bytes.min(left);
                length
            }
            // A little beyond or short of what it has then.
            Kind::Edge | Kind::Repeat => sum
                .saturating_add(1)
                .saturating_sub([0, 0, 1, 2][(any >> 30) as usize]),
            Kind::Again if dice >> 6 & 3 != 0 => any,
            _ if left <= most => {
                bytes = left;
                length
            }
            _ => sum,
        };
        operation.s_axis_op_bytes = bytes as u16;
    }

    /// Length of a new message.
    fn length(&mut self, any: u32, dice: u32) -> u32 {
        let most = u32::from(self.bytes_mask);
        match dice & 3 {
            0 => any & 3,
            1 => any & most,
            2 => any % (4 * most),
            _ => any >> self.random.random_range(0..24),
        }
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
        self.phase.left = random.random_range(1..=5 * self.places * self.spray.count().min(HOT));
    }

    /// Where a message is among all messages.
    #[inline]
    fn place(&self, stream: u16, message: u32) -> usize {
        (u32::from(stream) * self.places + message % self.places) as usize
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
        let index = usize::from(operation.s_axis_op_stream);
        let stream = self.streams[index];
        let (message, status) = match operation.s_axis_op_op {
            op::COUNT => (operation.s_axis_op_message, self.execute_count(operation)),
            op::TELL => (stream.oldest, self.execute_tell(operation.s_axis_op_stream)),
            op::INIT => {
                self.execute_init(operation);
                (operation.s_axis_op_message, status::DONE)
            }
            _ => {
                let more = stream.whole >> (stream.oldest % self.places) & 1 != 0;
                self.bins
                    .hit(OTHER + OTHER_BINS.len() - 1 - usize::from(more), true);
                (0, status::NONE)
            }
        };
        self.count_hazards(
            index,
            Issued {
                moment: self.intake.moment(),
                op: operation.s_axis_op_op,
                status,
                message,
            },
        );
    }

    #[inline]
    fn execute_count(&mut self, operation: &Inputs) -> u8 {
        let number = operation.s_axis_op_message;
        let place = self.place(operation.s_axis_op_stream, number);
        let stream = &mut self.streams[usize::from(operation.s_axis_op_stream)];
        let message = &mut self.messages[place];
        let (before, oldest) = (*stream, stream.oldest);
        let bit = 1u64 << (number % self.places);
        let ahead = NUMBERS.distance(oldest, number);
        let is_begun = stream.begun & bit != 0;
        let is_whole = stream.whole & bit != 0;
        let (bytes, length) = (
            u64::from(operation.s_axis_op_bytes),
            u64::from(operation.s_axis_op_length),
        );
        let stale = u64::from(message.counted);
        let sum = bytes + if is_begun { stale } else { 0 };
        let first_length = if is_begun {
            message.length
        } else {
            operation.s_axis_op_length
        };
        let status = if ahead >= self.places {
            status::OUTSIDE
        } else if is_whole || sum > length {
            status::TOO_LONG
        } else {
            if !is_begun {
                *message = Message::default();
                message.length = operation.s_axis_op_length;
            }
            message.counted = sum as u32;
            message.packets += 1;
            stream.begun |= bit;
            stream.told &= !bit;
            stream.broken &= !bit;
            if sum < length {
                status::PART
            } else {
                stream.whole |= bit;
                message.length = operation.s_axis_op_length;
                message.kind = operation.s_axis_op_kind;
                status::WHOLE
            }
        };
        let all = u64::MAX >> (64 - self.places);
        let more = stream.whole >> (oldest % self.places) & 1 != 0;
        let is_full = stream.whole == all;
        let is = |other: u8| status == other;
        let (part, whole) = (is(status::PART), is(status::WHOLE));
        let begins = (part || whole) && !is_begun;
        self.bins.hit_each(
            COUNT,
            [
                part && !is_begun,
                part && is_begun,
                part && bytes == 0,
                part && sum + 1 == length,
                part && more,
                part && length >> 31 != 0,
                begins && before.told & bit != 0,
                begins && before.broken & bit != 0,
                begins && stale + bytes > length,
                whole && !is_begun,
                whole && is_begun,
                whole && length == 0,
                whole && ahead == 0,
                whole && ahead == self.places - 1,
                whole && is_full,
                whole && number < oldest,
                whole && operation.s_axis_op_length < first_length,
                is(status::TOO_LONG) && !is_whole && is_begun && sum == length + 1,
                is(status::TOO_LONG) && !is_whole && !is_begun && sum == length + 1,
                is(status::TOO_LONG) && is_whole && bytes == 0,
                is(status::TOO_LONG) && is_whole && sum <= length && bytes > 0,
                ahead == self.places,
                ahead == NUMBERS.mask(),
                ahead == NUMBERS.half(),
                is(status::OUTSIDE) && is_whole,
                is(status::OUTSIDE) && !is_begun && bytes == length,
                is(status::OUTSIDE) && more,
            ],
        );
        status
    }

    #[inline]
    fn execute_tell(&mut self, index: u16) -> u8 {
        let before = self.streams[usize::from(index)];
        let place = self.place(index, before.oldest);
        let message = self.messages[place];
        let bit = |number: u32| 1u64 << (number % self.places);
        let (oldest, next) = (bit(before.oldest), bit(before.oldest + 1));
        let told = before.whole & oldest != 0;
        let stream = &mut self.streams[usize::from(index)];
        if told {
            stream.whole &= !oldest;
            stream.begun &= !oldest;
            stream.told |= oldest;
            stream.oldest = NUMBERS.add(before.oldest, 1);
        }
        let more = told && before.whole & next != 0 && self.places > 1;
        self.bins.hit_each(
            OTHER,
            [
                more,
                told && !more,
                told && before.whole == u64::MAX >> (64 - self.places),
                told && before.oldest == NUMBERS.mask(),
                told && message.packets > 2,
                told && message.kind == 0,
                told && message.kind == 1,
                told && message.kind == 2,
                told && message.kind == 3,
                !told && before.begun & oldest == 0,
                !told && before.begun & oldest != 0,
                !told && before.whole & next != 0,
                !told && before.told & oldest != 0,
            ],
        );
        if told { status::TOLD } else { status::NONE }
    }

    #[inline]
    fn execute_init(&mut self, operation: &Inputs) {
        let number = operation.s_axis_op_message;
        let stream = &mut self.streams[usize::from(operation.s_axis_op_stream)];
        let before = *stream;
        stream.oldest = number;
        stream.broken |= before.begun;
        (stream.begun, stream.whole, stream.told) = (0, 0, 0);
        let bit = |number: u32| 1u64 << (number % self.places);
        let all = u64::MAX >> (64 - self.places);
        let oldest = bit(before.oldest);
        let first = OTHER + 13;
        self.bins.hit_each(
            first,
            [
                before.whole & oldest != 0,
                before.whole & oldest == 0 && before.begun & oldest != 0,
                before.whole == all & !oldest,
                before.whole & bit(number) != 0,
                number == before.oldest,
                number == NUMBERS.mask(),
                number == 0,
                before.begun == 0,
            ],
        );
    }

    /// Counts what follows on what of one stream.
    #[inline]
    fn count_hazards(&mut self, stream: usize, now: Issued) {
        let placed = |issued: &Issued| issued.op == op::COUNT && issued.status <= status::WHOLE;
        let is = |issued: &Issued, op: u8, status: u8| issued.op == op && issued.status == status;
        let whole = is(&now, op::COUNT, status::WHOLE);
        let too_much = is(&now, op::COUNT, status::TOO_LONG);
        let none = is(&now, op::TELL, status::NONE);
        for last in self.streams[stream].recent {
            let distance = now.moment - last.moment;
            if !(NEAREST..=FARTHEST).contains(&distance) {
                continue;
            }
            let same = last.message == now.message;
            let part = is(&last, op::COUNT, status::PART) && same;
            let was_whole = is(&last, op::COUNT, status::WHOLE);
            let told = is(&last, op::TELL, status::TOLD);
            let tells = is(&now, op::TELL, status::TOLD);
            let init = last.op == op::INIT;
            let hazards = [
                part && is(&now, op::COUNT, status::PART),
                part && whole,
                part && too_much,
                was_whole && too_much && same,
                is(&last, op::COUNT, status::TOO_LONG) && placed(&now) && same,
                placed(&last) && placed(&now) && !same,
                was_whole && tells && same,
                part && none,
                is(&last, op::TELL, status::NONE) && whole && same,
                told && tells,
                told && none,
                told && is(&now, op::COUNT, status::OUTSIDE) && same,
                told && placed(&now) && NUMBERS.distance(last.message, now.message) == self.places,
                init && placed(&now),
                init && none,
                was_whole && now.op == op::INIT,
                init && now.op == op::INIT,
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
}
