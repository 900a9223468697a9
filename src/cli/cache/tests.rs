//! Tests the cache with damaged files, a full disk, many processes, and killed processes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;

use arbtest::arbtest;
use nvptx_ra::tune::ptxas_output::PtxasReport;
use tempfile::TempDir;

use super::*;
use crate::child_tests::{KillOnDrop, Numbers, child, part};

const PLENTY: u64 = 1 << 30;

fn new_cache(bound: u64) -> (TempDir, Cache) {
    let parent = tempfile::tempdir().expect("there is space");
    let cache = Cache::open(&parent.path().join("cache"), bound).expect("it can be made");
    (parent, cache)
}

fn key(number: u64) -> Key {
    KeyBuilder::new("test").field("number", &number.to_le_bytes()).key()
}

/// Returns the only correct entry for a key. Some entries are longer than a block of the file system.
fn answer(number: u64) -> Vec<u64> {
    vec![number; (number % 37 * 50) as usize]
}

/// Returns the cache's files with their disk space, without the lock.
fn files(cache: &Cache) -> BTreeMap<String, u64> {
    let files = fs::read_dir(&cache.folder).expect("it is there").map(|file| file.expect("it can be read"));
    let file = |file: fs::DirEntry| {
        let bytes = file.metadata().expect("nobody removes it now").len();
        (file.file_name().into_string().expect("names are text"), locked_cache::space(bytes))
    };
    files.map(file).filter(|(name, _)| name != "space-taken").collect()
}

/// An entry of some type.
type Entry = (Vec<PtxasReport>, Option<String>);

/// `get` returns the last stored entry, and nothing for a key that was never stored.
#[test]
fn entries_are_found() {
    let (_parent, cache) = new_cache(PLENTY);
    let ptxas_report = |registers| PtxasReport { registers, spill_load_bytes: 8, ..PtxasReport::default() };
    for choice in [None, Some("ptxas warning : \"quoted\" \u{1b} é".to_owned())] {
        let entry: Entry = (vec![ptxas_report(72), ptxas_report(80)], choice);
        cache.put(&key(1), &entry).expect("there is space");
        assert_eq!(cache.get(&key(1)), Some(entry));
    }
    assert_eq!(cache.get::<Entry>(&key(2)), None);
    let entry = cache.path(&key(1));
    assert_eq!(fs::metadata(entry).expect("it is there").permissions().mode() & 0o7777, 0o600);
}

/// A file with a wrong byte anywhere, a truncated file, and the file of another entry are rejected and removed.
#[test]
fn damaged_entries_are_thrown_away() {
    let (_parent, cache) = new_cache(PLENTY);
    cache.put(&key(2), &answer(2)).expect("there is space");
    let path = cache.path(&key(1));
    cache.put(&key(1), &answer(1)).expect("there is space");
    let good = fs::read(&path).expect("it is there");
    let check = |content: &[u8]| {
        fs::write(&path, content).expect("there is space");
        assert_eq!(cache.get::<Vec<u64>>(&key(1)), None, "{}", String::from_utf8_lossy(content));
        assert!(!path.exists());
    };
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] = damaged[at].wrapping_add(1 + at as u8 % 255);
        check(&damaged);
    }
    check(b"");
    check(&good[..good.len() / 2]);
    check(&fs::read(cache.path(&key(2))).expect("it is there"));
    fs::write(&path, &good).expect("there is space");
    assert_eq!(cache.get(&key(1)), Some(answer(1)));
    // The file is intact, but its content has another type.
    assert_eq!(cache.get::<Entry>(&key(1)), None);
    assert!(!path.exists());
}

/// For random stores and reads, the bound holds, entries are correct, and the most recently used entries remain.
#[test]
fn the_bound_holds() {
    arbtest(|u| {
        let bound = u.int_in_range(2..=20)? * 4096;
        let (_parent, cache) = new_cache(bound);
        // The keys in the order of their last use.
        let mut used: Vec<u64> = Vec::new();
        for _ in 0..u.int_in_range(1..=40)? {
            let number = u.int_in_range(0..=50)?;
            if u.ratio(2, 3)? {
                let is_too_large = locked_cache::space(
                    sealed::seal(&key(number), &serde_json::to_vec(&answer(number)).expect("JSON")).len() as u64,
                ) > bound;
                assert_eq!(cache.put(&key(number), &answer(number)).is_err(), is_too_large);
                used.retain(|one| *one != number || is_too_large);
                used.extend((!is_too_large).then_some(number));
            } else if let Some(found) = cache.get::<Vec<u64>>(&key(number)) {
                assert_eq!(found, answer(number));
                used.retain(|one| *one != number);
                used.push(number);
            }
            let taken = files(&cache).values().sum::<u64>();
            assert!(taken <= bound, "{taken} of {bound} bytes");
        }
        let there: Vec<bool> = used.iter().map(|&number| cache.path(&key(number)).exists()).collect();
        assert!(there.is_sorted(), "{used:?}: {there:?}");
        Ok(())
    })
    .budget_ms(3000);
}

/// Other files in the folder remain, however much space is needed. Files of a dead process are removed.
#[test]
fn only_entries_go() {
    let (_parent, cache) = new_cache(3 * 4096);
    let foreign = ["notes.txt", "new.tmp", "folder.entry", ".new-"];
    for name in foreign {
        let path = cache.folder.join(name);
        if name == "folder.entry" { fs::create_dir(path) } else { fs::write(path, "x") }.expect("there is space");
    }
    fs::write(cache.folder.join(".new-1234.tmp"), "x").expect("there is space");
    for number in 0..20 {
        cache.put(&key(37 * number), &answer(0)).expect("there is space");
    }
    let files = files(&cache);
    assert!(foreign.iter().all(|name| files.contains_key(*name)), "{files:?}");
    assert!(!files.contains_key(".new-1234.tmp") && files.len() <= foreign.len() + 3, "{files:?}");
}

/// While a process holds the lock, other processes give up after a while. They get the lock once it is free.
#[test]
fn the_lock_is_waited_for() {
    let (_parent, cache) = new_cache(PLENTY);
    let lock =
        |milliseconds| LockedCache::lock(&cache.folder, Duration::from_millis(milliseconds)).expect("it can be locked");
    let held = lock(0);
    assert!(held.is_some() && lock(0).is_none() && lock(20).is_none());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| lock(60_000).is_some());
        sleep(Duration::from_millis(20));
        drop(held);
        assert!(waits.join().expect("it ends"));
    });
    // The threads that waited too long have released the lock.
    assert!(lock(60_000).is_some());
}

/// If the number is malformed, the cache counts again.
#[test]
fn a_wrong_number_is_put_right() {
    for nonsense in ["", "x", "-1\n", "00000000000000000000", "\u{e9}", "99999999999999999999\n"] {
        let (_parent, cache) = new_cache(4 * 4096);
        for number in 0..10 {
            fs::write(cache.folder.join("space-taken"), nonsense).expect("there is space");
            cache.put(&key(37 * number), &answer(0)).expect("there is space");
            assert!(files(&cache).values().sum::<u64>() <= cache.bound, "{nonsense:?}");
        }
    }
}

/// If the folder is read-only or missing, only entries are lost; the caller gets an error.
#[test]
fn entries_that_cannot_be_kept() {
    let (_parent, cache) = new_cache(PLENTY);
    let too_large = Cache { bound: 4095, ..cache.clone() }.put(&key(1), &1).expect_err("it has no room");
    assert!(too_large.problem.contains("may have 4095"), "{too_large}");
    fs::create_dir(cache.path(&key(1))).expect("there is space");
    let in_the_way = cache.put(&key(1), &1).expect_err("a folder is in the way");
    assert!(in_the_way.problem.contains("an entry is not stored"), "{in_the_way}");
    assert_eq!(cache.get::<u64>(&key(1)), None);
    assert_eq!(files(&cache).len(), 1, "nothing half-written stays");
    fs::remove_dir_all(&cache.folder).expect("it is ours");
    assert!(cache.put(&key(2), &2).is_err());
    assert_eq!(cache.get::<u64>(&key(2)), None);
}

/// If the disk is full while an entry is written, the entry is not stored, and the cache stays usable. A limit on file
/// sizes simulates the full disk.
#[test]
fn a_full_disk() {
    const NAME: &str = "cache::tests::a_full_disk";
    if let Some(folder) = part() {
        let cache = Cache::open(folder.as_ref(), PLENTY).expect("it is there");
        let error = cache.put(&key(1), &vec![7_u64; 1 << 20]).expect_err("no file becomes so long");
        assert!(error.problem.contains("an entry is not stored"), "{error}");
        assert_eq!(cache.get::<Vec<u64>>(&key(1)), None);
        cache.put(&key(2), &answer(2)).expect("a small one has room");
        return;
    }
    let (_parent, cache) = new_cache(PLENTY);
    let again = child(NAME, &cache.folder);
    // If the signal for the limit is ignored, a write beyond the limit is an error.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh"]).arg(again.get_program()).args(again.get_args());
    shell.envs(again.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(files(&cache).len(), 1);
    assert_eq!(cache.get(&key(2)), Some(answer(2)));
}

/// The work of a child process: stores its own entries and entries that all children store, alternating with reads.
fn put_and_get(cache: &Cache, child: u64, entries: u64) {
    for number in 0..entries {
        for mine in [number, 1000 * (child + 1) + number] {
            cache.put(&key(mine), &answer(mine)).expect("there is space");
            let found = cache.get(&key(mine));
            assert!(found == Some(answer(mine)) || (found.is_none() && cache.bound < PLENTY), "a lost entry");
        }
        let other = 1000 * (child / 2 + 1) + number;
        assert!(cache.get::<Vec<u64>>(&key(other)).is_none_or(|found| found == answer(other)), "a wrong answer");
    }
}

/// With 64 concurrent processes, nothing is lost, and no entry is wrong. If the entries exceed the bound, the bound
/// holds.
#[test]
fn many_processes() {
    const NAME: &str = "cache::tests::many_processes";
    const CHILDREN: u64 = 64;
    const ENTRIES: u64 = 10;
    if let Some(part) = part() {
        let words: Vec<&str> = part.splitn(3, ' ').collect();
        let number = |word: &str| word.parse().expect("a number");
        let cache = Cache::open(words[2].as_ref(), number(words[0])).expect("it is there");
        return put_and_get(&cache, number(words[1]), ENTRIES);
    }
    for bound in [PLENTY, 24 * 4096] {
        let (_parent, cache) = new_cache(bound);
        let start = |number| {
            let mut child = child(NAME, format!("{bound} {number} {}", cache.folder.display()));
            child.stdout(Stdio::null()).spawn().expect("it starts")
        };
        let children: Vec<Child> = (0..CHILDREN).map(start).collect();
        for mut child in children {
            assert!(child.wait().expect("it ends").success());
        }
        assert!(files(&cache).values().sum::<u64>() <= bound);
        let mut numbers = (0..ENTRIES).chain((1..=CHILDREN).flat_map(|child| 1000 * child..1000 * child + ENTRIES));
        assert!(bound < PLENTY || numbers.all(|number| cache.get(&key(number)) == Some(answer(number))));
    }
}

/// A process that stores entries is killed 200 times, each time at another moment. The cache stays usable, no entry is
/// wrong, and the bound holds for all files, including files of dead processes.
#[test]
fn killed_at_any_moment() {
    const NAME: &str = "cache::tests::killed_at_any_moment";
    const BOUND: u64 = 16 * 4096;
    if let Some(folder) = part() {
        let cache = Cache::open(folder.as_ref(), BOUND).expect("it is there");
        println!("at work");
        for number in 0.. {
            cache.put(&key(number % 500), &answer(number % 500)).expect("there is space");
        }
    }
    let (_parent, cache) = new_cache(BOUND);
    let mut moments = Numbers(1);
    let (mut leftovers, mut survivors) = (0, 0);
    for round in 0..200 {
        let mut child = KillOnDrop(child(NAME, &cache.folder).stdout(Stdio::piped()).spawn().expect("it starts"));
        let mut said = [0; 1024];
        let mut output = child.0.stdout.take().expect("it is piped");
        let mut text = String::new();
        while !text.contains("at work") {
            let length = output.read(&mut said).expect("it says so");
            assert!(length > 0, "the child ended: {text}");
            text += &String::from_utf8_lossy(&said[..length]);
        }
        sleep(Duration::from_micros(moments.below(8000)));
        drop(child);
        let found = files(&cache);
        assert!(found.values().sum::<u64>() <= BOUND, "round {round}: {found:?}");
        leftovers += found.keys().filter(|name| name.ends_with(".tmp")).count();
        for number in 0..500 {
            let answered = cache.get::<Vec<u64>>(&key(number));
            survivors += usize::from(answered.is_some());
            assert!(answered.is_none_or(|found| found == answer(number)), "round {round}: a wrong answer");
        }
        cache.put(&key(1000 + round), &answer(3)).expect("the lock is free");
        assert_eq!(cache.get(&key(1000 + round)), Some(answer(3)));
    }
    // Without surviving entries, the test would show nothing.
    println!("{leftovers} temporary files were left, {survivors} entries survived");
    assert!(survivors > 200);
    let lock = fs::metadata(cache.folder.join("space-taken")).expect("it is there");
    assert_eq!(lock.size(), 21);
}
