//! MetaRoCE packets through Wireshark with the generated dissector, where tshark is installed.

mod captures;
mod wire;

use captures::skip;
use metaroce_model::rocev2::pcap::write_pcap;
use metaroce_model::wire::table::{COMMON, HEADERS, IPV4, UDP, UDP_PORT, position, set};
use metaroce_model::wire::{Body, Opcode, Packet, Target, icrc};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use wire::{Golden, golden, golden_of};

/// Names of the fields of Ethernet, IPv4 and UDP in Wireshark.
const BELOW: [(&str, &str); 20] = [
    ("ethernet.destination_mac", "eth.dst"),
    ("ethernet.source_mac", "eth.src"),
    ("ethernet.ether_type", "eth.type"),
    ("ipv4.version", "ip.version"),
    ("ipv4.header_length", "ip.hdr_len"),
    ("ipv4.dscp", "ip.dsfield.dscp"),
    ("ipv4.ecn", "ip.dsfield.ecn"),
    ("ipv4.total_length", "ip.len"),
    ("ipv4.identification", "ip.id"),
    ("ipv4.fragment_flags", "ip.flags"),
    ("ipv4.fragment_offset", "ip.frag_offset"),
    ("ipv4.time_to_live", "ip.ttl"),
    ("ipv4.protocol", "ip.proto"),
    ("ipv4.header_checksum", "ip.checksum"),
    ("ipv4.source_address", "ip.src"),
    ("ipv4.destination_address", "ip.dst"),
    ("udp.source_port", "udp.srcport"),
    ("udp.destination_port", "udp.dstport"),
    ("udp.udp_length", "udp.length"),
    ("udp.udp_checksum", "udp.checksum"),
];

/// What is not a field of a header: flags, payload, ICRC, and what Wireshark says of the packet.
const OTHERS: [&str; 11] = [
    "metaroce.base.flags.last",
    "metaroce.base.flags.acknowledge",
    "metaroce.payload",
    "metaroce.icrc",
    "metaroce.icrc.status",
    "ip.checksum.status",
    "metaroce.expert.bad_icrc",
    "metaroce.expert.bad_version",
    "metaroce.expert.bad_opcode",
    "metaroce.expert.bad_size",
    "_ws.lua.error",
];

/// Every field of every packet is what was encoded, the ICRC is found good, and nothing is complained of.
#[test]
fn every_field() {
    let golden = golden();
    let frames: Vec<_> = golden.iter().map(|golden| golden.frame.clone()).collect();
    let Some(decoded) = tshark("every_field", &frames, &[]) else {
        return;
    };
    for (golden, decoded) in golden.iter().zip(decoded) {
        let expected = expected(golden);
        // Nothing of the table is left out of what is expected.
        for header in golden.packet.opcode().headers() {
            for field in header.fields {
                let name = wireshark_name(header.name, field.name);
                assert!(expected.contains_key(&name), "{name}");
            }
        }
        assert_eq!(decoded, expected, "{}", golden.name());
    }
}

/// A bit flipped anywhere in what the ICRC covers is flagged, and one in what it leaves out is not (`docs/wire.md`).
#[test]
fn bad_icrc() {
    let mut frames = vec![];
    let mut expected = vec![];
    for Golden { frame, .. } in golden() {
        // Dscp and ECN, time to live, source address, source port, UDP checksum, and from the connection on every byte.
        let bytes = [15, 22, 28, 35, 41].into_iter().chain(44..frame.len());
        for byte in bytes {
            let mut frame = frame.clone();
            frame[byte] ^= 1 << (byte % 8);
            frames.push(frame);
            expected.push(if [15, 22, 41].contains(&byte) { "1" } else { "0" });
        }
    }
    let Some(decoded) = tshark("bad_icrc", &frames, &[]) else {
        return;
    };
    for (i, (decoded, status)) in decoded.iter().zip(expected).enumerate() {
        assert_eq!(decoded["metaroce.icrc.status"], status, "frame {}", i + 1);
        let flagged = decoded.contains_key("metaroce.expert.bad_icrc");
        assert_eq!(flagged, status == "0", "frame {}", i + 1);
    }
}

/// Frames cut or extended with length fields that are true, other versions and other opcodes get a sentence of the
/// dissector's, and never an error of Lua.
#[test]
fn damaged() {
    let mut frames = vec![];
    let mut expected = vec![];
    for Golden { packet, frame, .. } in golden() {
        let least = packet.opcode().least_frame_bytes();
        for bytes in 43..frame.len() + 3 {
            let mut other = frame.clone();
            other.resize(bytes, 0x5a);
            set_lengths(&mut other);
            frames.push(other);
            let bad = bytes < least || bytes > least && !packet.opcode().is_data();
            expected.push(bad.then_some("metaroce.expert.bad_size"));
        }
    }
    let probe = golden_of(Opcode::Probe).frame;
    for (byte, value, problem) in [
        (42, 0x12, "metaroce.expert.bad_version"),
        (43, 0x04, "metaroce.expert.bad_opcode"),
        (43, 0x08, "metaroce.expert.bad_opcode"),
        (43, 0xff, "metaroce.expert.bad_opcode"),
        (43, 0x10, "metaroce.expert.bad_size"),
    ] {
        let mut frame = probe.clone();
        frame[byte] = value;
        frames.push(frame);
        expected.push(Some(problem));
    }
    let Some(decoded) = tshark("damaged", &frames, &[]) else {
        return;
    };
    for (i, (decoded, problem)) in decoded.iter().zip(expected).enumerate() {
        let found = ["bad_version", "bad_opcode", "bad_size"].map(|name| format!("metaroce.expert.{name}"));
        let found: Vec<&str> = found
            .iter()
            .map(String::as_str)
            .filter(|&name| decoded.contains_key(name))
            .collect();
        assert_eq!(
            found,
            Vec::from_iter(problem),
            "frame {} of {} bytes",
            i + 1,
            frames[i].len()
        );
        assert_eq!(decoded.get("_ws.lua.error"), None, "frame {}", i + 1);
    }
}

/// The port is a preference: packets to another one are decoded when it is set, and not otherwise.
#[test]
fn port() {
    let golden = golden_of(Opcode::Nak);
    let frame = golden.packet.encode(&[], 61_234);
    let with = ["-o", "metaroce.port:61234"];
    for (options, status) in [(&with[..], Some("1")), (&[], None)] {
        let Some(decoded) = tshark("port", std::slice::from_ref(&frame), options) else {
            return;
        };
        assert_eq!(decoded[0].get("metaroce.icrc.status").map(String::as_str), status);
    }
}

/// The fields that tshark shows of each frame, by name; what it does not show is left out. `None` without tshark.
fn tshark(test: &str, frames: &[Vec<u8>], options: &[&str]) -> Option<Vec<BTreeMap<String, String>>> {
    if Command::new("tshark").arg("--version").output().is_err() {
        skip(test, "tshark is not installed");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wire.pcap");
    let times = (1..).map(Duration::from_secs);
    std::fs::write(
        &file,
        write_pcap(times.zip(frames.iter().map(Vec::as_slice))).unwrap(),
    )
    .unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("wireshark/metaroce.lua");
    let fields = HEADERS.into_iter().flat_map(|header| {
        header
            .fields
            .iter()
            .map(|field| wireshark_name(header.name, field.name))
    });
    let fields: Vec<String> = fields.chain(OTHERS.map(String::from)).collect();
    let output = Command::new("tshark")
        .arg("-X")
        .arg(format!("lua_script:{}", script.display()))
        .arg("-r")
        .arg(&file)
        .args(["-o", "ip.check_checksum:TRUE", "-n", "-T", "fields"])
        .args(options)
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !error.contains("Lua"), "{error}");
    let text = String::from_utf8(output.stdout).unwrap();
    let decoded: Vec<BTreeMap<_, _>> = text
        .lines()
        .map(|line| {
            // Truth is a number until Wireshark 4.0, and a word since.
            let values = line.split('\t').map(|value| match value {
                "True" => "1".to_string(),
                "False" => "0".to_string(),
                value => value.to_string(),
            });
            fields
                .iter()
                .cloned()
                .zip(values)
                .filter(|(_, value)| !value.is_empty())
                .collect()
        })
        .collect();
    assert_eq!(decoded.len(), frames.len());
    Some(decoded)
}

fn wireshark_name(header: &str, field: &str) -> String {
    let name = format!("{header}.{field}");
    let below = BELOW.into_iter().find(|(ours, _)| *ours == name);
    below.map_or(format!("metaroce.{name}"), |(_, theirs)| theirs.to_string())
}

/// What tshark is to show of a packet, in its notation, from the packet's values.
fn expected(golden: &Golden) -> BTreeMap<String, String> {
    let Golden {
        packet,
        payload,
        frame,
    } = golden;
    let Packet { route, base, body } = packet;
    let mut fields = BTreeMap::new();
    let mut put = |name: &str, value: String| {
        assert!(fields.insert(name.to_string(), value).is_none(), "{name}");
    };
    put("eth.dst", mac(route.destination_mac));
    put("eth.src", mac(route.source_mac));
    put("eth.type", "0x0800".into());
    put("ip.version", "4".into());
    put("ip.hdr_len", "20".into());
    put("ip.dsfield.dscp", route.dscp.to_string());
    put("ip.dsfield.ecn", route.ecn.to_string());
    put("ip.len", (frame.len() - 14).to_string());
    put("ip.id", "0x0000".into());
    put("ip.flags", "0x02".into());
    put("ip.frag_offset", "0".into());
    put("ip.ttl", "64".into());
    put("ip.proto", "17".into());
    put(
        "ip.checksum",
        format!("{:#06x}", u16::from_be_bytes([frame[24], frame[25]])),
    );
    put("ip.checksum.status", "1".into());
    put(
        "ip.src",
        std::net::Ipv4Addr::from(route.source_address).to_string(),
    );
    put(
        "ip.dst",
        std::net::Ipv4Addr::from(route.destination_address).to_string(),
    );
    put("udp.srcport", route.source_port.to_string());
    put("udp.dstport", UDP_PORT.to_string());
    put("udp.length", (frame.len() - 34).to_string());
    put("udp.checksum", "0x0000".into());

    put("metaroce.base.wire_version", "0".into());
    put(
        "metaroce.base.flags",
        (u8::from(base.last) + 2 * u8::from(base.acknowledge)).to_string(),
    );
    put("metaroce.base.flags.last", flag(base.last));
    put("metaroce.base.flags.acknowledge", flag(base.acknowledge));
    put(
        "metaroce.base.opcode",
        format!("{:#04x}", packet.opcode().value()),
    );
    put("metaroce.base.connection", base.connection.to_string());
    put("metaroce.base.path", base.path.to_string());
    put("metaroce.base.psn", base.psn.to_string());
    put("metaroce.base.timestamp", base.timestamp.to_string());
    put("metaroce.base.reserved_base", "0".into());
    match body {
        Body::Data(data) => {
            put("metaroce.data.stream", data.stream.to_string());
            put("metaroce.data.message", data.message.to_string());
            put("metaroce.data.message_length", data.message_length.to_string());
            put("metaroce.data.offset", data.offset.to_string());
            put(
                "metaroce.data.immediate",
                format!("{:#010x}", data.immediate.unwrap_or(0)),
            );
            put("metaroce.data.reserved_data", "0".into());
            match data.target {
                Target::Write { key, address } => {
                    put("metaroce.write_target.key", format!("{key:#010x}"));
                    put("metaroce.write_target.address", format!("{address:#018x}"));
                }
                Target::Send { receive } => {
                    put("metaroce.send_target.receive", receive.to_string());
                    put("metaroce.send_target.reserved_send", "0".repeat(18));
                }
            }
        }
        Body::Ack(ack) => {
            let words = ack.vector.data.iter().rev().map(|word| format!("{word:016x}"));
            put("metaroce.ack.vector", words.collect());
            put("metaroce.ack.echo", ack.echo.to_string());
            put("metaroce.ack.hold", ack.hold.to_string());
            put("metaroce.ack.packets", ack.packets.to_string());
            put("metaroce.ack.marked", ack.marked.to_string());
            put("metaroce.ack.hint", ack.hint.to_string());
            put("metaroce.ack.window_state", ack.window_state.to_string());
            put("metaroce.ack.reserved_ack", "0".into());
        }
        Body::Nak(nak) => {
            put("metaroce.nak.stream", nak.stream.to_string());
            put("metaroce.nak.message", nak.message.to_string());
            put("metaroce.nak.code", format!("{:#04x}", nak.code));
            put("metaroce.nak.reserved_nak", "0".into());
        }
        Body::Probe => {}
    }
    if !payload.is_empty() {
        put(
            "metaroce.payload",
            payload.iter().map(|byte| format!("{byte:02x}")).collect(),
        );
    }
    put(
        "metaroce.icrc",
        format!("{:#010x}", icrc(&frame[..frame.len() - 4])),
    );
    put("metaroce.icrc.status", "1".into());
    fields
}

fn flag(set: bool) -> String {
    u8::from(set).to_string()
}

fn mac(address: u64) -> String {
    let bytes = address.to_be_bytes();
    let digits: Vec<String> = bytes[2..].iter().map(|byte| format!("{byte:02x}")).collect();
    digits.join(":")
}

/// Makes the length fields true of the frame, so that Wireshark gives the dissector all of it.
fn set_lengths(frame: &mut [u8]) {
    let ip_bytes = frame.len() as u64 - 14;
    set(frame, position(COMMON, &IPV4, "total_length"), ip_bytes);
    set(frame, position(COMMON, &UDP, "udp_length"), ip_bytes - 20);
}
