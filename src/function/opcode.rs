//! Opcodes as the view knows them: a name, and the one thing about its meaning that everyone may rely on.

use std::collections::HashMap;

use crate::define_index;
use crate::index::IndexVec;

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
/// Shared between all functions of a subtarget (`Arc`), so that names cross from LLVM once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpcodeTable {
    names: IndexVec<Opcode, Box<str>>,
    roles: IndexVec<Opcode, Role>,
    by_name: HashMap<Box<str>, Opcode>,
    copy: Option<Opcode>,
}

impl OpcodeTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an opcode, or finds it: a name stands once, and its first role stays.
    pub fn intern(&mut self, name: &str, role: Role) -> Opcode {
        if let Some(&opcode) = self.by_name.get(name) {
            return opcode;
        }
        let opcode = self.names.push(name.into());
        self.roles.push(role);
        self.by_name.insert(name.into(), opcode);
        if name == "COPY" {
            self.copy = Some(opcode);
        }
        opcode
    }

    /// The name of an opcode.
    pub fn name(&self, opcode: Opcode) -> &str {
        &self.names[opcode]
    }

    /// The role of an opcode.
    pub fn role(&self, opcode: Opcode) -> Role {
        self.roles[opcode]
    }

    /// The opcode of that name.
    pub fn find(&self, name: &str) -> Option<Opcode> {
        self.by_name.get(name).copied()
    }

    /// The generic `COPY`, which inserted copies have.
    pub fn copy(&self) -> Option<Opcode> {
        self.copy
    }

    /// All opcodes, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = Opcode> + use<> {
        self.names.ids()
    }

    /// How many opcodes there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
