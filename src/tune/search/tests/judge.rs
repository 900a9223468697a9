//! A judge with random answers, and the searches that it judges.

use crate::index::EntityIndex as _;
use crate::target::machine::Architecture;
use crate::tune::agreement::{Agreement, Difference};
use crate::tune::figures::{Allowance, Block, Figures, Measure, preference};
use crate::tune::findings::{Compared, Executed};
use crate::tune::kernel::Kernel;
use crate::tune::objective::{Objective, RunLimits};
use crate::tune::optimisations::Choices;
use crate::tune::predicted::{Predicted, Source};
use crate::tune::ptxas_output::{PtxasReport, Sass};
use crate::tune::question::{NoAnswer, Spilled};
use crate::tune::search::{KernelId, Search};
use crate::tune::timing::Timing;
use crate::tune::variant::Variant;

/// A judge whose answers are computed from its number and the question, so the same question has the same answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    pub(super) number: u64,
    /// The number of different PTX modules of a kernel's variants, including stock's.
    pub(super) texts: u64,
    /// One in this many questions is refused.
    pub(super) refuses: u64,
    /// Whether there is a benchmark, too.
    pub(super) times: bool,
}

impl Judge {
    /// Returns a number below `end` for a question.
    pub(super) fn draw(&self, question: &str, end: u64) -> u64 {
        // FNV-1a and the last step of SplitMix64, because the low bits of FNV-1a are not random enough.
        let hash = question.bytes().fold(self.number ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) % end
    }

    fn refuses(&self, question: &str) -> bool {
        self.draw(&format!("refuses {question}"), self.refuses) == 0
    }

    /// Returns the fingerprint of the PTX of a kernel's variant.
    pub(super) fn text(&self, kernel: KernelId, variant: &Variant) -> Result<String, NoAnswer> {
        let question = format!("{kernel} {variant}");
        if self.refuses(&question) {
            return Err(NoAnswer::Refused("no PTX".into()));
        }
        Ok(match self.draw(&question, self.texts) {
            0 => stock_text(kernel),
            number => format!("{kernel} text {number}"),
        })
    }

    /// Returns some of the registers that a kernel's variants spill.
    pub(super) fn spilled(&self, kernel: KernelId, variant: &Variant) -> Result<Spilled, NoAnswer> {
        let question = format!("{kernel} spills {variant}");
        if self.refuses(&question) {
            return Err(NoAnswer::Refused("no".into()));
        }
        let names: Vec<String> = (0..self.draw(&question, 4)).map(|number| format!("%r{number}")).collect();
        let registers = names.iter().map(String::as_str).collect();
        Ok(Spilled { registers, text: question, figures: None })
    }

    /// Returns stock's number for a PTX module, changed by one of the steps. For a quarter of the PTX modules, no
    /// number is larger than stock's. For half of them, at most one number is larger. Without this rule, hardly any PTX
    /// would be better than stock.
    fn near(&self, text: &str, what: &str, stock: u32, steps: &[i64]) -> u32 {
        const MEASURES: [&str; 9] =
            ["stores", "loads", "advice", "instructions", "local", "traffic", "shared", "fewer warps", "smaller block"];
        let worst = MEASURES[self.draw(&format!("worst {text}"), MEASURES.len() as u64) as usize];
        let may_be_worse = match self.draw(&format!("kind {text}"), 4) {
            0 => false,
            1 => true,
            _ => worst == what,
        };
        let step = steps[self.draw(&format!("{what} {text}"), steps.len() as u64) as usize];
        let step = if may_be_worse { step } else { step.min(0) };
        (i64::from(stock) + step).max(0) as u32
    }

    pub(super) fn figures(&self, text: &str, stock: &Figures) -> Result<Figures, NoAnswer> {
        if self.refuses(text) {
            let failed = self.draw(&format!("fails {text}"), 2) == 0;
            return Err(if failed { NoAnswer::Failed("no space".into()) } else { NoAnswer::Refused("no".into()) });
        }
        let near = |what: &str, stock: u32, steps: &[i64]| self.near(text, what, stock, steps);
        // More of these is better.
        let more = |what: &str, stock: u32, steps: &[i64]| 1_000 - near(what, 1_000 - stock, steps).min(1_000);
        let half = -(i64::from(stock.ptxas_report.spill_store_bytes) / 2);
        let ptxas_report = PtxasReport {
            registers: near("registers", stock.ptxas_report.registers, &[-32, -8, 0, 0, 8, 200]).clamp(16, 255),
            spill_store_bytes: near("stores", stock.ptxas_report.spill_store_bytes, &[-1000, half, -8, 0, 0, 4]),
            spill_load_bytes: near("loads", stock.ptxas_report.spill_load_bytes, &[-1000, -8, 0, 0, 0, 4]),
            advice: near("advice", stock.ptxas_report.advice, &[-1, 0, 0, 1]),
            ..stock.ptxas_report
        };
        let sass = Sass {
            instructions: near("instructions", stock.sass.instructions, &[-90, -12, -1, 0, 0, 1, 60]),
            work: near("work", stock.sass.work, &[-1, 0, 0, 0, 7]),
            local: near("local", stock.sass.local, &[-20, -1, 0, 0, 1]),
            stack_traffic: near("traffic", stock.sass.stack_traffic as u32, &[-4000, -8, 0, 40, 4000]).into(),
            shared_traffic: near("shared", stock.sass.shared_traffic as u32, &[-8, 0, 0, 16, 900]).into(),
        };
        let timing = Timing {
            median: f64::from(near("median", 100, &[-50, -5, -1, 0, 0, 1, 50])),
            spread: f64::from(near("spread", 2, &[-2, -1, 0, 3])),
        };
        let largest = more("smaller block", stock.blocks.largest(), &[-4, 0, 0, 4]);
        Ok(Figures {
            ptxas_report,
            sass,
            warps: more("fewer warps", stock.warps, &[-8, 0, 0, 8]).min(64),
            blocks: stock.blocks.changed(largest.min(32), self.draw(&format!("blocks {text}"), 4) as i8 - 1),
            timing: (self.times && !self.refuses(&format!("times {text}"))).then_some(timing),
            ..*stock
        })
    }

    /// Returns the comparison of a kernel's PTX with stock. Some kernels cannot be compared. In some comparisons, both
    /// complete a launch.
    pub(super) fn compared(&self, kernel: KernelId, text: &str) -> Compared {
        if self.draw(&format!("compares {kernel}"), 5) == 0 {
            let agreement = Agreement::NotComparable("stock has a race".into());
            return Compared { is_stocks: true, ..agreement.into() };
        }
        let agreement = match self.draw(&format!("compares {text}"), 6) {
            0..=2 => Agreement::Same,
            3 => Agreement::NotComparable("it is too long".into()),
            _ => Agreement::Different(Difference { place: text.to_owned(), command: String::new() }),
        };
        let near = |what: &str, stock: u64, hundredths: &[u64]| {
            [stock, stock * hundredths[self.draw(&format!("{what} {text}"), hundredths.len() as u64) as usize] / 100]
        };
        let executed = Executed {
            instructions: near("executes", 1000, &[60, 100, 110, 111, 200]),
            local: near("accesses", self.draw(&format!("has arrays {kernel}"), 2) * 300, &[0, 66, 67, 100]),
            machine: None,
        };
        let ends = self.draw(&format!("ends {text}"), 6) > 0;
        let [stock, variant] = near("takes", 1000, &[80, 100, 101, 102, 150]).map(|cycles| [cycles as f64; 2]);
        let source = [Source::Run, Source::Part, Source::Walk][self.draw(&format!("walks {text}"), 3) as usize];
        let predicted = Predicted { stock, variant, ratio: variant[0] / stock[0], uncertainty: 1.2, source };
        Compared { executed: ends.then_some(executed), predicted: Some(predicted), ..agreement.into() }
    }
}

pub(super) fn stock_text(kernel: KernelId) -> String {
    format!("{kernel} stock")
}

/// A search, and its judge.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) judge: Judge,
    pub(super) objective: Objective,
    run_limits: RunLimits,
    /// For each kernel: stock's figures, the block, the LLVM optimisations that may be chosen, and whether spills to
    /// shared memory are allowed.
    kernels: Vec<(Figures, Block, Choices, bool)>,
    /// The template of each kernel that is an instance of a template.
    templates: Vec<Option<&'static str>>,
    /// The numbers of other compilers that have code of each kernel.
    compilers: Vec<u8>,
}

impl Case {
    pub(super) fn draw(u: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<Self> {
        let architecture = Architecture::by_name("sm_90").expect("it is known");
        let times = u.ratio(1, 4)?;
        let judge =
            Judge { number: u.arbitrary()?, texts: u.int_in_range(1..=60)?, refuses: u.int_in_range(1..=40)?, times };
        let measures = [Measure::Spills, Measure::Warps, Measure::Local, Measure::Instructions];
        let first = (0..u.int_in_range(0..=3)?).map(|_| u.choose(&measures).copied());
        let first = first.collect::<arbitrary::Result<Vec<Measure>>>()?;
        let allowance = Allowance {
            fewer_warps: u.arbitrary()?,
            spills_for_arrays: u.arbitrary()?,
            more_instructions: *u.choose(&[0, 3, Allowance::ANY_INSTRUCTIONS])?,
            uncompared: u.arbitrary()?,
        };
        let (seed, shared_cost) = (u.arbitrary()?, f64::from(u.int_in_range(25..=100)?) / 100.0);
        let objective = Objective { architecture, allowance, seed, preference: preference(&first), shared_cost };
        // Few searches are long, because long searches slow the test down.
        let most = if u.ratio(1, 12)? { 40 } else { 12 };
        let run_limits = RunLimits::of_runs(u.int_in_range(0..=most)?);
        let kernel = |u: &mut arbitrary::Unstructured<'_>| {
            let spills = u.ratio(2, 3)?;
            let bytes = if spills { u.int_in_range(4..=400)? } else { 0 };
            let ptxas_report = PtxasReport {
                registers: u.int_in_range(16..=255)?,
                spill_store_bytes: bytes,
                spill_load_bytes: bytes / 2,
                advice: u.int_in_range(0..=2)?,
                ..PtxasReport::default()
            };
            let of_arrays = if u.ratio(1, 3)? { u.int_in_range(4..=400)? } else { 0 };
            let (instructions, local) = (u.int_in_range(1..=900)?, (bytes + of_arrays) / 4);
            let stack_traffic = u64::from(bytes + of_arrays) * u.int_in_range(0..=9)?;
            let work = u.int_in_range(0..=instructions)?;
            let sass = Sass { instructions, local, work, stack_traffic, shared_traffic: u.int_in_range(0..=500)? };
            let threads = u.ratio(2, 3)?.then_some(32 * u.int_in_range(1..=32)?);
            let dynamic_shared = u.ratio(2, 3)?.then_some(u.int_in_range(0..=100_000)?);
            let block = Block { threads, says_threads: u.arbitrary()?, dynamic_shared };
            let timing = times.then_some(Timing { median: 100.0, spread: 2.0 });
            let stock = Figures { timing, ..Figures::new(ptxas_report, sass, architecture, block) }
                .with_arrays(objective.allowance);
            let choices = *u.choose(&[Choices::Nothing, Choices::CodeGeneration, Choices::All])?;
            Ok((stock, block, choices, u.arbitrary()?))
        };
        let count = u.int_in_range(1..=5)?;
        let kernels = (0..count).map(|_| kernel(u)).collect::<arbitrary::Result<Vec<_>>>()?;
        let compilers = (1..=u.int_in_range(0..=2)?).collect();
        let template = |_| u.choose(&[None, Some("one"), Some("one"), Some("other")]).copied();
        let templates = (0..count).map(template).collect::<arbitrary::Result<_>>()?;
        Ok(Self { judge, objective, run_limits, kernels, templates, compilers })
    }

    pub(super) fn search(&self) -> Search {
        let kernel = |(number, &(stock, block, choices, to_shared)): (usize, &(Figures, Block, Choices, bool))| {
            let text = stock_text(KernelId::new(number));
            let mut kernel = Kernel::new(&format!("k{number}"), "0", block, stock, text, choices);
            kernel.add_compilers(&self.compilers);
            kernel.may_spill_to_shared = to_shared;
            kernel.template = self.templates[number].map(str::to_owned);
            kernel
        };
        let kernels = self.kernels.iter().enumerate().map(kernel).collect();
        Search { objective: self.objective, run_limits: self.run_limits, kernels }
    }
}
