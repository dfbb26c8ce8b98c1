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
//! the codes' update knows no frontier to come, and the frontier's update knows no codes. The timestamps go with the frontier; base and next PSN
//! need neither, and the search for the frontier takes them two stages earlier. Hence three loops, each four clocks long, with a memory each.
//! A fourth, short path goes from codes to timestamps: whether something is pending decides whether a RETRANSMIT takes place.
//!
//! # Pipeline
//! | stage | operation | PSNs: base, next | progress: frontier, timestamps | codes |
//! |---|---|---|---|---|
//! | 0 | issues | read | | |
//! | 1 | decoded | memory's output | | |
//! | 2 | highest vector bit of each group | raw register | read | |
//! | 3 | | **state** | memory's output | |
//! | 4 | PSNs compared | position of `next` decoded | raw register | read |
//! | 5 | verdict | vector's group at `next`, groups below | **state** | memory's output |
//! | 6 | timestamps compared | **result**; highest lane, highest group | | raw register |
//! | 7 | | written to memory | start of the search, highest vector bit | **state**, window mask |
//! | 8 | | | which is higher; mark | generations turned; groups with pending ones |
//! | 9 | newly acknowledged, lost again | | **result**, written to memory | acknowledged and lost set; group to send again, first pending of each |
//! | 10 | counts | | window mask | its lane; written to memory |
//! | 11 | counts | | | **result** |
//! | 12 | counts | | | groups with pending ones |
//! | 13 | result, enters the output queue | | | |
//!
//! An operation finds in the memories what operations on its path at distance 8 (PSNs, progress) and 7 (codes) or more left there. The result of a nearer
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
    advance_psns(&p);
    search::search_vector(&p);
    codes::read_codes(&p);
    search::search_pending(&p);
    advance_progress(&p);
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

    /// The PSNs that a path keeps, and their widths.
    fn psn_fields(&self) -> Vec<(&'static str, u32)> {
        vec![("base", self.psn_bits), ("next", self.psn_bits)]
    }

    /// What a path keeps beside PSNs and codes, and its width.
    fn progress_fields(&self) -> Vec<(&'static str, u32)> {
        vec![
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
        valid = b.stage(&format!("valid_{stage}"), &p.moves, &valid);
    }
    for (field, last) in [("op", LAST), ("path", LAST), ("psn", 5), ("echo", 5), ("now", 8)] {
        front.get(field).named(&format!("{field}_0"));
        p.carry(field, 0, last);
    }
    let codes = [
        ("init", op::INIT, 7),
        ("send", op::SEND, 4),
        ("acknowledge", op::ACKNOWLEDGE, 4),
        ("retransmit", op::RETRANSMIT, 9),
        ("probe", op::PROBE, 7),
        ("timeout", op::TIMEOUT, 7),
    ];
    let op_0 = p.get("op_0");
    for (name, code, last) in codes {
        op_0.is(code.into()).named(&format!("{name}_0"));
        p.carry(name, 0, last);
    }
    op_0.ge(&op_0.lit(u64::from(op::TIMEOUT) + 1)).named("reserved_0");
    p.carry("reserved", 0, 4);

    front.get("vector").named("vector_0");
    p.carry("vector", 0, 7);
}

/// The operations ahead on the same path whose results are on their way, by how many stages they are ahead.
fn find_hazards(p: &Pipeline) {
    for distance in 4..=7 {
        let same = p.get("path_0").eq(&p.get(&format!("path_{distance}")));
        (same & p.get(&format!("valid_{distance}"))).named(&format!("hit{distance}_0"));
    }
    p.carry("hit4", 0, 6);
    p.carry("hit5", 0, 5);
    p.carry("hit6", 0, 5);
    p.carry("hit7", 0, 3);
}

/// Part `name` of what a path keeps: fields that are the state at `stage`, from the memory or from an operation that is still on its way
/// there. Their values after the operation are due at `NAME_result` four stages later.
fn read_part(p: &Pipeline, sweep: &issue::Sweep, name: &str, fields: &[(&str, u32)], stage: usize) {
    let b = &p.b;
    let at = |signal: &str, stage: usize| p.get(&format!("{signal}_{stage}"));
    let width = fields.iter().map(|(_, width)| width).sum();
    let (read, written) = (stage - 3, stage + 4);
    let result = b.forward(&format!("{name}_result"), width);
    let register = b.register(&format!("{name}_{written}"), width);
    let arrives = (&p.moves & &at("valid", written - 1)).named(&format!("{name}_arrives"));
    b.clocked_when(&arrives, &register, &result);
    let write = (&sweep.clearing | &at("valid", written)).named(&format!("{name}_write"));
    let address = b.mux(
        &format!("{name}_address"),
        &sweep.clearing,
        &sweep.index,
        &at("path", written),
    );
    let memory = b.instance(
        &format!("{name}_memory"),
        &ram(p.paths, width),
        &[
            // The register is zero from reset until the first operation is there: just what the sweep has to write.
            ("write_enable", &write),
            ("write_address", &address),
            ("write_data", &register),
            ("read_enable", &p.moves),
            ("read_address", &at("path", read)),
        ],
    );
    p.carry(name, written, written + 1);

    // At distances 6 and 7 the result is in a register now, at distance 5 it will be; at distance 4, one clock later.
    let none = b.lit(0, width);
    let passing = b.select(
        &format!("{name}_passing"),
        &[
            (&at("hit5", read + 1), &result),
            (&at("hit6", read + 1), &at(name, written)),
            (&at("hit7", read + 1), &at(name, written + 1)),
        ],
        &none,
    );
    let passing = p.stage(&format!("{name}_passing_{}", read + 2), &passing);
    let overtaken = p.stage(
        &format!("{name}_overtaken_{}", read + 1),
        &bits::or_all(&["hit5", "hit6", "hit7"].map(|hit| at(hit, read))),
    );
    let raw = b.mux(
        &format!("{name}_read"),
        &overtaken,
        &none,
        &memory.get("read_data"),
    );
    let raw = p.stage(&format!("{name}_{}", read + 2), &raw);
    let state = b.mux(
        &format!("{name}_now"),
        &at("hit4", read + 2),
        &result,
        &(raw | passing),
    );
    let state = p.stage(&format!("{name}_{stage}"), &state);
    let mut low = 0;
    for (field, width) in fields {
        state.slice(low, *width).named(&format!("{field}_{stage}"));
        low += width;
    }
}

/// Stages 0 to 5: what the path keeps beside its codes.
fn read_context(p: &Pipeline, sweep: &issue::Sweep) {
    find_hazards(p);
    read_part(p, sweep, "psns", &p.psn_fields(), 3);
    p.carry("base", 3, 5);
    p.carry("next", 3, 5);
    read_part(p, sweep, "progress", &p.progress_fields(), 5);
    p.carry("frontier", 5, 6);
    for field in ["mark", "probe_sent", "probe_out"] {
        p.carry(field, 5, 7);
    }
    p.carry("last_sent", 5, 8);
}

/// Stages 3 to 7: what the operation may do, and what the echoed timestamp tells.
fn judge(p: &Pipeline) {
    let b = &p.b;
    let [psn, base, next] = ["psn_3", "base_3", "next_3"].map(|name| p.get(name));
    p.stage("stale_4", &!reaches(&psn, &base));
    p.stage("beyond_4", &!reaches(&next, &psn));
    let outstanding = p.limit(&next) - p.limit(&base);
    p.stage("full_4", &outstanding.is(p.size.into()));
    p.stage("at_rest_4", &outstanding.is(0));

    let echo = p.get("echo_5");
    p.stage("mark_reached_6", &reaches(&echo, &p.get("mark_5")));
    p.stage("last_reached_6", &reaches(&echo, &p.get("last_sent_5")));
    p.stage("probe_reached_6", &reaches(&echo, &p.get("probe_sent_5")));
    let near_psn = p.near(&p.get("psn_5"));
    p.stage("near_psn_6", &near_psn);
    p.stage("past_frontier_6", &reaches(&near_psn, &p.get("frontier_5")));

    let acknowledge = p.get("acknowledge_4");
    let refused = p.get("send_4") & p.get("full_4");
    p.stage(
        "accepted_5",
        &(&acknowledge & &!(p.get("stale_4") | p.get("beyond_4"))),
    );
    p.carry("accepted", 5, 7);
    p.stage("sent_5", &(p.get("send_4") & !p.get("full_4")));
    p.stage("rises_5", &(p.get("send_4") & p.get("at_rest_4")));
    p.carry("rises", 5, 7);
    p.carry("sent", 5, 7);

    let accepted = p.get("accepted_6");
    let tail = (&accepted & &p.get("last_reached_6")).named("tail_6");
    p.carry("tail", 6, 10);
    p.stage("turn_7", &(&accepted & &p.get("mark_reached_6")));
    p.stage("all_lost_7", &(&tail | &p.get("timeout_6")));
    p.stage("update_7", &(&accepted | &p.get("timeout_6")));
    p.carry("update", 7, 9);
    p.stage(
        "probe_answered_7",
        &(&accepted & &(p.get("probe_reached_6") & p.get("probe_out_6"))),
    );
    p.carry("probe_answered", 7, LAST);

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
    p.carry("status", 5, 8);
}

/// Stages 5 to 7: the PSNs after the operation.
fn advance_psns(p: &Pipeline) {
    let b = &p.b;
    let [init, accepted, sent] = ["init_5", "accepted_5", "sent_5"].map(|name| p.get(name));
    let [psn, base, next] = ["psn_5", "base_5", "next_5"].map(|name| p.get(name));
    let rebase = (&init | &accepted).named("rebase");
    let new_base = b.mux("new_base", &rebase, &psn, &base);
    p.stage("base_6", &new_base);
    p.stage("old_base_6", &p.limit(&base));
    p.carry("old_base", 6, 7);
    let moved_next = &next + &sent.extend(next.width());
    p.stage("next_6", &b.mux("new_next", &init, &psn, &moved_next));
    p.stage("psn_out_6", &b.mux("psn_out", &sent, &next, &new_base));
    p.carry("psn_out", 6, LAST - 1);
    let result = b.concat("psns_after", &[&p.get("base_6"), &p.get("next_6")]);
    b.drive("psns_result", &result);

    p.stage("base_7", &p.limit(&p.get("base_6")));
    p.stage("next_7", &p.near(&p.get("next_6")));
    p.carry("base", 7, 9);
    p.carry("next", 7, 9);
}

/// Stages 6 to 8: frontier and timestamps after the operation.
fn advance_progress(p: &Pipeline) {
    let b = &p.b;
    let [init, timeout, probe, now] = ["init_7", "timeout_7", "probe_7", "now_7"].map(|name| p.get(name));
    let anew = (&init | &(p.get("rises_7") | &timeout)).named("mark_anew");
    let remark = (&anew | &p.get("turn_7")).named("remark");
    p.stage("mark_8", &b.mux("new_mark", &remark, &now, &p.get("mark_7")));
    p.stage(
        "probe_sent_8",
        &b.mux("new_probe_sent", &probe, &now, &p.get("probe_sent_7")),
    );
    let probe_ends = &init | &(timeout | p.get("probe_answered_7"));
    p.stage("probe_out_8", &(&probe | &(p.get("probe_out_7") & !probe_ends)));

    // The frontier starts at the cumulative PSN, if that is past it, and moves up to the end of what was sent or past the highest acknowledged PSN.
    let accepted = p.get("accepted_6");
    let advances = (&accepted & &p.get("past_frontier_6")).named("advances");
    let start = b.mux("start", &advances, &p.get("near_psn_6"), &p.get("frontier_6"));
    p.stage("start_7", &start);
    p.carry("start", 7, 8);
    p.stage("start_9", &p.limit(&p.get("start_8")));
    let (last, start) = (p.get("last_7"), p.get("start_7"));
    p.stage("past_last_8", &(&last + &last.lit(1)));
    let higher = (reaches(&last, &start) & p.get("last_any_7")).named("last_is_past_start");
    p.stage("higher_8", &higher);
    let all_lost = p.get("all_lost_7");
    let searched = (p.get("accepted_7") & !&all_lost).named("searched");
    p.stage("follows_8", &(&higher & &searched));
    let settles = (&init | &all_lost).named("frontier_settles");
    let settled = b.mux("settled_frontier", &settles, &p.get("next_7"), &start);
    p.stage("settled_frontier_8", &settled);
    let past_last = p.get("past_last_8");
    p.stage(
        "unlost_9",
        &b.mux("unlost", &p.get("higher_8"), &past_last, &p.get("start_8")),
    );
    let frontier = b.mux(
        "new_frontier",
        &p.get("follows_8"),
        &past_last,
        &p.get("settled_frontier_8"),
    );

    p.stage("sends_8", &(&init | &p.get("sent_7")));
    let sends = (p.get("sends_8") | p.get("found_8")).named("touch");
    let last_sent = b.mux("new_last_sent", &sends, &p.get("now_8"), &p.get("last_sent_8"));
    let parts = [
        &frontier,
        &p.get("mark_8"),
        &last_sent,
        &p.get("probe_sent_8"),
        &p.get("probe_out_8"),
    ];
    let result = b.concat("progress_after", &parts);
    b.drive("progress_result", &result);
}

/// Stages 9 to 14: counts and flags, and the packet's PSN.
fn deliver(p: &Pipeline) {
    let b = &p.b;
    let (base, next) = (p.get("base_9"), p.get("next_9"));
    let frontier = p.limit(&p.get("progress_9")).named("frontier_9");
    p.stage("outstanding_10", &(p.limit(&next) - &base));
    p.carry("outstanding", 10, LAST);
    p.stage("tail_open_10", &p.get("unlost_9").ne(&next));
    p.stage("tail_again_10", &p.get("at_tail_9").any());
    p.stage(
        "tail_11",
        &(p.get("tail_10") & (p.get("tail_open_10") | p.get("tail_again_10"))),
    );
    p.carry("tail", 11, LAST);

    p.popcount("newly_count", &p.get("newly_9"))
        .named("acknowledged_12");
    p.popcount("again_count", &p.get("again_9"))
        .named("lost_again_12");
    // Of the packets that the frontier passed, those not acknowledged are lost.
    let passed = &frontier - &p.get("start_9");
    let none = passed.lit(0);
    p.stage("passed_10", &b.mux("passed", &p.get("update_9"), &passed, &none));
    p.carry("passed", 10, 12);
    let first = p.popcount("first_count", &p.get("first_9"));
    p.stage("holes_13", &(p.get("passed_12") - first));
    p.carry("acknowledged", 12, LAST);
    p.carry("lost_again", 12, LAST);

    let window = p.interval("window_after", &b.lit(1, 1), &base, &frontier);
    p.stage("window_11", &window);
    let codes = p.get("codes_11");
    let remain = p.get("window_11") & !(codes.truncate(p.size) | codes.slice(p.size, p.size));
    p.stage(
        "remain_12",
        &bits::any_in_groups(b, "remain_groups", &remain.named("remain"), 1 << p.lane_bits()),
    );
    p.stage("pending_13", &p.get("remain_12").any());

    // The PSN at a position is the first from the base on.
    let position_bits = p.position_bits();
    let above = |psn: &Signal| psn.slice(position_bits, p.psn_bits - position_bits);
    let base_11 = p.get("psn_out_11");
    p.stage(
        "wraps_12",
        &p.get("position_11").lt(&base_11.truncate(position_bits)),
    );
    let lap_11 = above(&base_11);
    p.stage("next_lap_12", &(&lap_11 + &lap_11.lit(1)));
    let psn_12 = p.get("psn_out_12");
    let lap = b.mux("lap", &p.get("wraps_12"), &p.get("next_lap_12"), &above(&psn_12));
    let again_psn = b.concat("again_psn", &[&p.get("position_12"), &lap]);
    p.stage(
        "psn_out_13",
        &b.mux("final_psn", &p.get("found_12"), &again_psn, &psn_12),
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
    use crate::unit::tests::assert_builds;

    /// H2: the narrowest profiles that are possible, where PSNs have no bits to spare.
    #[test]
    fn the_narrowest_profile_elaborates() {
        let mut params = Params::load("tiny").unwrap();
        for sack_bits in [16, 32, 64, 128, 256] {
            params.sack_bits = sack_bits;
            params.psn_bits = sack_bits.trailing_zeros() + 2;
            params.check().unwrap();
            assert_builds("sack_tx", &params);
        }
    }
}
