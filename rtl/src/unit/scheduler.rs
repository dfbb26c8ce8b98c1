//! `scheduler`: which connection may send next, and which of its streams. Contract: [`metaroce_model::port::scheduler`].
//!
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | what happens |
//! |---|---|
//! | 0 | issues; the connection's word is read |
//! | 1 | memory's output; the operation is decoded |
//! | 2 | raw register; the operation changes it, the next stream is chosen |
//! | 3 | result, written; enters the output queue |
//!
//! # Hazards
//! None: the word is written three clocks after it was read, and operations on one connection are four apart.
//!
//! # Reset
//! The sweep writes the result that stage 3 holds: it is that of a connection after reset until the first operation is there.

use super::{axis_register, issue, memory};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        scheduler::{Inputs, LATENCY, Outputs, SAME_CONNECTION_CLOCKS, op},
        unit_ports,
    },
};
use std::rc::Rc;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Which of {} connections may send, and which of their {} streams is next.
        Profile {}.
        Latency {LATENCY} clocks from issue to m_axis_result_tvalid, one more from acceptance. Initiation interval 1;
        {SAME_CONNECTION_CLOCKS} between two operations on one connection.",
        params.connections, params.streams, params.name,
    );
    let b = Builder::unit("scheduler", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    let moves_next = b.forward("moves_next", 1);
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);
    let (streams, stream_bits) = (params.streams, params.stream_bits());
    let sweep = issue::sweep(&b, params.connections);
    let front = issue::in_order(
        &b,
        "s_axis_op",
        &["op", "connection", "stream", "flag"],
        ("connection", SAME_CONNECTION_CLOCKS),
        |_| b.lit(1, 1),
        (&moves, &moves_next),
        &sweep,
    );
    let valid = b.carry("valid", &moves, &front.issue, 1..=3);
    let op = b.carry("op", &moves, &front.get("op"), 1..=3);
    let connection = b.carry("connection", &moves, &front.get("connection"), 1..=3);
    let stream = stage("stream_1", &front.get("stream"));
    let flag = b.carry("flag", &moves, &front.get("flag"), 1..=2);

    // Stage 1 to 2: what the operation is.
    let decoded = |name: &str, code: u8| stage(&format!("{name}_2"), &op.at(1).is(code.into()));
    let take = decoded("take", op::TAKE);
    let block = decoded("block", op::BLOCK);
    let sent = decoded("sent", op::SENT);
    let open = decoded("open", op::OPEN);
    let rate = decoded("rate", op::RATE);
    let start = decoded("start", op::START);
    let stop = decoded("stop", op::STOP);
    let marks = op.at(1).is(op::UNSENT.into()) | op.at(1).is(op::SENT.into());
    let mask = bits::decode(&b, "mask_1", &stream).gated(&marks);
    let mask = stage("mask_2", &mask);

    // Stages 1 and 2: the connection's word: unsent, last, then flags: queued, opened, window_closed, rate_closed, stopped.
    let word_bits = streams + stream_bits + 5;
    let reset = 0b11000 << (streams + stream_bits);
    let word_3 = b.register_reset("word_3", word_bits, reset);
    let write = (&sweep.clearing | valid.at(3)).named("word_write");
    let address = b.mux("word_address", &sweep.clearing, &sweep.index, connection.at(3));
    let memory = b.instance(
        "words",
        &memory::ram(params.connections, word_bits),
        &[
            ("write_enable", &write),
            ("write_address", &address),
            ("write_data", &word_3),
            ("read_enable", &moves),
            ("read_address", &front.get("connection")),
        ],
    );
    let [unsent, last, queued, opened, window_closed, rate_closed, stopped] = bits::split(
        &stage("word_2", &memory.get("read_data")),
        [
            ("unsent_2", streams),
            ("last_2", stream_bits),
            ("queued_2", 1),
            ("opened_2", 1),
            ("window_closed_2", 1),
            ("rate_closed_2", 1),
            ("stopped_2", 1),
        ],
    );

    // Stage 2 to 3: what the operation makes of it.
    let set = mask.gated(flag.at(2));
    let unsent = (&(&unsent & &!&mask) | &set).named("new_unsent");
    let blocks = &block & &!&opened;
    let new_window_closed = (&(&window_closed | &blocks) & &!&(&open | &start)).named("new_window_closed");
    let new_rate_closed = b.mux("new_rate_closed", &rate, &!flag.at(2), &rate_closed);
    let new_stopped = b.select(
        "new_stopped",
        &[(&stop, &b.lit(1, 1)), (&start, &!flag.at(2))],
        &stopped,
    );
    let held_back = &new_window_closed | &new_rate_closed | &new_stopped;
    let may_send = (unsent.any() & &!&held_back).named("may_send");
    let taken = (&take & &may_send).named("takes");
    let new_opened = (&open | &(&opened & &!&taken)).named("new_opened");
    let comes_back = &sent | &block;
    let was_queued = (&queued & &!&comes_back).named("stays_queued");
    let ready = (&may_send & &!&(&was_queued | &take)).named("becomes_ready");
    let new_queued = (&ready | &(&was_queued & &(!&take | &may_send))).named("new_queued");
    // The next stream: the first after the last one, otherwise the first of all.
    let after = bits::from_index(&b, "not_before", &last) & !bits::decode(&b, "last_itself", &last);
    let later = (&unsent & &after).named("later");
    let lowest = |name: &str, set: &Signal| {
        let index_bit = |bit: u32| {
            let with_bit = (0..streams).filter(|at| at >> bit & 1 != 0).map(|at| {
                // `at` is the lowest one set.
                let lower = if at == 0 {
                    None
                } else {
                    Some(set.truncate(at).any())
                };
                lower.map_or_else(|| set.bit(at), |lower| set.bit(at) & !lower)
            });
            with_bit
                .reduce(|any, one| any | one)
                .expect("a bit that some index has")
        };
        let bits: Vec<Signal> = (0..stream_bits).map(index_bit).collect();
        b.concat(name, &bits.iter().collect::<Vec<_>>())
    };
    let next = b.mux(
        "next_stream",
        &later.any(),
        &lowest("first_later", &later),
        &lowest("first_of_all", &unsent),
    );
    let new_last = b.mux("new_last", &taken, &next, &last);
    let word = b.concat(
        "new_word",
        &[
            &unsent,
            &new_last,
            &new_queued,
            &new_opened,
            &new_window_closed,
            &new_rate_closed,
            &new_stopped,
        ],
    );
    let loads = (&moves & valid.at(2)).named("word_loads");
    b.clocked_when(&loads, &word_3, &word);

    let taken_3 = stage("taken_3", &taken);
    let ready = stage("ready_3", &ready);
    let chosen = stage("stream_3", &next.gated(&taken));
    let newly = stage("stopped_3", &(&stop & &!&stopped));
    let fields = [
        ("op", op.at(3)),
        ("connection", connection.at(3)),
        ("ready", &ready),
        ("taken", &taken_3),
        ("stream", &chosen),
        ("stopped", &newly),
    ];
    let has_room = axis_register::output_queue(&b, "m_axis_result", valid.at(3), &fields);
    b.drive("moves", &has_room);
    let room_next = axis_register::room_next(&b, "m_axis_result", valid.at(3), &has_room);
    b.drive("moves_next", &room_next);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 24] = [
    Mutation { signal: "offered_waits_1", fault: Fault::Zero },
    Mutation { signal: "input_ready", fault: Fault::Operator },
    Mutation { signal: "sweep_index", fault: Fault::Increment },
    Mutation { signal: "word_write", fault: Fault::Operator },
    Mutation { signal: "word_address", fault: Fault::Increment },
    Mutation { signal: "word_2", fault: Fault::Enable },
    Mutation { signal: "word_loads", fault: Fault::Operator },
    Mutation { signal: "mask_2", fault: Fault::Zero },
    Mutation { signal: "new_unsent", fault: Fault::Operator },
    Mutation { signal: "new_window_closed", fault: Fault::Operator },
    Mutation { signal: "new_rate_closed", fault: Fault::Invert },
    Mutation { signal: "new_stopped", fault: Fault::Zero },
    Mutation { signal: "may_send", fault: Fault::Operator },
    Mutation { signal: "takes", fault: Fault::Operator },
    Mutation { signal: "new_opened", fault: Fault::Operator },
    Mutation { signal: "stays_queued", fault: Fault::Operator },
    Mutation { signal: "becomes_ready", fault: Fault::Operator },
    Mutation { signal: "new_queued", fault: Fault::Operator },
    Mutation { signal: "later", fault: Fault::Operator },
    Mutation { signal: "next_stream", fault: Fault::Invert },
    Mutation { signal: "new_last", fault: Fault::Increment },
    Mutation { signal: "stopped_3", fault: Fault::Operator },
    Mutation { signal: "ready_3", fault: Fault::Zero },
    Mutation { signal: "flag_2", fault: Fault::Enable },
];
