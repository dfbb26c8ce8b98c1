//! Model of `connection_table`. Contract: [`crate::port::connection_table`].

use super::Unit;
use crate::{
    Params,
    pipeline::Pipeline,
    port::connection_table::{Inputs, LATENCY, Outputs, op},
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct ConnectionTable {
    planes: usize,
    connections: Box<[Connection]>,
    /// The other NICs' addresses, by connection and plane.
    remote: Box<[Address]>,
    /// This NIC's addresses, by plane.
    local: Box<[Address]>,
    pipeline: Pipeline<Outputs, { LATENCY - 1 }>,
    /// Clocks left of the clear after reset. While there are any, everything is zero.
    clearing: u32,
}

/// What a connection is apart from its addresses.
#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    enabled: bool,
    peer: u32,
    domain: u8,
    dscp: u8,
}

/// How to reach a port.
#[derive(Clone, Copy, Debug, Default)]
struct Address {
    mac: u64,
    address: u32,
}

impl Unit for ConnectionTable {
    const NAME: &'static str = "connection_table";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let (connections, planes) = (params.connections as usize, params.planes as usize);
        Self {
            planes,
            connections: vec![Connection::default(); connections].into(),
            remote: vec![Address::default(); connections * planes].into(),
            local: vec![Address::default(); planes].into(),
            pipeline: Pipeline::new(),
            clearing: params.connections * params.planes,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.is_ready(),
            ..self.pipeline.output().copied().unwrap_or_default()
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
        } else if self.clearing > 0 {
            self.clearing -= 1;
        } else {
            let accepted = inputs.s_axis_op_tvalid && self.is_ready();
            let result = accepted.then(|| self.operate(inputs));
            self.pipeline.clock(result, inputs.m_axis_result_tready);
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.clearing == 0 && self.pipeline.is_empty()
    }
}

impl ConnectionTable {
    #[inline]
    fn is_ready(&self) -> bool {
        self.pipeline.moves() && self.clearing == 0
    }

    fn reset(&mut self) {
        // A reset held for long costs no more than one: nothing is written before the clear is over.
        if self.clearing == 0 {
            self.connections.fill(Connection::default());
            self.remote.fill(Address::default());
            self.local.fill(Address::default());
        }
        self.pipeline = Pipeline::new();
        self.clearing = self.remote.len() as u32;
    }

    /// An accepted operation: sets what it names, or looks up.
    #[inline]
    fn operate(&mut self, inputs: &Inputs) -> Outputs {
        let connection = usize::from(inputs.s_axis_op_connection);
        let plane = usize::from(inputs.s_axis_op_plane);
        let remote = connection * self.planes + plane;
        let address = Address {
            mac: inputs.s_axis_op_mac,
            address: inputs.s_axis_op_address,
        };
        let result = Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: inputs.s_axis_op_op,
            m_axis_result_connection: inputs.s_axis_op_connection,
            m_axis_result_plane: inputs.s_axis_op_plane,
            m_axis_result_tag: inputs.s_axis_op_tag,
            ..Default::default()
        };
        match inputs.s_axis_op_op {
            op::CONNECT => {
                self.connections[connection] = Connection {
                    enabled: inputs.s_axis_op_enabled,
                    peer: inputs.s_axis_op_peer,
                    domain: inputs.s_axis_op_domain,
                    dscp: inputs.s_axis_op_dscp,
                };
            }
            op::REMOTE => self.remote[remote] = address,
            op::LOCAL => self.local[plane] = address,
            _ if self.connections[connection].enabled => {
                let (connection, remote, local) = (
                    &self.connections[connection],
                    &self.remote[remote],
                    &self.local[plane],
                );
                return Outputs {
                    m_axis_result_known: true,
                    m_axis_result_peer: connection.peer,
                    m_axis_result_domain: connection.domain,
                    m_axis_result_dscp: connection.dscp,
                    m_axis_result_destination_mac: remote.mac,
                    m_axis_result_destination_address: remote.address,
                    m_axis_result_source_mac: local.mac,
                    m_axis_result_source_address: local.address,
                    ..result
                };
            }
            _ => {}
        }
        result
    }
}
