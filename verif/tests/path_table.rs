//! `path_table`: model and RTL in lockstep.

mod common;

use metaroce_model::{
    Params,
    port::path_table::{Inputs, op},
    unit::path_table::PathTable,
};
use metaroce_verif::lockstep::Lockstep;

common::lockstep_tests!("path_table", "H3, R2, R3, R8, R9");

/// H3, R2: model and Verilog are equal while the utilisation reaches its largest value, which takes longer than any random sequence
/// of one path.
#[test]
fn equal_where_the_utilisation_saturates() {
    let params = Params::load("tiny").unwrap();
    let mut lockstep = Lockstep::<PathTable>::new(&params, 1, 0).expect("the RTL of path_table is built");
    let (mut sent, mut utilisation) = (0, 0);
    while sent < u32::from(u16::MAX) + 20 {
        let outputs = lockstep.outputs();
        let inputs = Inputs {
            rst: lockstep.cycle() == 0,
            s_axis_op_tvalid: true,
            s_axis_op_op: op::SEND,
            s_axis_op_path: 5,
            m_axis_result_tready: true,
            ..Default::default()
        };
        sent += u32::from(outputs.s_axis_op_tready);
        utilisation = outputs.m_axis_result_utilisation.max(utilisation);
        if let Err(difference) = lockstep.clock(&inputs, &outputs) {
            panic!("{}", difference.describe(&params));
        }
    }
    assert_eq!(utilisation, u16::MAX);
}
