//! The input side of a unit in which an accepted operation waits until it may issue, as seen from outside: when operations issue and take effect,
//! and what may happen to them until then.

use crate::occupancy::Occupancy;

/// Names of what [`Intake::events`] tells.
pub const EVENTS: [&str; 7] = [
    "offered while standing still with every place full",
    "offered while the pipeline moves and the operation before it waits",
    "offered during the clear after reset",
    "operation held until it is accepted",
    "result held back",
    "reset while operations are in the unit",
    "reset during the clear after reset",
];

/// What is known of a unit's input register and pipeline; `I` are the unit's inputs.
///
/// In each clock, in this order: [`Intake::events`], then in a clock with reset [`Intake::reset`], in another [`Intake::issue`] and [`Intake::clock`].
#[derive(Clone, Debug)]
pub struct Intake<I> {
    pipeline: Occupancy,
    waiting: Option<I>,
    held: Option<I>,
    moment: usize,
    clearing: bool,
    issued: bool,
}

impl<I: Copy> Intake<I> {
    /// Of a unit after a reset, in which a result is at the output `latency` clocks after the operation's issue.
    pub fn new(latency: usize) -> Self {
        Self {
            pipeline: Occupancy::new(latency),
            waiting: None,
            held: None,
            // Far from moment 0, which stands for never.
            moment: 1000,
            clearing: true,
            issued: false,
        }
    }

    /// Moving clocks so far, the present one included once [`Intake::issue`] was called.
    #[inline]
    pub fn moment(&self) -> usize {
        self.moment
    }

    /// The operation that was offered and not accepted: it stays.
    #[inline]
    pub fn held(&self) -> Option<I> {
        self.held
    }

    /// The clear after reset goes on.
    #[inline]
    pub fn is_clearing(&self) -> bool {
        self.clearing
    }

    /// What happens in this clock, in the order of [`EVENTS`]: `offered` at an input that is `ready` or not; a `result` at the output that is `taken` or not.
    #[inline]
    pub fn events(&self, rst: bool, offered: bool, ready: bool, result: bool, taken: bool) -> [bool; 7] {
        let waits = offered && !ready && !rst;
        let moves = self.pipeline.moves();
        let clears = self.clearing && !ready;
        [
            waits && self.waiting.is_some() && self.pipeline.is_full(),
            waits && self.waiting.is_some() && moves,
            waits && clears,
            self.held.is_some() && ready && !rst,
            result && !taken,
            rst && (self.waiting.is_some() || !self.pipeline.is_empty()),
            rst && clears,
        ]
    }

    /// The operation that issues in this clock, and so takes effect: the unit is `ready` only if what waits issues.
    #[inline]
    pub fn issue(&mut self, ready: bool) -> Option<I> {
        self.clearing &= !ready;
        self.moment += usize::from(self.pipeline.moves());
        let issued = if ready { self.waiting.take() } else { None };
        self.issued = issued.is_some();
        issued
    }

    /// The rising edge: `offered` is accepted if the unit is `ready` and held otherwise; the result at the output, if any, is `taken`. Tells whether it was accepted.
    #[inline]
    pub fn clock(&mut self, offered: Option<I>, ready: bool, taken: bool) -> bool {
        self.pipeline.clock(self.issued, taken);
        self.held = if ready { None } else { offered };
        if ready {
            self.waiting = offered;
        }
        ready && offered.is_some()
    }

    /// A reset.
    pub fn reset(&mut self) {
        self.pipeline.clear();
        (self.waiting, self.held, self.clearing) = (None, None, true);
    }
}
