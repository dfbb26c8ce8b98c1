//! The units' behaviour, one file a unit, in plain Rust. Their contracts are in [`crate::port`].

pub mod ack_table;
pub mod acknowledger;
pub mod align;
pub mod axis_register;
mod beats;
pub mod completion;
pub mod configuration;
pub mod connection_table;
pub mod counters;
pub mod deparser;
pub mod frame_buffer;
pub mod key_table;
pub mod message_table;
pub mod nic;
pub mod packet_table;
pub mod parser;
pub mod path_table;
pub mod placement;
pub mod rate_limiter;
pub mod receive_table;
pub mod receiver;
pub mod request_table;
pub mod retirement;
pub mod retry_table;
pub mod sack_rx;
pub mod sack_tx;
pub mod scheduler;
pub mod teller;
pub mod timer;
pub mod transmitter;

use crate::{Params, port::Ports};

/// A hardware unit as the model sees it.
pub trait Unit {
    /// The unit's name, the same in the RTL, the lockstep and the docs.
    const NAME: &'static str;
    /// All inputs of one clock.
    type Inputs: Ports;
    /// All outputs of one clock.
    type Outputs: Ports;

    /// The unit as it is one clock after power-up with `rst` high.
    fn new(params: &Params) -> Self;

    /// The outputs in the present clock. They depend on registers only.
    fn outputs(&self) -> Self::Outputs;

    /// The rising edge that ends the present clock, with that clock's inputs.
    fn clock(&mut self, inputs: &Self::Inputs);

    /// The unit rests: a clock without reset in which no stream offers it anything and no strobe is high changes nothing that will ever be seen, whatever its other
    /// inputs are. Such a clock may be left out.
    fn rests(&self) -> bool {
        false
    }
}
