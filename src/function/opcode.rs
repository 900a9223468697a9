//! Opcodes of the view: the name, and the role on which all readers may rely.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use rustc_hash::FxHashMap;

use super::RegClass;
use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// An opcode: an index into the function's [`OpcodeTable`].
    Opcode, "op"
}

/// The opcodes that set a register of each class to a constant.
pub const CONSTANTS: [(RegClass, &str); 4] = [
    (RegClass::B1, "MOV_B1_i"),
    (RegClass::B16, "MOV_B16_i"),
    (RegClass::B32, "MOV_B32_i"),
    (RegClass::B64, "MOV_B64_i"),
];

/// The meaning of an opcode for a reader that follows values through registers.
///
/// The symbolic checker knows no other semantics. An opcode without one of these meanings computes an unknown function
/// of its operands. `target::classify` assigns the roles from the opcode's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Computes an unknown function of its operands.
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
        /// The index of the part, lowest first.
        index: u8,
        /// The number of parts.
        parts: u8,
    },
    /// The definition's value is arbitrary.
    Undef,
    /// An SSA PHI: a definition, then pairs of a register and the predecessor from which it comes.
    Phi,
    /// A debug value: its register operands describe variables and compute nothing.
    Debug,
    /// Stores its first operand, a register, to its second, a slot. Created by a spill edit.
    Spill,
    /// Loads its first operand, a register, from its second, a slot. Created by a reload edit.
    Reload,
}

/// The name and role of an opcode.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: Box<str>,
    role: Role,
}

/// Returns the name and role of an opcode at its first use.
type Describe = Arc<dyn Fn(Opcode) -> (Box<str>, Role) + Send + Sync>;

/// The opcodes that a function's instructions use.
///
/// The table is shared between all functions of a subtarget (`Arc`). A subtarget has thousands of opcodes and a
/// function uses dozens, so names and roles are determined at their first use.
#[derive(Clone)]
pub struct OpcodeTable {
    entries: IndexVec<Opcode, OnceLock<Entry>>,
    describe: Describe,
    by_name: OnceLock<FxHashMap<Box<str>, Opcode>>,
}

impl OpcodeTable {
    /// Returns an empty table.
    pub fn new() -> Self {
        Self::lazy(0, |_| unreachable!("an interned opcode has its entry from the start"))
    }

    /// Returns a table of the opcodes that edits may insert into any function: `COPY`, and [`CONSTANTS`].
    pub fn inserted() -> Self {
        let mut table = Self::new();
        table.intern("COPY", Role::Copy);
        for (_, name) in CONSTANTS {
            table.intern(name, Role::Constant);
        }
        table
    }

    /// Returns a table of `len` opcodes whose names and roles come from `describe`. If a name occurs twice in adjacent
    /// entries, [`find`](Self::find) returns the first.
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

    /// Returns the opcode with that name, and adds it if it is missing. Names are unique, and the first role of a name
    /// is kept.
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

    /// Returns the name of an opcode.
    pub fn name(&self, opcode: Opcode) -> &str {
        &self.entry(opcode).name
    }

    /// Returns the role of an opcode.
    #[inline]
    pub fn role(&self, opcode: Opcode) -> Role {
        self.entry(opcode).role
    }

    /// Returns the opcode with that name. O(log opcodes) if the opcodes around it are sorted by name, as LLVM's opcodes
    /// of a target are. Otherwise, the names of all opcodes are determined, once.
    pub fn find(&self, name: &str) -> Option<Opcode> {
        if self.by_name.get().is_none()
            && let Some(opcode) = self.find_in_order(name)
        {
            return Some(opcode);
        }
        self.by_name().get(name).copied()
    }

    /// Returns the opcode with that name by binary search. Opcodes out of order may make the search fail, but never
    /// return a wrong result.
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

    /// Returns the generic `COPY` opcode, which inserted copies have. LLVM's generic opcodes come first, so the search
    /// does not determine all names.
    pub fn copy(&self) -> Option<Opcode> {
        self.ids().find(|&opcode| self.name(opcode) == "COPY")
    }

    /// Returns all opcodes, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = Opcode> + use<> {
        self.entries.ids()
    }

    /// Returns the number of opcodes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Facts about the opcodes that a function uses. Each is computed once. A table of all opcodes would be a hundred times
/// as large as the part that functions use.
#[derive(Clone, Debug)]
pub(crate) struct OpcodeFacts<T> {
    /// The table of the opcodes. The weak reference prevents another table from being allocated at the same address.
    table: Weak<OpcodeTable>,
    /// The index of each opcode's fact plus one; 0 if the fact is not computed.
    numbers: IndexVec<Opcode, u32>,
    known: Vec<T>,
}

impl<T> OpcodeFacts<T> {
    /// Keeps the facts if they are for this very table, for example for the next function of a module. Otherwise
    /// removes them.
    pub(crate) fn keep(&mut self, table: &Arc<OpcodeTable>) {
        if std::ptr::eq(self.table.as_ptr(), Arc::as_ptr(table)) && self.numbers.len() == table.len() {
            return;
        }
        self.table = Arc::downgrade(table);
        self.numbers.clear();
        self.numbers.resize(table.len(), 0);
        self.known.clear();
    }

    /// Returns the fact of an opcode. Calls `find` if it is not computed yet.
    #[inline]
    pub(crate) fn get_or_insert_with(&mut self, opcode: Opcode, find: impl FnOnce() -> T) -> &T {
        let number = &mut self.numbers[opcode];
        if *number == 0 {
            self.known.push(find());
            *number = self.known.len() as u32;
        }
        &self.known[*number as usize - 1]
    }

    /// Returns the fact of an opcode, which must already be computed.
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

    /// An opcode in a sorted part of the table is found without determining all names, even after unsorted opcodes.
    /// Unsorted opcodes are found, too. An unknown name is not found.
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

    /// A fact is computed once, each opcode has its own fact, and facts that were not requested are computed later.
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

    /// Facts are kept for the same table, and not for another table, even if the two are equal.
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
