//! Clocks per second of each unit: the model alone, the Verilated RTL alone, and both in lockstep, on one recorded stimulus.
//!
//! Absolute times are the machine's; what counts are the ratios in one run, which `scripts/bench.sh` writes to docs/performance.md.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use metaroce_model::{Params, port::Ports, unit};
use metaroce_verif::{lockstep::Lockstep, rtl::Rtl, run::record, stimulus::Stimulus, unit as stimuli};
use std::hint::black_box;

const PROFILE: &str = "ecp5";
const SEED: u64 = 1;
/// Clocks of the recorded stimulus: enough for several resets and their clears.
const CLOCKS: u64 = 50_000;

fn bench_unit<U: unit::Unit, S: Stimulus<U>>(criterion: &mut Criterion) {
    let params = Params::load(PROFILE).expect("a built-in profile");
    let trace = record::<U, S>(&params, SEED, CLOCKS);
    let packed: Vec<Vec<u32>> = trace
        .iter()
        .map(|inputs| {
            let mut words = vec![0; U::Inputs::WORDS];
            inputs.pack(&mut words);
            words
        })
        .collect();
    let new_rtl = || {
        let model = format!("{}_{PROFILE}", U::NAME);
        Rtl::<U::Inputs, U::Outputs>::new(&model, SEED).expect("benchmarks are built with every unit")
    };

    let mut group = criterion.benchmark_group(U::NAME);
    group.throughput(Throughput::Elements(CLOCKS)).sample_size(20);
    group.bench_function("model", |bencher| {
        bencher.iter_batched_ref(
            || U::new(&params),
            |model| {
                for inputs in &trace {
                    black_box(model.outputs());
                    model.clock(inputs);
                }
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("rtl", |bencher| {
        bencher.iter_batched_ref(
            new_rtl,
            |rtl| {
                let mut outputs = vec![0; U::Outputs::WORDS];
                for inputs in &packed {
                    rtl.step_words(inputs, &mut outputs);
                    black_box(&outputs);
                }
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("lockstep", |bencher| {
        bencher.iter_batched_ref(
            || Lockstep::<U>::new(&params, SEED, 0).expect("benchmarks are built with every unit"),
            |lockstep| {
                for inputs in &trace {
                    let outputs = lockstep.outputs();
                    assert!(lockstep.clock(inputs, &outputs).is_ok(), "model and RTL differ");
                }
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn units(criterion: &mut Criterion) {
    bench_unit::<unit::rate_limiter::RateLimiter, stimuli::rate_limiter::RateLimiter>(criterion);
    bench_unit::<unit::path_table::PathTable, stimuli::path_table::PathTable>(criterion);
    bench_unit::<unit::sack_tx::SackTx, stimuli::sack_tx::SackTx>(criterion);
    bench_unit::<unit::sack_rx::SackRx, stimuli::sack_rx::SackRx>(criterion);
    bench_unit::<unit::connection_table::ConnectionTable, stimuli::connection_table::ConnectionTable>(
        criterion,
    );
    bench_unit::<unit::key_table::KeyTable, stimuli::key_table::KeyTable>(criterion);
    bench_unit::<unit::receive_table::ReceiveTable, stimuli::receive_table::ReceiveTable>(criterion);
    bench_unit::<unit::message_table::MessageTable, stimuli::message_table::MessageTable>(criterion);
    bench_unit::<unit::packet_table::PacketTable, stimuli::packet_table::PacketTable>(criterion);
    bench_unit::<unit::request_table::RequestTable, stimuli::request_table::RequestTable>(criterion);
    bench_unit::<unit::ack_table::AckTable, stimuli::ack_table::AckTable>(criterion);
    bench_unit::<unit::parser::Parser, stimuli::parser::Parser>(criterion);
    bench_unit::<unit::deparser::Deparser, stimuli::deparser::Deparser>(criterion);
    bench_unit::<unit::align::Align, stimuli::align::Align>(criterion);
    bench_unit::<unit::frame_buffer::FrameBuffer, stimuli::frame_buffer::FrameBuffer>(criterion);
    bench_unit::<unit::scheduler::Scheduler, stimuli::scheduler::Scheduler>(criterion);
    bench_unit::<unit::retry_table::RetryTable, stimuli::retry_table::RetryTable>(criterion);
    bench_unit::<unit::receiver::Receiver, stimuli::receiver::Receiver>(criterion);
    bench_unit::<unit::placement::Placement, stimuli::placement::Placement>(criterion);
    bench_unit::<unit::acknowledger::Acknowledger, stimuli::acknowledger::Acknowledger>(criterion);
    bench_unit::<unit::completion::Completion, stimuli::completion::Completion>(criterion);
    bench_unit::<unit::retirement::Retirement, stimuli::retirement::Retirement>(criterion);
    bench_unit::<unit::teller::Teller, stimuli::teller::Teller>(criterion);
    bench_unit::<unit::timer::Timer, stimuli::timer::Timer>(criterion);
    bench_unit::<unit::transmitter::Transmitter, stimuli::transmitter::Transmitter>(criterion);
    bench_unit::<unit::configuration::Configuration, stimuli::configuration::Configuration>(criterion);
    bench_unit::<unit::counters::Counters, stimuli::counters::Counters>(criterion);
    bench_unit::<unit::nic::Nic, stimuli::nic::Nic>(criterion);
}

criterion_group! {
    name = benches;
    config = Criterion::default();
    targets = units
}
criterion_main!(benches);
