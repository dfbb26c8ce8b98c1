//! The two things every streaming unit is made of: a rigid pipeline, and the two-entry queue at its end.

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

/// A pipeline of `STAGES` registers before an [`OutputQueue`]: it moves as a whole in the clocks in which the queue has
/// room. What enters in clock t is at the queue's head in clock t + `STAGES` + 1 when nothing stalls.
#[derive(Clone, Debug)]
pub struct Pipeline<T, const STAGES: usize> {
    stages: [Option<T>; STAGES],
    /// Index of the last stage, whose entry leaves next.
    last: usize,
    queue: OutputQueue<T>,
}

impl<T: Copy, const STAGES: usize> Pipeline<T, STAGES> {
    /// An empty pipeline.
    pub fn new() -> Self {
        Self {
            stages: [None; STAGES],
            last: 0,
            queue: OutputQueue::new(),
        }
    }

    /// The pipeline moves in this clock, so that an entry can come in.
    #[inline]
    pub fn moves(&self) -> bool {
        self.queue.has_room()
    }

    /// What the unit offers at its output.
    #[inline]
    pub fn output(&self) -> Option<&T> {
        self.queue.head()
    }

    /// The entry that came in `moves` moving clocks ago, from 1 to `STAGES`.
    #[inline]
    pub fn stage(&self, moves: usize) -> Option<&T> {
        debug_assert!((1..=STAGES).contains(&moves));
        let index = self.last + STAGES - moves;
        self.stages[if index >= STAGES { index - STAGES } else { index }].as_ref()
    }

    /// One clock: `entry` comes in (only if the pipeline moves), the output is `taken` or not.
    #[inline]
    pub fn clock(&mut self, entry: Option<T>, taken: bool) {
        if self.moves() {
            let leaving = std::mem::replace(&mut self.stages[self.last], entry);
            self.last = if self.last + 1 == STAGES { 0 } else { self.last + 1 };
            self.queue.clock(leaving, taken);
        } else {
            debug_assert!(
                entry.is_none(),
                "an entry pushed into a standing pipeline would be lost"
            );
            self.queue.clock(None, taken);
        }
    }
}

impl<T: Copy, const STAGES: usize> Default for Pipeline<T, STAGES> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
