//! Modules written with rust-hdl's own derive macros and `#[hdl_gen]`, brought to our printer.
//!
//! rust-hdl 0.46 prints such modules so that Verilog may compute something else than the Rust did. Going through
//! [`super::emit`] instead, parentheses and literal widths are right, names are plain, and what our printer cannot mend is refused:
//! latches, links between interfaces, unknown case labels.

use super::module::{Declaration, Instance, Kind, Module};
use rust_hdl::core::{
    ast::{
        Verilog, VerilogBlock, VerilogBlockOrConditional, VerilogCase, VerilogConditional,
        VerilogExpression as Expression, VerilogLiteral, VerilogMatch, VerilogStatement as Statement,
    },
    atom::{Atom, AtomKind},
    block::Block,
    probe::Probe,
    type_descriptor::{TypeDescriptor, TypeKind},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};
use thiserror::Error;

/// Why a rust-hdl block cannot be printed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ImportError {
    /// A signal keeps its value on some path through the block.
    #[error(
        "{module}: {signal} is not assigned on every path (if without else, match without default): a latch"
    )]
    Latch {
        /// The module.
        module: String,
        /// What would be latched.
        signal: String,
    },
    /// A construct that the printer has no form for.
    #[error("{module}: {what} cannot be printed")]
    Unsupported {
        /// The module.
        module: String,
        /// The construct.
        what: String,
    },
}

/// The module of a rust-hdl block, and of all blocks in it. `connect_all` must have been called on it.
pub fn import(name: &str, block: &dyn Block) -> Result<Rc<Module>, ImportError> {
    let mut collector = Collector::default();
    block.accept(name, &mut collector);
    match (collector.error, collector.top) {
        (Some(error), _) => Err(error),
        (None, Some(top)) => Ok(top),
        (None, None) => Err(ImportError::Unsupported {
            module: name.into(),
            what: "a block that is no module".into(),
        }),
    }
}

#[derive(Default)]
struct Collector {
    open: Vec<Scope>,
    namespaces: Vec<String>,
    top: Option<Rc<Module>>,
    error: Option<ImportError>,
}

struct Scope {
    instance: String,
    module: Module,
    code: Verilog,
    /// Value of each enum label, `Type::Variant`.
    labels: BTreeMap<String, usize>,
}

impl Probe for Collector {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        let instance = plain(name);
        let path = self
            .open
            .iter()
            .map(|scope| scope.instance.as_str())
            .chain([instance.as_str()]);
        let module = Module {
            name: path.collect::<Vec<_>>().join("_"),
            ..Module::default()
        };
        self.open.push(Scope {
            instance,
            module,
            code: node.hdl(),
            labels: BTreeMap::new(),
        });
        self.namespaces.clear();
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.namespaces.push(plain(name));
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespaces.pop();
    }

    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let Some(scope) = self.open.last_mut() else { return };
        let name = self
            .namespaces
            .iter()
            .cloned()
            .chain([plain(name)])
            .collect::<Vec<_>>()
            .join("_");
        let kind = match atom.kind() {
            AtomKind::InputParameter => Kind::Input,
            AtomKind::OutputParameter | AtomKind::OutputPassthrough => Kind::Output,
            AtomKind::LocalSignal => Kind::Wire,
            AtomKind::Constant => {
                scope
                    .module
                    .declarations
                    .push(declaration(&name, atom.bits(), Kind::Wire));
                let value = Expression::Cast(Box::new(Expression::Literal(atom.verilog())), atom.bits());
                scope
                    .module
                    .combinational
                    .push(Statement::Assignment(Expression::Signal(name), value));
                return;
            }
            other => {
                let what = format!("the signal {name} of kind {other:?}");
                self.error.get_or_insert(ImportError::Unsupported {
                    module: scope.module.name.clone(),
                    what,
                });
                return;
            }
        };
        labels(&atom.descriptor(), &mut scope.labels);
        scope
            .module
            .declarations
            .push(declaration(&name, atom.bits(), kind));
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        let Some(scope) = self.open.pop() else { return };
        let Scope {
            instance,
            mut module,
            code,
            labels,
        } = scope;
        let result = match code {
            Verilog::Combinatorial(block) => Resolver {
                module: &module.name,
                labels,
            }
            .block(&block, &[])
            .and_then(|block| {
                let (mut touched, mut assigned) = (BTreeSet::new(), BTreeSet::new());
                assignments(&block, &mut touched, &mut assigned);
                if let Some(signal) = touched.difference(&assigned).next() {
                    return Err(ImportError::Latch {
                        module: module.name.clone(),
                        signal: signal.clone(),
                    });
                }
                module.combinational.push(Statement::Macro(block));
                Ok(())
            }),
            Verilog::Custom(text) => {
                module.custom = Some(text);
                Ok(())
            }
            Verilog::Empty => Ok(()),
            Verilog::Blackbox(_) | Verilog::Wrapper(_) => Err(ImportError::Unsupported {
                module: module.name.clone(),
                what: "a wrapped core".into(),
            }),
        };
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
        // Ports come first in a module.
        module
            .declarations
            .sort_by_key(|d| !matches!(d.kind, Kind::Input | Kind::Output));
        let module = Rc::new(module);
        let Some(parent) = self.open.last_mut() else {
            self.top = Some(module);
            return;
        };
        let mut connections = Vec::new();
        for port in module.ports() {
            let outer = format!("{instance}_{}", port.name);
            parent
                .module
                .declarations
                .push(declaration(&outer, port.width as usize, Kind::Wire));
            connections.push((port.name.clone(), outer));
        }
        parent.module.instances.push(Instance {
            module: module.clone(),
            name: instance,
            connections,
        });
    }
}

fn declaration(name: &str, bits: usize, kind: Kind) -> Declaration {
    Declaration {
        name: name.into(),
        width: bits as u32,
        kind,
        doc: String::new(),
    }
}

fn labels(descriptor: &TypeDescriptor, found: &mut BTreeMap<String, usize>) {
    match &descriptor.kind {
        TypeKind::Enum(variants) => {
            for (value, variant) in variants.iter().enumerate() {
                found.insert(variant.clone(), value);
            }
        }
        TypeKind::Composite(fields) => fields.iter().for_each(|field| labels(&field.kind, found)),
        TypeKind::Bits(_) | TypeKind::Signed(_) => {}
    }
}

/// `a$b$next`, `.a.b.next` and `a[3]` as plain lower-snake-case names.
fn plain(name: &str) -> String {
    let name = name
        .strip_suffix("$next")
        .or_else(|| name.strip_suffix(".next"))
        .unwrap_or(name);
    let parts = name
        .split(['$', '.', '[', ']', ':'])
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("_")
}

/// Makes names plain, unrolls loops, gives case labels their values.
struct Resolver<'a> {
    module: &'a str,
    labels: BTreeMap<String, usize>,
}

impl Resolver<'_> {
    fn unsupported<T>(&self, what: &str) -> Result<T, ImportError> {
        Err(ImportError::Unsupported {
            module: self.module.into(),
            what: what.into(),
        })
    }

    fn block(&self, block: &VerilogBlock, loops: &[(String, usize)]) -> Result<VerilogBlock, ImportError> {
        let mut resolved = Vec::new();
        for statement in block {
            self.statement(statement, loops, &mut resolved)?;
        }
        Ok(resolved)
    }

    fn statement(
        &self,
        statement: &Statement,
        loops: &[(String, usize)],
        out: &mut VerilogBlock,
    ) -> Result<(), ImportError> {
        let expression = |e: &Expression| self.expression(e, loops);
        out.push(match statement {
            Statement::Assignment(target, value) => {
                Statement::Assignment(expression(target), expression(value))
            }
            Statement::SliceAssignment {
                base,
                width,
                offset,
                replacement,
            } => Statement::SliceAssignment {
                base: expression(base),
                width: *width,
                offset: expression(offset),
                replacement: expression(replacement),
            },
            Statement::If(conditional) => Statement::If(VerilogConditional {
                test: expression(&conditional.test),
                then: self.block(&conditional.then, loops)?,
                otherwise: match &conditional.otherwise {
                    VerilogBlockOrConditional::None => VerilogBlockOrConditional::None,
                    VerilogBlockOrConditional::Block(block) => {
                        VerilogBlockOrConditional::Block(self.block(block, loops)?)
                    }
                    VerilogBlockOrConditional::Conditional(next) => {
                        let mut inner = Vec::new();
                        self.statement(next, loops, &mut inner)?;
                        VerilogBlockOrConditional::Block(inner)
                    }
                },
            }),
            Statement::Match(m) => {
                let mut cases = Vec::new();
                for case in &m.cases {
                    let block = self.block(&case.block, loops)?;
                    cases.push(VerilogCase {
                        condition: self.label(&case.condition)?,
                        block,
                    });
                }
                Statement::Match(VerilogMatch {
                    test: expression(&m.test),
                    cases,
                })
            }
            Statement::Loop(l) => {
                for value in l.from.as_usize()..l.to.as_usize() {
                    let mut inner = loops.to_vec();
                    inner.push((l.index.clone(), value));
                    out.extend(self.block(&l.block, &inner)?);
                }
                return Ok(());
            }
            Statement::Macro(block) => {
                out.extend(self.block(block, loops)?);
                return Ok(());
            }
            Statement::Comment(comment) => Statement::Comment(comment.clone()),
            Statement::Link(_) => return self.unsupported("a link between interfaces"),
        });
        Ok(())
    }

    /// A case label as a decimal number or `_`.
    fn label(&self, label: &str) -> Result<String, ImportError> {
        let label = label.trim();
        let number = match label.get(..2) {
            Some("0x") => u64::from_str_radix(&label[2..].replace('_', ""), 16).ok(),
            Some("0b") => u64::from_str_radix(&label[2..].replace('_', ""), 2).ok(),
            _ => label.replace('_', "").parse().ok(),
        };
        let spaced = label.replace(' ', "").replace('$', "::");
        match (label, number, self.labels.get(&spaced)) {
            ("_" | "default", ..) => Ok("_".into()),
            (_, Some(number), _) => Ok(number.to_string()),
            (_, None, Some(value)) => Ok(value.to_string()),
            _ => self.unsupported(&format!("the case label {label}")),
        }
    }

    fn expression(&self, expression: &Expression, loops: &[(String, usize)]) -> Expression {
        let inner = |e: &Expression| Box::new(self.expression(e, loops));
        match expression {
            Expression::Signal(name) => {
                if let Some((_, value)) = loops.iter().rev().find(|(index, _)| index == name) {
                    return Expression::Literal(VerilogLiteral::from(*value as u64));
                }
                if let Some(value) = self.labels.get(&name.replace('$', "::")) {
                    return Expression::Literal(VerilogLiteral::from(*value as u64));
                }
                Expression::Signal(plain(name))
            }
            Expression::Literal(literal) => Expression::Literal(literal.clone()),
            Expression::Cast(e, width) => Expression::Cast(inner(e), *width),
            Expression::Signed(e) => Expression::Signed(inner(e)),
            Expression::Unsigned(e) => Expression::Unsigned(inner(e)),
            Expression::Paren(e) => Expression::Paren(inner(e)),
            Expression::Binary(left, operator, right) => {
                Expression::Binary(inner(left), operator.clone(), inner(right))
            }
            Expression::Unary(operator, e) => Expression::Unary(operator.clone(), inner(e)),
            Expression::Index(base, position) => Expression::Index(inner(base), inner(position)),
            Expression::Slice(base, width, offset) => Expression::Slice(inner(base), *width, inner(offset)),
            Expression::IndexReplace(base, position, bit) => {
                Expression::IndexReplace(inner(base), inner(position), inner(bit))
            }
        }
    }
}

/// Signals that a block assigns on some path, and on every path.
fn assignments(block: &VerilogBlock, touched: &mut BTreeSet<String>, assigned: &mut BTreeSet<String>) {
    for statement in block {
        match statement {
            Statement::Assignment(Expression::Signal(name), _) => {
                touched.insert(name.clone());
                assigned.insert(name.clone());
            }
            Statement::If(conditional) => {
                let mut then = BTreeSet::new();
                assignments(&conditional.then, touched, &mut then);
                let mut otherwise = BTreeSet::new();
                if let VerilogBlockOrConditional::Block(block) = &conditional.otherwise {
                    assignments(block, touched, &mut otherwise);
                }
                assigned.extend(then.intersection(&otherwise).cloned());
            }
            Statement::Match(m) => {
                let mut every: Option<BTreeSet<String>> = None;
                for case in &m.cases {
                    let mut of_case = BTreeSet::new();
                    assignments(&case.block, touched, &mut of_case);
                    every = Some(match every {
                        None => of_case,
                        Some(others) => others.intersection(&of_case).cloned().collect(),
                    });
                }
                if m.cases.iter().any(|case| case.condition == "_") {
                    assigned.extend(every.unwrap_or_default());
                }
            }
            _ => {}
        }
    }
}
