//! What place and route says of timing and use of the device: nextpnr's report.

use crate::{Error, netlist::owner};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of one run of place and route.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// The slowest clock's frequency in MHz.
    pub fmax_mhz: f64,
    /// What that clock was asked for, in MHz.
    pub constraint_mhz: f64,
    /// The path that limits it.
    pub critical_path: Option<CriticalPath>,
    /// Used and available, by nextpnr's names of what a device has.
    pub utilisation: BTreeMap<String, Utilisation>,
}

/// How much of something is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Utilisation {
    /// Used by the design.
    pub used: u32,
    /// Of the device.
    pub available: u32,
}

/// The path that limits a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriticalPath {
    /// Unit, or harness, in which it starts.
    pub from_unit: String,
    /// Cell in which it starts.
    pub from_cell: String,
    /// Unit, or harness, in which it ends.
    pub to_unit: String,
    /// Cell in which it ends.
    pub to_cell: String,
    /// All of it in nanoseconds, clock-to-output and set-up included.
    pub ns: f64,
    /// The part of it that is wires, in nanoseconds.
    pub routing_ns: f64,
    /// Cells between start and end.
    pub levels: u32,
}

impl Timing {
    /// Reads nextpnr's report.
    ///
    /// # Errors
    /// [`Error::ToolOutput`].
    pub fn read(json: &str, units: &[&str]) -> Result<Self, Error> {
        let unusable = |reason: String| Error::ToolOutput {
            tool: "nextpnr",
            reason: format!("its report: {reason}"),
        };
        let report: Report = serde_json::from_str(json).map_err(|error| unusable(error.to_string()))?;
        let (clock, frequency) = report
            .fmax
            .iter()
            .min_by(|(_, a), (_, b)| a.achieved.total_cmp(&b.achieved))
            .ok_or_else(|| unusable("it has no clock".into()))?;
        let edge = format!("posedge {clock}");
        let critical_path = report
            .critical_paths
            .iter()
            .find(|path| path.from == edge && path.to == edge)
            .and_then(|path| CriticalPath::of(&path.path, units));
        Ok(Self {
            fmax_mhz: frequency.achieved,
            constraint_mhz: frequency.constraint,
            critical_path,
            utilisation: report.utilization,
        })
    }
}

impl CriticalPath {
    fn of(steps: &[Step], units: &[&str]) -> Option<Self> {
        let from = &steps.first()?.from.cell;
        let to = &steps.last()?.to.cell;
        let sum = |kind: Option<&str>| -> f64 {
            let counted = steps
                .iter()
                .filter(|step| kind.is_none_or(|kind| step.kind == kind));
            counted.map(|step| step.delay).sum()
        };
        Some(Self {
            from_unit: owner(from, units).into(),
            from_cell: from.clone(),
            to_unit: owner(to, units).into(),
            to_cell: to.clone(),
            ns: sum(None),
            routing_ns: sum(Some("routing")),
            levels: steps.iter().filter(|step| step.kind == "logic").count() as u32,
        })
    }
}

// nextpnr's report, as far as it is used.

#[derive(Deserialize)]
struct Report {
    critical_paths: Vec<Path>,
    fmax: BTreeMap<String, Frequency>,
    utilization: BTreeMap<String, Utilisation>,
}

#[derive(Deserialize)]
struct Frequency {
    achieved: f64,
    constraint: f64,
}

#[derive(Deserialize)]
struct Path {
    from: String,
    to: String,
    path: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    delay: f64,
    from: End,
    to: End,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct End {
    cell: String,
}
