//! From the units to a bitstream: a top for a board, yosys, nextpnr, and a report of area and timing.
//!
//! - [`board`]: the boards; [`harness`]: the units behind a scan chain, [`scan`]: the order of its bits; [`top`]: the
//!   harness on a board, with the [`pll`]; [`constraints`]: the board's pins for place and route.
//! - [`flow`]: the steps; [`tool`]: running one.
//! - [`netlist`]: area per unit; [`timing`]: place and route's result; [`report`]: all of it together.

pub mod board;
pub mod constraints;
pub mod error;
pub mod flow;
pub mod harness;
pub mod netlist;
pub mod pll;
pub mod report;
pub mod scan;
pub mod timing;
pub mod tool;
pub mod top;

pub use error::Error;
