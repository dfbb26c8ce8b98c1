//! `align`: moves the bytes of a transfer from one alignment to another. Contract: [`metaroce_model::port::align`].
//!
//! # How it is done
//! Every input beat is rotated by `from - to` lanes, modulo the number of lanes: its bytes then stand in the lanes in which they leave, some in the beat that this step gives
//! and the others in the one that the next step gives. So an output beat takes each of its lanes from the rotated beat of this step or from that of the one before; which lanes, depends on the rotation alone.
//! What `previous` holds at a transfer's first step does not matter: the lanes that would be taken from it are before `to`.
//!
//! `to + bytes - 1` says all about the output: its lower bits are the last lane, the upper ones how many beats follow the first.
//!
//! # Pipeline
//! The number at a name's end is how many clocks ago the step was.
//!
//! | clock | what |
//! |---|---|
//! | 0 | the step: what it gives; the beat (or zeros) is rotated by the lower half of the rotation's bits |
//! | 1 | rotated by the upper half; which lanes are the previous beat's; which lanes hold bytes |
//! | 2 | lanes are chosen from this and the previous step's rotated beat |
//! | 3 | into the output queue, which is the fourth clock |

use super::axis_register::output_queue;
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        align::{Inputs, LATENCY, Outputs},
        unit_ports,
    },
};
use std::rc::Rc;

const _: () = assert!(LATENCY == 4, "three stages and the queue");

fn doc(params: &Params) -> String {
    format!(
        "Moves the bytes of a transfer from one alignment to another: they come from lane `from` of the first beat on, and leave from lane `to` of the first beat on.
        Beats of {} bits, transfers of 1 to {} bytes. Input beats behind the transfer's bytes are dropped; missing ones are zeros.
        Latency {LATENCY} clocks from a beat to the one that it completes, a beat a clock. The number at a name's end is its pipeline stage.",
        params.data_bits, params.mtu_bytes,
    )
}

/// The unit.
pub fn unit(params: &Params) -> Rc<Module> {
    let b = Builder::unit("align", &doc(params), &unit_ports::<Inputs, Outputs>(params));
    let lane_bits = params.lane_bits();
    let beat_bits = params.payload_bits() - lane_bits;
    let moves = b.forward("moves", 1);
    let tvalid = b.get("s_axis_tvalid");

    // The command register and, of the command in it, what the active transfer needs.
    let command_valid = b.register("command_valid", 1);
    let load = b.forward("load", 1);
    let accepts = (!&command_valid).named("accepts_command");
    b.drive("s_axis_command_tready", &accepts);
    let offered = |field: &str| b.get(&format!("s_axis_command_{field}"));
    let from = b.stage("command_from", &accepts, &offered("from"));
    let to = b.stage("command_to", &accepts, &offered("to"));
    let bytes = offered("bytes");
    let following = b.stage("command_bytes_after_first", &accepts, &(&bytes - &bytes.lit(1)));
    let kept = b.mux("next_command_valid", &command_valid, &!&load, &offered("tvalid"));
    b.clocked(&command_valid, &kept);
    let late = to.lt(&from).named("late");
    let rotation = (&from - &to).named("rotation");
    let reach = (&following + &to.extend(params.payload_bits())).named("reach");
    let last_lane = reach.truncate(lane_bits);
    let beats_after_first = reach.slice(lane_bits, beat_bits);

    // The active transfer.
    let active = b.register("active", 1);
    let needs_input = b.register("needs_input", 1);
    let leads = b.register("leads", 1); // the next step gives nothing, since the transfer is late
    let begins = b.register("begins", 1); // no beat has been given
    let beats_after = b.register("beats_after", beat_bits); // the one to give next
    let none_after = b.register("none_after", 1);
    let all_given = b.register("all_given", 1);
    let rotation = b.stage("active_rotation", &load, &rotation);
    let to = b.stage("active_to", &load, &to);
    let last_lane = b.stage("active_last_lane", &load, &last_lane);

    // Clock 0: the step.
    let ready = (&moves & &(&active & &needs_input)).named("input_ready");
    b.drive("s_axis_tready", &ready);
    let goes = (&active & &(!&needs_input | &tvalid)).named("goes");
    let step = (&moves & &goes).named("step");
    let input_ends = (!&needs_input | b.get("s_axis_tlast")).named("input_ends");
    let ends = (&none_after & &!&leads).named("all_given_then");
    let last_step = (&step & &(&input_ends & &ends)).named("last_step");
    b.drive("load", &(&command_valid & &(!&active | &last_step)));
    b.clocked(&active, &(&load | &(&active & &!&last_step)));

    let counts = (&step & &!&leads).named("counts");
    let one_after = beats_after.is(1).named("one_after");
    let update = |name: &str, loaded: &Signal, condition: &Signal, next: &Signal| {
        let register = b.get(name);
        let cases = [(&load, loaded), (condition, next)];
        b.clocked(&register, &b.select(&format!("next_{name}"), &cases, &register));
    };
    let (yes, no) = (b.lit(1, 1), b.lit(0, 1));
    update("needs_input", &yes, &step, &!&input_ends);
    update("leads", &late, &step, &no);
    update("begins", &yes, &counts, &no);
    update("all_given", &no, &counts, &(&all_given | &none_after));
    update(
        "none_after",
        &!beats_after_first.any(),
        &counts,
        &(&none_after | &one_after),
    );
    let fewer = &beats_after - &(!&none_after).extend(beat_bits);
    update("beats_after", &beats_after_first, &counts, &fewer);
    let gives = (&goes & &!(&leads | &all_given)).named("gives");
    let is_last = (&gives & &none_after).named("gives_last");

    // Clocks 0 and 1: rotation; lanes.
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);
    let early_bits = lane_bits / 2;
    let data = b.get("s_axis_tdata").gated(&needs_input).named("current");
    let data = rotated(&b, "rotated_early", &data, &rotation, 0..early_bits);
    let data_1 = stage("data_1", &data);
    let step_1 = b.stage("step_1", &moves, &goes);
    let gives = b.carry("gives", &moves, &gives, 1..=3);
    let is_last = b.carry("last", &moves, &is_last, 1..=3);
    let begins_1 = stage("begins_1", &begins);
    let rotation_1 = stage("rotation_1", &rotation);
    let to_1 = stage("to_1", &to);
    let last_lane_1 = stage("last_lane_1", &last_lane);

    let data = rotated(&b, "rotated", &data_1, &rotation_1, early_bits..lane_bits);
    let data_2 = stage("data_2", &data);
    let step_2 = b.stage("step_2", &moves, &step_1);
    // A lane is this step's from `lanes - rotation` on; without a rotation all are.
    let first_from_this = (rotation_1.lit(0) - &rotation_1).named("first_from_this");
    let from_this = bits::from_index(&b, "lanes_from_this", &first_from_this);
    let from_this_2 = stage("from_this_2", &from_this);
    let from_to_on = bits::from_index(&b, "lanes_from_to_on", &to_1);
    let lanes = from_to_on.width();
    let up_to_last = !&bits::from_index(&b, "lanes_from_last_on", &last_lane_1)
        | bits::decode(&b, "lane_is_last", &last_lane_1);
    let up_to_last = up_to_last.named("lanes_up_to_last");
    let from_to_on = &from_to_on | &(!&begins_1).sign_extend(lanes);
    let up_to_last = &up_to_last | &(!is_last.at(1)).sign_extend(lanes);
    let keep = (&from_to_on & &up_to_last).named("keep");
    let keep_2 = stage("keep_2", &keep.gated(gives.at(1)));

    // Clock 2: each lane from one of two beats.
    let previous = b.register("previous", params.data_bits);
    b.clocked_when(&(&moves & &step_2).named("previous_ends"), &previous, &data_2);
    let merged: Vec<Signal> = (0..lanes)
        .map(|lane| {
            let this = data_2.slice(8 * lane, 8).gated(&from_this_2.bit(lane));
            let other = previous.slice(8 * lane, 8).gated(&!from_this_2.bit(lane));
            (this | other).gated(&keep_2.bit(lane))
        })
        .collect();
    let data_3 = stage("data_3", &b.concat("merged", &merged.iter().collect::<Vec<_>>()));
    let keep_3 = stage("keep_3", &keep_2);

    let fields = [("tdata", &data_3), ("tkeep", &keep_3), ("tlast", is_last.at(3))];
    let room = output_queue(&b, "m_axis", gives.at(3), &fields);
    b.drive("moves", &room);
    b.finish()
}

/// Lane l is lane l + `rotation` of `data`, modulo their number; of `rotation` only the bits `which` count.
fn rotated(b: &Builder, name: &str, data: &Signal, rotation: &Signal, which: std::ops::Range<u32>) -> Signal {
    which.fold(data.clone(), |data, bit| {
        let low = 8 << bit;
        let parts = [&data.slice(low, data.width() - low), &data.truncate(low)];
        let moved = b.concat(&format!("{name}_moved_{bit}"), &parts);
        b.mux(&format!("{name}_{bit}"), &rotation.bit(bit), &moved, &data)
    })
}

const fn broken(signal: &'static str, fault: Fault) -> Mutation {
    Mutation { signal, fault }
}

/// Lines that, when broken, the lockstep must find.
pub const MUTATIONS: [Mutation; 28] = [
    // Commands.
    broken("accepts_command", Fault::Invert),
    broken("next_command_valid", Fault::Invert),
    broken("load", Fault::Operator),
    broken("late", Fault::Operator),
    broken("rotation", Fault::Increment),
    broken("reach", Fault::Operator),
    broken("active_to", Fault::Enable),
    broken("command_from", Fault::Enable),
    // Steps.
    broken("input_ready", Fault::Operator),
    broken("goes", Fault::Operator),
    broken("step", Fault::Operator),
    broken("input_ends", Fault::Operator),
    broken("all_given_then", Fault::Operator),
    broken("last_step", Fault::Operator),
    broken("counts", Fault::Operator),
    broken("one_after", Fault::Operator),
    broken("next_needs_input", Fault::Invert),
    broken("next_all_given", Fault::Zero),
    broken("gives", Fault::Operator),
    broken("gives_last", Fault::Operator),
    // Rotation, lanes, stalls.
    broken("current", Fault::Operator),
    broken("rotated_early_0", Fault::Zero),
    broken("keep", Fault::Operator),
    broken("lanes_up_to_last", Fault::Operator),
    broken("previous_ends", Fault::Operator),
    broken("data_2", Fault::Enable),
    broken("from_this_2", Fault::Invert),
    broken("begins_1", Fault::Enable),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H1: every width of the bus with the smallest and the largest packets.
    #[test]
    fn elaborates_for_extreme_profiles() {
        let mut params = Params::load("asic400g").unwrap();
        for (data_bits, mtu_bytes) in [
            (64, 64),
            (64, 8192),
            (128, 256),
            (256, 64),
            (512, 64),
            (512, 8192),
        ] {
            (params.data_bits, params.mtu_bytes, params.max_packet_bytes) = (data_bits, mtu_bytes, 16383);
            params.check().unwrap();
            assert_builds("align", &params);
        }
    }
}
