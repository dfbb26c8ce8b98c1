//! `sack_tx`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("sack_tx", "H3, R2, R6");
