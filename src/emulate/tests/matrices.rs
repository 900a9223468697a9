//! Compares matrix products with plain ones, through the fragment layouts in the PTX ISA.

use super::{file, reason, words};
use crate::emulate::number::{F16, Rounding};

fn half(value: f64) -> u32 {
    F16.round(value, Rounding::Nearest, false) as u32
}

/// Packs two halves into each word, row by row.
fn halves(matrix: &[Vec<f64>]) -> Vec<u32> {
    matrix.iter().flat_map(|row| row.chunks(2).map(|pair| half(pair[0]) | half(pair[1]) << 16)).collect()
}

fn matrix(rows: usize, columns: usize, seed: usize) -> Vec<Vec<f64>> {
    let value = |row: usize, column: usize| ((row * 7 + column * 13 + seed) % 11) as f64 / 4.0 - 1.0;
    (0..rows).map(|row| (0..columns).map(|column| value(row, column)).collect()).collect()
}

/// `ldmatrix` loads A, and B transposed; the product of 16 by 16 and 16 by 8 is stored by the layout of floats.
#[test]
fn halves_from_shared_memory() {
    let (a, b) = (matrix(16, 16, 3), matrix(16, 8, 5));
    let mut input = halves(&a);
    input.extend(halves(&b));
    let text = file(
        ".shared .align 16 .b8 box[768];",
        "mov.u32 %r0, box; mov.u32 %r1, %t;\n\
         L: mad.lo.u32 %r2, %r1, 4, %r0; mad.wide.u32 %d0, %r1, 4, %in; ld.global.u32 %r3, [%d0]; st.shared.u32 [%r2], %r3;\n\
         add.u32 %r1, %r1, 32; setp.lt.u32 %p0, %r1, 192; @%p0 bra L;\n\
         bar.warp.sync -1;\n\
         and.b32 %r4, %t, 15; shr.u32 %r5, %t, 4; mad.lo.u32 %r6, %r4, 32, %r0; mad.lo.u32 %r6, %r5, 16, %r6;\n\
         mov.u32 %r10, %r6; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r10];\n\
         mad.lo.u32 %r7, %r4, 16, %r0; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r7+512];\n\
         mov.f32 %f0, 0f3F800000;\n\
         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r14, %r15},\n\
         {%f0, %f0, %f0, %f0};\n\
         shr.u32 %r20, %t, 2; and.b32 %r21, %t, 3; mad.lo.u32 %r22, %r20, 32, 0; mad.lo.u32 %r22, %r21, 8, %r22;\n\
         cvt.u64.u32 %d1, %r22; add.u64 %d1, %d1, %out; st.global.v2.f32 [%d1], {%f1, %f2}; st.global.v2.f32 [%d1+256], {%f3, %f4};",
    );
    let found = words(&text, 32, &input, 128);
    for row in 0..16 {
        for column in 0..8 {
            let expected = 1.0 + (0..16).map(|i| a[row][i] * b[i][column]).sum::<f64>();
            let value = f32::from_bits(found[row * 8 + column]);
            assert!((f64::from(value) - expected).abs() < 1e-4, "{row} {column}: {value}, not {expected}");
        }
    }
}

/// Bytes: the product of 16 by 32 and 32 by 8, with each fragment loaded by the layout.
#[test]
fn bytes() {
    let value = |row: usize, column: usize, seed: usize| ((row * 31 + column * 17 + seed) % 251) as u8 as i8;
    let a: Vec<Vec<i8>> = (0..16).map(|row| (0..32).map(|column| value(row, column, 1)).collect()).collect();
    // Columns of B are contiguous.
    let b: Vec<Vec<i8>> = (0..8).map(|column| (0..32).map(|row| value(row, column, 9)).collect()).collect();
    let pack = |row: &Vec<i8>| {
        row.chunks(4).map(|four| u32::from_le_bytes(std::array::from_fn(|i| four[i] as u8))).collect::<Vec<_>>()
    };
    let input: Vec<u32> = a.iter().chain(&b).flat_map(pack).collect();
    let text = file(
        "",
        "shr.u32 %r20, %t, 2; and.b32 %r21, %t, 3; shl.b32 %r0, %r20, 5; mad.lo.u32 %r0, %r21, 4, %r0; cvt.u64.u32 %d0, %r0;\n\
         add.u64 %d0, %d0, %in; ld.global.u32 %r1, [%d0]; ld.global.u32 %r2, [%d0+256]; ld.global.u32 %r3, [%d0+16];\n\
         ld.global.u32 %r4, [%d0+272]; ld.global.u32 %r5, [%d0+512]; ld.global.u32 %r6, [%d0+528]; mov.u32 %r7, 0;\n\
         mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r10, %r11, %r12, %r13}, {%r1, %r2, %r3, %r4}, {%r5, %r6},\n\
         {%r7, %r7, %r7, %r7};\n\
         cvt.u64.u32 %d1, %r21; shl.b64 %d1, %d1, 3; mad.wide.u32 %d1, %r20, 32, %d1; add.u64 %d1, %d1, %out;\n\
         st.global.v2.u32 [%d1], {%r10, %r11}; st.global.v2.u32 [%d1+256], {%r12, %r13};",
    );
    let found = words(&text, 32, &input, 128);
    for row in 0..16 {
        for column in 0..8 {
            let expected: i32 = (0..32).map(|i| i32::from(a[row][i]) * i32::from(b[column][i])).sum();
            assert_eq!(found[row * 8 + column] as i32, expected, "{row} {column}");
        }
    }
}

/// A tile is loaded, multiplied and stored, whatever the layout of its fragments.
#[test]
fn tiles() {
    let (a, b) = (matrix(16, 16, 2), matrix(16, 16, 6));
    let mut input = halves(&a);
    input.extend(halves(&b));
    let registers = |first: usize, class: char, count: usize| {
        let names: Vec<String> = (first..first + count).map(|number| format!("%{class}{number}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let (fa, fb, fc) = (registers(0, 'r', 8), registers(8, 'r', 8), registers(0, 'f', 8));
    let zeros: String = (0..8).map(|number| format!("mov.f32 %f{number}, 0f00000000; ")).collect();
    let text = file(
        "",
        &format!(
            "mov.u32 %r20, 16; add.u64 %d0, %in, 512; {zeros}\n\
             wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {fa}, [%in], %r20;\n\
             wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {fb}, [%d0], %r20;\n\
             wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {fc}, {fa}, {fb}, {fc};\n\
             wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%out], {fc}, %r20;"
        ),
    );
    let found = words(&text, 32, &input, 256);
    for row in 0..16 {
        for column in 0..16 {
            let expected = (0..16).map(|i| a[row][i] * b[i][column]).sum::<f64>();
            let value = f32::from_bits(found[row * 16 + column]);
            assert!((f64::from(value) - expected).abs() < 1e-4, "{row} {column}: {value}, not {expected}");
        }
    }
}

/// A matrix of 8 by 8 is transposed in registers; transposed twice, it is the original.
#[test]
fn transposed() {
    let text = file(
        "",
        "mul.lo.u32 %r0, %t, 2; add.u32 %r1, %r0, 1; shl.b32 %r1, %r1, 16; or.b32 %r0, %r0, %r1;\n\
         movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r0; movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2;\n\
         st.global.u32 [%at], %r2; st.global.u32 [%at+128], %r3;",
    );
    let found = words(&text, 32, &[], 64);
    for lane in 0..32u32 {
        let (row, column) = (lane / 4, lane % 4 * 2);
        let element = |row: u32, column: u32| row * 8 + column;
        assert_eq!(found[lane as usize], element(column, row) | element(column + 1, row) << 16);
        assert_eq!(found[lane as usize + 32], element(row, column) | element(row, column + 1) << 16);
    }
}

/// A row of a product is undefined if the row of the left factor is unset. A column is undefined if the column of the
/// right factor is unset. All other elements are defined.
#[test]
fn undefined_rows_and_columns() {
    let product = |stored: &str, lanes: &str| {
        let body = format!(
            "mov.b32 %r0, 0x3C003C00; mov.b32 %r2, 0x3C003C00; mov.f32 %f0, 0f3F800000;\n\
             setp.lt.u32 %p0, %t, {lanes}; @%p0 mov.b32 %r4, 0x40004000; @%p0 mov.b32 %r5, 0x40004000;\n\
             mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f1, %f2, %f3, %f4}}, {{%r0, %r1, %r2, %r3}}, {{%r4, %r5}},\n\
             {{%f0, %f0, %f0, %f0}};\n\
             and.b32 %r9, %t, 3; setp.lt.u32 %p1, %r9, 2; @%p1 st.global.f32 [%at], {stored};"
        );
        file("", &body)
    };
    // 16 products of 1 and 2, plus 1. Half of the columns of the right factor are set, and half of the lanes store
    // these.
    let expected: Vec<u32> = (0..32u32).map(|t| if t % 4 < 2 { 33f32.to_bits() } else { 0 }).collect();
    assert_eq!(words(&product("%f1", "16"), 32, &[], 32), expected);
    for (stored, lanes) in [("%f3", "32"), ("%f1", "8")] {
        let reason = reason(&product(stored, lanes), 32);
        assert!(reason.contains("undefined"), "{reason}");
    }
}

/// Returns a block of 128 threads. One thread multiplies `rows` rows and 16 columns by 16 halves, twice, and every
/// thread reads its lane. The factors are in shared memory in parts of 8 rows of 16 bytes, or the left one is in tensor
/// memory.
fn tensor(rows: u32, left: &str) -> String {
    let descriptor = 1 << 4 | 2 << 17 | (rows / 16) << 24;
    let (shape, half) = if rows == 64 { ("16x32bx2", ", 8") } else { ("32x32b", "") };
    let factor = if left.is_empty() { "%d2" } else { "[%r4+32]" };
    let body = format!(
        "mov.u32 %r0, box; setp.lt.u32 %p0, %t, 32; @%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 64;\n\
         setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [%r0+8], 1; mov.u32 %r1, %t;\n\
         L: mad.lo.u32 %r2, %r1, 4, %r0; mad.wide.u32 %d0, %r1, 4, %in; ld.global.u32 %r3, [%d0];\n\
         st.shared.u32 [%r2+1024], %r3; add.u32 %r1, %r1, 128; setp.lt.u32 %p2, %r1, 2048; @%p2 bra L;\n\
         bar.sync 0; ld.shared.u32 %r4, [%r0]; shr.u32 %r5, %t, 5; shl.b32 %r5, %r5, 21; add.u32 %r5, %r5, %r4;\n\
         {left}\n\
         tcgen05.wait::st.sync.aligned; bar.sync 0; tcgen05.fence::after_thread_sync;\n\
         setp.ne.u32 %p3, %t, %t; setp.eq.u32 %p4, %t, %t; add.u32 %r6, %r0, 1024; shr.u32 %r6, %r6, 4;\n\
         cvt.u64.u32 %d1, %r6; or.b64 %d2, %d1, 0x0000401000080000; add.u64 %d3, %d2, 256; mov.b32 %r7, {descriptor};\n\
         @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r4+0], {factor}, %d3, %r7, %p3;\n\
         @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r4+0], {factor}, %d3, %r7, %p4;\n\
         @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r0+8];\n\
         W: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r0+8], 0; @!%p5 bra W;\n\
         tcgen05.ld.sync.aligned.{shape}.x8.b32 {{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}}, [%r5+0]{half};\n\
         tcgen05.wait::ld.sync.aligned; mad.wide.u32 %d4, %t, 32, %out;\n\
         st.global.v4.u32 [%d4], {{%r10, %r11, %r12, %r13}}; st.global.v4.u32 [%d4+16], {{%r14, %r15, %r16, %r17}};\n\
         bar.sync 0; @%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;"
    );
    file(".shared .align 1024 .b8 box[10240];", &body)
}

/// Each thread stores a row of the left factor.
const ROWS_OF_LEFT: &str = "mad.wide.u32 %d5, %t, 32, %in; ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d5];\n\
     ld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%d5+16];\n\
     tcgen05.st.sync.aligned.32x32b.x8.b32 [%r5+32], {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17};";

/// Returns the words of a matrix of halves, in the layout of descriptors with 128 bytes between parts.
fn in_parts(matrix: &[Vec<f64>]) -> Vec<u32> {
    let words = matrix.len() * matrix[0].len() / 2;
    let mut found = vec![0; words];
    for (row, values) in matrix.iter().enumerate() {
        for (pair, two) in values.chunks(2).enumerate() {
            // 8 rows of 16 bytes are a part; the two parts of a row are contiguous.
            let at = row / 8 * 64 + pair / 4 * 32 + row % 8 * 4 + pair % 4;
            found[at] = half(two[0]) | half(two[1]) << 16;
        }
    }
    found
}

/// Rows of 128 or 64 by 16 columns: the product is added to itself, and is in the lanes that the ISA defines.
#[test]
fn tensor_memory() {
    for (rows, left) in [(128, ""), (64, ""), (128, ROWS_OF_LEFT)] {
        let (a, b) = (matrix(rows, 16, 3), matrix(16, 16, 5));
        let mut input = if left.is_empty() { in_parts(&a) } else { halves(&a) };
        input.resize(1024, 0);
        input.extend(in_parts(&b));
        let found = words(&tensor(rows as u32, left), 128, &input, 1024);
        for thread in 0..128 {
            // Of 64 rows, the lower threads of a warp have the first eight columns, and the upper ones the others.
            let (row, first) = match rows {
                128 => (thread, 0),
                _ => (thread / 32 * 16 + thread % 16, thread % 32 / 16 * 8),
            };
            for column in 0..8 {
                let expected = 2.0 * (0..16).map(|i| a[row][i] * b[first + column][i]).sum::<f64>();
                let value = f32::from_bits(found[thread * 8 + column]);
                assert!((f64::from(value) - expected).abs() < 1e-4, "{rows} {row} {column}: {value}, not {expected}");
            }
        }
    }
}

/// Unmodelled and invalid uses of tensor memory stop a launch with a reason.
#[test]
fn tensor_memory_refuses() {
    let plain = tensor(128, "");
    let cases = [
        ("mov.b32 %r7, 134479888", "mov.b32 %r7, 134479889", "the descriptor 0x08040011"),
        ("or.b64 %d2, %d1, 0x00004", "or.b64 %d2, %d1, 0x20004", "the layout of a shared-memory descriptor"),
        ("[%r4+0], %d2", "[%r4+60], %d2", "unallocated"),
        ("shl.b32 %r5, %r5, 21", "shl.b32 %r5, %r5, 22", "tensor memory"),
        ("bar.sync 0; @%p0 tcgen05.dealloc", "@%p0 tcgen05.dealloc", "tensor memory"),
        ("%r4, 64;", "%r4, 32;", "no allocation has this start and size"),
        ("[%r0], 64;", "[%r0], 48;", "48 columns"),
        ("kind::f16", "kind::mxf4", "kind::mxf4"),
    ];
    for (from, to, expected) in cases {
        let text = plain.replace(from, to);
        assert_ne!(text, plain, "{from}");
        let reason = reason(&text, 128);
        assert!(reason.contains(expected), "{from}: {reason}");
    }
    // Threads that do not wait for the product race with it, or read undefined values.
    let text = plain.replace("W: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r0+8], 0; @!%p5 bra W;", "");
    assert_ne!(text, plain);
    let reason = reason(&text, 128);
    assert!(["race", "uninitialised"].iter().any(|known| reason.contains(known)), "{reason}");
}
