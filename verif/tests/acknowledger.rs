//! `acknowledger`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("acknowledger", "H3, R6, R7");
