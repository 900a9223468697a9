//! Values that are rematerialised, and values that are not.

use super::{MANY, RematCriteria, rematerialise_above};
use crate::check::check;
use crate::config::BitSpill;
use crate::function::Function;
use crate::target::Classification;

const HEAD: &str = "mfv 1\nfunction \"k\"\nopcode MOV_B32_i constant\nopcode ADD32rr\nopcode ADD32ri\nopcode LD_i32\n\
    opcode ST_i32\nregs %0 B32 B32 B32 B32 B32 B32 B32\n";

/// Returns criteria by which points with `least` words are high-pressure points if `needed` words are live somewhere.
/// `widened_alone` is the default of the options.
fn criteria(least: u32, needed: u32, widened_alone: bool) -> RematCriteria {
    let (predicates, bits) = (MANY, BitSpill::Off);
    RematCriteria { instructions: 0, needed, eighths: 0, least, widened_alone, predicates, bits, registers: 255 }
}

/// Rematerialises values of a function at points with at least `least` live words. Returns the number of these values
/// and the function's text.
fn rewritten(body: &str, least: u32) -> (usize, String) {
    computed_again(&format!("{HEAD}{body}end\n"), criteria(least, 0, false))
}

/// Rematerialises values of a function. Returns the number of these values and the function's text.
fn computed_again(text: &str, criteria: RematCriteria) -> (usize, String) {
    let function = Function::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let outcome = rematerialise_above(&function, &Classification::by_name(function.opcodes()), criteria);
    assert!(check(&function, &outcome.edits).is_ok());
    let applied = outcome.edits.apply(&function).expect("the edits fit").function;
    assert_eq!(applied.num_insts() as isize - function.num_insts() as isize, outcome.added);
    (outcome.values, applied.to_string())
}

/// A constant that is live over a high-pressure point moves down to its read. Without a high-pressure point, the
/// constant stays.
#[test]
fn constants_sink() {
    let body = "bb0: frequency 1.0 depth 0\n  %0 = MOV_B32_i 7\n  %1 = LD_i32 0 :: read\n  %2 = LD_i32 1 :: read\n\
        ST_i32 %1, %2 :: write\n  ST_i32 %0, 3 :: write\n";
    let (values, text) = rewritten(body, 3);
    assert_eq!(values, 1, "{text}");
    let place = |part: &str| text.find(part).expect(part);
    assert!(place("MOV_B32_i 7") > place("ST_i32 %1, %2"), "{text}");
    assert_eq!(rewritten(body, 4).0, 0);
}

/// A sum is rematerialised only if its operands are live anyway, with the same values.
#[test]
fn operands_must_be_at_hand() {
    let body = |last: &str| {
        format!(
            "bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  %1 = ADD32ri %0, 8\n  %2 = LD_i32 1 :: read\n\
             %3 = LD_i32 2 :: read\n  ST_i32 %2, %3 :: write\n{last}"
        )
    };
    assert_eq!(rewritten(&body("  ST_i32 %1, %0 :: write\n"), 4).0, 1);
    assert_eq!(rewritten(&body("  ST_i32 %1, 5 :: write\n"), 3).0, 0);
    assert_eq!(rewritten(&body("  %0 = LD_i32 7 :: read\n  ST_i32 %1, %0 :: write\n"), 3).0, 0);
}

/// A constant moves into a loop only if the loop itself has a high-pressure point.
#[test]
fn into_loops_only_where_it_pays() {
    let body = |in_loop: &str, ahead: &str| {
        format!(
            "bb0: frequency 1.0 depth 0 -> bb1\n  %0 = MOV_B32_i 7\n{ahead}\
             bb1: frequency 9.0 depth 1 -> bb1 bb2\n  ST_i32 %0, 1 :: write\n{in_loop}bb2: frequency 1.0 depth 0\n"
        )
    };
    let full = "  %1 = LD_i32 1 :: read\n  %2 = LD_i32 2 :: read\n  ST_i32 %1, %2 :: write\n";
    assert_eq!(rewritten(&body("", full), 3).0, 0);
    let (values, text) = rewritten(&body(full, ""), 3);
    assert_eq!(values, 1, "{text}");
    assert!(text.find("MOV_B32_i 7") > text.find("bb1"), "{text}");
}

/// If one of two values is computed from the other, at most one of them is rematerialised.
#[test]
fn clones_keep_what_they_read() {
    let body = "bb0: frequency 1.0 depth 0\n  %0 = MOV_B32_i 7\n  %1 = ADD32ri %0, 8\n  %2 = LD_i32 1 :: read\n\
        %3 = LD_i32 2 :: read\n  ST_i32 %2, %3 :: write\n  ST_i32 %1, %0 :: write\n";
    assert_eq!(rewritten(body, 4).0, 1);
}

/// A constant that is read after each of several high-pressure points is rematerialised after each of them, but after
/// at most sixteen. All clones of a function together are at most one for sixteen instructions, or sixteen if that is
/// more. Later values are not rematerialised.
#[test]
fn clones_are_bounded() {
    let full = "  %1 = LD_i32 1 :: read\n  %2 = LD_i32 2 :: read\n  ST_i32 %1, %2 :: write\n";
    let reads = |regs: &[u32], points: usize| {
        let constants: String = regs.iter().map(|reg| format!("  %{reg} = MOV_B32_i 7\n")).collect();
        let stores: String = regs.iter().map(|reg| format!("  ST_i32 %{reg}, 1 :: write\n")).collect();
        format!("bb0: frequency 1.0 depth 0\n{constants}{}", format!("{full}{stores}").repeat(points))
    };
    let added = |body: &str| {
        let (values, text) = rewritten(body, 3);
        (values, text.matches("MOV_B32_i 7").count())
    };
    assert_eq!(added(&reads(&[0], 16)), (1, 16));
    assert_eq!(added(&reads(&[0], 17)), (0, 1));
    assert_eq!(added(&reads(&[0, 3], 9)), (1, 10));
    assert_eq!(added(&reads(&[0, 3], 8)), (2, 16));
    let others = "  ST_i32 5, 1 :: write\n".repeat(16 * 18);
    assert_eq!(added(&format!("{}{others}", reads(&[0, 3], 9))), (2, 18));
}

/// Loads, stores and values with two definitions are never rematerialised.
#[test]
fn only_what_is_cheap_and_pure() {
    let body = "bb0: frequency 1.0 depth 0 -> bb1 bb2\n  %0 = LD_i32 0 :: read\n  %1 = MOV_B32_i 1\n\
        bb1: frequency 0.5 depth 0 -> bb2\n  %1 = MOV_B32_i 2\n\
        bb2: frequency 1.0 depth 0\n  %2 = LD_i32 1 :: read\n  %3 = LD_i32 2 :: read\n\
        ST_i32 %2, %3 :: write\n  ST_i32 %1, %0 :: write\n";
    assert_eq!(rewritten(body, 1).0, 0);
}

/// The load of a call's result is not repeated, though it looks like the load of a parameter. An unordered load is not
/// rematerialised either, because another thread may have written the memory.
#[test]
fn results_of_calls_are_not_read_again() {
    let body = |effects: &str| {
        format!(
            "bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0, 0, 101, 3, 32, -1, 0, 0 :: {effects}\n\
             %2 = LD_i32 1 :: read\n  %3 = LD_i32 2 :: read\n  ST_i32 %2, %3 :: write\n  ST_i32 %0, 5 :: write\n"
        )
    };
    for effects in ["read call_sequence param", "read param", "read ordered param"] {
        assert_eq!(rewritten(&body(effects), 1).0, 0, "{effects}");
    }
}

const KERNEL: &str = "kernel\n";

/// Returns the number of rematerialised values, and of registers that live longer for them, for a 64-bit product of %0
/// and `by`. The product is live over a high-pressure point.
fn product(kernel: &str, by: &str, needed: u32) -> (usize, usize) {
    let opcode = if by.starts_with('%') { "MUL_WIDEs32_rr" } else { "MUL_WIDEs32_ri" };
    let text = format!(
        "mfv 1\nfunction \"k\"\n{kernel}opcode {opcode}\nopcode LD_i32\nopcode LD_i64\nopcode ST_i64\nopcode ST_i32\n\
         regs %0 B32 B32 B64 B64 B64 B32\n@0 = \"&p\"\nbb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n\
         %5 = LD_i32 0, 0, 101, 3, 32, -1, @0, 0\n  %2 = {opcode} %0, {by}\n  %3 = LD_i64 2 :: read\n  %4 = LD_i64 3 :: read\n\
         ST_i64 %3, %4 :: write\n  ST_i64 %2, 5 :: write\n  ST_i32 %0, 6 :: write\nend\n"
    );
    let text = if by == "%0" { text } else { text.replace("  ST_i32 %0, 6 :: write\n", "") };
    let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let criteria = criteria(5, needed, true);
    let outcome = rematerialise_above(&function, &Classification::by_name(function.opcodes()), criteria);
    assert!(check(&function, &outcome.edits).is_ok());
    (outcome.values, outcome.extended)
}

/// A value of two words is rematerialised from one register that lives longer for it, or from registers that are live
/// anyway, or also from a parameter, which the hardware reads in place. It is not rematerialised from two registers
/// that would have to live longer. All of this holds only at high pressure.
#[test]
fn wide_values_are_computed_from_narrow_ones() {
    assert_eq!(product(KERNEL, "8", 0), (1, 1), "one word instead of two");
    assert_eq!(product(KERNEL, "%0", 0), (1, 0), "it is live anyway");
    assert_eq!(product(KERNEL, "%5", 0), (1, 1), "a parameter");
    assert_eq!(product("", "%5", 0), (0, 0), "a device function may write its own");
    assert_eq!(product(KERNEL, "%1", 0), (0, 0), "two words instead of two");
    assert_eq!(product(KERNEL, "8", 6), (1, 1));
    assert_eq!(product(KERNEL, "8", 99), (0, 0), "there is room");
}

/// Returns the number of rematerialised values, and the code, for the address `%6 + 4 * (33 * %0 + %1)`. A loop reads
/// the address once before a high-pressure point. `more` reads registers before the loop, and `in_loop` reads them in
/// the loop.
fn address(more: &str, in_loop: &str) -> (usize, String) {
    let text = format!(
        "mfv 1\nfunction \"k\"\nkernel\nopcode LD_i32\nopcode LD_i64\nopcode ST_i64\nopcode ST_i32\nopcode MAD_LO_S32rir\n\
         opcode MUL_WIDEs32_ri\nopcode ADD64rr\nregs %0 B32 B32 B32 B64 B64 B64 B64 B64\n\
         bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n  %6 = LD_i64 2 :: read\n  \
         %2 = MAD_LO_S32rir %0, 33, %1\n  %3 = MUL_WIDEs32_ri %2, 4\n  %7 = ADD64rr %6, %3\n{more}\
         bb1: frequency 9.0 depth 1 -> bb1 bb2\n  ST_i64 %7, 5 :: write\n  %4 = LD_i64 3 :: read\n  %5 = LD_i64 4 :: read\n  \
         ST_i64 %4, %5 :: write\n{in_loop}bb2: frequency 1.0 depth 0\nend\n"
    );
    computed_again(&text, criteria(6, 0, true))
}

/// The address of an element is rematerialised in the loop that reads it, with the product and the values that only the
/// product reads. No part of it stays before the loop. It is not rematerialised if these values have other readers, if
/// as many registers would live longer for it, or if the loop reads it often.
#[test]
fn addresses_are_computed_with_their_products() {
    let at_hand = "  ST_i32 %0, %1 :: write\n  ST_i64 %6, 6 :: write\n";
    let (values, text) = address("", at_hand);
    assert_eq!(values, 1, "{text}");
    for opcode in ["= MAD_LO", "= MUL_WIDE", "= ADD64"] {
        assert!(text.find(opcode) > text.find("bb1:"), "{text}");
        assert_eq!(text.matches(opcode).count(), 1, "{text}");
    }
    let values = |more, in_loop: &str| address(more, in_loop).0;
    assert_eq!(values("  ST_i64 %3, 7 :: write\n", at_hand), 0, "the product is stored");
    assert_eq!(values("  ST_i64 %7, 7 :: write\n", at_hand), 0, "it is read ahead of the loop");
    assert_eq!(
        values("", &format!("{at_hand}  ST_i64 %7, 7 :: write\n  ST_i64 %7, 8 :: write\n")),
        0,
        "it is read often"
    );
    assert_eq!(values("", "  ST_i32 %0, 6 :: write\n  ST_i64 %6, 6 :: write\n"), 1, "the column is kept for it");
    assert_eq!(values("", "  ST_i64 %6, 6 :: write\n"), 0, "two words instead of two");
    assert_eq!(values("", "  ST_i32 %0, %1 :: write\n"), 0, "the base is gone");
}

/// Rematerialises in a kernel that compares a thread's number with `count` numbers. Each comparison decides in two
/// separate blocks whether a store executes. Returns the number of rematerialised comparisons, and the number of
/// comparisons in the result.
fn comparisons(count: u32, last: &str, of_thread: &str) -> (usize, usize) {
    let sum = |number: u32| if of_thread.is_empty() { "%0".to_owned() } else { format!("%{}", 100 + number) };
    let mut text = format!(
        "mfv 1\nfunction \"k\"\nkernel\nopcode LD_i32\nopcode ADD32ri\nopcode SETP_i32ri\nopcode CBranch\nopcode ST_i32\n\
         regs %0 B32{}{}\nbb0: frequency 1.0 depth 0 -> bb1\n  %0 = LD_i32 0 :: read\n",
        " B1".repeat(99),
        " B32".repeat(99),
    );
    for number in 1..=count {
        if !of_thread.is_empty() {
            text += &format!("  {} = {of_thread} %0, {number}\n", sum(number));
        }
        text += &format!("  %{number} = SETP_i32ri {}, {number}, 3\n", sum(number));
    }
    for block in 1..=2 * count {
        let next = if block == 2 * count { String::new() } else { format!(" -> bb{}", block + 1) };
        text += &format!("bb{block}: frequency 1.0 depth 0{next}\n  ST_i32 %{}, 1 :: write\n", (block - 1) % count + 1);
    }
    text += &format!("{last}end\n");
    let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let criteria = criteria(99, 99, true);
    let outcome = rematerialise_above(&function, &Classification::by_name(function.opcodes()), criteria);
    assert!(check(&function, &outcome.edits).is_ok());
    let applied = outcome.edits.apply(&function).expect("the edits fit").function;
    (outcome.values, applied.to_string().matches("= SETP").count())
}

/// If there are more predicates than a thread has, comparisons are repeated in each block, so that their predicates
/// need no bits. The comparison's operands must be available, or ptxas must be able to repeat them. A load is neither
/// available nor repeatable.
#[test]
fn comparisons_are_made_again() {
    let is_live = "  ST_i32 %0, 9 :: write\n";
    assert_eq!(comparisons(13, is_live, ""), (0, 13), "too few to matter");
    let (values, count) = comparisons(20, is_live, "");
    assert_eq!((values, count), (8, 28), "sixteen clones");
    assert_eq!(comparisons(20, is_live, "ADD32ri").0, 10, "one clone for four instructions");
    assert_eq!(comparisons(20, is_live, "LD_i32").0, 0);
    assert_eq!(comparisons(20, "", "").0, 0);
}

/// Returns how many of `count` predicates become bits. The kernel's branch defines them in both arms, and separate
/// blocks read them. With `alone`, each predicate is set in a block of its own in the second arm.
fn bits_of(count: u32, [first, second]: [&str; 2], alone: bool, wanted_bits: BitSpill) -> usize {
    let mut text = format!(
        "mfv 1\nfunction \"k\"\nkernel\nopcode LD_i32\nopcode SETP_i32ri\nopcode MOV_B1_i constant\nopcode CBranch\n\
         opcode ST_i32\nregs %0 B32{}\nbb0: frequency 1.0 depth 0 -> bb1 bb2\n  %0 = LD_i32 0 :: read\n  \
         %99 = SETP_i32ri %0, 0, 3\n  CBranch %99, bb2 :: terminator\n",
        " B1".repeat(99),
    );
    let mut next = 3;
    let end = 3 + if alone { count - 1 } else { 0 };
    text += &format!("bb1: frequency 0.5 depth 0 -> bb{end}\n");
    (1..=count).for_each(|number| text += &format!("  %{number} = {first}\n"));
    text += &format!("bb2: frequency 0.5 depth 0 -> bb{}\n", if alone { 3 } else { end });
    for number in 1..=count {
        text += &format!("  %{number} = {second}\n");
        if alone && number < count {
            text += &format!("bb{next}: frequency 0.5 depth 0 -> bb{}\n", next + 1);
            next += 1;
        }
    }
    for number in 1..=count {
        let block = end + number - 1;
        let to = if number == count { String::new() } else { format!(" -> bb{}", block + 1) };
        text += &format!("bb{block}: frequency 1.0 depth 0{to}\n  ST_i32 %{number}, 1 :: write\n");
    }
    text += "end\n";
    let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let criteria = RematCriteria { bits: wanted_bits, ..criteria(99, 99, true) };
    let outcome = rematerialise_above(&function, &Classification::by_name(function.opcodes()), criteria);
    assert!(check(&function, &outcome.edits).is_ok());
    outcome.bits
}

/// By default, predicates become bits if ptxas then takes fewer instructions. That is so if several are set to
/// constants at once, which takes one instruction. If both arms compare, or if each constant is set alone, bits take
/// more instructions than ptxas's own way, and only the option selects them.
#[test]
fn bits_by_default() {
    let [compares, clears] = ["SETP_i32ri %0, 7, 3", "MOV_B1_i 0"];
    for (arms, alone, pays) in [
        ([compares, clears], false, true),
        ([clears, clears], false, true),
        ([compares, compares], false, false),
        ([compares, clears], true, false),
    ] {
        let of = |count, bits| bits_of(count, arms, alone, bits);
        let asked = of(16, BitSpill::On);
        assert!(asked >= 9, "{asked} bits: {arms:?} {alone}");
        assert_eq!(of(16, BitSpill::Auto), if pays { asked } else { 0 }, "{arms:?} {alone}");
        assert_eq!([of(13, BitSpill::Auto), of(16, BitSpill::Off)], [0, 0], "{arms:?} {alone}");
    }
}
