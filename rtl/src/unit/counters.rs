//! `counters`: how often everything happened. Contract: [`metaroce_model::port::counters`].
//!
//! A register of 32 bits for each counter, and a selection over two stages of which the second is the output: the groups of eight are read by the lower
//! bits of the index, and the group by its upper ones.

use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        counters::{COUNTERS, Inputs, Outputs, index},
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
        Latency 1 clock from the index to the value, initiation interval 1."
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
    let none = b.lit(0, COUNTER_BITS);
    let counters: Vec<Signal> = happened
        .into_iter()
        .enumerate()
        .map(|(number, happened)| {
            // Numbers between those of the units have no event.
            let Some(happened) = happened else {
                return none.clone();
            };
            let counter = b.register_reset(&format!("counter_{number}"), COUNTER_BITS, 0);
            let happened = happened.named(&format!("happened_{number}"));
            b.clocked_when(&happened, &counter, &(&counter + counter.lit(1)));
            counter
        })
        .collect();
    let read_index = b.get("read_index");
    let lower = bits::decode(&b, "lower_index", &read_index.truncate(3));
    let upper = bits::decode(&b, "upper_index", &read_index.slice(3, read_index.width() - 3));
    let group_count = COUNTERS.div_ceil(8) as u32;
    b.unused(
        "upper_index",
        &[&upper.slice(group_count, upper.width() - group_count)],
    );
    let groups = counters.chunks(8).enumerate().map(|(group, counters)| {
        let parts = counters
            .iter()
            .enumerate()
            .map(|(at, counter)| counter.gated(&lower.bit(at as u32)));
        let any = parts
            .reduce(|any, part| any | part)
            .expect("a group has a counter");
        any.named(&format!("group_{group}"))
            .gated(&upper.bit(group as u32))
    });
    let shown = groups.reduce(|any, group| any | group).expect("there is a group");
    let value = b.register_reset("shown", COUNTER_BITS, 0);
    b.clocked(&value, &shown.named("next_shown"));
    b.drive("value", &value);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 13] = [
    Mutation { signal: "happened_0", fault: Fault::Zero },
    Mutation { signal: "happened_10", fault: Fault::Operator },
    Mutation { signal: "happened_16", fault: Fault::Operator },
    Mutation { signal: "happened_29", fault: Fault::Zero },
    Mutation { signal: "happened_30", fault: Fault::Zero },
    Mutation { signal: "happened_36", fault: Fault::Invert },
    Mutation { signal: "counter_22", fault: Fault::Enable },
    Mutation { signal: "counter_27", fault: Fault::Decrement },
    Mutation { signal: "counter_33", fault: Fault::Increment },
    Mutation { signal: "counter_35", fault: Fault::Enable },
    Mutation { signal: "group_1", fault: Fault::Operator },
    Mutation { signal: "group_4", fault: Fault::Zero },
    Mutation { signal: "next_shown", fault: Fault::Operator },
];
