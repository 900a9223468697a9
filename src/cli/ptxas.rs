//! NVIDIA's assembler as a judge: where it is, and what it says of kernels.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nvptx_ra::error::Error;

/// What ptxas reports of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Real {
    /// General registers of a thread.
    pub registers: u32,
    pub spill_store_bytes: u32,
    pub spill_load_bytes: u32,
    pub stack_bytes: u32,
    /// With what the functions that it calls have.
    pub total_stack_bytes: u32,
    /// Static shared memory of a block.
    pub shared_bytes: u32,
}

/// By the kernels' names.
pub(crate) type Measured = BTreeMap<String, Real>;

/// A program of the CUDA toolkit: on PATH, else where CUDA_PATH says; else its bare name, which cannot be started.
pub(crate) fn tool(name: &str) -> PathBuf {
    let on_path =
        std::env::var_os("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let in_toolkit = std::env::var_os("CUDA_PATH").map(|path| PathBuf::from(path).join("bin"));
    let found = on_path.chain(in_toolkit).map(|folder| folder.join(name)).find(|program| program.is_file());
    found.unwrap_or_else(|| name.into())
}

/// Reads what `ptxas -v` prints.
pub(crate) fn parse(report: &str) -> Measured {
    let mut measured = Measured::new();
    let mut at: Option<&mut Real> = None;
    for line in report.lines() {
        let number_before = |what: &str| {
            let before = line.split(what).next().filter(|before| before.len() < line.len())?;
            before.split(|c: char| !c.is_ascii_digit()).rfind(|word| !word.is_empty())?.parse::<u32>().ok()
        };
        if let Some(name) = line.split("Compiling entry function '").nth(1).and_then(|rest| rest.split('\'').next()) {
            at = Some(measured.entry(name.to_owned()).or_default());
        }
        let Some(real) = at.as_deref_mut() else { continue };
        // Device functions have a line of their own, which no kernel's name precedes.
        if line.contains("Function properties for ") && !line.contains("bytes stack") {
            continue;
        }
        if let Some(bytes) = number_before(" bytes stack frame") {
            real.stack_bytes = real.stack_bytes.max(bytes);
            real.total_stack_bytes = real.total_stack_bytes.max(bytes);
        }
        if let Some(bytes) = number_before(" bytes cumulative stack size") {
            real.total_stack_bytes = real.total_stack_bytes.max(bytes);
        }
        if let Some(bytes) = number_before(" bytes spill stores") {
            real.spill_store_bytes += bytes;
        }
        if let Some(bytes) = number_before(" bytes spill loads") {
            real.spill_load_bytes += bytes;
        }
        if let Some(bytes) = number_before(" bytes smem") {
            real.shared_bytes = bytes;
        }
        if let Some(registers) = line.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()) {
            real.registers = registers;
        }
    }
    measured
}

/// Why ptxas refuses a file, by what it prints: its first error, for warnings may stand ahead of that; else its first
/// line.
pub(crate) fn refusal(report: &str) -> &str {
    let is_error = |line: &&str| {
        let kind = line.split_once("ptxas").map_or(*line, |(_, rest)| rest);
        ["fatal", "error"].iter().any(|word| kind.trim_start().starts_with(word)) || line.contains("; error ")
    };
    let mut lines = report.lines().filter(|line| !line.trim().is_empty());
    report.lines().find(is_error).or_else(|| lines.next()).unwrap_or("it failed without a message").trim()
}

/// A folder for files that nobody needs later; it goes away again.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new one, which no other process has.
    pub(crate) fn new(purpose: &str) -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("nvptx-ra-{purpose}-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| Error::file(&path, &error))?;
        Ok(Self(path))
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing can be done about what stays.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Real, parse, refusal};

    /// Warnings ahead of an error are not why a file is refused.
    #[test]
    fn refusals() {
        let abi = "ptxas warning :  64 Bit host architecture (--machine) being used mismatches with .address_size\n\
             ptxas fatal   :  32-Bit ABI is not supported\n";
        assert_eq!(refusal(abi), "ptxas fatal   :  32-Bit ABI is not supported");
        let line = "ptxas a.ptx, line 9; warning : unused\nptxas a.ptx, line 12; error   : Unknown symbol 'x'\n";
        assert_eq!(refusal(line), "ptxas a.ptx, line 12; error   : Unknown symbol 'x'");
        assert_eq!(refusal("ptxas error   : too much data\n"), "ptxas error   : too much data");
        assert_eq!(refusal("\nKilled\n"), "Killed");
        assert_eq!(refusal(""), "it failed without a message");
    }

    /// Each kernel gets its own figures.
    #[test]
    fn report_of_two_kernels() {
        let report = "ptxas info    : 0 bytes gmem\n\
             ptxas info    : Compiling entry function 'a' for 'sm_90'\n\
             ptxas info    : Function properties for a\n\
             \u{20}   16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
             ptxas info    : Used 32 registers, used 1 barriers, 24 bytes cumulative stack size, 2048 bytes smem\n\
             ptxas info    : Compiling entry function 'b' for 'sm_90'\n\
             ptxas info    : Function properties for b\n\
             \u{20}   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
             ptxas info    : Used 9 registers\n";
        let measured = parse(report);
        let a = Real {
            registers: 32,
            spill_store_bytes: 8,
            spill_load_bytes: 12,
            stack_bytes: 16,
            total_stack_bytes: 24,
            shared_bytes: 2048,
        };
        assert_eq!(measured.get("a"), Some(&a));
        assert_eq!(measured.get("b"), Some(&Real { registers: 9, ..Real::default() }));
    }
}
