//! `completion`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("completion", "H3, R10, R11");
