//! `sack_tx`: the send side of selective acknowledgement. Contract: [`metaroce_model::port::sack_tx`].
//!
//! # What is kept
//! A path is ordered, so an acknowledgement makes every packet below the highest acknowledged one either acknowledged or lost. Hence the
//! packets in flight for the first time are always the last ones, those of `[frontier, next)`, and only those of `[base, frontier)` need
//! a state: two bits at position PSN mod `sack_bits`, the code's `high` and `low`.
//!
//! | high | low | the packet is |
//! |---|---|---|
//! | 0 | 0 | pending |
//! | 0 | 1 | sent again since the mark (newer) |
//! | 1 | 0 | sent again before the mark (older) |
//! | 1 | 1 | acknowledged |
//!
//! Codes outside `[base, frontier)` mean nothing: sliding the window clears nothing, and an acknowledgement gives every position outside a
//! fresh code (acknowledged if its vector bit is set, else pending), which counts only as far as the frontier moves over it. So
//! the codes' update knows no frontier to come, and the frontier's update knows no codes: there are two loops, each four clocks long, with a memory each.
//! A third, short path goes from codes to context: whether something is pending decides whether a RETRANSMIT takes place.
//!
//! # Pipeline
//! | stage | operation | context: base, next, frontier, timestamps | codes |
//! |---|---|---|---|
//! | 0 | issues | read | |
//! | 1 | decoded | memory's output | |
//! | 2 | highest vector bit of each group | raw register | read |
//! | 3 | | **state** | memory's output |
//! | 4 | PSNs and timestamps compared | vector's group at `next`, groups below | raw register |
//! | 5 | verdict | highest lane, highest group | **state**, window mask |
//! | 6 | | highest vector bit; base, next, mark | generations turned; groups with pending ones |
//! | 7 | newly acknowledged, lost again | **result**, written to memory | acknowledged and lost set; group to send again |
//! | 8 | counts | window mask | its lane; written to memory |
//! | 9 | counts | | **result** |
//! | 10 | counts | | groups with pending ones |
//! | 11 | result, enters the output queue | | |
//!
//! An operation finds in the memories what operations on its path at distance 8 (context) and 7 (codes) or more left there. The result of a nearer
//! one is on its way. At distance 4 it becomes the state as it leaves the logic. At more it is put in a register of its own, beside the raw one,
//! when that is loaded; whichever of the two is not wanted is zero, so that the state is one OR of both.

mod codes;
mod interval;
mod mutations;
mod popcount;
mod search;

pub use mutations::MUTATIONS;

use super::{
    axis_register::{output_queue, room_next},
    issue,
    memory::ram,
};
use crate::hdl::{Builder, Module, Signal, bits};
use metaroce_model::{
    Params,
    port::{
        sack_tx::{Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op, status},
        unit_ports,
    },
};
use std::rc::Rc;

/// The stage whose registers enter the output queue.
const LAST: usize = LATENCY - 1;

/// The unit.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Send side of selective acknowledgement: a scoreboard for each of {} paths of {} packets outstanding
        at most; PSNs of {} bits, timestamps of {} bits.
        Latency {LATENCY} clocks from issue; initiation interval 1, and {SAME_PATH_CLOCKS} on one path.",
        params.total_paths(),
        params.sack_bits,
        params.psn_bits,
        params.timestamp_bits,
    );
    let b = Builder::unit("sack_tx", &doc, &unit_ports::<Inputs, Outputs>(params));
    let p = Pipeline {
        moves: b.forward("moves", 1),
        paths: params.total_paths(),
        size: params.sack_bits,
        psn_bits: params.psn_bits,
        timestamp_bits: params.timestamp_bits,
        b,
    };
    let sweep = issue::sweep(&p.b, p.paths);
    accept(&p, &sweep);
    search::summarise_vector(&p);
    read_context(&p, &sweep);
    judge(&p);
    search::search_vector(&p);
    codes::read_codes(&p);
    search::search_pending(&p);
    advance_context(&p);
    codes::advance_codes(&p);
    deliver(&p);
    p.b.finish()
}

/// The module under construction. A signal of stage n is called `NAME_n`: what it is after n moving clocks from issue.
struct Pipeline {
    b: Builder,
    moves: Signal,
    paths: u32,
    size: u32,
    psn_bits: u32,
    timestamp_bits: u32,
}

impl Pipeline {
    fn get(&self, name: &str) -> Signal {
        self.b.get(name)
    }

    fn stage(&self, name: &str, value: &Signal) -> Signal {
        self.b.stage(name, &self.moves, value)
    }

    /// Registers that take `NAME_from` on to stage `to`.
    fn carry(&self, name: &str, from: usize, to: usize) {
        for stage in from..to {
            let value = self.get(&format!("{name}_{stage}"));
            self.stage(&format!("{name}_{}", stage + 1), &value);
        }
    }

    fn position_bits(&self) -> u32 {
        self.size.trailing_zeros()
    }

    fn lane_bits(&self) -> u32 {
        bits::lane_bits(self.position_bits())
    }

    /// A position's place in its group.
    fn lane(&self, psn: &Signal) -> Signal {
        psn.truncate(self.lane_bits())
    }

    /// The group of positions it is in.
    fn group(&self, psn: &Signal) -> Signal {
        psn.slice(self.lane_bits(), self.position_bits() - self.lane_bits())
    }

    /// The low bits of a PSN that order any two PSNs of one window, or one window apart.
    fn near(&self, psn: &Signal) -> Signal {
        psn.truncate(self.position_bits() + 2)
    }

    /// The low bits of a PSN that delimit an interval of at most a window.
    fn limit(&self, psn: &Signal) -> Signal {
        psn.truncate(self.position_bits() + 1)
    }

    /// What a path keeps beside the codes, and its width.
    fn context_fields(&self) -> [(&'static str, u32); 7] {
        [
            ("base", self.psn_bits),
            ("next", self.psn_bits),
            ("frontier", self.position_bits() + 2),
            ("mark", self.timestamp_bits),
            ("last_sent", self.timestamp_bits),
            ("probe_sent", self.timestamp_bits),
            ("probe_out", 1),
        ]
    }

    /// The mask of the positions in an interval of PSNs, a clock later.
    fn interval(&self, name: &str, valid: &Signal, first: &Signal, end: &Signal) -> Signal {
        let inputs = [
            ("enable", &self.moves),
            ("valid", valid),
            ("first", &self.limit(first)),
            ("end_psn", &self.limit(end)),
        ];
        self.b
            .instance(name, &interval::interval(self.size), &inputs)
            .get("mask")
    }

    /// The number of set bits, three clocks later.
    fn popcount(&self, name: &str, bits: &Signal) -> Signal {
        let inputs = [("enable", &self.moves), ("bits", bits)];
        self.b
            .instance(name, &popcount::popcount(self.size), &inputs)
            .get("count")
    }
}

/// Serial-number arithmetic (RFC 1982): `a` is `b` or after it.
fn reaches(a: &Signal, b: &Signal) -> Signal {
    (a - b).lt(&a.lit(1 << (a.width() - 1)))
}

/// Stages 0 and 1: the operation, decoded.
fn accept(p: &Pipeline, sweep: &issue::Sweep) {
    let b = &p.b;
    let front = issue::in_order(
        b,
        "s_axis_op",
        &["op", "path", "psn", "vector", "echo", "now"],
        ("path", SAME_PATH_CLOCKS),
        |_| b.lit(1, 1),
        (&p.moves, &b.forward("moves_next", 1)),
        sweep,
    );
    let mut valid = front.issue.clone();
    for stage in 1..=LAST {
        valid = b.stage_reset(&format!("valid_{stage}"), &p.moves, &valid);
    }
    for (field, last) in [("op", LAST), ("path", LAST), ("psn", 5), ("echo", 3), ("now", 6)] {
        front.get(field).named(&format!("{field}_0"));
        p.carry(field, 0, last);
    }
    let codes = [
        ("init", op::INIT, 5),
        ("send", op::SEND, 4),
        ("acknowledge", op::ACKNOWLEDGE, 4),
        ("retransmit", op::RETRANSMIT, 7),
        ("probe", op::PROBE, 5),
        ("timeout", op::TIMEOUT, 5),
    ];
    let op_0 = p.get("op_0");
    for (name, code, last) in codes {
        op_0.is(code.into()).named(&format!("{name}_0"));
        p.carry(name, 0, last);
    }
    op_0.ge(&op_0.lit(u64::from(op::TIMEOUT) + 1)).named("reserved_0");
    p.carry("reserved", 0, 4);

    front.get("vector").named("vector_0");
    p.carry("vector", 0, 5);
}

/// Stages 0 to 3: the path's context, from the memory or from an operation that is still on its way there.
fn read_context(p: &Pipeline, sweep: &issue::Sweep) {
    let b = &p.b;
    let width = p.context_fields().iter().map(|(_, width)| width).sum();
    let result = b.register_reset("context_7", width, 0);
    let memory = b.instance(
        "contexts",
        &ram(p.paths, width),
        &[
            // The register is zero from reset until the first operation is there: just what the sweep has to write.
            (
                "write_enable",
                &(&sweep.clearing | &p.get("valid_7")).named("context_write"),
            ),
            (
                "write_address",
                &b.mux("context_address", &sweep.clearing, &sweep.index, &p.get("path_7")),
            ),
            ("write_data", &result),
            ("read_enable", &p.moves),
            ("read_address", &p.get("path_0")),
        ],
    );
    p.carry("context", 7, 8);

    // Another operation on the path, so many stages ahead: its result is on its way.
    let hits: Vec<Signal> = (4..=7)
        .map(|distance| {
            let same = p.get("path_0").eq(&p.get(&format!("path_{distance}")));
            (same & p.get(&format!("valid_{distance}"))).named(&format!("hit{distance}_0"))
        })
        .collect();
    let overtaken = bits::or_all(&hits[1..]);
    p.carry("hit4", 0, 4);
    p.carry("hit5", 0, 3);
    p.carry("hit6", 0, 3);
    p.carry("hit7", 0, 1);

    // At distances 6 and 7 the result is in a register now, at distance 5 it will be; at distance 4, one clock later.
    let none = b.lit(0, width);
    let result = b.forward("context_result", width);
    let passing = b.select(
        "context_passing",
        &[
            (&p.get("hit5_1"), &result),
            (&p.get("hit6_1"), &p.get("context_7")),
            (&p.get("hit7_1"), &p.get("context_8")),
        ],
        &none,
    );
    p.stage("context_passing_2", &passing);
    let overtaken = p.stage("context_overtaken_1", &overtaken);
    p.stage(
        "context_2",
        &b.mux("context_read", &overtaken, &none, &memory.get("read_data")),
    );
    let earlier = p.get("context_2") | p.get("context_passing_2");
    let state = b.mux("context_now", &p.get("hit4_2"), &result, &earlier);
    let context = p.stage("context_3", &state);
    let mut low = 0;
    for (field, width) in p.context_fields() {
        context.slice(low, width).named(&format!("{field}_3"));
        p.carry(field, 3, if field == "frontier" { 4 } else { 5 });
        low += width;
    }
}

/// Stages 3 to 5: what the operation may do, and what the echoed timestamp tells.
fn judge(p: &Pipeline) {
    let b = &p.b;
    let [psn, base, next, echo] = ["psn_3", "base_3", "next_3", "echo_3"].map(|name| p.get(name));
    p.stage("stale_4", &!reaches(&psn, &base));
    p.stage("beyond_4", &!reaches(&next, &psn));
    let outstanding = p.limit(&next) - p.limit(&base);
    p.stage("full_4", &outstanding.is(p.size.into()));
    p.stage("at_rest_4", &outstanding.is(0));
    p.stage("mark_reached_4", &reaches(&echo, &p.get("mark_3")));
    p.stage("last_reached_4", &reaches(&echo, &p.get("last_sent_3")));
    p.stage("probe_reached_4", &reaches(&echo, &p.get("probe_sent_3")));
    p.stage("past_frontier_4", &reaches(&p.near(&psn), &p.get("frontier_3")));

    let acknowledge = p.get("acknowledge_4");
    let accepted = (&acknowledge & &!(p.get("stale_4") | p.get("beyond_4"))).named("accepted_4");
    let tail = (&accepted & &p.get("last_reached_4")).named("tail_4");
    let refused = p.get("send_4") & p.get("full_4");
    p.carry("accepted", 4, 5);
    p.carry("tail", 4, 8);
    p.stage("sent_5", &(p.get("send_4") & !p.get("full_4")));
    p.stage("turn_5", &(&accepted & &p.get("mark_reached_4")));
    p.stage("rises_5", &(p.get("send_4") & p.get("at_rest_4")));
    p.stage("all_lost_5", &(&tail | &p.get("timeout_4")));
    p.stage("update_5", &(&accepted | &p.get("timeout_4")));
    p.carry("update", 5, 7);
    p.stage(
        "probe_answered_5",
        &(&accepted & &(p.get("probe_reached_4") & p.get("probe_out_4"))),
    );
    p.carry("probe_answered", 5, LAST);

    let code = |code: u8| b.lit(code.into(), 2);
    let verdict = b.select(
        "verdict",
        &[
            (&refused.named("refused"), &code(status::FULL)),
            (
                &(&acknowledge & &p.get("stale_4")).named("stale"),
                &code(status::STALE),
            ),
            (
                &(&acknowledge & &p.get("beyond_4")).named("beyond"),
                &code(status::INVALID),
            ),
            (&p.get("reserved_4"), &code(status::INVALID)),
        ],
        &code(status::DONE),
    );
    p.stage("status_5", &verdict);
    p.carry("status", 5, 6);
}

/// Stages 5 to 7: the context after the operation.
fn advance_context(p: &Pipeline) {
    let b = &p.b;
    let [init, accepted, sent] = ["init_5", "accepted_5", "sent_5"].map(|name| p.get(name));
    let [psn, base, next, now] = ["psn_5", "base_5", "next_5", "now_5"].map(|name| p.get(name));
    let rebase = (&init | &accepted).named("rebase");
    let new_base = b.mux("new_base", &rebase, &psn, &base);
    p.stage("base_6", &new_base);
    let moved_next = &next + &sent.extend(next.width());
    p.stage("next_6", &b.mux("new_next", &init, &psn, &moved_next));
    p.stage("psn_out_6", &b.mux("psn_out", &sent, &next, &new_base));
    p.carry("psn_out", 6, LAST - 1);

    let anew = (&init | &(p.get("rises_5") | p.get("timeout_5"))).named("mark_anew");
    let remark = (&anew | &p.get("turn_5")).named("remark");
    p.stage("mark_6", &b.mux("new_mark", &remark, &now, &p.get("mark_5")));
    let probe = p.get("probe_5");
    p.stage(
        "probe_sent_6",
        &b.mux("new_probe_sent", &probe, &now, &p.get("probe_sent_5")),
    );
    let probe_ends = &init | &(p.get("timeout_5") | p.get("probe_answered_5"));
    p.stage("probe_out_6", &(&probe | &(p.get("probe_out_5") & !probe_ends)));

    // The frontier moves up to the end of what was sent, or past the highest acknowledged PSN.
    let all_lost = p.get("all_lost_5");
    let settled = b.select(
        "settled_frontier",
        &[(&init, &p.near(&psn)), (&all_lost, &p.near(&next))],
        &p.get("start_5"),
    );
    p.stage("settled_frontier_6", &settled);
    p.stage("searched_6", &(&accepted & &!&all_lost));
    let (last, start) = (p.get("last_6"), p.get("start_6"));
    let past_last = (&last + &last.lit(1)).named("past_last");
    let higher = (reaches(&last, &start) & p.get("last_any_6")).named("last_is_past_start");
    p.stage("unlost_7", &b.mux("unlost", &higher, &past_last, &start));
    let follow = (&higher & &p.get("searched_6")).named("frontier_follows_last");
    let frontier = b.mux("new_frontier", &follow, &past_last, &p.get("settled_frontier_6"));

    p.carry("last_sent", 5, 6);
    p.stage("sends_6", &(&init | &sent));
    let sends = (p.get("sends_6") | p.get("found_6")).named("touch");
    let last_sent = b.mux("new_last_sent", &sends, &p.get("now_6"), &p.get("last_sent_6"));

    let parts = p.context_fields().map(|(field, _)| match field {
        "frontier" => frontier.clone(),
        "last_sent" => last_sent.clone(),
        _ => p.get(&format!("{field}_6")),
    });
    let result = b.concat("context_after", &parts.each_ref());
    b.drive("context_result", &result);
    let arrives = (&p.moves & &p.get("valid_6")).named("context_arrives");
    b.clocked_when(&arrives, &p.get("context_7"), &result);
}

/// Stages 7 to 12: counts and flags, and the packet's PSN.
fn deliver(p: &Pipeline) {
    let b = &p.b;
    let context = p.get("context_7");
    let base = p.limit(&context).named("base_7");
    let next = p.near(&context.slice(p.psn_bits, p.psn_bits)).named("next_7");
    let frontier = p
        .limit(&context.slice(2 * p.psn_bits, p.psn_bits))
        .named("frontier_7");
    p.stage("outstanding_8", &(p.limit(&next) - &base));
    p.carry("outstanding", 8, LAST);
    p.stage("tail_open_8", &p.get("unlost_7").ne(&next));
    p.stage("tail_again_8", &p.get("at_tail_7").any());
    p.stage(
        "tail_9",
        &(p.get("tail_8") & (p.get("tail_open_8") | p.get("tail_again_8"))),
    );
    p.carry("tail", 9, LAST);

    p.popcount("newly_count", &p.get("newly_7"))
        .named("acknowledged_10");
    p.popcount("again_count", &p.get("again_7"))
        .named("lost_again_10");
    // Of the packets that the frontier passed, those not acknowledged are lost.
    let passed = &frontier - &p.get("start_7");
    let none = passed.lit(0);
    p.stage("passed_8", &b.mux("passed", &p.get("update_7"), &passed, &none));
    p.carry("passed", 8, 10);
    let first = p.popcount("first_count", &p.get("first_7"));
    p.stage("holes_11", &(p.get("passed_10") - first));
    p.carry("acknowledged", 10, LAST);
    p.carry("lost_again", 10, LAST);

    let window = p.interval("window_after", &b.lit(1, 1), &base, &frontier);
    p.stage("window_9", &window);
    let codes = p.get("codes_9");
    let remain = p.get("window_9") & !(codes.truncate(p.size) | codes.slice(p.size, p.size));
    p.stage(
        "remain_10",
        &bits::any_in_groups(b, "remain_groups", &remain.named("remain"), 1 << p.lane_bits()),
    );
    p.stage("pending_11", &p.get("remain_10").any());

    // The PSN at a position is the first from the base on.
    let position_bits = p.position_bits();
    let above = |psn: &Signal| psn.slice(position_bits, p.psn_bits - position_bits);
    let base_9 = p.get("psn_out_9");
    p.stage(
        "wraps_10",
        &p.get("position_9").lt(&base_9.truncate(position_bits)),
    );
    let lap_9 = above(&base_9);
    p.stage("next_lap_10", &(&lap_9 + &lap_9.lit(1)));
    let psn_10 = p.get("psn_out_10");
    let lap = b.mux("lap", &p.get("wraps_10"), &p.get("next_lap_10"), &above(&psn_10));
    let again_psn = b.concat("again_psn", &[&p.get("position_10"), &lap]);
    p.stage(
        "psn_out_11",
        &b.mux("final_psn", &p.get("found_10"), &again_psn, &psn_10),
    );

    let field = |name: &'static str, signal: &str| (name, p.get(&format!("{signal}_{LAST}")));
    let fields = [
        field("op", "op"),
        field("path", "path"),
        field("status", "status"),
        field("psn", "psn_out"),
        field("acknowledged", "acknowledged"),
        field("holes", "holes"),
        field("lost_again", "lost_again"),
        field("tail", "tail"),
        field("probe_answered", "probe_answered"),
        field("pending", "pending"),
        field("outstanding", "outstanding"),
    ];
    let fields: Vec<(&str, &Signal)> = fields.iter().map(|(name, value)| (*name, value)).collect();
    let valid = p.get(&format!("valid_{LAST}"));
    let room = output_queue(b, "m_axis_result", &valid, &fields);
    b.drive("moves", &room);
    b.drive("moves_next", &room_next(b, "m_axis_result", &valid, &room));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdl::{emit, mutate::mutate};
    use metaroce_model::params::PROFILES;

    /// H2: the unit elaborates for every profile, into plain names.
    #[test]
    fn every_profile_elaborates() {
        for profile in PROFILES {
            let module = unit(&Params::load(profile).unwrap());
            for (name, module) in module.hierarchy() {
                assert!(!emit::module(&module).contains('$'), "{profile}: {name}");
            }
        }
    }

    /// H2: so does the narrowest profile that is possible, where PSNs have no bits to spare.
    #[test]
    fn the_narrowest_profile_elaborates() {
        let mut params = Params::load("tiny").unwrap();
        for sack_bits in [16, 32, 64, 128, 256] {
            params.sack_bits = sack_bits;
            params.psn_bits = sack_bits.trailing_zeros() + 2;
            params.check().unwrap();
            assert!(emit::module(&unit(&params)).contains("module sack_tx"));
        }
    }

    /// H3: each listed line exists and can be broken.
    #[test]
    fn every_mutation_applies() {
        for profile in PROFILES {
            let module = unit(&Params::load(profile).unwrap());
            assert_eq!(mutate(&module, &MUTATIONS).err(), None);
        }
    }
}
