//! Effects of an instruction: the registers of all files that it reads and writes, with their widths, and its
//! successors.
//!
//! The disassembler prints results first. The number of results depends on the opcode ([`results`]). The number of
//! registers of an operand depends on the modifiers ([`widths`]). NVIDIA documents neither. Both are checked against
//! the disassembler's own table of live registers.

pub mod flow;
pub mod latency;
pub mod place;
mod results;
#[cfg(test)]
pub(super) mod tests;
mod widths;

use super::instruction::Instruction;
use super::operand::{Address, Extent, Operand, RZ, Register};
pub use flow::Flow;
pub use latency::{Latency, Unit};
pub use place::{PLACES, Place};

/// Consecutive registers that an instruction reads or writes for one of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The operand's number. `None` for the guard.
    pub operand: Option<u8>,
    /// Whether the registers are written. They are read otherwise.
    pub is_write: bool,
    /// The first register.
    pub first: Place,
    /// The number of registers.
    pub count: u8,
}

impl Part {
    /// Returns the registers.
    pub fn places(self) -> impl Iterator<Item = Place> {
        (0..self.count).filter_map(move |distance| self.first.behind(distance))
    }
}

/// The effects of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    /// The reads and writes, by operand in order. An operand that is read and written has two entries.
    pub parts: Vec<Part>,
    /// The successors.
    pub flow: Flow,
}

impl Effects {
    /// Returns the effects of an instruction. `None` if its opcode is not known.
    pub fn of(instruction: &Instruction) -> Option<Self> {
        let results = results::count(instruction)?;
        let mut parts = Vec::new();
        if let Some(place) = instruction.guard.and_then(Place::of_predicate) {
            parts.push(Part { operand: None, is_write: false, first: place, count: 1 });
        }
        for (number, &operand) in instruction.operands.iter().enumerate() {
            let is_write = number < results;
            let width = widths::of(instruction, number, results);
            operand_parts(operand, instruction, width, |first, count| {
                if count > 0 {
                    parts.push(Part { operand: Some(number as u8), is_write, first, count });
                }
            });
        }
        results::beside_operands(instruction, &mut parts);
        Some(Self { parts, flow: Flow::of(instruction) })
    }

    /// Returns the registers that are read, the guard included. A register may be listed twice.
    pub fn reads(&self) -> impl Iterator<Item = Place> {
        self.parts.iter().filter(|part| !part.is_write).flat_map(|part| part.places())
    }

    /// Returns the registers that are written.
    pub fn writes(&self) -> impl Iterator<Item = Place> {
        self.parts.iter().filter(|part| part.is_write).flat_map(|part| part.places())
    }
}

/// Calls `each` for the registers of an operand. A register operand covers `width` registers.
fn operand_parts(operand: Operand, instruction: &Instruction, width: u8, mut each: impl FnMut(Place, u8)) {
    match operand {
        Operand::Register(register, _) => {
            if let Some(place) = Place::of_register(register) {
                each(place, width);
            }
        }
        Operand::Predicate(predicate) => {
            if let Some(place) = Place::of_predicate(predicate) {
                each(place, 1);
            }
        }
        Operand::Predicates { is_uniform } => {
            let mask = results::mask(instruction);
            for number in (0..7).filter(|number| mask >> number & 1 == 1) {
                each(if is_uniform { Place::UniformPredicate(number) } else { Place::Predicate(number) }, 1);
            }
        }
        Operand::Constant(constant, _) => {
            if let Some(place) = constant.index.and_then(Place::of_register) {
                each(place, 1);
            }
        }
        Operand::Address(address) => address_parts(address, instruction, each),
        Operand::Convergence(number) => each(Place::Convergence(number), 1),
        Operand::Factors(factors) => each(Place::Uniform(factors.register), 4),
        Operand::Immediate(_)
        | Operand::Special(_)
        | Operand::Target(_)
        | Operand::Callee(_)
        | Operand::Scoreboard(_)
        | Operand::GroupScoreboard => {}
    }
}

/// Calls `each` for the registers of an address. Global and generic addresses have 64 bits (`.E`).
fn address_parts(address: Address, instruction: &Instruction, mut each: impl FnMut(Place, u8)) {
    let uniform = |number: u8| Place::of_register(Register { number, is_uniform: true });
    let is_far = instruction.has("E") && !widths::is_shared_end(instruction, address);
    if let Some(place) = address.descriptor.and_then(uniform) {
        each(place, 2);
    }
    if let Some(number) = address.base.filter(|&number| number != RZ) {
        let is_pair = match address.extent {
            Extent::Wide => true,
            Extent::Unsigned => false,
            Extent::Plain => is_far && address.descriptor.is_none(),
        };
        each(Place::General(number), if is_pair { 2 } else { 1 });
    }
    if let Some(place) = address.uniform.and_then(uniform) {
        each(place, if is_far { 2 } else { 1 });
    }
}
