//! Stimulus of `sack_tx`.
//!
//! Each path has a `Shadow` of its scoreboard, just good enough to make traffic that could be real. A few hot paths at a time get the
//! operations, so that they meet in the pipeline.

mod path;

use crate::{
    bins::{Bins, bins},
    occupancy::Occupancy,
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::{
        Vector,
        sack_tx::{Inputs, LATENCY, Outputs, op, status},
    },
    unit::sack_tx::SackTx as Unit,
};
use path::{Operation, Shadow, Widths, has_bit, set_bit};
use rand::RngExt;

bins! {
    Init = "INIT",
    Send = "SEND",
    SendAtRest = "SEND with nothing outstanding",
    Full = "SEND: full",
    Acknowledge = "ACKNOWLEDGE",
    Stale = "ACKNOWLEDGE: stale",
    JustStale = "ACKNOWLEDGE: one before base",
    FarthestStale = "ACKNOWLEDGE: stale by half of the PSNs",
    Invalid = "ACKNOWLEDGE: invalid",
    JustInvalid = "ACKNOWLEDGE: one after next",
    FarthestInvalid = "ACKNOWLEDGE: invalid by one less than half of the PSNs",
    Retransmit = "RETRANSMIT",
    None = "RETRANSMIT: nothing pending",
    Probe = "PROBE",
    Timeout = "TIMEOUT",
    Reserved6 = "reserved operation 6",
    Reserved7 = "reserved operation 7",
    Distance1 = "operation accepted 1 moving clock after another of its path",
    Distance2 = "operation accepted 2 moving clocks after another of its path",
    Distance3 = "operation accepted 3 moving clocks after another of its path",
    Distance4 = "operation accepted 4 moving clocks after another of its path",
    Distance5 = "operation accepted 5 moving clocks after another of its path",
    Distance6 = "operation accepted 6 moving clocks after another of its path",
    Distance7 = "operation accepted 7 moving clocks after another of its path",
    Distance8 = "operation accepted 8 moving clocks after another of its path",
    PsnWrap = "SEND of the last PSN before the wrap",
    BaseWrap = "base passes the wrap",
    RetransmitWrap = "RETRANSMIT beyond the wrap, base before it",
    TimeWrap = "the time wraps",
    EchoWrap = "echo after the wrap reaches a mark before it",
    WindowFull = "window full",
    WindowEmpty = "acknowledgement of everything",
    Beyond = "vector bits set beyond next",
    Cumulative = "cumulative advance with holes left behind it",
    Holes = "holes",
    LostAgain = "lost again",
    LostTwice = "lost again for the second time",
    LostOften = "lost again for the third time or later",
    Older = "rotation that finds nothing",
    EchoBeforeMark = "echo one before mark",
    EchoAtMark = "echo at mark",
    EchoAfterMark = "echo one after mark",
    EchoBeforeLast = "echo one before last_sent",
    EchoAtLast = "echo at last_sent",
    EchoAfterLast = "echo one after last_sent",
    EchoHalf = "echo half of the timestamps from mark",
    Tail = "tail lost",
    TailLostAgain = "tail lost, with packets sent again",
    ProbeAnswered = "probe answered",
    ProbeExact = "probe answered by its own timestamp",
    ProbeMissed = "echo one before probe_sent",
    ProbeDropped = "TIMEOUT with a probe out",
    TimeoutHoles = "TIMEOUT: holes",
    TimeoutAgain = "TIMEOUT: lost again",
    AllAcknowledged = "a whole window newly acknowledged at once",
    AllHoles = "a whole window of holes at once",
    AllAgain = "a whole window lost again at once",
    PendingNone = "the last pending packet sent again",
    PendingLeft = "RETRANSMIT with more left",
    Held = "result not taken",
    Stall = "everything full: pipeline, output queue and input register",
    Waits = "operation offered and not accepted",
    ClearWaits = "operation offered in the clear after reset",
    ResetInFlight = "reset with operations in flight",
    ResetInClear = "reset in the clear after reset",
    NoInit = "SEND on a path without INIT after reset",
}

/// Paths that can be hot at a time.
const HOT: u32 = 8;
/// Operations that can be between acceptance and result.
const IN_FLIGHT: usize = 16;
const _: () = assert!(LATENCY + 2 <= IN_FLIGHT);

/// Drives the unit.
pub struct SackTx {
    random: Random,
    widths: Widths,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    spray: Spray,
    phase: Phase,
    pipeline: Occupancy,
    /// The input register holds an operation.
    waiting: bool,
    /// Moving clocks so far, the present one included.
    moment: u32,
    /// Timestamp that the next operation carries.
    time: u32,
    shadows: Vec<Shadow>,
    /// An operation that was offered and not accepted yet.
    held: Option<Operation>,
    in_flight: [Operation; IN_FLIGHT],
    oldest: usize,
    count: usize,
    clear: u32,
    clear_left: u32,
    bins: Bins,
}

/// For some thousand clocks: how timestamps move, how operations are offered.
#[derive(Clone, Debug)]
struct Phase {
    left: u32,
    /// An operation offered stays until it is accepted; otherwise it is garbage until then.
    steady: bool,
    /// Chance of the time to stand still, in 256ths.
    still: u32,
}

impl Stimulus<Unit> for SackTx {
    fn new(params: &Params, seed: u64) -> Self {
        let mut random = random(seed);
        let clear = params.total_paths();
        let widths = Widths::new(params);
        Self {
            valid: Flow::new(400),
            ready: Flow::new(200),
            resets: Resets::with_clear((20 * clear).max(20_000), clear),
            spray: Spray::new(params.total_paths()),
            phase: Phase {
                left: 0,
                steady: false,
                still: 0,
            },
            pipeline: Occupancy::new(LATENCY),
            waiting: false,
            moment: 0,
            time: widths.timestamp.mask() - random.random_range(0..2000),
            shadows: vec![Shadow::NEW; params.total_paths() as usize],
            held: None,
            in_flight: [Operation::default(); IN_FLIGHT],
            oldest: 0,
            count: 0,
            clear,
            clear_left: clear,
            bins: Bins::new(BINS),
            widths,
            random,
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let wanted = self.valid.next(&mut self.random) || (self.phase.steady && self.held.is_some());
        let m_axis_result_tready = self.ready.next(&mut self.random);
        self.pass_time();
        let operation = if rst {
            self.reset();
            None
        } else {
            self.moment = self.moment.wrapping_add(u32::from(self.pipeline.moves()));
            if outputs.m_axis_result_tvalid {
                if m_axis_result_tready {
                    self.finish(outputs);
                } else {
                    self.hit(Bin::Held, true);
                }
            }
            let stalled = self.waiting && self.pipeline.is_full();
            self.hit(Bin::Stall, stalled);
            let issues = self.waiting && outputs.s_axis_op_tready;
            self.pipeline.clock(issues, m_axis_result_tready);
            self.waiting &= !issues;
            self.offer(wanted, outputs.s_axis_op_tready)
        };
        let Operation {
            op,
            path,
            psn,
            vector,
            echo,
            now,
            ..
        } = operation.unwrap_or_else(|| self.widths.garbage(&mut self.random));
        Inputs {
            rst,
            s_axis_op_tvalid: wanted,
            s_axis_op_op: op,
            s_axis_op_path: path,
            s_axis_op_psn: psn,
            s_axis_op_vector: Vector::new(vector),
            s_axis_op_echo: echo,
            s_axis_op_now: now,
            m_axis_result_tready,
        }
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl SackTx {
    #[inline]
    fn hit(&mut self, bin: Bin, happened: bool) {
        self.bins.hit(bin as usize, happened);
    }

    /// A new phase when the last one is over; the time moves.
    #[inline]
    fn pass_time(&mut self) {
        let mut step = 1;
        if self.phase.still > 0 && self.random.random::<u32>() >> 24 < self.phase.still {
            step = 0;
        }
        if self.phase.left == 0 {
            self.new_phase();
            step = match self.random.random_range(0..8) {
                // To just before the wrap, or anywhere.
                0 => {
                    let before_wrap = self.widths.timestamp.mask() - self.random.random_range(0..1000);
                    before_wrap.wrapping_sub(self.time)
                }
                1 => self.random.random(),
                _ => step,
            };
        }
        self.phase.left -= 1;
        let before = self.time;
        self.time = self.widths.timestamp.add(before, step);
        self.hit(
            Bin::TimeWrap,
            self.time == 0 && before == self.widths.timestamp.mask(),
        );
    }

    fn new_phase(&mut self) {
        // The sequences that reach the extremes take long.
        let is_directed = |number| self.shadows[usize::from(self.spray.hot(number))].is_directed();
        let busy = (0..self.spray.count().min(HOT)).any(is_directed);
        if !busy || self.random.random_range(0..4) == 0 {
            self.spray.change(&mut self.random, HOT);
        }
        self.phase = Phase {
            left: self.random.random_range(200..4000),
            steady: self.random.random_range(0..4) == 0,
            still: [0, 0, 0, 64, 224][self.random.random_range(0..5)],
        };
    }

    fn reset(&mut self) {
        self.hit(Bin::ResetInFlight, self.count > 0);
        self.hit(Bin::ResetInClear, (1..self.clear).contains(&self.clear_left));
        if self.clear_left == 0 {
            self.shadows.fill(Shadow::NEW);
        }
        self.clear_left = self.clear;
        self.held = None;
        self.count = 0;
        self.waiting = false;
        self.pipeline.clear();
    }

    /// What is offered in a clock without reset: `None` for garbage.
    #[inline]
    fn offer(&mut self, wanted: bool, ready: bool) -> Option<Operation> {
        let in_clear = self.clear_left > 0;
        self.clear_left = self.clear_left.saturating_sub(1);
        if !wanted {
            return None;
        }
        if !ready {
            self.hit(Bin::Waits, true);
            self.hit(Bin::ClearWaits, in_clear);
            // Before the clear is over every shadow is to be as after reset.
            if in_clear || !self.phase.steady {
                return None;
            }
        }
        let operation = match self.held.take() {
            Some(operation) => operation,
            None => self.make(),
        };
        if ready {
            self.accept(operation);
        } else {
            self.held = Some(operation);
        }
        Some(operation)
    }

    #[inline]
    fn accept(&mut self, operation: Operation) {
        let shadow = &mut self.shadows[usize::from(operation.path)];
        let distance = self.moment.wrapping_sub(shadow.accepted);
        shadow.accepted = self.moment;
        if (1..=8).contains(&distance) {
            self.bins
                .hit(Bin::Distance1 as usize + distance as usize - 1, true);
        }
        self.in_flight[(self.oldest + self.count) % IN_FLIGHT] = operation;
        self.count += 1;
        self.waiting = true;
    }

    /// The next operation; `base` and `next` of its path's shadow are as after it.
    fn make(&mut self) -> Operation {
        let path = self.spray.next(self.random.random());
        let shadow = &mut self.shadows[usize::from(path)];
        shadow.choose_mood(&self.widths, &mut self.random);
        let mut operation = shadow.operation(self.time, &self.widths, &mut self.random);
        operation.path = path;
        operation
    }

    /// The oldest operation's result is taken.
    #[inline]
    fn finish(&mut self, outputs: &Outputs) {
        let operation = self.in_flight[self.oldest];
        debug_assert!(self.count > 0 && operation.path == outputs.m_axis_result_path);
        self.oldest = (self.oldest + 1) % IN_FLIGHT;
        self.count = self.count.saturating_sub(1);
        let done = outputs.m_axis_result_status == status::DONE;
        self.hit(
            Bin::WindowFull,
            u32::from(outputs.m_axis_result_outstanding) == self.widths.sack,
        );
        let now = operation.now;
        let shadow = &mut self.shadows[usize::from(operation.path)];
        shadow.pending = outputs.m_axis_result_pending;
        match operation.op {
            op::INIT => {
                (shadow.mark, shadow.last_sent, shadow.probe_out) = (now, now, false);
                (shadow.initialised, shadow.again) = (true, 0);
                self.hit(Bin::Init, true);
            }
            op::SEND if done => {
                shadow.last_sent = now;
                let at_rest = outputs.m_axis_result_outstanding == 1;
                if at_rest {
                    shadow.mark = now;
                }
                let initialised = shadow.initialised;
                self.hit(Bin::Send, true);
                self.hit(Bin::SendAtRest, at_rest);
                self.hit(Bin::NoInit, !initialised);
                self.hit(Bin::PsnWrap, outputs.m_axis_result_psn == self.widths.psn.mask());
            }
            op::SEND => self.hit(Bin::Full, true),
            op::RETRANSMIT if done => {
                shadow.last_sent = now;
                if self.random.random_range(0..256) >= shadow.loss {
                    set_bit(
                        &mut shadow.received,
                        outputs.m_axis_result_psn % self.widths.sack,
                        true,
                    );
                }
                self.hit(Bin::Retransmit, true);
                self.hit(Bin::RetransmitWrap, outputs.m_axis_result_psn < operation.base);
                self.hit(Bin::PendingLeft, outputs.m_axis_result_pending);
                self.hit(Bin::PendingNone, !outputs.m_axis_result_pending);
            }
            op::RETRANSMIT => self.hit(Bin::None, true),
            op::ACKNOWLEDGE => self.finish_acknowledge(&operation, outputs),
            op::PROBE => {
                (shadow.probe_sent, shadow.probe_out) = (now, true);
                self.hit(Bin::Probe, true);
            }
            op::TIMEOUT => {
                let probe = std::mem::take(&mut shadow.probe_out);
                shadow.mark = now;
                self.hit(Bin::Timeout, true);
                self.hit(Bin::ProbeDropped, probe);
                self.hit(Bin::TimeoutHoles, outputs.m_axis_result_holes > 0);
                self.hit(Bin::TimeoutAgain, outputs.m_axis_result_lost_again > 0);
                self.hit_extremes(outputs);
            }
            6 => self.hit(Bin::Reserved6, true),
            _ => self.hit(Bin::Reserved7, true),
        }
    }

    fn hit_extremes(&mut self, outputs: &Outputs) {
        let all = self.widths.sack as u16;
        self.hit(Bin::AllAcknowledged, outputs.m_axis_result_acknowledged == all);
        self.hit(Bin::AllHoles, outputs.m_axis_result_holes == all);
        self.hit(Bin::AllAgain, outputs.m_axis_result_lost_again == all);
    }

    fn finish_acknowledge(&mut self, operation: &Operation, outputs: &Outputs) {
        let Widths { psn, timestamp, .. } = self.widths;
        let steps = psn.distance(operation.base, operation.psn);
        let outstanding = psn.distance(operation.base, operation.next);
        match outputs.m_axis_result_status {
            status::STALE => {
                self.hit(Bin::Stale, true);
                self.hit(Bin::JustStale, steps == psn.mask());
                self.hit(Bin::FarthestStale, steps == psn.half());
                return;
            }
            status::INVALID => {
                self.hit(Bin::Invalid, true);
                self.hit(Bin::JustInvalid, steps == outstanding + 1);
                self.hit(Bin::FarthestInvalid, steps == psn.half() - 1);
                return;
            }
            _ => {}
        }
        let echo = operation.echo;
        let shadow = &mut self.shadows[usize::from(operation.path)];
        let Shadow {
            mark,
            last_sent,
            probe_sent,
            probe_out,
            ..
        } = *shadow;
        let rotated = timestamp.reaches(echo, mark);
        if rotated {
            shadow.mark = operation.now;
        }
        if outputs.m_axis_result_probe_answered {
            shadow.probe_out = false;
        }
        if steps > 0 {
            shadow.again = 0;
        }
        let lost_again = outputs.m_axis_result_lost_again > 0 && !outputs.m_axis_result_tail;
        shadow.again += u32::from(lost_again);
        let again = shadow.again;
        let remaining = u32::from(outputs.m_axis_result_outstanding);
        let from = |origin: u32| timestamp.distance(origin, echo);
        let before = timestamp.mask();
        for (bin, happened) in [
            (Bin::Acknowledge, true),
            (Bin::BaseWrap, operation.psn < operation.base),
            (Bin::EchoWrap, rotated && echo < mark),
            (Bin::WindowEmpty, remaining == 0 && steps > 0),
            (
                Bin::Beyond,
                remaining < self.widths.sack && has_bit(&operation.vector, operation.next % self.widths.sack),
            ),
            (Bin::Cumulative, steps > 0 && outputs.m_axis_result_holes > 0),
            (Bin::Holes, outputs.m_axis_result_holes > 0),
            (Bin::LostAgain, lost_again && again == 1),
            (Bin::LostTwice, lost_again && again == 2),
            (Bin::LostOften, lost_again && again > 2),
            (
                Bin::Older,
                rotated && remaining > 0 && outputs.m_axis_result_lost_again == 0,
            ),
            (Bin::EchoBeforeMark, from(mark) == before),
            (Bin::EchoAtMark, from(mark) == 0),
            (Bin::EchoAfterMark, from(mark) == 1),
            (Bin::EchoBeforeLast, remaining > 0 && from(last_sent) == before),
            (Bin::EchoAtLast, remaining > 0 && from(last_sent) == 0),
            (Bin::EchoAfterLast, remaining > 0 && from(last_sent) == 1),
            (Bin::EchoHalf, from(mark) == timestamp.half()),
            (Bin::Tail, outputs.m_axis_result_tail),
            (
                Bin::TailLostAgain,
                outputs.m_axis_result_tail && outputs.m_axis_result_lost_again > 0,
            ),
            (Bin::ProbeAnswered, outputs.m_axis_result_probe_answered),
            (
                Bin::ProbeExact,
                outputs.m_axis_result_probe_answered && echo == probe_sent,
            ),
            (Bin::ProbeMissed, probe_out && from(probe_sent) == before),
        ] {
            self.hit(bin, happened);
        }
        self.hit_extremes(outputs);
    }
}
