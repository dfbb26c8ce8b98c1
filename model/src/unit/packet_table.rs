//! Model of `packet_table`. Contract: [`crate::port::packet_table`].

use super::Unit;
use crate::{
    Params,
    pipeline::Pipeline,
    port::packet_table::{Inputs, LATENCY, Outputs, op},
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct PacketTable {
    sack_bits: u32,
    packets: Box<[Packet]>,
    pipeline: Pipeline<Outputs, { LATENCY - 1 }>,
}

/// What an outstanding packet carries.
#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    packet: u32,
    message: u16,
    stream: u8,
}

impl Unit for PacketTable {
    const NAME: &'static str = "packet_table";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            sack_bits: params.sack_bits,
            packets: vec![Packet::default(); (params.total_paths() * params.sack_bits) as usize].into(),
            pipeline: Pipeline::new(),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.pipeline.moves(),
            ..self.pipeline.output().copied().unwrap_or_default()
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.pipeline = Pipeline::new();
            return;
        }
        let accepted = inputs.s_axis_op_tvalid && self.pipeline.moves();
        let result = accepted.then(|| self.operate(inputs));
        self.pipeline.clock(result, inputs.m_axis_result_tready);
    }

    #[inline]
    fn rests(&self) -> bool {
        self.pipeline.is_empty()
    }
}

impl PacketTable {
    /// An accepted operation: keeps the descriptor or gives it.
    #[inline]
    fn operate(&mut self, inputs: &Inputs) -> Outputs {
        let place = u32::from(inputs.s_axis_op_path) * self.sack_bits + inputs.s_axis_op_psn % self.sack_bits;
        let packet = &mut self.packets[place as usize];
        if inputs.s_axis_op_op == op::WRITE {
            *packet = Packet {
                packet: inputs.s_axis_op_packet,
                message: inputs.s_axis_op_message,
                stream: inputs.s_axis_op_stream,
            };
        }
        Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: inputs.s_axis_op_op,
            m_axis_result_path: inputs.s_axis_op_path,
            m_axis_result_psn: inputs.s_axis_op_psn,
            m_axis_result_tag: inputs.s_axis_op_tag,
            m_axis_result_stream: packet.stream,
            m_axis_result_message: packet.message,
            m_axis_result_packet: packet.packet,
            ..Default::default()
        }
    }
}
