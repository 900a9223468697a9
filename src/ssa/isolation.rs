//! Isolation of PHIs whose webs are not conventional. Only the copies remain whose sides cannot share a register.
//!
//! Conceptually, each PHI gets a register of its own, its *web's* register. Each predecessor copies its input to this
//! register at its end. The PHI's block copies the register to the result at its start (method I of Sreedhar et al.
//! 1999). The sides of these copies are then merged, the most frequent copy first. Two live ranges interfere only where
//! they hold different values (Boissinot et al. 2009).
//!
//! These copies exist only in this model. The copies at one place are parallel: their sources end at the point at which
//! their targets begin. So a web is live after the copies at the ends of predecessors, and among the PHIs. The edits
//! contain only the copies that remain after all merges. They are correct for any merges.

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
    /// A set of merged registers, identified by one member. The webs of the PHIs have the first numbers, and the
    /// registers that they copy follow.
    Node, "n"
}

/// Number of a PHI's inputs that are compared with the inputs of another PHI.
const COMPARED: usize = 16;

/// Value of an undefined input, which may be any value.
const UNDEFINED: ValueNumber = ValueNumber(u32::MAX);

/// The place of a copy that isolates a PHI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum CopyOf {
    /// The result, which is copied after the PHIs.
    Result,
    /// The inputs from this block, which are copied at its end.
    Input(Block),
}

/// A copy that remains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) phi: Phi,
    pub(super) copy: CopyOf,
    pub(super) reason: Reason,
    /// The copied register of the view, or the result that is copied to.
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
    /// Removed PHIs. Each comes with the result of another PHI that always holds the same value and can share its
    /// register.
    pub(super) replaced: Vec<(Phi, VReg)>,
    /// Number of visited block successors and live-range segments.
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

/// Isolates `phis`. Inputs in `constants`, which is sorted by PHI and place, are rematerialised. Without the option
/// `cssa-coalesce`, nothing is merged. Near-linear in the inputs and the segments of their live ranges. Merges of large
/// ranges cost more, but their number is limited.
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
    /// Segments in which a register would be live only for a PHI. The PHI's web is live there in its place.
    ceded: Vec<(VReg, Point, Point)>,
    /// Live segments: first of the webs, then of the copied registers, whose segments are computed on demand.
    nodes: IndexVec<Node, Vec<Segment>>,
    of_register: IndexVec<VReg, Option<Node>>,
    /// Number of attempts to merge each node since it became large.
    attempts: IndexVec<Node, u32>,
    /// First register of each constant. It is only looked up, never iterated.
    constants: HashMap<(Opcode, Value), VReg>,
    /// Scratch memory for unions.
    united: Vec<Segment>,
    /// Whether a register is read after the copies at the end of a block. It is only looked up, never iterated.
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

    /// Adds the web of a PHI and the copies to and from this web.
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
        // If a predecessor ends with a switch, a PHI lists it once for each edge.
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

    /// Returns the segment in which a web holds an input at the end of a block; `None` if the block is empty.
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

    /// Whether a register is read after the copies at the end of a block. Reads by PHIs do not count.
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

    /// Whether a register is live into a successor of a block. A block with a switch has many successors, and most
    /// registers are live into few blocks. So the shorter of the two lists is searched in the other. O(min · log max)
    /// in their lengths.
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

    /// Returns the value of a register, as the first register that held this value. In SSA form, a live register holds
    /// the value of its only definition. The source of a copy does not change: its definition dominates the copy, and
    /// the copy dominates the point.
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
            // At points that no definition reaches, the register's value equals no other value.
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

    /// Merges copies, the most frequent first. Among equally frequent copies, copies of results come first, as in a
    /// coalescer. Copies of registers with more reads come next.
    fn merge(mut self, phis: &[Phi]) -> IsolationResult {
        let is_tried = self.options.cssa_coalesce;
        self.ceded.sort_unstable();
        let mut affinities = std::mem::take(&mut self.affinities);
        let rank = |affinity: &Affinity| (affinity.copy != CopyOf::Result, Reverse(self.registers[affinity.reg].reads));
        affinities.sort_by(|a, b| b.frequency.total_cmp(&a.frequency).then_with(|| rank(a).cmp(&rank(b))));
        let most = self.nodes.len() + affinities.len();
        let mut sets = DisjointSets::<Node>::new(most);
        // The input copies that remain, by source and place. The map is only looked up, never iterated.
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
        // A copy is needless if later merges have put both its sides into one register.
        copies.retain(|copy| !is_tried || copy.to != copy.of);
        self.isolated.copies = in_order(copies);
        self.replace(phis, &mut sets);
        self.isolated
    }

    /// Removes PHIs that share their register with another PHI of the same value. Instructions that read a removed PHI
    /// read the other PHI instead.
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

    /// Whether two PHIs that copy the same register at the same place also have another input in common. Then one copy
    /// can serve both PHIs, and their other common inputs need no copy (sharing, in Boissinot et al. 2009). If there
    /// are many inputs, only the first are compared.
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

    /// Keeps a copy. If the copied register holds a constant, the constant is rematerialised instead.
    fn keep(&mut self, Affinity { phi, web, copy, reg, .. }: Affinity, reason: Reason) {
        match (copy, self.registers[copied_from(self.registers, reg)].seen_constant()) {
            (CopyOf::Input(from), Some(definition)) => {
                self.isolated.constants.push(Constant { phi, from, reg, definition });
            }
            _ => self.isolated.copies.push(Copy { phi, copy, reason, reg, to: web, of: web }),
        }
    }
}

/// Orders the copies: first the copies of results, then the copies at the end of each block. Of two copies at one
/// place, the one that reads a register comes before the one that writes it, because they could not share the register
/// in the other order. O(n log n).
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

/// Returns an order of parallel copies. A cycle may begin with any copy, because each copy writes a register of its
/// own.
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
