//! A trace of a kernel that cannot be run: a walk through its code.
//!
//! A backward branch is taken a fixed number of times, and a conditional forward branch is never taken. Each access is
//! coalesced, at its own address.

use crate::emulate::{AccessOfWarp, AccessSpace, Step, WarpTrace};
use crate::sass::effects::Flow;
use crate::sass::instruction::{BYTES, Function, Instruction};

/// The trip count of loops.
const TURNS: u32 = 8;
/// The most instructions of a warp.
const MOST: usize = 20_000;

/// Returns traces of warps, all of which take the same path.
pub fn walk(code: &Function, warps: u32) -> Vec<WarpTrace> {
    let one = of_warp(code);
    (0..warps).map(|number| moved(&one, number)).collect()
}

/// Returns the trace of another warp of the block, with accesses at other addresses.
fn moved(one: &WarpTrace, number: u32) -> WarpTrace {
    let mut trace = WarpTrace { number, ..one.clone() };
    for access in trace.accesses.iter_mut().filter(|access| access.space == AccessSpace::Global) {
        access.sectors.iter_mut().for_each(|sector| *sector += u64::from(number) << 32);
    }
    trace
}

fn of_warp(code: &Function) -> WarpTrace {
    let mut trace = WarpTrace::default();
    let mut turns = vec![0u32; code.instructions.len()];
    let mut returns: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(instruction) = code.instructions.get(at) {
        if trace.steps.len() >= MOST {
            break;
        }
        let access = access(instruction, trace.accesses.len() as u64);
        let number = if access.is_some() { trace.accesses.len() as u32 } else { u32::MAX };
        trace.accesses.extend(access);
        trace.steps.push(Step { function: 0, lanes: 32, line: at as u32 + 1, access: number });
        let to = |target: i64| usize::try_from(target / i64::from(BYTES)).unwrap_or(usize::MAX);
        at = match Flow::of(instruction) {
            Flow::Branch { target, .. } if to(target) == at => break,
            Flow::Branch { target, .. } if to(target) < at => {
                turns[at] += 1;
                let again = turns[at] < TURNS;
                if !again {
                    turns[at] = 0;
                }
                if again { to(target) } else { at + 1 }
            }
            Flow::Branch { target, may_pass: false } => to(target),
            Flow::Call { target: Some(target) } => {
                returns.push(at + 1);
                to(target)
            }
            Flow::Return { may_pass: false } => match returns.pop() {
                Some(behind) => behind,
                None => break,
            },
            Flow::Exit { may_pass: false } | Flow::Leave { may_pass: false } | Flow::Indirect => break,
            _ => at + 1,
        };
    }
    trace
}

/// Returns the access of an instruction by 32 adjacent threads, at an address that `place` determines.
fn access(instruction: &Instruction, place: u64) -> Option<AccessOfWarp> {
    let words = if instruction.has("128") {
        4
    } else if instruction.has("64") {
        2
    } else {
        1
    };
    let (space, passes, sectors) = match instruction.word() {
        "LDS" | "STS" | "ATOMS" | "LDSM" | "STSM" => (AccessSpace::Shared, words as u32, 0),
        "LDL" | "STL" => (AccessSpace::Local, 0, 4 * words),
        "LDGSTS" => (AccessSpace::Global, words as u32, 4 * words),
        "LDG" | "LD" | "STG" | "ST" | "ATOM" | "ATOMG" | "RED" | "REDG" => (AccessSpace::Global, 0, 4 * words),
        _ => return None,
    };
    // An access to local memory has the same address in each iteration. Accesses to global memory advance.
    let first = if space == AccessSpace::Local { u64::from(instruction.address) } else { place * 64 };
    Some(AccessOfWarp { space, passes, sectors: (0..sectors).map(|number| first + number).collect() })
}
