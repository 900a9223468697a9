//! Pure statements: a pattern of a table with registers in place of its letters.

use super::body::{Body, Value};
use super::class::Class;
use super::tables::Table;

/// Returns the class of a letter's registers, for a mnemonic with these types.
fn class_of(letter: char, types: &[Class]) -> Class {
    let last = types.last().copied().unwrap_or(Class::B32);
    match letter {
        't' | 'z' | 'q' | 'k' => last,
        'u' => types.first().copied().unwrap_or(Class::B32),
        'w' => last.twice(),
        'p' => Class::Pred,
        'h' => Class::B16,
        'd' => Class::B64,
        'f' => Class::F32,
        'g' => Class::F64,
        'a' => Class::F16,
        _ => Class::B32,
    }
}

/// Returns the registers in a text: begin, end, letter and number of each.
fn places(text: &str) -> Vec<(usize, usize, char, usize)> {
    let place = |(at, _): (usize, &str)| {
        let letter = text[at + 1..].chars().next()?;
        let digits = text[at + 2..].chars().take_while(char::is_ascii_digit).count();
        let number = text[at + 2..at + 2 + digits].parse().ok()?;
        Some((at, at + 2 + digits, letter, number))
    };
    text.match_indices('%').filter_map(place).collect()
}

/// Returns the end of an instruction's results, after its first operand.
fn end_of_results(instruction: &str) -> usize {
    let start = instruction.find(' ').map_or(instruction.len(), |at| at + 1);
    let operands = &instruction[start..];
    let end = if operands.starts_with('{') { operands.find('}') } else { operands.find(',') };
    start + end.unwrap_or(operands.len())
}

/// Whether ptxas loses the guard of such an instruction, in part or completely.
fn loses_guard(mnemonic: &str) -> bool {
    mnemonic.starts_with("testp.") || mnemonic.starts_with("set.")
}

/// A bound register of a pattern.
struct Bound {
    number: usize,
    value: Value,
    /// Whether it is a result that is not readable yet.
    is_new: bool,
}

impl Body {
    /// Appends an instruction or a sequence of a table.
    pub(super) fn instruction(&mut self, table: Table) {
        let pattern = self.drawn.weighted(table);
        let text = self.drawn.pattern(pattern);
        self.write_pattern(&text);
    }

    /// Appends a pattern without choices.
    pub(super) fn write_pattern(&mut self, text: &str) {
        let instructions: Vec<&str> = text.split(';').map(str::trim).collect();
        let mut bound: Vec<Bound> = Vec::new();
        let mut is_uniform = true;
        let mut lines = Vec::new();
        for instruction in &instructions {
            let mnemonic = instruction.split(' ').next().unwrap_or_default();
            let types: Vec<Class> = mnemonic.split('.').filter_map(Class::of_type).collect();
            let end = end_of_results(instruction);
            let mut line = String::new();
            let mut from = 0;
            // Results are bound last: a variable is read before its new value.
            let places = places(instruction);
            for &(_, _, letter, number) in places.iter().filter(|place| place.0 >= end) {
                if !bound.iter().any(|one| one.number == number) {
                    let value = self.operand(letter, class_of(letter, &types));
                    is_uniform &= value.is_uniform;
                    bound.push(Bound { number, value, is_new: false });
                }
            }
            for &(at, _, letter, number) in places.iter().filter(|place| place.0 < end) {
                if !bound.iter().any(|one| one.number == number) {
                    let class = class_of(letter, &types);
                    // Two results must be different registers.
                    let is_first = at <= instruction.find('%').unwrap_or_default();
                    let variable = if is_first && self.drawn.is(22) { self.variable(class) } else { None };
                    let is_new = variable.is_none();
                    let value = variable.unwrap_or_else(|| Value {
                        name: self.register(class),
                        class,
                        is_uniform: false,
                        is_variable: false,
                    });
                    bound.push(Bound { number, value, is_new });
                }
            }
            for (at, to, _, number) in places {
                line += &instruction[from..at];
                line += bound.iter().find(|one| one.number == number).map_or("_", |one| one.value.name.as_str());
                from = to;
            }
            lines.push(line + &instruction[from..]);
        }
        let guard = self.guard(&bound, &lines);
        for line in &lines {
            self.line(&format!("{guard}{line}"));
        }
        for one in bound.iter().filter(|one| one.is_new) {
            self.define(&one.value.name, one.value.class, is_uniform && guard.is_empty());
        }
    }

    /// Returns a predicate for an instruction whose results were all defined before, or nothing.
    fn guard(&mut self, bound: &[Bound], lines: &[String]) -> String {
        let is_new = bound.iter().any(|one| one.is_new);
        if is_new || lines.len() > 1 || !self.has_known && loses_guard(&lines[0]) || !self.drawn.is(35) {
            return String::new();
        }
        let not = self.drawn.one_of(&["", "!"]);
        format!("@{not}{} ", self.variable_or_value(Class::Pred).name)
    }

    /// Returns a source operand of a letter.
    fn operand(&mut self, letter: char, class: Class) -> Value {
        let ty = class.number_type();
        match letter {
            'k' => {
                let integers = if class == Class::F64 { Class::B64 } else { Class::B32 };
                let bits = self.source(integers);
                let name = self.register(class);
                self.line(&format!("mov.{} {name}, {}", class.bits_type(), bits.name));
                Value { name, class, ..bits }
            }
            'z' => {
                let value = self.source(class);
                let limit = self.drawn.one_of(&["or", "max"]);
                let ty = if limit == "or" { class.bits_type() } else { ty };
                self.limited(&value, &format!("{limit}.{ty}"), 1)
            }
            'q' => {
                let value = self.source(class);
                let bits = class.bits();
                let limit = -(i64::MAX >> (64 - bits));
                self.limited(&value, &format!("max.s{bits}"), limit)
            }
            'm' | 'b' => {
                let value = self.source(Class::B32);
                self.limited(&value, "and.b32", if letter == 'm' { 31 } else { 255 })
            }
            _ => self.source(class),
        }
    }

    /// Returns a value after an operation with a constant.
    pub(super) fn limited(&mut self, value: &Value, op: &str, limit: i64) -> Value {
        let name = self.register(value.class);
        self.line(&format!("{op} {name}, {}, {limit}", value.name));
        self.define(&name, value.class, value.is_uniform)
    }
}
