//! `key_table`: the memory regions that other NICs may write to. Contract: [`metaroce_model::port::key_table`].
//!
//! A rigid pipeline that moves in the clocks in which the output queue has room. A value's number is its stage.
//!
//! | stage | what happens |
//! |---|---|
//! | 1 | the operation in registers; the region is read, or written by CONFIGURE |
//! | 2 | memory's output |
//! | 3 | the region in registers |
//! | 4 | the lower halves of the address's offset in the region and of the room before the region's end; tag and domain are compared |
//! | 5 | the upper halves; the lower ones are compared |
//! | 6 | the upper ones are compared |
//! | 7 | the status, enters the output queue |
//!
//! Bytes fit if `offset <= length - bytes`: the room does not depend on the address, so both sides are found at once. 64 bits are
//! subtracted and compared in two steps of 32.
//!
//! # Hazards
//! None: the region is written and read in the same stage, so in the order of acceptance.
//!
//! # Reset
//! The sweep enters at stage 1, as a CONFIGURE of a region that is not valid.

use super::{axis_register, issue, memory};
use crate::hdl::{
    Builder, Module, Signal, bits,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        key_table::{DOMAIN_BITS, Inputs, LATENCY, LENGTH_BITS, Outputs, op, status},
        unit_ports,
    },
};
use std::rc::Rc;

/// Bits of an address.
const ADDRESS_BITS: u32 = 64;
/// Bits that are subtracted and compared in one clock.
const LOW_BITS: u32 = 32;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "{} memory regions, and whether bytes at an address may be written to the one that a key names.
        Profile {}: keys = {}, mtu_bytes = {}.
        Latency {LATENCY} clocks, initiation interval 1.",
        params.keys, params.name, params.keys, params.mtu_bytes,
    );
    let b = Builder::unit("key_table", &doc, &unit_ports::<Inputs, Outputs>(params));
    let moves = b.forward("moves", 1);
    let ready = b.register("ready", 1);
    let offered = |field: &str| b.get(&format!("s_axis_op_{field}"));
    let stage = |name: &str, value: &Signal| b.stage(name, &moves, value);

    // Stage 1: the operation. What is offered while the sweep is on does not count.
    let sweep = issue::sweep(&b, params.keys);
    let accepted = (&ready & &offered("tvalid")).named("accepted");
    let valid = b.carry("valid", &moves, &accepted, 1..=7);
    let op = b.carry("op", &moves, &offered("op"), 1..=7);
    let configure = (&accepted & &offered("op").is(op::CONFIGURE.into())).named("configure");
    let write_1 = stage("write_1", &(&sweep.clearing | &configure));
    let index_bits = params.key_index_bits();
    let key_index = offered("key").truncate(index_bits);
    let index_1 = stage(
        "index_1",
        &b.mux("next_index_1", &sweep.clearing, &sweep.index, &key_index),
    );
    let valid_region = (&offered("valid") & &!&sweep.clearing).named("next_region_valid_1");
    let valid_region = stage("region_valid_1", &valid_region);
    let tag = offered("key").slice(index_bits, offered("key").width() - index_bits);
    let tag = b.carry("tag", &moves, &tag, 1..=3);
    let address = b.carry("address", &moves, &offered("address"), 1..=3);
    let domain = b.carry("domain", &moves, &offered("domain"), 1..=3);
    let bytes = b.carry("bytes", &moves, &offered("bytes"), 1..=3);
    let length = stage("length_1", &offered("length"));
    let write = stage("region_write_1", &offered("write"));

    // Stages 1 to 3: the region.
    let region = b.concat(
        "region_1",
        &[
            &valid_region,
            &write,
            domain.at(1),
            tag.at(1),
            &length,
            address.at(1),
        ],
    );
    let memory = b.instance(
        "regions",
        &memory::ram(params.keys, region.width()),
        &[
            ("write_enable", &write_1),
            ("write_address", &index_1),
            ("write_data", &region),
            ("read_enable", &moves),
            ("read_address", &index_1),
        ],
    );
    let [
        kept_valid,
        kept_write,
        kept_domain,
        kept_tag,
        kept_length,
        kept_base,
    ] = bits::split(
        &stage("region_3", &memory.get("read_data")),
        [
            ("kept_valid", 1),
            ("kept_write", 1),
            ("kept_domain", DOMAIN_BITS),
            ("kept_tag", tag.at(1).width()),
            ("kept_length", LENGTH_BITS),
            ("kept_base", ADDRESS_BITS),
        ],
    );

    // Stage 3 to 4: lower halves, with a borrow above them.
    let lower = |value: &Signal| value.truncate(LOW_BITS).extend(LOW_BITS + 1);
    let offset_low = stage("offset_low_4", &(lower(address.at(3)) - lower(&kept_base)));
    let room_low = stage(
        "room_low_4",
        &(lower(&kept_length) - bytes.at(3).extend(LOW_BITS + 1)),
    );
    let upper = |value: &Signal| value.slice(LOW_BITS, value.width() - LOW_BITS);
    let address_high = stage("address_high_4", &upper(address.at(3)));
    let base_high = stage("base_high_4", &upper(&kept_base));
    let length_high = stage("length_high_4", &upper(&kept_length));
    let tag_differs = stage("tag_differs_4", &differs(&b, "tag_differs", tag.at(3), &kept_tag));
    let domain_differs = differs(&b, "domain_differs", domain.at(3), &kept_domain);
    let domain_differs = stage("domain_differs_4", &domain_differs);
    let closed = stage("closed_4", &!(&kept_valid & &kept_write));

    // Stage 4 to 5: upper halves, those of the room with a sign above them; lower ones compared.
    let offset_high = stage(
        "offset_high_5",
        &difference(&b, "offset_high", &address_high, &base_high, &offset_low.msb()),
    );
    let room_bits = LENGTH_BITS - LOW_BITS;
    let length_high = length_high.extend(room_bits + 1);
    let room_high = difference(
        &b,
        "room_high",
        &length_high,
        &length_high.lit(0),
        &room_low.msb(),
    );
    let room_high = stage("room_high_5", &room_high);
    let low_over = room_low.truncate(LOW_BITS).lt(&offset_low.truncate(LOW_BITS));
    let low_over = stage("low_over_5", &low_over);
    let bad_key = (tag_differs.any() | domain_differs.any() | &closed).named("bad_key_4");
    let bad_key = b.carry("bad_key", &moves, &bad_key, 5..=6);

    // Stage 5 to 6: upper halves compared, the lower ones' result in the place of a last bit.
    let room_top = b.concat("room_top", &[&b.lit(0, 1), &room_high.truncate(room_bits)]);
    let offset_top = b.concat("offset_top", &[&low_over, &offset_high.truncate(room_bits)]);
    let over = stage("over_6", &room_top.lt(&offset_top));
    let far = offset_high.slice(room_bits, ADDRESS_BITS - LENGTH_BITS).any();
    let far = stage("far_6", &(far | room_high.msb()));

    // Stage 6 to 7: the first reason that applies.
    let harmless = (op.at(1).is(op::CONFIGURE.into()) | !bytes.at(1).any()).named("harmless_1");
    let harmless = b.carry("harmless", &moves, &harmless, 2..=6);
    let code = |code: u8| b.lit(code.into(), 2);
    let outside = (&over | &far).named("outside_6");
    let verdict = b.select(
        "verdict",
        &[
            (harmless.at(6), &code(status::DONE)),
            (bad_key.at(6), &code(status::BAD_KEY)),
            (&outside, &code(status::OUT_OF_BOUNDS)),
        ],
        &code(status::DONE),
    );
    let status = stage("status_7", &verdict);

    let fields = [("op", op.at(7)), ("status", &status)];
    let has_room = axis_register::output_queue(&b, "m_axis_result", valid.at(7), &fields);
    b.drive("moves", &has_room);
    let room_next = axis_register::room_next(&b, "m_axis_result", valid.at(7), &has_room);
    // Both are known a clock ahead, so that tready, which has far to go, is a register.
    b.clocked(&ready, &(room_next & &!&sweep.clearing_next));
    b.drive("s_axis_op_tready", &ready);
    b.finish()
}

/// Whether two values differ, a bit for each eight bits of them.
fn differs(b: &Builder, name: &str, left: &Signal, right: &Signal) -> Signal {
    let difference = (left ^ right).named(&format!("{name}_bits"));
    let groups: Vec<Signal> = (0..difference.width())
        .step_by(8)
        .map(|low| difference.slice(low, 8.min(difference.width() - low)).any())
        .collect();
    b.concat(name, &groups.iter().collect::<Vec<_>>())
}

/// `left - right - borrow`, in one carry chain: the borrow is a bit below both.
fn difference(b: &Builder, name: &str, left: &Signal, right: &Signal, borrow: &Signal) -> Signal {
    let left = b.concat(&format!("{name}_left"), &[&b.lit(0, 1), left]);
    let right = b.concat(&format!("{name}_right"), &[borrow, right]);
    let difference = (&left - right).named(&format!("{name}_difference"));
    b.unused(&format!("{name}_borrow"), &[&difference.bit(0)]);
    difference.slice(1, left.width() - 1)
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 24] = [
    // Acceptance, stalls and the sweep.
    Mutation { signal: "ready", fault: Fault::Operator },
    Mutation { signal: "accepted", fault: Fault::Operator },
    Mutation { signal: "configure", fault: Fault::Operator },
    Mutation { signal: "address_3", fault: Fault::Enable },
    Mutation { signal: "region_3", fault: Fault::Enable },
    Mutation { signal: "write_1", fault: Fault::Operator },
    Mutation { signal: "next_index_1", fault: Fault::Zero },
    Mutation { signal: "next_region_valid_1", fault: Fault::Operator },
    // What closes a region.
    Mutation { signal: "closed_4", fault: Fault::Operator },
    Mutation { signal: "closed_4", fault: Fault::Zero },
    Mutation { signal: "tag_differs_4", fault: Fault::Zero },
    Mutation { signal: "domain_differs_4", fault: Fault::Zero },
    Mutation { signal: "bad_key_4", fault: Fault::Operator },
    // Its bounds.
    Mutation { signal: "offset_low_4", fault: Fault::Operator },
    Mutation { signal: "offset_high_difference", fault: Fault::Operator },
    Mutation { signal: "room_low_4", fault: Fault::Decrement },
    Mutation { signal: "room_high_difference", fault: Fault::Operator },
    Mutation { signal: "low_over_5", fault: Fault::Operator },
    Mutation { signal: "low_over_5", fault: Fault::Zero },
    Mutation { signal: "over_6", fault: Fault::Zero },
    Mutation { signal: "far_6", fault: Fault::Zero },
    // The status.
    Mutation { signal: "harmless_1", fault: Fault::Operator },
    Mutation { signal: "outside_6", fault: Fault::Operator },
    Mutation { signal: "verdict", fault: Fault::Invert },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::tests::assert_builds;

    /// H2: the corners of what a profile may be: fewest and most keys.
    #[test]
    fn elaborates_for_extreme_profiles() {
        for (keys, mtu_bytes) in [(4, 64), (65536, 8192)] {
            let mut params = Params::load("tiny").unwrap();
            (params.keys, params.mtu_bytes) = (keys, mtu_bytes);
            assert_builds("key_table", &params);
        }
    }
}
