//! `key_table` against its contract: directed cases, and random operations against a slow reference that reckons with ends of
//! regions in numbers that do not wrap.

mod common;

use common::Delay;
use metaroce_model::{
    Params,
    port::key_table::{Inputs, LATENCY, Outputs, op, status},
    unit::{Unit, key_table::KeyTable},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// CONFIGURE of a region that is valid and may be written.
fn configure(key: u32, address: u64, length: u64) -> Inputs {
    Inputs {
        s_axis_op_tvalid: true,
        s_axis_op_op: op::CONFIGURE,
        s_axis_op_key: key,
        s_axis_op_address: address,
        s_axis_op_length: length,
        s_axis_op_domain: 7,
        s_axis_op_valid: true,
        s_axis_op_write: true,
        m_axis_result_tready: true,
        ..Default::default()
    }
}

fn check(key: u32, address: u64, bytes: u16) -> Inputs {
    Inputs {
        s_axis_op_tvalid: true,
        s_axis_op_op: op::CHECK,
        s_axis_op_key: key,
        s_axis_op_address: address,
        s_axis_op_bytes: bytes,
        s_axis_op_domain: 7,
        m_axis_result_tready: true,
        ..Default::default()
    }
}

fn idle() -> Inputs {
    Inputs {
        m_axis_result_tready: true,
        ..Default::default()
    }
}

/// A unit of profile tiny (8 regions: the lowest 3 bits of a key) after its clear.
fn tiny() -> KeyTable {
    let mut unit = KeyTable::new(&Params::load("tiny").unwrap());
    while !unit.outputs().s_axis_op_tready {
        unit.clock(&idle());
    }
    unit
}

/// Does the operations one a clock; gives their statuses, each of which comes exactly [`LATENCY`] clocks later.
fn run(unit: &mut KeyTable, operations: &[Inputs]) -> Vec<u8> {
    let mut statuses = vec![];
    for clock in 0..operations.len() + LATENCY {
        let outputs = unit.outputs();
        assert_eq!(outputs.m_axis_result_tvalid, clock >= LATENCY);
        if let Some(done) = clock.checked_sub(LATENCY) {
            assert_eq!(outputs.m_axis_result_op, operations[done].s_axis_op_op);
            statuses.push(outputs.m_axis_result_status);
        }
        assert!(outputs.s_axis_op_tready);
        unit.clock(operations.get(clock).unwrap_or(&idle()));
    }
    assert_eq!(unit.outputs().m_axis_result_status, 0);
    statuses
}

/// R5: a region may be written from its first byte to its last, and not one beyond, wherever it lies.
#[test]
fn edges_of_a_region() {
    for base in [
        0,
        0xffff_fff0,
        0x1_0000_0000,
        0x1234_5678_ffff_ff80,
        u64::MAX - 0xff,
    ] {
        let mut unit = tiny();
        let at = |offset: u64, bytes: u16| check(0x105, base.wrapping_add(offset), bytes);
        let statuses = run(
            &mut unit,
            &[
                configure(0x105, base, 0x100),
                at(0, 1),
                at(0, 0x100),
                at(0, 0x101),
                at(0xff, 1),
                at(0xff, 2),
                at(0x100, 1),
                at(0x100, 0),
                at(u64::MAX, 1),
                at(u64::MAX, 2),
                at(1 << 32, 1),
                at(1 << 63, 1),
            ],
        );
        let (yes, no) = (status::DONE, status::OUT_OF_BOUNDS);
        assert_eq!(
            statuses,
            [yes, yes, yes, no, yes, no, no, yes, no, no, no, no],
            "{base:#x}"
        );
    }
}

/// R5: a key opens its region only whole, only to its domain, only for writing, and before its region exists nothing.
#[test]
fn what_a_key_opens() {
    let mut unit = tiny();
    let good = configure(0x2a, 0x1000, 0x100);
    let packet = check(0x2a, 0x1000, 1);
    let other_tag = |bit: u32| check(0x2a ^ 1 << bit, 0x1000, 1);
    let other_domain = Inputs {
        s_axis_op_domain: 6,
        ..packet
    };
    let operations = [
        packet,
        good,
        packet,
        other_tag(3),
        other_tag(31),
        other_tag(0),
        other_domain,
        check(0x2a, 0x2000, 1),
        Inputs {
            s_axis_op_domain: 6,
            ..check(0x2a, 0x2000, 1)
        },
        Inputs {
            s_axis_op_write: false,
            ..good
        },
        packet,
        Inputs {
            s_axis_op_valid: false,
            ..good
        },
        packet,
        check(0x2a, 0x1000, 0),
        good,
        packet,
        configure(0x32, 0x1000, 0x100),
        packet,
    ];
    let (yes, bad, out) = (status::DONE, status::BAD_KEY, status::OUT_OF_BOUNDS);
    assert_eq!(
        run(&mut unit, &operations),
        [
            bad, yes, yes, bad, bad, bad, bad, out, bad, yes, bad, yes, bad, yes, yes, yes, yes, bad
        ]
    );
}

/// H1: a reset takes all regions back, and the clear lasts as long as the contract says.
#[test]
fn reset() {
    let params = Params::load("tiny").unwrap();
    let mut unit = tiny();
    run(&mut unit, &[configure(0x2a, 0, 0x100)]);
    unit.clock(&check(0x2a, 0, 1));
    let rst = Inputs {
        rst: true,
        ..check(0x2a, 0, 1)
    };
    unit.clock(&rst);
    unit.clock(&rst);
    for _ in 0..params.keys {
        assert_eq!(unit.outputs(), Outputs::default());
        unit.clock(&check(0x2a, 0, 1));
    }
    assert!(unit.outputs().s_axis_op_tready);
    assert_eq!(run(&mut unit, &[check(0x2a, 0, 1)]), [status::BAD_KEY]);
}

/// The slow reference of the unit.
struct Reference {
    params: Params,
    /// The CONFIGURE of each region that is valid.
    regions: BTreeMap<u32, Inputs>,
    clearing: u32,
    delay: Delay<Outputs>,
    bins: BTreeMap<&'static str, u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            regions: BTreeMap::new(),
            clearing: params.keys,
            delay: Delay::new(LATENCY),
            bins: BTreeMap::new(),
        }
    }

    fn hit(&mut self, bin: &'static str, condition: bool) {
        *self.bins.entry(bin).or_default() += u32::from(condition);
    }

    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.clearing == 0 && self.delay.moves(),
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
            let accepted = inputs.s_axis_op_tvalid && self.outputs().s_axis_op_tready;
            let result = accepted.then(|| Outputs {
                m_axis_result_tvalid: true,
                m_axis_result_op: inputs.s_axis_op_op,
                m_axis_result_status: self.operate(inputs),
                ..Default::default()
            });
            self.delay.clock(result, inputs.m_axis_result_tready);
        }
    }

    fn operate(&mut self, inputs: &Inputs) -> u8 {
        let index = inputs.s_axis_op_key % self.params.keys;
        if inputs.s_axis_op_op == op::CONFIGURE {
            self.hit("configure", inputs.s_axis_op_valid);
            self.hit("configure to nothing", !inputs.s_axis_op_valid);
            if inputs.s_axis_op_valid {
                self.regions.insert(index, *inputs);
            } else {
                self.regions.remove(&index);
            }
            return status::DONE;
        }
        if inputs.s_axis_op_bytes == 0 {
            self.hit("no bytes", true);
            return status::DONE;
        }
        let Some(&region) = self.regions.get(&index) else {
            self.hit("no region", true);
            return status::BAD_KEY;
        };
        let tag = region.s_axis_op_key == inputs.s_axis_op_key;
        let domain = region.s_axis_op_domain == inputs.s_axis_op_domain;
        self.hit("wrong tag alone", !tag && domain && region.s_axis_op_write);
        self.hit("wrong domain alone", tag && !domain && region.s_axis_op_write);
        self.hit("no writing alone", tag && domain && !region.s_axis_op_write);
        if !tag || !domain || !region.s_axis_op_write {
            return status::BAD_KEY;
        }
        // Numbers that do not wrap; an address below the region stands one turn further on.
        let first = u128::from(region.s_axis_op_address);
        let before = inputs.s_axis_op_address < region.s_axis_op_address;
        let address = u128::from(inputs.s_axis_op_address) + if before { 1 << 64 } else { 0 };
        let end = first + u128::from(region.s_axis_op_length);
        let is_within = address + u128::from(inputs.s_axis_op_bytes) <= end;
        let reach = address + u128::from(inputs.s_axis_op_bytes);
        self.hit("to the last byte", reach == end);
        self.hit("one byte beyond", reach == end + 1);
        self.hit("before the region", before);
        self.hit(
            "within, across 4 GiB",
            is_within && first >> 32 != (reach - 1) >> 32,
        );
        self.hit("to the end of all addresses", is_within && reach == 1 << 64);
        if is_within {
            status::DONE
        } else {
            status::OUT_OF_BOUNDS
        }
    }
}

/// R5, H1: every output in every clock is the reference's, with stalls and resets, and each case that the contract tells apart
/// occurs.
#[test]
fn random_operations_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for keys in [4, 8, 1024] {
        let params = Params {
            keys,
            ..Params::load("tiny").unwrap()
        };
        params.check().unwrap();
        let mut unit = KeyTable::new(&params);
        let mut reference = Reference::new(&params);
        for clock in 0..100_000 {
            let phase = clock / 256;
            let key = random.random_range(0..[2, 4][phase % 2]) | (random.random_range(0..2) << 31);
            let around = reference.regions.get(&(key % keys)).copied().unwrap_or_default();
            let nearly = |random: &mut ChaCha8Rng, number: u64| {
                number.wrapping_add(random.random_range(0..3)).wrapping_sub(1)
            };
            let configures = random.random_ratio(1, 16);
            let bytes = [0, 1, 255, 256, random.random_range(0..512)][random.random_range(0..5)];
            let length = match random.random_range(0..4) {
                0 => random.random_range(0..600),
                1 => (1 << 48) - 1 - random.random_range(0..2),
                2 => u64::from(bytes),
                _ => 1 << random.random_range(0..48),
            };
            let address = match random.random_range(0..8) {
                0 => random.random(),
                _ if configures && random.random() => length.wrapping_neg(),
                _ if configures => (1 << random.random_range(30..64)) - random.random_range(0..100),
                1 => around.s_axis_op_address ^ 1 << random.random_range(0..64),
                2 => nearly(&mut random, around.s_axis_op_address),
                3 => random.random_range(0..200),
                4 => around
                    .s_axis_op_address
                    .wrapping_add(random.random_range(0..=around.s_axis_op_length)),
                _ => {
                    let end = around.s_axis_op_address.wrapping_add(around.s_axis_op_length);
                    nearly(&mut random, end.wrapping_sub(bytes.into()))
                }
            };
            let inputs = Inputs {
                rst: random.random_ratio(1, 10_000),
                s_axis_op_tvalid: random.random_ratio([15, 3][phase / 3 % 2], 16),
                s_axis_op_op: if configures { op::CONFIGURE } else { op::CHECK },
                s_axis_op_key: key,
                s_axis_op_address: address,
                s_axis_op_bytes: bytes,
                s_axis_op_domain: random.random_ratio(1, 8).into(),
                s_axis_op_length: length,
                s_axis_op_valid: random.random_ratio(7, 8),
                s_axis_op_write: random.random_ratio(7, 8),
                m_axis_result_tready: random.random_ratio([16, 12, 3][phase / 6 % 3], 16),
            };
            assert_eq!(unit.outputs(), reference.outputs(), "{keys} keys, clock {clock}");
            unit.clock(&inputs);
            reference.clock(&inputs);
        }
        for (bin, hits) in &reference.bins {
            assert!(*hits > 0, "{keys} keys: '{bin}' never occurred");
        }
        assert_eq!(reference.bins.len(), 14);
    }
}
