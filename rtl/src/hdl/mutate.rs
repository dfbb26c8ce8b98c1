//! Breaking single lines of a module on purpose, to prove that the lockstep finds it.
//!
//! All chosen mutations live in one module, behind an extra input `mutant`: 0 is the module as it was, k breaks line k. So one
//! Verilated build serves a whole list.

use super::module::{Declaration, Kind, Module};
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogConditional, VerilogExpression as Expression, VerilogLiteral,
    VerilogOp, VerilogOpUnary, VerilogStatement as Statement,
};
use std::rc::Rc;

/// Width of the input `mutant`.
pub const MUTANT_BITS: u32 = 8;

/// How a line is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every bit of the value is inverted.
    Invert,
    /// The value is zero.
    Zero,
    /// The value is one more.
    Increment,
    /// The value is one less.
    Decrement,
    /// The statement's first operator is another one: & for |, + for -, == for !=, < for <=, and the other way round.
    Operator,
    /// The register is written in every clock, whatever its enable says.
    Enable,
}

/// One broken line: the statement that drives `signal`, or the register `signal`'s assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// What the line drives.
    pub signal: &'static str,
    /// How it is broken.
    pub fault: Fault,
}

/// The module with the input `mutant` and each listed line breakable by its number, from 1.
///
/// # Errors
/// A sentence, when a listed signal is not driven by one breakable statement.
pub fn mutate(module: &Module, mutations: &[Mutation]) -> Result<Rc<Module>, String> {
    let mut mutated = module.clone();
    mutated.declarations.insert(
        1,
        Declaration {
            name: "mutant".into(),
            width: MUTANT_BITS,
            kind: Kind::Input,
            doc: "Number of the broken line, 0 for none.".into(),
        },
    );
    for (position, mutation) in mutations.iter().enumerate() {
        let number = position as u64 + 1;
        let selected = Expression::Binary(
            Box::new(Expression::Signal("mutant".into())),
            VerilogOp::Eq,
            Box::new(literal(number, MUTANT_BITS)),
        );
        apply(&mut mutated, mutation, number, selected)
            .ok_or_else(|| format!("{}: there is no line to break by {mutation:?}", module.name))?;
    }
    Ok(Rc::new(mutated))
}

fn literal(value: u64, width: u32) -> Expression {
    Expression::Cast(
        Box::new(Expression::Literal(VerilogLiteral::from(value))),
        width as usize,
    )
}

fn apply(module: &mut Module, mutation: &Mutation, number: u64, selected: Expression) -> Option<()> {
    let width = module.declaration(mutation.signal)?.width;
    if let Some(position) = module.clocked.iter().position(|c| c.target == mutation.signal) {
        let clocked = module.clocked[position].clone();
        if mutation.fault == Fault::Enable {
            let enable = clocked.enable?;
            module.clocked[position].enable = Some(Expression::Binary(
                Box::new(enable),
                VerilogOp::BitOr,
                Box::new(selected),
            ));
            return Some(());
        }
        // The register's next value gets a name, and that line is the one broken.
        let name = format!("{}_mutant_{number}", mutation.signal);
        let broken = broken(&clocked.value, width, mutation.fault)?;
        declare(module, &name, width);
        module
            .combinational
            .push(choose(&name, selected, broken, clocked.value));
        module.clocked[position].value = Expression::Signal(name);
        return Some(());
    }
    let position = module
        .combinational
        .iter()
        .position(|s| drives(s, mutation.signal))?;
    // The line keeps its form under another name; the signal is that name's value, or the broken one.
    let inner = format!("{}_mutant_{number}", mutation.signal);
    declare(module, &inner, width);
    let original = module.combinational[position].clone();
    let renamed = rename(&original, &inner)?;
    let (broken_value, extra) = match mutation.fault {
        Fault::Operator => {
            let other = format!("{inner}_operator");
            let mut changed = rename(&original, &other)?;
            swap_in_statement(&mut changed)?;
            declare(module, &other, width);
            (Expression::Signal(other), Some(changed))
        }
        fault => (broken(&Expression::Signal(inner.clone()), width, fault)?, None),
    };
    module.combinational[position] = renamed;
    module.combinational.extend(extra);
    module.combinational.push(choose(
        mutation.signal,
        selected,
        broken_value,
        Expression::Signal(inner),
    ));
    Some(())
}

fn declare(module: &mut Module, name: &str, width: u32) {
    module.declarations.push(Declaration {
        name: name.into(),
        width,
        kind: Kind::Wire,
        doc: String::new(),
    });
}

fn choose(target: &str, selected: Expression, broken: Expression, original: Expression) -> Statement {
    let assign = |value| Statement::Assignment(Expression::Signal(target.into()), value);
    Statement::If(VerilogConditional {
        test: selected,
        then: vec![assign(broken)],
        otherwise: VerilogBlockOrConditional::Block(vec![assign(original)]),
    })
}

fn drives(statement: &Statement, signal: &str) -> bool {
    match statement {
        Statement::Assignment(Expression::Signal(name), _) => name == signal,
        Statement::If(conditional) => conditional.then.iter().any(|s| drives(s, signal)),
        _ => false,
    }
}

fn rename(statement: &Statement, name: &str) -> Option<Statement> {
    let block = |block: &Vec<Statement>| block.iter().map(|s| rename(s, name)).collect::<Option<Vec<_>>>();
    match statement {
        Statement::Assignment(_, value) => Some(Statement::Assignment(
            Expression::Signal(name.into()),
            value.clone(),
        )),
        Statement::If(conditional) => Some(Statement::If(VerilogConditional {
            test: conditional.test.clone(),
            then: block(&conditional.then)?,
            otherwise: match &conditional.otherwise {
                VerilogBlockOrConditional::Block(other) => VerilogBlockOrConditional::Block(block(other)?),
                VerilogBlockOrConditional::Conditional(next) => {
                    VerilogBlockOrConditional::Conditional(Box::new(rename(next, name)?))
                }
                VerilogBlockOrConditional::None => VerilogBlockOrConditional::None,
            },
        })),
        _ => None,
    }
}

fn broken(value: &Expression, width: u32, fault: Fault) -> Option<Expression> {
    let with_one =
        |operator| Expression::Binary(Box::new(value.clone()), operator, Box::new(literal(1, width)));
    match fault {
        Fault::Invert => Some(Expression::Unary(VerilogOpUnary::Not, Box::new(value.clone()))),
        Fault::Zero => Some(literal(0, width)),
        Fault::Increment => Some(with_one(VerilogOp::Add)),
        Fault::Decrement => Some(with_one(VerilogOp::Sub)),
        Fault::Operator => {
            let mut changed = value.clone();
            swap(&mut changed).then_some(changed)
        }
        Fault::Enable => None,
    }
}

fn swap_in_statement(statement: &mut Statement) -> Option<()> {
    match statement {
        Statement::Assignment(_, value) => swap(value).then_some(()),
        Statement::If(conditional) => {
            if swap(&mut conditional.test) {
                return Some(());
            }
            conditional.then.iter_mut().find_map(swap_in_statement)
        }
        _ => None,
    }
}

/// Exchanges the outermost, leftmost operator that has a counterpart.
fn swap(expression: &mut Expression) -> bool {
    match expression {
        Expression::Binary(left, operator, right) => {
            *operator = match operator {
                VerilogOp::Add => VerilogOp::Sub,
                VerilogOp::Sub => VerilogOp::Add,
                VerilogOp::BitAnd => VerilogOp::BitOr,
                VerilogOp::BitOr => VerilogOp::BitAnd,
                VerilogOp::BitXor => VerilogOp::BitOr,
                VerilogOp::Eq => VerilogOp::Ne,
                VerilogOp::Ne => VerilogOp::Eq,
                VerilogOp::Lt => VerilogOp::Le,
                VerilogOp::Le => VerilogOp::Lt,
                VerilogOp::Ge => VerilogOp::Gt,
                VerilogOp::Gt => VerilogOp::Ge,
                VerilogOp::Shl => VerilogOp::Shr,
                VerilogOp::Shr => VerilogOp::Shl,
                VerilogOp::Mul | VerilogOp::LogicalAnd | VerilogOp::LogicalOr => {
                    return swap(left) || swap(right);
                }
            };
            true
        }
        Expression::Unary(_, inner) | Expression::Paren(inner) | Expression::Cast(inner, _) => swap(inner),
        _ => false,
    }
}
