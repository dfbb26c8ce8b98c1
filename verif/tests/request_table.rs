//! `request_table`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("request_table", "H3, R5, R10, R11");
