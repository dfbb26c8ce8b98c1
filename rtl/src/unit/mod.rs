//! The units in hardware, one file a unit, under the names of the model's. Their contracts are in
//! [`metaroce_model::port`]; how they meet them is told in each file.

pub mod axis_register;
pub mod memory;

use crate::hdl::Module;
use metaroce_model::Params;
use std::rc::Rc;

/// Names of the units that the generator knows, in the order of the pipeline.
pub const UNITS: [&str; 1] = ["axis_register"];

/// The unit of that name, elaborated for a profile.
pub fn elaborate(unit: &str, params: &Params) -> Option<Rc<Module>> {
    match unit {
        "axis_register" => Some(axis_register::unit(params)),
        _ => None,
    }
}
