//! Opcodes of generated functions: real ones of NVPTX, with the properties that a generator needs.

use std::sync::{Arc, LazyLock};

use crate::function::{Effects, MemorySpace, OpcodeTable, RegClass, Role};

/// Kinds of operands that are not definitions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// A register that is read.
    Reg(RegClass),
    /// Any integer.
    Immediate,
    /// This integer: a modifier of the opcode.
    Fixed(i64),
    /// The bits of a float.
    Float,
    /// A symbol.
    Symbol,
    /// A stack slot.
    Slot,
}

/// A template of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template {
    pub(super) name: &'static str,
    pub(super) role: Role,
    pub(super) defs: &'static [RegClass],
    pub(super) uses: &'static [Use],
    pub(super) effects: Effects,
    pub(super) space: MemorySpace,
}

use RegClass::{B1, B16, B32, B64, B128};
use Use::{Fixed, Float, Immediate, Reg, Slot, Symbol};

const fn pure(name: &'static str, role: Role, defs: &'static [RegClass], uses: &'static [Use]) -> Template {
    Template { name, role, defs, uses, effects: Effects::empty(), space: MemorySpace::Generic }
}

const fn memory(
    name: &'static str,
    defs: &'static [RegClass],
    uses: &'static [Use],
    effects: Effects,
    space: MemorySpace,
) -> Template {
    Template { name, role: Role::Other, defs, uses, effects, space }
}

const fn half(index: u8) -> Role {
    Role::Extract { index, parts: 2 }
}

/// Constants, one for each class that has one.
pub(super) const CONSTANTS: &[Template] = &[
    pure("MOV_B32_i", Role::Constant, &[B32], &[Immediate]),
    pure("MOV_B1_i", Role::Constant, &[B1], &[Immediate]),
    pure("MOV_B16_i", Role::Constant, &[B16], &[Immediate]),
    pure("MOV_B64_i", Role::Constant, &[B64], &[Immediate]),
    pure("MOV_F32_i", Role::Constant, &[B32], &[Float]),
    pure("MOV_F64_i", Role::Constant, &[B64], &[Float]),
    pure("MOV_B32_sym", Role::Constant, &[B32], &[Symbol]),
    pure("MOV_B64_sym", Role::Constant, &[B64], &[Symbol]),
];

/// Copies within a class.
pub(super) const COPIES: &[Template] = &[
    pure("COPY", Role::Copy, &[B32], &[Reg(B32)]),
    pure("COPY", Role::Copy, &[B64], &[Reg(B64)]),
    pure("COPY", Role::Copy, &[B1], &[Reg(B1)]),
    pure("COPY", Role::Copy, &[B16], &[Reg(B16)]),
    pure("COPY", Role::Copy, &[B128], &[Reg(B128)]),
    pure("MOV_B32_r", Role::Copy, &[B32], &[Reg(B32)]),
    pure("MOV_B64_r", Role::Copy, &[B64], &[Reg(B64)]),
];

/// Packs, unpacks and extracts.
pub(super) const PARTS: &[Template] = &[
    pure("V2I32toI64", Role::Pack, &[B64], &[Reg(B32), Reg(B32)]),
    pure("I64toV2I32", Role::Unpack, &[B32, B32], &[Reg(B64)]),
    pure("I64toI32L", half(0), &[B32], &[Reg(B64)]),
    pure("I64toI32H", half(1), &[B32], &[Reg(B64)]),
    pure("V2I16toI32", Role::Pack, &[B32], &[Reg(B16), Reg(B16)]),
    pure("I32toV2I16", Role::Unpack, &[B16, B16], &[Reg(B32)]),
    pure("I32toI16L", half(0), &[B16], &[Reg(B32)]),
    pure("I32toI16H", half(1), &[B16], &[Reg(B32)]),
    pure("V4I16toI64", Role::Pack, &[B64], &[Reg(B16), Reg(B16), Reg(B16), Reg(B16)]),
    pure("I64toV4I16", Role::Unpack, &[B16, B16, B16, B16], &[Reg(B64)]),
    pure("V2I64toI128", Role::Pack, &[B128], &[Reg(B64), Reg(B64)]),
    pure("I128toV2I64", Role::Unpack, &[B64, B64], &[Reg(B128)]),
];

/// Pure functions of registers and immediates.
pub(super) const ARITHMETIC: &[Template] = &[
    pure("ADD32rr", Role::Other, &[B32], &[Reg(B32), Reg(B32)]),
    pure("ADD32ri", Role::Other, &[B32], &[Reg(B32), Immediate]),
    pure("MAD_LO_S32rrr", Role::Other, &[B32], &[Reg(B32), Reg(B32), Reg(B32)]),
    pure("FMA_F32rrr", Role::Other, &[B32], &[Reg(B32), Reg(B32), Reg(B32), Fixed(0)]),
    pure("ADD64rr", Role::Other, &[B64], &[Reg(B64), Reg(B64)]),
    pure("MUL_WIDEs32_ri", Role::Other, &[B64], &[Reg(B32), Immediate]),
    pure("ADD16rr", Role::Other, &[B16], &[Reg(B16), Reg(B16)]),
    pure("SETP_i32rr", Role::Other, &[B1], &[Reg(B32), Reg(B32), Fixed(4)]),
    pure("SETP_i64rr", Role::Other, &[B1], &[Reg(B64), Reg(B64), Fixed(2)]),
    pure("AND_predrr", Role::Other, &[B1], &[Reg(B1), Reg(B1)]),
    pure("SELP_b32rr", Role::Other, &[B32], &[Reg(B32), Reg(B32), Reg(B1)]),
    pure("SELP_b64rr", Role::Other, &[B64], &[Reg(B64), Reg(B64), Reg(B1)]),
    pure("CVT_u32_u64", Role::Other, &[B32], &[Reg(B64), Fixed(0)]),
    pure("CVT_u32_u16", Role::Other, &[B32], &[Reg(B16), Fixed(0)]),
    pure("LEA_ADDRi64", Role::Other, &[B64], &[Slot, Fixed(0)]),
    pure("IMPLICIT_DEF", Role::Undef, &[B32], &[]),
];

/// A load and a store of 32 bits, by LLVM's number of the memory space.
macro_rules! load {
    ($space:ident, $number:literal) => {
        memory("LD_i32", &[B32], &[Fixed(0), Fixed($number), Reg(B64), Immediate], Effects::READ, MemorySpace::$space)
    };
}
macro_rules! store {
    ($space:ident, $number:literal) => {
        memory(
            "ST_i32",
            &[],
            &[Reg(B32), Fixed(0), Fixed($number), Reg(B64), Immediate],
            Effects::WRITE,
            MemorySpace::$space,
        )
    };
}

/// Loads, stores, and other instructions with effects.
pub(super) const EFFECTFUL: &[Template] = &[
    load!(Generic, 0),
    store!(Generic, 0),
    load!(Local, 5),
    store!(Local, 5),
    load!(SharedCluster, 7),
    store!(SharedCluster, 7),
    load!(Param, 101),
    store!(Param, 101),
    load!(Shared, 3),
    store!(Shared, 3),
    memory("LD_i32", &[B32], &[Fixed(0), Fixed(1), Reg(B64), Immediate], Effects::READ, MemorySpace::Global),
    memory("ST_i32", &[], &[Reg(B32), Fixed(0), Fixed(1), Reg(B64), Immediate], Effects::WRITE, MemorySpace::Global),
    memory("LD_i64", &[B64], &[Fixed(0), Fixed(3), Reg(B32), Immediate], Effects::READ, MemorySpace::Shared),
    memory("ST_i64", &[], &[Reg(B64), Fixed(0), Fixed(3), Reg(B32), Immediate], Effects::WRITE, MemorySpace::Shared),
    memory("ST_i16", &[], &[Reg(B16), Fixed(0), Fixed(5), Slot, Fixed(0)], Effects::WRITE, MemorySpace::Local),
    memory("LDV_i32_v2", &[B32, B32], &[Fixed(0), Fixed(1), Reg(B64)], Effects::READ, MemorySpace::Global),
    memory("STV_i32_v2", &[], &[Reg(B32), Reg(B32), Fixed(1), Reg(B64)], Effects::WRITE, MemorySpace::Global),
    memory(
        "INT_PTX_ATOM_ADD_32r",
        &[B32],
        &[Reg(B64), Reg(B32)],
        Effects::READ.union(Effects::WRITE).union(Effects::ORDERED),
        MemorySpace::Global,
    ),
    memory(
        "BARRIER_CTA_SYNC_ALL_i",
        &[],
        &[Fixed(0)],
        Effects::ORDERED.union(Effects::CONVERGENT),
        MemorySpace::Generic,
    ),
    memory(
        "INT_PTX_ATOM_ADD_32_Sr",
        &[B32],
        &[Reg(B32), Reg(B32)],
        Effects::READ.union(Effects::WRITE).union(Effects::ORDERED),
        MemorySpace::Shared,
    ),
    memory("atomic_thread_fence_seq_cst_gpu", &[], &[], Effects::OPAQUE, MemorySpace::Generic),
    memory("SREG_CLOCK", &[B32], &[], Effects::ORDERED, MemorySpace::Generic),
    memory(
        "SULD_1D_I32_TRAP_R",
        &[B32],
        &[Reg(B64), Reg(B32)],
        Effects::READ.union(Effects::TRAP),
        MemorySpace::Global,
    ),
    memory(
        "SUST_B_1D_I32_TRAP_R",
        &[],
        &[Reg(B64), Reg(B32), Reg(B32)],
        Effects::WRITE.union(Effects::TRAP),
        MemorySpace::Global,
    ),
    memory("ANNOTATION_LABEL", &[], &[Symbol], Effects::META, MemorySpace::Generic),
    // Pure, but may fault, so it cannot be speculated.
    memory("LD_GLOBAL_NC_i32", &[B32], &[Reg(B64), Immediate], Effects::MAY_FAULT, MemorySpace::Global),
    memory("LD_i32", &[B32], &[Fixed(0), Fixed(4), Reg(B64), Immediate], Effects::MAY_FAULT, MemorySpace::Constant),
    memory("LDU_GLOBAL_i32", &[B32], &[Reg(B64), Immediate], Effects::MAY_FAULT, MemorySpace::Global),
    memory("SHFL_SYNC_IDX_rrr", &[B32], &[Reg(B32), Reg(B32), Reg(B32)], Effects::CONVERGENT, MemorySpace::Generic),
];

/// A call, from the declaration of its parameters to its return value.
pub(super) const CALL: &[Template] = &[
    call("Callseq_Start", &[], &[Fixed(0), Fixed(0)]),
    call("DECLARE_PARAM_scalar", &[], &[Fixed(0), Fixed(32)]),
    call("ST_i32", &[], &[Reg(B32), Fixed(0), Fixed(101), Symbol, Fixed(0)]),
    call("CALL", &[], &[Symbol, Fixed(1)]),
    call("LD_i32", &[B32], &[Fixed(0), Fixed(101), Symbol, Fixed(0)]),
    call("Callseq_End", &[], &[Fixed(0), Fixed(0)]),
];

const fn call(name: &'static str, defs: &'static [RegClass], uses: &'static [Use]) -> Template {
    memory(name, defs, uses, Effects::CALL_SEQUENCE, MemorySpace::Generic)
}

/// Opcodes without a template, whose operands the generator builds itself.
const SPECIAL: &[(&str, Role)] = &[
    ("PHI", Role::Phi),
    ("DBG_VALUE", Role::Debug),
    ("INLINEASM", Role::Other),
    ("CBranch", Role::Other),
    ("GOTO", Role::Other),
    ("BRX_START", Role::Other),
    ("BRX_ITEM", Role::Other),
    ("BRX_END", Role::Other),
    ("Return", Role::Other),
    ("MOV_B128_r", Role::Copy),
    ("MOV_B16_r", Role::Copy),
    ("MOV_B1_r", Role::Copy),
];

/// Returns the opcodes of generated functions, and all moves of NVPTX, so that edits can insert any move.
pub fn opcode_table() -> Arc<OpcodeTable> {
    static TABLE: LazyLock<Arc<OpcodeTable>> = LazyLock::new(|| {
        let mut table = OpcodeTable::new();
        for template in [CONSTANTS, COPIES, PARTS, ARITHMETIC, EFFECTFUL, CALL].into_iter().flatten() {
            table.intern(template.name, template.role);
        }
        for &(name, role) in SPECIAL {
            table.intern(name, role);
        }
        Arc::new(table)
    });
    Arc::clone(&TABLE)
}
