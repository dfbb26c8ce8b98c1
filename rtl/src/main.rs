//! `metaroce-rtl`: writes the units' Verilog.

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use metaroce_model::{Params, params::ParamsError};
use metaroce_rtl::{generated, unit::UNITS};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Write the Verilog of the NIC's units.
///
/// Exit codes: 0 done or current, 1 the checked folder is stale, 2 bad input.
#[derive(Parser)]
#[command(name = "cargo rtl", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a folder with one file a module; the folder's other files are removed.
    Generate {
        #[command(flatten)]
        what: What,
    },
    /// Compare a folder with what would be generated, and change nothing.
    Check {
        #[command(flatten)]
        what: What,
    },
    /// List the units.
    List,
}

#[derive(clap::Args)]
struct What {
    /// tiny, ecp5, asic400g, or a path to a .toml file.
    #[arg(long, default_value = "ecp5")]
    profile: String,
    /// Only this unit, with the modules inside it.
    #[arg(long)]
    unit: Option<String>,
    /// The folder [default: rtl/generated/PROFILE].
    #[arg(long)]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    // A reader that has seen enough (`| head`) ends the program, quietly.
    sigpipe::reset();
    match dispatch(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(command: Command) -> Result<ExitCode> {
    match command {
        Command::List => UNITS.iter().for_each(|unit| println!("{unit}")),
        Command::Generate { what } => {
            let (files, folder) = what.files()?;
            generated::write(&files, &folder)?;
            println!("{}: {} modules", folder.display(), files.len());
        }
        Command::Check { what } => {
            let (files, folder) = what.files()?;
            let stale = generated::stale(&files, &folder);
            if !stale.is_empty() {
                let profile = &what.profile;
                println!("{} is stale: {}", folder.display(), stale.join(", "));
                println!("run: cargo rtl generate --profile {profile}");
                return Ok(ExitCode::FAILURE);
            }
            println!("{} is current", folder.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl What {
    fn files(&self) -> Result<(generated::Files, PathBuf)> {
        let params = Params::load(&self.profile).map_err(|e: ParamsError| anyhow::Error::from(e))?;
        let units: Vec<&str> = match &self.unit {
            None => UNITS.to_vec(),
            Some(unit) if UNITS.contains(&unit.as_str()) => vec![unit],
            Some(unit) => bail!("there is no unit '{unit}': the units are {}", UNITS.join(", ")),
        };
        let folder = self
            .out
            .clone()
            .unwrap_or_else(|| Path::new("rtl/generated").join(&params.name));
        let files = generated::files(&units, &params).context("cannot generate the Verilog")?;
        Ok((files, folder))
    }
}
