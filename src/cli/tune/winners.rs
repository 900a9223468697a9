//! Comparison of winners: the best variant of each kernel wins only if it computes the same as stock.
//!
//! A variant with other results is refused and stored with stock's PTX for a bug report. Then the next best variant is
//! compared. A variant that cannot be compared can win only if the checker has proved all of its changes, or if the
//! user allows it.

use std::path::PathBuf;
use std::sync::OnceLock;

use nvptx_ra::bundle;
use nvptx_ra::error::Error;
use nvptx_ra::index::{EntityIndex as _, IndexVec};
use nvptx_ra::printable::printable;
use nvptx_ra::tune::agreement::{Agreement, Difference};
use nvptx_ra::tune::axis::Axis;
use nvptx_ra::tune::figures::Block;
use nvptx_ra::tune::findings::{Compared, DifferingVariant};
use nvptx_ra::tune::predicted::Predicted;
use nvptx_ra::tune::price::Work;
use nvptx_ra::tune::search::{KernelId, Search};
use nvptx_ra::tune::variant::Variant;

use super::agreement::{self, ComparisonBound, ComparisonSettings};
use super::assembled_stock::{AssembledStock, code_of};
use super::judge::ptxas::Ptxas;
use super::predict::{self, StockPrediction};
use super::tuning::{Judges, Slice, Tuning};
use super::work_queue::{Clients, serve_clients};
use crate::interrupt::is_interrupted;
use crate::kernel_names;
use crate::time::code::Code;

/// Where the PTX of variants that differ is stored.
pub(super) enum DifferenceFolder {
    /// Nowhere, because a later call finds the same variants.
    Nowhere,
    /// In a private folder for temporary files.
    Privately,
    /// In new folders under this one.
    In(PathBuf),
}

/// A comparer of kernels' variants with stock.
pub(super) struct Comparer<'a> {
    /// Provides the machine code.
    ptxas: &'a Ptxas,
    /// Provides stock's machine code, if a build has already assembled it.
    known: Option<&'a AssembledStock<'a>>,
    keep: DifferenceFolder,
    /// Whether variants run on the CPU. If not, only the checker decides.
    runs_them: bool,
    /// Stock's PTX of each kernel, once it is needed.
    stock: IndexVec<KernelId, Stock>,
    /// The limits of each kernel's comparisons.
    bounds: IndexVec<KernelId, ComparisonBound>,
}

/// Stock's PTX and machine code of a kernel, once they are needed.
#[derive(Default)]
struct Stock {
    ptx: OnceLock<Result<Vec<u8>, Error>>,
    code: OnceLock<Option<Code>>,
    prediction: OnceLock<Option<StockPrediction>>,
}

impl<'a> Comparer<'a> {
    pub(super) fn new(search: &Search, judges: Judges<'a>, keep: DifferenceFolder, runs_them: bool) -> Self {
        let Judges { ptxas, stock: known, .. } = judges;
        let bound = |work: Option<Work>| {
            work.map_or(ComparisonBound::Runs(search.run_limits.runs), |work| ComparisonBound::Work(work.times(0.5)))
        };
        let bounds = search.kernels.iter().map(|kernel| bound(kernel.work_of_comparison())).collect();
        Self { ptxas, known, keep, runs_them, stock: search.kernels.iter().map(|_| Stock::default()).collect(), bounds }
    }

    /// Predicts a variant relative to stock.
    pub(super) fn predicted_beside(
        &self,
        id: KernelId,
        slice: &Slice<'_>,
        block: Block,
        variant: &Variant,
    ) -> Option<Predicted> {
        let trial = Trial { slice, block, bound: self.bounds[id], comparer: self, stock: &self.stock[id] };
        let text = slice.compile(variant).ok()?;
        let cubin = self.ptxas.machine_code(&text, slice.limit)?;
        trial.predicted(trial.code_of_stock()?, &code_of(&cubin)?)
    }

    /// Compares a variant with stock. The PTX of both is stored if they differ.
    pub(super) fn compared(&self, id: KernelId, slice: &Slice<'_>, block: Block, variant: &Variant) -> Compared {
        Trial { slice, block, bound: self.bounds[id], comparer: self, stock: &self.stock[id] }.compared(variant)
    }
}

/// Compares the best variants of all kernels with stock until all winners pass.
pub(super) fn compare(tuning: &mut Tuning<'_>, comparer: &Comparer<'_>) {
    let Tuning { search, slices, search_limits, .. } = tuning;
    let blocks: IndexVec<KernelId, Block> = search.kernels.iter().map(|kernel| kernel.block).collect();
    serve_clients(search_limits.jobs, slices.len(), &mut Comparisons { search }, |kernel, variant| {
        let id = KernelId::new(kernel);
        let compared = comparer.compared(id, &slices[id], blocks[id], &variant);
        (variant, compared)
    });
}

/// The kernels of a search whose best variants are compared, one after the other.
struct Comparisons<'a> {
    search: &'a mut Search,
}

impl Clients for Comparisons<'_> {
    type Task = Variant;
    type Outcome = (Variant, Compared);

    fn next(&mut self, kernel: usize) -> Vec<Variant> {
        let variant = if is_interrupted() { None } else { self.search.ask_comparison(KernelId::new(kernel)) };
        variant.into_iter().collect()
    }

    fn take(&mut self, kernel: usize, outcomes: Vec<(Variant, Compared)>) {
        for (variant, compared) in outcomes {
            self.search.tell_comparison(KernelId::new(kernel), variant, compared);
        }
    }
}

/// A kernel and what the comparison of one of its variants needs.
struct Trial<'a> {
    slice: &'a Slice<'a>,
    block: Block,
    bound: ComparisonBound,
    comparer: &'a Comparer<'a>,
    stock: &'a Stock,
}

impl Trial<'_> {
    /// Compares a variant with stock, compiled with the checker. A variant that the checker refuses counts as
    /// different.
    fn compared(&self, variant: &Variant) -> Compared {
        let stock = match self.ptx_of_stock() {
            Ok(stock) => stock,
            Err(error) => return agreement::of_stock(error.clone()),
        };
        let text = match self.checked(variant) {
            Ok(text) => text,
            Err(compared) => return *compared,
        };
        if !self.comparer.runs_them {
            return Compared { is_stocks: true, ..Agreement::NotCompared.into() };
        }
        // Another name of the kernel changes only the machine code, so the PTX is compared under the kernel's own name.
        let own = match variant.with_own_name().map(|own| self.checked(&own)).transpose() {
            Ok(own) => own,
            Err(compared) => return *compared,
        };
        let texts: [&[u8]; 2] = [stock, own.as_ref().unwrap_or(&text)];
        let cubin = self.comparer.ptxas.machine_code(&text, self.slice.limit);
        let code = cubin.as_deref().and_then(code_of);
        let codes = code.as_ref().zip(self.code_of_stock());
        let machines = codes.map(|(variant, stock)| [&stock.machine, &variant.machine]);
        let mut compared = agreement::compare(&self.slice.kernel, texts, machines, self.settings(variant));
        if own.is_some() && compared.executed.is_none_or(|executed| executed.machine.is_none()) {
            compared = without_machine_code(compared);
        }
        let texts = [texts[0], texts[1], cubin.as_deref().unwrap_or_default()];
        let folder = match &compared.agreement {
            Agreement::Different(difference) => self.kept(variant, texts, difference),
            _ => None,
        };
        let is_different = matches!(compared.agreement, Agreement::Different(_));
        let predicted = codes.filter(|_| !is_different).and_then(|(variant, stock)| self.predicted(stock, variant));
        Compared { folder, predicted, ..compared }
    }

    /// Returns the predicted times of a variant and stock.
    fn predicted(&self, stock: &Code, variant: &Code) -> Option<Predicted> {
        predict::beside(self.prediction_of(stock)?, variant, &self.slice.kernel)
    }

    fn prediction_of(&self, stock: &Code) -> Option<&StockPrediction> {
        let predict = || {
            let bytes = self.ptx_of_stock().as_ref().map_or(0, Vec::len);
            predict::of_stock(stock, &self.slice.kernel, bytes, self.settings(&Variant::Stock))
        };
        self.stock.prediction.get_or_init(predict).as_ref()
    }

    fn ptx_of_stock(&self) -> &Result<Vec<u8>, Error> {
        self.stock.ptx.get_or_init(|| self.slice.compile(&Variant::Stock))
    }

    fn code_of_stock(&self) -> Option<&Code> {
        if let Some(known) = self.comparer.known.filter(|known| known.has(&self.slice.kernel)) {
            let code = known.code();
            // In a file with several kernels, this project's tables may lack an instruction that only another kernel
            // has.
            if code.is_some() || known.has_one() {
                return code;
            }
        }
        let read = || code_of(&self.comparer.ptxas.machine_code(self.ptx_of_stock().as_ref().ok()?, self.slice.limit)?);
        self.stock.code.get_or_init(read).as_ref()
    }

    /// Compiles the PTX of a variant with the checker.
    fn checked(&self, variant: &Variant) -> Result<Vec<u8>, Box<Compared>> {
        self.slice.compile_checked(variant).map_err(|error| {
            // The variant was compiled before without the checker, so the error is the checker's.
            let place = format!("compiled with the checker: {}", error.problem);
            Box::new(Agreement::Different(Difference { place, command: String::new() }).into())
        })
    }

    fn settings(&self, variant: &Variant) -> ComparisonSettings {
        ComparisonSettings {
            threads: self.block.threads.filter(|_| !self.block.says_threads),
            dynamic_shared: self.block.dynamic_shared,
            // Code of other compilers or other LLVM optimisations fuses other operations and rounds differently.
            is_exact: variant.is_proved(),
            bound: self.bound,
        }
    }

    /// Stores stock's PTX, and the PTX and machine code of a variant. Returns the folder.
    fn kept(&self, variant: &Variant, [stock, text, code]: [&[u8]; 3], difference: &Difference) -> Option<PathBuf> {
        let parent = match &self.comparer.keep {
            DifferenceFolder::Nowhere => return None,
            DifferenceFolder::Privately => None,
            DifferenceFolder::In(folder) => Some(folder.as_path()),
        };
        let name = &self.slice.kernel;
        let Difference { place, command } = difference;
        let report = format!(
            "kernel: {}\nchoice: {variant}\n\nThe first program is stock.ptx, the second one variant.ptx.\n{place}\n\n\
             {command}\n",
            printable(name)
        );
        let files = [
            ("stock.ptx", stock),
            (agreement::VARIANT, text),
            (agreement::VARIANT_CODE, code),
            ("difference.txt", report.as_bytes()),
        ];
        bundle::keep(parent, name, &files).map_err(|error| say!("{error}")).ok()
    }
}

/// Returns the messages about variants that differ, one a line.
pub(super) fn warnings(search: &Search) -> impl Iterator<Item = String> {
    let refused = search.kernels.iter().flat_map(|kernel| kernel.findings.refused.iter().map(move |one| (kernel, one)));
    refused.filter(|(_, one)| !one.is_known).map(|(kernel, one)| warning(&kernel.name, one))
}

/// Returns one message about the variants that do not win because they are predicted to be slower.
pub(super) fn slower(search: &Search) -> Option<String> {
    let slower = search.kernels.iter().filter_map(|kernel| Some((&kernel.name, kernel.findings.first_slower()?)));
    let mut slower = slower.peekable();
    let &(name, (variant, predicted)) = slower.peek()?;
    Some(format!(
        "nvptx-ra: of {} of the kernels, variants do not win because they are predicted to be slower: '{}' with '{variant}' \
         is predicted {}",
        slower.count(),
        kernel_names::short(name),
        predicted.words()
    ))
}

/// Returns the comparison of a variant under another name, if its machine code did not run. Equal results of the PTX
/// then count as not comparable.
fn without_machine_code(compared: Compared) -> Compared {
    let reason = "ptxas compiles the kernel differently under another name, and the machine code could not be compared";
    match compared.agreement {
        Agreement::Same => Compared { agreement: Agreement::NotComparable(reason.into()), ..compared },
        _ => compared,
    }
}

fn warning(kernel: &str, refused: &DifferingVariant) -> String {
    let DifferingVariant { variant, difference, folder, .. } = refused;
    if variant.moves_along(Axis::Blocks) {
        let kernel = kernel_names::readable(kernel);
        return format!("nvptx-ra: kernel '{kernel}': '{variant}' does not win: {}", difference.place);
    }
    let report = folder.as_ref().map_or(String::new(), |folder| format!("; please report {}", folder.display()));
    let kernel = kernel_names::readable(kernel);
    format!(
        "nvptx-ra: warning: kernel '{kernel}': '{variant}' computes other results than stock, and does not win: \
         {}{report}",
        difference.place
    )
}

#[cfg(test)]
mod tests {
    use nvptx_ra::profile::fingerprint;
    use nvptx_ra::target::machine::{Architecture, SHARED_COST};
    use nvptx_ra::tune::figures::{Allowance, Figures, preference};
    use nvptx_ra::tune::kernel::Kernel;
    use nvptx_ra::tune::objective::{Objective, RunLimits};
    use nvptx_ra::tune::optimisations::Choices;
    use nvptx_ra::tune::ptxas_output::{PtxasReport, Sass};
    use nvptx_ra::tune::question::{Answer, NoAnswer, Question};

    use super::*;

    /// A kernel that stores a sum.
    const SUM: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
        \t.reg .b32 %r<5>;\n\t.reg .b64 %d<3>;\n\tld.param.u64 %d0, [p];\n\tmov.u32 %r0, %tid.x;\n\
        \tmad.wide.u32 %d1, %r0, 8, %d0;\n\tld.global.u32 %r1, [%d1];\n\tadd.s32 %r2, %r1, %r0;\n\
        \tst.global.u32 [%d1+4], %r2;\n\tret;\n}\n";

    const ID: KernelId = KernelId(0);

    /// Returns the comparison of a variant's PTX.
    fn compared(text: &str) -> Compared {
        let settings =
            ComparisonSettings { bound: ComparisonBound::Runs(4), is_exact: true, ..ComparisonSettings::default() };
        agreement::compare("k", [SUM.as_bytes(), text.as_bytes()], None, settings)
    }

    /// Runs a search whose variants have the given PTX, in the order in which they are tried. Each variant spills less
    /// than the one before.
    fn searched(texts: &[String]) -> Search {
        let architecture = Architecture::by_name("sm_90").expect("is known");
        let (allowance, preference) = (Allowance::default(), preference(&[]));
        let objective = Objective { architecture, allowance, seed: 0, preference, shared_cost: SHARED_COST };
        let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
        let figures = |spill_store_bytes| {
            let (ptxas_report, sass) = (PtxasReport { spill_store_bytes, ..PtxasReport::default() }, Sass::default());
            Figures::new(ptxas_report, sass, architecture, block)
        };
        let kernel = Kernel::new("k", "0", block, figures(100), fingerprint(SUM), Choices::CodeGeneration);
        let run_limits = RunLimits::of_runs(texts.len());
        let mut search = Search { objective, run_limits, kernels: IndexVec::from(vec![kernel]) };
        let mut variants = Vec::new();
        loop {
            let mut answer = |question: Question| match question {
                Question::Spilled(_) => Answer::Spilled(Err(NoAnswer::Refused("no".into()))),
                Question::Compared(variant) => {
                    let number = variants.iter().position(|other| *other == variant).expect("it was compiled");
                    Answer::Compared(Some(compared(&texts[number])))
                }
                Question::Text(variant) => {
                    variants.push(variant);
                    let text = texts.get(variants.len() - 1).map(|text| fingerprint(text));
                    Answer::Text(text.ok_or(NoAnswer::Refused("none".into())))
                }
                Question::Figures(variant) => {
                    let number = variants.iter().position(|other| *other == variant).expect("it was compiled");
                    Answer::Figures(Ok(figures(80 - 8 * number as u32)))
                }
            };
            let answers: Vec<Answer> = search.ask(ID).into_iter().map(&mut answer).collect();
            if answers.is_empty() {
                return search;
            }
            search.tell(ID, answers);
        }
    }

    /// Searches variants with the given PTX. Returns the winner, its comparison, the refused variants, and where each
    /// differs. Variants are numbers.
    fn find(texts: &[String]) -> (Option<usize>, Option<Agreement>, Vec<usize>, Vec<String>) {
        let mut search = searched(texts);
        let tried: Vec<Variant> = search.kernels[ID].tried.iter().map(|tried| tried.variant.clone()).collect();
        let number = |variant: &Variant| tried.iter().position(|other| other == variant);
        while let Some(variant) = search.ask_comparison(ID) {
            let text = &texts[number(&variant).expect("it was tried")];
            search.tell_comparison(ID, variant, compared(text));
        }
        let findings = &search.kernels[ID].findings;
        let refused = findings.refused.iter().filter_map(|refused| number(&refused.variant)).collect();
        let places = findings.refused.iter().filter(|one| !one.is_known).map(|one| one.difference.place.clone());
        (number(&search.best(ID).0), findings.winner.clone(), refused, places.collect())
    }

    fn mutant(from: &str, to: &str) -> String {
        let mutant = SUM.replacen(from, to, 1);
        assert_ne!(mutant, SUM);
        mutant
    }

    /// The best variant that computes the same as stock wins. The same wrong PTX is reported once.
    #[test]
    fn what_differs_never_wins() {
        let right = mutant("%r1, %r0;\n", "%r0, %r1;\n");
        let wrong = mutant("add.s32", "sub.s32");
        let (winner, agreement, refused, places) =
            find(&[right.clone(), right, wrong.clone(), wrong, mutant("+4", "+12")]);
        assert_eq!((winner, agreement), (Some(0), Some(Agreement::Same)));
        assert_eq!(refused, [4, 2, 3]);
        assert_eq!(places.len(), 2, "{places:?}");
        assert!(places[1].contains("the second program stores 0x"), "{places:?}");
    }

    /// If every variant differs, stock wins, without a comparison.
    #[test]
    fn stock_is_left() {
        let other = mutant("%d0, [p]", "%d0, [p+0]").replace("u32 [%d1+4]", "u16 [%d1+4]");
        let (winner, agreement, refused, _) = find(&[other]);
        assert_eq!((winner, agreement, refused), (None, None, vec![0]));
        assert_eq!(find(&[]), (None, None, vec![], vec![]));
    }

    /// A variant that stores a value that was never written is wrong if stock does not. A variant that accesses memory
    /// outside of all buffers is wrong, too.
    #[test]
    fn what_only_the_variant_lacks_is_a_difference() {
        for (from, to) in [
            ("ld.global.u32 %r1, [%d1];", ""),
            ("ld.global.u32 %r1, [%d1];", ".shared .b32 slot; ld.shared.u32 %r1, [slot];"),
            ("[%d1+4]", "[%d1+5]"),
        ] {
            let (winner, agreement, refused, places) = find(&[mutant(from, to)]);
            assert_eq!((winner, agreement, refused), (None, None, vec![0]), "{to}");
            assert!(places[0].starts_with("the second program alone: "), "{places:?}");
        }
    }

    /// Slots in shared memory, separate for each thread, are no difference.
    #[test]
    fn slots_in_shared_memory_are_no_difference() {
        let load = "ld.global.u32 %r1, [%d1];";
        let moved = ".shared .align 4 .b8 slots[4096]; mov.u32 %r3, slots; mad.lo.u32 %r3, %r0, 4, %r3;\n\
            \tst.shared.u32 [%r3], %r1; mov.u32 %r1, 0; ld.shared.u32 %r1, [%r3];";
        let found = find(&[mutant(load, &format!("{load}\n\t{moved}"))]);
        assert_eq!(found, (Some(0), Some(Agreement::Same), vec![], vec![]));
    }

    /// A variant that does not terminate differs if stock terminates.
    #[test]
    fn what_does_not_end_is_a_difference() {
        let (winner, _, refused, _) = find(&[mutant("add.s32 %r2, %r1, %r0;", "again: bra again;")]);
        assert_eq!((winner, refused), (None, vec![0]));
    }

    /// A proved variant that could not be compared can win. The result states the reason.
    #[test]
    fn what_is_not_comparable_may_win() {
        let (winner, agreement, refused, _) = find(&[mutant("add.s32 %r2, %r1, %r0;", "unheard.of.u32 %r2, %r1;")]);
        assert_eq!((winner, refused), (Some(0), vec![]));
        let Some(Agreement::NotComparable(reason)) = agreement else { panic!("{agreement:?}") };
        assert!(reason.starts_with("the variant: ") && reason.contains("unheard.of"), "{reason}");
    }
}
