//! The headers: the entries of both streams, the header of the frame that is being made, and its bytes, beat by beat.
//!
//! Both streams' entries become one header when one of them is chosen: the fields that all packets have, each in a register `header_FIELD`, and all that
//! follows the base header as one vector of bytes.

use crate::hdl::{Builder, Signal, bits::or_all};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{Ports, deparser::Inputs},
    wire::{
        Opcode,
        table::{ACK, COMMON, DATA, ECT0, Header, NAK, SEND_TARGET, WRITE_TARGET},
    },
};

/// Fields that the entries of both streams have under one name.
const COMMON_FIELDS: [&str; 12] = [
    "destination_mac",
    "source_mac",
    "source_address",
    "destination_address",
    "source_port",
    "dscp",
    "plane",
    "opcode",
    "connection",
    "path",
    "timestamp",
    "psn",
];
/// Header words that are gated and put together in one clock: at most so many.
const WORDS_A_CLOCK: usize = 7;

/// The entry of one stream, which waits to be chosen.
pub struct Entry {
    /// There is one.
    pub valid: Signal,
    builder: Builder,
    name: &'static str,
}

impl Entry {
    /// Registers `NAME_FIELD` for the ports `s_axis_NAME_FIELD`, loaded while the entry is empty; and `NAME_is_KIND`, whether the opcode is one of those.
    pub fn new(b: &Builder, params: &Params, name: &'static str, kinds: &[(&str, &[Opcode])]) -> Self {
        let entry = Self {
            valid: b.register_reset(&format!("{name}_valid"), 1, 0),
            builder: b.clone(),
            name,
        };
        let accepts = (!&entry.valid).named(&format!("accepts_{name}"));
        b.drive(&format!("s_axis_{name}_tready"), &accepts);
        let stream = format!("s_axis_{name}_");
        let fields = Inputs::ports(params);
        let fields = fields.iter().filter_map(|port| port.name.strip_prefix(&stream));
        for field in fields.filter(|field| *field != "tvalid") {
            b.stage(
                &format!("{name}_{field}"),
                &accepts,
                &b.get(&format!("{stream}{field}")),
            );
        }
        let opcode = b.get(&format!("{stream}opcode"));
        for (kind, opcodes) in kinds {
            let is_one: Vec<Signal> = opcodes.iter().map(|one| opcode.is(one.value().into())).collect();
            b.stage(&format!("{name}_is_{kind}"), &accepts, &or_all(&is_one));
        }
        entry
    }

    /// The entry is empty again after a clock with `taken`.
    pub fn finish(&self, taken: &Signal) {
        let b = &self.builder;
        let offered = b.get(&format!("s_axis_{}_tvalid", self.name));
        let next = b.mux(
            &format!("next_{}_valid", self.name),
            &self.valid,
            &!taken,
            &offered,
        );
        b.clocked(&self.valid, &next);
    }

    /// A field of the entry.
    pub fn get(&self, field: &str) -> Signal {
        self.builder.get(&format!("{}_{field}", self.name))
    }
}

/// The header of the frame that is being made.
pub struct Chosen {
    builder: Builder,
    udp_port: u64,
}

/// The most bytes that any opcode's headers have.
pub fn most_header_bytes() -> u32 {
    let bytes = Opcode::ALL.map(Opcode::header_bytes);
    bytes.into_iter().max().unwrap_or_default() as u32
}

/// Width of the number of a frame's last byte.
pub fn frame_bits(params: &Params) -> u32 {
    index_bits(params.mtu_bytes + Opcode::Write.least_frame_bytes() as u32)
        .max(index_bits(Opcode::Ack.least_frame_bytes() as u32))
}

impl Chosen {
    /// Registers `header_FIELD`, loaded in clocks with `choose` from the one entry or the other.
    pub fn new(
        b: &Builder,
        params: &Params,
        (data, ack): (&Entry, &Entry),
        choose: &Signal,
        takes_ack: &Signal,
    ) -> Self {
        let load = |field: &str, of_data: &Signal, of_ack: &Signal| {
            let next = b.mux(&format!("next_header_{field}"), takes_ack, of_ack, of_data);
            b.stage(&format!("header_{field}"), choose, &next);
        };
        let (is_nak, is_probe) = (ack.get("is_nak"), data.get("is_probe"));
        for field in COMMON_FIELDS {
            match field {
                "psn" => load(field, &data.get(field), &ack.get(field).gated(&!&is_nak)),
                _ => load(field, &data.get(field), &ack.get(field)),
            }
        }
        let flags = data.get("flags");
        load("flags", &flags, &flags.lit(0));

        // Lengths. A frame's are its payload's and a constant, or a constant.
        let width = frame_bits(params);
        for (field, before) in [("last_byte", 1), ("total_length", 14), ("udp_length", 34)] {
            let least = |opcode: Opcode| b.lit(opcode.least_frame_bytes() as u64 - before, width);
            let sum = data.get("payload_bytes").extend(width) + least(Opcode::Write);
            let sum = sum.named(&format!("data_{field}_sum"));
            let of_data = b.mux(&format!("data_{field}"), &is_probe, &least(Opcode::Probe), &sum);
            let of_ack = b.mux(
                &format!("ack_{field}"),
                &is_nak,
                &least(Opcode::Nak),
                &least(Opcode::Ack),
            );
            load(field, &of_data, &of_ack);
        }

        // What follows the base header.
        let extension_bits = 8 * (most_header_bytes() - COMMON.iter().map(|h| h.bytes() as u32).sum::<u32>());
        let in_front = |name: &str, parts: &[&Signal]| {
            let bits: u32 = parts.iter().map(|part| part.width()).sum();
            let nothing = (bits < extension_bits).then(|| b.lit(0, extension_bits - bits));
            let parts: Vec<&Signal> = nothing.iter().chain(parts.iter().rev().copied()).collect();
            b.concat(name, &parts)
        };
        let of = |entry: &Entry, header: &Header| {
            let name = format!("{}_header", header.name);
            assembled(b, &name, &[header], |field| entry.get(field))
        };
        let (write, send) = (of(data, &WRITE_TARGET), of(data, &SEND_TARGET));
        let target = b.mux("data_target", &data.get("is_send"), &send, &write);
        let of_data = in_front("data_extension", &[&of(data, &DATA), &target]).gated(&!&is_probe);
        let (ack_header, nak_header) = (of(ack, &ACK), of(ack, &NAK));
        let of_ack = b.mux(
            "ack_or_nak_extension",
            &is_nak,
            &in_front("nak_extension", &[&nak_header]),
            &in_front("ack_extension", &[&ack_header]),
        );
        load("extension", &of_data, &of_ack);
        Self {
            builder: b.clone(),
            udp_port: params.udp_port.into(),
        }
    }

    /// A field of the header.
    pub fn get(&self, field: &str) -> Signal {
        self.builder.get(&format!("header_{field}"))
    }

    /// The frame's first bytes, beat by beat; beyond the headers, and where the IPv4 checksum will be, there are zeros.
    pub fn beats(&self, lanes: u32) -> Vec<Signal> {
        let b = &self.builder;
        let common = assembled(b, "header_common", COMMON, |field| match field {
            "ecn" => b.lit(ECT0.into(), 2),
            "header_checksum" => b.lit(0, 16),
            "destination_port" => b.lit(self.udp_port, 16),
            _ => self.get(field),
        });
        let all = b.concat("header_all", &[&self.get("extension"), &common]);
        let bytes = all.width() / 8;
        (0..bytes.div_ceil(lanes))
            .map(|beat| {
                let byte = |lane| match beat * lanes + lane {
                    number if number < bytes => all.slice(8 * (bytes - 1 - number), 8),
                    _ => b.lit(0, 8),
                };
                let parts: Vec<Signal> = (0..lanes).map(byte).collect();
                b.concat(&format!("header_beat_{beat}"), &parts.iter().collect::<Vec<_>>())
            })
            .collect()
    }
}

/// The beat that `is_beat` selects, in parts: one after another in registers, which together by OR are the beat.
pub fn selected(b: &Builder, moves: &Signal, beats: &[Signal], is_beat: &Signal) -> Vec<Signal> {
    let gated: Vec<Signal> = (0..)
        .zip(beats)
        .map(|(number, beat)| beat.gated(&is_beat.bit(number)))
        .collect();
    gated
        .chunks(WORDS_A_CLOCK)
        .enumerate()
        .map(|(number, part)| b.stage(&format!("header_part_{number}_1"), moves, &or_all(part)))
        .collect()
}

/// The headers' bits, the first one on the wire most significant. Numbers that are narrower than on the wire are extended with zeros.
fn assembled(b: &Builder, name: &str, headers: &[&Header], value: impl Fn(&str) -> Signal) -> Signal {
    let fields = headers.iter().flat_map(|header| header.fields);
    let values: Vec<Signal> = fields
        .map(|field| match field.constant {
            Some(constant) => b.lit(constant, field.bits as u32),
            None => value(field.name).extend(field.bits as u32),
        })
        .collect();
    b.concat(name, &values.iter().rev().collect::<Vec<_>>())
}
