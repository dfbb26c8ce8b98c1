//! Model of `sack_rx`. Contract: [`crate::port::sack_rx`].
//!
//! The verdict and the acknowledgement are worked out when the operation is accepted and then travel through the
//! pipeline; only the committed base is late, and it is taken from the stage in which the pipeline would write it.

use super::Unit;
use crate::{
    Params,
    pipeline::Pipeline,
    port::{
        Vector,
        sack_rx::{COMMIT, Inputs, LATENCY, Outputs, op, verdict},
    },
    serial::Serial,
};

const _: () = assert!(
    1 <= COMMIT && COMMIT < LATENCY,
    "a base is committed while its operation is in the pipeline"
);

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct SackRx {
    psns: Serial,
    sack_bits: u32,
    /// The state of each path, by its index among all paths.
    paths: Box<[Path]>,
    pipeline: Pipeline<Outputs, { LATENCY - 1 }>,
    /// Clocks left of the clear after reset. While there are any, `paths` is as reset made it.
    clearing: u32,
    /// Moving clocks left in which nothing is accepted because of an INIT.
    settling: usize,
}

/// Receive state of one path.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    /// Bit i: the PSN of `[base, next)` congruent to i was received.
    received: Vector,
    base: u32,
    next: u32,
    /// The committed base.
    window: u32,
}

impl Unit for SackRx {
    const NAME: &'static str = "sack_rx";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let total_paths = params.total_paths();
        Self {
            psns: Serial::new(params.psn_bits),
            sack_bits: params.sack_bits,
            paths: vec![Path::default(); total_paths as usize].into(),
            pipeline: Pipeline::new(),
            clearing: total_paths + COMMIT as u32,
            settling: 0,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_rx_tready: self.is_ready(),
            ..self.pipeline.output().copied().unwrap_or_default()
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
        } else if self.clearing > 0 {
            self.clearing -= 1;
        } else {
            let accepted = inputs.s_axis_rx_tvalid && self.is_ready();
            if self.pipeline.moves() {
                self.settling = self.settling.saturating_sub(1);
                if let Some(operation) = self.pipeline.stage(COMMIT) {
                    self.paths[usize::from(operation.m_axis_rx_path)].window = operation.m_axis_rx_base;
                }
            }
            let result = accepted.then(|| self.operate(inputs));
            self.pipeline.clock(result, inputs.m_axis_rx_tready);
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.clearing == 0 && self.settling == 0 && self.pipeline.is_empty()
    }
}

impl SackRx {
    #[inline]
    fn is_ready(&self) -> bool {
        self.pipeline.moves() && self.settling == 0 && self.clearing == 0
    }

    fn reset(&mut self) {
        if self.clearing == 0 {
            self.paths.fill(Path::default());
        }
        self.pipeline = Pipeline::new();
        self.clearing = self.paths.len() as u32 + COMMIT as u32;
        self.settling = 0;
    }

    /// An accepted operation: changes the path's state and gives the result.
    #[inline]
    fn operate(&mut self, inputs: &Inputs) -> Outputs {
        let path = &mut self.paths[usize::from(inputs.s_axis_rx_path)];
        let psn = inputs.s_axis_rx_psn;
        let mut result = Outputs {
            m_axis_rx_tvalid: true,
            m_axis_rx_op: inputs.s_axis_rx_op,
            m_axis_rx_path: inputs.s_axis_rx_path,
            m_axis_rx_psn: psn,
            ..Default::default()
        };
        if inputs.s_axis_rx_op == op::INIT {
            *path = Path {
                base: psn,
                next: psn,
                ..*path
            };
            path.received.data = [0; 4];
            self.settling = COMMIT - 1;
            result.m_axis_rx_verdict = verdict::NEW;
        } else {
            result.m_axis_rx_verdict = path.judge(psn, self.psns, self.sack_bits);
            if inputs.s_axis_rx_op == op::PACKET && result.m_axis_rx_verdict == verdict::NEW {
                let reaches_next = self.psns.reaches(psn, path.next);
                result.m_axis_rx_new_hole = reaches_next && psn != path.next;
                result.m_axis_rx_filled = !reaches_next;
                path.receive(psn, self.psns, self.sack_bits);
            }
        }
        result.m_axis_rx_base = path.base;
        result.m_axis_rx_vector = path.received;
        result.m_axis_rx_hole = path.base != path.next;
        result
    }
}

impl Path {
    /// The verdict on a packet.
    #[inline]
    fn judge(&self, psn: u32, psns: Serial, sack_bits: u32) -> u8 {
        let ahead = psns.distance(self.window, psn);
        if ahead >= psns.half() {
            return verdict::DUPLICATE;
        }
        if ahead >= sack_bits {
            return verdict::OUT_OF_WINDOW;
        }
        let before_base = ahead < psns.distance(self.window, self.base);
        let bit = psn & (sack_bits - 1);
        if before_base || self.received.data[(bit / 64) as usize] >> (bit % 64) & 1 != 0 {
            verdict::DUPLICATE
        } else {
            verdict::NEW
        }
    }

    /// Marks a new packet received and moves up `base` and `next`.
    #[inline]
    fn receive(&mut self, psn: u32, psns: Serial, sack_bits: u32) {
        if psns.reaches(psn, self.next) {
            self.next = psns.add(psn, 1);
        }
        if psn == self.base {
            let after = psns.add(psn, 1);
            let run = take_run(&mut self.received.data, after & (sack_bits - 1), sack_bits);
            self.base = psns.add(after, run);
        } else {
            let bit = psn & (sack_bits - 1);
            self.received.data[(bit / 64) as usize] |= 1 << (bit % 64);
        }
    }
}

/// Clears the unbroken run of set bits from `start` upwards, round the ring of `bits` bits, and gives its length.
#[inline]
fn take_run(limbs: &mut [u64; 4], start: u32, bits: u32) -> u32 {
    let limb_bits = bits.min(64);
    let mut run = 0;
    loop {
        let bit = (start + run) & (bits - 1);
        let (limb, offset) = (&mut limbs[(bit / 64) as usize], bit % 64);
        let room = limb_bits - offset;
        let ones = (*limb >> offset).trailing_ones().min(room);
        if ones == 0 {
            return run;
        }
        *limb &= !(u64::MAX >> (64 - ones) << offset);
        run += ones;
        if ones < room {
            return run;
        }
    }
}
