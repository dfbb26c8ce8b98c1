//! Stimulus of `nic`: a second NIC, the model, at the other end of two lossy links, and a host on both ends.
//!
//! In phases the links lose, damage, mark, double and delay frames, hosts hesitate, receives come late, strangers send frames, and requests have keys that are refused.
//! Now and then both ends are reset, in whatever state they are. Whatever happens, the scoreboard must be right.

use crate::{
    bins::Bins,
    stimulus::{Random, Stimulus, random},
};
use metaroce_model::{
    Params,
    pair::{Device, Faults, Frame, IMMEDIATE, Message, Pace, Pair, SEND, Setup, Start, Wrong},
    port::{
        configuration::command,
        counters::{COUNTERS, index},
        nic::{Inputs, Outputs},
    },
    unit::{Unit as _, nic::Nic as Unit},
};
use rand::RngExt;
use std::convert::Infallible;

/// Where the bytes of messages are, and where they go: across a multiple of 4 GiB.
const SOURCE: u64 = 0x1_0000_0000_0000;
const TARGET: u64 = 0x2_ffff_0000;
/// The region that may be written to, in both hosts.
const REGION_BYTES: u64 = 1 << 28;
const KEY: u32 = 0x0100_0003;
/// Clocks between two resets, on average.
const RESET_CLOCKS: u64 = 60_000;
/// Messages that wait to be sent, in each direction.
const WAITING: u64 = 24;

/// Names of the counters, in their order; empty for numbers that have none.
const COUNTER_NAMES: [&str; COUNTERS] = [
    "parser dropped: bad",
    "parser dropped: truncated",
    "parser dropped: not IPv4",
    "parser dropped: IP header",
    "parser dropped: address",
    "parser dropped: port",
    "parser dropped: length",
    "parser dropped: version",
    "parser dropped: opcode",
    "parser dropped: size",
    "parser dropped: ICRC",
    "",
    "",
    "",
    "",
    "",
    "receiver: unknown connection",
    "receiver: malformed",
    "receiver: bad key",
    "receiver: out of bounds",
    "receiver: not posted",
    "receiver: too long",
    "receiver: gone",
    "receiver: duplicate",
    "receiver: out of window",
    "",
    "",
    "retirement: stale",
    "retirement: invalid",
    "retirement: receiver not ready",
    "received packet not counted",
    "acknowledged packet not counted",
    "work request refused",
    "receive refused",
    "timeout",
    "sent again",
    "probe",
];

/// Other bins.
const BINS: [&str; 15] = [
    "completion of a Write sent",
    "completion of a Write with immediate sent",
    "completion of a Send sent",
    "completion of a Send with immediate sent",
    "completion of a Write with immediate received",
    "completion of a Send received",
    "completion of a Send with immediate received",
    "completion of a message of no bytes",
    "completion of a message of several packets",
    "completion with an error",
    "frame held back",
    "completion held back",
    "fetch request held back",
    "write beat held back",
    "reset with work under way",
];

/// The NIC under test as the pair sees it.
#[derive(Debug, Default)]
struct Proxy {
    outputs: Outputs,
    inputs: Inputs,
}

impl Device for Proxy {
    type Error = Infallible;

    fn outputs(&mut self) -> Outputs {
        self.outputs
    }

    fn clock(&mut self, inputs: &Inputs) -> Result<(), Infallible> {
        self.inputs = *inputs;
        Ok(())
    }
}

/// Drives the unit.
pub struct Nic {
    params: Params,
    random: Random,
    pair: Pair<Proxy, Unit>,
    /// Messages posted since the last reset, and the next free byte of each end's memory.
    posted: u64,
    next: [u64; 2],
    until_phase: u64,
    until_reset: u64,
    /// Frames of strangers of each 100,000 clocks.
    strangers: u32,
    /// Requests of each 1000 that will be refused.
    refused: u32,
    /// A frame that went by, to be sent again changed.
    sample: Option<Frame>,
    bins: Bins,
}

impl Stimulus<Unit> for Nic {
    fn new(params: &Params, seed: u64) -> Self {
        let names = COUNTER_NAMES.iter().filter(|name| !name.is_empty()).chain(&BINS);
        let pair = Pair::new(params, Proxy::default(), Unit::new(params), Faults::NONE, seed);
        let mut stimulus = Self {
            params: params.clone(),
            random: random(seed),
            pair,
            posted: 0,
            next: [TARGET; 2],
            until_phase: 0,
            until_reset: RESET_CLOCKS,
            strangers: 0,
            refused: 0,
            sample: None,
            bins: Bins::new(names.copied()),
        };
        stimulus.pair.right.link.kept = Some(Vec::new());
        stimulus.begin();
        stimulus
    }

    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.until_phase == 0 {
            self.change_phase();
        }
        self.until_phase -= 1;
        if self.until_reset == 0 {
            self.bins.hit(BINS_FIRST + 14, !self.pair.is_idle());
            self.pair.reset();
            self.begin();
        }
        self.until_reset -= 1;
        if self.pair.left.host.is_configured() && self.pair.right.host.is_configured() {
            self.post();
        }
        self.strange();
        let shown = self.pair.left.host.constants.counter_index;
        self.pair.left.host.constants.counter_index = self.random.random_range(0..COUNTERS as u8);
        self.pair.left.nic.outputs = *outputs;
        let Ok(()) = self.pair.step();
        let inputs = self.pair.left.nic.inputs;
        self.count(shown, outputs, &inputs);
        let wrongs = self.pair.wrongs();
        assert!(wrongs.is_empty(), "clock {}: {wrongs:?}", self.pair.clock);
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

/// The first of [`BINS`] among all bins.
const BINS_FIRST: usize = {
    let (mut names, mut at) = (0, 0);
    while at < COUNTERS {
        if !COUNTER_NAMES[at].is_empty() {
            names += 1;
        }
        at += 1;
    }
    names
};
