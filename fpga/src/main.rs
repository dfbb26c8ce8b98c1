//! `metaroce-fpga`: from the units to a bitstream, from the command line.

use anyhow::Result;
use clap::{Parser, Subcommand};
use metaroce_fpga::{
    Error,
    board::Board,
    error::{BAD_INPUT, DONE, TOO_SLOW},
    flow::{Options, build},
    report::Report,
    tool::Tools,
};
use metaroce_model::Params;
use std::{path::PathBuf, process::ExitCode};

/// Make a bitstream of the units, and a report of its area and timing.
///
/// Exit codes: 0 done, 1 slower than --require-mhz, 2 bad input, 3 a tool is missing, too old or failed.
#[derive(Parser)]
#[command(name = "cargo fpga", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build a bitstream.
    Build {
        /// A board that `boards` lists, or a .toml file.
        #[arg(long)]
        board: String,
        /// tiny, ecp5, asic400g, or a .toml file.
        #[arg(long)]
        profile: String,
        /// Seeds of placement, a run each.
        #[arg(long, num_args = 1.., value_delimiter = ',', default_values_t = [1])]
        seed: Vec<u32>,
        /// Build this unit alone instead of all.
        #[arg(long)]
        unit: Option<String>,
        /// Speed grades, a run each for each seed; the board's own by default.
        #[arg(long, num_args = 1.., value_delimiter = ',')]
        speed: Vec<u8>,
        /// The design's clock in MHz; on a board without PLL only what place and route aims at.
        #[arg(long)]
        freq: Option<f64>,
        /// Exit with code 1 when a run is slower.
        #[arg(long)]
        require_mhz: Option<f64>,
        /// Runs of place and route at once.
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        /// Folder for the folder of results, which is named BOARD-PROFILE or BOARD-PROFILE-UNIT.
        #[arg(long, default_value = "out/fpga")]
        out: PathBuf,
        /// Folder of yosys, nextpnr and so on, instead of what scripts/setup.sh installed.
        #[arg(long)]
        tools: Option<PathBuf>,
        /// Print the report as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the boards.
    Boards {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the tables of a report again.
    Report {
        /// The report.json of a build.
        file: PathBuf,
    },
}

fn main() -> ExitCode {
    // A reader that has seen enough (`| head`) ends the program, quietly.
    sigpipe::reset();
    match dispatch(Arguments::parse().command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(error.downcast_ref::<Error>().map_or(BAD_INPUT, Error::exit_code))
        }
    }
}

fn dispatch(command: Command) -> Result<u8> {
    match command {
        Command::Build {
            board,
            profile,
            seed,
            unit,
            speed,
            freq,
            require_mhz,
            jobs,
            out,
            tools,
            json,
        } => {
            let options = Options {
                board: Board::load(&board)?,
                params: Params::load(&profile).map_err(Error::from)?,
                unit,
                seeds: seed,
                speed_grades: speed,
                mhz: freq,
                out,
                tools: Tools::new(tools),
                jobs,
            };
            let (report, folder) = build(&options)?;
            print!("{}", if json { report.json() } else { report.table() });
            eprintln!("The results are in {}.", folder.display());
            match require_mhz {
                Some(goal) if report.worst_mhz() < goal => {
                    eprintln!(
                        "The slowest run makes {:.1} MHz, and {goal} MHz were required.",
                        report.worst_mhz()
                    );
                    Ok(TOO_SLOW)
                }
                _ => Ok(DONE),
            }
        }
        Command::Boards { json } => boards(json),
        Command::Report { file } => {
            print!("{}", Report::load(&file)?.table());
            Ok(DONE)
        }
    }
}

fn boards(json: bool) -> Result<u8> {
    let boards = Board::names().map(Board::load).collect::<Result<Vec<_>, _>>()?;
    if json {
        let list: Vec<_> = boards
            .iter()
            .map(|b| serde_json::json!({ "name": b.name, "title": b.title, "part": b.device.part, "speed_grades": b.device.speed_grades }))
            .collect();
        println!("{}", serde_json::to_string_pretty(&list)?);
    } else {
        for b in boards {
            println!("{:<12} {} ({})", b.name, b.title, b.device.part);
        }
    }
    Ok(DONE)
}
