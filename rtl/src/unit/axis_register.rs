//! `axis_register`: an AXI4-Stream register slice of two entries. Contract: [`metaroce_model::port::axis_register`].
//!
//! Every unit ends in one. `s_axis_tready` is a register, so it can enable a whole pipeline, and no combinational path
//! runs from `m_axis_tready` to `s_axis_tready`.

use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        axis_register::{Inputs, Outputs},
        unit_ports,
    },
};
use std::rc::Rc;

const DOC: &str = "AXI4-Stream register slice: a queue of two entries that cuts every combinational path.
    Latency 1 clock, initiation interval 1. m_axis_tdata is zero while m_axis_tvalid is low.";

/// The unit as it is verified on its own: the entries are as wide as a timestamp.
pub fn unit(params: &Params) -> Rc<Module> {
    let builder = Builder::unit("axis_register", DOC, &unit_ports::<Inputs, Outputs>(params));
    behaviour(&builder, &[params.timestamp_bits]);
    builder.finish()
}

/// A register slice for entries of `width` bits, for use inside a unit.
pub fn of_width(width: u32) -> Rc<Module> {
    of_groups(&[width])
}

/// A register slice for entries of groups of bits, for use inside a unit: see [`Group`].
pub(super) fn of_groups(widths: &[u32]) -> Rc<Module> {
    let b = slice(&format!("axis_register{}", suffix(widths)), DOC, widths);
    behaviour(&b, widths);
    b.finish()
}

/// Ends a unit: a register slice for `fields`, whose outputs drive `{stream}_tvalid` and `{stream}_{field}`.
///
/// Returns `moves`: there is room, so the pipeline before it moves in this clock.
pub fn output_queue(builder: &Builder, stream: &str, valid: &Signal, fields: &[(&str, &Signal)]) -> Signal {
    named_output_queue(builder, "output_queue", stream, valid, fields)
}

/// One of several queues at the end of a unit: like [`output_queue`], under a name of its own.
pub fn named_output_queue(
    builder: &Builder,
    name: &str,
    stream: &str,
    valid: &Signal,
    fields: &[(&str, &Signal)],
) -> Signal {
    let values: Vec<&Signal> = fields.iter().map(|(_, value)| *value).collect();
    let entry = builder.concat(&format!("{name}_entry"), &values);
    let queue = builder.instance(
        name,
        &of_width(entry.width()),
        &[
            ("s_axis_tvalid", valid),
            ("s_axis_tdata", &entry),
            ("m_axis_tready", &builder.get(&format!("{stream}_tready"))),
        ],
    );
    builder.drive(&format!("{stream}_tvalid"), &queue.get("m_axis_tvalid"));
    let data = queue.get("m_axis_tdata");
    let mut offset = 0;
    for (field, value) in fields {
        builder.drive(&format!("{stream}_{field}"), &data.slice(offset, value.width()));
        offset += value.width();
    }
    queue.get("s_axis_tready")
}

/// Whether the queue of [`output_queue`] will have room in the next clock, unless that is one of reset.
pub fn room_next(builder: &Builder, stream: &str, valid: &Signal, room: &Signal) -> Signal {
    let head_stays = builder.get(&format!("{stream}_tvalid")) & !builder.get(&format!("{stream}_tready"));
    !(head_stays & (valid | &!room))
}

/// A module with the ports of a register slice for groups of these widths.
pub(super) fn slice(name: &str, doc: &str, widths: &[u32]) -> Builder {
    let b = Builder::new(name, doc);
    b.add_reset();
    b.add_input("s_axis_tvalid", 1, "An entry is offered.");
    b.add_input("s_axis_tdata", widths.iter().sum(), "The entry.");
    if widths.len() > 1 {
        let doc = "Which groups of the entry's bits are kept, after the first; the others enter as zero.";
        b.add_input("s_axis_tkeep", widths.len() as u32 - 1, doc);
    }
    b.add_input("m_axis_tready", 1, "The entry at m_axis is taken.");
    b.declare_output("s_axis_tready", 1, "There is room for an entry.");
    b.declare_output("m_axis_tvalid", 1, "An entry is offered.");
    b.declare_output(
        "m_axis_tdata",
        widths.iter().sum(),
        "The oldest entry held, zero when none is.",
    );
    b
}

/// How the widths of groups are told in a module's name.
pub(super) fn suffix(widths: &[u32]) -> String {
    widths.iter().map(|width| format!("_{width}")).collect()
}

/// A group of an entry's bits. All groups but the first have a bit in `s_axis_tkeep`; one whose bit is low enters as zero. In this way that costs a reset of registers
/// and not a look-up table a bit, as a gate before the slice does.
pub(super) struct Group {
    /// What is appended to names of this group's signals: nothing for the first.
    pub suffix: String,
    /// Its bits of the entry that is offered.
    pub entry: Signal,
    /// It is kept; the first is always.
    pub keep: Option<Signal>,
}

/// The groups of the entry offered at `s_axis`, lowest first; those without bits are left out.
pub(super) fn groups(b: &Builder, widths: &[u32]) -> Vec<Group> {
    let mut offset = 0;
    let mut groups = Vec::new();
    for (number, width) in widths.iter().copied().enumerate() {
        if width > 0 {
            groups.push(Group {
                suffix: if number == 0 {
                    String::new()
                } else {
                    format!("_{number}")
                },
                entry: b.get("s_axis_tdata").slice(offset, width),
                keep: (number > 0).then(|| b.get("s_axis_tkeep").bit(number as u32 - 1)),
            });
        }
        offset += width;
    }
    groups
}

/// Drives `m_axis_tdata` from its groups.
pub(super) fn drive_data(b: &Builder, heads: &[Signal]) {
    let data = match heads {
        [head] => head.clone(),
        _ => b.concat("heads", &heads.iter().collect::<Vec<_>>()),
    };
    b.drive("m_axis_tdata", &data);
}

fn behaviour(b: &Builder, widths: &[u32]) {
    let s_tvalid = b.get("s_axis_tvalid");
    let head_valid = b.register("head_valid", 1);
    let spare_valid = b.register("spare_valid", 1);
    let push = b.wire("push", &(&s_tvalid & &!&spare_valid));
    let head_free = b.wire("head_free", &(!&head_valid | b.get("m_axis_tready")));
    let next_valid = b.wire("next_valid", &(&spare_valid | &push));
    b.clocked_when(&head_free, &head_valid, &next_valid);
    b.clocked(&spare_valid, &(!&head_free & (&spare_valid | &push)));

    // The spare entry means nothing while it is not valid: it takes what is offered then, whether or not that is an entry, so that its enable is a register.
    let spare_free = b.wire("spare_free", &!&spare_valid);
    let mut heads = Vec::new();
    for Group { suffix, entry, keep } in groups(b, widths) {
        let head = b.register(&format!("head{suffix}"), entry.width());
        let spare = b.register(&format!("spare{suffix}"), entry.width());
        let is_any = match &keep {
            None => next_valid.clone(),
            Some(keep) => &spare_valid | &(&push & keep),
        };
        let empties = b.wire(&format!("empties{suffix}"), &(&head_free & &!&is_any));
        let next_head = b.mux(&format!("next_head{suffix}"), &spare_valid, &spare, &entry);
        b.clocked_cleared(&empties, &head_free, &head, &next_head);
        match &keep {
            None => b.clocked_when(&spare_free, &spare, &entry),
            Some(keep) => b.clocked_cleared(
                &(&spare_free & &!keep).named(&format!("voids{suffix}")),
                &spare_free,
                &spare,
                &entry,
            ),
        }
        heads.push(head);
    }
    b.drive("s_axis_tready", &!&spare_valid);
    b.drive("m_axis_tvalid", &head_valid);
    drive_data(b, &heads);
}

/// Lines whose breaking the lockstep must find.
pub const MUTATIONS: [Mutation; 10] = [
    Mutation {
        signal: "push",
        fault: Fault::Operator,
    },
    Mutation {
        signal: "push",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "head_free",
        fault: Fault::Operator,
    },
    Mutation {
        signal: "empties",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "next_head",
        fault: Fault::Invert,
    },
    Mutation {
        signal: "next_valid",
        fault: Fault::Operator,
    },
    Mutation {
        signal: "spare_valid",
        fault: Fault::Operator,
    },
    Mutation {
        signal: "head",
        fault: Fault::Enable,
    },
    Mutation {
        signal: "spare",
        fault: Fault::Enable,
    },
    Mutation {
        signal: "m_axis_tvalid",
        fault: Fault::Invert,
    },
];
