//! Hazards of hand-written programs.

use std::collections::BTreeSet;

use super::latencies::Latencies;
use super::{Finding, Rule, check};
use crate::sass::effects::{Effects, tests};
use crate::sass::instruction::Function;

/// The latencies of the hand-written programs.
const TABLE: &str = "sm_90 IADD3 R IADD3 4 9 9\nsm_90 ISETP P @BRA 13 9 9\nsm_90 IADD3 R STG 5 9 9";

/// Builds a function from lines `B0 R1 W2 S4 LDG.E R2, [R4.64]`: the scoreboards that are waited for, the scoreboards
/// that are set for sources and for results, and the stall cycles. Each is optional. Labels are allowed.
fn code(lines: &[&str]) -> Function {
    let is_control = |word: &&str| {
        let (name, rest) = word.split_at(1);
        matches!(name, "B" | "R" | "W" | "S") && !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
    };
    let split = |line: &str| {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let count = words.iter().take_while(|word| is_control(&word.as_str())).count();
        (words[..count].to_vec(), words[count..].join(" "))
    };
    let texts: Vec<String> = lines.iter().map(|line| split(line).1).collect();
    let mut function = tests::function(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let controls = lines.iter().filter(|line| !line.ends_with(':')).map(|line| split(line).0);
    for (instruction, words) in function.instructions.iter_mut().zip(controls) {
        let control = &mut instruction.control;
        *control = crate::sass::control::Control { stall: 1, ..Default::default() };
        for word in words {
            let number: u8 = word[1..].parse().expect("a number");
            match &word[..1] {
                "B" => control.waits |= 1 << number,
                "R" => control.reads = Some(number),
                "W" => control.writes = Some(number),
                _ => control.stall = number,
            }
        }
    }
    function
}

fn findings(function: &Function) -> Vec<Finding> {
    check(function, 90, &Latencies::read(TABLE).expect("a table"))
}

/// Prints the findings as `rule register from -> at`, by the numbers of the instructions.
fn shown(lines: &[&str]) -> Vec<String> {
    let show = |finding: &Finding| {
        let Finding { address, from, place, rule } = finding;
        let rule = match rule {
            Rule::ReadTooEarly => "read".to_owned(),
            Rule::OverwrittenTooEarly => "overwritten".to_owned(),
            Rule::SourceOverwritten => "source".to_owned(),
            Rule::TooFewCycles { cycles, needed } => format!("{cycles} of {needed}"),
        };
        format!("{rule} {place} {} -> {}", from / 16, address / 16)
    };
    findings(&code(lines)).iter().map(show).collect()
}

#[track_caller]
fn expect(lines: &[&str], expected: &[&str]) {
    assert_eq!(shown(lines), expected, "{lines:#?}");
}

/// A loaded result may be read or overwritten after a wait. The wait may be in the reader itself or in another
/// instruction.
#[test]
fn results_are_waited_for() {
    let load = "W2 LDG.E R2, desc[UR4][R4.64]";
    expect(&[load, "B2 IADD3 R3, R2, R2, RZ", "EXIT"], &[]);
    expect(&[load, "B2 NOP", "IADD3 R3, R2, R2, RZ", "EXIT"], &[]);
    expect(&[load, "B1 IADD3 R3, R2, R2, RZ", "EXIT"], &["read R2 0 -> 1"]);
    expect(&[load, "MOV R2, RZ", "EXIT"], &["overwritten R2 0 -> 1"]);
    expect(&[load, "IADD3 R3, R6, R6, RZ", "EXIT"], &[]);
    expect(&["W2 LDG.E.64 R2, desc[UR4][R4.64]", "STG.E desc[UR4][R6.64], R3", "EXIT"], &["read R3 0 -> 1"]);
    expect(&["LDG.E R2, desc[UR4][R4.64]", "B0 B1 B2 B3 B4 B5 IADD3 R3, R2, R2, RZ", "EXIT"], &["read R2 0 -> 1"]);
}

/// The predicate of an atomic operation without a value arrives with the scoreboard of its sources.
#[test]
fn predicates_of_atomics() {
    let atomic = "R1 ATOM.E.ADD.F32.FTZ.RN.STRONG.SM P0, RZ, desc[UR4][R4.64], R2";
    expect(&[atomic, "B1 @P0 BRA `(L)", "L:", "EXIT"], &[]);
    expect(&[atomic, "B2 @P0 BRA `(L)", "L:", "EXIT"], &["read P0 0 -> 1"]);
}

/// A scoreboard that several instructions set is clear when all are finished.
#[test]
fn scoreboards_are_counters() {
    let loads = ["W0 LDG.E R2, desc[UR4][R4.64]", "W0 LDG.E R3, desc[UR4][R4.64]"];
    expect(&[loads[0], loads[1], "B0 IADD3 R3, R2, R3, RZ", "EXIT"], &[]);
    expect(&[loads[0], loads[1], "S4 DEPBAR.LE SB0, 0x1", "MOV R6, R2", "EXIT"], &[]);
    expect(&[loads[0], loads[1], "S4 DEPBAR.LE SB0, 0x1", "MOV R6, R3", "EXIT"], &["read R3 1 -> 3"]);
}

/// An in-order unit needs only one scoreboard for all its instructions. Loads from global memory are out of order.
#[test]
fn units_that_keep_order() {
    expect(&["LDS R2, [R8]", "W0 LDS R3, [R8]", "B0 IADD3 R3, R2, R3, RZ", "EXIT"], &[]);
    expect(&["MUFU.EX2 R2, R8", "W0 LDS R3, [R8]", "B0 IADD3 R3, R2, R3, RZ", "EXIT"], &["read R2 0 -> 2"]);
    let lines = ["LDG.E R2, desc[UR4][R4.64]", "W0 LDG.E R3, desc[UR4][R4.64]", "B0 MOV R6, R2", "EXIT"];
    expect(&lines, &["read R2 0 -> 2"]);
}

/// A source of a store may be overwritten after a wait for its scoreboard, or for the scoreboard of a later access.
#[test]
fn sources_are_kept() {
    let store = "STG.E desc[UR4][R4.64], R2";
    expect(&[store, "MOV R2, RZ", "EXIT"], &["source R2 0 -> 1"]);
    expect(&[&format!("R1 {store}"), "B1 MOV R2, RZ", "EXIT"], &[]);
    expect(&[store, "R1 STG.E desc[UR4][R4.64], R3", "B1 MOV R2, RZ", "EXIT"], &[]);
    expect(&[store, "W1 LDS R3, [R8]", "B1 MOV R2, RZ", "EXIT"], &[]);
    // The access that overwrites the source is later in the same queue.
    expect(&[store, "W1 LDG.E R2, desc[UR4][R6.64]", "EXIT"], &[]);
    // Uniform registers are read at issue.
    expect(&[store, "UMOV UR4, URZ", "EXIT"], &[]);
}

/// Cycles are counted along the shortest path.
#[test]
fn cycles_pass() {
    expect(&["S4 IADD3 R2, R3, R3, RZ", "IADD3 R4, R2, R3, RZ", "EXIT"], &[]);
    expect(&["S3 IADD3 R2, R3, R3, RZ", "IADD3 R4, R2, R3, RZ", "EXIT"], &["3 of 4 R2 0 -> 1"]);
    expect(&["S2 IADD3 R2, R3, R3, RZ", "S2 NOP", "IADD3 R4, R2, R3, RZ", "EXIT"], &[]);
    // The pair is unknown.
    expect(&["S1 IADD3 R2, R3, R3, RZ", "XADD R4, R2", "EXIT"], &[]);
    expect(&["S12 ISETP.NE.AND P0, PT, R3, RZ, PT", "@P0 BRA `(L)", "NOP", "L:", "EXIT"], &["12 of 13 P0 0 -> 1"]);
    let around = ["IADD3 R2, R3, R3, RZ", "S1 @P1 BRA `(L)", "S9 NOP", "L:", "IADD3 R4, R2, R3, RZ", "EXIT"];
    expect(&around, &["2 of 4 R2 0 -> 3"]);
}

/// Loops carry pending work to their header, and joins keep the pending work of either path.
#[test]
fn paths_are_followed() {
    let lines =
        |wait: &'static str| ["L:", "MOV R6, RZ", wait, "W3 LDG.E R2, desc[UR4][R4.64]", "@P0 BRA `(L)", "EXIT"];
    expect(&lines("IADD3 R3, R2, R2, RZ"), &["read R2 2 -> 1", "overwritten R2 2 -> 2"]);
    expect(&lines("B3 IADD3 R3, R2, R2, RZ"), &[]);
    let join = |wait| {
        let jump = "@P0 BRA `(M)";
        ["W3 LDG.E R2, desc[UR4][R4.64]", jump, wait, "M:", "MOV R3, R2", "EXIT"]
    };
    expect(&join("B3 NOP"), &["read R2 0 -> 3"]);
    // Each path sets another scoreboard, and the reader waits for both scoreboards.
    let both = [
        "@P0 BRA `(M)",
        "W1 LDG.E R2, desc[UR4][R4.64]",
        "BRA `(N)",
        "M:",
        "W2 LDG.E R2, desc[UR4][R6.64]",
        "N:",
        "B1 B2 MOV R3, R2",
        "EXIT",
    ];
    expect(&both, &[]);
}

/// Instructions under opposite conditions do not conflict until the predicate changes.
#[test]
fn opposite_conditions() {
    let lines = |between| ["W3 @P0 LDG.E R2, desc[UR4][R4.64]", between, "@!P0 MOV R2, RZ", "B3 MOV R3, R2", "EXIT"];
    expect(&lines("NOP"), &[]);
    expect(&lines("PLOP3.LUT P0, PT, PT, PT, PT, 0x8, 0x0"), &["overwritten R2 0 -> 2"]);
    // After a branch, its condition is known.
    expect(&["W3 @P0 LDG.E R2, desc[UR4][R4.64]", "@P0 EXIT", "MOV R2, RZ", "EXIT"], &[]);
    expect(&["W3 @P0 LDG.E R2, desc[UR4][R4.64]", "@!P0 EXIT", "MOV R2, RZ", "EXIT"], &["overwritten R2 0 -> 2"]);
}

/// A call leads into the callee and back to the instruction after it, not after other calls.
#[test]
fn calls_return_to_their_callers() {
    let lines = |wait| {
        [
            "W1 LDG.E R2, desc[UR4][R4.64]",
            "CALL.REL.NOINC `(F)",
            "B1 MOV R3, R2",
            "CALL.REL.NOINC `(F)",
            "MOV R3, R2",
            "EXIT",
            "F:",
            wait,
            "RET.REL.NODEC R8 `(F)",
        ]
    };
    expect(&lines("NOP"), &[]);
    expect(&lines("MOV R2, RZ"), &["overwritten R2 0 -> 6"]);
    let inner =
        ["CALL.REL.NOINC `(F)", "MOV R3, R2", "EXIT", "F:", "W1 LDG.E R2, desc[UR4][R4.64]", "RET.REL.NODEC R8 `(F)"];
    expect(&inner, &["read R2 3 -> 1"]);
}

/// Straight-line code in which each result is waited for has no findings. If any one wait or scoreboard is removed,
/// there is a finding.
#[test]
fn every_wait_is_needed() {
    arbtest::arbtest(|u| {
        let mut lines = Vec::new();
        for number in 0..u.int_in_range(1..=6)? {
            // Each load has a scoreboard. Each sum waits for the loads of which it is the first reader.
            lines.push(format!("W{number} LDG.E R{}, desc[UR4][R40.64]", 10 + number));
        }
        let count = lines.len();
        let mut order: Vec<usize> = (0..count).collect();
        for at in 1..count {
            order.swap(at, u.choose_index(at + 1)?);
        }
        for &number in &order {
            lines.push(format!("B{number} S4 IADD3 R{}, R{}, RZ, RZ", 20 + number, 10 + number));
        }
        lines.push("EXIT".to_owned());
        let function = code(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(findings(&function), []);
        let at = u.choose_index(2 * count)?;
        let mut mutant = function.clone();
        let control = &mut mutant.instructions[at].control;
        (control.waits, control.writes) = (0, None);
        let found: BTreeSet<u32> = findings(&mutant).iter().map(|finding| finding.address).collect();
        let load = if at < count { at } else { order[at - count] };
        let reader = count + order.iter().position(|&number| number == load).expect("it is read");
        assert_eq!(found, BTreeSet::from([reader as u32 * 16]));
        Ok(())
    });
}

/// The check ends without a panic for random control codes.
#[test]
fn any_control_codes() {
    let lines = [
        "L:",
        "LDG.E R2, desc[UR4][R4.64]",
        "@P0 LDS R4, [R2]",
        "ISETP.NE.AND P0, PT, R4, RZ, PT",
        "DEPBAR.LE SB1, 0x1",
        "@P0 BRA `(L)",
        "CALL.REL.NOINC `(L)",
        "@!P0 MUFU.RCP R2, R4",
        "RET.REL.NODEC R8 `(L)",
        "STG.E desc[UR4][R4.64], R2",
        "BRA `(L)",
    ];
    arbtest::arbtest(|u| {
        let mut function = code(&lines);
        for instruction in &mut function.instructions {
            assert!(Effects::of(instruction).is_some());
            instruction.control = crate::sass::control::Control::of(u.arbitrary()?);
        }
        let once = findings(&function);
        assert_eq!(findings(&function), once);
        Ok(())
    });
}
