//! Rows of integers, bits, and comparisons.
//!
//! A register is a letter and a number: `%p` is a predicate, `%h` has 16 bits, `%r` 32, `%d` 64. `%t` has the last type
//! of the mnemonic, `%u` the first one, and `%w` twice the bits of the last one. The first operand is the result. `%z`
//! is `%t` without the value zero. `%m` is `%r` below 32. `%b` is `%r` below 256. `#` is a drawn constant.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("add", &["{add,sub}.{s,u}{16,32,64} %t0, %t1, %t2", "{add,sub}.sat.s32 %r0, %r1, %r2"]),
    row("mul", &["mul.{lo,hi}.{s,u}{16,32,64} %t0, %t1, %t2", "mul.wide.{s,u}{16,32} %w0, %t1, %t2"]),
    row(
        "mad",
        &[
            "mad.{lo,hi}.{s,u}{16,32,64} %t0, %t1, %t2, %t3",
            "mad.wide.{s,u}{16,32} %w0, %t1, %t2, %w3",
            "mad.hi.sat.s32 %r0, %r1, %r2, %r3",
        ],
    ),
    row("mul24", &["mul24.{lo,hi}.{s,u}32 %r0, %r1, %r2", "mad24.{lo,hi}.{s,u}32 %r0, %r1, %r2, %r3"]),
    row("sad", &["sad.{s,u}{16,32,64} %t0, %t1, %t2, %t3"]),
    row("div", &["{div,rem}.{s,u}{16,32,64} %t0, %t1, %z2"]),
    row("abs", &["{abs,neg}.s{16,32,64} %t0, %t1"]),
    row("min", &["{min,max}.{s,u}{16,32,64} %t0, %t1, %t2"]),
    row(
        "packed",
        &[
            "{add,min,max}.{s,u}16x2 %r0, %r1, %r2",
            "{min,max}.relu.s16x2 %r0, %r1, %r2",
            "{min,max}.relu.s32 %r0, %r1, %r2",
        ],
    )
    .since(90),
    row(
        "three",
        &[
            "{min,max}.{s,u}32 %r0, %r1, %r2; {min,max}.{s,u}32 %r3, %r0, %r4",
            "{min,max}.s32 %r0, %r1, %r2; {min,max}.relu.s32 %r3, %r0, %r4",
            "{min,max}.{s,u}16x2 %r0, %r1, %r2; {min,max}.{s,u}16x2 %r3, %r0, %r4",
            "{min,max}.s16x2 %r0, %r1, %r2; {min,max}.relu.s16x2 %r3, %r0, %r4",
            "{add,sub}.s32 %r0, %r1, %r2; {min,max}.{s,u,relu.s}32 %r3, %r0, %r4",
            "add.{s,u}16x2 %r0, %r1, %r2; {min,max}.{s,u,relu.s}16x2 %r3, %r0, %r4",
        ],
    )
    .since(90),
    row(
        "carry",
        &[
            "add.cc.{s,u}32 %r0, %r1, %r2; addc.cc.{s,u}32 %r3, %r4, %r5; addc.u32 %r6, %r7, %r8",
            "sub.cc.{s,u}32 %r0, %r1, %r2; subc.cc.{s,u}32 %r3, %r4, %r5; subc.u32 %r6, %r7, %r8",
            "add.cc.{s,u}64 %d0, %d1, %d2; addc.cc.{s,u}64 %d3, %d4, %d5; addc.u64 %d6, %d7, %d8",
            "sub.cc.{s,u}64 %d0, %d1, %d2; subc.u64 %d3, %d4, %d5",
            "mad.{lo,hi}.cc.{s,u}32 %r0, %r1, %r2, %r3; madc.{lo,hi}.cc.u32 %r4, %r5, %r6, %r7; madc.hi.s32 %r8, %r5, %r6, %r7",
            "mad.lo.cc.u64 %d0, %d1, %d2, %d3; madc.hi.u64 %d4, %d5, %d6, %d7",
        ],
    ),
    row(
        "count",
        &["{popc,clz}.b{32,64} %r0, %t1", "bfind{,.shiftamt}.{s,u}{32,64} %r0, %t1", "brev.b{32,64} %t0, %t1"],
    ),
    row("fns", &["fns.b32 %r0, %r1, %m2, %r3"]),
    row(
        "field",
        &[
            "bfe.{s,u}32 %r0, %r1, %r2, %r3",
            "bfi.b32 %r0, %r1, %r2, %r3, %r4",
            "bfe.{s,u}64 %d0, %d1, %b2, %b3",
            "bfi.b64 %d0, %d1, %d2, %b3, %b4",
        ],
    ),
    row("mask", &["bmsk.{clamp,wrap}.b32 %r0, %r1, %r2", "szext.{clamp,wrap}.{s,u}32 %r0, %r1, %r2"]),
    row("products", &["dp4a.{s,u}32.{s,u}32 %r0, %r1, %r2, %r3", "dp2a.{lo,hi}.{s,u}32.{s,u}32 %r0, %r1, %r2, %r3"]),
    row("logic", &["{and,or,xor}.b{16,32,64} %t0, %t1, %t2", "{not,cnot}.b{16,32,64} %t0, %t1"]),
    row("predicates", &["{and,or,xor}.pred %p0, %p1, %p2", "not.pred %p0, %p1", "mov.pred %p0, %p1"]),
    row(
        "lop3",
        &["lop3.b32 %r0, %r1, %r2, %r3, #{a,b,c,d,e,f,g,h}", "lop3.{and,or}.b32 %r0|%p1, %r2, %r3, %r4, #{a,b}, %p5"],
    ),
    row("shift", &["{shl,shr}.b{16,32,64} %t0, %t1, %r2", "shr.{s,u}{16,32,64} %t0, %t1, %r2"]),
    row("funnel", &["shf.{l,r}.{clamp,wrap}.b32 %r0, %r1, %r2, %r3"]),
    row("prmt", &["prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} %r0, %r1, %r2, %r3"]),
    row(
        "setp",
        &[
            "setp.{eq,ne,lt,le,gt,ge}.{s,u}{16,32,64} %p0|%p1, %t2, %t3",
            "setp.{eq,ne}.b{16,32,64} %p0, %t1, %t2",
            "setp.{lo,ls,hi,hs}.u{16,32,64} %p0, %t1, %t2",
        ],
    ),
    row("setp_joined", &["setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.{s,u}{16,32,64} %p0|%p1, %t2, %t3, %p4"]),
    row(
        "set",
        &[
            "set.{eq,ne,lt,le,gt,ge}.{s32,u32,f32}.{s,u}{16,32,64} %u0, %t1, %t2",
            "set.{eq,lt,ge}.{and,or,xor}.{u32,f32}.{s,u}{32,64} %u0, %t1, %t2, %p3",
        ],
    ),
    row("selp", &["selp.{b16,b32,b64,f32,f64} %t0, %t1, %t2, %p3"]),
    row("slct", &["slct.{b16,b32,b64,f32,f64}.s32 %u0, %u1, %u2, %r3", "slct.{b32,b64}.f32 %u0, %u1, %u2, %r3"]),
    row("video", &["{vadd,vsub,vabsdiff,vmin,vmax}.{s,u}32.{s,u}32.{s,u}32{,.sat} %r0, %r1, %r2"]),
    row(
        "video_shift",
        &[
            "vset.{s,u}32.{s,u}32.{eq,ne,lt,le,gt,ge} %r0, %r1, %r2",
            "{vshl,vshr}.{s,u}32.{s,u}32.u32.{clamp,wrap} %r0, %r1, %r2",
        ],
    ),
    row("video2", &["{vadd,vsub,vabsdiff,vmin,vmax}{2,4}.{s,u}32.{s,u}32.{s,u}32{,.sat,.add} %r0, %r1, %r2, %r3"]),
    row(
        "video_set2",
        &[
            "vset{2,4}.{s,u}32.{s,u}32.{eq,ne,lt,le,gt,ge}{,.add} %r0, %r1, %r2, %r3",
            "vavrg{2,4}.u32.u32.u32 %r0, %r1, %r2, %r3",
        ],
    ),
    row(
        "parts",
        &[
            "mov.b64 %d0, {%r1, %r2}",
            "mov.b64 {%r0, %r1}, %d2",
            "mov.b32 %r0, {%h1, %h2}",
            "mov.b32 {%h0, %h1}, %r2",
            "mov.b64 %d0, {%h1, %h2, %h3, %h4}",
            "mov.b64 {%h0, %h1, %h2, %h3}, %d4",
            "mov.b{16,32,64} %t0, %t1",
        ],
    ),
    // Products and sums as in compilers' code: addresses, polynomials, magic numbers.
    row(
        "chains",
        &[
            "shl.b32 %r0, %r1, 2; add.s32 %r2, %r0, %r3; xor.b32 %r4, %r2, %r5",
            "mul.wide.s32 %d0, %r1, 12; add.s64 %d2, %d0, %d3",
            "mul.wide.u32 %d0, %r1, %r2; shr.u64 %d3, %d0, 35",
            "and.b32 %r0, %r1, %r2; or.b32 %r3, %r0, %r4; xor.b32 %r5, %r3, %r6",
            "add.s32 %r0, %r1, %r2; add.s32 %r3, %r0, %r4; sub.s32 %r5, %r3, %r6",
            "shl.b64 %d0, %d1, 3; add.s64 %d2, %d3, %d0",
            "min.s32 %r0, %r1, %r2; max.s32 %r3, %r0, %r4",
            "shr.u32 %r0, %r1, 8; and.b32 %r2, %r0, 255; mul.lo.s32 %r3, %r2, 255",
            "{shl,shr}.b64 %d0, %d1, {1,31,32,33,63}",
            "shr.s64 %d0, %d1, {1,31,32,33,63}",
            "mul.lo.{s,u}32 %r0, %r1, {3,4,5,7,-1,-8,1000}",
            "{div,rem}.{s,u}32 %r0, %r1, {1,2,3,7,8,10,641,-5}",
            "{div,rem}.{s,u}64 %d0, %d1, {2,3,10,1000000007}",
            "{div,rem}.{s,u}16 %h0, %h1, {2,3,10,255}",
        ],
    ),
];
