//! Frames put together bit by bit, from the numbers of the wire's layout and not from its table.

use metaroce_model::{
    Params,
    port::{Beat, deparser},
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// What a frame says: the fields that tests change, and behind the base header whatever is to stand there.
#[derive(Clone, Debug)]
pub struct Frame {
    pub destination_mac: u64,
    pub source_mac: u64,
    pub dscp: u8,
    pub ecn: u8,
    pub source_address: u32,
    pub destination_address: u32,
    pub source_port: u16,
    pub destination_port: u16,
    pub flags: u8,
    pub opcode: u8,
    pub connection: u32,
    pub path: u8,
    pub psn: u32,
    pub timestamp: u32,
    /// Values and widths in bits.
    pub extension: Vec<(u64, u32)>,
    pub payload: Vec<u8>,
}

/// Opcodes by their numbers.
pub mod opcode {
    pub const WRITE: u8 = 0x00;
    pub const WRITE_IMMEDIATE: u8 = 0x01;
    pub const SEND: u8 = 0x02;
    pub const SEND_IMMEDIATE: u8 = 0x03;
    pub const ACK: u8 = 0x10;
    pub const NAK: u8 = 0x11;
    pub const PROBE: u8 = 0x12;

    pub const DATA: [u8; 4] = [WRITE, WRITE_IMMEDIATE, SEND, SEND_IMMEDIATE];
}

impl Frame {
    /// The frame of the header offered at the deparser's `s_axis_data`.
    pub fn of_data(inputs: &deparser::Inputs, payload: &[u8], udp_port: u32) -> Self {
        let opcode = inputs.s_axis_data_opcode;
        let mut extension = vec![];
        if opcode != opcode::PROBE {
            extension.extend([
                (inputs.s_axis_data_stream.into(), 16),
                (inputs.s_axis_data_message.into(), 24),
                (inputs.s_axis_data_message_length.into(), 32),
                (inputs.s_axis_data_offset.into(), 32),
                (inputs.s_axis_data_immediate.into(), 32),
                (0, 24),
            ]);
            if [opcode::SEND, opcode::SEND_IMMEDIATE].contains(&opcode) {
                extension.extend([(inputs.s_axis_data_receive.into(), 24), (0, 64), (0, 8)]);
            } else {
                extension.extend([
                    (inputs.s_axis_data_key.into(), 32),
                    (inputs.s_axis_data_address, 64),
                ]);
            }
        }
        Self {
            destination_mac: inputs.s_axis_data_destination_mac,
            source_mac: inputs.s_axis_data_source_mac,
            dscp: inputs.s_axis_data_dscp,
            ecn: 2,
            source_address: inputs.s_axis_data_source_address,
            destination_address: inputs.s_axis_data_destination_address,
            source_port: inputs.s_axis_data_source_port,
            destination_port: udp_port as u16,
            flags: inputs.s_axis_data_flags,
            opcode,
            connection: inputs.s_axis_data_connection,
            path: inputs.s_axis_data_path,
            psn: inputs.s_axis_data_psn,
            timestamp: inputs.s_axis_data_timestamp,
            extension,
            payload: payload.into(),
        }
    }

    /// The frame of the header offered at the deparser's `s_axis_ack`.
    pub fn of_ack(inputs: &deparser::Inputs, udp_port: u32) -> Self {
        let is_ack = inputs.s_axis_ack_opcode == opcode::ACK;
        let [low, second, third, high] = inputs.s_axis_ack_vector.data;
        let extension = if is_ack {
            vec![
                (high, 64),
                (third, 64),
                (second, 64),
                (low, 64),
                (inputs.s_axis_ack_echo.into(), 32),
                (inputs.s_axis_ack_hold.into(), 16),
                (inputs.s_axis_ack_packets.into(), 16),
                (inputs.s_axis_ack_marked.into(), 16),
                (inputs.s_axis_ack_hint.into(), 12),
                (inputs.s_axis_ack_window_state.into(), 4),
                (0, 32),
            ]
        } else {
            vec![
                (inputs.s_axis_ack_stream.into(), 16),
                (inputs.s_axis_ack_message.into(), 24),
                (inputs.s_axis_ack_code.into(), 8),
                (0, 16),
            ]
        };
        Self {
            destination_mac: inputs.s_axis_ack_destination_mac,
            source_mac: inputs.s_axis_ack_source_mac,
            dscp: inputs.s_axis_ack_dscp,
            ecn: 2,
            source_address: inputs.s_axis_ack_source_address,
            destination_address: inputs.s_axis_ack_destination_address,
            source_port: inputs.s_axis_ack_source_port,
            destination_port: udp_port as u16,
            flags: 0,
            opcode: inputs.s_axis_ack_opcode,
            connection: inputs.s_axis_ack_connection,
            path: inputs.s_axis_ack_path,
            psn: if is_ack { inputs.s_axis_ack_psn } else { 0 },
            timestamp: inputs.s_axis_ack_timestamp,
            extension,
            payload: vec![],
        }
    }

    /// The bytes before the payload.
    pub fn headers(&self, payload_bytes: usize) -> Vec<u8> {
        let extension_bits: u32 = self.extension.iter().map(|&(_, bits)| bits).sum();
        let udp_bytes = u64::from(8 + 14 + extension_bits / 8 + 4) + payload_bytes as u64;
        let mut fields = vec![
            (self.destination_mac, 48),
            (self.source_mac, 48),
            (0x0800, 16),
            (4, 4),
            (5, 4),
            (self.dscp.into(), 6),
            (self.ecn.into(), 2),
            (20 + udp_bytes, 16),
            (0, 16),
            (2, 3),
            (0, 13),
            (64, 8),
            (17, 8),
            (0, 16),
            (self.source_address.into(), 32),
            (self.destination_address.into(), 32),
            (self.source_port.into(), 16),
            (self.destination_port.into(), 16),
            (udp_bytes, 16),
            (0, 16),
            (0, 4),
            (self.flags.into(), 4),
            (self.opcode.into(), 8),
            (self.connection.into(), 24),
            (self.path.into(), 8),
            (self.psn.into(), 24),
            (self.timestamp.into(), 32),
            (0, 8),
        ];
        fields.extend(&self.extension);
        let mut bits = vec![];
        for (value, width) in fields {
            bits.extend((0..width).rev().map(|bit| value >> bit & 1 == 1));
        }
        let byte = |bits: &[bool]| bits.iter().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        let mut bytes: Vec<u8> = bits.chunks(8).map(byte).collect();
        seal_ip(&mut bytes);
        bytes
    }

    /// The whole frame.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.headers(self.payload.len());
        bytes.extend(&self.payload);
        let checksum = icrc(&bytes);
        bytes.extend(checksum);
        bytes
    }
}

/// Makes the IPv4 header's checksum right.
pub fn seal_ip(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let mut sum: u64 = 0;
    for pair in frame[14..34].chunks(2) {
        sum += u64::from(pair[0]) * 256 + u64::from(pair[1]);
        sum = sum % 65536 + sum / 65536;
    }
    frame[24..26].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// Makes the ICRC right.
pub fn seal(frame: &mut [u8]) {
    let end = frame.len() - 4;
    let checksum = icrc(&frame[..end]);
    frame[end..].copy_from_slice(&checksum);
}

/// The ICRC over a frame that has none yet, bit by bit.
pub fn icrc(frame: &[u8]) -> [u8; 4] {
    let mut crc = u32::MAX;
    for (place, &byte) in frame.iter().enumerate().skip(14) {
        let masked = [15, 22, 24, 25, 40, 41].contains(&place);
        crc ^= u32::from(if masked { 0xff } else { byte });
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    (!crc).to_le_bytes()
}

/// The beat that begins with these bytes, at most as many as it has lanes; the other lanes are zero.
pub fn beat_of(bytes: &[u8]) -> Beat {
    let mut beat = Beat::ZERO;
    for (lane, byte) in bytes.iter().enumerate() {
        beat.data[lane / 8] |= u64::from(*byte) << (lane % 8 * 8);
    }
    beat
}

/// The bytes of the first `lanes` lanes.
pub fn bytes_of(beat: &Beat, lanes: usize) -> Vec<u8> {
    let bytes = beat.data.iter().flat_map(|limb| limb.to_le_bytes());
    bytes.take(lanes).collect()
}

/// The lowest `count` bits set, 0 to 64.
pub fn ones(count: usize) -> u64 {
    (0..count).fold(0, |bits, bit| bits | 1 << bit)
}

/// A header for each stream of the deparser, not offered, with random fields as wide as the profile's ports.
pub fn random_headers(random: &mut ChaCha8Rng, params: &Params) -> deparser::Inputs {
    let lanes = params.lanes();
    let timestamp = u32::MAX >> (32 - params.timestamp_bits);
    let psn = u32::MAX >> (32 - params.psn_bits);
    let payload_bytes = match random.random_range(0..8) {
        0 => 0,
        1 => params.mtu_bytes,
        2 => params.mtu_bytes - random.random_range(0..2 * lanes),
        _ => random.random_range(0..=3 * lanes),
    };
    let acks = [opcode::ACK, opcode::NAK];
    let datas = [
        opcode::WRITE,
        opcode::WRITE_IMMEDIATE,
        opcode::SEND,
        opcode::SEND_IMMEDIATE,
        opcode::PROBE,
    ];
    let mut inputs = deparser::Inputs {
        s_axis_data_destination_mac: random.random::<u64>() >> 16,
        s_axis_data_source_mac: random.random::<u64>() >> 16,
        s_axis_data_source_address: random.random(),
        s_axis_data_destination_address: random.random(),
        s_axis_data_source_port: random.random(),
        s_axis_data_dscp: random.random_range(0..64),
        s_axis_data_plane: random.random_range(0..params.planes) as u8,
        s_axis_data_opcode: datas[random.random_range(0..datas.len())],
        s_axis_data_flags: random.random_range(0..16),
        s_axis_data_connection: random.random::<u32>() >> 8,
        s_axis_data_path: random.random_range(0..params.paths) as u8,
        s_axis_data_psn: random.random::<u32>() & psn,
        s_axis_data_timestamp: random.random::<u32>() & timestamp,
        s_axis_data_payload_bytes: payload_bytes as u16,
        s_axis_data_stream: random.random(),
        s_axis_data_message: random.random::<u32>() >> 8,
        s_axis_data_message_length: random.random(),
        s_axis_data_offset: random.random(),
        s_axis_data_immediate: random.random(),
        s_axis_data_key: random.random(),
        s_axis_data_address: random.random(),
        s_axis_data_receive: random.random::<u32>() >> 8,
        s_axis_ack_destination_mac: random.random::<u64>() >> 16,
        s_axis_ack_source_mac: random.random::<u64>() >> 16,
        s_axis_ack_source_address: random.random(),
        s_axis_ack_destination_address: random.random(),
        s_axis_ack_source_port: random.random(),
        s_axis_ack_dscp: random.random_range(0..64),
        s_axis_ack_plane: random.random_range(0..params.planes) as u8,
        s_axis_ack_opcode: acks[random.random_range(0..2)],
        s_axis_ack_connection: random.random::<u32>() >> 8,
        s_axis_ack_path: random.random_range(0..params.paths) as u8,
        s_axis_ack_timestamp: random.random::<u32>() & timestamp,
        s_axis_ack_psn: random.random::<u32>() & psn,
        s_axis_ack_echo: random.random::<u32>() & timestamp,
        s_axis_ack_hold: random.random(),
        s_axis_ack_packets: random.random(),
        s_axis_ack_marked: random.random(),
        s_axis_ack_hint: random.random_range(0..1 << 12),
        s_axis_ack_window_state: random.random_range(0..16),
        s_axis_ack_stream: random.random(),
        s_axis_ack_message: random.random::<u32>() >> 8,
        s_axis_ack_code: random.random(),
        ..Default::default()
    };
    for bit in 0..params.sack_bits as usize {
        inputs.s_axis_ack_vector.set(bit, random.random());
    }
    inputs
}

/// The beats of a frame: lanes, `tkeep`, `tlast`.
pub fn beats_of(frame: &[u8], lanes: usize) -> Vec<(Beat, u64, bool)> {
    let count = frame.len().div_ceil(lanes).max(1);
    (0..count)
        .map(|k| {
            let bytes = &frame[k * lanes..frame.len().min((k + 1) * lanes)];
            (beat_of(bytes), ones(bytes.len()), k + 1 == count)
        })
        .collect()
}
