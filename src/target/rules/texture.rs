//! Textures and surfaces. The last letters of a name show whether each handle is a register (`R`) or a name (`I`). LLVM
//! has patterns only for registers, and sets side effects for names.

use super::super::info::{OpcodeInfo, Purity};
use super::{Rule, rule};
use crate::function::MemorySpace::Global;

/// A texture may be a surface that the kernel writes, so a fetch is not an invariant load.
const FETCH: OpcodeInfo = OpcodeInfo::other(Purity::Reads).within(Global);

pub(super) const RULES: &[Rule] = &[
    rule(
        "TEX_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_{F,S,U}32_{F32,S32,F32_LEVEL,F32_GRAD}_{II,IR,RI,RR} \
         TEX_CUBE{,_ARRAY}_{F,S,U}32_F32{,_LEVEL}_{II,IR,RI,RR} \
         TEX_UNIFIED_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_{F,S,U}32_{F32,S32,F32_LEVEL,F32_GRAD}_{I,R} \
         TEX_UNIFIED_CUBE{,_ARRAY}_{F,S,U}32_F32{,_LEVEL,_GRAD}_{I,R} \
         TLD4_{R,G,B,A}_2D_{F,S,U}32_F32_{II,IR,RI,RR} TLD4_UNIFIED_{R,G,B,A}_2D_{F,S,U}32_F32_{I,R}",
        FETCH,
    ),
    rule(
        "SULD_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_{,V2}I{8,16,32,64}_{CLAMP,ZERO}_{I,R} \
         SULD_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_V4I{8,16,32}_{CLAMP,ZERO}_{I,R}",
        FETCH,
    ),
    rule(
        "SULD_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_{,V2}I{8,16,32,64}_TRAP_{I,R} \
         SULD_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_V4I{8,16,32}_TRAP_{I,R}",
        OpcodeInfo::other(Purity::ReadsOrTraps).within(Global),
    ),
    rule(
        "SUST_B_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_{,V2}I{8,16,32,64}_{CLAMP,ZERO}_{I,R} \
         SUST_B_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_V4I{8,16,32}_{CLAMP,ZERO}_{I,R}",
        OpcodeInfo::other(Purity::Writes).within(Global),
    ),
    rule(
        "SUST_B_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_{,V2}I{8,16,32,64}_TRAP_{I,R} \
         SUST_B_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_V4I{8,16,32}_TRAP_{I,R} \
         SUST_P_{1D,1D_ARRAY,2D,2D_ARRAY,3D}_{,V2,V4}I{8,16,32}_TRAP_{I,R}",
        OpcodeInfo::other(Purity::WritesOrTraps).within(Global),
    ),
    // Properties that were fixed when the handle was created. A handle in a register may be invalid on paths without
    // the query.
    rule(
        "{SUQ,TXQ}_{ARRAY_SIZE,CHANNEL_DATA_TYPE,CHANNEL_ORDER,DEPTH,HEIGHT,WIDTH}_I \
         TXQ_{NUM_MIPMAP_LEVELS,NUM_SAMPLES}_I",
        OpcodeInfo::PURE,
    ),
    rule(
        "{SUQ,TXQ}_{ARRAY_SIZE,CHANNEL_DATA_TYPE,CHANNEL_ORDER,DEPTH,HEIGHT,WIDTH}_R \
         TXQ_{NUM_MIPMAP_LEVELS,NUM_SAMPLES}_R",
        OpcodeInfo::PURE.guarded(),
    ),
];
