//! The codes of `sack_tx`: two bits for each packet of a path below its frontier, read, changed and written back in four clocks.

use super::Pipeline;
use crate::{
    hdl::{Signal, bits},
    unit::memory::ram,
};

/// Stages 2 to 5: the path's codes, and which of them mean something.
pub fn read_codes(p: &Pipeline) {
    let b = &p.b;
    let (high_8, low_result) = (b.register("high_8", p.size), b.forward("low_result", p.size));
    let result = b.concat("codes_result", &[&low_result, &high_8]);
    let memory = b.instance(
        "codes",
        &ram(p.paths, 2 * p.size),
        &[
            ("write_enable", &p.get("valid_8")),
            ("write_address", &p.get("path_8")),
            ("write_data", &result),
            ("read_enable", &p.moves),
            ("read_address", &p.get("path_2")),
        ],
    );
    p.stage("codes_4", &memory.get("read_data"));
    p.stage("codes_9", &result);
    p.carry("codes", 9, 10);

    for hit in ["hit4", "hit5", "hit6"] {
        p.carry(hit, 2, 4);
    }
    let state = b.select(
        "codes_near",
        &[
            (&p.get("hit4_4"), &result),
            (&p.get("hit5_4"), &p.get("codes_9")),
            (&p.get("hit6_4"), &p.get("codes_10")),
        ],
        &p.get("codes_4"),
    );
    p.stage("low_5", &state.truncate(p.size));
    p.stage("high_5", &state.slice(p.size, p.size));
    let window = p.interval("window", &b.lit(1, 1), &p.get("base_3"), &p.get("frontier_3"));
    p.stage("window_5", &window);
}

/// Stages 5 to 9: the codes after the operation, and the packets that it settled.
pub fn advance_codes(p: &Pipeline) {
    let b = &p.b;
    // Stage 5: older becomes pending and newer becomes older, or both become pending.
    let (high, low, window) = (p.get("high_5"), p.get("low_5"), p.get("window_5"));
    let every = |name: &str| p.get(name).sign_extend(p.size);
    let (turn, all_lost) = (every("turn_5"), every("all_lost_5"));
    let acknowledged = (&high & &low).named("acknowledged_5");
    let newer = (!&high & &low).named("newer_5");
    let older = (&high & &!&low).named("older_5");
    let turned_high = b.mux("turned_high", &p.get("turn_5"), &low, &high);
    let turned_low = b.mux("turned_low", &p.get("turn_5"), &acknowledged, &low);
    p.stage(
        "high_6",
        &b.mux("high_turned", &p.get("all_lost_5"), &acknowledged, &turned_high),
    );
    p.stage(
        "low_6",
        &b.mux("low_turned", &p.get("all_lost_5"), &acknowledged, &turned_low),
    );
    p.stage(
        "again_6",
        &((&older & &(&turn | &all_lost)) | (&newer & &all_lost)),
    );
    // What only the tail's loss explains.
    p.stage(
        "at_tail_6",
        &((&newer | &(&older & &!&turn)).gated(&p.get("tail_5"))),
    );
    p.stage("known_6", &(&acknowledged & &window));
    p.carry("window", 5, 6);

    // Stage 6: the acknowledgement's own bits.
    let left = p.interval("left", &p.get("accepted_5"), &p.get("base_5"), &p.get("psn_5"));
    let stays = p.interval("stays", &p.get("accepted_5"), &p.get("psn_5"), &p.get("next_5"));
    let (window, vector) = (p.get("window_6"), p.get("vector_6"));
    let updated_high = &vector | &(&window & &p.get("high_6"));
    let updated_low = &vector | &(&window & &p.get("low_6"));
    let update = p.get("update_6");
    p.stage(
        "high_7",
        &b.mux("updated_high", &update, &updated_high, &p.get("high_6")),
    );
    p.stage(
        "low_7",
        &b.mux("updated_low", &update, &updated_low, &p.get("low_6")),
    );
    p.stage("newly_7", &((&left | &(&stays & &vector)) & !p.get("known_6")));
    let open = (&window & &!(&vector | &left)).named("open_6");
    p.stage("again_7", &(&open & &p.get("again_6")));
    let at_tail = (&open & &p.get("at_tail_6")).named("open_at_tail_6");
    p.stage(
        "at_tail_7",
        &bits::any_in_groups(b, "at_tail", &at_tail, 1 << p.lane_bits()),
    );
    p.stage("fresh_7", &(!(&window | &vector)).gated(&update));
    p.carry("fresh", 7, 8);

    // Stages 7 and 8: the packet sent again becomes newer.
    b.clocked_when(&p.moves, &p.get("high_8"), &p.get("high_7"));
    p.carry("low", 7, 8);
    let (group, lane) = (p.get("again_group_8"), p.get("again_lane_8"));
    let again: Vec<Signal> = (0..group.width()).map(|g| lane.gated(&group.bit(g))).collect();
    let again = b.concat("sent_again", &again.iter().collect::<Vec<_>>());
    b.drive("low_result", &(p.get("low_8") | again));
}
