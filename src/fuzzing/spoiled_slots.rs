//! Spoils stores and reloads one by one. The slot verifier must find each fault, the symbolic checker most faults.

use arbitrary::{Result, Unstructured};

use super::reached;
use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrence, Occurrences};
use crate::check::{check, slots};
use crate::function::{Block, Edit, EditList, Function, Inst, Position, RegClass, Role, SharedArray, Slot, VReg};
use crate::index::EntityIndex;

/// The kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    StoreToAnotherSlot,
    LoadFromAnotherSlot,
    AnotherRegisterIsStored,
    StoreIsMissing,
    StoreIsMissingOnOnePath,
    StoreAheadOfTheDefinition,
    LoadAheadOfTheStore,
    AnotherValueOverwrites,
    OffsetOfAnotherSlot,
    SlotsOverlap,
    SlotIsWider,
    SlotIsNarrower,
    SlotIsLessAligned,
    LoadOfAnotherWidth,
}

impl Fault {
    pub(super) const ALL: [Self; 14] = [
        Self::StoreToAnotherSlot,
        Self::LoadFromAnotherSlot,
        Self::AnotherRegisterIsStored,
        Self::StoreIsMissing,
        Self::StoreIsMissingOnOnePath,
        Self::StoreAheadOfTheDefinition,
        Self::LoadAheadOfTheStore,
        Self::AnotherValueOverwrites,
        Self::OffsetOfAnotherSlot,
        Self::SlotsOverlap,
        Self::SlotIsWider,
        Self::SlotIsNarrower,
        Self::SlotIsLessAligned,
        Self::LoadOfAnotherWidth,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::StoreToAnotherSlot => "a store to another slot",
            Self::LoadFromAnotherSlot => "a load from another slot",
            Self::AnotherRegisterIsStored => "another register is stored",
            Self::StoreIsMissing => "a store is missing",
            Self::StoreIsMissingOnOnePath => "a store is missing on one path",
            Self::StoreAheadOfTheDefinition => "a store ahead of the definition",
            Self::LoadAheadOfTheStore => "a load ahead of the store",
            Self::AnotherValueOverwrites => "another value overwrites",
            Self::OffsetOfAnotherSlot => "a slot at the offset of another",
            Self::SlotsOverlap => "slots overlap by one thread",
            Self::SlotIsWider => "a slot is wider than its value",
            Self::SlotIsNarrower => "a slot is narrower than its value",
            Self::SlotIsLessAligned => "a slot is less aligned",
            Self::LoadOfAnotherWidth => "a load of another width",
        }
    }
}

/// The tools that find a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) by_verifier: bool,
    pub(super) by_checker: bool,
}

/// Spoils one spilled value of a function at random. The verifier must find the fault. Two kinds of values are
/// excluded. A value with several stores may be correct with a store at another place or with a missing store. Where a
/// value is undefined, any other value is correct.
pub(super) fn check_spoiled_slot(u: &mut Unstructured<'_>, function: &Function, edits: &EditList) -> Result<()> {
    let mut values = values(function, edits);
    values.retain(|value| stores(edits, value.reg) == 1 && !may_be_undefined(function, value.reg));
    let fault = *u.choose(&Fault::ALL)?;
    if values.is_empty() {
        return Ok(());
    }
    let value = &values[u.choose_index(values.len())?];
    if let Some(spoiled) = spoil(function, edits, value, fault) {
        let found = find(function, &spoiled);
        assert!(
            found.by_verifier,
            "{}: the verifier does not find it in\n{function}\n{:?}",
            fault.name(),
            spoiled.edits()
        );
        reached(fault.name(), true);
    }
    Ok(())
}

/// Whether a register is undefined somewhere: by an instruction, or because a path from the entry to a read has no
/// definition.
pub(super) fn may_be_undefined(function: &Function, reg: VReg) -> bool {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let occurrences = Occurrences::new(function, &|other| other == reg);
    let live = LiveRanges::new(function, &cfg, &dominators, &occurrences, &[reg]);
    let is_made_undefined = |access: &Occurrence| access.is_def() && function.role(access.inst) == Role::Undef;
    occurrences.of(reg).iter().any(is_made_undefined)
        || live.live_ins(reg).iter().any(|live_in| live_in.block == Block(0))
}

/// Returns the number of a register's stores.
fn stores(edits: &EditList, stored: VReg) -> usize {
    let is_store = |edit: &&Edit| match edit {
        Edit::InsertSpill { reg, .. } => *reg == stored,
        Edit::InsertWideSpill { parts, .. } => parts.iter().any(|&(reg, _)| reg == stored),
        _ => false,
    };
    edits.edits().iter().filter(is_store).count()
}

/// Returns which tools find a fault in the edits.
pub(super) fn find(function: &Function, edits: &EditList) -> Found {
    Found { by_verifier: !slots::errors(function, edits).is_empty(), by_checker: check(function, edits).is_err() }
}

/// A spilled value: its store and one of its reloads, by their indices in the list of edits.
#[derive(Debug)]
pub(super) struct Value {
    reg: VReg,
    slot: Slot,
    definition: Inst,
    store: usize,
    load: usize,
}

/// Returns the spilled values of a function with reachable reloads.
pub(super) fn values(function: &Function, edits: &EditList) -> Vec<Value> {
    let dominators = dominators(function);
    let list = edits.edits();
    let mut values = Vec::new();
    for (store, edit) in list.iter().enumerate() {
        let Edit::InsertSpill { reg, slot, at, .. } = *edit else { continue };
        let writes = |&inst: &Inst| function.operands(inst).iter().any(|operand| operand.def() == Some(reg));
        // Unreachable blocks are not verified.
        let is_reached = |&inst: &Inst| dominators.dominates(Block(0), function.block_of(inst));
        let Some(definition) = function.insts().filter(is_reached).find(writes) else { continue };
        let reads = |loaded: VReg| {
            list.iter().any(|edit| match *edit {
                Edit::SetRegister { inst, operand, reg: now } => {
                    now == loaded && function.operands(inst)[operand as usize].reg() == Some(reg)
                }
                _ => false,
            })
        };
        let is_own = |edit: &Edit| match *edit {
            Edit::InsertReload { at: load, reg: loaded, slot: from, .. } => {
                let is_reached = dominators.dominates(Block(0), load.block);
                from == slot && reads(loaded) && is_reached && dominators.dominates(at.block, load.block)
            }
            _ => false,
        };
        values.extend(list.iter().position(is_own).map(|load| Value { reg, slot, definition, store, load }));
    }
    values
}

fn dominators(function: &Function) -> Dominators {
    Dominators::new(function, &Cfg::new(function))
}

/// Returns the edits with one fault; `None` if the fault is not possible.
pub(super) fn spoil(function: &Function, edits: &EditList, value: &Value, fault: Fault) -> Option<EditList> {
    let mut list = edits.edits().to_vec();
    let (
        Edit::InsertSpill { inst: store, at: stored, .. },
        Edit::InsertReload { inst: load, at: loaded, reg: again, .. },
    ) = (list[value.store].clone(), list[value.load].clone())
    else {
        return None;
    };
    let &Value { reg, slot, definition, .. } = value;
    let store_at = |at, reg, slot| Edit::InsertSpill { inst: store, at, reg, slot };
    let made = list.iter().position(|edit| made_slot(edit) == Some(slot))?;
    match fault {
        Fault::StoreToAnotherSlot => list[value.store] = store_at(stored, reg, other_slot(&list, slot)?),
        Fault::LoadFromAnotherSlot => {
            let slot = other_slot(&list, slot)?;
            list[value.load] = Edit::InsertReload { inst: load, at: loaded, reg: again, slot };
        }
        Fault::AnotherRegisterIsStored => {
            list[value.store] = store_at(stored, other_register(function, reg)?, slot);
        }
        // The replacement has no effect, but keeps the numbers of all other instructions.
        Fault::StoreIsMissing => list[value.store] = Edit::InsertCopy { inst: store, at: stored, dst: reg, src: reg },
        Fault::StoreIsMissingOnOnePath => {
            let around = around(function, stored.block, loaded.block)?;
            let inst = function.block_insts(around).find(|&inst| function.role(inst) != crate::function::Role::Phi);
            list[value.store] = store_at(Position { block: around, before: inst }, reg, slot);
        }
        Fault::StoreAheadOfTheDefinition => list[value.store] = store_at(before(function, definition), reg, slot),
        Fault::LoadAheadOfTheStore => {
            let at = before(function, definition);
            list[value.load] = Edit::InsertReload { inst: load, at, reg: again, slot };
        }
        // If the load is at the same place, the new store would come after the load and not affect it.
        Fault::AnotherValueOverwrites if stored == loaded => return None,
        Fault::AnotherValueOverwrites => {
            let reg = other_register(function, reg)?;
            let inserted = |edit: &&Edit| inserted_inst(edit).is_some();
            let inst = Inst::new(function.num_insts() + list.iter().filter(inserted).count());
            list.push(Edit::InsertSpill { inst, at: stored, reg, slot });
        }
        Fault::OffsetOfAnotherSlot | Fault::SlotsOverlap => {
            let Edit::CreateSharedSlot { size, offset, row, .. } = list[made] else { return None };
            let (other, other_size) = list.iter().find_map(|edit| match *edit {
                Edit::CreateSharedSlot { size, offset: other, .. } if other != offset => Some((other, size)),
                _ => None,
            })?;
            let threads = list.iter().find_map(|edit| match edit {
                Edit::CreateSharedArray(SharedArray { threads, .. }) => Some(threads - 1),
                _ => None,
            })?;
            let last = (other + threads * other_size) / size * size;
            let offset = if fault == Fault::SlotsOverlap { last } else { other };
            list[made] = Edit::CreateSharedSlot { slot, size, offset, row };
        }
        Fault::SlotIsWider => resize(&mut list[made], |size| 2 * size),
        Fault::SlotIsNarrower => resize(&mut list[made], |size| size / 2),
        Fault::SlotIsLessAligned => {
            let Edit::CreateSlot { size, .. } = list[made] else { return None };
            list[made] = Edit::CreateSlot { slot, size, align: 1 };
        }
        Fault::LoadOfAnotherWidth => {
            let class = if function.class(reg) == RegClass::B32 { RegClass::B64 } else { RegClass::B32 };
            let create = list.iter().position(|edit| matches!(edit, Edit::CreateRegister { reg, .. } if *reg == again));
            list[create?] = Edit::CreateRegister { reg: again, class };
        }
    }
    Some(listed(function, list))
}

/// Returns the same edits as a list, with the registers that they create.
fn listed(function: &Function, list: Vec<Edit>) -> EditList {
    let mut spoiled = EditList::new(function);
    for edit in list {
        match edit {
            Edit::CreateRegister { class, .. } => _ = spoiled.create_register(class),
            edit => spoiled.push(edit),
        }
    }
    spoiled.finish();
    spoiled
}

fn before(function: &Function, inst: Inst) -> Position {
    Position { block: function.block_of(inst), before: Some(inst) }
}

/// Returns the slot that an edit creates.
fn made_slot(edit: &Edit) -> Option<Slot> {
    match *edit {
        Edit::CreateSlot { slot, .. } | Edit::CreateSharedSlot { slot, .. } => Some(slot),
        _ => None,
    }
}

fn resize(edit: &mut Edit, to: impl Fn(u64) -> u64) {
    match edit {
        Edit::CreateSlot { size, .. } => *size = to(*size),
        Edit::CreateSharedSlot { size, row, .. } => {
            *size = to((*size).into()) as u32;
            *row = to((*row).into()) as u32;
        }
        _ => {}
    }
}

fn inserted_inst(edit: &Edit) -> Option<Inst> {
    match *edit {
        Edit::InsertCopy { inst, .. }
        | Edit::InsertConstant { inst, .. }
        | Edit::InsertClone { inst, .. }
        | Edit::InsertSpill { inst, .. }
        | Edit::InsertReload { inst, .. }
        | Edit::InsertWideSpill { inst, .. }
        | Edit::InsertWideReload { inst, .. } => Some(inst),
        _ => None,
    }
}

/// Returns another slot, preferably one of the same size.
fn other_slot(list: &[Edit], slot: Slot) -> Option<Slot> {
    let size = |edit: &Edit| match *edit {
        Edit::CreateSlot { size, .. } => size,
        Edit::CreateSharedSlot { size, .. } => size.into(),
        _ => 0,
    };
    let own = list.iter().find(|edit| made_slot(edit) == Some(slot)).map_or(0, size);
    let others = || list.iter().filter(|edit| made_slot(edit).is_some_and(|other| other != slot));
    others().find(|edit| size(edit) == own).or_else(|| others().next()).and_then(made_slot)
}

fn other_register(function: &Function, reg: VReg) -> Option<VReg> {
    function.regs().find(|&other| other != reg && function.class(other) == function.class(reg))
}

/// Returns a block after `from` that some paths from there to `to` avoid.
fn around(function: &Function, from: Block, to: Block) -> Option<Block> {
    let dominators = dominators(function);
    let mut behind = function.blocks().filter(|&block| block != from && dominators.dominates(from, block));
    behind.find(|&block| !dominators.dominates(block, to))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::config::Chooser;
    use crate::config::{KeepInLoops, SpillTo};
    use crate::function::LaunchBounds;
    use crate::fuzzing::{Options, check_same_effects, lowered_function};
    use crate::spill::spiller::{Facts, Launch, SpillGoal};
    use crate::spill::{Engine, EngineResult, spill_values};
    use crate::target::Classification;
    use crate::target::machine::Architecture;

    /// The number of faults tried, and found by each tool.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Row {
        tried: u32,
        by_verifier: u32,
        by_checker: u32,
    }

    /// Spills values to one memory space, so that at most `words` words are live, and tries all faults.
    fn keep_and_try((function, words): (&Function, u32), to: SpillTo, table: &mut BTreeMap<&'static str, Row>) {
        let classification = Classification::by_name(function.opcodes());
        let architecture = Architecture::by_name("sm_90").expect("a processor");
        let launch = Launch { architecture, threads: None, dynamic_shared: None, most_bytes: 49_152, callees: None };
        // Values with several stores are excluded: one of these stores may be correct at another place.
        let in_loops = KeepInLoops::On;
        let goal = SpillGoal { max_values: 40, in_loops, sinks: true, hoists: true, ..SpillGoal::plain(words, to) };
        if let Ok(outcome) = spill_values(
            &Facts::new((function, &classification)),
            &goal,
            &EngineResult::of(Engine::new(Chooser::Price)),
            &launch,
        ) {
            try_all(function, &outcome.edits, table);
        }
    }

    fn try_all(function: &Function, edits: &EditList, table: &mut BTreeMap<&'static str, Row>) {
        assert_eq!(find(function, edits), Found { by_verifier: false, by_checker: false });
        let mut values = values(function, edits);
        // Values that may be undefined are excluded: while a value is undefined, any content of its slot is correct.
        values.retain(|value| !may_be_undefined(function, value.reg));
        // A few values from the whole function are sufficient.
        for value in values.iter().step_by(values.len().div_ceil(3).max(1)) {
            for fault in Fault::ALL {
                if let Some(spoiled) = spoil(function, edits, value, fault) {
                    let found = find(function, &spoiled);
                    let row = table.entry(fault.name()).or_default();
                    row.tried += 1;
                    row.by_verifier += u32::from(found.by_verifier);
                    row.by_checker += u32::from(found.by_checker);
                    if !found.by_checker
                        && let Ok(applied) = spoiled.apply(function)
                    {
                        let name = fault.name();
                        check_same_effects(function, &applied).unwrap_or_else(|mismatch| panic!("{name}: {mismatch}"));
                    }
                }
            }
        }
    }

    /// Checks that the verifier finds every fault, and that the symbolic checker finds at least `percent` percent of
    /// each kind, because some faults change no result. A slot that is too wide or misaligned often changes no result,
    /// so the symbolic checker need not find it.
    fn judge(percent: u32, table: &BTreeMap<&'static str, Row>) {
        println!("{:36}{:>8}{:>10}{:>10}", "fault", "tried", "verifier", "checker");
        for (name, row) in table {
            println!("{name:36}{:>8}{:>10}{:>10}", row.tried, row.by_verifier, row.by_checker);
        }
        for fault in Fault::ALL {
            let row = table.get(fault.name()).copied().unwrap_or_default();
            let Row { tried, by_verifier, by_checker } = row;
            let name = fault.name();
            assert!(tried > 0, "{name}: it was never tried");
            assert_eq!(by_verifier, tried, "{name}: the verifier misses some");
            match fault {
                Fault::SlotIsLessAligned => assert_eq!(by_checker, 0, "{name}"),
                Fault::SlotIsWider => assert!(by_checker < tried, "{name}"),
                _ => assert!(100 * by_checker >= percent * tried, "{name}: the symbolic checker misses {row:?}"),
            }
        }
    }

    /// Each fault in real kernels, with spills to shared and to local memory.
    #[test]
    fn recorded_functions() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/recorded");
        let mut table = BTreeMap::new();
        for name in ["bitonic_sort", "causal_attention", "search_nonce"] {
            let text = std::fs::read_to_string(folder.join(format!("{name}.mfv"))).expect("a recorded function");
            let mut function = Function::parse(&text).expect("a view");
            function.kernel = Some(LaunchBounds { max_threads: Some(64), ..LaunchBounds::default() });
            for to in [SpillTo::SHARED, SpillTo::LOCAL] {
                keep_and_try((&function, 8), to, &mut table);
            }
        }
        judge(100, &table);
    }

    /// Each fault in generated functions, in at most 20 rounds, until each kind of fault has been tried 10 times.
    #[test]
    fn generated_functions() {
        let mut table = BTreeMap::new();
        for _ in 0..20 {
            arbtest::arbtest(|u| {
                let options = Options { undefined_paths: u.arbitrary()?, max_insts: 40, held: 4, ..Options::default() };
                let mut function = lowered_function(u, &options)?;
                function.kernel = Some(LaunchBounds { max_threads: Some(64), ..LaunchBounds::default() });
                let to = *u.choose(&[SpillTo::SHARED, SpillTo::LOCAL])?;
                keep_and_try((&function, 2), to, &mut table);
                Ok(())
            })
            .budget_ms(1_000);
            if table.len() == Fault::ALL.len() && table.values().all(|row| row.tried >= 10) {
                break;
            }
        }
        judge(60, &table);
    }
}
