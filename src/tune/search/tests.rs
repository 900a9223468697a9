//! The search against judges that answer at random: texts that many variants share, figures around stock's, refusals,
//! answers that come later, and comparisons that refuse variants. Whatever they answer, no kernel is worse than stock.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::index::EntityIndex as _;
use crate::target::machine::Architecture;
use crate::tune::agreement::{Agreement, Difference};
use crate::tune::evidence::{Real, Sass};
use crate::tune::figures::{Allowance, Block, Measure, preference};
use crate::tune::kernel::{COMPILED_FOR_EACH, ROUND};
use crate::tune::question::NoAnswer;
use crate::tune::timing::Timing;

/// Answers that follow from a number and from what is asked: the same question has the same answer.
#[derive(Clone, Copy, Debug)]
struct Judge {
    number: u64,
    /// How many texts there are of the variants of a kernel; stock's is one of them.
    texts: u64,
    /// One of so many questions is refused.
    refuses: u64,
    /// Whether a benchmark is asked, too.
    times: bool,
}

impl Judge {
    /// A number below `end` for a question.
    fn draw(&self, question: &str, end: u64) -> u64 {
        // FNV-1a, and the last step of SplitMix64, because the low bits of the former are not random enough.
        let hash = question.bytes().fold(self.number ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) % end
    }

    fn refuses(&self, question: &str) -> bool {
        self.draw(&format!("refuses {question}"), self.refuses) == 0
    }

    /// The fingerprint of the PTX of a kernel's variant.
    fn text(&self, kernel: KernelId, variant: &Variant) -> Result<String, String> {
        let question = format!("{kernel} {variant}");
        if self.refuses(&question) {
            return Err("no PTX".into());
        }
        Ok(match self.draw(&question, self.texts) {
            0 => stock_text(kernel),
            number => format!("{kernel} text {number}"),
        })
    }

    /// A number that is mostly that of stock, or a little off.
    fn near(&self, question: &str, stock: u32, steps: &[i64]) -> u32 {
        let step = steps[self.draw(question, steps.len() as u64) as usize];
        (i64::from(stock) + step).max(0) as u32
    }

    fn figures(&self, text: &str, stock: &Figures) -> Result<Figures, NoAnswer> {
        if self.refuses(text) {
            let failed = self.draw(&format!("fails {text}"), 2) == 0;
            return Err(if failed { NoAnswer::Failed("no space".into()) } else { NoAnswer::Refused("no".into()) });
        }
        let near = |what: &str, stock: u32, steps: &[i64]| self.near(&format!("{what} {text}"), stock, steps);
        let half = -(i64::from(stock.real.spill_store_bytes) / 2);
        let real = Real {
            registers: near("registers", stock.real.registers, &[-32, -8, 0, 0, 8, 200]).clamp(16, 255),
            spill_store_bytes: near("stores", stock.real.spill_store_bytes, &[-1000, half, -8, 0, 0, 4]),
            spill_load_bytes: near("loads", stock.real.spill_load_bytes, &[-1000, -8, 0, 0, 0, 4]),
            advice: near("advice", stock.real.advice, &[-1, 0, 0, 0, 0, 1]),
            ..stock.real
        };
        let sass = Sass {
            instructions: near("instructions", stock.sass.instructions, &[-90, -12, -1, 0, 0, 1, 60]),
            local: near("local", stock.sass.local, &[-20, -1, 0, 0, 1]),
            stack_traffic: near("traffic", stock.sass.stack_traffic as u32, &[-4000, -8, 0, 0, 0, 40]).into(),
            shared_traffic: near("shared", stock.sass.shared_traffic as u32, &[-8, 0, 0, 16, 900]).into(),
        };
        let timing = Timing {
            median: f64::from(near("median", 100, &[-50, -5, -1, 0, 0, 1, 50])),
            spread: f64::from(near("spread", 2, &[-2, -1, 0, 3])),
        };
        Ok(Figures {
            real,
            sass,
            warps: near("warps", stock.warps, &[-8, 0, 0, 0, 8]),
            largest_block: near("block", stock.largest_block, &[-4, 0, 0, 0, 0, 4]),
            timing: (self.times && !self.refuses(&format!("times {text}"))).then_some(timing),
            ..*stock
        })
    }

    fn agreement(&self, text: &str) -> Agreement {
        match self.draw(&format!("compares {text}"), 4) {
            0 => Agreement::Same,
            1 => Agreement::NotComparable("it is too long".into()),
            _ => Agreement::Different(Difference { place: text.to_owned(), command: String::new() }),
        }
    }
}

fn stock_text(kernel: KernelId) -> String {
    format!("{kernel} stock")
}

/// A search that is to be judged, and its judge.
#[derive(Debug)]
struct Case {
    judge: Judge,
    aim: Aim,
    budget: Budget,
    /// Stock's figures and block of each kernel, whether LLVM's optimisations are choices, and whether spills to shared
    /// memory are.
    kernels: Vec<(Figures, Block, bool, bool)>,
}

impl Case {
    fn draw(u: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<Self> {
        let architecture = Architecture::by_name("sm_90").expect("it is known");
        let times = u.ratio(1, 4)?;
        let judge =
            Judge { number: u.arbitrary()?, texts: u.int_in_range(1..=60)?, refuses: u.int_in_range(1..=40)?, times };
        let measures = [Measure::Spills, Measure::Warps, Measure::Local, Measure::Instructions];
        let first = (0..u.int_in_range(0..=3)?).map(|_| u.choose(&measures).copied());
        let first = first.collect::<arbitrary::Result<Vec<Measure>>>()?;
        let allowance = Allowance { fewer_warps: u.arbitrary()?, more_instructions: u.arbitrary()? };
        let (seed, shared_cost) = (u.arbitrary()?, f64::from(u.int_in_range(25..=100)?) / 100.0);
        let aim = Aim { architecture, allowance, seed, preference: preference(&first), shared_cost };
        let budget = Budget { runs: u.int_in_range(0..=20)?, runs_for_spills: u.int_in_range(0..=40)? };
        let kernel = |u: &mut arbitrary::Unstructured<'_>| {
            let spills = u.ratio(2, 3)?;
            let bytes = if spills { u.int_in_range(4..=400)? } else { 0 };
            let real = Real {
                registers: u.int_in_range(16..=255)?,
                spill_store_bytes: bytes,
                spill_load_bytes: bytes / 2,
                advice: u.int_in_range(0..=2)?,
                ..Real::default()
            };
            let (instructions, local) = (u.int_in_range(1..=900)?, bytes / 4);
            let stack_traffic = u64::from(bytes) * u.int_in_range(0..=9)?;
            let sass = Sass { instructions, local, stack_traffic, shared_traffic: u.int_in_range(0..=500)? };
            let threads = u.ratio(2, 3)?.then_some(32 * u.int_in_range(1..=32)?);
            let dynamic_shared = u.ratio(2, 3)?.then_some(u.int_in_range(0..=100_000)?);
            let block = Block { threads, says_threads: u.arbitrary()?, dynamic_shared };
            let timing = times.then_some(Timing { median: 100.0, spread: 2.0 });
            let stock = Figures { timing, ..Figures::new(real, sass, architecture, block) };
            Ok((stock, block, u.arbitrary()?, u.arbitrary()?))
        };
        let count = u.int_in_range(1..=3)?;
        let kernels = (0..count).map(|_| kernel(u)).collect::<arbitrary::Result<Vec<_>>>()?;
        Ok(Self { judge, aim, budget, kernels })
    }

    fn search(&self) -> Search {
        let kernel =
            |(number, &(stock, block, has_optimisations, to_shared)): (usize, &(Figures, Block, bool, bool))| {
                let text = stock_text(KernelId::new(number));
                let mut kernel = Kernel::new(&format!("k{number}"), "0", block, stock, text, has_optimisations);
                kernel.may_spill_to_shared = to_shared;
                kernel
            };
        let kernels = self.kernels.iter().enumerate().map(kernel).collect();
        Search { aim: self.aim, budget: self.budget, kernels }
    }
}

/// A search that is over, and what it asked.
struct Asked {
    search: Search,
    /// All questions about each kernel.
    questions: IndexVec<KernelId, Vec<Question>>,
    /// What was told of each text, for the variant that it was asked for, and what that comes to.
    told: BTreeMap<String, Option<Figures>>,
    /// The text of each variant of each kernel.
    texts: IndexVec<KernelId, Vec<(Variant, String)>>,
}

/// Searches to the end. Kernels take their turns by `turns`; texts that `is_later` names have their answers later.
fn searched(case: &Case, turns: u64, mut is_later: impl FnMut(&str) -> bool) -> Asked {
    let judge = case.judge;
    let mut search = case.search();
    let mut questions: IndexVec<KernelId, Vec<Question>> = search.kernels.iter().map(|_| Vec::new()).collect();
    let mut texts: IndexVec<KernelId, Vec<(Variant, String)>> = search.kernels.iter().map(|_| Vec::new()).collect();
    let mut told = BTreeMap::new();
    let mut open: Vec<KernelId> = search.kernels.ids().collect();
    let by = Judge { number: turns, ..judge };
    for turn in 0.. {
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
                texts[id].push((*variant, text.clone()));
            })),
            Question::Figures(variant) => {
                let text = judge.text(id, variant).expect("it has PTX");
                assert!(text != stock_text(id), "stock is known");
                if is_later(&text) {
                    return Answer::Figures(Err(NoAnswer::Later));
                }
                let figures = judge.figures(&text, &stock);
                let with_slots = figures.clone().ok().map(|figures| {
                    let cost = case.aim.shared_cost;
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
    Asked { search, questions, told, texts }
}

/// Less is better.
fn value(figures: &Figures, measure: Measure) -> i64 {
    match measure {
        Measure::Spills => figures.spill_cost() as i64,
        Measure::Warps => -i64::from(figures.warps),
        Measure::Local => figures.sass.local.into(),
        Measure::Instructions => figures.sass.instructions.into(),
    }
}

fn values(figures: &Figures, aim: &Aim) -> Vec<i64> {
    aim.preference.iter().map(|&measure| value(figures, measure)).collect()
}

/// What would be worse than stock in figures that count, in words.
fn worse(figures: &Figures, stock: &Figures, allowance: Allowance) -> Option<&'static str> {
    let bytes = |of: &Figures| of.real.spill_store_bytes + of.real.spill_load_bytes;
    [
        (bytes(figures) > bytes(stock), "bytes spilled"),
        (figures.spill_cost() > stock.spill_cost(), "the cost of what is spilled"),
        (figures.warps < stock.warps && !allowance.fewer_warps, "warps"),
        (figures.largest_block < stock.largest_block, "the largest block"),
        (figures.real.advice > stock.real.advice, "what ptxas complains of"),
        (figures.sass.instructions > stock.sass.instructions && !allowance.more_instructions, "instructions"),
    ]
    .into_iter()
    .find_map(|(is_worse, what)| is_worse.then_some(what))
}

/// Whether figures are better than stock's: by the benchmark where there is one, else by the preference.
fn is_better(figures: &Figures, stock: &Figures, aim: &Aim) -> bool {
    match (figures.timing, stock.timing) {
        (Some(one), Some(stock)) => stock.median - one.median > one.spread.max(stock.spread),
        (None, None) => values(figures, aim) < values(stock, aim),
        _ => false,
    }
}

impl Asked {
    fn text(&self, kernel: KernelId, variant: &Variant) -> Option<&str> {
        self.texts[kernel].iter().find(|(other, _)| other == variant).map(|(_, text)| text.as_str())
    }

    /// The best of a kernel is stock, or what was told of its text is no worse than stock, and better; and nothing else
    /// that counts is better than the best. `refused` are texts that comparisons refused.
    fn check_best(&self, case: &Case, id: KernelId, refused: &BTreeSet<String>) {
        let Search { aim, ref kernels, .. } = self.search;
        let (stock, (variant, best)) = (kernels[id].stock, self.search.best(id));
        if variant == Variant::Stock {
            assert_eq!(best, stock);
        } else {
            let text = self.text(id, &variant).expect("it has PTX");
            assert!(!refused.contains(text), "{variant} was refused: {case:?}");
            assert_eq!(self.told[text], Some(best), "{variant} has the figures of its PTX");
            assert_eq!(worse(&best, &stock, aim.allowance), None, "{variant} is worse than stock: {case:?}");
            assert!(is_better(&best, &stock, &aim), "{variant} is no better than stock: {case:?}");
        }
        if case.judge.times {
            return;
        }
        for (other, text) in self.texts[id].iter().filter(|(_, text)| !refused.contains(text)) {
            let Some(Some(figures)) = self.told.get(text) else { continue };
            // A few instructions less are no reason for other code.
            let differs = |measure: &Measure| value(figures, *measure) != value(&stock, *measure);
            let is_worthwhile = aim.preference.iter().any(|m| *m != Measure::Instructions && differs(m))
                || 100 * figures.sass.instructions <= 98 * stock.sass.instructions;
            if worse(figures, &stock, aim.allowance).is_none() && is_better(figures, &stock, &aim) && is_worthwhile {
                assert!(values(&best, &aim) <= values(figures, &aim), "{other} is better than {variant}: {case:?}");
            }
        }
    }

    /// No variant is asked for twice, and no more are judged than the budget allows.
    fn check_budget(&self, id: KernelId) {
        let kernel = &self.search.kernels[id];
        let runs = self.search.budget.of(&kernel.stock);
        let text = |question: &Question| match question {
            Question::Text(variant) => Some(*variant),
            Question::Figures(_) => None,
        };
        let texts: Vec<Variant> = self.questions[id].iter().filter_map(text).collect();
        let judged = self.questions[id].len() - texts.len();
        assert!(judged <= runs && kernel.runs() <= judged, "{judged} of {runs} runs");
        assert!(texts.len() < COMPILED_FOR_EACH * runs + ROUND || runs == 0 && texts.is_empty());
        assert!((1..texts.len()).all(|at| !texts[..at].contains(&texts[at])), "a variant is asked for twice");
        assert!(!texts.contains(&Variant::Stock));
    }

    /// Compares what would win until nothing is refused. Returns the texts that were.
    fn compare(&mut self, judge: &Judge, id: KernelId) -> BTreeSet<String> {
        let mut refused = BTreeSet::new();
        while let Some(variant) = self.search.ask_comparison(id) {
            let text = self.text(id, &variant).expect("it has PTX").to_owned();
            let agreement = judge.agreement(&text);
            if matches!(agreement, Agreement::Different(_)) {
                assert!(refused.insert(text), "the same PTX is compared once");
            }
            self.search.tell_comparison(id, variant, agreement.into());
        }
        refused
    }
}

/// Whatever judges answer, what comes out of a search is stock, or no worse than stock in each figure and better by the
/// preference, and not what a comparison refused; and no more is asked than the budget allows.
#[test]
fn never_worse_than_stock() {
    arbtest::arbtest(|u| {
        let case = Case::draw(u)?;
        let mut asked = searched(&case, u.arbitrary()?, |_| false);
        for id in asked.search.kernels.ids() {
            asked.check_budget(id);
            asked.check_best(&case, id, &BTreeSet::new());
            let refused = asked.compare(&case.judge, id);
            asked.check_best(&case, id, &refused);
            let (kernel, (variant, _)) = (&asked.search.kernels[id], asked.search.best(id));
            assert_eq!(kernel.findings.winner.is_some(), variant != Variant::Stock, "the winner alone is compared");
            assert!(!kernel.findings.has_refused(&variant));
            let known = kernel.findings.refused.iter().filter(|refused| !refused.is_known).count();
            assert_eq!(known, refused.len(), "each text that differs is reported once");
        }
        Ok(())
    })
    .budget_ms(2_000);
}

/// What is asked of a kernel follows from the answers alone, whatever the order in which kernels take their turns.
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

/// Answers that come later change nothing: each search goes as far as its answers do, and asks what the search asks that
/// has them all; the last one ends as that does.
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
                asked.check_budget(id);
                asked.check_best(&case, id, &BTreeSet::new());
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
