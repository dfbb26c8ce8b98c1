//! A host's memory: sparse pages, of which only registered ranges may be written.

use std::{collections::HashMap, ops::Range};

const PAGE_BYTES: u64 = 4096;

/// A host's memory. Bytes that were never written hold a pattern that depends on their address and the seed.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    seed: u64,
    pages: HashMap<u64, Box<[u8]>>,
    writable: Vec<Range<u64>>,
    /// Writes to bytes outside what may be written: must stay empty.
    pub violations: Vec<u64>,
    /// Bytes written.
    pub written: u64,
}

impl Memory {
    /// A memory whose pattern depends on `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// The range may be written from now on.
    pub fn allow(&mut self, range: Range<u64>) {
        self.writable.push(range);
    }

    /// The byte at an address.
    pub fn read(&self, address: u64) -> u8 {
        match self.pages.get(&(address / PAGE_BYTES)) {
            Some(page) => page[(address % PAGE_BYTES) as usize],
            None => pattern(self.seed, address),
        }
    }

    /// Writes a byte, or notes that it may not be written.
    pub fn write(&mut self, address: u64, byte: u8) {
        self.written += 1;
        if !self.writable.iter().any(|range| range.contains(&address)) {
            self.violations.push(address);
            return;
        }
        let (seed, first) = (self.seed, address / PAGE_BYTES * PAGE_BYTES);
        let page = self.pages.entry(address / PAGE_BYTES).or_insert_with(|| {
            (0..PAGE_BYTES)
                .map(|offset| pattern(seed, first.wrapping_add(offset)))
                .collect()
        });
        page[(address % PAGE_BYTES) as usize] = byte;
    }

    /// Whether `length` bytes from `address` on are those of `other` from `source` on.
    pub fn equals(&self, address: u64, other: &Self, source: u64, length: u64) -> bool {
        (0..length).all(|at| self.read(address.wrapping_add(at)) == other.read(source.wrapping_add(at)))
    }
}

/// Bytes that differ from each other at neighbouring addresses and at those a power of two apart.
fn pattern(seed: u64, address: u64) -> u8 {
    let mixed = (address ^ seed.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8 ^ (mixed >> 24) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_allowed_is_noted_and_not_written() {
        let mut memory = Memory::new(3);
        memory.allow(100..200);
        let before = memory.read(99);
        memory.write(99, !before);
        memory.write(150, 7);
        assert_eq!((memory.read(99), memory.read(150)), (before, 7));
        assert_eq!(
            (memory.violations.as_slice(), memory.written),
            ([99].as_slice(), 2)
        );
    }
}
