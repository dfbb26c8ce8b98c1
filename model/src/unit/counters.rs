//! Model of `counters`. Contract: [`crate::port::counters`].

use super::Unit;
use crate::{
    Params,
    port::counters::{COUNTERS, Inputs, LATENCY, Outputs, index},
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Counters {
    counters: [u32; COUNTERS],
    /// What is on its way to be shown, what is shown last.
    shown: [u32; LATENCY],
}

impl Unit for Counters {
    const NAME: &'static str = "counters";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(_: &Params) -> Self {
        Self {
            counters: [0; COUNTERS],
            shown: [0; LATENCY],
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        Outputs {
            value: self.shown[LATENCY - 1],
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            (self.counters, self.shown) = ([0; COUNTERS], [0; LATENCY]);
            return;
        }
        let shown = self.counters.get(usize::from(inputs.read_index));
        self.shown.rotate_right(1);
        self.shown[0] = shown.copied().unwrap_or(0);
        let events = [
            (inputs.parser_valid, index::PARSER + inputs.parser_reason),
            (inputs.receiver_valid, index::RECEIVER + inputs.receiver_event),
            (
                inputs.retirement_valid,
                index::RETIREMENT + inputs.retirement_event,
            ),
            (inputs.received_refused, index::RECEIVED_REFUSED),
            (inputs.sent_refused, index::SENT_REFUSED),
            (inputs.request_refused, index::REQUEST_REFUSED),
            (inputs.receive_refused, index::RECEIVE_REFUSED),
            (inputs.timed_out, index::TIMEOUT),
            (inputs.sent_again, index::SENT_AGAIN),
            (inputs.probed, index::PROBE),
        ];
        for (happened, counter) in events {
            if happened {
                let counter = &mut self.counters[usize::from(counter)];
                *counter = counter.wrapping_add(1);
            }
        }
    }
}
