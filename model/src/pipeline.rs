//! What every streaming unit is made of: a rigid pipeline, the two-entry queue at its end, and, where operations on one
//! context must keep a distance, the input register in which they wait.

use std::collections::VecDeque;

/// The queue at a unit's output: what `axis_register` is in hardware.
#[derive(Clone, Debug)]
pub struct OutputQueue<T> {
    entries: [Option<T>; 2],
}

impl<T: Copy> OutputQueue<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self { entries: [None; 2] }
    }

    /// Fewer than two entries are held: the pipeline before it moves in this clock.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.entries[1].is_none()
    }

    /// The oldest entry.
    #[inline]
    pub fn head(&self) -> Option<&T> {
        self.entries[0].as_ref()
    }

    /// One clock: the head leaves if there is one and it is `taken`; `entry` comes in (only if there is room).
    #[inline]
    pub fn clock(&mut self, entry: Option<T>, taken: bool) {
        debug_assert!(
            entry.is_none() || self.has_room(),
            "an entry pushed into a full queue would be lost"
        );
        if taken && self.entries[0].is_some() {
            self.entries[0] = self.entries[1].take();
        }
        if entry.is_some() {
            let place = usize::from(self.entries[0].is_some());
            self.entries[place] = entry;
        }
    }
}

impl<T: Copy> Default for OutputQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A queue of the units that join others, as [`crate::port`] tells.
///
/// The conditions of all rules are worked out before anything is put or taken: then room and heads are those of the clock's start.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    entries: VecDeque<T>,
    depth: usize,
}

impl<T: Copy> Queue<T> {
    /// An empty queue of `depth` entries.
    pub fn new(depth: usize) -> Self {
        Self {
            entries: VecDeque::with_capacity(depth + 1),
            depth,
        }
    }

    /// There is room for an entry.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.entries.len() < self.depth
    }

    /// Entries held.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// No entry is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The oldest entry.
    #[inline]
    pub fn head(&self) -> Option<&T> {
        self.entries.front()
    }

    /// Puts an entry; there was room at the clock's start.
    #[inline]
    pub fn put(&mut self, entry: T) {
        debug_assert!(
            self.entries.len() <= self.depth,
            "an entry put into a full queue would be lost"
        );
        self.entries.push_back(entry);
    }

    /// Takes the oldest entry. An entry put in the same clock must not be taken: take first where both may happen.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        self.entries.pop_front()
    }

    /// Empties the queue.
    #[inline]
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

/// The funnel through which `N` units give operations to one table: [`crate::port::nic`] tells how.
#[derive(Clone, Debug)]
pub struct Funnel<T, const N: usize> {
    registers: [Option<T>; N],
    /// Bit i: register i is full.
    full: u32,
    /// The input chosen last.
    last: usize,
    /// What is offered to the table.
    output: Option<T>,
}

impl<T: Copy, const N: usize> Funnel<T, N> {
    /// An empty funnel.
    pub fn new() -> Self {
        const { assert!(0 < N && N < 32) };
        Self {
            registers: [None; N],
            full: 0,
            last: N - 1,
            output: None,
        }
    }

    /// Nothing is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.full == 0 && self.output.is_none()
    }

    /// The input chosen in this clock, in which the table is ready or not.
    #[inline]
    fn chosen(&self, table_ready: bool) -> Option<usize> {
        if self.full == 0 || self.output.is_some() && !table_ready {
            return None;
        }
        let after = self.full >> (self.last + 1) << (self.last + 1);
        let from = if after != 0 { after } else { self.full };
        Some(from.trailing_zeros() as usize)
    }

    /// Each input's `tready`: its register is empty.
    #[inline]
    pub fn ready(&self) -> [bool; N] {
        std::array::from_fn(|input| self.full >> input & 1 == 0)
    }

    /// What is offered to the table.
    #[inline]
    pub fn head(&self) -> Option<&T> {
        self.output.as_ref()
    }

    /// One clock: where `offered`, the input's `entry` goes in if the input is ready; the table is ready or not.
    #[inline]
    pub fn clock(&mut self, offered: [bool; N], entry: impl Fn(usize) -> T, table_ready: bool) {
        let chosen = self.chosen(table_ready);
        let ready = self.ready();
        if table_ready {
            self.output = None;
        }
        if let Some(chosen) = chosen {
            self.last = chosen;
            self.full &= !(1 << chosen);
            self.output = self.registers[chosen].take();
        }
        for (input, offered) in offered.into_iter().enumerate() {
            if offered && ready[input] {
                self.registers[input] = Some(entry(input));
                self.full |= 1 << input;
            }
        }
    }
}

impl<T: Copy, const N: usize> Default for Funnel<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

/// A pipeline of `STAGES` registers (1 to 30) before an [`OutputQueue`]: it moves as a whole in the clocks in which the
/// queue has room. What enters in clock t is at the queue's head in clock t + `STAGES` + 1 when nothing stalls.
///
/// Entries stay where they were put; what moves is a bit for each stage.
#[derive(Clone, Debug)]
pub struct Pipeline<T, const STAGES: usize> {
    /// The entries of the queue and of the stages, a ring.
    entries: [Option<T>; SLOTS],
    /// Where the oldest entry is.
    oldest: usize,
    /// Where the next entry goes.
    next: usize,
    /// Bit k - 1: stage k, the one that an entry reaches by k moves, holds an entry.
    stages: u32,
    /// Entries in the queue.
    queued: usize,
}

/// Entries that there is space for: more than 30 stages and the queue hold.
const SLOTS: usize = 32;

impl<T: Copy, const STAGES: usize> Pipeline<T, STAGES> {
    /// An empty pipeline.
    pub fn new() -> Self {
        const { assert!(1 <= STAGES && STAGES + 2 <= SLOTS) };
        Self {
            entries: [None; SLOTS],
            oldest: 0,
            next: 0,
            stages: 0,
            queued: 0,
        }
    }

    /// The pipeline moves in this clock, so that an entry can come in.
    #[inline]
    pub fn moves(&self) -> bool {
        self.queued < 2
    }

    /// Nothing is in the stages or in the queue.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.stages == 0 && self.queued == 0
    }

    /// What the unit offers at its output.
    #[inline]
    pub fn output(&self) -> Option<&T> {
        if self.queued > 0 {
            self.entries[self.oldest % SLOTS].as_ref()
        } else {
            None
        }
    }

    /// The entry that came in `moves` moving clocks ago, from 1 to `STAGES`.
    #[inline]
    pub fn stage(&self, moves: usize) -> Option<&T> {
        debug_assert!((1..=STAGES).contains(&moves));
        if self.stages >> (moves - 1) & 1 == 0 {
            return None;
        }
        let older = (self.stages >> moves).count_ones() as usize;
        self.entries[(self.oldest + self.queued + older) % SLOTS].as_ref()
    }

    /// One clock: `entry` comes in (only if the pipeline moves), the output is `taken` or not.
    #[inline]
    pub fn clock(&mut self, entry: Option<T>, taken: bool) {
        let moves = self.moves();
        if taken && self.queued > 0 {
            self.queued -= 1;
            self.oldest = (self.oldest + 1) % SLOTS;
        }
        debug_assert!(
            entry.is_none() || moves,
            "an entry pushed into a standing pipeline would be lost"
        );
        if moves {
            self.queued += (self.stages >> (STAGES - 1)) as usize;
            self.stages = (self.stages << 1 | u32::from(entry.is_some())) & ((1 << STAGES) - 1);
            if entry.is_some() {
                self.entries[self.next] = entry;
                self.next = (self.next + 1) % SLOTS;
            }
        }
    }
}

impl<T: Copy, const STAGES: usize> Default for Pipeline<T, STAGES> {
    fn default() -> Self {
        Self::new()
    }
}

/// The input register of a unit that issues two operations with one key (a path, a connection) at least `DISTANCE`
/// moving clocks apart (2 to 4). An accepted operation waits in it until it may issue.
///
/// In each clock, in this order: [`IssueRegister::ready`] for the unit's `tready`, [`IssueRegister::issue`] or
/// [`IssueRegister::issue_other`], then [`IssueRegister::clock`].
#[derive(Clone, Debug)]
pub struct IssueRegister<T, const DISTANCE: usize> {
    entry: Option<T>,
    /// The entry's key, [`KEYLESS`] for one that keeps no distance.
    key: u32,
    /// Keys issued, [`NOTHING`] where none was, 32 bits each: in this clock (lowest), then in the moving clocks before it,
    /// latest first. One integer, since an array would be written in other pieces than it is read, and so stall the processor.
    issued: u128,
}

/// Key of an operation that keeps no distance.
const KEYLESS: u32 = u32::MAX - 1;
/// In the place of a key: no operation that others must keep distance from.
const NOTHING: u32 = u32::MAX;
/// [`NOTHING`] in each place.
const NOTHING_ISSUED: u128 = u128::MAX;

impl<T: Copy, const DISTANCE: usize> IssueRegister<T, DISTANCE> {
    /// An empty register, with nothing issued lately.
    pub fn new() -> Self {
        const { assert!(2 <= DISTANCE && DISTANCE <= 4) };
        Self {
            entry: None,
            key: KEYLESS,
            issued: NOTHING_ISSUED,
        }
    }

    /// Nothing waits, and nothing was issued lately.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entry.is_none() && self.issued == NOTHING_ISSUED
    }

    /// An operation offered in this clock would be accepted: the register is empty, or its entry issues in this clock.
    /// `enabled`: the pipeline moves and nothing goes before the entry.
    #[inline]
    pub fn ready(&self, enabled: bool) -> bool {
        self.entry.is_none() || (enabled && self.is_far(self.key))
    }

    /// Issues the entry, if there is one that may; `enabled` as in [`IssueRegister::ready`].
    #[inline]
    pub fn issue(&mut self, enabled: bool) -> Option<T> {
        if !enabled || self.entry.is_none() || !self.is_far(self.key) {
            return None;
        }
        if self.key != KEYLESS {
            self.record(self.key);
        }
        self.entry.take()
    }

    /// Issues an operation that does not come from the register, if its key's distance allows; tells whether it did.
    /// Only in a clock in which the pipeline moves and the entry is not enabled.
    #[inline]
    pub fn issue_other(&mut self, key: u16) -> bool {
        let issues = self.is_far(key.into());
        if issues {
            self.record(key.into());
        }
        issues
    }

    /// The end of the clock. What is `offered`, with its key (`None`: it keeps no distance), is accepted if the unit was
    /// ready; `moves`: the pipeline moved, so that distances grow by one.
    #[inline]
    pub fn clock(&mut self, moves: bool, offered: Option<(Option<u16>, T)>) {
        if moves {
            self.issued = self.issued << 32 | u128::from(NOTHING);
        }
        debug_assert!(self.issued as u32 == NOTHING, "issued into a standing pipeline");
        if let (Some((key, entry)), None) = (offered, &self.entry) {
            self.entry = Some(entry);
            self.key = key.map_or(KEYLESS, u32::from);
        }
    }

    /// None of the last `DISTANCE - 1` moving clocks issued this key.
    #[inline]
    fn is_far(&self, key: u32) -> bool {
        (0..DISTANCE).all(|clock| (self.issued >> (32 * clock)) as u32 != key)
    }

    /// This clock issues `key`.
    #[inline]
    fn record(&mut self, key: u32) {
        debug_assert!(
            self.issued as u32 == NOTHING,
            "two operations issued in one clock"
        );
        self.issued = self.issued >> 32 << 32 | u128::from(key);
    }
}

impl<T: Copy, const DISTANCE: usize> Default for IssueRegister<T, DISTANCE> {
    fn default() -> Self {
        Self::new()
    }
}

/// What stands around the context of a unit whose operations on one key keep a distance: the input register, the pipeline and the clear after
/// reset, in which every word of the unit's memories is written and nothing is accepted.
///
/// In each clock without reset, in this order: [`OperationPipeline::issue`], then [`OperationPipeline::clock`] with what the issued operation gives; in a clock
/// with reset [`OperationPipeline::reset`] alone.
#[derive(Clone, Debug)]
pub struct OperationPipeline<I, O, const DISTANCE: usize, const STAGES: usize> {
    input: IssueRegister<I, DISTANCE>,
    pipeline: Pipeline<O, STAGES>,
    /// Clocks that a clear takes.
    clear: u32,
    /// Clocks left of it.
    clearing: u32,
}

impl<I: Copy, O: Copy, const DISTANCE: usize, const STAGES: usize> OperationPipeline<I, O, DISTANCE, STAGES> {
    /// As it is after a reset, with a clear of `clear` clocks ahead.
    pub fn new(clear: u32) -> Self {
        Self {
            input: IssueRegister::new(),
            pipeline: Pipeline::new(),
            clear,
            clearing: clear,
        }
    }

    /// The unit's `tready`.
    #[inline]
    pub fn ready(&self) -> bool {
        self.clearing == 0 && self.input.ready(self.pipeline.moves())
    }

    /// What the unit offers at its output.
    #[inline]
    pub fn output(&self) -> Option<&O> {
        self.pipeline.output()
    }

    /// A clock without reset in which nothing is offered changes nothing.
    #[inline]
    pub fn rests(&self) -> bool {
        self.clearing == 0 && self.input.is_empty() && self.pipeline.is_empty()
    }

    /// A clock with reset. Tells whether the context may have changed since the last one and is to be made anew: a reset held for long costs no
    /// more than one, since nothing changes before the clear is over.
    #[inline]
    #[must_use]
    pub fn reset(&mut self) -> bool {
        let changed = self.clearing == 0;
        *self = Self::new(self.clear);
        changed
    }

    /// The operation that issues in this clock, and so takes effect.
    #[inline]
    pub fn issue(&mut self) -> Option<I> {
        if self.clearing > 0 {
            return None;
        }
        self.input.issue(self.pipeline.moves())
    }

    /// The end of a clock without reset: the `result` of what issued enters the pipeline, the one at the output is `taken` or not, and what is `offered` with its key
    /// (`None`: it keeps no distance) is accepted if the unit was ready.
    #[inline]
    pub fn clock(&mut self, result: Option<O>, offered: Option<(Option<u16>, I)>, taken: bool) {
        if self.clearing > 0 {
            self.clearing -= 1;
            return;
        }
        let moves = self.pipeline.moves();
        self.pipeline.clock(result, taken);
        self.input.clock(moves, offered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers `keys` one after the other, in clocks in which `moves(clock)` holds; gives the clocks of acceptance and of issue.
    fn issue_clocks(keys: &[Option<u16>], moves: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
        let mut register = IssueRegister::<usize, 4>::new();
        let mut clocks = vec![(0, 0); keys.len()];
        let (mut next, mut done) = (0, 0);
        for clock in 0.. {
            if done == keys.len() {
                break;
            }
            let ready = register.ready(moves(clock));
            if let Some(index) = register.issue(moves(clock)) {
                assert_eq!(index, done, "the order is kept");
                clocks[index].1 = clock;
                done += 1;
            }
            register.clock(moves(clock), keys.get(next).map(|&key| (key, next)));
            if ready && next < keys.len() {
                clocks[next].0 = clock;
                next += 1;
            }
        }
        clocks
    }

    #[test]
    fn distinct_keys_issue_every_clock() {
        let clocks = issue_clocks(&[Some(1), Some(2), Some(3), Some(4), Some(1)], |_| true);
        assert_eq!(clocks, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
    }

    #[test]
    fn one_key_issues_every_fourth_moving_clock() {
        let clocks = issue_clocks(&[Some(7); 3], |_| true);
        assert_eq!(clocks, [(0, 1), (1, 5), (5, 9)]);
        let clocks = issue_clocks(&[Some(7), Some(8), Some(7)], |_| true);
        assert_eq!(clocks, [(0, 1), (1, 2), (2, 5)]);
        let clocks = issue_clocks(&[Some(7); 3], |clock| clock % 2 == 0);
        assert_eq!(clocks, [(0, 2), (2, 10), (10, 18)]);
    }

    #[test]
    fn without_a_key_no_distance_is_kept() {
        let clocks = issue_clocks(&[None, None, Some(7), None, Some(7)], |_| true);
        assert_eq!(clocks, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 7)]);
    }

    #[test]
    fn what_goes_before_the_entry_keeps_the_same_distance() {
        let mut register = IssueRegister::<(), 4>::new();
        register.clock(true, Some((Some(7), ())));
        assert!(!register.ready(false));
        assert!(register.issue_other(7));
        register.clock(true, None);
        for _ in 0..3 {
            assert!(!register.ready(true) && register.issue(true).is_none());
            assert!(!register.clone().issue_other(7) && register.clone().issue_other(8));
            register.clock(true, None);
        }
        assert!(register.ready(true) && register.issue(true).is_some());
    }

    #[test]
    fn latency_is_stages_and_the_queue() {
        let mut pipeline = Pipeline::<u32, 3>::new();
        for clock in 0..10 {
            assert_eq!(
                pipeline.output().copied(),
                if clock < 4 { None } else { Some(clock - 4) }
            );
            assert_eq!(pipeline.stage(1).copied(), clock.checked_sub(1));
            assert_eq!(pipeline.stage(3).copied(), clock.checked_sub(3));
            pipeline.clock(Some(clock), true);
        }
    }

    #[test]
    fn a_stall_loses_and_reorders_nothing() {
        let mut pipeline = Pipeline::<u32, 3>::new();
        let (mut sent, mut received) = (0, 0);
        for clock in 0u32..1000 {
            let taken = clock.wrapping_mul(2_654_435_761) >> 30 == 0;
            if let (Some(&entry), true) = (pipeline.output(), taken) {
                assert_eq!(entry, received);
                received += 1;
            }
            let entry = pipeline.moves().then_some(sent);
            sent += u32::from(entry.is_some());
            pipeline.clock(entry, taken);
        }
        assert!(received > 100 && sent - received <= 5);
    }
}
