//! `acknowledger`: makes acknowledgements and refusals. Contract: [`metaroce_model::port::acknowledger`].
//!
//! Queues between the contract's rules, in its order.

use super::queue::Queue;
use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        self,
        acknowledger::{Inputs, Outputs, SOURCE_PORT},
        unit_ports,
    },
    wire::Opcode,
};
use std::rc::Rc;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Makes the acknowledgements that are due, and the refusals.
        Profile {}: {} paths, {} jobs at once.",
        params.name,
        params.total_paths(),
        params.jobs(),
    );
    let b = Builder::unit("acknowledger", &doc, &unit_ports::<Inputs, Outputs>(params));
    let jobs = params.jobs();
    let now = b.get("now");
    let (path_bits, path_index_bits) = (params.path_bits(), params.path_index_bits());
    let timestamp_bits = params.timestamp_bits;
    let plane_bits = params.plane_bits();

    // Queues.
    let strobe = |name: &str, depth: u32, fields: &[(&str, u32)]| {
        let queue = Queue::new(&b, name, depth, fields);
        queue.strobe(name);
        queue
    };
    let output = |name: &str, fields: &[(&str, u32)]| {
        let queue = Queue::new(&b, name, 2, fields);
        queue.output(&format!("m_axis_{name}"));
        queue
    };
    let told = [
        ("echo", timestamp_bits),
        ("hold", 16),
        ("packets", 16),
        ("marked", 16),
    ];
    let refusal = [("stream", 16), ("message", 24), ("code", 8)];
    let due = strobe("due", params.total_paths(), &[("path", path_index_bits)]);
    // What an acknowledgement tells, and what a refusal does, waits for its end in a queue of its own kind.
    let taken = strobe("taken", jobs, &[("path", path_index_bits), ("plane", plane_bits)]);
    let told_queue = Queue::new(&b, "told", jobs, &told);
    told_queue.strobe("taken");
    let refused = Queue::new(&b, "refused", jobs, &refusal);
    let looked = strobe(
        "looked",
        jobs,
        &[
            ("known", 1),
            ("peer", 24),
            ("dscp", 6),
            ("destination_mac", 48),
            ("destination_address", 32),
            ("source_mac", 48),
            ("source_address", 32),
        ],
    );
    let sacked = strobe(
        "sacked",
        jobs,
        &[("base", params.psn_bits), ("vector", params.sack_bits)],
    );
    let nak = Queue::new(
        &b,
        "nak",
        1,
        &[
            &[
                ("connection", params.connection_bits()),
                ("path", path_bits),
                ("plane", plane_bits),
            ],
            &refusal[..],
        ]
        .concat(),
    );
    nak.input("s_axis_nak");
    let waiting = Queue::new(
        &b,
        "waiting",
        jobs,
        &[("refusal", 1), ("path", path_bits), ("plane", plane_bits)],
    );
    let take = output("take", &[("path", path_index_bits), ("now", timestamp_bits)]);
    let lookup = output(
        "lookup",
        &[("connection", params.connection_bits()), ("plane", plane_bits)],
    );
    let sack = output("sack", &[("path", path_index_bits)]);
    let header = port::fields(&unit_ports::<Inputs, Outputs>(params), "m_axis_ack");
    let told_names = told.map(|(field, _)| field);
    let ack = Queue::gated(
        &b,
        "ack",
        1,
        &header,
        &[
            &[&["psn", "vector", "hint"], &told_names[..]].concat(),
            &refusal.map(|(field, _)| field),
        ],
    );
    ack.output("m_axis_ack");

    // take.
    let job_bits = index_bits(jobs) + 1;
    let under_way = b.register("jobs", job_bits);
    let may_begin = (!under_way.is(u64::from(jobs))).named("may_begin");
    let takes = (&due.valid() & &may_begin & &take.room()).named("takes");
    due.take(&takes);
    take.put(&takes, &[&due.get("path"), &now]);

    // look.
    let looks = (&taken.valid() & &lookup.room() & &sack.room()).named("looks");
    taken.take(&looks);
    sack.put(&looks, &[&taken.get("path")]);

    // refuse.
    let may_refuse = (&nak.valid() & &may_begin & &lookup.room()).named("may_refuse");
    let refuses = (&may_refuse & &!&(&takes | &looks)).named("refuses");
    nak.take(&refuses);
    let connection = taken.get("path").slice(path_bits, params.connection_bits());
    let look_plane = b.mux("look_plane", &refuses, &nak.get("plane"), &taken.get("plane"));
    let look_connection = b.mux("look_connection", &refuses, &nak.get("connection"), &connection);
    let begins = (&looks | &refuses).named("begins");
    lookup.put(&begins, &[&look_connection, &look_plane]);
    let its_path = b.mux(
        "look_path",
        &refuses,
        &nak.get("path"),
        &taken.get("path").truncate(path_bits),
    );
    waiting.put(&begins, &[&refuses, &its_path, &look_plane]);
    let refusal_values: Vec<Signal> = refusal.iter().map(|(field, _)| nak.get(field)).collect();
    refused.put(&refuses, &refusal_values.iter().collect::<Vec<_>>());

    // finish.
    let is_nak = waiting.get("refusal");
    let answered = &looked.valid() & &(&is_nak | &sacked.valid());
    let finishes = b.register("finishes", 1);
    let may_finish = (&waiting.valid() & &answered & &ack.room() & &!&finishes).named("may_finish");
    b.clocked(&finishes, &may_finish);
    waiting.take(&finishes);
    looked.take(&finishes);
    let uses_sack = (&finishes & &!&is_nak).named("uses_sack");
    sacked.take(&uses_sack);
    told_queue.take(&uses_sack);
    refused.take(&(&finishes & &is_nak).named("uses_refusal"));
    let opcode = b.mux(
        "opcode",
        &is_nak,
        &b.lit(Opcode::Nak.value().into(), 8),
        &b.lit(Opcode::Ack.value().into(), 8),
    );
    // The lowest bits of the first port are zero: the path's number takes their place.
    let port = waiting.get("path").extend(16) | b.lit(SOURCE_PORT.into(), 16);
    assert!(
        u32::from(SOURCE_PORT).trailing_zeros() >= path_bits,
        "a path's port is an OR"
    );
    let values: Vec<Signal> = header
        .iter()
        .map(|(field, width)| match *field {
            "destination_mac" | "source_mac" | "source_address" | "destination_address" | "dscp" => {
                looked.get(field)
            }
            "connection" => looked.get("peer"),
            "source_port" => port.clone(),
            "opcode" => opcode.clone(),
            "timestamp" => now.clone(),
            "psn" => sacked.get("base"),
            "vector" => sacked.get("vector"),
            "hint" => b.get("config_hint"),
            "window_state" => b.lit(0, *width),
            "plane" | "path" => waiting.get(field),
            field if told_names.contains(&field) => told_queue.get(field),
            _ => refused.get(field),
        })
        .collect();
    // The heads are those of the clock before.
    let stage = |name: &str, value: &Signal| b.stage(name, &b.lit(1, 1), value);
    let known = stage("finish_known", &(&may_finish & &looked.get("known")));
    let (gate_ack, gate_nak) = (stage("gate_ack", &!&is_nak), stage("gate_nak", &is_nak));
    ack.put_gated(
        &known,
        &values.iter().collect::<Vec<_>>(),
        &[&gate_ack, &gate_nak],
    );
    let next_jobs = &under_way + &(&takes | &refuses).extend(job_bits) - &finishes.extend(job_bits);
    b.clocked(&under_way, &next_jobs.named("next_jobs"));
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 22] = [
    Mutation { signal: "may_begin", fault: Fault::Zero },
    Mutation { signal: "takes", fault: Fault::Operator },
    Mutation { signal: "looks", fault: Fault::Operator },
    Mutation { signal: "may_refuse", fault: Fault::Operator },
    Mutation { signal: "refuses", fault: Fault::Operator },
    Mutation { signal: "begins", fault: Fault::Operator },
    Mutation { signal: "look_plane", fault: Fault::Invert },
    Mutation { signal: "look_connection", fault: Fault::Increment },
    Mutation { signal: "look_path", fault: Fault::Increment },
    Mutation { signal: "may_finish", fault: Fault::Operator },
    Mutation { signal: "uses_sack", fault: Fault::Operator },
    Mutation { signal: "uses_refusal", fault: Fault::Operator },
    Mutation { signal: "opcode", fault: Fault::Invert },
    Mutation { signal: "finish_known", fault: Fault::Zero },
    Mutation { signal: "next_jobs", fault: Fault::Operator },
    Mutation { signal: "take_entry", fault: Fault::Increment },
    Mutation { signal: "sack_entry", fault: Fault::Increment },
    Mutation { signal: "waiting_entry", fault: Fault::Invert },
    Mutation { signal: "told_entry", fault: Fault::Invert },
    Mutation { signal: "refused_entry", fault: Fault::Invert },
    Mutation { signal: "ack_keep", fault: Fault::Invert },
    Mutation { signal: "ack_entry", fault: Fault::Invert },
];
