//! The classification of an opcode, as far as its name determines it.

use std::ops::Range;

use crate::function::{Effects, MemorySpace, RegClass, Role};

/// The kind of copy that an opcode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CopyFamily {
    /// LLVM's generic `COPY`: any class, which on NVPTX is the same on both sides.
    Copy,
    /// A PTX `mov` within a class.
    Move,
    /// A `mov` of an immediate.
    Immediate,
    /// A `mov` of the address of a global, a function, a texture, a surface or a sampler.
    Symbol,
    /// A `mov` of the address of a parameter of the function itself.
    Parameter,
    /// A read of a special register (`%tid.x`, `%clock`, an environment register).
    SpecialRegister,
    /// The address of the function's stack frame.
    StackAddress,
    /// The address of a stack slot before frame indices are resolved; in general a base plus an offset.
    FrameAddress,
    /// An integer widening or truncation, which moves the low bits into another class.
    CrossClass,
    /// A pack of several registers into a wider register.
    Pack,
    /// An unpack of a register into all its parts.
    Unpack,
    /// One half of a register.
    Extract,
    /// A conversion between an address space and the generic one, or between spaces (`cvta`).
    AddressSpace,
    /// A copy that keeps a call's results separate from their uses until selection is done.
    Proxy,
    /// The frame of a call: declarations of its parameters, the call, its prototype, its begin and end. `LD_*` and
    /// `ST_*` with the space [`MemorySpace::Param`] transfer the values.
    Abi,
    /// A known opcode that is not a copy.
    NotCopy,
    /// An opcode that is unknown by name. Only LLVM's descriptor describes it.
    Opaque,
}

/// The effects of an opcode, as PTX defines them. LLVM's descriptor may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purity {
    /// A function of its register and immediate operands.
    Pure,
    /// Reads memory that nothing changes while the kernel runs (`ld.global.nc`, `ldu`).
    ReadsInvariant,
    /// Reads memory.
    Reads,
    /// Reads memory; traps if the address is out of bounds (`suld….trap`).
    ReadsOrTraps,
    /// Writes memory.
    Writes,
    /// Writes memory; traps if the address is out of bounds (`sust….trap`).
    WritesOrTraps,
    /// Reads and writes memory, or sends a request to the memory system (asynchronous copies, prefetches).
    ReadsAndWrites,
    /// Exchanges values between the threads of a warp. Neither accesses nor orders memory.
    Exchange,
    /// A read-modify-write, which keeps its order.
    Atomic,
    /// Reads a value that changes independently of the program (`%clock`, `%smid`). Keeps its order, and is never
    /// duplicated or merged.
    Volatile,
    /// Fences, barriers, and state outside the view's registers (the carry flag, the stack pointer, asynchronous
    /// groups).
    Opaque,
    /// Ends the thread or the kernel, or stops for a debugger.
    Trap,
    /// Ends a block.
    Terminator,
    /// A call.
    Call,
    /// Belongs to a call's frame.
    CallSequence,
    /// Emits no machine code and keeps its position.
    Meta,
    /// Inline assembly: the effects come from the instruction's flags.
    InlineAsm,
    /// Unknown by name: the effects come from LLVM's descriptor.
    Unknown,
}

impl Purity {
    /// Returns the effects of an instruction about which nothing else is known. For [`InlineAsm`](Self::InlineAsm) and
    /// [`Unknown`](Self::Unknown), the most general effects.
    pub fn effects(self) -> Effects {
        match self {
            Self::Pure => Effects::empty(),
            Self::ReadsInvariant => Effects::MAY_FAULT,
            Self::Reads => Effects::READ,
            Self::ReadsOrTraps => Effects::READ | Effects::TRAP,
            Self::Writes => Effects::WRITE,
            Self::WritesOrTraps => Effects::WRITE | Effects::TRAP,
            Self::ReadsAndWrites => Effects::READ | Effects::WRITE,
            Self::Exchange => Effects::CONVERGENT,
            Self::Atomic => Effects::READ | Effects::WRITE | Effects::ORDERED,
            Self::Volatile => Effects::ORDERED,
            Self::Opaque => Effects::OPAQUE,
            Self::Trap | Self::InlineAsm | Self::Unknown => Effects::OPAQUE | Effects::TRAP,
            Self::Terminator => Effects::TERMINATOR,
            Self::Call => Effects::OPAQUE | Effects::TRAP | Effects::CALL_SEQUENCE,
            Self::CallSequence => Effects::CALL_SEQUENCE,
            Self::Meta => Effects::META,
        }
    }
}

/// The cost of rematerialising a value, in hardware instructions. Register operands must still be live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RematCost(pub u8);

/// Whether all threads of a warp receive the same value from an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Uniformity {
    /// Always the same.
    Uniform,
    /// The same if the operands are the same.
    Propagates,
    /// May differ even if the operands are the same.
    Divergent,
}

/// The positions of a copy's registers among its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyOperands {
    /// The written operands.
    pub defs: Range<u8>,
    /// The copied operands; for constants, the immediate or symbol.
    pub uses: Range<u8>,
}

/// The classification of one opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpcodeInfo {
    /// The kind of copy.
    pub family: CopyFamily,
    /// The class of the definitions, for a copy whose class is fixed.
    pub dst: Option<RegClass>,
    /// The class of the copied registers, for a copy whose class is fixed.
    pub src: Option<RegClass>,
    /// Whether the copy can be removed by merging its registers. Copies of 128-bit registers are kept.
    pub coalesces: bool,
    /// The effects beyond registers.
    pub purity: Purity,
    /// The cost of rematerialisation, if rematerialisation gives the same value and is worthwhile.
    pub remat: Option<RematCost>,
    /// Whether the result depends on the set of threads that execute the instruction together.
    pub convergent: bool,
    /// Whether the instruction, although it is pure and not a load, may fault or return any value on a path on which a
    /// branch prevents its execution.
    pub guarded: bool,
    /// The memory that the instruction accesses; for [`CopyFamily::AddressSpace`], the space that it converts from or
    /// to. `None` if the name does not fix it.
    pub space: Option<MemorySpace>,
    /// Whether the value is the same in all threads of a warp.
    pub uniformity: Uniformity,
    /// Whether the uniform datapath, which computes once for all threads of a warp, has the operation: moves, and
    /// integer arithmetic. From sm_100 on, the uniform datapath has more operations.
    pub has_uniform_form: bool,
    role: Role,
    parts: u8,
}

impl OpcodeInfo {
    /// The classification of an unknown opcode.
    pub const UNKNOWN: Self = Self::new(CopyFamily::Opaque, Purity::Unknown, Uniformity::Divergent);

    /// A pure function of its operands that is not a copy.
    pub(super) const PURE: Self = Self::other(Purity::Pure);

    const fn new(family: CopyFamily, purity: Purity, uniformity: Uniformity) -> Self {
        Self {
            family,
            dst: None,
            src: None,
            coalesces: false,
            purity,
            remat: None,
            convergent: false,
            guarded: false,
            space: None,
            uniformity,
            has_uniform_form: false,
            role: Role::Other,
            parts: 1,
        }
    }

    /// Creates a classification of an opcode that is not a copy. Pure opcodes give uniform results for uniform
    /// operands. The results of all other opcodes may be divergent.
    pub(super) const fn other(purity: Purity) -> Self {
        let uniformity = match purity {
            Purity::Pure => Uniformity::Propagates,
            _ => Uniformity::Divergent,
        };
        Self::new(CopyFamily::NotCopy, purity, uniformity)
    }

    /// Creates a pure copy whose definitions and sources each have one class.
    pub(super) const fn copy(family: CopyFamily, dst: RegClass, src: Option<RegClass>) -> Self {
        Self { dst: Some(dst), src, ..Self::new(family, Purity::Pure, Uniformity::Propagates).with_uniform_form() }
    }

    /// Creates `def = use`. The class may be fixed.
    pub(super) const fn same_class(family: CopyFamily, class: Option<RegClass>) -> Self {
        let coalesces = !matches!(class, Some(RegClass::B128));
        let info = Self::new(family, Purity::Pure, Uniformity::Propagates).with_uniform_form();
        Self { dst: class, src: class, coalesces, role: Role::Copy, ..info }
    }

    /// Creates `def = immediate or symbol`.
    pub(super) const fn constant(family: CopyFamily, dst: RegClass, cost: u8) -> Self {
        Self { role: Role::Constant, ..Self::copy(family, dst, None).uniform() }.remat(cost)
    }

    /// Creates a special register whose value is constant while the thread runs.
    pub(super) const fn special(uniformity: Uniformity) -> Self {
        Self { uniformity, ..Self::copy(CopyFamily::SpecialRegister, RegClass::B32, None) }.remat(1)
    }

    /// Creates a special register whose value changes: a second read may return another value.
    pub(super) const fn volatile(dst: RegClass, uniformity: Uniformity) -> Self {
        let purity = Purity::Volatile;
        Self { purity, uniformity, ..Self::copy(CopyFamily::SpecialRegister, dst, None) }
    }

    /// Creates `def = {use, …}`, lowest part first.
    pub(super) const fn pack(dst: RegClass, src: RegClass, parts: u8) -> Self {
        let coalesces = !matches!(dst, RegClass::B128);
        Self { coalesces, role: Role::Pack, parts, ..Self::copy(CopyFamily::Pack, dst, Some(src)) }
    }

    /// Creates `{def, …} = use`, lowest part first.
    pub(super) const fn unpack(dst: RegClass, src: RegClass, parts: u8) -> Self {
        let coalesces = !matches!(src, RegClass::B128);
        Self { coalesces, role: Role::Unpack, parts, ..Self::copy(CopyFamily::Unpack, dst, Some(src)) }
    }

    /// Creates `def = half INDEX of use`.
    pub(super) const fn half(dst: RegClass, src: RegClass, index: u8) -> Self {
        let role = Role::Extract { index, parts: 2 };
        Self { coalesces: true, role, ..Self::copy(CopyFamily::Extract, dst, Some(src)) }
    }

    /// Returns the classification with a role.
    pub(super) const fn role_of(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// Returns the classification with another family.
    pub(super) const fn family(self, family: CopyFamily) -> Self {
        Self { family, ..self }
    }

    /// Returns the classification with a cost of rematerialisation.
    pub(super) const fn remat(self, cost: u8) -> Self {
        Self { remat: Some(RematCost(cost)), ..self }
    }

    /// Returns the classification with a form for the uniform datapath.
    pub(super) const fn with_uniform_form(self) -> Self {
        Self { has_uniform_form: true, ..self }
    }

    /// Returns the classification as convergent.
    pub(super) const fn collective(self) -> Self {
        Self { convergent: true, uniformity: Uniformity::Divergent, ..self }
    }

    /// Returns the classification as guarded: the instruction may execute only on paths on which the program executes
    /// it.
    pub(super) const fn guarded(self) -> Self {
        Self { guarded: true, ..self }
    }

    /// Returns the classification with a memory space.
    pub(super) const fn within(self, space: MemorySpace) -> Self {
        Self { space: Some(space), ..self }
    }

    /// Returns the classification with one value for all threads.
    pub(super) const fn uniform(self) -> Self {
        Self { uniformity: Uniformity::Uniform, ..self }
    }

    /// Returns the classification as uniform if the operands are uniform.
    pub(super) const fn propagating(self) -> Self {
        Self { uniformity: Uniformity::Propagates, ..self }
    }

    /// Returns the opcode's role, which passes use to follow values.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the positions of a copy's registers among its operands. `None` if the opcode does not copy operands.
    pub fn copy_operands(&self) -> Option<CopyOperands> {
        match self.family {
            CopyFamily::SpecialRegister
            | CopyFamily::FrameAddress
            | CopyFamily::Abi
            | CopyFamily::NotCopy
            | CopyFamily::Opaque => None,
            CopyFamily::Pack => Some(CopyOperands { defs: 0..1, uses: 1..1 + self.parts }),
            CopyFamily::Unpack => Some(CopyOperands { defs: 0..self.parts, uses: self.parts..self.parts + 1 }),
            _ => Some(CopyOperands { defs: 0..1, uses: 1..2 }),
        }
    }
}
