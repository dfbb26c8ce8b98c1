//! Cutting a failing trace short: delta debugging over clocks (Zeller and Hildebrandt, "Simplifying and Isolating
//! Failure-Inducing Input", 2002). Any sequence of inputs is legal, so clocks may be dropped freely.

/// Clocks of replay that shrinking may spend.
const BUDGET: usize = 20_000_000;

/// A shorter trace for which `fails` still holds. The first clocks (the reset) stay: nothing is comparable without them.
pub fn shrink<T: Clone>(trace: &[T], fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    const RESET_CLOCKS: usize = 3;
    let mut best = trace.to_vec();
    let mut spent = 0;
    let mut chunk = best.len() / 2;
    while chunk > 0 && spent < BUDGET {
        let mut start = RESET_CLOCKS;
        let mut shorter = false;
        while start < best.len() && spent < BUDGET {
            let end = (start + chunk).min(best.len());
            let candidate: Vec<T> = best[..start].iter().chain(&best[end..]).cloned().collect();
            spent += candidate.len();
            if fails(&candidate) {
                best = candidate;
                shorter = true;
            } else {
                start = end;
            }
        }
        if !shorter || chunk > best.len() {
            chunk /= 2;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_stays() {
        let trace: Vec<u32> = (0..1000).collect();
        let needs = |t: &[u32]| t.contains(&17) && t.contains(&801);
        assert_eq!(shrink(&trace, needs), [0, 1, 2, 17, 801]);
    }
}
