//! The kernel's own functions in a `print fmt`: `__print_flags`, `__get_str` and their like
//! (the kernel's `include/trace/stages/stage3_trace_output.h`).

use super::c_type::{IntType, Number, TypeName};
use super::eval::constant;
use super::expr::{BinaryOperator, Call, Expr, Line};
use super::parser::{Parsed, ParsedNode, Parser};

impl<'t> Parser<'t> {
    /// The call of `name`, after its opening parenthesis.
    pub(crate) fn call(&mut self, name: &str) -> Parsed<ParsedNode> {
        match name {
            "__print_symbolic" | "__print_symbolic_u64" | "__print_symbolic64" => {
                let value = self.argument()?;
                let table = self.table()?;
                self.grown(
                    value.height,
                    call(Call::Symbolic { value: value.expr, table, wide: name != "__print_symbolic" }),
                )
            }
            "__print_flags" | "__print_flags_u64" | "__print_flags64" => {
                let value = self.argument()?;
                let Some(delimiter) = self.texts() else { return self.fail("a delimiter is missing") };
                self.eat(",");
                let table = self.table()?;
                self.grown(value.height, call(Call::Flags { value: value.expr, delimiter, table }))
            }
            "__print_hex" | "__print_hex_str" => {
                let [buffer, length] = self.arguments()?;
                let height = buffer.height.max(length.height);
                let blanks = name == "__print_hex";
                let hex = Call::Hex { buffer: buffer.expr, length: length.expr, blanks };
                self.grown(height, call(hex))
            }
            "__print_array" => {
                let [buffer, count, size] = self.arguments()?;
                let height = buffer.height.max(count.height).max(size.height);
                let array = Call::Array { buffer: buffer.expr, count: count.expr, size: size.expr };
                self.grown(height, call(array))
            }
            "__print_dynamic_array" => self.dynamic_elements(),
            "__print_hex_dump" => self.hex_dump(),
            "__builtin_expect" => {
                let [value, _] = self.arguments()?;
                Ok(value)
            }
            "__print_ns_to_secs" | "__print_ns_without_secs" => self.nanoseconds(name),
            _ => self.field_call(name),
        }
    }

    /// Calls whose only argument is the name of a field.
    fn field_call(&mut self, name: &str) -> Parsed<ParsedNode> {
        let make: fn(usize) -> Call = match name {
            "__get_str" | "__get_rel_str" | "__get_dynamic_array" | "__get_rel_dynamic_array" => {
                Call::Dynamic
            }
            "__get_dynamic_array_len" | "__get_rel_dynamic_array_len" => Call::DynamicLength,
            "__get_bitmask" | "__get_rel_bitmask" | "__get_cpumask" | "__get_rel_cpumask" => Call::Bitmask,
            "__get_sockaddr" | "__get_rel_sockaddr" | "__get_sockaddr_rel" => Call::Sockaddr,
            _ => return self.fail("a function that only the kernel has"),
        };
        let field = self.need_name()?;
        let index = self.field(field)?;
        self.need(")")?;
        Ok(ParsedNode::leaf(call(make(index))))
    }

    /// An expression and the comma after it.
    fn argument(&mut self) -> Parsed<ParsedNode> {
        let node = self.expression()?;
        self.need(",")?;
        Ok(node)
    }

    /// Exactly that many arguments and the closing parenthesis.
    fn arguments<const COUNT: usize>(&mut self) -> Parsed<[ParsedNode; COUNT]> {
        let mut nodes = Vec::with_capacity(COUNT);
        for index in 0..COUNT {
            if index > 0 {
                self.need(",")?;
            }
            nodes.push(self.expression()?);
        }
        self.need(")")?;
        nodes.try_into().or_else(|_| self.fail("a wrong number of arguments"))
    }

    /// `{ number, "name" }, ...` and the closing parenthesis.
    fn table(&mut self) -> Parsed<Vec<Line>> {
        let mut table = Vec::new();
        let outer = std::mem::replace(&mut self.in_table, true);
        while self.eat("{") {
            if self.eat("}") {
                self.eat(",");
                continue;
            }
            let number = self.argument()?;
            let text = match self.texts() {
                Some(text) => Some(text),
                // Some tables end in `{ -1, NULL }`: that is no line.
                None => match constant(&self.expression()?.expr) {
                    Some(zero) if !zero.is_true() => None,
                    _ => return self.fail("a name in quotes is missing"),
                },
            };
            self.eat(",");
            self.need("}")?;
            self.eat(",");
            table.extend(text.map(|text| Line { number: constant(&number.expr), text }));
        }
        self.in_table = outer;
        self.need(")")?;
        Ok(table)
    }

    /// `__print_dynamic_array(field, element_size)`
    fn dynamic_elements(&mut self) -> Parsed<ParsedNode> {
        let field = self.need_name()?;
        let index = self.field(field)?;
        self.need(",")?;
        let size = self.expression()?;
        self.need(")")?;
        self.grown(size.height, call(Call::DynamicElements { field: index, size: size.expr }))
    }

    fn hex_dump(&mut self) -> Parsed<ParsedNode> {
        let Some(prefix) = self.texts() else { return self.fail("a prefix is missing") };
        self.need(",")?;
        let outer = std::mem::replace(&mut self.in_table, true);
        let arguments = self.arguments::<6>();
        self.in_table = outer;
        let [_, _, _, buffer, length, _] = arguments?;
        let height = buffer.height.max(length.height);
        self.grown(height, call(Call::HexDump { prefix, buffer: buffer.expr, length: length.expr }))
    }

    /// Whole seconds of a number of nanoseconds, or what is left over.
    fn nanoseconds(&mut self, name: &str) -> Parsed<ParsedNode> {
        let [value] = self.arguments()?;
        // The cast is one more floor below the division.
        let height = value.height + 1;
        let value = Expr::Cast(TypeName::Int(IntType::U64), Box::new(value.expr));
        let second = Expr::Number(Number::int(1_000_000_000));
        let operator =
            if name == "__print_ns_to_secs" { BinaryOperator::Divide } else { BinaryOperator::Remainder };
        self.grown(height, Expr::Binary(operator, Box::new(value), Box::new(second)))
    }
}

fn call(call: Call) -> Expr {
    Expr::Call(Box::new(call))
}
