//! `completion`: makes completions. Contract: [`metaroce_model::port::completion`].
//!
//! Queues between the contract's rules, in its order.

use super::queue::Queue;
use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        completion::{Inputs, Outputs, WAITING},
        unit_ports,
    },
};
use std::rc::Rc;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Makes completions of messages that are whole, sent and received, and of refusals.
        Profile {}: {} streams.",
        params.name,
        params.total_streams(),
    );
    let b = Builder::unit("completion", &doc, &unit_ports::<Inputs, Outputs>(params));
    let waiting = WAITING as u32;
    let stream_bits = params.stream_index_bits();
    let stream = [("stream", stream_bits)];
    let message = [
        ("stream", stream_bits),
        ("message", 24),
        ("length", 32),
        ("immediate", 32),
        ("kind", 2),
    ];
    let refusal = [("stream", stream_bits), ("message", 24), ("code", 8)];
    let input = |name: &str, fields: &[(&str, u32)]| {
        let queue = Queue::new(&b, name, 1, fields);
        queue.input(&format!("s_axis_{name}"));
        queue
    };
    let output = |name: &str, fields: &[(&str, u32)]| {
        let queue = Queue::new(&b, name, 1, fields);
        queue.output(&format!("m_axis_{name}"));
        queue
    };
    let strobe = |name: &str, fields: &[(&str, u32)]| {
        let queue = Queue::new(&b, name, waiting, fields);
        queue.strobe(name);
        queue
    };
    let received = input("received", &message);
    let sent = input("sent", &stream);
    let error = input("error", &refusal);
    let complete = output("complete", &stream);
    let release = output("release", &stream);
    let stop = output("stop", &[("connection", params.connection_bits())]);
    let cqe = output(
        "cqe",
        &[
            ("received", 1),
            ("error", 8),
            ("stream", stream_bits),
            ("message", 24),
            ("length", 32),
            ("immediate", 32),
            ("kind", 2),
            ("identifier", 32),
        ],
    );
    let completed = strobe("completed", &[("identifier", 32)]);
    let released = strobe(
        "released",
        &[("message", 24), ("kind", 2), ("length", 32), ("identifier", 32)],
    );
    let stopped = strobe("stopped", &[("newly", 1)]);
    let waiting_received = Queue::new(&b, "waiting_received", waiting, &message);
    let waiting_sent = Queue::new(&b, "waiting_sent", waiting, &stream);
    let waiting_error = Queue::new(&b, "waiting_error", waiting, &refusal);
    let copy = |from: &Queue, to: &Queue, when: &Signal, fields: &[(&str, u32)]| {
        let values: Vec<Signal> = fields.iter().map(|(field, _)| from.get(field)).collect();
        to.put(when, &values.iter().collect::<Vec<_>>());
    };

    // received.
    let takes_received =
        (&received.valid() & &complete.room() & &waiting_received.room()).named("takes_received");
    received.take(&takes_received);
    let told = (&takes_received & received.get("kind").any()).named("is_told");
    copy(&received, &waiting_received, &told, &message);
    let is_send = (&takes_received & received.get("kind").bit(1)).named("is_send");
    complete.put(&is_send, &[&received.get("stream")]);

    // sent.
    let takes_sent = (&sent.valid() & &release.room() & &waiting_sent.room()).named("takes_sent");
    sent.take(&takes_sent);
    copy(&sent, &waiting_sent, &takes_sent, &stream);
    release.put(&takes_sent, &[&sent.get("stream")]);

    // error.
    let takes_error = (&error.valid() & &stop.room() & &waiting_error.room()).named("takes_error");
    error.take(&takes_error);
    copy(&error, &waiting_error, &takes_error, &refusal);
    let connection = error
        .get("stream")
        .slice(params.stream_bits(), params.connection_bits());
    stop.put(&takes_error, &[&connection]);

    // deliver.
    let received_last = b.register("received_last", 1);
    let has_error = (&waiting_error.valid() & &stopped.valid()).named("has_error");
    let waits_for_receive = waiting_received.get("kind").bit(1);
    let has_received =
        (&waiting_received.valid() & &(!&waits_for_receive | &completed.valid())).named("has_received");
    let has_sent = (&waiting_sent.valid() & &released.valid()).named("has_sent");
    let others = (&cqe.room() & &!&has_error).named("others");
    let delivers_error = (&cqe.room() & &has_error).named("delivers_error");
    let delivers_received =
        (&others & &has_received & &!&(&has_sent & &received_last)).named("delivers_received");
    let delivers_sent = (&others & &has_sent & &!&delivers_received).named("delivers_sent");
    let new_error = (&delivers_error & stopped.get("newly")).named("new_error");
    waiting_error.take(&delivers_error);
    stopped.take(&delivers_error);
    waiting_received.take(&delivers_received);
    let uses_receive = (&delivers_received & &waits_for_receive).named("uses_receive");
    completed.take(&uses_receive);
    waiting_sent.take(&delivers_sent);
    released.take(&delivers_sent);
    let next_last = b.select(
        "next_received_last",
        &[(&delivers_received, &b.lit(1, 1)), (&delivers_sent, &b.lit(0, 1))],
        &received_last,
    );
    b.clocked(&received_last, &next_last);
    let either = |from_received: Signal, from_sent: Signal| {
        from_received.gated(&delivers_received) | from_sent.gated(&delivers_sent)
    };
    let its = |field: &str| either(waiting_received.get(field), released.get(field));
    let with_immediate = &delivers_received & waiting_received.get("kind").bit(0);
    let cqe_stream = either(waiting_received.get("stream"), waiting_sent.get("stream"))
        | waiting_error.get("stream").gated(&delivers_error);
    let cqe_message = its("message") | waiting_error.get("message").gated(&delivers_error);
    let delivers = (&new_error | &(&delivers_received | &delivers_sent)).named("delivers");
    cqe.put(
        &delivers,
        &[
            &delivers_received,
            &waiting_error.get("code").gated(&delivers_error),
            &cqe_stream,
            &cqe_message,
            &its("length"),
            &waiting_received.get("immediate").gated(&with_immediate),
            &its("kind"),
            &(completed.get("identifier").gated(&uses_receive)
                | released.get("identifier").gated(&delivers_sent)),
        ],
    );
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 20] = [
    Mutation { signal: "takes_received", fault: Fault::Operator },
    Mutation { signal: "is_told", fault: Fault::Operator },
    Mutation { signal: "is_send", fault: Fault::Operator },
    Mutation { signal: "takes_sent", fault: Fault::Operator },
    Mutation { signal: "takes_error", fault: Fault::Operator },
    Mutation { signal: "has_error", fault: Fault::Operator },
    Mutation { signal: "has_received", fault: Fault::Operator },
    Mutation { signal: "has_sent", fault: Fault::Operator },
    Mutation { signal: "others", fault: Fault::Operator },
    Mutation { signal: "delivers_error", fault: Fault::Zero },
    Mutation { signal: "delivers_received", fault: Fault::Operator },
    Mutation { signal: "delivers_sent", fault: Fault::Operator },
    Mutation { signal: "new_error", fault: Fault::Operator },
    Mutation { signal: "uses_receive", fault: Fault::Operator },
    Mutation { signal: "next_received_last", fault: Fault::Zero },
    Mutation { signal: "delivers", fault: Fault::Operator },
    Mutation { signal: "cqe_entry", fault: Fault::Invert },
    Mutation { signal: "stop_entry", fault: Fault::Increment },
    Mutation { signal: "waiting_sent_entry", fault: Fault::Increment },
    Mutation { signal: "waiting_received_entry", fault: Fault::Invert },
];
