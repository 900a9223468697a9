//! Executes a function on synthetic inputs: the oracle for a function's meaning.
//!
//! Opcodes with a [`Role`] are executed by their role. The result of any other opcode is a hash of its operation and of
//! the values that it reads. If an operand is undefined, the result is undefined, so an edited function may have any
//! value there; a branch on an undefined value ends the run. A branch chooses by a hash of the operands of its
//! terminators and of the number of branches taken before. Therefore loops end, and an edited function takes the same
//! path. Debug values have no effect.
//!
//! [`memory`](super::memory) models how instructions with effects interact. Whether an instruction that may trap does
//! trap depends on a hash of its operands; a trap ends the run. The same rule decides whether a pure instruction that
//! may fault does fault; a fault is an error of the function.

use std::collections::BTreeMap;

use super::memory::{Access, World};
use super::trace::{End, Event, Trace};
use super::value::{Bits, mix, mix_wide};
use crate::function::{
    Block, Effects, Function, Inst, MemorySpace, Operand, OperandFlags, Role, Slot, Symbol, VReg, Value,
};
use crate::index::IndexVec;

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most instructions.
    pub insts: usize,
    /// The most events.
    pub events: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { insts: 2_000, events: 100 }
    }
}

/// Runs a valid function; `seed` determines its initial values.
pub fn interpret(function: &Function, seed: u64, limits: Limits) -> Trace {
    let mut machine = Machine::new(function, seed);
    machine.run(limits);
    Trace { visits: machine.visits, ..machine.trace }
}

/// Returns the operation in an opcode's name, without the final letters for register and immediate operands.
fn family(name: &str) -> &str {
    name.trim_end_matches(['r', 'i'])
}

fn hash_of(text: &str) -> u64 {
    text.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte)))
}

/// Returns a hash of an instruction's opcode and effects.
fn operation(function: &Function, inst: Inst) -> u64 {
    let name = function.opcodes().name(function.opcode(inst));
    mix(hash_of(family(name)), u64::from(function.effects(inst).bits()))
}

/// Returns the bits of a register. A class without a known size has the maximum.
fn width(function: &Function, reg: VReg) -> u32 {
    match function.class(reg).bits() {
        0 => 128,
        bits => bits,
    }
}

/// A pure instruction that may fault faults in one of this many cases; an instruction that may trap traps in one of
/// this many cases.
const FAULTS_ONE_IN: u64 = 16;
const TRAPS_ONE_IN: u64 = 4;

/// Whether a hash belongs to the selected hashes, of which there is one in `count`.
fn is_one_of(count: u64, hash: u64) -> bool {
    mix(hash, count).is_multiple_of(count)
}

/// The state of a run.
pub(super) struct Machine<'a> {
    function: &'a Function,
    seed: u64,
    /// A hash of each instruction's operation.
    pub(super) operations: IndexVec<Inst, u64>,
    symbols: IndexVec<Symbol, u64>,
    pub(super) regs: IndexVec<VReg, Bits>,
    physical: BTreeMap<u32, Bits>,
    slots: BTreeMap<Slot, Bits>,
    world: World,
    /// The number of blocks entered.
    visits: usize,
    trace: Trace,
}

impl<'a> Machine<'a> {
    /// Creates the state before a run.
    pub(super) fn new(function: &'a Function, seed: u64) -> Self {
        Self {
            function,
            seed,
            operations: function.insts().map(|inst| operation(function, inst)).collect(),
            symbols: function.symbols.iter().map(|symbol| mix(hash_of("symbol"), hash_of(&symbol.text))).collect(),
            regs: function.regs().map(|reg| Bits::undefined(width(function, reg))).collect(),
            physical: BTreeMap::new(),
            slots: BTreeMap::new(),
            world: World::new(mix(seed, hash_of("memory"))),
            visits: 0,
            trace: Trace::default(),
        }
    }

    fn run(&mut self, limits: Limits) {
        let Some(mut block) = self.function.blocks().next() else {
            self.trace.end = Some(End::Return);
            return;
        };
        let mut insts_left = limits.insts;
        let mut branches = 0;
        loop {
            // Empty blocks count, too, so that loops of empty blocks end.
            insts_left = insts_left.saturating_sub(self.function.block_insts(block).len() + 1);
            self.visits += 1;
            for inst in self.body(block) {
                self.execute(inst);
                if self.trace.end.is_some() {
                    return;
                }
            }
            let next = match *self.function.succs(block) {
                [only] => only,
                ref succs => {
                    let chosen = self.choose(block, branches);
                    match chosen {
                        Some(hash) if !succs.is_empty() => succs[(hash % succs.len() as u64) as usize],
                        _ => {
                            self.trace.end = succs.is_empty().then_some(End::Return);
                            return;
                        }
                    }
                }
            };
            branches += u64::from(self.function.succs(block).len() > 1);
            if insts_left == 0 || self.trace.events.len() >= limits.events {
                return;
            }
            self.phis(block, next);
            block = next;
        }
    }

    /// Returns the hash by which a block's terminators choose, or that they return; `None` if it is undefined.
    fn choose(&mut self, block: Block, branches: u64) -> Option<u64> {
        let reads = self.branch_reads(block);
        let mut hash = mix(self.seed, branches);
        for read in &reads {
            hash = mix_wide(hash, read.number()?);
        }
        let inst = self.function.block_range(block).end;
        let (effects, space) = (Effects::TERMINATOR, MemorySpace::default());
        let (operation, visit) = (hash_of("branch"), self.visits);
        let (seen, _) = self.world.execute(&Access { effects, space, operation, hash: Some(hash) });
        self.trace.events.push(Event { inst, visit, operation, is_branch: true, reads, seen });
        Some(hash)
    }

    /// Returns the instructions of a block up to the first terminator.
    fn body(&self, block: Block) -> impl Iterator<Item = Inst> + use<'a> {
        let function = self.function;
        function.block_insts(block).take_while(|&inst| !function.effects(inst).contains(Effects::TERMINATOR))
    }

    /// Returns the operands that the terminators of a block read, sign-extended.
    pub(super) fn branch_reads(&self, block: Block) -> Vec<Bits> {
        let is_terminator = |&inst: &Inst| self.function.effects(inst).contains(Effects::TERMINATOR);
        let terminators = self.function.block_insts(block).filter(is_terminator);
        let operands = terminators.flat_map(|inst| self.function.operands(inst)).filter(|operand| !operand.is_def());
        operands.filter_map(|operand| self.read(operand)).map(Bits::sign_extended).collect()
    }

    /// Reads all PHIs of `to`, then writes them.
    pub(super) fn phis(&mut self, from: Block, to: Block) {
        let is_phi = |&inst: &Inst| self.function.role(inst) == Role::Phi;
        let values: Vec<(Inst, Option<Bits>)> = self
            .function
            .block_insts(to)
            .filter(is_phi)
            .map(|phi| {
                let inputs = self.function.operands(phi).get(1..).unwrap_or_default();
                let input = inputs.chunks_exact(2).find(|input| input[1].value == Value::Block(from));
                (phi, input.and_then(|input| self.read(&input[0])))
            })
            .collect();
        for (phi, value) in values {
            self.write(phi, 0, value.unwrap_or(Bits::undefined(128)));
        }
    }

    /// Executes an instruction; PHIs, debug values and terminators do nothing here.
    pub(super) fn execute(&mut self, inst: Inst) {
        let function = self.function;
        if function.role(inst) == Role::Debug || function.effects(inst).contains(Effects::TERMINATOR) {
            return;
        }
        self.clobber_early(inst);
        let operands = function.operands(inst);
        let reads: Vec<Bits> =
            operands.iter().filter(|operand| !operand.is_def()).filter_map(|operand| self.read(operand)).collect();
        let nothing = Bits::undefined(128);
        let first = reads.first().copied().unwrap_or(nothing);
        match function.role(inst) {
            Role::Copy | Role::Constant => self.write(inst, 0, first),
            Role::Pack => {
                let whole = reads.iter().copied().reduce(Bits::below);
                self.write(inst, 0, whole.unwrap_or(nothing));
            }
            Role::Unpack => {
                let parts = operands.iter().filter(|operand| operand.is_def()).count() as u32;
                for index in 0..parts {
                    self.write(inst, index, first.part(index, parts));
                }
            }
            Role::Extract { index, parts } => self.write(inst, 0, first.part(index.into(), parts.into())),
            Role::Undef => self.write(inst, 0, nothing),
            Role::Spill => {
                for ([_, to], value) in operands.as_chunks().0.iter().zip(reads.into_iter().step_by(2)) {
                    if let Value::Slot(slot) = to.value {
                        self.slots.insert(slot, value);
                    }
                }
            }
            Role::Reload => {
                for (number, [_, from]) in (0..).zip(operands.as_chunks().0) {
                    if let Value::Slot(slot) = from.value {
                        let value = self.slots.get(&slot).copied().unwrap_or(nothing);
                        self.write(inst, number, value);
                    }
                }
            }
            Role::Phi | Role::Debug => {}
            Role::Other => self.compute(inst, reads),
        }
    }

    /// Computes an instruction from its operands alone.
    fn compute(&mut self, inst: Inst, reads: Vec<Bits>) {
        let function = self.function;
        let reads: Vec<Bits> = reads.into_iter().map(Bits::sign_extended).collect();
        let (operation, effects) = (self.operations[inst], function.effects(inst));
        let start = mix(operation, self.seed);
        let mut hash = reads.iter().try_fold(start, |hash, read| Some(mix_wide(hash, read.number()?)));
        if effects.is_pure() {
            let may_fault = effects.contains(Effects::MAY_FAULT);
            if may_fault && hash.is_none_or(|hash| is_one_of(FAULTS_ONE_IN, hash)) {
                self.trace.end = Some(End::Fault { visit: self.visits });
            }
        } else {
            let space = function.memory_space(inst);
            let (seen, result) = self.world.execute(&Access { effects, space, operation, hash });
            if effects.contains(Effects::TRAP) && hash.is_none_or(|hash| is_one_of(TRAPS_ONE_IN, hash)) {
                self.trace.end = Some(if hash.is_some() { End::Trap } else { End::Unknown });
            }
            self.trace.events.push(Event { inst, visit: self.visits, operation, is_branch: false, reads, seen });
            hash = hash.and_then(|hash| Some(mix(hash, result?)));
        }
        let defs = function.operands(inst).iter().filter(|operand| operand.is_def()).count() as u32;
        for def in 0..defs {
            let result = hash.map(|hash| mix(hash, def.into()));
            let bits = result.map(|low| Bits::new(u128::from(low) | u128::from(mix(low, 1)) << 64, 128));
            self.write(inst, def, bits.unwrap_or(Bits::undefined(128)));
        }
    }

    /// Overwrites the registers of early definitions before any read, except tied ones.
    fn clobber_early(&mut self, inst: Inst) {
        for (index, operand) in self.function.operands(inst).iter().enumerate() {
            if let Some(reg) = operand.def().filter(|_| operand.flags.contains(OperandFlags::EARLY_CLOBBER))
                && operand.tied.is_none()
            {
                let garbage = mix(mix(self.seed, u64::from(inst.0)), index as u64);
                self.regs[reg] = Bits::new(u128::from(garbage), width(self.function, reg));
            }
        }
    }

    /// Returns the value of an operand; `None` for a block.
    fn read(&self, operand: &Operand) -> Option<Bits> {
        let number = |number: i128| Some(Bits::new(number as u128, 128));
        if operand.flags.contains(OperandFlags::UNDEF) {
            return Some(Bits::undefined(operand.reg().map_or(128, |reg| width(self.function, reg))));
        }
        match operand.value {
            Value::Reg(reg) => Some(self.regs[reg]),
            Value::Physical(id) => {
                let initial = Bits::new(u128::from(mix(mix(self.seed, hash_of("physical")), id.into())), 128);
                Some(self.physical.get(&id).copied().unwrap_or(initial))
            }
            Value::NoReg => number(0),
            Value::Immediate(value) => number(value.into()),
            Value::Float(bits) => number(bits.into()),
            Value::Symbol(symbol) => number(self.symbols[symbol].into()),
            Value::Slot(slot) => number(mix(hash_of("slot"), slot.0.into()).into()),
            Value::Block(_) => None,
        }
    }

    /// Writes definition number `def` of an instruction.
    fn write(&mut self, inst: Inst, def: u32, value: Bits) {
        let operand = self.function.operands(inst).iter().filter(|operand| operand.is_def()).nth(def as usize);
        match operand.map(|operand| operand.value) {
            Some(Value::Reg(reg)) => self.regs[reg] = value.resized(width(self.function, reg)),
            Some(Value::Physical(id)) => {
                self.physical.insert(id, value);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::check_same_meaning;

    /// Returns a function of one block that stores the value of `%0` after `insts`.
    fn store_after(insts: &str) -> Function {
        let text = format!(
            "mfv 1\nfunction \"f\"\nopcode ADD32rr\nopcode ADD32ri\nopcode COPY copy\nopcode MOV_B32_i constant\n\
             opcode V2I32toI64 pack\nopcode I64toV2I32 unpack\nopcode I64toI32H extract 1 of 2\nopcode ST\n\
             opcode SPILL spill\nopcode RELOAD reload\nopcode DBG debug\nregs %0 B32 B32 B32 B64\n\
             slot0 size 4 align 4\nbb0: frequency 1.0 depth 0\n{insts}\nST %0 :: write\nend\n"
        );
        let function = Function::parse(&text).unwrap();
        function.validate().unwrap();
        function
    }

    fn mean_the_same(original: &str, edited: &str) -> bool {
        check_same_meaning(&store_after(original), &store_after(edited)).is_ok()
    }

    #[test]
    fn copies_and_parts_carry_values() {
        assert!(mean_the_same("%0 = MOV_B32_i -3", "%1 = MOV_B32_i -3\n%0 = COPY %1"));
        let parts = "%1 = MOV_B32_i -3\n%2 = MOV_B32_i 4\n%3 = V2I32toI64 %2, %1";
        assert!(mean_the_same("%0 = MOV_B32_i -3", &format!("{parts}\n%0 = I64toI32H %3")));
        assert!(mean_the_same("%0 = MOV_B32_i 4", &format!("{parts}\n%0, dead %1 = I64toV2I32 %3")));
        assert!(!mean_the_same("%0 = MOV_B32_i 5", &format!("{parts}\n%0, dead %1 = I64toV2I32 %3")));
        assert!(mean_the_same("%0 = MOV_B32_i 9", "%0 = MOV_B32_i 9\nSPILL %0, slot0\n%0 = RELOAD slot0"));
    }

    #[test]
    fn another_value_another_operation_and_a_missing_event_are_seen() {
        assert!(!mean_the_same("%0 = MOV_B32_i 1", "%0 = MOV_B32_i 2"));
        let sum = "%1 = MOV_B32_i 1\n%2 = MOV_B32_i 2\n%0 = ADD32rr";
        assert!(mean_the_same(&format!("{sum} %1, %2"), &format!("{sum} %1, %2")));
        assert!(!mean_the_same(&format!("{sum} %1, %2"), &format!("{sum} %2, %1")));
        assert!(!mean_the_same("%0 = MOV_B32_i 1\nST %0 :: write", "%0 = MOV_B32_i 1"));
    }

    #[test]
    fn an_immediate_may_stand_for_a_register_that_holds_it() {
        let registers = "%1 = MOV_B32_i 7\n%2 = MOV_B32_i -1\n%0 = ADD32rr %1, %2";
        assert!(mean_the_same(registers, "%1 = MOV_B32_i 7\n%0 = ADD32ri %1, -1"));
        assert!(!mean_the_same(registers, "%1 = MOV_B32_i 7\n%0 = ADD32ri %1, 1"));
    }

    #[test]
    fn an_undefined_value_may_become_any_but_not_the_reverse() {
        assert!(mean_the_same("", "%0 = MOV_B32_i 1"));
        assert!(mean_the_same("%0 = ADD32rr %1, undef %2", "%0 = MOV_B32_i 1"));
        assert!(!mean_the_same("%0 = MOV_B32_i 1", ""));
    }

    #[test]
    fn debug_values_do_nothing() {
        assert!(mean_the_same("%0 = MOV_B32_i 1", "%0 = MOV_B32_i 1\nDBG %1 :: meta"));
    }
}
