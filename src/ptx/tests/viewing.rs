//! Views agree with the PTX.

use super::{kernel, view};
use crate::ptx::Module;

const REGISTERS: &str = "\t.reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<10>; .reg .b64 %rd<6>;\n";

/// Returns the instructions of a body, as the view prints them.
fn insts(body: &str) -> Vec<String> {
    let text = view(&kernel(&format!("{REGISTERS}{body}")));
    text.lines().filter(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

fn reason(body: &str) -> String {
    let text = kernel(&format!("{REGISTERS}{body}"));
    let module = Module::read("a.ptx", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    match module.view(&module.bodies()[0]) {
        Ok(view) => view.odd.unwrap_or_default(),
        Err(reason) => reason,
    }
}

/// A definition under a predicate reads the old value. If the complement defines the register, too, the old value is
/// undefined.
#[test]
fn conditional_definitions() {
    let alone = insts("@%p1 mov.u32 %r3, 5;");
    assert_eq!(alone, ["%0 tied 3 = \"@mov.u32/ri\" 5, %1, implicit %0 tied 0"]);
    let negated = insts("@!%p1 add.s32 %r3, %r4, 1;");
    assert!(
        negated[0].contains("implicit %0 tied 0") && negated[0].starts_with("%0 tied 5 = \"@add.s32/rri\""),
        "{negated:?}"
    );
    let both = insts("@%p1 mov.u32 %r3, 5; @%p1 st.global.b32 [%rd1], %r3; @!%p1 mov.u32 %r3, 6;");
    assert!(both[0].contains("implicit undef %0"), "{both:?}");
    assert!(!both[2].contains("undef"), "{both:?}");
    for between in ["st.global.b32 [%rd1], %r3;", "setp.eq.s32 %p1, %r1, 0;", "$L: bra.uni $L;"] {
        let read = insts(&format!("@%p1 mov.u32 %r3, 5; {between} @!%p1 mov.u32 %r3, 6;"));
        assert!(!read[0].contains("undef"), "{read:?}");
    }
    let vector = insts("@%p1 ld.global.v2.b32 {%r1, %r2}, [%rd1];");
    assert!(
        vector[0].starts_with("%0 tied 5, %1 tied 6 = \"@ld.global.v2.b32/v2a\" %2, 0, %3, implicit %0"),
        "{vector:?}"
    );
}

/// Moves, loads and stores have LLVM's names and operands.
#[test]
fn names_of_llvm() {
    for (text, expected) in [
        ("mov.b32 %r1, %r2;", "%0 = MOV_B32_r %1"),
        ("mov.f32 %r1, 0f3F800000;", "%0 = MOV_F32_i float 0x3f800000"),
        ("mov.u64 %rd1, -7;", "%0 = MOV_B64_i -7"),
        ("mov.pred %p1, %p2;", "%0 = MOV_B1_r %1"),
        ("mov.b64 %rd1, {%r1, %r2};", "%0 = V2I32toI64 %1, %2"),
        ("mov.b64 {%r1, %r2}, %rd1;", "%1, %2 = I64toV2I32 %0"),
        ("mov.b64 {_, %r2}, %rd1;", "%1 = I64toI32H %0"),
        ("mov.b32 {%rs1, _}, %r1;", "%1 = I32toI16L %0"),
        ("mov.b64 %rd1, k_param_0;", "%0 = MOV64_PARAM @0"),
        ("ld.param.u64 %rd1, [k_param_0];", "%0 = LD_i64 0, 0, 101, 3, 64, -1, @0, 0"),
        ("ld.global.b32 %r1, [%rd1+-8];", "%0 = LD_i32 0, 0, 1, 3, 32, -1, %1, -8 :: read global"),
        ("ld.shared.s8 %rs1, [%r1];", "%0 = LD_i16 0, 0, 3, 1, 8, -1, %1, 0 :: read shared"),
        ("st.volatile.shared.v2.b32 [%r1], {%r2, 7};", "STV_i32_v2 %0, 7, 8, 0, 3, 32, %1, 0 :: write ordered shared"),
        ("mov.u32 %r1, %tid.x;", "%0 = \"mov.u32/%tid.x\""),
        (
            "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;",
            "%0, %1 = \"shfl.sync.idx.b32/rrriii\" %2, 0, 31, -1 :: convergent",
        ),
        ("selp.b32 %r1, %r2, 3, %p1;", "%0 = \"selp.b32/rrir\" %1, 3, %2"),
        ("and.pred %p1, %p2, !%p3;", "%0 = \"and.pred/rrn\" %1, %2, @0"),
        (
            "atom.shared.add.u32 %r1, [%r2], 1;",
            "%0 = \"atom.shared.add.u32/rai\" %1, 0, 1 :: read write ordered shared",
        ),
        ("red.global.add.u32 [%rd1], %r1;", "\"red.global.add.u32/ar\" %0, 0, %1 :: read write ordered global"),
    ] {
        assert_eq!(insts(text), [expected], "{text}");
    }
}

/// A stack variable is a slot, and LLVM's opcode computes its address.
#[test]
fn slots_of_the_stack() {
    let text = view(&kernel(&format!(
        "\t.local .align 16 .b8 depot[48];\n{REGISTERS}mov.b64 %rd1, depot; mov.b64 %rd2, depot+8; st.local.b32 [depot+4], %r1;"
    )));
    assert!(text.contains("slot0 size 48 align 16"), "{text}");
    assert!(text.contains("%0 = LEA_ADDRi64 slot0, 0") && text.contains("%1 = LEA_ADDRi64 slot0, 8"), "{text}");
    assert!(text.contains("ST_i32 %2, 0, 0, 5, 32, slot0, 4"), "{text}");
}

/// Blocks begin at labels that are branch targets, and after branches. Other labels begin no block.
#[test]
fn blocks_and_edges() {
    let text = view(&kernel(&format!(
        "{REGISTERS}$L__tmp: setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L2;\nbra.uni $L1;\n$L__unnamed: $L1: $L2:\n\
         list: .branchtargets $L1, $L3;\nbrx.idx %r1, list;\n$L3: @%p1 ret;\n"
    )));
    let edges: Vec<&str> = text.lines().filter(|line| line.starts_with("bb")).collect();
    assert_eq!(edges.len(), 4, "{text}");
    assert!(edges[0].ends_with("-> bb1") && edges[1].ends_with("-> bb1 bb2"), "{text}");
    assert!(edges[2].ends_with("-> bb3") && edges[3].ends_with("depth 0"), "{text}");
}

/// `.pragma "nounroll"` has an effect at the places where ptxas 13.0.88 obeys it: anywhere in the block of the loop's
/// header, also in a scope or among other values; in the head of the function; and outside of functions.
#[test]
fn pragmas_of_loops() {
    const PRAGMA: &str = ".pragma \"nounroll\";";
    let of = |text: &str| view(text).lines().find(|line| line.starts_with("bb1:")).expect("a loop").to_owned();
    let told = |line: &str| match line.split_once("nounroll") {
        None => "no",
        Some((_, rest)) if rest.starts_with(" ahead") => "ahead",
        Some(_) => "yes",
    };
    let body = |ahead: &str, first: &str, last: &str, behind: &str| {
        kernel(&format!(
            ".reg .pred %p<2>; .reg .b32 %r<2>;\nmov.u32 %r1, 0;\n{ahead}\n$L:\n{first}\nadd.s32 %r1, %r1, 1;\n{last}\n\
             setp.ne.s32 %p1, %r1, 9;\n@%p1 bra $L;\n{behind}\nret;"
        ))
    };
    for (text, expected) in [
        (body("", "", "", ""), "no"),
        (body("", PRAGMA, "", ""), "yes"),
        (body("", "", PRAGMA, ""), "yes"),
        (body("", ".pragma \"x\", \"nounroll\";", "", ""), "yes"),
        (body("", "{ .pragma \"nounroll\"; }", "", ""), "yes"),
        (body(PRAGMA, "", "", ""), "ahead"),
        (body(&format!("{PRAGMA} $N:"), "", "", ""), "ahead"),
        (body(&format!("{PRAGMA} mov.u32 %r1, 1;"), "", "", ""), "no"),
        (body("{ .pragma \"nounroll\"; }", "", "", ""), "no"),
        (body("", ".pragma \"x\";", "", PRAGMA), "no"),
        (body("", "", "", "").replace("\n{", &format!("\n{PRAGMA}\n{{")), "yes"),
        (body("", "", "", "") + PRAGMA, "yes"),
    ] {
        assert_eq!(told(&of(&text)), expected, "{text}");
    }
}

/// A scope is one instruction, and its own names hide the function's names. A result that is written before the scope's
/// last read is early-clobber.
#[test]
fn scopes() {
    let scope = insts("{ .reg .b32 %r5; mov.b32 %r5, %r1; add.s32 %r2, %r5, %r5; xor.b32 %r3, %r4, %r2; }");
    let text = view(&kernel(&format!(
        "{REGISTERS}{{ .reg .b32 %r5; mov.b32 %r5, %r1; add.s32 %r2, %r5, %r5; xor.b32 %r3, %r4, %r2; }}"
    )));
    assert!(text.contains("mov.b32 %r5, $2; add.s32 $0, %r5, %r5; xor.b32 $1, $3, $0;"), "{text}");
    assert_eq!(scope, ["INLINEASM @0, 0, 11, def early_clobber %1, 10, def %3, 9, %0, 9, %2"]);
    let conditional = insts("{ @%p1 mov.b32 %r1, 5; }");
    assert!(conditional[0].contains("def %1 tied 7") && conditional[0].contains("%1 tied 3"), "{conditional:?}");
    let waits = insts("{ .reg .pred P; LOOP: mbarrier.try_wait.shared.b64 P, [%r1], %rd1; @!P bra LOOP; }");
    assert!(waits[0].contains("opaque"), "{waits:?}");
}

/// A call with its parameters is one instruction. The called function is known.
#[test]
fn calls() {
    let call =
        insts("{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 r; call.uni (r), f, (a); ld.param.b32 %r2, [r]; }");
    assert_eq!(call.len(), 1);
    assert!(call[0].starts_with("%1 = \"call/scope\" %0, @0, @1 :: call_sequence trap opaque"), "{call:?}");
}

/// Registers of asynchronous instructions are read and written by the instructions that wait for them.
#[test]
fn asynchronous_instructions() {
    let insts = insts(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1,%r2,%r3,%r4}, %rd1, %rd2, 1, 1, 1, 0, 0;\n\
         wgmma.wait_group.sync.aligned 0;",
    );
    assert!(insts[0].matches("implicit").count() == 4, "{insts:?}");
    assert!(insts[1].matches("def implicit").count() + insts[1].matches("implicit %").count() >= 8, "{insts:?}");
}

/// A wait has the registers of the groups that may be in flight at the wait. Groups are excluded if an earlier wait for
/// all groups has completed them. Groups that the wait does not cover and instructions outside of groups are included.
#[test]
fn waits_for_what_is_in_flight() {
    let product = |registers: &str| {
        format!("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{registers}}}, %rd1, %rd2, %p1, 1, 1, 0, 0;\n")
    };
    let (first, second) = (product("%r1,%r1,%r1,%r1"), product("%r2,%r2,%r2,%r2"));
    let (commit, wait) = ("wgmma.commit_group.sync.aligned;\n", "wgmma.wait_group.sync.aligned ");
    let ties = |code: String| {
        let waits: Vec<_> = insts(&code).into_iter().filter(|inst| inst.contains("wait_group")).collect();
        waits.iter().map(|wait| wait.matches(" tied ").count() / 2).collect::<Vec<_>>()
    };
    assert_eq!(ties(format!("{first}{commit}{wait}0;{second}{commit}{wait}0;")), [1, 1]);
    assert_eq!(ties(format!("{first}{commit}{wait}1;{second}{commit}{wait}0;")), [1, 2]);
    assert_eq!(ties(format!("{first}{wait}0;{second}{commit}{wait}0;{wait}0;")), [1, 2, 0]);
    assert_eq!(ties(format!("{first}{commit}@%p1 {wait}0;{second}{commit}{wait}0;")), [1, 2]);
    // The same holds around a loop.
    let around = format!("$L: {wait}0;{first}{commit}@%p1 bra $L;{wait}0;");
    assert_eq!(ties(around), [1, 1]);
}

/// An old value is not needed if the predicate is always true.
#[test]
fn predicates_that_are_true() {
    let code = |value: &str| insts(&format!("mov.pred %p1, {value};\n@%p1 ld.global.b32 %r1, [%rd1];"))[1].clone();
    assert!(code("-1").contains("undef %") && code("1").contains("undef %"), "{}", code("-1"));
    assert!(!code("0").contains("undef %"), "{}", code("0"));
    let twice = insts("mov.pred %p1, 1; mov.pred %p1, 0; @%p1 ld.global.b32 %r1, [%rd1];");
    assert!(!twice[2].contains("undef %"), "{twice:?}");
    assert!(!insts("mov.pred %p1, 1; @!%p1 ld.global.b32 %r1, [%rd1];")[1].contains("undef %"));
}

/// A product without an addend does not read its registers.
#[test]
fn products_alone() {
    let product = |scale: &str| {
        let code = format!(
            "mov.pred %p1, 0; mov.pred %p2, 1;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%r1,%r2,%r3,%r4}}, %rd1, %rd2, {scale}, 1, 1, 0, 0;"
        );
        insts(&code)[2].matches("undef %").count()
    };
    assert_eq!(["0", "%p1", "1", "%p2", "%p3"].map(product), [4, 4, 0, 0, 0]);
}

/// An unknown instruction may read and write all its registers. A partial write keeps the other parts of a register.
#[test]
fn conservative_reading() {
    let unknown = insts("strange.b32 %r1, [%rd1], {%r2};");
    assert!(unknown[0].starts_with("%0 tied 4, %1 tied 5, %2 tied 6 = \"strange/?\""), "{unknown:?}");
    assert!(unknown[0].contains("opaque") && unknown[0].contains("write"), "{unknown:?}");
    let part = insts(".reg .v2 .b32 %v; mov.b32 %v.x, %r1;");
    assert!(part[0].contains("implicit"), "{part:?}");
}

/// A function with hidden control flow or declarations cannot be edited, and the reason is reported.
#[test]
fn odd_functions() {
    assert_eq!(reason("mov.b32 %r1, 5;"), "");
    assert!(reason("mov.b32 %r1, 5; .reg .b32 %late;").contains("between"));
    assert!(reason("{ bra $L; } $L: ret;").contains("leaves a scope"));
    assert!(reason("bra $L; { $L: ret; }").contains("not a label of the function itself"));
    assert!(reason(".param .b32 a; st.param.b32 [a], %r1;").contains("outside of a scope"));
}

/// An instruction that waits for asynchronous instructions writes their registers, so no result is read before it.
#[test]
fn results_come_with_the_wait() {
    let load = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];";
    let all = insts(&format!("{load} tcgen05.wait::ld.sync.aligned; add.s32 %r4, %r1, %r2;"));
    assert!(all[1].contains("%0 tied") && all[1].contains("%1 tied"), "{all:?}");
    let product =
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1, 1, 1, 0, 0;";
    let all = insts(&format!("{product} wgmma.wait_group.sync.aligned 0; st.global.b32 [%rd3], %r1;"));
    assert!(all[1].contains("tied") && all[1].contains("wgmma.wait_group"), "{all:?}");
}

/// A parameter of a device function is loaded as if it were never written, unless the function takes the address of a
/// parameter. A kernel's parameters are in memory that is never written.
#[test]
fn parameters_that_may_be_written() {
    let reads = |head: &str, body: &str| {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n{head}(.param .u64 q, .param .align 4 .b8 p[16])\n{{\n{REGISTERS}{body}\n\
             ld.param.u32 %r1, [p+4];\nld.param.u32 %r2, [%rd2];\nret;\n}}\n"
        );
        view(&text)
            .lines()
            .filter(|line| line.contains("param") || line.contains("LD_i32"))
            .filter(|line| line.contains(":: read"))
            .count()
    };
    let takes = "mov.b64 %rd2, p; st.local.u32 [%rd2+4], 17;";
    assert_eq!(reads(".func f", ""), 0);
    assert_eq!(reads(".func f", takes), 2);
    assert_eq!(reads(".visible .entry f", takes), 0);
}
