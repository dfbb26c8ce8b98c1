//! Runs of one unit in lockstep.

use crate::{
    bins::Bins,
    lockstep::{Lockstep, Mismatch},
    rtl::Rtl,
    shrink,
    stimulus::Stimulus,
    wave::{self, Recording},
};
use anyhow::{Context, Result};
use metaroce_model::{Params, port::Ports, unit::Unit};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};
use thiserror::Error;

/// Clocks of a waveform before and after a difference.
const WAVE_BEFORE: usize = 64;
const WAVE_AFTER: usize = 8;
/// Clocks between two reports of progress.
const PROGRESS_CLOCKS: u64 = 8192;

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Clocks.
    pub cycles: u64,
    /// Seed of the stimulus and of the RTL's power-up contents.
    pub seed: u64,
    /// Number of the broken line, 0 for none.
    pub mutant: u8,
    /// Where to write a waveform: of the whole run, or after a difference of the clocks around it.
    pub vcd: Option<PathBuf>,
    /// Where the waveform and the shrunk trace of a difference go; `None` writes neither.
    pub failures: Option<PathBuf>,
}

/// What a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The unit.
    pub unit: String,
    /// The profile.
    pub profile: String,
    /// The seed.
    pub seed: u64,
    /// The broken line, 0 for none.
    pub mutant: u8,
    /// Clocks compared.
    pub cycles: u64,
    /// Every output was equal in every clock.
    pub equal: bool,
    /// Wall time of the lockstep, in seconds.
    pub seconds: f64,
    /// What happened, and how often.
    pub bins: Bins,
    /// The first difference.
    pub mismatch: Option<Mismatch>,
    /// The command that does this run again.
    pub replay: String,
    /// The shrunk trace, to be replayed, if one was asked for and there was a difference.
    pub trace: Option<PathBuf>,
    /// Clocks that the shrunk trace has.
    pub trace_clocks: Option<usize>,
    /// The waveform, if one was written.
    pub vcd: Option<PathBuf>,
}

/// Why a run could not be done.
#[derive(Debug, Error)]
pub enum RunError {
    /// The Verilated model is not in this program.
    #[error(
        "this program was built without the RTL of '{unit}' under profile '{profile}': build it with METAROCE_UNITS and METAROCE_PROFILES unset, or naming them"
    )]
    NotBuilt {
        /// The unit.
        unit: String,
        /// The profile.
        profile: String,
    },
    /// No unit has that name.
    #[error("there is no unit '{unit}': the units are {known}")]
    NoUnit {
        /// What was asked for.
        unit: String,
        /// What there is.
        known: String,
    },
    /// A capture is good, but not for this.
    #[error("{message}")]
    Capture {
        /// What is wrong and what to do.
        message: String,
    },
    /// A trace file is not one.
    #[error("{path} is not a trace of this program: {message}")]
    BadTrace {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
}

fn not_built<U: Unit>(params: &Params) -> RunError {
    RunError::NotBuilt {
        unit: U::NAME.into(),
        profile: params.name.clone(),
    }
}

/// A recorded run: packed inputs, a clock an entry, from power-up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// The unit.
    pub unit: String,
    /// The profile.
    pub profile: String,
    /// Seed of the RTL's power-up contents.
    pub seed: u64,
    /// The broken line, 0 for none.
    pub mutant: u8,
    /// The inputs of each clock.
    pub inputs: Vec<Vec<u32>>,
}

impl Trace {
    /// Reads a trace file.
    pub fn read(path: &Path) -> Result<Self> {
        let bad = |message: String| RunError::BadTrace {
            path: path.display().to_string(),
            message,
        };
        let text = std::fs::read_to_string(path).map_err(|e| bad(e.to_string()))?;
        Ok(serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?)
    }

    fn write(&self, path: &Path) -> Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let mut file = tempfile::NamedTempFile::new_in(folder)
            .with_context(|| format!("cannot write in the folder {}", folder.display()))?;
        serde_json::to_writer(&mut file, self).with_context(|| format!("cannot write {}", path.display()))?;
        file.persist(path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(())
    }

    fn unpack<I: Ports>(&self, path: &Path) -> Result<Vec<I>> {
        let unpack = |words: &Vec<u32>| (words.len() == I::WORDS).then(|| I::unpack(words));
        let inputs: Option<Vec<I>> = self.inputs.iter().map(unpack).collect();
        inputs.ok_or_else(|| {
            let message = format!(
                "its clocks do not have the {} words of {}'s inputs",
                I::WORDS,
                self.unit
            );
            RunError::BadTrace {
                path: path.display().to_string(),
                message,
            }
            .into()
        })
    }
}

/// Model and RTL in lockstep under random stimulus. `progress` is called now and then with the clocks done.
pub fn random<U: Unit, S: Stimulus<U>>(
    params: &Params,
    options: &Options,
    progress: &mut dyn FnMut(u64),
) -> Result<Report> {
    let mut lockstep =
        Lockstep::<U>::new(params, options.seed, options.mutant).ok_or_else(|| not_built::<U>(params))?;
    let mut stimulus = S::new(params, options.seed);
    let start = Instant::now();
    let mut mismatch = None;
    while lockstep.cycle() < options.cycles {
        let outputs = lockstep.outputs();
        let inputs = stimulus.inputs(&outputs);
        if let Err(difference) = lockstep.clock(&inputs, &outputs) {
            mismatch = Some(difference.describe(params));
            break;
        }
        if lockstep.cycle().is_multiple_of(PROGRESS_CLOCKS) {
            progress(lockstep.cycle());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let mutant = if options.mutant == 0 {
        String::new()
    } else {
        format!(" --mutant {}", options.mutant)
    };
    let mut report = Report {
        unit: U::NAME.into(),
        profile: params.name.clone(),
        seed: options.seed,
        mutant: options.mutant,
        cycles: lockstep.cycle(),
        equal: mismatch.is_none(),
        seconds,
        bins: stimulus.bins().clone(),
        replay: format!(
            "cargo cosim run {} --profile {} --cycles {} --seed {}{mutant}",
            U::NAME,
            params.name,
            options.cycles,
            options.seed
        ),
        mismatch,
        trace: None,
        trace_clocks: None,
        vcd: None,
    };
    if report.mismatch.is_some() {
        explain::<U, S>(params, options, &mut report)?;
    } else if let Some(path) = &options.vcd {
        let trace = record::<U, S>(params, options.seed, options.cycles);
        let rtl = new_rtl::<U>(params, options.seed, options.mutant)?;
        wave::write(
            &[Recording::replay::<U>(params, rtl, &trace, 0..trace.len())],
            0,
            path,
        )?;
        report.vcd = Some(path.clone());
    }
    Ok(report)
}

/// The stimulus of a seed, as the model answers it.
pub fn record<U: Unit, S: Stimulus<U>>(params: &Params, seed: u64, cycles: u64) -> Vec<U::Inputs> {
    let (mut model, mut stimulus) = (U::new(params), S::new(params, seed));
    (0..cycles)
        .map(|_| {
            let inputs = stimulus.inputs(&model.outputs());
            model.clock(&inputs);
            inputs
        })
        .collect()
}

/// After a difference: the waveform around it and the shrunk trace.
fn explain<U: Unit, S: Stimulus<U>>(params: &Params, options: &Options, report: &mut Report) -> Result<()> {
    let name = format!(
        "{}-{}-{}-{}",
        report.unit, report.profile, report.seed, report.mutant
    );
    let file = |ending: &str| {
        options
            .failures
            .as_ref()
            .map(|folder| folder.join(format!("{name}.{ending}")))
    };
    let differs_at = report.cycles;
    let trace = record::<U, S>(params, options.seed, differs_at + 1 + WAVE_AFTER as u64);
    if let Some(path) = options.vcd.clone().or_else(|| file("vcd")) {
        let rtl = new_rtl::<U>(params, options.seed, options.mutant)?;
        let first = (differs_at as usize).saturating_sub(WAVE_BEFORE);
        wave::write(
            &[Recording::replay::<U>(params, rtl, &trace, first..trace.len())],
            first,
            &path,
        )?;
        report.vcd = Some(path);
    }
    if let Some(path) = file("trace.json") {
        let differs = |inputs: &[U::Inputs]| {
            first_difference::<U>(params, inputs, options.seed, options.mutant)
                .ok()
                .flatten()
                .is_some()
        };
        let short = shrink::shrink(&trace[..=differs_at as usize], differs);
        let packed = short.iter().map(|inputs| {
            let mut words = vec![0; U::Inputs::WORDS];
            inputs.pack(&mut words);
            words
        });
        let trace = Trace {
            unit: report.unit.clone(),
            profile: report.profile.clone(),
            seed: options.seed,
            mutant: options.mutant,
            inputs: packed.collect(),
        };
        trace.write(&path)?;
        report.trace_clocks = Some(trace.inputs.len());
        report.trace = Some(path);
    }
    Ok(())
}

/// The RTL of a unit as after power-up.
pub fn new_rtl<U: Unit>(params: &Params, seed: u64, mutant: u8) -> Result<Rtl<U::Inputs, U::Outputs>> {
    let suffix = if mutant == 0 { "" } else { "_mutants" };
    let model = format!("{}_{}{suffix}", U::NAME, params.name);
    let mut rtl = Rtl::new(&model, seed).ok_or_else(|| not_built::<U>(params))?;
    if mutant != 0 {
        rtl.set_mutant(mutant);
    }
    Ok(rtl)
}

fn first_difference<U: Unit>(
    params: &Params,
    trace: &[U::Inputs],
    seed: u64,
    mutant: u8,
) -> Result<Option<Mismatch>> {
    let mut lockstep = Lockstep::<U>::new(params, seed, mutant).ok_or_else(|| not_built::<U>(params))?;
    for inputs in trace {
        let outputs = lockstep.outputs();
        if let Err(difference) = lockstep.clock(inputs, &outputs) {
            return Ok(Some(difference.describe(params)));
        }
    }
    Ok(None)
}

/// Replays a trace file; writes a waveform of all of it if asked to.
pub fn replay<U: Unit>(
    params: &Params,
    trace: &Trace,
    path: &Path,
    vcd: Option<&Path>,
) -> Result<Option<Mismatch>> {
    let inputs = trace.unpack::<U::Inputs>(path)?;
    if let Some(vcd) = vcd {
        let rtl = new_rtl::<U>(params, trace.seed, trace.mutant)?;
        wave::write(
            &[Recording::replay::<U>(params, rtl, &inputs, 0..inputs.len())],
            0,
            vcd,
        )?;
    }
    first_difference::<U>(params, &inputs, trace.seed, trace.mutant)
}
