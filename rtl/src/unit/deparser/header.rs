//! The headers: the entries of both streams, the header of the frame that is being made, and its bytes, beat by beat.
//!
//! Both streams' entries become one header when one of them is chosen: the fields that all packets have, each in a register `header_FIELD`, and all that
//! follows the base header as one vector of bytes.

use crate::hdl::{Builder, Signal, bits::or_all};
use metaroce_model::{
    Params,
    params::index_bits,
    wire::{
        Opcode,
        table::{ACK, COMMON, DATA, ECT0, ETHERNET, Header, IPV4, NAK, SEND_TARGET, WRITE_TARGET},
    },
};

/// Fields that the entries of both streams have under one name.
const COMMON_FIELDS: [&str; 11] = [
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
];
/// What a header says of its frame's length, and by how much it is less than the number of bytes.
const LENGTHS: [(&str, usize); 3] = [
    ("last_byte", 1),
    ("total_length", ETHERNET.bytes()),
    ("udp_length", ETHERNET.bytes() + IPV4.bytes()),
];
/// Header words that are gated and put together in one clock: at most so many.
const WORDS_A_CLOCK: usize = 7;

/// The header that one stream has ready, which waits to be chosen.
pub struct Entry {
    /// There is one.
    pub valid: Signal,
    builder: Builder,
    stream: &'static str,
    accepts: Signal,
}

/// The most bytes that any opcode's headers have.
pub fn most_header_bytes() -> u32 {
    let bytes = Opcode::ALL.map(Opcode::header_bytes);
    bytes.into_iter().max().unwrap_or_default() as u32
}

/// Most bytes behind the base header.
fn extension_bytes() -> u32 {
    most_header_bytes() - COMMON.iter().map(|header| header.bytes() as u32).sum::<u32>()
}

/// Width of the number of a frame's last byte.
pub fn frame_bits(params: &Params) -> u32 {
    let most = params.mtu_bytes + Opcode::Write.least_frame_bytes() as u32;
    index_bits(most.max(Opcode::Ack.least_frame_bytes() as u32))
}

impl Entry {
    /// Registers `STREAM_FIELD`, loaded while the entry is empty.
    fn new(b: &Builder, stream: &'static str) -> Self {
        let valid = b.register(&format!("{stream}_valid"), 1);
        let entry = Self {
            accepts: (!&valid).named(&format!("accepts_{stream}")),
            valid,
            builder: b.clone(),
            stream,
        };
        b.drive(&format!("s_axis_{stream}_tready"), &entry.accepts);
        for field in COMMON_FIELDS {
            entry.load(field, &entry.offered(field));
        }
        entry
    }

    /// The entry of `s_axis_data`.
    pub fn data(b: &Builder, params: &Params) -> Self {
        let entry = Self::new(b, "data");
        let is_probe = entry.offers(&[Opcode::Probe]).named("offers_probe");
        let is_send = entry.offers(&[Opcode::Send, Opcode::SendImmediate]);
        let payload = entry.offered("payload_bytes");
        entry.load("psn", &entry.offered("psn"));
        entry.load("flags", &entry.offered("flags"));
        entry.load("has_payload", &(payload.any() & !&is_probe));
        for (field, before) in LENGTHS {
            let constant = |opcode| length(b, params, opcode, before);
            let sum = payload.extend(frame_bits(params)) + constant(Opcode::Write);
            let sum = sum.named(&format!("offered_data_{field}"));
            let probe = constant(Opcode::Probe);
            let value = b.mux(&format!("offered_data_or_probe_{field}"), &is_probe, &probe, &sum);
            entry.load(field, &value);
        }
        let write = entry.header(&WRITE_TARGET);
        let send = entry.header(&SEND_TARGET);
        let target = b.mux("offered_target", &is_send.named("offers_send"), &send, &write);
        let extension = b.concat("offered_data_extension", &[&target, &entry.header(&DATA)]);
        entry.load("extension", &extension.gated(&!&is_probe));
        entry
    }

    /// The entry of `s_axis_ack`.
    pub fn ack(b: &Builder, params: &Params) -> Self {
        let entry = Self::new(b, "ack");
        let is_nak = entry.offers(&[Opcode::Nak]).named("offers_nak");
        entry.load("psn", &entry.offered("psn").gated(&!&is_nak));
        for (field, before) in LENGTHS {
            let constant = |opcode| length(b, params, opcode, before);
            let (nak, ack) = (constant(Opcode::Nak), constant(Opcode::Ack));
            let value = b.mux(&format!("offered_ack_or_nak_{field}"), &is_nak, &nak, &ack);
            entry.load(field, &value);
        }
        let ack = in_front(b, "offered_ack_extension", &entry.header(&ACK));
        let nak = in_front(b, "offered_nak_extension", &entry.header(&NAK));
        let extension = b.mux("offered_ack_or_nak_extension", &is_nak, &nak, &ack);
        entry.load("extension", &extension);
        entry
    }

    /// The entry is empty again after a clock with `taken`. Returns whether there is one in the next clock, unless it is taken in this one.
    pub fn finish(&self, taken: &Signal) -> Signal {
        let offered = &self.valid | self.offered("tvalid");
        let offered = offered.named(&format!("{}_waits_on", self.stream));
        self.builder.clocked(&self.valid, &(&offered & &!taken));
        offered
    }

    /// A field of the entry.
    fn get(&self, field: &str) -> Signal {
        self.builder.get(&format!("{}_{field}", self.stream))
    }

    /// A field of the stream.
    fn offered(&self, field: &str) -> Signal {
        self.builder.get(&format!("s_axis_{}_{field}", self.stream))
    }

    /// The stream's opcode is one of these.
    fn offers(&self, opcodes: &[Opcode]) -> Signal {
        let opcode = self.offered("opcode");
        let is_one = opcodes.iter().map(|one| opcode.is(one.value().into()));
        or_all(&is_one.collect::<Vec<_>>())
    }

    fn load(&self, field: &str, value: &Signal) {
        let name = format!("{}_{field}", self.stream);
        self.builder.stage(&name, &self.accepts, value);
    }

    fn header(&self, header: &Header) -> Signal {
        let name = format!("offered_{}_header", header.name);
        assembled(&self.builder, &name, &[header], |field| self.offered(field))
    }
}

/// A length of the shortest frame with that opcode, which is `less` than its number of bytes.
fn length(b: &Builder, params: &Params, opcode: Opcode, less: usize) -> Signal {
    b.lit((opcode.least_frame_bytes() - less) as u64, frame_bits(params))
}

/// The bytes behind the base header begin with these.
fn in_front(b: &Builder, name: &str, bytes: &Signal) -> Signal {
    match 8 * extension_bytes() - bytes.width() {
        0 => bytes.clone(),
        rest => b.concat(name, &[&b.lit(0, rest), bytes]),
    }
}

/// The header of the frame that is being made.
pub struct Chosen {
    builder: Builder,
    udp_port: u64,
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
        let load = |field: &str, next: &Signal| {
            b.stage(&format!("header_{field}"), choose, next);
        };
        let lengths = LENGTHS.map(|(field, _)| field);
        for field in COMMON_FIELDS.into_iter().chain(["psn"]).chain(lengths) {
            let name = format!("next_header_{field}");
            let next = b.mux(&name, takes_ack, &ack.get(field), &data.get(field));
            match field {
                // The rest goes to the counter of beats.
                "last_byte" => load("last_lane", &next.truncate(params.lane_bits())),
                _ => load(field, &next),
            }
        }
        for field in ["flags", "has_payload"] {
            let of_data = data.get(field).gated(&!takes_ack);
            load(field, &of_data.named(&format!("next_header_{field}")));
        }
        let of_data = in_front(b, "data_extension_in_front", &data.get("extension"));
        let extension = b.mux(
            "next_header_extension",
            takes_ack,
            &ack.get("extension"),
            &of_data,
        );
        load("extension", &extension);
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
