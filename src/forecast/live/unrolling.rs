//! Loops that ptxas unrolls, and the pressure in them.
//!
//! ptxas 13.0.88 makes four bodies of a short loop, for any trip count, and issues the loads of all four before the
//! instructions that wait for them. Experiments, which are in the notebook, show which loops it unrolls: innermost
//! loops with one exit edge that count by a constant. The loop has no ordered instructions, no calls and no branches to
//! subroutines, and no store depends on a condition. LLVM has unrolled loops with known trip counts before.

use super::pressure::Pressure;
use crate::analysis::{Loop, Obstacle};
use crate::forecast::footprint::RegisterFootprint;
use crate::forecast::footprint::opcode_facts::{Kinds, Motion};
use crate::function::ptx_opcode::as_llvm;
use crate::function::{Block, Effects, Function, Inst, Operand, VReg};
use crate::index::IndexVec;

/// Bodies of an unrolled loop.
const FACTOR: u32 = 4;

/// Largest weight of a body: an instruction weighs 1, a load or store 2.
const MOST_WEIGHT: u32 = 50;

/// Weight of a division of integers of at most 32 bits.
const DIVISION_WEIGHT: u32 = 22;

/// Most words of loads that ptxas issues early from more than four bodies. So many words cost no warps.
const MOST_OF_KNOWN_TURNS: u32 = 32;

/// Words in the loops that ptxas unrolls; 0 without such loops.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::forecast) struct UnrolledWords {
    /// Most varying words that are live, with the loads of all bodies issued early.
    pub(in crate::forecast) words: u32,
    /// Most words that all bodies of a loop load.
    pub(in crate::forecast) loads: u32,
}

/// Bodies of a function's loops. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct Unrolling {
    bodies: IndexVec<Loop, Body>,
}

/// Body of a loop, as far as it has been read.
#[derive(Clone, Copy, Debug, Default)]
struct Body {
    is_refused: bool,
    weight: u32,
    /// Words of its loads that occupy registers.
    load_words: u32,
    /// Highest number of varying words that are live at once.
    live: u32,
    /// Number of edges that leave the loop, and the source block of the last one.
    exits: u32,
    exit: Option<Block>,
}

impl Unrolling {
    /// Computes the words in the loops that ptxas unrolls. O(operands of innermost loops, and occurrences of the
    /// registers that their exits read).
    pub(super) fn most_words(
        &mut self,
        function: &Function,
        footprint: &RegisterFootprint,
        varying: &Pressure,
    ) -> UnrolledWords {
        let loops = &footprint.loops;
        if loops.is_empty() {
            return UnrolledWords::default();
        }
        self.bodies.clear();
        self.bodies.resize(loops.len(), Body::default());
        for outer in self.bodies.ids().filter_map(|inner| loops.parent(inner)) {
            self.bodies[outer].is_refused = true;
        }
        for block in function.blocks() {
            if let Some(innermost) = loops.innermost(block)
                && !self.bodies[innermost].is_refused
            {
                self.bodies[innermost].add(function, footprint, varying, innermost, block);
            }
        }
        let is_unrolled = |&(number, body): &(Loop, &Body)| {
            !body.is_refused
                && body.exits == 1
                && body.exit.is_some_and(|exit| counts(function, footprint, number, exit))
        };
        let mut most = UnrolledWords::default();
        for (number, body) in self.bodies.iter_enumerated().filter(is_unrolled) {
            let (bodies, loads) = match footprint.unrollings[number] {
                // The source or the form of the branch forbids unrolling.
                Err(Obstacle::Pragma(_) | Obstacle::Branch(_)) => continue,
                // No known reason forbids unrolling.
                Err(_) => (FACTOR, 0),
                Ok(unrolling) => (unrolling.bodies(), unrolling.bodies().saturating_mul(body.load_words)),
            };
            let more = bodies.saturating_sub(1).saturating_mul(body.load_words);
            let more = if bodies > FACTOR { more.min(MOST_OF_KNOWN_TURNS) } else { more };
            most.words = most.words.max(body.live + more);
            most.loads = most.loads.max(loads);
        }
        most
    }
}

impl Body {
    /// Adds a block of the loop.
    fn add(
        &mut self,
        function: &Function,
        footprint: &RegisterFootprint,
        varying: &Pressure,
        this: Loop,
        block: Block,
    ) {
        let RegisterFootprint { behaviours, words, loops, promotion, .. } = footprint;
        let (header, succs) = (loops.header(this), function.succs(block));
        let runs_always = block == header || succs.contains(&header);
        let subroutines = Kinds::CALL | Kinds::DOUBLE_ROUTINE | Kinds::SLOW_PATH | Kinds::WIDE_DIVISION;
        for inst in function.block_insts(block) {
            let summary = behaviours.opcode(function, inst);
            let is_code = summary.kinds.contains(Kinds::CODE) && !summary.sharing.is_free();
            if !is_code || function.effects(inst).contains(Effects::TERMINATOR) {
                continue;
            }
            self.weight += if summary.kinds.contains(Kinds::DIVISION) { DIVISION_WEIGHT } else { 1 };
            let motion = behaviours.motion(inst);
            // A variable in registers needs no load.
            let is_in_registers = promotion.is_promoted() && promotion.place(inst).is_some();
            if motion == Motion::Load && !is_in_registers {
                let written = function.operands(inst).iter().filter_map(Operand::def);
                let loaded: u32 = written.map(|reg| words.occupied(reg).count() as u32).sum();
                // Parameters, which occupy no register, need no load.
                self.weight += loaded.min(1);
                self.load_words += loaded;
            }
            self.weight += u32::from(motion == Motion::Store);
            self.is_refused = self.weight > MOST_WEIGHT
                || motion == Motion::Ordered
                || (motion == Motion::Store && (!runs_always || summary.kinds.contains(Kinds::ASSEMBLY)))
                || summary.kinds.intersects(subroutines);
            if self.is_refused {
                return;
            }
        }
        // Only conditional branches count; others disappear at the end of the block.
        self.weight += u32::from(succs.len() > 1);
        self.is_refused = self.weight > MOST_WEIGHT;
        let range = function.block_range(block);
        self.live = varying.most_between(range.start, range.end).max(self.live);
        let exits = succs.iter().filter(|&&succ| loops.innermost(succ) != Some(this)).count() as u32;
        if exits > 0 {
            self.exits += exits;
            self.exit = Some(block);
        }
    }
}

/// Whether the loop counts by a constant: the condition in the exit block compares a register whose only definition in
/// the loop adds a constant.
fn counts(function: &Function, footprint: &RegisterFootprint, this: Loop, exit: Block) -> bool {
    let RegisterFootprint { occurrences, loops, .. } = footprint;
    let only_definition = |reg: VReg| {
        let is_here = |block| loops.innermost(block) == Some(this);
        let mut here = occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def() && is_here(occurrence.block));
        here.next().filter(|_| here.next().is_none()).map(|definition| definition.inst)
    };
    let reads = |inst: Inst| function.operands(inst).iter().filter_map(Operand::read_reg);
    let is_step = |inst: Inst| {
        let name = function.opcodes().name(function.opcode(inst));
        let name = as_llvm(name);
        (name.starts_with("ADD") && name.ends_with("ri")) || function.as_copy(inst).is_some()
    };
    let terminators = function.block_insts(exit).rev();
    let mut terminators = terminators.take_while(|&inst| function.effects(inst).contains(Effects::TERMINATOR));
    let condition = terminators.find_map(|inst| reads(inst).next());
    let compared = condition.and_then(only_definition);
    compared.is_some_and(|inst| reads(inst).any(|reg| only_definition(reg).is_some_and(is_step)))
}

#[cfg(test)]
mod tests {
    use crate::forecast::live::Live;
    use crate::forecast::model::features::{Features, MOST_UNROLLING};
    use crate::function::Function;

    /// Returns the words that unrolling adds to a loop that sums floats, with `body` in it and with this counter step.
    fn most_words(body: &str, step: &str) -> f64 {
        let features = features(body, step);
        features.get("unrolled_words") - features.get("words")
    }

    fn features(body: &str, step: &str) -> Features {
        let text = format!(
            "mfv 1\nfunction \"f\"\nopcode ADD32ri\nopcode ADD32rr\nopcode ADD64ri\nopcode CBranch\nopcode FADDf32rr\n\
             opcode FDIV32rr_prec\nopcode INT_PTX_SREG_TID_x\nopcode LD_i32\nopcode MOV_B32_i constant\n\
             opcode MOV_B64_i constant\nopcode SETP_i32ri\nopcode ST_i32\nopcode UDIV32rr\nopcode BAR\nopcode CVT_u64_u32\n\
             regs %0 B32 B64 B32 B32 B1 B32\nbb0: frequency 1.0 depth 0 -> bb1\n  %0 = INT_PTX_SREG_TID_x\n  \
             %1 = CVT_u64_u32 %0, 0\n  %2 = MOV_B32_i 0\n  %5 = INT_PTX_SREG_TID_x\n\
             bb1: frequency 9.0 depth 1 -> bb1 bb2\n  %3 = LD_i32 0, 0, 1, 3, 32, -1, %1, 0 :: read global\n  \
             %2 = FADDf32rr %2, %3, 0\n{body}  %1 = ADD64ri %1, 256\n  %5 = {step}\n  %4 = SETP_i32ri %5, 77, 2\n  \
             CBranch %4, bb1 :: terminator\nbb2: frequency 1.0 depth 0\n  \
             ST_i32 %2, 0, 0, 3, 32, %1, 0 :: write global\nend\n"
        );
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Features::new(&Live::by_name(&function))
    }

    /// The words that unrolling adds count up to a limit.
    #[test]
    fn no_more_than_a_step_has_left() {
        let load = "  %3 = LD_i32 0, 0, 1, 3, 32, -1, %1, 0 :: read global\n  %2 = FADDf32rr %2, %3, 0\n";
        for (loads, is_whole) in [(0, true), (9, false)] {
            let features = features(&load.repeat(loads), "ADD32ri %5, 1");
            let [unrolled, footprint, more] =
                ["unrolled_words", "reordered_words", "unrolling_words"].map(|name| features.get(name));
            let most = f64::from(MOST_UNROLLING);
            assert_eq!((more, unrolled - footprint <= most), ((unrolled - footprint).min(most), is_whole));
        }
    }

    /// Three more bodies of a short loop add the words of their loads. Ordered instructions, exact divisions of floats,
    /// too large bodies (such as two divisions of integers), and a non-constant step prevent unrolling.
    #[test]
    fn short_loops_that_count() {
        let step = "ADD32ri %5, 1";
        assert_eq!(most_words("", step), 3.0);
        assert_eq!(most_words("  %2 = UDIV32rr %2, %5\n", step), 3.0);
        assert_eq!(most_words("", "ADD32rr %5, %0"), 0.0);
        assert_eq!(most_words("  BAR :: ordered convergent\n", step), 0.0);
        assert_eq!(most_words("  %2 = FDIV32rr_prec %2, %3\n", step), 0.0);
        assert_eq!(most_words(&"  %2 = FADDf32rr %2, %3, 0\n".repeat(43), step), 3.0);
        assert_eq!(most_words(&"  %2 = FADDf32rr %2, %3, 0\n".repeat(44), step), 0.0);
        assert_eq!(most_words(&"  %2 = UDIV32rr %2, %5\n".repeat(2), step), 0.0);
    }
}
