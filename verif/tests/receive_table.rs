//! `receive_table`: model and RTL in lockstep.

mod common;

use metaroce_model::{
    Params,
    port::receive_table::{Inputs, NUMBER_BITS, op},
    unit::receive_table::ReceiveTable,
};
use metaroce_verif::lockstep::Lockstep;

common::lockstep_tests!("receive_table", "H3, R5");

/// H3, R5: model and Verilog are equal while the numbers of the receives pass their wrap, with a MATCH now and then of one of the other side.
#[test]
fn equal_where_the_numbers_wrap() {
    let params = Params::load("tiny").unwrap();
    let mut lockstep =
        Lockstep::<ReceiveTable>::new(&params, 1, 0).expect("the RTL of receive_table is built");
    let first = (1u32 << NUMBER_BITS) - 100;
    // Operations accepted, receives posted and completed: all their numbers from the first one on, without a wrap.
    let (mut accepted, mut posted, mut completed) = (0u32, first, first);
    while completed < first + 200 {
        let outputs = lockstep.outputs();
        let op = match accepted % 8 {
            _ if accepted == 0 => op::INIT,
            0..=2 if posted - completed < params.receives => op::POST,
            3..=5 => op::MATCH,
            _ if posted > completed => op::COMPLETE,
            _ => op::POST,
        };
        let number = if op == op::INIT {
            first
        } else {
            completed + accepted % 7 - 2
        };
        let inputs = Inputs {
            rst: lockstep.cycle() == 0,
            s_axis_op_tvalid: true,
            s_axis_op_op: op,
            s_axis_op_stream: 3,
            s_axis_op_number: number % (1 << NUMBER_BITS),
            s_axis_op_address: u64::from(posted) << 8,
            s_axis_op_length: 0x100,
            s_axis_op_identifier: posted,
            m_axis_result_tready: true,
            ..Default::default()
        };
        if !inputs.rst && outputs.s_axis_op_tready {
            accepted += 1;
            posted += u32::from(op == op::POST);
            completed += u32::from(op == op::COMPLETE);
        }
        if let Err(difference) = lockstep.clock(&inputs, &outputs) {
            panic!("{}", difference.describe(&params));
        }
    }
}
