//! `parser` against its contract: random frames, good, damaged and senseless, against a slow reference that looks at bytes and keeps
//! queues.

mod common;

use common::{
    frames::{Frame, bytes_of, opcode, random_headers, seal, seal_ip},
    random_beat,
};
use metaroce_model::{
    Params,
    params::PROFILES,
    port::{
        Beat,
        parser::{Inputs, LATENCY, Outputs, drop},
    },
    unit::{Unit, parser::Parser},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, VecDeque};

/// The number in these bytes, first byte most significant.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// What an accepted beat makes come out.
#[derive(Default)]
struct Step {
    payload: Option<(Beat, bool, bool)>,
    data: Option<Outputs>,
    ack: Option<Outputs>,
    dropped: Option<u8>,
}

/// The slow reference.
struct Reference {
    params: Params,
    addresses: Vec<u32>,
    frame: Vec<u8>,
    moving: usize,
    on_the_way: VecDeque<(usize, Step)>,
    payload: VecDeque<(Beat, bool, bool)>,
    data: VecDeque<Outputs>,
    ack: VecDeque<Outputs>,
    dropped: Option<u8>,
    bins: BTreeMap<String, u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            addresses: vec![0; params.planes as usize],
            frame: vec![],
            moving: 0,
            on_the_way: VecDeque::new(),
            payload: VecDeque::new(),
            data: VecDeque::new(),
            ack: VecDeque::new(),
            dropped: None,
            bins: BTreeMap::new(),
        }
    }

    fn hit(&mut self, bin: &str, condition: bool) {
        *self.bins.entry(bin.into()).or_default() += u32::from(condition);
    }

    /// The last stage holds a frame's last beat.
    fn frame_ends(&self) -> bool {
        let at_the_end = self.on_the_way.front().filter(|(due, _)| *due == self.moving);
        at_the_end
            .is_some_and(|(_, step)| step.data.is_some() || step.ack.is_some() || step.dropped.is_some())
    }

    fn a_header_waits(&self) -> bool {
        !self.data.is_empty() || !self.ack.is_empty()
    }

    fn moves(&self) -> bool {
        self.payload.len() < 2 && !(self.frame_ends() && self.a_header_waits())
    }

    fn outputs(&self) -> Outputs {
        let mut outputs = self.data.front().copied().unwrap_or_default();
        if let Some(ack) = self.ack.front() {
            outputs.m_axis_ack_tvalid = true;
            outputs.m_axis_ack_opcode = ack.m_axis_ack_opcode;
            outputs.m_axis_ack_connection = ack.m_axis_ack_connection;
            outputs.m_axis_ack_path = ack.m_axis_ack_path;
            outputs.m_axis_ack_psn = ack.m_axis_ack_psn;
            outputs.m_axis_ack_vector = ack.m_axis_ack_vector;
            outputs.m_axis_ack_echo = ack.m_axis_ack_echo;
            outputs.m_axis_ack_hold = ack.m_axis_ack_hold;
            outputs.m_axis_ack_packets = ack.m_axis_ack_packets;
            outputs.m_axis_ack_marked = ack.m_axis_ack_marked;
            outputs.m_axis_ack_hint = ack.m_axis_ack_hint;
            outputs.m_axis_ack_window_state = ack.m_axis_ack_window_state;
            outputs.m_axis_ack_stream = ack.m_axis_ack_stream;
            outputs.m_axis_ack_message = ack.m_axis_ack_message;
            outputs.m_axis_ack_code = ack.m_axis_ack_code;
        }
        if let Some(&(beat, last, keep)) = self.payload.front() {
            outputs.m_axis_payload_tvalid = true;
            outputs.m_axis_payload_tdata = beat;
            outputs.m_axis_payload_tlast = last;
            outputs.m_axis_payload_keep = keep;
        }
        outputs.dropped = self.dropped.is_some();
        outputs.drop_reason = self.dropped.unwrap_or(0);
        outputs.s_axis_rx_tready = self.moves();
        outputs
    }

    fn clock(&mut self, inputs: &Inputs) {
        self.hit("reset in a frame", inputs.rst && !self.frame.is_empty());
        if inputs.rst {
            let bins = std::mem::take(&mut self.bins);
            *self = Self::new(&self.params);
            self.bins = bins;
            return;
        }
        self.hit("stall by payload", self.payload.len() == 2);
        self.hit("stall by data", !self.data.is_empty() && self.frame_ends());
        self.hit("stall by acks", !self.ack.is_empty() && self.frame_ends());
        self.hit("no stall by a header", self.a_header_waits() && self.moves());
        self.hit("drop in a stall", !self.moves() && self.dropped.is_some());
        let moves = self.moves();
        for (taken, queue) in [
            (inputs.m_axis_data_tready, &mut self.data),
            (inputs.m_axis_ack_tready, &mut self.ack),
        ] {
            if taken {
                queue.pop_front();
            }
        }
        if inputs.m_axis_payload_tready {
            self.payload.pop_front();
        }
        self.dropped = None;
        if moves {
            if inputs.s_axis_rx_tvalid {
                let step = self.accept(inputs);
                self.on_the_way.push_back((self.moving + LATENCY - 1, step));
            }
            if self
                .on_the_way
                .front()
                .is_some_and(|&(due, _)| due == self.moving)
                && let Some((_, step)) = self.on_the_way.pop_front()
            {
                self.payload.extend(step.payload);
                self.data.extend(step.data);
                self.ack.extend(step.ack);
                self.dropped = step.dropped;
            }
            self.moving += 1;
        }
        if inputs.config_write {
            self.hit(
                "address written at a frame's end",
                moves && inputs.s_axis_rx_tvalid && inputs.s_axis_rx_tlast,
            );
            self.addresses[usize::from(inputs.config_plane)] = inputs.config_address;
        }
    }

    fn accept(&mut self, inputs: &Inputs) -> Step {
        let lanes = self.params.lanes() as usize;
        let longest = self.params.max_packet_bytes as usize;
        let first_byte = self.frame.len();
        let bytes = bytes_of(&inputs.s_axis_rx_tdata, lanes);
        let mut kept = lanes;
        if inputs.s_axis_rx_tlast {
            kept = (0..lanes)
                .find(|lane| inputs.s_axis_rx_tkeep >> lane & 1 == 0)
                .unwrap_or(lanes);
        }
        self.frame.extend(&bytes[..kept]);
        let mut step = Step::default();
        let mut keep = false;
        if inputs.s_axis_rx_tlast {
            self.hit("last beat without bytes", kept == 0 && first_byte > 0);
            self.hit("empty frame", kept == 0 && first_byte == 0);
            self.hit("more than a beat too long", first_byte > longest);
            let frame = std::mem::take(&mut self.frame);
            let verdict = self.verdict(&frame, inputs);
            self.hit(&format!("verdict {verdict}"), true);
            if verdict == drop::NONE {
                keep = frame[43] < 4 && frame.len() > 92;
                self.hit(&format!("opcode {}", frame[43]), true);
                self.hit("no payload", frame[43] < 4 && frame.len() == 92);
                self.hit(
                    "payload of an MTU",
                    frame.len() == 92 + self.params.mtu_bytes as usize,
                );
                if [opcode::ACK, opcode::NAK].contains(&frame[43]) {
                    step.ack = Some(self.ack_header(&frame));
                } else {
                    step.data = Some(self.data_header(&frame, inputs));
                }
            } else {
                step.dropped = Some(verdict);
            }
        }
        let number = first_byte / lanes;
        if number >= 88 / lanes && (first_byte < longest || inputs.s_axis_rx_tlast) {
            step.payload = Some((inputs.s_axis_rx_tdata, inputs.s_axis_rx_tlast, keep));
        }
        step
    }

    fn verdict(&self, frame: &[u8], inputs: &Inputs) -> u8 {
        let params = &self.params;
        let length = frame.len();
        if inputs.s_axis_rx_bad {
            return drop::BAD;
        }
        if length < 60 {
            return drop::TRUNCATED;
        }
        if frame[12..14] != [8, 0] {
            return drop::NOT_IPV4;
        }
        let mut sum = 0;
        for word in frame[14..34].chunks(2) {
            sum += number(word);
            sum = (sum & 0xffff) + (sum >> 16);
        }
        let fragment = number(&frame[20..22]) & 0x3fff;
        if frame[14] != 0x45 || fragment != 0 || frame[23] != 17 || sum != 0xffff {
            return drop::IP_HEADER;
        }
        let address = self.addresses[usize::from(inputs.s_axis_rx_plane)];
        if address == 0 || number(&frame[30..34]) != address.into() {
            return drop::ADDRESS;
        }
        if number(&frame[36..38]) != params.udp_port.into() {
            return drop::PORT;
        }
        if number(&frame[16..18]) != length as u64 - 14
            || number(&frame[38..40]) != length as u64 - 34
            || length > params.max_packet_bytes as usize
        {
            return drop::LENGTH;
        }
        if frame[42] >> 4 != 0 {
            return drop::VERSION;
        }
        let size = match frame[43] {
            0..=3 => 92,
            0x10 => 108,
            0x11 => 68,
            0x12 => 60,
            _ => return drop::OPCODE,
        };
        let most = if frame[43] <= 3 {
            size + params.mtu_bytes as usize
        } else {
            size
        };
        if length < size
            || length > most
            || number(&frame[44..47]) >= params.connections.into()
            || u32::from(frame[47]) >= params.paths
            || number(&frame[48..51]) >= 1 << params.psn_bits
        {
            return drop::SIZE;
        }
        let mut sealed = frame.to_vec();
        seal(&mut sealed);
        if sealed != frame { drop::ICRC } else { drop::NONE }
    }

    fn timestamp(&self, bytes: &[u8]) -> u32 {
        (number(bytes) % (1 << self.params.timestamp_bits)) as u32
    }

    fn data_header(&self, frame: &[u8], inputs: &Inputs) -> Outputs {
        let mut header = Outputs {
            m_axis_data_tvalid: true,
            m_axis_data_opcode: frame[43],
            m_axis_data_flags: frame[42] & 15,
            m_axis_data_connection: number(&frame[44..47]) as u16,
            m_axis_data_path: frame[47],
            m_axis_data_psn: number(&frame[48..51]) as u32,
            m_axis_data_timestamp: self.timestamp(&frame[51..55]),
            m_axis_data_arrival: inputs.now,
            m_axis_data_marked: frame[15] & 3 == 3,
            m_axis_data_plane: inputs.s_axis_rx_plane,
            ..Default::default()
        };
        if frame[43] <= 3 {
            header.m_axis_data_payload_bytes = frame.len() as u16 - 92;
            header.m_axis_data_stream = number(&frame[56..58]) as u16;
            header.m_axis_data_message = number(&frame[58..61]) as u32;
            header.m_axis_data_message_length = number(&frame[61..65]) as u32;
            header.m_axis_data_offset = number(&frame[65..69]) as u32;
            header.m_axis_data_immediate = number(&frame[69..73]) as u32;
            if frame[43] <= 1 {
                header.m_axis_data_key = number(&frame[76..80]) as u32;
                header.m_axis_data_address = number(&frame[80..88]);
            } else {
                header.m_axis_data_receive = number(&frame[76..79]) as u32;
            }
        }
        header
    }

    fn ack_header(&self, frame: &[u8]) -> Outputs {
        let mut header = Outputs {
            m_axis_ack_opcode: frame[43],
            m_axis_ack_connection: number(&frame[44..47]) as u16,
            m_axis_ack_path: frame[47],
            ..Default::default()
        };
        if frame[43] == opcode::ACK {
            header.m_axis_ack_psn = number(&frame[48..51]) as u32;
            for bit in 0..self.params.sack_bits as usize {
                let set = frame[87 - bit / 8] >> (bit % 8) & 1 == 1;
                header.m_axis_ack_vector.set(bit, set);
            }
            header.m_axis_ack_echo = self.timestamp(&frame[88..92]);
            header.m_axis_ack_hold = number(&frame[92..94]) as u16;
            header.m_axis_ack_packets = number(&frame[94..96]) as u16;
            header.m_axis_ack_marked = number(&frame[96..98]) as u16;
            header.m_axis_ack_hint = number(&frame[98..100]) as u16 >> 4;
            header.m_axis_ack_window_state = frame[99] & 15;
        } else {
            header.m_axis_ack_stream = number(&frame[56..58]) as u16;
            header.m_axis_ack_message = number(&frame[58..61]) as u32;
            header.m_axis_ack_code = frame[61];
        }
        header
    }
}

/// A frame that is good but for the one thing or two that may be wrong with it.
fn random_frame(random: &mut ChaCha8Rng, params: &Params, address: u32) -> Vec<u8> {
    let lanes = params.lanes() as usize;
    let headers = random_headers(random, params);
    let mut frame = if random.random_ratio(1, 2) {
        Frame::of_ack(&headers, params.udp_port)
    } else {
        let payload_bytes = match headers.s_axis_data_opcode {
            opcode::PROBE => 0,
            _ if random.random_ratio(2, 3) => usize::from(headers.s_axis_data_payload_bytes) % (2 * lanes),
            _ => usize::from(headers.s_axis_data_payload_bytes),
        };
        let payload: Vec<u8> = (0..payload_bytes).map(|_| random.random()).collect();
        Frame::of_data(&headers, &payload, params.udp_port)
    };
    frame.destination_address = address;
    frame.flags = random.random_range(0..16);
    frame.ecn = random.random_range(0..4);
    frame.connection %= params.connections;
    frame.timestamp = random.random();
    // Reserved fields too, and the numbers that are wider on the wire than in the profile.
    for (value, width) in &mut frame.extension {
        *value = random.random::<u64>() >> (64 - *width);
    }
    let longest = params.max_packet_bytes as usize;
    match random.random_range(0..16) {
        0 => frame.opcode = random.random_range(0..32),
        1 => frame.connection = random.random::<u32>() >> random.random_range(8..24),
        2 => frame.path = random.random_range(0..2 * params.paths) as u8,
        3 => frame.psn = random.random::<u32>() >> random.random_range(8..16),
        4 => {
            let room = longest - 92 - params.mtu_bytes as usize;
            let more = random.random_range(1..=room + 2 * lanes);
            frame.payload = vec![7; params.mtu_bytes as usize + more];
        }
        5 => frame.payload.push(1),
        6 => frame.extension.truncate(random.random_range(0..4)),
        7 => frame.destination_port ^= 1 << random.random_range(0..16),
        _ => {}
    }
    let mut frame = frame.bytes();
    frame[55] = random.random();
    seal(&mut frame);
    match random.random_range(0..24) {
        0 => frame.truncate(random.random_range(0..frame.len())),
        9 => frame.truncate(random.random_range(0..2) * lanes),
        1 => frame.extend(vec![9; random.random_range(1..2 * longest)]),
        2 | 3 => {
            let bit = random.random_range(0..8 * frame.len());
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        kind @ 4..8 => {
            // In the headers, where the checksums do not tell; often in the first byte of the base header.
            let bit = match kind {
                4 => random.random_range(8 * 42..8 * 43),
                _ => random.random_range(8 * 12..8 * 56),
            };
            frame[bit / 8] ^= 1 << (bit % 8);
            seal_ip(&mut frame);
            seal(&mut frame);
        }
        8 => frame.fill_with(|| random.random()),
        _ => {}
    }
    frame
}

/// R2, R4, R5, R6, H1: every output in every clock is the reference's, for each profile, with every opcode, every reason to drop,
/// stalls by each output, changing addresses and resets.
#[test]
fn random_frames_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let lanes = params.lanes() as usize;
        let mut unit = Parser::new(&params);
        let mut reference = Reference::new(&params);
        let mut frame: Vec<u8> = vec![];
        let (mut at, mut plane, mut bad, mut empty_end) = (0, 0, false, false);
        let mut begun = false;
        for clock in 0..1_200_000u32 {
            let phase = clock as usize / 1024;
            let outputs = unit.outputs();
            assert_eq!(outputs, reference.outputs(), "{profile}, clock {clock}");
            if !begun {
                plane = random.random_range(0..params.planes) as u8;
                frame = random_frame(&mut random, &params, reference.addresses[usize::from(plane)]);
                (at, begun) = (0, true);
                bad = random.random_ratio(1, 32);
                empty_end = random.random_ratio(1, 8);
            }
            let rest = &frame[at..];
            let last = if empty_end {
                rest.len() < lanes
            } else {
                rest.len() <= lanes
            };
            // Lanes behind the frame's end and what means nothing before its last beat are noise.
            let mut beat = random_beat(&mut random, &params);
            for (lane, &byte) in rest.iter().take(lanes).enumerate() {
                beat.data[lane / 8] &= !(0xff << (lane % 8 * 8));
                beat.data[lane / 8] |= u64::from(byte) << (lane % 8 * 8);
            }
            let mut keep = random.random::<u64>() & u64::MAX >> (64 - lanes);
            if last {
                let kept = (1 << rest.len().min(63)) - 1;
                keep = match rest.len() {
                    64.. => u64::MAX,
                    full if full == lanes => kept,
                    part => keep & !(1 << part) | kept,
                };
            }
            let write = random.random_ratio(1, 100);
            let config_plane = random.random_range(0..params.planes) as u8;
            let inputs = Inputs {
                rst: random.random_ratio(1, 5000),
                now: clock % (1 << 16),
                config_write: write,
                config_plane,
                config_address: if random.random_ratio(1, 16) {
                    0
                } else {
                    random.random()
                },
                s_axis_rx_tvalid: random.random_ratio([16, 10][phase % 2], 16),
                s_axis_rx_tdata: beat,
                s_axis_rx_tkeep: keep,
                s_axis_rx_tlast: last,
                s_axis_rx_plane: if last { plane } else { config_plane },
                s_axis_rx_bad: if last { bad } else { write },
                m_axis_payload_tready: random.random_ratio([16, 12, 4][phase / 2 % 3], 16),
                m_axis_data_tready: random.random_ratio([256, 192, 2][phase / 3 % 3], 256),
                m_axis_ack_tready: random.random_ratio([256, 192, 2][phase / 4 % 3], 256),
            };
            unit.clock(&inputs);
            reference.clock(&inputs);
            if inputs.rst {
                begun = false;
            } else if inputs.s_axis_rx_tvalid && outputs.s_axis_rx_tready {
                at = (at + lanes).min(frame.len());
                begun = !last;
            }
        }
        for (bin, hits) in &reference.bins {
            assert!(*hits > 0, "{profile}: '{bin}' never occurred");
        }
        for verdict in (0..=drop::ICRC).chain([drop::NONE]) {
            assert!(
                reference.bins.contains_key(&format!("verdict {verdict}")),
                "{profile}: {verdict}"
            );
        }
        for opcode in opcode::DATA
            .into_iter()
            .chain([opcode::ACK, opcode::NAK, opcode::PROBE])
        {
            assert!(
                reference.bins.contains_key(&format!("opcode {opcode}")),
                "{profile}: {opcode}"
            );
        }
        assert_eq!(reference.bins.len(), 6 + 5 + 12 + 8, "{:?}", reference.bins);
    }
}
