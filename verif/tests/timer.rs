//! `timer`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("timer", "H3, R6, R8, R9");
