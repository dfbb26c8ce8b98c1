//! Lines of `sack_tx` that the lockstep breaks, part by part.

use crate::hdl::mutate::{
    Fault::{self, Decrement, Enable, Increment, Invert, Operator, Zero},
    Mutation,
};

const fn line(signal: &'static str, fault: Fault) -> Mutation {
    Mutation { signal, fault }
}

/// Broken lines that the lockstep must find.
pub const MUTATIONS: [Mutation; 57] = [
    // Results on their way, at each distance: of the context, of the codes.
    line("hit4_2", Zero),
    line("hit4_4", Zero),
    line("hit5_1", Zero),
    line("hit6_1", Zero),
    line("hit7_1", Zero),
    line("hit5_3", Zero),
    line("hit6_3", Zero),
    line("context_overtaken_1", Zero),
    line("codes_overtaken", Zero),
    line("hit4_0", Operator),
    // Stalls.
    line("valid_5", Enable),
    line("context_8", Enable),
    line("codes_9", Enable),
    line("context_arrives", Operator),
    // Memories and the clear after reset.
    line("context_write", Operator),
    line("context_address", Invert),
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
    line("mark_reached_4", Operator),
    line("last_reached_4", Invert),
    line("touch", Operator),
    line("new_probe_sent", Decrement),
    line("probe_out_6", Zero),
    line("probe_answered_5", Zero),
    line("all_lost_5", Zero),
    // The highest PSN acknowledged, and the frontier.
    line("laps", Invert),
    line("at_next_any_5", Zero),
    line("advances", Zero),
    line("past_last", Decrement),
    line("last_is_past_start", Zero),
    line("frontier_follows_last", Zero),
    // Codes.
    line("turned_high", Zero),
    line("again_6", Operator),
    line("window_used", Zero),
    line("vector_used", Zero),
    line("known_6", Zero),
    line("open_6", Operator),
    line("high_7", Operator),
    // The pending PSN nearest to base.
    line("own_7", Zero),
    line("allowed_lanes", Invert),
    line("wraps_10", Zero),
    // Counts and flags.
    line("first_7", Zero),
    line("holes_11", Operator),
    line("outstanding_8", Operator),
    line("tail_open_8", Zero),
    line("tail_again_8", Zero),
];
