//! What an instruction reads and what it writes: registers of all files with their widths, memory, and where the next
//! instruction is.
//!
//! The disassembler prints results first. How many of the operands are results is a matter of the opcode
//! ([`results`]); how many registers each operand covers is a matter of its modifiers ([`widths`]). NVIDIA documents
//! neither; both are checked against the disassembler's own table of live registers.

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

/// Registers in a row that an instruction reads or writes for one of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The operand's number; none for the guard.
    pub operand: Option<u8>,
    /// Whether the registers are written; else they are read.
    pub is_write: bool,
    /// The first of the registers.
    pub first: Place,
    /// How many there are.
    pub count: u8,
}

impl Part {
    /// The registers.
    pub fn places(self) -> impl Iterator<Item = Place> {
        (0..self.count).filter_map(move |distance| self.first.behind(distance))
    }
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    /// What it reads and writes, by operands in order. An operand that is read and written stands twice.
    pub parts: Vec<Part>,
    /// Where the next instruction is.
    pub flow: Flow,
}

impl Effects {
    /// The effects of an instruction; none where its opcode is not known.
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

    /// The registers that are read, the guard among them. A register may come twice.
    pub fn reads(&self) -> impl Iterator<Item = Place> {
        self.parts.iter().filter(|part| !part.is_write).flat_map(|part| part.places())
    }

    /// The registers that are written.
    pub fn writes(&self) -> impl Iterator<Item = Place> {
        self.parts.iter().filter(|part| part.is_write).flat_map(|part| part.places())
    }
}

/// The registers of an operand, which covers `width` registers if it is one.
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

/// The registers of an address. Addresses of global memory and generic ones have 64 bits (`.E`).
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
