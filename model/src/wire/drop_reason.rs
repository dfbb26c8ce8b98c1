//! Why a receiver drops a frame.

use thiserror::Error;

/// Why a receiver drops a frame, the first of the reasons that hold in this order. The hardware parser gives and counts
/// the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[repr(u8)]
pub enum DropReason {
    /// The MAC says so (frame check sequence, symbol error). Only hardware has it.
    #[error("the MAC found the frame damaged")]
    Bad = 0,
    /// Shorter than an Ethernet frame can be, and than any packet is.
    #[error("the frame is shorter than 60 bytes")]
    Truncated = 1,
    /// Another protocol.
    #[error("the frame's ether_type is not IPv4's")]
    NotIpv4 = 2,
    /// Version, options, a fragment, protocol or header checksum.
    #[error("the IPv4 header has options, is of a fragment, is not UDP's, or its checksum is wrong")]
    IpHeader = 3,
    /// For somebody else.
    #[error("the IPv4 destination address is not this receiver's")]
    Address = 4,
    /// Another UDP application's.
    #[error("the UDP destination port is not MetaRoCE's")]
    Port = 5,
    /// A length field that is not true of the frame, or a frame longer than any packet.
    #[error(
        "the length in the IPv4 or UDP header is not the frame's, or the frame is longer than max_packet_bytes"
    )]
    Length = 6,
    /// Another version of the base header.
    #[error("the version of the base header is not 0")]
    Version = 7,
    /// Not an opcode, or a reserved one.
    #[error("the opcode is unknown or reserved")]
    Opcode = 8,
    /// Shorter than the opcode's headers and ICRC, or longer where there is no payload.
    #[error("the frame's size does not fit its opcode")]
    Size = 9,
    /// Damaged on the way.
    #[error("the ICRC is wrong")]
    Icrc = 10,
}

impl DropReason {
    /// Every reason, in the order of their numbers and of their priority.
    pub const ALL: [DropReason; 11] = [
        Self::Bad,
        Self::Truncated,
        Self::NotIpv4,
        Self::IpHeader,
        Self::Address,
        Self::Port,
        Self::Length,
        Self::Version,
        Self::Opcode,
        Self::Size,
        Self::Icrc,
    ];

    /// The number, 0 to 10.
    pub const fn value(self) -> u8 {
        self as u8
    }

    /// The name in documentation and Verilog.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bad => "BAD",
            Self::Truncated => "TRUNCATED",
            Self::NotIpv4 => "NOT_IPV4",
            Self::IpHeader => "IP_HEADER",
            Self::Address => "ADDRESS",
            Self::Port => "PORT",
            Self::Length => "LENGTH",
            Self::Version => "VERSION",
            Self::Opcode => "OPCODE",
            Self::Size => "SIZE",
            Self::Icrc => "ICRC",
        }
    }
}
