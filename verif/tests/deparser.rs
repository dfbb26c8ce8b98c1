//! `deparser`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("deparser", "H3, R2, R4, R5, R6");
