//! `request_table`: the work requests of every stream, cut into packets. Contract: [`metaroce_model::port::request_table`].
//!
//! # What is kept
//! Of a stream: `oldest`; how many requests from it on are *sent* (up to `current`), *unsent* (from there to `posted`), and *held*, which is both; the place of
//! `current` in the ring; the number of the packet that NEXT gives; `receives`. Every message that an operation is about is so many *ahead* of the oldest one,
//! and `posted` and `current` need no numbers of their own. Of a place: the request, and in a memory of its own the number of its last packet, so
//! that NEXT finds out by a comparison whether a packet is the last.
//!
//! # Pipeline
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | operation | stream | last packet | request |
//! |---|---|---|---|---|
//! | 0 | issues | read | | |
//! | 1 | decoded | memory's output | | |
//! | 2 | | raw register | | |
//! | 3 | is there room, or something to send or to release? | **state** | read | |
//! | 4 | how far ahead of the oldest; released already? | | memory's output | |
//! | 5 | message | after the operation, if the packet is the last and if it is not | raw register, compared; written by POST | read, or written by POST |
//! | 6 | status | **result**, written | | memory's output |
//! | 7 | | | | raw register |
//! | 8 | bytes left; lower halves of the addresses | | | |
//! | 9 | upper halves, bytes of the packet; result, enters the output queue | | | |
//!
//! # Hazards
//! - The stream is written six clocks after it was read. From an operation four ahead it is forwarded into the state; from one five or six ahead, into a register
//!   beside the raw one. Whichever of the two is not wanted is zero, so that their OR is what was kept.
//! - A last packet is written two clocks after it could be read, and two operations on one stream are four apart: nothing to do. A request is written and read in
//!   the same stage, so in order.
//!
//! # Reset
//! The sweep writes the result that stage 6 holds: it is zero from reset until the first operation is there.

use super::{axis_register, issue, memory};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        receive_table::NUMBER_BITS,
        request_table::{Inputs, LATENCY, Outputs, SAME_STREAM_CLOCKS, op, status},
        unit_ports,
    },
};
use std::rc::Rc;

/// Bits of an address.
const ADDRESS_BITS: u32 = 64;
/// Bits of a length, an offset, a key, an immediate, an identifier.
const WORD_BITS: u32 = 32;
/// Bits of a message's kind: the upper one tells a Send.
const KIND_BITS: u32 = 2;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "The work requests of each of {} streams, {} at most, and the packets that they are cut into.
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
    let b = Builder::unit("request_table", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    let moves_next = b.forward("moves_next", 1);
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);
    let carry = |name: &str, value: &Signal, stages| b.carry(name, &moves, value, stages);
    let place_bits = index_bits(params.messages);
    let count_bits = place_bits + 1;
    let slot_bits = params.message_slot_bits();
    let packet_bits = params.packet_bits();
    let within_bits = WORD_BITS - packet_bits;

    // Stages 0 and 1: the operation.
    let sweep = issue::sweep(&b, params.total_streams());
    let fields = [
        "op",
        "stream",
        "message",
        "packet",
        "tag",
        "receive",
        "kind",
        "length",
        "local",
        "remote",
        "key",
        "immediate",
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
    let valid = b.carry("valid", &moves, &front.issue, 1..=9);
    let op = carry("op", &front.get("op"), 1..=9);
    let stream = carry("stream", &front.get("stream"), 1..=9);
    let tag = carry("tag", &front.get("tag"), 1..=9);
    let message = carry("message", &front.get("message"), 1..=5);
    let asked = carry("asked", &front.get("packet"), 1..=3);
    let receive = carry("receive", &front.get("receive"), 1..=4);
    let decoded = |name: &str, code: u8, last: u32| {
        let is_it = &front.issue & &front.get("op").is(code.into());
        b.carry(name, &moves, &is_it, 1..=last)
    };
    let post = decoded("post", op::POST, 5);
    let next = decoded("next", op::NEXT, 3);
    let read = decoded("read", op::READ, 4);
    let release = decoded("release", op::RELEASE, 3);
    let init = decoded("init", op::INIT, 5);
    // Another operation on the stream so many stages ahead: what it writes is on its way.
    let [hit4_1, hit5_1, hit6_1] = [4, 5, 6].map(|distance| {
        let same = front.get("stream").eq(stream.at(distance)) & valid.at(distance);
        stage(&format!("hit{distance}_1"), &same)
    });
    let hit4_2 = stage("hit4_2", &hit4_1);

    // Stages 1 to 3: what posting needs. A length that is a multiple of the MTU has its last packet one earlier, but for length 0.
    let length_1 = b.register("length_1", WORD_BITS);
    b.clocked_when(&moves, &length_1, &front.get("length"));
    let whole_packets = length_1.slice(within_bits, packet_bits);
    let even = !length_1.truncate(within_bits).any() & whole_packets.any();
    let even = stage("even_2", &even);
    let whole_packets = stage("whole_packets_2", &whole_packets);
    let last_packet = carry(
        "last_packet",
        &(&whole_packets - &even.extend(packet_bits)),
        3..=5,
    );
    let offered = b.concat(
        "input_request",
        &[
            &front.get("kind"),
            &front.get("length"),
            &front.get("identifier"),
            &front.get("key"),
            &front.get("immediate"),
            &front.get("local"),
            &front.get("remote"),
        ],
    );
    let offered = carry("offered_request", &offered, 1..=5);

    // Stages 1 to 3: the stream.
    let word_bits = 2 * NUMBER_BITS + packet_bits + place_bits + 3 * count_bits;
    let context_6 = b.register("context_6", word_bits);
    let context_7 = stage("context_7", &context_6);
    let write = (&sweep.clearing | valid.at(6)).named("streams_write");
    let address = b.mux("streams_address", &sweep.clearing, &sweep.index, stream.at(6));
    let streams = b.instance(
        "streams",
        &memory::ram(params.total_streams(), word_bits),
        &[
            ("write_enable", &write),
            ("write_address", &address),
            ("write_data", &context_6),
            ("read_enable", &moves),
            ("read_address", &front.get("stream")),
        ],
    );
    let none = b.lit(0, word_bits);
    let overtaken = (&hit5_1 | &hit6_1).named("context_overtaken");
    let kept = b.mux("context_read", &overtaken, &none, &streams.get("read_data"));
    let kept = stage("context_2", &kept);
    let cases = [(&hit5_1, &context_6), (&hit6_1, &context_7)];
    let passing = stage("context_passing_2", &b.select("context_passing", &cases, &none));
    let now = b.mux("context_now", &hit4_2, &context_6, &(&kept | &passing));
    let [oldest, receives, packet, place, sent, unsent, held] = bits::split(
        &stage("context_3", &now),
        [
            ("oldest_3", NUMBER_BITS),
            ("receives_3", NUMBER_BITS),
            ("packet_3", packet_bits),
            ("place_3", place_bits),
            ("sent_3", count_bits),
            ("unsent_3", count_bits),
            ("held_3", count_bits),
        ],
    );

    // Stages 3 and 4: is it done, and for which message? Of a full ring the top bit of `held` is set and no other.
    let flag = |name: &str, value: &Signal| b.stage(name, &moves, value);
    let posts = flag("posts_4", &(post.at(3) & &!held.msb()));
    let nexts = flag("nexts_4", &(next.at(3) & &unsent.any()));
    let releases = flag("releases_4", &(release.at(3) & &sent.any()));
    let behind = (message.at(3).truncate(slot_bits) - oldest.truncate(slot_bits)).named("behind_3");
    let cases = [
        (post.at(3), &held.extend(slot_bits)),
        (next.at(3), &sent.extend(slot_bits)),
        (read.at(3), &behind),
    ];
    let ahead = stage("ahead_4", &b.select("ahead_3", &cases, &behind.lit(0)));
    let about = carry(
        "packet_about",
        &b.mux("packet_about_3", next.at(3), &packet, asked.at(3)),
        4..=8,
    );
    let oldest = stage("oldest_4", &oldest);
    let receives = carry("receives", &receives, 4..=5);
    let packet = carry("packet", &packet, 4..=5);
    let place_4 = stage("place_4", &place);
    let sent = stage("sent_4", &sent);
    let unsent = stage("unsent_4", &unsent);
    let held = stage("held_4", &held);

    // Stages 4 and 5: the stream after the operation, if the packet is its message's last and if it is not.
    let there = (read.at(4) & &ahead.lt(&held.extend(slot_bits))).named("there_4");
    let number = stage("number_5", &(&oldest + &ahead.extend(NUMBER_BITS)));
    let sends = (&posts & &offered.at(4).bit(KIND_BITS - 1)).named("sends_4");
    let anew = |name: &str, first: &Signal, later: &Signal| {
        stage(
            &format!("{name}_5"),
            &b.mux(&format!("{name}_new"), init.at(4), first, later),
        )
    };
    let zero = |name: &str, later: &Signal| anew(name, &later.lit(0), later);
    let one = |flag: &Signal| flag.extend(count_bits);
    let new_oldest = (&oldest + &releases.extend(NUMBER_BITS)).named("oldest_after");
    let new_oldest = anew("oldest", message.at(4), &new_oldest);
    let new_receives = (receives.at(4) + &sends.extend(NUMBER_BITS)).named("receives_after");
    let new_receives = anew("receives_next", receive.at(4), &new_receives);
    let step = b.concat(
        "held_step",
        &[&(&posts | &releases), &releases.sign_extend(place_bits)],
    );
    let new_held = zero("held", &(&held + &step).named("held_after"));
    let first_place = message.at(4).truncate(place_bits);
    let place_5 = anew("place", &first_place, &place_4);
    let sent_after = (&sent - &one(&releases)).named("sent_after");
    let sent_5 = zero("sent", &sent_after);
    let unsent_after = (&unsent + &one(&posts)).named("unsent_after");
    let unsent_5 = zero("unsent", &unsent_after);
    let packet_after = (packet.at(4) + &nexts.extend(packet_bits)).named("packet_after");
    let packet_5 = zero("packet_next", &packet_after);
    let ends = |name: &str, after: &Signal| zero(&format!("{name}_last"), after);
    let place_last_5 = anew(
        "place_last",
        &first_place,
        &(&place_4 + &nexts.extend(place_bits)),
    );
    let sent_last_5 = ends("sent", &(&sent_after + &one(&nexts)));
    let unsent_last_5 = ends("unsent", &(&unsent_after - &one(&nexts)));
    let packet_last_5 = ends("packet", &packet.at(4).gated(&!&nexts));

    // Stages 3 to 6: is the packet its message's last? The stream after the operation.
    let posts_5 = flag("posts_5", &posts);
    let address = |place: &Signal, stream: &Signal, name: &str| b.concat(name, &[place, stream]);
    let place_written = number.truncate(place_bits).named("number_place_5");
    let request_address = address(&place_written, stream.at(5), "request_address_5");
    let entries = params.total_streams() * params.messages;
    let last_packets = b.instance(
        "last_packets",
        &memory::ram(entries, packet_bits),
        &[
            ("write_enable", &posts_5),
            ("write_address", &request_address),
            ("write_data", last_packet.at(5)),
            ("read_enable", &moves),
            (
                "read_address",
                &address(&place, stream.at(3), "current_address_3"),
            ),
        ],
    );
    let last_of_current = stage("last_of_current_5", &last_packets.get("read_data"));
    let is_last = packet.at(5).eq(&last_of_current).named("is_last_5");
    let if_last = b.concat(
        "context_if_last",
        &[
            &new_oldest,
            &new_receives,
            &packet_last_5,
            &place_last_5,
            &sent_last_5,
            &unsent_last_5,
            &new_held,
        ],
    );
    let if_not = b.concat(
        "context_if_not_last",
        &[
            &new_oldest,
            &new_receives,
            &packet_5,
            &place_5,
            &sent_5,
            &unsent_5,
            &new_held,
        ],
    );
    let loads = (&moves & valid.at(5)).named("context_loads");
    let after = b.mux("context_after", &is_last, &if_last, &if_not);
    b.clocked_when(&loads, &context_6, &after);
    let left_unsent = context_6.slice(word_bits - 2 * count_bits, count_bits).any();
    let left_unsent = carry("left_unsent", &left_unsent, 7..=9);

    // Stages 4 to 9: how it ends.
    let packets = b.carry("gives_packet", &moves, &(&nexts | &there), 5..=8);
    let told = b.carry("released", &moves, &releases, 5..=7);
    let done = ((&posts_5 | packets.at(5)) | told.at(5)).named("done_5");
    let about_message = b.select(
        "message_5_about",
        &[(init.at(5), message.at(5)), (&done, &number)],
        &b.lit(0, NUMBER_BITS),
    );
    let about_message = carry("message_about", &about_message, 6..=9);
    let code = |code: u8| b.lit(code.into(), 2);
    let verdict = b.select(
        "verdict",
        &[
            (&(&done | init.at(5)), &code(status::DONE)),
            (post.at(5), &code(status::REFUSED)),
        ],
        &code(status::NONE),
    );
    let status = carry("status", &verdict, 6..=9);

    // Stages 5 to 7: the request.
    let entry = b.concat("posted_request", &[offered.at(5), receives.at(5)]);
    let requests = b.instance(
        "requests",
        &memory::ram(entries, entry.width()),
        &[
            ("write_enable", &posts_5),
            ("write_address", &request_address),
            ("write_data", &entry),
            ("read_enable", &moves),
            ("read_address", &request_address),
        ],
    );
    let [kind, length, identifier, key, immediate, local, remote, receive] = bits::split(
        &stage("request_7", &requests.get("read_data")),
        [
            ("kind_7", KIND_BITS),
            ("length_7", WORD_BITS),
            ("identifier_7", WORD_BITS),
            ("key_7", WORD_BITS),
            ("immediate_7", WORD_BITS),
            ("local_7", ADDRESS_BITS),
            ("remote_7", ADDRESS_BITS),
            ("receive_7", NUMBER_BITS),
        ],
    );

    // Stages 7 to 9: the packet. Its offset is its number and zeros below.
    let named = (packets.at(7) | told.at(7)).named("named_7");
    let fixed = b.concat("named_request_7", &[&kind, &length, &identifier]);
    let fixed = carry("named_request", &fixed.gated(&named), 8..=9);
    let [kind_9, length_9, identifier_9] = bits::split(
        fixed.at(9),
        [
            ("kind_9", KIND_BITS),
            ("length_9", WORD_BITS),
            ("identifier_9", WORD_BITS),
        ],
    );
    let rest = b.concat("packet_request_7", &[&key, &immediate, &receive]);
    let rest = carry("packet_request", &rest.gated(packets.at(7)), 8..=9);
    let [key_9, immediate_9, receive_9] = bits::split(
        rest.at(9),
        [
            ("key_9", WORD_BITS),
            ("immediate_9", WORD_BITS),
            ("receive_9", NUMBER_BITS),
        ],
    );
    let is_packet = packets.at(8);
    let offset = stage("offset_9", &about.at(8).gated(is_packet));
    let offset = b.concat("offset_bytes_9", &[&b.lit(0, within_bits), &offset]);

    let length_packets = length.slice(within_bits, packet_bits);
    let packets_left = stage("packets_left_8", &(&length_packets - about.at(7)));
    let rest = stage("rest_8", &length.truncate(within_bits));
    let no_rest = stage("no_rest_8", &!length.truncate(within_bits).any());
    let full = packets_left.any().named("full_8");
    let one_left = packets_left.is(1).named("one_left_8");
    let last = (!&full | (&one_left & &no_rest)).named("last_8");
    let last = stage("last_9", &(&last & is_packet));
    let part = (!&full & is_packet).named("part_8");
    let bytes = b.concat("bytes_8", &[&rest.gated(&part), &(&full & is_packet)]);
    let bytes = stage("bytes_9", &bytes);

    let address_sum = |name: &str, base: &Signal| {
        let low = stage(&format!("{name}_within_8"), &base.truncate(within_bits));
        let sum_bits = packet_bits + 1;
        let middle = base.slice(within_bits, packet_bits).extend(sum_bits);
        let middle = stage(
            &format!("{name}_middle_8"),
            &(&middle + &about.at(7).extend(sum_bits)),
        );
        let high = base.slice(WORD_BITS, ADDRESS_BITS - WORD_BITS);
        let high = stage(&format!("{name}_high_8"), &high);
        let carried = (&high + &middle.msb().extend(high.width())).named(&format!("{name}_carried_8"));
        let sum = b.concat(
            &format!("{name}_sum_8"),
            &[&low, &middle.truncate(packet_bits), &carried],
        );
        stage(&format!("{name}_9"), &sum.gated(is_packet))
    };
    let local = address_sum("local", &local);
    let remote = address_sum("remote", &remote);

    let has_room = axis_register::output_queue(
        &b,
        "m_axis_result",
        valid.at(9),
        &[
            ("op", op.at(9)),
            ("stream", stream.at(9)),
            ("tag", tag.at(9)),
            ("status", status.at(9)),
            ("unsent", left_unsent.at(9)),
            ("message", about_message.at(9)),
            ("kind", &kind_9),
            ("message_length", &length_9),
            ("offset", &offset),
            ("bytes", &bytes),
            ("last", &last),
            ("immediate", &immediate_9),
            ("key", &key_9),
            ("receive", &receive_9),
            ("local", &local),
            ("remote", &remote),
            ("identifier", &identifier_9),
        ],
    );
    b.drive("moves", &has_room);
    let room_next = axis_register::room_next(&b, "m_axis_result", valid.at(9), &has_room);
    b.drive("moves_next", &room_next);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 52] = [
    // Spacing, stalls and the sweep.
    Mutation { signal: "offered_waits_1", fault: Fault::Zero },
    Mutation { signal: "input_ready", fault: Fault::Operator },
    Mutation { signal: "sweep_index", fault: Fault::Increment },
    Mutation { signal: "context_2", fault: Fault::Enable },
    Mutation { signal: "last_of_current_5", fault: Fault::Enable },
    Mutation { signal: "request_7", fault: Fault::Enable },
    Mutation { signal: "streams_address", fault: Fault::Invert },
    Mutation { signal: "streams_write", fault: Fault::Operator },
    Mutation { signal: "context_loads", fault: Fault::Operator },
    // What is on its way.
    Mutation { signal: "hit4_1", fault: Fault::Zero },
    Mutation { signal: "hit4_2", fault: Fault::Zero },
    Mutation { signal: "hit5_1", fault: Fault::Zero },
    Mutation { signal: "hit6_1", fault: Fault::Zero },
    Mutation { signal: "context_overtaken", fault: Fault::Operator },
    // Is it done, and for which message?
    Mutation { signal: "posts_4", fault: Fault::Operator },
    Mutation { signal: "nexts_4", fault: Fault::Operator },
    Mutation { signal: "releases_4", fault: Fault::Operator },
    Mutation { signal: "behind_3", fault: Fault::Operator },
    Mutation { signal: "ahead_3", fault: Fault::Increment },
    Mutation { signal: "packet_about_3", fault: Fault::Increment },
    Mutation { signal: "there_4", fault: Fault::Operator },
    Mutation { signal: "number_5", fault: Fault::Operator },
    Mutation { signal: "message_5_about", fault: Fault::Decrement },
    Mutation { signal: "done_5", fault: Fault::Operator },
    Mutation { signal: "verdict", fault: Fault::Increment },
    // The stream after the operation.
    Mutation { signal: "sends_4", fault: Fault::Operator },
    Mutation { signal: "oldest_after", fault: Fault::Operator },
    Mutation { signal: "oldest_new", fault: Fault::Zero },
    Mutation { signal: "receives_next_new", fault: Fault::Increment },
    Mutation { signal: "held_after", fault: Fault::Operator },
    Mutation { signal: "held_new", fault: Fault::Decrement },
    Mutation { signal: "sent_after", fault: Fault::Operator },
    Mutation { signal: "unsent_after", fault: Fault::Operator },
    Mutation { signal: "packet_after", fault: Fault::Operator },
    Mutation { signal: "place_new", fault: Fault::Increment },
    Mutation { signal: "place_last_new", fault: Fault::Zero },
    Mutation { signal: "sent_last_new", fault: Fault::Increment },
    Mutation { signal: "unsent_last_new", fault: Fault::Decrement },
    Mutation { signal: "packet_last_5", fault: Fault::Increment },
    Mutation { signal: "is_last_5", fault: Fault::Zero },
    // The request.
    Mutation { signal: "even_2", fault: Fault::Operator },
    Mutation { signal: "last_packet_3", fault: Fault::Operator },
    Mutation { signal: "posts_5", fault: Fault::Zero },
    Mutation { signal: "offered_request_5", fault: Fault::Increment },
    Mutation { signal: "named_7", fault: Fault::Operator },
    // The packet.
    Mutation { signal: "packets_left_8", fault: Fault::Operator },
    Mutation { signal: "no_rest_8", fault: Fault::Zero },
    Mutation { signal: "one_left_8", fault: Fault::Operator },
    Mutation { signal: "last_8", fault: Fault::Operator },
    Mutation { signal: "part_8", fault: Fault::Operator },
    Mutation { signal: "local_middle_8", fault: Fault::Operator },
    Mutation { signal: "remote_carried_8", fault: Fault::Zero },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H2: the corners of what a profile may be: fewest and most streams and messages, shortest and longest packets.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for (connections, streams, messages, mtu_bytes) in [(2, 2, 2, 64), (4096, 16, 64, 8192)] {
            let mut params = Params::load("tiny").unwrap();
            (params.streams, params.messages) = (streams, messages);
            (params.connections, params.mtu_bytes) = (connections, mtu_bytes);
            assert_builds("request_table", &params);
        }
    }
}
