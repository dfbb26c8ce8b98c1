//! `align`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("align", "H3, R4");
