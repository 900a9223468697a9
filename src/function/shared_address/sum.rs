//! Values as linear combinations of registers and symbols, modulo 2³².

use rustc_hash::FxHashMap;

use super::arithmetic::{Arithmetic, arithmetic};
use super::known_bits::Bits;
use crate::function::{Function, Inst, Operand, RegClass, Role, Symbol, VReg, Value};
use crate::index::IndexVec;

/// A value that is not decomposed further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Term {
    Register(VReg),
    Symbol(Symbol),
    /// The base of the shared-memory window in the generic address space.
    Window,
    /// A sum shifted right; an index into the shifted sums seen so far.
    Shifted(u32),
}

/// The terms of a sum and their factors: sorted, without duplicates, and no factor is 0.
type Terms = Vec<(Term, u32)>;

/// The low 32 bits of a value: a number plus a linear combination of terms. Equal sums imply equal values. Equal values
/// may have different sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sum {
    terms: Terms,
    number: u32,
}

impl Sum {
    fn of_term(term: Term) -> Self {
        Self { terms: vec![(term, 1)], number: 0 }
    }

    fn of_number(number: u32) -> Self {
        Self { terms: Vec::new(), number }
    }

    /// Returns the number, and the sum without it.
    pub fn split(mut self) -> (u32, Self) {
        let number = std::mem::take(&mut self.number);
        (number, self)
    }

    fn constant(&self) -> Option<u32> {
        self.terms.is_empty().then_some(self.number)
    }

    fn times(mut self, factor: u32) -> Self {
        self.number = self.number.wrapping_mul(factor);
        self.terms.iter_mut().for_each(|term| term.1 = term.1.wrapping_mul(factor));
        self.terms.retain(|term| term.1 != 0);
        self
    }

    fn plus(mut self, other: &Self) -> Self {
        self.number = self.number.wrapping_add(other.number);
        for &(term, factor) in &other.terms {
            match self.terms.binary_search_by_key(&term, |known| known.0) {
                Ok(at) => {
                    self.terms[at].1 = self.terms[at].1.wrapping_add(factor);
                    if self.terms[at].1 == 0 {
                        self.terms.remove(at);
                    }
                }
                Err(at) => self.terms.insert(at, (term, factor)),
            }
        }
        self
    }
}

/// A sum that is shifted right.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shift {
    terms: Terms,
    number: u32,
    by: u32,
}

/// The longest chain of definitions that is followed.
const DEEPEST: u32 = 32;

/// The most terms of a sum. A register with a longer sum becomes a term itself.
const MOST_TERMS: usize = 8;

/// The sums that registers of a function hold.
///
/// A register is decomposed if its only definition dominates all its reads. If two such registers are read at one
/// point, both hold the results of the last executions of their definitions, computed from the same inputs. The reason:
/// if a path from one definition to the point avoided the other definition, a path from the entry to the point would
/// avoid it, too. But the other definition dominates the point.
pub struct Sums<'f> {
    function: &'f Function,
    definitions: &'f IndexVec<VReg, Option<Inst>>,
    sums: FxHashMap<VReg, Sum>,
    bits: FxHashMap<VReg, Bits>,
    shifts: FxHashMap<Shift, u32>,
    /// The maximum of each shifted sum.
    most_shifted: Vec<u32>,
}

impl<'f> Sums<'f> {
    /// Creates the sums of a function. `definitions` has the definition that dominates all reads of each register.
    pub fn new(function: &'f Function, definitions: &'f IndexVec<VReg, Option<Inst>>) -> Self {
        Self {
            function,
            definitions,
            sums: FxHashMap::default(),
            bits: FxHashMap::default(),
            shifts: FxHashMap::default(),
            most_shifted: Vec::new(),
        }
    }

    /// Returns the sum that a register holds. `None` if no single definition dominates its reads. Each register is
    /// examined once.
    pub fn of(&mut self, reg: VReg) -> Option<Sum> {
        self.sum(reg, 0)
    }

    fn sum(&mut self, reg: VReg, depth: u32) -> Option<Sum> {
        let inst = self.definitions[reg]?;
        if let Some(known) = self.sums.get(&reg) {
            return Some(known.clone());
        }
        let made = if depth < DEEPEST { self.computed(inst, depth + 1) } else { None };
        let sum = made.filter(|sum| sum.terms.len() <= MOST_TERMS).unwrap_or_else(|| Sum::of_term(Term::Register(reg)));
        self.sums.insert(reg, sum.clone());
        Some(sum)
    }

    /// Returns the sum that an instruction computes. `None` if the result is not a sum.
    fn computed(&mut self, inst: Inst, depth: u32) -> Option<Sum> {
        let operands = sources(self.function, inst)?;
        match self.function.role(inst) {
            Role::Copy => return self.operand(operands.first()?, depth),
            Role::Constant if is_move(self.function, inst) => return self.operand(operands.first()?, depth),
            Role::Other => {}
            _ => return None,
        }
        let arithmetic = arithmetic(self.function.opcodes().name(self.function.opcode(inst)))?;
        match (arithmetic, operands) {
            (Arithmetic::Add, [left, right]) => Some(self.operand(left, depth)?.plus(&self.operand(right, depth)?)),
            (Arithmetic::Subtract, [left, right]) => {
                Some(self.operand(left, depth)?.plus(&self.operand(right, depth)?.times(u32::MAX)))
            }
            (Arithmetic::Multiply, [left, right]) => self.product(left, right, depth),
            (Arithmetic::MultiplyAdd, [left, right, third]) => {
                Some(self.product(left, right, depth)?.plus(&self.operand(third, depth)?))
            }
            (Arithmetic::ShiftLeft, [left, right]) => {
                Some(self.operand(left, depth)?.times(1u32.checked_shl(shift_of(right)?)?))
            }
            (Arithmetic::ShiftRight, [left, right]) => self.shifted(left, shift_of(right)?, depth),
            (Arithmetic::ShiftRightSigned, [left, right]) if self.bits_of(left, depth).most() >> 31 == 0 => {
                self.shifted(left, shift_of(right)?, depth)
            }
            (Arithmetic::And, [left, right]) => {
                let mask = self.operand(right, depth)?.constant()?;
                self.bits_of(left, depth).is_disjoint(Bits::of(!mask)).then(|| self.operand(left, depth))?
            }
            (Arithmetic::Or, [left, right]) => {
                let is_sum = self.bits_of(left, depth).is_disjoint(self.bits_of(right, depth));
                is_sum.then(|| Some(self.operand(left, depth)?.plus(&self.operand(right, depth)?)))?
            }
            (Arithmetic::Same, [source, modes @ ..]) if modes.iter().all(is_zero) => self.operand(source, depth),
            // "A generic address maps to … by subtracting the window base" (PTX ISA, "Generic Addressing").
            (Arithmetic::IntoWindow, [source]) => Some(self.operand(source, depth)?.plus(&Sum::of_term(Term::Window))),
            (Arithmetic::OutOfWindow, [source]) => {
                Some(self.operand(source, depth)?.plus(&Sum::of_term(Term::Window).times(u32::MAX)))
            }
            _ => None,
        }
    }

    fn operand(&mut self, operand: &Operand, depth: u32) -> Option<Sum> {
        match operand.value {
            Value::Reg(reg) if operand.read_reg().is_some() => self.sum(reg, depth),
            Value::Immediate(value) => Some(Sum::of_number(value as u32)),
            Value::Symbol(symbol) => Some(Sum::of_term(Term::Symbol(symbol))),
            _ => None,
        }
    }

    fn product(&mut self, left: &Operand, right: &Operand, depth: u32) -> Option<Sum> {
        let (left, right) = (self.operand(left, depth)?, self.operand(right, depth)?);
        match (left.constant(), right.constant()) {
            (_, Some(factor)) => Some(left.times(factor)),
            (Some(factor), None) => Some(right.times(factor)),
            (None, None) => None,
        }
    }

    /// Returns a sum shifted right. If nothing overflows, the shifted constant is split off: `x + 32` shifted by 2 is 8
    /// plus `x` shifted by 2.
    fn shifted(&mut self, operand: &Operand, by: u32, depth: u32) -> Option<Sum> {
        let sum = self.operand(operand, depth)?;
        if let Some(number) = sum.constant() {
            return Some(Sum::of_number(number.checked_shr(by)?));
        }
        let most = sum.terms.iter().try_fold(0u64, |most, &(term, factor)| {
            most.checked_add(u64::from(factor) * u64::from(self.most_of(term, depth)))
        })?;
        let splits = most + u64::from(sum.number) <= u64::from(u32::MAX) && sum.number.trailing_zeros() >= by;
        let (number, outside) = if splits { (0, sum.number >> by) } else { (sum.number, 0) };
        let most = u32::try_from(most + u64::from(number)).unwrap_or(u32::MAX) >> by;
        let next = self.most_shifted.len() as u32;
        let shift = *self.shifts.entry(Shift { terms: sum.terms, number, by }).or_insert(next);
        if shift == next {
            self.most_shifted.push(most);
        }
        Some(Sum { number: outside, ..Sum::of_term(Term::Shifted(shift)) })
    }

    fn most_of(&mut self, term: Term, depth: u32) -> u32 {
        match term {
            Term::Register(reg) => self.bits(reg, depth).most(),
            Term::Symbol(_) | Term::Window => u32::MAX,
            Term::Shifted(shift) => self.most_shifted[shift as usize],
        }
    }

    fn bits_of(&mut self, operand: &Operand, depth: u32) -> Bits {
        match operand.value {
            Value::Reg(reg) if operand.read_reg().is_some() => self.bits(reg, depth),
            Value::Immediate(value) => Bits::of(value as u32),
            _ => Bits::ANY,
        }
    }

    fn bits(&mut self, reg: VReg, depth: u32) -> Bits {
        let Some(inst) = self.definitions[reg].filter(|_| depth < DEEPEST) else { return Bits::ANY };
        if let Some(&known) = self.bits.get(&reg) {
            return known;
        }
        let bits = self.computed_bits(inst, depth + 1);
        self.bits.insert(reg, bits);
        bits
    }

    fn computed_bits(&mut self, inst: Inst, depth: u32) -> Bits {
        let Some(operands) = sources(self.function, inst) else { return Bits::ANY };
        if let (true, [source]) = (self.function.role(inst) == Role::Copy || is_move(self.function, inst), operands) {
            return self.bits_of(source, depth);
        }
        let name = self.function.opcodes().name(self.function.opcode(inst));
        let Some(arithmetic) = arithmetic(name).filter(|_| self.function.role(inst) == Role::Other) else {
            return Bits::ANY;
        };
        let mut bits = |operand: &Operand| self.bits_of(operand, depth);
        match (arithmetic, operands) {
            (Arithmetic::Add, [left, right]) => bits(left).add(bits(right)),
            (Arithmetic::Multiply, [left, right]) => bits(left).multiply(bits(right)),
            (Arithmetic::MultiplyAdd, [left, right, third]) => bits(left).multiply(bits(right)).add(bits(third)),
            (Arithmetic::And, [left, right]) => bits(left).and(bits(right)),
            (Arithmetic::Or, [left, right]) => bits(left).or(bits(right)),
            (Arithmetic::Minimum, [left, right]) => bits(left).minimum(bits(right)),
            (Arithmetic::ShiftLeft, [left, right]) => shift_of(right).map_or(Bits::ANY, |by| bits(left).shift_left(by)),
            (Arithmetic::ShiftRight, [left, right]) => {
                shift_of(right).map_or(Bits::ANY, |by| bits(left).shift_right(by))
            }
            (Arithmetic::ShiftRightSigned, [left, right]) => match shift_of(right) {
                Some(by) if bits(left).most() >> 31 == 0 => bits(left).shift_right(by),
                _ => Bits::ANY,
            },
            (Arithmetic::Same, [source, modes @ ..]) if modes.iter().all(is_zero) => bits(source),
            (Arithmetic::AtMost(most), _) => Bits::at_most(most),
            _ => Bits::ANY,
        }
    }
}

/// Returns the source operands of an instruction that computes only one result. `None` if the result does not have 32
/// or 64 bits.
fn sources(function: &Function, inst: Inst) -> Option<&[Operand]> {
    let [result, sources @ ..] = function.operands(inst) else { return None };
    let is_word = matches!(function.class(result.def()?), RegClass::B32 | RegClass::B64);
    let is_plain = |operand: &Operand| operand.def().is_none() && operand.tied.is_none();
    (is_word && function.effects(inst).is_pure() && sources.iter().all(is_plain)).then_some(sources)
}

/// Whether a constant is an immediate or a symbol, not the address of a stack slot.
fn is_move(function: &Function, inst: Inst) -> bool {
    let name = function.opcodes().name(function.opcode(inst));
    let moved = name.strip_prefix("MOV_B32_").or_else(|| name.strip_prefix("MOV_B64_"));
    function.role(inst) == Role::Constant && matches!(moved, Some("i" | "sym"))
}

/// Whether the operand is the mode of a conversion that neither rounds nor saturates.
fn is_zero(operand: &Operand) -> bool {
    operand.as_immediate() == Some(0)
}

/// Returns a shift amount below 32.
fn shift_of(operand: &Operand) -> Option<u32> {
    match operand.value {
        Value::Immediate(by) => u32::try_from(by).ok().filter(|&by| by < 32),
        _ => None,
    }
}
