//! Opcodes as the view knows them: a name, and the one thing about its meaning that everyone may rely on.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// An opcode: a number in the function's [`OpcodeTable`].
    Opcode, "op"
}

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

/// The opcodes that a function's instructions are drawn from.
///
/// Shared between all functions of a subtarget (`Arc`), so that names cross from LLVM once. A subtarget has thousands
/// of opcodes and a function uses dozens: roles are found out when they are first asked for.
#[derive(Clone, Debug)]
pub struct OpcodeTable {
    /// All names, one behind the other; name `i` ends at `ends[i]`.
    names: String,
    ends: IndexVec<Opcode, u32>,
    roles: IndexVec<Opcode, OnceLock<Role>>,
    role_of: fn(&str) -> Role,
    by_name: OnceLock<FxHashMap<Box<str>, Opcode>>,
}

impl OpcodeTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::lazy([], |_| Role::Other)
    }

    /// A table of names in the order of their numbers, and a function that tells a name's role. Of names that stand
    /// twice, [`find`](Self::find) finds the first.
    pub fn lazy<'a>(names: impl IntoIterator<Item = &'a str>, role_of: fn(&str) -> Role) -> Self {
        let mut table = Self {
            names: String::new(),
            ends: IndexVec::new(),
            roles: IndexVec::new(),
            role_of,
            by_name: OnceLock::new(),
        };
        for name in names {
            table.append(name);
        }
        table
    }

    fn append(&mut self, name: &str) -> Opcode {
        self.names.push_str(name);
        self.roles.push(OnceLock::new());
        self.ends.push(self.names.len() as u32)
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
        let opcode = self.append(name);
        self.roles[opcode] = OnceLock::from(role);
        if let Some(by_name) = self.by_name.get_mut() {
            by_name.insert(name.into(), opcode);
        }
        opcode
    }

    /// The name of an opcode.
    pub fn name(&self, opcode: Opcode) -> &str {
        let start = opcode.index().checked_sub(1).map_or(0, |before| self.ends[Opcode::new(before)]);
        &self.names[start as usize..self.ends[opcode] as usize]
    }

    /// The role of an opcode.
    #[inline]
    pub fn role(&self, opcode: Opcode) -> Role {
        *self.roles[opcode].get_or_init(|| (self.role_of)(self.name(opcode)))
    }

    /// The opcode of that name.
    pub fn find(&self, name: &str) -> Option<Opcode> {
        self.by_name().get(name).copied()
    }

    /// The generic `COPY`, which inserted copies have.
    pub fn copy(&self) -> Option<Opcode> {
        self.find("COPY")
    }

    /// All opcodes, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = Opcode> + use<> {
        self.ends.ids()
    }

    /// How many opcodes there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl Default for OpcodeTable {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for OpcodeTable {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
            && self.ends == other.ends
            && self.ids().all(|opcode| self.role(opcode) == other.role(opcode))
    }
}

impl Eq for OpcodeTable {}
