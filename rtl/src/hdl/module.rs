//! A module: declarations, and statements in rust-hdl's syntax tree.

use rust_hdl::core::ast::{VerilogBlock, VerilogExpression};
use std::{collections::BTreeMap, rc::Rc};

/// What a declared name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Input port.
    Input,
    /// Output port, driven by an assignment.
    Output,
    /// Combinational signal.
    Wire,
    /// Register, written by [`Clocked`] assignments.
    Register,
}

/// A declared name.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Lower snake case, unique in the module.
    pub name: String,
    /// Bits, at least one.
    pub width: u32,
    /// What it is.
    pub kind: Kind,
    /// A line for the reader; ports have one.
    pub doc: String,
}

/// A register's next value.
#[derive(Clone, Debug)]
pub struct Clocked {
    /// The register.
    pub target: String,
    /// It is written only in clocks in which this one-bit expression holds.
    pub enable: Option<VerilogExpression>,
    /// What is written.
    pub value: VerilogExpression,
    /// Value under the synchronous reset `rst`, if it has one.
    pub reset: Option<u64>,
    /// A one-bit expression that resets it as `rst` does.
    pub clear: Option<VerilogExpression>,
}

/// A module inside a module.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The inner module.
    pub module: Rc<Module>,
    /// The instance's name.
    pub name: String,
    /// Inner port to outer signal, in the inner module's port order; `clk` is connected to `clk`.
    pub connections: Vec<(String, String)>,
}

/// A finished module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Lower snake case; distinct parametrisations have distinct names.
    pub name: String,
    /// Header comment, a line an entry.
    pub doc: Vec<String>,
    /// All declared names, ports first, in order of declaration.
    pub declarations: Vec<Declaration>,
    /// Combinational statements. Each target is driven by statements of one top-level item only.
    pub combinational: VerilogBlock,
    /// Register assignments.
    pub clocked: Vec<Clocked>,
    /// Inner modules.
    pub instances: Vec<Instance>,
    /// Verilog of a leaf that has no syntax tree (memories); rust-hdl's `Verilog::Custom`.
    pub custom: Option<String>,
}

impl Module {
    /// The ports, in order of declaration.
    pub fn ports(&self) -> impl Iterator<Item = &Declaration> {
        self.declarations
            .iter()
            .filter(|d| matches!(d.kind, Kind::Input | Kind::Output))
    }

    /// The declared name, if there is one.
    pub fn declaration(&self, name: &str) -> Option<&Declaration> {
        self.declarations.iter().find(|d| d.name == name)
    }

    /// This module and every module inside it, each once, by name.
    ///
    /// # Panics
    /// When two different modules have one name: a parametrisation is missing from the name.
    pub fn hierarchy(self: &Rc<Self>) -> BTreeMap<String, Rc<Module>> {
        let mut found = BTreeMap::new();
        self.collect(&mut found);
        found
    }

    fn collect(self: &Rc<Self>, found: &mut BTreeMap<String, Rc<Module>>) {
        if let Some(other) = found.insert(self.name.clone(), self.clone()) {
            assert!(
                super::emit::module(&other) == super::emit::module(self),
                "two different modules are named {}",
                self.name
            );
        }
        for instance in &self.instances {
            instance.module.collect(found);
        }
    }
}
