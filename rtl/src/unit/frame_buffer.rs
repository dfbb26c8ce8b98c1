//! `frame_buffer`: a store-and-forward buffer of which only the frames are kept whose last beat says so. Contract:
//! [`metaroce_model::port::frame_buffer`].
//!
//! # How it is kept
//! - The counters `write`, `commit` and `read` have one bit more than an address, so that a full buffer is told from an empty one.
//! - `room` is a register: whether the beats between `read` and `write` will be fewer than the buffer holds. A beat that ends a frame which is not kept leaves room in any case,
//!   since itself had some; any other one fills the buffer when it had the last place and nothing is read.
//!
//! # Pipeline
//!
//! | stage | what |
//! |---|---|
//! | 0 | `read` is the address, while the counters say that the beat there is of a kept frame |
//! | 1 | the beat comes out of block RAM (5.8 ns: nothing else fits in) |
//! | 2 | into the output queue, which is the third clock |
//!
//! A beat is read a clock after it was written at the earliest, since only then is its frame committed.

use super::{axis_register::output_queue, memory::ram};
use crate::hdl::{
    Builder, Module,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        frame_buffer::{Inputs, LATENCY, Outputs},
        unit_ports,
    },
};
use std::rc::Rc;

const _: () = assert!(LATENCY == 3, "block RAM, a register, the queue");

fn doc(params: &Params) -> String {
    format!(
        "Store-and-forward buffer of {} beats of {} bits: a frame whose last beat comes without keep is forgotten.
        Latency {LATENCY} clocks from the read of a beat to the output, initiation interval 1. The number at a name's end is its pipeline stage.",
        params.frame_buffer_beats(),
        params.data_bits,
    )
}

/// The unit.
pub fn unit(params: &Params) -> Rc<Module> {
    let b = Builder::unit(
        "frame_buffer",
        &doc(params),
        &unit_ports::<Inputs, Outputs>(params),
    );
    let beats = params.frame_buffer_beats();
    let address_bits = beats.trailing_zeros();
    let counter_bits = address_bits + 1;
    let last = b.get("s_axis_tlast");

    // Writing.
    let write = b.register("write", counter_bits);
    let commit = b.register("commit", counter_bits);
    let read = b.register("read", counter_bits);
    let room = b.register_reset("room", 1, 1);
    b.drive("s_axis_tready", &room);
    let accepted = b.wire("accepted", &(&b.get("s_axis_tvalid") & &room));
    let ends = b.wire("ends", &(&accepted & &last));
    let keeps = b.wire("keeps", &(&ends & &b.get("s_axis_keep")));
    let forgets = b.wire("forgets", &(&ends & &!b.get("s_axis_keep")));
    let write_next = b.wire("write_next", &(&write + &write.lit(1)));
    b.clocked_when(
        &accepted,
        &write,
        &b.mux("write_after_beat", &forgets, &commit, &write_next),
    );
    b.clocked_when(&keeps, &commit, &write_next);

    // Reading.
    let moves = b.forward("moves", 1);
    let reads = b.wire("reads", &(read.ne(&commit) & &moves));
    b.clocked_when(&reads, &read, &(&read + &read.lit(1)));
    let valid = b.carry("valid", &moves, &reads, 1..=2);

    let fills = b.wire(
        "fills",
        &(write_next.truncate(address_bits).eq(&read.truncate(address_bits))
            & (write_next.msb() ^ read.msb())),
    );
    let room_after_beat = b.wire("room_after_beat", &(&forgets | &!&fills));
    let room_before_read = b.mux("room_before_read", &accepted, &room_after_beat, &room);
    b.clocked(&room, &(&reads | &room_before_read));

    let memory = b.instance(
        "beat_memory",
        &ram(beats, params.data_bits + 1),
        &[
            ("write_enable", &accepted),
            ("write_address", &write.truncate(address_bits)),
            (
                "write_data",
                &b.concat("beat_written", &[&b.get("s_axis_tdata"), &last]),
            ),
            ("read_enable", &moves),
            ("read_address", &read.truncate(address_bits)),
        ],
    );
    let beat = b.stage("beat_2", &moves, &memory.get("read_data"));
    let has_room = output_queue(
        &b,
        "m_axis",
        valid.at(2),
        &[
            ("tdata", &beat.truncate(params.data_bits)),
            ("tlast", &beat.msb()),
        ],
    );
    b.drive("moves", &has_room);
    b.finish()
}

/// Lines whose breaking the lockstep must find.
pub const MUTATIONS: [Mutation; 18] = {
    const fn of(signal: &'static str, fault: Fault) -> Mutation {
        Mutation { signal, fault }
    }
    [
        of("accepted", Fault::Operator),
        of("ends", Fault::Operator),
        of("keeps", Fault::Operator),
        of("forgets", Fault::Zero),
        of("write_next", Fault::Increment),
        of("write_after_beat", Fault::Decrement),
        of("write", Fault::Enable),
        of("commit", Fault::Decrement),
        of("commit", Fault::Enable),
        of("reads", Fault::Operator),
        of("read", Fault::Enable),
        of("read", Fault::Decrement),
        of("valid_1", Fault::Zero),
        of("valid_2", Fault::Enable),
        of("fills", Fault::Zero),
        of("room_after_beat", Fault::Invert),
        of("room", Fault::Operator),
        of("beat_2", Fault::Enable),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::{assert_breakable, assert_builds};

    /// H1, H3: the smallest and the largest buffer.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for (data_bits, max_packet_bytes) in [(512, 256), (64, 16383), (128, 1500), (256, 1499)] {
            let mut params = Params::load("tiny").unwrap();
            (params.data_bits, params.max_packet_bytes, params.mtu_bytes) = (data_bits, max_packet_bytes, 64);
            params.check().unwrap();
            assert_builds("frame_buffer", &params);
            assert_breakable("frame_buffer", &params);
        }
    }
}
