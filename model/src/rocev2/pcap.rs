//! Capture files as a sequence of records: pcap in both byte orders, with microseconds or nanoseconds, and pcapng.
//! Pure functions over the bytes of a file.
//!
//! Sources: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng; the formats themselves are read and written by the
//! `pcap-parser` crate.

use super::pcapng::Section;
use pcap_parser::nom;
use pcap_parser::{
    LegacyPcapBlock, PcapHeader, ToVec, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header,
};
use std::time::Duration;
use thiserror::Error;

/// Link type of Ethernet frames.
pub const LINKTYPE_ETHERNET: u16 = 1;
/// The most bytes that tcpdump and Wireshark keep of a frame; a record that claims more is taken to be damaged.
const SNAP_LENGTH: u32 = 262_144;
/// How a pcapng file begins, in either byte order.
const PCAPNG_MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// A captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Number of the frame in the file, from 1 as capture tools count.
    pub number: u64,
    /// Where the record begins, in bytes from the start of the file.
    pub offset: u64,
    /// Time since 1970-01-01 UTC; zero where the file gives none (pcapng's simple packet block).
    pub timestamp: Duration,
    /// Bytes of the frame on the wire.
    pub original: usize,
    /// The bytes captured, from the Ethernet header.
    pub frame: &'a [u8],
}

/// Why a file is not read at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The file does not begin as a capture does.
    #[error("is neither a pcap nor a pcapng file: give a capture written by tcpdump, dumpcap or Wireshark")]
    NotACapture,
    /// The file ends inside its header.
    #[error("ends after {0} bytes, inside its file header: copy or capture it again")]
    HeaderCutOff(usize),
    /// The frames are not Ethernet frames.
    #[error("has link type {0}, and only Ethernet (1) is read: capture on an Ethernet interface")]
    LinkType(u16),
}

/// Why reading stopped at a record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The file ends inside the record.
    #[error("the file ends inside packet {number}, which begins at byte {offset}: copy or capture it again")]
    CutOff {
        /// Number of the record's frame, from 1.
        number: u64,
        /// Where the record begins, in bytes.
        offset: u64,
    },
    /// The record cannot be true.
    #[error(
        "packet {number}, which begins at byte {offset}, {reason}: the file is damaged, copy or capture it again"
    )]
    Corrupt {
        /// Number of the record's frame, from 1.
        number: u64,
        /// Where the record begins, in bytes.
        offset: u64,
        /// What is wrong, as a predicate.
        reason: String,
    },
    /// A block that the enhanced packet block of pcapng has replaced.
    #[error(
        "packet {number}, which begins at byte {offset}, is an obsolete packet block: convert the file with editcap"
    )]
    Obsolete {
        /// Number of the record's frame, from 1.
        number: u64,
        /// Where the record begins, in bytes.
        offset: u64,
    },
    /// An interface of a pcapng file is not Ethernet.
    #[error(
        "packet {number} has link type {link_type}, and only Ethernet (1) is read: capture on an Ethernet interface"
    )]
    LinkType {
        /// Number of the record's frame, from 1.
        number: u64,
        /// The link type.
        link_type: u16,
    },
}

/// The records of a capture file, in the file's order. After an error there are no more.
#[derive(Debug)]
pub struct Records<'a> {
    format: Format,
    file_bytes: usize,
    rest: &'a [u8],
    frames: u64,
}

#[derive(Debug)]
enum Format {
    Pcap { header: PcapHeader },
    PcapNg(Section),
}

/// What a record turned out to be.
pub(super) enum Content<'a> {
    Frame {
        timestamp: Duration,
        original: u32,
        frame: &'a [u8],
    },
    Other,
}

/// Why the bytes at a record's start are no record.
pub(super) enum Broken {
    CutOff,
    Corrupt(String),
    LinkType(u16),
    Obsolete,
}

impl<'a> Records<'a> {
    /// Looks at the header of the file with these bytes.
    pub fn new(bytes: &'a [u8]) -> Result<Self, FormatError> {
        if bytes.starts_with(&PCAPNG_MAGIC) {
            let format = Format::PcapNg(Section::default());
            return Ok(Self {
                format,
                file_bytes: bytes.len(),
                rest: bytes,
                frames: 0,
            });
        }
        let (rest, header) = match parse_pcap_header(bytes) {
            Ok(parsed) => parsed,
            Err(nom::Err::Incomplete(_)) if bytes.len() >= 4 => {
                return Err(FormatError::HeaderCutOff(bytes.len()));
            }
            Err(_) => return Err(FormatError::NotACapture),
        };
        // The upper half tells of frame check sequences, which the lengths in the IP header cut off.
        let link_type = header.network.0 as u16;
        if link_type != LINKTYPE_ETHERNET {
            return Err(FormatError::LinkType(link_type));
        }
        Ok(Self {
            format: Format::Pcap { header },
            file_bytes: bytes.len(),
            rest,
            frames: 0,
        })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let number = self.frames + 1;
            let offset = (self.file_bytes - self.rest.len()) as u64;
            let parsed = match &mut self.format {
                Format::Pcap { header } => pcap_record(self.rest, header),
                Format::PcapNg(section) => section.block(self.rest),
            };
            match parsed {
                Ok((rest, content)) => {
                    self.rest = rest;
                    if let Content::Frame {
                        timestamp,
                        original,
                        frame,
                    } = content
                    {
                        self.frames = number;
                        let original = original as usize;
                        return Some(Ok(Record {
                            number,
                            offset,
                            timestamp,
                            original,
                            frame,
                        }));
                    }
                }
                Err(broken) => {
                    self.rest = &[];
                    return Some(Err(match broken {
                        Broken::CutOff => RecordError::CutOff { number, offset },
                        Broken::Corrupt(reason) => RecordError::Corrupt {
                            number,
                            offset,
                            reason,
                        },
                        Broken::Obsolete => RecordError::Obsolete { number, offset },
                        Broken::LinkType(link_type) => RecordError::LinkType { number, link_type },
                    }));
                }
            }
        }
        None
    }
}

fn pcap_record<'a>(bytes: &'a [u8], header: &PcapHeader) -> Result<(&'a [u8], Content<'a>), Broken> {
    let parse = match (header.is_modified_format(), header.is_bigendian()) {
        (true, _) => parse_pcap_frame_modified,
        (false, true) => parse_pcap_frame_be,
        (false, false) => parse_pcap_frame,
    };
    if let Some(length) = bytes.get(8..12).and_then(|length| length.try_into().ok()) {
        let big_endian = header.is_bigendian();
        check_length(if big_endian {
            u32::from_be_bytes(length)
        } else {
            u32::from_le_bytes(length)
        })?;
    }
    // All that a pcap record's parser can want is more bytes.
    let (rest, block) = parse(bytes).map_err(|_| Broken::CutOff)?;
    let unit = if header.is_nanosecond_precision() { 1 } else { 1000 };
    let fraction = Duration::from_nanos(u64::from(block.ts_usec) * unit);
    let timestamp = Duration::from_secs(block.ts_sec.into()) + fraction;
    Ok((
        rest,
        Content::Frame {
            timestamp,
            original: block.origlen,
            frame: block.data,
        },
    ))
}

pub(super) fn check_length(captured: u32) -> Result<(), Broken> {
    if captured > SNAP_LENGTH {
        return Err(Broken::Corrupt(format!(
            "claims {captured} captured bytes, more than {SNAP_LENGTH}"
        )));
    }
    Ok(())
}

/// Why a capture cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WriteError {
    /// The timestamp does not fit in the 32-bit seconds of a pcap file.
    #[error("a frame at {0:?} after 1970 is too late for a pcap file, whose clock ends in 2106")]
    TooLate(Duration),
    /// The frame is longer than a capture keeps.
    #[error("a frame of {0} bytes is longer than the {SNAP_LENGTH} bytes a capture keeps")]
    TooLong(usize),
    /// The library refused to write.
    #[error("the capture could not be written: {0}")]
    Library(String),
}

/// The bytes of a pcap file, little-endian with nanoseconds, of Ethernet frames with their times since 1970.
pub fn write_pcap<'a>(frames: impl IntoIterator<Item = (Duration, &'a [u8])>) -> Result<Vec<u8>, WriteError> {
    let mut header = PcapHeader {
        magic_number: 0xa1b2_3c4d,
        snaplen: SNAP_LENGTH,
        ..PcapHeader::new()
    };
    let mut file = header
        .to_vec()
        .map_err(|error| WriteError::Library(error.to_string()))?;
    for (timestamp, data) in frames {
        let length = u32::try_from(data.len())
            .ok()
            .filter(|&length| length <= SNAP_LENGTH);
        let length = length.ok_or(WriteError::TooLong(data.len()))?;
        let ts_sec = timestamp
            .as_secs()
            .try_into()
            .map_err(|_| WriteError::TooLate(timestamp))?;
        let ts_usec = timestamp.subsec_nanos();
        let mut block = LegacyPcapBlock {
            ts_sec,
            ts_usec,
            caplen: length,
            origlen: length,
            data,
        };
        file.extend(
            block
                .to_vec()
                .map_err(|error| WriteError::Library(error.to_string()))?,
        );
    }
    Ok(file)
}
