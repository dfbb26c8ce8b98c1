//! Every unit of profile asic400g, whose buses and memories are the widest, in lockstep for a short while.

mod common;

use metaroce_verif::{rtl, unit::UNITS};

const PROFILE: &str = "asic400g";
/// Long enough for resets, and for the clear after the first one: 65,536 paths, one a clock.
const CLOCKS: u64 = 70_000;
/// The NIC has to be set up after the clear, and then does something.
const NIC_CLOCKS: u64 = 90_000;

/// H1, H3: model and Verilog are equal in every output and every clock (profile asic400g).
#[test]
fn every_unit_is_equal_in_every_clock() {
    let built = rtl::models();
    for unit in UNITS {
        // METAROCE_PROFILES may have left the profile out.
        if built.contains(&format!("{}_{PROFILE}", unit.name)) {
            let clocks = if unit.name == "nic" { NIC_CLOCKS } else { CLOCKS };
            common::equal(unit.name, PROFILE, &[1], clocks);
        } else {
            eprintln!("skipped: {} of profile {PROFILE} is not built", unit.name);
        }
    }
}
