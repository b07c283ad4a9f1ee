//! The parser of the C expressions in a `print fmt`.
//!
//! Operators and their precedence are those of the C standard (section 6.5). Of statements only the kind that the
//! kernel's `min()` and `max()` leave behind is known: `({ int a = x; int b = y; a < b ? a : b; })`.

use super::c_type::{IntType, Number, TypeName, type_of_words};
use super::errors::ParseError;
use super::expr::{BinaryOperator, Expr, UnaryOperator};
use super::lexer::Token;
use super::{EventFormat, limits};

/// An expression and its height, which is what evaluation will need of the stack.
pub(crate) struct ParsedNode {
    pub(crate) expr: Expr,
    pub(crate) height: u16,
}

impl ParsedNode {
    pub(crate) fn leaf(expr: Expr) -> Self {
        ParsedNode { expr, height: 1 }
    }
}

/// The parser: tokens of one `print fmt` and how far it got.
pub(crate) struct Parser<'t> {
    pub(crate) format: &'t EventFormat,
    tokens: &'t [(usize, Token)],
    at: usize,
    nesting: u16,
    /// Inside the table of `__print_symbolic` and its like, where unknown enumerators are borne.
    pub(crate) in_table: bool,
    /// A variable or enumerator of the kernel was taken for 0.
    pub(crate) guessed: bool,
    locals: Vec<&'t str>,
}

pub(crate) type Parsed<T> = Result<T, ParseError>;

impl<'t> Parser<'t> {
    pub(crate) fn new(format: &'t EventFormat, tokens: &'t [(usize, Token)]) -> Self {
        Parser { format, tokens, at: 0, nesting: 0, in_table: false, guessed: false, locals: Vec::new() }
    }

    pub(crate) fn fail<T>(&self, reason: &'static str) -> Parsed<T> {
        let last = self.tokens.last().map_or(0, |(offset, _)| *offset);
        let offset = self.tokens.get(self.at).map_or(last, |(offset, _)| *offset);
        Err(ParseError { offset, reason })
    }

    pub(crate) fn peek(&self) -> Option<&'t Token> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<&'t Token> {
        self.tokens.get(self.at + ahead).map(|(_, token)| token)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(crate) fn is_next(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(Token::Mark(next)) if *next == mark)
    }

    pub(crate) fn eat(&mut self, mark: &str) -> bool {
        let found = self.is_next(mark);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn need(&mut self, mark: &str) -> Parsed<()> {
        if self.eat(mark) { Ok(()) } else { self.fail("an operator or punctuation mark is missing") }
    }

    pub(crate) fn need_name(&mut self) -> Parsed<&'t str> {
        let Some(Token::Name(name)) = self.peek() else { return self.fail("a name is missing") };
        self.at += 1;
        Ok(name)
    }

    /// String literals in a row, which C joins.
    pub(crate) fn texts(&mut self) -> Option<Vec<u8>> {
        let mut joined: Option<Vec<u8>> = None;
        while let Some(Token::Text(text)) = self.peek() {
            joined.get_or_insert_default().extend_from_slice(text);
            self.at += 1;
        }
        joined
    }

    /// The index of a field in the format.
    pub(crate) fn field(&self, name: &str) -> Parsed<usize> {
        match self.format.fields.iter().position(|field| field.name == name) {
            Some(index) => Ok(index),
            None => self.fail("a field that the event does not have"),
        }
    }

    /// A whole expression. Counts its own nesting: the text may be hostile.
    pub(crate) fn expression(&mut self) -> Parsed<ParsedNode> {
        if self.nesting >= limits::EXPRESSION_DEPTH {
            return self.fail("too deep an expression");
        }
        self.nesting += 1;
        let node = self.conditional();
        self.nesting -= 1;
        node
    }

    fn conditional(&mut self) -> Parsed<ParsedNode> {
        let condition = self.binary(1)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        if self.eat(":") {
            let no = self.expression()?;
            let height = condition.height.max(no.height);
            return self.grown(height, Expr::Otherwise(Box::new([condition.expr, no.expr])));
        }
        let yes = self.expression()?;
        self.need(":")?;
        let no = self.expression()?;
        let height = condition.height.max(yes.height).max(no.height);
        self.grown(height, Expr::Ternary(Box::new([condition.expr, yes.expr, no.expr])))
    }

    fn binary(&mut self, weakest: u8) -> Parsed<ParsedNode> {
        let mut left = self.unary()?;
        while let Some(Token::Mark(mark)) = self.peek() {
            let Some((operator, strength)) = BinaryOperator::of(mark) else { break };
            if strength < weakest {
                break;
            }
            self.at += 1;
            let right = self.binary(strength + 1)?;
            let height = left.height.max(right.height);
            left = self.grown(height, Expr::Binary(operator, Box::new(left.expr), Box::new(right.expr)))?;
        }
        Ok(left)
    }

    /// A node one higher than its highest part. A long chain of operators makes a high tree without nesting.
    pub(crate) fn grown(&self, height: u16, expr: Expr) -> Parsed<ParsedNode> {
        if height >= limits::EXPRESSION_DEPTH {
            return self.fail("too deep an expression");
        }
        Ok(ParsedNode { expr, height: height + 1 })
    }

    fn unary(&mut self) -> Parsed<ParsedNode> {
        if self.nesting >= limits::EXPRESSION_DEPTH {
            return self.fail("too deep an expression");
        }
        self.nesting += 1;
        let node = self.unary_unguarded();
        self.nesting -= 1;
        node
    }

    fn unary_unguarded(&mut self) -> Parsed<ParsedNode> {
        let operator = match self.peek() {
            Some(Token::Mark("!")) => UnaryOperator::Not,
            Some(Token::Mark("~")) => UnaryOperator::Complement,
            Some(Token::Mark("-")) => UnaryOperator::Minus,
            Some(Token::Mark("+")) => UnaryOperator::Plus,
            Some(Token::Mark("*")) => UnaryOperator::Deref,
            Some(Token::Mark("&")) => return self.address_of(),
            Some(Token::Mark("(")) => {
                if let Some((type_name, length)) = self.cast_ahead() {
                    self.at += length;
                    let inner = self.unary()?;
                    return self.grown(inner.height, Expr::Cast(type_name, Box::new(inner.expr)));
                }
                return self.postfix();
            }
            _ => return self.postfix(),
        };
        self.at += 1;
        let inner = self.unary()?;
        self.grown(inner.height, Expr::Unary(operator, Box::new(inner.expr)))
    }

    /// Only the address of a field has a meaning: its bytes.
    fn address_of(&mut self) -> Parsed<ParsedNode> {
        self.at += 1;
        let inner = self.unary()?;
        match inner.expr {
            Expr::Field(index) => Ok(ParsedNode::leaf(Expr::FieldBytes(index))),
            _ => self.fail("the address of something that is no field"),
        }
    }

    fn postfix(&mut self) -> Parsed<ParsedNode> {
        let mut node = self.primary()?;
        loop {
            if self.eat("[") {
                let index = self.expression()?;
                self.need("]")?;
                let height = node.height.max(index.height);
                node = self.grown(height, Expr::Index(Box::new(node.expr), Box::new(index.expr)))?;
            } else if self.is_next("->") || self.is_next(".") {
                return self.fail("a member of a structure");
            } else {
                return Ok(node);
            }
        }
    }

    fn primary(&mut self) -> Parsed<ParsedNode> {
        if let Some(text) = self.texts() {
            return Ok(ParsedNode::leaf(Expr::Text(text)));
        }
        match self.peek() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(ParsedNode::leaf(Expr::Number(*number)))
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                self.named(name)
            }
            Some(Token::Mark("(")) => {
                self.at += 1;
                if self.eat("{") {
                    return self.block();
                }
                if let (Some(Token::Name(name)), Some(Token::Mark(")")), Some(Token::Mark("->"))) =
                    (self.peek(), self.peek_at(1), self.peek_at(2))
                    && is_record(name)
                {
                    self.at += 2;
                    return self.named(name);
                }
                let node = self.expression()?;
                self.need(")")?;
                Ok(node)
            }
            _ => self.fail("an operand is missing"),
        }
    }

    fn long(&self) -> IntType {
        IntType { size: self.format.abi.long_size, signed: true }
    }

    fn named(&mut self, name: &'t str) -> Parsed<ParsedNode> {
        if is_record(name) && self.eat("->") {
            let field = self.need_name()?;
            return Ok(ParsedNode::leaf(Expr::Field(self.field(field)?)));
        }
        if name == "sizeof" {
            return self.size_of();
        }
        if self.eat("(") {
            return self.call(name);
        }
        if let Some(slot) = self.locals.iter().rposition(|local| *local == name) {
            return Ok(ParsedNode::leaf(Expr::Local(slot)));
        }
        match enumerator(name) {
            Some(value) => Ok(ParsedNode::leaf(Expr::Number(Number::int(value)))),
            None if self.in_table => Ok(ParsedNode::leaf(Expr::Unresolved)),
            None => {
                self.guessed = true;
                Ok(ParsedNode::leaf(Expr::Number(Number::new(0, self.long()))))
            }
        }
    }

    fn size_of(&mut self) -> Parsed<ParsedNode> {
        let long_size = self.format.abi.long_size;
        let size = if let Some((type_name, length)) = self.type_ahead() {
            self.at += length;
            type_name.size(long_size).map(u64::from)
        } else {
            match self.unary()?.expr {
                Expr::Field(index) => self.format.fields.get(index).map(|field| u64::from(field.size)),
                _ => None,
            }
        };
        match size.zip(IntType::new(u64::from(long_size), false)) {
            Some((size, int)) => Ok(ParsedNode::leaf(Expr::Number(Number::new(size, int)))),
            None => self.fail("the size of a type that the format does not describe"),
        }
    }

    /// `({ definitions; result; })`, after its opening.
    fn block(&mut self) -> Parsed<ParsedNode> {
        let outer = self.locals.len();
        let mut definitions = Vec::new();
        let mut height = 0;
        while let Some((type_name, name)) = self.definition_ahead() {
            let value = self.expression()?;
            self.need(";")?;
            height = height.max(value.height);
            definitions.push((self.locals.len(), type_name, value.expr));
            self.locals.push(name);
        }
        let mut result = self.expression()?;
        self.eat(";");
        // Statements between only check types at compile time: their values do not count.
        while !self.is_next("}") {
            result = self.expression()?;
            self.eat(";");
        }
        self.need("}")?;
        self.need(")")?;
        self.locals.truncate(outer);
        let height = height.max(result.height);
        self.grown(height, Expr::Block(definitions, Box::new(result.expr)))
    }

    /// `TYPE NAME =`, taken if it stands here.
    fn definition_ahead(&mut self) -> Option<(TypeName, &'t str)> {
        let mut words = Vec::new();
        let mut stars = 0;
        let mut ahead = 0;
        loop {
            match self.peek_at(ahead)? {
                Token::Name(word) => words.push(word.as_str()),
                Token::Mark("*") => stars += 1,
                Token::Mark("=") => break,
                _ => return None,
            }
            ahead += 1;
        }
        let name = words.pop()?;
        if words.is_empty() {
            return None;
        }
        self.at += ahead + 1;
        Some((type_of_words(&words, stars, self.format.abi.long_size), name))
    }

    /// `(TYPE)` at this place, with its length in tokens.
    pub(crate) fn type_ahead(&self) -> Option<(TypeName, usize)> {
        let mut words = Vec::new();
        let mut stars = 0;
        let mut ahead = 1;
        loop {
            match self.peek_at(ahead)? {
                Token::Name(word) if stars == 0 || word == "const" => words.push(word.as_str()),
                Token::Mark("*") if !words.is_empty() => stars += 1,
                Token::Mark(")") => break,
                _ => return None,
            }
            ahead += 1;
        }
        let first = words.first()?;
        let taken = self.locals.contains(first) || enumerator(first).is_some();
        (!taken).then(|| (type_of_words(&words, stars, self.format.abi.long_size), ahead + 1))
    }

    /// As `type_ahead`, unless it may as well be a name in parentheses.
    fn cast_ahead(&self) -> Option<(TypeName, usize)> {
        let (type_name, length) = self.type_ahead()?;
        let operand = match self.peek_at(length) {
            Some(Token::Name(_) | Token::Number(_) | Token::Text(_)) => true,
            Some(Token::Mark("(" | "!" | "~")) => true,
            Some(Token::Mark("-" | "+" | "*" | "&")) => type_name != TypeName::Opaque,
            _ => false,
        };
        operand.then_some((type_name, length))
    }
}

/// The names that stand for the payload.
fn is_record(name: &str) -> bool {
    name == "REC" || name == "__entry"
}

/// Enumerators and macros that appear by name in formats of kernels which do not resolve them.
fn enumerator(name: &str) -> Option<i32> {
    Some(match name {
        "NULL" | "false" | "FALSE" | "HI_SOFTIRQ" | "HRTIMER_NORESTART" => 0,
        "true" | "TRUE" | "TIMER_SOFTIRQ" | "HRTIMER_RESTART" => 1,
        "NET_TX_SOFTIRQ" => 2,
        "NET_RX_SOFTIRQ" => 3,
        "BLOCK_SOFTIRQ" => 4,
        "IRQ_POLL_SOFTIRQ" | "BLOCK_IOPOLL_SOFTIRQ" => 5,
        "TASKLET_SOFTIRQ" => 6,
        "SCHED_SOFTIRQ" => 7,
        "HRTIMER_SOFTIRQ" => 8,
        "RCU_SOFTIRQ" => 9,
        _ => return None,
    })
}
