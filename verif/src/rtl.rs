//! The Verilated RTL behind `cxx`: one type for every unit and profile (requirement H3).

use metaroce_model::port::Ports;
use std::marker::PhantomData;

#[allow(missing_docs)] // the bridge's own items; `Rtl` below is the public face
#[cxx::bridge(namespace = "metaroce")]
mod ffi {
    unsafe extern "C++" {
        include!("rtl.h");

        type Rtl;
        fn make_rtl(model: &str, seed: u32) -> UniquePtr<Rtl>;
        fn rtl_models() -> Vec<String>;
        fn step(unit: Pin<&mut Rtl>, inputs: &[u32], outputs: &mut [u32]);
        fn set_mutant(self: Pin<&mut Rtl>, number: u8);
    }
}

/// The most words that the ports of a unit take in one direction.
const MAX_WORDS: usize = 128;

/// A Verilated unit with inputs `I` and outputs `O`.
pub struct Rtl<I, O> {
    unit: cxx::UniquePtr<ffi::Rtl>,
    ports: PhantomData<(I, O)>,
}

impl<I: Ports, O: Ports> Rtl<I, O> {
    /// The model `UNIT_PROFILE` (or `UNIT_PROFILE_mutants`), its registers and memories filled from `seed`; `None` when this
    /// program was built without it.
    pub fn new(model: &str, seed: u64) -> Option<Self> {
        const {
            assert!(I::WORDS <= MAX_WORDS && O::WORDS <= MAX_WORDS);
        }
        // Verilator takes a positive 31-bit seed, and 0 would ask it for a random one.
        let seed = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u32 | 1;
        let unit = ffi::make_rtl(model, seed);
        (!unit.is_null()).then_some(Self {
            unit,
            ports: PhantomData,
        })
    }

    /// Breaks line `number` of a model with breakable lines; 0 mends all.
    pub fn set_mutant(&mut self, number: u8) {
        self.unit.pin_mut().set_mutant(number);
    }

    /// One clock, packed: the outputs with these inputs applied and settled; then the rising edge.
    pub fn step_words(&mut self, inputs: &[u32], outputs: &mut [u32]) {
        assert!(
            inputs.len() >= I::WORDS && outputs.len() >= O::WORDS,
            "too few words for the unit's ports"
        );
        ffi::step(self.unit.pin_mut(), inputs, outputs);
    }

    /// One clock: the outputs with these inputs applied and settled; then the rising edge.
    pub fn step(&mut self, inputs: &I) -> O {
        let (mut packed_inputs, mut packed_outputs) = ([0; MAX_WORDS], [0; MAX_WORDS]);
        inputs.pack(&mut packed_inputs);
        self.step_words(&packed_inputs, &mut packed_outputs);
        O::unpack(&packed_outputs)
    }
}

/// Names of the models that this program was built with.
pub fn models() -> Vec<String> {
    ffi::rtl_models()
}
