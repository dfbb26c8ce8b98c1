//! The 24-bit fields of the transport headers, as types.

use super::Malformed;
use serde::{Deserialize, Serialize};
use std::fmt;

const MASK: u32 = (1 << 24) - 1;

/// A packet sequence number: 24 bits, ordered as a serial number (RFC 1982), hence no `Ord`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub struct Psn(u32);

impl Psn {
    /// The PSN with the low 24 bits of `value`.
    pub const fn new(value: u32) -> Self {
        Self(value & MASK)
    }

    /// The number, 0 to 2^24 - 1.
    pub const fn value(self) -> u32 {
        self.0
    }

    /// The next number; 0 comes after 2^24 - 1.
    pub const fn next(self) -> Self {
        Self::new(self.0 + 1)
    }

    /// How far `self` is after `earlier`, -2^23 to 2^23 - 1; negative when it is before.
    pub const fn since(self, earlier: Self) -> i32 {
        // The 24-bit difference is moved to the top of the word so that its sign bit is the word's.
        (self.0.wrapping_sub(earlier.0) << 8) as i32 >> 8
    }
}

impl From<u32> for Psn {
    fn from(value: u32) -> Self {
        Self::new(value)
    }
}

impl From<Psn> for u32 {
    fn from(psn: Psn) -> Self {
        psn.0
    }
}

impl fmt::Display for Psn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A queue pair number: 24 bits, with a meaning only at its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub struct Qpn(u32);

impl Qpn {
    /// The queue pair number with the low 24 bits of `value`.
    pub const fn new(value: u32) -> Self {
        Self(value & MASK)
    }

    /// The number, 0 to 2^24 - 1.
    pub const fn value(self) -> u32 {
        self.0
    }
}

impl From<u32> for Qpn {
    fn from(value: u32) -> Self {
        Self::new(value)
    }
}

impl From<Qpn> for u32 {
    fn from(qpn: Qpn) -> Self {
        qpn.0
    }
}

impl fmt::Display for Qpn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Takes the `N` bytes of a field off the front of `bytes`.
pub(super) fn be_bytes<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (field, rest) = bytes.split_first_chunk().ok_or(Malformed::HeaderCutOff)?;
    *bytes = rest;
    Ok(*field)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1982: order survives the wrap of the 24 bits.
    #[test]
    fn psn_order_is_serial() {
        let last = Psn::new(MASK);
        assert_eq!(last.next(), Psn::new(0));
        assert_eq!(last.next().since(last), 1);
        assert_eq!(last.since(last.next()), -1);
        assert_eq!(Psn::new(1 << 23).since(Psn::new(0)), -(1 << 23));
        assert_eq!(Psn::new((1 << 23) - 1).since(Psn::new(0)), (1 << 23) - 1);
    }
}
