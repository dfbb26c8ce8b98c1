//! What drives a unit's inputs: constrained-random, and the same again for the same seed.

use crate::bins::Bins;
use metaroce_model::{Params, port::Beat, unit::Unit};
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
        match self.density {
            0 => false,
            256 => true,
            density => random.random::<u32>() >> 24 < density,
        }
    }
}

/// The sender of an input stream: when it offers, and whether what it offers is what comes next or garbage.
///
/// What comes next is shown in the clock in which it is accepted, and otherwise rarely; then it stays, as the handshake says, until it is accepted.
#[derive(Clone, Debug)]
pub struct Offer {
    flow: Flow,
    held: bool,
}

/// What an [`Offer`] does in a clock.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// `tvalid`.
    pub valid: bool,
    /// The fields are those of what comes next; if not, they are garbage, and nothing is accepted.
    pub real: bool,
}

impl Offer {
    /// Offers in phases of up to `longest` clocks.
    pub fn new(longest: u32) -> Self {
        Self {
            flow: Flow::new(longest),
            held: false,
        }
    }

    /// Phases of up to `longest` clocks from now on.
    pub fn change(&mut self, longest: u32) {
        self.flow = Flow::new(longest);
    }

    /// This clock, in which an offer is accepted if `accepts`, and in which there is something to come next if `available`.
    #[inline]
    pub fn next(&mut self, random: &mut Random, accepts: bool, available: bool) -> Offered {
        let wanted = self.held || self.flow.next(random);
        let shown = accepts || self.held || (wanted && random.random::<u32>() >> 28 == 0);
        let real = wanted && shown && available;
        self.held = real && !accepts;
        Offered {
            valid: wanted && (real || !accepts),
            real,
        }
    }

    /// It holds something until it is accepted.
    pub fn held(&self) -> bool {
        self.held
    }

    /// A reset: nothing is held any more.
    pub fn clear(&mut self) {
        self.held = false;
    }
}

/// A beat of random bytes, of a bus of `lanes` bytes.
#[inline]
pub fn beat(random: &mut Random, lanes: u32) -> Beat {
    let mut limbs = [0u64; 8];
    limbs[0] = random.random();
    // The others from the first, by a mixing step each: a quarter of the cost.
    for limb in 1..(lanes / 8) as usize {
        let mixed = (limbs[limb - 1] ^ limbs[limb - 1] >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        limbs[limb] = mixed ^ mixed >> 32;
    }
    Beat::new(limbs)
}

/// The lowest `bits` bits, 0 to 64.
#[inline]
pub fn low_bits(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

/// The reset input: high for the first clocks, then rarely again, for one clock or several.
#[derive(Clone, Debug)]
pub struct Resets {
    /// Clocks that it stays high.
    left: u32,
    /// Clocks that it stays low then.
    until_next: u32,
    mean_distance: u32,
    /// Clocks of the unit's clear after a reset.
    clear: u32,
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
            until_next: 0,
            mean_distance,
            clear,
        }
    }

    /// Whether `rst` is high in this clock.
    #[inline]
    pub fn next(&mut self, random: &mut Random) -> bool {
        if self.left == 0 {
            if self.until_next > 0 {
                self.until_next -= 1;
                return false;
            }
            self.left = random.random_range(1..4);
        }
        self.left -= 1;
        if self.left == 0 {
            let in_clear = self.clear > 0 && random.random();
            let longest = if in_clear {
                self.clear
            } else {
                2 * self.mean_distance
            };
            self.until_next = random.random_range(0..longest);
        }
        true
    }
}

/// Which of `2^bits` paths (or connections) the operations are for: for a phase a few hot ones, in turn or at random, so that
/// operations on one follow each other at every short distance; or all of them.
#[derive(Clone, Debug)]
pub struct Spray {
    mask: u32,
    /// The hot ones are `first + k * step`, k below `count`.
    first: u32,
    step: u32,
    count: u32,
    in_turn: bool,
    turn: u32,
}

impl Spray {
    /// Over `total` paths, a power of two.
    pub fn new(total: u32) -> Self {
        Self {
            mask: total - 1,
            first: 0,
            step: 1,
            count: total,
            in_turn: false,
            turn: 0,
        }
    }

    /// A new phase: up to `most` hot ones, neighbours as often as not, or rarely all.
    pub fn change(&mut self, random: &mut Random, most: u32) {
        let total = self.mask + 1;
        let most = most.clamp(1, total);
        self.first = random.random::<u32>() & self.mask;
        // An odd step visits all before it meets one again.
        self.step = if random.random() {
            1
        } else {
            random.random::<u32>() | 1
        };
        self.count = if random.random_range(0..16) == 0 {
            total
        } else {
            random.random_range(1..=most)
        };
        self.in_turn = random.random();
        self.turn = 0;
    }

    /// How many are hot.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The hot one of that number, from 0.
    #[inline]
    pub fn hot(&self, number: u32) -> u16 {
        (self.first.wrapping_add(number.wrapping_mul(self.step)) & self.mask) as u16
    }

    /// The next one, given random bits.
    #[inline]
    pub fn next(&mut self, bits: u16) -> u16 {
        let number = if self.in_turn {
            self.turn = if self.turn + 1 < self.count {
                self.turn + 1
            } else {
                0
            };
            self.turn
        } else {
            // A fraction of the count: no division.
            (u32::from(bits) * self.count) >> 16
        };
        self.hot(number)
    }
}
