//! `counters` against its contract: every event counts at its own number and no other, and what is shown is some clocks old.

use metaroce_model::{
    Params,
    port::counters::{COUNTERS, INDEX_BITS, Inputs, LATENCY, index},
    unit::{Unit, counters::Counters},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn new() -> Counters {
    Counters::new(&Params::load("tiny").unwrap())
}

/// What each counter holds, read one after the other in clocks in which nothing happens.
fn read_all(unit: &mut Counters) -> Vec<u32> {
    let read = (0..1u8 << INDEX_BITS).map(|read_index| {
        for _ in 0..LATENCY {
            unit.clock(&Inputs {
                read_index,
                ..Inputs::default()
            });
        }
        unit.outputs().value
    });
    read.collect()
}

/// Every event by itself, with the number of its counter.
fn events() -> Vec<(usize, Inputs)> {
    let none = Inputs::default();
    let mut events = Vec::new();
    for parser_reason in 0..=10 {
        let inputs = Inputs {
            parser_valid: true,
            parser_reason,
            ..none
        };
        events.push((index::PARSER + parser_reason, inputs));
    }
    for receiver_event in 2..=10 {
        let inputs = Inputs {
            receiver_valid: true,
            receiver_event,
            ..none
        };
        events.push((index::RECEIVER + receiver_event, inputs));
    }
    for retirement_event in 0..=2 {
        let inputs = Inputs {
            retirement_valid: true,
            retirement_event,
            ..none
        };
        events.push((index::RETIREMENT + retirement_event, inputs));
    }
    type Set = fn(&mut Inputs);
    let plain: [(u8, Set); 7] = [
        (index::RECEIVED_REFUSED, |inputs| inputs.received_refused = true),
        (index::SENT_REFUSED, |inputs| inputs.sent_refused = true),
        (index::REQUEST_REFUSED, |inputs| inputs.request_refused = true),
        (index::RECEIVE_REFUSED, |inputs| inputs.receive_refused = true),
        (index::TIMEOUT, |inputs| inputs.timed_out = true),
        (index::SENT_AGAIN, |inputs| inputs.sent_again = true),
        (index::PROBE, |inputs| inputs.probed = true),
    ];
    for (number, set) in plain {
        let mut inputs = none;
        set(&mut inputs);
        events.push((number, inputs));
    }
    events
        .into_iter()
        .map(|(number, inputs)| (usize::from(number), inputs))
        .collect()
}

/// R11: an event counts once, at its own number, and at no other; no two events share one.
#[test]
fn every_event_has_its_own_counter() {
    let mut seen = [false; COUNTERS];
    for (number, inputs) in events() {
        let mut unit = new();
        unit.clock(&inputs);
        let mut expected = vec![0; 1 << INDEX_BITS];
        expected[number] = 1;
        assert_eq!(read_all(&mut unit), expected, "{inputs:?}");
        assert!(!std::mem::replace(&mut seen[number], true), "number {number}");
    }
    assert_eq!(seen.iter().filter(|&&seen| seen).count(), 30);
}

/// R11: what is shown in a clock is the counter named [`LATENCY`] clocks before, without that clock's event; a reset clears all.
#[test]
fn shows_what_was_counted_before_the_index_came() {
    let mut unit = new();
    let timeout = Inputs {
        timed_out: true,
        read_index: index::TIMEOUT,
        ..Inputs::default()
    };
    for clock in 0..LATENCY as u32 + 5 {
        unit.clock(&timeout);
        assert_eq!(unit.outputs().value, (clock + 1).saturating_sub(LATENCY as u32));
    }
    unit.clock(&Inputs { rst: true, ..timeout });
    assert_eq!(unit.outputs().value, 0);
    assert_eq!(read_all(&mut unit), vec![0; 1 << INDEX_BITS]);
}

/// R11: many events at once, in random clocks, are all counted.
#[test]
fn counts_what_happens_at_once() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut unit = new();
    let mut expected = vec![0u32; 1 << INDEX_BITS];
    for _ in 0..10_000 {
        let inputs = Inputs {
            parser_valid: random.random(),
            parser_reason: random.random_range(0..=10),
            receiver_valid: random.random(),
            receiver_event: random.random_range(2..=10),
            retirement_valid: random.random(),
            retirement_event: random.random_range(0..=2),
            received_refused: random.random(),
            probed: random.random(),
            ..Inputs::default()
        };
        unit.clock(&inputs);
        for (happened, number) in [
            (inputs.parser_valid, index::PARSER + inputs.parser_reason),
            (inputs.receiver_valid, index::RECEIVER + inputs.receiver_event),
            (
                inputs.retirement_valid,
                index::RETIREMENT + inputs.retirement_event,
            ),
            (inputs.received_refused, index::RECEIVED_REFUSED),
            (inputs.probed, index::PROBE),
        ] {
            expected[usize::from(number)] += u32::from(happened);
        }
    }
    assert_eq!(read_all(&mut unit), expected);
}
