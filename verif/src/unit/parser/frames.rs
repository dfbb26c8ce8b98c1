//! Frames for `parser`: good ones, ones that are wrong in one way or two, and bytes without sense.
//!
//! A frame begins as random bytes, so that no field, reserved ones included, is like another; then only what a receiver looks at is written.

use crate::stimulus::Random;
use metaroce_model::{
    Params,
    port::parser::{HEADER_BYTES, ICRC_BYTES, drop},
    wire::{
        self, Opcode, Packet, Receiver,
        table::{BASE, ETHERNET, IPV4, Position, UDP},
    },
};
use rand::{Rng, RngExt};

/// Where the fields stand that a receiver looks at.
mod at {
    use super::*;

    const fn common(header: &wire::table::Header, field: &str) -> Position {
        Opcode::Probe.position(header, field)
    }

    pub const ETHER_TYPE: Position = common(&ETHERNET, "ether_type");
    pub const VERSION: Position = common(&IPV4, "version");
    pub const HEADER_LENGTH: Position = common(&IPV4, "header_length");
    pub const TOTAL_LENGTH: Position = common(&IPV4, "total_length");
    pub const FRAGMENT_FLAGS: Position = common(&IPV4, "fragment_flags");
    pub const FRAGMENT_OFFSET: Position = common(&IPV4, "fragment_offset");
    pub const PROTOCOL: Position = common(&IPV4, "protocol");
    pub const HEADER_CHECKSUM: Position = common(&IPV4, "header_checksum");
    pub const SOURCE_ADDRESS: Position = common(&IPV4, "source_address");
    pub const DESTINATION_ADDRESS: Position = common(&IPV4, "destination_address");
    pub const SOURCE_PORT: Position = common(&UDP, "source_port");
    pub const DESTINATION_PORT: Position = common(&UDP, "destination_port");
    pub const UDP_LENGTH: Position = common(&UDP, "udp_length");
    pub const WIRE_VERSION: Position = common(&BASE, "wire_version");
    pub const OPCODE: Position = common(&BASE, "opcode");
    pub const CONNECTION: Position = common(&BASE, "connection");
    pub const PATH: Position = common(&BASE, "path");
    pub const PSN: Position = common(&BASE, "psn");
    pub const TIMESTAMP: Position = common(&BASE, "timestamp");
}

const IPV4_START: usize = ETHERNET.bytes();
const UDP_START: usize = IPV4_START + IPV4.bytes();
const SHORTEST: usize = 60;
/// Headers and checksum of a packet of data.
pub const OVERHEAD: usize = (HEADER_BYTES + ICRC_BYTES) as usize;

/// The opcodes of data, and those that a receiver takes.
const DATA: [Opcode; 4] = [
    Opcode::Write,
    Opcode::WriteImmediate,
    Opcode::Send,
    Opcode::SendImmediate,
];

macro_rules! causes {
    ($($cause:ident: $reason:ident = $name:literal),+ $(,)?) => {
        /// A way in which a frame is wrong, or strange and good.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Cause { $($cause),+ }

        /// Each with the verdict that it leads to, and its name.
        pub const CAUSES: [(Cause, u8, &str); [$($name),+].len()] = [$((Cause::$cause, drop::$reason, $name)),+];
    };
}

causes! {
    Masked: NONE = "good, what the checksum leaves out was changed on the way",
    ChecksumZero: NONE = "good, IPv4 header checksum 0",
    ChecksumOnes: NONE = "good, IPv4 header checksum 0xffff",
    Bad: BAD = "found damaged by the MAC",
    Short: TRUNCATED = "shorter than 60 bytes, its lengths true",
    EtherType: NOT_IPV4 = "another ether_type",
    IpVersion: IP_HEADER = "another IPv4 version",
    HeaderLength: IP_HEADER = "another IPv4 header_length",
    MoreFragments: IP_HEADER = "more fragments",
    FragmentOffset: IP_HEADER = "a fragment_offset",
    Protocol: IP_HEADER = "another protocol",
    HeaderChecksum: IP_HEADER = "a wrong IPv4 header checksum",
    Address: ADDRESS = "another destination_address",
    OtherPlane: ADDRESS = "the destination_address of another plane",
    NoAddress: ADDRESS = "destination_address 0 on a plane without address",
    Port: PORT = "another destination_port",
    TotalLength: LENGTH = "a wrong total_length",
    UdpLength: LENGTH = "a wrong udp_length",
    Padded: LENGTH = "bytes behind the checksum",
    TooLong: LENGTH = "longer than max_packet_bytes",
    OneTooLong: LENGTH = "one byte longer than max_packet_bytes",
    FarTooLong: LENGTH = "far longer than max_packet_bytes",
    LongAndTrue: LENGTH = "longer by 2^16 bytes than its lengths say",
    Version: VERSION = "another wire_version",
    Reserved: OPCODE = "a reserved opcode",
    Unknown: OPCODE = "an unknown opcode",
    DataShort: SIZE = "data without all its headers",
    AckShort: SIZE = "a short ACK",
    AckLong: SIZE = "a long ACK",
    NakShort: SIZE = "a short NAK",
    NakLong: SIZE = "a long NAK",
    ProbeLong: SIZE = "a long PROBE",
    Connection: SIZE = "a connection that the profile does not have",
    Path: SIZE = "a path that the profile does not have",
    Icrc: ICRC = "a wrong checksum",
    Covered: ICRC = "a wrong bit that only the checksum covers",
    // Not in every profile.
    PayloadLong: SIZE = "more payload than mtu_bytes",
    Psn: SIZE = "a PSN that the profile cannot count",
}

/// What a frame is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Good.
    Good,
    /// Like this in one way.
    One(Cause),
    /// Wrong in two ways.
    Two(Cause, Cause),
    /// Good, but for this bit.
    Flip(usize),
    /// Good, but cut off at this byte, its lengths those of the rest if `corrected`.
    Cut {
        /// Bytes that are left.
        bytes: usize,
        /// Lengths and header checksum are true.
        corrected: bool,
    },
    /// Bytes without sense.
    Random,
}

/// Payload lengths of a phase.
#[derive(Clone, Copy, Debug, Default)]
pub enum Lengths {
    /// None or a few bytes, or a beat more or less.
    #[default]
    Edges,
    /// Up to twelve beats.
    Short,
    /// Only packets that have none: acknowledgements and probes.
    NoData,
    /// Near `mtu_bytes`.
    Packets,
    /// All.
    Any,
}

/// A frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The plane on which it comes.
    pub plane: u8,
    /// The MAC's opinion of it.
    pub bad: bool,
    /// What it was made to be like.
    pub kind: Kind,
    /// It was made as a packet of data.
    pub data: bool,
    /// Its last beat holds no byte.
    pub empty_tail: bool,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            plane: 0,
            bad: false,
            kind: Kind::Good,
            data: false,
            empty_tail: false,
        }
    }
}

impl Frame {
    /// Its beats on a bus of `lanes` bytes.
    pub fn beats(&self, lanes: usize) -> usize {
        self.bytes.len().div_ceil(lanes) + usize::from(self.empty_tail)
    }

    /// The opcode that it has, or seems to have.
    pub fn opcode(&self) -> Option<Opcode> {
        let byte = self.bytes.get(at::OPCODE.first_byte())?;
        Opcode::from_value(*byte)
    }

    /// What it is addressed to.
    pub fn destination(&self) -> u32 {
        let start = at::DESTINATION_ADDRESS.first_byte();
        (self.bytes.get(start..start + 4)).map_or(0, |bytes| {
            bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte))
        })
    }

    /// What a receiver with that address must find, by the codec and what the profile adds to it.
    pub fn verdict(&self, address: u32, params: &Params) -> u8 {
        if self.bad {
            return drop::BAD;
        }
        let receiver = Receiver {
            address,
            udp_port: params.udp_port as u16,
            max_packet_bytes: params.max_packet_bytes as usize,
        };
        let verdict =
            Packet::decode(&self.bytes, &receiver).map_or_else(|reason| reason.value(), |_| drop::NONE);
        if address == 0 && verdict > drop::ADDRESS {
            drop::ADDRESS
        } else if verdict > drop::SIZE && !self.fits(params) {
            drop::SIZE
        } else {
            verdict
        }
    }

    /// The profile has room for its payload and numbers.
    fn fits(&self, params: &Params) -> bool {
        let numbers = [
            (at::CONNECTION, params.connection_bits()),
            (at::PATH, params.path_bits()),
            (at::PSN, params.psn_bits),
        ];
        self.bytes.len() <= OVERHEAD + params.mtu_bytes as usize
            && numbers
                .iter()
                .all(|&(at, bits)| get(&self.bytes, at) >> bits == 0)
    }
}

/// Makes frames.
pub struct Maker {
    params: Params,
    lanes: usize,
}

/// What is written into a frame of random bytes.
struct Recipe {
    opcode: u8,
    length: usize,
    /// The length that `total_length` and `udp_length` are computed from, and errors of theirs.
    told: usize,
    total_error: u16,
    udp_error: u16,
    ether_type: u16,
    version: u8,
    header_length: u8,
    fragment_flags: u8,
    fragment_offset: u16,
    protocol: u8,
    /// The IPv4 header's other words are such that the checksum is 0 or all ones.
    checksum: Option<u16>,
    checksum_error: u16,
    destination: u32,
    port: u16,
    wire_version: u8,
    connection: u32,
    path: u32,
    psn: u32,
    icrc_error: u32,
    /// A bit that is wrong in the end.
    flip: Option<usize>,
    masked: bool,
    padding: usize,
    bad: bool,
}

impl Maker {
    /// Frames for a NIC of that profile.
    pub fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            lanes: params.lanes() as usize,
        }
    }

    /// The ways in which frames of this profile can be.
    pub fn possible(params: &Params) -> usize {
        let missing = [
            params.mtu_bytes + OVERHEAD as u32 >= params.max_packet_bytes,
            params.psn_bits >= 24,
        ];
        // Both stand at the end; one that is there without the other is left out with it.
        CAUSES.len() - if missing[0] { 2 } else { usize::from(missing[1]) }
    }

    /// Makes `frame` anew: of that kind, for the plane of that number and what `addresses` says of it.
    pub fn make(
        &self,
        frame: &mut Frame,
        kind: Kind,
        lengths: Lengths,
        addresses: &[u32],
        random: &mut Random,
    ) {
        let plane = random.random_range(0..addresses.len());
        let only_data = matches!(kind, Kind::Cut { .. })
            || matches!(kind, Kind::Flip(bit) if bit < 8 * HEADER_BYTES as usize);
        let mut recipe = self.good(lengths, only_data, addresses[plane], random);
        let causes = match kind {
            Kind::One(cause) => [Some(cause), None],
            Kind::Two(first, second) => [Some(first), Some(second)],
            _ => [None, None],
        };
        for cause in causes.into_iter().flatten() {
            self.spoil(&mut recipe, cause, plane, addresses, random);
        }
        frame.kind = kind;
        frame.plane = plane as u8;
        frame.data = DATA.iter().any(|opcode| opcode.value() == recipe.opcode);
        self.render(&recipe, &mut frame.bytes, random);
        frame.bad = recipe.bad;
        match kind {
            Kind::Flip(bit) => {
                let bit = bit % (8 * frame.bytes.len());
                frame.bytes[bit / 8] ^= 0x80 >> (bit % 8);
                frame.kind = Kind::Flip(bit);
            }
            Kind::Cut { bytes, corrected } => {
                frame.bytes.truncate(bytes);
                if corrected {
                    put_lengths(&mut frame.bytes, bytes);
                    put_checksum(&mut frame.bytes);
                }
            }
            Kind::Random => {
                // Sometimes the beginning makes sense.
                let sense = [0, 0, 14, 34, 42, 46][random.random_range(0..6)].min(frame.bytes.len());
                random.fill_bytes(&mut frame.bytes[sense..]);
                frame.bytes.truncate(random.random_range(0..200));
            }
            _ => {}
        }
        frame.empty_tail = frame.bytes.is_empty()
            || frame.bytes.len().is_multiple_of(self.lanes) && random.random_range(0..4) == 0;
    }

    fn good(&self, lengths: Lengths, only_data: bool, destination: u32, random: &mut Random) -> Recipe {
        let (params, lanes) = (&self.params, self.lanes);
        let mtu = params.mtu_bytes as usize;
        let opcode = match random.random_range(0..8) {
            other if only_data => DATA[other % 4],
            0..=4 if matches!(lengths, Lengths::NoData) => Opcode::Probe,
            5 => Opcode::Ack,
            6 => Opcode::Nak,
            7 => Opcode::Probe,
            other => DATA[other % 4],
        };
        let payload = match lengths {
            _ if !opcode.is_data() => 0,
            Lengths::NoData => 0,
            Lengths::Edges => [0, 0, 1, 2, 3, 4, 5, lanes - 1, lanes, lanes + 1][random.random_range(0..10)],
            Lengths::Short => random.random_range(0..=12 * lanes),
            Lengths::Packets => mtu - [0, 0, 1, random.random_range(0..lanes)][random.random_range(0..4)],
            Lengths::Any => random.random_range(0..=mtu),
        };
        let length = opcode.least_frame_bytes() + payload.min(mtu);
        Recipe {
            opcode: opcode.value(),
            length,
            told: length,
            total_error: 0,
            udp_error: 0,
            ether_type: 0x0800,
            version: 4,
            header_length: 5,
            // Only the lowest of the flags is looked at.
            fragment_flags: 2 * random.random_range(0..4u8),
            fragment_offset: 0,
            protocol: 17,
            checksum: None,
            checksum_error: 0,
            destination,
            port: params.udp_port as u16,
            wire_version: 0,
            connection: random.random_range(0..params.connections),
            path: random.random_range(0..params.paths),
            psn: random.random::<u32>() & (u32::MAX >> (32 - params.psn_bits)),
            icrc_error: 0,
            flip: None,
            masked: false,
            padding: 0,
            bad: false,
        }
    }

    fn spoil(&self, recipe: &mut Recipe, cause: Cause, plane: usize, addresses: &[u32], random: &mut Random) {
        let params = &self.params;
        let (longest, mtu) = (params.max_packet_bytes as usize, params.mtu_bytes as usize);
        let bit = |random: &mut Random, low: u32, high: u32| 1u32 << random.random_range(low..high);
        let mut sized = |opcode: Opcode, length: usize| {
            (recipe.opcode, recipe.length, recipe.told) = (opcode.value(), length, length);
        };
        // The nearest and the farthest that is wrong, and what is between.
        let edge = |random: &mut Random, low: usize, high: usize| match random.random_range(0..4) {
            0 => low,
            1 => high,
            _ => random.random_range(low..=high),
        };
        let (ack, nak) = (Opcode::Ack.least_frame_bytes(), Opcode::Nak.least_frame_bytes());
        match cause {
            Cause::Masked => recipe.masked = true,
            Cause::ChecksumZero => recipe.checksum = Some(0),
            Cause::ChecksumOnes => recipe.checksum = Some(0xffff),
            Cause::Bad => recipe.bad = true,
            Cause::Short => {
                recipe.length = edge(random, 0, SHORTEST - 1);
                recipe.told = recipe.length;
            }
            Cause::EtherType => recipe.ether_type ^= bit(random, 0, 16) as u16,
            Cause::IpVersion => recipe.version ^= bit(random, 0, 4) as u8,
            Cause::HeaderLength => recipe.header_length ^= bit(random, 0, 4) as u8,
            Cause::MoreFragments => recipe.fragment_flags |= 1,
            Cause::FragmentOffset => recipe.fragment_offset = bit(random, 0, 13) as u16,
            Cause::Protocol => recipe.protocol ^= bit(random, 0, 8) as u8,
            Cause::HeaderChecksum => recipe.checksum_error = bit(random, 0, 16) as u16,
            Cause::Address => recipe.destination ^= bit(random, 0, 32),
            Cause::OtherPlane => {
                let other = (plane + 1) % addresses.len();
                recipe.destination = addresses[other];
            }
            Cause::NoAddress => recipe.destination = 0,
            Cause::Port => recipe.port ^= bit(random, 0, 16) as u16,
            Cause::TotalLength => recipe.total_error = wrong(random),
            Cause::UdpLength => recipe.udp_error = wrong(random),
            Cause::Padded => recipe.padding = random.random_range(1..=2 * self.lanes),
            Cause::TooLong => sized(
                DATA[random.random_range(0..4)],
                random.random_range(longest + 1..=2 * longest),
            ),
            Cause::OneTooLong => sized(DATA[random.random_range(0..4)], longest + 1),
            Cause::FarTooLong => {
                // Whatever the width of a counter of bytes or beats, it passes its end.
                let more = bit(random, 32 - params.max_packet_bytes.leading_zeros(), 16) as usize;
                recipe.length += more;
                if random.random() {
                    recipe.told = recipe.length;
                }
            }
            Cause::LongAndTrue => recipe.length += 1 << 16,
            Cause::Version => recipe.wire_version = random.random_range(1..16),
            Cause::Reserved => recipe.opcode = random.random_range(4..8),
            Cause::Unknown => {
                recipe.opcode = match random.random_range(0..3) {
                    0 => 0x13,
                    1 => recipe.opcode | 1 << random.random_range(5..8),
                    _ => random.random_range(0x18..=0xff),
                };
            }
            Cause::DataShort => sized(
                DATA[random.random_range(0..4)],
                edge(random, SHORTEST, OVERHEAD - 1),
            ),
            Cause::AckShort => sized(Opcode::Ack, edge(random, SHORTEST, ack - 1)),
            Cause::AckLong => sized(Opcode::Ack, edge(random, ack + 1, ack + 2 * self.lanes)),
            Cause::NakShort => sized(Opcode::Nak, edge(random, SHORTEST, nak - 1)),
            Cause::NakLong => sized(Opcode::Nak, edge(random, nak + 1, nak + 2 * self.lanes)),
            Cause::ProbeLong => sized(
                Opcode::Probe,
                edge(random, SHORTEST + 1, SHORTEST + 2 * self.lanes),
            ),
            Cause::Connection => recipe.connection |= bit(random, params.connection_bits(), 24),
            Cause::Path => recipe.path |= bit(random, params.path_bits(), 8),
            Cause::Icrc => recipe.icrc_error = bit(random, 0, 32),
            Cause::Covered => {
                let field = [at::SOURCE_PORT, at::TIMESTAMP, at::PSN][random.random_range(0..3)];
                // The lowest bits, so that a PSN stays one that can be counted.
                recipe.flip = Some(field.bit + field.bits - 1 - random.random_range(0..8));
                if recipe.length > OVERHEAD {
                    recipe.flip = Some(8 * random.random_range(OVERHEAD - 4..recipe.length - 4));
                }
            }
            Cause::PayloadLong => sized(
                DATA[random.random_range(0..4)],
                edge(random, OVERHEAD + mtu + 1, longest),
            ),
            Cause::Psn => recipe.psn |= bit(random, params.psn_bits, 24),
        }
    }

    fn render(&self, recipe: &Recipe, bytes: &mut Vec<u8>, random: &mut Random) {
        bytes.clear();
        match random.random_range(0..16) {
            0 => bytes.resize(recipe.length, 0),
            1 => bytes.resize(recipe.length, 0xff),
            _ => {
                bytes.resize(recipe.length, 0);
                random.fill_bytes(bytes);
            }
        }
        let fields = [
            (at::ETHER_TYPE, u32::from(recipe.ether_type)),
            (at::VERSION, recipe.version.into()),
            (at::HEADER_LENGTH, recipe.header_length.into()),
            (at::FRAGMENT_FLAGS, recipe.fragment_flags.into()),
            (at::FRAGMENT_OFFSET, recipe.fragment_offset.into()),
            (at::PROTOCOL, recipe.protocol.into()),
            (at::DESTINATION_ADDRESS, recipe.destination),
            (at::DESTINATION_PORT, recipe.port.into()),
            (at::WIRE_VERSION, recipe.wire_version.into()),
            (at::OPCODE, recipe.opcode.into()),
            (at::CONNECTION, recipe.connection),
            (at::PATH, recipe.path),
            (at::PSN, recipe.psn),
        ];
        for (at, value) in fields {
            put(bytes, at, value);
        }
        put_lengths(bytes, recipe.told);
        for (at, error) in [
            (at::TOTAL_LENGTH, recipe.total_error),
            (at::UDP_LENGTH, recipe.udp_error),
        ] {
            if error != 0 {
                let value = get(bytes, at) ^ u32::from(error);
                put(bytes, at, value);
            }
        }
        if let Some(checksum) = recipe.checksum {
            // The low half of the source address takes what is missing to a sum of all ones.
            let low = at::SOURCE_ADDRESS.first_byte() + 2;
            if bytes.len() >= low + 2 {
                bytes[low..low + 2].fill(0);
                put_checksum(bytes);
                let missing = get(bytes, at::HEADER_CHECKSUM) as u16;
                bytes[low..low + 2].copy_from_slice(&missing.to_be_bytes());
                put(bytes, at::HEADER_CHECKSUM, checksum.into());
            }
        } else {
            put_checksum(bytes);
        }
        if recipe.checksum_error != 0 {
            let value = get(bytes, at::HEADER_CHECKSUM) ^ u32::from(recipe.checksum_error);
            put(bytes, at::HEADER_CHECKSUM, value);
        }
        if let Some(covered) = bytes
            .len()
            .checked_sub(4)
            .filter(|&covered| covered >= UDP_START + UDP.bytes())
        {
            let icrc = wire::icrc(&bytes[..covered]) ^ recipe.icrc_error;
            bytes[covered..].copy_from_slice(&icrc.to_le_bytes());
            if recipe.masked {
                for byte in [IPV4_START + 1, IPV4_START + 8, UDP_START + 6, UDP_START + 7] {
                    bytes[byte] = random.random();
                }
                put_checksum(bytes);
            }
        }
        if let Some(bit) = recipe.flip
            && bit / 8 < bytes.len()
        {
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
        }
        bytes.extend((0..recipe.padding).map(|_| random.random::<u8>()));
    }
}

/// What a 16-bit number is wrong by.
fn wrong(random: &mut Random) -> u16 {
    1 << random.random_range(0..16)
}

/// Lengths as if the frame were `told` bytes long.
fn put_lengths(bytes: &mut [u8], told: usize) {
    put(
        bytes,
        at::TOTAL_LENGTH,
        told.wrapping_sub(IPV4_START) as u32 & 0xffff,
    );
    put(
        bytes,
        at::UDP_LENGTH,
        told.wrapping_sub(UDP_START) as u32 & 0xffff,
    );
}

fn put_checksum(bytes: &mut [u8]) {
    put(bytes, at::HEADER_CHECKSUM, 0);
    let Some(header) = bytes.get(IPV4_START..UDP_START) else {
        return;
    };
    let (words, _) = header.as_chunks::<2>();
    let sum: u32 = words
        .iter()
        .map(|&word| u32::from(u16::from_be_bytes(word)))
        .sum();
    // A sum of ten words; it is 0 modulo 0xffff only when it is not 0.
    let sum = match sum % 0xffff {
        0 => 0xffff,
        rest => rest,
    };
    put(bytes, at::HEADER_CHECKSUM, !sum & 0xffff);
}

/// Writes a field of up to 32 bits, if the frame has all of it.
fn put(bytes: &mut [u8], at: Position, value: u32) {
    let Some(bytes) = bytes.get_mut(at.first_byte()..at.end_byte()) else {
        return;
    };
    // Up to 39 bits hold it.
    let below = (8 - (at.bit + at.bits) % 8) % 8;
    let mask = (u64::MAX >> (64 - at.bits)) << below;
    let mut held = bytes.iter().fold(0u64, |held, &byte| held << 8 | u64::from(byte));
    held = held & !mask | u64::from(value) << below & mask;
    for byte in bytes.iter_mut().rev() {
        *byte = held as u8;
        held >>= 8;
    }
}

/// Reads a field of up to 32 bits, 0 if the frame does not have all of it.
fn get(bytes: &[u8], at: Position) -> u32 {
    let Some(bytes) = bytes.get(at.first_byte()..at.end_byte()) else {
        return 0;
    };
    let below = (8 - (at.bit + at.bits) % 8) % 8;
    let held = bytes.iter().fold(0u64, |held, &byte| held << 8 | u64::from(byte));
    (held >> below) as u32 & (u32::MAX >> (32 - at.bits))
}
