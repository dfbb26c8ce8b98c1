//! The generated capture through somebody else's eyes: tshark, where it is installed.

mod captures;

use captures::{generated, skip};
use metaroce_model::rocev2::Operation;
use std::process::Command;

/// tshark decodes every packet of the generated capture as RoCEv2 with the fields that were meant, finds none
/// malformed, and takes nothing else for RoCEv2.
#[test]
fn tshark_agrees() {
    if Command::new("tshark").arg("--version").output().is_err() {
        skip("tshark_agrees", "tshark is not installed");
        return;
    }
    for seed in [1, 21] {
        agrees(seed);
    }
}

fn agrees(seed: u64) {
    let (bytes, capture) = generated(seed);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ring.pcap");
    std::fs::write(&file, bytes).unwrap();
    let fields = [
        "frame.number",
        "infiniband.bth.opcode",
        "infiniband.bth.destqp",
        "infiniband.bth.psn",
        "infiniband.bth.a",
        "infiniband.bth.padcnt",
        "infiniband.reth.va",
        "infiniband.reth.dmalen",
        "infiniband.aeth.msn",
        "_ws.malformed",
        "ip.checksum.status",
    ];
    let output = Command::new("tshark")
        .args([
            "-r",
            file.to_str().unwrap(),
            "-o",
            "ip.check_checksum:TRUE",
            "-Y",
            "infiniband",
            "-T",
            "fields",
        ])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let expected: Vec<String> = capture
        .packets()
        .map(|(number, packet)| {
            let operation = packet.operation;
            let reth = operation.reth();
            let msn = match operation {
                Operation::Acknowledge { aeth } => aeth.msn.to_string(),
                _ => String::new(),
            };
            [
                number.to_string(),
                operation.opcode().to_string(),
                format!("{:#08x}", packet.qpn.value()),
                packet.psn.to_string(),
                u8::from(packet.ack_request).to_string(),
                packet.pad_bytes().to_string(),
                reth.map_or(String::new(), |reth| format!("{:#018x}", reth.virtual_address)),
                reth.map_or(String::new(), |reth| reth.length.to_string()),
                msn,
                String::new(),
                "1".to_string(),
            ]
            .join("\t")
        })
        .collect();
    assert_eq!(text.lines().count(), expected.len());
    for (line, expected) in text.lines().zip(&expected) {
        assert_eq!(line, expected, "seed {seed}");
    }
}
