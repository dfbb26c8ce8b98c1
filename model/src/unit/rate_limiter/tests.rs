//! `rate_limiter`: its guarantee from both sides, its wheel, its arithmetic and its timing.

use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// The unit, its time without wrap, and the operations accepted and not yet issued.
struct Bench {
    params: Params,
    unit: RateLimiter,
    time: u64,
    accepted: VecDeque<Inputs>,
}

/// What was issued in a clock: the operation (none: a recheck that wakes) and the event it will give.
struct Issued {
    operation: Option<Inputs>,
    event: Event,
}

impl Event {
    fn eligible(&self) -> bool {
        self.tokens >= 0
    }
}

impl Bench {
    /// `start` is the first timestamp after the clear.
    fn new(profile: &str, start: u64) -> Self {
        let params = Params::load(profile).unwrap();
        let clear = u64::from(params.connections);
        let mut bench = Self {
            unit: RateLimiter::new(&params),
            time: start.checked_sub(clear).unwrap(),
            accepted: VecDeque::new(),
            params,
        };
        (0..clear).for_each(|_| assert!(bench.clock(Inputs::default()).is_none()));
        bench
    }

    /// One clock, in which the operation in `inputs` is offered; whether it was accepted shows in `accepted`.
    fn clock(&mut self, mut inputs: Inputs) -> Option<Issued> {
        inputs.now = (self.time & u64::from(self.unit.widths.timestamp.mask())) as u32;
        self.time += 1;
        if inputs.s_axis_op_tvalid && self.unit.outputs().s_axis_op_tready {
            self.accepted.push_back(inputs);
        }
        let moves = self.unit.pipeline.moves();
        self.unit.clock(&inputs);
        let event = *self.unit.pipeline.stage(1).filter(|_| moves)?;
        let operation = (event.op != op::WAKE).then(|| self.accepted.pop_front().unwrap());
        Some(Issued { operation, event })
    }

    /// Offers an operation until it is accepted.
    fn accept(&mut self, operation: Inputs) {
        loop {
            let ready = self.unit.outputs().s_axis_op_tready;
            let issued = self.clock(operation);
            assert!(
                issued.is_none_or(|issued| issued.event.op != op::WAKE),
                "an unexpected wake"
            );
            if ready {
                return;
            }
        }
    }

    /// Offers an operation until it is issued, and gives its event.
    fn run(&mut self, operation: Inputs) -> Event {
        self.accept(operation);
        loop {
            if let Some(Issued {
                operation: Some(_),
                event,
            }) = self.clock(IDLE)
            {
                return event;
            }
        }
    }

    /// Issues an operation, whatever wakes meanwhile.
    fn run_quietly(&mut self, operation: Inputs) {
        let mut offered = operation;
        loop {
            let ready = self.unit.outputs().s_axis_op_tready;
            let issued = self.clock(offered);
            offered.s_axis_op_tvalid &= !ready;
            if issued.is_some_and(|issued| issued.operation.is_some()) && !offered.s_axis_op_tvalid {
                return;
            }
        }
    }

    /// The wakes of so many clocks: connection and time of issue.
    fn wakes(&mut self, clocks: u64) -> Vec<(u16, u64)> {
        let mut wakes = Vec::new();
        for _ in 0..clocks {
            if let Some(issued) = self.clock(IDLE) {
                assert!(issued.operation.is_none() && issued.event.eligible());
                wakes.push((issued.event.connection, self.time - 1));
            }
        }
        wakes
    }

    /// Ticks of a slot.
    fn slot(&self) -> u64 {
        1 << self.params.wheel_tick_bits
    }
}

const IDLE: Inputs = Inputs {
    rst: false,
    now: 0,
    s_axis_op_tvalid: false,
    s_axis_op_op: 0,
    s_axis_op_connection: 0,
    s_axis_op_rate: 0,
    s_axis_op_burst: 0,
    s_axis_op_bytes: 0,
    m_axis_event_tready: true,
};

fn operation(op: u8, connection: u16) -> Inputs {
    Inputs {
        s_axis_op_tvalid: true,
        s_axis_op_op: op,
        s_axis_op_connection: connection,
        ..IDLE
    }
}

fn configure(connection: u16, rate: u16, burst: u32) -> Inputs {
    Inputs {
        s_axis_op_rate: rate,
        s_axis_op_burst: burst,
        ..operation(op::CONFIGURE, connection)
    }
}

fn charge(connection: u16, bytes: u16) -> Inputs {
    Inputs {
        s_axis_op_bytes: bytes,
        ..operation(op::CHARGE, connection)
    }
}

fn hint(connection: u16, rate: u16) -> Inputs {
    Inputs {
        s_axis_op_rate: rate,
        ..operation(op::HINT, connection)
    }
}

/// Units of 2^-16 bytes a tick.
fn units(rate: u16) -> u64 {
    u64::from(rate & 0xff) << (rate >> 8)
}

/// One byte every 2^`shift` ticks.
fn byte_in(shift: u16) -> u16 {
    (9 - shift) << 8 | 128
}

/// A sender that sends on each connection whenever it may, and what it may have sent.
struct Sender {
    burst: u32,
    rate: u16,
    /// By the last event.
    eligible: bool,
    /// Its operation is on its way.
    busy: bool,
    /// What was sent beyond the rate, in units of 2^-16 bytes, and when that was. Its peak over all times is the most that was sent beyond
    /// the rate in any interval.
    excess: u64,
    since: u64,
    sent: u64,
}

impl Sender {
    fn new(rate: u16, burst: u32, now: u64) -> Self {
        Self {
            burst,
            rate,
            eligible: true,
            busy: false,
            excess: 0,
            since: now,
            sent: 0,
        }
    }
}

/// R7: a sender that sends only what is eligible never sends more than rate x time + burst in any interval, whatever rates, hints, sizes and
/// stalls there are, across wraps of the timestamp.
#[test]
fn never_above_rate_times_time_plus_burst() {
    for (profile, seed) in [("tiny", 1), ("ecp5", 2), ("ecp5", 3)] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(profile, (1 << 32) - 50_000);
        let max_packet = bench.params.max_packet_bytes;
        let mut closest = u64::MAX;
        let mut wakes = 0;
        let mut senders = Vec::new();
        for connection in 0..bench.params.connections.min(6) as u16 {
            let (rate, burst) = (
                random.random_range(0x400..0xe00),
                random.random_range(0..5 * max_packet),
            );
            let burst = burst.min((1 << bench.params.burst_bits) - 1);
            bench.run(configure(connection, rate, burst));
            senders.push(Sender::new(rate, burst, bench.time));
        }
        bench.wakes(LATENCY as u64 + 1);
        for clock in 0..300_000 {
            let connection = random.random_range(0..senders.len() as u16);
            let sender = &senders[usize::from(connection)];
            let mut inputs = if sender.busy {
                IDLE
            } else if random.random_bool(0.002) {
                hint(
                    connection,
                    random.random_range(0x300..0xe00) * random.random_range(0..4u16).min(1),
                )
            } else if sender.eligible {
                charge(
                    connection,
                    random.random_range(64..=2 * max_packet).min(max_packet) as u16,
                )
            } else {
                IDLE
            };
            inputs.m_axis_event_tready = clock / 5000 % 2 == 0 || random.random_bool(0.3);
            // The sender knows what has come out, not what has been issued.
            let out = bench.unit.outputs();
            if out.m_axis_event_tvalid && inputs.m_axis_event_tready {
                let sender = &mut senders[usize::from(out.m_axis_event_connection)];
                sender.eligible = out.m_axis_event_eligible;
                sender.busy &= out.m_axis_event_op == op::WAKE;
                wakes += u32::from(out.m_axis_event_op == op::WAKE);
            }
            if inputs.s_axis_op_tvalid && out.s_axis_op_tready {
                senders[usize::from(connection)].busy = true;
            }
            let time = bench.time;
            if let Some(Issued {
                operation: Some(operation),
                event,
            }) = bench.clock(inputs)
            {
                let sender = &mut senders[usize::from(event.connection)];
                sender.excess = sender
                    .excess
                    .saturating_sub(units(sender.rate) * (time - sender.since));
                sender.since = time;
                if event.op == op::HINT {
                    sender.rate = operation.s_axis_op_rate;
                }
                sender.excess += u64::from(operation.s_axis_op_bytes) << 16;
                let most = u64::from(sender.burst.max(max_packet)) << 16;
                assert!(sender.excess <= most, "{profile}: {} above {most}", sender.excess);
                closest = closest.min(most - sender.excess);
            }
        }
        assert!(wakes > 1000, "{profile}: only {wakes} wakes");
        assert!(
            closest < 64 << 16,
            "{profile}: the bound was never nearly reached: {closest}"
        );
    }
}

/// R7: nor is it below: a wake comes within the documented delay, and with a cap that covers it the rate is kept exactly.
#[test]
fn never_below_by_more_than_the_documented_delay() {
    for (profile, rates) in [("tiny", 0x300..0xc00), ("ecp5", 0x500..0xe00)] {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let mut bench = Bench::new(profile, (1 << 32) - 30_000);
        let max_packet = bench.params.max_packet_bytes;
        let burst = 8 * max_packet;
        let mut senders = Vec::new();
        for connection in 0..2 {
            // Normal mantissas, so that the rate can be kept with the packets and the latency there are.
            let rate = random.random_range(rates.clone()) | 0x80;
            bench.run(configure(connection, rate, burst));
            senders.push(Sender::new(rate, burst, bench.time));
        }
        let delay =
            3 * bench.slot() + (INSERT_CLOCKS + HEAD_CLOCKS + LINK_CLOCKS + SAME_CONNECTION_CLOCKS) as u64;
        bench.wakes(LATENCY as u64 + 1);
        let mut worst = 0;
        let end = bench.time + 300_000;
        while bench.time < end {
            let connection = (bench.time % 2) as u16;
            let sender = &mut senders[usize::from(connection)];
            let inputs = if sender.eligible && !sender.busy {
                charge(
                    connection,
                    random.random_range(max_packet / 2..=max_packet) as u16,
                )
            } else {
                IDLE
            };
            let out = bench.unit.outputs();
            sender.busy |= inputs.s_axis_op_tvalid && out.s_axis_op_tready;
            if out.m_axis_event_tvalid {
                let sender = &mut senders[usize::from(out.m_axis_event_connection)];
                sender.eligible = out.m_axis_event_eligible;
                sender.busy &= out.m_axis_event_op == op::WAKE;
            }
            if let Some(Issued { operation, event }) = bench.clock(inputs) {
                let sender = &mut senders[usize::from(event.connection)];
                sender.sent += operation.map_or(0, |operation| u64::from(operation.s_axis_op_bytes));
                if event.op == op::WAKE {
                    // Tokens were zero when it should have come.
                    worst = worst.max(((event.tokens as u64) << 16) / units(sender.rate));
                }
            }
        }
        assert!(
            worst <= delay,
            "{profile}: a wake came {worst} ticks late, not {delay}"
        );
        assert!(worst > bench.slot(), "{profile}: no wake was late: {worst}");
        for sender in senders {
            let (sent, due) = (
                sender.sent << 16,
                units(sender.rate) * (bench.time - sender.since),
            );
            assert!(sent >= due, "{profile}: {sent} sent, {due} due");
        }
    }
}

/// R7: the clock of a wake, counted out by the contract.
#[test]
fn a_wake_comes_in_its_clock() {
    for (bytes, start) in [(1, 100), (7, 101), (15, 115), (16, 200), (800, 1000), (950, 1023)] {
        let mut bench = Bench::new("ecp5", start);
        // No burst beyond one packet: the cap is zero.
        bench.run(configure(3, byte_in(0), 0));
        let event = bench.run(charge(3, bytes));
        assert!(!event.eligible());
        assert_eq!(event.tokens, -i32::from(bytes));
        let issued = bench.time - 1;
        let (slot, insert) = (bench.slot(), INSERT_CLOCKS as u64);
        // The cursor follows the time one clock behind.
        let served = (issued + insert - 1) / slot + u64::from(bytes) / slot + 2;
        let wake = served * slot + HEAD_CLOCKS as u64 + 1;
        assert_eq!(bench.wakes(3000), [(3, wake)], "{bytes} bytes at {start}");
    }
}

/// R7: how far ahead a connection is inserted, by the contract's formula, for every kind of rate and deficit.
#[test]
fn insertions_go_as_far_as_the_contract_says() {
    for profile in crate::params::PROFILES {
        let params = Params::load(profile).unwrap();
        let wheel = Wheel::new(&params);
        let mut random = ChaCha8Rng::seed_from_u64(8);
        let (mut cut, mut furthest) = (0, 0);
        for _ in 0..100_000 {
            let least = -(1i64 << random.random_range(0..=params.burst_bits + 16));
            let mut bucket = Bucket {
                tokens: random.random_range(least..0),
                rate: Rate(random.random_range(0..1 << 12)),
                ..Bucket::STOPPED
            };
            let (tokens, rate) = (i128::from(bucket.tokens), i128::from(bucket.rate.0));
            let (mantissa, exponent) = (rate % 256, rate / 256);
            let insertion = bucket.wait(7, &wheel);
            assert_eq!(
                (insertion.is_some(), bucket.waiting),
                (mantissa > 0, mantissa > 0)
            );
            let Some(insertion) = insertion else {
                continue;
            };
            let bytes = -tokens.div_euclid(1 << 16);
            let deficit = bytes.min((1 << 18) - 1);
            let ticks = deficit * (65536 / mantissa) / (1 << exponent);
            let last = i128::from(params.wheel_slots) - 1;
            let offset = (ticks / (1 << params.wheel_tick_bits) + 2).min(last);
            assert_eq!((insertion.connection, i128::from(insertion.offset)), (7, offset));
            cut += u32::from(bytes > deficit && offset < last);
            furthest += u32::from(offset == last);
        }
        assert!(furthest > 100, "{profile}: only {furthest} at the horizon");
        assert!(cut > 10 || params.burst_bits < 22, "{profile}: only {cut} cut");
    }
}

/// H3: while the output stalls the wheel stands still with the pipeline, insertion and service alike.
#[test]
fn the_wheel_stands_still_with_the_pipeline() {
    let mut stalls = 0;
    for seed in 0..50 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new("ecp5", 4096 + 7 * seed);
        bench.run(configure(3, byte_in(0), 0));
        bench.run(charge(3, 100));
        let (slot, slots) = (bench.slot(), u64::from(bench.params.wheel_slots));
        let mut cursor = (bench.time - 1) / slot % slots;
        let (mut moved, mut target, mut pause) = (0, None, None);
        loop {
            let (time, moves) = (bench.time, bench.unit.pipeline.moves());
            let inputs = Inputs {
                m_axis_event_tready: random.random_bool(0.4),
                ..operation(op::QUERY, 4 + (time % 8) as u16)
            };
            let issued = bench.clock(inputs);
            let wakes = issued.is_some_and(|issued| issued.event.op == op::WAKE);
            assert_eq!(wakes, moves && pause == Some(0), "seed {seed}, time {time}");
            if wakes {
                break;
            }
            if !moves {
                stalls += 1;
                continue;
            }
            moved += 1;
            if moved == INSERT_CLOCKS {
                target = Some((cursor + 100 / slot + 2) % slots);
            }
            match &mut pause {
                Some(clocks) => *clocks -= 1,
                None if cursor != time / slot % slots => {
                    cursor = (cursor + 1) % slots;
                    pause = (Some(cursor) == target).then_some(HEAD_CLOCKS);
                }
                None => {}
            }
        }
    }
    assert!(stalls > 1000, "only {stalls} stalls");
}

/// R7: connections wake in the order of their time; within a slot the last one in is the first one out, each after the link's clocks.
#[test]
fn wakes_come_in_the_order_of_slots() {
    let mut bench = Bench::new("ecp5", 1 << 10);
    for connection in 0..5 {
        bench.run(configure(connection, byte_in(0), 0));
    }
    // To the begin of a slot, so that all insertions see the same cursor.
    while !(bench.time + INSERT_CLOCKS as u64).is_multiple_of(bench.slot()) {
        bench.wakes(1);
    }
    for (connection, bytes) in [(0, 300), (1, 64), (2, 303), (3, 70), (4, 900)] {
        bench.accept(charge(connection, bytes));
    }
    while !bench.accepted.is_empty() {
        bench.clock(IDLE);
    }
    let wakes = bench.wakes(2000);
    let order: Vec<_> = wakes.iter().map(|&(connection, _)| connection).collect();
    assert_eq!(order, [3, 1, 2, 0, 4]);
    assert_eq!(wakes[1].1 - wakes[0].1, LINK_CLOCKS as u64 + 1);
    assert_eq!(wakes[3].1 - wakes[2].1, LINK_CLOCKS as u64 + 1);
}

/// R7: a wait longer than the wheel's horizon is looked at again until it is over, and wakes once, on time.
#[test]
fn a_wait_beyond_the_horizon_wakes_once_and_on_time() {
    let mut bench = Bench::new("ecp5", (1 << 32) - 20_000);
    bench.run(configure(9, byte_in(4), 0));
    bench.run(charge(9, 4000));
    let due = bench.time - 1 + (4000 << 4);
    let horizon = u64::from(bench.params.wheel_slots) * bench.slot();
    assert!(4000 << 4 > 50 * horizon);
    let wakes = bench.wakes(100_000);
    assert_eq!(wakes.len(), 1);
    let late = wakes[0].1 - due;
    assert!(
        late <= 3 * bench.slot() + (INSERT_CLOCKS + HEAD_CLOCKS) as u64,
        "{late} ticks late"
    );
}

/// R7: a stopped connection never wakes; a hint starts it again; one that is stopped while it waits sleeps on.
#[test]
fn a_stopped_connection_sleeps_until_a_hint() {
    let mut bench = Bench::new("ecp5", 16);
    let event = bench.run(operation(op::QUERY, 2));
    assert_eq!((event.eligible(), event.tokens), (false, -1));
    assert_eq!(bench.wakes(5000), []);
    bench.run(hint(2, byte_in(0)));
    assert_eq!(bench.wakes(5000).len(), 1);
    bench.run(charge(2, 500));
    bench.run(hint(2, 0xf00));
    assert_eq!(bench.wakes(5000), []);
    let event = bench.run(operation(op::QUERY, 2));
    assert!(!event.eligible());
    bench.run(hint(2, byte_in(0)));
    assert_eq!(bench.wakes(5000).len(), 1);
    // Settled with the old rate: while it was stopped nothing was gathered.
    bench.run(hint(2, 0));
    bench.run(charge(2, 100));
    bench.wakes(1000);
    let event = bench.run(hint(2, byte_in(0)));
    assert_eq!(event.tokens, -100);
}

/// R7: tokens stop at the cap above and at their width below; elapsed time is cut, and counted across the timestamp's wrap.
#[test]
fn tokens_saturate_and_elapsed_time_is_cut() {
    let mut bench = Bench::new("tiny", 2);
    let (burst_bits, max_packet) = (bench.params.burst_bits, bench.params.max_packet_bytes);
    let cap = 3000 - max_packet as i32;
    assert_eq!(bench.run(configure(1, byte_in(0), 3000)).tokens, cap);
    bench.wakes(100);
    assert_eq!(bench.run(operation(op::QUERY, 1)).tokens, cap);
    bench.run(hint(1, 0));
    for _ in 0..2 {
        bench.run(charge(1, (1 << 14) - 1));
    }
    let event = bench.run(charge(1, (1 << 14) - 1));
    assert_eq!((event.eligible(), event.tokens), (false, -(1 << burst_bits)));

    // A byte a tick, across the timestamp's wrap and up to the cut.
    let mut bench = Bench::new("ecp5", (1 << 32) - 1000);
    bench.run(configure(1, byte_in(0), 500_000));
    for _ in 0..16 {
        bench.run(charge(1, 16_000));
    }
    let before = bench.run(charge(1, 16_000)).tokens;
    let at = bench.time - 1;
    bench.time += 1 << 10;
    let wrapped = bench.run(operation(op::QUERY, 1)).tokens;
    assert_eq!((wrapped - before) as u64, bench.time - 1 - at);
    bench.time += 300_000;
    let cut = bench.run(operation(op::QUERY, 1)).tokens;
    assert_eq!(cut - wrapped, (1 << 18) - 1);
}

/// R7: exact arithmetic over random operations on all connections, rates with any mantissa and exponent, reserved codes too.
#[test]
fn tokens_are_exact() {
    struct Exact {
        tokens: i128,
        cap: u32,
        rate: u16,
        last: u64,
    }
    for (profile, seed) in [("tiny", 5), ("ecp5", 6)] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(profile, (1 << 32) - 40_000);
        let (connections, burst_bits) = (bench.params.connections as u16, bench.params.burst_bits);
        let mut exact: Vec<_> = (0..connections)
            .map(|_| Exact {
                tokens: -1,
                cap: 0,
                rate: 0,
                last: bench.time,
            })
            .collect();
        let mut wakes = 0;
        for clock in 0..200_000 {
            let busy = clock / 2000 % 2 == 0;
            let inputs = Inputs {
                s_axis_op_tvalid: random.random_bool(if busy { 0.9 } else { 0.01 }),
                s_axis_op_op: [0, 1, 1, 1, 1, 2, 3, 5, 6, 7][random.random_range(0..10)],
                s_axis_op_connection: random.random_range(0..connections),
                s_axis_op_rate: random.random_range(0..1 << 12) * random.random_range(0..8u16).min(1),
                s_axis_op_burst: random.random_range(0..1 << burst_bits) >> random.random_range(0..8),
                s_axis_op_bytes: random.random_range(0..1 << 14),
                m_axis_event_tready: random.random_bool(0.95),
                ..IDLE
            };
            let time = bench.time;
            let Some(Issued { operation, event }) = bench.clock(inputs) else {
                continue;
            };
            let bucket = &mut exact[usize::from(event.connection)];
            let gathered = i128::from(units(bucket.rate)) * i128::from(time - bucket.last);
            bucket.tokens = (bucket.tokens + gathered).min(i128::from(bucket.cap) << 16);
            bucket.last = time;
            match operation {
                Some(inputs) => {
                    assert_eq!(event.op, inputs.s_axis_op_op);
                    assert_eq!(event.connection, inputs.s_axis_op_connection);
                    match event.op {
                        op::CONFIGURE => {
                            bucket.rate = inputs.s_axis_op_rate;
                            bucket.cap = inputs
                                .s_axis_op_burst
                                .saturating_sub(bench.params.max_packet_bytes);
                            bucket.tokens = i128::from(bucket.cap) << 16;
                        }
                        op::CHARGE => {
                            bucket.tokens -= i128::from(inputs.s_axis_op_bytes) << 16;
                            bucket.tokens = bucket.tokens.max(-(1 << (burst_bits + 16)));
                        }
                        op::HINT => bucket.rate = inputs.s_axis_op_rate,
                        _ => {}
                    }
                }
                None => wakes += 1,
            }
            assert_eq!(event.eligible(), bucket.tokens >= 0, "{profile}, clock {clock}");
            let bytes = bucket.tokens.div_euclid(1 << 16);
            assert_eq!(i128::from(event.tokens), bytes, "{profile}, clock {clock}");
        }
        assert!(wakes > 500, "{profile}: only {wakes} wakes");
        // Nothing is lost in the wheel: in the end whoever has a rate that can pay becomes eligible.
        for connection in 0..connections {
            bench.run_quietly(hint(connection, 0xe80));
        }
        bench.wakes(20_000);
        for connection in 0..connections {
            assert!(bench.run(operation(op::QUERY, connection)).eligible());
        }
        assert!(bench.unit.wheel.heads.iter().all(|&head| head == END));
        assert!(bench.unit.buckets.iter().all(|bucket| !bucket.waiting));
    }
}

/// H3: the first clocks after reset, latency, and the distance kept on one connection but not between connections.
#[test]
fn timing_is_as_the_contract_says() {
    let params = Params::load("ecp5").unwrap();
    let mut unit = RateLimiter::new(&params);
    let mut now = 12_345;
    // The second round has a reset in mid-run, after which all connections are stopped.
    for _ in 0..2 {
        unit.clock(&Inputs {
            rst: true,
            ..configure(0, byte_in(0), 0)
        });
        for _ in 0..params.connections {
            assert_eq!(unit.outputs(), Outputs::default());
            now += 1;
            unit.clock(&Inputs {
                now,
                ..configure(0, byte_in(0), 0)
            });
        }
        assert_eq!(
            unit.wheel.cursor,
            (now >> params.wheel_tick_bits) % params.wheel_slots
        );
        // Connections 0, 1, 2, 2, 0: accepted in clocks 0, 1, 2, 3, 7 and so issued in 1, 2, 3, 7, 8.
        let offers = [
            charge(0, 1),
            charge(1, 1),
            configure(2, 0, 20_000),
            charge(2, 1),
            charge(0, 1),
        ];
        let (mut accepted, mut events) = (Vec::new(), Vec::new());
        for clock in 0..8 + LATENCY + 1 {
            let out = unit.outputs();
            if out.m_axis_event_tvalid {
                events.push((clock, out.m_axis_event_connection, out.m_axis_event_tokens as i32));
            }
            let inputs = offers.get(accepted.len()).copied().unwrap_or(IDLE);
            if inputs.s_axis_op_tvalid && out.s_axis_op_tready {
                accepted.push(clock);
            }
            now += 1;
            unit.clock(&Inputs { now, ..inputs });
        }
        assert_eq!(accepted, [0, 1, 2, 3, 7]);
        let below_zero = |bytes: i32| (1 << 21) - bytes;
        let expected = [
            (1, 0, below_zero(2)),
            (2, 1, below_zero(2)),
            (3, 2, 15_700),
            (7, 2, 15_699),
            (8, 0, below_zero(3)),
        ];
        let expected = expected.map(|(issued, connection, tokens)| (issued + LATENCY, connection, tokens));
        assert_eq!(events, expected);
    }
}

/// H3: in a clock with a recheck on offer nothing else issues, even when the recheck keeps its distance to an operation of its own connection.
#[test]
fn a_recheck_goes_before_the_input() {
    let wake_after = |query_before_offer: Option<u64>| {
        let mut bench = Bench::new("ecp5", 64);
        bench.run(configure(3, byte_in(0), 0));
        bench.run(charge(3, 200));
        let served = (bench.time - 1 + INSERT_CLOCKS as u64 - 1) / bench.slot() + 200 / bench.slot() + 2;
        let offer = served * bench.slot() + HEAD_CLOCKS as u64 + 1;
        let mut issues = Vec::new();
        while bench.time < offer + 20 {
            // The query is accepted one clock before it issues; another connection's waits in the register from then on.
            let inputs = match query_before_offer.map(|before| offer - before - 1) {
                Some(time) if bench.time == time => operation(op::QUERY, 3),
                _ if bench.time >= offer - 1 && bench.time <= offer + 5 => {
                    operation(op::QUERY, (bench.time % 3) as u16)
                }
                _ => IDLE,
            };
            if let Some(issued) = bench.clock(inputs) {
                issues.push((bench.time as i64 - 1 - offer as i64, issued.event.op));
            }
        }
        issues.truncate(3);
        issues
    };
    assert_eq!(wake_after(None), [(0, op::WAKE), (1, op::QUERY), (2, op::QUERY)]);
    // A query of the same connection one clock before: the recheck waits until four clocks lie between, and the input with it.
    assert_eq!(
        wake_after(Some(1)),
        [(-1, op::QUERY), (3, op::WAKE), (4, op::QUERY)]
    );
}
