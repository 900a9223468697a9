//! LLVM's flags of an opcode and of an instruction, as they cross the C ABI.

use bitflags::bitflags;

bitflags! {
    /// Flags of LLVM's instruction descriptor; `NVPTX_RA_DESC_*` in `nvptx_ra.h`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct DescFlags: u32 {
        /// May read memory.
        const LOAD = 1;
        /// May write memory.
        const STORE = 2;
        /// Side effects that the descriptor does not model. LLVM also sets this flag for opcodes that only lack a
        /// pattern.
        const SIDE_EFFECTS = 4;
        /// Convergent.
        const CONVERGENT = 8;
        /// A call.
        const CALL = 16;
        /// Ends a block.
        const TERMINATOR = 32;
        /// Emits no machine code.
        const META = 64;
        /// Inline assembly.
        const INLINE_ASM = 128;
    }
}

bitflags! {
    /// LLVM's flags of one instruction, in addition to its descriptor; `NVPTX_RA_INST_*` in `nvptx_ra.h`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct InstFlags: u32 {
        /// Volatile or atomic. LLVM also sets this flag for every memory instruction without a memory operand.
        const ORDERED = 1;
        /// Loads memory that does not change.
        const INVARIANT = 2;
        /// Inside a call sequence: between the declaration of a call's parameters and its return value.
        const CALL_SEQUENCE = 4;
        /// Inline assembly with side effects.
        const ASM_EFFECTS = 8;
        /// Inline assembly that may read or write memory.
        const ASM_MEMORY = 16;
        /// Convergent.
        const CONVERGENT = 32;
        /// May read memory.
        const LOAD = 64;
        /// May write memory.
        const STORE = 128;
        /// Reads memory that LLVM knows to be dereferenceable.
        const DEREFERENCEABLE = 256;
    }
}
