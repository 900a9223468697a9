//! The checker's names for values, and the tables of these names.

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
    /// A value of the edited function that is not followed further back. It may only replace a value that was
    /// undefined.
    Unknown,
    /// A constant, the same at all points and in both functions.
    Constant(ConstantId),
    /// The content of a location at the block's entry.
    Entry(Location),
    /// The result that an instruction writes to an operand. Both functions have the instruction in this block; its
    /// number is the view's.
    Kept(Inst, u32),
    /// The result that any other instruction of this block writes to an operand. The instruction's number is that of
    /// its own function.
    Own(Inst, u32),
    /// An operation that is evaluated at this point.
    Term(TermId),
}

/// An operation on arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// Packs parts into one value.
    Pack(Division),
    /// Extracts one part.
    Part {
        /// The number of the part, lowest first.
        index: u8,
        /// The division that the part belongs to.
        of: Division,
    },
    /// An unknown operation: equal arguments give equal results.
    Other(SkeletonId),
}

/// An operation with its arguments.
pub(super) type Application = (Operation, Vec<Value>);

/// A value that is the same at all points.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Constant {
    /// The class of the register that holds the value.
    pub(super) class: RegClass,
    /// The opcode. `None` if the value is the immediate itself.
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

/// Everything that determines the computation of definition `result` of an instruction, except its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Skeleton {
    pub(super) opcode: Opcode,
    result: u32,
    operands: Vec<SkeletonOperand>,
}

/// The most operations of a term. Larger terms are given up: longer chains are not rematerialised.
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
    /// Returns the value of a [`Constant`](super::computation::Computation::Constant) definition.
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

    /// Returns the value of an immediate.
    pub(super) fn literal(&mut self, class: RegClass, value: i64) -> Value {
        let operands = vec![function::Value::Immediate(value)];
        Value::Constant(self.constants.intern(Constant { class, opcode: None, operands }))
    }

    /// Returns the operation of definition `result` of an instruction.
    pub(super) fn skeleton(&mut self, function: &Function, inst: Inst, result: u32) -> Operation {
        let bone = |operand: &function::Operand| match operand.reg() {
            Some(reg) if operand.is_def() => SkeletonOperand::Write(function.class(reg)),
            Some(reg) => SkeletonOperand::Read(function.class(reg)),
            None => SkeletonOperand::Literal(operand.value),
        };
        let operands = function.operands(inst).iter().map(bone).collect();
        Operation::Other(self.skeletons.intern(Skeleton { opcode: function.opcode(inst), result, operands }))
    }

    /// Returns the term of an operation. `None` if the term becomes too large.
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

/// Whether an opcode with the role constant defines exactly the bits of its operand. `MOV_B32_i` and `MOV_F32_i` do.
/// `MOV_DEPOT_ADDR` does not: its operand is the number of a stack frame.
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

/// Assigns one number to equal values.
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
