//! `sack_rx` against its contract: random operations against a slow reference that keeps every PSN ever received in a
//! set.

mod common;

use common::{Delay, sized};
use metaroce_model::{
    Params,
    port::sack_rx::{COMMIT, Inputs, LATENCY, Outputs, op, verdict},
    unit::{Unit, sack_rx::SackRx},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

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
        } else if inputs.s_axis_rx_op != op::PACKET {
            self.hit("query", inputs.s_axis_rx_op == op::QUERY);
            self.hit("acknowledge", inputs.s_axis_rx_op == op::ACKNOWLEDGE);
            // What a packet with this PSN would get.
            let window = self.committed(index);
            let ahead = (psn + modulus - window % modulus) % modulus;
            let received = &self.paths[index].received;
            result.m_axis_rx_verdict = if ahead >= modulus / 2 || received.contains(&(window + ahead)) {
                verdict::DUPLICATE
            } else if ahead >= sack_bits {
                verdict::OUT_OF_WINDOW
            } else {
                verdict::NEW
            };
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
            let op = match random.random_range(0..400) {
                0 => op::INIT,
                1..20 => op::QUERY,
                20..24 => op::ACKNOWLEDGE,
                _ => op::PACKET,
            };
            let inputs = Inputs {
                rst: random.random_ratio(1, 8000),
                s_axis_rx_tvalid: random.random_ratio([15, 3][phase / 3 % 2], 16),
                m_axis_rx_tready: random.random_ratio([16, 12, 3][phase / 6 % 3], 16),
                s_axis_rx_op: op,
                s_axis_rx_path: path,
                s_axis_rx_psn: reference.likely_psn(&mut random, path.into(), phase % 4 == 0),
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
        assert_eq!(reference.bins.len(), 16);
    }
}
