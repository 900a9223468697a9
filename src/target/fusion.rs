//! Products that ptxas may fuse with the sum that reads them.
//!
//! PTX ISA, `mul`: a multiplication and an addition of floating-point numbers without a rounding modifier "may be
//! optimized to use fused-multiply-add". The product then has no register, and the sum is rounded once. If such a
//! product goes through memory, ptxas cannot fuse it: the code has one instruction more, and the result may have other
//! bits.

/// Whether an opcode is a multiplication that ptxas may fuse with a sum. `name` is LLVM's name, or PTX's mnemonic and
/// form.
pub fn is_fusible_product(name: &str) -> bool {
    is_unrounded(name, &["FMUL"], &["mul"])
}

/// Whether an opcode is a sum or a difference that ptxas may fuse with a product.
pub fn is_fusible_sum(name: &str) -> bool {
    is_unrounded(name, &["FADD", "FSUB"], &["add", "sub"])
}

/// Whether an opcode is one of the given operations on floating-point numbers, without a rounding modifier.
fn is_unrounded(name: &str, llvm: &[&str], mnemonics: &[&str]) -> bool {
    if let Some(rest) = llvm.iter().find_map(|prefix| name.strip_prefix(prefix)) {
        return rest.starts_with('f') || rest.starts_with("bf");
    }
    let mnemonic = name.trim_start_matches('@').split('/').next().unwrap_or_default();
    let mut words = mnemonic.split('.');
    words.next().is_some_and(|first| mnemonics.contains(&first)) && {
        let is_rounding = |word: &str| matches!(word, "rn" | "rz" | "rm" | "rp");
        let is_float = |word: &str| (word.starts_with('f') && word != "ftz") || word.starts_with("bf");
        !words.clone().any(is_rounding) && words.any(is_float)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rounding modifier prevents the fusion. Integers have no such fused operation.
    #[test]
    fn without_a_rounding_modifier() {
        for name in ["FMULf32rr", "FMULbf16x2rr", "mul.f32/rrr", "mul.ftz.f32/rri", "@mul.f64/rrr", "mul.bf16x2/rrr"] {
            assert!(is_fusible_product(name) && !is_fusible_sum(name), "{name}");
        }
        for name in ["FADDf32rr", "FSUBf64rr", "add.f32/rrr", "@sub.ftz.f32/rri"] {
            assert!(is_fusible_sum(name) && !is_fusible_product(name), "{name}");
        }
        for name in
            ["FMUL_rnf32rr", "FADD_rnf32rr", "mul.rn.f32/rrr", "mul.rz.ftz.f32/rrr", "mul.lo.s32/rrr", "add.s32/rrr"]
        {
            assert!(!is_fusible_product(name) && !is_fusible_sum(name), "{name}");
        }
    }
}
