//! `connection_table` against its contract.

mod common;

use common::Delay;
use metaroce_model::{
    Params,
    port::connection_table::{Inputs, LATENCY, Outputs, op},
    unit::{Unit, connection_table::ConnectionTable},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The latest of the operations that `matches` tells.
fn latest(history: &[Inputs], matches: impl Fn(&Inputs) -> bool) -> Inputs {
    let found = history.iter().rev().find(|operation| matches(operation));
    found.copied().unwrap_or_default()
}

fn execute(history: &[Inputs], operation: &Inputs) -> Outputs {
    let (connection, plane) = (operation.s_axis_op_connection, operation.s_axis_op_plane);
    let out = Outputs {
        m_axis_result_tvalid: true,
        m_axis_result_op: operation.s_axis_op_op,
        m_axis_result_connection: connection,
        m_axis_result_plane: plane,
        m_axis_result_tag: operation.s_axis_op_tag,
        ..Default::default()
    };
    let of = |op: u8| {
        latest(history, |other| {
            other.s_axis_op_op == op
                && (op == op::LOCAL || other.s_axis_op_connection == connection)
                && (op == op::CONNECT || other.s_axis_op_plane == plane)
        })
    };
    let connect = of(op::CONNECT);
    if operation.s_axis_op_op != op::LOOKUP || !connect.s_axis_op_enabled {
        return out;
    }
    let (remote, local) = (of(op::REMOTE), of(op::LOCAL));
    Outputs {
        m_axis_result_known: true,
        m_axis_result_peer: connect.s_axis_op_peer,
        m_axis_result_domain: connect.s_axis_op_domain,
        m_axis_result_dscp: connect.s_axis_op_dscp,
        m_axis_result_destination_mac: remote.s_axis_op_mac,
        m_axis_result_destination_address: remote.s_axis_op_address,
        m_axis_result_source_mac: local.s_axis_op_mac,
        m_axis_result_source_address: local.s_axis_op_address,
        ..out
    }
}

/// H1, R3: a lookup gives what was set last of the connection and the plane, in every clock as the contract says, with stalls and resets.
#[test]
fn random_operations_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let params = Params::load("tiny").unwrap();
    let clear = params.connections * params.planes;
    let mut unit = ConnectionTable::new(&params);
    let (mut delay, mut history, mut clearing) = (Delay::new(LATENCY), Vec::new(), clear);
    let (mut known, mut unknown) = (0, 0);
    for clock in 0..50_000 {
        let inputs = Inputs {
            rst: random.random_ratio(1, 3000),
            s_axis_op_tvalid: random.random_ratio(14, 16),
            s_axis_op_op: [op::LOOKUP, random.random_range(0..4)][random.random_range(0..2)],
            s_axis_op_connection: random.random_range(0..2),
            s_axis_op_plane: random.random_range(0..2),
            s_axis_op_tag: random.random_range(0..4),
            s_axis_op_enabled: random.random_ratio(3, 4),
            s_axis_op_peer: random.random_range(0..1 << 24),
            s_axis_op_domain: random.random(),
            s_axis_op_dscp: random.random_range(0..64),
            s_axis_op_mac: random.random_range(0..1 << 48),
            s_axis_op_address: random.random(),
            m_axis_result_tready: random.random_ratio([16, 12, 3][clock / 256 % 3], 16),
        };
        let ready = clearing == 0 && delay.moves();
        let expected = Outputs {
            s_axis_op_tready: ready,
            ..delay.head().copied().unwrap_or_default()
        };
        assert_eq!(unit.outputs(), expected, "clock {clock}");
        unit.clock(&inputs);
        if inputs.rst {
            (delay, clearing) = (Delay::new(LATENCY), clear);
            history.clear();
            continue;
        }
        if clearing > 0 {
            clearing -= 1;
            continue;
        }
        let result = (ready && inputs.s_axis_op_tvalid).then(|| {
            let result = execute(&history, &inputs);
            history.push(inputs);
            result
        });
        if let Some(result) = result.filter(|result| result.m_axis_result_op == op::LOOKUP) {
            known += u32::from(result.m_axis_result_known);
            unknown += u32::from(!result.m_axis_result_known);
        }
        delay.clock(result, inputs.m_axis_result_tready);
    }
    assert!(known > 1000 && unknown > 1000, "{known} {unknown}");
}
