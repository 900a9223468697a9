//! Loads, stores, atomics, prefetches, asynchronous copies, the stack.

use super::super::info::{OpcodeInfo, Purity};
use super::{Rule, rule};
use crate::function::MemorySpace::{Constant, Generic, Global, Local, Param, Shared, SharedCluster};

const READS: OpcodeInfo = OpcodeInfo::other(Purity::Reads);
const WRITES: OpcodeInfo = OpcodeInfo::other(Purity::Writes);
const READS_AND_WRITES: OpcodeInfo = OpcodeInfo::other(Purity::ReadsAndWrites);
const INVARIANT: OpcodeInfo = OpcodeInfo::other(Purity::ReadsInvariant).within(Global);
const ATOMIC: OpcodeInfo = OpcodeInfo::other(Purity::Atomic);
const OPAQUE: OpcodeInfo = OpcodeInfo::other(Purity::Opaque);

pub(super) const RULES: &[Rule] = &[
    // The space is an operand of the instruction.
    rule("LD_i{16,32,64} LDV_i{16,64}_v{2,4} LDV_i32_v{2,4,8}", READS),
    rule("ST_i{16,32,64} STV_i{16,64}_v{2,4} STV_i32_v{2,4,8}", WRITES),
    // Read-only for the whole kernel by the rules of PTX: memory that ld.global.nc and ldu read may not be written
    // while the kernel runs.
    rule("LD_GLOBAL_NC_i{16,32,64} LD_GLOBAL_NC_v{2,4}i{16,32,64} LD_GLOBAL_NC_v8i32", INVARIANT),
    rule("LDU_GLOBAL_i{16,32,64} LDU_GLOBAL_v2i{16,32,64} LDU_GLOBAL_v4i{16,32}", INVARIANT.propagating()),
    rule(
        "INT_PTX_ATOM_{ADD,AND,OR,XOR,SWAP}_{32,64}_GEN{i,r} INT_PTX_ATOM_ADD_{F16,BF16}_GENr \
         INT_PTX_ATOM_ADD_F{32,64}_GEN{i,r} INT_PTX_ATOM_{INC,DEC}_32_GEN{i,r} \
         INT_PTX_ATOMIC_{MAX,MIN,UMAX,UMIN}_{32,64}_GEN{i,r} \
         INT_PTX_SATOM_ADD_{f16,bf16}_{cta,sys}genr INT_PTX_SATOM_ADD_{f32,f64,s32,u32,u64}_{cta,sys}gen{i,r} \
         INT_PTX_SATOM_{AND,OR,XOR,EXCH}_b{32,64}_{cta,sys}gen{i,r} INT_PTX_SATOM_{INC,DEC}_u32_{cta,sys}gen{i,r} \
         INT_PTX_SATOM_{MAX,MIN}_{s,u}{32,64}_{cta,sys}gen{i,r}",
        ATOMIC.within(Generic),
    ),
    rule(
        "INT_PTX_ATOM_{ADD,AND,OR,XOR,SWAP}_{32,64}_G{i,r} INT_PTX_ATOM_ADD_{F16,BF16}_Gr \
         INT_PTX_ATOM_ADD_F{32,64}_G{i,r} INT_PTX_ATOM_{INC,DEC}_32_G{i,r} \
         INT_PTX_ATOMIC_{MAX,MIN,UMAX,UMIN}_{32,64}_G{i,r}",
        ATOMIC.within(Global),
    ),
    rule(
        "INT_PTX_ATOM_{ADD,AND,OR,XOR,SWAP}_{32,64}_S{i,r} INT_PTX_ATOM_ADD_{F16,BF16}_Sr \
         INT_PTX_ATOM_ADD_F{32,64}_S{i,r} INT_PTX_ATOM_{INC,DEC}_32_S{i,r} \
         INT_PTX_ATOMIC_{MAX,MIN,UMAX,UMIN}_{32,64}_S{i,r}",
        ATOMIC.within(Shared),
    ),
    rule(
        "INT_PTX_ATOM_{ADD,AND,OR,XOR,SWAP}_{32,64}_S_C{i,r} INT_PTX_ATOM_ADD_{F16,BF16}_S_Cr \
         INT_PTX_ATOM_ADD_F{32,64}_S_C{i,r} INT_PTX_ATOM_{INC,DEC}_32_S_C{i,r} \
         INT_PTX_ATOMIC_{MAX,MIN,UMAX,UMIN}_{32,64}_S_C{i,r}",
        ATOMIC.within(SharedCluster),
    ),
    // Order, scope and space are operands.
    rule("INT_PTX_ATOM_CAS_{16,32,64}_{ii,ir,ri,rr} ATOM_{CAS,EXCH}_B128", ATOMIC),
    rule("INT_NVVM_ST_BULK_GENERIC", WRITES.within(Generic)),
    rule("INT_NVVM_ST_BULK_SHARED_CTA", WRITES.within(Shared)),
    // Hints to the caches: kept, and kept in order with writes.
    rule("PREFETCH_L{1,2} PREFETCHU_L1 PREFETCH_GENERIC_TENSORMAP", READS_AND_WRITES.within(Generic)),
    rule("PREFETCH_GLOBAL_L{1,2} PREFETCH_GLOBAL_L2_EVICT_{LAST,NORMAL}", READS_AND_WRITES.within(Global)),
    rule("PREFETCH_LOCAL_L{1,2}", READS_AND_WRITES.within(Local)),
    rule("PREFETCH_CONST_TENSORMAP", READS_AND_WRITES.within(Constant)),
    rule("PREFETCH_PARAM_TENSORMAP", READS_AND_WRITES.within(Param)),
    rule("APPLYPRIORITY_L2_EVICT_NORMAL", READS_AND_WRITES.within(Generic)),
    rule("APPLYPRIORITY_GLOBAL_L2_EVICT_NORMAL", READS_AND_WRITES.within(Global)),
    // Destroys the data of the line.
    rule("DISCARD_L2", OPAQUE.within(Generic)),
    rule("DISCARD_GLOBAL_L2", OPAQUE.within(Global)),
    // Asynchronous copies have two spaces. Waits for them are opaque.
    rule(
        "CP_ASYNC_CA_SHARED_GLOBAL_{4,8,16}{,_s,_si} CP_ASYNC_CG_SHARED_GLOBAL_16{,_s,_si} \
         CP_ASYNC_BULK_CTA_TO_CLUSTER CP_ASYNC_BULK_G2S{,_CH,_MC,_CH_MC} CP_ASYNC_BULK_G2S_CTA{,_CH} \
         CP_ASYNC_BULK_PREFETCH{,_CH} CP_ASYNC_BULK_S2G{,_CH}{,_BM}",
        READS_AND_WRITES.within(Generic),
    ),
    rule(
        "CP_ASYNC_BULK_TENSOR_RED_{1,2,3,4,5}D{,_SHARED32}_TILE{,_CH} \
         CP_ASYNC_BULK_TENSOR_RED_{3,4,5}D{,_SHARED32}_IM2COL{,_CH} \
         TMA_G2S{,_CTA}_TILE_{1,2,3,4,5}D{,_CH} TMA_G2S_TILE_{1,2,3,4,5}D_MC{,_CH} \
         TMA_G2S_TILE_CG0_{1,2,3,4,5}D{,_MC}{,_CH} TMA_G2S{,_CTA}_TILE_GATHER4_2D{,_CH} \
         TMA_G2S_TILE_GATHER4_2D_MC{,_CH} TMA_G2S{,_CTA}_IM2COL{,_W,_W_128}_{3,4,5}D{,_CH} \
         TMA_G2S_IM2COL{,_W,_W_128}_{3,4,5}D_MC{,_CH} TMA_G2S_IM2COL_CG0_{3,4,5}D{,_MC}{,_CH} \
         TMA_S2G_TILE_SCATTER4_2D{,_CH} TMA_TENSOR_PF_TILE_{1,2,3,4,5}D{,_CH} TMA_TENSOR_PF_TILE_GATHER4_2D{,_CH} \
         TMA_TENSOR_PF_IM2COL{,_W,_W_128}_{3,4,5}D{,_CH} TMA_TENSOR_S2G_TILE_{1,2,3,4,5}D{,_CH} \
         TMA_TENSOR_S2G_IM2COL_{3,4,5}D{,_CH}",
        OPAQUE.within(Generic),
    ),
    rule(
        "TENSORMAP_REPLACE_SWIZZLE_{ATOMICITY,MODE}_GLOBAL \
         TENSORMAP_REPLACE_TILE_{BOX_DIM,ELEMENT_STRIDE,ELEMTYPE,FILL_MODE,INTERLEAVE_LAYOUT,RANK}_GLOBAL \
         TENSORMAP_REPLACE_TILE_GLOBAL_{ADDRESS,DIM,STRIDE}_GLOBAL",
        READS_AND_WRITES.within(Global),
    ),
    rule(
        "TENSORMAP_REPLACE_SWIZZLE_{ATOMICITY,MODE}_SHARED_CTA \
         TENSORMAP_REPLACE_TILE_{BOX_DIM,ELEMENT_STRIDE,ELEMTYPE,FILL_MODE,INTERLEAVE_LAYOUT,RANK}_SHARED_CTA \
         TENSORMAP_REPLACE_TILE_GLOBAL_{ADDRESS,DIM,STRIDE}_SHARED_CTA",
        READS_AND_WRITES.within(Shared),
    ),
    // The view does not show the stack pointer.
    rule("DYNAMIC_STACKALLOC{32,64} STACK{SAVE,RESTORE}_{32,64}", OPAQUE.within(Local)),
];
