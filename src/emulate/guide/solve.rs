//! Solves for inputs that flip a predicate: follows comparisons back to parameters, loads and the shape of the launch.

use super::flow::{Known, MOST_DEPTH, computed, parameter_of};
use crate::emulate::number::{BF16, F16, Rounding};
use crate::emulate::program::{Function, Init, Inst, Op, Row, Space, Special, WarpOp};
use crate::emulate::pure::{MOST_SOURCES, Pure};
use crate::emulate::types::{Ty, low, signed};
use crate::emulate::ways::relation;

/// An input that a launch can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaf {
    /// A parameter of the kernel, or a part of it: offset and bytes.
    Parameter(u32, u32),
    /// A loaded value: the load instruction, and the element.
    Load(u32, usize),
    /// A special register that depends on grid or block.
    Shape(Special),
}

/// Limits on the instructions visited for one predicate and for the values of one number, and on the stores to shared
/// memory for one load.
const MOST_WORK: u32 = 400;
const MOST_VALUED: u32 = 100;
const MOST_STORES: usize = 4;

pub(super) struct Solver<'a> {
    known: Known<'a>,
    found: Vec<(Leaf, Vec<u64>)>,
    work: u32,
    /// Whether leaves without a known target value are collected, and whether the current target value is unknown.
    finds_all: bool,
    is_lost: bool,
}

impl<'a> Solver<'a> {
    pub(super) fn new(known: Known<'a>) -> Self {
        Self { known, found: Vec::new(), work: MOST_WORK, finds_all: false, is_lost: false }
    }

    /// Returns the leaves (inputs of the launch) that determine a predicate at an instruction. Each leaf has values
    /// with which the predicate may get the wanted value, or none if its effect cannot be inverted.
    pub(super) fn leaves(mut self, at: usize, row: Row, wanted: bool) -> Vec<(Leaf, Vec<u64>)> {
        self.predicate(at, row, Some(wanted), MOST_DEPTH);
        (self.work, self.finds_all) = (MOST_WORK, true);
        self.predicate(at, row, Some(wanted), MOST_DEPTH);
        self.found
    }

    /// Returns the leaves, with values, for a wanted relation between the sides of a comparison.
    pub(super) fn sides(mut self, at: usize, wanted: u8) -> Vec<(Leaf, Vec<u64>)> {
        let function = self.known.function;
        let Op::Pure { pure, from, .. } = &function.insts[at].op else { return Vec::new() };
        self.comparison(at, pure, from, &|values| relation(pure.sources[0], values[0], values[1]) == wanted);
        self.found
    }

    fn spend(&mut self) -> bool {
        self.work = self.work.saturating_sub(1);
        self.work > 0
    }

    /// Follows a predicate to comparisons. The wanted value is unknown after an operation that cannot be inverted.
    fn predicate(&mut self, at: usize, row: Row, wanted: Option<bool>, depth: u32) {
        if depth == 0 || !self.spend() {
            return;
        }
        let function = self.known.function;
        for definition in self.known.flow.definitions(at, row) {
            let at = definition as usize;
            match &function.insts[at].op {
                Op::Pure { pure, to, from } => {
                    let result = usize::from(to[0] != row);
                    let is_joined = pure.sources.iter().any(|ty| *ty != Ty::Pred);
                    if is_joined {
                        let is_so =
                            |values| wanted.is_none_or(|wanted| wanted == (computed(pure, values)[result] != 0));
                        self.comparison(at, pure, from, &is_so);
                    }
                    for (&ty, &source) in pure.sources.iter().zip(from) {
                        if ty == Ty::Pred {
                            let wanted = if is_joined { None } else { through(pure, result, wanted) };
                            self.predicate(at, source, wanted, depth - 1);
                        }
                    }
                }
                Op::Move { from, .. } => self.predicate(at, *from, wanted, depth - 1),
                Op::Select { yes, no, by, .. } => {
                    self.predicate(at, *by, None, depth - 1);
                    self.predicate(at, *yes, wanted, depth - 1);
                    self.predicate(at, *no, wanted, depth - 1);
                }
                Op::Warp { op: WarpOp::Vote { predicate, .. }, .. } => {
                    self.predicate(at, *predicate, wanted, depth - 1);
                }
                Op::Barrier { predicate, .. } => self.predicate(at, *predicate, None, depth - 1),
                _ => {}
            }
        }
    }

    /// Seeks values of each side of a comparison at, just below or just above the possible values of the other side.
    fn comparison(
        &mut self,
        at: usize,
        pure: &Pure,
        from: &[Row; MOST_SOURCES],
        is_so: &dyn Fn([u64; MOST_SOURCES]) -> bool,
    ) {
        let sources: Vec<usize> = (0..pure.sources.len()).filter(|&side| pure.sources[side] != Ty::Pred).collect();
        let [left, right] = sources[..] else { return };
        for (side, other) in [(left, right), (right, left)] {
            if self.is_constant(from[side]) {
                continue;
            }
            self.known.work = MOST_VALUED;
            for value in self.known.values(at, from[other], MOST_DEPTH) {
                for target in around(pure.sources[side], value) {
                    let mut values = [1; MOST_SOURCES];
                    (values[side], values[other]) = (target, value);
                    if is_usual(pure.sources[side], target) && is_so(values) {
                        self.integer(at, from[side], target, MOST_DEPTH);
                    }
                }
            }
        }
    }

    fn is_constant(&self, row: Row) -> bool {
        matches!(self.known.function.rows[row.0 as usize].init, Init::Constant(_) | Init::Frame(_))
    }

    fn note(&mut self, leaf: Leaf, value: u64) {
        let place = self.found.iter().position(|(other, _)| *other == leaf).unwrap_or(self.found.len());
        if place == self.found.len() {
            self.found.push((leaf, Vec::new()));
        }
        let values = &mut self.found[place].1;
        if !self.is_lost && !values.contains(&value) {
            values.push(value);
        }
    }

    /// Follows a number to leaves, with its target value.
    fn integer(&mut self, at: usize, row: Row, target: u64, depth: u32) {
        if depth == 0 || !self.spend() {
            return;
        }
        let function = self.known.function;
        if let Init::Special(special) = function.rows[row.0 as usize].init {
            return self.note(Leaf::Shape(special), target);
        }
        for definition in self.known.flow.definitions(at, row).into_iter().take(4) {
            self.definition(definition as usize, row, target, depth - 1);
        }
    }

    fn definition(&mut self, at: usize, row: Row, target: u64, depth: u32) {
        let function = self.known.function;
        match &function.insts[at].op {
            Op::Load(access) => {
                let Some(element) = access.elements.iter().position(|&one| one == row) else { return };
                let bits = 8 * access.ty.bytes();
                match (parameter_of(function, access, element), access.address.space) {
                    (Some(offset), _) => self.note(Leaf::Parameter(offset, bits / 8), low(target, bits)),
                    (None, Space::Generic) => self.note(Leaf::Load(at as u32, element), low(target, bits)),
                    (None, space) => {
                        for (at, row) in stores_to(function, space, bits) {
                            self.integer(at, row, target, depth);
                        }
                    }
                }
            }
            Op::Move { from, .. } | Op::MoveAddress { from, .. } => self.integer(at, *from, target, depth),
            Op::Select { yes, no, by, .. } => {
                let arms = [*yes, *no];
                for (number, arm) in arms.into_iter().enumerate() {
                    // If one of the two sources may already have the value, the predicate should select it.
                    if self.known.values(at, arm, 1).contains(&target) {
                        self.predicate(at, *by, Some(number == 0), depth);
                    }
                    self.integer(at, arm, target, depth);
                }
            }
            Op::Unpack { parts, from, bits } => {
                let Some(part) = parts.iter().position(|&one| one == row) else { return };
                self.integer(at, *from, low(target, *bits) << (part as u32 * bits), depth);
            }
            Op::Pack { parts, bits, .. } => {
                for (number, &part) in parts.iter().enumerate() {
                    self.integer(at, part, low(target >> (number as u32 * bits), *bits), depth);
                }
            }
            Op::Warp { op: WarpOp::Shuffle { value, .. } | WarpOp::Reduce { value, .. }, .. } => {
                self.integer(at, *value, target, depth);
            }
            Op::Pure { pure, to, from } => self.operands(at, pure, usize::from(to[0] != row), from, target, depth),
            _ => {}
        }
    }

    /// Solves for each source of an instruction, with possible values for the other sources.
    fn operands(&mut self, at: usize, pure: &Pure, result: usize, from: &[Row; MOST_SOURCES], target: u64, depth: u32) {
        let count = pure.sources.len();
        let bits = pure.results.get(result).map_or(64, |ty| ty.bits());
        self.known.work = MOST_VALUED;
        for side in 0..count {
            if self.is_constant(from[side]) {
                continue;
            }
            if pure.sources[side] == Ty::Pred {
                for wanted in [false, true] {
                    let mut values = [0; MOST_SOURCES];
                    for other in 0..count {
                        values[other] = self.known.values(at, from[other], 3).first().copied().unwrap_or(0);
                    }
                    values[side] = wanted.into();
                    if low(computed(pure, values)[result], bits) == low(target, bits) {
                        self.predicate(at, from[side], Some(wanted), depth);
                    }
                }
                continue;
            }
            let mut values = [0; MOST_SOURCES];
            for other in (0..count).filter(|&other| other != side) {
                values[other] = self.known.values(at, from[other], 4).first().copied().unwrap_or(0);
            }
            let was_lost = self.is_lost;
            let found = inverse(pure, result, values, side, target);
            if found.is_none() && !self.finds_all {
                continue;
            }
            self.is_lost |= found.is_none();
            self.integer(at, from[side], found.unwrap_or(target), depth);
            self.is_lost = was_lost;
        }
    }
}

/// Returns the value of a source with which an instruction gives a result, if one of a few candidates fits.
fn inverse(pure: &Pure, result: usize, values: [u64; MOST_SOURCES], side: usize, target: u64) -> Option<u64> {
    let bits = pure.results.get(result)?.bits();
    let source = *pure.sources.get(side)?;
    let at = |value: u64| {
        let mut values = values;
        values[side] = low(value, source.bits());
        low(computed(pure, values)[result], bits)
    };
    let target = low(target, bits);
    let [zero, one] = [at(0), at(1)];
    let (rise, slope) = (signed(target.wrapping_sub(zero), bits), signed(one.wrapping_sub(zero), bits));
    let mut candidates = vec![target, signed(target, bits) as u64];
    if slope != 0 {
        candidates.extend([rise.wrapping_div(slope) as u64, rise.wrapping_div(slope).wrapping_add(1) as u64]);
    }
    candidates.extend((1..48).map(|shift| target << shift));
    candidates.extend([!target, target.wrapping_neg(), 0, 1]);
    candidates.extend(values.iter().map(|value| target.wrapping_mul(*value)));
    match source {
        Ty::F32 => candidates.push((signed(target, bits) as f32).to_bits().into()),
        Ty::F64 => candidates.push((signed(target, bits) as f64).to_bits()),
        _ => {}
    }
    match pure.results.get(result)? {
        Ty::F32 => candidates.push(f32::from_bits(target as u32) as i64 as u64),
        Ty::F64 => candidates.push(f64::from_bits(target) as i64 as u64),
        _ => {}
    }
    candidates.into_iter().find(|&value| at(value) == target).map(|value| low(value, source.bits()))
}

/// The largest integer that is wished for. Compilers assume that sums of sizes do not overflow.
const MOST_INTEGER: u64 = 1 << 24;

/// Whether compilers agree on a value: integers are not huge, except just beyond 32 bits, and floats are not infinite
/// or NaN.
fn is_usual(ty: Ty, value: u64) -> bool {
    let size = signed(value, ty.bits()).unsigned_abs();
    match ty {
        Ty::F32 => f32::from_bits(value as u32).is_finite(),
        Ty::F64 => f64::from_bits(value).is_finite(),
        Ty::F16 => F16.value(value).is_finite(),
        Ty::BF16 => BF16.value(value).is_finite(),
        _ => size < MOST_INTEGER || (1 << 32..(1 << 32) + MOST_INTEGER).contains(&size),
    }
}

/// Returns a value of a type, and the values just below and above it.
fn around(ty: Ty, value: u64) -> Vec<u64> {
    let beside = |value: f64| [value, value - value.abs() / 2.0 - 1.0, value + value.abs() / 2.0 + 1.0];
    match ty {
        Ty::F32 => beside(f32::from_bits(value as u32).into()).map(|value| (value as f32).to_bits().into()).to_vec(),
        Ty::F64 => beside(f64::from_bits(value)).map(f64::to_bits).to_vec(),
        Ty::F16 => beside(F16.value(value)).map(|value| F16.round(value, Rounding::Nearest, false)).to_vec(),
        Ty::BF16 => beside(BF16.value(value)).map(|value| BF16.round(value, Rounding::Nearest, false)).to_vec(),
        _ if ty.is_integer() => {
            // Addresses and sizes beyond 32 bits take another path if 64-bit division has a short form.
            let far = value.wrapping_add(1 << 32);
            let all = [value, value.wrapping_add(1), value.wrapping_sub(1), far];
            all[..if ty.bits() == 64 { 4 } else { 3 }].iter().map(|&value| low(value, ty.bits())).collect()
        }
        _ => vec![value],
    }
}

/// Returns the value that all predicates of an operation need, if one value for all gives the wanted result.
fn through(pure: &Pure, result: usize, wanted: Option<bool>) -> Option<bool> {
    let gives = |value: bool| computed(pure, [value.into(); MOST_SOURCES])[result] != 0;
    let wanted = wanted?;
    [wanted, !wanted].into_iter().find(|&value| gives(value) == wanted && gives(!value) != wanted)
}

/// Returns the first stores of `bits` bits to a space: instructions and rows.
fn stores_to(function: &Function, space: Space, bits: u32) -> Vec<(usize, Row)> {
    let stored = |(at, inst): (usize, &Inst)| match &inst.op {
        Op::Store(access) if access.address.space == space && 8 * access.ty.bytes() == bits => {
            access.elements.first().map(|&row| (at, row))
        }
        _ => None,
    };
    function.insts.iter().enumerate().filter_map(stored).take(MOST_STORES).collect()
}
