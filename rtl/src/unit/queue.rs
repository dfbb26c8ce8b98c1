//! `queue_DEPTHxWIDTH`: the queues of the units that join others. What a queue is, is told in [`metaroce_model::port`].
//!
//! One entry is a register, two are an [`axis_register`]; more are in look-up tables used as memory, whose head means nothing while the queue is empty. Only where the
//! head becomes a stream's fields is it made zero then, which costs a look-up table a bit.

use super::{axis_register, memory};
use crate::hdl::{Builder, Module, Signal};
use std::{cell::Cell, rc::Rc};

/// A queue in a module under construction. [`Queue::put`] and [`Queue::take`] complete it, each called once.
pub struct Queue {
    builder: Builder,
    name: String,
    depth: u32,
    fields: Vec<(String, u32)>,
    /// Where each field is in an entry, the lowest first: fields that a gate makes zero are together.
    order: Vec<usize>,
    /// The flags and the fields of the head.
    outputs: Rc<Vec<Output>>,
}

/// A flag, or a field of the head.
struct Output {
    name: String,
    value: Signal,
    used: Cell<bool>,
}

/// Names of the flags; no field has these.
const VALID: &str = "tvalid";
const ROOM: &str = "tready";

impl Queue {
    /// The queue `NAME` of `depth` entries (1, or a power of two) that have these fields, with their widths.
    pub fn new(b: &Builder, name: &str, depth: u32, fields: &[(&str, u32)]) -> Self {
        Self::gated(b, name, depth, fields, &[])
    }

    /// A queue of one or two entries in which the fields of each list in `gated` enter as zero unless that list's gate holds: see [`Queue::put_gated`].
    pub fn gated(b: &Builder, name: &str, depth: u32, fields: &[(&str, u32)], gated: &[&[&str]]) -> Self {
        let group_of = |field: &str| {
            gated
                .iter()
                .position(|group| group.contains(&field))
                .map_or(0, |at| at + 1)
        };
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_by_key(|at| group_of(fields[*at].0));
        let mut groups = vec![0; gated.len() + 1];
        for (field, width) in fields {
            groups[group_of(field)] += width;
        }
        let width = groups.iter().sum();
        let put = b.forward(&format!("{name}_put"), 1);
        let take = b.forward(&format!("{name}_take"), 1);
        let entry = b.forward(&format!("{name}_entry"), width);
        let module = match depth {
            1 => of_one(&groups),
            2 => axis_register::of_groups(&groups),
            _ => of_size(depth, width),
        };
        let mut inputs = vec![
            ("s_axis_tvalid", &put),
            ("s_axis_tdata", &entry),
            ("m_axis_tready", &take),
        ];
        let keep = (!gated.is_empty()).then(|| b.forward(&format!("{name}_keep"), gated.len() as u32));
        inputs.extend(keep.iter().map(|keep| ("s_axis_tkeep", keep)));
        let queue = b.instance(&format!("{name}_queue"), &module, &inputs);
        let head = queue.get("m_axis_tdata");
        let mut offset = 0;
        let slices = order.iter().map(|at| {
            let (field, width) = fields[*at];
            let slice = head.slice(offset, width);
            offset += width;
            (field, slice)
        });
        let flags = [
            (VALID, queue.get("m_axis_tvalid")),
            (ROOM, queue.get("s_axis_tready")),
        ];
        let outputs = flags.into_iter().chain(slices).map(|(name, value)| Output {
            name: name.into(),
            value,
            used: Cell::new(false),
        });
        let outputs: Rc<Vec<Output>> = Rc::new(outputs.collect());
        let kept = outputs.clone();
        let unused = format!("{name}_queue");
        b.at_finish(move |b| {
            let signals: Vec<&Signal> = kept.iter().filter(|o| !o.used.get()).map(|o| &o.value).collect();
            if !signals.is_empty() {
                b.unused(&unused, &signals);
            }
        });
        Self {
            builder: b.clone(),
            name: name.into(),
            depth,
            fields: fields
                .iter()
                .map(|(name, width)| (name.to_string(), *width))
                .collect(),
            order,
            outputs,
        }
    }

    fn output_of(&self, name: &str) -> Signal {
        let found = self.outputs.iter().find(|output| output.name == name);
        let output =
            found.unwrap_or_else(|| panic!("the entries of queue {} have no field {name}", self.name));
        output.used.set(true);
        output.value.clone()
    }

    /// There is an entry: a register.
    pub fn valid(&self) -> Signal {
        self.output_of(VALID)
    }

    /// There is room for an entry: the inverse of a register.
    pub fn room(&self) -> Signal {
        self.output_of(ROOM)
    }

    /// A field of the head; it means nothing if there is none.
    ///
    /// # Panics
    /// When the entries have no such field.
    pub fn get(&self, field: &str) -> Signal {
        self.output_of(field)
    }

    /// A field of the head, zero if there is none.
    fn get_or_zero(&self, field: &str) -> Signal {
        let value = self.get(field);
        if self.depth <= 2 {
            value
        } else {
            value.gated(&self.valid())
        }
    }

    /// Puts an entry in clocks in which `when` holds, which must be ones in which there is room. The values are in the order of the fields.
    pub fn put(&self, when: &Signal, values: &[&Signal]) {
        let b = &self.builder;
        assert!(
            values.len() == self.fields.len(),
            "an entry of queue {} has {} fields",
            self.name,
            self.fields.len()
        );
        b.drive(&format!("{}_put", self.name), when);
        let ordered: Vec<&Signal> = self.order.iter().map(|at| values[*at]).collect();
        let entry = b.concat(&format!("{}_new_entry", self.name), &ordered);
        b.drive(&format!("{}_entry", self.name), &entry);
    }

    /// [`Queue::put`] into a queue of [`Queue::gated`], with the gates of its lists.
    pub fn put_gated(&self, when: &Signal, values: &[&Signal], gates: &[&Signal]) {
        let b = &self.builder;
        self.put(when, values);
        if !gates.is_empty() {
            let gates = b.concat(&format!("{}_gates", self.name), gates);
            b.drive(&format!("{}_keep", self.name), &gates);
        }
    }

    /// Takes the head in clocks in which `when` holds; if there is none nothing happens.
    pub fn take(&self, when: &Signal) {
        self.builder.drive(&format!("{}_take", self.name), when);
    }

    /// Takes the head when the output stream `stream` does, and drives that stream: `STREAM_tvalid` and `STREAM_FIELD` for each field.
    pub fn output(&self, stream: &str) {
        let b = &self.builder;
        self.take(&b.get(&format!("{stream}_tready")));
        b.drive(&format!("{stream}_tvalid"), &self.valid());
        for (field, _) in &self.fields {
            b.drive(&format!("{stream}_{field}"), &self.get_or_zero(field));
        }
    }

    /// Fills the queue from the input stream `stream`: drives `STREAM_tready`, takes `STREAM_FIELD` for each field.
    pub fn input(&self, stream: &str) {
        let b = &self.builder;
        b.drive(&format!("{stream}_tready"), &self.room());
        let accepted = b.get(&format!("{stream}_tvalid")) & self.room();
        self.put_from(stream, &accepted.named(&format!("{}_accepted", self.name)));
    }

    /// Fills the queue from the strobe `strobe`: `STROBE_valid`, `STROBE_FIELD` for each field.
    pub fn strobe(&self, strobe: &str) {
        self.put_from(strobe, &self.builder.get(&format!("{strobe}_valid")));
    }

    /// Puts what the inputs `PREFIX_FIELD` are, in clocks in which `when` holds: see [`Queue::put`].
    pub fn put_from(&self, prefix: &str, when: &Signal) {
        let inputs = self
            .fields
            .iter()
            .map(|(field, _)| self.builder.get(&format!("{prefix}_{field}")));
        let values: Vec<Signal> = inputs.collect();
        self.put(when, &values.iter().collect::<Vec<_>>());
    }
}

/// A queue of one entry of groups of bits: see [`axis_register::Group`]. The entry is zero when there is none, so a group enters as zero by not being written.
fn of_one(widths: &[u32]) -> Rc<Module> {
    let doc = "A queue of one entry. m_axis_tdata is zero while m_axis_tvalid is low.
        Latency 1 clock, initiation interval 2.";
    let b = axis_register::slice(
        &format!("queue_1x{}", &axis_register::suffix(widths)[1..]),
        doc,
        widths,
    );
    let valid = b.register("valid", 1);
    let push = (b.get("s_axis_tvalid") & !&valid).named("push");
    let pop = (b.get("m_axis_tready") & &valid).named("pop");
    b.clocked(&valid, &(&push | &(&valid & &!&pop)));
    let mut heads = Vec::new();
    for axis_register::Group { suffix, entry, keep } in axis_register::groups(&b, widths) {
        let head = b.register(&format!("head{suffix}"), entry.width());
        let writes = match &keep {
            None => push.clone(),
            Some(keep) => (&push & keep).named(&format!("writes{suffix}")),
        };
        b.clocked_cleared(&pop, &writes, &head, &entry);
        heads.push(head);
    }
    b.drive("s_axis_tready", &!&valid);
    b.drive("m_axis_tvalid", &valid);
    axis_register::drive_data(&b, &heads);
    b.finish()
}

/// A queue of `depth` entries (a power of two, at least 4) of `width` bits.
fn of_size(depth: u32, width: u32) -> Rc<Module> {
    let b = Builder::new(
        &format!("queue_{depth}x{width}"),
        &format!(
            "A queue of {depth} entries of {width} bits in look-up tables. m_axis_tdata means nothing while m_axis_tvalid is low.
            Latency 1 clock, initiation interval 1."
        ),
    );
    b.add_reset();
    b.add_input("s_axis_tvalid", 1, "An entry is offered.");
    b.add_input("s_axis_tdata", width, "The entry.");
    b.add_input("m_axis_tready", 1, "The entry at m_axis is taken.");
    b.declare_output("s_axis_tready", 1, "There is room for an entry.");
    b.declare_output("m_axis_tvalid", 1, "An entry is offered.");
    b.declare_output("m_axis_tdata", width, "The oldest entry held.");

    let index_bits = depth.trailing_zeros();
    let write_index = b.register("write_index", index_bits);
    let read_index = b.register("read_index", index_bits);
    let valid = b.register("valid", 1);
    let full = b.register("full", 1);
    let push = (b.get("s_axis_tvalid") & !&full).named("push");
    let pop = (b.get("m_axis_tready") & &valid).named("pop");
    let step = |index: &Signal| index + index.lit(1);
    let next_write = step(&write_index).named("next_write_index");
    let next_read = step(&read_index).named("next_read_index");
    b.clocked_when(&push, &write_index, &next_write);
    b.clocked_when(&pop, &read_index, &next_read);
    // The indices are equal when the queue is empty and when it is full; which of both, the last change tells.
    let fills = (&push & &!&pop).named("fills");
    let drains = (&pop & &!&push).named("drains");
    let next_full = b.select(
        "next_full",
        &[(&fills, &next_write.eq(&read_index)), (&drains, &b.lit(0, 1))],
        &full,
    );
    b.clocked(&full, &next_full);
    let next_valid = b.select(
        "next_valid",
        &[(&fills, &b.lit(1, 1)), (&drains, &!next_read.eq(&write_index))],
        &valid,
    );
    b.clocked(&valid, &next_valid);
    // The slot that is written next means nothing until the index passes it. So it takes what is offered, whether or not that is an entry: what decides whether it is one
    // comes late, and reaches the flags and the index only.
    let memory = b.instance(
        "entries",
        &memory::lookup_ram(depth, width),
        &[
            ("write_enable", &!&full),
            ("write_address", &write_index),
            ("write_data", &b.get("s_axis_tdata")),
            ("read_address", &read_index),
        ],
    );
    b.drive("s_axis_tready", &!&full);
    b.drive("m_axis_tvalid", &valid);
    b.drive("m_axis_tdata", &memory.get("read_data"));
    b.finish()
}
