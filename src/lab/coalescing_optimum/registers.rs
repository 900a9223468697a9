//! The problem that a function's registers pose.

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

/// A copy that is neither of a constant nor dead.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) inst: Inst,
    pub(super) block: Block,
    pub(super) dst: VReg,
    /// The registers of the same class that hold the copied value, live, where it stands; its source is one of them.
    pub(super) sources: Vec<VReg>,
    /// It may be dead once others are gone, so that it does not count.
    is_loose: bool,
}

/// Which live ranges conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflicts {
    /// Those that are left if all copies go that can: too few conflicts, for a bound.
    AtLeast,
    /// Those that there are: too many, for a solution.
    AtMost,
}

/// The copies and the live ranges that conflict.
#[derive(Debug)]
pub(super) struct Registers {
    pub(super) copies: Vec<Copy>,
    /// By register: where it is live, and with which value.
    segments: HashMap<VReg, Vec<Segment>>,
    num_regs: usize,
}

/// The flow of control, and with it the live ranges of what a program names.
struct Flow {
    cfg: Cfg,
    dominators: Dominators,
}

impl Flow {
    /// Occurrences and live ranges of `wanted` registers without operands for which `is_gone(instruction, is a read)`.
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
    /// Takes out of the program what costs nothing, and describes the rest. The copies that there were are counted in
    /// `result`.
    pub(super) fn new(program: &mut Program<'_>, conflicts: Conflicts, result: &mut Optimum) -> Self {
        let function = program.function;
        wide_pairs::forward(program);
        let cfg = Cfg::new(function);
        let flow = Flow { dominators: Dominators::new(function, &cfg), cfg };
        // Also registers that only copies name which are taken out: they may hold what another copies.
        let wanted = named_by_copies(program);
        let mut whole = None;
        let (ranges, numbering) = loop {
            let live = flow.ranges(program, &wanted, &|_, _| false);
            let numbering = Numbering::new(program, &flow.cfg, &live.1, &wanted);
            let useless = useless_definitions(program, &flow.cfg, &live, &wanted);
            if !take_out(program, &live.1, &numbering, &useless, result) {
                break (live.1, numbering);
            }
            // What is read by a useless copy alone is live up to it for a coalescer that has not taken it out yet.
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
        // What happens where control never comes does not count. Such blocks share no segment with others.
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

    /// Solves the problem where copies weigh as told.
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
        // A sweep over the segments in order of their starts, with those that are open.
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

/// Takes out copies of constants, and copies and constants that are useless. Whether there were any.
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

/// The copies that stand, each with the registers that hold what it copies.
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

/// The live ranges that stay whatever copies go; marks the copies that are useless within them.
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
