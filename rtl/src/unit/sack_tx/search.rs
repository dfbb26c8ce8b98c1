//! The two searches of `sack_tx`, each through groups first and then through the lanes of one: the highest PSN that a vector acknowledges, and the
//! pending PSN nearest to the base.

use super::{LAST, Pipeline};
use crate::hdl::{Builder, Signal, bits};
use metaroce_model::port::sack_tx::status;

/// Stages 1 and 2: for each group of vector bits, whether one is set and which is the highest.
pub fn summarise_vector(p: &Pipeline) {
    let b = &p.b;
    let psn_0 = p.get("psn_0");
    p.stage(
        "psn_groups_1",
        &bits::from_index(b, "psn_groups", &p.group(&psn_0)),
    );
    p.carry("psn_groups", 1, 4);

    let summaries: Vec<(Signal, Signal)> = bits::groups(&p.get("vector_1"), 1 << p.lane_bits())
        .zip(0..)
        .map(|(group, number)| last_set(b, &format!("last_lane_{number}"), &group))
        .collect();
    let (any, lane): (Vec<&Signal>, Vec<&Signal>) = summaries.iter().map(|(any, lane)| (any, lane)).unzip();
    p.stage("vector_any_2", &b.concat("vector_any", &any));
    p.carry("vector_any", 2, 4);
    p.stage("vector_last_2", &b.concat("vector_last", &lane));
    p.carry("vector_last", 2, 6);
}

/// Stages 3 to 7: the highest PSN below `next` that the vector acknowledges.
///
/// It is in the group of `next`, among the lanes below it; or else the last of a group between that of the cumulative PSN and that of
/// `next`, where groups after the PSN's come first and those before it, a lap later, come last. Bits below the cumulative PSN in its own group
/// need no mask: whatever is found there is before the start, so it moves no frontier.
pub fn search_vector(p: &Pipeline) {
    let b = &p.b;
    let (psn, next) = (p.get("psn_3"), p.get("next_3"));
    p.stage(
        "laps_4",
        &(psn.bit(p.position_bits()) ^ next.bit(p.position_bits())),
    );
    p.stage("next_group_4", &bits::decode(b, "next_group", &p.group(&next)));
    p.stage(
        "below_next_4",
        &!bits::from_index(b, "next_groups", &p.group(&next)),
    );
    p.stage(
        "next_lanes_4",
        &!bits::from_index(b, "next_lanes", &p.lane(&next)),
    );

    let (any, from_psn, below_next) = (
        p.get("vector_any_4"),
        p.get("psn_groups_4"),
        p.get("below_next_4"),
    );
    let laps = p.get("laps_4").sign_extend(any.width());
    let first_lap = &any & &(&from_psn & &(&below_next | &laps));
    let second_lap = &any & &(!&from_psn & (&below_next & &laps));
    p.stage(
        "candidates_5",
        &b.concat("candidates", &[&first_lap, &second_lap]),
    );
    let at_next = bits::select_group(b, "at_next", &p.get("vector_4"), &p.get("next_group_4"));
    p.stage("at_next_5", &(at_next & p.get("next_lanes_4")));

    let (at_next_any, at_next_last) = last_set(b, "at_next_last", &p.get("at_next_5"));
    p.stage("at_next_any_6", &at_next_any);
    p.stage("at_next_last_6", &at_next_last);
    let (group_any, group_last) = last_set(b, "group_last", &p.get("candidates_5"));
    p.stage("group_any_6", &group_any);
    p.stage("group_last_6", &group_last);
    // Two bits above the position make a PSN of it that can be compared. After an acknowledgement `base` is its cumulative PSN.
    let lap = |psn: &str| p.get(psn).slice(p.position_bits(), 2);
    let group = p.get("group_last_6");
    let group_bits = group.width() - 1;
    let chosen = bits::decode(b, "group_chosen", &group.truncate(group_bits));
    let lane = bits::select_group(b, "group_lane", &p.get("vector_last_6"), &chosen);
    let psn_lap = lap("base_6") + group.msb().extend(2);
    let in_group = b.concat("last_in_group", &[&lane, &group.truncate(group_bits), &psn_lap]);
    let next_6 = p.get("next_6");
    let at_next = b.concat(
        "last_at_next",
        &[&p.get("at_next_last_6"), &p.group(&next_6), &lap("next_6")],
    );
    p.stage(
        "last_7",
        &b.mux("last", &p.get("at_next_any_6"), &at_next, &in_group),
    );
    p.stage("last_any_7", &(p.get("at_next_any_6") | p.get("group_any_6")));
}

/// Stages 7 to 11: the pending packet nearest to `base`, as a group and a lane.
///
/// The order is: the lanes from `base` on in its own group, the groups after it, the groups before it, the rest of its own. Each group's
/// first pending packet is found beside the search for the group; only of base's own group is it another, with packets from `base` on.
pub fn search_pending(p: &Pipeline) {
    let b = &p.b;
    let base_5 = p.get("base_6");
    p.stage("base_group_7", &bits::decode(b, "base_group", &p.group(&base_5)));
    p.stage(
        "base_groups_7",
        &bits::from_index(b, "base_groups", &p.group(&base_5)),
    );
    p.stage(
        "base_lanes_7",
        &bits::from_index(b, "base_lanes", &p.lane(&base_5)),
    );
    p.carry("base_group", 7, 9);
    p.carry("base_groups", 7, 8);
    p.carry("base_lanes", 7, 8);

    let pending = (p.get("window_7") & !(p.get("high_7") | p.get("low_7"))).named("pending_7");
    let lanes = 1 << p.lane_bits();
    p.carry("pending", 7, 8);
    p.stage(
        "pending_quarters_8",
        &bits::any_in_groups(b, "pending_quarters", &pending, p.size / 4),
    );
    p.stage(
        "pending_groups_8",
        &bits::any_in_groups(b, "pending_groups", &pending, lanes),
    );
    p.stage(
        "pending_at_base_8",
        &bits::select_group(b, "pending_at_base", &pending, &p.get("base_group_7")),
    );

    // Stage 8: base's own group, and the nearest of the others.
    let (at_base, from_lane) = (p.get("pending_at_base_8"), p.get("base_lanes_8"));
    let from_base = (&at_base & &from_lane).named("pending_from_base");
    let own_first = bits::first_set(b, "own_first", &from_base);
    let own_rest = bits::first_set(b, "own_rest", &at_base);
    p.stage(
        "own_lane_9",
        &b.mux("own_lane", &from_base.any(), &own_first, &own_rest),
    );
    let others = (p.get("pending_groups_8") & !p.get("base_group_8")).named("other_groups");
    p.stage("own_9", &(from_base.any() | !others.any()));
    let after_base = p.get("base_groups_8");
    let after = (&others & &after_base).named("groups_after");
    let before = (&others & &!&after_base).named("groups_before");
    let first_after = bits::first_set(b, "first_after", &after);
    let first_before = bits::first_set(b, "first_before", &before);
    p.stage(
        "other_group_9",
        &b.mux("other_group", &after.any(), &first_after, &first_before),
    );
    let firsts: Vec<Signal> = bits::groups(&p.get("pending_8"), lanes)
        .zip(0..)
        .map(|(group, number)| bits::first_set(b, &format!("first_in_group_{number}"), &group))
        .collect();
    p.stage(
        "firsts_9",
        &b.concat("firsts_in_groups", &firsts.iter().collect::<Vec<_>>()),
    );

    // Stage 9: one of the two, as the code's update takes it.
    let (own, group) = (p.get("own_9"), p.get("other_group_9"));
    let lane = bits::select_group(b, "other_lane", &p.get("firsts_9"), &group);
    p.stage(
        "again_lane_10",
        &b.mux("nearest_lane", &own, &p.get("own_lane_9"), &lane),
    );
    let group = b.mux("nearest_group", &own, &p.get("base_group_9"), &group);
    p.stage("again_group_10", &group.gated(&p.get("retransmit_9")));
    let lane = bits::encode(b, "again_lane_index", &p.get("again_lane_10"));
    let group = bits::encode(b, "again_group_index", &p.get("again_group_10"));
    p.stage("position_11", &b.concat("position", &[&lane, &group]));
    p.carry("position", 11, LAST - 1);

    let some = p.get("pending_quarters_8").any();
    let found = (p.get("retransmit_8") & some).named("found_8");
    p.carry("found", 8, LAST - 1);
    let nothing = (p.get("retransmit_8") & !found).named("nothing_to_send_again");
    let none = b.lit(status::NONE.into(), 2);
    p.stage(
        "status_9",
        &b.mux("final_status", &nothing, &none, &p.get("status_8")),
    );
    p.carry("status", 9, LAST);
}

/// Whether some bit is set, and the position of the highest, 0 when there is none; `name` is the position's.
fn last_set(b: &Builder, name: &str, bits: &Signal) -> (Signal, Signal) {
    let bits = bits.named(&format!("{name}_of"));
    let position = last_position(&bits, 0, bits.width());
    let position = b.concat(name, &position.iter().collect::<Vec<_>>());
    (bits.any(), position)
}

/// The bits of the highest set bit's position among `width` (a power of two) from `low` on, lowest first.
fn last_position(bits: &Signal, low: u32, width: u32) -> Vec<Signal> {
    if width == 1 {
        return Vec::new();
    }
    let half = width / 2;
    let in_upper = bits.slice(low + half, half).any();
    let lower = last_position(bits, low, half);
    let upper = last_position(bits, low + half, half);
    let mut position: Vec<Signal> = lower
        .iter()
        .zip(&upper)
        .map(|(lower, upper)| upper | &(lower & &!&in_upper))
        .collect();
    position.push(in_upper);
    position
}
