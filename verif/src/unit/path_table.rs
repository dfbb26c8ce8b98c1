//! Stimulus of `path_table`: connections that spray, some paths of which are congested, time out, move and come back.

use crate::{
    bins::Bins,
    occupancy::Occupancy,
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::path_table::{
        Inputs, LATENCY, MAX_BACKOFF, Outputs, SAME_PATH_CLOCKS, UTILISATION_EPOCH_BITS,
        WINDOW_FRACTION_BITS, op, state,
    },
    serial::Serial,
    unit::path_table::PathTable as Unit,
};
use rand::RngExt;

/// Bins of a clock.
const CLOCK_BINS: [&str; 6] = [
    "offered while standing still with every place full",
    "offered during the clear after reset",
    "operation held until it is accepted",
    "result held back",
    "reset while operations are in the pipeline",
    "reset during the clear after reset",
];

/// Bins of an accepted operation.
const ACCEPTED_BINS: [&str; 27] = [
    "CONFIGURE",
    "CONFIGURE with clear",
    "CONFIGURE to down",
    "CONFIGURE to up",
    "CONFIGURE to suspect",
    "CONFIGURE to probing",
    "SELECT",
    "SEND",
    "SEND with nothing in flight",
    "SEND uses up the window",
    "SEND with a window below one packet",
    "SEND with the packets in flight saturated",
    "ACKNOWLEDGE",
    "ACKNOWLEDGE of nothing",
    "ACKNOWLEDGE of losses alone",
    "ACKNOWLEDGE of more than is in flight",
    "ACKNOWLEDGE opens the window",
    "ACKNOWLEDGE makes a suspect path up",
    "TIMEOUT makes an up path suspect",
    "TIMEOUT of a path that is not up",
    "READ",
    "ROUTE",
    "reserved code",
    "utilisation halved once",
    "utilisation halved 2 to 15 times",
    "utilisation zero after 16 epochs or more",
    "epoch of the utilisation wraps",
];

/// Bins of a result that is taken.
const RESULT_BINS: [&str; 23] = [
    "SELECT finds none",
    "SELECT: second of a turn",
    "SELECT: turn ends early, its path is no longer eligible",
    "SELECT: the next path",
    "SELECT: paths passed over",
    "SELECT: round the ring",
    "SELECT: a new turn of the only eligible path",
    "first round-trip sample",
    "later round-trip sample",
    "smoothed round-trip time is the largest",
    "smoothed round-trip time is 0",
    "back-off saturates",
    "back-off ends",
    "timeout before the first sample",
    "timeout saturates, before the first sample",
    "timeout saturates, after samples",
    "timeout backed off, not saturated",
    "packets wrap",
    "marked wrap",
    "time of the last progress wraps",
    "SEND moves the time of the last progress",
    "SEND moves the time of the last progress after a TIMEOUT",
    "SEND leaves the time of the last progress",
];

/// Moving clocks between two operations that have bins of their own.
const DISTANCES: usize = 8;
/// Bins of two operations for each distance: in acceptance for the first, in issue for the others.
const HAZARD_BINS: [&str; 5] = [
    "path operation accepted {} moving clocks after the last one of its path",
    "SELECT {} moving clocks after the last one of its connection",
    "SELECT {} moving clocks after a path of its connection became eligible",
    "SELECT {} moving clocks after a path of its connection ceased to be eligible",
    "path operation {} moving clocks after the last SELECT of its connection",
];
/// Bins of operations of one path for each distance in issue, from [`SAME_PATH_CLOCKS`].
const SPACING_BIN: &str = "path operation issued {} moving clocks after the last one of its path";

const ACCEPTED: usize = CLOCK_BINS.len();
const RESULT: usize = ACCEPTED + ACCEPTED_BINS.len();
const HAZARD: usize = RESULT + RESULT_BINS.len();
const SPACING: usize = HAZARD + HAZARD_BINS.len() * DISTANCES;

/// Drives the unit.
pub struct PathTable {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    masks: Masks,
    path_bits: u32,
    times: Serial,
    spray: Spray,
    phase: Phase,
    time: u32,
    /// What an operation finds when it takes effect.
    paths: Box<[Path]>,
    /// What the last result said of each path.
    seen: Box<[Outputs]>,
    connections: Box<[Connection]>,
    pipeline: Occupancy,
    /// Accepted and not yet issued.
    waiting: Option<Event>,
    /// The present moving clock.
    moment: usize,
    clearing: bool,
    held: Option<Inputs>,
    bins: Bins,
}

/// All bits of a field set.
#[derive(Clone, Copy, Debug)]
struct Masks {
    path: u16,
    plane: u8,
    window: u16,
    in_flight: u16,
    count: u16,
    rtt: u32,
    timeout: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Path {
    state: u8,
    window: u16,
    in_flight: u16,
    utilisation: u16,
    epoch: u32,
    /// Moving clocks in which its latest operation was accepted and was issued.
    accepted: usize,
    issued: usize,
}

/// What selection remembers of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    last: u16,
    /// Its turn is not over.
    goes_on: bool,
    /// Moving clocks of the latest issue of a SELECT, and of what made a path eligible, and what made one cease to be.
    selected: usize,
    became_eligible: usize,
    ceased_to_be: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Select {
        path: u16,
    },
    Path {
        path: u16,
        became_eligible: bool,
        ceased_to_be: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Configure,
    Select,
    Send,
    Acknowledge,
    /// Acknowledges as much as the fields hold.
    AcknowledgeMost,
    Timeout,
    Read,
    /// ROUTE, or the reserved code.
    Route,
}

/// Mixtures of kinds, in parts.
const MIXTURES: [&[(Kind, usize)]; 8] = [
    // Spraying at work.
    &[
        (Kind::Select, 11),
        (Kind::Send, 11),
        (Kind::Acknowledge, 8),
        (Kind::Read, 1),
        (Kind::Timeout, 1),
    ],
    // Windows open and close all the time.
    &[(Kind::Select, 12), (Kind::Send, 12), (Kind::Acknowledge, 8)],
    // Mostly selection.
    &[
        (Kind::Select, 24),
        (Kind::Send, 3),
        (Kind::Acknowledge, 3),
        (Kind::Configure, 2),
    ],
    // Everything, often.
    &[
        (Kind::Configure, 6),
        (Kind::Select, 6),
        (Kind::Send, 5),
        (Kind::Acknowledge, 5),
        (Kind::Timeout, 4),
        (Kind::Read, 3),
        (Kind::Route, 3),
    ],
    // Paths come and go.
    &[
        (Kind::Configure, 14),
        (Kind::Select, 14),
        (Kind::Timeout, 2),
        (Kind::Acknowledge, 2),
    ],
    // Nothing comes back.
    &[
        (Kind::Timeout, 24),
        (Kind::Select, 5),
        (Kind::Send, 2),
        (Kind::Read, 1),
    ],
    // Nothing is acknowledged.
    &[(Kind::Send, 28), (Kind::Select, 4)],
    // Counters run.
    &[(Kind::AcknowledgeMost, 25), (Kind::Select, 4), (Kind::Send, 3)],
];
const FLOOD: usize = 6;
const COUNTERS: usize = 7;

/// Stretch of clocks with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    kinds: [Kind; 32],
    /// Hot paths still to be configured.
    set_up: u32,
    /// Ticks between two operations.
    step: u32,
    round_trips: RoundTrips,
}

/// What the samples of a phase are like: each drives the averages somewhere else.
#[derive(Clone, Copy, Debug)]
enum RoundTrips {
    Steady,
    Longest,
    Shortest,
    Extremes,
    Any,
}

impl Stimulus<Unit> for PathTable {
    fn new(params: &Params, seed: u64) -> Self {
        let total = params.total_paths();
        let names = [&CLOCK_BINS[..], &ACCEPTED_BINS, &RESULT_BINS].concat();
        let with_distance = |name: &str, distance: usize| name.replace("{}", &distance.to_string());
        let hazards = HAZARD_BINS
            .iter()
            .flat_map(|name| (1..=DISTANCES).map(move |distance| with_distance(name, distance)));
        let spacings = (SAME_PATH_CLOCKS..=DISTANCES).map(|distance| with_distance(SPACING_BIN, distance));
        let names = names.into_iter().map(String::from).chain(hazards).chain(spacings);
        Self {
            random: random(seed),
            valid: Flow::new(200),
            ready: Flow::new(100),
            resets: Resets::with_clear((20 * total).max(20_000), total),
            masks: Masks {
                path: (total - 1) as u16,
                plane: (params.planes - 1) as u8,
                window: (1 << (params.window_bits + WINDOW_FRACTION_BITS)) - 1,
                in_flight: (1 << params.window_bits) - 1,
                count: (1 << params.sack_count_bits()) - 1,
                rtt: (1 << params.rtt_bits) - 1,
                timeout: (1 << (params.timestamp_bits - 1)) - 1,
            },
            path_bits: params.path_bits(),
            times: Serial::new(params.timestamp_bits),
            spray: Spray::new(total),
            phase: Phase {
                left: 0,
                kinds: [Kind::Select; 32],
                set_up: 0,
                step: 1,
                round_trips: RoundTrips::Steady,
            },
            time: 0,
            paths: vec![Path::default(); total as usize].into(),
            seen: vec![Outputs::default(); total as usize].into(),
            connections: vec![Connection::default(); params.connections as usize].into(),
            pipeline: Occupancy::new(LATENCY),
            waiting: None,
            moment: DISTANCES,
            clearing: true,
            held: None,
            bins: Bins::new(names),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let accepts = outputs.s_axis_op_tready && !rst;
        let valid = self.held.is_some() || self.valid.next(&mut self.random);
        let garbage = self.garbage();
        let offered = if let Some(held) = self.held {
            Some(held)
        } else if valid && (accepts || garbage.s_axis_op_source_port >> 12 == 0) {
            Some(self.operation(garbage))
        } else {
            None
        };
        // Nothing is accepted: garbage, unless the operation is one of those that are held steadily.
        let inputs = Inputs {
            rst,
            s_axis_op_tvalid: valid,
            m_axis_result_tready: self.ready.next(&mut self.random),
            ..offered.unwrap_or(garbage)
        };
        self.count_clock(&inputs, outputs);
        if rst {
            self.reset();
        } else {
            self.clock(valid && accepts, &inputs, outputs);
            self.held = if accepts { None } else { offered };
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl PathTable {
    fn reset(&mut self) {
        if !self.clearing {
            self.paths.fill(Path::default());
            self.seen.fill(Outputs::default());
            self.connections.fill(Connection::default());
        }
        self.pipeline.clear();
        self.waiting = None;
        self.clearing = true;
        self.held = None;
        // All paths are down: the next phase sets up those that it uses.
        self.phase.left = 0;
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, accepted: bool, inputs: &Inputs, outputs: &Outputs) {
        let taken = outputs.m_axis_result_tvalid && inputs.m_axis_result_tready;
        if taken {
            self.count_result(outputs);
        }
        self.clearing &= !outputs.s_axis_op_tready;
        self.moment += usize::from(self.pipeline.moves());
        // The unit is ready when what it holds issues in this clock.
        let issued = if outputs.s_axis_op_tready {
            self.waiting.take()
        } else {
            None
        };
        if let Some(event) = issued {
            self.count_issue(event);
        }
        if accepted {
            self.waiting = Some(self.accept(inputs));
        }
        self.pipeline.clock(issued.is_some(), taken);
    }

    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let (a, b): (u64, u64) = (self.random.random(), self.random.random());
        let masks = &self.masks;
        Inputs {
            rst: false,
            s_axis_op_tvalid: false,
            s_axis_op_op: (a & 7) as u8,
            s_axis_op_path: (a >> 3) as u16 & masks.path,
            s_axis_op_clear: a >> 19 & 1 != 0,
            s_axis_op_plane: (a >> 20) as u8 & masks.plane,
            s_axis_op_source_port: (a >> 24) as u16,
            s_axis_op_state: (a >> 40 & 3) as u8,
            s_axis_op_window: (a >> 42) as u16 & masks.window,
            s_axis_op_acknowledged: (b & 0x3ff) as u16 & masks.count,
            s_axis_op_lost: (b >> 4 & 0x3ff) as u16 & masks.count,
            s_axis_op_marked: (b >> 12) as u16 & masks.count,
            s_axis_op_rtt_valid: b >> 22 & 1 != 0,
            s_axis_op_rtt: (b >> 23) as u32 & masks.rtt,
            s_axis_op_now: (b >> 32) as u32 & self.times.mask(),
            m_axis_result_tready: false,
        }
    }

    /// An operation to offer; the fields that it does not use stay `garbage`.
    #[inline]
    fn operation(&mut self, garbage: Inputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        let dice = garbage.s_axis_op_source_port;
        self.time = self.times.add(self.time, self.phase.step);
        let mut operation = garbage;
        if dice & 31 != 0 {
            operation.s_axis_op_now = self.time;
        }
        if self.phase.set_up > 0 {
            self.phase.set_up -= 1;
            operation.s_axis_op_op = op::CONFIGURE;
            operation.s_axis_op_path = self.spray.hot(self.phase.set_up);
            operation.s_axis_op_clear &= dice & 14 == 0;
            if dice & 0x700 != 0 {
                operation.s_axis_op_state = state::UP;
            }
            if dice & 0x1800 != 0 {
                operation.s_axis_op_window &= 0x7f;
            }
            return operation;
        }
        self.phase.left -= 1;
        operation.s_axis_op_path = self.spray.next(garbage.s_axis_op_now as u16);
        let in_flight = self.paths[usize::from(operation.s_axis_op_path)]
            .in_flight
            .min(self.masks.count);
        operation.s_axis_op_op = match self.phase.kinds[usize::from(dice >> 5 & 31)] {
            Kind::Configure => {
                if garbage.s_axis_op_state != state::DOWN && dice & 0x400 != 0 {
                    operation.s_axis_op_state = state::UP;
                }
                operation.s_axis_op_window &= if dice & 0x1800 == 0 {
                    self.masks.window
                } else {
                    0x7f
                };
                op::CONFIGURE
            }
            Kind::Select => {
                // Its lower bits mean nothing.
                operation.s_axis_op_path ^= garbage.s_axis_op_path & ((1 << self.path_bits) - 1);
                op::SELECT
            }
            Kind::Send => op::SEND,
            Kind::Acknowledge => {
                let some = garbage.s_axis_op_acknowledged.min(in_flight);
                let (acknowledged, lost) = match dice >> 10 & 7 {
                    0 => (garbage.s_axis_op_acknowledged, garbage.s_axis_op_lost),
                    1 => (in_flight, 0),
                    2 => (some, in_flight - some),
                    3 => (0, some & 3),
                    4 => (in_flight.min(2), some & 1),
                    _ => (in_flight.min(1 + (dice >> 15)), 0),
                };
                (operation.s_axis_op_acknowledged, operation.s_axis_op_lost) = (acknowledged, lost);
                operation.s_axis_op_marked &= 3;
                operation.s_axis_op_rtt = self.round_trip(garbage.s_axis_op_rtt);
                op::ACKNOWLEDGE
            }
            Kind::AcknowledgeMost => {
                operation.s_axis_op_acknowledged = self.masks.count - (dice >> 14);
                operation.s_axis_op_marked = self.masks.count - (dice >> 15);
                operation.s_axis_op_rtt = self.round_trip(garbage.s_axis_op_rtt);
                op::ACKNOWLEDGE
            }
            Kind::Timeout => op::TIMEOUT,
            Kind::Read => op::READ,
            Kind::Route => op::ROUTE + (dice >> 15) as u8,
        };
        operation
    }

    /// A round-trip time in the manner of the phase.
    #[inline]
    fn round_trip(&self, any: u32) -> u32 {
        match self.phase.round_trips {
            RoundTrips::Steady => 80 + (any & 63),
            RoundTrips::Longest => self.masks.rtt,
            RoundTrips::Shortest => any & 1,
            RoundTrips::Extremes if any & 1 != 0 => self.masks.rtt,
            RoundTrips::Extremes => 0,
            RoundTrips::Any => any,
        }
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        // The long phases are rare.
        let mixture = if random.random_range(0..48) == 0 {
            COUNTERS
        } else {
            random.random_range(0..COUNTERS)
        };
        let most = if mixture >= FLOOD { 4 } else { 8 };
        if self.clearing || self.spray.count() > most || random.random_range(0..4) == 0 {
            self.spray.change(random, most);
        }
        let count = self.spray.count().min(8);
        self.phase.left = match mixture {
            COUNTERS => count * (90_000 / u32::from(self.masks.count)),
            FLOOD => count * u32::from(self.masks.in_flight) * 3 / 2,
            _ => random.random_range(1..400),
        };
        let mut parts = MIXTURES[mixture]
            .iter()
            .flat_map(|&(kind, parts)| std::iter::repeat_n(kind, parts));
        self.phase.kinds = std::array::from_fn(|_| parts.next().unwrap_or(Kind::Select));
        self.phase.set_up = if self.clearing || random.random() {
            count
        } else {
            0
        };
        self.clearing = false;
        self.phase.round_trips = match random.random_range(0..8) {
            0 => RoundTrips::Longest,
            1 => RoundTrips::Shortest,
            2 => RoundTrips::Extremes,
            3 => RoundTrips::Any,
            _ => RoundTrips::Steady,
        };
        self.phase.step = match random.random_range(0..8) {
            0 => 0,
            1 => 2,
            2 => 300,
            3 => 1 << UTILISATION_EPOCH_BITS,
            4 => 5 << UTILISATION_EPOCH_BITS,
            _ => 1,
        };
        if random.random_range(0..4) == 0 {
            self.time = self.times.mask() - random.random_range(0..4096);
        }
    }

    /// The operation will take effect after all accepted before it.
    #[inline]
    fn accept(&mut self, inputs: &Inputs) -> Event {
        let index = inputs.s_axis_op_path;
        let code = inputs.s_axis_op_op;
        if code == op::SELECT {
            self.bins.hit(ACCEPTED + 6, true);
            return Event::Select { path: index };
        }
        let path = &mut self.paths[usize::from(index)];
        let before = *path;
        let limit = self.masks.in_flight;
        let epoch = inputs.s_axis_op_now >> UTILISATION_EPOCH_BITS;
        let halvings = epoch.wrapping_sub(before.epoch) & self.times.mask() >> UTILISATION_EPOCH_BITS;
        path.utilisation = path.utilisation.checked_shr(halvings).unwrap_or(0);
        path.epoch = epoch;
        match code {
            op::CONFIGURE => {
                if inputs.s_axis_op_clear {
                    (path.in_flight, path.utilisation) = (0, 0);
                }
                (path.state, path.window) = (inputs.s_axis_op_state, inputs.s_axis_op_window);
            }
            op::SEND => {
                path.in_flight = limit.min(path.in_flight + 1);
                path.utilisation = path.utilisation.saturating_add(1);
            }
            op::ACKNOWLEDGE => {
                let arrived = inputs.s_axis_op_acknowledged + inputs.s_axis_op_lost;
                path.in_flight = path.in_flight.saturating_sub(arrived);
                if inputs.s_axis_op_acknowledged > 0 && path.state == state::SUSPECT {
                    path.state = state::UP;
                }
            }
            op::TIMEOUT => {
                (path.in_flight, path.window) = (0, 1 << WINDOW_FRACTION_BITS);
                if path.state == state::UP {
                    path.state = state::SUSPECT;
                }
            }
            _ => {}
        }
        path.accepted = self.moment;
        let distance = self.moment - before.accepted;
        if distance <= DISTANCES {
            self.bins.hit(HAZARD + distance - 1, true);
        }
        let after = *path;
        let (was, is) = (before.is_eligible(), after.is_eligible());
        let configure = code == op::CONFIGURE;
        let configured = |to: u8| configure && inputs.s_axis_op_state == to;
        let send = code == op::SEND;
        let acknowledge = code == op::ACKNOWLEDGE;
        let (acknowledged, lost) = (inputs.s_axis_op_acknowledged, inputs.s_axis_op_lost);
        let timeout = code == op::TIMEOUT;
        let used = before.utilisation > 0;
        self.bins.hit_each(
            ACCEPTED,
            [
                configure,
                configure && inputs.s_axis_op_clear,
                configured(state::DOWN),
                configured(state::UP),
                configured(state::SUSPECT),
                configured(state::PROBING),
                false,
                send,
                send && before.in_flight == 0,
                send && was && !is,
                send && before.window >> WINDOW_FRACTION_BITS == 0,
                send && before.in_flight == limit,
                acknowledge,
                acknowledge && acknowledged == 0 && lost == 0,
                acknowledge && acknowledged == 0 && lost > 0,
                acknowledge && acknowledged + lost > before.in_flight,
                acknowledge && before.state == state::UP && !was && is,
                acknowledge && before.state != after.state,
                timeout && before.state != after.state,
                timeout && before.state == after.state,
                code == op::READ,
                code == op::ROUTE,
                code > op::ROUTE,
                used && halvings == 1,
                used && (2..16).contains(&halvings),
                used && halvings >= 16,
                epoch < before.epoch && halvings < 16,
            ],
        );
        Event::Path {
            path: index,
            became_eligible: is && !was,
            ceased_to_be: was && !is,
        }
    }

    /// The operation issues in the present moving clock.
    #[inline]
    fn count_issue(&mut self, event: Event) {
        let now = self.moment;
        let mut hit = |kind: usize, earlier: usize| {
            if now - earlier <= DISTANCES {
                self.bins.hit(HAZARD + kind * DISTANCES + now - earlier - 1, true);
            }
        };
        match event {
            Event::Select { path } => {
                let connection = &mut self.connections[usize::from(path >> self.path_bits)];
                hit(1, connection.selected);
                hit(2, connection.became_eligible);
                hit(3, connection.ceased_to_be);
                connection.selected = now;
            }
            Event::Path {
                path,
                became_eligible,
                ceased_to_be,
            } => {
                let connection = &mut self.connections[usize::from(path >> self.path_bits)];
                hit(4, connection.selected);
                if became_eligible {
                    connection.became_eligible = now;
                }
                if ceased_to_be {
                    connection.ceased_to_be = now;
                }
                let earlier = std::mem::replace(&mut self.paths[usize::from(path)].issued, now);
                debug_assert!(now - earlier >= SAME_PATH_CLOCKS, "issued too close");
                if now - earlier <= DISTANCES {
                    self.bins.hit(SPACING + now - earlier - SAME_PATH_CLOCKS, true);
                }
            }
        }
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let idle = !outputs.m_axis_result_tvalid || inputs.m_axis_result_tready;
        if idle && outputs.s_axis_op_tready && self.held.is_none() && !inputs.rst {
            return;
        }
        let waits = inputs.s_axis_op_tvalid && !outputs.s_axis_op_tready && !inputs.rst;
        let clears = self.clearing && !outputs.s_axis_op_tready;
        let holds = self.waiting.is_some() || !self.pipeline.is_empty();
        self.bins.hit_each(
            0,
            [
                waits && self.pipeline.is_full(),
                waits && clears,
                self.held.is_some() && outputs.s_axis_op_tready,
                outputs.m_axis_result_tvalid && !inputs.m_axis_result_tready,
                inputs.rst && holds,
                inputs.rst && clears,
            ],
        );
    }

    #[inline]
    fn count_result(&mut self, outputs: &Outputs) {
        let path = outputs.m_axis_result_path;
        if outputs.m_axis_result_op == op::SELECT {
            let found = outputs.m_axis_result_found;
            let connection = &mut self.connections[usize::from(path >> self.path_bits)];
            let before = *connection;
            let ring = (1 << self.path_bits) - 1;
            let chosen = path & ring;
            let second = found && before.goes_on && chosen == before.last;
            if found {
                (connection.last, connection.goes_on) = (chosen, !second);
            }
            self.bins.hit_each(
                RESULT,
                [
                    !found,
                    second,
                    found && before.goes_on && !second,
                    found && chosen == (before.last + 1) & ring,
                    found && !second && chosen != (before.last + 1) & ring,
                    found && chosen < before.last,
                    found && !before.goes_on && chosen == before.last,
                ],
            );
            return;
        }
        let before = std::mem::replace(&mut self.seen[usize::from(path)], *outputs);
        let acknowledge = outputs.m_axis_result_op == op::ACKNOWLEDGE;
        let send = outputs.m_axis_result_op == op::SEND;
        let timeout = outputs.m_axis_result_op == op::TIMEOUT;
        let (backoff, backoff_before) = (outputs.m_axis_result_backoff, before.m_axis_result_backoff);
        let rtt = |o: &Outputs| (o.m_axis_result_smoothed_rtt, o.m_axis_result_rtt_variance);
        let sampled = outputs.m_axis_result_rtt_valid;
        let saturated = outputs.m_axis_result_timeout == self.masks.timeout;
        let (progress, progress_before) = (
            outputs.m_axis_result_last_progress,
            before.m_axis_result_last_progress,
        );
        self.bins.hit_each(
            RESULT + 7,
            [
                acknowledge && sampled && !before.m_axis_result_rtt_valid,
                acknowledge && before.m_axis_result_rtt_valid && rtt(outputs) != rtt(&before),
                sampled && outputs.m_axis_result_smoothed_rtt == self.masks.rtt,
                sampled && outputs.m_axis_result_smoothed_rtt == 0,
                timeout && backoff_before == MAX_BACKOFF,
                acknowledge && backoff_before > 0 && backoff == 0,
                !sampled,
                !sampled && saturated,
                sampled && saturated,
                sampled && backoff > 0 && !saturated,
                acknowledge && outputs.m_axis_result_packets < before.m_axis_result_packets,
                acknowledge && outputs.m_axis_result_marked < before.m_axis_result_marked,
                acknowledge
                    && progress < progress_before
                    && self.times.distance(progress_before, progress) < self.times.half(),
                send && progress != progress_before,
                send && progress != progress_before && before.m_axis_result_op == op::TIMEOUT,
                send && progress == progress_before && outputs.m_axis_result_in_flight > 1,
            ],
        );
    }
}

impl Path {
    #[inline]
    fn is_eligible(&self) -> bool {
        self.state == state::UP
            && (self.in_flight == 0 || self.in_flight < self.window >> WINDOW_FRACTION_BITS)
    }
}
