//! `popcount_SIZE`: the number of set bits, as a tree of adders in three stages.

use crate::hdl::{Builder, Module, Signal};
use std::rc::Rc;

/// Counts the set bits among `size` (a power of two, at least 16).
///
/// Ports: `rst`, `enable`, `bits` and, three enabled clocks later, `count`, of log2(`size`) + 1 bits.
pub fn popcount(size: u32) -> Rc<Module> {
    let b = Builder::new(
        &format!("popcount_{size}"),
        &format!(
            "Number of set bits among {size}.
            Latency 3 clocks, initiation interval 1."
        ),
    );
    b.add_reset();
    let enable = b.add_input("enable", 1, "Move in this clock.");
    let bits = b.add_input("bits", size, "Any bits.");
    let quads: Vec<Signal> = (0..size / 4)
        .map(|i| count_of_four(&b, &format!("count_of_4_{i}"), &bits.slice(4 * i, 4)))
        .collect();
    let stage = |name: &str, parts: &[Signal]| {
        let sum = total(name, parts);
        b.stage(name, &enable, &sum)
    };
    let sixteens: Vec<Signal> = quads
        .chunks(4)
        .enumerate()
        .map(|(i, parts)| stage(&format!("count_of_16_{i}"), parts))
        .collect();
    let sixty_fours: Vec<Signal> = sixteens
        .chunks(4)
        .enumerate()
        .map(|(i, parts)| stage(&format!("count_of_64_{i}"), parts))
        .collect();
    let all = stage("count_of_all", &sixty_fours);
    b.add_output("count", "How many are set.", &all);
    b.finish()
}

/// Three functions of four bits: a LUT each.
fn count_of_four(b: &Builder, name: &str, bits: &Signal) -> Signal {
    let (low, high) = ((bits.bit(0), bits.bit(1)), (bits.bit(2), bits.bit(3)));
    let (low_sum, low_carry) = (&low.0 ^ &low.1, &low.0 & &low.1);
    let (high_sum, high_carry) = (&high.0 ^ &high.1, &high.0 & &high.1);
    let ones = &low_sum ^ &high_sum;
    let twos = (&low_sum & &high_sum) ^ (&low_carry ^ &high_carry);
    b.concat(name, &[&ones, &twos, &(&low_carry & &high_carry)])
}

/// The sum of values of one width, as a balanced tree; each level adds a bit.
fn total(name: &str, values: &[Signal]) -> Signal {
    if let [one] = values {
        return one.clone();
    }
    let (low, high) = values.split_at(values.len() / 2);
    let low = total(&format!("{name}_low"), low);
    let high = total(&format!("{name}_high"), high);
    let width = low.width() + 1;
    (low.extend(width) + high.extend(width)).named(&format!("{name}_sum"))
}
