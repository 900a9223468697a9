//! `NVPTX_RA_CHECK`: runs the delivered machine code and the build's PTX on the CPU and compares their results.
//!
//! The check comes last: the result is in place, and the check changes neither the result nor the exit status. Each PTX
//! module is compared once with each code that is delivered for it.

use std::path::{Path, PathBuf};

use nvptx_ra::emulate::Launches;
use nvptx_ra::error::Error;
use nvptx_ra::sass::cubin::Cubin;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::meaning::Approximation;
use nvptx_ra::tune::price::{LEAST, Work};
use serde::{Deserialize, Serialize};

use super::improve::work_of;
use super::launch_note::LaunchNote;
use super::task::Task;
use crate::cache::Key;
use crate::interrupt::is_interrupted;
use crate::kernel_names::readable;
use crate::meaning::{self, Compared, Meaning, Text};
use crate::ninja::quoted;
use crate::tune::agreement::MICROSECONDS_OF_A_STEP;
use crate::{compare, dynamic_shared, output, private_folder};

/// CPU time that a comparison may use, as a multiple of ptxas's time for the PTX.
const TIMES: f64 = 1.0;

/// The comparison's results for the kernels of a PTX module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checked {
    kernels: Vec<CheckedKernel>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CheckedKernel {
    kernel: String,
    meaning: Meaning,
    /// The folder with the files that reproduce a difference.
    folder: Option<PathBuf>,
}

/// Returns the cached comparison of the code that the profile `made_by` makes of the PTX. An empty profile stands for
/// stock code.
pub(super) fn known(task: &Task<'_>, made_by: &str) -> Option<Checked> {
    task.place.as_ref()?.checked(made_by)
}

/// Compares a cubin with the PTX, unless the result is cached. `made_by` is the profile from which the cubin was made;
/// empty for stock.
pub(super) fn of(task: &Task<'_>, made_by: &str, cubin: &[u8]) -> Result<Option<Checked>, Error> {
    if let Some(checked) = known(task, made_by) {
        return Ok(Some(checked));
    }
    let checked = compared(task, made_by, cubin)?;
    if is_interrupted() {
        return Ok(None);
    }
    if let Some(place) = &task.place {
        place.put_checked(made_by, &checked).unwrap_or_else(|error| task.settings.note(&error.to_string()));
    }
    Ok(Some(checked))
}

/// Reports the results: a log line for each kernel, and a warning for each kernel that differs.
pub(super) fn say(task: &Task<'_>, checked: &Checked) {
    for CheckedKernel { kernel, meaning, folder } in &checked.kernels {
        let name = readable(kernel);
        let place = folder.as_ref().map(|folder| format!("; {} shows it", folder.display())).unwrap_or_default();
        task.settings.note(&format!("{name}: checked: {meaning}{place}"));
        if meaning.is_different() {
            say!(
                "nvptx-ra: warning: {}: the machine code of kernel '{name}' computes something else than its PTX: {}{place}",
                task.input.name(),
                meaning.reason()
            );
        }
    }
}

fn compared(task: &Task<'_>, made_by: &str, cubin: &[u8]) -> Result<Checked, Error> {
    let name = task.input.name();
    let text = Text::read(&name, &task.input.text)?;
    // The disassembler takes longer than ptxas, so it is not run here.
    let unknown = |reason: &str| Error::pass(reason, "use nvptx-ra compare, which runs the disassembler");
    let code = Cubin::read(cubin).ok_or_else(|| unknown("the machine code cannot be read"))?;
    let disassemble = || Err(unknown("the machine code has instructions that only the disassembler knows"));
    let machine = Machine::new(&code, Approximation::default(), disassemble)?;
    let kernels: Vec<&str> =
        machine.program.kernels().filter(|name| text.program.kernels().any(|own| own == *name)).collect();
    let options: Vec<_> = task.invocation.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let code = meaning::Code { machine: &machine, cubin, fuses: meaning::fuses(&options) };
    let steps = steps(work_of(cubin), kernels.len());
    let noted = LaunchNote::of(&String::from_utf8_lossy(&task.input.text)).dynamic_shared;
    let kernel = |kernel: &str| {
        let mut launches = meaning::launches(steps);
        let said = dynamic_shared::bytes_of(&task.settings.dynamic_shared, kernel).or(noted);
        let threads = &task.invocation.bounds.threads;
        launches.dynamic_shared = said.unwrap_or(launches.dynamic_shared);
        launches.threads = (!threads.is_empty()).then(|| threads.iter().product());
        let compared = text.checked(kernel, &launches).compare(code);
        let Compared { meaning, counterexample } = compared.unwrap_or_else(|error| Compared::open(error.problem));
        // Any launch shows a missing wait, so there is no counterexample for it.
        let shown_by = counterexample.map_or(launches, |counterexample| counterexample.launches);
        let folder = meaning.is_different().then(|| keep(task, made_by, kernel, cubin, &meaning, &shown_by));
        let folder = folder.and_then(|kept| {
            kept.inspect_err(|error| task.settings.note(&format!("the difference cannot be stored: {error}"))).ok()
        });
        CheckedKernel { kernel: kernel.to_owned(), meaning, folder }
    };
    Ok(Checked { kernels: kernels.into_iter().map(kernel).collect() })
}

/// Returns how many warp instructions each of `kernels` kernels may execute. The number is in proportion to ptxas's
/// estimated work on the PTX.
fn steps(of_ptxas: Work, kernels: usize) -> u64 {
    of_ptxas.times(TIMES).max(LEAST).0 / MICROSECONDS_OF_A_STEP / kernels.max(1) as u64
}

/// Writes the files that reproduce a difference: the PTX, the cubin, the commands and the result. Returns the folder.
fn keep(
    task: &Task<'_>,
    made_by: &str,
    kernel: &str,
    cubin: &[u8],
    meaning: &Meaning,
    launches: &Launches,
) -> Result<PathBuf, Error> {
    let letters = kernel.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').take(40);
    let name: String = letters.collect();
    let key = task.place.as_ref().map(|place| place.key_of_check(made_by));
    let folder = match (&task.settings.cache, key) {
        (Some(cache), Some(key)) => {
            let all = private_folder::open(&cache.join("differences"))?;
            private_folder::open(&all.join(format!("{name}-{}", short(&key))))?
        }
        _ => {
            let new = tempfile::Builder::new().prefix(&format!("nvptx-ra-{name}-")).tempdir();
            new.map_err(|error| Error::file(&std::env::temp_dir(), &error))?.keep()
        }
    };
    let arguments = task.invocation.arguments.iter().map(|argument| quoted(&argument.to_string_lossy()));
    let ptxas = quoted(&task.ptxas.path.to_string_lossy());
    let build = std::iter::once(ptxas).chain(arguments).collect::<Vec<_>>().join(" ");
    let compare = compare::command(["k.ptx", "k.cubin"], kernel, launches);
    let files = [
        ("k.ptx", task.input.text.as_slice()),
        ("k.cubin", cubin),
        (
            "commands",
            &format!("# the command of the build\n{build}\n# the command that shows the difference\n{compare}\n")
                .into_bytes(),
        ),
        ("comparison", &format!("{}: {meaning}\n", readable(kernel)).into_bytes()),
    ];
    files.iter().try_for_each(|(name, content)| output::write(&Path::new(&folder).join(name), content))?;
    Ok(folder)
}

/// The first letters of a key, which distinguish the differences of one kernel.
fn short(key: &Key) -> String {
    key.to_string().chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The comparison of a small PTX module may take half a second, and that of a large module as long as ptxas. The
    /// kernels share this time.
    #[test]
    fn shares() {
        let of = |work: u64, kernels| steps(Work(work), kernels);
        assert_eq!((of(13_000, 1), of(4_000_000, 1), of(4_000_000, 10)), (125_000, 1_000_000, 100_000));
        assert_eq!(of(0, 0), 125_000);
    }
}
