//! `connection_table`: who is at the other end of every connection, and how to address it. Contract: [`metaroce_model::port::connection_table`].
//!
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | what happens |
//! |---|---|
//! | 1 | the operation in registers; the three memories are read, or one is written |
//! | 2 | memories' output |
//! | 3 | the words in registers; is it a LOOKUP of a connection that is enabled? |
//! | 4 | the words if it is, else zero; enters the output queue |
//!
//! # Hazards
//! None: every memory is written and read in the same stage, so in the order of acceptance. What an operation reads while it writes is not shown.
//!
//! # Reset
//! The sweep enters at stage 1 and writes zero to all three memories, to the smaller ones several times.

use super::{axis_register, issue, memory};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        connection_table::{Inputs, LATENCY, Outputs, op},
        key_table::DOMAIN_BITS,
        unit_ports,
    },
};
use std::rc::Rc;

/// Bits of a connection's number.
const PEER_BITS: u32 = 24;
/// Bits of a class of service.
const DSCP_BITS: u32 = 6;
/// Bits of a MAC address.
const MAC_BITS: u32 = 48;
/// Bits of an IPv4 address.
const ADDRESS_BITS: u32 = 32;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Of {} connections the other NIC's number, domain and class, and its addresses and this NIC's on each of {} planes.
        Profile {}: connections = {}, planes = {}.
        Latency {LATENCY} clocks, initiation interval 1.",
        params.connections, params.planes, params.name, params.connections, params.planes,
    );
    let b = Builder::unit("connection_table", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    let ready = b.register("ready", 1);
    let offered = |field: &str| b.get(&format!("s_axis_op_{field}"));
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);

    // Stage 1: the operation. What is offered while the sweep is on does not count.
    let (connection_bits, plane_bits) = (params.connection_bits(), params.plane_bits());
    let sweep = issue::sweep(&b, params.connections * params.planes);
    let accepted = (&ready & &offered("tvalid")).named("accepted");
    let valid = b.carry("valid", &moves, &accepted, 1..=4);
    let op = b.carry("op", &moves, &offered("op"), 1..=4);
    let tag = b.carry("tag", &moves, &offered("tag"), 1..=4);
    let place = |name: &str, field: &str, swept: &Signal| {
        let next = b.mux(&format!("next_{name}_1"), &sweep.clearing, swept, &offered(field));
        b.carry(name, &moves, &next, 1..=4)
    };
    // With one plane, its number still has a bit, which is zero.
    let place_bits = connection_bits + plane_bits;
    let swept = sweep.index.extend(place_bits).named("swept");
    let connection = place("connection", "connection", &swept.truncate(connection_bits));
    let plane = place("plane", "plane", &swept.slice(connection_bits, plane_bits));
    let writes = |name: &str, code: u8| {
        let is_it = (&accepted & &offered("op").is(code.into())).named(&format!("accepted_{name}"));
        stage(&format!("write_{name}_1"), &(&sweep.clearing | &is_it))
    };
    let write_connection = writes("connection", op::CONNECT);
    let write_remote = writes("remote", op::REMOTE);
    let write_local = writes("local", op::LOCAL);
    let written = |name: &str, fields: &[&str]| {
        let fields: Vec<Signal> = fields.iter().map(|field| offered(field)).collect();
        let word = b.concat(&format!("offered_{name}"), &fields.iter().collect::<Vec<_>>());
        stage(&format!("{name}_1"), &word.gated(&!&sweep.clearing))
    };
    let settings = written("settings", &["enabled", "peer", "domain", "dscp"]);
    let addresses = written("addresses", &["mac", "address"]);

    // Stages 1 to 3: the words.
    let memory = |name: &str, write: &Signal, at: &Signal, word: &Signal| {
        let memory = b.instance(
            name,
            &memory::ram(1 << at.width(), word.width()),
            &[
                ("write_enable", write),
                ("write_address", at),
                ("write_data", word),
                ("read_enable", &moves),
                ("read_address", at),
            ],
        );
        stage(&format!("{name}_3"), &memory.get("read_data"))
    };
    let remote_at = b.concat("remote_place", &[connection.at(1), plane.at(1)]);
    let settings = memory("connections", &write_connection, connection.at(1), &settings);
    let remote = memory("remotes", &write_remote, &remote_at, &addresses);
    let local = memory("locals", &write_local, plane.at(1), &addresses);

    // Stage 3 to 4: they are shown, or not.
    let asks = stage("asks_3", &op.at(2).is(op::LOOKUP.into()));
    let known_3 = (&settings.bit(0) & &asks).named("known_3");
    let shown = |name: &str, word: &Signal| stage(name, &word.gated(&known_3));
    let [known, peer, domain, dscp] = bits::split(
        &shown("settings_4", &settings),
        [
            ("known_4", 1),
            ("peer_4", PEER_BITS),
            ("domain_4", DOMAIN_BITS),
            ("dscp_4", DSCP_BITS),
        ],
    );
    let address_fields = |mac, address| [(mac, MAC_BITS), (address, ADDRESS_BITS)];
    let [destination_mac, destination_address] = bits::split(
        &shown("remote_4", &remote),
        address_fields("destination_mac_4", "destination_address_4"),
    );
    let [source_mac, source_address] = bits::split(
        &shown("local_4", &local),
        address_fields("source_mac_4", "source_address_4"),
    );

    let fields = [
        ("op", op.at(4)),
        ("connection", connection.at(4)),
        ("plane", plane.at(4)),
        ("tag", tag.at(4)),
        ("known", &known),
        ("peer", &peer),
        ("domain", &domain),
        ("dscp", &dscp),
        ("destination_mac", &destination_mac),
        ("destination_address", &destination_address),
        ("source_mac", &source_mac),
        ("source_address", &source_address),
    ];
    let has_room = axis_register::output_queue(&b, "m_axis_result", valid.at(4), &fields);
    b.drive("moves", &has_room);
    let room_next = axis_register::room_next(&b, "m_axis_result", valid.at(4), &has_room);
    // Both are known a clock ahead, so that tready, which has far to go, is a register.
    b.clocked(&ready, &(room_next & &!&sweep.clearing_next));
    b.drive("s_axis_op_tready", &ready);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 30] = [
    // Acceptance, stalls and the sweep.
    Mutation { signal: "ready", fault: Fault::Operator },
    Mutation { signal: "accepted", fault: Fault::Operator },
    Mutation { signal: "valid_3", fault: Fault::Enable },
    Mutation { signal: "op_2", fault: Fault::Enable },
    Mutation { signal: "tag_3", fault: Fault::Enable },
    Mutation { signal: "settings_1", fault: Fault::Enable },
    Mutation { signal: "connections_3", fault: Fault::Enable },
    Mutation { signal: "remotes_3", fault: Fault::Enable },
    Mutation { signal: "local_4", fault: Fault::Enable },
    Mutation { signal: "next_connection_1", fault: Fault::Zero },
    Mutation { signal: "next_plane_1", fault: Fault::Zero },
    Mutation { signal: "swept", fault: Fault::Zero },
    Mutation { signal: "sweep_index", fault: Fault::Operator },
    Mutation { signal: "settings_1", fault: Fault::Operator },
    Mutation { signal: "addresses_1", fault: Fault::Operator },
    // What is written.
    Mutation { signal: "accepted_connection", fault: Fault::Operator },
    Mutation { signal: "accepted_remote", fault: Fault::Operator },
    Mutation { signal: "accepted_local", fault: Fault::Operator },
    Mutation { signal: "write_connection_1", fault: Fault::Operator },
    Mutation { signal: "write_remote_1", fault: Fault::Operator },
    Mutation { signal: "write_local_1", fault: Fault::Operator },
    Mutation { signal: "addresses_1", fault: Fault::Increment },
    // What is shown.
    Mutation { signal: "asks_3", fault: Fault::Operator },
    Mutation { signal: "known_3", fault: Fault::Operator },
    Mutation { signal: "settings_4", fault: Fault::Operator },
    Mutation { signal: "remote_4", fault: Fault::Operator },
    Mutation { signal: "local_4", fault: Fault::Operator },
    Mutation { signal: "remote_4", fault: Fault::Zero },
    Mutation { signal: "local_4", fault: Fault::Decrement },
    Mutation { signal: "plane_4", fault: Fault::Invert },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H2: the corners of what a profile may be: fewest and most connections and planes.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for (connections, planes) in [(2, 1), (4096, 16), (4096, 1), (2, 16)] {
            let mut params = Params::load("tiny").unwrap();
            (params.connections, params.planes) = (connections, planes);
            assert_builds("connection_table", &params);
        }
    }
}
