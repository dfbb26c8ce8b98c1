//! `sack_rx`: the receive side of selective acknowledgement. Contract: [`metaroce_model::port::sack_rx`].
//!
//! # How it is kept
//! - Vectors are phase-coded: bit `p mod sack_bits` means "PSN p was received" when it equals the *phase* of p, its bit
//!   number log2(`sack_bits`). So the same vector is right for any base up to the lowest PSN missing, and moving the window
//!   clears nothing. Over a window from w on, the phase is that of w from bit `w mod sack_bits` up, and the other one below.
//! - Only `next` and the vector are in a one-clock loop. `base` is a function of the vector and of any older base, so it
//!   is found at leisure and written back late: at commit.
//! - Of `next` only the bits that tell it from the PSNs of the window and the base are kept: `base <= next <= base + sack_bits`,
//!   so one more than an index into the vector has.
//! - Vectors are split into groups of lanes, see [`bits`].
//!
//! # Pipeline
//! The number at a name's end is the stage whose operation it belongs to.
//!
//! | stage | what happens while the operation is in it |
//! |---|---|
//! | 1 | taken in (by the sweep after reset, an INIT); its base is read; does it follow one of the same path by 1, 2, 3? |
//! | 2 | the word comes out of block RAM (5.8 ns: nothing else fits in) |
//! | 3 | window: the base read; or the one that was written while it was read; or the PSN of an INIT |
//! | 4 | distance of the PSN from the window |
//! | 5 | distance to flags; the PSN's index to group and lane |
//! | 6 | vector and `next` are read; the change to make of the vector, in two levels |
//! | 7 | the word comes out of block RAM; the change in full; the vector of 2 or 3 operations ahead chosen |
//! | 8 | the loop: vector and `next`, as read, as chosen, or of the operation just ahead, are changed |
//! | 9 | they are written; missing PSNs; did the vector change? |
//! | 10 | groups with PSNs missing, above the window's base and at all |
//! | 11 | the first such group, from the base's own up and round |
//! | 12 | its lanes |
//! | 13 | the first lane with its PSN missing |
//! | 14 | the new base and its phases |
//! | 15 | the base is written: commit; the vector without phases; into the output queue, which is the sixteenth clock |
//!
//! # Hazards
//! - Vector, distance 1: the loop itself. Distances 2 and 3: chosen in stage 7 among the vectors in stages 9 and 10, of which
//!   the latter is being written while the operation reads (distance 3): what block RAM gives is then not used. From 4 on the
//!   word was written before it is read.
//! - Base: an operation reads in stage 1 what one [`COMMIT`] = 14 ahead is writing in stage 15. What block RAM gives then is
//!   undefined, so the word written is taken instead, a clock later. One that follows more closely reads the word before, which
//!   nothing is writing: in any clock only the operation in stage 15 writes, and that one is 14 ahead. So the contract's
//!   rule holds by construction, whatever a block RAM does with a read and a write of one word in one clock.
//! - Both memories are read and written in moving clocks only, so that distances are counted in those.

use super::{axis_register::output_queue, memory::ram};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        sack_rx::{COMMIT, Inputs, LATENCY, Outputs, op, verdict},
        unit_ports,
    },
};
use std::rc::Rc;

/// The stage in which the base is written; it is read in the first.
const COMMIT_STAGE: u32 = 15;
const _: () = assert!(
    COMMIT as u32 == COMMIT_STAGE - 1,
    "commit by forwarding at distance COMMIT"
);
const _: () = assert!(LATENCY as u32 == COMMIT_STAGE + 1, "the queue is the last clock");

fn doc(params: &Params) -> String {
    format!(
        "Receive side of selective acknowledgement: a verdict on each packet, and the acknowledgement to send.
        For each of {} paths: the lowest PSN missing (base), one beyond the highest received (next), and a bit for each of
        the {} PSNs of the window. PSNs have {} bits.
        Operations: 0 PACKET, a packet arrived; 1 INIT, the path starts anew at a PSN; 2 QUERY and 3 ACKNOWLEDGE, nothing changes.
        Verdicts: 0 new, 1 duplicate, 2 out of window. The window's base lags by up to {} clocks.
        Latency {LATENCY} clocks, initiation interval 1 on any paths. The number at a name's end is its pipeline stage.",
        params.total_paths(),
        params.sack_bits,
        params.psn_bits,
        COMMIT - 1,
    )
}

/// The unit.
pub fn unit(params: &Params) -> Rc<Module> {
    let b = Builder::unit("sack_rx", &doc(params), &unit_ports::<Inputs, Outputs>(params));
    let index_bits = params.sack_index_bits();
    let lane_bits = bits::lane_bits(index_bits);
    let lanes = 1 << lane_bits;
    let next_bits = index_bits + 1;
    let turns_bits = params.psn_bits - index_bits;
    let phase_of = |psn: &Signal| psn.bit(index_bits);
    let lane_of = |psn: &Signal| psn.truncate(lane_bits);
    let group_of = |psn: &Signal| psn.slice(lane_bits, index_bits - lane_bits);
    let turns_of = |psn: &Signal| psn.slice(index_bits, turns_bits);
    let vector_of = |word: &Signal| word.truncate(params.sack_bits);
    let next_of = |word: &Signal| word.slice(params.sack_bits, next_bits);

    let moves = b.forward("moves", 1);
    let accepted = admission(&b, &moves);

    // Stage 1. The sweep after reset is a run of INITs that leave nothing at the output.
    let sweeping = b.get("sweeping");
    let active = b.carry("active", &moves, &(&accepted | &sweeping), 1..=COMMIT_STAGE);
    let shown = b.carry("shown", &moves, &accepted, 1..=COMMIT_STAGE);
    let arriving_init = b.wire(
        "arriving_init",
        &(&b.get("s_axis_rx_op").is(op::INIT.into()) | &sweeping),
    );
    let arriving_path = b.mux(
        "arriving_path",
        &sweeping,
        &b.get("sweep_path"),
        &b.get("s_axis_rx_path"),
    );
    let arriving_psn = b.wire("arriving_psn", &b.get("s_axis_rx_psn").gated(&!&sweeping));
    let init = b.carry("init", &moves, &arriving_init, 1..=11);
    let operation = b.carry("op", &moves, &b.get("s_axis_rx_op"), 1..=COMMIT_STAGE);
    const _: () = assert!(
        op::QUERY == 2 && op::ACKNOWLEDGE == 3,
        "the upper bit of the operation's code"
    );
    let arriving_query = b.wire("arriving_query", &(b.get("s_axis_rx_op").bit(1) & !&sweeping));
    let query = b.carry("query", &moves, &arriving_query, 1..=11);
    let path = b.carry("path", &moves, &arriving_path, 1..=COMMIT_STAGE);
    let psn = b.carry("psn", &moves, &arriving_psn, 1..=COMMIT_STAGE);

    // Stages 1 to 3: the window's base.
    let base = b.register("base_15", params.psn_bits);
    let base_memory = b.instance(
        "base_memory",
        &ram(params.total_paths(), params.psn_bits),
        &[
            ("write_enable", &(active.at(COMMIT_STAGE) & &moves)),
            ("write_address", path.at(COMMIT_STAGE)),
            ("write_data", &base),
            ("read_enable", &moves),
            ("read_address", path.at(1)),
        ],
    );
    let same_path = |distance: u32| path.at(1).eq(path.at(1 + distance)) & active.at(1 + distance);
    let meets_commit = b.carry("meets_commit", &moves, &same_path(COMMIT as u32), 2..=3);
    let base_16 = b.stage("base_16", &moves, &base);
    let base_written = b.stage("base_written_3", &moves, &base_16);
    let base_read = b.stage("base_read_3", &moves, &base_memory.get("read_data"));
    let window_base = b.select(
        "window_base",
        &[(init.at(3), psn.at(3)), (meets_commit.at(3), &base_written)],
        &base_read,
    );
    let window = b.carry("window", &moves, &window_base, 4..=8);

    // Stages 4 and 5: where the PSN lies. An INIT is at its own window's base.
    let distance = b.wire("distance", &(psn.at(4) - window.at(4)));
    b.unused("distance", &[&distance.truncate(index_bits)]);
    let windows_away = turns_of(&distance);
    let windows_away = b.stage("windows_away_5", &moves, &windows_away);
    let before = b.carry("before", &moves, &windows_away.msb(), 6..=11);
    let in_window = b.carry("in_window", &moves, &!windows_away.any(), 6..=11);

    // Stages 5 to 7: the change to make of the vector. A PACKET gives its PSN's bit the PSN's phase; an INIT gives every bit the
    // phase that its PSN does not have.
    let psn_lane = bits::decode(&b, "psn_lane", &lane_of(psn.at(5)));
    let psn_lane_up = bits::from_index(&b, "psn_lane_up", &lane_of(psn.at(5)));
    let psn_group = bits::decode(&b, "psn_group", &group_of(psn.at(5)));
    let psn_group_up = bits::from_index(&b, "psn_group_up", &group_of(psn.at(5)));
    let psn_lanes = b.carry("psn_lane", &moves, &psn_lane, 6..=10);
    let psn_lane = psn_lanes.at(6);
    let psn_lane_up = b.stage("psn_lane_up_6", &moves, &psn_lane_up);
    let psn_group_above = b.stage("psn_group_above_6", &moves, &(psn_group_up & !&psn_group));
    let psn_groups = b.carry("psn_group", &moves, &psn_group, 6..=10);
    let psn_group = psn_groups.at(6);

    let phase = phase_of(psn.at(6)).named("phase");
    let lane_phase = phase.sign_extend(lanes);
    let group_phase = phase.sign_extend(psn_group.width());
    let lane_start = b.wire("lane_start", &(&psn_lane_up ^ &lane_phase));
    let group_start = b.wire("group_start", &(&psn_group_above ^ &group_phase));
    let set_lane = b.mux("set_lane", init.at(6), &lane_start, &(psn_lane & &lane_phase));
    let clear_lane = b.mux(
        "clear_lane",
        init.at(6),
        &!&lane_start,
        &(psn_lane & !&lane_phase),
    );
    let changed_group = b.stage(
        "changed_group_7",
        &moves,
        &psn_group.gated(&(in_window.at(6) & !query.at(6))),
    );
    let set_lane = b.stage("set_lane_7", &moves, &set_lane);
    let clear_lane = b.stage("clear_lane_7", &moves, &clear_lane);
    let set_group = b.stage("set_group_7", &moves, &group_start.gated(init.at(6)));
    let clear_group = b.stage("clear_group_7", &moves, &(!&group_start).gated(init.at(6)));

    let set = bits::two_level(&b, "set", &changed_group, &set_lane, &set_group);
    let clear = bits::two_level(&b, "clear", &changed_group, &clear_lane, &clear_group);
    let set = b.stage("set_8", &moves, &set);
    let clear = b.stage("clear_8", &moves, &clear);
    let psn_next = next_bits_of(psn.at(7), next_bits);
    let moved_next = &psn_next + &(!init.at(7)).extend(next_bits);
    let moved_next = b.stage("moved_next_8", &moves, &moved_next);

    // Stages 6 to 8: the vector and `next`, with the operations ahead of this one on the same path.
    let word = b.register("word_9", params.sack_bits + next_bits);
    let word_10 = b.stage("word_10", &moves, &word);
    let word_memory = b.instance(
        "word_memory",
        &ram(params.total_paths(), word.width()),
        &[
            ("write_enable", &(active.at(9) & &moves)),
            ("write_address", path.at(9)),
            ("write_data", &word),
            ("read_enable", &moves),
            ("read_address", path.at(6)),
        ],
    );
    let follows_1 = b.carry("follows_1", &moves, &same_path(1), 2..=8);
    let follows_2 = b.carry("follows_2", &moves, &same_path(2), 2..=7);
    let follows_3 = b.carry("follows_3", &moves, &same_path(3), 2..=7);
    let word_ahead = b.mux("word_ahead", follows_2.at(7), &word, &word_10);
    let word_ahead = b.stage("word_ahead_8", &moves, &word_ahead);
    let follows = b.stage("follows_8", &moves, &(follows_2.at(7) | follows_3.at(7)));
    let word_read = b.stage("word_read_8", &moves, &word_memory.get("read_data"));
    let older_word = b.mux("older_word", &follows, &word_ahead, &word_read);
    let current_word = b.mux("current_word", follows_1.at(8), &word, &older_word);

    let changed_vector = b.wire("changed_vector", &(&set | &(vector_of(&current_word) & !&clear)));
    // Both comparisons at once, so that the choice comes after the carry chain.
    let psn_next = next_bits_of(psn.at(8), next_bits);
    let reaches = |name: &str, word: &Signal| {
        let beyond = b.wire(&format!("beyond_{name}"), &(&psn_next - &next_of(word)));
        b.unused(&format!("beyond_{name}"), &[&beyond.truncate(index_bits)]);
        !beyond.msb()
    };
    let reaches_next = b.mux(
        "reaches_next",
        follows_1.at(8),
        &reaches("next_just_ahead", &word),
        &reaches("older_next", &older_word),
    );
    let next_moves = b.wire(
        "next_moves",
        &(in_window.at(8) & &(&(&reaches_next & !query.at(8)) | init.at(8))),
    );
    let changed_next = b.mux("changed_next", &next_moves, &moved_next, &next_of(&current_word));
    b.clocked_when(
        &moves,
        &word,
        &b.concat("changed_word", &[&changed_vector, &changed_next]),
    );
    let word_before = b.stage("word_before_9", &moves, &current_word);
    let reaches_next = b.carry("reaches_next", &moves, &reaches_next, 9..=11);

    // Stages 8 to 10: which PSNs of the window are missing, and was the packet's among them?
    let home_lane_up = bits::from_index(&b, "home_lane_up", &lane_of(window.at(8)));
    let home_group = bits::decode(&b, "home_group", &group_of(window.at(8)));
    let home_group_up = bits::from_index(&b, "home_group_up", &group_of(window.at(8)));
    let home_group_above = b.wire("home_group_above", &(home_group_up & !&home_group));
    let home_lane = b.carry("home_lane", &moves, &lane_of(window.at(8)), 9..=12);
    let home_turns = b.carry("home_turns", &moves, &turns_of(window.at(8)), 9..=14);
    let window_phase = phase_of(window.at(8));
    let received_lane = !(&home_lane_up ^ &window_phase.sign_extend(lanes));
    let received_lane = b.carry("received_lane", &moves, &received_lane, 9..=12);
    let received_group = !(&home_group_above ^ &window_phase.sign_extend(home_group.width()));
    let received_group = b.stage("received_group_9", &moves, &received_group);
    let home_lane_up = b.carry("home_lane_up", &moves, &home_lane_up, 9..=12);
    let home_group = b.carry("home_group", &moves, &home_group, 9..=12);
    let home_group_above = b.carry("home_group_above", &moves, &home_group_above, 9..=10);

    let received = bits::two_level(
        &b,
        "received",
        home_group.at(9),
        received_lane.at(9),
        &received_group,
    );
    let missing = b.stage("missing_10", &moves, &(vector_of(&word) ^ &received));
    let changes = b.wire("changes", &(vector_of(&word) ^ &vector_of(&word_before)));
    let changes = bits::any_in_groups(&b, "changes_in_group", &changes, lanes);
    let changes = b.stage("changes_10", &moves, &changes);
    let changed = b.stage("changed_11", &moves, &changes.any());
    let in_order = next_bits_of(psn.at(9), next_bits).eq(&next_of(&word_before));
    let in_order = b.carry("in_order", &moves, &in_order, 10..=11);

    // Stages 10 and 11: a QUERY changes nothing; whether its PSN is missing is looked up.
    let asked: Vec<Signal> = (0..psn_group.width())
        .map(|group| {
            (missing.slice(group * lanes, lanes) & psn_lanes.at(10)).any() & psn_groups.at(10).bit(group)
        })
        .collect();
    let asked = b.concat("asked_missing", &asked.iter().collect::<Vec<_>>());
    let asked_missing = b.stage("asked_missing_11", &moves, &asked);

    // Stage 11: the verdict.
    let packet_is_new = b.wire("packet_is_new", &(&changed & !init.at(11)));
    let out_of_window = b.wire(
        "out_of_window",
        &!(&(in_window.at(11) | before.at(11)) | init.at(11)),
    );
    let is_new = b.mux("is_new", query.at(11), &asked_missing.any(), &changed);
    let duplicate = b.wire(
        "duplicate",
        &(!init.at(11) & (before.at(11) | &(in_window.at(11) & &!&is_new))),
    );
    const _: () = assert!(verdict::NEW == 0 && verdict::DUPLICATE == 1 && verdict::OUT_OF_WINDOW == 2);
    let verdict = b.concat("verdict", &[&duplicate, &out_of_window]);
    let verdict = b.carry("verdict", &moves, &verdict, 12..=15);
    let new_hole = &packet_is_new & &(reaches_next.at(11) & !in_order.at(11));
    let new_hole = b.carry("new_hole", &moves, &new_hole, 12..=15);
    let filled = b.carry(
        "filled",
        &moves,
        &(&packet_is_new & !reaches_next.at(11)),
        12..=15,
    );

    // Stages 10 to 13: the first PSN missing, from the window's base up to the vector's end and then round from its start
    // (`turned`). When none is missing (`full`) it is the window's base, one turn on.
    let words = b.carry("word", &moves, &word_10, 11..=15);
    let high_lanes = bits::two_level(
        &b,
        "high_lanes",
        home_group.at(10),
        home_lane_up.at(10),
        home_group_above.at(10),
    );
    let high = bits::any_in_groups(&b, "missing_high", &(&missing & &high_lanes), lanes);
    let high = b.stage("missing_high_11", &moves, &high);
    let low = bits::any_in_groups(&b, "missing_any", &missing, lanes);
    let low = b.stage("missing_any_11", &moves, &low);

    let turned = b.wire("turned", &!high.any());
    let full = b.wire("full", &!low.any());
    let first_high = bits::first_set(&b, "first_high", &high);
    let first_low = bits::first_set(&b, "first_low", &low);
    let first_low = first_low | home_group.at(11).gated(&full);
    let hole_group = b.mux("hole_group", &turned, &first_low, &first_high);
    let hole_group = b.carry("hole_group", &moves, &hole_group, 12..=14);
    let turned = b.carry("turned", &moves, &turned, 12..=14);
    let full = b.stage("full_12", &moves, &full);

    let hole_lanes = bits::select_group(&b, "hole_lanes", &vector_of(words.at(12)), hole_group.at(12));
    let hole_lanes = b.stage("hole_lanes_13", &moves, &hole_lanes);
    let at_home = b.wire("at_home", &(hole_group.at(12) & home_group.at(12)).any());
    let hole_phase = home_turns.at(12).bit(0) ^ turned.at(12);
    let received_lanes = b.mux(
        "received_lanes",
        &at_home,
        received_lane.at(12),
        &hole_phase.sign_extend(lanes),
    );
    let received_lanes = b.stage("received_lanes_13", &moves, &received_lanes);
    let eligible = home_lane_up.at(12) | &(!&at_home | turned.at(12)).sign_extend(lanes);
    let eligible = b.stage("eligible_lanes_13", &moves, &eligible);
    let full_lane = bits::decode(&b, "full_lane", home_lane.at(12));
    let full_lane = b.stage("full_lane_13", &moves, &full_lane.gated(&full));

    let missing_lanes = b.wire("missing_lanes", &((&hole_lanes ^ &received_lanes) & &eligible));
    let hole_lane = bits::first_set(&b, "hole_lane", &missing_lanes) | &full_lane;
    let hole_lane = b.stage("hole_lane_14", &moves, &hole_lane);

    // Stages 14 and 15: the new base, and the vector as it goes on the wire.
    let hole_index = b.concat(
        "hole_index",
        &[
            &bits::encode(&b, "hole_lane_index", &hole_lane),
            &bits::encode(&b, "hole_group_index", hole_group.at(14)),
        ],
    );
    let turns = b.wire("turns", &(home_turns.at(14) + &turned.at(14).extend(turns_bits)));
    b.clocked_when(&moves, &base, &b.concat("new_base", &[&hole_index, &turns]));
    let base_phase = turns.bit(0);
    let lane_up = bits::prefix_or(&b, "base_lane_up", &hole_lane);
    let group_up = bits::prefix_or(&b, "base_group_up", hole_group.at(14));
    let base_lane = b.stage(
        "base_lane_15",
        &moves,
        &!(lane_up ^ base_phase.sign_extend(lanes)),
    );
    let group_above = group_up & !hole_group.at(14);
    let base_rest = !(group_above ^ base_phase.sign_extend(hole_group.at(14).width()));
    let base_rest = b.stage("base_rest_15", &moves, &base_rest);
    let base_group = b.stage("base_group_15", &moves, hole_group.at(14));

    let base_phases = bits::two_level(&b, "base_phases", &base_group, &base_lane, &base_rest);
    let vector = !(vector_of(words.at(15)) ^ &base_phases);
    let hole = next_bits_of(&base, next_bits).ne(&next_of(words.at(15)));

    let room = output_queue(
        &b,
        "m_axis_rx",
        shown.at(15),
        &[
            ("op", operation.at(15)),
            ("path", path.at(15)),
            ("psn", psn.at(15)),
            ("verdict", verdict.at(15)),
            ("base", &base),
            ("vector", &vector),
            ("hole", &hole),
            ("new_hole", new_hole.at(15)),
            ("filled", filled.at(15)),
        ],
    );
    b.drive("moves", &room);
    b.finish()
}

/// What lets operations in: nothing during the sweep after reset, nor until an INIT or the sweep's last is committed.
/// Returns `accepted`; makes `sweeping` and `sweep_path`.
fn admission(b: &Builder, moves: &Signal) -> Signal {
    let sweeping = b.register_reset("sweeping", 1, 1);
    let sweep_path = b.register("sweep_path", b.get("s_axis_rx_path").width());
    // The pipeline moves all through the sweep, since nothing comes out of it.
    b.clocked(&sweep_path, &(&sweep_path + &sweep_path.lit(1)));
    b.clocked(&sweeping, &(&sweeping & !sweep_path.all()));

    let commit = COMMIT as u64;
    let wait_bits = u64::BITS - commit.leading_zeros();
    let wait = b.register_reset("commit_wait", wait_bits, commit);
    let ready = b.wire("ready", &(moves & &wait.is(0)));
    b.drive("s_axis_rx_tready", &ready);
    let accepted = b.wire("accepted", &(&b.get("s_axis_rx_tvalid") & &ready));
    let starts_anew = b.wire(
        "starts_anew",
        &(&accepted & &b.get("s_axis_rx_op").is(op::INIT.into())),
    );
    let counts = b.wire("commit_wait_counts", &(&wait.any() & &(moves & !&sweeping)));
    let next_wait = b.select(
        "next_commit_wait",
        &[
            (&starts_anew, &wait.lit(commit - 1)),
            (&counts, &(&wait - &wait.lit(1))),
        ],
        &wait,
    );
    b.clocked(&wait, &next_wait);
    accepted
}

/// The bits of a PSN that are kept of `next`.
fn next_bits_of(psn: &Signal, next_bits: u32) -> Signal {
    psn.truncate(next_bits)
}

/// Lines whose breaking the lockstep must find.
pub const MUTATIONS: [Mutation; 41] = [
    Mutation {
        signal: "asked_missing_11",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "is_new",
        fault: Fault::Invert,
    },
    Mutation {
        signal: "query_6",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "query_8",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "arriving_query",
        fault: Fault::Operator,
    },
    Mutation {
        signal: "sweeping",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "starts_anew",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "next_commit_wait",
        fault: Fault::Increment,
    },
    Mutation {
        signal: "meets_commit_2",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "window_base",
        fault: Fault::Increment,
    },
    Mutation {
        signal: "windows_away_5",
        fault: Fault::Decrement,
    },
    Mutation {
        signal: "before_6",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "psn_9",
        fault: Fault::Enable,
    },
    Mutation {
        signal: "follows_1_2",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "follows_2_2",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "follows_3_2",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "word_9",
        fault: Fault::Enable,
    },
    Mutation {
        signal: "set_lane_7",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "clear_lane_7",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "set_group_7",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "clear_group_7",
        fault: Fault::Invert,
    },
    Mutation {
        signal: "moved_next_8",
        fault: Fault::Decrement,
    },
    Mutation {
        signal: "reaches_next",
        fault: Fault::Invert,
    },
    Mutation {
        signal: "next_moves",
        fault: Fault::Operator,
    },
    Mutation {
        signal: "received_group_9",
        fault: Fault::Invert,
    },
    Mutation {
        signal: "changes_10",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "in_order_10",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "duplicate",
        fault: Fault::Operator,
    },
    Mutation {
        signal: "out_of_window",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "new_hole_12",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "filled_12",
        fault: Fault::Invert,
    },
    Mutation {
        signal: "home_group_above_9",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "turned",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "full",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "at_home",
        fault: Fault::Zero,
    },
    Mutation {
        signal: "eligible_lanes_13",
        fault: Fault::Invert,
    },
    Mutation {
        signal: "hole_lane_14",
        fault: Fault::Increment,
    },
    Mutation {
        signal: "turns",
        fault: Fault::Operator,
    },
    Mutation {
        signal: "base_lane_15",
        fault: Fault::Decrement,
    },
    Mutation {
        signal: "base_rest_15",
        fault: Fault::Invert,
    },
    Mutation {
        signal: "base_15",
        fault: Fault::Enable,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::{assert_breakable, assert_builds};

    /// R6, H3: the smallest and the oddest vector that a profile may have.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for (sack_bits, psn_bits) in [(16, 6), (64, 24), (128, 9)] {
            let mut params = Params::load("tiny").unwrap();
            (params.sack_bits, params.psn_bits) = (sack_bits, psn_bits);
            params.check().unwrap();
            assert_builds("sack_rx", &params);
            assert_breakable("sack_rx", &params);
        }
    }
}
