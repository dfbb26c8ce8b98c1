//! Packets to frames and frames to packets, by the table: this file says which value goes into which field, and nowhere
//! where a field stands.

use super::icrc::icrc;
use super::packet::{Ack, Base, Body, Data, Nak, Packet, Route, Target};
use super::table::{
    ACK, BASE, COMMON, DATA, ETHERNET, ICRC_BYTES, IPV4, NAK, Position, SEND_TARGET, UDP, WRITE_TARGET, get,
    position, set,
};
use super::{DropReason, Opcode, table};
use std::ops::Range;

/// Where the fields stand.
pub(crate) mod at {
    use super::*;

    pub const DESTINATION_MAC: Position = position(COMMON, &ETHERNET, "destination_mac");
    pub const SOURCE_MAC: Position = position(COMMON, &ETHERNET, "source_mac");
    pub const ETHER_TYPE: Position = position(COMMON, &ETHERNET, "ether_type");

    pub const VERSION: Position = position(COMMON, &IPV4, "version");
    pub const HEADER_LENGTH: Position = position(COMMON, &IPV4, "header_length");
    pub const DSCP: Position = position(COMMON, &IPV4, "dscp");
    pub const ECN: Position = position(COMMON, &IPV4, "ecn");
    pub const TOTAL_LENGTH: Position = position(COMMON, &IPV4, "total_length");
    pub const FRAGMENT_FLAGS: Position = position(COMMON, &IPV4, "fragment_flags");
    pub const FRAGMENT_OFFSET: Position = position(COMMON, &IPV4, "fragment_offset");
    pub const PROTOCOL: Position = position(COMMON, &IPV4, "protocol");
    pub const HEADER_CHECKSUM: Position = position(COMMON, &IPV4, "header_checksum");
    pub const SOURCE_ADDRESS: Position = position(COMMON, &IPV4, "source_address");
    pub const DESTINATION_ADDRESS: Position = position(COMMON, &IPV4, "destination_address");

    pub const SOURCE_PORT: Position = position(COMMON, &UDP, "source_port");
    pub const DESTINATION_PORT: Position = position(COMMON, &UDP, "destination_port");
    pub const UDP_LENGTH: Position = position(COMMON, &UDP, "udp_length");

    pub const WIRE_VERSION: Position = position(COMMON, &BASE, "wire_version");
    pub const FLAGS: Position = position(COMMON, &BASE, "flags");
    pub const OPCODE: Position = position(COMMON, &BASE, "opcode");
    pub const CONNECTION: Position = position(COMMON, &BASE, "connection");
    pub const PATH: Position = position(COMMON, &BASE, "path");
    pub const PSN: Position = position(COMMON, &BASE, "psn");
    pub const TIMESTAMP: Position = position(COMMON, &BASE, "timestamp");

    pub const STREAM: Position = Opcode::Write.position(&DATA, "stream");
    pub const MESSAGE: Position = Opcode::Write.position(&DATA, "message");
    pub const MESSAGE_LENGTH: Position = Opcode::Write.position(&DATA, "message_length");
    pub const OFFSET: Position = Opcode::Write.position(&DATA, "offset");
    pub const IMMEDIATE: Position = Opcode::Write.position(&DATA, "immediate");
    pub const KEY: Position = Opcode::Write.position(&WRITE_TARGET, "key");
    pub const ADDRESS: Position = Opcode::Write.position(&WRITE_TARGET, "address");
    pub const RECEIVE: Position = Opcode::Send.position(&SEND_TARGET, "receive");

    const VECTOR: Position = Opcode::Ack.position(&ACK, "vector");
    /// The vector in words of 64 bits, that of bit 0 first.
    pub const VECTOR_WORDS: [Position; 4] = [vector_word(0), vector_word(1), vector_word(2), vector_word(3)];
    pub const ECHO: Position = Opcode::Ack.position(&ACK, "echo");
    pub const HOLD: Position = Opcode::Ack.position(&ACK, "hold");
    pub const PACKETS: Position = Opcode::Ack.position(&ACK, "packets");
    pub const MARKED: Position = Opcode::Ack.position(&ACK, "marked");
    pub const HINT: Position = Opcode::Ack.position(&ACK, "hint");
    pub const WINDOW_STATE: Position = Opcode::Ack.position(&ACK, "window_state");

    pub const NAK_STREAM: Position = Opcode::Nak.position(&NAK, "stream");
    pub const NAK_MESSAGE: Position = Opcode::Nak.position(&NAK, "message");
    pub const NAK_CODE: Position = Opcode::Nak.position(&NAK, "code");

    const fn vector_word(word: usize) -> Position {
        Position {
            bit: VECTOR.bit + VECTOR.bits - 64 * (word + 1),
            bits: 64,
        }
    }
}

pub(crate) const IPV4_START: usize = ETHERNET.bytes();
pub(crate) const UDP_START: usize = IPV4_START + IPV4.bytes();
/// Of `fragment_flags`.
const MORE_FRAGMENTS: u64 = 1;
/// Bytes of the shortest frame of Ethernet (IEEE 802.3, clause 4A.4.2) without its frame check sequence.
const LEAST_FRAME_BYTES: usize = 60;

/// Who a frame must be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Its IPv4 address.
    pub address: u32,
    /// Parameter `udp_port` of the profile.
    pub udp_port: u16,
    /// Parameter `max_packet_bytes` of the profile: the longest frame, ICRC included.
    pub max_packet_bytes: usize,
}

impl Packet {
    /// The whole frame, from the Ethernet header to the ICRC.
    ///
    /// # Panics
    /// When a packet without data is given a payload, or the frame is too long for the length fields (payloads from
    /// 65458 bytes on).
    pub fn encode(&self, payload: &[u8], udp_port: u16) -> Vec<u8> {
        let opcode = self.opcode();
        assert!(
            opcode.is_data() || payload.is_empty(),
            "{} has no payload, and was given {} bytes",
            opcode.name(),
            payload.len()
        );
        let mut frame = Vec::with_capacity(opcode.least_frame_bytes() + payload.len());
        frame.resize(opcode.header_bytes(), 0);
        put_constants(opcode, &mut frame);
        set(&mut frame, at::OPCODE, opcode.value().into());
        self.base.put(&mut frame);
        match &self.body {
            Body::Data(data) => data.put(&mut frame),
            Body::Ack(ack) => ack.put(&mut frame),
            Body::Nak(nak) => nak.put(&mut frame),
            Body::Probe => {}
        }
        self.route.put(&mut frame);
        let ip_bytes = opcode.least_frame_bytes() + payload.len() - IPV4_START;
        assert!(
            ip_bytes <= usize::from(u16::MAX),
            "a payload of {} bytes does not fit in IPv4",
            payload.len()
        );
        set(&mut frame, at::TOTAL_LENGTH, ip_bytes as u64);
        set(&mut frame, at::UDP_LENGTH, (ip_bytes - IPV4.bytes()) as u64);
        set(&mut frame, at::DESTINATION_PORT, udp_port.into());
        let checksum = !internet_sum(&frame[IPV4_START..UDP_START]);
        set(&mut frame, at::HEADER_CHECKSUM, checksum.into());
        frame.extend(payload);
        let icrc = icrc(&frame);
        frame.extend(icrc.to_le_bytes());
        frame
    }

    /// The packet in a frame and where its payload is, or the first reason to drop the frame. Any bytes may be given.
    /// Reserved fields and flags, addresses of the MACs, time to live, identification and UDP checksum are ignored.
    pub fn decode(frame: &[u8], receiver: &Receiver) -> Result<(Packet, Range<usize>), DropReason> {
        if frame.len() < LEAST_FRAME_BYTES {
            return Err(DropReason::Truncated);
        }
        if get(frame, at::ETHER_TYPE) != ETHERNET.constant("ether_type") {
            return Err(DropReason::NotIpv4);
        }
        if !good_ipv4(frame) {
            return Err(DropReason::IpHeader);
        }
        if get(frame, at::DESTINATION_ADDRESS) != receiver.address.into() {
            return Err(DropReason::Address);
        }
        if get(frame, at::DESTINATION_PORT) != receiver.udp_port.into() {
            return Err(DropReason::Port);
        }
        if get(frame, at::TOTAL_LENGTH) != (frame.len() - IPV4_START) as u64
            || get(frame, at::UDP_LENGTH) != (frame.len() - UDP_START) as u64
            || frame.len() > receiver.max_packet_bytes
        {
            return Err(DropReason::Length);
        }
        if get(frame, at::WIRE_VERSION) != BASE.constant("wire_version") {
            return Err(DropReason::Version);
        }
        let opcode = Opcode::from_value(get(frame, at::OPCODE) as u8)
            .filter(|opcode| !opcode.is_reserved())
            .ok_or(DropReason::Opcode)?;
        let least = opcode.least_frame_bytes();
        if frame.len() < least || frame.len() > least && !opcode.is_data() {
            return Err(DropReason::Size);
        }
        // The size was checked, so there are four bytes to split off.
        let (covered, sent) = frame.split_at(frame.len() - ICRC_BYTES);
        if sent != icrc(covered).to_le_bytes() {
            return Err(DropReason::Icrc);
        }
        let packet = Packet {
            route: Route::get(frame),
            base: Base::get(frame),
            body: Body::get(opcode, frame),
        };
        Ok((packet, opcode.header_bytes()..covered.len()))
    }
}

/// Writes the fields that are always the same.
pub(crate) fn put_constants(opcode: Opcode, frame: &mut [u8]) {
    let mut bit = 0;
    for field in opcode.headers().iter().flat_map(|header| header.fields) {
        let bits = field.bits;
        // The frame is all zero, so a zero need not be written, however wide its field.
        if let Some(value) = field.constant.filter(|&value| value != 0) {
            set(frame, Position { bit, bits }, value);
        }
        bit += bits;
    }
}

fn good_ipv4(frame: &[u8]) -> bool {
    get(frame, at::VERSION) == IPV4.constant("version")
        && get(frame, at::HEADER_LENGTH) == IPV4.constant("header_length")
        && get(frame, at::FRAGMENT_FLAGS) & MORE_FRAGMENTS == 0
        && get(frame, at::FRAGMENT_OFFSET) == IPV4.constant("fragment_offset")
        && get(frame, at::PROTOCOL) == IPV4.constant("protocol")
        && internet_sum(&frame[IPV4_START..UDP_START]) == u16::MAX
}

/// The one's complement sum of 16-bit words (RFC 1071). Over a header with its checksum it is all ones.
pub(crate) fn internet_sum(header: &[u8]) -> u16 {
    let (words, _) = header.as_chunks::<2>();
    let sum: u32 = words
        .iter()
        .map(|&word| u32::from(u16::from_be_bytes(word)))
        .sum();
    // The second addition takes in the carry of the first; a third cannot carry.
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

impl Route {
    fn put(&self, frame: &mut [u8]) {
        set(frame, at::DESTINATION_MAC, self.destination_mac);
        set(frame, at::SOURCE_MAC, self.source_mac);
        set(frame, at::DSCP, self.dscp.into());
        set(frame, at::ECN, self.ecn.into());
        set(frame, at::SOURCE_ADDRESS, self.source_address.into());
        set(frame, at::DESTINATION_ADDRESS, self.destination_address.into());
        set(frame, at::SOURCE_PORT, self.source_port.into());
    }

    fn get(frame: &[u8]) -> Self {
        Self {
            destination_mac: get(frame, at::DESTINATION_MAC),
            source_mac: get(frame, at::SOURCE_MAC),
            dscp: get(frame, at::DSCP) as u8,
            ecn: get(frame, at::ECN) as u8,
            source_address: get(frame, at::SOURCE_ADDRESS) as u32,
            destination_address: get(frame, at::DESTINATION_ADDRESS) as u32,
            source_port: get(frame, at::SOURCE_PORT) as u16,
        }
    }
}

impl Base {
    fn put(&self, frame: &mut [u8]) {
        let flags =
            u64::from(self.last) << table::LAST.bit | u64::from(self.acknowledge) << table::ACKNOWLEDGE.bit;
        set(frame, at::FLAGS, flags);
        set(frame, at::CONNECTION, self.connection.into());
        set(frame, at::PATH, self.path.into());
        set(frame, at::PSN, self.psn.into());
        set(frame, at::TIMESTAMP, self.timestamp.into());
    }

    fn get(frame: &[u8]) -> Self {
        let flags = get(frame, at::FLAGS);
        Self {
            last: flags >> table::LAST.bit & 1 == 1,
            acknowledge: flags >> table::ACKNOWLEDGE.bit & 1 == 1,
            connection: get(frame, at::CONNECTION) as u32,
            path: get(frame, at::PATH) as u8,
            psn: get(frame, at::PSN) as u32,
            timestamp: get(frame, at::TIMESTAMP) as u32,
        }
    }
}

impl Body {
    /// The opcode is not a reserved one: those have been dropped.
    fn get(opcode: Opcode, frame: &[u8]) -> Self {
        match opcode {
            Opcode::Ack => Self::Ack(Ack::get(frame)),
            Opcode::Nak => Self::Nak(Nak::get(frame)),
            Opcode::Probe => Self::Probe,
            _ => Self::Data(Data::get(opcode, frame)),
        }
    }
}

impl Data {
    fn put(&self, frame: &mut [u8]) {
        set(frame, at::STREAM, self.stream.into());
        set(frame, at::MESSAGE, self.message.into());
        set(frame, at::MESSAGE_LENGTH, self.message_length.into());
        set(frame, at::OFFSET, self.offset.into());
        set(frame, at::IMMEDIATE, self.immediate.unwrap_or(0).into());
        match self.target {
            Target::Write { key, address } => {
                set(frame, at::KEY, key.into());
                set(frame, at::ADDRESS, address);
            }
            Target::Send { receive } => set(frame, at::RECEIVE, receive.into()),
        }
    }

    fn get(opcode: Opcode, frame: &[u8]) -> Self {
        let with_immediate = matches!(opcode, Opcode::WriteImmediate | Opcode::SendImmediate);
        Self {
            stream: get(frame, at::STREAM) as u16,
            message: get(frame, at::MESSAGE) as u32,
            message_length: get(frame, at::MESSAGE_LENGTH) as u32,
            offset: get(frame, at::OFFSET) as u32,
            immediate: with_immediate.then(|| get(frame, at::IMMEDIATE) as u32),
            target: match opcode {
                Opcode::Send | Opcode::SendImmediate => Target::Send {
                    receive: get(frame, at::RECEIVE) as u32,
                },
                _ => Target::Write {
                    key: get(frame, at::KEY) as u32,
                    address: get(frame, at::ADDRESS),
                },
            },
        }
    }
}

impl Ack {
    fn put(&self, frame: &mut [u8]) {
        for (at, word) in at::VECTOR_WORDS.into_iter().zip(self.vector.data) {
            set(frame, at, word);
        }
        set(frame, at::ECHO, self.echo.into());
        set(frame, at::HOLD, self.hold.into());
        set(frame, at::PACKETS, self.packets.into());
        set(frame, at::MARKED, self.marked.into());
        set(frame, at::HINT, self.hint.into());
        set(frame, at::WINDOW_STATE, self.window_state.into());
    }

    fn get(frame: &[u8]) -> Self {
        Self {
            vector: at::VECTOR_WORDS.map(|at| get(frame, at)).into(),
            echo: get(frame, at::ECHO) as u32,
            hold: get(frame, at::HOLD) as u16,
            packets: get(frame, at::PACKETS) as u16,
            marked: get(frame, at::MARKED) as u16,
            hint: get(frame, at::HINT) as u16,
            window_state: get(frame, at::WINDOW_STATE) as u8,
        }
    }
}

impl Nak {
    fn put(&self, frame: &mut [u8]) {
        set(frame, at::NAK_STREAM, self.stream.into());
        set(frame, at::NAK_MESSAGE, self.message.into());
        set(frame, at::NAK_CODE, self.code.into());
    }

    fn get(frame: &[u8]) -> Self {
        Self {
            stream: get(frame, at::NAK_STREAM) as u16,
            message: get(frame, at::NAK_MESSAGE) as u32,
            code: get(frame, at::NAK_CODE) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071, section 3, and a sum whose carry carries again.
    #[test]
    fn sums_are_ones_complement() {
        assert_eq!(
            internet_sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]),
            0xddf2
        );
        assert_eq!(internet_sum(&[0xff, 0xff, 0x00, 0x01, 0xff, 0xff]), 1);
    }
}
