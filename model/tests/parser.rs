//! `parser` against its contract: directed cases.

mod common;

use common::frames::{Frame, beats_of, bytes_of, opcode, seal, seal_ip};
use metaroce_model::{
    Params,
    params::PROFILES,
    port::{
        deparser,
        parser::{Inputs, LATENCY, Outputs, drop},
    },
    unit::{Unit, parser::Parser},
    wire::DropReason,
};

const ADDRESS: u32 = 0xc0a8_0107;

/// Nothing offered, the outputs open.
fn idle() -> Inputs {
    Inputs {
        m_axis_payload_tready: true,
        m_axis_data_tready: true,
        m_axis_ack_tready: true,
        ..Default::default()
    }
}

fn configure(plane: u8, address: u32) -> Inputs {
    Inputs {
        config_write: true,
        config_plane: plane,
        config_address: address,
        ..idle()
    }
}

/// A frame that is good on plane 1, with another value in every field.
fn good(opcode: u8, payload: &[u8], params: &Params) -> Frame {
    let mut header = deparser::Inputs {
        s_axis_data_destination_mac: 0x0102_0304_0506,
        s_axis_data_source_mac: 0x1112_1314_1516,
        s_axis_data_source_address: 0x0a0b_0c0d,
        s_axis_data_destination_address: ADDRESS,
        s_axis_data_source_port: 0xbeef,
        s_axis_data_dscp: 0x2a,
        s_axis_data_opcode: opcode,
        s_axis_data_flags: 0xb,
        s_axis_data_connection: 1,
        s_axis_data_path: 3,
        s_axis_data_psn: 0xa7,
        s_axis_data_timestamp: 0x1234_9876,
        s_axis_data_stream: 0x7788,
        s_axis_data_message: 0xab_cdef,
        s_axis_data_message_length: 0x0123_4567,
        s_axis_data_offset: 0x89ab_cdef,
        s_axis_data_immediate: 0xdead_beef,
        s_axis_data_key: 0x5566_7788,
        s_axis_data_address: 0x1020_3040_5060_7080,
        s_axis_data_receive: 0x65_4321,
        s_axis_ack_destination_address: ADDRESS,
        s_axis_ack_opcode: opcode,
        s_axis_ack_connection: 1,
        s_axis_ack_path: 3,
        s_axis_ack_psn: 0xa7,
        s_axis_ack_timestamp: 0x1234_9876,
        s_axis_ack_echo: 0x8765_4321,
        s_axis_ack_hold: 0x1357,
        s_axis_ack_packets: 0x2468,
        s_axis_ack_marked: 0x0f1e,
        s_axis_ack_hint: 0xabc,
        s_axis_ack_window_state: 0xd,
        s_axis_ack_stream: 0x99aa,
        s_axis_ack_message: 0x12_3456,
        s_axis_ack_code: 2,
        ..Default::default()
    };
    header.s_axis_ack_vector.data = [
        0x0123_4567_89ab_cdef,
        0x1111_2222_3333_4444,
        0x5555_6666_7777_8888,
        0x9999_aaaa_bbbb_cccc,
    ];
    match opcode {
        opcode::ACK | opcode::NAK => Frame::of_ack(&header, params.udp_port),
        opcode::PROBE => Frame::of_data(&header, &[], params.udp_port),
        _ => Frame::of_data(&header, payload, params.udp_port),
    }
}

/// A unit whose plane 1 has [`ADDRESS`], and all that has come out of it.
struct Bench {
    unit: Parser,
    lanes: usize,
    clock: usize,
    /// Bytes, `tlast`, `keep` of each beat of payload; its clock.
    payload: Vec<(Vec<u8>, bool, bool, usize)>,
    data: Vec<(Outputs, usize)>,
    ack: Vec<(Outputs, usize)>,
    dropped: Vec<(u8, usize)>,
}

impl Bench {
    fn new(params: &Params) -> Self {
        let mut bench = Self {
            unit: Parser::new(params),
            lanes: params.lanes() as usize,
            clock: 0,
            payload: vec![],
            data: vec![],
            ack: vec![],
            dropped: vec![],
        };
        bench.clock(configure(1, ADDRESS));
        bench
    }

    /// One clock, in which what is offered and taken is kept; `now` is the clock's number.
    fn clock(&mut self, inputs: Inputs) -> bool {
        let outputs = self.unit.outputs();
        if outputs.m_axis_payload_tvalid && inputs.m_axis_payload_tready {
            let bytes = bytes_of(&outputs.m_axis_payload_tdata, self.lanes);
            let (last, keep) = (outputs.m_axis_payload_tlast, outputs.m_axis_payload_keep);
            self.payload.push((bytes, last, keep, self.clock));
        }
        if outputs.m_axis_data_tvalid && inputs.m_axis_data_tready {
            self.data.push((outputs, self.clock));
        }
        if outputs.m_axis_ack_tvalid && inputs.m_axis_ack_tready {
            self.ack.push((outputs, self.clock));
        }
        if outputs.dropped {
            self.dropped.push((outputs.drop_reason, self.clock));
        }
        self.unit.clock(&Inputs {
            now: self.clock as u32,
            ..inputs
        });
        self.clock += 1;
        outputs.s_axis_rx_tready
    }

    /// Feeds a frame on plane 1, beat after beat; gives the clock in which its first one was accepted.
    ///
    /// Before a frame of one beat a clock passes: right behind another frame it would wait for that one's header to be taken.
    fn feed(&mut self, frame: &[u8], bad: bool) -> usize {
        if frame.len() <= self.lanes {
            self.clock(idle());
        }
        let first = self.clock;
        for (beat, keep, last) in beats_of(frame, self.lanes) {
            let accepted = self.clock(Inputs {
                s_axis_rx_tvalid: true,
                s_axis_rx_tdata: beat,
                s_axis_rx_tkeep: keep,
                s_axis_rx_tlast: last,
                s_axis_rx_plane: 1,
                s_axis_rx_bad: bad,
                ..idle()
            });
            assert!(accepted);
        }
        first
    }

    fn settle(&mut self) {
        for _ in 0..LATENCY + 2 {
            self.clock(idle());
        }
    }

    /// The verdict on one frame.
    fn verdict(&mut self, frame: &[u8], bad: bool) -> u8 {
        let before = (self.data.len() + self.ack.len(), self.dropped.len());
        self.feed(frame, bad);
        self.settle();
        let after = (self.data.len() + self.ack.len(), self.dropped.len());
        match (after.0 - before.0, after.1 - before.1) {
            (1, 0) => drop::NONE,
            (0, 1) => self.dropped[before.1].0,
            other => panic!("headers and drops of one frame: {other:?}"),
        }
    }
}

/// R5: every field of a Write and of a Send, at its port, in the right clock; and the beats of the payload.
#[test]
fn headers_of_data() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let lanes = params.lanes() as usize;
        let timestamp = u32::MAX >> (32 - params.timestamp_bits);
        for opcode in opcode::DATA {
            let mut bench = Bench::new(&params);
            let payload: Vec<u8> = (1..=100).collect();
            let frame = good(opcode, &payload, &params).bytes();
            let first = bench.feed(&frame, false);
            let last = bench.clock - 1;
            bench.settle();
            let send = [opcode::SEND, opcode::SEND_IMMEDIATE].contains(&opcode);
            let expected = Outputs {
                s_axis_rx_tready: true,
                m_axis_data_tvalid: true,
                m_axis_data_opcode: opcode,
                m_axis_data_flags: 0xb,
                m_axis_data_connection: 1,
                m_axis_data_path: 3,
                m_axis_data_psn: 0xa7,
                m_axis_data_timestamp: 0x1234_9876 & timestamp,
                m_axis_data_arrival: last as u32,
                m_axis_data_marked: false,
                m_axis_data_plane: 1,
                m_axis_data_payload_bytes: 100,
                m_axis_data_stream: 0x7788,
                m_axis_data_message: 0xab_cdef,
                m_axis_data_message_length: 0x0123_4567,
                m_axis_data_offset: 0x89ab_cdef,
                m_axis_data_immediate: 0xdead_beef,
                m_axis_data_key: if send { 0 } else { 0x5566_7788 },
                m_axis_data_address: if send { 0 } else { 0x1020_3040_5060_7080 },
                m_axis_data_receive: if send { 0x65_4321 } else { 0 },
                ..Default::default()
            };
            let (header, clock) = bench.data[0];
            let header = Outputs {
                m_axis_payload_tvalid: false,
                m_axis_payload_tdata: Default::default(),
                m_axis_payload_tlast: false,
                m_axis_payload_keep: false,
                ..header
            };
            assert_eq!((header, clock), (expected, last + LATENCY));
            let from = 88 / lanes * lanes;
            let mut bytes = frame[from..].to_vec();
            bytes.resize(bytes.len().next_multiple_of(lanes), 0);
            let beats = bytes.chunks(lanes).enumerate().map(|(k, beat)| {
                let ends = (k + 1) * lanes == bytes.len();
                (beat.to_vec(), ends, ends, first + from / lanes + k + LATENCY)
            });
            assert_eq!(bench.payload, beats.collect::<Vec<_>>());
            assert!(bench.dropped.is_empty() && bench.ack.is_empty());
        }
    }
}

/// R6: every field of an ACK and of a NAK; a probe says what the base header does. The beats of none are kept.
#[test]
fn headers_of_acknowledgements_and_probes() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let timestamp = u32::MAX >> (32 - params.timestamp_bits);
        let mut bench = Bench::new(&params);
        for opcode in [opcode::ACK, opcode::NAK, opcode::PROBE] {
            bench.feed(&good(opcode, &[], &params).bytes(), false);
        }
        let last = bench.clock - 1;
        bench.settle();
        let base = Outputs {
            s_axis_rx_tready: true,
            m_axis_ack_tvalid: true,
            m_axis_ack_connection: 1,
            m_axis_ack_path: 3,
            ..Default::default()
        };
        let mut ack = Outputs {
            m_axis_ack_opcode: opcode::ACK,
            m_axis_ack_psn: 0xa7,
            m_axis_ack_echo: 0x8765_4321 & timestamp,
            m_axis_ack_hold: 0x1357,
            m_axis_ack_packets: 0x2468,
            m_axis_ack_marked: 0x0f1e,
            m_axis_ack_hint: 0xabc,
            m_axis_ack_window_state: 0xd,
            ..base
        };
        ack.m_axis_ack_vector.data = match params.sack_bits {
            32 => [0x89ab_cdef, 0, 0, 0],
            _ => [
                0x0123_4567_89ab_cdef,
                0x1111_2222_3333_4444,
                0x5555_6666_7777_8888,
                0x9999_aaaa_bbbb_cccc,
            ],
        };
        let nak = Outputs {
            m_axis_ack_opcode: opcode::NAK,
            m_axis_ack_stream: 0x99aa,
            m_axis_ack_message: 0x12_3456,
            m_axis_ack_code: 2,
            ..base
        };
        let probe = Outputs {
            s_axis_rx_tready: true,
            m_axis_data_tvalid: true,
            m_axis_data_opcode: opcode::PROBE,
            m_axis_data_flags: 0xb,
            m_axis_data_connection: 1,
            m_axis_data_path: 3,
            m_axis_data_psn: 0xa7,
            m_axis_data_timestamp: 0x1234_9876 & timestamp,
            m_axis_data_arrival: last as u32,
            m_axis_data_plane: 1,
            ..Default::default()
        };
        let headers = |outputs: &Outputs| Outputs {
            m_axis_payload_tvalid: false,
            m_axis_payload_tdata: Default::default(),
            m_axis_payload_tlast: false,
            m_axis_payload_keep: false,
            ..*outputs
        };
        assert_eq!(headers(&bench.ack[0].0), ack);
        assert_eq!(headers(&bench.ack[1].0), nak);
        assert_eq!(headers(&bench.data[0].0), probe);
        assert_eq!(bench.data[0].1, last + LATENCY);
        assert!(bench.payload.iter().all(|&(_, _, keep, _)| !keep));
        assert!(bench.dropped.is_empty());
    }
}

/// R6: a frame marked CE on its way is good, and says so.
#[test]
fn congestion_marks_are_seen() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        for ecn in 0..4 {
            let mut bench = Bench::new(&params);
            let mut frame = good(opcode::WRITE, &[1; 10], &params).bytes();
            frame[15] = frame[15] & 0xfc | ecn;
            seal_ip(&mut frame);
            assert_eq!(bench.verdict(&frame, false), drop::NONE);
            assert_eq!(bench.data[0].0.m_axis_data_marked, ecn == 3);
        }
    }
}

/// A fault in a frame of WRITE with 20 bytes of payload, and the reason to drop it.
type Fault = (u8, fn(&mut Vec<u8>));

/// Faults in the order of their priority. Each leaves those before it out, and can stand together with those behind it.
const FAULTS: [Fault; 20] = [
    (drop::NOT_IPV4, |frame| frame[12] = 0x86),
    (drop::NOT_IPV4, |frame| frame[13] = 1),
    (drop::IP_HEADER, |frame| {
        frame[14] = 0x65;
        seal_ip(frame);
    }),
    (drop::IP_HEADER, |frame| {
        frame[14] = 0x46;
        seal_ip(frame);
    }),
    (drop::IP_HEADER, |frame| {
        frame[20] |= 0x20;
        seal_ip(frame);
    }),
    (drop::IP_HEADER, |frame| {
        frame[20] |= 0x10;
        seal_ip(frame);
    }),
    (drop::IP_HEADER, |frame| {
        frame[21] = 1;
        seal_ip(frame);
    }),
    (drop::IP_HEADER, |frame| {
        frame[23] = 6;
        seal_ip(frame);
    }),
    (drop::IP_HEADER, |frame| frame[24] ^= 0x10),
    (drop::ADDRESS, |frame| {
        frame[33] ^= 1;
        seal_ip(frame);
    }),
    (drop::PORT, |frame| frame[37] ^= 1),
    (drop::LENGTH, |frame| {
        frame[17] ^= 1;
        seal_ip(frame);
    }),
    (drop::LENGTH, |frame| frame[39] ^= 1),
    (drop::LENGTH, |frame| frame.push(0)),
    (drop::VERSION, |frame| frame[42] |= 0x10),
    (drop::OPCODE, |frame| frame[43] = 4),
    (drop::SIZE, |frame| frame[44] = 1),
    (drop::SIZE, |frame| frame[47] = 0xff),
    (drop::SIZE, |frame| frame[43] = opcode::ACK),
    (drop::ICRC, |frame| frame[100] ^= 0x80),
];

/// R2: each reason to drop has its number, and of several the first counts; the frame after a dropped one gets through.
#[test]
fn every_reason_in_its_order() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let mut bench = Bench::new(&params);
        let clean = good(opcode::WRITE, &[7; 20], &params).bytes();
        for (index, (reason, fault)) in FAULTS.into_iter().enumerate() {
            // The fault alone, behind a good checksum unless it is the checksum's.
            let mut frame = clean.clone();
            fault(&mut frame);
            if reason != drop::ICRC {
                seal(&mut frame);
            }
            assert_eq!(bench.verdict(&frame, false), reason, "{profile}, fault {index}");
            assert_eq!(bench.verdict(&frame, true), drop::BAD);
            assert_eq!(bench.verdict(&frame[..59], false), drop::TRUNCATED);
            assert_eq!(bench.verdict(&clean, false), drop::NONE);
            // With every one of lower priority. (A checksum of IPv4 made right would hide the fault in it.)
            let mut frame = clean.clone();
            for (_, later) in FAULTS.iter().filter(|(later, _)| *later > reason) {
                later(&mut frame);
            }
            fault(&mut frame);
            assert_eq!(
                bench.verdict(&frame, false),
                reason,
                "{profile}, from fault {index} on"
            );
        }
        assert!(bench.payload.iter().filter(|beat| beat.2).count() == FAULTS.len());
    }
}

/// R2: the numbers of the wire's reasons are those of the port.
#[test]
fn reasons_have_the_numbers_of_the_wire() {
    let numbers = [
        drop::BAD,
        drop::TRUNCATED,
        drop::NOT_IPV4,
        drop::IP_HEADER,
        drop::ADDRESS,
        drop::PORT,
        drop::LENGTH,
        drop::VERSION,
        drop::OPCODE,
        drop::SIZE,
        drop::ICRC,
    ];
    assert_eq!(DropReason::ALL.map(DropReason::value), numbers);
}

/// R6: a PSN or connection or path that the profile cannot count is too large by one; the largest is good.
#[test]
fn numbers_beyond_the_profile() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let mut bench = Bench::new(&params);
        for opcode in [opcode::SEND, opcode::ACK, opcode::NAK, opcode::PROBE] {
            let frame = good(opcode, &[], &params);
            let connection = Frame {
                connection: params.connections,
                ..frame.clone()
            };
            let path = Frame {
                path: params.paths as u8,
                ..frame.clone()
            };
            for frame in [connection.clone(), path.clone()] {
                assert_eq!(bench.verdict(&frame.bytes(), false), drop::SIZE);
            }
            let connection = Frame {
                connection: params.connections - 1,
                ..frame.clone()
            };
            let path = Frame {
                path: params.paths as u8 - 1,
                ..frame.clone()
            };
            let psn = Frame {
                psn: u32::MAX >> (32 - params.psn_bits),
                ..frame.clone()
            };
            for frame in [connection, path, psn] {
                assert_eq!(bench.verdict(&frame.bytes(), false), drop::NONE);
            }
            if params.psn_bits < 24 {
                let psn = Frame {
                    psn: 1 << params.psn_bits,
                    ..frame.clone()
                };
                assert_eq!(bench.verdict(&psn.bytes(), false), drop::SIZE);
                let mut damaged = psn.bytes();
                damaged[55] ^= 1;
                assert_eq!(bench.verdict(&damaged, false), drop::SIZE);
            }
        }
    }
}

/// R5: payloads of 0 bytes, 1 byte and an MTU are good, one byte more is not; an ACK, NAK or probe has none; a frame is longer than
/// `max_packet_bytes` by one byte at least to be too long. Only good payload that is not empty is kept.
#[test]
fn sizes() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let mut bench = Bench::new(&params);
        let mtu = params.mtu_bytes as usize;
        let longest = params.max_packet_bytes as usize - 92;
        for (bytes, verdict) in [
            (0, drop::NONE),
            (1, drop::NONE),
            (mtu - 1, drop::NONE),
            (mtu, drop::NONE),
            (mtu + 1, drop::SIZE),
            (longest, drop::SIZE),
            (longest + 1, drop::LENGTH),
        ] {
            let frame = good(opcode::SEND, &vec![9; bytes], &params).bytes();
            bench.payload.clear();
            assert_eq!(bench.verdict(&frame, false), verdict, "{profile}, {bytes} bytes");
            let kept = bench.payload.iter().any(|beat| beat.2);
            assert_eq!(kept, verdict == drop::NONE && bytes > 0);
            assert_eq!(bench.payload.iter().filter(|beat| beat.1).count(), 1);
        }
        for opcode in [opcode::ACK, opcode::NAK, opcode::PROBE] {
            let mut frame = good(opcode, &[], &params);
            assert_eq!(bench.verdict(&frame.bytes(), false), drop::NONE);
            frame.payload = vec![1];
            assert_eq!(bench.verdict(&frame.bytes(), false), drop::SIZE);
            frame.payload.clear();
            if frame.extension.pop().is_some() {
                assert_eq!(bench.verdict(&frame.bytes(), false), drop::SIZE);
            }
        }
        let mut frame = good(opcode::WRITE, &[], &params);
        frame.extension.pop();
        assert_eq!(bench.verdict(&frame.bytes(), false), drop::SIZE);
    }
}

/// R2: of a frame cut at any length nothing gets through, nor of one with any single bit flipped: but for the addresses of the MACs and
/// the checksum of UDP, which say nothing here.
#[test]
fn every_truncation_and_every_flipped_bit() {
    for profile in ["tiny", "asic400g"] {
        let params = Params::load(profile).unwrap();
        let mut bench = Bench::new(&params);
        for opcode in [opcode::WRITE, opcode::ACK, opcode::NAK, opcode::PROBE] {
            let clean = good(opcode, &[3; 9], &params).bytes();
            for length in 0..clean.len() {
                let reason = if length < 60 {
                    drop::TRUNCATED
                } else {
                    drop::LENGTH
                };
                assert_eq!(bench.verdict(&clean[..length], false), reason, "{length} bytes");
            }
            for bit in 0..8 * clean.len() {
                let mut frame = clean.clone();
                frame[bit / 8] ^= 1 << (bit % 8);
                let ignored = bit / 8 < 12 || (40..42).contains(&(bit / 8));
                let verdict = bench.verdict(&frame, false);
                assert_eq!(verdict == drop::NONE, ignored, "{opcode}: bit {bit}: {verdict}");
            }
            assert_eq!(bench.verdict(&clean, false), drop::NONE);
        }
    }
}

/// R4: frames back to back, a beat in each clock: each header comes with its frame's last beat, whatever the frame before.
#[test]
fn frames_back_to_back() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let mut bench = Bench::new(&params);
        let mut expected = (vec![], vec![], vec![]);
        for round in 0..50 {
            let opcode = [opcode::PROBE, opcode::ACK, opcode::WRITE][round % 3];
            let mut frame = good(opcode, &vec![5; round], &params).bytes();
            let damaged = round % 5 == 4;
            frame[58] ^= u8::from(damaged);
            bench.feed(&frame, false);
            let clock = bench.clock - 1 + LATENCY;
            match (damaged, opcode) {
                (true, _) => expected.2.push((drop::ICRC, clock)),
                (_, opcode::ACK) => expected.1.push(clock),
                _ => expected.0.push(clock),
            }
        }
        bench.settle();
        let clocks = |headers: &[(Outputs, usize)]| headers.iter().map(|h| h.1).collect::<Vec<_>>();
        assert_eq!(clocks(&bench.data), expected.0);
        assert_eq!(clocks(&bench.ack), expected.1);
        assert_eq!(bench.dropped, expected.2);
    }
}

/// H1: frames of two beats pass back to back; of those of one beat each waits a clock for the header before it to be taken.
#[test]
fn frames_of_one_beat_wait_for_headers() {
    let params = Params::load("asic400g").unwrap();
    for (opcode, beats, stops) in [(opcode::PROBE, 1, 1), (opcode::NAK, 2, 0), (opcode::ACK, 2, 0)] {
        let frame = beats_of(&good(opcode, &[], &params).bytes(), 64);
        assert_eq!(frame.len(), beats);
        let mut bench = Bench::new(&params);
        let (frames, mut accepted) = (20, 0);
        while accepted < frames * beats {
            let (beat, keep, last) = frame[accepted % beats];
            accepted += usize::from(bench.clock(Inputs {
                s_axis_rx_tvalid: true,
                s_axis_rx_tdata: beat,
                s_axis_rx_tkeep: keep,
                s_axis_rx_tlast: last,
                s_axis_rx_plane: 1,
                ..idle()
            }));
        }
        while !bench.unit.rests() {
            bench.clock(idle());
        }
        let clocks: Vec<usize> = bench
            .data
            .iter()
            .chain(&bench.ack)
            .map(|header| header.1)
            .collect();
        assert_eq!(clocks.len(), frames);
        assert!(
            clocks.windows(2).all(|pair| pair[1] - pair[0] == beats + stops),
            "{clocks:?}"
        );
    }
}

/// H1: a full queue at any of the outputs stops the pipeline; `dropped` is high for one clock even then.
#[test]
fn each_output_stops_the_pipeline() {
    let params = Params::load("asic400g").unwrap();
    // One beat, two beats with payload, two beats.
    let frames = [
        good(opcode::PROBE, &[], &params).bytes(),
        good(opcode::WRITE, &[1], &params).bytes(),
        good(opcode::ACK, &[], &params).bytes(),
    ];
    for (closed, frame) in frames.iter().enumerate() {
        let mut bench = Bench::new(&params);
        let offer = |beat: &(metaroce_model::port::Beat, u64, bool)| Inputs {
            s_axis_rx_tvalid: true,
            s_axis_rx_tdata: beat.0,
            s_axis_rx_tkeep: beat.1,
            s_axis_rx_tlast: beat.2,
            s_axis_rx_plane: 1,
            m_axis_payload_tready: closed != 1,
            m_axis_data_tready: closed != 0,
            m_axis_ack_tready: closed != 2,
            ..idle()
        };
        let mut beats = vec![];
        for _ in 0..2 {
            beats.extend(beats_of(frame, 64));
        }
        // A frame that is too short comes right behind.
        beats.extend(beats_of(&[0; 10], 64));
        for beat in &beats {
            assert!(bench.clock(offer(beat)));
        }
        let last = bench.clock - 1;
        let closed_idle = Inputs {
            s_axis_rx_tvalid: false,
            ..offer(&beats[0])
        };
        // A header waits before its register, in the last stage; beats of payload fill a queue of two.
        let stops = match closed {
            1 => last - 1 + LATENCY,
            _ => last - 2 + LATENCY,
        };
        while bench.clock < stops {
            assert!(bench.clock(closed_idle));
        }
        for _ in 0..10 {
            assert!(!bench.clock(closed_idle));
        }
        assert_eq!(
            bench.dropped,
            [],
            "the drop is behind the entry that filled the queue"
        );
        bench.clock(idle());
        bench.settle();
        assert_eq!(bench.dropped.len(), 1);
    }
}

/// H1: a drop that leaves the pipeline in the clock in which a queue fills is shown in the next clock, and only in it.
#[test]
fn a_drop_is_shown_once_while_the_pipeline_stands() {
    let params = Params::load("tiny").unwrap();
    let mut bench = Bench::new(&params);
    // The last of twelve beats is one of payload, and there is a drop with it.
    let long = vec![0; 96];
    let closed = Inputs {
        m_axis_payload_tready: false,
        ..idle()
    };
    let mut accepted_last = 0;
    for (beat, keep, last) in beats_of(&long, 8) {
        accepted_last = bench.clock;
        let inputs = Inputs {
            s_axis_rx_tvalid: true,
            s_axis_rx_tdata: beat,
            s_axis_rx_tkeep: keep,
            s_axis_rx_tlast: last,
            ..closed
        };
        assert!(bench.clock(inputs));
    }
    assert!(bench.clock(Inputs {
        s_axis_rx_tvalid: true,
        s_axis_rx_tlast: true,
        ..closed
    }));
    // That beat waits in the queue, and the drops come all the same; the same frame again fills it.
    while bench.clock < accepted_last + LATENCY {
        bench.clock(closed);
    }
    assert_eq!(bench.dropped.len(), 0);
    for _ in 0..3 {
        bench.clock(closed);
    }
    assert_eq!(
        bench.dropped,
        [
            (drop::NOT_IPV4, accepted_last + LATENCY),
            (drop::TRUNCATED, accepted_last + 1 + LATENCY)
        ]
    );
    for (beat, keep, last) in beats_of(&long, 8) {
        let inputs = Inputs {
            s_axis_rx_tvalid: true,
            s_axis_rx_tdata: beat,
            s_axis_rx_tkeep: keep,
            s_axis_rx_tlast: last,
            ..closed
        };
        accepted_last = bench.clock;
        assert!(bench.clock(inputs));
    }
    while bench.clock < accepted_last + LATENCY {
        assert!(bench.clock(closed));
    }
    for _ in 0..10 {
        assert!(!bench.clock(closed));
    }
    assert_eq!(bench.dropped.len(), 3);
    assert_eq!(bench.dropped[2], (drop::NOT_IPV4, accepted_last + LATENCY));
}

/// R3: each plane has its address; a frame is judged with those before a write in the clock of its last beat; address 0
/// is nobody's.
#[test]
fn addresses() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let lanes = params.lanes() as usize;
        let mut bench = Bench::new(&params);
        let send = |bench: &mut Bench, frame: &[u8], plane: u8, config: Inputs| {
            let before = (bench.data.len(), bench.dropped.len());
            for (beat, keep, last) in beats_of(frame, lanes) {
                let config = if last { config } else { idle() };
                bench.clock(Inputs {
                    s_axis_rx_tvalid: true,
                    s_axis_rx_tdata: beat,
                    s_axis_rx_tkeep: keep,
                    s_axis_rx_tlast: last,
                    // Before the last beat it means nothing.
                    s_axis_rx_plane: if last { plane } else { 1 - plane },
                    s_axis_rx_bad: !last,
                    ..config
                });
            }
            bench.settle();
            match bench.dropped.get(before.1) {
                Some(&(reason, _)) => reason,
                None => {
                    assert_eq!(bench.data[before.0].0.m_axis_data_plane, plane);
                    drop::NONE
                }
            }
        };
        let frame = good(opcode::PROBE, &[], &params).bytes();
        assert_eq!(send(&mut bench, &frame, 0, idle()), drop::ADDRESS);
        assert_eq!(send(&mut bench, &frame, 1, idle()), drop::NONE);
        assert_eq!(send(&mut bench, &frame, 0, configure(0, ADDRESS)), drop::ADDRESS);
        assert_eq!(send(&mut bench, &frame, 0, idle()), drop::NONE);
        assert_eq!(send(&mut bench, &frame, 1, configure(1, 5)), drop::NONE);
        assert_eq!(send(&mut bench, &frame, 1, idle()), drop::ADDRESS);
        let mut nobodys = good(opcode::PROBE, &[], &params);
        nobodys.destination_address = 0;
        bench.clock(configure(1, 0));
        assert_eq!(send(&mut bench, &nobodys.bytes(), 1, idle()), drop::ADDRESS);
        bench.clock(Inputs {
            rst: true,
            ..configure(1, ADDRESS)
        });
        assert_eq!(send(&mut bench, &frame, 1, idle()), drop::ADDRESS);
        assert_eq!(send(&mut bench, &frame, 0, idle()), drop::ADDRESS);
    }
}

/// R2: of a frame that does not end no more payload comes out than `max_packet_bytes` allow, and its last beat; the next one gets through.
#[test]
fn a_frame_that_does_not_end() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let lanes = params.lanes() as usize;
        let mut bench = Bench::new(&params);
        assert_eq!(
            bench.verdict(&vec![0; 70_000], false),
            drop::NOT_IPV4,
            "a reason before the length comes first"
        );
        let beats = (params.max_packet_bytes as usize).div_ceil(lanes) - 88 / lanes + 1;
        assert_eq!(bench.payload.len(), beats);
        assert!(bench.payload[beats - 1].1 && !bench.payload[beats - 1].2);
        let mut long = good(opcode::WRITE, &vec![1; 60_000], &params).bytes();
        assert_eq!(bench.verdict(&long, false), drop::LENGTH);
        long.truncate(params.max_packet_bytes as usize);
        assert_eq!(bench.verdict(&long, false), drop::LENGTH);
        let frame = good(opcode::WRITE, &[1], &params).bytes();
        assert_eq!(bench.verdict(&frame, false), drop::NONE);
    }
}

/// H1: a reset in any clock of a frame and after it leaves nothing; frames after it are judged as if it were the first.
#[test]
fn a_reset_forgets_everything() {
    for profile in ["tiny", "asic400g"] {
        let params = Params::load(profile).unwrap();
        let lanes = params.lanes() as usize;
        let frame = good(opcode::WRITE, &[1; 30], &params).bytes();
        let beats = beats_of(&frame, lanes);
        for clocks in 0..beats.len() + 2 * LATENCY {
            let mut bench = Bench::new(&params);
            for clock in 0..clocks {
                let mut inputs = Inputs::default();
                if let Some(&(beat, keep, last)) = beats.get(clock) {
                    inputs.s_axis_rx_tvalid = true;
                    inputs.s_axis_rx_tdata = beat;
                    inputs.s_axis_rx_tkeep = keep;
                    inputs.s_axis_rx_tlast = last;
                    inputs.s_axis_rx_plane = 1;
                }
                bench.clock(inputs);
            }
            bench.clock(Inputs { rst: true, ..idle() });
            let empty = Outputs {
                s_axis_rx_tready: true,
                ..Default::default()
            };
            assert_eq!(bench.unit.outputs(), empty);
            bench.clock(configure(1, ADDRESS));
            bench.payload.clear();
            bench.data.clear();
            assert_eq!(bench.verdict(&frame, false), drop::NONE);
            assert_eq!(
                (bench.data.len(), bench.payload.len()),
                (1, beats.len() - 88 / lanes)
            );
        }
    }
}
