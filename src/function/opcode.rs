//! Opcodes as the view knows them: a name, and the one thing about its meaning that everyone may rely on.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use rustc_hash::FxHashMap;

use super::RegClass;
use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// An opcode: a number in the function's [`OpcodeTable`].
    Opcode, "op"
}

/// What sets a register of each class to a constant.
pub const CONSTANTS: [(RegClass, &str); 4] = [
    (RegClass::B1, "MOV_B1_i"),
    (RegClass::B16, "MOV_B16_i"),
    (RegClass::B32, "MOV_B32_i"),
    (RegClass::B64, "MOV_B64_i"),
];

/// What an opcode means to a reader who follows values through registers.
///
/// It is the whole semantic knowledge of the symbolic checker: an opcode without one of these meanings computes
/// something unknown from its operands. `target::classify` assigns the roles from the opcode's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Computes something unknown from its operands.
    #[default]
    Other,
    /// `def = use`: the same bits in a register of the same class.
    Copy,
    /// `def = immediate or symbol`: one definition, no register read.
    Constant,
    /// `def = {use, use, …}`: uses are the parts of the definition, lowest first.
    Pack,
    /// `{def, def, …} = use`: definitions are the parts of the use, lowest first.
    Unpack,
    /// `def = part INDEX of PARTS of use`: one half of an [`Unpack`](Role::Unpack).
    Extract {
        /// Which part, lowest first.
        index: u8,
        /// How many parts the use has.
        parts: u8,
    },
    /// The definition's value is arbitrary.
    Undef,
    /// An SSA PHI: definition, then pairs of a register and the predecessor that it comes from.
    Phi,
    /// A debug value: its register operands describe variables and compute nothing.
    Debug,
    /// Stores its first operand, a register, to the slot that is its second: made by a spill edit.
    Spill,
    /// Loads its first operand, a register, from the slot that is its second: made by a reload edit.
    Reload,
}

/// What the table knows of an opcode.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: Box<str>,
    role: Role,
}

/// Tells the name and the role of an opcode that a table holds but has not been asked for yet.
type Describe = Arc<dyn Fn(Opcode) -> (Box<str>, Role) + Send + Sync>;

/// The opcodes that a function's instructions are drawn from.
///
/// Shared between all functions of a subtarget (`Arc`). A subtarget has thousands of opcodes and a function uses
/// dozens: names and roles are found out when they are first asked for.
#[derive(Clone)]
pub struct OpcodeTable {
    entries: IndexVec<Opcode, OnceLock<Entry>>,
    describe: Describe,
    by_name: OnceLock<FxHashMap<Box<str>, Opcode>>,
}

impl OpcodeTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::lazy(0, |_| unreachable!("an interned opcode has its entry from the start"))
    }

    /// The opcodes that edits may insert into any function: `COPY`, and [`CONSTANTS`].
    pub fn inserted() -> Self {
        let mut table = Self::new();
        table.intern("COPY", Role::Copy);
        for (_, name) in CONSTANTS {
            table.intern(name, Role::Constant);
        }
        table
    }

    /// A table of `len` opcodes, and a function that tells name and role of any of them. Of a name that stands twice
    /// together [`find`](Self::find) finds the first.
    pub fn lazy(len: usize, describe: impl Fn(Opcode) -> (Box<str>, Role) + Send + Sync + 'static) -> Self {
        Self {
            entries: (0..len).map(|_| OnceLock::new()).collect(),
            describe: Arc::new(describe),
            by_name: OnceLock::new(),
        }
    }

    #[inline]
    fn entry(&self, opcode: Opcode) -> &Entry {
        self.entries[opcode].get_or_init(|| {
            let (name, role) = (self.describe)(opcode);
            Entry { name, role }
        })
    }

    fn by_name(&self) -> &FxHashMap<Box<str>, Opcode> {
        self.by_name.get_or_init(|| {
            let mut by_name = FxHashMap::default();
            for opcode in self.ids() {
                by_name.entry(self.name(opcode).into()).or_insert(opcode);
            }
            by_name
        })
    }

    /// Adds an opcode, or finds it: a name stands once, and its first role stays.
    pub fn intern(&mut self, name: &str, role: Role) -> Opcode {
        if let Some(opcode) = self.find(name) {
            return opcode;
        }
        let opcode = self.entries.push(OnceLock::from(Entry { name: name.into(), role }));
        if let Some(by_name) = self.by_name.get_mut() {
            by_name.insert(name.into(), opcode);
        }
        opcode
    }

    /// The name of an opcode.
    pub fn name(&self, opcode: Opcode) -> &str {
        &self.entry(opcode).name
    }

    /// The role of an opcode.
    #[inline]
    pub fn role(&self, opcode: Opcode) -> Role {
        self.entry(opcode).role
    }

    /// The opcode of that name. O(log opcodes) where it stands among opcodes in the order of their names, as LLVM
    /// numbers those of a target; elsewhere all are named, once.
    pub fn find(&self, name: &str) -> Option<Opcode> {
        if self.by_name.get().is_none()
            && let Some(opcode) = self.find_in_order(name)
        {
            return Some(opcode);
        }
        self.by_name().get(name).copied()
    }

    /// The opcode of that name, if looking in the middle leads there: what stands out of order only leads astray.
    fn find_in_order(&self, name: &str) -> Option<Opcode> {
        let (mut first, mut end) = (0, self.len());
        while first < end {
            let middle = first + (end - first) / 2;
            if self.name(Opcode::new(middle)) < name {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        (first < self.len()).then(|| Opcode::new(first)).filter(|&opcode| self.name(opcode) == name)
    }

    /// The generic `COPY`, which inserted copies have. LLVM's generic opcodes stand first: found without naming all.
    pub fn copy(&self) -> Option<Opcode> {
        self.ids().find(|&opcode| self.name(opcode) == "COPY")
    }

    /// All opcodes, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = Opcode> + use<> {
        self.entries.ids()
    }

    /// How many opcodes there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// What a reader knows of the opcodes that a function uses: each is found out once. A table of all opcodes would be a
/// hundred times as large as what functions use.
#[derive(Clone, Debug)]
pub(crate) struct OpcodeFacts<T> {
    /// Whose opcodes they are: kept so that no other table can come to stand in its place.
    table: Weak<OpcodeTable>,
    /// One more than the number of what is known; 0 where nothing is.
    numbers: IndexVec<Opcode, u32>,
    known: Vec<T>,
}

impl<T> OpcodeFacts<T> {
    /// Keeps what is known where it is of the opcodes of this very table, as from function to function of a module, and
    /// forgets it where it is of another's.
    pub(crate) fn keep(&mut self, table: &Arc<OpcodeTable>) {
        if std::ptr::eq(self.table.as_ptr(), Arc::as_ptr(table)) && self.numbers.len() == table.len() {
            return;
        }
        self.table = Arc::downgrade(table);
        self.numbers.clear();
        self.numbers.resize(table.len(), 0);
        self.known.clear();
    }

    /// What is known of an opcode, found out by `find` where it was not asked for before.
    #[inline]
    pub(crate) fn get_or_insert_with(&mut self, opcode: Opcode, find: impl FnOnce() -> T) -> &T {
        let number = &mut self.numbers[opcode];
        if *number == 0 {
            self.known.push(find());
            *number = self.known.len() as u32;
        }
        &self.known[*number as usize - 1]
    }

    /// What is known of an opcode, which was found out.
    #[inline]
    pub(crate) fn known(&self, opcode: Opcode) -> &T {
        &self.known[self.numbers[opcode] as usize - 1]
    }
}

impl<T> Default for OpcodeFacts<T> {
    fn default() -> Self {
        Self { table: Weak::new(), numbers: IndexVec::new(), known: Vec::new() }
    }
}

impl Default for OpcodeTable {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for OpcodeTable {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.ids().all(|opcode| self.entry(opcode) == other.entry(opcode))
    }
}

impl Eq for OpcodeTable {}

impl fmt::Debug for OpcodeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.ids().filter_map(|opcode| Some((opcode, self.entries[opcode].get()?)));
        f.debug_map().entries(known).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Opcode, OpcodeFacts, OpcodeTable, Role};
    use crate::index::EntityIndex;

    /// An opcode among others in the order of their names is found without naming all, behind some that are not in
    /// order; those are found, too, and what is not there is not.
    #[test]
    fn opcodes_in_order_are_found_early() {
        let generic = ["PHI", "COPY"].map(str::to_owned).into_iter();
        let names: Vec<String> = generic.chain((0..1000).map(|number| format!("OP{number:03}"))).collect();
        let asked = Arc::new(AtomicUsize::new(0));
        let table = {
            let (names, asked) = (names.clone(), Arc::clone(&asked));
            OpcodeTable::lazy(names.len(), move |opcode| {
                asked.fetch_add(1, Ordering::Relaxed);
                (names[opcode.index()].as_str().into(), Role::Other)
            })
        };
        assert_eq!(table.find("OP123"), Some(Opcode(125)));
        assert!(asked.load(Ordering::Relaxed) < 12, "{asked:?} opcodes were named");
        for (number, name) in names.iter().enumerate() {
            assert_eq!(table.find(name), Some(Opcode::new(number)));
        }
        assert_eq!(table.find("OP1000"), None);
    }

    /// A fact is found out once, each opcode has its own, and what was not asked for is found out later.
    #[test]
    fn facts_are_found_out_once() {
        let mut table = OpcodeTable::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| table.intern(name, Role::Other));
        let mut facts = OpcodeFacts::default();
        facts.keep(&Arc::new(table));
        let mut asked = 0;
        for opcode in [c, a, c] {
            let fact = *facts.get_or_insert_with(opcode, || {
                asked += 1;
                opcode
            });
            assert_eq!(fact, opcode);
        }
        assert_eq!(asked, 2);
        assert_eq!([a, c].map(|opcode| *facts.known(opcode)), [a, c]);
        assert_eq!(*facts.get_or_insert_with(b, || b), b);
    }

    /// What is known stays known for the same table, and for no other, were it equal.
    #[test]
    fn facts_are_of_one_table() {
        let table = |names: &[&str]| {
            let mut table = OpcodeTable::new();
            names.iter().for_each(|name| _ = table.intern(name, Role::Other));
            Arc::new(table)
        };
        let first = table(&["a", "b"]);
        let mut facts = OpcodeFacts::default();
        facts.keep(&first);
        facts.get_or_insert_with(Opcode(1), || "of the first");
        facts.keep(&Arc::clone(&first));
        assert_eq!(*facts.get_or_insert_with(Opcode(1), || "anew"), "of the first");
        drop(first);
        facts.keep(&table(&["a", "b"]));
        assert_eq!(*facts.get_or_insert_with(Opcode(1), || "of the second"), "of the second");
    }
}
