//! What the units' tests share.

#![allow(dead_code, reason = "each test uses its part")]

use metaroce_model::Params;
use std::collections::VecDeque;

/// Profile tiny with another length of the vector and the smallest PSN that it allows.
pub fn sized(sack_bits: u32) -> Params {
    Params {
        sack_bits,
        psn_bits: sack_bits.ilog2() + 2,
        ..Params::load("tiny").unwrap()
    }
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
