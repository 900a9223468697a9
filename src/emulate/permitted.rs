//! Whether a difference says anything where several results are right: PTX leaves open which products are fused with their
//! sums, and how far approximate functions are off.

use std::collections::BTreeSet;

use super::compare::{Pair, differences};
use super::machine::{Outcome, Setting};
use super::memory::Image;
use super::program::Program;
use super::ready::{Ready, Steps};
use super::tolerance::Equality;

/// Programs whose results are right, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed<'a> {
    /// The first program again, with products and sums [fused](super::fused).
    pub first: &'a [Program],
    /// The second program again, with other results of its approximate functions.
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
    /// What the second one stored.
    pub(super) outcome: &'a Outcome,
    /// How the second one was launched.
    pub(super) setting: &'a Setting,
    pub(super) equality: Equality,
    /// The number of the kernel in the second program.
    pub(super) kernel: usize,
}

/// What is said of it at last.
pub(super) enum PermittedVerdict {
    /// Another result that is right is the second program's.
    Same,
    /// The results that are right differ wherever the second program does.
    Open(String),
    /// All results that are right are the same at an address, and the second program's is another.
    Different(u64, Pair),
}

impl Doubt<'_> {
    /// Runs the other programs that are right, and the second program with other approximations, on the same launch.
    ///
    /// An assembler chooses for each sum, so its result may be a mixture that is none of these. What they all agree on may
    /// still differ in a mixture, by little: there, numbers have to be close only.
    pub(super) fn permitted_verdict(&self, allowed: Allowed<'_>, steps: &mut Steps) -> PermittedVerdict {
        let Self { ready, outcome, equality, .. } = *self;
        let mut image = ready.image.clone();
        let mut open: BTreeSet<u64> = BTreeSet::new();
        let kernel = ready.setting.kernel;
        for other in allowed.first {
            let ran = self.run(other, Setting { kernel, ..ready.setting.clone() }, steps);
            let Ok(ran) = ran else {
                return PermittedVerdict::Open("with its products fused, which PTX allows, it ends otherwise".into());
            };
            if differences(&ran, outcome, &mut image, equality).is_empty() {
                return PermittedVerdict::Same;
            }
            open.extend(differences(&ready.outcome, &ran, &mut image, equality).iter().map(|one| one.0));
        }
        for other in allowed.second {
            let ran = self.run(other, Setting { kernel: self.kernel, ..self.setting.clone() }, steps);
            let Ok(ran) = ran else {
                return PermittedVerdict::Open("with other results of approximate functions, it ends otherwise".into());
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
                "where it differs, the result depends on which products are fused, or on how far approximate functions \
                 are off, which PTX leaves open"
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
