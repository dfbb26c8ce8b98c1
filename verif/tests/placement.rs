//! `placement`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("placement", "H3, R4");
