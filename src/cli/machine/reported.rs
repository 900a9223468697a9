//! Computes the figures of `ptxas -v` for kernels from their machine code, without a run of ptxas.
//!
//! Registers, stack and shared memory are attributes. The spilled bytes are the bytes of the accesses that ptxas marks,
//! since CUDA 12.8. If `-v` differs, it reports fewer bytes than the code moves
//! (docs/notebook/2026-11-29-marks-of-spills-in-a-cubin.md).

use std::collections::BTreeMap;

use nvptx_ra::tune::ptxas_output::PtxasReport;

use super::cubin::{self, Facts};
use super::instruction::{Instruction, Kind};
use super::local_access::Access;
use super::machine_code::{self, BYTES};
use crate::ptxas::PtxasReports;

/// The first release of CUDA whose ptxas marks spills, times ten.
const FIRST_RELEASE: u32 = 128;

/// With this number of accesses or more, ptxas may lose marks: the length of their attribute has 16 bits.
const MOST_ACCESSES: usize = 8192;

/// Returns the figures of each kernel, without ptxas's advice; `None` if the code does not contain all of them.
pub(crate) fn reported(code: &[u8]) -> Option<PtxasReports> {
    let (facts, instructions) = (cubin::facts(code)?, machine_code::instructions(code)?);
    let accesses = machine_code::local_accesses(code)?;
    // A function that follows the calling convention saves registers without marks, and `-v` counts these bytes for the
    // kernels that call it.
    let is_alone = |facts: &Facts| facts.is_kernel && facts.release.is_some_and(|release| release >= FIRST_RELEASE);
    if !facts.values().all(is_alone) {
        return None;
    }
    let ptxas_report = |(name, facts): (String, Facts)| {
        let accesses = accesses.get(&name)?;
        if saves_registers(&facts, accesses) {
            return None;
        }
        let [spill_store_bytes, spill_load_bytes] = spilled(&facts.spill_marks, accesses, instructions.get(&name)?)?;
        Some((name, PtxasReport { spill_store_bytes, spill_load_bytes, ..by_attributes(&facts) }))
    };
    facts.into_iter().map(ptxas_report).collect()
}

/// Returns whether a function within a kernel's code has loads without marks. Such loads may restore saved registers.
fn saves_registers(facts: &Facts, accesses: &[Access]) -> bool {
    let offset = |access: &Access| (access.row * BYTES) as u32;
    let is_within = |access: &Access| facts.functions.iter().any(|function| function.contains(&offset(access)));
    let is_marked = |access: &Access| facts.spill_marks.binary_search(&offset(access)).is_ok();
    accesses.iter().any(|access| !access.is_store && !is_marked(access) && is_within(access))
}

/// Returns the figures in the attributes of a function, which do not include spilled bytes.
pub(crate) fn by_attributes(facts: &Facts) -> PtxasReport {
    let stack_bytes = facts.frame.unwrap_or(0);
    PtxasReport {
        registers: facts.registers.unwrap_or(0),
        stack_bytes,
        total_stack_bytes: facts.stack.unwrap_or(stack_bytes),
        shared_bytes: facts.shared,
        ..PtxasReport::default()
    }
}

/// Returns the bytes that the accesses at these offsets store to and load from local memory. `None` if marks may be
/// lost, or if a mark is at an unexpected instruction. Spills to shared memory also have marks. They are not counted,
/// as in `-v`.
fn spilled(marks: &[u32], accesses: &[Access], instructions: &[Instruction]) -> Option<[u32; 2]> {
    let at_fixed_places: BTreeMap<usize, &Access> =
        accesses.iter().filter(|access| access.place.is_some()).map(|access| (access.row * BYTES, access)).collect();
    if at_fixed_places.len() >= MOST_ACCESSES {
        return None;
    }
    let mut bytes = [0; 2];
    for &mark in marks {
        match at_fixed_places.get(&(mark as usize)) {
            Some(access) => bytes[usize::from(!access.is_store)] += access.bytes,
            None if matches!(instructions.get(mark as usize / BYTES)?.kind, Kind::Shared(_)) => {}
            None => return None,
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(row: usize, is_store: bool, bytes: u32, place: Option<u32>) -> Access {
        Access { row, is_store, bytes, place, is_spill: false }
    }

    /// Returns the spilled bytes of these accesses. The last instruction accesses shared memory.
    fn of(marks: &[u32], accesses: &[Access]) -> Option<[u32; 2]> {
        let kind = |at: u32| if at == 5 { Kind::Shared(4) } else { Kind::Other };
        let instruction =
            |at: u32| Instruction { address: 16 * at, kind: kind(at), is_conditional: false, target: None };
        spilled(marks, accesses, &(0..6).map(instruction).collect::<Vec<_>>())
    }

    /// Marked accesses count by their width. Other accesses do not count, because arrays are on the stack, too.
    #[test]
    fn marked_accesses() {
        let accesses = [
            access(1, true, 8, Some(0)),
            access(2, false, 4, Some(8)),
            access(3, false, 16, Some(0)),
            access(4, true, 4, None),
        ];
        assert_eq!(of(&[16, 48], &accesses), Some([8, 16]));
        assert_eq!(of(&[], &accesses), Some([0, 0]));
        assert_eq!(of(&[16, 80], &accesses), Some([8, 0]), "spills to shared memory");
    }

    /// Loads without marks belong to a kernel's own arrays, or restore registers that a function within its code has
    /// saved.
    #[test]
    fn functions_within() {
        let accesses = [access(1, false, 4, Some(0)), access(4, false, 4, Some(4)), access(5, true, 4, Some(8))];
        let facts = |start| {
            let functions = std::iter::once(start..96).collect();
            Facts { functions, spill_marks: vec![16], ..Facts::default() }
        };
        assert!(saves_registers(&facts(64), &accesses) && !saves_registers(&facts(80), &accesses));
        assert!(!saves_registers(&Facts { spill_marks: vec![16, 64], ..facts(0) }, &accesses));
    }

    /// There are no figures if a mark is at an instruction other than an access at a fixed offset from the stack
    /// pointer, or if marks may be lost.
    #[test]
    fn odd_marks() {
        let accesses = [access(1, true, 8, Some(0)), access(4, true, 4, None)];
        assert_eq!([of(&[32], &accesses), of(&[64], &accesses), of(&[96], &accesses)], [None; 3]);
        let many = |count| (0..count).map(|row| access(row, true, 4, Some(0))).collect::<Vec<_>>();
        assert_eq!(of(&[16], &many(MOST_ACCESSES - 1)), Some([4, 0]));
        assert_eq!(of(&[16], &many(MOST_ACCESSES)), None);
    }

    /// A file that is no cubin has no figures.
    #[test]
    fn broken_files() {
        assert_eq!(reported(b""), None);
        assert_eq!(reported(b"\x7fELF\x02\x01\x01"), None);
    }
}
