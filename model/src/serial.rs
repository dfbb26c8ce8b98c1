//! Serial-number arithmetic (RFC 1982) for PSNs and timestamps: numbers of a given width that wrap.

/// The serial numbers of one width. They are kept in a `u32` whose upper bits are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serial {
    mask: u32,
}

impl Serial {
    /// Serial numbers of `bits` bits, 1 to 32.
    pub const fn new(bits: u32) -> Self {
        debug_assert!(1 <= bits && bits <= 32);
        Self {
            mask: u32::MAX >> (32 - bits),
        }
    }

    /// All bits of a number set: the largest one.
    #[inline]
    pub const fn mask(self) -> u32 {
        self.mask
    }

    /// Half of the range, 2^(bits - 1): from here on a distance counts as backwards.
    #[inline]
    pub const fn half(self) -> u32 {
        self.mask / 2 + 1
    }

    /// `number + steps`, wrapped.
    #[inline]
    pub const fn add(self, number: u32, steps: u32) -> u32 {
        number.wrapping_add(steps) & self.mask
    }

    /// Steps forward from `from` to `to`: `(to - from) mod 2^bits`.
    #[inline]
    pub const fn distance(self, from: u32, to: u32) -> u32 {
        to.wrapping_sub(from) & self.mask
    }

    /// `number >= other` in the sense of the contracts: `(number - other) mod 2^bits < 2^(bits - 1)`. What lies exactly half
    /// of the range apart, which RFC 1982 leaves undefined, does not reach.
    #[inline]
    pub const fn reaches(self, number: u32, other: u32) -> bool {
        self.distance(other, number) < self.half()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R6: the order of PSNs holds across every wrap. All pairs of 5 bits, against the definition in plain integers.
    #[test]
    fn all_pairs_of_a_small_width() {
        let serial = Serial::new(5);
        for a in 0..32i64 {
            for b in 0..32i64 {
                let ahead = (b - a).rem_euclid(32);
                let (from, to) = (a as u32, b as u32);
                assert_eq!(i64::from(serial.distance(from, to)), ahead);
                assert_eq!(serial.add(from, ahead as u32), to);
                assert_eq!(serial.reaches(to, from), ahead < 16);
            }
        }
    }

    /// R6: the whole word is a width like any other.
    #[test]
    fn thirty_two_bits() {
        let serial = Serial::new(32);
        assert_eq!((serial.mask(), serial.half()), (u32::MAX, 0x8000_0000));
        assert_eq!(serial.add(u32::MAX, 1), 0);
        assert_eq!(serial.distance(u32::MAX, 1), 2);
        assert!(serial.reaches(0, u32::MAX) && !serial.reaches(u32::MAX, 0));
    }
}
