//! What must come out of a pair of NICs: every message exactly once, in the order of its stream, with its bytes in place.

use super::{Completion, Host, IMMEDIATE, Memory, Receive, Request, SEND};
use crate::{Params, port::receive_table::NUMBER_BITS, serial::Serial};
use std::collections::VecDeque;

const NUMBERS: Serial = Serial::new(NUMBER_BITS);

/// A message to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// See [`IMMEDIATE`], [`SEND`].
    pub kind: u8,
    /// Bytes.
    pub length: u32,
    /// Where they are.
    pub local: u64,
    /// Where they go: of a Send the address of the receive that is posted for it.
    pub remote: u64,
    /// Of a Write: the key.
    pub key: u32,
    /// The immediate.
    pub immediate: u32,
}

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A completion that none was waited for, or that differs from what was.
    Completion {
        /// The end that got it.
        end: u8,
        /// What came.
        got: Completion,
        /// What was next in its stream, if anything was.
        expected: Option<Completion>,
    },
    /// A message's bytes are not where they should be.
    Bytes {
        /// The end at which they should be.
        end: u8,
        /// Its stream.
        stream: u16,
        /// The message.
        message: Message,
    },
    /// A byte was to be written where none may be.
    Outside {
        /// The end.
        end: u8,
        /// The address.
        address: u64,
    },
}

/// A stream in one direction.
#[derive(Clone, Debug, Default)]
struct Stream {
    posted: u32,
    receives: u32,
    /// Completions that the sender's and the receiver's host still wait for.
    sent: VecDeque<(Completion, Message)>,
    received: VecDeque<(Completion, Message)>,
}

/// All streams in both directions.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    /// By sending end, then stream.
    streams: [Vec<Stream>; 2],
    first: u32,
    /// Completions are not looked at: somebody forges packets, so that anything may come, once more until all is forgotten.
    pub lenient: bool,
    /// What went wrong.
    pub wrongs: Vec<Wrong>,
    /// Completions that were as they should be.
    pub completed: u64,
    /// Writes that nothing is told to the receiver of: end that sends, stream, message. [`Scoreboard::verify`] looks at them.
    silent: Vec<(u8, u16, Message)>,
    /// Completions with an error, in the order in which they came: with the end that got them.
    pub errors: Vec<(u8, Completion)>,
}

impl Scoreboard {
    /// A scoreboard that waits for nothing.
    pub fn new(params: &Params) -> Self {
        let streams = vec![Stream::default(); params.total_streams() as usize];
        Self {
            streams: [streams.clone(), streams],
            first: 0,
            lenient: false,
            wrongs: Vec::new(),
            completed: 0,
            silent: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// All streams begin at this message.
    pub fn start(&mut self, first: u32) {
        self.first = first;
    }

    /// Nothing is waited for any more: the NICs were reset.
    pub fn forget(&mut self) {
        for stream in self.streams.iter_mut().flatten() {
            *stream = Stream::default();
        }
        self.silent.clear();
        self.lenient = false;
    }

    /// Every completion has come.
    pub fn is_done(&self) -> bool {
        self.streams
            .iter()
            .flatten()
            .all(|stream| stream.sent.is_empty() && stream.received.is_empty())
    }

    /// A message is given to its host, and a receive to the other one for a Send.
    pub fn post(&mut self, from: u8, index: u16, message: Message, source: &mut Host, target: &mut Host) {
        let stream = &mut self.streams[usize::from(from)][usize::from(index)];
        let number = NUMBERS.add(self.first, stream.posted);
        let identifier = stream.posted ^ u32::from(index) << 20;
        stream.posted += 1;
        let sent = Completion {
            received: false,
            error: 0,
            stream: index,
            message: number,
            length: message.length,
            immediate: 0,
            kind: message.kind,
            identifier,
        };
        stream.sent.push_back((sent, message));
        let is_send = message.kind & SEND != 0;
        let has_immediate = message.kind & IMMEDIATE != 0;
        if is_send || has_immediate {
            let received = Completion {
                received: true,
                immediate: if has_immediate { message.immediate } else { 0 },
                identifier: if is_send { !stream.receives } else { 0 },
                ..sent
            };
            stream.received.push_back((received, message));
        } else {
            self.silent.push((from, index, message));
        }
        if is_send {
            target.receive(
                index,
                Receive {
                    address: message.remote,
                    length: message.length,
                    identifier: !stream.receives,
                },
            );
            stream.receives += 1;
        }
        source.request(
            index,
            Request {
                kind: message.kind,
                length: message.length,
                local: message.local,
                remote: message.remote,
                key: message.key,
                immediate: message.immediate,
                identifier,
            },
        );
    }

    /// Looks at the bytes of all Writes without immediate, when all is done. Nothing may have been placed over them meanwhile.
    pub fn verify(&mut self, left: &Memory, right: &Memory) {
        for (from, stream, message) in self.silent.drain(..) {
            let (source, target) = if from == 0 { (left, right) } else { (right, left) };
            if !target.equals(message.remote, source, message.local, message.length.into()) {
                self.wrongs.push(Wrong::Bytes {
                    end: 1 - from,
                    stream,
                    message,
                });
            }
        }
    }

    /// A completion came to `end`, whose memory is `own`.
    pub fn check(&mut self, end: u8, got: Completion, own: &Memory, other: &Memory) {
        if got.error != 0 {
            self.errors.push((end, got));
        }
        if got.error != 0 || self.lenient {
            return;
        }
        let from = if got.received { 1 - end } else { end };
        let stream = &mut self.streams[usize::from(from)][usize::from(got.stream)];
        let waiting = if got.received {
            &mut stream.received
        } else {
            &mut stream.sent
        };
        let expected = waiting.front().copied();
        let Some((_, message)) = expected.filter(|(expected, _)| *expected == got) else {
            self.wrongs.push(Wrong::Completion {
                end,
                got,
                expected: expected.map(|(expected, _)| expected),
            });
            return;
        };
        waiting.pop_front();
        self.completed += 1;
        // The receiver may look as soon as it is told; the sender only knows that its packets have arrived.
        if got.received && !own.equals(message.remote, other, message.local, message.length.into()) {
            self.wrongs.push(Wrong::Bytes {
                end,
                stream: got.stream,
                message,
            });
        }
    }
}
