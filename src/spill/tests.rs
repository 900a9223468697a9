//! Locations of spilled values, the values that are chosen, and the checker's verdict on wrong stores and loads.

use super::spiller::{Facts, Launch, PtxasSpill, Refusal, SpillGoal};
use super::{Engine, EngineResult, Outcome, SpillSpace, SpillSummary, spill_values};
use crate::check::check;
use crate::config::{Chooser, KeepInLoops, Redefined, SpillTo};
use crate::function::{Edit, EditList, Function, Inst, Position, RegClass};
use crate::target::Classification;
use crate::target::machine::Architecture;

const HEAD: &str = "mfv 1\nfunction \"k\"\n";
const REST: &str = "opcode MOV_B32_i constant\nopcode ADD32ri\nopcode ADD16rr\nopcode ADD64ri\nopcode LD_i16\nopcode LD_i32\n\
    opcode LD_i64\nopcode ST_i16\nopcode ST_i32\nopcode ST_i64\nopcode SETP_i32rr\nopcode CBranch\nopcode FMULf32rr\nopcode FADDf32rr\nopcode FMUL_rnf32rr\nopcode CALL\nopcode INLINEASM\nopcode DBG_VALUE debug\nopcode IMPLICIT_DEF undef\nopcode Return\n";

pub(in crate::spill) fn function(kernel: &str, regs: &str, body: &str) -> Function {
    let function = Function::parse(&format!("{HEAD}{kernel}{REST}regs %0 {regs}\n{body}end\n")).expect("a view");
    function.validate().expect("a valid view");
    function
}

fn keep(function: &Function, words: u32, to: SpillTo) -> Result<Outcome, Refusal> {
    spill_as(function, &SpillGoal::plain(words, to))
}

pub(in crate::spill) fn spill_as(function: &Function, goal: &SpillGoal) -> Result<Outcome, Refusal> {
    spill_for(function, goal, 49_152)
}

fn spill_for(function: &Function, goal: &SpillGoal, most_bytes: u32) -> Result<Outcome, Refusal> {
    let classification = Classification::by_name(function.opcodes());
    let architecture = Architecture::by_name("sm_90").expect("a processor");
    let launch = Launch { architecture, dynamic_shared: None, most_bytes, threads: None, callees: None };
    let outcome = spill_values(
        &Facts::new((function, &classification)),
        goal,
        &EngineResult::of(Engine::new(Chooser::Price)),
        &launch,
    )?;
    assert_eq!(check(function, &outcome.edits), Ok(()));
    Ok(outcome)
}

/// Returns the locations of the values that are spilled when at most `words` words may be live.
fn places(function: &Function, words: u32, to: SpillTo) -> Vec<SpillSpace> {
    keep(function, words, to).expect("a place").spilled.iter().map(|spilled| spilled.space).collect()
}

/// A value is not spilled if its only reads are within the call sequence after its definition, even if its definition
/// writes early. There would be no reload, and the store after the sequence would conflict with other stores.
#[test]
fn what_does_not_come_back_is_not_moved() {
    let body = "bb0: frequency 1.0 depth 0\n  %1 = LD_i32 1 :: read\n  %2 = LD_i32 2 :: read\n\
        INLINEASM 0, def early_clobber %0, %1 :: opaque\n  CALL 0 :: call_sequence\n\
        ST_i32 %0, 0 :: call_sequence\n  ST_i32 %1, %2 :: write\n  Return :: terminator\n";
    let called = function("kernel maxntid 64\n", "B32 B32 B32", body);
    let spilled = keep(&called, 1, SpillTo::LOCAL).expect("local memory").spilled;
    assert!(spilled.iter().all(|spilled| spilled.reloads > 0), "{spilled:?}");
}

/// Reads before the place of the value's store use its own register up to the store. The cases are the result of a call
/// that a terminator reads, and an argument of a call, each with a debug instruction in between.
#[test]
fn what_is_read_ahead_of_its_store() {
    let stay = |middle: &str| {
        let body = format!(
            "bb0: frequency 1.0 depth 0 -> bb1\n  %1 = LD_i32 1 :: read\n  %2 = LD_i32 2 :: read\n{middle}  CBranch %1, bb1 :: terminator\n\
             bb1: frequency 1.0 depth 0\n  ST_i32 %1, %2 :: write\n  Return :: terminator\n"
        );
        let kernel = function("kernel maxntid 64\n", "B32 B32 B32", &body);
        let candidates = Some(kernel.regs().map(|reg| reg.0 == 0).collect());
        let outcome =
            spill_as(&kernel, &SpillGoal { candidates, ..SpillGoal::plain(2, SpillTo::LOCAL) }).expect("local memory");
        assert_eq!(outcome.spilled.len(), 0, "{middle}");
    };
    let debug = "  DBG_VALUE %1, $noreg :: meta\n";
    let result = "  CALL 0 :: call_sequence\n  %0 = LD_i32 0 :: call_sequence\n  CALL 1 :: call_sequence\n";
    stay(&format!("{result}{debug}  CBranch %0, bb1 :: terminator\n"));
    stay(&format!(
        "  %0 = LD_i32 0 :: read\n{debug}  CALL 0 :: call_sequence\n  ST_i32 %0, 0 :: call_sequence\n  CALL 1 :: call_sequence\n"
    ));
}

/// Returns a kernel that loads `%0`, and reads it again after a point with three live words.
fn across(class: &str, load: &str, store: &str) -> Function {
    let regs = format!("{class} B32 B32 B32");
    let body = format!(
        "bb0: frequency 1.0 depth 0\n  %0 = {load} 0 :: read\n  %1 = LD_i32 1 :: read\n  %2 = LD_i32 2 :: read\n\
         ST_i32 %1, %2 :: write\n  {store} %0, 3 :: write\n  Return :: terminator\n"
    );
    function("kernel maxntid 64\n", &regs, &body)
}

/// A product that ptxas may fuse with a sum that reads it is not spilled: the bits of the sum would change.
#[test]
fn products_that_may_be_fused_stay() {
    let of = |opcode: &str, reader: &str| {
        let body = format!(
            "bb0: frequency 1.0 depth 0\n  %3 = LD_i32 3 :: read\n  %0 = {opcode} %3, %3\n  %1 = LD_i32 1 :: read\n\
             %2 = LD_i32 2 :: read\n  ST_i32 %1, %2 :: write\n  %4 = {reader} %0, %0\n  ST_i32 %4, 3 :: write\n\
             Return :: terminator\n"
        );
        places(&function("kernel maxntid 64\n", "B32 B32 B32 B32 B32", &body), 2, SpillTo::SHARED)
    };
    assert_eq!(of("FMULf32rr", "FADDf32rr"), []);
    assert_eq!(of("FMULf32rr", "FMULf32rr"), [SpillSpace::Shared]);
    assert_eq!(of("FMUL_rnf32rr", "FADDf32rr"), [SpillSpace::Shared]);
}

/// Values that ptxas spills are chosen, however few words are live, unless spilling them costs much more than ptxas's
/// spills. No other values are chosen.
#[test]
fn what_ptxas_spills_goes() {
    let kernel = across("B32", "LD_i32", "ST_i32");
    let spilled = |reg: u32, moved_words: f64| -> Vec<u32> {
        let ptxas_spills =
            Some(kernel.regs().map(|other| (other.0 == reg).then(|| ptxas_spill_of(moved_words))).collect());
        let outcome =
            spill_as(&kernel, &SpillGoal { ptxas_spills, ..SpillGoal::plain(99, SpillTo::SHARED) }).expect("a place");
        outcome.spilled.iter().map(|spilled| spilled.reg.0).collect()
    };
    assert_eq!([0, 1].map(|reg| spilled(reg, f64::INFINITY)), [[0], [1]]);
    // A store to shared memory and a load from it cost 1.2.
    assert_eq!([spilled(0, 2.0), spilled(0, 1.0), spilled(0, 0.0)], [vec![0], vec![0], vec![]]);
    // The read of `%2` follows its definition, and `%3` has no definition.
    assert_eq!(spilled(2, f64::INFINITY).len() + spilled(3, f64::INFINITY).len(), 0);
}

/// Returns ptxas's spills of this many words, without information on the loads.
fn ptxas_spill_of(moved_words: f64) -> PtxasSpill {
    PtxasSpill { moved_words, loads: Vec::new() }
}

/// If there is little room, the values that save most are spilled first.
#[test]
fn what_ptxas_pays_most_for_goes_first() {
    let kernel = across("B32", "LD_i32", "ST_i32");
    let first = |moved_words: [f64; 2]| {
        let ptxas_spills =
            Some(kernel.regs().map(|reg| moved_words.get(reg.0 as usize).copied().map(ptxas_spill_of)).collect());
        let outcome =
            spill_as(&kernel, &SpillGoal { ptxas_spills, max_values: 1, ..SpillGoal::plain(99, SpillTo::SHARED) })
                .expect("a place");
        outcome.spilled.iter().map(|spilled| spilled.reg.0).collect::<Vec<_>>()
    };
    assert_eq!([first([9.0, 3.0]), first([3.0, 9.0])], [[0], [1]]);
}

/// Values of each width get slots of their own size, in each memory.
#[test]
fn slots_have_the_size_of_their_value() {
    for (class, suffix, bytes) in [("B16", "i16", 2), ("B32", "i32", 4), ("B64", "i64", 8)] {
        let function = across(class, &format!("LD_{suffix}"), &format!("ST_{suffix}"));
        for (to, place) in [(SpillTo::SHARED, SpillSpace::Shared), (SpillTo::LOCAL, SpillSpace::Local)] {
            let outcome = keep(&function, 2, to).expect("a place");
            let [SpillSummary { space: is, bytes: size, reloads: 1, .. }] = outcome.spilled[..] else {
                panic!("{outcome:?}")
            };
            assert_eq!((is, size), (place, bytes));
            let threads = if place == SpillSpace::Shared { 64 } else { 1 };
            assert_eq!(outcome.bytes.shared + outcome.bytes.local, bytes * threads);
        }
    }
}

/// A kernel gets the cheapest of the allowed locations. Shared memory is cheaper than local memory, and rematerialising
/// a sum of live values is cheaper than both.
#[test]
fn the_cheapest_place_is_taken() {
    let loaded = across("B32", "LD_i32", "ST_i32");
    assert_eq!(places(&loaded, 2, SpillTo::all()), [SpillSpace::Shared]);
    assert_eq!(places(&loaded, 2, SpillTo::LOCAL | SpillTo::REMAT), [SpillSpace::Local]);
    assert_eq!(places(&loaded, 2, SpillTo::REMAT), []);
    let body = "bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  %1 = ADD32ri %0, 8\n  %2 = LD_i32 1 :: read\n\
         %3 = LD_i32 2 :: read\n  ST_i32 %2, %3 :: write\n  ST_i32 %1, %0 :: write\n  Return :: terminator\n";
    let sum = function("kernel maxntid 64\n", "B32 B32 B32 B32", body);
    for to in [SpillTo::all(), SpillTo::REMAT] {
        assert_eq!(places(&sum, 3, to), [SpillSpace::Rematerialised]);
    }
    // The source of the clone stays in its register, though the goal is exceeded by one word.
    let held = places(&sum, 2, SpillTo::all());
    assert_eq!(held, [SpillSpace::Rematerialised]);
    assert_eq!(places(&sum, 2, SpillTo::SHARED), [SpillSpace::Shared, SpillSpace::Shared]);
}

/// A value is not rematerialised from a register that has another value, or is not live, at the read.
#[test]
fn nothing_is_computed_from_what_is_gone() {
    let body = |last: &str| {
        format!(
            "bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  %1 = ADD32ri %0, 8\n  %2 = LD_i32 1 :: read\n\
             %3 = LD_i32 2 :: read\n  ST_i32 %2, %3 :: write\n{last}  Return :: terminator\n"
        )
    };
    let kernel = |last: &str| function("kernel maxntid 64\n", "B32 B32 B32 B32", &body(last));
    let all = SpillTo::all();
    assert_eq!(places(&kernel("  ST_i32 %1, 5 :: write\n"), 2, all), [SpillSpace::Shared]);
    let overwritten = "  %0 = LD_i32 7 :: read\n  ST_i32 %1, %0 :: write\n";
    assert_eq!(places(&kernel(overwritten), 2, all), [SpillSpace::Shared]);
}

/// Only kernels with known block sizes get slots in shared memory; all functions get slots in local memory.
#[test]
fn local_memory_needs_no_kernel() {
    let kernel = across("B32", "LD_i32", "ST_i32");
    let text = kernel.to_string();
    for (head, refusal) in [("", Refusal::DeviceFunction), ("kernel\n", Refusal::AnyBlockSize)] {
        let function = Function::parse(&text.replace("kernel maxntid 64\n", head)).expect("a view");
        assert_eq!(keep(&function, 2, SpillTo::SHARED).err(), Some(refusal.clone()));
        assert_eq!(places(&function, 2, SpillTo::LOCAL), [SpillSpace::Local]);
        let both = keep(&function, 2, SpillTo::SHARED | SpillTo::LOCAL).expect("local memory");
        assert_eq!((both.spilled[0].space, both.refusal), (SpillSpace::Local, Some(refusal)));
        assert_eq!(keep(&function, 2, SpillTo::LOCAL).expect("local memory").refusal, None);
    }
}

/// If shared memory has room for only one value, the next value goes to local memory.
#[test]
fn what_has_no_room_goes_to_local_memory() {
    let loads: String = (0..8).map(|reg| format!("  %{reg} = LD_i64 {reg} :: read\n")).collect();
    let stores: String = (0..8).map(|reg| format!("  ST_i64 %{reg}, {reg} :: write\n")).collect();
    let body = format!("bb0: frequency 1.0 depth 0\n{loads}  ST_i32 1, 2 :: write\n{stores}  Return :: terminator\n");
    let regs = ["B64"; 8].join(" ");
    let kernel = function("kernel maxntid 1024\n", &regs, &body);
    let found = places(&kernel, 2, SpillTo::SHARED | SpillTo::LOCAL);
    let shared = found.iter().filter(|&&place| place == SpillSpace::Shared).count();
    assert!((1..=6).contains(&shared), "{found:?}");
    assert!(found.contains(&SpillSpace::Local), "{found:?}");
    assert!(found.is_sorted_by_key(|&place| place != SpillSpace::Shared), "{found:?}");
}

/// A value that both arms of a branch set is stored in both, and reloaded after them, but only if that is allowed.
#[test]
fn several_definitions_are_all_stored() {
    let body = "bb0: frequency 1.0 depth 0 -> bb1 bb2\n  %1 = LD_i32 1 :: read\n  %4 = SETP_i32rr %1, %1\n\
        CBranch %4, bb2 :: terminator\n\
        bb1: frequency 0.5 depth 0 -> bb3\n  %0 = LD_i32 2 :: read\n\
        bb2: frequency 0.5 depth 0 -> bb3\n  %0 = LD_i32 3 :: read\n\
        bb3: frequency 1.0 depth 0\n  %2 = LD_i32 4 :: read\n  ST_i32 %2, %1 :: write\n  ST_i32 %0, %1 :: write\n\
        Return :: terminator\n";
    let function = function("kernel maxntid 64\n", "B32 B32 B32 B32 B1", body);
    let spilled = |redefined: Redefined| {
        let goal = SpillGoal { redefined, ..SpillGoal::plain(2, SpillTo::LOCAL) };
        spill_for(&function, &goal, 49_152).expect("local memory").spilled
    };
    let is_redefined = |spilled: &SpillSummary| spilled.stores == 2 && spilled.reg.0 == 0;
    assert!(spilled(Redefined::On).iter().any(is_redefined), "{:?}", spilled(Redefined::On));
    assert!(!spilled(Redefined::Off).iter().any(is_redefined));
    assert!(!spilled(Redefined::Auto).iter().any(is_redefined));
}

/// A value is reloaded into its own register if a definition preserves a part of the register.
#[test]
fn a_tied_value_comes_back_in_its_register() {
    let body = "bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n  %2 = LD_i32 2 :: read\n\
        ST_i32 %1, %2 :: write\n  %0 = ADD32ri %0 tied 0, 8\n  %1 = LD_i32 3 :: read\n  %2 = LD_i32 4 :: read\n\
        ST_i32 %1, %2 :: write\n  ST_i32 %0, 5 :: write\n  Return :: terminator\n";
    let function = function("kernel maxntid 64\n", "B32 B32 B32", body);
    let goal = SpillGoal { redefined: Redefined::On, ..SpillGoal::plain(2, SpillTo::LOCAL) };
    let outcome = spill_for(&function, &goal, 49_152).expect("local memory");
    let [SpillSummary { stores: 2, reloads: 2, .. }] = outcome.spilled[..] else { panic!("{:?}", outcome.spilled) };
    let comes_back = |edit: &Edit| matches!(edit, Edit::InsertReload { reg, .. } if reg.0 == 0);
    assert_eq!(outcome.edits.edits().iter().filter(|edit| comes_back(edit)).count(), 1);
    assert_eq!((outcome.peaks[1], outcome.fullest), (2, None));
}

/// If values cannot be spilled outside of loops, a later trial accesses them in loops, unless the option forbids it.
/// The result is used only if fewer words are live.
#[test]
fn trials_go_on_until_one_is_enough() {
    let body = "bb0: frequency 1.0 depth 0 -> bb1\n  %4 = LD_i32 0 :: read\n\
        bb1: frequency 10.0 depth 1 -> bb1 bb2\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n\
        %2 = LD_i32 2 :: read\n  ST_i32 %1, %2 :: write\n  ST_i32 %0, 3 :: write\n  %3 = SETP_i32rr %4, %4\n\
        CBranch %3, bb1 :: terminator\n\
        bb2: frequency 1.0 depth 0\n  Return :: terminator\n";
    let function = function("kernel maxntid 64\n", "B32 B32 B32 B1 B32", body);
    let tried = |words, in_loops, trials| {
        let goal = SpillGoal { in_loops, max_trials: trials, ..SpillGoal::plain(words, SpillTo::LOCAL) };
        let outcome = spill_for(&function, &goal, 49_152).expect("local memory");
        (outcome.trials.len(), outcome.peaks[1], outcome.spilled.len())
    };
    assert_eq!(tried(3, KeepInLoops::Auto, 1), (1, 4, 0));
    assert_eq!(tried(3, KeepInLoops::Auto, 2), (2, 4, 0));
    assert_eq!(tried(3, KeepInLoops::Auto, 6), (3, 3, 1));
    assert_eq!(tried(3, KeepInLoops::Off, 6), (1, 4, 0));
    assert_eq!(tried(4, KeepInLoops::Auto, 6), (0, 4, 0), "nothing is full");
}

/// If shared memory is used up, slots that are packed anew have room for one more value. In this function, four values
/// have successive live ranges. The first and the last value get a slot first, so the third value finds no slot.
#[test]
fn slots_are_shared_anew() {
    let full =
        |times: usize| "  %4 = LD_i32 1 :: read\n  %5 = LD_i32 2 :: read\n  ST_i32 %4, %5 :: write\n".repeat(times);
    let load = |reg: u32| format!("  %{reg} = LD_i32 {reg} :: read\n");
    let store = |reg: u32| format!("  ST_i32 %{reg}, {reg} :: write\n");
    let parts = [
        load(0) + &full(6) + &load(1) + &full(1) + &store(0) + &full(4),
        load(2) + &full(1) + &store(1) + &full(1),
        load(3) + &full(1) + &store(2) + &full(5) + &store(3),
    ];
    let body = format!("bb0: frequency 1.0 depth 0\n{}  Return :: terminator\n", parts.concat());
    let function = function("kernel maxntid 128\n", "B32 B32 B32 B32 B32 B32", &body);
    let spilled = |words: u32, most_bytes: u32| {
        let outcome =
            spill_for(&function, &SpillGoal::plain(words, SpillTo::SHARED), most_bytes).expect("shared memory");
        (outcome.spilled.len(), outcome.peaks[1], outcome.bytes.shared, outcome.too_few_bytes)
    };
    assert_eq!(spilled(2, 2048), (4, 2, 1536, None), "three slots");
    assert_eq!(spilled(2, 1024), (4, 2, 1024, None));
    assert_eq!(spilled(2, 512), (2, 4, 512, Some(512)), "a value finds no slot");
    assert_eq!(spilled(1, 2048).3, None, "all values have slots");
}

/// If more words stay live than the goal, the first instruction with the most words is reported.
#[test]
fn what_stays_full_is_named() {
    let outcome = keep(&across("B32", "LD_i32", "ST_i32"), 1, SpillTo::LOCAL).expect("local memory");
    assert_eq!((outcome.peaks, outcome.fullest), ([3, 2], Some(Inst(3))));
    let enough = keep(&across("B32", "LD_i32", "ST_i32"), 2, SpillTo::LOCAL).expect("local memory");
    assert_eq!((enough.peaks, enough.fullest), ([3, 2], None));
}

/// For the widest instruction, each register counts once among the reads and once among the writes.
#[test]
fn the_widest_instruction_is_found() {
    let body = "bb0: frequency 1.0 depth 0\n  %0 = LD_i64 0 :: read\n  %1 = LD_i32 1 :: read\n\
        %2 = ADD32ri %1, 1\n  ST_i64 %0, %0 :: write\n  ST_i32 %0, %1, %2 :: write\n  ST_i32 %0, %1, %2 :: write\n\
        Return :: terminator\n";
    let function = function("kernel maxntid 64\n", "B64 B32 B32", body);
    let classification = Classification::by_name(function.opcodes());
    assert_eq!(Facts::new((&function, &classification)).widest(), Some((Inst(4), 4)));
}

/// Returns a function in which `%0` is read on both sides of a branch and after it, and two values are stored after it.
fn branching() -> (Function, EditList) {
    let body = "bb0: frequency 1.0 depth 0 -> bb1 bb2\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n\
        %4 = SETP_i32rr %1, %1\n  CBranch %4, bb2 :: terminator\n\
        bb1: frequency 0.5 depth 0 -> bb2\n  %2 = LD_i32 2 :: read\n  ST_i32 %2, %1 :: write\n\
        bb2: frequency 1.0 depth 0\n  ST_i32 %0, %1 :: write\n  Return :: terminator\n";
    let function = function("kernel maxntid 64\n", "B32 B32 B32 B32 B1", body);
    let edits = EditList::new(&function);
    (function, edits)
}

/// Returns the checker's verdict on a spill of `%0` at a place, followed by the edits of `between`, and a reload before
/// `bb2`'s store.
fn judge(spill: Position, between: impl Fn(&mut EditList, [crate::function::Slot; 2]), is_shared: bool) -> bool {
    let (function, mut edits) = branching();
    let slots = if is_shared {
        edits.push(Edit::CreateSharedArray(crate::function::SharedArray { threads: 64, bytes: 512 }));
        [edits.create_shared_slot(4, 0), edits.create_shared_slot(4, 256)]
    } else {
        [edits.create_slot(4, 4), edits.create_slot(4, 4)]
    };
    let again = edits.create_register(RegClass::B32);
    edits.insert_spill(spill, function.operands(Inst(0))[0].reg().expect("%0"), slots[0]);
    between(&mut edits, slots);
    let store = Inst(6);
    edits.insert_reload(before(&function, 6), again, slots[0]);
    edits.push(Edit::SetRegister { inst: store, operand: 0, reg: again });
    edits.finish();
    check(&function, &edits).is_ok()
}

fn before(function: &Function, inst: u32) -> Position {
    Position { block: function.block_of(Inst(inst)), before: Some(Inst(inst)) }
}

/// In each memory, the checker finds a store on only one path, a store before the definition, and a slot that another
/// value has overwritten. It proves the correct edits.
#[test]
fn wrong_stores_are_found() {
    let (function, _) = branching();
    let behind = before(&function, 1);
    let other = function.operands(Inst(1))[0].reg().expect("%1");
    for is_shared in [true, false] {
        assert!(judge(behind, |_, _| {}, is_shared));
        assert!(!judge(before(&function, 4), |_, _| {}, is_shared), "on one path only");
        assert!(!judge(before(&function, 0), |_, _| {}, is_shared), "ahead of the definition");
        let clobber = |edits: &mut EditList, [slot, _]: [_; 2]| {
            edits.insert_spill(before(&function, 5), other, slot);
        };
        assert!(!judge(behind, clobber, is_shared), "overwritten on one path");
        let elsewhere = |edits: &mut EditList, [_, slot]: [_; 2]| {
            edits.insert_spill(before(&function, 5), other, slot);
        };
        assert!(judge(behind, elsewhere, is_shared));
    }
}

/// A slot that overlaps another thread's part of a slot is refused, whether it overlaps by less than a row or by a row.
#[test]
fn slots_of_other_threads_are_refused() {
    let (function, _) = branching();
    let lies = |offset: u32| {
        let mut edits = EditList::new(&function);
        edits.push(Edit::CreateSharedArray(crate::function::SharedArray { threads: 64, bytes: 512 }));
        edits.create_shared_slot(4, 0);
        edits.create_shared_slot(4, offset);
        edits.apply(&function).is_ok()
    };
    assert!(lies(256));
    for offset in [0, 2, 4, 252, 254, 260, 512] {
        assert!(!lies(offset), "{offset}");
    }
}

/// A predicate takes two bytes, and is reloaded.
#[test]
fn predicates_can_be_stored() {
    let (function, _) = branching();
    let predicate = function.operands(Inst(2))[0].reg().expect("%4");
    let proven = |bytes: u32, is_stored: bool| {
        let mut edits = EditList::new(&function);
        let slot = edits.create_slot(bytes.into(), 1);
        let again = edits.create_register(RegClass::B1);
        if is_stored {
            edits.insert_spill(before(&function, 3), predicate, slot);
        }
        edits.insert_reload(before(&function, 3), again, slot);
        edits.push(Edit::SetRegister { inst: Inst(3), operand: 0, reg: again });
        edits.finish();
        check(&function, &edits).is_ok()
    };
    assert!(proven(2, true) && proven(4, true));
    assert!(!proven(1, true) && !proven(2, false));
}

/// The reads after a definition come first, even if another reading block is laid out before the definition's block.
/// Within the call sequence after the definition, nothing can be reloaded.
#[test]
fn blocks_ahead_may_read_what_is_defined_behind() {
    let body = "bb0: frequency 1.0 depth 0 -> bb2\n  %1 = LD_i32 1 :: read\n\
        bb1: frequency 1.0 depth 0\n  ST_i32 %0, %1 :: write\n  Return :: terminator\n\
        bb2: frequency 1.0 depth 0 -> bb1\n  %0 = LD_i32 0 :: read\n  CALL 0 :: call_sequence\n\
        ST_i32 %0, 0 :: write call_sequence\n  %2 = LD_i32 2 :: read\n  ST_i32 %2, %1 :: write\n";
    let called = function("kernel maxntid 64\n", "B32 B32 B32", body);
    let spilled = keep(&called, 2, SpillTo::LOCAL).expect("local memory").spilled;
    assert!(spilled.iter().any(|spilled| (spilled.reg.0, spilled.reloads) == (0, 1)), "{spilled:?}");
}

/// Returns how often `%0` is loaded, if three blocks read it after a point with three live words.
fn loads(blocks: &str, hoists: bool) -> usize {
    let body = format!(
        "bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n  %2 = LD_i32 2 :: read\n\
         ST_i32 %1, %2 :: write\n{blocks}"
    );
    let kernel = function("kernel maxntid 64\n", "B32 B32 B32 B32 B32 B32 B1", &body);
    let goal = SpillGoal {
        max_values: 1,
        in_loops: KeepInLoops::On,
        candidates: Some(kernel.regs().map(|reg| reg.0 == 0).collect()),
        hoists,
        ..SpillGoal::plain(2, SpillTo::SHARED)
    };
    let spilled = spill_as(&kernel, &goal).expect("a place").spilled;
    spilled.iter().map(|spilled| spilled.reloads).sum()
}

/// A load serves the reads in the blocks that it dominates, as long as the register limit holds.
#[test]
fn one_load_serves_what_it_dominates() {
    let after = |between: &str| {
        format!(
            "bb1: frequency 1.0 depth 0 -> bb2\n  ST_i32 %0, 1 :: write\n\
             bb2: frequency 1.0 depth 0\n{between}  ST_i32 %0, 2 :: write\n  Return :: terminator\n"
        )
    };
    assert_eq!([false, true].map(|hoists| loads(&after(""), hoists)), [2, 1]);
    let full = "  %3 = LD_i32 3 :: read\n  %4 = LD_i32 4 :: read\n  ST_i32 %3, %4 :: write\n";
    assert_eq!(loads(&after(full), true), 2, "no room");
}

/// One load before a branch serves both arms and the code after them, and one load before a loop serves the loop.
#[test]
fn one_load_where_it_is_rarer() {
    let branch = "bb1: frequency 1.0 depth 0 -> bb2 bb3\n  %3 = LD_i32 3 :: read\n  %6 = SETP_i32rr %3, %3\n\
        CBranch %6, bb3 :: terminator\n\
        bb2: frequency 0.5 depth 0 -> bb4\n  ST_i32 %0, 1 :: write\n\
        bb3: frequency 0.5 depth 0 -> bb4\n  ST_i32 %0, 2 :: write\n\
        bb4: frequency 1.0 depth 0\n  ST_i32 %0, 3 :: write\n  Return :: terminator\n";
    assert_eq!([false, true].map(|hoists| loads(branch, hoists)), [3, 1]);
    let cycle = |between: &str| {
        format!(
            "bb1: frequency 1.0 depth 0 -> bb2\n  %5 = LD_i32 3 :: read\n\
             bb2: frequency 10.0 depth 1 -> bb2 bb3\n  ST_i32 %0, 1 :: write\n{between}  %6 = SETP_i32rr %5, %5\n\
             CBranch %6, bb2 :: terminator\n\
             bb3: frequency 1.0 depth 0\n  ST_i32 %5, 3 :: write\n  Return :: terminator\n"
        )
    };
    // The number of loads is the same with and without hoisting. Only their places may differ.
    assert_eq!([false, true].map(|hoists| loads(&cycle(""), hoists)), [1, 1]);
    let full = "  %3 = LD_i32 3 :: read\n  ST_i32 %3, %3 :: write\n";
    assert_eq!([false, true].map(|hoists| loads(&cycle(full), hoists)), [1, 1]);
}

/// Values that are stored and loaded near each other are accessed by one instruction, within the limit of bytes. Each
/// slot of such a row belongs to one value.
#[test]
fn neighbours_move_at_once() {
    let accesses = |class: &str, bytes: u32, to: SpillTo| {
        let bits = &class[1..];
        let loads: String = (0..4).map(|reg| format!("  %{reg} = LD_i{bits} {reg} :: read\n")).collect();
        let stores: String = (0..4).map(|reg| format!("  ST_i{bits} %{reg}, {reg} :: write\n")).collect();
        let body = format!(
            "bb0: frequency 1.0 depth 0 -> bb1\n{loads}  ST_i32 1, 1 :: write\n\
             bb1: frequency 1.0 depth 0 -> bb2\n  %4 = LD_i{bits} 4 :: read\n  %5 = LD_i{bits} 5 :: read\n\
             %6 = LD_i{bits} 6 :: read\n  %7 = LD_i{bits} 7 :: read\n  ST_i{bits} %4, %5 :: write\n\
             ST_i{bits} %6, %7 :: write\n\
             bb2: frequency 1.0 depth 0\n{stores}  Return :: terminator\n"
        );
        let regs = [class; 8].join(" ");
        let kernel = function("kernel maxntid 64\n", &regs, &body);
        let words = 4 * kernel.class(crate::function::VReg(0)).words();
        let goal = SpillGoal { max_values: 4, max_access_bytes: bytes, ..SpillGoal::plain(words, to) };
        let edits = spill_as(&kernel, &goal).expect("a place").edits;
        let numbers = edits.edits().iter().filter_map(|edit| match edit {
            Edit::InsertSpill { .. } | Edit::InsertReload { .. } => Some(1),
            Edit::InsertWideSpill { parts, .. } | Edit::InsertWideReload { parts, .. } => Some(parts.len()),
            _ => None,
        });
        numbers.collect::<Vec<usize>>()
    };
    for to in [SpillTo::SHARED, SpillTo::LOCAL] {
        assert_eq!(accesses("B32", 4, to), [1; 8]);
        assert_eq!(accesses("B32", 8, to), [2; 4]);
        assert_eq!(accesses("B32", 16, to), [4; 2]);
        assert_eq!(accesses("B64", 8, to), [1; 8]);
        assert_eq!(accesses("B64", 16, to), [2; 4]);
    }
}
