//! `path_table`: the context of every path and the choice of the next path. Contract: [`metaroce_model::port::path_table`].
//!
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | what happens |
//! |---|---|
//! | 0 | the operation in the input register issues; the context memories are read |
//! | 1 | read data; the operation is decoded |
//! | 2 | the context as read, in registers; all of it but variance and utilisation gets its new value |
//! | 3 | the new context is written. The variance takes the size of the RTT error, the utilisation is shifted; eligible or not? |
//! | 4 | variance and utilisation are written; the path's eligible bit goes into its connection's vector |
//! | 5 | the vector is written; its prefixes are found |
//! | 6 | the turn: which eligible path is next |
//! | 7 | the turn is written; the chosen path's index |
//! | 8 | the route memory: read, or written by CONFIGURE |
//! | 9 | read data |
//! | 10 | the result enters the output queue |
//!
//! The retransmission timeout is added up and shifted in stages 4 to 9.
//!
//! # Hazards
//! - The context is written three clocks after it was read and two operations on one path are four apart, so nothing is forwarded. Variance and
//!   utilisation take two clocks (`slow`) and are written one later: from an operation four ahead they are forwarded, out of stage 6. That the
//!   utilisation has only two clocks is due to a trick: what is kept is its value before the operation's own packet, and whether there was one.
//! - Vector and turn are loops of one clock (`selection`), so operations on one connection need no distance at all.
//! - The route memory is read and written in the same stage, so in order.
//!
//! # Reset
//! The sweep enters the pipeline at stage 3, with zero for all contents, and goes through it like a path operation without a result. At
//! stage 3 it is as far ahead of the first operation accepted as the hazards above ask for.

mod selection;

use super::{axis_register, issue, memory};
use crate::hdl::{
    Builder, Carried, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        path_table::{
            Inputs, LATENCY, MAX_BACKOFF, Outputs, SAME_PATH_CLOCKS, UTILISATION_EPOCH_BITS,
            WINDOW_FRACTION_BITS, op, state,
        },
        unit_ports,
    },
};
use std::rc::Rc;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Context of {} paths (route, state, window, packets in flight, RFC 6298 round-trip time, ECN counts, utilisation,
        last progress), and the choice of the next of a connection's {} paths to spray on.
        Profile {}: connections = {}, paths = {}, planes = {}, window_bits = {}, rtt_bits = {}, timestamp_bits = {}.
        Latency {LATENCY} clocks from issue to m_axis_result_tvalid, one more from acceptance. Initiation interval 1;
        {SAME_PATH_CLOCKS} between two path operations (all but SELECT) on one path.",
        params.total_paths(),
        params.paths,
        params.name,
        params.connections,
        params.paths,
        params.planes,
        params.window_bits,
        params.rtt_bits,
        params.timestamp_bits,
    );
    let b = Builder::unit("path_table", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    let moves_next = b.forward("moves_next", 1);
    let operation = Operation::new(&b, params, &moves, &moves_next);
    let context = context(&b, params, &moves, &operation);
    let chosen = selection::selection(&b, params, &moves, &operation, &context.eligible);
    let path = b.carry("result_path", &moves, &chosen.path, 8..=10);
    let (plane, source_port) = route(&b, params, &moves, &operation, path.at(8), chosen.found.at(9));
    let timeout = timeout(&b, params, &moves, &operation, &context);

    let valid = operation.valid.at(10);
    let has_room = axis_register::output_queue(
        &b,
        "m_axis_result",
        valid,
        &[
            ("op", operation.op.at(10)),
            ("path", path.at(10)),
            ("found", chosen.found.at(10)),
            ("plane", &plane),
            ("source_port", &source_port),
            ("state", context.state.at(10)),
            ("window", context.window.at(10)),
            ("in_flight", context.in_flight.at(10)),
            ("rtt_valid", context.rtt_valid.at(10)),
            ("smoothed_rtt", context.smoothed_rtt.at(10)),
            ("rtt_variance", context.rtt_variance.at(10)),
            ("timeout", &timeout),
            ("backoff", context.backoff.at(10)),
            ("packets", context.packets.at(10)),
            ("marked", context.marked.at(10)),
            ("utilisation", context.utilisation.at(10)),
            ("last_progress", context.last_progress.at(10)),
        ],
    );
    b.drive("moves", &has_room);
    let room_next = axis_register::room_next(&b, "m_axis_result", valid, &has_room);
    b.drive("moves_next", &room_next);
    b.finish()
}

const FIELDS: [&str; 13] = [
    "op",
    "path",
    "clear",
    "plane",
    "source_port",
    "state",
    "window",
    "acknowledged",
    "lost",
    "marked",
    "rtt_valid",
    "rtt",
    "now",
];

/// Stage 0, and what goes down the pipeline whatever the operation does.
struct Operation {
    /// The input register, at stage 0.
    input: issue::InputRegister,
    /// The sweep after reset is on; it enters at stage 3.
    clearing: Signal,
    /// An operation with a result, 1 to 10.
    valid: Carried,
    /// Its code, 1 to 10.
    op: Carried,
    /// It is a selection, 1 to 5.
    select: Carried,
    /// The path it was asked with, 1 and 2.
    asked: Carried,
    /// The path, of an operation or of the sweep, 3 to 7.
    path: Carried,
    /// A write of the sweep, 3 to 7.
    sweep: Carried,
    /// An operation or a write of the sweep, 3 to 7.
    active: Carried,
    /// Either, and not a selection, 3 to 5.
    on_path: Carried,
}

impl Operation {
    fn new(b: &Builder, params: &Params, moves: &Signal, moves_next: &Signal) -> Self {
        let sweep = issue::sweep(b, params.total_paths());
        let select_code = u64::from(op::SELECT);
        let front = issue::in_order(
            b,
            "s_axis_op",
            &FIELDS,
            ("path", SAME_PATH_CLOCKS),
            |field| !field("op").is(select_code),
            (moves, moves_next),
            &sweep,
        );
        let clearing = sweep.clearing;
        let is_select = front.get("op").is(select_code).named("is_select");
        let valid = b.carry("valid", moves, &front.issue, 1..=10);
        let select = b.carry("select", moves, &(&front.issue & &is_select), 1..=5);
        let asked = b.carry("path", moves, &front.get("path"), 1..=2);
        let path = b.mux("next_path_3", &clearing, &sweep.index, asked.at(2));
        let active = (valid.at(2) | &clearing).named("next_active_3");
        let on_path = (&active & &!select.at(2)).named("next_on_path_3");
        Self {
            op: b.carry("op", moves, &front.get("op"), 1..=10),
            path: b.carry("path", moves, &path, 3..=7),
            sweep: b.carry("sweep", moves, &clearing, 3..=7),
            active: b.carry("active", moves, &active, 3..=7),
            on_path: b.carry("on_path", moves, &on_path, 3..=5),
            input: front.input,
            clearing,
            valid,
            select,
            asked,
        }
    }

    /// A register of stage 2 that holds for the writes of the sweep, and for operations for which `condition_1` does.
    fn or_sweep(&self, b: &Builder, name: &str, moves: &Signal, condition_1: &Signal) -> Signal {
        let register = b.register_reset(name, 1, 1);
        b.clocked_when(moves, &register, &(condition_1 | &self.clearing));
        register
    }
}

/// A memory of one word a path, read at stage 0. At stage 2 the word is in a register, and a wire `kept_FIELD` is each field.
struct PathMemory<'a> {
    b: &'a Builder,
    name: &'static str,
    depth: u32,
    fields: &'a [(&'static str, u32)],
}

impl<'a> PathMemory<'a> {
    fn new(
        b: &'a Builder,
        params: &Params,
        name: &'static str,
        fields: &'a [(&'static str, u32)],
        moves: &Signal,
    ) -> Self {
        let width = fields.iter().map(|(_, width)| width).sum();
        let read = b.forward(&format!("{name}_1"), width);
        let word = b.stage(&format!("{name}_2"), moves, &read);
        let mut low = 0;
        for (field, width) in fields {
            b.wire(&format!("kept_{field}"), &word.slice(low, *width));
            low += width;
        }
        Self {
            b,
            name,
            depth: params.total_paths(),
            fields,
        }
    }

    /// Writes a word of `values`, in the order of the fields, for the operation in a stage; reads for the one in stage 0.
    fn finish(self, moves: &Signal, operation: &Operation, stage: u32, values: &[&Signal]) {
        let widths = self.fields.iter().map(|(_, width)| *width);
        assert!(
            widths.eq(values.iter().map(|value| value.width())),
            "fields of {}",
            self.name
        );
        let word = self.b.concat(&format!("{}_word_{stage}", self.name), values);
        let outputs = self.b.instance(
            &format!("{}_memory", self.name),
            &memory::ram(self.depth, word.width()),
            &[
                ("write_enable", operation.on_path.at(stage)),
                ("write_address", operation.path.at(stage)),
                ("write_data", &word),
                ("read_enable", moves),
                ("read_address", &operation.input.get("path")),
            ],
        );
        self.b
            .drive(&format!("{}_1", self.name), &outputs.get("read_data"));
    }
}

/// What is kept of a path, after the operation; zero for a selection.
struct Context {
    state: Carried,
    window: Carried,
    in_flight: Carried,
    rtt_valid: Carried,
    /// From stage 3 on.
    smoothed_rtt: Carried,
    /// Four times the variance, 4 to 6.
    variance4: Carried,
    rtt_variance: Carried,
    backoff: Carried,
    packets: Carried,
    marked: Carried,
    utilisation: Carried,
    last_progress: Carried,
    /// The path is eligible, at stage 4.
    eligible: Signal,
}

/// The context memories, and stages 1 to 6 of what they hold.
fn context(b: &Builder, params: &Params, moves: &Signal, operation: &Operation) -> Context {
    let input = &operation.input;
    let stage = |name: &str, value: &Signal| b.stage(name, moves, value);

    // Stage 1: the operation is decoded.
    let decoded = |name: &str, code: u8| stage(&format!("{name}_1"), &input.get("op").is(code.into()));
    let offered = |field: &str| stage(&format!("new_{field}_1"), &input.get(field));
    let configure_1 = decoded("configure", op::CONFIGURE);
    let send_1 = decoded("send", op::SEND);
    let acknowledge_1 = decoded("acknowledge", op::ACKNOWLEDGE);
    let timeout_1 = decoded("timeout", op::TIMEOUT);
    let clear_1 = (offered("clear") & &configure_1).named("clear_1");
    let sample_1 = (offered("rtt_valid") & &acknowledge_1).named("sample_1");
    let any_acknowledged_1 = stage("any_acknowledged_1", &input.get("acknowledged").any());
    let progress_1 = (&any_acknowledged_1 & &acknowledge_1).named("progress_1");
    let select_1 = operation.select.at(1);
    let count_bits = params.sack_count_bits();
    let counted = |field: &str| input.get(field).extend(count_bits + 1);
    let returned_1 = stage("returned_1", &(counted("acknowledged") + counted("lost")));

    // Stage 2: what each part of the context is to do. Zero is the sweep's, a clearing CONFIGURE's, or only the result's.
    let idle_2 = operation.or_sweep(b, "idle_2", moves, select_1);
    let forget_2 = operation.or_sweep(b, "forget_2", moves, &(select_1 | &clear_1));
    let empty_2 = operation.or_sweep(b, "empty_2", moves, &(select_1 | &clear_1 | &timeout_1));
    let configure_2 = stage("configure_2", &configure_1);
    let timeout_2 = stage("timeout_2", &timeout_1);
    let send_2 = stage("send_2", &send_1);
    let sample_2 = stage("sample_2", &sample_1);
    let progress_2 = stage("progress_2", &progress_1);
    let touch_2 = stage("touch_2", &(&progress_1 | &clear_1));
    let state_2 = stage("new_state_2", &offered("state"));
    let window_2 = stage("new_window_2", &offered("window"));
    let now_2 = stage("new_now_2", &offered("now"));
    let rtt_2 = stage("rtt_2", &offered("rtt").gated(&sample_1));
    let packets_2 = stage("packets_added_2", &offered("acknowledged").gated(&acknowledge_1));
    let marked_2 = stage("marked_added_2", &offered("marked").gated(&acknowledge_1));
    // What in flight changes by: two's complement, wide enough for every sum with it.
    let step_bits = params.window_bits.max(count_bits) + 2;
    let returned = returned_1.extend(step_bits);
    let step_1 = b.mux(
        "step_1",
        &acknowledge_1,
        &(returned.lit(0) - &returned),
        &send_1.extend(step_bits),
    );
    let step_2 = stage("step_2", &step_1);

    let epoch_bits = params.timestamp_bits - UTILISATION_EPOCH_BITS;
    let fields = [
        ("state", 2),
        ("window", params.window_bits + WINDOW_FRACTION_BITS),
        ("in_flight", params.window_bits),
        ("rtt_valid", 1),
        ("smoothed8", params.rtt_bits + 3),
        ("backoff", 4),
        ("packets", 16),
        ("marked", 16),
        ("epoch", epoch_bits),
        ("last_progress", params.timestamp_bits),
    ];
    let fast = PathMemory::new(b, params, "context", &fields, moves);
    let slow_fields = [("variance4", params.rtt_bits + 2), ("utilised", 16), ("sent", 1)];
    let slow = PathMemory::new(b, params, "slow_context", &slow_fields, moves);
    let kept = |field: &str| b.get(&format!("kept_{field}"));
    // The next value of a field, zero where the condition holds, and its register at stage 3.
    let settle = |name: &str, zero: &Signal, value: &Signal, last: u32| {
        let next = b.mux(&format!("next_{name}_3"), zero, &value.lit(0), value);
        b.carry(name, moves, &next, 3..=last)
    };

    // Stage 2 to 3: all but variance and utilisation.
    let state_is = |code: u8| kept("state").is(code.into());
    let suspected = (&timeout_2 & &state_is(state::UP)).named("suspected");
    let recovered = (&progress_2 & &state_is(state::SUSPECT)).named("recovered");
    let next_state = b.select(
        "changed_state",
        &[
            (&configure_2, &state_2),
            (&suspected, &b.lit(state::SUSPECT.into(), 2)),
            (&recovered, &b.lit(state::UP.into(), 2)),
        ],
        &kept("state"),
    );
    let state = settle("state", &idle_2, &next_state, 10);
    let one_packet = kept("window").lit(1 << WINDOW_FRACTION_BITS);
    let next_window = b.select(
        "changed_window",
        &[(&configure_2, &window_2), (&timeout_2, &one_packet)],
        &kept("window"),
    );
    let window = settle("window", &idle_2, &next_window, 10);

    let flying = (kept("in_flight").extend(step_bits) + &step_2).named("flying");
    let over = flying.slice(params.window_bits, step_bits - 1 - params.window_bits);
    let flying_over = (over.any() & !flying.msb()).named("flying_over");
    let floored = flying.truncate(params.window_bits).gated(&!flying.msb());
    let next_in_flight = (floored | flying_over.sign_extend(params.window_bits)).named("changed_in_flight");
    let in_flight = settle("in_flight", &empty_2, &next_in_flight, 10);

    // Before the first sample smoothed8 and variance4 are zero, so that it only has to be scaled.
    let kept_rtt = kept("smoothed8")
        .slice(3, params.rtt_bits)
        .gated(&sample_2)
        .named("kept_rtt");
    let scaled = |name: &str, shift: u32| {
        let width = params.rtt_bits + shift;
        let first = b.concat(&format!("first_{name}"), &[&b.lit(0, shift), &rtt_2]);
        b.mux(
            &format!("{name}_sample"),
            &kept("rtt_valid"),
            &rtt_2.extend(width),
            &first,
        )
    };
    let smoothing =
        (kept("smoothed8") + scaled("smoothed", 3) - kept_rtt.extend(params.rtt_bits + 3)).named("smoothing");
    let smoothed8 = settle("smoothed8", &forget_2, &smoothing, 3);
    let rtt_valid = settle("rtt_valid", &forget_2, &(kept("rtt_valid") | &sample_2), 10);
    let error_bits = params.rtt_bits + 2;
    let error_3 = stage(
        "rtt_error_3",
        &(scaled("error", 1).extend(error_bits) - kept_rtt.extend(error_bits)),
    );

    let doubled = (kept("backoff") + kept("backoff").lit(1)).gated(&timeout_2);
    let at_most = kept("backoff").is(MAX_BACKOFF.into());
    let next_backoff = b.select(
        "changed_backoff",
        &[(&progress_2, &b.lit(0, 4)), (&(&timeout_2 & &!at_most), &doubled)],
        &kept("backoff"),
    );
    let backoff = settle("backoff", &forget_2, &next_backoff, 10);
    let packets = settle(
        "packets",
        &forget_2,
        &(kept("packets") + packets_2.extend(16)),
        10,
    );
    let marked = settle("marked", &forget_2, &(kept("marked") + marked_2.extend(16)), 10);
    let now_epoch = now_2.slice(UTILISATION_EPOCH_BITS, epoch_bits);
    let epoch = settle("epoch", &idle_2, &now_epoch, 3);
    let first_2 = &send_2 & !kept("in_flight").any();
    let since_2 = (&touch_2 | &first_2).named("progress_since");
    let progressed = b.mux("changed_last_progress", &since_2, &now_2, &kept("last_progress"));
    let last_progress = settle("last_progress", &idle_2, &progressed, 10);
    fast.finish(
        moves,
        operation,
        3,
        &[
            state.at(3),
            window.at(3),
            in_flight.at(3),
            rtt_valid.at(3),
            smoothed8.at(3),
            backoff.at(3),
            packets.at(3),
            marked.at(3),
            epoch.at(3),
            last_progress.at(3),
        ],
    );

    // Stage 2 to 4: variance and utilisation. An operation on the same path four ahead, now at stage 6, wrote them too late for the read.
    let four_ahead = operation.asked.at(1).eq(operation.path.at(5)) & operation.on_path.at(5);
    let four_ahead_2 = stage("four_ahead_2", &four_ahead);
    let variance_bits = params.rtt_bits + 2;
    let variance4_ahead = b.forward("variance4_ahead", variance_bits);
    let utilisation_ahead = b.forward("utilisation_ahead", 16);

    let forget_3 = stage("forget_3", &forget_2);
    let variance4 = b.mux(
        "current_variance4",
        &four_ahead_2,
        &variance4_ahead,
        &kept("variance4"),
    );
    let quarter = variance4.slice(2, params.rtt_bits).gated(&sample_2);
    let rest_3 = stage("variance_rest_3", &(&variance4 - quarter.extend(variance_bits)));
    // |e| = ~e + 1 for a negative e: the 1 is a carry from one bit further down.
    let below = error_3.msb();
    let size = (&error_3 ^ &below.sign_extend(error_bits)).named("rtt_error_size_3");
    let grown = b.concat("variance_rest_and_one_3", &[&b.lit(1, 1), &rest_3])
        + b.concat("rtt_error_size_and_carry_3", &[&below, &size]);
    let grown = grown.named("variance_sum_3");
    b.unused("variance_carry", &[&grown.bit(0)]);
    let next_variance4 = b.mux(
        "next_variance4_4",
        &forget_3,
        &rest_3.lit(0),
        &grown.slice(1, variance_bits),
    );
    let variance4 = b.carry("variance4", moves, &next_variance4, 4..=6);
    b.drive("variance4_ahead", variance4.at(6));

    let with_packet = |count: &Signal, sent: &Signal| count + &(sent & &!count.all()).extend(16);
    let counted = with_packet(&kept("utilised"), &kept("sent"));
    let current = b.mux("current_utilisation", &four_ahead_2, &utilisation_ahead, &counted);
    let utilisation_3 = stage("utilisation_3", &current);
    let epochs_3 = stage("epochs_3", &(&now_epoch - &kept("epoch")));
    let forgotten = epochs_3.slice(4, epoch_bits - 4).any() | &forget_3;
    let forgotten = forgotten.named("utilisation_forgotten_3");
    let decayed = utilisation_3
        .shr(&epochs_3.truncate(4))
        .named("utilisation_decayed_3");
    let utilised_4 = stage(
        "utilised_4",
        &b.mux("next_utilised_4", &forgotten, &decayed.lit(0), &decayed),
    );
    let sent_3 = settle("sent", &idle_2, &send_2, 4);
    let utilisation = b.carry(
        "utilisation",
        moves,
        &with_packet(&utilised_4, sent_3.at(4)),
        5..=10,
    );
    b.drive("utilisation_ahead", utilisation.at(6));
    slow.finish(moves, operation, 4, &[variance4.at(4), &utilised_4, sent_3.at(4)]);

    // Stage 3 to 4: eligible?
    let whole_packets = window.at(3).slice(WINDOW_FRACTION_BITS, params.window_bits);
    let room_3 = (in_flight.at(3).lt(&whole_packets) | !in_flight.at(3).any()).named("room_3");
    let eligible = stage("eligible_4", &(room_3 & state.at(3).is(state::UP.into())));

    Context {
        smoothed_rtt: b.carry(
            "smoothed_rtt",
            moves,
            &smoothed8.at(3).slice(3, params.rtt_bits),
            4..=10,
        ),
        rtt_variance: b.carry(
            "rtt_variance",
            moves,
            &variance4.at(6).slice(2, params.rtt_bits),
            7..=10,
        ),
        state,
        window,
        in_flight,
        rtt_valid,
        variance4,
        backoff,
        packets,
        marked,
        utilisation,
        last_progress,
        eligible,
    }
}

/// The retransmission timeout at stage 10: added up in stages 4 and 5, shifted in 6 and 7, cut to its range in 8.
fn timeout(b: &Builder, params: &Params, moves: &Signal, operation: &Operation, context: &Context) -> Signal {
    let variance4 = context.variance4.at(4);
    let at_least_one = (variance4.bit(0) | !variance4.any()).named("variance_at_least_one_4");
    let upper = variance4.slice(1, variance4.width() - 1);
    let variance = b.concat("timeout_variance_4", &[&at_least_one, &upper]);
    let variance_5 = b.stage("timeout_variance_5", moves, &variance);

    let width = params.rtt_bits + 3;
    let sum = context.smoothed_rtt.at(5).extend(width) + variance_5.extend(width);
    // A selection shows zero, and never has a sample.
    let before_first = operation.on_path.at(5).sign_extend(params.rtt_bits).extend(width);
    let sum = b.mux("timeout_sum_5", context.rtt_valid.at(5), &sum, &before_first);
    let sum_6 = b.stage("timeout_6", moves, &sum);

    let doubled = sum_6.extend(width + 3).shl(&context.backoff.at(6).slice(0, 2));
    let doubled_7 = b.stage("timeout_7", moves, &doubled);
    let sixteens = b.concat(
        "timeout_shift_7",
        &[&b.lit(0, 2), &context.backoff.at(7).slice(2, 2)],
    );
    let doubled = doubled_7.extend(width + 15).shl(&sixteens);
    let doubled_8 = b.stage("timeout_8", moves, &doubled);

    let most_bits = params.timestamp_bits - 1;
    let cut = if doubled_8.width() > most_bits {
        let over = doubled_8.slice(most_bits, doubled_8.width() - most_bits).any();
        let over = over.named("timeout_over_8");
        doubled_8.truncate(most_bits) | over.sign_extend(most_bits)
    } else {
        doubled_8.extend(most_bits)
    };
    b.carry("timeout", moves, &cut, 9..=10).at(10).clone()
}

/// The route memory, stages 8 to 10: plane and source port of the result.
fn route(
    b: &Builder,
    params: &Params,
    moves: &Signal,
    operation: &Operation,
    path_8: &Signal,
    found_9: &Signal,
) -> (Signal, Signal) {
    let input = &operation.input;
    let offered = b.concat("input_route", &[&input.get("plane"), &input.get("source_port")]);
    let offered = b.carry("new_route", moves, &offered, 1..=7);
    let configure_7 = operation.op.at(7).is(op::CONFIGURE.into()) & operation.valid.at(7);
    let write_8 = b.stage("route_write_8", moves, &(configure_7 | operation.sweep.at(7)));
    let offered = offered.at(7).gated(&!operation.sweep.at(7));
    let offered = b.carry("new_route", moves, &offered, 8..=10);

    let memory = b.instance(
        "route_memory",
        &memory::ram(params.total_paths(), offered.at(8).width()),
        &[
            ("write_enable", &write_8),
            ("write_address", path_8),
            ("write_data", offered.at(8)),
            ("read_enable", moves),
            ("read_address", path_8),
        ],
    );
    let kept_10 = b.stage("route_10", moves, &memory.get("read_data"));
    // What CONFIGURE writes it does not read in the same clock.
    let configure_10 = b.stage(
        "route_is_new_10",
        moves,
        &operation.op.at(9).is(op::CONFIGURE.into()),
    );
    let none_9 = operation.op.at(9).is(op::SELECT.into()) & &!found_9;
    let none_10 = b.stage("route_is_none_10", moves, &none_9);
    let route = b.mux(
        "result_route",
        &configure_10,
        offered.at(10),
        &kept_10.gated(&!none_10),
    );
    (
        route.truncate(params.plane_bits()),
        route.slice(params.plane_bits(), 16),
    )
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 30] = [
    Mutation { signal: "offered_waits_1", fault: Fault::Zero },
    Mutation { signal: "input_ready", fault: Fault::Operator },
    Mutation { signal: "sweep_index", fault: Fault::Increment },
    Mutation { signal: "context_2", fault: Fault::Enable },
    Mutation { signal: "four_ahead_2", fault: Fault::Zero },
    Mutation { signal: "same_next_4", fault: Fault::Zero },
    Mutation { signal: "same_2_ahead_3", fault: Fault::Zero },
    Mutation { signal: "same_3_ahead_3", fault: Fault::Zero },
    Mutation { signal: "same_4_ahead_3", fault: Fault::Zero },
    Mutation { signal: "step_1", fault: Fault::Increment },
    Mutation { signal: "flying_over", fault: Fault::Zero },
    Mutation { signal: "suspected", fault: Fault::Zero },
    Mutation { signal: "recovered", fault: Fault::Zero },
    Mutation { signal: "touch_2", fault: Fault::Operator },
    Mutation { signal: "progress_since", fault: Fault::Operator },
    Mutation { signal: "smoothing", fault: Fault::Operator },
    Mutation { signal: "rtt_error_size_3", fault: Fault::Operator },
    Mutation { signal: "changed_backoff", fault: Fault::Zero },
    Mutation { signal: "utilisation_forgotten_3", fault: Fault::Operator },
    Mutation { signal: "room_3", fault: Fault::Operator },
    Mutation { signal: "next_vector_5", fault: Fault::Invert },
    Mutation { signal: "again_6", fault: Fault::Zero },
    Mutation { signal: "wraps_6", fault: Fault::Zero },
    Mutation { signal: "turn_over_6", fault: Fault::Zero },
    Mutation { signal: "found_6", fault: Fault::Operator },
    Mutation { signal: "route_is_new_10", fault: Fault::Zero },
    Mutation { signal: "route_is_none_10", fault: Fault::Zero },
    Mutation { signal: "route_write_8", fault: Fault::Zero },
    Mutation { signal: "timeout_over_8", fault: Fault::Zero },
    Mutation { signal: "variance_at_least_one_4", fault: Fault::Zero },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H2: the corners of what a profile may be: the narrowest and the widest of everything.
    #[test]
    fn elaborates_for_extreme_profiles() {
        let mut narrow = Params::load("tiny").unwrap();
        (narrow.paths, narrow.planes, narrow.sack_bits) = (2, 1, 16);
        (narrow.timestamp_bits, narrow.rtt_bits, narrow.window_bits) = (16, 8, 4);
        let mut wide = Params::load("asic400g").unwrap();
        (wide.paths, wide.planes, wide.window_bits) = (32, 16, 10);
        // Timestamps so much wider than round-trip times that no timeout needs cutting.
        let mut long = narrow.clone();
        (long.timestamp_bits, long.sack_bits) = (32, 256);
        for params in [narrow, wide, long] {
            assert_builds("path_table", &params);
        }
    }
}
