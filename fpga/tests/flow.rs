//! The command, with tools that are shell scripts: what it refuses, and what it leaves behind when a tool fails.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

const NEXTPNR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/nextpnr.json");
const NETLIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/netlist.json");

/// A folder with tools and a folder for results.
struct Bench(tempfile::TempDir);

impl Bench {
    /// Tools that succeed; place and route fails at seed 13.
    fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        fs::create_dir(bench.path("tools")).unwrap();
        bench.tool(
            "yosys",
            &format!(
                "[ \"$1\" = --version ] && echo 'Yosys 0.70 (git sha1 0)' && exit
                 echo 'Warning: something to know'; cp '{NETLIST}' netlist.json"
            ),
        );
        bench.tool(
            "nextpnr-ecp5",
            &format!(
                "[ \"$1\" = --version ] && echo '(Version nextpnr-0.11.1)' && exit
                 case \"$*\" in *'--seed 13 '*) echo 'ERROR: no place for this'; exit 7;; esac
                 while [ $# -gt 0 ]; do
                     case $1 in
                     --report) cp '{NEXTPNR}' \"$2\";;
                     --textcfg) echo configuration >\"$2\";;
                     esac
                     shift
                 done"
            ),
        );
        bench.tool("ecppack", "echo bits >\"$2\"");
        bench
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn tool(&self, name: &str, script: &str) {
        let file = self.path("tools").join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn build(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaroce-fpga"));
        command.args([
            "build",
            "--board",
            "ulx3s-85f",
            "--profile",
            "tiny",
            "--unit",
            "sack_rx",
        ]);
        command.arg("--tools").arg(self.path("tools"));
        command.arg("--out").arg(self.path("out"));
        command.args(arguments).output().unwrap()
    }

    /// Names of what is in the folder of results, hidden ones too.
    fn results(&self) -> Vec<String> {
        let list = fs::read_dir(self.path("out")).into_iter().flatten();
        let mut names: Vec<_> = list
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn assert_refused(output: &Output, code: i32, sentence: &str) {
    assert_eq!(output.status.code(), Some(code), "{}", error(output));
    assert!(error(output).contains(sentence), "{}", error(output));
    assert!(output.stdout.is_empty());
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_metaroce-fpga"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn good_build_leaves_a_whole_folder() {
    let bench = Bench::new();
    let output = bench.build(&["--seed", "1", "2", "--speed", "6,8", "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert_eq!(bench.results(), ["ulx3s-85f-tiny-sack_rx"]);
    let folder = bench.path("out/ulx3s-85f-tiny-sack_rx");
    for file in [
        "ulx3s-85f-tiny-sack_rx.bit",
        "report.json",
        "scan.json",
        "scan.md",
        "pins.lpf",
        "yosys.log",
    ] {
        assert!(folder.join(file).exists(), "{file}");
    }
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.contains("worst of 2 seeds at grade 8: 125.0 MHz"),
        "{table}"
    );
    assert!(table.contains("warning: yosys: something to know"), "{table}");
    assert!(table.contains("10.0 %"), "{table}");

    let again = run(&["report", folder.join("report.json").to_str().unwrap()]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), table);
    let json = bench.build(&["--json"]);
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report["runs"][0]["critical_path"]["to_unit"], "harness");
    assert_eq!(report["tools"]["yosys"], "0.70");
    assert_eq!(
        bench.results(),
        ["ulx3s-85f-tiny-sack_rx"],
        "the old results were replaced"
    );
}

#[test]
fn missed_timing_goal_has_its_own_exit_code() {
    let bench = Bench::new();
    assert_eq!(bench.build(&["--require-mhz", "125"]).status.code(), Some(0));
    let slow = bench.build(&["--require-mhz", "125.5"]);
    assert_eq!(slow.status.code(), Some(1));
    assert!(
        error(&slow).contains("makes 125.0 MHz, and 125.5 MHz were required"),
        "{}",
        error(&slow)
    );
}

/// A tool that fails half-way leaves nothing but its log, and leaves earlier results alone.
#[test]
fn failing_tool_leaves_only_its_log() {
    let bench = Bench::new();
    let log = "ulx3s-85f-tiny-sack_rx-failed-nextpnr-ecp5.log";
    let failed = bench.build(&["--seed", "1", "13", "2"]);
    assert_refused(&failed, 3, "nextpnr-ecp5 failed (exit status: 7)");
    assert!(
        error(&failed).contains("ERROR: no place for this"),
        "{}",
        error(&failed)
    );
    assert!(error(&failed).contains(log), "{}", error(&failed));
    assert_eq!(bench.results(), [log]);

    bench.build(&[]);
    let report = bench.path("out/ulx3s-85f-tiny-sack_rx/report.json");
    let before = fs::read(&report).unwrap();
    assert_refused(&bench.build(&["--seed", "13"]), 3, "nextpnr-ecp5 failed");
    assert_eq!(fs::read(&report).unwrap(), before);

    bench.tool("ecppack", "exit 1");
    assert_refused(&bench.build(&["--seed", "2"]), 3, "(it said nothing)");
    assert_eq!(fs::read(&report).unwrap(), before);
    assert!(
        bench.results().iter().all(|name| !name.starts_with('.')),
        "{:?}",
        bench.results()
    );
}

/// yosys writes a log of its own; an error that is only there is shown, and so is one that is only in its output.
#[test]
fn errors_in_either_log_are_shown() {
    let bench = Bench::new();
    let version = "[ \"$1\" = --version ] && echo 'Yosys 0.70' && exit";
    bench.tool(
        "yosys",
        &format!("{version}\n echo 'ERROR: late' >yosys.log; echo crashed >&2; exit 1"),
    );
    let failed = bench.build(&[]);
    assert_refused(&failed, 3, "  ERROR: late\n  crashed\n");
    let log = fs::read_to_string(bench.path("out/ulx3s-85f-tiny-sack_rx-failed-yosys.log")).unwrap();
    assert_eq!(log, "ERROR: late\ncrashed\n");
}

/// A tool that says it succeeded but wrote nothing is a failed tool.
#[test]
fn tool_that_writes_nothing() {
    let bench = Bench::new();
    bench.tool("yosys", "echo 'Yosys 0.70'");
    assert_refused(&bench.build(&[]), 3, "what yosys wrote cannot be used");
    assert!(bench.results().is_empty());
}

#[test]
fn missing_and_old_tools() {
    let bench = Bench::new();
    bench.tool("yosys", "echo 'Yosys 0.9 (git sha1 0)'");
    assert_refused(
        &bench.build(&[]),
        3,
        "yosys is version 0.9, but 0.50 or newer is needed",
    );
    bench.tool("yosys", "echo unheard of");
    assert_refused(&bench.build(&[]), 3, "--version gave no version");
    fs::remove_file(bench.path("tools/yosys")).unwrap();
    assert_refused(&bench.build(&[]), 3, "yosys cannot be started");
    let bench = Bench::new();
    fs::remove_file(bench.path("tools/ecppack")).unwrap();
    assert_refused(&bench.build(&[]), 3, "scripts/setup.sh installs it");
    assert!(bench.results().is_empty());
}

#[test]
fn bad_input() {
    let build = |board: &str, profile: &str, unit: &str| {
        run(&[
            "build",
            "--board",
            board,
            "--profile",
            profile,
            "--unit",
            unit,
            "--tools",
            "/nowhere",
        ])
    };
    assert_refused(
        &build("basys", "tiny", "sack_rx"),
        2,
        "there is no board 'basys': the built-in ones are ulx3s-85f",
    );
    assert_refused(
        &build("ulx3s-85f", "huge", "sack_rx"),
        2,
        "there is no profile 'huge'",
    );
    assert_refused(
        &build("ulx3s-85f", "tiny", "sack_zx"),
        2,
        "there is no unit 'sack_zx': the units are",
    );
    let bench = Bench::new();
    assert_refused(
        &bench.build(&["--speed", "9"]),
        2,
        "LFE5U-85F-6BG381C has no speed grade 9: there are 6, 7, 8",
    );
    assert_refused(
        &bench.build(&["--freq", "1000"]),
        2,
        "no PLL setting makes 1000 MHz of 25 MHz",
    );
    assert_refused(
        &run(&["report", "/nowhere/report.json"]),
        2,
        "cannot read the report /nowhere/report.json",
    );
}

#[test]
fn folder_that_cannot_be_written() {
    let bench = Bench::new();
    fs::write(bench.path("out"), "a file, not a folder").unwrap();
    assert_refused(&bench.build(&[]), 2, "choose another folder with --out");
    assert_eq!(
        fs::read_to_string(bench.path("out")).unwrap(),
        "a file, not a folder"
    );
}

#[test]
fn boards_are_listed() {
    let list = run(&["boards"]);
    let text = String::from_utf8(list.stdout).unwrap();
    assert!(
        text.contains("ulx3s-85f") && text.contains("LFE5U-85F-6BG381C"),
        "{text}"
    );
    let json = run(&["boards", "--json"]);
    let boards: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(boards[1]["name"], "ice40-hx8k");
    assert!(Path::new(NETLIST).exists());
}
