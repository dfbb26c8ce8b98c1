//! `receive_table`: the receives that are posted on every stream. Contract: [`metaroce_model::port::receive_table`].
//!
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | what happens |
//! |---|---|
//! | 0 | the operation in the input register issues; the stream's counts are read |
//! | 1 | memory's output; the operation is decoded |
//! | 2 | the counts in registers, beside them how many receives are open |
//! | 3 | the counts after the operation, written; the entry is read, or written by POST |
//! | 4 | memory's output; how far ahead of the completed ones the receive is; where the bytes end |
//! | 5 | the entry in registers; ahead of the open ones? |
//! | 6 | longer than the receive? The lower half of the address |
//! | 7 | the status; the upper half of the address; the result enters the output queue |
//!
//! The open receives are kept, not only found from the two counts: whether an operation is refused is then known without a subtraction, in
//! time for the counts to change in one clock.
//!
//! # Hazards
//! None: the counts are written three clocks after they were read, and two operations on one stream are four apart. An entry is written and read in
//! the same stage, so in order.
//!
//! # Reset
//! The sweep writes the counts that stage 3 holds: they are zero from reset until the first operation is there.

use super::{axis_register, issue, memory};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        receive_table::{Inputs, LATENCY, NUMBER_BITS, Outputs, SAME_STREAM_CLOCKS, op, status},
        unit_ports,
    },
};
use std::rc::Rc;

/// Bits of an address.
const ADDRESS_BITS: u32 = 64;
/// Bits of a length, an offset, an identifier.
const WORD_BITS: u32 = 32;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "The receives posted on each of {} streams, {} at most, and which of them a Send takes.
        Profile {}: connections = {}, streams = {}, receives = {}, mtu_bytes = {}.
        Latency {LATENCY} clocks from issue to m_axis_result_tvalid, one more from acceptance. Initiation interval 1;
        {SAME_STREAM_CLOCKS} between two operations on one stream.",
        params.total_streams(),
        params.receives,
        params.name,
        params.connections,
        params.streams,
        params.receives,
        params.mtu_bytes,
    );
    let b = Builder::unit("receive_table", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    let moves_next = b.forward("moves_next", 1);
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);
    let carry = |name: &str, value: &Signal, stages| b.carry(name, &moves, value, stages);

    // Stages 0 and 1: the operation.
    let sweep = issue::sweep(&b, params.total_streams());
    let fields = [
        "op",
        "stream",
        "number",
        "offset",
        "bytes",
        "address",
        "length",
        "identifier",
    ];
    let front = issue::in_order(
        &b,
        "s_axis_op",
        &fields,
        ("stream", SAME_STREAM_CLOCKS),
        |_| b.lit(1, 1),
        (&moves, &moves_next),
        &sweep,
    );
    let valid = b.carry("valid", &moves, &front.issue, 1..=7);
    let op = carry("op", &front.get("op"), 1..=7);
    let stream = carry("stream", &front.get("stream"), 1..=7);
    let asked = carry("asked", &front.get("number"), 1..=2);
    let offset = carry("offset", &front.get("offset"), 1..=5);
    let bytes = carry("bytes", &front.get("bytes"), 1..=3);
    let decoded = |name: &str, code: u8, last: u32| {
        let is_it = &front.issue & &front.get("op").is(code.into());
        b.carry(name, &moves, &is_it, 1..=last)
    };
    let post = decoded("post", op::POST, 2);
    let matching = decoded("match", op::MATCH, 6);
    let complete = decoded("complete", op::COMPLETE, 6);
    let init = decoded("init", op::INIT, 2);

    // Stages 0 to 2: the counts.
    let open_bits = index_bits(params.receives) + 1;
    let word_bits = 2 * NUMBER_BITS + open_bits;
    let counts_1 = b.forward("counts_1", word_bits);
    let [posted, completed, open] = bits::split(
        &stage("counts_2", &counts_1),
        [
            ("posted_2", NUMBER_BITS),
            ("completed_2", NUMBER_BITS),
            ("open_2", open_bits),
        ],
    );

    // Stages 2 and 3: the counts after the operation. A full ring has the open ones' top bit set and no other. An INIT
    // neither posts nor completes: to both counts, which are its number, nothing is added.
    let posts = (post.at(2) & &!open.msb()).named("posts_2");
    let completes = (complete.at(2) & &open.any()).named("completes_2");
    let either = (&posts | &completes).named("changes_2");
    let from_posted = b.mux("from_posted", init.at(2), asked.at(2), &posted);
    let new_posted = (&from_posted + &posts.extend(NUMBER_BITS)).named("new_posted");
    let from_completed = b.mux("from_completed", init.at(2), asked.at(2), &completed);
    let new_completed = (&from_completed + &completes.extend(NUMBER_BITS)).named("new_completed");
    let step = b.concat("open_step", &[&either, &completes.sign_extend(open_bits - 1)]);
    let from_open = open.gated(&!init.at(2)).named("from_open");
    let new_open = (&from_open + &step).named("new_open");
    let counts_3 = b.register("counts_3", word_bits);
    let new_counts = b.concat("new_counts", &[&new_posted, &new_completed, &new_open]);
    let counted = (&moves & valid.at(2)).named("counts_change");
    b.clocked_when(&counted, &counts_3, &new_counts);
    let completed_3 = counts_3.slice(NUMBER_BITS, NUMBER_BITS).named("completed_3");
    let open_3 = counts_3.slice(2 * NUMBER_BITS, open_bits);
    let counts = b.instance(
        "counts",
        &memory::ram(params.total_streams(), word_bits),
        &[
            (
                "write_enable",
                &(&sweep.clearing | valid.at(3)).named("counts_write"),
            ),
            (
                "write_address",
                &b.mux("counts_address", &sweep.clearing, &sweep.index, stream.at(3)),
            ),
            ("write_data", &counts_3),
            ("read_enable", &moves),
            ("read_address", &front.get("stream")),
        ],
    );
    b.drive("counts_1", &counts.get("read_data"));
    let open = carry("open", &open_3, 4..=7);

    // Stage 3: which receive, and its entry.
    let number = b.select(
        "number_2",
        &[(post.at(2), &posted), (complete.at(2), &completed)],
        asked.at(2),
    );
    let number = carry("number", &number, 3..=7);
    let posts_3 = b.stage("posts_3", &moves, &posts);
    let offered = b.concat(
        "input_entry",
        &[
            &front.get("address"),
            &front.get("length"),
            &front.get("identifier"),
        ],
    );
    let offered = carry("offered_entry", &offered, 1..=3);
    let place = number.at(3).truncate(index_bits(params.receives));
    let entry_address = b.concat("entry_address", &[&place, stream.at(3)]);
    let entries = b.instance(
        "entries",
        &memory::ram(params.total_streams() * params.receives, offered.at(3).width()),
        &[
            ("write_enable", &posts_3),
            ("write_address", &entry_address),
            ("write_data", offered.at(3)),
            ("read_enable", &moves),
            ("read_address", &entry_address),
        ],
    );
    let [address, length, identifier] = bits::split(
        &stage("entry_5", &entries.get("read_data")),
        [
            ("address_5", ADDRESS_BITS),
            ("length_5", WORD_BITS),
            ("identifier_5", WORD_BITS),
        ],
    );

    // Stages 3 to 5: is the receive there? Of those completed before, the top bit of the distance is set.
    let ahead = stage("ahead_4", &(number.at(3) - &completed_3));
    let past_open = ahead.truncate(open_bits).ge(open.at(4)).named("past_open_4");
    let far = ahead.slice(open_bits, NUMBER_BITS - 1 - open_bits).any();
    let not_posted = stage("not_posted_5", &(&past_open | &far));
    let gone = stage("gone_5", &ahead.msb());
    let missing = stage("missing_6", &(&not_posted | &gone));
    let gone = stage("gone_6", &gone);

    // Stages 3 to 6: do the bytes fit, and where do they go?
    let end_bits = WORD_BITS + 1;
    let end = stage(
        "end_4",
        &(offset.at(3).extend(end_bits) + bytes.at(3).extend(end_bits)),
    );
    let end = stage("end_5", &end);
    let too_long = stage("too_long_6", &length.extend(end_bits).lt(&end));
    let low = address.truncate(WORD_BITS).extend(end_bits) + offset.at(5).extend(end_bits);
    let low = stage("address_low_6", &low);
    let high = stage(
        "address_high_6",
        &address.slice(WORD_BITS, ADDRESS_BITS - WORD_BITS),
    );
    let identifier = stage("identifier_6", &identifier);

    // Stage 6 to 7: the result.
    let done = carry("done", &(&either | init.at(2)), 3..=6);
    let found = (matching.at(6) & &!(&missing | &too_long)).named("found_6");
    let named = (&found | &(complete.at(6) & done.at(6))).named("identified_6");
    let code = |code: u8| b.lit(code.into(), 3);
    let unmatched = b.select(
        "unmatched",
        &[
            (&gone, &code(status::GONE)),
            (&missing, &code(status::NOT_POSTED)),
            (&too_long, &code(status::TOO_LONG)),
        ],
        &code(status::DONE),
    );
    let unchanged = b.mux(
        "unchanged",
        done.at(6),
        &code(status::DONE),
        &code(status::REFUSED),
    );
    let verdict = b.mux("verdict", matching.at(6), &unmatched, &unchanged);
    let status = stage("status_7", &verdict);
    let carried = &high + &low.msb().extend(high.width());
    let sum = b.concat("address_sum", &[&low.truncate(WORD_BITS), &carried]);
    let address = stage("address_7", &b.mux("found_address", &found, &sum, &sum.lit(0)));
    let identifier = stage(
        "identifier_7",
        &b.mux("found_identifier", &named, &identifier, &identifier.lit(0)),
    );

    let has_room = axis_register::output_queue(
        &b,
        "m_axis_result",
        valid.at(7),
        &[
            ("op", op.at(7)),
            ("stream", stream.at(7)),
            ("status", &status),
            ("number", number.at(7)),
            ("address", &address),
            ("identifier", &identifier),
            ("open", open.at(7)),
        ],
    );
    b.drive("moves", &has_room);
    let room_next = axis_register::room_next(&b, "m_axis_result", valid.at(7), &has_room);
    b.drive("moves_next", &room_next);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 35] = [
    // Spacing, stalls and the sweep.
    Mutation { signal: "offered_waits_1", fault: Fault::Zero },
    Mutation { signal: "input_ready", fault: Fault::Operator },
    Mutation { signal: "sweep_index", fault: Fault::Increment },
    Mutation { signal: "counts_address", fault: Fault::Invert },
    Mutation { signal: "counts_write", fault: Fault::Operator },
    Mutation { signal: "counts_2", fault: Fault::Enable },
    Mutation { signal: "entry_5", fault: Fault::Enable },
    Mutation { signal: "offset_5", fault: Fault::Enable },
    Mutation { signal: "counts_change", fault: Fault::Operator },
    // The counts.
    Mutation { signal: "posts_2", fault: Fault::Operator },
    Mutation { signal: "completes_2", fault: Fault::Operator },
    Mutation { signal: "changes_2", fault: Fault::Operator },
    Mutation { signal: "new_posted", fault: Fault::Increment },
    Mutation { signal: "new_completed", fault: Fault::Operator },
    Mutation { signal: "new_open", fault: Fault::Operator },
    Mutation { signal: "from_posted", fault: Fault::Increment },
    Mutation { signal: "from_completed", fault: Fault::Zero },
    Mutation { signal: "from_open", fault: Fault::Operator },
    Mutation { signal: "done_3", fault: Fault::Operator },
    Mutation { signal: "number_2", fault: Fault::Decrement },
    // The entry.
    Mutation { signal: "posts_3", fault: Fault::Zero },
    Mutation { signal: "offered_entry_3", fault: Fault::Invert },
    // Is it there, does it fit?
    Mutation { signal: "ahead_4", fault: Fault::Operator },
    Mutation { signal: "past_open_4", fault: Fault::Operator },
    Mutation { signal: "not_posted_5", fault: Fault::Operator },
    Mutation { signal: "gone_6", fault: Fault::Zero },
    Mutation { signal: "missing_6", fault: Fault::Operator },
    Mutation { signal: "end_4", fault: Fault::Operator },
    Mutation { signal: "too_long_6", fault: Fault::Operator },
    Mutation { signal: "too_long_6", fault: Fault::Zero },
    // The result.
    Mutation { signal: "found_6", fault: Fault::Operator },
    Mutation { signal: "identified_6", fault: Fault::Operator },
    Mutation { signal: "address_low_6", fault: Fault::Operator },
    Mutation { signal: "address_high_6", fault: Fault::Increment },
    Mutation { signal: "unchanged", fault: Fault::Zero },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H2: the corners of what a profile may be: fewest and most streams and receives.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for (connections, streams, receives) in [(2, 2, 2), (4096, 16, 64)] {
            let mut params = Params::load("tiny").unwrap();
            (params.streams, params.receives) = (streams, receives);
            params.connections = connections;
            assert_builds("receive_table", &params);
        }
    }
}
