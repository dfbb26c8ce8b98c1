//! A NIC in lockstep, as the pair sees it.

use crate::{
    lockstep::{Lockstep, Mismatch},
    run::{RunError, new_rtl},
    wave::Recording,
};
use anyhow::Result;
use metaroce_model::{
    Params,
    pair::Device,
    port::nic::{Inputs, Outputs},
    unit::{Unit, nic::Nic},
};

/// Model and RTL of a NIC, clocked together.
pub struct LockstepNic {
    params: Params,
    lockstep: Lockstep<Nic>,
    /// Inputs of the first clocks.
    trace: Vec<Inputs>,
    trace_clocks: usize,
}

impl LockstepNic {
    /// Both sides as after power-up; the inputs of the first `trace_clocks` clocks are kept.
    pub fn new(params: &Params, seed: u64, trace_clocks: usize) -> Result<Self> {
        let lockstep = Lockstep::new(params, seed, 0).ok_or_else(|| RunError::NotBuilt {
            unit: Nic::NAME.into(),
            profile: params.name.clone(),
        })?;
        Ok(Self {
            params: params.clone(),
            lockstep,
            trace: Vec::new(),
            trace_clocks,
        })
    }

    /// The counter that the NIC shows.
    pub fn counter_value(&self) -> u64 {
        self.lockstep.outputs().counter_value.into()
    }

    /// The first clocks of both sides, under a name of their own.
    pub fn recording(&self, name: &'static str, seed: u64) -> Result<Recording> {
        let rtl = new_rtl::<Nic>(&self.params, seed, 0)?;
        let recording = Recording::replay::<Nic>(&self.params, rtl, &self.trace, 0..self.trace.len());
        Ok(recording.named(name))
    }
}

impl Device for LockstepNic {
    type Error = Mismatch;

    fn outputs(&mut self) -> Outputs {
        self.lockstep.outputs()
    }

    fn clock(&mut self, inputs: &Inputs) -> Result<(), Mismatch> {
        if self.trace.len() < self.trace_clocks {
            self.trace.push(*inputs);
        }
        let expected = self.lockstep.outputs();
        self.lockstep
            .clock(inputs, &expected)
            .map_err(|difference| difference.describe(&self.params))
    }
}
