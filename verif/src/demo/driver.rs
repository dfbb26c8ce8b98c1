//! One unit in lockstep, fed from a queue of operations.

use crate::{
    lockstep::{Difference, Lockstep},
    run::{RunError, new_rtl},
    wave::Recording,
};
use anyhow::Result;
use metaroce_model::{
    Params,
    unit::{Unit, path_table::PathTable, rate_limiter::RateLimiter, sack_rx::SackRx, sack_tx::SackTx},
};
use std::collections::VecDeque;

/// A unit with one operation stream in and one result stream out.
pub trait Streaming: Unit {
    /// The operation at the input would be accepted.
    fn ready(outputs: &Self::Outputs) -> bool;
    /// A result is offered.
    fn valid(outputs: &Self::Outputs) -> bool;
    /// Sets what no operation carries: the reset and the readiness for a result.
    fn control(inputs: &mut Self::Inputs, rst: bool, ready: bool);
}

macro_rules! streaming {
    ($unit:ty, $s_tready:ident, $m_tvalid:ident, $m_tready:ident) => {
        impl Streaming for $unit {
            fn ready(outputs: &Self::Outputs) -> bool {
                outputs.$s_tready
            }
            fn valid(outputs: &Self::Outputs) -> bool {
                outputs.$m_tvalid
            }
            fn control(inputs: &mut Self::Inputs, rst: bool, ready: bool) {
                inputs.rst = rst;
                inputs.$m_tready = ready;
            }
        }
    };
}
streaming!(
    PathTable,
    s_axis_op_tready,
    m_axis_result_tvalid,
    m_axis_result_tready
);
streaming!(SackRx, s_axis_rx_tready, m_axis_rx_tvalid, m_axis_rx_tready);
streaming!(
    SackTx,
    s_axis_op_tready,
    m_axis_result_tvalid,
    m_axis_result_tready
);
streaming!(
    RateLimiter,
    s_axis_op_tready,
    m_axis_event_tvalid,
    m_axis_event_tready
);

/// The unit, its queue, and its inputs so far.
pub struct Driver<U: Streaming> {
    lockstep: Lockstep<U>,
    operations: VecDeque<U::Inputs>,
    accepted: Option<U::Inputs>,
    trace: Vec<U::Inputs>,
    trace_clocks: usize,
}

impl<U: Streaming> Driver<U> {
    /// Both sides as after power-up; the inputs of the first `trace_clocks` clocks are kept.
    pub fn new(params: &Params, seed: u64, trace_clocks: usize) -> Result<Self> {
        let lockstep = Lockstep::new(params, seed, 0).ok_or_else(|| RunError::NotBuilt {
            unit: U::NAME.into(),
            profile: params.name.clone(),
        })?;
        Ok(Self {
            lockstep,
            operations: VecDeque::new(),
            accepted: None,
            trace: Vec::new(),
            trace_clocks,
        })
    }

    /// Queues an operation: the unit's inputs with `tvalid` set.
    pub fn push(&mut self, operation: U::Inputs) {
        self.operations.push_back(operation);
    }

    /// The operation that was accepted in the last clock.
    pub fn accepted(&self) -> Option<&U::Inputs> {
        self.accepted.as_ref()
    }

    /// One clock; `free` sets inputs that run free of the streams. Gives the result that was taken.
    pub fn clock(
        &mut self,
        rst: bool,
        ready: bool,
        free: impl FnOnce(&mut U::Inputs),
    ) -> Result<Option<U::Outputs>, Difference<U>> {
        let operation = self.operations.front().copied();
        let mut inputs = operation.unwrap_or_default();
        U::control(&mut inputs, rst, ready);
        free(&mut inputs);
        if self.trace.len() < self.trace_clocks {
            self.trace.push(inputs);
        }
        let outputs = self.lockstep.outputs();
        self.lockstep.clock(&inputs, &outputs)?;
        self.accepted = None;
        if operation.is_some() && U::ready(&outputs) && !rst {
            self.operations.pop_front();
            self.accepted = Some(inputs);
        }
        Ok((U::valid(&outputs) && ready && !rst).then_some(outputs))
    }

    /// Both sides over the clocks whose inputs were kept.
    pub fn recording(&self, params: &Params, seed: u64) -> Result<Recording> {
        let rtl = new_rtl::<U>(params, seed, 0)?;
        Ok(Recording::replay::<U>(
            params,
            rtl,
            &self.trace,
            0..self.trace.len(),
        ))
    }
}
