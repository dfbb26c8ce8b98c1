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
    let advances = (p.get("accepted_5") & p.get("past_frontier_5")).named("advances");
    let start = b.mux("start", &advances, &p.near(&p.get("psn_5")), &p.get("frontier_5"));
    p.stage("start_6", &start);
    p.carry("start", 6, 7);
    p.stage("start_8", &p.limit(&p.get("start_7")));

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

/// Stages 6 to 10: the pending packet nearest to `base`, as a group and a lane.
///
/// The order is: the lanes from `base` on in its own group, the groups after it, the groups before it, the rest of its own.
pub fn search_pending(p: &Pipeline) {
    let b = &p.b;
    let base_5 = p.get("base_5");
    p.stage("base_group_6", &bits::decode(b, "base_group", &p.group(&base_5)));
    p.stage(
        "base_groups_6",
        &bits::from_index(b, "base_groups", &p.group(&base_5)),
    );
    p.stage(
        "base_lanes_6",
        &bits::from_index(b, "base_lanes", &p.lane(&base_5)),
    );
    for name in ["base_group", "base_groups"] {
        p.carry(name, 6, 7);
    }
    p.carry("base_lanes", 6, 8);

    let pending = (p.get("window_6") & !(p.get("high_6") | p.get("low_6"))).named("pending_6");
    let lanes = 1 << p.lane_bits();
    p.carry("pending", 6, 8);
    p.stage(
        "pending_quarters_7",
        &bits::any_in_groups(b, "pending_quarters", &pending, p.size / 4),
    );
    p.stage(
        "pending_groups_7",
        &bits::any_in_groups(b, "pending_groups", &pending, lanes),
    );
    p.stage(
        "pending_at_base_7",
        &bits::select_group(b, "pending_at_base", &pending, &p.get("base_group_6")),
    );

    let (groups, base_group, from_base) = (
        p.get("pending_groups_7"),
        p.get("base_group_7"),
        p.get("base_groups_7"),
    );
    let (at_base, from_lane) = (p.get("pending_at_base_7"), p.get("base_lanes_7"));
    let order = b.concat(
        "order",
        &[
            &(&at_base & &from_lane).any(),
            &(&groups & &(&from_base & &!&base_group)),
            &(&groups & &!&from_base),
            &(&at_base & &!&from_lane).any(),
        ],
    );
    let nearest = lowest_set(&order).named("nearest");
    let count = groups.width();
    let (own, own_again) = (nearest.bit(0), nearest.msb());
    let other = nearest.slice(1, count) | nearest.slice(1 + count, count);
    p.stage(
        "nearest_group_8",
        &(other | base_group.gated(&(&own | &own_again))),
    );
    p.stage("own_8", &own);

    // When its own group comes last, nothing is pending from the base on.
    let from_lane = p.get("base_lanes_8");
    let allowed = b.mux(
        "allowed_lanes",
        &p.get("own_8"),
        &from_lane,
        &from_lane.lit((1 << lanes) - 1),
    );
    let chosen = bits::select_group(b, "nearest_lanes", &p.get("pending_8"), &p.get("nearest_group_8"));
    p.stage("nearest_lanes_9", &(chosen & allowed));
    p.stage(
        "again_group_9",
        &p.get("nearest_group_8").gated(&p.get("retransmit_8")),
    );
    lowest_set(&p.get("nearest_lanes_9")).named("again_lane_9");
    let lane = bits::encode(b, "again_lane_index", &p.get("again_lane_9"));
    let group = bits::encode(b, "again_group_index", &p.get("again_group_9"));
    p.stage("position_10", &b.concat("position", &[&lane, &group]));
    p.carry("position", 10, LAST - 1);

    let some = p.get("pending_quarters_7").any();
    let found = (p.get("retransmit_7") & some).named("found_7");
    p.carry("found", 7, LAST - 1);
    let nothing = (p.get("retransmit_7") & !found).named("nothing_to_send_again");
    let none = b.lit(status::NONE.into(), 2);
    p.stage(
        "status_8",
        &b.mux("final_status", &nothing, &none, &p.get("status_7")),
    );
    p.carry("status", 8, LAST);
}

/// The lowest set bit alone; zero when there is none. By a carry chain: for more bits than a tree of LUTs is good for.
fn lowest_set(bits: &Signal) -> Signal {
    bits & &(!bits + bits.lit(1))
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
