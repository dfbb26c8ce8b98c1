//! `counters`: how often everything happened. Contract: [`metaroce_model::port::counters`].
//!
//! A counter is two numbers: what it has counted since its last *turn*, in registers of its own, and its total until then, in a memory. The turn goes round
//! the counters, one a clock, and adds one to the other. So registers need no more bits than a round has clocks, and one adder carries far enough.
//!
//! | stage | turn | shown |
//! |---|---|---|
//! | 0 | total is read | total is read; counted since; written in this clock? |
//! | 1 | memory's output; counted since is taken and starts anew | memory's output, or what was written |
//! | 2 | added, written | added |
//! | 3 | | **value** |
//!
//! In the round after reset the memory's words mean nothing: a total is 0 until its counter had its turn.

use super::memory;
use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        counters::{COUNTERS, INDEX_BITS, Inputs, LATENCY, Outputs, index},
        unit_ports,
    },
};
use std::rc::Rc;

/// Bits of a counter.
const COUNTER_BITS: u32 = 32;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "{COUNTERS} counters of what the NIC drops, refuses or must repeat.
        Latency {LATENCY} clocks from the index to the value, initiation interval 1."
    );
    let b = Builder::unit("counters", &doc, &unit_ports::<Inputs, Outputs>(params));
    // What happened, a bit for each counter.
    let mut happened: Vec<Option<Signal>> = vec![None; COUNTERS];
    for (name, event, first, codes) in [
        ("parser", "parser_reason", index::PARSER, 0..=10),
        ("receiver", "receiver_event", index::RECEIVER, 2..=10),
        ("retirement", "retirement_event", index::RETIREMENT, 0..=2),
    ] {
        let valid = b.get(&format!("{name}_valid"));
        for code in codes {
            let is_it = &valid & b.get(event).is(code);
            happened[usize::from(first) + code as usize] = Some(is_it);
        }
    }
    for (name, counter) in [
        ("received_refused", index::RECEIVED_REFUSED),
        ("sent_refused", index::SENT_REFUSED),
        ("request_refused", index::REQUEST_REFUSED),
        ("receive_refused", index::RECEIVE_REFUSED),
        ("timed_out", index::TIMEOUT),
        ("sent_again", index::SENT_AGAIN),
        ("probed", index::PROBE),
    ] {
        happened[usize::from(counter)] = Some(b.get(name));
    }

    // The turn.
    let always = b.lit(1, 1);
    let turn = b.register("turn", INDEX_BITS);
    let round_ends = turn.is(COUNTERS as u64 - 1).named("round_ends");
    let next_turn = (&turn + turn.lit(1)).gated(&!round_ends);
    b.clocked(&turn, &next_turn.named("next_turn"));
    let turns = b.carry("turn", &always, &turn, 1..=2);
    let takes = b.carry("takes_turn", &always, &always, 1..=2);
    let (turn_1, takes_1) = (turns.at(1), takes.at(1));
    let (turn_2, takes_2) = (turns.at(2), takes.at(2));
    let last_turn = (takes_2 & &turn_2.is(COUNTERS as u64 - 1)).named("last_turn");
    let all_known = b.register("all_known", 1);
    b.clocked(&all_known, &(&all_known | &last_turn));

    // Counted since the turn. Numbers between those of the units have no event.
    let since_bits = index_bits(COUNTERS as u32 + 1);
    let mut counted = Vec::new();
    for (number, happened) in happened.into_iter().enumerate() {
        let Some(happened) = happened else { continue };
        let happened = happened.named(&format!("happened_{number}"));
        let has_turn = (takes_1 & &turn_1.is(number as u64)).named(&format!("has_turn_{number}"));
        let since = b.register(&format!("since_{number}"), since_bits);
        b.clocked(&since, &(since.gated(&!&has_turn) + happened.extend(since_bits)));
        counted.push((number, has_turn, since));
    }
    let any = |name: &str, parts: Vec<Signal>| {
        let any = parts.into_iter().reduce(|any, part| any | part);
        any.expect("there is a counter").named(name)
    };
    let since_turn = counted.iter().map(|(_, has_turn, since)| since.gated(has_turn));
    let since_turn = any("since_turn", since_turn.collect());
    let counted_2 = b.stage("counted_2", &always, &since_turn);

    // Totals, and what is shown.
    let read_index = b.get("read_index");
    let total = b.forward("total", COUNTER_BITS);
    let totals = |name: &str, address: &Signal| {
        let ports = [
            ("write_enable", takes_2),
            ("write_address", turn_2),
            ("write_data", &total),
            ("read_enable", &always),
            ("read_address", address),
        ];
        let memory = memory::ram(1 << INDEX_BITS, COUNTER_BITS);
        b.instance(name, &memory, &ports).get("read_data")
    };
    let total_2 = b.stage("total_2", &always, &totals("totals", &turn));
    b.drive(
        "total",
        &(total_2.gated(&all_known) + counted_2.extend(COUNTER_BITS)),
    );

    let written = (takes_2 & &turn_2.eq(&read_index)).named("written");
    let is_counter = read_index.lt(&read_index.lit(COUNTERS as u64));
    let known = (&all_known & &is_counter) | read_index.lt(turn_2);
    let stage = |name: &str, value: &Signal| b.stage(name, &always, value);
    let known_1 = stage("known_1", &(&known & &!&written));
    let written_1 = stage("written_1", &total.gated(&written));
    let shown_since = counted
        .iter()
        .map(|(number, _, since)| since.gated(&read_index.is(*number as u64)));
    let shown_since = any("shown_since", shown_since.collect());
    let fresh_1 = stage("fresh_1", &shown_since);
    let word_1 = totals("shown_totals", &read_index).gated(&known_1) | written_1;
    let (word_2, fresh_2) = (stage("word_2", &word_1), stage("fresh_2", &fresh_1));
    let value = stage("value_3", &(&word_2 + &fresh_2.extend(COUNTER_BITS)));
    b.drive("value", &value);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 19] = [
    Mutation { signal: "happened_0", fault: Fault::Zero },
    Mutation { signal: "happened_10", fault: Fault::Operator },
    Mutation { signal: "happened_16", fault: Fault::Operator },
    Mutation { signal: "happened_29", fault: Fault::Zero },
    Mutation { signal: "happened_30", fault: Fault::Zero },
    Mutation { signal: "happened_36", fault: Fault::Invert },
    Mutation { signal: "since_22", fault: Fault::Increment },
    Mutation { signal: "since_27", fault: Fault::Decrement },
    Mutation { signal: "has_turn_33", fault: Fault::Operator },
    Mutation { signal: "round_ends", fault: Fault::Zero },
    Mutation { signal: "next_turn", fault: Fault::Increment },
    Mutation { signal: "all_known", fault: Fault::Operator },
    Mutation { signal: "total", fault: Fault::Increment },
    Mutation { signal: "since_turn", fault: Fault::Zero },
    Mutation { signal: "written_1", fault: Fault::Zero },
    Mutation { signal: "known_1", fault: Fault::Operator },
    Mutation { signal: "shown_since", fault: Fault::Operator },
    Mutation { signal: "fresh_1", fault: Fault::Zero },
    Mutation { signal: "word_2", fault: Fault::Increment },
];
