//! The harness: units behind a scan chain, so that a few pins reach every port.
//!
//! It serves two ends. For area and timing it keeps synthesis from removing anything, and keeps pins out of the timing: each
//! input of a unit comes from a register, and each output goes to one. And it is what one wants for a first
//! bring-up: every operation can be presented by hand, for exactly one handshake, and every output be read back.
//!
//! [`crate::scan`] tells the order of the bits, and how to drive the pins.

use crate::{
    Error,
    scan::{Field, Layout, Role},
};
use metaroce_model::{
    Params,
    port::{Direction, Port},
};
use metaroce_rtl::{
    hdl::{Builder, Module, Signal},
    unit::{UNITS, axis_register, contract, elaborate},
};
use std::rc::Rc;

/// The pins, and whether each is an input.
pub const PINS: [(&str, bool); 8] = [
    ("reset", true),
    ("scan_clock", true),
    ("scan_in", true),
    ("load", true),
    ("capture", true),
    ("scan_out", false),
    ("waiting", false),
    ("heartbeat", false),
];

/// The name of the harness's module, and of its instance in the top.
pub const NAME: &str = "harness";

/// The name of the module through which resets go to a global network.
pub const GLOBAL_BUFFER: &str = "global_buffer";

/// The units of the full build, in the order of the pipeline.
pub const FULL: [&str; 4] = ["path_table", "sack_rx", "sack_tx", "rate_limiter"];

/// Bit of the counter that the heartbeat shows: 6 Hz at 100 MHz, 0.7 Hz at 12 MHz.
const HEARTBEAT_BIT: u32 = 23;

const DOC: &str =
    "Units behind a scan chain: a bit an edge of scan_clock, from scan_in through the input register and the
    output register to scan_out. load hands the input register to the units, capture takes their outputs.
    Every pin is asynchronous: each is sampled twice, and edges are found of the samples.";

/// A harness and the order of its bits.
pub struct Harness {
    /// The module.
    pub module: Rc<Module>,
    /// Its scan chain.
    pub layout: Layout,
}

/// A harness around one instance of each named unit, sized by `params`; instances have the units' names.
///
/// # Errors
/// [`Error::UnknownUnit`].
pub fn harness(units: &[&str], params: &Params) -> Result<Harness, Error> {
    let b = Builder::new(NAME, DOC);
    let clock_ready = b.add_input("clock_ready", 1, "The clock is stable.");
    for (pin, _) in PINS.iter().filter(|(_, input)| *input) {
        b.add_input(pin, 1, "");
    }
    reset_tree(&b, &clock_ready, units.len());
    let now_width = params.timestamp_bits.max(HEARTBEAT_BIT + 1);
    let counter = b.register("counter", now_width);
    b.clocked(&counter, &(&counter + counter.lit(1)));

    let sampled_in = sample(&b, "scan_in");
    let [shift, load, capture] = &["scan_clock", "load", "capture"].map(|pin| edge(&b, pin));
    let moves = shift | capture;
    // Registers: each has to go to hundreds of others all over the chip.
    let [shift, load, capture, output_moves] = [
        ("shifts", shift),
        ("loads", load),
        ("captures", capture),
        ("output_moves", &moves),
    ]
    .map(|(name, value)| {
        let strobe = b.register(name, 1);
        b.clocked(&strobe, value);
        strobe
    });

    let mut ports = Vec::new();
    for &unit in units {
        let contract = contract(unit).ok_or_else(|| Error::UnknownUnit {
            name: unit.into(),
            known: UNITS.join(", "),
        })?;
        ports.push((unit, contract(params)));
    }
    let layout = layout(&ports);

    let input = b.register("input_register", layout.input_bits);
    let input_rest = input.slice(1, layout.input_bits - 1);
    let input_next = b.concat("input_next", &[&input_rest, &sampled_in]);
    b.clocked_when(&shift, &input, &input_next);

    let mut waiting = Vec::new();
    for (position, (unit, ports)) in ports.iter().enumerate() {
        let module = elaborate(unit, params).expect("a unit that has a contract");
        let wiring = Wiring {
            b: &b,
            layout: &layout,
            input: &input,
            load: &load,
            unit,
        };
        let mut values = Vec::new();
        let mut handshakes = Vec::new();
        let mut slices = Vec::new();
        for port in ports.iter().filter(|p| p.direction == Direction::Input) {
            let value = match port.name {
                "rst" => b.get(&reset_name(position)),
                "now" => counter.slice(0, port.width),
                _ if partner(port).is_some() => {
                    let (presented, always) = wiring.handshake(port);
                    handshakes.push((port, presented.clone(), always));
                    match port.name.strip_suffix("_tvalid") {
                        Some(stream) => {
                            let slice =
                                Slice::new(&b, unit, stream, &b.get(&reset_name(position)), &presented);
                            let valid = slice.valid.clone();
                            slices.push(slice);
                            valid
                        }
                        None => presented,
                    }
                }
                _ => wiring.held(port, Role::Value),
            };
            values.push((port.name, value));
        }
        let connections: Vec<(&str, &Signal)> = values.iter().map(|(name, value)| (*name, value)).collect();
        let outputs = b.instance(unit, &module, &connections);
        for (port, presented, always) in &handshakes {
            let partner = outputs.get(&partner(port).expect("a handshake has two sides"));
            let slice = slices
                .iter()
                .find(|slice| port.name.strip_suffix("_tvalid") == Some(&slice.stream));
            let (partner, pending) = match slice {
                Some(slice) => {
                    b.drive(&slice.unit_ready, &partner);
                    (slice.ready.clone(), presented | &slice.valid)
                }
                None => (partner, presented.clone()),
            };
            b.wire(&pending_name(unit, port.name), &pending);
            wiring.end_of_handshake(port, presented, always, &partner);
            if port.name.ends_with("_tready") {
                waiting.push(partner);
            }
        }
    }

    let captured: Vec<Signal> = layout
        .outputs
        .iter()
        .map(|field| match field.role {
            Role::Presented => b.get(&pending_name(&field.unit, &field.port)),
            _ => b.get(&format!("{}_{}", field.unit, field.port)),
        })
        .collect();
    let captured = b.concat("captured", &captured.iter().collect::<Vec<_>>());
    let output = b.register("output_register", layout.output_bits);
    let (output_rest, first_in) = (output.slice(1, layout.output_bits - 1), input.slice(0, 1));
    let shifted = b.concat("output_shifted", &[&output_rest, &first_in]);
    let output_next = b.mux("output_next", &capture, &captured, &shifted);
    b.clocked_when(&output_moves, &output, &output_next);

    let waiting = b.concat("results", &waiting.iter().collect::<Vec<_>>());
    let waiting_register = b.register("waiting_register", 1);
    b.clocked(&waiting_register, &waiting.any());
    b.add_output("scan_out", "Bit 0 of the output register.", &output.slice(0, 1));
    b.add_output("waiting", "A unit offers a result.", &waiting_register);
    b.add_output(
        "heartbeat",
        "Blinks while the clock runs.",
        &counter.slice(HEARTBEAT_BIT, 1),
    );
    Ok(Harness {
        module: b.finish(),
        layout,
    })
}

/// A register slice for the handshake of a unit's input stream: the harness stands far from the unit, and a unit's `tready` is not
/// straight from a register. The fields need none: they do not change between two loads, and [`pending_name`] tells
/// when the next load may come.
struct Slice {
    stream: String,
    valid: Signal,
    ready: Signal,
    unit_ready: String,
}

impl Slice {
    fn new(b: &Builder, unit: &str, stream: &str, rst: &Signal, presented: &Signal) -> Self {
        let unit_ready = format!("ready_{unit}_{stream}");
        let ready = b.forward(&unit_ready, 1);
        let name = format!("slice_{unit}_{stream}");
        let inputs = [
            ("rst", rst),
            ("s_axis_tvalid", presented),
            ("s_axis_tdata", presented),
            ("m_axis_tready", &ready),
        ];
        let slice = b.instance(&name, &axis_register::of_width(1), &inputs);
        b.unused(&name, &[&slice.get("m_axis_tdata")]);
        Self {
            stream: stream.into(),
            valid: slice.get("m_axis_tvalid"),
            ready: slice.get("s_axis_tready"),
            unit_ready,
        }
    }
}

/// The other side of the handshake that `port` is the driven side of.
fn partner(port: &Port) -> Option<String> {
    if let Some(stream) = port.name.strip_suffix("_tvalid") {
        Some(format!("{stream}_tready"))
    } else {
        port.name
            .strip_suffix("_tready")
            .map(|stream| format!("{stream}_tvalid"))
    }
}

fn layout(units: &[(&str, Vec<Port>)]) -> Layout {
    let mut layout = Layout::new();
    for (unit, ports) in units {
        for port in ports {
            let field = |bit, width, role| Field {
                bit,
                width,
                unit: (*unit).into(),
                port: port.name.into(),
                role,
                doc: port.doc.into(),
            };
            let mut add_input = |width, role| {
                layout.inputs.push(field(layout.input_bits, width, role));
                layout.input_bits += width;
            };
            let mut output = (port.width, Role::Value);
            match (port.direction, port.name) {
                (Direction::Input, "rst" | "now") => continue,
                (Direction::Input, _) if partner(port).is_some() => {
                    add_input(1, Role::Once);
                    add_input(1, Role::Always);
                    output = (1, Role::Presented);
                }
                (Direction::Input, _) => {
                    add_input(port.width, Role::Value);
                    continue;
                }
                (Direction::Output, _) => {}
            }
            layout.outputs.push(field(layout.output_bits, output.0, output.1));
            layout.output_bits += output.0;
        }
    }
    layout
}

/// What makes the inputs of one unit of the input register.
struct Wiring<'a> {
    b: &'a Builder,
    layout: &'a Layout,
    input: &'a Signal,
    load: &'a Signal,
    unit: &'a str,
}

impl Wiring<'_> {
    fn field(&self, port: &Port, role: Role) -> Signal {
        let field = self
            .layout
            .inputs
            .iter()
            .find(|f| f.unit == self.unit && f.port == port.name && f.role == role)
            .expect("the layout was made of the same ports");
        self.input.slice(field.bit, field.width)
    }

    /// The field as it was at the last load.
    fn held(&self, port: &Port, role: Role) -> Signal {
        let value = self.field(port, role);
        let name = format!("held_{}_{}", self.unit, port.name);
        self.b.stage(&name, self.load, &value)
    }

    /// The registers of a handshake's side: presented, and the held `always`.
    fn handshake(&self, port: &Port) -> (Signal, Signal) {
        let always = self.b.register(&format!("always_{}_{}", self.unit, port.name), 1);
        self.b
            .clocked_when(self.load, &always, &self.field(port, Role::Always));
        let presented = self.b.register(&presented_name(self.unit, port.name), 1);
        (presented, always)
    }

    fn end_of_handshake(&self, port: &Port, presented: &Signal, always: &Signal, partner: &Signal) {
        let start = self.field(port, Role::Once) | self.field(port, Role::Always);
        let stay = presented & (always | !partner);
        let next = self.b.mux(
            &format!("next_{}_{}", self.unit, port.name),
            self.load,
            &start,
            &stay,
        );
        self.b.clocked(presented, &next);
    }
}

fn presented_name(unit: &str, port: &str) -> String {
    format!("presented_{unit}_{port}")
}

/// The port is high, or about to be: what the handshake of [`presented_name`] has not ended yet at the unit itself.
fn pending_name(unit: &str, port: &str) -> String {
    format!("pending_{unit}_{port}")
}

fn reset_name(position: usize) -> String {
    format!("reset_{position}")
}

/// `rst` of the harness and, a clock later each, of one unit after the other: a register of its own each, which
/// synthesis would merge if they were equal, and place and route could not then put near its unit.
///
/// Each goes through a buffer, since a reset has more sinks than a clock has elsewhere, all over the device.
/// The registers come out of configuration as zero, so a reset follows it.
fn reset_tree(b: &Builder, clock_ready: &Signal, units: usize) {
    let sampled = sample(b, "reset");
    let stable = b.free_register("stable_0", 1);
    let running = b.free_register("stable_1", 1);
    b.clocked(&stable, clock_ready);
    b.clocked(&running, &(&stable & !&sampled));
    let buffer = global_buffer();
    let names = std::iter::once("rst".to_string()).chain((0..units).map(reset_name));
    names.fold(!&running, |next, name| {
        let register = b.free_register(&format!("{name}_register"), 1);
        b.clocked(&register, &next);
        let buffered = b.instance(&format!("{name}_buffer"), &buffer, &[("in", &register)]);
        b.wire(&name, &buffered.get("out"));
        register
    });
}

/// A wire as it stands here. Where the device's global networks must be asked for, synthesis puts their buffer in its place.
fn global_buffer() -> Rc<Module> {
    let b = Builder::new(GLOBAL_BUFFER, "What leads to a global network of the device.");
    let input = b.add_input("in", 1, "");
    b.add_output("out", "", &input);
    b.unused("clock", &[&b.get("clk")]);
    b.finish()
}

/// The pin, sampled twice.
fn sample(b: &Builder, pin: &str) -> Signal {
    let first = b.free_register(&format!("{pin}_sample_0"), 1);
    let second = b.free_register(&format!("{pin}_sample_1"), 1);
    b.clocked(&first, &b.get(pin));
    b.clocked(&second, &first);
    second
}

/// High for one clock after a rising edge of the pin.
fn edge(b: &Builder, pin: &str) -> Signal {
    let sampled = sample(b, pin);
    let before = b.free_register(&format!("{pin}_before"), 1);
    b.clocked(&before, &sampled);
    b.wire(&format!("{pin}_edge"), &(&sampled & !&before))
}
