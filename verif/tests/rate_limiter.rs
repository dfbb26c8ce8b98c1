//! `rate_limiter`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("rate_limiter", "H3, R7");
