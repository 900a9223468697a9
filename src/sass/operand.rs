//! Operands of a machine instruction.

/// The register that reads as zero and discards results: RZ, URZ.
pub const RZ: u8 = 255;
/// The predicate that is always true: PT, UPT.
pub const PT: u8 = 7;

/// A half of a register, or the reading of its halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// `.H0_H0`: the lower half twice. For an instruction that reads one half, the lower half (`.H0`).
    Low,
    /// `.H1_H1`, `.H1`: the upper half.
    High,
    /// `.H1_H0`: both halves in order.
    Both,
    /// `.F32`: the register holds a float.
    Float,
}

/// The modifiers of an operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Changes {
    /// `-`.
    pub negated: bool,
    /// `|x|`.
    pub absolute: bool,
    /// `~`.
    pub inverted: bool,
    /// `.H0_H0` and similar suffixes.
    pub half: Option<Half>,
    /// `.64`: the register and the next one are one value.
    pub is_wide: bool,
    /// `.B1`, `.B3`: a byte of the register.
    pub byte: Option<u8>,
    /// `.ROW`, `.COL`: the layout of a factor of IMMA. It has no other effect.
    pub lies: bool,
}

/// A general register of a thread, or a uniform register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// The number. 255 is the zero register in both files.
    pub number: u8,
    /// Whether the register is uniform: UR.
    pub is_uniform: bool,
}

/// A predicate of a thread, or a uniform predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// The number. 7 is the predicate that is always true.
    pub number: u8,
    /// Whether the predicate is uniform: UP.
    pub is_uniform: bool,
    /// `!`.
    pub negated: bool,
}

/// The reading of an address's register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Extent {
    /// 32 bits, signed for shared memory, or as the access defines.
    #[default]
    Plain,
    /// `.64`: a register pair.
    Wide,
    /// `.U32`: 32 bits, unsigned, beside a uniform register of 64 bits.
    Unsigned,
}

/// An address of memory: the sum of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Address {
    /// `desc[UR4]`: the uniform register with the descriptor of global memory.
    pub descriptor: Option<u8>,
    /// The register of the thread. `None` for RZ or no register.
    pub base: Option<u8>,
    /// The reading of the register.
    pub extent: Extent,
    /// The scale of the register: `.X4`, `.X8`, `.X16`; 1 without a suffix.
    pub scale: u8,
    /// The uniform register.
    pub uniform: Option<u8>,
    /// The constant offset, in bytes.
    pub offset: i32,
}

/// Factors of a warp group's matrix product in shared memory: `gdesc[UR4].tnspB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Factors {
    /// The uniform register with the descriptor of the left factor. The descriptor of the right factor is two registers
    /// later.
    pub register: u8,
    /// `.negA`, `.negB`.
    pub negated: [bool; 2],
    /// `.tnspA`, `.tnspB`.
    pub transposed: [bool; 2],
}

/// A place in a constant bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// The bank.
    pub bank: u8,
    /// A register that is added to the offset.
    pub index: Option<Register>,
    /// The offset in bytes.
    pub offset: i32,
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A general register.
    Register(Register, Changes),
    /// A predicate.
    Predicate(Predicate),
    /// All predicates of a thread at once (`PR`), or all uniform predicates (`UPR`).
    Predicates {
        /// Whether the predicates are uniform.
        is_uniform: bool,
    },
    /// An immediate: an integer in two's complement, a float, the upper half of a double, or two halves.
    Immediate(u32),
    /// A word of a constant bank.
    Constant(Constant, Changes),
    /// An address of memory.
    Address(Address),
    /// A convergence register: B0.
    Convergence(u8),
    /// A special register: its number in [`super::special::NAMES`].
    Special(u8),
    /// A code address, in bytes from the start of the function.
    Target(i64),
    /// The code address of another function: its position in [`super::instruction::Function::callees`].
    Callee(u32),
    /// A scoreboard: SB0.
    Scoreboard(u8),
    /// Factors in shared memory.
    Factors(Factors),
    /// The scoreboard of warp-group matrix products: `gsb0`.
    GroupScoreboard,
}
