//! `path_table` against its contract: random operations against a slow reference that keeps no bit-vector and scans
//! instead.

mod common;

use common::Delay;
use metaroce_model::{
    Params,
    port::path_table::{Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op, state},
    unit::{Unit, path_table::PathTable},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// The slow reference of one path.
#[derive(Clone, Copy, Default)]
struct Path {
    plane: u8,
    source_port: u16,
    state: u8,
    window: u16,
    in_flight: i64,
    /// 8 x SRTT and 4 x RTTVAR.
    round_trip: Option<(i64, i64)>,
    backoff: u8,
    packets: i64,
    marked: i64,
    utilisation: i64,
    epoch: i64,
    last_progress: u32,
}

impl Path {
    fn is_eligible(&self) -> bool {
        self.state == state::UP && self.in_flight < i64::from(self.window / 16).max(1)
    }
}

/// The slow reference of the unit.
struct Reference {
    params: Params,
    paths: Vec<Path>,
    /// Of each connection: the path chosen last and whether its turn has one selection left.
    turns: Vec<(u16, bool)>,
    waiting: Option<Inputs>,
    /// Path operations issued, with their moving clocks.
    issued: Vec<(u64, u16)>,
    delay: Delay<Outputs>,
    clearing: u32,
    bins: BTreeMap<&'static str, u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            paths: vec![Path::default(); params.total_paths() as usize],
            turns: vec![(0, false); params.connections as usize],
            waiting: None,
            issued: vec![],
            delay: Delay::new(LATENCY),
            clearing: params.total_paths(),
            bins: BTreeMap::new(),
        }
    }

    fn hit(&mut self, bin: &'static str, condition: bool) {
        *self.bins.entry(bin).or_default() += u32::from(condition);
    }

    /// The operation in the input register issues in this clock.
    fn issues(&self) -> bool {
        let Some(waiting) = self.waiting else { return false };
        let too_near = |&&(clock, path): &&(u64, u16)| {
            path == waiting.s_axis_op_path && clock + SAME_PATH_CLOCKS as u64 > self.delay.moving
        };
        let alone = waiting.s_axis_op_op == op::SELECT || self.issued.iter().rev().find(too_near).is_none();
        self.delay.moves() && alone
    }

    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.clearing == 0 && (self.waiting.is_none() || self.issues()),
            ..self.delay.head().copied().unwrap_or_default()
        }
    }

    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            let bins = std::mem::take(&mut self.bins);
            *self = Self::new(&self.params);
            self.bins = bins;
            self.hit("reset", true);
        } else if self.clearing > 0 {
            self.clearing -= 1;
        } else {
            let accepted = inputs.s_axis_op_tvalid && self.outputs().s_axis_op_tready;
            self.hit("stall", !self.delay.moves());
            let held = self.delay.moves() && self.waiting.is_some() && !self.issues();
            self.hit("held for its path", held);
            let result = if self.issues() {
                self.waiting.take().map(|operation| self.operate(&operation))
            } else {
                None
            };
            self.delay.clock(result, inputs.m_axis_result_tready);
            if accepted {
                self.waiting = Some(*inputs);
            }
        }
    }

    fn operate(&mut self, operation: &Inputs) -> Outputs {
        if operation.s_axis_op_op == op::SELECT {
            self.select(operation.s_axis_op_path)
        } else {
            self.issued.push((self.delay.moving, operation.s_axis_op_path));
            self.change(operation)
        }
    }

    fn select(&mut self, asked: u16) -> Outputs {
        let paths = self.params.paths as u16;
        let connection = asked / paths;
        let (last, one_left) = self.turns[usize::from(connection)];
        let is_eligible = |path: u16| self.paths[usize::from(connection * paths + path)].is_eligible();
        let chosen = if one_left && is_eligible(last) {
            Some((last, false))
        } else {
            (1..=paths)
                .map(|step| ((last + step) % paths, true))
                .find(|&(path, _)| is_eligible(path))
        };
        self.hit("second of a turn", matches!(chosen, Some((_, false))));
        self.hit(
            "turn cut short",
            one_left && matches!(chosen, Some((path, true)) if path != last),
        );
        self.hit(
            "round the ring",
            matches!(chosen, Some((path, true)) if path <= last),
        );
        self.hit("none eligible", chosen.is_none());
        let mut result = Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: op::SELECT,
            m_axis_result_path: asked,
            ..Default::default()
        };
        if let Some((path, one_left)) = chosen {
            self.turns[usize::from(connection)] = (path, one_left);
            let index = connection * paths + path;
            result.m_axis_result_path = index;
            result.m_axis_result_found = true;
            result.m_axis_result_plane = self.paths[usize::from(index)].plane;
            result.m_axis_result_source_port = self.paths[usize::from(index)].source_port;
        }
        result
    }

    fn change(&mut self, operation: &Inputs) -> Outputs {
        let now = operation.s_axis_op_now;
        let most_in_flight = (1 << self.params.window_bits) - 1;
        let mut path = self.paths[usize::from(operation.s_axis_op_path)];
        let old = path;

        let epoch = i64::from(now / 1024);
        let epochs = 1i64 << (self.params.timestamp_bits - 10);
        for _ in 0..(epoch - path.epoch).rem_euclid(epochs) {
            path.utilisation /= 2;
        }
        path.epoch = epoch;

        match operation.s_axis_op_op {
            op::CONFIGURE => {
                if operation.s_axis_op_clear {
                    path = Path {
                        epoch,
                        last_progress: now,
                        ..Path::default()
                    };
                }
                path.plane = operation.s_axis_op_plane;
                path.source_port = operation.s_axis_op_source_port;
                path.state = operation.s_axis_op_state;
                path.window = operation.s_axis_op_window;
            }
            op::SEND => {
                if path.in_flight == 0 {
                    path.last_progress = now;
                }
                path.in_flight = (path.in_flight + 1).min(most_in_flight);
                path.utilisation = (path.utilisation + 1).min(65535);
            }
            op::ACKNOWLEDGE => {
                let acknowledged = i64::from(operation.s_axis_op_acknowledged);
                path.in_flight = (path.in_flight - acknowledged - i64::from(operation.s_axis_op_lost)).max(0);
                path.packets += acknowledged;
                path.marked += i64::from(operation.s_axis_op_marked);
                if operation.s_axis_op_rtt_valid {
                    let rtt = i64::from(operation.s_axis_op_rtt);
                    path.round_trip = Some(match path.round_trip {
                        None => (8 * rtt, 2 * rtt),
                        Some((smoothed8, variance4)) => {
                            let error = rtt - smoothed8 / 8;
                            (smoothed8 + error, variance4 + error.abs() - variance4 / 4)
                        }
                    });
                }
                if acknowledged > 0 {
                    path.last_progress = now;
                    path.backoff = 0;
                    if path.state == state::SUSPECT {
                        path.state = state::UP;
                    }
                }
            }
            op::TIMEOUT => {
                path.in_flight = 0;
                path.window = 16;
                path.backoff = (path.backoff + 1).min(15);
                if path.state == state::UP {
                    path.state = state::SUSPECT;
                }
            }
            _ => {}
        }
        self.paths[usize::from(operation.s_axis_op_path)] = path;

        let largest = (1i64 << (self.params.timestamp_bits - 1)) - 1;
        let ticks = path
            .round_trip
            .map_or((1 << self.params.rtt_bits) - 1, |(smoothed8, variance4)| {
                smoothed8 / 8 + variance4.max(1)
            });
        let timeout = ticks * (1 << path.backoff);
        self.hit(
            "in flight saturated",
            old.in_flight == most_in_flight && path.in_flight == most_in_flight,
        );
        self.hit(
            "more acknowledged than in flight",
            old.in_flight > 0 && path.in_flight == 0,
        );
        self.hit(
            "suspect again up",
            old.state == state::SUSPECT && path.state == state::UP,
        );
        self.hit("back-off at its most", old.backoff == 15);
        self.hit("timeout cut", timeout > largest);
        self.hit("utilisation gone", old.utilisation > 0 && path.utilisation == 0);
        self.hit("became eligible", !old.is_eligible() && path.is_eligible());
        self.hit("became not eligible", old.is_eligible() && !path.is_eligible());

        let (smoothed8, variance4) = path.round_trip.unwrap_or_default();
        Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_path: operation.s_axis_op_path,
            m_axis_result_plane: path.plane,
            m_axis_result_source_port: path.source_port,
            m_axis_result_state: path.state,
            m_axis_result_window: path.window,
            m_axis_result_in_flight: path.in_flight as u16,
            m_axis_result_rtt_valid: path.round_trip.is_some(),
            m_axis_result_smoothed_rtt: (smoothed8 / 8) as u32,
            m_axis_result_rtt_variance: (variance4 / 4) as u32,
            m_axis_result_timeout: timeout.min(largest) as u32,
            m_axis_result_backoff: path.backoff,
            m_axis_result_packets: (path.packets % 65536) as u16,
            m_axis_result_marked: (path.marked % 65536) as u16,
            m_axis_result_utilisation: path.utilisation as u16,
            m_axis_result_last_progress: path.last_progress,
            ..Default::default()
        }
    }
}

/// A random number of that many bits, more often than not a small one.
fn bits(random: &mut ChaCha8Rng, width: u32) -> u32 {
    let width = if random.random() { width } else { width.min(3) };
    random.random::<u32>() >> (32 - width)
}

/// R2, R3, R8, R9, H1: every output in every clock is the reference's, with stalls and resets, and each case that the contract
/// tells apart occurs.
#[test]
fn random_operations_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for (connections, paths) in [(2, 4), (4, 2), (2, 32)] {
        let params = Params {
            connections,
            paths,
            wheel_tick_bits: 4,
            ..Params::load("tiny").unwrap()
        };
        params.check().unwrap();
        let mut unit = PathTable::new(&params);
        let mut reference = Reference::new(&params);
        let mut now = 0u32;
        for clock in 0..100_000 {
            // Phases of 512 clocks: few paths or all, dense or sparse operations, an open or a narrow output, which operations prevail
            // and how much.
            let phase = clock / 512;
            let among = [1, 3, params.total_paths()][phase % 3];
            let prevailing = [op::SEND, op::SELECT, op::ACKNOWLEDGE, op::TIMEOUT][phase / 18 % 4];
            now = (now + random.random_range(0..4) + 700 * u32::from(random.random_ratio(1, 400)))
                & ((1 << params.timestamp_bits) - 1);
            let op = match random.random_range(0..8) {
                _ if phase % 5 == 0 && random.random_ratio(63, 64) => prevailing,
                0..3 => prevailing,
                3..5 => op::SELECT,
                _ => random.random_range(0..8),
            };
            let configured = [
                state::UP,
                state::UP,
                state::UP,
                state::SUSPECT,
                state::PROBING,
                state::DOWN,
            ];
            let inputs = Inputs {
                rst: random.random_ratio(1, 10_000),
                s_axis_op_tvalid: random.random_ratio([15, 3][phase / 3 % 2], 16),
                s_axis_op_op: op,
                s_axis_op_path: random.random_range(0..among) as u16,
                s_axis_op_clear: random.random_ratio(1, 16),
                s_axis_op_plane: bits(&mut random, 1) as u8,
                s_axis_op_source_port: random.random(),
                s_axis_op_state: configured[random.random_range(0..configured.len())],
                s_axis_op_window: bits(&mut random, params.window_bits + 4) as u16,
                s_axis_op_acknowledged: bits(&mut random, params.sack_count_bits()) as u16,
                s_axis_op_lost: bits(&mut random, 3) as u16,
                s_axis_op_marked: bits(&mut random, params.sack_count_bits()) as u16,
                s_axis_op_rtt_valid: random.random(),
                s_axis_op_rtt: bits(&mut random, params.rtt_bits),
                s_axis_op_now: now,
                m_axis_result_tready: random.random_ratio([16, 12, 3][phase / 6 % 3], 16),
            };
            assert_eq!(
                unit.outputs(),
                reference.outputs(),
                "{paths} paths, clock {clock}"
            );
            unit.clock(&inputs);
            reference.clock(&inputs);
        }
        for (bin, hits) in &reference.bins {
            assert!(*hits > 0, "{paths} paths: '{bin}' never occurred");
        }
        assert_eq!(reference.bins.len(), 15);
    }
}
