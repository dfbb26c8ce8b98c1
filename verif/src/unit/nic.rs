//! Stimulus of `nic`: a second NIC, the model, at the other end of two lossy links, and a host on both ends.
//!
//! In phases the links lose, damage, mark, double and delay frames, hosts hesitate, receives come late, strangers send frames, and requests have keys that are refused.
//! What the phases are about comes in rounds, shuffled by the seed, so that nothing has to wait for luck.
//! Now and then both ends are reset, in whatever state they are. Whatever happens, the scoreboard must be right.

use crate::{
    bins::Bins,
    stimulus::{Random, Stimulus, random},
};
use metaroce_model::{
    Params,
    pair::{Device, Faults, Frame, IMMEDIATE, Message, Pace, Pair, Receive, Request, SEND, Setup, Start},
    port::{
        configuration::command,
        counters::{COUNTERS, LATENCY, index},
        nic::{Inputs, Outputs},
    },
    unit::{Unit as _, nic::Nic as Unit},
    wire::{
        Ack, Base, Body, Data, Nak, Opcode, Packet, Route, Target, icrc,
        table::{BASE, UDP},
    },
};
use rand::{RngExt, seq::SliceRandom};
use std::convert::Infallible;

/// Where the bytes of messages are, and where they go: across a multiple of 4 GiB.
const SOURCE: u64 = 0x1_0000_0000_0000;
const TARGET: u64 = 0x2_ffff_0000;
/// The region that may be written to, in both hosts.
const REGION_BYTES: u64 = 1 << 28;
const KEY: u32 = 0x0100_0003;
/// Connections that are used, at most: a large profile's take too long to set up.
const CONNECTIONS: u32 = 16;
/// Clocks between two resets, on average.
const RESET_CLOCKS: u64 = 60_000;
/// The longest outage, in clocks, and how long it goes on after a timer ran out.
const OUTAGE_CLOCKS: u64 = 40_000;
const OUTAGE_REST_CLOCKS: u64 = 2000;
/// Ticks before the first probe in a phase of silence, and clocks that it takes: more than until a timer runs out.
const SILENCE_PROBE: u32 = 150;
const SILENCE_CLOCKS: u64 = 10_000;
/// Longest message then.
const SILENCE_BYTES: u32 = 10_000;
/// Longest frame that strangers send again: with longer ones they would fill the link.
const SAMPLE_BYTES: usize = 512;
/// Messages that wait to be sent, in each direction.
const WAITING: u64 = 24;

/// What a phase is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Whatever the links and hosts do.
    Traffic,
    /// Many messages of one connection are posted at once: the scheduler gets more of it than it can do, so that results wait.
    Burst,
    /// Strangers send frames that must be dropped.
    Strangers,
    /// From a reset on nothing goes wrong, so that round-trip times are short and timers too, and an outage does not take long. One follows.
    Calm,
    /// Nothing gets through until some timers have run out.
    Outage,
    /// From a reset on the unit's connections are disabled, and much is posted at once. All paths' timers run out together (where no path had a round-trip time yet they are
    /// equal), and what is sent again ends inside the unit, faster than any link would let it: results of the tables wait for each other.
    Silence,
    /// Keys are refused, which stops connections, up to a reset.
    Refused,
    /// Strangers forge, up to a reset.
    Forging,
}

/// A round of phases.
const ROUND: [Phase; 10] = [
    Phase::Traffic,
    Phase::Traffic,
    Phase::Traffic,
    Phase::Burst,
    Phase::Strangers,
    Phase::Strangers,
    Phase::Calm,
    Phase::Silence,
    Phase::Refused,
    Phase::Forging,
];

/// Names of the counters, in their order; empty for numbers that have none.
const COUNTER_NAMES: [&str; COUNTERS] = [
    "parser dropped: bad",
    "parser dropped: truncated",
    "parser dropped: not IPv4",
    "parser dropped: IP header",
    "parser dropped: address",
    "parser dropped: port",
    "parser dropped: length",
    "parser dropped: version",
    "parser dropped: opcode",
    "parser dropped: size",
    "parser dropped: ICRC",
    "",
    "",
    "",
    "",
    "",
    "receiver: unknown connection",
    "receiver: malformed",
    "receiver: bad key",
    "receiver: out of bounds",
    "receiver: not posted",
    "receiver: too long",
    "receiver: gone",
    "receiver: duplicate",
    "receiver: out of window",
    "",
    "",
    "retirement: stale",
    "retirement: invalid",
    "retirement: receiver not ready",
    "received packet not counted",
    // An acknowledged packet that is not counted: cannot be, since packets of messages that are not there are not asked for.
    "",
    "work request refused",
    "receive refused",
    "timeout",
    "sent again",
    "probe",
];

/// Other bins.
const BINS: [&str; 16] = [
    "completion of a Write sent",
    "completion of a Write with immediate sent",
    "completion of a Send sent",
    "completion of a Send with immediate sent",
    "completion of a Write with immediate received",
    "completion of a Send received",
    "completion of a Send with immediate received",
    "completion of a message of no bytes",
    "completion of a message of several packets",
    "completion with an error",
    "frame held back",
    "completion held back",
    "fetch request held back",
    "write beat held back",
    "work request held back",
    "reset with work under way",
];

/// The NIC under test as the pair sees it.
#[derive(Debug, Default)]
struct Proxy {
    outputs: Outputs,
    inputs: Inputs,
}

impl Device for Proxy {
    type Error = Infallible;

    fn outputs(&mut self) -> Outputs {
        self.outputs
    }

    fn clock(&mut self, inputs: &Inputs) -> Result<(), Infallible> {
        self.inputs = *inputs;
        Ok(())
    }
}

/// Drives the unit.
pub struct Nic {
    params: Params,
    random: Random,
    pair: Pair<Proxy, Unit>,
    /// Messages posted since the last reset, and the next free byte of each end's memory.
    posted: u64,
    next: [u64; 2],
    /// The present phase.
    phase: Phase,
    /// The phases of the round that are to come.
    round: Vec<Phase>,
    until_phase: u64,
    until_reset: u64,
    /// Counters asked for last, the newest first.
    shown: [u8; LATENCY],
    /// Every counter as it was shown last.
    counters: [u32; COUNTERS],
    /// Frames of strangers of each 100,000 clocks.
    strangers: u32,
    /// Strangers forge: their frames' checksums are right, hosts post too much and configure anew what is in use. Until the next reset only memory is looked at.
    forging: bool,
    /// The stream that forged packets are mostly for.
    forged_stream: u16,
    /// A frame that went by, to be sent again changed.
    sample: Option<Frame>,
    bins: Bins,
}

impl Stimulus<Unit> for Nic {
    fn new(params: &Params, seed: u64) -> Self {
        let names = COUNTER_NAMES.iter().filter(|name| !name.is_empty()).chain(&BINS);
        let pair = Pair::new(params, Proxy::default(), Unit::new(params), Faults::NONE, seed);
        let mut stimulus = Self {
            params: params.clone(),
            random: random(seed),
            pair,
            posted: 0,
            next: [TARGET; 2],
            phase: Phase::Traffic,
            round: Vec::new(),
            until_phase: 0,
            until_reset: RESET_CLOCKS,
            shown: [0; LATENCY],
            counters: [0; COUNTERS],
            strangers: 0,
            forging: false,
            forged_stream: 0,
            sample: None,
            bins: Bins::new(names.copied()),
        };
        stimulus.begin();
        stimulus
    }

    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.until_reset == 0 {
            self.reset();
        }
        self.until_reset -= 1;
        if self.until_phase == 0 {
            self.change_phase();
        }
        self.until_phase -= 1;
        if self.pair.left.host.is_configured() && self.pair.right.host.is_configured() {
            self.post();
        }
        self.strange();
        let shown = self.shown[LATENCY - 1];
        self.shown.rotate_right(1);
        self.shown[0] = self.random.random_range(0..COUNTERS as u8);
        self.pair.left.host.constants.counter_index = self.shown[0];
        self.pair.left.nic.outputs = *outputs;
        let Ok(()) = self.pair.step();
        let inputs = self.pair.left.nic.inputs;
        self.count(shown, outputs, &inputs);
        let wrongs = self.pair.wrongs();
        assert!(wrongs.is_empty(), "clock {}: {wrongs:?}", self.pair.clock);
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

/// The first of [`BINS`] among all bins.
const BINS_FIRST: usize = {
    let (mut names, mut at) = (0, 0);
    while at < COUNTERS {
        if !COUNTER_NAMES[at].is_empty() {
            names += 1;
        }
        at += 1;
    }
    names
};

impl Nic {
    /// Streams that are used.
    fn streams(&self) -> u16 {
        (self.params.connections.min(CONNECTIONS) * self.params.streams) as u16
    }

    /// Both ends are reset.
    fn reset(&mut self) {
        self.bins.hit(BINS_FIRST + BINS.len() - 1, !self.pair.is_idle());
        self.pair.reset();
        self.begin();
    }

    /// Both ends are in reset: what they are told afterwards.
    fn begin(&mut self) {
        let params = &self.params;
        let wraps = self.random.random();
        let start = if wraps {
            Start {
                psn: (u32::MAX >> (32 - params.psn_bits)) - self.random.random_range(0..8),
                message: (1 << 24) - self.random.random_range(1..4),
                receive: (1 << 24) - self.random.random_range(1..4),
            }
        } else {
            Start::default()
        };
        self.pair.left.ahead = 0u32.wrapping_sub(self.random.random_range(0..20_000));
        self.pair.right.ahead = self.random.random();
        // A frame from before, sent again, would be taken for one of now.
        self.sample = None;
        self.pair.right.link.kept = Some(Vec::new());
        self.forging = false;
        self.pair.left.host.overruns = false;
        self.next = [TARGET; 2];
        self.posted = self.pair.scoreboard.completed;
        for (end, side) in [&mut self.pair.left.host, &mut self.pair.right.host]
            .into_iter()
            .enumerate()
        {
            side.memory.allow(TARGET..TARGET + REGION_BYTES);
            side.constants.config_probe = self.random.random_range(50..=200);
            side.constants.config_first_probe = self.random.random_range(500..=2000);
            side.command(Inputs {
                s_axis_command_command: command::REGION,
                s_axis_command_key: KEY,
                s_axis_command_address: TARGET,
                s_axis_command_mac: REGION_BYTES,
                s_axis_command_domain: 1,
                s_axis_command_flag: true,
                ..Default::default()
            });
            let setup = Setup {
                start,
                connections: CONNECTIONS,
                window: if self.phase == Phase::Silence {
                    40
                } else {
                    self.random.random_range(1..40)
                },
                rate: self.random.random_range(11..16) << 8 | self.random.random_range(128..256),
                ..Setup::new(end as u8)
            };
            setup.configure(params, side);
        }
        self.pair.scoreboard.start(start.message);
        self.until_reset = self.random.random_range(1..2 * RESET_CLOCKS);
    }

    fn change_phase(&mut self) {
        if self.phase == Phase::Silence {
            self.connect(true);
        }
        if self.round.is_empty() {
            self.round.extend(ROUND);
            self.round.shuffle(&mut self.random);
        }
        self.phase = if self.phase == Phase::Calm {
            Phase::Outage
        } else {
            self.round.pop().unwrap_or(Phase::Traffic)
        };
        if matches!(self.phase, Phase::Calm | Phase::Silence) {
            self.reset();
        }
        if self.phase == Phase::Silence {
            self.pair.left.host.constants.config_first_probe = SILENCE_PROBE;
            self.connect(false);
        }
        let random = &mut self.random;
        let mut of_10000 = |most: u32| match random.random_range(0..4) {
            0 => random.random_range(0..=most),
            1 => most / 10,
            _ => 0,
        };
        let faults = Faults {
            loss: of_10000(1000),
            damage: of_10000(1000),
            mark: of_10000(5000),
            double: of_10000(500),
            ..Faults::NONE
        };
        let faults = Faults {
            delay: random.random_range(10..200),
            skew: random.random_range(0..20),
            jitter: if random.random() {
                0
            } else {
                random.random_range(1..100)
            },
            ..faults
        };
        let faults = match self.phase {
            Phase::Calm => Faults {
                delay: 10,
                skew: 0,
                ..Faults::NONE
            },
            Phase::Outage => Faults {
                loss: 10_000,
                ..faults
            },
            _ => faults,
        };
        self.pair.left.link.set_faults(faults);
        self.pair.right.link.set_faults(faults);
        for host in [&mut self.pair.left.host, &mut self.pair.right.host] {
            let fast = matches!(
                self.phase,
                Phase::Burst | Phase::Calm | Phase::Outage | Phase::Silence
            );
            host.pace = if fast || random.random() {
                Pace::FAST
            } else {
                Pace {
                    take: random.random_range(1..=16),
                    read: random.random_range(1..=16),
                    post: random.random_range(1..=16),
                    receive: random.random_range(0..4),
                    latency: random.random_range(1..400),
                }
            };
        }
        self.strangers = match self.phase {
            Phase::Strangers => 3000,
            Phase::Forging => 4000,
            _ => 0,
        };
        self.until_phase = match self.phase {
            Phase::Outage => OUTAGE_CLOCKS,
            Phase::Silence => SILENCE_CLOCKS,
            Phase::Forging => random.random_range(8000..=12_000),
            Phase::Calm => 6000,
            _ => random.random_range(2000..=6000),
        };
        self.until_reset = match self.phase {
            Phase::Refused | Phase::Forging => self.until_phase,
            Phase::Calm => OUTAGE_CLOCKS,
            // There is time to get over it.
            Phase::Outage | Phase::Silence => self.until_phase + 6000,
            _ => self.until_reset,
        };
        if self.phase == Phase::Forging {
            self.forge();
        }
    }

    /// Enables or disables the connections of the unit.
    fn connect(&mut self, enabled: bool) {
        for connection in 0..self.params.connections.min(CONNECTIONS) {
            self.pair.left.host.command(Inputs {
                s_axis_command_command: command::CONNECT,
                s_axis_command_index: connection as u16,
                s_axis_command_flag: enabled,
                s_axis_command_first: connection,
                s_axis_command_domain: 1,
                s_axis_command_dscp: 26,
                ..Default::default()
            });
        }
    }

    /// From now on everything is possible, until the next reset.
    fn forge(&mut self) {
        self.forging = true;
        self.pair.scoreboard.lenient = true;
        self.pair.left.host.overruns = true;
        let forged = self.random.random_range(0..self.streams());
        self.forged_stream = forged;
        for stream in 0..self.streams() {
            // The forged one's numbers become those that forged packets have.
            if stream == forged || self.random.random_range(0..4) == 0 {
                let message = self.random.random_range(0..1 << 24);
                self.pair.left.host.command(Inputs {
                    s_axis_command_command: command::STREAM,
                    s_axis_command_index: stream,
                    s_axis_command_first: message,
                    s_axis_command_second: self.random.random_range(0..8),
                    s_axis_command_third: self.random.random_range(0..8),
                    s_axis_command_fourth: self.random.random_range(0..8),
                    ..Default::default()
                });
            }
        }
        self.overrun();
        self.pair.left.host.command(Inputs {
            s_axis_command_command: command::CONNECT,
            s_axis_command_index: self.disabled() as u16,
            ..Default::default()
        });
    }

    /// Posts more on the forged stream than it takes.
    fn overrun(&mut self) {
        for identifier in 0..self.params.receives + 2 {
            let receive = Receive {
                address: TARGET,
                length: 10,
                identifier,
            };
            self.pair.left.host.receive(self.forged_stream, receive);
        }
        for identifier in 0..self.params.messages + 2 {
            let request = Request {
                length: self.params.mtu_bytes,
                identifier,
                ..Request::default()
            };
            self.pair.left.host.request(self.forged_stream, request);
        }
    }

    /// The connection that is disabled while strangers forge: not the one that they mostly forge packets of.
    fn disabled(&self) -> u32 {
        (u32::from(self.forged_stream) / self.params.streams + 1) % self.params.connections
    }

    /// Keeps some messages waiting.
    fn post(&mut self) {
        let waiting = self.posted.saturating_sub(self.pair.scoreboard.completed);
        let streams = self.streams();
        if self.forging && self.random.random_ratio(1, 2000) {
            self.overrun();
        }
        match self.phase {
            Phase::Burst | Phase::Silence if waiting < WAITING / 4 => {
                let each = self.params.streams as u16;
                let first = self.random.random_range(0..streams / each) * each;
                let of = if self.phase == Phase::Burst { each } else { streams };
                for number in 0..WAITING as u16 {
                    self.post_on((first + number % of) % streams);
                }
            }
            Phase::Burst | Phase::Silence => {}
            _ => {
                if waiting < WAITING && self.random.random_ratio(1, 16) {
                    let stream = self.random.random_range(0..streams);
                    self.post_on(stream);
                }
            }
        }
    }

    /// Posts a message on a stream, from either end.
    fn post_on(&mut self, stream: u16) {
        let random = &mut self.random;
        let mtu = self.params.mtu_bytes;
        let silence = self.phase == Phase::Silence;
        let from = if silence { 0 } else { random.random_range(0..2) };
        let length = match random.random_range(0..16) {
            0..2 => 0,
            2 => mtu,
            3 => random.random_range(0..=3 * mtu),
            _ if silence => random.random_range(mtu..=SILENCE_BYTES),
            // Short ones, lest packets wait for longer than timers.
            _ => random.random_range(0..=mtu.min(256) / 2),
        };
        let kind: u8 = random.random_range(0..4);
        let end = usize::from(from);
        let remote = self.next[end] + random.random_range(0..u64::from(self.params.lanes()));
        self.next[end] = remote + u64::from(length);
        let key = if self.phase == Phase::Refused && random.random_range(0..8) == 0 {
            KEY ^ 0x0200_0000
        } else {
            KEY
        };
        let message = Message {
            kind,
            length,
            local: SOURCE + random.random_range(0..1 << 20),
            remote,
            key,
            immediate: if kind & IMMEDIATE != 0 { random.random() } else { 0 },
        };
        self.posted += 1 + u64::from(kind != 0);
        self.pair.post(from, stream, message);
    }

    /// Frames of strangers: random bytes, and frames that went by, cut, stretched or changed.
    fn strange(&mut self) {
        let kept = self.pair.right.link.kept.as_mut();
        let short = |frame: &Frame| frame.bytes.len() <= SAMPLE_BYTES;
        if let Some(frame) = kept.and_then(|kept| kept.pop()).filter(short) {
            self.sample = Some(frame);
        }
        if let Some(kept) = self.pair.right.link.kept.as_mut() {
            kept.clear();
        }
        if self.random.random_range(0..100_000) >= self.strangers {
            return;
        }
        let random = &mut self.random;
        let mut plane = random.random_range(0..self.params.planes) as u8;
        let mut bytes = match &self.sample {
            Some(frame) if random.random_range(0..4) > 0 => {
                // On another plane it would be dropped for its address.
                if random.random_range(0..8) > 0 {
                    plane = frame.plane;
                }
                frame.bytes.clone()
            }
            _ => (0..random.random_range(1..200))
                .map(|_| random.random())
                .collect(),
        };
        match random.random_range(0..4) {
            0 => bytes.truncate(random.random_range(1..=bytes.len())),
            1 => bytes.extend((0..random.random_range(1..64)).map(|at| at as u8)),
            _ => {
                // As often as not in a field of few bits that frames are dropped for.
                let port = Opcode::Probe.position(&UDP, "destination_port").first_byte();
                let base = Opcode::Probe.position(&BASE, "wire_version").first_byte();
                let fields = [port, base, base + 1];
                let at = if random.random() && bytes.len() > base + 1 {
                    fields[random.random_range(0..fields.len())]
                } else {
                    random.random_range(0..bytes.len().min(90))
                };
                bytes[at] ^= 1 << random.random_range(0..8);
            }
        }
        if self.forging && bytes.len() > 60 {
            let end = bytes.len() - 4;
            let icrc = icrc(&bytes[..end]);
            bytes[end..].copy_from_slice(&icrc.to_le_bytes());
        }
        if self.forging && random.random_range(0..4) > 0 {
            bytes = self.forged(plane);
        }
        let clock = self.pair.clock;
        self.pair.right.link.inject(Frame {
            bytes,
            plane,
            bad: self.random.random_ratio(1, 16),
            clock,
        });
    }

    /// A packet that the other NIC could have sent, with a right checksum, and nearly right numbers.
    fn forged(&mut self, plane: u8) -> Vec<u8> {
        let disabled = self.disabled();
        let params = &self.params;
        let random = &mut self.random;
        let mtu = params.mtu_bytes;
        let mostly = |random: &mut Random| random.random_range(0..4) > 0;
        let usual = mostly(random);
        let usual_stream = u32::from(self.forged_stream);
        let bytes = random.random_range(0..=mtu.min(256) / 4);
        let length = match random.random_range(0..4) {
            0 => random.random_range(0..=bytes),
            1 => random.random_range(bytes..4 * mtu),
            _ => bytes,
        };
        // The PSN of a path is seldom far from another's.
        let near = self.sample.as_ref().map_or(0, |frame| {
            let at = Opcode::Probe.position(&BASE, "psn");
            let bytes = &frame.bytes[at.first_byte()..at.end_byte()];
            bytes.iter().fold(0, |psn, &byte| psn << 8 | u32::from(byte))
        });
        let psn = u32::MAX >> (32 - params.psn_bits)
            & if random.random() {
                random.random()
            } else {
                near + random.random_range(0..16)
            };
        let body = match random.random_range(0..8) {
            0 => Body::Probe,
            1 => Body::Ack(Ack {
                echo: random.random(),
                hold: random.random(),
                ..Ack::default()
            }),
            2 => Body::Nak(Nak {
                stream: random.random_range(0..params.streams) as u16,
                message: random.random_range(0..8),
                code: random.random_range(1..5),
            }),
            other => Body::Data(Data {
                stream: if usual {
                    usual_stream % params.streams
                } else {
                    random.random_range(0..=params.streams)
                } as u16,
                message: random.random_range(0..24),
                message_length: length,
                offset: length.saturating_sub(bytes),
                immediate: random.random::<bool>().then_some(7),
                target: if other < 5 {
                    Target::Write {
                        key: if mostly(random) { KEY } else { random.random() },
                        address: TARGET + if mostly(random) { 0 } else { REGION_BYTES - 3 },
                    }
                } else {
                    Target::Send {
                        receive: random.random_range(0..8),
                    }
                },
            }),
        };
        let payload = if matches!(body, Body::Data(_)) {
            bytes as usize
        } else {
            0
        };
        let packet = Packet {
            route: Route {
                destination_mac: Setup::mac(0, plane.into()),
                source_mac: Setup::mac(1, plane.into()),
                source_address: Setup::address(1, plane.into()),
                destination_address: Setup::address(0, plane.into()),
                source_port: 50000,
                ..Route::default()
            },
            base: Base {
                connection: match random.random_range(0..8) {
                    0 => disabled,
                    1 => random.random_range(0..params.connections),
                    _ => usual_stream / params.streams,
                },
                path: random.random_range(0..params.paths) as u8,
                psn,
                timestamp: random.random(),
                ..Base::default()
            },
            body,
        };
        packet.encode(&vec![0x5a; payload], params.udp_port as u16)
    }

    fn count(&mut self, shown: u8, outputs: &Outputs, inputs: &Inputs) {
        let number = usize::from(shown);
        let value = outputs.counter_value;
        if self.phase == Phase::Outage && shown == index::TIMEOUT && value > self.counters[number] {
            self.until_phase = self.until_phase.min(OUTAGE_REST_CLOCKS);
        }
        let more = value != 0 && value != std::mem::replace(&mut self.counters[number], value);
        // A hit for each time that it was shown to have grown: one event must not look like many.
        if more && !COUNTER_NAMES[number].is_empty() {
            let bin = COUNTER_NAMES[..number]
                .iter()
                .filter(|name| !name.is_empty())
                .count();
            self.bins.hit(bin, true);
        }
        let done = outputs.m_axis_cqe_tvalid && inputs.m_axis_cqe_tready && outputs.m_axis_cqe_error == 0;
        let sent = done && !outputs.m_axis_cqe_received;
        let received = done && outputs.m_axis_cqe_received;
        let kind = outputs.m_axis_cqe_kind;
        self.bins.hit_each(
            BINS_FIRST,
            [
                sent && kind == 0,
                sent && kind == IMMEDIATE,
                sent && kind == SEND,
                sent && kind == SEND | IMMEDIATE,
                received && kind == IMMEDIATE,
                received && kind == SEND,
                received && kind == SEND | IMMEDIATE,
                done && outputs.m_axis_cqe_length == 0,
                done && outputs.m_axis_cqe_length > self.params.mtu_bytes,
                outputs.m_axis_cqe_tvalid && outputs.m_axis_cqe_error != 0,
                outputs.m_axis_tx_tvalid && !inputs.m_axis_tx_tready,
                outputs.m_axis_cqe_tvalid && !inputs.m_axis_cqe_tready,
                outputs.m_axis_fetch_tvalid && !inputs.m_axis_fetch_tready,
                outputs.m_axis_write_tvalid && !inputs.m_axis_write_tready,
                inputs.s_axis_wqe_tvalid && !outputs.s_axis_wqe_tready,
            ],
        );
    }
}
