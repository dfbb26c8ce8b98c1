//! The golden reference of a MetaRoCE NIC: its units, cycle by cycle, in plain Rust.
pub mod params;
pub use params::Params;
