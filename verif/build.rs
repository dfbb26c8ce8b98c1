//! Verilates every unit for every profile and compiles the result behind one C++ class.
//!
//! Each Verilated model is kept, with a stamp of all that went into it, and is only made anew when that changes: a change in
//! one unit compiles one unit.
//!
//! Environment: `METAROCE_VERILATOR` (a Verilator of the user's own), `METAROCE_UNITS` and `METAROCE_PROFILES` (comma-separated;
//! fewer models build faster; a profile may be a path to a `.toml` file).

use anyhow::{Context, Result, anyhow, bail};
use metaroce_model::{
    Params,
    params::PROFILES,
    port::{Direction, Port},
};
use metaroce_rtl::{files, hdl, unit};
use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The profile whose units also exist with breakable lines.
const MUTANTS_PROFILE: &str = "tiny";

fn main() {
    if let Err(error) = build() {
        eprintln!("error: {error:#}");
        std::process::exit(1);
    }
}

fn build() -> Result<()> {
    for variable in ["METAROCE_VERILATOR", "METAROCE_UNITS", "METAROCE_PROFILES"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=cxx");
    println!("cargo::rerun-if-changed=src/rtl.rs");

    let out = PathBuf::from(env::var("OUT_DIR")?);
    // Cargo builds this crate once for tests and once for programs, each with a folder of its own: the models are for both.
    let shared = out
        .ancestors()
        .nth(3)
        .context("OUT_DIR is in no target folder")?
        .join("verilated");
    let verilator = Verilator::find()?;
    let units = list("METAROCE_UNITS", &unit::UNITS);
    let profiles = list("METAROCE_PROFILES", &PROFILES);

    let mut models = Vec::new();
    for unit in &units {
        for profile in &profiles {
            println!(
                "cargo::rerun-if-changed={}",
                if profile.ends_with(".toml") {
                    profile
                } else {
                    "build.rs"
                }
            );
            let params = Params::load(profile)?;
            let contract = unit::contract(unit).with_context(|| format!("there is no unit '{unit}'"))?;
            let module =
                unit::elaborate(unit, &params).with_context(|| format!("there is no unit '{unit}'"))?;
            let ports = contract(&params);
            models.push(Model {
                name: format!("{unit}_{}", params.name),
                top: module.name.clone(),
                files: files(&module),
                ports: ports.clone(),
                mutable: false,
            });
            if params.name == MUTANTS_PROFILE {
                let elaborated = unit::elaborate(unit, &params).context("the unit was elaborated before")?;
                let module =
                    hdl::mutate::mutate(&elaborated, unit::mutations(unit)).map_err(|e| anyhow!(e))?;
                models.push(Model {
                    name: format!("{unit}_{}_mutants", params.name),
                    top: module.name.clone(),
                    files: files(&module),
                    ports,
                    mutable: true,
                });
            }
        }
    }
    for model in &models {
        println!(
            "cargo::rustc-link-search=native={}",
            shared.join(&model.name).display()
        );
        println!("cargo::rustc-link-lib=static={}", model.name);
    }
    build_all(&models, &verilator, &shared)?;
    runtime(&verilator, &out, &shared, &models)
}

fn list(variable: &str, all: &[&str]) -> Vec<String> {
    match env::var(variable) {
        Ok(chosen) if !chosen.is_empty() => chosen.split(',').map(|name| name.trim().to_string()).collect(),
        _ => all.iter().map(ToString::to_string).collect(),
    }
}

struct Verilator {
    program: PathBuf,
    root: PathBuf,
    version: String,
}

impl Verilator {
    fn find() -> Result<Self> {
        let program = match env::var_os("METAROCE_VERILATOR") {
            Some(own) if !own.is_empty() => PathBuf::from(own),
            _ => {
                let project = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("..");
                project.join(".tools/bin/verilator")
            }
        };
        let ask = |argument: &[&str]| -> Result<String> {
            let output = Command::new(&program).args(argument).output().with_context(|| {
                format!(
                    "cannot run Verilator at {}: run scripts/setup.sh, or set METAROCE_VERILATOR to one of your own",
                    program.display()
                )
            })?;
            if !output.status.success() {
                bail!(
                    "{} {} failed: {}",
                    program.display(),
                    argument.join(" "),
                    String::from_utf8_lossy(&output.stderr)
                );
            }
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
        };
        let version = ask(&["--version"])?;
        let root = PathBuf::from(ask(&["-getenv", "VERILATOR_ROOT"])?);
        if !root.join("include/verilated.h").exists() {
            bail!(
                "{} says its root is {}, but there is no include/verilated.h",
                program.display(),
                root.display()
            );
        }
        Ok(Self {
            program,
            root,
            version,
        })
    }
}

struct Model {
    name: String,
    /// The top module's name.
    top: String,
    /// Names and texts of the Verilog files.
    files: Vec<(String, String)>,
    ports: Vec<Port>,
    mutable: bool,
}

/// Builds the models, as many at once as Cargo allows.
fn build_all(models: &[Model], verilator: &Verilator, folder: &Path) -> Result<()> {
    let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok());
    let next = AtomicUsize::new(0);
    let build_some = || -> Result<()> {
        while let Some(model) = models.get(next.fetch_add(1, Ordering::Relaxed)) {
            model.build(verilator, folder)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.unwrap_or(1)).map(|_| scope.spawn(build_some)).collect();
        let mut ends = workers.into_iter().map(|worker| worker.join());
        ends.try_for_each(|end| end.expect("no model's build panics"))
    })
}

impl Model {
    /// Makes `lib{name}.a` in `{name}` of the folder unless it is there and made from the same things.
    fn build(&self, verilator: &Verilator, folder: &Path) -> Result<()> {
        let folder = folder.join(&self.name);
        let wrapper = self.wrapper();
        let arguments = [
            "--cc",
            "-O3",
            "--x-assign",
            "unique",
            "--x-initial",
            "unique",
            "--no-timing",
            "-Wall",
            "--prefix",
        ];
        let mut stamp = format!("{}\n{arguments:?}\n{wrapper}\n", verilator.version);
        self.files.iter().for_each(|(_, text)| stamp += text);
        let stamp_file = folder.join("stamp");
        if fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
            return Ok(());
        }

        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let mut command = Command::new(&verilator.program);
        command
            .args(arguments)
            .arg(format!("V{}", self.name))
            .arg("--Mdir")
            .arg(&folder);
        command.arg("--top-module").arg(&self.top);
        for (name, text) in &self.files {
            let path = folder.join(format!("{name}.v"));
            fs::write(&path, text)?;
            command.arg(path);
        }
        let output = command.output().context("cannot run Verilator")?;
        if !output.status.success() {
            bail!(
                "Verilator refused {}:\n{}",
                self.name,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let wrapper_file = folder.join("wrapper.cc");
        fs::write(&wrapper_file, wrapper)?;
        let mut sources = vec![wrapper_file];
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "cpp") {
                sources.push(path);
            }
        }
        sources.sort();
        compiler(verilator)
            .files(sources)
            .include(&folder)
            .cargo_metadata(false)
            .out_dir(&folder)
            .try_compile(&self.name)?;
        fs::write(stamp_file, stamp)?;
        Ok(())
    }

    /// The C++ class that drives this model's ports from packed words.
    fn wrapper(&self) -> String {
        let name = &self.name;
        let (mut apply, mut sample) = (String::new(), String::new());
        for port in &self.ports {
            let (port_name, word, width) = (port.name, port.word, port.width);
            let used = width.div_ceil(32) as usize;
            let mask = |bits: u32| if bits >= 32 { u32::MAX } else { (1u32 << bits) - 1 };
            match (port.direction, width) {
                (Direction::Input, 0..=32) => {
                    let _ = writeln!(
                        apply,
                        "        top.{port_name} = in[{word}] & {:#x}u;",
                        mask(width)
                    );
                }
                (Direction::Input, 33..=64) => {
                    let high = mask(width - 32);
                    let _ = writeln!(
                        apply,
                        "        top.{port_name} = QData(in[{word}]) | QData(in[{}] & {high:#x}u) << 32;",
                        word + 1
                    );
                }
                (Direction::Input, _) => {
                    let _ = writeln!(
                        apply,
                        "        for (int i = 0; i < {used}; ++i) top.{port_name}[i] = in[{word} + i];"
                    );
                }
                (Direction::Output, 0..=32) => {
                    let _ = writeln!(sample, "        out[{word}] = top.{port_name};");
                }
                (Direction::Output, 33..=64) => {
                    let _ = writeln!(sample, "        out[{word}] = IData(top.{port_name});");
                    let _ = writeln!(
                        sample,
                        "        out[{}] = IData(top.{port_name} >> 32);",
                        word + 1
                    );
                }
                (Direction::Output, _) => {
                    let _ = writeln!(
                        sample,
                        "        for (int i = 0; i < {used}; ++i) out[{word} + i] = top.{port_name}[i];"
                    );
                }
            }
            if port.direction == Direction::Output {
                for unused in used..port.words {
                    let _ = writeln!(sample, "        out[{}] = 0;", word + unused);
                }
            }
        }
        let mutant = if self.mutable {
            "top.mutant = number;"
        } else {
            "(void)number;"
        };
        format!(
            "// Drives the Verilated model {name} from packed words.
#include \"unit.h\"
#include \"V{name}.h\"
namespace {{
struct Unit final : metaroce::Rtl {{
    VerilatedContext context;
    V{name} top;
    explicit Unit(int seed) : context(), top(randomised(&context, seed)) {{}}
    ~Unit() override {{ top.final(); }}
    void set_mutant(std::uint8_t number) override {{ {mutant} }}
    void step(const std::uint32_t* in, std::uint32_t* out) override {{
{apply}        top.clk = 0;
        top.eval();
{sample}        top.clk = 1;
        top.eval();
    }}
}};
}}
metaroce::Rtl* make_{name}(int seed) {{ return new Unit(seed); }}
"
        )
    }
}

fn compiler(verilator: &Verilator) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .debug(false)
        .warnings(false)
        .define("VERILATOR", "1")
        .define("VM_COVERAGE", "0")
        .define("VM_SC", "0")
        .define("VM_TRACE", "0")
        .define("VL_TIME_CONTEXT", None)
        .include(verilator.root.join("include"))
        .include(verilator.root.join("include/vltstd"))
        .include("cxx");
    build
}

/// The Verilated runtime, the bridge and the list of all models, which are in `shared`.
fn runtime(verilator: &Verilator, out: &Path, shared: &Path, models: &[Model]) -> Result<()> {
    let mut registry = String::from("#include \"rtl.h\"\n#include \"metaroce-verif/src/rtl.rs.h\"\n");
    for model in models {
        let _ = writeln!(registry, "metaroce::Rtl* make_{}(int seed);", model.name);
    }
    registry +=
        "namespace metaroce {\nstd::unique_ptr<Rtl> make_rtl(rust::Str model, std::uint32_t seed) {\n";
    registry += "    const std::string name(model);\n";
    for model in models {
        let name = &model.name;
        let _ = writeln!(
            registry,
            "    if (name == \"{name}\") return std::unique_ptr<Rtl>(make_{name}(int(seed)));"
        );
    }
    registry += "    return nullptr;\n}\nrust::Vec<rust::String> rtl_models() {\n    rust::Vec<rust::String> names;\n";
    for model in models {
        let _ = writeln!(registry, "    names.push_back(\"{}\");", model.name);
    }
    registry += "    return names;\n}\n}\n";
    let registry_file = out.join("registry.cc");
    fs::write(&registry_file, registry)?;

    // The wheel's list of sources for a plain, untraced, single-threaded model, as in the generated make file.
    let make_file = shared.join(&models.first().context("METAROCE_UNITS names no unit")?.name);
    let make_file = make_file.join(format!("V{}_classes.mk", models[0].name));
    let sources = global_sources(&fs::read_to_string(make_file)?);

    let mut bridge = cxx_build::bridge("src/rtl.rs");
    bridge
        .std("c++17")
        .opt_level(2)
        .warnings(false)
        .file(registry_file)
        .include("cxx");
    bridge
        .include(verilator.root.join("include"))
        .include(verilator.root.join("include/vltstd"));
    bridge.try_compile("metaroce_bridge")?;
    let mut runtime = compiler(verilator);
    for source in sources {
        runtime.file(verilator.root.join("include").join(format!("{source}.cpp")));
    }
    runtime.try_compile("metaroce_verilated")?;
    println!("cargo::rustc-link-lib=pthread");
    Ok(())
}

/// Names under `VM_GLOBAL_FAST` and `VM_GLOBAL_SLOW` in Verilator's list of classes.
fn global_sources(make_file: &str) -> Vec<String> {
    let mut sources = Vec::new();
    let mut inside = false;
    for line in make_file.lines() {
        if line.starts_with("VM_GLOBAL_") {
            inside = true;
        } else if inside {
            match line.trim().trim_end_matches('\\').trim() {
                "" => inside = false,
                source => sources.push(source.to_string()),
            }
        }
    }
    sources
}
