//! Stimulus of `connection_table`: a few connections and planes at a time, set and looked up at every short distance, with changes of all fields or of one bit.

use crate::{
    bins::Bins,
    occupancy::Occupancy,
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::connection_table::{Inputs, LATENCY, Outputs, op},
    unit::connection_table::ConnectionTable as Unit,
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

/// Bins of an accepted CONNECT, REMOTE or LOCAL.
const SET_BINS: [&str; 14] = [
    "CONNECT: enabled",
    "CONNECT: not enabled",
    "CONNECT: enabled before, no more",
    "CONNECT: enabled again",
    "CONNECT: only the peer is another",
    "CONNECT: only the domain is another",
    "CONNECT: only the class is another",
    "REMOTE of an enabled connection",
    "REMOTE of a connection that is not enabled",
    "REMOTE: only the MAC address is another",
    "REMOTE: only the IPv4 address is another",
    "LOCAL",
    "LOCAL: only the MAC address is another",
    "LOCAL: only the IPv4 address is another",
];

/// Bins of an accepted LOOKUP.
const LOOKUP_BINS: [&str; 12] = [
    "LOOKUP: known",
    "LOOKUP: not known, never connected after reset",
    "LOOKUP: not known, all fields are kept",
    "LOOKUP: known, no REMOTE after reset",
    "LOOKUP: known, no LOCAL after reset",
    "LOOKUP: known, both addresses are kept",
    "LOOKUP: known, first connection and plane",
    "LOOKUP: known, last connection and plane",
    "LOOKUP: known, after one of another plane",
    "LOOKUP: known, after one of another connection",
    "LOOKUP: not known, after one that was",
    "LOOKUP: the same under another tag",
];

/// Moving clocks between two operations on one place that have bins of their own.
const DISTANCES: usize = LATENCY;
/// Names of the operations that set something, by their code.
const SETTERS: [&str; 3] = ["CONNECT", "REMOTE", "LOCAL"];
/// Bins of two operations on one place, for each of [`SETTERS`] and each distance.
const HAZARD_BINS: [&str; 5] = [
    "LOOKUP {} moving clocks after the SET that changed the answer",
    "LOOKUP {} moving clocks after the second of two close SETs that changed the answer",
    "LOOKUP {} moving clocks after another of what an SET sets",
    "SET {} moving clocks after a LOOKUP whose answer it would have changed",
    "SET {} moving clocks after another of its place",
];

const SET: usize = CLOCK_BINS.len();
const LOOKUP: usize = SET + SET_BINS.len();
const HAZARD: usize = LOOKUP + LOOKUP_BINS.len();

/// Connections that can be hot at a time.
const HOT: u32 = 5;

/// Drives the unit.
pub struct ConnectionTable {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    planes: u16,
    connections: Spray,
    spray_planes: Spray,
    connection_mask: u16,
    phase: Phase,
    /// What CONNECT, REMOTE and LOCAL set.
    words: [Box<[Word]>; 3],
    last: Inputs,
    pipeline: Occupancy,
    /// The present moving clock.
    moment: usize,
    clearing: bool,
    held: Option<Inputs>,
    bins: Bins,
}

/// One word of the unit, as it was set last and before, and what was last done to it.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    now: Inputs,
    before: Inputs,
    /// Moving clocks of the last setting, of the one before it, and of the last LOOKUP.
    set: usize,
    set_before: usize,
    asked: usize,
}

impl Word {
    /// What a LOOKUP shows of it.
    #[inline]
    fn shown(setting: &Inputs) -> (bool, u32, u8, u8, u64, u32) {
        match setting.s_axis_op_op {
            op::CONNECT if !setting.s_axis_op_enabled => Default::default(),
            op::CONNECT => (
                true,
                setting.s_axis_op_peer,
                setting.s_axis_op_domain,
                setting.s_axis_op_dscp,
                0,
                0,
            ),
            _ => (true, 0, 0, 0, setting.s_axis_op_mac, setting.s_axis_op_address),
        }
    }

    /// Another setting would show something else.
    #[inline]
    fn differs(one: &Inputs, other: &Inputs) -> bool {
        Self::shown(one) != Self::shown(other)
    }
}

/// Mixtures of operations, in parts: CONNECT, REMOTE, LOCAL, LOOKUP.
const MIXTURES: [[usize; 4]; 6] = [
    // Packets come and go.
    [1, 1, 1, 29],
    // Connections come and go.
    [12, 6, 2, 12],
    // Routes change.
    [2, 12, 6, 12],
    // This NIC's addresses change.
    [2, 4, 14, 12],
    // Everything.
    [8, 8, 8, 8],
    // Configuration alone.
    [12, 12, 7, 1],
];

/// Stretch of operations with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    operations: [u8; 32],
    /// Hot connections still to be connected.
    set_up: u32,
}

impl Stimulus<Unit> for ConnectionTable {
    fn new(params: &Params, seed: u64) -> Self {
        let places = params.connections * params.planes;
        let names = [&CLOCK_BINS[..], &SET_BINS, &LOOKUP_BINS].concat();
        let hazards = SETTERS.iter().flat_map(|setter| {
            HAZARD_BINS.iter().flat_map(move |name| {
                let name = name.replace("SET", setter);
                (1..=DISTANCES).map(move |distance| name.replace("{}", &distance.to_string()))
            })
        });
        let words = |count: u32| vec![Word::default(); count as usize].into();
        Self {
            random: random(seed),
            valid: Flow::new(200),
            ready: Flow::new(100),
            resets: Resets::with_clear((20 * places).max(4000), places),
            planes: params.planes as u16,
            connections: Spray::new(params.connections),
            spray_planes: Spray::new(params.planes),
            connection_mask: (params.connections - 1) as u16,
            phase: Phase {
                left: 0,
                operations: [op::LOOKUP; 32],
                set_up: 0,
            },
            words: [words(params.connections), words(places), words(params.planes)],
            last: Inputs::default(),
            pipeline: Occupancy::new(LATENCY),
            moment: 2 * DISTANCES,
            clearing: true,
            held: None,
            bins: Bins::new(names.into_iter().map(String::from).chain(hazards)),
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
        } else if valid && (accepts || garbage.s_axis_op_domain >> 4 == 0) {
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

impl ConnectionTable {
    fn reset(&mut self) {
        if !self.clearing {
            self.words
                .iter_mut()
                .for_each(|words| words.fill(Word::default()));
        }
        self.last = Inputs::default();
        self.pipeline.clear();
        self.clearing = true;
        self.held = None;
        // No connection is enabled: the next phase connects those that it uses.
        self.phase.left = 0;
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, accepted: bool, inputs: &Inputs, outputs: &Outputs) {
        self.clearing &= !outputs.s_axis_op_tready;
        self.moment += usize::from(self.pipeline.moves());
        if accepted {
            self.accept(inputs);
        }
        self.pipeline.clock(
            accepted,
            outputs.m_axis_result_tvalid && inputs.m_axis_result_tready,
        );
    }

    /// Place of what the operation of that code sets, for a connection and a plane.
    #[inline]
    fn place(&self, setter: u8, operation: &Inputs) -> usize {
        let (connection, plane) = (operation.s_axis_op_connection, operation.s_axis_op_plane);
        match setter {
            op::CONNECT => usize::from(connection),
            op::REMOTE => usize::from(connection) * usize::from(self.planes) + usize::from(plane),
            _ => usize::from(plane),
        }
    }

    #[inline]
    fn word(&self, setter: u8, operation: &Inputs) -> &Word {
        &self.words[usize::from(setter)][self.place(setter, operation)]
    }

    #[inline]
    fn is_enabled(&self, operation: &Inputs) -> bool {
        self.word(op::CONNECT, operation).now.s_axis_op_enabled
    }

    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let (a, b, c): (u64, u64, u64) = (self.random.random(), self.random.random(), self.random.random());
        Inputs {
            s_axis_op_op: (a & 3) as u8,
            s_axis_op_connection: (a >> 2) as u16 & self.connection_mask,
            s_axis_op_plane: ((a >> 18) as u16 & (self.planes - 1)) as u8,
            s_axis_op_tag: (a >> 26 & 3) as u8,
            s_axis_op_enabled: a >> 28 & 1 != 0,
            s_axis_op_peer: (a >> 32) as u32 & 0xff_ffff,
            s_axis_op_domain: (a >> 56) as u8,
            s_axis_op_dscp: (b >> 58) as u8,
            s_axis_op_mac: b & 0xffff_ffff_ffff,
            s_axis_op_address: c as u32,
            ..Default::default()
        }
    }

    /// An operation to offer; the fields that it does not use stay `garbage`.
    fn operation(&mut self, garbage: Inputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let dice = self.random.random::<u64>();
        let mut operation = Inputs {
            s_axis_op_op: self.phase.operations[(dice >> 32) as usize & 31],
            s_axis_op_connection: self.connections.next(dice as u16),
            s_axis_op_plane: self.spray_planes.next((dice >> 16) as u16) as u8,
            ..garbage
        };
        if self.phase.set_up > 0 {
            self.phase.set_up -= 1;
            operation.s_axis_op_op = op::CONNECT;
            operation.s_axis_op_connection = self.connections.hot(self.phase.set_up);
        }
        if operation.s_axis_op_op == op::LOOKUP {
            return operation;
        }
        // A new setting; or but for one field, or for one bit of each, that of before.
        operation.s_axis_op_enabled |= dice >> 37 & 3 != 0;
        let now = self.word(operation.s_axis_op_op, &operation).now;
        let choice = dice >> 39 & 7;
        if choice == 1 || choice == 2 {
            operation.s_axis_op_peer = now.s_axis_op_peer;
            operation.s_axis_op_mac = now.s_axis_op_mac;
        }
        if choice == 0 || choice == 2 {
            operation.s_axis_op_domain = now.s_axis_op_domain;
            operation.s_axis_op_address = now.s_axis_op_address;
        }
        if choice < 2 {
            operation.s_axis_op_dscp = now.s_axis_op_dscp;
        }
        if choice == 3 {
            operation.s_axis_op_peer = now.s_axis_op_peer ^ 1 << (dice >> 42 & 15);
            operation.s_axis_op_domain = now.s_axis_op_domain ^ 1 << (dice >> 46 & 7);
            operation.s_axis_op_dscp = now.s_axis_op_dscp ^ 1 << (dice >> 49 & 3);
            operation.s_axis_op_mac = now.s_axis_op_mac ^ 1 << (dice >> 51 & 31);
            operation.s_axis_op_address = now.s_axis_op_address ^ 1 << (dice >> 56 & 31);
        }
        operation
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let mixture = MIXTURES[random.random_range(0..MIXTURES.len())];
        let mut parts = (mixture.iter().zip(0..)).flat_map(|(&parts, code)| std::iter::repeat_n(code, parts));
        self.phase.operations = std::array::from_fn(|_| parts.next().unwrap_or(op::LOOKUP));
        self.connections.change(random, HOT);
        self.spray_planes.change(random, 2);
        // Sometimes the phase finds what is there.
        self.phase.set_up = if random.random_range(0..4) == 0 {
            0
        } else {
            self.connections.count().min(HOT)
        };
        self.phase.left = self.phase.set_up + random.random_range(1..400);
    }

    /// The operation takes effect.
    #[inline]
    fn accept(&mut self, operation: &Inputs) {
        if operation.s_axis_op_op == op::LOOKUP {
            self.count_lookup(operation);
            for setter in op::CONNECT..=op::LOCAL {
                let place = self.place(setter, operation);
                self.words[usize::from(setter)][place].asked = self.moment;
            }
        } else {
            self.count_set(operation);
            let setter = operation.s_axis_op_op;
            let place = self.place(setter, operation);
            let word = &mut self.words[usize::from(setter)][place];
            *word = Word {
                now: *operation,
                before: word.now,
                set: self.moment,
                set_before: word.set,
                ..*word
            };
        }
        self.last = *operation;
    }

    #[inline]
    fn count_hazard(&mut self, setter: u8, hazard: usize, since: usize, happened: bool) {
        let distance = self.moment - since;
        if happened && distance <= DISTANCES {
            let kind = usize::from(setter) * HAZARD_BINS.len() + hazard;
            self.bins.hit(HAZARD + kind * DISTANCES + distance - 1, true);
        }
    }

    #[inline]
    fn count_set(&mut self, operation: &Inputs) {
        let setter = operation.s_axis_op_op;
        let word = *self.word(setter, operation);
        let enabled = self.is_enabled(operation);
        let is = |code: u8| setter == code;
        let peer = operation.s_axis_op_peer != word.now.s_axis_op_peer;
        let domain = operation.s_axis_op_domain != word.now.s_axis_op_domain;
        let class = operation.s_axis_op_dscp != word.now.s_axis_op_dscp;
        let mac = operation.s_axis_op_mac != word.now.s_axis_op_mac;
        let address = operation.s_axis_op_address != word.now.s_axis_op_address;
        let enables = operation.s_axis_op_enabled;
        let stays = is(op::CONNECT) && enables && enabled;
        self.bins.hit_each(
            SET,
            [
                is(op::CONNECT) && enables,
                is(op::CONNECT) && !enables,
                is(op::CONNECT) && !enables && enabled,
                is(op::CONNECT) && enables && !enabled && word.set > 0,
                stays && peer && !domain && !class,
                stays && !peer && domain && !class,
                stays && !peer && !domain && class,
                is(op::REMOTE) && enabled,
                is(op::REMOTE) && !enabled,
                is(op::REMOTE) && mac && !address,
                is(op::REMOTE) && !mac && address,
                is(op::LOCAL),
                is(op::LOCAL) && mac && !address,
                is(op::LOCAL) && !mac && address,
            ],
        );
        let shows = is(op::CONNECT) || enabled;
        let change = shows && Word::differs(operation, &word.now);
        self.count_hazard(setter, 3, word.asked, change);
        self.count_hazard(setter, 4, word.set, true);
    }

    #[inline]
    fn count_lookup(&mut self, operation: &Inputs) {
        let known = self.is_enabled(operation);
        let [connect, remote, local] =
            [op::CONNECT, op::REMOTE, op::LOCAL].map(|setter| *self.word(setter, operation));
        for (setter, word) in (0..).zip([connect, remote, local]) {
            let change = (known || setter == op::CONNECT) && Word::differs(&word.now, &word.before);
            let close = word.set - word.set_before <= DISTANCES;
            self.count_hazard(setter, 0, word.set, change);
            self.count_hazard(setter, 1, word.set, change && close);
            self.count_hazard(setter, 2, word.asked, true);
        }
        let (connection, plane) = (operation.s_axis_op_connection, operation.s_axis_op_plane);
        let ends = (
            connection == 0 && plane == 0,
            connection == self.connection_mask && u16::from(plane) + 1 == self.planes,
        );
        let last = &self.last;
        let asked = last.s_axis_op_op == op::LOOKUP;
        let same_connection = asked && last.s_axis_op_connection == connection;
        let same_plane = asked && last.s_axis_op_plane == plane;
        let kept = connect.now;
        let all_kept = kept.s_axis_op_peer != 0
            && kept.s_axis_op_domain != 0
            && kept.s_axis_op_dscp != 0
            && remote.set > 0
            && local.set > 0;
        self.bins.hit_each(
            LOOKUP,
            [
                known,
                !known && connect.set == 0,
                !known && all_kept,
                known && remote.set == 0,
                known && local.set == 0,
                known && remote.set > 0 && local.set > 0,
                known && ends.0,
                known && ends.1,
                known && same_connection && !same_plane,
                known && same_plane && !same_connection,
                !known && asked && self.is_enabled(last),
                same_connection && same_plane && last.s_axis_op_tag != operation.s_axis_op_tag,
            ],
        );
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let waits = inputs.s_axis_op_tvalid && !outputs.s_axis_op_tready && !inputs.rst;
        let clears = self.clearing && !outputs.s_axis_op_tready;
        self.bins.hit_each(
            0,
            [
                waits && self.pipeline.is_full(),
                waits && clears,
                self.held.is_some() && outputs.s_axis_op_tready,
                outputs.m_axis_result_tvalid && !inputs.m_axis_result_tready,
                inputs.rst && !self.pipeline.is_empty(),
                inputs.rst && clears,
            ],
        );
    }
}
