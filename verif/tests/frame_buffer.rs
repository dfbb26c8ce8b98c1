//! `frame_buffer`: model and RTL in lockstep.

mod common;

common::lockstep_tests!("frame_buffer", "H3, R4");
