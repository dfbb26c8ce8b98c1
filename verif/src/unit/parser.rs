//! Stimulus of `parser`: frames that are good, wrong in each way and in two, cut at every byte, with any bit flipped, or without sense; addresses configured at the worst moment;
//! and each output held back while the others flow.

mod frames;

use crate::{
    bins::{Bins, bins},
    stimulus::{Flow, Offer, Random, Resets, Stimulus, beat, low_bits, random},
};
use frames::{CAUSES, Cause, Frame, Kind, Lengths, Maker, OVERHEAD};
use metaroce_model::{
    Params,
    port::{
        Beat,
        parser::{HEADER_BYTES, Inputs, Outputs, drop},
    },
    unit::parser::Parser as Unit,
    wire::{DropReason, Opcode},
};
use rand::RngExt;
use std::collections::VecDeque;

bins! {
    // Of a clock.
    Waits = "beat offered and not accepted",
    PayloadStalls = "payload not taken, and nothing but it stops the pipeline",
    DataStalls = "header of data not taken, and nothing but it stops the pipeline",
    AckStalls = "header of an acknowledgement not taken, and nothing but it stops the pipeline",
    PayloadAlone = "payload not taken while a header is",
    DataAlone = "header of data not taken while payload is",
    AckAlone = "header of an acknowledgement not taken while payload is",
    DropStanding = "frame dropped while the pipeline stands still",
    DropAgain = "frames dropped in consecutive clocks",
    DataPassed = "header of data not taken while the pipeline moves",
    AckPassed = "header of an acknowledgement not taken while the pipeline moves",
    Starved = "no beat offered in mid-frame",
    Marked = "marked packet",
    NotMarked = "packet not marked",
    KeptOut = "last beat of payload that is kept",
    ForgottenOut = "last beat of payload that is not kept",
    ResetInFrame = "reset in mid-frame",
    ResetOut = "reset while outputs are offered",
    Unconfigured = "address set to 0",
    // Of an accepted last beat.
    WriteAgainst = "address of the plane changed in the very clock of a good frame's last beat",
    WriteFor = "address of the plane set to the frame's in the very clock of its last beat, too late",
    WriteBefore = "address of the plane changed in the clock before a frame's last beat, which makes it a stranger",
    WriteInTime = "address of the plane set to the frame's in the clock before its last beat",
    WriteAfter = "address of the plane changed in the clock after a good frame's last beat",
    WriteOther = "address of another plane changed in the very clock of a good frame's last beat",
    BackToBack = "good, wrong and good frame back to back",
    Shorts = "four frames back to back, all of the fewest beats that a good one has",
    DataAckData = "data, ACK, data back to back, all good",
    Holes = "bits above the first clear one of the last tkeep",
    EmptyTail = "last beat without a byte",
    Payload0 = "data without payload",
    Payload1 = "1 byte of payload",
    PayloadMtuLess1 = "mtu - 1 bytes of payload",
    PayloadMtu = "mtu bytes of payload",
    FlipGood = "single bit flipped, and still good",
    FlipPayload = "single bit flipped in the payload",
    FlipIcrc = "single bit flipped in the checksum",
    Nonsense = "random bytes",
    NonsenseEmpty = "frame without a byte",
    NonsenseOne = "frame of one byte",
}

/// Beats of a frame that have bins of their own.
const BEATS: usize = 14;
/// Bytes of a data packet's headers.
const HEADERS: usize = HEADER_BYTES as usize;
/// Opcodes that are not dropped.
const OPCODES: [Opcode; 7] = [
    Opcode::Write,
    Opcode::WriteImmediate,
    Opcode::Send,
    Opcode::SendImmediate,
    Opcode::Ack,
    Opcode::Nak,
    Opcode::Probe,
];

/// Where the numbered bins begin.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    /// Reasons seen at `drop_reason`.
    dropped: usize,
    /// The first of two reasons.
    first: usize,
    opcode: usize,
    beats: usize,
    cut: usize,
    corrected: usize,
    flip: usize,
    tail: usize,
    cause: usize,
}

/// Drives the unit.
pub struct Parser {
    params: Params,
    random: Random,
    input: Offer,
    /// Of payload, data and acknowledgements.
    outputs: [Flow; 3],
    resets: Resets,
    lanes: u32,
    maker: Maker,
    causes: usize,
    /// Causes, cuts and flipped bits come in turn.
    turn: usize,
    cut: usize,
    flip: usize,
    phase: Phase,
    now: u32,
    time_mask: u32,
    /// Addresses as configured, those to choose from, and the planes that have none yet since a reset.
    addresses: Box<[u32]>,
    pool: [u32; 4],
    unconfigured: u32,
    /// The last write: the plane, and the address that it had before; what it has now is in `addresses`.
    written: Option<(u8, u32)>,
    frame: Frame,
    beats: usize,
    given: usize,
    next: RxBeat,
    /// What was accepted in the last clock was a frame's last beat, a good one's on this plane.
    ended: bool,
    ended_good: Option<u8>,
    back_to_back: bool,
    /// The frames before, back to back: whether good, whether an ACK's, how many beats.
    before: [Option<Before>; 3],
    /// Verdicts that must be seen: reasons, opcodes of data, opcodes of acknowledgements.
    expected: [VecDeque<u8>; 3],
    dropped: bool,
    numbered: Numbered,
    bins: Bins,
}

#[derive(Clone, Copy, Debug)]
struct Before {
    good: bool,
    ack: bool,
    beats: usize,
}

/// A beat to offer.
#[derive(Clone, Copy, Debug, Default)]
struct RxBeat {
    data: Beat,
    keep: u64,
    last: bool,
    plane: u8,
    bad: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    frames_left: u32,
    lengths: Lengths,
    /// Chances in 256ths: of a frame wrong in one way, in two, cut, with a bit flipped, of nonsense.
    kinds: [u32; 5],
    /// Of a write in a clock, in 65536ths; of one at a last beat, in 256ths.
    writes: u32,
    aimed: u32,
    /// An output that is hardly ever taken, so that its queue is the one that fills.
    stalled: Option<usize>,
}

/// Mixtures of kinds of frames.
const MIXTURES: [[u32; 5]; 8] = [
    [0, 0, 0, 0, 0],
    [16, 0, 0, 0, 0],
    [128, 0, 0, 0, 0],
    [256, 0, 0, 0, 0],
    [64, 128, 0, 0, 16],
    [0, 0, 200, 0, 16],
    [0, 0, 0, 200, 0],
    [32, 32, 64, 64, 32],
];

impl Stimulus<Unit> for Parser {
    fn new(params: &Params, seed: u64) -> Self {
        let mut random = random(seed);
        let causes = Maker::possible(params);
        let lanes = params.lanes();
        let mut names: Vec<String> = BINS.map(String::from).into();
        let mut group = |list: &mut dyn Iterator<Item = String>| {
            let first = names.len();
            names.extend(list);
            first
        };
        let numbered = Numbered {
            dropped: group(
                &mut DropReason::ALL
                    .iter()
                    .map(|reason| format!("dropped: {}", reason.name())),
            ),
            first: group(
                &mut (DropReason::ALL[..10].iter())
                    .map(|reason| format!("two reasons, {} the first", reason.name())),
            ),
            opcode: group(&mut OPCODES.iter().map(|opcode| format!("good {}", opcode.name()))),
            beats: group(&mut (1..=BEATS).map(|beats| format!("frame of {beats} beats"))),
            cut: group(&mut (0..OVERHEAD).map(|byte| format!("data cut at byte {byte}"))),
            corrected: group(
                &mut (0..OVERHEAD).map(|byte| format!("data cut at byte {byte}, lengths corrected")),
            ),
            flip: group(&mut (0..HEADERS).map(|byte| format!("bit flipped in byte {byte} of data"))),
            tail: group(
                &mut (0..=lanes).map(|bytes| format!("good data with {bytes} bytes in the last beat")),
            ),
            cause: group(
                &mut CAUSES[..causes]
                    .iter()
                    .map(|(_, _, name)| format!("frame: {name}")),
            ),
        };
        let pool = std::array::from_fn(|_| random.random::<u32>() | 1);
        let mut stimulus = Self {
            params: params.clone(),
            input: Offer::new(100),
            outputs: std::array::from_fn(|_| Flow::new(100)),
            // A frame of 2^16 bytes must get through.
            resets: Resets::new(25_000),
            lanes,
            maker: Maker::new(params),
            causes,
            turn: 0,
            cut: 0,
            flip: 0,
            phase: Phase::default(),
            now: 0,
            time_mask: u32::MAX >> (32 - params.timestamp_bits),
            addresses: vec![0; params.planes as usize].into(),
            pool,
            unconfigured: params.planes,
            written: None,
            frame: Frame::default(),
            beats: 0,
            given: 0,
            next: RxBeat::default(),
            ended: false,
            ended_good: None,
            back_to_back: false,
            before: [None; 3],
            expected: Default::default(),
            dropped: false,
            numbered,
            bins: Bins::new(names),
            random,
        };
        stimulus.begin_frame();
        stimulus
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let accepts = outputs.s_axis_rx_tready && !rst;
        let offered = self.input.next(&mut self.random, accepts, true);
        let bits: u64 = self.random.random();
        self.now = match bits & 0xfff {
            0 => (bits >> 12) as u32,
            _ => self.now.wrapping_add(1),
        } & self.time_mask;
        let fields = if offered.real {
            self.next
        } else {
            self.garbage(bits)
        };
        let ready: [bool; 3] = std::array::from_fn(|output| {
            let ready = self.outputs[output].next(&mut self.random);
            ready && (self.phase.stalled != Some(output) || bits >> 58 == 0)
        });
        let ends = offered.real && accepts && fields.last;
        let (config_write, config_plane, config_address) = self.write(bits, ends);
        let inputs = Inputs {
            rst,
            now: self.now,
            config_write,
            config_plane,
            config_address,
            s_axis_rx_tvalid: offered.valid,
            s_axis_rx_tdata: fields.data,
            s_axis_rx_tkeep: fields.keep,
            s_axis_rx_tlast: fields.last,
            s_axis_rx_plane: fields.plane,
            s_axis_rx_bad: fields.bad,
            m_axis_payload_tready: ready[0],
            m_axis_data_tready: ready[1],
            m_axis_ack_tready: ready[2],
        };
        self.count_clock(&inputs, outputs);
        if rst {
            self.reset();
        } else {
            self.clock(offered.real && accepts, &inputs);
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Parser {
    fn reset(&mut self) {
        self.addresses.fill(0);
        // Sometimes the highest planes stay without an address until one is written by chance.
        self.unconfigured = self.params.planes;
        if self.random.random_range(0..4) == 0 {
            self.unconfigured = self.random.random_range(0..=self.params.planes);
        }
        self.written = None;
        self.input.clear();
        self.expected.iter_mut().for_each(VecDeque::clear);
        (self.ended, self.ended_good, self.back_to_back, self.dropped) = (false, None, false, false);
        self.before = [None; 3];
        self.begin_frame();
    }

    /// Fields in a clock in which nothing is accepted.
    #[inline]
    fn garbage(&mut self, bits: u64) -> RxBeat {
        let data = beat(&mut self.random, self.lanes);
        RxBeat {
            data,
            keep: data.data[0] & low_bits(self.lanes),
            last: bits >> 63 != 0,
            plane: (bits >> 40) as u8 & (self.params.planes - 1) as u8,
            bad: bits >> 62 & 1 != 0,
        }
    }

    /// What the configuration port does.
    #[inline]
    fn write(&mut self, bits: u64, ends: bool) -> (bool, u8, u32) {
        let planes = self.params.planes;
        let any_plane = (bits >> 48) as u32 & (planes - 1);
        let any_address = self.pool[(bits >> 46) as usize & 3];
        let chance = (bits >> 16) as u32 & 0xffff;
        if self.unconfigured > 0 && chance & 1 != 0 {
            self.unconfigured -= 1;
            return (true, self.unconfigured as u8, any_address);
        }
        if let Some(plane) = self.ended_good
            && chance >> 8 < self.phase.aimed
        {
            return (true, plane, any_address);
        }
        // The beat before a last one is as good a moment.
        let near = ends || self.given + 2 >= self.beats;
        if near && chance >> 8 < self.phase.aimed {
            let plane = self.frame.plane;
            let ours = self.addresses[usize::from(plane)] == self.frame.destination();
            let address = match (chance & 7, ours) {
                (0, _) => 0,
                (1, _) => return (true, any_plane as u8, any_address),
                (_, true) => any_address,
                (_, false) => self.frame.destination(),
            };
            return (true, plane, address);
        }
        // A long frame would be a stranger when it ends.
        if chance < self.phase.writes && self.beats < 1000 {
            let address = if bits >> 44 & 7 == 0 { 0 } else { any_address };
            return (true, any_plane as u8, address);
        }
        (false, any_plane as u8, (bits >> 20) as u32)
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, accepted: bool, inputs: &Inputs) {
        let ended_good = self.ended_good.take();
        if let Some(plane) = ended_good {
            let changes = inputs.config_write
                && inputs.config_plane == plane
                && inputs.config_address != self.addresses[usize::from(plane)];
            self.bins.hit(Bin::WriteAfter as usize, changes);
        }
        if accepted {
            if self.given == 0 {
                self.back_to_back = self.ended;
            }
            self.given += 1;
        }
        self.ended = accepted && self.next.last;
        if self.ended {
            self.end_frame(inputs);
        } else if accepted {
            self.next_beat();
        }
        self.written = None;
        if inputs.config_write {
            let plane = usize::from(inputs.config_plane);
            self.written = Some((inputs.config_plane, self.addresses[plane]));
            self.addresses[plane] = inputs.config_address;
            self.bins
                .hit(Bin::Unconfigured as usize, inputs.config_address == 0);
        }
    }

    /// A frame's last beat is accepted.
    fn end_frame(&mut self, inputs: &Inputs) {
        let plane = self.frame.plane;
        let address = self.addresses[usize::from(plane)];
        let verdict = self.frame.verdict(address, &self.params);
        let good = verdict == drop::NONE;
        let opcode = self.frame.opcode();
        let acknowledges = matches!(opcode, Some(Opcode::Ack | Opcode::Nak));
        let kind = match (good, acknowledges) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        };
        let seen = if good {
            opcode.map_or(0, Opcode::value)
        } else {
            verdict
        };
        self.expected[kind].push_back(seen);
        self.count_frame(inputs, address, verdict);
        self.ended_good = good.then_some(plane);
        self.before.rotate_right(1);
        if !self.back_to_back {
            self.before = [None; 3];
        }
        self.before[0] = Some(Before {
            good,
            ack: good && acknowledges,
            beats: self.beats,
        });
        self.begin_frame();
    }

    fn begin_frame(&mut self) {
        if self.phase.frames_left == 0 {
            self.change_phase();
        }
        self.phase.frames_left -= 1;
        let kind = self.kind();
        let (lengths, random) = (self.phase.lengths, &mut self.random);
        (self.maker).make(&mut self.frame, kind, lengths, &self.addresses, random);
        self.beats = self.frame.beats(self.lanes as usize);
        self.given = 0;
        self.next_beat();
    }

    /// What the next frame is like.
    fn kind(&mut self) -> Kind {
        let mut chance = self.random.random::<u32>() >> 24;
        let part = self.phase.kinds.iter().position(|&part| {
            let within = chance < part;
            chance = chance.wrapping_sub(part);
            within
        });
        match part {
            Some(0) => Kind::One(self.cause()),
            Some(1) => Kind::Two(self.short_cause(), self.short_cause()),
            Some(2) => {
                self.cut = (self.cut + 1) % (2 * OVERHEAD);
                Kind::Cut {
                    bytes: self.cut / 2,
                    corrected: self.cut % 2 == 1,
                }
            }
            Some(3) if self.random.random() => {
                // A step that has no divisor in common with the bits of the headers.
                self.flip = (self.flip + 167) % (8 * HEADERS);
                Kind::Flip(self.flip)
            }
            Some(3) => Kind::Flip(self.random.random_range(0..1 << 16)),
            Some(_) => Kind::Random,
            None => Kind::Good,
        }
    }

    /// The next cause, the long ones in few turns.
    fn cause(&mut self) -> Cause {
        loop {
            self.turn += 1;
            let (cause, ..) = CAUSES[self.turn % self.causes];
            if (self.turn / self.causes).is_multiple_of(rarity(cause)) {
                return cause;
            }
        }
    }

    /// A cause that does not make a long frame.
    fn short_cause(&mut self) -> Cause {
        loop {
            let (cause, ..) = CAUSES[self.random.random_range(0..self.causes)];
            if rarity(cause) == 1 {
                return cause;
            }
        }
    }

    /// Prepares the next beat of the frame.
    #[inline]
    fn next_beat(&mut self) {
        let lanes = self.lanes as usize;
        let bits: u64 = self.random.random();
        let mut next = self.garbage(bits);
        let bytes = &self.frame.bytes[(self.given * lanes).min(self.frame.bytes.len())..];
        next.last = self.given + 1 == self.beats;
        if bytes.len() >= lanes {
            for (limb, bytes) in next.data.data.iter_mut().zip(bytes[..lanes].as_chunks::<8>().0) {
                *limb = u64::from_le_bytes(*bytes);
            }
            if next.last {
                next.keep = low_bits(self.lanes);
            }
        } else {
            for (lane, &byte) in bytes.iter().enumerate() {
                let shift = 8 * (lane % 8);
                let limb = &mut next.data.data[lane / 8];
                *limb = *limb & !(0xff << shift) | u64::from(byte) << shift;
            }
            // Above the first clear bit there may be anything.
            let held = bytes.len() as u32;
            next.keep = (next.keep | low_bits(held)) & !(1 << held);
            if bits >> 61 & 1 != 0 {
                next.keep = low_bits(held);
            }
        }
        if next.last {
            (next.plane, next.bad) = (self.frame.plane, self.frame.bad);
        }
        self.next = next;
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let (lengths, most) = match random.random_range(0..16) {
            0..=6 => (Lengths::Edges, 100),
            7..=10 => (Lengths::Short, 100),
            11..=12 => (Lengths::NoData, 40),
            13 => (Lengths::Any, 4),
            _ => (Lengths::Packets, 8),
        };
        let churn = random.random_range(0..3) == 0;
        self.phase = Phase {
            frames_left: random.random_range(1..=most),
            lengths,
            kinds: MIXTURES[random.random_range(0..MIXTURES.len())],
            writes: if churn { 2048 } else { 64 },
            aimed: if churn { 64 } else { 0 },
            stalled: (random.random_range(0..8) == 0).then(|| random.random_range(0..3)),
        };
        self.input.change([10, 200, 1000][random.random_range(0..3)]);
        // Each output on its own: one stands while the others flow.
        for output in &mut self.outputs {
            *output = Flow::new([10, 100, 400][random.random_range(0..3)]);
        }
    }

    fn count_frame(&mut self, inputs: &Inputs, address: u32, verdict: u8) {
        let (frame, bins, numbered) = (&self.frame, &mut self.bins, self.numbered);
        let good = verdict == drop::NONE;
        let length = frame.bytes.len();
        let opcode = frame.opcode();
        let data = good && opcode.is_some_and(Opcode::is_data);
        let payload = |bytes: usize| data && length == OVERHEAD + bytes;
        let mtu = self.params.mtu_bytes as usize;
        let destination = frame.destination();
        let same_plane = inputs.config_plane == frame.plane;
        let write = inputs.config_write && inputs.config_address != address;
        let other = inputs.config_write && !same_plane;
        let other = other && inputs.config_address != self.addresses[usize::from(inputs.config_plane)];
        let was =
            (self.written).and_then(|(plane, was)| (plane == frame.plane && was != address).then_some(was));
        let stranger = verdict == drop::ADDRESS && destination != 0;
        let before = if self.back_to_back { self.before } else { [None; 3] };
        let fewest = Opcode::Probe.least_frame_bytes().div_ceil(self.lanes as usize);
        let flip = match frame.kind {
            Kind::Flip(bit) => Some(bit / 8),
            _ => None,
        };
        let data_like = frame.data;
        let held = length as u32 & (self.lanes - 1);
        let in_tail = (held == 0)
            .then_some(self.lanes)
            .filter(|_| !frame.empty_tail)
            .unwrap_or(held);
        bins.hit_each(
            Bin::WriteAgainst as usize,
            [
                good && write && same_plane,
                stranger && write && same_plane && inputs.config_address == destination,
                stranger && was == Some(destination),
                good && was.is_some(),
                false,
                good && other,
                before[0].is_some_and(|wrong| !wrong.good)
                    && before[1].is_some_and(|first| first.good)
                    && good,
                self.beats == fewest
                    && before
                        .iter()
                        .all(|frame| frame.is_some_and(|frame| frame.beats == fewest)),
                data && before[0].is_some_and(|ack| ack.ack)
                    && before[1].is_some_and(|data| data.good && !data.ack),
                in_tail < self.lanes && self.next.keep >> in_tail != 0,
                frame.empty_tail && length > 0,
                payload(0),
                payload(1),
                payload(mtu - 1),
                payload(mtu),
                flip.is_some() && good,
                flip.is_some_and(|byte| data_like && byte >= HEADERS && byte < length - 4),
                flip.is_some_and(|byte| byte >= length - 4),
                frame.kind == Kind::Random,
                length == 0,
                length == 1,
            ],
        );
        if (1..=BEATS).contains(&self.beats) {
            bins.hit(numbered.beats + self.beats - 1, true);
        }
        if let Some(number) = OPCODES.iter().position(|&known| Some(known) == opcode) {
            bins.hit(numbered.opcode + number, good);
        }
        if data {
            bins.hit(numbered.tail + in_tail as usize, true);
        }
        match frame.kind {
            Kind::One(cause) => {
                let number = CAUSES.iter().position(|&(known, ..)| known == cause).unwrap_or(0);
                let as_meant = cause != Cause::NoAddress || address == 0;
                bins.hit(numbered.cause + number, verdict == CAUSES[number].1 && as_meant);
            }
            Kind::Two(first, second) => {
                let reason = |cause| {
                    CAUSES
                        .iter()
                        .find(|&&(known, ..)| known == cause)
                        .map(|entry| entry.1)
                };
                let two = reason(first) != reason(second)
                    && ![first, second]
                        .iter()
                        .any(|&cause| reason(cause) == Some(drop::NONE));
                let meant = reason(first).min(reason(second)) == Some(verdict);
                if verdict < drop::ICRC {
                    bins.hit(numbered.first + usize::from(verdict), two && meant);
                }
            }
            Kind::Flip(bit) if data_like && bit / 8 < HEADERS => bins.hit(numbered.flip + bit / 8, true),
            Kind::Cut { bytes, corrected } => {
                let first = if corrected {
                    numbered.corrected
                } else {
                    numbered.cut
                };
                bins.hit(first + bytes, length == bytes);
            }
            _ => {}
        }
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let valid = [
            outputs.m_axis_payload_tvalid,
            outputs.m_axis_data_tvalid,
            outputs.m_axis_ack_tvalid,
        ];
        let ready = [
            inputs.m_axis_payload_tready,
            inputs.m_axis_data_tready,
            inputs.m_axis_ack_tready,
        ];
        let stands = !outputs.s_axis_rx_tready && !inputs.rst;
        let held = |output: usize| valid[output] && !ready[output] && !inputs.rst;
        let taken = |output: usize| valid[output] && ready[output] && !inputs.rst;
        let alone = |output: usize| held(output) && valid.iter().filter(|&&valid| valid).count() == 1;
        let last = taken(0) && outputs.m_axis_payload_tlast;
        self.bins.hit_each(
            Bin::Waits as usize,
            [
                inputs.s_axis_rx_tvalid && stands,
                stands && alone(0),
                stands && alone(1),
                stands && alone(2),
                held(0) && (taken(1) || taken(2)),
                held(1) && taken(0),
                held(2) && taken(0),
                outputs.dropped && stands,
                outputs.dropped && self.dropped,
                held(1) && outputs.s_axis_rx_tready,
                held(2) && outputs.s_axis_rx_tready,
                outputs.s_axis_rx_tready && !inputs.s_axis_rx_tvalid && self.given > 0,
                taken(1) && outputs.m_axis_data_marked,
                taken(1) && !outputs.m_axis_data_marked,
                last && outputs.m_axis_payload_keep,
                last && !outputs.m_axis_payload_keep,
                inputs.rst && self.given > 0,
                inputs.rst && valid.contains(&true),
            ],
        );
        self.dropped = outputs.dropped;
        // Each frame has the one result that the codec gives it.
        if outputs.dropped {
            self.bins
                .hit(self.numbered.dropped + usize::from(outputs.drop_reason), true);
            let expected = self.expected[0].pop_front();
            debug_assert_eq!(expected, Some(outputs.drop_reason));
        }
        if taken(1) {
            let expected = self.expected[1].pop_front();
            debug_assert_eq!(expected, Some(outputs.m_axis_data_opcode));
        }
        if taken(2) {
            let expected = self.expected[2].pop_front();
            debug_assert_eq!(expected, Some(outputs.m_axis_ack_opcode));
        }
    }
}

/// The turns in one of which a cause comes: the longer its frames, the fewer.
fn rarity(cause: Cause) -> usize {
    match cause {
        Cause::LongAndTrue => 12,
        Cause::FarTooLong => 6,
        Cause::TooLong | Cause::OneTooLong | Cause::PayloadLong => 3,
        _ => 1,
    }
}
