//! What ptxas itself says of the same kernels.

use std::path::Path;

use nvptx_ra::error::Error;
use nvptx_ra::forecast::{UnknownCall, UnknownCallee};
use nvptx_ra::ptx::{Module, Patch};
use nvptx_ra::target::SYSTEM_FUNCTIONS;
use tempfile::{NamedTempFile, TempPath};

use super::{Arguments, Report};
use crate::ptxas::{self, PtxasReports};
use crate::ptxas_run::{Failure, Run};

/// Of what ptxas says against a file, so many lines are shown.
const TOLD_LINES: usize = 8;

/// The PTX that ptxas gets of an input, which is compiled if it is LLVM IR, with the limit on registers that was asked for.
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

/// Compiles the input and assembles it. Where ptxas refuses it, the PTX stays, and the error says where.
pub(super) fn measure(report: &Report, arguments: &Arguments) -> Result<PtxasReports, Error> {
    let ptx = ptx(report, arguments)?;
    // What is called and not there is no error then.
    let nowhere = Path::new("/dev/null");
    let run = Run::assemble(&ptx, &report.cpu, nowhere, report.calls_outside, false).map_err(|error| {
        Error::pass(format!("--compare-ptxas: ptxas: {error}"), "put ptxas on PATH, or leave out --compare-ptxas")
    })?;
    let Some(failure) = run.failure() else { return Ok(ptxas::parse(&run.words)) };
    let kept = ptx.keep().map_err(|error| Error::file(&error.path, &error.error))?;
    // What it made of functions before the error is not what is asked.
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

/// Whether some kernel calls what neither the file nor the system defines. ptxas compiles what is to be linked later otherwise, and
/// spills more.
pub(super) fn calls_outside(calls: &[UnknownCall]) -> bool {
    let is_outside = |call: &UnknownCall| match &call.callee {
        UnknownCallee::Outside(name) => !SYSTEM_FUNCTIONS.contains(&&**name),
        UnknownCallee::Recursion(_) | UnknownCallee::Pointer | UnknownCallee::Table(_) => false,
    };
    calls.iter().any(is_outside)
}

/// An empty file of its own among the system's temporary ones, which goes away unless it is kept.
fn ptx_file() -> Result<TempPath, Error> {
    let file = tempfile::Builder::new().prefix("nvptx-ra-report-").suffix(".ptx").tempfile();
    file.map(NamedTempFile::into_temp_path).map_err(|error| Error::file(&std::env::temp_dir(), &error))
}

/// PTX with `.maxnreg` in the head of each kernel, in the place of its own, but for kernels that have less by their bounds:
/// `-maxrregcount` does nothing to those with bounds, and `.maxnreg` would raise what `.maxntid` leaves.
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

    /// What the system defines, as `printf` and `assert` call it, is not linked later.
    #[test]
    fn what_is_linked_later() {
        let outside =
            |name: &str| UnknownCall { callee: UnknownCallee::Outside(name.into()), caller: "k".into(), line: 0 };
        assert!(!calls_outside(&[outside("__assertfail"), outside("vprintf")]));
        assert!(calls_outside(&[outside("vprintf"), outside("helper")]));
    }

    /// A limit stands in the place of a kernel's own, and not where the kernel has less.
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
