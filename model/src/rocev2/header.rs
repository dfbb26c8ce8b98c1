//! The InfiniBand transport headers that RoCEv2 carries in UDP: base header and extended headers, bit by bit.
//!
//! Source: InfiniBand Architecture Specification, volume 1, chapter 9 (transport layer), "Base Transport Header"
//! and the extended transport headers RETH, AETH and ImmDt. All fields are big-endian.

use super::field::{Qpn, be_bytes};
use super::{Malformed, Psn};

/// Bytes of a base transport header (BTH).
pub const BTH_BYTES: usize = 12;
/// Bytes of an RDMA extended transport header (RETH).
pub const RETH_BYTES: usize = 16;
/// Bytes of an acknowledgement extended transport header (AETH).
pub const AETH_BYTES: usize = 4;
/// Bytes of an immediate data extended transport header (ImmDt).
pub const IMMEDIATE_BYTES: usize = 4;

/// Base transport header, field by field as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bth {
    /// Operation and service, see [`super::Operation`].
    pub opcode: u8,
    /// Solicited event: the responder is to raise an event when the message is complete.
    pub solicited: bool,
    /// Migration state of the connection (MigReq).
    pub migration: bool,
    /// Bytes of padding after the payload, 0 to 3.
    pub pad: u8,
    /// Version of the transport header, 0 to 15; only 0 is defined.
    pub version: u8,
    /// Partition key.
    pub partition_key: u16,
    /// Destination queue pair.
    pub qpn: Qpn,
    /// Acknowledgement requested.
    pub ack_request: bool,
    /// Packet sequence number.
    pub psn: Psn,
}

impl Bth {
    /// Reads the header; the reserved bits are ignored, as the specification asks of a receiver.
    pub fn parse(bytes: &[u8; BTH_BYTES]) -> Self {
        let [
            opcode,
            flags,
            key_high,
            key_low,
            _resv8a,
            q2,
            q1,
            q0,
            ack,
            p2,
            p1,
            p0,
        ] = *bytes;
        Self {
            opcode,
            solicited: flags & 0x80 != 0,
            migration: flags & 0x40 != 0,
            pad: flags >> 4 & 0x3,
            version: flags & 0xf,
            partition_key: u16::from_be_bytes([key_high, key_low]),
            qpn: Qpn::new(u32::from_be_bytes([0, q2, q1, q0])),
            ack_request: ack & 0x80 != 0,
            psn: Psn::new(u32::from_be_bytes([0, p2, p1, p0])),
        }
    }

    /// Writes the header with its reserved bits 0. `pad` and `version` are cut to their widths.
    pub fn to_bytes(&self) -> [u8; BTH_BYTES] {
        let flags = u8::from(self.solicited) << 7
            | u8::from(self.migration) << 6
            | (self.pad & 0x3) << 4
            | self.version & 0xf;
        let [key_high, key_low] = self.partition_key.to_be_bytes();
        let [_, q2, q1, q0] = self.qpn.value().to_be_bytes();
        let [_, p2, p1, p0] = self.psn.value().to_be_bytes();
        let ack = u8::from(self.ack_request) << 7;
        [
            self.opcode,
            flags,
            key_high,
            key_low,
            0,
            q2,
            q1,
            q0,
            ack,
            p2,
            p1,
            p0,
        ]
    }
}

/// RDMA extended transport header: where a write goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reth {
    /// Virtual address of the first byte.
    pub virtual_address: u64,
    /// Remote key of the memory region.
    pub remote_key: u32,
    /// Length of the whole message in bytes, not of this packet.
    pub length: u32,
}

impl Reth {
    /// Takes the header off the front of `bytes`.
    pub fn take(bytes: &mut &[u8]) -> Result<Self, Malformed> {
        Ok(Self {
            virtual_address: u64::from_be_bytes(be_bytes(bytes)?),
            remote_key: u32::from_be_bytes(be_bytes(bytes)?),
            length: u32::from_be_bytes(be_bytes(bytes)?),
        })
    }

    /// Appends the header to `bytes`.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.virtual_address.to_be_bytes());
        bytes.extend(self.remote_key.to_be_bytes());
        bytes.extend(self.length.to_be_bytes());
    }
}

/// Acknowledgement extended transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aeth {
    /// Bits 6 and 5 tell ACK (00), RNR NAK (01) and NAK (11) apart; the low five are credits, timer or error code.
    pub syndrome: u8,
    /// Message sequence number: messages completed so far, 24 bits.
    pub msn: Psn,
}

impl Aeth {
    /// Whether this acknowledges, rather than asks to wait (RNR) or to send again (NAK).
    pub fn is_ack(&self) -> bool {
        self.syndrome & 0x60 == 0
    }

    /// Takes the header off the front of `bytes`.
    pub fn take(bytes: &mut &[u8]) -> Result<Self, Malformed> {
        let [syndrome, m2, m1, m0] = be_bytes(bytes)?;
        Ok(Self {
            syndrome,
            msn: Psn::new(u32::from_be_bytes([0, m2, m1, m0])),
        })
    }

    /// Appends the header to `bytes`.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        let [_, m2, m1, m0] = self.msn.value().to_be_bytes();
        bytes.extend([self.syndrome, m2, m1, m0]);
    }
}
