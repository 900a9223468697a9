//! What ptxas itself says of the same kernels.

use std::process::Command;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::forecast::Forecast;

use super::{Arguments, source};
use crate::ptxas::{self, Folder, Measured};

/// Compiles the input and assembles it.
pub(super) fn measure(arguments: &Arguments, forecasts: &[Forecast]) -> Result<Measured, Error> {
    let source = source(arguments);
    if !source.is_ir() {
        let problem = format!("--compare-ptxas: {} is no LLVM IR", arguments.input.display());
        return Err(Error::new(ErrorKind::Option, problem, "give the .ll or .bc file"));
    }
    let folder = Folder::new("report")?;
    let ptx = folder.path("k.ptx");
    source.write_ptx(&ptx)?;
    if let Some(limit) = arguments.max_regs {
        let text = std::fs::read_to_string(&ptx).map_err(|error| Error::file(&ptx, &error))?;
        let has_less = |name: &str| forecasts.iter().any(|forecast| forecast.name == name && forecast.budget < limit);
        std::fs::write(&ptx, limited(&text, limit, has_less)).map_err(|error| Error::file(&ptx, &error))?;
    }
    let failed = |problem: String, remedy: &str| Error::pass(problem, remedy.to_owned());
    // What is called and not there is no error then.
    let is_part = forecasts.iter().any(|forecast| forecast.is_at_least);
    let assembled = Command::new(ptxas::tool("ptxas"))
        .args(["-v", "-O3", "-arch", &arguments.cpu, "-o", "/dev/null"])
        .args(is_part.then_some("-c"))
        .arg(&ptx)
        .output()
        .map_err(|error| failed(format!("ptxas: {error}"), "put ptxas on PATH, or leave out --compare-ptxas"))?;
    let report = String::from_utf8_lossy(&assembled.stderr).into_owned() + &String::from_utf8_lossy(&assembled.stdout);
    if !assembled.status.success() {
        return Err(failed(format!("ptxas: {}", report.lines().next().unwrap_or_default()), "see ptxas's message"));
    }
    Ok(ptxas::parse(&report))
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

#[cfg(test)]
mod tests {
    use super::limited;

    /// A limit stands in the place of a kernel's own, and not where the kernel has less.
    #[test]
    fn limits_are_lowered_and_never_raised() {
        let text = ".visible .entry a(\n\t.param .u64 a_param_0\n)\n.maxntid 512\n.maxnreg 200\n{\n\tret;\n}\n\
                    .visible .entry b()\n.maxntid 1024\n{\n\tret;\n}\n.func f()\n{\n\tret;\n}\n";
        let limited = limited(text, 80, |name| name == "b");
        assert_eq!(limited, text.replace(".maxnreg 200", ".maxnreg 80"));
    }
}
