//! Model of `ack_table`. Contract: [`crate::port::ack_table`].

use super::Unit;
use crate::{
    Params,
    pipeline::{IssueRegister, Pipeline},
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
    input: IssueRegister<Inputs, SAME_PATH_CLOCKS>,
    pipeline: Pipeline<Outputs, { LATENCY - 1 }>,
    /// Clocks left of the clear after reset. While there are any, all paths are as reset made them.
    clearing: u32,
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
            input: IssueRegister::new(),
            pipeline: Pipeline::new(),
            clearing: params.total_paths(),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.clearing == 0 && self.input.ready(self.pipeline.moves()),
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
            let moves = self.pipeline.moves();
            let delay = inputs.config_delay;
            let result = self
                .input
                .issue(moves)
                .map(|operation| self.execute(&operation, delay));
            self.pipeline.clock(result, inputs.m_axis_result_tready);
            let offered = inputs
                .s_axis_op_tvalid
                .then_some((Some(inputs.s_axis_op_path), *inputs));
            self.input.clock(moves, offered);
        }
    }
}

impl AckTable {
    fn reset(&mut self) {
        // A reset held for long costs no more than one: nothing is written before the clear is over.
        if self.clearing == 0 {
            self.paths.fill(Path::default());
        }
        self.input = IssueRegister::new();
        self.pipeline = Pipeline::new();
        self.clearing = self.paths.len() as u32;
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
