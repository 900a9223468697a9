//! Which variables are promoted, and where their values are live.

use std::fmt::Write as _;

use arbitrary::{Result, Unstructured};

use super::Promotion;
use super::stack_accesses::{Access, Address};
use crate::analysis::{Cfg, Dominators, LiveRanges, Loops, Occurrences, Point, UnrolledLoops};
use crate::forecast::footprint::RegisterFootprint;
use crate::function::{Function, Inst, Slot};
use crate::fuzzing::{explore, reached as explored};
use crate::target::Classification;

/// %0 is the address of the first variable, %1 the address of one of its values, %2 an index, %3 and %4 data, %8 to %23
/// stored values.
fn function(slots: &[u64], blocks: &str) -> Function {
    let mut text = String::from(
        "mfv 1\nfunction \"f\"\nkernel\nopcode ADD64ri\nopcode ADD64rr\nopcode CBranch\nopcode COPY copy\n\
         opcode INT_PTX_SREG_TID_x\nopcode LDV_i32_v4\nopcode LD_i16\nopcode LD_i32\nopcode LD_i64\nopcode LEA_ADDRi64\n\
         opcode SELP_b64rr\nopcode STV_i32_v4\nopcode ST_i16\nopcode ST_i32\nopcode ST_i64\nopcode cvta_to_local_64\n\
         regs %0 B64 B64 B64 B32 B32 B64 B1 B16\n\
         regs %8 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32\n",
    );
    for (number, size) in slots.iter().enumerate() {
        let _ = writeln!(text, "slot{number} size {size} align 4");
    }
    text += blocks;
    text += "end\n";
    Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn promotion(function: &Function) -> Promotion {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let loops = Loops::new(&cfg, &dominators);
    let occurrences = Occurrences::new(function, &|_| true);
    let registers: Vec<_> = function.regs().collect();
    let ranges = LiveRanges::new(function, &cfg, &dominators, &occurrences, &registers);
    let mut promotion = Promotion::default();
    let classification = Classification::by_name(function.opcodes());
    let unrolled = UnrolledLoops::new((function, &classification), &loops, &occurrences);
    promotion.compute(function, (&cfg, &loops, &unrolled), (&occurrences, &ranges));
    promotion
}

/// Whether the variables are promoted in a block with `body` after the computation of the address %1.
fn is_promoted(slots: &[u64], body: &str) -> bool {
    let head = match slots {
        [] => "",
        _ => "  %0 = LEA_ADDRi64 slot0, 0\n  %5 = cvta_to_local_64 %0\n  %1 = ADD64rr %5, %2\n",
    };
    promotion(&function(slots, &format!("bb0: frequency 1.0 depth 0\n{head}{body}"))).is_promoted()
}

/// Stores of `words` words of the stack.
fn stores(words: u64) -> String {
    (0..words).map(|word| format!("  ST_i32 %3, 0, 0, 5, 32, %5, {} :: write local\n", 4 * word)).collect()
}

const LOAD: &str = "  %4 = LD_i32 0, 0, 5, 3, 32, -1, %1, 0 :: read local\n";
const KNOWN_LOAD: &str = "  %4 = LD_i32 0, 0, 5, 3, 32, -1, %5, 4 :: read local\n";

/// Decisions observed in ptxas 13.0.88. From 16 words at a computed place, up to 6 loads are promoted; from 8 words, up
/// to 14 loads; from 5 words, any number. Up to 93 words are promoted.
#[test]
fn what_is_picked_pays() {
    for (words, most) in [(5, 99), (8, 14), (12, 7), (16, 6), (24, 5), (32, 4), (64, 4)] {
        let promoted = |loads: usize| is_promoted(&[4 * words], &(stores(words) + &LOAD.repeat(loads)));
        assert!(promoted(most), "{words} words, {most} loads");
        assert!(most == 99 || !promoted(most + 1), "{words} words, {most} loads and one");
    }
    assert!(is_promoted(&[4 * 93], &(stores(93) + LOAD)));
    assert!(!is_promoted(&[4 * 94], &(stores(94) + LOAD)));
    assert!(!is_promoted(&[4 * 64], &(stores(64) + &LOAD.replace("%1, 0", "%1, 120"))), "94 with the offset");
    // Vectors are selected as one, and stored as one.
    let vector = "  %8, %9, %10, %11 = LDV_i32_v4 0, 0, 5, 3, 32, -1, %1, 0 :: read local\n";
    assert!(is_promoted(&[128], &(stores(32) + &vector.repeat(50))));
}

/// All accesses have one width of 16 or 32 bits, and the address has no other use; otherwise all variables stay in
/// memory.
#[test]
fn what_is_eligible() {
    let all = stores(4) + KNOWN_LOAD;
    assert!(is_promoted(&[16], &all));
    assert!(is_promoted(&[16], &(all.clone() + "  %1 = SELP_b64rr %0, %5, %6\n")), "an address among addresses");
    for (what, more) in [
        ("halves beside words", "  %7 = LD_i16 0, 0, 5, 3, 16, -1, %5, 0 :: read local\n"),
        ("double words", "  %2 = LD_i64 0, 0, 5, 3, 64, -1, %5, 0 :: read local\n"),
        ("by a generic address", "  %4 = LD_i32 0, 0, 0, 3, 32, -1, %0, 0 :: read\n"),
        ("given away", "  ST_i64 %0, 0, 0, 1, 64, %2, 0 :: write global\n"),
        ("stored into itself", "  ST_i64 %5, 0, 0, 5, 64, %5, 8 :: write local\n"),
        ("computed with", "  %2 = ADD64rr %5, %0\n"),
        ("joined with another", "  %1 = COPY %2\n"),
        ("volatile", "  %4 = LD_i32 0, 0, 5, 3, 32, -1, %5, 0 :: read ordered local\n"),
        ("outside", "  %4 = LD_i32 0, 0, 5, 3, 32, -1, %5, 16 :: read local\n"),
        ("between two", "  %4 = LD_i32 0, 0, 5, 3, 32, -1, %5, 2 :: read local\n"),
    ] {
        assert!(!is_promoted(&[16], &(all.clone() + more)), "{what}");
    }
    let halves =
        "  ST_i16 %7, 0, 0, 5, 16, %5, 0 :: write local\n  %7 = LD_i16 0, 0, 5, 3, 16, -1, %5, 0 :: read local\n";
    assert!(is_promoted(&[16], halves));
    assert!(!is_promoted(&[16], &halves.replace("16, ", "8, ")), "bytes");
    assert!(!is_promoted(&[], ""), "no stack");
    assert!(!is_promoted(&[16], ""), "nobody loads or stores");
}

/// Accesses in a loop count sixteenfold. The place of an address that steps through a loop is unknown.
#[test]
fn loops_count_more() {
    let looped = |words: u64, step: &str| {
        let blocks = format!(
            "bb0: frequency 1.0 depth 0 -> bb1\n  %5 = LEA_ADDRi64 slot0, 0\n{}  %1 = COPY %5\n\
             bb1: frequency 9.0 depth 1 -> bb1 bb2\n{LOAD}  {step}\n  CBranch %6, bb1 :: terminator\n\
             bb2: frequency 1.0 depth 0\n",
            stores(words)
        );
        promotion(&function(&[4 * words], &blocks)).is_promoted()
    };
    assert!(looped(5, "%1 = ADD64ri %1, 4"));
    assert!(looped(7, "%1 = ADD64ri %1, 4"));
    assert!(!looped(9, "%1 = ADD64ri %1, 4"));
    assert!(looped(9, "%1 = COPY %5"), "nothing is computed");
    assert!(!looped(5, "%1 = COPY %2"), "joined with another");
}

/// Words are live from their store to the last load. They are not live before, or while the stored register is live.
#[test]
fn words_are_held_between_accesses() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1\n  %5 = LEA_ADDRi64 slot0, 0\n  %1 = ADD64rr %5, %2\n  \
                  ST_i32 kill %8, 0, 0, 5, 32, %5, 0 :: write local\n  ST_i32 %9, 0, 0, 5, 32, %5, 4 :: write local\n\
                  bb1: frequency 1.0 depth 0\n  %10 = COPY %9\n  %4 = LD_i32 0, 0, 5, 3, 32, -1, %1, 0 :: read local\n  \
                  ST_i32 %10, 0, 0, 1, 32, %2, 0 :: write global\n";
    let function = function(&[8], blocks);
    let promotion = promotion(&function);
    let words: Vec<_> = promotion.words().map(|((start, end), words)| (start.0, end.0, words)).collect();
    // %8 from after its store, and %9's word from after the copy, the last use of %9, up to the load.
    assert_eq!(words, [(5, 7, 1), (7, 8, 1), (8, 9, 1), (9, 11, 2)], "{function}");
    assert_eq!(promotion.promoted_at(Point::early(Inst(5))).collect::<Vec<_>>(), [(Slot(0), 2)]);
    assert_eq!(promotion.promoted_at(Point::late(Inst(5))).count(), 0);
    assert_eq!(promotion.stores_to(Slot(0)).collect::<Vec<_>>(), [Inst(2), Inst(3)]);
    assert_eq!(promotion.addresses().count(), 2);
}

/// A function with an escaping address leaves no state for the next function, which has fewer registers. A function
/// without promoted variables reports that no value is live.
#[test]
fn nothing_is_left_of_the_function_before() {
    let mut footprint = RegisterFootprint::default();
    let given = "bb0: frequency 1.0 depth 0\n  %0 = LEA_ADDRi64 slot0, 0\n  %5 = COPY %0\n  \
                 ST_i64 %5, 0, 0, 1, 64, %2, 0 :: write global\n";
    footprint.recompute_by_name(&function(&[16], given));
    assert_eq!(footprint.promotion.promoted_at(Point(0)).count(), 0);
    let small = "mfv 1\nfunction \"g\"\nopcode LEA_ADDRi64\nregs %0 B64\nslot0 size 4 align 4\n\
                 bb0: frequency 1.0 depth 0\n  %0 = LEA_ADDRi64 slot0, 0\nend\n";
    footprint.recompute_by_name(&Function::parse(small).expect("a view"));
    assert_eq!(footprint.promotion.promoted_at(Point(0)).count(), 0);
}

/// A random function that loads and stores the words of two variables, at known and unknown places.
fn random(u: &mut Unstructured<'_>) -> Result<Function> {
    let count = u.int_in_range(1..=5)?;
    let mut blocks = String::new();
    for block in 0..count {
        let succs: Vec<usize> = match u.int_in_range(0..=2)? {
            0 if block + 1 < count => vec![block + 1],
            1 => vec![u.int_in_range(0..=count - 1)?, (block + 1).min(count - 1)],
            _ => vec![],
        };
        let named: Vec<String> = succs.iter().filter(|&&succ| succ != 0).map(|succ| format!("bb{succ}")).collect();
        let arrow = if named.is_empty() { String::new() } else { format!(" -> {}", named.join(" ")) };
        let _ = writeln!(blocks, "bb{block}: frequency 1.0 depth 0{arrow}");
        if block == 0 {
            blocks += "  %5 = LEA_ADDRi64 slot0, 0\n  %1 = ADD64rr %5, %2\n";
        }
        for _ in 0..u.int_in_range(0..=4)? {
            let (reg, offset) = (8 + u.int_in_range(0..=15)?, 4 * u.int_in_range(0..=3)?);
            let address = if u.ratio(1, 4)? { "%1, 0".to_owned() } else { format!("%5, {offset}") };
            let _ = match u.int_in_range(0..=2)? {
                0 => writeln!(blocks, "  %{reg} = LD_i32 0, 0, 5, 3, 32, -1, {address} :: read local"),
                1 => writeln!(blocks, "  ST_i32 %{reg}, 0, 0, 5, 32, {address} :: write local"),
                _ => writeln!(blocks, "  %{reg} = INT_PTX_SREG_TID_x"),
            };
        }
        if named.len() == 2 {
            let _ = writeln!(blocks, "  CBranch %6, {} :: terminator", named[0]);
        }
    }
    Ok(function(&[8, 8], &blocks))
}

/// Whether a path leads from a point to the instructions that `ends` selects without passing one that `stops` selects.
fn reaches(function: &Function, from: Point, ends: &dyn Fn(Inst) -> bool, stops: &dyn Fn(Inst) -> bool) -> bool {
    let mut seen = vec![false; function.num_insts() + 1];
    let block = function.block_of(from.inst());
    let mut starts = vec![(from.inst().0 + (from.0 & 1), block)];
    while let Some((start, block)) = starts.pop() {
        let mut goes_on = true;
        for inst in (start..function.block_range(block).end.0).map(Inst) {
            if std::mem::replace(&mut seen[inst.0 as usize], true) {
                goes_on = false;
                break;
            }
            if ends(inst) {
                return true;
            }
            if stops(inst) {
                goes_on = false;
                break;
            }
        }
        if goes_on {
            starts.extend(function.succs(block).iter().map(|&succ| (function.block_range(succ).start.0, succ)));
        }
    }
    false
}

/// A value is live only if a store may precede, and a load may follow before the next store. A value that meets this
/// condition and is not live is in another live register.
#[test]
fn held_where_somebody_needs_it() {
    let check = |u: &mut Unstructured<'_>| {
        let function = random(u)?;
        let cfg = Cfg::new(&function);
        let promotion = promotion(&function);
        if !promotion.is_promoted() || function.blocks().any(|block| function.block_insts(block).len() == 0) {
            return Ok(());
        }
        let find = |inst: Inst| promotion.stack.accesses.iter().find(|access| access.inst == inst);
        let touches = |access: &Access, value: u32| promotion.layout.values_of(access) >> value & 1 == 1;
        for block in function.blocks().filter(|&block| cfg.rpo_number(block).is_some()) {
            for point in (Point::block_start(&function, block).0..Point::block_end(&function, block).0).map(Point) {
                for value in 0..4 {
                    let loads = |inst| find(inst).is_some_and(|access| !access.is_store && touches(access, value));
                    let replaces = |inst| {
                        let is_known = |access: &&Access| matches!(access.address, Address::At(_));
                        find(inst).filter(is_known).is_some_and(|access| access.is_store && touches(access, value))
                    };
                    let is_read = reaches(&function, point, &loads, &replaces);
                    let stores =
                        |inst: Inst| find(inst).is_some_and(|access| access.is_store && touches(access, value));
                    let mut written = function.insts().filter(|&inst| stores(inst) && reached(&cfg, &function, inst));
                    let at_point = |inst: Inst| inst == point.inst();
                    let is_written = written.any(|inst| {
                        let behind = Point::late(inst);
                        behind <= point && function.block_of(inst) == block
                            || reaches(&function, behind, &at_point, &|_| false)
                    });
                    let is_held = promotion.promoted.at(point) >> value & 1 == 1;
                    explored("held", is_held);
                    explored("not held", is_read && is_written && !is_held);
                    assert!(!is_held || (is_read && is_written), "value {value} at {point:?}\n{function}");
                    if is_read && is_written && !is_held {
                        assert!(has_twin(&function, point), "value {value} at {point:?}\n{function}");
                    }
                }
            }
        }
        Ok(())
    };
    explore(check, 1_000, &[("held", 5)]);
}

fn reached(cfg: &Cfg, function: &Function, inst: Inst) -> bool {
    cfg.rpo_number(function.block_of(inst)).is_some()
}

/// Whether any register of data is live at a point.
fn has_twin(function: &Function, point: Point) -> bool {
    let footprint = RegisterFootprint::by_name(function);
    function.regs().filter(|reg| (8..24).contains(&reg.0)).any(|reg| footprint.ranges.value_at(reg, point).is_some())
}
