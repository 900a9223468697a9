//! Known faults of ptxas. The header of each file in tests/ptxas-faults lists the ptxas releases with wrong and with
//! right machine code, and the test checks the lists for the installed release.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::machine_code::Tool;

/// The header of a file.
struct Fault {
    path: PathBuf,
    launch: Vec<String>,
    wrong: Vec<[Vec<u32>; 2]>,
    right: Vec<[Vec<u32>; 2]>,
    /// The emulator's error for machine code that it cannot run, if the header gives one.
    unknown: Option<String>,
    target: String,
}

/// Returns the numbers of a release, for example 13, 4, 46 and 1 for `13.4.46rc1`.
fn numbers(release: &str) -> Vec<u32> {
    let parts = release.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().expect("a release has small numbers")).collect()
}

/// Returns the ranges of a list such as `12.0.76 to 13.1.80, 13.3.33`.
fn ranges(list: &str) -> Vec<[Vec<u32>; 2]> {
    let range = |part: &str| {
        let (first, last) = part.split_once(" to ").unwrap_or((part, part));
        [numbers(first), numbers(last)]
    };
    list.split(", ").filter(|part| *part != "none").map(range).collect()
}

fn among(ranges: &[[Vec<u32>; 2]], release: &[u32]) -> bool {
    ranges.iter().any(|[first, last]| first.as_slice() <= release && release <= last.as_slice())
}

fn faults() -> Vec<Fault> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptxas-faults");
    let files = fs::read_dir(folder).expect("the folder is there").map(|file| file.expect("it can be read").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "ptx")).collect();
    files.sort();
    files.into_iter().map(fault).collect()
}

fn fault(path: PathBuf) -> Fault {
    let text = fs::read_to_string(&path).expect("the file can be read");
    let find = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let field = |name: &str| find(name).unwrap_or_else(|| panic!("{}: no line {name}", path.display())).to_owned();
    // Releases from 12.8.61 to 13.0.88 refuse characters that are not ASCII, even in comments.
    assert!(text.is_ascii(), "{}: a letter that is not ASCII", path.display());
    assert!(text.starts_with("// "), "{}: the first line says what goes wrong", path.display());
    field("// report:");
    field("// targets:");
    Fault {
        launch: field("// launch:").split_whitespace().map(str::to_owned).collect(),
        wrong: ranges(&field("// releases wrong:")),
        right: ranges(&field("// releases right:")),
        unknown: find("// not modelled:").map(str::to_owned),
        target: field(".target"),
        path,
    }
}

/// Returns the release of a ptxas, for example 13.0.88.
fn release(ptxas: &Path) -> Vec<u32> {
    let output = Command::new(ptxas).arg("--version").output().expect("ptxas starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = said.split(", V").nth(1).and_then(|rest| rest.split_whitespace().next());
    numbers(version.unwrap_or_else(|| panic!("no version: {said}")))
}

/// Returns the memory before and after a launch, or the reason why the launch could not run.
fn recorded(tool: &Tool, file: &Path, launch: &[String], name: &str) -> Result<[Vec<u8>; 2], String> {
    let folder = tool.folder.path().join(name);
    let mut arguments = vec!["run", "--record", folder.to_str().expect("a path of ASCII")];
    arguments.extend(launch.iter().map(String::as_str));
    let output = tool.run(&arguments, &[file]);
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(["before.bin", "after.bin"].map(|file| fs::read(folder.join(file)).expect("the launch was recorded")))
}

#[test]
fn ranges_of_releases_hold_their_ends_and_what_is_between() {
    let list = ranges("12.0.76 to 12.9.86, 13.4.46rc1");
    for (release, held) in
        [("12.0.76", true), ("12.9.86", true), ("12.9.87", false), ("12.0.75", false), ("12.6.20", true)]
    {
        assert_eq!(among(&list, &numbers(release)), held, "{release}");
    }
    assert!(among(&list, &numbers("13.4.46rc1")) && !among(&list, &numbers("13.4.59")));
    assert!(ranges("none").is_empty());
}

/// No release is both wrong and right, and the tool can record the launch of each file's PTX.
#[test]
fn the_ptx_of_each_text_runs() {
    let folder = tempfile::tempdir().expect("there is space");
    for fault in faults() {
        let name = fault.path.display();
        for range in &fault.wrong {
            assert!(!range.iter().any(|release| among(&fault.right, release)), "{name}: wrong and right");
        }
        assert!(fault.unknown.is_some() || !fault.wrong.is_empty(), "{name}: no release is wrong");
        let output = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"))
            .args(["run", "--record"])
            .args([&folder.path().join(fault.path.file_stem().expect("a name")), &fault.path])
            .args(&fault.launch)
            .output()
            .expect("the tool starts");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The installed ptxas makes wrong code if a header lists its release as wrong, and right code if the header lists it
/// as right.
#[test]
fn releases_are_wrong_and_right_as_the_headers_say() {
    let Some(tool) = Tool::new() else { return };
    let release = release(&tool.ptxas());
    for fault in faults() {
        let name = fault.path.file_stem().expect("a name").to_string_lossy().into_owned();
        let wrong = among(&fault.wrong, &release);
        if !wrong && !among(&fault.right, &release) {
            println!("{name}: nothing is said of {release:?}");
            continue;
        }
        let cubin = tool.assemble(&fault.path, &fault.target, &[]);
        let ptx = recorded(&tool, &fault.path, &fault.launch, &format!("{name}-ptx"))
            .unwrap_or_else(|said| panic!("{name}: {said}"));
        match (recorded(&tool, &cubin, &fault.launch, &format!("{name}-code")), &fault.unknown) {
            (Err(said), Some(unknown)) if said.contains(unknown) => println!("{name}: {said}"),
            (Err(said), _) => panic!("{name}: {said}"),
            (Ok(_), Some(unknown)) => println!("{name}: the emulator does not show it: {unknown}"),
            (Ok(code), _) => {
                assert_eq!(ptx[0], code[0], "{name}: the launches begin with other memory");
                assert_eq!(ptx[1] != code[1], wrong, "{name}: {release:?} is otherwise");
            }
        }
    }
}
