//! Webs of PHIs. Most webs are already conventional and need no copies.
//!
//! A web is conventional if no two of its registers are live at one point (Sreedhar et al. 1999). Registers that are
//! live at one point may still hold the same value and share a register. Isolation handles this case.

use super::constants::{Constant, Shared, share};
use super::phis::{Phi, Phis};
use super::registers::Register;
use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences, Point};
use crate::disjoint_sets::DisjointSets;
use crate::function::{Block, Effects, Function, Inst, VReg};
use crate::index::IndexVec;

/// Treatment of the webs of PHIs that are read.
#[derive(Debug, Default)]
pub(super) struct Webs {
    /// PHIs whose webs are not conventional.
    pub(super) others: Vec<Phi>,
    /// Live segments of the registers of all webs.
    pub(super) live: Liveness,
    /// Constant inputs of conventional webs that are rematerialised where their PHIs read them.
    pub(super) constants: Vec<Constant>,
    /// Constant inputs of other webs that are rematerialised. They include constants that are read at only one place.
    /// Sorted by PHI and place.
    pub(super) constants_of_others: Vec<Constant>,
}

/// Liveness of registers, with its control flow.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    pub(super) cfg: Cfg,
    pub(super) dominators: Dominators,
    pub(super) ranges: LiveRanges,
}

/// A segment in which a register of a web is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch {
    /// Lowest register of the web.
    web: VReg,
    start: Point,
    end: Point,
    /// The register; `None` for a rematerialised constant, which is no register of the view.
    member: Option<VReg>,
}

impl Webs {
    /// Divides the PHIs by whether their webs are conventional. O(n log n) in the occurrences of their registers and
    /// the blocks into which the registers are live.
    pub(super) fn new(function: &Function, phis: &Phis, registers: &IndexVec<VReg, Register>) -> Self {
        let mut finder = Finder::new(function, registers);
        phis.live.iter().for_each(|&phi| finder.connect(phi));
        let Shared { apart, single } = share(std::mem::take(&mut finder.taken), &mut finder.sets);
        finder.apart_reads = apart.iter().map(|constant| (constant.phi.inst, constant.reg)).collect();
        finder.apart_reads.sort_unstable();
        finder.apart = apart;
        let members: Vec<VReg> = function.regs().filter(|&reg| finder.is_member[reg]).collect();
        let live = finder.liveness(&members);
        let conflicts = finder.conflicts(&live.ranges, &members);
        let Finder { mut sets, apart, .. } = finder;
        let mut is_conventional = |phi: &Phi| !conflicts[sets.find(phi.result)];
        let (constants, mut of_others): (Vec<_>, Vec<_>) = apart.into_iter().partition(|c| is_conventional(&c.phi));
        of_others.extend(single.into_iter().filter(|constant| !is_conventional(&constant.phi)));
        of_others.sort_unstable_by_key(|constant| (constant.phi.inst, constant.from));
        let others = phis.live.iter().copied().filter(|phi| !is_conventional(phi)).collect();
        Self { others, live, constants, constants_of_others: of_others }
    }
}

struct Finder<'a> {
    function: &'a Function,
    registers: &'a IndexVec<VReg, Register>,
    sets: DisjointSets<VReg>,
    is_member: IndexVec<VReg, bool>,
    /// Constants that only PHIs read.
    taken: Vec<Constant>,
    /// Constants in `taken` that are rematerialised because no web, or another web, keeps them.
    apart: Vec<Constant>,
    apart_reads: Vec<(Inst, VReg)>,
    /// PHI results of webs that cannot be conventional, because an input is in no register of their class.
    odd: Vec<VReg>,
}

impl<'a> Finder<'a> {
    fn new(function: &'a Function, registers: &'a IndexVec<VReg, Register>) -> Self {
        Self {
            function,
            registers,
            sets: DisjointSets::new(function.num_regs()),
            is_member: IndexVec::filled(false, function.num_regs()),
            taken: Vec::new(),
            apart: Vec::new(),
            apart_reads: Vec::new(),
            odd: Vec::new(),
        }
    }

    /// Joins a PHI's result and its inputs into one web. Undefined inputs are left out, because they have no value.
    /// Constants that only PHIs read are also left out, and recorded in `taken`.
    fn connect(&mut self, phi: Phi) {
        let class = self.function.class(phi.result);
        if class.is_left_to_llvm() {
            return;
        }
        self.is_member[phi.result] = true;
        for input in phi.inputs(self.function) {
            let Some(reg) = input.reg.filter(|&reg| self.function.class(reg) == class) else {
                self.odd.push(phi.result);
                continue;
            };
            let register = self.registers[reg];
            if let Some(definition) = register.constant_of_phis() {
                self.is_member[reg] = true;
                self.taken.push(Constant { phi, from: input.from, reg, definition });
            } else if register.undefined.is_none() {
                self.is_member[reg] = true;
                self.sets.unite(phi.result, reg);
            }
        }
    }

    /// Computes for each web whether two of its registers are live at one point, including registers of rematerialised
    /// constants.
    fn conflicts(&mut self, ranges: &LiveRanges, members: &[VReg]) -> IndexVec<VReg, bool> {
        let mut conflicts = IndexVec::filled(false, self.function.num_regs());
        for reg in std::mem::take(&mut self.odd) {
            conflicts[self.sets.find(reg)] = true;
        }
        let mut stretches = self.stretches(ranges, members);
        for &Constant { phi, from, .. } in &self.apart {
            let web = self.sets.find(phi.result);
            match end_of(self.function, from) {
                Some((start, end)) => stretches.push(Stretch { web, start, end, member: None }),
                None => conflicts[web] = true,
            }
        }
        stretches.sort_unstable();
        let mut last: Option<Stretch> = None;
        for stretch in stretches {
            let overlapped = last.filter(|last| last.web == stretch.web && last.end > stretch.start);
            match overlapped {
                // Each rematerialised constant has a register of its own.
                Some(last) if last.member != stretch.member || last.member.is_none() => conflicts[stretch.web] = true,
                _ => {}
            }
            last = overlapped.filter(|last| last.end > stretch.end).or(Some(stretch));
        }
        conflicts
    }

    /// Whether a PHI no longer reads a register, because the register's constant is rematerialised for the PHI.
    fn is_apart(&self, phi: Inst, reg: VReg) -> bool {
        self.registers[reg].constant_of_phis().is_some() && self.apart_reads.binary_search(&(phi, reg)).is_ok()
    }

    /// Computes the liveness of the members of webs.
    fn liveness(&self, members: &[VReg]) -> Liveness {
        let function = self.function;
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let occurrences = Occurrences::renamed(function, &|inst, operand| {
            operand.reg().filter(|&reg| self.is_member[reg] && !self.is_apart(inst, reg))
        });
        let ranges = LiveRanges::new(function, &cfg, &dominators, &occurrences, members);
        Liveness { cfg, dominators, ranges }
    }

    /// Returns the live segments of the members, by web.
    fn stretches(&mut self, ranges: &LiveRanges, members: &[VReg]) -> Vec<Stretch> {
        let mut stretches = Vec::with_capacity(members.len());
        for &reg in members {
            let web = self.sets.find(reg);
            let of_one = ranges.segments(reg).iter();
            stretches.extend(of_one.map(|s| Stretch { web, start: s.start, end: s.end, member: Some(reg) }));
        }
        stretches
    }
}

/// Returns the segment of a register that is defined at the end of a block, up to the block's end; `None` if the block
/// is empty.
pub(super) fn end_of(function: &Function, block: Block) -> Option<(Point, Point)> {
    let end = Point::block_end(function, block);
    let terminators = function.block_insts(block).rev();
    let first = terminators.take_while(|&inst| function.effects(inst).contains(Effects::TERMINATOR)).last();
    let last = function.block_insts(block).next_back()?;
    Some((first.map_or(Point::late(last), Point::early), end))
}
