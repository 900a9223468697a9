//! Where a function gives registers back and takes them while it runs: `setmaxnreg` in inline assembly.
//!
//! LLVM's own instructions for it have no name (`anonymous_N`) and are not seen.

use super::assembly::operand_of;
use super::machine::Repartition;
use crate::function::{Function, Inst, Operand, Symbol, Value};

const NAME: &str = "setmaxnreg.";

/// The requests of a function, in the order of its code. One whose number is no constant is left out: ptxas takes none
/// such. O(symbols), their texts, and where one of them asks, instructions.
pub fn repartitions(function: &Function) -> Vec<Repartition> {
    let mut symbols = (0..function.num_symbols()).map(|symbol| function.symbol(Symbol(symbol as u32)));
    if !symbols.any(|text| text.contains(NAME)) {
        return Vec::new();
    }
    let text = |inst: Inst| match function.operands(inst).first()?.value {
        Value::Symbol(symbol) => Some(function.symbol(symbol)).filter(|text| text.contains(NAME)),
        _ => None,
    };
    let asking = function.insts().filter_map(|inst| Some((text(inst)?, function.operands(inst))));
    asking.flat_map(|(text, operands)| of_text(text, operands)).collect()
}

fn of_text<'a>(text: &'a str, operands: &'a [Operand]) -> impl Iterator<Item = Repartition> + 'a {
    text.split([';', '\n', '{', '}']).filter_map(|statement| {
        let rest = statement.split_once(NAME)?.1;
        let (instruction, number) = rest.trim_end().rsplit_once(char::is_whitespace)?;
        let number = match number.strip_prefix('$') {
            None => number.parse().ok()?,
            Some(operand) => match operands[operand_of(operands, operand.parse().ok()?)?].value {
                Value::Immediate(number) => u32::try_from(number).ok()?,
                _ => return None,
            },
        };
        match instruction.split('.').next()? {
            "inc" => Some(Repartition::Increase(number)),
            "dec" => Some(Repartition::Decrease(number)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Repartition::*, *};

    fn of(texts: [&str; 2], operands: [&str; 2]) -> Vec<Repartition> {
        let text = format!(
            "mfv 1\nfunction \"k\"\nopcode INLINEASM\n@0 = \"{}\"\n@1 = \"{}\"\n\
             bb0: frequency 1.0 depth 0\n  INLINEASM @0, {}\n  INLINEASM @1, {}\nend\n",
            texts[0], texts[1], operands[0], operands[1]
        );
        repartitions(&Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
    }

    /// Numbers stand in the text or among the operands, and every instruction counts.
    #[test]
    fn numbers() {
        let texts = ["&setmaxnreg.inc.sync.aligned.u32 $1;\\n", "&{setmaxnreg.dec.sync.aligned.u32 40;}"];
        assert_eq!(of(texts, ["1, 13, 24, 13, 96", "1"]), [Increase(96), Decrease(40)]);
    }

    /// Other instructions, and numbers that are missing or none, ask for nothing.
    #[test]
    fn nothing() {
        let texts = ["&setmaxnreg.inc.sync.aligned.u32 $0;", "&bar.sync 40;"];
        assert_eq!(of(texts, ["1", "1"]), []);
        assert_eq!(of(["&setmaxnreg.dec.sync.aligned.u32 all;", "&setmaxnreg."], ["1", "1"]), []);
    }
}
