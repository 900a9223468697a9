//! Words that loops carry: a lower bound of the pressure in any order of the code.
//!
//! A better order of a block shortens live ranges, and cheap values can be rematerialised. Neither helps with a value
//! that an iteration leaves to the next iteration: at the loop's header it occupies a register or is spilled. The same
//! holds for a value that is computed before a loop, read in it, and cannot be rematerialised. So at the header of a
//! loop these words are in registers, or spilled:
//!
//! 1. words of registers that an enclosing loop changes otherwise than by adding an invariant. Of several counters and
//!    addresses that change by an invariant, ptxas keeps one and computes the others;
//! 2. words of registers that an enclosing loop reads and does not change, if a load of memory that may change, an
//!    exchange between threads or a similar instruction wrote them.
//!
//! Registers that only pass constants and parameters around are not part of the bound: once the loop is unrolled, each
//! body may read the constants instead. 16-bit registers count as halves, because two of them fit into a word. Values
//! that are the same in all threads may be in uniform registers, whatever wrote them: ptxas 13.0.88 was observed to
//! move even loaded values there. Of these values, only the number that exceeds the uniform registers counts.
//!
//! A single instruction bounds the pressure, too: matrix instructions read and write whole rows of registers at once.

use crate::analysis::Loop;
use crate::disjoint_sets::DisjointSets;
use crate::forecast::footprint::RegisterFootprint;
use crate::forecast::footprint::behaviour::Behaviours;
use crate::forecast::footprint::opcode_facts::{Kinds, reads_own_parameter};
use crate::function::{Block, Effects, Function, Inst, Operand, RegClass, Role, VReg};
use crate::index::{EntityIndex, IndexVec};

/// Numbers of 32-bit words that are live at once in any order of the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::forecast) struct LoopCarriedWords {
    /// Words that differ between threads.
    pub(in crate::forecast) varying: u32,
    /// Varying words and words that are the same in all threads of a warp.
    pub(in crate::forecast) all: u32,
    /// All words that loops carry, including words that only pass constants and parameters around. This number is no
    /// lower bound.
    pub(in crate::forecast) passed: u32,
    /// Words of `passed` that a loop copies from one register to another: they change places.
    pub(in crate::forecast) moved: u32,
    /// Words of `moved` that may change places in the uniform registers: they are the same in all threads, and few
    /// change places with each other.
    pub(in crate::forecast) moved_uniform: u32,
}

/// Most registers that copies may connect if values change places in uniform registers: a processor's 63 uniform
/// registers hold the values twice.
const MOST_UNIFORM_CYCLE: u32 = 31;

/// Most copies in a row that are followed.
const MOST_COPIES: u32 = 16;

/// Fewest operands of an instruction whose words are counted. Fewer operands have few words.
const LEAST_OPERANDS: usize = 8;

impl LoopCarriedWords {
    /// Computes the maximum of each count over the headers of loops and over single instructions. O((occurrences and
    /// live-in blocks of the registers in loops) · depth).
    pub(super) fn most(function: &Function, footprint: &RegisterFootprint) -> Self {
        let halves = halves_at_headers(function, footprint).iter().copied().fold(Self::default(), Self::max);
        let at_headers = Self {
            varying: halves.varying.div_ceil(2),
            all: halves.all.div_ceil(2),
            passed: halves.passed.div_ceil(2),
            moved: halves.moved / 2,
            moved_uniform: halves.moved_uniform / 2,
        };
        function.insts().fold(at_headers, |most, inst| match may_hold_more(function, inst, most.varying) {
            true => most.max(at_once(function, footprint, inst)),
            false => most,
        })
    }

    fn max(self, other: Self) -> Self {
        Self {
            varying: self.varying.max(other.varying),
            all: self.all.max(other.all),
            passed: self.passed.max(other.passed),
            moved: self.moved.max(other.moved),
            moved_uniform: self.moved_uniform.max(other.moved_uniform),
        }
    }
}

/// How an enclosing loop uses a register.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Register that this entry describes: the array is not cleared between registers.
    of: Option<VReg>,
    /// Whether the register is live at the start of an iteration.
    is_live_in: bool,
    reads: bool,
    changes: bool,
    /// Whether the loop changes the register otherwise than by adding an invariant.
    recomputes: bool,
    /// Whether the loop changes the register by copying another register.
    moves: bool,
}

/// Returns the carried words at each loop's header, in halves of words.
fn halves_at_headers(function: &Function, footprint: &RegisterFootprint) -> IndexVec<Loop, LoopCarriedWords> {
    let RegisterFootprint { loops, ranges, words, uniformity, occurrences, .. } = footprint;
    let mut headers = IndexVec::filled(LoopCarriedWords::default(), loops.len());
    if loops.is_empty() {
        return headers;
    }
    let sources = Sources::of(function, footprint);
    let header_of: Vec<Option<Loop>> = function
        .blocks()
        .map(|block| loops.innermost(block).filter(|&innermost| loops.header(innermost) == block))
        .collect();
    let mut usage = IndexVec::filled(Usage::default(), loops.len());
    let mut entered = Vec::new();
    for reg in function.regs() {
        let num_words = words.occupied(reg).count() as u32;
        entered.clear();
        entered.extend(ranges.live_ins(reg).iter().filter_map(|live| header_of[live.block.index()]));
        if num_words == 0 || entered.is_empty() {
            continue;
        }
        for &this in &entered {
            usage[this] = Usage { of: Some(reg), is_live_in: true, ..Usage::default() };
        }
        for occurrence in occurrences.of(reg) {
            let (is_def, is_use) = (occurrence.is_def(), occurrence.is_use());
            let update = is_def.then(|| sources.update(function, reg, occurrence.inst));
            let mut around = loops.innermost(occurrence.block);
            while let Some(this) = around {
                if usage[this].of != Some(reg) {
                    usage[this] = Usage { of: Some(reg), ..Usage::default() };
                }
                let usage = &mut usage[this];
                usage.reads |= is_use;
                usage.changes |= is_def;
                usage.moves |= update == Some(Update::Moves);
                usage.recomputes |= match update {
                    None | Some(Update::Adds(None)) => false,
                    Some(Update::Adds(Some(addend))) => loops.contains(this, addend),
                    Some(Update::Moves | Update::Computes) => true,
                };
                around = loops.parent(this);
            }
        }
        let (is_solid, is_lasting) = (sources.is_solid[reg], sources.is_lasting[reg]);
        let halves = if function.class(reg) == RegClass::B16 { 1 } else { 2 * num_words };
        let is_uniform = uniformity.is_uniform(reg);
        let varying = if is_uniform { 0 } else { halves };
        let may_move_uniformly = is_uniform && sources.connected[reg] <= MOST_UNIFORM_CYCLE;
        for &this in &entered {
            let (mut is_held, mut moves) = (false, false);
            let mut around = Some(this);
            while let Some(outer) = around {
                let usage = usage[outer];
                if usage.of == Some(reg) && usage.is_live_in {
                    is_held |= usage.recomputes || (usage.reads && !usage.changes && is_lasting);
                    moves |= usage.moves;
                }
                around = loops.parent(outer);
            }
            if is_held {
                let carried = &mut headers[this];
                carried.passed += halves;
                if is_solid {
                    carried.all += halves;
                    carried.varying += varying;
                }
                if moves {
                    carried.moved += halves;
                    carried.moved_uniform += if may_move_uniformly { halves } else { 0 };
                }
            }
        }
    }
    headers
}

/// How a definition changes a register that a loop carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    /// It adds a constant, or a value that is written once, in this block.
    Adds(Option<Block>),
    /// It copies another register with several definitions.
    Moves,
    /// Any other definition.
    Computes,
}

/// Sources of the registers' values, after copies are followed.
struct Sources {
    /// Only definition of each register.
    definition: IndexVec<VReg, Option<Inst>>,
    /// Whether a value other than a constant or parameter enters the registers that copies connect with this register.
    is_solid: IndexVec<VReg, bool>,
    /// Number of registers with several definitions that copies connect with this register, itself included.
    connected: IndexVec<VReg, u32>,
    /// Whether ptxas rematerialises none of the register's definitions.
    is_lasting: IndexVec<VReg, bool>,
}

impl Sources {
    /// Finds the sources of all registers. O(operands).
    fn of(function: &Function, footprint: &RegisterFootprint) -> Self {
        let RegisterFootprint { behaviours, ranges, .. } = footprint;
        let mut webs = DisjointSets::<VReg>::new(function.num_regs());
        let mut brings = IndexVec::<VReg, bool>::filled(false, function.num_regs());
        let mut is_lasting = IndexVec::<VReg, bool>::filled(true, function.num_regs());
        let mut definition = IndexVec::<VReg, Option<Inst>>::filled(None, function.num_regs());
        for inst in function.insts() {
            let copied = function.as_copy(inst).map(|(_, source)| source);
            for written in function.operands(inst).iter().filter_map(Operand::def) {
                if let Some(source) = copied {
                    webs.unite(written, source);
                } else if !is_constant(function, behaviours, inst) {
                    brings[written] = true;
                }
                is_lasting[written] &= copied.is_none() && !can_be_done_again(function, behaviours, inst);
                definition[written] = ranges.has_one_definition(written).then_some(inst);
            }
        }
        let mut is_solid = IndexVec::<VReg, bool>::filled(false, function.num_regs());
        let mut connected = IndexVec::<VReg, u32>::filled(0, function.num_regs());
        for reg in function.regs() {
            let web = webs.find(reg);
            is_solid[web] |= brings[reg];
            connected[web] += u32::from(!ranges.has_one_definition(reg));
        }
        for reg in function.regs() {
            let web = webs.find(reg);
            (is_solid[reg], connected[reg]) = (is_solid[web], connected[web]);
        }
        Self { definition, is_solid, connected, is_lasting }
    }

    /// Returns how a definition changes a register. O(1), because at most [`MOST_COPIES`] copies in a row are followed.
    /// Copies that pass undefined values around in a cycle have no end.
    fn update(&self, function: &Function, reg: VReg, definition: Inst) -> Update {
        let mut inst = definition;
        for _ in 0..MOST_COPIES {
            let Some((_, source)) = function.as_copy(inst) else {
                return self.addition(function, reg, inst).unwrap_or(Update::Computes);
            };
            match self.definition[source] {
                Some(before) => inst = before,
                None if source == reg => return Update::Adds(None),
                None => return Update::Moves,
            }
        }
        Update::Computes
    }

    /// Recognises the addition of an invariant to a register: a counter, or an address that steps through memory.
    fn addition(&self, function: &Function, reg: VReg, inst: Inst) -> Option<Update> {
        const ADDITIONS: [&str; 4] = ["ADD32", "ADD64", "SUB32", "SUB64"];
        let name = function.opcodes().name(function.opcode(inst));
        if !ADDITIONS.iter().any(|prefix| name.starts_with(prefix)) {
            return None;
        }
        let (mut reads_itself, mut addend) = (false, None);
        for read in function.operands(inst).iter().filter_map(Operand::read_reg) {
            if read == reg {
                reads_itself = true;
            } else {
                addend = Some(function.block_of(self.definition[read]?));
            }
        }
        reads_itself.then_some(Update::Adds(addend))
    }
}

/// Whether an instruction writes a constant, or a parameter of the kernel.
fn is_constant(function: &Function, behaviours: &Behaviours, inst: Inst) -> bool {
    matches!(function.role(inst), Role::Constant | Role::Undef)
        || reads_own_parameter(function, &behaviours.opcode(function, inst).info, inst)
}

/// Whether ptxas could rematerialise an instruction's result.
fn can_be_done_again(function: &Function, behaviours: &Behaviours, inst: Inst) -> bool {
    let is_assembly = behaviours.opcode(function, inst).kinds.contains(Kinds::ASSEMBLY);
    !is_assembly && behaviours.gives_the_same(function, inst)
}

/// Whether the registers of an instruction have more than `words` words in sum. The instruction reads or writes at most
/// this sum at once.
#[inline]
fn may_hold_more(function: &Function, inst: Inst, words: u32) -> bool {
    let operands = function.operands(inst);
    // Most instructions have few operands.
    operands.len() >= LEAST_OPERANDS
        && operands.iter().filter_map(Operand::reg).map(|reg| function.class(reg).words()).sum::<u32>() > words
}

/// Returns the words that one instruction reads or writes at once, whichever are more.
fn at_once(function: &Function, footprint: &RegisterFootprint, inst: Inst) -> LoopCarriedWords {
    let RegisterFootprint { behaviours, words, uniformity, .. } = footprint;
    let summary = behaviours.opcode(function, inst);
    let is_one = !function.effects(inst).intersects(Effects::CALL_SEQUENCE | Effects::META | Effects::TERMINATOR)
        && summary.kinds.contains(Kinds::CODE)
        && !summary.kinds.intersects(Kinds::ASSEMBLY | Kinds::CALL)
        && function.role(inst) == Role::Other;
    let operands = function.operands(inst);
    if !is_one {
        return LoopCarriedWords::default();
    }
    let count = |select: fn(&Operand) -> Option<VReg>| {
        let mut found: Vec<_> = operands
            .iter()
            .filter_map(select)
            .filter(|&reg| function.class(reg) != RegClass::B16)
            .flat_map(|reg| words.occupied(reg).map(move |word| (word, reg)))
            .collect();
        found.sort_unstable();
        found.dedup_by_key(|(word, _)| *word);
        let uniform = found.iter().filter(|(_, reg)| uniformity.is_uniform(*reg)).count() as u32;
        LoopCarriedWords {
            varying: found.len() as u32 - uniform,
            all: found.len() as u32,
            ..LoopCarriedWords::default()
        }
    };
    let [read, written] = [count(Operand::use_reg), count(Operand::def)];
    read.max(written)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::forecast::kernel::estimate::tests::case;
    use crate::forecast::live::Live;
    use crate::forecast::model::features::Features;
    use crate::forecast::{Forecast, forecast_by_name};
    use crate::function::{Effects, Function, LaunchBounds, Operand, RegClass};
    use crate::fuzzing::{Options, explore, lowered_function, reached};

    const OPCODES: &str = "opcode INT_PTX_SREG_TID_x\nopcode LD_i32\nopcode LD_i16\nopcode ADD32rr\nopcode ADD32ri\n\
        opcode FADD_rnf32rr\nopcode MOV_B32_i constant\nopcode COPY copy\nopcode CBranch\nopcode ST_i32\nopcode ST_i16\n\
        opcode SHFL\nopcode anonymous_mma\n";

    /// A function with one loop, bb1, whose exit depends on %1; %0 is the thread.
    fn with_loop(regs: &str, before: &str, body: &str, behind: &str) -> Function {
        let text = format!(
            "mfv 1\nfunction \"k\"\n{OPCODES}regs %0 B32 B1 {regs}\nbb0: frequency 1.0 depth 0 -> bb1\n\
             %0 = INT_PTX_SREG_TID_x\n{before}\nbb1: frequency 8.0 depth 1 -> bb1 bb2\n{body}\n\
             CBranch %1, bb1 :: terminator\nbb2: frequency 1.0 depth 0\n{behind}\nend\n"
        );
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Function { kernel: Some(LaunchBounds::default()), ..function }
    }

    fn features(function: &Function) -> Features {
        Features::new(&Live::by_name(function))
    }

    /// Returns the varying words carried by a loop like that of [`with_loop`], all carried words, and the words that
    /// change places.
    fn carried_words(regs: &str, before: &str, body: &str, behind: &str) -> [f64; 3] {
        let features = features(&with_loop(regs, before, body, behind));
        ["carried_words", "carried_all_words", "moved_words"].map(|name| features.get(name))
    }

    const LOAD: &str = "%2 = LD_i32 %0 :: read\n";

    /// A value that an iteration leaves to the next is carried. A counter and an address that steps through memory may
    /// be computed from each other.
    #[test]
    fn accumulators_and_counters() {
        let store = "ST_i32 %2, 0 :: write\nST_i32 %3, 0 :: write";
        let of = |body: &str| carried_words("B32 B32 B32", &format!("{LOAD}%3 = LD_i32 %0 :: read"), body, store);
        assert_eq!(of("%2 = FADD_rnf32rr %2, %2\n%3 = ADD32rr %3, %2"), [2.0, 2.0, 0.0]);
        assert_eq!(of("%2 = ADD32ri %2, 4\n%3 = ADD32ri %3, 1"), [0.0, 0.0, 0.0]);
        assert_eq!(of("%4 = ADD32ri %2, 4\n%2 = COPY %4"), [0.0, 0.0, 0.0]);
        // The added value differs between iterations.
        assert_eq!(of("%4 = LD_i32 %3 :: read\n%2 = ADD32rr %2, %4"), [2.0, 2.0, 0.0]);
    }

    /// An invariant value is carried if it is read in the loop and cannot be rematerialised.
    #[test]
    fn invariants() {
        let of = |before: &str, body: &str| carried_words("B32 B32", before, body, "ST_i32 %2, 0 :: write")[0];
        assert_eq!(of(LOAD, "ST_i32 %2, 0 :: write"), 1.0);
        assert_eq!(of(LOAD, ""), 0.0);
        assert_eq!(of("%2 = ADD32ri %0, 5", "ST_i32 %2, 0 :: write"), 0.0);
        assert_eq!(of("%2 = MOV_B32_i 5", "ST_i32 %2, 0 :: write"), 0.0);
    }

    /// Values that change places are carried, except constants: unrolled by two, this loop changes nothing.
    #[test]
    fn values_that_change_places() {
        let of = |before: &str| {
            let swap = "%4 = COPY %2\n%2 = COPY %3\n%3 = COPY %4";
            carried_words("B32 B32 B32", before, swap, "ST_i32 %2, 0 :: write\nST_i32 %3, 4 :: write")
        };
        assert_eq!(of("%2 = LD_i32 %0 :: read\n%3 = LD_i32 %0 :: read"), [2.0, 2.0, 2.0]);
        assert_eq!(of("%2 = MOV_B32_i 1\n%3 = MOV_B32_i 2"), [0.0, 0.0, 2.0]);
    }

    /// The search through copies ends even if they form a cycle of registers with one definition each.
    #[test]
    fn circles_of_copies() {
        let body = "%4 = COPY %2\n%2 = COPY %3\n%3 = COPY %2";
        let store = "ST_i32 %4, 0 :: write\nST_i32 %3, 4 :: write";
        assert_eq!(carried_words("B32 B32 B32", "%4 = LD_i32 %0 :: read", body, store)[2], 0.0);
    }

    /// Two registers of 16 bits fit into a word. A single one takes a word.
    #[test]
    fn halves() {
        let names = [2, 3, 4].map(|reg| format!("%{reg}"));
        let of = |count: usize| {
            let each = |what: &dyn Fn(&str) -> String| names[..count].iter().map(|reg| what(reg)).collect::<String>();
            let before = each(&|reg| format!("{reg} = LD_i16 %0 :: read\n"));
            let body = each(&|reg| format!("{reg} = SHFL {reg} :: convergent\n"));
            carried_words("B16 B16 B16", &before, &body, &each(&|reg| format!("ST_i16 {reg}, 0 :: write\n")))[0]
        };
        assert_eq!([1, 2, 3].map(of), [1.0, 1.0, 2.0]);
    }

    /// One instruction reads a whole row of registers at once.
    #[test]
    fn rows() {
        let reads: Vec<String> = (2..10).map(|reg| format!("%{reg}")).collect();
        let loads: String = reads.iter().map(|reg| format!("{reg} = LD_i32 %0 :: read\n")).collect();
        let mma = format!("%10 = anonymous_mma {} :: convergent\nST_i32 %10, 0 :: write", reads.join(", "));
        assert_eq!(carried_words(&"B32 ".repeat(9), &format!("{loads}{mma}"), "", "")[0], 8.0);
    }

    /// A loop that permutes values in one step. Each cycle uses one more register.
    fn permuting(to: &[usize]) -> Function {
        let (mut before, mut body, mut behind) = (String::new(), String::new(), String::new());
        let spare = to.len() + 2;
        let mut is_done = vec![false; to.len()];
        for (start, &first) in to.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(before, "%{} = LD_i32 %0 :: read", start + 2);
            let _ = writeln!(behind, "ST_i32 %{}, 0 :: write", start + 2);
            if std::mem::replace(&mut is_done[start], true) || first == start {
                continue;
            }
            let _ = writeln!(body, "%{spare} = COPY %{}", start + 2);
            let mut at = start;
            while to[at] != start {
                let _ = writeln!(body, "%{} = COPY %{}", at + 2, to[at] + 2);
                at = to[at];
                is_done[at] = true;
            }
            let _ = writeln!(body, "%{} = COPY %{spare}", at + 2);
        }
        with_loop(&"B32 ".repeat(to.len() + 1), &before, &body, &behind)
    }

    /// Returns the most words that are live at once, by a backward walk through the blocks until nothing changes.
    fn most_live(function: &Function) -> usize {
        let mut live_in = vec![vec![false; function.num_regs()]; function.num_blocks()];
        let mut most = 0;
        loop {
            let before = live_in.clone();
            for block in function.blocks().rev() {
                let mut live = vec![false; function.num_regs()];
                for succ in function.succs(block) {
                    live.iter_mut().zip(&live_in[succ.0 as usize]).for_each(|(live, &there)| *live |= there);
                }
                for inst in function.block_insts(block).rev() {
                    let operands = function.operands(inst);
                    operands.iter().filter_map(Operand::def).for_each(|reg| live[reg.0 as usize] = false);
                    operands.iter().filter_map(Operand::use_reg).for_each(|reg| live[reg.0 as usize] = true);
                    let words =
                        function.regs().filter(|reg| live[reg.0 as usize] && function.class(*reg) != RegClass::B1);
                    most = most.max(words.count());
                }
                live_in[block.0 as usize] = live;
            }
            if live_in == before {
                return most;
            }
        }
    }

    fn of_kernel(function: &Function) -> Forecast {
        forecast_by_name(std::slice::from_ref(function), &case()).expect("a forecast").swap_remove(0)
    }

    /// For any permutation, the bound is at most the words that are live at once, and at least nine tenths of them.
    /// Forecast registers and spills grow with the number of values, and are never below the bound.
    #[test]
    fn permuted_values_are_held() {
        arbtest::arbtest(|u| {
            let (mut registers, mut spilled) = (0, 0);
            for count in [60, 120, 300, 600] {
                let mut to: Vec<usize> = (0..count).collect();
                // No value stays in its place, because the loop does not carry a value that stays.
                to.rotate_left(1);
                for at in 1..count {
                    let other = u.int_in_range(0..=at)?;
                    if to[at] != other && to[other] != at {
                        to.swap(at, other);
                    }
                }
                let function = permuting(&to);
                let live = most_live(&function) as f64;
                let bound = features(&function).get("carried_words");
                assert!(bound <= live && bound >= 0.9 * live, "{count}: {bound} of {live}");
                let forecast = of_kernel(&function);
                let words = f64::from(forecast.registers) + f64::from(forecast.spill_store_bytes) / 4.0;
                assert!(words >= bound, "{count}: {words} of {bound}");
                assert!(forecast.registers >= registers && forecast.spill_bytes() >= spilled, "{count}");
                (registers, spilled) = (forecast.registers, forecast.spill_bytes());
            }
            Ok(())
        })
        .budget_ms(1_000);
    }

    /// The bound is at most the words that are live at once in the order of the code.
    #[test]
    fn at_most_what_is_live() {
        let check = |u: &mut arbitrary::Unstructured<'_>| {
            let function = lowered_function(u, &Options::default())?;
            let features = features(&function);
            let [all, varying, words] = ["carried_all_words", "carried_words", "words"].map(|name| features.get(name));
            assert!(varying <= all && all <= words, "{varying} of {all} of {words}: {function}");
            reached("held", all > 0.0);
            Ok(())
        };
        explore(check, 1_000, &[("held", 2)]);
    }

    /// Effects of the tests' opcodes.
    #[test]
    fn exchanges_are_not_done_again() {
        let function = with_loop("B32", "%2 = SHFL %0 :: convergent", "ST_i32 %2, 0 :: write", "");
        assert!(function.insts().any(|inst| function.effects(inst).contains(Effects::CONVERGENT)));
        assert_eq!(features(&function).get("carried_words"), 1.0);
    }
}
