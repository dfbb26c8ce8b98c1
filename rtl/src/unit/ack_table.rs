//! `ack_table`: what the receiver owes the sender of every path, and when. Contract: [`metaroce_model::port::ack_table`].
//!
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | operation | context: all but `due` | `due` |
//! |---|---|---|---|
//! | 0 | issues | read | read |
//! | 1 | decoded | memory's output | memory's output |
//! | 2 | | in registers | raw register, beside it what was on its way |
//! | 3 | ticks since the last packet | after the operation, written | what was kept |
//! | 4 | too many ticks? Does it call for an acknowledgement? | | |
//! | 5 | result, enters the output queue | | after the operation, written |
//!
//! # Hazards
//! The context is written three clocks after it was read, and two operations on one path are four apart: nothing to do. Whether an acknowledgement is due takes two
//! clocks more, since the ticks must be found and compared: from an operation four or five ahead it is forwarded.
//!
//! # Reset
//! The sweep writes the context that stage 3 holds and the `due` of stage 5: they are zero from reset until the first operation is there.

use super::{axis_register, issue, memory};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        ack_table::{EVERY, Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op},
        unit_ports,
    },
};
use std::rc::Rc;

/// Bits of the packets that wait.
const WAITING_BITS: u32 = 4;
/// Bits of a running count, of a delay in ticks.
const COUNT_BITS: u32 = 16;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "What is to be acknowledged on each of {} paths, and when: every {EVERY} packets, at once, or after a delay.
        Profile {}: connections = {}, paths = {}, planes = {}, timestamp_bits = {}.
        Latency {LATENCY} clocks from issue to m_axis_result_tvalid, one more from acceptance. Initiation interval 1;
        {SAME_PATH_CLOCKS} between two operations on one path.",
        params.total_paths(),
        params.name,
        params.connections,
        params.paths,
        params.planes,
        params.timestamp_bits,
    );
    let b = Builder::unit("ack_table", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    let moves_next = b.forward("moves_next", 1);
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);
    let carry = |name: &str, value: &Signal, stages| b.carry(name, &moves, value, stages);

    // Stages 0 and 1: the operation.
    let sweep = issue::sweep(&b, params.total_paths());
    let fields = [
        "op",
        "path",
        "timestamp",
        "arrival",
        "plane",
        "counts",
        "marked",
        "at_once",
        "now",
    ];
    let front = issue::in_order(
        &b,
        "s_axis_op",
        &fields,
        ("path", SAME_PATH_CLOCKS),
        |_| b.lit(1, 1),
        (&moves, &moves_next),
        &sweep,
    );
    let valid = b.carry("valid", &moves, &front.issue, 1..=5);
    let op = carry("op", &front.get("op"), 1..=5);
    let path = carry("path", &front.get("path"), 1..=5);
    let timestamp = carry("timestamp", &front.get("timestamp"), 1..=2);
    let came = carry("came", &front.get("arrival"), 1..=2);
    let on_plane = carry("on_plane", &front.get("plane"), 1..=2);
    let counts = carry("counts", &front.get("counts"), 1..=2);
    let bears_mark = carry("bears_mark", &front.get("marked"), 1..=2);
    let at_once = carry("at_once", &front.get("at_once"), 1..=3);
    let now = carry("now", &front.get("now"), 1..=2);
    let decoded = |name: &str, code: u8, last: u32| {
        let is_it = &front.issue & &front.get("op").is(code.into());
        b.carry(name, &moves, &is_it, 1..=last)
    };
    let init = decoded("init", op::INIT, 4);
    let receive = decoded("receive", op::RECEIVE, 3);
    let scan = decoded("scan", op::SCAN, 3);
    let take = decoded("take", op::TAKE, 4);
    // Another operation on the path so many stages ahead: what it makes of `due` is on its way.
    let [hit4_1, hit5_1] = [4, 5].map(|distance| {
        let same = front.get("path").eq(path.at(distance)) & valid.at(distance);
        stage(&format!("hit{distance}_1"), &same)
    });
    let write = |name: &str, word: &Signal, at: u32| {
        let write = (&sweep.clearing | valid.at(at)).named(&format!("{name}_write"));
        let address = b.mux(
            &format!("{name}_address"),
            &sweep.clearing,
            &sweep.index,
            path.at(at),
        );
        let memory = b.instance(
            &format!("{name}_memory"),
            &memory::ram(params.total_paths(), word.width()),
            &[
                ("write_enable", &write),
                ("write_address", &address),
                ("write_data", word),
                ("read_enable", &moves),
                ("read_address", &front.get("path")),
            ],
        );
        memory.get("read_data")
    };
    // A register that is zero from reset until the first operation comes to its stage.
    let load = |register: &Signal, name: &str, before: u32, value: &Signal| {
        let loads = (&moves & valid.at(before)).named(&format!("{name}_loads"));
        b.clocked_when(&loads, register, value);
    };

    // Stages 1 to 3: the context before and after the operation.
    let context_bits = WAITING_BITS + 2 * COUNT_BITS + 2 * params.timestamp_bits + params.plane_bits();
    let context_3 = b.register("context_3", context_bits);
    let kept = write("context", &context_3, 3);
    let [waiting, packets, marked, echo, arrival, plane] = bits::split(
        &stage("context_2", &kept),
        [
            ("waiting_2", WAITING_BITS),
            ("packets_2", COUNT_BITS),
            ("marked_2", COUNT_BITS),
            ("echo_2", params.timestamp_bits),
            ("arrival_2", params.timestamp_bits),
            ("plane_2", params.plane_bits()),
        ],
    );
    let waits = (receive.at(2) & &!waiting.all()).named("waits_2");
    let acknowledged = (take.at(2) | init.at(2)).named("acknowledged_2");
    let new_waiting = (&waiting + &waits.extend(WAITING_BITS)).named("more_waiting");
    let new_waiting = b.mux("new_waiting", &acknowledged, &waiting.lit(0), &new_waiting);
    let counts = (receive.at(2) & counts.at(2)).named("counted_2");
    let marks = (&counts & bears_mark.at(2)).named("marks_2");
    let counted = |name: &str, count: &Signal, one: &Signal| {
        let sum = (count + &one.extend(COUNT_BITS)).named(&format!("more_{name}"));
        b.mux(&format!("new_{name}"), init.at(2), &count.lit(0), &sum)
    };
    let latest = |name: &str, kept: &Signal, offered: &Signal| {
        let cases = [(init.at(2), &kept.lit(0)), (receive.at(2), offered)];
        b.select(&format!("new_{name}"), &cases, kept)
    };
    let context = b.concat(
        "new_context",
        &[
            &new_waiting,
            &counted("packets", &packets, &counts),
            &counted("marked", &marked, &marks),
            &latest("echo", &echo, timestamp.at(2)),
            &latest("arrival", &arrival, came.at(2)),
            &latest("plane", &plane, on_plane.at(2)),
        ],
    );
    load(&context_3, "context", 2, &context);
    let waiting = context_3.truncate(WAITING_BITS).named("waiting_3");

    // Stages 3 and 4: does the operation ask for an acknowledgement?
    let elapsed = stage("elapsed_3", &(now.at(2) - &arrival));
    let enough = waiting.ge(&waiting.lit(EVERY.into())).named("enough_3");
    let calls = stage("calls_4", &(receive.at(3) & &(at_once.at(3) | &enough)));
    let owes = stage("owes_4", &(scan.at(3) & &waiting.any()));
    let ticks = elapsed.truncate(COUNT_BITS).named("ticks_3");
    let beyond = match params.timestamp_bits - COUNT_BITS {
        0 => b.lit(0, 1),
        more => elapsed.slice(COUNT_BITS, more).any(),
    };
    let beyond = stage("beyond_4", &beyond);
    let late = stage("late_4", &ticks.ge(&b.get("config_delay")));
    let ticks = stage("ticks_4", &ticks);
    let asks = (&calls | &(&owes & &(&late | &beyond))).named("asks_4");

    // Stages 1 to 5: an acknowledgement is due.
    let due_5 = b.register("due_5", 1);
    let due_6 = stage("due_6", &due_5);
    let kept = stage("due_2", &write("due", &due_5, 5));
    let overtaken = stage("due_overtaken_2", &(&hit4_1 | &hit5_1));
    let passing = stage("due_passing_2", &b.mux("due_passing", &hit4_1, &due_5, &due_6));
    let kept = b.mux("due_kept", &overtaken, &passing, &kept);
    let due = carry("due", &kept, 3..=4);
    let becomes = (&asks & &!due.at(4)).named("becomes_due_4");
    let stays = (!(take.at(4) | init.at(4))).named("due_stays_4");
    load(&due_5, "due", 4, &(&stays & &(due.at(4) | &asks)));
    let becomes = stage("becomes_due_5", &becomes);

    // Stages 2 to 5: what the acknowledgement says.
    let said = b.concat("said_2", &[&plane, &echo, &packets, &marked]);
    let said = carry("said", &said.gated(take.at(2)), 3..=5);
    let [plane, echo, packets, marked] = bits::split(
        said.at(5),
        [
            ("plane_5", params.plane_bits()),
            ("echo_5", params.timestamp_bits),
            ("packets_5", COUNT_BITS),
            ("marked_5", COUNT_BITS),
        ],
    );
    let hold = (&ticks | &beyond.sign_extend(COUNT_BITS)).named("hold_4");
    let hold = stage("hold_5", &hold.gated(take.at(4)));

    let has_room = axis_register::output_queue(
        &b,
        "m_axis_result",
        valid.at(5),
        &[
            ("op", op.at(5)),
            ("path", path.at(5)),
            ("due", &becomes),
            ("plane", &plane),
            ("echo", &echo),
            ("hold", &hold),
            ("packets", &packets),
            ("marked", &marked),
        ],
    );
    b.drive("moves", &has_room);
    let room_next = axis_register::room_next(&b, "m_axis_result", valid.at(5), &has_room);
    b.drive("moves_next", &room_next);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 38] = [
    // Spacing, stalls and the sweep.
    Mutation { signal: "offered_waits_1", fault: Fault::Zero },
    Mutation { signal: "input_ready", fault: Fault::Operator },
    Mutation { signal: "sweep_index", fault: Fault::Increment },
    Mutation { signal: "context_2", fault: Fault::Enable },
    Mutation { signal: "elapsed_3", fault: Fault::Enable },
    Mutation { signal: "said_5", fault: Fault::Enable },
    Mutation { signal: "context_address", fault: Fault::Invert },
    Mutation { signal: "context_write", fault: Fault::Operator },
    Mutation { signal: "due_write", fault: Fault::Operator },
    Mutation { signal: "context_loads", fault: Fault::Operator },
    Mutation { signal: "due_loads", fault: Fault::Operator },
    // What is on its way.
    Mutation { signal: "hit4_1", fault: Fault::Zero },
    Mutation { signal: "hit5_1", fault: Fault::Zero },
    Mutation { signal: "due_overtaken_2", fault: Fault::Operator },
    Mutation { signal: "due_passing", fault: Fault::Invert },
    Mutation { signal: "due_kept", fault: Fault::Zero },
    // The context.
    Mutation { signal: "waits_2", fault: Fault::Operator },
    Mutation { signal: "acknowledged_2", fault: Fault::Operator },
    Mutation { signal: "more_waiting", fault: Fault::Operator },
    Mutation { signal: "new_waiting", fault: Fault::Decrement },
    Mutation { signal: "counted_2", fault: Fault::Operator },
    Mutation { signal: "marks_2", fault: Fault::Operator },
    Mutation { signal: "more_packets", fault: Fault::Operator },
    Mutation { signal: "new_marked", fault: Fault::Increment },
    Mutation { signal: "new_echo", fault: Fault::Zero },
    Mutation { signal: "new_arrival", fault: Fault::Decrement },
    Mutation { signal: "new_plane", fault: Fault::Invert },
    // When it is due.
    Mutation { signal: "elapsed_3", fault: Fault::Operator },
    Mutation { signal: "enough_3", fault: Fault::Operator },
    Mutation { signal: "calls_4", fault: Fault::Operator },
    Mutation { signal: "owes_4", fault: Fault::Operator },
    Mutation { signal: "late_4", fault: Fault::Operator },
    Mutation { signal: "asks_4", fault: Fault::Operator },
    Mutation { signal: "becomes_due_4", fault: Fault::Operator },
    Mutation { signal: "due_stays_4", fault: Fault::Invert },
    // What the acknowledgement says.
    Mutation { signal: "said_3", fault: Fault::Operator },
    Mutation { signal: "hold_4", fault: Fault::Increment },
    Mutation { signal: "hold_5", fault: Fault::Operator },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H2: the corners of what a profile may be: fewest and most paths and planes, shortest and longest timestamps.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for (connections, paths, planes, timestamp_bits) in [(2, 2, 1, 16), (4096, 32, 16, 32)] {
            let mut params = Params::load("tiny").unwrap();
            (params.connections, params.paths) = (connections, paths);
            (params.planes, params.timestamp_bits) = (planes, timestamp_bits);
            assert_builds("ack_table", &params);
        }
    }
}
