//! Building a module: signals that know their width, operators on them, registers, memories, instances.
//!
//! Every width is checked when the module is built. A mismatch is an error of the generator's author, not of its
//! user, so it panics, and names the module and the signals.

use super::module::{Clocked, Declaration, Instance, Kind, Module};
use metaroce_model::port::{Direction, Port};
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogConditional, VerilogExpression as Expression, VerilogLiteral,
    VerilogOp, VerilogOpUnary, VerilogStatement as Statement,
};
use std::{
    cell::RefCell,
    collections::BTreeSet,
    fmt,
    ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, RangeInclusive, Sub},
    rc::Rc,
};

/// A module under construction. Clones are handles to the same module.
#[derive(Clone)]
pub struct Builder(Rc<RefCell<State>>);

/// The synchronous reset, active high.
const RST: &str = "rst";

/// Bits that a register of [`Builder::clocked_cleared`] needs for a reset signal of its own.
const LEAST_CLEARED: u32 = 32;

struct State {
    module: Module,
    names: BTreeSet<String>,
    resets: Vec<(String, u64)>,
    temporaries: u32,
    endings: Vec<Ending>,
}

/// Something to do when a module is complete.
type Ending = Box<dyn FnOnce(&Builder)>;

/// An expression of known width in a module under construction.
#[derive(Clone)]
pub struct Signal {
    expression: Expression,
    width: u32,
    builder: Builder,
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[{}]", self.expression, self.width)
    }
}

/// The outputs of an instance.
pub struct Outputs {
    builder: Builder,
    instance: String,
    ports: Vec<(String, u32)>,
}

impl Outputs {
    /// The signal at the instance's output port of that name.
    pub fn get(&self, port: &str) -> Signal {
        let (_, width) = self
            .ports
            .iter()
            .find(|(name, _)| name == port)
            .unwrap_or_else(|| panic!("instance {} has no output {port}", self.instance));
        self.builder.signal(&format!("{}_{port}", self.instance), *width)
    }
}

/// A value that goes along a pipeline: one register a stage.
pub struct Carried {
    name: String,
    first: u32,
    registers: Vec<Signal>,
}

impl Carried {
    /// The value in that stage.
    ///
    /// # Panics
    /// When the value is not carried there.
    pub fn at(&self, stage: u32) -> &Signal {
        stage
            .checked_sub(self.first)
            .and_then(|position| self.registers.get(position as usize))
            .unwrap_or_else(|| panic!("{} is not carried in stage {stage}", self.name))
    }
}

impl Builder {
    /// A module with the input `clk`; `doc` is its header comment.
    pub fn new(name: &str, doc: &str) -> Self {
        let module = Module {
            name: name.into(),
            doc: doc.trim().lines().map(|line| line.trim().to_string()).collect(),
            ..Module::default()
        };
        let builder = Self(Rc::new(RefCell::new(State {
            module,
            names: BTreeSet::new(),
            resets: Vec::new(),
            temporaries: 0,
            endings: Vec::new(),
        })));
        builder.declare("clk", 1, Kind::Input, "Clock.");
        builder
    }

    /// A module with `clk` and the ports of a unit's contract.
    pub fn unit(name: &str, doc: &str, ports: &[Port]) -> Self {
        let builder = Self::new(name, doc);
        for port in ports {
            let kind = match port.direction {
                Direction::Input => Kind::Input,
                Direction::Output => Kind::Output,
            };
            builder.declare(port.name, port.width, kind, port.doc);
        }
        builder
    }

    /// The module, complete.
    ///
    /// # Panics
    /// When an output, wire or register is never driven.
    pub fn finish(self) -> Rc<Module> {
        let endings = std::mem::take(&mut self.0.borrow_mut().endings);
        endings.into_iter().for_each(|ending| ending(&self));
        let state = self.0.borrow();
        let module = &state.module;
        assert!(
            module.clocked.iter().all(|clocked| clocked.reset.is_none()) || module.declaration(RST).is_some(),
            "{}: registers have a reset, but there is no {RST}",
            module.name
        );
        let driven = super::emit::driven(module);
        for declaration in &module.declarations {
            assert!(
                declaration.kind == Kind::Input
                    || module.custom.is_some()
                    || driven.contains(&declaration.name),
                "{}: {} is never driven",
                module.name,
                declaration.name
            );
        }
        Rc::new(module.clone())
    }

    fn name(&self) -> String {
        self.0.borrow().module.name.clone()
    }

    fn declare(&self, name: &str, width: u32, kind: Kind, doc: &str) -> Signal {
        let mut state = self.0.borrow_mut();
        assert!(width > 0, "{}: {name} has no bits", state.module.name);
        assert!(
            state.names.insert(name.into()),
            "{}: {name} is declared twice",
            state.module.name
        );
        state.module.declarations.push(Declaration {
            name: name.into(),
            width,
            kind,
            doc: doc.into(),
        });
        drop(state);
        self.signal(name, width)
    }

    fn signal(&self, name: &str, width: u32) -> Signal {
        Signal {
            expression: Expression::Signal(name.into()),
            width,
            builder: self.clone(),
        }
    }

    fn with_width(&self, expression: Expression, width: u32) -> Signal {
        Signal {
            expression,
            width,
            builder: self.clone(),
        }
    }

    /// Adds an input port.
    pub fn add_input(&self, name: &str, width: u32, doc: &str) -> Signal {
        self.declare(name, width, Kind::Input, doc)
    }

    /// Adds an output port, driven by `value`.
    pub fn add_output(&self, name: &str, doc: &str, value: &Signal) {
        self.declare_output(name, value.width, doc);
        self.drive(name, value);
    }

    /// Adds an output port; [`Builder::drive`] gives it its value.
    pub fn declare_output(&self, name: &str, width: u32, doc: &str) {
        self.declare(name, width, Kind::Output, doc);
    }

    /// A declared port (or wire, or register) by name.
    pub fn get(&self, name: &str) -> Signal {
        let width = {
            let state = self.0.borrow();
            let found = state.module.declaration(name);
            found
                .unwrap_or_else(|| panic!("{}: there is no signal {name}", state.module.name))
                .width
        };
        self.signal(name, width)
    }

    /// Drives a declared output port or a [`Builder::forward`] wire.
    pub fn drive(&self, name: &str, value: &Signal) {
        let target = self.get(name);
        self.check(&target, value, "drive");
        self.push(Statement::Assignment(target.expression, value.expression.clone()));
    }

    /// A constant. `value` must fit in `width` bits.
    pub fn lit(&self, value: u64, width: u32) -> Signal {
        assert!(
            width >= 64 || value >> width == 0,
            "{}: {value} does not fit in {width} bits",
            self.name()
        );
        // A literal of any width is a cast of one that rust-hdl can hold; the printer makes one sized literal of both.
        let literal = Expression::Literal(VerilogLiteral::from(value));
        self.with_width(Expression::Cast(Box::new(literal), width as usize), width)
    }

    /// A wire with a name and a value.
    pub fn wire(&self, name: &str, value: &Signal) -> Signal {
        let wire = self.declare(name, value.width, Kind::Wire, "");
        self.push(Statement::Assignment(
            wire.expression.clone(),
            value.expression.clone(),
        ));
        wire
    }

    /// A wire that is read before it is driven; [`Builder::drive`] gives it its value.
    pub fn forward(&self, name: &str, width: u32) -> Signal {
        self.declare(name, width, Kind::Wire, "")
    }

    /// A wire that is `if_true` when `select` holds, else `if_false`.
    pub fn mux(&self, name: &str, select: &Signal, if_true: &Signal, if_false: &Signal) -> Signal {
        self.select(name, &[(select, if_true)], if_false)
    }

    /// A wire with the value of the first condition that holds, else `default`.
    pub fn select(&self, name: &str, cases: &[(&Signal, &Signal)], default: &Signal) -> Signal {
        let wire = self.declare(name, default.width, Kind::Wire, "");
        let assign = |value: &Signal| {
            self.check(&wire, value, "select");
            Statement::Assignment(wire.expression.clone(), value.expression.clone())
        };
        let mut statement = assign(default);
        for (condition, value) in cases.iter().rev() {
            assert!(
                condition.width == 1,
                "{}: condition of {name} has {} bits",
                self.name(),
                condition.width
            );
            let otherwise = match statement {
                conditional @ Statement::If(_) => {
                    VerilogBlockOrConditional::Conditional(Box::new(conditional))
                }
                plain => VerilogBlockOrConditional::Block(vec![plain]),
            };
            statement = Statement::If(VerilogConditional {
                test: condition.expression.clone(),
                then: vec![assign(value)],
                otherwise,
            });
        }
        self.push(statement);
        wire
    }

    /// A wire of the parts side by side, least significant first.
    pub fn concat(&self, name: &str, parts: &[&Signal]) -> Signal {
        let width = parts.iter().map(|part| part.width).sum();
        let wire = self.declare(name, width, Kind::Wire, "");
        let mut offset = 0u64;
        for part in parts {
            self.push(Statement::SliceAssignment {
                base: wire.expression.clone(),
                width: part.width as usize,
                offset: Expression::Literal(VerilogLiteral::from(offset)),
                replacement: part.expression.clone(),
            });
            offset += u64::from(part.width);
        }
        wire
    }

    /// A register that the synchronous reset `rst` makes zero; [`Builder::clocked`] gives its next value.
    ///
    /// All registers have a reset, those of data too: place and route puts registers into one tile only if all are reset by one signal.
    pub fn register(&self, name: &str, width: u32) -> Signal {
        self.register_reset(name, width, 0)
    }

    /// A register that the synchronous reset `rst` sets to `reset`.
    pub fn register_reset(&self, name: &str, width: u32, reset: u64) -> Signal {
        assert!(
            width >= 64 || reset >> width == 0,
            "{}: reset of {name} does not fit",
            self.name()
        );
        self.0.borrow_mut().resets.push((name.into(), reset));
        self.declare(name, width, Kind::Register, "")
    }

    /// A register that no reset touches, for what makes the reset.
    pub fn free_register(&self, name: &str, width: u32) -> Signal {
        self.declare(name, width, Kind::Register, "")
    }

    /// The input `rst`, which a module with registers needs unless they are free.
    pub fn add_reset(&self) {
        self.add_input(RST, 1, "Synchronous reset, active high.");
    }

    /// The register's next value, in every clock.
    pub fn clocked(&self, register: &Signal, next: &Signal) {
        self.write(register, None, next, None);
    }

    /// The register's next value in clocks in which `enable` holds; in others it stays (reset wins over `enable`).
    pub fn clocked_when(&self, enable: &Signal, register: &Signal, next: &Signal) {
        self.write(register, Some(enable), next, None);
    }

    /// [`Builder::clocked_when`] for a register that goes to zero in clocks in which `clear` holds, whatever `enable` is.
    ///
    /// A wide one is then reset by `rst | clear`, which costs no look-up table a bit. That signal is the only one that can reset a tile of eight registers, so it is not
    /// worth its tiles if the register is narrow.
    pub fn clocked_cleared(&self, clear: &Signal, enable: &Signal, register: &Signal, next: &Signal) {
        if register.width < LEAST_CLEARED {
            self.clocked_when(&(enable | clear), register, &next.gated(&!clear));
        } else {
            self.write(register, Some(enable), next, Some(clear));
        }
    }

    fn write(&self, register: &Signal, enable: Option<&Signal>, next: &Signal, clear: Option<&Signal>) {
        self.check(register, next, "clocked");
        let target = register.plain_name();
        let mut state = self.0.borrow_mut();
        let reset = state
            .resets
            .iter()
            .find(|(name, _)| *name == target)
            .map(|(_, value)| *value);
        assert!(
            clear.is_none() || reset == Some(0),
            "{}: register {target} is cleared to zero, so its reset is zero",
            state.module.name
        );
        assert!(
            !state.module.clocked.iter().any(|c| c.target == target),
            "{}: register {target} is written twice",
            state.module.name
        );
        state.module.clocked.push(Clocked {
            target,
            enable: enable.map(|e| e.expression.clone()),
            value: next.expression.clone(),
            reset,
            clear: clear.map(|c| c.expression.clone()),
        });
    }

    /// A pipeline register of `value`, loaded when `enable` holds, zero after reset.
    pub fn stage(&self, name: &str, enable: &Signal, value: &Signal) -> Signal {
        let register = self.register(name, value.width);
        self.clocked_when(enable, &register, value);
        register
    }

    /// Pipeline registers of `value` in all `stages`, named `NAME_STAGE`, loaded when `enable` holds, zero after reset.
    pub fn carry(&self, name: &str, enable: &Signal, value: &Signal, stages: RangeInclusive<u32>) -> Carried {
        let first = *stages.start();
        let mut value = value.clone();
        let registers = stages
            .map(|number| {
                value = self.stage(&format!("{name}_{number}"), enable, &value);
                value.clone()
            })
            .collect();
        Carried {
            name: name.into(),
            first,
            registers,
        }
    }

    /// An instance of `module`; `clk` connects itself, and so does `rst` if nothing is named for it. Every other input must be connected.
    pub fn instance(&self, name: &str, module: &Rc<Module>, inputs: &[(&str, &Signal)]) -> Outputs {
        let mut connections = Vec::new();
        let mut outputs = Vec::new();
        for (port, _) in inputs {
            let known = module.ports().any(|p| p.name == *port && p.kind == Kind::Input);
            assert!(known, "{}: {} has no input {port}", self.name(), module.name);
        }
        for port in module.ports() {
            let outer = match port.kind {
                Kind::Input if port.name == "clk" => "clk".into(),
                Kind::Input if port.name == RST && inputs.iter().all(|(name, _)| *name != RST) => RST.into(),
                Kind::Input => {
                    let (_, value) = inputs.iter().find(|(p, _)| *p == port.name).unwrap_or_else(|| {
                        panic!("{}: input {} of {name} is not connected", self.name(), port.name)
                    });
                    assert!(
                        value.width == port.width,
                        "{}: {name}.{} has {} bits, the signal {}",
                        self.name(),
                        port.name,
                        port.width,
                        value.width
                    );
                    match &value.expression {
                        Expression::Signal(signal) => signal.clone(),
                        _ => self.wire(&format!("{name}_{}", port.name), value).plain_name(),
                    }
                }
                _ => {
                    outputs.push((port.name.clone(), port.width));
                    self.declare(&format!("{name}_{}", port.name), port.width, Kind::Wire, "")
                        .plain_name()
                }
            };
            connections.push((port.name.clone(), outer));
        }
        self.0.borrow_mut().module.instances.push(Instance {
            module: module.clone(),
            name: name.into(),
            connections,
        });
        Outputs {
            builder: self.clone(),
            instance: name.into(),
            ports: outputs,
        }
    }

    /// Says that these signals, or some of their bits, are not used on purpose, and why: lint then stays quiet.
    pub fn unused(&self, name: &str, signals: &[&Signal]) {
        let all = self.concat(&format!("unused_{name}_bits"), signals);
        self.wire(&format!("unused_{name}"), &all.any());
    }

    /// Makes the module a leaf with hand-written Verilog between its ports and `endmodule`.
    pub fn custom(&self, verilog: String) {
        self.0.borrow_mut().module.custom = Some(verilog);
    }

    /// Does `ending` when the module is complete, before it is checked: for parts that say then what of theirs was not used.
    pub fn at_finish(&self, ending: impl FnOnce(&Self) + 'static) {
        self.0.borrow_mut().endings.push(Box::new(ending));
    }

    fn push(&self, statement: Statement) {
        self.0.borrow_mut().module.combinational.push(statement);
    }

    fn check(&self, target: &Signal, value: &Signal, what: &str) {
        assert!(
            target.width == value.width,
            "{}: {what} {:?} of {} bits with {} bits",
            self.name(),
            target.expression,
            target.width,
            value.width
        );
    }

    fn temporary(&self, value: &Signal) -> Signal {
        let number = {
            let mut state = self.0.borrow_mut();
            state.temporaries += 1;
            state.temporaries
        };
        self.wire(&format!("value_{number}"), value)
    }
}

impl Signal {
    /// Bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    fn plain_name(&self) -> String {
        match &self.expression {
            Expression::Signal(name) => name.clone(),
            other => panic!("{}: {other:?} is not a named signal", self.builder.name()),
        }
    }

    /// The signal itself, or a wire that holds the expression: what can be indexed.
    pub(super) fn materialised(&self) -> Signal {
        match &self.expression {
            Expression::Signal(_) => self.clone(),
            _ => self.builder.temporary(self),
        }
    }

    fn binary(&self, operator: VerilogOp, other: &Signal, width: u32) -> Signal {
        assert!(
            self.width == other.width,
            "{}: operands of {} and {} bits: {:?}, {:?}",
            self.builder.name(),
            self.width,
            other.width,
            self.expression,
            other.expression
        );
        let expression = Expression::Binary(
            Box::new(self.expression.clone()),
            operator,
            Box::new(other.expression.clone()),
        );
        self.builder.with_width(expression, width)
    }

    fn unary(&self, operator: VerilogOpUnary, width: u32) -> Signal {
        let expression = Expression::Unary(operator, Box::new(self.expression.clone()));
        self.builder.with_width(expression, width)
    }

    /// A constant of this signal's width.
    pub fn lit(&self, value: u64) -> Signal {
        self.builder.lit(value, self.width)
    }

    /// One bit: equal.
    pub fn eq(&self, other: &Signal) -> Signal {
        self.binary(VerilogOp::Eq, other, 1)
    }

    /// One bit: equal to a constant.
    pub fn is(&self, value: u64) -> Signal {
        self.eq(&self.lit(value))
    }

    /// One bit: not equal.
    pub fn ne(&self, other: &Signal) -> Signal {
        self.binary(VerilogOp::Ne, other, 1)
    }

    /// One bit: less than, unsigned.
    pub fn lt(&self, other: &Signal) -> Signal {
        self.binary(VerilogOp::Lt, other, 1)
    }

    /// One bit: at least, unsigned.
    pub fn ge(&self, other: &Signal) -> Signal {
        self.binary(VerilogOp::Ge, other, 1)
    }

    /// One bit: some bit is set.
    pub fn any(&self) -> Signal {
        if self.width == 1 {
            self.clone()
        } else {
            self.unary(VerilogOpUnary::Any, 1)
        }
    }

    /// One bit: all bits are set.
    pub fn all(&self) -> Signal {
        if self.width == 1 {
            self.clone()
        } else {
            self.unary(VerilogOpUnary::All, 1)
        }
    }

    /// `width` bits from bit `low` on.
    pub fn slice(&self, low: u32, width: u32) -> Signal {
        assert!(
            low + width <= self.width,
            "{}: slice beyond {:?}",
            self.builder.name(),
            self.expression
        );
        if low == 0 && width == self.width {
            return self.clone();
        }
        // A slice of a slice is one slice.
        let (base, low) = match &self.expression {
            Expression::Slice(base, _, offset) if let Expression::Literal(offset) = &**offset => {
                (base.clone(), low + offset.as_usize() as u32)
            }
            _ => (Box::new(self.materialised().expression), low),
        };
        let offset = Box::new(Expression::Literal(VerilogLiteral::from(u64::from(low))));
        let expression = if width == 1 {
            Expression::Index(base, offset)
        } else {
            Expression::Slice(base, width as usize, offset)
        };
        self.builder.with_width(expression, width)
    }

    /// The bit at a constant position.
    pub fn bit(&self, position: u32) -> Signal {
        self.slice(position, 1)
    }

    /// The most significant bit.
    pub fn msb(&self) -> Signal {
        self.bit(self.width - 1)
    }

    /// The bit at a variable position.
    pub fn index(&self, position: &Signal) -> Signal {
        let base = Box::new(self.materialised().expression);
        let position = Box::new(position.materialised().expression);
        self.builder.with_width(Expression::Index(base, position), 1)
    }

    /// Zero-extended to `width` bits.
    pub fn extend(&self, width: u32) -> Signal {
        assert!(
            width >= self.width,
            "{}: extension to fewer bits",
            self.builder.name()
        );
        if width == self.width {
            return self.clone();
        }
        let expression = Expression::Cast(Box::new(self.materialised().expression), width as usize);
        self.builder.with_width(expression, width)
    }

    /// Sign-extended to `width` bits; of one bit, that bit `width` times.
    pub fn sign_extend(&self, width: u32) -> Signal {
        assert!(
            width >= self.width,
            "{}: extension to fewer bits",
            self.builder.name()
        );
        if width == self.width {
            return self.clone();
        }
        // One bit is repeated, whatever it is; of more, the last one is picked, for which they need a name.
        let value = if self.width == 1 {
            self.clone()
        } else {
            self.materialised()
        };
        let signed = Expression::Signed(Box::new(value.expression));
        self.builder
            .with_width(Expression::Cast(Box::new(signed), width as usize), width)
    }

    /// The lowest `width` bits.
    pub fn truncate(&self, width: u32) -> Signal {
        self.slice(0, width)
    }

    /// Zero-extended or cut to `width` bits.
    pub fn resize(&self, width: u32) -> Signal {
        if width > self.width {
            self.extend(width)
        } else {
            self.truncate(width)
        }
    }

    /// Shifted left by a variable count, same width.
    pub fn shl(&self, count: &Signal) -> Signal {
        self.shift(VerilogOp::Shl, count)
    }

    /// Shifted right by a variable count, zeros come in, same width.
    pub fn shr(&self, count: &Signal) -> Signal {
        self.shift(VerilogOp::Shr, count)
    }

    fn shift(&self, operator: VerilogOp, count: &Signal) -> Signal {
        let expression = Expression::Binary(
            Box::new(self.expression.clone()),
            operator,
            Box::new(count.expression.clone()),
        );
        self.builder.with_width(expression, self.width)
    }

    /// A wire that is `if_true` when this one-bit signal holds, else `if_false`, with a name made for it.
    pub fn choose(&self, if_true: &Signal, if_false: &Signal) -> Signal {
        let number = {
            let mut state = self.builder.0.borrow_mut();
            state.temporaries += 1;
            state.temporaries
        };
        self.builder
            .mux(&format!("value_{number}"), self, if_true, if_false)
    }

    /// This signal where the one-bit `condition` holds, else zero.
    pub fn gated(&self, condition: &Signal) -> Signal {
        self & &condition.sign_extend(self.width)
    }

    /// A wire with a name and this value.
    pub fn named(&self, name: &str) -> Signal {
        self.builder.wire(name, self)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $operator:ident),+) => {$(
        impl $trait<&Signal> for &Signal {
            type Output = Signal;
            fn $method(self, other: &Signal) -> Signal {
                self.binary(VerilogOp::$operator, other, self.width)
            }
        }
        impl $trait<Signal> for &Signal {
            type Output = Signal;
            fn $method(self, other: Signal) -> Signal {
                self.$method(&other)
            }
        }
        impl $trait<&Signal> for Signal {
            type Output = Signal;
            fn $method(self, other: &Signal) -> Signal {
                (&self).$method(other)
            }
        }
        impl $trait<Signal> for Signal {
            type Output = Signal;
            fn $method(self, other: Signal) -> Signal {
                (&self).$method(&other)
            }
        }
    )+};
}
operators!(Add add Add, Sub sub Sub, BitAnd bitand BitAnd, BitOr bitor BitOr, BitXor bitxor BitXor);

impl Mul<&Signal> for &Signal {
    type Output = Signal;
    /// The full product: as wide as both factors together.
    #[allow(clippy::suspicious_arithmetic_impl)] // the sum is of widths
    fn mul(self, other: &Signal) -> Signal {
        let width = self.width + other.width;
        self.extend(width)
            .binary(VerilogOp::Mul, &other.extend(width), width)
    }
}

impl Not for &Signal {
    type Output = Signal;
    fn not(self) -> Signal {
        self.unary(VerilogOpUnary::Not, self.width)
    }
}

impl Not for Signal {
    type Output = Signal;
    fn not(self) -> Signal {
        !&self
    }
}
