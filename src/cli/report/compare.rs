//! What ptxas itself says of the same kernels.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::forecast::Forecast;

use super::{Arguments, source};

/// What ptxas reports of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Real {
    pub registers: u32,
    pub spill_store_bytes: u32,
    pub spill_load_bytes: u32,
    pub stack_bytes: u32,
}

/// By the kernels' names.
pub(super) type Measured = BTreeMap<String, Real>;

/// Compiles the input and assembles it.
pub(super) fn measure(arguments: &Arguments, forecasts: &[Forecast]) -> Result<Measured, Error> {
    let source = source(arguments);
    if !source.is_ir() {
        let problem = format!("--compare-ptxas: {} is no LLVM IR", arguments.input.display());
        return Err(Error::new(ErrorKind::Option, problem, "give the .ll or .bc file"));
    }
    let folder = Folder::new()?;
    let ptx = folder.0.join("k.ptx");
    source.write_ptx(&ptx)?;
    if let Some(limit) = arguments.max_regs {
        let text = std::fs::read_to_string(&ptx).map_err(|error| Error::file(&ptx, &error))?;
        let has_less = |name: &str| forecasts.iter().any(|forecast| forecast.name == name && forecast.budget < limit);
        std::fs::write(&ptx, limited(&text, limit, has_less)).map_err(|error| Error::file(&ptx, &error))?;
    }
    let failed = |problem: String, remedy: &str| Error::pass(problem, remedy.to_owned());
    let assembled = Command::new("ptxas")
        .args(["-v", "-O3", "-arch", &arguments.cpu, "-o", "/dev/null"])
        .arg(&ptx)
        .output()
        .map_err(|error| failed(format!("ptxas: {error}"), "put ptxas on PATH, or leave out --compare-ptxas"))?;
    let report = String::from_utf8_lossy(&assembled.stderr).into_owned() + &String::from_utf8_lossy(&assembled.stdout);
    if !assembled.status.success() {
        return Err(failed(format!("ptxas: {}", report.lines().next().unwrap_or_default()), "see ptxas's message"));
    }
    Ok(parse(&report))
}

/// PTX with `.maxnreg` behind the parameters of each kernel, in the place of its own, but for kernels that have less by
/// their bounds: `-maxrregcount` does nothing to those with bounds, and `.maxnreg` would raise what `.maxntid` leaves.
fn limited(text: &str, limit: u32, has_less: impl Fn(&str) -> bool) -> String {
    let mut limited = String::with_capacity(text.len());
    let mut in_head = false;
    for line in text.lines() {
        if let Some(name) = line.split(".entry ").nth(1) {
            in_head = !has_less(name.split('(').next().unwrap_or_default());
        }
        if in_head && line.starts_with(".maxnreg") {
            continue;
        }
        if in_head && line.starts_with('{') {
            limited += &format!(".maxnreg {limit}\n");
            in_head = false;
        }
        limited += line;
        limited.push('\n');
    }
    limited
}

/// Reads what `ptxas -v` prints.
fn parse(report: &str) -> Measured {
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
        }
        if let Some(bytes) = number_before(" bytes spill stores") {
            real.spill_store_bytes += bytes;
        }
        if let Some(bytes) = number_before(" bytes spill loads") {
            real.spill_load_bytes += bytes;
        }
        if let Some(registers) = line.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()) {
            real.registers = registers;
        }
    }
    measured
}

/// A folder that goes away again.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("nvptx-ra-report-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| Error::file(&path, &error))?;
        Ok(Self(path))
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
    use super::{Real, limited, parse};

    /// A limit stands in the place of a kernel's own, and not where the kernel has less.
    #[test]
    fn limits_are_lowered_and_never_raised() {
        let text = ".visible .entry a(\n\t.param .u64 a_param_0\n)\n.maxntid 512\n.maxnreg 200\n{\n\tret;\n}\n\
                    .visible .entry b()\n.maxntid 1024\n{\n\tret;\n}\n.func f()\n{\n\tret;\n}\n";
        let limited = limited(text, 80, |name| name == "b");
        assert_eq!(limited, text.replace(".maxnreg 200", ".maxnreg 80"));
    }

    /// Each kernel gets its own figures.
    #[test]
    fn report_of_two_kernels() {
        let report = "ptxas info    : 0 bytes gmem\n\
             ptxas info    : Compiling entry function 'a' for 'sm_90'\n\
             ptxas info    : Function properties for a\n\
             \u{20}   16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
             ptxas info    : Used 32 registers, used 1 barriers\n\
             ptxas info    : Compiling entry function 'b' for 'sm_90'\n\
             ptxas info    : Function properties for b\n\
             \u{20}   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
             ptxas info    : Used 9 registers\n";
        let measured = parse(report);
        let a = Real { registers: 32, spill_store_bytes: 8, spill_load_bytes: 12, stack_bytes: 16 };
        assert_eq!(measured.get("a"), Some(&a));
        assert_eq!(measured.get("b"), Some(&Real { registers: 9, ..Real::default() }));
    }
}
