//! The results of a search: a table before and after, or one JSON object.

use std::fmt::Write as _;

use nvptx_ra::emulate::RACE;
use nvptx_ra::tune::agreement::Agreement;
use nvptx_ra::tune::assurance::Assurance;
use nvptx_ra::tune::axis::Axis;
use nvptx_ra::tune::figures::Figures;
use nvptx_ra::tune::findings::{ComparisonCoverage, DisqualifiedVariant, Executed};
use nvptx_ra::tune::kernel::Kernel;
use nvptx_ra::tune::search::Search;
use nvptx_ra::tune::variant::Variant;
use serde_json::{Value, json};

use super::compose::Composed;
use super::driver::EarlyStop;
use super::tuning::Tuning;
use crate::kernel_names;
use crate::page::counted;

/// Reports once how many variants failed.
pub(super) fn losses(search: &Search) {
    let lost: usize = search.kernels.iter().map(|kernel| kernel.lost).sum();
    if let Some((kernel, problem)) = search.kernels.iter().find_map(|k| Some((&k.name, k.first_loss.as_ref()?))) {
        let kernel = kernel_names::short(kernel);
        let lost = counted(lost, "variant");
        say!("nvptx-ra: {lost} could not be judged; the first, of kernel '{kernel}': {problem}");
    }
}

/// Returns the number of kernels with a value, and the first kernel's name and value.
fn told<'a, T>(search: &'a Search, of: impl Fn(&'a Kernel) -> Option<T>) -> Option<(usize, String, T)> {
    let mut found = search.kernels.iter().filter_map(|kernel| Some((&kernel.name, of(kernel)?)));
    let (name, first) = found.next()?;
    Some((1 + found.count(), kernel_names::short(name), first))
}

/// Reports once what fewer warps would save.
pub(super) fn spills_for_warps(search: &Search) {
    let saved = told(search, |kernel| kernel.half_the_spills_for_warps(&search.objective));
    if let Some((count, kernel, (best, variant, least))) = saved {
        say!(
            "nvptx-ra: with fewer warps, {} of the kernels would spill at most half as much: '{}' would spill {} instead \
             of {} bytes with {} instead of {} warps{}; --allow-occupancy-loss allows it",
            count,
            kernel,
            least.spill_bytes(),
            best.spill_bytes(),
            least.warps,
            best.warps,
            by_blocks(&variant)
        );
    }
}

/// Returns the note for a variant that sets `.minnctapersm`. Empty for other variants.
pub(super) fn by_blocks(variant: &Variant) -> &'static str {
    if variant.moves_along(Axis::Blocks) { " by .minnctapersm 1" } else { "" }
}

/// Reports once how many more warps an SM would hold with a few more spills.
pub(super) fn warps_for_spills(search: &Search) {
    let found = told(search, |kernel| kernel.more_warps_for_few_spills(&search.objective));
    if let Some((count, kernel, (best, more))) = found {
        say!(
            "nvptx-ra: with a few more bytes spilled, {} of the kernels would hold more warps: '{}' would hold {} instead of \
             {} and spill {} instead of {} bytes; --prefer warps chooses it",
            count,
            kernel,
            more.warps,
            best.warps,
            more.spill_bytes(),
            best.spill_bytes()
        );
    }
}

/// Reports once how many accesses of arrays in local memory a few spills would save.
pub(super) fn accesses_for_spills(search: &Search) {
    let saved = told(search, |kernel| kernel.quarter_of_the_accesses_for_spills(&search.objective));
    if let Some((count, kernel, (best, least))) = saved {
        say!(
            "nvptx-ra: with some spills, {} of the kernels would access local memory at most a quarter as often: '{}' \
             would have {} instead of {} accesses and {} instead of {} instructions, and spill {} instead of {} bytes; \
             --allow-spills-for-arrays allows it",
            count,
            kernel,
            least.sass.local,
            best.sass.local,
            least.sass.instructions,
            best.sass.instructions,
            least.spill_bytes(),
            best.spill_bytes()
        );
    }
}

/// Reports once which kernels could not be compared with stock because threads race in blocks of an assumed size.
pub(super) fn blocks_that_were_drawn<'a>(search: &'a Search) {
    let unknown = |kernel: &'a Kernel| {
        let of_winner = kernel.findings.winner.as_ref().and_then(Agreement::reason);
        let reason = kernel.findings.stock_is_uncompared.as_deref().or(of_winner)?;
        // The race is described at the end of the reason, after the verdict.
        let race = reason.find(RACE).map(|start| &reason[start..]);
        race.filter(|_| kernel.block.threads.is_none())
    };
    if let Some((count, kernel, reason)) = told(search, unknown) {
        say!(
            "nvptx-ra: {count} of the kernels could not be compared with an assumed block size: '{kernel}': {reason}; \
             set the block size with --threads"
        );
    }
}

/// Reports the gains of variants that could not be compared, with a line for each kernel.
pub(super) fn what_is_not_allowed(search: &Search) {
    for kernel in search.kernels.iter() {
        if let Some((best, variant, figures)) = kernel.with_uncompared(&search.objective) {
            let name = kernel_names::short(&kernel.name);
            say!("nvptx-ra: '{name}' with --allow-uncompared: {} by {variant}", gain(&best, &figures));
        }
    }
}

/// Prints the figures that differ.
fn gain(before: &Figures, after: &Figures) -> String {
    let rows = [
        (before.spill_bytes(), after.spill_bytes(), "bytes spilled"),
        (before.warps, after.warps, "warps"),
        (before.sass.local, after.sass.local, "accesses of local memory"),
        (before.sass.instructions, after.sass.instructions, "instructions"),
    ];
    let rows = rows.iter().filter(|(before, after, _)| before != after);
    rows.map(|(before, after, what)| format!("{before} → {after} {what}")).collect::<Vec<_>>().join(", ")
}

/// Reports once which comparisons reached little of the code.
pub(super) fn small_comparisons(search: &Search) {
    let small = |kernel: &Kernel| kernel.findings.coverage.filter(ComparisonCoverage::is_small);
    if let Some((count, kernel, ComparisonCoverage { statements: [ran, all] })) = told(search, small) {
        say!(
            "nvptx-ra: {count} of the comparisons reached less than a tenth of the code: of '{kernel}', {ran} of {all} \
             statements ran; `nvptx-ra run` accepts the arguments of a launch"
        );
    }
}

/// Prints the figures before and after for each kernel, and in total.
pub(super) fn table(tuning: &Tuning<'_>, composed: &Composed) -> String {
    let search = &tuning.search;
    let names: Vec<String> = search.kernels.iter().map(|kernel| kernel_names::short(&kernel.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    // Writing to a string cannot fail.
    let mut text = format!(
        "{:width$}  spills (bytes)        warps  registers     instructions  executed  predicted  assurance    choice\n",
        "kernel"
    );
    let agreements: Vec<Option<&Agreement>> = agreements(search, composed).collect();
    for (((kernel, name), (variant, figures)), agreement) in
        search.kernels.iter().zip(&names).zip(composed.chosen.iter()).zip(&agreements)
    {
        let row = row(&kernel.stock, figures);
        let assurance = kernel.findings.assurance_of(variant);
        let word = assurance.map_or("", |assurance| agreement.map_or(assurance.word(), |of| assurance.words(of)));
        let executed = kernel.findings.executed_of(variant).map_or(String::new(), |of| format!("× {:.2}", of.ratio()));
        let predicted = kernel.findings.predicted_of(variant).map_or(String::new(), |of| format!("× {:.2}", of.ratio));
        let from = tuning.code.name_of(variant.compiler()).map_or(String::new(), |file| format!(" from {file}"));
        let _ = writeln!(text, "{name:width$}  {row}  {executed:>8}  {predicted:>9}  {word:11}  {variant}{from}");
    }
    for (name, agreement) in names.iter().zip(&agreements) {
        if let Some(agreement @ Agreement::NotComparable(_)) = agreement {
            let _ = writeln!(text, "{name} is {}", agreement.sentence());
        }
    }
    let timed = search
        .kernels
        .iter()
        .zip(composed.chosen.iter())
        .zip(&names)
        .filter_map(|((kernel, choice), name)| Some((name, kernel.stock.timing?, choice.1.timing?)));
    for (name, stock, tuned) in timed {
        let gain = 100.0 * (1.0 - tuned.median / stock.median);
        let _ = writeln!(text, "run of {name}: {} → {}, {gain:.1} % less", stock.median, tuned.median);
    }
    let _ = writeln!(text, "\n{}", sums(search, composed, tuning.code.descriptions().stock));
    for (file, taken) in other_files(tuning, composed) {
        let _ = writeln!(text, "from {file}: {taken} of {} kernels", composed.chosen.len());
    }
    let shared = composed.chosen.iter().filter(|(variant, _)| variant.spills_to_shared()).count();
    if shared > 0 {
        let bytes: u64 = composed.chosen.iter().map(|(_, figures)| figures.shared_spills).sum();
        let _ = writeln!(
            text,
            "spilling to shared memory: {shared} kernels, which move {bytes} bytes there, times ten for each \
             enclosing loop"
        );
    }
    let gained = |with_limit: bool| {
        let kernels = search.kernels.iter().zip(composed.chosen.iter());
        kernels.filter(move |(kernel, (variant, figures))| {
            figures.warps > kernel.stock.warps && variant.limits_registers() == with_limit
        })
    };
    let (by_shape, by_limit) = (gained(false).count(), gained(true).count());
    let _ = writeln!(
        text,
        "more warps: {by_shape} kernels, and {by_limit} with .maxnreg; {} runs of ptxas",
        tuning.judges.ptxas.runs()
    );
    text
}

/// Returns the files of other compilers, with the number of kernels from each.
fn other_files<'a>(tuning: &'a Tuning<'_>, composed: &'a Composed) -> impl Iterator<Item = (&'a str, usize)> {
    (1u8..).map_while(|compiler| {
        let file = tuning.code.name_of(compiler)?;
        Some((file, composed.chosen.iter().filter(|(variant, _)| variant.compiler() == compiler).count()))
    })
}

/// Returns the comparison of each winner. `None` for stock, and for variants that were not compared.
fn agreements<'a>(search: &'a Search, composed: &'a Composed) -> impl Iterator<Item = Option<&'a Agreement>> {
    let kernels = search.kernels.iter().zip(composed.chosen.iter());
    let said = kernels.map(|(kernel, (variant, _))| kernel.findings.said_of(variant));
    said.map(|agreement| agreement.filter(|&agreement| *agreement != Agreement::NotCompared))
}

impl EarlyStop {
    /// Returns the message for the reason of an early end.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Interruption => "the search was interrupted; these are the best results so far",
            Self::Time => "the search reached its time limit; these are the best results so far",
        }
    }
}

/// Returns the notes of a profile. They state whether the search ended early, the evidence for each kernel that is not
/// stock, and how bodies from other files are linked.
pub(super) fn notes(tuning: &Tuning<'_>, composed: &Composed, early_stop: Option<EarlyStop>) -> Vec<String> {
    let search = &tuning.search;
    let early_stop = early_stop.map(|early_stop| early_stop.sentence().to_owned());
    let kernels = search.kernels.iter().zip(composed.chosen.iter()).zip(agreements(search, composed));
    let note = |((kernel, (variant, _)), agreement): ((&Kernel, &(Variant, Figures)), Option<&Agreement>)| {
        let word = kernel.findings.assurance_of(variant)?.word();
        let run = |agreement: &Agreement| format!("; compared with stock on the CPU: {}", agreement.sentence());
        Some(format!("{}: {word}{}", kernel.name, agreement.map_or(String::new(), run)))
    };
    let files = other_files(tuning, composed).filter(|&(_, taken)| taken > 0);
    let files: String = files.map(|(file, _)| format!(" --also {file}")).collect();
    let linked = format!("the kernels with a table 'linked' are linked by nvptx-ra ptx --profile FILE{files}");
    early_stop.into_iter().chain(kernels.filter_map(note)).chain((!files.is_empty()).then_some(linked)).collect()
}

fn row(stock: &Figures, tuned: &Figures) -> String {
    let change = |before: u32, after: u32| {
        if before == after { before.to_string() } else { format!("{before} → {after}") }
    };
    format!(
        "{:>16}  {:>9}  {:>9}  {:>15}",
        change(stock.spill_bytes(), tuned.spill_bytes()),
        change(stock.warps, tuned.warps),
        change(stock.ptxas_report.registers, tuned.ptxas_report.registers),
        change(stock.sass.instructions, tuned.sass.instructions)
    )
}

/// Prints the spilled bytes and instructions of all kernels: of stock, of the winners, and of the defaults if every
/// kernel was judged with them. `by` is the description of stock.
fn sums(search: &Search, composed: &Composed, by: &str) -> String {
    let stock: Vec<Figures> = search.kernels.iter().map(|kernel| kernel.stock).collect();
    let default: Option<Vec<Figures>> = search.kernels.iter().map(|kernel| kernel.default()).collect();
    let tuned: Vec<Figures> = composed.chosen.iter().map(|&(_, figures)| figures).collect();
    let line = |what: &str, of: &dyn Fn(&Figures) -> u32| {
        let sum = |figures: &[Figures]| figures.iter().map(of).sum::<u32>();
        let default = default.as_deref().map_or(String::new(), |default| format!(" {} by default,", sum(default)));
        format!("{what}: {} {by},{default} {} tuned", sum(&stock), sum(&tuned))
    };
    let lines = [line("bytes spilled", &Figures::spill_bytes), line("instructions", &|one| one.sass.instructions)];
    lines.join("\n")
}

/// Prints what stock and a variant executed, as JSON.
fn executed(of: Executed) -> Value {
    json!({ "instructions": of.instructions, "local": of.local, "machine": of.machine, "ratio": of.ratio() })
}

/// Prints a variant that cannot win, as JSON.
fn disqualified(of: &DisqualifiedVariant) -> Value {
    let DisqualifiedVariant { variant, uncompared, is_costly, slower } = of;
    json!({
        "choice": format!("{variant:#}"),
        "uncompared": uncompared,
        "may_execute_more": is_costly,
        "predicted": slower.map(|slower| slower.json("choice")),
    })
}

/// Prints all results as JSON.
pub(super) fn json(tuning: &Tuning<'_>, composed: &Composed, is_cut: bool) -> String {
    let search = &tuning.search;
    let kernels: Vec<Value> = search
        .kernels
        .iter()
        .zip(composed.chosen.iter())
        .zip(agreements(search, composed))
        .map(|((kernel, (variant, figures)), agreement)| {
            let tried: Vec<Value> = kernel
                .tried
                .iter()
                .map(|tried| {
                    let figures = tried.figures.map(|figures| figures.json());
                    json!({ "choice": format!("{:#}", tried.variant), "figures": figures })
                })
                .collect();
            let refused = kernel.findings.refused.iter().map(|refused| {
                json!({
                    "choice": format!("{:#}", refused.variant),
                    "difference": refused.difference.place,
                    "folder": refused.folder.as_ref().map(|folder| folder.to_string_lossy()),
                })
            });
            json!({
                "name": kernel.name,
                "hash": kernel.hash,
                "threads": kernel.block.threads,
                "dynamic_shared_bytes": kernel.block.dynamic_shared,
                "choice": format!("{variant:#}"),
                "from": tuning.code.name_of(variant.compiler()),
                "stock": kernel.stock.json(),
                "default": kernel.default().map(|figures| figures.json()),
                "tuned": figures.json(),
                "assurance": kernel.findings.assurance_of(variant).map(Assurance::word),
                "compared": agreement.map(Agreement::json),
                "executed": kernel.findings.executed_of(variant).map(executed),
                "predicted": kernel.findings.predicted_of(variant).map(|predicted| predicted.json("chosen")),
                "refused": refused.collect::<Vec<Value>>(),
                "barred": kernel.findings.disqualified.iter().map(disqualified).collect::<Vec<Value>>(),
                "tried": tried,
            })
        })
        .collect();
    let (cpu, runs) = (&composed.profile.cpu, tuning.judges.ptxas.runs());
    let object = json!({ "cpu": cpu, "ptxas_runs": runs, "cut": is_cut, "kernels": kernels });
    format!("{object:#}\n")
}
