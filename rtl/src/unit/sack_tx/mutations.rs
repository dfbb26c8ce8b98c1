//! Lines of `sack_tx` that the lockstep breaks, part by part.

use crate::hdl::mutate::{
    Fault::{self, Decrement, Enable, Increment, Invert, Operator, Zero},
    Mutation,
};

const fn line(signal: &'static str, fault: Fault) -> Mutation {
    Mutation { signal, fault }
}

/// Broken lines that the lockstep must find.
pub const MUTATIONS: [Mutation; 70] = [
    // Results on their way, at each distance: of the PSNs, of the progress, of the codes.
    line("hit4_2", Zero),
    line("hit4_4", Zero),
    line("hit4_6", Zero),
    line("hit5_1", Zero),
    line("hit5_3", Zero),
    line("hit6_1", Zero),
    line("hit6_3", Zero),
    line("hit7_1", Zero),
    line("hit7_3", Zero),
    line("hit5_5", Zero),
    line("hit6_5", Zero),
    line("psns_overtaken_1", Zero),
    line("progress_overtaken_3", Zero),
    line("codes_overtaken", Zero),
    line("hit4_0", Operator),
    // Stalls.
    line("valid_5", Enable),
    line("psns_8", Enable),
    line("progress_10", Enable),
    line("codes_11", Enable),
    line("psns_arrives", Operator),
    line("progress_arrives", Operator),
    // Memories and the clear after reset.
    line("psns_write", Operator),
    line("progress_write", Operator),
    line("psns_address", Invert),
    line("progress_address", Invert),
    // Verdicts.
    line("full_4", Zero),
    line("stale_4", Operator),
    line("beyond_4", Zero),
    line("refused", Zero),
    line("stale", Zero),
    line("reserved_0", Operator),
    line("nothing_to_send_again", Zero),
    line("sent_5", Zero),
    // Context.
    line("rebase", Operator),
    line("new_next", Increment),
    line("remark", Zero),
    line("mark_anew", Operator),
    line("rises_5", Zero),
    line("mark_reached_6", Operator),
    line("last_reached_6", Invert),
    line("touch", Operator),
    line("new_probe_sent", Decrement),
    line("probe_out_8", Zero),
    line("probe_answered_7", Zero),
    line("all_lost_7", Zero),
    // The highest PSN acknowledged, and the frontier.
    line("laps_4", Invert),
    line("at_next_any_6", Zero),
    line("below_next_4", Zero),
    line("next_lanes_4", Zero),
    line("advances", Zero),
    line("past_last_8", Decrement),
    line("last_is_past_start", Zero),
    line("follows_8", Zero),
    line("frontier_settles", Operator),
    // Codes.
    line("turned_high", Zero),
    line("again_8", Operator),
    line("window_used", Zero),
    line("vector_used", Zero),
    line("known_8", Zero),
    line("old_base_6", Zero),
    line("open_8", Operator),
    line("high_9", Operator),
    // The pending PSN nearest to base.
    line("own_9", Operator),
    line("nearest_lane", Invert),
    line("wraps_12", Zero),
    // Counts and flags.
    line("first_9", Zero),
    line("holes_13", Operator),
    line("outstanding_10", Operator),
    line("tail_open_10", Zero),
    line("tail_again_10", Zero),
];
