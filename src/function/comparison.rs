//! Integer comparisons that set one predicate, and their complements.

use super::assembly::assembly_text;
use super::ptx_opcode::{PtxOpcode, equivalent};
use super::{Function, Inst, Operand, VReg};

/// A relation between two integers. The ordered relations are unsigned or signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// The first is less than the second.
    Lt(Sign),
    /// The first is less than or equal to the second.
    Le(Sign),
    /// The first is greater than the second.
    Gt(Sign),
    /// The first is greater than or equal to the second.
    Ge(Sign),
}

/// The signedness of an ordered comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Unsigned.
    Unsigned,
    /// Two's complement.
    Signed,
}

/// The integer comparisons, indexed by LLVM's numbers. Unsigned orders come last.
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

/// The change that makes a comparison compute the complement of its predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complement {
    /// For LLVM opcodes: another number in this operand.
    Number {
        /// The operand's index.
        operand: u32,
        /// LLVM's number of the complement.
        value: i64,
    },
    /// For PTX opcodes: the opcode with this name.
    Opcode(String),
}

impl Comparison {
    /// Returns the comparison of an instruction. `None` unless the instruction compares two integers of 32 or 64 bits,
    /// sets one predicate, and has no other effect.
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

    /// Returns the comparison that holds exactly if this one does not.
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

    /// Returns the comparison for exchanged operands.
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

    /// Whether the comparison is an ordered comparison of signed numbers.
    pub fn is_signed_order(self) -> bool {
        matches!(
            self,
            Self::Lt(Sign::Signed) | Self::Le(Sign::Signed) | Self::Gt(Sign::Signed) | Self::Ge(Sign::Signed)
        )
    }

    /// Returns the comparison's word in a PTX mnemonic. The type after the word determines the signedness.
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

/// Returns the change that makes an instruction compute the complement. `None` if the instruction is not a
/// [`Comparison`].
pub fn complement(function: &Function, inst: Inst) -> Option<Complement> {
    let other = Comparison::of(function, inst)?.complement();
    let name = function.opcodes().name(function.opcode(inst));
    Some(match PtxOpcode::of(name) {
        Some(opcode) => {
            let of = opcode.mnemonic.rsplit('.').next()?;
            // The type has no effect on the result of `ne`, but ptxas unrolls some loops incorrectly if the type is not
            // signed.
            let of = if other == Comparison::Ne { of.replace(['b', 'u'], "s") } else { of.to_owned() };
            Complement::Opcode(format!("setp.{}.{of}/{}", other.word(), opcode.form))
        }
        None => Complement::Number {
            operand: function.operands(inst).len() as u32 - 1,
            value: LLVM_NUMBERS.iter().position(|&number| number == other)? as i64,
        },
    })
}

/// Returns inline assembly, with three registers, for the complement of an LLVM comparison. `None` unless the
/// complement is `ne` of registers. LLVM prints `ne` as `ne.b32`, with which ptxas unrolls some loops incorrectly.
pub fn text_of_complement(function: &Function, inst: Inst) -> Option<&'static str> {
    text_of_ne(function, inst).filter(|_| Comparison::of(function, inst) == Some(Comparison::Eq))
}

/// Returns inline assembly, with three registers, that replaces an LLVM comparison by signed `ne`. An operand that the
/// block computes before the comparison, such as a loop counter, comes first. If the bound came first, ptxas would not
/// unroll some loops.
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

/// Whether inline assembly replaces an LLVM comparison that has become `ne`. The assembly must have the text and the
/// registers of [`text_of_complement`].
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

    /// Evaluates a comparison of two 8-bit numbers.
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

    /// A complement holds exactly if the comparison does not. A mirrored comparison gives the same result for exchanged
    /// operands.
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
