//! Arithmetic, logic, comparison, selection and conversion: pure, one result or two.
//!
//! An opcode is rematerialisable if ptxas 13.0.88 compiles it for sm_90 to one instruction, or to two for 64 bits; a
//! wide multiplication with a sum has two or three.
//!
//! The uniform datapath of sm_75 to sm_90 has the operations that begin with U in the tables of NVIDIA's "CUDA Binary
//! Utilities": integer arithmetic, but no minima, divisions or dot products.

use super::super::info::{OpcodeInfo, Purity};
use super::{Rule, rule};

pub(super) const RULES: &[Rule] = &[
    rule(
        "ADD{16,32}{ri,rr} SUB{16,32}{ir,ri,rr} MUL_WIDE{s,u}32_{ri,rr} \
         {AND,OR,XOR}_{b16,b32}{ri,rr} NOT_{b16,b32} {SHL,SRA,SRL}32_{ii,ri,rr}",
        OpcodeInfo::PURE.with_uniform_form().remat(1),
    ),
    rule(
        "MAD_WIDE_{S,U}32{rii,rir,rri,rrr} ADD64{ri,rr} SUB64{ir,ri,rr} {AND,OR,XOR}_b64{ri,rr} NOT_b64 {SHL,SRA,SRL}64_{ii,ri}",
        OpcodeInfo::PURE.with_uniform_form().remat(2),
    ),
    rule(
        "MULT{16,32,64}{ri,rr} NEG_S{16,32,64} MAD_LO_S{16,32,64}{rii,rir,rri,rrr} MAD_WIDE_{S,U}16{rii,rir,rri,rrr} \
         MUL_HI_{S,U}{16,32,64}{ri,rr} MUL_WIDE{s,u}16_{ri,rr}",
        OpcodeInfo::PURE.with_uniform_form(),
    ),
    rule(
        "{SMAX,SMIN,UMAX,UMIN}{16,32,64}{ri,rr} {ADD,SMAX,SMIN,UMAX,UMIN}16x2 ABS_S{16,32,64} \
         {SDIV,SREM,UDIV,UREM}{16,32,64}{ir,ri,rr} {MAX,MIN}_RELU_{S32,S16x2} \
         DOT2_{hi,lo}_{ss,su,us,uu} DOT4_{ss,su,us,uu} INT_NVVM_MUL24_{I,UI} INT_NVVM_SAD_{S,US,I,UI,LL,ULL} \
         INT_FNS_{iii,iir,iri,irr,rii,rir,rri,rrr}",
        OpcodeInfo::PURE,
    ),
    // LLVM does not show the carry flag. These opcodes keep their order with all opcodes that may access the carry
    // flag.
    rule("ADDC{,C}Ci{32,64}{ri,rr} SUBC{,C}Ci{32,64}{ir,ri,rr}", OpcodeInfo::other(Purity::Opaque).propagating()),
    rule(
        "{AND,OR,XOR}_pred{ri,rr} NOT_pred {SHL,SRA,SRL}16_{ii,ri,rr} {SHL,SRA,SRL}64_rr \
         {SHL,SRL}_CLAMP{16,32,64}_{ii,ri,rr} SHF_{L,R}_{CLAMP,WRAP}_{i,r} BFE_{S,U}{32,64}{rii,rri,rrr} \
         BFI_B{32,64}{irii,irri,irrr,rrii,rrri,rrrr} BFIND_{,SHIFTAMT_}{s,u}{32,64} BMSK_{clamp,wrap}{ir,ri,rr} \
         SZEXT_{s,u}_{clamp,wrap}{ir,ri,rr} BREV_b{32,64} {CLZ,POPC}r{32,64} \
         PRMT_B32{iir,iri,irr,rii,rir,rri,rrr} SETP_i{16,32,64}{ir,ri,rr} SELP_{b,f}{16,32,64}{ii,ir,ri,rr} \
         SELP_bf16{ii,ir,ri,rr}",
        OpcodeInfo::PURE.with_uniform_form(),
    ),
    rule("SETP_f{32,64}{ir,ri,rr} SETP_{bf16,f16,bf16x2,f16x2}rr TESTINF_f{32,64}r", OpcodeInfo::PURE),
    rule(
        "{FADD,FMUL,FSUB}{,_rn}f{32,64}{ri,rr} {FADD,FMUL,FSUB}{,_rn}{f16,bf16,f16x2,bf16x2,f32x2}rr \
         FMA_F{32,64}{iir,rii,rir,rri,rrr} FMA_{F16,BF16,F16x2,BF16x2,F32x2}rrr FMARELU_{F16,BF16,F16X2,BF16X2} \
         FDIV{32,64}{ri,rr} FDIV32{ri,rr}_prec FRCP32r_prec FRCP64r {FABS,FNEG,FSQRT}f{32,64} \
         {FABS,FNEG}_H{f16,bf16,f16x2,bf16x2} NEG_{F16,BF16,F16x2,BF16x2} \
         ABS_F{16,16X2,32}{,_FTZ} ABS_{F64,BF16,BF16X2} COPYSIGN_F{32,64}RT \
         {MAX,MIN}_f{32,64}_{ri,rr} {MAX,MIN}_{f16,bf16,f16x2,bf16x2}_rr {MAX,MIN}_NAN_f32_{ri,rr} \
         {MAX,MIN}_NAN_{f16,bf16,f16x2,bf16x2}_rr {FMAX,FMAXNAN,FMIN,FMINNAN}3f32{rii,rri,rrr}",
        OpcodeInfo::PURE,
    ),
    rule(
        "{COS,SIN,TANH}_APPROX_f32 DIV_APPROX_F32_{ri,rr} RCP_APPROX_F32_r {LG2,RSQRT}_APPROX_f{32,64} \
         EX2_APPROX_{f32,f16,bf16,f16x2,bf16x2}",
        OpcodeInfo::PURE,
    ),
    rule(
        "INT_NVVM_ADD_{RM,RN,RP,RZ}_{D,F,FTZ_F,SAT_F,SAT_FTZ_F} INT_NVVM_SUB_{rm,rn,rp,rz}_{D,F,ftz_F,sat_F,ftz_sat_F} \
         INT_NVVM_{DIV,MUL,RCP,SQRT}_{RM,RN,RP,RZ}_{D,F,FTZ_F} INT_NVVM_RCP_APPROX_FTZ_{D,F} \
         INT_NVVM_SQRT_APPROX_{F,FTZ_F} INT_NVVM_NEG_{BF16,BF16X2} \
         INT_NVVM_MIXED_{ADD,FMA,SUB}_{rm,rn,rp,rz}{,_sat}_f32_{f16,bf16} \
         INT_NVVM_FMA_{rm,rp,rz}_{f32,f64,ftz_f32,sat_f32,ftz_sat_f32} \
         INT_NVVM_FMA_rn_{f16,bf16,f16x2,bf16x2,f32,f64} INT_NVVM_FMA_rn_{ftz,sat,ftz_sat}_{f16,bf16,f16x2,f32} \
         INT_NVVM_FMA_rn_relu_{f16,bf16,f16x2,bf16x2} INT_NVVM_FMA_rn_ftz_relu_{f16,bf16,f16x2} \
         INT_NVVM_{FMAN,FMIN}{,_NaN}{,_xorsign_abs}_{f16,bf16,f16x2,bf16x2} \
         INT_NVVM_{FMAN,FMIN}_ftz{,_NaN}{,_xorsign_abs}_{f16,f16x2} \
         INT_NVVM_{FMAX,FMIN}{,_FTZ}{,_NAN}_XORSIGN_ABS_F",
        OpcodeInfo::PURE,
    ),
    // Conversions other than those that move an integer into another class, which are in `moves`.
    rule(
        "CVT_{s,u}{8,16}_{s,u}{8,16} CVT_{s,u}32_{s,u}32 CVT_{s,u}64_{s,u}64 CVT_INREG_s16_s8 CVT_INREG_s32_s{8,16} \
         CVT_INREG_s64_s{8,16,32}",
        OpcodeInfo::PURE.with_uniform_form(),
    ),
    rule(
        "CVT_{f16,f32,f64,bf16}_{s,u}{8,16,32,64} CVT_{s,u}{8,16,32,64}_{f16,f32,f64,bf16} \
         CVT_{f16,f32,f64,bf16}_{f16,f32,f64,bf16} CVT_{f16,bf16}_f32_sf CVT_{f16x2,bf16x2}_f32{,_rs}{,_sf} \
         CVT_bf16x2_ue8m0x2 CVT_ue8m0x2_{f32,bf16x2}{,_sf} CVT_{e4m3,e5m2}x2_{f32,f16x2} \
         CVT_f16x2_{e2m1,e2m3,e3m2,e4m3,e5m2}x2 CVT_{e2m1,e2m3,e3m2}x2_f32_sf \
         CVT_{e2m1,e2m3,e3m2,e4m3,e5m2}x4_f32x4_rs_sf CVT_to_tf32_{rn,rz}{,_relu}{,_satf} CVT_to_tf32_rna{,_satf}",
        OpcodeInfo::PURE,
    ),
    // Queries of addresses and handles.
    rule(
        "isspace_{const,global,local,shared,shared_cluster}_{32,64} getctarank{,_shared_cluster}_{32,64} \
         mapa{,_shared_cluster}_{32,64}{,i} ISTYPEP_{SAMPLER,SURFACE,TEXTURE}",
        OpcodeInfo::PURE,
    ),
];
