//! `transmitter`: every packet from the decision to send it to its header. Contract: [`metaroce_model::port::transmitter`].
//!
//! Queues between the contract's rules, in its order. A job's kind is two bits, `new` and `again`; a probe has neither. Conditions are of registers and of bits at the
//! queues' heads, and end in a register `RULEs` for each rule, which in the next clock enables what the rule does; wide fields only move from head to entry, with a gate or
//! none on the way.

use super::queue::Queue;
use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        self, packet_table,
        parser::ICRC_BYTES,
        rate_limiter::BYTES_BITS,
        receive_table::NUMBER_BITS,
        request_table, sack_tx, scheduler,
        transmitter::{HEADER_BYTES, Inputs, Outputs, PROBE_BYTES, path_op},
        unit_ports,
    },
    wire::Opcode,
};
use std::rc::Rc;

/// Fields of a job that has a path.
const ROUTE: [&str; 4] = ["path", "plane", "source_port", "timestamp"];

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Brings every packet from the decision to send it to its header: new ones, ones sent again, and probes.
        Profile {}: {} jobs at once.",
        params.name,
        params.jobs(),
    );
    let b = Builder::unit("transmitter", &doc, &unit_ports::<Inputs, Outputs>(params));
    let jobs = params.jobs();
    let now = b.get("now");
    let (path_bits, stream_bits) = (params.path_bits(), params.stream_bits());
    let connection_of = |path: &Signal| path.slice(path_bits, params.connection_bits());

    // Queues: strobes and inputs.
    let ports = unit_ports::<Inputs, Outputs>(params);
    let fields = |name: &str| port::fields(&ports, name);
    let strobe = |name: &str, depth: u32| {
        let queue = Queue::new(&b, name, depth, &fields(name));
        queue.strobe(name);
        queue
    };
    let ready = strobe("ready", params.connections);
    let retry = strobe("retry", params.total_paths());
    let scheduled = strobe("scheduled", jobs);
    let routed = strobe("routed", jobs);
    let sacked = strobe("sacked", jobs);
    let next = strobe("next", jobs);
    let packet = strobe("packet", jobs);
    let looked = strobe("looked", jobs);
    let probe = Queue::new(&b, "probe", 2, &[("path", params.path_index_bits())]);
    probe.input("s_axis_probe");

    // Queues: jobs between the rules.
    let kind = [("new", 1), ("again", 1)];
    let route = [
        ("path", params.path_index_bits()),
        ("plane", params.plane_bits()),
        ("source_port", 16),
        ("timestamp", params.timestamp_bits),
    ];
    let stream = [("stream", stream_bits)];
    let psn = [("psn", params.psn_bits)];
    let request: Vec<(&str, u32)> = fields("read")
        .into_iter()
        .filter(|(field, _)| *field != "status")
        .collect();
    // The status of a request that was read, and the request itself: it waits for its job's end where it came, and there is none if it was not found.
    let read = Queue::new(&b, "read", jobs, &[("status", 2)]);
    read.strobe("read");
    let found = Queue::new(&b, "found", jobs, &request);
    let is_found = b.get("read_status").is(request_table::status::DONE.into());
    found.put_from("read", &(b.get("read_valid") & &is_found).named("request_found"));
    let job_queue = |name: &str, parts: &[&[(&str, u32)]]| Queue::new(&b, name, jobs, &parts.concat());
    let to_route = job_queue("to_route", &[&kind, &stream]);
    let to_send = job_queue("to_send", &[&kind, &stream, &route]);
    let to_pack = job_queue("to_pack", &[&kind, &stream, &route, &psn]);
    let to_read = job_queue("to_read", &[&kind, &route, &psn]);
    let to_look = job_queue("to_look", &[&kind, &stream, &route, &psn]);
    let to_finish = job_queue("to_finish", &[&kind, &stream, &route, &psn]);

    // Queues: outputs.
    let output = |name: &str, stream: &str, depth: u32| {
        let stream = format!("m_axis_{stream}");
        let queue = Queue::new(&b, name, depth, &fields(&stream));
        queue.output(&stream);
        queue
    };
    let schedule = output("schedule", "schedule", 2);
    let take = output("take", "take", 2);
    let path = output("path", "path", 2);
    let sack = output("sack", "sack", 2);
    let next_op = output("next_op", "next", 2);
    let packet_op = output("packet_op", "packet", 2);
    let read_op = output("read_op", "read", 2);
    let lookup = output("lookup", "lookup", 2);
    let charge = output("charge", "charge", 2);
    let data = Queue::gated(
        &b,
        "data",
        1,
        &fields("m_axis_data"),
        &[
            &["message", "message_length", "offset", "immediate"],
            &["key", "address"],
            &["receive"],
        ],
    );
    data.output("m_axis_data");
    let fetch = output("fetch", "fetch", 1);
    let align = output("align", "align", jobs);

    // Jobs under way. Room for two, since two may begin in a clock: J is a power of two, so there is unless they are J or J - 1.
    let count_bits = index_bits(jobs) + 1;
    let under_way = b.register("jobs", count_bits);
    let may_begin = under_way
        .lt(&b.lit(u64::from(jobs - 1), count_bits))
        .named("may_begin");

    // A rule happens when its register is set, which its condition does a clock before. The first four wait for each other, the rest for themselves.
    let moves = b.forward("moves", 1);
    let moved = |name: &str, condition: &Signal| {
        let happens = b.register(name, 1);
        b.clocked(&happens, &(condition & !&moves));
        happens
    };
    let ahead = |name: &str, condition: &Signal| {
        let happens = b.register(name, 1);
        b.clocked(&happens, &(condition & !&happens));
        happens
    };

    // route: the heads are a new job without a path, or a job to be given to `sack_tx`.
    let has_route = (&routed.valid() & &to_route.valid() & &sack.room()).named("has_route");
    let not_found = (to_route.get("new") & !routed.get("found")).named("not_found");
    let may_block = (&has_route & &not_found & &schedule.room()).named("may_route_block");
    let route_blocks = moved("route_blocks", &may_block);
    let goes = moved("route_goes", &(&has_route & &!&not_found).named("may_route_go"));
    let routes = &goes | &route_blocks;
    routed.take(&routes);
    to_route.take(&routes);
    let sack_code = |code: u8| b.lit(code.into(), 3);
    let sack_op = b.select(
        "route_op",
        &[
            (&to_route.get("new"), &sack_code(sack_tx::op::SEND)),
            (&to_route.get("again"), &sack_code(sack_tx::op::RETRANSMIT)),
        ],
        &sack_code(sack_tx::op::PROBE),
    );
    sack.put(&goes, &[&sack_op, &routed.get("path"), &now]);
    to_send.put(
        &goes,
        &[
            &to_route.get("new"),
            &to_route.get("again"),
            &to_route.get("stream"),
            &routed.get("path"),
            &routed.get("plane"),
            &routed.get("source_port"),
            &now,
        ],
    );

    // sent: what `sack_tx` said of it.
    const _: () = assert!(sack_tx::status::FULL == sack_tx::status::NONE);
    let (send_new, send_again) = (to_send.get("new"), to_send.get("again"));
    let in_vain = sacked.get("status").is(sack_tx::status::FULL.into()) & (&send_new | &send_again);
    let in_vain = in_vain.named("sent_in_vain");
    let has_sent = (&sacked.valid() & &to_send.valid() & &path.room() & &next_op.room()).named("has_sent");
    let may_send = (&has_sent & &!&may_block & &(!&send_new | &schedule.room())).named("may_send");
    let may_end = (&may_send & &in_vain).named("may_sent_end");
    let may_send_block = (&may_end & &send_new).named("may_sent_block");
    let may_go = (&may_send & &!&in_vain).named("may_sent_go");
    let may_put_send = (&may_go & &(&send_new | &send_again)).named("may_put_send");
    let sent_ends = moved("sent_ends", &may_end);
    let sent_blocks = moved("sent_blocks", &may_send_block);
    let sent_goes = moved("sent_goes", &may_go);
    let puts_send = moved("puts_send", &may_put_send);
    let sends = &sent_goes | &sent_ends;
    sacked.take(&sends);
    to_send.take(&sends);
    let stream_index =
        |path: &Signal, stream: &Signal, name: &str| b.concat(name, &[stream, &connection_of(path)]);
    next_op.put(
        &(&sent_goes & &send_new),
        &[&stream_index(
            &to_send.get("path"),
            &to_send.get("stream"),
            "next_stream",
        )],
    );
    let route_of = |queue: &Queue| ROUTE.map(|field| queue.get(field));
    let put_job = |queue: &Queue, when: &Signal, parts: &[&[Signal]]| {
        let values: Vec<Signal> = parts.concat();
        queue.put(when, &values.iter().collect::<Vec<_>>());
    };
    let kind_of = |queue: &Queue| ["new", "again"].map(|field| queue.get(field));
    put_job(
        &to_pack,
        &sent_goes,
        &[
            &kind_of(&to_send),
            &[to_send.get("stream")],
            &route_of(&to_send),
            &[sacked.get("psn")],
        ],
    );

    // take: the next connection that may send. BLOCK goes before it.
    let blocks = (&route_blocks | &sent_blocks).named("blocks");
    let no_block = !(&may_block | &may_send_block);
    let may_take = (&ready.valid() & &may_begin & &schedule.room() & &no_block).named("may_take");
    let takes = moved("takes", &may_take);
    ready.take(&takes);
    let blocked = b.mux(
        "blocked_connection",
        &route_blocks,
        &connection_of(&routed.get("path")),
        &connection_of(&to_send.get("path")),
    );
    let schedule_op = b.mux(
        "schedule_op",
        &blocks,
        &b.lit(scheduler::op::BLOCK.into(), 3),
        &b.lit(scheduler::op::TAKE.into(), 3),
    );
    let schedule_connection = b.mux("schedule_connection", &blocks, &blocked, &ready.get("connection"));
    schedule.put(&(&takes | &blocks), &[&schedule_op, &schedule_connection]);

    // enter: a probe, a path with something pending, or a new packet.
    let again = b.register("again", 1);
    let has_new = (&scheduled.valid() & &scheduled.get("taken")).named("has_new");
    let may_drop = (&scheduled.valid() & &!scheduled.get("taken")).named("may_drop");
    let dropped = moved("drops", &may_drop);
    let path_free = (&path.room() & &!&may_put_send).named("path_free");
    let has_probe = &probe.valid() & &may_begin;
    let has_retry = &retry.valid() & &may_begin & &take.room() & &!(&again & &has_new);
    let may_probe = (&path_free & &has_probe).named("may_probe");
    let may_retry = (&path_free & &has_retry & &!&has_probe).named("may_retry");
    let may_new = (&path_free & &has_new & &!(&has_probe | &has_retry)).named("may_new");
    let probes = moved("probes", &may_probe);
    let retries = moved("retries", &may_retry);
    let news = moved("news", &may_new);
    let happen = [&routes, &sends, &takes, &dropped, &probes, &retries, &news];
    let any = happen.into_iter().cloned().reduce(|any, one| any | one);
    b.drive("moves", &any.expect("there are rules"));
    let next_again = b.select(
        "next_again",
        &[(&retries, &b.lit(1, 1)), (&news, &b.lit(0, 1))],
        &again,
    );
    b.clocked(&again, &next_again);
    probe.take(&probes);
    retry.take(&retries);
    scheduled.take(&(&news | &dropped));
    take.put(&retries, &[&retry.get("path")]);
    let enters = (&probes | &retries | &news).named("enters");
    to_route.put(&enters, &[&news, &retries, &scheduled.get("stream").gated(&news)]);
    let path_code = |code: u8| b.lit(code.into(), 3);
    let enter_op = b.select(
        "path_operation",
        &[
            (&puts_send, &path_code(path_op::SEND)),
            (&news, &path_code(path_op::SELECT)),
        ],
        &path_code(path_op::ROUTE),
    );
    let first_path = b.concat(
        "first_path",
        &[&b.lit(0, path_bits), &scheduled.get("connection")],
    );
    let entered_path = b.select(
        "operation_path",
        &[
            (&puts_send, &to_send.get("path")),
            (&probes, &probe.get("path")),
            (&retries, &retry.get("path")),
        ],
        &first_path,
    );
    path.put(&(&enters | &puts_send), &[&enter_op, &entered_path, &now]);

    // pack: the packet's descriptor is kept or read.
    let (pack_new, pack_again) = (to_pack.get("new"), to_pack.get("again"));
    let may_pack = (&to_pack.valid() & &(!&pack_new | &next.valid()) & &packet_op.room()).named("may_pack");
    let packs = ahead("packs", &may_pack);
    to_pack.take(&packs);
    next.take(&(&packs & &pack_new));
    let none = next
        .get("status")
        .ne(&next.get("status").lit(request_table::status::DONE.into()));
    let pack_ends = (&packs & &pack_new & &none).named("pack_ends");
    let pack_goes = (&packs & &!&pack_ends).named("pack_goes");
    let packet_code = b.mux(
        "packet_operation",
        &pack_new,
        &b.lit(packet_table::op::WRITE.into(), 1),
        &b.lit(packet_table::op::READ.into(), 1),
    );
    let offset = next.get("offset");
    let offset_bits = index_bits(params.mtu_bytes);
    let message_bits = params.message_slot_bits();
    packet_op.put(
        &(&pack_goes & &(&pack_new | &pack_again)),
        &[
            &packet_code,
            &to_pack.get("path"),
            &to_pack.get("psn"),
            &to_pack.get("stream").gated(&pack_new),
            &next.get("message").truncate(message_bits).gated(&pack_new),
            &offset.slice(offset_bits, params.packet_bits()).gated(&pack_new),
        ],
    );
    b.unused("offset_unused", &[&offset.truncate(offset_bits)]);
    if message_bits < NUMBER_BITS {
        let message = next.get("message");
        b.unused(
            "message_unused",
            &[&message.slice(message_bits, NUMBER_BITS - message_bits)],
        );
    }
    put_job(
        &to_read,
        &pack_goes,
        &[&kind_of(&to_pack), &route_of(&to_pack), &[to_pack.get("psn")]],
    );

    // read: the descriptor's request.
    let read_data = (to_read.get("new") | to_read.get("again")).named("reads_data");
    let may_read = (&to_read.valid() & &(!&read_data | &packet.valid()) & &read_op.room()).named("may_read");
    let reads = ahead("reads", &may_read);
    to_read.take(&reads);
    let reads_packet = (&reads & &read_data).named("reads_packet");
    packet.take(&reads_packet);
    let read_stream = stream_index(&to_read.get("path"), &packet.get("stream"), "read_stream");
    read_op.put(
        &reads_packet,
        &[&read_stream, &packet.get("message"), &packet.get("packet")],
    );
    put_job(
        &to_look,
        &reads,
        &[
            &kind_of(&to_read),
            &[packet.get("stream").gated(&read_data)],
            &route_of(&to_read),
            &[to_read.get("psn")],
        ],
    );

    // look: who is at the other end.
    let look_data = (to_look.get("new") | to_look.get("again")).named("looks_data");
    let may_look = (&to_look.valid() & &(!&look_data | &read.valid()) & &lookup.room()).named("may_look");
    let looks = ahead("looks", &may_look);
    to_look.take(&looks);
    read.take(&(&looks & &look_data));
    let none = read
        .get("status")
        .ne(&read.get("status").lit(request_table::status::DONE.into()));
    let look_ends = (&looks & &look_data & &none).named("look_ends");
    let look_goes = (&looks & &!&look_ends).named("look_goes");
    lookup.put(
        &look_goes,
        &[&connection_of(&to_look.get("path")), &to_look.get("plane")],
    );
    put_job(
        &to_finish,
        &look_goes,
        &[
            &kind_of(&to_look),
            &[to_look.get("stream")],
            &route_of(&to_look),
            &[to_look.get("psn")],
        ],
    );

    // finish: the header, what to fetch, and the charge. What the heads are was known a clock before, too.
    let may_finish = [
        &looked.valid(),
        &data.room(),
        &fetch.room(),
        &align.room(),
        &charge.room(),
    ]
    .into_iter()
    .fold(to_finish.valid().clone(), |all, condition| all & condition)
    .named("may_finish");
    let finishes = ahead("finishes", &may_finish);
    to_finish.take(&finishes);
    looked.take(&finishes);
    // A probe has no request: the head of `found` is nothing then, or another job's.
    let is_data = (to_finish.get("new") | to_finish.get("again")).named("finish_data");
    found.take(&(&finishes & &is_data).named("finishes_data"));
    let may_know = (&may_finish & &looked.get("known") & &!&finishes).named("may_know");
    let always = b.lit(1, 1);
    let stage = |name: &str, value: &Signal| b.stage(name, &always, value);
    let known = stage("finish_known", &may_know);
    let bytes = found.get("bytes").gated(&is_data).named("finish_bytes");
    let has_payload = stage("has_payload", &(&may_know & &bytes.any()));
    let request_kind = found.get("kind");
    let gate_data = stage("finish_gate", &is_data);
    let is_send = stage("finish_send", &(&is_data & request_kind.bit(1)));
    let is_write = stage("finish_write", &(&is_data & !request_kind.bit(1)));
    let opcode = b.mux(
        "opcode",
        &is_data,
        &(request_kind.extend(8) + b.lit(Opcode::Write.value().into(), 8)),
        &b.lit(Opcode::Probe.value().into(), 8),
    );
    let header: Vec<Signal> = fields("m_axis_data")
        .into_iter()
        .map(|(field, width)| match field {
            "destination_mac" | "source_mac" | "source_address" | "destination_address" | "dscp" => {
                looked.get(field)
            }
            "source_port" | "plane" | "psn" | "timestamp" | "stream" => to_finish.get(field).extend(width),
            "opcode" => opcode.clone(),
            "flags" => b.lit(0, width),
            "connection" => looked.get("peer"),
            "path" => to_finish.get("path").truncate(path_bits),
            "payload_bytes" => bytes.clone(),
            "address" => found.get("remote"),
            _ => found.get(field),
        })
        .collect();
    data.put_gated(
        &known,
        &header.iter().collect::<Vec<_>>(),
        &[&gate_data, &is_write, &is_send],
    );
    let local = found.get("local");
    fetch.put(&has_payload, &[&local, &bytes]);
    let lane_bits = params.lane_bits();
    align.put(
        &has_payload,
        &[
            &local.truncate(lane_bits),
            &b.lit(u64::from(HEADER_BYTES % params.lanes()), lane_bits),
            &bytes,
        ],
    );
    let headers = b.mux(
        "header_bytes",
        &is_data,
        &b.lit(u64::from(HEADER_BYTES + ICRC_BYTES), BYTES_BITS),
        &b.lit(u64::from(PROBE_BYTES + ICRC_BYTES), BYTES_BITS),
    );
    charge.put(
        &known,
        &[
            &connection_of(&to_finish.get("path")),
            &(&headers + bytes.resize(BYTES_BITS)),
        ],
    );

    // The count of jobs: at most two begin, at most six end.
    let sum = |name: &str, events: &[&Signal]| {
        let zero = b.lit(0, count_bits);
        events
            .iter()
            .fold(zero, |sum, event| sum + event.extend(count_bits))
            .named(name)
    };
    let begun = sum("jobs_begun", &[&takes, &(&probes | &retries)]);
    let ended = sum(
        "jobs_ended",
        &[
            &route_blocks,
            &sent_ends,
            &dropped,
            &pack_ends,
            &look_ends,
            &finishes,
        ],
    );
    let next_jobs = (&under_way + &begun - &ended).named("next_jobs");
    b.clocked(&under_way, &next_jobs);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 45] = [
    // Conditions of the rules.
    Mutation { signal: "has_route", fault: Fault::Operator },
    Mutation { signal: "not_found", fault: Fault::Operator },
    Mutation { signal: "route_blocks", fault: Fault::Zero },
    Mutation { signal: "may_route_go", fault: Fault::Operator },
    Mutation { signal: "has_sent", fault: Fault::Operator },
    Mutation { signal: "sent_in_vain", fault: Fault::Operator },
    Mutation { signal: "may_send", fault: Fault::Operator },
    Mutation { signal: "may_sent_block", fault: Fault::Operator },
    Mutation { signal: "may_put_send", fault: Fault::Operator },
    Mutation { signal: "blocks", fault: Fault::Operator },
    Mutation { signal: "may_take", fault: Fault::Operator },
    Mutation { signal: "may_probe", fault: Fault::Operator },
    Mutation { signal: "may_retry", fault: Fault::Operator },
    Mutation { signal: "may_new", fault: Fault::Operator },
    Mutation { signal: "may_drop", fault: Fault::Operator },
    Mutation { signal: "may_pack", fault: Fault::Operator },
    Mutation { signal: "pack_ends", fault: Fault::Zero },
    Mutation { signal: "may_read", fault: Fault::Operator },
    Mutation { signal: "reads_data", fault: Fault::Operator },
    Mutation { signal: "request_found", fault: Fault::Operator },
    Mutation { signal: "may_look", fault: Fault::Operator },
    Mutation { signal: "look_ends", fault: Fault::Zero },
    Mutation { signal: "may_finish", fault: Fault::Operator },
    Mutation { signal: "finishes_data", fault: Fault::Operator },
    Mutation { signal: "may_know", fault: Fault::Operator },
    Mutation { signal: "has_payload", fault: Fault::Zero },
    Mutation { signal: "may_route_block", fault: Fault::Operator },
    Mutation { signal: "may_sent_end", fault: Fault::Operator },
    Mutation { signal: "may_sent_go", fault: Fault::Operator },
    Mutation { signal: "path_free", fault: Fault::Operator },
    Mutation { signal: "moves", fault: Fault::Zero },
    Mutation { signal: "packs", fault: Fault::Operator },
    Mutation { signal: "finish_gate", fault: Fault::Zero },
    Mutation { signal: "finish_send", fault: Fault::Zero },
    // What they give.
    Mutation { signal: "route_op", fault: Fault::Invert },
    Mutation { signal: "schedule_op", fault: Fault::Invert },
    Mutation { signal: "blocked_connection", fault: Fault::Zero },
    Mutation { signal: "next_again", fault: Fault::Invert },
    Mutation { signal: "path_operation", fault: Fault::Zero },
    Mutation { signal: "operation_path", fault: Fault::Increment },
    Mutation { signal: "packet_operation", fault: Fault::Invert },
    Mutation { signal: "opcode", fault: Fault::Increment },
    Mutation { signal: "data_keep", fault: Fault::Invert },
    Mutation { signal: "header_bytes", fault: Fault::Increment },
    Mutation { signal: "next_jobs", fault: Fault::Operator },
];
