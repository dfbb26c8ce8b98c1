//! Stimulus of `receiver`: headers whose fate is drawn when they are made, and four tables that say so, each in order and after a while.

use crate::{
    answers::Answers,
    bins::Bins,
    stimulus::{Flow, Offer, Random, Resets, Stimulus, low_bits, random},
};
use metaroce_model::{
    Params,
    port::{
        key_table, receive_table,
        receiver::{Inputs, Outputs, judgement},
        sack_rx,
    },
    unit::receiver::Receiver as Unit,
    wire::{NakCode, Opcode},
};
use rand::RngExt;
use std::collections::VecDeque;

/// Bins of a header that is accepted.
const HEADER_BINS: [&str; 19] = [
    "Write",
    "Write with immediate",
    "Send",
    "Send with immediate",
    "probe",
    "probe that would be malformed as a packet",
    "message without bytes",
    "whole message in a packet",
    "first bytes of a message",
    "bytes within a message",
    "last bytes of a message",
    "most bytes of a packet",
    "last bytes of the longest message",
    "only malformed: stream one too great",
    "only malformed: highest bit of the stream",
    "only malformed: one byte beyond the message",
    "only malformed: no byte of a message with bytes",
    "only malformed: end of packet carries beyond 2^32",
    "only malformed: end of packet is 2^32, message has no bytes",
];

/// Bins of a packet that is finished: the rows of the contract's table, for each judgement and verdict.
const FATE_BINS: [&str; 36] = [
    "ACCEPTED, NEW: acknowledged later",
    "ACCEPTED, NEW: at once, opens a hole",
    "ACCEPTED, NEW: at once, fills a hole",
    "ACCEPTED, NEW: at once, last bytes",
    "ACCEPTED, NEW: without payload",
    "ACCEPTED, DUPLICATE",
    "ACCEPTED, DUPLICATE: without payload",
    "ACCEPTED, OUT_OF_WINDOW",
    "ACCEPTED, OUT_OF_WINDOW: without payload",
    "PROBE, NEW",
    "PROBE, DUPLICATE",
    "PROBE, OUT_OF_WINDOW",
    "UNKNOWN: probe",
    "UNKNOWN, NEW",
    "UNKNOWN, DUPLICATE",
    "UNKNOWN, OUT_OF_WINDOW",
    "MALFORMED, NEW",
    "MALFORMED, DUPLICATE",
    "MALFORMED, OUT_OF_WINDOW",
    "BAD_KEY, NEW",
    "BAD_KEY, DUPLICATE",
    "BAD_KEY, OUT_OF_WINDOW",
    "OUT_OF_BOUNDS, NEW",
    "OUT_OF_BOUNDS, DUPLICATE",
    "OUT_OF_BOUNDS, OUT_OF_WINDOW",
    "NOT_POSTED, NEW",
    "NOT_POSTED, DUPLICATE",
    "NOT_POSTED, OUT_OF_WINDOW",
    "TOO_LONG, NEW",
    "TOO_LONG, DUPLICATE",
    "TOO_LONG, OUT_OF_WINDOW",
    "GONE, NEW",
    "GONE, DUPLICATE",
    "GONE, OUT_OF_WINDOW",
    "discarded without payload",
    "discarded with payload",
];

/// Bins of what leaves.
const RESULT_BINS: [&str; 17] = [
    "event UNKNOWN",
    "event MALFORMED",
    "event BAD_KEY",
    "event OUT_OF_BOUNDS",
    "event NOT_POSTED",
    "event TOO_LONG",
    "event GONE",
    "event DUPLICATE",
    "event OUT_OF_WINDOW",
    "events as close together as can be",
    "placed",
    "discarded",
    "owed at once",
    "owed later",
    "owed for a probe",
    "owed for a marked packet",
    "packets of one stream refused in two NAKs as close together as can be",
];

/// Bins of NAKs.
const NAK_BINS: [&str; 4] = [
    "NAK ReceiverNotReady",
    "NAK BadKey",
    "NAK OutOfBounds",
    "NAK BadLength",
];

/// Bins of a clock.
const CLOCK_BINS: [&str; 29] = [
    "header held back: most packets under way",
    "header held back: its lookup alone has no place",
    "header held until it is accepted",
    "lookup held back",
    "check held back",
    "match held back",
    "sack held back",
    "place held back",
    "owe held back",
    "nak held back",
    "most packets wait to be looked up",
    "most packets wait for their key's check",
    "most packets wait for their receive",
    "most packets wait for sack_rx",
    "most checks answered before the first receive",
    "most receives answered before the first check",
    "most packets wait for a place to go",
    "a header and all four answers at once",
    "place and owe taken at once",
    "place and nak taken at once",
    "place waits, owe was taken",
    "owe waits, place was taken",
    "place waits, nak was taken",
    "nak waits, place was taken",
    "a packet alone in the unit",
    "reset with most packets under way",
    "reset while each table owes an answer",
    "reset while place and owe are offered",
    "reset while place and nak are offered",
];

const FATE: usize = HEADER_BINS.len();
const RESULT: usize = FATE + FATE_BINS.len();
const NAK: usize = RESULT + RESULT_BINS.len();
const CLOCK: usize = NAK + NAK_BINS.len();

/// A packet: its header and what the tables will say of it.
#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    /// The header and the answers; nothing else.
    fields: Inputs,
    malformed: bool,
    last: bool,
}

/// Drives the unit.
pub struct Receiver {
    random: Random,
    resets: Resets,
    offer: Offer,
    lookups: Answers,
    checks: Answers,
    matches: Answers,
    sacks: Answers,
    /// Back-pressure of lookup, check, match, sack, place, owe, nak.
    ready: [Flow; 7],
    widths: Widths,
    mixture: Mixture,
    /// Clocks left of the phase.
    left: u32,
    next: Packet,
    /// Packets that the table has yet to answer for, in order.
    to_look: VecDeque<Packet>,
    to_check: VecDeque<Packet>,
    to_match: VecDeque<Packet>,
    to_sack: VecDeque<Packet>,
    counts: Counts,
    /// Events shown in the two clocks before, latest first.
    events_before: [bool; 2],
    /// Connection and stream of the NAKs taken in the three clocks before, latest first.
    naks_before: [Option<(u16, u16)>; 3],
    /// In the clock before, place, owe and nak were offered.
    offered_before: [bool; 3],
    bins: Bins,
}

/// Widths of fields, and what they number.
#[derive(Clone, Copy, Debug)]
struct Widths {
    connection: u32,
    path: u32,
    plane: u32,
    psn: u32,
    timestamp: u32,
    streams: u16,
    mtu: u16,
    jobs: u32,
}

/// Chances in 16ths in a phase.
#[derive(Clone, Copy, Debug)]
struct Mixture {
    probe: u32,
    send: u32,
    malformed: u32,
    unknown: u32,
    refused: u32,
    /// Verdicts other than NEW.
    old: u32,
}

const MIXTURES: [Mixture; 6] = [
    // Honest peers.
    Mixture {
        probe: 1,
        send: 8,
        malformed: 0,
        unknown: 0,
        refused: 1,
        old: 1,
    },
    // Only Writes, only Sends: all queues of one kind fill.
    Mixture {
        probe: 0,
        send: 0,
        malformed: 1,
        unknown: 0,
        refused: 2,
        old: 2,
    },
    Mixture {
        probe: 0,
        send: 16,
        malformed: 0,
        unknown: 0,
        refused: 2,
        old: 2,
    },
    // Refused.
    Mixture {
        probe: 0,
        send: 8,
        malformed: 1,
        unknown: 1,
        refused: 12,
        old: 4,
    },
    // Anything.
    Mixture {
        probe: 4,
        send: 8,
        malformed: 6,
        unknown: 4,
        refused: 6,
        old: 8,
    },
    // Malformed.
    Mixture {
        probe: 2,
        send: 8,
        malformed: 12,
        unknown: 1,
        refused: 2,
        old: 6,
    },
];

/// What happened since the last reset.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    admitted: u32,
    looked: u32,
    checked: u32,
    matched: u32,
    sacks_taken: u32,
    /// Of `sacks_taken`, for Sends.
    send_sacks_taken: u32,
    sacked: u32,
    finished: u32,
    /// *finish* is decided.
    finishes: bool,
}

impl Stimulus<Unit> for Receiver {
    fn new(params: &Params, seed: u64) -> Self {
        let names = [&HEADER_BINS[..], &FATE_BINS, &RESULT_BINS, &NAK_BINS, &CLOCK_BINS].concat();
        Self {
            random: random(seed),
            resets: Resets::new(700),
            offer: Offer::new(400),
            lookups: Answers::new(500),
            checks: Answers::new(500),
            matches: Answers::new(500),
            sacks: Answers::new(500),
            ready: std::array::from_fn(|_| Flow::new(400)),
            widths: Widths {
                connection: params.connection_bits(),
                path: params.path_bits(),
                plane: params.plane_bits(),
                psn: params.psn_bits,
                timestamp: params.timestamp_bits,
                streams: params.streams as u16,
                mtu: params.mtu_bytes as u16,
                jobs: params.jobs(),
            },
            mixture: MIXTURES[0],
            left: 0,
            next: Packet::default(),
            to_look: VecDeque::new(),
            to_check: VecDeque::new(),
            to_match: VecDeque::new(),
            to_sack: VecDeque::new(),
            counts: Counts::default(),
            events_before: [false; 2],
            naks_before: [None; 3],
            offered_before: [false; 3],
            bins: Bins::new(names),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.left == 0 {
            self.left = self.random.random_range(1..1500);
            self.mixture = MIXTURES[self.random.random_range(0..MIXTURES.len())];
        }
        self.left -= 1;
        let rst = self.resets.next(&mut self.random);
        let accepts = outputs.s_axis_data_tready && !rst;
        let was_held = self.offer.held();
        let offered = self.offer.next(&mut self.random, accepts, true);
        if offered.real && !was_held {
            self.next = self.packet();
        }
        let garbage = self.garbage();
        let mut inputs = if offered.real {
            with_header(garbage, &self.next.fields)
        } else {
            garbage
        };
        inputs.rst = rst;
        inputs.s_axis_data_tvalid = offered.valid;
        self.answer(&mut inputs);
        let random = &mut self.random;
        let [lookup, check, match_op, sack, place, owe, nak] =
            self.ready.each_mut().map(|flow| flow.next(random));
        inputs.m_axis_lookup_tready = lookup;
        inputs.m_axis_check_tready = check;
        inputs.m_axis_match_tready = match_op;
        inputs.m_axis_sack_tready = sack;
        inputs.m_axis_place_tready = place;
        inputs.m_axis_owe_tready = owe;
        inputs.m_axis_nak_tready = nak;
        self.count_clock(&inputs, outputs, was_held);
        self.count_results(&inputs, outputs);
        if rst {
            self.reset();
        } else {
            self.clock(offered.real && accepts, &inputs, outputs);
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

/// The `header`'s fields in the place of those of `inputs`.
#[inline]
fn with_header(inputs: Inputs, header: &Inputs) -> Inputs {
    Inputs {
        looked_known: inputs.looked_known,
        looked_domain: inputs.looked_domain,
        checked_status: inputs.checked_status,
        matched_status: inputs.matched_status,
        matched_address: inputs.matched_address,
        sacked_verdict: inputs.sacked_verdict,
        sacked_new_hole: inputs.sacked_new_hole,
        sacked_filled: inputs.sacked_filled,
        ..*header
    }
}

impl Packet {
    fn is_probe(&self) -> bool {
        self.fields.s_axis_data_opcode == Opcode::Probe.value()
    }

    fn is_send(&self) -> bool {
        let opcode = self.fields.s_axis_data_opcode;
        opcode == Opcode::Send.value() || opcode == Opcode::SendImmediate.value()
    }

    /// What the contract calls the judgement.
    fn judgement(&self) -> u8 {
        let fields = &self.fields;
        if !fields.looked_known {
            judgement::UNKNOWN
        } else if self.is_probe() {
            judgement::PROBE
        } else if self.malformed {
            judgement::MALFORMED
        } else if self.is_send() {
            match fields.matched_status {
                receive_table::status::NOT_POSTED => judgement::NOT_POSTED,
                receive_table::status::TOO_LONG => judgement::TOO_LONG,
                receive_table::status::GONE => judgement::GONE,
                _ => judgement::ACCEPTED,
            }
        } else {
            match fields.checked_status {
                key_table::status::BAD_KEY => judgement::BAD_KEY,
                key_table::status::OUT_OF_BOUNDS => judgement::OUT_OF_BOUNDS,
                _ => judgement::ACCEPTED,
            }
        }
    }
}

impl Receiver {
    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let mut words: [u64; 7] = std::array::from_fn(|_| self.random.random());
        let mut bits = |word: usize, width: u32| {
            let value = words[word] & low_bits(width);
            words[word] >>= width.min(63);
            value
        };
        let widths = self.widths;
        Inputs {
            s_axis_data_opcode: bits(0, 8) as u8,
            s_axis_data_connection: bits(0, widths.connection) as u16,
            s_axis_data_path: bits(0, widths.path) as u8,
            s_axis_data_plane: bits(0, widths.plane) as u8,
            s_axis_data_marked: bits(0, 1) != 0,
            s_axis_data_psn: bits(0, widths.psn) as u32,
            s_axis_data_timestamp: bits(1, widths.timestamp) as u32,
            s_axis_data_arrival: bits(1, widths.timestamp) as u32,
            s_axis_data_payload_bytes: bits(2, 16) as u16 & (2 * widths.mtu - 1),
            s_axis_data_stream: bits(2, 16) as u16,
            s_axis_data_immediate: bits(2, 32) as u32,
            s_axis_data_message: bits(3, 24) as u32,
            s_axis_data_receive: bits(3, 24) as u32,
            looked_known: bits(3, 1) != 0,
            looked_domain: bits(3, key_table::DOMAIN_BITS) as u8,
            checked_status: bits(3, 2) as u8,
            matched_status: bits(3, 3) as u8,
            s_axis_data_message_length: bits(4, 32) as u32,
            s_axis_data_offset: bits(4, 32) as u32,
            s_axis_data_address: bits(5, 63) << 1 | bits(3, 1),
            matched_address: bits(6, 60) << 4 | bits(5, 1),
            sacked_verdict: bits(6, 2) as u8,
            sacked_new_hole: bits(6, 1) != 0,
            sacked_filled: bits(6, 1) != 0,
            s_axis_data_key: self.random.random(),
            ..Inputs::default()
        }
    }

    /// A packet and its fate.
    fn packet(&mut self) -> Packet {
        let mut fields = self.garbage();
        let mixture = self.mixture;
        let random = &mut self.random;
        let mut chance = |sixteenths: u32| random.random::<u32>() >> 28 < sixteenths;
        let opcodes = if chance(mixture.probe) {
            [Opcode::Probe; 2]
        } else if chance(mixture.send) {
            [Opcode::Send, Opcode::SendImmediate]
        } else {
            [Opcode::Write, Opcode::WriteImmediate]
        };
        fields.s_axis_data_opcode = opcodes[usize::from(chance(8))].value();
        fields.looked_known = !chance(mixture.unknown);
        let refused = chance(mixture.refused);
        let old = chance(mixture.old);
        let malformed = chance(mixture.malformed);
        let hole = chance(3);
        let is_probe = opcodes[0] == Opcode::Probe;
        let is_write = opcodes[0] == Opcode::Write;

        // What the key's check says of others than Writes does not matter.
        fields.checked_status = if !is_write {
            random.random_range(0..3)
        } else if refused {
            random.random_range(1..3)
        } else {
            key_table::status::DONE
        };
        fields.matched_status = if refused {
            random.random_range(receive_table::status::NOT_POSTED..=receive_table::status::TOO_LONG)
        } else {
            receive_table::status::DONE
        };
        fields.sacked_verdict = if old {
            random.random_range(sack_rx::verdict::DUPLICATE..=sack_rx::verdict::OUT_OF_WINDOW)
        } else {
            sack_rx::verdict::NEW
        };
        fields.sacked_new_hole &= hole;
        fields.sacked_filled &= hole;
        if !is_probe || random.random() {
            self.place_in_message(&mut fields);
            if malformed {
                self.malform(&mut fields);
            }
        }
        if is_probe {
            fields.s_axis_data_payload_bytes = 0;
        }
        let bytes = fields.s_axis_data_payload_bytes;
        let end = u64::from(fields.s_axis_data_offset) + u64::from(bytes);
        let length = fields.s_axis_data_message_length;
        Packet {
            malformed: fields.s_axis_data_stream >= self.widths.streams
                || end > u64::from(length)
                || (bytes == 0 && length != 0),
            last: end == u64::from(length),
            fields,
        }
    }

    /// A stream, bytes and place that can be.
    fn place_in_message(&mut self, fields: &mut Inputs) {
        let random = &mut self.random;
        let mtu = self.widths.mtu;
        fields.s_axis_data_stream &= self.widths.streams - 1;
        let bytes = match random.random_range(0..8) {
            0 => 1,
            1 | 2 => mtu,
            _ => random.random_range(1..=mtu),
        };
        fields.s_axis_data_payload_bytes = bytes;
        let most = u32::MAX - u32::from(bytes);
        let any = fields.s_axis_data_offset.min(most);
        let offset = match random.random_range(0..8) {
            0 | 1 => 0,
            2 => any,
            // The sum carries far.
            3 => (1u32 << random.random_range(9..32)) - 1,
            4 => most,
            _ => any & 0xffff,
        };
        fields.s_axis_data_offset = offset;
        let end = offset + u32::from(bytes);
        fields.s_axis_data_message_length = match random.random_range(0..8) {
            0..=2 => end,
            3 => end.saturating_add(1),
            4 => u32::MAX,
            _ => random.random_range(end..=u32::MAX),
        };
        if random.random_range(0..12) == 0 {
            fields.s_axis_data_payload_bytes = 0;
            fields.s_axis_data_offset = 0;
            fields.s_axis_data_message_length = 0;
        }
    }

    /// One thing that cannot be.
    fn malform(&mut self, fields: &mut Inputs) {
        let random = &mut self.random;
        let bytes = u32::from(fields.s_axis_data_payload_bytes);
        let streams = self.widths.streams;
        match random.random_range(0..8) {
            0 => fields.s_axis_data_stream |= streams,
            1 => fields.s_axis_data_stream |= 0x8000,
            2 => fields.s_axis_data_stream |= streams << random.random_range(0..=streams.leading_zeros() - 1),
            3 if bytes > 0 => {
                fields.s_axis_data_message_length = fields.s_axis_data_offset + bytes - 1;
            }
            4 => {
                fields.s_axis_data_payload_bytes = 0;
                fields.s_axis_data_message_length = fields.s_axis_data_message_length.max(1);
            }
            5 if bytes > 0 => {
                // As many bytes beyond 2^32 as the message has, or fewer.
                let beyond = random.random_range(0..bytes);
                fields.s_axis_data_offset = beyond.wrapping_sub(bytes);
                fields.s_axis_data_message_length = beyond + random.random_range(0..4) * (beyond & 1);
            }
            6 if bytes > 0 => {
                fields.s_axis_data_offset = bytes.wrapping_neg();
                fields.s_axis_data_message_length = 0;
            }
            _ => fields.s_axis_data_message_length = random.random_range(0..=fields.s_axis_data_offset),
        }
    }

    /// Answers of the tables in this clock.
    #[inline]
    fn answer(&mut self, inputs: &mut Inputs) {
        let random = &mut self.random;
        inputs.looked_valid = self.lookups.next(random);
        if inputs.looked_valid
            && let Some(packet) = self.to_look.front()
        {
            inputs.looked_known = packet.fields.looked_known;
            inputs.looked_domain = packet.fields.looked_domain;
        }
        inputs.checked_valid = self.checks.next(random);
        if inputs.checked_valid
            && let Some(packet) = self.to_check.front()
        {
            inputs.checked_status = packet.fields.checked_status;
        }
        inputs.matched_valid = self.matches.next(random);
        if inputs.matched_valid
            && let Some(packet) = self.to_match.front()
        {
            inputs.matched_status = packet.fields.matched_status;
            inputs.matched_address = packet.fields.matched_address;
        }
        inputs.sacked_valid = self.sacks.next(random);
        if inputs.sacked_valid
            && let Some(packet) = self.to_sack.front()
        {
            inputs.sacked_verdict = packet.fields.sacked_verdict;
            inputs.sacked_new_hole = packet.fields.sacked_new_hole;
            inputs.sacked_filled = packet.fields.sacked_filled;
        }
    }

    fn reset(&mut self) {
        self.offer.clear();
        self.lookups.reset();
        self.checks.reset();
        self.matches.reset();
        self.sacks.reset();
        self.to_look.clear();
        self.to_check.clear();
        self.to_match.clear();
        self.to_sack.clear();
        self.counts = Counts::default();
        self.events_before = [false; 2];
        self.naks_before = [None; 3];
        self.offered_before = [false; 3];
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, accepted: bool, inputs: &Inputs, outputs: &Outputs) {
        let looks = outputs.m_axis_lookup_tvalid && inputs.m_axis_lookup_tready;
        let checks = outputs.m_axis_check_tvalid && inputs.m_axis_check_tready;
        let matches = outputs.m_axis_match_tvalid && inputs.m_axis_match_tready;
        let sacks = outputs.m_axis_sack_tvalid && inputs.m_axis_sack_tready;
        if sacks {
            let waiting = self.sacks.waiting() as usize;
            let is_send = self.to_sack.get(waiting).is_some_and(Packet::is_send);
            self.counts.send_sacks_taken += u32::from(is_send);
        }
        self.lookups.clock(looks, inputs.looked_valid);
        self.checks.clock(checks, inputs.checked_valid);
        self.matches.clock(matches, inputs.matched_valid);
        self.sacks.clock(sacks, inputs.sacked_valid);
        let counts = &mut self.counts;
        counts.admitted += u32::from(accepted);
        counts.looked += u32::from(inputs.looked_valid);
        counts.checked += u32::from(inputs.checked_valid);
        counts.matched += u32::from(inputs.matched_valid);
        counts.sacks_taken += u32::from(sacks);
        let has_room =
            !(outputs.m_axis_place_tvalid || outputs.m_axis_owe_tvalid || outputs.m_axis_nak_tvalid);
        let finishes = counts.finishes;
        counts.finishes = !finishes && has_room && counts.finished < counts.sacked;
        counts.finished += u32::from(finishes);
        counts.sacked += u32::from(inputs.sacked_valid);
        if inputs.looked_valid {
            self.to_look.pop_front();
        }
        if inputs.checked_valid {
            self.to_check.pop_front();
        }
        if inputs.matched_valid {
            self.to_match.pop_front();
        }
        if inputs.sacked_valid
            && let Some(packet) = self.to_sack.pop_front()
        {
            self.count_fate(&packet);
        }
        if accepted {
            let packet = self.next;
            self.to_look.push_back(packet);
            self.to_check.push_back(packet);
            self.to_sack.push_back(packet);
            if packet.is_send() {
                self.to_match.push_back(packet);
            }
            self.count_header(&packet);
        }
    }

    #[inline]
    fn count_header(&mut self, packet: &Packet) {
        let fields = &packet.fields;
        let opcode = |opcode: Opcode| fields.s_axis_data_opcode == opcode.value();
        let (stream, streams) = (fields.s_axis_data_stream, self.widths.streams);
        let bytes = u64::from(fields.s_axis_data_payload_bytes);
        let (offset, length) = (
            u64::from(fields.s_axis_data_offset),
            u64::from(fields.s_axis_data_message_length),
        );
        let end = offset + bytes;
        let packet_of_data = !packet.is_probe();
        let can = packet_of_data && !packet.malformed;
        let good_stream = packet_of_data && stream < streams;
        let good_place = packet_of_data && end <= length && (bytes > 0 || length == 0);
        self.bins.hit_each(
            0,
            [
                opcode(Opcode::Write),
                opcode(Opcode::WriteImmediate),
                opcode(Opcode::Send),
                opcode(Opcode::SendImmediate),
                opcode(Opcode::Probe),
                opcode(Opcode::Probe) && packet.malformed,
                can && length == 0,
                can && bytes > 0 && offset == 0 && end == length,
                can && bytes > 0 && offset == 0 && end < length,
                can && offset > 0 && end < length,
                can && offset > 0 && end == length,
                can && bytes == u64::from(self.widths.mtu),
                can && end == length && length == u64::from(u32::MAX),
                good_place && stream & !(streams - 1) == streams,
                good_place && stream & !(streams - 1) == 0x8000,
                good_stream && bytes > 0 && end == length + 1,
                good_stream && bytes == 0 && length > 0 && end <= length,
                good_stream && bytes > 0 && end > 1 << 32 && end - (1 << 32) <= length,
                good_stream && end == 1 << 32 && length == 0,
            ],
        );
    }

    #[inline]
    fn count_fate(&mut self, packet: &Packet) {
        let its = packet.judgement();
        let fields = &packet.fields;
        let verdict = fields.sacked_verdict;
        let void = fields.s_axis_data_payload_bytes == 0;
        let (hole, filled) = (fields.sacked_new_hole, fields.sacked_filled);
        let accepted = its == judgement::ACCEPTED;
        let new = accepted && verdict == sack_rx::verdict::NEW;
        let duplicate = accepted && verdict == sack_rx::verdict::DUPLICATE;
        let outside = accepted && verdict == sack_rx::verdict::OUT_OF_WINDOW;
        let discarded = !new && its != judgement::PROBE;
        self.bins.hit_each(
            FATE,
            [
                new && !hole && !filled && !packet.last,
                new && hole && !filled && !packet.last,
                new && !hole && filled && !packet.last,
                new && !hole && !filled && packet.last,
                new && void,
                duplicate,
                duplicate && void,
                outside,
                outside && void,
            ],
        );
        self.bins
            .hit(FATE + 12, its == judgement::UNKNOWN && packet.is_probe());
        self.bins
            .hit_each(FATE + 34, [discarded && void, discarded && !void]);
        // Rows of three bins, one a verdict.
        let row = match its {
            judgement::PROBE => Some(9),
            judgement::ACCEPTED => None,
            judgement::UNKNOWN => Some(13),
            judgement::MALFORMED => Some(16),
            judgement::BAD_KEY => Some(19),
            judgement::OUT_OF_BOUNDS => Some(22),
            judgement::NOT_POSTED => Some(25),
            judgement::TOO_LONG => Some(28),
            _ => Some(31),
        };
        if let Some(row) = row {
            self.bins.hit(FATE + row + usize::from(verdict), true);
        }
    }

    #[inline]
    fn count_results(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let event = outputs.event_valid;
        let code = outputs.event_code;
        if event {
            self.bins
                .hit(RESULT + usize::from(code - judgement::UNKNOWN), true);
        }
        let place = outputs.m_axis_place_tvalid && inputs.m_axis_place_tready;
        let owe = outputs.m_axis_owe_tvalid && inputs.m_axis_owe_tready;
        let nak = outputs.m_axis_nak_tvalid && inputs.m_axis_nak_tready;
        let counts = outputs.m_axis_owe_counts;
        let stream = (outputs.m_axis_nak_connection, outputs.m_axis_nak_stream);
        self.bins.hit_each(
            RESULT + 9,
            [
                event && self.events_before[1],
                place && !outputs.m_axis_place_discard,
                place && outputs.m_axis_place_discard,
                owe && counts && outputs.m_axis_owe_at_once,
                owe && counts && !outputs.m_axis_owe_at_once,
                owe && !counts,
                owe && counts && outputs.m_axis_owe_marked,
                nak && self.naks_before[2] == Some(stream),
            ],
        );
        self.events_before = [event, self.events_before[0]];
        self.naks_before = [nak.then_some(stream), self.naks_before[0], self.naks_before[1]];
        let is = |code: NakCode| nak && outputs.m_axis_nak_code == code.value();
        self.bins.hit_each(
            NAK,
            [
                is(NakCode::ReceiverNotReady),
                is(NakCode::BadKey),
                is(NakCode::OutOfBounds),
                is(NakCode::BadLength),
            ],
        );
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs, was_held: bool) {
        let runs = !inputs.rst;
        let counts = self.counts;
        let most = self.widths.jobs;
        let waits = runs && inputs.s_axis_data_tvalid && !outputs.s_axis_data_tready;
        let is_full = counts.admitted - counts.finished == most;
        let judged = counts.sacks_taken;
        let no_sack = !outputs.m_axis_sack_tvalid;
        let finish = [
            outputs.m_axis_place_tvalid,
            outputs.m_axis_owe_tvalid,
            outputs.m_axis_nak_tvalid,
        ];
        let ready = [
            inputs.m_axis_place_tready,
            inputs.m_axis_owe_tready,
            inputs.m_axis_nak_tready,
        ];
        // What a packet puts into all three leaves before the next packet's, and none owes and refuses.
        let (placed_owed, placed_refused) = ([true, true, false], [true, false, true]);
        let taken = |both: [bool; 3]| {
            runs && finish == both && both.iter().zip(ready).all(|(&offered, ready)| !offered || ready)
        };
        let left = |both: [bool; 3], one: usize| {
            runs && self.offered_before == both && finish == std::array::from_fn(|at| at == one)
        };
        let answers = [&self.lookups, &self.checks, &self.matches, &self.sacks];
        self.bins.hit_each(
            CLOCK,
            [
                waits && is_full,
                waits && !is_full,
                runs && was_held && outputs.s_axis_data_tready,
                outputs.m_axis_lookup_tvalid && !inputs.m_axis_lookup_tready,
                outputs.m_axis_check_tvalid && !inputs.m_axis_check_tready,
                outputs.m_axis_match_tvalid && !inputs.m_axis_match_tready,
                outputs.m_axis_sack_tvalid && !inputs.m_axis_sack_tready,
                finish[0] && !ready[0],
                finish[1] && !ready[1],
                finish[2] && !ready[2],
                counts.admitted - counts.looked == most,
                self.checks.waiting() == most,
                self.matches.waiting() == most,
                self.sacks.waiting() == most,
                no_sack && counts.checked - judged == most,
                no_sack && counts.matched - counts.send_sacks_taken == most,
                is_full && counts.sacked == counts.admitted,
                runs && inputs.s_axis_data_tvalid
                    && outputs.s_axis_data_tready
                    && inputs.looked_valid
                    && inputs.checked_valid
                    && inputs.matched_valid
                    && inputs.sacked_valid,
                taken(placed_owed),
                taken(placed_refused),
                left(placed_owed, 0),
                left(placed_owed, 1),
                left(placed_refused, 0),
                left(placed_refused, 2),
                runs && inputs.sacked_valid
                    && counts.sacked + 1 == counts.admitted
                    && self.to_sack.len() == 1,
                inputs.rst && is_full,
                inputs.rst && answers.iter().all(|answers| answers.waiting() > 0),
                inputs.rst && finish == placed_owed,
                inputs.rst && finish == placed_refused,
            ],
        );
        self.offered_before = finish;
    }
}
