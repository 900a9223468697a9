//! Comparisons of integers that set one predicate, and their complements.

use super::assembly::assembly_text;
use super::ptx_opcode::{PtxOpcode, equivalent};
use super::{Function, Inst, Operand, VReg};

/// How two integers are compared. An order is one of unsigned or of signed numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They are equal.
    Eq,
    /// They differ.
    Ne,
    /// The first is less.
    Lt(Sign),
    /// The first is not greater.
    Le(Sign),
    /// The first is greater.
    Gt(Sign),
    /// The first is not less.
    Ge(Sign),
}

/// How the bits of an integer that is ordered are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// As a number without a sign.
    Unsigned,
    /// As two's complement.
    Signed,
}

/// LLVM's numbers of comparisons of integers: the orders of unsigned numbers come last.
const LLVM_NUMBERS: [Comparison; 10] = [
    Comparison::Eq,
    Comparison::Ne,
    Comparison::Lt(Sign::Signed),
    Comparison::Le(Sign::Signed),
    Comparison::Gt(Sign::Signed),
    Comparison::Ge(Sign::Signed),
    Comparison::Lt(Sign::Unsigned),
    Comparison::Le(Sign::Unsigned),
    Comparison::Gt(Sign::Unsigned),
    Comparison::Ge(Sign::Unsigned),
];

/// What an instruction has in place of a comparison for it to compute the complement of its predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complement {
    /// Of LLVM: another number in this operand.
    Number {
        /// The operand's number.
        operand: u32,
        /// LLVM's number of the other comparison.
        value: i64,
    },
    /// Of PTX: the opcode of this name.
    Opcode(String),
}

impl Comparison {
    /// The comparison that an instruction makes, if it compares two integers of 32 or 64 bits, sets one predicate, and does
    /// nothing else.
    pub fn of(function: &Function, inst: Inst) -> Option<Self> {
        let name = function.opcodes().name(function.opcode(inst));
        match PtxOpcode::of(name) {
            Some(opcode) => Self::of_ptx(name, opcode.mnemonic),
            None if is_of_integers(name) => Self::of_number(function.operands(inst).last()?),
            None => None,
        }
    }

    fn of_number(operand: &Operand) -> Option<Self> {
        LLVM_NUMBERS.get(usize::try_from(operand.as_immediate()?).ok()?).copied()
    }

    fn of_ptx(name: &str, mnemonic: &str) -> Option<Self> {
        if !equivalent(name).is_some_and(|of_llvm| is_of_integers(&of_llvm)) {
            return None;
        }
        let ["setp", kind, of] = mnemonic.split('.').collect::<Vec<_>>()[..] else { return None };
        let sign = if of.starts_with('s') { Sign::Signed } else { Sign::Unsigned };
        Some(match kind {
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "lt" => Self::Lt(sign),
            "le" => Self::Le(sign),
            "gt" => Self::Gt(sign),
            "ge" => Self::Ge(sign),
            "lo" => Self::Lt(Sign::Unsigned),
            "ls" => Self::Le(Sign::Unsigned),
            "hi" => Self::Gt(Sign::Unsigned),
            "hs" => Self::Ge(Sign::Unsigned),
            _ => return None,
        })
    }

    /// The comparison that holds where this one does not.
    #[must_use]
    pub fn complement(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt(sign) => Self::Ge(sign),
            Self::Le(sign) => Self::Gt(sign),
            Self::Gt(sign) => Self::Le(sign),
            Self::Ge(sign) => Self::Lt(sign),
        }
    }

    /// The comparison of the second number with the first.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Eq | Self::Ne => self,
            Self::Lt(sign) => Self::Gt(sign),
            Self::Le(sign) => Self::Ge(sign),
            Self::Gt(sign) => Self::Lt(sign),
            Self::Ge(sign) => Self::Le(sign),
        }
    }

    /// Whether it is an order of signed numbers.
    pub fn is_signed_order(self) -> bool {
        matches!(
            self,
            Self::Lt(Sign::Signed) | Self::Le(Sign::Signed) | Self::Gt(Sign::Signed) | Self::Ge(Sign::Signed)
        )
    }

    /// The word of a mnemonic; the type behind it says the sign.
    fn word(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt(_) => "lt",
            Self::Le(_) => "le",
            Self::Gt(_) => "gt",
            Self::Ge(_) => "ge",
        }
    }
}

/// What to change in a comparison for it to compute the complement; `None` of what is no [`Comparison`].
pub fn complement(function: &Function, inst: Inst) -> Option<Complement> {
    let other = Comparison::of(function, inst)?.complement();
    let name = function.opcodes().name(function.opcode(inst));
    Some(match PtxOpcode::of(name) {
        Some(opcode) => {
            let of = opcode.mnemonic.rsplit('.').next()?;
            // The type of `ne` means nothing, but ptxas unrolls loops that go on by another type wrongly.
            let of = if other == Comparison::Ne { of.replace(['b', 'u'], "s") } else { of.to_owned() };
            Complement::Opcode(format!("setp.{}.{of}/{}", other.word(), opcode.form))
        }
        None => Complement::Number {
            operand: function.operands(inst).len() as u32 - 1,
            value: LLVM_NUMBERS.iter().position(|&number| number == other)? as i64,
        },
    })
}

/// The complement of a comparison of LLVM as inline assembly of its three registers, where the text matters: LLVM prints `ne` as
/// `ne.b32`, by which ptxas unrolls some loops wrongly.
pub fn text_of_complement(function: &Function, inst: Inst) -> Option<&'static str> {
    text_of_ne(function, inst).filter(|_| Comparison::of(function, inst) == Some(Comparison::Eq))
}

/// `ne` of signed numbers in the place of a comparison of LLVM, as inline assembly of its three registers. What the block computes ahead
/// of the comparison, as a loop's counter, stands first: ptxas leaves some loops rolled whose bound does.
fn text_of_ne(function: &Function, inst: Inst) -> Option<&'static str> {
    let [_, first, second] =
        function.operands(inst).get(..3)?.iter().map(Operand::reg).collect::<Option<Vec<_>>>()?[..]
    else {
        return None;
    };
    let ahead = || function.block_insts(function.block_of(inst)).take_while(|&other| other != inst);
    let is_new =
        |reg: VReg| ahead().any(|other| function.operands(other).iter().any(|operand| operand.def() == Some(reg)));
    let is_mirrored = is_new(second) && !is_new(first);
    match (function.opcodes().name(function.opcode(inst)), is_mirrored) {
        ("SETP_i32rr", false) => Some("setp.ne.s32 \t$0, $1, $2;"),
        ("SETP_i32rr", true) => Some("setp.ne.s32 \t$0, $2, $1;"),
        ("SETP_i64rr", false) => Some("setp.ne.s64 \t$0, $1, $2;"),
        ("SETP_i64rr", true) => Some("setp.ne.s64 \t$0, $2, $1;"),
        _ => None,
    }
}

/// Whether inline assembly stands for a comparison of LLVM that has become `ne`: the text and the registers are those of
/// [`text_of_complement`].
pub fn is_assembly_of(assembly: (&Function, Inst), comparison: (&Function, Inst)) -> bool {
    let registers = |(function, inst): (&Function, Inst)| -> Vec<(bool, VReg)> {
        let operands = function.operands(inst).iter();
        operands.filter_map(|operand| Some((operand.is_def(), operand.reg()?))).collect()
    };
    let text = text_of_ne(comparison.0, comparison.1);
    Comparison::of(comparison.0, comparison.1) == Some(Comparison::Ne)
        && text.is_some()
        && assembly_text(assembly.0, assembly.1) == text
        && registers(assembly) == registers(comparison)
}

fn is_of_integers(of_llvm: &str) -> bool {
    ["SETP_i32r", "SETP_i64r"].iter().any(|prefix| of_llvm.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::{Comparison, LLVM_NUMBERS, Sign};

    /// What a comparison says of two numbers of eight bits.
    fn holds(comparison: Comparison, left: u8, right: u8) -> bool {
        let ordered = |sign: Sign, compare: fn(&i16, &i16) -> bool| match sign {
            Sign::Unsigned => compare(&i16::from(left), &i16::from(right)),
            Sign::Signed => compare(&i16::from(left.cast_signed()), &i16::from(right.cast_signed())),
        };
        match comparison {
            Comparison::Eq => left == right,
            Comparison::Ne => left != right,
            Comparison::Lt(sign) => ordered(sign, |left, right| left < right),
            Comparison::Le(sign) => ordered(sign, |left, right| left <= right),
            Comparison::Gt(sign) => ordered(sign, |left, right| left > right),
            Comparison::Ge(sign) => ordered(sign, |left, right| left >= right),
        }
    }

    /// A complement holds exactly where the comparison does not, and a mirrored comparison where the numbers change places.
    #[test]
    fn complements_and_mirrors() {
        for comparison in LLVM_NUMBERS {
            for (left, right) in (0..=u8::MAX).flat_map(|left| (0..=u8::MAX).map(move |right| (left, right))) {
                assert_ne!(holds(comparison, left, right), holds(comparison.complement(), left, right));
                assert_eq!(holds(comparison, left, right), holds(comparison.mirrored(), right, left));
            }
        }
    }
}
