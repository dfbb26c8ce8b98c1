//! Model of `scheduler`. Contract: [`crate::port::scheduler`].

use super::Unit;
use crate::{
    Params,
    pipeline::OperationPipeline,
    port::scheduler::{Inputs, LATENCY, Outputs, SAME_CONNECTION_CLOCKS, op},
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Scheduler {
    streams: u32,
    connections: Box<[Connection]>,
    operations: OperationPipeline<Inputs, Outputs, SAME_CONNECTION_CLOCKS, { LATENCY - 1 }>,
}

/// What is kept of a connection.
#[derive(Clone, Copy, Debug)]
struct Connection {
    /// Bit i: stream i has something to send for the first time.
    unsent: u32,
    /// The stream chosen last.
    last: u32,
    queued: bool,
    opened: bool,
    window_closed: bool,
    rate_closed: bool,
    stopped: bool,
}

/// A connection after reset.
const RESET: Connection = Connection {
    unsent: 0,
    last: 0,
    queued: false,
    opened: false,
    window_closed: false,
    rate_closed: true,
    stopped: true,
};

impl Unit for Scheduler {
    const NAME: &'static str = "scheduler";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            streams: params.streams,
            connections: vec![RESET; params.connections as usize].into(),
            operations: OperationPipeline::new(params.connections),
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
                self.connections.fill(RESET);
            }
            return;
        }
        let operation = self.operations.issue();
        let result = operation.map(|operation| {
            let connection = &mut self.connections[usize::from(operation.s_axis_op_connection)];
            connection.execute(&operation, self.streams)
        });
        let offered = inputs
            .s_axis_op_tvalid
            .then_some((Some(inputs.s_axis_op_connection), *inputs));
        self.operations
            .clock(result, offered, inputs.m_axis_result_tready);
    }

    #[inline]
    fn rests(&self) -> bool {
        self.operations.rests()
    }
}

impl Scheduler {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.connections
            .iter()
            .all(|c| c.unsent == 0 && !c.queued && !c.window_closed)
    }
}

impl Connection {
    #[inline]
    fn may_send(&self) -> bool {
        self.unsent != 0 && !self.window_closed && !self.rate_closed && !self.stopped
    }

    #[inline]
    fn execute(&mut self, operation: &Inputs, streams: u32) -> Outputs {
        let mut result = Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_connection: operation.s_axis_op_connection,
            ..Default::default()
        };
        let flag = operation.s_axis_op_flag;
        match operation.s_axis_op_op {
            op::UNSENT => self.mark(operation),
            op::TAKE => {
                if self.may_send() {
                    let after = (1..=streams).map(|step| (self.last + step) % streams);
                    self.last = after
                        .into_iter()
                        .find(|stream| self.unsent >> stream & 1 != 0)
                        .unwrap_or(self.last);
                    self.opened = false;
                    result.m_axis_result_taken = true;
                    result.m_axis_result_stream = self.last as u8;
                } else {
                    self.queued = false;
                }
                return result;
            }
            op::SENT => {
                self.mark(operation);
                self.queued = false;
            }
            op::BLOCK => {
                self.queued = false;
                self.window_closed |= !self.opened;
            }
            op::OPEN => (self.window_closed, self.opened) = (false, true),
            op::RATE => self.rate_closed = !flag,
            op::START => (self.stopped, self.window_closed) = (!flag, false),
            // STOP: three bits have no other code.
            _ => result.m_axis_result_stopped = !std::mem::replace(&mut self.stopped, true),
        }
        if self.may_send() && !self.queued {
            self.queued = true;
            result.m_axis_result_ready = true;
        }
        result
    }

    /// A stream has something to send, or has nothing left.
    #[inline]
    fn mark(&mut self, operation: &Inputs) {
        let bit = 1 << operation.s_axis_op_stream;
        if operation.s_axis_op_flag {
            self.unsent |= bit;
        } else {
            self.unsent &= !bit;
        }
    }
}
