//! Holding the Verilated RTL to the model: every output of every unit, every clock (requirement H3).
//!
//! - [`rtl`]: the Verilated units behind cxx.
//! - [`lockstep`]: model and RTL side by side, and what a difference looks like.
//! - [`stimulus`]: what drives the inputs; [`bins`]: what of it must have happened; [`occupancy`]: how full a unit's pipeline is; [`intake`]: when operations
//!   that wait for each other issue; [`answers`]: when a table answers a unit that asks it.
//! - [`mod@unit`]: stimulus and bins of each unit, one file a unit.
//! - [`run`]: runs of a unit: from a seed, from a recorded trace, with one line of RTL broken.
//! - [`demo`]: the main job: a capture through the four units.
//! - [`shrink`]: cuts a failing trace short; [`wave`]: writes both sides to one waveform file.

pub mod answers;
pub mod bins;
pub mod demo;
pub mod intake;
pub mod lockstep;
pub mod occupancy;
pub mod rtl;
pub mod run;
pub mod shrink;
pub mod stimulus;
pub mod unit;
pub mod wave;

/// Exit codes of the project's programs.
pub mod exit {
    /// Equal, or done.
    pub const EQUAL: u8 = 0;
    /// Model and RTL differ, or a goal was missed.
    pub const MISMATCH: u8 = 1;
    /// Bad arguments, profile, capture or output folder.
    pub const BAD_INPUT: u8 = 2;
    /// A tool is missing, too old or failed.
    pub const TOOL_FAILURE: u8 = 3;
}
