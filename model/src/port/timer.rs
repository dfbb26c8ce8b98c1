//! Contract of `timer`: the one background scan over all paths, for probes, retransmission timeouts and late acknowledgements (requirements R6, R8, R9).
//!
//! For each path it keeps `probes` (0 to [`MAX_PROBES`]): probes sent since the last progress. Output queues `path`, `sack`, `probe`, `ack`; a queue `read` of 4 (strobe); `index`, the path whose turn it is; `wait`, which counts clocks; `reads`, those under way.
//!
//! # Rules
//! - *step*: `wait` is 0, `path` and `ack` have room, *judge* puts nothing into `path` in this clock, `reads < 4`. READ of path `index` at `now` to `path`, SCAN of it at `now` to `ack`; `index` + 1 (it wraps after the last path), `wait` = [`STEP_CLOCKS`] - 1, `reads` + 1. In all other clocks `wait` falls by one if it is not 0.
//! - *judge*: `read` has an entry; `path`, `sack` and `probe` have room; and it is the fifth clock or a later one since the entry became the head (the clocks before are for reading `probes` and for arithmetic). It is taken, `reads` - 1. With `earlier` = the time two clocks before, for which all comparisons are made:
//!   - `idle = (earlier - last_progress) mod 2^timestamp_bits`
//!   - `base = smoothed_rtt + floor(smoothed_rtt / 4) + config_probe`, or without a sample `config_first_probe`; at most 2^(timestamp_bits-1) - 1
//!   - `limit = max(timeout, (base * 16) << backoff)`, at most 2^(timestamp_bits-1) - 1
//!   - The first that applies: nothing in flight, or `idle < base`: `probes` = 0. `idle >= limit`: TIMEOUT of the path at `now` (the judging clock's) to `path` and to `sack`; `probes` = 0. `probes < MAX_PROBES` and `idle >= base * (probes + 1)`: the path to `probe`; `probes` + 1. Otherwise nothing.
//!
//! So a probe goes out every `base`, and a timeout, which sends again whatever was not acknowledged, needed or not, follows only after none of [`MAX_PROBES`] probes was answered:
//! then the path has failed. (With the timeout after four times `base` and a tenth of all packets and acknowledgements lost, timeouts sent again what had arrived: the answers to both probes had been lost.)
//!
//! After reset `probes` of all paths is 0 and `index` is 0; no step is taken in the `connections * paths` clocks that follow the last clock with `rst` high, in which the memory is cleared. The configuration may change only while `rst` is high.

use crate::ports;

/// Clocks from one step of the scan to the next, at least.
pub const STEP_CLOCKS: u32 = 4;
/// Probes between two timeouts.
pub const MAX_PROBES: u8 = 14;

ports! {
    /// Inputs of `timer`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// The present time.
        now: u32 = params.timestamp_bits,
        /// Ticks added to a probe's time: what a packet may wait in the NICs and for its acknowledgement.
        config_probe: u16 = 16,
        /// Ticks after which a path without a round-trip time is probed.
        config_first_probe: u32 = params.timestamp_bits - 1,
        /// The operation at `m_axis_path` is taken.
        m_axis_path_tready: bool = 1,
        /// `path_table` answers a READ.
        read_valid: bool = 1,
        /// The path's index among all paths.
        read_path: u16 = params.path_index_bits(),
        /// Packets in flight.
        read_in_flight: u16 = params.window_bits,
        /// A round-trip time has been measured.
        read_rtt_valid: bool = 1,
        /// Smoothed round-trip time in ticks.
        read_smoothed_rtt: u32 = params.rtt_bits,
        /// Retransmission timeout in ticks, back-off included.
        read_timeout: u32 = params.timestamp_bits - 1,
        /// Doublings of the retransmission timeout.
        read_backoff: u8 = 4,
        /// When something was last acknowledged, or first sent.
        read_last_progress: u32 = params.timestamp_bits,
        /// The operation at `m_axis_sack` is taken.
        m_axis_sack_tready: bool = 1,
        /// The path at `m_axis_probe` is taken.
        m_axis_probe_tready: bool = 1,
        /// The operation at `m_axis_ack` is taken.
        m_axis_ack_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `timer`.
    Output Outputs (params) {
        /// An operation for `path_table` is offered.
        m_axis_path_tvalid: bool = 1,
        /// READ or TIMEOUT.
        m_axis_path_op: u8 = 3,
        /// The path's index among all paths.
        m_axis_path_path: u16 = params.path_index_bits(),
        /// The present time.
        m_axis_path_now: u32 = params.timestamp_bits,
        /// TIMEOUT for `sack_tx` is offered.
        m_axis_sack_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_sack_path: u16 = params.path_index_bits(),
        /// The present time.
        m_axis_sack_now: u32 = params.timestamp_bits,
        /// A path is to be probed.
        m_axis_probe_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_probe_path: u16 = params.path_index_bits(),
        /// SCAN for `ack_table` is offered.
        m_axis_ack_tvalid: bool = 1,
        /// The path's index among all paths.
        m_axis_ack_path: u16 = params.path_index_bits(),
        /// The present time.
        m_axis_ack_now: u32 = params.timestamp_bits,
    }
}
