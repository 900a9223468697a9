//! Runs mutants of a kernel's machine code and compares them with its PTX. Prints one JSON object per line.
//!
//!     machine_mutants FILE.ptx FILE.cubin KERNEL COUNT SEED STEPS
//!
//! Each mutant has one change in an executed instruction: of an operand, a result, a constant, a guard, a modifier, the
//! order of two instructions, or of control codes. The first object has the comparison of the kernel itself.

use std::collections::BTreeMap;
use std::error::Error;

use nvptx_ra::emulate::{Launches, Program, Reference, Verdict};
use nvptx_ra::ptx::Module;
use nvptx_ra::sass::cubin::Cubin;
use nvptx_ra::sass::decode::decode;
use nvptx_ra::sass::instruction::BYTES;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::meaning::Approximation;
use serde_json::json;

/// Kinds of changes
const FAULTS: [&str; 9] = ["operand", "result", "constant", "guard", "modifier", "removed", "swapped", "wait", "stall"];
/// `NOP`, without its control codes.
const NOP: u128 = 0x7918;
/// Control codes: bits from 105 on.
const CONTROL: u128 = u128::MAX << 105;
const STALL: u32 = 105;
const WAITS: u32 = 116;

fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Returns an instruction and its successor with a fault, `None` if the fault is impossible for the instruction.
fn changed(bits: u128, next: u128, fault: &str, draw: u64) -> Option<[u128; 2]> {
    let pick = |fields: &[u32]| fields[draw as usize % fields.len()];
    let first = match fault {
        "operand" => bits ^ 1 << pick(&[24, 25, 32, 33, 64, 65]),
        "result" => bits ^ 1 << pick(&[16, 17]),
        "constant" => bits ^ 1 << (32 + draw % 8),
        "guard" => bits ^ 1 << 15,
        "modifier" => bits ^ 1 << (72 + draw % 33),
        "removed" => NOP | bits & CONTROL,
        "swapped" => return Some([next, bits]),
        "wait" => {
            let waits: Vec<u32> = (WAITS..WAITS + 6).filter(|&at| bits >> at & 1 == 1).collect();
            bits ^ 1 << waits.get(draw as usize % waits.len().max(1))?
        }
        _ => {
            let stall = bits >> STALL & 0xf;
            (stall > 1).then_some(bits - (1 << STALL))?
        }
    };
    Some([first, next])
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [ptx, cubin, kernel, count, seed, steps] = arguments.as_slice() else {
        return Err("machine_mutants FILE.ptx FILE.cubin KERNEL COUNT SEED STEPS".into());
    };
    let text = std::fs::read(ptx)?;
    let original = Program::new(&Module::read(ptx, &text)?);
    let cubin = Cubin::read(&std::fs::read(cubin)?).ok_or("no cubin")?;
    let machine_of = |cubin: &Cubin| Machine::new(cubin, Approximation::default(), || Err(())).ok();
    let machine = machine_of(&cubin).ok_or("an instruction is not known")?;
    let launches =
        Launches { most_steps: steps.parse()?, most_steps_in_all: 40 * steps.parse::<u64>()?, ..Launches::default() };
    let mut reference = Reference::new(&original, kernel, &launches);
    let itself = reference.compare(&machine.program);
    println!("{}", json!({ "equal": itself.equal(), "difference": itself.difference().map(ToString::to_string) }));
    if itself.equal() == 0 || itself.difference().is_some() {
        return Ok(());
    }
    let runs: BTreeMap<u32, u64> =
        machine.count_by_address(kernel, &itself.sides[1]).into_iter().map(|(at, count)| (at, count.issued)).collect();
    let ran: Vec<u32> = runs.into_iter().filter(|run| run.1 > 0).map(|run| run.0).collect();
    let section = format!(".text.{kernel}");
    let code = &cubin.sections.get(&section).ok_or("no code")?.bytes;
    let word = |at: u32| code.get(at as usize..).and_then(<[u8]>::first_chunk).map(|bytes| u128::from_le_bytes(*bytes));
    let (count, mut draw): (usize, u64) = (count.parse()?, seed.parse()?);
    let mut made = 0;
    for attempt in 0..200 * count {
        if made == count {
            break;
        }
        draw = mixed(draw.wrapping_add(0x9e37_79b9_7f4a_7c15));
        let at = ran[draw as usize % ran.len()];
        let fault = FAULTS[attempt % FAULTS.len()];
        let (Some(bits), Some(next)) = (word(at), word(at + BYTES)) else { continue };
        let Some(new) = changed(bits, next, fault, draw >> 20) else { continue };
        let read = |bits, at| decode(bits, at, cubin.processor);
        let (Some(before), Some(after), Some(_)) = (read(bits, at), read(new[0], at), read(new[1], at + BYTES)) else {
            continue;
        };
        let is_control = matches!(fault, "wait" | "stall");
        let is_same =
            (&before.mnemonic, &before.operands, before.guard) == (&after.mnemonic, &after.operands, after.guard);
        if is_same != is_control {
            continue;
        }
        let mut mutant = cubin.clone();
        let bytes = &mut mutant.sections.get_mut(&section).ok_or("no code")?.bytes;
        for (number, word) in new.into_iter().enumerate() {
            let start = at as usize + 16 * number;
            bytes[start..start + 16].copy_from_slice(&word.to_le_bytes());
        }
        let Some(machine) = machine_of(&mutant) else { continue };
        made += 1;
        let hazard = machine.hazards(kernel).first().map(ToString::to_string);
        let (verdict, reason) = match (hazard, is_control) {
            (Some(hazard), true) => ("hazard", hazard),
            (None, true) => ("survives", String::new()),
            (hazard, false) => match (reference.told_apart(&machine.program), hazard) {
                (Some(Verdict::Different(difference)), _) => ("different", difference.to_string()),
                (Some(Verdict::NotComparable { reason, .. }), _) => ("refused", reason),
                (_, Some(hazard)) => ("hazard", hazard),
                _ => ("survives", String::new()),
            },
        };
        println!(
            "{}",
            json!({ "fault": fault, "at": at, "before": format!("{} {:?}", before.mnemonic, before.operands),
                "after": format!("{} {:?}", after.mnemonic, after.operands), "verdict": verdict, "reason": reason })
        );
    }
    Ok(())
}
