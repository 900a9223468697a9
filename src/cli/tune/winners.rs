//! The best variant of each kernel wins only if it computes what stock does.
//!
//! A variant that differs is refused, kept with stock's PTX for a report, and the next best one is compared instead. A
//! variant of which nothing can be said may win: the checker has proved what the passes did to it.

use std::path::PathBuf;

use nvptx_ra::bundle;
use nvptx_ra::error::Error;
use nvptx_ra::printable::printable;

use super::agreement::{self, Agreement, Difference, Terms};
use super::findings::{Findings, Refused};
use super::rounds::{Search, Slice};
use super::search::{Aim, Kernel};
use super::turns::in_parallel;
use super::variant::Variant;
use crate::interrupt::is_interrupted;
use crate::kernel_names;

/// Where the PTX of variants that differ is kept.
pub(super) enum Keep {
    /// Nowhere: a later call finds the same.
    Nowhere,
    /// In a private folder among temporary files.
    Privately,
    /// In new folders of this one.
    In(PathBuf),
}

/// Compares the best variants of all kernels with stock until none differs. `threads` are those of a block of the kernels
/// that do not say how many.
pub(super) fn compare(search: &mut Search<'_>, threads: Option<u32>, keep: &Keep) {
    let (aim, runs) = (search.aim, search.budget.runs);
    let pairs: Vec<(&Kernel, &Slice<'_>)> = search.kernels.iter().zip(&search.slices).collect();
    let found = in_parallel(search.budget.jobs, &pairs, |&(kernel, slice)| {
        find(kernel, &aim, &Compiled { kernel, slice, threads, runs, keep })
    });
    for (kernel, findings) in search.kernels.iter_mut().zip(found) {
        kernel.findings = findings;
    }
}

/// What a comparison asks of a kernel's variants.
trait Trial {
    /// The PTX of a variant.
    fn compile(&self, variant: &Variant) -> Result<Vec<u8>, Error>;

    /// Compares the PTX of stock and of a variant.
    fn compare(&self, variant: &Variant, texts: [&[u8]; 2]) -> Agreement;

    /// Keeps both, and says where.
    fn keep(&self, variant: &Variant, texts: [&[u8]; 2], difference: &Difference) -> Option<PathBuf>;
}

/// Compares variants of a kernel with stock, the best first, until one does not differ.
fn find(kernel: &Kernel, aim: &Aim, trial: &impl Trial) -> Findings {
    let mut findings = Findings::default();
    let mut stock = None;
    let mut texts: Vec<Vec<u8>> = Vec::new();
    loop {
        let (variant, _) = kernel.best_but_for(aim, |variant| findings.has_refused(variant));
        if variant == Variant::Stock || is_interrupted() {
            return findings;
        }
        let compiled = match &stock {
            Some(_) => Ok(()),
            None => trial.compile(&Variant::Stock).map(|text| stock = Some(text)),
        };
        let (stock, text) = match compiled.and_then(|()| trial.compile(&variant)) {
            Ok(text) => (stock.as_deref().unwrap_or_default(), text),
            Err(error) => {
                findings.winner = Some(Agreement::NotComparable(error.problem));
                return findings;
            }
        };
        // The same PTX differs in the same way, and needs no second report.
        let known = texts.iter().position(|other| *other == text).map(|at| &findings.refused[at]);
        let refused = match known {
            Some(Refused { difference, folder, .. }) => {
                Refused { variant, difference: difference.clone(), folder: folder.clone(), is_known: true }
            }
            None => match trial.compare(&variant, [stock, &text]) {
                Agreement::Different(difference) => {
                    let folder = trial.keep(&variant, [stock, &text], &difference);
                    Refused { variant, difference, folder, is_known: false }
                }
                agreement => {
                    findings.winner = Some(agreement);
                    return findings;
                }
            },
        };
        findings.refused.push(refused);
        texts.push(text);
    }
}

/// The variants of a kernel by itself.
struct Compiled<'a> {
    kernel: &'a Kernel,
    slice: &'a Slice<'a>,
    threads: Option<u32>,
    runs: usize,
    keep: &'a Keep,
}

impl Compiled<'_> {
    fn terms(&self, variant: &Variant) -> Terms {
        Terms {
            threads: self.threads.filter(|_| !self.kernel.block.says_threads),
            dynamic_shared: self.kernel.block.dynamic_shared,
            is_exact: !variant.changes_optimisations(),
            runs: self.runs,
        }
    }
}

impl Trial for Compiled<'_> {
    fn compile(&self, variant: &Variant) -> Result<Vec<u8>, Error> {
        match variant {
            Variant::Stock => self.slice.code.compile(&self.slice.code.profile(&|_| None)),
            Variant::Passes(_) => self.slice.compile(&self.kernel.name, variant),
        }
    }

    fn compare(&self, variant: &Variant, texts: [&[u8]; 2]) -> Agreement {
        agreement::compare(&self.kernel.name, texts, self.terms(variant))
    }

    fn keep(&self, variant: &Variant, texts: [&[u8]; 2], difference: &Difference) -> Option<PathBuf> {
        let parent = match self.keep {
            Keep::Nowhere => return None,
            Keep::Privately => None,
            Keep::In(folder) => Some(folder.as_path()),
        };
        let name = &self.kernel.name;
        let Difference { place, command } = difference;
        let report = format!(
            "kernel: {}\nchoice: {variant}\n\nThe first program is stock.ptx, the second one variant.ptx.\n{place}\n\n\
             {command}\n",
            printable(name)
        );
        let [stock, variant] = texts;
        let files = [("stock.ptx", stock), ("variant.ptx", variant), ("difference.txt", report.as_bytes())];
        bundle::keep(parent, name, &files).map_err(|error| say!("{error}")).ok()
    }
}

/// What users should know of variants that differ, a line each.
pub(super) fn warnings(search: &Search<'_>) -> impl Iterator<Item = String> {
    let refused = search.kernels.iter().flat_map(|kernel| kernel.findings.refused.iter().map(move |one| (kernel, one)));
    refused.filter(|(_, one)| !one.is_known).map(|(kernel, one)| warning(&kernel.name, one))
}

fn warning(kernel: &str, refused: &Refused) -> String {
    let Refused { variant, difference, folder, .. } = refused;
    let report = folder.as_ref().map_or(String::new(), |folder| format!("; please report {}", folder.display()));
    let kernel = kernel_names::readable(kernel);
    format!(
        "nvptx-ra: warning: kernel '{kernel}': '{variant}' does not compute what stock does, and does not win: \
         {}{report}",
        difference.place
    )
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::figures::tests::figures;
    use super::super::search::tests::{aim, kernel};
    use super::*;

    /// A kernel that stores a sum.
    const SUM: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
        \t.reg .b32 %r<5>;\n\t.reg .b64 %d<3>;\n\tld.param.u64 %d0, [p];\n\tmov.u32 %r0, %tid.x;\n\
        \tmad.wide.u32 %d1, %r0, 8, %d0;\n\tld.global.u32 %r1, [%d1];\n\tadd.s32 %r2, %r1, %r0;\n\
        \tst.global.u32 [%d1+4], %r2;\n\tret;\n}\n";

    /// Variants whose PTX is given, in the order in which they are tried: each spills less than the one before.
    struct Given {
        kernel: Kernel,
        texts: Vec<(Variant, String)>,
        kept: RefCell<Vec<String>>,
    }

    impl Given {
        fn new(texts: &[String]) -> Self {
            let mut kernel = kernel();
            let variants: Vec<(Variant, String)> = texts
                .iter()
                .enumerate()
                .map(|(number, text)| {
                    let variant = kernel.propose(&aim(0));
                    kernel.record(&aim(0), variant, number.to_string(), Some(figures(80 - 8 * number as u32, 32, 480)));
                    (variant, text.clone())
                })
                .collect();
            Self { kernel, texts: variants, kept: RefCell::default() }
        }

        /// What is found, the variant that wins, and what was refused, both by their numbers.
        fn find(&mut self) -> (Option<usize>, Option<Agreement>, Vec<usize>) {
            let number = |variant: &Variant| self.texts.iter().position(|(other, _)| other == variant);
            let found = find(&self.kernel, &aim(0), self);
            let refused = found.refused.iter().filter_map(|refused| number(&refused.variant)).collect();
            let agreement = found.winner.clone();
            self.kernel.findings = found;
            let winner = number(&self.kernel.best(&aim(0)).0);
            (winner, agreement, refused)
        }
    }

    impl Trial for Given {
        fn compile(&self, variant: &Variant) -> Result<Vec<u8>, Error> {
            let found = self.texts.iter().find(|(other, _)| other == variant);
            Ok(found.map_or(SUM, |(_, text)| text).into())
        }

        fn compare(&self, _: &Variant, texts: [&[u8]; 2]) -> Agreement {
            agreement::compare("k", texts, Terms { runs: 4, is_exact: true, ..Terms::default() })
        }

        fn keep(&self, variant: &Variant, texts: [&[u8]; 2], difference: &Difference) -> Option<PathBuf> {
            assert_eq!(texts[0], SUM.as_bytes());
            self.kept.borrow_mut().push(difference.place.clone());
            Some(variant.to_string().into())
        }
    }

    fn mutant(from: &str, to: &str) -> String {
        let mutant = SUM.replacen(from, to, 1);
        assert_ne!(mutant, SUM);
        mutant
    }

    /// Of all that was tried, the best that computes what stock does wins; the same wrong PTX is reported once.
    #[test]
    fn what_differs_never_wins() {
        let right = mutant("%r1, %r0;\n", "%r0, %r1;\n");
        let wrong = mutant("add.s32", "sub.s32");
        let mut given = Given::new(&[right.clone(), right, wrong.clone(), wrong, mutant("+4", "+12")]);
        let (winner, agreement, refused) = given.find();
        assert_eq!((winner, agreement), (Some(1), Some(Agreement::Same)));
        assert_eq!(refused, [4, 3, 2]);
        assert_eq!(given.kept.borrow().len(), 2, "{:?}", given.kept);
        assert!(given.kept.borrow()[1].contains("the second program stores 0x"), "{:?}", given.kept);
        assert_eq!(
            given.kernel.findings.refused.iter().map(|refused| refused.is_known).collect::<Vec<_>>(),
            [false, false, true]
        );
    }

    /// Where every variant differs, stock is left, and nothing is said of it.
    #[test]
    fn stock_is_left() {
        let mut given = Given::new(&[mutant("%d0, [p]", "%d0, [p+0]").replace("u32 [%d1+4]", "u16 [%d1+4]")]);
        assert_eq!(given.find(), (None, None, vec![0]));
        let mut nothing = Given::new(&[]);
        assert_eq!(nothing.find(), (None, None, vec![]));
    }

    /// A variant that stores what nobody wrote is wrong where stock does not, as one that accesses memory nowhere.
    #[test]
    fn what_only_the_variant_lacks_is_a_difference() {
        for (from, to) in [
            ("ld.global.u32 %r1, [%d1];", ""),
            ("ld.global.u32 %r1, [%d1];", ".shared .b32 slot; ld.shared.u32 %r1, [slot];"),
            ("[%d1+4]", "[%d1+5]"),
        ] {
            let mut given = Given::new(&[mutant(from, to)]);
            assert_eq!(given.find(), (None, None, vec![0]), "{to}");
            assert!(given.kept.borrow()[0].starts_with("the second program alone: "), "{:?}", given.kept);
        }
    }

    /// Slots in shared memory, of a thread's own, are no difference.
    #[test]
    fn slots_in_shared_memory_are_no_difference() {
        let load = "ld.global.u32 %r1, [%d1];";
        let moved = ".shared .align 4 .b8 slots[4096]; mov.u32 %r3, slots; mad.lo.u32 %r3, %r0, 4, %r3;\n\
            \tst.shared.u32 [%r3], %r1; mov.u32 %r1, 0; ld.shared.u32 %r1, [%r3];";
        let mut given = Given::new(&[mutant(load, &format!("{load}\n\t{moved}"))]);
        assert_eq!(given.find(), (Some(0), Some(Agreement::Same), vec![]), "{:?}", given.kept);
    }

    /// A variant of which nothing can be said may win, with the reason.
    #[test]
    fn what_is_not_comparable_may_win() {
        let endless = mutant("add.s32 %r2, %r1, %r0;", "again: bra again;");
        let mut given = Given::new(&[endless]);
        let (winner, agreement, refused) = given.find();
        assert_eq!((winner, refused), (Some(0), vec![]));
        let Some(Agreement::NotComparable(reason)) = agreement else { panic!("{agreement:?}") };
        assert!(reason.starts_with("the variant: it runs for more than"), "{reason}");
    }
}
