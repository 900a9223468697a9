//! Values as the checker names them, and the tables behind the names.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::computation::Division;
use super::ids::{ConstantId, Location, SkeletonId, TermId};
use crate::function::{self, Function, Inst, Opcode, RegClass};
use crate::index::{EntityIndex, IndexVec};

/// A value at some point of one visit of a block, in one of the two functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// Arbitrary.
    Undefined,
    /// Of the edited function: a value that is not followed further back. Only what was undefined may become it.
    Unknown,
    /// The same everywhere, and in both functions.
    Constant(ConstantId),
    /// What a location holds when the block is entered.
    Entry(Location),
    /// What an instruction that both functions have in this block puts in that operand: the view's number.
    Kept(Inst, u32),
    /// What another instruction of this block puts in that operand: the number of its own function.
    Own(Inst, u32),
    /// An operation, evaluated here.
    Term(TermId),
}

/// What an operation does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// Puts parts together.
    Pack(Division),
    /// Takes one part.
    Part {
        /// Which, lowest first.
        index: u8,
        /// Of what.
        of: Division,
    },
    /// Something unknown: equal arguments give equal results.
    Other(SkeletonId),
}

/// An operation with its arguments.
pub(super) type Application = (Operation, Vec<Value>);

/// A value that is the same everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Constant {
    /// Of the register that holds it.
    pub(super) class: RegClass,
    /// `None`: the immediate itself.
    pub(super) opcode: Option<Opcode>,
    pub(super) operands: Vec<function::Value>,
}

/// An operand of a [`Skeleton`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SkeletonOperand {
    Read(RegClass),
    Write(RegClass),
    Literal(function::Value),
}

/// All that tells what definition `result` of an instruction computes, but its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Skeleton {
    pub(super) opcode: Opcode,
    result: u32,
    operands: Vec<SkeletonOperand>,
}

/// Terms of more than this many operations are given up: longer chains are not computed again where they are used.
pub(super) const MAX_TERM_SIZE: u32 = 16;

/// The tables of constants, skeletons and terms.
#[derive(Default)]
pub(super) struct Terms {
    constants: Interner<ConstantId, Constant>,
    skeletons: Interner<SkeletonId, Skeleton>,
    terms: Interner<TermId, Application>,
    sizes: IndexVec<TermId, u32>,
}

impl Terms {
    /// The constant that a [`Constant`](super::computation::Computation::Constant) definition is.
    pub(super) fn constant(&mut self, function: &Function, inst: Inst) -> Value {
        let operands = function.operands(inst);
        let class = operands[0].def().map_or(RegClass::Other, |reg| function.class(reg));
        let values: Vec<function::Value> = operands[1..].iter().map(|operand| operand.value).collect();
        let opcode = function.opcode(inst);
        let literal = match values[..] {
            [function::Value::Immediate(value)] => Some(value),
            [function::Value::Float(bits)] => Some(bits as i64),
            _ => None,
        };
        if let Some(value) = literal
            && is_move_of_immediate(function.opcodes().name(opcode), class)
        {
            return self.literal(class, value);
        }
        Value::Constant(self.constants.intern(Constant { class, opcode: Some(opcode), operands: values }))
    }

    /// An immediate.
    pub(super) fn literal(&mut self, class: RegClass, value: i64) -> Value {
        let operands = vec![function::Value::Immediate(value)];
        Value::Constant(self.constants.intern(Constant { class, opcode: None, operands }))
    }

    /// The operation that definition `result` of an instruction is.
    pub(super) fn skeleton(&mut self, function: &Function, inst: Inst, result: u32) -> Operation {
        let bone = |operand: &function::Operand| match operand.reg() {
            Some(reg) if operand.is_def() => SkeletonOperand::Write(function.class(reg)),
            Some(reg) => SkeletonOperand::Read(function.class(reg)),
            None => SkeletonOperand::Literal(operand.value),
        };
        let operands = function.operands(inst).iter().map(bone).collect();
        Operation::Other(self.skeletons.intern(Skeleton { opcode: function.opcode(inst), result, operands }))
    }

    /// The term of an operation; `None` where it gets too large.
    pub(super) fn term(&mut self, operation: Operation, args: Vec<Value>) -> Option<Value> {
        let size = args.iter().map(|&arg| if let Value::Term(id) = arg { self.sizes[id] } else { 0 }).sum::<u32>() + 1;
        if size > MAX_TERM_SIZE {
            return None;
        }
        let id = self.terms.intern((operation, args));
        if id == self.sizes.next_id() {
            self.sizes.push(size);
        }
        Some(Value::Term(id))
    }

    pub(super) fn get_term(&self, id: TermId) -> &Application {
        &self.terms.values[id]
    }

    pub(super) fn get_constant(&self, id: ConstantId) -> &Constant {
        &self.constants.values[id]
    }

    pub(super) fn get_skeleton(&self, id: SkeletonId) -> &Skeleton {
        &self.skeletons.values[id]
    }
}

/// Whether an opcode of role constant defines the very bits that are its operand, as `MOV_B32_i` and `MOV_F32_i` do and
/// `MOV_DEPOT_ADDR`, which names a stack frame by its number, does not.
fn is_move_of_immediate(name: &str, class: RegClass) -> bool {
    let Some(moved) = name.strip_prefix("MOV_").and_then(|rest| rest.strip_suffix("_i")) else { return false };
    let floats: &[&str] = match class {
        RegClass::B16 => &["F16", "BF16"],
        RegClass::B32 => &["F32"],
        RegClass::B64 => &["F64"],
        _ => &[],
    };
    moved == class.name() || floats.contains(&moved)
}

/// Gives equal values one number.
struct Interner<I, T> {
    ids: FxHashMap<T, I>,
    values: IndexVec<I, T>,
}

impl<I: EntityIndex, T> Default for Interner<I, T> {
    fn default() -> Self {
        Self { ids: FxHashMap::default(), values: IndexVec::new() }
    }
}

impl<I: EntityIndex, T: Clone + Eq + Hash> Interner<I, T> {
    fn intern(&mut self, value: T) -> I {
        if let Some(&id) = self.ids.get(&value) {
            return id;
        }
        let id = self.values.push(value.clone());
        self.ids.insert(value, id);
        id
    }
}
