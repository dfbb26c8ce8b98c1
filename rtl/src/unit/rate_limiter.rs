//! `rate_limiter`: token buckets and a timing wheel. Contract: [`metaroce_model::port::rate_limiter`].
//!
//! # Nothing is forwarded
//! Two operations on one connection are four clocks apart. What an operation leaves of `last`, `rate` and `cap` is known when it issues,
//! whatever it finds, so it is written two clocks after it is read. Only `tokens` and `waiting` depend on what was there before, and
//! all that depends on the other fields is worked out beforehand: what remains is one addition and one comparison, side by side, so that
//! these, too, are written three clocks after they are read. No operation meets another one's unwritten word.
//!
//! With `u = tokens + 2^(burst_bits+16)`, which is never negative, `fill` and `level` say when the bucket is full and `net` what is added otherwise:
//! ```text
//! settled at the cap:  u >= level          level   = 2^(burst_bits+16) + (cap << 16) - accrual, fill when that is negative
//!   then u'          = ceiling             ceiling = 2^(burst_bits+16) + (cap << 16) - (bytes << 16)
//! else u'            = max(u + net, 0)     net     = accrual - (bytes << 16)
//! ```
//!
//! # Stages
//! A register `NAME_K` is loaded for clock K, in which it is used; clock 0 is that of the issue. Only moving clocks count.
//!
//! | clock | what |
//! |---|---|
//! | 0 | issue: the connection offered by the wheel, or the input register; `now` is taken |
//! | 1 | `last`, `rate`, `cap` are read; the operation is decoded; cap from burst |
//! | 2 | the memories' outputs are registered; the sweep after reset enters here as an operation that fills with nothing |
//! | 3 | `last`, `rate`, `cap` are written; elapsed time |
//! | 4 | elapsed time is cut to the multiplier's 18 bits; the mantissa is shifted by the exponent's lower three bits |
//! | 5 | accrual is multiplied |
//! | 6 | accrual is shifted by the exponent's upper bit and saturated; `tokens` and `waiting` are read |
//! | 7 | level, ceiling, net |
//! | 8 | tokens after the operation; the reciprocal of the mantissa is read |
//! | 9 | `tokens` and `waiting` are written; the event goes into the output queue; deficit |
//! | 10 | deficit is multiplied by the reciprocal |
//! | 11, 12 | shifted by the exponent; offset in the wheel |
//! | 13 | insertion: see [`wheel`] |

pub mod reciprocal;
pub mod wheel;

use super::{
    axis_register::output_queue,
    issue::{InputRegister, Spacing, sweep},
    memory::ram,
};
use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        rate_limiter::{
            BYTES_BITS, ELAPSED_BITS, INSERT_CLOCKS, Inputs, LATENCY, Outputs, RATE_EXPONENT_BITS,
            RATE_MANTISSA_BITS, SAME_CONNECTION_CLOCKS, TOKEN_FRACTION_BITS, op,
        },
        unit_ports,
    },
};
use reciprocal::{RECIPROCAL_BITS, reciprocal};
use std::rc::Rc;
use wheel::{Insert, Wheel};

const STREAM: &str = "s_axis_op";
const FIELDS: [&str; 5] = ["op", "connection", "rate", "burst", "bytes"];
/// Lower exponent bits, by which the mantissa is shifted before the multiplication; the upper one shifts the product by a byte.
const EARLY_SHIFT_BITS: u32 = RATE_EXPONENT_BITS - 1;
/// Width of a deficit: the multiplier's.
const DEFICIT_BITS: u32 = 18;

/// Clocks between reading a connection's state and writing it, both memories': less than the distance of two operations.
const LAST_LOOP: usize = 3 - 1;
const TOKENS_LOOP: usize = 9 - 6;
const _: () = assert!(LAST_LOOP < SAME_CONNECTION_CLOCKS && TOKENS_LOOP < SAME_CONNECTION_CLOCKS);
const _: () = assert!(LATENCY == 10 && INSERT_CLOCKS == 13);

fn doc(params: &Params) -> String {
    format!(
        "Token bucket per connection, and a timing wheel that tells when one that had none may send again.
        Profile {}: {} connections, {} wheel slots of {} ticks, bursts up to 2^{} - 1 bytes, packets up to {} bytes.
        Latency {} clocks from an operation's acceptance to its event; initiation interval 1, and {} on one connection.",
        params.name,
        params.connections,
        params.wheel_slots,
        1 << params.wheel_tick_bits,
        params.burst_bits,
        params.max_packet_bytes,
        LATENCY + 1,
        SAME_CONNECTION_CLOCKS,
    )
}

/// The unit.
pub fn unit(params: &Params) -> Rc<Module> {
    let b = Builder::unit(
        "rate_limiter",
        &doc(params),
        &unit_ports::<Inputs, Outputs>(params),
    );
    let connections = params.connections;
    // Tokens, offset so that they are never negative: the upper bit says eligible.
    let token_bits = params.burst_bits + TOKEN_FRACTION_BITS + 1;
    let moves = b.forward("moves", 1);
    let sweep = sweep(&b, connections);
    let clearing = &sweep.clearing;
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);
    let carry = |name: &str, stages, value: &Signal| b.carry(name, &moves, value, stages);

    // Clock 0: issue.
    let wheel = Wheel::new(&b, params);
    let input = InputRegister::new(&b, STREAM, &FIELDS);
    let spacing = Spacing::new(&b, SAME_CONNECTION_CLOCKS, params.connection_bits());
    let input_conflict = spacing.conflict("input_conflict", &input.get("connection"));
    let recheck_conflict = spacing.conflict("recheck_conflict", &wheel.head);
    let input_turn = (&input.valid & &!&wheel.offer).named("input_turn");
    let issue_input = (&moves & &(&input_turn & &!input_conflict)).named("issue_input");
    let issue_recheck = (&moves & &(&wheel.offer & &!recheck_conflict)).named("issue_recheck");
    let issue = (&issue_input | &issue_recheck).named("issue");
    let issue_connection = b.mux(
        "issue_connection",
        &wheel.offer,
        &wheel.head,
        &input.get("connection"),
    );
    let wake = b.lit(op::WAKE.into(), 3);
    let issue_op = b.mux("issue_op", &wheel.offer, &wake, &input.get("op"));
    spacing.record(&moves, &issue, &issue_connection);
    input.finish(&issue_input, clearing);

    // Clock 1: decode, read.
    let valid_early = b.carry("valid", &moves, &issue, 1..=2);
    let connection_early = carry("connection", 1..=2, &issue_connection);
    let op = carry("op", 1..=9, &issue_op);
    let recheck_early = carry("recheck", 1..=2, &wheel.offer);
    let now = carry("now", 1..=2, &b.get("now"));
    let rate_given = carry("rate_given", 1..=2, &input.get("rate"));
    let burst_1 = stage("burst_1", &input.get("burst"));
    let bytes_given = carry("bytes_given", 1..=2, &input.get("bytes"));
    let valid1 = valid_early.at(1);
    let is = |code: u8| op.at(1).is(code.into());
    let configures = (&is(op::CONFIGURE) & valid1).named("configures");
    let sets_rate = ((is(op::CONFIGURE) | is(op::HINT)) & valid1).named("sets_rate");
    let configures_2 = stage("configures_2", &configures);
    let sets_rate_2 = stage("sets_rate_2", &sets_rate);
    let charges_2 = stage("charges_2", &is(op::CHARGE));
    let packet = burst_1.lit(params.max_packet_bytes.into());
    let covers = burst_1.ge(&packet).named("burst_covers_packet");
    let cap_given = b.mux("cap_given", &covers, &(&burst_1 - &packet), &burst_1.lit(0));
    let cap_given_2 = stage("cap_given_2", &cap_given);

    // Clock 2: the memories' outputs come; the sweep is a configuration with nothing, less one token unit.
    let swept = |name: &str, value: &Signal, initial: u64| b.mux(name, clearing, &value.lit(initial), value);
    let valid = b.carry("valid", &moves, valid_early.at(2), 3..=9);
    let entering = b.mux("entering", clearing, &sweep.index, connection_early.at(2));
    let connection = carry("connection", 3..=13, &entering);
    let recheck = carry("recheck", 3..=9, &(recheck_early.at(2) | clearing));
    let settles = carry("settles", 3..=9, &(valid_early.at(2) | clearing));
    let fills = carry("fills", 3..=6, &(&configures_2 | clearing));
    let sweep_tokens = carry("sweep", 3..=8, clearing);
    let sets_rate_3 = stage("sets_rate_3", &(&sets_rate_2 | clearing));
    let now_3 = stage("now_3", &swept("now_written", now.at(2), 0));
    let rate_given_3 = stage("rate_given_3", &swept("rate_written", rate_given.at(2), 0));
    let cap_given_3 = stage("cap_given_3", &swept("cap_written", &cap_given_2, 0));
    let charged = b.mux(
        "bytes_charged",
        &charges_2,
        bytes_given.at(2),
        &b.lit(0, BYTES_BITS),
    );
    let bytes = carry("bytes", 3..=7, &swept("bytes_settled", &charged, 1));
    let memory = |name: &str, enable: &Signal, data: &Signal| {
        let ports = [
            ("write_enable", &(enable & &moves).named(&format!("write_{name}"))),
            ("write_address", connection.at(3)),
            ("write_data", data),
            ("read_enable", &moves),
            ("read_address", connection_early.at(1)),
        ];
        let memory = b.instance(name, &ram(connections, data.width()), &ports);
        stage(&format!("{name}_3"), &memory.get("read_data"))
    };
    let last_3 = memory("last", settles.at(3), &now_3);
    let rate_3 = memory("rate", &sets_rate_3, &rate_given_3);
    let cap_3 = memory("cap", fills.at(3), &cap_given_3);

    // Clock 3: elapsed time; the rate and the cap that hold after the operation.
    let elapsed = (&now_3 - &last_3).named("elapsed");
    let elapsed_4 = stage("elapsed_4", &elapsed);
    let rate_4 = stage("rate_4", &rate_3);
    let rate_after = b.mux("rate_after", &sets_rate_3, &rate_given_3, &rate_3);
    let mantissa_after = carry("mantissa", 4..=8, &rate_after.truncate(RATE_MANTISSA_BITS));
    let exponent_after = carry(
        "exponent",
        4..=11,
        &rate_after.slice(RATE_MANTISSA_BITS, RATE_EXPONENT_BITS),
    );
    let cap_after = b.mux("cap_after", fills.at(3), &cap_given_3, &cap_3);
    let cap = carry("cap_after", 4..=7, &cap_after);

    // Clocks 4 to 6: accrual = (mantissa * elapsed) << exponent, of the rate before.
    let elapsed_5 = stage(
        "elapsed_5",
        &saturated(&b, "elapsed_cut", &elapsed_4, ELAPSED_BITS),
    );
    let early = rate_4.slice(RATE_MANTISSA_BITS, EARLY_SHIFT_BITS);
    let scaled = rate_4
        .truncate(RATE_MANTISSA_BITS)
        .extend(RATE_MANTISSA_BITS + (1 << EARLY_SHIFT_BITS) - 1)
        .shl(&early)
        .named("scaled_mantissa");
    let scaled_5 = stage("scaled_5", &scaled);
    let late = carry("late_shift", 5..=6, &rate_4.msb());
    let product_6 = stage("product_6", &(&scaled_5 * &elapsed_5));
    let late_bits = 1 << EARLY_SHIFT_BITS;
    let accrued_bits = product_6.width() + late_bits;
    let zeros = b.lit(0, late_bits);
    let shifted = b.concat("product_shifted", &[&zeros, &product_6]);
    let accrued = b.mux("accrued", late.at(6), &shifted, &product_6.extend(accrued_bits));
    let accrual = saturated(&b, "accrual", &accrued, token_bits);
    let accrual_7 = stage("accrual_7", &accrual);
    let fills_7 = stage("fills_7", fills.at(6));

    // Clock 7: what the settlement compares and adds.
    let fraction = b.lit(0, TOKEN_FRACTION_BITS);
    let one = b.lit(1, 1);
    let offset_cap = b.concat("offset_cap", &[cap.at(7), &one]);
    let full = b.concat("full", &[&fraction, &offset_cap]);
    let level = (full.extend(token_bits + 1) - accrual_7.extend(token_bits + 1)).named("level");
    let charge = b.concat("charge", &[&fraction, bytes.at(7)]);
    let net = (accrual_7.extend(token_bits + 1) - charge.extend(token_bits + 1)).named("net");
    let ceiling = (&offset_cap - bytes.at(7).extend(offset_cap.width())).named("ceiling");
    let fills_8 = stage("fills_8", &(&fills_7 | level.msb()));
    let level_8 = stage("level_8", &level.truncate(token_bits));
    let net_8 = stage("net_8", &net);
    let ceiling_8 = stage("ceiling_8", &ceiling);

    // Clock 8: tokens after the operation. Their memory is read in clock 6 and written in clock 9.
    let bucket = b.forward("bucket_after", token_bits + 1);
    let buckets = b.instance(
        "buckets",
        &ram(connections, bucket.width()),
        &[
            ("write_enable", &(settles.at(9) & &moves).named("write_bucket")),
            ("write_address", connection.at(9)),
            ("write_data", &bucket),
            ("read_enable", &moves),
            ("read_address", connection.at(6)),
        ],
    );
    let bucket_8 = stage("bucket_8", &buckets.get("read_data"));
    let tokens_8 = bucket_8.truncate(token_bits);
    let at_cap = (&fills_8 | tokens_8.ge(&level_8)).named("at_cap");
    // Below the cap a sum cannot be too large, so its upper bit is the sign.
    let sum = (tokens_8.extend(token_bits + 1) + &net_8).named("token_sum");
    let below = sum.msb().named("token_underflow");
    let swept_fraction = sweep_tokens.at(8).sign_extend(TOKEN_FRACTION_BITS);
    let capped = b.concat("tokens_capped", &[&swept_fraction, &ceiling_8]);
    let tokens_after = b.select(
        "tokens_after",
        &[(&at_cap, &capped), (&below, &capped.lit(0))],
        &sum.truncate(token_bits),
    );
    let tokens_9 = stage("tokens_9", &tokens_after);
    let waited = (bucket_8.msb() & !recheck.at(8)).named("waited");
    let waited_9 = stage("waited_9", &waited);
    let has_rate_9 = stage("has_rate_9", &mantissa_after.at(8).any());
    let reciprocals = b.instance(
        "reciprocals",
        &reciprocal(),
        &[("read_enable", &moves), ("mantissa", mantissa_after.at(8))],
    );

    // Clock 9: the event; does the connection wait?
    let eligible = tokens_9.msb().named("eligible");
    let blocked = (!&eligible & &has_rate_9).named("blocked");
    let waiting_after = (&waited_9 | &blocked).named("waiting_after");
    b.drive(
        "bucket_after",
        &b.concat("bucket_written", &[&tokens_9, &waiting_after]),
    );
    let whole = tokens_9.slice(TOKEN_FRACTION_BITS, params.burst_bits);
    let event_tokens = b.concat("event_tokens", &[&whole, &!&eligible]);
    let event_valid = (valid.at(9) & &(!recheck.at(9) | &eligible)).named("event_valid");
    let fields = [
        ("op", op.at(9)),
        ("connection", connection.at(9)),
        ("eligible", &eligible),
        ("tokens", &event_tokens),
    ];
    let room = output_queue(&b, "m_axis_event", &event_valid, &fields);
    b.drive("moves", &room);

    // Clocks 9 to 13: when to look again.
    let waits = (valid.at(9) & &(&blocked & &!&waited_9)).named("waits");
    let waits = b.carry("waits", &moves, &waits, 10..=13);
    let none = b.lit(1 << params.burst_bits, params.burst_bits + 1);
    let deficit = (&none - &whole.extend(params.burst_bits + 1)).named("deficit");
    let deficit_10 = stage(
        "deficit_10",
        &saturated(&b, "deficit_cut", &deficit, DEFICIT_BITS),
    );
    let reciprocal_10 = stage("reciprocal_10", &reciprocals.get("quotient"));
    let product = &deficit_10 * &reciprocal_10;
    let wait_11 = stage("wait_11", &product);
    // Ticks below a slot's are cut first: that is the same and narrower.
    let tick_bits = params.wheel_tick_bits;
    b.unused("ticks_below_a_slot", &[&wait_11.truncate(tick_bits)]);
    let slots = wait_11.slice(tick_bits, DEFICIT_BITS + RECIPROCAL_BITS - tick_bits);
    let two = b.lit(0, 2);
    let coarse = b.concat("coarse_shift", &[&two, &exponent_after.at(11).slice(2, 2)]);
    let slots = slots.shr(&coarse).named("slots_coarse");
    let slot_bits = params.wheel_slots.trailing_zeros();
    let slots_12 = stage("slots_12", &saturated(&b, "slots_cut", &slots, slot_bits + 3));
    let fine_12 = stage("fine_shift_12", &exponent_after.at(11).truncate(2));
    let slots = slots_12.shr(&fine_12).named("slots_fine");
    let slots = saturated(&b, "slots_to_wait", &slots, slot_bits + 1);
    let offset = (slots.extend(slot_bits + 2) + b.lit(2, slot_bits + 2)).named("offset");
    let offset_13 = stage("offset_13", &saturated(&b, "offset_cut", &offset, slot_bits));

    let insert = Insert {
        valid: waits.at(13),
        connection: connection.at(13),
        offset: &offset_13,
    };
    wheel.finish(&moves, clearing, &issue_recheck, &insert);
    b.finish()
}

/// `value` in `width` bits, the largest when it does not fit.
fn saturated(b: &Builder, name: &str, value: &Signal, width: u32) -> Signal {
    if value.width() <= width {
        return value.extend(width).named(name);
    }
    let over = value.slice(width, value.width() - width).any();
    let over = over.named(&format!("{name}_over"));
    let largest = (!b.lit(0, width)).named(&format!("{name}_largest"));
    b.mux(name, &over, &largest, &value.truncate(width))
}

const fn broken(signal: &'static str, fault: Fault) -> Mutation {
    Mutation { signal, fault }
}

/// Lines that, when broken, the lockstep must find.
pub const MUTATIONS: [Mutation; 36] = [
    // Issue, stalls, sweep.
    broken("input_conflict", Fault::Zero),
    broken("recheck_conflict", Fault::Zero),
    broken("issue_connection", Fault::Invert),
    broken("issue_op", Fault::Increment),
    broken("valid_5", Fault::Enable),
    broken("bucket_8", Fault::Enable),
    broken("bytes_settled", Fault::Decrement),
    // Settlement.
    broken("sets_rate", Fault::Zero),
    broken("cap_given", Fault::Increment),
    broken("bytes_charged", Fault::Zero),
    broken("write_last", Fault::Zero),
    broken("elapsed", Fault::Operator),
    broken("scaled_mantissa", Fault::Operator),
    broken("late_shift_6", Fault::Zero),
    broken("accrual_over", Fault::Zero),
    broken("level", Fault::Operator),
    broken("net", Fault::Operator),
    broken("ceiling", Fault::Operator),
    broken("at_cap", Fault::Operator),
    broken("token_underflow", Fault::Zero),
    broken("waited", Fault::Operator),
    broken("blocked", Fault::Operator),
    broken("event_valid", Fault::Operator),
    // How long to wait.
    broken("deficit", Fault::Operator),
    broken("reciprocal_10", Fault::Zero),
    broken("slots_coarse", Fault::Operator),
    broken("slots_fine", Fault::Operator),
    broken("offset", Fault::Decrement),
    broken("offset_cut_over", Fault::Zero),
    // The wheel.
    broken("insert_slot", Fault::Increment),
    broken("insert_neighbour", Fault::Zero),
    broken("insert_arrives", Fault::Zero),
    broken("insert_follows_3", Fault::Zero),
    broken("occupied_clear", Fault::Zero),
    broken("wheel_count", Fault::Increment),
    broken("link_pause", Fault::Zero),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{files, unit::tests::assert_builds};

    /// H1: the smallest and the largest value of each parameter that the unit uses.
    #[test]
    fn elaborates_for_extreme_profiles() {
        let mut params = Params::load("ecp5").unwrap();
        (params.name, params.connections) = ("least".into(), 2);
        (params.timestamp_bits, params.rtt_bits, params.burst_bits) = (16, 8, 14);
        (params.wheel_slots, params.wheel_tick_bits) = (16, 2);
        params.check().unwrap();
        assert_builds("rate_limiter", &params);
        (params.name, params.connections) = ("most".into(), 4096);
        (params.timestamp_bits, params.burst_bits, params.max_packet_bytes) = (32, 24, 16383);
        (params.wheel_slots, params.wheel_tick_bits) = (1024, 10);
        params.check().unwrap();
        assert_builds("rate_limiter", &params);
    }

    /// R7: the table of reciprocals is that of the contract, end to end.
    #[test]
    fn the_table_holds_every_reciprocal() {
        let (_, text) = files(&reciprocal()).remove(0);
        for line in [
            "8'h01: quotient <= 17'h10000;",
            "8'h03: quotient <= 17'h05555;",
            "8'hff: quotient <= 17'h00101;",
        ] {
            assert!(text.contains(line), "{line}");
        }
        assert_eq!(text.matches("quotient <= ").count(), 256);
    }
}
