//! `timer`: the background scan over all paths. Contract: [`metaroce_model::port::timer`].
//!
//! | clocks since a result is the head | what happens |
//! |---|---|
//! | 1 | a quarter of the round-trip time is added; the path's probes are read |
//! | 2 | `base`; memory's output |
//! | 3 | sixteen times `base` shifted, `base` times probes, the larger limit; probes in a register |
//! | 4 or later | idle time compared; judged |

use super::{issue, memory, queue::Queue};
use crate::hdl::{
    Builder, Module, Signal,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        path_table::op,
        timer::{Inputs, MAX_PROBES, Outputs, STEP_CLOCKS},
        unit_ports,
    },
};
use std::rc::Rc;

/// Bits of `config_probe`.
const PROBE_TICK_BITS: u32 = 16;
/// Bits of a count of probes.
const PROBE_BITS: u32 = 4;
/// Results of READ that may be under way.
const READS: u32 = 4;
/// Largest back-off.
const BACKOFF_BITS: u32 = 4;

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "The background scan over {} paths: probes, retransmission timeouts, late acknowledgements. One path every {STEP_CLOCKS} clocks.
        Profile {}: connections = {}, paths = {}.",
        params.total_paths(),
        params.name,
        params.connections,
        params.paths,
    );
    let b = Builder::unit("timer", &doc, &unit_ports::<Inputs, Outputs>(params));
    let now = b.get("now");
    let (path_bits, timestamp_bits) = (params.path_index_bits(), params.timestamp_bits);
    let time_bits = timestamp_bits - 1;
    let sweep = issue::sweep(&b, params.total_paths());

    let read = Queue::new(
        &b,
        "read",
        READS,
        &[
            ("path", path_bits),
            ("in_flight", params.window_bits),
            ("rtt_valid", 1),
            ("smoothed_rtt", params.rtt_bits),
            ("timeout", time_bits),
            ("backoff", BACKOFF_BITS),
            ("last_progress", timestamp_bits),
        ],
    );
    read.strobe("read");
    let output = |name: &str, fields: &[(&str, u32)]| {
        let queue = Queue::new(&b, name, 2, fields);
        queue.output(&format!("m_axis_{name}"));
        queue
    };
    let path = output("path", &[("op", 3), ("path", path_bits), ("now", timestamp_bits)]);
    let sack = output("sack", &[("path", path_bits), ("now", timestamp_bits)]);
    let probe = output("probe", &[("path", path_bits)]);
    let ack = output("ack", &[("path", path_bits), ("now", timestamp_bits)]);

    // How long the head has been it.
    let judges = b.forward("judges", 1);
    let stays = (&read.valid() & &!&judges).named("stays");
    let headed: Vec<Signal> = (1..=4)
        .map(|clocks| b.register(&format!("headed_{clocks}"), 1))
        .collect();
    b.clocked(&headed[0], &stays);
    b.clocked(&headed[1], &(&stays & &headed[0]));
    b.clocked(&headed[2], &(&stays & &headed[1]));
    b.clocked(&headed[3], &(&stays & &headed[2]));

    // Clock 1 to 2: base; the path's probes are read.
    // So wide that the sum of the two terms never wraps: with few timestamp bits `config_probe` is the longest.
    let sum_bits = time_bits.max(params.rtt_bits + 1).max(PROBE_TICK_BITS) + 1;
    let smoothed = read.get("smoothed_rtt");
    let quarter = smoothed.slice(2, params.rtt_bits - 2).extend(sum_bits);
    let grown = b.register("grown", sum_bits);
    b.clocked(&grown, &(smoothed.extend(sum_bits) + quarter));
    let base = b.register("base", time_bits);
    let measured = (&grown + b.get("config_probe").extend(sum_bits)).named("measured");
    let over = measured
        .slice(time_bits, sum_bits - time_bits)
        .any()
        .named("base_over");
    let cut = measured.truncate(time_bits) | over.sign_extend(time_bits);
    let first = b.get("config_first_probe");
    b.clocked(&base, &b.mux("next_base", &read.get("rtt_valid"), &cut, &first));
    let probes_written = b.forward("probes_written", 1);
    let new_probes = b.forward("new_probes", PROBE_BITS);
    let write_path = b.mux("probes_path", &sweep.clearing, &sweep.index, &read.get("path"));
    let always = b.lit(1, 1);
    let memory = b.instance(
        "probes_memory",
        &memory::ram(params.total_paths(), PROBE_BITS),
        &[
            ("write_enable", &(&probes_written | &sweep.clearing)),
            ("write_address", &write_path),
            ("write_data", &new_probes),
            ("read_enable", &always),
            ("read_address", &read.get("path")),
        ],
    );

    // Clock 3 to 4: limit and threshold.
    let probes = b.register("probes", PROBE_BITS);
    b.clocked(&probes, &memory.get("read_data"));
    let shifted_bits = time_bits + 4 + 15;
    let shifted = b.concat("base_16", &[&b.lit(0, 4), &base]).extend(shifted_bits);
    let shifted = shifted.shl(&read.get("backoff")).named("base_shifted");
    let over = shifted.slice(time_bits, shifted_bits - time_bits).any();
    let limit = shifted.truncate(time_bits) | over.sign_extend(time_bits);
    let limit_base = b.register("limit_base", time_bits);
    b.clocked(&limit_base, &limit);

    // In each clock the idle time, and in the next what it is compared with: from clock 4 on, so that clock 5 can judge.
    let idle = b.register("idle", timestamp_bits);
    b.clocked(&idle, &(&now - read.get("last_progress")).named("next_idle"));
    let compared_bits = time_bits + PROBE_BITS + 1;
    let steps = (probes.extend(PROBE_BITS + 1) + b.lit(1, PROBE_BITS + 1)).named("steps");
    let product = (&base * &steps).named("product").resize(compared_bits);
    let threshold = b.register("threshold", compared_bits);
    b.clocked(&threshold, &product);
    let always = b.lit(1, 1);
    let compared = |name: &str, below: &Signal, width: u32| {
        let is_below = idle.extend(width).lt(&below.extend(width));
        b.stage(name, &always, &is_below)
    };
    let early = compared("early", &base, timestamp_bits);
    let unreached = compared("unreached", &limit_base, timestamp_bits);
    let before_timeout = compared("before_timeout", &read.get("timeout"), timestamp_bits);
    let before_threshold = compared("before_threshold", &threshold, compared_bits);
    let progress = (&early | &!read.get("in_flight").any()).named("progress");
    let times_out = (&!&progress & &!&(&unreached | &before_timeout)).named("times_out");
    let may_probe = probes.lt(&b.lit(MAX_PROBES.into(), PROBE_BITS));
    let due = (!&before_threshold & &may_probe).named("probe_due");
    let probes_now = (&!&progress & &!&times_out & &due).named("probes_now");
    let all_room = &path.room() & &sack.room() & &probe.room();
    b.drive("judges", &(&headed[3] & &all_room));
    let puts_timeout = (&judges & &times_out).named("puts_timeout");
    let puts_probe = (&judges & &probes_now).named("puts_probe");
    read.take(&judges);
    sack.put(&puts_timeout, &[&read.get("path"), &now]);
    probe.put(&puts_probe, &[&read.get("path")]);
    let clears = &progress | &times_out;
    b.drive("probes_written", &(&judges & &(&clears | &probes_now)));
    let more = (&probes + &probes.lit(1)).gated(&!&clears);
    b.drive("new_probes", &more.gated(&!&sweep.clearing));

    // step.
    let wait = b.register("wait_clocks", 2);
    let reads = b.register("reads", 3);
    let index = b.register("index", path_bits);
    let may_read = !reads.is(READS.into());
    let free = !&(wait.any() | &sweep.clearing);
    let steps = (&free & &path.room() & &ack.room() & &may_read & &!&puts_timeout).named("step");
    const _: () = assert!(STEP_CLOCKS == 4);
    let waited = wait.any().choose(&(&wait - &wait.lit(1)), &wait);
    b.clocked(&wait, &steps.choose(&wait.lit(3), &waited));
    b.clocked_when(&steps, &index, &(&index + &index.lit(1)));
    let next_reads = &reads + &steps.extend(3) - &judges.extend(3);
    b.clocked(&reads, &next_reads.named("next_reads"));
    ack.put(&steps, &[&index, &now]);
    let code = b.mux(
        "path_op",
        &puts_timeout,
        &b.lit(op::TIMEOUT.into(), 3),
        &b.lit(op::READ.into(), 3),
    );
    let about = b.mux("path_path", &puts_timeout, &read.get("path"), &index);
    path.put(&(&steps | &puts_timeout), &[&code, &about, &now]);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 25] = [
    Mutation { signal: "stays", fault: Fault::Operator },
    Mutation { signal: "headed_2", fault: Fault::Operator },
    Mutation { signal: "judges", fault: Fault::Operator },
    Mutation { signal: "measured", fault: Fault::Operator },
    Mutation { signal: "base_over", fault: Fault::Zero },
    Mutation { signal: "next_base", fault: Fault::Invert },
    Mutation { signal: "probes_path", fault: Fault::Zero },
    Mutation { signal: "probes_written", fault: Fault::Zero },
    Mutation { signal: "new_probes", fault: Fault::Increment },
    Mutation { signal: "base_shifted", fault: Fault::Increment },
    Mutation { signal: "limit_base", fault: Fault::Zero },
    Mutation { signal: "next_idle", fault: Fault::Operator },
    Mutation { signal: "steps", fault: Fault::Operator },
    Mutation { signal: "threshold", fault: Fault::Increment },
    Mutation { signal: "progress", fault: Fault::Operator },
    Mutation { signal: "progress", fault: Fault::Zero },
    Mutation { signal: "times_out", fault: Fault::Operator },
    Mutation { signal: "probe_due", fault: Fault::Operator },
    Mutation { signal: "probes_now", fault: Fault::Operator },
    Mutation { signal: "puts_timeout", fault: Fault::Zero },
    Mutation { signal: "step", fault: Fault::Operator },
    Mutation { signal: "index", fault: Fault::Operator },
    Mutation { signal: "next_reads", fault: Fault::Operator },
    Mutation { signal: "path_op", fault: Fault::Invert },
    Mutation { signal: "path_path", fault: Fault::Increment },
];
