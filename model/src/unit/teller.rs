//! Model of `teller`. Contract: [`crate::port::teller`].

use super::Unit;
use crate::{
    Params,
    pipeline::Queue,
    port::{
        message_table::{op, status},
        teller::{Inputs, Outputs, SLOTS},
    },
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Teller {
    slots: [Slot; SLOTS],
    count: Queue<Packet>,
    /// COUNT, or TELL where there is `None`, of a stream.
    op: Queue<(u16, Option<Packet>)>,
    told: Queue<Message>,
    refused: bool,
}

/// A stream that is worked on.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    busy: bool,
    stream: u16,
    tell: bool,
}

/// A packet to be counted.
#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    stream: u16,
    message: u32,
    bytes: u16,
    length: u32,
    immediate: u32,
    kind: u8,
}

/// A whole message.
#[derive(Clone, Copy, Debug, Default)]
struct Message {
    stream: u16,
    message: u32,
    length: u32,
    immediate: u32,
    kind: u8,
}

impl Unit for Teller {
    const NAME: &'static str = "teller";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(_: &Params) -> Self {
        Self {
            slots: [Slot::default(); SLOTS],
            count: Queue::new(1),
            op: Queue::new(1),
            told: Queue::new(2 * SLOTS),
            refused: false,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let operation = self.op.head().copied();
        let (stream, packet) = operation.unwrap_or_default();
        let tells = operation.is_some() && packet.is_none();
        let packet = packet.unwrap_or_default();
        let told = self.told.head().copied().unwrap_or_default();
        Outputs {
            s_axis_count_tready: self.count.has_room(),
            m_axis_op_tvalid: operation.is_some(),
            m_axis_op_op: if tells { op::TELL } else { op::COUNT },
            m_axis_op_stream: stream,
            m_axis_op_message: packet.message,
            m_axis_op_bytes: packet.bytes,
            m_axis_op_length: packet.length,
            m_axis_op_immediate: packet.immediate,
            m_axis_op_kind: packet.kind,
            m_axis_told_tvalid: !self.told.is_empty(),
            m_axis_told_stream: told.stream,
            m_axis_told_message: told.message,
            m_axis_told_length: told.length,
            m_axis_told_immediate: told.immediate,
            m_axis_told_kind: told.kind,
            refused: self.refused,
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.slots = [Slot::default(); SLOTS];
            self.count.clear();
            self.op.clear();
            self.told.clear();
            self.refused = false;
            return;
        }
        let accepts = self.count.has_room() && inputs.s_axis_count_tvalid;
        let tells = (self.op.has_room() && self.told.len() <= SLOTS)
            .then(|| self.slots.iter().position(|slot| slot.busy && slot.tell))
            .flatten();
        let counts = self
            .count
            .head()
            .filter(|packet| {
                !self
                    .slots
                    .iter()
                    .any(|slot| slot.busy && slot.stream == packet.stream)
            })
            .and_then(|_| self.slots.iter().position(|slot| !slot.busy))
            .filter(|_| tells.is_none() && self.op.has_room());

        if inputs.m_axis_op_tready {
            self.op.take();
        }
        if inputs.m_axis_told_tready {
            self.told.take();
        }
        self.refused = false;
        if inputs.result_valid && matches!(inputs.result_op, op::COUNT | op::TELL) {
            self.result(inputs);
        }
        if let Some(slot) = tells {
            self.slots[slot].tell = false;
            self.op.put((self.slots[slot].stream, None));
        } else if let Some(slot) = counts
            && let Some(packet) = self.count.take()
        {
            self.slots[slot] = Slot {
                busy: true,
                stream: packet.stream,
                tell: false,
            };
            self.op.put((packet.stream, Some(packet)));
        }
        if accepts {
            self.count.put(Packet {
                stream: inputs.s_axis_count_stream,
                message: inputs.s_axis_count_message,
                bytes: inputs.s_axis_count_bytes,
                length: inputs.s_axis_count_length,
                immediate: inputs.s_axis_count_immediate,
                kind: inputs.s_axis_count_kind,
            });
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        !self.refused
            && self.count.is_empty()
            && self.op.is_empty()
            && self.told.is_empty()
            && !self.slots.iter().any(|slot| slot.busy && slot.tell)
    }
}

impl Teller {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        !self.slots.iter().any(|slot| slot.busy)
            && self.count.is_empty()
            && self.op.is_empty()
            && self.told.is_empty()
    }

    #[inline]
    fn result(&mut self, inputs: &Inputs) {
        let stream = inputs.result_stream;
        if let Some(slot) = self
            .slots
            .iter_mut()
            .find(|slot| slot.busy && slot.stream == stream)
        {
            (slot.busy, slot.tell) = (inputs.result_more, inputs.result_more);
        }
        self.refused = matches!(inputs.result_status, status::OUTSIDE | status::TOO_LONG);
        if inputs.result_status == status::TOLD {
            self.told.put(Message {
                stream,
                message: inputs.result_message,
                length: inputs.result_length,
                immediate: inputs.result_immediate,
                kind: inputs.result_kind,
            });
        }
    }
}
