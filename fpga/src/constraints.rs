//! The constraint files that tell place and route about the board.

use crate::board::{Board, Family};
use std::fmt::Write;

/// Name and text of the board's constraint file.
pub fn file(board: &Board) -> (&'static str, String) {
    match board.device.family {
        Family::Ecp5 => ("pins.lpf", lpf(board)),
        Family::Ice40 => ("pins.pcf", pcf(board)),
    }
}

fn lpf(board: &Board) -> String {
    let mut text = format!(
        "# {}; pins after {}.\nBLOCK RESETPATHS;\nBLOCK ASYNCPATHS;\n",
        board.title, board.source
    );
    let mut pin = |name: &str, site: &str, attributes: &std::collections::BTreeMap<String, String>| {
        let _ = writeln!(text, "LOCATE COMP \"{name}\" SITE \"{site}\";");
        if !attributes.is_empty() {
            let list: Vec<_> = attributes
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            let _ = writeln!(text, "IOBUF PORT \"{name}\" {};", list.join(" "));
        }
    };
    pin("clk", &board.clock.site, &board.clock.attributes);
    for (name, p) in &board.pins {
        pin(name, &p.site, &p.attributes);
    }
    // A PLL's output gets its constraint from this one.
    let _ = writeln!(
        text,
        "FREQUENCY PORT \"clk\" {} MHZ;",
        oscillator_constraint(board)
    );
    text
}

fn pcf(board: &Board) -> String {
    let mut text = format!("# {}; pins after {}.\n", board.title, board.source);
    let mut pin = |name: &str, site: &str, attributes: &std::collections::BTreeMap<String, String>| {
        let options: String = attributes
            .iter()
            .map(|(key, value)| format!("-{key} {value} "))
            .collect();
        let _ = writeln!(text, "set_io {options}{name} {site}");
    };
    pin("clk", &board.clock.site, &board.clock.attributes);
    for (name, p) in &board.pins {
        pin(name, &p.site, &p.attributes);
    }
    text
}

fn oscillator_constraint(board: &Board) -> f64 {
    if board.clock.pll {
        board.clock.mhz
    } else {
        board.clock.design_mhz
    }
}
