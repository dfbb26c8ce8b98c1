//! Hardware description: modules built in Rust over rust-hdl's syntax tree, and the Verilog they become.
//!
//! rust-hdl 0.46 gives the intermediate form (`rust_hdl::core::ast`). Its own front end fixes every width as a const generic, so
//! that a profile read at run time cannot size a unit, and has neither local names nor concatenation; its own printer
//! drops parentheses and literal widths, silently changing what the Verilog computes. So there are two replacements:
//!
//! - [`builder`]: a front end whose widths are run-time values and are checked when a module is built;
//! - [`bits`]: operations on bit vectors that several units need;
//! - [`emit`]: a printer that writes sized literals and full parentheses, one module per distinct parametrisation;
//! - [`import`]: modules written with rust-hdl's own derive macros go through the same printer;
//! - [`mutate`]: single lines broken on purpose.

pub mod bits;
pub mod builder;
pub mod emit;
pub mod import;
pub mod module;
pub mod mutate;

pub use builder::{Builder, Carried, Signal};
pub use module::Module;
