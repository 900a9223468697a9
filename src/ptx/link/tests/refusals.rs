//! Kernels that cannot be linked, each with the reason.

use super::linked;

const HEAD: &str = ".version 8.7\n.target sm_90\n.address_size 64\n";

/// Returns a file with a kernel that has a body.
fn file(before: &str, head: &str, body: &str) -> String {
    format!("{HEAD}{before}\n.visible .entry k{head}\n{{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %d<4>;\n{body}\n\tret;\n}}\n")
}

/// Returns the reason why kernel `k` is not replaced.
fn reason(own: &str, other: &str) -> String {
    linked(own, other, &["k"]).expect_err("it cannot be taken")
}

/// Returns the reason why kernel `k` is not replaced. Our file has only an empty kernel.
fn needs(before: &str, body: &str) -> String {
    reason(&file("", "()", ""), &file(before, "()", body))
}

/// Targets, address sizes and directives for all code must agree.
#[test]
fn files_that_do_not_fit() {
    let own = file("", "()", "");
    let with = |from: &str, to: &str| linked(&own, &own.replace(from, to), &["k"]);
    let refused = |from, to| with(from, to).expect_err("it does not fit");
    assert_eq!(
        refused("sm_90", "sm_90a"),
        "nvptx-ra: other.ptx: the target is sm_90a, and the target of own.ptx is sm_90; compile both files for sm_90"
    );
    assert!(refused("sm_90", "sm_100").contains("the target is sm_100"));
    assert!(refused("sm_90", "sm_90, texmode_independent").contains("texmode_independent"));
    assert!(refused("size 64", "size 32").contains("another size"));
    assert!(
        refused("size 64\n", "size 64\n.pragma \"nounroll\";\n")
            .contains("'.pragma \"nounroll\";' is for the whole file")
    );
    assert!(refused(".version 8.7\n", "").contains("version"));
    assert!(with("sm_90", "sm_80").is_ok());
    let own = own.replace("sm_90", "sm_90a");
    assert!(linked(&own, &own.replace("sm_90a", "sm_90"), &["k"]).is_ok());
    assert_eq!(linked(&own, &own, &["j"]), Err("the input has no such kernel".into()));
}

/// The result has the later version.
#[test]
fn later_versions() {
    let [older, newer] = ["8.7", "9.0"].map(|version| file("", "()", "").replace("8.7", version));
    assert_eq!(linked(&older, &newer, &["k"]), Ok(newer.clone()));
    assert_eq!(linked(&newer, &older, &["k"]), Ok(newer));
    assert_eq!(linked(&older, &file("", "()", "").replace("8.7", "9.0"), &[]), Ok(older));
}

/// Parameters must occupy the same bytes. Their types may differ.
#[test]
fn parameters() {
    let of = |own: &str, other: &str| linked(&file("", own, ""), &file("", other, "ld.param.u32 %r1, [b];"), &["k"]);
    let same = of("(.param .align 4 .b8 a[4], .param .b64 c)", "(.param .u32 b, .param .u64 .ptr .global .align 16 c)");
    assert!(same.as_ref().is_ok_and(|text| text.contains("[a]")), "{same:?}");
    for (own, other, expected) in [
        ("(.param .b32 a)", "(.param .b64 b)", "parameter 0 has 8 bytes aligned to 8 instead of 4 aligned to 4"),
        ("(.param .align 8 .b8 a[8])", "(.param .align 4 .b8 b[8])", "8 bytes aligned to 4 instead of 8 aligned to 8"),
        ("(.param .b32 a)", "(.param .b32 b, .param .b32 c)", "there are 2 parameters instead of 1"),
        ("(.param .b32 a)", "(.param .texref b)", "parameter 0 is a texture"),
        ("(.param .b32 %r1)", "(.param .b32 b)", "'%r1' is the name of a parameter"),
        ("(.param .b32 b, .param .b32 b2)", "(.param .b32 b2, .param .b32 b)", ""),
    ] {
        match of(own, other) {
            Err(reason) => assert!(!expected.is_empty() && reason.contains(expected), "{reason}"),
            Ok(text) => assert!(expected.is_empty() && text.contains("[b2]"), "{text}"),
        }
    }
}

/// The head stays, so the other kernel must allow every launch that our head allows.
#[test]
fn launches() {
    let of = |own: &str, other: &str| {
        linked(
            &file("", &format!("()\n{own}"), ""),
            &file("", &format!("()\n{other}"), "add.u32 %r1, %r2, %r3;"),
            &["k"],
        )
    };
    for (own, other) in [
        (".maxntid 128", ".maxntid 128, 1, 1"),
        (".maxntid 64", ".maxntid 128"),
        (".maxntid 16, 4", ".maxntid 64"),
        (".maxntid 16, 4", ".maxntid 32, 4, 1"),
        (".reqntid 64", ".maxntid 64"),
        (".reqntid 64", ".reqntid 64, 1, 1"),
        (".reqntid 64", ""),
        (".maxntid 64 .minnctapersm 2", ".maxntid 64 .minnctapersm 4 .maxnreg 32"),
    ] {
        let text = of(own, other).unwrap_or_else(|reason| panic!("{own} {other}: {reason}"));
        assert!(text.contains(own) && text.contains("add.u32"), "{text}");
    }
    for (own, other, expected) in [
        ("", ".maxntid 128", "at most 128 threads"),
        (".maxntid 256", ".maxntid 128", "at most 128 threads"),
        (".maxntid 64", ".maxntid 16, 4", "at most 16, 4 threads"),
        (".maxntid 64", ".reqntid 64", "only blocks of 64 threads"),
        (".reqntid 32", ".reqntid 64", "only blocks of 64 threads"),
        ("", ".reqnctapercluster 2", "another .reqnctapercluster"),
        (".maxclusterrank 4", "", "another .maxclusterrank"),
        ("", ".noreturn", "the directive '.noreturn'"),
    ] {
        let reason = of(own, other).expect_err(other);
        assert!(reason.contains(expected), "{reason}");
    }
}

/// Data that other files see must be the same object in both files.
#[test]
fn data_that_others_see() {
    let load = "ld.global.u32 %r1, [x];";
    let of = |own: &str, other: &str| linked(&file(own, "()", ""), &file(other, "()", load), &["k"]);
    let x = ".visible .global .align 4 .b32 x[2] = {1, 2};";
    for own in [
        x,
        ".visible .global .align 16 .b8 x[8] = {1, 0, 0, 0, 2};",
        ".visible .global .align 4 .u32 x[2] = {0x1, 02};",
    ] {
        let text = of(own, x).unwrap_or_else(|reason| panic!("{own}: {reason}"));
        assert!(text.contains(own) && text.matches("x[").count() == 1, "{text}");
    }
    for (own, expected) in [
        ("", "is missing"),
        (".visible .global .align 4 .b32 x[3] = {1, 2};", "has another size"),
        (".visible .global .align 4 .b16 x[4] = {1, 2};", "has another initial value"),
        (".visible .global .align 2 .b8 x[8] = {1, 0, 0, 0, 2};", "is less aligned"),
        (".visible .const .align 4 .b32 x[2] = {1, 2};", "is in another memory"),
        (".weak .global .align 4 .b32 x[2] = {1, 2};", "has another linkage"),
        (".extern .global .align 4 .b32 x[2];", "has another linkage"),
        (".func x(){ ret; }", "is missing in the input"),
        (".global .attribute(.managed) .align 4 .b32 x[2] = {1, 2};", "has an attribute"),
    ] {
        let reason = of(own, x).expect_err(own);
        assert!(reason.contains(expected), "{own}: {reason}");
    }
    let managed = ".visible .global .attribute(.managed) .align 4 .b32 x[2];";
    assert!(of(managed, managed).expect_err("managed").contains("has an attribute"));
    assert!(of("", ".extern .global .align 4 .b32 x[2];").expect_err("extern").contains("is missing"));
    assert!(of("", ".global .texref x;").expect_err("a texture").contains("is a texture"));
    assert!(of("", ".global .u64 x = generic(y);\n.global .u32 y;").expect_err("an address").contains("initialiser"));
}

/// Data that a compiler created is copied if no code writes it. Data of the source is one object.
#[test]
fn data_of_the_file() {
    let of = |own: &str, body: &str| {
        linked(&file(own, "()", ""), &file(".global .align 4 .b32 $x[2] = {1, 2};", "()", body), &["k"])
    };
    let same = ".global .align 4 .b32 $x[2] = {1, 2};";
    let reads = "mov.u64 %d1, $x; cvta.global.u64 %d2, %d1; add.s64 %d3, %d2, 4; ld.u32 %r1, [%d3];";
    let copied = of("", reads).expect("it is copied");
    assert!(copied.contains(same), "{copied}");
    assert!(of(same, reads).is_ok_and(|text| text.matches("$x[2]").count() == 1));
    for own in [".global .align 4 .b32 $x[2] = {3, 4};", ".global .align 2 .b32 $x[2] = {1, 2};", ".func $x(){ ret; }"]
    {
        let renamed = of(own, reads).expect("it is renamed");
        assert!(renamed.contains(".b32 $x_1[2] = {1, 2};") && renamed.contains("mov.u64 %d1, $x_1;"), "{renamed}");
        assert!(renamed.contains(own), "{renamed}");
    }
    for writes in [
        "st.global.u32 [$x], %r1;",
        "mov.u64 %d1, $x; mov.u64 %d2, %d1; st.global.u32 [%d2+4], %r1;",
        "mov.u64 %d1, $x; atom.global.add.u32 %r1, [%d1], 1;",
        "mov.u64 %d1, $x; st.local.u64 [%d3], %d1;",
        "mov.u64 %d1, $x; { .param .b64 p0; st.param.b64 [p0], %d1; .reg .b64 %f; call %f, (p0); }",
        "l: add.s64 %d2, %d1, 4; mov.u64 %d1, $x; red.global.add.u32 [%d2], 1; bra l;",
    ] {
        for own in ["", same] {
            let reason = of(own, writes).expect_err(writes);
            assert!(reason.contains("'$x', which may be written"), "{reason}");
        }
        // Data of the source with the same name is one object.
        let x = |text: &str| text.replace("$x", "x");
        assert!(linked(&file(&x(same), "()", ""), &file(&x(same), "()", &x(writes)), &["k"]).is_ok());
    }
    // The host may write data with a name in the source. The file does not show such a write.
    for (own, expected) in [("", "is missing"), (".global .align 4 .b32 x[2] = {3, 4};", "has another initial value")] {
        let other = file(".global .align 4 .b32 x[2] = {1, 2};", "()", "ld.global.u32 %r1, [x];");
        assert_eq!(reason(&file(own, "()", ""), &other), format!("the code needs 'x', which {expected} in the input"));
    }
    let written = "\n.visible .entry j(){ .reg .b32 %r<2>; st.global.u32 [$x], %r1; ret; }";
    let own = file(&format!("{same}{written}"), "()", "");
    assert!(reason(&own, &file(same, "()", reads)).contains("may be written"));
    assert!(reason(&file("", "()", ""), &file(".global .align 4 .b32 $x[2];", "()", reads)).contains("may be written"));
    let pointed = format!("{same}\n.global .u64 y = $x;");
    assert!(reason(&file("", "()", ""), &file(&pointed, "()", reads)).contains("may be written"));
    // Data that is passed only to system functions does not count as written.
    let text = ".global .align 1 .b8 $str[3] = {37, 100};\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);";
    let prints = "mov.u64 %d1, $str; { .param .b64 p0; st.param.b64 [p0], %d1; .param .b64 p1; st.param.b64 [p1], %d2;\n\
        .param .b32 r0; call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r1, [r0]; }";
    let printing = linked(&file("", "()", ""), &file(text, "()", prints), &["k"]).expect("it is copied");
    assert!(printing.contains(".extern .func (.param .b32 r) vprintf") && printing.contains("$str[3]"), "{printing}");
}

/// Shared memory is copied, or is an equal variable of our file. A copy is renamed if its name is in use.
#[test]
fn shared_memory() {
    let of = |own: &str, other: &str| {
        linked(&file(own, "()", ""), &file(other, "()", "mov.u64 %d1, x; st.shared.u32 [%d1], 5;"), &["k"])
    };
    let tile = ".shared .align 4 .b8 x[64];";
    assert!(of("", tile).is_ok_and(|text| text.contains(tile)));
    assert!(of(tile, tile).is_ok_and(|text| text.matches("x[64]").count() == 1));
    assert!(of(".shared .align 4 .b8 x[32];", tile).is_ok_and(|text| text.contains(".b8 x_1[64]")));
    assert!(of("", ".visible .shared .align 4 .b8 x[64];").is_err());
    let dynamic = ".extern .shared .align 16 .b8 x[];";
    assert!(of("", dynamic).is_ok_and(|text| text.contains(dynamic)));
    assert!(of(dynamic, dynamic).is_ok_and(|text| text.matches("x[]").count() == 1));
    assert!(of(".extern .shared .align 4 .b8 x[];", dynamic).is_ok_and(|text| text.contains(".align 16 .b8 x_1[]")));
    assert!(of("", ".extern .shared .align 16 .b8 x[64];").is_err());
    // Slots in shared memory may need more space than a launch has.
    assert!(needs("", ".pragma \"enable_smem_spilling\";").contains("spill to shared memory"));
    assert!(linked(&file("", "()", ""), &file("", "()", ".pragma \"nounroll\";"), &["k"]).is_ok());
}

/// Functions are copied under their own names, with internal linkage.
#[test]
fn functions() {
    let call = "call f;";
    let own = |before: &str| file(before, "()", "");
    let f = ".weak .func f(){ trap; ret; }\n";
    for before in ["", ".visible .func f(){ ret; }", ".global .u32 f;"] {
        let text = linked(&own(before), &file(f, "()", call), &["k"]).expect(before);
        let name = if before.is_empty() { "f" } else { "f_1" };
        assert!(text.contains(&format!(".func {name}(){{ trap; ret; }}")) && text.contains(&format!("call {name};")));
        assert!(!text.contains(".weak") && text.contains(before), "{text}");
    }
    assert!(needs(f, "mov.u64 %d1, f;").contains("takes the address of the function 'f'"));
    assert!(needs(".func f(){ ret; }\n.alias g, f;", "call g;").contains("'g' is an alias"));
    assert!(needs(".visible .entry j(){ ret; }", "mov.u64 %d1, j;").contains("uses the kernel 'j'"));
    assert!(needs(".func .attribute(.unified(1, 2)) f(){ ret; }", call).contains("has an attribute"));
    assert!(needs(".extern .func f();", call).contains("the function 'f', which the input does not declare"));
    let declared =
        |own: &str| reason(&file(own, "()", ""), &file(".extern .func f(.param .b32 a);", "()", "call f, (%r1);"));
    assert!(declared(".extern .func f(.param .b64 a);").contains("declared differently"));
    assert!(declared(".func f(.param .b32 a){ ret; }").contains("another function"));
    assert!(declared(".global .u32 f;").contains("is no function"));
    assert!(needs(".func f(){ strange [[; }", call).contains("'f': a statement that begins with 'strange'"));
}

/// A function is the same only if all symbols that it uses are the same.
#[test]
fn functions_of_the_same_text() {
    let with = |number: u32| {
        let functions = format!(
            ".global .align 4 .b32 $t[1] = {{{number}}};\n\
             .func g(){{ .reg .b32 %r<2>; ld.global.u32 %r1, [$t]; ret; }}\n.func f(){{ call g; ret; }}"
        );
        file(&functions, "()", "call f;")
    };
    assert_eq!(linked(&with(1), &with(1), &["k"]), Ok(with(1)));
    let text = linked(&with(1), &with(2), &["k"]).expect("it is taken");
    for part in
        [".b32 $t[1] = {1}", ".b32 $t_1[1] = {2}", "[$t_1]; ret;", ".func g_1(){", "call g_1; ret;", "\ncall f_1;"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Kernels with ambiguous names, debug information, constructors, or later declarations are refused.
#[test]
fn odd_files() {
    assert!(needs(".global .u32 x;", ".reg .b32 x; mov.u32 %r1, x;").contains("'x' has two meanings"));
    assert!(needs(".global .u32 x1;", ".reg .b32 x<3>; mov.u32 %r1, x1;").contains("'x1' has two meanings"));
    let labelled = |name: &str| {
        let section = format!(".section .debug_str\n{{\n{name}:\n.b8 0\n}}\n");
        reason(&(file("", "()", "$L1:") + &section), &file("", "()", "$L2:"))
    };
    assert!(labelled("$L1").contains("source lines refer to the label '$L1'"));
    assert!(labelled("$L2").contains("source lines refer to the label '$L2'"));
    let fixed = file("", "()", "") + ".section .debug_loc\n{\n.b8 0\n}\n";
    assert!(reason(&fixed, &file("", "()", "")).contains("debug information gives"));
    let constructor = file("", "()", "").replace(" k(", " nvptx$device$init(");
    assert_eq!(
        linked(&constructor, &constructor, &["nvptx$device$init"]).expect_err("no").as_str(),
        "the kernel runs constructors or destructors"
    );
    let behind = file("", "()", "") + ".visible .global .u32 x;\n";
    let ahead = file(".visible .global .u32 x;", "()", "ld.global.u32 %r1, [x];");
    assert!(reason(&behind, &ahead).contains("which the input declares after the kernel"));
    assert!(
        reason(&file(".func WARP_SZ(){ ret; }", "()", ""), &file("", "()", "mov.u32 %r1, WARP_SZ;"))
            .contains("not declared in the other file")
    );
    let lines = file(".file 1 \"a.cu\"", "()", ".loc 1 2 3\n\tmov.u32 %r1, 5;");
    assert!(
        linked(&file("", "()", ""), &lines, &["k"]).is_ok_and(|text| !text.contains(".loc") && text.contains("%r1, 5"))
    );
}

/// Debug information that describes the old body, or by chance the new one, is removed with it. Sections that source
/// lines need stay.
#[test]
fn debug_information_of_an_old_body() {
    let sections = |name: &str| {
        format!(
            ".file 1 \"k.py\"\n.section .debug_abbrev\n{{\n.b8 1\n}}\n.section .debug_info\n{{\n.b64 {name}\n}}\n\
             .section .debug_str\n{{\n$L__info_string0:\n.b8 0\n}}\n"
        )
    };
    let [own, other] = ["$L1:", "$L2:"].map(|body| file("", "()", body));
    for name in ["$L1", "$L2"] {
        let text = linked(&(own.clone() + &sections(name)), &other, &["k"]).expect("it is taken");
        assert!(text.contains("$L2:") && text.contains("\"k.py\"") && text.contains("$L__info_string0"), "{text}");
        assert!(!text.contains(".debug_info") && !text.contains(".debug_abbrev") && !text.contains("$L1"), "{text}");
    }
    let between = own.replace(".visible", &(sections("$L1") + ".visible"));
    assert_ne!(between, own);
    let text = linked(&between, &other, &["k"]).expect("it is taken");
    assert!(text.contains("$L2:") && !text.contains(".debug_info") && !text.contains("$L1"), "{text}");
    let apart = linked(&(own + &sections("$L3")), &other, &["k"]).expect("it is taken");
    assert!(apart.contains(".debug_info"), "{apart}");
}

/// The other code must read all data that stock reads, because its compiler may have folded data that other code
/// writes. String literals are exempt.
#[test]
fn data_that_is_not_read() {
    let mode = ".global .align 4 .b32 mode = 1;\n.global .align 1 .b8 $str[2] = {1, 0};\n";
    let read = |name: &str| format!("\tmov.u64 %d1, {name};\n\tld.global.u32 %r1, [%d1];");
    let own = file(mode, "()", &read("mode"));
    let expected = "the kernel does not use 'mode', which other code may write, but the kernel of the input does";
    assert_eq!(reason(&own, &file("", "()", "")), expected);
    assert_eq!(reason(&own, &file(mode, "()", "")), expected);
    assert!(linked(&own, &file(mode, "()", &read("mode")), &["k"]).is_ok());
    assert!(linked(&file(mode, "()", ""), &own, &["k"]).is_ok());
    assert!(linked(&file(mode, "()", &read("$str")), &file("", "()", ""), &["k"]).is_ok());
    // A function reads the variable.
    let function = format!(".func f()\n{{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %d<4>;\n{}\n\tret;\n}}\n", read("mode"));
    let calls = file(&format!("{mode}{function}"), "()", "\tcall f, ();");
    assert_eq!(reason(&calls, &file("", "()", "")), expected);
    assert!(linked(&own, &calls, &["k"]).is_ok() && linked(&calls, &own, &["k"]).is_ok());
}

/// clang puts `const` device data in constant memory, nvcc in global memory. A copy is equivalent, unless code writes
/// the data or the bytes differ.
#[test]
fn constant_data_in_another_memory() {
    let of = |space: &str, rest: &str| file(&format!("{space} .align 4 .b32 lut[2] = {{1, 2}};\n"), "()", rest);
    let [by_clang, by_nvcc] = [".const", ".global"].map(|space| of(space, "\tmov.u64 %d1, lut;"));
    for (own, other) in [(&by_clang, &by_nvcc), (&by_nvcc, &by_clang)] {
        let text = linked(own, other, &["k"]).expect("it can be taken");
        assert!(text.contains("lut_1[2] = {1, 2}") && text.contains("mov.u64 %d1, lut_1;"), "{text}");
        assert!(reason(own, &other.replace("{1, 2}", "{1, 3}")).contains("'lut', which is in another memory"));
        assert!(reason(own, &other.replace(" = {1, 2}", "")).contains("'lut', which is in another memory"));
    }
    let writes = of(".global", "\tmov.u64 %d1, lut;\n\tst.global.u32 [%d1], %r1;");
    assert!(reason(&by_clang, &writes).contains("'lut', which is in another memory"));
    let visible = by_nvcc.replace(".global .align", ".visible .global .align");
    assert!(reason(&by_clang, &visible).contains("'lut', which is in another memory"));
}
