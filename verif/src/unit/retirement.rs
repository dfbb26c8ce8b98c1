//! Stimulus of `retirement`: acknowledgements and refusals of a few hot paths, a scoreboard that says what each acknowledges, and tables that answer in order and after a while.
//!
//! What an acknowledgement does to its path is drawn when it is made, from the path's base and the PSNs beyond it that are acknowledged, as `sack_tx` would have them: the walk is never longer
//! than `sack_bits`. Only the sum of both kinds of lost PSNs is now and then more than `sack_tx` can give, since the contract says what happens then. A path starts anew only while nothing of it is
//! under way. The lengths of the unit's queues are kept here too, by the contract's rules, for the bins.

use crate::{
    answers::Answers,
    bins::Bins,
    stimulus::{Flow, Offer, Random, Resets, Spray, Stimulus, low_bits, random},
};
use metaroce_model::{
    Params,
    port::{
        Vector, request_table,
        retirement::{Inputs, Outputs, event},
        sack_tx,
    },
    serial::Serial,
    unit::retirement::Retirement as Unit,
    wire::{NakCode, Opcode},
};
use rand::RngExt;
use std::collections::VecDeque;

/// Bins of what is accepted: an acknowledgement's sample, a refusal.
const ACCEPTED_BINS: [&str; 16] = [
    "ACK, held back too long to tell",
    "ACK, held back one tick less",
    "sample: no ticks",
    "sample: largest that fits",
    "sample: one more than fits",
    "sample: longest",
    "no sample: half the range of timestamps",
    "no sample: one tick before the present time",
    "timestamps wrap between echo and acknowledgement",
    "NAK: ReceiverNotReady",
    "NAK: BadKey",
    "NAK: OutOfBounds",
    "NAK: BadLength",
    "NAK: a code of no name",
    "NAK: a stream beyond those of a connection",
    "ACK in the clock in which its path starts anew",
];

/// Bins of an acknowledgement that the machine takes.
const TAKEN_BINS: [&str; 31] = [
    "STALE",
    "INVALID",
    "nothing changes",
    "only packets lost",
    "only packets acknowledged",
    "packets acknowledged and lost",
    "acknowledged, but the base stays",
    "the base moves over what was acknowledged before: nothing is acknowledged",
    "the base moves by one",
    "the base moves by two",
    "the base moves by all that can be outstanding",
    "the walk spans the wrap of the PSN",
    "lost for the first time and lost again together",
    "lost: the most that fits",
    "lost: more than fits",
    "sample of an acknowledgement of nothing, but packets are lost",
    "sample of an acknowledgement of packets",
    "no sample, packets are acknowledged",
    "marked: none",
    "marked: fewer than acknowledged",
    "marked: as many as acknowledged",
    "marked: one more than acknowledged",
    "marked: count wraps",
    "marked: count went back",
    "of the path that it took before",
    "of another path than it took before",
    "of the path that it took before, which was in vain",
    "of the path that it has just started anew",
    "in the clock after the one before was STALE or INVALID",
    "in the clock after the walk before",
    "the first one after reset, of a path that never started",
];

/// Bins of a clock.
const CLOCK_BINS: [&str; 41] = [
    "ACK or NAK offered during the clear after reset",
    "ACK or NAK waits for jobs alone",
    "ACK or NAK waits for sack alone",
    "ACK or NAK waits for error alone",
    "ACK or NAK held until it is accepted",
    "sack held back",
    "path held back",
    "packet held back",
    "read held back",
    "count held back",
    "error held back",
    "path starts anew while the machine is at work",
    "path starts anew before an acknowledgement that waits",
    "path to start anew waits during the clear after reset",
    "paths to start anew wait with every place full",
    "two paths start anew in clocks together",
    "acknowledgement waits before path, which is full",
    "acknowledgement that changes nothing waits before path, which is full",
    "walk waits for packet alone",
    "walk waits for walking alone",
    "walk goes on in the clock after a wait",
    "a packet asked for and one counted at once",
    "most packets wait to be read",
    "read waits while its operation is full",
    "most packets wait to be counted",
    "packet waits while count is full",
    "packet whose message was released waits while count is full",
    "packet whose message was released",
    "packet counted",
    "packet counted in the clock after the one before was taken",
    "packet counted in the clock after one whose message was released",
    "most acknowledgements wait for the machine",
    "most acknowledgements wait for sack_tx",
    "most packets wait for packet_table",
    "most packets wait for request_table",
    "admitted and taken at once",
    "all three tables answer at once",
    "event of a NAK",
    "events in two clocks together",
    "event of a NAK goes before STALE",
    "event of a NAK goes before INVALID",
];

/// Bins of a clock with reset.
const RESET_BINS: [&str; 10] = [
    "reset during the clear after reset",
    "reset while a path's word is read",
    "reset while an operation for path_table is offered",
    "reset during a walk",
    "reset while most acknowledgements are under way",
    "reset while most packets are under way",
    "reset while paths wait to start anew",
    "reset while sack_tx owes an answer",
    "reset while packet_table owes an answer",
    "reset while request_table owes an answer",
];

const TAKEN: usize = ACCEPTED_BINS.len();
const CLOCK: usize = TAKEN + TAKEN_BINS.len();
const RESET: usize = CLOCK + CLOCK_BINS.len();

/// Drives the unit.
pub struct Retirement {
    random: Random,
    resets: Resets,
    ack: Offer,
    init: Offer,
    sacked: Answers,
    packets: Answers,
    reads: Answers,
    /// Back-pressure of sack, path, packet, read, count, error.
    ready: [Flow; 6],
    widths: Widths,
    spray: Spray,
    mixture: Mixture,
    /// Clocks left of the phase.
    left: u32,
    now: u32,
    paths: Box<[Path]>,
    /// What is offered next at `ack` and at `init`, and whether it is an acknowledgement.
    next: Inputs,
    next_fate: Option<Fate>,
    /// Accepted acknowledgements of which `sack_tx` has yet to tell.
    to_answer: VecDeque<Fate>,
    /// Operations taken whose answers are yet to come: paths, and streams with messages.
    to_packet: VecDeque<u16>,
    to_read: VecDeque<(u16, u16)>,
    unit: State,
    last: Last,
    bins: Bins,
}

/// Widths of fields, and what they number.
#[derive(Clone, Copy, Debug)]
struct Widths {
    connection: u32,
    path: u32,
    stream: u32,
    psn: u32,
    timestamp: u32,
    rtt: u32,
    count: u32,
    slot: u32,
    packet: u32,
    payload: u32,
    streams: u16,
    mtu: u16,
    sack_bits: u32,
    jobs: usize,
}

/// The scoreboard of a path, once all accepted acknowledgements are dealt with.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    base: u32,
    /// PSNs beyond the base that are acknowledged.
    selective: u32,
    /// The marked packets that the last good acknowledgement told of.
    marked: u16,
    /// Acknowledgements that the machine has not taken.
    under_way: u32,
    /// It was started since the last reset.
    started: bool,
}

/// What `sack_tx` will make of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    path: u16,
    status: u8,
    /// The path's base before and after.
    from: u32,
    base: u32,
    acknowledged: u32,
    holes: u32,
    lost_again: u32,
    /// The receiver's count less what is kept, and whether it wrapped on the way.
    marked: u16,
    wraps: bool,
    sample: bool,
    /// The path was started since the last reset.
    started: bool,
}

impl Fate {
    fn lost(self) -> u32 {
        self.holes + self.lost_again
    }

    fn is_done(self) -> bool {
        self.status == sack_tx::status::DONE
    }
}

/// What the unit's queues hold, and its machine.
#[derive(Clone, Debug, Default)]
struct State {
    /// Clocks left of the clear.
    clearing: u32,
    init: VecDeque<u16>,
    sacked: VecDeque<Fate>,
    /// Whether the message is still there.
    read: VecDeque<bool>,
    jobs: usize,
    walking: usize,
    packet: usize,
    sack: usize,
    path: usize,
    packet_op: usize,
    read_op: usize,
    count: usize,
    error: usize,
    machine: Machine,
    /// Decided: an acknowledgement is accepted, a step is walked, a packet is counted.
    ready: bool,
    walks: bool,
    counts: bool,
}

impl State {
    /// The unit's handshakes are those of these queues.
    fn shows(&self, outputs: &Outputs) -> bool {
        outputs.s_axis_ack_tready == self.ready
            && outputs.s_axis_init_tready == (self.init.len() < 2)
            && outputs.m_axis_sack_tvalid == (self.sack > 0)
            && outputs.m_axis_path_tvalid == (self.path > 0)
            && outputs.m_axis_packet_tvalid == (self.packet_op > 0)
            && outputs.m_axis_read_tvalid == (self.read_op > 0)
            && outputs.m_axis_count_tvalid == (self.count > 0)
            && outputs.m_axis_error_tvalid == (self.error > 0)
    }
}

#[derive(Clone, Copy, Debug, Default)]
enum Machine {
    #[default]
    Idle,
    /// Clocks left.
    Read(u32, Fate),
    Apply(Fate),
    /// Packets left.
    Walk(u32),
}

/// What happened before.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    event: bool,
    /// In the clock before, `count` offered a packet, and one whose message was released left.
    counted: bool,
    released: bool,
    walk_waited: bool,
    /// In the clock before: a path was started anew, an acknowledgement was in vain, a walk ended.
    started: Option<u16>,
    in_vain: bool,
    walk_ended: bool,
    /// The acknowledgement that the machine took last.
    taken: Option<Fate>,
}

/// Chances in 16ths in a phase.
#[derive(Clone, Copy, Debug)]
struct Mixture {
    nak: u32,
    /// NAKs of code ReceiverNotReady.
    not_ready: u32,
    /// STALE or INVALID.
    in_vain: u32,
    /// The base stays.
    stays: u32,
    lost: u32,
    /// The base moves by this at most, most of the time.
    step: u32,
}

const MIXTURES: [Mixture; 6] = [
    // A path without loss.
    Mixture {
        nak: 0,
        not_ready: 8,
        in_vain: 0,
        stays: 1,
        lost: 0,
        step: 3,
    },
    // Losses.
    Mixture {
        nak: 1,
        not_ready: 8,
        in_vain: 1,
        stays: 8,
        lost: 8,
        step: 8,
    },
    // Long walks.
    Mixture {
        nak: 1,
        not_ready: 4,
        in_vain: 1,
        stays: 0,
        lost: 2,
        step: u32::MAX,
    },
    // Refusals.
    Mixture {
        nak: 12,
        not_ready: 2,
        in_vain: 4,
        stays: 4,
        lost: 4,
        step: 2,
    },
    // Events.
    Mixture {
        nak: 8,
        not_ready: 14,
        in_vain: 12,
        stays: 8,
        lost: 4,
        step: 2,
    },
    // Acknowledgements of little.
    Mixture {
        nak: 0,
        not_ready: 8,
        in_vain: 2,
        stays: 14,
        lost: 2,
        step: 1,
    },
];

impl Stimulus<Unit> for Retirement {
    fn new(params: &Params, seed: u64) -> Self {
        let total = params.total_paths();
        let names = [&ACCEPTED_BINS[..], &TAKEN_BINS, &CLOCK_BINS, &RESET_BINS].concat();
        Self {
            random: random(seed),
            resets: Resets::with_clear((4 * total).max(2000), total),
            ack: Offer::new(400),
            init: Offer::new(100),
            sacked: Answers::new(400),
            packets: Answers::new(400),
            reads: Answers::new(400),
            ready: std::array::from_fn(|_| Flow::new(400)),
            widths: Widths {
                connection: params.connection_bits(),
                path: params.path_bits(),
                stream: params.stream_bits(),
                psn: params.psn_bits,
                timestamp: params.timestamp_bits,
                rtt: params.rtt_bits,
                count: params.sack_count_bits(),
                slot: params.message_slot_bits(),
                packet: params.packet_bits(),
                payload: params.payload_bits(),
                streams: params.streams as u16,
                mtu: params.mtu_bytes as u16,
                sack_bits: params.sack_bits,
                jobs: params.jobs() as usize,
            },
            spray: Spray::new(total),
            mixture: MIXTURES[0],
            left: 0,
            now: 0,
            paths: vec![Path::default(); total as usize].into(),
            next: Inputs::default(),
            next_fate: None,
            to_answer: VecDeque::new(),
            to_packet: VecDeque::new(),
            to_read: VecDeque::new(),
            unit: State::default(),
            last: Last::default(),
            bins: Bins::new(names),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.left == 0 {
            self.left = self.random.random_range(1..1000);
            self.mixture = MIXTURES[self.random.random_range(0..MIXTURES.len())];
            self.spray.change(&mut self.random, 4);
        }
        self.left -= 1;
        self.now = self.now.wrapping_add(1) & low_bits(self.widths.timestamp) as u32;
        let was_held = self.ack.held();
        let mut inputs = self.garbage();
        inputs.rst = self.resets.next(&mut self.random);
        inputs.now = self.now;
        self.offer_init(&mut inputs, outputs);
        let fate = self.offer_ack(&mut inputs, outputs);
        self.answer(&mut inputs);
        let random = &mut self.random;
        let [sack, path, packet, read, count, error] = self.ready.each_mut().map(|flow| flow.next(random));
        inputs.m_axis_sack_tready = sack;
        inputs.m_axis_path_tready = path;
        inputs.m_axis_packet_tready = packet;
        inputs.m_axis_read_tready = read;
        inputs.m_axis_count_tready = count;
        inputs.m_axis_error_tready = error;
        if inputs.rst {
            self.count_reset();
            self.reset();
        } else {
            debug_assert!(
                self.unit.shows(outputs),
                "the queues kept here are not the unit's"
            );
            self.count_clock(&inputs, outputs, was_held);
            self.clock(&inputs, outputs, fate);
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Retirement {
    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let mut words: [u64; 8] = std::array::from_fn(|_| self.random.random());
        let vector = [words[1], words[2], words[3], words[4]];
        let mut bits = |word: usize, width: u32| {
            let value = words[word] & low_bits(width);
            words[word] >>= width.min(63);
            value
        };
        let widths = self.widths;
        let path_index = widths.connection + widths.path;
        let sack_bits = widths.sack_bits;
        Inputs {
            s_axis_ack_opcode: bits(0, 8) as u8,
            s_axis_ack_connection: bits(0, widths.connection) as u16,
            s_axis_ack_path: bits(0, widths.path) as u8,
            s_axis_ack_psn: bits(0, widths.psn) as u32,
            s_axis_ack_vector: Vector::new(std::array::from_fn(|limb| {
                vector[limb] & low_bits(sack_bits.saturating_sub(64 * limb as u32).min(64))
            })),
            s_axis_ack_echo: bits(5, widths.timestamp) as u32,
            s_axis_ack_hold: bits(5, 16) as u16,
            s_axis_ack_marked: bits(5, 16) as u16,
            s_axis_ack_stream: bits(6, 16) as u16,
            s_axis_ack_message: bits(6, 24) as u32,
            s_axis_ack_code: bits(6, 8) as u8,
            s_axis_init_path: bits(6, path_index) as u16,
            s_axis_init_psn: bits(1, widths.psn) as u32,
            sacked_status: bits(1, 2) as u8,
            sacked_psn: bits(1, widths.psn) as u32,
            sacked_acknowledged: bits(1, widths.count) as u16,
            sacked_holes: bits(2, widths.count) as u16,
            sacked_lost_again: bits(2, widths.count) as u16,
            packet_path: bits(2, path_index) as u16,
            packet_stream: bits(2, widths.stream) as u8,
            packet_message: bits(2, widths.slot) as u16,
            packet_packet: bits(3, widths.packet) as u32,
            read_status: bits(3, 2) as u8,
            read_stream: bits(3, widths.connection + widths.stream) as u16,
            read_bytes: bits(7, widths.payload) as u16,
            read_message: bits(7, 24) as u32,
            read_message_length: bits(4, 32) as u32,
            ..Inputs::default()
        }
    }

    /// A path of which nothing is under way may start anew.
    #[inline]
    fn offer_init(&mut self, inputs: &mut Inputs, outputs: &Outputs) {
        let accepts = outputs.s_axis_init_tready && !inputs.rst;
        let was_held = self.init.held();
        let path = if self.random.random::<u32>() >> 29 == 0 {
            inputs.s_axis_init_path
        } else {
            self.spray.next(inputs.s_axis_init_path)
        };
        let offered_ack = self.next_fate.filter(|_| self.ack.held());
        let at_rest = self.paths[usize::from(path)].under_way == 0
            && offered_ack.is_none_or(|fate| fate.path != path)
            && self.random.random::<u32>() >> 28 == 0;
        let offered = self.init.next(&mut self.random, accepts, was_held || at_rest);
        inputs.s_axis_init_tvalid = offered.valid;
        if !offered.real {
            return;
        }
        if !was_held {
            self.next.s_axis_init_path = path;
            // Now and then just below the wrap.
            self.next.s_axis_init_psn = match self.random.random_range(0..4) {
                0 => inputs.s_axis_init_psn,
                _ => low_bits(self.widths.psn) as u32 - self.random.random_range(0..8),
            };
        }
        inputs.s_axis_init_path = self.next.s_axis_init_path;
        inputs.s_axis_init_psn = self.next.s_axis_init_psn;
        if accepts {
            self.paths[usize::from(inputs.s_axis_init_path)] = Path {
                base: inputs.s_axis_init_psn,
                started: true,
                ..Path::default()
            };
        }
    }

    /// What is accepted if it is an acknowledgement.
    #[inline]
    fn offer_ack(&mut self, inputs: &mut Inputs, outputs: &Outputs) -> Option<Fate> {
        let accepts = outputs.s_axis_ack_tready && !inputs.rst;
        let was_held = self.ack.held();
        let offered = self.ack.next(&mut self.random, accepts, true);
        inputs.s_axis_ack_tvalid = offered.valid;
        if !offered.real {
            return None;
        }
        if !was_held {
            self.make(inputs);
        }
        let next = &self.next;
        inputs.s_axis_ack_opcode = next.s_axis_ack_opcode;
        inputs.s_axis_ack_connection = next.s_axis_ack_connection;
        inputs.s_axis_ack_path = next.s_axis_ack_path;
        inputs.s_axis_ack_psn = next.s_axis_ack_psn;
        inputs.s_axis_ack_vector = next.s_axis_ack_vector;
        inputs.s_axis_ack_echo = next.s_axis_ack_echo;
        inputs.s_axis_ack_hold = next.s_axis_ack_hold;
        inputs.s_axis_ack_marked = next.s_axis_ack_marked;
        inputs.s_axis_ack_stream = next.s_axis_ack_stream;
        inputs.s_axis_ack_message = next.s_axis_ack_message;
        inputs.s_axis_ack_code = next.s_axis_ack_code;
        if accepts { self.accept(inputs) } else { None }
    }

    /// Makes the next acknowledgement or refusal; what is not said stays `garbage`.
    fn make(&mut self, garbage: &Inputs) {
        let mixture = self.mixture;
        let (init, widths) = (self.next, self.widths);
        // Now and then the path that was the last to start anew.
        let path = match self.random.random_range(0..8) {
            0 => init.s_axis_init_path,
            _ => self.spray.next(self.random.random()),
        };
        // Not while its path is offered to start anew: of the two, that goes first.
        let waits = self.init.held() && init.s_axis_init_path == path;
        self.next = Inputs {
            s_axis_init_path: init.s_axis_init_path,
            s_axis_init_psn: init.s_axis_init_psn,
            ..*garbage
        };
        if waits || self.chance(mixture.nak) {
            self.next_fate = None;
            self.next.s_axis_ack_opcode = Opcode::Nak.value();
            let known = NakCode::ALL[self.random.random_range(0..NakCode::ALL.len())];
            if self.chance(mixture.not_ready) {
                self.next.s_axis_ack_code = NakCode::ReceiverNotReady.value();
            } else if self.chance(12) {
                self.next.s_axis_ack_code = known.value();
            }
            if self.chance(12) {
                self.next.s_axis_ack_stream &= widths.streams - 1;
            }
            return;
        }
        let fate = self.fate(path, garbage);
        self.next_fate = Some(fate);
        self.next.s_axis_ack_opcode = Opcode::Ack.value();
        self.next.s_axis_ack_connection = path >> widths.path;
        self.next.s_axis_ack_path = (path & low_bits(widths.path) as u16) as u8;
        self.next.s_axis_ack_psn = fate.base;
        self.next.s_axis_ack_marked = self.paths[usize::from(path)].marked.wrapping_add(fate.marked);
        let half = 1 << (widths.timestamp - 1);
        let random = &mut self.random;
        let hold = match random.random_range(0..8) {
            0 => u16::MAX,
            1 => u16::MAX - 1,
            2 => garbage.s_axis_ack_hold,
            _ => garbage.s_axis_ack_hold & 0xff,
        };
        let rtt: u32 = match random.random_range(0..16) {
            0 => 0,
            1 => (1 << widths.rtt) - 1,
            2 => 1 << widths.rtt,
            3 => half - 1,
            4 => half,
            5 => u32::MAX,
            6 => garbage.s_axis_ack_echo,
            _ => garbage.s_axis_ack_echo & low_bits(widths.rtt) as u32,
        };
        let echo = self.now.wrapping_sub(rtt).wrapping_sub(hold.into());
        self.next.s_axis_ack_hold = hold;
        self.next.s_axis_ack_echo = echo & low_bits(widths.timestamp) as u32;
    }

    #[inline]
    fn chance(&mut self, sixteenths: u32) -> bool {
        self.random.random::<u32>() >> 28 < sixteenths
    }

    /// What `sack_tx` will make of an acknowledgement of a path.
    fn fate(&mut self, path: u16, garbage: &Inputs) -> Fate {
        let (mixture, widths) = (self.mixture, self.widths);
        let Path {
            base,
            selective,
            started,
            ..
        } = self.paths[usize::from(path)];
        let psns = Serial::new(widths.psn);
        let most = widths.sack_bits;
        let mut fate = Fate {
            path,
            from: base,
            base,
            started,
            ..Fate::default()
        };
        if self.chance(mixture.in_vain) {
            fate.marked = garbage.s_axis_ack_marked;
            let far = self.random.random_range(1..psns.half() - most);
            if self.random.random() {
                fate.status = sack_tx::status::STALE;
                fate.base = psns.add(base, far.wrapping_neg());
            } else {
                fate.status = sack_tx::status::INVALID;
                fate.base = psns.add(base, most + far);
            }
            return fate;
        }
        let stays = self.chance(mixture.stays);
        let random = &mut self.random;
        let step = match random.random_range(0..32) {
            _ if stays => 0,
            0 => most,
            1 => random.random_range(1..=most),
            _ => random.random_range(1..=mixture.step.min(most)),
        };
        // Of the PSNs that leave, and of those that stay, some were acknowledged before.
        let passed = match random.random_range(0..4) {
            0 => selective.min(step),
            _ => random.random_range((selective + step).saturating_sub(most)..=selective.min(step)),
        };
        let kept = selective - passed;
        let room = (most - step - kept).saturating_sub(1);
        let new = match random.random_range(0..8) {
            0 => random.random_range(0..=room),
            1..=3 => room.min(1),
            _ => 0,
        };
        fate.base = psns.add(base, step);
        fate.acknowledged = step - passed + new;
        let missing = most - step - kept - new;
        if self.chance(mixture.lost) {
            let random = &mut self.random;
            let lost = match random.random_range(0..4) {
                0 => random.random_range(0..=missing),
                _ => missing.min(1),
            };
            fate.holes = random.random_range(0..=lost);
            fate.lost_again = lost - fate.holes;
            // More than can be outstanding.
            if random.random_range(0..8) == 0 {
                let largest = low_bits(widths.count) as u32;
                fate.holes = random.random_range(0..=largest);
                fate.lost_again =
                    [largest - fate.holes, garbage.sacked_lost_again.into()][random.random_range(0..2)];
            }
        }
        let acknowledged = fate.acknowledged as u16;
        fate.marked = match self.random.random_range(0..16) {
            0..=4 => 0,
            5..=8 => self.random.random_range(0..=acknowledged),
            9 | 10 => acknowledged,
            11 | 12 => acknowledged + 1,
            13 => self.random.random_range(1..8u16).wrapping_neg(),
            _ => garbage.s_axis_ack_marked,
        };
        fate
    }

    /// The acknowledgement, if it is one, and its path after it.
    #[inline]
    fn accept(&mut self, inputs: &Inputs) -> Option<Fate> {
        let widths = self.widths;
        let code = inputs.s_axis_ack_code;
        let nak = self.next_fate.is_none();
        let is = |named: NakCode| nak && code == named.value();
        let timestamps = Serial::new(widths.timestamp);
        let hold = inputs.s_axis_ack_hold;
        let since = timestamps.distance(inputs.s_axis_ack_echo, inputs.now);
        let rtt = timestamps.distance(hold.into(), since);
        let timed = !nak && hold != u16::MAX;
        let sample = timed && rtt < timestamps.half();
        let starts = inputs.s_axis_init_tvalid && self.unit.init.len() < 2;
        self.bins.hit_each(
            0,
            [
                !nak && hold == u16::MAX,
                !nak && hold == u16::MAX - 1,
                sample && rtt == 0,
                sample && rtt == (1 << widths.rtt) - 1,
                sample && rtt == 1 << widths.rtt,
                sample && rtt == timestamps.half() - 1,
                timed && rtt == timestamps.half(),
                timed && rtt == timestamps.mask(),
                sample && inputs.now < inputs.s_axis_ack_echo,
                is(NakCode::ReceiverNotReady),
                is(NakCode::BadKey),
                is(NakCode::OutOfBounds),
                is(NakCode::BadLength),
                nak && NakCode::ALL.iter().all(|known| known.value() != code),
                nak && inputs.s_axis_ack_stream >= widths.streams,
                self.next_fate
                    .is_some_and(|fate| starts && fate.path == inputs.s_axis_init_path),
            ],
        );
        let mut fate = self.next_fate?;
        fate.sample = sample;
        let path = &mut self.paths[usize::from(fate.path)];
        fate.wraps = fate.marked < 1 << 15 && inputs.s_axis_ack_marked < path.marked;
        path.under_way += 1;
        if fate.is_done() {
            let step = Serial::new(widths.psn).distance(fate.from, fate.base);
            // Those acknowledged now and before, less those that left.
            path.selective = path.selective + fate.acknowledged - step;
            path.base = fate.base;
            path.marked = inputs.s_axis_ack_marked;
        }
        Some(fate)
    }

    /// Answers of the tables in this clock.
    #[inline]
    fn answer(&mut self, inputs: &mut Inputs) {
        let random = &mut self.random;
        inputs.sacked_valid = self.sacked.next(random);
        if inputs.sacked_valid
            && let Some(fate) = self.to_answer.front()
        {
            inputs.sacked_status = fate.status;
            if fate.is_done() {
                inputs.sacked_psn = fate.base;
                inputs.sacked_acknowledged = fate.acknowledged as u16;
                inputs.sacked_holes = fate.holes as u16;
                inputs.sacked_lost_again = fate.lost_again as u16;
            }
        }
        inputs.packet_valid = self.packets.next(random);
        if inputs.packet_valid
            && let Some(&path) = self.to_packet.front()
        {
            inputs.packet_path = path;
        }
        inputs.read_valid = self.reads.next(random);
        if inputs.read_valid
            && let Some(&(stream, message)) = self.to_read.front()
        {
            inputs.read_status = if random.random::<u32>() >> 28 == 0 {
                request_table::status::NONE
            } else {
                request_table::status::DONE
            };
            inputs.read_stream = stream;
            inputs.read_message =
                inputs.read_message & !(low_bits(self.widths.slot) as u32) | u32::from(message);
            inputs.read_bytes = inputs.read_bytes.min(self.widths.mtu);
        }
    }

    fn reset(&mut self) {
        self.ack.clear();
        self.init.clear();
        self.sacked.reset();
        self.packets.reset();
        self.reads.reset();
        self.paths.fill(Path::default());
        self.to_answer.clear();
        self.to_packet.clear();
        self.to_read.clear();
        self.unit = State {
            clearing: self.paths.len() as u32,
            ..State::default()
        };
        self.last = Last::default();
        // Time goes on; now and then it is just below its wrap.
        if self.random.random() {
            self.now = low_bits(self.widths.timestamp) as u32 - self.random.random_range(0..2000);
        }
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs, fate: Option<Fate>) {
        let sacks = outputs.m_axis_sack_tvalid && inputs.m_axis_sack_tready;
        let packets = outputs.m_axis_packet_tvalid && inputs.m_axis_packet_tready;
        let reads = outputs.m_axis_read_tvalid && inputs.m_axis_read_tready;
        self.sacked.clock(sacks, inputs.sacked_valid);
        self.packets.clock(packets, inputs.packet_valid);
        self.reads.clock(reads, inputs.read_valid);

        let jobs = self.widths.jobs;
        let unit = &mut self.unit;
        let finds = unit.packet > 0 && unit.read_op < 2;
        let counts = unit.counts;
        unit.counts = !counts && !unit.read.is_empty() && unit.count == 0;
        let accepts = unit.ready && inputs.s_axis_ack_tvalid;
        let room = unit.jobs < jobs && unit.sack == 0 && unit.error == 0;
        unit.ready = unit.clearing == 0 && room && !accepts;
        let walks = std::mem::take(&mut unit.walks);
        let path_room = unit.path == 0;
        let may_walk = unit.packet_op < 2 && unit.walking < jobs;
        unit.sack -= usize::from(sacks);
        unit.path -= usize::from(outputs.m_axis_path_tvalid && inputs.m_axis_path_tready);
        unit.packet_op -= usize::from(packets);
        unit.read_op -= usize::from(reads);
        unit.count -= usize::from(outputs.m_axis_count_tvalid && inputs.m_axis_count_tready);
        unit.error -= usize::from(outputs.m_axis_error_tvalid && inputs.m_axis_error_tready);
        let mut last = Last {
            event: outputs.event_valid,
            counted: outputs.m_axis_count_tvalid,
            taken: self.last.taken,
            ..Last::default()
        };
        if counts {
            unit.walking -= 1;
            let done = unit.read.pop_front() == Some(true);
            unit.count += usize::from(done);
            last.released = !done;
        }
        if finds {
            unit.packet -= 1;
            unit.read_op += 1;
        }
        let clearing = unit.clearing > 0;
        unit.clearing = unit.clearing.saturating_sub(1);
        let mut taken = None;
        match unit.machine {
            Machine::Idle if clearing => {}
            Machine::Idle => {
                last.started = unit.init.pop_front();
                if last.started.is_none() {
                    taken = unit.sacked.pop_front();
                }
                if let Some(fate) = taken {
                    unit.jobs -= 1;
                    last.in_vain = !fate.is_done();
                    last.taken = taken;
                    if fate.is_done() {
                        unit.machine = Machine::Read(2, fate);
                    }
                }
            }
            Machine::Read(1, fate) => unit.machine = Machine::Apply(fate),
            Machine::Read(clocks, fate) => unit.machine = Machine::Read(clocks - 1, fate),
            Machine::Apply(fate) if path_room => {
                unit.path += usize::from(fate.acknowledged > 0 || fate.lost() > 0);
                unit.machine = Machine::Walk(Serial::new(self.widths.psn).distance(fate.from, fate.base));
            }
            Machine::Apply(_) => {}
            Machine::Walk(0) if walks => {
                unit.machine = Machine::Idle;
                last.walk_ended = true;
            }
            Machine::Walk(left) if walks => {
                unit.packet_op += 1;
                unit.walking += 1;
                unit.machine = Machine::Walk(left - 1);
            }
            Machine::Walk(left) => {
                unit.walks = left == 0 || may_walk;
                last.walk_waited = !unit.walks;
            }
        }
        if inputs.sacked_valid {
            unit.sacked.extend(self.to_answer.pop_front());
        }
        if inputs.packet_valid {
            unit.packet += 1;
            self.to_packet.pop_front();
        }
        if inputs.read_valid {
            unit.read
                .push_back(inputs.read_status == request_table::status::DONE);
            self.to_read.pop_front();
        }
        if inputs.s_axis_init_tvalid && outputs.s_axis_init_tready {
            unit.init.push_back(inputs.s_axis_init_path);
        }
        if let Some(fate) = fate {
            unit.sack += 1;
            unit.jobs += 1;
            self.to_answer.push_back(fate);
        } else if inputs.s_axis_ack_tvalid && outputs.s_axis_ack_tready {
            unit.error += usize::from(inputs.s_axis_ack_code != NakCode::ReceiverNotReady.value());
        }
        if packets {
            self.to_packet.push_back(outputs.m_axis_packet_path);
        }
        if reads {
            self.to_read
                .push_back((outputs.m_axis_read_stream, outputs.m_axis_read_message));
        }
        if let Some(fate) = taken {
            self.paths[usize::from(fate.path)].under_way -= 1;
            self.count_taken(fate);
        }
        self.last = last;
    }

    fn count_taken(&mut self, fate: Fate) {
        let psns = Serial::new(self.widths.psn);
        let largest = low_bits(self.widths.count) as u32;
        let step = psns.distance(fate.from, fate.base);
        let done = fate.is_done();
        let (acknowledged, lost, marked) = (fate.acknowledged, fate.lost(), u32::from(fate.marked));
        let acknowledges = done && acknowledged > 0;
        let before = self.last.taken;
        let again = before.is_some_and(|before| before.path == fate.path);
        self.bins.hit_each(
            TAKEN,
            [
                fate.status == sack_tx::status::STALE,
                fate.status == sack_tx::status::INVALID,
                done && acknowledged == 0 && lost == 0,
                done && acknowledged == 0 && lost > 0,
                acknowledges && lost == 0,
                acknowledges && lost > 0,
                acknowledges && step == 0,
                done && acknowledged == 0 && step > 0,
                done && step == 1,
                done && step == 2,
                done && step == self.widths.sack_bits,
                done && fate.base != 0 && fate.base < fate.from,
                done && fate.holes > 0 && fate.lost_again > 0,
                done && lost == largest,
                done && lost > largest,
                done && acknowledged == 0 && lost > 0 && fate.sample,
                acknowledges && fate.sample,
                acknowledges && !fate.sample,
                acknowledges && marked == 0,
                acknowledges && marked > 0 && marked < acknowledged,
                acknowledges && marked == acknowledged,
                acknowledges && marked == acknowledged + 1,
                acknowledges && fate.wraps && marked < acknowledged,
                acknowledges && marked >= 1 << 15,
                done && again,
                done && before.is_some() && !again,
                done && again && before.is_some_and(|before| !before.is_done()),
                done && self.last.started == Some(fate.path),
                done && self.last.in_vain,
                done && self.last.walk_ended,
                done && before.is_none() && !fate.started,
            ],
        );
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs, was_held: bool) {
        let unit = &self.unit;
        let jobs = self.widths.jobs;
        let idle = matches!(unit.machine, Machine::Idle);
        let waits = inputs.s_axis_ack_tvalid && !outputs.s_axis_ack_tready;
        let accepted = inputs.s_axis_ack_tvalid && outputs.s_axis_ack_tready;
        let full = [unit.jobs == jobs, unit.sack == 1, unit.error == 1];
        let runs = unit.clearing == 0;
        let starts = idle && runs && !unit.init.is_empty();
        let taken = if idle && runs && unit.init.is_empty() {
            unit.sacked.front().map(|fate| fate.status)
        } else {
            None
        };
        let stands = unit.path == 1;
        let apply = match unit.machine {
            Machine::Apply(fate) => Some(fate),
            _ => None,
        };
        let walks = matches!(unit.machine, Machine::Walk(1..));
        let (packet_full, walking_full) = (unit.packet_op == 2, unit.walking == jobs);
        let counts = !unit.read.is_empty() && unit.count == 0 && !unit.counts;
        let head = unit.read.front().copied();
        let nak_event = accepted
            && inputs.s_axis_ack_opcode == Opcode::Nak.value()
            && inputs.s_axis_ack_code == NakCode::ReceiverNotReady.value();
        self.bins.hit_each(
            CLOCK,
            [
                waits && !runs,
                waits && full == [true, false, false],
                waits && full == [false, true, false],
                waits && full == [false, false, true],
                was_held && accepted,
                outputs.m_axis_sack_tvalid && !inputs.m_axis_sack_tready,
                outputs.m_axis_path_tvalid && !inputs.m_axis_path_tready,
                outputs.m_axis_packet_tvalid && !inputs.m_axis_packet_tready,
                outputs.m_axis_read_tvalid && !inputs.m_axis_read_tready,
                outputs.m_axis_count_tvalid && !inputs.m_axis_count_tready,
                outputs.m_axis_error_tvalid && !inputs.m_axis_error_tready,
                !idle && !unit.init.is_empty(),
                starts && !unit.sacked.is_empty(),
                !runs && !unit.init.is_empty(),
                inputs.s_axis_init_tvalid && !outputs.s_axis_init_tready,
                starts && self.last.started.is_some(),
                apply.is_some() && stands,
                apply.is_some_and(|fate| stands && fate.acknowledged == 0 && fate.lost() == 0),
                walks && packet_full && !walking_full,
                walks && walking_full && !packet_full,
                walks && !walking_full && !packet_full && self.last.walk_waited,
                walks && !walking_full && !packet_full && counts,
                // Two more wait in `read_op`.
                unit.packet == jobs - 2,
                unit.packet > 0 && unit.read_op == 2,
                unit.read.len() == jobs,
                head == Some(true) && unit.count == 1,
                head == Some(false) && unit.count == 1,
                head == Some(false) && counts,
                head == Some(true) && counts,
                head == Some(true) && counts && self.last.counted,
                head == Some(true) && counts && self.last.released,
                unit.sacked.len() == jobs,
                self.sacked.waiting() as usize == jobs,
                self.packets.waiting() as usize == jobs,
                self.reads.waiting() as usize == jobs,
                accepted && self.next_fate.is_some() && taken.is_some(),
                inputs.sacked_valid && inputs.packet_valid && inputs.read_valid,
                outputs.event_valid && outputs.event_code == event::NOT_READY,
                outputs.event_valid && self.last.event,
                nak_event && taken == Some(sack_tx::status::STALE),
                nak_event && taken == Some(sack_tx::status::INVALID),
            ],
        );
    }

    fn count_reset(&mut self) {
        let unit = &self.unit;
        self.bins.hit_each(
            RESET,
            [
                // A reset of several clocks does not count.
                (1..self.paths.len() as u32).contains(&unit.clearing),
                matches!(unit.machine, Machine::Read(..)),
                unit.path > 0,
                matches!(unit.machine, Machine::Walk(1..)),
                unit.jobs == self.widths.jobs,
                unit.walking == self.widths.jobs,
                !unit.init.is_empty(),
                self.sacked.waiting() > 0,
                self.packets.waiting() > 0,
                self.reads.waiting() > 0,
            ],
        );
    }
}
