//! Model of `key_table`. Contract: [`crate::port::key_table`].

use super::Unit;
use crate::{
    Params,
    pipeline::Pipeline,
    port::key_table::{Inputs, LATENCY, Outputs, op, status},
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct KeyTable {
    key_index_bits: u32,
    regions: Box<[Region]>,
    pipeline: Pipeline<Outputs, { LATENCY - 1 }>,
    /// Clocks left of the clear after reset. While there are any, no region is valid.
    clearing: u32,
}

/// A memory region.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    valid: bool,
    write: bool,
    domain: u8,
    tag: u32,
    base: u64,
    length: u64,
}

impl Unit for KeyTable {
    const NAME: &'static str = "key_table";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            key_index_bits: params.key_index_bits(),
            regions: vec![Region::default(); params.keys as usize].into(),
            pipeline: Pipeline::new(),
            clearing: params.keys,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.is_ready(),
            ..self.pipeline.output().copied().unwrap_or_default()
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
        } else if self.clearing > 0 {
            self.clearing -= 1;
        } else {
            let accepted = inputs.s_axis_op_tvalid && self.is_ready();
            let result = accepted.then(|| self.operate(inputs));
            self.pipeline.clock(result, inputs.m_axis_result_tready);
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.clearing == 0 && self.pipeline.is_empty()
    }
}

impl KeyTable {
    #[inline]
    fn is_ready(&self) -> bool {
        self.pipeline.moves() && self.clearing == 0
    }

    fn reset(&mut self) {
        // A reset held for long costs no more than one: nothing is written before the clear is over.
        if self.clearing == 0 {
            self.regions.fill(Region::default());
        }
        self.pipeline = Pipeline::new();
        self.clearing = self.regions.len() as u32;
    }

    /// An accepted operation: sets the region or checks against it, and gives the result.
    #[inline]
    fn operate(&mut self, inputs: &Inputs) -> Outputs {
        let index = inputs.s_axis_op_key & (self.regions.len() as u32 - 1);
        let tag = inputs.s_axis_op_key >> self.key_index_bits;
        let region = &mut self.regions[index as usize];
        let status = if inputs.s_axis_op_op == op::CONFIGURE {
            *region = Region {
                valid: inputs.s_axis_op_valid,
                write: inputs.s_axis_op_write,
                domain: inputs.s_axis_op_domain,
                tag,
                base: inputs.s_axis_op_address,
                length: inputs.s_axis_op_length,
            };
            status::DONE
        } else {
            region.check(inputs, tag)
        };
        Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: inputs.s_axis_op_op,
            m_axis_result_status: status,
            ..Default::default()
        }
    }
}

impl Region {
    /// Status of a CHECK.
    #[inline]
    fn check(&self, inputs: &Inputs, tag: u32) -> u8 {
        let bytes = u64::from(inputs.s_axis_op_bytes);
        let offset = inputs.s_axis_op_address.wrapping_sub(self.base);
        let is_its_own = self.valid && self.tag == tag && self.domain == inputs.s_axis_op_domain;
        if bytes == 0 {
            status::DONE
        } else if !is_its_own || !self.write {
            status::BAD_KEY
        } else if offset.checked_add(bytes).is_none_or(|end| end > self.length) {
            status::OUT_OF_BOUNDS
        } else {
            status::DONE
        }
    }
}
