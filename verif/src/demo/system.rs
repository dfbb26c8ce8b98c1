//! Sender, channel and receiver around the four units.
//!
//! Sender: `rate_limiter` says which connection may send, `path_table` on which path, `sack_tx` with which PSN. Receiver: `sack_rx`
//! gives the verdict and the acknowledgement. The channel keeps the order of each path and delays paths differently.

use super::{Job, Options, driver::Driver};
use crate::{
    lockstep::Mismatch,
    stimulus::{Random, random},
    wave::Recording,
};
use anyhow::{Result, bail};
use metaroce_model::{
    Params,
    port::{Vector, path_table, rate_limiter, sack_rx, sack_tx},
    unit::{path_table::PathTable, rate_limiter::RateLimiter, sack_rx::SackRx, sack_tx::SackTx},
};
use rand::RngExt;
use serde::Serialize;
use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    time::Instant,
};

/// Clocks a packet takes over the channel, beside some more for each further path.
const DELAY_CLOCKS: u64 = 400;
const DELAY_STEP_CLOCKS: u64 = 24;
/// A path that has packets outstanding and sent nothing for this long is probed, and after this many unanswered probes times out.
const PROBE_CLOCKS: u64 = 4 * DELAY_CLOCKS;
const PROBES_BEFORE_TIMEOUT: u32 = 6;
/// A connection's rate: 10 bytes a tick (10 Gb/s at 8 ns), as a 12-bit float.
const RATE: u16 = 12 << 8 | 160;
const BURST_PACKETS: u32 = 8;
/// Window of a path in packets.
const WINDOW_PACKETS: u16 = 24;
/// Clocks without any delivery after which something must be stuck.
const STUCK_CLOCKS: u64 = 2_000_000;

/// What happened.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Packets to be sent.
    pub packets: u64,
    /// Packets delivered, each exactly once.
    pub delivered: u64,
    /// Transmissions, the first of each packet and further ones.
    pub transmissions: u64,
    /// Transmissions that the channel lost.
    pub lost: u64,
    /// Acknowledgements that the channel lost.
    pub acknowledgements_lost: u64,
    /// Transmissions after the first.
    pub retransmissions: u64,
    /// Retransmissions of packets that had arrived or were still on their way: must be 0.
    pub spurious: u64,
    /// Packets that arrived again.
    pub duplicates: u64,
    /// Probes sent.
    pub probes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Clocks of each unit.
    pub cycles: u64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Model and RTL gave the same outputs in every clock.
    pub equal: bool,
    /// The unit and the first difference.
    pub mismatch: Option<(String, Mismatch)>,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Flying {
    arrival: u64,
    sent: u32,
    lost: bool,
    /// PSN; a probe has none.
    psn: Option<u32>,
}

/// An acknowledgement on its way back.
#[derive(Clone, Copy, Debug)]
struct Acknowledgement {
    arrival: u64,
    base: u32,
    vector: Vector,
    echo: u32,
}

/// Both ends' view of one path.
#[derive(Default)]
struct Path {
    forward: VecDeque<Flying>,
    back: VecDeque<Acknowledgement>,
    /// Timestamps of packets whose verdict `sack_rx` has not given yet, in order.
    echoes: VecDeque<u32>,
    /// Timestamps of acknowledgements whose result `sack_tx` has not given yet, in order.
    samples: VecDeque<u32>,
    /// What the receiver said last: a probe is answered with it.
    last: (u32, Vector),
    /// Job of each outstanding PSN.
    jobs: HashMap<u32, usize>,
    /// PSNs that arrived and whose job was delivered.
    arrived: BTreeSet<u32>,
    outstanding: u16,
    last_sent: u64,
    unanswered: u32,
}

/// Where a connection stands in getting its next packet out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Its next packet may be started when it is eligible.
    Free,
    /// A path is being chosen or a PSN allocated.
    Busy,
    /// No path had its window open: it tries again when something is acknowledged.
    Blocked,
}

struct Connection {
    waiting: VecDeque<usize>,
    eligible: bool,
    turn: Turn,
}

/// The four units and what is around them.
pub struct System {
    params: Params,
    seed: u64,
    loss_per_10000: u32,
    random: Random,
    path_table: Driver<PathTable>,
    sack_tx: Driver<SackTx>,
    sack_rx: Driver<SackRx>,
    rate_limiter: Driver<RateLimiter>,
    now: u32,
    paths: Vec<Path>,
    connections: Vec<Connection>,
    /// Connections whose SELECT, or whose SEND of a new packet, is in a unit, in order.
    selecting: VecDeque<u16>,
    sending: VecDeque<u16>,
    /// Whether each CHARGE in `rate_limiter`, in order, is for a packet's first transmission.
    charging: VecDeque<bool>,
    /// Timestamps of the transmissions whose PSN `sack_tx` has not given yet, in order.
    stamps: VecDeque<u32>,
    jobs: Vec<Job>,
    delivered: Vec<bool>,
    outcome: Outcome,
}

impl System {
    /// All units as after power-up, the jobs waiting.
    pub fn new(params: &Params, options: &Options, jobs: Vec<Job>) -> Result<Self> {
        let mut connections: Vec<Connection> = (0..params.connections)
            .map(|_| Connection {
                waiting: VecDeque::new(),
                eligible: false,
                turn: Turn::Free,
            })
            .collect();
        for (index, job) in jobs.iter().enumerate() {
            connections[usize::from(job.connection)].waiting.push_back(index);
        }
        let (seed, clocks) = (options.seed, options.vcd_clocks);
        Ok(Self {
            path_table: Driver::new(params, seed, clocks)?,
            sack_tx: Driver::new(params, seed, clocks)?,
            sack_rx: Driver::new(params, seed, clocks)?,
            rate_limiter: Driver::new(params, seed, clocks)?,
            params: params.clone(),
            seed,
            loss_per_10000: options.loss_per_10000,
            random: random(seed),
            // Timestamps wrap during the run.
            now: (u32::MAX >> (32 - params.timestamp_bits)) - 5000,
            paths: (0..params.total_paths()).map(|_| Path::default()).collect(),
            connections,
            selecting: VecDeque::new(),
            sending: VecDeque::new(),
            charging: VecDeque::new(),
            stamps: VecDeque::new(),
            delivered: vec![false; jobs.len()],
            outcome: Outcome {
                packets: jobs.len() as u64,
                equal: true,
                ..Outcome::default()
            },
            jobs,
        })
    }

    /// Runs until everything is delivered and acknowledged, or model and RTL differ.
    pub fn run(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<Outcome> {
        let start = Instant::now();
        self.configure();
        let (mut last_delivered, mut last_progress) = (0, 0);
        while !self.done() {
            if let Err(mismatch) = self.clock()? {
                self.outcome.equal = false;
                self.outcome.mismatch = Some(mismatch);
                break;
            }
            if self.outcome.delivered > last_delivered {
                (last_delivered, last_progress) = (self.outcome.delivered, self.outcome.cycles);
            }
            if self.outcome.cycles - last_progress > STUCK_CLOCKS {
                bail!(
                    "nothing was delivered for {STUCK_CLOCKS} clocks: {} of {} packets are; this is an error in the program",
                    self.outcome.delivered,
                    self.outcome.packets
                );
            }
            if self.outcome.cycles.is_multiple_of(4096) {
                progress(self.outcome.delivered, self.outcome.packets);
            }
        }
        self.outcome.seconds = start.elapsed().as_secs_f64();
        Ok(self.outcome.clone())
    }

    /// The first clocks of all four units.
    pub fn recordings(&self, _clocks: usize) -> Result<Vec<Recording>> {
        Ok(vec![
            self.rate_limiter.recording(&self.params, self.seed)?,
            self.path_table.recording(&self.params, self.seed)?,
            self.sack_tx.recording(&self.params, self.seed)?,
            self.sack_rx.recording(&self.params, self.seed)?,
        ])
    }

    fn mask(&self) -> u32 {
        u32::MAX >> (32 - self.params.timestamp_bits)
    }

    fn done(&self) -> bool {
        self.outcome.delivered == self.outcome.packets
            && self
                .paths
                .iter()
                .all(|path| path.outstanding == 0 && path.forward.is_empty() && path.back.is_empty())
            && self.selecting.is_empty()
            && self.sending.is_empty()
    }

    /// PSNs start just below their wrap, each path at another one.
    fn configure(&mut self) {
        let psn_mask = u32::MAX >> (32 - self.params.psn_bits);
        for path in 0..self.params.total_paths() as u16 {
            let first = psn_mask.wrapping_sub(u32::from(path) * 7) & psn_mask;
            self.paths[usize::from(path)].last.0 = first;
            self.sack_rx.push(sack_rx::Inputs {
                s_axis_rx_tvalid: true,
                s_axis_rx_op: sack_rx::op::INIT,
                s_axis_rx_path: path,
                s_axis_rx_psn: first,
                ..Default::default()
            });
            self.sack_tx.push(sack_tx::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: sack_tx::op::INIT,
                s_axis_op_path: path,
                s_axis_op_psn: first,
                s_axis_op_now: self.now,
                ..Default::default()
            });
            let largest = (1u16 << self.params.window_bits) - 1;
            self.path_table.push(path_table::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: path_table::op::CONFIGURE,
                s_axis_op_path: path,
                s_axis_op_clear: true,
                s_axis_op_plane: (u32::from(path) % self.params.planes) as u8,
                s_axis_op_source_port: 49152 + path,
                s_axis_op_state: path_table::state::UP,
                s_axis_op_window: WINDOW_PACKETS.min(largest) << path_table::WINDOW_FRACTION_BITS,
                s_axis_op_now: self.now,
                ..Default::default()
            });
        }
        for connection in 0..self.params.connections as u16 {
            self.rate_limiter.push(rate_limiter::Inputs {
                s_axis_op_tvalid: true,
                s_axis_op_op: rate_limiter::op::CONFIGURE,
                s_axis_op_connection: connection,
                s_axis_op_rate: RATE,
                s_axis_op_burst: (BURST_PACKETS * self.params.max_packet_bytes)
                    .min((1 << self.params.burst_bits) - 1),
                ..Default::default()
            });
        }
    }

    /// One clock of everything.
    fn clock(&mut self) -> Result<Result<(), (String, Mismatch)>> {
        let rst = self.outcome.cycles < 3;
        let now = self.now;
        macro_rules! step {
            ($unit:ident, $handle:ident, $free:expr) => {{
                // Results are not always taken at once.
                let ready = self.random.random_range(0..8) > 0;
                match self.$unit.clock(rst, ready, $free) {
                    Ok(Some(outputs)) => self.$handle(&outputs),
                    Ok(None) => {}
                    Err(difference) => {
                        return Ok(Err((
                            stringify!($unit).into(),
                            difference.describe(&self.params),
                        )));
                    }
                }
            }};
        }
        if !rst {
            self.channel();
            self.start();
        }
        step!(rate_limiter, rate_event, |inputs: &mut rate_limiter::Inputs| {
            inputs.now = now
        });
        step!(path_table, path_result, |_| ());
        // An operation bears the time of the clock that accepts it: of two on one path the later has the later time.
        step!(sack_tx, send_result, |inputs: &mut sack_tx::Inputs| inputs
            .s_axis_op_now =
            now);
        if let Some(accepted) = self.sack_tx.accepted()
            && matches!(accepted.s_axis_op_op, sack_tx::op::SEND | sack_tx::op::RETRANSMIT)
        {
            self.stamps.push_back(now);
        }
        step!(sack_rx, receive_result, |_| ());
        self.outcome.cycles += 1;
        self.now = (self.now + 1) & self.mask();
        Ok(Ok(()))
    }

    /// What arrives in this clock, and which path is to be probed (one path a clock, in turn).
    fn channel(&mut self) {
        let clock = self.outcome.cycles;
        for index in 0..self.paths.len() {
            while self.paths[index]
                .forward
                .front()
                .is_some_and(|p| p.arrival <= clock)
            {
                let path = &mut self.paths[index];
                let Some(packet) = path.forward.pop_front() else {
                    break;
                };
                // A probe is answered behind the packets before it: not before their verdicts are out.
                if packet.psn.is_none() && !path.echoes.is_empty() {
                    path.forward.push_front(packet);
                    break;
                }
                if !packet.lost {
                    self.arrive(index, packet);
                }
            }
            while self.paths[index].back.front().is_some_and(|a| a.arrival <= clock) {
                let Some(ack) = self.paths[index].back.pop_front() else {
                    break;
                };
                self.paths[index].samples.push_back(ack.echo);
                self.sack_tx.push(sack_tx::Inputs {
                    s_axis_op_tvalid: true,
                    s_axis_op_op: sack_tx::op::ACKNOWLEDGE,
                    s_axis_op_path: index as u16,
                    s_axis_op_psn: ack.base,
                    s_axis_op_vector: ack.vector,
                    s_axis_op_echo: ack.echo,
                    s_axis_op_now: self.now,
                    ..Default::default()
                });
            }
        }
        let index = clock as usize % self.paths.len();
        let quiet = clock - self.paths[index].last_sent;
        let wait = PROBE_CLOCKS << self.paths[index].unanswered.min(PROBES_BEFORE_TIMEOUT);
        if self.paths[index].outstanding > 0 && quiet > wait {
            self.probe(index);
        }
    }

    fn probe(&mut self, index: usize) {
        self.paths[index].unanswered += 1;
        self.paths[index].last_sent = self.outcome.cycles;
        if self.paths[index].unanswered > PROBES_BEFORE_TIMEOUT {
            self.outcome.timeouts += 1;
            self.paths[index].unanswered = 0;
            self.tx_operation(sack_tx::op::TIMEOUT, index);
            self.path_operation(path_table::op::TIMEOUT, index);
            return;
        }
        self.outcome.probes += 1;
        self.tx_operation(sack_tx::op::PROBE, index);
        self.transmit(index, None, self.now);
    }

    fn tx_operation(&mut self, op: u8, index: usize) {
        self.sack_tx.push(sack_tx::Inputs {
            s_axis_op_tvalid: true,
            s_axis_op_op: op,
            s_axis_op_path: index as u16,
            s_axis_op_now: self.now,
            ..Default::default()
        });
    }

    fn path_operation(&mut self, op: u8, index: usize) {
        self.path_table.push(path_table::Inputs {
            s_axis_op_tvalid: true,
            s_axis_op_op: op,
            s_axis_op_path: index as u16,
            s_axis_op_now: self.now,
            ..Default::default()
        });
    }

    /// A packet or a probe (`psn` is `None`) enters the channel; `sent` is its transmit timestamp.
    fn transmit(&mut self, index: usize, psn: Option<u32>, sent: u32) {
        let lost = self.random.random_range(0..10_000) < self.loss_per_10000;
        let delay = DELAY_CLOCKS + index as u64 % u64::from(self.params.paths) * DELAY_STEP_CLOCKS;
        let path = &mut self.paths[index];
        path.forward.push_back(Flying {
            arrival: self.outcome.cycles + delay,
            sent,
            lost,
            psn,
        });
        path.last_sent = self.outcome.cycles;
        if psn.is_some() {
            self.outcome.transmissions += 1;
            self.outcome.lost += u64::from(lost);
        }
    }

    fn arrive(&mut self, index: usize, packet: Flying) {
        match packet.psn {
            Some(psn) => {
                self.paths[index].echoes.push_back(packet.sent);
                self.sack_rx.push(sack_rx::Inputs {
                    s_axis_rx_tvalid: true,
                    s_axis_rx_op: sack_rx::op::PACKET,
                    s_axis_rx_path: index as u16,
                    s_axis_rx_psn: psn,
                    ..Default::default()
                });
            }
            None => {
                let (base, vector) = self.paths[index].last;
                self.acknowledge(index, base, vector, packet.sent);
            }
        }
    }

    fn acknowledge(&mut self, index: usize, base: u32, vector: Vector, echo: u32) {
        if self.random.random_range(0..10_000) < self.loss_per_10000 {
            self.outcome.acknowledgements_lost += 1;
            return;
        }
        let delay = DELAY_CLOCKS + index as u64 % u64::from(self.params.paths) * DELAY_STEP_CLOCKS;
        let arrival = self.outcome.cycles + delay;
        self.paths[index].back.push_back(Acknowledgement {
            arrival,
            base,
            vector,
            echo,
        });
    }

    /// Starts the next packet of every connection that may send.
    fn start(&mut self) {
        for connection in 0..self.connections.len() {
            let c = &mut self.connections[connection];
            if c.eligible && c.turn == Turn::Free && !c.waiting.is_empty() {
                c.turn = Turn::Busy;
                self.selecting.push_back(connection as u16);
                self.path_operation(path_table::op::SELECT, connection * self.params.paths as usize);
            }
        }
    }

    fn rate_event(&mut self, event: &rate_limiter::Outputs) {
        let connection = &mut self.connections[usize::from(event.m_axis_event_connection)];
        connection.eligible = event.m_axis_event_eligible;
        if event.m_axis_event_op == rate_limiter::op::CHARGE && self.charging.pop_front() == Some(true) {
            connection.turn = Turn::Free;
        }
    }

    fn path_result(&mut self, result: &path_table::Outputs) {
        if result.m_axis_result_op != path_table::op::SELECT {
            return;
        }
        let Some(connection) = self.selecting.pop_front() else {
            return;
        };
        if result.m_axis_result_found {
            self.sending.push_back(connection);
            self.tx_operation(sack_tx::op::SEND, usize::from(result.m_axis_result_path));
        } else {
            self.connections[usize::from(connection)].turn = Turn::Blocked;
        }
    }

    fn send_result(&mut self, result: &sack_tx::Outputs) {
        let index = usize::from(result.m_axis_result_path);
        let done = result.m_axis_result_status == sack_tx::status::DONE;
        self.paths[index].outstanding = result.m_axis_result_outstanding;
        let stamp = match result.m_axis_result_op {
            sack_tx::op::SEND | sack_tx::op::RETRANSMIT => self.stamps.pop_front().unwrap_or_default(),
            _ => self.now,
        };
        match result.m_axis_result_op {
            sack_tx::op::SEND => {
                let Some(connection) = self.sending.pop_front() else {
                    return;
                };
                let c = &mut self.connections[usize::from(connection)];
                match (done, c.waiting.pop_front()) {
                    (true, Some(job)) => {
                        self.paths[index].jobs.insert(result.m_axis_result_psn, job);
                        self.sent(index, result.m_axis_result_psn, job, stamp, true);
                    }
                    (_, job) => {
                        c.waiting.extend(job);
                        c.waiting.rotate_right(usize::from(job.is_some()));
                        c.turn = Turn::Blocked;
                    }
                }
            }
            sack_tx::op::RETRANSMIT if done => self.retransmit(index, result.m_axis_result_psn, stamp),
            sack_tx::op::ACKNOWLEDGE => self.acknowledged(index, result),
            sack_tx::op::TIMEOUT => self.take_pending(index, result),
            _ => {}
        }
    }

    fn sent(&mut self, index: usize, psn: u32, job: usize, sent: u32, first: bool) {
        self.charging.push_back(first);
        self.transmit(index, Some(psn), sent);
        self.path_operation(path_table::op::SEND, index);
        let Job { connection, bytes } = self.jobs[job];
        self.rate_limiter.push(rate_limiter::Inputs {
            s_axis_op_tvalid: true,
            s_axis_op_op: rate_limiter::op::CHARGE,
            s_axis_op_connection: connection,
            s_axis_op_bytes: bytes,
            ..Default::default()
        });
    }

    fn retransmit(&mut self, index: usize, psn: u32, stamp: u32) {
        let path = &self.paths[index];
        let on_its_way = path.forward.iter().any(|p| p.psn == Some(psn) && !p.lost);
        self.outcome.retransmissions += 1;
        self.outcome.spurious += u64::from(on_its_way || path.arrived.contains(&psn));
        if let Some(&job) = path.jobs.get(&psn) {
            self.sent(index, psn, job, stamp, false);
        }
    }

    /// Asks for every packet that was found lost.
    fn take_pending(&mut self, index: usize, result: &sack_tx::Outputs) {
        for _ in 0..result.m_axis_result_holes + result.m_axis_result_lost_again {
            self.tx_operation(sack_tx::op::RETRANSMIT, index);
        }
    }

    fn acknowledged(&mut self, index: usize, result: &sack_tx::Outputs) {
        let echo = self.paths[index].samples.pop_front().unwrap_or_default();
        if result.m_axis_result_status != sack_tx::status::DONE {
            return;
        }
        self.take_pending(index, result);
        let path = &mut self.paths[index];
        if result.m_axis_result_acknowledged > 0 || result.m_axis_result_probe_answered {
            path.unanswered = 0;
        }
        // What is behind the base cannot be asked for again.
        let base = result.m_axis_result_psn;
        let bits = self.params.psn_bits;
        let before = |psn: u32| psn.wrapping_sub(base) & (u32::MAX >> (32 - bits)) >= 1 << (bits - 1);
        path.jobs.retain(|psn, _| !before(*psn));
        path.arrived.retain(|psn| !before(*psn));
        let largest = u32::MAX >> (32 - self.params.rtt_bits);
        let rtt = self.now.wrapping_sub(echo) & self.mask();
        self.path_table.push(path_table::Inputs {
            s_axis_op_tvalid: true,
            s_axis_op_op: path_table::op::ACKNOWLEDGE,
            s_axis_op_path: index as u16,
            s_axis_op_acknowledged: result.m_axis_result_acknowledged,
            s_axis_op_lost: result.m_axis_result_holes + result.m_axis_result_lost_again,
            s_axis_op_rtt_valid: true,
            s_axis_op_rtt: rtt.min(largest),
            s_axis_op_now: self.now,
            ..Default::default()
        });
        let connection = &mut self.connections[index / self.params.paths as usize];
        if connection.turn == Turn::Blocked {
            connection.turn = Turn::Free;
        }
    }

    fn receive_result(&mut self, result: &sack_rx::Outputs) {
        if result.m_axis_rx_op != sack_rx::op::PACKET {
            return;
        }
        let index = usize::from(result.m_axis_rx_path);
        let path = &mut self.paths[index];
        let echo = path.echoes.pop_front().unwrap_or_default();
        path.last = (result.m_axis_rx_base, result.m_axis_rx_vector);
        match result.m_axis_rx_verdict {
            sack_rx::verdict::NEW => {
                path.arrived.insert(result.m_axis_rx_psn);
                if let Some(&job) = path.jobs.get(&result.m_axis_rx_psn) {
                    self.outcome.delivered += u64::from(!self.delivered[job]);
                    self.delivered[job] = true;
                }
            }
            sack_rx::verdict::DUPLICATE => self.outcome.duplicates += 1,
            _ => return,
        }
        self.acknowledge(index, result.m_axis_rx_base, result.m_axis_rx_vector, echo);
    }
}
