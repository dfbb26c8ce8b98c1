//! What the units' tests share.

#![allow(dead_code, reason = "each test uses its part")]

pub mod frames;
pub mod nics;

use metaroce_model::{Params, port::Beat};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// Profile tiny with another length of the vector and the smallest PSN that it allows.
pub fn sized(sack_bits: u32) -> Params {
    Params {
        sack_bits,
        psn_bits: sack_bits.ilog2() + 2,
        ..Params::load("tiny").unwrap()
    }
}

/// A beat of random bytes, as wide as the profile's bus.
pub fn random_beat(random: &mut ChaCha8Rng, params: &Params) -> Beat {
    let mut beat = Beat::ZERO;
    let limbs = params.data_bits as usize / 64;
    beat.data[..limbs].fill_with(|| random.random());
    beat
}

/// The timing that every unit has, said in another way than the model says it: each result comes to the output queue
/// (two entries) a number of moving clocks after it was made.
pub struct Delay<T> {
    latency: u64,
    /// Moving clocks so far.
    pub moving: u64,
    on_the_way: VecDeque<(u64, T)>,
    queue: VecDeque<T>,
}

impl<T> Delay<T> {
    pub fn new(latency: usize) -> Self {
        Self {
            latency: latency as u64,
            moving: 0,
            on_the_way: VecDeque::new(),
            queue: VecDeque::new(),
        }
    }

    pub fn moves(&self) -> bool {
        self.queue.len() < 2
    }

    pub fn head(&self) -> Option<&T> {
        self.queue.front()
    }

    pub fn clock(&mut self, result: Option<T>, taken: bool) {
        let moves = self.moves();
        if taken {
            self.queue.pop_front();
        }
        if !moves {
            assert!(result.is_none());
            return;
        }
        if let Some(result) = result {
            self.on_the_way
                .push_back((self.moving + self.latency - 1, result));
        }
        if self
            .on_the_way
            .front()
            .is_some_and(|&(due, _)| due == self.moving)
        {
            self.queue
                .extend(self.on_the_way.pop_front().map(|(_, result)| result));
        }
        self.moving += 1;
    }
}

/// The timing of a unit whose operations on one key keep a distance, as [`Delay`] says it: the moving clock of every issue is kept.
pub struct Spaced<I, O> {
    distance: u64,
    waiting: Option<(u16, I)>,
    issued: Vec<(u64, u16)>,
    clearing: u32,
    pub delay: Delay<O>,
}

impl<I, O> Spaced<I, O> {
    pub fn new(distance: usize, latency: usize, clearing: u32) -> Self {
        Self {
            distance: distance as u64,
            waiting: None,
            issued: Vec::new(),
            clearing,
            delay: Delay::new(latency),
        }
    }

    /// The operation that waits issues in this clock.
    fn issues(&self) -> bool {
        let Some((key, _)) = self.waiting else {
            return false;
        };
        let too_near =
            |&&(clock, other): &&(u64, u16)| other == key && clock + self.distance > self.delay.moving;
        self.delay.moves() && !self.issued.iter().rev().take(8).any(|issue| too_near(&issue))
    }

    /// An operation that waits has to keep its distance, and nothing else holds it up.
    pub fn is_held(&self) -> bool {
        self.delay.moves() && self.waiting.is_some() && !self.issues()
    }

    pub fn ready(&self) -> bool {
        self.clearing == 0 && (self.waiting.is_none() || self.issues())
    }

    /// One clock without reset. `execute` is called for the operation that issues; `offered` is what the input offers, with its key.
    pub fn clock(&mut self, offered: Option<(u16, I)>, taken: bool, execute: impl FnOnce(I) -> O) {
        if self.clearing > 0 {
            self.clearing -= 1;
            return;
        }
        let ready = self.ready();
        let issued = if self.issues() { self.waiting.take() } else { None };
        let result = issued.map(|(key, operation)| {
            self.issued.push((self.delay.moving, key));
            execute(operation)
        });
        self.delay.clock(result, taken);
        if ready && offered.is_some() {
            self.waiting = offered;
        }
    }
}
