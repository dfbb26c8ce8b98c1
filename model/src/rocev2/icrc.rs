//! The invariant CRC (ICRC): the checksum at the end of a RoCEv2 packet over all that no router or switch changes.
//!
//! Source: InfiniBand Architecture Specification, volume 1, annex A17 (RoCEv2). It is the CRC-32 of Ethernet, sent
//! least significant byte first. It covers eight bytes of ones, where an InfiniBand packet has its local route
//! header, then the packet from the IP header to the end of the padding. These fields count as ones: in IPv4 type
//! of service, time to live and header checksum; in IPv6 traffic class, flow label and hop limit; the UDP
//! checksum; the reserved byte of the base transport header that also holds the congestion bits.

use super::header::BTH_BYTES;
use crc32fast::Hasher;

/// Bytes of the ICRC.
pub const ICRC_BYTES: usize = 4;

/// An IP header without options or extension headers, as RoCEv2 has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpHeader {
    /// RFC 791.
    V4([u8; 20]),
    /// RFC 8200.
    V6([u8; 40]),
}

/// The ICRC of the packet with these headers; `rest` is what comes after the base transport header, padding
/// included.
pub fn icrc(ip: &IpHeader, udp: &[u8; 8], bth: &[u8; BTH_BYTES], rest: &[u8]) -> u32 {
    let mut crc = Hasher::new();
    crc.update(&[0xff; 8]);
    match *ip {
        IpHeader::V4(mut header) => {
            header[1] = 0xff;
            header[8] = 0xff;
            header[10..12].fill(0xff);
            crc.update(&header);
        }
        IpHeader::V6(mut header) => {
            header[0] |= 0x0f;
            header[1..4].fill(0xff);
            header[7] = 0xff;
            crc.update(&header);
        }
    }
    let mut udp = *udp;
    udp[6..8].fill(0xff);
    crc.update(&udp);
    let mut bth = *bth;
    bth[4] = 0xff;
    crc.update(&bth);
    crc.update(rest);
    crc.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CRC-32 bit by bit, from its polynomial.
    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc: u32, _| {
                crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
            })
        })
    }

    /// The bytes of headers and rest in a row, and their ICRC.
    fn icrc_of(ip_bytes: usize, bytes: &[u8]) -> u32 {
        let (ip, rest) = bytes.split_at(ip_bytes);
        let ip = match ip_bytes {
            20 => IpHeader::V4(ip.try_into().unwrap()),
            _ => IpHeader::V6(ip.try_into().unwrap()),
        };
        let (udp, rest) = rest.split_first_chunk().unwrap();
        let (bth, rest) = rest.split_first_chunk().unwrap();
        icrc(&ip, udp, bth, rest)
    }

    /// A change in any bit changes the ICRC, except in the fields that the annex excludes.
    #[test]
    fn covers_all_but_the_variant_fields() {
        for (ip_bytes, variant) in [(20, vec![1, 8, 10, 11]), (40, vec![1, 2, 3, 7])] {
            let mut bytes: Vec<u8> = (0..ip_bytes as u8 + 40).map(|i| i.wrapping_mul(73)).collect();
            bytes[0] = if ip_bytes == 20 { 0x45 } else { 0x60 };
            let variant = [variant, vec![ip_bytes + 6, ip_bytes + 7, ip_bytes + 12]].concat();
            let good = icrc_of(ip_bytes, &bytes);
            for bit in 0..bytes.len() * 8 {
                let traffic_class = ip_bytes == 40 && bit < 4;
                bytes[bit / 8] ^= 1 << (bit % 8);
                let excluded = variant.contains(&(bit / 8)) || traffic_class;
                assert_eq!(
                    icrc_of(ip_bytes, &bytes) == good,
                    excluded,
                    "bit {bit} of {ip_bytes}"
                );
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    /// Polynomial, reflection, complement and the leading ones, against a CRC written out bit by bit.
    #[test]
    fn is_crc32_after_eight_bytes_of_ones() {
        let mut bytes = [0x5a; 52];
        for variant in [1, 8, 10, 11, 26, 27, 32] {
            bytes[variant] = 0xff;
        }
        assert_eq!(icrc_of(20, &bytes), crc32(&[&[0xff; 8], &bytes[..]].concat()));
    }
}
