//! `message_table`: counts the bytes of every message that arrive and tells the whole ones in order. Contract: [`metaroce_model::port::message_table`].
//!
//! # What is kept
//! Of a stream: `oldest`; a bit for each place, *begun* and *whole*; and `more`, the oldest message's whole bit, so that a TELL needs no search. Of a place: the
//! bytes counted, which mean something when it is begun; length, immediate and kind, which mean something when it is whole.
//!
//! # Pipeline
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | operation | `oldest` | marks: `more`, begun, whole | bytes counted | length, immediate, kind |
//! |---|---|---|---|---|---|
//! | 0 | issues | read | read | | |
//! | 1 | decoded | memory's output | memory's output | | |
//! | 2 | | raw register | raw register | read | |
//! | 3 | told? | **state** | **state** | memory's output | |
//! | 4 | distance from the oldest | **result**, written | the place's and the next oldest's bits | raw register, zero if not begun; room | |
//! | 5 | inside? | | the place as a mask | compared with the room; sum, written | |
//! | 6 | status | | **result**, written | | written or read |
//! | 7 | | | | | memory's output |
//! | 8 | result, enters the output queue | | | | raw register, zero if not told |
//!
//! The bytes fit if `counted <= length - bytes`: the room is known before the bytes counted are, and the sum is found meanwhile.
//!
//! # Hazards
//! - `oldest` is written four clocks after it was read. From an operation four ahead it is forwarded.
//! - The marks are written six clocks after they were read. From an operation four ahead they are forwarded into the state; from one five or six ahead, into
//!   a register beside the raw one. Whichever of the two is not wanted is zero, so that their OR is what was kept.
//! - INIT makes both registers of `oldest` zero, and its own message takes their place.
//! - The bytes counted are written three clocks after they were read: nothing to do. The last memory is written and read in the same stage, so in order.
//!
//! # Reset
//! The sweep writes the results that stages 4 and 6 hold: they are zero from reset until the first operation is there.

use super::{axis_register, issue, memory};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        message_table::{Inputs, LATENCY, Outputs, SAME_STREAM_CLOCKS, op, status},
        receive_table::NUMBER_BITS,
        unit_ports,
    },
};
use std::rc::Rc;

/// Bits of a length, a count of bytes, an immediate.
const WORD_BITS: u32 = 32;
/// Bits of a message's kind.
const KIND_BITS: u32 = 2;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Counts the bytes of the messages of each of {} streams, {} messages at once, and tells the whole ones in order.
        Profile {}: connections = {}, streams = {}, messages = {}, mtu_bytes = {}.
        Latency {LATENCY} clocks from issue to m_axis_result_tvalid, one more from acceptance. Initiation interval 1;
        {SAME_STREAM_CLOCKS} between two operations on one stream.",
        params.total_streams(),
        params.messages,
        params.name,
        params.connections,
        params.streams,
        params.messages,
        params.mtu_bytes,
    );
    let b = Builder::unit("message_table", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    let moves_next = b.forward("moves_next", 1);
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);
    let carry = |name: &str, value: &Signal, stages| b.carry(name, &moves, value, stages);
    let places = params.messages;
    let place_bits = index_bits(places);

    // Stages 0 and 1: the operation.
    let sweep = issue::sweep(&b, params.total_streams());
    let fields = ["op", "stream", "message", "bytes", "length", "immediate", "kind"];
    let front = issue::in_order(
        &b,
        "s_axis_op",
        &fields,
        ("stream", SAME_STREAM_CLOCKS),
        |_| b.lit(1, 1),
        (&moves, &moves_next),
        &sweep,
    );
    let valid = b.carry("valid", &moves, &front.issue, 1..=8);
    let op = carry("op", &front.get("op"), 1..=8);
    let stream = carry("stream", &front.get("stream"), 1..=8);
    let message = carry("message", &front.get("message"), 1..=3);
    let bytes = carry("bytes", &front.get("bytes"), 1..=4);
    let length = carry("length", &front.get("length"), 1..=6);
    let immediate = carry("immediate", &front.get("immediate"), 1..=6);
    let kind = carry("kind", &front.get("kind"), 1..=6);
    let decoded = |name: &str, code: u8, last: u32| {
        let is_it = &front.issue & &front.get("op").is(code.into());
        b.carry(name, &moves, &is_it, 1..=last)
    };
    let count = decoded("count", op::COUNT, 5);
    let tell = decoded("tell", op::TELL, 3);
    let init = decoded("init", op::INIT, 5);
    // Another operation on the stream so many stages ahead: what it writes is on its way.
    let hits = [4, 5, 6].map(|distance| {
        let same = front.get("stream").eq(stream.at(distance)) & valid.at(distance);
        stage(&format!("hit{distance}_1"), &same)
    });
    let [hit4_1, hit5_1, hit6_1] = &hits;
    let hit4_2 = stage("hit4_2", hit4_1);
    let write = |name: &str, word: &Signal, at: u32| {
        let write = (&sweep.clearing | valid.at(at)).named(&format!("{name}_write"));
        let address = b.mux(
            &format!("{name}_address"),
            &sweep.clearing,
            &sweep.index,
            stream.at(at),
        );
        let memory = b.instance(
            &format!("{name}_memory"),
            &memory::ram(params.total_streams(), word.width()),
            &[
                ("write_enable", &write),
                ("write_address", &address),
                ("write_data", word),
                ("read_enable", &moves),
                ("read_address", &front.get("stream")),
            ],
        );
        memory.get("read_data")
    };
    // A register that is zero from reset until the first operation comes to its stage.
    let load = |register: &Signal, name: &str, before: u32, value: &Signal| {
        let loads = (&moves & valid.at(before)).named(&format!("{name}_loads"));
        b.clocked_when(&loads, register, value);
    };

    // Stages 1 to 3: the oldest message, the marks.
    let oldest_4 = b.register("oldest_4", NUMBER_BITS);
    let oldest_5 = stage("oldest_5", &oldest_4);
    let kept = write("oldest", &oldest_4, 4);
    let none = b.lit(0, NUMBER_BITS);
    let unwanted = (hit4_1 | init.at(1)).named("oldest_unwanted");
    let kept = stage("oldest_2", &b.mux("oldest_read", &unwanted, &none, &kept));
    let ahead_wanted = (hit4_1 & &!init.at(1)).named("oldest_5_wanted");
    let passing = b.mux("oldest_passing", &ahead_wanted, &oldest_5, &none);
    let passing = stage("oldest_passing_2", &passing);
    let first = message.at(2).gated(init.at(2));
    let oldest = stage("oldest_3", &((&kept | &passing) | &first));

    let marks_bits = 1 + 2 * places;
    let marks_6 = b.register("marks_6", marks_bits);
    let marks_7 = stage("marks_7", &marks_6);
    let kept = write("marks", &marks_6, 6);
    let none = b.lit(0, marks_bits);
    let overtaken = (hit5_1 | hit6_1).named("marks_overtaken");
    let kept = stage("marks_2", &b.mux("marks_read", &overtaken, &none, &kept));
    let passing = b.select("marks_passing", &[(hit5_1, &marks_6), (hit6_1, &marks_7)], &none);
    let passing = stage("marks_passing_2", &passing);
    let marks = b.mux("marks_now", &hit4_2, &marks_6, &(&kept | &passing));
    let [more, begun, whole] = bits::split(
        &stage("marks_3", &marks),
        [("more_3", 1), ("begun_3", places), ("whole_3", places)],
    );

    // Stage 3 to 4: what is told, which message it is about, and the oldest one after it.
    let told = (tell.at(3) & &more).named("told_3");
    let after = (&oldest + &told.extend(NUMBER_BITS)).named("oldest_after");
    load(&oldest_4, "oldest", 3, &after);
    let reserved = stage("reserved_3", &op.at(2).is(3));
    let about = b.select(
        "about_3",
        &[(&reserved, &b.lit(0, NUMBER_BITS)), (tell.at(3), &oldest)],
        message.at(3),
    );
    let about = carry("about", &about, 4..=8);
    let ahead = stage("ahead_4", &(message.at(3) - &oldest));
    let told = b.carry("told", &moves, &told, 4..=7);

    // Stages 2 to 4: the bytes counted of the operation's message, and the room before its length.
    let place = |message: &Signal| message.truncate(place_bits);
    let begun_place = begun.index(&place(message.at(3)).named("place_3"));
    let begun_place = begun_place.named("begun_place_3");
    let sum_5 = b.register("sum_5", WORD_BITS);
    let accepts = b.forward("accepts_5", 1);
    let address = |message: &Signal, stream: &Signal, name: &str| b.concat(name, &[&place(message), stream]);
    let counted = b.instance(
        "counted",
        &memory::ram(params.total_streams() * places, WORD_BITS),
        &[
            ("write_enable", &accepts),
            (
                "write_address",
                &address(about.at(5), stream.at(5), "counted_address_5"),
            ),
            ("write_data", &sum_5),
            ("read_enable", &moves),
            (
                "read_address",
                &address(message.at(2), stream.at(2), "counted_address_2"),
            ),
        ],
    );
    let counted = counted.get("read_data");
    let counted = b.mux("counted_begun", &begun_place, &counted, &counted.lit(0));
    let counted = stage("counted_4", &counted);
    let room_bits = WORD_BITS + 1;
    let room = length.at(3).extend(room_bits) - bytes.at(3).extend(room_bits);
    let room = stage("room_4", &room);
    let whole_place = stage("whole_place_4", &whole.index(&place(message.at(3))));
    let next_place = place(&oldest) + b.lit(1, place_bits);
    let next_whole = stage("next_whole_4", &whole.index(&next_place.named("next_place_3")));
    let more = stage("more_4", &more);
    let begun = stage("begun_4", &begun);
    let whole = stage("whole_4", &whole);

    // Stage 4 to 5: compared; the marks without those of the message told.
    b.clocked_when(&moves, &sum_5, &(&counted + bytes.at(4).extend(WORD_BITS)));
    let under = stage("under_5", &counted.lt(&room.truncate(WORD_BITS)));
    let difference = (&counted ^ &room.truncate(WORD_BITS)).named("room_difference_4");
    let differs = stage(
        "differs_5",
        &bits::any_in_groups(&b, "differs_4", &difference, WORD_BITS / 4),
    );
    let closed = stage("closed_5", &(&whole_place | &room.msb()));
    let within = !ahead.slice(place_bits, NUMBER_BITS - place_bits).any();
    let inside = stage("inside_5", &(count.at(4) & &within));
    let at_oldest = stage("at_oldest_5", &!place(&ahead).any());
    let mask = stage("mask_5", &bits::decode(&b, "mask_4", &place(about.at(4))));
    let next_more = b.mux("next_more_5", told.at(4), &next_whole, &more);
    let more = stage(
        "more_5",
        &b.mux("kept_more_4", init.at(4), &b.lit(0, 1), &next_more),
    );
    let none = b.lit(0, places);
    let begun = stage("begun_5", &b.mux("kept_begun_4", init.at(4), &none, &begun));
    let whole = stage("whole_5", &b.mux("kept_whole_4", init.at(4), &none, &whole));

    // Stage 5 to 6: the verdict, the marks after the operation.
    let open = (&inside & &!&closed).named("open_5");
    let ends = (&open & &!differs.any()).named("ends_5");
    let accepted = (&open & &(&under | &!differs.any())).named("accepted_5");
    b.drive("accepts_5", &accepted);
    let marked = |name: &str, marks: &Signal, set: &Signal| {
        let set = marks | &mask.gated(set);
        let cleared = mask.gated(told.at(5));
        (set & !cleared).named(name)
    };
    let new_more = (&more | &(&ends & &at_oldest)).named("new_more");
    let new_begun = marked("new_begun", &begun, &accepted);
    let new_whole = marked("new_whole", &whole, &ends);
    let marks = b.concat("new_marks", &[&new_more, &new_begun, &new_whole]);
    load(&marks_6, "marks", 5, &marks);
    let ends_6 = b.stage("ends_6", &moves, &ends);
    let more = carry("result_more", &marks_6.bit(0), 7..=8);

    let code = |code: u8| b.lit(code.into(), 3);
    let counted = b.select(
        "counted_status",
        &[
            (&!&inside, &code(status::OUTSIDE)),
            (&ends, &code(status::WHOLE)),
            (&accepted, &code(status::PART)),
        ],
        &code(status::TOO_LONG),
    );
    let verdict = b.select(
        "verdict",
        &[
            (count.at(5), &counted),
            (init.at(5), &code(status::DONE)),
            (told.at(5), &code(status::TOLD)),
        ],
        &code(status::NONE),
    );
    let status = carry("status", &verdict, 6..=8);

    // Stages 6 to 8: what is told of a message.
    let offered = b.concat("offered_message", &[length.at(6), immediate.at(6), kind.at(6)]);
    let address = address(about.at(6), stream.at(6), "message_address_6");
    let messages = b.instance(
        "messages",
        &memory::ram(params.total_streams() * places, offered.width()),
        &[
            ("write_enable", &ends_6),
            ("write_address", &address),
            ("write_data", &offered),
            ("read_enable", &moves),
            ("read_address", &address),
        ],
    );
    let read = messages.get("read_data");
    let read = b.mux("message_told", told.at(7), &read, &read.lit(0));
    let [length, immediate, kind] = bits::split(
        &stage("message_8", &read),
        [
            ("length_8", WORD_BITS),
            ("immediate_8", WORD_BITS),
            ("kind_8", KIND_BITS),
        ],
    );

    let has_room = axis_register::output_queue(
        &b,
        "m_axis_result",
        valid.at(8),
        &[
            ("op", op.at(8)),
            ("stream", stream.at(8)),
            ("status", status.at(8)),
            ("message", about.at(8)),
            ("length", &length),
            ("immediate", &immediate),
            ("kind", &kind),
            ("more", more.at(8)),
        ],
    );
    b.drive("moves", &has_room);
    let room_next = axis_register::room_next(&b, "m_axis_result", valid.at(8), &has_room);
    b.drive("moves_next", &room_next);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 42] = [
    // Spacing, stalls and the sweep.
    Mutation { signal: "offered_waits_1", fault: Fault::Zero },
    Mutation { signal: "input_ready", fault: Fault::Operator },
    Mutation { signal: "sweep_index", fault: Fault::Increment },
    Mutation { signal: "marks_2", fault: Fault::Enable },
    Mutation { signal: "counted_4", fault: Fault::Enable },
    Mutation { signal: "message_8", fault: Fault::Enable },
    Mutation { signal: "oldest_address", fault: Fault::Invert },
    Mutation { signal: "marks_write", fault: Fault::Operator },
    Mutation { signal: "oldest_loads", fault: Fault::Operator },
    // What is on its way.
    Mutation { signal: "hit4_1", fault: Fault::Zero },
    Mutation { signal: "hit4_2", fault: Fault::Zero },
    Mutation { signal: "hit5_1", fault: Fault::Zero },
    Mutation { signal: "hit6_1", fault: Fault::Zero },
    Mutation { signal: "marks_overtaken", fault: Fault::Operator },
    Mutation { signal: "oldest_read", fault: Fault::Invert },
    Mutation { signal: "oldest_unwanted", fault: Fault::Zero },
    Mutation { signal: "oldest_5_wanted", fault: Fault::Operator },
    // The oldest message.
    Mutation { signal: "told_3", fault: Fault::Operator },
    Mutation { signal: "oldest_after", fault: Fault::Operator },
    Mutation { signal: "about_3", fault: Fault::Decrement },
    Mutation { signal: "ahead_4", fault: Fault::Operator },
    Mutation { signal: "next_place_3", fault: Fault::Zero },
    Mutation { signal: "next_more_5", fault: Fault::Zero },
    Mutation { signal: "kept_more_4", fault: Fault::Invert },
    Mutation { signal: "new_more", fault: Fault::Operator },
    Mutation { signal: "at_oldest_5", fault: Fault::Zero },
    // The bytes.
    Mutation { signal: "counted_begun", fault: Fault::Zero },
    Mutation { signal: "sum_5", fault: Fault::Operator },
    Mutation { signal: "room_4", fault: Fault::Operator },
    Mutation { signal: "under_5", fault: Fault::Zero },
    Mutation { signal: "differs_5", fault: Fault::Zero },
    Mutation { signal: "closed_5", fault: Fault::Operator },
    Mutation { signal: "whole_place_4", fault: Fault::Zero },
    Mutation { signal: "inside_5", fault: Fault::Operator },
    Mutation { signal: "open_5", fault: Fault::Operator },
    // The marks and what is told.
    Mutation { signal: "new_begun", fault: Fault::Operator },
    Mutation { signal: "new_whole", fault: Fault::Operator },
    Mutation { signal: "kept_begun_4", fault: Fault::Invert },
    Mutation { signal: "kept_whole_4", fault: Fault::Invert },
    Mutation { signal: "ends_6", fault: Fault::Zero },
    Mutation { signal: "reserved_3", fault: Fault::Zero },
    Mutation { signal: "status_6", fault: Fault::Increment },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H2: the corners of what a profile may be: fewest and most streams and messages.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for (connections, streams, messages) in [(2, 2, 2), (4096, 16, 64)] {
            let mut params = Params::load("tiny").unwrap();
            (params.streams, params.messages) = (streams, messages);
            params.connections = connections;
            assert_builds("message_table", &params);
        }
    }
}
