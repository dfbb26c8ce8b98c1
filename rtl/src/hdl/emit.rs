//! Printing a module as Verilog-2005: sized literals, full parentheses, plain names, one declaration a line.

use super::module::{Clocked, Declaration, Kind, Module};
use rust_hdl::core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogConditional, VerilogExpression as Expression,
    VerilogLiteral, VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement as Statement,
};
use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write,
};

/// Names that some statement, register or instance of the module drives.
pub fn driven(module: &Module) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = module.clocked.iter().map(|c| c.target.clone()).collect();
    module.combinational.iter().for_each(|s| targets(s, &mut names));
    for instance in &module.instances {
        for (port, outer) in &instance.connections {
            if instance
                .module
                .declaration(port)
                .is_some_and(|p| p.kind == Kind::Output)
            {
                names.insert(outer.clone());
            }
        }
    }
    names
}

fn targets(statement: &Statement, names: &mut BTreeSet<String>) {
    let mut block = |block: &VerilogBlock| block.iter().for_each(|s| targets(s, names));
    match statement {
        Statement::Assignment(target, _) | Statement::SliceAssignment { base: target, .. } => {
            names.extend(target_name(target));
        }
        Statement::If(conditional) => {
            block(&conditional.then);
            match &conditional.otherwise {
                VerilogBlockOrConditional::Block(otherwise) => block(otherwise),
                VerilogBlockOrConditional::Conditional(otherwise) => targets(otherwise, names),
                VerilogBlockOrConditional::None => {}
            }
        }
        Statement::Match(m) => m.cases.iter().for_each(|case| block(&case.block)),
        Statement::Loop(l) => block(&l.block),
        Statement::Macro(inner) => block(inner),
        Statement::Comment(_) | Statement::Link(_) => {}
    }
}

fn target_name(target: &Expression) -> Option<String> {
    match target {
        Expression::Signal(name) => Some(name.clone()),
        Expression::Index(base, _) | Expression::Slice(base, _, _) | Expression::Paren(base) => {
            target_name(base)
        }
        _ => None,
    }
}

/// The module as Verilog text.
pub fn module(module: &Module) -> String {
    Printer::new(module).module()
}

struct Printer<'a> {
    module: &'a Module,
    widths: HashMap<&'a str, u32>,
    /// Names that an `always` block assigns, which Verilog wants declared `reg`.
    procedural: BTreeSet<String>,
}

impl<'a> Printer<'a> {
    fn new(module: &'a Module) -> Self {
        let widths = module
            .declarations
            .iter()
            .map(|d| (d.name.as_str(), d.width))
            .collect();
        let mut procedural: BTreeSet<String> = module.clocked.iter().map(|c| c.target.clone()).collect();
        for statement in &module.combinational {
            let part = matches!(
                statement,
                Statement::SliceAssignment {
                    offset: Expression::Literal(_),
                    ..
                }
            );
            if !part && continuous_parts(statement).is_none() {
                targets(statement, &mut procedural);
            }
        }
        Self {
            module,
            widths,
            procedural,
        }
    }

    fn module(&self) -> String {
        let mut text = String::new();
        for line in &self.module.doc {
            text += format!("// {line}").trim_end();
            text.push('\n');
        }
        let _ = writeln!(text, "module {} (", self.module.name);
        let ports: Vec<&Declaration> = self.module.ports().collect();
        for (position, port) in ports.iter().enumerate() {
            let direction = if port.kind == Kind::Input {
                "input"
            } else {
                "output"
            };
            let is_register = match &self.module.custom {
                // Hand-written text drives an output in a block, unless it assigns it.
                Some(text) => port.kind == Kind::Output && !text.contains(&format!("assign {} =", port.name)),
                None => self.procedural.contains(&port.name),
            };
            let net = if is_register { "reg" } else { "wire" };
            let comma = if position + 1 < ports.len() { "," } else { "" };
            let doc = if port.doc.is_empty() {
                String::new()
            } else {
                format!(" // {}", port.doc)
            };
            let _ = writeln!(
                text,
                "    {direction} {net} {}{}{comma}{doc}",
                range(port.width),
                port.name
            );
        }
        text += ");\n";
        if let Some(custom) = &self.module.custom {
            text += custom;
            if !custom.ends_with('\n') {
                text.push('\n');
            }
            text += "endmodule\n";
            return text;
        }
        self.declarations(&mut text);
        self.instances(&mut text);
        if !self.module.combinational.is_empty() {
            text.push('\n');
        }
        for statement in &self.module.combinational {
            self.top_level(statement, &mut text);
        }
        self.registers(&mut text);
        text += "endmodule\n";
        text
    }

    fn declarations(&self, text: &mut String) {
        let inner = self
            .module
            .declarations
            .iter()
            .filter(|d| matches!(d.kind, Kind::Wire | Kind::Register));
        let mut first = true;
        for declaration in inner {
            if std::mem::take(&mut first) {
                text.push('\n');
            }
            let net = if self.procedural.contains(&declaration.name) {
                "reg"
            } else {
                "wire"
            };
            // What `Builder::unused` sinks is unused on purpose.
            let attribute = if declaration.name.starts_with("unused_") {
                "(* maybe_unused *) "
            } else {
                ""
            };
            let (range, name) = (range(declaration.width), &declaration.name);
            let _ = writeln!(text, "    {attribute}{net} {range}{name};");
        }
    }

    fn instances(&self, text: &mut String) {
        for instance in &self.module.instances {
            let _ = writeln!(text, "\n    {} {} (", instance.module.name, instance.name);
            for (position, (port, outer)) in instance.connections.iter().enumerate() {
                let comma = if position + 1 < instance.connections.len() {
                    ","
                } else {
                    ""
                };
                let _ = writeln!(text, "        .{port}({outer}){comma}");
            }
            *text += "    );\n";
        }
    }

    fn top_level(&self, statement: &Statement, text: &mut String) {
        match continuous_parts(statement) {
            Some((target, branches, default)) => {
                let width = self.width(target);
                let _ = write!(text, "    assign {} = ", self.target(target));
                for (condition, value) in branches {
                    let _ = write!(
                        text,
                        "{} ? {}\n        : ",
                        self.expression(condition, Some(1)),
                        self.expression(value, width)
                    );
                }
                let _ = writeln!(text, "{};", self.expression(default, width));
            }
            None => {
                if let Statement::SliceAssignment {
                    base,
                    width,
                    offset,
                    replacement,
                } = statement
                    && let Expression::Literal(offset) = offset
                {
                    let low = offset.as_usize();
                    let range = match (low, *width) {
                        (0, w) if self.width(base) == Some(w as u32) => String::new(),
                        (low, 1) => format!("[{low}]"),
                        (low, width) => format!("[{}:{low}]", low + width - 1),
                    };
                    let value = self.expression(replacement, Some(*width as u32));
                    let _ = writeln!(text, "    assign {}{range} = {value};", self.target(base));
                } else if let Statement::Comment(comment) = statement {
                    let _ = writeln!(text, "    // {comment}");
                } else {
                    *text += "    always @(*) begin\n";
                    self.statement(statement, 2, "=", text);
                    *text += "    end\n";
                }
            }
        }
    }

    fn registers(&self, text: &mut String) {
        let mut position = 0;
        while position < self.module.clocked.len() {
            // Neighbours with the same enable and the same reset share a block.
            let key = |c: &Clocked| {
                let condition = |c: &Option<Expression>| c.as_ref().map(|c| self.expression(c, Some(1)));
                (condition(&c.enable), c.reset.is_some(), condition(&c.clear))
            };
            let group_key = key(&self.module.clocked[position]);
            let length = self.module.clocked[position..]
                .iter()
                .take_while(|c| key(c) == group_key)
                .count();
            let group = &self.module.clocked[position..position + length];
            position += length;
            *text += "\n    always @(posedge clk) begin\n";
            let (enable, has_reset, clear) = group_key;
            let mut indent = "        ";
            if has_reset {
                *text += &match &clear {
                    Some(clear) if clear.contains(' ') => format!("        if (rst | ({clear})) begin\n"),
                    Some(clear) => format!("        if (rst | {clear}) begin\n"),
                    None => "        if (rst) begin\n".into(),
                };
                for clocked in group {
                    let width = self.widths[clocked.target.as_str()];
                    let _ = writeln!(
                        text,
                        "            {} <= {width}'h{:x};",
                        clocked.target,
                        clocked.reset.unwrap_or_default()
                    );
                }
                *text += match &enable {
                    Some(enable) => format!("        end else if ({enable}) begin\n"),
                    None => "        end else begin\n".into(),
                }
                .as_str();
                indent = "            ";
            } else if let Some(enable) = &enable {
                let _ = writeln!(text, "        if ({enable}) begin");
                indent = "            ";
            }
            for clocked in group {
                let width = self.widths[clocked.target.as_str()];
                let value = self.expression(&clocked.value, Some(width));
                let _ = writeln!(text, "{indent}{} <= {value};", clocked.target);
            }
            if indent.len() > 8 {
                *text += "        end\n";
            }
            *text += "    end\n";
        }
    }

    fn statement(&self, statement: &Statement, depth: usize, assign: &str, text: &mut String) {
        let indent = "    ".repeat(depth);
        match statement {
            Statement::Assignment(target, value) => {
                let value = self.expression(value, self.width(target));
                let _ = writeln!(text, "{indent}{} {assign} {value};", self.target(target));
            }
            Statement::SliceAssignment {
                base,
                width,
                offset,
                replacement,
            } => {
                let value = self.expression(replacement, Some(*width as u32));
                let _ = writeln!(
                    text,
                    "{indent}{}[{} +: {width}] {assign} {value};",
                    self.target(base),
                    self.expression(offset, None)
                );
            }
            Statement::If(conditional) => {
                text.push_str(&indent);
                self.conditional(conditional, depth, assign, text);
            }
            Statement::Match(m) => self.case(m, depth, assign, text),
            Statement::Comment(comment) => {
                let _ = writeln!(text, "{indent}// {comment}");
            }
            Statement::Macro(block) => self.block(block, depth, assign, text),
            Statement::Loop(_) | Statement::Link(_) => {
                unreachable!(
                    "{}: loops and links are resolved before printing",
                    self.module.name
                )
            }
        }
    }

    fn block(&self, block: &VerilogBlock, depth: usize, assign: &str, text: &mut String) {
        block.iter().for_each(|s| self.statement(s, depth, assign, text));
    }

    fn conditional(&self, conditional: &VerilogConditional, depth: usize, assign: &str, text: &mut String) {
        let indent = "    ".repeat(depth);
        let _ = writeln!(text, "if ({}) begin", self.expression(&conditional.test, Some(1)));
        self.block(&conditional.then, depth + 1, assign, text);
        match &conditional.otherwise {
            VerilogBlockOrConditional::None => *text += &format!("{indent}end\n"),
            VerilogBlockOrConditional::Conditional(next) if matches!(**next, Statement::If(_)) => {
                let Statement::If(next) = &**next else {
                    unreachable!()
                };
                *text += &format!("{indent}end else ");
                self.conditional(next, depth, assign, text);
            }
            VerilogBlockOrConditional::Conditional(next) => {
                *text += &format!("{indent}end else begin\n");
                self.statement(next, depth + 1, assign, text);
                *text += &format!("{indent}end\n");
            }
            VerilogBlockOrConditional::Block(otherwise) => {
                *text += &format!("{indent}end else begin\n");
                self.block(otherwise, depth + 1, assign, text);
                *text += &format!("{indent}end\n");
            }
        }
    }

    fn case(&self, m: &VerilogMatch, depth: usize, assign: &str, text: &mut String) {
        let indent = "    ".repeat(depth);
        let _ = writeln!(text, "{indent}case ({})", self.expression(&m.test, None));
        let width = self.width(&m.test).unwrap_or(32);
        for case in &m.cases {
            // Labels are decimal numbers, or `_`: see `import`.
            let label = match case.condition.parse::<u64>() {
                Ok(value) => format!("{width}'h{value:x}"),
                Err(_) => "default".into(),
            };
            let _ = writeln!(text, "{indent}    {label}: begin");
            self.block(&case.block, depth + 2, assign, text);
            let _ = writeln!(text, "{indent}    end");
        }
        let _ = writeln!(text, "{indent}endcase");
    }

    fn target(&self, target: &Expression) -> String {
        self.expression(target, None)
    }

    /// Width of an expression, or `None` for a literal that takes the width of what it stands beside.
    fn width(&self, expression: &Expression) -> Option<u32> {
        match expression {
            Expression::Signal(name) => self.widths.get(name.as_str()).copied(),
            Expression::Literal(_) => None,
            Expression::Cast(_, width) | Expression::Slice(_, width, _) => Some(*width as u32),
            Expression::Signed(inner) | Expression::Unsigned(inner) | Expression::Paren(inner) => {
                self.width(inner)
            }
            Expression::Index(..) => Some(1),
            Expression::IndexReplace(base, ..) => self.width(base),
            Expression::Unary(VerilogOpUnary::All | VerilogOpUnary::Any | VerilogOpUnary::Xor, _) => Some(1),
            Expression::Unary(_, inner) => self.width(inner),
            Expression::Binary(left, operator, right) => match operator {
                VerilogOp::Eq
                | VerilogOp::Ne
                | VerilogOp::Lt
                | VerilogOp::Le
                | VerilogOp::Ge
                | VerilogOp::Gt
                | VerilogOp::LogicalAnd
                | VerilogOp::LogicalOr => Some(1),
                VerilogOp::Shl | VerilogOp::Shr => self.width(left),
                _ => self.width(left).or_else(|| self.width(right)),
            },
        }
    }

    /// The expression's text; `context` is the width that a bare literal takes.
    fn expression(&self, expression: &Expression, context: Option<u32>) -> String {
        match expression {
            Expression::Signal(name) => name.clone(),
            Expression::Literal(literal) => literal_text(literal, context),
            Expression::Paren(inner) => self.expression(inner, context),
            Expression::Unsigned(inner) => format!("$unsigned({})", self.expression(inner, context)),
            Expression::Signed(inner) => format!("$signed({})", self.expression(inner, context)),
            Expression::Cast(inner, width) => self.cast(inner, *width as u32),
            Expression::Unary(operator, inner) => {
                let symbol = match operator {
                    VerilogOpUnary::Not => "~",
                    VerilogOpUnary::Neg => "-",
                    VerilogOpUnary::All => "&",
                    VerilogOpUnary::Any => "|",
                    VerilogOpUnary::Xor => "^",
                };
                format!("({symbol}{})", self.expression(inner, context))
            }
            Expression::Binary(left, operator, right) => self.binary(left, operator, right, context),
            Expression::Index(base, position) => {
                format!("{}[{}]", self.expression(base, None), self.position(position))
            }
            Expression::Slice(base, width, offset) => match &**offset {
                Expression::Literal(low) => {
                    let low = low.as_usize();
                    format!("{}[{}:{low}]", self.expression(base, None), low + width - 1)
                }
                offset => {
                    format!(
                        "{}[{} +: {width}]",
                        self.expression(base, None),
                        self.position(offset)
                    )
                }
            },
            Expression::IndexReplace(base, position, bit) => {
                let width = self.width(base).unwrap_or(1);
                let (base, position) = (self.expression(base, None), self.position(position));
                let bit = self.expression(bit, Some(1));
                let one = format!("{width}'h1");
                let bit = if width > 1 {
                    format!("{{{}'h0, {bit}}}", width - 1)
                } else {
                    bit
                };
                format!("(({base} & (~({one} << {position}))) | ({bit} << {position}))")
            }
        }
    }

    fn position(&self, position: &Expression) -> String {
        match position {
            Expression::Literal(value) => value.as_usize().to_string(),
            other => self.expression(other, None),
        }
    }

    fn binary(
        &self,
        left: &Expression,
        operator: &VerilogOp,
        right: &Expression,
        context: Option<u32>,
    ) -> String {
        let symbol = match operator {
            VerilogOp::Add => "+",
            VerilogOp::Sub => "-",
            VerilogOp::Mul => "*",
            VerilogOp::LogicalAnd => "&&",
            VerilogOp::LogicalOr => "||",
            VerilogOp::BitXor => "^",
            VerilogOp::BitAnd => "&",
            VerilogOp::BitOr => "|",
            VerilogOp::Shl => "<<",
            VerilogOp::Shr => ">>",
            VerilogOp::Eq => "==",
            VerilogOp::Lt => "<",
            VerilogOp::Le => "<=",
            VerilogOp::Ne => "!=",
            VerilogOp::Ge => ">=",
            VerilogOp::Gt => ">",
        };
        let shift = matches!(operator, VerilogOp::Shl | VerilogOp::Shr);
        // A bare literal takes its neighbour's width, or else that of the whole; a shift count has its own.
        let of_operands = self.width(left).or_else(|| self.width(right));
        let inner = match operator {
            VerilogOp::Eq | VerilogOp::Ne | VerilogOp::Lt | VerilogOp::Le | VerilogOp::Ge | VerilogOp::Gt => {
                of_operands
            }
            _ => of_operands.or(context),
        };
        let right = self.expression(right, if shift { None } else { inner });
        format!("({} {symbol} {right})", self.expression(left, inner))
    }

    fn cast(&self, inner: &Expression, width: u32) -> String {
        match inner {
            Expression::Literal(literal) => literal_text(literal, Some(width)),
            Expression::Signed(signed) => {
                let own = self.width(signed).unwrap_or(width);
                let text = self.expression(signed, None);
                match (own, width - own) {
                    (_, 0) => text,
                    (1, _) => format!("{{{width}{{{text}}}}}"),
                    (_, more) => format!("{{{{{more}{{{text}[{}]}}}}, {text}}}", own - 1),
                }
            }
            other => {
                let text = self.expression(other, Some(width));
                match self.width(other) {
                    Some(own) if own < width => format!("{{{}'h0, {text}}}", width - own),
                    Some(own) if own > width => {
                        // Only a name can be cut; anything else keeps its width and is masked, as rust-hdl does.
                        match other {
                            Expression::Signal(_) if width == 1 => format!("{text}[0]"),
                            Expression::Signal(_) => format!("{text}[{}:0]", width - 1),
                            _ => format!("({text} & {own}'h{:x})", (1u128 << width.min(127)) - 1),
                        }
                    }
                    _ => text,
                }
            }
        }
    }
}

fn range(width: u32) -> String {
    if width == 1 {
        String::new()
    } else {
        format!("[{}:0] ", width - 1)
    }
}

/// A literal with the width it is used at: rust-hdl's own width is that of the Rust integer it came from.
fn literal_text(literal: &VerilogLiteral, width: Option<u32>) -> String {
    let own = literal.to_string();
    let Some(width) = width else { return own };
    let hexadecimal = format!("{literal:x}");
    let digits = hexadecimal.split_once("'h").map_or("0", |(_, digits)| digits);
    format!("{width}'h{digits}")
}

/// A statement that is one continuous assignment: its target, its conditional branches, its default.
type Continuous<'a> = (
    &'a Expression,
    Vec<(&'a Expression, &'a Expression)>,
    &'a Expression,
);

fn continuous_parts(statement: &Statement) -> Option<Continuous<'_>> {
    match statement {
        Statement::Assignment(target @ Expression::Signal(_), value) => Some((target, Vec::new(), value)),
        Statement::If(conditional) => {
            let [Statement::Assignment(target, value)] = conditional.then.as_slice() else {
                return None;
            };
            let otherwise = match &conditional.otherwise {
                VerilogBlockOrConditional::Block(block) => match block.as_slice() {
                    [single] => single,
                    _ => return None,
                },
                VerilogBlockOrConditional::Conditional(next) => next,
                VerilogBlockOrConditional::None => return None,
            };
            let (other, mut branches, default) = continuous_parts(otherwise)?;
            if target_name(other) != target_name(target) {
                return None;
            }
            branches.insert(0, (&conditional.test, value));
            Some((target, branches, default))
        }
        _ => None,
    }
}
