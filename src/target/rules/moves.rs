//! Moves: between registers, of constants, of special registers, and packs and unpacks.
//!
//! Costs of rematerialisation are the numbers of instructions that ptxas 13.0.88 generates for sm_90:
//! * 1 for most special registers and 32-bit constants, 2 for 64-bit constants;
//! * 1 for the address of a global variable (a load from the constant bank) and 3 for the address of a shared variable,
//!   so a symbol counts 2;
//! * 6 for numbers within a cluster, which need a division;
//! * 0 for generic addresses of global memory, which are the same addresses. Other spaces add a base.

use super::super::info::{CopyFamily, OpcodeInfo, Uniformity};
use super::{Rule, rule};
use crate::function::{MemorySpace, RegClass};

use CopyFamily::{
    AddressSpace, CrossClass, FrameAddress, Immediate, Move, Parameter, Proxy, SpecialRegister, StackAddress, Symbol,
};
use RegClass::{B1, B16, B32, B64, B128};

const fn same(family: CopyFamily, class: RegClass) -> OpcodeInfo {
    OpcodeInfo::same_class(family, Some(class))
}

const fn cvta(class: RegClass, space: MemorySpace) -> OpcodeInfo {
    let cost = match (class, space) {
        (_, MemorySpace::Global) => 0,
        (B32, _) => 1,
        (_, MemorySpace::Shared | MemorySpace::SharedCluster) => 2,
        (_, MemorySpace::Local) => 4,
        _ => 3,
    };
    OpcodeInfo::copy(AddressSpace, class, Some(class)).within(space).remat(cost)
}

const fn across(dst: RegClass, src: RegClass) -> OpcodeInfo {
    OpcodeInfo::copy(CrossClass, dst, Some(src))
}

pub(super) const RULES: &[Rule] = &[
    // Moves within a class.
    rule("MOV_B1_r", same(Move, B1)),
    rule("MOV_B16_r nvvm_move_i16", same(Move, B16)),
    rule("MOV_B32_r nvvm_move_{i32,float,ptr32}", same(Move, B32)),
    rule("MOV_B64_r nvvm_move_{i64,double,ptr64}", same(Move, B64)),
    rule("MOV_B128_r", same(Move, B128)),
    rule("ProxyRegB1", same(Proxy, B1)),
    rule("ProxyRegB16", same(Proxy, B16)),
    rule("ProxyRegB32", same(Proxy, B32)),
    rule("ProxyRegB64", same(Proxy, B64)),
    // Constants.
    rule("MOV_B1_i", OpcodeInfo::constant(Immediate, B1, 1)),
    rule("MOV_{B,F,BF}16_i", OpcodeInfo::constant(Immediate, B16, 1)),
    rule("MOV_{B,F}32_i", OpcodeInfo::constant(Immediate, B32, 1)),
    rule("MOV_{B,F}64_i", OpcodeInfo::constant(Immediate, B64, 2)),
    rule("MOV_B32_sym", OpcodeInfo::constant(Symbol, B32, 2)),
    rule("MOV_B64_sym texsurf_handles", OpcodeInfo::constant(Symbol, B64, 2)),
    rule("MOV32_PARAM", OpcodeInfo::constant(Parameter, B32, 1).within(MemorySpace::Param)),
    rule("MOV64_PARAM", OpcodeInfo::constant(Parameter, B64, 2).within(MemorySpace::Param)),
    rule("MOV_DEPOT_ADDR", OpcodeInfo::constant(StackAddress, B32, 1).within(MemorySpace::Local)),
    rule("MOV_DEPOT_ADDR_64", OpcodeInfo::constant(StackAddress, B64, 2).within(MemorySpace::Local)),
    rule("LEA_ADDRi", OpcodeInfo::copy(FrameAddress, B32, None).remat(1)),
    rule("LEA_ADDRi64", OpcodeInfo::copy(FrameAddress, B64, None).remat(2)),
    // Special registers with a constant value. MOV_SPECIAL reads one of the environment registers, which is a physical
    // register in LLVM. All others have an opcode each.
    rule("MOV_SPECIAL", OpcodeInfo::special(Uniformity::Uniform)),
    rule("INT_PTX_SREG_TID_{x,y,z,w}", OpcodeInfo::special(Uniformity::Divergent)),
    rule(
        "INT_PTX_SREG_{NTID,CTAID,NCTAID,NCLUSTERID}_{x,y,z,w} INT_PTX_SREG_CLUSTER_NCTAID_{x,y,z,w} \
         INT_PTX_SREG_CLUSTER_{CTARANK,NCTARANK} INT_PTX_SREG_WARPSIZE INT_PTX_SREG_{DYNAMIC,TOTAL,AGGR}_SMEM_SIZE",
        OpcodeInfo::special(Uniformity::Uniform),
    ),
    rule(
        "INT_PTX_SREG_CLUSTERID_{x,y,z,w} INT_PTX_SREG_CLUSTER_CTAID_{x,y,z,w}",
        OpcodeInfo::special(Uniformity::Uniform).remat(6),
    ),
    rule("SREG_LANEID INT_PTX_SREG_LANEMASK_{EQ,LE,LT,GE,GT}", OpcodeInfo::special(Uniformity::Divergent)),
    rule("SREG_{GRIDID,NSMID,NWARPID}", OpcodeInfo::special(Uniformity::Uniform)),
    rule("is_explicit_cluster", OpcodeInfo::copy(SpecialRegister, B1, None).uniform().remat(1)),
    // Special registers that change. LLVM treats %smid and %warpid as constants. The PTX ISA calls both volatile,
    // because a preempted warp may continue on another SM. Therefore two reads must stay two reads.
    rule("SREG_{SMID,WARPID}", OpcodeInfo::volatile(B32, Uniformity::Uniform)),
    rule("SREG_CLOCK SREG_GLOBALTIMER_LO INT_PTX_SREG_PM{0,1,2,3}", OpcodeInfo::volatile(B32, Uniformity::Divergent)),
    rule("SREG_CLOCK64 SREG_GLOBALTIMER", OpcodeInfo::volatile(B64, Uniformity::Divergent)),
    // Packs and unpacks.
    rule("V2I16toI32", OpcodeInfo::pack(B32, B16, 2)),
    rule("V2I32toI64", OpcodeInfo::pack(B64, B32, 2)),
    rule("V4I16toI64", OpcodeInfo::pack(B64, B16, 4)),
    rule("V2I64toI128", OpcodeInfo::pack(B128, B64, 2)),
    rule("I32toV2I16", OpcodeInfo::unpack(B16, B32, 2)),
    rule("I64toV2I32", OpcodeInfo::unpack(B32, B64, 2)),
    rule("I64toV4I16", OpcodeInfo::unpack(B16, B64, 4)),
    rule("I128toV2I64", OpcodeInfo::unpack(B64, B128, 2)),
    rule("I32toI16L{,_Sink}", OpcodeInfo::half(B16, B32, 0)),
    rule("I32toI16H{,_Sink}", OpcodeInfo::half(B16, B32, 1)),
    rule("I64toI32L{,_Sink}", OpcodeInfo::half(B32, B64, 0)),
    rule("I64toI32H{,_Sink}", OpcodeInfo::half(B32, B64, 1)),
    // Integers moved into another class: the low bits move, and the mode operand may saturate. 8-bit integers are in
    // B16.
    rule("CVT_{s,u}{8,16}_{s,u}32", across(B16, B32)),
    rule("CVT_{s,u}{8,16}_{s,u}64", across(B16, B64)),
    rule("CVT_{s,u}32_{s,u}{8,16}", across(B32, B16)),
    rule("CVT_{s,u}32_{s,u}64", across(B32, B64)),
    rule("CVT_{s,u}64_{s,u}{8,16}", across(B64, B16)),
    // The low half is the source; the high half is 0 or the sign.
    rule("CVT_{s,u}64_{s,u}32", across(B64, B32).remat(1)),
    // Address-space conversions. LLVM's flags have side effects only because these opcodes have no pattern.
    rule("cvta_{,to_}global", cvta(B32, MemorySpace::Global)),
    rule("cvta_{,to_}global_64", cvta(B64, MemorySpace::Global)),
    rule("cvta_{,to_}shared", cvta(B32, MemorySpace::Shared)),
    rule("cvta_{,to_}shared_64", cvta(B64, MemorySpace::Shared)),
    rule("cvta_{,to_}shared_cluster_64", cvta(B64, MemorySpace::SharedCluster)),
    rule("cvta_{,to_}const", cvta(B32, MemorySpace::Constant)),
    rule("cvta_{,to_}const_64", cvta(B64, MemorySpace::Constant)),
    rule("cvta_{,to_}local", cvta(B32, MemorySpace::Local)),
    rule("cvta_{,to_}local_64", cvta(B64, MemorySpace::Local)),
    rule("cvta_{,to_}param", cvta(B32, MemorySpace::Param)),
    rule("cvta_{,to_}param_64", cvta(B64, MemorySpace::Param)),
];
