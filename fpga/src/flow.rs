//! The steps from units to a bitstream.
//!
//! All is made in a folder with a temporary name, which gets its own name at the end: a folder of results is whole or
//! not there. The log of a tool that fails is kept beside it.

use crate::{
    Error,
    board::{Board, Family},
    constraints, harness,
    netlist::Netlist,
    report::{self, Bitstream, Report, Run},
    timing::Timing,
    tool::Tools,
    top::{self, Top, top},
};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use metaroce_model::Params;
use metaroce_rtl::unit::{UNITS, elaborate};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What makes gated words into synchronous resets.
const GATING: &str = "gating.v";
/// What makes short sums and comparisons of look-up tables and not of carry cells.
const SHORT_ALU: &str = "short_alu.v";
/// What leads to a global network on an ECP5.
const BUFFER: &str = "global_buffer.v";
/// Oldest yosys and nextpnr that will do: the ones in which the options used are what they are now.
const YOSYS: (u32, u32) = (0, 50);
const NEXTPNR: (u32, u32) = (0, 7);

/// What to build.
pub struct Options {
    /// The board.
    pub board: Board,
    /// The profile.
    pub params: Params,
    /// One unit; all of [`harness::FULL`] by default.
    pub unit: Option<String>,
    /// Seeds of placement, a run each.
    pub seeds: Vec<u32>,
    /// Speed grades, a run each for each seed; the device's own by default.
    pub speed_grades: Vec<u8>,
    /// The design's clock in MHz, the board's choice by default.
    pub mhz: Option<f64>,
    /// The folder for the folder of results.
    pub out: PathBuf,
    /// The tools.
    pub tools: Tools,
    /// Runs of place and route at once.
    pub jobs: usize,
}

/// Builds, and gives the report and the folder of results.
///
/// # Errors
/// Any of [`Error`]; then no folder of results was made or changed.
pub fn build(options: &Options) -> Result<(Report, PathBuf), Error> {
    let units = units(options)?;
    let top = top(&options.board, &units, &options.params, options.mhz)?;
    let runs = runs(options)?;
    let suite = Suite::of(options.board.device.family);
    let mut versions = BTreeMap::new();
    for (tool, minimum) in [("yosys", YOSYS), (suite.place, NEXTPNR)] {
        versions.insert(tool.to_string(), options.tools.version(tool, minimum)?);
    }
    options.tools.need(suite.pack)?;

    let mut name = format!("{}-{}", options.board.name, options.params.name);
    if let Some(unit) = &options.unit {
        name += &format!("-{unit}");
    }
    let partial = partial_folder(&options.out, &name)?;
    let design = Design {
        options,
        units,
        mhz: top.mhz,
        suite,
        name: name.clone(),
        folder: partial.path(),
        progress: MultiProgress::new(),
    };
    let report = design
        .build(&top, &runs, versions)
        .map_err(|error| keep_log(error, &options.out, &name))?;
    let folder = options.out.join(&name);
    replace(partial, &folder)?;
    Ok((report, folder))
}

/// The tools that differ between families.
#[derive(Clone, Copy)]
struct Suite {
    /// Lines of yosys's script from units whose words are gated to cells of the family; `{top}` is the top module, `{global_buffer}` what leads to a global network.
    synthesis: &'static str,
    place: &'static str,
    /// nextpnr's options for how it places and routes.
    how: &'static [&'static str],
    /// nextpnr's options for the constraints and for the result.
    pins: &'static str,
    result: &'static str,
    pack: &'static str,
    extension: &'static str,
}

impl Suite {
    fn of(family: Family) -> Self {
        match family {
            Family::Ecp5 => Self {
                // Carry chains and the multiplexers that join look-up tables are placed as one piece. Short ones, of which there are hundreds, end up far from their place.
                synthesis: "blackbox {global_buffer}
techmap -map global_buffer.v
synth_ecp5 -top {top} -nowidelut -run begin:map_gates
techmap -map short_alu.v
opt_expr
opt_clean
synth_ecp5 -top {top} -nowidelut -run map_gates:",
                place: "nextpnr-ecp5",
                // The whole NIC's wires are a third shorter than with the default placer, and the default router does not come to an end with it.
                how: &["--placer", "static", "--router", "router2"],
                pins: "--lpf",
                result: "--textcfg",
                pack: "ecppack",
                extension: "bit",
            },
            Family::Ice40 => Self {
                synthesis: "synth_ice40 -top {top}",
                place: "nextpnr-ice40",
                how: &[],
                pins: "--pcf",
                result: "--asc",
                pack: "icepack",
                extension: "bin",
            },
        }
    }
}

fn units(options: &Options) -> Result<Vec<&str>, Error> {
    let wanted: Vec<&str> = match &options.unit {
        Some(unit) => vec![unit],
        None => harness::FULL.to_vec(),
    };
    match wanted.iter().find(|unit| !UNITS.contains(unit)) {
        None => Ok(wanted),
        Some(unknown) => Err(Error::UnknownUnit {
            name: (*unknown).into(),
            known: UNITS.join(", "),
        }),
    }
}

/// Seed and speed grade of each run.
fn runs(options: &Options) -> Result<Vec<(u32, Option<u8>)>, Error> {
    let device = &options.board.device;
    if let Some(&grade) = options
        .speed_grades
        .iter()
        .find(|grade| !device.speed_grades.contains(grade))
    {
        let known: Vec<String> = device.speed_grades.iter().map(u8::to_string).collect();
        return Err(Error::SpeedGrade {
            part: device.part.clone(),
            grade,
            known: match known.is_empty() {
                true => "it comes in one, so leave --speed out".into(),
                false => format!("there are {}", known.join(", ")),
            },
        });
    }
    let grades: Vec<Option<u8>> = match options.speed_grades.is_empty() {
        true => vec![device.speed_grades.first().copied()],
        false => options.speed_grades.iter().copied().map(Some).collect(),
    };
    let of_grade = |grade: Option<u8>| options.seeds.iter().map(move |&seed| (seed, grade));
    Ok(grades.into_iter().flat_map(of_grade).collect())
}

struct Design<'a> {
    options: &'a Options,
    units: Vec<&'a str>,
    mhz: f64,
    suite: Suite,
    name: String,
    folder: &'a Path,
    progress: MultiProgress,
}

impl Design<'_> {
    fn build(
        &self,
        top: &Top,
        runs: &[(u32, Option<u8>)],
        tools: BTreeMap<String, String>,
    ) -> Result<Report, Error> {
        let sources = self.write_sources(top)?;
        self.synthesise(&sources)?;
        let netlist = Netlist::read(&self.read("netlist.json")?)?;
        let timings = self.place_and_route_all(runs)?;

        // The bitstream is that of the fastest run at the first grade asked for, which by default is the part's own.
        let first_grade = runs[0].1;
        let (best, _) = timings
            .iter()
            .enumerate()
            .filter(|(position, _)| runs[*position].1 == first_grade)
            .max_by(|(_, a), (_, b)| a.fmax_mhz.total_cmp(&b.fmax_mhz))
            .expect("there is a run");
        let file = format!("{}.{}", self.name, self.suite.extension);
        self.pack(runs[best], &file)?;

        let (area, total) = report::areas(netlist.area(&self.units));
        let memories = self.units.iter().flat_map(|unit| {
            let module = elaborate(unit, &self.options.params).expect("checked before");
            netlist.memories(unit, &module)
        });
        let report = Report {
            board: self.options.board.name.clone(),
            part: self.options.board.device.part.clone(),
            profile: self.options.params.name.clone(),
            clock_mhz: self.mhz,
            tools,
            area,
            total,
            utilisation: timings[best].utilisation.clone(),
            memories: memories.collect(),
            warnings: self.warnings(runs)?,
            bitstream: Bitstream {
                file,
                seed: runs[best].0,
                speed_grade: runs[best].1,
            },
            runs: runs
                .iter()
                .zip(timings)
                .map(|(&(seed, speed_grade), timing)| Run {
                    seed,
                    speed_grade,
                    fmax_mhz: timing.fmax_mhz,
                    constraint_mhz: timing.constraint_mhz,
                    critical_path: timing.critical_path,
                })
                .collect(),
        };
        self.write("report.json", &report.json())?;
        Ok(report)
    }

    /// Writes Verilog, constraints and the scan chain's description; gives the Verilog files' names.
    fn write_sources(&self, top: &Top) -> Result<Vec<String>, Error> {
        let verilog = self.folder.join("verilog");
        fs::create_dir(&verilog).map_err(output(&verilog))?;
        let mut names = Vec::new();
        for (name, text) in metaroce_rtl::files(&top.module) {
            let file = format!("verilog/{name}.v");
            self.write(&file, &text)?;
            names.push(file);
        }
        let (name, text) = constraints::file(&self.options.board);
        self.write(name, &text)?;
        let layout = &top.layout;
        let json = serde_json::to_string_pretty(layout).expect("names and numbers always serialise");
        self.write("scan.json", &(json + "\n"))?;
        self.write("scan.md", &layout.markdown(&self.name))?;
        Ok(names)
    }

    /// Units are synthesised one by one and flattened only then: so every cell's name tells its unit, and a unit's
    /// area does not depend on what is around it.
    fn synthesise(&self, sources: &[String]) -> Result<(), Error> {
        let Self { units, suite, .. } = self;
        let top = top::NAME;
        let (sources, units) = (sources.join(" "), units.join(" "));
        let synthesis = suite
            .synthesis
            .replace("{top}", top)
            .replace("{global_buffer}", harness::GLOBAL_BUFFER);
        let script = format!(
            "read_verilog {sources}
hierarchy -top {top}
proc
techmap -map {GATING}
setattr -mod -set keep_hierarchy 1 {units}
{synthesis}
setattr -mod -unset keep_hierarchy {units}
flatten
opt_clean
check -assert
stat
write_json netlist.json
"
        );
        self.write(GATING, include_str!("gating.v"))?;
        self.write(SHORT_ALU, include_str!("short_alu.v"))?;
        self.write(BUFFER, include_str!("global_buffer.v"))?;
        self.write("synthesis.ys", &script)?;
        // Its own log is the whole one: what a WebAssembly yosys writes to its output after a run of ABC is lost.
        let arguments = ["-q", "-l", "yosys.log", "-s", "synthesis.ys"].map(String::from);
        self.step("yosys", || {
            self.options
                .tools
                .run("yosys", &arguments, self.folder, "yosys.log")
        })
    }

    fn place_and_route_all(&self, runs: &[(u32, Option<u8>)]) -> Result<Vec<Timing>, Error> {
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Result<Timing, Error>>>> =
            runs.iter().map(|_| Mutex::default()).collect();
        std::thread::scope(|scope| {
            for _ in 0..self.options.jobs.clamp(1, runs.len()) {
                scope.spawn(|| {
                    loop {
                        let position = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&run) = runs.get(position) else { break };
                        let result = self.place_and_route(run);
                        if result.is_err() {
                            next.store(runs.len(), Ordering::Relaxed); // no new run after a failure
                        }
                        *results[position].lock().expect("no thread panics with it") = Some(result);
                    }
                });
            }
        });
        let done = results
            .into_iter()
            .filter_map(|result| result.into_inner().expect("no thread panics with it"));
        done.collect()
    }

    fn place_and_route(&self, run: (u32, Option<u8>)) -> Result<Timing, Error> {
        let Suite {
            place,
            how,
            pins,
            result,
            ..
        } = self.suite;
        let device = &self.options.board.device;
        let (constraints, _) = constraints::file(&self.options.board);
        let label = label(run);
        let mut arguments: Vec<String> = [
            &format!("--{}", device.size),
            "--package",
            &device.package,
            "--json",
            "netlist.json",
            pins,
            constraints,
            "--seed",
            &run.0.to_string(),
            "--freq",
            &self.mhz.to_string(),
            "--timing-allow-fail",
            "--report",
            &format!("{label}.json"),
            result,
            &format!("{label}.config"),
        ]
        .map(String::from)
        .into();
        arguments.extend(how.iter().map(|option| option.to_string()));
        if let Some(grade) = run.1 {
            arguments.extend(["--speed".into(), grade.to_string()]);
        }
        self.step(&format!("{place} {label}"), || {
            self.options
                .tools
                .run(place, &arguments, self.folder, &format!("{label}.log"))
        })?;
        Timing::read(&self.read(&format!("{label}.json"))?, &self.units)
    }

    fn pack(&self, run: (u32, Option<u8>), file: &str) -> Result<(), Error> {
        let arguments = [format!("{}.config", label(run)), file.into()];
        let pack = self.suite.pack;
        self.step(pack, || {
            self.options
                .tools
                .run(pack, &arguments, self.folder, &format!("{pack}.log"))
        })
    }

    fn warnings(&self, runs: &[(u32, Option<u8>)]) -> Result<Vec<String>, Error> {
        let mut logs = vec![("yosys", "yosys.log".to_string())];
        logs.extend(
            runs.iter()
                .map(|&run| (self.suite.place, format!("{}.log", label(run)))),
        );
        let mut found = Vec::new();
        for (tool, log) in logs {
            for line in self.read(&log)?.lines() {
                let line = line.trim();
                if let Some(said) = line
                    .strip_prefix("Warning: ")
                    .or_else(|| line.strip_prefix("WARNING: "))
                {
                    let warning = format!("{tool}: {said}");
                    if !found.contains(&warning) {
                        found.push(warning);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Runs a step under a spinner, and leaves a line with the time it took.
    fn step<T>(&self, what: &str, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let style = ProgressStyle::with_template("  {spinner} {msg} {elapsed}").expect("a constant template");
        let bar = self.progress.add(ProgressBar::new_spinner().with_style(style));
        bar.set_message(what.to_string());
        bar.enable_steady_tick(Duration::from_millis(200));
        let result = work();
        let elapsed = bar.elapsed().as_secs();
        bar.finish_and_clear();
        if result.is_ok() {
            let line = || eprintln!("  {what}: {elapsed} s");
            self.progress.suspend(line);
        }
        result
    }

    fn write(&self, file: &str, text: &str) -> Result<(), Error> {
        let path = self.folder.join(file);
        fs::write(&path, text).map_err(output(&path))
    }

    fn read(&self, file: &str) -> Result<String, Error> {
        let bytes = fs::read(self.folder.join(file)).map_err(|error| Error::ToolOutput {
            tool: if file.starts_with("netlist") {
                "yosys"
            } else {
                self.suite.place
            },
            reason: format!("it succeeded, but {file} cannot be read: {error}"),
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn label((seed, grade): (u32, Option<u8>)) -> String {
    match grade {
        Some(grade) => format!("seed{seed}-grade{grade}"),
        None => format!("seed{seed}"),
    }
}

fn output(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::Output {
        path: path.into(),
        source,
    }
}

fn partial_folder(out: &Path, name: &str) -> Result<tempfile::TempDir, Error> {
    fs::create_dir_all(out).map_err(output(out))?;
    tempfile::Builder::new()
        .prefix(&format!(".{name}-"))
        .tempdir_in(out)
        .map_err(output(out))
}

/// Gives the partial folder its name, in place of what had it before.
fn replace(partial: tempfile::TempDir, folder: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    // A temporary folder is its maker's alone; a folder of results is not.
    fs::set_permissions(partial.path(), fs::Permissions::from_mode(0o755)).map_err(output(folder))?;
    let old = partial.path().with_extension("old");
    if folder.exists() {
        fs::rename(folder, &old).map_err(output(folder))?;
    }
    fs::rename(partial.path(), folder).map_err(output(folder))?;
    let _ = partial.keep();
    if old.exists() {
        fs::remove_dir_all(&old).map_err(output(&old))?;
    }
    Ok(())
}

/// Saves a failed tool's log from the partial folder, which goes away.
fn keep_log(error: Error, out: &Path, name: &str) -> Error {
    match error {
        Error::ToolFailed {
            tool,
            status,
            log,
            tail,
        } => {
            let kept = out.join(format!("{name}-failed-{tool}.log"));
            let log = match fs::copy(&log, &kept) {
                Ok(_) => kept,
                Err(_) => log,
            };
            Error::ToolFailed {
                tool,
                status,
                log,
                tail,
            }
        }
        other => other,
    }
}
