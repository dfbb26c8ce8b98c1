//! Contract of `counters`: how often everything happened that a NIC drops, refuses or must repeat.
//!
//! [`COUNTERS`] counters of 32 bits, which wrap, each at the number that [`index`] gives it. Every clock in which an input says that something happened adds one; several may happen at once.
//! `value` is a register: in each clock it shows the counter that `read_index` named [`LATENCY`] clocks before, as it was at that clock's start; 0 for numbers from [`COUNTERS`] on. After reset all counters are 0, and so is what is shown until an index has come through.

use crate::ports;

/// How many there are.
pub const COUNTERS: usize = 37;
/// Clocks from an index to its counter's value.
pub const LATENCY: usize = 3;
/// Width of a counter's number.
pub const INDEX_BITS: u32 = 6;

/// Numbers of the counters.
pub mod index {
    /// `parser` dropped a frame: plus the reason, 0 to 10.
    pub const PARSER: u8 = 0;
    /// `receiver` had an event: plus its code, 2 to 10.
    pub const RECEIVER: u8 = 14;
    /// `retirement` had an event: plus its code, 0 to 2.
    pub const RETIREMENT: u8 = 27;
    /// A received packet was not counted.
    pub const RECEIVED_REFUSED: u8 = 30;
    /// An acknowledged packet was not counted.
    pub const SENT_REFUSED: u8 = 31;
    /// A work request found its stream's ring full.
    pub const REQUEST_REFUSED: u8 = 32;
    /// A receive found its stream's ring full.
    pub const RECEIVE_REFUSED: u8 = 33;
    /// A retransmission timer ran out.
    pub const TIMEOUT: u8 = 34;
    /// A packet was sent again.
    pub const SENT_AGAIN: u8 = 35;
    /// A probe was sent.
    pub const PROBE: u8 = 36;
}

ports! {
    /// Inputs of `counters`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// `parser` dropped a frame.
        parser_valid: bool = 1,
        /// Why, at most 10.
        parser_reason: u8 = 4,
        /// `receiver` had an event.
        receiver_valid: bool = 1,
        /// Which, 2 to 10.
        receiver_event: u8 = 4,
        /// `retirement` had an event.
        retirement_valid: bool = 1,
        /// Which, at most 2.
        retirement_event: u8 = 2,
        /// A received packet was not counted.
        received_refused: bool = 1,
        /// An acknowledged packet was not counted.
        sent_refused: bool = 1,
        /// A work request was refused.
        request_refused: bool = 1,
        /// A receive was refused.
        receive_refused: bool = 1,
        /// A retransmission timer ran out.
        timed_out: bool = 1,
        /// A packet was sent again.
        sent_again: bool = 1,
        /// A probe was sent.
        probed: bool = 1,
        /// The counter to show.
        read_index: u8 = INDEX_BITS,
    }
}

ports! {
    /// Outputs of `counters`.
    Output Outputs (params) {
        /// The counter's value.
        value: u32 = 32,
    }
}
