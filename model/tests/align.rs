//! `align` against its contract: directed cases, and random transfers against a slow reference that follows the rules lane by
//! lane, and against a queue of bytes.

mod common;

use common::{
    Delay,
    frames::{beat_of, bytes_of},
    random_beat,
};
use metaroce_model::{
    Params,
    params::PROFILES,
    port::{
        Beat,
        align::{Inputs, LATENCY, Outputs},
    },
    unit::{Unit, align::Align},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Nothing offered, the output open.
fn idle() -> Inputs {
    Inputs {
        m_axis_tready: true,
        ..Default::default()
    }
}

fn command(from: u8, to: u8, bytes: u16) -> Inputs {
    Inputs {
        s_axis_command_tvalid: true,
        s_axis_command_from: from,
        s_axis_command_to: to,
        s_axis_command_bytes: bytes,
        ..idle()
    }
}

/// An input beat of profile tiny: 8 lanes.
fn input(bytes: [u8; 8], last: bool) -> Inputs {
    Inputs {
        s_axis_tvalid: true,
        s_axis_tdata: beat_of(&bytes),
        s_axis_tlast: last,
        ..idle()
    }
}

fn tiny() -> Align {
    Align::new(&Params::load("tiny").unwrap())
}

/// The beat offered: its lanes, `tkeep`, `tlast`.
fn offered(unit: &Align) -> Option<([u8; 8], u64, bool)> {
    let outputs = unit.outputs();
    let lanes = outputs.m_axis_tdata.data[0].to_le_bytes();
    outputs
        .m_axis_tvalid
        .then_some((lanes, outputs.m_axis_tkeep, outputs.m_axis_tlast))
}

/// R4: clock by clock: the command's two clocks, a step for each beat, the latency; three bytes from lane 6 to lane 1.
#[test]
fn a_late_transfer_clock_by_clock() {
    let mut unit = tiny();
    assert!(unit.outputs().s_axis_command_tready && !unit.outputs().s_axis_tready);
    unit.clock(&command(6, 1, 3));
    assert!(!unit.outputs().s_axis_command_tready && !unit.outputs().s_axis_tready);
    unit.clock(&idle());
    assert!(unit.outputs().s_axis_command_tready && unit.outputs().s_axis_tready);
    unit.clock(&input([1, 2, 3, 4, 5, 6, 7, 8], false));
    assert!(unit.outputs().s_axis_tready);
    unit.clock(&input([9, 10, 11, 12, 13, 14, 15, 16], true));
    for _ in 1..LATENCY {
        assert!(!unit.outputs().s_axis_tready);
        assert_eq!(offered(&unit), None);
        unit.clock(&idle());
    }
    assert_eq!(offered(&unit), Some(([0, 7, 8, 9, 0, 0, 0, 0], 0b1110, true)));
    unit.clock(&idle());
    assert_eq!(offered(&unit), None);
}

/// R4: a late transfer whose bytes end in its first input beat takes one more step, without input.
#[test]
fn a_late_transfer_of_one_beat_takes_two_steps() {
    let mut unit = tiny();
    unit.clock(&command(3, 0, 5));
    unit.clock(&idle());
    unit.clock(&input([1, 2, 3, 4, 5, 6, 7, 8], true));
    assert!(!unit.outputs().s_axis_tready);
    unit.clock(&command(0, 0, 1));
    for _ in 1..LATENCY {
        assert_eq!(offered(&unit), None);
        unit.clock(&idle());
    }
    assert_eq!(offered(&unit), Some(([4, 5, 6, 7, 8, 0, 0, 0], 0x1f, true)));
}

/// R4: what comes after the bytes is taken and dropped; bytes that do not come are zeros.
#[test]
fn too_much_input_and_too_little() {
    let mut unit = tiny();
    unit.clock(&command(1, 2, 4));
    unit.clock(&idle());
    unit.clock(&input([1, 2, 3, 4, 5, 6, 7, 8], false));
    // The next transfer is accepted meanwhile, and begins after the last beat of this one.
    unit.clock(&command(7, 6, 20));
    assert!(!unit.outputs().s_axis_command_tready && unit.outputs().s_axis_tready);
    let mut beats = vec![];
    let mut step = |unit: &mut Align, inputs: &Inputs| {
        beats.extend(offered(unit));
        unit.clock(inputs);
    };
    step(&mut unit, &input([0xff; 8], false));
    step(&mut unit, &input([0xff; 8], true));
    assert!(unit.outputs().s_axis_tready && unit.outputs().s_axis_command_tready);
    step(&mut unit, &input([1, 2, 3, 4, 5, 6, 7, 8], false));
    step(&mut unit, &input([11, 12, 13, 14, 15, 16, 17, 18], true));
    for _ in 0..10 {
        assert!(!unit.outputs().s_axis_tready);
        step(&mut unit, &idle());
    }
    assert_eq!(
        beats,
        [
            ([0, 0, 2, 3, 4, 5, 0, 0], 0b11_1100, true),
            ([0, 0, 0, 0, 0, 0, 8, 11], 0b1100_0000, false),
            ([12, 13, 14, 15, 16, 17, 18, 0], 0xff, false),
            ([0; 8], 0xff, false),
            ([0; 8], 0b11, true),
        ]
    );
}

/// R4: transfers back to back need no clock between them: each is max(input beats, output beats + 1 if late) steps.
#[test]
fn transfers_back_to_back_without_a_bubble() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let lanes = params.lanes() as usize;
        let mut unit = Align::new(&params);
        let commands = [(0, 0), (3, 5), (5, 3), (lanes - 1, 0), (0, lanes - 1)];
        let bytes = 3 * lanes;
        let mut steps = 0;
        for (from, to) in commands {
            let input = (from + bytes).div_ceil(lanes);
            steps += input.max((to + bytes).div_ceil(lanes) + usize::from(to < from));
        }
        let (mut next, mut at, mut clocks, mut ended) = (0, 0, 0, 0);
        while ended < commands.len() {
            let outputs = unit.outputs();
            ended += usize::from(outputs.m_axis_tlast);
            let mut inputs = idle();
            if let Some(&(from, to)) = commands.get(next) {
                inputs = command(from as u8, to as u8, bytes as u16);
                next += usize::from(outputs.s_axis_command_tready);
            }
            if outputs.s_axis_tready {
                inputs.s_axis_tvalid = true;
                let (from, _) = commands[at];
                clocks += 1;
                if clocks == (from + bytes).div_ceil(lanes) {
                    inputs.s_axis_tlast = true;
                    (at, clocks) = (at + 1, 0);
                }
            }
            unit.clock(&inputs);
            steps = steps.wrapping_sub(1);
        }
        // Two clocks for the first command, one to take the last beat, and the latency less the step itself.
        assert_eq!(steps.wrapping_neg(), 2 + LATENCY, "{profile}");
    }
}

/// The transfer of the slow reference.
struct Transfer {
    from: usize,
    to: usize,
    /// Lanes of output from the first beat's first lane to the last byte, and those given.
    lanes: usize,
    given: usize,
    first_step: bool,
    input_ended: bool,
    previous: Vec<u8>,
}

/// The slow reference: the contract's rules, lane by lane.
struct Reference {
    lanes: usize,
    command: Option<(usize, usize, usize)>,
    active: Option<Transfer>,
    delay: Delay<(Beat, u64, bool)>,
    bins: BTreeMap<&'static str, u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        Self {
            lanes: params.lanes() as usize,
            command: None,
            active: None,
            delay: Delay::new(LATENCY),
            bins: BTreeMap::new(),
        }
    }

    fn hit(&mut self, bin: &'static str, condition: bool) {
        *self.bins.entry(bin).or_default() += u32::from(condition);
    }

    fn outputs(&self) -> Outputs {
        let (m_axis_tdata, m_axis_tkeep, m_axis_tlast) = self.delay.head().copied().unwrap_or_default();
        Outputs {
            s_axis_command_tready: self.command.is_none(),
            s_axis_tready: self.delay.moves() && self.active.as_ref().is_some_and(|t| !t.input_ended),
            m_axis_tvalid: self.delay.head().is_some(),
            m_axis_tdata,
            m_axis_tkeep,
            m_axis_tlast,
        }
    }

    fn clock(&mut self, inputs: &Inputs) {
        self.hit("stall", !self.delay.moves() && self.active.is_some());
        self.hit("reset in a transfer", inputs.rst && self.active.is_some());
        if inputs.rst {
            self.command = None;
            self.active = None;
            self.delay = Delay::new(LATENCY);
            return;
        }
        let ready = self.outputs();
        let accepted = inputs.s_axis_tvalid && ready.s_axis_tready;
        let steps = self.delay.moves() && self.active.as_ref().is_some_and(|t| accepted || t.input_ended);
        let loads = self.active.is_none();
        let result = if steps { self.step(inputs, accepted) } else { None };
        self.delay.clock(result, inputs.m_axis_tready);
        let ended = self
            .active
            .as_ref()
            .is_some_and(|t| t.input_ended && t.given >= t.lanes);
        self.hit(
            "transfer after transfer",
            steps && ended && self.command.is_some(),
        );
        if ended {
            self.active = None;
        }
        if (loads || ended)
            && let Some((from, to, bytes)) = self.command.take()
        {
            self.active = Some(Transfer {
                from,
                to,
                lanes: to + bytes,
                given: 0,
                first_step: true,
                input_ended: false,
                previous: vec![0; self.lanes],
            });
        }
        if inputs.s_axis_command_tvalid && ready.s_axis_command_tready {
            self.command = Some((
                inputs.s_axis_command_from.into(),
                inputs.s_axis_command_to.into(),
                inputs.s_axis_command_bytes.into(),
            ));
        }
    }

    fn step(&mut self, inputs: &Inputs, accepted: bool) -> Option<(Beat, u64, bool)> {
        let b = self.lanes;
        let t = self.active.as_mut()?;
        let missing = t.input_ended;
        let current = if accepted {
            bytes_of(&inputs.s_axis_tdata, b)
        } else {
            vec![0; b]
        };
        let late = t.to < t.from;
        let all_given = t.given >= t.lanes;
        let result = if (late && t.first_step) || all_given {
            None
        } else {
            let (mut bytes, mut keep) = (vec![0; b], 0);
            for (lane, byte) in bytes.iter_mut().enumerate() {
                let place = t.given + lane;
                if (t.to..t.lanes).contains(&place) {
                    keep |= 1 << lane;
                    *byte = if late {
                        let from = lane + t.from - t.to;
                        if from < b {
                            t.previous[from]
                        } else {
                            current[from - b]
                        }
                    } else {
                        let ahead = t.to - t.from;
                        if lane >= ahead {
                            current[lane - ahead]
                        } else {
                            t.previous[lane + b - ahead]
                        }
                    };
                }
            }
            t.given += b;
            Some((beat_of(&bytes), keep, t.given >= t.lanes))
        };
        let (first_step, equal, full) = (t.first_step, t.to == t.from, result.is_some_and(|r| r.2));
        t.first_step = false;
        t.input_ended |= accepted && inputs.s_axis_tlast;
        t.previous = current;
        let ends = t.input_ended;
        self.hit("late", late && first_step);
        self.hit("not late", !late && first_step && !equal);
        self.hit("aligned", equal && first_step);
        self.hit("dropped input", all_given);
        self.hit("input missing", missing && result.is_some() && !late);
        self.hit("late, with a step more", missing && full && late);
        self.hit("input ends with the last byte", ends && full && accepted);
        result
    }
}

/// R4, H1: every output in every clock is the reference's, for each profile, with stalls, gaps, too much and too little input
/// and resets; and of transfers with enough input the bytes that come out are those that went in.
#[test]
fn random_transfers_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let lanes = params.lanes() as usize;
        let mut unit = Align::new(&params);
        let mut reference = Reference::new(&params);
        let mut command = None;
        let mut input_beats = 0;
        for clock in 0..150_000 {
            let phase = clock / 512;
            let outputs = unit.outputs();
            assert_eq!(outputs, reference.outputs(), "{profile}, clock {clock}");
            let &mut (from, to, bytes) = command.get_or_insert_with(|| {
                let bytes = match random.random_range(0..8) {
                    0..4 => random.random_range(1..=2 * lanes),
                    4..7 => random.random_range(1..=6 * lanes),
                    _ => random.random_range(1..=params.mtu_bytes as usize),
                };
                let from = random.random_range(0..lanes);
                let to = match random.random_range(0..4) {
                    0 => from,
                    _ => random.random_range(0..lanes),
                };
                (from, to, bytes.min(params.mtu_bytes as usize))
            });
            // Enough beats for the active transfer most of the time.
            let needed = reference
                .active
                .as_ref()
                .map_or(1, |t| (t.from + t.lanes - t.to).div_ceil(lanes));
            let inputs = Inputs {
                rst: random.random_ratio(1, 5_000),
                s_axis_command_tvalid: random.random_ratio([16, 6][phase % 2], 16),
                s_axis_command_from: from as u8,
                s_axis_command_to: to as u8,
                s_axis_command_bytes: bytes as u16,
                s_axis_tvalid: random.random_ratio([16, 10][phase / 2 % 2], 16),
                s_axis_tdata: random_beat(&mut random, &params),
                s_axis_tlast: match random.random_range(0..16) {
                    0 => true,
                    1 => false,
                    _ => input_beats + 1 >= needed,
                },
                m_axis_tready: random.random_ratio([16, 12, 3][phase / 4 % 3], 16),
            };
            unit.clock(&inputs);
            reference.clock(&inputs);
            if inputs.rst || (outputs.s_axis_command_tready && inputs.s_axis_command_tvalid) {
                command = None;
            }
            if inputs.s_axis_tvalid && outputs.s_axis_tready {
                input_beats = if inputs.s_axis_tlast { 0 } else { input_beats + 1 };
            }
            if inputs.rst {
                input_beats = 0;
            }
        }
        for (bin, hits) in &reference.bins {
            assert!(*hits > 0, "{profile}: '{bin}' never occurred");
        }
        assert_eq!(reference.bins.len(), 10);
    }
}

/// R4: at every pair of alignments and every length of up to three beats the bytes come out as they went in, at their place.
#[test]
fn bytes_keep_their_order_at_every_alignment() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for profile in ["tiny", "asic400g"] {
        let params = Params::load(profile).unwrap();
        let lanes = params.lanes() as usize;
        let mut unit = Align::new(&params);
        let step = lanes / 8;
        for from in (0..lanes).step_by(step).chain([lanes - 1]) {
            for to in (0..lanes).step_by(step).chain([lanes - 1]) {
                for bytes in (1..=3 * lanes).step_by(step) {
                    let sent: Vec<u8> = (0..bytes).map(|_| random.random()).collect();
                    let mut stream = vec![0xee; from];
                    stream.extend(&sent);
                    stream.resize((from + bytes).next_multiple_of(lanes), 0xee);
                    let mut beats = stream.chunks(lanes).peekable();
                    let mut offer = Some(command(from as u8, to as u8, bytes as u16));
                    let (mut received, mut done) = (vec![], false);
                    while !done {
                        let outputs = unit.outputs();
                        let mut inputs = offer.unwrap_or_else(idle);
                        if outputs.s_axis_command_tready {
                            offer = None;
                        }
                        if outputs.s_axis_tready {
                            inputs.s_axis_tvalid = true;
                            inputs.s_axis_tdata = beat_of(beats.next().unwrap());
                            inputs.s_axis_tlast = beats.peek().is_none();
                        }
                        if outputs.m_axis_tvalid {
                            let first = if received.is_empty() { to } else { 0 };
                            let data = bytes_of(&outputs.m_axis_tdata, lanes);
                            for (lane, byte) in data.into_iter().enumerate() {
                                if outputs.m_axis_tkeep >> lane & 1 == 1 {
                                    assert!(lane >= first);
                                    received.push(byte);
                                } else {
                                    assert_eq!(byte, 0);
                                }
                            }
                            done = outputs.m_axis_tlast;
                        }
                        unit.clock(&inputs);
                    }
                    assert_eq!(received, sent, "{profile}: {bytes} bytes from {from} to {to}");
                }
            }
        }
    }
}
