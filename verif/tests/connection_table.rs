//! `connection_table`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("connection_table", "H3, R2, R3");
