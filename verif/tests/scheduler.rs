//! `scheduler`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("scheduler", "H3, R7, R8, R10");
