//! What drives a unit's inputs: constrained-random, and the same again for the same seed.

use crate::bins::Bins;
use metaroce_model::{Params, unit::Unit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The random numbers of a run: a function of the seed alone, on any machine.
pub type Random = ChaCha8Rng;

/// Random numbers for a seed.
pub fn random(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

/// Drives one unit: decides each clock's inputs, seeing that clock's outputs (which depend on registers only), and
/// counts what happened.
///
/// It drives `rst` high in the first clocks and at random later, back-pressure on every output stream, and garbage on
/// the fields of an input stream in every clock in which nothing is accepted from it.
pub trait Stimulus<U: Unit> {
    /// The stimulus of a seed.
    fn new(params: &Params, seed: u64) -> Self;

    /// The inputs of the clock whose outputs are given. Called once for every clock.
    fn inputs(&mut self, outputs: &U::Outputs) -> U::Inputs;

    /// What happened so far.
    fn bins(&self) -> &Bins;
}

/// A random bit whose density changes from phase to phase: always on, always off for a while, dense, sparse. Long phases fill and
/// drain what a uniform coin never would.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Chance of a one, in 256ths.
    density: u32,
    left: u32,
    longest: u32,
}

impl Flow {
    /// Phases of up to `longest` clocks.
    pub fn new(longest: u32) -> Self {
        Self {
            density: 256,
            left: 0,
            longest,
        }
    }

    /// The bit for this clock.
    #[inline]
    pub fn next(&mut self, random: &mut Random) -> bool {
        if self.left == 0 {
            // An idle phase is shorter: it tests nothing after the pipeline has drained.
            (self.density, self.left) = match random.random_range(0..8) {
                0..=2 => (256, random.random_range(1..=self.longest)),
                3 => (0, random.random_range(1..=self.longest.div_ceil(8))),
                4 => (32, random.random_range(1..=self.longest)),
                5 => (128, random.random_range(1..=self.longest)),
                _ => (224, random.random_range(1..=self.longest)),
            };
        }
        self.left -= 1;
        random.random_range(0..256) < self.density
    }
}

/// The reset input: high for the first clocks, then rarely again, for one clock or several.
#[derive(Clone, Debug)]
pub struct Resets {
    left: u32,
    mean_distance: u32,
    /// Clocks of the unit's clear after a reset.
    clear: u32,
    /// Clocks until the clear is broken off by another reset, 0 for never.
    again: u32,
}

impl Resets {
    /// A reset at first, and one every `mean_distance` clocks on average.
    pub fn new(mean_distance: u32) -> Self {
        Self::with_clear(mean_distance, 0)
    }

    /// The same for a unit that clears its memories for `clear` clocks after a reset: some clears are broken off by another reset.
    pub fn with_clear(mean_distance: u32, clear: u32) -> Self {
        Self {
            left: 3,
            mean_distance,
            clear,
            again: 0,
        }
    }

    /// Whether `rst` is high in this clock.
    #[inline]
    pub fn next(&mut self, random: &mut Random) -> bool {
        if self.left == 0 {
            if self.again == 1 || random.random_range(0..self.mean_distance) == 0 {
                self.left = random.random_range(1..4);
            }
            self.again = self.again.saturating_sub(1);
        }
        let high = self.left > 0;
        self.left = self.left.saturating_sub(1);
        if high && self.left == 0 && self.clear > 0 && random.random_range(0..4) == 0 {
            self.again = random.random_range(1..=self.clear);
        }
        high
    }
}
