//! Properties of any function: which webs are conventional, and that a view with only the instructions that PHIs
//! concern is sufficient.

use std::collections::{BTreeMap, BTreeSet};

use super::conventional;
use super::phis::{self, Input, Phi, Phis};
use super::registers::registers;
use super::webs::Webs;
use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences, overlap};
use crate::config::Config;
use crate::disjoint_sets::DisjointSets;
use crate::function::{Applied, Edit, EditList, Effects, Function, Inst, Operand, Origin, Role, VReg};
use crate::fuzzing::{Options, edited, explore, reached, ssa_function};

/// A web is classified as conventional if and only if no two of its registers are live at one point. The test compares
/// each pair of registers, in functions without rematerialised constants.
#[test]
fn webs_are_conventional_where_no_registers_overlap() {
    let check = |u: &mut arbitrary::Unstructured<'_>| {
        let before = ssa_function(u, &Options::default())?;
        let function = edited(&before, &conventional(&before, &Config::default()).edits);
        let registers = registers(&function);
        let phis = Phis::new(&function, phis::all(&function), &registers);
        let Webs { others, constants, .. } = Webs::new(&function, &phis, &registers);
        let is_plain = |input: &Input| input.reg.is_some_and(|reg| registers[reg].undefined.is_none());
        let ranges = all_live_ranges(&function);
        let mut sets = DisjointSets::new(function.num_regs());
        let of = |phi: &Phi| phi.inputs(&function).filter(is_plain).filter_map(|input| input.reg).collect::<Vec<_>>();
        for phi in &phis.live {
            of(phi).into_iter().for_each(|reg| sets.unite(phi.result, reg));
        }
        let mut webs: BTreeMap<VReg, BTreeSet<VReg>> = BTreeMap::new();
        for phi in &phis.live {
            webs.entry(sets.find(phi.result)).or_default().extend(of(phi).into_iter().chain([phi.result]));
        }
        for phi in phis.live.iter().filter(|phi| constants.is_empty() && !function.class(phi.result).is_left_to_llvm())
        {
            let web: Vec<VReg> = webs[&sets.find(phi.result)].iter().copied().collect();
            let is_overlapping = web.iter().enumerate().any(|(number, &a)| {
                web[..number].iter().any(|&b| overlap(ranges.segments(a), ranges.segments(b), |_, _| true))
            });
            let is_odd = phis.live.iter().any(|other| {
                sets.find(other.result) == sets.find(phi.result)
                    && other.inputs(&function).any(|input| input.reg.is_none())
            });
            reached("conventional", !others.contains(phi));
            reached("overlapping", is_overlapping);
            assert_eq!(others.contains(phi), is_overlapping || is_odd, "{phi:?} of the web {web:?} in\n{function}");
        }
        Ok(())
    };
    explore(check, 1_000, &[("conventional", 15), ("overlapping", 15)]);
}

/// The decisions of the pass do not depend on instructions without a register that a PHI uses. A view may leave out
/// these instructions.
#[test]
fn a_view_of_phis_is_enough() {
    let check = |u: &mut arbitrary::Unstructured<'_>| {
        let function = ssa_function(u, &Options::default())?;
        let Applied { function: part, origin } = of_phis(&function);
        let part_len = part.num_insts();
        let [whole, part] = [&function, &part].map(|function| conventional(function, &Config::default()));
        let before = |&inst: &Inst| match origin[inst] {
            Origin::Kept(before) => before,
            _ => unreachable!("nothing is inserted"),
        };
        reached("left out", part_len < function.num_insts());
        reached("copied", !whole.report.copied.is_empty());
        assert_eq!(part.report.phis, whole.report.phis);
        assert_eq!(part.report.dead.iter().map(before).collect::<Vec<_>>(), whole.report.dead);
        assert_eq!(part.report.replaced.iter().map(before).collect::<Vec<_>>(), whole.report.replaced, "{function}");
        assert_eq!(part.report.constants.iter().map(before).collect::<Vec<_>>(), whole.report.constants, "{function}");
        let copied: Vec<_> = part.report.copied.iter().map(|(phi, reason)| (before(phi), *reason)).collect();
        assert_eq!(copied, whole.report.copied, "{function}");
        assert_eq!(part.edits.len(), whole.edits.len());
        Ok(())
    };
    explore(check, 1_000, &[("left out", 80), ("copied", 10)]);
}

/// Removes the instructions that use no register of a PHI. Terminators, the first instruction after the PHIs, and the
/// last one of each block remain.
fn of_phis(function: &Function) -> Applied {
    let mut is_named = vec![false; function.num_regs()];
    let phis = function.insts().filter(|&inst| function.role(inst) == Role::Phi);
    for reg in phis.flat_map(|phi| function.operands(phi)).filter_map(Operand::reg) {
        is_named[reg.0 as usize] = true;
    }
    let mut edits = EditList::new(function);
    for block in function.blocks() {
        let place = function.block_insts(block).find(|&inst| function.role(inst) != Role::Phi);
        let last = function.block_insts(block).next_back();
        for inst in function.block_insts(block).filter(|&inst| Some(inst) != place && Some(inst) != last) {
            let names_one = function.operands(inst).iter().filter_map(Operand::reg).any(|reg| is_named[reg.0 as usize]);
            if !names_one && !function.effects(inst).contains(Effects::TERMINATOR) {
                edits.push(Edit::Delete { inst });
            }
        }
    }
    edits.finish();
    edits.apply(function).expect("deletions fit")
}

fn all_live_ranges(function: &Function) -> LiveRanges {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let occurrences = Occurrences::new(function, &|_| true);
    LiveRanges::new(function, &cfg, &dominators, &occurrences, &function.regs().collect::<Vec<_>>())
}
