//! Model of `configuration`. Contract: [`crate::port::configuration`].

use super::Unit;
use crate::{
    Params,
    pipeline::Queue,
    port::{
        configuration::{Inputs, Outputs, command},
        connection_table,
    },
};

/// Model of the unit. Each queue's entries have the fields of its stream, all others zero.
#[derive(Clone, Debug)]
pub struct Configuration {
    connection_mask: u16,
    path_mask: u16,
    stream_mask: u16,
    psn_mask: u32,
    queues: [Queue<Outputs>; STREAMS],
    local: Outputs,
}

/// Streams, each with a queue.
const STREAMS: usize = 13;

const CONNECTION: usize = 0;
const KEY: usize = 1;
const PATH: usize = 2;
const SACK_TX: usize = 3;
const SACK_RX: usize = 4;
const ACK: usize = 5;
const RETIREMENT: usize = 6;
const REQUEST: usize = 7;
const SENT: usize = 8;
const RECEIVED: usize = 9;
const RECEIVE: usize = 10;
const RATE: usize = 11;
const SCHEDULE: usize = 12;

impl Unit for Configuration {
    const NAME: &'static str = "configuration";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            connection_mask: (params.connections - 1) as u16,
            path_mask: (params.total_paths() - 1) as u16,
            stream_mask: (params.total_streams() - 1) as u16,
            psn_mask: u32::MAX >> (32 - params.psn_bits),
            queues: std::array::from_fn(|_| Queue::new(1)),
            local: Outputs::default(),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let head = |queue: usize| self.queues[queue].head().copied().unwrap_or_default();
        let connection = head(CONNECTION);
        let key = head(KEY);
        let path = head(PATH);
        let sack_tx = head(SACK_TX);
        let sack_rx = head(SACK_RX);
        let ack = head(ACK);
        let retirement = head(RETIREMENT);
        let request = head(REQUEST);
        let sent = head(SENT);
        let received = head(RECEIVED);
        let receive = head(RECEIVE);
        let rate = head(RATE);
        let schedule = head(SCHEDULE);
        Outputs {
            s_axis_command_tready: self.is_ready(),
            m_axis_connection_tvalid: connection.m_axis_connection_tvalid,
            m_axis_connection_op: connection.m_axis_connection_op,
            m_axis_connection_connection: connection.m_axis_connection_connection,
            m_axis_connection_plane: connection.m_axis_connection_plane,
            m_axis_connection_enabled: connection.m_axis_connection_enabled,
            m_axis_connection_peer: connection.m_axis_connection_peer,
            m_axis_connection_domain: connection.m_axis_connection_domain,
            m_axis_connection_dscp: connection.m_axis_connection_dscp,
            m_axis_connection_mac: connection.m_axis_connection_mac,
            m_axis_connection_address: connection.m_axis_connection_address,
            m_axis_key_tvalid: key.m_axis_key_tvalid,
            m_axis_key_key: key.m_axis_key_key,
            m_axis_key_address: key.m_axis_key_address,
            m_axis_key_domain: key.m_axis_key_domain,
            m_axis_key_length: key.m_axis_key_length,
            m_axis_key_valid: key.m_axis_key_valid,
            m_axis_key_write: key.m_axis_key_write,
            m_axis_path_tvalid: path.m_axis_path_tvalid,
            m_axis_path_path: path.m_axis_path_path,
            m_axis_path_clear: path.m_axis_path_clear,
            m_axis_path_plane: path.m_axis_path_plane,
            m_axis_path_source_port: path.m_axis_path_source_port,
            m_axis_path_state: path.m_axis_path_state,
            m_axis_path_window: path.m_axis_path_window,
            m_axis_sack_tx_tvalid: sack_tx.m_axis_sack_tx_tvalid,
            m_axis_sack_tx_path: sack_tx.m_axis_sack_tx_path,
            m_axis_sack_tx_psn: sack_tx.m_axis_sack_tx_psn,
            m_axis_sack_rx_tvalid: sack_rx.m_axis_sack_rx_tvalid,
            m_axis_sack_rx_path: sack_rx.m_axis_sack_rx_path,
            m_axis_sack_rx_psn: sack_rx.m_axis_sack_rx_psn,
            m_axis_ack_tvalid: ack.m_axis_ack_tvalid,
            m_axis_ack_path: ack.m_axis_ack_path,
            m_axis_retirement_tvalid: retirement.m_axis_retirement_tvalid,
            m_axis_retirement_path: retirement.m_axis_retirement_path,
            m_axis_retirement_psn: retirement.m_axis_retirement_psn,
            m_axis_request_tvalid: request.m_axis_request_tvalid,
            m_axis_request_stream: request.m_axis_request_stream,
            m_axis_request_message: request.m_axis_request_message,
            m_axis_request_receive: request.m_axis_request_receive,
            m_axis_sent_tvalid: sent.m_axis_sent_tvalid,
            m_axis_sent_stream: sent.m_axis_sent_stream,
            m_axis_sent_message: sent.m_axis_sent_message,
            m_axis_received_tvalid: received.m_axis_received_tvalid,
            m_axis_received_stream: received.m_axis_received_stream,
            m_axis_received_message: received.m_axis_received_message,
            m_axis_receive_tvalid: receive.m_axis_receive_tvalid,
            m_axis_receive_stream: receive.m_axis_receive_stream,
            m_axis_receive_number: receive.m_axis_receive_number,
            m_axis_rate_tvalid: rate.m_axis_rate_tvalid,
            m_axis_rate_connection: rate.m_axis_rate_connection,
            m_axis_rate_rate: rate.m_axis_rate_rate,
            m_axis_rate_burst: rate.m_axis_rate_burst,
            m_axis_schedule_tvalid: schedule.m_axis_schedule_tvalid,
            m_axis_schedule_connection: schedule.m_axis_schedule_connection,
            m_axis_schedule_flag: schedule.m_axis_schedule_flag,
            ..self.local
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.queues.iter_mut().for_each(Queue::clear);
            self.local = Outputs::default();
            return;
        }
        let accepts = self.is_ready() && inputs.s_axis_command_tvalid;
        if inputs.m_axis_connection_tready {
            self.queues[CONNECTION].take();
        }
        if inputs.m_axis_key_tready {
            self.queues[KEY].take();
        }
        if inputs.m_axis_path_tready {
            self.queues[PATH].take();
        }
        if inputs.m_axis_sack_tx_tready {
            self.queues[SACK_TX].take();
        }
        if inputs.m_axis_sack_rx_tready {
            self.queues[SACK_RX].take();
        }
        if inputs.m_axis_ack_tready {
            self.queues[ACK].take();
        }
        if inputs.m_axis_retirement_tready {
            self.queues[RETIREMENT].take();
        }
        if inputs.m_axis_request_tready {
            self.queues[REQUEST].take();
        }
        if inputs.m_axis_sent_tready {
            self.queues[SENT].take();
        }
        if inputs.m_axis_received_tready {
            self.queues[RECEIVED].take();
        }
        if inputs.m_axis_receive_tready {
            self.queues[RECEIVE].take();
        }
        if inputs.m_axis_rate_tready {
            self.queues[RATE].take();
        }
        if inputs.m_axis_schedule_tready {
            self.queues[SCHEDULE].take();
        }
        self.local = Outputs::default();
        if accepts {
            self.execute(inputs);
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        !self.local.local_write && self.queues.iter().all(Queue::is_empty)
    }
}

impl Configuration {
    #[inline]
    fn is_ready(&self) -> bool {
        self.queues.iter().all(Queue::has_room)
    }

    fn execute(&mut self, inputs: &Inputs) {
        let connection = inputs.s_axis_command_index & self.connection_mask;
        match inputs.s_axis_command_command {
            command::LOCAL => {
                let address = inputs.s_axis_command_address as u32;
                self.local = Outputs {
                    local_write: true,
                    local_plane: inputs.s_axis_command_plane,
                    local_address: address,
                    ..Outputs::default()
                };
                self.queues[CONNECTION].put(Outputs {
                    m_axis_connection_tvalid: true,
                    m_axis_connection_op: connection_table::op::LOCAL,
                    m_axis_connection_plane: inputs.s_axis_command_plane,
                    m_axis_connection_mac: inputs.s_axis_command_mac,
                    m_axis_connection_address: address,
                    ..Outputs::default()
                });
            }
            command::CONNECT => self.queues[CONNECTION].put(Outputs {
                m_axis_connection_tvalid: true,
                m_axis_connection_op: connection_table::op::CONNECT,
                m_axis_connection_connection: connection,
                m_axis_connection_enabled: inputs.s_axis_command_flag,
                m_axis_connection_peer: inputs.s_axis_command_first,
                m_axis_connection_domain: inputs.s_axis_command_domain,
                m_axis_connection_dscp: inputs.s_axis_command_dscp,
                ..Outputs::default()
            }),
            command::REMOTE => self.queues[CONNECTION].put(Outputs {
                m_axis_connection_tvalid: true,
                m_axis_connection_op: connection_table::op::REMOTE,
                m_axis_connection_connection: connection,
                m_axis_connection_plane: inputs.s_axis_command_plane,
                m_axis_connection_mac: inputs.s_axis_command_mac,
                m_axis_connection_address: inputs.s_axis_command_address as u32,
                ..Outputs::default()
            }),
            command::REGION => {
                self.queues[KEY].put(Outputs {
                    m_axis_key_tvalid: true,
                    m_axis_key_key: inputs.s_axis_command_key,
                    m_axis_key_address: inputs.s_axis_command_address,
                    m_axis_key_domain: inputs.s_axis_command_domain,
                    m_axis_key_length: inputs.s_axis_command_mac,
                    m_axis_key_valid: inputs.s_axis_command_flag,
                    m_axis_key_write: true,
                    ..Outputs::default()
                });
            }
            command::PATH => {
                let path = inputs.s_axis_command_index & self.path_mask;
                let first_psn = inputs.s_axis_command_first & self.psn_mask;
                let second_psn = inputs.s_axis_command_second & self.psn_mask;
                self.queues[PATH].put(Outputs {
                    m_axis_path_tvalid: true,
                    m_axis_path_path: path,
                    m_axis_path_clear: inputs.s_axis_command_command == command::PATH,
                    m_axis_path_plane: inputs.s_axis_command_plane,
                    m_axis_path_source_port: inputs.s_axis_command_source_port,
                    m_axis_path_state: inputs.s_axis_command_state,
                    m_axis_path_window: inputs.s_axis_command_window,
                    ..Outputs::default()
                });
                self.queues[SACK_TX].put(Outputs {
                    m_axis_sack_tx_tvalid: true,
                    m_axis_sack_tx_path: path,
                    m_axis_sack_tx_psn: first_psn,
                    ..Outputs::default()
                });
                self.queues[SACK_RX].put(Outputs {
                    m_axis_sack_rx_tvalid: true,
                    m_axis_sack_rx_path: path,
                    m_axis_sack_rx_psn: second_psn,
                    ..Outputs::default()
                });
                self.queues[ACK].put(Outputs {
                    m_axis_ack_tvalid: true,
                    m_axis_ack_path: path,
                    ..Outputs::default()
                });
                self.queues[RETIREMENT].put(Outputs {
                    m_axis_retirement_tvalid: true,
                    m_axis_retirement_path: path,
                    m_axis_retirement_psn: first_psn,
                    ..Outputs::default()
                });
            }
            command::ROUTE => {
                let path = inputs.s_axis_command_index & self.path_mask;
                self.queues[PATH].put(Outputs {
                    m_axis_path_tvalid: true,
                    m_axis_path_path: path,
                    m_axis_path_clear: inputs.s_axis_command_command == command::PATH,
                    m_axis_path_plane: inputs.s_axis_command_plane,
                    m_axis_path_source_port: inputs.s_axis_command_source_port,
                    m_axis_path_state: inputs.s_axis_command_state,
                    m_axis_path_window: inputs.s_axis_command_window,
                    ..Outputs::default()
                });
            }
            command::STREAM => {
                let stream = inputs.s_axis_command_index & self.stream_mask;
                self.queues[REQUEST].put(Outputs {
                    m_axis_request_tvalid: true,
                    m_axis_request_stream: stream,
                    m_axis_request_message: inputs.s_axis_command_first,
                    m_axis_request_receive: inputs.s_axis_command_third,
                    ..Outputs::default()
                });
                self.queues[SENT].put(Outputs {
                    m_axis_sent_tvalid: true,
                    m_axis_sent_stream: stream,
                    m_axis_sent_message: inputs.s_axis_command_first,
                    ..Outputs::default()
                });
                self.queues[RECEIVED].put(Outputs {
                    m_axis_received_tvalid: true,
                    m_axis_received_stream: stream,
                    m_axis_received_message: inputs.s_axis_command_second,
                    ..Outputs::default()
                });
                self.queues[RECEIVE].put(Outputs {
                    m_axis_receive_tvalid: true,
                    m_axis_receive_stream: stream,
                    m_axis_receive_number: inputs.s_axis_command_fourth,
                    ..Outputs::default()
                });
            }
            command::RATE => {
                self.queues[RATE].put(Outputs {
                    m_axis_rate_tvalid: true,
                    m_axis_rate_connection: connection,
                    m_axis_rate_rate: inputs.s_axis_command_rate,
                    m_axis_rate_burst: inputs.s_axis_command_burst,
                    ..Outputs::default()
                });
            }
            command::START => {
                self.queues[SCHEDULE].put(Outputs {
                    m_axis_schedule_tvalid: true,
                    m_axis_schedule_connection: connection,
                    m_axis_schedule_flag: inputs.s_axis_command_flag,
                    ..Outputs::default()
                });
            }
            _ => {}
        }
    }
}
