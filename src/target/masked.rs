//! Masked memory accesses in inline assembly, as Triton writes them: moves set the results for a false mask, and the
//! access is under a predicate.

use crate::function::assembly::{operand, operand_of};
use crate::function::{Function, Inst, Operand, OperandFlags, Symbol, VReg, Value};

/// Inline assembly with a mask: its moves, which define the results if the mask is false. Registers are operand numbers
/// in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    mask: u32,
    moves: Vec<(u32, Source)>,
}

/// The source of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Number,
    Operand(u32),
}

/// A register that assembly writes, and its value if the mask is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// A constant, or an unknown value.
    Constant(VReg),
    /// The value of the second register.
    Copy(VReg, VReg),
}

/// Whether any inline assembly of a function, or any statement of PTX, is under a predicate. O(the texts of its symbols
/// + instructions).
pub fn has_masks(function: &Function) -> bool {
    (0..function.num_symbols()).any(|symbol| function.symbol(Symbol(symbol as u32)).contains("@$"))
        || function.insts().any(|inst| function.opcodes().name(function.opcode(inst)).starts_with('@'))
}

/// Returns the predicate of a guarded PTX statement, and whether the statement executes if the predicate is false. The
/// predicate is the last operand of the statement; the sign of a negation follows it.
pub fn guard(operands: &[Operand]) -> Option<(VReg, bool)> {
    let mut named = operands.iter().rev().skip_while(|operand| operand.flags.contains(OperandFlags::IMPLICIT));
    let last = named.next()?;
    let is_negated = matches!(last.value, Value::Symbol(_));
    let predicate = if is_negated { named.next()? } else { last };
    Some((predicate.read_reg()?, is_negated))
}

impl Masked {
    /// Reads the text of inline assembly. It must consist of moves of operands and constants, followed by statements
    /// under one common predicate. Otherwise, returns `None`. O(text).
    pub fn parse(text: &str) -> Option<Self> {
        let mut mask = None;
        let mut moves = Vec::new();
        for statement in text.trim_start_matches('&').split([';', '\n']).map(str::trim).filter(|text| !text.is_empty())
        {
            if let Some(guarded) = statement.strip_prefix('@') {
                let number = operand(guarded.split_ascii_whitespace().next()?)?;
                if *mask.get_or_insert(number) != number {
                    return None;
                }
            } else {
                let (kind, moved) = statement.split_once(char::is_whitespace)?;
                let (to, from) = moved.split_once(',')?;
                let source = match from.trim() {
                    number if number.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {
                        Source::Number
                    }
                    register => Source::Operand(operand(register)?),
                };
                // A move after the access would change the result for a true mask, too.
                if !kind.starts_with("mov.") || mask.is_some() {
                    return None;
                }
                moves.push((operand(to.trim())?, source));
            }
        }
        Some(Self { mask: mask?, moves })
    }

    /// Returns the register of the mask, for an instruction with this text.
    pub fn mask(&self, operands: &[Operand]) -> Option<VReg> {
        operands[operand_of(operands, self.mask)?].reg()
    }

    /// Returns the results of an instruction with this text if its mask is false: one entry for each register that it
    /// writes. `None` if an operand does not match the text.
    pub fn left(&self, function: &Function, inst: Inst) -> Option<Vec<Left>> {
        let operands = function.operands(inst);
        let moved_to = |reg| {
            let is_it = |&&(to, _): &&(u32, Source)| {
                operand_of(operands, to).is_some_and(|place| operands[place].def() == Some(reg))
            };
            self.moves.iter().rfind(is_it).map(|&(_, source)| source)
        };
        let written = operands.iter().filter_map(|operand| operand.def());
        let left = written.map(|reg| match moved_to(reg) {
            None | Some(Source::Number) => Some(Left::Constant(reg)),
            Some(Source::Operand(number)) => match operands[operand_of(operands, number)?].value {
                Value::Reg(source) => Some(Left::Copy(reg, source)),
                Value::Immediate(_) | Value::Float(_) => Some(Left::Constant(reg)),
                _ => None,
            },
        });
        left.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Masked, Source};

    /// Loads and stores under a mask are recognised. Other texts are refused.
    #[test]
    fn texts() {
        let load = "&mov.u32 $0, $2;\n\tmov.u32 $1, 0x0;\n\t@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];";
        let moves = vec![(0, Source::Operand(2)), (1, Source::Number)];
        assert_eq!(Masked::parse(load), Some(Masked { mask: 5, moves }));
        let store = "&@$2 st.global.b16 [ $1 + 0 ], { $0 };";
        assert_eq!(Masked::parse(store), Some(Masked { mask: 2, moves: Vec::new() }));
        for text in [
            "&ld.global.b32 { $0 }, [ $1 + 0 ];",
            "&mov.u32 $0, $1;",
            "&@$2 ld.global.b32 { $0 }, [ $1 + 0 ];\n@$3 st.global.b32 [ $1 + 0 ], { $4 };",
            "&@$2 ld.global.b32 { $0 }, [ $1 + 0 ];\nmov.u32 $0, 0x0;",
            "&@!$2 ld.global.b32 { $0 }, [ $1 + 0 ];",
            "&{ .reg .pred p;\nsetp.eq.u32 p, $2, 0;\n@p st.global.b16 [ $1 + 0 ], { $0 }; }",
            "&add.u32 $0, $1, $2;\n@$3 st.global.b32 [ $1 + 0 ], { $0 };",
            "&mov.u32 $0, %clock;\n@$3 st.global.b32 [ $1 + 0 ], { $0 };",
            "",
        ] {
            assert_eq!(Masked::parse(text), None, "{text}");
        }
    }
}
