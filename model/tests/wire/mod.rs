//! One packet of each opcode, value by value and byte by byte. Every field has a value of its own, whose bytes differ from
//! each other. The bytes were laid out by hand from `docs/wire.md`, with header checksums and ICRCs from another program.
#![allow(dead_code, reason = "each test file uses its own part")]

use metaroce_model::port::Vector;
use metaroce_model::wire::table::{CE, ECT0, UDP_PORT};
use metaroce_model::wire::{Ack, Base, Body, Data, Nak, Opcode, Packet, Receiver, Route, Target};

/// The receiver that they are for.
pub const RECEIVER: Receiver = Receiver {
    address: 0xc0a8_5a17,
    udp_port: UDP_PORT,
    max_packet_bytes: 4300,
};

/// A packet and its frame.
pub struct Golden {
    pub packet: Packet,
    pub payload: &'static [u8],
    pub frame: Vec<u8>,
}

impl Golden {
    pub fn name(&self) -> &'static str {
        self.packet.opcode().name()
    }
}

/// One of each opcode that is not reserved.
pub fn golden() -> Vec<Golden> {
    vec![
        Golden {
            packet: Packet {
                route: route(0),
                base: base(0, 0x0f_1e2d),
                body: Body::Data(Data {
                    immediate: None,
                    target: write(0),
                    ..data(0)
                }),
            },
            payload: &[0xe1, 0xe2, 0xe3, 0xe4, 0xe5],
            frame: hex("02 a1 b2 c3 d4 e5 06 f1 e2 d3 c4 b5 08 00
             45 ba 00 53 00 00 40 00 40 11 09 09 0a 0b 0c 0d c0 a8 5a 17
             d1 e2 ee 48 00 3f 00 00
             00 00 0a 1b 2c 3d 0f 1e 2d 4e 5f 60 71 00
             51 52 61 62 63 00 71 72 73 00 34 56 78 00 00 00 00 00 00 00
             81 82 83 84 91 92 93 94 95 96 97 a8
             e1 e2 e3 e4 e5
             d2 51 be 46"),
        },
        Golden {
            packet: Packet {
                route: route(1),
                base: Base {
                    last: true,
                    ..base(1, 0x0f_1e2e)
                },
                body: Body::Data(Data {
                    immediate: Some(0xa5b6_c7d8),
                    target: write(1),
                    ..data(1)
                }),
            },
            payload: &[0xe1],
            frame: hex("02 a1 b2 c3 d4 e5 06 f1 e2 d3 c4 b6 08 00
             45 ba 00 4f 00 00 40 00 40 11 09 0c 0a 0b 0c 0e c0 a8 5a 17
             d1 e3 ee 48 00 3b 00 00
             01 01 0a 1b 2d 3e 0f 1e 2e 4e 5f 60 72 00
             51 53 61 62 64 00 71 72 73 00 34 56 79 a5 b6 c7 d8 00 00 00
             81 82 83 85 91 92 93 94 95 96 97 a9
             e1
             6f af 2a bf"),
        },
        Golden {
            packet: Packet {
                route: Route { ecn: CE, ..route(2) },
                base: Base {
                    acknowledge: true,
                    ..base(2, 0x0f_1e2f)
                },
                body: Body::Data(Data {
                    immediate: None,
                    target: send(2),
                    ..data(2)
                }),
            },
            payload: &[0xe1, 0xe2, 0xe3],
            frame: hex("02 a1 b2 c3 d4 e5 06 f1 e2 d3 c4 b7 08 00
             45 bb 00 51 00 00 40 00 40 11 09 08 0a 0b 0c 0f c0 a8 5a 17
             d1 e4 ee 48 00 3d 00 00
             02 02 0a 1b 2e 3f 0f 1e 2f 4e 5f 60 73 00
             51 54 61 62 65 00 71 72 73 00 34 56 7a 00 00 00 00 00 00 00
             b1 b2 b5 00 00 00 00 00 00 00 00 00
             e1 e2 e3
             46 ec 71 b7"),
        },
        Golden {
            packet: Packet {
                route: route(3),
                base: Base {
                    last: true,
                    acknowledge: true,
                    ..base(3, 0x0f_1e30)
                },
                body: Body::Data(Data {
                    immediate: Some(0xa6b7_c8d9),
                    target: send(3),
                    ..data(3)
                }),
            },
            payload: &[],
            frame: hex("02 a1 b2 c3 d4 e5 06 f1 e2 d3 c4 b8 08 00
             45 ba 00 4e 00 00 40 00 40 11 09 0b 0a 0b 0c 10 c0 a8 5a 17
             d1 e5 ee 48 00 3a 00 00
             03 03 0a 1b 2f 40 0f 1e 30 4e 5f 60 74 00
             51 55 61 62 66 00 71 72 73 00 34 56 7b a6 b7 c8 d9 00 00 00
             b1 b2 b6 00 00 00 00 00 00 00 00 00
             29 05 f4 4b"),
        },
        Golden {
            packet: Packet {
                route: route(4),
                base: base(4, 0x0f_1e31),
                body: Body::Ack(Ack {
                    vector: Vector::new([
                        0x191a_1b1c_1d1e_1f21,
                        0x1112_1314_1516_1718,
                        0x090a_0b0c_0d0e_0f10,
                        0x8102_0304_0506_0708,
                    ]),
                    echo: 0x3142_5364,
                    hold: 0x7586,
                    packets: 0x97a8,
                    marked: 0x19b8,
                    hint: 0xcd4,
                    window_state: 9,
                }),
            },
            payload: &[],
            frame: hex("02 a1 b2 c3 d4 e5 06 f1 e2 d3 c4 b9 08 00
             45 ba 00 5e 00 00 40 00 40 11 08 fa 0a 0b 0c 11 c0 a8 5a 17
             d1 e6 ee 48 00 4a 00 00
             00 10 0a 1b 30 41 0f 1e 31 4e 5f 60 75 00
             81 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 21
             31 42 53 64 75 86 97 a8 19 b8 cd 49 00 00 00 00
             01 2a 93 c6"),
        },
        Golden {
            packet: Packet {
                route: route(5),
                base: base(5, 0),
                body: Body::Nak(Nak {
                    stream: 0x5157,
                    message: 0x61_6268,
                    code: 3,
                }),
            },
            payload: &[],
            frame: hex("02 a1 b2 c3 d4 e5 06 f1 e2 d3 c4 ba 08 00
             45 ba 00 36 00 00 40 00 40 11 09 21 0a 0b 0c 12 c0 a8 5a 17
             d1 e7 ee 48 00 22 00 00
             00 11 0a 1b 31 42 00 00 00 4e 5f 60 76 00
             51 57 61 62 68 03 00 00
             e2 85 99 c3"),
        },
        Golden {
            packet: Packet {
                route: route(6),
                base: Base {
                    acknowledge: true,
                    ..base(6, 0x0f_1e33)
                },
                body: Body::Probe,
            },
            payload: &[],
            frame: hex("02 a1 b2 c3 d4 e5 06 f1 e2 d3 c4 bb 08 00
             45 ba 00 2e 00 00 40 00 40 11 09 28 0a 0b 0c 13 c0 a8 5a 17
             d1 e8 ee 48 00 1a 00 00
             02 12 0a 1b 32 43 0f 1e 33 4e 5f 60 77 00
             eb 77 f4 ed"),
        },
    ]
}

/// The golden packet with an opcode.
pub fn golden_of(opcode: Opcode) -> Golden {
    golden()
        .into_iter()
        .find(|golden| golden.packet.opcode() == opcode)
        .unwrap()
}

fn route(k: u16) -> Route {
    Route {
        destination_mac: 0x02a1_b2c3_d4e5,
        source_mac: 0x06f1_e2d3_c4b5 + u64::from(k),
        dscp: 0x2e,
        ecn: ECT0,
        source_address: 0x0a0b_0c0d + u32::from(k),
        destination_address: RECEIVER.address,
        source_port: 0xd1e2 + k,
    }
}

fn base(k: u8, psn: u32) -> Base {
    Base {
        last: false,
        acknowledge: false,
        connection: 0x0a_1b2c + u32::from(k),
        path: 0x3d + k,
        psn,
        timestamp: 0x4e5f_6071 + u32::from(k),
    }
}

fn data(k: u16) -> Data {
    Data {
        stream: 0x5152 + k,
        message: 0x61_6263 + u32::from(k),
        message_length: 0x0071_7273,
        offset: 0x0034_5678 + u32::from(k),
        immediate: None,
        target: Target::Send { receive: 0 },
    }
}

fn write(k: u32) -> Target {
    Target::Write {
        key: 0x8182_8384 + k,
        address: 0x9192_9394_9596_97a8 + u64::from(k),
    }
}

fn send(k: u32) -> Target {
    Target::Send {
        receive: 0xb1_b2b3 + k,
    }
}

fn hex(text: &str) -> Vec<u8> {
    let byte = |digits| u8::from_str_radix(digits, 16).unwrap();
    text.split_whitespace().map(byte).collect()
}
