//! How full a unit's rigid pipeline is, as seen from outside: what a stimulus needs to know which clocks move.

/// The occupancy of a pipeline with the two-entry queue at its end. It moves in the clocks in which the queue has room.
#[derive(Clone, Debug)]
pub struct Occupancy {
    /// Stages before the queue.
    depth: u32,
    /// Bit k - 1: stage k holds an entry.
    stages: u32,
    queued: u32,
}

impl Occupancy {
    /// Of an empty pipeline in which an entry is at the output `latency` clocks after it came in, 2 to 32.
    pub fn new(latency: usize) -> Self {
        debug_assert!((2..=32).contains(&latency));
        Self {
            depth: latency as u32 - 1,
            stages: 0,
            queued: 0,
        }
    }

    /// The pipeline moves in this clock.
    #[inline]
    pub fn moves(&self) -> bool {
        self.queued < 2
    }

    /// Nothing is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.stages == 0 && self.queued == 0
    }

    /// It stands still with an entry in each place.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.queued == 2 && self.stages == (1 << self.depth) - 1
    }

    /// One clock: an entry came in or not (only if it moves), the output was `taken` or not.
    #[inline]
    pub fn clock(&mut self, entry: bool, taken: bool) {
        let moves = self.moves();
        debug_assert!(moves || !entry, "an entry came into a standing pipeline");
        self.queued -= u32::from(taken && self.queued > 0);
        if moves {
            self.queued += self.stages >> (self.depth - 1) & 1;
            self.stages = (self.stages << 1 | u32::from(entry)) & ((1 << self.depth) - 1);
        }
    }

    /// A reset empties it.
    pub fn clear(&mut self) {
        (self.stages, self.queued) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metaroce_model::pipeline::Pipeline;

    /// H3: what the stimulus takes for moving clocks are those of the model.
    #[test]
    fn moves_and_offers_when_the_model_does() {
        let mut occupancy = Occupancy::new(4);
        let mut pipeline = Pipeline::<(), 3>::new();
        let mut was_full = false;
        for clock in 0u32..2000 {
            assert_eq!(occupancy.moves(), pipeline.moves());
            assert_eq!(occupancy.queued > 0, pipeline.output().is_some());
            was_full |= occupancy.is_full();
            let bits = clock.wrapping_mul(2_654_435_761) >> 28;
            let (entry, taken) = (bits & 3 != 0 && occupancy.moves(), bits & 12 == 0);
            occupancy.clock(entry, taken);
            pipeline.clock(entry.then_some(()), taken);
        }
        assert!(was_full);
    }
}
