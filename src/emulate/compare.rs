//! The verdict on two programs: whether they store the same, and the first difference otherwise.

use std::borrow::Cow;
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use super::machine::Outcome;
use super::memory::{Image, Write, Written};
use super::program::Program;
use super::run::{Executed, Side, Store, stores};
use super::source::SourceLine;
use super::tolerance::{Equality, are_equal, value_of};
use super::types::{Kind, low};

/// A difference between two programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The launch's index.
    pub launch: u32,
    /// The kind of difference.
    pub differing: Differing,
    /// The parameters of the launch.
    pub parameters: Vec<(String, u64)>,
}

/// Kinds of differences between two programs.
#[derive(Clone, Debug, PartialEq)]
pub enum Differing {
    /// The programs leave different values at one address.
    Stores {
        /// The generic address.
        address: u64,
        /// The parameter whose buffer the address is in, with the offset, if it is in one.
        buffer: Option<(String, i64)>,
        /// The value that each program stored there, if any.
        stores: [Option<Store>; 2],
        /// Positions of the storing instructions: lines of the PTX file, or addresses of machine code.
        places: [String; 2],
        /// Source lines of these stores, if the PTX file has them.
        sources: [Option<SourceLine>; 2],
    },
    /// One program ends the launch, and the other does not.
    End {
        /// The program that does not end, 0 or 1.
        endless: usize,
        /// The reason why it does not end.
        reason: String,
        /// The number of warp instructions after which the other program ends.
        steps: u64,
    },
}

/// The verdict on a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Verdict {
    /// Both programs store the same.
    #[default]
    Same,
    /// The programs store different values.
    Different(Box<Difference>),
    /// The launch cannot be compared, for a reason. The reason concerns program 0 or 1.
    NotComparable {
        /// The program.
        program: usize,
        /// The reason.
        reason: String,
    },
}

impl Difference {
    /// Returns the value that each program stored at the differing address, if any.
    pub fn stores(&self) -> [Option<Store>; 2] {
        match &self.differing {
            Differing::Stores { stores, .. } => *stores,
            Differing::End { .. } => [None, None],
        }
    }

    /// Returns the source lines of these stores, if the PTX file has them.
    pub fn sources(&self) -> [Option<&SourceLine>; 2] {
        match &self.differing {
            Differing::Stores { sources, .. } => sources.each_ref().map(Option::as_ref),
            Differing::End { .. } => [None, None],
        }
    }
}

/// A launch and its verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launched {
    /// Grid and block.
    pub shape: [[u32; 3]; 2],
    /// The verdict.
    pub verdict: Verdict,
    /// The number of words that the first program stored.
    pub stores: usize,
    /// The number of places that the second program read and the first did not.
    pub new_reads: u64,
    /// Whether more than a tenth of the stored numbers are not finite.
    pub is_wild: bool,
}

/// The result of launches of two programs.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The kernel.
    pub kernel: String,
    /// The launches, up to the first difference.
    pub launches: Vec<Launched>,
    /// The coverage of each program.
    pub sides: [Side; 2],
    /// The coverage of each program in the launches that both end.
    pub ended: [Side; 2],
    /// Instruction counts of each program in the launches that both end. `None` without such a launch.
    pub executed: Option<[Executed; 2]>,
}

impl Comparison {
    /// Returns the comparison of a kernel that cannot be compared, for a reason. The reason concerns program 0 or 1.
    pub fn impossible(kernel: &str, program: usize, reason: String) -> Self {
        let verdict = Verdict::NotComparable { program, reason };
        let launched = Launched { verdict, ..Launched::default() };
        Self { kernel: kernel.to_owned(), launches: vec![launched], ..Self::default() }
    }

    /// Returns the first difference.
    pub fn difference(&self) -> Option<&Difference> {
        self.launches.iter().find_map(|launched| match &launched.verdict {
            Verdict::Different(difference) => Some(&**difference),
            _ => None,
        })
    }

    /// Returns the number of equal launches.
    pub fn equal(&self) -> usize {
        self.launches.iter().filter(|launched| launched.verdict == Verdict::Same).count()
    }

    /// Whether at least one launch was compared, and all compared launches are equal.
    pub fn is_same(&self) -> bool {
        self.difference().is_none() && self.equal() > 0
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.differing {
            Differing::Stores { address, buffer, stores, places, sources } => {
                match buffer {
                    Some((name, offset)) => write!(formatter, "at {name}{offset:+}")?,
                    None => write!(formatter, "at {address:#x}")?,
                }
                for (((store, place), source), which) in stores.iter().zip(places).zip(sources).zip(PROGRAMS) {
                    let Some(store) = store else {
                        write!(formatter, "; the {which} program stores nothing")?;
                        continue;
                    };
                    let (value, thread) = (store.text(), store.thread);
                    write!(formatter, "; the {which} program stores {value} by thread {thread} in {place}")?;
                    if let Some(source) = source {
                        write!(formatter, " ({source})")?;
                    }
                }
            }
            Differing::End { endless, reason, steps } => {
                let [endless, other] = [PROGRAMS[*endless % 2], PROGRAMS[(endless + 1) % 2]];
                write!(
                    formatter,
                    "the {endless} program does not end: {reason}; the {other} program ends after {steps} "
                )?;
                write!(formatter, "warp instructions")?;
            }
        }
        let values: Vec<String> = self.parameters.iter().map(|(name, value)| format!("{name} = {value:#x}")).collect();
        write!(formatter, "; launch {} with {}", self.launch, values.join(", "))
    }
}

/// Names of the programs in messages.
const PROGRAMS: [&str; 2] = ["first", "second"];

/// Returns the parameter whose buffer contains an address, with the offset.
pub(super) fn buffer_of(parameters: &[(String, u64)], address: u64) -> Option<(String, i64)> {
    let offset = |value: u64| address.wrapping_sub(value) as i64;
    let near =
        parameters.iter().filter(|(_, value)| *value >= super::layout::BUFFERS && offset(*value).abs() < 1 << 31);
    near.min_by_key(|(_, value)| offset(*value).abs()).map(|(name, value)| (name.clone(), offset(*value)))
}

/// Returns the number of a launch's stores whose value is not finite, and the number of all stores.
pub(super) fn odd_stores(outcome: &Outcome) -> [usize; 2] {
    let stores = [stores(&outcome.written), stores_apart(&outcome.apart)].concat();
    let is_odd = |store: &&Store| {
        store.kind.is_float() && store.bytes == store.kind.bytes() && !value_of(store.kind, store.bits).is_finite()
    };
    [stores.iter().filter(is_odd).count(), stores.len()]
}

/// Returns each thread's stores to the words with racing writes.
fn stores_apart(apart: &[Written]) -> Vec<Store> {
    let threads = apart.chunk_by(|left, right| left.3.thread == right.3.thread);
    threads.flat_map(stores).collect()
}

/// Returns the bytes into which either run stored an undefined value, as masks by address.
fn hidden(outcomes: [&Outcome; 2]) -> FxHashMap<u64, u8> {
    let mut hidden = FxHashMap::default();
    for ((address, _, bytes, _), _) in outcomes.into_iter().flat_map(|outcome| &outcome.undefined) {
        *hidden.entry(*address).or_default() |= bytes;
    }
    hidden
}

/// Removes the hidden bytes from words.
fn seen<'a>(words: &'a [Written], hidden: &FxHashMap<u64, u8>) -> Cow<'a, [Written]> {
    if hidden.is_empty() {
        return Cow::Borrowed(words);
    }
    let bytes = |address, bytes: u8| bytes & !hidden.get(&address).copied().unwrap_or_default();
    let words = words.iter().map(|&(address, value, own, by)| (address, value, bytes(address, own), by));
    words.filter(|word| word.2 != 0).collect()
}

/// Describes the first store by the second run that is undefined and that is defined in the first run.
pub(super) fn newly_undefined(first: &Outcome, second: &Outcome, program: &Program) -> Option<String> {
    let known: FxHashMap<u64, u8> =
        first.undefined.iter().map(|((address, _, bytes, _), _)| (*address, *bytes)).collect();
    let is_new = |(word, _): &&(Written, String)| word.2 & !known.get(&word.0).copied().unwrap_or_default() != 0;
    let ((address, _, _, by), source) = second.undefined.iter().find(is_new)?;
    let place = program.place(by.line);
    Some(format!("bytes stored at {address:#x} are undefined, but defined in the first program: {source} ({place})"))
}

/// The memory that a run leaves, for comparison with another run's stores.
struct FinalMemory {
    /// Words, with a mask of the written bytes, by address.
    words: FxHashMap<u64, (u32, u8)>,
    /// Words with racing writes, with a mask of the written bytes, by thread and address.
    apart: FxHashMap<(u64, u64), (u32, u8)>,
    /// The addresses of the words with racing writes.
    raced: FxHashSet<u64>,
}

impl FinalMemory {
    fn new(outcome: &Outcome) -> Self {
        let Outcome { written, apart, .. } = outcome;
        Self {
            words: written.iter().map(|&(address, value, bytes, _)| (address, (value, bytes))).collect(),
            apart: apart.iter().map(|&(address, value, bytes, by)| ((by.thread, address), (value, bytes))).collect(),
            raced: apart.iter().map(|word| word.0).collect(),
        }
    }

    /// Returns the value at the address of another run's store. If `is_apart`, threads of the other run wrote the word
    /// without order, so only the value of the store's own thread counts. `None` if only one of the runs wrote the word
    /// without order, or if this thread did not write it.
    fn value(&self, store: &Store, is_apart: bool, image: &mut Image) -> Option<u64> {
        (0..store.bytes as u64).try_fold(0, |all, byte| {
            let address = store.address + byte;
            let word = address & !3;
            let known = if is_apart { self.apart.get(&(store.thread, word)) } else { self.words.get(&word) };
            let known = known.filter(|known| known.1 >> (address & 3) & 1 == 1);
            let value = match known {
                Some(known) => u64::from(known.0) >> (8 * (address & 3)) & 0xff,
                None if self.raced.contains(&word) || is_apart && self.words.contains_key(&word) => return None,
                None => image.read(address, 1, store.kind),
            };
            Some(all | value << (8 * byte))
        })
    }
}

/// Replaces the kinds of the second program's words by the first program's: machine code moves floats as integers.
fn with_kinds_of<'a>(first: &[Written], second: &'a [Written]) -> Cow<'a, [Written]> {
    let kinds: FxHashMap<u64, Kind> = first.iter().map(|&(address, _, _, by)| (address, by.kind)).collect();
    let kind = |word: &Written| kinds.get(&word.0).copied().unwrap_or(word.3.kind);
    if second.iter().all(|word| kind(word) == word.3.kind) {
        return Cow::Borrowed(second);
    }
    second.iter().map(|word| (word.0, word.1, word.2, Write { kind: kind(word), ..word.3 })).collect()
}

/// The stores of both runs at a differing address.
pub(super) type Pair = [Option<Store>; 2];

/// Returns the first address at which two runs leave different values, with both stores. A word with racing writes
/// differs if a thread stores another value to it.
pub(super) fn first_difference(
    first: &Outcome,
    second: &Outcome,
    image: &mut Image,
    equality: Equality,
) -> Option<(u64, Pair)> {
    found(first, second, image, equality, true).into_iter().next()
}

/// Returns all differences, by address.
pub(super) fn differences(
    first: &Outcome,
    second: &Outcome,
    image: &mut Image,
    equality: Equality,
) -> Vec<(u64, Pair)> {
    found(first, second, image, equality, false)
}

/// Finds the differences, by address, or only the first one.
fn found(first: &Outcome, second: &Outcome, image: &mut Image, equality: Equality, is_first: bool) -> Vec<(u64, Pair)> {
    let left = [first, second].map(FinalMemory::new);
    // Bytes into which either run stored an undefined value are not compared.
    let hidden = hidden([first, second]);
    let of_all = |outcome: &Outcome| {
        let written = with_kinds_of(&first.written, &outcome.written);
        let apart = with_kinds_of(&first.apart, &outcome.apart);
        [stores(&seen(&written, &hidden)), stores_apart(&seen(&apart, &hidden))]
    };
    let lists = [first, second].map(of_all);
    let mut differing: Vec<(u64, Pair)> = Vec::new();
    for (which, parts) in lists.iter().enumerate() {
        for (part, list) in parts.iter().enumerate() {
            let is_apart = part == 1;
            for store in list {
                let Some(other) = left[1 - which].value(store, is_apart, image) else { continue };
                let other = low(other, 8 * store.bytes as u32);
                // Parts of a number are compared as bits.
                let is_whole = store.bytes == store.kind.bytes();
                if are_equal(if is_whole { equality } else { Equality::Bits }, store.kind, store.bits, other) {
                    continue;
                }
                let is_there = |other: &&Store| {
                    other.address <= store.address
                        && store.address < other.address + other.bytes as u64
                        && (!is_apart || other.thread == store.thread)
                };
                let pair = lists.each_ref().map(|parts| parts[part].iter().find(is_there).copied());
                differing.push((store.address, pair));
                if is_first {
                    break;
                }
            }
        }
    }
    differing.sort_by_key(|differing| differing.0);
    differing
}
