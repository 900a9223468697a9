//! Builds record PTX modules, and `nvptx-ra search` searches the records later. The next build uses the winner that a
//! search during the build would have found. If a process is killed at any moment, no record is lost and no partial
//! file is left.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use super::outcome::TOOL;
use super::processes::script;
use super::search::ROW_SUM;
use crate::cuda;

/// A kernel with full occupancy and without spills.
const FULL: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry full()\n{\n\tret;\n}\n";

/// A folder with `a.ptx`, and a ptxas that records each of its calls.
struct Build {
    folder: tempfile::TempDir,
    bin: PathBuf,
}

impl Build {
    /// `None` if NVIDIA's programs are missing.
    fn new(text: &str) -> Option<Self> {
        let bin = cuda::programs(&["ptxas", "cuobjdump", "nvdisasm"])?;
        let folder = tempfile::tempdir().expect("there is space");
        fs::write(folder.path().join("a.ptx"), text).expect("there is space");
        let calls = folder.path().join("calls");
        script(folder.path(), "real", &format!("echo x >> {}\nexec {}/ptxas \"$@\"", calls.display(), bin.display()));
        Some(Self { folder, bin })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn with_settings(&self, mut command: Command, settings: &[(&str, &str)]) -> Command {
        command.current_dir(self.folder.path());
        for name in ["SECONDS", "REPORT", "PROFILE", "RECORD", "DYNAMIC_SHARED", "MORE_INSTRUCTIONS", "CALLERS"] {
            command.env_remove(format!("NVPTX_RA_{name}"));
        }
        let folders = [self.bin.clone(), "/usr/bin".into(), "/bin".into()];
        let path = std::env::join_paths(folders).expect("names of folders");
        command.env("NVPTX_RA_PTXAS", self.path("real")).env("NVPTX_RA_CACHE", "off").env("PATH", path);
        command.env("NVPTX_RA_LOG", self.path("log")).env("NVPTX_RA_RUNS", "0").envs(settings.iter().copied());
        command
    }

    fn tool(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Command {
        let mut command = Command::new(TOOL);
        command.args(arguments);
        self.with_settings(command, settings)
    }

    fn build(&self, settings: &[(&str, &str)]) -> Command {
        self.tool(&["ptxas", "-arch=sm_90", "a.ptx", "-o", "a.cubin"], settings)
    }

    /// Builds and returns the cubin, the lines of the log, and the number of ptxas runs.
    fn built(&self, settings: &[(&str, &str)]) -> (Vec<u8>, String, usize) {
        let [log, calls] = ["log", "calls"].map(|name| self.path(name));
        [&log, &calls].iter().for_each(|path| drop(fs::remove_file(path)));
        let done = self.build(settings).output().expect("it starts");
        assert!(done.status.success(), "{}", said(&done));
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        (fs::read(self.path("a.cubin")).expect("a cubin"), read(&log), read(&calls).lines().count())
    }

    fn search(&self, more: &[&str]) -> Output {
        self.tool(&[&["search", "noted", "--runs", "2"], more].concat(), &[]).output().expect("it starts")
    }

    /// Reads the files of a folder.
    fn files(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        let entries =
            fs::read_dir(self.path(name)).map(|entries| entries.flatten().collect::<Vec<_>>()).unwrap_or_default();
        let file = |entry: &fs::DirEntry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file"))
        };
        entries.iter().map(file).collect()
    }

    fn profiles(&self) -> BTreeMap<String, Vec<u8>> {
        self.files("noted").into_iter().filter(|(name, _)| name.ends_with(".toml")).collect()
    }

    /// Writes a profile without changes for the module of the only record.
    fn write_nothing(&self) {
        let record = &self.files("noted")[&format!("{}.json", self.digest())];
        let record: serde_json::Value = serde_json::from_slice(record).expect("JSON");
        let name = record["profile"].as_str().expect("a name");
        let nothing = "version = 1\ncpu = \"sm_90\"\nfunction = []\n";
        fs::write(self.path("noted").join(name), nothing).expect("it is ours");
    }

    /// Returns the name of the only record.
    fn digest(&self) -> String {
        let files = self.files("noted");
        let mut records =
            files.keys().filter_map(|name| name.strip_suffix(".json").filter(|name| !name.starts_with('.')));
        let digest = records.next().expect("a record").to_owned();
        assert_eq!(records.next(), None);
        digest
    }
}

const NOTES: [(&str, &str); 1] = [("NVPTX_RA_RECORD", "noted")];
const REPLAYS: [(&str, &str); 1] = [("NVPTX_RA_PROFILE", "noted")];

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn killed(mut child: Child, after: Duration) {
    std::thread::sleep(after);
    _ = child.kill();
    _ = child.wait();
}

/// Recording a module needs one run of ptxas. The later search runs once and finds the same winner as a search during
/// the build. A build with 0 runs also replays the profile.
#[test]
fn found_at_night() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    let (stock, ..) = build.built(&[]);
    let (searched, ..) = build.built(&[("NVPTX_RA_RUNS", "2")]);
    assert_ne!(searched, stock);
    assert_eq!(build.built(&NOTES), (stock.clone(), "a.ptx for sm_90: noted for a later search: sum\n".into(), 1));
    let done = build.search(&[]);
    let digest = build.digest();
    assert!(done.status.success(), "{}", said(&done));
    let lines = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(lines.starts_with(&format!("{digest} for sm_90: sum: ")), "{lines}");
    assert!(
        lines.contains(" instructions, loop-shape=all; ")
            && lines.contains("\n1 file searched: 1 better, with 1 better kernel; "),
        "{lines}"
    );
    let profiles = build.profiles();
    assert_eq!(profiles.len(), 1);
    let again = said(&build.search(&[]));
    assert_eq!(again, "0 files searched: 0 better, with 0 better kernels; 0.0 s of searches; 1 file searched before\n");
    for runs in ["0", "2"] {
        let (cubin, log, _) = build.built(&[REPLAYS[0], NOTES[0], ("NVPTX_RA_RUNS", runs)]);
        assert!(cubin == searched && log.contains("loop-shape=all; proved\n"), "{runs}: {log}");
    }
    let cache = build.path("cache").display().to_string();
    let settings = [REPLAYS[0], ("NVPTX_RA_CACHE", &cache)];
    assert!(build.built(&settings).2 > 1);
    let (cubin, _, calls) = build.built(&settings);
    assert!(cubin == searched && calls == 1, "{calls} calls: the cache has what ptxas said of the profile");
    assert_eq!(build.profiles(), profiles);
}

/// If no better variant exists, the profile records this. The next build runs ptxas once and does not search.
#[test]
fn nothing_better_is_known() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    let (stock, ..) = build.built(&NOTES);
    build.write_nothing();
    let log = "a.ptx for sm_90: no variant is better, by the profile of the file\n".to_owned();
    for runs in ["0", "2"] {
        assert_eq!(build.built(&[REPLAYS[0], ("NVPTX_RA_RUNS", runs)]), (stock.clone(), log.clone(), 1), "{runs}");
    }
}

/// A profile takes precedence over the cache.
#[test]
fn a_profile_counts_ahead_of_the_cache() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    let cache = build.path("cache").display().to_string();
    let settings = [REPLAYS[0], ("NVPTX_RA_CACHE", &cache), ("NVPTX_RA_RUNS", "2")];
    let (stock, ..) = build.built(&NOTES);
    assert_ne!(build.built(&settings[1..]).0, stock);
    build.write_nothing();
    assert_eq!(build.built(&settings).0, stock);
}

/// A build records nothing if there is nothing to search or if ptxas fails. If the folder has profiles for other
/// modules only, ptxas runs alone.
#[test]
fn what_is_not_noted() {
    let Some(build) = Build::new(FULL) else { return };
    let (stock, log, calls) = build.built(&NOTES);
    assert_eq!(
        (log.as_str(), calls),
        ("a.ptx for sm_90: full: nothing to search: nothing spills, and occupancy is full: 64 warps\n", 1)
    );
    assert!(!build.path("noted").exists());
    let alone = "a.ptx for sm_90: ptxas runs alone: NVPTX_RA_RUNS is 0, and the file has no profile\n".to_owned();
    assert_eq!(build.built(&REPLAYS), (stock, alone, 1));
    fs::write(build.path("a.ptx"), "no text").expect("it is ours");
    let failed = build.build(&NOTES).output().expect("it starts");
    assert!(failed.status.code() == Some(255) && said(&failed).contains("ptxas"), "{}", said(&failed));
    assert!(!build.path("noted").exists());
    let missing = build.search(&[]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        said(&missing).contains("noted: no such folder; build with NVPTX_RA_RUNS=0 and NVPTX_RA_RECORD"),
        "{}",
        said(&missing)
    );
}

/// If the folder is not writable, or if other users may write to it, the build only logs a line.
#[test]
fn folders_that_cannot_be_written() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    let (stock, ..) = build.built(&[]);
    fs::create_dir(build.path("open")).expect("there is space");
    fs::set_permissions(build.path("open"), fs::Permissions::from_mode(0o777)).expect("it is ours");
    for (folder, problem) in
        [("a.ptx", "it is not a folder"), ("open", "other users can write to it"), ("/proc/none", "none: ")]
    {
        let (cubin, log, _) = build.built(&[("NVPTX_RA_RECORD", folder)]);
        let start = "a.ptx for sm_90: not noted for a later search: nvptx-ra: ";
        assert!(cubin == stock && log.starts_with(start) && log.contains(problem), "{log}");
    }
}

/// On a full disk, a build gets the same result as without a record, and no partial record is left. Skipped if no file
/// system can be mounted.
#[test]
fn a_full_disk() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    let (stock, ..) = build.built(&[]);
    fs::create_dir(build.path("noted")).expect("there is space");
    // The file system has two inodes, and the folder itself needs one.
    let mount = "mount -t tmpfs -o mode=700,nr_inodes=2 none noted";
    let tried = Command::new("unshare").args(["-rm", "sh", "-c", mount]).current_dir(build.folder.path()).status();
    if !tried.is_ok_and(|status| status.success()) {
        println!("skipped: no file system can be mounted");
        return;
    }
    let mut shell = Command::new("unshare");
    let script = format!("{mount} && '{TOOL}' ptxas -arch=sm_90 a.ptx -o a.cubin && ls -A noted");
    shell.args(["-rm", "sh", "-c", &script]);
    let done = build.with_settings(shell, &NOTES).output().expect("a shell");
    let log = fs::read_to_string(build.path("log")).expect("a log");
    assert!(
        done.status.success() && log.contains("not noted for a later search: ") && log.contains("no storage space"),
        "{log}"
    );
    let files = said(&done);
    assert!(files.lines().all(|name| name.ends_with(".ptx")), "{files}");
    assert_eq!(fs::read(build.path("a.cubin")).expect("a cubin"), stock);
}

/// Simultaneous builds of the same module record it once, with the same bytes.
#[test]
fn many_builds_at_once() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    let one = |number: u32| {
        let output = format!("{number}.cubin");
        let mut command = build.tool(&["ptxas", "-arch=sm_90", "a.ptx", "-o", &output], &NOTES);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let children: Vec<Child> = (0..64).map(one).collect();
    assert!(children.into_iter().all(|mut child| child.wait().expect("it ends").success()));
    let digest = build.digest();
    let files = build.files("noted");
    assert_eq!(files.keys().collect::<Vec<_>>(), [&format!("{digest}.json"), &format!("{digest}.ptx")]);
    assert_eq!(files[&format!("{digest}.ptx")], ROW_SUM.as_bytes());
    build.built(&NOTES);
    assert_eq!(build.files("noted"), files);
}

/// If builds and searches are killed at any moment, all files are complete. The next search finds the same result as an
/// uninterrupted search.
#[test]
fn killed_at_any_moment() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    let quiet = |mut command: Command| command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    for number in 0..10u64 {
        killed(quiet(build.build(&NOTES)), Duration::from_millis(3 + 23 * number));
        for (name, content) in build.files("noted").iter().filter(|(name, _)| !name.starts_with('.')) {
            assert!(name.ends_with(".json") || content == ROW_SUM.as_bytes(), "{name}");
        }
    }
    build.built(&NOTES);
    assert!(build.search(&[]).status.success());
    let whole = build.profiles();
    for number in 0..10u64 {
        build.profiles().keys().for_each(|name| fs::remove_file(build.path("noted").join(name)).expect("it is ours"));
        let search = build.tool(&["search", "noted", "--runs", "2"], &[]);
        killed(quiet(search), Duration::from_millis(5 + 113 * number));
        assert!(build.profiles().iter().all(|(name, profile)| whole.get(name) == Some(profile)));
    }
    assert!(build.search(&[]).status.success());
    assert_eq!(build.profiles(), whole);
}

/// A damaged record is named in a message, and the other records are searched. A record with an option that names a
/// file is invalid.
#[test]
fn damaged_records() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    build.built(&NOTES);
    let damaged = build.digest();
    for name in ["row", "column"] {
        fs::write(build.path("a.ptx"), ROW_SUM.replace("entry sum", &format!("entry {name}"))).expect("it is ours");
        build.built(&NOTES);
    }
    let path = build.path("noted").join(format!("{damaged}.json"));
    let text = fs::read_to_string(&path).expect("a record");
    fs::write(&path, text.replace("-arch=sm_90", "--keep-dir=/tmp")).expect("it is ours");
    let done = build.search(&[]);
    assert_eq!((done.status.code(), build.profiles().len()), (Some(1), 2), "{}", said(&done));
    let problem = format!("{damaged}.json: the record is damaged; remove the record, and build again");
    assert!(said(&done).contains(&problem), "{}", said(&done));
    assert!(said(&done).contains("; 1 file not searched\n"), "{}", said(&done));
}

/// A record contains the options, the settings that affect a search, and whether the module is linked later.
#[test]
fn what_is_noted() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    build.built(&[NOTES[0], ("NVPTX_RA_DYNAMIC_SHARED", "1024"), ("NVPTX_RA_MORE_INSTRUCTIONS", "")]);
    let json = |digest: &str| -> serde_json::Value {
        serde_json::from_slice(&build.files("noted")[&format!("{digest}.json")]).expect("JSON")
    };
    let first = build.digest();
    assert_eq!(json(&first)["settings"], serde_json::json!({ "NVPTX_RA_DYNAMIC_SHARED": "1024" }));
    assert_eq!(json(&first)["options"], serde_json::json!(["-arch=sm_90"]));
    let name = json(&first)["profile"].as_str().expect("a name").to_owned();
    assert!(name.ends_with("-sm_90.toml"), "{name}");
    // Both records have the same profile, so one search serves both.
    build.built(&NOTES);
    let digests: Vec<String> =
        build.files("noted").into_keys().filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).collect();
    assert_eq!(digests.len(), 2);
    let done = build.search(&["--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!((answer["texts"].as_array().map(Vec::len), build.profiles().len()), (Some(1), 1), "{}", said(&done));
    assert_eq!(answer["texts"][0]["digest"], serde_json::json!(digests[0]));
}

/// The graph has an edge for each module without a profile. The edge creates the same profile as a search on this
/// machine.
#[test]
fn a_graph_for_ninja() {
    let Some(build) = Build::new(ROW_SUM) else { return };
    build.built(&NOTES);
    assert!(build.search(&[]).status.success());
    let local = build.profiles();
    assert_eq!(local.len(), 1);
    local.keys().for_each(|name| fs::remove_file(build.path("noted").join(name)).expect("it is ours"));
    let done = build.search(&["--ninja", "later.ninja"]);
    assert_eq!(said(&done), "1 file to search: run ninja -f later.ninja\n");
    let graph = fs::read_to_string(build.path("later.ninja")).expect("a graph");
    let command = graph.lines().find_map(|line| line.strip_prefix("  command = ")).expect("a command");
    for edge in graph.split("\nbuild ").skip(1) {
        let output = Path::new(edge.split(':').next().expect("a path")).to_owned();
        let digest = edge.split("digest = ").nth(1).expect("a digest").trim();
        // Runs the command as Ninja would.
        let mut shell = Command::new("sh");
        shell.args(["-c", &command.replace("$digest", digest)]);
        let done = build.with_settings(shell, &[]).output().expect("a shell");
        assert!(done.status.success() && output.exists(), "{}", said(&done));
    }
    assert_eq!(build.profiles(), local);
    assert!(!said(&build.search(&["--ninja", "-"])).contains("\nbuild "), "nothing is left");
    let unknown = build.search(&["--only", "none"]);
    assert!(
        unknown.status.code() == Some(1) && said(&unknown).contains("no record none; name a file"),
        "{}",
        said(&unknown)
    );
}
