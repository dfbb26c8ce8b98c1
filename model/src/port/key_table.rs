//! Contract of `key_table`: the memory regions that other NICs may write to, and the check of every packet against them (requirement R5).
//!
//! A region is named by a 32-bit key: its lowest `key_index_bits` are the region's index, the rest is a *tag* that a driver changes when it uses the index again,
//! so that a key of before is not taken for the one of now. For each index it keeps: `valid`, `tag`, `base` (64 bits), `length` ([`LENGTH_BITS`] bits), `domain` and `write`.
//!
//! # Operations
//! - [`op::CONFIGURE`]: all fields of the region `key` names are set: `valid`, tag (from `key`), `base` = `address`, `length`, `domain`, `write`. Status DONE.
//! - [`op::CHECK`]: may `bytes` bytes at `address` be written by a connection of `domain`? The first that applies:
//!   - `bytes` is 0: [`status::DONE`], whatever the key (nothing will be written).
//!   - The region is not valid, or its tag, or its domain is another, or `write` is clear: [`status::BAD_KEY`].
//!   - With `offset = (address - base) mod 2^64`: `offset + bytes > length` (no modulus): [`status::OUT_OF_BOUNDS`].
//!   - Otherwise [`status::DONE`].
//!
//! A region must end at 2^64 or before; the driver sees to that.
//!
//! # Timing
//! Operations take effect in the order of acceptance, one a clock, on any keys, without any distance. The pipeline is rigid: it moves in the clocks in which the output queue (two entries)
//! has room; `s_axis_op_tready` = it moves, and the clear after reset is over. [`LATENCY`] clocks from acceptance to `m_axis_result_tvalid`. The result gives the status and the operation's code.
//! After reset no region is valid; `s_axis_op_tready` is low for the `keys` clocks that follow the last clock with `rst` high.

use crate::ports;

/// Clocks from acceptance of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 8;
/// Width of a region's length in bytes.
pub const LENGTH_BITS: u32 = 48;
/// Width of a protection domain's number.
pub const DOMAIN_BITS: u32 = 8;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// Set a region.
    pub const CONFIGURE: u8 = 0;
    /// May this be written?
    pub const CHECK: u8 = 1;
}

/// Status codes of `m_axis_result_status`.
pub mod status {
    /// Done; it may.
    pub const DONE: u8 = 0;
    /// No such region, or not for this connection, or not for writing.
    pub const BAD_KEY: u8 = 1;
    /// Not wholly within the region.
    pub const OUT_OF_BOUNDS: u8 = 2;
}

ports! {
    /// Inputs of `key_table`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 1,
        /// The key.
        s_axis_op_key: u32 = 32,
        /// CONFIGURE: the region's first address. CHECK: the first address to write.
        s_axis_op_address: u64 = 64,
        /// CHECK: bytes to write.
        s_axis_op_bytes: u16 = params.payload_bits(),
        /// The protection domain: of the region, of the connection.
        s_axis_op_domain: u8 = DOMAIN_BITS,
        /// CONFIGURE: bytes of the region.
        s_axis_op_length: u64 = LENGTH_BITS,
        /// CONFIGURE: the region exists.
        s_axis_op_valid: bool = 1,
        /// CONFIGURE: other NICs may write to it.
        s_axis_op_write: bool = 1,
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `key_table`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 1,
        /// How it ended: see `status`.
        m_axis_result_status: u8 = 2,
    }
}
