//! Sums over functions, by optimisation level, register limit and allocator.

use std::fmt::Write as _;
use std::time::Duration;

use nvptx_ra::allocate::Problem;
use serde_json::{Value, json};

use super::Outcome;

/// A group of functions.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    /// The level at which LLVM IR was compiled; `None` for input that is already compiled.
    level: Option<u8>,
    register_limit: Option<u32>,
    allocator: &'static str,
}

/// The sums of a group.
#[derive(Clone, Default)]
struct Sums {
    functions: u64,
    /// Functions with spills.
    spilling: u64,
    live_ranges: u64,
    spilled: u64,
    moved_bytes: f64,
    copies: u64,
    /// Copies with source and destination in the same register.
    removed_copies: u64,
    tuple_copies: u64,
    /// Bytes that are moved after clean-up, and copied words before and after clean-up.
    cleaned_bytes: f64,
    copy_words: [f64; 2],
    rounds: u64,
    most_rounds: u32,
    seconds: f64,
    phases: Vec<(&'static str, Duration)>,
}

/// Sums in the order of their first use.
#[derive(Default)]
pub(super) struct Summary {
    sums: Vec<(Key, Sums)>,
}

impl Summary {
    /// Adds the allocators' results for a function.
    pub(super) fn add(&mut self, level: Option<u8>, problem: &Problem, outcomes: &[Outcome]) {
        for Outcome { allocator, register_limit, costs, code, statistics, time, .. } in outcomes {
            let sums = self.of(Key { level, register_limit: *register_limit, allocator });
            sums.functions += 1;
            sums.spilling += u64::from(costs.spilled > 0);
            sums.live_ranges += problem.ranges().len() as u64;
            sums.spilled += costs.spilled;
            sums.moved_bytes += costs.moved_bytes;
            sums.copies += costs.copies + costs.removed_copies;
            sums.removed_copies += costs.removed_copies;
            sums.tuple_copies += costs.tuple_copies;
            sums.cleaned_bytes += code[1].moved_bytes;
            sums.copy_words = [0, 1].map(|at| sums.copy_words[at] + code[at].copy_words);
            sums.rounds += u64::from(statistics.rounds);
            sums.most_rounds = sums.most_rounds.max(statistics.rounds);
            sums.seconds += time.as_secs_f64();
            for &(name, time) in &statistics.phases {
                match sums.phases.iter_mut().find(|(phase, _)| *phase == name) {
                    Some((_, total)) => *total += time,
                    None => sums.phases.push((name, time)),
                }
            }
        }
    }

    fn of(&mut self, key: Key) -> &mut Sums {
        let at = self.sums.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            self.sums.push((key, Sums::default()));
            self.sums.len() - 1
        });
        &mut self.sums[at].1
    }

    /// Formats a line for each group.
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "{:<5} {:>6} {:<10} {:>9} {:>8} {:>12} {:>14} {:>14} {:>12} {:>21} {:>7} {:>7} {:>6} {:>9}  phases\n",
            "level",
            "limit",
            "allocator",
            "functions",
            "spilling",
            "ranges",
            "bytes moved",
            "cleaned",
            "copies gone",
            "words copied",
            "moves",
            "rounds",
            "most",
            "seconds"
        );
        for (Key { level, register_limit, allocator }, sums) in &self.sums {
            let level = level.map_or("-".into(), |level| format!("O{level}"));
            let register_limit = register_limit.map_or("none".into(), |register_limit| register_limit.to_string());
            let spilled = format!("{:.2} %", percent(sums.spilled as f64, sums.live_ranges as f64));
            let removed = format!("{:.1} %", percent(sums.removed_copies as f64, sums.copies as f64));
            let words = format!("{:.0}>{:.0}", sums.copy_words[0], sums.copy_words[1]);
            let phases: Vec<String> =
                sums.shares().map(|(name, share)| format!("{name} {:.0} %", 100.0 * share)).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{level:<5} {register_limit:>6} {allocator:<10} {:>9} {:>8} {spilled:>12} {:>14.0} {:>14.0} \
                 {removed:>12} {words:>21} {:>7} {:>7.2} \
                 {:>6} {:>9.3}  {}",
                sums.functions,
                sums.spilling,
                sums.moved_bytes,
                sums.cleaned_bytes,
                sums.tuple_copies,
                sums.rounds as f64 / sums.functions as f64,
                sums.most_rounds,
                sums.seconds,
                phases.join(", ")
            );
        }
        text
    }

    /// Formats a line of JSON for each group.
    pub(super) fn json(&self) -> String {
        let line = |(Key { level, register_limit, allocator }, sums): &(Key, Sums)| {
            let shares: serde_json::Map<String, Value> =
                sums.shares().map(|(name, share)| (name.to_owned(), share.into())).collect();
            let line = json!({
                "level": level, "budget": register_limit, "allocator": allocator, "functions": sums.functions,
                "spilling": sums.spilling, "live_ranges": sums.live_ranges, "spilled": sums.spilled,
                "moved_bytes": sums.moved_bytes, "cleaned_bytes": sums.cleaned_bytes,
                "copy_words": sums.copy_words, "copies": sums.copies, "removed_copies": sums.removed_copies,
                "tuple_copies": sums.tuple_copies, "rounds": sums.rounds, "most_rounds": sums.most_rounds,
                "seconds": sums.seconds, "shares": shares,
            });
            format!("{line}\n")
        };
        self.sums.iter().map(line).collect()
    }
}

impl Sums {
    /// Returns each phase's share of all phases' time.
    fn shares(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        let total: f64 = self.phases.iter().map(|(_, time)| time.as_secs_f64()).sum();
        self.phases.iter().map(move |(name, time)| (*name, time.as_secs_f64() / total.max(f64::MIN_POSITIVE)))
    }
}

/// Returns a percentage; 0 if the whole is 0.
fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}
