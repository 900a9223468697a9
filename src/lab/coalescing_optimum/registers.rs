//! The coalescing problem of a function's registers.

use std::collections::HashMap;

use super::Optimum;
use super::problem::{Move, Node, Problem};
use super::search::{self, Solution};
use super::useless_definitions::useless_definitions;
use super::value_numbering::Numbering;
use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences, Point, Segment, ValueNumber};
use crate::coalesce::program::Program;
use crate::coalesce::wide_pairs;
use crate::disjoint_sets::DisjointSets;
use crate::function::{Block, Inst, VReg};
use crate::index::{EntityIndex, IndexVec};

/// A copy that is neither dead nor a copy of a constant.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) inst: Inst,
    pub(super) block: Block,
    pub(super) dst: VReg,
    /// Registers of one class that are live at the copy and hold the copied value. The copy's source is one of them.
    pub(super) sources: Vec<VReg>,
    /// Whether the copy may become dead when other copies are removed. Such a copy does not count.
    is_loose: bool,
}

/// Which live ranges conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflicts {
    /// Live ranges without the reads of copies that may be removed. These have too few conflicts, for a bound.
    AtLeast,
    /// Live ranges of the function. These have too many conflicts, for a solution.
    AtMost,
}

/// Copies, and live ranges with conflicts.
#[derive(Debug)]
pub(super) struct Registers {
    pub(super) copies: Vec<Copy>,
    /// By register: its live segments, with values.
    segments: HashMap<VReg, Vec<Segment>>,
    num_regs: usize,
}

/// Control flow, and the live ranges of a program's registers.
struct Flow {
    cfg: Cfg,
    dominators: Dominators,
}

impl Flow {
    /// Computes occurrences and live ranges of `wanted` registers. Operands for which `is_gone(instruction, is a read)`
    /// holds are left out.
    fn ranges(
        &self,
        program: &Program<'_>,
        wanted: &[VReg],
        is_gone: &dyn Fn(Inst, bool) -> bool,
    ) -> (Occurrences, LiveRanges) {
        let function = program.function;
        let mut is_wanted = IndexVec::filled(false, function.num_regs());
        wanted.iter().for_each(|&reg| is_wanted[reg] = true);
        let occurrences = Occurrences::renamed(function, &|inst, operand| {
            program.register(inst, operand).filter(|&reg| is_wanted[reg] && !is_gone(inst, !operand.is_def()))
        });
        let ranges = LiveRanges::new(function, &self.cfg, &self.dominators, &occurrences, wanted);
        (occurrences, ranges)
    }
}

impl Registers {
    /// Removes the copies that cost nothing from the program, and collects the others. Counts both kinds in `result`.
    pub(super) fn new(program: &mut Program<'_>, conflicts: Conflicts, result: &mut Optimum) -> Self {
        let function = program.function;
        wide_pairs::forward(program);
        let cfg = Cfg::new(function);
        let flow = Flow { dominators: Dominators::new(function, &cfg), cfg };
        // The list includes registers that only removed copies use, because they may hold the source of another copy.
        let wanted = named_by_copies(program);
        let mut whole = None;
        let (ranges, numbering) = loop {
            let live = flow.ranges(program, &wanted, &|_, _| false);
            let numbering = Numbering::new(program, &flow.cfg, &live.1, &wanted);
            let useless = useless_definitions(program, &flow.cfg, &live, &wanted);
            if !take_out(program, &live.1, &numbering, &useless, result) {
                break (live.1, numbering);
            }
            // A coalescer may visit a copy before it removes a useless copy. Up to the useless copy, its source is then
            // still live.
            whole.get_or_insert((live.1, numbering));
        };
        let holding = match (&whole, conflicts) {
            (Some((ranges, numbering)), Conflicts::AtLeast) => (ranges, numbering),
            _ => (&ranges, &numbering),
        };
        let mut copies = copies_with_sources(program, holding, &wanted);
        for copy in &copies {
            result.copies.count += 1;
            result.copies.executed += function.frequency(copy.block);
        }
        let shortened = match conflicts {
            Conflicts::AtLeast => Some(shorten(program, &flow, &wanted, &mut copies)),
            Conflicts::AtMost => None,
        };
        // Unreachable code is left out. Its blocks share no segment with reachable blocks.
        let is_reached = |segment: &&Segment| flow.cfg.is_reachable(function.block_of(segment.start.inst()));
        let lives = |&reg: &VReg| {
            let root = |segment: &Segment| {
                let value = ranges.value_at(reg, segment.start).map(|value| numbering.root(value));
                Segment { value: value.unwrap_or(segment.value), ..*segment }
            };
            (reg, shortened.as_ref().unwrap_or(&ranges).segments(reg).iter().filter(is_reached).map(root).collect())
        };
        let segments = wanted.iter().map(lives).collect();
        Self { copies, segments, num_regs: function.num_regs() }
    }

    /// Solves the problem with the given weights of copies.
    pub(super) fn solve(&self, weight: impl Fn(&Copy) -> f64, steps: usize) -> Solution {
        let mut parts = DisjointSets::new(self.num_regs);
        for copy in self.copies.iter().filter(|copy| !copy.is_loose) {
            copy.sources.iter().for_each(|&source| parts.unite(copy.dst, source));
        }
        let mut moves: Vec<(VReg, &Copy)> = self.copies.iter().map(|copy| (parts.find(copy.dst), copy)).collect();
        moves.sort_by_key(|&(part, copy)| (part, copy.inst));
        let mut total = Solution::default();
        for part in moves.chunk_by(|a, b| a.0 == b.0) {
            let copies: Vec<&Copy> = part.iter().map(|&(_, copy)| copy).filter(|copy| !copy.is_loose).collect();
            total.add(search::solve(self.problem(&copies, &weight), steps));
        }
        total
    }

    fn problem(&self, copies: &[&Copy], weight: &impl Fn(&Copy) -> f64) -> Problem {
        let mut nodes: Vec<VReg> =
            copies.iter().flat_map(|copy| copy.sources.iter().copied().chain([copy.dst])).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let number = |reg: &VReg| Node::new(nodes.binary_search(reg).expect("every register of a copy is a node"));
        let mut problem = Problem::new(nodes.iter().copied());
        problem.moves = copies
            .iter()
            .map(|copy| Move {
                target: number(&copy.dst),
                sources: copy.sources.iter().map(number).collect(),
                weight: weight(copy),
            })
            .collect();
        // Sweeps over the segments in the order of their starts. `open` has the segments that have not ended.
        let mut segments: Vec<(Segment, Node)> = Vec::new();
        for reg in &nodes {
            let node = number(reg);
            segments.extend(self.segments[reg].iter().map(|&segment| (segment, node)));
        }
        segments.sort_unstable_by_key(|(segment, node)| (segment.start, *node));
        let mut open: Vec<(Segment, Node)> = Vec::new();
        for (segment, node) in segments {
            open.retain(|(other, _)| other.end > segment.start);
            for &(other, neighbour) in &open {
                if other.value != segment.value {
                    problem.separate(node, neighbour);
                }
            }
            open.push((segment, node));
        }
        problem
    }
}

fn named_by_copies(program: &Program<'_>) -> Vec<VReg> {
    let mut wanted: Vec<VReg> = program.copies().flat_map(|(_, _, dst, src)| [dst, src]).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Removes copies of constants, and copies and constants whose value is useless. Returns whether there were any.
fn take_out(
    program: &mut Program<'_>,
    ranges: &LiveRanges,
    numbering: &Numbering,
    useless: &[Inst],
    result: &mut Optimum,
) -> bool {
    let function = program.function;
    let copies: Vec<(Block, Inst, VReg, VReg)> = program.copies().collect();
    let mut changed = false;
    for (block, inst, _, src) in copies {
        let constant = ranges.value_at(src, Point::early(inst)).and_then(|value| numbering.constant(value));
        if let Some(of) = constant {
            program.make_constant(inst, of);
            result.constants += 1;
        } else if useless.binary_search(&inst).is_ok() {
            program.delete_dead(inst, None);
            result.copies.count += 1;
            result.copies.executed += function.frequency(block);
        } else {
            continue;
        }
        changed = true;
    }
    for &inst in useless {
        if let Some(constant) = program.constant_definition(inst) {
            program.delete_dead(inst, Some(constant));
            changed = true;
        }
    }
    changed
}

/// Returns the remaining copies, each with the registers that hold the copied value.
fn copies_with_sources(
    program: &Program<'_>,
    (ranges, numbering): (&LiveRanges, &Numbering),
    wanted: &[VReg],
) -> Vec<Copy> {
    let mut holders: HashMap<ValueNumber, Vec<VReg>> = HashMap::new();
    for &reg in wanted {
        for segment in ranges.segments(reg) {
            let regs = holders.entry(numbering.root(segment.value)).or_default();
            if regs.last() != Some(&reg) {
                regs.push(reg);
            }
        }
    }
    let mut copies = Vec::new();
    for (block, inst, dst, src) in program.copies() {
        let point = Point::early(inst);
        let root_at = |reg| ranges.value_at(reg, point).map(|value| numbering.root(value));
        let mut sources = vec![src];
        if let Some(root) = root_at(src) {
            let class = program.function.class(dst);
            let holds = |&&reg: &&VReg| {
                reg != src && reg != dst && program.function.class(reg) == class && root_at(reg) == Some(root)
            };
            sources.extend(holders[&root].iter().filter(holds));
        }
        copies.push(Copy { inst, block, dst, sources, is_loose: false });
    }
    copies
}

/// Computes the live ranges that remain if all removable copies are removed. Marks the copies that are useless in these
/// live ranges.
fn shorten(program: &Program<'_>, flow: &Flow, wanted: &[VReg], copies: &mut [Copy]) -> LiveRanges {
    let function = program.function;
    let mut reads_for_sure = IndexVec::filled(true, function.num_insts());
    let mut writes_for_sure = IndexVec::filled(true, function.num_insts());
    copies.iter().filter(|copy| copy.sources.len() > 1).for_each(|copy| reads_for_sure[copy.inst] = false);
    let mut gone: Vec<Inst> = function
        .blocks()
        .filter(|&block| !flow.cfg.is_reachable(block))
        .flat_map(|block| function.block_insts(block))
        .collect();
    loop {
        for inst in gone {
            reads_for_sure[inst] = false;
            writes_for_sure[inst] = false;
        }
        let is_gone = |inst, is_read| if is_read { !reads_for_sure[inst] } else { !writes_for_sure[inst] };
        let live = flow.ranges(program, wanted, &is_gone);
        gone = useless_definitions(program, &flow.cfg, &live, wanted);
        if gone.is_empty() {
            copies.iter_mut().for_each(|copy| copy.is_loose = !writes_for_sure[copy.inst]);
            return live.1;
        }
    }
}
