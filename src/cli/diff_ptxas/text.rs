//! Formats the comparison as text: regressions, then improvements, then the number of other kernels.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Report;
use super::kernel::{Kernel, Rank, percent};
use super::pair::FilePair;
use crate::kernel_names::short;
use crate::meaning::Meaning;

/// Most reasons shown for failed comparisons. The most frequent come first.
const SHOWN_REASONS: usize = 8;

const TITLES: [&str; 8] = ["kernel", "meaning", "time", "registers", "spilled", "stack", "warps", "ptxas says"];

/// Columns of words are aligned left, columns of numbers right.
const IS_WORDS: [bool; 8] = [true, true, false, false, false, false, false, true];

pub(super) fn of(report: &Report, lists_all: bool) -> String {
    let Report { toolchains: [old, new], files, tolerance } = report;
    let mut kernels: Vec<(&FilePair, &Kernel)> =
        files.iter().flat_map(|file| file.kernels.iter().map(move |kernel| (file, kernel))).collect();
    let count = kernels.len();
    // Kernels of one rank are sorted by relative time, the slowest first, and then by the order of files.
    kernels.sort_by(|(_, one), (_, other)| {
        let slower = other.ratio().total_cmp(&one.ratio());
        one.rank(*tolerance).cmp(&other.rank(*tolerance)).then(slower)
    });
    let of_rank = |rank: Rank| kernels.iter().filter(move |(_, kernel)| kernel.rank(*tolerance) == rank);
    let [kernels_of, files_of] = [counted(count, "kernel"), counted(files.len(), "file")];
    let mut text = format!("ptxas {} → {}: {kernels_of} of {files_of}\n", old.name, new.name);
    refused(&mut text, report);
    let mut parts = vec![
        (Rank::Meaning, "machine code that differs from its PTX"),
        (Rank::Worse, "worse"),
        (Rank::Better, "better"),
    ];
    if lists_all {
        parts.extend([(Rank::Other, "neither worse nor better"), (Rank::SameCode, "the same instructions")]);
    }
    let listed: Vec<[String; 8]> =
        parts.iter().flat_map(|&(rank, _)| of_rank(rank)).map(|(_, kernel)| row(kernel)).collect();
    let widths = widths(&listed);
    let mut rows = listed.iter();
    for (rank, title) in parts {
        let these: Vec<_> = of_rank(rank).collect();
        if these.is_empty() {
            continue;
        }
        _ = writeln!(text, "\n{title} ({}):", these.len());
        line(&mut text, &TITLES.map(str::to_owned), &widths, "");
        for ((file, kernel), row) in these.iter().zip(&mut rows) {
            line(&mut text, row, &widths, &format!("{}:{}", file.file, kernel.line));
            for (side, toolchain) in kernel.sides.iter().zip([old, new]) {
                if side.meaning.is_different() {
                    _ = writeln!(text, "    ptxas {}: {}", toolchain.name, side.meaning.reason());
                }
            }
        }
    }
    if !lists_all {
        let [other, same] = [Rank::Other, Rank::SameCode].map(|rank| of_rank(rank).count());
        _ = writeln!(text, "\nneither worse nor better: {other} with other instructions, {same} with the same");
    }
    not_comparable(&mut text, &kernels);
    text
}

/// Formats the files on which a ptxas fails, and the kernels that cannot be parsed.
fn refused(text: &mut String, report: &Report) {
    let lowered: Vec<_> = report.files.iter().filter_map(|file| Some((file, file.version?))).collect();
    if let Some((file, (major, minor))) = lowered.first() {
        let files = counted(lowered.len(), "file");
        _ = writeln!(
            text,
            "{files} with a newer PTX version, such as {}: both ptxas got .version {major}.{minor}",
            file.file
        );
    }
    for file in &report.files {
        for (toolchain, failure) in report.toolchains.iter().zip(&file.failures) {
            if let Some(failure) = failure {
                _ = writeln!(text, "{}: ptxas {}: {failure}", file.file, toolchain.name);
            }
        }
        file.unread.iter().for_each(|unread| _ = writeln!(text, "{unread}"));
    }
}

/// Formats the reasons for failed comparisons. Each has the number of its kernels and one example.
fn not_comparable(text: &mut String, kernels: &[(&FilePair, &Kernel)]) {
    let mut reasons: BTreeMap<String, Vec<&Kernel>> = BTreeMap::new();
    for (_, kernel) in kernels.iter().filter(|(_, kernel)| !kernel.is_comparable()) {
        let open = kernel.sides.iter().find(|side| !side.meaning.is_comparable());
        let reason = open.map_or_else(String::new, |side| without_places(side.meaning.reason()));
        reasons.entry(reason).or_default().push(kernel);
    }
    let mut reasons: Vec<(String, Vec<&Kernel>)> = reasons.into_iter().collect();
    if reasons.is_empty() {
        return;
    }
    reasons.sort_by_key(|(_, of)| std::cmp::Reverse(of.len()));
    let all = reasons.iter().map(|(_, of)| of.len()).sum::<usize>();
    _ = writeln!(text, "\nnot compared with the PTX: {} of {}", all, counted(kernels.len(), "kernel"));
    for (reason, of) in reasons.iter().take(SHOWN_REASONS) {
        let example = of.first().map_or(String::new(), |kernel| short(&kernel.name));
        _ = writeln!(text, "  {:>4}  {reason} ({example})", of.len());
    }
    if reasons.len() > SHOWN_REASONS {
        let rest: usize = reasons[SHOWN_REASONS..].iter().map(|(_, of)| of.len()).sum();
        _ = writeln!(text, "  {rest:>4}  for {} other reasons: see --format json", reasons.len() - SHOWN_REASONS);
    }
}

/// Returns a reason without the parts that differ between kernels: numbers, and text in brackets.
fn without_places(reason: &str) -> String {
    let head = reason.split(" (").next().unwrap_or(reason);
    let word = |word: &'_ str| if word.contains(|c: char| c.is_ascii_digit()) { "…" } else { word }.to_owned();
    head.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Formats a kernel as a row of the table.
fn row(kernel: &Kernel) -> [String; 8] {
    let sides = || kernel.sides.each_ref();
    let number = |of: fn(&super::build::Figures) -> u32| pair(sides().map(|side| of(&side.figures).to_string()));
    let word = |meaning: &Meaning| match meaning {
        Meaning::NotComparable(_) => "?".to_owned(),
        meaning => meaning.word().to_owned(),
    };
    let said = sides().map(|side| {
        let words: Vec<String> =
            side.figures.said.iter().map(|(code, said)| format!("{}×{code}", said.count)).collect();
        if words.is_empty() { "–".to_owned() } else { words.join(" ") }
    });
    [
        short(&kernel.name),
        pair(sides().map(|side| word(&side.meaning))),
        kernel.time.map_or_else(|| "?".into(), |time| percent(time.ratio)),
        number(|of| of.registers),
        number(|of| of.spilled),
        number(|of| of.stack),
        number(|of| of.warps),
        pair(said),
    ]
}

/// Formats both values, or one value if they are equal.
fn pair([old, new]: [String; 2]) -> String {
    if old == new { old } else { format!("{old} → {new}") }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn widths(rows: &[[String; 8]]) -> [usize; 8] {
    let mut widths = TITLES.map(|title| title.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths
}

/// Formats a row, followed by the kernel's place in the PTX.
fn line(text: &mut String, row: &[String; 8], widths: &[usize; 8], place: &str) {
    let mut whole = String::new();
    for ((cell, &width), is_words) in row.iter().zip(widths).zip(IS_WORDS) {
        _ = if is_words { write!(whole, "  {cell:width$}") } else { write!(whole, "  {cell:>width$}") };
    }
    _ = writeln!(text, "{}", format!("{whole}  {place}").trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reasons that only differ in lines, addresses and names are merged.
    #[test]
    fn reasons() {
        let of = |line: u32, name: &str| {
            without_places(&format!(
                "the machine code: a register is not set, read in line {line} (instruction 0x1 of {name})"
            ))
        };
        assert_eq!(of(132, "k"), of(38, "l"));
        assert_eq!(of(132, "k"), "the machine code: a register is not set, read in line …");
    }
}
