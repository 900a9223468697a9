//! Which operands of a mnemonic are rows of registers.

use super::super::TupleKind;
use crate::function::ptx_opcode::{PtxOpcode, operands};

/// The vectors of a mnemonic's operands: how many operands of the view stand ahead of each, how long it is, and what
/// kind of row.
pub(in super::super) fn vector_rows(name: &str) -> Option<Vec<(usize, usize, TupleKind)>> {
    let opcode = PtxOpcode::of(name)?;
    let kind = kind_of(opcode.mnemonic)?;
    let vectors = operands(opcode.form).filter(|&(letter, _, length)| letter == 'v' && length > 1);
    Some(vectors.map(|(_, at, length)| (at, length, kind)).collect())
}

/// What kind of row the vectors of a mnemonic are; `None` where they are no rows of the hardware.
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
