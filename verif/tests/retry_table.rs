//! `retry_table`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("retry_table", "H3, R6");
