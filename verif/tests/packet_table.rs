//! `packet_table`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("packet_table", "H3, R6");
