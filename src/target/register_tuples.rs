//! The operands of an instruction that need consecutive hardware registers.
//!
//! PTX writes each register of a vector. The hardware's instruction names only the first register of a tuple. The
//! tuples of ptxas 13.0 were read from its SASS for sm_90 and sm_100. Vector loads and stores (`LDG.E.128`, `STS.128`,
//! `SULD….128`) have tuples that are aligned to their length. `TEX` has two pairs. `HMMA` has tuples of up to 4,
//! aligned to 4. `LDTM` has one tuple, aligned to 4. `HGMMA` has one tuple for all accumulators, aligned to 8. For
//! processors before sm_80, the allocator assumes tuples of 8 for accumulators.
//!
//! Vectors in the parameter space are not tuples: their loads do not access memory, and the calling convention places
//! their stores. LLVM has no names for its own matrix instructions (`anonymous_N`), so their operands are unknown here.
//! The operands of matrix instructions in inline assembly are known.

use super::assembly::{Statement, statements};
use super::named_space;
use super::ptx::vector_rows;
use super::tuple_kind::TupleKind;
use crate::function::assembly::operand_of;
use crate::function::{Function, Inst, MemorySpace, Value};

/// Operands that form one register tuple, by their numbers in the instruction, lowest register first. Either all of
/// them are written, or all of them are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterTuple {
    /// The operands.
    pub operands: Vec<usize>,
    /// The kind of register tuple.
    pub kind: TupleKind,
}

/// The position of an opcode's vector, as far as its name determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorShape {
    /// No vector.
    None,
    /// The definitions.
    Written(TupleKind),
    /// The first N operands.
    ReadFirst(usize),
    /// The last N operands.
    ReadLast(usize),
    /// All operands except the first N, stored to tensor memory.
    ReadBehind(usize),
    /// Determined by the text of inline assembly.
    Assembly,
    /// Determined by the suffixes of a PTX opcode.
    Named,
}

impl VectorShape {
    /// Returns the shape of the opcode with this name.
    pub fn of(name: &str) -> Self {
        if let Some(rows) = vector_rows(name) {
            return if rows.is_empty() { Self::None } else { Self::Named };
        }
        let count = || name.split('_').find_map(|word| word.strip_prefix(['v', 'V'])?.get(..1)?.parse().ok());
        match name.split('_').next().unwrap_or_default() {
            "LDV" | "LDU" | "SULD" => Self::Written(TupleKind::Memory),
            "LD" if name.starts_with("LD_GLOBAL_NC_v") => Self::Written(TupleKind::Memory),
            "TEX" | "TLD4" => Self::Written(TupleKind::Texture),
            "STV" => count().map_or(Self::None, Self::ReadFirst),
            "SUST" => count().map_or(Self::None, Self::ReadLast),
            "TCGEN05" if name.starts_with("TCGEN05_ST_") => {
                // The address, and an immediate for this shape.
                Self::ReadBehind(if name.contains("x32bx2") { 2 } else { 1 })
            }
            "TCGEN05" if name.starts_with("TCGEN05_LD_") => Self::Written(TupleKind::TensorMemory),
            "INLINEASM" => Self::Assembly,
            _ => Self::None,
        }
    }

    /// Returns the register tuples of an instruction whose opcode has this shape. Tuples have at least two operands.
    pub fn tuples(self, function: &Function, inst: Inst) -> Vec<RegisterTuple> {
        let operands = function.operands(inst);
        let defs = operands.iter().take_while(|operand| operand.is_def()).count();
        let (row, kind) = match self {
            Self::Assembly => return of_assembly(function, inst),
            Self::Named => return of_name(function, inst),
            Self::None => return Vec::new(),
            _ if is_parameter(function, inst) => return Vec::new(),
            Self::Written(kind) => (0..defs, kind),
            Self::ReadFirst(count) => (0..count.min(operands.len()), TupleKind::Memory),
            Self::ReadLast(count) => (operands.len().saturating_sub(count)..operands.len(), TupleKind::Memory),
            Self::ReadBehind(count) => (count.min(operands.len())..operands.len(), TupleKind::TensorMemory),
        };
        let tuple = RegisterTuple { operands: row.collect(), kind };
        if tuple.operands.len() < 2 { Vec::new() } else { vec![tuple] }
    }
}

/// Whether the instruction loads or stores parameters. The view has no memory space for loads that count as pure.
fn is_parameter(function: &Function, inst: Inst) -> bool {
    let is_pure_load =
        || named_space(function.operands(inst)) == MemorySpace::Param && function.effects(inst).is_pure();
    function.memory_space(inst) == MemorySpace::Param || is_pure_load()
}

/// Returns the register tuples that the name of the opcode defines.
fn of_name(function: &Function, inst: Inst) -> Vec<RegisterTuple> {
    let (operands, name) = (function.operands(inst).len(), function.opcodes().name(function.opcode(inst)));
    let rows =
        vector_rows(name).unwrap_or_default().into_iter().filter(|(first, length, _)| first + length <= operands);
    rows.map(|(first, length, kind)| RegisterTuple { operands: (first..first + length).collect(), kind }).collect()
}

/// Returns the register tuples in the text of inline assembly, each once.
fn of_assembly(function: &Function, inst: Inst) -> Vec<RegisterTuple> {
    let operands = function.operands(inst);
    let Some(&Value::Symbol(text)) = operands.first().map(|operand| &operand.value) else { return Vec::new() };
    let mut found: Vec<RegisterTuple> = Vec::new();
    for Statement { vectors, kind } in statements(function.symbol(text)) {
        for vector in vectors {
            let row: Option<Vec<usize>> = vector.iter().map(|&number| operand_of(operands, number)).collect();
            let Some(row) = row.filter(|row| row.len() > 1) else { continue };
            if !found.iter().any(|tuple| tuple.operands == row) {
                found.push(RegisterTuple { operands: row, kind });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the register tuples of the only instruction of a function.
    fn tuples(opcode: &str, symbol: &str, operands: &str) -> Vec<RegisterTuple> {
        let symbol = if symbol.is_empty() { String::new() } else { format!("@0 = \"{symbol}\"\n") };
        let text = format!(
            "mfv 1\nfunction \"k\"\nopcode {opcode}\nregs %0 B32 B32 B32 B32 B64 B32\n{symbol}\
             bb0: frequency 1.0 depth 0\n  {operands}\nend\n"
        );
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        VectorShape::of(opcode).tuples(&function, Inst(0))
    }

    fn row(operands: impl IntoIterator<Item = usize>, kind: TupleKind) -> RegisterTuple {
        RegisterTuple { operands: operands.into_iter().collect(), kind }
    }

    /// Loads write tuples, and stores read them. Parameters are not tuples.
    #[test]
    fn of_vector_memory() {
        let load =
            |space| tuples("LDV_i32_v2", "", &format!("%0, %1 = LDV_i32_v2 0, 0, 1, 3, 32, %4, 0 :: read {space}"));
        assert_eq!(load("global"), [row(0..2, TupleKind::Memory)]);
        assert_eq!(load("param"), []);
        assert_eq!(tuples("LDV_i32_v2", "", "%0, %1 = LDV_i32_v2 0, 0, 101, 3, 32, -1, 0"), []);
        let tensor = tuples("TCGEN05_ST_16x32bx2_x2", "", "TCGEN05_ST_16x32bx2_x2 %0, 2, %1, %2 :: opaque");
        assert_eq!(tensor, [row(2..4, TupleKind::TensorMemory)]);
        let store = tuples("STV_i32_v4", "", "STV_i32_v4 %0, %1, 7, %3, 0, 0, 3, 32, %4, 0 :: write shared");
        assert_eq!(store, [row(0..4, TupleKind::Memory)]);
        let surface = tuples("SUST_B_1D_V2I32_TRAP_R", "", "SUST_B_1D_V2I32_TRAP_R %4, %0, %1, %2 :: write global");
        assert_eq!(surface, [row(2..4, TupleKind::Memory)]);
        assert_eq!(tuples("LD_i32", "", "%0 = LD_i32 %4 :: read"), []);
        assert_eq!(VectorShape::of("LD_GLOBAL_NC_i32"), VectorShape::None);
        assert_eq!(VectorShape::of("TEX_2D_F32_F32_RR"), VectorShape::Written(TupleKind::Texture));
        assert_eq!(VectorShape::of("STV_i64_v2"), VectorShape::ReadFirst(2));
    }

    /// Inline assembly has the tuples of its text, with operand positions that skip the operand descriptors. Each tuple
    /// is reported once. A vector with anything but operands is not a tuple.
    #[test]
    fn of_inline_assembly() {
        let operands = "INLINEASM @0, 1, 262154, def %0, 262154, def %1, 262153, %2, 262153, %3 :: opaque";
        let rows = tuples("INLINEASM", "mma.sync {$0, $1}, {$2,$3}, {$0, $1}, {$3, 1};", operands);
        assert_eq!(rows, [row([3, 5], TupleKind::Matrix), row([7, 9], TupleKind::Matrix)]);
        assert_eq!(tuples("INLINEASM", "{ .reg .pred p; add $0, $1, $9; }", operands), []);
    }
}
