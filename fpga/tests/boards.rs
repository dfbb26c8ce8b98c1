//! The boards that come with the project, and boards that are refused.

use metaroce_fpga::{board::Board, constraints, harness::PINS};
use std::{collections::BTreeSet, process::Command};

#[test]
fn every_built_in_board_is_whole() {
    for name in Board::names() {
        let board = Board::load(name).unwrap();
        assert_eq!(board.name, name);
        let mut sites: BTreeSet<&str> = board.pins.values().map(|pin| pin.site.as_str()).collect();
        sites.insert(&board.clock.site);
        assert_eq!(sites.len(), PINS.len() + 1, "{name}: two pins are at one site");
        let (_, text) = constraints::file(&board);
        for (pin, _) in PINS.into_iter().chain([("clk", true)]) {
            let lines = text.lines().filter(|line| {
                line.contains(&format!("COMP \"{pin}\" ")) || line.contains(&format!(" {pin} "))
            });
            assert_eq!(lines.count(), 1, "{name}: {pin} is located once in\n{text}");
        }
    }
}

#[test]
fn constraints_of_the_ulx3s() {
    let (name, text) = constraints::file(&Board::load("ulx3s-85f").unwrap());
    assert_eq!(name, "pins.lpf");
    assert!(text.contains("LOCATE COMP \"clk\" SITE \"G2\";"), "{text}");
    assert!(text.contains("FREQUENCY PORT \"clk\" 25 MHZ;"), "{text}");
    assert!(
        text.contains("IOBUF PORT \"reset\" IO_TYPE=LVCMOS33 PULLMODE=DOWN;"),
        "{text}"
    );
}

#[test]
fn constraints_of_the_hx8k() {
    let (name, text) = constraints::file(&Board::load("ice40-hx8k").unwrap());
    assert_eq!(name, "pins.pcf");
    assert!(text.contains("set_io clk J3\n"), "{text}");
    assert!(text.contains("set_io -pullup yes reset B14\n"), "{text}");
}

/// Each board that cannot be used is refused with one sentence that says why.
#[test]
fn unusable_boards_are_refused_with_a_sentence() {
    let good = include_str!("../boards/ice40-hx8k.toml");
    for (from, to, reason) in [
        (
            "name = \"ice40-hx8k\"",
            "name = \"../up\"",
            "lower-case letters, digits and hyphens",
        ),
        (
            "[pins.load]",
            "[pins.unload]",
            "does not say where the pin 'load' is",
        ),
        (
            "pll = false",
            "pll = true",
            "the PLL of an iCE40 is not supported",
        ),
        ("mhz = 12.0", "mhz = -1.0", "is not above 0 MHz"),
        ("family = \"ice40\"", "family = \"max10\"", "max10"),
    ] {
        assert!(good.contains(from));
        let refusal = Board::from_toml(&good.replacen(from, to, 1), "mine.toml").unwrap_err();
        assert_eq!(refusal.exit_code(), 2);
        let refusal = refusal.to_string();
        assert!(
            refusal.starts_with("the board mine.toml cannot be used: "),
            "{refusal}"
        );
        assert!(refusal.contains(reason), "{refusal}");
    }
    let extra = format!("{good}\n[pins.lamp]\nsite = \"A1\"\n");
    let refusal = Board::from_toml(&extra, "mine.toml").unwrap_err().to_string();
    assert!(
        refusal.contains("there is no pin 'lamp' in the design"),
        "{refusal}"
    );
    assert!(Board::load("/nowhere/board.toml").is_err());
}

/// A reader that goes away (`| head`) is no error and no panic.
#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let command = Command::new(env!("CARGO_BIN_EXE_metaroce-fpga"))
        .arg("boards")
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&command.stderr), "");
    assert_eq!(command.status.code(), None, "ended by the signal");
}
