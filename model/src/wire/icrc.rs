//! The ICRC: the checksum at the end of every packet over all that no switch or router changes.
//!
//! It is the CRC-32 of Ethernet (IEEE 802.3, clause 3.2.9: polynomial 0x04c11db7, bits reflected, begun with all ones,
//! complemented at the end), sent least significant byte first, over the bytes from the IPv4 header to the end of the
//! payload. The fields of [`table::ICRC_MASK`] count as ones. RoCEv2 has eight bytes of ones in front, in the place of
//! a header of InfiniBand; there is no such header here, and no such bytes.

use super::table::{self, COMMON, Header, IPV4, UDP, position};
use crc32fast::Hasher;

/// Where the covered bytes begin.
const START: usize = table::ETHERNET.bytes();
/// Bytes of the headers with masked fields.
const MASKED_BYTES: usize = IPV4.bytes() + UDP.bytes();
/// Ones in the masked bits of IPv4 and UDP header.
const MASK: [u8; MASKED_BYTES] = mask();

/// The ICRC of a frame, given without its ICRC: from the Ethernet header to the end of the payload.
///
/// # Panics
/// When the frame is shorter than the headers up to UDP.
pub fn icrc(frame: &[u8]) -> u32 {
    let (headers, rest) = frame[START..].split_at(MASKED_BYTES);
    let masked: [u8; MASKED_BYTES] = std::array::from_fn(|i| headers[i] | MASK[i]);
    let mut crc = Hasher::new();
    crc.update(&masked);
    crc.update(rest);
    crc.finalize()
}

const fn mask() -> [u8; MASKED_BYTES] {
    let mut bytes = [0; MASKED_BYTES];
    let mut i = 0;
    while i < table::ICRC_MASK.len() {
        let (header, field): (&Header, &str) = table::ICRC_MASK[i];
        let at = position(COMMON, header, field);
        let mut bit = at.bit - 8 * START;
        let end = bit + at.bits;
        while bit < end {
            bytes[bit / 8] |= 0x80 >> (bit % 8);
            bit += 1;
        }
        i += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The masked bytes of the notes in `docs/wire.md`, counted from the IPv4 header.
    #[test]
    fn mask_is_whole_bytes() {
        let masked: Vec<usize> = (0..MASKED_BYTES).filter(|&i| MASK[i] != 0).collect();
        assert_eq!(masked, [1, 8, 10, 11, 26, 27]);
        assert!(MASK.iter().all(|&byte| byte == 0 || byte == 0xff));
    }

    /// The check value that catalogues give of this CRC: 0xcbf43926 for "123456789". The ones of the masked bytes are
    /// taken back, so that the whole of the headers counts.
    #[test]
    fn is_the_crc_of_ethernet() {
        fn crc32(bytes: &[u8]) -> u32 {
            !bytes.iter().fold(!0, |crc, &byte| {
                (0..8).fold(crc ^ u32::from(byte), |crc: u32, _| {
                    crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
                })
            })
        }
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let frame: Vec<u8> = (0..77u8).map(|i| i.wrapping_mul(73)).collect();
        let mut masked = frame.clone();
        for i in [1, 8, 10, 11, 26, 27] {
            masked[START + i] = 0xff;
        }
        assert_eq!(icrc(&frame), crc32(&masked[START..]));
    }
}
