//! `configuration`: model and RTL in lockstep.

mod common;

const UNIT: &str = "configuration";
const CLOCKS: u64 = 200_000;

/// H3, R2, R5, R11: model and Verilog are equal in every output and every clock (profile tiny).
#[test]
fn equal_in_every_clock_tiny() {
    common::equal(UNIT, "tiny", &[1, 2], CLOCKS);
}

/// H3, R2, R5, R11: model and Verilog are equal in every output and every clock (profile ecp5).
#[test]
fn equal_in_every_clock_ecp5() {
    common::equal(UNIT, "ecp5", &[1, 2], CLOCKS);
}

/// H3, R2, R5, R11: the stimulus makes happen what the bins name (profile tiny).
#[test]
fn all_bins_are_hit_tiny() {
    common::all_bins_hit(UNIT, "tiny", 3, 500_000);
}

/// H3, R2, R5, R11: the stimulus makes happen what the bins name (profile ecp5).
#[test]
fn all_bins_are_hit_ecp5() {
    common::all_bins_hit(UNIT, "ecp5", 3, 500_000);
}

/// H3: the lockstep finds each broken line.
#[test]
fn every_broken_line_is_found() {
    common::every_mutation_is_found(UNIT, 1, CLOCKS);
}
