//! The units in hardware, one file a unit, under the names of the model's. Their contracts are in
//! [`metaroce_model::port`]; how they meet them is told in each file.

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
pub mod funnel;
pub mod icrc;
pub mod issue;
pub mod key_table;
pub mod memory;
pub mod message_table;
pub mod nic;
pub mod packet_table;
pub mod parser;
pub mod path_table;
pub mod placement;
pub mod queue;
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

use crate::hdl::{Module, mutate::Mutation};
use metaroce_model::{
    Params,
    port::{self, Port, unit_ports},
};
use std::rc::Rc;

/// A unit as the generator knows it.
struct Unit {
    name: &'static str,
    ports: fn(&Params) -> Vec<Port>,
    elaborate: fn(&Params) -> Rc<Module>,
    mutations: &'static [Mutation],
}

macro_rules! units {
    ($($name:ident),+ $(,)?) => {
        /// Names of the units that the generator knows, in the order of the pipeline.
        pub const UNITS: [&str; [$(stringify!($name)),+].len()] = [$(stringify!($name)),+];

        const TABLE: [Unit; UNITS.len()] = [$(Unit {
            name: stringify!($name),
            ports: unit_ports::<port::$name::Inputs, port::$name::Outputs>,
            elaborate: $name::unit,
            mutations: &$name::MUTATIONS,
        }),+];
    };
}

units!(
    axis_register,
    rate_limiter,
    path_table,
    sack_tx,
    sack_rx,
    parser,
    frame_buffer,
    align,
    deparser,
    connection_table,
    key_table,
    receive_table,
    message_table,
    counters,
    packet_table,
    request_table,
    ack_table,
    nic,
    retry_table,
    scheduler,
    placement,
    receiver,
    acknowledger,
    completion,
    teller,
    timer,
    retirement,
    transmitter,
    configuration,
);

fn find(unit: &str) -> Option<&'static Unit> {
    TABLE.iter().find(|entry| entry.name == unit)
}

/// The unit of that name, elaborated for a profile.
pub fn elaborate(unit: &str, params: &Params) -> Option<Rc<Module>> {
    find(unit).map(|entry| (entry.elaborate)(params))
}

/// What gives the declared ports of the unit of that name under a profile.
pub fn contract(unit: &str) -> Option<fn(&Params) -> Vec<Port>> {
    find(unit).map(|entry| entry.ports)
}

/// The lines of the unit of that name that the lockstep's own test breaks.
pub fn mutations(unit: &str) -> &'static [Mutation] {
    find(unit).map_or(&[], |entry| entry.mutations)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{files, hdl::mutate::mutate};
    use metaroce_model::params::PROFILES;

    /// The unit can be built with these parameters, under its own name and with plain names in the Verilog.
    pub fn assert_builds(unit: &str, params: &Params) {
        let files = files(&elaborate(unit, params).unwrap());
        assert_eq!(files.last().unwrap().0, unit);
        for (name, text) in files {
            assert!(
                !text.contains('$'),
                "{name} of {unit} for profile {}",
                params.name
            );
        }
    }

    /// Every line that the lockstep's own test breaks is there to be broken.
    pub fn assert_breakable(unit: &str, params: &Params) {
        let broken = mutate(&elaborate(unit, params).unwrap(), mutations(unit));
        assert_eq!(broken.err(), None, "{unit} for profile {}", params.name);
    }

    /// H1, H2, H3: every unit can be built, and its listed lines broken, for every profile.
    #[test]
    fn every_unit_builds_for_every_profile() {
        for profile in PROFILES {
            let params = Params::load(profile).unwrap();
            for unit in UNITS {
                assert_builds(unit, &params);
                assert_breakable(unit, &params);
            }
        }
    }
}
