//! Reading a capture file: each frame with its packet or the reason why it has none, and the sums of both.

use super::pcap::{FormatError, RecordError, Records};
use super::{Packet, Skip};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use std::{fs, io};
use thiserror::Error;

/// A frame of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of the frame in the file, from 1 as capture tools count.
    pub number: u64,
    /// Where its record begins, in bytes from the start of the file.
    pub offset: u64,
    /// Time of the capture since 1970-01-01 UTC; zero where the file gives none.
    pub timestamp: Duration,
    /// The packet, or why the frame was skipped.
    pub packet: Result<Packet, Skip>,
}

/// How many frames were read, and what became of them:
/// `frames == data + acknowledgements + skipped.total()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureSummary {
    /// Frames read.
    pub frames: u64,
    /// Packets of messages: SEND and RDMA WRITE.
    pub data: u64,
    /// Bytes of their payload.
    pub payload_bytes: u64,
    /// Acknowledgements of any kind.
    pub acknowledgements: u64,
    /// Frames skipped.
    pub skipped: SkippedFrames,
    /// Whether the file ended inside a record or was damaged, so that there may have been more frames.
    pub incomplete: bool,
}

/// Frames skipped, by reason; see [`Skip`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkippedFrames {
    /// Not UDP to port 4791.
    pub other_traffic: u64,
    /// Cut by the capture's snap length.
    pub truncated: u64,
    /// Damaged: the invariant CRC is wrong.
    pub bad_icrc: u64,
    /// Self-contradictory.
    pub malformed: u64,
    /// Another opcode.
    pub other_opcode: u64,
}

/// Why a capture was not read, or not to its end.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file system refused.
    #[error("the capture '{file}' cannot be read: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file is no Ethernet capture.
    #[error("the capture '{file}' {source}")]
    Format {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: FormatError,
    },
    /// Reading stopped at a record.
    #[error("the capture '{file}' is incomplete after {} frames: {source}", read.summary.frames)]
    Record {
        /// The file.
        file: String,
        /// What is wrong with the record.
        source: RecordError,
        /// What was read before it.
        read: Box<Capture>,
    },
}

/// Reads the frames of a capture one after the other. After an error there are no more.
#[derive(Debug)]
pub struct CaptureReader<'a> {
    records: Records<'a>,
    summary: CaptureSummary,
}

impl<'a> CaptureReader<'a> {
    /// A reader of the capture file with these bytes.
    pub fn new(bytes: &'a [u8]) -> Result<Self, FormatError> {
        Ok(Self {
            records: Records::new(bytes)?,
            summary: CaptureSummary::default(),
        })
    }

    /// What became of the frames so far.
    pub fn summary(&self) -> CaptureSummary {
        self.summary
    }
}

impl Iterator for CaptureReader<'_> {
    type Item = Result<Frame, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = match self.records.next()? {
            Ok(record) => record,
            Err(error) => {
                self.summary.incomplete = true;
                return Some(Err(error));
            }
        };
        let packet = Packet::from_frame(record.frame, record.original);
        self.summary.count(&packet);
        let (number, offset, timestamp) = (record.number, record.offset, record.timestamp);
        Some(Ok(Frame {
            number,
            offset,
            timestamp,
            packet,
        }))
    }
}

impl CaptureSummary {
    fn count(&mut self, packet: &Result<Packet, Skip>) {
        self.frames += 1;
        let counter = match packet {
            Ok(packet) if packet.operation.is_data() => {
                self.payload_bytes += packet.payload.len() as u64;
                &mut self.data
            }
            Ok(_) => &mut self.acknowledgements,
            Err(Skip::OtherTraffic) => &mut self.skipped.other_traffic,
            Err(Skip::Truncated { .. }) => &mut self.skipped.truncated,
            Err(Skip::BadIcrc { .. }) => &mut self.skipped.bad_icrc,
            Err(Skip::Malformed(_)) => &mut self.skipped.malformed,
            Err(Skip::OtherOpcode(_)) => &mut self.skipped.other_opcode,
        };
        *counter += 1;
    }
}

impl SkippedFrames {
    /// Frames skipped for any reason.
    pub fn total(&self) -> u64 {
        self.other_traffic + self.truncated + self.bad_icrc + self.malformed + self.other_opcode
    }
}

/// A capture in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// All frames in the order of the file.
    pub frames: Vec<Frame>,
    /// What became of them.
    pub summary: CaptureSummary,
}

impl Capture {
    /// Reads the pcap or pcapng file at `path`.
    pub fn read(path: &Path) -> Result<Self, CaptureError> {
        let file = path.display().to_string();
        match fs::read(path) {
            Ok(bytes) => Self::from_bytes(&file, &bytes),
            Err(source) => Err(CaptureError::Io { file, source }),
        }
    }

    /// Reads the pcap or pcapng file with these bytes; `file` names it in errors.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, CaptureError> {
        let file = file.to_string();
        let mut reader = match CaptureReader::new(bytes) {
            Ok(reader) => reader,
            Err(source) => return Err(CaptureError::Format { file, source }),
        };
        let mut frames = Vec::new();
        let stopped = reader
            .by_ref()
            .try_for_each(|frame| frame.map(|frame| frames.push(frame)));
        let read = Self {
            frames,
            summary: reader.summary(),
        };
        match stopped {
            Ok(()) => Ok(read),
            Err(source) => Err(CaptureError::Record {
                file,
                source,
                read: Box::new(read),
            }),
        }
    }

    /// The packets, each with the number of its frame.
    pub fn packets(&self) -> impl Iterator<Item = (u64, &Packet)> {
        self.frames
            .iter()
            .filter_map(|frame| Some((frame.number, frame.packet.as_ref().ok()?)))
    }
}
