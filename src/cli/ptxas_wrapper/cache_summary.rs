//! `nvptx-ra cache`: lists the searches whose results are in the cache, with their gains and durations.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use nvptx_ra::error::{Error, ErrorKind};
use serde_json::{Value, json};

use super::entry::{BOUND, Entry};
use super::settings;
use crate::cache::Cache;
use crate::kernel_names;
use crate::page::{counted, grouped};
use crate::tune::request::{ChangedKernel, KernelCost};

/// Show the contents of the cache: the kernels that builds have searched, the gains, and the durations
///
/// The cache is the ptxas wrapper's. NVPTX_RA_CACHE sets its folder.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print one JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Clone, Copy, Default, clap::Subcommand)]
enum Command {
    /// List the kernels of all PTX files, those of the last build at the end (default)
    #[default]
    List,
    /// Remove all entries
    Clear,
    /// Show the size of the entries
    Size,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = settings::cache(&given)?.ok_or_else(|| {
        let problem = "there is no cache: NVPTX_RA_CACHE is 'off', or neither XDG_CACHE_HOME nor HOME is set";
        Error::new(ErrorKind::Option, problem, "set NVPTX_RA_CACHE to the folder that builds use")
    })?;
    let cache = Cache::existing(&folder, BOUND)?;
    let size = cache.as_ref().map_or(Ok((0, 0)), Cache::size)?;
    let size = CacheSize { folder: &folder, entries: size.0, bytes: size.1 };
    let (text, json) = match arguments.command.unwrap_or_default() {
        Command::List => {
            let entries = cache.as_ref().map_or_else(|| Ok(Vec::new()), Cache::entries::<Entry>)?;
            (list(&entries, &size), list_as_json(&entries, &size))
        }
        Command::Clear => {
            let (entries, bytes) = cache.as_ref().map_or(Ok((0, 0)), Cache::clear)?;
            let cleared = CacheSize { folder: &folder, entries, bytes };
            let words = format!("removed {} of {} bytes", counted(entries, "file"), grouped(bytes));
            (format!("{}: {words}\n", folder.display()), cleared.json())
        }
        Command::Size => (size.text(), size.json()),
    };
    if !arguments.json {
        return crate::print_text(&text);
    }
    let json = serde_json::to_string_pretty(&json).map_err(|error| Error::internal(error, None))?;
    crate::print_text(&(json + "\n"))
}

/// Size of the cache.
struct CacheSize<'a> {
    folder: &'a Path,
    entries: usize,
    bytes: u64,
}

impl CacheSize<'_> {
    fn text(&self) -> String {
        let (files, bytes) = (counted(self.entries, "file"), grouped(self.bytes));
        format!("{}: {files}, {bytes} of at most {} bytes\n", self.folder.display(), grouped(BOUND))
    }

    fn json(&self) -> Value {
        json!({ "folder": self.folder, "files": self.entries, "bytes": self.bytes, "bound": BOUND })
    }
}

/// The table's columns except the last.
const TITLES: [&str; 6] = ["kernel", "processor", "file", "bytes spilled", "warps", "instructions"];

/// Formats a row for each kernel, and the sum of the gains.
fn list(entries: &[Entry], size: &CacheSize<'_>) -> String {
    let mut rows: Vec<([String; 6], &str)> = Vec::new();
    for entry in entries {
        let row = |kernel: &str, figures: [String; 3]| {
            let file = Path::new(&entry.file).file_name().map_or("", |name| name.to_str().unwrap_or_default());
            let [bytes, warps, instructions] = figures;
            [kernel_names::short(kernel), entry.processor.clone(), file.to_owned(), bytes, warps, instructions]
        };
        for change in entry.choice.iter().flat_map(|choice| &choice.changes) {
            rows.push((row(&change.kernel, gains(change)), &change.choice));
        }
        for left in &entry.left {
            rows.push((row(&left.kernel, left.cost.as_ref().map(figures).unwrap_or_default()), &left.reason));
        }
    }
    let mut text = String::new();
    if !rows.is_empty() {
        let titles = TITLES.map(str::to_owned);
        let length = |row: &[String; 6], column: usize| row[column].chars().count();
        let of_column = |column| rows.iter().map(|(row, _)| length(row, column)).chain([length(&titles, column)]).max();
        let widths: [usize; 6] = std::array::from_fn(|column| of_column(column).unwrap_or(0));
        for (row, last) in [(&titles, "choice")].into_iter().chain(rows.iter().map(|(row, last)| (row, *last))) {
            row.iter().zip(widths).for_each(|(cell, width)| _ = write!(text, "{cell:width$}  "));
            _ = writeln!(text, "{last}");
        }
        text.push('\n');
    }
    let gain = Gain::of(entries);
    let [stored, now] = gain.bytes.map(grouped);
    _ = writeln!(
        text,
        "{} searched{}: {} better, {} with more warps; {stored} → {now} bytes spilled; {:.1} s of searches",
        counted(gain.kernels - gain.known, "kernel"),
        if gain.known > 0 { format!(", {} known from earlier searches", gain.known) } else { String::new() },
        gain.better,
        gain.more_warps,
        gain.milliseconds as f64 / 1000.0,
    );
    if gain.nameless > 0 {
        _ = writeln!(
            text,
            "{} of an earlier version, which did not store names of kernels",
            counted(gain.nameless, "file")
        );
    }
    text + &size.text()
}

fn list_as_json(entries: &[Entry], size: &CacheSize<'_>) -> Value {
    let of_entry = |entry: &Entry| {
        json!({
            "file": entry.file,
            "processor": entry.processor,
            "seconds": entry.milliseconds as f64 / 1000.0,
            "known": entry.known,
            "better": entry.choice.as_ref().map_or(&[][..], |choice| &choice.changes),
            "left": entry.left,
        })
    };
    json!({ "cache": size.json(), "texts": entries.iter().map(of_entry).collect::<Vec<_>>() })
}

fn bytes(cost: &KernelCost) -> u64 {
    u64::from(cost.spill_store_bytes) + u64::from(cost.spill_load_bytes)
}

/// Formats the figures before and after, if they differ.
fn gains(change: &ChangedKernel) -> [String; 3] {
    let of = |before: u64, after: u64| {
        if before == after { grouped(before) } else { format!("{} → {}", grouped(before), grouped(after)) }
    };
    let ChangedKernel { before, after, .. } = change;
    [
        of(bytes(before), bytes(after)),
        of(before.warps.into(), after.warps.into()),
        of(before.instructions.into(), after.instructions.into()),
    ]
}

fn figures(cost: &KernelCost) -> [String; 3] {
    [bytes(cost), cost.warps.into(), cost.instructions.into()].map(grouped)
}

/// The sum of the gains of all searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gain {
    /// The kernels that were searched. `known` counts those among them whose results were found for another PTX file.
    kernels: usize,
    known: usize,
    better: usize,
    more_warps: usize,
    /// Bytes that the searched kernels spill, before and after the search.
    bytes: [u64; 2],
    milliseconds: u64,
    /// PTX files whose cache entries lack the names of kernels.
    nameless: usize,
}

impl Gain {
    fn of(entries: &[Entry]) -> Self {
        let mut gain = Self::default();
        for entry in entries {
            let changes = entry.choice.as_ref().map_or(&[][..], |choice| &choice.changes);
            gain.better += changes.len();
            gain.more_warps += changes.iter().filter(|change| change.after.warps > change.before.warps).count();
            gain.kernels += changes.len() + entry.left.iter().filter(|left| left.is_searched).count();
            let left = entry.left.iter().filter_map(|left| left.cost.as_ref()).map(|cost| [bytes(cost); 2]);
            for [before, after] in
                changes.iter().map(|change| [bytes(&change.before), bytes(&change.after)]).chain(left)
            {
                gain.bytes[0] += before;
                gain.bytes[1] += after;
            }
            // `left` and `changes` contain the known kernels, too.
            gain.known += entry.known;
            gain.milliseconds += entry.milliseconds;
            gain.nameless += usize::from(changes.is_empty() && entry.left.is_empty() && entry.file.is_empty());
        }
        gain
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::CachedChoice;
    use super::*;
    use crate::cache::KeyBuilder;
    use crate::tune::request::UnchangedKernel;

    fn cost(bytes: u32, warps: u32) -> KernelCost {
        KernelCost { spill_store_bytes: bytes, spill_load_bytes: bytes, registers: 64, warps, instructions: 1500 }
    }

    /// An entry of an earlier version, without the names of its kernels.
    const OLD: &str = r#"{"messages": "", "choice": null}"#;

    fn entries() -> Vec<Entry> {
        let change = ChangedKernel {
            kernel: "_Z1kv".into(),
            choice: "order=eager".into(),
            agreement: String::new(),
            assurance: String::new(),
            before: cost(100, 32),
            after: cost(0, 36),
            with_fewer_warps: None,
        };
        let left = |is_searched, cost| UnchangedKernel {
            kernel: "kept".into(),
            reason: "no better".into(),
            is_searched,
            cost,
        };
        let new = Entry {
            messages: String::new(),
            choice: Some(CachedChoice { profile: String::new(), figures: String::new(), changes: vec![change] }),
            file: "/tmp/a.ptx".into(),
            processor: "sm_90".into(),
            milliseconds: 2500,
            left: vec![left(true, Some(cost(8, 32))), left(false, None)],
            known: 1,
        };
        vec![serde_json::from_str(OLD).expect("it is still read"), new]
    }

    /// Each kernel has a row, and the sums count the searched kernels.
    #[test]
    fn rows_and_sums() {
        let size = CacheSize { folder: Path::new("/c"), entries: 2, bytes: 8192 };
        let text = list(&entries(), &size);
        let expected = "\
            kernel  processor  file   bytes spilled  warps    instructions  choice\n\
            k       sm_90      a.ptx  200 → 0        32 → 36  1,500         order=eager\n\
            kept    sm_90      a.ptx  16             32       1,500         no better\n\
            kept    sm_90      a.ptx                                        no better\n\
            \n\
            1 kernel searched, 1 known from earlier searches: 1 better, 1 with more warps; 216 → 16 bytes spilled; 2.5 s of searches\n\
            1 file of an earlier version, which did not store names of kernels\n\
            /c: 2 files, 8,192 of at most 1,073,741,824 bytes\n";
        assert_eq!(text, expected);
        let json = list_as_json(&entries(), &size);
        assert_eq!(json["texts"][1]["better"][0]["after"]["warps"], 36);
    }

    /// Entries of all forms are counted and removed. Entries of searches are listed, the last used at the end. A
    /// damaged entry is skipped.
    #[test]
    fn entries_of_a_cache() {
        let parent = tempfile::tempdir().expect("there is space");
        let folder = parent.path().join("cache");
        assert!(Cache::existing(&folder, BOUND).expect("nobody made it").is_none());
        let cache = Cache::open(&folder, BOUND).expect("it can be made");
        let key = |number: u8| KeyBuilder::new("test").field("number", &[number]).key();
        for (number, entry) in entries().iter().enumerate() {
            cache.put(&key(number as u8), entry).expect("there is space");
        }
        cache.put(&key(7), &"a digest").expect("there is space");
        std::fs::write(folder.join(format!("{}.entry", key(8))), "damaged").expect("there is space");
        assert_eq!(cache.entries::<Entry>().expect("a folder"), entries());
        let old: Entry = cache.get(&key(0)).expect("it is there");
        assert_eq!(cache.entries::<Entry>().expect("a folder").last(), Some(&old));
        let size = cache.size().expect("a folder");
        assert_eq!(size, (4, 4 * 4096));
        assert_eq!(cache.clear().expect("it is ours"), size);
        assert_eq!(cache.size().expect("a folder"), (0, 0));
        cache.put(&key(1), &entries()[1]).expect("it is a cache as before");
    }
}
