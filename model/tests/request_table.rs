//! `request_table` against its contract: directed cases, and random operations against a slow reference whose numbers do not wrap.

mod common;

use common::Spaced;
use metaroce_model::{
    Params,
    port::request_table::{Inputs, LATENCY, Outputs, SAME_STREAM_CLOCKS, op, status},
    unit::{Unit, request_table::RequestTable},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Messages are numbered modulo this.
const NUMBERS: u64 = 1 << 24;

/// A stream by the letter of the contract: counts that do not wrap, and requests by their numbers.
#[derive(Clone, Default)]
struct Stream {
    posted: u64,
    current: u64,
    oldest: u64,
    receives: u64,
    offset: u64,
    /// The requests and their receives by their place in the ring. What was written stays, also over a reset.
    requests: BTreeMap<u64, (Inputs, u64)>,
}

struct Reference {
    params: Params,
    streams: Vec<Stream>,
    spaced: Spaced<Inputs, Outputs>,
    bins: BTreeMap<&'static str, u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            streams: vec![Stream::default(); params.total_streams() as usize],
            spaced: Spaced::new(SAME_STREAM_CLOCKS, LATENCY, params.total_streams()),
            bins: BTreeMap::new(),
        }
    }

    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.spaced.ready(),
            ..self.spaced.delay.head().copied().unwrap_or_default()
        }
    }

    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            let bins = std::mem::take(&mut self.bins);
            let streams = std::mem::take(&mut self.streams).into_iter();
            *self = Self {
                bins,
                streams: streams
                    .map(|stream| Stream {
                        requests: stream.requests,
                        ..Default::default()
                    })
                    .collect(),
                ..Self::new(&self.params)
            };
            return;
        }
        let offered = inputs
            .s_axis_op_tvalid
            .then_some((inputs.s_axis_op_stream, *inputs));
        let (streams, bins, params) = (&mut self.streams, &mut self.bins, &self.params);
        self.spaced
            .clock(offered, inputs.m_axis_result_tready, |operation| {
                streams[usize::from(operation.s_axis_op_stream)].execute(&operation, params, bins)
            });
    }
}

impl Stream {
    /// The packet of a request that begins at `offset`.
    fn packet(&self, message: u64, offset: u64, params: &Params) -> Outputs {
        let (request, receive) = self.requests[&(message % u64::from(params.messages))];
        let left = (u64::from(request.s_axis_op_length) + (1 << 32) - offset) % (1 << 32);
        let bytes = left.min(params.mtu_bytes.into());
        let address = |base: u64| ((u128::from(base) + u128::from(offset)) % (1 << 64)) as u64;
        Outputs {
            m_axis_result_message: (message % NUMBERS) as u32,
            m_axis_result_kind: request.s_axis_op_kind,
            m_axis_result_message_length: request.s_axis_op_length,
            m_axis_result_offset: offset as u32,
            m_axis_result_bytes: bytes as u16,
            m_axis_result_last: bytes == left,
            m_axis_result_immediate: request.s_axis_op_immediate,
            m_axis_result_key: request.s_axis_op_key,
            m_axis_result_receive: (receive % NUMBERS) as u32,
            m_axis_result_local: address(request.s_axis_op_local),
            m_axis_result_remote: address(request.s_axis_op_remote),
            m_axis_result_identifier: request.s_axis_op_identifier,
            ..Default::default()
        }
    }

    /// The message that is held, if any, of which the lowest bits are those of `slot`.
    fn held(&self, slot: u32, params: &Params) -> Option<u64> {
        let slots = 1 << params.message_slot_bits();
        (self.oldest..self.posted).find(|message| message % slots == u64::from(slot) % slots)
    }

    fn execute(
        &mut self,
        operation: &Inputs,
        params: &Params,
        bins: &mut BTreeMap<&'static str, u32>,
    ) -> Outputs {
        let mut hit = |bin: &'static str, condition: bool| {
            *bins.entry(bin).or_default() += u32::from(condition);
        };
        let numbered = |message: u64| Outputs {
            m_axis_result_message: (message % NUMBERS) as u32,
            ..Default::default()
        };
        let ring = u64::from(params.messages);
        let room = self.posted - self.oldest < ring;
        let mut status = status::DONE;
        let fields = match operation.s_axis_op_op {
            op::POST if room => {
                self.requests
                    .insert(self.posted % ring, (*operation, self.receives));
                self.posted += 1;
                self.receives += u64::from(operation.s_axis_op_kind >= 2);
                hit("posted over the wrap", self.posted.is_multiple_of(NUMBERS));
                numbered(self.posted - 1)
            }
            op::NEXT if self.current < self.posted => {
                let packet = self.packet(self.current, self.offset, params);
                hit("a message of no bytes", packet.m_axis_result_message_length == 0);
                hit(
                    "the first of several packets",
                    self.offset == 0 && !packet.m_axis_result_last,
                );
                hit(
                    "the last of several packets",
                    self.offset > 0 && packet.m_axis_result_last,
                );
                hit(
                    "a full last packet",
                    packet.m_axis_result_last && u32::from(packet.m_axis_result_bytes) == params.mtu_bytes,
                );
                hit("an address past 4 GiB", {
                    let (request, _) = self.requests[&(self.current % ring)];
                    request.s_axis_op_remote >> 32 != packet.m_axis_result_remote >> 32
                });
                self.offset += u64::from(packet.m_axis_result_bytes);
                if packet.m_axis_result_last {
                    self.current += 1;
                    self.offset = 0;
                }
                packet
            }
            op::READ if let Some(message) = self.held(operation.s_axis_op_message, params) => {
                let offset = u64::from(operation.s_axis_op_packet) * u64::from(params.mtu_bytes);
                hit("read over the wrap", message / NUMBERS > self.oldest / NUMBERS);
                hit("read while it is cut", message == self.current && self.offset > 0);
                hit("read beyond its end", {
                    let (request, _) = self.requests[&(message % ring)];
                    offset > request.s_axis_op_length.into()
                });
                self.packet(message, offset, params)
            }
            op::RELEASE if self.oldest < self.current => {
                let (request, _) = self.requests[&(self.oldest % ring)];
                self.oldest += 1;
                Outputs {
                    m_axis_result_kind: request.s_axis_op_kind,
                    m_axis_result_message_length: request.s_axis_op_length,
                    m_axis_result_identifier: request.s_axis_op_identifier,
                    ..numbered(self.oldest - 1)
                }
            }
            op::INIT => {
                let message = u64::from(operation.s_axis_op_message) + NUMBERS;
                (self.posted, self.current, self.oldest, self.offset) = (message, message, message, 0);
                self.receives = operation.s_axis_op_receive.into();
                hit("started anew", true);
                numbered(message)
            }
            other => {
                hit("POST refused", other == op::POST);
                hit("nothing to send", other == op::NEXT);
                hit("nothing to release", other == op::RELEASE);
                hit("read after its release", other == op::READ);
                hit("reserved", other > op::INIT);
                status = if other == op::POST {
                    status::REFUSED
                } else {
                    status::NONE
                };
                Outputs::default()
            }
        };
        Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_stream: operation.s_axis_op_stream,
            m_axis_result_tag: operation.s_axis_op_tag,
            m_axis_result_status: status,
            m_axis_result_unsent: self.current < self.posted,
            ..fields
        }
    }
}

/// H1, R10: every output in every clock is the reference's, with stalls and resets, and each case that the contract tells apart occurs.
#[test]
fn random_operations_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(10);
    let params = Params::load("tiny").unwrap();
    let mut unit = RequestTable::new(&params);
    let mut reference = Reference::new(&params);
    for clock in 0..200_000 {
        let phase = clock / 512;
        let stream = random.random_range(0..[1, 4][phase % 2]);
        let state = &reference.streams[usize::from(stream)];
        let prevailing = [op::POST, op::NEXT, op::RELEASE][phase / 2 % 3];
        let operation = match random.random_range(0..64) {
            0..32 => prevailing,
            32..36 => op::READ,
            36 => random.random_range(4..8),
            _ => random.random_range(0..4),
        };
        // From two before the oldest to two after the newest, with any bits above the slot.
        let message = state.oldest + NUMBERS - 2 + random.random_range(0..8);
        let above = if random.random() {
            random.random_range(0..NUMBERS) & (NUMBERS - (1 << params.message_slot_bits()))
        } else {
            0
        };
        let length = [0, 1, 255, 256, 257, 600][random.random_range(0..6)];
        let inputs = Inputs {
            rst: random.random_ratio(1, 20_000),
            s_axis_op_tvalid: random.random_ratio([15, 4][phase / 4 % 2], 16),
            s_axis_op_op: operation,
            s_axis_op_stream: stream,
            s_axis_op_message: match operation {
                op::INIT => (NUMBERS - random.random_range(1..9)) as u32,
                _ => ((message ^ above) % NUMBERS) as u32,
            },
            s_axis_op_packet: random.random_range(0..4),
            s_axis_op_tag: random.random_range(0..2),
            s_axis_op_receive: random.random_range(0..NUMBERS as u32),
            s_axis_op_kind: random.random_range(0..4),
            s_axis_op_length: length,
            s_axis_op_local: random.random(),
            s_axis_op_remote: [random.random(), 0xffff_ff00, u64::MAX - 3][random.random_range(0..3)],
            s_axis_op_key: random.random(),
            s_axis_op_immediate: random.random(),
            s_axis_op_identifier: random.random(),
            m_axis_result_tready: random.random_ratio([16, 12, 3][phase / 3 % 3], 16),
        };
        assert_eq!(unit.outputs(), reference.outputs(), "clock {clock}");
        unit.clock(&inputs);
        reference.clock(&inputs);
    }
    for (bin, hits) in &reference.bins {
        assert!(*hits > 0, "'{bin}' never occurred");
    }
    assert_eq!(reference.bins.len(), 15);
}

/// Does one operation; gives its result.
fn run(unit: &mut RequestTable, operation: Inputs) -> Outputs {
    let mut operation = Inputs {
        m_axis_result_tready: true,
        s_axis_op_tvalid: true,
        ..operation
    };
    loop {
        let out = unit.outputs();
        unit.clock(&operation);
        operation.s_axis_op_tvalid &= !out.s_axis_op_tready;
        if out.m_axis_result_tvalid {
            return out;
        }
    }
}

/// R11: three requests of a stream, cut and released in order; a packet read again is what it was.
#[test]
fn requests_are_cut_in_order() {
    let params = Params::load("tiny").unwrap();
    let mut unit = RequestTable::new(&params);
    let mut run = |operation: Inputs| run(&mut unit, operation);
    for (length, kind) in [(300, 0), (0, 2), (256, 3)] {
        run(Inputs {
            s_axis_op_op: op::POST,
            s_axis_op_length: length,
            s_axis_op_kind: kind,
            s_axis_op_local: 0xffff_ff80,
            ..Default::default()
        });
    }
    let operation = |op| Inputs {
        s_axis_op_op: op,
        ..Default::default()
    };
    let cut: Vec<_> = (0..5)
        .map(|_| run(operation(op::NEXT)))
        .map(|packet| {
            (
                packet.m_axis_result_status,
                packet.m_axis_result_message,
                packet.m_axis_result_offset,
                packet.m_axis_result_bytes,
                packet.m_axis_result_last,
                packet.m_axis_result_receive,
                packet.m_axis_result_unsent,
            )
        })
        .collect();
    assert_eq!(
        cut,
        [
            (status::DONE, 0, 0, 256, false, 0, true),
            (status::DONE, 0, 256, 44, true, 0, true),
            (status::DONE, 1, 0, 0, true, 0, true),
            (status::DONE, 2, 0, 256, true, 1, false),
            (status::NONE, 0, 0, 0, false, 0, false),
        ]
    );
    let again = run(Inputs {
        s_axis_op_op: op::READ,
        s_axis_op_message: 0,
        s_axis_op_packet: 1,
        ..Default::default()
    });
    assert_eq!((again.m_axis_result_bytes, again.m_axis_result_last), (44, true));
    assert_eq!(again.m_axis_result_local, 0x1_0000_0080);
    let released: Vec<_> = (0..4)
        .map(|_| run(operation(op::RELEASE)))
        .map(|result| (result.m_axis_result_status, result.m_axis_result_message_length))
        .collect();
    assert_eq!(
        released,
        [
            (status::DONE, 300),
            (status::DONE, 0),
            (status::DONE, 256),
            (status::NONE, 0)
        ]
    );
}

/// R11: of a message that was released, nothing is read, while those held are, over every wrap of the slots and the one of the numbers; 2^`message_slot_bits` messages after it, a slot is another message's.
#[test]
fn a_released_message_is_not_read() {
    let params = Params::load("tiny").unwrap();
    let (ring, slots) = (params.messages, 1 << params.message_slot_bits());
    let mut unit = RequestTable::new(&params);
    let first = NUMBERS as u32 - slots - 3;
    let number = |ahead: u32| (first + ahead) % NUMBERS as u32;
    let operation = |op| Inputs {
        s_axis_op_op: op,
        ..Default::default()
    };
    run(
        &mut unit,
        Inputs {
            s_axis_op_message: first,
            ..operation(op::INIT)
        },
    );
    // Message `ahead` of the first one has a length of that many bytes.
    let post = |unit: &mut RequestTable, ahead: u32| {
        let result = run(
            unit,
            Inputs {
                s_axis_op_length: ahead,
                ..operation(op::POST)
            },
        );
        assert_eq!(result.m_axis_result_message, number(ahead));
    };
    (0..ring).for_each(|ahead| post(&mut unit, ahead));
    for oldest in 0..3 * slots {
        for slot in 0..slots {
            let ahead = (slot + slots - number(oldest) % slots) % slots;
            let result = run(
                &mut unit,
                Inputs {
                    s_axis_op_message: slot,
                    ..operation(op::READ)
                },
            );
            let expected = if ahead < ring {
                (status::DONE, number(oldest + ahead), oldest + ahead)
            } else {
                (status::NONE, 0, 0)
            };
            let read = (
                result.m_axis_result_status,
                result.m_axis_result_message,
                result.m_axis_result_message_length,
            );
            assert_eq!(read, expected, "slot {slot}, oldest {oldest}");
        }
        assert!(run(&mut unit, operation(op::NEXT)).m_axis_result_last);
        let released = run(&mut unit, operation(op::RELEASE));
        assert_eq!(released.m_axis_result_message, number(oldest));
        post(&mut unit, oldest + ring);
    }
}
