//! The names that registers have in PTX.

use std::collections::HashMap;

use crate::config::RegisterNames;
use crate::function::{Function, RegClass, VReg};
use crate::index::IndexVec;

/// The registers of these names, with their numbers; without a number, endless. The names are those of the text, or those that
/// LLVM prints: LLVM counts the registers of each class that something reads or writes, from 1 on in the order of their
/// numbers, so its names hold where no later pass takes a register away.
pub(super) fn of_names(function: &Function, names: &RegisterNames) -> IndexVec<VReg, Option<f64>> {
    let names: HashMap<&str, f64> =
        names.iter().map(|(name, number)| (name, number.map_or(f64::INFINITY, f64::from))).collect();
    let mut is_used = IndexVec::filled(false, function.num_regs());
    for inst in function.insts() {
        function.operands(inst).iter().filter_map(|operand| operand.reg()).for_each(|reg| is_used[reg] = true);
    }
    let mut counts = [0; RegClass::ALL.len()];
    let number_of = |reg: VReg| {
        if let Some(name) = function.reg_name(reg) {
            return names.get(name).copied();
        }
        let class = function.class(reg);
        let prefix = prefix(class).filter(|_| is_used[reg])?;
        let count: &mut u32 = &mut counts[class as usize];
        *count += 1;
        names.get(&*format!("{prefix}{count}")).copied()
    };
    function.regs().map(number_of).collect()
}

/// What LLVM puts ahead of the number of a register.
fn prefix(class: RegClass) -> Option<&'static str> {
    match class {
        RegClass::B1 => Some("%p"),
        RegClass::B16 => Some("%rs"),
        RegClass::B32 => Some("%r"),
        RegClass::B64 => Some("%rd"),
        RegClass::B128 => Some("%rq"),
        RegClass::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLVM's names count the registers of a class that are used.
    #[test]
    fn names_of_llvm() {
        let text = "mfv 1\nfunction \"k\"\nopcode LD_i32\nopcode LD_i64\nregs %0 B32 B32 B64 B32\n\
            bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  %2 = LD_i64 0 :: read\n  %3 = LD_i32 0 :: read\nend\n";
        let function = Function::parse(text).expect("a view");
        let of = |names: &[&str]| -> Vec<u32> {
            let found = of_names(&function, &names.iter().copied().collect());
            function.regs().filter(|&reg| found[reg].is_some()).map(|reg| reg.0).collect()
        };
        assert_eq!((of(&["%r1"]), of(&["%r2", "%rd1"]), of(&["%r3", "%rd2", "%p1"])), (vec![0], vec![2, 3], vec![]));
    }
}
