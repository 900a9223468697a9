//! Whether a difference is significant if PTX permits several results: PTX leaves open which products are fused with
//! their sums, and how exact approximate functions are.

use std::collections::BTreeSet;

use super::compare::{Pair, differences};
use super::machine::{Outcome, Setting};
use super::memory::Image;
use super::program::Program;
use super::ready::{Ready, Steps};
use super::tolerance::Equality;

/// Programs whose results are permitted, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed<'a> {
    /// Variants of the first program, with products and sums [fused](mod@super::fused).
    pub first: &'a [Program],
    /// Variants of the second program, with other results of its approximate functions.
    pub second: &'a [&'a Program],
}

impl Allowed<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.second.is_empty()
    }
}

/// A launch in which a second program stores something else.
pub(super) struct Doubt<'a> {
    /// The launch of the first program.
    pub(super) ready: &'a Ready,
    /// The second program's results.
    pub(super) outcome: &'a Outcome,
    /// The setting of the second program's launch.
    pub(super) setting: &'a Setting,
    pub(super) equality: Equality,
    /// The index of the kernel in the second program.
    pub(super) kernel: usize,
}

/// The final verdict on a doubt.
pub(super) enum PermittedVerdict {
    /// The second program's result equals another permitted one.
    Same,
    /// The permitted results differ wherever the second program does.
    Open(String),
    /// All permitted results agree at an address, and the second program's differs.
    Different(u64, Pair),
}

impl Doubt<'_> {
    /// Runs the other permitted programs, and the second program with other approximations, on the same launch.
    ///
    /// An assembler decides for each sum, so its result may be a mixture of these programs. Even where all permitted
    /// programs agree, the result of a mixture may differ slightly. At these addresses, numbers only have to be close.
    pub(super) fn permitted_verdict(&self, allowed: Allowed<'_>, steps: &mut Steps) -> PermittedVerdict {
        let Self { ready, outcome, equality, .. } = *self;
        let mut image = ready.image.clone();
        let mut open: BTreeSet<u64> = BTreeSet::new();
        let kernel = ready.setting.kernel;
        for other in allowed.first {
            let ran = self.run(other, Setting { kernel, ..ready.setting.clone() }, steps);
            let Ok(ran) = ran else {
                return PermittedVerdict::Open("it stops if its products are fused, which PTX permits".into());
            };
            if differences(&ran, outcome, &mut image, equality).is_empty() {
                return PermittedVerdict::Same;
            }
            open.extend(differences(&ready.outcome, &ran, &mut image, equality).iter().map(|one| one.0));
        }
        for other in allowed.second {
            let ran = self.run(other, Setting { kernel: self.kernel, ..self.setting.clone() }, steps);
            let Ok(ran) = ran else {
                return PermittedVerdict::Open(
                    "the other program stops if approximate functions have other results, which PTX permits".into(),
                );
            };
            if differences(&ready.outcome, &ran, &mut image, equality).is_empty() {
                return PermittedVerdict::Same;
            }
            open.extend(differences(outcome, &ran, &mut image, equality).iter().map(|one| one.0));
        }
        let all = differences(&ready.outcome, outcome, &mut image, Equality::Close);
        match all.into_iter().find(|(address, _)| !open.contains(address)) {
            Some((address, stores)) => PermittedVerdict::Different(address, stores),
            None => PermittedVerdict::Open(
                "the differing results depend on fused products or on the error of approximate functions, which \
                 PTX leaves open"
                    .into(),
            ),
        }
    }

    fn run(&self, program: &Program, setting: Setting, steps: &mut Steps) -> Result<Outcome, String> {
        let mut image: Image = self.ready.image.clone();
        image.begin_second();
        steps.run(program, &setting, &mut image)
    }
}
