//! `parser`: takes frames apart and checks them. Contract: [`metaroce_model::port::parser`].
//!
//! # How it is done
//! - The beats go along a line of registers, and no frame waits for another: what is known of a frame is a register of some stage that holds, when the frame's
//!   last beat is in that stage, what its beats up to that one have told. So frames of any length, down to one beat, may follow each other without a gap, and one
//!   that ends early leaves only what [`drop::BAD`] or [`drop::TRUNCATED`] forbid to look at.
//! - A field is taken from the beats by constant lanes in the clock in which its beat enters a stage (`Beats`): what must be checked early, what is only given on late, at
//!   the last stage, straight into what the output queues take.
//! - Fields with one right value are compared before they are taken, so that one bit is kept of each.
//! - The checksum of the IPv4 header is right when the sum of its words, 20 bits wide, is a multiple of 65535 other than 0: when its upper 4 bits and
//!   its lower 16 have the sum 0xffff. That needs no adder.
//! - `moves`, the enable of everything, is a register: whether what is in the last stage has a place to go.
//!
//! # Pipeline
//! The number at a name's end is its stage.
//!
//! | stage | what |
//! |---|---|
//! | 1 | taken in, with its number in the frame, the time, and the address configured for its plane |
//! | 2 | which bytes are the frame's; fields compared with their only right value; the destination address taken |
//! | 3 | the beat as it counts for the ICRC; how many bytes it has; what the comparisons told is taken; the address compared |
//! | 4 | the frame's length; the words of the IPv4 header (or one stage or two earlier: the wider the bus, the more words to add) |
//! | 5 | the lengths that the headers should have; those they have are taken; the words' sum |
//! | 6 | lengths compared; the opcode's size |
//! | 7 | the sum over the frame's beats |
//! | 8 | is it right? |
//! | 9 | the ICRC, which took six clocks |
//! | 10 | it is compared |
//! | 11 | all reasons to drop, a bit each |
//! | 12 | the verdict, and all fields; into the output queues, which are the thirteenth clock |

mod fields;
mod mutations;

pub use mutations::MUTATIONS;

use super::{
    axis_register::{named_output_queue, room_next},
    icrc,
    queue::Queue,
};
use crate::hdl::{Builder, Carried, Module, Signal, bits};
use fields::{Beats, Passing, above, lowest};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        parser::{HEADER_BYTES, Inputs, LATENCY, Outputs, drop},
        unit_ports,
    },
    wire::{
        Opcode,
        table::{
            self, ACK, BASE, COMMON, DATA, ETHERNET, Header, IPV4, NAK, Position, SEND_TARGET, UDP,
            WRITE_TARGET,
        },
    },
};
use std::{collections::BTreeMap, rc::Rc};

/// The stage from which the output queues take.
const LAST_STAGE: u32 = 12;
const _: () = assert!(LATENCY as u32 == LAST_STAGE + 1, "the queue is the last clock");
/// The stage in which the ICRC's module takes beats.
const ICRC_STAGE: u32 = 3;
const _: () = assert!(ICRC_STAGE + icrc::LATENCY == 9, "the ICRC is there in stage 9");

fn doc(params: &Params) -> String {
    format!(
        "Takes frames apart, checks them, and tells the packets of data from the acknowledgements.
        Bus of {} bits; UDP port {}; frames of up to {} bytes, payload of up to {}.
        Latency {LATENCY} clocks, initiation interval 1 on any frames. The number at a name's end is its pipeline stage.",
        params.data_bits, params.udp_port, params.max_packet_bytes, params.mtu_bytes,
    )
}

/// The unit.
pub fn unit(params: &Params) -> Rc<Module> {
    let b = Builder::unit("parser", &doc(params), &unit_ports::<Inputs, Outputs>(params));
    let moves = b.register_reset("moves", 1, 1);
    b.drive("s_axis_rx_tready", &moves);
    let parser = Parser::new(b, moves, params);
    let opcode = parser.opcode();
    let length = parser.length();
    let size = parser.size(&opcode, &length);
    let reasons = parser.reasons(&opcode, &length, &size);
    let verdict = parser.verdict(&reasons, &opcode, &size);
    parser.outputs(&verdict, &opcode, &size);
    parser.b.finish()
}

/// Everything as far as stage 1, and what all parts need.
struct Parser<'a> {
    b: Builder,
    moves: Signal,
    params: &'a Params,
    beats: Beats,
    /// There is a beat in the stage.
    active: Carried,
    /// It is its frame's last.
    last: Passing,
    /// The lanes that hold bytes of the frame, in stage 1 from `tkeep`: all before the first that is clear.
    keep_1: Signal,
    /// Its number in the frame, up to the first that makes the frame too long whatever it holds.
    number: Passing,
    plane: Passing,
    bad: Passing,
    arrival: Passing,
    local_address: Passing,
}

/// What the opcode says, from stage 3 on.
struct Kinds {
    data: Passing,
    write: Passing,
    send: Passing,
    ack: Passing,
    nak: Passing,
    probe: Passing,
}

/// The frame's length, and what is derived of it.
struct Length {
    /// Bytes, stage 4.
    bytes_4: Signal,
    /// The last beat has none, from stage 3 on.
    empty: Passing,
}

/// What the opcode and the length together say.
struct Size {
    /// Not what the opcode wants, stage 6.
    wrong: Passing,
    /// Of data: bytes of payload, from stage 6 on.
    payload_bytes: Passing,
    /// There are some, from stage 7 on.
    has_payload: Passing,
}

/// What is done with the frame whose last beat is in stage 12.
struct Verdict {
    to_payload: Signal,
    keep: Signal,
    to_data: Signal,
    to_ack: Signal,
    drops: Signal,
    reason: Signal,
}

impl<'a> Parser<'a> {
    fn new(b: Builder, moves: Signal, params: &'a Params) -> Self {
        let lanes = params.lanes();
        let pass = |name: &str, value: &Signal| Passing::new(&b, &moves, name, 1, value);
        let tlast = b.get("s_axis_rx_tlast");
        let accepted = b.wire("accepted", &(&b.get("s_axis_rx_tvalid") & &moves));

        // One bit for each of the beats that hold fields, and a number that stops where the frame is too long anyhow.
        let end = Opcode::Ack.position(&ACK, "window_state").end_byte() as u32;
        let header_beats = end.div_ceil(lanes);
        let position = b.register_reset("position", header_beats, 1);
        let moved = b.concat(
            "position_moved",
            &[&b.lit(0, 1), &position.truncate(header_beats - 1)],
        );
        b.clocked_when(
            &accepted,
            &position,
            &b.mux("position_next", &tlast, &position.lit(1), &moved),
        );
        let most = params.max_packet_bytes / lanes + 1;
        let number = b.register("number", index_bits(most + 1));
        let counts = b.wire("number_counts", &!number.is(most.into()));
        let counted = b.wire("number_counted", &(&number + &counts.extend(number.width())));
        b.clocked_when(
            &accepted,
            &number,
            &b.wire("number_next", &counted.gated(&!&tlast)),
        );

        let local_address = local_addresses(&b, params);
        let keep = &b.get("s_axis_rx_tkeep") | &(!&tlast).sign_extend(lanes);
        Self {
            beats: Beats::new(&b, &moves, &b.get("s_axis_rx_tdata"), &accepted, &position),
            active: b.carry("active", &moves, &accepted, 1..=LAST_STAGE - 1),
            last: pass("last", &tlast),
            keep_1: b.stage("keep_1", &moves, &keep),
            number: pass("number", &number),
            plane: pass("plane", &b.get("s_axis_rx_plane")),
            bad: pass("bad", &b.get("s_axis_rx_bad")),
            arrival: pass("arrival", &b.get("now")),
            local_address: pass("local_address", &local_address),
            b,
            moves,
            params,
        }
    }

    fn pass(&self, name: &str, first: u32, value: &Signal) -> Passing {
        Passing::new(&self.b, &self.moves, name, first, value)
    }

    fn stage(&self, name: &str, value: &Signal) -> Signal {
        self.b.stage(name, &self.moves, value)
    }

    /// Stages 2 and 3: what the opcode is. A field of one byte is in one beat, with the rest of the base header before or behind it.
    fn opcode(&self) -> Kinds {
        let parts = fields::parts(position(&BASE, "opcode"), self.params.lanes());
        let [part] = &parts[..] else {
            unreachable!("a byte is in one beat")
        };
        let [(low, bits)] = part.pieces[..] else {
            unreachable!("a byte has no pieces")
        };
        let opcode = self.beats.data(1).slice(low, bits);
        let kind = |name: &str, opcodes: &[Opcode]| {
            let any: Vec<Signal> = opcodes
                .iter()
                .map(|opcode_of| opcode.is(opcode_of.value().into()))
                .collect();
            let seen = self.stage(&format!("sees_{name}_2"), &bits::or_all(&any));
            let held = self.beats.hold(&format!("{name}_3"), part.beat, &seen);
            Passing::from_register(&self.b, &self.moves, name, 3, &held)
        };
        let writes = [Opcode::Write, Opcode::WriteImmediate];
        let sends = [Opcode::Send, Opcode::SendImmediate];
        Kinds {
            data: kind("data_packet", &[writes, sends].concat()),
            write: kind("write", &writes),
            send: kind("send", &sends),
            ack: kind("ack", &[Opcode::Ack]),
            nak: kind("nak", &[Opcode::Nak]),
            probe: kind("probe", &[Opcode::Probe]),
        }
    }

    /// Stages 2 to 4: the frame's bytes. Makes the registers with which the ICRC's module is fed.
    fn length(&self) -> Length {
        let (b, lanes) = (&self.b, self.params.lanes());
        let keep = (0..lanes).map(|lane| self.keep_1.truncate(lane + 1).all());
        let keep = b.concat(
            "keep_to_first_gap",
            &keep.collect::<Vec<_>>().iter().collect::<Vec<_>>(),
        );
        let keep_2 = self.stage("keep_2", &keep);

        // Where the bytes end: after none, after the first, ... after all.
        let ends: Vec<Signal> = (0..=lanes)
            .map(|bytes| match bytes {
                0 => !keep_2.bit(0),
                _ if bytes == lanes => keep_2.bit(lanes - 1),
                _ => keep_2.bit(bytes - 1) & !keep_2.bit(bytes),
            })
            .collect();
        let end = b.concat("end_of_bytes", &ends.iter().collect::<Vec<_>>());
        let bytes = bits::encode(b, "bytes", &end);
        let bytes_3 = self.stage("bytes_3", &bytes);
        // A beat without any byte counts as one without absent lanes; see `icrc_differs`.
        let lane_bits = lanes.trailing_zeros();
        self.stage("absent_3", &(b.lit(0, lane_bits) - bytes.truncate(lane_bits)));
        let empty = self.pass("empty", 3, &end.bit(0));

        let kept: Vec<Signal> = (0..lanes)
            .map(|lane| self.beats.data(2).slice(8 * lane, 8).gated(&keep_2.bit(lane)))
            .collect();
        let kept = b.concat("kept_bytes", &kept.iter().collect::<Vec<_>>());
        let special: Vec<Signal> = (0..icrc::special_beats(self.params.data_bits))
            .map(|beat| self.beats.is(beat, 2))
            .collect();
        self.stage("icrc_beat_3", &icrc::counted(b, "counted_bytes", &kept, &special));

        let number_3 = self.number.at(3);
        let before = b.concat("bytes_before", &[&b.lit(0, lanes.trailing_zeros()), &number_3]);
        let length = before.extend(before.width() + 1) + bytes_3.extend(before.width() + 1);
        Length {
            bytes_4: self.stage("length_4", &length),
            empty,
        }
    }

    /// Stages 5 to 7: the length against the opcode's.
    fn size(&self, opcode: &Kinds, length: &Length) -> Size {
        let (b, length_4) = (&self.b, &length.bytes_4);
        let exactly =
            |name: &str, opcode: Opcode| self.stage(name, &length_4.is(opcode.least_frame_bytes() as u64));
        let least = Opcode::Write.least_frame_bytes() as u64;
        debug_assert_eq!(least, Opcode::Send.least_frame_bytes() as u64);
        let most = least + u64::from(self.params.mtu_bytes);
        let has_headers = self.stage("has_data_headers_5", &length_4.ge(&length_4.lit(least)));
        let exceeds_mtu = self.stage("exceeds_mtu_5", &length_4.ge(&length_4.lit(most + 1)));
        let right = [
            opcode.data.at(5) & &has_headers & !&exceeds_mtu,
            opcode.ack.at(5) & exactly("ack_size_5", Opcode::Ack),
            opcode.nak.at(5) & exactly("nak_size_5", Opcode::Nak),
            opcode.probe.at(5) & exactly("probe_size_5", Opcode::Probe),
        ];
        let right = b.wire("size_right", &bits::or_all(&right));
        let payload_bits = self.params.payload_bits();
        let payload = length_4.truncate(payload_bits) - b.lit(least % (1 << payload_bits), payload_bits);
        let payload_5 = self.stage("payload_bytes_5", &payload);
        let payload_bytes = self.pass("payload_bytes", 6, &payload_5.gated(&opcode.data.at(5)));
        Size {
            wrong: self.pass("size_wrong", 6, &!right),
            has_payload: self.pass("has_payload", 7, &payload_bytes.at(6).any()),
            payload_bytes,
        }
    }

    /// Stage 11: a bit for each reason to drop the frame, by its number.
    fn reasons(&self, opcode: &Kinds, length: &Length, size: &Size) -> Signal {
        let b = &self.b;
        let right = |header: &Header, field: &str| {
            self.beats
                .differs(field, position(header, field), constant(header, field))
        };
        let reason = |name: &str, stage: u32, value: &Signal| self.pass(name, stage, value);

        // Stage 4: what comparisons with one right value told.
        let not_ipv4 = reason("not_ipv4", 4, &right(&ETHERNET, "ether_type"));
        let more_fragments = lowest(position(&IPV4, "fragment_flags"), 1);
        let ip_header = [
            right(&IPV4, "version"),
            right(&IPV4, "header_length"),
            self.beats.differs("more_fragments", more_fragments, 0),
            right(&IPV4, "fragment_offset"),
            right(&IPV4, "protocol"),
        ];
        let ip_fields = reason("ip_fields_wrong", 4, &bits::or_all(&ip_header));
        let destination_port = position(&UDP, "destination_port");
        let udp_port = self.params.udp_port.into();
        let port = self.beats.differs("destination_port", destination_port, udp_port);
        let port = reason("port_wrong", 4, &port);
        let version = reason("version_wrong", 4, &right(&BASE, "wire_version"));
        let beyond: Vec<Signal> = [
            ("connection", self.params.connection_bits()),
            ("path", self.params.path_bits()),
            ("psn", self.params.psn_bits),
        ]
        .iter()
        .filter_map(|(field, bits)| {
            let excess = above(position(&BASE, field), *bits)?;
            Some(self.beats.differs(&format!("{field}_excess"), excess, 0))
        })
        .collect();
        let beyond = match &beyond[..] {
            [] => b.lit(0, 1),
            some => bits::or_all(some),
        };
        let beyond = reason("numbers_too_large", 4, &beyond);
        let known = [&opcode.data, &opcode.ack, &opcode.nak, &opcode.probe].map(|kind| kind.at(3));
        let unknown = reason("opcode_unknown", 4, &!bits::or_all(&known));
        let address = self.address_wrong();

        // Stages 5 to 7: lengths.
        let length_4 = &length.bytes_4;
        let truncated = length_4.lt(&length_4.lit(Opcode::Probe.least_frame_bytes() as u64));
        let truncated = reason("truncated", 5, &truncated);
        let too_long = length_4.ge(&length_4.lit(u64::from(self.params.max_packet_bytes) + 1));
        let too_long = self.pass("too_long", 5, &too_long);
        let differs = [
            self.length_differs("total_length", &IPV4, length_4),
            self.length_differs("udp_length", &UDP, length_4),
        ];
        let length_wrong = too_long.at(6) | differs[0].any() | differs[1].any();
        let length_wrong = reason("length_wrong", 7, &length_wrong);

        let header_sum = self.header_sum_wrong();
        let icrc_differs = self.icrc_differs(&length.empty);

        let mut bits = BTreeMap::new();
        bits.insert(drop::BAD, self.bad.at(10));
        bits.insert(drop::TRUNCATED, truncated.at(10));
        bits.insert(drop::NOT_IPV4, not_ipv4.at(10));
        bits.insert(drop::IP_HEADER, ip_fields.at(10) | header_sum.at(10));
        bits.insert(drop::ADDRESS, address.at(10));
        bits.insert(drop::PORT, port.at(10));
        bits.insert(drop::LENGTH, length_wrong.at(10));
        bits.insert(drop::VERSION, version.at(10));
        bits.insert(drop::OPCODE, unknown.at(10));
        bits.insert(drop::SIZE, size.wrong.at(10) | beyond.at(10));
        bits.insert(drop::ICRC, icrc_differs.any());
        assert!(bits.keys().copied().eq(0..bits.len() as u8));
        let all = b.concat("reasons", &bits.values().collect::<Vec<_>>());
        self.stage("reasons_11", &all)
    }

    /// Stages 2 to 4: the destination address against the one configured.
    fn address_wrong(&self) -> Passing {
        let b = &self.b;
        let destination = position(&IPV4, "destination_address");
        let destination = self.beats.take("destination_address", destination, 2);
        let local = self.local_address.at(2);
        let differs = nibbles_any(b, "address_differs", &(&destination ^ &local));
        let differs = self.stage("address_differs_3", &differs);
        let configured = nibbles_any(b, "address_configured", &local);
        let configured = self.stage("address_configured_3", &configured);
        self.pass("address_wrong", 4, &(differs.any() | !configured.any()))
    }

    /// Stages 5 and 6: a length that a header tells, which counts from its own start, against the frame's.
    fn length_differs(&self, field: &str, header: &Header, length_4: &Signal) -> Signal {
        let at = position(header, field);
        let bytes_before: usize = COMMON
            .iter()
            .take_while(|before| before.name != header.name)
            .map(|before| before.bytes())
            .sum();
        let expected = length_4 - &length_4.lit(bytes_before as u64);
        let expected = self.stage(&format!("{field}_expected_5"), &expected);
        let told = self.beats.take(field, at, 5);
        let differs = nibbles_any(
            &self.b,
            &format!("{field}_differs"),
            &(told ^ expected.extend(at.bits as u32)),
        );
        self.stage(&format!("{field}_differs_6"), &differs)
    }

    /// Stages 3 to 8: the checksum of the IPv4 header.
    fn header_sum_wrong(&self) -> Passing {
        let (b, lanes) = (&self.b, self.params.lanes());
        let start = ETHERNET.bytes() as u32;
        let mut words: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for byte in (start..start + IPV4.bytes() as u32).step_by(2) {
            words.entry(byte % lanes).or_default().push(byte / lanes);
        }
        let levels = index_bits(words.len() as u32);
        let stage = 6 - levels;
        let mut sums: Vec<Signal> = words
            .iter()
            .map(|(lane, beats)| {
                let is_header: Vec<Signal> =
                    beats.iter().map(|beat| self.beats.is(*beat, stage - 1)).collect();
                let is_header = self.stage(&format!("header_lane_{lane}_{stage}"), &bits::or_all(&is_header));
                let data = self.beats.data(stage);
                let word = b.concat(
                    &format!("word_of_lane_{lane}"),
                    &[&data.slice(8 * (lane + 1), 8), &data.slice(8 * lane, 8)],
                );
                word.gated(&is_header)
            })
            .collect();
        for level in 1..=levels {
            let pairs = sums.chunks(2).enumerate().map(|(pair, sums)| {
                let width = 16 + level;
                let sum = match sums {
                    [low, high] => low.extend(width) + high.extend(width),
                    _ => sums[0].extend(width),
                };
                self.stage(&format!("header_sum_{pair}_{}", stage + level), &sum)
            });
            sums = pairs.collect();
        }

        let total = b.register("header_sum_7", 20);
        let before = total.gated(&!self.beats.is(0, 6)).named("header_sum_before");
        let counts = b.wire("header_sum_counts", &(&self.moves & self.active.at(6)));
        b.clocked_when(&counts, &total, &(&before + &sums[0].extend(20)));
        let upper = total.slice(4, 12).all();
        let lower = (total.truncate(4) ^ total.slice(16, 4)).all();
        self.pass("header_sum_wrong", 8, &!(upper & lower))
    }

    /// Stages 3 to 10: the checksum over all.
    fn icrc_differs(&self, empty: &Passing) -> Signal {
        let b = &self.b;
        let icrc = b.instance(
            "icrc",
            &icrc::of_width(self.params.data_bits),
            &[
                ("moves", &self.moves),
                ("valid", self.active.at(ICRC_STAGE)),
                ("first", &self.beats.is(0, ICRC_STAGE)),
                ("data", &b.get("icrc_beat_3")),
                ("absent", &b.get("absent_3")),
            ],
        );
        let crc = icrc.get("crc");
        // A last beat without bytes has put as many zero bytes behind the frame as a beat has.
        let expected = b.mux(
            "icrc_expected",
            &empty.at(9),
            &crc.lit(icrc::with_zeros(icrc::RESIDUE, self.params.lanes())),
            &crc.lit(icrc::RESIDUE),
        );
        let differs = nibbles_any(b, "icrc_differs", &(&crc ^ &expected));
        self.stage("icrc_differs_10", &differs)
    }

    /// Stage 12: what is done with the frame.
    fn verdict(&self, reasons: &Signal, opcode: &Kinds, size: &Size) -> Verdict {
        let b = &self.b;
        let flag = |name: &str, value: &Signal| b.stage(name, &self.moves, value);
        let ends = b.wire("ends", &(self.active.at(11) & &self.last.at(11)));
        let good = b.wire("good", &!reasons.any());
        let gives = b.wire("gives", &(&ends & &good));
        let data = opcode.data.at(11);

        let numbers: Vec<(Signal, Signal)> = (0..reasons.width())
            .map(|reason| (reasons.bit(reason), b.lit(reason.into(), 4)))
            .collect();
        let numbers: Vec<(&Signal, &Signal)> = numbers.iter().map(|(bit, number)| (bit, number)).collect();
        let reason = b.select("reason", &numbers, &b.lit(drop::NONE.into(), 4));

        // Of a frame that is too long only the last beat goes on.
        let lanes = self.params.lanes();
        let number_1 = self.number.at(1);
        let first_beat = number_1.lit((HEADER_BYTES / lanes).into());
        let end_beat = number_1.lit(self.params.max_packet_bytes.div_ceil(lanes).into());
        let behind_headers = self.stage("behind_headers_2", &number_1.ge(&first_beat));
        let cut = self.stage("cut_2", &number_1.ge(&end_beat));
        let shown = behind_headers & (!cut | self.last.at(2));
        let shown = self.pass("shown", 3, &shown);
        Verdict {
            to_payload: flag("to_payload_12", &(self.active.at(11) & &shown.at(11))),
            keep: self.stage("keep_12", &(&gives & &data & size.has_payload.at(11))),
            to_data: flag("to_data_12", &(&gives & (&data | opcode.probe.at(11)))),
            to_ack: flag("to_ack_12", &(&gives & (opcode.ack.at(11) | opcode.nak.at(11)))),
            drops: flag("drops_12", &(&ends & !&good)),
            reason: self.stage("reason_12", &reason),
        }
    }

    /// Stage 12, and the queues: all fields.
    fn outputs(&self, verdict: &Verdict, opcode: &Kinds, size: &Size) {
        let (b, params) = (&self.b, self.params);
        let take = |field: &str, at: Position| self.beats.take(field, at, LAST_STAGE);
        let take_if = |field: &str, at: Position, present: &Passing| {
            self.beats
                .take_if(field, at, LAST_STAGE, &present.at(LAST_STAGE - 1))
        };
        let base = |field: &str| position(&BASE, field);
        let connection = take("connection", lowest(base("connection"), params.connection_bits()));
        let path = take("path", lowest(base("path"), params.path_bits()));
        let opcode_12 = take("opcode", base("opcode"));
        let psn = lowest(base("psn"), params.psn_bits);
        let timestamp = |at: Position| lowest(at, params.timestamp_bits);

        let payload = named_output_queue(
            b,
            "payload_queue",
            "m_axis_payload",
            &self.entry("payload", &verdict.to_payload),
            &[
                ("tdata", &self.beats.data(LAST_STAGE)),
                ("tlast", &self.last.at(LAST_STAGE)),
                ("keep", &verdict.keep),
            ],
        );

        let data = |field: &str| {
            let name = format!("data_{field}");
            take_if(&name, Opcode::Write.position(&DATA, field), &opcode.data)
        };
        let write = |field: &str| take_if(field, Opcode::Write.position(&WRITE_TARGET, field), &opcode.write);
        let receive = Opcode::Send.position(&SEND_TARGET, "receive");
        let data_enters = self.header(
            "data",
            &verdict.to_data,
            &[
                ("opcode", &opcode_12),
                ("flags", &take("flags", base("flags"))),
                ("connection", &connection),
                ("path", &path),
                ("psn", &take("psn", psn)),
                ("timestamp", &take("timestamp", timestamp(base("timestamp")))),
                ("arrival", &self.arrival.at(LAST_STAGE)),
                ("marked", &take("ecn", position(&IPV4, "ecn")).all()),
                ("plane", &self.plane.at(LAST_STAGE)),
                ("payload_bytes", &size.payload_bytes.at(LAST_STAGE)),
                ("stream", &data("stream")),
                ("message", &data("message")),
                ("message_length", &data("message_length")),
                ("offset", &data("offset")),
                ("immediate", &data("immediate")),
                ("key", &write("key")),
                ("address", &write("address")),
                ("receive", &take_if("receive", receive, &opcode.send)),
            ],
        );

        let ack_at = |field: &str| Opcode::Ack.position(&ACK, field);
        let ack = |field: &str| take_if(&format!("ack_{field}"), ack_at(field), &opcode.ack);
        let vector = lowest(ack_at("vector"), params.sack_bits);
        let nak = |field: &str| {
            let name = format!("nak_{field}");
            take_if(&name, Opcode::Nak.position(&NAK, field), &opcode.nak)
        };
        let ack_enters = self.header(
            "ack",
            &verdict.to_ack,
            &[
                ("opcode", &opcode_12),
                ("connection", &connection),
                ("path", &path),
                ("psn", &take_if("ack_psn", psn, &opcode.ack)),
                ("vector", &take_if("ack_vector", vector, &opcode.ack)),
                (
                    "echo",
                    &take_if("ack_echo", timestamp(ack_at("echo")), &opcode.ack),
                ),
                ("hold", &ack("hold")),
                ("packets", &ack("packets")),
                ("marked", &ack("marked")),
                ("hint", &ack("hint")),
                ("window_state", &ack("window_state")),
                ("stream", &nak("stream")),
                ("message", &nak("message")),
                ("code", &nak("code")),
            ],
        );

        // A header stays until it is taken; what comes behind it moves until its own frame's last beat is in the last stage.
        let stays = [("data", data_enters), ("ack", ack_enters)].map(|(name, enters)| {
            let port = |port: &str| b.get(&format!("m_axis_{name}_{port}"));
            (enters | (port("tvalid") & !port("tready"))).named(&format!("{name}_stays"))
        });
        let [data_stays, ack_stays] = &stays;
        let ends_11 = (self.active.at(LAST_STAGE - 1) & &self.last.at(LAST_STAGE - 1)).named("ends_11");
        let ends_12 = self.stage("ends_12", &ends_11);
        let ends_next = b.mux("ends_next", &self.moves, &ends_11, &ends_12);
        let payload_enters = b.get("payload_enters");
        let payload_room =
            room_next(b, "m_axis_payload", &payload_enters, &payload).named("payload_room_next");
        b.clocked(
            &self.moves,
            &(payload_room & !(ends_next & (data_stays | ack_stays))),
        );

        let dropping = b.wire("dropping", &(&verdict.drops & &self.moves));
        let dropped = b.register("dropped_13", 1);
        b.clocked(&dropped, &dropping);
        let reason = b.register("drop_reason_13", 4);
        b.clocked(&reason, &verdict.reason.gated(&dropping));
        b.drive("dropped", &dropped);
        b.drive("drop_reason", &reason);
    }

    /// The output register of a header; tells when one enters.
    fn header(&self, name: &str, offered: &Signal, fields: &[(&str, &Signal)]) -> Signal {
        let widths: Vec<(&str, u32)> = fields
            .iter()
            .map(|(field, value)| (*field, value.width()))
            .collect();
        let values: Vec<&Signal> = fields.iter().map(|(_, value)| *value).collect();
        let register = Queue::new(&self.b, name, 1, &widths);
        let enters = self.entry(name, offered);
        register.put(&enters, &values);
        register.output(&format!("m_axis_{name}"));
        enters
    }

    /// Something enters the queue of that name: only in clocks in which the pipeline moves.
    fn entry(&self, name: &str, offered: &Signal) -> Signal {
        self.b.wire(&format!("{name}_enters"), &(offered & &self.moves))
    }
}

/// A field of the headers that every packet has.
fn position(header: &Header, field: &str) -> Position {
    table::position(COMMON, header, field)
}

/// The only value that a receiver takes in a field.
fn constant(header: &Header, field: &str) -> u64 {
    let found = header.fields.iter().find(|known| known.name == field);
    found
        .and_then(|field| field.constant)
        .unwrap_or_else(|| panic!("{}: {field} is no constant", header.name))
}

/// The addresses of the planes, and the one of the plane on which the beat at the input comes.
fn local_addresses(b: &Builder, params: &Params) -> Signal {
    let (plane, came_on) = (b.get("config_plane"), b.get("s_axis_rx_plane"));
    let entries: Vec<(Signal, Signal)> = (0..1u64 << params.plane_bits())
        .map(|number| {
            let address = b.register(&format!("address_of_plane_{number}"), 32);
            let writes = b.wire(
                &format!("writes_plane_{number}"),
                &(&b.get("config_write") & &plane.is(number)),
            );
            b.clocked_when(&writes, &address, &b.get("config_address"));
            (came_on.is(number), address)
        })
        .collect();
    let gated: Vec<Signal> = entries
        .iter()
        .map(|(selected, address)| address.gated(selected))
        .collect();
    b.wire("local_address", &bits::or_all(&gated))
}

/// One bit for every four: some of them is set.
fn nibbles_any(b: &Builder, name: &str, value: &Signal) -> Signal {
    bits::any_in_groups(b, name, value, 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H1: every width of the bus with the smallest and the largest packets.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for data_bits in [64, 128, 256, 512] {
            for (max_packet_bytes, mtu_bytes, planes) in [(256, 64, 1), (16383, 8192, 16)] {
                let mut params = Params::load("tiny").unwrap();
                params.data_bits = data_bits;
                params.max_packet_bytes = max_packet_bytes;
                params.mtu_bytes = mtu_bytes;
                params.planes = planes;
                params.check().unwrap();
                assert_builds("parser", &params);
            }
        }
    }
}
