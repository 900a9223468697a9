//! Kernels that earlier builds have searched in other files are not searched again.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::outcome::TOOL;
use super::search::{Build, kernel};
use crate::cuda;

/// Returns a file of kernels that spill. Each kernel has a name and a number that changes its PTX.
fn file(kernels: &[(&str, u32)]) -> String {
    // Small blocks make comparisons fast.
    let text = |first| kernel(200, 128, first).replace("128, 1, 1", "128, 1, 1\n.maxnreg 64");
    let head = text(0).find(".visible").expect("a kernel");
    let named = |&(name, first): &(&str, u32)| text(first)[head..].replace(".entry k(", &format!(".entry {name}("));
    text(0)[..head].to_owned() + &kernels.iter().map(named).collect::<String>()
}

/// Enough runs to find a better instruction order.
const FEW: [(&str, &str); 1] = [("NVPTX_RA_RUNS", "8")];

impl Build {
    /// Builds another file in the same folder. Returns the spilled bytes and the number of ptxas runs.
    fn of(&self, kernels: &[(&str, u32)], settings: &[(&str, &str)]) -> (u32, usize) {
        fs::write(self.path("k.ptx"), file(kernels)).expect("there is space");
        _ = fs::remove_file(self.path("log"));
        let settings: Vec<(&str, &str)> = FEW.iter().chain(settings).copied().collect();
        let (spilled, calls, _) = self.run(&settings);
        (spilled, calls)
    }

    /// Returns how many of the last build's kernels were known from earlier builds, as in the log: `2 of 3 kernels`.
    fn known(&self) -> Option<String> {
        let log = self.log();
        let line = log.lines().find(|line| line.ends_with(": results are known from earlier searches"));
        line.map(|line| line.rsplit(": ").nth(1).unwrap_or_default().to_owned())
    }

    fn summary(&self) -> String {
        let output = Command::new(TOOL).arg("cache").env("NVPTX_RA_CACHE", self.path("cache")).output();
        String::from_utf8(output.expect("it starts").stdout).expect("text")
    }
}

/// If a kernel's share of the effort is too small for a run, the cache records nothing about the kernel. The kernel is
/// still searched when it is in another file.
#[test]
fn no_share_is_no_answer() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, "");
    let share = [("NVPTX_RA_RUNS", ""), ("NVPTX_RA_EFFORT", "0.1")];
    build.of(&[("one", 0), ("two", 1)], &share);
    let lines = build.log().lines().filter(|line| line.contains("no run is worth its cost")).count();
    assert_eq!(lines, 2, "{}", build.log());
    build.of(&[("one", 0)], &share);
    assert!(build.known().is_none() && !build.log().contains("no run is worth"), "{}", build.log());
}

/// Kernels of an earlier file are not searched, in any order and next to any other kernels. They get the earlier
/// winners. A kernel is searched again if one byte, an option or the launch differs.
#[test]
fn known_in_another_file() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, "");
    let (one, _) = build.of(&[("one", 0)], &[]);
    let (two, _) = build.of(&[("two", 1)], &[]);
    assert_eq!(build.known(), None, "{}", build.log());
    let (both, calls) = build.of(&[("two", 1), ("one", 0)], &[]);
    assert_eq!(build.known().as_deref(), Some("2 of 2 kernels"), "{}", build.log());
    assert_eq!((both, calls), (one + two, 2), "ptxas runs on the unchanged text and on what is known: {}", build.log());
    let (three, calls) = build.of(&[("one", 0), ("three", 2), ("two", 1)], &[]);
    assert_eq!(build.known().as_deref(), Some("2 of 3 kernels"), "{}", build.log());
    assert!(three > both && calls > 3, "{three} bytes in {calls} runs: {}", build.log());
    let summary = build.summary();
    assert!(summary.contains("3 kernels searched, 4 known from earlier searches: 7 better"), "{summary}");
    // The first build of the whole file has its own cache entry.
    assert_eq!(build.of(&[("two", 1), ("one", 0)], &[]), (both, 1));
    assert_eq!(build.known(), None);
    build.of(&[("one", 3)], &[]);
    assert_eq!(build.known(), None, "another text");
    build.of(&[("one", 0), ("four", 4)], &[("NVPTX_RA_DYNAMIC_SHARED", "four=1024")]);
    assert_eq!(build.known().as_deref(), Some("1 of 2 kernels"), "one is launched as before: {}", build.log());
    build.of(&[("one", 0), ("two", 1)], &[("NVPTX_RA_DYNAMIC_SHARED", "one=1024")]);
    assert_eq!(build.known().as_deref(), Some("1 of 2 kernels"), "one has another launch: {}", build.log());
    build.of(&[("one", 0), ("two", 1)], &[("NVPTX_RA_MORE_INSTRUCTIONS", "1")]);
    assert_eq!(build.known(), None, "other settings");
}

/// Winners for a whole program are not used for an object that is linked later. Winners for an object are not used for
/// a whole program.
#[test]
fn objects_are_kept_apart() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, "");
    build.of(&[("one", 0)], &[]);
    let object = |kernels: &[(&str, u32)]| {
        fs::write(build.path("k.ptx"), file(kernels)).expect("there is space");
        _ = fs::remove_file(build.path("log"));
        let done = build.command(&FEW).arg("-c").output().expect("it starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        build.known()
    };
    assert_eq!(object(&[("one", 0)]), None, "{}", build.log());
    assert_eq!(object(&[("two", 1), ("one", 0)]).as_deref(), Some("1 of 2 kernels"), "{}", build.log());
}

/// An interrupted search records nothing about its kernels.
#[test]
fn cut_searches_are_not_kept() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, "");
    let script = fs::read_to_string(&build.ptxas).expect("it is ours");
    let interrupts = "[ \"$CUT\" ] && [ \"$(wc -l < calls)\" -ge 4 ] && mkdir once 2> /dev/null && kill -TERM $PPID && exec sleep 60\nexec ";
    fs::write(&build.ptxas, script.replace("exec ", interrupts)).expect("it is ours");
    fs::write(build.path("k.ptx"), file(&[("one", 0)])).expect("there is space");
    let cut = build.command(&[FEW[0], ("CUT", "1")]).output().expect("it starts");
    assert_eq!(cut.status.code(), Some(130), "{}", build.log());
    assert!(build.log().contains("one: ") && build.log().contains("the search was interrupted"), "{}", build.log());
    build.of(&[("two", 1), ("one", 0)], &[]);
    assert_eq!(build.known(), None, "{}", build.log());
}

/// If ptxas gives other results for the known kernels, all kernels are searched.
#[test]
fn what_does_not_hold_is_searched() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, "");
    // The first changed module with both kernels gets another register limit.
    let script = fs::read_to_string(&build.ptxas).expect("it is ours");
    let odd = "for last; do :; done\n\
        if [ \"$ODD\" ] && [ \"$last\" != k.ptx ] && grep -q one \"$last\" && grep -q two \"$last\" && mkdir odd 2> /dev/null\n\
        then set -- -maxrregcount=40 \"$@\"; fi\nexec ";
    fs::write(&build.ptxas, script.replace("exec ", odd)).expect("it is ours");
    let (one, _) = build.of(&[("one", 0)], &[]);
    let (two, _) = build.of(&[("two", 1)], &[]);
    let (both, calls) = build.of(&[("two", 1), ("one", 0)], &[("ODD", "1")]);
    assert!(Path::new(&build.path("odd")).exists(), "{}", build.log());
    assert!(build.log().contains("do not hold in this file: all kernels are searched"), "{}", build.log());
    assert!(calls > 4 && both == one + two, "{both} bytes, {calls} runs: {}", build.log());
}
