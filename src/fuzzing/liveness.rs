//! An oracle for live ranges: data-flow equations solved by iteration, one register and one point at a time.

use std::cell::RefCell;

use arbitrary::Unstructured;

use super::{Options, lowered_function, ssa_function};

use crate::analysis::{AnalysisContext, LiveRanges, Point, ValueDef};
use crate::function::{Block, Function, Inst, OperandFlags, Role, VReg, Value};

thread_local! {
    /// One context for all runs of a thread, so that a missing reset in `compute` shows.
    static CONTEXT: RefCell<AnalysisContext> = RefCell::default();
}

/// Checks the live ranges of a generated function, in SSA form or out of it.
///
/// # Panics
/// If they differ from the result of iteration over the whole function.
pub fn check_liveness(u: &mut Unstructured<'_>) -> Result<(), arbitrary::Error> {
    let options = Options::default();
    let function = if u.arbitrary()? { ssa_function(u, &options)? } else { lowered_function(u, &options)? };
    if let Err(reason) = check_live_ranges(&function) {
        panic!("{reason}\n{function}");
    }
    Ok(())
}

/// Compares the live ranges of all registers, point by point and value by value, with the result of iteration over the
/// whole function. Takes time quadratic in the function's size, so only for small functions.
pub fn check_live_ranges(function: &Function) -> Result<(), String> {
    let regs: Vec<VReg> = function.regs().collect();
    CONTEXT.with_borrow_mut(|context| {
        let AnalysisContext { cfg, dominators, occurrences, live_ranges, .. } = context;
        cfg.compute(function);
        dominators.compute(function, cfg);
        occurrences.compute(function, &|_, operand| operand.reg());
        live_ranges.compute(function, cfg, dominators, occurrences, &regs);
        let graph = Graph::new(function);
        for &reg in &regs {
            check_register(function, &graph, live_ranges, reg).map_err(|reason| format!("{reg}: {reason}"))?;
        }
        Ok(())
    })
}

fn check_register(function: &Function, graph: &Graph, ranges: &LiveRanges, reg: VReg) -> Result<(), String> {
    let segments = ranges.segments(reg);
    if let Some(segment) = segments.iter().find(|segment| segment.start >= segment.end) {
        return Err(format!("{segment:?} is empty"));
    }
    for pair in segments.windows(2) {
        let touching = pair[0].end == pair[1].start;
        if pair[0].end > pair[1].start || (touching && pair[0].value == pair[1].value) {
            return Err(format!("{:?} and {:?} are not sorted, disjoint and merged", pair[0], pair[1]));
        }
    }
    let naive = Naive::new(function, graph, reg);
    for block in function.blocks() {
        let expected = naive.live_in[block.0 as usize].then(|| naive.value_in(block));
        let found = ranges.live_in_value(reg, block).map(|value| ranges.value_def(value));
        if expected != found {
            return Err(format!("into {block}: expected {expected:?}, found {found:?}"));
        }
    }
    for (point, expected) in naive.values_at_points().into_iter().enumerate() {
        let found = ranges.value_at(reg, Point(point as u32)).map(|value| ranges.value_def(value));
        if expected != found {
            return Err(format!("at {:?}: expected {expected:?}, found {found:?}", Point(point as u32)));
        }
    }
    let values = ranges.values_of(reg);
    match segments.iter().find(|segment| !values.contains(&segment.value)) {
        Some(segment) => Err(format!("{segment:?} has a value of another register")),
        None => Ok(()),
    }
}

/// Edges and orders, computed without the analyses.
struct Graph {
    preds: Vec<Vec<usize>>,
    /// Reachable blocks in reverse postorder.
    order: Vec<usize>,
    is_reachable: Vec<bool>,
}

impl Graph {
    fn new(function: &Function) -> Self {
        let num_blocks = function.num_blocks();
        let mut graph =
            Self { preds: vec![Vec::new(); num_blocks], order: vec![], is_reachable: vec![false; num_blocks] };
        for block in function.blocks() {
            for succ in function.succs(block) {
                graph.preds[succ.0 as usize].push(block.0 as usize);
            }
        }
        if num_blocks > 0 {
            graph.visit(function, 0);
        }
        graph.order.reverse();
        graph
    }

    fn visit(&mut self, function: &Function, block: usize) {
        self.is_reachable[block] = true;
        for succ in function.succs(Block(block as u32)) {
            if !self.is_reachable[succ.0 as usize] {
                self.visit(function, succ.0 as usize);
            }
        }
        self.order.push(block);
    }
}

/// One register's data flow.
struct Naive<'a> {
    function: &'a Function,
    graph: &'a Graph,
    reg: VReg,
    live_in: Vec<bool>,
    live_out: Vec<bool>,
    /// Whether a block has a new value of the register at its start.
    meets: Vec<bool>,
    /// The values that reach a block's start.
    reaching: Vec<Vec<ValueDef>>,
}

impl<'a> Naive<'a> {
    fn new(function: &'a Function, graph: &'a Graph, reg: VReg) -> Self {
        let num_blocks = function.num_blocks();
        let mut naive = Self {
            function,
            graph,
            reg,
            live_in: vec![false; num_blocks],
            live_out: vec![false; num_blocks],
            meets: vec![false; num_blocks],
            reaching: vec![Vec::new(); num_blocks],
        };
        naive.solve_liveness();
        naive.solve_values();
        naive
    }

    fn is_phi(&self, inst: Inst) -> bool {
        self.function.role(inst) == Role::Phi
    }

    fn reads(&self, inst: Inst) -> bool {
        !matches!(self.function.role(inst), Role::Phi | Role::Debug)
            && self.function.operands(inst).iter().any(|operand| operand.use_reg() == Some(self.reg))
    }

    /// Returns the definitions of the register by an instruction, and whether each is early. The last one remains.
    fn writes(&self, inst: Inst) -> Vec<(ValueDef, bool)> {
        if self.function.role(inst) == Role::Debug {
            return Vec::new();
        }
        let operands = self.function.operands(inst).iter().enumerate();
        let written = operands.filter(|(_, operand)| operand.def() == Some(self.reg)).map(|(number, operand)| {
            let is_early = operand.flags.contains(OperandFlags::EARLY_CLOBBER);
            (ValueDef::Inst { inst, operand: number as u32 }, is_early)
        });
        written.collect()
    }

    fn last_write(&self, inst: Inst) -> Option<ValueDef> {
        self.writes(inst).last().map(|&(value, _)| value)
    }

    fn read_by_phi_from(&self, block: Block) -> bool {
        self.function.insts().filter(|&inst| self.is_phi(inst)).any(|inst| {
            self.function
                .operands(inst)
                .windows(2)
                .any(|pair| pair[0].use_reg() == Some(self.reg) && pair[1].value == Value::Block(block))
        })
    }

    fn solve_liveness(&mut self) {
        let by_phi: Vec<bool> = self.function.blocks().map(|block| self.read_by_phi_from(block)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for block in self.function.blocks().rev() {
                let at = block.0 as usize;
                let live_out =
                    by_phi[at] || self.function.succs(block).iter().any(|succ| self.live_in[succ.0 as usize]);
                let mut live = live_out;
                for inst in self.function.block_insts(block).rev() {
                    live = (live && self.writes(inst).is_empty()) || self.reads(inst);
                }
                changed |= live != self.live_in[at] || live_out != self.live_out[at];
                (self.live_in[at], self.live_out[at]) = (live, live_out);
            }
        }
    }

    /// Solves for values. A value that enters the function or an unreachable block is new. Then the first block in
    /// reverse postorder that several values reach gets a new value, until there is no such block.
    fn solve_values(&mut self) {
        for block in 0..self.live_in.len() {
            self.meets[block] = self.live_in[block] && (block == 0 || !self.graph.is_reachable[block]);
        }
        loop {
            self.solve_reaching();
            let meeting = self
                .graph
                .order
                .iter()
                .copied()
                .find(|&block| self.live_in[block] && !self.meets[block] && self.reaching[block].len() > 1);
            match meeting {
                Some(block) => self.meets[block] = true,
                None => return,
            }
        }
    }

    fn solve_reaching(&mut self) {
        self.reaching.iter_mut().for_each(Vec::clear);
        let mut changed = true;
        while changed {
            changed = false;
            for block in 0..self.reaching.len() {
                for pred in self.graph.preds[block].clone() {
                    for value in self.reaching_end(pred) {
                        if !self.reaching[block].contains(&value) {
                            self.reaching[block].push(value);
                            changed = true;
                        }
                    }
                }
            }
        }
    }

    fn reaching_end(&self, block: usize) -> Vec<ValueDef> {
        let at = Block(block as u32);
        match self.function.block_insts(at).rev().find_map(|inst| self.last_write(inst)) {
            Some(value) => vec![value],
            None if self.meets[block] => vec![self.value_in(at)],
            None => self.reaching[block].clone(),
        }
    }

    fn value_in(&self, block: Block) -> ValueDef {
        let at = block.0 as usize;
        match self.reaching[at].first() {
            _ if self.meets[at] && self.graph.preds[at].is_empty() => ValueDef::Undefined(block),
            Some(&value) if !self.meets[at] => value,
            _ => ValueDef::Phi(block),
        }
    }

    fn values_at_points(&self) -> Vec<Option<ValueDef>> {
        let mut values = vec![None; 2 * self.function.num_insts()];
        for block in self.function.blocks() {
            self.values_in_block(block, &mut values);
        }
        values
    }

    /// Computes the register's value at each point of a block. PHIs write at the block's start, and not at their own
    /// position.
    fn values_in_block(&self, block: Block, values: &mut [Option<ValueDef>]) {
        let insts: Vec<Inst> = self.function.block_insts(block).collect();
        let writes = |inst| if self.is_phi(inst) { Vec::new() } else { self.writes(inst) };
        // Whether the register's value after each instruction is read later.
        let mut is_read_later = vec![false; insts.len()];
        let mut live = self.live_out[block.0 as usize];
        for (at, &inst) in insts.iter().enumerate().rev() {
            is_read_later[at] = live;
            live = (live && writes(inst).is_empty()) || self.reads(inst);
        }
        let by_phi = insts.iter().rev().filter(|&&inst| self.is_phi(inst)).find_map(|&inst| self.last_write(inst));
        let mut holds = live.then(|| self.value_in(block));
        if let Some(value) = by_phi {
            values[2 * insts[0].0 as usize] = Some(value);
            holds = live.then_some(value);
        }
        for (&inst, is_read_later) in insts.iter().zip(is_read_later) {
            let early = 2 * inst.0 as usize;
            values[early] = values[early].or(holds);
            if is_read_later {
                values[early + 1] = holds;
            }
            for (value, is_early) in writes(inst) {
                if is_early && !self.reads(inst) {
                    values[early] = Some(value);
                }
                values[early + 1] = Some(value);
                holds = Some(value);
            }
            holds = holds.filter(|_| is_read_later);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check_live_ranges, check_liveness};
    use crate::function::Function;

    #[test]
    fn live_ranges_are_those_of_the_data_flow() {
        arbtest::arbtest(check_liveness).budget_ms(1_000);
    }

    /// At the entry, a value from a back edge meets the undefined initial value.
    #[test]
    fn entries_in_loops() {
        let text = "mfv 1\nfunction \"k\"\nopcode ADD\nopcode BR\nregs %0 B32\n\
                    bb0: frequency 1.0 depth 1 -> bb0 bb1\n%0 = ADD %0\nBR bb0\n\
                    bb1: frequency 1.0 depth 0\nADD %0\nend\n";
        let function = Function::parse(text).expect("a function");
        check_live_ranges(&function).expect("live ranges");
    }
}
