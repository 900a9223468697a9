//! What is said of two programs: whether they store the same, and if not, the first difference.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use super::machine::Outcome;
use super::memory::Image;
use super::run::{Executed, Side, Store, stores};
use super::source::SourceLine;
use super::tolerance::{Equality, are_equal, value_of};
use super::types::low;

/// A place where two programs leave different values.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The launch's number.
    pub launch: u32,
    /// Where: a generic address.
    pub address: u64,
    /// The parameter whose buffer the address is in, with the offset, if it is in one.
    pub buffer: Option<(String, i64)>,
    /// What each program stored there, if it did.
    pub stores: [Option<Store>; 2],
    /// The lines of the source that these stores come from, where the text says so.
    pub sources: [Option<SourceLine>; 2],
    /// The parameters of the launch.
    pub parameters: Vec<(String, u64)>,
}

/// What is said of a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Both programs store the same.
    Same,
    /// They do not.
    Different(Box<Difference>),
    /// Nothing can be said, for a reason. The program it is about is 0 or 1.
    NotComparable {
        /// The program.
        program: usize,
        /// The reason.
        reason: String,
    },
}

/// A launch and what is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// The grid and the block.
    pub shape: [[u32; 3]; 2],
    /// The verdict.
    pub verdict: Verdict,
    /// How many words the first program stored.
    pub stores: usize,
    /// Places that the second program read and the first did not.
    pub new_reads: u64,
    /// More than a tenth of what was stored is no finite number.
    pub is_wild: bool,
}

/// What launches of two programs gave.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The kernel.
    pub kernel: String,
    /// The launches, up to the first that differs.
    pub launches: Vec<Launched>,
    /// What ran of each program.
    pub sides: [Side; 2],
    /// What each program executed in the launches that both end; nothing where there is no such launch.
    pub executed: Option<[Executed; 2]>,
}

impl Comparison {
    /// Of a kernel of which nothing can be said, for a reason. The program it is about is 0 or 1.
    pub fn impossible(kernel: &str, program: usize, reason: String) -> Self {
        let verdict = Verdict::NotComparable { program, reason };
        let launched = Launched { shape: [[0; 3]; 2], verdict, stores: 0, new_reads: 0, is_wild: false };
        Self { kernel: kernel.to_owned(), launches: vec![launched], ..Self::default() }
    }

    /// The first difference.
    pub fn difference(&self) -> Option<&Difference> {
        self.launches.iter().find_map(|launched| match &launched.verdict {
            Verdict::Different(difference) => Some(&**difference),
            _ => None,
        })
    }

    /// How many launches were equal.
    pub fn equal(&self) -> usize {
        self.launches.iter().filter(|launched| launched.verdict == Verdict::Same).count()
    }

    /// Whether all that could be compared was equal, and something could.
    pub fn is_same(&self) -> bool {
        self.difference().is_none() && self.equal() > 0
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.buffer {
            Some((name, offset)) => write!(formatter, "at {name}{offset:+}")?,
            None => write!(formatter, "at {:#x}", self.address)?,
        }
        for ((store, source), which) in self.stores.iter().zip(&self.sources).zip(["first", "second"]) {
            let Some(store) = store else {
                write!(formatter, "; the {which} program stores nothing")?;
                continue;
            };
            let (value, thread, line) = (store.text(), store.thread, store.line);
            write!(formatter, "; the {which} program stores {value} by thread {thread} in line {line}")?;
            if let Some(source) = source {
                write!(formatter, " ({source})")?;
            }
        }
        let values: Vec<String> = self.parameters.iter().map(|(name, value)| format!("{name} = {value:#x}")).collect();
        write!(formatter, "; launch {} with {}", self.launch, values.join(", "))
    }
}

/// The parameter whose buffer an address is in.
pub(super) fn buffer_of(parameters: &[(String, u64)], address: u64) -> Option<(String, i64)> {
    let offset = |value: u64| address.wrapping_sub(value) as i64;
    let near =
        parameters.iter().filter(|(_, value)| *value >= super::layout::BUFFERS && offset(*value).abs() < 1 << 31);
    near.min_by_key(|(_, value)| offset(*value).abs()).map(|(name, value)| (name.clone(), offset(*value)))
}

/// How many of a launch's stores are no finite numbers, and how many there are.
pub(super) fn odd_stores(outcome: &Outcome) -> [usize; 2] {
    let stores = [stores(&outcome.written), stores_apart(outcome)].concat();
    let is_odd = |store: &&Store| {
        store.kind.is_float() && store.bytes == store.kind.bytes() && !value_of(store.kind, store.bits).is_finite()
    };
    [stores.iter().filter(is_odd).count(), stores.len()]
}

/// What each thread stores to words that threads write in no order.
fn stores_apart(outcome: &Outcome) -> Vec<Store> {
    let threads = outcome.apart.chunk_by(|left, right| left.3.thread == right.3.thread);
    threads.flat_map(stores).collect()
}

/// What a run leaves, for values of another run to be compared with.
struct Left {
    /// Words, and which of their bytes were written, by address.
    words: FxHashMap<u64, (u32, u8)>,
    /// The same of words that threads write in no order, by thread and address.
    apart: FxHashMap<(u64, u64), (u32, u8)>,
    /// The addresses of these words.
    raced: FxHashSet<u64>,
}

impl Left {
    fn new(outcome: &Outcome) -> Self {
        let Outcome { written, apart, .. } = outcome;
        Self {
            words: written.iter().map(|&(address, value, bytes, _)| (address, (value, bytes))).collect(),
            apart: apart.iter().map(|&(address, value, bytes, by)| ((by.thread, address), (value, bytes))).collect(),
            raced: apart.iter().map(|word| word.0).collect(),
        }
    }

    /// The value where another run stores one. `None` where nothing can be said: threads wrote there in no order. Of such
    /// a word a thread's own value counts, if there is one.
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

/// The first address where two runs leave different values, with what each stored there. A word that threads write in no
/// order differs if a thread stores another value there.
pub(super) fn first_difference(
    first: &Outcome,
    second: &Outcome,
    image: &mut Image,
    equality: Equality,
) -> Option<(u64, [Option<Store>; 2])> {
    let left = [first, second].map(Left::new);
    let of_all = |outcome: &Outcome| [stores(&outcome.written), stores_apart(outcome)];
    let lists = [first, second].map(of_all);
    let mut differing: Vec<(u64, [Option<Store>; 2])> = Vec::new();
    for (which, parts) in lists.iter().enumerate() {
        for (part, list) in parts.iter().enumerate() {
            let is_apart = part == 1;
            let found = list.iter().find(|store| {
                let Some(other) = left[1 - which].value(store, is_apart, image) else { return false };
                let other = low(other, 8 * store.bytes as u32);
                // Parts of a number are compared as bits.
                let is_whole = store.bytes == store.kind.bytes();
                !are_equal(if is_whole { equality } else { Equality::Bits }, store.kind, store.bits, other)
            });
            let Some(store) = found else { continue };
            let is_there = |other: &&Store| {
                other.address <= store.address
                    && store.address < other.address + other.bytes as u64
                    && (!is_apart || other.thread == store.thread)
            };
            differing.push((store.address, lists.each_ref().map(|parts| parts[part].iter().find(is_there).copied())));
        }
    }
    differing.into_iter().min_by_key(|differing| differing.0)
}
