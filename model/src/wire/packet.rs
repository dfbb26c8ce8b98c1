//! A packet as plain values. [`Packet::encode`] and [`Packet::decode`] are its way to and from the bytes of a frame.

use super::Opcode;
use crate::port::Vector;

/// A packet without its payload.
///
/// Values wider than their field on the wire are cut to the field's width when they are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// What gets it through the network.
    pub route: Route,
    /// What every packet says.
    pub base: Base,
    /// What it is.
    pub body: Body,
}

/// What gets a packet through the network. Addresses are numbers: their first byte on the wire is the most significant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// MAC address of the next hop, 48 bits.
    pub destination_mac: u64,
    /// MAC address of the sending port, 48 bits.
    pub source_mac: u64,
    /// Traffic class (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// Congestion notification (RFC 3168), 0 to 3: [`super::table::ECT0`], [`super::table::CE`].
    pub ecn: u8,
    /// IPv4 address of the sender.
    pub source_address: u32,
    /// IPv4 address of the receiver.
    pub destination_address: u32,
    /// UDP source port: the entropy of the path.
    pub source_port: u16,
}

/// What every packet says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// Whether it is the last packet of its message.
    pub last: bool,
    /// Whether the receiver is to acknowledge at once.
    pub acknowledge: bool,
    /// The receiver's number of the connection, 24 bits.
    pub connection: u32,
    /// Path of the connection.
    pub path: u8,
    /// Packet sequence number, 24 bits. Data: this packet's. ACK: the lowest that has not arrived. PROBE: the next that
    /// the sender will give. NAK: 0.
    pub psn: u32,
    /// When it was sent, in ticks of the sender's clock.
    pub timestamp: u32,
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Some or all bytes of a message.
    Data(Data),
    /// State of a path at its receiver.
    Ack(Ack),
    /// A message was refused.
    Nak(Nak),
    /// Asks for an ACK of the path.
    Probe,
}

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Ordered stream of the connection.
    pub stream: u16,
    /// Number of the message in its stream, 24 bits.
    pub message: u32,
    /// Bytes of the whole message.
    pub message_length: u32,
    /// Bytes of the message before this packet's first.
    pub offset: u32,
    /// The immediate of the message, in all its packets, if the operation has one.
    pub immediate: Option<u32>,
    /// Where the bytes go, which also tells Write from Send.
    pub target: Target,
}

/// Where the bytes of a message go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To an address of the receiver.
    Write {
        /// Remote key of the memory region.
        key: u32,
        /// Virtual address of this packet's first byte.
        address: u64,
    },
    /// To a posted receive.
    Send {
        /// Number of the receive in the stream, 24 bits.
        receive: u32,
    },
}

/// State of a path at its receiver. The cumulative PSN is in [`Base::psn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Bit i: the packet whose PSN is congruent to i modulo 256 has arrived.
    pub vector: Vector,
    /// Timestamp of the packet that caused the ACK.
    pub echo: u32,
    /// Ticks from that packet's arrival to the ACK; 65535 stands for that and more.
    pub hold: u16,
    /// Data packets that have arrived on the path, modulo 2^16.
    pub packets: u16,
    /// Those of them that were marked CE, modulo 2^16.
    pub marked: u16,
    /// Rate allotted to the sender, a 12-bit float as in [`crate::port::rate_limiter`].
    pub hint: u16,
    /// State of the receiver's window, 0 to 15.
    pub window_state: u8,
}

/// A message was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nak {
    /// Stream of the message.
    pub stream: u16,
    /// Number of the message in its stream, 24 bits.
    pub message: u32,
    /// Why: [`super::NakCode`]; other numbers are not refused.
    pub code: u8,
}

impl Packet {
    /// The opcode that body, target and immediate make.
    pub fn opcode(&self) -> Opcode {
        match self.body {
            Body::Data(Data {
                immediate, target, ..
            }) => match (target, immediate) {
                (Target::Write { .. }, None) => Opcode::Write,
                (Target::Write { .. }, Some(_)) => Opcode::WriteImmediate,
                (Target::Send { .. }, None) => Opcode::Send,
                (Target::Send { .. }, Some(_)) => Opcode::SendImmediate,
            },
            Body::Ack(_) => Opcode::Ack,
            Body::Nak(_) => Opcode::Nak,
            Body::Probe => Opcode::Probe,
        }
    }
}
