//! `receive_table` against its contract: directed cases, and random operations against a slow reference whose numbers do not wrap.

mod common;

use common::Spaced;
use metaroce_model::{
    Params,
    port::receive_table::{Inputs, LATENCY, NUMBER_BITS, Outputs, SAME_STREAM_CLOCKS, op, status},
    unit::{Unit, receive_table::ReceiveTable},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// An operation on stream 2, offered with the output open.
fn operation(op: u8) -> Inputs {
    Inputs {
        s_axis_op_tvalid: true,
        s_axis_op_op: op,
        s_axis_op_stream: 2,
        m_axis_result_tready: true,
        ..Default::default()
    }
}

fn post(address: u64, length: u32, identifier: u32) -> Inputs {
    Inputs {
        s_axis_op_address: address,
        s_axis_op_length: length,
        s_axis_op_identifier: identifier,
        ..operation(op::POST)
    }
}

fn find(number: u32, offset: u32, bytes: u16) -> Inputs {
    Inputs {
        s_axis_op_number: number,
        s_axis_op_offset: offset,
        s_axis_op_bytes: bytes,
        ..operation(op::MATCH)
    }
}

fn init(number: u32) -> Inputs {
    Inputs {
        s_axis_op_number: number,
        ..operation(op::INIT)
    }
}

fn idle() -> Inputs {
    Inputs {
        m_axis_result_tready: true,
        ..Default::default()
    }
}

/// A unit of profile tiny (4 streams of 4 receives) after its clear.
fn tiny() -> ReceiveTable {
    let mut unit = ReceiveTable::new(&Params::load("tiny").unwrap());
    while !unit.outputs().s_axis_op_tready {
        unit.clock(&idle());
    }
    unit
}

/// Does one operation on an idle unit; its result comes one clock and [`LATENCY`] clocks later.
fn run(unit: &mut ReceiveTable, operation: Inputs) -> Outputs {
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

/// R5: receives are numbered in the order in which they were posted, found by number, and completed oldest first.
#[test]
fn posted_found_completed() {
    let mut unit = tiny();
    for number in 0..10u32 {
        let result = run(
            &mut unit,
            post(0x1000 * u64::from(number), 100 + number, 50 + number),
        );
        assert_eq!(
            (
                result.m_axis_result_status,
                result.m_axis_result_number,
                result.m_axis_result_open
            ),
            (status::DONE, number, 1)
        );
        assert_eq!(
            (result.m_axis_result_address, result.m_axis_result_identifier),
            (0, 0)
        );
        let result = run(&mut unit, find(number, 7, 93));
        assert_eq!(
            (result.m_axis_result_status, result.m_axis_result_number),
            (status::DONE, number)
        );
        assert_eq!(result.m_axis_result_address, 0x1000 * u64::from(number) + 7);
        assert_eq!(
            (result.m_axis_result_identifier, result.m_axis_result_open),
            (50 + number, 1)
        );
        let result = run(&mut unit, operation(op::COMPLETE));
        assert_eq!(
            (
                result.m_axis_result_status,
                result.m_axis_result_number,
                result.m_axis_result_open
            ),
            (status::DONE, number, 0)
        );
        assert_eq!(
            (result.m_axis_result_address, result.m_axis_result_identifier),
            (0, 50 + number)
        );
    }
}

/// R5: what cannot be done is refused and changes nothing.
#[test]
fn refusals() {
    let mut unit = tiny();
    let result = run(&mut unit, operation(op::COMPLETE));
    assert_eq!(result.m_axis_result_status, status::REFUSED);
    assert_eq!(
        (result.m_axis_result_number, result.m_axis_result_identifier),
        (0, 0)
    );
    for number in 0..4 {
        run(&mut unit, post(0, 1, 60 + number));
    }
    let result = run(&mut unit, post(9, 9, 9));
    assert_eq!(result.m_axis_result_status, status::REFUSED);
    assert_eq!((result.m_axis_result_number, result.m_axis_result_open), (4, 4));
    assert_eq!(
        run(&mut unit, operation(op::COMPLETE)).m_axis_result_identifier,
        60
    );
}

/// R5: INIT starts one stream anew, whatever is posted there, and leaves the others.
#[test]
fn init_starts_one_stream_anew() {
    let mut unit = tiny();
    let last = (1 << NUMBER_BITS) - 1;
    let other = |inputs| Inputs {
        s_axis_op_stream: 1,
        ..inputs
    };
    run(&mut unit, other(post(0, 1, 7)));
    for number in 0..4 {
        run(&mut unit, post(0x100, 1, 60 + number));
    }
    let result = run(&mut unit, init(last));
    assert_eq!(result.m_axis_result_status, status::DONE);
    assert_eq!(
        (result.m_axis_result_number, result.m_axis_result_open),
        (last, 0)
    );
    assert_eq!(
        (result.m_axis_result_address, result.m_axis_result_identifier),
        (0, 0)
    );
    let status_of = |unit: &mut ReceiveTable, inputs| run(unit, inputs).m_axis_result_status;
    assert_eq!(status_of(&mut unit, operation(op::COMPLETE)), status::REFUSED);
    assert_eq!(status_of(&mut unit, find(last, 0, 0)), status::NOT_POSTED);
    assert_eq!(status_of(&mut unit, find(last - 1, 0, 0)), status::GONE);
    for (number, identifier) in [(last, 80), (0, 81)] {
        assert_eq!(
            run(&mut unit, post(0x200, 1, identifier)).m_axis_result_number,
            number
        );
    }
    assert_eq!(run(&mut unit, find(0, 0, 1)).m_axis_result_identifier, 81);
    for (number, identifier) in [(last, 80), (0, 81)] {
        let result = run(&mut unit, operation(op::COMPLETE));
        assert_eq!(
            (result.m_axis_result_number, result.m_axis_result_identifier),
            (number, identifier)
        );
    }
    let result = run(&mut unit, other(operation(op::COMPLETE)));
    assert_eq!(
        (result.m_axis_result_number, result.m_axis_result_identifier),
        (0, 7)
    );
}

/// R5: the status of a MATCH at each edge: of what is posted, of half the numbers, of the receive's length.
#[test]
fn edges_of_a_match() {
    let mut unit = tiny();
    for _ in 0..2 {
        run(&mut unit, post(0, 0, 0));
        run(&mut unit, operation(op::COMPLETE));
    }
    run(&mut unit, post(u64::MAX - 10, 100, 1));
    run(&mut unit, post(0xffff_fff0, u32::MAX, 2));
    let mut matches = |number, offset, bytes| {
        let result = run(&mut unit, find(number, offset, bytes));
        assert_eq!(result.m_axis_result_number, number);
        let found = result.m_axis_result_status == status::DONE;
        assert!(found || (result.m_axis_result_address, result.m_axis_result_identifier) == (0, 0));
        (result.m_axis_result_status, result.m_axis_result_address)
    };
    let half = 1 << (NUMBER_BITS - 1);
    assert_eq!(matches(1, 0, 0).0, status::GONE);
    assert_eq!(matches(2 + half, 0, 0).0, status::GONE);
    assert_eq!(matches(1 + half, 0, 0).0, status::NOT_POSTED);
    assert_eq!(matches(4, 0, 0).0, status::NOT_POSTED);
    assert_eq!(matches(2, 100, 0), (status::DONE, 89));
    assert_eq!(matches(2, 99, 1), (status::DONE, 88));
    assert_eq!(matches(2, 100, 1).0, status::TOO_LONG);
    assert_eq!(matches(2, 101, 0).0, status::TOO_LONG);
    assert_eq!(matches(2, u32::MAX, 1).0, status::TOO_LONG);
    assert_eq!(matches(3, 0x10, 1), (status::DONE, 1 << 32));
    assert_eq!(matches(3, u32::MAX, 0), (status::DONE, 0x1_ffff_ffef));
    assert_eq!(matches(3, u32::MAX, 1).0, status::TOO_LONG);
}

/// H1: after a reset nothing is posted and the counts are 0; the clear lasts as long as the contract says.
#[test]
fn reset() {
    let params = Params::load("tiny").unwrap();
    let mut unit = tiny();
    run(&mut unit, post(0, 100, 1));
    unit.clock(&post(0, 100, 1));
    let rst = Inputs {
        rst: true,
        ..post(0, 100, 1)
    };
    unit.clock(&rst);
    unit.clock(&rst);
    for _ in 0..params.total_streams() {
        assert_eq!(unit.outputs(), Outputs::default());
        unit.clock(&post(0, 100, 1));
    }
    assert_eq!(
        run(&mut unit, find(0, 0, 0)).m_axis_result_status,
        status::NOT_POSTED
    );
    assert_eq!(run(&mut unit, post(0, 100, 1)).m_axis_result_number, 0);
}

/// Number 0 in the reference, whose numbers do not wrap.
const ZERO: u64 = 1 << 40;
/// Numbers after which those of the unit begin again.
const NUMBERS: u64 = 1 << NUMBER_BITS;

/// The slow reference of one stream.
#[derive(Clone)]
struct Stream {
    /// Every receive that is posted and not completed.
    open: BTreeMap<u64, Inputs>,
    next: u64,
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
        let stream = Stream {
            open: BTreeMap::new(),
            next: ZERO,
        };
        Self {
            params: params.clone(),
            streams: vec![stream; params.total_streams() as usize],
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
        let (streams, bins, receives) = (&mut self.streams, &mut self.bins, self.params.receives as usize);
        self.spaced
            .clock(offered, inputs.m_axis_result_tready, |operation| {
                streams[usize::from(operation.s_axis_op_stream)].execute(&operation, receives, bins)
            });
    }
}

impl Stream {
    fn execute(
        &mut self,
        operation: &Inputs,
        receives: usize,
        bins: &mut BTreeMap<&'static str, u32>,
    ) -> Outputs {
        let mut hit = |bin, condition| Reference::hit(bins, bin, condition);
        let oldest = self.open.keys().next().copied().unwrap_or(self.next);
        let number;
        let (mut status, mut address, mut identifier) = (status::REFUSED, 0, 0);
        match operation.s_axis_op_op {
            op::POST => {
                number = self.next;
                hit("POST refused", self.open.len() == receives);
                hit("POST wraps", (self.next + 1).is_multiple_of(NUMBERS));
                if self.open.len() < receives {
                    self.open.insert(self.next, *operation);
                    self.next += 1;
                    status = status::DONE;
                }
            }
            op::MATCH => {
                // The number nearest to the oldest one that looks like the operation's.
                let first = oldest - NUMBERS / 2;
                let asked = u64::from(operation.s_axis_op_number);
                number = first + (asked + NUMBERS - first % NUMBERS) % NUMBERS;
                let end = u64::from(operation.s_axis_op_offset) + u64::from(operation.s_axis_op_bytes);
                status = match self.open.get(&number) {
                    None if number < oldest => status::GONE,
                    None => status::NOT_POSTED,
                    Some(receive) if end > receive.s_axis_op_length.into() => status::TOO_LONG,
                    Some(receive) => {
                        let sum =
                            u128::from(receive.s_axis_op_address) + u128::from(operation.s_axis_op_offset);
                        address = sum as u64;
                        identifier = receive.s_axis_op_identifier;
                        hit("address wraps", sum >> 64 != 0);
                        hit(
                            "address crosses 4 GiB",
                            receive.s_axis_op_address >> 32 != address >> 32,
                        );
                        hit("to the last byte", end == receive.s_axis_op_length.into());
                        status::DONE
                    }
                };
                hit(
                    "MATCH across the wrap",
                    status == status::DONE && number / NUMBERS != oldest / NUMBERS,
                );
                hit("just completed", number + 1 == oldest);
                hit("just not posted", number == self.next);
                hit("too long", status == status::TOO_LONG);
                hit("farthest gone", number == first);
                hit("farthest not posted", number == first + NUMBERS - 1);
            }
            op::COMPLETE => {
                number = oldest;
                hit("COMPLETE refused", self.open.is_empty());
                hit(
                    "COMPLETE wraps",
                    (oldest + 1).is_multiple_of(NUMBERS) && !self.open.is_empty(),
                );
                if let Some((_, receive)) = self.open.pop_first() {
                    identifier = receive.s_axis_op_identifier;
                    status = status::DONE;
                }
            }
            _ => {
                number = ZERO + u64::from(operation.s_axis_op_number);
                hit("INIT of posted receives", !self.open.is_empty());
                self.open.clear();
                self.next = number;
                status = status::DONE;
            }
        }
        Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_stream: operation.s_axis_op_stream,
            m_axis_result_status: status,
            m_axis_result_number: (number % NUMBERS) as u32,
            m_axis_result_address: address,
            m_axis_result_identifier: identifier,
            m_axis_result_open: self.open.len() as u8,
            ..Default::default()
        }
    }

    /// A number that is likely to matter to a MATCH.
    fn likely_number(&self, random: &mut ChaCha8Rng) -> u32 {
        let oldest = self.open.keys().next().copied().unwrap_or(self.next);
        let number = match random.random_range(0..10) {
            0..5 => random.random_range(oldest..=self.next),
            5 => self.next,
            6 => oldest - 1,
            7 => oldest + NUMBERS / 2 - random.random_range(0..2),
            8 => oldest + (random.random_range(0..4) << random.random_range(0..NUMBER_BITS)),
            _ => random.random(),
        };
        (number % NUMBERS) as u32
    }
}

/// Random operations, and resets or none.
fn compare(
    unit: &mut ReceiveTable,
    reference: &mut Reference,
    clocks: u32,
    resets: bool,
    random: &mut ChaCha8Rng,
) {
    let params = reference.params.clone();
    for clock in 0..clocks {
        let phase = clock as usize / 256;
        let streams = [1, 2, params.total_streams() as u16][phase % 3];
        let stream = random.random_range(0..streams);
        let prevailing = [op::POST, op::MATCH, op::COMPLETE, op::MATCH][phase / 3 % 4];
        let op = match random.random_range(0..200) {
            0..3 => op::INIT,
            3..100 => prevailing,
            _ => random.random_range(op::POST..=op::COMPLETE),
        };
        let length =
            [0, 1, u32::MAX, random.random(), random.random_range(0..300)][random.random_range(0..5)];
        let bytes = [0, 1, 256, random.random_range(0..512)][random.random_range(0..4)];
        let state = &reference.streams[usize::from(stream)];
        let number = if op == op::INIT && random.random() {
            (NUMBERS as u32) - random.random_range(1..=2 * params.receives)
        } else {
            state.likely_number(random)
        };
        // Mostly around the end of what the number's receive, or another, has room for.
        let receive = state
            .open
            .values()
            .nth(number as usize % params.receives as usize);
        let end = receive.map_or(length, |receive| receive.s_axis_op_length);
        let offset = match random.random_range(0..4) {
            0 => random.random(),
            1 => end.saturating_sub(bytes.into()),
            2 => end
                .wrapping_sub(bytes.into())
                .wrapping_add(random.random_range(0..3))
                .wrapping_sub(1),
            _ => random.random_range(0..300),
        };
        let inputs = Inputs {
            rst: resets && random.random_ratio(1, 10_000),
            s_axis_op_tvalid: random.random_ratio([15, 3][phase / 2 % 2], 16),
            s_axis_op_op: op,
            s_axis_op_stream: stream,
            s_axis_op_number: number,
            s_axis_op_offset: offset,
            s_axis_op_bytes: bytes,
            s_axis_op_address: random.random::<u64>() | u64::MAX << [24, 40, 63][random.random_range(0..3)],
            s_axis_op_length: length,
            s_axis_op_identifier: random.random(),
            m_axis_result_tready: random.random_ratio([16, 12, 3][phase / 5 % 3], 16),
        };
        assert_eq!(
            unit.outputs(),
            reference.outputs(),
            "{} receives, clock {clock}",
            params.receives
        );
        unit.clock(&inputs);
        reference.clock(&inputs);
    }
}

/// R5, H1: every output in every clock is the reference's, with stalls and resets, and each case that the contract tells apart
/// occurs.
#[test]
fn random_operations_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for receives in [2, 4, 64] {
        let params = Params {
            receives,
            ..Params::load("tiny").unwrap()
        };
        params.check().unwrap();
        let mut reference = Reference::new(&params);
        compare(
            &mut ReceiveTable::new(&params),
            &mut reference,
            100_000,
            true,
            &mut random,
        );
        for (bin, hits) in &reference.bins {
            assert!(*hits > 0, "{receives} receives: '{bin}' never occurred");
        }
        assert_eq!(reference.bins.len(), 16);
    }
}

/// R5: the numbers' wrap changes nothing.
#[test]
fn the_wrap_of_the_numbers_matches_the_reference() {
    let params = Params::load("tiny").unwrap();
    let first = (1u32 << NUMBER_BITS) - 20;
    let mut bins = BTreeMap::new();
    for seed in 0..10 {
        let mut unit = tiny();
        let mut reference = Reference::new(&params);
        reference.spaced = Spaced::new(SAME_STREAM_CLOCKS, LATENCY, 0);
        for stream in 0..params.total_streams() as u16 {
            run(
                &mut unit,
                Inputs {
                    s_axis_op_stream: stream,
                    ..init(first)
                },
            );
            reference.streams[usize::from(stream)].next += u64::from(first);
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        compare(&mut unit, &mut reference, 4_000, false, &mut random);
        for bin in ["POST wraps", "COMPLETE wraps", "MATCH across the wrap"] {
            *bins.entry(bin).or_insert(0) += reference.bins[bin];
        }
    }
    assert!(bins.values().all(|&hits| hits > 0), "{bins:?}");
}
