//! `nic`: everything that it drops, refuses or repeats moves its counter, by the right count, and no other (requirements R2, R4, R5, R6, R11).
//!
//! The NIC on the left has a path that it does not use. What strangers forge goes to the right on that path, as what the left one could have sent there next:
//! so each frame would be taken but for what is wrong with it, and what it does to the path's PSNs harms nobody.

mod common;

use common::{
    frames::{seal, seal_ip},
    nics::{KEY, REGION_BYTES, SOURCE, TARGET, configure, region},
};
use metaroce_model::{
    Params,
    pair::{Faults, Frame, IMMEDIATE, Memory, Message, Pair, Receive, Request, SEND, Setup},
    port::{
        configuration::command,
        counters::{COUNTERS, LATENCY, index},
        nic,
        parser::drop,
        path_table,
        receiver::judgement,
        retirement::event,
    },
    unit::{Unit, nic::Nic},
    wire::{Ack, Base, Body, Data, Nak, NakCode, Opcode, Packet, Route, Target},
};
use std::ops::Range;

/// The ends.
const LEFT: u8 = 0;
const RIGHT: u8 = 1;

/// Numbers of counters that are made of a base and a code.
const BAD: u8 = index::PARSER + drop::BAD;
const TRUNCATED: u8 = index::PARSER + drop::TRUNCATED;
const NOT_IPV4: u8 = index::PARSER + drop::NOT_IPV4;
const IP_HEADER: u8 = index::PARSER + drop::IP_HEADER;
const ADDRESS: u8 = index::PARSER + drop::ADDRESS;
const PORT: u8 = index::PARSER + drop::PORT;
const LENGTH: u8 = index::PARSER + drop::LENGTH;
const VERSION: u8 = index::PARSER + drop::VERSION;
const OPCODE: u8 = index::PARSER + drop::OPCODE;
const SIZE: u8 = index::PARSER + drop::SIZE;
const ICRC: u8 = index::PARSER + drop::ICRC;
const UNKNOWN: u8 = index::RECEIVER + judgement::UNKNOWN;
const MALFORMED: u8 = index::RECEIVER + judgement::MALFORMED;
const BAD_KEY: u8 = index::RECEIVER + judgement::BAD_KEY;
const OUT_OF_BOUNDS: u8 = index::RECEIVER + judgement::OUT_OF_BOUNDS;
const NOT_POSTED: u8 = index::RECEIVER + judgement::NOT_POSTED;
const TOO_LONG: u8 = index::RECEIVER + judgement::TOO_LONG;
const GONE: u8 = index::RECEIVER + judgement::GONE;
const DUPLICATE: u8 = index::RECEIVER + judgement::DUPLICATE;
const OUT_OF_WINDOW: u8 = index::RECEIVER + judgement::OUT_OF_WINDOW;
const STALE: u8 = index::RETIREMENT + event::STALE;
const INVALID: u8 = index::RETIREMENT + event::INVALID;
const NOT_READY: u8 = index::RETIREMENT + event::NOT_READY;

/// Every counter that something moves, with its name. (What would move SENT_REFUSED, an acknowledged packet of a message that is not there, is not asked for: see `retirement`.)
const NAMES: [(u8, &str); 29] = [
    (BAD, "parser: BAD"),
    (TRUNCATED, "parser: TRUNCATED"),
    (NOT_IPV4, "parser: NOT_IPV4"),
    (IP_HEADER, "parser: IP_HEADER"),
    (ADDRESS, "parser: ADDRESS"),
    (PORT, "parser: PORT"),
    (LENGTH, "parser: LENGTH"),
    (VERSION, "parser: VERSION"),
    (OPCODE, "parser: OPCODE"),
    (SIZE, "parser: SIZE"),
    (ICRC, "parser: ICRC"),
    (UNKNOWN, "receiver: UNKNOWN"),
    (MALFORMED, "receiver: MALFORMED"),
    (BAD_KEY, "receiver: BAD_KEY"),
    (OUT_OF_BOUNDS, "receiver: OUT_OF_BOUNDS"),
    (NOT_POSTED, "receiver: NOT_POSTED"),
    (TOO_LONG, "receiver: TOO_LONG"),
    (GONE, "receiver: GONE"),
    (DUPLICATE, "receiver: DUPLICATE"),
    (OUT_OF_WINDOW, "receiver: OUT_OF_WINDOW"),
    (STALE, "retirement: STALE"),
    (INVALID, "retirement: INVALID"),
    (NOT_READY, "retirement: NOT_READY"),
    (index::RECEIVED_REFUSED, "RECEIVED_REFUSED"),
    (index::REQUEST_REFUSED, "REQUEST_REFUSED"),
    (index::RECEIVE_REFUSED, "RECEIVE_REFUSED"),
    (index::TIMEOUT, "TIMEOUT"),
    (index::SENT_AGAIN, "SENT_AGAIN"),
    (index::PROBE, "PROBE"),
];

/// What forged packets bear, and where it would go; good messages go before it.
const FORGED: u64 = TARGET + 0x8000;
const PAYLOAD: [u8; 40] = [0x5a; 40];
/// Bytes around all that is written or meant to be, which are compared with what they were.
const LOOKED_AT: Range<u64> = TARGET - 0x400..TARGET + 0xa000;
/// The stream that strangers forge packets of, in connection 0. Good messages use the first one of both connections.
const FORGED_STREAM: u16 = 1;
/// The path of connection 0 that the left NIC does not use.
const FORGED_PATH: u8 = 3;
/// A path that nobody has sent on when this is used.
const OTHER_PATH: u8 = 2;
/// Probes before a timeout.
const PROBES: u32 = metaroce_model::port::timer::MAX_PROBES as u32;

/// Something that moves counters.
struct Case {
    what: &'static str,
    /// End, counter, by how much.
    moves: &'static [(u8, u8, u32)],
    profiles: &'static [&'static str],
    act: fn(&mut Bench),
}

const fn case(what: &'static str, moves: &'static [(u8, u8, u32)], act: fn(&mut Bench)) -> Case {
    Case {
        what,
        moves,
        profiles: &["tiny", "ecp5"],
        act,
    }
}

fn end_name(end: u8) -> &'static str {
    ["left", "right"][usize::from(end)]
}

fn name(counter: u8) -> &'static str {
    let known = NAMES.iter().find(|&&(number, _)| number == counter);
    known.map_or("which nothing moves", |&(_, name)| name)
}

/// A pair and what must come of it.
struct Bench {
    params: Params,
    pair: Pair<Nic, Nic>,
    /// Profile, case, the counters that it moves, and what strangers sent, in words: what a failure tells.
    context: String,
    /// Refusals that are told: end, code, stream, message.
    refusals: Vec<(u8, u8, u16, u32)>,
    /// What may be written in each end's memory, each byte once.
    delivered: [Vec<Range<u64>>; 2],
    before: [Memory; 2],
    completions: u64,
    messages: u64,
}

impl Bench {
    fn new(profile: &str, case: &Case) -> Self {
        let params = Params::load(profile).unwrap();
        // All paths take the same time, less than the first probe waits.
        let faults = Faults {
            skew: 0,
            ..Faults::NONE
        };
        let mut pair = Pair::new(&params, Nic::new(&params), Nic::new(&params), faults, 51);
        for end in [&mut pair.left, &mut pair.right] {
            // The scan over all paths of a large profile takes some hundred clocks: a probe is late by as much, and must be answered before the next one is due.
            end.host.constants.config_first_probe = 2000;
            end.link.kept = Some(Vec::new());
        }
        configure(&params, &mut pair, Setup::new);
        let before = [pair.left.host.memory.clone(), pair.right.host.memory.clone()];
        let moves: Vec<String> = case
            .moves
            .iter()
            .map(|&(end, counter, count)| format!("{} {} by {count}", end_name(end), name(counter)))
            .collect();
        let mut bench = Self {
            params,
            pair,
            context: format!("{profile}, {}, which moves: {}", case.what, moves.join(", ")),
            refusals: Vec::new(),
            delivered: [Vec::new(), Vec::new()],
            before,
            completions: 0,
            messages: 0,
        };
        bench.command(
            LEFT,
            nic::Inputs {
                s_axis_command_command: command::ROUTE,
                s_axis_command_index: FORGED_PATH.into(),
                s_axis_command_state: path_table::state::DOWN,
                ..Default::default()
            },
        );
        bench
    }

    fn steps(&mut self, clocks: u64) {
        for _ in 0..clocks {
            self.pair.step().unwrap();
        }
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&Pair<Nic, Nic>) -> bool) {
        let end = self.pair.clock + 100_000;
        while !is_so(&self.pair) {
            assert!(self.pair.clock < end, "never: {what}: {}", self.context);
            self.pair.step().unwrap();
        }
    }

    /// Until every completion has come, and all that follows from what went by.
    fn settle(&mut self) {
        self.until("every completion comes, and the links are idle", |pair| {
            pair.scoreboard.is_done() && pair.left.link.is_idle() && pair.right.link.is_idle()
        });
        self.steps(4000);
    }

    /// An end's host writes a command, which comes to its end.
    fn command(&mut self, end: u8, inputs: nic::Inputs) {
        let host = if end == LEFT {
            &mut self.pair.left.host
        } else {
            &mut self.pair.right.host
        };
        host.command(inputs);
        self.until("commands are taken", |pair| {
            pair.left.host.is_configured() && pair.right.host.is_configured()
        });
        self.steps(200);
    }

    /// The left host lets a connection send again after a refusal.
    fn start(&mut self) {
        self.command(
            LEFT,
            nic::Inputs {
                s_axis_command_command: command::START,
                s_axis_command_flag: true,
                ..Default::default()
            },
        );
    }

    /// The right host lets the strangers' stream begin anew.
    fn forget_stream(&mut self) {
        self.command(
            RIGHT,
            nic::Inputs {
                s_axis_command_command: command::STREAM,
                s_axis_command_index: FORGED_STREAM,
                ..Default::default()
            },
        );
    }

    /// The right host lets its connection 1 be, or not.
    fn connect(&mut self, enabled: bool) {
        self.command(
            RIGHT,
            nic::Inputs {
                s_axis_command_command: command::CONNECT,
                s_axis_command_index: 1,
                s_axis_command_flag: enabled,
                s_axis_command_first: 1,
                s_axis_command_domain: 1,
                s_axis_command_dscp: 26,
                ..Default::default()
            },
        );
    }

    /// A message that is to arrive.
    fn post(&mut self, from: u8, stream: u16, kind: u8) {
        let remote = TARGET + 0x80 * self.messages + 5;
        let message = Message {
            kind,
            length: 100,
            local: SOURCE + 0x101 * self.messages,
            remote,
            key: if kind & SEND == 0 { KEY } else { 0 },
            immediate: if kind & IMMEDIATE == 0 { 0 } else { 0x1234_5678 },
        };
        self.messages += 1;
        assert!(remote + 100 < FORGED);
        self.completions += if kind == 0 { 1 } else { 2 };
        self.delivered[usize::from(1 - from)].push(remote..remote + 100);
        self.pair.post(from, stream, message);
    }

    /// Messages of each kind, in both directions and on both connections.
    fn good(&mut self) {
        for from in [LEFT, RIGHT] {
            for stream in [0, self.params.streams as u16] {
                for kind in [0, IMMEDIATE, SEND, SEND | IMMEDIATE] {
                    self.post(from, stream, kind);
                }
            }
        }
        self.settle();
        self.pair.finish();
    }

    /// Counters of both ends.
    fn counters(&mut self) -> [[u32; COUNTERS]; 2] {
        let mut values = [[0; COUNTERS]; 2];
        for number in 0..COUNTERS as u8 {
            self.pair.left.host.constants.counter_index = number;
            self.pair.right.host.constants.counter_index = number;
            self.steps(LATENCY as u64);
            values[0][usize::from(number)] = Unit::outputs(&self.pair.left.nic).counter_value;
            values[1][usize::from(number)] = Unit::outputs(&self.pair.right.nic).counter_value;
        }
        values
    }

    /// A stranger's frame comes to an end, and all that follows from it.
    fn frame(&mut self, to: u8, plane: u8, bad: bool, bytes: Vec<u8>) {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let end = end_name(to);
        self.context += &format!("\nframe to the {end} one, plane {plane}, bad {bad}: {hex}");
        let frame = Frame {
            bytes,
            plane,
            bad,
            clock: self.pair.clock,
        };
        let link = if to == LEFT {
            &mut self.pair.right.link
        } else {
            &mut self.pair.left.link
        };
        link.inject(frame);
        self.settle();
    }

    /// The same for one that went by before.
    fn replay(&mut self, from: u8, number: usize) {
        let link = if from == LEFT {
            &self.pair.left.link
        } else {
            &self.pair.right.link
        };
        let frame = link.kept.as_ref().unwrap()[number].clone();
        self.frame(1 - from, frame.plane, false, frame.bytes);
    }

    /// A packet to an end, as the other one sends it on plane 0.
    fn packet(&self, to: u8, path: u8, psn: u32, body: Body, payload: &[u8]) -> Vec<u8> {
        let packet = Packet {
            route: Route {
                destination_mac: Setup::mac(to, 0),
                source_mac: Setup::mac(1 - to, 0),
                source_address: Setup::address(1 - to, 0),
                destination_address: Setup::address(to, 0),
                source_port: 50000,
                ecn: 2,
                ..Route::default()
            },
            base: Base {
                path,
                psn: psn & u32::MAX >> (32 - self.params.psn_bits),
                ..Base::default()
            },
            body,
        };
        packet.encode(payload, self.params.udp_port as u16)
    }

    /// A packet of data that the right NIC would take as it is, but for what `change` does to it.
    fn data(&self, psn: u32, payload: &[u8], change: impl FnOnce(&mut Data)) -> Vec<u8> {
        let mut data = Data {
            stream: FORGED_STREAM,
            message: 0,
            message_length: payload.len() as u32,
            offset: 0,
            immediate: None,
            target: Target::Write {
                key: KEY,
                address: FORGED,
            },
        };
        change(&mut data);
        self.packet(RIGHT, FORGED_PATH, psn, Body::Data(data), payload)
    }

    /// Such a packet comes to the right NIC.
    fn forge(&mut self, change: impl FnOnce(&mut Data)) {
        let bytes = self.data(0, &PAYLOAD, change);
        self.frame(RIGHT, 0, false, bytes);
    }

    /// A good one comes, but for `change`, after which its checksums are made right.
    fn broken(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.data(0, &PAYLOAD, |_| {});
        change(&mut bytes);
        seal_ip(&mut bytes);
        seal(&mut bytes);
        self.frame(RIGHT, 0, false, bytes);
    }

    /// The same, whose checksums stay as they are.
    fn unsealed(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.data(0, &PAYLOAD, |_| {});
        change(&mut bytes);
        self.frame(RIGHT, 0, false, bytes);
    }

    /// The payload of a forged packet is at an address of the right host, where it may be.
    fn placed(&mut self, address: u64) {
        let memory = &self.pair.right.host.memory;
        let read: Vec<u8> = (0..40).map(|at| memory.read(address + at)).collect();
        assert_eq!(read, PAYLOAD, "forged bytes at {address:#x}: {}", self.context);
        self.delivered[usize::from(RIGHT)].push(address..address + 40);
    }

    /// The left NIC is told that a forged packet was refused, and goes on.
    fn refused(&mut self, code: NakCode) {
        self.refusals.push((LEFT, code.value(), FORGED_STREAM, 0));
        self.start();
    }

    /// From now on an end's link loses all that it is given, or nothing.
    fn lose(&mut self, end: u8, all: bool) {
        let faults = Faults {
            skew: 0,
            ..Faults::loss(if all { 10_000 } else { 0 })
        };
        let link = if end == LEFT {
            &mut self.pair.left.link
        } else {
            &mut self.pair.right.link
        };
        link.set_faults(faults);
    }

    /// The next frame that an end sends is lost.
    fn lose_one(&mut self, end: u8) {
        self.lose(end, true);
        self.until("a frame is lost", |pair| {
            let link = if end == LEFT {
                &pair.left.link
            } else {
                &pair.right.link
            };
            link.seen.lost == 1
        });
        self.lose(end, false);
    }

    /// The counters are where they must be.
    fn check_counters(&mut self, moves: &[(u8, u8, u32)], when: &str) {
        let values = self.counters();
        let mut wrong = String::new();
        for end in [LEFT, RIGHT] {
            for (counter, value) in (0..).zip(values[usize::from(end)]) {
                let expected = moves
                    .iter()
                    .find(|&&(at, moved, _)| (at, moved) == (end, counter))
                    .map_or(0, |&(_, _, count)| count);
                if value != expected {
                    let (end, name) = (end_name(end), name(counter));
                    wrong += &format!("\n{end} counter {counter}, {name}: {value}, expected {expected}");
                }
            }
            let refused = values[usize::from(end)][usize::from(index::SENT_REFUSED)];
            assert_eq!(refused, 0, "SENT_REFUSED moved {when}: {}", self.context);
        }
        assert!(wrong.is_empty(), "{when}{wrong}\n{}", self.context);
    }

    /// All that was sent has arrived, once, and nothing else was written or told.
    fn check_outcome(&self) {
        let context = &self.context;
        assert_eq!(self.pair.wrongs(), [], "{context}");
        assert_eq!(self.pair.scoreboard.completed, self.completions, "{context}");
        let refusals: Vec<_> = self
            .pair
            .scoreboard
            .errors
            .iter()
            .map(|(end, told)| (*end, told.error, told.stream, told.message))
            .collect();
        assert_eq!(refusals, self.refusals, "refusals told: {context}");
        let memories = [&self.pair.left.host.memory, &self.pair.right.host.memory];
        for (end, memory) in memories.into_iter().enumerate() {
            let (delivered, before) = (&self.delivered[end], &self.before[end]);
            let bytes: u64 = delivered.iter().map(|range| range.end - range.start).sum();
            assert_eq!(memory.written, bytes, "bytes written at end {end}: {context}");
            for address in LOOKED_AT {
                let is_delivered = delivered.iter().any(|range| range.contains(&address));
                assert!(
                    is_delivered || memory.equals(address, before, address, 1),
                    "{address:#x} was written at end {end}: {context}"
                );
            }
        }
        for (end, nic) in [&self.pair.left.nic, &self.pair.right.nic]
            .into_iter()
            .enumerate()
        {
            assert_eq!(nic.leftovers(), [""; 0], "end {end}: {context}");
        }
    }
}

/// Each case moves its counters, and what comes after it gets through and moves none.
fn check(cases: &[Case]) {
    for case in cases {
        for profile in case.profiles {
            let mut bench = Bench::new(profile, case);
            bench.check_counters(&[], "before it");
            (case.act)(&mut bench);
            bench.settle();
            bench.check_counters(case.moves, "after it");
            bench.good();
            bench.check_counters(case.moves, "after good messages");
            bench.check_outcome();
        }
    }
}

const PARSER: &[Case] = &[
    // This shows that the frames below are dropped for no other reason. The left NIC is told of a packet that it did not send.
    case("a sound frame", &[(LEFT, INVALID, 1)], |bench| {
        bench.broken(|_| {});
        bench.placed(FORGED);
    }),
    case(
        "a frame that the MAC found damaged",
        &[(RIGHT, BAD, 1)],
        |bench| {
            let bytes = bench.data(0, &PAYLOAD, |_| {});
            bench.frame(RIGHT, 0, true, bytes);
        },
    ),
    case("a frame of 59 bytes", &[(RIGHT, TRUNCATED, 1)], |bench| {
        bench.broken(|bytes| bytes.truncate(59));
    }),
    case("a frame of one byte", &[(RIGHT, TRUNCATED, 1)], |bench| {
        bench.unsealed(|bytes| bytes.truncate(1));
    }),
    case("the ether type of IPv6", &[(RIGHT, NOT_IPV4, 1)], |bench| {
        bench.broken(|bytes| bytes[12..14].copy_from_slice(&[0x86, 0xdd]));
    }),
    case("IP version 6", &[(RIGHT, IP_HEADER, 1)], |bench| {
        bench.broken(|bytes| bytes[14] = 0x65);
    }),
    case("a header with options", &[(RIGHT, IP_HEADER, 1)], |bench| {
        bench.broken(|bytes| bytes[14] = 0x46);
    }),
    case("more fragments", &[(RIGHT, IP_HEADER, 1)], |bench| {
        bench.broken(|bytes| bytes[20] |= 0x20);
    }),
    case("a fragment's offset", &[(RIGHT, IP_HEADER, 1)], |bench| {
        bench.broken(|bytes| bytes[21] = 1);
    }),
    case("the protocol TCP", &[(RIGHT, IP_HEADER, 1)], |bench| {
        bench.broken(|bytes| bytes[23] = 6);
    }),
    case(
        "a wrong checksum of the IP header",
        &[(RIGHT, IP_HEADER, 1)],
        |bench| {
            bench.unsealed(|bytes| bytes[25] ^= 1);
        },
    ),
    case("an address of nobody", &[(RIGHT, ADDRESS, 1)], |bench| {
        bench.broken(|bytes| bytes[30] ^= 0x80);
    }),
    case("the address of another plane", &[(RIGHT, ADDRESS, 1)], |bench| {
        let bytes = bench.data(0, &PAYLOAD, |_| {});
        bench.frame(RIGHT, 1, false, bytes);
    }),
    case("the UDP port of RoCEv2", &[(RIGHT, PORT, 1)], |bench| {
        bench.broken(|bytes| bytes[36..38].copy_from_slice(&4791u16.to_be_bytes()));
    }),
    case(
        "an IP length that is not the frame's",
        &[(RIGHT, LENGTH, 1)],
        |bench| {
            bench.broken(|bytes| bytes[17] += 1);
        },
    ),
    case(
        "a UDP length that is not the frame's",
        &[(RIGHT, LENGTH, 1)],
        |bench| {
            bench.broken(|bytes| bytes[39] += 1);
        },
    ),
    case("a frame with a byte too many", &[(RIGHT, LENGTH, 1)], |bench| {
        bench.broken(|bytes| bytes.push(0));
    }),
    case("a frame longer than any may be", &[(RIGHT, LENGTH, 1)], |bench| {
        let headers = Opcode::Write.least_frame_bytes() as u32;
        let payload = vec![0x5a; (bench.params.max_packet_bytes + 1 - headers) as usize];
        let bytes = bench.data(0, &payload, |_| {});
        bench.frame(RIGHT, 0, false, bytes);
    }),
    case("version 1 of the wire", &[(RIGHT, VERSION, 1)], |bench| {
        bench.broken(|bytes| bytes[42] |= 0x10);
    }),
    case("an unknown opcode", &[(RIGHT, OPCODE, 1)], |bench| {
        bench.broken(|bytes| bytes[43] = 0xff);
    }),
    case("an opcode that is reserved", &[(RIGHT, OPCODE, 1)], |bench| {
        bench.broken(|bytes| bytes[43] = Opcode::ReadRequest.value());
    }),
    case("a Write that ends in its header", &[(RIGHT, SIZE, 1)], |bench| {
        // A probe has the length of a Write cut there, with all lengths right.
        let mut bytes = bench.packet(RIGHT, FORGED_PATH, 0, Body::Probe, &[]);
        bytes[43] = Opcode::Write.value();
        seal(&mut bytes);
        bench.frame(RIGHT, 0, false, bytes);
    }),
    case("an ACK as long as a Write", &[(RIGHT, SIZE, 1)], |bench| {
        bench.broken(|bytes| bytes[43] = Opcode::Ack.value());
    }),
    case("a payload of an MTU and a byte", &[(RIGHT, SIZE, 1)], |bench| {
        let payload = vec![0x5a; bench.params.mtu_bytes as usize + 1];
        let bytes = bench.data(0, &payload, |_| {});
        bench.frame(RIGHT, 0, false, bytes);
    }),
    case("a connection that has no bits", &[(RIGHT, SIZE, 1)], |bench| {
        bench.broken(|bytes| bytes[44] = 0x80);
    }),
    case("a path that has no bits", &[(RIGHT, SIZE, 1)], |bench| {
        bench.broken(|bytes| bytes[47] |= 0x80);
    }),
    Case {
        // The others have a PSN as wide as the wire's.
        profiles: &["tiny"],
        ..case("a PSN that has no bits", &[(RIGHT, SIZE, 1)], |bench| {
            bench.broken(|bytes| bytes[48] = 0x80);
        })
    },
    case("a wrong ICRC", &[(RIGHT, ICRC, 1)], |bench| {
        bench.unsealed(|bytes| *bytes.last_mut().unwrap() ^= 1);
    }),
    case("a flipped bit of the payload", &[(RIGHT, ICRC, 1)], |bench| {
        bench.unsealed(|bytes| bytes[100] ^= 1);
    }),
];

const RECEIVER: &[Case] = &[
    case(
        "a connection that is not enabled",
        &[(RIGHT, UNKNOWN, 1)],
        |bench| {
            bench.connect(false);
            bench.broken(|bytes| {
                bytes[46] = 1;
                bytes[47] = 0;
            });
            bench.connect(true);
        },
    ),
    case(
        "a probe of a connection that is not enabled",
        &[(RIGHT, UNKNOWN, 1)],
        |bench| {
            bench.connect(false);
            let mut bytes = bench.packet(RIGHT, 0, 0, Body::Probe, &[]);
            bytes[46] = 1;
            seal(&mut bytes);
            bench.frame(RIGHT, 0, false, bytes);
            bench.connect(true);
        },
    ),
    case(
        "a stream beyond the connection's",
        &[(RIGHT, MALFORMED, 1)],
        |bench| {
            let streams = bench.params.streams as u16;
            bench.forge(|data| data.stream = streams);
        },
    ),
    case(
        "more bytes than the message has",
        &[(RIGHT, MALFORMED, 1)],
        |bench| {
            bench.forge(|data| data.message_length = 39);
        },
    ),
    case("an offset whose sum wraps", &[(RIGHT, MALFORMED, 1)], |bench| {
        bench.forge(|data| data.offset = u32::MAX);
    }),
    case(
        "no bytes of a message that has some",
        &[(RIGHT, MALFORMED, 1)],
        |bench| {
            let bytes = bench.data(0, &[], |data| data.message_length = 5);
            bench.frame(RIGHT, 0, false, bytes);
        },
    ),
    case("a key of before", &[(RIGHT, BAD_KEY, 1)], |bench| {
        bench.forge(|data| {
            data.target = Target::Write {
                key: KEY ^ 0x0200_0000,
                address: FORGED,
            };
        });
        bench.refused(NakCode::BadKey);
    }),
    case("a key of no region", &[(RIGHT, BAD_KEY, 1)], |bench| {
        bench.forge(|data| {
            data.target = Target::Write {
                key: KEY + 1,
                address: FORGED,
            };
        });
        bench.refused(NakCode::BadKey);
    }),
    case(
        "a key of another domain's region",
        &[(RIGHT, BAD_KEY, 1)],
        |bench| {
            let other = nic::Inputs {
                s_axis_command_key: KEY + 1,
                s_axis_command_domain: 2,
                ..region(true)
            };
            bench.command(RIGHT, other);
            bench.forge(|data| {
                data.target = Target::Write {
                    key: KEY + 1,
                    address: FORGED,
                };
            });
            bench.refused(NakCode::BadKey);
        },
    ),
    case(
        "a byte before the region",
        &[(RIGHT, OUT_OF_BOUNDS, 1)],
        |bench| {
            bench.forge(|data| {
                data.target = Target::Write {
                    key: KEY,
                    address: TARGET - 1,
                };
            });
            bench.refused(NakCode::OutOfBounds);
        },
    ),
    case(
        "a byte behind the region",
        &[(RIGHT, OUT_OF_BOUNDS, 1)],
        |bench| {
            bench.forge(|data| {
                data.target = Target::Write {
                    key: KEY,
                    address: TARGET + REGION_BYTES - 39,
                };
            });
            bench.refused(NakCode::OutOfBounds);
        },
    ),
    case(
        "a Send without a receive",
        &[(RIGHT, NOT_POSTED, 1), (LEFT, NOT_READY, 1)],
        |bench| bench.forge(|data| data.target = Target::Send { receive: 0 }),
    ),
    case(
        "a Send longer than its receive",
        &[(RIGHT, TOO_LONG, 1)],
        |bench| {
            let receive = Receive {
                address: FORGED,
                length: 39,
                identifier: 1,
            };
            bench.pair.right.host.receive(FORGED_STREAM, receive);
            bench.steps(200);
            bench.forge(|data| data.target = Target::Send { receive: 0 });
            bench.refused(NakCode::BadLength);
            bench.forget_stream();
        },
    ),
    case(
        "a Send to a receive that is complete",
        &[(RIGHT, GONE, 1)],
        |bench| {
            bench.post(LEFT, 0, SEND);
            bench.settle();
            bench.forge(|data| {
                data.stream = 0;
                data.target = Target::Send { receive: 0 };
            });
        },
    ),
    case(
        "a Send that comes again from a stranger",
        &[(RIGHT, GONE, 1)],
        |bench| {
            bench.post(LEFT, 0, SEND);
            bench.settle();
            bench.replay(LEFT, 0);
        },
    ),
    case(
        "a Write that comes again from a stranger",
        &[(RIGHT, DUPLICATE, 1)],
        |bench| {
            bench.post(LEFT, 0, IMMEDIATE);
            bench.settle();
            bench.replay(LEFT, 0);
        },
    ),
    case(
        "a Write that comes again when its region is gone",
        &[(RIGHT, DUPLICATE, 1)],
        |bench| {
            bench.post(LEFT, 0, IMMEDIATE);
            bench.settle();
            bench.command(RIGHT, region(false));
            bench.replay(LEFT, 0);
            bench.command(RIGHT, region(true));
        },
    ),
    case(
        "a frame that the link doubles",
        &[(RIGHT, DUPLICATE, 1)],
        |bench| {
            bench.pair.left.link.set_faults(Faults {
                double: 10_000,
                skew: 0,
                ..Faults::NONE
            });
            bench.post(LEFT, 0, IMMEDIATE);
            bench.until("a packet is sent", |pair| pair.left.link.seen.data == 1);
            bench.lose(LEFT, false);
        },
    ),
    case(
        "the first PSN beyond the window",
        &[(RIGHT, OUT_OF_WINDOW, 1)],
        |bench| {
            let bytes = bench.data(bench.params.sack_bits, &PAYLOAD, |_| {});
            bench.frame(RIGHT, 0, false, bytes);
        },
    ),
];

/// A Write whose message is not due: it is placed, and not counted.
const TELLER: &[Case] = &[
    case(
        "a message beyond those that are due, whose acknowledgement is lost",
        &[(RIGHT, index::RECEIVED_REFUSED, 1)],
        |bench| {
            bench.lose(RIGHT, true);
            let message = bench.params.messages;
            bench.forge(|data| data.message = message);
            bench.lose(RIGHT, false);
            bench.placed(FORGED);
        },
    ),
    case(
        "a message before those that are due",
        &[(RIGHT, index::RECEIVED_REFUSED, 1), (LEFT, INVALID, 1)],
        |bench| {
            bench.forge(|data| data.message = (1 << 24) - 1);
            bench.placed(FORGED);
        },
    ),
    case(
        "a message that is whole, again",
        &[(RIGHT, index::RECEIVED_REFUSED, 1), (LEFT, INVALID, 2)],
        |bench| {
            // Not the first message: that one would be told at once.
            for psn in 0..2 {
                let address = FORGED + 0x100 * u64::from(psn);
                let bytes = bench.data(psn, &PAYLOAD, |data| {
                    data.message = 1;
                    data.target = Target::Write { key: KEY, address };
                });
                bench.frame(RIGHT, 0, false, bytes);
                bench.placed(address);
            }
            bench.forget_stream();
        },
    ),
];

const RETIREMENT: &[Case] = &[
    case(
        "an ACK of the PSN before the first",
        &[(LEFT, STALE, 1)],
        |bench| {
            let bytes = bench.packet(LEFT, OTHER_PATH, u32::MAX, Body::Ack(Ack::default()), &[]);
            bench.frame(LEFT, 0, false, bytes);
        },
    ),
    case(
        "an ACK that a later one has overtaken",
        &[(LEFT, STALE, 1)],
        |bench| {
            // The first two packets take the same path.
            for _ in 0..2 {
                bench.post(LEFT, 0, IMMEDIATE);
                bench.settle();
            }
            bench.replay(RIGHT, 0);
        },
    ),
    case("an ACK of what was never sent", &[(LEFT, INVALID, 1)], |bench| {
        let bytes = bench.packet(LEFT, OTHER_PATH, 1, Body::Ack(Ack::default()), &[]);
        bench.frame(LEFT, 0, false, bytes);
    }),
    case(
        "a NAK that no receive is posted",
        &[(LEFT, NOT_READY, 1)],
        |bench| {
            let nak = Nak {
                code: NakCode::ReceiverNotReady.value(),
                ..Nak::default()
            };
            let bytes = bench.packet(LEFT, OTHER_PATH, 0, Body::Nak(nak), &[]);
            bench.frame(LEFT, 0, false, bytes);
        },
    ),
    case(
        "a receive that comes after its Send",
        &[
            (RIGHT, NOT_POSTED, 1),
            (LEFT, NOT_READY, 1),
            (LEFT, index::PROBE, 1),
            (LEFT, index::SENT_AGAIN, 1),
        ],
        |bench| {
            bench.pair.right.host.pace.receive = 0;
            bench.post(LEFT, 0, SEND);
            bench.until("the Send is refused", |pair| pair.right.link.seen.refusals == 1);
            bench.pair.right.host.pace.receive = 16;
        },
    ),
];

const HOST: &[Case] = &[
    case(
        "a work request too many",
        &[(LEFT, index::REQUEST_REFUSED, 1)],
        |bench| {
            bench.pair.left.host.overruns = true;
            for _ in 0..bench.params.messages {
                bench.post(LEFT, 0, IMMEDIATE);
            }
            // Were it not refused its completion would be one too many, and its bytes in the wrong place.
            let request = Request {
                kind: IMMEDIATE,
                length: 100,
                local: SOURCE,
                remote: FORGED,
                key: KEY,
                ..Request::default()
            };
            bench.pair.left.host.request(0, request);
            bench.settle();
            bench.pair.left.host.overruns = false;
        },
    ),
    case(
        "a receive too many",
        &[(RIGHT, index::RECEIVE_REFUSED, 1)],
        |bench| {
            bench.pair.right.host.overruns = true;
            bench.pair.left.host.pace.post = 0;
            for _ in 0..bench.params.receives {
                bench.post(LEFT, 0, SEND);
            }
            // Were it not refused the next Send would take it.
            let receive = Receive {
                address: FORGED,
                length: 100,
                identifier: 7,
            };
            bench.pair.right.host.receive(0, receive);
            bench.steps(1000);
            bench.pair.left.host.pace.post = 16;
            bench.settle();
            bench.pair.right.host.overruns = false;
        },
    ),
];

const REPETITION: &[Case] = &[
    case(
        "a lost packet, and one behind it",
        &[(LEFT, index::SENT_AGAIN, 1)],
        |bench| {
            // Both take the same path.
            bench.post(LEFT, 0, IMMEDIATE);
            bench.lose_one(LEFT);
            bench.post(LEFT, 0, IMMEDIATE);
        },
    ),
    case("a lost acknowledgement", &[(LEFT, index::PROBE, 1)], |bench| {
        bench.post(LEFT, 0, IMMEDIATE);
        bench.lose_one(RIGHT);
    }),
    case(
        "a lost packet, and none behind it",
        &[(LEFT, index::PROBE, 1), (LEFT, index::SENT_AGAIN, 1)],
        |bench| {
            bench.post(LEFT, 0, IMMEDIATE);
            bench.lose_one(LEFT);
        },
    ),
    case(
        "a lost packet, and every probe too",
        &[
            (LEFT, index::TIMEOUT, 1),
            (LEFT, index::PROBE, PROBES),
            (LEFT, index::SENT_AGAIN, 1),
        ],
        |bench| {
            // Without a round-trip time a profile's timeout may be long.
            bench.post(LEFT, 0, IMMEDIATE);
            bench.settle();
            bench.lose(LEFT, true);
            bench.post(LEFT, 0, IMMEDIATE);
            bench.until("all probes are sent", |pair| {
                pair.left.link.seen.probes == u64::from(PROBES)
            });
            bench.lose(LEFT, false);
        },
    ),
    case(
        "every acknowledgement lost until the timeout",
        &[
            (LEFT, index::TIMEOUT, 1),
            (LEFT, index::PROBE, PROBES),
            (LEFT, index::SENT_AGAIN, 1),
            (RIGHT, DUPLICATE, 1),
        ],
        |bench| {
            bench.post(LEFT, 0, IMMEDIATE);
            bench.settle();
            bench.lose(RIGHT, true);
            bench.post(LEFT, 0, IMMEDIATE);
            bench.until("the packet is sent again", |pair| pair.left.link.seen.again == 1);
            bench.lose(RIGHT, false);
        },
    ),
];

/// R2, R5, R6: a frame with each reason to be dropped, which would be taken but for that reason.
#[test]
fn what_the_parser_drops() {
    check(PARSER);
}

/// R4, R5, R6: packets of each judgement, none of which writes anything; of those refused the sender is told.
#[test]
fn what_the_receiver_refuses() {
    check(RECEIVER);
}

/// R4, R10: a packet of a message that is not due is not counted, and completes nothing.
#[test]
fn what_is_received_and_not_counted() {
    check(TELLER);
}

/// R6: acknowledgements and refusals that tell nothing new.
#[test]
fn what_the_retirement_cannot_use() {
    check(RETIREMENT);
}

/// R5, R11: posts to a full ring.
#[test]
fn what_the_host_posts_too_much() {
    check(HOST);
}

/// R6: what a loss takes to be made good: a packet sent again, a probe, a timeout only if no probe is answered.
#[test]
fn what_is_repeated() {
    check(REPETITION);
}

/// R4, R5, R6, R11: no counter is without a case in the tests above, and none has a case but those that have a name.
#[test]
fn every_counter_has_a_case() {
    let cases = [PARSER, RECEIVER, TELLER, RETIREMENT, HOST, REPETITION];
    let moves = cases.into_iter().flatten().flat_map(|case| case.moves);
    let mut moved: Vec<u8> = moves.map(|&(_, counter, _)| counter).collect();
    moved.sort_unstable();
    moved.dedup();
    let parser = index::PARSER..=index::PARSER + 10;
    let receiver = index::RECEIVER + 2..=index::RECEIVER + 10;
    let retirement = index::RETIREMENT..=index::RETIREMENT + 2;
    let others = index::RECEIVED_REFUSED..COUNTERS as u8;
    let all = parser.chain(receiver).chain(retirement).chain(others);
    let all: Vec<u8> = all.filter(|&counter| counter != index::SENT_REFUSED).collect();
    assert_eq!(moved, all);
    assert_eq!(NAMES.map(|(counter, _)| counter).to_vec(), all);
}
