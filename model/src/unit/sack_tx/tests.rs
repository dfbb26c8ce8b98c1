//! `sack_tx` against a slow reference, in its timing, and in a loop with a lossy path.

use super::*;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a packet of `[base, next)` can be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    InFlight,
    Acknowledged,
    Pending,
    Older,
    Newer,
}

/// One path by the letter of the contract: packets by their PSN, which never wraps here.
struct Reference {
    params: Params,
    packets: BTreeMap<u64, State>,
    base: u64,
    next: u64,
    mark: u32,
    last_sent: u32,
    probe: Option<u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        let mut reference = Self {
            params: params.clone(),
            packets: BTreeMap::new(),
            base: 0,
            next: 0,
            mark: 0,
            last_sent: 0,
            probe: None,
        };
        reference.run(&Inputs::default());
        reference
    }

    fn wrapped(&self, psn: u64) -> u32 {
        (psn % (1 << self.params.psn_bits)) as u32
    }

    fn reaches(&self, a: u32, b: u32) -> bool {
        let range = 1i64 << self.params.timestamp_bits;
        (i64::from(a) - i64::from(b)).rem_euclid(range) < range / 2
    }

    /// Does the offered operation and gives what comes out.
    fn run(&mut self, inputs: &Inputs) -> Outputs {
        let now = inputs.s_axis_op_now;
        let mut out = Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: inputs.s_axis_op_op,
            m_axis_result_path: inputs.s_axis_op_path,
            ..Default::default()
        };
        let mut sent = None;
        match inputs.s_axis_op_op {
            op::INIT => {
                self.base = u64::from(inputs.s_axis_op_psn);
                self.next = self.base;
                self.packets.clear();
                (self.mark, self.last_sent, self.probe) = (now, now, None);
            }
            op::SEND if self.packets.len() < self.params.sack_bits as usize => {
                sent = Some(self.next);
                if self.packets.is_empty() {
                    self.mark = now;
                }
                self.packets.insert(self.next, State::InFlight);
                self.next += 1;
                self.last_sent = now;
            }
            op::SEND => out.m_axis_result_status = status::FULL,
            op::RETRANSMIT => {
                match self
                    .packets
                    .iter_mut()
                    .find(|(_, state)| **state == State::Pending)
                {
                    Some((&psn, state)) => {
                        *state = State::Newer;
                        sent = Some(psn);
                        self.last_sent = now;
                    }
                    None => out.m_axis_result_status = status::NONE,
                }
            }
            op::ACKNOWLEDGE => self.acknowledge(inputs, &mut out),
            op::PROBE => self.probe = Some(now),
            op::TIMEOUT => {
                (self.mark, self.probe) = (now, None);
                let all: Vec<u64> = self.packets.keys().copied().collect();
                self.lose(&all, &mut out);
            }
            _ => out.m_axis_result_status = status::INVALID,
        }
        out.m_axis_result_psn = self.wrapped(sent.unwrap_or(self.base));
        out.m_axis_result_outstanding = (self.next - self.base) as u16;
        out.m_axis_result_pending = self.packets.values().any(|&state| state == State::Pending);
        out
    }

    fn acknowledge(&mut self, inputs: &Inputs, out: &mut Outputs) {
        let (echo, range) = (inputs.s_axis_op_echo, 1u64 << self.params.psn_bits);
        let ahead = (u64::from(inputs.s_axis_op_psn) + range - u64::from(self.wrapped(self.base))) % range;
        if ahead >= range / 2 {
            out.m_axis_result_status = status::STALE;
            return;
        }
        if ahead > self.next - self.base {
            out.m_axis_result_status = status::INVALID;
            return;
        }
        self.base += ahead;
        while self
            .packets
            .first_key_value()
            .is_some_and(|(&psn, _)| psn < self.base)
        {
            let (_, state) = self.packets.pop_first().unwrap();
            out.m_axis_result_acknowledged += u16::from(state != State::Acknowledged);
        }
        for (psn, state) in &mut self.packets {
            let bit = (psn % u64::from(self.params.sack_bits)) as usize;
            if inputs.s_axis_op_vector[bit] && *state != State::Acknowledged {
                out.m_axis_result_acknowledged += 1;
                *state = State::Acknowledged;
            }
        }
        let highest = self
            .packets
            .iter()
            .rev()
            .find(|(_, state)| **state == State::Acknowledged);
        let highest = highest.map_or(0, |(&psn, _)| psn);
        let rotates = self.reaches(echo, self.mark);
        let mut lost = Vec::new();
        for (&psn, &state) in &self.packets {
            if (state == State::InFlight && psn < highest) || (state == State::Older && rotates) {
                lost.push(psn);
            }
        }
        if self.reaches(echo, self.last_sent) {
            for (psn, state) in &self.packets {
                if !matches!(state, State::Acknowledged | State::Pending) && !lost.contains(psn) {
                    lost.push(*psn);
                    out.m_axis_result_tail = true;
                }
            }
        }
        self.lose(&lost, out);
        if rotates {
            for state in self.packets.values_mut().filter(|state| **state == State::Newer) {
                *state = State::Older;
            }
            self.mark = inputs.s_axis_op_now;
        }
        if self.probe.is_some_and(|probe| self.reaches(echo, probe)) {
            out.m_axis_result_probe_answered = true;
            self.probe = None;
        }
    }

    fn lose(&mut self, psns: &[u64], out: &mut Outputs) {
        for psn in psns {
            let state = self.packets.get_mut(psn).unwrap();
            match state {
                State::Acknowledged => continue,
                State::InFlight => out.m_axis_result_holes += 1,
                State::Older | State::Newer => out.m_axis_result_lost_again += 1,
                State::Pending => {}
            }
            *state = State::Pending;
        }
    }
}

/// Makes operations that reach every corner of a path that is in the reference's state.
struct Stimulus {
    random: ChaCha8Rng,
    params: Params,
    now: u32,
    /// Out of ten operations, how many of three kinds there are: send, acknowledge, retransmit; the rest is mixed.
    weights: [u32; 3],
}

impl Stimulus {
    fn new(params: &Params, seed: u64) -> Self {
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            params: params.clone(),
            now: Serial::new(params.timestamp_bits).mask() - 1000,
            weights: [0; 3],
        }
    }

    fn clock(&mut self) {
        let timestamp = Serial::new(self.params.timestamp_bits);
        let step = match self.random.random_range(0..2000) {
            0 => self.random.random_range(0..timestamp.half() / 2),
            1..600 => 0,
            _ => 1,
        };
        self.now = timestamp.add(self.now, step);
        if self.random.random_bool(0.001) {
            self.weights =
                [[8, 1, 0], [3, 3, 3], [1, 1, 7], [4, 5, 0], [9, 0, 0]][self.random.random_range(0..5)];
        }
    }

    fn operation(&mut self, path: u16, reference: &Reference) -> Inputs {
        let [send, acknowledge, retransmit] = self.weights;
        let kind = self.random.random_range(0..10);
        let op = if kind < send {
            op::SEND
        } else if kind < send + acknowledge {
            op::ACKNOWLEDGE
        } else if kind < send + acknowledge + retransmit {
            op::RETRANSMIT
        } else {
            [
                op::ACKNOWLEDGE,
                op::PROBE,
                op::TIMEOUT,
                op::INIT,
                op::SEND,
                op::RETRANSMIT,
                6,
                7,
            ][(self.random.random_range(0..64u32).min(13) % 8) as usize]
        };
        let mut inputs = Inputs {
            s_axis_op_tvalid: true,
            s_axis_op_op: op,
            s_axis_op_path: path,
            s_axis_op_psn: self.random.random::<u32>() & Serial::new(self.params.psn_bits).mask(),
            s_axis_op_now: self.now,
            ..Default::default()
        };
        if op == op::ACKNOWLEDGE {
            self.acknowledgement(reference, &mut inputs);
        }
        if op == op::INIT && self.random.random() {
            // Near the wrap, so that windows lie across it.
            inputs.s_axis_op_psn |= Serial::new(self.params.psn_bits).mask() & !7;
        }
        inputs
    }

    fn acknowledgement(&mut self, reference: &Reference, inputs: &mut Inputs) {
        let psn = Serial::new(self.params.psn_bits);
        let outstanding = (reference.next - reference.base) as u32;
        let ahead = match self.random.random_range(0..20) {
            0 => outstanding + 1,
            1 => self.random.random_range(outstanding + 1..psn.half()),
            2 => psn.mask(),
            3 => self.random.random_range(psn.half()..=psn.mask()),
            4..6 => outstanding,
            6..8 => self.random.random_range(0..=outstanding),
            8..14 => self.random.random_range(0..=outstanding.min(3)),
            _ => 0,
        };
        inputs.s_axis_op_psn = psn.add(reference.wrapped(reference.base), ahead);
        let density = [0.0, 0.02, 0.5, 0.9][self.random.random_range(0..4)];
        for bit in 0..self.params.sack_bits as usize {
            inputs.s_axis_op_vector.set(bit, self.random.random_bool(density));
        }
        let near = [
            reference.mark,
            reference.last_sent,
            reference.probe.unwrap_or(self.now),
            self.random.next_u32(),
        ][self.random.random_range(0..4)];
        let timestamp = Serial::new(self.params.timestamp_bits);
        inputs.s_axis_op_echo = timestamp.add(near, self.random.random_range(0..3u32).wrapping_sub(1));
    }
}

/// Each event that the random run must have seen, by name.
fn count(seen: &mut BTreeMap<&'static str, u32>, out: &Outputs, base_before: u32, was_full: bool) {
    let op = out.m_axis_result_op;
    let acknowledges = op == op::ACKNOWLEDGE && out.m_axis_result_status == status::DONE;
    for (name, hit) in [
        (
            "full window",
            op == op::SEND && out.m_axis_result_status == status::FULL,
        ),
        (
            "nothing pending",
            op == op::RETRANSMIT && out.m_axis_result_status == status::NONE,
        ),
        ("stale", out.m_axis_result_status == status::STALE),
        (
            "invalid",
            op == op::ACKNOWLEDGE && out.m_axis_result_status == status::INVALID,
        ),
        ("reserved", op > op::TIMEOUT),
        ("holes", out.m_axis_result_holes > 1),
        (
            "lost again",
            op == op::ACKNOWLEDGE && out.m_axis_result_lost_again > 1,
        ),
        (
            "lost again by timeout",
            op == op::TIMEOUT && out.m_axis_result_lost_again > 0,
        ),
        ("tail", out.m_axis_result_tail),
        ("no tail", out.m_axis_result_holes > 0 && !out.m_axis_result_tail),
        ("probe answered", out.m_axis_result_probe_answered),
        (
            "from full to empty",
            acknowledges && was_full && out.m_axis_result_outstanding == 0,
        ),
        ("PSN wraps", acknowledges && out.m_axis_result_psn < base_before),
    ] {
        *seen.entry(name).or_default() += u32::from(hit);
    }
}

/// R2, R6: random operations on a few paths, with and without stalls, give what the reference gives, in order, and
/// nothing is lost; every event of the contract occurs.
#[test]
fn random_operations_are_as_in_the_reference() {
    for (profile, seed, clocks) in [("tiny", 1, 400_000), ("tiny", 2, 400_000), ("ecp5", 3, 400_000)] {
        let params = Params::load(profile).unwrap();
        let mut stimulus = Stimulus::new(&params, seed);
        let mut unit = SackTx::new(&params);
        let mut references: Vec<_> = (0..3).map(|_| Reference::new(&params)).collect();
        let mut expected = VecDeque::new();
        let mut seen = BTreeMap::new();
        for clock in 0..clocks {
            stimulus.clock();
            let stalls = clock / 1000 % 3 == 0;
            let out = unit.outputs();
            let path = stimulus.random.random_range(0..3u16);
            let reference = &mut references[usize::from(path)];
            let mut inputs = stimulus.operation(path, reference);
            inputs.s_axis_op_tvalid = stimulus.random.random_bool(0.8);
            inputs.m_axis_result_tready = !stalls || stimulus.random.random_bool(0.2);
            if out.m_axis_result_tvalid {
                let next = expected
                    .front()
                    .expect("nothing was accepted that could come out");
                let out = Outputs {
                    s_axis_op_tready: false,
                    ..out
                };
                assert_eq!(&out, next, "{profile}, clock {clock}");
                if inputs.m_axis_result_tready {
                    expected.pop_front();
                }
            } else {
                let zero = Outputs {
                    s_axis_op_tready: out.s_axis_op_tready,
                    ..Default::default()
                };
                assert_eq!(out, zero);
            }
            if out.s_axis_op_tready && inputs.s_axis_op_tvalid {
                let base = reference.wrapped(reference.base);
                let was_full = reference.packets.len() == params.sack_bits as usize;
                let result = reference.run(&inputs);
                count(&mut seen, &result, base, was_full);
                expected.push_back(result);
            }
            unit.clock(&inputs);
        }
        assert!(
            expected.len() <= LATENCY + 2,
            "{} results are missing",
            expected.len()
        );
        for (name, hits) in seen {
            assert!(hits > 2, "{profile}: '{name}' was hit {hits} times");
        }
    }
}

/// A unit that runs one operation after the other, each to its end.
struct Stepper {
    unit: SackTx,
    now: u32,
}

impl Stepper {
    fn new(params: &Params) -> Self {
        Self {
            unit: SackTx::new(params),
            now: 0,
        }
    }

    fn run(&mut self, mut inputs: Inputs) -> Outputs {
        inputs.m_axis_result_tready = true;
        inputs.s_axis_op_now = self.now;
        self.now += 1;
        loop {
            let out = self.unit.outputs();
            inputs.s_axis_op_tvalid |= out.s_axis_op_tready;
            self.unit.clock(&inputs);
            inputs.s_axis_op_tvalid = false;
            if out.s_axis_op_tready {
                break;
            }
        }
        loop {
            let out = self.unit.outputs();
            self.unit.clock(&inputs);
            if out.m_axis_result_tvalid {
                return out;
            }
        }
    }

    fn op(&mut self, op: u8) -> Outputs {
        self.run(Inputs {
            s_axis_op_op: op,
            ..Default::default()
        })
    }

    fn acknowledge(&mut self, psn: u32, received: &[usize], echo: u32) -> Outputs {
        let mut vector = Vector::ZERO;
        received.iter().for_each(|&bit| vector.set(bit, true));
        self.run(Inputs {
            s_axis_op_op: op::ACKNOWLEDGE,
            s_axis_op_psn: psn,
            s_axis_op_vector: vector,
            s_axis_op_echo: echo,
            ..Default::default()
        })
    }
}

/// R6: the life of packets lost once, lost again and lost at the end, step by step.
#[test]
fn a_packet_lost_twice_and_a_lost_tail() {
    let mut path = Stepper::new(&Params::load("tiny").unwrap());
    for psn in 0..4 {
        assert_eq!(path.op(op::SEND).m_axis_result_psn, psn); // at 0 to 3
    }
    // 0 and 2 arrived: 1 is a hole, 3 is still in flight. The mark (0) is reached and taken anew: 4.
    let out = path.acknowledge(1, &[2], 2);
    assert_eq!((out.m_axis_result_acknowledged, out.m_axis_result_holes), (2, 1));
    assert!(out.m_axis_result_pending && !out.m_axis_result_tail);
    assert_eq!(path.op(op::RETRANSMIT).m_axis_result_psn, 1); // at 5, newer
    assert_eq!(path.op(op::SEND).m_axis_result_psn, 4); // at 6
    // An echo from before the mark tells nothing of the retransmission; one from after it moves newer to older only.
    assert_eq!(path.acknowledge(1, &[2, 3], 3).m_axis_result_lost_again, 0);
    assert_eq!(path.acknowledge(1, &[2, 3], 4).m_axis_result_lost_again, 0); // mark 8
    assert_eq!(path.op(op::SEND).m_axis_result_psn, 5); // at 9
    assert_eq!(path.op(op::SEND).m_axis_result_psn, 6); // at 10
    let out = path.acknowledge(1, &[2, 3, 4, 5], 9); // mark 11
    assert_eq!((out.m_axis_result_lost_again, out.m_axis_result_holes), (1, 0));
    assert_eq!(path.op(op::RETRANSMIT).m_axis_result_psn, 1); // at 12
    assert_eq!(path.op(op::RETRANSMIT).m_axis_result_status, status::NONE);
    // The probe, sent last, is answered: the retransmission and the last packet are lost.
    path.op(op::PROBE); // at 14
    let out = path.acknowledge(1, &[2, 3, 4, 5], 14);
    assert!(out.m_axis_result_tail && out.m_axis_result_probe_answered);
    assert_eq!((out.m_axis_result_lost_again, out.m_axis_result_holes), (1, 1));
    assert_eq!(path.op(op::RETRANSMIT).m_axis_result_psn, 1);
    assert_eq!(path.op(op::RETRANSMIT).m_axis_result_psn, 6);
    let out = path.acknowledge(7, &[], 17);
    assert_eq!(
        (out.m_axis_result_acknowledged, out.m_axis_result_outstanding),
        (2, 0)
    );
    assert!(!out.m_axis_result_pending && !out.m_axis_result_tail);
}

/// R6: a path that rests, or is silent up to its time-out, for half the range of timestamps finds a retransmission lost again all the same.
#[test]
fn the_mark_does_not_age() {
    for silent in [false, true] {
        let params = Params::load("tiny").unwrap();
        let mut path = Stepper::new(&params);
        let half = 1 << (params.timestamp_bits - 1);
        if silent {
            path.op(op::SEND);
            path.now += half;
            assert_eq!(path.op(op::TIMEOUT).m_axis_result_holes, 1);
        } else {
            path.now += half;
            path.op(op::SEND);
        }
        // The first packet is lost every time, the later ones arrive. The acknowledgement is never of the last packet sent.
        let mut received = Vec::new();
        let mut lost_again = 0;
        for psn in [1, 3, 5, 7, 9] {
            path.op(op::RETRANSMIT);
            path.op(op::SEND);
            received.push(psn);
            let echo = path.now - 1;
            path.op(op::SEND);
            lost_again += path.acknowledge(0, &received, echo).m_axis_result_lost_again;
        }
        assert!(lost_again >= 2, "silent {silent}: {lost_again}");
    }
}

/// H3: the first clocks after reset, latency, and the distance kept on one path but not between paths.
#[test]
fn timing_is_as_the_contract_says() {
    let params = Params::load("tiny").unwrap();
    let mut unit = SackTx::new(&params);
    let send = |path| Inputs {
        s_axis_op_tvalid: true,
        s_axis_op_op: op::SEND,
        s_axis_op_path: path,
        m_axis_result_tready: true,
        ..Default::default()
    };
    // The second round has a reset in mid-run, after which all PSNs start anew.
    for _ in 0..2 {
        unit.clock(&Inputs { rst: true, ..send(0) });
        for _ in 0..params.total_paths() {
            assert_eq!(unit.outputs(), Outputs::default());
            unit.clock(&send(0));
        }
        // Paths 0, 1, 2, 2, 0: accepted in clocks 0, 1, 2, 3, 7 and so issued in 1, 2, 3, 7, 8.
        let (mut accepted, mut results) = (Vec::new(), Vec::new());
        let paths = [0, 1, 2, 2, 0];
        for clock in 0..8 + LATENCY + 1 {
            let out = unit.outputs();
            if out.m_axis_result_tvalid {
                results.push((clock, out.m_axis_result_path, out.m_axis_result_psn));
            }
            let inputs = paths.get(accepted.len()).map_or_else(
                || Inputs {
                    s_axis_op_tvalid: false,
                    ..send(0)
                },
                |&path| send(path),
            );
            if inputs.s_axis_op_tvalid && out.s_axis_op_tready {
                accepted.push(clock);
            }
            unit.clock(&inputs);
        }
        assert_eq!(accepted, [0, 1, 2, 3, 7]);
        let expected = [(1, 0, 0), (2, 1, 0), (3, 2, 0), (7, 2, 1), (8, 0, 1)];
        let expected = expected.map(|(issued, path, psn)| (issued + LATENCY, path, psn));
        assert_eq!(results, expected);
    }
}

/// A packet or probe on its way, or its acknowledgement back.
#[derive(Clone, Copy)]
struct Flight {
    arrives: u64,
    psn: Option<u32>,
    timestamp: u32,
}

struct Acknowledgement {
    arrives: u64,
    psn: u32,
    vector: Vector,
    echo: u32,
}

/// The receiving end: every PSN that arrived, unwrapped.
struct Receiver {
    params: Params,
    base: u64,
    beyond: BTreeSet<u64>,
    duplicates: u32,
}

impl Receiver {
    fn receive(&mut self, psn: u32) {
        let serial = Serial::new(self.params.psn_bits);
        let ahead = serial.distance((self.base & u64::from(serial.mask())) as u32, psn);
        let known = ahead >= serial.half() || !self.beyond.insert(self.base + u64::from(ahead));
        self.duplicates += u32::from(known);
        while self.beyond.remove(&self.base) {
            self.base += 1;
        }
    }

    fn acknowledgement(&self, arrives: u64, echo: u32) -> Acknowledgement {
        let mut vector = Vector::ZERO;
        for psn in &self.beyond {
            vector.set((psn % u64::from(self.params.sack_bits)) as usize, true);
        }
        Acknowledgement {
            arrives,
            psn: (self.base & u64::from(Serial::new(self.params.psn_bits).mask())) as u32,
            vector,
            echo,
        }
    }
}

/// Sends `total` packets through a path that keeps their order, delays them by `delay` clocks and loses packets and
/// acknowledgements at the rate `loss`. Gives the packets sent again and those received twice.
fn deliver(params: &Params, total: u64, delay: u64, loss: f64, seed: u64) -> (u32, u32) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut unit = SackTx::new(params);
    let mut receiver = Receiver {
        params: params.clone(),
        base: 0,
        beyond: BTreeSet::new(),
        duplicates: 0,
    };
    let (mut forth, mut back) = (VecDeque::<Flight>::new(), VecDeque::<Acknowledgement>::new());
    let mut issued = VecDeque::new();
    let (mut sent, mut sent_again, mut silent_since) = (0, 0, 0);
    let mut last = Outputs::default();
    for clock in 0u64.. {
        let now = Serial::new(params.timestamp_bits).add(clock as u32, 0);
        let out = unit.outputs();
        if out.m_axis_result_tvalid {
            let timestamp = issued.pop_front().unwrap();
            last = out;
            let done = out.m_axis_result_status == status::DONE;
            let is_probe = out.m_axis_result_op == op::PROBE;
            if done && (is_probe || matches!(out.m_axis_result_op, op::SEND | op::RETRANSMIT)) {
                sent += u64::from(out.m_axis_result_op == op::SEND);
                sent_again += u32::from(out.m_axis_result_op == op::RETRANSMIT);
                let psn = (!is_probe).then_some(out.m_axis_result_psn);
                if !random.random_bool(loss) {
                    forth.push_back(Flight {
                        arrives: clock + delay,
                        psn,
                        timestamp,
                    });
                }
                silent_since = clock;
            }
            if out.m_axis_result_op == op::ACKNOWLEDGE {
                assert_eq!(out.m_axis_result_status, status::DONE);
                if sent == total && out.m_axis_result_outstanding == 0 {
                    assert_eq!((receiver.base, receiver.beyond.len()), (total, 0));
                    return (sent_again, receiver.duplicates);
                }
            }
        }
        while forth.front().is_some_and(|flight| flight.arrives <= clock) {
            let flight = forth.pop_front().unwrap();
            flight.psn.into_iter().for_each(|psn| receiver.receive(psn));
            if !random.random_bool(loss) {
                back.push_back(receiver.acknowledgement(clock + delay, flight.timestamp));
            }
        }

        let mut inputs = Inputs {
            s_axis_op_now: now,
            m_axis_result_tready: true,
            ..Default::default()
        };
        let in_unit = issued.len() as u64;
        if let Some(next) = back.front().filter(|next| next.arrives <= clock) {
            inputs.s_axis_op_tvalid = true;
            inputs.s_axis_op_op = op::ACKNOWLEDGE;
            inputs.s_axis_op_psn = next.psn;
            inputs.s_axis_op_vector = next.vector;
            inputs.s_axis_op_echo = next.echo;
        } else if last.m_axis_result_pending {
            inputs.s_axis_op_tvalid = true;
            inputs.s_axis_op_op = op::RETRANSMIT;
        } else if sent + in_unit < total
            && u64::from(last.m_axis_result_outstanding) + in_unit < u64::from(params.sack_bits)
        {
            inputs.s_axis_op_tvalid = true;
            inputs.s_axis_op_op = op::SEND;
        } else if clock - silent_since > 2 * delay + 50 {
            inputs.s_axis_op_tvalid = in_unit == 0;
            inputs.s_axis_op_op = op::PROBE;
        }
        if inputs.s_axis_op_tvalid && out.s_axis_op_tready {
            issued.push_back(now);
            if inputs.s_axis_op_op == op::ACKNOWLEDGE {
                back.pop_front();
            }
        }
        unit.clock(&inputs);
        assert!(
            clock < 20 * total * delay,
            "stuck: {} of {total} arrived",
            receiver.base
        );
    }
    unreachable!()
}

/// R6: over an ordered path everything is delivered, whatever is lost, without a timer, and nothing is ever sent
/// again that was not lost.
#[test]
fn a_lossy_ordered_path_delivers_all_with_no_spurious_retransmission() {
    for (profile, total, delay) in [("tiny", 4000, 60), ("ecp5", 4000, 700)] {
        let params = Params::load(profile).unwrap();
        for (loss, least, most) in [(0.0, 0, 0), (0.01, 10, 200), (0.1, 300, 600), (0.5, 3400, 4600)] {
            let (sent_again, duplicates) = deliver(&params, total, delay, loss, 7);
            assert_eq!(duplicates, 0, "{profile} at loss {loss}");
            assert!(
                (least..=most).contains(&sent_again),
                "{profile} at loss {loss}: {sent_again} sent again"
            );
        }
    }
}

/// The loop's own check can fail: a receiver that is sent a packet twice says so.
#[test]
fn the_receiver_counts_what_arrives_twice() {
    let params = Params::load("tiny").unwrap();
    let mut receiver = Receiver {
        params,
        base: 254,
        beyond: BTreeSet::new(),
        duplicates: 0,
    };
    [254, 0, 255, 254, 0, 1]
        .into_iter()
        .for_each(|psn| receiver.receive(psn));
    assert_eq!((receiver.base, receiver.duplicates), (258, 2));
}
