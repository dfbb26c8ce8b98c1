//! Blocks of a pcapng file. The lengths of a block are checked here, and only the four kinds of block that lead to
//! frames are handed to the `pcap-parser` crate, as exact slices; every other kind is passed over.

use super::pcap::{Broken, Content, LINKTYPE_ETHERNET, check_length};
use pcap_parser::nom;
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    EPB_MAGIC, IDB_MAGIC, PcapError, SHB_MAGIC, SPB_MAGIC, parse_enhancedpacketblock_be,
    parse_enhancedpacketblock_le, parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
    parse_sectionheaderblock, parse_simplepacketblock_be, parse_simplepacketblock_le,
};
use std::time::Duration;

/// Block type of the packet block that the enhanced packet block replaced.
const OBSOLETE_PACKET_BLOCK: u32 = 2;
/// Type, length and the length again: what every block has.
const MIN_BLOCK_BYTES: usize = 12;
/// Magic of the section header's byte order, as it reads in a big-endian file.
const BIG_ENDIAN_MAGIC: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];

/// What the blocks so far say of those that follow.
#[derive(Debug, Default)]
pub(super) struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u16,
    /// Ticks of a timestamp in a second.
    ticks: u64,
    /// Seconds to be added to each timestamp.
    offset: i64,
}

impl Section {
    /// Takes one block off the front of `bytes`.
    pub fn block<'a>(&mut self, bytes: &'a [u8]) -> Result<(&'a [u8], Content<'a>), Broken> {
        let (kind, length) = self.kind_and_length(bytes)?;
        if length < MIN_BLOCK_BYTES {
            return Err(corrupt(format!(
                "is a block of {length} bytes, less than {MIN_BLOCK_BYTES}"
            )));
        }
        let (block, rest) = bytes.split_at_checked(length).ok_or(Broken::CutOff)?;
        let content = match kind {
            SHB_MAGIC => self.section_header(block),
            IDB_MAGIC => self.interface_description(block),
            EPB_MAGIC => self.enhanced_packet(block),
            SPB_MAGIC => self.simple_packet(block),
            OBSOLETE_PACKET_BLOCK => Err(Broken::Obsolete),
            _ => Ok(Content::Other),
        };
        content.map(|content| (rest, content))
    }

    fn kind_and_length(&mut self, bytes: &[u8]) -> Result<(u32, usize), Broken> {
        let (kind, after) = bytes.split_first_chunk().ok_or(Broken::CutOff)?;
        let (length, after) = after.split_first_chunk().ok_or(Broken::CutOff)?;
        // A section header reads the same in both byte orders, and its magic tells which one follows.
        if u32::from_le_bytes(*kind) == SHB_MAGIC {
            self.big_endian = after.first_chunk::<4>().ok_or(Broken::CutOff)? == &BIG_ENDIAN_MAGIC;
        }
        let read = if self.big_endian {
            u32::from_be_bytes
        } else {
            u32::from_le_bytes
        };
        Ok((read(*kind), read(*length) as usize))
    }

    fn section_header<'a>(&mut self, block: &[u8]) -> Result<Content<'a>, Broken> {
        parse(parse_sectionheaderblock(block))?;
        self.interfaces.clear();
        Ok(Content::Other)
    }

    fn interface_description<'a>(&mut self, block: &[u8]) -> Result<Content<'a>, Broken> {
        let interface = if self.big_endian {
            parse(parse_interfacedescriptionblock_be(block))?
        } else {
            parse(parse_interfacedescriptionblock_le(block))?
        };
        let ticks = ticks_per_second(interface.if_tsresol)
            .ok_or_else(|| corrupt(format!("has timestamp resolution {:#04x}", interface.if_tsresol)))?;
        // pcap-parser reads the offset as little-endian whatever the section is.
        let offset = interface.if_tsoffset;
        let offset = if self.big_endian {
            offset.swap_bytes()
        } else {
            offset
        };
        self.interfaces.push(Interface {
            link_type: interface.linktype.0 as u16,
            ticks,
            offset,
        });
        Ok(Content::Other)
    }

    fn enhanced_packet<'a>(&self, block: &'a [u8]) -> Result<Content<'a>, Broken> {
        let packet = if self.big_endian {
            parse(parse_enhancedpacketblock_be(block))?
        } else {
            parse(parse_enhancedpacketblock_le(block))?
        };
        check_length(packet.caplen)?;
        let interface = self.ethernet(packet.if_id)?;
        let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
        let frame = packet
            .data
            .get(..packet.caplen as usize)
            .ok_or_else(|| corrupt("is not a valid block"))?;
        Ok(Content::Frame {
            timestamp: interface.time(ticks),
            original: packet.origlen,
            frame,
        })
    }

    fn simple_packet<'a>(&self, block: &'a [u8]) -> Result<Content<'a>, Broken> {
        let packet = if self.big_endian {
            parse(parse_simplepacketblock_be(block))?
        } else {
            parse(parse_simplepacketblock_le(block))?
        };
        self.ethernet(0)?;
        let frame = &packet.data[..packet.packet_data().len()];
        check_length(frame.len().try_into().unwrap_or(u32::MAX))?;
        Ok(Content::Frame {
            timestamp: Duration::ZERO,
            original: packet.origlen,
            frame,
        })
    }

    /// The interface with this number, if there is one and it is Ethernet.
    fn ethernet(&self, number: u32) -> Result<Interface, Broken> {
        let interface = self.interfaces.get(number as usize);
        let interface =
            interface.ok_or_else(|| corrupt(format!("names interface {number} before it is described")))?;
        if interface.link_type != LINKTYPE_ETHERNET {
            return Err(Broken::LinkType(interface.link_type));
        }
        Ok(*interface)
    }
}

impl Interface {
    /// Time since 1970, saturating: hostile offsets give wrong times and nothing worse.
    fn time(&self, ticks: u64) -> Duration {
        let (ticks_per_second, fraction) = (u128::from(self.ticks), u128::from(ticks % self.ticks));
        let nanoseconds = fraction * 1_000_000_000 / ticks_per_second;
        let seconds = (ticks / self.ticks).saturating_add_signed(self.offset);
        Duration::new(seconds, u32::try_from(nanoseconds).unwrap_or(0))
    }
}

/// Ticks in a second of `if_tsresol`: a negative power of ten, or of two when the top bit is set.
fn ticks_per_second(resolution: u8) -> Option<u64> {
    let base = if resolution & 0x80 == 0 { 10u64 } else { 2 };
    base.checked_pow(u32::from(resolution & 0x7f))
}

fn parse<'a, T>(parsed: nom::IResult<&'a [u8], T, PcapError<&'a [u8]>>) -> Result<T, Broken> {
    match parsed {
        Ok((_, block)) => Ok(block),
        // The block is whole, so a parser that wants more bytes has been misled by an inner length.
        Err(_) => Err(corrupt("is not a valid block")),
    }
}

fn corrupt(reason: impl Into<String>) -> Broken {
    Broken::Corrupt(reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// draft-ietf-opsawg-pcapng, if_tsresol and if_tsoffset.
    #[test]
    fn timestamps_follow_resolution_and_offset() {
        let time = |resolution, offset, ticks| {
            let ticks_per_second = ticks_per_second(resolution).unwrap();
            Interface {
                link_type: 1,
                ticks: ticks_per_second,
                offset,
            }
            .time(ticks)
        };
        assert_eq!(time(6, 0, 1_500_000), Duration::new(1, 500_000_000));
        assert_eq!(time(9, 10, 1), Duration::new(10, 1));
        assert_eq!(time(0x81, -1, 5), Duration::new(1, 500_000_000));
        assert_eq!(time(0, i64::MIN, u64::MAX), Duration::from_secs(i64::MAX as u64));
        assert_eq!(ticks_per_second(20), None);
        assert_eq!(ticks_per_second(0xff), None);
    }
}
