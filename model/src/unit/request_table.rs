//! Model of `request_table`. Contract: [`crate::port::request_table`].

use super::Unit;
use crate::{
    Params,
    pipeline::OperationPipeline,
    port::{
        receive_table::NUMBER_BITS,
        request_table::{Inputs, LATENCY, Outputs, SAME_STREAM_CLOCKS, op, status},
    },
    serial::Serial,
};

/// Numbers of messages and receives.
const NUMBERS: Serial = Serial::new(NUMBER_BITS);
/// The bit of a kind that tells a Send from a Write.
const SEND: u8 = 2;

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct RequestTable {
    /// Entries of a ring, a power of two.
    messages: u32,
    mtu_bytes: u32,
    /// What a packet's descriptor keeps of a message's number.
    slots: Serial,
    /// Mask of a packet's bytes.
    bytes_mask: u32,
    streams: Box<[Stream]>,
    /// The rings of all streams, one after the other.
    requests: Box<[Request]>,
    operations: OperationPipeline<Inputs, Outputs, SAME_STREAM_CLOCKS, { LATENCY - 1 }>,
}

/// The counts of one stream.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    posted: u32,
    current: u32,
    oldest: u32,
    receives: u32,
    offset: u32,
}

/// A work request.
#[derive(Clone, Copy, Debug, Default)]
struct Request {
    kind: u8,
    length: u32,
    local: u64,
    remote: u64,
    key: u32,
    immediate: u32,
    identifier: u32,
    receive: u32,
}

impl Unit for RequestTable {
    const NAME: &'static str = "request_table";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let streams = params.total_streams();
        Self {
            messages: params.messages,
            mtu_bytes: params.mtu_bytes,
            slots: Serial::new(params.message_slot_bits()),
            bytes_mask: u32::MAX >> (32 - params.payload_bits()),
            streams: vec![Stream::default(); streams as usize].into(),
            requests: vec![Request::default(); (streams * params.messages) as usize].into(),
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
            // What the requests hold shows only when they were posted again.
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

impl RequestTable {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.streams.iter().all(|stream| stream.oldest == stream.posted)
    }

    #[inline]
    fn execute(&mut self, operation: &Inputs) -> Outputs {
        let index = operation.s_axis_op_stream;
        let ring = u32::from(index) * self.messages;
        let place = |message: u32| (ring + message % self.messages) as usize;
        let stream = &mut self.streams[usize::from(index)];
        let done = match operation.s_axis_op_op {
            op::POST if NUMBERS.distance(stream.oldest, stream.posted) < self.messages => {
                let request = Request::new(operation, stream.receives);
                self.requests[place(stream.posted)] = request;
                let message = stream.posted;
                stream.posted = NUMBERS.add(message, 1);
                let sends = u32::from(request.kind & SEND != 0);
                stream.receives = NUMBERS.add(stream.receives, sends);
                Ok(Outputs {
                    m_axis_result_message: message,
                    ..Default::default()
                })
            }
            op::POST => Err(status::REFUSED),
            op::NEXT if stream.current != stream.posted => {
                let (message, offset) = (stream.current, stream.offset);
                let packet = self.packet(message, offset, &self.requests[place(message)]);
                self.streams[usize::from(index)].advance(&packet);
                Ok(packet)
            }
            op::READ => match self.slots.distance(stream.oldest, operation.s_axis_op_message) {
                behind if behind < NUMBERS.distance(stream.oldest, stream.posted) => {
                    let message = NUMBERS.add(stream.oldest, behind);
                    let offset = operation.s_axis_op_packet * self.mtu_bytes;
                    Ok(self.packet(message, offset, &self.requests[place(message)]))
                }
                _ => Err(status::NONE),
            },
            op::RELEASE if stream.oldest != stream.current => {
                let message = stream.oldest;
                stream.oldest = NUMBERS.add(message, 1);
                let request = &self.requests[place(message)];
                Ok(Outputs {
                    m_axis_result_message: message,
                    m_axis_result_kind: request.kind,
                    m_axis_result_message_length: request.length,
                    m_axis_result_identifier: request.identifier,
                    ..Default::default()
                })
            }
            op::INIT => {
                let message = operation.s_axis_op_message;
                *stream = Stream {
                    posted: message,
                    current: message,
                    oldest: message,
                    receives: operation.s_axis_op_receive,
                    offset: 0,
                };
                Ok(Outputs {
                    m_axis_result_message: message,
                    ..Default::default()
                })
            }
            _ => Err(status::NONE),
        };
        let stream = &self.streams[usize::from(index)];
        let (m_axis_result_status, fields) = match done {
            Ok(fields) => (status::DONE, fields),
            Err(status) => (status, Outputs::default()),
        };
        Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_stream: index,
            m_axis_result_tag: operation.s_axis_op_tag,
            m_axis_result_status,
            m_axis_result_unsent: stream.current != stream.posted,
            ..fields
        }
    }

    /// The packet of `message` that begins at `offset`.
    #[inline]
    fn packet(&self, message: u32, offset: u32, request: &Request) -> Outputs {
        let left = request.length.wrapping_sub(offset);
        let bytes = left.min(self.mtu_bytes) & self.bytes_mask;
        Outputs {
            m_axis_result_message: message,
            m_axis_result_kind: request.kind,
            m_axis_result_message_length: request.length,
            m_axis_result_offset: offset,
            m_axis_result_bytes: bytes as u16,
            m_axis_result_last: left == bytes,
            m_axis_result_immediate: request.immediate,
            m_axis_result_key: request.key,
            m_axis_result_receive: request.receive,
            m_axis_result_local: request.local.wrapping_add(offset.into()),
            m_axis_result_remote: request.remote.wrapping_add(offset.into()),
            m_axis_result_identifier: request.identifier,
            ..Default::default()
        }
    }
}

impl Stream {
    /// The current message's `packet` was given.
    #[inline]
    fn advance(&mut self, packet: &Outputs) {
        if packet.m_axis_result_last {
            self.current = NUMBERS.add(self.current, 1);
            self.offset = 0;
        } else {
            self.offset += u32::from(packet.m_axis_result_bytes);
        }
    }
}

impl Request {
    #[inline]
    fn new(operation: &Inputs, receive: u32) -> Self {
        Self {
            kind: operation.s_axis_op_kind,
            length: operation.s_axis_op_length,
            local: operation.s_axis_op_local,
            remote: operation.s_axis_op_remote,
            key: operation.s_axis_op_key,
            immediate: operation.s_axis_op_immediate,
            identifier: operation.s_axis_op_identifier,
            receive,
        }
    }
}
