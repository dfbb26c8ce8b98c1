//! Stimulus of `sack_tx`.
//!
//! Each path has a `Shadow` of its scoreboard, just good enough to make traffic that could be real, and a `Mood` that
//! lasts for some operations: filling the window, draining it, sending again, anything at all, or one of the directed sequences that reach
//! the counts' extremes. A few hot paths at a time get most of the operations, so that they meet in the pipeline.

use crate::{
    bins::{Bins, bins},
    stimulus::{Flow, Random, Resets, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::{
        Vector,
        sack_tx::{Inputs, LATENCY, Outputs, op, status},
    },
    serial::Serial,
    unit::sack_tx::SackTx as Unit,
};
use rand::RngExt;

bins! {
    Init = "INIT",
    Send = "SEND",
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
    Distance1 = "operations on one path accepted 1 clock apart",
    Distance2 = "operations on one path accepted 2 clocks apart",
    Distance3 = "operations on one path accepted 3 clocks apart",
    Distance4 = "operations on one path accepted 4 clocks apart",
    Distance5 = "operations on one path accepted 5 clocks apart",
    Distance6 = "operations on one path accepted 6 clocks apart",
    Distance7 = "operations on one path accepted 7 clocks apart",
    Distance8 = "operations on one path accepted 8 clocks apart",
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
const HOT: usize = 8;
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
    phase: Phase,
    /// Clocks so far.
    clock: u32,
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

/// What depends on the profile.
#[derive(Clone, Debug)]
struct Widths {
    psn: Serial,
    timestamp: Serial,
    sack: u32,
    limbs: [u64; 4],
    path_mask: u16,
}

/// An operation, with what must be known of it when its result comes.
#[derive(Clone, Copy, Debug, Default)]
struct Operation {
    op: u8,
    path: u16,
    psn: u32,
    vector: [u64; 4],
    echo: u32,
    now: u32,
    /// `base` before it.
    base: u32,
    /// `next` before it.
    next: u32,
}

/// For some thousand clocks: which paths, how timestamps move, how operations are offered.
#[derive(Clone, Debug)]
struct Phase {
    left: u32,
    order: Order,
    hot: [u16; HOT],
    used: usize,
    turn: usize,
    /// An operation offered stays until it is accepted; otherwise it is garbage until then.
    steady: bool,
    /// Chance of the time to stand still, in 256ths.
    still: u32,
}

/// How the path of an operation is chosen.
#[derive(Clone, Copy, Debug)]
enum Order {
    Random,
    Round,
    Everywhere,
}

/// What is known of a path. `base` and `next` are exact when an operation is made, the timestamps when its result comes.
#[derive(Clone, Copy, Debug)]
struct Shadow {
    base: u32,
    next: u32,
    mark: u32,
    last_sent: u32,
    probe_sent: u32,
    probe_out: bool,
    /// As the last result told.
    pending: bool,
    initialised: bool,
    /// What the receiver has, as in the acknowledgement's vector; bits outside the window are of another lap.
    received: [u64; 4],
    mood: Mood,
    /// Operations until the mood changes.
    left: u32,
    /// Chance of a packet to be lost, in 256ths.
    loss: u32,
    echoes: Echoes,
    /// Times in a row that something was lost again since base moved.
    again: u32,
    accepted: u32,
}

impl Shadow {
    const NEW: Self = Self {
        base: 0,
        next: 0,
        mark: 0,
        last_sent: 0,
        probe_sent: 0,
        probe_out: false,
        pending: false,
        initialised: false,
        received: [0; 4],
        mood: Mood::Steady,
        left: 0,
        loss: 0,
        echoes: Echoes::Any,
        again: 0,
        accepted: u32::MAX / 2,
    };
}

/// What a path is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Fill,
    Steady,
    Drain,
    Repair,
    Chaos,
    /// The directed sequence: INIT, ...
    Start,
    /// ... SEND until the window is full, ...
    FillUp,
    /// ... all of it acknowledged or lost at once, and then RETRANSMIT until nothing is pending and all acknowledged or lost again at once.
    SendAgain,
}

/// Which echoes a path's acknowledgements mostly have.
#[derive(Clone, Copy, Debug)]
enum Echoes {
    Any,
    BeforeMark,
    FromMark,
    FromLast,
}

/// Weights of the operations by their code, the reserved ones last.
fn weights(mood: Mood) -> [u32; 7] {
    match mood {
        Mood::Fill => [0, 232, 12, 4, 4, 0, 4],
        Mood::Drain => [0, 8, 200, 36, 6, 2, 4],
        Mood::Repair => [0, 20, 70, 148, 10, 4, 4],
        Mood::Chaos => [16, 60, 80, 50, 20, 12, 18],
        _ => [1, 118, 90, 36, 6, 1, 4],
    }
}

impl Stimulus<Unit> for SackTx {
    fn new(params: &Params, seed: u64) -> Self {
        let mut random = random(seed);
        let clear = params.total_paths();
        let timestamp = Serial::new(params.timestamp_bits);
        let limbs = std::array::from_fn(|limb| {
            let bits = params.sack_bits.saturating_sub(64 * limb as u32).min(64);
            u64::MAX.checked_shr(64 - bits).unwrap_or(0)
        });
        Self {
            widths: Widths {
                psn: Serial::new(params.psn_bits),
                timestamp,
                sack: params.sack_bits,
                limbs,
                path_mask: (params.total_paths() - 1) as u16,
            },
            valid: Flow::new(400),
            ready: Flow::new(200),
            resets: Resets::with_clear((20 * clear).max(20_000), clear),
            phase: Phase {
                left: 0,
                order: Order::Random,
                hot: std::array::from_fn(|_| random.random_range(0..params.total_paths()) as u16),
                used: HOT,
                turn: 0,
                steady: false,
                still: 0,
            },
            clock: 0,
            time: timestamp.mask() - random.random_range(0..2000),
            shadows: vec![Shadow::NEW; params.total_paths() as usize],
            held: None,
            in_flight: [Operation::default(); IN_FLIGHT],
            oldest: 0,
            count: 0,
            clear,
            clear_left: clear,
            bins: Bins::new(BINS),
            random,
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        self.clock = self.clock.wrapping_add(1);
        let rst = self.resets.next(&mut self.random);
        let wanted = self.valid.next(&mut self.random) || (self.phase.steady && self.held.is_some());
        let m_axis_result_tready = self.ready.next(&mut self.random);
        self.pass_time();
        let operation = if rst {
            self.reset();
            None
        } else {
            if outputs.m_axis_result_tvalid {
                if m_axis_result_tready {
                    self.finish(outputs);
                } else {
                    self.hit(Bin::Held, true);
                }
            }
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
        let random = &mut self.random;
        let mut step = 1;
        if self.phase.still > 0 && random.random_range(0..256) < self.phase.still {
            step = 0;
        }
        if self.phase.left == 0 {
            let phase = &mut self.phase;
            phase.left = random.random_range(200..4000);
            phase.order = match random.random_range(0..8) {
                0..=3 => Order::Random,
                4..=6 => Order::Round,
                _ => Order::Everywhere,
            };
            phase.used = random.random_range(1..=HOT);
            for path in &mut phase.hot {
                if !self.shadows[usize::from(*path)].is_directed() && random.random() {
                    *path = random.random::<u16>() & self.widths.path_mask;
                }
            }
            phase.steady = random.random_range(0..4) == 0;
            phase.still = [0, 0, 0, 64, 224][random.random_range(0..5)];
            step = match random.random_range(0..8) {
                // To just before the wrap, or anywhere.
                0 => (self.widths.timestamp.mask() - random.random_range(0..1000)).wrapping_sub(self.time),
                1 => random.random(),
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

    fn reset(&mut self) {
        self.hit(Bin::ResetInFlight, self.count > 0);
        self.hit(Bin::ResetInClear, (1..self.clear).contains(&self.clear_left));
        if self.clear_left == 0 {
            self.shadows.fill(Shadow::NEW);
        }
        self.clear_left = self.clear;
        self.held = None;
        self.count = 0;
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
        let distance = self.clock.wrapping_sub(shadow.accepted);
        shadow.accepted = self.clock;
        if (1..=8).contains(&distance) {
            self.bins
                .hit(Bin::Distance1 as usize + distance as usize - 1, true);
        }
        self.in_flight[(self.oldest + self.count) % IN_FLIGHT] = operation;
        self.count += 1;
        self.hit(Bin::Stall, self.count == LATENCY + 2);
    }

    /// The next operation; `base` and `next` of its path's shadow are as after it.
    fn make(&mut self) -> Operation {
        let phase = &mut self.phase;
        let path = match phase.order {
            Order::Random => phase.hot[self.random.random_range(0..phase.used)],
            Order::Round => {
                phase.turn = (phase.turn + 1) % phase.used;
                phase.hot[phase.turn]
            }
            Order::Everywhere => self.random.random::<u16>() & self.widths.path_mask,
        };
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
                let initialised = shadow.initialised;
                self.hit(Bin::Send, true);
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
                remaining < self.widths.sack && bit(&operation.vector, operation.next % self.widths.sack),
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

impl Shadow {
    /// A new mood if the old one is over.
    fn choose_mood(&mut self, widths: &Widths, random: &mut Random) {
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        let long = 2 * widths.sack;
        (self.mood, self.left) = match random.random_range(0..8) {
            0 => (Mood::Fill, random.random_range(0..long)),
            1 => (Mood::Drain, random.random_range(0..long / 4)),
            2 | 3 => (Mood::Repair, random.random_range(0..long)),
            4 => (Mood::Chaos, random.random_range(0..long / 4)),
            5 => (Mood::Start, u32::MAX),
            _ => (Mood::Steady, random.random_range(0..long)),
        };
        self.loss = [0, 4, 32, 128, 256][random.random_range(0..5)];
        self.echoes = match random.random_range(0..4) {
            0 => Echoes::Any,
            1 => Echoes::BeforeMark,
            2 => Echoes::FromMark,
            _ => Echoes::FromLast,
        };
    }

    fn operation(&mut self, now: u32, widths: &Widths, random: &mut Random) -> Operation {
        let mut operation = Operation {
            now,
            base: self.base,
            next: self.next,
            ..widths.garbage(random)
        };
        operation.op = match self.mood {
            _ if self.is_directed() => self.directed(&mut operation, widths, random),
            mood => {
                let mut draw = random.random_range(0..256);
                let mut code = 0;
                for weight in weights(mood) {
                    if draw < weight {
                        break;
                    }
                    draw -= weight;
                    code += 1;
                }
                if code == op::RETRANSMIT && !self.pending && random.random_range(0..8) > 0 {
                    code = op::ACKNOWLEDGE;
                }
                match code {
                    op::ACKNOWLEDGE => self.acknowledgement(&mut operation, widths, random),
                    op::INIT => operation.psn = widths.first_psn(random),
                    6.. => code += random.random_range(0..2),
                    _ => {}
                }
                code
            }
        };
        match operation.op {
            op::INIT => (self.base, self.next) = (operation.psn, operation.psn),
            op::SEND if widths.psn.distance(self.base, self.next) < widths.sack => {
                let arrives = random.random_range(0..256) >= self.loss;
                set_bit(&mut self.received, self.next % widths.sack, arrives);
                self.next = widths.psn.add(self.next, 1);
            }
            op::ACKNOWLEDGE => {
                let steps = widths.psn.distance(self.base, operation.psn);
                if steps <= widths.psn.distance(self.base, self.next) {
                    self.base = operation.psn;
                }
            }
            _ => {}
        }
        operation
    }

    /// It is in the sequence that reaches the extremes, which takes long.
    fn is_directed(&self) -> bool {
        matches!(self.mood, Mood::Start | Mood::FillUp | Mood::SendAgain)
    }

    /// One step of the sequence that reaches the extremes.
    fn directed(&mut self, operation: &mut Operation, widths: &Widths, random: &mut Random) -> u8 {
        let full = widths.psn.distance(self.base, self.next) == widths.sack;
        // Nothing acknowledged, by an echo that reaches nothing.
        operation.psn = self.base;
        operation.vector = [0; 4];
        operation.echo = widths.timestamp.add(self.mark, u32::MAX);
        match self.mood {
            Mood::Start => {
                self.mood = Mood::FillUp;
                operation.psn = widths.first_psn(random);
                op::INIT
            }
            Mood::FillUp if !full || random.random_range(0..4) > 0 => op::SEND,
            Mood::SendAgain if self.left > 0 => op::RETRANSMIT,
            mood => {
                let turn = random.random_range(0..6);
                (self.mood, self.left) = if mood == Mood::FillUp && turn > 1 {
                    (Mood::SendAgain, widths.sack + random.random_range(0..4))
                } else {
                    (Mood::Steady, 0)
                };
                let last_bit = widths.psn.add(self.next, u32::MAX) % widths.sack;
                match turn {
                    0 => operation.psn = self.next,
                    1 => operation.vector = widths.limbs,
                    2 => set_bit(&mut operation.vector, last_bit, true),
                    3 => operation.echo = operation.now,
                    _ => return op::TIMEOUT,
                }
                op::ACKNOWLEDGE
            }
        }
    }

    /// An acknowledgement that could be real, mostly.
    fn acknowledgement(&self, operation: &mut Operation, widths: &Widths, random: &mut Random) {
        let psn = widths.psn;
        let outstanding = psn.distance(self.base, self.next);
        let received = ones_from(&self.received, self.base % widths.sack, outstanding, widths.sack);
        let steps = match random.random_range(0..64) {
            0..=31 => received,
            32..=45 => 0,
            46..=56 => random.random_range(0..=received),
            57 => outstanding,
            58 => random.random_range(0..=outstanding),
            59 => outstanding + random.random_range(1..=4),
            60 => psn.half() - 1,
            61 => psn.half() + random.random_range(0..2),
            62 => psn.mask() - random.random_range(0..4),
            _ => random.random(),
        };
        operation.psn = psn.add(self.base, steps);
        let garbage = operation.vector;
        operation.vector = self.received;
        match random.random_range(0..32) {
            // What is outside the window means nothing.
            0..=7 => {
                let window = range(operation.psn, psn.distance(operation.psn, self.next), widths.sack);
                for limb in 0..4 {
                    operation.vector[limb] =
                        (self.received[limb] & window[limb]) | (garbage[limb] & !window[limb]);
                }
            }
            8 => operation.vector = garbage,
            9 => operation.vector = [0; 4],
            _ => {}
        }
        operation.echo = self.echo(operation.now, widths.timestamp, random);
    }

    fn echo(&self, now: u32, timestamp: Serial, random: &mut Random) -> u32 {
        let near = |origin: u32, random: &mut Random| {
            timestamp.add(origin, random.random_range(0..3u32).wrapping_sub(1))
        };
        let before =
            |origin: u32, random: &mut Random| timestamp.add(origin, u32::MAX - random.random_range(0..1000));
        let any = random.random_range(0..4) == 0;
        match self.echoes {
            Echoes::BeforeMark if !any => before(self.mark, random),
            Echoes::FromMark if !any => {
                let since = timestamp.distance(self.mark, self.last_sent);
                if since < timestamp.half() {
                    timestamp.add(self.mark, random.random_range(0..=since.saturating_sub(1)))
                } else {
                    self.mark
                }
            }
            Echoes::FromLast if !any => timestamp.add(self.last_sent, random.random_range(0..4)),
            _ => match random.random_range(0..16) {
                0..=3 => near(self.mark, random),
                4..=6 => near(self.last_sent, random),
                7..=9 => near(self.probe_sent, random),
                10 => timestamp.add(near(self.mark, random), timestamp.half()),
                11 => timestamp.add(near(self.last_sent, random), timestamp.half()),
                12 => random.random::<u32>() & timestamp.mask(),
                _ => before(now, random),
            },
        }
    }
}

impl Widths {
    /// Where a path starts: just before the wrap, or anywhere.
    fn first_psn(&self, random: &mut Random) -> u32 {
        if random.random() {
            self.psn.mask() - random.random_range(0..self.sack)
        } else {
            random.random::<u32>() & self.psn.mask()
        }
    }

    /// Fields that mean nothing.
    #[inline]
    fn garbage(&self, random: &mut Random) -> Operation {
        let bits: u64 = random.random();
        let limbs = [bits, !bits.rotate_left(17), bits.rotate_left(31), !bits];
        Operation {
            op: bits as u8 & 7,
            path: (bits >> 3) as u16 & self.path_mask,
            psn: (bits >> 20) as u32 & self.psn.mask(),
            vector: std::array::from_fn(|limb| limbs[limb] & self.limbs[limb]),
            echo: (bits >> 32) as u32 & self.timestamp.mask(),
            now: (bits >> 7) as u32 & self.timestamp.mask(),
            ..Default::default()
        }
    }
}

fn bit(limbs: &[u64; 4], index: u32) -> bool {
    limbs[index as usize / 64] >> (index % 64) & 1 == 1
}

fn set_bit(limbs: &mut [u64; 4], index: u32, value: bool) {
    let limb = &mut limbs[index as usize / 64];
    *limb = *limb & !(1 << (index % 64)) | u64::from(value) << (index % 64);
}

/// How many bits are set in a row from `start` on and round, of vectors of `bits` bits; at most `most`.
fn ones_from(limbs: &[u64; 4], start: u32, most: u32, bits: u32) -> u32 {
    let (mut at, mut ones) = (start, 0);
    while ones < most {
        let room = (64 - at % 64).min(bits - at);
        let here = (limbs[at as usize / 64] >> (at % 64)).trailing_ones().min(room);
        ones += here;
        if here < room {
            break;
        }
        at = (at + room) % bits;
    }
    ones.min(most)
}

/// The bits of the PSNs `[start, start + length)` in vectors of `bits` bits.
fn range(start: u32, length: u32, bits: u32) -> [u64; 4] {
    let mut limbs = [0; 4];
    let (mut at, mut left) = (start % bits, length.min(bits));
    while left > 0 {
        let room = (64 - at % 64).min(bits - at).min(left);
        limbs[at as usize / 64] |= (u64::MAX >> (64 - room)) << (at % 64);
        left -= room;
        at = (at + room) % bits;
    }
    limbs
}
