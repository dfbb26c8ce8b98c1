//! Facts of the wire's table.

use metaroce_model::wire::table::*;
use metaroce_model::wire::{DropReason, NakCode, Opcode};
use std::collections::HashSet;

/// R2 to R6: the sizes of the headers, and where each begins.
#[test]
fn sizes() {
    let bytes: Vec<_> = HEADERS
        .iter()
        .map(|header| (header.name, header.bytes()))
        .collect();
    let expected = [
        ("ethernet", 14),
        ("ipv4", 20),
        ("udp", 8),
        ("base", 14),
        ("data", 20),
        ("write_target", 12),
        ("send_target", 12),
        ("ack", 48),
        ("nak", 8),
    ];
    assert_eq!(bytes, expected);
    for opcode in Opcode::ALL {
        let expected = match opcode {
            _ if opcode.is_data() => 92,
            Opcode::Ack => 108,
            Opcode::Nak => 68,
            _ => 60,
        };
        assert_eq!(opcode.least_frame_bytes(), expected, "{}", opcode.name());
        assert_eq!(opcode.position(&BASE, "wire_version").bit, 42 * 8);
        assert_eq!(&opcode.headers()[..4], COMMON);
    }
    assert_eq!(Opcode::Write.position(&DATA, "stream").bit, 56 * 8);
    assert_eq!(Opcode::Write.position(&WRITE_TARGET, "key").bit, 76 * 8);
    assert_eq!(Opcode::Send.position(&SEND_TARGET, "receive").bit, 76 * 8);
    assert_eq!(Opcode::Ack.position(&ACK, "vector").bit, 56 * 8);
    assert_eq!(Opcode::Nak.position(&NAK, "stream").bit, 56 * 8);
    // The payload begins at a word of the 64-bit bus.
    assert!(Opcode::Write.header_bytes().is_multiple_of(8));
}

/// The fields of every frame follow one another without a gap or an overlap, and end where payload or ICRC begins.
#[test]
fn fields_tile_the_frame() {
    for opcode in Opcode::ALL {
        let mut next = 0;
        for header in opcode.headers() {
            for field in header.fields {
                let Position { bit, bits } = opcode.position(header, field.name);
                assert_eq!((bit, bits), (next, field.bits), "{} {}", header.name, field.name);
                next += bits;
            }
        }
        assert_eq!(next, opcode.header_bytes() * 8);
    }
}

/// Names and numbers are unique; a constant fits its field.
#[test]
fn names_and_numbers() {
    fn unique<T: Eq + std::hash::Hash>(items: impl IntoIterator<Item = T>) {
        let mut seen = HashSet::new();
        assert!(items.into_iter().all(|item| seen.insert(item)));
    }
    unique(HEADERS.map(|header| header.name));
    for header in HEADERS {
        unique(header.fields.iter().map(|field| field.name));
        for field in header.fields {
            assert!((1..=256).contains(&field.bits));
            assert!(!field.doc.is_empty());
            let fits = |value: u64| field.bits >= 64 || value >> field.bits == 0;
            assert!(field.constant.is_none_or(fits), "{}", field.name);
        }
    }
    unique(Opcode::ALL.map(Opcode::name));
    for value in 0..=255 {
        let listed = Opcode::ALL.into_iter().find(|opcode| opcode.value() == value);
        assert_eq!(Opcode::from_value(value), listed);
    }
    let opcodes = [0, 1, 2, 3, 4, 5, 6, 7, 0x10, 0x11, 0x12];
    assert_eq!(Opcode::ALL.map(Opcode::value), opcodes);
    let reserved = Opcode::ALL.map(Opcode::is_reserved);
    assert_eq!(reserved, opcodes.map(|value| (4..8).contains(&value)));
    assert_eq!(Opcode::ALL.map(Opcode::is_data), opcodes.map(|value| value < 4));
    assert_eq!(NakCode::ALL.map(NakCode::value), [1, 2, 3, 4]);
    assert_eq!(
        DropReason::ALL.map(DropReason::value),
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    );
    assert_eq!(FLAGS.map(|flag| flag.bit), [0, 1]);
}

/// A name that is not in the table is a mistake of the program, told at once.
#[test]
#[should_panic(expected = "no such field")]
fn unknown_field() {
    BASE.position("opcod");
}

/// The same for a header that the frame does not have.
#[test]
#[should_panic(expected = "no such header")]
fn unknown_header() {
    Opcode::Ack.position(&DATA, "stream");
}
