//! Stimulus of `key_table`: few regions at a time, which lie where a carry runs, and packets that stay within them, miss them by one, or have no right to them.

use crate::{
    bins::Bins,
    occupancy::Occupancy,
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::key_table::{DOMAIN_BITS, Inputs, LATENCY, LENGTH_BITS, Outputs, op, status},
    unit::key_table::KeyTable as Unit,
};
use rand::RngExt;

/// Bins of a clock.
const CLOCK_BINS: [&str; 6] = [
    "offered while standing still with every place full",
    "offered during the clear after reset",
    "operation held until it is accepted",
    "result held back",
    "reset while operations are in the pipeline",
    "reset during the clear after reset",
];

/// Bins of an accepted CONFIGURE.
const CONFIGURE_BINS: [&str; 8] = [
    "CONFIGURE",
    "CONFIGURE: not valid",
    "CONFIGURE: not for writing",
    "CONFIGURE: no bytes",
    "CONFIGURE: most bytes",
    "CONFIGURE: ends at 2^64",
    "CONFIGURE: across a multiple of 2^32",
    "CONFIGURE: another tag of a valid region",
];

/// Bins of an accepted CHECK that does not get as far as the region's bounds.
const KEY_BINS: [&str; 11] = [
    "CHECK of no bytes: may",
    "CHECK of no bytes: region not valid",
    "CHECK of no bytes: out of bounds",
    "BAD_KEY: only not valid",
    "BAD_KEY: only the tag's lowest bit",
    "BAD_KEY: only the tag's highest bit",
    "BAD_KEY: only the domain's lowest bit",
    "BAD_KEY: only the domain's highest bit",
    "BAD_KEY: only not for writing",
    "BAD_KEY: out of bounds also",
    "BAD_KEY: never configured after reset",
];

/// Bins of an accepted CHECK of a region that is the connection's to write to.
const BOUNDS_BINS: [&str; 20] = [
    "DONE",
    "OUT_OF_BOUNDS",
    "DONE: the whole region",
    "DONE: first byte",
    "DONE: last byte",
    "bytes end one before the region's end",
    "bytes end at the region's end",
    "bytes end one after the region's end",
    "bytes begin one before the region's end",
    "bytes begin at the region's end",
    "bytes begin one before the region",
    "bytes begin before the region, end in it",
    "bytes end 2^64 after the region's begin",
    "DONE: address borrows from its upper half",
    "DONE: offset carries into its upper half",
    "DONE: only by the upper half of the length",
    "OUT_OF_BOUNDS: only by the upper half of the offset",
    "OUT_OF_BOUNDS: only by offset bits above the length's",
    "OUT_OF_BOUNDS: only by the carry beyond the length's bits",
    "DONE: to the end of all addresses",
];

/// Moving clocks between operations on one region that have bins of their own.
const DISTANCES: usize = LATENCY;
/// Bins of two operations on one region, for each distance.
const HAZARD_BINS: [&str; 5] = [
    "CHECK {} moving clocks after the CONFIGURE of its region that changed the answer",
    "CHECK {} moving clocks after the second of two close CONFIGUREs of its region that changed the answer",
    "CHECK {} moving clocks after another of its region",
    "CONFIGURE {} moving clocks after a CHECK of its region whose answer it would have changed",
    "CONFIGURE {} moving clocks after another of its region",
];

const CONFIGURE: usize = CLOCK_BINS.len();
const KEY: usize = CONFIGURE + CONFIGURE_BINS.len();
const BOUNDS: usize = KEY + KEY_BINS.len();
const HAZARD: usize = BOUNDS + BOUNDS_BINS.len();

/// Drives the unit.
pub struct KeyTable {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    index_bits: u32,
    bytes_mask: u16,
    spray: Spray,
    phase: Phase,
    regions: Box<[Region]>,
    pipeline: Occupancy,
    /// The present moving clock.
    moment: usize,
    clearing: bool,
    held: Option<Inputs>,
    bins: Bins,
}

/// What the unit keeps of a region, as the last CONFIGURE and the one before it set it, and what was last done to it.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    now: Inputs,
    before: Inputs,
    last_check: Inputs,
    /// Moving clocks of the last CONFIGURE, of the one before it, and of the last CHECK.
    configured: usize,
    configured_before: usize,
    checked: usize,
}

/// What a CHECK's bytes are to their region.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Configure,
    /// Anywhere in it.
    Within,
    /// From its first byte.
    First,
    /// To its end, or one less or more.
    End,
    /// Around its end, not depending on the number of bytes.
    Behind,
    /// From a few bytes before it.
    Before,
    /// Within it, but for one bit of the address.
    Far,
    /// Nearly the right key or domain.
    Stranger,
    /// Anything.
    Any,
}

/// Mixtures of kinds, in parts.
const MIXTURES: [&[(Kind, usize)]; 5] = [
    // Honest peers.
    &[
        (Kind::Configure, 1),
        (Kind::Within, 16),
        (Kind::First, 6),
        (Kind::End, 8),
        (Kind::Stranger, 1),
    ],
    // The bounds.
    &[
        (Kind::Configure, 2),
        (Kind::First, 4),
        (Kind::End, 10),
        (Kind::Behind, 7),
        (Kind::Before, 7),
        (Kind::Far, 2),
    ],
    // Regions change all the time.
    &[
        (Kind::Configure, 16),
        (Kind::Within, 6),
        (Kind::First, 4),
        (Kind::End, 5),
        (Kind::Stranger, 1),
    ],
    // No right.
    &[
        (Kind::Configure, 3),
        (Kind::Stranger, 20),
        (Kind::Within, 5),
        (Kind::Any, 4),
    ],
    // Far away.
    &[
        (Kind::Configure, 3),
        (Kind::Far, 16),
        (Kind::Before, 5),
        (Kind::Behind, 5),
        (Kind::Any, 3),
    ],
];

/// Regions that can be hot at a time.
const HOT: u32 = 9;

/// Stretch of operations with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    kinds: [Kind; 32],
    /// Hot regions still to be configured.
    set_up: u32,
}

impl Stimulus<Unit> for KeyTable {
    fn new(params: &Params, seed: u64) -> Self {
        let names = [&CLOCK_BINS[..], &CONFIGURE_BINS, &KEY_BINS, &BOUNDS_BINS].concat();
        let hazards = HAZARD_BINS
            .iter()
            .flat_map(|name| (1..=DISTANCES).map(move |distance| name.replace("{}", &distance.to_string())));
        Self {
            random: random(seed),
            valid: Flow::new(200),
            ready: Flow::new(100),
            resets: Resets::with_clear((20 * params.keys).max(4000), params.keys),
            index_bits: params.key_index_bits(),
            bytes_mask: (1 << params.payload_bits()) - 1,
            spray: Spray::new(params.keys),
            phase: Phase {
                left: 0,
                kinds: [Kind::Any; 32],
                set_up: 0,
            },
            regions: vec![Region::default(); params.keys as usize].into(),
            pipeline: Occupancy::new(LATENCY),
            moment: 2 * DISTANCES,
            clearing: true,
            held: None,
            bins: Bins::new(names.into_iter().map(String::from).chain(hazards)),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let accepts = outputs.s_axis_op_tready && !rst;
        let valid = self.held.is_some() || self.valid.next(&mut self.random);
        let garbage = self.garbage();
        let offered = if let Some(held) = self.held {
            Some(held)
        } else if valid && (accepts || garbage.s_axis_op_domain >> 4 == 0) {
            Some(self.operation(garbage))
        } else {
            None
        };
        // Nothing is accepted: garbage, unless the operation is one of those that are held steadily.
        let inputs = Inputs {
            rst,
            s_axis_op_tvalid: valid,
            m_axis_result_tready: self.ready.next(&mut self.random),
            ..offered.unwrap_or(garbage)
        };
        self.count_clock(&inputs, outputs);
        if rst {
            self.reset();
        } else {
            self.clock(valid && accepts, &inputs, outputs);
            self.held = if accepts { None } else { offered };
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl KeyTable {
    fn reset(&mut self) {
        if !self.clearing {
            self.regions.fill(Region::default());
        }
        self.pipeline.clear();
        self.clearing = true;
        self.held = None;
        // No region is valid: the next phase sets up those that it uses.
        self.phase.left = 0;
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, accepted: bool, inputs: &Inputs, outputs: &Outputs) {
        self.clearing &= !outputs.s_axis_op_tready;
        self.moment += usize::from(self.pipeline.moves());
        if accepted {
            self.accept(inputs);
        }
        self.pipeline.clock(
            accepted,
            outputs.m_axis_result_tvalid && inputs.m_axis_result_tready,
        );
    }

    #[inline]
    fn index(&self, key: u32) -> usize {
        (key & ((1 << self.index_bits) - 1)) as usize
    }

    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let (a, b, c): (u64, u64, u64) = (self.random.random(), self.random.random(), self.random.random());
        Inputs {
            s_axis_op_op: (a & 1) as u8,
            s_axis_op_key: (a >> 1) as u32,
            s_axis_op_address: b,
            s_axis_op_bytes: (a >> 33) as u16 & self.bytes_mask,
            s_axis_op_domain: (a >> 49) as u8,
            s_axis_op_length: c >> (64 - LENGTH_BITS),
            s_axis_op_valid: c & 1 != 0,
            s_axis_op_write: c & 2 != 0,
            ..Default::default()
        }
    }

    /// An operation to offer; the fields that it does not use stay `garbage`.
    fn operation(&mut self, garbage: Inputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let mut operation = garbage;
        let dice = self.random.random::<u32>();
        let mut index = self.spray.next(dice as u16);
        let mut kind = self.phase.kinds[(dice >> 16) as usize & 31];
        if self.phase.set_up > 0 {
            self.phase.set_up -= 1;
            index = self.spray.hot(self.phase.set_up);
            kind = Kind::Configure;
        }
        let region = self.regions[usize::from(index)].now;
        if matches!(kind, Kind::Configure) {
            self.configure(&mut operation, &region, index, dice >> 21);
        } else {
            self.check(&mut operation, &region, index, kind, dice >> 21);
        }
        operation
    }

    /// A CONFIGURE: mostly a region to work with, where something may carry.
    fn configure(&mut self, operation: &mut Inputs, region: &Inputs, index: u16, dice: u32) {
        let random = &mut self.random;
        operation.s_axis_op_op = op::CONFIGURE;
        operation.s_axis_op_valid |= dice & 7 != 0;
        operation.s_axis_op_write |= dice & 0x18 != 0;
        let any = operation.s_axis_op_length;
        operation.s_axis_op_length = match random.random_range(0..8) {
            0 => any,
            1 => any >> random.random_range(0..LENGTH_BITS),
            2 => 1 << random.random_range(0..LENGTH_BITS),
            3 => (1 << LENGTH_BITS) - 1 - (any & 1),
            4 => any & 3,
            _ => any & 0x3fff,
        };
        let (any, length) = (operation.s_axis_op_address, operation.s_axis_op_length);
        operation.s_axis_op_address = match random.random_range(0..8) {
            0 => any,
            // To the end of all addresses, or a little less.
            1 => length.wrapping_neg(),
            2 => length.wrapping_neg().wrapping_sub(any & 0xff),
            3 => any & 0xffff,
            // Just before a multiple of a power of two.
            4 => (any & 0xffff_ffff_0000_0000).wrapping_sub(random.random_range(0..=length)),
            _ => (any >> 1 << random.random_range(8..56)).wrapping_sub(any & 0xff),
        };
        // A region must not go beyond the last address.
        if operation.s_axis_op_address.checked_add(length).is_none() {
            operation.s_axis_op_address = length.wrapping_neg();
        }
        let tag = if dice & 0x60 == 0 {
            operation.s_axis_op_key
        } else {
            region.s_axis_op_key
        };
        operation.s_axis_op_key = tag >> self.index_bits << self.index_bits | u32::from(index);
        if dice & 0x180 != 0 {
            operation.s_axis_op_domain = region.s_axis_op_domain;
        }
    }

    /// A CHECK of that kind.
    fn check(&mut self, operation: &mut Inputs, region: &Inputs, index: u16, kind: Kind, dice: u32) {
        let random = &mut self.random;
        operation.s_axis_op_op = op::CHECK;
        if matches!(kind, Kind::Any) {
            return;
        }
        operation.s_axis_op_key =
            region.s_axis_op_key >> self.index_bits << self.index_bits | u32::from(index);
        operation.s_axis_op_domain = region.s_axis_op_domain;
        let (base, length) = (region.s_axis_op_address, region.s_axis_op_length);
        let most = u64::from(self.bytes_mask);
        let mut bytes = match dice & 7 {
            0 => 0,
            1 => 1,
            2 => most,
            3 => length.min(most),
            _ => u64::from(operation.s_axis_op_bytes),
        };
        let near = || u64::from(dice >> 3 & 7).wrapping_sub(3);
        let within = length.saturating_sub(bytes);
        let offset = match kind {
            Kind::First => u64::from(dice & 0x38 == 0),
            Kind::End => {
                // Bytes that end where they should, or one beside.
                let off = [0, 0, 1, u64::MAX][(dice >> 3 & 3) as usize];
                bytes = bytes.min(length.saturating_add(1));
                length.wrapping_sub(bytes).wrapping_add(off)
            }
            Kind::Behind => length.wrapping_add(near()),
            Kind::Before => {
                bytes = if dice & 0x40 == 0 { bytes } else { bytes & 7 };
                u64::from(1 + (dice >> 3 & 7)).wrapping_neg()
            }
            Kind::Far => random.random_range(0..=within) ^ 1 << random.random_range(0..64),
            _ => random.random_range(0..=within),
        };
        operation.s_axis_op_bytes = bytes as u16;
        operation.s_axis_op_address = base.wrapping_add(offset);
        if matches!(kind, Kind::Stranger) {
            match dice >> 8 & 7 {
                0 => operation.s_axis_op_key ^= 1 << self.index_bits,
                1 => operation.s_axis_op_key ^= 1 << 31,
                2 => operation.s_axis_op_key ^= 1 << random.random_range(self.index_bits..32),
                3 => operation.s_axis_op_domain ^= 1,
                4 => operation.s_axis_op_domain ^= 1 << (DOMAIN_BITS - 1),
                5 => operation.s_axis_op_domain ^= 1 << random.random_range(0..DOMAIN_BITS),
                6 => operation.s_axis_op_address = random.random(),
                _ => operation.s_axis_op_key = random.random(),
            }
        }
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let mixture = MIXTURES[random.random_range(0..MIXTURES.len())];
        let mut parts = (mixture.iter()).flat_map(|&(kind, parts)| std::iter::repeat_n(kind, parts));
        self.phase.kinds = std::array::from_fn(|_| parts.next().unwrap_or(Kind::Any));
        self.spray.change(random, HOT);
        // Sometimes the phase finds what is there.
        self.phase.set_up = if random.random_range(0..4) == 0 {
            0
        } else {
            self.spray.count().min(HOT)
        };
        self.phase.left = self.phase.set_up + random.random_range(1..600);
    }

    /// The operation takes effect.
    #[inline]
    fn accept(&mut self, operation: &Inputs) {
        let index = self.index(operation.s_axis_op_key);
        let region = self.regions[index];
        if operation.s_axis_op_op == op::CONFIGURE {
            self.count_configure(operation, &region);
            self.regions[index] = Region {
                now: *operation,
                before: region.now,
                configured: self.moment,
                configured_before: region.configured,
                ..region
            };
        } else {
            self.count_check(operation, &region);
            self.regions[index].last_check = *operation;
            self.regions[index].checked = self.moment;
        }
    }

    #[inline]
    fn count_hazard(&mut self, hazard: usize, since: usize, happened: bool) {
        let distance = self.moment - since;
        if happened && distance <= DISTANCES {
            self.bins.hit(HAZARD + hazard * DISTANCES + distance - 1, true);
        }
    }

    #[inline]
    fn count_configure(&mut self, operation: &Inputs, region: &Region) {
        let (base, length) = (operation.s_axis_op_address, operation.s_axis_op_length);
        let valid = operation.s_axis_op_valid;
        self.bins.hit_each(
            CONFIGURE,
            [
                valid && operation.s_axis_op_write,
                !valid,
                valid && !operation.s_axis_op_write,
                valid && length == 0,
                valid && length == (1 << LENGTH_BITS) - 1,
                valid && length > 0 && base.wrapping_add(length) == 0,
                valid && length > 0 && base >> 32 != base.wrapping_add(length - 1) >> 32,
                valid && region.now.s_axis_op_valid && region.now.s_axis_op_key != operation.s_axis_op_key,
            ],
        );
        let change = answer(&region.last_check, operation) != answer(&region.last_check, &region.now);
        self.count_hazard(3, region.checked, change);
        self.count_hazard(4, region.configured, true);
    }

    #[inline]
    fn count_check(&mut self, operation: &Inputs, region: &Region) {
        let now = answer(operation, &region.now);
        let change = now != answer(operation, &region.before);
        let close = region.configured - region.configured_before <= DISTANCES;
        self.count_hazard(0, region.configured, change);
        self.count_hazard(1, region.configured, change && close);
        self.count_hazard(2, region.checked, true);

        let setting = &region.now;
        let length = setting.s_axis_op_length;
        let offset = operation
            .s_axis_op_address
            .wrapping_sub(setting.s_axis_op_address);
        let bytes = u64::from(operation.s_axis_op_bytes);
        let end = u128::from(offset) + u128::from(bytes);
        let is_within = end <= length.into();
        let key = operation.s_axis_op_key ^ setting.s_axis_op_key;
        let domain = operation.s_axis_op_domain ^ setting.s_axis_op_domain;
        let (valid, write) = (setting.s_axis_op_valid, setting.s_axis_op_write);
        if bytes == 0 || now == status::BAD_KEY {
            let only = |is: bool, valid_is: bool, write_is: bool| {
                bytes > 0 && is && valid == valid_is && write == write_is && is_within
            };
            self.bins.hit_each(
                KEY,
                [
                    bytes == 0 && valid && key == 0 && domain == 0 && write && is_within,
                    bytes == 0 && !valid,
                    bytes == 0 && valid && key == 0 && domain == 0 && write && !is_within,
                    only(key == 0 && domain == 0, false, true),
                    only(key == 1 << self.index_bits && domain == 0, true, true),
                    only(key == 1 << 31 && domain == 0, true, true),
                    only(key == 0 && domain == 1, true, true),
                    only(key == 0 && domain == 1 << (DOMAIN_BITS - 1), true, true),
                    only(key == 0 && domain == 0, true, false),
                    bytes > 0 && valid && !is_within,
                    bytes > 0 && region.configured == 0,
                ],
            );
            return;
        }
        let done = now == status::DONE;
        let half = |number: u64| number & 0xffff_ffff;
        let (length, end_bits) = (u128::from(length), 1u128 << LENGTH_BITS);
        let upper = end >> 32;
        self.bins.hit_each(
            BOUNDS,
            [
                done,
                !done,
                done && offset == 0 && end == length,
                done && offset == 0 && bytes == 1,
                done && end == length && bytes == 1,
                end + 1 == length,
                end == length,
                end == length + 1,
                u128::from(offset) + 1 == length,
                u128::from(offset) == length,
                offset == u64::MAX,
                end > 1 << 64 && end - (1 << 64) <= length,
                end == 1 << 64,
                done && half(operation.s_axis_op_address) < half(setting.s_axis_op_address),
                done && upper != u128::from(offset) >> 32,
                done && upper < length >> 32 && end as u32 > length as u32,
                !done && upper > length >> 32 && end as u32 <= length as u32,
                !done && end >= end_bits && end % end_bits <= length && offset >= 1 << LENGTH_BITS,
                !done && end >= end_bits && end % end_bits <= length && offset < 1 << LENGTH_BITS,
                done && operation.s_axis_op_address.wrapping_add(bytes) == 0,
            ],
        );
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let waits = inputs.s_axis_op_tvalid && !outputs.s_axis_op_tready && !inputs.rst;
        let clears = self.clearing && !outputs.s_axis_op_tready;
        self.bins.hit_each(
            0,
            [
                waits && self.pipeline.is_full(),
                waits && clears,
                self.held.is_some() && outputs.s_axis_op_tready,
                outputs.m_axis_result_tvalid && !inputs.m_axis_result_tready,
                inputs.rst && !self.pipeline.is_empty(),
                inputs.rst && clears,
            ],
        );
    }
}

/// Status of a CHECK of what a CONFIGURE set.
#[inline]
fn answer(check: &Inputs, region: &Inputs) -> u8 {
    let bytes = u128::from(check.s_axis_op_bytes);
    let offset = check.s_axis_op_address.wrapping_sub(region.s_axis_op_address);
    let may = region.s_axis_op_valid
        && region.s_axis_op_write
        && region.s_axis_op_key == check.s_axis_op_key
        && region.s_axis_op_domain == check.s_axis_op_domain;
    if bytes == 0 {
        status::DONE
    } else if !may {
        status::BAD_KEY
    } else if u128::from(offset) + bytes > region.s_axis_op_length.into() {
        status::OUT_OF_BOUNDS
    } else {
        status::DONE
    }
}
