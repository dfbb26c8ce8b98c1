//! What is generated from the wire's table and checked in: current, and complete.

use metaroce_model::wire::table::HEADERS;
use metaroce_model::wire::{DropReason, NakCode, Opcode, dissector, docs};
use std::path::Path;
use std::process::Command;

/// The page and the dissector are what the table makes of them.
#[test]
fn checked_in_files_are_current() {
    for (file, command, text) in [
        ("docs/wire.md", "docs", docs()),
        ("model/wireshark/metaroce.lua", "dissector", dissector()),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        let stored = std::fs::read_to_string(path).unwrap();
        assert!(
            stored == text,
            "{file} is stale: run `cargo wire {command} > {file}`"
        );
    }
}

/// No field, opcode, code or reason is left out, and no placeholder left in.
#[test]
fn page_is_complete() {
    let page = docs();
    let fields = HEADERS
        .into_iter()
        .flat_map(|header| header.fields)
        .map(|field| field.name);
    let opcodes = Opcode::ALL.map(Opcode::name);
    let names = fields
        .chain(opcodes)
        .chain(NakCode::ALL.map(NakCode::name))
        .chain(DropReason::ALL.map(DropReason::name));
    for name in names {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
    assert!(!page.contains("{{"));
    // Bit fields: the whole byte's, and one over two bytes.
    assert!(page.contains("| 0 & 0xf0 | 4 | `wire_version` | 0 |"));
    assert!(page.contains("| 42 to 43 & 0xfff0 | 12 | `hint` |  |"));
}

/// Wireshark masks bits of integers of at most four bytes here, so no other field may share a byte with its neighbours.
#[test]
fn dissector_can_show_every_field() {
    for header in HEADERS {
        for field in header.fields {
            let at = header.position(field.name);
            assert!(
                at.mask().is_none() || at.end_byte() - at.first_byte() <= 4,
                "{}",
                field.name
            );
        }
    }
}

/// The command prints them, and tells what it takes when it is asked for something else.
#[test]
fn command() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_metaroce-wire"))
            .args(arguments)
            .output()
            .unwrap();
        let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), out, error)
    };
    assert_eq!(run(&["docs"]), (Some(0), docs(), String::new()));
    assert_eq!(run(&["dissector"]), (Some(0), dissector(), String::new()));
    for arguments in [&["doc"][..], &[], &["docs", "dissector"]] {
        let (code, out, error) = run(arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(
            error.starts_with("metaroce-wire takes one command, docs or dissector, not '"),
            "{error}"
        );
    }
}
