//! Edits change only the lines that they concern.

use super::{edited, kernel, view};

const BODY: &str = "\t.reg .pred \t%p<3>;\n\t.reg .f32 \t%f<3>;\n\t.reg .b32 \t%r<5>;\n\t.reg .b64 \t%rd<2>;\n\n\
    // %bb.0:\n\
    \tld.param.b64 \t%rd1, [k_param_0]; // the pointer\n\
    \tmov.b32 \t%r1, 7;\n\
    \tadd.s32 \t%r2, %r1, 1;\n\
    \tst.global.b32 \t[%rd1], %r2;\n\
    $L__BB0_1:\n\
    \t.pragma \"nounroll\";\n\
    \tadd.s32 \t%r2, %r2, %r1;\n\
    \tsetp.lt.s32 \t%p1, %r2, 90;\n\
    \t@%p1 bra \t$L__BB0_1;\n\
    \tst.global.b32 \t[%rd1+4], %r2;\n\
    \tret;";

// The registers are %0 = %rd1, %1 = %r1, %2 = %r2, %3 = %p1; the instructions are i0 to i8.

/// Returns the lines that edits remove, and the lines that they add.
fn difference(edits: &str) -> (Vec<String>, Vec<String>) {
    let before = kernel(BODY);
    let after = edited(&before, edits).unwrap_or_else(|reason| panic!("{reason}"));
    lines_of(&before, &after)
}

fn lines_of(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let only_in = |one: &str, other: &str| {
        let mut left: Vec<&str> = other.lines().collect();
        let mut only = Vec::new();
        for line in one.lines() {
            match left.iter().position(|&other| other == line) {
                Some(at) => _ = left.remove(at),
                None => only.push(line.trim().replace('\t', "")),
            }
        }
        only
    };
    (only_in(before, after), only_in(after, before))
}

fn expect(edits: &str, gone: &[&str], new: &[&str]) {
    let (was, is) = difference(edits);
    assert_eq!(
        (was, is),
        (gone.iter().map(|&l| l.into()).collect(), new.iter().map(|&l| l.into()).collect()),
        "{edits}"
    );
}

/// Each kind of edit changes the expected lines.
#[test]
fn every_kind() {
    expect(
        "create-register %4 B32\ninsert-copy i9 in bb0 before i2 %4 %1",
        &[],
        &[".reg .b32 %vr<1>;", "mov.b32 %vr0, %r1;"],
    );
    expect(
        "create-register %4 B32\ninsert-constant i9 in bb1 %4 MOV_B32_i -5",
        &[],
        &[".reg .b32 %vr<1>;", "mov.b32 %vr0, -5;"],
    );
    expect(
        "create-register %4 B32\ninsert-clone i9 in bb1 before i4 %4 i1\nset-register i4 operand 2 %4",
        &["add.s32 %r2, %r2, %r1;"],
        &[".reg .b32 %vr<1>;", "mov.b32 %vr0, 7;", "add.s32 %r2, %r2, %vr0;"],
    );
    expect("delete i3", &["st.global.b32 [%rd1], %r2;"], &[]);
    expect(
        "merge %1 into %2",
        &["mov.b32 %r1, 7;", "add.s32 %r2, %r1, 1;", "add.s32 %r2, %r2, %r1;"],
        &["mov.b32 %r2, 7;", "add.s32 %r2, %r2, 1;", "add.s32 %r2, %r2, %r2;"],
    );
    expect("set-immediate i2 operand 1 MOV_B32_i 12", &["add.s32 %r2, %r1, 1;"], &["add.s32 %r2, 12, 1;"]);
    expect("insert-directive \".pragma \\\"enable_smem_spilling\\\";\"", &[], &[".pragma \"enable_smem_spilling\";"]);
    expect("set-attribute \"nvvm.maxnreg\" \"64\"", &[], &[".maxnreg 64"]);
}

/// A pragma that ptxas ignores is repeated once after the label.
#[test]
fn pragmas_behind_labels() {
    let pragma = "\t.pragma \"nounroll\";\n";
    let ahead = BODY.replace(&format!("$L__BB0_1:\n{pragma}"), &format!("{pragma}$L__BB0_1:\n"));
    let after = edited(&kernel(&ahead), "insert-pragma bb1").unwrap_or_else(|reason| panic!("{reason}"));
    let both = kernel(&BODY.replace("$L__BB0_1:\n", &format!("{pragma}$L__BB0_1:\n")));
    assert_eq!(after, both);
    let of = |text: &str| view(text).lines().find(|line| line.starts_with("bb1:")).map(str::to_owned);
    assert_eq!(of(&kernel(&ahead)).as_deref(), Some("bb1: frequency 10.0 depth 1 nounroll ahead -> bb1 bb2"));
    assert_eq!(of(&after).as_deref(), Some("bb1: frequency 10.0 depth 1 nounroll -> bb1 bb2"));
}

/// Moved instructions keep their lines. Other statements keep their places.
#[test]
fn other_orders() {
    let after = edited(&kernel(BODY), "permute bb0 i1 i0 i2 i3").unwrap_or_else(|reason| panic!("{reason}"));
    let (gone, new) = lines_of(&kernel(BODY), &after);
    assert!(gone.len() <= 2 && new.len() <= 2, "{gone:?} {new:?}");
    let (mov, load) = (after.find("mov.b32"), after.find("ld.param"));
    assert!(mov < load, "{after}");
    let after = edited(&kernel(BODY), "move i3 in bb1 before i5").unwrap_or_else(|reason| panic!("{reason}"));
    let place = |text: &str| after.find(text).unwrap_or_else(|| panic!("{text} is there\n{after}"));
    assert!(place("$L__BB0_1:") < place("nounroll") && place("nounroll") < place("[%rd1], %r2"), "{after}");
}

/// A new block on an edge follows all other blocks and ends with a branch.
#[test]
fn split_edges() {
    expect(
        "create-register %4 B32\nsplit-edge bb3 from bb1 to bb1\ninsert-copy i9 in bb3 %4 %1",
        &["@%p1 bra $L__BB0_1;"],
        &[
            ".reg .b32 %vr<1>;",
            "@%p1 bra $L__nvptx_ra_3;",
            "$L__nvptx_ra_3:",
            "mov.b32 %vr0, %r1;",
            "bra.uni $L__BB0_1;",
        ],
    );
    // The fall-through edge gets a branch, and the target of the edge gets a label.
    expect(
        "split-edge bb3 from bb1 to bb2",
        &[],
        &["bra.uni $L__nvptx_ra_3;", "$L__nvptx_ra_2:", "$L__nvptx_ra_3:", "bra.uni $L__nvptx_ra_2;"],
    );
}

/// Slots are in local memory, at an address that ptxas does not know, or are a thread's part of an array in shared
/// memory. The code at the start of the function computes the addresses. For shared memory, it multiplies the thread's
/// index by the size of a slot.
#[test]
fn slots() {
    expect(
        "create-slot slot0 size 4 align 4\ncreate-slot slot1 size 8 align 8\ncreate-register %4 B32\n\
         insert-spill i9 in bb0 before i2 %1 slot0\ninsert-spill i10 in bb0 before i2 %0 slot1\n\
         insert-reload i11 in bb1 before i4 %4 slot0",
        &[],
        &[
            ".reg .b32 %vr<2>;",
            ".local .align 8 .b8 nvptx_ra_local[16];",
            "{ .reg .b32 %nvptx_ra<2>;",
            "mov.u32 %nvptx_ra0, %nctaid.z;",
            "shr.u32 %nvptx_ra0, %nvptx_ra0, 16;",
            "mov.u32 %nvptx_ra1, nvptx_ra_local;",
            "add.u32 %vr1, %nvptx_ra1, %nvptx_ra0;",
            "}",
            "st.local.b32 [%vr1+0], %r1;",
            "st.local.b64 [%vr1+8], %rd1;",
            "ld.local.b32 %vr0, [%vr1+0];",
        ],
    );
    let text = kernel(BODY).replace(")\n{", ")\n.reqntid 32, 4\n{");
    let edits = "create-shared-array threads 128 bytes 1024\ncreate-shared-slot slot0 size 4 offset 0\n\
        insert-spill i9 in bb0 before i2 %1 slot0";
    let after = edited(&text, edits).unwrap_or_else(|reason| panic!("{reason}"));
    let (gone, new) = lines_of(&text, &after);
    assert!(gone.is_empty(), "{gone:?}");
    assert_eq!(
        new,
        [
            ".reg .b32 %vr<1>;",
            ".shared .align 1024 .b8 nvptx_ra_spills[1024];",
            "{ .reg .b32 %nvptx_ra<4>;",
            "mov.u32 %nvptx_ra0, %tid.y;",
            "mov.u32 %nvptx_ra2, %tid.x;",
            "mad.lo.u32 %nvptx_ra0, %nvptx_ra0, 32, %nvptx_ra2;",
            "mov.u32 %nvptx_ra3, nvptx_ra_spills;",
            "mad.lo.u32 %vr0, %nvptx_ra0, 4, %nvptx_ra3;",
            "}",
            "st.volatile.shared.b32 [%vr0+0], %r1;",
        ]
    );
}

/// Spilled predicates are bits of a register that is cleared at the start. A jump to the first label does not reach the
/// start.
#[test]
fn bits() {
    let body = "\t.reg .pred \t%p<2>;\n\t.reg .b32 \t%r<2>;\n$first:\n\tmov.u32 \t%r1, %tid.x;\n\tsetp.eq.s32 \t%p1, %r1, 0;\n\t@%p1 bra \t$first;\n\tret;";
    let edits = "create-bit-slot slot0 word 0 bit 5\ncreate-register %2 B1\n\
        insert-spill i4 in bb1 before i2 %1 slot0\ninsert-reload i5 in bb1 before i2 %2 slot0\nset-register i2 operand 1 %2";
    let text = kernel(body);
    let after = edited(&text, edits).unwrap_or_else(|reason| panic!("{reason}"));
    let (gone, new) = lines_of(&text, &after);
    assert_eq!(gone, ["@%p1 bra $first;"]);
    let expected = [
        ".reg .pred %vp<1>;",
        ".reg .b32 %vr<1>;",
        "mov.b32 %vr0, 0;",
        "{ .reg .b32 %nvptx_ra<2>;",
        "selp.b32 %nvptx_ra0, 32, 0, %p1;",
        "and.b32 %nvptx_ra1, %vr0, -33;",
        "or.b32 %vr0, %nvptx_ra1, %nvptx_ra0;",
        "}",
        "{ .reg .b32 %nvptx_ra<2>;",
        "and.b32 %nvptx_ra0, %vr0, 32;",
        "setp.ne.s32 %vp0, %nvptx_ra0, 0;",
        "}",
        "@%vp0 bra $first;",
    ];
    assert_eq!(new, expected);
    assert!(after.find("mov.b32 %vr0, 0;") < after.find("$first:"), "{after}");
}

/// A constant sets or clears its bit without a predicate. Any number but 0 is true.
#[test]
fn bits_of_constants() {
    let body = "\t.reg .pred \t%p<3>;\n\tmov.pred \t%p1, 2;\n\tmov.pred \t%p2, 0;\n\t@%p1 bra \t$end;\n\t@%p2 bra \t$end;\n$end:\n\tret;";
    let edits = "create-bit-slot slot0 word 0 bit 31\ncreate-bit-slot slot1 word 0 bit 0\n\
        insert-spill i5 in bb0 before i1 %0 slot0\ninsert-spill i6 in bb0 before i2 %1 slot1";
    let text = kernel(body);
    let after = edited(&text, edits).unwrap_or_else(|reason| panic!("{reason}"));
    let (gone, new) = lines_of(&text, &after);
    assert!(gone.is_empty(), "{gone:?}");
    let expected =
        [".reg .b32 %vr<1>;", "mov.b32 %vr0, 0;", "or.b32 %vr0, %vr0, -2147483648;", "and.b32 %vr0, %vr0, -2;"];
    assert_eq!(new, expected);
}

/// Registers of 128 bits are stored whole, and their slots in local memory have this alignment.
#[test]
fn slots_of_128_bits() {
    let body = "\t.reg .b64 \t%rd<3>;\n\t.reg .b128 \t%rq<2>;\n\tmov.b64 \t%rd1, 7;\n\tmov.b128 \t%rq1, {%rd1, %rd1};\n\
        \tmov.b128 \t{%rd1, %rd2}, %rq1;\n\tret;";
    let edits = "create-slot slot0 size 8 align 8\ncreate-slot slot1 size 16 align 8\ncreate-register %4 B128\n\
        insert-spill i4 in bb0 before i2 %1 slot1\ninsert-reload i5 in bb0 before i2 %4 slot1\nset-register i2 operand 2 %4";
    let text = kernel(body);
    let after = edited(&text, edits).unwrap_or_else(|reason| panic!("{reason}"));
    let (_, new) = lines_of(&text, &after);
    for line in [
        ".local .align 16 .b8 nvptx_ra_local[32];",
        "st.local.b128 [%vr0+16], %rq1;",
        "ld.local.b128 %vq0, [%vr0+16];",
        "mov.b128 {%rd1, %rd2}, %vq0;",
    ] {
        assert!(new.iter().any(|new| new == line), "{line}: {new:?}");
    }
}

/// If `.reqntid` is absent, the code computes the dimensions of the block, and the array has space for the most
/// threads. Slots of two bytes are two bytes apart.
#[test]
fn threads_and_halves() {
    let body = "\t.reg .b16 \t%rs<2>;\n\tld.global.b16 \t%rs1, [g];\n\tst.global.b16 \t[g], %rs1;\n\tret;";
    let text = format!(".global .align 2 .b8 g[2];\n{}", kernel(body));
    let edits = "create-shared-array threads 96 bytes 1024\ncreate-shared-slot slot0 size 2 offset 192\n\
        insert-spill i3 in bb0 before i1 %0 slot0\nset-attribute \"nvvm.maxntid\" \"96\"";
    let after = edited(&text, edits).unwrap_or_else(|reason| panic!("{reason}"));
    let (gone, new) = lines_of(&text, &after);
    assert!(gone.is_empty(), "{gone:?}");
    assert_eq!(new[0], ".maxntid 96");
    assert!(new.iter().any(|line| *line == "mad.lo.u32 %vr0, %nvptx_ra0, 2, %nvptx_ra3;"), "{new:?}");
    assert_eq!(new.last().map(|line| &**line), Some("st.volatile.shared.b16 [%vr0+192], %rs1;"));
}

/// A register that replaces another gets a type that all instructions accept.
#[test]
fn types_fit() {
    let text = kernel(
        "\t.reg .f32 \t%f<3>;\n\t.reg .b32 \t%r<3>;\n\tmov.f32 \t%f1, 0f00000000;\n\tmov.b32 \t%r1, %f1;\n\tret;",
    );
    let after = edited(&text, "merge %1 into %0").unwrap_or_else(|reason| panic!("{reason}"));
    assert!(after.contains(".reg .b32 \t%f<3>;") && after.contains("mov.b32 \t%f1, %f1;"), "{after}");
}

/// Moved instructions keep their source lines. The places that a line is inlined at precede it.
#[test]
fn source_lines() {
    let text = kernel(
        "\t.reg .b32 \t%r<4>;\n\tmov.b32 \t%r0, 0;\n\t.loc\t1 5 1\n\tmov.b32 \t%r1, 1;\n\t.loc\t2 7 3, function_name $L__s, inlined_at 1 5 1\n\
         \tmov.b32 \t%r2, 2;\n\t.loc\t1 9 1\n\tmov.b32 \t%r3, 3;\n\tret;",
    );
    let after = edited(&text, "permute bb0 i3 i2 i1 i0 i4").unwrap_or_else(|reason| panic!("{reason}"));
    let words: Vec<&str> =
        after.lines().map(str::trim).filter(|line| line.starts_with(".loc") || line.starts_with("mov")).collect();
    let words: Vec<String> = words.iter().map(|line| line.replace('\t', " ")).collect();
    assert_eq!(
        words,
        [
            ".loc 1 9 1",
            "mov.b32  %r3, 3;",
            ".loc 1 5 1",
            ".loc 2 7 3, function_name $L__s, inlined_at 1 5 1",
            "mov.b32  %r2, 2;",
            ".loc 1 5 1",
            "mov.b32  %r1, 1;",
            "mov.b32  %r0, 0;",
            ".loc 1 9 1",
        ]
    );
}

/// Edits are refused if they would split a register that keeps its old value, if a scope hides a name, and if debug
/// information refers to registers.
#[test]
fn refusals() {
    let conditional =
        kernel("\t.reg .pred %p<2>; .reg .b32 %r<3>;\n\t@%p1 mov.b32 \t%r1, 5;\n\tmov.b32 %r2, %r1;\n\tret;");
    let refused = edited(&conditional, "create-register %3 B32\nset-register i0 operand 0 %3");
    assert!(refused.is_err_and(|reason| reason.contains("keeps its old value")));
    let hidden = kernel(
        "\t.reg .b32 %r<4>;\n\tmov.b32 %r1, 1;\n\tmov.b32 %r2, 2;\n\t{ .reg .b32 %r1; mov.b32 %r1, %r2; add.s32 %r3, %r1, %r2; }\n\tret;",
    );
    let refused = edited(&hidden, "merge %1 into %0");
    assert!(refused.is_err_and(|reason| reason.contains("declares its own")));
    let debug = kernel(BODY) + ".section .debug_loc { .b8 1 }\n";
    assert!(edited(&debug, "delete i3").is_err_and(|reason| reason.contains("debug information")));
}

/// A new register does not get an existing name.
#[test]
fn fresh_names() {
    let text = kernel("\t.reg .b32 %vr<4>;\n\tmov.b32 %vr1, 1;\n\tret;");
    let after = edited(&text, "create-register %1 B32\ninsert-copy i2 in bb0 before i1 %1 %0");
    assert!(after.is_ok_and(|after| after.contains("mov.b32 %vr_0, %vr1;")));
}
