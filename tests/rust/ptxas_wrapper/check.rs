//! `NVPTX_RA_CHECK`: the delivered machine code is compared with the build's PTX. The delivered code does not change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::outcome::TOOL;
use super::processes::script;
use super::search::kernel;
use crate::cuda;

/// A kernel in which each thread adds one to a word in memory.
const ADDS: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %r<3>;\n\
     \t.reg .b64 %rd<3>;\n\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\
     \tadd.u64 %rd1, %rd1, %rd2;\n\tld.global.u32 %r1, [%rd1];\n\tadd.s32 %r2, %r1, 1;\n\tst.global.u32 [%rd1], %r2;\n\
     \tret;\n}\n";

/// A folder with NVIDIA's ptxas behind a script. The script records its calls and may change the PTX.
struct Build {
    folder: tempfile::TempDir,
    real: PathBuf,
}

impl Build {
    fn new(text: &str, change: &str) -> Option<Self> {
        let bin = cuda::programs(&["ptxas"])?;
        let folder = tempfile::tempdir().expect("there is space");
        fs::write(folder.path().join("k.ptx"), text).expect("there is space");
        let lines = format!(
            "for word; do shift; case $word in *.ptx) {change} \"$word\" > other.ptx; word=other.ptx;; esac\n\
             set -- \"$@\" \"$word\"; done\necho \"$*\" >> calls\nexec {}/ptxas \"$@\"",
            bin.display()
        );
        let real = script(folder.path(), "real", &lines);
        Some(Self { folder, real })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a build with these variables. Returns the exit code, the messages, the lines of the log, and the number of
    /// ptxas runs.
    fn run(&self, variables: &[(&str, &str)]) -> (Option<i32>, String, String, usize) {
        for name in ["calls", "log", "k.cubin"] {
            _ = fs::remove_file(self.path().join(name));
        }
        let mut command = Command::new(TOOL);
        command.args(["ptxas", "-arch=sm_90", "k.ptx", "-o", "k.cubin"]).current_dir(self.path());
        command.env("NVPTX_RA_PTXAS", &self.real).env("NVPTX_RA_CACHE", self.path().join("cache"));
        command.env("NVPTX_RA_LOG", self.path().join("log")).envs(variables.iter().copied());
        let done = command.output().expect("it starts");
        let read = |name: &str| fs::read_to_string(self.path().join(name)).unwrap_or_default();
        let messages = String::from_utf8_lossy(&done.stderr).into_owned();
        (done.status.code(), messages, read("log"), read("calls").lines().count())
    }

    fn differences(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path().join("cache/differences")).into_iter().flatten();
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }
}

const CHECK: (&str, &str) = ("NVPTX_RA_CHECK", "1");
const ALONE: (&str, &str) = ("NVPTX_RA_RUNS", "0");

/// Correct code gets a line in the log and no message, with and without a search. Code is compared only once. The
/// machine code of a search's winner is compared with the build's own PTX.
#[test]
fn right_code_is_told_in_the_log() {
    for (text, variables) in [(ADDS.to_owned(), [CHECK, ALONE]), (kernel(200, 512, 0), [CHECK, ("NVPTX_RA_RUNS", "6")])]
    {
        let Some(build) = Build::new(&text, "cat") else { return };
        let (code, messages, log, _) = build.run(&variables);
        assert_eq!((code, messages.as_str()), (Some(0), ""), "{log}");
        assert!(log.contains("k.ptx for sm_90: k: checked: same in "), "{log}");
        assert_eq!(log.contains(" → "), variables[1] != ALONE, "{log}");
        let cubin = fs::read(build.path().join("k.cubin")).expect("a cubin");
        let (code, messages, again, calls) = build.run(&variables);
        assert_eq!((code, messages.as_str(), calls), (Some(0), "", 1));
        let line = |log: &str| log.lines().find(|line| line.contains(" checked: ")).map(str::to_owned);
        assert_eq!(line(&again), line(&log));
        assert!(fs::read(build.path().join("k.cubin")).expect("a cubin") == cubin);
        let (_, _, without, _) = build.run(&variables[1..]);
        assert!(!without.contains("checked"), "{without}");
        assert_eq!(build.differences(), Vec::<PathBuf>::new());
    }
}

/// Wrong code is delivered unchanged, with one warning. The warning names the kernel, the difference and a folder with
/// the evidence. The next build warns again without another comparison.
#[test]
fn wrong_code_is_a_warning() {
    let Some(build) = Build::new(ADDS, "sed 's/%r1, 1;/%r1, 2;/'") else { return };
    let (code, messages, log, calls) = build.run(&[CHECK, ALONE]);
    assert_eq!((code, calls), (Some(0), 1), "{messages}");
    let head = "nvptx-ra: warning: k.ptx: the machine code of kernel 'k' computes something else than its PTX: at p";
    assert!(messages.starts_with(head) && messages.lines().count() == 1, "{messages}");
    assert!(log.contains("k.ptx for sm_90: k: checked: different: at p"), "{log}");
    let [folder] = &build.differences()[..] else { panic!("{:?}", build.differences()) };
    assert!(messages.contains(&format!("; {} shows it", folder.display())), "{messages}");
    let read = |name: &str| fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(read("k.ptx"), ADDS.as_bytes());
    assert!(read("k.cubin") == fs::read(build.path().join("k.cubin")).expect("it is delivered"));
    assert!(String::from_utf8_lossy(&read("comparison")).starts_with("k: different: at p"));
    let commands = String::from_utf8(read("commands")).expect("text");
    assert!(commands.contains("'-arch=sm_90' 'k.ptx' '-o' 'k.cubin'"), "{commands}");
    // The command in the folder reproduces the difference.
    let compare = commands.lines().find_map(|line| line.strip_prefix("nvptx-ra ")).expect("a command");
    let shown = Command::new("sh").args(["-c", &format!("exec {TOOL} {compare}")]).current_dir(folder).output();
    let shown = shown.expect("it starts");
    let words = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.status.code() == Some(1) && words.starts_with("k: different at p"), "{words}");
    fs::remove_dir_all(folder).expect("it is ours");
    let (code, again, _, _) = build.run(&[CHECK, ALONE]);
    assert_eq!((code, again), (Some(0), messages), "the answer is kept");
    assert!(!folder.exists(), "nothing is compared again");
    let (_, without, _, _) = build.run(&[ALONE]);
    assert_eq!(without, "");
    // Without a cache, the folder is a temporary one.
    let temporary = build.path().join("temporary");
    fs::create_dir(&temporary).expect("there is space");
    let variables = [CHECK, ALONE, ("NVPTX_RA_CACHE", "off"), ("TMPDIR", temporary.to_str().expect("text"))];
    let (code, messages, _, _) = build.run(&variables);
    assert!(code == Some(0) && messages.contains(&format!("; {}/nvptx-ra-k-", temporary.display())), "{messages}");
}

/// If code cannot be compared, the reason is only in the log. If ptxas fails, no code is compared.
#[test]
fn what_is_not_compared() {
    let race = ADDS.replace("mov.u32 %r1, %tid.x;", "mov.u32 %r1, 0;");
    let Some(build) = Build::new(&race, "cat") else { return };
    let (code, messages, log, _) = build.run(&[CHECK]);
    assert_eq!((code, messages.as_str()), (Some(0), ""), "{log}");
    assert!(log.contains("k: checked: not comparable: the PTX: "), "{log}");
    let Some(build) = Build::new(&ADDS.replace("add.s32", "add.s33"), "cat") else { return };
    let (code, messages, log, _) = build.run(&[CHECK]);
    assert!(code != Some(0) && messages.contains("ptxas") && !log.contains("checked"), "{code:?} {messages} {log}");
}
