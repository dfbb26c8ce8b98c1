//! Stimulus of `teller`: packets of a few streams or of many, a `message_table` that answers in order after a while, and messages that are not always taken.
//!
//! The table finds some messages whole, and one or many of a stream to tell one after another; it refuses packets; and now and then it starts a stream anew in between, so that a TELL finds nothing.
//! In some phases operations are only answered once those of all slots are under way, and messages only taken once there is room for no more.

use crate::{
    bins::Bins,
    stimulus::{Flow, Offer, Random, Resets, Spray, Stimulus, low_bits, random},
};
use metaroce_model::{
    Params,
    port::{
        message_table::{op, status},
        teller::{Inputs, Outputs, SLOTS},
    },
    unit::teller::Teller as Unit,
};
use rand::RngExt;
use std::collections::VecDeque;

/// Bins of a clock.
const CLOCK_BINS: [&str; 34] = [
    "tell waits for op alone",
    "tell waits for told alone",
    "tell waits for op and told",
    "tell goes before count",
    "count waits for op alone",
    "count waits for its stream alone",
    "count of a stream in the clock after its slot became free",
    "count of a stream in the clock after another slot became free",
    "count while no slot is busy",
    "count into a slot between two that are busy",
    "count and a result at once",
    "tell and a result at once",
    "more for a slot while a higher-numbered one waits to tell",
    "all slots are busy",
    "all slots wait to tell",
    "operations of all slots are under way",
    "count in the clock after a COUNT was taken",
    "tell in the clock after a COUNT was taken",
    "count in the clock after a TELL was taken",
    "tell in the clock after a TELL was taken",
    "told is full",
    "tell while told holds as many as it may",
    "message goes to told as another leaves",
    "message goes to told that is empty and ready",
    "last message leaves told",
    "COUNT not taken",
    "TELL not taken",
    "message not taken",
    "packet waits while count is full",
    "packet held until it is accepted",
    "packet accepted in the clock after another was counted",
    "packet without bytes",
    "packet of most bytes",
    "packets refused in two clocks in turn",
];

/// Bins of a result.
const RESULT_BINS: [&str; 12] = [
    "message has still parts to come",
    "message is whole, but not the oldest",
    "message is whole, and the oldest",
    "message outside",
    "message too long",
    "told, and no more",
    "told, and more",
    "told the fourth message of a stream in a row",
    "nothing to tell: the stream was started anew",
    "stream started anew that waits to tell",
    "stream started anew with an operation under way",
    "stream started anew that is not worked on",
];

/// Bins of a clock with reset.
const RESET_BINS: [&str; 7] = [
    "reset while all slots are busy",
    "reset while a slot waits to tell",
    "reset while packets wait to be counted",
    "reset while operations are offered",
    "reset while messages are offered",
    "reset while results are awaited",
    "reset after a packet was refused",
];

/// Bins of each slot.
const SLOT_BINS: [&str; 4] = [
    "count into slot {}",
    "tell of slot {}",
    "more for slot {}",
    "slot {} becomes free",
];

const RESULT: usize = CLOCK_BINS.len();
const RESET: usize = RESULT + RESULT_BINS.len();
const SLOT: usize = RESET + RESET_BINS.len();
/// Bin of a packet for which no slot is left, where there are more streams than slots.
const NO_SLOT: usize = SLOT + SLOTS * SLOT_BINS.len();

/// Drives the unit.
pub struct Teller {
    random: Random,
    resets: Resets,
    count: Offer,
    op: Flow,
    told: Flow,
    /// When the table answers.
    answer: Flow,
    told_burst: Burst,
    answer_burst: Burst,
    streams: Spray,
    params: Params,
    phase: Phase,
    /// The packet that is offered until it is accepted.
    held: Option<Inputs>,
    /// What the table has still to answer, the oldest first.
    asked: VecDeque<Asked>,
    /// Of each stream: its oldest message is whole.
    whole: Box<[bool]>,
    /// Of each stream: messages told since its last COUNT.
    in_turn: Box<[u32]>,
    unit: State,
    /// The stream whose slot became free in the clock before.
    freed: Option<u16>,
    /// The operation that was taken in the clock before.
    taken: Option<u8>,
    /// A packet was counted in the clock before.
    counted: bool,
    bins: Bins,
}

/// An operation that the table has taken.
#[derive(Clone, Copy, Debug)]
struct Asked {
    op: u8,
    stream: u16,
    message: u32,
}

/// Begins once most wait, or rarely before, and lasts a clock for each that waits then.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    left: usize,
}

impl Burst {
    /// Whether it goes on in this clock.
    #[inline]
    fn next(&mut self, random: &mut Random, waiting: usize, most: usize) -> bool {
        if self.left == 0 && (waiting >= most || random.random::<u32>() >> 26 == 0) {
            self.left = waiting;
        }
        let goes_on = self.left > 0;
        self.left -= usize::from(goes_on);
        goes_on
    }
}

/// What the unit's queues and slots hold.
#[derive(Clone, Debug, Default)]
struct State {
    slots: [Option<Slot>; SLOTS],
    /// A stream.
    count: Option<u16>,
    /// An operation code.
    op: Option<u8>,
    told: usize,
    /// What happens in this clock.
    decided: Rules,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    stream: u16,
    tell: bool,
}

/// The slots of the rules that are decided in a clock, and happen in the next.
#[derive(Clone, Copy, Debug, Default)]
struct Rules {
    tells: Option<usize>,
    counts: Option<usize>,
}

/// Stretch of clocks of one mixture.
#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    left: u32,
    /// Chances in 16ths that a packet is refused, that one makes its message whole, and that another message can be told.
    refused: u32,
    whole: u32,
    more: u32,
    /// Chance in 256ths that a stream is started anew.
    init: u32,
    /// Answers come, and messages are taken, in bursts; packets are of streams that no slot works on.
    bursts: bool,
}

impl Stimulus<Unit> for Teller {
    fn new(params: &Params, seed: u64) -> Self {
        let streams = params.total_streams();
        let slots = (0..SLOTS).flat_map(|slot| SLOT_BINS.map(|name| name.replace("{}", &slot.to_string())));
        let no_slot = (streams as usize > SLOTS).then(|| "count waits for a slot alone".into());
        let names = [&CLOCK_BINS[..], &RESULT_BINS, &RESET_BINS].concat();
        Self {
            random: random(seed),
            resets: Resets::new(1500),
            count: Offer::new(100),
            op: Flow::new(100),
            told: Flow::new(100),
            answer: Flow::new(100),
            told_burst: Burst::default(),
            answer_burst: Burst::default(),
            streams: Spray::new(streams),
            params: params.clone(),
            phase: Phase::default(),
            held: None,
            asked: VecDeque::new(),
            whole: vec![false; streams as usize].into(),
            in_turn: vec![0; streams as usize].into(),
            unit: State::default(),
            freed: None,
            taken: None,
            counted: false,
            bins: Bins::new(names.into_iter().map(String::from).chain(slots).chain(no_slot)),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let was_held = self.count.held();
        let mut inputs = self.garbage();
        inputs.rst = self.resets.next(&mut self.random);
        self.offer(&mut inputs, outputs);
        inputs.m_axis_op_tready = self.op.next(&mut self.random);
        let (takes, answers) = if self.phase.bursts {
            (
                (self.told_burst).next(&mut self.random, self.unit.told, 2 * SLOTS),
                (self.answer_burst).next(&mut self.random, self.asked.len(), SLOTS),
            )
        } else {
            (
                self.told.next(&mut self.random),
                self.answer.next(&mut self.random),
            )
        };
        inputs.m_axis_told_tready = takes;
        if answers && let Some(asked) = self.asked.pop_front() {
            self.result(&mut inputs, asked);
        }
        if inputs.rst {
            self.reset(&inputs, outputs);
        } else {
            self.count_clock(&inputs, outputs, was_held);
            self.clock(&inputs, outputs);
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Teller {
    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let random = &mut self.random;
        let (a, b, c, d): (u64, u64, u64, u64) =
            (random.random(), random.random(), random.random(), random.random());
        let mask = |value: u64, bits: u32| value & low_bits(bits);
        let stream_bits = self.params.stream_index_bits();
        Inputs {
            s_axis_count_stream: mask(a, stream_bits) as u16,
            s_axis_count_message: mask(a >> 16, 24) as u32,
            s_axis_count_bytes: mask(a >> 40, self.params.payload_bits()) as u16,
            s_axis_count_length: b as u32,
            s_axis_count_immediate: (b >> 32) as u32,
            s_axis_count_kind: mask(a >> 60, 2) as u8,
            result_op: mask(a >> 62, 2) as u8,
            result_stream: mask(c, stream_bits) as u16,
            result_status: mask(c >> 16, 3) as u8,
            result_kind: mask(c >> 19, 2) as u8,
            result_more: c >> 21 & 1 != 0,
            result_message: mask(c >> 22, 24) as u32,
            result_length: d as u32,
            result_immediate: (d >> 32) as u32,
            ..Inputs::default()
        }
    }

    #[inline]
    fn offer(&mut self, inputs: &mut Inputs, outputs: &Outputs) {
        let accepts = outputs.s_axis_count_tready && !inputs.rst;
        let offered = self.count.next(&mut self.random, accepts, true);
        inputs.s_axis_count_tvalid = offered.valid;
        if !offered.real {
            return;
        }
        let packet = match self.held {
            Some(packet) => packet,
            None => self.packet(*inputs),
        };
        inputs.s_axis_count_stream = packet.s_axis_count_stream;
        inputs.s_axis_count_message = packet.s_axis_count_message;
        inputs.s_axis_count_bytes = packet.s_axis_count_bytes;
        inputs.s_axis_count_length = packet.s_axis_count_length;
        inputs.s_axis_count_immediate = packet.s_axis_count_immediate;
        inputs.s_axis_count_kind = packet.s_axis_count_kind;
        self.held = (!accepts).then_some(packet);
    }

    /// A packet of a stream of this phase, from random values.
    #[inline]
    fn packet(&mut self, values: Inputs) -> Inputs {
        let most = self.params.mtu_bytes as u16;
        let stream = self.streams.next(self.random.random());
        let is_idle = |stream: &u16| self.unit.slot_of(*stream).is_none() && self.unit.count != Some(*stream);
        let last = (self.params.total_streams() - 1) as u16;
        let mut idle = (0..=SLOTS as u16).map(|step| (stream + step) & last);
        Inputs {
            s_axis_count_stream: if self.phase.bursts {
                idle.find(is_idle).unwrap_or(stream)
            } else {
                stream
            },
            s_axis_count_bytes: match self.random.random_range(0..16) {
                0 => 0,
                1 => most,
                _ => values.s_axis_count_bytes.min(most),
            },
            ..values
        }
    }

    /// What the table answers.
    #[inline]
    fn result(&mut self, inputs: &mut Inputs, asked: Asked) {
        let (phase, random) = (self.phase, &mut self.random);
        let mut chance = |of_16: u32| random.random_range(0..16) < of_16;
        let whole = &mut self.whole[usize::from(asked.stream)];
        inputs.result_status = match asked.op {
            op::INIT => {
                *whole = false;
                status::DONE
            }
            op::TELL if *whole => {
                *whole = chance(phase.more);
                status::TOLD
            }
            op::TELL => status::NONE,
            _ if chance(phase.refused) => [status::OUTSIDE, status::TOO_LONG][usize::from(chance(8))],
            _ if chance(phase.whole) => {
                *whole = chance(12);
                status::WHOLE
            }
            _ => status::PART,
        };
        inputs.result_valid = true;
        inputs.result_op = asked.op;
        inputs.result_stream = asked.stream;
        inputs.result_more = *whole;
        if asked.op != op::TELL {
            inputs.result_message = asked.message;
        }
        if inputs.result_status != status::TOLD {
            inputs.result_length = 0;
            inputs.result_immediate = 0;
            inputs.result_kind = 0;
        }
    }

    fn reset(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let unit = &self.unit;
        self.bins.hit_each(
            RESET,
            [
                unit.slots.iter().all(Option::is_some),
                unit.slots.iter().flatten().any(|slot| slot.tell),
                unit.count.is_some(),
                outputs.m_axis_op_tvalid,
                outputs.m_axis_told_tvalid,
                inputs.result_valid || !self.asked.is_empty(),
                outputs.refused,
            ],
        );
        self.count.clear();
        self.held = None;
        self.asked.clear();
        self.whole.fill(false);
        self.in_turn.fill(0);
        self.unit = State::default();
        self.freed = None;
        self.taken = None;
        self.counted = false;
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let unit = &mut self.unit;
        let decided = unit.rules();
        let rules = std::mem::replace(&mut unit.decided, decided);
        self.taken = unit.op.filter(|_| inputs.m_axis_op_tready);
        self.counted = rules.counts.is_some();
        if self.taken.is_some() {
            unit.op = None;
            self.asked.push_back(Asked {
                op: outputs.m_axis_op_op,
                stream: outputs.m_axis_op_stream,
                message: outputs.m_axis_op_message,
            });
        }
        unit.told -= usize::from(outputs.m_axis_told_tvalid && inputs.m_axis_told_tready);
        self.freed = None;
        if inputs.result_valid && inputs.result_op != op::INIT {
            unit.told += usize::from(inputs.result_status == status::TOLD);
            let slot = unit.slot_of(inputs.result_stream);
            let kept = inputs.result_more.then_some(Slot {
                stream: inputs.result_stream,
                tell: true,
            });
            unit.slots[slot.expect("what was asked is of a busy slot")] = kept;
            self.freed = kept.is_none().then_some(inputs.result_stream);
        }
        if let Some(slot) = rules.tells {
            unit.op = Some(op::TELL);
            if let Some(slot) = &mut unit.slots[slot] {
                slot.tell = false;
            }
        }
        if let Some(slot) = rules.counts
            && let Some(stream) = unit.count.take()
        {
            unit.op = Some(op::COUNT);
            unit.slots[slot] = Some(Slot { stream, tell: false });
        }
        if inputs.s_axis_count_tvalid && outputs.s_axis_count_tready {
            unit.count = Some(inputs.s_axis_count_stream);
        }
        // The driver may start any stream anew at any time.
        if self.random.random_range(0..256) < self.phase.init {
            self.asked.push_back(Asked {
                op: op::INIT,
                stream: self.streams.next(self.random.random()),
                message: self.random.random::<u32>() >> 8,
            });
        }
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        self.phase = Phase {
            left: random.random_range(1..=1000),
            refused: [0, 1, 4, 16][random.random_range(0..4)],
            whole: [1, 8, 16][random.random_range(0..3)],
            more: [0, 8, 14, 16][random.random_range(0..4)],
            init: [0, 0, 2, 16][random.random_range(0..4)],
            bursts: false,
        };
        self.streams.change(random, 2 * SLOTS as u32);
        // All streams have messages to tell, one after another.
        if random.random_range(0..4) == 0 {
            self.streams = Spray::new(self.params.total_streams());
            (self.phase.refused, self.phase.whole, self.phase.more) = (0, 16, 15);
            self.phase.bursts = random.random();
        }
        self.count.change([10, 200, 1000][random.random_range(0..3)]);
        for flow in [&mut self.op, &mut self.told, &mut self.answer] {
            *flow = Flow::new([10, 200, 1000][random.random_range(0..3)]);
        }
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs, was_held: bool) {
        let unit = &self.unit;
        let rules = unit.rules();
        let (tells, counts) = (rules.tells.is_some(), rules.counts.is_some());
        let (op_room, may_tell) = (unit.op.is_none(), unit.told <= SLOTS);
        let busy = unit.slots.iter().flatten();
        let telling = busy.clone().filter(|slot| slot.tell).count();
        let busy = busy.count();
        let head = unit.count;
        let is_same = head.is_some_and(|stream| unit.slot_of(stream).is_some());
        let is_new = head.is_some() && !is_same;
        let is_busy = |slot: &Option<Slot>| slot.is_some();
        let between = |slot: usize| {
            unit.slots[..slot].iter().any(is_busy) && unit.slots[slot + 1..].iter().any(is_busy)
        };
        let accepts = inputs.s_axis_count_tvalid && outputs.s_axis_count_tready;
        let takes_op = outputs.m_axis_op_tvalid && inputs.m_axis_op_tready;
        let takes_told = outputs.m_axis_told_tvalid && inputs.m_axis_told_tready;
        let op_waits = outputs.m_axis_op_tvalid && !takes_op;
        let is_tell = outputs.m_axis_op_op == op::TELL;
        let is_result = inputs.result_valid && inputs.result_op != op::INIT;
        let is_told = is_result && inputs.result_status == status::TOLD;
        let more = is_result && inputs.result_more;
        let hit = unit.slot_of(inputs.result_stream).filter(|_| inputs.result_valid);
        let refuses = is_result && matches!(inputs.result_status, status::OUTSIDE | status::TOO_LONG);
        let waits_above = |slot: usize| {
            let mut above = unit.slots.iter().enumerate().skip(slot + 1);
            above.any(|(at, slot)| rules.tells != Some(at) && slot.is_some_and(|slot| slot.tell))
        };
        self.bins.hit_each(
            0,
            [
                telling > 0 && !op_room && may_tell,
                telling > 0 && op_room && !may_tell,
                telling > 0 && !op_room && !may_tell,
                tells && is_new && busy < SLOTS,
                is_new && busy < SLOTS && !op_room && telling == 0,
                is_same && busy < SLOTS && op_room && !tells,
                counts && self.freed.is_some() && self.freed == head,
                counts && self.freed.is_some() && self.freed != head,
                counts && busy == 0,
                rules.counts.is_some_and(between),
                counts && is_result,
                tells && is_result,
                more && hit.is_some_and(waits_above),
                busy == SLOTS,
                telling == SLOTS,
                self.asked.iter().filter(|asked| asked.op != op::INIT).count() == SLOTS,
                counts && self.taken == Some(op::COUNT),
                tells && self.taken == Some(op::COUNT),
                counts && self.taken == Some(op::TELL),
                tells && self.taken == Some(op::TELL),
                unit.told == 2 * SLOTS,
                tells && unit.told == SLOTS,
                is_told && takes_told,
                is_told && unit.told == 0 && inputs.m_axis_told_tready,
                takes_told && unit.told == 1 && !is_told,
                op_waits && !is_tell,
                op_waits && is_tell,
                outputs.m_axis_told_tvalid && !takes_told,
                inputs.s_axis_count_tvalid && !accepts,
                was_held && accepts,
                accepts && self.counted,
                accepts && inputs.s_axis_count_bytes == 0,
                accepts && u32::from(inputs.s_axis_count_bytes) == self.params.mtu_bytes,
                outputs.refused && refuses,
            ],
        );
        if is_new && busy == SLOTS && op_room && !tells {
            self.bins.hit(NO_SLOT, true);
        }
        let of_slot = |slot: usize, bin: usize| SLOT + slot * SLOT_BINS.len() + bin;
        if let Some(slot) = rules.counts {
            self.bins.hit(of_slot(slot, 0), true);
        }
        if let Some(slot) = rules.tells {
            self.bins.hit(of_slot(slot, 1), true);
        }
        if is_result && let Some(slot) = hit {
            self.bins.hit(of_slot(slot, if more { 2 } else { 3 }), true);
        }
        if inputs.result_valid {
            let slot = hit.and_then(|slot| unit.slots[slot]);
            self.count_result(inputs, slot);
        }
    }

    /// A result, for a stream that has the slot.
    #[inline]
    fn count_result(&mut self, inputs: &Inputs, slot: Option<Slot>) {
        let is = |code: u8| inputs.result_status == code;
        let more = inputs.result_more;
        let in_turn = &mut self.in_turn[usize::from(inputs.result_stream)];
        *in_turn = if is(status::TOLD) { *in_turn + 1 } else { 0 };
        self.bins.hit_each(
            RESULT,
            [
                is(status::PART),
                is(status::WHOLE) && !more,
                is(status::WHOLE) && more,
                is(status::OUTSIDE),
                is(status::TOO_LONG),
                is(status::TOLD) && !more,
                is(status::TOLD) && more,
                *in_turn == 4,
                is(status::NONE),
                is(status::DONE) && slot.is_some_and(|slot| slot.tell),
                is(status::DONE) && slot.is_some_and(|slot| !slot.tell),
                is(status::DONE) && slot.is_none(),
            ],
        );
    }
}

impl State {
    /// The slot that works on a stream.
    #[inline]
    fn slot_of(&self, stream: u16) -> Option<usize> {
        let is_its = |slot: &Option<Slot>| slot.is_some_and(|slot| slot.stream == stream);
        self.slots.iter().position(is_its)
    }

    #[inline]
    fn rules(&self) -> Rules {
        let happens = self.decided.tells.is_some() || self.decided.counts.is_some();
        let op_room = self.op.is_none() && !happens;
        let tells = (self.slots.iter())
            .position(|slot| slot.is_some_and(|slot| slot.tell))
            .filter(|_| op_room && self.told <= SLOTS);
        let counts = self
            .count
            .filter(|&stream| op_room && tells.is_none() && self.slot_of(stream).is_none())
            .and_then(|_| self.slots.iter().position(Option::is_none));
        Rules { tells, counts }
    }
}
