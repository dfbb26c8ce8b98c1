//! The hardware of a MetaRoCE NIC: its units, built in Rust and printed as Verilog.
//!
//! - [`hdl`]: how modules are built and printed.
//! - [`mod@unit`]: the units, one file each, under the names of the model's.
//! - [`generated`]: folders of generated Verilog.

pub mod generated;
pub mod hdl;
pub mod unit;

use hdl::emit;
use metaroce_model::Params;

/// The Verilog of a unit for a profile: the unit's own module last, each module inside it once before; or `None` when
/// there is no such unit.
pub fn verilog(unit: &str, params: &Params) -> Option<Vec<(String, String)>> {
    let top = unit::elaborate(unit, params)?;
    Some(files(&top))
}

/// Name and text of a module and of every module inside it, the module itself last.
pub fn files(top: &std::rc::Rc<hdl::Module>) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = top
        .hierarchy()
        .into_iter()
        .filter(|(name, _)| *name != top.name)
        .map(|(name, module)| (name, emit::module(&module)))
        .collect();
    files.push((top.name.clone(), emit::module(top)));
    files
}
