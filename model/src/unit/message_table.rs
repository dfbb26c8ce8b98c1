//! Model of `message_table`. Contract: [`crate::port::message_table`].

use super::Unit;
use crate::{
    Params,
    pipeline::OperationPipeline,
    port::{
        message_table::{Inputs, LATENCY, Outputs, SAME_STREAM_CLOCKS, op, status},
        receive_table::NUMBER_BITS,
    },
    serial::Serial,
};

/// Message numbers of a stream.
const NUMBERS: Serial = Serial::new(NUMBER_BITS);

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct MessageTable {
    streams: Box<[Stream]>,
    /// The messages of all streams, one stream after the other, at place number modulo `messages`.
    messages: Box<[Message]>,
    /// Messages of a stream, a power of two.
    count: u32,
    operations: OperationPipeline<Inputs, Outputs, SAME_STREAM_CLOCKS, { LATENCY - 1 }>,
}

/// What a stream keeps beside its messages: bit i of a set stands for the message at place i.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    begun: u64,
    whole: u64,
    oldest: u32,
}

/// A message that is begun.
#[derive(Clone, Copy, Debug, Default)]
struct Message {
    counted: u32,
    length: u32,
    immediate: u32,
    kind: u8,
}

impl Unit for MessageTable {
    const NAME: &'static str = "message_table";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let streams = params.total_streams();
        Self {
            streams: vec![Stream::default(); streams as usize].into(),
            messages: vec![Message::default(); (streams * params.messages) as usize].into(),
            count: params.messages,
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
            // What the messages hold means nothing before they are begun again.
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

impl MessageTable {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.streams.iter().all(|stream| stream.begun | stream.whole == 0)
    }

    #[inline]
    fn execute(&mut self, operation: &Inputs) -> Outputs {
        let index = operation.s_axis_op_stream;
        let stream = &mut self.streams[usize::from(index)];
        let first = usize::from(index) * self.count as usize;
        let messages = &mut self.messages[first..first + self.count as usize];
        let mut result = Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_stream: index,
            ..Default::default()
        };
        match operation.s_axis_op_op {
            op::COUNT => {
                result.m_axis_result_message = operation.s_axis_op_message;
                result.m_axis_result_status = stream.count(operation, messages);
            }
            op::TELL => {
                result.m_axis_result_message = stream.oldest;
                result.m_axis_result_status = status::NONE;
                if let Some(message) = stream.tell(messages) {
                    result.m_axis_result_status = status::TOLD;
                    result.m_axis_result_length = message.length;
                    result.m_axis_result_immediate = message.immediate;
                    result.m_axis_result_kind = message.kind;
                }
            }
            op::INIT => {
                result.m_axis_result_message = operation.s_axis_op_message;
                result.m_axis_result_status = status::DONE;
                *stream = Stream {
                    oldest: operation.s_axis_op_message,
                    ..Stream::default()
                };
            }
            _ => result.m_axis_result_status = status::NONE,
        }
        result.m_axis_result_more = stream.whole & 1 << (stream.oldest % self.count) != 0;
        result
    }
}

impl Stream {
    /// Status of a COUNT.
    #[inline]
    fn count(&mut self, operation: &Inputs, messages: &mut [Message]) -> u8 {
        let places = messages.len() as u32;
        if NUMBERS.distance(self.oldest, operation.s_axis_op_message) >= places {
            return status::OUTSIDE;
        }
        let place = operation.s_axis_op_message % places;
        let bit = 1 << place;
        let message = &mut messages[place as usize];
        let counted = if self.begun & bit != 0 { message.counted } else { 0 };
        let sum = u64::from(counted) + u64::from(operation.s_axis_op_bytes);
        let length = operation.s_axis_op_length;
        if self.whole & bit != 0 || sum > u64::from(length) {
            return status::TOO_LONG;
        }
        self.begun |= bit;
        message.counted = sum as u32;
        if sum < u64::from(length) {
            return status::PART;
        }
        self.whole |= bit;
        message.length = length;
        message.immediate = operation.s_axis_op_immediate;
        message.kind = operation.s_axis_op_kind;
        status::WHOLE
    }

    /// The oldest message, if it is whole: it is told with this.
    #[inline]
    fn tell<'a>(&mut self, messages: &'a [Message]) -> Option<&'a Message> {
        let place = self.oldest % messages.len() as u32;
        let bit = 1 << place;
        if self.whole & bit == 0 {
            return None;
        }
        self.begun &= !bit;
        self.whole &= !bit;
        self.oldest = NUMBERS.add(self.oldest, 1);
        Some(&messages[place as usize])
    }
}
