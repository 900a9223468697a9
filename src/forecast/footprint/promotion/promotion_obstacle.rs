//! Why the stack variables of a function are not promoted, as text.

use std::collections::BTreeMap;
use std::fmt;

use super::refusal::PromotionRefusal;
use super::stack_accesses::{StackAccesses, Transfer};
use super::{Address, Layout, MOST_PICKED_FROM};
use crate::analysis::Occurrences;
use crate::function::{Effects, Function, Inst, MemorySpace, Operand, RegClass, Role, Slot, VReg, Value};
use crate::index::EntityIndex;
use crate::printable::printable;
use crate::target::Classification;

/// Most instructions through which an address is followed.
const MOST_FOLLOWED: usize = 256;

/// Why the stack variables of a function are in memory. ptxas promotes all of a function's variables or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpromotedVariable {
    /// Number of variables of the function.
    pub variables: usize,
    /// Variable that is the cause, under its name in the source or in LLVM; `None` if it has no name.
    pub variable: Option<String>,
    /// Line of its declaration; 0 if unknown.
    pub declared: u32,
    /// Line of the instruction that is the cause; 0 if unknown.
    pub line: u32,
    /// What that instruction does.
    pub why: PromotionObstacle,
    /// Kind of the index, if a variable is indexed.
    pub index: Option<Index>,
}

/// Values from which an index is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Constants that branches select: the source indexes by constants, and the compiler joined the accesses.
    Chosen,
    /// Constants and loop counters: a constant once the loops are unrolled in full.
    Counted,
    /// Others: the index is known only at run time.
    Unknown,
}

/// Obstacle to the promotion of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromotionObstacle {
    /// Its address is passed to a function, of this name if it is known.
    PassedOn(Option<String>),
    /// Its address is stored.
    Stored,
    /// Its address goes into inline assembly.
    Assembly,
    /// An access is volatile or atomic.
    Volatile,
    /// It is accessed at an address that may refer to another space.
    Generic,
    /// An instruction of this opcode takes its address.
    Opcode(String),
    /// A pointer holds its address on some paths and another address on others.
    Mixed,
    /// Nothing loads or stores it.
    NotAccessed,
    /// It is accessed in values of this many bits.
    Width(u32),
    /// It is accessed in values of two widths, in bits.
    Widths(u32, u32),
    /// An access crosses the borders of its values.
    Misaligned,
    /// All variables together have too many values: this number.
    TooMany(u64),
    /// It is indexed by a variable, and the index may select from too many values: this number.
    Indexed(u64),
    /// It is indexed by a variable, and selecting from this number of values costs more than the memory.
    Costly(u64),
}

impl fmt::Display for UnpromotedVariable {
    /// Prints the obstacle: `'buffer' (line 4) is indexed by a variable at line 9, …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variable {
            Some(name) => write!(f, "'{}'", printable(name))?,
            None => f.write_str("a variable")?,
        }
        if self.declared != 0 {
            write!(f, " (line {})", self.declared)?;
        }
        let line = if self.line == 0 { String::new() } else { format!(" at line {}", self.line) };
        match &self.why {
            PromotionObstacle::PassedOn(Some(callee)) => {
                write!(f, ": its address is passed to {}{line}", printable(callee))
            }
            PromotionObstacle::PassedOn(None) => write!(f, ": its address is passed to a function{line}"),
            PromotionObstacle::Stored => write!(f, ": its address is stored{line}"),
            PromotionObstacle::Assembly => write!(f, ": its address goes into inline assembly{line}"),
            PromotionObstacle::Volatile => write!(f, " is accessed as volatile or atomic{line}"),
            PromotionObstacle::Generic => {
                write!(f, " is accessed{line} at an address that may refer to another memory space")
            }
            PromotionObstacle::Opcode(name) => write!(f, ": its address is taken by {}{line}", printable(name)),
            PromotionObstacle::Mixed => {
                write!(f, ": a pointer holds its address on some paths and another address on others")
            }
            PromotionObstacle::NotAccessed => write!(f, ": it is never loaded or stored as a whole value"),
            PromotionObstacle::Width(bits) => {
                write!(
                    f,
                    " is accessed in values of {bits} bits{line}: only values of 16 and 32 bits are kept in registers"
                )
            }
            PromotionObstacle::Widths(first, second) => {
                write!(f, " is accessed in values of {second} bits{line} and in values of {first} bits elsewhere")
            }
            PromotionObstacle::Misaligned => write!(f, " is accessed{line} across the borders of its values"),
            PromotionObstacle::TooMany(values) => write!(f, " is too large: {values} values"),
            PromotionObstacle::Indexed(values) => write!(
                f,
                " is indexed by a variable{line}: the index may select {values} values, and ptxas selects from at most \
                 {MOST_PICKED_FROM}"
            ),
            PromotionObstacle::Costly(values) => {
                write!(
                    f,
                    " is indexed by a variable{line}: a selection from {values} values costs more than the memory accesses"
                )
            }
        }?;
        if self.index == Some(Index::Chosen) {
            f.write_str(
                "; the index is one of a few constants: the compiler joined branches, each of which indexes it by a constant",
            )?;
        }
        if self.variables > 1 {
            write!(f, "; ptxas keeps either all {} variables in registers or none", self.variables)?;
        }
        Ok(())
    }
}

/// Input of the search for an obstacle.
pub(super) struct ObstacleSearch<'a> {
    pub(super) function: &'a Function,
    pub(super) classification: &'a Classification,
    pub(super) occurrences: &'a Occurrences,
    pub(super) stack: &'a StackAccesses,
    pub(super) layout: Layout,
}

impl ObstacleSearch<'_> {
    /// Describes a refusal; `None` if there is no stack.
    pub(super) fn of(&self, refusal: PromotionRefusal) -> Option<UnpromotedVariable> {
        let width = |inst| Transfer::of(self.function, inst).map_or(0, |transfer| transfer.width);
        let values = self.layout.count.max(0) as u64;
        let (slot, line, why) = match refusal {
            PromotionRefusal::NoStack => return None,
            PromotionRefusal::GivenAway(inst) => {
                let (at, why) = self.fate(inst);
                let line = [at, inst].map(|inst| self.function.line(inst)).into_iter().find(|&line| line != 0);
                (self.slot_at(inst), line.unwrap_or(0), why)
            }
            PromotionRefusal::Mixed(reg) => {
                (self.stack.address(reg).and_then(|address| self.slot_of(address)), 0, PromotionObstacle::Mixed)
            }
            PromotionRefusal::NotAccessed => (Some(Slot(0)), 0, PromotionObstacle::NotAccessed),
            PromotionRefusal::Width(inst) => self.accessed(inst, PromotionObstacle::Width(width(inst))),
            PromotionRefusal::OtherWidth(first, inst) => {
                self.accessed(inst, PromotionObstacle::Widths(width(first), width(inst)))
            }
            PromotionRefusal::Misaligned(inst) => self.accessed(inst, PromotionObstacle::Misaligned),
            PromotionRefusal::TooMany => (self.largest(), 0, PromotionObstacle::TooMany(values)),
            PromotionRefusal::TooManyMeant(inst) => self.accessed(inst, PromotionObstacle::Indexed(values)),
            PromotionRefusal::Costly(inst) => self.accessed(inst, PromotionObstacle::Costly(values)),
        };
        let index = match refusal {
            PromotionRefusal::TooManyMeant(inst) | PromotionRefusal::Costly(inst) => Some(self.index_of(inst)),
            _ => None,
        };
        let data = slot.map(|slot| self.function.slot(slot));
        Some(UnpromotedVariable {
            variables: self.function.num_slots(),
            variable: data.and_then(|data| data.name.as_deref().map(str::to_owned)),
            declared: data.map_or(0, |data| data.line),
            line,
            why,
            index,
        })
    }

    /// Returns the kind of values from which an access's address is computed. O(definitions followed), which are
    /// bounded.
    fn index_of(&self, access: Inst) -> Index {
        let function = self.function;
        let Some(transfer) = Transfer::of(function, access) else { return Index::Unknown };
        let Some(address) = function.operands(access)[transfer.address].reg() else { return Index::Unknown };
        // A register that occurs twice on a path is computed from itself, in a loop.
        let (mut way, mut has_loop, mut followed) = (vec![(address, false)], false, 0);
        let mut is_open = BTreeMap::from([(address, true)]);
        while let Some((reg, is_done)) = way.pop() {
            if is_done {
                is_open.insert(reg, false);
                continue;
            }
            way.push((reg, true));
            let writes = self.occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def());
            for inst in writes.map(|occurrence| occurrence.inst) {
                followed += 1;
                if followed > MOST_FOLLOWED || !self.computes(inst) {
                    return Index::Unknown;
                }
                // The condition of a selection is no part of the selected value, and a fixed place of the stack is a
                // constant.
                let is_number = |reg: &VReg| {
                    function.class(*reg) != RegClass::B1 && !matches!(self.stack.address(*reg), Some(Address::At(_)))
                };
                let sources = function.operands(inst).iter().filter(|operand| !operand.is_def());
                for source in sources.filter_map(Operand::reg).filter(is_number) {
                    match is_open.get(&source) {
                        Some(is_open) => has_loop |= is_open,
                        None => {
                            is_open.insert(source, true);
                            way.push((source, false));
                        }
                    }
                }
            }
        }
        if has_loop { Index::Counted } else { Index::Chosen }
    }

    /// Whether an instruction computes a value from its operands alone.
    fn computes(&self, inst: Inst) -> bool {
        let function = self.function;
        let is_known = |operand: &Operand| {
            matches!(
                operand.value,
                Value::Reg(_) | Value::Immediate(_) | Value::Slot(_) | Value::Block(_) | Value::NoReg
            )
        };
        // An instruction without operands reads a special register.
        let operands = function.operands(inst);
        !function.effects(inst).intersects(Effects::MEMORY)
            && Transfer::of(function, inst).is_none()
            && !self.classification.is_call(function, inst)
            && operands.iter().any(|operand| !operand.is_def())
            && operands.iter().all(is_known)
    }

    fn accessed(&self, inst: Inst, why: PromotionObstacle) -> (Option<Slot>, u32, PromotionObstacle) {
        (self.slot_at(inst), self.function.line(inst), why)
    }

    /// Returns the variable whose address is an operand of an instruction.
    fn slot_at(&self, inst: Inst) -> Option<Slot> {
        let operands = self.function.operands(inst).iter().rev();
        operands.filter_map(|operand| self.stack.address_of(operand)).find_map(|address| self.slot_of(address))
    }

    /// Returns the variable at an address, or at its known part.
    fn slot_of(&self, address: Address) -> Option<Slot> {
        let starts = &self.stack.starts;
        starts.ids().take_while(|&slot| slot.index() == 0 || starts[slot] <= address.offset()).last()
    }

    fn largest(&self) -> Option<Slot> {
        let slots = (0..self.function.num_slots()).map(Slot::new);
        slots.max_by_key(|&slot| (self.function.slot(slot).size, std::cmp::Reverse(slot)))
    }

    /// Follows an address that an instruction lets escape. Returns the first obstacle that is found, and its
    /// instruction.
    fn fate(&self, inst: Inst) -> (Inst, PromotionObstacle) {
        let function = self.function;
        let mut followed = vec![(inst, None)];
        let mut next = 0;
        while let Some(&(inst, reg)) = followed.get(next) {
            next += 1;
            if let Some(why) = self.end(inst, reg) {
                return (inst, why);
            }
            let results = function.operands(inst).iter().filter_map(Operand::def);
            for (result, occurrence) in results.flat_map(|reg| self.occurrences.of(reg).iter().map(move |of| (reg, of)))
            {
                let step = (occurrence.inst, Some(result));
                if !occurrence.is_def() && followed.len() < MOST_FOLLOWED && !followed.contains(&step) {
                    followed.push(step);
                }
            }
        }
        (inst, PromotionObstacle::Opcode(function.opcodes().name(function.opcode(inst)).to_owned()))
    }

    /// Returns the obstacle of an instruction with an address in a register, or with a variable among its operands.
    /// `None` if the instruction computes a value from the address.
    fn end(&self, inst: Inst, reg: Option<VReg>) -> Option<PromotionObstacle> {
        let function = self.function;
        let name = function.opcodes().name(function.opcode(inst));
        let effects = function.effects(inst);
        let is_it = |operand: &Operand| match reg {
            Some(reg) => operand.reg() == Some(reg) && !operand.is_def(),
            None => self.stack.address_of(operand).is_some(),
        };
        if function.role(inst) == Role::Debug {
            return None;
        }
        if name.starts_with("INLINEASM") {
            return Some(PromotionObstacle::Assembly);
        }
        // A call in PTX is one instruction with its arguments.
        if self.classification.is_call(function, inst) {
            return Some(PromotionObstacle::PassedOn(self.callee_of(inst)));
        }
        if let Some(transfer) = Transfer::of(function, inst) {
            let is_address = is_it(&function.operands(inst)[transfer.address]);
            return Some(match transfer.space {
                _ if is_address && effects.contains(Effects::ORDERED) => PromotionObstacle::Volatile,
                _ if is_address => PromotionObstacle::Generic,
                MemorySpace::Param => PromotionObstacle::PassedOn(self.callee_behind(inst)),
                _ => PromotionObstacle::Stored,
            });
        }
        let has_result = function.operands(inst).iter().any(Operand::is_def);
        (!has_result || effects.intersects(Effects::READ | Effects::WRITE))
            .then(|| PromotionObstacle::Opcode(name.to_owned()))
    }

    /// Returns the name of the function in the first call after an instruction.
    fn callee_behind(&self, inst: Inst) -> Option<String> {
        let function = self.function;
        let behind = inst.0 + 1..function.block_range(function.block_of(inst)).end.0;
        self.callee_of(behind.map(Inst).find(|&inst| self.classification.is_call(function, inst))?)
    }

    /// Returns the name of a call's function.
    fn callee_of(&self, call: Inst) -> Option<String> {
        let function = self.function;
        function.operands(call).iter().find_map(|operand| match operand.value {
            Value::Symbol(symbol) => Some(function.symbol(symbol).trim_start_matches(['@', '&']).to_owned()),
            _ => None,
        })
    }
}
