//! The fabric between two NICs, in one direction: every path is a queue of its own that keeps its order; frames are lost, damaged, marked, doubled and delayed.

use crate::{
    Params,
    port::{Beat, nic},
    wire::{
        Opcode,
        layout::{get, set},
        table::{BASE, CE, DATA, ETHERNET, IPV4, UDP},
    },
};
use rand::{Rng, RngExt};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// What a link does to frames. Probabilities are in parts of 10,000.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Lost.
    pub loss: u32,
    /// One bit flipped.
    pub damage: u32,
    /// Marked with Congestion Experienced.
    pub mark: u32,
    /// Delivered twice.
    pub double: u32,
    /// Clocks that every frame takes.
    pub delay: u64,
    /// Clocks that each further path takes more.
    pub skew: u64,
    /// Clocks that a frame takes more, at random and up to this.
    pub jitter: u64,
}

impl Faults {
    /// A fabric that does nothing but delay, each path differently.
    pub const NONE: Self = Self {
        loss: 0,
        damage: 0,
        mark: 0,
        double: 0,
        delay: 200,
        skew: 37,
        jitter: 0,
    };

    /// [`Faults::NONE`] that loses so many of 10,000.
    pub const fn loss(loss: u32) -> Self {
        Self { loss, ..Self::NONE }
    }
}

/// A frame as it is on the wire.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its bytes, without preamble and check sequence.
    pub bytes: Vec<u8>,
    /// The plane.
    pub plane: u8,
    /// The receiving port found it damaged.
    pub bad: bool,
    /// The clock in which its last beat left.
    pub clock: u64,
}

/// What a link has seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Frames.
    pub frames: u64,
    /// Packets of data.
    pub data: u64,
    /// Of those, ones sent before with the same PSN.
    pub again: u64,
    /// Of those, ones of which an earlier copy had arrived or was on its way.
    pub spurious: u64,
    /// Acknowledgements.
    pub acknowledgements: u64,
    /// Refusals.
    pub refusals: u64,
    /// Probes.
    pub probes: u64,
    /// Frames lost.
    pub lost: u64,
    /// Frames damaged.
    pub damaged: u64,
}

/// Stream, message and offset of a packet.
type Part = (u16, u32, u32);

/// One direction.
#[derive(Debug)]
pub struct Link {
    lanes: usize,
    faults: Faults,
    /// The frame that is leaving.
    leaving: Vec<u8>,
    /// Frames on their way, by plane and UDP source port: clock of arrival and frame.
    paths: BTreeMap<(u8, u16), VecDeque<(u64, Frame)>>,
    /// The frame that is arriving, and its beat.
    arriving: Option<(Frame, usize)>,
    /// Of a connection, path and PSN: what was sent with it, and whether a copy has not been lost.
    sent: HashMap<(u32, u8, u32), (Part, bool)>,
    /// What went by.
    pub seen: Seen,
    /// Frames as they left, if they are kept.
    pub kept: Option<Vec<Frame>>,
}

impl Link {
    /// An empty link.
    pub fn new(params: &Params, faults: Faults) -> Self {
        Self {
            lanes: params.lanes() as usize,
            faults,
            leaving: Vec::new(),
            paths: BTreeMap::new(),
            arriving: None,
            sent: HashMap::new(),
            seen: Seen::default(),
            kept: None,
        }
    }

    /// Other faults from now on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Nothing is on its way.
    pub fn is_idle(&self) -> bool {
        self.leaving.is_empty() && self.arriving.is_none() && self.paths.values().all(VecDeque::is_empty)
    }

    /// Forgets all that is on its way: an end was reset.
    pub fn clear(&mut self) {
        self.leaving.clear();
        self.paths.clear();
        self.arriving = None;
        self.sent.clear();
    }

    /// A beat that the sending NIC offered was taken.
    pub fn take(&mut self, outputs: &nic::Outputs, clock: u64, random: &mut impl Rng) {
        let bytes = bytes_of(&outputs.m_axis_tx_tdata);
        let kept = outputs.m_axis_tx_tkeep.trailing_ones() as usize;
        self.leaving.extend(&bytes[..kept.min(self.lanes)]);
        if outputs.m_axis_tx_tlast {
            let frame = Frame {
                bytes: std::mem::take(&mut self.leaving),
                plane: outputs.m_axis_tx_plane,
                bad: false,
                clock,
            };
            self.send(frame, random);
        }
    }

    /// A frame enters the fabric.
    pub fn send(&mut self, mut frame: Frame, random: &mut impl Rng) {
        if let Some(kept) = &mut self.kept {
            kept.push(frame.clone());
        }
        let mut hit = |of_10000: u32| random.random_range(0..10_000) < of_10000;
        let lost = hit(self.faults.loss);
        let damaged = hit(self.faults.damage);
        let marked = hit(self.faults.mark);
        let copies = 1 + usize::from(hit(self.faults.double));
        self.count(&frame, lost || damaged);
        self.seen.lost += u64::from(lost);
        if lost {
            return;
        }
        if marked {
            mark(&mut frame.bytes);
        }
        if damaged {
            self.seen.damaged += 1;
            let bit = random.random_range(0..frame.bytes.len() * 8);
            frame.bytes[bit / 8] ^= 1 << (bit % 8);
            // Damage on the last hop is seen by the port's own checksum; damage inside a switch is not.
            frame.bad = random.random();
        }
        let key = (
            frame.plane,
            get(&frame.bytes, Opcode::Probe.position(&UDP, "source_port")) as u16,
        );
        let spread = u64::from(key.1 % 16) + 3 * u64::from(key.0);
        let jitter = random.random_range(0..=self.faults.jitter);
        let path = self.paths.entry(key).or_default();
        for _ in 0..copies {
            let earliest = path.back().map_or(0, |(arrival, _)| *arrival);
            let arrival = frame.clock + self.faults.delay + self.faults.skew * spread + jitter;
            path.push_back((arrival.max(earliest), frame.clone()));
        }
    }

    /// A stranger's frame, which arrives as it is, on a path of its own.
    pub fn inject(&mut self, frame: Frame) {
        let arrival = frame.clock + self.faults.delay;
        self.paths
            .entry((frame.plane, 0))
            .or_default()
            .push_back((arrival, frame));
    }

    /// Keeps account of a frame; `gone`: it will not arrive as it is.
    fn count(&mut self, frame: &Frame, gone: bool) {
        let field = |header, name| {
            let position = Opcode::Write.position(header, name);
            if position.end_byte() <= frame.bytes.len() {
                get(&frame.bytes, position) as u32
            } else {
                0
            }
        };
        self.seen.frames += 1;
        match Opcode::from_value(field(&BASE, "opcode") as u8) {
            Some(Opcode::Ack) => self.seen.acknowledgements += 1,
            Some(Opcode::Nak) => self.seen.refusals += 1,
            Some(Opcode::Probe) => self.seen.probes += 1,
            Some(_) => {
                self.seen.data += 1;
                let key = (
                    field(&BASE, "connection"),
                    field(&BASE, "path") as u8,
                    field(&BASE, "psn"),
                );
                let part = (
                    field(&DATA, "stream") as u16,
                    field(&DATA, "message"),
                    field(&DATA, "offset"),
                );
                let before = self.sent.insert(key, (part, !gone));
                if let Some((_, arrives)) = before.filter(|(earlier, _)| *earlier == part) {
                    self.seen.again += 1;
                    self.seen.spurious += u64::from(arrives);
                    self.sent.insert(key, (part, arrives || !gone));
                }
            }
            None => {}
        }
    }

    /// The beat that is offered to the receiving NIC in this clock; [`Link::taken`] says that it was taken.
    pub fn offer(&mut self, clock: u64, inputs: &mut nic::Inputs) {
        if self.arriving.is_none() {
            let first = self
                .paths
                .values_mut()
                .filter(|path| path.front().is_some_and(|(arrival, _)| *arrival <= clock))
                .min_by_key(|path| path[0].0);
            self.arriving = first.and_then(VecDeque::pop_front).map(|(_, frame)| (frame, 0));
        }
        if let Some((frame, beat)) = &self.arriving {
            let rest = &frame.bytes[beat * self.lanes..];
            let here = rest.len().min(self.lanes);
            inputs.s_axis_rx_tvalid = true;
            inputs.s_axis_rx_tdata = beat_of(&rest[..here]);
            inputs.s_axis_rx_tkeep = u64::MAX >> (64 - here);
            inputs.s_axis_rx_tlast = here == rest.len();
            inputs.s_axis_rx_plane = frame.plane;
            inputs.s_axis_rx_bad = frame.bad && here == rest.len();
        }
    }

    /// The beat offered was taken.
    pub fn taken(&mut self) {
        if let Some((frame, beat)) = &mut self.arriving {
            *beat += 1;
            if *beat * self.lanes >= frame.bytes.len() {
                self.arriving = None;
            }
        }
    }
}

/// Marks a frame with Congestion Experienced, as a switch does: the header's checksum is made anew.
fn mark(frame: &mut [u8]) {
    set(frame, Opcode::Probe.position(&IPV4, "ecn"), u64::from(CE));
    if let Ok((header, _)) = etherparse::Ipv4Header::from_slice(&frame[ETHERNET.bytes()..]) {
        let checksum = header.calc_header_checksum();
        set(
            frame,
            Opcode::Probe.position(&IPV4, "header_checksum"),
            checksum.into(),
        );
    }
}

/// A beat's bytes, lane 0 first.
pub fn bytes_of(beat: &Beat) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (eight, limb) in bytes.chunks_exact_mut(8).zip(beat.data) {
        eight.copy_from_slice(&limb.to_le_bytes());
    }
    bytes
}

/// A beat of these bytes, lane 0 first, the other lanes zero.
pub fn beat_of(bytes: &[u8]) -> Beat {
    let mut lanes = [0; 64];
    lanes[..bytes.len()].copy_from_slice(bytes);
    let mut beat = Beat::ZERO;
    for (limb, eight) in beat.data.iter_mut().zip(lanes.chunks_exact(8)) {
        *limb = u64::from_le_bytes(std::array::from_fn(|at| eight[at]));
    }
    beat
}
