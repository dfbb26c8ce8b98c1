//! `message_table`: model and RTL in lockstep.

mod common;

use metaroce_model::{
    Params,
    port::message_table::{Inputs, op, status},
    unit::message_table::MessageTable,
};
use metaroce_verif::lockstep::Lockstep;

common::lockstep_tests!("message_table", "H3, R4, R10");

/// H3, R4: model and Verilog are equal while a message grows to 2^32 - 1 bytes, which takes longer than any random sequence of one message; when it is too
/// long by one byte; when it is whole; and when more comes.
#[test]
fn equal_in_the_longest_message() {
    let params = Params::load("ecp5").unwrap();
    let mut lockstep =
        Lockstep::<MessageTable>::new(&params, 1, 0).expect("the RTL of message_table is built");
    let packet = (1 << params.payload_bits()) - 1;
    let (packets, left) = (u32::MAX / packet, u32::MAX % packet);
    let (mut accepted, mut statuses) = (0, vec![]);
    while statuses.len() < 3 {
        let outputs = lockstep.outputs();
        let bytes = if accepted < packets {
            packet
        } else {
            left + u32::from(accepted == packets)
        };
        let inputs = Inputs {
            rst: lockstep.cycle() == 0,
            s_axis_op_tvalid: accepted < packets + 3,
            s_axis_op_op: op::COUNT,
            s_axis_op_stream: 5,
            s_axis_op_bytes: bytes as u16,
            s_axis_op_length: u32::MAX,
            m_axis_result_tready: true,
            ..Default::default()
        };
        accepted += u32::from(!inputs.rst && inputs.s_axis_op_tvalid && outputs.s_axis_op_tready);
        if outputs.m_axis_result_tvalid && outputs.m_axis_result_status != status::PART {
            statuses.push(outputs.m_axis_result_status);
        }
        if let Err(difference) = lockstep.clock(&inputs, &outputs) {
            panic!("{}", difference.describe(&params));
        }
    }
    assert_eq!(statuses, [status::TOO_LONG, status::WHOLE, status::TOO_LONG]);
}
