//! `deparser`: puts frames together from headers and payload. Contract: [`metaroce_model::port::deparser`].
//!
//! # How it is done
//! - A frame is told by the number of its last byte (`last_byte`), which is known when its header is chosen: the upper bits are the beats that follow the first one, the lower ones
//!   the last lane. The four bytes of the checksum end there, and what it covers ends four lanes before: in the same beat, or in the one before, and then (`spills`) the last beat holds only checksum.
//! - The header's bytes stand still in registers, and a one-hot counter selects one beat of them after the other.
//! - Everything else of a beat is worked out in registers that go along with it, also what is the same for all beats of a frame: so nothing has to be held, whatever
//!   follows. The IPv4 checksum is ready when the beat is in stage 5, the ICRC of all up to that beat in stage 9.
//!
//! # Pipeline
//! The number at a name's end is how many moving clocks ago the beat entered.
//!
//! | clock | what |
//! |---|---|
//! | 0 | the beat enters: a beat of payload is accepted if it holds some; one of the header's beats is selected, in two halves; sums of the IPv4 header begin |
//! | 1 | header and payload together |
//! | 2 | the beat as it counts for the ICRC |
//! | 3 to 8 | ICRC: see [`icrc`]; in 5 the IPv4 checksum is put in its place |
//! | 9 | the ICRC is turned to the lanes where it goes; which lanes hold bytes, and which of them the ICRC |
//! | 10 | the ICRC is put in its place: that of this beat, or of the one before |
//! | 11 | into the output queue, which is the twelfth clock |

mod header;

use super::{axis_register::output_queue, icrc};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use header::{Chosen, Entry, frame_bits, most_header_bytes, selected};
use metaroce_model::{
    Params,
    port::{
        deparser::{Inputs, LATENCY, Outputs},
        parser::HEADER_BYTES,
        unit_ports,
    },
    wire::{
        Opcode,
        table::{COMMON, ECT0, ICRC_BYTES, IPV4, position},
    },
};
use std::rc::Rc;

/// The stage in which the IPv4 checksum is ready.
const SUM_STAGE: u32 = 5;
/// The stage in which a beat goes into the ICRC, and the one in which the ICRC up to that beat is ready.
const COUNTED_STAGE: u32 = 3;
const ICRC_STAGE: u32 = COUNTED_STAGE + icrc::LATENCY;
/// The stage from which a beat goes into the output queue.
const LAST_STAGE: u32 = ICRC_STAGE + 2;
const _: () = assert!(LATENCY as u32 == LAST_STAGE + 1, "the queue is the last clock");
/// Lanes of the ICRC.
const ICRC_LANES: u32 = ICRC_BYTES as u32;

fn doc(params: &Params) -> String {
    format!(
        "Puts frames together from headers and payload: Ethernet, IPv4, UDP, MetaRoCE headers, payload, ICRC; with lengths and checksums.
        Beats of {} bits, up to {} bytes of payload. Headers of data and of acknowledgements take turns.
        Latency {LATENCY} clocks from a beat of payload to the beat of the frame, a beat a clock, frames back to back.
        The number at a name's end is its pipeline stage.",
        params.data_bits, params.mtu_bytes,
    )
}

/// The unit.
pub fn unit(params: &Params) -> Rc<Module> {
    let b = Builder::unit("deparser", &doc(params), &unit_ports::<Inputs, Outputs>(params));
    let lanes = params.lanes();
    let moves = b.forward("moves", 1);
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);

    // The choice. Which stream's turn it is, is known when a clock begins: that takes many bits from here to there.
    let data = Entry::data(&b, params);
    let ack = Entry::ack(&b, params);
    let last_step = b.forward("last_step", 1);
    let making = b.register("making", 1);
    let prefers_data = b.register("prefers_data", 1);
    let takes_ack = b.register("takes_ack", 1);
    let offers = (&data.valid | &ack.valid).named("header_waits");
    let free = (&moves & &(!&making | &last_step)).named("may_choose");
    let choose = (&offers & &free).named("choose");
    let data_on = data.finish(&(&choose & &!&takes_ack).named("takes_data_now"));
    let ack_on = ack.finish(&(&choose & &takes_ack).named("takes_ack_now"));
    b.clocked(&making, &(&choose | &(&making & &!&last_step)));
    b.clocked_when(&choose, &prefers_data, &takes_ack);
    // One that is taken is followed by the other, if that waits. (It matters in the clock after the choice, when a frame of one beat may end.)
    let turn_of_ack = (&ack_on & &!&takes_ack).named("turn_of_ack");
    let still_ack = (&ack_on & &!(&data_on & &prefers_data)).named("still_turn_of_ack");
    b.clocked(
        &takes_ack,
        &b.mux("next_takes_ack", &choose, &turn_of_ack, &still_ack),
    );
    let header = Chosen::new(&b, params, (&data, &ack), &choose, &takes_ack);

    // Clock 0: a beat enters.
    let lane_bits = params.lane_bits();
    let last_lane = header.get("last_lane");
    let spills = (!last_lane.slice(2, lane_bits - 2).any()).named("spills");
    let beat = Counter::new(&b, params, &choose, &spills);
    let ready = (&moves & &(&making & &beat.needs_payload)).named("payload_ready");
    b.drive("s_axis_payload_tready", &ready);
    let goes = &making & &(!&beat.needs_payload | b.get("s_axis_payload_tvalid"));
    let goes = goes.named("goes");
    let step = (&moves & &goes).named("step");
    b.drive("last_step", &(&step & &beat.is_last));
    beat.finish(&step);
    let ends_covered = b.mux("ends_covered", &spills, &beat.is_last_but_one, &beat.is_last);
    let covered_upper = last_lane.slice(2, lane_bits - 2);
    let covered_upper = &covered_upper - &covered_upper.lit(1);
    // The last lane that is covered by the ICRC: its number is four less.
    let covered_lane = b.concat("covered_lane", &[&last_lane.truncate(2), &covered_upper]);

    let valid = b.carry("valid", &moves, &goes, 1..=LAST_STAGE);
    let carry = |name: &str, value: &Signal, last: u32| b.carry(name, &moves, value, 1..=last);
    let is_last = carry("last", &beat.is_last, LAST_STAGE);
    let plane = carry("plane", &header.get("plane"), LAST_STAGE);
    let ends_covered_later = carry("ends_covered", &ends_covered, ICRC_STAGE);
    let covered_lane_later = carry("covered_lane", &covered_lane, ICRC_STAGE);
    let special: Vec<Signal> = (0..icrc::special_beats(params.data_bits))
        .map(|number| match icrc::is_special(params.data_bits, number) {
            true => carry(&format!("is_beat_{number}"), &beat.is_beat.bit(number), 2)
                .at(2)
                .clone(),
            false => b.lit(0, 1),
        })
        .collect();
    let is_first = carry("is_first", &beat.is_beat.bit(0), COUNTED_STAGE);

    // Clocks 0 and 1: header and payload together.
    let up_to_covered = bits::decode(&b, "covered_lane_decoded", &covered_lane)
        | !bits::from_index(&b, "covered_lane_on", &covered_lane);
    let mut payload_lanes = up_to_covered | (!&ends_covered).sign_extend(lanes);
    let (first_beat, first_lane) = (HEADER_BYTES / lanes, HEADER_BYTES % lanes);
    if first_lane > 0 {
        let behind = !b.lit((1 << first_lane) - 1, lanes);
        payload_lanes = payload_lanes & (behind | (!beat.is_beat.bit(first_beat)).sign_extend(lanes));
    }
    let payload_lanes = payload_lanes.gated(&beat.needs_payload).named("payload_lanes");
    let payload_lanes = stage("payload_lanes_1", &payload_lanes);
    let payload = stage("payload_1", &b.get("s_axis_payload_tdata"));
    let mut parts = selected(&b, &moves, &header.beats(lanes), &beat.is_beat);
    parts.push(payload.gated(&by_bytes(&b, "payload_bits", &payload_lanes)));
    let word_2 = stage("word_2", &bits::or_all(&parts));

    // Clocks 0 to 5: the IPv4 checksum.
    let checksum = checksum(&b, &moves, &header);
    let at = position(COMMON, &IPV4, "header_checksum");
    let (checksum_beat, checksum_lane) = (at.first_byte() as u32 / lanes, at.first_byte() as u32 % lanes);
    let is_checksum_beat = beat.is_beat.bit(checksum_beat);
    let is_checksum_beat = carry("is_checksum_beat", &is_checksum_beat, SUM_STAGE);
    let word = b.carry("word", &moves, &word_2, 3..=SUM_STAGE);
    let bytes = [&checksum.slice(8, 8), &checksum.truncate(8)];
    let placed = b
        .concat("checksum_bytes", &bytes)
        .gated(is_checksum_beat.at(SUM_STAGE));
    let placed = at_lane(&b, "checksum_placed", &placed, checksum_lane, params.data_bits);
    let word = b.carry(
        "word",
        &moves,
        &(word.at(SUM_STAGE) | &placed),
        SUM_STAGE + 1..=ICRC_STAGE + 1,
    );

    // Clocks 2 to 9: the ICRC.
    let counted = icrc::counted(&b, "counted", &word_2, &special);
    let counted = stage("counted_3", &counted);
    let module = icrc::of_width(params.data_bits);
    let inputs = [
        ("moves", &moves),
        ("valid", valid.at(COUNTED_STAGE)),
        ("first", is_first.at(COUNTED_STAGE)),
        ("data", &counted),
        // Of the beat in which they end, the lanes behind the bytes that are covered.
        ("absent", &!covered_lane_later.at(COUNTED_STAGE)),
    ];
    let crc = b.instance("icrc", &module, &inputs).get("crc");

    // Clock 9: to the lanes where it goes, one behind the last that is covered and so on; the same ones, modulo four, in the next beat.
    let covered_lane = covered_lane_later.at(ICRC_STAGE);
    let turns = (covered_lane.truncate(2) + b.lit(1, 2)).named("icrc_turns");
    let crc = turned(&b, "icrc_turned", &crc, &turns);
    let icrc_10 = stage("icrc_10", &crc);
    let icrc_11 = stage("icrc_11", &icrc_10);
    let last_here = is_last.at(ICRC_STAGE);
    let covered_ends = ends_covered_later.at(ICRC_STAGE);
    // The last beat without a byte that is covered: the ICRC is that of the beat before.
    let spilt = (last_here & &!covered_ends).named("spilt");
    let spilt_10 = stage("spilt_10", &spilt);
    let upper = covered_lane.slice(2, lane_bits - 2);
    let upper = &upper + &upper.lit(1);
    let last_lane = b.concat("last_lane_9", &[&covered_lane.truncate(2), &upper]);
    let up_to = |name: &str, lane: &Signal| {
        let on = bits::from_index(&b, &format!("{name}_on"), lane);
        let here = bits::decode(&b, &format!("{name}_decoded"), lane);
        (here | !on).named(&format!("up_to_{name}"))
    };
    let keep = up_to("last", &last_lane) | (!last_here).sign_extend(lanes);
    let keep = keep.named("keep");
    let covered = up_to("covered", covered_lane) | (!covered_ends).sign_extend(lanes);
    let icrc_lanes = (&keep & &!covered.gated(&!&spilt)).named("icrc_lanes");
    let keep_10 = stage("keep_10", &keep);
    let icrc_lanes_10 = stage("icrc_lanes_10", &icrc_lanes);

    // Clock 10: into its place.
    let crc = b.mux("icrc_chosen", &spilt_10, &icrc_11, &icrc_10);
    let copies: Vec<&Signal> = (0..lanes / ICRC_LANES).map(|_| &crc).collect();
    let crc = b.concat("icrc_everywhere", &copies);
    let placed = crc.gated(&by_bytes(&b, "icrc_bits", &icrc_lanes_10));
    let word_11 = stage("word_11", &(word.at(ICRC_STAGE + 1) | &placed));
    let keep_11 = stage("keep_11", &keep_10);
    let fields = [
        ("tdata", &word_11),
        ("tkeep", &keep_11),
        ("tlast", is_last.at(LAST_STAGE)),
        ("plane", plane.at(LAST_STAGE)),
    ];
    let room = output_queue(&b, "m_axis_tx", valid.at(LAST_STAGE), &fields);
    b.drive("moves", &room);
    b.finish()
}

/// Which beat of the frame enters next.
struct Counter {
    /// Bit k: beat number k, for those that hold headers.
    is_beat: Signal,
    /// It holds payload.
    needs_payload: Signal,
    is_last: Signal,
    is_last_but_one: Signal,
    builder: Builder,
    choose: Signal,
    spills: Signal,
    beats_after: Signal,
    beats_after_first: Signal,
}

impl Counter {
    fn new(b: &Builder, params: &Params, choose: &Signal, spills: &Signal) -> Self {
        let beat_bits = frame_bits(params) - params.lane_bits();
        let beats_after = b.register("beats_after", beat_bits);
        Self {
            is_beat: b.register("is_beat", most_header_bytes().div_ceil(params.lanes())),
            needs_payload: b.register("needs_payload", 1),
            is_last: b.register("is_last", 1),
            is_last_but_one: beats_after.is(1).named("is_last_but_one"),
            builder: b.clone(),
            choose: choose.clone(),
            spills: spills.clone(),
            beats_after,
            beats_after_first: b
                .get("next_header_last_byte")
                .slice(params.lane_bits(), beat_bits),
        }
    }

    /// Counts in clocks with `step`.
    fn finish(&self, step: &Signal) {
        let b = &self.builder;
        let update = |register: &Signal, name: &str, first: &Signal, next: &Signal| {
            let cases = [(&self.choose, first), (step, next)];
            b.clocked(register, &b.select(&format!("next_{name}"), &cases, register));
        };
        let no = b.lit(0, 1);
        let width = self.is_beat.width();
        let shifted = match width {
            1 => no.clone(),
            _ => b.concat("is_beat_shifted", &[&no, &self.is_beat.truncate(width - 1)]),
        };
        update(&self.is_beat, "is_beat", &b.lit(1, width), &shifted);
        let fewer = &self.beats_after - &self.beats_after.lit(1);
        update(&self.beats_after, "beats_after", &self.beats_after_first, &fewer);
        let lanes = b.get("s_axis_payload_tdata").width() / 8;
        let shortest = Opcode::Probe.least_frame_bytes() as u32;
        let one_beat = match shortest <= lanes {
            true => !self.beats_after_first.any(),
            false => no.clone(),
        };
        update(&self.is_last, "is_last", &one_beat, &self.is_last_but_one);
        // Payload begins in a beat of its own or behind headers, and never in the first beat.
        let begins = self.is_beat.bit(HEADER_BYTES / lanes - 1);
        let behind_headers = b.register("behind_headers", 1);
        let reached = (&begins | &behind_headers).named("reaches_payload");
        update(&behind_headers, "behind_headers", &no, &reached);
        let icrc_alone = (&self.is_last_but_one & &self.spills).named("icrc_alone_next");
        let needs = b.get("header_has_payload") & &reached & !icrc_alone;
        update(&self.needs_payload, "needs_payload", &no, &needs);
    }
}

/// The IPv4 header's checksum, of the beat in stage 5.
fn checksum(b: &Builder, moves: &Signal, header: &Chosen) -> Signal {
    // 17 bits hold a sum of two words, 18 of four, 19 of all.
    let sum = |name: &str, width: u32, x: &Signal, y: &Signal| {
        b.stage(name, moves, &(x.extend(width) + y.extend(width)))
    };
    let halves = |name: &str| {
        let address = header.get(&format!("{name}_address"));
        sum(
            &format!("sum_{name}_1"),
            17,
            &address.slice(16, 16),
            &address.truncate(16),
        )
    };
    let (source, destination) = (halves("source"), halves("destination"));
    // The class of service adds to the constants where nothing carries out of 16 bits: its field and ECN's are zero in them, but for ECN's own.
    let class = b.concat("sum_class", &[&b.lit(0, 2), &header.get("dscp")]);
    let class = sum("sum_class_1", 16, &class, &b.lit(constant_words(), 16));
    let length = b.stage("sum_length_1", moves, &header.get("total_length"));
    let addresses = sum("sum_addresses_2", 18, &source, &destination);
    let others = sum("sum_others_2", 17, &class, &length);
    let all = sum("sum_all_3", 19, &addresses, &others);
    // Carries come round: of the first addition up to 7, of the second one at most.
    let folded = sum("sum_folded_4", 17, &all.truncate(16), &all.slice(16, 3));
    let round = (&folded.truncate(16) + &folded.bit(16).extend(16)).named("sum_round");
    b.stage("checksum_5", moves, &!&round)
}

/// The sum of the constant words of the IPv4 header, ECN as it is sent among them.
fn constant_words() -> u64 {
    let bytes = IPV4.bytes();
    let mut words = vec![0u64; bytes / 2];
    for field in IPV4.fields {
        let at = IPV4.position(field.name);
        let value = match field.name {
            "ecn" => ECT0.into(),
            _ => field.constant.unwrap_or(0),
        };
        let below = 16 - at.bit % 16 - at.bits.min(16 - at.bit % 16);
        words[at.bit / 16] |= value << below;
    }
    words.iter().sum()
}

/// One bit for each bit of a beat, from one a lane.
fn by_bytes(b: &Builder, name: &str, lanes: &Signal) -> Signal {
    let bytes: Vec<Signal> = (0..lanes.width())
        .map(|lane| lanes.bit(lane).sign_extend(8))
        .collect();
    b.concat(name, &bytes.iter().collect::<Vec<_>>())
}

/// `value` from that lane of a beat on, zeros around it.
fn at_lane(b: &Builder, name: &str, value: &Signal, lane: u32, data_bits: u32) -> Signal {
    let above = data_bits - 8 * lane - value.width();
    let (below, above) = (
        (lane > 0).then(|| b.lit(0, 8 * lane)),
        (above > 0).then(|| b.lit(0, above)),
    );
    let parts: Vec<&Signal> = below.iter().chain([value]).chain(above.iter()).collect();
    b.concat(name, &parts)
}

/// Byte j of four is byte j - `turns`, modulo four.
fn turned(b: &Builder, name: &str, value: &Signal, turns: &Signal) -> Signal {
    (0..2).fold(value.clone(), |value, bit| {
        let low = 8 << bit;
        let parts = [&value.slice(32 - low, low), &value.truncate(32 - low)];
        let moved = b.concat(&format!("{name}_moved_{bit}"), &parts);
        b.mux(&format!("{name}_{bit}"), &turns.bit(bit), &moved, &value)
    })
}

const fn broken(signal: &'static str, fault: Fault) -> Mutation {
    Mutation { signal, fault }
}

/// Lines that, when broken, the lockstep must find.
pub const MUTATIONS: [Mutation; 36] = [
    // Entries, choice.
    broken("accepts_data", Fault::Invert),
    broken("ack_waits_on", Fault::Operator),
    broken("may_choose", Fault::Operator),
    broken("still_turn_of_ack", Fault::Operator),
    broken("prefers_data", Fault::Enable),
    broken("making", Fault::Operator),
    broken("ack_timestamp", Fault::Enable),
    broken("data_extension", Fault::Enable),
    // Headers.
    broken("next_header_flags", Fault::Invert),
    broken("next_header_psn", Fault::Increment),
    broken("offers_send", Fault::Operator),
    broken("offered_data_last_byte", Fault::Increment),
    broken("offered_data_total_length", Fault::Operator),
    broken("ack_udp_length", Fault::Decrement),
    broken("header_extension", Fault::Enable),
    broken("next_header_extension", Fault::Zero),
    // Beats.
    broken("payload_ready", Fault::Operator),
    broken("goes", Fault::Operator),
    broken("step", Fault::Operator),
    broken("last_step", Fault::Operator),
    broken("is_last_but_one", Fault::Operator),
    broken("spills", Fault::Invert),
    broken("icrc_alone_next", Fault::Zero),
    broken("next_header_has_payload", Fault::Operator),
    broken("reaches_payload", Fault::Operator),
    broken("payload_lanes", Fault::Operator),
    broken("ends_covered", Fault::Zero),
    broken("payload_1", Fault::Enable),
    broken("word_7", Fault::Enable),
    // Checksums.
    broken("sum_folded_4", Fault::Operator),
    broken("sum_round", Fault::Operator),
    broken("counted_3", Fault::Increment),
    broken("icrc_turns", Fault::Increment),
    broken("spilt", Fault::Operator),
    broken("keep", Fault::Operator),
    broken("icrc_lanes", Fault::Operator),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H1: every width of the bus with the smallest and the largest packets.
    #[test]
    fn elaborates_for_extreme_profiles() {
        let mut params = Params::load("asic400g").unwrap();
        for (data_bits, mtu_bytes) in [
            (64, 64),
            (64, 8192),
            (128, 256),
            (256, 64),
            (512, 64),
            (512, 8192),
        ] {
            (params.data_bits, params.mtu_bytes, params.max_packet_bytes) = (data_bits, mtu_bytes, 16383);
            params.check().unwrap();
            assert_builds("deparser", &params);
        }
        (params.planes, params.paths, params.sack_bits) = (1, 2, 16);
        (params.psn_bits, params.timestamp_bits, params.rtt_bits) = (6, 16, 8);
        params.check().unwrap();
        assert_builds("deparser", &params);
    }

    /// R2: the constant words of the IPv4 header: version and length with ECN, fragment flags, time to live and protocol.
    #[test]
    fn the_constant_words_are_those_of_the_table() {
        assert_eq!(constant_words(), 0x4502 + 0x4000 + 0x4011);
    }
}
