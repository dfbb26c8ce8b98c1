//! `receiver`: follows every packet from its header to what becomes of it. Contract: [`metaroce_model::port::receiver`].
//!
//! Queues between the contract's rules, in its order. What an opcode is, and whether a packet can be at all (`malformed`), is found when its header comes, and kept in a few bits.

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
        key_table::{self, DOMAIN_BITS},
        receive_table,
        receiver::{Inputs, Outputs, judgement},
        sack_rx, unit_ports,
    },
    wire::{NakCode, Opcode},
};
use std::rc::Rc;

/// Bits of a judgement.
const JUDGEMENT_BITS: u32 = 4;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Follows every packet of data and every probe from its header to what becomes of it.
        Profile {}: {} packets at once.",
        params.name,
        params.jobs(),
    );
    let b = Builder::unit("receiver", &doc, &unit_ports::<Inputs, Outputs>(params));
    let jobs = params.jobs();
    let header = |field: &str| b.get(&format!("s_axis_data_{field}"));
    let (connection_bits, path_bits, stream_bits) =
        (params.connection_bits(), params.path_bits(), params.stream_bits());
    let (path_index_bits, stream_index_bits) = (params.path_index_bits(), params.stream_index_bits());

    // Queues.
    let strobe = |name: &str, fields: &[(&str, u32)]| {
        let queue = Queue::new(&b, name, jobs, fields);
        queue.strobe(name);
        queue
    };
    let output = |name: &str| {
        let prefix = format!("m_axis_{name}");
        let fields = port::fields(&unit_ports::<Inputs, Outputs>(params), &prefix);
        let queue = Queue::new(&b, name, 1, &fields);
        queue.output(&prefix);
        queue
    };
    let looked = strobe("looked", &[("known", 1), ("domain", DOMAIN_BITS)]);
    let checked = strobe("checked", &[("status", 2)]);
    let matched = strobe("matched", &[("status", 3), ("address", 64)]);
    let sacked = strobe("sacked", &[("verdict", 2), ("new_hole", 1), ("filled", 1)]);
    let [lookup, check, match_op, sack, place, owe, nak] =
        ["lookup", "check", "match", "sack", "place", "owe", "nak"].map(output);
    let to_check_fields = [
        ("write", 1),
        ("send", 1),
        ("key", 32),
        ("address", 64),
        ("bytes", params.payload_bits()),
        ("stream", stream_index_bits),
        ("receive", 24),
        ("offset", 32),
    ];
    let to_check = Queue::new(&b, "to_check", jobs, &to_check_fields);
    let to_judge_fields = [
        ("probe", 1),
        ("send", 1),
        ("malformed", 1),
        ("address", 64),
        ("path", path_index_bits),
        ("psn", params.psn_bits),
    ];
    let to_judge = Queue::new(&b, "to_judge", jobs, &to_judge_fields);
    let to_finish_fields = [
        ("last", 1),
        ("connection", connection_bits),
        ("path", path_bits),
        ("timestamp", params.timestamp_bits),
        ("arrival", params.timestamp_bits),
        ("marked", 1),
        ("plane", params.plane_bits()),
        ("bytes", params.payload_bits()),
        ("stream", 16),
        ("message", 24),
        ("length", 32),
        ("immediate", 32),
        ("kind", 2),
    ];
    let to_finish = Queue::new(&b, "to_finish", jobs, &to_finish_fields);
    let known = Queue::new(&b, "known", jobs, &[("known", 1)]);
    let judged = Queue::new(
        &b,
        "judged",
        jobs,
        &[("judgement", JUDGEMENT_BITS), ("address", 64)],
    );

    // admit.
    let job_bits = index_bits(jobs) + 1;
    let under_way = b.register("jobs", job_bits);
    // A rule happens when its register is set, which its condition does a clock before.
    let ahead = |name: &str, condition: &Signal| {
        let happens = b.register(name, 1);
        b.clocked(&happens, &(condition & !&happens));
        happens
    };
    let ready = b.register("ready", 1);
    let admits = (&ready & &header("tvalid")).named("admits");
    let may_admit = (!under_way.is(u64::from(jobs)) & &lookup.room()).named("may_admit");
    b.clocked(&ready, &(&may_admit & &!&admits));
    b.drive("s_axis_data_tready", &ready);
    lookup.put(&admits, &[&header("connection"), &header("plane")]);
    let opcode = |opcode: Opcode| header("opcode").is(opcode.value().into());
    let probe = opcode(Opcode::Probe).named("is_probe");
    let send = (opcode(Opcode::Send) | opcode(Opcode::SendImmediate)).named("is_send");
    let write = (!&(&probe | &send)).named("is_write");
    let stream = header("stream");
    let own_stream = stream.truncate(stream_bits);
    let stream_index = b.concat("stream_index", &[&own_stream, &header("connection")]);
    let path_index = b.concat("path_index", &[&header("path"), &header("connection")]);
    let bytes = header("payload_bytes");
    let (offset, length) = (header("offset").extend(33), header("message_length"));
    let end = (&offset + bytes.extend(33)).named("end_of_packet");
    let last = end.eq(&length.extend(33)).named("is_last");
    let beyond = length.extend(33).lt(&end).named("is_beyond");
    let void = (length.any() & !bytes.any()).named("is_void");
    let no_stream = stream
        .slice(stream_bits, 16 - stream_bits)
        .any()
        .named("no_stream");
    let malformed = (&beyond | &void | &no_stream).named("malformed");
    to_check.put(
        &admits,
        &[
            &write,
            &send,
            &header("key"),
            &header("address"),
            &bytes,
            &stream_index,
            &header("receive"),
            &header("offset"),
        ],
    );
    to_judge.put(
        &admits,
        &[
            &probe,
            &send,
            &malformed,
            &header("address"),
            &path_index,
            &header("psn"),
        ],
    );
    to_finish.put(
        &admits,
        &[
            &last,
            &header("connection"),
            &header("path"),
            &header("timestamp"),
            &header("arrival"),
            &header("marked"),
            &header("plane"),
            &bytes,
            &stream,
            &header("message"),
            &length,
            &header("immediate"),
            &header("opcode").truncate(2),
        ],
    );

    // check.
    let may_check =
        (&looked.valid() & &to_check.valid() & &check.room() & &match_op.room()).named("may_check");
    let checks = ahead("checks", &may_check);
    looked.take(&checks);
    to_check.take(&checks);
    known.put(&checks, &[&looked.get("known")]);
    let bytes = to_check.get("bytes");
    check.put(
        &checks,
        &[
            &to_check.get("key"),
            &to_check.get("address"),
            &bytes.gated(&to_check.get("write")),
            &looked.get("domain"),
        ],
    );
    match_op.put(
        &(&checks & &to_check.get("send")),
        &[
            &to_check.get("stream"),
            &to_check.get("receive"),
            &to_check.get("offset"),
            &bytes,
        ],
    );

    // judge: the last condition that holds wins, so from the weakest on.
    let is_send = to_judge.get("send");
    let answered = &checked.valid() & &(!&is_send | &matched.valid());
    let may_judge = (&known.valid() & &to_judge.valid() & &answered & &sack.room()).named("may_judge");
    let judges = ahead("judges", &may_judge);
    checked.take(&judges);
    known.take(&judges);
    to_judge.take(&judges);
    let judges_send = (&judges & &is_send).named("judges_send");
    matched.take(&judges_send);
    let code = |code: u8| b.lit(code.into(), JUDGEMENT_BITS);
    let check_is = |status: u8| !&is_send & checked.get("status").is(status.into());
    let match_is = |status: u8| &is_send & &matched.get("status").is(status.into());
    let unknown = !known.get("known");
    let judgement = b.select(
        "judgement",
        &[
            (&unknown, &code(judgement::UNKNOWN)),
            (&to_judge.get("probe"), &code(judgement::PROBE)),
            (&to_judge.get("malformed"), &code(judgement::MALFORMED)),
            (&check_is(key_table::status::BAD_KEY), &code(judgement::BAD_KEY)),
            (
                &check_is(key_table::status::OUT_OF_BOUNDS),
                &code(judgement::OUT_OF_BOUNDS),
            ),
            (
                &match_is(receive_table::status::NOT_POSTED),
                &code(judgement::NOT_POSTED),
            ),
            (
                &match_is(receive_table::status::TOO_LONG),
                &code(judgement::TOO_LONG),
            ),
            (&match_is(receive_table::status::GONE), &code(judgement::GONE)),
        ],
        &code(judgement::ACCEPTED),
    );
    // The heads are those of the clock before.
    let stage = |name: &str, value: &Signal| b.stage(name, &b.lit(1, 1), value);
    let judgement = stage("its_judgement", &judgement);
    let address = b.mux(
        "address",
        &is_send,
        &matched.get("address"),
        &to_judge.get("address"),
    );
    judged.put(&judges, &[&judgement, &address]);
    const _: () = assert!(judgement::ACCEPTED == 0);
    let sack_op = b.mux(
        "sack_op",
        &judgement.any(),
        &b.lit(sack_rx::op::QUERY.into(), 2),
        &b.lit(sack_rx::op::PACKET.into(), 2),
    );
    sack.put(&judges, &[&sack_op, &to_judge.get("path"), &to_judge.get("psn")]);

    // finish.
    let outputs_room = &place.room() & &owe.room() & &nak.room();
    let may_finish =
        (&sacked.valid() & &judged.valid() & &to_finish.valid() & &outputs_room).named("may_finish");
    let finishes = ahead("finishes", &may_finish);
    let ends = &may_finish & !&finishes;
    sacked.take(&finishes);
    judged.take(&finishes);
    to_finish.take(&finishes);
    let its = judged.get("judgement");
    let is = |code: u8| its.is(code.into());
    let verdict = sacked.get("verdict");
    let duplicate = verdict
        .is(sack_rx::verdict::DUPLICATE.into())
        .named("is_duplicate");
    let new = verdict.is(sack_rx::verdict::NEW.into()).named("is_new");
    let accepted = is(judgement::ACCEPTED).named("is_accepted");
    let is_probe = is(judgement::PROBE).named("is_probe_judged");
    let dropped =
        (is(judgement::UNKNOWN) | is(judgement::MALFORMED) | is(judgement::GONE)).named("is_dropped");
    let refused = (is(judgement::BAD_KEY)
        | is(judgement::OUT_OF_BOUNDS)
        | is(judgement::NOT_POSTED)
        | is(judgement::TOO_LONG))
    .named("is_refused");
    let placed = (&accepted & &new).named("is_placed");
    let again = (&duplicate & &(&accepted | &refused)).named("is_again");
    let nacked = (&refused & &!&duplicate).named("is_nacked");
    let outside = (&accepted & &!&(&new | &duplicate)).named("is_outside");
    let has_bytes = to_finish.get("bytes").any();
    let puts_place = &placed | &(&has_bytes & &!&is_probe);
    place.put(
        &stage("puts_place", &(&ends & &puts_place)),
        &[
            &!&placed,
            &to_finish.get("bytes"),
            &judged.get("address"),
            &b.concat(
                "place_stream",
                &[
                    &to_finish.get("stream").truncate(stream_bits),
                    &to_finish.get("connection"),
                ],
            ),
            &to_finish.get("message"),
            &to_finish.get("length"),
            &to_finish.get("immediate"),
            &to_finish.get("kind"),
        ],
    );
    let changed = sacked.get("new_hole") | sacked.get("filled");
    let at_once = (&is_probe | &again | &(&changed | to_finish.get("last"))).named("at_once");
    owe.put(
        &stage("puts_owe", &(&ends & &(&is_probe | &placed | &again))),
        &[
            &b.concat(
                "owe_path",
                &[&to_finish.get("path"), &to_finish.get("connection")],
            ),
            &to_finish.get("timestamp"),
            &to_finish.get("arrival"),
            &to_finish.get("plane"),
            &!&is_probe,
            &to_finish.get("marked"),
            &at_once,
        ],
    );
    let nak_code = |code: NakCode| b.lit(code.value().into(), 8);
    let code_of_nak = b.select(
        "nak_code",
        &[
            (&is(judgement::NOT_POSTED), &nak_code(NakCode::ReceiverNotReady)),
            (&is(judgement::BAD_KEY), &nak_code(NakCode::BadKey)),
            (&is(judgement::OUT_OF_BOUNDS), &nak_code(NakCode::OutOfBounds)),
        ],
        &nak_code(NakCode::BadLength),
    );
    nak.put(
        &stage("puts_nak", &(&ends & &nacked)),
        &[
            &to_finish.get("connection"),
            &to_finish.get("path"),
            &to_finish.get("plane"),
            &to_finish.get("stream"),
            &to_finish.get("message"),
            &code_of_nak,
        ],
    );
    let next_event = b.select(
        "next_event",
        &[
            (&again, &code(judgement::DUPLICATE)),
            (&outside, &code(judgement::OUT_OF_WINDOW)),
            (&(&dropped | &nacked), &its),
        ],
        &code(0),
    );
    let next_event = next_event.gated(&finishes).named("next_event_of_finish");
    let event = b.register("event_register", JUDGEMENT_BITS);
    let event_valid = b.register("event_valid_register", 1);
    b.clocked(&event, &next_event);
    b.clocked(&event_valid, &next_event.any());
    b.drive("event_code", &event);
    b.drive("event_valid", &event_valid);

    let next_jobs = (&under_way + &admits.extend(job_bits) - &finishes.extend(job_bits)).named("next_jobs");
    b.clocked(&under_way, &next_jobs);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 33] = [
    // What a header is.
    Mutation { signal: "may_admit", fault: Fault::Operator },
    Mutation { signal: "admits", fault: Fault::Operator },
    Mutation { signal: "is_probe", fault: Fault::Operator },
    Mutation { signal: "is_send", fault: Fault::Operator },
    Mutation { signal: "is_write", fault: Fault::Invert },
    Mutation { signal: "end_of_packet", fault: Fault::Operator },
    Mutation { signal: "is_last", fault: Fault::Operator },
    Mutation { signal: "is_beyond", fault: Fault::Operator },
    Mutation { signal: "is_void", fault: Fault::Operator },
    Mutation { signal: "no_stream", fault: Fault::Zero },
    Mutation { signal: "malformed", fault: Fault::Operator },
    // What is thought of it.
    Mutation { signal: "may_check", fault: Fault::Operator },
    Mutation { signal: "may_judge", fault: Fault::Operator },
    Mutation { signal: "judges_send", fault: Fault::Operator },
    Mutation { signal: "judgement", fault: Fault::Invert },
    Mutation { signal: "address", fault: Fault::Increment },
    Mutation { signal: "sack_op", fault: Fault::Zero },
    // What becomes of it.
    Mutation { signal: "may_finish", fault: Fault::Operator },
    Mutation { signal: "is_duplicate", fault: Fault::Operator },
    Mutation { signal: "is_new", fault: Fault::Operator },
    Mutation { signal: "is_dropped", fault: Fault::Zero },
    Mutation { signal: "is_refused", fault: Fault::Zero },
    Mutation { signal: "is_placed", fault: Fault::Operator },
    Mutation { signal: "is_again", fault: Fault::Operator },
    Mutation { signal: "is_nacked", fault: Fault::Operator },
    Mutation { signal: "is_outside", fault: Fault::Operator },
    Mutation { signal: "puts_place", fault: Fault::Zero },
    Mutation { signal: "at_once", fault: Fault::Operator },
    Mutation { signal: "puts_owe", fault: Fault::Zero },
    Mutation { signal: "nak_code", fault: Fault::Increment },
    Mutation { signal: "puts_nak", fault: Fault::Zero },
    Mutation { signal: "next_event_of_finish", fault: Fault::Invert },
    Mutation { signal: "next_jobs", fault: Fault::Operator },
];
