//! Model of `ack_table`. Contract: [`crate::port::ack_table`].

use super::Unit;
use crate::{
    Params,
    pipeline::OperationPipeline,
    port::ack_table::{EVERY, Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op},
    serial::Serial,
};

/// The most packets that `waiting` counts.
const MOST_WAITING: u8 = 15;

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct AckTable {
    timestamps: Serial,
    paths: Box<[Path]>,
    operations: OperationPipeline<Inputs, Outputs, SAME_PATH_CLOCKS, { LATENCY - 1 }>,
}

/// What is owed to the sender of one path.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    waiting: u8,
    due: bool,
    echo: u32,
    arrival: u32,
    plane: u8,
    packets: u16,
    marked: u16,
}

impl Unit for AckTable {
    const NAME: &'static str = "ack_table";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            timestamps: Serial::new(params.timestamp_bits),
            paths: vec![Path::default(); params.total_paths() as usize].into(),
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
                self.paths.fill(Path::default());
            }
            return;
        }
        let operation = self.operations.issue();
        let result = operation.map(|operation| self.execute(&operation, inputs.config_delay));
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

impl AckTable {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.paths.iter().all(|path| path.waiting == 0 && !path.due)
    }

    #[inline]
    fn execute(&mut self, operation: &Inputs, delay: u16) -> Outputs {
        let path = &mut self.paths[usize::from(operation.s_axis_op_path)];
        let mut result = Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_path: operation.s_axis_op_path,
            ..Default::default()
        };
        let age = self.timestamps.distance(path.arrival, operation.s_axis_op_now);
        match operation.s_axis_op_op {
            op::INIT => *path = Path::default(),
            op::RECEIVE => {
                path.receive(operation);
                let calls = operation.s_axis_op_at_once || path.waiting >= EVERY;
                result.m_axis_result_due = path.ask(calls);
            }
            op::SCAN => result.m_axis_result_due = path.ask(path.waiting > 0 && age >= delay.into()),
            op::TAKE => {
                result.m_axis_result_plane = path.plane;
                result.m_axis_result_echo = path.echo;
                result.m_axis_result_hold = age.try_into().unwrap_or(u16::MAX);
                result.m_axis_result_packets = path.packets;
                result.m_axis_result_marked = path.marked;
                (path.waiting, path.due) = (0, false);
            }
            _ => {}
        }
        result
    }
}

impl Path {
    #[inline]
    fn receive(&mut self, operation: &Inputs) {
        let counts = operation.s_axis_op_counts;
        self.echo = operation.s_axis_op_timestamp;
        self.arrival = operation.s_axis_op_arrival;
        self.plane = operation.s_axis_op_plane;
        self.packets = self.packets.wrapping_add(counts.into());
        self.marked = self
            .marked
            .wrapping_add((counts && operation.s_axis_op_marked).into());
        self.waiting = (self.waiting + 1).min(MOST_WAITING);
    }

    /// An acknowledgement is asked for if something `calls` for one; whether it was not asked for before.
    #[inline]
    fn ask(&mut self, calls: bool) -> bool {
        let asks = calls && !self.due;
        self.due |= calls;
        asks
    }
}
