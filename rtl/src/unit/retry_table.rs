//! `retry_table`: which paths wait to send something again. Contract: [`metaroce_model::port::retry_table`].
//!
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | what happens |
//! |---|---|
//! | 0 | issues; the bit is read |
//! | 1 | memory's output |
//! | 2 | raw register |
//! | 3 | result, written; enters the output queue |
//!
//! # Hazards
//! None: the bit is written three clocks after it was read, and operations on one path are four apart.
//!
//! # Reset
//! The sweep writes the result that stage 3 holds: it is clear from reset until the first operation is there.

use super::{axis_register, issue, memory};
use crate::hdl::{
    Builder, Module,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        retry_table::{Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op},
        unit_ports,
    },
};
use std::rc::Rc;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Which of {} paths wait to send something again.
        Profile {}: connections = {}, paths = {}.
        Latency {LATENCY} clocks from issue to m_axis_result_tvalid, one more from acceptance. Initiation interval 1;
        {SAME_PATH_CLOCKS} between two operations on one path.",
        params.total_paths(),
        params.name,
        params.connections,
        params.paths,
    );
    let b = Builder::unit("retry_table", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    let moves_next = b.forward("moves_next", 1);
    let sweep = issue::sweep(&b, params.total_paths());
    let front = issue::in_order(
        &b,
        "s_axis_op",
        &["op", "path"],
        ("path", SAME_PATH_CLOCKS),
        |_| b.lit(1, 1),
        (&moves, &moves_next),
        &sweep,
    );
    let valid = b.carry("valid", &moves, &front.issue, 1..=3);
    let op = b.carry("op", &moves, &front.get("op"), 1..=3);
    let path = b.carry("path", &moves, &front.get("path"), 1..=3);

    let queued = b.register("queued_3", 1);
    let write = (&sweep.clearing | valid.at(3)).named("queued_write");
    let address = b.mux("queued_address", &sweep.clearing, &sweep.index, path.at(3));
    let memory = b.instance(
        "queued",
        &memory::ram(params.total_paths(), 1),
        &[
            ("write_enable", &write),
            ("write_address", &address),
            ("write_data", &queued),
            ("read_enable", &moves),
            ("read_address", &front.get("path")),
        ],
    );
    let kept = b.stage("kept_2", &moves, &memory.get("read_data"));
    let marks = op.at(2).is(op::MARK.into()).named("marks_2");
    let loads = (&moves & valid.at(2)).named("queued_loads");
    b.clocked_when(&loads, &queued, &marks);
    let ready = b.stage("ready_3", &moves, &(&marks & &!&kept));

    let fields = [("op", op.at(3)), ("path", path.at(3)), ("ready", &ready)];
    let has_room = axis_register::output_queue(&b, "m_axis_result", valid.at(3), &fields);
    b.drive("moves", &has_room);
    let room_next = axis_register::room_next(&b, "m_axis_result", valid.at(3), &has_room);
    b.drive("moves_next", &room_next);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 11] = [
    Mutation { signal: "offered_waits_1", fault: Fault::Zero },
    Mutation { signal: "input_ready", fault: Fault::Operator },
    Mutation { signal: "sweep_index", fault: Fault::Increment },
    Mutation { signal: "queued_write", fault: Fault::Operator },
    Mutation { signal: "queued_address", fault: Fault::Increment },
    Mutation { signal: "kept_2", fault: Fault::Zero },
    Mutation { signal: "kept_2", fault: Fault::Enable },
    Mutation { signal: "marks_2", fault: Fault::Operator },
    Mutation { signal: "queued_loads", fault: Fault::Operator },
    Mutation { signal: "ready_3", fault: Fault::Operator },
    Mutation { signal: "path_2", fault: Fault::Enable },
];
