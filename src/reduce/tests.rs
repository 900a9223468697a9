//! Reduction of PTX modules.

use super::{Candidate, Launch, reduce};

const TEXT: &str = ".version 8.8
.target sm_90
.address_size 64
.visible .entry other() { ret; }
.visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m)
.maxntid 128, 1, 1
{
.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
.loc 1 2 3
ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m];
setp.gt.s32 %p1, %r1, 12; @%p1 bra L;
add.s32 %r1, %r1, 900;
L: mul.lo.s32 %r3, %r1, %r2; xor.b32 %r4, %r3, 255; abs.s32 %r5, %r4;
st.global.b32 [%rd1], %r5; ret; }
";

/// The reduced kernel keeps the required code, which is a product, a store of a value computed from the product, and
/// the kernel's entry. Everything else is removed.
#[test]
fn small() {
    let launch = Launch {
        grid: [2, 1, 1],
        block: [128, 1, 1],
        arguments: vec![Some(vec![0, 0, 0, 0, 16, 0, 0, 0]), Some(vec![9, 0, 0, 0]), Some(vec![7, 0, 0, 0])],
        seed: 1,
    };
    let mut asked = 0;
    let first = Candidate { text: TEXT.into(), launch };
    let small = reduce(first, "k", &mut |candidate| {
        asked += 1;
        let text = &candidate.text;
        candidate.module().is_ok()
            && ["mul.lo.s32 %r3", ".entry k(", "st.global.b32"].iter().all(|part| text.contains(part))
            && candidate.launch.arguments.len() == text.matches(".param").count() - text.matches("ld.param").count()
    });
    assert!(asked < 400, "{asked}");
    for gone in [".loc", "other", "xor", "abs", "bra", "L:", "maxntid", "[m]", "900", ".pred"] {
        assert!(!small.text.contains(gone), "{gone}: {}", small.text);
    }
    assert_eq!(small.launch.grid, [1, 1, 1]);
    assert_eq!(small.launch.block, [1, 1, 1]);
    assert_eq!(small.launch.arguments.len(), 0);
    assert!(small.instructions() == 3, "{}", small.text);
    assert_eq!(small.text.lines().count(), 9, "{}", small.text);
}

/// The same text and the same test give the same result.
#[test]
fn deterministic() {
    let first = Candidate { text: TEXT.into(), launch: Launch::default() };
    let of =
        || reduce(first.clone(), "k", &mut |candidate| candidate.text.contains("mul") && candidate.module().is_ok());
    assert_eq!(of(), of());
}

/// A chain of moves becomes one register.
#[test]
fn moves() {
    let text = ".version 8.8\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<9>;\nmov.b32 %r1, %r0;\n\
                mov.b32 %r2, %r1;\nmul.lo.s32 %r3, %r2, %r2;\nst.global.b32 [%rd1], %r3;\nret;\n}\n";
    let first = Candidate { text: text.into(), launch: Launch::default() };
    // The factor is `%r0`, directly or through moves.
    let is_kept = |text: &str| {
        let behind = |start: String| Some(text.split_once(&start)?.1.split([',', ';']).next()?.to_owned());
        let mut factor = behind("mul.lo.s32 %r3, ".into());
        while let Some(source) = factor.as_ref().and_then(|name| behind(format!("mov.b32 {name}, "))) {
            factor = Some(source);
        }
        text.contains(".reg .b32 %r") && factor.as_deref() == Some("%r0")
    };
    let small = reduce(first, "k", &mut |candidate| candidate.module().is_ok() && is_kept(&candidate.text));
    assert!(small.text.contains("mul.lo.s32 %r3, %r0, %r0;") && !small.text.contains("mov"), "{}", small.text);
}

/// A register that is read but never written is found. Results and sources of one instruction are distinguished.
#[test]
fn unset_registers() {
    let of = |body: &str| {
        let text = format!(
            ".version 8.8\n.target sm_90\n.entry k()\n{{\n.reg .b32 %r<9>; .reg .pred %p<2>;\n{body}\nret;\n}}\n"
        );
        Candidate { text, launch: Launch::default() }.has_unset_registers()
    };
    assert!(!of("mov.b32 %r1, 0; add.s32 %r2, %r1, %r1; st.global.b32 [%r2], %r1;"));
    assert!(!of("mov.b32 %r1, 0; add.s32 %r1, %r1, 1; setp.ne.b32 %p1, %r1, 0; @%p1 bra L; L:"));
    assert!(of("st.global.b32 [0], %r3;") && of("mov.b32 %r1, %r2;") && of("@%p0 bra L; L:"));
}
