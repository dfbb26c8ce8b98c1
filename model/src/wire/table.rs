//! The one table of the wire: every header, every field, every operation code.
//!
//! Encoder, decoder, hardware parser and deparser, the tables of `docs/wire.md` and the Wireshark dissector all come from
//! here. The layout of what stands after UDP is a placeholder of this project until the OCP specification can be read;
//! adopting that is an edit of this file.
//!
//! Fields are in the order of the wire, most significant bit first (network byte order, RFC 791 appendix B).

pub use super::layout::{Field, Header, Position, get, position, set};

const fn field(name: &'static str, bits: usize, doc: &'static str) -> Field {
    let constant = None;
    Field {
        name,
        bits,
        constant,
        doc,
    }
}

const fn constant(name: &'static str, bits: usize, value: u64, doc: &'static str) -> Field {
    Field {
        constant: Some(value),
        ..field(name, bits, doc)
    }
}

/// Ethernet II (IEEE 802.3, clause 3.2), without preamble and frame check sequence.
pub const ETHERNET: Header = Header {
    name: "ethernet",
    doc: "Ethernet II (IEEE 802.3, clause 3.2), without preamble and frame check sequence, which are the MAC's.",
    fields: &[
        field("destination_mac", 48, "MAC address of the next hop."),
        field("source_mac", 48, "MAC address of the sending port."),
        constant("ether_type", 16, 0x0800, "IPv4; a receiver drops all else."),
    ],
};

/// IPv4 without options (RFC 791), with ECN (RFC 3168).
pub const IPV4: Header = Header {
    name: "ipv4",
    doc: "IPv4 without options (RFC 791), with ECN (RFC 3168).",
    fields: &[
        constant("version", 4, 4, "A receiver drops all else."),
        constant(
            "header_length",
            4,
            5,
            "In units of 4 bytes: no options; a receiver drops all else.",
        ),
        field("dscp", 6, "Traffic class (RFC 2474)."),
        field(
            "ecn",
            2,
            "Sent 2, ECT(0); a switch makes it 3, CE, to mark congestion.",
        ),
        field(
            "total_length",
            16,
            "Bytes from the start of this header to the end of the ICRC.",
        ),
        constant(
            "identification",
            16,
            0,
            "Without meaning in a packet that is never fragmented (RFC 6864); ignored.",
        ),
        constant(
            "fragment_flags",
            3,
            2,
            "Don't Fragment; a receiver drops a packet with more fragments (lowest bit).",
        ),
        constant("fragment_offset", 13, 0, "A receiver drops all else."),
        constant("time_to_live", 8, 64, "Hops left; ignored."),
        constant("protocol", 8, 17, "UDP; a receiver drops all else."),
        field("header_checksum", 16, "RFC 1071, over this header."),
        field(
            "source_address",
            32,
            "Address of the sender, on the plane that it sends on.",
        ),
        field("destination_address", 32, "Address of the receiver."),
    ],
};

/// `ecn` as it is sent: ECT(0), ECN-capable transport (RFC 3168, section 5).
pub const ECT0: u8 = 2;
/// `ecn` as a switch marks it: CE, congestion experienced (RFC 3168, section 5).
pub const CE: u8 = 3;

/// UDP (RFC 768).
pub const UDP: Header = Header {
    name: "udp",
    doc: "UDP (RFC 768).",
    fields: &[
        field(
            "source_port",
            16,
            "The entropy of the path, which ECMP hashes; the sender may change it at any time (R2).",
        ),
        field("destination_port", 16, "Parameter `udp_port` of the profile."),
        field(
            "udp_length",
            16,
            "Bytes from the start of this header to the end of the ICRC.",
        ),
        constant(
            "udp_checksum",
            16,
            0,
            "Not used: the ICRC covers more, and better; ignored.",
        ),
    ],
};

/// The base header, in every packet.
pub const BASE: Header = Header {
    name: "base",
    doc: "In every packet.",
    fields: &[
        constant(
            "wire_version",
            4,
            0,
            "Version of this table; a receiver drops all else.",
        ),
        field("flags", 4, "See the flags."),
        field("opcode", 8, "See the opcodes."),
        field("connection", 24, "The receiver's number of the connection."),
        field("path", 8, "Path of the connection (R2)."),
        field(
            "psn",
            24,
            "Packet sequence number, of the path. Data: this packet's. ACK: the lowest that has not arrived. PROBE: the next \
             that the sender will give; a probe takes none. NAK: 0.",
        ),
        field(
            "timestamp",
            32,
            "When the packet was sent, in ticks of the sender's clock; an ACK echoes it.",
        ),
        constant("reserved_base", 8, 0, "Ignored."),
    ],
};

/// What every packet with data has after the base header.
pub const DATA: Header = Header {
    name: "data",
    doc: "After the base header of every packet with data.",
    fields: &[
        field("stream", 16, "Ordered stream of the connection (R10)."),
        field("message", 24, "Number of the message in its stream."),
        field("message_length", 32, "Bytes of the whole message."),
        field("offset", 32, "Bytes of the message before this packet's first."),
        field(
            "immediate",
            32,
            "The immediate of the message, in all its packets; 0 in an operation without.",
        ),
        constant("reserved_data", 24, 0, "Ignored."),
    ],
};

/// Where a Write goes (R5).
pub const WRITE_TARGET: Header = Header {
    name: "write_target",
    doc: "Where the payload of a Write goes (R4, R5), after the data header.",
    fields: &[
        field("key", 32, "Remote key of the memory region."),
        field("address", 64, "Virtual address of this packet's first byte."),
    ],
};

/// Which posted receive a Send takes (R5).
pub const SEND_TARGET: Header = Header {
    name: "send_target",
    doc: "Which posted receive a Send takes (R5), after the data header.",
    fields: &[
        field(
            "receive",
            24,
            "Number of the receive in the stream: Sends of the stream before this one, modulo 2^24.",
        ),
        constant("reserved_send", 72, 0, "Ignored."),
    ],
};

/// The state of one path at its receiver (R6), and the feedback for congestion control (R7).
pub const ACK: Header = Header {
    name: "ack",
    doc: "The state of one path at its receiver (R6), and the feedback for congestion control (R7).",
    fields: &[
        field(
            "vector",
            256,
            "Bit i tells whether the packet whose PSN is congruent to i modulo 256 has arrived, of the 256 from `psn` on. \
             Bit 255 is sent first.",
        ),
        field("echo", 32, "Timestamp of the packet that caused the ACK."),
        field(
            "hold",
            16,
            "Ticks from that packet's arrival to the ACK; 65535 stands for that and more.",
        ),
        field(
            "packets",
            16,
            "Data packets that have arrived on the path, modulo 2^16.",
        ),
        field("marked", 16, "Those of them that were marked CE, modulo 2^16."),
        field(
            "hint",
            12,
            "Rate that the receiver allots to the sender: (bits 7 to 0) * 2^(bits 11 to 8), in 2^-16 bytes a tick.",
        ),
        field(
            "window_state",
            4,
            "State of the receiver's window; 0 until one is defined.",
        ),
        constant("reserved_ack", 32, 0, "Ignored."),
    ],
};

/// Why a message was refused.
pub const NAK: Header = Header {
    name: "nak",
    doc: "Why a message was refused.",
    fields: &[
        field("stream", 16, "Stream of the message."),
        field("message", 24, "Number of the message in its stream."),
        field("code", 8, "See the codes."),
        constant("reserved_nak", 16, 0, "Ignored."),
    ],
};

/// Every header, in the order of the documentation.
pub const HEADERS: [&Header; 9] = [
    &ETHERNET,
    &IPV4,
    &UDP,
    &BASE,
    &DATA,
    &WRITE_TARGET,
    &SEND_TARGET,
    &ACK,
    &NAK,
];

/// The headers that every packet begins with.
pub const COMMON: &[&Header] = &[&ETHERNET, &IPV4, &UDP, &BASE];

/// UDP destination port, unless the profile gives another: in the range that is nobody's (RFC 6335).
pub const UDP_PORT: u16 = 61_000;

/// Bytes of the ICRC at the end of every packet.
pub const ICRC_BYTES: usize = 4;

/// The fields that count as ones in the ICRC, since switches and routers may change them (the UDP checksum: a translator
/// of addresses). Together they fill whole bytes.
pub const ICRC_MASK: [(&Header, &str); 5] = [
    (&IPV4, "dscp"),
    (&IPV4, "ecn"),
    (&IPV4, "time_to_live"),
    (&IPV4, "header_checksum"),
    (&UDP, "udp_checksum"),
];

/// A bit of `flags` in the base header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its name.
    pub name: &'static str,
    /// Which bit of the field; bit 0 is the least significant.
    pub bit: usize,
    /// What it means.
    pub doc: &'static str,
}

/// The last packet of its message.
pub const LAST: Flag = Flag {
    name: "last",
    bit: 0,
    doc: "The last packet of its message.",
};

/// The receiver is to answer at once.
pub const ACKNOWLEDGE: Flag = Flag {
    name: "acknowledge",
    bit: 1,
    doc: "The receiver acknowledges this packet at once.",
};

/// Every flag; the other bits are sent 0 and ignored.
pub const FLAGS: [Flag; 2] = [LAST, ACKNOWLEDGE];

/// A value of `opcode` in the base header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// RDMA Write.
    Write = 0x00,
    /// RDMA Write with immediate.
    WriteImmediate = 0x01,
    /// Send.
    Send = 0x02,
    /// Send with immediate.
    SendImmediate = 0x03,
    /// Reserved.
    ReadRequest = 0x04,
    /// Reserved.
    ReadResponse = 0x05,
    /// Reserved.
    AtomicRequest = 0x06,
    /// Reserved.
    AtomicResponse = 0x07,
    /// Acknowledgement of a path.
    Ack = 0x10,
    /// Refusal of a message.
    Nak = 0x11,
    /// Asks for an acknowledgement.
    Probe = 0x12,
}

impl Opcode {
    /// Every opcode, in rising order.
    pub const ALL: [Opcode; 11] = [
        Opcode::Write,
        Opcode::WriteImmediate,
        Opcode::Send,
        Opcode::SendImmediate,
        Opcode::ReadRequest,
        Opcode::ReadResponse,
        Opcode::AtomicRequest,
        Opcode::AtomicResponse,
        Opcode::Ack,
        Opcode::Nak,
        Opcode::Probe,
    ];

    /// The number on the wire.
    pub const fn value(self) -> u8 {
        self as u8
    }

    /// The opcode with this number, reserved ones included.
    pub const fn from_value(value: u8) -> Option<Self> {
        let mut i = 0;
        while i < Self::ALL.len() {
            if Self::ALL[i].value() == value {
                return Some(Self::ALL[i]);
            }
            i += 1;
        }
        None
    }

    /// The name in documentation, dissector and Verilog.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "WRITE",
            Self::WriteImmediate => "WRITE_IMMEDIATE",
            Self::Send => "SEND",
            Self::SendImmediate => "SEND_IMMEDIATE",
            Self::ReadRequest => "READ_REQUEST",
            Self::ReadResponse => "READ_RESPONSE",
            Self::AtomicRequest => "ATOMIC_REQUEST",
            Self::AtomicResponse => "ATOMIC_RESPONSE",
            Self::Ack => "ACK",
            Self::Nak => "NAK",
            Self::Probe => "PROBE",
        }
    }

    /// What a packet with it is.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Write => "Payload for an address in the receiver's memory; takes no receive.",
            Self::WriteImmediate => {
                "The same, and when all the message has been placed the receiver gets a completion with the immediate; \
                 takes no receive."
            }
            Self::Send => "Payload for a posted receive.",
            Self::SendImmediate => "The same, and the completion has the immediate.",
            Self::ReadRequest => "Reserved: asks for bytes of the receiver's memory.",
            Self::ReadResponse => "Reserved: bytes that a READ_REQUEST asked for.",
            Self::AtomicRequest => "Reserved: asks for a fetch-and-add or a compare-and-swap.",
            Self::AtomicResponse => "Reserved: the value that an ATOMIC_REQUEST found.",
            Self::Ack => "State of a path at its receiver.",
            Self::Nak => "A message was refused.",
            Self::Probe => "Asks for an ACK of the path; carries nothing.",
        }
    }

    /// Whether the opcode has a number and no format yet: a receiver drops and counts the packet.
    pub const fn is_reserved(self) -> bool {
        matches!(
            self,
            Self::ReadRequest | Self::ReadResponse | Self::AtomicRequest | Self::AtomicResponse
        )
    }

    /// Whether the packet has a data header and payload, and takes a PSN.
    pub const fn is_data(self) -> bool {
        matches!(
            self,
            Self::Write | Self::WriteImmediate | Self::Send | Self::SendImmediate
        )
    }

    /// The headers of the packet, from the first byte of the frame; of a reserved opcode those that all packets have.
    pub const fn headers(self) -> &'static [&'static Header] {
        match self {
            Self::Write | Self::WriteImmediate => &[&ETHERNET, &IPV4, &UDP, &BASE, &DATA, &WRITE_TARGET],
            Self::Send | Self::SendImmediate => &[&ETHERNET, &IPV4, &UDP, &BASE, &DATA, &SEND_TARGET],
            Self::Ack => &[&ETHERNET, &IPV4, &UDP, &BASE, &ACK],
            Self::Nak => &[&ETHERNET, &IPV4, &UDP, &BASE, &NAK],
            Self::Probe
            | Self::ReadRequest
            | Self::ReadResponse
            | Self::AtomicRequest
            | Self::AtomicResponse => COMMON,
        }
    }

    /// Bytes of the headers; payload or ICRC begins here.
    pub const fn header_bytes(self) -> usize {
        let (headers, mut bytes, mut i) = (self.headers(), 0, 0);
        while i < headers.len() {
            bytes += headers[i].bytes();
            i += 1;
        }
        bytes
    }

    /// Bytes of the shortest frame: headers and ICRC. A frame without data has exactly these.
    pub const fn least_frame_bytes(self) -> usize {
        self.header_bytes() + ICRC_BYTES
    }

    /// Where a field stands in a frame with this opcode. In a constant a header or name that is not there is an
    /// error of the compiler.
    ///
    /// # Panics
    /// When the opcode's headers or the header's fields do not have it.
    pub const fn position(self, header: &Header, field: &str) -> Position {
        position(self.headers(), header, field)
    }
}

/// A value of `code` in a NAK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NakCode {
    /// Receiver not ready: a Send found no receive posted.
    ReceiverNotReady = 1,
    /// The key names no region that the connection may write.
    BadKey = 2,
    /// The bytes are not all inside the region.
    OutOfBounds = 3,
    /// The message is longer than the receive, or the packet does not fit in the message.
    BadLength = 4,
}

impl NakCode {
    /// Every code, in rising order.
    pub const ALL: [NakCode; 4] = [
        Self::ReceiverNotReady,
        Self::BadKey,
        Self::OutOfBounds,
        Self::BadLength,
    ];

    /// The number on the wire.
    pub const fn value(self) -> u8 {
        self as u8
    }

    /// The name in documentation and dissector.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReceiverNotReady => "RNR",
            Self::BadKey => "BAD_KEY",
            Self::OutOfBounds => "OUT_OF_BOUNDS",
            Self::BadLength => "BAD_LENGTH",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::ReceiverNotReady => "Receiver not ready: no receive is posted for the Send.",
            Self::BadKey => "The key names no region that the connection may write.",
            Self::OutOfBounds => "The bytes are not all inside the region.",
            Self::BadLength => {
                "The message is longer than the receive, or the packet does not fit in its message."
            }
        }
    }
}
