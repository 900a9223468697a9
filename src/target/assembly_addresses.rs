//! Operands of inline assembly that are used only as addresses.

use crate::function::assembly::{operand_of, operands, sum, takes_offset};
use crate::function::{Function, Inst, VReg};

/// Instructions with an offset whose generic addresses ptxas first converts to addresses in shared memory.
const MATRICES: [&str; 2] = ["ldmatrix.", "stmatrix."];

/// Returns the operands that a text uses only as bases of addresses: `[$2]`, `[ $2 + 16 ]`. O(text).
pub fn address_operands(text: &str) -> Vec<u32> {
    let (mut bases, mut others) = (Vec::new(), Vec::new());
    for statement in text.trim_start_matches('&').split([';', '\n']) {
        let mut words = statement.split_ascii_whitespace().map(|word| word.trim_start_matches('{'));
        let opcode = words.find(|word| !word.is_empty() && !word.starts_with('@')).unwrap_or_default();
        let is_matrix = MATRICES.iter().any(|prefix| opcode.starts_with(prefix));
        let accesses = takes_offset(opcode) && (opcode.contains(".shared") || !is_matrix);
        for (number, piece) in statement.split('[').enumerate() {
            let (inside, outside) = match piece.split_once(']') {
                Some((inside, outside)) if number > 0 => (inside, outside),
                _ => ("", piece),
            };
            match sum(inside).filter(|_| accesses) {
                Some((base, _)) => bases.push(base),
                None => others.extend(operands(inside)),
            }
            others.extend(operands(outside));
        }
    }
    bases.sort_unstable();
    bases.dedup();
    bases.retain(|base| !others.contains(base));
    bases
}

/// Returns the registers of an instruction that are these operands of its text.
pub fn registers_of(function: &Function, inst: Inst, numbers: &[u32]) -> impl Iterator<Item = VReg> {
    let operands = function.operands(inst);
    numbers.iter().filter_map(|&number| operands[operand_of(operands, number)?].read_reg())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bases of addresses of loads, stores and copies are found, with and without an offset. An operand that is also
    /// stored, added or otherwise used is not a base, nor is an address in an instruction without offsets.
    #[test]
    fn bases_of_addresses() {
        let of = address_operands;
        assert_eq!(of("&mov.u16 $0, $1;\n@$3 ld.global.b16 { $0 }, [ $2 + 0 ];"), [2]);
        assert_eq!(of("&@$2 st.shared.v2.b32 [ $0 + 16 ], { $1, $3 };"), [0]);
        assert_eq!(of("&cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;"), [0, 1]);
        assert!(of("&{ .reg .pred p; @p ld.b32 $0, [$1]; add.s64 $2, $1, 4; }").is_empty());
        assert!(of("&ld.b32 $0, [$1+$2];").is_empty());
        assert!(of("&st.b64 [$0], $0;").is_empty());
        assert!(of("&cp.async.bulk.tensor.2d [$0], [$1, {$2, $3}], [$4];").is_empty());
        assert!(of("&mbarrier.init.b64 [$0], 1;").is_empty());
        assert_eq!(of("&ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];"), [2]);
        assert!(of("&ldmatrix.sync.aligned.m8n8.x2.b16 {$0, $1}, [$2];").is_empty());
    }
}
