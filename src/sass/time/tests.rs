//! Tests of the model on hand-written traces.

use arbtest::arbitrary::{Result, Unstructured};

use super::bound::{Resource, bounds};
use super::facts::Facts;
use super::memory::Data;
use super::processor::numbers;
use super::simulate::{Load, Simulated, simulate};
use crate::emulate::{AccessOfWarp, AccessSpace, Step, WarpTrace};
use crate::sass::control::Control;
use crate::sass::instruction::Instruction;

/// Returns an instruction with a stall count, the scoreboard that it sets, and the scoreboards that it waits for.
fn instruction(mnemonic: &str, stall: u8, writes: Option<u8>, waits: u8) -> Instruction {
    let control = Control { stall, writes, waits, ..Control::default() };
    Instruction { address: 0, guard: None, mnemonic: mnemonic.into(), operands: Vec::new(), control, bits: 0 }
}

/// An instruction by its number, and its access.
type Did = (usize, Option<(AccessSpace, Vec<u64>)>);

/// Returns the trace of a warp: instructions by number, with the sectors that they access.
fn warp(steps: &[Did]) -> WarpTrace {
    let mut trace = WarpTrace::default();
    for (number, access) in steps {
        let at = if access.is_some() { trace.accesses.len() as u32 } else { u32::MAX };
        trace.accesses.extend(access.clone().map(|(space, sectors)| AccessOfWarp { space, passes: 0, sectors }));
        trace.steps.push(Step { function: 0, lanes: 32, line: *number as u32 + 1, access: at });
    }
    trace
}

fn plain(count: usize) -> WarpTrace {
    warp(&(0..count).map(|number| (number % 64, None)).collect::<Vec<_>>())
}

/// Simulates `held` blocks of warps on the code.
fn run(code: &[Instruction], warps: &[WarpTrace], held: usize) -> Simulated {
    let facts = [code.iter().map(|one| Facts::of(one, numbers())).collect::<Vec<_>>()];
    let blocks = [warps.iter().collect::<Vec<_>>()];
    let load = Load { facts: &facts, blocks: &blocks, held, shared_bytes: 0, data: Data::InL2, without_local: false };
    simulate(&load, numbers())
}

fn many(mnemonic: &str, stall: u8) -> Vec<Instruction> {
    vec![instruction(mnemonic, stall, None, 0); 64]
}

/// Requires that the cycles are about `wanted`, plus the fetch of the first instructions.
#[track_caller]
fn about(found: u64, wanted: u64) {
    let start = 600;
    assert!(found >= wanted && found <= wanted + wanted / 50 + start, "{found}, not about {wanted}");
}

/// A warp alone takes its stall counts. Four partitions work in parallel. A unit of 16 lanes halves the rate.
#[test]
fn stalls_and_units() {
    let of = |mnemonic: &str, stall, warps: usize| run(&many(mnemonic, stall), &vec![plain(6400); warps], 1).cycles;
    about(of("FFMA", 1, 1), 6400);
    about(of("FFMA", 4, 1), 4 * 6400);
    about(of("FFMA", 4, 4), 4 * 6400);
    about(of("FFMA", 4, 16), 4 * 6400);
    about(of("FFMA", 4, 32), 8 * 6400);
    about(of("IADD3", 1, 4), 2 * 6400);
    about(of("MUFU.EX2", 1, 4), 8 * 6400);
}

/// Only an instruction that waits for the scoreboard of a load waits for the load. An L1 hit arrives sooner.
#[test]
fn scoreboards() {
    let code = [instruction("LDG.E", 1, Some(0), 0), instruction("FADD", 1, None, 1), instruction("FADD", 1, None, 0)];
    let load = |sector: u64| (0, Some((AccessSpace::Global, vec![sector])));
    let of = |steps: &[Did]| run(&code, &[warp(steps)], 1).cycles;
    let [far, near] = ["latency.l2", "latency.l1"].map(|name| numbers().whole(name));
    let base = of(&[(2, None)]);
    let [waits, not, twice] =
        [vec![load(0), (1, None)], vec![load(0), (2, None)], vec![load(0), (1, None), load(0), (1, None)]];
    assert!(of(&waits) >= base + far && of(&waits) < base + far + 60);
    assert!(of(&not) < base + 60);
    assert!(of(&twice) >= of(&waits) + near && of(&twice) < of(&waits) + near + 60);
    let elsewhere = [load(0), (1, None), load(64), (1, None)];
    assert!(of(&elsewhere) >= base + 2 * far);
}

/// Nearby stores of a warp send each sector to L2 once. Distant stores do not.
#[test]
fn stores_together() {
    let code = [instruction("STG.E", 1, None, 0), instruction("FADD", 1, None, 0)];
    let store = || (0, Some((AccessSpace::Global, vec![0, 1, 2, 3])));
    let apart: Vec<_> = (0..4).flat_map(|_| std::iter::once(store()).chain(vec![(1, None); 20])).collect();
    let together: Vec<_> = (0..4).map(|_| store()).chain(vec![(1, None); 80]).collect();
    assert_eq!(run(&code, &[warp(&together)], 1).sectors[0], 4);
    assert_eq!(run(&code, &[warp(&apart)], 1).sectors[0], 16);
}

/// A warp at a barrier waits for the slowest warp of its block, and not for another block.
#[test]
fn barriers() {
    let code = [instruction("FADD", 4, None, 0), instruction("BAR.SYNC", 1, None, 0)];
    let of = |ahead: usize| {
        let mut steps = vec![(0, None); ahead];
        steps.extend([(1, None), (0, None)]);
        warp(&steps)
    };
    let ran = run(&code, &[of(1), of(1000)], 1);
    about(ran.cycles, 4000);
    let waited = ran.waited[0][0].cycles[super::waiting::Reason::Barrier as usize];
    assert!(waited > 3700, "{waited}");
    let apart = run(&code, &[of(1)], 2);
    assert!(apart.cycles < 700, "{}", apart.cycles);
}

fn drawn_code(u: &mut Unstructured<'_>) -> Result<Vec<Instruction>> {
    const NAMES: [&str; 8] = ["FFMA", "IMAD", "IADD3", "MUFU.RCP", "LDG.E", "STG.E", "LDS", "DFMA"];
    (0..16)
        .map(|_| {
            let scoreboard = u.int_in_range(0..=11)?;
            let writes = (scoreboard < 6).then_some(scoreboard);
            Ok(instruction(u.choose(&NAMES)?, u.int_in_range(0..=8)?, writes, u.int_in_range(0..=63)?))
        })
        .collect()
}

/// For random traces: no result is below its bounds, every instruction is issued once, results are reproducible, and
/// the waits add up to the elapsed cycles.
#[test]
fn bounds_hold() {
    arbtest::arbtest(|u| {
        let code = drawn_code(u)?;
        let mut warps = Vec::new();
        for _ in 0..u.int_in_range(1..=6)? {
            let mut steps = Vec::new();
            for _ in 0..u.int_in_range(1..=60)? {
                let number: usize = u.int_in_range(0..=15)?;
                let space = match code[number].word() {
                    "LDG" | "STG" => Some(AccessSpace::Global),
                    "LDS" => Some(AccessSpace::Shared),
                    _ => None,
                };
                let first: u64 = u.int_in_range(0..=999)?;
                let count = if space == Some(AccessSpace::Shared) { 0 } else { u.int_in_range(1..=32)? };
                steps.push((number, space.map(|space| (space, (first..first + count).collect()))));
            }
            warps.push(warp(&steps));
        }
        let held = u.int_in_range(1..=4)?;
        let facts = [code.iter().map(|one| Facts::of(one, numbers())).collect::<Vec<_>>()];
        let blocks = [warps.iter().collect::<Vec<_>>()];
        let data = *u.choose(&[Data::InL2, Data::InDram])?;
        let load = Load { facts: &facts, blocks: &blocks, held, shared_bytes: 0, data, without_local: false };
        let ran = simulate(&load, numbers());
        assert_eq!(ran, simulate(&load, numbers()));
        let steps: usize = warps.iter().map(|warp| warp.steps.len()).sum();
        assert_eq!(ran.issued, (steps * held) as u64);
        assert_eq!(ran.waited[0].iter().map(|one| one.issued).sum::<u64>(), ran.issued);
        for (resource, cycles) in bounds(&load, &ran, numbers()).0 {
            // The longest warp alone has no L1 hits on sectors that another warp loaded.
            if resource != Resource::Latency {
                assert!(cycles <= ran.cycles + 16, "{resource:?}: {cycles} of {}", ran.cycles);
            }
        }
        let spent: u64 = ran.waited[0].iter().map(super::waiting::StallCounts::total).sum();
        assert!(spent <= ran.cycles * (warps.len() * held) as u64);
        Ok(())
    });
}

/// The file has every number that the model reads.
#[test]
fn numbers_are_there() {
    let sources = [
        include_str!("bound.rs"),
        include_str!("facts.rs"),
        include_str!("fetch.rs"),
        include_str!("memory.rs"),
        include_str!("processor.rs"),
        include_str!("simulate.rs"),
        include_str!("unit.rs"),
    ];
    let mut names = 0;
    for text in sources.map(|text| text.split("#[cfg(test)]").next().unwrap_or_default()) {
        for call in ["whole(\"", "get(\"", "latency(\"", "=> \"pipe.", "const OF_MOST: &str = \""] {
            for part in text.split(call).skip(1) {
                let name = part.split('"').next().unwrap_or_default();
                let name = if call.ends_with("pipe.") { format!("pipe.{name}") } else { name.to_owned() };
                assert!(numbers().has(&name), "{name}");
                names += 1;
            }
        }
    }
    assert!(names > 30, "{names}");
}
