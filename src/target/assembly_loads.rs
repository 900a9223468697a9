//! Loads in inline assembly, such as the masked loads of Triton, as plain reads.

use super::assembly_effects::loaded_space;
use super::{Classification, Purity};
use crate::function::assembly::assembly_text;
use crate::function::{Effects, Function, Inst};

/// Returns the function with the effects of inline assembly that only loads reduced to a read of memory, even if it is
/// `volatile`. Assembly that clobbers memory stays opaque. Two such loads need not keep their order, like any two weak
/// loads in PTX. O(instructions, and the texts).
pub fn with_assembly_loads(function: &Function, classification: &Classification) -> Function {
    let mut function = function.clone();
    for inst in function.insts() {
        if let Some(space) = text(&function, classification, inst).and_then(loaded_space) {
            function.inst_effects[inst] = Effects::READ;
            function.inst_space[inst] = space;
        }
    }
    function
}

/// Returns the text of inline assembly with unknown effects. `None` for other instructions.
fn text<'a>(function: &'a Function, classification: &Classification, inst: Inst) -> Option<&'a str> {
    let effects = function.effects(inst);
    let allowed = Effects::OPAQUE | Effects::TRAP | Effects::CONVERGENT;
    let is_unknown = effects.contains(Effects::OPAQUE) && allowed.contains(effects);
    let is_assembly = is_unknown && classification.of(function, inst).purity == Purity::InlineAsm;
    if is_assembly { assembly_text(function, inst) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::MemorySpace;

    /// Loads read the memory that they name, even if they are volatile or convergent. Stores, and assembly that
    /// clobbers memory, keep their effects.
    #[test]
    fn loads_are_reads() {
        let effects = ["opaque", "opaque trap convergent", "read write opaque", "opaque"];
        let numbers = [0, 0, 0, 1];
        let insts: String = effects
            .iter()
            .zip(numbers)
            .map(|(effects, symbol)| format!("INLINEASM @{symbol}, 1, 131082, def %0, 393225, %1 :: {effects}\n"))
            .collect();
        let text = format!(
            "mfv 1\nfunction \"f\"\nopcode INLINEASM\nregs %0 B32 B64\n@0 = \"&ld.global.b32 $0, [$1];\"\n\
             @1 = \"&st.global.b32 [$1], 1;\"\nbb0: frequency 1.0 depth 0\n{insts}end\n"
        );
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let told = with_assembly_loads(&function, &Classification::by_name(function.opcodes()));
        let found: Vec<Effects> = told.insts().map(|inst| told.effects(inst)).collect();
        assert_eq!(found[..2], [Effects::READ; 2]);
        assert_eq!(told.memory_space(Inst(0)), MemorySpace::Global);
        assert!(found[2..].iter().all(|effects| effects.contains(Effects::OPAQUE)));
    }
}
