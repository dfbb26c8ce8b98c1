//! One waveform file with model and RTL side by side: for each unit a scope, in it `inputs`, `model` and `rtl`.

use crate::rtl::Rtl;
use anyhow::{Context, Result};
use metaroce_model::{
    Params,
    port::{Port, Ports},
    unit::Unit,
};
use std::{
    fs,
    io::{BufWriter, Write},
    ops::Range,
    path::Path,
};
use vcd::{IdCode, TimescaleUnit, Value, VarType, Writer};

/// Time units of a clock in the file: the clock is low for half of them, so that inputs change away from the edge.
const CLOCK_UNITS: u64 = 10;

/// What both sides of a unit did in a window of clocks, packed.
pub struct Recording {
    unit: &'static str,
    /// Inputs, the model's outputs, the RTL's outputs.
    sides: [Side; 3],
}

struct Side {
    scope: &'static str,
    ports: Vec<Port>,
    /// Words of one clock after the other.
    words: Vec<u32>,
    words_per_clock: usize,
}

impl Side {
    fn new<P: Ports>(scope: &'static str, params: &Params) -> Self {
        Self {
            scope,
            ports: P::ports(params),
            words: Vec::new(),
            words_per_clock: P::WORDS,
        }
    }

    fn push(&mut self, values: &impl Ports) {
        let start = self.words.len();
        self.words.resize(start + self.words_per_clock, 0);
        values.pack(&mut self.words[start..]);
    }

    fn clock(&self, clock: usize) -> &[u32] {
        &self.words[clock * self.words_per_clock..][..self.words_per_clock]
    }
}

impl Recording {
    /// Replays a trace from power-up and keeps the clocks in `window`.
    pub fn replay<U: Unit>(
        params: &Params,
        mut rtl: Rtl<U::Inputs, U::Outputs>,
        trace: &[U::Inputs],
        window: Range<usize>,
    ) -> Self {
        let mut recording = Self {
            unit: U::NAME,
            sides: [
                Side::new::<U::Inputs>("inputs", params),
                Side::new::<U::Outputs>("model", params),
                Side::new::<U::Outputs>("rtl", params),
            ],
        };
        let mut model = U::new(params);
        for (cycle, inputs) in trace.iter().enumerate().take(window.end) {
            let (expected, actual) = (model.outputs(), rtl.step(inputs));
            if window.contains(&cycle) {
                recording.sides[0].push(inputs);
                recording.sides[1].push(&expected);
                recording.sides[2].push(&actual);
            }
            model.clock(inputs);
        }
        recording
    }

    /// The same under another name than the unit's, for one of several of a kind.
    pub fn named(mut self, name: &'static str) -> Self {
        self.unit = name;
        self
    }

    fn clocks(&self) -> usize {
        self.sides[0].words.len() / self.sides[0].words_per_clock
    }
}

/// Writes recordings of the same window, which began at clock `first`, to a VCD at `path`. The file appears under its name
/// only when it is whole.
pub fn write(recordings: &[Recording], first: usize, path: &Path) -> Result<()> {
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let file = tempfile::NamedTempFile::new_in(folder)
        .with_context(|| format!("cannot write in the folder {}", folder.display()))?;
    let full = || format!("cannot write {} (is the disk full?)", path.display());
    let mut output = BufWriter::new(file);
    dump(&mut output, recordings, first).with_context(full)?;
    let file = output
        .into_inner()
        .map_err(|e| e.into_error())
        .with_context(full)?;
    file.persist(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

fn dump(output: &mut impl Write, recordings: &[Recording], first: usize) -> std::io::Result<()> {
    let mut writer = Writer::new(output);
    writer.comment("model and RTL side by side")?;
    writer.timescale(1, TimescaleUnit::NS)?;
    writer.add_module("lockstep")?;
    let clk = writer.add_wire(1, "clk")?;
    let mut codes = Vec::new();
    for recording in recordings {
        writer.add_module(recording.unit)?;
        for side in &recording.sides {
            writer.add_module(side.scope)?;
            codes.push(declare(&mut writer, side)?);
            writer.upscope()?;
        }
        writer.upscope()?;
    }
    writer.upscope()?;
    writer.enddefinitions()?;
    for clock in 0..recordings.iter().map(Recording::clocks).max().unwrap_or(0) {
        let time = (first + clock) as u64 * CLOCK_UNITS;
        writer.timestamp(time)?;
        writer.change_scalar(clk, Value::V0)?;
        let sides = recordings
            .iter()
            .filter(|r| clock < r.clocks())
            .flat_map(|r| &r.sides);
        for (side, codes) in sides.zip(&codes) {
            let before = (clock > 0).then(|| side.clock(clock - 1));
            changes(&mut writer, side, codes, before, side.clock(clock))?;
        }
        writer.timestamp(time + CLOCK_UNITS / 2)?;
        writer.change_scalar(clk, Value::V1)?;
    }
    writer.flush()
}

/// Declares a side's ports, those of a stream in a group of their own.
fn declare<W: Write>(writer: &mut Writer<W>, side: &Side) -> std::io::Result<Vec<IdCode>> {
    let mut codes = Vec::new();
    let mut group = None;
    for port in &side.ports {
        let its = stream(port.name);
        if its != group {
            if group.is_some() {
                writer.upscope()?;
            }
            if let Some(name) = its {
                writer.add_module(name)?;
            }
            group = its;
        }
        codes.push(writer.add_var(VarType::Wire, port.width, port.name, None)?);
    }
    if group.is_some() {
        writer.upscope()?;
    }
    Ok(codes)
}

/// The stream that a port belongs to: its name up to the field's, which is behind the last underscore that follows the stream's own name.
fn stream(port: &str) -> Option<&str> {
    const AXIS: usize = "s_axis_".len();
    let rest = port
        .strip_prefix("s_axis_")
        .or_else(|| port.strip_prefix("m_axis_"))?;
    let end = rest.find('_')?;
    Some(&port[..AXIS + end])
}

fn changes<W: Write>(
    writer: &mut Writer<W>,
    side: &Side,
    codes: &[IdCode],
    before: Option<&[u32]>,
    now: &[u32],
) -> std::io::Result<()> {
    for (port, code) in side.ports.iter().zip(codes) {
        let range = port.word..port.word + port.words;
        let value = &now[range.clone()];
        if before.is_some_and(|before| before[range] == *value) {
            continue;
        }
        let bit = |position: u32| Value::from(value[position as usize / 32] >> (position % 32) & 1 == 1);
        if port.width == 1 {
            writer.change_scalar(*code, bit(0))?;
        } else {
            writer.change_vector(*code, (0..port.width).rev().map(bit))?;
        }
    }
    Ok(())
}
