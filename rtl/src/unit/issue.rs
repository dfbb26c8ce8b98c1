//! The front of a unit whose memories are read, changed and written back in a loop of several clocks: the input register, the rule that
//! keeps operations on one key (a path, a connection) apart, and the sweep that writes every memory word after reset.
//!
//! An accepted operation waits in the input register until it may *issue*, that is, enter the pipeline: when the pipeline moves and none of
//! the last few moving clocks issued an operation on its key. [`in_order`] is all of it for a unit with one source of operations. A unit with
//! more (`rate_limiter`) puts [`InputRegister`] and [`Spacing`] together itself:
//!
//! ```text
//! let input = InputRegister::new(&b, "s_axis_op", &["op", "connection"]);
//! let spacing = Spacing::new(&b, 4, key_bits);
//! let wait = spacing.conflict("input_conflict", &input.get("connection"));
//! let issue_input = (&moves & &input.valid & !&offer & !&wait).named("issue_input");
//! spacing.record(&moves, &issue, &issued_connection);
//! input.finish(&issue_input, &clearing);
//! ```

use crate::hdl::{Builder, Signal};

/// An operation that was accepted and has not issued yet.
pub struct InputRegister {
    /// There is one.
    pub valid: Signal,
    builder: Builder,
    stream: String,
    fields: Vec<(String, Signal)>,
}

impl InputRegister {
    /// The register `input_valid`, empty after reset, and `input_FIELD` for each port `STREAM_FIELD`.
    /// [`InputRegister::finish`] completes it.
    pub fn new(b: &Builder, stream: &str, fields: &[&str]) -> Self {
        let field = |name: &&str| {
            let width = b.get(&format!("{stream}_{name}")).width();
            (name.to_string(), b.register(&format!("input_{name}"), width))
        };
        Self {
            valid: b.register("input_valid", 1),
            builder: b.clone(),
            stream: stream.into(),
            fields: fields.iter().map(field).collect(),
        }
    }

    /// A field of the operation.
    ///
    /// # Panics
    /// When the register was made without that field.
    pub fn get(&self, field: &str) -> Signal {
        let found = self.fields.iter().find(|(name, _)| name == field);
        found
            .unwrap_or_else(|| panic!("the input register of {} has no field {field}", self.stream))
            .1
            .clone()
    }

    /// Loads the register and drives `STREAM_tready`: outside the clear, when it is empty or its operation issues in this clock.
    pub fn finish(&self, issue: &Signal, clearing: &Signal) {
        let free = (issue | &!&self.valid).named("input_free");
        self.load(&(&free & &!clearing).named("input_ready"));
    }

    /// Loads the register in clocks in which `ready`, which is also `STREAM_tready`.
    fn load(&self, ready: &Signal) {
        let b = &self.builder;
        b.drive(&format!("{}_tready", self.stream), ready);
        b.clocked_when(ready, &self.valid, &b.get(&format!("{}_tvalid", self.stream)));
        for (name, register) in &self.fields {
            // Whether an operation is offered or not does not matter here, which keeps `tvalid` off the enables.
            b.clocked_when(ready, register, &b.get(&format!("{}_{name}", self.stream)));
        }
    }
}

/// The keys of the operations that issued in the last moving clocks: one equal to none of them is far enough from every earlier one.
pub struct Spacing {
    builder: Builder,
    /// Whether a spaced operation issued so many moving clocks ago, from 1 on, and its key.
    recent: Vec<(Signal, Signal)>,
}

impl Spacing {
    /// Keeps operations on one key at least `clocks` moving clocks apart. [`Spacing::record`] completes it.
    pub fn new(b: &Builder, clocks: usize, key_bits: u32) -> Self {
        let entry = |distance| {
            (
                b.register(&format!("recent_{distance}_valid"), 1),
                b.register(&format!("recent_{distance}_key"), key_bits),
            )
        };
        Self {
            builder: b.clone(),
            recent: (1..clocks).map(entry).collect(),
        }
    }

    /// A wire: an operation on `key` must wait.
    pub fn conflict(&self, name: &str, key: &Signal) -> Signal {
        let same = self.recent.iter().map(|(valid, recent)| recent.eq(key) & valid);
        let any = same.reduce(|any, same| any | &same);
        any.unwrap_or_else(|| self.builder.lit(0, 1)).named(name)
    }

    /// Enters what issues in this clock: `spaced`, an operation that takes part in the spacing does, on `key`.
    pub fn record(&self, moves: &Signal, spaced: &Signal, key: &Signal) {
        let mut newest = (spaced.clone(), key.clone());
        for entry in &self.recent {
            self.builder.clocked_when(moves, &entry.0, &newest.0);
            self.builder.clocked_when(moves, &entry.1, &newest.1);
            newest = entry.clone();
        }
    }
}

/// The front of a unit with one source of operations.
pub struct Issue {
    /// The operation in the input register enters the pipeline in this clock.
    pub issue: Signal,
    /// The input register.
    pub input: InputRegister,
}

impl Issue {
    /// A field of the operation that issues.
    pub fn get(&self, field: &str) -> Signal {
        self.input.get(field)
    }
}

/// Accepts operations at `stream` and issues them in order, two with the same field `key` at least `clocks` moving clocks apart.
///
/// `spaced` says of an operation, given a way to its fields, whether it takes part in the spacing at all.
///
/// How long an operation has to wait is known when it is accepted: then its key is compared with those issued before it, and registers
/// `input_waits_N` (N moving clocks or more) count down. `moves_next` says a clock ahead whether the pipeline moves, so `STREAM_tready`, which has far
/// to go, is a register; and the operation issues exactly when it is set.
pub fn in_order(
    b: &Builder,
    stream: &str,
    fields: &[&str],
    (key, clocks): (&str, usize),
    spaced: impl Fn(&dyn Fn(&str) -> Signal) -> Signal,
    (moves, moves_next): (&Signal, &Signal),
    sweep: &Sweep,
) -> Issue {
    let input = InputRegister::new(b, stream, fields);
    let ready = b.register("input_ready", 1);
    let spacing = Spacing::new(b, clocks, input.get(key).width());
    let waits: Vec<Signal> = (1..clocks)
        .map(|wait| b.register(&format!("input_waits_{wait}"), 1))
        .collect();
    let issue = (&ready & &input.valid).named("issue");
    let issued_spaced = (&issue & &spaced(&|field| input.get(field))).named("issue_spaced");
    spacing.record(moves, &issued_spaced, &input.get(key));

    let offered = |field: &str| b.get(&format!("{stream}_{field}"));
    let offered_key = offered(key);
    let offered_spaced = spaced(&offered).named("offered_spaced");
    let same = |valid: &Signal, issued: &Signal| issued.eq(&offered_key) & valid & &offered_spaced;
    // Issued in this clock, one moving clock before, and so on: whether on the key that is offered.
    let mut recent = vec![same(&issued_spaced, &input.get(key))];
    recent.extend(spacing.recent.iter().map(|(valid, key)| same(valid, key)));
    let recent: Vec<Signal> = (0..clocks)
        .map(|ago| recent[ago].named(&format!("offered_key_issued_{ago}")))
        .collect();
    let mut waits_next = b.lit(0, 1);
    for (position, register) in waits.iter().enumerate() {
        // Issued `ago` moving clocks before this one, it keeps the offered operation back for clocks - 1 - ago more, and one more if this clock moves none.
        let wait = position + 1;
        let when_moving = recent[..clocks - wait]
            .iter()
            .cloned()
            .reduce(|any, same| any | &same);
        let when_standing = recent[1..=clocks - wait]
            .iter()
            .cloned()
            .reduce(|any, same| any | &same);
        let (moving, standing) = when_moving
            .zip(when_standing)
            .expect("a wait is shorter than the spacing");
        let loaded = b.mux(&format!("offered_waits_{wait}"), moves, &moving, &standing);
        let longer = waits.get(wait).cloned().unwrap_or_else(|| b.lit(0, 1));
        let next = b.select(
            &format!("next_input_waits_{wait}"),
            &[(&ready, &loaded), (moves, &longer)],
            register,
        );
        b.clocked(register, &next);
        if wait == 1 {
            waits_next = next;
        }
    }
    input.load(&ready);
    let valid_next = b.mux("next_input_valid", &ready, &offered("tvalid"), &input.valid);
    let issues_next = (moves_next & &!waits_next).named("next_input_can_issue");
    b.clocked(&ready, &(!&sweep.clearing_next & (&issues_next | &!valid_next)));
    Issue { issue, input }
}

/// The sweep after reset: one memory word is written in each clock, each once.
pub struct Sweep {
    /// The sweep is on: in the `entries` clocks that follow the last clock with `rst` high.
    pub clearing: Signal,
    /// It is on in the next clock, unless that is one of reset.
    pub clearing_next: Signal,
    /// The word to write.
    pub index: Signal,
}

/// A sweep over `entries` words (a power of two).
pub fn sweep(b: &Builder, entries: u32) -> Sweep {
    assert!(
        entries.is_power_of_two() && entries >= 2,
        "a sweep over {entries} words"
    );
    let clearing = b.register_reset("clearing", 1, 1);
    let index = b.register("sweep_index", entries.trailing_zeros());
    let last = index.all().named("sweep_last");
    let clearing_next = (&clearing & &!last).named("next_clearing");
    b.clocked(&clearing, &clearing_next);
    // The index comes round to 0 by itself and rests there for the next reset.
    b.clocked_when(&clearing, &index, &(&index + &index.lit(1)));
    Sweep {
        clearing,
        clearing_next,
        index,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdl::emit;

    /// Every part is used and driven, and the text has no odd names.
    #[test]
    fn the_front_elaborates() {
        let b = Builder::new("front", "Front of a unit.");
        b.add_input("rst", 1, "");
        b.add_input("moves", 1, "");
        b.add_input("moves_next", 1, "");
        b.add_input("s_axis_op_tvalid", 1, "");
        b.add_input("s_axis_op_path", 5, "");
        b.declare_output("s_axis_op_tready", 1, "");
        let sweep = sweep(&b, 32);
        let fields = ["path"];
        let front = in_order(
            &b,
            "s_axis_op",
            &fields,
            ("path", 4),
            |_| b.lit(1, 1),
            (&b.get("moves"), &b.get("moves_next")),
            &sweep,
        );
        b.add_output("issue_path", "", &front.get("path").gated(&front.issue));
        let text = emit::module(&b.finish());
        assert!(text.contains("recent_3_key <= recent_2_key"), "{text}");
        assert!(!text.contains("recent_4"), "{text}");
        assert!(!text.contains('$'), "{text}");
    }
}
