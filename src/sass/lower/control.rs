//! Control flow.

use super::super::instruction::{BYTES, Instruction};
use super::super::operand::{Operand, Predicate, Register};
use super::Refusal;
use super::lowerer::{File, Lowerer};
use crate::emulate::program::{Op, Row, SINK, WarpOp, ZERO};
use crate::emulate::pure::Pure;
use crate::emulate::types::{Ty, low};

impl Lowerer<'_> {
    /// Lowers a jump, a call or an exit. Returns whether the instruction is a jump, a call or an exit.
    pub(super) fn control(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        match instruction.word() {
            "BRA" => self.branch(instruction)?,
            "BRX" | "BRXU" | "JMX" => self.indirect(instruction, true)?,
            "CALL" => self.call(instruction)?,
            "RET" => self.indirect(instruction, false)?,
            "EXIT" | "KILL" => {
                if let [Operand::Predicate(by)] = *instruction.operands.as_slice() {
                    self.narrow_guard(by);
                }
                self.emit(Op::Exit);
            }
            "LEPC" => self.own_address(instruction)?,
            "BPT" if instruction.has("TRAP") => self.emit(Op::Trap),
            "NOP" | "YIELD" | "NANOSLEEP" | "PREEXIT" | "ACQBULK" | "ENDCOLLECTIVE" | "PMTRIG" => {
                self.emit(Op::Nothing);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Restricts the guard by another predicate.
    pub(super) fn narrow_guard(&mut self, by: Predicate) {
        let Some((guard, negated)) = self.guard.take() else {
            self.guard = self.guard_of(by);
            return;
        };
        let (truth, both) = (self.truth(by), self.temporary(1));
        let [yes, no] = if negated { [ZERO, truth] } else { [truth, ZERO] };
        self.emit(Op::Select { to: both, yes, no, by: guard });
        self.guard = Some((both, false));
    }

    fn branch(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let mut operands = instruction.operands.as_slice();
        if instruction.has("DIV") || instruction.has("CONV") {
            // The hardware takes the branch if some threads of the mask have not arrived. The emulator waits for these
            // threads instead, and never takes the branch.
            let Some(Operand::Register(mask, changes)) = operands.first() else {
                return Err("unknown mask".into());
            };
            let mut mask = self.read_register(*mask);
            if changes.inverted {
                let all_but = self.temporary(32);
                self.emit_pure(Pure::new(Ty::Unsigned(32), |[mask]: [u64; 1]| [low(!mask, 32)]), &[all_but], &[mask]);
                mask = all_but;
            }
            self.emit(Op::Warp { op: WarpOp::Synchronise, mask });
            return Ok(());
        }
        for modifier in instruction.modifiers() {
            if !matches!(modifier, "U") {
                return Err(format!("the modifier {modifier}"));
            }
        }
        while let [Operand::Predicate(by), rest @ ..] = operands {
            self.narrow_guard(*by);
            operands = rest;
        }
        let [Operand::Target(target)] = *operands else { return Err("unknown target".into()) };
        let target = self.number_of(target)?;
        self.emit(Op::Branch { target });
        Ok(())
    }

    /// Lowers a jump to the address in a register plus an offset: from the next instruction (`BRX R2 -0x30`), or from a
    /// label (``RET.REL R20 `(kernel)``).
    fn indirect(&mut self, instruction: &Instruction, is_behind: bool) -> Result<(), Refusal> {
        let operands = instruction.operands.as_slice();
        let (register, distance) = match *operands {
            [Operand::Register(register, _), Operand::Immediate(distance)] if is_behind => {
                (register, i64::from(distance as i32) + i64::from(instruction.address + BYTES))
            }
            [Operand::Register(register, _), Operand::Target(target)] => (register, target),
            [Operand::Register(register, _)] if is_behind => (register, i64::from(instruction.address + BYTES)),
            _ => return Err("unknown target".into()),
        };
        self.jump(register, distance);
        Ok(())
    }

    fn jump(&mut self, register: Register, distance: i64) {
        let (address, index) = (self.read_register(register), self.temporary(32));
        let number = Pure::new(Ty::Unsigned(32), move |[at]: [u64; 1]| {
            let at = low(at.wrapping_add(distance as u64), 32);
            [if at.is_multiple_of(u64::from(BYTES)) { at / u64::from(BYTES) } else { u64::from(u32::MAX) }]
        });
        self.emit_pure(number, &[index], &[address]);
        self.emit(Op::IndexedBranch { index, targets: Vec::new() });
    }

    /// Lowers a call. The return address is in registers, so a call is a jump. Functions of other files are recognised
    /// by name.
    fn call(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        match *instruction.operands.as_slice() {
            [Operand::Target(target)] => {
                let target = self.number_of(target)?;
                self.emit(Op::Branch { target });
                Ok(())
            }
            [Operand::Register(register, _), Operand::Target(target)] => {
                self.jump(register, target);
                Ok(())
            }
            [Operand::Callee(number)] => {
                let name = self.code.callees.get(number as usize).cloned().unwrap_or_default();
                self.external(&[&name])
            }
            [Operand::Register(..)] => {
                let missing = self.cubin.symbols.iter().filter(|symbol| symbol.section.is_empty());
                let names: Vec<&str> = missing
                    .map(|symbol| symbol.name.as_str())
                    .filter(|name| !name.is_empty() && !name.starts_with(".nv.") && !name.starts_with("__nv_"))
                    .collect();
                self.external(&names)
            }
            _ => Err("unknown target".into()),
        }
    }

    /// Lowers a call of a function whose code is not in the file. `names` are the functions that may be called.
    fn external(&mut self, names: &[&str]) -> Result<(), Refusal> {
        match names {
            ["vprintf"] => {
                // The printed output is ignored, and the result is undefined.
                let result = self.row(File::General, 4);
                let nothing = self.new_row(crate::emulate::program::Init::Undefined, 32);
                self.emit(Op::Move { to: result, from: nothing });
                Ok(())
            }
            ["__assertfail"] => {
                self.emit(Op::Unknown("an assertion of the program fails".into()));
                Ok(())
            }
            [] => Err("a call of an unknown function".into()),
            names => Err(format!("a call of {} without code in the file", names.join(" or "))),
        }
    }

    /// Lowers `LEPC`: an address of the code, in two registers.
    fn own_address(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let Some(Operand::Register(register, _)) = instruction.operands.first() else {
            return Err("unknown operands".into());
        };
        let target = match instruction.operands.get(1) {
            Some(Operand::Target(target)) => *target as u64,
            None => u64::from(instruction.address),
            _ => return Err("unknown operands".into()),
        };
        let (low, high) = (self.constant(target, 32), ZERO);
        for (register, from) in [(*register, low), (super::operands::next(*register), high)] {
            let to: Row = self.written_register(register);
            if to != SINK {
                self.emit(Op::Move { to, from });
            }
        }
        Ok(())
    }
}
