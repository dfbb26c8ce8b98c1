//! `icrc_BITS`: the running checksum of a packet, over the beats of a bus; inside `deparser`, which makes it, and `parser`, which checks it.
//!
//! The checksum is the CRC-32 of Ethernet over the bytes from the IPv4 header to the end of the payload, of which some count as ones.
//!
//! # Use
//! - `data`: the beat as it counts: [`counted`] makes it of one that holds headers. In the lanes behind the last byte that counts it must be zero.
//! - `valid`: there is a beat. A frame's beats may have clocks without one between them; what is at the other inputs in those does not matter.
//! - `first`: it is the first beat of its frame: what came before is forgotten. So there is no reset.
//! - `absent`: how many lanes of the beat do not hold bytes that count, behind those that do: 0 for all but the last beat.
//! - `crc`: the checksum up to and with the beat that was at the inputs [`LATENCY`] moving clocks ago; its byte 0 is sent first. So it is good
//!   for every beat: take it at the one that is the last.
//! - `moves`: everything happens in clocks with `moves` only.
//!
//! ```text
//! let icrc = b.instance("icrc", &icrc::of_width(params.data_bits),
//!     &[("moves", &moves), ("valid", valid.at(3)), ("first", &first_3), ("data", &counted_3), ("absent", &absent_3)]);
//! let crc_9 = icrc.get("crc");   // of the beat in stage 3, when it is in stage 3 + LATENCY
//! ```
//!
//! Whoever checks a frame feeds its checksum, too (`absent` = the lanes behind the frame's end): the frame is good when `crc` is [`RESIDUE`].
//!
//! # How it is done
//! A CRC is linear: a beat D makes of the remainder R the remainder `A R ^ M D`, and A, a 32x32 matrix of bits, is all that is in the one-clock loop. `M D`
//! is an XOR tree over two registers before it. That the remainder starts as ones is the same as inverting the first four bytes, which [`counted`] does.
//! Zeros behind the last byte multiply the remainder by the matrix of so many zero bytes. It is taken back by the inverses of 1, 2, 4, ... of them, each where
//! `absent` has that bit. So the latency does not depend on where in its beat a frame ends, nor on the width of the bus.
//!
//! | clock | what |
//! |---|---|
//! | 0 | the inputs |
//! | 1 | XOR of up to 16 bits of data each |
//! | 2 | XOR of up to 16 of those each |
//! | 3 | the remainder, over whole beats |
//! | 4, 5, 6 | a third of the bits of `absent` each is taken back |

use crate::hdl::{Builder, Carried, Module, Signal};
use metaroce_model::wire::table::{COMMON, ETHERNET, ICRC_MASK, UDP, position};
use std::rc::Rc;

/// Moving clocks from a beat to its checksum.
pub const LATENCY: u32 = 6;
/// The checksum of anything with its own checksum (byte 0 first) behind it.
pub const RESIDUE: u64 = 0x2144_df1c;

/// The polynomial, lowest power in bit 31.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// Bits of a remainder.
const BITS: u32 = 32;
/// Most inputs of an XOR tree in one clock: two levels of four-input tables.
const FAN_IN: usize = 16;
/// Clocks over which the bytes that are absent are taken back.
const BACK_CLOCKS: u32 = 3;

/// The images of the unit vectors: bit `i` alone becomes `matrix[i]`.
type Matrix = Vec<u32>;

/// The remainder after one more zero bit.
fn forth(remainder: u32) -> u32 {
    remainder >> 1 ^ if remainder & 1 == 1 { POLYNOMIAL } else { 0 }
}

/// The remainder before a zero bit: the highest bit tells whether the polynomial was added.
fn back(remainder: u32) -> u32 {
    if remainder >> 31 == 1 {
        (remainder ^ POLYNOMIAL) << 1 | 1
    } else {
        remainder << 1
    }
}

fn times(step: fn(u32) -> u32, bytes: u32, remainder: u32) -> u32 {
    (0..8 * bytes).fold(remainder, |remainder, _| step(remainder))
}

/// What `bytes` zero bytes behind it make of a checksum.
pub fn with_zeros(checksum: u64, bytes: u32) -> u64 {
    (!times(forth, bytes, !(checksum as u32))).into()
}

/// What `bytes` zero bytes make of a remainder.
fn zeros(bytes: u32) -> Matrix {
    (0..BITS).map(|bit| times(forth, bytes, 1 << bit)).collect()
}

/// What they made of it, undone.
fn zeros_undone(bytes: u32) -> Matrix {
    (0..BITS).map(|bit| times(back, bytes, 1 << bit)).collect()
}

/// What the bits of a beat of `lanes` bytes make of the remainder zero.
fn beat(lanes: u32) -> Matrix {
    (0..8 * lanes)
        .map(|bit| times(forth, lanes - bit / 8, 1 << (bit % 8)))
        .collect()
}

/// The bits whose sum modulo 2 is bit `row` of the image.
fn inputs(matrix: &Matrix, row: u32) -> Vec<u32> {
    (0..)
        .zip(matrix)
        .filter(|(_, image)| **image >> row & 1 == 1)
        .map(|(bit, _)| bit)
        .collect()
}

/// How a byte of the headers counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// Before the IPv4 header; or a byte of ones that is inverted for the start: zero.
    Not,
    /// One of the first four.
    Inverted,
    /// Switches may change it.
    AsOnes,
    /// As it is.
    AsItIs,
}

fn counts(byte: usize) -> Counts {
    let start = ETHERNET.bytes();
    let as_ones = ICRC_MASK.iter().any(|(header, field)| {
        let at = position(COMMON, header, field);
        (at.first_byte()..at.end_byte()).contains(&byte)
    });
    let inverted = (start..start + BITS as usize / 8).contains(&byte);
    match (byte < start || inverted && as_ones, inverted, as_ones) {
        (true, _, _) => Counts::Not,
        (_, true, _) => Counts::Inverted,
        (_, _, true) => Counts::AsOnes,
        _ => Counts::AsItIs,
    }
}

/// How many beats at the start of a frame hold bytes that do not count as they are.
pub const fn special_beats(data_bits: u32) -> u32 {
    let bytes = position(COMMON, &UDP, "udp_checksum").end_byte() as u32;
    bytes.div_ceil(data_bits / 8)
}

/// Whether the frame's beat number `beat` is one of those.
pub fn is_special(data_bits: u32, beat: u32) -> bool {
    let lanes = data_bits / 8;
    (beat * lanes..(beat + 1) * lanes).any(|byte| counts(byte as usize) != Counts::AsItIs)
}

/// The beat `data` as it counts; `is_beat[k]` says that it is the frame's beat number k, for the [`special_beats`] first ones.
pub fn counted(b: &Builder, name: &str, data: &Signal, is_beat: &[Signal]) -> Signal {
    let lanes = data.width() / 8;
    assert!(is_beat.len() == special_beats(data.width()) as usize);
    let bytes: Vec<Signal> = (0..lanes)
        .map(|lane| {
            let mut byte = data.slice(8 * lane, 8);
            for (beat, is_beat) in (0..).zip(is_beat) {
                let is_beat = is_beat.sign_extend(8);
                match counts((beat * lanes + lane) as usize) {
                    Counts::Not => byte = byte & !is_beat,
                    Counts::Inverted => byte = byte ^ is_beat,
                    Counts::AsOnes => byte = byte | is_beat,
                    Counts::AsItIs => {}
                }
            }
            byte
        })
        .collect();
    b.concat(name, &bytes.iter().collect::<Vec<_>>())
}

/// The module for beats of `data_bits` bits, 64 to 512, a power of two.
pub fn of_width(data_bits: u32) -> Rc<Module> {
    let lanes = data_bits / 8;
    let lane_bits = lanes.trailing_zeros();
    let b = Builder::new(
        &format!("icrc_{data_bits}"),
        &format!(
            "Running CRC-32 of Ethernet over the beats of a bus of {data_bits} bits.
            Latency {LATENCY} moving clocks, initiation interval 1. The number at a name's end is its pipeline stage."
        ),
    );
    b.add_reset();
    let moves = b.add_input("moves", 1, "Everything happens in clocks with this high.");
    let valid = b.add_input("valid", 1, "There is a beat.");
    let first = b.add_input("first", 1, "The beat is the first of its frame.");
    let data = b.add_input("data", data_bits, "The beat: bytes that do not count are zero.");
    let absent = b.add_input("absent", lane_bits, "Lanes behind the last byte that counts.");

    // Clocks 0 to 2: what the beat adds. Each row of the matrix in as many parts, so that a part of all rows is one register.
    let valid = b.carry("valid", &moves, &valid, 1..=2);
    let first = b.carry("first", &moves, &first, 1..=2);
    // The clock in which a bit of `absent` is used; it goes no further.
    let back_clock = |bit: u32| {
        (0..BACK_CLOCKS)
            .find(|clock| bit < lane_bits * (clock + 1) / BACK_CLOCKS)
            .unwrap_or_default()
    };
    let absent: Vec<Carried> = (0..lane_bits)
        .map(|bit| {
            let name = format!("absent_{}", 1 << bit);
            b.carry(&name, &moves, &absent.bit(bit), 1..=3 + back_clock(bit))
        })
        .collect();
    let beat = beat(lanes);
    let rows: Vec<Vec<u32>> = (0..BITS).map(|row| inputs(&beat, row)).collect();
    let most = rows.iter().map(Vec::len).max().unwrap_or_default();
    let part_count = most.div_ceil(FAN_IN);
    let parts: Vec<Signal> = (0..part_count)
        .map(|part| {
            let sums: Vec<Signal> = rows
                .iter()
                .map(|row| {
                    let (from, to) = (row.len() * part / part_count, row.len() * (part + 1) / part_count);
                    xor_all(&row[from..to].iter().map(|bit| data.bit(*bit)).collect::<Vec<_>>())
                })
                .collect();
            let sum = b.concat(&format!("part_{part}"), &sums.iter().collect::<Vec<_>>());
            b.stage(&format!("part_{part}_1"), &moves, &sum)
        })
        .collect();
    let sums: Vec<Signal> = parts
        .chunks(FAN_IN)
        .enumerate()
        .map(|(sum, parts)| b.stage(&format!("added_{sum}_2"), &moves, &xor_all(parts)))
        .collect();

    // Clock 3: the loop.
    let remainder = b.register("remainder_3", BITS);
    let before = remainder.gated(&!first.at(2)).named("remainder_before");
    let advanced = product(&b, "remainder_advanced", &zeros(lanes), &before);
    let added = xor_all(&sums);
    let changes = (&moves & valid.at(2)).named("changes");
    b.clocked_when(&changes, &remainder, &(&advanced ^ &added));

    // Clocks 4 to 6: the zeros behind the last byte are taken back.
    let mut result = remainder;
    for clock in 0..BACK_CLOCKS {
        for bit in (0..lane_bits).filter(|bit| back_clock(*bit) == clock) {
            let bytes = 1 << bit;
            let undone = product(&b, &format!("without_{bytes}"), &zeros_undone(bytes), &result);
            let is_absent = absent[bit as usize].at(3 + clock);
            result = b.mux(&format!("less_{bytes}"), is_absent, &undone, &result);
        }
        result = b.stage(&format!("remainder_{}", 4 + clock), &moves, &result);
    }
    b.add_output("crc", "The checksum, byte 0 first.", &!&result);
    b.finish()
}

fn product(b: &Builder, name: &str, matrix: &Matrix, vector: &Signal) -> Signal {
    let rows: Vec<Signal> = (0..BITS)
        .map(|row| {
            let bits = inputs(matrix, row);
            xor_all(&bits.iter().map(|bit| vector.bit(*bit)).collect::<Vec<_>>())
        })
        .collect();
    b.concat(name, &rows.iter().collect::<Vec<_>>())
}

/// All signals together by XOR, as a balanced tree.
fn xor_all(signals: &[Signal]) -> Signal {
    match signals {
        [] => panic!("XOR of nothing: a row of an invertible matrix is not empty"),
        [one] => one.clone(),
        _ => {
            let (low, high) = signals.split_at(signals.len() / 2);
            xor_all(low) ^ xor_all(high)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{files, hdl::Module};

    fn multiplied(matrix: &Matrix, vector: impl Fn(usize) -> bool) -> u32 {
        let images = matrix.iter().enumerate().filter(|(bit, _)| vector(*bit));
        images.fold(0, |sum, (_, image)| sum ^ image)
    }

    fn remainder_times(matrix: &Matrix, remainder: u32) -> u32 {
        multiplied(matrix, |bit| remainder >> bit & 1 == 1)
    }

    /// What the module computes of whole beats and the zero bytes at the end, by the same matrices.
    fn checksum(lanes: u32, bytes: &[u8]) -> u32 {
        let mut bytes = bytes.to_vec();
        bytes[..4].iter_mut().for_each(|byte| *byte = !*byte);
        let absent = bytes.len().next_multiple_of(lanes as usize) - bytes.len();
        bytes.resize(bytes.len() + absent, 0);
        let mut remainder = 0;
        for data in bytes.chunks(lanes as usize) {
            let added = multiplied(&beat(lanes), |bit| data[bit / 8] >> (bit % 8) & 1 == 1);
            remainder = remainder_times(&zeros(lanes), remainder) ^ added;
        }
        for bit in 0..lanes.trailing_zeros() {
            if absent >> bit & 1 == 1 {
                remainder = remainder_times(&zeros_undone(1 << bit), remainder);
            }
        }
        !remainder
    }

    /// R6: the matrices make the CRC-32 of Ethernet, for every width of the bus and every number of bytes in the last beat; and
    /// a checksum behind its bytes gives the residue.
    #[test]
    fn the_matrices_make_the_crc_of_ethernet() {
        let bytes: Vec<u8> = (0..200u8).map(|i| i.wrapping_mul(151) ^ 0x5a).collect();
        for lanes in [8, 16, 32, 64] {
            for length in 70..200 {
                let crc = crc32fast::hash(&bytes[..length]);
                assert_eq!(
                    checksum(lanes, &bytes[..length]),
                    crc,
                    "{length} bytes, {lanes} lanes"
                );
                let with_crc = [&bytes[..length], &crc.to_le_bytes()].concat();
                assert_eq!(u64::from(checksum(lanes, &with_crc)), RESIDUE);
            }
        }
    }

    /// R6: which bytes of a frame do not count as they are.
    #[test]
    fn bytes_count_as_the_table_says() {
        let of = |kind| (0..88).filter(|byte| counts(*byte) == kind).collect::<Vec<_>>();
        assert_eq!(of(Counts::Not), [(0..14).collect(), vec![15]].concat());
        assert_eq!(of(Counts::Inverted), [14, 16, 17]);
        assert_eq!(of(Counts::AsOnes), [22, 24, 25, 40, 41]);
        assert_eq!(special_beats(64), 6);
        assert_eq!(special_beats(512), 1);
    }

    /// H1: the module can be built for every width; the loop of a clock is one register.
    #[test]
    fn elaborates_for_every_width() {
        for data_bits in [64, 128, 256, 512] {
            let module: std::rc::Rc<Module> = of_width(data_bits);
            let (name, text) = files(&module).remove(0);
            assert_eq!(name, format!("icrc_{data_bits}"));
            assert!(!text.contains('$'), "{name}");
        }
    }
}
