//! The units of the wire's path one behind the other: deparser, a link, parser, frame buffer, align. What goes in comes out.

mod common;

use common::frames::{beat_of, beats_of, bytes_of, opcode, random_headers};
use metaroce_model::{
    Params,
    params::PROFILES,
    port::{Beat, Ports, align, deparser, frame_buffer, parser},
    unit::{Unit, align::Align, deparser::Deparser, frame_buffer::FrameBuffer, parser::Parser},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// The values of one output stream, by the names of their ports; the time of arrival is left out.
type Values = Vec<(&'static str, Vec<u32>)>;

fn stream(outputs: &parser::Outputs, prefix: &str, params: &Params) -> Values {
    let mut words = [0; parser::Outputs::WORDS];
    outputs.pack(&mut words);
    parser::Outputs::ports(params)
        .into_iter()
        .filter(|port| port.name.starts_with(prefix) && port.name != "m_axis_data_arrival")
        .map(|port| (port.name, words[port.word..port.word + port.words].to_vec()))
        .collect()
}

/// What the parser is to give for the header that the deparser takes at `s_axis_data`.
fn data_values(inputs: &deparser::Inputs, params: &Params) -> Values {
    let mut header = parser::Outputs {
        m_axis_data_tvalid: true,
        m_axis_data_opcode: inputs.s_axis_data_opcode,
        m_axis_data_flags: inputs.s_axis_data_flags,
        m_axis_data_connection: inputs.s_axis_data_connection as u16,
        m_axis_data_path: inputs.s_axis_data_path,
        m_axis_data_psn: inputs.s_axis_data_psn,
        m_axis_data_timestamp: inputs.s_axis_data_timestamp,
        m_axis_data_plane: inputs.s_axis_data_plane,
        ..Default::default()
    };
    if inputs.s_axis_data_opcode != opcode::PROBE {
        header.m_axis_data_payload_bytes = inputs.s_axis_data_payload_bytes;
        header.m_axis_data_stream = inputs.s_axis_data_stream;
        header.m_axis_data_message = inputs.s_axis_data_message;
        header.m_axis_data_message_length = inputs.s_axis_data_message_length;
        header.m_axis_data_offset = inputs.s_axis_data_offset;
        header.m_axis_data_immediate = inputs.s_axis_data_immediate;
        if inputs.s_axis_data_opcode <= opcode::WRITE_IMMEDIATE {
            header.m_axis_data_key = inputs.s_axis_data_key;
            header.m_axis_data_address = inputs.s_axis_data_address;
        } else {
            header.m_axis_data_receive = inputs.s_axis_data_receive;
        }
    }
    stream(&header, "m_axis_data_", params)
}

/// What the parser is to give for the header that the deparser takes at `s_axis_ack`.
fn ack_values(inputs: &deparser::Inputs, params: &Params) -> Values {
    let mut header = parser::Outputs {
        m_axis_ack_tvalid: true,
        m_axis_ack_opcode: inputs.s_axis_ack_opcode,
        m_axis_ack_connection: inputs.s_axis_ack_connection as u16,
        m_axis_ack_path: inputs.s_axis_ack_path,
        ..Default::default()
    };
    if inputs.s_axis_ack_opcode == opcode::ACK {
        header.m_axis_ack_psn = inputs.s_axis_ack_psn;
        header.m_axis_ack_vector = inputs.s_axis_ack_vector;
        header.m_axis_ack_echo = inputs.s_axis_ack_echo;
        header.m_axis_ack_hold = inputs.s_axis_ack_hold;
        header.m_axis_ack_packets = inputs.s_axis_ack_packets;
        header.m_axis_ack_marked = inputs.s_axis_ack_marked;
        header.m_axis_ack_hint = inputs.s_axis_ack_hint;
        header.m_axis_ack_window_state = inputs.s_axis_ack_window_state;
    } else {
        header.m_axis_ack_stream = inputs.s_axis_ack_stream;
        header.m_axis_ack_message = inputs.s_axis_ack_message;
        header.m_axis_ack_code = inputs.s_axis_ack_code;
    }
    stream(&header, "m_axis_ack_", params)
}

/// The address of a plane at the receiver.
fn address(plane: u8) -> u32 {
    0x0a00_0001 + u32::from(plane)
}

/// The units, the link between them, and what is still to come out.
struct Path {
    params: Params,
    deparser: Deparser,
    parser: Parser,
    frame_buffer: FrameBuffer,
    align: Align,
    /// The header offered in each stream until it is taken; its payload.
    offered: deparser::Inputs,
    offered_payload: Vec<u8>,
    payload_beats: VecDeque<Beat>,
    /// What was taken by the deparser, in each stream's order.
    sent_data: VecDeque<(Values, Vec<u8>)>,
    sent_ack: VecDeque<Values>,
    /// The frame that is coming out, and the beats on the link, each with its plane.
    frame: Vec<u8>,
    link: VecDeque<((Beat, u64, bool), u8)>,
    /// What is to come out of the parser and out of `align`.
    expected_data: VecDeque<Values>,
    expected_ack: VecDeque<Values>,
    expected_payload: VecDeque<Vec<u8>>,
    damaged: usize,
    dropped: usize,
    commands: VecDeque<(u8, u16)>,
    received: Vec<u8>,
    delivered: usize,
}

impl Path {
    fn new(params: &Params) -> Self {
        let mut parser = Parser::new(params);
        for plane in 0..params.planes as u8 {
            parser.clock(&parser::Inputs {
                config_write: true,
                config_plane: plane,
                config_address: address(plane),
                ..Default::default()
            });
        }
        Self {
            params: params.clone(),
            deparser: Deparser::new(params),
            parser,
            frame_buffer: FrameBuffer::new(params),
            align: Align::new(params),
            offered: Default::default(),
            offered_payload: vec![],
            payload_beats: VecDeque::new(),
            sent_data: VecDeque::new(),
            sent_ack: VecDeque::new(),
            frame: vec![],
            link: VecDeque::new(),
            expected_data: VecDeque::new(),
            expected_ack: VecDeque::new(),
            expected_payload: VecDeque::new(),
            damaged: 0,
            dropped: 0,
            commands: VecDeque::new(),
            received: vec![],
            delivered: 0,
        }
    }

    /// Nothing is on its way.
    fn is_empty(&self) -> bool {
        !self.offered.s_axis_data_tvalid
            && !self.offered.s_axis_ack_tvalid
            && self.sent_data.is_empty()
            && self.sent_ack.is_empty()
            && self.expected_data.is_empty()
            && self.expected_ack.is_empty()
            && self.expected_payload.is_empty()
            && self.dropped == self.damaged
    }

    /// Puts a new header into each stream that has none.
    fn offer(&mut self, random: &mut ChaCha8Rng) {
        if self.offered.s_axis_data_tvalid && self.offered.s_axis_ack_tvalid {
            return;
        }
        let old = self.offered;
        let mut new = random_headers(random, &self.params);
        new.s_axis_data_connection %= self.params.connections;
        new.s_axis_ack_connection %= self.params.connections;
        new.s_axis_data_destination_address = address(new.s_axis_data_plane);
        new.s_axis_ack_destination_address = address(new.s_axis_ack_plane);
        if !old.s_axis_data_tvalid {
            let is_data = new.s_axis_data_opcode != opcode::PROBE;
            let bytes = if is_data { new.s_axis_data_payload_bytes } else { 0 };
            self.offered_payload = (0..bytes).map(|_| random.random()).collect();
        }
        self.offered = merge(
            if old.s_axis_data_tvalid { &old } else { &new },
            if old.s_axis_ack_tvalid { &old } else { &new },
        );
        self.offered.s_axis_data_tvalid = true;
        self.offered.s_axis_ack_tvalid = true;
    }

    /// One clock. `open` tells by chance whether an exchange between two units may take place.
    fn clock(&mut self, random: &mut ChaCha8Rng, open: u32, damage: u32) {
        let lanes = self.params.lanes() as usize;
        let mut gate = || random.random_ratio(open, 16);
        let sender = self.deparser.outputs();
        let receiver = self.parser.outputs();
        let buffer = self.frame_buffer.outputs();
        let aligned = self.align.outputs();

        // Into the deparser.
        let mut into = self.offered;
        into.s_axis_payload_tvalid = !self.payload_beats.is_empty() && gate();
        into.s_axis_payload_tdata = self.payload_beats.front().copied().unwrap_or_default();
        into.m_axis_tx_tready = gate();
        if into.s_axis_data_tvalid && sender.s_axis_data_tready {
            let payload = std::mem::take(&mut self.offered_payload);
            if !payload.is_empty() {
                let mut bytes = vec![0xee; 88 % lanes];
                bytes.extend(&payload);
                bytes.resize(bytes.len().next_multiple_of(lanes), 0xee);
                self.payload_beats.extend(bytes.chunks(lanes).map(beat_of));
            }
            let values = data_values(&self.offered, &self.params);
            self.sent_data.push_back((values, payload));
            self.offered.s_axis_data_tvalid = false;
        }
        if into.s_axis_ack_tvalid && sender.s_axis_ack_tready {
            self.sent_ack.push_back(ack_values(&self.offered, &self.params));
            self.offered.s_axis_ack_tvalid = false;
        }
        if into.s_axis_payload_tvalid && sender.s_axis_payload_tready {
            self.payload_beats.pop_front();
        }

        // From the link into the parser, and from there to the buffer.
        let arriving = self.link.front().copied().filter(|_| gate());
        let ((beat, keep, last), plane) = arriving.unwrap_or_default();
        if arriving.is_some() && receiver.s_axis_rx_tready {
            self.link.pop_front();
        }
        let payload_goes = gate();
        let (data_goes, ack_goes) = (gate(), gate());
        if receiver.m_axis_data_tvalid && data_goes {
            let expected = self.expected_data.pop_front();
            assert_eq!(Some(stream(&receiver, "m_axis_data_", &self.params)), expected);
            if receiver.m_axis_data_payload_bytes > 0 {
                // Where the payload is to stand is as good as random.
                let to = receiver.m_axis_data_address as usize % lanes;
                self.commands
                    .push_back((to as u8, receiver.m_axis_data_payload_bytes));
            }
        }
        if receiver.m_axis_ack_tvalid && ack_goes {
            let expected = self.expected_ack.pop_front();
            assert_eq!(Some(stream(&receiver, "m_axis_ack_", &self.params)), expected);
        }
        self.dropped += usize::from(receiver.dropped);

        // Through `align`.
        let beat_goes = gate();
        let command = self.commands.front().copied().filter(|_| gate());
        let (to, bytes) = command.unwrap_or_default();
        if command.is_some() && aligned.s_axis_command_tready {
            self.commands.pop_front();
        }
        let taken = gate();
        if aligned.m_axis_tvalid && taken {
            let bytes = bytes_of(&aligned.m_axis_tdata, lanes).into_iter().enumerate();
            let kept = bytes.filter(|&(lane, _)| aligned.m_axis_tkeep >> lane & 1 == 1);
            self.received.extend(kept.map(|(_, byte)| byte));
            if aligned.m_axis_tlast {
                let payload = std::mem::take(&mut self.received);
                assert_eq!(Some(payload), self.expected_payload.pop_front());
                self.delivered += 1;
            }
        }

        self.align.clock(&align::Inputs {
            s_axis_command_tvalid: command.is_some(),
            s_axis_command_from: (88 % lanes) as u8,
            s_axis_command_to: to,
            s_axis_command_bytes: bytes,
            s_axis_tvalid: buffer.m_axis_tvalid && beat_goes,
            s_axis_tdata: buffer.m_axis_tdata,
            s_axis_tlast: buffer.m_axis_tlast,
            m_axis_tready: taken,
            ..Default::default()
        });
        self.frame_buffer.clock(&frame_buffer::Inputs {
            s_axis_tvalid: receiver.m_axis_payload_tvalid && payload_goes,
            s_axis_tdata: receiver.m_axis_payload_tdata,
            s_axis_tlast: receiver.m_axis_payload_tlast,
            s_axis_keep: receiver.m_axis_payload_keep,
            m_axis_tready: aligned.s_axis_tready && beat_goes,
            ..Default::default()
        });
        self.parser.clock(&parser::Inputs {
            s_axis_rx_tvalid: arriving.is_some(),
            s_axis_rx_tdata: beat,
            s_axis_rx_tkeep: keep,
            s_axis_rx_tlast: last,
            s_axis_rx_plane: plane,
            m_axis_payload_tready: buffer.s_axis_tready && payload_goes,
            m_axis_data_tready: data_goes,
            m_axis_ack_tready: ack_goes,
            ..Default::default()
        });
        self.deparser.clock(&into);

        // From the deparser onto the link.
        if sender.m_axis_tx_tvalid && into.m_axis_tx_tready {
            let bytes = sender.m_axis_tx_tkeep.count_ones() as usize;
            self.frame.extend(bytes_of(&sender.m_axis_tx_tdata, bytes));
            if sender.m_axis_tx_tlast {
                let damages = random.random_ratio(damage, 16);
                self.finish_frame(random, damages, sender.m_axis_tx_plane);
            }
        }
    }

    /// Puts the frame that has come out onto the link, perhaps with up to three bits flipped, and expects what is to come of it.
    fn finish_frame(&mut self, random: &mut ChaCha8Rng, damages: bool, plane: u8) {
        let mut frame = std::mem::take(&mut self.frame);
        let is_ack = [opcode::ACK, opcode::NAK].contains(&frame[43]);
        let ack = if is_ack { self.sent_ack.pop_front() } else { None };
        let data = if is_ack { None } else { self.sent_data.pop_front() };
        if damages {
            self.damaged += 1;
            let first = random.random_range(8 * 12..8 * frame.len() - 2);
            // The checksum of UDP, two bytes, may be anything.
            let first = if (8 * 40 - 2..8 * 42).contains(&first) {
                8 * 42
            } else {
                first
            };
            for bit in first..=first + random.random_range(0..3) {
                frame[bit / 8] ^= 1 << (bit % 8);
            }
        } else {
            self.expected_ack.extend(ack);
            if let Some((values, payload)) = data {
                self.expected_data.push_back(values);
                if !payload.is_empty() {
                    self.expected_payload.push_back(payload);
                }
            }
        }
        let beats = beats_of(&frame, self.params.lanes() as usize);
        self.link.extend(beats.into_iter().map(|beat| (beat, plane)));
    }
}

/// One header's data stream and the other's acknowledgement stream.
fn merge(data: &deparser::Inputs, ack: &deparser::Inputs) -> deparser::Inputs {
    let mut merged = [0; deparser::Inputs::WORDS];
    let mut acks = [0; deparser::Inputs::WORDS];
    data.pack(&mut merged);
    ack.pack(&mut acks);
    let params = Params::load("tiny").unwrap();
    for port in deparser::Inputs::ports(&params) {
        if port.name.starts_with("s_axis_ack_") {
            let words = port.word..port.word + port.words;
            merged[words.clone()].copy_from_slice(&acks[words]);
        }
    }
    deparser::Inputs::unpack(&merged)
}

/// R2, R4, R5, R6: with random waits between all units and none, and with bits flipped on the link, every packet that is not damaged
/// comes out as it went in, payload included, of 0 bytes to an MTU; every damaged one is dropped and counted; then all is at rest.
#[test]
fn what_goes_in_comes_out() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        for (open, damage) in [(16, 0), (12, 0), (8, 4), (16, 8), (5, 4)] {
            let mut path = Path::new(&params);
            for _ in 0..20_000 {
                path.offer(&mut random);
                path.clock(&mut random, open, damage);
            }
            let mut clocks = 0;
            while !path.is_empty() {
                path.clock(&mut random, open, damage);
                clocks += 1;
                assert!(clocks < 100_000, "{profile}: something never came out");
            }
            for _ in 0..100 {
                path.clock(&mut random, 16, damage);
            }
            assert!(path.delivered > 5 && (path.damaged > 0) == (damage > 0));
            assert_eq!(path.dropped, path.damaged);
            assert!(path.payload_beats.is_empty() && path.link.is_empty() && path.commands.is_empty());
            let idle = path.frame_buffer.outputs();
            assert!(idle.s_axis_tready && !idle.m_axis_tvalid);
            let idle = path.align.outputs();
            assert!(idle.s_axis_command_tready && !idle.s_axis_tready && !idle.m_axis_tvalid);
        }
    }
}
