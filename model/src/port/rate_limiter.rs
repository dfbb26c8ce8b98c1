//! Contract of `rate_limiter`: a token bucket per connection, and a timing wheel that tells when a connection may send again (requirement R7).
//!
//! For each connection it keeps a `rate` (a 12-bit float, the form in which receivers' hints travel), a `cap`, `tokens`, the time `last` at which they were
//! settled, and `waiting`: the connection is in the wheel.
//!
//! # Guarantee
//! A connection is *eligible* when `tokens >= 0`; a packet may then be sent and is charged with its bytes, which may make tokens negative, by less than
//! `max_packet_bytes`. With `cap = max(burst - max_packet_bytes, 0)`, a scheduler that sends only what is eligible never sends more than `rate * time + burst` bytes in
//! any interval (with a burst under one packet: `max_packet_bytes` in its place). It is never below by more than: elapsed time is cut to 2^[`ELAPSED_BITS`] - 1 ticks between two settlements,
//! a wake comes at most 3 wheel slots and the pipeline's length late (and [`LINK_CLOCKS`] + 1 clocks for every other connection that is due with it, and any stall), and a rate that rises while the connection waits is seen when its wait ends, or when it is queried.
//! A CONFIGURE fills the bucket, so the guarantee holds between two of them. A connection may get a WAKE though it is eligible already (it was configured, or given a rate, while it waited), and a stopped connection
//! that has tokens is eligible.
//! Tokens gather while a wake is late, so that none of this lowers the rate itself while `cap` covers the delay.
//!
//! # Arithmetic
//! - Rate: `mantissa = rate[7:0]`, `exponent = rate[11:8]`: `mantissa << exponent` in units of 2^-16 bytes a tick (mantissas need not be normal). Mantissa 0 is a stopped connection.
//! - Tokens are signed, in units of 2^-16 bytes, from `-2^(burst_bits+16)` to `2^(burst_bits+16) - 1`; they saturate at the lower end.
//! - *Settle* at `now`: `elapsed = min((now - last) mod 2^timestamp_bits, 2^ELAPSED_BITS - 1)`; `tokens = min(cap << 16, tokens + ((mantissa * elapsed) << exponent))`; `last = now`.
//!
//! # Operations, each at the `now` of the clock in which it is issued
//! - [`op::CONFIGURE`]: rate and cap are set, `tokens = cap << 16`, `last = now`; `waiting` stays.
//! - [`op::CHARGE`]: settle; `tokens -= bytes << 16`.
//! - [`op::HINT`]: settle with the old rate; then the rate is set.
//! - [`op::QUERY`][]: settle.
//! - *Recheck* (from the wheel, never from outside): `waiting` is cleared; settle; if eligible a [`op::WAKE`] comes out, otherwise nothing does.
//! - After any of them: a connection that is not eligible, not waiting and has a rate is put in the wheel and `waiting` is set.
//! - Codes 4 to 7 at the input are reserved and do what QUERY does (and come out with the code they went in with).
//!
//! # Outputs
//! For every operation from outside its code, its connection, `eligible` and `tokens` (whole bytes, rounded down, two's complement, `burst_bits + 1` bits) after it. And WAKE, with the same fields.
//!
//! # The wheel
//! `wheel_slots` (W) lists of connections, last in first out; slot(t) = `(t >> wheel_tick_bits) mod W`; `cursor` is the slot served last.
//! - *Insert*, [`INSERT_CLOCKS`] moving clocks after the operation's issue (issue in moving clock j, insertion at the edge that ends moving clock j + INSERT_CLOCKS): `deficit = min(-floor(tokens / 2^16), 2^18 - 1)` bytes;
//!   `ticks = (deficit * floor(2^16 / mantissa)) >> exponent`; `offset = min((ticks >> wheel_tick_bits) + 2, W - 1)`, with the rate after the operation; the connection becomes the head of list `(cursor + offset) mod W`, with the `cursor` that
//!   the clock began with. So a list that is being served, or is next to be, is never inserted into.
//! - *Serve*, a state machine that takes one step in each moving clock outside the clear after reset:
//!   - `idle`: if `cursor != slot(now)`: cursor + 1; if the list of the new cursor is not empty it is taken out of the wheel whole and the machine goes to `pause` for [`HEAD_CLOCKS`] clocks.
//!   - `pause`: counts down (HEAD_CLOCKS steps spent in this state), then goes to `offer`.
//!   - `offer`: the head of the list taken is offered for recheck. In the clock in which it issues the head leaves the list; if the list is empty now the machine goes to `idle`, otherwise to `pause` for [`LINK_CLOCKS`] clocks.
//!
//! # Timing
//! The whole unit, wheel and cursor included, moves only in the clocks in which the output queue (two entries) has room. A recheck that is offered goes before the operation in the input register. Either issues when none of the last
//! [`SAME_CONNECTION_CLOCKS`] - 1 moving clocks issued one of the same connection; an operation in the input register does not issue in a clock in which the wheel is in `offer`, even if the recheck itself must wait.
//! `s_axis_op_tready` = not in the clear after reset, and the input register is empty or issues in this clock. [`LATENCY`] clocks from issue to `m_axis_event_tvalid`, so one more from acceptance.
//!
//! After reset every connection is stopped (rate 0, cap 0), with tokens of -1 unit, not waiting, `last` 0; the wheel is empty and `cursor` is slot(now) of the last clock of the clear.
//! The clear lasts `connections` clocks that follow the last clock with `rst` high; `s_axis_op_tready` is low in it, and the serving machine rests in `idle`.

use crate::ports;

/// Clocks from issue of an operation to its event at the output, without stalls.
pub const LATENCY: usize = 10;
/// Moving clocks from issue to insertion in the wheel.
pub const INSERT_CLOCKS: usize = 13;
/// Moving clocks between the issue of two operations on one connection, at least.
pub const SAME_CONNECTION_CLOCKS: usize = 4;
/// Clocks that the wheel waits for a list's head to be read.
pub const HEAD_CLOCKS: usize = 6;
/// Clocks that the wheel waits for the next entry of a list to be read.
pub const LINK_CLOCKS: usize = 2;
/// Elapsed time between two settlements is cut to this many bits of ticks: the width of an FPGA's multiplier.
pub const ELAPSED_BITS: u32 = 18;
/// Fraction bits of tokens, in bytes.
pub const TOKEN_FRACTION_BITS: u32 = 16;
/// Mantissa bits of a rate.
pub const RATE_MANTISSA_BITS: u32 = 8;
/// Exponent bits of a rate.
pub const RATE_EXPONENT_BITS: u32 = 4;
/// Bits of a rate.
pub const RATE_BITS: u32 = RATE_MANTISSA_BITS + RATE_EXPONENT_BITS;
/// Width of a packet's size in bytes.
pub const BYTES_BITS: u32 = 14;

/// Operation codes of `s_axis_op_op` and `m_axis_event_op`.
pub mod op {
    /// Set rate and burst, fill the bucket.
    pub const CONFIGURE: u8 = 0;
    /// A packet was sent.
    pub const CHARGE: u8 = 1;
    /// A receiver's hint changes the rate.
    pub const HINT: u8 = 2;
    /// Is the connection eligible?
    pub const QUERY: u8 = 3;
    /// Output only: a connection that waited is eligible again.
    pub const WAKE: u8 = 4;
}

ports! {
    /// Inputs of `rate_limiter`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// Free-running timestamp.
        now: u32 = params.timestamp_bits,
        /// An operation is offered.
        s_axis_op_tvalid: bool = 1,
        /// Which: see `op`.
        s_axis_op_op: u8 = 3,
        /// The connection.
        s_axis_op_connection: u16 = params.connection_bits(),
        /// CONFIGURE, HINT: the rate.
        s_axis_op_rate: u16 = RATE_BITS,
        /// CONFIGURE: the burst in bytes.
        s_axis_op_burst: u32 = params.burst_bits,
        /// CHARGE: the packet's bytes on the wire.
        s_axis_op_bytes: u16 = BYTES_BITS,
        /// The event at `m_axis_event` is taken.
        m_axis_event_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `rate_limiter`.
    Output Outputs (params) {
        /// An operation would be accepted.
        s_axis_op_tready: bool = 1,
        /// An event is offered.
        m_axis_event_tvalid: bool = 1,
        /// The operation's code, or WAKE.
        m_axis_event_op: u8 = 3,
        /// The connection.
        m_axis_event_connection: u16 = params.connection_bits(),
        /// The connection may send.
        m_axis_event_eligible: bool = 1,
        /// Tokens in whole bytes, two's complement.
        m_axis_event_tokens: u32 = params.burst_bits + 1,
    }
}
