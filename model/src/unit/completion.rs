//! Model of `completion`. Contract: [`crate::port::completion`].

use super::Unit;
use crate::{
    Params,
    pipeline::Queue,
    port::completion::{Inputs, Outputs, WAITING},
};

/// The bit of a kind that tells a message with immediate.
const IMMEDIATE: u8 = 1;
/// The bit of a kind that tells a Send from a Write.
const SEND: u8 = 2;

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Completion {
    streams: u16,
    received: Queue<Message>,
    sent: Queue<u16>,
    error: Queue<Refusal>,
    complete: Queue<u16>,
    release: Queue<u16>,
    stop: Queue<u16>,
    cqe: Queue<Outputs>,
    waiting_received: Queue<Message>,
    /// Identifiers of completed receives.
    completed: Queue<u32>,
    /// Streams.
    waiting_sent: Queue<u16>,
    released: Queue<Released>,
    waiting_error: Queue<Refusal>,
    stopped: Queue<bool>,
    /// A received message was delivered last, of the two.
    received_last: bool,
}

/// A received message.
#[derive(Clone, Copy, Debug)]
struct Message {
    stream: u16,
    message: u32,
    length: u32,
    immediate: u32,
    kind: u8,
}

/// A released request.
#[derive(Clone, Copy, Debug)]
struct Released {
    message: u32,
    kind: u8,
    length: u32,
    identifier: u32,
}

/// A message that the other NIC refused.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    stream: u16,
    message: u32,
    code: u8,
}

impl Unit for Completion {
    const NAME: &'static str = "completion";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            streams: params.streams as u16,
            received: Queue::new(1),
            sent: Queue::new(1),
            error: Queue::new(1),
            complete: Queue::new(1),
            release: Queue::new(1),
            stop: Queue::new(1),
            cqe: Queue::new(1),
            waiting_received: Queue::new(WAITING),
            completed: Queue::new(WAITING),
            waiting_sent: Queue::new(WAITING),
            released: Queue::new(WAITING),
            waiting_error: Queue::new(WAITING),
            stopped: Queue::new(WAITING),
            received_last: false,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_received_tready: self.received.has_room(),
            s_axis_sent_tready: self.sent.has_room(),
            s_axis_error_tready: self.error.has_room(),
            m_axis_complete_tvalid: !self.complete.is_empty(),
            m_axis_complete_stream: self.complete.head().copied().unwrap_or_default(),
            m_axis_release_tvalid: !self.release.is_empty(),
            m_axis_release_stream: self.release.head().copied().unwrap_or_default(),
            m_axis_stop_tvalid: !self.stop.is_empty(),
            m_axis_stop_connection: self.stop.head().copied().unwrap_or_default(),
            ..self.cqe.head().copied().unwrap_or_default()
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let accepts_received = self.received.has_room() && inputs.s_axis_received_tvalid;
        let accepts_sent = self.sent.has_room() && inputs.s_axis_sent_tvalid;
        let accepts_error = self.error.has_room() && inputs.s_axis_error_tvalid;
        let takes_received =
            !self.received.is_empty() && self.complete.has_room() && self.waiting_received.has_room();
        let takes_sent = !self.sent.is_empty() && self.release.has_room() && self.waiting_sent.has_room();
        let takes_error = !self.error.is_empty() && self.stop.has_room() && self.waiting_error.has_room();
        let delivers = self.cqe.has_room();

        if inputs.m_axis_complete_tready {
            self.complete.take();
        }
        if inputs.m_axis_release_tready {
            self.release.take();
        }
        if inputs.m_axis_stop_tready {
            self.stop.take();
        }
        if inputs.m_axis_cqe_tready {
            self.cqe.take();
        }
        if delivers {
            self.deliver();
        }
        if takes_received && let Some(message) = self.received.take() {
            if message.kind != 0 {
                self.waiting_received.put(message);
            }
            if message.kind & SEND != 0 {
                self.complete.put(message.stream);
            }
        }
        if takes_sent && let Some(stream) = self.sent.take() {
            self.waiting_sent.put(stream);
            self.release.put(stream);
        }
        if takes_error && let Some(refusal) = self.error.take() {
            self.waiting_error.put(refusal);
            self.stop.put(refusal.stream / self.streams);
        }
        self.strobes(inputs);
        if accepts_received {
            self.received.put(Message {
                stream: inputs.s_axis_received_stream,
                message: inputs.s_axis_received_message,
                length: inputs.s_axis_received_length,
                immediate: inputs.s_axis_received_immediate,
                kind: inputs.s_axis_received_kind,
            });
        }
        if accepts_sent {
            self.sent.put(inputs.s_axis_sent_stream);
        }
        if accepts_error {
            self.error.put(Refusal {
                stream: inputs.s_axis_error_stream,
                message: inputs.s_axis_error_message,
                code: inputs.s_axis_error_code,
            });
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.received.is_empty()
            && self.sent.is_empty()
            && self.error.is_empty()
            && self.complete.is_empty()
            && self.release.is_empty()
            && self.stop.is_empty()
            && self.cqe.is_empty()
            && self.waiting_received.is_empty()
            && self.released.is_empty()
            && self.stopped.is_empty()
    }
}

impl Completion {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.received.is_empty()
            && self.sent.is_empty()
            && self.error.is_empty()
            && self.cqe.is_empty()
            && self.waiting_received.is_empty()
            && self.waiting_sent.is_empty()
            && self.waiting_error.is_empty()
    }

    fn reset(&mut self) {
        self.received.clear();
        self.sent.clear();
        self.error.clear();
        self.complete.clear();
        self.release.clear();
        self.stop.clear();
        self.cqe.clear();
        self.waiting_received.clear();
        self.completed.clear();
        self.waiting_sent.clear();
        self.released.clear();
        self.waiting_error.clear();
        self.stopped.clear();
        self.received_last = false;
    }

    #[inline]
    fn strobes(&mut self, inputs: &Inputs) {
        if inputs.completed_valid {
            self.completed.put(inputs.completed_identifier);
        }
        if inputs.released_valid {
            self.released.put(Released {
                message: inputs.released_message,
                kind: inputs.released_kind,
                length: inputs.released_length,
                identifier: inputs.released_identifier,
            });
        }
        if inputs.stopped_valid {
            self.stopped.put(inputs.stopped_newly);
        }
    }

    #[inline]
    fn deliver(&mut self) {
        if !self.waiting_error.is_empty() && !self.stopped.is_empty() {
            if let (Some(refusal), Some(true)) = (self.waiting_error.take(), self.stopped.take()) {
                self.cqe.put(Outputs {
                    m_axis_cqe_tvalid: true,
                    m_axis_cqe_error: refusal.code,
                    m_axis_cqe_stream: refusal.stream,
                    m_axis_cqe_message: refusal.message,
                    ..Outputs::default()
                });
            }
            return;
        }
        let received = self
            .waiting_received
            .head()
            .copied()
            .filter(|message| message.kind & SEND == 0 || !self.completed.is_empty());
        let sent = self
            .waiting_sent
            .head()
            .copied()
            .zip(self.released.head().copied());
        match (received, sent) {
            (Some(message), None) => self.deliver_received(message),
            (Some(message), Some(_)) if !self.received_last => self.deliver_received(message),
            (_, Some((stream, released))) => self.deliver_sent(stream, released),
            (None, None) => {}
        }
    }

    #[inline]
    fn deliver_received(&mut self, message: Message) {
        self.waiting_received.take();
        let identifier = if message.kind & SEND != 0 {
            self.completed.take()
        } else {
            None
        };
        self.received_last = true;
        self.cqe.put(Outputs {
            m_axis_cqe_tvalid: true,
            m_axis_cqe_received: true,
            m_axis_cqe_stream: message.stream,
            m_axis_cqe_message: message.message,
            m_axis_cqe_length: message.length,
            m_axis_cqe_immediate: if message.kind & IMMEDIATE != 0 {
                message.immediate
            } else {
                0
            },
            m_axis_cqe_kind: message.kind,
            m_axis_cqe_identifier: identifier.unwrap_or_default(),
            ..Outputs::default()
        });
    }

    #[inline]
    fn deliver_sent(&mut self, stream: u16, released: Released) {
        self.waiting_sent.take();
        self.released.take();
        self.received_last = false;
        self.cqe.put(Outputs {
            m_axis_cqe_tvalid: true,
            m_axis_cqe_stream: stream,
            m_axis_cqe_message: released.message,
            m_axis_cqe_length: released.length,
            m_axis_cqe_kind: released.kind,
            m_axis_cqe_identifier: released.identifier,
            ..Outputs::default()
        });
    }
}
