//! Ports, declared once. From a unit's declaration come the structs its model takes and gives, the packing for the
//! Verilated RTL, the port list of the generated Verilog, the waveform's scopes and the documentation.
//!
//! Each submodule is the *contract* of one unit: its ports, operation codes, latency and behaviour, and nothing of
//! how it is done. The model (`unit::*`) and the RTL generator both read it; they share nothing else.
//!
//! # Conventions
//! - One clock `clk` (not listed: every unit has it) and a synchronous, active-high reset `rst`.
//! - Streams follow AXI4-Stream's handshake. The fields of a stream are ports of their own, `STREAM_FIELD`; together
//!   they are its `tdata`. Once `tvalid` rises, it and the fields stay until `tready`.
//! - Every output is a function of the unit's registers alone, never of an input in the same clock. So `tready` cannot
//!   depend on `tvalid`, and no combinational path crosses a unit.
//! - The fields of an output stream are zero while its `tvalid` is low: there are no don't-cares to compare around.
//! - A unit takes the inputs of a clock at its rising edge. Reset wins over everything.
//!
//! # Units that join others
//! The units between the tables (`receiver`, `transmitter` and the like) are queues and rules, and their contracts are written so:
//! - A *queue of N* holds at most N entries. An entry put in a clock can be taken from the next clock on. It *has room* if it held fewer than N at the clock's start, whatever is taken in the clock.
//!   All queues are empty after reset.
//! - An *output queue* is one of two entries whose head is offered at the stream of its name; it is taken when that stream's `tready` is high.
//!   An *input queue* is one of two entries into which a stream of its name goes; `tready` = it has room.
//! - An *output register* and an *input register* are the same with one entry, for streams that need not be taken in every clock: a frame of data or an acknowledgement has at least two beats on every bus.
//! - A *strobe* is a group of inputs `NAME_valid`, `NAME_FIELD` without back-pressure: with `NAME_valid` high the fields are put into the queue of its name. Who asked for them has kept room.
//! - A *rule* happens in every clock in which its condition holds of the state at the clock's start; all rules that hold happen at once, unless one is said to go before another.
//! - A rule that is *decided ahead* happens in a clock if its condition held at the start of the clock before, and it did not happen in that clock. A `tready` that is decided ahead is high in a clock if its condition held at the start
//!   of the clock before, and nothing was accepted in that clock. What the condition asked for still holds, since only the rule itself can end it. So a long condition ends in one bit and not at the enables of an entry.
//! - J is `jobs` of the profile. With `rst` high all queues are emptied and registers go to zero, unless said otherwise; there is no clear, unless said otherwise.

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

use crate::Params;
use bitvec::{array::BitArray, order::Lsb0};
use std::fmt::Debug;

/// A selective-acknowledgement vector: bit i is the packet whose PSN is congruent to i modulo `sack_bits`. A profile
/// with fewer than 256 bits leaves the upper ones zero.
pub type Vector = BitArray<[u64; 4], Lsb0>;

/// A beat of a packet or memory bus: byte lane 0 is the first byte, bits 0 to 7. A profile with fewer than 512 bits leaves the upper ones zero.
pub type Beat = BitArray<[u64; 8], Lsb0>;

/// Whether a unit takes or gives a port's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Driven from outside.
    Input,
    /// Driven by the unit.
    Output,
}

/// One declared port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name in the Verilog, the waveform and the Rust struct.
    pub name: &'static str,
    /// Input or output.
    pub direction: Direction,
    /// Width in bits under the given profile.
    pub width: u32,
    /// The first 32-bit word that holds it in the packed form.
    pub word: usize,
    /// How many words hold it in the packed form: fixed by its Rust type, whatever its width.
    pub words: usize,
    /// What it means.
    pub doc: &'static str,
}

/// A type that a port's value can have in Rust; it packs into little-endian 32-bit words.
pub trait Value: Copy + Default + Debug + PartialEq {
    /// Words it takes.
    const WORDS: usize;
    /// Writes the value to the first `WORDS` words.
    fn put(self, words: &mut [u32]);
    /// Reads the value from the first `WORDS` words.
    fn get(words: &[u32]) -> Self;
}

macro_rules! one_word_values {
    ($($type:ty),+) => {$(
        impl Value for $type {
            const WORDS: usize = 1;
            #[inline]
            fn put(self, words: &mut [u32]) {
                words[0] = u32::from(self);
            }
            #[inline]
            fn get(words: &[u32]) -> Self {
                words[0] as $type
            }
        }
    )+};
}
one_word_values!(u8, u16, u32);

impl Value for bool {
    const WORDS: usize = 1;
    #[inline]
    fn put(self, words: &mut [u32]) {
        words[0] = u32::from(self);
    }
    #[inline]
    fn get(words: &[u32]) -> Self {
        words[0] != 0
    }
}

impl Value for u64 {
    const WORDS: usize = 2;
    #[inline]
    fn put(self, words: &mut [u32]) {
        words[0] = self as u32;
        words[1] = (self >> 32) as u32;
    }
    #[inline]
    fn get(words: &[u32]) -> Self {
        u64::from(words[0]) | u64::from(words[1]) << 32
    }
}

impl Value for Vector {
    const WORDS: usize = 8;
    #[inline]
    fn put(self, words: &mut [u32]) {
        for (pair, limb) in words.chunks_exact_mut(2).zip(self.data) {
            limb.put(pair);
        }
    }
    #[inline]
    fn get(words: &[u32]) -> Self {
        Self::new(std::array::from_fn(|i| u64::get(&words[2 * i..])))
    }
}

impl Value for Beat {
    const WORDS: usize = 16;
    #[inline]
    fn put(self, words: &mut [u32]) {
        for (pair, limb) in words.chunks_exact_mut(2).zip(self.data) {
            limb.put(pair);
        }
    }
    #[inline]
    fn get(words: &[u32]) -> Self {
        Self::new(std::array::from_fn(|i| u64::get(&words[2 * i..])))
    }
}

/// A struct made by [`crate::ports!`]: all inputs, or all outputs, of a unit.
pub trait Ports: Copy + Default + Debug + PartialEq {
    /// Words of the packed form.
    const WORDS: usize;
    /// The declared ports, in order, with their widths under `params`.
    fn ports(params: &Params) -> Vec<Port>;
    /// Packs all values; `words` holds at least `WORDS` words.
    fn pack(&self, words: &mut [u32]);
    /// Unpacks what [`Ports::pack`] packed.
    fn unpack(words: &[u32]) -> Self;
}

/// Declares the inputs or the outputs of a unit: each port's documentation, name, Rust type and width in bits.
#[macro_export]
macro_rules! ports {
    (
        $(#[$meta:meta])*
        $direction:ident $name:ident ($params:ident) {
            $( #[doc = $doc:literal] $port:ident : $type:ty = $width:expr ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name {
            $( #[doc = $doc] pub $port: $type, )+
        }

        impl $crate::port::Ports for $name {
            const WORDS: usize = 0 $( + <$type as $crate::port::Value>::WORDS )+;

            fn ports($params: &$crate::Params) -> Vec<$crate::port::Port> {
                let _ = $params;
                let mut word = 0;
                let mut list = Vec::new();
                $(
                    let words = <$type as $crate::port::Value>::WORDS;
                    list.push($crate::port::Port {
                        name: stringify!($port),
                        direction: $crate::port::Direction::$direction,
                        width: $width,
                        word,
                        words,
                        doc: $doc.trim_ascii(),
                    });
                    word += words;
                )+
                let _ = word;
                list
            }

            #[inline]
            fn pack(&self, words: &mut [u32]) {
                let words = &mut words[..Self::WORDS];
                let mut word = 0;
                $(
                    $crate::port::Value::put(self.$port, &mut words[word..]);
                    word += <$type as $crate::port::Value>::WORDS;
                )+
                let _ = word;
            }

            #[inline]
            fn unpack(words: &[u32]) -> Self {
                let words = &words[..Self::WORDS];
                let mut word = 0;
                $(
                    let $port = <$type as $crate::port::Value>::get(&words[word..]);
                    word += <$type as $crate::port::Value>::WORDS;
                )+
                let _ = word;
                Self { $($port),+ }
            }
        }
    };
}

/// All ports of a unit but `clk`, inputs first.
pub fn unit_ports<I: Ports, O: Ports>(params: &Params) -> Vec<Port> {
    let mut ports = I::ports(params);
    ports.extend(O::ports(params));
    ports
}

/// The fields of the stream or strobe `name` among these ports, and their widths: without a stream's `tvalid` and `tready`, and a strobe's `valid`.
pub fn fields(ports: &[Port], name: &str) -> Vec<(&'static str, u32)> {
    // A strobe's name has no direction; a stream can have a field `valid`.
    let is_stream = name.contains("_axis");
    let field_of = |port: &Port| {
        let field = port.name.strip_prefix(name)?.strip_prefix('_')?;
        let is_handshake = matches!(field, "tvalid" | "tready") || field == "valid" && !is_stream;
        (!is_handshake).then_some((field, port.width))
    };
    ports.iter().filter_map(field_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    ports! {
        /// One port of each type.
        Input Sample (params) {
            /// A flag.
            flag: bool = 1,
            /// A small number.
            small: u8 = 3,
            /// A vector.
            vector: Vector = params.sack_bits,
            /// A long number.
            long: u64 = 40,
        }
    }

    /// H3: what lockstep compares is what the structs hold: packing loses nothing.
    #[test]
    fn packing_round_trips() {
        let mut sample = Sample {
            flag: true,
            small: 5,
            long: 0x12_3456_789a,
            ..Default::default()
        };
        sample.vector.set(3, true);
        sample.vector.set(255, true);
        let mut words = [0; Sample::WORDS];
        sample.pack(&mut words);
        assert_eq!(Sample::unpack(&words), sample);
        let params = Params::load("tiny").unwrap();
        let ports = Sample::ports(&params);
        assert_eq!(ports.iter().map(|p| p.words).sum::<usize>(), Sample::WORDS);
        assert_eq!((ports[2].name, ports[2].width, ports[2].word), ("vector", 32, 2));
        assert_eq!(ports[2].doc, "A vector.");
    }
}
