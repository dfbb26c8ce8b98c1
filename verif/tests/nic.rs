//! `nic`: model and RTL in lockstep, with another NIC at the far end of lossy links (requirements R2 to R6, R8, R10, R11).

mod common;

use metaroce_model::{
    Params,
    pair::{Faults, Message, Pair, SEND, Setup},
    unit::{Unit, nic::Nic},
};
use metaroce_verif::demo::LockstepNic;

const UNIT: &str = "nic";

/// H3: model and Verilog are equal in every output and every clock (profile tiny).
#[test]
fn equal_in_every_clock_tiny() {
    common::equal(UNIT, "tiny", &[1, 2], common::CLOCKS);
}

/// H3: model and Verilog are equal in every output and every clock (profile ecp5).
#[test]
fn equal_in_every_clock_ecp5() {
    common::equal(UNIT, "ecp5", &[1, 2], common::CLOCKS);
}

/// H3: the lockstep finds each broken line.
#[test]
fn every_mutation_is_found() {
    common::every_mutation_is_found(UNIT, 3, common::CLOCKS);
}

/// H3, R4, R6: a NIC in lockstep and one that is the model alone deliver everything to each other over links that lose, damage, mark, double and delay.
#[test]
fn model_and_lockstep_deliver_everything() {
    let params = Params::load("tiny").unwrap();
    let faults = Faults {
        loss: 500,
        damage: 300,
        mark: 2000,
        double: 200,
        jitter: 40,
        ..Faults::NONE
    };
    let left = LockstepNic::new(&params, 9, 0).unwrap();
    let mut pair = Pair::new(&params, left, Model(Nic::new(&params)), faults, 9);
    for host in [&mut pair.left.host, &mut pair.right.host] {
        host.memory.allow(0x1000..0x100_0000);
    }
    pair.configure(&params, Setup::new)
        .map_err(|m| m.to_string())
        .unwrap();
    for number in 0..400u32 {
        let message = Message {
            kind: SEND,
            length: number % 600,
            local: 0x7000_0000 + u64::from(number),
            remote: 0x1000 + u64::from(number) * 0x800,
            ..Message::default()
        };
        pair.post((number % 2) as u8, (number / 2 % 4) as u16, message);
    }
    let done = pair.run(4_000_000).map_err(|m| m.to_string()).unwrap();
    assert_eq!(pair.wrongs(), []);
    assert!(done, "{:?} {:?}", pair.left.link.seen, pair.right.link.seen);
}

/// The model alone, with the error of a lockstep that it never has.
struct Model(Nic);

impl metaroce_model::pair::Device for Model {
    type Error = metaroce_verif::lockstep::Mismatch;

    fn outputs(&mut self) -> metaroce_model::port::nic::Outputs {
        Unit::outputs(&self.0)
    }

    fn clock(&mut self, inputs: &metaroce_model::port::nic::Inputs) -> Result<(), Self::Error> {
        Unit::clock(&mut self.0, inputs);
        Ok(())
    }
}
