//! Operations on bit vectors, made for depth: none of them needs a carry chain.
//!
//! Each makes wires named after `name`. A vector of S bits is searched and masked in two levels, `groups` of `lanes`
//! bits (16 x 16 for 256): a bit's mask is then a function of three signals, its group's two and its lane's one.

use super::{Builder, Signal};

/// Bits of the lane part of an index of `index_bits` bits; the group part above it has the rest.
pub fn lane_bits(index_bits: u32) -> u32 {
    index_bits.div_ceil(2)
}

/// One bit for each value of `index`: bit i is set when `index` is i.
pub fn decode(b: &Builder, name: &str, index: &Signal) -> Signal {
    grow(b, name, index, |lower, bit| (lower & !bit, lower & bit))
}

/// One bit for each value of `index`: bit i is set when i is `index` or more.
pub fn from_index(b: &Builder, name: &str, index: &Signal) -> Signal {
    grow(b, name, index, |lower, bit| (lower & !bit, lower | !bit))
}

/// Doubles a table, from one set bit on, with each bit of the index: its half for bit 0, its half for bit 1.
fn grow(
    b: &Builder,
    name: &str,
    index: &Signal,
    halves: impl Fn(&Signal, &Signal) -> (Signal, Signal),
) -> Signal {
    let mut table = b.lit(1, 1);
    for position in 0..index.width() {
        let bit = index.bit(position).sign_extend(table.width());
        let (low, high) = halves(&table, &bit);
        let step = if position + 1 == index.width() {
            name.to_string()
        } else {
            format!("{name}_of_{}", position + 1)
        };
        table = b.concat(&step, &[&low, &high]);
    }
    table
}

/// The position of the one set bit, 0 when there is none. As many bits as an index into `one_hot` needs.
pub fn encode(b: &Builder, name: &str, one_hot: &Signal) -> Signal {
    let one_hot = one_hot.materialised();
    let bits: Vec<Signal> = (0..metaroce_model::params::index_bits(one_hot.width()))
        .map(|weight| {
            let ones: Vec<Signal> = (0..one_hot.width())
                .filter(|position| position >> weight & 1 == 1)
                .map(|position| one_hot.bit(position))
                .collect();
            or_all(&ones)
        })
        .collect();
    b.concat(name, &bits.iter().collect::<Vec<_>>())
}

/// Bit i is set when some bit from 0 to i of `bits` is set.
pub fn prefix_or(b: &Builder, name: &str, bits: &Signal) -> Signal {
    let bits = bits.materialised();
    let prefixes: Vec<Signal> = (0..bits.width()).map(|i| bits.truncate(i + 1).any()).collect();
    b.concat(name, &prefixes.iter().collect::<Vec<_>>())
}

/// The lowest set bit of `bits` alone; zero when there is none.
pub fn first_set(b: &Builder, name: &str, bits: &Signal) -> Signal {
    let bits = bits.materialised();
    let firsts: Vec<Signal> = (0..bits.width())
        .map(|i| match i {
            0 => bits.bit(0),
            _ => bits.bit(i) & !bits.truncate(i).any(),
        })
        .collect();
    b.concat(name, &firsts.iter().collect::<Vec<_>>())
}

/// All signals together by OR, as a balanced tree.
///
/// # Panics
/// When there are none.
pub fn or_all(signals: &[Signal]) -> Signal {
    match signals {
        [] => panic!("OR of nothing"),
        [one] => one.clone(),
        _ => {
            let (low, high) = signals.split_at(signals.len() / 2);
            or_all(low) | or_all(high)
        }
    }
}

/// The fields of a word, lowest first: a wire for each name and width. Together they are the whole word.
pub fn split<const N: usize>(word: &Signal, fields: [(&str, u32); N]) -> [Signal; N] {
    let total: u32 = fields.iter().map(|(_, width)| width).sum();
    assert!(total == word.width(), "fields of {total} bits in {word:?}");
    let mut low = 0;
    fields.map(|(name, width)| {
        low += width;
        word.slice(low - width, width).named(name)
    })
}

/// The groups of a vector, lowest first.
pub fn groups(vector: &Signal, lanes: u32) -> impl Iterator<Item = Signal> + use<> {
    let vector = vector.materialised();
    (0..vector.width() / lanes).map(move |group| vector.slice(group * lanes, lanes))
}

/// One bit a group of `lanes` bits: some bit of it is set.
pub fn any_in_groups(b: &Builder, name: &str, vector: &Signal, lanes: u32) -> Signal {
    let any: Vec<Signal> = groups(vector, lanes).map(|group| group.any()).collect();
    b.concat(name, &any.iter().collect::<Vec<_>>())
}

/// A vector of two levels: `lanes` in the groups that `selected` has, and in any other each bit as the group's in `rest`.
pub fn two_level(b: &Builder, name: &str, selected: &Signal, lanes: &Signal, rest: &Signal) -> Signal {
    let all: Vec<Signal> = (0..selected.width())
        .map(|group| {
            b.mux(
                &format!("{name}_of_group_{group}"),
                &selected.bit(group),
                lanes,
                &rest.bit(group).sign_extend(lanes.width()),
            )
        })
        .collect();
    b.concat(name, &all.iter().collect::<Vec<_>>())
}

/// The lanes of the one group that `selected` has; zero when it has none.
pub fn select_group(b: &Builder, name: &str, vector: &Signal, selected: &Signal) -> Signal {
    let lanes = vector.width() / selected.width();
    let gated: Vec<Signal> = groups(vector, lanes)
        .enumerate()
        .map(|(group, bits)| bits.gated(&selected.bit(group as u32)))
        .collect();
    b.wire(name, &or_all(&gated))
}
