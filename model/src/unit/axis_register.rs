//! Model of `axis_register`. Contract: [`crate::port::axis_register`].

use super::Unit;
use crate::{
    Params,
    pipeline::OutputQueue,
    port::axis_register::{Inputs, Outputs},
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct AxisRegister {
    queue: OutputQueue<u32>,
}

impl Unit for AxisRegister {
    const NAME: &'static str = "axis_register";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(_params: &Params) -> Self {
        Self {
            queue: OutputQueue::new(),
        }
    }

    fn outputs(&self) -> Outputs {
        let head = self.queue.head();
        Outputs {
            s_axis_tready: self.queue.has_room(),
            m_axis_tvalid: head.is_some(),
            m_axis_tdata: head.copied().unwrap_or_default(),
        }
    }

    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.queue = OutputQueue::new();
            return;
        }
        let entry = (inputs.s_axis_tvalid && self.queue.has_room()).then_some(inputs.s_axis_tdata);
        self.queue.clock(entry, inputs.m_axis_tready);
    }
}
