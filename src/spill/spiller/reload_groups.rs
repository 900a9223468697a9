//! Groups of reads that follow ptxas's own loads of a value: the value is reloaded where ptxas's code reloads it, and
//! no more often.
//!
//! A load precedes all of its reads. It is at the nearest place that dominates all of them and is no more frequent than
//! ptxas's load. Reads that are not served by any load keep the register of the definition.

use std::collections::BTreeMap;
use std::ops::Range;

use super::eligible::Candidate;
use super::facts::Facts;
use crate::analysis::Occurrence;
use crate::config::NamedLoad;
use crate::function::{Block, Inst};
use crate::spill::groups::{Group, place};
use crate::spill::insertion_point::InsertionPoint;

/// Most blocks through which the reads of a load are followed. Also most steps up the dominator tree.
const MOST_STEPS: usize = 256;

/// Returns the groups of a value's reads. `None` if the loads are unknown or do not serve any read, if a definition is
/// between a load and its reads, or if no store can precede a load. O(steps) for each load.
pub(super) fn reload_groups(facts: &Facts<'_>, value: &Candidate, loads: &[NamedLoad]) -> Option<Vec<Group>> {
    let reads: Vec<Occurrence> = facts.occurrences.of(value.reg).iter().filter(|of| of.is_use()).copied().collect();
    let mut statements: Vec<Inst> = reads.iter().map(|read| read.inst).collect();
    statements.dedup();
    let mut load_of: Vec<Option<usize>> = vec![None; statements.len()];
    for (number, load) in loads.iter().enumerate() {
        for &read in &load.reads {
            *load_of.get_mut((read as usize).checked_sub(1)?)? = Some(number);
        }
    }
    let of_load = |wanted: Option<usize>| -> Vec<Occurrence> {
        let is_served = |inst: Inst| statements.binary_search(&inst).is_ok_and(|at| load_of[at] == wanted);
        reads.iter().filter(|read| is_served(read.inst)).copied().collect()
    };
    let mut groups = Vec::new();
    for (number, load) in loads.iter().enumerate() {
        let reads = of_load(Some(number));
        // Each of the reads may belong to a later load, too.
        if reads.is_empty() {
            continue;
        }
        let at = load_place(facts, value, &reads, load.times).filter(|at| has_store_ahead(facts, value, at))?;
        let live = live_stretches(facts, value, Some(at), &reads)?;
        groups.push(Group { reads, block: at.block, place: Inst(at.before), has_definition: false, live });
    }
    if groups.is_empty() {
        return None;
    }
    let reads = of_load(None);
    if let Some(first) = reads.first() {
        let (block, place) = (first.block, first.inst);
        let live = live_stretches(facts, value, None, &reads)?;
        groups.push(Group { reads, block, place, has_definition: true, live });
    }
    Some(groups)
}

/// Returns a place for a load of these reads that is at most as frequent as `times`.
fn load_place(facts: &Facts<'_>, value: &Candidate, reads: &[Occurrence], times: u32) -> Option<InsertionPoint> {
    let Facts { function, dominators, frequencies, .. } = facts;
    let mut block = reads.first()?.block;
    let mut steps = MOST_STEPS;
    let is_ahead_of_all = |block: Block| reads.iter().all(|read| dominators.dominates(block, read.block));
    // If code is more frequent than the definitions, it is in a loop after them.
    let is_rare =
        |block: Block| frequencies[block] <= f64::from(times) || value.definitions.iter().any(|of| of.block == block);
    while !is_ahead_of_all(block) || !is_rare(block) {
        steps = steps.checked_sub(1)?;
        block = dominators.idom(block)?;
    }
    let first = reads.iter().filter(|read| read.block == block).map(|read| place(function, read).0).min();
    Some(first.map_or_else(|| InsertionPoint::end(function, block), |before| InsertionPoint { block, before }))
}

/// Whether all definitions before a load in its block can be stored before the load.
fn has_store_ahead(facts: &Facts<'_>, value: &Candidate, load: &InsertionPoint) -> bool {
    let is_ahead = |of: &&Occurrence| of.block == load.block && of.inst.0 < load.before;
    value.definitions.iter().filter(is_ahead).all(|of| InsertionPoint::after(facts.function, of) <= *load)
}

/// Returns the instructions at whose reads the register of a value is live. The value is loaded at `from`, or else
/// comes from its definition. `None` if a definition is between `from` and a read.
fn live_stretches(
    facts: &Facts<'_>,
    value: &Candidate,
    from: Option<InsertionPoint>,
    reads: &[Occurrence],
) -> Option<Vec<Range<u32>>> {
    let Facts { function, cfg, .. } = facts;
    let mut live: BTreeMap<Block, Range<u32>> = BTreeMap::new();
    let mut todo: Vec<(Block, u32)> = reads.iter().map(|read| (read.block, read.inst.0 + 1)).collect();
    let mut steps = todo.len() + MOST_STEPS;
    while let Some((block, end)) = todo.pop() {
        steps = steps.checked_sub(1)?;
        if live.get(&block).is_some_and(|known| known.end >= end) {
            continue;
        }
        let loaded = from.filter(|at| at.block == block && at.before < end).map(|at| at.before);
        let first = loaded.unwrap_or(function.block_range(block).start.0);
        // A definition by the reading instruction itself happens after the read.
        let last = end.saturating_sub(1);
        let is_between =
            |definition: &&Occurrence| definition.block == block && (first..last).contains(&definition.inst.0);
        let definition = value.definitions.iter().rfind(is_between).map(|of| of.inst.0);
        if definition.is_some() && from.is_some() {
            return None;
        }
        let start = definition.map_or(first, |definition| definition + 1);
        live.entry(block).and_modify(|known| *known = start.min(known.start)..end).or_insert(start..end);
        if definition.is_none() && loaded.is_none() {
            let behind = |&pred: &Block| (pred, function.block_range(pred).end.0 + 1);
            todo.extend(cfg.preds(block).iter().map(behind));
        }
    }
    let in_block = |(block, range): (Block, Range<u32>)| range.start..range.end.min(function.block_range(block).end.0);
    Some(live.into_iter().map(in_block).filter(|range| !range.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::goal::{PtxasSpill, SpillGoal};
    use crate::config::{KeepInLoops, NamedLoad, Redefined, SpillTo};
    use crate::function::{Edit, Function, Position};
    use crate::spill::tests::{function, spill_as};

    /// Returns a function that reads `%0` before a loop, three times in the loop, and after the loop. `body` is the
    /// rest of the loop.
    fn around_a_loop(body: &str) -> Function {
        let text = format!(
            "bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  ST_i32 %0, 1 :: write\n\
             bb1: frequency 10.0 depth 1 -> bb2\n  ST_i32 %0, 2 :: write\n{body}\
             bb2: frequency 10.0 depth 1 -> bb1 bb3\n  ST_i32 %0, 3 :: write\n  ST_i32 %0, 4 :: write\n\
             %1 = SETP_i32rr %0, %0\n  CBranch %1, bb1 :: terminator\n\
             bb3: frequency 1.0 depth 0\n  ST_i32 %0, 5 :: write\n  Return :: terminator\n"
        );
        function("kernel maxntid 64\n", "B32 B1", &text.replace("depth 0\n  %0 =", "depth 0 -> bb1\n  %0 ="))
    }

    /// Returns the places of the stores and loads if ptxas has these loads of `%0`, and the reads that use another
    /// register.
    fn moved(function: &Function, loads: &[(&[u32], u32)]) -> (Vec<Position>, Vec<u32>) {
        let load = |&(reads, times): &(&[u32], u32)| NamedLoad { reads: reads.to_vec(), times };
        let ptxas_spill = PtxasSpill { moved_words: f64::INFINITY, loads: loads.iter().map(load).collect() };
        let ptxas_spills = Some(function.regs().map(|reg| (reg.0 == 0).then(|| ptxas_spill.clone())).collect());
        let (in_loops, redefined) = (KeepInLoops::On, Redefined::On);
        let outcome = spill_as(
            function,
            &SpillGoal { ptxas_spills, in_loops, redefined, ..SpillGoal::plain(99, SpillTo::LOCAL) },
        )
        .expect("a place");
        let (mut places, mut reads) = (Vec::new(), Vec::new());
        for edit in outcome.edits.edits() {
            match edit {
                Edit::InsertReload { at, .. } => places.push(*at),
                Edit::SetRegister { inst, .. } => reads.push(inst.0),
                _ => {}
            }
        }
        (places, reads)
    }

    /// A load serves the same reads as ptxas's load, even in other blocks. Reads that are not served by any load keep
    /// the register of the definition.
    #[test]
    fn loads_serve_what_those_of_ptxas_serve() {
        let function = around_a_loop("");
        let inst = |text: u32| function.insts().nth(text as usize).expect("an instruction");
        let (places, reads) = moved(&function, &[(&[2, 3], 10), (&[6], 1)]);
        let blocks: Vec<u32> = places.iter().map(|at| at.block.0).collect();
        assert_eq!((blocks, reads), (vec![1, 3], vec![2, 3, 7]));
        assert_eq!(places[0].before, Some(inst(2)));
    }

    /// A load that ptxas has before a loop is placed before the loop.
    #[test]
    fn loads_run_no_more_often_than_those_of_ptxas() {
        let function = around_a_loop("");
        let blocks =
            |times: u32| -> Vec<u32> { moved(&function, &[(&[3, 4], times)]).0.iter().map(|at| at.block.0).collect() };
        assert_eq!((blocks(10), blocks(1)), (vec![2], vec![0]));
    }

    /// If the value is redefined between the load and a read, reads are grouped as without information on loads.
    #[test]
    fn no_load_serves_what_is_defined_behind_it() {
        let function = around_a_loop("  %0 = LD_i32 7 :: read\n");
        let as_if_nothing_was_said = moved(&function, &[]);
        assert_eq!(moved(&function, &[(&[2, 3], 10)]), as_if_nothing_was_said);
        assert_ne!(moved(&function, &[(&[3, 4], 10)]), as_if_nothing_was_said);
    }

    /// A read in the call sequence that follows the definition precedes the store, which follows the sequence. The slot
    /// has no value at the read.
    #[test]
    fn no_load_ahead_of_the_store() {
        let body = "bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  CALL 0 :: call_sequence\n\
            ST_i32 %0, 0 :: call_sequence\n  ST_i32 %0, 1 :: write\n  ST_i32 %0, 2 :: write\n  Return :: terminator\n";
        let function = function("kernel maxntid 64\n", "B32", body);
        assert_eq!(moved(&function, &[(&[1, 2], 1)]), moved(&function, &[]));
        assert_ne!(moved(&function, &[(&[3], 1)]), moved(&function, &[]));
    }

    /// A rematerialised value needs an instruction after it, so it cannot be at the end of a block without a
    /// terminator.
    #[test]
    fn nothing_is_computed_again_at_the_end_of_a_block() {
        let body = "bb0: frequency 1.0 depth 0 -> bb1\n  %0 = MOV_B32_i 7\n\
            bb1: frequency 10.0 depth 1 -> bb1 bb2\n  ST_i32 %0, 1 :: write\n  %1 = SETP_i32rr 1, 2\n\
            CBranch %1, bb1 :: terminator\nbb2: frequency 1.0 depth 0\n  ST_i32 %0, 2 :: write\n  Return :: terminator\n";
        let function = function("kernel maxntid 64\n", "B32 B1", body);
        let loads = vec![NamedLoad { reads: vec![1, 2], times: 1 }];
        let ptxas_spill = PtxasSpill { moved_words: f64::INFINITY, loads };
        let ptxas_spills = Some(function.regs().map(|reg| (reg.0 == 0).then(|| ptxas_spill.clone())).collect());
        let outcome =
            spill_as(&function, &SpillGoal { ptxas_spills, ..SpillGoal::plain(99, SpillTo::REMAT) }).expect("a place");
        assert_eq!(outcome.spilled, []);
    }
}
