//! Rows of floating-point numbers. Registers are as in the rows of integers.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("add_f32", &["{add,sub,mul}.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32 %r0, %r1, %r2"]),
    row("fma_f32", &["fma.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32 %r0, %r1, %r2, %r3", "mad.rn.f32 %r0, %r1, %r2, %r3"]),
    row(
        "fused_f32",
        &[
            "mul{,.ftz}.f32 %r0, %r1, %r2; add{,.ftz}.f32 %r3, %r0, %r4",
            "mul{,.ftz}.f32 %r0, %r1, {0f3F000000,0f3E800000,0f40000000}; mul{,.ftz}.f32 %r2, %r0, %r3",
            "mul.rn.f32 %r0, %r1, {0f3F000000,0f40000000,0f41000000,0f3E000000}",
        ],
    ),
    row("div_f32", &["div.{rn,rz,rm,rp}{,.ftz}.f32 %r0, %r1, %r2"]),
    row("div_f32_approximate", &["div.{full,approx}{,.ftz}.f32 %r0, %r1, %r2"]).approximate(),
    row("root_f32", &["{rcp,sqrt}.{rn,rz,rm,rp}{,.ftz}.f32 %r0, %r1"]),
    row("functions_f32", &["{rcp,sqrt,rsqrt,sin,cos,lg2,ex2}.approx{,.ftz}.f32 %r0, %r1", "tanh.approx.f32 %r0, %r1"])
        .approximate(),
    row("sign_f32", &["{neg,abs}{,.ftz}.f32 %r0, %r1", "copysign.{f32,f64} %t0, %t1, %t2"]),
    row("min_f32", &["{min,max}{,.ftz}{,.NaN}.f32 %r0, %r1, %r2"]),
    row(
        "min_xorsign",
        &[
            "{min,max}{,.ftz}{,.NaN}.xorsign.abs.{f32,f16,f16x2} %t0, %t1, %t2",
            "{min,max}{,.NaN}.xorsign.abs.{bf16,bf16x2} %t0, %t1, %t2",
        ],
    )
    .since(89),
    row("class", &["testp.{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64} %p0, %t1"]),
    row("add_f64", &["{add,sub,mul}.{rn,rz,rm,rp}.f64 %d0, %d1, %d2", "fma.{rn,rz,rm,rp}.f64 %d0, %d1, %d2, %d3"]),
    row("div_f64", &["div.{rn,rz,rm,rp}.f64 %d0, %d1, %d2", "{rcp,sqrt}.{rn,rz,rm,rp}.f64 %d0, %d1"]),
    row("functions_f64", &["rcp.approx.ftz.f64 %d0, %d1", "rsqrt.approx{,.ftz}.f64 %d0, %d1"]).approximate(),
    row("min_f64", &["{min,max}.f64 %d0, %d1, %d2", "{neg,abs}.f64 %d0, %d1"]),
    row("add_f16", &["{add,sub,mul}{,.ftz}{,.sat}.{f16,f16x2} %t0, %t1, %t2"]),
    row("fma_f16", &["fma.rn{,.ftz}{,.sat,.relu}.{f16,f16x2} %t0, %t1, %t2, %t3"]),
    row("min_f16", &["{min,max}{,.ftz}{,.NaN}.{f16,f16x2} %t0, %t1, %t2", "{neg,abs}.{f16,f16x2} %t0, %t1"]),
    row("functions_f16", &["{ex2,tanh}.approx.{f16,f16x2} %t0, %t1"]).approximate(),
    row("fma_bf16", &["fma.rn{,.relu}.{bf16,bf16x2} %t0, %t1, %t2, %t3"]),
    row("min_bf16", &["{min,max}{,.NaN}.{bf16,bf16x2} %t0, %t1, %t2", "{neg,abs}.{bf16,bf16x2} %t0, %t1"]),
    row("add_bf16", &["{add,sub,mul}.{bf16,bf16x2} %t0, %t1, %t2"]).since(90),
    row("functions_bf16", &["tanh.approx.{bf16,bf16x2} %t0, %t1", "ex2.approx.ftz.{bf16,bf16x2} %t0, %t1"])
        .since(90)
        .approximate(),
    row(
        "setp_f32",
        &[
            "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f32 %p0|%p1, %r2, %r3",
            "setp.{eq,lt,ge,neu,gtu,nan}.{and,or,xor}.f32 %p0|%p1, %r2, %r3, %p4",
        ],
    ),
    row(
        "setp_f64",
        &[
            "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f64 %p0|%p1, %d2, %d3",
            "setp.{lt,neu}.{and,or,xor}.f64 %p0|%p1, %d2, %d3, %p4",
        ],
    ),
    row(
        "setp_f16",
        &[
            "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f16 %p0, %h1, %h2",
            "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f16x2 %p0|%p1, %r2, %r3",
        ],
    ),
    row(
        "setp_bf16",
        &["setp.{eq,ne,lt,ge,neu,num,nan}.bf16 %p0, %h1, %h2", "setp.{eq,lt,geu}.bf16x2 %p0|%p1, %r2, %r3"],
    )
    .since(90),
    row(
        "set_f32",
        &[
            "set.{eq,lt,ge,neu,gtu,num,nan}{,.ftz}.{u32,s32,f32}.f32 %r0, %r1, %r2",
            "set.{eq,lt,geu}.{and,or,xor}.{u32,f32}.f32 %r0, %r1, %r2, %p3",
            "set.{eq,lt,geu}.{u32,s32,f32}.f64 %r0, %d1, %d2",
        ],
    ),
    row(
        "set_f16",
        &[
            "set.{eq,lt,geu,nan}.{f16.f16,u16.f16,u32.f16} %u0, %t1, %t2",
            "set.{eq,lt,geu,nan}.{f16x2,u32}.f16x2 %r0, %r1, %r2",
        ],
    ),
];
