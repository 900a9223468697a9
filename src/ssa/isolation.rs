//! PHIs whose webs are not conventional, isolated by copies, of which those stay whose sides cannot share a register.
//!
//! In thought each PHI gets a register of its own, its *web's*: every predecessor copies its input there at its end,
//! and the PHI's block copies it to the result at its start (method I of Sreedhar et al. 1999). The most frequent
//! copies are then merged first, two live ranges interfering only where they hold different values (Boissinot et al.
//! 2009). Nothing of this is written down as code. The copies at one place are parallel: there what they read ends and
//! what they write begins, so that a web is live behind the copies at the ends of predecessors, and among the PHIs. The
//! edits say what is left, and they are right whatever is merged here; what counts is how few they are.

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
    /// What shares a register so far is named by one of these: first the PHIs' webs, then the registers that they copy.
    Node, "n"
}

/// How many inputs of a PHI are compared with those of another.
const COMPARED: usize = 16;

/// The value of an undefined input: any will do.
const UNDEFINED: ValueNumber = ValueNumber(u32::MAX);

/// A copy that isolates a PHI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum CopyOf {
    /// The result, behind the PHIs.
    Result,
    /// The inputs that come from this block.
    Input(Block),
}

/// A copy that stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) phi: Phi,
    pub(super) copy: CopyOf,
    pub(super) reason: Reason,
    /// The register of the view that is copied, or that the result is copied to.
    pub(super) reg: VReg,
    /// The register written and the one read.
    to: Node,
    of: Node,
}

/// What isolated PHIs need.
#[derive(Debug, Default)]
pub(super) struct IsolationResult {
    /// The copies that stay, in the order in which those at one place stand.
    pub(super) copies: Vec<Copy>,
    /// Inputs that are constants, to be written anew where they would be copied.
    pub(super) constants: Vec<Constant>,
    /// PHIs that go, because another one always holds the same and can share their register; with its result.
    pub(super) replaced: Vec<(Phi, VReg)>,
    /// How many successors of blocks and segments of live ranges were looked at.
    pub(super) steps: u64,
}

/// A copy that goes where both sides can share a register.
#[derive(Clone, Copy, Debug)]
struct Affinity {
    phi: Phi,
    web: Node,
    copy: CopyOf,
    reg: VReg,
    frequency: f64,
}

/// Isolates `phis`, of whose inputs some are `constants` to be written anew, sorted by PHI and place; without the
/// option `cssa-coalesce` nothing is merged. Near-linear in their inputs and the segments of their live ranges, but for
/// large ranges, which are merged a limited number of times.
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
    /// The registers that PHIs' results are the same as.
    congruent: IndexVec<VReg, VReg>,
    affinities: Vec<Affinity>,
    /// Where the web stands for a register, which is live there for the PHI alone.
    ceded: Vec<(VReg, Point, Point)>,
    /// Where the webs are live, then what they share registers with, as far as something wanted to.
    nodes: IndexVec<Node, Vec<Segment>>,
    of_register: IndexVec<VReg, Option<Node>>,
    /// How often a merge of a large range was tried.
    attempts: IndexVec<Node, u32>,
    /// The first register of each constant. It is only looked up in, never walked.
    constants: HashMap<(Opcode, Value), VReg>,
    /// Memory for one union after another.
    united: Vec<Segment>,
    /// Whether registers are read behind the copies at the ends of blocks. It is only looked up in, never walked.
    live_beyond: HashMap<(VReg, Block), bool>,
    /// The successors of blocks that have many, sorted. It is only looked up in, never walked.
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

    /// Adds the web of a PHI, and the copies that it takes.
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
        // After a switch a predecessor stands once for each edge.
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

    /// Where a web is live for an input at the end of a block; nowhere where the block is empty.
    fn at_end(&mut self, reg: VReg, block: Block) -> Option<Segment> {
        let value = if self.registers[reg].undefined.is_some() { UNDEFINED } else { self.value(reg) };
        let (start, end) = end_of(self.function, block)?;
        if !self.is_live_beyond(reg, block) {
            self.ceded.push((reg, start, end));
        }
        Some(Segment { start, end, value })
    }

    /// Where a web is live among its PHI's block's PHIs.
    fn at_phi(&mut self, phi: Phi) -> Segment {
        let start = Point::block_start(self.function, phi.block);
        let behind = self.ends_of_phis.of(self.function, phi.block, &mut self.isolated.steps);
        let end = behind.map_or(Point::block_end(self.function, phi.block), Point::early);
        Segment { start, end, value: self.value(phi.result) }
    }

    /// Whether a register is read behind the copies at the end of a block, by others than PHIs.
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

    /// Whether a register is live into a successor of a block. After a switch there are many successors, and mostly few
    /// blocks that the register is live into. O(the fewer of both · log the more).
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

    /// What a register holds, as the register that held it first. In SSA form a register that is live holds what its
    /// last definition put there, and what was copied since has not changed: the definition copied from dominates the
    /// copy, and the copy the point.
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
            // Where no definition reaches, whatever is there is nothing that another register would hold.
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

    /// Merges what can be merged, the most frequent copies first, among equals those of results, which a coalescer
    /// comes to first, then those of registers that are read more.
    fn merge(mut self, phis: &[Phi]) -> IsolationResult {
        let is_tried = self.options.cssa_coalesce;
        self.ceded.sort_unstable();
        let mut affinities = std::mem::take(&mut self.affinities);
        let rank = |affinity: &Affinity| (affinity.copy != CopyOf::Result, Reverse(self.registers[affinity.reg].reads));
        affinities.sort_by(|a, b| b.frequency.total_cmp(&a.frequency).then_with(|| rank(a).cmp(&rank(b))));
        let most = self.nodes.len() + affinities.len();
        let mut sets = DisjointSets::<Node>::new(most);
        // Input copies that stay, by what is copied where. It is only looked up in, never walked.
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
        // Other merges may have put both sides into one register after all.
        copies.retain(|copy| !is_tried || copy.to != copy.of);
        self.isolated.copies = in_order(copies);
        self.replace(phis, &mut sets);
        self.isolated
    }

    /// Has PHIs go that share their register with another one of the same value: what reads them can read that.
    fn replace(&mut self, phis: &[Phi], sets: &mut DisjointSets<Node>) {
        // Registers that are left to LLVM have no node.
        let mut share = |a, b| match (self.of_register[a], self.of_register[b]) {
            (Some(a), Some(b)) => sets.find(a) == sets.find(b),
            _ => false,
        };
        let same = |phi: &Phi| Some((*phi, self.congruent[phi.result])).filter(|&(phi, first)| first != phi.result);
        let replaced: Vec<(Phi, VReg)> =
            phis.iter().filter_map(same).filter(|&(phi, first)| share(phi.result, first)).collect();
        // PHIs come in layout order.
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

    /// Whether a PHI that reads a register where another one copies it has more in common with that one: then the copy
    /// does for both, and what they have in common needs none (sharing, in Boissinot et al. 2009). Of many inputs only
    /// the first are looked at.
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

    /// A copy stays, or becomes the constant that it would copy.
    fn keep(&mut self, Affinity { phi, web, copy, reg, .. }: Affinity, reason: Reason) {
        match (copy, self.registers[copied_from(self.registers, reg)].seen_constant()) {
            (CopyOf::Input(from), Some(definition)) => {
                self.isolated.constants.push(Constant { phi, from, reg, definition });
            }
            _ => self.isolated.copies.push(Copy { phi, copy, reason, reg, to: web, of: web }),
        }
    }
}

/// Results first, then the copies at the end of each block, so that what is read comes before what is written to the
/// same register: a copy that came behind could not share it. O(n log n).
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

/// The order of parallel copies. Of a cycle any may be first, because each copy has a register of its own.
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
