//! The main job (R2, R3, R6, H3): a capture's messages between two NICs, model and RTL in lockstep, and what is refused.

use metaroce_model::Params;
use metaroce_verif::demo::{Options, run};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn options(out: &Path, loss_per_10000: u32, seed: u64) -> Options {
    Options {
        capture: None,
        loss_per_10000,
        rounds: 1,
        seed,
        out: out.into(),
        vcd_clocks: 200,
    }
}

/// R3, R4, R5, R6, R10: at every loss all messages arrive once, in order, whole; nothing is sent needlessly; model and RTL are equal. The result, the traffic and
/// the waveform are written.
#[test]
fn everything_arrives_and_nothing_is_sent_needlessly() {
    for (profile, loss, seed) in [("ecp5", 0, 1), ("tiny", 100, 2), ("tiny", 1000, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let report = run(
            &Params::load(profile).unwrap(),
            &options(folder.path(), loss, seed),
            &mut |_, _| (),
        )
        .unwrap();
        let outcome = &report.outcome;
        let again = &report.replay;
        assert!(outcome.equal, "{:?}; again: {again}", outcome.mismatch);
        assert!(outcome.delivered, "{:?}; again: {again}", outcome.wrongs);
        assert_eq!(outcome.spurious, 0, "again: {again}");
        assert_eq!(outcome.timeouts, 0, "again: {again}");
        assert_eq!(outcome.lost > 0, loss > 0, "again: {again}");
        if loss == 0 {
            assert_eq!(outcome.sent_again, 0, "again: {again}");
        }
        assert_eq!(report.code(), 0);
        let vcd = fs::read_to_string(folder.path().join("demo.vcd")).unwrap();
        for scope in [
            "left",
            "right",
            "model",
            "rtl",
            "m_axis_tx",
            "s_axis_wqe",
            "m_axis_cqe",
        ] {
            assert!(
                vcd.contains(&format!("$scope module {scope} $end")),
                "no scope {scope}"
            );
        }
        let result: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(folder.path().join("result.json")).unwrap()).unwrap();
        assert_eq!(result["outcome"]["completions"], outcome.completions);
        decodes(
            &report.pcap,
            outcome.packets + outcome.acknowledgements + outcome.probes,
        );
    }
}

/// tshark, with the project's dissector, knows every packet of the capture and finds every checksum right.
fn decodes(pcap: &Path, packets: u64) {
    let dissector = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/wireshark/metaroce.lua");
    let tshark = |arguments: &[&str]| {
        let output = Command::new("tshark")
            .arg("-X")
            .arg(format!("lua_script:{}", dissector.display()))
            .arg("-r")
            .arg(pcap)
            .args(arguments)
            .output()
            .expect("tshark is installed by scripts/setup.sh");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().lines().count() as u64
    };
    assert_eq!(tshark(&[]), packets);
    assert_eq!(
        tshark(&["-Y", "metaroce && !_ws.malformed && !_ws.expert"]),
        packets
    );
}

/// The same seed gives the same run.
#[test]
fn a_run_is_a_function_of_its_seed() {
    let outcome = |seed| {
        let folder = tempfile::tempdir().unwrap();
        let report = run(
            &Params::load("tiny").unwrap(),
            &options(folder.path(), 500, seed),
            &mut |_, _| (),
        )
        .unwrap();
        (
            report.outcome.cycles,
            report.outcome.lost,
            report.outcome.sent_again,
        )
    };
    assert_eq!(outcome(7), outcome(7));
    assert_ne!(outcome(7), outcome(8));
}

/// Runs the program; gives its exit code and what it said on standard error.
fn cosim(arguments: &[&str], folder: &Path) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_metaroce-cosim"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8_lossy(&output.stderr).trim().to_string(),
    )
}

/// Bad input: exit code 2 and one sentence that says what was wrong, where and what to do; nothing is left behind.
#[test]
fn bad_input_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let garbage = file("garbage.pcap", b"this is no capture at all, but a sentence");
    let profile = include_str!("../../model/profiles/tiny.toml").replace("paths = 4", "paths = 5");
    let impossible = file("impossible.toml", profile.as_bytes());
    let blocked = file("blocked", b"a file where a folder should be");
    let text = |path: &Path| path.to_str().unwrap().to_string();
    let cases: [(&[&str], &str); 8] = [
        (&["run", "sack_zx"], "there is no unit 'sack_zx': the units are"),
        (
            &["run", "sack_rx", "--profile", "huge"],
            "there is no profile 'huge'",
        ),
        (
            &["run", "sack_rx", "--profile", &text(&impossible)],
            "paths is 5, but it must be a power of two",
        ),
        (
            &["replay", "nowhere.json"],
            "nowhere.json is not a trace of this program",
        ),
        (&["demo", "--capture", "nowhere.pcap"], "nowhere.pcap"),
        (&["demo", "--capture", &text(&garbage)], "garbage.pcap"),
        (
            &["demo", "--loss", "80"],
            "--loss is 80, but it must be from 0 to 50 percent",
        ),
        (&["demo", "--out", &text(&blocked)], "cannot make the folder"),
    ];
    for (arguments, sentence) in cases {
        let (code, said) = cosim(arguments, folder.path());
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(sentence), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        assert!(
            !folder.path().join("out/demo/result.json").exists(),
            "{arguments:?} left a result"
        );
    }
}

/// A mismatch: exit code 1, the first differing clock and port, the command that shows it again, a waveform of both sides, and a
/// shrunk trace that still shows it.
#[test]
fn a_mismatch_is_explained_and_can_be_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_metaroce-cosim"))
        .args(["run", "axis_register", "--mutant", "3", "--seed", "5", "--json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["equal"], false);
    assert!(
        report["mismatch"]["port"].is_string()
            && report["mismatch"]["events"]
                .as_array()
                .is_some_and(|e| !e.is_empty())
    );
    assert!(report["replay"].as_str().unwrap().contains("--seed 5 --mutant 3"));
    let vcd = fs::read_to_string(folder.path().join(report["vcd"].as_str().unwrap())).unwrap();
    assert!(vcd.contains("$scope module model $end") && vcd.contains("$scope module rtl $end"));
    let trace = report["trace"].as_str().unwrap();
    assert!(report["trace_clocks"].as_u64().unwrap() <= report["cycles"].as_u64().unwrap() + 1);
    let (code, _) = cosim(&["replay", trace], folder.path());
    assert_eq!(code, 1, "the shrunk trace no longer shows the difference");
}
