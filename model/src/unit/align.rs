//! Model of `align`. Contract: [`crate::port::align`].
//!
//! The input beats of two steps stand one behind the other in a window, from which the output beat is cut at one place for
//! all of a transfer. What it cuts is kept in a ring; the pipeline carries where.

use super::{
    Unit,
    beats::{Beats, copy, lanes_below, limbs},
};
use crate::{
    Params,
    pipeline::Pipeline,
    port::align::{Inputs, LATENCY, Outputs},
};

/// Beats that the pipeline and the output queue hold.
const SLOTS: usize = LATENCY + 1;

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Align {
    limbs: usize,
    command: Option<Transfer>,
    active: Option<Transfer>,
    /// The beat of the step before, and behind it the present step's.
    window: [u64; 16],
    beats: Beats,
    /// Where the next output beat goes in `beats`.
    next: usize,
    pipeline: Pipeline<OutputBeat, { LATENCY - 1 }>,
}

/// A transfer, and how far it has come.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    /// Byte of the window at which the output beats are cut.
    cut: usize,
    /// The next step gives no beat, since an output beat needs two input beats.
    late: bool,
    /// Lanes of the next output beat before the transfer's first byte.
    skip: usize,
    /// Lanes of the output beats that are not yet given, from the first lane of the next one to the transfer's last byte.
    left: usize,
    needs_input: bool,
}

/// An output beat on its way.
#[derive(Clone, Copy, Debug)]
struct OutputBeat {
    slot: usize,
    keep: u64,
    last: bool,
}

impl Unit for Align {
    const NAME: &'static str = "align";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            limbs: limbs(params),
            command: None,
            active: None,
            window: [0; 16],
            beats: Beats::new(params, SLOTS),
            next: 0,
            pipeline: Pipeline::new(),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let ready = Outputs {
            s_axis_command_tready: self.command.is_none(),
            s_axis_tready: self.is_ready(),
            ..Default::default()
        };
        match self.pipeline.output() {
            None => ready,
            Some(beat) => Outputs {
                m_axis_tvalid: true,
                m_axis_tdata: self.beats.get(beat.slot),
                m_axis_tkeep: beat.keep,
                m_axis_tlast: beat.last,
                ..ready
            },
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.command = None;
            self.active = None;
            self.pipeline = Pipeline::new();
            return;
        }
        let accepted = inputs.s_axis_tvalid && self.is_ready();
        let beat = match self.active {
            Some(transfer) if self.pipeline.moves() && (accepted || !transfer.needs_input) => {
                self.step(transfer, accepted.then_some(inputs))
            }
            _ => None,
        };
        self.pipeline.clock(beat, inputs.m_axis_tready);
        let command_is_ready = self.command.is_none();
        if self.active.is_none() {
            self.active = self.command.take();
        }
        if command_is_ready && inputs.s_axis_command_tvalid {
            self.command = Some(Transfer::new(inputs, 8 * self.limbs));
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.pipeline.is_empty()
            && match self.active {
                Some(transfer) => transfer.needs_input,
                None => self.command.is_none(),
            }
    }
}

impl Align {
    #[inline]
    fn is_ready(&self) -> bool {
        self.pipeline.moves() && self.active.is_some_and(|transfer| transfer.needs_input)
    }

    /// One step of the active transfer, with the beat that is accepted in it; gives the output beat if there is one.
    #[inline]
    fn step(&mut self, transfer: Transfer, input: Option<&Inputs>) -> Option<OutputBeat> {
        match self.limbs {
            1 => self.step_of::<1>(transfer, input),
            2 => self.step_of::<2>(transfer, input),
            4 => self.step_of::<4>(transfer, input),
            _ => self.step_of::<8>(transfer, input),
        }
    }

    /// The step for beats of `LIMBS` limbs.
    #[inline]
    fn step_of<const LIMBS: usize>(
        &mut self,
        mut transfer: Transfer,
        input: Option<&Inputs>,
    ) -> Option<OutputBeat> {
        let mut current = [0; LIMBS];
        if let Some(inputs) = input {
            copy(&mut current, &inputs.s_axis_tdata.data);
            transfer.needs_input = !inputs.s_axis_tlast;
        }
        self.window[LIMBS..2 * LIMBS].copy_from_slice(&current);
        let beat = if transfer.late || transfer.left == 0 {
            None
        } else {
            let (first, end) = (transfer.skip, transfer.left.min(8 * LIMBS));
            let slot = self.next;
            self.next = self.next.wrapping_add(1);
            self.beats
                .put(slot, &cut::<LIMBS>(&self.window, transfer.cut, first, end));
            transfer.skip = 0;
            transfer.left -= end;
            Some(OutputBeat {
                slot,
                keep: lanes_below(end) & !lanes_below(first),
                last: transfer.left == 0,
            })
        };
        transfer.late = false;
        self.window[..LIMBS].copy_from_slice(&current);
        self.active = (transfer.left > 0 || transfer.needs_input).then_some(transfer);
        beat
    }
}

/// The lanes of one beat from byte `at` of the window on; those before `first` and from `end` on are zero.
#[inline]
fn cut<const LIMBS: usize>(window: &[u64; 16], at: usize, first: usize, end: usize) -> [u64; LIMBS] {
    let (limb, shift) = (at / 8, at % 8 * 8);
    let mut beat: [u64; LIMBS] = std::array::from_fn(|i| window[limb + i] >> shift);
    if shift > 0 {
        for (i, lanes) in beat.iter_mut().enumerate() {
            *lanes |= window[limb + i + 1] << (64 - shift);
        }
    }
    // Only the first and the last beat of a transfer have lanes to clear.
    if first > 0 || end < 8 * LIMBS {
        for (i, lanes) in beat.iter_mut().enumerate() {
            *lanes &= bytes_below(end, i) & !bytes_below(first, i);
        }
    }
    beat
}

/// The bytes of limb `limb` that are lanes below `count`, all their bits.
#[inline]
fn bytes_below(count: usize, limb: usize) -> u64 {
    let bytes = count.saturating_sub(8 * limb).min(8);
    u64::MAX.checked_shr(64 - 8 * bytes as u32).unwrap_or(0)
}

impl Transfer {
    /// The transfer of the command offered, with `lanes` in a beat.
    fn new(inputs: &Inputs, lanes: usize) -> Self {
        let from = usize::from(inputs.s_axis_command_from);
        let to = usize::from(inputs.s_axis_command_to);
        let late = to < from;
        Self {
            cut: if late { from - to } else { lanes + from - to },
            late,
            skip: to,
            left: to + usize::from(inputs.s_axis_command_bytes),
            needs_input: true,
        }
    }
}
