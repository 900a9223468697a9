//! The keywords of the text form, shared by the printer and the parser.

use crate::function::{Effects, LaunchBounds, MemorySpace, OperandFlags, Role};

/// The only version of the text form.
pub(super) const VERSION: u32 = 1;

/// Registers printed on one line.
pub(super) const REGS_PER_LINE: usize = 16;

/// Accesses one of the launch bounds.
type Bound = fn(&mut LaunchBounds) -> &mut Option<u32>;

/// Launch bounds, in the order in which they are printed and parsed.
pub(super) const BOUNDS: [(Bound, &str); 4] = [
    (|bounds| &mut bounds.max_threads, "maxntid"),
    (|bounds| &mut bounds.required_threads, "reqntid"),
    (|bounds| &mut bounds.min_blocks, "minctasm"),
    (|bounds| &mut bounds.max_registers, "maxnreg"),
];

/// Operand flags, in the order in which they are printed.
pub(super) const FLAGS: [(OperandFlags, &str); 6] = [
    (OperandFlags::DEF, "def"),
    (OperandFlags::IMPLICIT, "implicit"),
    (OperandFlags::UNDEF, "undef"),
    (OperandFlags::DEAD, "dead"),
    (OperandFlags::KILL, "kill"),
    (OperandFlags::EARLY_CLOBBER, "early_clobber"),
];

/// Effects, in the order in which they are printed.
pub(super) const EFFECTS: [(Effects, &str); 10] = [
    (Effects::READ, "read"),
    (Effects::WRITE, "write"),
    (Effects::ORDERED, "ordered"),
    (Effects::CONVERGENT, "convergent"),
    (Effects::CALL_SEQUENCE, "call_sequence"),
    (Effects::TRAP, "trap"),
    (Effects::TERMINATOR, "terminator"),
    (Effects::OPAQUE, "opaque"),
    (Effects::META, "meta"),
    (Effects::MAY_FAULT, "may_fault"),
];

/// Memory spaces. The generic space is not printed.
pub(super) const SPACES: [(MemorySpace, &str); 7] = [
    (MemorySpace::Global, "global"),
    (MemorySpace::Shared, "shared"),
    (MemorySpace::Constant, "const"),
    (MemorySpace::Local, "local"),
    (MemorySpace::Tensor, "tensor"),
    (MemorySpace::SharedCluster, "shared_cluster"),
    (MemorySpace::Param, "param"),
];

/// Roles without parameters. `Other` is missing because it is not printed, and `Extract` because numbers follow its
/// word.
pub(super) const ROLES: [(Role, &str); 9] = [
    (Role::Copy, "copy"),
    (Role::Constant, "constant"),
    (Role::Pack, "pack"),
    (Role::Unpack, "unpack"),
    (Role::Undef, "undef"),
    (Role::Phi, "phi"),
    (Role::Debug, "debug"),
    (Role::Spill, "spill"),
    (Role::Reload, "reload"),
];

/// Returns the value of the pair in `table` with the word `word`.
pub(super) fn find<T: Copy>(table: &[(T, &str)], word: &str) -> Option<T> {
    table.iter().find(|(_, name)| *name == word).map(|&(value, _)| value)
}

/// Whether a word may begin with this byte.
pub(super) fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether a word may contain this byte.
pub(super) fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

/// Whether a word begins an operand or ends the text. An opcode with such a name is quoted.
pub(super) fn is_reserved(word: &str) -> bool {
    let numbered = |prefix: &str| {
        let number = word.strip_prefix(prefix).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    // Most opcodes of NVPTX begin with a capital, and no reserved word does.
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && (find(&FLAGS, word).is_some() || matches!(word, "float" | "end") || numbered("bb") || numbered("slot"))
}

/// Whether an opcode's name is printed without quotes.
pub(super) fn is_plain(name: &str) -> bool {
    name.bytes().next().is_some_and(begins_word) && name.bytes().all(continues_word) && !is_reserved(name)
}
