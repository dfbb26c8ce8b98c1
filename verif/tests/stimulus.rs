//! What holds for the stimulus of every unit.

use metaroce_model::{Params, params::PROFILES, port::Ports, unit as model};
use metaroce_verif::{run::record, stimulus::Stimulus, unit as stimulus};

const CLOCKS: u64 = 20_000;

/// No value is wider than its port, the same seed gives the same run, and a model that rests may be left alone.
fn check<U: model::Unit, S: Stimulus<U>>() {
    for params in PROFILES.map(|name| Params::load(name).unwrap()) {
        let ports = U::Inputs::ports(&params);
        let recorded = record::<U, S>(&params, 5, CLOCKS);
        for (clock, inputs) in recorded.iter().enumerate() {
            let mut words = vec![0; U::Inputs::WORDS];
            inputs.pack(&mut words);
            for port in &ports {
                for (word, value) in words[port.word..port.word + port.words].iter().enumerate() {
                    let bits = port.width.saturating_sub(32 * word as u32);
                    let above = value.checked_shr(bits).unwrap_or(0);
                    assert_eq!(
                        above,
                        0,
                        "{} ({}), clock {clock}: {} is wider than {} bits",
                        U::NAME,
                        params.name,
                        port.name,
                        port.width
                    );
                }
            }
        }
        let again = record::<U, S>(&params, 5, CLOCKS);
        assert!(recorded == again, "{} ({})", U::NAME, params.name);
        let other = record::<U, S>(&params, 6, CLOCKS);
        assert!(recorded != other, "{} ({})", U::NAME, params.name);
        check_rest::<U>(&params, &recorded);
    }
}

/// A model that is not clocked while it rests and nothing wakes it gives the same outputs as one that always is.
fn check_rest<U: model::Unit>(params: &Params, recorded: &[U::Inputs]) {
    let wakes = |name: &str| name == "rst" || name == "config_write" || name.ends_with("valid");
    let ports = U::Inputs::ports(params);
    let waking: Vec<usize> = ports
        .iter()
        .filter(|port| wakes(port.name))
        .map(|port| port.word)
        .collect();
    let (mut always, mut awake) = (U::new(params), U::new(params));
    let mut words = vec![0; U::Inputs::WORDS];
    for (clock, inputs) in recorded.iter().enumerate() {
        assert!(
            always.outputs() == awake.outputs(),
            "{} ({}), clock {clock}: it did not rest",
            U::NAME,
            params.name
        );
        inputs.pack(&mut words);
        always.clock(inputs);
        if !awake.rests() || waking.iter().any(|&word| words[word] != 0) {
            awake.clock(inputs);
        }
    }
}

/// H3: stimulus of `align`.
#[test]
fn align() {
    check::<model::align::Align, stimulus::align::Align>();
}

/// H3: stimulus of `connection_table`.
#[test]
fn connection_table() {
    check::<model::connection_table::ConnectionTable, stimulus::connection_table::ConnectionTable>();
}

/// H3: stimulus of `counters`.
#[test]
fn counters() {
    check::<model::counters::Counters, stimulus::counters::Counters>();
}

/// H3: stimulus of `deparser`.
#[test]
fn deparser() {
    check::<model::deparser::Deparser, stimulus::deparser::Deparser>();
}

/// H3: stimulus of `frame_buffer`.
#[test]
fn frame_buffer() {
    check::<model::frame_buffer::FrameBuffer, stimulus::frame_buffer::FrameBuffer>();
}

/// H3: stimulus of `parser`.
#[test]
fn parser() {
    check::<model::parser::Parser, stimulus::parser::Parser>();
}

/// H3: stimulus of `path_table`.
#[test]
fn path_table() {
    check::<model::path_table::PathTable, stimulus::path_table::PathTable>();
}

/// H3: stimulus of `rate_limiter`.
#[test]
fn rate_limiter() {
    check::<model::rate_limiter::RateLimiter, stimulus::rate_limiter::RateLimiter>();
}

/// H3: stimulus of `retry_table`.
#[test]
fn retry_table() {
    check::<model::retry_table::RetryTable, stimulus::retry_table::RetryTable>();
}

/// H3: stimulus of `sack_rx`.
#[test]
fn sack_rx() {
    check::<model::sack_rx::SackRx, stimulus::sack_rx::SackRx>();
}

/// H3: stimulus of `sack_tx`.
#[test]
fn sack_tx() {
    check::<model::sack_tx::SackTx, stimulus::sack_tx::SackTx>();
}

/// H3: stimulus of `key_table`.
#[test]
fn key_table() {
    check::<model::key_table::KeyTable, stimulus::key_table::KeyTable>();
}

/// H3: stimulus of `message_table`.
#[test]
fn message_table() {
    check::<model::message_table::MessageTable, stimulus::message_table::MessageTable>();
}

/// H3: stimulus of `packet_table`.
#[test]
fn packet_table() {
    check::<model::packet_table::PacketTable, stimulus::packet_table::PacketTable>();
}

/// H3: stimulus of `receive_table`.
#[test]
fn receive_table() {
    check::<model::receive_table::ReceiveTable, stimulus::receive_table::ReceiveTable>();
}

/// H3: stimulus of `request_table`.
#[test]
fn request_table() {
    check::<model::request_table::RequestTable, stimulus::request_table::RequestTable>();
}

/// H3: stimulus of `ack_table`.
#[test]
fn ack_table() {
    check::<model::ack_table::AckTable, stimulus::ack_table::AckTable>();
}

/// H3: stimulus of `placement`.
#[test]
fn placement() {
    check::<model::placement::Placement, stimulus::placement::Placement>();
}

/// H3: stimulus of `acknowledger`.
#[test]
fn acknowledger() {
    check::<model::acknowledger::Acknowledger, stimulus::acknowledger::Acknowledger>();
}

/// H3: stimulus of `completion`.
#[test]
fn completion() {
    check::<model::completion::Completion, stimulus::completion::Completion>();
}

/// H3: stimulus of `receiver`.
#[test]
fn receiver() {
    check::<model::receiver::Receiver, stimulus::receiver::Receiver>();
}

/// H3: stimulus of `scheduler`.
#[test]
fn scheduler() {
    check::<model::scheduler::Scheduler, stimulus::scheduler::Scheduler>();
}

/// H3: stimulus of `configuration`.
#[test]
fn configuration() {
    check::<model::configuration::Configuration, stimulus::configuration::Configuration>();
}

/// H3: stimulus of `retirement`.
#[test]
fn retirement() {
    check::<model::retirement::Retirement, stimulus::retirement::Retirement>();
}

/// H3: stimulus of `teller`.
#[test]
fn teller() {
    check::<model::teller::Teller, stimulus::teller::Teller>();
}

/// H3: stimulus of `timer`.
#[test]
fn timer() {
    check::<model::timer::Timer, stimulus::timer::Timer>();
}

/// H3: stimulus of `transmitter`.
#[test]
fn transmitter() {
    check::<model::transmitter::Transmitter, stimulus::transmitter::Transmitter>();
}

/// H3: stimulus of `nic`.
#[test]
fn nic() {
    check::<model::nic::Nic, stimulus::nic::Nic>();
}
