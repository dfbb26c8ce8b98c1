//! Functional coverage: named things that a run must have seen happen.

use serde::Serialize;

/// Counters with names, in the order of their declaration.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Bins {
    entries: Vec<Bin>,
}

/// One counter.
#[derive(Clone, Debug, Serialize)]
pub struct Bin {
    /// What happened.
    pub name: String,
    /// How often.
    pub hits: u64,
}

impl Bins {
    /// Bins of these names, none hit.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self {
            entries: names
                .into_iter()
                .map(|name| Bin {
                    name: name.into(),
                    hits: 0,
                })
                .collect(),
        }
    }

    /// Counts one hit of bin `index` if `happened`.
    #[inline]
    pub fn hit(&mut self, index: usize, happened: bool) {
        self.entries[index].hits += u64::from(happened);
    }

    /// Counts one hit of bin `first + i` for each i at which it `happened`.
    #[inline]
    pub fn hit_each<const N: usize>(&mut self, first: usize, happened: [bool; N]) {
        const { assert!(N <= 64) };
        // Few of many happen in one clock: only those are visited.
        let mut left = (happened.iter().rev()).fold(0u64, |set, &bit| set << 1 | u64::from(bit));
        while left != 0 {
            self.entries[first + left.trailing_zeros() as usize].hits += 1;
            left &= left - 1;
        }
    }

    /// All bins.
    pub fn all(&self) -> &[Bin] {
        &self.entries
    }

    /// Names of those never hit.
    pub fn missed(&self) -> Vec<&str> {
        self.entries
            .iter()
            .filter(|bin| bin.hits == 0)
            .map(|bin| bin.name.as_str())
            .collect()
    }

    /// Adds the hits of another run of the same unit.
    pub fn merge(&mut self, other: &Self) {
        if self.entries.is_empty() {
            self.entries.clone_from(&other.entries);
            return;
        }
        for (mine, theirs) in self.entries.iter_mut().zip(&other.entries) {
            mine.hits += theirs.hits;
        }
    }
}

/// Declares a unit's bins: an enum `Bin` whose variants number them, and their names `BINS` in the same order.
macro_rules! bins {
    ($($bin:ident = $name:literal),+ $(,)?) => {
        #[allow(dead_code, reason = "some are reached by their number alone")]
        #[derive(Clone, Copy)]
        enum Bin { $($bin),+ }

        const BINS: [&str; [$($name),+].len()] = [$($name),+];
    };
}
pub(crate) use bins;

#[cfg(test)]
mod tests {
    use super::*;

    /// A bin counts its own events and no other's, and one that saw none is named.
    #[test]
    fn each_bin_counts_its_own() {
        let mut bins = Bins::new(["a", "b", "c", "d"]);
        bins.hit(0, true);
        bins.hit(0, false);
        bins.hit_each(1, [false, true, true]);
        bins.hit_each(2, [true, false]);
        let hits: Vec<u64> = bins.all().iter().map(|bin| bin.hits).collect();
        assert_eq!(hits, [1, 0, 2, 1]);
        assert_eq!(bins.missed(), ["b"]);
    }
}
