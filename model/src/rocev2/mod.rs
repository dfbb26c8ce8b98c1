//! RoCEv2 (RDMA over Converged Ethernet, version 2): captures of real traffic read, checked, folded to messages,
//! and captures of a similar shape generated.
//!
//! - [`Capture`], [`CaptureReader`]: a pcap or pcapng file as frames, each a [`Packet`] or skipped with a reason
//!   ([`Skip`]), and a [`CaptureSummary`] in which no frame is missing.
//! - [`Messages`]: the RDMA messages of a capture.
//! - [`generate_ring_capture`]: a capture made up from a seed, for where there is no real one.
//! - [`Packet::from_frame`], [`Packet::to_frame`]: a packet from and to the bytes of an Ethernet frame.
//! - [`icrc()`]: the invariant CRC; [`Operation`], [`header`]: the transport headers.
//! - [`pcap`]: the records of a capture file.
//!
//! Only [`Capture::read`] does input or output; all else is a function of its arguments. Input may be hostile: no
//! bytes make any of this panic.
//!
//! Sources: InfiniBand Architecture Specification, volume 1, chapter 9 for the transport headers, and its annex A17
//! (RoCEv2) for their place in UDP and the rules of the invariant CRC; RFC 791 (IPv4), RFC 8200 (IPv6), RFC 768
//! (UDP), RFC 3168 (ECN), RFC 1982 (order of PSNs); draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.

mod capture;
mod field;
mod frame;
mod generate;
pub mod header;
mod icrc;
mod message;
mod operation;
mod packet;
pub mod pcap;
mod pcapng;
mod ring;

pub use capture::{Capture, CaptureError, CaptureReader, CaptureSummary, Frame, SkippedFrames};
pub use field::{Psn, Qpn};
pub use frame::{FrameError, Link};
pub use generate::{GenerateError, RingTraffic, generate_ring_capture};
pub use header::{Aeth, Bth, Reth};
pub use icrc::{ICRC_BYTES, IpHeader, icrc};
pub use message::{Flow, Message, MessageKind, MessagePacket, Messages};
pub use operation::Operation;
pub use packet::{Ecn, Malformed, Packet, Skip};

/// UDP destination port of RoCEv2, assigned by IANA.
pub const UDP_PORT: u16 = 4791;
