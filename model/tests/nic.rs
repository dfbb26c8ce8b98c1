//! `nic`: two NICs back to back, model and model (requirements R2 to R6, R8, R10, R11).

mod common;

use common::nics::{KEY, SOURCE, TARGET, configure};
use metaroce_model::{
    Params,
    pair::{Faults, Frame, IMMEDIATE, Message, Pair, SEND, Setup, Start},
    port::counters::{LATENCY, index},
    unit::{Unit, nic::Nic},
    wire::NakCode,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn pair(params: &Params, faults: Faults, seed: u64, setup: impl Fn(u8) -> Setup) -> Pair<Nic, Nic> {
    pair_ahead(params, faults, seed, setup, false)
}

/// A configured pair, whose timestamps begin at different times, or just below their wrap.
fn pair_ahead(
    params: &Params,
    faults: Faults,
    seed: u64,
    setup: impl Fn(u8) -> Setup,
    wraps: bool,
) -> Pair<Nic, Nic> {
    let nic = || Nic::new(params);
    let mut pair = Pair::new(params, nic(), nic(), faults, seed);
    // Every end's time is its own.
    (pair.left.ahead, pair.right.ahead) = if wraps {
        (0u32.wrapping_sub(2000), 0u32.wrapping_sub(3000))
    } else {
        (0, 1000)
    };
    configure(params, &mut pair, setup);
    pair
}

/// Runs until all is done, and nothing went wrong.
fn finish(pair: &mut Pair<Nic, Nic>, clocks: u64) {
    let done = pair.run(clocks).unwrap();
    assert_eq!(pair.wrongs(), []);
    assert!(
        done,
        "not done after {clocks} clocks: {} completions, links {:?} {:?}",
        pair.scoreboard.completed, pair.left.link.seen, pair.right.link.seen
    );
    // Acknowledgements under way, and those that wait for their delay, come to their end.
    for _ in 0..20_000 {
        pair.step().unwrap();
    }
    assert_eq!(pair.left.nic.leftovers(), [""; 0]);
    assert_eq!(pair.right.nic.leftovers(), [""; 0]);
}

/// R4, R5, R10, R11: one message of each kind.
#[test]
fn one_message_of_each_kind() {
    for profile in ["tiny", "ecp5"] {
        let params = Params::load(profile).unwrap();
        let mut pair = pair(&params, Faults::NONE, 1, Setup::new);
        for kind in 0..4 {
            pair.post(
                0,
                0,
                Message {
                    kind,
                    length: 100,
                    local: SOURCE + 3,
                    remote: TARGET + 1000 * u64::from(kind) + 5,
                    key: KEY,
                    immediate: 0x1234_5678 + u32::from(kind),
                },
            );
        }
        finish(&mut pair, 20_000);
        assert_eq!(pair.scoreboard.completed, 4 + 3, "{profile}");
        assert_eq!((pair.left.link.seen.data, pair.left.link.seen.again), (4, 0));
    }
}

/// Messages of random size, kind, stream and alignment, in both directions.
fn random_messages(params: &Params, pair: &mut Pair<Nic, Nic>, count: u32, largest: u32, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut next = [TARGET; 2];
    for _ in 0..count {
        let from: u8 = random.random_range(0..2);
        let length = match random.random_range(0..8) {
            0 => 0,
            1 => params.mtu_bytes,
            _ => random.random_range(0..=largest),
        };
        let kind = random.random_range(0..4);
        let remote = next[usize::from(from)] + random.random_range(0..params.lanes() as u64);
        next[usize::from(from)] = remote + u64::from(length);
        pair.post(
            from,
            random.random_range(0..params.total_streams()) as u16,
            Message {
                kind,
                length,
                local: SOURCE + random.random_range(0..1 << 20),
                remote,
                key: if kind & SEND == 0 { KEY } else { 0 },
                immediate: if kind & IMMEDIATE != 0 { random.random() } else { 0 },
            },
        );
    }
}

/// R6, R10: at 0, 1 and 10 % loss every message comes once, in order, whole; nothing is sent again that had not been lost.
#[test]
fn lossy_links_lose_nothing() {
    for profile in ["tiny", "ecp5"] {
        let params = Params::load(profile).unwrap();
        for loss in [0, 100, 1000] {
            let mut pair = pair(&params, Faults::loss(loss), 7, Setup::new);
            random_messages(&params, &mut pair, 2000, 3 * params.mtu_bytes / 2, 8);
            finish(&mut pair, 20_000_000);
            let seen = [pair.left.link.seen, pair.right.link.seen];
            println!("{profile} loss {loss}: {} clocks, {seen:?}", pair.clock);
            for seen in seen {
                assert_eq!(seen.spurious, 0, "{profile}, loss {loss}: {seen:?}");
                if loss == 0 {
                    assert_eq!(seen.again, 0, "{profile}: {seen:?}");
                }
            }
        }
    }
}

/// R4, R5: every length around the MTU, at every alignment of source and target, and across a multiple of 4 GiB, by Write and by Send.
#[test]
fn every_length_and_alignment_arrives() {
    let params = Params::load("ecp5").unwrap();
    let (lanes, mtu) = (u64::from(params.lanes()), params.mtu_bytes);
    let mut pair = pair(&params, Faults::NONE, 2, Setup::new);
    let mut count = 0;
    for length in [0, 1, mtu - 1, mtu, mtu + 1, 2 * mtu] {
        for (from, to) in (0..lanes).flat_map(|from| (0..lanes).map(move |to| (from, to))) {
            let region = u64::from(count) * 0x4000;
            pair.post(
                0,
                (count % params.total_streams()) as u16,
                Message {
                    kind: if count % 3 == 0 { SEND } else { IMMEDIATE },
                    length,
                    local: SOURCE + from,
                    remote: TARGET + region + to,
                    key: KEY,
                    immediate: count,
                },
            );
            count += 1;
        }
    }
    for (at, kind) in [SEND, IMMEDIATE].into_iter().enumerate() {
        for to in 0..lanes {
            let stream = (at as u64 * lanes + to) as u16;
            pair.post(
                0,
                stream,
                Message {
                    kind,
                    length: 1 << 20,
                    local: SOURCE + 5,
                    remote: TARGET + 0x1000_0000 + u64::from(stream) * 0x20_0000 + to,
                    key: KEY,
                    immediate: 9,
                },
            );
        }
    }
    // Across 4 GiB: the region ends above it.
    for to in 0..lanes {
        pair.post(
            0,
            40 + to as u16,
            Message {
                kind: IMMEDIATE,
                length: 3 * mtu,
                local: 0xffff_f000 + to,
                remote: 0x2_ffff_f001 - to,
                key: KEY,
                immediate: 8,
            },
        );
        finish(&mut pair, 10_000_000);
    }
    assert_eq!(pair.left.link.seen.again, 0);
}

/// R6, R10: 100,000 messages at 10 % loss: each once, nothing sent again that had not been lost, no timeout.
#[test]
fn a_hundred_thousand_messages_at_ten_percent_loss() {
    let params = Params::load("tiny").unwrap();
    let mut pair = pair(&params, Faults::loss(1000), 11, Setup::new);
    random_messages(&params, &mut pair, 100_000, 2 * params.mtu_bytes, 12);
    finish(&mut pair, 100_000_000);
    println!(
        "{} clocks, {:?} {:?}",
        pair.clock, pair.left.link.seen, pair.right.link.seen
    );
    for link in [&pair.left.link, &pair.right.link] {
        assert_eq!(link.seen.spurious, 0, "{:?}", link.seen);
    }
    for end in [&mut pair.left, &mut pair.right] {
        end.host.constants.counter_index = index::TIMEOUT;
    }
    for _ in 0..=LATENCY {
        pair.step().unwrap();
    }
    assert_eq!(Unit::outputs(&pair.left.nic).counter_value, 0, "timeouts");
    assert_eq!(Unit::outputs(&pair.right.nic).counter_value, 0, "timeouts");
}

/// R6: numbers that begin just below their wraps change nothing, at no loss and at 10 %.
#[test]
fn wraps_change_nothing() {
    for profile in ["tiny", "ecp5"] {
        let params = Params::load(profile).unwrap();
        for loss in [0, 1000] {
            let outcome = [false, true].map(|wraps| {
                let start = if wraps {
                    Start {
                        psn: u32::MAX >> (32 - params.psn_bits) & !1,
                        message: (1 << 24) - 2,
                        receive: (1 << 24) - 1,
                    }
                } else {
                    Start::default()
                };
                let setup = |end| Setup {
                    start,
                    ..Setup::new(end)
                };
                let mut pair = pair_ahead(&params, Faults::loss(loss), 5, setup, wraps);
                random_messages(&params, &mut pair, 600, params.mtu_bytes, 6);
                finish(&mut pair, 10_000_000);
                for link in [&pair.left.link, &pair.right.link] {
                    assert_eq!(link.seen.spurious, 0, "{profile}: {:?}", link.seen);
                }
                (
                    pair.clock,
                    format!("{:?} {:?}", pair.left.link.seen, pair.right.link.seen),
                )
            });
            assert_eq!(outcome[0], outcome[1], "{profile}, loss {loss}");
        }
    }
}

/// R6, safety: whatever strangers send, and whichever bits are flipped, nothing is written outside, nothing is completed that was not sent, and all that was sent arrives.
#[test]
fn hostile_frames_do_no_harm() {
    let params = Params::load("tiny").unwrap();
    let faults = Faults {
        loss: 100,
        damage: 2000,
        mark: 2000,
        double: 500,
        jitter: 50,
        ..Faults::NONE
    };
    let mut pair = pair(&params, faults, 21, Setup::new);
    let mut random = ChaCha8Rng::seed_from_u64(22);
    random_messages(&params, &mut pair, 3000, 2 * params.mtu_bytes, 23);
    while !pair.is_idle() {
        pair.step().unwrap();
        assert!(pair.clock < 20_000_000, "{:?}", pair.left.link.seen);
        if random.random_ratio(1, 400) {
            let mut bytes = vec![0; random.random_range(1..400)];
            random.fill(&mut bytes[..]);
            pair.left.link.inject(Frame {
                bytes,
                plane: 0,
                bad: false,
                clock: pair.clock,
            });
        }
    }
    pair.scoreboard
        .verify(&pair.left.host.memory, &pair.right.host.memory);
    assert_eq!(pair.wrongs(), []);
}

/// R5, R11: a Write with a key that names no region writes nothing, tells the sender once, and stops that connection only.
#[test]
fn a_refused_write_stops_its_connection_only() {
    let params = Params::load("tiny").unwrap();
    let mut pair = pair(&params, Faults::NONE, 31, Setup::new);
    let message = |key, remote| Message {
        kind: IMMEDIATE,
        length: 700,
        local: SOURCE,
        remote,
        key,
        immediate: 5,
    };
    pair.post(0, 0, message(KEY ^ 0x0100_0000, TARGET));
    let other_connection = params.streams as u16;
    for number in 0..20 {
        pair.post(0, other_connection, message(KEY, TARGET + 0x1000 * (number + 1)));
    }
    for _ in 0..40_000 {
        pair.step().unwrap();
    }
    assert_eq!(pair.wrongs(), []);
    assert_eq!(pair.scoreboard.completed, 40);
    let [(0, error)] = pair.scoreboard.errors[..] else {
        panic!("{:?}", pair.scoreboard.errors);
    };
    assert_eq!(
        (error.error, error.stream, error.message),
        (NakCode::BadKey.value(), 0, 0)
    );
    assert_eq!(pair.right.host.memory.written, 20 * 700);
}

/// R5: a Send whose receive comes late is refused, sent again, and arrives; no error is told.
#[test]
fn a_late_receive_is_waited_for() {
    let params = Params::load("tiny").unwrap();
    let mut pair = pair(&params, Faults::NONE, 32, Setup::new);
    pair.right.host.pace.receive = 0;
    for number in 0..6 {
        pair.post(
            0,
            0,
            Message {
                kind: SEND,
                length: 600,
                local: SOURCE + number,
                remote: TARGET + 0x1000 * number,
                ..Message::default()
            },
        );
    }
    for _ in 0..20_000 {
        pair.step().unwrap();
    }
    assert_eq!(pair.scoreboard.completed, 0);
    assert!(pair.right.link.seen.refusals > 0);
    pair.right.host.pace.receive = 16;
    finish(&mut pair, 200_000);
    assert_eq!((pair.scoreboard.completed, pair.scoreboard.errors.len()), (12, 0));
}

/// Safety: a reset of both ends in whatever they are doing, and everything works as at first.
#[test]
fn a_reset_in_any_state_recovers() {
    let params = Params::load("tiny").unwrap();
    let faults = Faults {
        damage: 300,
        mark: 1000,
        ..Faults::loss(500)
    };
    let mut pair = pair(&params, faults, 41, Setup::new);
    let mut random = ChaCha8Rng::seed_from_u64(42);
    for round in 0..40 {
        random_messages(&params, &mut pair, 60, 2 * params.mtu_bytes, round);
        for _ in 0..random.random_range(0..3000) {
            pair.step().unwrap();
        }
        assert_eq!(pair.wrongs(), []);
        pair.reset();
        configure(&params, &mut pair, Setup::new);
    }
    random_messages(&params, &mut pair, 300, 2 * params.mtu_bytes, 99);
    finish(&mut pair, 2_000_000);
}
