//! What is known of one path of `sack_tx`, and what is done on it next.

use crate::stimulus::Random;
use metaroce_model::{Params, port::sack_tx::op, serial::Serial};
use rand::RngExt;

/// What depends on the profile.
#[derive(Clone, Debug)]
pub(super) struct Widths {
    pub(super) psn: Serial,
    pub(super) timestamp: Serial,
    pub(super) sack: u32,
    limbs: [u64; 4],
    path_mask: u16,
}

/// An operation, with what must be known of it when its result comes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operation {
    pub(super) op: u8,
    pub(super) path: u16,
    pub(super) psn: u32,
    pub(super) vector: [u64; 4],
    pub(super) echo: u32,
    pub(super) now: u32,
    /// `base` before it.
    pub(super) base: u32,
    /// `next` before it.
    pub(super) next: u32,
}

/// What is known of a path. `base` and `next` are exact when an operation is made, the timestamps when its result comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shadow {
    pub(super) base: u32,
    pub(super) next: u32,
    pub(super) mark: u32,
    pub(super) last_sent: u32,
    pub(super) probe_sent: u32,
    pub(super) probe_out: bool,
    /// As the last result told.
    pub(super) pending: bool,
    pub(super) initialised: bool,
    /// What the receiver has, as in the acknowledgement's vector; bits outside the window are of another lap.
    pub(super) received: [u64; 4],
    mood: Mood,
    /// Operations until the mood changes.
    left: u32,
    /// Chance of a packet to be lost, in 256ths.
    pub(super) loss: u32,
    echoes: Echoes,
    /// Times in a row that something was lost again since base moved.
    pub(super) again: u32,
    pub(super) accepted: u32,
}

impl Shadow {
    pub(super) const NEW: Self = Self {
        base: 0,
        next: 0,
        mark: 0,
        last_sent: 0,
        probe_sent: 0,
        probe_out: false,
        pending: false,
        initialised: false,
        received: [0; 4],
        mood: Mood::Steady,
        left: 0,
        loss: 0,
        echoes: Echoes::Any,
        again: 0,
        accepted: u32::MAX / 2,
    };
}

/// What a path is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Fill,
    Steady,
    Drain,
    Repair,
    Chaos,
    /// The directed sequence: INIT, ...
    Start,
    /// ... SEND until the window is full, ...
    FillUp,
    /// ... all of it acknowledged or lost at once, and then RETRANSMIT until nothing is pending and all acknowledged or lost again at once.
    SendAgain,
}

/// Which echoes a path's acknowledgements mostly have.
#[derive(Clone, Copy, Debug)]
enum Echoes {
    Any,
    BeforeMark,
    FromMark,
    FromLast,
}

/// Weights of the operations by their code, the reserved ones last.
fn weights(mood: Mood) -> [u32; 7] {
    match mood {
        Mood::Fill => [0, 232, 12, 4, 4, 0, 4],
        Mood::Drain => [0, 8, 200, 36, 6, 2, 4],
        Mood::Repair => [0, 20, 70, 148, 10, 4, 4],
        Mood::Chaos => [16, 60, 80, 50, 20, 12, 18],
        _ => [1, 118, 90, 36, 6, 1, 4],
    }
}

impl Shadow {
    /// A new mood if the old one is over.
    pub(super) fn choose_mood(&mut self, widths: &Widths, random: &mut Random) {
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        let long = 2 * widths.sack;
        (self.mood, self.left) = match random.random_range(0..8) {
            0 => (Mood::Fill, random.random_range(0..long)),
            1 => (Mood::Drain, random.random_range(0..long / 4)),
            2 | 3 => (Mood::Repair, random.random_range(0..long)),
            4 => (Mood::Chaos, random.random_range(0..long / 4)),
            5 => (Mood::Start, u32::MAX),
            _ => (Mood::Steady, random.random_range(0..long)),
        };
        self.loss = [0, 4, 32, 128, 256][random.random_range(0..5)];
        self.echoes = match random.random_range(0..4) {
            0 => Echoes::Any,
            1 => Echoes::BeforeMark,
            2 => Echoes::FromMark,
            _ => Echoes::FromLast,
        };
    }

    pub(super) fn operation(&mut self, now: u32, widths: &Widths, random: &mut Random) -> Operation {
        let mut operation = Operation {
            now,
            base: self.base,
            next: self.next,
            ..widths.garbage(random)
        };
        operation.op = match self.mood {
            _ if self.is_directed() => self.directed(&mut operation, widths, random),
            mood => {
                let mut draw = random.random_range(0..256);
                let mut code = 0;
                for weight in weights(mood) {
                    if draw < weight {
                        break;
                    }
                    draw -= weight;
                    code += 1;
                }
                if code == op::RETRANSMIT && !self.pending && random.random_range(0..8) > 0 {
                    code = op::ACKNOWLEDGE;
                }
                match code {
                    op::ACKNOWLEDGE => self.acknowledgement(&mut operation, widths, random),
                    op::INIT => operation.psn = widths.first_psn(random),
                    6.. => code += random.random_range(0..2),
                    _ => {}
                }
                code
            }
        };
        match operation.op {
            op::INIT => (self.base, self.next) = (operation.psn, operation.psn),
            op::SEND if widths.psn.distance(self.base, self.next) < widths.sack => {
                let arrives = random.random_range(0..256) >= self.loss;
                set_bit(&mut self.received, self.next % widths.sack, arrives);
                self.next = widths.psn.add(self.next, 1);
            }
            op::ACKNOWLEDGE => {
                let steps = widths.psn.distance(self.base, operation.psn);
                if steps <= widths.psn.distance(self.base, self.next) {
                    self.base = operation.psn;
                }
            }
            _ => {}
        }
        operation
    }

    /// It is in the sequence that reaches the extremes, which takes long.
    pub(super) fn is_directed(&self) -> bool {
        matches!(self.mood, Mood::Start | Mood::FillUp | Mood::SendAgain)
    }

    /// One step of the sequence that reaches the extremes.
    fn directed(&mut self, operation: &mut Operation, widths: &Widths, random: &mut Random) -> u8 {
        let full = widths.psn.distance(self.base, self.next) == widths.sack;
        // Nothing acknowledged, by an echo that reaches nothing.
        operation.psn = self.base;
        operation.vector = [0; 4];
        operation.echo = widths.timestamp.add(self.mark, u32::MAX);
        match self.mood {
            Mood::Start => {
                self.mood = Mood::FillUp;
                operation.psn = widths.first_psn(random);
                op::INIT
            }
            Mood::FillUp if !full || random.random_range(0..4) > 0 => op::SEND,
            Mood::SendAgain if self.left > 0 => op::RETRANSMIT,
            mood => {
                let turn = random.random_range(0..6);
                (self.mood, self.left) = if mood == Mood::FillUp && turn > 1 {
                    (Mood::SendAgain, widths.sack + random.random_range(0..4))
                } else {
                    (Mood::Steady, 0)
                };
                let last_bit = widths.psn.add(self.next, u32::MAX) % widths.sack;
                match turn {
                    0 => operation.psn = self.next,
                    1 => operation.vector = widths.limbs,
                    2 => set_bit(&mut operation.vector, last_bit, true),
                    3 => operation.echo = operation.now,
                    _ => return op::TIMEOUT,
                }
                op::ACKNOWLEDGE
            }
        }
    }

    /// An acknowledgement that could be real, mostly.
    fn acknowledgement(&self, operation: &mut Operation, widths: &Widths, random: &mut Random) {
        let psn = widths.psn;
        let outstanding = psn.distance(self.base, self.next);
        let received = ones_from(&self.received, self.base % widths.sack, outstanding, widths.sack);
        let steps = match random.random_range(0..64) {
            0..=31 => received,
            32..=45 => 0,
            46..=56 => random.random_range(0..=received),
            57 => outstanding,
            58 => random.random_range(0..=outstanding),
            59 => outstanding + random.random_range(1..=4),
            60 => psn.half() - 1,
            61 => psn.half() + random.random_range(0..2),
            62 => psn.mask() - random.random_range(0..4),
            _ => random.random(),
        };
        operation.psn = psn.add(self.base, steps);
        let garbage = operation.vector;
        operation.vector = self.received;
        match random.random_range(0..32) {
            // What is outside the window means nothing.
            0..=7 => {
                let window = range(operation.psn, psn.distance(operation.psn, self.next), widths.sack);
                for limb in 0..4 {
                    operation.vector[limb] =
                        (self.received[limb] & window[limb]) | (garbage[limb] & !window[limb]);
                }
            }
            8 => operation.vector = garbage,
            9 => operation.vector = [0; 4],
            _ => {}
        }
        operation.echo = self.echo(operation.now, widths.timestamp, random);
    }

    fn echo(&self, now: u32, timestamp: Serial, random: &mut Random) -> u32 {
        let near = |origin: u32, random: &mut Random| {
            timestamp.add(origin, random.random_range(0..3u32).wrapping_sub(1))
        };
        let before =
            |origin: u32, random: &mut Random| timestamp.add(origin, u32::MAX - random.random_range(0..1000));
        let any = random.random_range(0..4) == 0;
        match self.echoes {
            Echoes::BeforeMark if !any => before(self.mark, random),
            Echoes::FromMark if !any => {
                let since = timestamp.distance(self.mark, self.last_sent);
                if since < timestamp.half() {
                    timestamp.add(self.mark, random.random_range(0..=since.saturating_sub(1)))
                } else {
                    self.mark
                }
            }
            Echoes::FromLast if !any => timestamp.add(self.last_sent, random.random_range(0..4)),
            _ => match random.random_range(0..16) {
                0..=3 => near(self.mark, random),
                4..=6 => near(self.last_sent, random),
                7..=9 => near(self.probe_sent, random),
                10 | 11 => {
                    let origin = [self.mark, self.last_sent, self.probe_sent][random.random_range(0..3)];
                    timestamp.add(near(origin, random), timestamp.half())
                }
                12 => random.random::<u32>() & timestamp.mask(),
                _ => before(now, random),
            },
        }
    }
}

impl Widths {
    pub(super) fn new(params: &Params) -> Self {
        let limbs = std::array::from_fn(|limb| {
            let bits = params.sack_bits.saturating_sub(64 * limb as u32).min(64);
            u64::MAX.checked_shr(64 - bits).unwrap_or(0)
        });
        Self {
            psn: Serial::new(params.psn_bits),
            timestamp: Serial::new(params.timestamp_bits),
            sack: params.sack_bits,
            limbs,
            path_mask: (params.total_paths() - 1) as u16,
        }
    }

    /// Where a path starts: just before the wrap, or anywhere.
    fn first_psn(&self, random: &mut Random) -> u32 {
        if random.random() {
            self.psn.mask() - random.random_range(0..self.sack)
        } else {
            random.random::<u32>() & self.psn.mask()
        }
    }

    /// Fields that mean nothing.
    #[inline]
    pub(super) fn garbage(&self, random: &mut Random) -> Operation {
        let bits: u64 = random.random();
        let limbs = [bits, !bits.rotate_left(17), bits.rotate_left(31), !bits];
        Operation {
            op: bits as u8 & 7,
            path: (bits >> 3) as u16 & self.path_mask,
            psn: (bits >> 20) as u32 & self.psn.mask(),
            vector: std::array::from_fn(|limb| limbs[limb] & self.limbs[limb]),
            echo: (bits >> 32) as u32 & self.timestamp.mask(),
            now: (bits >> 7) as u32 & self.timestamp.mask(),
            ..Default::default()
        }
    }
}

pub(super) fn has_bit(limbs: &[u64; 4], index: u32) -> bool {
    limbs[index as usize / 64] >> (index % 64) & 1 == 1
}

pub(super) fn set_bit(limbs: &mut [u64; 4], index: u32, value: bool) {
    let limb = &mut limbs[index as usize / 64];
    *limb = *limb & !(1 << (index % 64)) | u64::from(value) << (index % 64);
}

/// How many bits are set in a row from `start` on and round, of vectors of `bits` bits; at most `most`.
fn ones_from(limbs: &[u64; 4], start: u32, most: u32, bits: u32) -> u32 {
    let (mut at, mut ones) = (start, 0);
    while ones < most {
        let room = (64 - at % 64).min(bits - at);
        let here = (limbs[at as usize / 64] >> (at % 64)).trailing_ones().min(room);
        ones += here;
        if here < room {
            break;
        }
        at = (at + room) % bits;
    }
    ones.min(most)
}

/// The bits of the PSNs `[start, start + length)` in vectors of `bits` bits.
fn range(start: u32, length: u32, bits: u32) -> [u64; 4] {
    let mut limbs = [0; 4];
    let (mut at, mut left) = (start % bits, length.min(bits));
    while left > 0 {
        let room = (64 - at % 64).min(bits - at).min(left);
        limbs[at as usize / 64] |= (u64::MAX >> (64 - room)) << (at % 64);
        left -= room;
        at = (at + room) % bits;
    }
    limbs
}
