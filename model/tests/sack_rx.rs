//! `sack_rx` against its contract: directed cases, and random operations against a slow reference that keeps every
//! PSN ever received in a set.

mod common;

use common::Delay;
use metaroce_model::{
    Params,
    port::{
        Vector,
        sack_rx::{COMMIT, Inputs, LATENCY, Outputs, op, verdict},
    },
    unit::{Unit, sack_rx::SackRx},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// An operation, offered with the output open.
fn operation(op: u8, path: u16, psn: u32) -> Inputs {
    Inputs {
        s_axis_rx_tvalid: true,
        s_axis_rx_op: op,
        s_axis_rx_path: path,
        s_axis_rx_psn: psn,
        m_axis_rx_tready: true,
        ..Default::default()
    }
}

fn idle() -> Inputs {
    Inputs {
        m_axis_rx_tready: true,
        ..Default::default()
    }
}

/// A unit of profile tiny (32-bit vector, 8-bit PSN) after its clear.
fn tiny() -> SackRx {
    let mut unit = SackRx::new(&Params::load("tiny").unwrap());
    while !unit.outputs().s_axis_rx_tready {
        unit.clock(&idle());
    }
    unit
}

/// Does one operation and waits for its result, so that its base is committed.
fn run(unit: &mut SackRx, op: u8, path: u16, psn: u32) -> Outputs {
    while !unit.outputs().s_axis_rx_tready {
        unit.clock(&idle());
    }
    unit.clock(&operation(op, path, psn));
    for _ in 1..LATENCY {
        assert!(!unit.outputs().m_axis_rx_tvalid);
        unit.clock(&idle());
    }
    let result = unit.outputs();
    assert!(result.m_axis_rx_tvalid);
    unit.clock(&idle());
    result
}

fn packet(unit: &mut SackRx, psn: u32) -> Outputs {
    run(unit, op::PACKET, 3, psn)
}

fn bits(set: &[usize]) -> Vector {
    let mut vector = Vector::ZERO;
    for &bit in set {
        vector.set(bit, true);
    }
    vector
}

/// R6: packets in order move the base and leave the vector empty.
#[test]
fn in_order() {
    let mut unit = tiny();
    for psn in 0..600u32 {
        let result = packet(&mut unit, psn & 0xff);
        assert_eq!(result.m_axis_rx_verdict, verdict::NEW);
        assert_eq!(result.m_axis_rx_base, (psn + 1) & 0xff);
        assert_eq!(result.m_axis_rx_vector, Vector::ZERO);
        assert!(!result.m_axis_rx_hole && !result.m_axis_rx_new_hole && !result.m_axis_rx_filled);
    }
}

/// R4, R6: a gap shows at once, each later packet has its bit, and the packet that fills it moves the base past all.
#[test]
fn a_hole_and_its_filling() {
    let mut unit = tiny();
    packet(&mut unit, 0);
    let result = packet(&mut unit, 3);
    assert!(result.m_axis_rx_new_hole && result.m_axis_rx_hole && !result.m_axis_rx_filled);
    assert_eq!((result.m_axis_rx_base, result.m_axis_rx_vector), (1, bits(&[3])));
    let result = packet(&mut unit, 4);
    assert!(!result.m_axis_rx_new_hole && result.m_axis_rx_hole && !result.m_axis_rx_filled);
    assert_eq!(result.m_axis_rx_vector, bits(&[3, 4]));
    let result = packet(&mut unit, 2);
    assert!(!result.m_axis_rx_new_hole && result.m_axis_rx_hole && result.m_axis_rx_filled);
    assert_eq!(
        (result.m_axis_rx_base, result.m_axis_rx_vector),
        (1, bits(&[2, 3, 4]))
    );
    let result = packet(&mut unit, 1);
    assert!(!result.m_axis_rx_new_hole && !result.m_axis_rx_hole && result.m_axis_rx_filled);
    assert_eq!(
        (result.m_axis_rx_base, result.m_axis_rx_vector),
        (5, Vector::ZERO)
    );
}

/// R6: the verdict at each edge of the window and of half the range; the vector's index is the PSN modulo its length.
#[test]
fn edges_of_the_window() {
    for base in [0u32, 1, 31, 32, 100, 127, 128, 224, 225, 255] {
        for (ahead, expected) in [
            (0, verdict::NEW),
            (31, verdict::NEW),
            (32, verdict::OUT_OF_WINDOW),
            (127, verdict::OUT_OF_WINDOW),
            (128, verdict::DUPLICATE),
            (255, verdict::DUPLICATE),
        ] {
            let mut unit = tiny();
            run(&mut unit, op::INIT, 3, base);
            let psn = (base + ahead) & 0xff;
            let result = packet(&mut unit, psn);
            assert_eq!(result.m_axis_rx_verdict, expected, "base {base}, ahead {ahead}");
            assert_eq!(
                (result.m_axis_rx_op, result.m_axis_rx_path, result.m_axis_rx_psn),
                (op::PACKET, 3, psn)
            );
            let (base_after, vector) = match ahead {
                0 => ((base + 1) & 0xff, Vector::ZERO),
                31 => (base, bits(&[psn as usize % 32])),
                _ => (base, Vector::ZERO),
            };
            assert_eq!(
                (result.m_axis_rx_base, result.m_axis_rx_vector),
                (base_after, vector)
            );
            let again = packet(&mut unit, psn);
            let again_expected = match expected {
                verdict::NEW => verdict::DUPLICATE,
                other => other,
            };
            assert_eq!(again.m_axis_rx_verdict, again_expected);
            assert_eq!(
                (again.m_axis_rx_base, again.m_axis_rx_vector),
                (base_after, vector)
            );
        }
    }
}

/// R6: a whole window received backwards, with the base last, at every length of the vector and across its wrap.
#[test]
fn a_full_window_backwards() {
    for sack_bits in [16u32, 32, 64, 128, 256] {
        let mut unit = SackRx::new(&sized(sack_bits));
        let first = 3 * sack_bits + 5;
        run(&mut unit, op::INIT, 0, first);
        for ahead in (1..sack_bits).rev() {
            let result = run(&mut unit, op::PACKET, 0, first + ahead);
            assert_eq!(
                (result.m_axis_rx_verdict, result.m_axis_rx_base),
                (verdict::NEW, first)
            );
            assert_eq!(result.m_axis_rx_vector.count_ones() as u32, sack_bits - ahead);
        }
        let result = run(&mut unit, op::PACKET, 0, first);
        assert_eq!(result.m_axis_rx_base, (first + sack_bits) & (4 * sack_bits - 1));
        assert_eq!(
            (result.m_axis_rx_vector, result.m_axis_rx_hole),
            (Vector::ZERO, false)
        );
    }
}

/// R2: INIT starts one path anew and leaves the others.
#[test]
fn init_starts_one_path_anew() {
    let mut unit = tiny();
    packet(&mut unit, 1);
    run(&mut unit, op::PACKET, 4, 2);
    let result = run(&mut unit, op::INIT, 3, 77);
    assert_eq!(
        (result.m_axis_rx_op, result.m_axis_rx_verdict),
        (op::INIT, verdict::NEW)
    );
    assert_eq!(
        (result.m_axis_rx_base, result.m_axis_rx_vector),
        (77, Vector::ZERO)
    );
    assert!(!result.m_axis_rx_hole && !result.m_axis_rx_new_hole && !result.m_axis_rx_filled);
    assert_eq!(packet(&mut unit, 76).m_axis_rx_verdict, verdict::DUPLICATE);
    assert_eq!(packet(&mut unit, 77).m_axis_rx_verdict, verdict::NEW);
    let result = run(&mut unit, op::PACKET, 4, 1);
    assert_eq!(
        (result.m_axis_rx_base, result.m_axis_rx_vector),
        (0, bits(&[1, 2]))
    );
}

/// R6: a base counts as the window `COMMIT` moving clocks after its operation was accepted, and not before.
#[test]
fn the_window_lags_by_commit() {
    for distance in 1..=COMMIT + 1 {
        let mut unit = tiny();
        unit.clock(&operation(op::PACKET, 3, 0));
        for _ in 1..distance {
            unit.clock(&idle());
        }
        unit.clock(&operation(op::PACKET, 3, 32));
        for _ in 1..LATENCY {
            unit.clock(&idle());
        }
        let expected = if distance < COMMIT {
            verdict::OUT_OF_WINDOW
        } else {
            verdict::NEW
        };
        assert_eq!(unit.outputs().m_axis_rx_verdict, expected, "distance {distance}");
        assert_eq!(unit.outputs().m_axis_rx_base, 1);
    }
}

/// R6: while the window lags, what lies between it and the base is a duplicate, as it is everywhere else.
#[test]
fn a_duplicate_is_found_at_every_distance() {
    for distance in 1..=2 * COMMIT {
        let mut unit = tiny();
        unit.clock(&operation(op::PACKET, 3, 0));
        for _ in 1..distance {
            unit.clock(&idle());
        }
        assert_eq!(
            packet_at_once(&mut unit, 0),
            verdict::DUPLICATE,
            "distance {distance}"
        );
    }
}

/// The verdict on a packet that is accepted in the present clock.
fn packet_at_once(unit: &mut SackRx, psn: u32) -> u8 {
    unit.clock(&operation(op::PACKET, 3, psn));
    for _ in 1..LATENCY {
        unit.clock(&idle());
    }
    unit.outputs().m_axis_rx_verdict
}

/// H1: after an INIT nothing is accepted for `COMMIT - 1` moving clocks; clocks in which the pipeline stands do not count.
#[test]
fn nothing_is_accepted_after_an_init() {
    let mut unit = tiny();
    unit.clock(&operation(op::INIT, 3, 9));
    for _ in 1..COMMIT {
        assert!(!unit.outputs().s_axis_rx_tready);
        unit.clock(&idle());
    }
    assert!(unit.outputs().s_axis_rx_tready);

    let mut unit = tiny();
    unit.clock(&operation(op::PACKET, 0, 0));
    unit.clock(&operation(op::PACKET, 1, 0));
    let closed = Inputs::default();
    for _ in 0..LATENCY - 2 {
        unit.clock(&closed);
    }
    assert!(unit.outputs().m_axis_rx_tvalid && unit.outputs().s_axis_rx_tready);
    unit.clock(&Inputs {
        m_axis_rx_tready: false,
        ..operation(op::INIT, 3, 9)
    });
    for _ in 0..100 {
        assert!(!unit.outputs().s_axis_rx_tready);
        unit.clock(&closed);
    }
    // The first clock with the output open still stands: the queue is full until it ends.
    for _ in 0..COMMIT {
        assert!(!unit.outputs().s_axis_rx_tready);
        unit.clock(&idle());
    }
    assert!(unit.outputs().s_axis_rx_tready);
}

/// H1: the clear after reset takes `connections * paths + COMMIT` clocks, counted from the last clock with `rst` high.
#[test]
fn the_clear_after_reset_is_counted() {
    for profile in ["tiny", "ecp5"] {
        let params = Params::load(profile).unwrap();
        let clear = params.total_paths() as usize + COMMIT;
        let mut unit = SackRx::new(&params);
        let offered = operation(op::PACKET, 1, 7);
        let not_ready = |unit: &mut SackRx| {
            let mut clocks = 0;
            while !unit.outputs().s_axis_rx_tready {
                assert_eq!(unit.outputs(), Outputs::default());
                unit.clock(&offered);
                clocks += 1;
            }
            clocks
        };
        assert_eq!(not_ready(&mut unit), clear);
        unit.clock(&offered);
        for _ in 0..LATENCY {
            unit.clock(&offered);
        }
        assert!(unit.outputs().m_axis_rx_tvalid);
        for _ in 0..3 {
            unit.clock(&Inputs { rst: true, ..offered });
            assert_eq!(unit.outputs(), Outputs::default());
        }
        assert_eq!(not_ready(&mut unit), clear);
        assert_eq!(run(&mut unit, op::PACKET, 1, 7).m_axis_rx_verdict, verdict::NEW);
    }
}

/// Profile tiny with another length of the vector and the smallest PSN that it allows.
fn sized(sack_bits: u32) -> Params {
    Params {
        sack_bits,
        psn_bits: sack_bits.ilog2() + 2,
        ..Params::load("tiny").unwrap()
    }
}

/// PSN 0 in the reference, whose PSNs do not wrap.
const ZERO: u64 = 1 << 40;

/// The slow reference of one path.
struct Path {
    received: BTreeSet<u64>,
    next: u64,
    base: u64,
    /// The base after each operation, with the moving clock in which it was accepted.
    bases: Vec<(u64, u64)>,
}

impl Path {
    fn starting_at(psn: u32) -> Self {
        let first = ZERO + u64::from(psn);
        Self {
            received: BTreeSet::new(),
            next: first,
            base: first,
            bases: vec![],
        }
    }
}

/// The slow reference of the unit.
struct Reference {
    params: Params,
    paths: Vec<Path>,
    delay: Delay<Outputs>,
    /// The moving clock from which on operations are accepted again.
    accepts_from: u64,
    clearing: usize,
    bins: BTreeMap<&'static str, u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            paths: (0..params.total_paths()).map(|_| Path::starting_at(0)).collect(),
            delay: Delay::new(LATENCY),
            accepts_from: 0,
            clearing: params.total_paths() as usize + COMMIT,
            bins: BTreeMap::new(),
        }
    }

    fn hit(&mut self, bin: &'static str, condition: bool) {
        *self.bins.entry(bin).or_default() += u32::from(condition);
    }

    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_rx_tready: self.clearing == 0
                && self.delay.moves()
                && self.delay.moving >= self.accepts_from,
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
            self.hit("stall", !self.delay.moves());
            let accepted = inputs.s_axis_rx_tvalid && self.outputs().s_axis_rx_tready;
            let result = accepted.then(|| self.operate(inputs));
            self.delay.clock(result, inputs.m_axis_rx_tready);
        }
    }

    fn committed(&self, index: usize) -> u64 {
        let path = &self.paths[index];
        let old = |&&(accepted, _): &&(u64, u64)| accepted + COMMIT as u64 <= self.delay.moving;
        path.bases.iter().rev().find(old).map_or(ZERO, |&(_, base)| base)
    }

    fn operate(&mut self, inputs: &Inputs) -> Outputs {
        let index = usize::from(inputs.s_axis_rx_path);
        let (psn, modulus) = (u64::from(inputs.s_axis_rx_psn), 1 << self.params.psn_bits);
        let sack_bits = u64::from(self.params.sack_bits);
        let mut result = Outputs {
            m_axis_rx_tvalid: true,
            m_axis_rx_op: inputs.s_axis_rx_op,
            m_axis_rx_path: inputs.s_axis_rx_path,
            m_axis_rx_psn: inputs.s_axis_rx_psn,
            ..Default::default()
        };
        if inputs.s_axis_rx_op == op::INIT {
            self.accepts_from = self.delay.moving + COMMIT as u64;
            let bases = std::mem::take(&mut self.paths[index].bases);
            self.paths[index] = Path {
                bases,
                ..Path::starting_at(inputs.s_axis_rx_psn)
            };
            result.m_axis_rx_verdict = verdict::NEW;
            self.hit("init", true);
        } else {
            let window = self.committed(index);
            let ahead = (psn + modulus - window % modulus) % modulus;
            let path = &mut self.paths[index];
            let (base, next) = (path.base, path.next);
            let psn = window + ahead;
            if ahead >= modulus / 2 {
                result.m_axis_rx_verdict = verdict::DUPLICATE;
            } else if ahead >= sack_bits {
                result.m_axis_rx_verdict = verdict::OUT_OF_WINDOW;
            } else if path.received.contains(&psn) {
                result.m_axis_rx_verdict = verdict::DUPLICATE;
            } else {
                result.m_axis_rx_verdict = verdict::NEW;
                result.m_axis_rx_new_hole = psn > next;
                result.m_axis_rx_filled = psn < next;
                path.received.insert(psn);
                path.next = next.max(psn + 1);
                while path.received.contains(&path.base) {
                    path.base += 1;
                }
            }
            let base_after = path.base;
            let is = |verdict| result.m_axis_rx_verdict == verdict;
            self.hit("new", is(verdict::NEW));
            self.hit("duplicate before the window", ahead >= modulus / 2);
            self.hit("duplicate in the window", is(verdict::DUPLICATE) && psn >= base);
            self.hit("duplicate within the lag", ahead < base - window);
            self.hit("out of window", is(verdict::OUT_OF_WINDOW));
            self.hit(
                "out of window for the lag",
                is(verdict::OUT_OF_WINDOW) && ahead < base - window + sack_bits,
            );
            self.hit("new hole", result.m_axis_rx_new_hole);
            self.hit("filled", result.m_axis_rx_filled);
            self.hit("base wraps", base / modulus != base_after / modulus);
            self.hit("base moves far", base_after > base + sack_bits / 2);
            self.hit(
                "last bit of the window",
                is(verdict::NEW) && psn == base + sack_bits - 1,
            );
        }
        let path = &mut self.paths[index];
        path.bases.push((self.delay.moving, path.base));
        result.m_axis_rx_base = (path.base % modulus) as u32;
        result.m_axis_rx_hole = path.base != path.next;
        for psn in path.base..path.base + sack_bits {
            if path.received.contains(&psn) {
                result.m_axis_rx_vector.set((psn % sack_bits) as usize, true);
            }
        }
        result
    }

    /// A PSN that is likely to matter on that path; `keep_hole`: seldom the one that moves the base.
    fn likely_psn(&self, random: &mut ChaCha8Rng, index: usize, keep_hole: bool) -> u32 {
        let path = &self.paths[index];
        let sack_bits = u64::from(self.params.sack_bits);
        let psn = match random.random_range(0..16) {
            _ if keep_hole && random.random_ratio(63, 64) => path.next.max(path.base + 1),
            0..6 => path.next,
            6..9 => path.base,
            9 => path.next + random.random_range(0..4),
            10 => path.base + random.random_range(0..sack_bits),
            11 => path.base + sack_bits - random.random_range(0..3),
            12 => path.base - random.random_range(0..4),
            13 => self.committed(index) + sack_bits + random.random_range(0..2) - 1,
            14 => path.base + (1 << (self.params.psn_bits - 1)) + random.random_range(0..2) - 1,
            _ => random.random(),
        };
        (psn % (1 << self.params.psn_bits)) as u32
    }
}

/// R6, H1: every output in every clock is the reference's, at every length of the vector, with stalls, INITs and resets,
/// and each case that the contract tells apart occurs.
#[test]
fn random_operations_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    for sack_bits in [16, 32, 64, 128, 256] {
        let params = sized(sack_bits);
        let mut unit = SackRx::new(&params);
        let mut reference = Reference::new(&params);
        for clock in 0..60_000 {
            let phase = clock / 256;
            let paths = [1, 2, params.total_paths() as u16][phase % 3];
            let path = random.random_range(0..paths);
            let op = u8::from(random.random_ratio(1, 400));
            let inputs = Inputs {
                rst: random.random_ratio(1, 8000),
                s_axis_rx_tvalid: random.random_ratio([15, 3][phase / 3 % 2], 16),
                m_axis_rx_tready: random.random_ratio([16, 12, 3][phase / 6 % 3], 16),
                ..operation(
                    op,
                    path,
                    reference.likely_psn(&mut random, path.into(), phase % 4 == 0),
                )
            };
            assert_eq!(
                unit.outputs(),
                reference.outputs(),
                "{sack_bits} bits, clock {clock}"
            );
            unit.clock(&inputs);
            reference.clock(&inputs);
        }
        for (bin, hits) in &reference.bins {
            assert!(*hits > 0, "{sack_bits} bits: '{bin}' never occurred");
        }
        assert_eq!(reference.bins.len(), 14);
    }
}
