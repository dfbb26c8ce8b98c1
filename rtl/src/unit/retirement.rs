//! `retirement`: what an acknowledgement does. Contract: [`metaroce_model::port::retirement`].
//!
//! Queues, and a machine that takes one acknowledgement after the other: *idle*, *read* (the memory's output, then a register), *apply*, *walk*. Each state is a bit. The memory has one word a path.

use super::{issue, memory, queue::Queue};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        self, request_table,
        retirement::{Inputs, Outputs, event},
        sack_tx, unit_ports,
    },
    wire::{NakCode, Opcode},
};
use std::rc::Rc;

/// Bits of a running count of marked packets, and of the time that an acknowledgement was held back.
const COUNT_BITS: u32 = 16;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "What an acknowledgement does to its path and to the messages of which packets are acknowledged.
        Profile {}: connections = {}, paths = {}, {} acknowledgements at once.",
        params.name,
        params.connections,
        params.paths,
        params.jobs(),
    );
    let b = Builder::unit("retirement", &doc, &unit_ports::<Inputs, Outputs>(params));
    let jobs = params.jobs();
    let now = b.get("now");
    let (path_bits, stream_bits) = (params.path_bits(), params.stream_bits());
    let path_index_bits = params.path_index_bits();
    let timestamp_bits = params.timestamp_bits;
    let packet_counts = params.sack_count_bits();
    let sweep = issue::sweep(&b, params.total_paths());
    let offered = |field: &str| b.get(&format!("s_axis_ack_{field}"));

    // Queues.
    let init = Queue::new(
        &b,
        "init",
        2,
        &[("path", path_index_bits), ("psn", params.psn_bits)],
    );
    init.input("s_axis_init");
    let strobe = |name: &str, fields: &[(&str, u32)]| {
        let queue = Queue::new(&b, name, jobs, fields);
        queue.strobe(name);
        queue
    };
    let sacked = strobe(
        "sacked",
        &[
            ("status", 2),
            ("psn", params.psn_bits),
            ("acknowledged", packet_counts),
            ("holes", packet_counts),
            ("lost_again", packet_counts),
        ],
    );
    let packet = strobe(
        "packet",
        &[
            ("path", path_index_bits),
            ("stream", stream_bits),
            ("message", params.message_slot_bits()),
            ("packet", params.packet_bits()),
        ],
    );
    let read = strobe(
        "read",
        &[
            ("status", 2),
            ("stream", params.stream_index_bits()),
            ("message", 24),
            ("message_length", 32),
            ("bytes", params.payload_bits()),
        ],
    );
    let contexts = Queue::new(
        &b,
        "contexts",
        jobs,
        &[
            ("path", path_index_bits),
            ("marked", COUNT_BITS),
            ("rtt", params.rtt_bits),
            ("rtt_valid", 1),
        ],
    );
    let output = |name: &str, stream: &str, depth: u32| {
        let prefix = format!("m_axis_{stream}");
        let fields = port::fields(&unit_ports::<Inputs, Outputs>(params), &prefix);
        let queue = Queue::new(&b, name, depth, &fields);
        queue.output(&prefix);
        queue
    };
    let sack = output("sack", "sack", 1);
    let path = output("path", "path", 1);
    let packet_op = output("packet_op", "packet", 2);
    let read_op = output("read_op", "read", 2);
    let count = output("count", "count", 1);
    let error = output("error", "error", 1);

    // admit.
    let job_bits = index_bits(jobs) + 1;
    let under_way = b.register("jobs", job_bits);
    let full = under_way.is(u64::from(jobs));
    let may_accept = (&sack.room() & &error.room() & &!&(&full | &sweep.clearing)).named("may_accept");
    let ready = b.register("ready", 1);
    let accepted = (offered("tvalid") & &ready).named("accepted");
    b.clocked(&ready, &(&may_accept & &!&accepted));
    b.drive("s_axis_ack_tready", &ready);
    let is_nak = offered("opcode").is(Opcode::Nak.value().into()).named("is_nak");
    let not_ready = offered("code")
        .is(NakCode::ReceiverNotReady.value().into())
        .named("is_not_ready");
    let admits = (&accepted & &!&is_nak).named("admits");
    let ack_path = b.concat("ack_path", &[&offered("path"), &offered("connection")]);
    sack.put(
        &admits,
        &[
            &ack_path,
            &offered("psn"),
            &offered("vector"),
            &offered("echo"),
            &now,
        ],
    );
    let rtt = (&now - offered("echo") - offered("hold").extend(timestamp_bits)).named("rtt");
    let rtt_over = rtt.slice(params.rtt_bits, timestamp_bits - params.rtt_bits).any();
    let rtt_cut = rtt.truncate(params.rtt_bits) | rtt_over.sign_extend(params.rtt_bits);
    let rtt_valid = !&(offered("hold").all() | rtt.msb());
    contexts.put(&admits, &[&ack_path, &offered("marked"), &rtt_cut, &rtt_valid]);
    let refuses = (&accepted & &is_nak & &!&not_ready).named("refuses");
    let stream = offered("stream");
    let error_stream = b.concat(
        "error_stream",
        &[&stream.truncate(stream_bits), &offered("connection")],
    );
    error.put(&refuses, &[&error_stream, &offered("message"), &offered("code")]);
    b.unused("stream_unused", &[&stream.slice(stream_bits, 16 - stream_bits)]);
    let nak_event = (&accepted & &is_nak & &not_ready).named("nak_event");

    // The machine.
    let state = |name: &str| b.register(name, 1);
    let (read_1, read_2, apply, walk) = (
        state("state_read_1"),
        state("state_read_2"),
        state("state_apply"),
        state("state_walk"),
    );
    let busy = (&read_1 | &read_2) | (&apply | &walk);
    let idle = !&(&busy | &sweep.clearing);
    let takes_init = (&idle & &init.valid()).named("takes_init");
    let takes = (&idle & &!&init.valid() & &sacked.valid() & &contexts.valid()).named("takes");
    init.take(&takes_init);
    sacked.take(&takes);
    contexts.take(&takes);
    let done = sacked
        .get("status")
        .is(sack_tx::status::DONE.into())
        .named("is_done");
    let begins = (&takes & &done).named("begins");
    let kept = |name: &str, value: &Signal| b.stage(name, &begins, value);
    let base = kept("base", &sacked.get("psn"));
    let acknowledged = kept("acknowledged", &sacked.get("acknowledged"));
    let lost_bits = packet_counts + 1;
    let lost = kept(
        "lost",
        &(sacked.get("holes").extend(lost_bits) + sacked.get("lost_again").extend(lost_bits)),
    );
    let its_path = kept("its_path", &contexts.get("path"));
    let its_marked = kept("its_marked", &contexts.get("marked"));
    let its_rtt = kept("its_rtt", &contexts.get("rtt"));
    let its_rtt_valid = kept("its_rtt_valid", &contexts.get("rtt_valid"));

    let retired = b.register("retired", params.psn_bits);
    let at_base = retired.eq(&base).named("at_base");
    let ends = b.register("ends", 1);
    b.clocked(&ends, &(&walk & &at_base & &!&ends));
    let write = (&sweep.clearing | &(&takes_init | &ends)).named("word_write");
    let write_path = b.select(
        "word_path",
        &[(&sweep.clearing, &sweep.index), (&takes_init, &init.get("path"))],
        &its_path,
    );
    let kept_retired = retired.gated(&ends) | init.get("psn").gated(&takes_init);
    let word = b.concat("word", &[&kept_retired, &its_marked.gated(&ends)]);
    let words = b.instance(
        "words",
        &memory::ram(params.total_paths(), word.width()),
        &[
            ("write_enable", &write),
            ("write_address", &write_path),
            ("write_data", &word),
            ("read_enable", &read_1),
            ("read_address", &its_path),
        ],
    );
    let [word_retired, word_marked] = bits::split(
        &words.get("read_data"),
        [("word_retired", params.psn_bits), ("word_marked", COUNT_BITS)],
    );
    let marked = b.stage("marked_since", &read_2, &(&its_marked - &word_marked));

    // apply.
    let applies = (&apply & &path.room()).named("applies");
    let changes = b.stage("changes", &b.lit(1, 1), &(acknowledged.any() | lost.any()));
    let lost = lost.truncate(packet_counts) | lost.msb().sign_extend(packet_counts);
    let marked_bits = COUNT_BITS.max(packet_counts);
    let fewer = marked.extend(marked_bits).lt(&acknowledged.extend(marked_bits));
    let marked = b.mux(
        "marked_at_most",
        &fewer,
        &marked.resize(packet_counts),
        &acknowledged,
    );
    path.put(
        &(&applies & &changes),
        &[
            &its_path,
            &acknowledged,
            &lost,
            &marked,
            &(&its_rtt_valid & &acknowledged.any()),
            &its_rtt,
            &now,
        ],
    );

    // walk.
    let walking = b.register("walking", job_bits);
    let may_walk = &packet_op.room() & &!walking.is(u64::from(jobs));
    let walks = b.register("walks", 1);
    let may_step = (&walk & &!&at_base & &may_walk).named("may_step");
    b.clocked(&walks, &(&may_step & &!&walks));
    packet_op.put(&walks, &[&its_path, &retired]);
    let next_retired = b.mux(
        "next_retired",
        &walk,
        &(&retired + &retired.lit(1)),
        &word_retired,
    );
    b.clocked_when(&(&read_2 | &walks), &retired, &next_retired);
    b.clocked(&read_1, &begins);
    b.clocked(&read_2, &read_1);
    b.clocked(&apply, &(&read_2 | &(&apply & &!&applies)));
    b.clocked(&walk, &(&applies | &(&walk & &!&ends)));

    // read, count.
    let reads = (&packet.valid() & &read_op.room()).named("reads");
    packet.take(&reads);
    let packet_path = packet.get("path");
    let connection = packet_path.slice(path_bits, params.connection_bits());
    b.unused("packet_path", &[&packet_path.truncate(path_bits)]);
    let stream_index = b.concat("request_stream", &[&packet.get("stream"), &connection]);
    read_op.put(
        &reads,
        &[&stream_index, &packet.get("message"), &packet.get("packet")],
    );
    let counts = b.register("counts", 1);
    let may_count = (&read.valid() & &count.room()).named("may_count");
    b.clocked(&counts, &(&may_count & &!&counts));
    read.take(&counts);
    let there = read.get("status").is(request_table::status::DONE.into());
    count.put(
        &(&counts & &there),
        &[
            &read.get("stream"),
            &read.get("message"),
            &read.get("bytes"),
            &read.get("message_length"),
        ],
    );
    let step = |register: &Signal, up: &Signal, down: &Signal, name: &str| {
        let next = register + &up.extend(job_bits) - &down.extend(job_bits);
        b.clocked(register, &next.named(name));
    };
    step(&under_way, &admits, &takes, "next_jobs");
    step(&walking, &walks, &counts, "next_walking");

    // Events.
    let machine_event = (&takes & &!&done).named("machine_event");
    let stale = sacked.get("status").is(sack_tx::status::STALE.into());
    let event_valid = b.register("event_valid_register", 1);
    b.clocked(&event_valid, &(&nak_event | &machine_event));
    let code = |code: u8| b.lit(code.into(), 2);
    let is_stale = &machine_event & &stale;
    let next_event = b.select(
        "next_event",
        &[
            (&nak_event, &code(event::NOT_READY)),
            (&is_stale, &code(event::STALE)),
            (&machine_event, &code(event::INVALID)),
        ],
        &code(0),
    );
    let event = b.register("event_register", 2);
    b.clocked(&event, &next_event);
    b.drive("event_valid", &event_valid);
    b.drive("event_code", &event);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 30] = [
    // What is admitted.
    Mutation { signal: "may_accept", fault: Fault::Operator },
    Mutation { signal: "accepted", fault: Fault::Operator },
    Mutation { signal: "is_nak", fault: Fault::Operator },
    Mutation { signal: "is_not_ready", fault: Fault::Operator },
    Mutation { signal: "rtt", fault: Fault::Operator },
    Mutation { signal: "refuses", fault: Fault::Operator },
    Mutation { signal: "nak_event", fault: Fault::Zero },
    // The machine.
    Mutation { signal: "takes_init", fault: Fault::Zero },
    Mutation { signal: "takes", fault: Fault::Operator },
    Mutation { signal: "is_done", fault: Fault::Operator },
    Mutation { signal: "lost", fault: Fault::Operator },
    Mutation { signal: "at_base", fault: Fault::Operator },
    Mutation { signal: "word_write", fault: Fault::Operator },
    Mutation { signal: "word_path", fault: Fault::Zero },
    Mutation { signal: "marked_since", fault: Fault::Operator },
    Mutation { signal: "applies", fault: Fault::Operator },
    Mutation { signal: "changes", fault: Fault::Zero },
    Mutation { signal: "marked_at_most", fault: Fault::Zero },
    Mutation { signal: "may_step", fault: Fault::Operator },
    Mutation { signal: "next_retired", fault: Fault::Increment },
    Mutation { signal: "retired", fault: Fault::Enable },
    // What follows.
    Mutation { signal: "reads", fault: Fault::Operator },
    Mutation { signal: "may_count", fault: Fault::Operator },
    Mutation { signal: "counts", fault: Fault::Operator },
    Mutation { signal: "next_jobs", fault: Fault::Operator },
    Mutation { signal: "next_walking", fault: Fault::Operator },
    Mutation { signal: "machine_event", fault: Fault::Operator },
    Mutation { signal: "next_event", fault: Fault::Invert },
    Mutation { signal: "base", fault: Fault::Enable },
    Mutation { signal: "its_path", fault: Fault::Enable },
];
