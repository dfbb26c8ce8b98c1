//! Stimulus of `frame_buffer`: frames of every length up to all of the buffer, kept and forgotten, faster and slower than they are read.

use crate::{
    bins::{Bins, bins},
    occupancy::Occupancy,
    stimulus::{Flow, Offer, Random, Resets, Stimulus, beat, random},
};
use metaroce_model::{
    Params,
    port::{
        Beat,
        frame_buffer::{Inputs, LATENCY, Outputs},
    },
    unit::frame_buffer::FrameBuffer as Unit,
};
use rand::RngExt;

bins! {
    // Of a clock.
    Empty = "empty",
    Full = "full",
    FullOfOneFrame = "full of one frame whose last beat has been accepted",
    Waits = "beat offered while full",
    LastWaits = "last beat of a frame offered while full",
    AcceptedAgain = "beat accepted in the first clock after full",
    CaughtUp = "all kept frames read, another one half written",
    Behind = "kept frames wait while another one is being written",
    WriteAndRead = "a beat written and one read in one clock",
    OneMoreThanEmpty = "the only beat held is read while another is written",
    Held = "beat not taken",
    Stands = "reading pipeline stands still with every place full",
    OneFrameOut = "frames leave back to back",
    ResetInFrame = "reset in the middle of a frame",
    ResetHolding = "reset while frames are held",
    ResetReading = "reset while beats are in the reading pipeline",
    KeepBeforeLast = "keep set on a beat that is not the last",
    // Of an accepted last beat.
    Kept = "frame kept",
    Forgotten = "frame forgotten",
    KeptOne = "frame of one beat kept",
    ForgottenOne = "frame of one beat forgotten",
    KeptLargest = "frame of the largest packet's beats kept",
    ForgottenLargest = "frame of the largest packet's beats forgotten",
    KeptAll = "frame as large as the buffer kept",
    ForgottenAll = "frame as large as the buffer forgotten",
    KeptOverEnd = "frame kept that lies over the buffer's end",
    ForgottenOverEnd = "frame forgotten that lies over the buffer's end",
    EndsAtEnd = "frame kept whose last beat is the buffer's last place",
    KeptFull = "last beat of a kept frame takes the last place",
    ForgottenFull = "last beat of a forgotten frame finds one place left",
    KeptWhileRead = "frame kept while the last beat of the one before is read",
    KeptAtRest = "frame kept while nothing is left to read",
    ForgottenAtRest = "frame forgotten while nothing is left to read",
    BackToBack = "frame begins in the clock after the last one's last beat",
    KeptAfterForgotten = "frame kept back to back behind a forgotten one",
    ForgottenAfterKept = "frame forgotten back to back behind a kept one",
    ManyForgotten = "three frames forgotten in a row",
    // Of a wrap.
    WriteWraps = "the write position passes the buffer's end",
    ReadWraps = "the read position passes the buffer's end",
    CommitWraps = "the commit position passes the buffer's end",
}

/// Drives the unit.
pub struct FrameBuffer {
    random: Random,
    input: Offer,
    output: Flow,
    resets: Resets,
    lanes: u32,
    /// Beats of the buffer and of the largest packet.
    capacity: u32,
    largest: u32,
    phase: Phase,
    frame: Frame,
    next: Beat,
    /// The contract's counters, which do not wrap here.
    write: u32,
    commit: u32,
    read: u32,
    pipeline: Occupancy,
    was_full: bool,
    /// The beat taken in the last clock was a frame's last.
    left_last: bool,
    /// A frame's last beat was accepted in the last clock.
    ended: bool,
    /// The last frame's beats, how it ended, and how many were forgotten since one was kept.
    last_beats: u32,
    kept: bool,
    forgotten: u32,
    bins: Bins,
}

/// Frames of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    frames_left: u32,
    shortest: u32,
    longest: u32,
    /// Chance that a frame is kept, in 256ths.
    kept: u32,
}

/// The frame that is being written.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    beats: u32,
    done: u32,
    keep: bool,
    back_to_back: bool,
}

impl Stimulus<Unit> for FrameBuffer {
    fn new(params: &Params, seed: u64) -> Self {
        let capacity = params.frame_buffer_beats();
        let mut stimulus = Self {
            random: random(seed),
            input: Offer::new(100),
            output: Flow::new(100),
            resets: Resets::new((8 * capacity).max(4000)),
            lanes: params.lanes(),
            capacity,
            largest: params.max_packet_bytes.div_ceil(params.lanes()),
            phase: Phase::default(),
            frame: Frame::default(),
            next: Beat::default(),
            write: 0,
            commit: 0,
            read: 0,
            pipeline: Occupancy::new(LATENCY),
            was_full: false,
            left_last: false,
            ended: false,
            last_beats: 0,
            kept: false,
            forgotten: 0,
            bins: Bins::new(BINS),
        };
        stimulus.begin_frame();
        stimulus
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let accepts = outputs.s_axis_tready && !rst;
        let offered = self.input.next(&mut self.random, accepts, true);
        let bits: u32 = self.random.random();
        let last = self.frame.done + 1 == self.frame.beats;
        let inputs = Inputs {
            rst,
            s_axis_tvalid: offered.valid,
            s_axis_tdata: if offered.real {
                self.next
            } else {
                beat(&mut self.random, self.lanes)
            },
            s_axis_tlast: if offered.real { last } else { bits & 1 != 0 },
            s_axis_keep: match (offered.real, last) {
                (true, true) => self.frame.keep,
                // Without meaning, but steady while it waits.
                (true, false) => self.next.data[0] & 1 != 0,
                _ => bits & 2 != 0,
            },
            m_axis_tready: self.output.next(&mut self.random),
        };
        self.count_clock(&inputs, outputs);
        if rst {
            self.reset();
        } else {
            self.clock(offered.real && accepts, &inputs, outputs);
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl FrameBuffer {
    fn reset(&mut self) {
        (self.write, self.commit, self.read) = (0, 0, 0);
        self.pipeline.clear();
        self.input.clear();
        (self.was_full, self.left_last, self.ended) = (false, false, false);
        self.begin_frame();
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, accepted: bool, inputs: &Inputs, outputs: &Outputs) {
        let reads = self.reads();
        let taken = outputs.m_axis_tvalid && inputs.m_axis_tready;
        self.was_full = self.full();
        self.ended = false;
        if accepted {
            self.write(reads, inputs.s_axis_tlast);
        }
        if reads {
            self.read += 1;
            self.bins
                .hit(Bin::ReadWraps as usize, self.read.is_multiple_of(self.capacity));
        }
        self.pipeline.clock(reads, taken);
        self.left_last = taken && outputs.m_axis_tlast;
    }

    #[inline]
    fn reads(&self) -> bool {
        self.pipeline.moves() && self.read != self.commit
    }

    #[inline]
    fn full(&self) -> bool {
        self.write - self.read == self.capacity
    }

    /// A beat is accepted.
    #[inline]
    fn write(&mut self, reads: bool, last: bool) {
        self.frame.done += 1;
        self.next = beat(&mut self.random, self.lanes);
        let end = self.write + 1;
        self.bins
            .hit(Bin::WriteWraps as usize, end.is_multiple_of(self.capacity));
        if !last {
            self.write = end;
            return;
        }
        let frame = self.frame;
        let (kept, forgotten) = (frame.keep, !frame.keep);
        let over_end = self.commit / self.capacity != (end - 1) / self.capacity;
        let fills = end - self.read == self.capacity;
        let at_rest = self.read == self.commit;
        self.forgotten = if kept { 0 } else { self.forgotten + 1 };
        self.bins.hit_each(
            Bin::Kept as usize,
            [
                kept,
                forgotten,
                kept && frame.beats == 1,
                forgotten && frame.beats == 1,
                kept && frame.beats == self.largest,
                forgotten && frame.beats == self.largest,
                kept && frame.beats == self.capacity,
                forgotten && frame.beats == self.capacity,
                kept && over_end,
                forgotten && over_end,
                kept && end.is_multiple_of(self.capacity),
                kept && fills,
                forgotten && fills,
                kept && reads && self.read + 1 == self.commit,
                kept && at_rest,
                forgotten && at_rest,
                frame.back_to_back,
                frame.back_to_back && kept && !self.kept,
                frame.back_to_back && forgotten && self.kept,
                self.forgotten >= 3,
            ],
        );
        if kept {
            self.bins.hit(
                Bin::CommitWraps as usize,
                end / self.capacity != self.commit / self.capacity,
            );
            self.commit = end;
        }
        self.write = self.commit;
        (self.last_beats, self.kept) = (frame.beats, kept);
        self.ended = true;
        self.begin_frame();
    }

    fn begin_frame(&mut self) {
        if self.phase.frames_left == 0 {
            self.change_phase();
        }
        self.phase.frames_left -= 1;
        self.frame = Frame {
            beats: self.random.random_range(self.phase.shortest..=self.phase.longest),
            done: 0,
            keep: self.random.random::<u32>() >> 24 < self.phase.kept,
            back_to_back: false,
        };
        self.next = beat(&mut self.random, self.lanes);
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let all = self.capacity;
        let (shortest, longest) = match random.random_range(0..8) {
            0 | 1 => (1, 1),
            2 => (1, 2),
            3 => (1, 8),
            4 => (1, 60),
            5 => (self.largest - 1, self.largest + 1),
            6 => (all - 1, all),
            _ => (1, all),
        };
        let beats = random.random_range(1..=2 * all);
        self.phase = Phase {
            frames_left: 1 + 2 * beats / (shortest + longest),
            shortest,
            longest,
            kept: [256, 256, 0, 32, 128, 224][random.random_range(0..6)],
        };
        // Long ones fill and drain the buffer.
        let lengths = [20, 100, 2 * all];
        self.input.change(lengths[random.random_range(0..3)]);
        self.output = Flow::new(lengths[random.random_range(0..3)]);
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let full = self.full();
        debug_assert_eq!(outputs.s_axis_tready, !full);
        let waits = inputs.s_axis_tvalid && full && !inputs.rst;
        let in_frame = self.write != self.commit;
        let at_rest = self.read == self.commit;
        let accepted = inputs.s_axis_tvalid && outputs.s_axis_tready && !inputs.rst;
        let reads = self.reads() && !inputs.rst;
        if accepted && self.frame.done == 0 {
            self.frame.back_to_back = self.ended;
        }
        self.bins.hit_each(
            Bin::Empty as usize,
            [
                self.write == self.read,
                full,
                full && self.commit == self.write && self.last_beats == self.capacity,
                waits,
                waits && self.input.held() && self.frame.done + 1 == self.frame.beats,
                accepted && self.was_full && !full,
                at_rest && in_frame,
                !at_rest && in_frame,
                accepted && reads,
                accepted && reads && self.write - self.read == 1,
                outputs.m_axis_tvalid && !inputs.m_axis_tready && !inputs.rst,
                self.pipeline.is_full(),
                outputs.m_axis_tvalid && inputs.m_axis_tready && self.left_last,
                inputs.rst && in_frame,
                inputs.rst && self.commit != self.read,
                inputs.rst && !self.pipeline.is_empty(),
                accepted && inputs.s_axis_keep && !inputs.s_axis_tlast,
            ],
        );
    }
}
