//! The golden reference of a MetaRoCE NIC: its units, cycle by cycle, in plain Rust.
//!
//! - [`params`]: the parameters of a NIC and the profiles.
//! - [`port`]: the contract of every unit: ports, operation codes, latency, behaviour.
//! - [`mod@unit`]: the units' behaviour.
//! - [`pipeline`]: what every streaming unit is made of.
//! - [`serial`]: order of numbers that wrap.
//! - [`wire`]: what a packet looks like: the table of its headers and all that comes from it.
//! - [`pair`]: two NICs back to back, with hosts, links and a scoreboard.
//! - [`rocev2`]: captures of real RoCEv2 traffic, and made-up ones.
//!
//! This crate knows nobody: no foreign functions, no Verilator, no hardware description.

pub mod pair;
pub mod params;
pub mod pipeline;
pub mod port;
pub mod rocev2;
pub mod serial;
pub mod unit;
pub mod wire;

pub use params::Params;
