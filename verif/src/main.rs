//! `metaroce-cosim`: model and RTL in lockstep, from the command line.

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use metaroce_model::{Params, params::ParamsError, rocev2::CaptureError};
use metaroce_rtl::unit::mutations;
use metaroce_verif::{
    demo, exit,
    run::{Options, Report, RunError, Trace},
    unit::{UNITS, find},
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Hold the Verilated RTL to the model, every output of every unit, every clock.
///
/// Exit codes: 0 equal, 1 mismatch, 2 bad input, 3 tool failure.
#[derive(Parser)]
#[command(name = "cargo cosim", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a unit under random stimulus; 'all' runs every unit.
    Run {
        /// Name of the unit, as `list` gives it.
        unit: String,
        /// tiny, ecp5, asic400g.
        #[arg(long, default_value = "tiny")]
        profile: String,
        /// Clocks to run.
        #[arg(long, default_value_t = 200_000)]
        cycles: u64,
        /// Seed of stimulus and power-up contents: the same seed gives the same run.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Write a waveform of the whole run (after a mismatch: of the clocks around it) to this file.
        #[arg(long)]
        vcd: Option<PathBuf>,
        /// Print one JSON object a unit instead of text.
        #[arg(long)]
        json: bool,
        /// Fail, too, when a functional bin is not hit.
        #[arg(long)]
        require_bins: bool,
        /// Folder for the waveform and the shrunk trace of a mismatch.
        #[arg(long, default_value = "out/cosim")]
        out: PathBuf,
        /// Break this line of the RTL (profile tiny), to see that the lockstep finds it.
        #[arg(long, default_value_t = 0, hide = true)]
        mutant: u8,
    },
    /// List the units with their ports.
    List {
        /// Profile that sizes the ports.
        #[arg(long, default_value = "ecp5")]
        profile: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Replay a trace that a mismatch left.
    Replay {
        /// The .trace.json file.
        trace: PathBuf,
        /// Write a waveform of all of it to this file.
        #[arg(long)]
        vcd: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Send the RDMA messages of a RoCEv2 capture between two NICs, lost packets and all, model and RTL in lockstep.
    Demo {
        /// A pcap or pcapng file; without it the public NCCL ring capture under $METAROCE_DATA, else one made up.
        #[arg(long)]
        capture: Option<PathBuf>,
        /// tiny, ecp5, asic400g.
        #[arg(long, default_value = "ecp5")]
        profile: String,
        /// Percent of frames that the links lose (0 to 50).
        #[arg(long, default_value_t = 1.0)]
        loss: f64,
        /// How many times the capture's messages are sent.
        #[arg(long, default_value_t = 50)]
        rounds: u32,
        /// Seed of losses and of the RTL's power-up contents.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Folder for result.json, demo.pcap and demo.vcd.
        #[arg(long, default_value = "out/demo")]
        out: PathBuf,
        /// Clocks of the waveform.
        #[arg(long, default_value_t = 5000)]
        vcd_clocks: usize,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Break each listed line of a unit's RTL in turn and see that the lockstep finds it.
    Mutants {
        /// Name of the unit; 'all' for every unit.
        unit: String,
        /// Most clocks for each.
        #[arg(long, default_value_t = 200_000)]
        cycles: u64,
        /// Seed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    // A reader that has seen enough (`| head`) ends the program, quietly.
    sigpipe::reset();
    match dispatch(Arguments::parse().command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    let of_input = error.chain().any(|e| {
        e.is::<ParamsError>() || e.is::<RunError>() || e.is::<CaptureError>() || e.is::<std::io::Error>()
    });
    if of_input {
        exit::BAD_INPUT
    } else {
        exit::TOOL_FAILURE
    }
}

fn dispatch(command: Command) -> Result<u8> {
    match command {
        Command::Run {
            unit,
            profile,
            cycles,
            seed,
            vcd,
            json,
            require_bins,
            out,
            mutant,
        } => {
            let params = Params::load(&profile)?;
            let options = Options {
                cycles,
                seed,
                mutant,
                vcd,
                failures: Some(out),
            };
            let mut code = exit::EQUAL;
            for name in names(&unit) {
                let entry = find(name)?;
                let bar = progress_bar(name, cycles, "clocks");
                let report = (entry.run)(&params, &options, &mut |done| bar.set_position(done))?;
                bar.finish_and_clear();
                print_report(&report, json)?;
                if !report.equal || (require_bins && !report.bins.missed().is_empty()) {
                    code = exit::MISMATCH;
                }
            }
            Ok(code)
        }
        Command::List { profile, json } => list(&Params::load(&profile)?, json),
        Command::Replay { trace, vcd, json } => replay(&trace, vcd.as_deref(), json),
        Command::Demo {
            capture,
            profile,
            loss,
            rounds,
            seed,
            out,
            vcd_clocks,
            json,
        } => {
            if !(0.0..=50.0).contains(&loss) {
                bail!(RunError::Capture {
                    message: format!("--loss is {loss}, but it must be from 0 to 50 percent")
                });
            }
            let loss_per_10000 = (loss * 100.0).round() as u32;
            let options = demo::Options {
                capture,
                loss_per_10000,
                rounds,
                seed,
                out,
                vcd_clocks,
            };
            let bar = progress_bar("demo", 0, "completions");
            let report = demo::run(&Params::load(&profile)?, &options, &mut |done, all| {
                bar.set_length(all);
                bar.set_position(done);
            })?;
            bar.finish_and_clear();
            print_demo(&report, json)?;
            Ok(report.code())
        }
        Command::Mutants {
            unit,
            cycles,
            seed,
            json,
        } => {
            let mut code = exit::EQUAL;
            for name in names(&unit) {
                code = code.max(mutants(name, cycles, seed, json)?);
            }
            Ok(code)
        }
    }
}

fn names(unit: &str) -> Vec<&str> {
    if unit == "all" {
        UNITS.iter().map(|entry| entry.name).collect()
    } else {
        vec![unit]
    }
}

fn progress_bar(unit: &str, length: u64, of: &str) -> ProgressBar {
    let template = format!("{{msg:14}} [{{bar:40}}] {{pos}}/{{len}} {of}, {{per_sec}}, {{eta}} left");
    let style = ProgressStyle::with_template(&template);
    // The template is a constant; should indicatif ever refuse it, its own default does as well.
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length)
        .with_style(style)
        .with_message(unit.to_string())
}

fn print_report(report: &Report, json: bool) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string(report)?);
        return Ok(());
    }
    let verdict = if report.equal { "equal" } else { "DIFFERENT" };
    let rate = report.cycles as f64 / report.seconds.max(1e-9);
    println!(
        "{} ({}), seed {}: {verdict} over {} clocks ({rate:.0} clocks/s)",
        report.unit, report.profile, report.seed, report.cycles
    );
    for bin in report.bins.all() {
        println!("  {:>10}  {}", bin.hits, bin.name);
    }
    let missed = report.bins.missed();
    if !missed.is_empty() {
        println!("  not hit: {}", missed.join("; "));
    }
    if let Some(mismatch) = &report.mismatch {
        print!("{mismatch}");
        println!("again:  {}", report.replay);
        if let (Some(trace), Some(clocks)) = (&report.trace, report.trace_clocks) {
            println!(
                "shrunk: cargo cosim replay {}  ({clocks} clocks)",
                trace.display()
            );
        }
    }
    if let Some(vcd) = &report.vcd {
        println!("waveform: {}", vcd.display());
    }
    Ok(())
}

fn print_demo(report: &demo::Report, json: bool) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string(report)?);
        return Ok(());
    }
    let (summary, outcome) = (&report.summary, &report.outcome);
    let line = |what: &str, value: String| println!("  {what:28} {value}");
    println!("{}", report.capture);
    line("frames", summary.frames.to_string());
    line("data packets, ICRC right", summary.data.to_string());
    line("skipped, bad ICRC", summary.skipped.bad_icrc.to_string());
    line(
        "skipped, other",
        (summary.skipped.total() - summary.skipped.bad_icrc).to_string(),
    );
    println!(
        "its messages between two NICs ({}), {} rounds",
        report.profile, report.rounds
    );
    line(
        "messages",
        format!("{}, {} bytes", outcome.messages, outcome.bytes),
    );
    line(
        "delivered once, in order",
        if outcome.delivered {
            "all".into()
        } else {
            "NOT ALL".to_string()
        },
    );
    for wrong in outcome.wrongs.iter().take(8) {
        line("wrong", wrong.clone());
    }
    line("completions", outcome.completions.to_string());
    line("packets of data", outcome.packets.to_string());
    let percent = 100.0 * report.loss;
    line("frames lost", format!("{} ({percent} % asked)", outcome.lost));
    line("sent again", outcome.sent_again.to_string());
    line("of those needlessly", outcome.spurious.to_string());
    line("acknowledgements", outcome.acknowledgements.to_string());
    line(
        "probes, timeouts",
        format!("{}, {}", outcome.probes, outcome.timeouts),
    );
    let rate = outcome.cycles as f64 / outcome.seconds.max(1e-9);
    line(
        "clocks of each NIC",
        format!("{} ({rate:.0} clocks/s)", outcome.cycles),
    );
    line("traffic", report.pcap.display().to_string());
    line(
        "model and RTL",
        if outcome.equal {
            "equal in every clock".into()
        } else {
            "DIFFERENT".to_string()
        },
    );
    if let Some(mismatch) = &outcome.mismatch {
        println!("{mismatch}");
    }
    println!("waveform: {}", report.vcd.display());
    println!("again:    {}", report.replay);
    Ok(())
}

fn list(params: &Params, json: bool) -> Result<u8> {
    if json {
        let units: Vec<_> = UNITS
            .iter()
            .map(|entry| {
                let ports: Vec<_> = (entry.ports)(params)
                    .into_iter()
                    .map(|port| {
                        serde_json::json!({
                            "name": port.name,
                            "direction": format!("{:?}", port.direction).to_lowercase(),
                            "width": port.width,
                            "doc": port.doc,
                        })
                    })
                    .collect();
                serde_json::json!({ "unit": entry.name, "profile": params.name, "ports": ports })
            })
            .collect();
        println!("{}", serde_json::to_string(&units)?);
        return Ok(exit::EQUAL);
    }
    for entry in UNITS {
        println!("{} ({})", entry.name, params.name);
        for port in (entry.ports)(params) {
            let direction = format!("{:?}", port.direction).to_lowercase();
            println!("  {direction:6} {:>4}  {:32} {}", port.width, port.name, port.doc);
        }
    }
    Ok(exit::EQUAL)
}

fn replay(path: &Path, vcd: Option<&Path>, json: bool) -> Result<u8> {
    let trace = Trace::read(path)?;
    let params = Params::load(&trace.profile)?;
    let mismatch = (find(&trace.unit)?.replay)(&params, &trace, path, vcd)?;
    if json {
        let report = serde_json::json!({
            "unit": trace.unit,
            "profile": trace.profile,
            "cycles": trace.inputs.len(),
            "equal": mismatch.is_none(),
            "mismatch": mismatch,
        });
        println!("{report}");
    } else {
        match &mismatch {
            None => println!(
                "{} ({}): equal over {} clocks",
                trace.unit,
                trace.profile,
                trace.inputs.len()
            ),
            Some(mismatch) => print!("{} ({}): DIFFERENT\n{mismatch}", trace.unit, trace.profile),
        }
    }
    Ok(if mismatch.is_none() {
        exit::EQUAL
    } else {
        exit::MISMATCH
    })
}

fn mutants(unit: &str, cycles: u64, seed: u64, json: bool) -> Result<u8> {
    let entry = find(unit)?;
    let params = Params::load("tiny")?;
    let mut survivors = 0;
    for (position, mutation) in mutations(unit).iter().enumerate() {
        let mutant = u8::try_from(position + 1).context("a unit has at most 255 breakable lines")?;
        let options = Options {
            cycles,
            seed,
            mutant,
            vcd: None,
            failures: None,
        };
        let report = (entry.run)(&params, &options, &mut |_| ())?;
        survivors += u32::from(report.equal);
        if json {
            println!("{}", serde_json::to_string(&report)?);
            continue;
        }
        let found = match &report.mismatch {
            Some(mismatch) => format!("found in clock {} at {}", mismatch.cycle, mismatch.port),
            None => format!("NOT FOUND in {cycles} clocks"),
        };
        println!(
            "{unit} {mutant:>3} {:?} of {}: {found}",
            mutation.fault, mutation.signal
        );
    }
    Ok(if survivors == 0 {
        exit::EQUAL
    } else {
        exit::MISMATCH
    })
}
