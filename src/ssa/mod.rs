//! Out of SSA with the fewest copies: makes the webs of PHIs conventional.
//!
//! A web is a set of registers that PHIs connect. It is conventional if all its registers can share one name. PHI
//! elimination copies every input and every result of a PHI. If the web is conventional, a coalescer can remove all
//! these copies. If a register cannot join its web, this pass inserts the copy while the function is in SSA form, at
//! the cheapest place, or rematerialises the register's constant. LLVM's PHI elimination then lowers the PHIs as usual.
//! If this pass fails, the function is unchanged.
//!
//! Sreedhar, Ju, Gillies and Santhanam, "Translating out of static single assignment form" (SAS 1999), isolate each PHI
//! by copies and remove the copies whose sides do not interfere. Boissinot et al., "Revisiting out-of-SSA translation
//! for correctness, code quality and efficiency" (CGO 2009), simplify this. They isolate *all* PHIs and then coalesce,
//! and two live ranges interfere only where they hold different values. This pass does the same, but only for the webs
//! that need it. The steps, in the order of the files:
//! * [`registers`], [`phis`]: PHIs whose values reach no other instruction are removed;
//! * [`constants`], [`webs`]: most webs are already conventional, apart from constants that several PHIs read;
//! * [`congruence`]: some of the other PHIs always hold the same value as another PHI;
//! * [`isolation`]: the PHIs of the other webs are isolated, and their copies are merged, weighted by the frequency of
//!   blocks;
//! * [`rewrite`]: the remaining copies, and the constants that replace copies, are inserted into the function.
//!
//! Every copy writes a register of its own. So the copies at one place need no temporary, even in a cycle, for example
//! if PHIs swap their values. The order of the copies lets them share registers.

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

/// Reason for a copy of an input or a result of a PHI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The register cannot share its web's register.
    Refused(CopyRefusal),
    /// Merging registers is switched off.
    NotTried,
}

impl Reason {
    /// Returns the reason in words, for statistics and remarks.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.as_str(),
            Self::NotTried => "not tried",
        }
    }
}

/// Results of the pass for inputs and results of PHIs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of PHIs.
    pub phis: usize,
    /// PHIs that are never read.
    pub dead: Vec<Inst>,
    /// PHIs that another PHI replaces, because it always holds the same value.
    pub replaced: Vec<Inst>,
    /// PHIs with an input that is replaced by a rematerialised constant, once for each input.
    pub constants: Vec<Inst>,
    /// PHIs with a copied input or result, once for each copy, with the reason.
    pub copied: Vec<(Inst, Reason)>,
    /// Registers with so many copies that the copies are left to PHI elimination.
    pub left: Vec<LeftCopies>,
}

/// A register whose copies at the ends of blocks are left to PHI elimination, because there are too many copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftCopies {
    /// First PHI that reads it.
    pub phi: Inst,
    /// The register.
    pub register: VReg,
    /// Number of copies.
    pub copies: u32,
}

/// Result of the pass on a function.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// Results of the pass, by PHI.
    pub report: Report,
    /// Number of visited PHI inputs, block successors and live-range segments. It measures the work independently of
    /// the machine.
    pub steps: u64,
}

/// Makes the PHI webs of a function in SSA form conventional.
///
/// Near-linear in the instructions and the inputs of PHIs. For a conventional web, the pass only computes the live
/// ranges of its registers. For another web, it also merges these live ranges.
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
