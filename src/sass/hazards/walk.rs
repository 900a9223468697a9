//! The walk over all paths: the pending work before each instruction.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, Step};
use super::guard::Guard;
use super::state::{Fixed, State, Work};
use crate::sass::effects::{Effects, Latency, Place, Unit};
use crate::sass::operand::Operand;

/// An event at an instruction.
pub(super) enum Event {
    /// A result of a fixed latency is read some cycles after it was started.
    Fixed {
        /// The register.
        place: Place,
        /// The instruction that writes it.
        from: u32,
        /// The cycles.
        cycles: u16,
        /// The operand that reads. `None` for the guard.
        operand: Option<u8>,
    },
    /// A pending result is read.
    Read {
        /// The register.
        place: Place,
        /// The instruction that writes it.
        from: u32,
    },
    /// A pending result is overwritten.
    Overwritten {
        /// The register.
        place: Place,
        /// The instruction that writes it.
        from: u32,
    },
    /// A scoreboard with pending work is waited for.
    Waited {
        /// The scoreboard.
        scoreboard: u8,
    },
    /// A source is overwritten before it is read.
    Lost {
        /// The register.
        place: Place,
        /// The instruction that reads it.
        from: u32,
    },
}

/// An activation: 0 for the function itself, or one plus the block of the call.
type Context = usize;

/// Calls `each` for all events, with the number of the instruction. An event is repeated for each activation.
pub(super) fn walk(graph: &Graph<'_>, sm: u32, mut each: impl FnMut(u32, Event)) {
    let mut walk = Walk::new(graph, sm);
    let mut is_reached = vec![false; graph.blocks.len()];
    for block in 0..graph.blocks.len() {
        // A block that is reached only through a table of targets begins without pending work.
        if !is_reached[block] {
            walk.enter((0, block), &State::default());
            walk.run();
            for &(_, block) in walk.states.keys() {
                is_reached[block] = true;
            }
        }
    }
    for (&(_, block), state) in &walk.states {
        let mut state = state.clone();
        for index in graph.blocks[block].start..graph.blocks[block].end {
            step(&mut state, index as u32, &graph.steps[index], sm, &mut |event| each(index as u32, event));
        }
    }
}

struct Walk<'g, 'f> {
    graph: &'g Graph<'f>,
    sm: u32,
    states: BTreeMap<(Context, usize), State>,
    open: BTreeSet<(Context, usize)>,
    /// The activations that contain a call.
    callers: BTreeMap<Context, BTreeSet<Context>>,
    /// The pending work at the return of an activation.
    ends: BTreeMap<Context, State>,
}

impl<'g, 'f> Walk<'g, 'f> {
    fn new(graph: &'g Graph<'f>, sm: u32) -> Self {
        let (states, open) = (BTreeMap::new(), BTreeSet::new());
        Self { graph, sm, states, open, callers: BTreeMap::new(), ends: BTreeMap::new() }
    }

    fn enter(&mut self, node: (Context, usize), state: &State) {
        let is_new = !self.states.contains_key(&node);
        if self.states.entry(node).or_default().join(state) || is_new {
            self.open.insert(node);
        }
    }

    fn run(&mut self) {
        while let Some((context, block)) = self.open.pop_first() {
            let mut state = self.states[&(context, block)].clone();
            for index in self.graph.blocks[block].start..self.graph.blocks[block].end {
                step(&mut state, index as u32, &self.graph.steps[index], self.sm, &mut |_| {});
            }
            let ways = self.graph.ways(block);
            if ways.is_settled {
                state = State::default();
            }
            for (next, guard) in ways.next {
                let mut state = state.clone();
                if let Some(guard) = guard {
                    state.assume(guard);
                }
                self.enter((context, next), &state);
            }
            if let Some(callee) = ways.call {
                let inner = block + 1;
                self.callers.entry(inner).or_default().insert(context);
                self.enter((inner, callee), &state);
                if let (Some(end), Some(next)) = (self.ends.get(&inner).cloned(), self.graph.behind(block)) {
                    self.enter((context, next), &end);
                }
            }
            if ways.returns && context > 0 {
                self.ends.entry(context).or_default().join(&state);
                let end = self.ends[&context].clone();
                let Some(next) = self.graph.behind(context - 1) else { continue };
                for caller in self.callers.get(&context).cloned().unwrap_or_default() {
                    self.enter((caller, next), &end);
                }
            }
        }
    }
}

/// Executes an instruction: it waits, reads, writes, and starts work.
fn step(state: &mut State, index: u32, step: &Step<'_>, sm: u32, each: &mut impl FnMut(Event)) {
    let Step { instruction, effects } = step;
    let control = instruction.control;
    for scoreboard in (0..6).filter(|scoreboard| control.waits >> scoreboard & 1 == 1) {
        if state.work.keys().any(|work| work.scoreboards >> scoreboard & 1 == 1) {
            each(Event::Waited { scoreboard });
        }
    }
    state.wait(control.waits);
    if let Some(effects) = effects.as_ref().filter(|_| !step.is_never_done()) {
        if instruction.word() == "DEPBAR"
            && let [Operand::Scoreboard(scoreboard), Operand::Immediate(newest), ..] = *instruction.operands
        {
            state.wait_but_newest(scoreboard, newest.min(255) as u8);
            // DEPBAR's mask of other scoreboards has the same effect as a wait mask.
            state.wait((instruction.bits >> 32) as u8 & 0x3f);
        }
        let guard = instruction.guard.and_then(Guard::of);
        let latency = Latency::of(instruction, sm);
        look(state, effects, guard, latency, each);
        begin(state, index, step, effects, guard, latency);
    }
    state.pass(control.stall.into());
}

/// Reports the pending work on the registers that an instruction reads and writes.
fn look(state: &State, effects: &Effects, guard: Option<Guard>, latency: Latency, each: &mut impl FnMut(Event)) {
    for part in effects.parts.iter().filter(|part| !part.is_write) {
        // The guard itself is read even if it is false.
        let guard = guard.filter(|_| part.operand.is_some());
        for place in part.places() {
            for (_, from) in state.of_place(place, true, guard) {
                each(Event::Read { place, from });
            }
            for (from, cycles) in state.fixed_of_place(place, guard) {
                each(Event::Fixed { place, from, cycles, operand: part.operand });
            }
        }
    }
    // An in-order unit writes a later instruction's results after those of an earlier one. Its reads are in order, too.
    let in_order = |unit: Unit| latency == Latency::Variable(unit) && unit.is_in_order();
    let in_queue = |unit: Unit| matches!(latency, Latency::Variable(own) if own.shares_queue(unit));
    for place in effects.writes() {
        for (_, from) in state.of_place(place, true, guard).filter(|(work, _)| !in_order(work.unit)) {
            each(Event::Overwritten { place, from });
        }
        for (_, from) in state.of_place(place, false, guard).filter(|(work, _)| !in_queue(work.unit)) {
            each(Event::Lost { place, from });
        }
    }
}

/// Starts an instruction's own results and reads.
fn begin(state: &mut State, index: u32, step: &Step<'_>, effects: &Effects, guard: Option<Guard>, latency: Latency) {
    let control = step.instruction.control;
    for place in effects.writes() {
        if guard.is_none() {
            state.forget(place);
        }
        state.change(place);
    }
    // The instruction may write its own guard.
    let guard = guard.filter(|guard| effects.writes().all(|place| place != guard.place));
    match latency {
        Latency::Fixed => {
            for place in effects.writes() {
                state.fixed.insert(Fixed { place, from: index, guard }, 0);
            }
        }
        Latency::Variable(unit) => {
            state.begin(unit, control.writes, control.reads);
            for place in effects.reads().filter(|&place| is_read_late(place)) {
                state.add(Work::read(place, unit, control, guard), index);
            }
            for place in effects.writes() {
                state.add(Work::write(place, unit, control, guard), index);
            }
        }
    }
}

/// Whether a unit reads a register late, when it executes the instruction. Predicates and uniform registers are read at
/// issue: ptxas lets the next instruction overwrite them.
fn is_read_late(place: Place) -> bool {
    matches!(place, Place::General(_))
}
