//! Stimulus and functional bins of each unit, under the units' names.

pub mod ack_table;
pub mod acknowledger;
pub mod align;
pub mod axis_register;
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

use crate::{
    lockstep::Mismatch,
    run::{self, Options, Report, RunError, Trace},
    stimulus::Stimulus,
};
use anyhow::Result;
use metaroce_model::{
    Params,
    port::{Port, unit_ports},
    unit::Unit,
};
use std::path::Path;

/// Calls back now and then with the clocks done.
type Progress<'a> = &'a mut dyn FnMut(u64);
type Run = fn(&Params, &Options, Progress) -> Result<Report>;
type Replay = fn(&Params, &Trace, &Path, Option<&Path>) -> Result<Option<Mismatch>>;

/// A unit that can be run, whatever its type.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The unit's name.
    pub name: &'static str,
    /// Its declared ports.
    pub ports: fn(&Params) -> Vec<Port>,
    /// Runs it in lockstep under random stimulus.
    pub run: Run,
    /// Replays a trace.
    pub replay: Replay,
}

const fn entry<U: Unit, S: Stimulus<U>>() -> Entry {
    Entry {
        name: U::NAME,
        ports: unit_ports::<U::Inputs, U::Outputs>,
        run: run::random::<U, S>,
        replay: run::replay::<U>,
    }
}

macro_rules! units {
    ($($unit:ident :: $stimulus:ident),+ $(,)?) => {
        /// All units.
        pub const UNITS: [Entry; [$(stringify!($unit)),+].len()] =
            [$(entry::<metaroce_model::unit::$unit::$stimulus, $unit::$stimulus>()),+];
    };
}

// The model and its stimulus bear the same name in modules of the same name.
units! {
    ack_table::AckTable,
    acknowledger::Acknowledger,
    align::Align,
    axis_register::AxisRegister,
    completion::Completion,
    configuration::Configuration,
    connection_table::ConnectionTable,
    counters::Counters,
    key_table::KeyTable,
    message_table::MessageTable,
    deparser::Deparser,
    frame_buffer::FrameBuffer,
    nic::Nic,
    packet_table::PacketTable,
    parser::Parser,
    path_table::PathTable,
    placement::Placement,
    rate_limiter::RateLimiter,
    receive_table::ReceiveTable,
    receiver::Receiver,
    request_table::RequestTable,
    retirement::Retirement,
    retry_table::RetryTable,
    sack_rx::SackRx,
    sack_tx::SackTx,
    scheduler::Scheduler,
    teller::Teller,
    timer::Timer,
    transmitter::Transmitter,
}

/// The unit of that name.
pub fn find(name: &str) -> Result<Entry, RunError> {
    UNITS
        .into_iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| RunError::NoUnit {
            unit: name.into(),
            known: UNITS.map(|entry| entry.name).join(", "),
        })
}
