//! `counters`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("counters", "H3, R6");
