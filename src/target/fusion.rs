//! Products that ptxas may compute together with the sum that reads them.
//!
//! PTX ISA, `mul`: a multiplication and an addition of floating-point numbers without a rounding modifier "may be optimized
//! to use fused-multiply-add". The product then has no register, and the sum is rounded once. If such a product goes
//! through memory, ptxas fuses nothing: the code has an instruction more, and other bits.

/// Whether an opcode, by LLVM's name or by PTX's mnemonic and form, is a multiplication that ptxas may fuse.
pub fn may_fuse(name: &str) -> bool {
    if let Some(rest) = name.strip_prefix("FMUL") {
        return rest.starts_with('f') || rest.starts_with("bf");
    }
    let mnemonic = name.trim_start_matches('@').split('/').next().unwrap_or_default();
    let mut words = mnemonic.split('.');
    words.next() == Some("mul") && {
        let is_rounding = |word: &str| matches!(word, "rn" | "rz" | "rm" | "rp");
        let is_float = |word: &str| word.starts_with('f') && word != "ftz" || word.starts_with("bf");
        !words.clone().any(is_rounding) && words.any(is_float)
    }
}

#[cfg(test)]
mod tests {
    use super::may_fuse;

    /// Rounding modifiers forbid it, and integers have no fused operations of that kind.
    #[test]
    fn products_without_a_rounding_modifier() {
        for name in ["FMULf32rr", "FMULbf16x2rr", "mul.f32/rrr", "mul.ftz.f32/rri", "@mul.f64/rrr", "mul.bf16x2/rrr"] {
            assert!(may_fuse(name), "{name}");
        }
        for name in [
            "FMUL_rnf32rr",
            "FADDf32rr",
            "mul.rn.f32/rrr",
            "mul.rz.ftz.f32/rrr",
            "mul.lo.s32/rrr",
            "MUL_LO32rr",
            "add.f32/rrr",
        ] {
            assert!(!may_fuse(name), "{name}");
        }
    }
}
