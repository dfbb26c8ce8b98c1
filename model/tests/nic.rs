//! `nic`: two NICs back to back, model and model (requirements R2 to R6, R8, R10, R11).

use metaroce_model::{
    Params,
    pair::{Faults, IMMEDIATE, Message, Pair, SEND, Setup},
    port::{configuration::command, nic},
    unit::{Unit, nic::Nic},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Where the bytes of messages are, and where they go.
const SOURCE: u64 = 0x1_0000_0000_0000;
const TARGET: u64 = 0x2_0000_0000;
/// The region that may be written to, in both hosts.
const REGION_BYTES: u64 = 1 << 32;
const KEY: u32 = 0x0100_0003;

fn pair(params: &Params, faults: Faults, seed: u64, setup: impl Fn(u8) -> Setup) -> Pair<Nic, Nic> {
    let nic = || Nic::new(params);
    let mut pair = Pair::new(params, nic(), nic(), faults, seed);
    for end in [&mut pair.left, &mut pair.right] {
        end.host.memory.allow(TARGET..TARGET + REGION_BYTES);
        end.host.command(nic::Inputs {
            s_axis_command_command: command::REGION,
            s_axis_command_key: KEY,
            s_axis_command_address: TARGET,
            s_axis_command_mac: REGION_BYTES,
            s_axis_command_domain: 1,
            s_axis_command_flag: true,
            ..Default::default()
        });
    }
    pair.configure(params, setup).unwrap();
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
