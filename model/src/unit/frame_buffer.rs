//! Model of `frame_buffer`. Contract: [`crate::port::frame_buffer`].
//!
//! A beat is copied twice, in and out: the ring is longer than the buffer by what the reading pipeline and its queue hold, so
//! that a beat stays where it was written until it is taken, and the pipeline carries nothing but its number.

use super::{Unit, beats::Beats};
use crate::{
    Params,
    pipeline::Pipeline,
    port::frame_buffer::{Inputs, LATENCY, Outputs},
};

/// Beats that the reading pipeline and the output queue hold.
const READING: usize = LATENCY + 1;

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct FrameBuffer {
    capacity: usize,
    beats: Beats,
    /// Whether the beat is the last of its frame, by its index in the ring.
    last: Box<[bool]>,
    /// Numbers of beats, counted on and on: the next to be written, the first that is not in a kept frame, the next to be read.
    write: usize,
    commit: usize,
    read: usize,
    /// Numbers of the beats that are being read.
    pipeline: Pipeline<usize, { LATENCY - 1 }>,
}

impl Unit for FrameBuffer {
    const NAME: &'static str = "frame_buffer";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let capacity = params.frame_buffer_beats() as usize;
        let slots = (capacity + READING).next_power_of_two();
        Self {
            capacity,
            beats: Beats::new(params, slots),
            last: vec![false; slots].into(),
            write: 0,
            commit: 0,
            read: 0,
            pipeline: Pipeline::new(),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let s_axis_tready = self.is_ready();
        match self.pipeline.output() {
            None => Outputs {
                s_axis_tready,
                ..Default::default()
            },
            Some(&beat) => Outputs {
                s_axis_tready,
                m_axis_tvalid: true,
                m_axis_tdata: self.beats.get(beat),
                m_axis_tlast: self.last[self.beats.index(beat)],
            },
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let accepted = inputs.s_axis_tvalid && self.is_ready();
        let reads = self.pipeline.moves() && self.read != self.commit;
        self.pipeline
            .clock(reads.then_some(self.read), inputs.m_axis_tready);
        self.read = self.read.wrapping_add(usize::from(reads));
        if accepted {
            self.beats.put(self.write, &inputs.s_axis_tdata.data);
            self.last[self.beats.index(self.write)] = inputs.s_axis_tlast;
            self.write = self.write.wrapping_add(1);
            match (inputs.s_axis_tlast, inputs.s_axis_keep) {
                (false, _) => {}
                (true, true) => self.commit = self.write,
                (true, false) => self.write = self.commit,
            }
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.read == self.commit && self.pipeline.is_empty()
    }
}

impl FrameBuffer {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.read == self.commit && self.commit == self.write
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.write.wrapping_sub(self.read) < self.capacity
    }

    fn reset(&mut self) {
        (self.write, self.commit, self.read) = (0, 0, 0);
        self.pipeline = Pipeline::new();
    }
}
