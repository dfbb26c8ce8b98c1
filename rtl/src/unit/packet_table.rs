//! `packet_table`: what every outstanding packet carries. Contract: [`metaroce_model::port::packet_table`].
//!
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | what happens |
//! |---|---|
//! | 1 | the operation in registers; the descriptor is read, or written by WRITE |
//! | 2 | memory's output |
//! | 3 | the descriptor in registers; that one or, of a WRITE, the one given enters the output queue |
//!
//! The memory's address is the path with the PSN modulo `sack_bits` below it, both of which are powers of two: nothing is computed and no word is lost.
//!
//! # Hazards
//! None: the descriptor is written and read in the same stage, so in the order of acceptance. What a WRITE reads is not shown.
//!
//! # Reset
//! Nothing is swept. A WRITE that was accepted before the reset is in stage 1 when it comes, and still written.

use super::{axis_register, memory};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        packet_table::{Inputs, LATENCY, Outputs, op},
        unit_ports,
    },
};
use std::rc::Rc;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "For each of {} paths and {} PSNs the stream, message and number of the packet that is outstanding.
        Profile {}: connections = {}, paths = {}, sack_bits = {}, streams = {}, messages = {}, mtu_bytes = {}.
        Latency {LATENCY} clocks, initiation interval 1.",
        params.total_paths(),
        params.sack_bits,
        params.name,
        params.connections,
        params.paths,
        params.sack_bits,
        params.streams,
        params.messages,
        params.mtu_bytes,
    );
    let b = Builder::unit("packet_table", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    // No clear follows a reset, which leaves the queue empty.
    let ready = b.register_reset("ready", 1, 1);
    let offered = |field: &str| b.get(&format!("s_axis_op_{field}"));
    let carry = |field: &str| b.carry(field, &moves, &offered(field), 1..=3);

    // Stage 1: the operation.
    let accepted = (&ready & &offered("tvalid")).named("accepted");
    let valid = b.carry("valid", &moves, &accepted, 1..=3);
    let op = carry("op");
    let path = carry("path");
    let psn = carry("psn");
    let tag = carry("tag");
    let write = (&accepted & &offered("op").is(op::WRITE.into())).named("accepted_write");
    // What is offered in a clock with reset must not be written.
    let write_1 = b.stage("write_1", &moves, &write);

    // Stages 1 to 3: the descriptor.
    let offered_packet = b.concat(
        "offered_descriptor",
        &[&offered("stream"), &offered("message"), &offered("packet")],
    );
    let given = b.carry("given", &moves, &offered_packet, 1..=3);
    let place = psn.at(1).truncate(params.sack_index_bits());
    let place = b.concat("place", &[&place, path.at(1)]);
    let memory = b.instance(
        "descriptors",
        &memory::ram(params.total_paths() * params.sack_bits, given.at(1).width()),
        &[
            ("write_enable", &write_1),
            ("write_address", &place),
            ("write_data", given.at(1)),
            ("read_enable", &moves),
            ("read_address", &place),
        ],
    );
    let kept = b.stage("kept_3", &moves, &memory.get("read_data"));

    // Stage 3: the one that was given, or the one that is kept.
    let wrote = op.at(3).is(op::WRITE.into());
    let [stream, message, packet] = bits::split(
        &b.mux("descriptor_3", &wrote, given.at(3), &kept),
        [
            ("stream_3", index_bits(params.streams)),
            ("message_3", params.message_slot_bits()),
            ("packet_3", params.packet_bits()),
        ],
    );

    let fields: [(&str, &Signal); 7] = [
        ("op", op.at(3)),
        ("path", path.at(3)),
        ("psn", psn.at(3)),
        ("tag", tag.at(3)),
        ("stream", &stream),
        ("message", &message),
        ("packet", &packet),
    ];
    let has_room = axis_register::output_queue(&b, "m_axis_result", valid.at(3), &fields);
    b.drive("moves", &has_room);
    // Known a clock ahead, so that tready, which has far to go, is a register.
    let room_next = axis_register::room_next(&b, "m_axis_result", valid.at(3), &has_room);
    b.clocked(&ready, &room_next);
    b.drive("s_axis_op_tready", &ready);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 21] = [
    // Acceptance and stalls.
    Mutation { signal: "ready", fault: Fault::Operator },
    Mutation { signal: "accepted", fault: Fault::Operator },
    Mutation { signal: "valid_1", fault: Fault::Zero },
    Mutation { signal: "valid_2", fault: Fault::Enable },
    Mutation { signal: "op_2", fault: Fault::Enable },
    Mutation { signal: "path_3", fault: Fault::Enable },
    Mutation { signal: "psn_3", fault: Fault::Enable },
    Mutation { signal: "tag_1", fault: Fault::Enable },
    Mutation { signal: "given_1", fault: Fault::Enable },
    Mutation { signal: "given_3", fault: Fault::Enable },
    Mutation { signal: "kept_3", fault: Fault::Enable },
    // What is written.
    Mutation { signal: "accepted_write", fault: Fault::Operator },
    Mutation { signal: "accepted_write", fault: Fault::Invert },
    Mutation { signal: "write_1", fault: Fault::Zero },
    Mutation { signal: "given_1", fault: Fault::Increment },
    // What is shown.
    Mutation { signal: "given_2", fault: Fault::Decrement },
    Mutation { signal: "kept_3", fault: Fault::Increment },
    Mutation { signal: "descriptor_3", fault: Fault::Invert },
    Mutation { signal: "descriptor_3", fault: Fault::Zero },
    Mutation { signal: "tag_3", fault: Fault::Invert },
    Mutation { signal: "psn_2", fault: Fault::Decrement },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H2: the corners of what a profile may be: fewest and most descriptors, smallest and widest.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for (connections, paths, sack_bits, mtu_bytes) in [(2, 2, 16, 8192), (4096, 32, 256, 64)] {
            let mut params = Params::load("tiny").unwrap();
            (params.connections, params.paths) = (connections, paths);
            (params.sack_bits, params.psn_bits) = (sack_bits, index_bits(sack_bits) + 2);
            params.mtu_bytes = mtu_bytes;
            assert_builds("packet_table", &params);
        }
    }
}
