//! The report of a build: everything that is worth comparing between two of them, as JSON and as a table.

use crate::{
    Error,
    netlist::{Area, Memory, total},
    timing::{CriticalPath, Utilisation},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
};

/// A build's report. The same inputs and tools give the same report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The board's name.
    pub board: String,
    /// The device's part number.
    pub part: String,
    /// The profile's name.
    pub profile: String,
    /// The design's clock in MHz; without a PLL what place and route aimed at.
    pub clock_mhz: f64,
    /// Version of each tool.
    pub tools: BTreeMap<String, String>,
    /// Cells of each unit, and of the harness around them.
    pub area: Vec<UnitArea>,
    /// Cells of all together.
    pub total: Area,
    /// Used and available of what the device has, by nextpnr's names, after packing (of the chosen run).
    pub utilisation: BTreeMap<String, Utilisation>,
    /// Every memory of the units, and every table in block RAM.
    pub memories: Vec<Memory>,
    /// Every run of place and route.
    pub runs: Vec<Run>,
    /// The bitstream: its file and the run it was made of.
    pub bitstream: Bitstream,
    /// Lines of the tools' logs that are warnings, each once.
    pub warnings: Vec<String>,
}

/// Cells of one unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitArea {
    /// The unit, or `harness`.
    pub unit: String,
    /// Its cells.
    #[serde(flatten)]
    pub area: Area,
}

/// One run of place and route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Seed of placement.
    pub seed: u32,
    /// Speed grade; none where the device has but one.
    pub speed_grade: Option<u8>,
    /// Highest clock frequency in MHz.
    pub fmax_mhz: f64,
    /// What was asked for, in MHz.
    pub constraint_mhz: f64,
    /// What limits it.
    pub critical_path: Option<CriticalPath>,
}

/// The bitstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bitstream {
    /// Its file's name, beside the report.
    pub file: String,
    /// Seed of the run.
    pub seed: u32,
    /// Speed grade of the run.
    pub speed_grade: Option<u8>,
}

impl Report {
    /// Reads a report's JSON file.
    ///
    /// # Errors
    /// [`Error::Report`].
    pub fn load(path: &Path) -> Result<Self, Error> {
        let unreadable = |reason: String| Error::Report {
            path: path.into(),
            reason,
        };
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))
    }

    /// The report as JSON, with an end of line.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("names and numbers always serialise");
        text.push('\n');
        text
    }

    /// The slowest run's frequency in MHz.
    pub fn worst_mhz(&self) -> f64 {
        self.runs
            .iter()
            .map(|run| run.fmax_mhz)
            .fold(f64::INFINITY, f64::min)
    }

    /// The report as tables in Markdown, which are readable in a terminal, too.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{} ({}), profile {}, clock {} MHz\n",
            self.board, self.part, self.profile, self.clock_mhz
        );
        let tools: Vec<_> = self
            .tools
            .iter()
            .map(|(tool, version)| format!("{tool} {version}"))
            .collect();
        let _ = writeln!(text, "{}\n", tools.join(", "));
        text += &self.area_table();
        text += &self.device_table();
        text += &self.memory_table();
        text += &self.timing_table();
        let grade = self
            .bitstream
            .speed_grade
            .map_or(String::new(), |grade| format!(", grade {grade}"));
        let _ = writeln!(
            text,
            "bitstream: {} (seed {}{grade})",
            self.bitstream.file, self.bitstream.seed
        );
        for warning in &self.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
        text
    }

    fn area_table(&self) -> String {
        let row = |name: &str, area: &Area| {
            let Area {
                lut4,
                carry,
                ff,
                block_ram,
                distributed_ram,
                dsp,
            } = area;
            [name.into()]
                .into_iter()
                .chain([lut4, carry, ff, block_ram, distributed_ram, dsp].map(u32::to_string))
                .collect()
        };
        let mut rows: Vec<Vec<String>> = self.area.iter().map(|u| row(&u.unit, &u.area)).collect();
        rows.push(row("total", &self.total));
        table(&["unit", "LUT4", "carry", "FF", "EBR", "LUT RAM", "DSP"], &rows)
    }

    fn device_table(&self) -> String {
        let used = self.utilisation.iter().filter(|(_, u)| u.used > 0);
        let rows: Vec<Vec<String>> = used
            .map(|(name, u)| {
                let share = 100.0 * f64::from(u.used) / f64::from(u.available.max(1));
                vec![
                    name.clone(),
                    u.used.to_string(),
                    u.available.to_string(),
                    format!("{share:.1} %"),
                ]
            })
            .collect();
        table(&["device", "used", "available", "share"], &rows)
    }

    fn memory_table(&self) -> String {
        let size = |number: Option<u32>| number.map_or("-".into(), |number| number.to_string());
        let rows: Vec<Vec<String>> = self
            .memories
            .iter()
            .map(|m| {
                let place = match m.block_rams {
                    0 => "NOT IN BLOCK RAM".into(),
                    count => count.to_string(),
                };
                vec![
                    format!("{}.{}", m.unit, m.name),
                    size(m.words),
                    size(m.bits),
                    place,
                ]
            })
            .collect();
        if rows.is_empty() {
            return "no memories\n\n".into();
        }
        table(&["memory", "words", "bits", "EBR"], &rows)
    }

    fn timing_table(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .runs
            .iter()
            .map(|run| {
                let path = run.critical_path.as_ref();
                let of_path = |value: &dyn Fn(&CriticalPath) -> String| path.map_or("-".into(), value);
                vec![
                    run.speed_grade.map_or("-".into(), |grade| grade.to_string()),
                    run.seed.to_string(),
                    format!("{:.1}", run.fmax_mhz),
                    of_path(&|p| format!("{:.2} ({:.2} wires, {} cells)", p.ns, p.routing_ns, p.levels)),
                    of_path(&|p| format!("{}: {}", p.from_unit, inside(&p.from_cell))),
                    of_path(&|p| format!("{}: {}", p.to_unit, inside(&p.to_cell))),
                ]
            })
            .collect();
        let mut text = table(
            &["grade", "seed", "Fmax MHz", "critical path ns", "from", "to"],
            &rows,
        );
        let grades: BTreeSet<_> = self.runs.iter().map(|run| run.speed_grade).collect();
        for grade in grades {
            let runs: Vec<_> = self.runs.iter().filter(|run| run.speed_grade == grade).collect();
            let worst = runs.iter().map(|run| run.fmax_mhz).fold(f64::INFINITY, f64::min);
            let grade = grade.map_or(String::new(), |grade| format!(" at grade {grade}"));
            let _ = writeln!(text, "worst of {} seeds{grade}: {worst:.1} MHz", runs.len());
        }
        text.push('\n');
        text
    }
}

/// A cell's name without what every name begins with.
fn inside(cell: &str) -> &str {
    cell.strip_prefix(crate::harness::NAME)
        .and_then(|rest| rest.strip_prefix('.'))
        .unwrap_or(cell)
}

fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].len());
        cells.chain([headings[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    // Numbers stand right, words left.
    let right: Vec<bool> = (0..headings.len())
        .map(|column| {
            rows.iter()
                .all(|row| row[column].starts_with(|c: char| c.is_ascii_digit() || c == '-'))
        })
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::from("|");
        for (column, cell) in cells.enumerate() {
            let width = widths[column];
            let _ = if right[column] {
                write!(text, " {cell:>width$} |")
            } else {
                write!(text, " {cell:<width$} |")
            };
        }
        text + "\n"
    };
    let mut text = line(&mut headings.iter().copied());
    let rule: Vec<String> = widths
        .iter()
        .zip(&right)
        .map(|(width, right)| {
            if *right {
                format!("{}:", "-".repeat(width - 1))
            } else {
                "-".repeat(*width)
            }
        })
        .collect();
    text += &line(&mut rule.iter().map(String::as_str));
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text + "\n"
}

/// The report's areas of what the netlist tells.
pub fn areas(areas: Vec<(String, Area)>) -> (Vec<UnitArea>, Area) {
    let sum = total(&areas);
    let list = areas
        .into_iter()
        .map(|(unit, area)| UnitArea { unit, area })
        .collect();
    (list, sum)
}
