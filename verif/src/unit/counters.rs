//! Stimulus of `counters`: events in phases from none to all in every clock, of codes that change or stay, while an index at random, in turn or held is shown.

use crate::{
    bins::{Bins, bins},
    stimulus::{Flow, Random, Resets, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::counters::{COUNTERS, INDEX_BITS, Inputs, Outputs, index},
    unit::counters::Counters as Unit,
};
use rand::RngExt;

bins! {
    None = "nothing happens",
    All = "everything happens in one clock",
    SeenHappening = "counter shown in the clock of its event",
    SeenAfter = "counter shown in the clock after its event",
    Twice = "one counter counts in two clocks in a row",
    Other = "one unit's events count at two counters in two clocks in a row",
    Idle = "garbage code without an event",
    Byte = "counter passes a multiple of 256",
    Long = "counter passes a multiple of 4096",
    Between = "number without a counter shown, below the last counter's",
    Beyond = "number from COUNTERS on shown",
    Group = "shown number changes in its upper bits alone",
    Lower = "shown number changes in its lower bits alone",
    ResetCounted = "reset while counters are not zero",
    ResetEvent = "event in a clock with reset",
    ResetShown = "reset while a counter is shown that is not zero",
}

/// Bins of each counter: it counted, and it was shown when not zero.
const OF_COUNTER: [&str; 2] = ["counts", "is shown, not zero"];

/// Inputs that say by themselves what happened, from this counter on.
const PLAIN: usize = 7;
/// Events of a clock: one each of three units with codes, and the plain ones.
const EVENTS: usize = 3 + PLAIN;
/// First counter and codes of the units with codes.
const CODED: [(u8, std::ops::RangeInclusive<u8>); 3] = [
    (index::PARSER, 0..=10),
    (index::RECEIVER, 2..=10),
    (index::RETIREMENT, 0..=2),
];
const FIRST_PLAIN: u8 = index::RECEIVED_REFUSED;

/// Numbers that have a counter.
fn numbers() -> impl Iterator<Item = u8> {
    let coded = CODED
        .into_iter()
        .flat_map(|(first, codes)| codes.map(move |code| first + code));
    coded.chain(FIRST_PLAIN..FIRST_PLAIN + PLAIN as u8)
}

/// How the index changes.
#[derive(Clone, Copy, Debug)]
enum Look {
    Random,
    InTurn,
    Held,
    /// The counter of an event of this clock.
    Happening,
}

/// Drives the unit.
pub struct Counters {
    random: Random,
    resets: Resets,
    flows: [Flow; EVENTS],
    /// Anything may happen.
    busy: Flow,
    /// Clocks left of the phase.
    left: u32,
    look: Look,
    /// Codes stay as they are through the phase.
    steady: bool,
    codes: [u8; 3],
    last_index: u8,
    counters: [u32; COUNTERS],
    /// What counted in the clock before, event by event.
    last: [Option<u8>; EVENTS],
    /// First bin of each number that has a counter.
    bin_of: [Option<usize>; COUNTERS],
    bins: Bins,
}

impl Stimulus<Unit> for Counters {
    fn new(_: &Params, seed: u64) -> Self {
        let mut bin_of = [None; COUNTERS];
        let mut names: Vec<String> = BINS.iter().map(ToString::to_string).collect();
        for number in numbers() {
            bin_of[usize::from(number)] = Some(names.len());
            names.extend(OF_COUNTER.map(|what| format!("counter {number} {what}")));
        }
        Self {
            random: random(seed),
            resets: Resets::new(15_000),
            flows: std::array::from_fn(|_| Flow::new(300)),
            busy: Flow::new(1000),
            left: 0,
            look: Look::Random,
            steady: false,
            codes: [0; 3],
            last_index: 0,
            counters: [0; COUNTERS],
            last: [None; EVENTS],
            bin_of,
            bins: Bins::new(names),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.left == 0 {
            self.change_phase();
        }
        self.left -= 1;
        let rst = self.resets.next(&mut self.random);
        let busy = self.busy.next(&mut self.random);
        let happens: [bool; EVENTS] =
            std::array::from_fn(|event| busy & self.flows[event].next(&mut self.random));
        let bits: u64 = self.random.random();
        let mut codes = [0; 3];
        let mut counted = [None; EVENTS];
        for (unit, (first, range)) in CODED.into_iter().enumerate() {
            let (least, most) = range.into_inner();
            if !self.steady {
                self.codes[unit] = self.random.random_range(least..=most);
            }
            let garbage = (bits >> (8 * unit)) as u8 & if unit == 2 { 3 } else { 15 };
            codes[unit] = if happens[unit] { self.codes[unit] } else { garbage };
            counted[unit] = happens[unit].then_some(first + codes[unit]);
        }
        for plain in 0..PLAIN {
            counted[3 + plain] = happens[3 + plain].then_some(FIRST_PLAIN + plain as u8);
        }
        let read_index = match self.look {
            Look::Random => (bits >> 32) as u8 & (u8::MAX >> (8 - INDEX_BITS)),
            Look::InTurn => (self.last_index + 1) & (u8::MAX >> (8 - INDEX_BITS)),
            Look::Held => self.last_index,
            Look::Happening => {
                let event = (bits >> 32) as usize % EVENTS;
                counted[event].unwrap_or(self.last_index)
            }
        };
        let inputs = Inputs {
            rst,
            parser_valid: happens[0],
            parser_reason: codes[0],
            receiver_valid: happens[1],
            receiver_event: codes[1],
            retirement_valid: happens[2],
            retirement_event: codes[2],
            received_refused: happens[3],
            sent_refused: happens[4],
            request_refused: happens[5],
            receive_refused: happens[6],
            timed_out: happens[7],
            sent_again: happens[8],
            probed: happens[9],
            read_index,
        };
        self.count(&inputs, outputs, &counted);
        self.clock(rst, &counted);
        self.last_index = read_index;
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Counters {
    fn change_phase(&mut self) {
        let random = &mut self.random;
        // A long phase of one code lets a counter carry far.
        self.steady = random.random();
        self.left = random.random_range(1..=if self.steady { 8000 } else { 500 });
        self.look = match random.random_range(0..4) {
            0 => Look::Random,
            1 => Look::InTurn,
            2 => Look::Held,
            _ => Look::Happening,
        };
        for (code, (_, range)) in self.codes.iter_mut().zip(CODED) {
            *code = random.random_range(range);
        }
        let longest = [10, 300, 3000][random.random_range(0..3)];
        self.flows = std::array::from_fn(|_| Flow::new(longest));
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, rst: bool, counted: &[Option<u8>; EVENTS]) {
        if rst {
            self.counters = [0; COUNTERS];
            self.last = [None; EVENTS];
            return;
        }
        for number in counted.iter().flatten() {
            self.counters[usize::from(*number)] += 1;
        }
        self.last = *counted;
    }

    #[inline]
    fn count(&mut self, inputs: &Inputs, outputs: &Outputs, counted: &[Option<u8>; EVENTS]) {
        let shown = usize::from(inputs.read_index);
        let bin = |bin: Bin| bin as usize;
        if inputs.rst {
            let any = self.counters.iter().any(|&counter| counter != 0);
            self.bins.hit(bin(Bin::ResetCounted), any);
            self.bins
                .hit(bin(Bin::ResetEvent), counted.iter().any(Option::is_some));
            self.bins.hit(bin(Bin::ResetShown), outputs.value != 0);
            return;
        }
        let valid = [
            inputs.parser_valid,
            inputs.receiver_valid,
            inputs.retirement_valid,
        ];
        let passes = |distance: u32| {
            let mut numbers = counted.iter().flatten();
            numbers.any(|&number| (self.counters[usize::from(number)] + 1).is_multiple_of(distance))
        };
        let pairs = || self.last.iter().zip(counted);
        let upper_changes = inputs.read_index >> 3 != self.last_index >> 3;
        let lower_changes = inputs.read_index & 7 != self.last_index & 7;
        let happened = [
            counted.iter().all(Option::is_none),
            counted.iter().all(Option::is_some),
            counted.contains(&Some(inputs.read_index)),
            self.last.contains(&Some(inputs.read_index)),
            pairs().any(|(last, now)| last.is_some() && last == now),
            pairs().any(|(last, now)| last.is_some() && now.is_some() && last != now),
            valid.contains(&false),
            passes(256),
            passes(4096),
            shown < COUNTERS && self.bin_of[shown].is_none(),
            shown >= COUNTERS,
            upper_changes && !lower_changes,
            lower_changes && !upper_changes,
        ];
        self.bins.hit_each(0, happened);
        for number in counted.iter().flatten() {
            if let Some(first) = self.bin_of[usize::from(*number)] {
                self.bins.hit(first, true);
            }
        }
        if shown < COUNTERS
            && let Some(first) = self.bin_of[shown]
        {
            self.bins.hit(first + 1, self.counters[shown] != 0);
        }
    }
}
