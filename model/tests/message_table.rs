//! `message_table` against its contract: directed cases, and random operations against a slow reference that keeps the size of every
//! packet of messages whose numbers do not wrap.

mod common;

use common::Spaced;
use metaroce_model::{
    Params,
    port::{
        message_table::{Inputs, LATENCY, Outputs, SAME_STREAM_CLOCKS, op, status},
        receive_table::NUMBER_BITS,
    },
    unit::{Unit, message_table::MessageTable},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// An operation on stream 2, offered with the output open.
fn operation(op: u8, message: u32) -> Inputs {
    Inputs {
        s_axis_op_tvalid: true,
        s_axis_op_op: op,
        s_axis_op_stream: 2,
        s_axis_op_message: message,
        m_axis_result_tready: true,
        ..Default::default()
    }
}

/// COUNT, with an immediate and a kind made of the message's number.
fn count(message: u32, bytes: u16, length: u32) -> Inputs {
    Inputs {
        s_axis_op_bytes: bytes,
        s_axis_op_length: length,
        s_axis_op_immediate: !message,
        s_axis_op_kind: (message % 4) as u8,
        ..operation(op::COUNT, message)
    }
}

fn idle() -> Inputs {
    Inputs {
        m_axis_result_tready: true,
        ..Default::default()
    }
}

/// A unit of profile tiny (4 streams of 4 messages) after its clear.
fn tiny() -> MessageTable {
    let mut unit = MessageTable::new(&Params::load("tiny").unwrap());
    while !unit.outputs().s_axis_op_tready {
        unit.clock(&idle());
    }
    unit
}

/// Does one operation on an idle unit; its result comes one clock and [`LATENCY`] clocks later.
fn run(unit: &mut MessageTable, operation: Inputs) -> Outputs {
    assert!(unit.outputs().s_axis_op_tready);
    unit.clock(&operation);
    for _ in 0..LATENCY {
        assert!(!unit.outputs().m_axis_result_tvalid);
        unit.clock(&idle());
    }
    let result = unit.outputs();
    assert!(result.m_axis_result_tvalid);
    assert_eq!(
        (result.m_axis_result_op, result.m_axis_result_stream),
        (operation.s_axis_op_op, operation.s_axis_op_stream)
    );
    unit.clock(&idle());
    result
}

/// Counts, and gives the status and `more`.
fn counted(unit: &mut MessageTable, message: u32, bytes: u16, length: u32) -> (u8, bool) {
    let result = run(unit, count(message, bytes, length));
    assert_eq!(result.m_axis_result_message, message);
    let told = (
        result.m_axis_result_length,
        result.m_axis_result_immediate,
        result.m_axis_result_kind,
    );
    assert_eq!(told, (0, 0, 0));
    (result.m_axis_result_status, result.m_axis_result_more)
}

/// Tells message `message` of `length` bytes, and gives `more`.
fn tell(unit: &mut MessageTable, message: u32, length: u32) -> bool {
    let result = run(unit, operation(op::TELL, 0));
    assert_eq!(
        (result.m_axis_result_status, result.m_axis_result_message),
        (status::TOLD, message)
    );
    assert_eq!(
        (result.m_axis_result_length, result.m_axis_result_immediate),
        (length, !message)
    );
    assert_eq!(u32::from(result.m_axis_result_kind), message % 4);
    result.m_axis_result_more
}

/// Nothing can be told: `message` is the oldest.
fn tell_none(unit: &mut MessageTable, message: u32) {
    let result = run(unit, operation(op::TELL, 77));
    let expected = Outputs {
        s_axis_op_tready: true,
        m_axis_result_tvalid: true,
        m_axis_result_op: op::TELL,
        m_axis_result_stream: 2,
        m_axis_result_status: status::NONE,
        m_axis_result_message: message,
        ..Default::default()
    };
    assert_eq!(result, expected);
}

/// R4, R10: packets of several messages in any order; the messages are told in their order.
#[test]
fn any_order_in_order_out() {
    let mut unit = tiny();
    assert_eq!(counted(&mut unit, 2, 100, 100), (status::WHOLE, false));
    assert_eq!(counted(&mut unit, 1, 50, 90), (status::PART, false));
    assert_eq!(counted(&mut unit, 0, 256, 300), (status::PART, false));
    tell_none(&mut unit, 0);
    assert_eq!(counted(&mut unit, 1, 40, 90), (status::WHOLE, false));
    assert_eq!(counted(&mut unit, 0, 44, 300), (status::WHOLE, true));
    assert_eq!(counted(&mut unit, 3, 0, 0), (status::WHOLE, true));
    assert!(tell(&mut unit, 0, 300));
    assert!(tell(&mut unit, 1, 90));
    assert!(tell(&mut unit, 2, 100));
    assert!(!tell(&mut unit, 3, 0));
    tell_none(&mut unit, 4);
}

/// R4: what is not due, or too much, changes nothing.
#[test]
fn refusals() {
    let mut unit = tiny();
    for outside in [4, 5, 1 << 23, (1 << NUMBER_BITS) - 1] {
        assert_eq!(counted(&mut unit, outside, 0, 0), (status::OUTSIDE, false));
    }
    assert_eq!(counted(&mut unit, 0, 101, 100), (status::TOO_LONG, false));
    assert_eq!(counted(&mut unit, 0, 60, 100), (status::PART, false));
    assert_eq!(counted(&mut unit, 0, 41, 100), (status::TOO_LONG, false));
    assert_eq!(counted(&mut unit, 0, 40, 100), (status::WHOLE, true));
    assert_eq!(counted(&mut unit, 0, 0, 100), (status::TOO_LONG, true));
    assert_eq!(counted(&mut unit, 0, 0, 0), (status::TOO_LONG, true));
    let result = run(&mut unit, operation(3, 5));
    let (status, message) = (result.m_axis_result_status, result.m_axis_result_message);
    assert_eq!(
        (status, message, result.m_axis_result_more),
        (status::NONE, 0, true)
    );
    assert!(!tell(&mut unit, 0, 100));
    assert_eq!(counted(&mut unit, 0, 0, 0), (status::OUTSIDE, false));
    assert_eq!(counted(&mut unit, 4, 0, 0), (status::WHOLE, false));
}

/// R4: a message may have as many bytes as its length can say, and the count of more does not wrap to fewer.
#[test]
fn the_longest_message() {
    let mut unit = tiny();
    let (most, packet) = (u32::MAX, 511);
    for _ in 0..most / packet {
        while !unit.outputs().s_axis_op_tready {
            unit.clock(&idle());
        }
        unit.clock(&count(0, packet as u16, most));
    }
    for _ in 0..2 * LATENCY {
        unit.clock(&idle());
    }
    let left = most % packet;
    assert!(1 < left && left < packet);
    assert_eq!(
        counted(&mut unit, 0, left as u16 + 1, most),
        (status::TOO_LONG, false)
    );
    assert_eq!(
        counted(&mut unit, 0, left as u16 - 1, most),
        (status::PART, false)
    );
    assert_eq!(counted(&mut unit, 0, 2, most), (status::TOO_LONG, false));
    assert_eq!(counted(&mut unit, 0, 1, most), (status::WHOLE, true));
    assert!(!tell(&mut unit, 0, most));
}

/// R10: INIT forgets all messages of its stream and no other's, and numbers wrap.
#[test]
fn init() {
    let mut unit = tiny();
    let other = |inputs: Inputs| Inputs {
        s_axis_op_stream: 3,
        ..inputs
    };
    run(&mut unit, other(count(0, 1, 1)));
    assert_eq!(counted(&mut unit, 0, 1, 1), (status::WHOLE, true));
    assert_eq!(counted(&mut unit, 2, 1, 5), (status::PART, true));
    let first = (1 << NUMBER_BITS) - 2;
    let result = run(&mut unit, operation(op::INIT, first));
    assert_eq!(
        (result.m_axis_result_status, result.m_axis_result_message),
        (status::DONE, first)
    );
    assert!(!result.m_axis_result_more);
    tell_none(&mut unit, first);
    assert_eq!(counted(&mut unit, 2, 1, 1), (status::OUTSIDE, false));
    assert_eq!(counted(&mut unit, 0, 5, 5), (status::WHOLE, false));
    assert_eq!(counted(&mut unit, first + 1, 5, 5), (status::WHOLE, false));
    assert_eq!(counted(&mut unit, first, 5, 5), (status::WHOLE, true));
    assert!(tell(&mut unit, first, 5));
    assert!(tell(&mut unit, first + 1, 5));
    assert!(!tell(&mut unit, 0, 5));
    tell_none(&mut unit, 1);
    let result = run(&mut unit, other(operation(op::TELL, 0)));
    assert_eq!(result.m_axis_result_status, status::TOLD);
}

/// H1: after a reset every stream begins with message 0; the clear lasts as long as the contract says.
#[test]
fn reset() {
    let params = Params::load("tiny").unwrap();
    let mut unit = tiny();
    run(&mut unit, operation(op::INIT, 9));
    run(&mut unit, count(9, 1, 1));
    unit.clock(&operation(op::TELL, 0));
    let rst = Inputs {
        rst: true,
        ..operation(op::TELL, 0)
    };
    unit.clock(&rst);
    unit.clock(&rst);
    for _ in 0..params.total_streams() {
        assert_eq!(unit.outputs(), Outputs::default());
        unit.clock(&operation(op::INIT, 1));
    }
    tell_none(&mut unit, 0);
}

/// Number 0 in the reference, whose numbers do not wrap.
const ZERO: u64 = 1 << 40;
/// Numbers after which those of the unit begin again.
const NUMBERS: u64 = 1 << NUMBER_BITS;

/// The slow reference of one stream.
#[derive(Clone)]
struct Stream {
    oldest: u64,
    /// The packets of each message that is begun, and the one that made it whole.
    messages: BTreeMap<u64, (Vec<u16>, Option<Inputs>)>,
}

impl Stream {
    fn starting_at(message: u32) -> Self {
        Self {
            oldest: ZERO + u64::from(message),
            messages: BTreeMap::new(),
        }
    }

    fn is_whole(&self, number: u64) -> bool {
        matches!(self.messages.get(&number), Some((_, Some(_))))
    }

    fn sum(&self, number: u64) -> u64 {
        let packets = self.messages.get(&number).map_or(&[][..], |(packets, _)| packets);
        packets.iter().map(|&bytes| u64::from(bytes)).sum()
    }

    /// The message that a number of the unit's means, the one after `oldest` that looks like it.
    fn number(&self, message: u32) -> u64 {
        self.oldest + (u64::from(message) + NUMBERS - self.oldest % NUMBERS) % NUMBERS
    }
}

/// The slow reference of the unit.
struct Reference {
    params: Params,
    streams: Vec<Stream>,
    spaced: Spaced<Inputs, Outputs>,
    bins: BTreeMap<&'static str, u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            streams: vec![Stream::starting_at(0); params.total_streams() as usize],
            spaced: Spaced::new(SAME_STREAM_CLOCKS, LATENCY, params.total_streams()),
            bins: BTreeMap::new(),
        }
    }

    fn hit(bins: &mut BTreeMap<&'static str, u32>, bin: &'static str, condition: bool) {
        *bins.entry(bin).or_default() += u32::from(condition);
    }

    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.spaced.ready(),
            ..self.spaced.delay.head().copied().unwrap_or_default()
        }
    }

    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            let bins = std::mem::take(&mut self.bins);
            *self = Self::new(&self.params);
            self.bins = bins;
            return;
        }
        Self::hit(&mut self.bins, "stall", !self.spaced.delay.moves());
        Self::hit(&mut self.bins, "held for its stream", self.spaced.is_held());
        let offered = inputs
            .s_axis_op_tvalid
            .then_some((inputs.s_axis_op_stream, *inputs));
        let (streams, bins, messages) = (&mut self.streams, &mut self.bins, self.params.messages.into());
        self.spaced
            .clock(offered, inputs.m_axis_result_tready, |operation| {
                let stream = &mut streams[usize::from(operation.s_axis_op_stream)];
                Outputs {
                    m_axis_result_tvalid: true,
                    m_axis_result_op: operation.s_axis_op_op,
                    m_axis_result_stream: operation.s_axis_op_stream,
                    ..stream.execute(&operation, messages, bins)
                }
            });
    }
}

impl Stream {
    fn execute(
        &mut self,
        operation: &Inputs,
        messages: u64,
        bins: &mut BTreeMap<&'static str, u32>,
    ) -> Outputs {
        let mut hit = |bin, condition| Reference::hit(bins, bin, condition);
        let mut result = Outputs::default();
        match operation.s_axis_op_op {
            op::COUNT => {
                let number = self.number(operation.s_axis_op_message);
                let (sum, whole) = (self.sum(number), self.is_whole(number));
                let is_begun = self.messages.contains_key(&number);
                let bytes = operation.s_axis_op_bytes;
                let room = i64::from(operation.s_axis_op_length) - sum as i64 - i64::from(bytes);
                result.m_axis_result_message = operation.s_axis_op_message;
                result.m_axis_result_status = if number >= self.oldest + messages {
                    status::OUTSIDE
                } else if whole || room < 0 {
                    status::TOO_LONG
                } else {
                    let message = self.messages.entry(number).or_default();
                    message.0.push(bytes);
                    message.1 = (room == 0).then_some(*operation);
                    if room > 0 { status::PART } else { status::WHOLE }
                };
                let is = |status| result.m_axis_result_status == status;
                hit("just outside", number == self.oldest + messages);
                hit("one before the oldest", number == self.oldest + NUMBERS - 1);
                hit(
                    "the last that is due",
                    number == self.oldest + messages - 1 && is(status::WHOLE),
                );
                hit("begun", is(status::PART) && !is_begun);
                hit("continued", is(status::PART) && is_begun);
                hit("whole at once", is(status::WHOLE) && !is_begun);
                hit("whole with the last", is(status::WHOLE) && is_begun);
                hit(
                    "whole without bytes",
                    is(status::WHOLE) && operation.s_axis_op_length == 0,
                );
                hit("one byte short", is(status::PART) && room == 1);
                hit("one byte too long", is(status::TOO_LONG) && !whole && room == -1);
                hit("whole before", is(status::TOO_LONG) && whole && room >= 0);
                hit(
                    "across the wrap",
                    is(status::WHOLE) && number / NUMBERS != self.oldest / NUMBERS,
                );
            }
            op::TELL => {
                result.m_axis_result_message = (self.oldest % NUMBERS) as u32;
                result.m_axis_result_status = status::NONE;
                hit("none to tell", !self.is_whole(self.oldest));
                if self.is_whole(self.oldest) {
                    hit("told at the wrap", (self.oldest + 1).is_multiple_of(NUMBERS));
                    let (_, last) = self.messages.remove(&self.oldest).unwrap();
                    let last = last.unwrap();
                    result.m_axis_result_status = status::TOLD;
                    result.m_axis_result_length = last.s_axis_op_length;
                    result.m_axis_result_immediate = last.s_axis_op_immediate;
                    result.m_axis_result_kind = last.s_axis_op_kind;
                    self.oldest += 1;
                    hit("told with more", self.is_whole(self.oldest));
                    hit("told without more", !self.is_whole(self.oldest));
                }
            }
            op::INIT => {
                hit("INIT while whole", self.is_whole(self.oldest));
                result.m_axis_result_message = operation.s_axis_op_message;
                result.m_axis_result_status = status::DONE;
                *self = Self::starting_at(operation.s_axis_op_message);
            }
            _ => {
                hit("reserved", true);
                result.m_axis_result_status = status::NONE;
            }
        }
        result.m_axis_result_more = self.is_whole(self.oldest);
        result
    }

    /// A message that is likely to matter.
    fn likely_number(&self, random: &mut ChaCha8Rng, messages: u64) -> u64 {
        match random.random_range(0..16) {
            0..4 => self.oldest,
            4 => self.oldest + messages,
            5 => self.oldest + messages - 1,
            6 => self.oldest + NUMBERS - 1,
            7 => self.oldest + (random.random_range(0..4) << random.random_range(0..NUMBER_BITS)),
            _ => self.oldest + random.random_range(0..messages),
        }
    }
}

/// R4, R10, H1: every output in every clock is the reference's, with stalls, INITs and resets, and each case that the contract tells
/// apart occurs.
#[test]
fn random_operations_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for messages in [2, 4, 64] {
        let params = Params {
            messages,
            ..Params::load("tiny").unwrap()
        };
        params.check().unwrap();
        let mut unit = MessageTable::new(&params);
        let mut reference = Reference::new(&params);
        for clock in 0..150_000 {
            let phase = clock / 256;
            let streams = [1, 2, params.total_streams() as u16][phase % 3];
            let stream = random.random_range(0..streams);
            let op = match random.random_range(0..64) {
                0 if phase % 3 < 2 => op::INIT,
                1 => 3,
                2..16 => op::TELL,
                16..48 if phase % 5 == 0 => op::TELL,
                _ => op::COUNT,
            };
            let state = &reference.streams[usize::from(stream)];
            let number = state.likely_number(&mut random, messages.into());
            let sum = state.sum(number) as u32;
            let bytes = [0, 1, 256, random.random_range(0..512)][random.random_range(0..4)];
            let length = match random.random_range(0..8) {
                0 => 0,
                1 => sum + u32::from(bytes) + 1,
                2 => (sum + u32::from(bytes)).saturating_sub(1),
                3 => u32::MAX,
                4 => random.random_range(0..2000),
                _ => sum + u32::from(bytes),
            };
            let first = if random.random() {
                NUMBERS - random.random_range(0..u64::from(messages))
            } else {
                number
            };
            let number = if op == op::INIT { first } else { number };
            let inputs = Inputs {
                rst: random.random_ratio(1, 10_000),
                s_axis_op_tvalid: random.random_ratio([15, 3][phase / 2 % 2], 16),
                s_axis_op_op: op,
                s_axis_op_stream: stream,
                s_axis_op_message: (number % NUMBERS) as u32,
                s_axis_op_bytes: bytes,
                s_axis_op_length: length,
                s_axis_op_immediate: random.random(),
                s_axis_op_kind: random.random_range(0..4),
                m_axis_result_tready: random.random_ratio([16, 12, 3][phase / 5 % 3], 16),
            };
            assert_eq!(
                unit.outputs(),
                reference.outputs(),
                "{messages} messages, clock {clock}"
            );
            unit.clock(&inputs);
            reference.clock(&inputs);
        }
        for (bin, hits) in &reference.bins {
            assert!(*hits > 0, "{messages} messages: '{bin}' never occurred");
        }
        assert_eq!(reference.bins.len(), 20);
    }
}
