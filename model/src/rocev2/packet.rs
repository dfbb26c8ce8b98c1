//! A RoCEv2 packet, and how a captured Ethernet frame becomes one or is skipped with a reason.

use super::field::{Psn, Qpn};
use super::header::{BTH_BYTES, Bth};
use super::icrc::{ICRC_BYTES, IpHeader, icrc};
use super::{Operation, UDP_PORT};
use etherparse::err::{Layer, packet::SliceError};
use etherparse::{
    IpEcn, LaxIpPayloadSlice, LaxNetSlice, LaxSlicedPacket, LenSource, TransportSlice, UdpSlice, ip_number,
};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use thiserror::Error;

/// A RoCEv2 packet of the reliable connection service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Source address; of the same IP version as the destination.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// UDP source port, the entropy of a route; the destination port is always 4791.
    pub source_port: u16,
    /// Congestion notification of the IP header.
    pub ecn: Ecn,
    /// Solicited event: the responder is to raise an event when the message is complete.
    pub solicited: bool,
    /// Migration state of the connection (MigReq).
    pub migration: bool,
    /// Partition key; 0xffff is the default partition.
    pub partition_key: u16,
    /// Destination queue pair.
    pub qpn: Qpn,
    /// Acknowledgement requested.
    pub ack_request: bool,
    /// Packet sequence number; in an acknowledgement, the one acknowledged.
    pub psn: Psn,
    /// What the packet does.
    pub operation: Operation,
    /// Payload without padding and ICRC.
    pub payload: Vec<u8>,
}

/// Explicit congestion notification of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ecn {
    /// Not capable of ECN (00).
    #[default]
    NotEct,
    /// Capable of ECN, ECT(1) (01).
    Ect1,
    /// Capable of ECN, ECT(0) (10).
    Ect0,
    /// Congestion experienced (11).
    Ce,
}

/// Why a frame is no [`Packet`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Skip {
    /// The frame is not, or cannot be seen to be, UDP to port 4791. IP fragments are counted here too, since RoCEv2
    /// does not fragment.
    #[error("is other traffic, not UDP to port 4791")]
    OtherTraffic,
    /// The capture kept only part of a frame that is, or may be, RoCEv2.
    #[error("was cut to {captured} of its {original} bytes: capture with a larger snap length")]
    Truncated {
        /// Bytes in the capture.
        captured: usize,
        /// Bytes on the wire.
        original: usize,
    },
    /// The invariant CRC is wrong: the packet was damaged.
    #[error("has ICRC {found:#010x} where its bytes give {expected:#010x}")]
    BadIcrc {
        /// The one in the packet.
        found: u32,
        /// The right one.
        expected: u32,
    },
    /// The frame contradicts itself.
    #[error("is malformed: {0}")]
    Malformed(Malformed),
    /// The ICRC is right, but the opcode is not one of [`Operation`].
    #[error("has opcode {0:#04x}, which is no SEND, RDMA WRITE or acknowledgement of a reliable connection")]
    OtherOpcode(u8),
}

/// How a frame to port 4791 contradicts itself or the RoCEv2 annex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// IPv4 options or IPv6 extension headers, which RoCEv2 does not have.
    #[error("it has IPv4 options or IPv6 extension headers")]
    IpOptions,
    /// The lengths in the IP and UDP headers and of the frame do not agree.
    #[error("the lengths of its IP header, its UDP header and the frame do not agree")]
    Length,
    /// The packet ends inside its transport headers, padding or ICRC.
    #[error("it ends inside its transport headers, padding or ICRC")]
    HeaderCutOff,
    /// Payload and padding do not fill whole words.
    #[error("its payload and padding are not a multiple of four bytes")]
    Padding,
    /// A version of the transport header other than 0.
    #[error("it has version {0} of the transport header, and only 0 is defined")]
    Version(u8),
}

impl From<Malformed> for Skip {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl Packet {
    /// Reads a packet from an Ethernet frame of `original` bytes on the wire of which `frame` was captured. VLAN
    /// tags are passed over. The ICRC is verified, and before anything that it covers is believed; the checksums
    /// of IP and UDP are not looked at.
    pub fn from_frame(frame: &[u8], original: usize) -> Result<Self, Skip> {
        let captured = frame.len();
        let cut = Skip::Truncated { captured, original };
        let is_cut = captured < original;
        let Ok(sliced) = LaxSlicedPacket::from_ethernet(frame) else {
            return Err(if is_cut { cut } else { Skip::OtherTraffic });
        };
        let ended_in = match sliced.stop_err {
            Some((SliceError::Len(_), layer)) => Some(layer),
            _ => None,
        };
        let (net, udp) = match (sliced.net, sliced.transport) {
            (Some(net), Some(TransportSlice::Udp(udp))) if udp.destination_port() == UDP_PORT => (net, udp),
            // The frame ends before its port can be read, unless it is known by then to be no UDP.
            (net, None) if is_cut && ended_in.is_some_and(|layer| may_be_udp(net.as_ref(), layer)) => {
                return Err(cut);
            }
            _ => return Err(Skip::OtherTraffic),
        };
        match Self::from_datagram(&net, &udp) {
            Err(Skip::Malformed(Malformed::Length)) if is_cut => Err(cut),
            result => result,
        }
    }

    fn from_datagram(net: &LaxNetSlice, udp: &UdpSlice) -> Result<Self, Skip> {
        let (source, destination, ecn, ip, ip_payload) = match net {
            LaxNetSlice::Ipv4(v4) => {
                let header = v4.header();
                let ip = header.slice().try_into().map_err(|_| Malformed::IpOptions)?;
                let addresses = (header.source_addr().into(), header.destination_addr().into());
                (
                    addresses.0,
                    addresses.1,
                    header.ecn(),
                    IpHeader::V4(ip),
                    v4.payload(),
                )
            }
            LaxNetSlice::Ipv6(v6) => {
                let header = v6.header();
                let ip = header.slice().try_into().map_err(|_| Malformed::IpOptions)?;
                let addresses = (header.source_addr().into(), header.destination_addr().into());
                (
                    addresses.0,
                    addresses.1,
                    header.ecn(),
                    IpHeader::V6(ip),
                    v6.payload(),
                )
            }
            LaxNetSlice::Arp(_) => return Err(Skip::OtherTraffic),
        };
        check_lengths(net, ip_payload, udp)?;
        let udp_header = udp
            .header_slice()
            .try_into()
            .map_err(|_| Malformed::HeaderCutOff)?;
        let (covered, found) = udp.payload().split_last_chunk().ok_or(Malformed::HeaderCutOff)?;
        let (bth, rest) = covered
            .split_first_chunk::<BTH_BYTES>()
            .ok_or(Malformed::HeaderCutOff)?;

        let (found, expected) = (u32::from_le_bytes(*found), icrc(&ip, udp_header, bth, rest));
        if found != expected {
            return Err(Skip::BadIcrc { found, expected });
        }
        let bth = Bth::parse(bth);
        if bth.version != 0 {
            return Err(Malformed::Version(bth.version).into());
        }
        let mut rest = rest;
        let operation = Operation::take(bth.opcode, &mut rest)?.ok_or(Skip::OtherOpcode(bth.opcode))?;
        if rest.len() % 4 != 0 {
            return Err(Malformed::Padding.into());
        }
        let payload_bytes = rest
            .len()
            .checked_sub(bth.pad.into())
            .ok_or(Malformed::HeaderCutOff)?;
        Ok(Self {
            source,
            destination,
            source_port: udp.source_port(),
            ecn: Ecn::from(ecn),
            solicited: bth.solicited,
            migration: bth.migration,
            partition_key: bth.partition_key,
            qpn: bth.qpn,
            ack_request: bth.ack_request,
            psn: bth.psn,
            operation,
            payload: rest[..payload_bytes].to_vec(),
        })
    }

    /// Bytes of padding that bring the payload to a multiple of four, 0 to 3.
    pub fn pad_bytes(&self) -> usize {
        self.payload.len().wrapping_neg() % 4
    }

    /// Bytes of the UDP payload: transport headers, payload, padding and ICRC.
    pub fn transport_bytes(&self) -> usize {
        BTH_BYTES + self.operation.header_bytes() + self.payload.len() + self.pad_bytes() + ICRC_BYTES
    }
}

/// Whether a frame that ends inside the headers of `layer`, after those of `net`, could be UDP.
fn may_be_udp(net: Option<&LaxNetSlice>, layer: Layer) -> bool {
    match net.map(LaxNetSlice::ip_payload_ref) {
        None => layer != Layer::Arp,
        Some(payload) => payload.is_some_and(|payload| payload.ip_number == ip_number::UDP),
    }
}

fn check_lengths(net: &LaxNetSlice, ip: &LaxIpPayloadSlice, udp: &UdpSlice) -> Result<(), Malformed> {
    let extended = match net {
        LaxNetSlice::Ipv4(v4) => v4.header().protocol() != ip_number::UDP,
        LaxNetSlice::Ipv6(v6) => v6.header().next_header() != ip_number::UDP,
        LaxNetSlice::Arp(_) => false,
    };
    if extended {
        return Err(Malformed::IpOptions);
    }
    // etherparse falls back on the length of the frame where a length field cannot be true.
    let ip_length_used = matches!(
        ip.len_source,
        LenSource::Ipv4HeaderTotalLen | LenSource::Ipv6HeaderPayloadLen
    );
    let udp_length = usize::from(udp.length());
    if !ip_length_used || udp.slice().len() != udp_length || ip.payload.len() != udp_length {
        return Err(Malformed::Length);
    }
    Ok(())
}

impl From<IpEcn> for Ecn {
    fn from(ecn: IpEcn) -> Self {
        match ecn {
            IpEcn::NotEct => Self::NotEct,
            IpEcn::Ect1 => Self::Ect1,
            IpEcn::Ect0 => Self::Ect0,
            IpEcn::CongestionExperienced => Self::Ce,
        }
    }
}

impl From<Ecn> for IpEcn {
    fn from(ecn: Ecn) -> Self {
        match ecn {
            Ecn::NotEct => Self::NotEct,
            Ecn::Ect1 => Self::Ect1,
            Ecn::Ect0 => Self::Ect0,
            Ecn::Ce => Self::CongestionExperienced,
        }
    }
}
