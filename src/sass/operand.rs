//! Operands of a machine instruction.

/// The register that reads as zero and takes results nobody reads: RZ.
pub const RZ: u8 = 255;
/// The predicate that always holds: PT, UPT.
pub const PT: u8 = 7;

/// A half of a register, or how its halves are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// `.H0_H0`: the lower half twice; of an instruction that reads one half, the lower one (`.H0`).
    Low,
    /// `.H1_H1`, `.H1`: the upper half.
    High,
    /// `.H1_H0`: both as they are.
    Both,
    /// `.F32`: the register is a float.
    Float,
}

/// What is done to a value ahead of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Changes {
    /// `-`.
    pub negated: bool,
    /// `|x|`.
    pub absolute: bool,
    /// `~`.
    pub inverted: bool,
    /// `.H0_H0` and the like.
    pub half: Option<Half>,
    /// `.64`: the register and the next one are one value.
    pub is_wide: bool,
    /// `.B1`, `.B3`: a byte of the register.
    pub byte: Option<u8>,
    /// `.ROW`, `.COL`: how a factor of IMMA lies. Nothing else follows from it.
    pub lies: bool,
}

/// A general register of a thread or of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// The number; 255 is the one that is zero, in both files.
    pub number: u8,
    /// It belongs to the warp: UR.
    pub is_uniform: bool,
}

/// A predicate of a thread or of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// The number; 7 is the one that always holds.
    pub number: u8,
    /// It belongs to the warp: UP.
    pub is_uniform: bool,
    /// `!`.
    pub negated: bool,
}

/// How an address reads its register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Extent {
    /// 32 bits with a sign, as addresses of shared memory, or as the access says.
    #[default]
    Plain,
    /// `.64`: two registers.
    Wide,
    /// `.U32`: 32 bits without a sign, beside a uniform register of 64 bits.
    Unsigned,
}

/// An address of memory: the sum of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Address {
    /// `desc[UR4]`: the uniform register with the descriptor of global memory.
    pub descriptor: Option<u8>,
    /// The register of the thread, unless it is RZ or there is none.
    pub base: Option<u8>,
    /// How the register is read.
    pub extent: Extent,
    /// A factor of the register: `.X4`, `.X8`, `.X16`; 1 for none.
    pub scale: u8,
    /// The uniform register.
    pub uniform: Option<u8>,
    /// The constant distance, in bytes.
    pub offset: i32,
}

/// Factors of a product of four warps that lie in shared memory: `gdesc[UR4].tnspB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Factors {
    /// The uniform register with the descriptor of the left factor; that of the right one is two registers further on.
    pub register: u8,
    /// `.negA`, `.negB`.
    pub negated: [bool; 2],
    /// `.tnspA`, `.tnspB`.
    pub transposed: [bool; 2],
}

/// A place in a bank of constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// The bank.
    pub bank: u8,
    /// A register that is added to the offset.
    pub index: Option<Register>,
    /// The distance in bytes.
    pub offset: i32,
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A general register.
    Register(Register, Changes),
    /// A predicate.
    Predicate(Predicate),
    /// All predicates of a thread at once: `PR`; of a warp: `UPR`.
    Predicates {
        /// Those of the warp.
        is_uniform: bool,
    },
    /// A constant: an integer, as two's complement; a float; the upper half of a double; or two halves.
    Immediate(u32),
    /// A constant of a bank.
    Constant(Constant, Changes),
    /// An address of memory.
    Address(Address),
    /// A register of the threads that meet: B0.
    Convergence(u8),
    /// A special register, as its name's place in [`super::special::NAMES`].
    Special(u8),
    /// An address of code, in bytes from the start of the function.
    Target(i64),
    /// An address of another function's code: its place in [`super::instruction::Function::callees`].
    Callee(u32),
    /// A barrier of results on their way: SB0.
    Scoreboard(u8),
    /// Factors in shared memory.
    Factors(Factors),
    /// The barrier of products of four warps: `gsb0`.
    GroupScoreboard,
}
