//! Contract of `path_table`: the context of every path and the choice of the next path to spray on (requirements R2, R3, R8, R9).
//!
//! For each path it keeps its route (plane, UDP source port), its state, its congestion window, the packets in flight, round-trip time and variance
//! (RFC 6298), ECN counts, utilisation, back-off and the time of the last progress; and for each connection a bit per path, *eligible*, with a round-robin
//! pointer, so that a selection looks at one word, however many paths there are.
//!
//! # Operations
//! `path` is the index among all paths, `connection * paths + path`.
//! - [`op::CONFIGURE`]: sets plane, source port, state and window of `path`. With `clear` set it also clears the rest: nothing in flight, no round-trip sample,
//!   counts, utilisation and back-off zero, `last_progress = now`.
//! - [`op::SELECT`]: chooses a path of the connection that `path` belongs to (its lower bits mean nothing). Two selections a turn
//!   ([`SELECTIONS_PER_TURN`]), so that the receiver has something to coalesce: if the last chosen path was chosen once in this turn and is
//!   still eligible it is chosen again and the turn is over. Otherwise the first eligible path after the last chosen one, round the ring and with the last chosen
//!   one itself last, is chosen and a turn begins. `found` tells whether there is one; when there is none nothing changes. SELECT charges nothing: SEND does.
//! - [`op::SEND`]: a packet left on `path` (a new one or one sent again): in flight + 1 (saturating at 2^`window_bits` - 1), utilisation + 1. If nothing was in flight: `last_progress = now`, since a timer that runs from there must not run out at once.
//! - [`op::ACKNOWLEDGE`]: `acknowledged` packets arrived, `lost` were found lost, `marked` of those that arrived bore Congestion Experienced.
//!   In flight falls by `acknowledged + lost`, not below 0; `packets` and `marked` are running counts, 16 bits, that wrap.
//!   If `rtt_valid`, `rtt` (ticks) is a sample for the estimator below. If `acknowledged > 0`: `last_progress = now`, back-off = 0, and a suspect path is up again.
//! - [`op::TIMEOUT`]: the retransmission timer ran out: nothing is in flight, the window falls to one packet (`1 << WINDOW_FRACTION_BITS`), back-off + 1 (at most
//!   [`MAX_BACKOFF`]), and a path that is up becomes suspect.
//! - [`op::READ`]: changes nothing but the decay of the utilisation.
//! - [`op::ROUTE`]: does what READ does, for another asker, who knows his results by the code. Code 7 is reserved and does the same.
//!
//! # Derived values
//! - *Eligible*: the state is up, and nothing is in flight or fewer packets are than the window's integer part (`window >> WINDOW_FRACTION_BITS`). So the window has a floor of one packet.
//! - *Round-trip time*: the integer form of RFC 6298: `smoothed8` holds 8 x SRTT, `variance4` holds 4 x RTTVAR. First sample R: `smoothed8 = 8 R`,
//!   `variance4 = 2 R`. Later: `e = R - (smoothed8 >> 3)`; `smoothed8 += e`; `variance4 += |e| - (variance4 >> 2)`. The results give `smoothed8 >> 3` and `variance4 >> 2`.
//! - *Retransmission timeout*: `((smoothed8 >> 3) + max(1, variance4)) << backoff`, or before the first sample `(2^rtt_bits - 1) << backoff`; in both cases at most `2^(timestamp_bits - 1) - 1`.
//! - *Utilisation*: packets sent, halved every epoch of 2^[`UTILISATION_EPOCH_BITS`] ticks. Each operation on a path but SELECT first halves it once for each epoch since the
//!   last one that did (`now >> UTILISATION_EPOCH_BITS` minus the one kept, modulo its width; 16 or more make it 0). 16 bits, saturating.
//!
//! # Outputs
//! For a path operation `path`, everything that is kept of it after the operation, and `found` = 0. For SELECT: `found`, and if found `path` = the chosen path with its `plane` and `source_port`;
//! otherwise `path` = the path asked with, and plane and source port zero. SELECT gives all other fields as zero.
//!
//! # Timing
//! Operations take effect in the order of their issue: a SELECT sees every operation issued before it. One operation a clock on distinct paths, and SELECTs one a clock on any connection; two path operations (all but SELECT)
//! on one path are issued at least [`SAME_PATH_CLOCKS`] moving clocks apart, whatever stands between them. Acceptance, issue, `s_axis_op_tready`, stalls and the clear after reset (`connections * paths` clocks) are as in `sack_tx`.
//! [`LATENCY`] clocks from issue to `m_axis_result_tvalid`.
//!
//! After reset every path is down with everything else zero (no sample), no path is eligible, every pointer is at path 0 with its turn over.

use crate::ports;

/// Clocks from issue of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 11;
/// Moving clocks between the issue of two operations on one path, at least.
pub const SAME_PATH_CLOCKS: usize = 4;
/// How often in a row a path is chosen.
pub const SELECTIONS_PER_TURN: u32 = 2;
/// Fraction bits of a congestion window: additive increase works in sixteenths of a packet.
pub const WINDOW_FRACTION_BITS: u32 = 4;
/// Most doublings of the retransmission timeout.
pub const MAX_BACKOFF: u8 = 15;
/// log2 of the ticks after which the utilisation halves.
pub const UTILISATION_EPOCH_BITS: u32 = 10;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// Set a path's route, state and window.
    pub const CONFIGURE: u8 = 0;
    /// Choose the next path of a connection.
    pub const SELECT: u8 = 1;
    /// A packet left.
    pub const SEND: u8 = 2;
    /// An acknowledgement was worked on.
    pub const ACKNOWLEDGE: u8 = 3;
    /// The retransmission timer ran out.
    pub const TIMEOUT: u8 = 4;
    /// Read a path's context.
    pub const READ: u8 = 5;
    /// Read where a path leads.
    pub const ROUTE: u8 = 6;
}

/// States of a path.
pub mod state {
    /// Not used.
    pub const DOWN: u8 = 0;
    /// In use.
    pub const UP: u8 = 1;
    /// Timed out, and nothing acknowledged since.
    pub const SUSPECT: u8 = 2;
    /// Was down; probes are out to see whether it works again.
    pub const PROBING: u8 = 3;
}

ports! {
    /// Inputs of `path_table`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 3,
        /// The path's index among all paths; SELECT: any path of the connection.
        s_axis_op_path: u16 = params.path_index_bits(),
        /// CONFIGURE: forget all that was learned about the path.
        s_axis_op_clear: bool = 1,
        /// CONFIGURE: the plane.
        s_axis_op_plane: u8 = params.plane_bits(),
        /// CONFIGURE: the UDP source port.
        s_axis_op_source_port: u16 = 16,
        /// CONFIGURE: the state, see `state`.
        s_axis_op_state: u8 = 2,
        /// CONFIGURE: the congestion window in sixteenths of a packet.
        s_axis_op_window: u16 = params.window_bits + WINDOW_FRACTION_BITS,
        /// ACKNOWLEDGE: packets newly acknowledged.
        s_axis_op_acknowledged: u16 = params.sack_count_bits(),
        /// ACKNOWLEDGE: packets found lost.
        s_axis_op_lost: u16 = params.sack_count_bits(),
        /// ACKNOWLEDGE: packets that arrived marked.
        s_axis_op_marked: u16 = params.sack_count_bits(),
        /// ACKNOWLEDGE: `rtt` is a sample.
        s_axis_op_rtt_valid: bool = 1,
        /// ACKNOWLEDGE: round-trip time in ticks.
        s_axis_op_rtt: u32 = params.rtt_bits,
        /// The timestamp of the operation itself.
        s_axis_op_now: u32 = params.timestamp_bits,
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `path_table`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 3,
        /// The operation's path, or the chosen one.
        m_axis_result_path: u16 = params.path_index_bits(),
        /// SELECT: a path was eligible.
        m_axis_result_found: bool = 1,
        /// The path's plane.
        m_axis_result_plane: u8 = params.plane_bits(),
        /// The path's UDP source port.
        m_axis_result_source_port: u16 = 16,
        /// The path's state, see `state`.
        m_axis_result_state: u8 = 2,
        /// Congestion window in sixteenths of a packet.
        m_axis_result_window: u16 = params.window_bits + WINDOW_FRACTION_BITS,
        /// Packets in flight.
        m_axis_result_in_flight: u16 = params.window_bits,
        /// A round-trip time has been measured.
        m_axis_result_rtt_valid: bool = 1,
        /// Smoothed round-trip time in ticks.
        m_axis_result_smoothed_rtt: u32 = params.rtt_bits,
        /// Round-trip time variance in ticks.
        m_axis_result_rtt_variance: u32 = params.rtt_bits,
        /// Retransmission timeout in ticks, back-off included.
        m_axis_result_timeout: u32 = params.timestamp_bits - 1,
        /// Doublings of the retransmission timeout.
        m_axis_result_backoff: u8 = 4,
        /// Running count of packets acknowledged.
        m_axis_result_packets: u16 = 16,
        /// Running count of packets that arrived marked.
        m_axis_result_marked: u16 = 16,
        /// Packets sent, halved every epoch.
        m_axis_result_utilisation: u16 = 16,
        /// When something was last acknowledged, or sent with nothing in flight.
        m_axis_result_last_progress: u32 = params.timestamp_bits,
    }
}
