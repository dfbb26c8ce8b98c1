//! Model and RTL side by side.
//!
//! The point of comparison, once a clock: the clock is low, the inputs of the clock are applied and have settled. Every
//! output port is compared there, and then both sides see the rising edge.

use crate::rtl::Rtl;
use metaroce_model::{
    Params,
    port::{Port, Ports},
    unit::Unit,
};
use serde::Serialize;
use std::fmt::Write;

/// Clocks of inputs that are kept to be shown beside a difference.
const HISTORY: usize = 8;

/// A unit's model and its RTL, clocked together.
pub struct Lockstep<U: Unit> {
    model: U,
    rtl: Rtl<U::Inputs, U::Outputs>,
    cycle: u64,
    history: [Option<U::Inputs>; HISTORY],
}

/// The first output port that differed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// Clock, from 0.
    pub cycle: u64,
    /// The port.
    pub port: String,
    /// What the model gives, hexadecimal.
    pub expected: String,
    /// What the RTL gives, hexadecimal.
    pub actual: String,
    /// The inputs of the last clocks, the differing one last, a line a clock.
    pub events: Vec<String>,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "cycle {}: {} is {} in the RTL, {} in the model",
            self.cycle, self.port, self.actual, self.expected
        )?;
        writeln!(f, "inputs of the last clocks:")?;
        self.events.iter().try_for_each(|event| writeln!(f, "  {event}"))
    }
}

impl<U: Unit> Lockstep<U> {
    /// Both sides as after power-up; `None` when this program was built without that RTL.
    pub fn new(params: &Params, seed: u64, mutant: u8) -> Option<Self> {
        let suffix = if mutant == 0 { "" } else { "_mutants" };
        let mut rtl = Rtl::new(&format!("{}_{}{suffix}", U::NAME, params.name), seed)?;
        if mutant != 0 {
            rtl.set_mutant(mutant);
        }
        Some(Self {
            model: U::new(params),
            rtl,
            cycle: 0,
            history: [None; HISTORY],
        })
    }

    /// The outputs in the present clock (the model's; they are compared in [`Lockstep::clock`]).
    #[inline]
    pub fn outputs(&self) -> U::Outputs {
        self.model.outputs()
    }

    /// Clocks done.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The rising edge that ends the present clock: `expected` is what [`Lockstep::outputs`] gave.
    #[inline]
    pub fn clock(&mut self, inputs: &U::Inputs, expected: &U::Outputs) -> Result<(), Difference<U>> {
        let actual = self.rtl.step(inputs);
        self.history[self.cycle as usize % HISTORY] = Some(*inputs);
        if actual != *expected && !self.in_power_up() {
            return Err(Difference {
                cycle: self.cycle,
                expected: *expected,
                actual,
                history: self.history(),
            });
        }
        self.model.clock(inputs);
        self.cycle += 1;
        Ok(())
    }

    /// In the very first clock the RTL's registers hold whatever the power-up left; its reset is being applied.
    fn in_power_up(&self) -> bool {
        self.cycle == 0
    }

    fn history(&self) -> Vec<U::Inputs> {
        let first = self.cycle.saturating_sub(HISTORY as u64 - 1);
        (first..=self.cycle)
            .filter_map(|cycle| self.history[cycle as usize % HISTORY])
            .collect()
    }
}

/// All outputs of both sides in the first clock in which they differ.
pub struct Difference<U: Unit> {
    cycle: u64,
    expected: U::Outputs,
    actual: U::Outputs,
    history: Vec<U::Inputs>,
}

impl<U: Unit> Difference<U> {
    /// The difference in words.
    pub fn describe(&self, params: &Params) -> Mismatch {
        let (mut expected, mut actual) = (vec![0; U::Outputs::WORDS], vec![0; U::Outputs::WORDS]);
        self.expected.pack(&mut expected);
        self.actual.pack(&mut actual);
        let ports = U::Outputs::ports(params);
        let words = |port: &Port| port.word..port.word + port.words;
        let port = ports
            .iter()
            .find(|port| expected[words(port)] != actual[words(port)]);
        let (port, range) = port.map_or(("?", 0..0), |port| (port.name, words(port)));
        let newest = self.history.len() as u64 - 1;
        let events = self.history.iter().enumerate().map(|(age, inputs)| {
            format!(
                "{}: {}",
                self.cycle - newest + age as u64,
                inputs_line::<U>(params, inputs)
            )
        });
        Mismatch {
            cycle: self.cycle,
            port: port.into(),
            expected: hexadecimal(&expected[range.clone()]),
            actual: hexadecimal(&actual[range]),
            events: events.collect(),
        }
    }
}

fn inputs_line<U: Unit>(params: &Params, inputs: &U::Inputs) -> String {
    let mut words = vec![0; U::Inputs::WORDS];
    inputs.pack(&mut words);
    U::Inputs::ports(params)
        .iter()
        .fold(String::new(), |mut line, port| {
            let value = hexadecimal(&words[port.word..port.word + port.words]);
            let _ = write!(
                line,
                "{}{}={value}",
                if line.is_empty() { "" } else { " " },
                port.name
            );
            line
        })
}

/// Little-endian words as one hexadecimal number.
fn hexadecimal(words: &[u32]) -> String {
    let digits: String = words.iter().rev().map(|word| format!("{word:08x}")).collect();
    let digits = digits.trim_start_matches('0');
    format!("0x{}", if digits.is_empty() { "0" } else { digits })
}
