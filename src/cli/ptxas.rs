//! NVIDIA's assembler as a judge: its path, and its figures for kernels.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::tune::ptxas_output::PtxasReport;
use tempfile::TempDir;

/// Figures by the kernels' names.
pub(crate) type PtxasReports = BTreeMap<String, PtxasReport>;

/// Returns the path of a CUDA toolkit's program: on PATH, or else in CUDA_PATH. If neither has the program, returns the
/// bare name, which cannot be started.
pub(crate) fn tool(name: &str) -> PathBuf {
    let on_path =
        std::env::var_os("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let in_toolkit = std::env::var_os("CUDA_PATH").map(|path| PathBuf::from(path).join("bin"));
    let found = on_path.chain(in_toolkit).map(|folder| folder.join(name)).find(|program| program.is_file());
    found.unwrap_or_else(|| name.into())
}

/// Part of ptxas's messages about serialised matrix products and ignored `setmaxnreg`. Messages about injected waits do
/// not contain this part, and such waits cost far less time.
const LOSS: &str = "Potential Performance Loss";
/// The weight of one such loss, in injected waits.
const WEIGHT_OF_LOSS: u32 = 1_000;

/// Parses the figures of `ptxas -v` for kernels. Figures of functions after a kernel are added to the kernel.
pub(crate) fn parse(report: &str) -> PtxasReports {
    read(report, false)
}

/// Parses the figures of `ptxas -v` for kernels and functions separately, as a linker needs them. ptxas does not print
/// registers of functions.
pub(crate) fn parse_separately(report: &str) -> PtxasReports {
    read(report, true)
}

fn read(report: &str, separately: bool) -> PtxasReports {
    let mut measured = PtxasReports::new();
    // The kernel that ptxas compiles, and the function to which the figures in the next lines belong.
    let mut kernel: Option<&str> = None;
    let mut at: Option<&str> = None;
    for line in report.lines() {
        let number_before = |what: &str| {
            let before = line.split(what).next().filter(|before| before.len() < line.len())?;
            before.split(|c: char| !c.is_ascii_digit()).rfind(|word| !word.is_empty())?.parse::<u32>().ok()
        };
        if let Some(name) = line.split("Compiling entry function '").nth(1).and_then(|rest| rest.split('\'').next()) {
            measured.entry(name.to_owned()).or_default();
            (kernel, at) = (Some(name), Some(name));
        }
        if let Some((_, name)) = line.split_once("Function properties for ").filter(|_| separately) {
            measured.entry(name.trim_end().to_owned()).or_default();
            at = Some(name.trim_end());
        }
        if advised(line).is_some() {
            continue;
        }
        if line.contains("info    : Used ") {
            at = kernel;
        }
        let Some(ptxas_report) = at.and_then(|name| measured.get_mut(name)) else { continue };
        // Functions that are not kernels have their own heading, without a kernel's name before it.
        if line.contains("Function properties for ") && !line.contains("bytes stack") {
            continue;
        }
        if let Some(bytes) = number_before(" bytes stack frame") {
            ptxas_report.stack_bytes = ptxas_report.stack_bytes.max(bytes);
            ptxas_report.total_stack_bytes = ptxas_report.total_stack_bytes.max(bytes);
        }
        if let Some(bytes) = number_before(" bytes cumulative stack size") {
            ptxas_report.total_stack_bytes = ptxas_report.total_stack_bytes.max(bytes);
        }
        if let Some(bytes) = number_before(" bytes spill stores") {
            ptxas_report.spill_store_bytes += bytes;
        }
        if let Some(bytes) = number_before(" bytes spill loads") {
            ptxas_report.spill_load_bytes += bytes;
        }
        if let Some(bytes) = number_before(" bytes smem") {
            ptxas_report.shared_bytes = bytes;
        }
        if let Some(registers) = line.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()) {
            ptxas_report.registers = registers;
        }
    }
    with_advice(measured, report)
}

/// Adds ptxas's advice about the kernels to the figures. ptxas prints advice without `-v`, too, and possibly before all
/// other messages about a kernel.
pub(crate) fn with_advice(mut measured: PtxasReports, report: &str) -> PtxasReports {
    for (name, weight) in report.lines().filter_map(advised) {
        if let Some(ptxas_report) = measured.get_mut(name) {
            ptxas_report.advice += weight;
        }
    }
    measured
}

/// A message of ptxas about a function's code, apart from figures: `(C7510) Potential Performance Loss: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advice<'a> {
    pub(crate) function: &'a str,
    /// The message's number: `C7510`.
    pub(crate) code: &'a str,
    pub(crate) text: &'a str,
}

impl Advice<'_> {
    /// Returns whether ptxas reports that the message's cause may cost time.
    pub(crate) fn is_loss(&self) -> bool {
        self.text.starts_with(LOSS)
    }
}

/// Returns all advice in ptxas's output, in order.
pub(crate) fn advice(report: &str) -> impl Iterator<Item = Advice<'_>> {
    report.lines().filter_map(advice_in)
}

fn advice_in(line: &str) -> Option<Advice<'_>> {
    let (_, rest) = line.split_once("info    : (")?;
    let (code, text) = rest.split_once(')').filter(|(code, _)| code.starts_with('C'))?;
    let (_, name) = text.rsplit_once("function '")?;
    let (function, _) = name.split_once('\'')?;
    Some(Advice { function, code, text: text.trim() })
}

/// Returns the function of an advice line, and the advice's weight.
fn advised(line: &str) -> Option<(&str, u32)> {
    advice_in(line).map(|advice| (advice.function, if advice.is_loss() { WEIGHT_OF_LOSS } else { 1 }))
}

/// Returns why ptxas refuses a file: its first error, because warnings may precede the error, or else its first line.
/// Triton's second ptxas calls itself `ptxas-blackwell`.
pub(crate) fn refusal(report: &str) -> &str {
    let is_error = |line: &&str| {
        let kind = line.split_once("ptxas").map_or(*line, |(_, rest)| rest.trim_start_matches("-blackwell"));
        ["fatal", "error"]
            .iter()
            .any(|word| kind.trim_start().starts_with(word) || line.contains(&format!("; {word} ")))
    };
    let mut lines = report.lines().filter(|line| !line.trim().is_empty());
    report.lines().find(is_error).or_else(|| lines.next()).unwrap_or("it failed without a message").trim()
}

/// Removes `debug` from the target of PTX, because ptxas refuses to optimise code with `debug`. LLVM writes `debug` for
/// a module with line numbers, for example from Triton, unless the module requests line numbers only. Triton removes
/// `debug`, too.
#[cfg(any(feature = "llvm", test))]
pub(crate) fn drop_debug_target(ptx: &mut Vec<u8>) {
    const HEAD: &[u8] = b"\n.target ";
    const WORD: &[u8] = b", debug";
    let Some(head) = ptx.windows(HEAD.len()).position(|part| part == HEAD) else { return };
    let rest = &ptx[head + HEAD.len()..];
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if line.ends_with(WORD) {
        let end = head + HEAD.len() + line.len();
        ptx.drain(end - WORD.len()..end);
    }
}

/// Refuses a processor that this ptxas does not support, because every release adds and drops processors. If ptxas does
/// not list processors, the processor is not checked.
pub(crate) fn check_processor(ptxas: &Path, cpu: &str) -> Result<(), Error> {
    let help = Command::new(ptxas).arg("--help").stdin(Stdio::null()).output();
    let help = help.map(|help| String::from_utf8_lossy(&help.stdout).into_owned()).unwrap_or_default();
    let known = processors(&help);
    if known.is_empty() || known.contains(&cpu) {
        return Ok(());
    }
    let problem = format!("{}: this ptxas does not support processor '{cpu}'", ptxas.display());
    let remedy = format!("set --cpu to one of {}, or use the ptxas of another CUDA toolkit", known.join(", "));
    Err(Error::new(ErrorKind::Option, problem, remedy))
}

/// Returns the processors in the output of `ptxas --help`, each once, in numeric order.
fn processors(help: &str) -> Vec<&str> {
    let is_processor =
        |word: &&str| word.strip_prefix("sm_").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    // Only names of values are in quotes.
    let mut known: Vec<&str> = help.split('\'').skip(1).step_by(2).filter(is_processor).collect();
    let number =
        |name: &&str| name[3..].trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().unwrap_or(u32::MAX);
    known.sort_by_key(|name| (number(name), *name));
    known.dedup();
    known
}

/// A temporary folder, which is removed on drop.
pub(crate) struct Folder(TempDir);

/// The existing folders.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Folder {
    fn drop(&mut self) {
        folders().remove(self.0.path());
    }
}

impl Folder {
    /// Makes a new folder, which only this process has. Its name cannot be guessed and created by others before.
    pub(crate) fn new(purpose: &str) -> Result<Self, Error> {
        let prefix = format!("nvptx-ra-{purpose}-");
        let private = std::fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(&prefix).permissions(private).tempdir();
        let folder = folder.map_err(|error| Error::file(&std::env::temp_dir(), &error))?;
        folders().insert(folder.path().to_owned());
        Ok(Self(folder))
    }

    /// Removes all folders. A program that ends during its work calls this function.
    pub(crate) fn remove_all() {
        for folder in std::mem::take(&mut *folders()) {
            // A folder that cannot be removed stays.
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    /// Returns the path of a file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::{Folder, PtxasReport, PtxasReports, drop_debug_target, parse, parse_separately, processors, refusal};

    /// Only the word `debug` in the target's line is removed.
    #[test]
    fn targets_for_debugging() {
        let of_target = |target: &str| format!(".version 8.7\n.target {target}\n.address_size 64\n// a, debug\n");
        let dropped = |target: &str| {
            let mut ptx = of_target(target).into_bytes();
            drop_debug_target(&mut ptx);
            String::from_utf8(ptx).expect("text")
        };
        assert_eq!(dropped("sm_90a, debug"), of_target("sm_90a"));
        assert_eq!(dropped("sm_90a"), of_target("sm_90a"));
        let mut nothing = b"// no head".to_vec();
        drop_debug_target(&mut nothing);
        assert_eq!(nothing, b"// no head");
    }

    /// Warnings before an error are not the reason for a refusal.
    #[test]
    fn refusals() {
        let abi = "ptxas warning :  64 Bit host architecture (--machine) being used mismatches with .address_size\n\
             ptxas fatal   :  32-Bit ABI is not supported\n";
        assert_eq!(refusal(abi), "ptxas fatal   :  32-Bit ABI is not supported");
        let line = "ptxas a.ptx, line 9; warning : unused\nptxas a.ptx, line 12; error   : Unknown symbol 'x'\n";
        assert_eq!(refusal(line), "ptxas a.ptx, line 12; error   : Unknown symbol 'x'");
        let syntax = "ptxas a.ptx, line 5; fatal   : Parsing error near 'x'\nptxas fatal   : Ptx assembly aborted\n";
        assert_eq!(refusal(syntax), "ptxas a.ptx, line 5; fatal   : Parsing error near 'x'");
        assert_eq!(refusal("ptxas error   : too much data\n"), "ptxas error   : too much data");
        assert_eq!(
            refusal("ptxas-blackwell warning : x\nptxas-blackwell error   : y\n"),
            "ptxas-blackwell error   : y"
        );
        assert_eq!(refusal("\nKilled\n"), "Killed");
        assert_eq!(refusal(""), "it failed without a message");
    }

    /// Each kernel gets its own figures.
    #[test]
    fn report_of_two_kernels() {
        let report = "ptxas info    : (C7519) warpgroup.arrive is injected in around line 996 in function 'a'\n\
             ptxas info    : (C7519) warpgroup.arrive is injected in around line 9 in function 'helper'\n\
             ptxas info    : 0 bytes gmem\n\
             ptxas info    : Compiling entry function 'a' for 'sm_90'\n\
             ptxas info    : Function properties for a\n\
             \u{20}   16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
             ptxas info    : Used 32 registers, used 1 barriers, 24 bytes cumulative stack size, 2048 bytes smem\n\
             ptxas info    : Compiling entry function 'b' for 'sm_90'\n\
             ptxas info    : Function properties for b\n\
             \u{20}   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
             ptxas info    : Used 9 registers\n";
        let measured = parse(report);
        let a = PtxasReport {
            registers: 32,
            spill_store_bytes: 8,
            spill_load_bytes: 12,
            stack_bytes: 16,
            total_stack_bytes: 24,
            shared_bytes: 2048,
            advice: 1,
        };
        assert_eq!(measured.get("a"), Some(&a));
        assert_eq!(measured.get("b"), Some(&PtxasReport { registers: 9, ..PtxasReport::default() }));
    }

    /// If functions count separately, a function's spills do not count for its kernel, in any order of ptxas's lines.
    #[test]
    fn report_of_functions() {
        let of = |name: &str, bytes: u32| {
            format!(
                "ptxas info    : Function properties for {name}\n    {bytes} bytes stack frame, {bytes} bytes spill stores, 4 bytes spill loads\n"
            )
        };
        let entry = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n";
        let used = "ptxas info    : Used 32 registers, 24 bytes cumulative stack size, 2048 bytes smem\n";
        let ptxas_report = |bytes| PtxasReport {
            spill_store_bytes: bytes,
            spill_load_bytes: 4,
            stack_bytes: bytes,
            total_stack_bytes: bytes,
            ..PtxasReport::default()
        };
        let kernel = PtxasReport { registers: 32, total_stack_bytes: 24, shared_bytes: 2048, ..ptxas_report(8) };
        let expected: PtxasReports = [("f".into(), ptxas_report(12)), ("k".into(), kernel)].into();
        for order in [[of("f", 12), entry.into(), of("k", 8)], [entry.into(), of("k", 8), of("f", 12)]] {
            assert_eq!(parse_separately(&(order.concat() + used)), expected);
        }
    }

    /// Serialised matrix products are worse than any number of injected waits.
    #[test]
    fn losses_of_performance() {
        let wait = "ptxas info    : (C7517) warpgroup.wait is injected in around line 9 by compiler in function 'a'\n";
        let loss = "ptxas info    : (C7518) Potential Performance Loss: wgmma.mma_async instructions are serialized due to \
             program dependence in the function 'a'\n";
        let head = "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n";
        let advice = |report: String| parse(&report)["a"].advice;
        let said: Vec<_> = super::advice(loss).map(|advice| (advice.code, advice.function, advice.is_loss())).collect();
        assert_eq!(said, [("C7518", "a", true)]);
        assert!(super::advice(wait).all(|advice| advice.code == "C7517" && !advice.is_loss()));
        let [waits, losses] = [wait.repeat(20) + head, loss.to_owned() + head].map(advice);
        assert!(0 < waits && waits < losses, "{waits}, {losses}");
    }

    /// Processors are distinguished from virtual ones, from other values and from surrounding text.
    #[test]
    fn processors_of_the_help() {
        let help = "--gpu-name <gpu name>   (-arch)\n  PTX of .target sm_XY compiles to sm_90 too.\n  Allowed values for this \
            option:  'compute_75','lto_90','sm_100',\n  'sm_100a','sm_75','sm_90','sm_90a'.\n  Default value:  'sm_75'.\n";
        assert_eq!(processors(help), ["sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a"]);
        assert!(processors("usage: ptxas 'file'").is_empty());
    }

    /// Folders are private, two folders of one purpose differ, and folders are removed.
    #[test]
    fn folders_are_private() {
        let folders = [0, 1].map(|_| Folder::new("test").expect("there is space"));
        let paths = folders.each_ref().map(|folder| folder.path("k.ptx"));
        assert_ne!(paths[0], paths[1]);
        let parent = paths[0].parent().expect("a folder").to_owned();
        let guessed = format!("nvptx-ra-test-{}", std::process::id());
        assert!(!parent.ends_with(guessed) && parent.starts_with(std::env::temp_dir()), "{}", parent.display());
        assert_eq!(std::fs::metadata(&parent).expect("it is there").permissions().mode() & 0o777, 0o700);
        drop(folders);
        assert!(!parent.exists());
    }
}
