//! The wire: what a MetaRoCE packet looks like, said once.
//!
//! - [`table`]: every header, field, opcode, flag and code, and where each stands in a frame.
//! - [`DropReason`]: why a receiver drops a frame, in order of priority.

mod drop_reason;
pub mod table;

pub use drop_reason::DropReason;
pub use table::{NakCode, Opcode};
