//! Stimulus of `rate_limiter`.
//!
//! In each phase a few connections get rates, bursts and charges of one kind: fast ones that wait for a slot or two, slow ones
//! that wait beyond the wheel's horizon, convoys that wait in one slot, debtors. A `Shadow` of each connection, taken from the events, tells who
//! may send and what must have happened in the wheel, which cannot be seen from outside.

mod traffic;

use crate::{
    bins::{Bins, bins},
    stimulus::{Flow, Random, Resets, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::rate_limiter::{ELAPSED_BITS, Inputs, LATENCY, LINK_CLOCKS, Outputs, SAME_CONNECTION_CLOCKS, op},
    unit::rate_limiter::RateLimiter as Unit,
};
use rand::RngExt;
use traffic::{Operation, Phase, Shadow, Widths, exponent, mantissa};

bins! {
    Configure = "CONFIGURE",
    Charge = "CHARGE",
    Hint = "HINT",
    Query = "QUERY",
    Reserved4 = "reserved operation 4",
    Reserved5 = "reserved operation 5",
    Reserved6 = "reserved operation 6",
    Reserved7 = "reserved operation 7",
    Wake = "WAKE",
    Distance1 = "operation accepted 1 moving clock after another of its connection",
    Distance2 = "operation accepted 2 moving clocks after another of its connection",
    Distance3 = "operation accepted 3 moving clocks after another of its connection",
    Distance4 = "operation accepted 4 moving clocks after another of its connection",
    Distance5 = "operation accepted 5 moving clocks after another of its connection",
    Distance6 = "operation accepted 6 moving clocks after another of its connection",
    Distance7 = "operation accepted 7 moving clocks after another of its connection",
    Distance8 = "operation accepted 8 moving clocks after another of its connection",
    WakeBehind = "WAKE as close behind an operation on its connection as the spacing allows",
    BehindWake = "operation as close behind its connection's WAKE as the spacing allows",
    WaitsForRecheck = "operation waits for a recheck",
    Eligible = "CHARGE that leaves the connection eligible",
    InDebt = "CHARGE that leaves the connection in debt",
    DeeperDebt = "CHARGE of a connection in debt",
    LowestTokens = "tokens saturated at the lower end",
    FullBucket = "bucket filled by elapsed time",
    LargestBurst = "largest burst",
    SmallBurst = "burst of less than a packet",
    StoppedInDebt = "stopped connection in debt, not waiting",
    StoppedWaiting = "connection stopped while it waits",
    StartedAgain = "stopped connection in debt given a rate",
    HintWaiting = "rate changed while the connection waits",
    ConfigureWaiting = "CONFIGURE while the connection waits",
    NeedlessWake = "WAKE of a connection that was configured while it waited",
    WaitSmallest = "wait at exponent 0",
    WaitLargest = "wait at exponent 15",
    WaitMantissa1 = "wait at mantissa 1",
    WaitMantissa255 = "wait at mantissa 255",
    Nearest = "insertion two slots ahead",
    Middle = "insertion between",
    LastSlot = "insertion into the last slot within the horizon",
    Beyond = "insertion of a wait beyond the horizon",
    Back = "recheck that goes back to the wheel",
    Together = "connections inserted equally far ahead in consecutive clocks",
    OneSlot = "connections woken from one slot, one after the other",
    Jump = "the time jumps by more than a turn of the wheel while a connection waits",
    TimeWrap = "the time wraps",
    WaitWrap = "the time wraps while a connection waits",
    Held = "event not taken",
    LongStall = "stall of more than a slot while a connection waits",
    Stall = "everything full: pipeline, output queue and input register",
    Waits = "operation offered and not accepted",
    ClearWaits = "operation offered in the clear after reset",
    ResetInFlight = "reset with operations in flight",
    ResetWaiting = "reset while a connection waits",
    ResetInClear = "reset in the clear after reset",
    // The last two need numbers wider than the cut.
    ElapsedCut = "elapsed time cut, with room left in the bucket",
    DeficitCut = "debt of a waiting connection beyond what its wait is computed from",
}

/// Operations that can be between acceptance and event.
const IN_FLIGHT: usize = 16;
const _: () = assert!(LATENCY + 2 <= IN_FLIGHT);

/// Drives the unit.
pub struct RateLimiter {
    random: Random,
    widths: Widths,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    phase: Phase,
    /// Clocks so far.
    clock: u32,
    /// Clocks so far in which the unit certainly moved.
    moved: u32,
    /// Clocks since the output was last held back, or since a reset.
    unheld: u32,
    /// Clocks for which the output is held back.
    held_for: u32,
    now: u32,
    shadows: Vec<Shadow>,
    /// Connections that wait, as far as known.
    waiting: u32,
    /// An operation that was offered and not accepted yet.
    held: Option<Operation>,
    in_flight: [Operation; IN_FLIGHT],
    oldest: usize,
    count: usize,
    /// When and at what distance the last operation was accepted.
    accepted: u32,
    distance: u32,
    /// When the last WAKE came, and when and how far ahead the last connection was inserted, by their events.
    woke: u32,
    inserted: (u32, u32),
    clear: u32,
    clear_left: u32,
    /// Operations between acceptance and event when nothing more fits.
    full: usize,
    bins: Bins,
}

impl Stimulus<Unit> for RateLimiter {
    fn new(params: &Params, seed: u64) -> Self {
        let mut random = random(seed);
        let clear = params.connections;
        let widths = Widths::new(params);
        let possible = BINS.len() - if widths.cuts { 0 } else { 2 };
        Self {
            valid: Flow::new(400),
            ready: Flow::new(400),
            resets: Resets::with_clear((20 * clear).max(20_000), clear),
            phase: Phase::new(params),
            clock: 0,
            moved: 0,
            unheld: 0,
            held_for: 0,
            now: widths.timestamp.mask() - random.random_range(0..2000),
            shadows: vec![Shadow::NEW; params.connections as usize],
            waiting: 0,
            held: None,
            in_flight: [Operation::default(); IN_FLIGHT],
            oldest: 0,
            count: 0,
            accepted: 0,
            distance: 0,
            woke: u32::MAX / 2,
            inserted: (u32::MAX / 2, 0),
            clear,
            clear_left: clear,
            // The stages hold one operation of a connection every few clocks; beside them are the queue and the input register.
            full: 3 + (LATENCY - 1) * SAME_CONNECTION_CLOCKS.min(clear as usize) / SAME_CONNECTION_CLOCKS,
            bins: Bins::new(BINS.into_iter().take(possible)),
            widths,
            random,
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        self.clock = self.clock.wrapping_add(1);
        let rst = self.resets.next(&mut self.random);
        let wanted = self.valid.next(&mut self.random) || (self.phase.steady && self.held.is_some());
        let m_axis_event_tready = self.ready.next(&mut self.random);
        self.pass_time();
        let operation = if rst {
            self.reset();
            None
        } else {
            self.observe(outputs, m_axis_event_tready);
            self.offer(wanted, outputs)
        };
        let Operation {
            op,
            connection,
            rate,
            burst,
            bytes,
            ..
        } = operation.unwrap_or_else(|| self.widths.garbage(&mut self.random));
        Inputs {
            rst,
            now: self.now,
            s_axis_op_tvalid: wanted,
            s_axis_op_op: op,
            s_axis_op_connection: connection,
            s_axis_op_rate: rate,
            s_axis_op_burst: burst,
            s_axis_op_bytes: bytes,
            m_axis_event_tready,
        }
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl RateLimiter {
    #[inline]
    fn hit(&mut self, bin: Bin, happened: bool) {
        self.bins.hit(bin as usize, happened);
    }

    /// The next clock's `now`; a new phase when the last one is over.
    #[inline]
    fn pass_time(&mut self) {
        if self.phase.left == 0 {
            self.phase.change(&self.widths, &mut self.random);
        }
        self.phase.left -= 1;
        let mut step = 1;
        if self.phase.jumps && self.random.random_range(0..64) == 0 {
            step = self.widths.jump(self.now, &mut self.random);
            self.hit(Bin::Jump, self.waiting > 0 && step > self.widths.horizon());
        }
        let before = self.now;
        self.now = self.widths.timestamp.add(before, step);
        if self.now < before {
            self.hit(Bin::TimeWrap, true);
            self.hit(Bin::WaitWrap, self.waiting > 0);
        }
    }

    fn reset(&mut self) {
        self.hit(Bin::ResetInFlight, self.count > 0);
        self.hit(Bin::ResetWaiting, self.waiting > 0);
        self.hit(Bin::ResetInClear, (1..self.clear).contains(&self.clear_left));
        if self.clear_left == 0 {
            self.shadows.fill(Shadow::NEW);
        }
        self.clear_left = self.clear;
        self.waiting = 0;
        self.held = None;
        self.count = 0;
        self.held_for = 0;
        self.unheld = 0;
    }

    /// What is offered in a clock without reset: `None` for garbage.
    #[inline]
    fn offer(&mut self, wanted: bool, outputs: &Outputs) -> Option<Operation> {
        let in_clear = self.clear_left > 0;
        self.clear_left = self.clear_left.saturating_sub(1);
        let ready = outputs.s_axis_op_tready;
        if !ready && !in_clear && !outputs.m_axis_event_tvalid {
            // The pipeline moves, and the operation in the input register is far from its predecessor.
            let alone = self.clock.wrapping_sub(self.accepted) > 1 || self.distance > 8;
            self.hit(Bin::WaitsForRecheck, alone && self.distance > 8);
        }
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
            None => self
                .phase
                .operation(&self.shadows, &self.widths, &mut self.random),
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
        let shadow = &mut self.shadows[usize::from(operation.connection)];
        self.distance = self.clock.wrapping_sub(shadow.accepted);
        let elapsed = self.widths.timestamp.distance(shadow.settled, self.now);
        (shadow.accepted, shadow.settled) = (self.clock, self.now);
        self.accepted = self.clock;
        // Only without stalls are clocks moving clocks.
        if (1..=8).contains(&self.distance) && self.unheld > self.distance {
            self.bins
                .hit(Bin::Distance1 as usize + self.distance as usize - 1, true);
        }
        self.in_flight[(self.oldest + self.count) % IN_FLIGHT] = Operation { elapsed, ..operation };
        self.count += 1;
        self.hit(Bin::Stall, self.count == self.full);
    }

    /// Looks at the event offered in a clock without reset.
    #[inline]
    fn observe(&mut self, outputs: &Outputs, taken: bool) {
        // After a clock in which the output was free the queue has room.
        self.moved = self.moved.wrapping_add(u32::from(self.unheld > 0));
        if !outputs.m_axis_event_tvalid {
            self.unheld += 1;
            return;
        }
        if !taken {
            self.unheld = 0;
            self.held_for += 1;
            self.hit(Bin::Held, true);
            self.hit(
                Bin::LongStall,
                self.waiting > 0 && self.held_for == 2 << self.widths.tick_bits,
            );
            return;
        }
        self.unheld += 1;
        self.held_for = 0;
        self.finish(outputs);
    }

    /// An event is taken.
    fn finish(&mut self, outputs: &Outputs) {
        let connection = usize::from(outputs.m_axis_event_connection);
        let bits = self.widths.burst_bits + 1;
        let tokens = (outputs.m_axis_event_tokens << (32 - bits)) as i32 >> (32 - bits);
        // Only without stalls are distances at the output those at the issue.
        let closest = SAME_CONNECTION_CLOCKS as u32;
        let before = std::mem::replace(&mut self.shadows[connection].event, self.clock);
        let close = self.clock.wrapping_sub(before) == closest && self.unheld > 2 * closest;
        let woken = outputs.m_axis_event_op == op::WAKE && self.is_wake(outputs);
        if woken {
            self.wake(connection, tokens, close);
            return;
        }
        let operation = self.in_flight[self.oldest];
        debug_assert!(self.count > 0 && operation.connection == outputs.m_axis_event_connection);
        self.oldest = (self.oldest + 1) % IN_FLIGHT;
        self.count = self.count.saturating_sub(1);
        self.hit(Bin::BehindWake, close && before == self.woke);
        let old = self.shadows[connection];
        let shadow = &mut self.shadows[connection];
        shadow.tokens = tokens;
        match operation.op {
            op::CONFIGURE => {
                shadow.rate = operation.rate;
                shadow.cap = operation.burst.saturating_sub(self.widths.max_packet_bytes);
                shadow.configured_waiting |= old.waiting;
                self.hit(Bin::Configure, true);
                self.hit(Bin::ConfigureWaiting, old.waiting);
                self.hit(Bin::LargestBurst, operation.burst == self.widths.burst_mask);
                self.hit(Bin::SmallBurst, operation.burst < self.widths.max_packet_bytes);
            }
            op::CHARGE => {
                self.hit(Bin::Charge, true);
                self.hit(Bin::Eligible, tokens >= 0);
                self.hit(Bin::InDebt, tokens < 0 && old.tokens >= 0);
                self.hit(Bin::DeeperDebt, tokens < 0 && old.tokens < 0);
                self.hit(Bin::LowestTokens, tokens == -(1 << self.widths.burst_bits));
            }
            op::HINT => {
                shadow.rate = operation.rate;
                let stopped = mantissa(operation.rate) == 0;
                self.hit(Bin::Hint, true);
                self.hit(Bin::HintWaiting, old.waiting && !stopped);
                self.hit(Bin::StoppedWaiting, old.waiting && stopped);
                self.hit(
                    Bin::StartedAgain,
                    mantissa(old.rate) == 0 && !stopped && tokens < 0,
                );
            }
            op::QUERY => self.hit(Bin::Query, true),
            code => self
                .bins
                .hit(Bin::Reserved4 as usize + usize::from(code) - 4, true),
        }
        let settled = operation.op != op::CONFIGURE && mantissa(old.rate) > 0;
        self.hit(
            Bin::FullBucket,
            settled && old.tokens >= 0 && old.tokens < tokens && tokens == old.cap as i32,
        );
        if self.widths.cuts {
            let long = operation.elapsed >= (1 << ELAPSED_BITS) + 64;
            self.hit(
                Bin::ElapsedCut,
                settled && long && !old.waiting && old.tokens >= 0 && tokens < old.cap as i32,
            );
        }
        let rate = self.shadows[connection].rate;
        if self.widths.cuts {
            self.hit(Bin::DeficitCut, tokens < -(1 << ELAPSED_BITS) && old.waiting);
        }
        if tokens < 0 && !old.waiting {
            if mantissa(rate) == 0 {
                self.hit(Bin::StoppedInDebt, true);
            } else {
                self.insert(connection, rate, tokens);
            }
        }
    }

    /// Whether an event with WAKE's code is one, and not the reserved operation of that code.
    fn is_wake(&self, outputs: &Outputs) -> bool {
        let next = &self.in_flight[self.oldest];
        self.count == 0 || next.op != op::WAKE || next.connection != outputs.m_axis_event_connection
    }

    fn wake(&mut self, connection: usize, tokens: i32, close: bool) {
        // Two turns of the wheel, and the time that serving everyone can take.
        let turns = 2 * self.widths.horizon() + 8 * self.clear + 100;
        let shadow = &mut self.shadows[connection];
        let back = shadow.waiting && self.moved.wrapping_sub(shadow.since) > turns;
        let needless = std::mem::take(&mut shadow.configured_waiting);
        shadow.tokens = tokens;
        self.waiting -= u32::from(std::mem::take(&mut shadow.waiting));
        let distance = self.clock.wrapping_sub(self.woke);
        self.woke = self.clock;
        self.hit(Bin::Wake, true);
        self.hit(Bin::WakeBehind, close);
        self.hit(Bin::Back, back);
        self.hit(Bin::NeedlessWake, needless);
        self.hit(
            Bin::OneSlot,
            distance == LINK_CLOCKS as u32 + 1 && self.unheld > 2 * distance,
        );
    }

    /// The connection went to the wheel, by the operation whose event is taken.
    fn insert(&mut self, connection: usize, rate: u16, tokens: i32) {
        let most = (1 << ELAPSED_BITS) - 1;
        let debt = tokens.unsigned_abs();
        let ticks = (u64::from(debt.min(most)) * u64::from((1 << 16) / mantissa(rate))) >> exponent(rate);
        let offset = (ticks >> self.widths.tick_bits) + 2;
        let last = u64::from(self.widths.slots - 1);
        let shadow = &mut self.shadows[connection];
        shadow.waiting = true;
        shadow.since = self.moved;
        self.waiting += 1;
        let reached = offset.min(last) as u32;
        let together = self.inserted == (self.clock.wrapping_sub(1), reached);
        self.inserted = (self.clock, reached);
        for (bin, happened) in [
            (Bin::Nearest, offset == 2),
            (Bin::Middle, 2 < offset && offset < last),
            (Bin::LastSlot, offset == last),
            (Bin::Beyond, offset > last),
            (Bin::WaitSmallest, exponent(rate) == 0),
            (Bin::WaitLargest, exponent(rate) == 15),
            (Bin::WaitMantissa1, mantissa(rate) == 1),
            (Bin::WaitMantissa255, mantissa(rate) == 255),
            (Bin::Together, together && self.unheld > 1),
        ] {
            self.hit(bin, happened);
        }
    }
}
