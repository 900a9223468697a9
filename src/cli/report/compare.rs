//! Runs ptxas on the kernels of a report.

use std::path::Path;

use nvptx_ra::error::Error;
use nvptx_ra::forecast::{UnknownCall, UnknownCallee};
use nvptx_ra::ptx::{Module, Patch};
use nvptx_ra::target::SYSTEM_FUNCTIONS;
use tempfile::{NamedTempFile, TempPath};

use super::{Arguments, Report};
use crate::ptxas::{self, PtxasReports};
use crate::ptxas_run::{Failure, Run};

/// Most lines shown of ptxas's messages when it refuses a file.
const TOLD_LINES: usize = 8;

/// Returns the PTX of an input for ptxas, with the requested register limit. LLVM IR is compiled.
pub(super) fn ptx(report: &Report, arguments: &Arguments) -> Result<TempPath, Error> {
    let ptx = ptx_file()?;
    report.source.as_ref().map_or(Ok(()), |source| source.write_ptx(&ptx))?;
    let forecasts = &report.forecasts;
    if let Some(limit) = arguments.max_regs {
        let text = std::fs::read(&ptx).map_err(|error| Error::file(&ptx, &error))?;
        let has_less =
            |name: &str| forecasts.iter().any(|forecast| forecast.name == name && forecast.register_limit < limit);
        let text = limited(&report.input, &text, limit, has_less)?;
        std::fs::write(&ptx, text).map_err(|error| Error::file(&ptx, &error))?;
    }
    Ok(ptx)
}

/// Compiles the input to PTX and assembles it. If ptxas refuses the PTX, the file is kept, and the error contains its
/// path.
pub(super) fn measure(report: &Report, arguments: &Arguments) -> Result<PtxasReports, Error> {
    let ptx = ptx(report, arguments)?;
    // If ptxas writes no output file, undefined callees are no error.
    let nowhere = Path::new("/dev/null");
    let run = Run::assemble(&ptx, &report.cpu, nowhere, report.calls_outside, false).map_err(|error| {
        Error::pass(format!("--compare-ptxas: ptxas: {error}"), "put ptxas on PATH, or leave out --compare-ptxas")
    })?;
    let Some(failure) = run.failure() else { return Ok(ptxas::parse(&run.words)) };
    let kept = ptx.keep().map_err(|error| Error::file(&error.path, &error.error))?;
    // ptxas's figures of earlier functions do not explain the error.
    let lines: Vec<&str> =
        run.words.lines().filter(|line| !line.starts_with("ptxas info") && !line.starts_with("    ")).collect();
    let (told, rest) = lines.split_at(lines.len().min(TOLD_LINES));
    let mut told = told.join("\n");
    if !rest.is_empty() {
        told += &format!("\n{} lines more", rest.len());
    }
    let failure = match failure {
        Failure::Refused(_) if !told.is_empty() => Failure::Refused(told),
        other => other,
    };
    let problem = format!("--compare-ptxas: {}: {}", report.input, failure.about("its PTX"));
    Err(Error::pass(problem, format!("the forecast is without ptxas's figures; the PTX is kept in {}", kept.display())))
}

/// Returns whether a kernel calls a function that neither the file nor the system defines. ptxas compiles such a kernel
/// differently, with more spills, because it is linked later.
pub(super) fn calls_outside(calls: &[UnknownCall]) -> bool {
    let is_outside = |call: &UnknownCall| match &call.callee {
        UnknownCallee::Outside(name) => !SYSTEM_FUNCTIONS.contains(&&**name),
        UnknownCallee::Recursion(_) | UnknownCallee::Pointer | UnknownCallee::Table(_) => false,
    };
    calls.iter().any(is_outside)
}

/// Makes an empty temporary file, which is removed unless it is kept.
fn ptx_file() -> Result<TempPath, Error> {
    let file = tempfile::Builder::new().prefix("nvptx-ra-report-").suffix(".ptx").tempfile();
    file.map(NamedTempFile::into_temp_path).map_err(|error| Error::file(&std::env::temp_dir(), &error))
}

/// Sets or replaces `.maxnreg` in the head of each kernel, except kernels whose bounds imply a lower limit.
/// `-maxrregcount` has no effect on kernels with bounds, and in these exceptions, `.maxnreg` would raise the limit of
/// `.maxntid`.
fn limited(name: &str, text: &[u8], limit: u32, has_less: impl Fn(&str) -> bool) -> Result<Vec<u8>, Error> {
    let module = Module::read(name, text)?;
    let mut patch = Patch::default();
    for body in module.bodies() {
        if body.launch_bounds(module.file()).is_some() && !has_less(body.name(module.file())) {
            patch.append(module.begin(body, &[(".maxnreg", limit)], None));
        }
    }
    Ok(patch.apply(text))
}

#[cfg(test)]
mod tests {
    use super::{UnknownCall, UnknownCallee, calls_outside, limited};

    /// The system's functions, which `printf` and `assert` call, are not linked later.
    #[test]
    fn what_is_linked_later() {
        let outside =
            |name: &str| UnknownCall { callee: UnknownCallee::Outside(name.into()), caller: "k".into(), line: 0 };
        assert!(!calls_outside(&[outside("__assertfail"), outside("vprintf")]));
        assert!(calls_outside(&[outside("vprintf"), outside("helper")]));
    }

    /// The limit replaces a kernel's own limit, except in kernels with a lower limit.
    #[test]
    fn limits_are_lowered_and_never_raised() {
        let text = ".visible .entry a(\n\t.param .u64 a_param_0\n)\n.maxntid 512\n.maxnreg 200\n{\n\tret;\n}\n\
                    .visible .entry b()\n.maxntid 1024\n{\n\tret;\n}\n.func f()\n{\n\tret;\n}\n";
        let limited = |text: &str| {
            let limited = limited("k.ptx", text.as_bytes(), 80, |name| name == "b").expect("it is PTX");
            String::from_utf8(limited).expect("it was text")
        };
        assert_eq!(limited(text), text.replace(".maxnreg 200", ".maxnreg 80"));
        let free = text.replace("\n.maxnreg 200", "");
        assert_eq!(limited(&free), free.replacen(".maxntid 512", ".maxntid 512\n.maxnreg 80", 1));
    }
}
