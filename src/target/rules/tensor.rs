//! Tensor cores and tensor memory (`tcgen05`), `wgmma`. LLVM 22 has no names for the matrix instructions themselves.

use super::super::info::{OpcodeInfo, Purity};
use super::{Rule, rule};
use crate::function::MemorySpace::Tensor;

const TENSOR: OpcodeInfo = OpcodeInfo::other(Purity::Opaque).collective().within(Tensor);

pub(super) const RULES: &[Rule] = &[
    // Asynchronous, and executed by the whole warp.
    rule(
        "TCGEN05_{LD,ST}_16x128b_x{1,2,4,8,16,32,64} TCGEN05_{LD,ST}_16x256b_x{1,2,4,8,16,32} \
         TCGEN05_{LD,ST}_{16x32bx2,16x64b,32x32b}_x{1,2,4,8,16,32,64,128} \
         TCGEN05_LD_16x128b_x{1,2,4,8,16,32,64}_PACK TCGEN05_LD_16x256b_x{1,2,4,8,16,32}_PACK \
         TCGEN05_LD_{16x32bx2,16x64b,32x32b}_x{1,2,4,8,16,32,64,128}_PACK \
         TCGEN05_ST_16x128b_x{1,2,4,8,16,32,64}_UNPACK TCGEN05_ST_16x256b_x{1,2,4,8,16,32}_UNPACK \
         TCGEN05_ST_{16x32bx2,16x64b,32x32b}_x{1,2,4,8,16,32,64,128}_UNPACK",
        TENSOR,
    ),
    rule(
        "TCGEN05_{ALLOC,DEALLOC,RELINQ,SHIFT}_CG{1,2} TCGEN05_ALLOC_S64_CG{1,2} TCGEN05_COMMIT{,_S64}_CG{1,2}{,_MC} \
         TCGEN05_CP_{128x128b,128x256b,4x256b,32x128,64x128_1,64x128_2}{,b4x16_p64,b6x16_p32}_cg{1,2}",
        TENSOR,
    ),
    rule("tcgen05_fence_{before,after}_thread_sync tcgen05_wait_{ld,st}", TENSOR),
    rule("WGMMA_{FENCE,COMMIT_GROUP,WAIT_GROUP}_SYNC_ALIGNED", OpcodeInfo::other(Purity::Opaque).collective()),
];
