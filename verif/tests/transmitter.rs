//! `transmitter`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("transmitter", "H3, R2, R3, R4, R6, R8, R10");
