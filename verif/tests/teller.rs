//! `teller`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("teller", "H3, R4, R10");
