//! Names of registers in PTX.

use std::collections::HashMap;

use crate::config::{NamedLoad, NamedRegister, RegisterNames};
use crate::function::{Function, Inst, RegClass, VReg};
use crate::index::IndexVec;
use crate::spill::spiller::PtxasSpill;

/// Returns ptxas's own spills of the registers in `names`. A name without a number of moved words counts as infinitely
/// many. The names are those of the PTX, or the names that LLVM prints. LLVM numbers the used registers of each class
/// from 1, in the order of their register numbers, so its names are valid if no later pass removes a register. In PTX,
/// several registers may have the same name. If `names` lists loads, a register with none of these loads is left out.
pub(super) fn of_names(function: &Function, names: &RegisterNames) -> IndexVec<VReg, Option<PtxasSpill>> {
    let numbers: HashMap<&str, usize> = names.iter().zip(0..).map(|(register, at)| (&*register.name, at)).collect();
    let named = named(function, &numbers);
    let reads = reads(function, &named, numbers.len());
    let registers: Vec<&NamedRegister> = names.iter().collect();
    let ptxas_spill = |reg: VReg| {
        let NamedRegister { moves, loads, .. } = registers[named[reg]?];
        let own: Vec<u32> =
            (1..).zip(&reads[named[reg]?]).filter(|(_, of)| of.contains(&reg)).map(|(at, _)| at).collect();
        let own_load = |NamedLoad { reads, times }: &NamedLoad| {
            let reads: Vec<u32> = (1..).zip(&own).filter(|(_, read)| reads.contains(read)).map(|(at, _)| at).collect();
            (!reads.is_empty()).then_some(NamedLoad { reads, times: *times })
        };
        let own_loads: Vec<NamedLoad> = loads.iter().filter_map(own_load).collect();
        let moved_words = moves.map_or(f64::INFINITY, f64::from);
        (loads.is_empty() || !own_loads.is_empty()).then_some(PtxasSpill { moved_words, loads: own_loads })
    };
    function.regs().map(ptxas_spill).collect()
}

/// Returns the index of each register's name.
fn named(function: &Function, numbers: &HashMap<&str, usize>) -> IndexVec<VReg, Option<usize>> {
    let mut is_used = IndexVec::filled(false, function.num_regs());
    for inst in function.insts() {
        function.operands(inst).iter().filter_map(|operand| operand.reg()).for_each(|reg| is_used[reg] = true);
    }
    let mut counts = [0; RegClass::ALL.len()];
    let number_of = |reg: VReg| {
        if let Some(name) = function.reg_name(reg) {
            return numbers.get(name).copied();
        }
        let class = function.class(reg);
        let prefix = prefix(class).filter(|_| is_used[reg])?;
        let count: &mut u32 = &mut counts[class as usize];
        *count += 1;
        numbers.get(&*format!("{prefix}{count}")).copied()
    };
    function.regs().map(number_of).collect()
}

/// Returns the reads of each name, in the order of the code. A read is an instruction, represented by the registers
/// with this name that it reads.
fn reads(function: &Function, named: &IndexVec<VReg, Option<usize>>, names: usize) -> Vec<Vec<Vec<VReg>>> {
    let mut reads: Vec<Vec<Vec<VReg>>> = vec![Vec::new(); names];
    let mut last: Vec<Option<Inst>> = vec![None; names];
    for inst in function.insts() {
        for reg in function.operands(inst).iter().filter_map(|operand| operand.read_reg()) {
            let Some(number) = named[reg] else { continue };
            if last[number].replace(inst) != Some(inst) {
                reads[number].push(Vec::new());
            }
            reads[number].last_mut().into_iter().for_each(|of| of.push(reg));
        }
    }
    reads
}

/// Returns the prefix that LLVM prints before a register's number.
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

    /// LLVM's names number the used registers of a class.
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

    /// Registers with the same name are distinguished by their reads: each gets the loads that serve its own reads.
    /// Registers without such loads stay.
    #[test]
    fn registers_of_one_name() {
        let text = "mfv 1\nfunction \"k\"\nopcode LD_i32\nopcode ST_i32\nregs %0 B32 \"%r7\" B32 \"%r7\" B32 \"%r7\"\n\
            bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  ST_i32 %0, 1 :: write\n  %1 = LD_i32 0 :: read\n  \
            ST_i32 %1, 1 :: write\n  ST_i32 %1, 2 :: write\n  %2 = LD_i32 0 :: read\n  ST_i32 %2, 1 :: write\nend\n";
        let function = Function::parse(text).expect("a view");
        let loads = |loads: &[&[u32]]| -> Vec<Option<Vec<Vec<u32>>>> {
            let load = |reads: &&[u32]| NamedLoad { reads: reads.to_vec(), times: 1 };
            let register =
                NamedRegister { name: "%r7".into(), moves: Some(9), loads: loads.iter().map(load).collect() };
            let of = |spill: PtxasSpill| spill.loads.into_iter().map(|load| load.reads).collect();
            let found = of_names(&function, &[register].into_iter().collect());
            function.regs().map(|reg| found[reg].clone().map(of)).collect()
        };
        assert_eq!(loads(&[&[1, 3], &[4]]), [Some(vec![vec![1]]), Some(vec![vec![2]]), Some(vec![vec![1]])]);
        assert_eq!(loads(&[&[2]]), [None, Some(vec![vec![1]]), None]);
        assert_eq!(loads(&[]), [Some(vec![]), Some(vec![]), Some(vec![])]);
    }
}
