//! Stimulus of `placement`: packets with and without payload, and discarded ones; an `align` that gives the beats of each transfer once it has the command.

use crate::{
    bins::Bins,
    stimulus::{Flow, Offer, Random, Resets, Stimulus, beat, low_bits, random},
};
use metaroce_model::{
    Params,
    port::placement::{Inputs, Outputs},
    unit::placement::Placement as Unit,
};
use rand::RngExt;
use std::collections::VecDeque;

/// Bins of a clock.
const CLOCK_BINS: [&str; 44] = [
    "accept",
    "packet waits while place is full",
    "begin: discarded",
    "begin: empty",
    "begin: placed",
    "begin in the clock after a frame's last beat",
    "begin waits for command alone",
    "begin waits for tokens alone",
    "begin waits for transfers and tokens",
    "begin waits while a frame is passing",
    "pass: placed",
    "pass: discarded",
    "pass: discarded while beat is full",
    "pass: a placed frame of one beat",
    "pass: a discarded frame of one beat",
    "payload offered while nothing is passing",
    "payload waits while beat is full",
    "write",
    "write: last",
    "write: a transfer of one beat",
    "write: the address carries into its upper half",
    "write: the address passes 2^64",
    "aligned beat waits while write is full",
    "aligned beat offered while the head of transfers is empty",
    "aligned beat offered without a transfer",
    "empty",
    "empty waits while write is full",
    "empty in the clock after another",
    "empty in the clock after a transfer's last beat",
    "leave: null",
    "leave: beat",
    "leave: last beat",
    "write not taken",
    "null waits behind a beat",
    "count",
    "count not taken",
    "token waits for its last beat",
    "released counted up and down at once",
    "released is J",
    "command not taken",
    "beat not taken",
    "accept, pass, write, leave and count at once",
    "accept, begin, empty, leave and count at once",
    "count in the clock after it was released",
];

/// Bins of an accepted packet.
const PACKET_BINS: [&str; 5] = [
    "no bytes",
    "one byte",
    "the most bytes",
    "bytes from lane 0, whole beats",
    "discarded, with all fields of a packet that is placed",
];

/// Bins of a clock with reset.
const RESET_BINS: [&str; 7] = [
    "reset while a frame that is placed is passing",
    "reset while a frame that is discarded is passing",
    "reset in mid-transfer",
    "reset while a null entry is in write",
    "reset while a token may be given",
    "reset while place is full",
    "reset while tokens is full",
];

const PACKET: usize = CLOCK_BINS.len();
const RESET: usize = PACKET + PACKET_BINS.len();
const LANE: usize = RESET + RESET_BINS.len();

/// Drives the unit.
pub struct Placement {
    random: Random,
    place: Offer,
    payload: Offer,
    aligned: Offer,
    command: Flow,
    beat: Flow,
    write: Flow,
    count: Flow,
    resets: Resets,
    lanes: u32,
    mtu: u32,
    jobs: usize,
    stream_bits: u32,
    phase: Phase,
    /// The packet that is offered next.
    next: Option<Inputs>,
    /// The beats that are offered next at the payload and at the aligned stream.
    held_payload: Option<Inputs>,
    held_aligned: Option<Inputs>,
    /// Beats still to come of accepted packets that have payload, the oldest first; of those, whether the first has begun.
    frames: VecDeque<u32>,
    is_begun: bool,
    /// Transfers of which `align` has the command, the oldest first, and beats that it gave of the first.
    transfers: VecDeque<Transfer>,
    given: u32,
    unit: State,
    last: Last,
    bins: Bins,
}

/// A transfer in `align`.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    to: u32,
    bytes: u32,
}

/// What the unit's queues hold.
#[derive(Clone, Debug, Default)]
struct State {
    place: VecDeque<Kind>,
    /// The addresses of `transfers`, nothing for empty ones.
    transfers: VecDeque<Option<u64>>,
    tokens: usize,
    command: usize,
    beat: usize,
    write: VecDeque<Entry>,
    passing: Option<Kind>,
    released: usize,
    written: u64,
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Discarded,
    Empty,
    /// To that address.
    Placed(u64),
}

/// An entry of `write`.
#[derive(Clone, Copy, Debug)]
struct Entry {
    null: bool,
    last: bool,
}

/// What happened in the clock before.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    frame_ended: bool,
    emptied: bool,
    transfer_ended: bool,
    released_first: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    left: u32,
    lengths: Lengths,
    /// Chance in 256ths of a packet without bytes, and of one that is discarded.
    empty: u32,
    discarded: u32,
}

#[derive(Clone, Copy, Debug, Default)]
enum Lengths {
    #[default]
    Edges,
    Short,
    Packets,
    Any,
}

impl Stimulus<Unit> for Placement {
    fn new(params: &Params, seed: u64) -> Self {
        let lanes = (0..params.lanes()).map(|lane| format!("placed from lane {lane}"));
        let names = [&CLOCK_BINS[..], &PACKET_BINS, &RESET_BINS].concat();
        Self {
            random: random(seed),
            place: Offer::new(100),
            payload: Offer::new(100),
            aligned: Offer::new(100),
            command: Flow::new(100),
            beat: Flow::new(100),
            write: Flow::new(100),
            count: Flow::new(100),
            resets: Resets::new(3000),
            lanes: params.lanes(),
            mtu: params.mtu_bytes,
            jobs: params.jobs() as usize,
            stream_bits: params.stream_index_bits(),
            phase: Phase::default(),
            next: None,
            held_payload: None,
            held_aligned: None,
            frames: VecDeque::new(),
            is_begun: false,
            transfers: VecDeque::new(),
            given: 0,
            unit: State::default(),
            last: Last::default(),
            bins: Bins::new(names.into_iter().map(String::from).chain(lanes)),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let place = self
            .place
            .next(&mut self.random, outputs.s_axis_place_tready && !rst, true);
        let has_frame = !self.frames.is_empty();
        let payload = self
            .payload
            .next(&mut self.random, outputs.s_axis_payload_tready && !rst, has_frame);
        let has_transfer = !self.transfers.is_empty();
        let aligned = self.aligned.next(
            &mut self.random,
            outputs.s_axis_aligned_tready && !rst,
            has_transfer,
        );
        let mut inputs = self.garbage();
        if place.real {
            let next = self.next.unwrap_or_else(|| self.packet(inputs));
            self.next = Some(next);
            inputs = next;
        }
        if payload.real {
            let held = *self.held_payload.get_or_insert(inputs);
            inputs.s_axis_payload_tdata = held.s_axis_payload_tdata;
            inputs.s_axis_payload_tlast = self.frames[0] == 1;
        }
        if aligned.real {
            let held = *self.held_aligned.get_or_insert(inputs);
            inputs.s_axis_aligned_tdata = held.s_axis_aligned_tdata;
            (inputs.s_axis_aligned_tkeep, inputs.s_axis_aligned_tlast) =
                self.transfers[0].beat(self.given, self.lanes);
        }
        inputs.rst = rst;
        inputs.s_axis_place_tvalid = place.valid;
        inputs.s_axis_payload_tvalid = payload.valid;
        inputs.s_axis_aligned_tvalid = aligned.valid;
        inputs.m_axis_command_tready = self.command.next(&mut self.random);
        inputs.m_axis_beat_tready = self.beat.next(&mut self.random);
        inputs.m_axis_write_tready = self.write.next(&mut self.random);
        inputs.m_axis_count_tready = self.count.next(&mut self.random);
        if rst {
            self.count_reset();
            self.reset();
        } else {
            self.clock(&inputs, outputs);
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Transfer {
    /// The lanes of its beat of that number, and whether it is the last.
    fn beat(self, number: u32, lanes: u32) -> (u64, bool) {
        let first = if number == 0 { self.to } else { 0 };
        let end = self.to + self.bytes - number * lanes;
        (low_bits(end.min(lanes)) & !low_bits(first), end <= lanes)
    }
}

impl Placement {
    fn reset(&mut self) {
        for offer in [&mut self.place, &mut self.payload, &mut self.aligned] {
            offer.clear();
        }
        (self.next, self.held_payload, self.held_aligned) = (None, None, None);
        self.frames.clear();
        self.transfers.clear();
        (self.is_begun, self.given) = (false, 0);
        self.unit = State::default();
        self.last = Last::default();
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let jobs = self.jobs;
        let unit = &mut self.unit;
        let room = unit.transfers.len() < jobs && unit.tokens < jobs && unit.command < 2;
        let accepts = inputs.s_axis_place_tvalid && outputs.s_axis_place_tready;
        let begins = if unit.passing.is_none() && room {
            unit.place.front().copied()
        } else {
            None
        };
        let passes = inputs.s_axis_payload_tvalid && outputs.s_axis_payload_tready;
        let frame_ends = passes && inputs.s_axis_payload_tlast;
        let writes = inputs.s_axis_aligned_tvalid && outputs.s_axis_aligned_tready;
        let transfer_ends = writes && inputs.s_axis_aligned_tlast;
        let head = unit.transfers.front().copied();
        let write_room = unit.write.len() < 2;
        let empties = write_room && head == Some(None);
        let leaves = unit
            .write
            .front()
            .copied()
            .filter(|entry| entry.null || inputs.m_axis_write_tready);
        let releases = leaves.is_some_and(|entry| entry.null || entry.last);
        let counts = outputs.m_axis_count_tvalid && inputs.m_axis_count_tready;
        let commands = outputs.m_axis_command_tvalid && inputs.m_axis_command_tready;

        let waits = unit.passing.is_none() && !unit.place.is_empty();
        let full = [
            unit.command == 2,
            unit.transfers.len() == jobs,
            unit.tokens == jobs,
        ];
        let placed = matches!(unit.passing, Some(Kind::Placed(_)));
        let discarded = unit.passing == Some(Kind::Discarded);
        let payload_waits = inputs.s_axis_payload_tvalid && !outputs.s_axis_payload_tready;
        let aligned_waits = inputs.s_axis_aligned_tvalid && !outputs.s_axis_aligned_tready;
        let address = head.flatten().unwrap_or_default();
        let beat_address = address.wrapping_add(unit.written);
        let leave = leaves.is_some();
        self.bins.hit_each(
            0,
            [
                accepts,
                inputs.s_axis_place_tvalid && !outputs.s_axis_place_tready,
                begins == Some(Kind::Discarded),
                begins == Some(Kind::Empty),
                matches!(begins, Some(Kind::Placed(_))),
                begins.is_some() && self.last.frame_ended,
                waits && full == [true, false, false],
                waits && full == [false, false, true],
                waits && full[1] && full[2],
                unit.passing.is_some() && !unit.place.is_empty() && room,
                passes && placed,
                passes && discarded,
                passes && discarded && unit.beat == 2,
                frame_ends && placed && !self.is_begun,
                frame_ends && discarded && !self.is_begun,
                payload_waits && unit.passing.is_none(),
                payload_waits && placed,
                writes,
                transfer_ends,
                transfer_ends && unit.written == 0,
                writes && beat_address >> 32 != address >> 32,
                writes && beat_address < address,
                aligned_waits && !write_room && head.flatten().is_some(),
                aligned_waits && head == Some(None),
                aligned_waits && head.is_none(),
                empties,
                !write_room && head == Some(None),
                empties && self.last.emptied,
                empties && self.last.transfer_ended,
                leaves.is_some_and(|entry| entry.null),
                leaves.is_some_and(|entry| !entry.null),
                leaves.is_some_and(|entry| entry.last),
                outputs.m_axis_write_tvalid && !inputs.m_axis_write_tready,
                !leave && unit.write.back().is_some_and(|entry| entry.null),
                counts,
                outputs.m_axis_count_tvalid && !inputs.m_axis_count_tready,
                unit.tokens > 0 && unit.released == 0,
                releases && counts,
                unit.released == jobs,
                outputs.m_axis_command_tvalid && !inputs.m_axis_command_tready,
                outputs.m_axis_beat_tvalid && !inputs.m_axis_beat_tready,
                accepts && passes && writes && leave && counts,
                accepts && begins.is_some() && empties && leave && counts,
                counts && self.last.released_first,
            ],
        );
        self.last = Last {
            frame_ended: frame_ends,
            emptied: empties,
            transfer_ended: transfer_ends,
            released_first: releases && unit.released == 0,
        };

        if commands {
            unit.command -= 1;
            self.transfers.push_back(Transfer {
                to: outputs.m_axis_command_to.into(),
                bytes: outputs.m_axis_command_bytes.into(),
            });
        }
        unit.beat -= usize::from(outputs.m_axis_beat_tvalid && inputs.m_axis_beat_tready);
        if leave {
            unit.write.pop_front();
        }
        unit.tokens -= usize::from(counts);
        unit.released = unit.released + usize::from(releases) - usize::from(counts);
        if writes {
            unit.write.push_back(Entry {
                null: false,
                last: transfer_ends,
            });
            unit.written += u64::from(self.lanes);
            self.given += 1;
            self.held_aligned = None;
        } else if empties {
            unit.write.push_back(Entry {
                null: true,
                last: false,
            });
        }
        if transfer_ends || empties {
            unit.transfers.pop_front();
        }
        if transfer_ends {
            self.transfers.pop_front();
            (self.given, unit.written) = (0, 0);
        }
        if passes {
            unit.beat += usize::from(placed);
            self.frames[0] -= 1;
            self.is_begun = !frame_ends;
            self.held_payload = None;
        }
        if frame_ends {
            unit.passing = None;
            self.frames.pop_front();
        }
        if let Some(kind) = begins {
            unit.begin(kind);
        }
        if accepts {
            self.accept(inputs);
        }
    }

    /// A packet is accepted.
    fn accept(&mut self, packet: &Inputs) {
        self.next = None;
        let bytes = u32::from(packet.s_axis_place_bytes);
        let discard = packet.s_axis_place_discard;
        let lane = (packet.s_axis_place_address & u64::from(self.lanes - 1)) as u32;
        let kind = match (discard, bytes) {
            (true, _) => Kind::Discarded,
            (false, 0) => Kind::Empty,
            _ => Kind::Placed(packet.s_axis_place_address - u64::from(lane)),
        };
        self.unit.place.push_back(kind);
        if kind != Kind::Empty {
            // As many as the bytes need at the lane where the header ends, and one for the checksum now and then.
            let most = bytes.div_ceil(self.lanes) + 1;
            let least = most.saturating_sub(2).max(1);
            self.frames.push_back(self.random.random_range(least..=most));
        }
        self.bins.hit_each(
            PACKET,
            [
                !discard && bytes == 0,
                !discard && bytes == 1,
                !discard && bytes == self.mtu,
                !discard && bytes > 0 && lane == 0 && bytes % self.lanes == 0,
                discard && bytes > 0 && packet.s_axis_place_address != 0,
            ],
        );
        self.bins
            .hit(LANE + lane as usize, matches!(kind, Kind::Placed(_)));
    }

    /// Random values that fit in the fields.
    fn garbage(&mut self) -> Inputs {
        let random = &mut self.random;
        let (a, b): (u64, u64) = (random.random(), random.random());
        Inputs {
            s_axis_place_discard: a & 1 != 0,
            s_axis_place_bytes: (a >> 1) as u16 & (2 * self.mtu - 1) as u16,
            s_axis_place_address: b,
            s_axis_place_stream: (a >> 17) as u16 & low_bits(self.stream_bits) as u16,
            s_axis_place_message: (a >> 33) as u32 & 0xff_ffff,
            s_axis_place_length: (b >> 7 ^ a) as u32,
            s_axis_place_immediate: (b >> 31 ^ a >> 32) as u32,
            s_axis_place_kind: (a >> 57) as u8 & 3,
            s_axis_payload_tdata: beat(random, self.lanes),
            s_axis_payload_tlast: a >> 60 & 1 != 0,
            s_axis_aligned_tdata: beat(random, self.lanes),
            s_axis_aligned_tkeep: b.rotate_left(9) & low_bits(self.lanes),
            s_axis_aligned_tlast: a >> 61 & 1 != 0,
            ..Default::default()
        }
    }

    /// A packet to offer; the fields that say nothing of its kind stay `garbage`.
    fn packet(&mut self, garbage: Inputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let (lanes, mtu) = (self.lanes, self.mtu);
        let random = &mut self.random;
        let chance = random.random::<u32>() >> 24;
        let bytes = match self.phase.lengths {
            Lengths::Edges => [1, 2, lanes - 1, lanes, lanes + 1, 2 * lanes][random.random_range(0..6)],
            Lengths::Short => random.random_range(1..=4 * lanes),
            Lengths::Packets => mtu - [0, 0, 1, random.random_range(0..lanes)][random.random_range(0..4)],
            Lengths::Any => random.random_range(1..=mtu),
        };
        let is_empty = chance < self.phase.empty;
        let bytes = if is_empty { 0 } else { bytes };
        let any = garbage.s_axis_place_address;
        // Now and then just below a carry, or at the end of all addresses.
        let address = match random.random_range(0..8) {
            0 => u64::MAX - (any & 0x1f),
            1 => (any | 0xffff_ffff) - (any & 0x1f),
            2 => any & !u64::from(lanes - 1),
            _ => any,
        };
        Inputs {
            s_axis_place_discard: !is_empty && chance < self.phase.empty + self.phase.discarded,
            s_axis_place_bytes: bytes as u16,
            s_axis_place_address: address,
            ..garbage
        }
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let lengths = match random.random_range(0..16) {
            0..=6 => Lengths::Edges,
            7..=12 => Lengths::Short,
            13 => Lengths::Any,
            _ => Lengths::Packets,
        };
        let (empty, discarded) =
            [(0, 0), (32, 32), (128, 0), (256, 0), (0, 128), (240, 8)][random.random_range(0..6)];
        let most = match lengths {
            _ if empty > 200 => 200,
            Lengths::Edges | Lengths::Short => 100,
            Lengths::Packets | Lengths::Any => 6,
        };
        self.phase = Phase {
            left: random.random_range(1..=most),
            lengths,
            empty,
            discarded,
        };
        for offer in [&mut self.place, &mut self.payload, &mut self.aligned] {
            offer.change([10, 200, 1000][random.random_range(0..3)]);
        }
        for flow in [
            &mut self.command,
            &mut self.beat,
            &mut self.write,
            &mut self.count,
        ] {
            *flow = Flow::new([10, 200, 1000][random.random_range(0..3)]);
        }
    }

    #[inline]
    fn count_reset(&mut self) {
        let unit = &self.unit;
        self.bins.hit_each(
            RESET,
            [
                matches!(unit.passing, Some(Kind::Placed(_))),
                unit.passing == Some(Kind::Discarded),
                unit.written > 0,
                unit.write.iter().any(|entry| entry.null),
                unit.released > 0,
                unit.place.len() == self.jobs,
                unit.tokens == self.jobs,
            ],
        );
    }
}

impl State {
    fn begin(&mut self, kind: Kind) {
        self.place.pop_front();
        if kind != Kind::Empty {
            self.passing = Some(kind);
        }
        match kind {
            Kind::Discarded => return,
            Kind::Empty => self.transfers.push_back(None),
            Kind::Placed(address) => {
                self.transfers.push_back(Some(address));
                self.command += 1;
            }
        }
        self.tokens += 1;
    }
}
