//! Runs a function of the random tests and records the values that its effects read.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use nvptx_ra::function::{Applied, Block, Effects, Function, Inst, Operand, Origin, RegClass, Role, Slot, VReg, Value};

/// The contents of a register, low part first. A part is `None` if it is undefined. Narrow registers use the low part.
type Content = [Option<u32>; 2];

const UNDEFINED: Content = [None, None];

/// The values that each instruction with effects reads, for each execution.
type Events = BTreeMap<Inst, Vec<Vec<Content>>>;

/// The observations of a run.
pub(crate) struct Run {
    events: Events,
    /// The opcodes and reads of pure instructions that may fault.
    guarded: BTreeSet<(u32, Vec<Content>)>,
    /// Number of blocks of the view that were entered.
    pub(crate) visits: usize,
}

const MAX_VISITS: usize = 24;

/// Runs the view until it ends, branches on an undefined value, or enters MAX_VISITS blocks.
pub(crate) fn run_before(function: &Function, seed: u64) -> Run {
    Interpreter::new(function, seed, MAX_VISITS, function.num_blocks()).run(Some)
}

/// Runs the edited function for as many blocks of the view as the view's own run.
pub(crate) fn run_after(view: &Function, applied: &Applied, seed: u64, visits: usize) -> Run {
    let interpreter = Interpreter::new(&applied.function, seed, visits, view.num_blocks());
    interpreter.run(|inst| match applied.origin.as_slice()[inst.0 as usize] {
        Origin::Kept(original) => Some(original),
        _ => None,
    })
}

impl Run {
    /// Checks that the edited function's run reads the same values where this run's values are defined.
    pub(crate) fn compare(&self, after: &Run) -> Result<(), String> {
        for (inst, before) in &self.events {
            let after = after.events.get(inst).map_or(&[][..], Vec::as_slice);
            if before.len() != after.len() {
                return Err(format!("{inst} ran {} times, now {}", before.len(), after.len()));
            }
            for (before, after) in before.iter().flatten().zip(after.iter().flatten()) {
                if before.iter().zip(after).any(|(before, after)| before.is_some() && before != after) {
                    return Err(format!("{inst} read {before:?}, now {after:?}"));
                }
            }
        }
        for (opcode, reads) in &after.guarded {
            let covers = |(other, before): &(u32, Vec<Content>)| {
                let mut parts = before.iter().flatten().zip(reads.iter().flatten());
                other == opcode && parts.all(|(before, after)| before.is_none() || before == after)
            };
            if !self.guarded.iter().any(covers) {
                return Err(format!("what may fault read {reads:?}, as it never did before"));
            }
        }
        Ok(())
    }
}

struct Interpreter<'a> {
    function: &'a Function,
    seed: u64,
    max_visits: usize,
    num_view_blocks: usize,
    regs: Vec<Content>,
    slots: BTreeMap<Slot, Content>,
    events: Events,
    guarded: BTreeSet<(u32, Vec<Content>)>,
}

impl<'a> Interpreter<'a> {
    fn new(function: &'a Function, seed: u64, max_visits: usize, num_view_blocks: usize) -> Self {
        let regs = vec![UNDEFINED; function.num_regs()];
        Self {
            function,
            seed,
            max_visits,
            num_view_blocks,
            regs,
            slots: BTreeMap::new(),
            events: Events::new(),
            guarded: BTreeSet::new(),
        }
    }

    fn run(mut self, name: impl Fn(Inst) -> Option<Inst>) -> Run {
        let mut visits = 0;
        let mut place = Some((Block(0), None));
        while let Some((block, from)) = place {
            if (block.0 as usize) < self.num_view_blocks {
                if visits == self.max_visits {
                    break;
                }
                visits += 1;
            }
            place = self.visit(block, from, &name).map(|next| (next, Some(block)));
        }
        Run { events: self.events, guarded: self.guarded, visits }
    }

    fn visit(&mut self, block: Block, from: Option<Block>, name: &impl Fn(Inst) -> Option<Inst>) -> Option<Block> {
        let mut next = self.function.succs(block).first().copied();
        let mut phis: Vec<(VReg, Content)> = Vec::new();
        for inst in self.function.block_insts(block) {
            if self.function.role(inst) == Role::Phi {
                phis.push(self.phi(inst, from));
                continue;
            }
            for (reg, value) in phis.drain(..) {
                self.regs[reg.0 as usize] = value;
            }
            if self.function.effects(inst).contains(Effects::TERMINATOR) {
                // The branch of a block on a split edge has only one target.
                if let Some(original) = name(inst) {
                    next = self.branch(inst, original);
                }
            } else {
                self.execute(inst, name(inst));
            }
        }
        next
    }

    fn phi(&self, inst: Inst, from: Option<Block>) -> (VReg, Content) {
        let operands = self.function.operands(inst);
        let named = from.map(Value::Block);
        let input = operands[1..].chunks_exact(2).find(|input| Some(input[1].value) == named);
        let value = input.and_then(|input| input[0].reg()).map_or(UNDEFINED, |reg| self.regs[reg.0 as usize]);
        (operands[0].reg().expect("a PHI defines a register"), value)
    }

    fn reads(&self, inst: Inst) -> Vec<Content> {
        let reads = self.function.operands(inst).iter().filter_map(Operand::read_reg);
        reads.map(|reg| self.regs[reg.0 as usize]).collect()
    }

    /// Records what an instruction of the view reads. Its result depends on the reads and on the number of its
    /// executions.
    fn effect(&mut self, inst: Inst, original: Inst) -> Option<u32> {
        let reads = self.reads(inst);
        let events = self.events.entry(original).or_default();
        events.push(reads.clone());
        let defined: Option<Vec<u32>> = reads.iter().map(|content| content[0]).collect();
        defined.map(|defined| hash(&(self.seed, original.0, events.len(), defined)))
    }

    fn branch(&mut self, inst: Inst, original: Inst) -> Option<Block> {
        let chosen = self.effect(inst, original)? as usize;
        let targets: Vec<Block> = self.function.operands(inst).iter().filter_map(target).collect();
        (!targets.is_empty()).then(|| targets[chosen % targets.len()])
    }

    /// A constant in a wide register defines both parts.
    fn constant(&self, operands: &[Operand]) -> Content {
        let value = Some(hash(&operands[1].value));
        let is_wide = operands[0].reg().is_some_and(|reg| self.function.class(reg) == RegClass::B64);
        [value, value.filter(|_| is_wide)]
    }

    fn execute(&mut self, inst: Inst, original: Option<Inst>) {
        let operands = self.function.operands(inst);
        let reads = self.reads(inst);
        let results: Vec<Content> = match self.function.role(inst) {
            Role::Copy => vec![reads[0]],
            Role::Constant => vec![self.constant(operands)],
            Role::Pack => vec![[reads[0][0], reads[1][0]]],
            Role::Unpack => vec![[reads[0][0], None], [reads[0][1], None]],
            Role::Extract { index, .. } => vec![[reads[0][usize::from(index)], None]],
            Role::Undef => vec![UNDEFINED],
            Role::Spill => {
                for ([_, to], &read) in operands.as_chunks().0.iter().zip(&reads) {
                    self.slots.insert(slot(*to), read);
                }
                vec![]
            }
            Role::Reload => {
                let held = |[_, from]: &[Operand; 2]| self.slots.get(&slot(*from)).copied().unwrap_or(UNDEFINED);
                operands.as_chunks().0.iter().map(held).collect()
            }
            _ if self.function.effects(inst).is_pure() => {
                if self.function.effects(inst).contains(Effects::MAY_FAULT) {
                    self.guarded.insert((self.function.opcode(inst).0, reads.clone()));
                }
                let defined: Option<Vec<u32>> = reads.iter().map(|content| content[0]).collect();
                vec![[defined.map(|defined| hash(&(self.function.opcode(inst).0, defined))), None]]
            }
            _ => match original {
                Some(original) => vec![[self.effect(inst, original), None]],
                None => vec![],
            },
        };
        let defs = self.function.operands(inst).iter().filter_map(Operand::def);
        for (reg, value) in defs.zip(results) {
            self.regs[reg.0 as usize] = value;
        }
    }
}

fn slot(operand: Operand) -> Slot {
    match operand.value {
        Value::Slot(slot) => slot,
        other => panic!("a slot is expected, not {other:?}"),
    }
}

fn target(operand: &Operand) -> Option<Block> {
    if let Value::Block(block) = operand.value { Some(block) } else { None }
}

fn hash(value: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() as u32
}
