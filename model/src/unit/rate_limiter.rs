//! Model of `rate_limiter`. Contract: [`crate::port::rate_limiter`].

use super::Unit;
use crate::{
    Params,
    pipeline::{IssueRegister, Pipeline},
    port::rate_limiter::{
        ELAPSED_BITS, HEAD_CLOCKS, INSERT_CLOCKS, Inputs, LATENCY, LINK_CLOCKS, Outputs, RATE_MANTISSA_BITS,
        SAME_CONNECTION_CLOCKS, TOKEN_FRACTION_BITS, op,
    },
    serial::Serial,
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct RateLimiter {
    widths: Widths,
    buckets: Vec<Bucket>,
    wheel: Wheel,
    input: IssueRegister<Operation, SAME_CONNECTION_CLOCKS>,
    pipeline: Pipeline<Event, { LATENCY - 1 }>,
    /// Clocks until the clear after reset is over. While it lasts buckets and wheel are as after reset.
    clear_left: u32,
}

impl Unit for RateLimiter {
    const NAME: &'static str = "rate_limiter";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        Self {
            widths: Widths {
                timestamp: Serial::new(params.timestamp_bits),
                token_bytes: Serial::new(params.burst_bits + 1),
                max_packet_bytes: params.max_packet_bytes,
                least_tokens: -(1 << (params.burst_bits + TOKEN_FRACTION_BITS)),
            },
            buckets: vec![Bucket::STOPPED; params.connections as usize],
            wheel: Wheel::new(params),
            input: IssueRegister::new(),
            pipeline: Pipeline::new(),
            clear_left: params.connections,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let enabled = self.pipeline.moves() && self.wheel.offered().is_none();
        let s_axis_op_tready = self.clear_left == 0 && self.input.ready(enabled);
        let Some(event) = self.pipeline.output() else {
            return Outputs {
                s_axis_op_tready,
                ..Default::default()
            };
        };
        Outputs {
            s_axis_op_tready,
            m_axis_event_tvalid: true,
            m_axis_event_op: event.op,
            m_axis_event_connection: event.connection,
            m_axis_event_eligible: event.tokens >= 0,
            m_axis_event_tokens: event.tokens as u32 & self.widths.token_bytes.mask(),
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        if self.clear_left > 0 {
            self.clear_left -= 1;
            self.wheel.rest(inputs.now);
            return;
        }
        let moves = self.pipeline.moves();
        let mut event = None;
        if moves {
            let mut insertion = None;
            let mut rechecked = false;
            if let Some(connection) = self.wheel.offered() {
                rechecked = self.input.issue_other(connection);
                if rechecked {
                    (event, insertion) = self.recheck(connection, inputs.now);
                }
            } else if let Some(operation) = self.input.issue(true) {
                (event, insertion) = self.execute(&operation, inputs.now);
            }
            self.wheel.clock(inputs.now, insertion, rechecked);
        }
        self.pipeline.clock(event, inputs.m_axis_event_tready);
        let offered = inputs.s_axis_op_tvalid.then(|| {
            let operation = Operation {
                op: inputs.s_axis_op_op,
                connection: inputs.s_axis_op_connection,
                rate: Rate(inputs.s_axis_op_rate),
                burst: inputs.s_axis_op_burst,
                bytes: inputs.s_axis_op_bytes,
            };
            (Some(operation.connection), operation)
        });
        self.input.clock(moves, offered);
    }
}

impl RateLimiter {
    fn reset(&mut self) {
        // A reset held for long costs no more than one: nothing is written before the clear is over.
        if self.clear_left == 0 {
            self.buckets.fill(Bucket::STOPPED);
            self.wheel.clear();
        }
        self.clear_left = self.buckets.len() as u32;
        self.input = IssueRegister::new();
        self.pipeline = Pipeline::new();
    }

    #[inline]
    fn execute(&mut self, operation: &Operation, now: u32) -> (Option<Event>, Option<Insertion>) {
        let bucket = &mut self.buckets[usize::from(operation.connection)];
        bucket.settle(now, &self.widths);
        match operation.op {
            op::CONFIGURE => bucket.configure(operation, &self.widths),
            op::CHARGE => bucket.charge(operation.bytes, &self.widths),
            op::HINT => bucket.rate = operation.rate,
            _ => {}
        }
        let event = bucket.event(operation.op, operation.connection);
        (Some(event), bucket.wait(operation.connection, &self.wheel))
    }

    #[inline]
    fn recheck(&mut self, connection: u16, now: u32) -> (Option<Event>, Option<Insertion>) {
        let bucket = &mut self.buckets[usize::from(connection)];
        bucket.waiting = false;
        bucket.settle(now, &self.widths);
        let event = bucket.eligible().then(|| bucket.event(op::WAKE, connection));
        (event, bucket.wait(connection, &self.wheel))
    }
}

/// An accepted operation.
#[derive(Clone, Copy, Debug)]
struct Operation {
    op: u8,
    connection: u16,
    rate: Rate,
    burst: u32,
    bytes: u16,
}

/// What comes out.
#[derive(Clone, Copy, Debug)]
struct Event {
    op: u8,
    connection: u16,
    /// In whole bytes; the connection is eligible unless they are negative.
    tokens: i32,
}

/// The widths on which a bucket's arithmetic depends.
#[derive(Clone, Debug)]
struct Widths {
    timestamp: Serial,
    /// Tokens in whole bytes, two's complement, as they come out.
    token_bytes: Serial,
    max_packet_bytes: u32,
    /// Where tokens saturate.
    least_tokens: i64,
}

/// A rate as hints carry it: `mantissa << exponent` units of 2^-16 bytes a tick.
#[derive(Clone, Copy, Debug)]
struct Rate(u16);

impl Rate {
    #[inline]
    fn mantissa(self) -> u32 {
        u32::from(self.0) & ((1 << RATE_MANTISSA_BITS) - 1)
    }

    #[inline]
    fn exponent(self) -> u32 {
        u32::from(self.0) >> RATE_MANTISSA_BITS
    }

    /// Ticks in which a rate other than zero gathers so many bytes; at most 0.4 % too few, since it multiplies with the mantissa's rounded
    /// reciprocal.
    #[inline]
    fn ticks(self, bytes: u32) -> u64 {
        let reciprocal = (1 << TOKEN_FRACTION_BITS) / self.mantissa();
        (u64::from(bytes) * u64::from(reciprocal)) >> self.exponent()
    }
}

/// The token bucket of one connection.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// In units of 2^-16 bytes.
    tokens: i64,
    /// In bytes.
    cap: u32,
    /// When the tokens were settled.
    last: u32,
    rate: Rate,
    /// The connection is in the wheel, or on its way there.
    waiting: bool,
}

impl Bucket {
    /// As after reset.
    const STOPPED: Self = Self {
        tokens: -1,
        cap: 0,
        last: 0,
        rate: Rate(0),
        waiting: false,
    };

    #[inline]
    fn eligible(&self) -> bool {
        self.tokens >= 0
    }

    /// Adds the tokens gathered until `now`.
    #[inline]
    fn settle(&mut self, now: u32, widths: &Widths) {
        let elapsed = widths
            .timestamp
            .distance(self.last, now)
            .min((1 << ELAPSED_BITS) - 1);
        let gathered = (i64::from(self.rate.mantissa()) * i64::from(elapsed)) << self.rate.exponent();
        self.tokens = (self.tokens + gathered).min(self.full());
        self.last = now;
    }

    #[inline]
    fn full(&self) -> i64 {
        i64::from(self.cap) << TOKEN_FRACTION_BITS
    }

    fn configure(&mut self, operation: &Operation, widths: &Widths) {
        self.rate = operation.rate;
        self.cap = operation.burst.saturating_sub(widths.max_packet_bytes);
        self.tokens = self.full();
    }

    #[inline]
    fn charge(&mut self, bytes: u16, widths: &Widths) {
        self.tokens = (self.tokens - (i64::from(bytes) << TOKEN_FRACTION_BITS)).max(widths.least_tokens);
    }

    #[inline]
    fn event(&self, op: u8, connection: u16) -> Event {
        Event {
            op,
            connection,
            tokens: (self.tokens >> TOKEN_FRACTION_BITS) as i32,
        }
    }

    /// Puts the connection in the wheel if it has something to wait for and is not there yet.
    #[inline]
    fn wait(&mut self, connection: u16, wheel: &Wheel) -> Option<Insertion> {
        if self.eligible() || self.waiting || self.rate.mantissa() == 0 {
            return None;
        }
        self.waiting = true;
        let deficit = (-(self.tokens >> TOKEN_FRACTION_BITS)).min((1 << ELAPSED_BITS) - 1);
        Some(Insertion {
            connection,
            offset: wheel.offset(self.rate.ticks(deficit as u32)),
        })
    }
}

/// Lists of connections that wait, one for each slot of time, and the machine that serves them.
#[derive(Clone, Debug)]
struct Wheel {
    /// First connection of each slot's list, [`END`] where it is empty.
    heads: Vec<u16>,
    /// The next connection in the list of each.
    links: Vec<u16>,
    /// log2 of the ticks of a slot.
    tick_bits: u32,
    /// The slot served last.
    cursor: u32,
    serving: Serving,
    /// First connection of the list that is being served.
    taken: u16,
    /// Insertions on their way, from the `oldest` on and round.
    insertions: [Insertion; INSERTIONS],
    oldest: usize,
    /// Where the next insertion goes.
    next: usize,
    /// Bit k: an insertion was issued k + 1 moving clocks ago. They stay in place, and only this word moves.
    issued: u32,
}

/// Insertions that there is space for: at most one in each moving clock can be on its way.
const INSERTIONS: usize = 32;
const _: () = assert!(INSERT_CLOCKS < INSERTIONS);

/// The end of a list.
const END: u16 = u16::MAX;

/// State of the machine that serves the wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Serving {
    /// It waits for the next slot.
    Idle,
    /// The list taken is being read: clocks left.
    Pause(usize),
    /// The list's head is offered for recheck.
    Offer,
}

impl Serving {
    /// `clocks` of pause, then an offer.
    fn pause(clocks: usize) -> Self {
        match clocks {
            0 => Self::Offer,
            clocks => Self::Pause(clocks),
        }
    }
}

/// A connection on its way into the wheel.
#[derive(Clone, Copy, Debug, Default)]
struct Insertion {
    connection: u16,
    /// Slots from the cursor, which is read only when the connection arrives.
    offset: u16,
}

impl Wheel {
    fn new(params: &Params) -> Self {
        Self {
            heads: vec![END; params.wheel_slots as usize],
            links: vec![END; params.connections as usize],
            tick_bits: params.wheel_tick_bits,
            cursor: 0,
            serving: Serving::Idle,
            taken: END,
            insertions: [Insertion::default(); INSERTIONS],
            oldest: 0,
            next: 0,
            issued: 0,
        }
    }

    fn clear(&mut self) {
        self.heads.fill(END);
        self.serving = Serving::Idle;
        self.oldest = self.next;
        self.issued = 0;
    }

    /// A clock of the clear after reset: the cursor follows the time.
    fn rest(&mut self, now: u32) {
        self.cursor = self.slot(now);
    }

    /// The connection offered for recheck.
    #[inline]
    fn offered(&self) -> Option<u16> {
        (self.serving == Serving::Offer).then_some(self.taken)
    }

    /// How many slots ahead a connection goes that is to wait for so many ticks. The slot that is served and the next one are never inserted into.
    #[inline]
    fn offset(&self, ticks: u64) -> u16 {
        ((ticks >> self.tick_bits) + 2).min(u64::from(self.slot_mask())) as u16
    }

    /// One moving clock. `insertion` comes from the operation issued in it; `rechecked`: what is offered was issued.
    #[inline]
    fn clock(&mut self, now: u32, insertion: Option<Insertion>, rechecked: bool) {
        if self.issued >> (INSERT_CLOCKS - 1) & 1 == 1 {
            let Insertion { connection, offset } = self.insertions[self.oldest];
            self.oldest = (self.oldest + 1) % INSERTIONS;
            let slot = (self.cursor + u32::from(offset)) & self.slot_mask();
            self.links[usize::from(connection)] =
                std::mem::replace(&mut self.heads[slot as usize], connection);
        }
        self.issued <<= 1;
        if let Some(insertion) = insertion {
            self.insertions[self.next] = insertion;
            self.next = (self.next + 1) % INSERTIONS;
            self.issued |= 1;
        }
        self.serve(now, rechecked);
    }

    #[inline]
    fn serve(&mut self, now: u32, rechecked: bool) {
        match self.serving {
            Serving::Idle => {
                if self.cursor != self.slot(now) {
                    self.cursor = (self.cursor + 1) & self.slot_mask();
                    self.taken = std::mem::replace(&mut self.heads[self.cursor as usize], END);
                    if self.taken != END {
                        self.serving = Serving::pause(HEAD_CLOCKS);
                    }
                }
            }
            Serving::Pause(clocks) => self.serving = Serving::pause(clocks - 1),
            Serving::Offer => {
                if rechecked {
                    self.taken = self.links[usize::from(self.taken)];
                    self.serving = match self.taken {
                        END => Serving::Idle,
                        _ => Serving::pause(LINK_CLOCKS),
                    };
                }
            }
        }
    }

    #[inline]
    fn slot(&self, now: u32) -> u32 {
        (now >> self.tick_bits) & self.slot_mask()
    }

    #[inline]
    fn slot_mask(&self) -> u32 {
        self.heads.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests;
