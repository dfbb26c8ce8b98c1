//! The wire: what a MetaRoCE packet looks like, said once.
//!
//! - [`table`]: every header, field, opcode, flag and code, and where each stands in a frame.
//! - [`Packet`]: a packet as plain values, [`Packet::encode`]d and [`Packet::decode`]d by the table.
//! - [`DropReason`]: why a receiver drops a frame, in order of priority.
//! - [`icrc()`]: the checksum over all that no switch changes.
//! - [`docs()`], [`dissector()`]: the table for readers, `docs/wire.md` and `model/wireshark/metaroce.lua`; `cargo wire` prints them.

pub(crate) mod codec;
mod dissector;
mod docs;
mod drop_reason;
mod icrc;
pub(crate) mod layout;
mod packet;
pub mod table;

pub use codec::Receiver;
pub use dissector::dissector;
pub use docs::docs;
pub use drop_reason::DropReason;
pub use icrc::icrc;
pub use packet::{Ack, Base, Body, Data, Nak, Packet, Route, Target};
pub use table::{NakCode, Opcode};
