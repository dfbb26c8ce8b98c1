//! The page about the wire: `docs.md` with the table's parts in the places of its placeholders.

use super::table::{self, FLAGS, HEADERS, Header};
use super::{DropReason, NakCode, Opcode};

/// The page, as it is checked in as `docs/wire.md`.
pub fn docs() -> String {
    include_str!("docs.md")
        .replace("{{opcodes}}", &opcodes())
        .replace("{{headers}}", &headers())
        .replace("{{flags}}", &flags())
        .replace("{{codes}}", &codes())
        .replace("{{reasons}}", &reasons())
        .replace("{{udp_port}}", &table::UDP_PORT.to_string())
        .replace("{{icrc_mask}}", &icrc_mask())
}

fn opcodes() -> String {
    let rows = Opcode::ALL.map(|opcode| {
        let headers = &opcode.headers()[table::COMMON.len()..];
        let headers: Vec<&str> = headers.iter().map(|header| header.name).collect();
        let (headers, bytes) = match opcode {
            _ if opcode.is_reserved() => (String::new(), String::new()),
            _ if opcode.is_data() => (
                headers.join(", "),
                format!("{} + payload", opcode.least_frame_bytes()),
            ),
            _ => (headers.join(", "), opcode.least_frame_bytes().to_string()),
        };
        [
            format!("{:#04x}", opcode.value()),
            format!("`{}`", opcode.name()),
            headers,
            bytes,
            opcode.doc().to_string(),
        ]
    });
    rows_of(
        [
            "Opcode",
            "Name",
            "Headers after base",
            "Bytes of the frame",
            "Meaning",
        ],
        rows,
    )
}

fn headers() -> String {
    let sections: Vec<String> = HEADERS.into_iter().map(section).collect();
    sections.join("\n\n")
}

fn section(header: &Header) -> String {
    let rows = header.fields.iter().map(|field| {
        let at = header.position(field.name);
        let (first, last) = (at.first_byte(), at.end_byte() - 1);
        let mut bytes = if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        };
        if let Some(mask) = at.mask() {
            bytes += &format!(" & {mask:#04x}");
        }
        let constant = field.constant.map_or(String::new(), |value| {
            if field.name == "ether_type" {
                format!("{value:#06x}")
            } else {
                value.to_string()
            }
        });
        [
            bytes,
            field.bits.to_string(),
            format!("`{}`", field.name),
            constant,
            field.doc.to_string(),
        ]
    });
    let rows = rows_of(["Bytes", "Bits", "Field", "Always sent", "Meaning"], rows);
    format!(
        "### {}: {} bytes\n\n{}\n\n{rows}",
        header.name,
        header.bytes(),
        header.doc
    )
}

fn flags() -> String {
    let rows = FLAGS.map(|flag| {
        [
            flag.bit.to_string(),
            format!("`{}`", flag.name),
            flag.doc.to_string(),
        ]
    });
    rows_of(["Bit", "Name", "Meaning"], rows)
}

fn codes() -> String {
    let rows = NakCode::ALL.map(|code| {
        [
            code.value().to_string(),
            format!("`{}`", code.name()),
            code.doc().to_string(),
        ]
    });
    rows_of(["Code", "Name", "Meaning"], rows)
}

fn reasons() -> String {
    let rows = DropReason::ALL.map(|reason| {
        [
            reason.value().to_string(),
            format!("`{}`", reason.name()),
            format!("{reason}"),
        ]
    });
    rows_of(["Number", "Name", "When"], rows)
}

fn icrc_mask() -> String {
    let fields = table::ICRC_MASK.map(|(header, field)| format!("`{}.{field}`", header.name));
    let (last, others) = fields.split_last().expect("the list is not empty");
    format!("{} and {last}", others.join(", "))
}

/// A table of Markdown.
fn rows_of<const N: usize>(heads: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let mut lines = vec![line(&heads.map(String::from)), format!("|{}", "---|".repeat(N))];
    lines.extend(rows.into_iter().map(|row| line(&row)));
    lines.join("\n")
}
