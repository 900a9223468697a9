//! The CPU time of programs. On a busy machine, a program that computes for a second may take a minute. A limit of CPU
//! time does not depend on other work.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

/// The unit of Linux's process times.
const TICK: Duration = Duration::from_millis(10);

/// Returns the CPU time of this thread so far.
pub(super) fn of_thread() -> Duration {
    of(UsageWho::RUSAGE_THREAD)
}

/// Returns the CPU time of this process so far.
#[cfg(feature = "llvm")]
pub(super) fn of_process() -> Duration {
    of(UsageWho::RUSAGE_SELF)
}

fn of(who: UsageWho) -> Duration {
    let time = |usage: Usage| usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let microseconds = getrusage(who).map_or(0, time);
    Duration::from_micros(microseconds.try_into().unwrap_or(0))
}

/// Measures a program and the programs that it has started: the CPU time of their process group, and the time during
/// which all of them only wait. Waiting for a busy processor does not count as waiting.
pub(super) struct Meter {
    group: u32,
    computed: Duration,
    /// The part of `computed` that all programs except the first used.
    others: Duration,
    waited: Duration,
    last: Instant,
}

impl Meter {
    /// Starts the measurement of a program that leads its own process group.
    pub(super) fn new(leader: u32) -> Self {
        let last = Instant::now();
        Self { group: leader, computed: Duration::ZERO, others: Duration::ZERO, waited: Duration::ZERO, last }
    }

    /// Returns the last measured CPU time.
    pub(super) fn computed(&self) -> Duration {
        self.computed
    }

    /// Returns the last measured CPU time and waiting time.
    pub(super) fn used(&self) -> Duration {
        self.computed + self.waited
    }

    /// Measures the times. O(processes of the machine) if the first program itself is not busy.
    pub(super) fn read(&mut self) {
        let before = std::mem::replace(&mut self.last, Instant::now());
        let Some(leader) = Process::read(self.group) else { return };
        let mut is_busy = leader.is_busy;
        if !is_busy {
            let others: Vec<Process> =
                numbers().filter(|&number| number != self.group).filter_map(Process::read).collect();
            let in_group = others.iter().filter(|other| other.group == self.group);
            self.others = in_group.clone().map(|other| other.computed).sum();
            is_busy = in_group.clone().any(|other| other.is_busy);
        }
        let computed = leader.computed + self.others;
        is_busy |= computed > self.computed;
        // The CPU time of an ended program counts for the program that waited for it.
        self.computed = self.computed.max(computed);
        if !is_busy {
            self.waited += self.last - before;
        }
    }
}

/// A process.
struct Process {
    group: u32,
    /// Its CPU time, and the CPU time of the programs that it has waited for.
    computed: Duration,
    /// Whether it runs, or would run on a free processor or disk.
    is_busy: bool,
}

impl Process {
    fn read(number: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{number}/stat")).ok()?)
    }

    /// Parses a line of `/proc/PID/stat`. The program's name is in parentheses and may contain any characters.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u32>().ok()).sum::<Option<u32>>()?;
        let is_busy = matches!(fields[0], "R" | "D");
        Some(Self { group: fields[2].parse().ok()?, computed: TICK * ticks, is_busy })
    }
}

/// Returns the ids of all processes.
fn numbers() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program's time includes the programs that it has waited for. The program's name does not matter.
    #[test]
    fn lines() {
        let line = "77 (a) R 1 2 (b) S 1 70 70 0 -1 4194560 1 2 3 4 5 6 70 8 20 0 1 0 9 9 9\n";
        let process = Process::parse(line).expect("it is a line");
        assert_eq!((process.group, process.computed, process.is_busy), (70, Duration::from_millis(890), false));
        assert!(Process::parse("77 (a) R 1 70").is_none() && Process::parse("").is_none());
        let own = Process::read(std::process::id()).expect("this process is there");
        assert!(own.is_busy || own.computed <= Duration::from_secs(3600));
    }

    /// A thread that computes uses CPU time.
    #[test]
    fn threads() {
        let (before, start) = (of_thread(), Instant::now());
        let mut number = 1u64;
        while of_thread() - before < Duration::from_millis(20) {
            number = std::hint::black_box(number.wrapping_mul(3));
            assert!(start.elapsed() < Duration::from_secs(60), "{number}");
        }
    }
}
