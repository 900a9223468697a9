//! Requests of a function for fewer or more registers at run time: `setmaxnreg`, as LLVM's own instruction or in inline
//! assembly.

use super::machine::Repartition;
use crate::function::assembly::operand_of;
use crate::function::{Function, Operand, Symbol, Value};

const NAME: &str = "setmaxnreg.";

/// Whether the opcode with this name is LLVM's own instruction, `setmaxnreg.inc.sync.aligned.u32` or `.dec`. LLVM
/// itself has no name for it.
pub fn asks_for_registers(opcode: &str) -> bool {
    opcode.starts_with(NAME)
}

/// Whether inline assembly of a function may contain a request. O(the texts of its symbols).
pub fn assembly_may_ask(function: &Function) -> bool {
    (0..function.num_symbols()).any(|symbol| function.symbol(Symbol(symbol as u32)).contains(NAME))
}

/// Returns the requests of a function with their source lines, in the order of the code. A request whose number is not
/// a constant is left out, because ptxas refuses it. O(instructions), and the texts of inline assembly.
pub fn repartitions(function: &Function) -> Vec<(Repartition, u32)> {
    let mut requests = Vec::new();
    for inst in function.insts() {
        let line = function.line(inst);
        let (opcode, operands) = (function.opcodes().name(function.opcode(inst)), function.operands(inst));
        match operands.first().map(|operand| operand.value) {
            Some(Value::Immediate(number)) if asks_for_registers(opcode) => {
                let request = u32::try_from(number).ok().and_then(|number| repartition_of(opcode, number));
                requests.extend(request.map(|request| (request, line)));
            }
            Some(Value::Symbol(symbol)) => {
                requests.extend(of_text(function.symbol(symbol), operands).map(|request| (request, line)));
            }
            _ => {}
        }
    }
    requests
}

fn of_text<'a>(text: &'a str, operands: &'a [Operand]) -> impl Iterator<Item = Repartition> + 'a {
    text.split([';', '\n', '{', '}']).filter_map(|statement| {
        let start = statement.find(NAME)?;
        let (instruction, number) = statement[start..].trim_end().rsplit_once(char::is_whitespace)?;
        let number = match number.strip_prefix('$') {
            None => number.parse().ok()?,
            Some(operand) => match operands[operand_of(operands, operand.parse().ok()?)?].value {
                Value::Immediate(number) => u32::try_from(number).ok()?,
                _ => return None,
            },
        };
        repartition_of(instruction, number)
    })
}

/// Returns the request of the instruction with this name. `None` for other instructions.
pub fn repartition_of(name: &str, number: u32) -> Option<Repartition> {
    match name.strip_prefix(NAME)?.split('.').next()? {
        "inc" => Some(Repartition::Increase(number)),
        "dec" => Some(Repartition::Decrease(number)),
        _ => None,
    }
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
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        repartitions(&function).into_iter().map(|(request, _)| request).collect()
    }

    /// The register count of a request may be in the text or among the operands. Every request of a text is found.
    #[test]
    fn numbers() {
        let texts = ["&setmaxnreg.inc.sync.aligned.u32 $1;\\n", "&{setmaxnreg.dec.sync.aligned.u32 40;}"];
        assert_eq!(of(texts, ["1, 13, 24, 13, 96", "1"]), [Increase(96), Decrease(40)]);
    }

    /// Requests of LLVM's own instructions and of inline assembly are returned in the order of the code.
    #[test]
    fn instructions() {
        let text = "mfv 1\nfunction \"k\"\nopcode INLINEASM\nopcode setmaxnreg.inc.sync.aligned.u32\n\
            opcode setmaxnreg.dec.sync.aligned.u32\n@0 = \"&setmaxnreg.dec.sync.aligned.u32 32;\"\n\
            bb0: frequency 1.0 depth 0\n  setmaxnreg.dec.sync.aligned.u32 40 :: line 7\n  INLINEASM @0, 1\n  \
            setmaxnreg.inc.sync.aligned.u32 232\nend\n";
        let function = Function::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(repartitions(&function), [(Decrease(40), 7), (Decrease(32), 0), (Increase(232), 0)]);
    }

    /// Other instructions, and missing or invalid numbers, give no request.
    #[test]
    fn nothing() {
        let texts = ["&setmaxnreg.inc.sync.aligned.u32 $0;", "&bar.sync 40;"];
        assert_eq!(of(texts, ["1", "1"]), []);
        assert_eq!(of(["&setmaxnreg.dec.sync.aligned.u32 all;", "&setmaxnreg."], ["1", "1"]), []);
    }
}
