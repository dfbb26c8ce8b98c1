//! Reading what the tools write, on small files made by hand.

use metaroce_fpga::{
    Error,
    netlist::{Area, Memory, Netlist, total},
    report::Report,
    timing::Timing,
};
use metaroce_rtl::hdl::Builder;
use metaroce_rtl::unit::memory::ram;

const TIMING: &str = include_str!("fixtures/nextpnr.json");
const NETLIST: &str = include_str!("fixtures/netlist.json");
const UNITS: [&str; 2] = ["path_table", "sack_rx"];

/// The critical path is the one between registers, not the longer one from a pin, and names the units at its ends.
#[test]
fn timing() {
    let timing = Timing::read(TIMING, &UNITS).unwrap();
    assert_eq!((timing.fmax_mhz, timing.constraint_mhz), (125.0, 100.0));
    let path = timing.critical_path.unwrap();
    assert_eq!(
        (path.from_unit.as_str(), path.to_unit.as_str()),
        ("sack_rx", "harness")
    );
    assert_eq!(path.from_cell, "harness.sack_rx.first");
    assert_eq!((path.ns, path.routing_ns, path.levels), (8.0, 7.25, 1));
    assert_eq!(timing.utilisation["TRELLIS_COMB"].used, 8364);
}

#[test]
fn timing_that_is_not_there() {
    let empty = r#"{"critical_paths": [], "fmax": {}, "utilization": {}}"#;
    let refusal = Timing::read(empty, &UNITS).unwrap_err();
    assert_eq!(refusal.exit_code(), 3);
    assert!(refusal.to_string().contains("it has no clock"), "{refusal}");
    assert!(Timing::read("{", &UNITS).is_err());
}

/// Each cell is counted for the unit whose name it bears; what bears none is the harness's.
#[test]
fn area_per_unit() {
    let areas = Netlist::read(NETLIST).unwrap().area(&UNITS);
    let of = |unit: &str| areas.iter().find(|(name, _)| name == unit).unwrap().1;
    let sack_rx = Area {
        lut4: 1,
        carry: 1,
        ff: 1,
        block_ram: 3,
        ..Area::default()
    };
    assert_eq!(of("sack_rx"), sack_rx);
    let path_table = of("path_table");
    assert_eq!((path_table.dsp, path_table.distributed_ram), (1, 1));
    let harness = of("harness");
    assert_eq!((harness.lut4, harness.ff), (1, 1));
    assert_eq!(total(&areas).lut4, 2);
    assert_eq!(total(&areas).ff, 2);
}

/// A memory that got no block RAM is told as such, and a table that got one is not forgotten.
#[test]
fn memories() {
    let b = Builder::new("sack_rx", "A unit with two memories.");
    let (enable, address, data) = (b.lit(1, 1), b.lit(0, 5), b.lit(0, 7));
    for name in ["vectors", "lost"] {
        b.instance(
            name,
            &ram(32, 7),
            &[
                ("write_enable", &enable),
                ("write_address", &address),
                ("write_data", &data),
                ("read_enable", &enable),
                ("read_address", &address),
            ],
        );
    }
    let memories = Netlist::read(NETLIST).unwrap().memories("sack_rx", &b.finish());
    let memory = |name: &str, size: Option<(u32, u32)>, block_rams| Memory {
        unit: "sack_rx".into(),
        name: name.into(),
        words: size.map(|(words, _)| words),
        bits: size.map(|(_, bits)| bits),
        block_rams,
    };
    let expected = [
        memory("vectors", Some((32, 7)), 2),
        memory("lost", Some((32, 7)), 0),
        memory("table_DP16KD_DOA", None, 1),
    ];
    assert_eq!(memories, expected);
}

#[test]
fn netlist_without_the_top() {
    let refusal = Netlist::read(r#"{"modules": {}}"#).err().unwrap();
    assert!(matches!(refusal, Error::ToolOutput { .. }));
    assert!(
        refusal.to_string().contains("there is no module metaroce_top"),
        "{refusal}"
    );
}

#[test]
fn report_that_is_not_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    assert_eq!(Report::load(&file).unwrap_err().exit_code(), 2);
    std::fs::write(&file, "{}").unwrap();
    let refusal = Report::load(&file).unwrap_err().to_string();
    assert!(refusal.starts_with("cannot read the report"), "{refusal}");
}
