//! From a packet to the bytes of an Ethernet frame: the way out, and the inverse of [`Packet::from_frame`].

use super::header::Bth;
use super::icrc::{IpHeader, icrc};
use super::{Packet, UDP_PORT};
use etherparse::{Ethernet2Header, IpFragOffset, Ipv4Header, Ipv6Header, UdpHeader, ether_type, ip_number};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use thiserror::Error;

/// Time to live or hop limit of the frames written.
const TIME_TO_LIVE: u8 = 64;

/// What a frame has that the packet itself does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Source MAC address.
    pub source: [u8; 6],
    /// Destination MAC address.
    pub destination: [u8; 6],
    /// Identification of the IPv4 header (RFC 791); unused in IPv6.
    pub identification: u16,
}

/// Why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// One address is IPv4 and the other IPv6.
    #[error("a packet from {0} to {1} mixes IP versions: give both addresses the same one")]
    MixedVersions(IpAddr, IpAddr),
    /// The IP length field cannot hold the packet.
    #[error("a payload of {0} bytes does not fit in an IP packet: keep to a path MTU of at most 4096 bytes")]
    TooLong(usize),
}

impl Packet {
    /// The Ethernet frame of the packet, without frame check sequence: IPv4 or IPv6 as the addresses are, Don't
    /// Fragment, no UDP checksum, padding and ICRC at the end.
    pub fn to_frame(&self, link: &Link) -> Result<Vec<u8>, FrameError> {
        let too_long = FrameError::TooLong(self.payload.len());
        let length = u16::try_from(UdpHeader::LEN + self.transport_bytes()).map_err(|_| too_long)?;
        let (ether_type, ip) = match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let header = self
                    .ipv4(source, destination, link.identification, length)
                    .ok_or(too_long)?;
                (ether_type::IPV4, header)
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                (ether_type::IPV6, self.ipv6(source, destination, length))
            }
            (source, destination) => return Err(FrameError::MixedVersions(source, destination)),
        };
        let udp = UdpHeader {
            source_port: self.source_port,
            destination_port: UDP_PORT,
            length,
            checksum: 0,
        };
        let (udp, bth) = (udp.to_bytes(), self.bth().to_bytes());
        let mut rest = Vec::with_capacity(self.transport_bytes());
        self.operation.put(&mut rest);
        rest.extend(&self.payload);
        rest.extend(&[0; 3][..self.pad_bytes()]);
        let icrc = icrc(&ip, &udp, &bth, &rest);

        let (source, destination) = (link.source, link.destination);
        let mut frame = Ethernet2Header {
            source,
            destination,
            ether_type,
        }
        .to_bytes()
        .to_vec();
        match ip {
            IpHeader::V4(header) => frame.extend(header),
            IpHeader::V6(header) => frame.extend(header),
        }
        frame.extend(udp);
        frame.extend(bth);
        frame.extend(rest);
        frame.extend(icrc.to_le_bytes());
        Ok(frame)
    }

    fn bth(&self) -> Bth {
        Bth {
            opcode: self.operation.opcode(),
            solicited: self.solicited,
            migration: self.migration,
            pad: self.pad_bytes() as u8,
            version: 0,
            partition_key: self.partition_key,
            qpn: self.qpn,
            ack_request: self.ack_request,
            psn: self.psn,
        }
    }

    /// `None` when the length field cannot hold header and payload.
    fn ipv4(&self, source: Ipv4Addr, destination: Ipv4Addr, id: u16, payload_bytes: u16) -> Option<IpHeader> {
        let mut header = Ipv4Header {
            ecn: self.ecn.into(),
            total_len: payload_bytes.checked_add(Ipv4Header::MIN_LEN_U16)?,
            identification: id,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: IpFragOffset::ZERO,
            time_to_live: TIME_TO_LIVE,
            protocol: ip_number::UDP,
            source: source.octets(),
            destination: destination.octets(),
            ..Default::default()
        };
        header.header_checksum = header.calc_header_checksum();
        header.to_bytes().as_slice().try_into().ok().map(IpHeader::V4)
    }

    fn ipv6(&self, source: Ipv6Addr, destination: Ipv6Addr, payload_length: u16) -> IpHeader {
        let mut header = Ipv6Header {
            payload_length,
            next_header: ip_number::UDP,
            hop_limit: TIME_TO_LIVE,
            source: source.octets(),
            destination: destination.octets(),
            ..Default::default()
        };
        header.set_ecn(self.ecn.into());
        IpHeader::V6(header.to_bytes())
    }
}
