//! Runs of ptxas as a Ninja graph, for those who have more machines than this one.
//!
//! A search asks in steps: LLVM's own code of every kernel, then a round of variants of each, then the whole module. A
//! step that lacks answers is written as a graph, whose edges are runs of `nvptx-ra judge` and whose outputs are the
//! very entries of the cache. So the next call goes one step further, and once nothing is left to run, a search of this
//! machine alone finds every answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nvptx_ra::error::{Error, ErrorKind};

use super::benchmark::quoted;
use super::compose::compose;
use super::judge::{Judge, Tools};
use super::rounds::Search;
use crate::input;

/// The runs that a search waits for.
pub(super) struct Plan {
    tools: Tools,
    /// This very program.
    program: PathBuf,
    cpu: String,
    /// The folder of the answers.
    cache: PathBuf,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    /// How long each may take, by what it answers.
    limits: BTreeMap<String, Duration>,
    /// The first file that could not be written.
    error: Option<Error>,
}

impl Plan {
    pub(super) fn new(tools: Tools, cpu: &str, cache: &Path) -> Result<Self, Error> {
        let unknown = |error: std::io::Error| {
            Error::new(ErrorKind::File, format!("this program's own path: {error}"), "start it by its path")
        };
        let program = std::env::current_exe().map_err(unknown)?;
        Ok(Self { tools, program, cpu: cpu.to_owned(), cache: cache.to_owned(), runs: Mutex::default() })
    }

    /// Notes a run. Its input goes into the cache's folder, beside the answer that it will have.
    pub(super) fn note(&self, key: &str, ptx: &[u8], limit: Duration) {
        let mut runs = self.runs();
        if runs.limits.insert(key.to_owned(), limit).is_none()
            && let Err(error) = crate::output::write(&self.input(key), ptx)
        {
            runs.error.get_or_insert(error);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs().limits.is_empty()
    }

    fn input(&self, key: &str) -> PathBuf {
        self.cache.join(format!("{key}.ptx"))
    }

    /// Writing under the lock leaves what is in it whole.
    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The graph, and how many runs are in it; in the order of the keys.
    fn print(&self) -> Result<(String, usize), Error> {
        let runs = self.runs();
        if let Some(error) = &runs.error {
            return Err(error.clone());
        }
        let Tools { ptxas, cuobjdump } = &self.tools;
        let mut command = vec![word(&self.program)?, "judge --cpu".into(), in_value(&quoted(&self.cpu))];
        command.extend(["--ptxas".into(), word(ptxas)?, "--cuobjdump".into(), word(cuobjdump)?]);
        command.push("--limit-ms $limit $in -o $out".into());
        let mut text = "# A step of nvptx-ra tune: run it, then call tune with --ninja again.\n".to_owned();
        text += &format!("ninja_required_version = 1.3\n\nrule judge\n  command = {}\n", command.join(" "));
        text += "  description = ptxas $in\n\n";
        let programs = [in_path(&self.program)?, in_path(ptxas)?, in_path(cuobjdump)?].join(" ");
        let mut outputs = String::new();
        for (key, limit) in &runs.limits {
            let (input, output) = (in_path(&self.input(key))?, in_path(&self.cache.join(format!("{key}.txt")))?);
            text += &format!("build {output}: judge {input} | {programs}\n  limit = {}\n", limit.as_millis());
            outputs += &format!(" {output}");
        }
        text += &format!("\nbuild all: phony{outputs}\ndefault all\n");
        Ok((text, runs.limits.len()))
    }

    /// Removes inputs whose answers have come.
    fn tidy(&self) {
        let files = std::fs::read_dir(&self.cache).into_iter().flatten().flatten().map(|entry| entry.path());
        for input in files.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")) {
            if input.with_extension("txt").is_file() {
                // One that stays is in nobody's way.
                let _ = std::fs::remove_file(input);
            }
        }
    }
}

/// Writes the first step of a search that lacks answers, and says what is to be done.
pub(super) fn write_step(search: &Search<'_>, judge: &Judge, path: &Path) -> Result<ExitCode, Error> {
    if !judge.is_waiting() {
        compose(search)?;
    }
    let plan = judge.plan().ok_or_else(|| Error::internal("a judge without a plan", None))?;
    let (text, runs) = plan.print()?;
    plan.tidy();
    let place = path.display();
    let said = match runs {
        0 => "nothing left to run: without --ninja, the same command writes the result\n".to_owned(),
        1 => format!("1 run left: let Ninja run {place}, then give the same command again\n"),
        runs => format!("{runs} runs left: let Ninja run {place}, then give the same command again\n"),
    };
    if input::is_stream(path) {
        say!("nvptx-ra: {}", said.trim_end());
        return crate::print(text.as_bytes());
    }
    crate::output::write(path, text.as_bytes())?;
    crate::print(format!("nvptx-ra: {said}").as_bytes())
}

/// A path as a word of a command.
fn word(path: &Path) -> Result<String, Error> {
    Ok(in_value(&quoted(checked(path)?)))
}

/// Text as the value of a variable of Ninja.
fn in_value(text: &str) -> String {
    text.replace('$', "$$")
}

/// A path as Ninja reads it among others.
fn in_path(path: &Path) -> Result<String, Error> {
    let path = checked(path)?.chars();
    Ok(path.flat_map(|c| matches!(c, '$' | ' ' | ':').then_some('$').into_iter().chain([c])).collect())
}

/// A path that Ninja can name.
fn checked(path: &Path) -> Result<&str, Error> {
    path.to_str().filter(|path| !path.contains(['\n', '\r', '|'])).ok_or_else(|| {
        let problem = format!("{}: Ninja has no way to write this path", path.display());
        Error::new(ErrorKind::File, problem, "use one that is UTF-8, without | and line breaks")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(folder: &Path) -> Plan {
        let tools = Tools { ptxas: "/a b/ptxas".into(), cuobjdump: "/it's $/cuobjdump".into() };
        Plan::new(tools, "sm_90", folder).expect("this program has a path")
    }

    /// Spaces, dollars and colons of paths are Ninja's, quotes the shell's; the same runs give the same text, whatever
    /// came first.
    #[test]
    fn paths_are_escaped() {
        let parent = tempfile::tempdir().expect("there is space");
        let folder = parent.path().join("graph $x:y");
        std::fs::create_dir(&folder).expect("there is space");
        let text = |keys: [&str; 2]| {
            let plan = plan(&folder);
            keys.iter().for_each(|key| plan.note(key, b"ptx", Duration::from_millis(1500)));
            plan.print().expect("the paths are right")
        };
        let (written, runs) = text(["1", "0"]);
        assert_eq!((written.clone(), runs), text(["0", "1"]));
        let escaped = folder.to_string_lossy().replace('$', "$$").replace(' ', "$ ").replace(':', "$:");
        assert!(written.contains(&format!("build {escaped}/0.txt: judge {escaped}/0.ptx | ")), "{written}");
        assert!(written.contains(r"--ptxas '/a b/ptxas' --cuobjdump '/it'\''s $$/cuobjdump' --limit"), "{written}");
        assert!(written.contains(" /a$ b/ptxas /it's$ $$/cuobjdump\n  limit = 1500\n"), "{written}");
        std::fs::write(folder.join("0.txt"), "").expect("there is space");
        plan(&folder).tidy();
        assert_eq!((folder.join("0.ptx").exists(), folder.join("1.ptx").exists()), (false, true));
    }

    /// A path that Ninja cannot name, or that cannot be written, is an error with a remedy, and no graph.
    #[test]
    fn other_paths_are_refused() {
        for folder in ["/no|where", "/nowhere/at/all"] {
            let plan = plan(folder.as_ref());
            plan.note("0", b"", Duration::ZERO);
            assert!(plan.print().is_err(), "{folder}");
        }
        assert!(in_path(Path::new("a\nb")).is_err());
    }
}
