//! `frame_buffer` against its contract: directed cases, and random frames against a slow reference that keeps two queues.

mod common;

use common::{Delay, random_beat};
use metaroce_model::{
    Params,
    params::PROFILES,
    port::{
        Beat,
        frame_buffer::{Inputs, LATENCY, Outputs},
    },
    unit::{Unit, frame_buffer::FrameBuffer},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, VecDeque};

/// Nothing offered, the output open.
fn idle() -> Inputs {
    Inputs {
        m_axis_tready: true,
        ..Default::default()
    }
}

/// A beat of a frame, told from others by its first limb, with the output closed.
fn beat(number: u64) -> Inputs {
    let mut beat = Beat::ZERO;
    beat.data[0] = number;
    Inputs {
        s_axis_tvalid: true,
        s_axis_tdata: beat,
        ..Default::default()
    }
}

fn last(number: u64, keep: bool) -> Inputs {
    Inputs {
        s_axis_tlast: true,
        s_axis_keep: keep,
        ..beat(number)
    }
}

fn open(inputs: Inputs) -> Inputs {
    Inputs {
        m_axis_tready: true,
        ..inputs
    }
}

fn tiny() -> FrameBuffer {
    FrameBuffer::new(&Params::load("tiny").unwrap())
}

/// Clocks the unit with the output open until nothing has come for a while; gives each beat's number and whether it was a last one.
fn drain(unit: &mut FrameBuffer) -> Vec<(u64, bool)> {
    let (mut beats, mut quiet) = (vec![], 0);
    while quiet <= LATENCY {
        let outputs = unit.outputs();
        if outputs.m_axis_tvalid {
            beats.push((outputs.m_axis_tdata.data[0], outputs.m_axis_tlast));
            quiet = 0;
        } else {
            quiet += 1;
        }
        unit.clock(&idle());
    }
    beats
}

/// R4: a frame comes out when it is whole, `LATENCY` clocks after the one that follows its last beat's, beat after beat.
#[test]
fn a_frame_waits_for_its_last_beat() {
    let mut unit = tiny();
    for number in 1..5 {
        unit.clock(&open(beat(number)));
    }
    for _ in 0..20 {
        assert!(!unit.outputs().m_axis_tvalid);
        unit.clock(&idle());
    }
    unit.clock(&open(last(5, true)));
    for _ in 0..LATENCY {
        assert!(!unit.outputs().m_axis_tvalid);
        unit.clock(&idle());
    }
    for number in 1..=5 {
        let outputs = unit.outputs();
        assert!(outputs.m_axis_tvalid);
        assert_eq!(
            (outputs.m_axis_tdata.data[0], outputs.m_axis_tlast),
            (number, number == 5)
        );
        unit.clock(&idle());
    }
    assert!(!unit.outputs().m_axis_tvalid);
}

/// R4: of frames to be kept and to be forgotten only the former come out, and a forgotten one leaves nothing in the next.
#[test]
fn forgotten_frames_leave_nothing() {
    let mut unit = tiny();
    for inputs in [
        beat(1),
        last(2, false),
        last(3, true),
        last(4, false),
        beat(5),
        last(6, true),
        beat(7),
        beat(8),
    ] {
        unit.clock(&inputs);
    }
    assert_eq!(drain(&mut unit), [(3, true), (5, false), (6, true)]);
    unit.clock(&last(9, true));
    assert_eq!(drain(&mut unit), [(7, false), (8, false), (9, true)]);
}

/// R4: frames of one beat go through one a clock, without a bubble, for longer than the buffer is.
#[test]
fn a_beat_a_clock() {
    let mut unit = tiny();
    for number in 0..3000 {
        let outputs = unit.outputs();
        assert!(outputs.s_axis_tready);
        let expected = (number as usize)
            .checked_sub(LATENCY + 1)
            .map(|number| number as u64);
        assert_eq!(
            outputs.m_axis_tvalid.then_some(outputs.m_axis_tdata.data[0]),
            expected
        );
        unit.clock(&open(last(number, true)));
    }
}

/// H1: the buffer holds exactly `frame_buffer_beats` besides what the reading pipeline and the output queue have taken out, and
/// the room of a forgotten frame is there again.
#[test]
fn the_room_is_counted() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let capacity = params.frame_buffer_beats() as usize;
        let mut unit = FrameBuffer::new(&params);
        for number in 1..capacity {
            unit.clock(&beat(number as u64));
            assert!(unit.outputs().s_axis_tready);
        }
        unit.clock(&last(capacity as u64, false));
        assert!(unit.outputs().s_axis_tready);
        for number in 0..capacity {
            assert!(unit.outputs().s_axis_tready, "{profile}: {number}");
            unit.clock(&open(beat(number as u64)));
        }
        for _ in 0..20 {
            assert!(!unit.outputs().s_axis_tready && !unit.outputs().m_axis_tvalid);
            unit.clock(&open(last(0, true)));
        }
    }
    let mut unit = tiny();
    let capacity = Params::load("tiny").unwrap().frame_buffer_beats() as usize;
    // With the output closed the pipeline takes out as many beats as it and the queue have places.
    let mut accepted = 0;
    for number in 0..2 * capacity {
        accepted += usize::from(unit.outputs().s_axis_tready);
        unit.clock(&last(number as u64, true));
    }
    assert_eq!(accepted, capacity + LATENCY + 1);
    let beats = drain(&mut unit);
    assert_eq!(beats.len(), accepted);
    assert!((0..).zip(beats).all(|(number, beat)| beat == (number, true)));
}

/// H1: a reset in the middle of a frame, of a read and of a full queue leaves an empty buffer.
#[test]
fn a_reset_empties_it() {
    for clocks in 0..12 {
        let mut unit = tiny();
        for number in 0..clocks {
            unit.clock(&last(number, true));
        }
        unit.clock(&beat(77));
        unit.clock(&Inputs {
            rst: true,
            ..last(78, true)
        });
        assert_eq!(
            unit.outputs(),
            Outputs {
                s_axis_tready: true,
                ..Default::default()
            }
        );
        unit.clock(&last(79, true));
        assert_eq!(drain(&mut unit), [(79, true)]);
    }
}

/// The slow reference: a queue of the beats of kept frames, and the frame that has begun.
struct Reference {
    capacity: usize,
    kept: VecDeque<(Beat, bool)>,
    begun: Vec<(Beat, bool)>,
    delay: Delay<(Beat, bool)>,
    bins: BTreeMap<&'static str, u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        Self {
            capacity: params.frame_buffer_beats() as usize,
            kept: VecDeque::new(),
            begun: vec![],
            delay: Delay::new(LATENCY),
            bins: BTreeMap::new(),
        }
    }

    fn hit(&mut self, bin: &'static str, condition: bool) {
        *self.bins.entry(bin).or_default() += u32::from(condition);
    }

    fn outputs(&self) -> Outputs {
        let (m_axis_tdata, m_axis_tlast) = self.delay.head().copied().unwrap_or_default();
        Outputs {
            s_axis_tready: self.kept.len() + self.begun.len() < self.capacity,
            m_axis_tvalid: self.delay.head().is_some(),
            m_axis_tdata,
            m_axis_tlast,
        }
    }

    fn clock(&mut self, inputs: &Inputs) {
        let ready = self.outputs().s_axis_tready;
        self.hit("reset in a frame", inputs.rst && !self.begun.is_empty());
        self.hit("full", !ready && inputs.s_axis_tvalid);
        self.hit("stall", !self.delay.moves() && !self.kept.is_empty());
        if inputs.rst {
            self.kept.clear();
            self.begun.clear();
            self.delay = Delay::new(LATENCY);
            return;
        }
        let read = if self.delay.moves() {
            self.kept.pop_front()
        } else {
            None
        };
        self.delay.clock(read, inputs.m_axis_tready);
        if inputs.s_axis_tvalid && ready {
            self.begun.push((inputs.s_axis_tdata, inputs.s_axis_tlast));
            if inputs.s_axis_tlast {
                self.hit("kept", inputs.s_axis_keep);
                self.hit("forgotten", !inputs.s_axis_keep);
                let frame = std::mem::take(&mut self.begun);
                if inputs.s_axis_keep {
                    self.kept.extend(frame);
                }
            }
        }
    }
}

/// R4, H1: every output in every clock is the reference's, for each profile, with stalls, full buffers and resets.
#[test]
fn random_frames_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let mut unit = FrameBuffer::new(&params);
        let mut reference = Reference::new(&params);
        // A frame is cut before it could fill the buffer, as `parser` does.
        let (longest, mut frame) = (params.frame_buffer_beats() as usize / 2, 0);
        for clock in 0..100_000 {
            let phase = clock / 4096;
            let length = [1, 8, 200][phase % 3];
            let inputs = Inputs {
                rst: random.random_ratio(1, 10_000),
                s_axis_tvalid: random.random_ratio([16, 4][phase % 2], 16),
                s_axis_tdata: random_beat(&mut random, &params),
                s_axis_tlast: frame + 1 == longest || random.random_ratio(1, length),
                s_axis_keep: random.random_ratio(3, 4),
                m_axis_tready: random.random_ratio([16, 12, 2][phase / 2 % 3], 16),
            };
            let outputs = unit.outputs();
            assert_eq!(outputs, reference.outputs(), "{profile}, clock {clock}");
            unit.clock(&inputs);
            reference.clock(&inputs);
            if inputs.rst {
                frame = 0;
            } else if inputs.s_axis_tvalid && outputs.s_axis_tready {
                frame = if inputs.s_axis_tlast { 0 } else { frame + 1 };
            }
        }
        for (bin, hits) in &reference.bins {
            assert!(*hits > 0, "{profile}: '{bin}' never occurred");
        }
        assert_eq!(reference.bins.len(), 5);
    }
}
