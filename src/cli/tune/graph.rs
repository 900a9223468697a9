//! ptxas runs as a Ninja graph, for users with more than one machine.
//!
//! A search asks in steps: LLVM's own code of every kernel, then a round of variants of each kernel, then the whole
//! module. If a step lacks answers, it is written as a graph. The graph's edges are runs of `nvptx-ra judge`, and its
//! outputs are cache entries. The next call proceeds by one step. Once nothing is left to run, a search on this machine
//! finds every answer in the cache.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use nvptx_ra::error::{Error, ErrorKind};

use super::compose::compose;
use super::judge::Inspection;
use super::judge::planned::Planned;
use super::judge::ptxas::Tools;
use super::tuning::Tuning;
use crate::input;
use crate::ninja::{in_path, in_value, quoted, word};

/// Returns the graph of the planned runs, in the order of their keys, and the number of runs. `program` is this
/// program.
fn print(planned: &Planned<'_>, program: &Path) -> Result<(String, usize), Error> {
    let wanted = planned.wanted()?;
    let Tools { ptxas, cuobjdump, nvdisasm } = planned.ptxas().tools();
    let cpu = quoted(planned.ptxas().cpu());
    let mut command = vec![word(program)?, "judge --cpu".into(), in_value(&cpu)];
    command.extend(["--ptxas".into(), word(ptxas)?, "--cuobjdump".into(), word(cuobjdump)?]);
    let option = |option: &OsString| format!("--option={}", in_value(&quoted(&option.to_string_lossy())));
    command.extend(planned.ptxas().options().map(option));
    command.extend(["--nvdisasm".into(), word(nvdisasm)?, "--limit-ms $limit $look $in -o $out".into()]);
    let mut text = "# A step of nvptx-ra tune: run it, then call tune with --ninja again.\n".to_owned();
    text += &format!("ninja_required_version = 1.3\n\nrule judge\n  command = {}\n", command.join(" "));
    text += "  description = ptxas $in\n\n";
    let programs = [in_path(program)?, in_path(ptxas)?, in_path(cuobjdump)?].join(" ");
    let mut outputs = String::new();
    for (key, (limit, inspection)) in &wanted {
        let [input, output] = planned.files(key);
        let (input, output) = (in_path(&input)?, in_path(&output)?);
        text += &format!("build {output}: judge {input} | {programs}\n  limit = {}\n", limit.as_millis());
        text += if *inspection == Inspection::Spills { "  look = --spills\n" } else { "" };
        outputs += &format!(" {output}");
    }
    text += &format!("\nbuild all: phony{outputs}\ndefault all\n");
    Ok((text, wanted.len()))
}

/// Writes the first step that lacks answers, and prints how to continue.
pub(super) fn write_step(tuning: &Tuning<'_>, planned: &Planned<'_>, path: &Path) -> Result<ExitCode, Error> {
    if !tuning.waits() {
        compose(tuning)?;
    }
    let unknown = |error: std::io::Error| {
        Error::new(ErrorKind::File, format!("this program's own path: {error}"), "start it by its path")
    };
    let (text, runs) = print(planned, &std::env::current_exe().map_err(unknown)?)?;
    planned.tidy();
    let place = path.display();
    let said = match runs {
        0 => "nothing left to run: without --ninja, the same command writes the result\n".to_owned(),
        1 => format!("1 run left: run {place} with Ninja, then repeat this command\n"),
        runs => format!("{runs} runs left: run {place} with Ninja, then repeat this command\n"),
    };
    if input::is_stream(path) {
        say!("nvptx-ra: {}", said.trim_end());
        return crate::print(text.as_bytes());
    }
    crate::output::write(path, text.as_bytes())?;
    crate::print(format!("nvptx-ra: {said}").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tune::judge::ptxas::{Build, Ptxas};

    fn ptxas() -> Ptxas {
        let tools =
            Tools { ptxas: "/a b/ptxas".into(), cuobjdump: "/it's $/cuobjdump".into(), nvdisasm: "nvdisasm".into() };
        let build = Build { options: vec!["-O3".into(), "--fmad=false".into()], ..Build::default() };
        Ptxas::within_build(tools, "sm_90", build).expect("there is space")
    }

    /// Spaces, dollars and colons in paths are escaped for Ninja, quotes for the shell. The same runs give the same
    /// graph, whatever their order.
    #[test]
    fn paths_are_escaped() {
        let parent = tempfile::tempdir().expect("there is space");
        let folder = parent.path().join("graph $x:y");
        std::fs::create_dir(&folder).expect("there is space");
        let ptxas = ptxas();
        let text = |keys: [&str; 2]| {
            let planned = Planned::new(&ptxas, &folder);
            keys.iter().for_each(|key| planned.note(key, b"ptx", Duration::from_millis(1500), Inspection::OwnReader));
            print(&planned, Path::new("/nvptx-ra")).expect("the paths are right")
        };
        let (written, runs) = text(["1", "0"]);
        assert_eq!((written.clone(), runs), text(["0", "1"]));
        let escaped = folder.to_string_lossy().replace('$', "$$").replace(' ', "$ ").replace(':', "$:");
        assert!(written.contains(&format!("build {escaped}/0.txt: judge {escaped}/0.ptx | ")), "{written}");
        assert!(
            written.contains(
                r"--ptxas '/a b/ptxas' --cuobjdump '/it'\''s $$/cuobjdump' --option='--fmad=false' --nvdisasm"
            ),
            "{written}"
        );
        assert!(written.contains(" /a$ b/ptxas /it's$ $$/cuobjdump\n  limit = 1500\n"), "{written}");
        std::fs::write(folder.join("0.txt"), "").expect("there is space");
        Planned::new(&ptxas, &folder).tidy();
        assert_eq!((folder.join("0.ptx").exists(), folder.join("1.ptx").exists()), (false, true));
    }

    /// A path that Ninja cannot express or that cannot be written gives an error with a remedy, and no graph.
    #[test]
    fn other_paths_are_refused() {
        let ptxas = ptxas();
        for folder in ["/no|where", "/nowhere/at/all"] {
            let planned = Planned::new(&ptxas, folder.as_ref());
            planned.note("0", b"", Duration::ZERO, Inspection::Spills);
            assert!(print(&planned, Path::new("/nvptx-ra")).is_err(), "{folder}");
        }
        assert!(in_path(Path::new("a\nb")).is_err());
    }
}
