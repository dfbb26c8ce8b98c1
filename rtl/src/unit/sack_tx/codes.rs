//! The codes of `sack_tx`: two bits for each packet of a path below its frontier, read, changed and written back in four clocks.

use super::Pipeline;
use crate::{
    hdl::{Signal, bits},
    unit::memory::ram,
};

/// Stages 3 to 6: the path's codes, and which of them mean something.
pub fn read_codes(p: &Pipeline) {
    let b = &p.b;
    let (high_8, low_result) = (b.register("high_9", p.size), b.forward("low_result", p.size));
    let result = b.concat("codes_result", &[&low_result, &high_8]);
    let memory = b.instance(
        "codes",
        &ram(p.paths, 2 * p.size),
        &[
            ("write_enable", &p.get("valid_9")),
            ("write_address", &p.get("path_9")),
            ("write_data", &result),
            ("read_enable", &p.moves),
            ("read_address", &p.get("path_3")),
        ],
    );
    p.stage("codes_10", &result);

    // At distance 6 the result is in its register now, at distance 5 it will be; at distance 4, one clock later.
    let none = b.lit(0, 2 * p.size);
    let passing = b.select(
        "codes_passing",
        &[
            (&p.get("hit5_4"), &result),
            (&p.get("hit6_4"), &p.get("codes_10")),
        ],
        &none,
    );
    p.stage("codes_passing_5", &passing);
    let overtaken = (p.get("hit5_4") | p.get("hit6_4")).named("codes_overtaken");
    p.stage(
        "codes_5",
        &b.mux("codes_read", &overtaken, &none, &memory.get("read_data")),
    );
    let earlier = p.get("codes_5") | p.get("codes_passing_5");
    let state = b.mux("codes_now", &p.get("hit4_5"), &result, &earlier);
    p.stage("low_6", &state.truncate(p.size));
    p.stage("high_6", &state.slice(p.size, p.size));
    let window = p.interval("window", &b.lit(1, 1), &p.get("base_4"), &p.get("frontier_4"));
    p.stage("window_6", &window);
}

/// Stages 6 to 10: the codes after the operation, and the packets that it settled.
pub fn advance_codes(p: &Pipeline) {
    let b = &p.b;
    // Stage 6: older becomes pending and newer becomes older, or both become pending.
    let (high, low, window) = (p.get("high_6"), p.get("low_6"), p.get("window_6"));
    let every = |name: &str| p.get(name).sign_extend(p.size);
    let (turn, all_lost) = (every("turn_6"), every("all_lost_6"));
    let acknowledged = (&high & &low).named("acknowledged_6");
    let newer = (!&high & &low).named("newer_6");
    let older = (&high & &!&low).named("older_6");
    let turned_high = b.mux("turned_high", &p.get("turn_6"), &low, &high);
    let turned_low = b.mux("turned_low", &p.get("turn_6"), &acknowledged, &low);
    p.stage(
        "high_7",
        &b.mux("high_turned", &p.get("all_lost_6"), &acknowledged, &turned_high),
    );
    p.stage(
        "low_7",
        &b.mux("low_turned", &p.get("all_lost_6"), &acknowledged, &turned_low),
    );
    p.stage(
        "again_7",
        &((&older & &(&turn | &all_lost)) | (&newer & &all_lost)),
    );
    // What only the tail's loss explains.
    p.stage(
        "at_tail_7",
        &((&newer | &(&older & &!&turn)).gated(&p.get("tail_6"))),
    );

    // Stage 7: the acknowledgement's own bits. Where there is none, no vector bit is set and every position counts as in the window, so that
    // nothing changes.
    let none = b.lit(0, p.size);
    let (accepted, update) = (p.get("accepted_6"), p.get("update_6"));
    p.stage(
        "vector_7",
        &b.mux("vector_used", &accepted, &p.get("vector_6"), &none),
    );
    p.stage("window_7", &b.mux("window_used", &update, &window, &!&none));
    let left = p.interval("left", &accepted, &p.get("old_base_6"), &p.get("base_6"));
    let stays = p.interval("stays", &b.lit(1, 1), &p.get("base_6"), &p.get("next_6"));
    let (vector, window, high, low) = (
        p.get("vector_7"),
        p.get("window_7"),
        p.get("high_7"),
        p.get("low_7"),
    );
    p.stage("high_8", &(&vector | &(&window & &high)));
    p.stage("low_8", &(&vector | &(&window & &low)));
    let known = (&window & &(&high & &low)).named("known_7");
    let selected = (&stays & &vector).named("selected_7");
    p.stage("newly_8", &((&left | &selected) & !&known));
    p.stage("first_8", &(&selected & &!&window));
    let open = (&window & &(&stays & &!&vector)).named("open_7");
    p.stage("again_8", &(&open & &p.get("again_7")));
    let at_tail = (&open & &p.get("at_tail_7")).named("open_at_tail_7");
    p.stage(
        "at_tail_8",
        &bits::any_in_groups(b, "at_tail", &at_tail, 1 << p.lane_bits()),
    );

    // Stages 8 and 9: the packet sent again becomes newer.
    b.clocked_when(&p.moves, &p.get("high_9"), &p.get("high_8"));
    p.carry("low", 8, 9);
    let (group, lane) = (p.get("again_group_9"), p.get("again_lane_9"));
    let again: Vec<Signal> = (0..group.width()).map(|g| lane.gated(&group.bit(g))).collect();
    let again = b.concat("sent_again", &again.iter().collect::<Vec<_>>());
    b.drive("low_result", &(p.get("low_9") | again));
}
