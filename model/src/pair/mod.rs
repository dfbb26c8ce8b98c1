//! Two NICs back to back: hosts with memory on both ends, a link in each direction, and a scoreboard that knows what must come out.
//!
//! The NICs may be the model, the RTL, or both in lockstep: whatever is a [`Device`].

pub mod host;
pub mod link;
pub mod memory;
mod scoreboard;

pub use host::{Completion, Host, IMMEDIATE, Pace, Receive, Request, SEND, Setup, Start};
pub use link::{Faults, Frame, Link, Seen};
pub use memory::Memory;
pub use scoreboard::{Message, Scoreboard, Wrong};

use crate::{
    Params,
    port::nic,
    unit::{Unit, nic::Nic},
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::convert::Infallible;

/// A NIC, one clock at a time.
pub trait Device {
    /// What can go wrong in a clock: a difference between model and RTL.
    type Error;

    /// The outputs in the present clock.
    fn outputs(&mut self) -> nic::Outputs;

    /// The edge that ends the present clock.
    fn clock(&mut self, inputs: &nic::Inputs) -> Result<(), Self::Error>;
}

impl Device for Nic {
    type Error = Infallible;

    fn outputs(&mut self) -> nic::Outputs {
        Unit::outputs(self)
    }

    fn clock(&mut self, inputs: &nic::Inputs) -> Result<(), Infallible> {
        Unit::clock(self, inputs);
        Ok(())
    }
}

/// One end.
#[derive(Debug)]
pub struct End<D> {
    /// The NIC.
    pub nic: D,
    /// Its host.
    pub host: Host,
    /// The link that it sends into.
    pub link: Link,
    /// Its clock runs ahead of the other end's by so many ticks.
    pub ahead: u32,
    /// Clocks of reset that are left.
    reset: u32,
}

/// Two ends.
#[derive(Debug)]
pub struct Pair<A, B> {
    /// The first end.
    pub left: End<A>,
    /// The second end.
    pub right: End<B>,
    /// Clocks done.
    pub clock: u64,
    /// What must come out.
    pub scoreboard: Scoreboard,
    timestamps: u32,
    random: ChaCha8Rng,
}

/// A reset lasts so many clocks.
const RESET_CLOCKS: u32 = 4;

impl<A: Device, B: Device<Error = A::Error>> Pair<A, B> {
    /// Both ends in reset.
    pub fn new(params: &Params, left: A, right: B, faults: Faults, seed: u64) -> Self {
        Self {
            left: End::new(params, left, faults, seed),
            right: End::new(params, right, faults, seed ^ 0x5555),
            clock: 0,
            scoreboard: Scoreboard::new(params),
            timestamps: u32::MAX >> (32 - params.timestamp_bits),
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Configures both ends alike and runs until it is done.
    pub fn configure(&mut self, params: &Params, setup: impl Fn(u8) -> Setup) -> Result<(), A::Error> {
        setup(0).configure(params, &mut self.left.host);
        setup(1).configure(params, &mut self.right.host);
        self.scoreboard.start(setup(0).start.message);
        while !(self.left.host.is_configured() && self.right.host.is_configured()) {
            self.step()?;
        }
        // What was configured goes through the tables' pipelines.
        for _ in 0..200 {
            self.step()?;
        }
        Ok(())
    }

    /// Both ends are reset; what was on its way is forgotten.
    pub fn reset(&mut self) {
        self.left.reset();
        self.right.reset();
        self.scoreboard.forget();
    }

    /// Posts a message from one end (0: left) to the other.
    pub fn post(&mut self, from: u8, stream: u16, message: Message) {
        let (source, target) = if from == 0 {
            (&mut self.left.host, &mut self.right.host)
        } else {
            (&mut self.right.host, &mut self.left.host)
        };
        self.scoreboard.post(from, stream, message, source, target);
    }

    /// One clock.
    pub fn step(&mut self) -> Result<(), A::Error> {
        let (clock, mask) = (self.clock, self.timestamps);
        let (left, right) = (self.left.nic.outputs(), self.right.nic.outputs());
        let mut left_in = self.left.inputs(clock, mask, &mut self.random);
        let mut right_in = self.right.inputs(clock, mask, &mut self.random);
        if !left_in.rst {
            self.right.link.offer(clock, &mut left_in);
        }
        if !right_in.rst {
            self.left.link.offer(clock, &mut right_in);
        }
        self.left.nic.clock(&left_in)?;
        self.right.nic.clock(&right_in)?;
        self.left
            .after(&left_in, &left, clock, &mut self.right.link, &mut self.random);
        self.right
            .after(&right_in, &right, clock, &mut self.left.link, &mut self.random);
        while let Some(completion) = self.left.host.completions.pop_front() {
            self.scoreboard
                .check(0, completion, &self.left.host.memory, &self.right.host.memory);
        }
        while let Some(completion) = self.right.host.completions.pop_front() {
            self.scoreboard
                .check(1, completion, &self.right.host.memory, &self.left.host.memory);
        }
        self.clock += 1;
        Ok(())
    }

    /// Nothing is to be done any more.
    pub fn is_idle(&self) -> bool {
        self.scoreboard.is_done()
            && self.left.host.is_idle()
            && self.right.host.is_idle()
            && self.left.link.is_idle()
            && self.right.link.is_idle()
    }

    /// Runs until all is done, at most `clocks`; whether it was.
    pub fn run(&mut self, clocks: u64) -> Result<bool, A::Error> {
        let end = self.clock + clocks;
        while !self.is_idle() {
            if self.clock >= end {
                return Ok(false);
            }
            self.step()?;
        }
        self.finish();
        Ok(true)
    }

    /// All is done: the bytes that no completion told of are looked at too.
    pub fn finish(&mut self) {
        self.scoreboard
            .verify(&self.left.host.memory, &self.right.host.memory);
    }

    /// Everything that went wrong so far, in words.
    pub fn wrongs(&self) -> Vec<Wrong> {
        let mut wrongs = self.scoreboard.wrongs.clone();
        for (end, memory) in [&self.left.host.memory, &self.right.host.memory]
            .into_iter()
            .enumerate()
        {
            wrongs.extend(memory.violations.iter().map(|&address| Wrong::Outside {
                end: end as u8,
                address,
            }));
        }
        wrongs
    }
}

impl<D: Device> End<D> {
    fn new(params: &Params, nic: D, faults: Faults, seed: u64) -> Self {
        Self {
            nic,
            host: Host::new(params, seed),
            link: Link::new(params, faults),
            ahead: 0,
            reset: RESET_CLOCKS,
        }
    }

    /// The NIC goes through a reset; its host and the frames that it sent are forgotten.
    pub fn reset(&mut self) {
        self.reset = RESET_CLOCKS;
        self.host.reset();
        self.link.clear();
    }

    fn inputs(&mut self, clock: u64, timestamps: u32, random: &mut ChaCha8Rng) -> nic::Inputs {
        let mut inputs = if self.reset > 0 {
            nic::Inputs {
                rst: true,
                config_delay: self.host.constants.config_delay,
                config_hint: self.host.constants.config_hint,
                config_probe: self.host.constants.config_probe,
                config_first_probe: self.host.constants.config_first_probe,
                ..Default::default()
            }
        } else {
            self.host.inputs(clock, random)
        };
        inputs.now = (clock as u32).wrapping_add(self.ahead) & timestamps;
        inputs
    }

    fn after(
        &mut self,
        inputs: &nic::Inputs,
        outputs: &nic::Outputs,
        clock: u64,
        from_other: &mut Link,
        random: &mut ChaCha8Rng,
    ) {
        if self.reset > 0 {
            self.reset -= 1;
            return;
        }
        self.host.clock(clock, inputs, outputs);
        if outputs.m_axis_tx_tvalid && inputs.m_axis_tx_tready {
            self.link.take(outputs, clock, random);
        }
        if inputs.s_axis_rx_tvalid && outputs.s_axis_rx_tready {
            from_other.taken();
        }
    }
}
