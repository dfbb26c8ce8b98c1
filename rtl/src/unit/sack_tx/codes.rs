//! The codes of `sack_tx`: two bits for each packet of a path below its frontier, read, changed and written back in four clocks.

use super::Pipeline;
use crate::{
    hdl::{Signal, bits},
    unit::memory::ram,
};

/// Stages 4 to 7: the path's codes, and which of them mean something.
pub fn read_codes(p: &Pipeline) {
    let b = &p.b;
    let (high_8, low_result) = (b.register("high_10", p.size), b.forward("low_result", p.size));
    let result = b.concat("codes_result", &[&low_result, &high_8]);
    let memory = b.instance(
        "codes",
        &ram(p.paths, 2 * p.size),
        &[
            ("write_enable", &p.get("valid_10")),
            ("write_address", &p.get("path_10")),
            ("write_data", &result),
            ("read_enable", &p.moves),
            ("read_address", &p.get("path_4")),
        ],
    );
    p.stage("codes_11", &result);

    // At distance 6 the result is in its register now, at distance 5 it will be; at distance 4, one clock later.
    let none = b.lit(0, 2 * p.size);
    let passing = b.select(
        "codes_passing",
        &[
            (&p.get("hit5_5"), &result),
            (&p.get("hit6_5"), &p.get("codes_11")),
        ],
        &none,
    );
    p.stage("codes_passing_6", &passing);
    let overtaken = (p.get("hit5_5") | p.get("hit6_5")).named("codes_overtaken");
    p.stage(
        "codes_6",
        &b.mux("codes_read", &overtaken, &none, &memory.get("read_data")),
    );
    let earlier = p.get("codes_6") | p.get("codes_passing_6");
    let state = b.mux("codes_now", &p.get("hit4_6"), &result, &earlier);
    p.stage("low_7", &state.truncate(p.size));
    p.stage("high_7", &state.slice(p.size, p.size));
    let window = p.interval("window", &b.lit(1, 1), &p.get("base_5"), &p.get("frontier_5"));
    p.stage("window_7", &window);
}

/// Stages 7 to 11: the codes after the operation, and the packets that it settled.
pub fn advance_codes(p: &Pipeline) {
    let b = &p.b;
    // Stage 7: older becomes pending and newer becomes older, or both become pending.
    let (high, low, window) = (p.get("high_7"), p.get("low_7"), p.get("window_7"));
    let every = |name: &str| p.get(name).sign_extend(p.size);
    let (turn, all_lost) = (every("turn_7"), every("all_lost_7"));
    let acknowledged = (&high & &low).named("acknowledged_7");
    let newer = (!&high & &low).named("newer_7");
    let older = (&high & &!&low).named("older_7");
    let turned_high = b.mux("turned_high", &p.get("turn_7"), &low, &high);
    let turned_low = b.mux("turned_low", &p.get("turn_7"), &acknowledged, &low);
    p.stage(
        "high_8",
        &b.mux("high_turned", &p.get("all_lost_7"), &acknowledged, &turned_high),
    );
    p.stage(
        "low_8",
        &b.mux("low_turned", &p.get("all_lost_7"), &acknowledged, &turned_low),
    );
    p.stage(
        "again_8",
        &((&older & &(&turn | &all_lost)) | (&newer & &all_lost)),
    );
    // What only the tail's loss explains.
    p.stage(
        "at_tail_8",
        &((&newer | &(&older & &!&turn)).gated(&p.get("tail_7"))),
    );

    // Stage 8: the acknowledgement's own bits. Where there is none, no vector bit is set and every position counts as in the window, so that
    // nothing changes.
    let none = b.lit(0, p.size);
    let (accepted, update) = (p.get("accepted_7"), p.get("update_7"));
    p.stage(
        "vector_8",
        &b.mux("vector_used", &accepted, &p.get("vector_7"), &none),
    );
    p.stage("window_8", &b.mux("window_used", &update, &window, &!&none));
    let left = p.interval("left", &accepted, &p.get("old_base_7"), &p.get("base_7"));
    let stays = p.interval("stays", &b.lit(1, 1), &p.get("base_7"), &p.get("next_7"));
    let (vector, window, high, low) = (
        p.get("vector_8"),
        p.get("window_8"),
        p.get("high_8"),
        p.get("low_8"),
    );
    p.stage("high_9", &(&vector | &(&window & &high)));
    p.stage("low_9", &(&vector | &(&window & &low)));
    let known = (&window & &(&high & &low)).named("known_8");
    let selected = (&stays & &vector).named("selected_8");
    p.stage("newly_9", &((&left | &selected) & !&known));
    p.stage("first_9", &(&selected & &!&window));
    let open = (&window & &(&stays & &!&vector)).named("open_8");
    p.stage("again_9", &(&open & &p.get("again_8")));
    let at_tail = (&open & &p.get("at_tail_8")).named("open_at_tail_8");
    p.stage("at_tail_9", &bits::any_in_groups(b, "at_tail", &at_tail, 4));

    // Stages 9 and 10: the packet sent again becomes newer.
    b.clocked_when(&p.moves, &p.get("high_10"), &p.get("high_9"));
    p.carry("low", 9, 10);
    let (group, lane) = (p.get("again_group_10"), p.get("again_lane_10"));
    let again: Vec<Signal> = (0..group.width()).map(|g| lane.gated(&group.bit(g))).collect();
    let again = b.concat("sent_again", &again.iter().collect::<Vec<_>>());
    b.drive("low_result", &(p.get("low_10") | again));
}
