//! Rows of conversions. Registers are as in the rows of integers.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        "cvt_integers",
        &[
            "cvt.{s,u}{8,16,32,64}.{s,u}{8,16,32,64} %u0, %t1",
            // Conversions saturate only if the result type may be too small for the source.
            "cvt.sat.{u8,u16,u32,u64}.s{8,16,32,64} %u0, %t1",
            "cvt.sat.{s8.s16,s8.s32,s8.s64,s8.u8,u8.u16,s8.u16,u8.u32,u16.u32,s16.u32,u32.u64,s32.u64,s16.s32,s16.s64,s32.s64,s32.u32,s64.u64} %u0, %t1",
        ],
    ),
    row("cvt_f32_to_integer", &["cvt.{rni,rzi,rmi,rpi}{,.ftz}.{s,u}{8,16,32,64}.f32 %u0, %r1"]),
    row("cvt_f64_to_integer", &["cvt.{rni,rzi,rmi,rpi}.{s,u}{8,16,32,64}.f64 %u0, %d1"]),
    row("cvt_f16_to_integer", &["cvt.{rni,rzi,rmi,rpi}.{s,u}{8,16,32,64}.f16 %u0, %h1"]),
    row("cvt_integer_to_f32", &["cvt.{rn,rz,rm,rp}{,.sat}.f32.{s,u}{8,16,32,64} %r0, %t1"]),
    row(
        "cvt_integer_to_f64",
        &["cvt.{rn,rz,rm,rp}.f64.{s,u}{32,64} %d0, %t1", "cvt.rn{,.sat}.f64.{s,u}{8,16} %d0, %t1"],
    ),
    row("cvt_integer_to_f16", &["cvt.{rn,rz,rm,rp}.f16.{s,u}{8,16,32,64} %h0, %t1"]),
    row(
        "cvt_floats",
        &[
            "cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32.f64 %r0, %d1",
            "cvt{,.ftz}{,.sat}.f64.f32 %d0, %r1",
            "cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.f32.f32 %r0, %r1",
            "cvt{,.ftz}{,.sat}.f32.f32 %r0, %r1",
            "cvt.{rni,rzi,rmi,rpi}.f64.f64 %d0, %d1",
            "cvt.sat.f64.f64 %d0, %d1",
        ],
    ),
    row(
        "cvt_f16",
        &[
            "cvt.{rn,rz}{,.relu}.f16.f32 %h0, %r1",
            "cvt.{rm,rp}.f16.f32 %h0, %r1",
            "cvt.rn.sat.f16.f32 %h0, %r1",
            "cvt{,.sat}.f32.f16 %r0, %h1",
            "cvt.{rn,rz,rm,rp}.f16.f64 %h0, %d1",
            "cvt.f64.f16 %d0, %h1",
            "cvt.{rni,rzi,rmi,rpi}.f16.f16 %h0, %h1",
            "cvt.{rn,rz}{,.relu}.f16x2.f32 %r0, %r1, %r2",
        ],
    ),
    row(
        "cvt_bf16",
        &[
            "cvt.{rn,rz}{,.relu}.bf16.f32 %h0, %r1",
            "cvt.{rn,rz}{,.relu}.bf16x2.f32 %r0, %r1, %r2",
            "cvt.rna.tf32.f32 %r0, %r1",
        ],
    ),
    row(
        "cvt_bf16_more",
        &[
            "cvt.f32.bf16 %r0, %h1",
            "cvt.{rn,rz}.bf16.{s,u}{16,32,64} %h0, %t1",
            "cvt.{rni,rzi}.{s,u}{16,32}.bf16 %u0, %h1",
            "cvt.rn.bf16.{f16,f64} %h0, %t1",
            "cvt.{rni,rzi,rmi,rpi}.bf16.bf16 %h0, %h1",
            "cvt.{rn,rz}.tf32.f32 %r0, %r1",
        ],
    )
    .since(90),
    row(
        "cvt_fp8",
        &[
            "cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32 %h0, %r1, %r2",
            "cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2 %h0, %r1",
            "cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2} %r0, %h1",
        ],
    )
    .since(89),
    row("cvt_pack", &["cvt.pack.sat.{s,u}16.s32 %r0, %r1, %r2", "cvt.pack.sat.{s,u}8.s32.b32 %r0, %r1, %r2, %r3"]),
];
