//! `packet_table` against its contract.

mod common;

use common::Delay;
use metaroce_model::{
    Params,
    port::packet_table::{Inputs, LATENCY, Outputs, op},
    unit::{Unit, packet_table::PacketTable},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// H1, R6: a read gives what was written last for the path and the PSN modulo the vector's bits, also over a reset, and a write what it writes, in every
/// clock as the contract says.
#[test]
fn random_operations_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let params = Params::load("tiny").unwrap();
    let mut unit = PacketTable::new(&params);
    let mut delay: Delay<Outputs> = Delay::new(LATENCY);
    let mut written: BTreeMap<(u16, u32), Inputs> = BTreeMap::new();
    let mut read = 0;
    for clock in 0..50_000 {
        let path = random.random_range(0..8);
        let psn: u32 = random.random_range(0..256);
        let place = (path, psn % params.sack_bits);
        let before = written.get(&place);
        let inputs = Inputs {
            rst: random.random_ratio(1, 3000),
            s_axis_op_tvalid: random.random_ratio(14, 16),
            s_axis_op_op: if before.is_some() {
                random.random_range(0..2)
            } else {
                op::WRITE
            },
            s_axis_op_path: path,
            s_axis_op_psn: psn,
            s_axis_op_tag: random.random_range(0..2),
            s_axis_op_stream: random.random_range(0..2),
            s_axis_op_message: random.random_range(0..1 << params.message_slot_bits()),
            s_axis_op_packet: random.random_range(0..1 << params.packet_bits()),
            m_axis_result_tready: random.random_ratio([16, 12, 3][clock / 256 % 3], 16),
        };
        let expected = Outputs {
            s_axis_op_tready: delay.moves(),
            ..delay.head().copied().unwrap_or_default()
        };
        assert_eq!(unit.outputs(), expected, "clock {clock}");
        unit.clock(&inputs);
        if inputs.rst {
            delay = Delay::new(LATENCY);
            continue;
        }
        let accepted = delay.moves() && inputs.s_axis_op_tvalid;
        let result = accepted.then(|| {
            let kept = before.filter(|_| inputs.s_axis_op_op == op::READ);
            read += u32::from(kept.is_some());
            let packet = kept.unwrap_or(&inputs);
            Outputs {
                m_axis_result_tvalid: true,
                m_axis_result_op: inputs.s_axis_op_op,
                m_axis_result_path: path,
                m_axis_result_psn: psn,
                m_axis_result_tag: inputs.s_axis_op_tag,
                m_axis_result_stream: packet.s_axis_op_stream,
                m_axis_result_message: packet.s_axis_op_message,
                m_axis_result_packet: packet.s_axis_op_packet,
                ..Default::default()
            }
        });
        if accepted && inputs.s_axis_op_op == op::WRITE {
            written.insert(place, inputs);
        }
        delay.clock(result, inputs.m_axis_result_tready);
    }
    assert!(read > 10_000, "{read}");
}
