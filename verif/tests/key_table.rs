//! `key_table`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("key_table", "H3, R5");
