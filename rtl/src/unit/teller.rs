//! `teller`: has messages counted, and asks for whole ones. Contract: [`metaroce_model::port::teller`].
//!
//! The slots are compared with a stream all at once; everything happens in the clock of its rule.

use super::queue::Queue;
use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        message_table::{op, status},
        teller::{Inputs, Outputs, SLOTS},
        unit_ports,
    },
};
use std::rc::Rc;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Has the bytes of messages counted by a message_table, and asks it for whole messages as long as there are any; {SLOTS} streams at once.
        Profile {}: {} streams.",
        params.name,
        params.total_streams(),
    );
    let b = Builder::unit("teller", &doc, &unit_ports::<Inputs, Outputs>(params));
    let stream_bits = params.stream_index_bits();
    let packet = [
        ("stream", stream_bits),
        ("message", 24),
        ("bytes", params.payload_bits()),
        ("length", 32),
        ("immediate", 32),
        ("kind", 2),
    ];
    let count = Queue::new(&b, "count", 1, &packet);
    count.input("s_axis_count");
    let op_queue = Queue::gated(
        &b,
        "op",
        1,
        &[&[("op", 2)], &packet[..]].concat(),
        &[&["message", "bytes", "length", "immediate", "kind"]],
    );
    op_queue.output("m_axis_op");
    let message = [
        ("stream", stream_bits),
        ("message", 24),
        ("length", 32),
        ("immediate", 32),
        ("kind", 2),
    ];
    let slots = SLOTS as u32;
    let told = Queue::new(&b, "told", 2 * slots, &message);
    told.output("m_axis_told");
    let result = |field: &str| b.get(&format!("result_{field}"));

    // Messages in `told`, to leave room for what is asked.
    let held_bits = index_bits(2 * slots) + 1;
    let held = b.register("told_held", held_bits);
    let telling = (result("valid") & result("op").is(op::TELL.into())
        | result("valid") & result("op").is(op::COUNT.into()))
    .named("result_counts");
    let tells_one = (&telling & result("status").is(status::TOLD.into())).named("is_told");
    let leaves = &told.valid() & b.get("m_axis_told_tready");
    let next_held = &held + &tells_one.extend(held_bits) - &leaves.extend(held_bits);
    let next_held = next_held.named("next_told_held");
    b.clocked(&held, &next_held);
    let few_held = next_held.lt(&b.lit(u64::from(slots) + 1, held_bits));
    let few = b.register_reset("few_held", 1, 1);
    b.clocked(&few, &few_held.named("next_few_held"));
    let may_ask = (&few & &op_queue.room()).named("may_ask");

    // The slots.
    struct Slot {
        busy: Signal,
        stream: Signal,
        tell: Signal,
    }
    let slot: Vec<Slot> = (0..slots)
        .map(|number| Slot {
            busy: b.register(&format!("busy_{number}"), 1),
            stream: b.register(&format!("stream_{number}"), stream_bits),
            tell: b.register(&format!("tell_{number}"), 1),
        })
        .collect();
    let first = |name: &str, wanted: Vec<Signal>| -> Vec<Signal> {
        (0..wanted.len())
            .map(|at| {
                let earlier = wanted[..at].iter();
                let alone = earlier.fold(wanted[at].clone(), |one, other| one & !other);
                alone.named(&format!("{name}_{at}"))
            })
            .collect()
    };
    let any = |signals: &[Signal]| {
        let all = signals.iter().cloned();
        all.reduce(|any, signal| any | signal).expect("there are slots")
    };
    // A rule happens when the register of its slot is set, which its condition does a clock before.
    let happens = b.forward("happens", 1);
    let ahead = |name: &str, may: &[Signal]| -> (Vec<Signal>, Signal) {
        let register = |name: &str, may: &Signal| {
            let happens_now = b.register(name, 1);
            b.clocked(&happens_now, &(may & !&happens));
            happens_now
        };
        let each = may.iter().enumerate();
        let each = each.map(|(at, may)| register(&format!("{name}_{at}"), may));
        (each.collect(), register(&format!("{name}_any"), &any(may)))
    };
    let may_asks: Vec<Signal> = first(
        "may_ask",
        slot.iter()
            .map(|slot| &slot.busy & &slot.tell & &may_ask)
            .collect(),
    );
    let (asks, asks_any) = ahead("asks", &may_asks);
    // A slot's stream changes only when the packet that waits is taken, so it is compared as that packet comes.
    let comes = b.get("s_axis_count_tvalid") & count.room();
    let same: Vec<Signal> = slot
        .iter()
        .enumerate()
        .map(|(at, slot)| {
            let equal = slot.stream.eq(&b.get("s_axis_count_stream"));
            &slot.busy & &b.stage(&format!("same_stream_{at}"), &comes, &equal)
        })
        .collect();
    let may_count = (&count.valid() & &op_queue.room() & &!(any(&same) | any(&may_asks))).named("may_count");
    let may_begin: Vec<Signal> = first(
        "may_begin",
        slot.iter().map(|slot| &may_count & &!&slot.busy).collect(),
    );
    let (begins, begins_any) = ahead("begins", &may_begin);
    b.drive("happens", &(&asks_any | &begins_any));
    count.take(&begins_any);
    for (at, slot) in slot.iter().enumerate() {
        let hit =
            (&telling & &slot.busy & slot.stream.eq(&result("stream"))).named(&format!("result_hits_{at}"));
        let next_busy = b.select(
            &format!("next_busy_{at}"),
            &[(&begins[at], &b.lit(1, 1)), (&hit, &result("more"))],
            &slot.busy,
        );
        b.clocked(&slot.busy, &next_busy);
        let none = b.lit(0, 1);
        let next_tell = b.select(
            &format!("next_tell_{at}"),
            &[(&begins[at], &none), (&asks[at], &none), (&hit, &result("more"))],
            &slot.tell,
        );
        b.clocked(&slot.tell, &next_tell);
        b.clocked_when(&begins[at], &slot.stream, &count.get("stream"));
    }
    let asked = slot
        .iter()
        .zip(&asks)
        .map(|(slot, asks)| slot.stream.gated(asks))
        .reduce(|any, stream| any | stream)
        .expect("there are slots");
    let code = b.mux(
        "op_code",
        &asks_any,
        &b.lit(op::TELL.into(), 2),
        &b.lit(op::COUNT.into(), 2),
    );
    let stream = b.mux("op_stream", &asks_any, &asked, &count.get("stream"));
    op_queue.put_gated(
        &(&asks_any | &begins_any),
        &[
            &code,
            &stream,
            &count.get("message"),
            &count.get("bytes"),
            &count.get("length"),
            &count.get("immediate"),
            &count.get("kind"),
        ],
        &[&!&asks_any],
    );
    told.put(
        &tells_one,
        &[
            &result("stream"),
            &result("message"),
            &result("length"),
            &result("immediate"),
            &result("kind"),
        ],
    );
    let refused = b.register("refused_register", 1);
    let status_is = |code: u8| result("status").is(code.into());
    let refuses = &telling & &(status_is(status::OUTSIDE) | status_is(status::TOO_LONG));
    b.clocked(&refused, &refuses.named("refuses"));
    b.drive("refused", &refused);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 21] = [
    Mutation { signal: "result_counts", fault: Fault::Operator },
    Mutation { signal: "is_told", fault: Fault::Operator },
    Mutation { signal: "next_told_held", fault: Fault::Operator },
    Mutation { signal: "may_ask", fault: Fault::Operator },
    Mutation { signal: "may_count", fault: Fault::Operator },
    Mutation { signal: "may_ask_1", fault: Fault::Operator },
    Mutation { signal: "asks_3", fault: Fault::Zero },
    Mutation { signal: "asks_any", fault: Fault::Zero },
    Mutation { signal: "may_begin_1", fault: Fault::Operator },
    Mutation { signal: "begins_3", fault: Fault::Zero },
    Mutation { signal: "happens", fault: Fault::Operator },
    Mutation { signal: "result_hits_0", fault: Fault::Operator },
    Mutation { signal: "result_hits_2", fault: Fault::Zero },
    Mutation { signal: "next_busy_1", fault: Fault::Invert },
    Mutation { signal: "next_tell_2", fault: Fault::Zero },
    Mutation { signal: "stream_0", fault: Fault::Enable },
    Mutation { signal: "op_code", fault: Fault::Invert },
    Mutation { signal: "op_stream", fault: Fault::Increment },
    Mutation { signal: "refuses", fault: Fault::Operator },
    Mutation { signal: "told_entry", fault: Fault::Invert },
    Mutation { signal: "op_keep", fault: Fault::Invert },
];
