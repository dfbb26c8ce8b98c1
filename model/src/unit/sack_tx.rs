//! Model of `sack_tx`. Contract: [`crate::port::sack_tx`].

use super::Unit;
use crate::{
    Params,
    pipeline::OperationPipeline,
    port::{
        Vector,
        sack_tx::{Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op, status},
    },
    serial::Serial,
};
use std::ops::{BitAnd, BitOr, Not};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct SackTx {
    widths: Widths,
    paths: Vec<Path>,
    operations: OperationPipeline<Operation, Event, SAME_PATH_CLOCKS, { LATENCY - 1 }>,
}

impl Unit for SackTx {
    const NAME: &'static str = "sack_tx";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            widths: Widths {
                psn: Serial::new(params.psn_bits),
                timestamp: Serial::new(params.timestamp_bits),
                sack: params.sack_bits,
            },
            paths: vec![Path::default(); params.total_paths() as usize],
            operations: OperationPipeline::new(params.total_paths()),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let s_axis_op_tready = self.operations.ready();
        let Some(event) = self.operations.output() else {
            return Outputs {
                s_axis_op_tready,
                ..Default::default()
            };
        };
        Outputs {
            s_axis_op_tready,
            m_axis_result_tvalid: true,
            m_axis_result_op: event.op,
            m_axis_result_path: event.path,
            m_axis_result_status: event.result.status,
            m_axis_result_psn: event.result.psn,
            m_axis_result_acknowledged: event.result.acknowledged,
            m_axis_result_holes: event.result.holes,
            m_axis_result_lost_again: event.result.lost_again,
            m_axis_result_tail: event.result.tail,
            m_axis_result_probe_answered: event.result.probe_answered,
            m_axis_result_pending: event.pending,
            m_axis_result_outstanding: event.outstanding,
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            if self.operations.reset() {
                self.paths.fill(Path::default());
            }
            return;
        }
        let operation = self.operations.issue();
        let event = operation.map(|operation| self.execute(&operation));
        let offered = inputs.s_axis_op_tvalid.then(|| {
            let operation = Operation {
                op: inputs.s_axis_op_op,
                path: inputs.s_axis_op_path,
                psn: inputs.s_axis_op_psn,
                vector: inputs.s_axis_op_vector,
                echo: inputs.s_axis_op_echo,
                now: inputs.s_axis_op_now,
            };
            (Some(operation.path), operation)
        });
        self.operations.clock(event, offered, inputs.m_axis_result_tready);
    }

    #[inline]
    fn rests(&self) -> bool {
        self.operations.rests()
    }
}

impl SackTx {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.paths.iter().all(|path| path.base == path.next)
    }
}

impl SackTx {
    #[inline]
    fn execute(&mut self, operation: &Operation) -> Event {
        let path = &mut self.paths[usize::from(operation.path)];
        let widths = &self.widths;
        let now = operation.now;
        let result = match operation.op {
            op::INIT => path.init(operation.psn, now),
            op::SEND => path.send(now, widths),
            op::ACKNOWLEDGE => path.acknowledge(operation, widths),
            op::RETRANSMIT => path.retransmit(now, widths),
            op::PROBE => path.probe(now),
            op::TIMEOUT => path.timeout(now, widths),
            _ => path.ended(status::INVALID),
        };
        Event {
            op: operation.op,
            path: operation.path,
            result,
            pending: !path.pending.is_empty(),
            outstanding: path.outstanding(widths) as u16,
        }
    }
}

/// An accepted operation.
#[derive(Clone, Copy, Debug)]
struct Operation {
    op: u8,
    path: u16,
    psn: u32,
    vector: Vector,
    echo: u32,
    now: u32,
}

/// What comes out for it.
#[derive(Clone, Copy, Debug)]
struct Event {
    op: u8,
    path: u16,
    result: Result,
    pending: bool,
    outstanding: u16,
}

/// The part of an event that depends on the operation.
#[derive(Clone, Copy, Debug, Default)]
struct Result {
    status: u8,
    psn: u32,
    acknowledged: u16,
    holes: u16,
    lost_again: u16,
    tail: bool,
    probe_answered: bool,
}

/// The widths on which a path's arithmetic depends.
#[derive(Clone, Debug)]
struct Widths {
    psn: Serial,
    timestamp: Serial,
    /// Bits of the vectors, a power of two.
    sack: u32,
}

/// The scoreboard of one path. The four sets lie within `[base, next)`, and no packet is in two of them.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    base: u32,
    next: u32,
    mark: u32,
    last_sent: u32,
    probe_sent: u32,
    probe_out: bool,
    acknowledged: Set,
    pending: Set,
    older: Set,
    newer: Set,
}

impl Path {
    fn init(&mut self, psn: u32, now: u32) -> Result {
        *self = Self {
            base: psn,
            next: psn,
            mark: now,
            last_sent: now,
            ..Self::default()
        };
        self.ended(status::DONE)
    }

    fn send(&mut self, now: u32, widths: &Widths) -> Result {
        if self.outstanding(widths) == widths.sack {
            return self.ended(status::FULL);
        }
        let psn = self.next;
        self.next = widths.psn.add(psn, 1);
        self.last_sent = now;
        if psn == self.base {
            self.mark = now;
        }
        Result {
            psn,
            ..self.ended(status::DONE)
        }
    }

    fn retransmit(&mut self, now: u32, widths: &Widths) -> Result {
        let Some(bit) = self.pending.first_from(self.base % widths.sack) else {
            return self.ended(status::NONE);
        };
        self.pending.remove(bit);
        self.newer.insert(bit);
        self.last_sent = now;
        Result {
            psn: widths
                .psn
                .add(self.base, bit.wrapping_sub(self.base) % widths.sack),
            ..self.ended(status::DONE)
        }
    }

    fn acknowledge(&mut self, operation: &Operation, widths: &Widths) -> Result {
        let &Operation { psn, echo, now, .. } = operation;
        let cumulative = widths.psn.distance(self.base, psn);
        let outstanding = self.outstanding(widths);
        if cumulative >= widths.psn.half() {
            return self.ended(status::STALE);
        }
        if cumulative > outstanding {
            return self.ended(status::INVALID);
        }

        let left = Set::range(self.base, cumulative, widths.sack);
        let window = Set::range(psn, outstanding - cumulative, widths.sack);
        let acknowledged = (self.acknowledged | Set(operation.vector.data)) & window;
        let newly = (left | acknowledged) & !self.acknowledged;
        let missing = window & !acknowledged;
        let pending = self.pending & missing;
        let again = (self.older | self.newer) & missing;
        let first_time = missing & !(pending | again);

        // The path is ordered: what an acknowledged packet overtook is lost.
        let mut lost = match acknowledged.last_from(psn % widths.sack) {
            Some(bit) => first_time & Set::range(psn, bit.wrapping_sub(psn) % widths.sack, widths.sack),
            None => Set::default(),
        };
        let (mut older, mut newer) = (self.older & missing, self.newer & missing);
        if widths.timestamp.reaches(echo, self.mark) {
            lost = lost | older;
            (older, newer) = (newer, Set::default());
            self.mark = now;
        }
        let mut tail = false;
        if widths.timestamp.reaches(echo, self.last_sent) {
            let all = missing & !pending;
            tail = all != lost;
            lost = all;
        }
        let probe_answered = self.probe_out && widths.timestamp.reaches(echo, self.probe_sent);

        self.base = psn;
        self.acknowledged = acknowledged;
        self.pending = pending | lost;
        self.older = older & !lost;
        self.newer = newer & !lost;
        self.probe_out &= !probe_answered;
        Result {
            acknowledged: newly.count(),
            holes: (lost & first_time).count(),
            lost_again: (lost & again).count(),
            tail,
            probe_answered,
            ..self.ended(status::DONE)
        }
    }

    fn probe(&mut self, now: u32) -> Result {
        self.probe_sent = now;
        self.probe_out = true;
        self.ended(status::DONE)
    }

    fn timeout(&mut self, now: u32, widths: &Widths) -> Result {
        let missing = Set::range(self.base, self.outstanding(widths), widths.sack) & !self.acknowledged;
        let again = self.older | self.newer;
        let first_time = missing & !(self.pending | again);
        self.pending = missing;
        self.older = Set::default();
        self.newer = Set::default();
        self.mark = now;
        self.probe_out = false;
        Result {
            holes: first_time.count(),
            lost_again: again.count(),
            ..self.ended(status::DONE)
        }
    }

    /// A result that says no more than how the operation ended.
    fn ended(&self, status: u8) -> Result {
        Result {
            status,
            psn: self.base,
            ..Default::default()
        }
    }

    fn outstanding(&self, widths: &Widths) -> u32 {
        widths.psn.distance(self.base, self.next)
    }
}

/// A set of a path's packets, each named by its PSN modulo `sack_bits`, as in [`Vector`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Set([u64; 4]);

impl Set {
    /// The bits from 0 to `end` exclusive, `end` at most 256.
    #[inline]
    fn below(end: u32) -> Self {
        Self(std::array::from_fn(|limb| {
            match end.saturating_sub(64 * limb as u32) {
                bits @ 0..64 => (1 << bits) - 1,
                _ => u64::MAX,
            }
        }))
    }

    /// The bits of the PSNs `[start, start + length)`, modulo `bits` (a power of two); `length` at most `bits`.
    #[inline]
    fn range(start: u32, length: u32, bits: u32) -> Self {
        let start = start % bits;
        let end = start + length;
        if end <= bits {
            Self::below(end) & !Self::below(start)
        } else {
            Self::below(end - bits) | (Self::below(bits) & !Self::below(start))
        }
    }

    #[inline]
    fn is_empty(self) -> bool {
        self == Self::default()
    }

    #[inline]
    fn count(self) -> u16 {
        if self.is_empty() {
            return 0;
        }
        self.0.iter().map(|limb| limb.count_ones() as u16).sum()
    }

    #[inline]
    fn insert(&mut self, bit: u32) {
        self.0[bit as usize / 64] |= 1 << (bit % 64);
    }

    #[inline]
    fn remove(&mut self, bit: u32) {
        self.0[bit as usize / 64] &= !(1 << (bit % 64));
    }

    /// The first bit set, going up from `start` and round.
    #[inline]
    fn first_from(self, start: u32) -> Option<u32> {
        (self & !Self::below(start)).first().or_else(|| self.first())
    }

    /// The bit set that is reached last, going up from `start` and round.
    #[inline]
    fn last_from(self, start: u32) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        (self & Self::below(start)).last().or_else(|| self.last())
    }

    fn first(self) -> Option<u32> {
        let limb = self.0.iter().position(|&limb| limb != 0)?;
        Some(64 * limb as u32 + self.0[limb].trailing_zeros())
    }

    fn last(self) -> Option<u32> {
        let limb = self.0.iter().rposition(|&limb| limb != 0)?;
        Some(64 * limb as u32 + 63 - self.0[limb].leading_zeros())
    }
}

impl BitAnd for Set {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|limb| self.0[limb] & other.0[limb]))
    }
}

impl BitOr for Set {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|limb| self.0[limb] | other.0[limb]))
    }
}

impl Not for Set {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(std::array::from_fn(|limb| !self.0[limb]))
    }
}

#[cfg(test)]
mod tests;
