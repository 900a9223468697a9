//! The words of the text form, shared by the printer and the parser.

use crate::function::{Effects, LaunchBounds, MemorySpace, OperandFlags, Role};

/// The only version of the form.
pub(super) const VERSION: u32 = 1;

/// How many registers stand on one line.
pub(super) const REGS_PER_LINE: usize = 16;

/// A bound of a launch.
type Bound = fn(&mut LaunchBounds) -> &mut Option<u32>;

/// Bounds of a launch, in the order in which they are printed and read.
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

/// Memory spaces; the generic one is not written.
pub(super) const SPACES: [(MemorySpace, &str); 7] = [
    (MemorySpace::Global, "global"),
    (MemorySpace::Shared, "shared"),
    (MemorySpace::Constant, "const"),
    (MemorySpace::Local, "local"),
    (MemorySpace::Tensor, "tensor"),
    (MemorySpace::SharedCluster, "shared_cluster"),
    (MemorySpace::Param, "param"),
];

/// Roles without parameters; `Other` is not written, and `Extract` has numbers behind its word.
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

/// The second of the pair in `table` whose word is `word`.
pub(super) fn find<T: Copy>(table: &[(T, &str)], word: &str) -> Option<T> {
    table.iter().find(|(_, name)| *name == word).map(|&(value, _)| value)
}

/// Whether a byte may begin a word.
pub(super) fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether a byte may stand inside a word.
pub(super) fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

/// Whether a word begins an operand or ends the text: an opcode of that name is quoted.
pub(super) fn is_reserved(word: &str) -> bool {
    let numbered = |prefix: &str| {
        let number = word.strip_prefix(prefix).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    // Most opcodes of NVPTX are in capitals, and no reserved word is.
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && (find(&FLAGS, word).is_some() || matches!(word, "float" | "end") || numbered("bb") || numbered("slot"))
}

/// Whether an opcode's name stands without quotes.
pub(super) fn is_plain(name: &str) -> bool {
    name.bytes().next().is_some_and(begins_word) && name.bytes().all(continues_word) && !is_reserved(name)
}
