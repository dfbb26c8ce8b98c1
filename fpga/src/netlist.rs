//! What synthesis made of the design: cells per unit, and the block RAMs of each memory.

use crate::{Error, harness};
use metaroce_rtl::hdl::{Module, module::Kind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cells of the kinds that a device has limited numbers of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// Look-up tables of four inputs.
    pub lut4: u32,
    /// Carry cells: of two bits each on ECP5, of one on iCE40. On ECP5 each takes the place of two LUT4.
    pub carry: u32,
    /// Flip-flops.
    pub ff: u32,
    /// Block RAMs: of 18 Kbit on ECP5, of 4 Kbit on iCE40.
    pub block_ram: u32,
    /// Memories of 16 x 4 bits made of look-up tables. There should be none.
    pub distributed_ram: u32,
    /// Multipliers.
    pub dsp: u32,
}

impl Area {
    fn count(&mut self, cell: &str) {
        let counter = match cell {
            "LUT4" | "SB_LUT4" => &mut self.lut4,
            "CCU2C" | "SB_CARRY" => &mut self.carry,
            "TRELLIS_FF" => &mut self.ff,
            "DP16KD" | "PDPW16KD" => &mut self.block_ram,
            "TRELLIS_DPR16X4" => &mut self.distributed_ram,
            "MULT18X18D" | "SB_MAC16" => &mut self.dsp,
            _ if cell.starts_with("SB_DFF") => &mut self.ff,
            _ if cell.starts_with("SB_RAM40_4K") => &mut self.block_ram,
            _ => return,
        };
        *counter += 1;
    }

    fn add(&mut self, other: &Self) {
        self.lut4 += other.lut4;
        self.carry += other.carry;
        self.ff += other.ff;
        self.block_ram += other.block_ram;
        self.distributed_ram += other.distributed_ram;
        self.dsp += other.dsp;
    }
}

/// A memory of the design, or a table that synthesis put in block RAM of its own accord.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The unit it is in.
    pub unit: String,
    /// Its instance's path inside the unit; of a table the netlist's name.
    pub name: String,
    /// Depth in words; not known of a table.
    pub words: Option<u32>,
    /// Width of a word in bits; not known of a table.
    pub bits: Option<u32>,
    /// Block RAMs that it got.
    pub block_rams: u32,
}

/// The netlist's cells by their hierarchical names.
pub struct Netlist {
    cells: BTreeMap<String, Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(rename = "type")]
    kind: String,
}

impl Netlist {
    /// Reads the flat netlist that yosys wrote as JSON.
    ///
    /// # Errors
    /// [`Error::ToolOutput`].
    pub fn read(json: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Design {
            modules: BTreeMap<String, Top>,
        }
        #[derive(Deserialize)]
        struct Top {
            cells: BTreeMap<String, Cell>,
        }
        let unusable = |reason: String| Error::ToolOutput {
            tool: "yosys",
            reason: format!("its netlist: {reason}"),
        };
        let mut design: Design = serde_json::from_str(json).map_err(|error| unusable(error.to_string()))?;
        let top = design
            .modules
            .remove(crate::top::NAME)
            .ok_or_else(|| unusable(format!("there is no module {}", crate::top::NAME)))?;
        Ok(Self { cells: top.cells })
    }

    /// Cells of each unit, in the order given, and of what is around them last.
    pub fn area(&self, units: &[&str]) -> Vec<(String, Area)> {
        let mut areas: Vec<(String, Area)> = units
            .iter()
            .chain([&harness::NAME])
            .map(|unit| ((*unit).to_string(), Area::default()))
            .collect();
        for (name, cell) in &self.cells {
            let owner = owner(name, units);
            if let Some((_, area)) = areas.iter_mut().find(|(unit, _)| *unit == owner) {
                area.count(&cell.kind);
            }
        }
        areas
    }

    /// The memories inside a unit with the block RAMs that each got, and the tables that got some.
    pub fn memories(&self, unit: &str, module: &Module) -> Vec<Memory> {
        let mut found = Vec::new();
        self.collect(unit, "", module, &mut found);
        let prefix = format!("{}.{unit}.", harness::NAME);
        for (cell, Cell { kind }) in &self.cells {
            let Some((_, name)) = cell.split_once(&prefix) else {
                continue;
            };
            let mut area = Area::default();
            area.count(kind);
            if area.block_ram > 0
                && !found
                    .iter()
                    .any(|memory| name.starts_with(&format!("{}.", memory.name)))
            {
                found.push(Memory {
                    unit: unit.into(),
                    name: name.into(),
                    words: None,
                    bits: None,
                    block_rams: area.block_ram,
                });
            }
        }
        found
    }

    fn collect(&self, unit: &str, path: &str, module: &Module, found: &mut Vec<Memory>) {
        for instance in &module.instances {
            let name = format!("{path}{}", instance.name);
            let inner = &instance.module;
            let width = |port: &str| {
                inner
                    .declaration(port)
                    .filter(|d| d.kind == Kind::Input)
                    .map(|d| d.width)
            };
            match (width("write_address"), width("write_data")) {
                (Some(address), Some(bits)) if inner.custom.is_some() => {
                    let prefix = format!("{}.{unit}.{name}.", harness::NAME);
                    let mut area = Area::default();
                    let cells = self.cells.iter().filter(|(cell, _)| cell.contains(&prefix));
                    cells.for_each(|(_, cell)| area.count(&cell.kind));
                    found.push(Memory {
                        unit: unit.into(),
                        name,
                        words: Some(1 << address),
                        bits: Some(bits),
                        block_rams: area.block_ram,
                    });
                }
                _ => self.collect(unit, &format!("{name}."), inner, found),
            }
        }
    }
}

/// The sum of areas.
pub fn total(areas: &[(String, Area)]) -> Area {
    let mut sum = Area::default();
    areas.iter().for_each(|(_, area)| sum.add(area));
    sum
}

/// The unit that a cell belongs to, by its hierarchical name; the harness when none of them.
pub fn owner<'a>(cell: &str, units: &[&'a str]) -> &'a str {
    let inside = |unit: &&&str| cell.contains(&format!("{}.{unit}.", harness::NAME));
    units.iter().find(inside).copied().unwrap_or(harness::NAME)
}
