//! Command lines of tools that are not installed here. The wrapper searches the kernels of each call, or logs the
//! reason why not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::outcome::TOOL;
use super::search::spills;
use crate::cuda;

/// A folder with `k.ptx`, this program as `ptxas`, and a script as the real ptxas, which records its calls. The script
/// also accepts the options of ptxas 13.3. For `--fdevice-time-trace` it appends a line to the file.
struct Tool {
    folder: tempfile::TempDir,
}

impl Tool {
    fn new(bin: &Path, kernel: u32) -> Self {
        let folder = tempfile::tempdir().expect("there is space");
        let tool = Self { folder };
        fs::write(tool.path("k.ptx"), spills(kernel).replace(".target sm_90", ".target sm_90a"))
            .expect("there is space");
        fs::create_dir(tool.path("bin")).expect("there is space");
        std::os::unix::fs::symlink(TOOL, tool.path("bin/ptxas")).expect("there is space");
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {calls}\nset -- \"$@\" END\nwhile [ \"$1\" != END ]; do\ncase $1 in\n\
             --apply-controls) [ -f \"$2\" ] || exit 1; shift;;\n--fdevice-time-trace=*) echo run >> \"${{1#*=}}\";;\n\
             *) set -- \"$@\" \"$1\";;\nesac\nshift\ndone\nshift\nexec {}/ptxas \"$@\"\n",
            bin.display(),
            calls = tool.path("calls").display()
        );
        fs::write(tool.path("real"), script).expect("there is space");
        fs::set_permissions(tool.path("real"), fs::Permissions::from_mode(0o755)).expect("it is ours");
        tool
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command with this program first on PATH and returns the lines of the log.
    fn log(&self, line: &str) -> String {
        _ = fs::remove_file(self.path("log"));
        _ = fs::remove_file(self.path("calls"));
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.folder.path());
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.path("bin").display())).env("NVPTX_RA_PTXAS", self.path("real"));
        command.env("NVPTX_RA_CACHE", self.path("cache")).env("NVPTX_RA_LOG", self.path("log"));
        command.env("NVPTX_RA_RUNS", "1").env("PTXAS", self.path("bin/ptxas"));
        let done = command.output().expect("it starts");
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
        fs::read_to_string(self.path("log")).expect("a log")
    }

    fn calls(&self) -> Vec<String> {
        fs::read_to_string(self.path("calls")).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

/// The callers are Triton since 3.7 with both of its variables, also for torch.compile and Helion; the patch for CuTe
/// DSL; Mojo; and Quadrants, which links its code later.
#[test]
fn searched() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let tool = Tool::new(&bin, 0);
    fs::write(tool.path("c.acf"), "one").expect("there is space");
    let triton = "-lineinfo -v --regAllocOptLevel=2";
    for line in [
        format!("\"$PTXAS\" {triton} --gpu-name=sm_90a k.ptx -o k.ptx.o"),
        format!("\"$PTXAS\" --fmad=false {triton} --gpu-name=sm_90a k.ptx -o k.ptx.o"),
        format!("\"$PTXAS\" {triton} --apply-controls c.acf --gpu-name=sm_90a k.ptx -o k.ptx.o"),
        "\"$PTXAS\" -arch=sm_90a -O3 -o k.cubin.tmp k.ptx".to_owned(),
        "\"$PTXAS\" -m64 -O3 --gpu-name=sm_90a k.ptx -o k.cubin".to_owned(),
        "ptxas --regAllocOptLevel 2 -arch sm_90a k.ptx".to_owned(),
        "ptxas -c -arch=sm_90a k.ptx -o k.cubin".to_owned(),
    ] {
        let log = tool.log(&line);
        assert!(log.starts_with("k.ptx for sm_90a: k: "), "{line}: {log}");
        let mut variants = tool.calls();
        variants.retain(|call| call.contains("/nvptx-ra-tune-"));
        assert!(!variants.is_empty(), "{:?}", tool.calls());
        for option in
            ["--apply-controls c.acf", "--regAllocOptLevel", " -c "].iter().filter(|option| line.contains(**option))
        {
            assert!(variants.iter().all(|call| call.contains(option)), "{option}: {variants:?}");
        }
    }
}

/// A changed file of controls changes the cache key.
#[test]
fn files_that_ptxas_reads() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let tool = Tool::new(&bin, 1);
    let line = "ptxas -arch=sm_90a --apply-controls c.acf k.ptx -o k.cubin";
    let runs = |content: &str| {
        fs::write(tool.path("c.acf"), content).expect("there is space");
        tool.log(line);
        tool.calls().len()
    };
    let (first, again, other) = (runs("one"), runs("one"), runs("two"));
    assert!(first > 1 && again == 1 && other > 1, "{first}, {again} and {other} runs");
}

/// A time trace describes one run of ptxas, both in a build with a search and in a build without.
#[test]
fn files_that_ptxas_writes() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let tool = Tool::new(&bin, 2);
    let line = "ptxas -arch=sm_90a --fdevice-time-trace=t.json k.ptx -o k.cubin";
    for builds in 1..=2 {
        assert!(tool.log(line).starts_with("k.ptx for sm_90a: k: ") || builds > 1);
        assert_eq!(fs::read_to_string(tool.path("t.json")).expect("a trace").lines().count(), builds);
    }
}

/// With an unknown option, ptxas runs alone, because the option's value may name a file. With 0 runs, ptxas also runs
/// alone. The log gives each reason.
#[test]
fn alone() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let tool = Tool::new(&bin, 3);
    let named = tool.log("ptxas -arch=sm_90a --cuda-api-version=1/2 k.ptx -o k.cubin || true");
    assert_eq!(named, "k.ptx for sm_90a: ptxas runs alone: --cuda-api-version: its value may name a file\n");
    let none = tool.log("NVPTX_RA_RUNS=0 ptxas -arch=sm_90a k.ptx -o k.cubin");
    assert_eq!(none, "k.ptx for sm_90a: ptxas runs alone: NVPTX_RA_RUNS is 0\n");
}
