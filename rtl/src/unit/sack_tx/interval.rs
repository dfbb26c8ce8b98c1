//! `interval_SIZE`: a mask of the positions that an interval of PSNs covers.
//!
//! A position is a PSN modulo `size`, so an interval can wrap. Its ends are decoded in one clock to one of four rules for each group of
//! positions: none, all, as the interval begins, as it ends. The mask is then one LUT a bit.

use crate::hdl::{Builder, Module, Signal, bits};
use std::rc::Rc;

/// A mask of `size` positions (a power of two, at least 16).
///
/// Ports: `rst`, `enable`, `valid`, `first` and `end` (with one bit more than a position, so that an empty interval and a full one
/// differ), and `mask`.
pub fn interval(size: u32) -> Rc<Module> {
    let index_bits = size.trailing_zeros();
    let lane_bits = bits::lane_bits(index_bits);
    let b = Builder::new(
        &format!("interval_{size}"),
        &format!(
            "Mask of the positions (PSN modulo {size}) in [first, end), an interval of at most {size} PSNs.
            Latency 1 clock, initiation interval 1. The mask leaves through one level of logic."
        ),
    );
    b.add_reset();
    let enable = b.add_input("enable", 1, "Load in this clock; otherwise the mask stays.");
    let valid = b.add_input("valid", 1, "Otherwise the interval is empty.");
    let first = b.add_input("first", index_bits + 1, "First PSN of the interval.");
    let end = b.add_input("end_psn", index_bits + 1, "First PSN after it.");

    let group = |psn: &Signal| psn.slice(lane_bits, index_bits - lane_bits);
    let wraps = (first.msb() ^ end.msb()).named("wraps");
    let same_group = group(&first).eq(&group(&end)).named("same_group");

    let at_first = bits::decode(&b, "at_first", &group(&first));
    let at_end = bits::decode(&b, "at_end", &group(&end));
    let after_first = bits::from_index(&b, "from_first", &group(&first)) & !&at_first;
    let before_end = !bits::from_index(&b, "from_end", &group(&end));
    let between = b.mux(
        "between",
        &wraps,
        &(&after_first | &before_end),
        &(&after_first & &before_end),
    );
    let lanes_from_first = bits::from_index(&b, "lanes_from_first", &first.truncate(lane_bits));
    let lanes_before_end =
        (!bits::from_index(&b, "lanes_from_end", &end.truncate(lane_bits))).named("lanes_before_end");

    let border = (&at_first | &at_end).named("border");
    let plain = (!&border & &between).named("plain");
    let ends = (&at_end & !&at_first).named("ends");
    let groups = border.width();
    let border = b.stage("is_border", &enable, &border.gated(&valid));
    let fill = b.stage("fill", &enable, &(&plain | &ends).gated(&valid));
    let both = b.mux(
        "both_ends",
        &wraps,
        &(&lanes_from_first | &lanes_before_end),
        &(&lanes_from_first & &lanes_before_end),
    );
    let beginning = b.mux("beginning", &same_group, &both, &lanes_from_first);
    let head = b.stage("head", &enable, &beginning);
    let tail = b.stage("tail", &enable, &lanes_before_end);

    let masks: Vec<Signal> = (0..groups)
        .map(|g| {
            let end = b.mux(&format!("border_lanes_{g}"), &fill.bit(g), &tail, &head);
            let all = fill.bit(g).sign_extend(head.width());
            b.mux(&format!("lanes_{g}"), &border.bit(g), &end, &all)
        })
        .collect();
    let mask = b.concat("groups", &masks.iter().collect::<Vec<_>>());
    b.add_output("mask", "The positions covered.", &mask);
    b.finish()
}
