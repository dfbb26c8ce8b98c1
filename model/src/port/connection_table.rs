//! Contract of `connection_table`: who is at the other end of every connection, and how to address it on every plane (requirements R2, R3).
//!
//! It keeps, for each connection: `enabled`, `peer` (the connection's number at the other NIC, 24 bits), `domain` (protection domain) and `dscp`; for each connection and plane the other NIC's MAC and IPv4
//! address; and for each plane this NIC's own.
//!
//! # Operations
//! - [`op::CONNECT`]: sets `enabled`, `peer`, `domain` and `dscp` of `connection`.
//! - [`op::REMOTE`]: sets the other NIC's `mac` and `address` of `connection` on `plane`.
//! - [`op::LOCAL`]: sets this NIC's `mac` and `address` on `plane`.
//! - [`op::LOOKUP`]: gives all of `connection` and `plane`. `known` = the connection is enabled; if it is not, all the rest is zero.
//!
//! # Outputs
//! `op`, `connection`, `plane` and `tag` are the operation's (`tag` is for whoever asks: several may share the unit). For LOOKUP the fields above; zero for the others.
//!
//! # Timing
//! Operations take effect in the order of acceptance, one a clock, without any distance. The pipeline is rigid: it moves in the clocks in which the output queue (two entries) has room; `s_axis_op_tready` = it moves, and the clear after reset is over.
//! [`LATENCY`] clocks from acceptance to `m_axis_result_tvalid`. After reset everything is zero, no connection is enabled; `s_axis_op_tready` is low for the `connections * planes` clocks that follow the last clock with `rst` high.

use super::key_table::DOMAIN_BITS;
use crate::ports;

/// Clocks from acceptance of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 5;
/// Width of a tag.
pub const TAG_BITS: u32 = 2;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// Set a connection.
    pub const CONNECT: u8 = 0;
    /// Set the other NIC's addresses on a plane.
    pub const REMOTE: u8 = 1;
    /// Set this NIC's addresses on a plane.
    pub const LOCAL: u8 = 2;
    /// Look up.
    pub const LOOKUP: u8 = 3;
}

ports! {
    /// Inputs of `connection_table`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 2,
        /// The connection.
        s_axis_op_connection: u16 = params.connection_bits(),
        /// The plane.
        s_axis_op_plane: u8 = params.plane_bits(),
        /// Comes back with the result.
        s_axis_op_tag: u8 = TAG_BITS,
        /// CONNECT: the connection may be used.
        s_axis_op_enabled: bool = 1,
        /// CONNECT: the connection's number at the other NIC.
        s_axis_op_peer: u32 = 24,
        /// CONNECT: its protection domain.
        s_axis_op_domain: u8 = DOMAIN_BITS,
        /// CONNECT: its class of service.
        s_axis_op_dscp: u8 = 6,
        /// REMOTE, LOCAL: the MAC address, first byte most significant.
        s_axis_op_mac: u64 = 48,
        /// REMOTE, LOCAL: the IPv4 address, first byte most significant.
        s_axis_op_address: u32 = 32,
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `connection_table`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 2,
        /// The connection.
        m_axis_result_connection: u16 = params.connection_bits(),
        /// The plane.
        m_axis_result_plane: u8 = params.plane_bits(),
        /// The operation's tag.
        m_axis_result_tag: u8 = TAG_BITS,
        /// The connection is enabled.
        m_axis_result_known: bool = 1,
        /// Its number at the other NIC.
        m_axis_result_peer: u32 = 24,
        /// Its protection domain.
        m_axis_result_domain: u8 = DOMAIN_BITS,
        /// Its class of service.
        m_axis_result_dscp: u8 = 6,
        /// The other NIC's MAC address on the plane.
        m_axis_result_destination_mac: u64 = 48,
        /// The other NIC's IPv4 address on the plane.
        m_axis_result_destination_address: u32 = 32,
        /// This NIC's MAC address on the plane.
        m_axis_result_source_mac: u64 = 48,
        /// This NIC's IPv4 address on the plane.
        m_axis_result_source_address: u32 = 32,
    }
}
