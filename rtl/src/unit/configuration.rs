//! `configuration`: the NIC's write port. Contract: [`metaroce_model::port::configuration`].
//!
//! A queue for each stream, all filled from the command's fields; a command is decoded to the queues that take it.

use super::queue::Queue;
use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        configuration::{Inputs, Outputs, command},
        connection_table, unit_ports,
    },
};
use std::rc::Rc;

/// Bits of an IPv4 address.
const ADDRESS_BITS: u32 = 32;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "The NIC's write port: one command becomes the operations that it means in every table.
        Profile {}. Latency 1 clock from a command to its operations, initiation interval 2.",
        params.name,
    );
    let b = Builder::unit("configuration", &doc, &unit_ports::<Inputs, Outputs>(params));
    let field = |name: &str| b.get(&format!("s_axis_command_{name}"));
    let code = |code: u8| field("command").is(code.into());
    // All streams are empty: a register, so that no stream's entry waits for all the others.
    let ready = b.register_reset("ready", 1, 1);
    let accepted = (field("tvalid") & &ready).named("accepted");
    let when = |name: &str, is_it: Signal| (&accepted & &is_it).named(name);
    let local = when("is_local", code(command::LOCAL));
    let connect = when("is_connect", code(command::CONNECT));
    let remote = when("is_remote", code(command::REMOTE));
    let region = when("is_region", code(command::REGION));
    let path_anew = when("is_path", code(command::PATH));
    let route = when("is_route", code(command::ROUTE));
    let stream_anew = when("is_stream", code(command::STREAM));
    let rate = when("is_rate", code(command::RATE));
    let start = when("is_start", code(command::START));

    let index = field("index");
    let connection = index.truncate(params.connection_bits());
    let path = index.truncate(params.path_index_bits());
    let stream = index.truncate(params.stream_index_bits());
    let first_psn = field("first").truncate(params.psn_bits);
    let second_psn = field("second").truncate(params.psn_bits);
    let address = field("address").truncate(ADDRESS_BITS);

    let local_write = b.register("local_write_register", 1);
    let local_plane = b.register("local_plane_register", field("plane").width());
    let local_address = b.register("local_address_register", ADDRESS_BITS);
    b.clocked(&local_write, &local);
    b.clocked(&local_plane, &field("plane").gated(&local));
    b.clocked(&local_address, &address.gated(&local));
    b.drive("local_write", &local_write);
    b.drive("local_plane", &local_plane);
    b.drive("local_address", &local_address);

    let mut puts = Vec::new();
    let mut stays = Vec::new();
    // `gated` are fields that are zero unless a condition holds.
    let mut gated_queue =
        |name: &str, put: &Signal, values: &[(&str, &Signal)], gated: &[(&Signal, &[&str])]| {
            let fields: Vec<(&str, u32)> = values
                .iter()
                .map(|(field, value)| (*field, value.width()))
                .collect();
            let (gates, groups): (Vec<&Signal>, Vec<&[&str]>) = gated.iter().copied().unzip();
            let queue = Queue::gated(&b, name, 1, &fields, &groups);
            let values: Vec<&Signal> = values.iter().map(|(_, value)| *value).collect();
            queue.put_gated(put, &values, &gates);
            queue.output(&format!("m_axis_{name}"));
            puts.push(put.clone());
            stays.push(queue.valid() & !b.get(&format!("m_axis_{name}_tready")));
        };
    let connection_op = b.select(
        "connection_op",
        &[
            (&local, &b.lit(connection_table::op::LOCAL.into(), 2)),
            (&remote, &b.lit(connection_table::op::REMOTE.into(), 2)),
        ],
        &b.lit(connection_table::op::CONNECT.into(), 2),
    );
    let addressed = (&local | &remote).named("is_addressed");
    gated_queue(
        "connection",
        &(&addressed | &connect),
        &[
            ("op", &connection_op),
            ("connection", &connection.gated(&!&local)),
            ("plane", &field("plane").gated(&addressed)),
            ("enabled", &(field("flag") & &connect)),
            ("peer", &field("first")),
            ("domain", &field("domain")),
            ("dscp", &field("dscp")),
            ("mac", &field("mac")),
            ("address", &address),
        ],
        &[
            (&connect, &["peer", "domain", "dscp"]),
            (&addressed, &["mac", "address"]),
        ],
    );
    let mut queue =
        |name: &str, put: &Signal, values: &[(&str, &Signal)]| gated_queue(name, put, values, &[]);
    queue(
        "key",
        &region,
        &[
            ("key", &field("key")),
            ("address", &field("address")),
            ("domain", &field("domain")),
            ("length", &field("mac")),
            ("valid", &field("flag")),
            ("write", &b.lit(1, 1)),
        ],
    );
    queue(
        "path",
        &(&path_anew | &route),
        &[
            ("path", &path),
            ("clear", &path_anew),
            ("plane", &field("plane")),
            ("source_port", &field("source_port")),
            ("state", &field("state")),
            ("window", &field("window")),
        ],
    );
    queue("sack_tx", &path_anew, &[("path", &path), ("psn", &first_psn)]);
    queue("sack_rx", &path_anew, &[("path", &path), ("psn", &second_psn)]);
    queue("ack", &path_anew, &[("path", &path)]);
    queue("retirement", &path_anew, &[("path", &path), ("psn", &first_psn)]);
    queue(
        "request",
        &stream_anew,
        &[
            ("stream", &stream),
            ("message", &field("first")),
            ("receive", &field("third")),
        ],
    );
    queue(
        "sent",
        &stream_anew,
        &[("stream", &stream), ("message", &field("first"))],
    );
    queue(
        "received",
        &stream_anew,
        &[("stream", &stream), ("message", &field("second"))],
    );
    queue(
        "receive",
        &stream_anew,
        &[("stream", &stream), ("number", &field("fourth"))],
    );
    queue(
        "rate",
        &rate,
        &[
            ("connection", &connection),
            ("rate", &field("rate")),
            ("burst", &field("burst")),
        ],
    );
    queue(
        "schedule",
        &start,
        &[("connection", &connection), ("flag", &field("flag"))],
    );
    let some = |signals: Vec<Signal>| {
        signals
            .into_iter()
            .reduce(|some, signal| some | signal)
            .expect("there are queues")
    };
    let next_ready = !&(some(puts) | some(stays));
    b.clocked(&ready, &next_ready.named("next_ready"));
    b.drive("s_axis_command_tready", &ready);
    let used = params.path_index_bits().max(params.stream_index_bits());
    if used < index.width() {
        b.unused("index_unused", &[&index.slice(used, index.width() - used)]);
    }
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 19] = [
    Mutation { signal: "accepted", fault: Fault::Operator },
    Mutation { signal: "next_ready", fault: Fault::Zero },
    Mutation { signal: "is_local", fault: Fault::Operator },
    Mutation { signal: "is_connect", fault: Fault::Zero },
    Mutation { signal: "is_remote", fault: Fault::Operator },
    Mutation { signal: "is_region", fault: Fault::Zero },
    Mutation { signal: "is_path", fault: Fault::Operator },
    Mutation { signal: "is_route", fault: Fault::Zero },
    Mutation { signal: "is_stream", fault: Fault::Operator },
    Mutation { signal: "is_rate", fault: Fault::Zero },
    Mutation { signal: "is_start", fault: Fault::Operator },
    Mutation { signal: "is_addressed", fault: Fault::Operator },
    Mutation { signal: "connection_op", fault: Fault::Invert },
    Mutation { signal: "key_entry", fault: Fault::Invert },
    Mutation { signal: "path_entry", fault: Fault::Invert },
    Mutation { signal: "request_entry", fault: Fault::Invert },
    Mutation { signal: "local_write_register", fault: Fault::Zero },
    Mutation { signal: "local_address_register", fault: Fault::Invert },
    Mutation { signal: "connection_keep", fault: Fault::Invert },
];
