//! Beats of a bus in a ring: what units keep of them, only as wide as the profile's bus is.

use crate::{Params, port::Beat};

/// A ring of beats. Slots are numbered on and on; which one is in use, the unit knows.
#[derive(Clone, Debug)]
pub(super) struct Beats {
    /// 64-bit limbs of a beat.
    limbs: usize,
    /// One less than the slots, a power of two.
    mask: usize,
    data: Box<[u64]>,
}

impl Beats {
    /// A ring of `slots` beats or somewhat more.
    pub fn new(params: &Params, slots: usize) -> Self {
        let (limbs, slots) = (limbs(params), slots.next_power_of_two());
        Self {
            limbs,
            mask: slots - 1,
            data: vec![0; slots * limbs].into(),
        }
    }

    /// Where a slot is in the ring, from 0.
    #[inline]
    pub fn index(&self, slot: usize) -> usize {
        slot & self.mask
    }

    /// Writes the beat at a slot.
    #[inline]
    pub fn put(&mut self, slot: usize, beat: &[u64]) {
        let at = self.index(slot) * self.limbs;
        copy(&mut self.data[at..at + self.limbs], beat);
    }

    /// The beat at a slot.
    #[inline]
    pub fn get(&self, slot: usize) -> Beat {
        let at = self.index(slot) * self.limbs;
        let mut beat = Beat::ZERO;
        copy(&mut beat.data, &self.data[at..at + self.limbs]);
        beat
    }
}

/// 64-bit limbs of a beat under the profile.
pub(super) fn limbs(params: &Params) -> usize {
    (params.data_bits / 64) as usize
}

/// Copies as many limbs as both have: 1, 2, 4 or 8. Each is a few instructions; a loop would become a call of `memcpy`, which
/// costs more.
#[inline]
pub(super) fn copy(to: &mut [u64], from: &[u64]) {
    match to.len().min(from.len()) {
        1 => copy_exactly::<1>(to, from),
        2 => copy_exactly::<2>(to, from),
        4 => copy_exactly::<4>(to, from),
        _ => copy_exactly::<8>(to, from),
    }
}

#[inline]
fn copy_exactly<const LIMBS: usize>(to: &mut [u64], from: &[u64]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<LIMBS>(), from.first_chunk()) {
        *to = *from;
    }
}

/// The lanes below `count` of a beat, a bit each; `count` from 0 to 64.
#[inline]
pub(super) fn lanes_below(count: usize) -> u64 {
    u64::MAX.checked_shr(64 - count as u32).unwrap_or(0)
}

/// Reads a beat's limbs from the bytes of a frame; as many as the bytes fill.
#[inline]
pub(super) fn limbs_of(bytes: &[u8]) -> [u64; 8] {
    let mut limbs = [0; 8];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks().0) {
        *limb = u64::from_le_bytes(*bytes);
    }
    limbs
}

/// Writes a beat's limbs to the bytes of a frame; as many as fill the bytes.
#[inline]
pub(super) fn put_bytes(bytes: &mut [u8], limbs: &[u64]) {
    for (bytes, limb) in bytes.as_chunks_mut().0.iter_mut().zip(limbs) {
        *bytes = limb.to_le_bytes();
    }
}
