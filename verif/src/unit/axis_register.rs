//! Stimulus of `axis_register`.

use crate::{
    bins::Bins,
    stimulus::{Flow, Random, Resets, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::axis_register::{Inputs, Outputs},
    unit::axis_register::AxisRegister as Unit,
};
use rand::RngExt;

const BINS: [&str; 6] = [
    "accepted",
    "taken",
    "full",
    "empty",
    "accepted and taken in one clock",
    "reset while an entry is held",
];

/// Drives the unit.
pub struct AxisRegister {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    mask: u32,
    bins: Bins,
}

impl Stimulus<Unit> for AxisRegister {
    fn new(params: &Params, seed: u64) -> Self {
        Self {
            random: random(seed),
            valid: Flow::new(50),
            ready: Flow::new(50),
            resets: Resets::new(5000),
            mask: u32::MAX >> (32 - params.timestamp_bits),
            bins: Bins::new(BINS),
        }
    }

    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let inputs = Inputs {
            rst: self.resets.next(&mut self.random),
            s_axis_tvalid: self.valid.next(&mut self.random),
            s_axis_tdata: self.random.random::<u32>() & self.mask,
            m_axis_tready: self.ready.next(&mut self.random),
        };
        let accepted = inputs.s_axis_tvalid && outputs.s_axis_tready && !inputs.rst;
        let taken = inputs.m_axis_tready && outputs.m_axis_tvalid && !inputs.rst;
        for (bin, happened) in [
            accepted,
            taken,
            !outputs.s_axis_tready,
            !outputs.m_axis_tvalid,
            accepted && taken,
            inputs.rst && outputs.m_axis_tvalid,
        ]
        .into_iter()
        .enumerate()
        {
            self.bins.hit(bin, happened);
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}
