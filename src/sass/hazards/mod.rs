//! A static check for hazards, which an in-order interpreter cannot detect: every result must be waited for before it
//! is read.
//!
//! The hardware does not check this. If an instruction reads a register too early, it reads the old value. ptxas states
//! in the control codes when an instruction may issue: by cycles for results of a fixed latency, by scoreboards for
//! other results. An interpreter that executes one instruction after the other finds no mistake in the control codes.
//! This check follows all paths.
//!
//! * [`graph`]: blocks, branches, calls; [`state`]: pending work; [`mod@walk`]: the traversal of both;
//! * [`latencies`]: the cycles that ptxas leaves between two opcodes, mined from its own output.

mod graph;
mod guard;
pub mod latencies;
mod state;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::BTreeSet;

use self::graph::Graph;
use self::latencies::{Latencies, Pair};
use self::walk::{Event, walk};
use super::effects::Place;
use super::instruction::Function;

/// The violated rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// A result is read before its scoreboard is waited for.
    ReadTooEarly,
    /// A result is overwritten before its scoreboard is waited for. The old result may arrive later and replace the new
    /// one.
    OverwrittenTooEarly,
    /// A register is overwritten although an earlier instruction may not have read it.
    SourceOverwritten,
    /// A result is read after fewer cycles than ptxas leaves.
    TooFewCycles {
        /// The least number of cycles that pass.
        cycles: u16,
        /// The cycles that ptxas leaves.
        needed: u16,
    },
}

/// A hazard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The address of the instruction that issues too early.
    pub address: u32,
    /// The address of the instruction that it should wait for.
    pub from: u32,
    /// The register.
    pub place: Place,
    /// The violated rule.
    pub rule: Rule,
}

impl Finding {
    /// Whether a wait for a scoreboard is missing. Findings about fixed latencies are uncertain, because these
    /// latencies are only mined.
    pub fn is_certain(&self) -> bool {
        !matches!(self.rule, Rule::TooFewCycles { .. })
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { address, from, place, rule } = self;
        write!(formatter, "instruction {address:#06x} ")?;
        match rule {
            Rule::ReadTooEarly => write!(formatter, "reads {place} and does not wait for instruction {from:#06x}"),
            Rule::OverwrittenTooEarly => {
                write!(
                    formatter,
                    "overwrites {place} and does not wait for instruction {from:#06x}, which writes {place}, too"
                )
            }
            Rule::SourceOverwritten => {
                write!(formatter, "overwrites {place}, which instruction {from:#06x} may not have read")
            }
            Rule::TooFewCycles { cycles, needed } => write!(
                formatter,
                "reads {place} {cycles} cycles after instruction {from:#06x}, and ptxas leaves {needed} or more"
            ),
        }
    }
}

/// Returns the hazards of a function, sorted. `sm` is the processor: 80, 89, 90.
pub fn check(function: &Function, sm: u32, latencies: &Latencies) -> Vec<Finding> {
    let graph = Graph::of(function);
    let mut findings = BTreeSet::new();
    walk(&graph, sm, |index, event| {
        let address = |index: u32| graph.steps[index as usize].instruction.address;
        let finding = |place, from, rule| Finding { address: address(index), from: address(from), place, rule };
        findings.extend(match event {
            Event::Read { place, from } => Some(finding(place, from, Rule::ReadTooEarly)),
            Event::Overwritten { place, from } => Some(finding(place, from, Rule::OverwrittenTooEarly)),
            Event::Waited { .. } => None,
            Event::Lost { place, from } => Some(finding(place, from, Rule::SourceOverwritten)),
            Event::Fixed { place, from, cycles, operand } => {
                let needed = latencies.needed(sm, pair(&graph, from, place, index, operand));
                let needed = needed.filter(|&needed| cycles < needed);
                needed.map(|needed| finding(place, from, Rule::TooFewCycles { cycles, needed }))
            }
        });
    });
    findings.into_iter().collect()
}

/// Adds the cycles between each writer and reader of a register in a function to a table.
pub fn mine(function: &Function, sm: u32, into: &mut Latencies) {
    let graph = Graph::of(function);
    walk(&graph, sm, |index, event| {
        if let Event::Fixed { place, from, cycles, operand } = event {
            into.add(sm, pair(&graph, from, place, index, operand), cycles);
        }
    });
}

/// Returns the waits of a function that have an effect: the address of the waiting instruction, and the scoreboard. The
/// other waits find no pending work on any path.
pub fn waits(function: &Function, sm: u32) -> BTreeSet<(u32, u8)> {
    let graph = Graph::of(function);
    let mut waits = BTreeSet::new();
    walk(&graph, sm, |index, event| {
        if let Event::Waited { scoreboard } = event {
            waits.insert((graph.steps[index as usize].instruction.address, scoreboard));
        }
    });
    waits
}

/// Returns the two opcodes of a result and its reader, by the numbers of the instructions.
fn pair(graph: &Graph<'_>, from: u32, place: Place, to: u32, operand: Option<u8>) -> Pair {
    let [writer, reader] = [from, to].map(|index| &graph.steps[index as usize]);
    let parts = writer.effects.as_ref().map_or(&[][..], |effects| &effects.parts);
    Pair::of(writer.instruction, parts, place, reader.instruction, operand)
}
