//! Contract of `align`: moves the bytes of a transfer from one alignment to another. Between host memory and the payload's place in a packet on the send side, and the
//! other way round on the receive side (requirement R4: data goes straight to its final place, at any alignment).
//!
//! Let B = `data_bits` / 8 be the lanes of a beat. A *transfer* is `bytes` bytes (1 to `mtu_bytes`). In its input beats they stand one after the other from lane `from` of the first beat on; in its output
//! beats from lane `to` of the first beat on. So it has `ceil((to + bytes) / B)` output beats, of which `tkeep` marks the lanes that hold bytes of the transfer; lanes that hold none are zero. `tlast` is set on the last one.
//! The input beats end with `s_axis_tlast`. There may be more of them than the bytes need (a checksum that comes after the payload): the rest is taken and dropped. There may be fewer: the bytes that are missing are zeros.
//!
//! # Commands
//! A command (`from`, `to`, `bytes`) is accepted into the *command register*; `s_axis_command_tready` = that register is empty. In a clock at whose start no transfer is active and the command register is full,
//! its command leaves it for the *active* one (the register is empty in the next clock, in which the first step may be taken). It also leaves it so in the clock of a transfer's last step, so that the next transfer's first step may come one clock after the last one's last.
//!
//! # Steps
//! The unit *moves* in the clocks in which the output queue (two entries) has room. While a transfer is active and until its beat with `s_axis_tlast` has been accepted, it *needs input*: `s_axis_tready` = it moves and a transfer is active that needs input.
//! A step is taken in each clock in which the unit moves, a transfer is active, and either it does not need input or a beat is accepted. Let `current` be the accepted beat (zeros, if none is needed any more) and `previous` the one of the step before
//! (zeros at the first step), and *late* = `to < from`. A step gives the output beat whose lane l is lane `l + from - to` of `current` if that is from 0 to B - 1, and otherwise lane `l + from - to + B` of `previous` (not late); or,
//! if late: lane `l + from - to` of `previous` if that is below B, otherwise lane `l + from - to - B` of `current`. No beat is given at the first step of a late transfer, nor once all bytes have been given.
//! The step after which all bytes have been given and `s_axis_tlast` has been accepted is the transfer's last. (If late and the bytes end in the first input beat, one more step without input follows the one that accepted it.)
//!
//! # Timing
//! [`LATENCY`] clocks from the step that gives a beat to that beat at `m_axis_tvalid`: the pipeline behind the step moves in the clocks in which the unit does.
//! A beat a clock; a transfer costs max(input beats, output beats + (1 if late)) steps. After reset there is no command, no transfer and nothing in the pipeline; there is no clear.

use super::Beat;
use crate::ports;

/// Clocks from a step to its beat at the output, without stalls.
pub const LATENCY: usize = 4;

ports! {
    /// Inputs of `align`.
    Input Inputs (params) {
        /// Synchronous reset, active high.
        rst: bool = 1,
        /// A command is offered.
        s_axis_command_tvalid: bool = 1,
        /// Lane of the first byte in the first input beat.
        s_axis_command_from: u8 = params.lane_bits(),
        /// Lane of the first byte in the first output beat.
        s_axis_command_to: u8 = params.lane_bits(),
        /// Bytes of the transfer, 1 to `mtu_bytes`; 0 and more than `mtu_bytes` must not be offered.
        s_axis_command_bytes: u16 = params.payload_bits(),
        /// An input beat is offered.
        s_axis_tvalid: bool = 1,
        /// The beat.
        s_axis_tdata: Beat = params.data_bits,
        /// It is the last of its transfer.
        s_axis_tlast: bool = 1,
        /// The beat at `m_axis` is taken.
        m_axis_tready: bool = 1,
    }
}

ports! {
    /// Outputs of `align`.
    Output Outputs (params) {
        /// A command would be accepted.
        s_axis_command_tready: bool = 1,
        /// An input beat would be accepted.
        s_axis_tready: bool = 1,
        /// An output beat is offered.
        m_axis_tvalid: bool = 1,
        /// The beat.
        m_axis_tdata: Beat = params.data_bits,
        /// The lanes that hold bytes of the transfer.
        m_axis_tkeep: u64 = params.lanes(),
        /// It is the last of its transfer.
        m_axis_tlast: bool = 1,
    }
}
