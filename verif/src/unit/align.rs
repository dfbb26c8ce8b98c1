//! Stimulus of `align`: transfers of every alignment and length, with more and fewer input beats than their bytes need.

use crate::{
    bins::Bins,
    occupancy::Occupancy,
    stimulus::{Flow, Offer, Random, Resets, Stimulus, beat, random},
};
use metaroce_model::{
    Params,
    port::{
        Beat,
        align::{Inputs, LATENCY, Outputs},
    },
    unit::align::Align as Unit,
};
use rand::RngExt;
use std::collections::VecDeque;

/// Bins of a clock.
const CLOCK_BINS: [&str; 12] = [
    "command waits for the command register",
    "command register full while a transfer is active",
    "input beat offered without a transfer",
    "input beat offered to a transfer that needs none any more",
    "input starved in mid-transfer",
    "step without input",
    "output beat not taken",
    "stands still with every place full",
    "last beat of one transfer and first of the next leave back to back",
    "reset in mid-transfer",
    "reset while a command waits in its register",
    "reset while beats are in the pipeline",
];

/// Bins of a transfer that takes its last step.
const TRANSFER_BINS: [&str; 18] = [
    "one input beat, one output beat, not late",
    "one input beat, one output beat, late",
    "one input beat, two output beats",
    "two input beats, one output beat",
    "two input beats, two output beats, not late",
    "two input beats, two output beats, late",
    "one input beat more than the bytes need",
    "several input beats more than the bytes need",
    "extra input beats of a late transfer",
    "one input beat missing",
    "several input beats missing",
    "all but the first input beat missing of many",
    "input beats missing of a late transfer",
    "first step in the clock after the last one of the transfer before",
    "that, of a transfer of one step behind another of one step",
    "that, behind a transfer that ended without input",
    "largest transfer without a clock lost",
    "begins after the unit was at rest",
];

/// Bytes that have bins of their own: each once not late, once late.
const BYTES: [&str; 7] = ["1", "2", "B - 1", "B", "B + 1", "mtu - 1", "mtu"];

const TRANSFER: usize = CLOCK_BINS.len();
const LENGTH: usize = TRANSFER + TRANSFER_BINS.len();
const PAIR: usize = LENGTH + 2 * BYTES.len();
/// Parts of a beat of which each pair (from, to) has a bin: lanes, where there are eight.
const PARTS: u32 = 8;
const SHIFT: usize = PAIR + (PARTS * PARTS) as usize;

/// Drives the unit.
pub struct Align {
    random: Random,
    command: Offer,
    input: Offer,
    output: Flow,
    resets: Resets,
    lanes: u32,
    mtu: u32,
    phase: Phase,
    /// Transfers whose command or input has not all been accepted, the oldest first.
    transfers: VecDeque<Transfer>,
    /// How many of them have their command accepted, and whether the first's input is half given.
    commanded: usize,
    given: u32,
    next: Beat,
    /// The command register and the active transfer.
    register: Option<Transfer>,
    active: Option<Active>,
    pipeline: Occupancy,
    /// How the last transfer ended, if it took its last step in the last clock; the output beat taken in the last clock was one's last.
    ended: Option<Ended>,
    left_last: bool,
    bins: Bins,
}

#[derive(Clone, Copy, Debug, Default)]
struct Transfer {
    from: u32,
    to: u32,
    bytes: u32,
    /// Input beats that it has.
    beats: u32,
}

impl Transfer {
    fn late(&self) -> bool {
        self.to < self.from
    }
}

#[derive(Clone, Copy, Debug)]
struct Active {
    transfer: Transfer,
    steps: u32,
    /// Output beats given.
    given: u32,
    needs_input: bool,
    /// Clocks since it became active, at the first step and now.
    clocks: u32,
    behind: Option<Ended>,
}

/// What a transfer was that took its last step in the clock before.
#[derive(Clone, Copy, Debug)]
struct Ended {
    steps: u32,
    without_input: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    left: u32,
    lengths: Lengths,
    /// Chance in 256ths of a transfer with beats too many, and with beats too few.
    extra: u32,
    missing: u32,
}

#[derive(Clone, Copy, Debug, Default)]
enum Lengths {
    #[default]
    Edges,
    Short,
    Packets,
    Any,
}

impl Stimulus<Unit> for Align {
    fn new(params: &Params, seed: u64) -> Self {
        let lengths = ["not late", "late"]
            .iter()
            .flat_map(|late| BYTES.iter().map(move |bytes| format!("{bytes} bytes, {late}")));
        let lanes = params.lanes();
        let part = |number: u32| match lanes / PARTS {
            1 => format!("{number}"),
            size => format!("{} to {}", number * size, number * size + size - 1),
        };
        let pairs = (0..PARTS * PARTS)
            .map(|pair| format!("from lane {}, to lane {}", part(pair / PARTS), part(pair % PARTS)));
        let shifts = (0..lanes).map(|shift| format!("to - from is {shift} modulo B"));
        let names = CLOCK_BINS.iter().chain(&TRANSFER_BINS).map(ToString::to_string);
        Self {
            random: random(seed),
            command: Offer::new(100),
            input: Offer::new(100),
            output: Flow::new(100),
            resets: Resets::new(4000),
            lanes,
            mtu: params.mtu_bytes,
            phase: Phase::default(),
            transfers: VecDeque::new(),
            commanded: 0,
            given: 0,
            next: Beat::default(),
            register: None,
            active: None,
            pipeline: Occupancy::new(LATENCY),
            ended: None,
            left_last: false,
            bins: Bins::new(names.chain(lengths).chain(pairs).chain(shifts)),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let accepts = outputs.s_axis_tready && !rst;
        let offered = self.input.next(&mut self.random, accepts, true);
        let accepts_command = outputs.s_axis_command_tready && !rst;
        let command_offered = self.command.next(&mut self.random, accepts_command, true);
        if self.transfers.len() == self.commanded {
            self.plan();
        }
        let bits: u64 = self.random.random();
        let command = if command_offered.real {
            self.transfers[self.commanded]
        } else {
            Transfer {
                from: bits as u32 & (self.lanes - 1),
                to: (bits >> 8) as u32 & (self.lanes - 1),
                bytes: (bits >> 16) as u32 & (2 * self.mtu - 1),
                beats: 0,
            }
        };
        let last = self.given + 1 == self.transfers[0].beats;
        let inputs = Inputs {
            rst,
            s_axis_command_tvalid: command_offered.valid,
            s_axis_command_from: command.from as u8,
            s_axis_command_to: command.to as u8,
            s_axis_command_bytes: command.bytes as u16,
            s_axis_tvalid: offered.valid,
            s_axis_tdata: if offered.real {
                self.next
            } else {
                beat(&mut self.random, self.lanes)
            },
            s_axis_tlast: if offered.real { last } else { bits >> 63 != 0 },
            m_axis_tready: self.output.next(&mut self.random),
        };
        self.count_clock(&inputs, outputs);
        if rst {
            self.reset();
        } else {
            self.clock(
                command_offered.real && accepts_command,
                offered.real && accepts,
                &inputs,
                outputs,
            );
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Align {
    fn reset(&mut self) {
        self.command.clear();
        self.input.clear();
        self.transfers.clear();
        (self.commanded, self.given) = (0, 0);
        (self.register, self.active, self.ended) = (None, None, None);
        self.pipeline.clear();
        self.left_last = false;
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, command: bool, accepted: bool, inputs: &Inputs, outputs: &Outputs) {
        let taken = outputs.m_axis_tvalid && inputs.m_axis_tready;
        let mut ends = None;
        let mut gives = false;
        if let Some(active) = &mut self.active {
            active.clocks += 1;
            if self.pipeline.moves() && (!active.needs_input || accepted) {
                gives = active.step(self.lanes, accepted && inputs.s_axis_tlast);
                if active.ended(self.lanes) {
                    ends = Some(Ended {
                        steps: active.steps,
                        without_input: !accepted,
                    });
                }
            }
        }
        if ends.is_some()
            && let Some(active) = self.active
        {
            self.count_transfer(&active);
        }
        if (self.active.is_none() || ends.is_some())
            && let Some(transfer) = self.register.take()
        {
            self.active = Some(Active {
                transfer,
                steps: 0,
                given: 0,
                needs_input: true,
                clocks: 0,
                behind: ends,
            });
        } else if ends.is_some() {
            self.active = None;
        }
        self.ended = ends;
        if command {
            self.register = Some(self.transfers[self.commanded]);
            self.commanded += 1;
        }
        if accepted {
            self.given += 1;
            if inputs.s_axis_tlast {
                self.given = 0;
                self.commanded -= 1;
                self.transfers.pop_front();
            }
            self.next = beat(&mut self.random, self.lanes);
        }
        self.pipeline.clock(gives, taken);
        self.left_last = taken && outputs.m_axis_tlast;
    }

    /// Adds a transfer.
    fn plan(&mut self) {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let (lanes, mtu) = (self.lanes, self.mtu);
        let random = &mut self.random;
        let from = random.random_range(0..lanes);
        let to = match random.random_range(0..8) {
            0 => from,
            _ => random.random_range(0..lanes),
        };
        let bytes = match self.phase.lengths {
            Lengths::Edges => [1, 2, lanes - 1, lanes, lanes + 1, 2 * lanes][random.random_range(0..6)],
            Lengths::Short => random.random_range(1..=4 * lanes),
            Lengths::Packets => mtu - [0, 0, 1, random.random_range(0..lanes)][random.random_range(0..4)],
            Lengths::Any => random.random_range(1..=mtu),
        };
        let bytes = bytes.min(mtu);
        let needed = (from + bytes).div_ceil(lanes);
        let chance = random.random::<u32>() >> 24;
        let beats = if chance < self.phase.extra {
            needed + [1, 1, 2, random.random_range(1..=20)][random.random_range(0..4)]
        } else if chance < self.phase.extra + self.phase.missing && needed > 1 {
            match random.random_range(0..4) {
                0 => 1,
                1 => needed - 1,
                _ => random.random_range(1..needed),
            }
        } else {
            needed
        };
        self.transfers.push_back(Transfer {
            from,
            to,
            bytes,
            beats,
        });
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let lengths = match random.random_range(0..16) {
            0..=6 => Lengths::Edges,
            7..=12 => Lengths::Short,
            13 => Lengths::Any,
            _ => Lengths::Packets,
        };
        let (extra, missing) = [(0, 0), (0, 0), (128, 0), (0, 128), (64, 64)][random.random_range(0..5)];
        let most = match lengths {
            Lengths::Edges | Lengths::Short => 200,
            Lengths::Packets | Lengths::Any => 6,
        };
        self.phase = Phase {
            left: random.random_range(1..=most),
            lengths,
            extra,
            missing,
        };
        for offer in [&mut self.command, &mut self.input] {
            offer.change([10, 200, 1000][random.random_range(0..3)]);
        }
        self.output = Flow::new([10, 200, 1000][random.random_range(0..3)]);
    }

    /// A transfer has taken its last step.
    #[inline]
    fn count_transfer(&mut self, active: &Active) {
        let transfer = active.transfer;
        let (lanes, late) = (self.lanes, transfer.late());
        let needed = (transfer.from + transfer.bytes).div_ceil(lanes);
        let beats = active.given;
        let exact = transfer.beats == needed;
        let at = |inputs: u32, outputs: u32| exact && (needed, beats) == (inputs, outputs);
        let (extra, missing) = (
            transfer.beats.saturating_sub(needed),
            needed.saturating_sub(transfer.beats),
        );
        let at_once = active.behind.is_some_and(|_| active.clocks == active.steps);
        self.bins.hit_each(
            TRANSFER,
            [
                at(1, 1) && !late,
                at(1, 1) && late,
                at(1, 2),
                at(2, 1),
                at(2, 2) && !late,
                at(2, 2) && late,
                extra == 1,
                extra > 1,
                extra > 0 && late,
                missing == 1,
                missing > 1,
                transfer.beats == 1 && missing > 3,
                missing > 0 && late,
                at_once,
                at_once && active.steps == 1 && active.behind.is_some_and(|behind| behind.steps == 1),
                at_once && active.behind.is_some_and(|behind| behind.without_input),
                transfer.bytes == self.mtu && active.clocks == active.steps,
                active.behind.is_none() && active.clocks == active.steps,
            ],
        );
        let late_bins = if late { BYTES.len() } else { 0 };
        let lengths = [1, 2, lanes - 1, lanes, lanes + 1, self.mtu - 1, self.mtu];
        for (number, bytes) in lengths.into_iter().enumerate() {
            self.bins
                .hit(LENGTH + late_bins + number, transfer.bytes == bytes);
        }
        let part = |lane: u32| lane * PARTS / lanes;
        let pair = part(transfer.from) * PARTS + part(transfer.to);
        self.bins.hit(PAIR + pair as usize, true);
        let shift = transfer.to.wrapping_sub(transfer.from) & (lanes - 1);
        self.bins.hit(SHIFT + shift as usize, true);
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let moves = self.pipeline.moves();
        let offered = inputs.s_axis_tvalid && !inputs.rst;
        let needs = self.active.is_some_and(|active| active.needs_input);
        let needs_none = self.active.is_some_and(|active| !active.needs_input);
        let begun = self.active.is_some_and(|active| active.steps > 0);
        debug_assert_eq!(outputs.s_axis_tready, moves && needs);
        self.bins.hit_each(
            0,
            [
                inputs.s_axis_command_tvalid && !outputs.s_axis_command_tready && !inputs.rst,
                self.register.is_some() && self.active.is_some(),
                offered && self.active.is_none(),
                offered && needs_none,
                !inputs.s_axis_tvalid && moves && needs && begun,
                needs_none && moves && !inputs.rst,
                outputs.m_axis_tvalid && !inputs.m_axis_tready && !inputs.rst,
                self.pipeline.is_full(),
                outputs.m_axis_tvalid && inputs.m_axis_tready && self.left_last,
                inputs.rst && begun,
                inputs.rst && self.register.is_some(),
                inputs.rst && !self.pipeline.is_empty(),
            ],
        );
    }
}

impl Active {
    /// A step; whether it gives a beat.
    #[inline]
    fn step(&mut self, lanes: u32, last_input: bool) -> bool {
        let gives = !(self.all_given(lanes) || self.steps == 0 && self.transfer.late());
        self.steps += 1;
        self.given += u32::from(gives);
        self.needs_input &= !last_input;
        gives
    }

    fn all_given(&self, lanes: u32) -> bool {
        self.given * lanes >= self.transfer.to + self.transfer.bytes
    }

    fn ended(&self, lanes: u32) -> bool {
        !self.needs_input && self.all_given(lanes)
    }
}
