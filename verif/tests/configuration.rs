//! `configuration`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("configuration", "H3, R2, R5, R11");
