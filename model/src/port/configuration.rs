//! Contract of `configuration`: the NIC's write port: one command becomes the operations that it means in every table (requirements R2, R5, R11).
//!
//! A command has the same fields whatever it is; those it has no use for are not looked at. It stands in the place of a register block, which can drive it later.
//! Each stream `m_axis_*` ends in an output register. `s_axis_command_tready` = all of them have room. An accepted command puts into them:
//!
//! | command | what is put, with the fields of the command |
//! |---|---|
//! | [`command::LOCAL`] | `connection`: LOCAL of plane, MAC and IPv4 address (the lowest 32 bits of `address`). `local_write` is high in the next clock, with `local_plane` and `local_address` (0 otherwise) |
//! | [`command::CONNECT`] | `connection`: CONNECT of connection `index`, `enabled` = `flag`, `peer` = `first`, `domain`, `dscp` |
//! | [`command::REMOTE`] | `connection`: REMOTE of connection `index` on the plane, MAC, IPv4 address |
//! | [`command::REGION`] | `key`: CONFIGURE of `key`, `address`, `length` = `mac`, `domain`, `valid` = `flag`, `write` = 1 |
//! | [`command::PATH`] | `path`: CONFIGURE of path `index`, plane, source port, `state`, `window`, `clear` = 1. `sack_tx`, `retirement`: path and PSN `first`. `sack_rx`: path and PSN `second`. `ack`: the path |
//! | [`command::ROUTE`] | `path`: CONFIGURE as with PATH, `clear` = 0 |
//! | [`command::STREAM`] | `request`: stream `index`, message `first`, receive `third`. `sent`: the stream, message `first`. `received`: the stream, message `second`. `receive`: the stream, number `fourth` |
//! | [`command::RATE`] | `rate`: CONFIGURE of connection `index`, `rate`, `burst` |
//! | [`command::START`] | `schedule`: START of connection `index`, `flag` |
//!
//! Codes from 9 on put nothing. PATH and STREAM are for paths and streams at rest, of a connection that is stopped.

use crate::ports;

/// Commands: values of `s_axis_command_command`.
pub mod command {
    /// This NIC's addresses on a plane.
    pub const LOCAL: u8 = 0;
    /// Who is at the other end of a connection.
    pub const CONNECT: u8 = 1;
    /// The other NIC's addresses on a plane.
    pub const REMOTE: u8 = 2;
    /// A memory region.
    pub const REGION: u8 = 3;
    /// A path starts anew.
    pub const PATH: u8 = 4;
    /// A path goes another way.
    pub const ROUTE: u8 = 5;
    /// A stream starts anew.
    pub const STREAM: u8 = 6;
    /// A connection's rate.
    pub const RATE: u8 = 7;
    /// A connection may send, or no more.
    pub const START: u8 = 8;
}

ports! {
    /// Inputs of `configuration`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// A command is offered.
        s_axis_command_tvalid: bool = 1,
        /// Which: see `command`.
        s_axis_command_command: u8 = 4,
        /// The connection, path or stream, among all (its lowest bits).
        s_axis_command_index: u16 = 16,
        /// The plane.
        s_axis_command_plane: u8 = params.plane_bits(),
        /// See the table.
        s_axis_command_flag: bool = 1,
        /// Of the send side: the peer's connection, first PSN, first message.
        s_axis_command_first: u32 = 24,
        /// Of the receive side: first PSN, first message.
        s_axis_command_second: u32 = 24,
        /// Of the send side: first receive.
        s_axis_command_third: u32 = 24,
        /// Of the receive side: first receive.
        s_axis_command_fourth: u32 = 24,
        /// Protection domain.
        s_axis_command_domain: u8 = super::key_table::DOMAIN_BITS,
        /// Class of service.
        s_axis_command_dscp: u8 = 6,
        /// A MAC address, first byte most significant; a region's bytes.
        s_axis_command_mac: u64 = 48,
        /// An IPv4 address in the lowest 32 bits; a region's first address.
        s_axis_command_address: u64 = 64,
        /// A region's key.
        s_axis_command_key: u32 = 32,
        /// UDP source port.
        s_axis_command_source_port: u16 = 16,
        /// State of a path.
        s_axis_command_state: u8 = 2,
        /// Congestion window in sixteenths of a packet.
        s_axis_command_window: u16 = params.window_bits + super::path_table::WINDOW_FRACTION_BITS,
        /// The rate.
        s_axis_command_rate: u16 = super::rate_limiter::RATE_BITS,
        /// The burst in bytes.
        s_axis_command_burst: u32 = params.burst_bits,
        /// The operation at `m_axis_connection` is taken.
        m_axis_connection_tready: bool = 1,
        /// The operation at `m_axis_key` is taken.
        m_axis_key_tready: bool = 1,
        /// The operation at `m_axis_path` is taken.
        m_axis_path_tready: bool = 1,
        /// The operation at `m_axis_sack_tx` is taken.
        m_axis_sack_tx_tready: bool = 1,
        /// The operation at `m_axis_sack_rx` is taken.
        m_axis_sack_rx_tready: bool = 1,
        /// The operation at `m_axis_ack` is taken.
        m_axis_ack_tready: bool = 1,
        /// The operation at `m_axis_retirement` is taken.
        m_axis_retirement_tready: bool = 1,
        /// The operation at `m_axis_request` is taken.
        m_axis_request_tready: bool = 1,
        /// The operation at `m_axis_sent` is taken.
        m_axis_sent_tready: bool = 1,
        /// The operation at `m_axis_received` is taken.
        m_axis_received_tready: bool = 1,
        /// The operation at `m_axis_receive` is taken.
        m_axis_receive_tready: bool = 1,
        /// The operation at `m_axis_rate` is taken.
        m_axis_rate_tready: bool = 1,
        /// The operation at `m_axis_schedule` is taken.
        m_axis_schedule_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `configuration`.
    Output Outputs (params) {
        /// A command would be accepted.
        s_axis_command_tready: bool = 1,
        /// This NIC's address on a plane is set.
        local_write: bool = 1,
        /// The plane.
        local_plane: u8 = params.plane_bits(),
        /// The IPv4 address.
        local_address: u32 = 32,
        /// An operation for `connection_table` is offered.
        m_axis_connection_tvalid: bool = 1,
        /// CONNECT, REMOTE or LOCAL.
        m_axis_connection_op: u8 = 2,
        /// The connection (LOCAL: 0).
        m_axis_connection_connection: u16 = params.connection_bits(),
        /// The plane (CONNECT: 0).
        m_axis_connection_plane: u8 = params.plane_bits(),
        /// CONNECT: it may be used.
        m_axis_connection_enabled: bool = 1,
        /// CONNECT: its number at the other NIC.
        m_axis_connection_peer: u32 = 24,
        /// CONNECT: its protection domain.
        m_axis_connection_domain: u8 = super::key_table::DOMAIN_BITS,
        /// CONNECT: its class of service.
        m_axis_connection_dscp: u8 = 6,
        /// REMOTE, LOCAL: the MAC address.
        m_axis_connection_mac: u64 = 48,
        /// REMOTE, LOCAL: the IPv4 address.
        m_axis_connection_address: u32 = 32,
        /// CONFIGURE for `key_table` is offered.
        m_axis_key_tvalid: bool = 1,
        /// The key.
        m_axis_key_key: u32 = 32,
        /// The region's first address.
        m_axis_key_address: u64 = 64,
        /// Its domain.
        m_axis_key_domain: u8 = super::key_table::DOMAIN_BITS,
        /// Its bytes.
        m_axis_key_length: u64 = super::key_table::LENGTH_BITS,
        /// It exists.
        m_axis_key_valid: bool = 1,
        /// Other NICs may write to it.
        m_axis_key_write: bool = 1,
        /// CONFIGURE for `path_table` is offered.
        m_axis_path_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_path_path: u16 = params.path_index_bits(),
        /// Forget all that was learned about the path.
        m_axis_path_clear: bool = 1,
        /// The plane.
        m_axis_path_plane: u8 = params.plane_bits(),
        /// The UDP source port.
        m_axis_path_source_port: u16 = 16,
        /// The state.
        m_axis_path_state: u8 = 2,
        /// The window.
        m_axis_path_window: u16 = params.window_bits + super::path_table::WINDOW_FRACTION_BITS,
        /// INIT for `sack_tx` is offered.
        m_axis_sack_tx_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_sack_tx_path: u16 = params.path_index_bits(),
        /// The first PSN.
        m_axis_sack_tx_psn: u32 = params.psn_bits,
        /// INIT for `sack_rx` is offered.
        m_axis_sack_rx_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_sack_rx_path: u16 = params.path_index_bits(),
        /// The first PSN.
        m_axis_sack_rx_psn: u32 = params.psn_bits,
        /// INIT for `ack_table` is offered.
        m_axis_ack_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_ack_path: u16 = params.path_index_bits(),
        /// A path starts anew.
        m_axis_retirement_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_retirement_path: u16 = params.path_index_bits(),
        /// The first PSN.
        m_axis_retirement_psn: u32 = params.psn_bits,
        /// INIT for `request_table` is offered.
        m_axis_request_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_request_stream: u16 = params.stream_index_bits(),
        /// The first message.
        m_axis_request_message: u32 = 24,
        /// The first receive.
        m_axis_request_receive: u32 = 24,
        /// INIT for the `message_table` of the send side is offered.
        m_axis_sent_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_sent_stream: u16 = params.stream_index_bits(),
        /// The first message.
        m_axis_sent_message: u32 = 24,
        /// INIT for the `message_table` of the receive side is offered.
        m_axis_received_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_received_stream: u16 = params.stream_index_bits(),
        /// The first message.
        m_axis_received_message: u32 = 24,
        /// INIT for `receive_table` is offered.
        m_axis_receive_tvalid: bool = 1,
        /// The stream's index among all streams.
        m_axis_receive_stream: u16 = params.stream_index_bits(),
        /// The first receive.
        m_axis_receive_number: u32 = 24,
        /// CONFIGURE for `rate_limiter` is offered.
        m_axis_rate_tvalid: bool = 1,
        /// The connection.
        m_axis_rate_connection: u16 = params.connection_bits(),
        /// The rate.
        m_axis_rate_rate: u16 = super::rate_limiter::RATE_BITS,
        /// The burst in bytes.
        m_axis_rate_burst: u32 = params.burst_bits,
        /// START for `scheduler` is offered.
        m_axis_schedule_tvalid: bool = 1,
        /// The connection.
        m_axis_schedule_connection: u16 = params.connection_bits(),
        /// It may send.
        m_axis_schedule_flag: bool = 1,
    }
}
