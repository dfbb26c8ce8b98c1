//! Funnels: how several units give operations to one table. What a funnel is, is told in [`metaroce_model::port::nic`].
//!
//! Each input's register holds only the fields that it has; the rest are constants, and cost nothing. The choice is made with one bit an input, so that
//! any number of inputs is as good as another. A field that only one input has goes to the table as it is, whichever input is chosen.

use crate::hdl::{Builder, Signal};

/// An input: whether it offers an operation, and the operation's fields that are not zero.
pub struct Input {
    /// `tvalid`.
    pub valid: Signal,
    /// Fields of the table's operations, with what this input has for them: values or constants.
    pub fields: Vec<(&'static str, Value)>,
}

/// What an input has for a field.
pub enum Value {
    /// A signal, kept in the input's register.
    Signal(Signal),
    /// Always the same.
    Constant(u64),
}

/// What a funnel gives.
pub struct Funnel {
    /// Each input's `tready`.
    pub ready: Vec<Signal>,
    /// An operation is offered to the table.
    pub valid: Signal,
    /// Its fields, in the order asked for.
    pub fields: Vec<(&'static str, Signal)>,
}

/// The funnel `name` for operations with these fields; `table_ready`: the table would take an operation that is offered.
pub fn funnel(
    b: &Builder,
    name: &str,
    fields: &[(&'static str, u32)],
    inputs: &[Input],
    table_ready: &Signal,
) -> Funnel {
    let count = inputs.len();
    let named = |part: &str, input: usize| format!("{name}_{part}_{input}");
    let valid: Vec<Signal> = (0..count)
        .map(|input| b.register(&named("full", input), 1))
        .collect();
    // One bit is set: that of the input chosen last.
    let last: Vec<Signal> = (0..count)
        .map(|input| b.register_reset(&named("last", input), 1, u64::from(input + 1 == count)))
        .collect();
    let offers = b.register(&format!("{name}_offers"), 1);
    let room = (table_ready | &!&offers).named(&format!("{name}_room"));
    let next: Vec<Signal> = (0..count)
        .map(|input| {
            // After input `last + 1 ..` round the ring, with none full before this one.
            let turns = (0..count).map(|before| {
                let first = (input + count - before) % count;
                let start = (first + count - 1) % count;
                let between = (0..before).map(|step| &valid[(first + step) % count]);
                between.fold(last[start].clone(), |turn, earlier| turn & !earlier)
            });
            let turn = turns.reduce(|any, turn| any | turn).expect("a funnel has inputs");
            (&valid[input] & &turn).named(&named("next", input))
        })
        .collect();
    let chosen: Vec<Signal> = (0..count)
        .map(|input| (&next[input] & &room).named(&named("chosen", input)))
        .collect();
    let any = chosen
        .iter()
        .cloned()
        .reduce(|any, chosen| any | chosen)
        .expect("a funnel has inputs")
        .named(&format!("{name}_any"));
    let mut ready = Vec::new();
    let mut kept: Vec<Vec<Option<Signal>>> = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        // A register, so that no unit's rule waits for the choice.
        let free = (!&valid[at]).named(&named("ready", at));
        let enters = &input.valid & &free;
        b.clocked(&valid[at], &(enters | (&valid[at] & !&chosen[at])));
        b.clocked_when(&any, &last[at], &chosen[at]);
        let registers = fields.iter().map(|(field, width)| {
            let (_, value) = input.fields.iter().find(|(name, _)| name == field)?;
            Some(match value {
                Value::Constant(value) => b.lit(*value, *width),
                Value::Signal(signal) => {
                    assert!(
                        signal.width() == *width,
                        "{name}: {field} of input {at} has {} bits, not {width}",
                        signal.width()
                    );
                    b.stage(&format!("{name}_{field}_{at}"), &free, signal)
                }
            })
        });
        kept.push(registers.collect());
        for (field, _) in &input.fields {
            assert!(
                fields.iter().any(|(name, _)| name == field),
                "{name}: operations have no field {field}"
            );
        }
        ready.push(free);
    }
    b.clocked_when(&room, &offers, &any);
    let fields = fields
        .iter()
        .enumerate()
        .map(|(field, (field_name, width))| {
            let parts: Vec<(usize, &Signal)> = (0..count)
                .filter_map(|input| Some((input, kept[input][field].as_ref()?)))
                .collect();
            // A field that one input alone has means nothing in the other inputs' operations.
            let value = match parts[..] {
                [] => b.lit(0, *width),
                [(_, only)] => only.clone(),
                _ => {
                    let chosen = parts.iter().map(|(input, value)| value.gated(&next[*input]));
                    chosen.reduce(|any, part| any | part).expect("there are several")
                }
            };
            let value = value.named(&format!("{name}_{field_name}"));
            let offered = b.stage(&format!("{name}_{field_name}_offered"), &room, &value);
            (*field_name, offered)
        })
        .collect();
    Funnel {
        ready,
        valid: offers,
        fields,
    }
}
