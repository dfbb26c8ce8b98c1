//! A table as seen by the unit that asks it: answers in order, each after a while, and only what was asked.

use crate::stimulus::{Flow, Random};

/// When a table answers what it was asked.
///
/// In each clock, in this order: [`Answers::next`], then in a clock with reset [`Answers::reset`], in another [`Answers::clock`].
#[derive(Clone, Debug)]
pub struct Answers {
    flow: Flow,
    waiting: u32,
}

impl Answers {
    /// Answers in phases of up to `longest` clocks.
    pub fn new(longest: u32) -> Self {
        Self {
            flow: Flow::new(longest),
            waiting: 0,
        }
    }

    /// Whether an answer comes in this clock: at the earliest in the one after that in which it was asked for.
    #[inline]
    pub fn next(&mut self, random: &mut Random) -> bool {
        self.flow.next(random) && self.waiting > 0
    }

    /// The rising edge: one was `asked` for, one was `answered`.
    #[inline]
    pub fn clock(&mut self, asked: bool, answered: bool) {
        self.waiting = self.waiting + u32::from(asked) - u32::from(answered);
    }

    /// How many were asked for and are not answered.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// A reset: nothing that was asked for is answered any more.
    pub fn reset(&mut self) {
        self.waiting = 0;
    }
}
