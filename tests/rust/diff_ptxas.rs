//! `nvptx-ra diff-ptxas` on scripts that stand in for another release. Each script changes the PTX or the options and
//! then runs NVIDIA's ptxas.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::cuda;
use super::ptxas_wrapper::spills;

/// Returns a kernel in which each thread adds one to a word in memory.
fn adds() -> String {
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %r<3>;\n\
     \t.reg .b64 %rd<3>;\n\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\
     \tadd.u64 %rd1, %rd1, %rd2;\n\tld.global.u32 %r1, [%rd1];\n\tadd.s32 %r2, %r1, 1;\n\tst.global.u32 [%rd1], %r2;\n\
     \tret;\n}\n"
        .into()
}

/// A folder with NVIDIA's ptxas as the old release and a script as the new release.
struct Releases {
    folder: tempfile::TempDir,
    bin: PathBuf,
}

impl Releases {
    /// `change` is a command that changes the PTX, and `options` precede the given options.
    fn new(change: &str, options: &str) -> Option<Self> {
        let bin = cuda::programs(&["ptxas", "nvdisasm"])?;
        let releases = Self { folder: tempfile::tempdir().expect("there is space"), bin };
        let real = releases.bin.join("ptxas");
        let script = format!(
            "#!/bin/sh\n[ \"$1\" != --version ] || {{ echo 'Cuda compilation tools, release 99.0, V99.0.1'; exit; }}\n\
             for word; do shift; case $word in *.ptx) {change} \"$word\" > \"$word.other\"; word=$word.other;; esac\n\
             set -- \"$@\" \"$word\"; done\nexec {} {options} \"$@\"\n",
            real.display()
        );
        releases.write_program("new", &script);
        Some(releases)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("there is space");
        fs::write(&path, text).expect("there is space");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        path
    }

    fn command(&self, text: &str, options: &[&str]) -> Command {
        fs::write(self.path("k.ptx"), text).expect("there is space");
        let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
        command.arg("diff-ptxas").arg("k.ptx").args(options).current_dir(self.folder.path());
        command.env("CUDA_PATH", self.bin.parent().expect("a toolkit")).env("NVPTX_RA_RELEASES", self.path("releases"));
        command
    }

    /// Returns the exit status, the standard output and the standard error.
    fn said(&self, text: &str, options: &[&str]) -> (Option<i32>, String, String) {
        let mut command = self.command(text, options);
        command.arg("--ptxas").arg(self.bin.join("ptxas")).arg("--ptxas").arg(self.path("new"));
        let done = command.output().expect("it starts");
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), words(&done.stdout), words(&done.stderr))
    }

    /// Returns the exit status, and the JSON of the only kernel.
    fn kernel(&self, text: &str, options: &[&str]) -> (Option<i32>, Value) {
        let (code, output, words) = self.said(text, &[&["--format", "json"], options].concat());
        let read: Value = serde_json::from_str(&output).unwrap_or_else(|_| panic!("{words}"));
        (code, read["files"][0]["kernels"][0].clone())
    }
}

/// A release with the same machine code is not listed, and the exit status is 0.
#[test]
fn the_same_code_is_counted() {
    let Some(releases) = Releases::new("cat", "") else { return };
    let (code, text, words) = releases.said(&adds(), &[]);
    assert_eq!(code, Some(0), "{text}{words}");
    assert!(text.contains(" → 99.0.1: 1 kernel of 1 file\n"), "{text}");
    assert!(text.ends_with("neither worse nor better: 0 with other instructions, 1 with the same\n"), "{text}");
    let (_, all, _) = releases.said(&adds(), &["--all"]);
    assert!(all.contains("the same instructions (1):") && all.contains("k.ptx:4"), "{all}");
    let (_, kernel) = releases.kernel(&adds(), &[]);
    assert_eq!((&kernel["rank"], &kernel["old"]["meaning"]), (&"same code".into(), &"same".into()), "{kernel}");
}

/// A kernel whose machine code does not compute what its PTX says is listed first, with the release, in each format.
/// Both releases are checked.
#[test]
fn another_meaning_is_found() {
    let Some(releases) = Releases::new("sed 's/%r1, 1;/%r1, 2;/'", "") else { return };
    let (code, text, _) = releases.said(&adds(), &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("machine code that differs from its PTX (1):"), "{text}");
    assert!(text.contains("    ptxas 99.0.1: at p") && text.contains("same → different"), "{text}");
    let (code, kernel) = releases.kernel(&adds(), &[]);
    let meanings = ["old", "new"].map(|side| kernel[side]["meaning"].as_str().unwrap_or_default().to_owned());
    assert_eq!((code, meanings), (Some(1), ["same", "different"].map(str::to_owned)), "{kernel}");
    let (code, github, table) = releases.said(&adds(), &["--format", "github"]);
    let head =
        "::error file=k.ptx,line=4,title=nvptx-ra%3A diff-ptxas::kernel 'k': the code of ptxas 99.0.1 computes another";
    assert!(code == Some(1) && github.starts_with(head) && github.lines().count() == 1, "{github}");
    assert!(table.contains("machine code that differs from its PTX (1):"), "{table}");
    // No launch runs, so there is no verdict.
    let (code, kernel) = releases.kernel(&adds(), &["--steps", "0"]);
    assert_eq!((code, &kernel["new"]["meaning"]), (Some(2), &"not comparable".into()), "{kernel}");
}

/// Additional spills of a release are worse, and removed spills are better.
#[test]
fn spills_are_worse() {
    let Some(releases) = Releases::new("cat", "-maxrregcount=24") else { return };
    // A register limit of the command line has no effect if the kernel has a bound on threads.
    let text = spills(0).replace(".maxntid 1024, 1, 1\n", "");
    let (code, kernel) = releases.kernel(&text, &["--steps", "0"]);
    assert_eq!((code, &kernel["rank"]), (Some(1), &"worse".into()), "{kernel}");
    let spilled = |side: &str| kernel[side]["spilled_bytes"].as_u64().unwrap_or_default();
    assert!(spilled("old") < spilled("new"), "{kernel}");
    let (_, github, _) = releases.said(&text, &["--format", "github", "--steps", "0"]);
    assert!(github.contains("with ptxas 99.0.1 instead of ") && github.contains(" bytes spilled"), "{github}");
}

/// A kernel is worse if only the new release refuses its file. If both releases refuse the file, or if a kernel has no
/// verdict, the comparison is undecided.
#[test]
fn what_cannot_be_compared() {
    let Some(releases) = Releases::new("sed 's/add.s32/add.s33/'", "") else { return };
    let (code, text, _) = releases.said(&adds(), &[]);
    assert!(code == Some(1) && text.contains("k.ptx: ptxas 99.0.1: ptxas refuses it: "), "{text}");
    let (_, github, _) = releases.said(&adds(), &["--format", "github"]);
    assert!(github.starts_with("::error file=k.ptx,title=") && github.contains("ptxas 99.0.1, not with "), "{github}");
    let (code, text, _) = releases.said(&adds().replace("add.s32", "add.s33"), &[]);
    assert!(code == Some(2) && text.matches("ptxas refuses it: ").count() == 2, "{text}");
    let race = adds().replace("mov.u32 %r1, %tid.x;", "mov.u32 %r1, 0;");
    let same = Releases::new("cat", "").expect("it was there");
    let (code, text, _) = same.said(&race, &[]);
    assert!(code == Some(2) && text.contains("not compared with the PTX: 1 of 1 kernel\n"), "{text}");
}

/// A release number selects a ptxas in the folder of releases. A missing release is an error that gives the command to
/// install it.
#[test]
fn releases_of_the_folder() {
    let Some(releases) = Releases::new("cat", "") else { return };
    for number in ["12.8.93", "13.5.37"] {
        let text = format!("#!/bin/sh\necho \"$*\" >> calls-{number}\nexec {}/ptxas \"$@\"\n", releases.bin.display());
        releases.write_program(&format!("releases/{number}/ptxas"), &text);
    }
    let run = |release: &str| {
        let options = ["--release", release, "--options", "-lineinfo --fmad=false"];
        let done = releases.command(&adds(), &options).output().expect("it starts");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    assert_eq!(run("12.8,13.5"), (Some(0), String::new()));
    for number in ["12.8.93", "13.5.37"] {
        let calls = fs::read_to_string(releases.path(&format!("calls-{number}"))).expect("it ran");
        let is_build =
            |line: &&str| line.starts_with("-v -arch sm_90 -o ") && line.contains(" -lineinfo --fmad=false ");
        assert_eq!(calls.lines().filter(is_build).count(), 1, "{calls}");
    }
    let (code, words) = run("12.8,13.4");
    assert!(code == Some(1) && words.contains("ptxas 13.4 is not in ") && words.contains("--download"), "{words}");
    let (code, words) = run("12.8");
    assert!(code == Some(1) && words.contains("two ptxas are compared, and 1 are given"), "{words}");
    assert!(!Path::new(&releases.path("releases/13.4")).exists());
}
