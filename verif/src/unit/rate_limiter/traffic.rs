//! What the connections of `rate_limiter` are about, and what is known of each.

use crate::stimulus::{Random, Spray};
use metaroce_model::{
    Params,
    port::rate_limiter::{BYTES_BITS, ELAPSED_BITS, RATE_BITS, RATE_MANTISSA_BITS, TOKEN_FRACTION_BITS, op},
    serial::Serial,
};
use rand::RngExt;

/// Connections that can be hot at a time.
const HOT: u32 = 16;

/// What depends on the profile.
#[derive(Clone, Debug)]
pub(super) struct Widths {
    pub(super) timestamp: Serial,
    pub(super) connection_mask: u16,
    pub(super) burst_mask: u32,
    pub(super) burst_bits: u32,
    pub(super) max_packet_bytes: u32,
    pub(super) slots: u32,
    pub(super) tick_bits: u32,
    /// Timestamps and tokens are wide enough to be cut.
    pub(super) cuts: bool,
}

impl Widths {
    /// Ticks of a turn of the wheel.
    pub(super) fn horizon(&self) -> u32 {
        self.slots << self.tick_bits
    }
}

/// An operation, with what must be known of it when its event comes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operation {
    pub(super) op: u8,
    pub(super) connection: u16,
    pub(super) rate: u16,
    pub(super) burst: u32,
    pub(super) bytes: u16,
    /// Ticks since the operation before it on its connection.
    pub(super) elapsed: u32,
}

/// For some thousand clocks: which connections, what they are about, how the time moves.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) left: u32,
    kind: Kind,
    spray: Spray,
    /// Operations until all hot connections are configured.
    configure: u32,
    /// Whose turn it is in a convoy.
    turn: u32,
    /// Rate, burst and bytes of a convoy.
    rate: u16,
    burst: u32,
    bytes: u16,
    /// Connections in debt are left alone, mostly.
    polite: bool,
    /// An operation offered stays until it is accepted; otherwise it is garbage until then.
    pub(super) steady: bool,
    pub(super) jumps: bool,
}

/// What connections are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fast,
    Medium,
    Slow,
    Any,
    /// All alike.
    Convoy,
    Debt,
}

/// What is known of a connection, by the events that came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shadow {
    pub(super) rate: u16,
    pub(super) cap: u32,
    /// In bytes, when last seen.
    pub(super) tokens: i32,
    pub(super) waiting: bool,
    /// When it began to wait, in moved clocks.
    pub(super) since: u32,
    pub(super) configured_waiting: bool,
    /// When the last operation was accepted, in clocks and in ticks.
    pub(super) accepted: u32,
    pub(super) settled: u32,
    /// When the last event came, in clocks.
    pub(super) event: u32,
}

impl Shadow {
    pub(super) const NEW: Self = Self {
        rate: 0,
        cap: 0,
        tokens: -1,
        waiting: false,
        since: 0,
        configured_waiting: false,
        accepted: u32::MAX / 2,
        settled: 0,
        event: u32::MAX / 2,
    };

    /// It is stopped, or takes a thousand ticks or more to come out of debt.
    fn is_stuck(&self) -> bool {
        let gathered = (u64::from(mantissa(self.rate)) * 1000) << exponent(self.rate);
        gathered >> TOKEN_FRACTION_BITS < u64::from(self.tokens.unsigned_abs())
    }

    /// A charge after which the connection waits about as long as the wheel allows.
    fn bytes_to_the_horizon(&self, widths: &Widths, random: &mut Random) -> Option<u16> {
        let last = (widths.slots - 3) << widths.tick_bits;
        let ticks = last + random.random_range(0..3 << widths.tick_bits) - (1 << widths.tick_bits);
        let gathered = (u64::from(mantissa(self.rate)) * u64::from(ticks)) << exponent(self.rate);
        let bytes = i64::from(self.tokens) + (gathered >> TOKEN_FRACTION_BITS) as i64;
        u16::try_from(bytes).ok().filter(|bytes| *bytes < 1 << BYTES_BITS)
    }
}

pub(super) fn mantissa(rate: u16) -> u32 {
    u32::from(rate) & ((1 << RATE_MANTISSA_BITS) - 1)
}

pub(super) fn exponent(rate: u16) -> u32 {
    u32::from(rate) >> RATE_MANTISSA_BITS
}

impl Phase {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            left: 0,
            kind: Kind::Fast,
            spray: Spray::new(params.connections),
            configure: 0,
            turn: 0,
            rate: 0,
            burst: 0,
            bytes: 0,
            polite: false,
            steady: false,
            jumps: false,
        }
    }

    pub(super) fn change(&mut self, widths: &Widths, random: &mut Random) {
        self.kind = match random.random_range(0..16) {
            0..=4 => Kind::Fast,
            5..=6 => Kind::Medium,
            7..=8 => Kind::Slow,
            9..=10 => Kind::Any,
            11..=13 => Kind::Convoy,
            _ => Kind::Debt,
        };
        let (longest, most) = match self.kind {
            Kind::Debt => (1500, 3),
            _ => (3000, HOT),
        };
        self.left = random.random_range(200..longest);
        self.spray.change(random, most);
        self.configure = match self.kind {
            Kind::Convoy => HOT,
            _ if random.random_range(0..4) > 0 => self.spray.count().min(HOT),
            _ => 0,
        };
        self.rate = random.random_range(1..256) | random.random_range(12..16) << RATE_MANTISSA_BITS;
        self.burst = random.random_range(0..2 * widths.max_packet_bytes);
        self.bytes = random.random_range(64..=widths.max_packet_bytes) as u16;
        self.polite = match self.kind {
            Kind::Debt => false,
            Kind::Fast | Kind::Convoy => random.random_range(0..16) > 0,
            _ => random.random_range(0..8) > 0,
        };
        self.steady = random.random_range(0..4) == 0;
        // Slow connections see nothing happen otherwise.
        let slow = matches!(self.kind, Kind::Medium | Kind::Slow | Kind::Any);
        self.jumps = random.random_range(0..4) == 0 || slow && random.random();
    }

    /// The next operation.
    pub(super) fn operation(
        &mut self,
        shadows: &[Shadow],
        widths: &Widths,
        random: &mut Random,
    ) -> Operation {
        let mut operation = widths.garbage(random);
        let configures = self.configure > 0;
        let convoy = self.kind == Kind::Convoy;
        operation.connection = if configures {
            self.configure -= 1;
            self.spray.hot(self.configure)
        } else if convoy {
            self.turn = (self.turn + 1) % HOT;
            self.spray.hot(self.turn)
        } else {
            self.spray.next(random.random())
        };
        let shadow = &shadows[usize::from(operation.connection)];
        let patient = self.polite && shadow.tokens < 0;
        operation.op = match random.random::<u8>() {
            _ if configures => op::CONFIGURE,
            0..=29 if convoy => op::CHARGE,
            0..=1 => op::CONFIGURE,
            2..=9 => op::HINT,
            10..=25 => op::QUERY,
            26..=29 => random.random_range(4..8),
            // Who cannot come out of debt soon is set up anew.
            30..=45 if patient && shadow.is_stuck() => op::CONFIGURE,
            30..=253 if patient => op::QUERY,
            _ => op::CHARGE,
        };
        match operation.op {
            op::CONFIGURE | op::HINT => {
                operation.rate = self.a_rate(random);
                operation.burst = self.a_burst(widths, random);
            }
            op::CHARGE => {
                operation.bytes = self.some_bytes(widths, random);
                if self.kind != Kind::Convoy && random.random_range(0..8) == 0 {
                    let aimed = shadow.bytes_to_the_horizon(widths, random);
                    operation.bytes = aimed.unwrap_or(operation.bytes);
                }
            }
            _ => {}
        }
        operation
    }

    fn a_rate(&self, random: &mut Random) -> u16 {
        if self.kind == Kind::Convoy && random.random_range(0..16) > 0 {
            return self.rate;
        }
        let exponent = match self.kind {
            Kind::Fast => random.random_range(13..16),
            Kind::Medium => random.random_range(6..12),
            Kind::Slow => random.random_range(0..7),
            Kind::Debt => random.random_range(0..4),
            _ => random.random_range(0..16u16),
        };
        let mantissa = match random.random_range(0..32) {
            0 => 0,
            1 => 1,
            2 | 3 => 255,
            4..=15 if self.kind == Kind::Fast => random.random_range(128..256),
            _ if random.random_range(0..8) == 0 => 1 << random.random_range(0..8),
            _ => random.random_range(0..256),
        };
        exponent << RATE_MANTISSA_BITS | mantissa
    }

    fn a_burst(&self, widths: &Widths, random: &mut Random) -> u32 {
        let packet = widths.max_packet_bytes;
        if self.kind == Kind::Convoy && random.random_range(0..16) > 0 {
            return self.burst;
        }
        match random.random_range(0..16) {
            0..=3 => random.random_range(0..packet),
            4 => packet + random.random_range(0..3) - 1,
            5..=11 => packet + random.random_range(0..3 * packet),
            12 => widths.burst_mask,
            _ => random.random(),
        }
        .min(widths.burst_mask)
    }

    fn some_bytes(&self, widths: &Widths, random: &mut Random) -> u16 {
        let largest = (1 << BYTES_BITS) - 1;
        match (self.kind, random.random_range(0..16)) {
            (Kind::Convoy, 0..=14) => self.bytes,
            (Kind::Debt, 0..=8) => largest,
            (Kind::Slow, 0..=7) => random.random_range(0..64),
            (_, 0..=8) => random.random_range(64..=widths.max_packet_bytes) as u16,
            (_, 9..=11) => widths.max_packet_bytes as u16,
            (_, 12) => 0,
            (_, 13) => random.random_range(0..64),
            _ => random.random_range(0..=largest),
        }
    }
}

impl Widths {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            timestamp: Serial::new(params.timestamp_bits),
            connection_mask: (params.connections - 1) as u16,
            burst_mask: (1 << params.burst_bits) - 1,
            burst_bits: params.burst_bits,
            max_packet_bytes: params.max_packet_bytes,
            slots: params.wheel_slots,
            tick_bits: params.wheel_tick_bits,
            cuts: params.timestamp_bits > ELAPSED_BITS && params.burst_bits > ELAPSED_BITS,
        }
    }

    /// By how many ticks the time jumps.
    pub(super) fn jump(&self, now: u32, random: &mut Random) -> u32 {
        let most = self.timestamp.half() - 1;
        let step = match random.random_range(0..16) {
            0..=5 => random.random_range(1..=4 << self.tick_bits),
            6..=9 => random.random_range(1..=self.horizon()),
            10..=11 => self.horizon() + random.random_range(0..32) - 16,
            12 => random.random_range(1..=8 * self.horizon()),
            13 => (1 << ELAPSED_BITS) + random.random_range(0..64) - 48,
            14 => self.timestamp.mask() - now,
            _ => random.random(),
        };
        step.min(most)
    }

    /// Fields that mean nothing.
    #[inline]
    pub(super) fn garbage(&self, random: &mut Random) -> Operation {
        let bits: u64 = random.random();
        Operation {
            op: bits as u8 & 7,
            connection: (bits >> 3) as u16 & self.connection_mask,
            rate: (bits >> 15) as u16 & ((1 << RATE_BITS) - 1),
            burst: (bits >> 27) as u32 & self.burst_mask,
            bytes: (bits >> 50) as u16 & ((1 << BYTES_BITS) - 1),
            ..Default::default()
        }
    }
}
