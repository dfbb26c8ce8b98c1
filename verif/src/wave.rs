//! One waveform file with model and RTL side by side: scope `inputs`, and the outputs in scopes `model` and `rtl`.

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

/// Time of a clock in the file: low for half of it, so that inputs change away from the edge.
const CLOCK_TICKS: u64 = 10;

/// Replays a trace of packed inputs from power-up and writes the clocks in `window` to a VCD at `path`.
///
/// The file appears under its name only when it is whole.
pub fn write<U: Unit>(
    params: &Params,
    mut rtl: Rtl<U::Inputs, U::Outputs>,
    trace: &[U::Inputs],
    window: Range<usize>,
    path: &Path,
) -> Result<()> {
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let file = tempfile::NamedTempFile::new_in(folder)
        .with_context(|| format!("cannot write in the folder {}", folder.display()))?;
    let mut output = BufWriter::new(file);
    let full = || format!("cannot write {} (is the disk full?)", path.display());
    let mut dump = Dump::begin::<U>(&mut output, params).with_context(full)?;

    let mut model = U::new(params);
    for (cycle, inputs) in trace.iter().enumerate().take(window.end) {
        let expected = model.outputs();
        let actual = rtl.step(inputs);
        if window.contains(&cycle) {
            dump.clock(cycle as u64, inputs, &expected, &actual)
                .with_context(full)?;
        }
        model.clock(inputs);
    }
    drop(dump);
    let file = output
        .into_inner()
        .map_err(|e| e.into_error())
        .with_context(full)?;
    file.persist(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

struct Dump<W: Write> {
    writer: Writer<W>,
    clk: IdCode,
    scopes: [Scope; 3],
}

struct Scope {
    signals: Vec<(Port, IdCode)>,
    last: Vec<u32>,
    fresh: bool,
}

impl<W: Write> Dump<W> {
    fn begin<U: Unit>(output: W, params: &Params) -> std::io::Result<Self> {
        let mut writer = Writer::new(output);
        writer.comment(&format!(
            "{} under profile {}: model and RTL side by side",
            U::NAME,
            params.name
        ))?;
        writer.timescale(1, TimescaleUnit::NS)?;
        writer.add_module(U::NAME)?;
        let clk = writer.add_wire(1, "clk")?;
        let mut scopes = Vec::new();
        for (name, ports) in [
            ("inputs", U::Inputs::ports(params)),
            ("model", U::Outputs::ports(params)),
            ("rtl", U::Outputs::ports(params)),
        ] {
            writer.add_module(name)?;
            let words = ports.iter().map(|p| p.words).sum();
            let signals = ports
                .into_iter()
                .map(|port| {
                    Ok((
                        port.clone(),
                        writer.add_var(VarType::Wire, port.width, port.name, None)?,
                    ))
                })
                .collect::<std::io::Result<Vec<_>>>()?;
            writer.upscope()?;
            scopes.push(Scope {
                signals,
                last: vec![0; words],
                fresh: true,
            });
        }
        writer.upscope()?;
        writer.enddefinitions()?;
        let scopes = scopes
            .try_into()
            .map_err(|_| std::io::Error::other("three scopes"))?;
        Ok(Self { writer, clk, scopes })
    }

    fn clock(
        &mut self,
        cycle: u64,
        inputs: &impl Ports,
        expected: &impl Ports,
        actual: &impl Ports,
    ) -> std::io::Result<()> {
        self.writer.timestamp(cycle * CLOCK_TICKS)?;
        self.writer.change_scalar(self.clk, Value::V0)?;
        self.scopes[0].change(&mut self.writer, inputs)?;
        self.scopes[1].change(&mut self.writer, expected)?;
        self.scopes[2].change(&mut self.writer, actual)?;
        self.writer.timestamp(cycle * CLOCK_TICKS + CLOCK_TICKS / 2)?;
        self.writer.change_scalar(self.clk, Value::V1)
    }
}

impl Scope {
    fn change<W: Write>(&mut self, writer: &mut Writer<W>, values: &impl Ports) -> std::io::Result<()> {
        let mut words = vec![0; self.last.len()];
        values.pack(&mut words);
        for (port, id) in &self.signals {
            let range = port.word..port.word + port.words;
            if self.fresh || words[range.clone()] != self.last[range.clone()] {
                let value = &words[range];
                let bit =
                    |position: u32| Value::from(value[position as usize / 32] >> (position % 32) & 1 == 1);
                if port.width == 1 {
                    writer.change_scalar(*id, bit(0))?;
                } else {
                    writer.change_vector(*id, (0..port.width).rev().map(bit))?;
                }
            }
        }
        self.fresh = false;
        self.last = words;
        Ok(())
    }
}
