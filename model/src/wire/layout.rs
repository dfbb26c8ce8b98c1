//! What the table is made of: fields in headers, and where a field stands. All of it is computed by the compiler.

/// A field of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, unique in its header.
    pub name: &'static str,
    /// Its width in bits, 1 to 256.
    pub bits: usize,
    /// The value that it is always sent with, for a field that says nothing of its packet.
    pub constant: Option<u64>,
    /// What it means, its unit, and what a receiver does with it.
    pub doc: &'static str,
}

/// A header: a whole number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its name, unique in the table.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its fields, in the order of the wire.
    pub fields: &'static [Field],
}

/// Where a field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Its first, most significant, bit: bits of the frame before it. Bit 0 is the most significant of byte 0.
    pub bit: usize,
    /// Its width in bits.
    pub bits: usize,
}

impl Position {
    /// The byte that holds its first bit.
    pub const fn first_byte(self) -> usize {
        self.bit / 8
    }

    /// The byte after the one that holds its last bit.
    pub const fn end_byte(self) -> usize {
        (self.bit + self.bits).div_ceil(8)
    }

    /// Bits of its last byte after it, 0 to 7.
    pub const fn shift(self) -> usize {
        self.end_byte() * 8 - self.bit - self.bits
    }

    /// The field's bits in the bytes that hold it, read as a number; `None` when it has them all.
    pub const fn mask(self) -> Option<u64> {
        if self.bit.is_multiple_of(8) && self.bits.is_multiple_of(8) {
            return None;
        }
        Some(mask(self.bits) << self.shift())
    }
}

impl Header {
    /// Its size in bytes.
    pub const fn bytes(&self) -> usize {
        let (mut bits, mut i) = (0, 0);
        while i < self.fields.len() {
            bits += self.fields[i].bits;
            i += 1;
        }
        assert!(bits.is_multiple_of(8), "a header is a whole number of bytes");
        bits / 8
    }

    /// Where a field stands, from the start of the header. In a constant a name that is not in the header is an error of
    /// the compiler.
    ///
    /// # Panics
    /// When there is no field with the name.
    pub const fn position(&self, field: &str) -> Position {
        let (mut bit, mut i) = (0, 0);
        while i < self.fields.len() {
            let bits = self.fields[i].bits;
            if same(self.fields[i].name, field) {
                return Position { bit, bits };
            }
            bit += bits;
            i += 1;
        }
        panic!("the header has no such field")
    }

    /// The value that a field is always sent with.
    ///
    /// # Panics
    /// When there is no field with the name, or it has no such value.
    pub const fn constant(&self, field: &str) -> u64 {
        let mut i = 0;
        while i < self.fields.len() {
            if same(self.fields[i].name, field)
                && let Some(value) = self.fields[i].constant
            {
                return value;
            }
            i += 1;
        }
        panic!("the header has no such constant field")
    }
}

/// Reads a field of at most 64 bits from `bytes`, where bit 0 of `at` is the first bit of `bytes`.
///
/// # Panics
/// When the field is not all in `bytes`, as with an index.
#[inline(always)]
pub fn get(bytes: &[u8], at: Position) -> u64 {
    debug_assert!(at.bits <= 64);
    let bytes = &bytes[at.first_byte()..at.end_byte()];
    // A field that is not aligned to bytes may touch nine of them.
    let value = bytes
        .iter()
        .fold(0u128, |value, &byte| value << 8 | u128::from(byte));
    (value >> at.shift()) as u64 & mask(at.bits)
}

/// Writes a field of at most 64 bits: the inverse of [`get`]. The value is cut to the field's width; the bits around it
/// stay.
///
/// # Panics
/// When the field is not all in `bytes`, as with an index.
#[inline(always)]
pub fn set(bytes: &mut [u8], at: Position, value: u64) {
    debug_assert!(at.bits <= 64);
    let bytes = &mut bytes[at.first_byte()..at.end_byte()];
    let mask = u128::from(mask(at.bits)) << at.shift();
    let value = u128::from(value) << at.shift() & mask;
    for (i, byte) in bytes.iter_mut().rev().enumerate() {
        *byte = *byte & !((mask >> (8 * i)) as u8) | (value >> (8 * i)) as u8;
    }
}

/// The low `bits` bits, 1 to 64.
const fn mask(bits: usize) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Where a field stands in a frame with these headers. In a constant a header or name that is not there is an error of
/// the compiler.
///
/// # Panics
/// When the headers or the header's fields do not have it.
pub const fn position(headers: &[&Header], header: &Header, field: &str) -> Position {
    let (mut before, mut i) = (0, 0);
    while i < headers.len() {
        if same(headers[i].name, header.name) {
            let Position { bit, bits } = header.position(field);
            return Position {
                bit: before * 8 + bit,
                bits,
            };
        }
        before += headers[i].bytes();
        i += 1;
    }
    panic!("the frame has no such header")
}

/// `==` of strings, which the language does not have in constants.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
