//! Tests of the search against judges with random answers: PTX that many variants share, figures around stock's,
//! refusals, delayed answers, comparisons that refuse variants or are not possible, and executed instructions. Whatever
//! the answers are, no kernel gets worse than stock, and no winner is excluded by a rule.

mod judge;

use std::collections::{BTreeMap, BTreeSet};

use self::judge::{Case, Judge, stock_text};
use super::*;
use crate::tune::agreement::Agreement;
use crate::tune::figures::{Allowance, Measure};
use crate::tune::findings::Executed;
use crate::tune::kernel::{COMPILED_FOR_EACH, ROUND};
use crate::tune::predicted::{Predicted, Source};
use crate::tune::question::NoAnswer;

/// A completed search with its questions.
struct Asked {
    search: Search,
    /// All questions about each kernel.
    questions: IndexVec<KernelId, Vec<Question>>,
    /// The figures of each PTX that was asked about, adjusted for the variant in the question. `None` if ptxas refused
    /// the PTX.
    told: BTreeMap<String, Option<Figures>>,
    /// The answers to the comparisons of each variant of each kernel.
    compared: IndexVec<KernelId, Vec<(Variant, Compared)>>,
    /// The PTX of each variant of each kernel.
    texts: IndexVec<KernelId, Vec<(Variant, String)>>,
}

/// Runs a search to the end. `turns` decides the order of the kernels. Answers for the PTX that `is_later` selects are
/// delayed.
fn searched(case: &Case, turns: u64, mut is_later: impl FnMut(&str) -> bool) -> Asked {
    let judge = case.judge;
    let mut search = case.search();
    let mut questions: IndexVec<KernelId, Vec<Question>> = search.kernels.iter().map(|_| Vec::new()).collect();
    let mut texts: IndexVec<KernelId, Vec<(Variant, String)>> = search.kernels.iter().map(|_| Vec::new()).collect();
    let mut told = BTreeMap::new();
    let mut compared: IndexVec<KernelId, Vec<(Variant, Compared)>> =
        search.kernels.iter().map(|_| Vec::new()).collect();
    let (mut open, mut phases) = (Vec::new(), search.phases().into_iter());
    let by = Judge { number: turns, ..judge };
    for turn in 0.. {
        while open.is_empty()
            && let Some(phase) = phases.next()
        {
            open = search.begin(&phase);
        }
        let Some(at) = (!open.is_empty()).then(|| by.draw(&format!("turn {turn}"), open.len() as u64) as usize) else {
            break;
        };
        let id = open[at];
        let asked = search.ask(id);
        assert_eq!(search.ask(id), asked, "what is not answered is asked again");
        if asked.is_empty() {
            open.swap_remove(at);
            continue;
        }
        let stock = search.kernels[id].stock;
        let mut answer = |question: &Question| match question {
            Question::Text(variant) => Answer::Text(judge.text(id, variant).inspect(|text| {
                texts[id].push((variant.clone(), text.clone()));
            })),
            Question::Spilled(variant) => Answer::Spilled(judge.spilled(id, variant)),
            Question::Compared(variant) => {
                assert!(!variant.is_proved(), "a proof need not be compared while others are tried");
                let found = judge.compared(id, &judge.text(id, variant).expect("it has PTX"));
                compared[id].push((variant.clone(), found.clone()));
                Answer::Compared(Some(found))
            }
            Question::Figures(variant) => {
                let text = judge.text(id, variant).expect("it has PTX");
                assert!(text != stock_text(id), "stock is known");
                if is_later(&text) {
                    return Answer::Figures(Err(NoAnswer::Later));
                }
                let figures = judge.figures(&text, &stock);
                let with_slots = figures.clone().ok().map(|figures| {
                    let (cost, figures) = (case.objective.shared_cost, figures.with_arrays(case.objective.allowance));
                    if variant.spills_to_shared() { figures.with_slots_in_shared(&stock, cost) } else { figures }
                });
                assert!(told.insert(text, with_slots).is_none(), "the same PTX is asked for once");
                Answer::Figures(figures)
            }
        };
        let answers = asked.iter().map(&mut answer).collect();
        questions[id].extend(asked);
        search.tell(id, answers);
    }
    Asked { search, questions, told, compared, texts }
}

/// Returns a figure as a number. Less is better.
fn value(figures: &Figures, measure: Measure) -> i64 {
    match measure {
        Measure::Spills => figures.spill_cost() as i64,
        Measure::Warps => -i64::from(figures.warps),
        Measure::Local => figures.sass.local.into(),
        Measure::Instructions => figures.instructions().into(),
    }
}

/// Returns the values in the order of preference. After the spill cost comes the number of base-4 digits of the
/// accesses of local memory.
fn values(figures: &Figures, objective: &Objective) -> Vec<i64> {
    let digits = |mut local: u32| {
        let mut digits = 0;
        while local > 0 {
            (local, digits) = (local / 4, digits + 1);
        }
        digits
    };
    let with_digits = |&measure: &Measure| match measure {
        Measure::Spills => vec![value(figures, measure), digits(figures.sass.local)],
        // Among equal figures, unrolled loops win.
        Measure::Instructions => vec![value(figures, measure), i64::from(figures.rolled.is_none())],
        _ => vec![value(figures, measure)],
    };
    objective.preference.iter().flat_map(with_digits).collect()
}

/// Returns the name of the first figure that is worse than stock's although the allowance does not permit it.
fn worse(figures: &Figures, stock: &Figures, allowance: Allowance) -> Option<&'static str> {
    let bytes = |of: &Figures| of.ptxas_report.spill_store_bytes + of.ptxas_report.spill_load_bytes;
    let instructions = |of: &Figures| u64::from(of.instructions());
    let most = instructions(stock) + u64::from(allowance.more_instructions) * instructions(stock) / 100;
    [
        (bytes(figures) > bytes(stock) && !allowance.spills_for_arrays, "bytes spilled"),
        (figures.spill_cost() > stock.spill_cost(), "the cost of what is spilled"),
        (figures.warps < stock.warps && !allowance.fewer_warps, "warps"),
        (figures.blocks.largest() < stock.blocks.largest(), "the largest block"),
        (!figures.blocks.hold_no_fewer(&stock.blocks) && !allowance.fewer_warps, "warps of some size of blocks"),
        (figures.ptxas_report.advice > stock.ptxas_report.advice, "what ptxas complains of"),
        (instructions(figures) > most, "instructions"),
    ]
    .into_iter()
    .find_map(|(is_worse, what)| is_worse.then_some(what))
}

/// Whether figures are better than stock's: by the benchmark if there is one, else by the preference.
fn is_better(figures: &Figures, stock: &Figures, objective: &Objective) -> bool {
    match (figures.timing, stock.timing) {
        (Some(one), Some(stock)) => stock.median - one.median > one.spread.max(stock.spread),
        (None, None) => values(figures, objective) < values(stock, objective),
        _ => false,
    }
}

/// Returns the figures of ptxas and the disassembler, without adjustments.
fn as_told(figures: Figures) -> Figures {
    Figures { least_counts: [0; 2], rolled: None, ..figures }
}

/// Whether a variant inlines or unrolls differently from LLVM.
fn reshapes(variant: &Variant) -> bool {
    ["inline=", "unroll="].iter().any(|option| variant.to_string().contains(option))
}

/// Whether fewer instructions in a variant's code are no gain.
fn does_less(variant: &Variant) -> bool {
    ["inline=less", "unroll=asked", "unroll=cut", "skip-passes="]
        .iter()
        .any(|option| variant.to_string().contains(option))
}

/// Whether a variant may execute more than stock to save registers.
fn may_execute_more(variant: &Variant) -> bool {
    let text = variant.to_string();
    let skips = text.split(';').find(|option| option.starts_with("skip-passes=")).unwrap_or_default();
    let reshapes = ["inline=", "unroll=asked", "unroll=cut"].iter().any(|option| text.contains(option));
    reshapes || skips.contains("loop-reduce")
}

/// Whether the checker's proof suffices for a variant, because neither LLVM's optimisations nor the compiler differ.
fn is_proved(variant: &Variant) -> bool {
    let text = variant.to_string();
    variant.compiler() == 0
        && !["inline=", "unroll=", "skip-passes=", "add-passes="].iter().any(|option| text.contains(option))
}

/// Returns the rule that excludes a variant with these figures, given the result of its comparison.
fn bar(
    case: &Case,
    variant: &Variant,
    compared: &Compared,
    figures: &Figures,
    stock: &Figures,
) -> Option<&'static str> {
    if matches!(compared.agreement, Agreement::Different(_)) {
        return Some("it differs");
    }
    if !is_proved(variant) && compared.agreement != Agreement::Same && !case.objective.allowance.uncompared {
        return Some("nothing shows that it computes the same");
    }
    let bytes = |of: &Figures| of.ptxas_report.spill_store_bytes + of.ptxas_report.spill_load_bytes;
    let text = variant.to_string();
    let turns_loops = text.contains("loop-shape");
    let keeps_values =
        ["regalloc-registers", "regalloc=", "enable_smem_spilling"].iter().any(|part| text.contains(part));
    let is_slower = |one: &Predicted| match one.source {
        Source::Run => one.ratio > if turns_loops || keeps_values { 1.2 } else { 1.01 },
        Source::Part => one.ratio > 1.2,
        Source::Walk => one.ratio > 1.2 && !turns_loops,
    };
    if !case.judge.times && compared.predicted.as_ref().is_some_and(is_slower) {
        return Some("it is predicted to be slower");
    }
    let pays = |executed: Executed| {
        let [instructions, more] = executed.instructions;
        let [accesses, fewer] = executed.local;
        let spares =
            bytes(stock) > 0 && bytes(figures) <= bytes(stock) * 2 / 3 || accesses > 0 && fewer <= accesses * 2 / 3;
        spares && more * 10 <= instructions * 11 || figures.warps > stock.warps && more <= instructions
    };
    let must_pay = may_execute_more(variant) && !case.judge.times;
    (must_pay && !compared.executed.is_some_and(pays)).then_some("it may execute more for nothing")
}

impl Asked {
    fn text(&self, kernel: KernelId, variant: &Variant) -> Option<&str> {
        self.texts[kernel].iter().find(|(other, _)| other == variant).map(|(_, text)| text.as_str())
    }

    /// The best of a kernel is stock, or a variant that ranks before stock and has no worse figure. Once all
    /// comparisons are known, no other admissible variant is better than the best.
    fn check_best(&self, case: &Case, id: KernelId, is_compared: bool) {
        let Search { objective, ref kernels, .. } = self.search;
        let (stock, (variant, best)) = (kernels[id].stock, self.search.best(id));
        if variant == Variant::Stock {
            assert_eq!(best, stock);
        } else {
            let text = self.text(id, &variant).expect("it has PTX");
            let bar = bar(case, &variant, &case.judge.compared(id, text), &best, &stock);
            assert_eq!(bar.filter(|_| is_compared), None, "{variant}: {case:?}");
            assert_eq!(self.told[text], Some(as_told(best)), "{variant} has the figures of its PTX");
            if let Some(rolled) = best.rolled {
                let as_it_comes = variant.with_loops_as_they_come().expect("its loops are turned");
                let known = |of: &Variant| kernels[id].tried.iter().find(|tried| tried.variant == *of)?.figures;
                // If ptxas refuses the variant without turned loops, the unchanged code of its compiler takes its
                // place. If that is unknown, too, stock takes its place.
                let theirs = Variant::Stock.on_code_of(variant.compiler());
                let unchanged = known(&as_it_comes).or_else(|| known(&theirs)).unwrap_or(stock);
                assert_eq!(rolled, unchanged.sass.instructions, "{variant}: {case:?}");
                assert!(best.sass.work > unchanged.sass.work, "{variant} has copies of nothing: {case:?}");
            }
            let has_more_accesses = reshapes(&variant) && best.sass.local > stock.sass.local;
            assert!(case.judge.times || !has_more_accesses, "{variant} may have arrays in memory: {case:?}");
            assert_eq!(worse(&best, &stock, objective.allowance), None, "{variant} is worse than stock: {case:?}");
            assert!(is_better(&best, &stock, &objective), "{variant} is no better than stock: {case:?}");
        }
        if case.judge.times {
            return;
        }
        if !is_compared {
            return;
        }
        let judged = || {
            let judged = kernels[id].tried.iter().filter_map(|tried| Some((&tried.variant, tried.figures?)));
            judged.filter(|(other, figures)| {
                let compared = self.text(id, other).map(|text| case.judge.compared(id, text));
                compared.is_none_or(|compared| bar(case, other, &compared, figures, &stock).is_none())
            })
        };
        // Other compilers' unchanged code that is better than stock. No winner may be worse than such code, until a
        // requested comparison excludes the code. If a comparison would exclude the code but was not requested, the
        // test accepts both results.
        let findings = &kernels[id].findings;
        let theirs = kernels[id].tried.iter().filter_map(|tried| Some((&tried.variant, tried.figures?)));
        let theirs = theirs.filter(|(other, figures)| {
            let is_set_aside =
                findings.has_refused(other) || findings.has_disqualified(other, objective.allowance.uncompared);
            let counts =
                worse(figures, &stock, objective.allowance).is_none() && is_better(figures, &stock, &objective);
            matches!(other, Variant::Linked(_)) && !is_set_aside && counts
        });
        let held: Vec<(&Variant, Figures)> = theirs.collect();
        let floor = held.iter().min_by_key(|(_, figures)| values(figures, &objective));
        let floor =
            floor.filter(|(theirs, _)| judged().any(|(other, _)| other == *theirs)).map(|(_, figures)| *figures);
        let worse_than_theirs = |figures: &Figures| floor.and_then(|floor| worse(figures, &floor, objective.allowance));
        let is_worse_than_held =
            |figures: &Figures| held.iter().any(|(_, floor)| worse(figures, floor, objective.allowance).is_some());
        assert_eq!(worse_than_theirs(&best), None, "{variant} is worse than another compiler's code: {case:?}");
        for (other, figures) in judged() {
            // If ptxas unrolls less of turned loops, fewer instructions are no gain.
            let is_rolled_up = other.with_loops_as_they_come().is_some() && figures.rolled.is_none();
            if is_rolled_up || does_less(other) || reshapes(other) && figures.sass.local > stock.sass.local {
                continue;
            }
            // A few instructions less do not justify other code.
            let differs = |measure: &Measure| value(&figures, *measure) != value(&stock, *measure);
            let is_worthwhile = objective.preference.iter().any(|m| *m != Measure::Instructions && differs(m))
                || figures.rolled.is_some()
                || 100 * figures.instructions() <= 98 * stock.instructions();
            let counts =
                worse(&figures, &stock, objective.allowance).is_none() && worse_than_theirs(&figures).is_none();
            let counts = counts && !is_worse_than_held(&figures);
            if counts && is_better(&figures, &stock, &objective) && is_worthwhile {
                assert!(
                    values(&best, &objective) <= values(&figures, &objective),
                    "{other} is better than {variant}: {case:?}"
                );
            }
        }
    }

    /// No question is asked twice, and no more variants are judged than the limits allow.
    fn check_limits(&self, id: KernelId) {
        let kernel = &self.search.kernels[id];
        let runs = kernel.share_of(&self.search.run_limits);
        let text = |question: &Question| match question {
            Question::Text(variant) => Some(variant.clone()),
            Question::Figures(_) | Question::Spilled(_) | Question::Compared(_) => None,
        };
        let texts: Vec<Variant> = self.questions[id].iter().filter_map(text).collect();
        let judged = self.questions[id].len() - texts.len() - self.compared[id].len();
        let turned = texts.last().is_some_and(|variant| variant.with_loops_as_they_come().is_some());
        assert!(judged <= runs + usize::from(turned) && kernel.runs() <= judged, "{judged} of {runs} runs");
        let others = texts.len() - usize::from(turned);
        assert!(others < COMPILED_FOR_EACH * runs + ROUND || runs == 0 && others == 0);
        assert!((1..texts.len()).all(|at| !texts[..at].contains(&texts[at])), "a variant is asked for twice");
        assert!(!texts.contains(&Variant::Stock));
    }

    /// Every variant has the figures of its PTX, whichever variant the question was about.
    fn check_tried(&self, id: KernelId) {
        let kernel = &self.search.kernels[id];
        let is_text = |question: &&Question| matches!(question, Question::Text(_));
        let asked = self.questions[id].iter().filter(is_text).count();
        assert!(kernel.waits() || kernel.tried.len() == asked, "what is told is noted");
        for tried in &kernel.tried {
            let told = self.text(id, &tried.variant).map(|text| match text == stock_text(id) {
                true => Some(kernel.stock),
                false => self.told[text],
            });
            assert_eq!(tried.figures.map(as_told), told.flatten().map(as_told), "{}", tried.variant);
        }
    }

    /// Compares the winner until it passes.
    fn compare(&mut self, case: &Case, id: KernelId) {
        while let Some(variant) = self.search.ask_comparison(id) {
            assert!(self.compared[id].len() <= self.questions[id].len(), "comparisons come to an end");
            let compared = case.judge.compared(id, self.text(id, &variant).expect("it has PTX"));
            self.compared[id].push((variant.clone(), compared.clone()));
            self.search.tell_comparison(id, variant, compared);
        }
        let known = |(variant, compared): &(Variant, Compared)| {
            // A difference is final, whether floating-point results had to agree in every bit or not.
            let is_different = matches!(compared.agreement, Agreement::Different(_));
            (self.text(id, variant).map(str::to_owned), is_different || is_proved(variant))
        };
        let mut texts: Vec<_> = self.compared[id].iter().map(known).collect();
        texts.sort_unstable();
        assert!(texts.windows(2).all(|pair| pair[0] != pair[1]), "the same PTX is compared once");
    }
}

/// Whatever judges answer, the winner is stock, or is no worse than stock in each figure and better by the preference.
/// No comparison has refused the winner. There is evidence that it computes the same, unless the user needs none. It
/// does not execute more instructions without a gain. The number of questions is within the limits.
#[test]
fn never_worse_than_stock() {
    arbtest::arbtest(|u| {
        let case = Case::draw(u)?;
        let mut asked = searched(&case, u.arbitrary()?, |_| false);
        for id in asked.search.kernels.ids() {
            asked.check_limits(id);
            asked.check_tried(id);
            asked.check_best(&case, id, false);
            asked.compare(&case, id);
            asked.check_best(&case, id, true);
            let (kernel, (variant, _)) = (&asked.search.kernels[id], asked.search.best(id));
            let said = kernel.findings.said_of(&variant);
            assert_eq!(said.is_some(), variant != Variant::Stock, "the winner alone is compared");
            let text = asked.text(id, &variant).map(|text| case.judge.compared(id, text));
            assert_eq!(said, text.as_ref().filter(|_| said.is_some()).map(|compared| &compared.agreement));
            assert_eq!(
                kernel.findings.executed_of(&variant),
                text.filter(|_| said.is_some()).and_then(|one| one.executed)
            );
            assert!(!kernel.findings.has_refused(&variant));
            let is_different =
                |compared: &&(Variant, Compared)| matches!(compared.1.agreement, Agreement::Different(_));
            let reported = kernel.findings.refused.iter().filter(|refused| !refused.is_known).count();
            assert_eq!(
                reported,
                asked.compared[id].iter().filter(is_different).count(),
                "what differs is reported once"
            );
            if let Some((best, variant, figures)) = kernel.with_uncompared(&asked.search.objective) {
                assert!(!case.objective.allowance.uncompared && !is_proved(&variant));
                // For variants that do less, stock's counts apply.
                let is_counted = best.least_counts != [0; 2] || figures.least_counts != [0; 2];
                assert!(
                    values(&figures, &case.objective) < values(&best, &case.objective)
                        || case.judge.times
                        || is_counted
                );
            }
        }
        Ok(())
    })
    .budget_ms(2_000);
}

/// The questions about a kernel depend only on the answers, whatever the order in which kernels are served.
#[test]
fn same_answers_same_questions() {
    arbtest::arbtest(|u| {
        let case = Case::draw(u)?;
        let [one, other] = [u.arbitrary()?, u.arbitrary()?].map(|turns| searched(&case, turns, |_| false));
        assert_eq!(one.questions, other.questions);
        for id in one.search.kernels.ids() {
            assert_eq!(one.search.best(id), other.search.best(id));
        }
        Ok(())
    })
    .budget_ms(500);
}

/// Delayed answers change nothing. Each search proceeds as far as its answers allow, and asks the same questions as a
/// search with all answers. The last search ends with the same result.
#[test]
fn later_answers() {
    arbtest::arbtest(|u| {
        let case = Case::draw(u)?;
        let turns = u.arbitrary()?;
        let (late, whole) = (u.int_in_range(1..=4)?, searched(&case, turns, |_| false));
        let mut come: BTreeSet<String> = BTreeSet::new();
        loop {
            let mut missing = BTreeSet::new();
            let asked = searched(&case, turns, |text| {
                let is_late = !come.contains(text) && case.judge.draw(&format!("late {text}"), late) == 0;
                if is_late {
                    missing.insert(text.to_owned());
                }
                is_late
            });
            for (questions, all) in asked.questions.iter().zip(whole.questions.iter()) {
                assert!(all.starts_with(questions), "{case:?}");
            }
            for id in asked.search.kernels.ids() {
                asked.check_limits(id);
                asked.check_tried(id);
                asked.check_best(&case, id, false);
                let lost = |asked: &Asked| asked.search.kernels[id].lost;
                assert!(lost(&asked) <= lost(&whole), "what comes later is not lost");
            }
            assert_eq!(asked.search.waits(), !missing.is_empty());
            if missing.is_empty() {
                assert_eq!(asked.questions, whole.questions);
                return Ok(());
            }
            come.extend(missing);
        }
    })
    .budget_ms(500);
}
