//! Instructions on whole words that are equivalent to a SIMD video instruction.
//!
//! The top bit of each part is separated from the low bits. Sums and differences of the low bits fit into the part. The
//! top bit of such a result shows whether the low bits carried, or did not borrow. Together with the top bits of both
//! operands, it determines the result's top bit, overflow, and which operand is less. Each of these takes one `lop3`;
//! `prmt` then copies a part's top bit to all bits of the part.

use std::fmt::Write as _;

use super::operation::{Comparison, Kind, Operation};

/// The truth tables of the three inputs of `lop3`, from which other tables are computed.
const A: u8 = 0xf0;
const B: u8 = 0xcc;
const C: u8 = 0xaa;

/// Selects bits of `a` where `c` is set, and bits of `b` elsewhere: the table of `lop3 a, b, c`.
const CHOOSE_BY_C: u8 = (A & C) | (B & !C);

/// A sequence of instructions, each of which writes a new register. The last one writes the result.
pub(super) struct Sequence<'a> {
    operation: Operation,
    a: &'a str,
    b: &'a str,
    statements: String,
    temporaries: u32,
}

impl<'a> Sequence<'a> {
    /// Returns a scope that writes the operation's result for `a` and `b` to `result`. It reads both before it writes.
    pub(super) fn text(operation: Operation, result: &str, a: &'a str, b: &'a str) -> String {
        let mut sequence = Self { operation, a, b, statements: String::new(), temporaries: 0 };
        let last = sequence.compute();
        let Self { statements, temporaries, .. } = sequence;
        let names: Vec<String> = (0..temporaries).map(|number| format!("{NAME}{number}")).collect();
        format!("{{ .reg .b32 {};{statements} mov.b32 {result}, {last}; }}", names.join(", "))
    }

    fn compute(&mut self) -> String {
        let (a, b, kind) = (self.a, self.b, self.operation.kind);
        match kind {
            Kind::Add => self.saturated_sum(),
            Kind::Subtract => self.saturated_difference(),
            Kind::Set(comparison) => {
                let top = match comparison {
                    Comparison::Equal => self.differs(false),
                    Comparison::NotEqual => self.differs(true),
                    Comparison::Less => self.less(a, b, true).1,
                    Comparison::GreaterOrEqual => self.less(a, b, false).1,
                    Comparison::Greater => self.less(b, a, true).1,
                    Comparison::LessOrEqual => self.less(b, a, false).1,
                };
                self.one_where_top_is_set(&top)
            }
            Kind::Minimum | Kind::Maximum => {
                let (_, less) = self.less(a, b, true);
                let mask = self.spread(&less);
                if kind == Kind::Minimum {
                    self.lop3(a, b, &mask, CHOOSE_BY_C)
                } else {
                    self.lop3(b, a, &mask, CHOOSE_BY_C)
                }
            }
            Kind::Average => {
                let other = self.binary("xor", a, b);
                let half = self.binary("shr", &other, "1");
                let half = self.binary("and", &half, &self.low_bits());
                let either = self.binary("or", a, b);
                self.binary("sub", &either, &half)
            }
            Kind::Distance { saturates } => {
                let (difference, less) = self.less(a, b, true);
                let mask = self.spread(&less);
                let top = self.top_of_difference();
                // Negates negative differences: inverts the bits and adds one.
                let turned = self.lop3(&difference, &top, &mask, A ^ B ^ C);
                let one = self.binary("and", &mask, &self.ones());
                let distance = self.binary("add", &turned, &one);
                if !saturates {
                    return distance;
                }
                let mask = self.spread(&distance);
                self.lop3(&distance, &self.low_bits(), &mask, (A & !C) | (B & C))
            }
        }
    }

    fn saturated_sum(&mut self) -> String {
        let (a, b, top) = (self.a, self.b, self.top_bits());
        let (left, right) = (self.binary("and", a, &self.low_bits()), self.binary("and", b, &self.low_bits()));
        let sum = self.binary("add", &left, &right);
        let differs = self.lop3(a, b, &top, (A ^ B) & C);
        if self.operation.is_signed {
            // Both operands have the same sign, and the result has the other.
            let overflow = self.lop3(a, b, &sum, !(A ^ B) & (B ^ C));
            let limit = self.limit(&self.low_bits());
            return self.limited(&overflow, &limit, &sum, &differs);
        }
        let carry = self.lop3(a, b, &sum, (A & B) | (A & C) | (B & C));
        let mask = self.spread(&carry);
        self.lop3(&sum, &differs, &mask, (A ^ B) | C)
    }

    fn saturated_difference(&mut self) -> String {
        let (a, b) = (self.a, self.b);
        if self.operation.is_signed {
            let difference = self.difference(a, b);
            let top = self.top_of_difference();
            // The operands' signs differ, and the result has the sign of the second operand.
            let overflow = self.lop3(a, b, &difference, (A ^ B) & !(B ^ C));
            let limit = self.limit(&self.top_bits());
            return self.limited(&overflow, &limit, &difference, &top);
        }
        let (difference, less) = self.less(a, b, true);
        let top = self.top_of_difference();
        let mask = self.spread(&less);
        self.lop3(&difference, &top, &mask, (A ^ B) & !C)
    }

    /// Returns the saturated value of each part. It is computed from the second operand's sign, because the second
    /// operand is more often a constant than the first.
    fn limit(&mut self, bits: &str) -> String {
        let sign = self.spread(self.b);
        self.binary("xor", &sign, bits)
    }

    /// Returns `limit` in parts that overflow, and elsewhere `computed` with its top bits corrected by `top`.
    fn limited(&mut self, overflow: &str, limit: &str, computed: &str, top: &str) -> String {
        let mask = self.spread(overflow);
        let computed = self.binary("xor", computed, top);
        self.lop3(limit, &computed, &mask, CHOOSE_BY_C)
    }

    /// Returns the differences of the low bits. The top bit of a part is clear if the part borrows.
    fn difference(&mut self, a: &str, b: &str) -> String {
        let (left, right) = (self.binary("or", a, &self.top_bits()), self.binary("and", b, &self.low_bits()));
        self.binary("sub", &left, &right)
    }

    /// Returns the mask that turns the top bits of [`difference`](Self::difference) into those of `a - b`.
    fn top_of_difference(&mut self) -> String {
        self.lop3(self.a, self.b, &self.top_bits(), (A ^ !B) & C)
    }

    /// Returns [`difference`](Self::difference), and a word whose top bits are set where the first operand is less than
    /// the second. If `is_less` is false, the top bits are set where it is not less.
    fn less(&mut self, a: &str, b: &str, is_less: bool) -> (String, String) {
        let difference = self.difference(a, b);
        // Of two signed numbers with different top bits, the one with a set top bit is less.
        let (a_is_low, b_is_high) = if self.operation.is_signed { (A, !B) } else { (!A, B) };
        let table = (a_is_low & b_is_high) | ((a_is_low | b_is_high) & !C);
        let less = self.lop3(a, b, &difference, if is_less { table } else { !table });
        (difference, less)
    }

    /// Returns a word whose top bits are set where the operands differ. If `is_other` is false, they are set where the
    /// operands are equal.
    fn differs(&mut self, is_other: bool) -> String {
        let low_bits = self.low_bits();
        let low = self.lop3(self.a, self.b, &low_bits, (A ^ B) & C);
        // The sum carries into the top bit unless all low bits are equal.
        let carried = self.binary("add", &low, &low_bits);
        let table = (A ^ B) | C;
        self.lop3(self.a, self.b, &carried, if is_other { table } else { !table })
    }

    fn one_where_top_is_set(&mut self, word: &str) -> String {
        let shift = (self.operation.bits - 1).to_string();
        let shifted = self.binary("shr", word, &shift);
        self.binary("and", &shifted, &self.ones())
    }

    /// Copies the top bit of each part to all bits of the part.
    fn spread(&mut self, word: &str) -> String {
        let selector = if self.operation.bits == 8 { "0xba98" } else { "0xbb99" };
        self.statement(&format!("prmt.b32 {{}}, {word}, 0, {selector};"))
    }

    fn binary(&mut self, word: &str, a: &str, b: &str) -> String {
        let ty = if matches!(word, "and" | "or" | "xor") { "b32" } else { "u32" };
        self.statement(&format!("{word}.{ty} {{}}, {a}, {b};"))
    }

    fn lop3(&mut self, a: &str, b: &str, c: &str, table: u8) -> String {
        self.statement(&format!("lop3.b32 {{}}, {a}, {b}, {c}, {table:#04x};"))
    }

    /// Adds a statement that writes a new register. `{}` in the text stands for the register.
    fn statement(&mut self, text: &str) -> String {
        let result = format!("{NAME}{}", self.temporaries);
        self.temporaries += 1;
        let _ = write!(self.statements, " {}", text.replacen("{}", &result, 1));
        result
    }

    fn top_bits(&self) -> String {
        self.constant(1 << (self.operation.bits - 1))
    }

    fn low_bits(&self) -> String {
        self.constant((1 << (self.operation.bits - 1)) - 1)
    }

    fn ones(&self) -> String {
        self.constant(1)
    }

    /// Returns a word with the same number in each part.
    fn constant(&self, part: u32) -> String {
        let word = if self.operation.bits == 8 { part * 0x0101_0101 } else { part * 0x0001_0001 };
        format!("{word:#x}")
    }
}

/// The prefix of the new registers' names.
pub(super) const NAME: &str = "nvptx_ra_part";
