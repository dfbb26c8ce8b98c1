//! `ack_table` against its contract: random operations against a slow reference, and the life of one acknowledgement.

mod common;

use common::Spaced;
use metaroce_model::{
    Params,
    port::ack_table::{EVERY, Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op},
    unit::{Unit, ack_table::AckTable},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

type Bins = BTreeMap<&'static str, u32>;

/// A path by the letter of the contract: every packet that came since INIT.
#[derive(Clone, Default)]
struct Path {
    packets: Vec<Inputs>,
    /// Packets that the last acknowledgement was for.
    acknowledged: usize,
    asked: bool,
}

impl Path {
    fn execute(&mut self, operation: &Inputs, delay: u16, params: &Params, bins: &mut Bins) -> Outputs {
        let mut hit = |bin: &'static str, condition: bool| {
            *bins.entry(bin).or_default() += u32::from(condition);
        };
        let last = self.packets.last().copied().unwrap_or_default();
        let range = 1i64 << params.timestamp_bits;
        let age = (i64::from(operation.s_axis_op_now) - i64::from(last.s_axis_op_arrival)).rem_euclid(range);
        let mut out = Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_path: operation.s_axis_op_path,
            ..Default::default()
        };
        let asks = match operation.s_axis_op_op {
            op::INIT => {
                *self = Self::default();
                false
            }
            op::RECEIVE => {
                self.packets.push(*operation);
                let waiting = self.packets.len() - self.acknowledged;
                hit(
                    "the packet that makes it enough",
                    waiting == usize::from(EVERY) && !self.asked,
                );
                hit("more wait than are counted", waiting > 16);
                operation.s_axis_op_at_once || waiting >= usize::from(EVERY)
            }
            op::SCAN => {
                let waits = self.packets.len() > self.acknowledged;
                hit("just old enough", waits && age == delay.into());
                hit("not yet old enough", waits && age + 1 == delay.into());
                hit("old, but nothing waits", !waits && age >= delay.into());
                waits && age >= delay.into()
            }
            op::TAKE => {
                self.acknowledged = self.packets.len();
                self.asked = false;
                let counted = || self.packets.iter().filter(|packet| packet.s_axis_op_counts);
                out.m_axis_result_plane = last.s_axis_op_plane;
                out.m_axis_result_echo = last.s_axis_op_timestamp;
                out.m_axis_result_hold = age.min(65535) as u16;
                out.m_axis_result_packets = counted().count() as u16;
                out.m_axis_result_marked = counted().filter(|packet| packet.s_axis_op_marked).count() as u16;
                hit("probes are not counted", counted().count() < self.packets.len());
                hit(
                    "held past a wrap of the time",
                    operation.s_axis_op_now < last.s_axis_op_arrival,
                );
                false
            }
            _ => {
                hit("reserved", true);
                false
            }
        };
        out.m_axis_result_due = asks && !self.asked;
        hit("asked for already", asks && self.asked);
        self.asked |= asks;
        out
    }
}

/// H1, R6: every output in every clock is the reference's, with stalls and resets, and each case that the contract tells apart occurs.
#[test]
fn random_operations_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let params = Params::load("tiny").unwrap();
    let (total, delay) = (params.total_paths(), 40);
    let mut unit = AckTable::new(&params);
    let mut spaced: Spaced<Inputs, Outputs> = Spaced::new(SAME_PATH_CLOCKS, LATENCY, total);
    let mut paths = vec![Path::default(); total as usize];
    let mut bins = Bins::new();
    let mut now = 0u32;
    for clock in 0..200_000 {
        let phase = clock / 512;
        now = (now + random.random_range(0..4)) & 0xffff;
        let path = random.random_range(0..[1, 2, total as u16][phase % 3]);
        let arrival = now.wrapping_sub(random.random_range(0..60)) & 0xffff;
        let inputs = Inputs {
            rst: random.random_ratio(1, 20_000),
            config_delay: delay,
            s_axis_op_tvalid: random.random_ratio([15, 4][phase / 4 % 2], 16),
            s_axis_op_op: match random.random_range(0..64) {
                0 => op::INIT,
                1..40 => op::RECEIVE,
                40..52 => op::SCAN,
                52..62 if phase % 5 > 0 => op::TAKE,
                _ => random.random_range(4..8),
            },
            s_axis_op_path: path,
            s_axis_op_timestamp: random.random_range(0..65536),
            s_axis_op_arrival: arrival,
            s_axis_op_plane: random.random_range(0..2),
            s_axis_op_counts: random.random_ratio(7, 8),
            s_axis_op_marked: random.random(),
            s_axis_op_at_once: random.random_ratio(1, 16),
            s_axis_op_now: now,
            m_axis_result_tready: random.random_ratio([16, 12, 3][phase / 3 % 3], 16),
        };
        let expected = Outputs {
            s_axis_op_tready: spaced.ready(),
            ..spaced.delay.head().copied().unwrap_or_default()
        };
        assert_eq!(unit.outputs(), expected, "clock {clock}");
        unit.clock(&inputs);
        if inputs.rst {
            spaced = Spaced::new(SAME_PATH_CLOCKS, LATENCY, total);
            paths.fill(Path::default());
            continue;
        }
        let offered = inputs.s_axis_op_tvalid.then_some((inputs.s_axis_op_path, inputs));
        spaced.clock(offered, inputs.m_axis_result_tready, |operation| {
            paths[usize::from(operation.s_axis_op_path)].execute(&operation, delay, &params, &mut bins)
        });
    }
    for (bin, hits) in &bins {
        assert!(*hits > 0, "'{bin}' never occurred");
    }
    assert_eq!(bins.len(), 9);
}
