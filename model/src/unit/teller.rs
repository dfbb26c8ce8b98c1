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
    /// What happens in this clock, decided in the one before.
    decided: Option<Decided>,
}

/// A rule and its slot.
#[derive(Clone, Copy, Debug)]
enum Decided {
    Tell(usize),
    Count(usize),
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
            decided: None,
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
            self.decided = None;
            return;
        }
        let accepts = self.count.has_room() && inputs.s_axis_count_tvalid;
        let decided = self.decided;
        self.decided = match decided {
            None => self.decide(),
            Some(_) => None,
        };

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
        match decided {
            Some(Decided::Tell(slot)) => {
                self.slots[slot].tell = false;
                self.op.put((self.slots[slot].stream, None));
            }
            Some(Decided::Count(slot)) => {
                if let Some(packet) = self.count.take() {
                    self.slots[slot] = Slot {
                        busy: true,
                        stream: packet.stream,
                        tell: false,
                    };
                    self.op.put((packet.stream, Some(packet)));
                }
            }
            None => {}
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
    fn decide(&self) -> Option<Decided> {
        if !self.op.has_room() {
            return None;
        }
        let tells = self.slots.iter().position(|slot| slot.busy && slot.tell);
        if let Some(slot) = tells.filter(|_| self.told.len() <= SLOTS) {
            return Some(Decided::Tell(slot));
        }
        let stream = self.count.head()?.stream;
        if self.slots.iter().any(|slot| slot.busy && slot.stream == stream) {
            return None;
        }
        let free = self.slots.iter().position(|slot| !slot.busy);
        free.map(Decided::Count)
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
