//! Registers that warps give back and take while they run: PTX's `setmaxnreg`, as ptxas of CUDA 13.0.88 takes it.

use super::{Architecture, MAX_REGISTERS, RegisterLimit};
use crate::error::Error;

/// A request of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repartition {
    /// `setmaxnreg.inc`: from here on so many registers.
    Increase(u32),
    /// `setmaxnreg.dec`
    Decrease(u32),
}

/// How many registers a request may get: 256 stands for 255.
pub(super) fn allowed(request: &Repartition) -> u32 {
    let (Repartition::Increase(count) | Repartition::Decrease(count)) = *request;
    count.min(MAX_REGISTERS)
}

/// How the kernel is compiled, as far as that makes ptxas ignore its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Circumstances {
    /// To be debugged: `-g`.
    pub debugging: bool,
    /// To be linked with other files: `-c`.
    pub separate: bool,
    /// It calls what ptxas does not see: a function through a pointer.
    pub calls_unknown: bool,
}

/// Why ptxas ignores the requests of a kernel, each with its number and text. A fifth reason that it knows, C7507
/// "to maintain minimum register requirements", nothing made it give.
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

/// What becomes of a kernel's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// So many registers has each thread when the kernel is entered: what ptxas reports for it, used or not.
    Registers(u32),
    /// The requests do nothing, and the kernel has what it needs, as any other.
    Ignored(RepartitionRefusal),
}

/// The registers that one request may ask for, in multiples of [`STEP`].
const RANGE: std::ops::RangeInclusive<u32> = 24..=256;
const STEP: u32 = 8;

impl Architecture {
    /// What becomes of the requests of a kernel, one or more: it is entered with as many registers as it may have, or
    /// with as few as an increase asks for. O(requests).
    ///
    /// # Errors
    ///
    /// Where ptxas does not assemble the kernel: the architecture has no such instruction, a count is no multiple of 8
    /// from 24 to 256, or a decrease asks for more than a thread has at entry and by any increase; 256 stands for 255.
    pub fn registers_at_entry(
        &self,
        limit: &RegisterLimit,
        requests: &[Repartition],
        circumstances: Circumstances,
    ) -> Result<Entry, Error> {
        if self.major < 9 {
            let problem = format!("setmaxnreg: {} does not have it", self.name);
            return Err(Error::pass(problem, "compile for sm_90a or later, with the suffix a or f"));
        }
        for request in requests {
            let (Repartition::Increase(count) | Repartition::Decrease(count)) = *request;
            if !RANGE.contains(&count) || !count.is_multiple_of(STEP) {
                let nearest = count.next_multiple_of(STEP).clamp(*RANGE.start(), *RANGE.end());
                let problem = format!("setmaxnreg: {count} is no multiple of {STEP} from {RANGE:?}");
                return Err(Error::pass(problem, format!("ask for {nearest}")));
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
                let problem = format!("setmaxnreg.dec: {count} registers, and no thread has more than {most} before");
                return Err(Error::pass(problem, format!("raise the kernel's limit to {count}, or ask for less")));
            }
        }
        Ok(refusal(limit, circumstances).map_or(Entry::Registers(entry), Entry::Ignored))
    }
}

/// Why ptxas would ignore requests: the reason that it gives, where there are several.
fn refusal(limit: &RegisterLimit, circumstances: Circumstances) -> Option<RepartitionRefusal> {
    let reasons = [
        (circumstances.debugging, RepartitionRefusal::Debugging),
        (circumstances.separate, RepartitionRefusal::Separate),
        (!limit.is_known_at_entry(), RepartitionRefusal::EntryUnknown),
        (circumstances.calls_unknown, RepartitionRefusal::UnknownCall),
    ];
    reasons.into_iter().find_map(|(holds, refusal)| holds.then_some(refusal))
}
