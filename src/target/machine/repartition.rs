//! Registers that warps return and acquire at run time: PTX's `setmaxnreg`, as ptxas of CUDA 13.0.88 compiles it.

use super::{Architecture, MAX_REGISTERS, RegisterLimit};
use crate::error::Error;

/// A register request of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repartition {
    /// `setmaxnreg.inc`, with the new register count.
    Increase(u32),
    /// `setmaxnreg.dec`, with the new register count.
    Decrease(u32),
}

/// Returns the register count after a request: 256 stands for 255.
pub(super) fn allowed(request: &Repartition) -> u32 {
    let (Repartition::Increase(count) | Repartition::Decrease(count)) = *request;
    count.min(MAX_REGISTERS)
}

/// Compilation modes and properties of a kernel that make ptxas ignore its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Circumstances {
    /// Compiled for debugging: `-g`.
    pub debugging: bool,
    /// Compiled for linking with other files: `-c`.
    pub separate: bool,
    /// Calls a function that ptxas does not see, through a pointer.
    pub calls_unknown: bool,
}

/// The reason why ptxas ignores the requests of a kernel, with the number and text of its warning. ptxas has a fifth
/// reason, C7507 "to maintain minimum register requirements"; no test has provoked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RepartitionRefusal {
    /// C7505: "to allow debugging".
    Debugging,
    /// C7504: "to maintain compatibility across compilation units".
    Separate,
    /// C7508: "unable to determine register count at entry".
    EntryUnknown,
    /// C7506: "to maintain compatibility into 'extern' call".
    UnknownCall,
}

/// The result of a kernel's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// The registers of each thread when the kernel is entered. ptxas reports this number even if fewer registers are
    /// used.
    Registers(u32),
    /// The requests have no effect, and the kernel has the registers that it needs, like any other kernel.
    Ignored(RepartitionRefusal),
}

/// The register counts that a request may have, in multiples of [`STEP`].
const RANGE: std::ops::RangeInclusive<u32> = 24..=256;
const STEP: u32 = 8;

impl Architecture {
    /// Returns the result of a kernel's requests, of which there is at least one: the kernel is entered with its
    /// register limit, or with the smallest count of an increase. O(requests).
    ///
    /// # Errors
    ///
    /// If ptxas does not assemble the kernel: the architecture has no such instruction, a count is not a multiple of 8
    /// from 24 to 256, or a decrease has a larger count than a thread has at entry and after any increase. 256 stands
    /// for 255.
    pub fn registers_at_entry(
        &self,
        limit: &RegisterLimit,
        requests: &[Repartition],
        circumstances: Circumstances,
    ) -> Result<Entry, Error> {
        if self.major < 9 {
            let problem = format!("setmaxnreg: {} does not have the instruction", self.name);
            return Err(Error::pass(problem, "compile for sm_90a or later, with the suffix a or f"));
        }
        for request in requests {
            let (Repartition::Increase(count) | Repartition::Decrease(count)) = *request;
            if !RANGE.contains(&count) || !count.is_multiple_of(STEP) {
                let nearest = count.next_multiple_of(STEP).clamp(*RANGE.start(), *RANGE.end());
                let problem = format!("setmaxnreg: {count} is not a multiple of {STEP} in {RANGE:?}");
                return Err(Error::pass(problem, format!("request {nearest}")));
            }
        }
        let increases = requests.iter().filter_map(|request| match *request {
            Repartition::Increase(count) => Some(count.min(MAX_REGISTERS)),
            Repartition::Decrease(_) => None,
        });
        let entry = increases.clone().fold(limit.registers, u32::min);
        let most = increases.fold(entry, u32::max);
        for request in requests {
            if let Repartition::Decrease(count) = *request
                && count.min(MAX_REGISTERS) > most
            {
                let problem = format!("setmaxnreg.dec: {count} registers, but no thread has more than {most} before");
                return Err(Error::pass(problem, format!("raise the kernel's limit to {count}, or request fewer")));
            }
        }
        Ok(refusal(limit, circumstances).map_or(Entry::Registers(entry), Entry::Ignored))
    }
}

/// Returns why ptxas ignores the requests. If there are several reasons, it is the reason that ptxas reports.
fn refusal(limit: &RegisterLimit, circumstances: Circumstances) -> Option<RepartitionRefusal> {
    let reasons = [
        (circumstances.debugging, RepartitionRefusal::Debugging),
        (circumstances.separate, RepartitionRefusal::Separate),
        (!limit.is_known_at_entry(), RepartitionRefusal::EntryUnknown),
        (circumstances.calls_unknown, RepartitionRefusal::UnknownCall),
    ];
    reasons.into_iter().find_map(|(holds, refusal)| holds.then_some(refusal))
}
