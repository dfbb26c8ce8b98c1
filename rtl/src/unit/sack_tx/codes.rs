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
    p.stage("codes_9", &result);

    // At distance 6 the result is in its register now, at distance 5 it will be; at distance 4, one clock later.
    let none = b.lit(0, 2 * p.size);
    let passing = b.select(
        "codes_passing",
        &[(&p.get("hit5_3"), &result), (&p.get("hit6_3"), &p.get("codes_9"))],
        &none,
    );
    p.stage("codes_passing_4", &passing);
    let overtaken = (p.get("hit5_3") | p.get("hit6_3")).named("codes_overtaken");
    p.stage(
        "codes_4",
        &b.mux("codes_read", &overtaken, &none, &memory.get("read_data")),
    );
    let earlier = p.get("codes_4") | p.get("codes_passing_4");
    let state = b.mux("codes_now", &p.get("hit4_4"), &result, &earlier);
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

    // Stage 6: the acknowledgement's own bits. Where there is none, no vector bit is set and every position counts as in the window, so that
    // nothing changes.
    let none = b.lit(0, p.size);
    let (accepted, update) = (p.get("accepted_5"), p.get("update_5"));
    p.stage(
        "vector_6",
        &b.mux("vector_used", &accepted, &p.get("vector_5"), &none),
    );
    p.stage("window_6", &b.mux("window_used", &update, &window, &!&none));
    let left = p.interval("left", &accepted, &p.get("base_5"), &p.get("psn_5"));
    let stays = p.interval("stays", &b.lit(1, 1), &p.get("new_base"), &p.get("next_5"));
    let (vector, window, high, low) = (
        p.get("vector_6"),
        p.get("window_6"),
        p.get("high_6"),
        p.get("low_6"),
    );
    p.stage("high_7", &(&vector | &(&window & &high)));
    p.stage("low_7", &(&vector | &(&window & &low)));
    let known = (&window & &(&high & &low)).named("known_6");
    let selected = (&stays & &vector).named("selected_6");
    p.stage("newly_7", &((&left | &selected) & !&known));
    p.stage("first_7", &(&selected & &!&window));
    let open = (&window & &(&stays & &!&vector)).named("open_6");
    p.stage("again_7", &(&open & &p.get("again_6")));
    let at_tail = (&open & &p.get("at_tail_6")).named("open_at_tail_6");
    p.stage(
        "at_tail_7",
        &bits::any_in_groups(b, "at_tail", &at_tail, 1 << p.lane_bits()),
    );

    // Stages 7 and 8: the packet sent again becomes newer.
    b.clocked_when(&p.moves, &p.get("high_8"), &p.get("high_7"));
    p.carry("low", 7, 8);
    let (group, lane) = (p.get("again_group_8"), p.get("again_lane_8"));
    let again: Vec<Signal> = (0..group.width()).map(|g| lane.gated(&group.bit(g))).collect();
    let again = b.concat("sent_again", &again.iter().collect::<Vec<_>>());
    b.drive("low_result", &(p.get("low_8") | again));
}
