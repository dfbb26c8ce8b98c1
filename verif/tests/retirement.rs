//! `retirement`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("retirement", "H3, R6, R7, R10");
