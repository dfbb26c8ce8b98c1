//! `ack_table`: model and RTL in lockstep.

mod common;

use metaroce_model::{
    Params,
    port::ack_table::{EVERY, Inputs, op},
    unit::ack_table::AckTable,
};
use metaroce_verif::lockstep::Lockstep;

common::lockstep_tests!("ack_table", "H3, R6, R7");

/// H3, R6: model and Verilog are equal while the running counts pass their wrap, which takes more packets than come between two random resets; every fourth operation tells them.
#[test]
fn equal_where_the_counts_wrap() {
    const PACKETS: u32 = 0x1_0000 + 40;
    let params = Params::load("tiny").unwrap();
    let mut lockstep = Lockstep::<AckTable>::new(&params, 1, 0).expect("the RTL of ack_table is built");
    let every = u32::from(EVERY) + 1;
    let (mut accepted, mut last) = (0, Default::default());
    while accepted < PACKETS / u32::from(EVERY) * every + 5 {
        let outputs = lockstep.outputs();
        let takes = accepted % every == u32::from(EVERY);
        let inputs = Inputs {
            rst: lockstep.cycle() == 0,
            s_axis_op_tvalid: true,
            s_axis_op_op: if takes { op::TAKE } else { op::RECEIVE },
            s_axis_op_path: 5,
            s_axis_op_counts: true,
            // The second count wraps later than the first.
            s_axis_op_marked: accepted > every,
            m_axis_result_tready: true,
            ..Default::default()
        };
        accepted += u32::from(!inputs.rst && outputs.s_axis_op_tready);
        if outputs.m_axis_result_tvalid && outputs.m_axis_result_op == op::TAKE {
            last = (outputs.m_axis_result_packets, outputs.m_axis_result_marked);
        }
        if let Err(difference) = lockstep.clock(&inputs, &outputs) {
            panic!("{}", difference.describe(&params));
        }
    }
    let packets = (PACKETS & 0xffff) as u16;
    assert!(last.0 >= packets && last.1 < last.0, "{last:?}");
}
