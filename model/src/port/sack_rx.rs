//! Contract of `sack_rx`: the receive side of selective acknowledgement, per path (requirements R2, R4, R6).
//!
//! For each path it keeps `base` (the lowest PSN not yet received), `next` (one beyond the highest received) and a bit
//! for each PSN of the window `[base, base + sack_bits)`. Each packet gets a verdict and the acknowledgement
//! to send: base and vector as they are with this packet and every one accepted before it.
//!
//! # Operations
//! PSN order is serial-number arithmetic (RFC 1982): `a` is before `b` when `(b - a) mod 2^psn_bits` is from 1 to
//! 2^(psn_bits-1); here `d = (psn - window) mod 2^psn_bits`, and `window` is the path's *committed* base, see below.
//! - [`op::PACKET`]: a packet of `path` with `psn` arrived.
//!   - `d >= 2^(psn_bits-1)`: the packet is before the window: [`verdict::DUPLICATE`].
//!   - `sack_bits <= d < 2^(psn_bits-1)`: [`verdict::OUT_OF_WINDOW`]; nothing changes.
//!   - `d < sack_bits`: [`verdict::DUPLICATE`] when it was received before, else [`verdict::NEW`]: it is marked
//!     received, `base` moves up to the first PSN not received, `next` to `psn + 1` if that is further.
//! - [`op::INIT`]: the path starts anew: `base = next = psn`, nothing received. Verdict `NEW`.
//!   After an INIT nothing is accepted for the next [`COMMIT`] - 1 clocks in which the pipeline moves.
//! - [`op::QUERY`]: changes nothing. It gives base and vector for an acknowledgement that no new packet causes: a probe's, a late one, or that of a packet
//!   which is refused for another reason than its PSN. Its verdict is the one that a PACKET with this PSN would get.
//! - [`op::ACKNOWLEDGE`]: the same, for another asker, who knows his results by the code.
//!
//! # Outputs, all as they are after the operation
//! `base`; `vector`: bit `p mod sack_bits` is set when PSN p of `[base, base + sack_bits)` was received (bit
//! `base mod sack_bits` is therefore always clear); `hole`: some PSN before `next` is missing, `base != next`. And as they
//! were before it, for verdict `NEW` of a PACKET only, else 0: `new_hole`: `psn` is beyond `next` (this packet opened a hole);
//! `filled`: `psn` is before `next` (this packet fills a hole or part of one).
//!
//! # Timing
//! Initiation interval 1, on any paths. Latency [`LATENCY`] clocks from acceptance to `m_axis_rx_tvalid` when nothing
//! stalls. The pipeline is rigid: it moves in the clocks in which the output queue (two entries, see `axis_register`)
//! has room, and stands still as a whole otherwise. `s_axis_rx_tready` = the pipeline moves, and no INIT or reset is being worked on.
//!
//! The *committed* base is the base after the latest operation on the path that was accepted at least [`COMMIT`] moving
//! clocks before. Finding the first hole takes the pipeline that long. A sender that keeps to its window never sees
//! the difference: it learns of a base from an acknowledgement that left later still. Everything else is exact at every distance.
//!
//! After reset every path is as after INIT with PSN 0; `s_axis_rx_tready` is low for the `connections * paths + COMMIT`
//! clocks that follow the last clock with `rst` high (the clock after which `rst` is first seen low counts as the first).

use super::Vector;
use crate::ports;

/// Clocks from acceptance of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 16;
/// Moving clocks after which an operation's new base is the window of later packets.
pub const COMMIT: usize = 14;

/// Operation codes of `s_axis_rx_op`.
pub mod op {
    /// A packet arrived.
    pub const PACKET: u8 = 0;
    /// The path starts anew.
    pub const INIT: u8 = 1;
    /// Base and vector as they are.
    pub const QUERY: u8 = 2;
    /// The same, for the acknowledgement that is being made.
    pub const ACKNOWLEDGE: u8 = 3;
}

/// Verdicts of `m_axis_rx_verdict`.
pub mod verdict {
    /// Not seen before, now received: place its payload.
    pub const NEW: u8 = 0;
    /// Seen before: acknowledge again, do not place.
    pub const DUPLICATE: u8 = 1;
    /// Beyond the window: a sender that does not keep the rules, or a forged packet. Drop and count.
    pub const OUT_OF_WINDOW: u8 = 2;
}

ports! {
    /// Inputs of `sack_rx`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_rx_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_rx_op: u8 = 2,
        /// The path's index among all paths.
        s_axis_rx_path: u16 = params.path_index_bits(),
        /// PACKET: the packet's PSN. INIT: the first PSN.
        s_axis_rx_psn: u32 = params.psn_bits,
        /// The result at `m_axis_rx` is taken.
        m_axis_rx_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `sack_rx`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_rx_tready: bool = 1,
        /// A result is offered.
        m_axis_rx_tvalid: bool = 1,
        /// The operation's code.
        m_axis_rx_op: u8 = 2,
        /// The operation's path.
        m_axis_rx_path: u16 = params.path_index_bits(),
        /// The operation's PSN.
        m_axis_rx_psn: u32 = params.psn_bits,
        /// What to do with the packet: see `verdict`.
        m_axis_rx_verdict: u8 = 2,
        /// Lowest PSN not received: the acknowledgement's cumulative PSN.
        m_axis_rx_base: u32 = params.psn_bits,
        /// The acknowledgement's selective vector.
        m_axis_rx_vector: Vector = params.sack_bits,
        /// A PSN before the highest received one is missing.
        m_axis_rx_hole: bool = 1,
        /// This packet opened a hole.
        m_axis_rx_new_hole: bool = 1,
        /// This packet filled a hole or part of one.
        m_axis_rx_filled: bool = 1,
    }
}
