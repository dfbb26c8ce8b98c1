//! What every unit's lockstep test does, so that a test file says only which unit, and what it is for.

#![allow(dead_code, unused_imports, unused_macros, reason = "each test uses its part")]

use metaroce_model::Params;
use metaroce_rtl::unit::mutations;
use metaroce_verif::{
    run::{Options, Report},
    unit::find,
};

/// Clocks in which the lockstep must find every broken line.
pub const CLOCKS: u64 = 200_000;
/// Profile whose RTL exists with breakable lines.
const MUTANTS_PROFILE: &str = "tiny";
/// Broken lines that each unit lists, at least.
const FEWEST_MUTATIONS: usize = 10;

/// Runs the unit in lockstep.
fn run(unit: &str, profile: &str, seed: u64, cycles: u64, mutant: u8) -> Report {
    let params = Params::load(profile).unwrap();
    let options = Options {
        cycles,
        seed,
        mutant,
        vcd: None,
        failures: None,
    };
    let entry = find(unit).unwrap();
    (entry.run)(&params, &options, &mut |_| ()).unwrap_or_else(|error| panic!("{error:#}"))
}

/// Model and RTL are equal in every clock, under each seed.
pub fn equal(unit: &str, profile: &str, seeds: &[u64], cycles: u64) {
    for &seed in seeds {
        let report = run(unit, profile, seed, cycles, 0);
        if let Some(mismatch) = &report.mismatch {
            panic!(
                "{unit} ({profile}) differs under seed {seed}:\n{mismatch}again: {}",
                report.replay
            );
        }
        assert_eq!(report.cycles, cycles);
    }
}

/// All functional bins are hit in one run.
pub fn all_bins_hit(unit: &str, profile: &str, seed: u64, cycles: u64) {
    let report = run(unit, profile, seed, cycles, 0);
    let missed = report.bins.missed();
    assert!(
        report.equal && missed.is_empty(),
        "{unit} ({profile}) under seed {seed} did not hit in {} clocks: {}\nagain: {} --require-bins",
        report.cycles,
        missed.join("; "),
        report.replay
    );
}

/// Each line that the unit lists, broken, is found.
pub fn every_mutation_is_found(unit: &str, seed: u64, cycles: u64) {
    let mutations = mutations(unit);
    assert!(
        mutations.len() >= FEWEST_MUTATIONS,
        "{unit} lists {} lines to break, but at least {FEWEST_MUTATIONS} are asked for",
        mutations.len()
    );
    let mut survivors = String::new();
    for (position, mutation) in mutations.iter().enumerate() {
        let mutant = u8::try_from(position + 1).expect("a unit has at most 255 breakable lines");
        let report = run(unit, MUTANTS_PROFILE, seed, cycles, mutant);
        if report.equal {
            survivors += &format!(
                "\n{mutation:?} was not found under seed {seed}: {}",
                report.replay
            );
        }
    }
    assert!(
        survivors.is_empty(),
        "broken lines of {unit} are not found in {cycles} clocks:{survivors}"
    );
}

/// The tests that every unit has, given its name and the requirements that it serves.
macro_rules! lockstep_tests {
    ($unit:literal, $requirements:literal) => {
        #[doc = concat!($requirements, ": model and Verilog are equal in every output and every clock (profile tiny).")]
        #[test]
        fn equal_in_every_clock_tiny() {
            common::equal($unit, "tiny", &[1, 2], common::CLOCKS);
        }

        #[doc = concat!($requirements, ": model and Verilog are equal in every output and every clock (profile ecp5).")]
        #[test]
        fn equal_in_every_clock_ecp5() {
            common::equal($unit, "ecp5", &[1, 2], common::CLOCKS);
        }

        #[doc = concat!($requirements, ": the stimulus makes happen what the bins name (profile tiny).")]
        #[test]
        fn all_bins_are_hit_tiny() {
            common::all_bins_hit($unit, "tiny", 3, 500_000);
        }

        #[doc = concat!($requirements, ": the stimulus makes happen what the bins name (profile ecp5).")]
        #[test]
        fn all_bins_are_hit_ecp5() {
            common::all_bins_hit($unit, "ecp5", 3, 500_000);
        }

        /// H3: the lockstep finds each broken line.
        #[test]
        fn every_broken_line_is_found() {
            common::every_mutation_is_found($unit, 1, common::CLOCKS);
        }
    };
}
pub(crate) use lockstep_tests;
