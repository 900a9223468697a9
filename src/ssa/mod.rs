//! Out of SSA with the fewest copies: makes the webs of PHIs conventional.
//!
//! A web is what PHIs connect; it is conventional where all its registers can share one name. Then PHI elimination,
//! which copies every input and every result of a PHI, leaves no copy that a coalescer could not remove. Where a
//! register cannot join its web, this pass puts the copy into the code while it still is in SSA form, where it costs
//! least, or the constant that the register holds. LLVM's PHI elimination then lowers what it always lowers, and where
//! this pass fails the function is the one that it was.
//!
//! Sreedhar, Ju, Gillies and Santhanam, "Translating out of static single assignment form" (SAS 1999), isolate each PHI
//! by copies and drop those whose sides do not interfere. Boissinot et al., "Revisiting out-of-SSA translation for
//! correctness, code quality and efficiency" (CGO 2009), make that simple: isolate *all* PHIs, then coalesce, two live
//! ranges interfering only where they hold different values. So done here, where it is needed, in the order of the
//! files:
//! * [`registers`], [`phis`]: PHIs that nobody reads, but other such PHIs, go;
//! * [`constants`], [`webs`]: most webs are conventional as they come, but for constants that several PHIs read;
//! * [`congruence`]: of the other PHIs some always hold the same as others;
//! * [`isolation`]: they are isolated, and the copies merged, weighted by how often blocks run;
//! * [`rewrite`]: the copies that are left, and the constants that stand for copies, go into the function.
//!
//! Every copy writes a register of its own, so that the copies at one place need no temporary: cycles, as of PHIs that
//! swap their values, are opened by that. They stand in the order in which they can share registers.

mod congruence;
mod constants;
#[cfg(test)]
mod growth_tests;
mod isolation;
mod phis;
#[cfg(test)]
mod property_tests;
mod registers;
mod rewrite;
#[cfg(test)]
mod tests;
mod webs;

use crate::config::{Config, CssaInterference};
use crate::function::{EditList, Function, Inst, VReg};
use crate::stats::CopyRefusal;
use isolation::isolate;
use phis::Phis;
use rewrite::Rewriter;
use webs::Webs;

/// Why an input or a result of a PHI is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It cannot share its web's register.
    Refused(CopyRefusal),
    /// Sharing registers is switched off.
    NotTried,
}

impl Reason {
    /// The reason in words, for statistics and remarks.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.as_str(),
            Self::NotTried => "not tried",
        }
    }
}

/// What becomes of the inputs and results of PHIs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many PHIs there are.
    pub phis: usize,
    /// PHIs that nobody reads.
    pub dead: Vec<Inst>,
    /// PHIs that another one stands for, because it always holds the same.
    pub replaced: Vec<Inst>,
    /// The PHIs of inputs that become constants, written anew.
    pub constants: Vec<Inst>,
    /// The PHIs of inputs and results that are copied, and why.
    pub copied: Vec<(Inst, Reason)>,
    /// The registers with so many copies that these are left to PHI elimination.
    pub left: Vec<LeftCopies>,
}

/// A register whose copies at the ends of blocks are left to PHI elimination, because there are many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftCopies {
    /// The first PHI that reads it.
    pub phi: Inst,
    /// The register.
    pub register: VReg,
    /// How many copies there are.
    pub copies: u32,
}

/// What the pass did to a function.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// Why, by PHI.
    pub report: Report,
    /// How many inputs of PHIs, successors of blocks and segments of live ranges were looked at. A measure of the work
    /// that does not depend on the machine.
    pub steps: u64,
}

/// Makes the PHI webs of a function in SSA form conventional.
///
/// Near-linear in the instructions and the inputs of PHIs. What webs cost that are conventional as they come is the
/// live ranges of their registers; the others cost merging these.
pub fn conventional(function: &Function, options: &Config) -> Outcome {
    let mut outcome = Outcome { edits: EditList::new(function), report: Report::default(), steps: 0 };
    let all = phis::all(function);
    outcome.report.phis = all.len();
    if options.cssa_interference == CssaInterference::Stock || all.is_empty() {
        return outcome;
    }
    let registers = registers::registers(function);
    let phis = Phis::new(function, all, &registers);
    let mut webs = Webs::new(function, &phis, &registers);
    if !options.cssa_coalesce {
        webs = Webs { others: phis.live.clone(), live: webs.live, ..Webs::default() };
    }
    let isolated = isolate(function, &webs.others, &registers, (&webs.live, webs.constants_of_others), options);
    outcome.steps = isolated.steps;
    let mut rewriter = Rewriter::new(function, registers, &mut outcome);
    rewriter.delete_dead(&phis.dead);
    rewriter.replace(&isolated.replaced);
    rewriter.write_constants(&webs.constants);
    rewriter.copy(&isolated.copies);
    rewriter.write_constants(&isolated.constants);
    rewriter.settle_debug_values();
    outcome.edits.finish();
    outcome
}
