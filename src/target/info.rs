//! What an opcode is, as far as its name tells.

use std::ops::Range;

use crate::function::{Effects, MemorySpace, RegClass, Role};

/// Which kind of copy an opcode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CopyFamily {
    /// LLVM's generic `COPY`: any class, the same on both sides on NVPTX.
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
    /// A stack slot's address before frame indices are resolved; in general a base plus an offset.
    FrameAddress,
    /// Integer widening or truncation, which moves the low bits into another class.
    CrossClass,
    /// Several registers put together into a wider one.
    Pack,
    /// A register taken apart into all its parts.
    Unpack,
    /// One half of a register.
    Extract,
    /// A conversion between an address space and the generic one, or between spaces (`cvta`).
    AddressSpace,
    /// A copy that keeps a call's results apart from their uses until selection is done.
    Proxy,
    /// The frame of a call: declarations of its parameters, the call, its prototype, its begin and end. The values
    /// themselves travel in `LD_*` and `ST_*` with the space [`MemorySpace::Param`].
    Abi,
    /// Known, and not a copy.
    NotCopy,
    /// Not known by name: LLVM's descriptor alone says what it does.
    Opaque,
}

/// What an opcode does beyond registers, as PTX defines it and not as LLVM's descriptor claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purity {
    /// A function of its register and immediate operands.
    Pure,
    /// Reads memory that nothing changes while the kernel runs (`ld.global.nc`, `ldu`).
    ReadsInvariant,
    /// Reads memory.
    Reads,
    /// Reads memory; traps where the address is out of bounds (`suld….trap`).
    ReadsOrTraps,
    /// Writes memory.
    Writes,
    /// Writes memory; traps where the address is out of bounds (`sust….trap`).
    WritesOrTraps,
    /// Reads and writes memory, or asks the memory system for something (asynchronous copies, prefetches).
    ReadsAndWrites,
    /// Exchanges values between the threads of a warp; touches no memory and orders none.
    Exchange,
    /// A read-modify-write that keeps its order.
    Atomic,
    /// Reads something that changes by itself (`%clock`, `%smid`): keeps its order, never duplicated or merged.
    Volatile,
    /// Fences, barriers, state that registers do not show (the carry flag, the stack pointer, asynchronous groups).
    Opaque,
    /// Ends the thread or the kernel, or stops for a debugger.
    Trap,
    /// Ends a block.
    Terminator,
    /// A call.
    Call,
    /// Belongs to a call's frame.
    CallSequence,
    /// Emits no machine code and keeps its place.
    Meta,
    /// Inline assembly: the instruction's flags tell.
    InlineAsm,
    /// Not known by name: LLVM's descriptor tells.
    Unknown,
}

impl Purity {
    /// The effects of an instruction about which no more than this is known. For [`InlineAsm`](Self::InlineAsm) and
    /// [`Unknown`](Self::Unknown), the worst.
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

/// What computing a value again costs, in instructions of the hardware. Register operands must still be at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RematCost(pub u8);

/// Whether all threads of a warp get the same value from an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Uniformity {
    /// Always the same.
    Uniform,
    /// The same where the operands are the same.
    Propagates,
    /// May differ even where the operands are the same.
    Divergent,
}

/// Where a copy's registers stand among its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyOperands {
    /// Operands written.
    pub defs: Range<u8>,
    /// Operands whose value is copied; for constants, the immediate or symbol.
    pub uses: Range<u8>,
}

/// The classification of one opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpcodeInfo {
    /// Which kind of copy it is.
    pub family: CopyFamily,
    /// The class of its definitions, of a copy whose class is fixed.
    pub dst: Option<RegClass>,
    /// The class of the registers copied, of a copy whose class is fixed.
    pub src: Option<RegClass>,
    /// Whether merging its registers can remove it. 128-bit registers are left alone.
    pub coalesces: bool,
    /// What it does beyond registers.
    pub purity: Purity,
    /// The cost of computing its value again, where that gives the same value and is worth considering.
    pub remat: Option<RematCost>,
    /// Whether the set of threads that execute it together matters.
    pub convergent: bool,
    /// Whether it may fault, or give anything, where a branch ahead of it does not let it run, though it is pure and no
    /// load.
    pub guarded: bool,
    /// The memory that it accesses, or for [`CopyFamily::AddressSpace`] the space converted from or to, where the name
    /// fixes it.
    pub space: Option<MemorySpace>,
    /// Whether its value is the same in all threads of a warp.
    pub uniformity: Uniformity,
    /// Whether the uniform datapath, which computes once for all threads of a warp, can do it: moves, and arithmetic of
    /// integers. From sm_100 on it can do more.
    pub has_uniform_form: bool,
    role: Role,
    parts: u8,
}

impl OpcodeInfo {
    /// An opcode that is not known.
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

    /// Not a copy. What is pure gives uniform results for uniform operands; of the rest nothing is claimed.
    pub(super) const fn other(purity: Purity) -> Self {
        let uniformity = match purity {
            Purity::Pure => Uniformity::Propagates,
            _ => Uniformity::Divergent,
        };
        Self::new(CopyFamily::NotCopy, purity, uniformity)
    }

    /// A pure copy whose definitions and sources have one class each.
    pub(super) const fn copy(family: CopyFamily, dst: RegClass, src: Option<RegClass>) -> Self {
        Self { dst: Some(dst), src, ..Self::new(family, Purity::Pure, Uniformity::Propagates).with_uniform_form() }
    }

    /// `def = use`, within a class that is fixed or not.
    pub(super) const fn same_class(family: CopyFamily, class: Option<RegClass>) -> Self {
        let coalesces = !matches!(class, Some(RegClass::B128));
        let info = Self::new(family, Purity::Pure, Uniformity::Propagates).with_uniform_form();
        Self { dst: class, src: class, coalesces, role: Role::Copy, ..info }
    }

    /// `def = immediate or symbol`.
    pub(super) const fn constant(family: CopyFamily, dst: RegClass, cost: u8) -> Self {
        Self { role: Role::Constant, ..Self::copy(family, dst, None).uniform() }.remat(cost)
    }

    /// A special register that keeps its value while the thread runs.
    pub(super) const fn special(uniformity: Uniformity) -> Self {
        Self { uniformity, ..Self::copy(CopyFamily::SpecialRegister, RegClass::B32, None) }.remat(1)
    }

    /// A special register that changes by itself: a second read may give another value.
    pub(super) const fn volatile(dst: RegClass, uniformity: Uniformity) -> Self {
        let purity = Purity::Volatile;
        Self { purity, uniformity, ..Self::copy(CopyFamily::SpecialRegister, dst, None) }
    }

    /// `def = {use, …}`, lowest part first.
    pub(super) const fn pack(dst: RegClass, src: RegClass, parts: u8) -> Self {
        let coalesces = !matches!(dst, RegClass::B128);
        Self { coalesces, role: Role::Pack, parts, ..Self::copy(CopyFamily::Pack, dst, Some(src)) }
    }

    /// `{def, …} = use`, lowest part first.
    pub(super) const fn unpack(dst: RegClass, src: RegClass, parts: u8) -> Self {
        let coalesces = !matches!(src, RegClass::B128);
        Self { coalesces, role: Role::Unpack, parts, ..Self::copy(CopyFamily::Unpack, dst, Some(src)) }
    }

    /// `def = half INDEX of use`.
    pub(super) const fn half(dst: RegClass, src: RegClass, index: u8) -> Self {
        let role = Role::Extract { index, parts: 2 };
        Self { coalesces: true, role, ..Self::copy(CopyFamily::Extract, dst, Some(src)) }
    }

    /// The same with a role.
    pub(super) const fn role_of(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The same, of another family.
    pub(super) const fn family(self, family: CopyFamily) -> Self {
        Self { family, ..self }
    }

    /// The same, rematerialisable.
    pub(super) const fn remat(self, cost: u8) -> Self {
        Self { remat: Some(RematCost(cost)), ..self }
    }

    /// The same, on the uniform datapath, too.
    pub(super) const fn with_uniform_form(self) -> Self {
        Self { has_uniform_form: true, ..self }
    }

    /// The same, convergent.
    pub(super) const fn collective(self) -> Self {
        Self { convergent: true, uniformity: Uniformity::Divergent, ..self }
    }

    /// The same, only to be run where the program runs it.
    pub(super) const fn guarded(self) -> Self {
        Self { guarded: true, ..self }
    }

    /// The same, in a memory space.
    pub(super) const fn within(self, space: MemorySpace) -> Self {
        Self { space: Some(space), ..self }
    }

    /// The same, with one value for all threads.
    pub(super) const fn uniform(self) -> Self {
        Self { uniformity: Uniformity::Uniform, ..self }
    }

    /// The same, uniform where its operands are.
    pub(super) const fn propagating(self) -> Self {
        Self { uniformity: Uniformity::Propagates, ..self }
    }

    /// What the opcode means to a reader who follows values.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Where a copy's registers stand among its operands; `None` for what is not a copy of operands.
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
