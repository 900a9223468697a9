//! Tests the limit across processes.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicUsize;

use tempfile::TempDir;

use super::*;
use crate::child_tests::{KillOnDrop, child, part};

fn machine(folder: &Path, count: usize) -> Limit {
    Limit::of_machine(folder, NonZeroUsize::new(count).expect("not 0")).expect("it can be made")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is space")
}

const NEVER: &dyn Fn() -> bool = &|| false;
/// Gives up after one attempt.
const AT_ONCE: &dyn Fn() -> bool = &|| true;

/// Threads of one process share its tokens: exactly as many threads work as there are tokens.
#[test]
fn threads_share_tokens() {
    let folder = folder();
    let limit = machine(&folder.path().join("limit"), 3);
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let token = limit.acquire(NEVER).expect("it waits");
                    most.fetch_max(1 + now.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                    sleep(Duration::from_millis(5));
                    now.fetch_sub(1, Ordering::SeqCst);
                    drop(token);
                }
            });
        }
    });
    assert_eq!(most.into_inner(), 3);
}

/// Returns how many children worked at once, at most, and how many began.
fn log_of(text: &str) -> (usize, usize) {
    let (mut now, mut most, mut begun) = (0_usize, 0, 0);
    for line in text.lines() {
        match line {
            "+" => (now, begun) = (now + 1, begun + 1),
            _ => now -= 1,
        }
        most = most.max(now);
    }
    assert_eq!(now, 0);
    (most, begun)
}

/// 24 processes with two threads each share three tokens. All finish, and never more than three work at once. At some
/// time, three work at once.
#[test]
fn processes_share_tokens() {
    const NAME: &str = "ptxas_wrapper::limit::tests::processes_share_tokens";
    if let Some(part) = part() {
        let parent = Path::new(&part);
        let limit = machine(&parent.join("limit"), 3);
        let mut log = File::options().append(true).open(parent.join("log")).expect("it is there");
        let mut other = log.try_clone().expect("it is open");
        let work = |log: &mut File| {
            for _ in 0..3 {
                let _token = limit.acquire(NEVER).expect("it waits");
                log.write_all(b"+\n").expect("there is space");
                sleep(Duration::from_millis(3));
                log.write_all(b"-\n").expect("there is space");
            }
        };
        return std::thread::scope(|scope| {
            scope.spawn(|| work(&mut other));
            work(&mut log);
        });
    }
    let folder = folder();
    fs::write(folder.path().join("log"), "").expect("there is space");
    let start = |_| child(NAME, folder.path()).stdout(Stdio::null()).spawn().expect("it starts");
    let children: Vec<Child> = (0..24).map(start).collect();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    let log = fs::read_to_string(folder.path().join("log")).expect("it is there");
    assert_eq!(log_of(&log), (3, 24 * 2 * 3));
}

/// A process never has more children than its own limit, regardless of free tokens. When a child ends, another may
/// start.
#[test]
fn children_have_room() {
    let folder = folder();
    let limit = machine(&folder.path().join("limit"), 4).at_most(2);
    let tokens = [0, 1].map(|_| limit.acquire(AT_ONCE));
    assert!(tokens.iter().all(Option::is_some) && limit.acquire(AT_ONCE).is_none());
    drop(tokens);
    assert!(limit.acquire(AT_ONCE).is_some());
}

/// Killing a process releases its token.
#[test]
fn a_killed_process_gives_back() {
    const NAME: &str = "ptxas_wrapper::limit::tests::a_killed_process_gives_back";
    if let Some(part) = part() {
        let limit = machine(Path::new(&part), 1);
        let _token = limit.acquire(NEVER).expect("it waits");
        println!("\nholds it");
        sleep(Duration::from_secs(600));
        return;
    }
    let folder = folder();
    let path = folder.path().join("limit");
    let mut child = KillOnDrop(child(NAME, &path).stdout(Stdio::piped()).spawn().expect("it starts"));
    let said = BufReader::new(child.0.stdout.take().expect("it is piped"));
    assert!(said.lines().any(|line| line.is_ok_and(|line| line == "holds it")), "the child ended");
    let limit = machine(&path, 1);
    assert!(limit.acquire(AT_ONCE).is_none());
    drop(child);
    assert!(limit.acquire(AT_ONCE).is_some());
}

/// With make's tokens in a named pipe, the process's own token comes first, then the tokens of the pipe. Each byte is
/// written back unchanged.
#[test]
fn tokens_of_make() {
    let folder = folder();
    let path = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().expect("it starts").success());
    let mut options = File::options();
    options.read(true).write(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    let mut pipe = options.open(&path).expect("it is there");
    pipe.write_all(b"ab").expect("there is room");
    let limit = Limit::of_make(&format!("j3 --jobserver-auth=fifo:{}", path.display())).expect("it is there");
    let mut tokens: Vec<Token<'_>> = (0..3).map(|_| limit.acquire(NEVER).expect("one is free")).collect();
    assert!(limit.acquire(AT_ONCE).is_none());
    // The first token has no byte in the pipe.
    drop(tokens.remove(0));
    assert!(limit.look().is_some_and(|held| matches!(held, HeldToken::Own)));
    drop(tokens);
    let mut back = [0; 2];
    std::io::Read::read_exact(&mut pipe, &mut back).expect("they are back");
    back.sort_unstable();
    assert_eq!(&back, b"ab");
    assert!(limit.acquire(AT_ONCE).is_none());
}

/// A make passes its pipe by file descriptors. Each of two processes, one after the other, gets the pipe's three tokens
/// and the process's own token.
#[test]
fn tokens_of_make_in_open_files() {
    const NAME: &str = "ptxas_wrapper::limit::tests::tokens_of_make_in_open_files";
    if part().is_some() {
        let (limit, note) = Limit::of_environment();
        assert!(matches!(limit.shared, Shared::Make(_)) && note.is_none());
        let tokens: Vec<Token<'_>> = std::iter::from_fn(|| limit.acquire(AT_ONCE)).collect();
        return println!("\n{} tokens", tokens.len());
    }
    let again = child(NAME, "count");
    let script = "pipe=$1; shift; mkfifo $pipe; exec 8<>$pipe; exec 9>$pipe; printf +++ >&9; \"$@\"; \"$@\"";
    let folder = folder();
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(folder.path().join("pipe")).arg(again.get_program()).args(again.get_args());
    shell.envs(again.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.env("MAKEFLAGS", " -j4 --jobserver-auth=8,9").output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.matches("\n4 tokens\n").count(), 2, "{said}");
}

/// If there is no folder for tokens, one child runs at a time.
#[test]
fn without_tokens() {
    let limit = Limit::new(Shared::Nothing, true);
    let token = limit.acquire(NEVER);
    assert!(token.is_some() && limit.acquire(AT_ONCE).is_none());
    drop(token);
    assert!(limit.acquire(AT_ONCE).is_some());
    assert!(Limit::of_machine("/dev/null/limit".as_ref(), NonZeroUsize::MIN).is_err());
}
