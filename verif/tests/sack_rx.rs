//! `sack_rx`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("sack_rx", "H3, R2, R4, R6");
