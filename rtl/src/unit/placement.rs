//! `placement`: brings payload to memory. Contract: [`metaroce_model::port::placement`].
//!
//! Queues between the contract's rules. The address of a beat is the transfer's plus what was written of it, added before the beat enters `write`: a carry chain of 64 bits, and nothing else.

use super::queue::Queue;
use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    params::index_bits,
    port::{
        parser::HEADER_BYTES,
        placement::{Inputs, Outputs},
        unit_ports,
    },
};
use std::rc::Rc;

/// Bits of an address.
const ADDRESS_BITS: u32 = 64;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "Brings the payload of received packets to memory, and tells of each packet when it is there.
        Profile {}: a bus of {} bits, {} packets at once.",
        params.name,
        params.data_bits,
        params.jobs(),
    );
    let b = Builder::unit("placement", &doc, &unit_ports::<Inputs, Outputs>(params));
    let jobs = params.jobs();
    let lane_bits = params.lane_bits();

    // Queues.
    let token = [
        ("stream", params.stream_index_bits()),
        ("message", 24),
        ("bytes", params.payload_bits()),
        ("length", 32),
        ("immediate", 32),
        ("kind", 2),
    ];
    let place = Queue::new(
        &b,
        "place",
        jobs,
        &[&[("discard", 1), ("address", ADDRESS_BITS)], &token[..]].concat(),
    );
    place.input("s_axis_place");
    let transfers = Queue::new(
        &b,
        "transfers",
        jobs,
        &[("empty", 1), ("address", ADDRESS_BITS - lane_bits)],
    );
    let tokens = Queue::new(&b, "tokens", jobs, &token);
    let output = |name: &str, fields: &[(&str, u32)]| {
        let queue = Queue::new(&b, name, 2, fields);
        queue.output(&format!("m_axis_{name}"));
        queue
    };
    let command = output(
        "command",
        &[
            ("from", lane_bits),
            ("to", lane_bits),
            ("bytes", params.payload_bits()),
        ],
    );
    let beat = output("beat", &[("tdata", params.data_bits), ("tlast", 1)]);
    let write_fields = [
        ("tdata", params.data_bits),
        ("tkeep", params.lanes()),
        ("tlast", 1),
        ("address", ADDRESS_BITS),
    ];
    let write = Queue::gated(
        &b,
        "write",
        2,
        &[&write_fields[..], &[("null", 1)]].concat(),
        &[&["tdata", "tkeep", "address"]],
    );

    // begin.
    let placing = b.register("passing_placed", 1);
    let discarding = b.register("passing_discarded", 1);
    let idle = !&(&placing | &discarding);
    let room = &command.room() & &(&transfers.room() & &tokens.room());
    let begins = (&idle & &place.valid() & &room).named("begins");
    place.take(&begins);
    let (discard, address, bytes) = (place.get("discard"), place.get("address"), place.get("bytes"));
    let has_bytes = bytes.any().named("has_bytes");
    let keeps = (&begins & &!&discard).named("keeps");
    let values: Vec<Signal> = token.iter().map(|(field, _)| place.get(field)).collect();
    tokens.put(&keeps, &values.iter().collect::<Vec<_>>());
    transfers.put(
        &keeps,
        &[&!&has_bytes, &address.slice(lane_bits, ADDRESS_BITS - lane_bits)],
    );
    let commands = (&keeps & &has_bytes).named("commands");
    let from = b.lit(u64::from(HEADER_BYTES % params.lanes()), lane_bits);
    command.put(&commands, &[&from, &address.truncate(lane_bits), &bytes]);

    // pass.
    let ready = (&discarding | &(&placing & &beat.room())).named("payload_ready");
    b.drive("s_axis_payload_tready", &ready);
    let passes = (&ready & &b.get("s_axis_payload_tvalid")).named("passes");
    let last = b.get("s_axis_payload_tlast");
    beat.put(&(&passes & &placing), &[&b.get("s_axis_payload_tdata"), &last]);
    let ends = (&passes & &last).named("ends");
    b.clocked(&placing, &(&commands | &(&placing & &!&ends)));
    b.clocked(&discarding, &((&begins & &discard) | &(&discarding & &!&ends)));

    // write, empty.
    let empty = transfers.get("empty");
    let aligned_ready = (&write.room() & &transfers.valid() & &!&empty).named("aligned_ready");
    b.drive("s_axis_aligned_tready", &aligned_ready);
    let writes = (&aligned_ready & &b.get("s_axis_aligned_tvalid")).named("writes");
    let empties = (&write.room() & &transfers.valid() & &empty).named("empties");
    let last = b.get("s_axis_aligned_tlast");
    let ends = (&writes & &last).named("transfer_ends");
    transfers.take(&(&ends | &empties));
    // Beats of the transfer written before this one.
    let beat_bits = params.payload_bits();
    let written = b.register("written", beat_bits);
    let next_written = (&written + &written.lit(1)).gated(&!&last);
    b.clocked_when(&writes, &written, &next_written.named("next_written"));
    let upper = (transfers.get("address") + written.extend(ADDRESS_BITS - lane_bits)).named("beat_number");
    let beat_address = b.concat("beat_address", &[&b.lit(0, lane_bits), &upper]);
    write.put_gated(
        &(&writes | &empties),
        &[
            &b.get("s_axis_aligned_tdata"),
            &b.get("s_axis_aligned_tkeep"),
            &(&last & &writes),
            &beat_address,
            &empties,
        ],
        &[&writes],
    );

    // leave, count.
    let null = write.get("null");
    b.drive("m_axis_write_tvalid", &(&write.valid() & &!&null));
    for (field, _) in write_fields {
        b.drive(&format!("m_axis_write_{field}"), &write.get(field));
    }
    let leaves = (&null | b.get("m_axis_write_tready")).named("leaves");
    write.take(&leaves);
    let releases = (&write.valid() & &leaves & &(&null | write.get("tlast"))).named("releases");
    let count_bits = index_bits(jobs) + 1;
    let released = b.register("released", count_bits);
    let may_count = b.register("may_count", 1);
    b.drive("m_axis_count_tvalid", &may_count);
    for (field, _) in token {
        b.drive(
            &format!("m_axis_count_{field}"),
            &tokens.get(field).gated(&may_count),
        );
    }
    let counts = (&may_count & &b.get("m_axis_count_tready")).named("counts");
    tokens.take(&counts);
    let next_released =
        (&released + &releases.extend(count_bits) - &counts.extend(count_bits)).named("next_released");
    b.clocked(&released, &next_released);
    b.clocked(&may_count, &next_released.any());
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 22] = [
    Mutation { signal: "begins", fault: Fault::Operator },
    Mutation { signal: "has_bytes", fault: Fault::Zero },
    Mutation { signal: "keeps", fault: Fault::Operator },
    Mutation { signal: "commands", fault: Fault::Operator },
    Mutation { signal: "payload_ready", fault: Fault::Operator },
    Mutation { signal: "passes", fault: Fault::Operator },
    Mutation { signal: "ends", fault: Fault::Operator },
    Mutation { signal: "aligned_ready", fault: Fault::Operator },
    Mutation { signal: "writes", fault: Fault::Operator },
    Mutation { signal: "empties", fault: Fault::Operator },
    Mutation { signal: "transfer_ends", fault: Fault::Operator },
    Mutation { signal: "next_written", fault: Fault::Increment },
    Mutation { signal: "written", fault: Fault::Enable },
    Mutation { signal: "beat_number", fault: Fault::Operator },
    Mutation { signal: "leaves", fault: Fault::Operator },
    Mutation { signal: "releases", fault: Fault::Operator },
    Mutation { signal: "counts", fault: Fault::Operator },
    Mutation { signal: "next_released", fault: Fault::Operator },
    Mutation { signal: "may_count", fault: Fault::Zero },
    Mutation { signal: "command_entry", fault: Fault::Invert },
    Mutation { signal: "tokens_entry", fault: Fault::Invert },
    Mutation { signal: "write_keep", fault: Fault::Zero },
];
