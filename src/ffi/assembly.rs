//! Effects of inline assembly in LLVM IR.

use super::abi::{self, nvptx_ra_str};
use super::guard::entry;
use crate::target::AssemblyEffects;

/// Returns the effects of inline assembly, judged by its text and constraints. Unknown on any error.
///
/// # Safety
/// The texts must be live, and their lengths must be correct.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_assembly_effects(text: nvptx_ra_str, constraints: nvptx_ra_str) -> u32 {
    entry(
        |_| abi::NVPTX_RA_ASSEMBLY_UNKNOWN,
        || {
            // SAFETY: the caller promises the texts.
            let (text, constraints) = unsafe { (abi::text(text), abi::text(constraints)) };
            match AssemblyEffects::of(&text, &constraints) {
                AssemblyEffects::Computes => abi::NVPTX_RA_ASSEMBLY_COMPUTES,
                AssemblyEffects::ComputesTogether => abi::NVPTX_RA_ASSEMBLY_COMPUTES_TOGETHER,
                AssemblyEffects::Reads => abi::NVPTX_RA_ASSEMBLY_READS,
                // LLVM learns only of reads of memory that no code writes. The passes that order instructions query
                // other loads separately.
                AssemblyEffects::Loads | AssemblyEffects::Unknown => abi::NVPTX_RA_ASSEMBLY_UNKNOWN,
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each kind of effect is passed to LLVM unchanged.
    #[test]
    fn kinds() {
        // SAFETY: both texts are alive.
        let of = |text: &str| unsafe { nvptx_ra_assembly_effects(abi::borrow(text), abi::borrow("=r,r")) };
        assert_eq!(of("popc.b32 $0, $1;"), abi::NVPTX_RA_ASSEMBLY_COMPUTES);
        assert_eq!(of("movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;"), abi::NVPTX_RA_ASSEMBLY_COMPUTES_TOGETHER);
        assert_eq!(of("ld.global.nc.b32 $0, [$1];"), abi::NVPTX_RA_ASSEMBLY_READS);
        assert_eq!(of("ld.global.b32 $0, [$1];"), abi::NVPTX_RA_ASSEMBLY_UNKNOWN);
        assert_eq!(of("exit;"), abi::NVPTX_RA_ASSEMBLY_UNKNOWN);
    }
}
