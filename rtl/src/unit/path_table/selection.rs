//! The choice of the next path: stages 2 to 8 of [`super`].
//!
//! A connection has a *vector*, a bit for each of its paths that is eligible, and a *turn*: `after`, a bit for each path but path 0 that is
//! beyond the last chosen one, and `repeat`, the one bit of the last chosen path while it is to be chosen once more. Path operations and the
//! vector meet first, selections and the turn two stages later, when the vector cannot change any more: so
//! what a selection needs of the vector is found a stage ahead, and the loop of the turn has nothing in it but the turn.
//!
//! Each is a loop of one clock over a memory that is written four clocks after it was read: an operation on the same connection one to four
//! ahead has the newest word. Two to four ahead it is taken into the base, a register; only the one just ahead is chosen inside the loop.

use super::{Operation, memory};
use crate::hdl::{Builder, Carried, Signal, bits};
use metaroce_model::Params;

/// What a selection found.
pub struct Chosen {
    /// The path of the result, at stage 7.
    pub path: Signal,
    /// The operation is a selection and found a path, 7 to 10.
    pub found: Carried,
}

/// Sets the path's bit to `eligible` (stage 4) in its connection's vector, and chooses for a selection.
pub fn selection(
    b: &Builder,
    params: &Params,
    moves: &Signal,
    operation: &Operation,
    eligible: &Signal,
) -> Chosen {
    let paths = params.paths;
    let connection = |path: &Signal| path.slice(params.path_bits(), params.connection_bits());
    let path = &operation.path;

    // Who is on the same connection, one to four ahead: that stays true all the way down. A write of the sweep needs no other.
    let asked = connection(operation.asked.at(2));
    let same = |ahead: u32| {
        let same = asked.eq(&connection(path.at(2 + ahead))) & operation.active.at(2 + ahead);
        let last = if ahead == 1 { 3 } else { 5 };
        b.carry(&format!("same_{ahead}_ahead"), moves, &same, 3..=last)
    };
    let earlier = [same(2), same(3), same(4)];
    let next = same(1);
    let next = b.carry("same_next", moves, &(next.at(3) & &!operation.sweep.at(3)), 4..=6);
    // The newest word known without the operation just ahead.
    let base = |name: &str, stage: u32, read: &Signal, written: &[Signal; 3], initial: &Signal| {
        let chosen = b.select(
            &format!("next_{name}_base_{}", stage + 1),
            &[
                (operation.sweep.at(stage), initial),
                (earlier[0].at(stage), &written[0]),
                (earlier[1].at(stage), &written[1]),
                (earlier[2].at(stage), &written[2]),
            ],
            read,
        );
        b.stage(&format!("{name}_base_{}", stage + 1), moves, &chosen)
    };
    let connection_memory = |name: &str, enable: &Signal, write: &Signal, data: &Signal, read: &Signal| {
        let memory = b.instance(
            &format!("{name}_memory"),
            &memory::ram(params.connections, data.width()),
            &[
                ("write_enable", enable),
                ("write_address", &connection(write)),
                ("write_data", data),
                ("read_enable", moves),
                ("read_address", &connection(read)),
            ],
        );
        memory.get("read_data")
    };

    // The vector: read in stages 1 to 3, changed in 4, written in 5.
    let vector_5 = b.register("vector_5", paths);
    let vector_6 = b.stage("vector_6", moves, &vector_5);
    let vector_7 = b.stage("vector_7", moves, &vector_6);
    let read = connection_memory(
        "vector",
        operation.on_path.at(5),
        path.at(5),
        &vector_5,
        operation.asked.at(1),
    );
    let read_3 = b.stage("vector_read_3", moves, &read);
    let written = [vector_5.clone(), vector_6.clone(), vector_7];
    let base_4 = base("vector", 3, &read_3, &written, &b.lit(0, paths));
    let place_3 = bits::decode(
        b,
        "place_3",
        &path
            .at(3)
            .truncate(params.path_bits())
            .named("place_in_connection_3"),
    );
    let place_4 = b.stage("place_4", moves, &place_3.gated(operation.on_path.at(3)));
    let vector_4 = b.mux("vector_4", next.at(4), &vector_5, &base_4);
    let changed = &vector_4 & &!&place_4 | &place_4 & &eligible.sign_extend(paths);
    b.clocked_when(moves, &vector_5, &changed.named("next_vector_5"));

    // The turn: read in stages 3 to 5, changed in 6, written in 7. Bit i of `after` and of each prefix is path i + 1.
    let prefix_5 = bits::prefix_or(b, "vector_prefix_5", &vector_5.truncate(paths - 1));
    let prefix_6 = b.stage("vector_prefix_6", moves, &prefix_5);
    let first_6 = b.stage(
        "vector_first_6",
        moves,
        &bits::first_set(b, "vector_first_5", &vector_5),
    );
    let found_5 = operation.select.at(5) & &vector_5.any();
    let found = b.carry("found", moves, &found_5, 6..=10);
    let turn_7 = b.register("turn_7", 2 * paths - 1);
    let turn_8 = b.stage("turn_8", moves, &turn_7);
    let turn_9 = b.stage("turn_9", moves, &turn_8);
    let read = connection_memory("turn", operation.active.at(7), path.at(7), &turn_7, path.at(3));
    let read_5 = b.stage("turn_read_5", moves, &read);
    let initial = b.lit((1 << (paths - 1)) - 1, 2 * paths - 1);
    let base_6 = base("turn", 5, &read_5, &[turn_7.clone(), turn_8, turn_9], &initial);
    let turn_6 = b.mux("turn_6", next.at(6), &turn_7, &base_6);
    let after_6 = turn_6.truncate(paths - 1).named("after_6");
    let repeat_6 = turn_6.slice(paths - 1, paths).named("repeat_6");

    let again = (&vector_6 & &repeat_6).any().named("again_6");
    let beyond = (&vector_6 & &b.concat("after_all_6", &[&b.lit(0, 1), &after_6])).named("beyond_6");
    let wraps = (!beyond.any()).named("wraps_6");
    let beyond_prefix = bits::prefix_or(b, "beyond_prefix_6", &beyond.truncate(paths - 1));
    let beyond_first = bits::first_set(b, "beyond_first_6", &beyond);
    let moves_on = (found.at(6) & &!&again).named("moves_on_6");
    let next_after = b.mux(
        "chosen_after_6",
        &wraps,
        &prefix_6,
        &beyond_prefix.truncate(paths - 1),
    );
    let next_after = b.mux("next_after_7", &moves_on, &next_after, &after_6);
    let next_repeat = b.mux("chosen_repeat_6", &wraps, &first_6, &beyond_first);
    let over = (found.at(6) & &again).named("turn_over_6");
    let next_repeat = b.select(
        "next_repeat_7",
        &[(&moves_on, &next_repeat), (&over, &b.lit(0, paths))],
        &repeat_6,
    );
    b.clocked_when(
        moves,
        &turn_7,
        &b.concat("next_turn_7", &[&next_after, &next_repeat]),
    );

    // The chosen path is the last one before `after`.
    let after_7 = turn_7.truncate(paths - 1);
    let from = b.concat("from_last_7", &[&after_7, &b.lit(1, 1)]);
    let before = b.concat("after_last_7", &[&b.lit(0, 1), &after_7]);
    let last = (from & !before).named("last_7");
    b.unused("last_is_first_path", &[&last.bit(0)]);
    let index = bits::encode(b, "chosen_7", &last);
    let chosen = b.concat("chosen_path_7", &[&index, &connection(path.at(7))]);
    Chosen {
        path: b.mux("next_result_path_8", found.at(7), &chosen, path.at(7)),
        found,
    }
}
