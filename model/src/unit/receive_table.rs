//! Model of `receive_table`. Contract: [`crate::port::receive_table`].

use super::Unit;
use crate::{
    Params,
    pipeline::OperationPipeline,
    port::receive_table::{Inputs, LATENCY, NUMBER_BITS, Outputs, SAME_STREAM_CLOCKS, op, status},
    serial::Serial,
};

/// Receive numbers of a stream.
const NUMBERS: Serial = Serial::new(NUMBER_BITS);

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct ReceiveTable {
    streams: Box<[Stream]>,
    /// The rings of all streams, one after the other.
    entries: Box<[Entry]>,
    /// Entries of a ring, a power of two.
    receives: u32,
    operations: OperationPipeline<Inputs, Outputs, SAME_STREAM_CLOCKS, { LATENCY - 1 }>,
}

/// The counts of one stream.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    posted: u32,
    completed: u32,
}

/// A posted receive.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    address: u64,
    length: u32,
    identifier: u32,
}

impl Unit for ReceiveTable {
    const NAME: &'static str = "receive_table";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let streams = params.total_streams();
        Self {
            streams: vec![Stream::default(); streams as usize].into(),
            entries: vec![Entry::default(); (streams * params.receives) as usize].into(),
            receives: params.receives,
            operations: OperationPipeline::new(streams),
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
            // What the entries hold shows only when it was posted again.
            if self.operations.reset() {
                self.streams.fill(Stream::default());
            }
            return;
        }
        let operation = self.operations.issue();
        let result = operation.map(|operation| self.execute(&operation));
        let offered = inputs
            .s_axis_op_tvalid
            .then_some((Some(inputs.s_axis_op_stream), *inputs));
        self.operations
            .clock(result, offered, inputs.m_axis_result_tready);
    }

    #[inline]
    fn rests(&self) -> bool {
        self.operations.rests()
    }
}

impl ReceiveTable {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.streams.iter().all(|stream| stream.open() == 0)
    }

    #[inline]
    fn execute(&mut self, operation: &Inputs) -> Outputs {
        let index = operation.s_axis_op_stream;
        let stream = &mut self.streams[usize::from(index)];
        let ring = u32::from(index) * self.receives;
        let entry = |number: u32| (ring + number % self.receives) as usize;
        let mut result = Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_stream: index,
            ..Default::default()
        };
        match operation.s_axis_op_op {
            op::POST => {
                result.m_axis_result_number = stream.posted;
                if stream.open() < self.receives {
                    self.entries[entry(stream.posted)] = Entry {
                        address: operation.s_axis_op_address,
                        length: operation.s_axis_op_length,
                        identifier: operation.s_axis_op_identifier,
                    };
                    stream.posted = NUMBERS.add(stream.posted, 1);
                } else {
                    result.m_axis_result_status = status::REFUSED;
                }
            }
            op::MATCH => {
                let number = operation.s_axis_op_number;
                let receive = &self.entries[entry(number)];
                result.m_axis_result_number = number;
                result.m_axis_result_status = stream.find(number, operation, receive);
                if result.m_axis_result_status == status::DONE {
                    let offset = u64::from(operation.s_axis_op_offset);
                    result.m_axis_result_address = receive.address.wrapping_add(offset);
                    result.m_axis_result_identifier = receive.identifier;
                }
            }
            op::COMPLETE => {
                result.m_axis_result_number = stream.completed;
                if stream.open() > 0 {
                    result.m_axis_result_identifier = self.entries[entry(stream.completed)].identifier;
                    stream.completed = NUMBERS.add(stream.completed, 1);
                } else {
                    result.m_axis_result_status = status::REFUSED;
                }
            }
            // INIT: two bits have no other code.
            _ => {
                let number = operation.s_axis_op_number;
                *stream = Stream {
                    posted: number,
                    completed: number,
                };
                result.m_axis_result_number = number;
            }
        }
        result.m_axis_result_open = stream.open() as u8;
        result
    }
}

impl Stream {
    /// Receives posted and not completed.
    #[inline]
    fn open(&self) -> u32 {
        NUMBERS.distance(self.completed, self.posted)
    }

    /// Status of a MATCH; `receive` is what the number's entry holds.
    #[inline]
    fn find(&self, number: u32, operation: &Inputs, receive: &Entry) -> u8 {
        let ahead = NUMBERS.distance(self.completed, number);
        let end = u64::from(operation.s_axis_op_offset) + u64::from(operation.s_axis_op_bytes);
        if ahead >= NUMBERS.half() {
            status::GONE
        } else if ahead >= self.open() {
            status::NOT_POSTED
        } else if end > u64::from(receive.length) {
            status::TOO_LONG
        } else {
            status::DONE
        }
    }
}
