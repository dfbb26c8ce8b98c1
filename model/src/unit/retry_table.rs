//! Model of `retry_table`. Contract: [`crate::port::retry_table`].

use super::Unit;
use crate::{
    Params,
    pipeline::OperationPipeline,
    port::retry_table::{Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op},
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct RetryTable {
    queued: Box<[bool]>,
    operations: OperationPipeline<Inputs, Outputs, SAME_PATH_CLOCKS, { LATENCY - 1 }>,
}

impl Unit for RetryTable {
    const NAME: &'static str = "retry_table";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            queued: vec![false; params.total_paths() as usize].into(),
            operations: OperationPipeline::new(params.total_paths()),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.operations.ready(),
            ..self.operations.output().copied().unwrap_or_default()
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            if self.operations.reset() {
                self.queued.fill(false);
            }
            return;
        }
        let operation = self.operations.issue();
        let result = operation.map(|operation| {
            let queued = &mut self.queued[usize::from(operation.s_axis_op_path)];
            let marks = operation.s_axis_op_op == op::MARK;
            Outputs {
                m_axis_result_tvalid: true,
                m_axis_result_op: operation.s_axis_op_op,
                m_axis_result_path: operation.s_axis_op_path,
                m_axis_result_ready: marks && !std::mem::replace(queued, marks),
                ..Default::default()
            }
        });
        if let Some(operation) = operation
            && operation.s_axis_op_op == op::TAKE
        {
            self.queued[usize::from(operation.s_axis_op_path)] = false;
        }
        let offered = inputs
            .s_axis_op_tvalid
            .then_some((Some(inputs.s_axis_op_path), *inputs));
        self.operations
            .clock(result, offered, inputs.m_axis_result_tready);
    }

    #[inline]
    fn rests(&self) -> bool {
        self.operations.rests()
    }
}

impl RetryTable {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        !self.queued.contains(&true)
    }
}
