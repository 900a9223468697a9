//! The operands of a mnemonic that are register tuples.

use super::super::TupleKind;
use crate::function::ptx_opcode::{PtxOpcode, operands};

/// Returns the vectors among a mnemonic's operands. For each: the number of the view's operands before it, its length,
/// and its kind of register tuple.
pub(in super::super) fn vector_rows(name: &str) -> Option<Vec<(usize, usize, TupleKind)>> {
    let opcode = PtxOpcode::of(name)?;
    let kind = kind_of(opcode.mnemonic)?;
    let vectors = operands(opcode.form).filter(|&(letter, _, length)| letter == 'v' && length > 1);
    Some(vectors.map(|(_, at, length)| (at, length, kind)).collect())
}

/// Returns the kind of register tuple of a mnemonic's vectors. `None` if the hardware does not need consecutive
/// registers.
fn kind_of(mnemonic: &str) -> Option<TupleKind> {
    let has = |part: &str| mnemonic.split('.').any(|word| word == part);
    Some(match mnemonic.split('.').next().unwrap_or_default() {
        "ld" | "st" if has("param") || has("param::func") || has("param::entry") => return None,
        "ld" | "ldu" | "st" | "suld" | "sust" | "multimem" | "atom" | "red" => TupleKind::Memory,
        "tex" | "tld4" => TupleKind::Texture,
        "wgmma" => TupleKind::Warpgroup,
        "mma" | "wmma" | "ldmatrix" | "stmatrix" => TupleKind::Matrix,
        "tcgen05" => TupleKind::TensorMemory,
        _ => return None,
    })
}
