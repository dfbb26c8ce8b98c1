//! `receiver`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("receiver", "H3, R4, R5, R6");
