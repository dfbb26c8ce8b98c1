//! Contract of `sack_tx`: the send side of selective acknowledgement, a scoreboard per path (requirements R2, R6).
//!
//! For each path it keeps `base` (the lowest PSN not acknowledged), `next` (the next PSN to send), and four bits for each
//! PSN of `[base, next)`, at most `sack_bits` of them: *acknowledged*; *pending* (found lost, waits to be
//! sent again); *older* and *newer* generation (sent again before the mark, sent again since). A packet that has none of the four is in
//! flight for the first time. Beside them `mark`, `last_sent` and `probe_sent` are timestamps, the last with a flag.
//!
//! # Operations
//! PSNs and timestamps are compared by serial-number arithmetic (RFC 1982): `a` reaches `b` (a >= b) when
//! `(a - b) mod 2^width < 2^(width-1)`.
//! - [`op::INIT`]: the path starts anew: `base = next = psn`, all vectors empty, `mark = last_sent = now`, no probe out.
//! - [`op::SEND`]: a new packet. With `next - base < sack_bits`: its PSN is `next`, `next` moves up by one, `last_sent = now`, and `mark = now` if nothing
//!   was outstanding. Otherwise status [`status::FULL`], nothing changes.
//! - [`op::RETRANSMIT`]: the next packet to send again: the pending PSN nearest to `base`. It leaves *pending* for the *newer* generation,
//!   `last_sent = now`. With nothing pending: status [`status::NONE`], nothing changes.
//! - [`op::ACKNOWLEDGE`]: an acknowledgement with cumulative PSN `psn`, `vector` (as `sack_rx` gives it) and `echo` (the transmit
//!   timestamp of the packet that caused it). Let `c = (psn - base) mod 2^psn_bits`, `o = next - base`.
//!   - `c >= 2^(psn_bits-1)`: status [`status::STALE`] (an older acknowledgement overtaken by a newer one); nothing changes.
//!   - `o < c < 2^(psn_bits-1)`: status [`status::INVALID`] (it acknowledges what was never sent); nothing changes.
//!   - Otherwise, in this order:
//!     1. PSNs in `[base, psn)` leave the scoreboard, and PSNs in `[psn, next)` whose vector bit is set become *acknowledged* (and leave the three other
//!        vectors). Vector bits of PSNs outside `[psn, next)` mean nothing. `acknowledged` counts the PSNs that were not acknowledged before. `base = psn`.
//!     2. *Hole*: a PSN that is in flight for the first time and before some *acknowledged* PSN is lost (the path is ordered).
//!     3. *Lost again*: if `echo` reaches `mark`, PSNs in *older* are lost again; *newer* becomes *older*, *newer* becomes empty, `mark = now`.
//!     4. *Tail*: if `echo` reaches `last_sent`, every PSN of `[base, next)` that is neither acknowledged nor pending is lost.
//!     5. What 2, 3 or 4 found becomes *pending*, and leaves the generations. `holes` counts those that were in flight for the first time; `lost_again` those that had been sent
//!        again. `tail` is set when step 4 found one that steps 2 and 3 had not.
//!     6. If a probe is out and `echo` reaches `probe_sent`: `probe_answered`, no probe is out any more.
//! - [`op::PROBE`]: a probe left: `probe_sent = now`, a probe is out. (A probe takes no PSN and does not change `last_sent`.)
//! - [`op::TIMEOUT`]: the retransmission timer ran out: every PSN of `[base, next)` that is not acknowledged becomes *pending* and leaves the generations. `holes` and
//!   `lost_again` count, as above, those that were not pending before. No probe is out any more, and `mark = now`.
//! - Codes 6 and 7 are reserved: status [`status::INVALID`], nothing changes.
//!
//! SEND on a path at rest and TIMEOUT take the mark anew because no generation has a packet then, and a mark older than half the range of timestamps would
//! look like one to come: retransmissions lost again would be found no more.
//!
//! Nothing is sent again needlessly on an ordered path only if `now` rises strictly from each SEND or RETRANSMIT of a path to the next: equal timestamps count as reached.
//!
//! # Outputs
//! `psn`: for SEND and RETRANSMIT with status DONE the packet's PSN, otherwise `base` after the operation. `outstanding` = `next - base`, and
//! `pending` = something is pending, both after the operation. The counts and flags are zero where not mentioned above.
//!
//! # Timing
//! One operation a clock on distinct paths; two operations on one path are issued at least [`SAME_PATH_CLOCKS`] moving clocks apart. An accepted operation waits
//! in the input register until it may issue; `s_axis_op_tready` = not in the clear after reset, and the input register is empty or issues in this clock. It issues when the pipeline moves
//! and none of the last `SAME_PATH_CLOCKS - 1` moving clocks issued one of the same path. The pipeline moves in the clocks in which the output queue (two
//! entries) has room. [`LATENCY`] clocks from issue to `m_axis_result_tvalid`, so one more from acceptance, when nothing stalls.
//!
//! After reset every path is as after INIT with PSN 0 and `now` 0; `s_axis_op_tready` is low for the `connections * paths` clocks that follow the last clock with `rst` high.

use super::Vector;
use crate::ports;

/// Clocks from issue of an operation to its result at the output, without stalls.
pub const LATENCY: usize = 14;
/// Moving clocks between the issue of two operations on one path, at least.
pub const SAME_PATH_CLOCKS: usize = 4;

/// Operation codes of `s_axis_op_op`.
pub mod op {
    /// The path starts anew.
    pub const INIT: u8 = 0;
    /// Allocate the PSN of a new packet.
    pub const SEND: u8 = 1;
    /// An acknowledgement arrived.
    pub const ACKNOWLEDGE: u8 = 2;
    /// Take the next packet to send again.
    pub const RETRANSMIT: u8 = 3;
    /// A probe left.
    pub const PROBE: u8 = 4;
    /// The retransmission timer ran out.
    pub const TIMEOUT: u8 = 5;
}

/// Status codes of `m_axis_result_status`.
pub mod status {
    /// Done.
    pub const DONE: u8 = 0;
    /// SEND: `sack_bits` packets are outstanding. RETRANSMIT: nothing is pending ([`NONE`] is the same code).
    pub const FULL: u8 = 1;
    /// RETRANSMIT: nothing is pending.
    pub const NONE: u8 = 1;
    /// ACKNOWLEDGE: older than what is acknowledged already.
    pub const STALE: u8 = 2;
    /// ACKNOWLEDGE: of something never sent; or a reserved operation.
    pub const INVALID: u8 = 3;
}

ports! {
    /// Inputs of `sack_tx`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 3,
        /// The path's index among all paths.
        s_axis_op_path: u16 = params.path_index_bits(),
        /// INIT: the first PSN. ACKNOWLEDGE: the cumulative PSN.
        s_axis_op_psn: u32 = params.psn_bits,
        /// ACKNOWLEDGE: the selective vector.
        s_axis_op_vector: Vector = params.sack_bits,
        /// ACKNOWLEDGE: the echoed transmit timestamp.
        s_axis_op_echo: u32 = params.timestamp_bits,
        /// The timestamp of the operation itself.
        s_axis_op_now: u32 = params.timestamp_bits,
        /// The result at `m_axis_result` is taken.
        m_axis_result_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `sack_tx`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// A result is offered.
        m_axis_result_tvalid: bool = 1,
        /// The operation's code.
        m_axis_result_op: u8 = 3,
        /// The operation's path.
        m_axis_result_path: u16 = params.path_index_bits(),
        /// How it ended: see `status`.
        m_axis_result_status: u8 = 2,
        /// PSN of the packet to send, or the path's base.
        m_axis_result_psn: u32 = params.psn_bits,
        /// PSNs newly acknowledged.
        m_axis_result_acknowledged: u16 = params.sack_count_bits(),
        /// PSNs found lost that were sent once.
        m_axis_result_holes: u16 = params.sack_count_bits(),
        /// PSNs found lost that had been sent again.
        m_axis_result_lost_again: u16 = params.sack_count_bits(),
        /// The end of what was sent is lost.
        m_axis_result_tail: bool = 1,
        /// The probe that was out is answered.
        m_axis_result_probe_answered: bool = 1,
        /// Something waits to be sent again.
        m_axis_result_pending: bool = 1,
        /// Packets between base and next PSN.
        m_axis_result_outstanding: u16 = params.sack_count_bits(),
    }
}
