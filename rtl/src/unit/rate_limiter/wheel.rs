//! The timing wheel of `rate_limiter`: lists of connections by the time slot in which each is to be looked at again.
//!
//! A list is a head (in `heads`, by slot) and links (in `links`, by connection: whether another follows, and which). Whether a slot has a list is a
//! flip-flop, `occupied`, so that the cursor can pass an empty slot in each clock. Both inserting and serving read heads, so there are two
//! copies of that memory, written alike.
//!
//! Inserting, of which one can start in each clock; the contract's insertion is the first of these:
//!
//! | clock | what |
//! |---|---|
//! | 0 | the slot is found from the cursor |
//! | 1 | `occupied` of the slot is looked up and set; the old head is read, unless the insertion one clock ahead is about to replace it |
//! | 2 | the connection becomes the head |
//! | 3 | the old head becomes its link |
//!
//! Serving, from the clock in which the list is taken; reading can begin in clock 2 because the last insertion that can go to that list has written
//! its head in clock 1, and the link in clock 2:
//!
//! | clock | what |
//! |---|---|
//! | 0 | the cursor moves to a slot that has a list |
//! | 2 | the head is read; 3: registered |
//! | 4 | it becomes the head offered |
//! | 5 | its link is read; 6: registered |
//! | 7 on | it is offered, until it issues |
//!
//! From the issue on the next connection's link is read in the same way, two clocks later it is offered.

use crate::{
    hdl::{Builder, Signal},
    unit::memory::ram,
};
use metaroce_model::{
    Params,
    port::rate_limiter::{HEAD_CLOCKS, LINK_CLOCKS},
};

/// The pause's count in the clock in which the list's head has arrived: after it come the two clocks of reading the link.
const HEAD_READ: u64 = LINK_CLOCKS as u64;
const _: () = assert!(HEAD_CLOCKS == 6 && LINK_CLOCKS == 2);
const COUNT_BITS: u32 = 3;

/// An insertion.
pub struct Insert<'a> {
    /// There is one in this clock.
    pub valid: &'a Signal,
    /// Who.
    pub connection: &'a Signal,
    /// How many slots from the cursor on.
    pub offset: &'a Signal,
}

/// The wheel's registers. [`Wheel::finish`] completes it.
pub struct Wheel {
    /// A connection is offered for recheck.
    pub offer: Signal,
    /// The connection offered: the head of the list being served.
    pub head: Signal,
    builder: Builder,
    slots: u32,
    connections: u32,
    /// `now` in wheel slots.
    slot_now: Signal,
}

impl Wheel {
    /// Declares what the issue logic has to know.
    pub fn new(b: &Builder, params: &Params) -> Self {
        Self {
            offer: b.register("wheel_offer", 1),
            head: b.register("wheel_head", params.connection_bits()),
            builder: b.clone(),
            slots: params.wheel_slots,
            connections: params.connections,
            slot_now: b
                .get("now")
                .slice(params.wheel_tick_bits, params.wheel_slots.trailing_zeros()),
        }
    }

    /// The wheel moves with the pipeline; `issue_recheck`: the connection offered enters the pipeline in this clock.
    pub fn finish(&self, moves: &Signal, clearing: &Signal, issue_recheck: &Signal, insert: &Insert) {
        let b = &self.builder;
        let slot_bits = self.slot_now.width();
        let cursor = b.register("wheel_cursor", slot_bits);
        // Always the slot after the cursor.
        let next = b.register("wheel_next", slot_bits);
        let occupied = b.register("wheel_occupied", self.slots);

        // Inserting.
        let slot = (&cursor + insert.offset).named("insert_slot");
        let insert_valid_1 = b.stage("insert_valid_1", moves, insert.valid);
        let insert_slot_1 = b.stage("insert_slot_1", moves, &slot);
        let insert_connection_1 = b.stage("insert_connection_1", moves, insert.connection);

        let insert_valid_2 = b.stage("insert_valid_2", moves, &insert_valid_1);
        let insert_slot_2 = b.stage("insert_slot_2", moves, &insert_slot_1);
        let insert_connection_2 = b.stage("insert_connection_2", moves, &insert_connection_1);
        let insert_follows_2 = b.stage("insert_follows_2", moves, &occupied.index(&insert_slot_1));
        let neighbour = (&insert_valid_2 & insert_slot_1.eq(&insert_slot_2)).named("insert_neighbour");
        let insert_neighbour_2 = b.stage("insert_neighbour_2", moves, &neighbour);

        let write_head = (&insert_valid_2 & moves).named("write_head");
        let heads = |name: &str, address: &Signal| {
            let memory = ram(self.slots, insert_connection_2.width());
            let ports = [
                ("write_enable", &write_head),
                ("write_address", &insert_slot_2),
                ("write_data", &insert_connection_2),
                ("read_enable", moves),
                ("read_address", address),
            ];
            b.instance(name, &memory, &ports).get("read_data")
        };
        let insert_valid_3 = b.stage("insert_valid_3", moves, &insert_valid_2);
        let insert_connection_3 = b.stage("insert_connection_3", moves, &insert_connection_2);
        let insert_follows_3 = b.stage("insert_follows_3", moves, &insert_follows_2);
        let insert_neighbour_3 = b.stage("insert_neighbour_3", moves, &insert_neighbour_2);
        let insert_old_head_3 = b.stage("insert_old_head_3", moves, &heads("heads_insert", &insert_slot_1));
        let insert_connection_4 = b.stage("insert_connection_4", moves, &insert_connection_3);
        let link_next = b.mux(
            "link_next",
            &insert_neighbour_3,
            &insert_connection_4,
            &insert_old_head_3,
        );
        let link = b.concat("link", &[&link_next, &insert_follows_3]);
        let links = b.instance(
            "links",
            &ram(self.connections, link.width()),
            &[
                ("write_enable", &(&insert_valid_3 & moves).named("write_link")),
                ("write_address", &insert_connection_3),
                ("write_data", &link),
                ("read_enable", moves),
                ("read_address", &self.head),
            ],
        );

        // Which slots have a list. The cursor's own never has: nothing is inserted there, and what was is being served. So
        // that bit can be cleared in every clock, needing no decision that comes late.
        let set = insert_valid_1
            .extend(self.slots)
            .shl(&insert_slot_1)
            .named("occupied_set");
        let clear = b.lit(1, self.slots).shl(&cursor).named("occupied_clear");
        b.clocked_when(moves, &occupied, &((&occupied | set) & &!clear));

        // Serving.
        let pause = b.register("wheel_pause", 1);
        let count = b.register("wheel_count", COUNT_BITS);
        let idle = (!(&pause | &self.offer) & &!clearing).named("wheel_idle");
        let advance = (&idle & cursor.ne(&self.slot_now)).named("wheel_advance");
        let arrives = (&insert_valid_1 & insert_slot_1.eq(&next)).named("insert_arrives");
        let take = (&advance & (occupied.index(&next) | arrives)).named("wheel_take");
        let after = (&next + next.lit(1)).named("wheel_after");
        let after_now = (&self.slot_now + self.slot_now.lit(1)).named("wheel_after_now");
        let turn = (clearing | &advance).named("wheel_turn");
        let cursor_moves = (moves & &turn).named("cursor_moves");
        b.clocked_when(
            &cursor_moves,
            &cursor,
            &b.mux("cursor_next", clearing, &self.slot_now, &next),
        );
        b.clocked_when(
            &cursor_moves,
            &next,
            &b.mux("next_next", clearing, &after_now, &after),
        );

        // The head is needed at the address of `links` two clocks before it is offered, and again after each that leaves.
        let link_read = b.stage("link_read", moves, &links.get("read_data"));
        let more = link_read.msb().named("link_follows");
        let after_head = link_read.truncate(self.head.width()).named("link_connection");
        let load_head = (&pause & count.is(HEAD_READ)).named("load_head");
        let first_head = b.stage("first_head", moves, &heads("heads_serve", &cursor));
        let head_changes = (moves & &(&load_head | issue_recheck)).named("head_changes");
        b.clocked_when(
            &head_changes,
            &self.head,
            &b.mux("head_next", &load_head, &first_head, &after_head),
        );

        let pause_ends = (&pause & count.is(0)).named("pause_ends");
        let link_pause = (issue_recheck & &more).named("link_pause");
        let pause_next = b.select("pause_next", &[(&pause, &!&pause_ends)], &(&take | &link_pause));
        let offer_next = b.select("offer_next", &[(&self.offer, &!issue_recheck)], &pause_ends);
        let count_next = b.select(
            "count_next",
            &[
                (&take, &count.lit(HEAD_CLOCKS as u64 - 1)),
                (&link_pause, &count.lit(LINK_CLOCKS as u64 - 1)),
            ],
            &(&count - count.lit(1)),
        );
        b.clocked_when(moves, &pause, &pause_next);
        b.clocked_when(moves, &self.offer, &offer_next);
        b.clocked_when(moves, &count, &count_next);
    }
}
