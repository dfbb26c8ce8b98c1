//! The Wireshark dissector: the table as Lua, in front of `dissector.lua`, which has no layout in it.

use super::table::{self, COMMON, FLAGS, Field, HEADERS, Header, position};
use super::{NakCode, Opcode};
use std::fmt::Write;

/// Fields that read better in base sixteen.
const HEXADECIMAL: [(&Header, &str); 3] = [
    (&table::DATA, "immediate"),
    (&table::WRITE_TARGET, "key"),
    (&table::WRITE_TARGET, "address"),
];

/// A field that is no longer in the table is an error of the compiler.
const _: () = {
    let mut i = 0;
    while i < HEXADECIMAL.len() {
        HEXADECIMAL[i].0.position(HEXADECIMAL[i].1);
        i += 1;
    }
};

/// The dissector, a script for Wireshark 4.0 or later, as it is checked in as `model/wireshark/metaroce.lua`.
pub fn dissector() -> String {
    let mut lua = String::from(
        "-- MetaRoCE for Wireshark 4.0 and later. Generated from model/src/wire by `cargo wire dissector`; change it there.\n\
         -- Use: wireshark -X lua_script:metaroce.lua, or put it into the folder of personal Lua plugins.\n\n",
    );
    // Writing to a string does not fail.
    let _ = write_tables(&mut lua);
    lua + include_str!("dissector.lua")
}

fn write_tables(lua: &mut String) -> std::fmt::Result {
    writeln!(lua, "local UDP_PORT = {}", table::UDP_PORT)?;
    writeln!(
        lua,
        "local WIRE_VERSION = {}",
        table::BASE.constant("wire_version")
    )?;
    writeln!(lua, "local ICRC_BYTES = {}", table::ICRC_BYTES)?;

    let ipv4 = position(COMMON, &table::IPV4, "version").first_byte();
    let masked = table::ICRC_MASK.iter().flat_map(|(header, field)| {
        let at = position(COMMON, header, field);
        at.first_byte()..at.end_byte()
    });
    let mut masked: Vec<String> = masked.map(|byte| format!("[{}] = true", byte - ipv4)).collect();
    masked.dedup();
    writeln!(
        lua,
        "-- Bytes from the IPv4 header on that count as ones in the ICRC."
    )?;
    writeln!(lua, "local MASKED = {{ {} }}", masked.join(", "))?;

    writeln!(lua, "\nlocal OPCODES = {{")?;
    for opcode in Opcode::ALL {
        let headers = &opcode.headers()[COMMON.len()..];
        let headers: Vec<String> = headers.iter().map(|header| quoted(header.name)).collect();
        writeln!(
            lua,
            "    [{:#04x}] = {{ name = {}, reserved = {}, data = {}, headers = {{{}}} }},",
            opcode.value(),
            quoted(opcode.name()),
            opcode.is_reserved(),
            opcode.is_data(),
            headers.join(", ")
        )?;
    }
    writeln!(lua, "}}\n\nlocal NAK_CODES = {{")?;
    for code in NakCode::ALL {
        writeln!(lua, "    [{}] = {},", code.value(), quoted(code.name()))?;
    }
    writeln!(lua, "}}\n\n-- Bits of the byte of base.flags.\nlocal FLAGS = {{")?;
    let flags = table::BASE.position("flags");
    for flag in FLAGS {
        writeln!(
            lua,
            "    {{ name = {}, mask = {:#04x}, doc = {} }},",
            quoted(flag.name),
            1 << (flags.shift() + flag.bit),
            quoted(flag.doc)
        )?;
    }
    writeln!(
        lua,
        "}}\n\n-- The headers after UDP. A field stands in `bytes` bytes from byte `at` of its header on; in these it has the bits"
    )?;
    writeln!(lua, "-- of `mask`, if not all: `bits` bits above `shift` others.")?;
    writeln!(lua, "local HEADERS = {{")?;
    for header in HEADERS.into_iter().filter(|header| !COMMON[..3].contains(header)) {
        writeln!(lua, "    {} = {{", header.name)?;
        writeln!(lua, "        bytes = {},", header.bytes())?;
        writeln!(lua, "        doc = {},", quoted(header.doc))?;
        writeln!(lua, "        fields = {{")?;
        for field in header.fields {
            write_field(lua, header, field)?;
        }
        writeln!(lua, "        }},\n    }},")?;
    }
    writeln!(lua, "}}\n")
}

fn write_field(lua: &mut String, header: &Header, field: &Field) -> std::fmt::Result {
    let at = header.position(field.name);
    let hexadecimal = HEXADECIMAL.contains(&(header, field.name));
    write!(
        lua,
        "            {{ name = {}, at = {}, bytes = {}, bits = {}, shift = {}, hexadecimal = {hexadecimal}",
        quoted(field.name),
        at.first_byte(),
        at.end_byte() - at.first_byte(),
        at.bits,
        at.shift()
    )?;
    if let Some(mask) = at.mask() {
        write!(lua, ", mask = {mask:#04x}")?;
    }
    writeln!(lua, ", doc = {} }},", quoted(field.doc))
}

/// A string of Lua; what the table holds has nothing to escape but quotes and backslashes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
