//! Prints what is generated from the wire's table: `cargo wire docs > docs/wire.md`,
//! `cargo wire dissector > model/wireshark/metaroce.lua`. A test holds both files to the table.

use metaroce_model::wire;
use std::io::{self, Write};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: metaroce-wire docs | dissector

Prints what is generated from the wire's table (model/src/wire/table.rs).

  docs        the page docs/wire.md
  dissector   the Wireshark dissector model/wireshark/metaroce.lua

Exit codes: 0 done, 1 the output could not be written, 2 unknown command.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["docs"] => wire::docs(),
        ["dissector"] => wire::dissector(),
        ["--help" | "-h"] => USAGE.to_string(),
        _ => {
            eprint!(
                "metaroce-wire takes one command, docs or dissector, not '{}'.\n\n{USAGE}",
                arguments.join(" ")
            );
            return ExitCode::from(2);
        }
    };
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("metaroce-wire could not write its output: {error}.");
            ExitCode::FAILURE
        }
    }
}
