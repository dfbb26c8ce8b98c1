//! Contract of `frame_buffer`: a store-and-forward buffer of frames, of which only those are kept whose last beat says so.
//!
//! What a packet says is not to be trusted before its checksum, which comes last, has been seen; so its payload waits here until the verdict.
//! (Requirement R4: this is no reorder buffer, a frame leaves as soon as it is whole.)
//!
//! A ring of `frame_buffer_beats` (C) beats with three counters: `write`, `commit` and `read`.
//! - An accepted beat is written at `write`. If it is not the last of its frame, `write` moves up by one. If it is the last and `keep` is set, `commit` and `write`
//!   both become `write + 1`; if it is the last and `keep` is clear, `write` goes back to `commit` and the frame is forgotten.
//! - In a clock in which the reading pipeline moves (the output queue, two entries, has room) and `read != commit` (both as they are at the clock's start), the beat at `read` enters the pipeline
//!   and `read` moves up by one.
//!
//! `s_axis_tready` = the beats between `read` and `write` are fewer than C. A frame of more than C beats can never end, so none may be offered: `parser` cuts frames
//! at `max_packet_bytes`, of which two fit.
//!
//! # Timing
//! [`LATENCY`] clocks from the clock in which a beat enters the reading pipeline to `m_axis_tvalid`. A last beat accepted in clock t makes its frame visible to reading in clock t + 1.
//! One beat a clock in and out. After reset the buffer is empty; there is no clear (nothing is read that was not written).

use super::Beat;
use crate::ports;

/// Clocks from the issue of a read to the beat at the output, without stalls.
pub const LATENCY: usize = 3;

ports! {
    /// Inputs of `frame_buffer`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// A beat is offered.
        s_axis_tvalid: bool = 1,
        /// The beat.
        s_axis_tdata: Beat = params.data_bits,
        /// It is the last of its frame.
        s_axis_tlast: bool = 1,
        /// Of a last beat: the frame is kept.
        s_axis_keep: bool = 1,
        /// The beat at `m_axis` is taken.
        m_axis_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `frame_buffer`.
    Output Outputs (params) {
        /// A beat would be accepted.
        s_axis_tready: bool = 1,
        /// A beat of a kept frame is offered.
        m_axis_tvalid: bool = 1,
        /// The beat.
        m_axis_tdata: Beat = params.data_bits,
        /// It is the last of its frame.
        m_axis_tlast: bool = 1,
    }
}
