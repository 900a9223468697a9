//! mbarriers.
//!
//! An mbarrier is a number of 64 bits. Its highest bit is the parity of the phase. The 20 bits from bit 43 count the
//! arrivals of the current phase. The 20 bits from bit 1 count the arrivals of every phase. Both fields store 2^20
//! minus the number of threads.

use super::super::instruction::Instruction;
use super::super::operand::{Address as Place, Operand};
use super::Refusal;
use super::lowerer::Lowerer;
use crate::emulate::program::{Address, Arrival, MbarrierOp, Op, SINK, Space, ZERO};
use crate::emulate::pure::Pure;
use crate::emulate::types::{Ty, low};

const U32: Ty = Ty::Unsigned(32);

impl Lowerer<'_> {
    /// Lowers an operation on an mbarrier. Returns whether the instruction is an operation on an mbarrier.
    pub(super) fn mbarrier(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        let modifiers: Vec<&str> = instruction.modifiers().collect();
        match (instruction.word(), modifiers.as_slice()) {
            ("SYNCS", ["EXCH", "64"]) => self.begin_mbarrier(instruction)?,
            ("SYNCS", ["CCTL", "IV"]) => {
                let [Operand::Address(place)] = *instruction.operands.as_slice() else { return Err(unknown()) };
                self.at_mbarrier(place, MbarrierOp::Invalidate);
            }
            ("SYNCS", ["PHASECHK", "TRANS64"] | ["PHASECHK", "TRANS64", "TRYWAIT"]) => {
                let [Operand::Predicate(to), Operand::Address(place), Operand::Register(by, _)] =
                    *instruction.operands.as_slice()
                else {
                    return Err(unknown());
                };
                let (to, by) = (self.written_predicate(to), self.read_register(by));
                self.at_mbarrier(place, MbarrierOp::Test { to, by, bit: 31 });
            }
            ("SYNCS", ["ARRIVE", "TRANS64", rest @ ..]) => self.arrive(instruction, rest)?,
            ("ARRIVES", ["LDGSTSBAR", "64", rest @ ..]) => {
                let [Operand::Address(place)] = *instruction.operands.as_slice() else { return Err(unknown()) };
                let as_what = match rest {
                    ["ARVCNT"] => Arrival::Planned,
                    ["TRANSCNT"] => Arrival::Transaction,
                    _ => return Err("unknown mode".into()),
                };
                let address = self.place(place, Space::Shared);
                self.emit(Op::AsyncArrive { address, as_what });
            }
            ("SYNCS" | "ARRIVES", _) => return Err("unknown form".into()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn at_mbarrier(&mut self, place: Place, op: MbarrierOp) {
        let address: Address = self.place(place, Space::Shared);
        self.emit(Op::Mbarrier { address, op });
    }

    /// Lowers `SYNCS.EXCH`, which initialises an mbarrier.
    fn begin_mbarrier(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let [Operand::Register(old, _), Operand::Address(place), Operand::Register(state, _)] =
            *instruction.operands.as_slice()
        else {
            return Err(unknown());
        };
        if self.written_register(old) != SINK {
            return Err("the old value of an mbarrier".into());
        }
        let (state, count) = (self.read_register(state), self.temporary(32));
        let left = Pure::new(U32, |[state]: [u64; 1]| [low((1u64 << 20).wrapping_sub(state >> 1), 20)]);
        self.emit_pure(left.sources(&[U32]), &[count], &[state]);
        self.at_mbarrier(place, MbarrierOp::Init { count });
        Ok(())
    }

    /// Lowers `SYNCS.ARRIVE`. The modifiers give the number of arriving threads (`A`) and of bytes (`T`): `0`, `1`, or
    /// `R` for the number in a register. `TR` means that the bytes are expected, and `TX` that they have arrived.
    fn arrive(&mut self, instruction: &Instruction, modifiers: &[&str]) -> Result<(), Refusal> {
        let [Operand::Register(to, _), Operand::Address(place), Operand::Register(count, _)] =
            *instruction.operands.as_slice()
        else {
            return Err(unknown());
        };
        let (mut drops, mut form) = (false, "");
        for &modifier in modifiers {
            match modifier {
                "RED" => {}
                "OPTOUT" => drops = true,
                "A1T0" | "A0T1" | "A0TR" | "A0TX" | "ART0" => form = modifier,
                other => return Err(format!("the modifier {other}")),
            }
        }
        let (given, one) = (self.read_register(count), self.constant(1, 32));
        let without_result = match form {
            "A0T1" => Some(MbarrierOp::Expect { bytes: one }),
            "A0TR" => Some(MbarrierOp::Expect { bytes: given }),
            "A0TX" => Some(MbarrierOp::Complete { bytes: given }),
            _ => None,
        };
        if let Some(op) = without_result {
            self.at_mbarrier(place, op);
            return Ok(());
        }
        let (count, expected) = match form {
            "" => (one, given),
            "A1T0" => (one, ZERO),
            _ => (given, ZERO),
        };
        let (to, wide) = self.wide_result(to);
        self.at_mbarrier(place, MbarrierOp::Arrive { to, count, expected, drops });
        self.settle(wide);
        Ok(())
    }
}

fn unknown() -> Refusal {
    "unknown operands".into()
}
