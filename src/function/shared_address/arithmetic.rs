//! Integer arithmetic of instructions, by LLVM's and PTX's names.

use crate::function::ptx_opcode::as_llvm;

/// The value of an instruction's first operand, as a function of the other operands in order. For 64-bit registers,
/// only the low 32 bits are considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// The sum of two operands.
    Add,
    /// The first operand minus the second.
    Subtract,
    /// The product of two operands.
    Multiply,
    /// The product of two operands, plus a third.
    MultiplyAdd,
    /// The first operand shifted left by the second.
    ShiftLeft,
    /// The first operand shifted right by the second, logically.
    ShiftRight,
    /// The first operand shifted right by the second, arithmetically.
    ShiftRightSigned,
    /// The bitwise and.
    And,
    /// The bitwise or.
    Or,
    /// The minimum of two unsigned numbers.
    Minimum,
    /// The first operand.
    Same,
    /// The first operand converted from a shared address to a generic one, by adding the base of the shared-memory
    /// window.
    IntoWindow,
    /// The first operand converted from a generic address to a shared one.
    OutOfWindow,
    /// A number that is constant for each thread, and at most this.
    AtMost(u32),
}

/// The arithmetic by the beginning of LLVM's name. Letters for registers and immediates follow it.
const BY_BASE: [(&str, Arithmetic); 31] = [
    ("ADD32", Arithmetic::Add),
    ("ADD64", Arithmetic::Add),
    ("SUB32", Arithmetic::Subtract),
    ("SUB64", Arithmetic::Subtract),
    ("MULT32", Arithmetic::Multiply),
    ("MULT64", Arithmetic::Multiply),
    // The low half of a product does not depend on signedness.
    ("MUL_WIDEs32_", Arithmetic::Multiply),
    ("MUL_WIDEu32_", Arithmetic::Multiply),
    ("MAD_LO_S32", Arithmetic::MultiplyAdd),
    ("MAD_LO_S64", Arithmetic::MultiplyAdd),
    ("MAD_WIDE_S32", Arithmetic::MultiplyAdd),
    ("MAD_WIDE_U32", Arithmetic::MultiplyAdd),
    ("SHL32_", Arithmetic::ShiftLeft),
    ("SHL64_", Arithmetic::ShiftLeft),
    ("SRL32_", Arithmetic::ShiftRight),
    ("SRA32_", Arithmetic::ShiftRightSigned),
    ("AND_b32", Arithmetic::And),
    ("AND_b64", Arithmetic::And),
    ("OR_b32", Arithmetic::Or),
    ("OR_b64", Arithmetic::Or),
    ("UMIN32", Arithmetic::Minimum),
    ("CVT_u32_u64", Arithmetic::Same),
    ("CVT_s32_s64", Arithmetic::Same),
    ("CVT_u64_u32", Arithmetic::Same),
    ("CVT_s64_s32", Arithmetic::Same),
    ("cvta_shared", Arithmetic::IntoWindow),
    ("cvta_shared_64", Arithmetic::IntoWindow),
    ("cvta_to_shared", Arithmetic::OutOfWindow),
    ("cvta_to_shared_64", Arithmetic::OutOfWindow),
    ("INT_PTX_SREG_TID_", Arithmetic::AtMost(MOST_THREADS)),
    ("SREG_LANEID", Arithmetic::AtMost(31)),
];

/// The largest index of a thread in one dimension (CUDA Programming Guide, "Compute Capabilities").
const MOST_THREADS: u32 = 1023;

/// Returns the arithmetic of an opcode, given LLVM's name, or PTX's mnemonic and operand form.
pub(super) fn arithmetic(name: &str) -> Option<Arithmetic> {
    let name = as_llvm(name);
    let is_form = |rest: &str| rest.bytes().all(|letter| matches!(letter, b'r' | b'i'));
    BY_BASE.iter().find_map(|&(base, arithmetic)| {
        let rest = name.strip_prefix(base)?;
        let fits = match arithmetic {
            Arithmetic::AtMost(_) => rest.len() <= 1,
            _ => is_form(rest),
        };
        fits.then_some(arithmetic)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLVM's name and PTX's name of an instruction give the same arithmetic. High halves of products, other types and
    /// predicated instructions give none.
    #[test]
    fn by_both_names() {
        for (llvm, ptx, expected) in [
            ("ADD64rr", "add.s64/rrr", Arithmetic::Add),
            ("SUB32ir", "sub.s32/rir", Arithmetic::Subtract),
            ("MUL_WIDEu32_ri", "mul.wide.u32/rri", Arithmetic::Multiply),
            ("MAD_LO_S32rir", "mad.lo.s32/rrir", Arithmetic::MultiplyAdd),
            ("SHL64_ri", "shl.b64/rri", Arithmetic::ShiftLeft),
            ("SRA32_ri", "shr.s32/rri", Arithmetic::ShiftRightSigned),
            ("OR_b32rr", "or.b32/rrr", Arithmetic::Or),
            ("CVT_s64_s32", "cvt.s64.s32/rr", Arithmetic::Same),
            ("cvta_shared_64", "cvta.shared.u64/rr", Arithmetic::IntoWindow),
            ("cvta_to_shared_64", "cvta.to.shared.u64/rr", Arithmetic::OutOfWindow),
            ("INT_PTX_SREG_TID_x", "mov.u32/%tid.x", Arithmetic::AtMost(1023)),
        ] {
            assert_eq!((arithmetic(llvm), arithmetic(ptx)), (Some(expected), Some(expected)), "{llvm} {ptx}");
        }
        let others = ["ADD16rr", "MUL_HI_S32rr", "SRL64_ri", "ADDCCCi32rr", "INT_PTX_SREG_NTID_x"];
        let of_ptx =
            ["add.s16/rrr", "mul.hi.s32/rrr", "shr.u64/rri", "@add.s32/rrr", "add.cc.s32/rrr", "mov.u32/%ntid.x"];
        for name in others.into_iter().chain(of_ptx).chain([
            "cvt.u32.u16/rr",
            "cvt.sat.u32.u64/rr",
            "cvt.sat.s32.s64/rr",
            "add.s32/rp",
            "add.s32/rsi",
        ]) {
            assert_eq!(arithmetic(name), None, "{name}");
        }
    }
}
