//! Isolation of PHIs whose webs are not conventional. Only the copies remain whose sides cannot share a register.
//!
//! Conceptually, each PHI gets a register of its own, its *web's*. Every predecessor copies its input to this register
//! at its end, and the PHI's block copies the register to the result at its start (method I of Sreedhar et al. 1999).
//! The most frequent copies are then merged first, and two live ranges interfere only where they hold different values
//! (Boissinot et al. 2009). None of this is written as code. The copies at one place are parallel: their sources end
//! and their targets begin there. So a web is live after the copies at the ends of predecessors, and among the PHIs.
//! The edits contain the remaining copies. They are correct for any merges.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::Reason;
use super::congruence::congruent;
use super::constants::Constant;
use super::phis::{EndsOfPhis, Phi};
use super::registers::{Register, constant_held, copied_from, is_read};
use super::webs::{Liveness, end_of};
use crate::analysis::{LiveRanges, Point, Segment, ValueDef, ValueNumber, append, block_frequencies, overlap, union};
use crate::config::{Config, CssaInterference};
use crate::define_index;
use crate::disjoint_sets::DisjointSets;
use crate::function::{Block, Effects, Function, Opcode, VReg, Value, sequentialize};
use crate::index::{EntityIndex, IndexVec};
use crate::stats::CopyRefusal;

define_index! {
    /// A set of merged registers, by one member: first the PHIs' webs, then the registers that they copy.
    Node, "n"
}

/// Number of inputs of a PHI that are compared with those of another.
const COMPARED: usize = 16;

/// Value of an undefined input: any value will do.
const UNDEFINED: ValueNumber = ValueNumber(u32::MAX);

/// The place of a copy that isolates a PHI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum CopyOf {
    /// The result, after the PHIs.
    Result,
    /// The inputs from this block.
    Input(Block),
}

/// A copy that remains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) phi: Phi,
    pub(super) copy: CopyOf,
    pub(super) reason: Reason,
    /// The register of the view that is copied, or to which the result is copied.
    pub(super) reg: VReg,
    /// The register that is written, and the one that is read.
    to: Node,
    of: Node,
}

/// Code that isolated PHIs need.
#[derive(Debug, Default)]
pub(super) struct IsolationResult {
    /// The remaining copies, in their order at each place.
    pub(super) copies: Vec<Copy>,
    /// Constant inputs that are rematerialised in place of a copy.
    pub(super) constants: Vec<Constant>,
    /// Removed PHIs, with the result of a PHI that always holds the same value and can share their register.
    pub(super) replaced: Vec<(Phi, VReg)>,
    /// Number of successors of blocks and segments of live ranges that were visited.
    pub(super) steps: u64,
}

/// A copy that is removed if both sides can share a register.
#[derive(Clone, Copy, Debug)]
struct Affinity {
    phi: Phi,
    web: Node,
    copy: CopyOf,
    reg: VReg,
    frequency: f64,
}

/// Isolates `phis`. Their inputs in `constants`, sorted by PHI and place, are rematerialised. Without the option
/// `cssa-coalesce`, nothing is merged. Near-linear in the inputs and the segments of their live ranges, except for
/// large ranges, whose merges are limited in number.
pub(super) fn isolate(
    function: &Function,
    phis: &[Phi],
    registers: &IndexVec<VReg, Register>,
    (live, constants): (&Liveness, Vec<Constant>),
    options: &Config,
) -> IsolationResult {
    if phis.is_empty() {
        return IsolationResult::default();
    }
    let mut isolation = Isolation::new(function, phis, registers, live, options);
    isolation.isolated.constants = constants;
    for &phi in phis.iter().filter(|phi| !function.class(phi.result).is_left_to_llvm()) {
        isolation.add_web(phi);
    }
    isolation.merge(phis)
}

struct Isolation<'a> {
    function: &'a Function,
    registers: &'a IndexVec<VReg, Register>,
    ranges: &'a LiveRanges,
    options: &'a Config,
    frequencies: IndexVec<Block, f64>,
    /// The PHI result that each register is congruent to.
    congruent: IndexVec<VReg, VReg>,
    affinities: Vec<Affinity>,
    /// Segments in which the web replaces a register, which is live there only for the PHI.
    ceded: Vec<(VReg, Point, Point)>,
    /// Live segments of the webs, then those of the copied registers, computed on demand.
    nodes: IndexVec<Node, Vec<Segment>>,
    of_register: IndexVec<VReg, Option<Node>>,
    /// Number of attempts to merge a large range.
    attempts: IndexVec<Node, u32>,
    /// First register of each constant. It is only looked up, never iterated.
    constants: HashMap<(Opcode, Value), VReg>,
    /// Scratch memory for unions.
    united: Vec<Segment>,
    /// Whether registers are read after the copies at the ends of blocks. It is only looked up, never iterated.
    live_beyond: HashMap<(VReg, Block), bool>,
    /// Successors of blocks with many successors, sorted. It is only looked up, never iterated.
    many_succs: HashMap<Block, Vec<Block>>,
    ends_of_phis: EndsOfPhis,
    isolated: IsolationResult,
}

impl<'a> Isolation<'a> {
    fn new(
        function: &'a Function,
        phis: &[Phi],
        registers: &'a IndexVec<VReg, Register>,
        live: &'a Liveness,
        options: &'a Config,
    ) -> Self {
        let frequencies = block_frequencies(function, &live.cfg, &live.dominators);
        Self {
            function,
            registers,
            ranges: &live.ranges,
            options,
            frequencies,
            congruent: congruent(function, phis, registers),
            affinities: Vec::new(),
            ceded: Vec::new(),
            nodes: IndexVec::new(),
            of_register: IndexVec::filled(None, function.num_regs()),
            attempts: IndexVec::new(),
            constants: HashMap::new(),
            united: Vec::new(),
            live_beyond: HashMap::new(),
            many_succs: HashMap::new(),
            ends_of_phis: EndsOfPhis::default(),
            isolated: IsolationResult::default(),
        }
    }

    /// Adds the web of a PHI and its copies.
    fn add_web(&mut self, phi: Phi) {
        let web = Node::new(self.nodes.len());
        let function = self.function;
        let at_phi = self.at_phi(phi);
        let mut segments = vec![at_phi];
        self.ceded.push((phi.result, at_phi.start, at_phi.end));
        self.want(phi, web, CopyOf::Result, phi.result);
        let is_of_class = |reg: &VReg| function.class(*reg) == function.class(phi.result);
        let inputs = phi.inputs(function).filter_map(|input| Some((input.reg.filter(is_of_class)?, input.from)));
        let mut inputs: Vec<(VReg, Block)> = inputs.collect();
        inputs.sort_unstable();
        // After a switch, a predecessor is listed once for each edge.
        inputs.dedup();
        for (reg, from) in inputs {
            segments.extend(self.at_end(reg, from));
            let is_anew = self.isolated.constants.binary_search_by_key(&(phi.inst, from), |c| (c.phi.inst, c.from));
            if is_anew.is_err() && self.registers[reg].undefined.is_none() {
                self.want(phi, web, CopyOf::Input(from), reg);
            }
        }
        segments.sort_unstable_by_key(|segment| segment.start);
        self.add_node(segments);
    }

    /// Returns the segment of a web for an input at the end of a block; `None` if the block is empty.
    fn at_end(&mut self, reg: VReg, block: Block) -> Option<Segment> {
        let value = if self.registers[reg].undefined.is_some() { UNDEFINED } else { self.value(reg) };
        let (start, end) = end_of(self.function, block)?;
        if !self.is_live_beyond(reg, block) {
            self.ceded.push((reg, start, end));
        }
        Some(Segment { start, end, value })
    }

    /// Returns the segment in which a web is live among the PHIs of its block.
    fn at_phi(&mut self, phi: Phi) -> Segment {
        let start = Point::block_start(self.function, phi.block);
        let behind = self.ends_of_phis.of(self.function, phi.block, &mut self.isolated.steps);
        let end = behind.map_or(Point::block_end(self.function, phi.block), Point::early);
        Segment { start, end, value: self.value(phi.result) }
    }

    /// Whether a register is read after the copies at the end of a block, by an instruction other than a PHI.
    fn is_live_beyond(&mut self, reg: VReg, block: Block) -> bool {
        if let Some(&known) = self.live_beyond.get(&(reg, block)) {
            return known;
        }
        let function = self.function;
        let terminators = function.block_insts(block).rev();
        let mut terminators = terminators.take_while(|&inst| function.effects(inst).contains(Effects::TERMINATOR));
        let is_live =
            terminators.any(|inst| is_read(function.operands(inst), reg)) || self.is_live_into_successor(reg, block);
        self.live_beyond.insert((reg, block), is_live);
        is_live
    }

    /// Whether a register is live into a successor of a block. After a switch, a block has many successors, and the
    /// register is mostly live into few blocks. O(min · log max) in these two numbers.
    fn is_live_into_successor(&mut self, reg: VReg, block: Block) -> bool {
        let (succs, live_ins) = (self.function.succs(block), self.ranges.live_ins(reg));
        self.isolated.steps += 1 + succs.len().min(live_ins.len()) as u64;
        if succs.len() <= live_ins.len() {
            return succs.iter().any(|&succ| self.ranges.is_live_in(reg, succ));
        }
        let steps = &mut self.isolated.steps;
        let succs = self.many_succs.entry(block).or_insert_with(|| {
            *steps += succs.len() as u64;
            let mut sorted = succs.to_vec();
            sorted.sort_unstable();
            sorted
        });
        live_ins.iter().any(|live_in| succs.binary_search(&live_in.block).is_ok())
    }

    fn want(&mut self, phi: Phi, web: Node, copy: CopyOf, reg: VReg) {
        let block = match copy {
            CopyOf::Result => phi.block,
            CopyOf::Input(from) => from,
        };
        self.affinities.push(Affinity { phi, web, copy, reg, frequency: self.frequencies[block] });
    }

    fn add_node(&mut self, segments: Vec<Segment>) -> Node {
        let node = Node::new(self.nodes.len());
        self.nodes.push(segments);
        self.attempts.push(0);
        node
    }

    /// Returns the value of a register, as the register that held it first. In SSA form, a live register holds the
    /// value of its only definition, and the source of a copy has not changed since: the source's definition dominates
    /// the copy, and the copy dominates the point.
    fn value(&mut self, reg: VReg) -> ValueNumber {
        let mut first = reg;
        if self.options.cssa_interference == CssaInterference::Values {
            first = self.congruent[copied_from(self.registers, reg)];
            if let Some(constant) = constant_held(self.function, self.registers, first) {
                first = *self.constants.entry(constant).or_insert(first);
            }
        }
        ValueNumber(first.0)
    }

    fn node(&mut self, reg: VReg) -> Node {
        if let Some(node) = self.of_register[reg] {
            return node;
        }
        let own = self.value(reg);
        let others = self.function.num_regs() as u32;
        let mut ceded = &self.ceded[self.ceded.partition_point(|(other, ..)| *other < reg)..];
        let mut segments = Vec::with_capacity(self.ranges.segments(reg).len());
        for &segment in self.ranges.segments(reg) {
            // Where no definition reaches, the content equals that of no other register.
            let is_own = matches!(self.ranges.value_def(segment.value), ValueDef::Inst { .. });
            let value = if is_own { own } else { ValueNumber(others + segment.value.0) };
            let mut from = segment.start;
            while let [(of, start, end), rest @ ..] = ceded
                && *of == reg
                && *start < segment.end
            {
                append(&mut segments, 0, Segment { start: from, end: *start, value });
                from = from.max(*end);
                ceded = rest;
            }
            append(&mut segments, 0, Segment { start: from, end: segment.end, value });
        }
        let node = self.add_node(segments);
        self.of_register[reg] = Some(node);
        node
    }

    /// Merges copies, the most frequent first. Among equals, copies of results come first, as in a coalescer, then
    /// copies of registers with more reads.
    fn merge(mut self, phis: &[Phi]) -> IsolationResult {
        let is_tried = self.options.cssa_coalesce;
        self.ceded.sort_unstable();
        let mut affinities = std::mem::take(&mut self.affinities);
        let rank = |affinity: &Affinity| (affinity.copy != CopyOf::Result, Reverse(self.registers[affinity.reg].reads));
        affinities.sort_by(|a, b| b.frequency.total_cmp(&a.frequency).then_with(|| rank(a).cmp(&rank(b))));
        let most = self.nodes.len() + affinities.len();
        let mut sets = DisjointSets::<Node>::new(most);
        // Remaining input copies, by source and place. It is only looked up, never iterated.
        let mut made: HashMap<(VReg, CopyOf), Affinity> = HashMap::new();
        for affinity in affinities {
            let (web, reg) = (sets.find(affinity.web), self.node(affinity.reg));
            let reg = sets.find(reg);
            let place = (affinity.reg, affinity.copy);
            if let Some(other) = made.get(&place)
                && self.share_more(affinity, other.phi)
                && let other = sets.find(other.web)
                && self.refusal(web, other).is_none()
            {
                self.unite(&mut sets, web, other);
                self.keep(affinity, Reason::Refused(CopyRefusal::Interference));
                continue;
            }
            let reason = if is_tried { self.refusal(web, reg).map(Reason::Refused) } else { Some(Reason::NotTried) };
            match reason {
                None => self.unite(&mut sets, web, reg),
                Some(reason) => {
                    self.keep(affinity, reason);
                    if is_tried && affinity.copy != CopyOf::Result {
                        made.entry(place).or_insert(affinity);
                    }
                }
            }
        }
        let mut copies = std::mem::take(&mut self.isolated.copies);
        for copy in &mut copies {
            let reg = self.node(copy.reg);
            (copy.to, copy.of) = (sets.find(copy.to), sets.find(reg));
        }
        // Other merges may have put both sides into one register.
        copies.retain(|copy| !is_tried || copy.to != copy.of);
        self.isolated.copies = in_order(copies);
        self.replace(phis, &mut sets);
        self.isolated
    }

    /// Removes PHIs that share their register with another PHI of the same value. Their readers read the other PHI.
    fn replace(&mut self, phis: &[Phi], sets: &mut DisjointSets<Node>) {
        // Registers that are left to LLVM have no node.
        let mut share = |a, b| match (self.of_register[a], self.of_register[b]) {
            (Some(a), Some(b)) => sets.find(a) == sets.find(b),
            _ => false,
        };
        let same = |phi: &Phi| Some((*phi, self.congruent[phi.result])).filter(|&(phi, first)| first != phi.result);
        let replaced: Vec<(Phi, VReg)> =
            phis.iter().filter_map(same).filter(|&(phi, first)| share(phi.result, first)).collect();
        // PHIs are in layout order.
        let goes = |phi: Phi| replaced.binary_search_by_key(&phi.inst, |(replaced, _)| replaced.inst).is_ok();
        self.isolated.copies.retain(|copy| !goes(copy.phi));
        self.isolated.constants.retain(|constant| !goes(constant.phi));
        self.isolated.replaced = replaced;
    }

    fn unite(&mut self, sets: &mut DisjointSets<Node>, a: Node, b: Node) {
        if a != b {
            sets.unite(a, b);
            self.isolated.steps += (self.nodes[a].len() + self.nodes[b].len()) as u64;
            union(&self.nodes[a], &self.nodes[b], &mut self.united);
            self.nodes[a.max(b)] = Vec::new();
            std::mem::swap(&mut self.nodes[a.min(b)], &mut self.united);
        }
    }

    /// Whether a PHI that reads a register where another PHI copies it has more in common with the other PHI. Then one
    /// copy serves both, and their common inputs need no copy (sharing, in Boissinot et al. 2009). If there are many
    /// inputs, only the first are compared.
    fn share_more(&self, affinity: Affinity, other: Phi) -> bool {
        let inputs = |phi: Phi| phi.inputs(self.function).take(COMPARED).filter_map(|input| input.reg);
        inputs(affinity.phi).any(|reg| reg != affinity.reg && inputs(other).any(|input| input == reg))
    }

    fn refusal(&mut self, a: Node, b: Node) -> Option<CopyRefusal> {
        if a == b {
            return None;
        }
        for side in [a, b] {
            if self.nodes[side].len() > self.options.large_interval_size_threshold as usize {
                self.attempts[side] += 1;
                if self.attempts[side] > self.options.large_interval_freq_threshold {
                    return Some(CopyRefusal::LargeRange);
                }
            }
        }
        let mut pairs = 0;
        let conflicts = overlap(&self.nodes[a], &self.nodes[b], |a, b| {
            pairs += 1;
            a != b
        });
        self.isolated.steps += self.nodes[a].len().min(self.nodes[b].len()) as u64 + pairs;
        conflicts.then_some(CopyRefusal::Interference)
    }

    /// Keeps a copy, or replaces it by the constant that it would copy.
    fn keep(&mut self, Affinity { phi, web, copy, reg, .. }: Affinity, reason: Reason) {
        match (copy, self.registers[copied_from(self.registers, reg)].seen_constant()) {
            (CopyOf::Input(from), Some(definition)) => {
                self.isolated.constants.push(Constant { phi, from, reg, definition });
            }
            _ => self.isolated.copies.push(Copy { phi, copy, reason, reg, to: web, of: web }),
        }
    }
}

/// Orders the copies: results first, then those at the end of each block, so that reads precede writes of the same
/// register; a later read could not share it. O(n log n).
fn in_order(mut copies: Vec<Copy>) -> Vec<Copy> {
    copies.sort_unstable_by_key(|copy| (copy.copy, copy.phi.inst));
    let mut ordered = Vec::with_capacity(copies.len());
    for at_one_place in copies.chunk_by(|a, b| a.copy == b.copy) {
        if at_one_place[0].copy == CopyOf::Result {
            ordered.extend_from_slice(at_one_place);
        } else {
            ordered.extend(order(at_one_place).into_iter().map(|place| at_one_place[place]));
        }
    }
    ordered
}

/// Returns the order of parallel copies. A cycle may start anywhere, because each copy has a register of its own.
fn order(copies: &[Copy]) -> Vec<usize> {
    let pairs: Vec<(VReg, VReg)> = copies.iter().map(|copy| (VReg(copy.to.0), VReg(copy.of.0))).collect();
    let Ok(sequence) = sequentialize(&pairs, |_| VReg(u32::MAX)) else { return (0..copies.len()).collect() };
    let mut places: Vec<(VReg, usize)> = pairs.iter().enumerate().map(|(place, &(to, _))| (to, place)).collect();
    places.sort_unstable();
    let place = |to| Some(places[places.binary_search_by_key(&to, |&(to, _)| to).ok()?].1);
    let mut order: Vec<usize> = sequence.into_iter().filter_map(|(to, _)| place(to)).collect();
    order.extend((0..copies.len()).filter(|&place| copies[place].to == copies[place].of));
    order
}
