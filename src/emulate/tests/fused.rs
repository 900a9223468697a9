//! Products that PTX permits to fuse with their sums.

use super::{file, launches, program};
use crate::emulate::{Allowed, Launches, Preference, Program, Reference, Verdict, all_fused, fused};
use crate::ptx::Module;

/// Returns a kernel that computes `%f9` from the loaded `%f1`, `%f2` and `%f3`.
fn text(body: &str) -> String {
    file(
        "",
        &format!(
            "mad.wide.u32 %in, %t, 12, %in; ld.global.f32 %f1, [%in]; ld.global.f32 %f2, [%in+4];\n\
             ld.global.f32 %f3, [%in+8];\n{body}\nst.global.f32 [%at], %f9;"
        ),
    )
}

fn of(body: &str, preference: Preference) -> Option<String> {
    let text = text(body);
    let module = Module::read("k.ptx", text.as_bytes()).expect("it is PTX");
    fused(&module, preference).map(|text| String::from_utf8(text).expect("it is text"))
}

fn exact() -> Launches {
    let inputs: Vec<u32> = (0..96u32).map(|number| (1.0f32 + number as f32 / 7.0).to_bits()).collect();
    Launches { count: 1, more: 0, is_exact: true, is_assembled: true, ..launches(32, &inputs) }
}

/// Returns the verdict on a second body, with the first one's products fused in all ways.
fn verdict(first: &str, second: &str) -> Verdict {
    let (one, two) = (program(&text(first)), program(&text(second)));
    let text = text(first);
    let fusions = all_fused(&Module::read("k.ptx", text.as_bytes()).expect("it is PTX"));
    let fusions: Vec<Program> =
        fusions.iter().map(|text| program(std::str::from_utf8(text).expect("it is text"))).collect();
    let mut reference = Reference::new(&one, "k", &exact());
    let comparison = reference.compare_allowing(&two, Allowed { first: &fusions, second: &[] });
    comparison.launches[0].verdict.clone()
}

const SUM: &str = "mul.f32 %f4, %f1, %f2; add.f32 %f9, %f4, %f3;";

/// A sum absorbs the product before it, and line numbers stay the same.
#[test]
fn sums() {
    let fused = of(SUM, Preference::First).expect("it is open");
    assert!(fused.contains("fma.rn.f32 %f9, %f1, %f2, %f3;"), "{fused}");
    assert_eq!(fused.lines().count(), text(SUM).lines().count());
    let inline = of("{ mul.f32 %f4, %f1, %f2; } { add.f32 %f9, %f4, %f3; }", Preference::First).expect("it is open");
    assert!(inline.contains("{ { fma.rn.f32 %f9, %f1, %f2, %f3; } }"), "{inline}");
    let both = "mul.f32 %f4, %f1, %f2; mul.f32 %f5, %f2, %f3; sub.f32 %f9, %f4, %f5;";
    assert!(of(both, Preference::First).expect("it is open").contains("fma.rn.f32 %f9, %f1, %f2, fused__c;"));
    assert!(of(both, Preference::Second).expect("it is open").contains("fma.rn.f32 %f9, fused__a, %f3, %f4;"));
}

/// Nothing is fused with an explicit rounding, after a factor changes, and after a label.
#[test]
fn what_is_not_open() {
    for body in [
        "mul.rn.f32 %f4, %f1, %f2; add.f32 %f9, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2; add.rn.f32 %f9, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2; mov.f32 %f1, %f3; add.f32 %f9, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2; mov.f32 %f4, %f3; add.f32 %f9, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2; L: add.f32 %f9, %f4, %f3;",
        "mul.f32 %f4, %f1, %f2; { .reg .f32 %f4; mov.f32 %f4, %f1; add.f32 %f9, %f4, %f3; }",
        "mul.ftz.f32 %f4, %f1, %f2; add.f32 %f9, %f4, %f3;",
    ] {
        assert_eq!(of(body, Preference::First), None, "{body}");
    }
}

/// A fused and an unfused product are both permitted; another result is wrong.
#[test]
fn both_are_right() {
    let sub = "mul.f32 %f4, %f1, %f2; sub.f32 %f9, %f3, %f4;";
    let negated = "mul.f32 %f4, %f1, %f2; neg.f32 %f4, %f4; add.f32 %f9, %f4, %f3;";
    let fnma = "neg.f32 %f4, %f1; fma.rn.f32 %f9, %f4, %f2, %f3;";
    for (first, second) in [(SUM, SUM), (SUM, "fma.rn.f32 %f9, %f1, %f2, %f3;"), (sub, fnma), (negated, fnma)] {
        assert_eq!(verdict(first, second), Verdict::Same, "{first} {second}");
    }
    for second in ["fma.rz.f32 %f9, %f1, %f2, %f3;", "add.f32 %f4, %f1, %f2; add.f32 %f9, %f4, %f3;"] {
        assert!(matches!(verdict(sub, second), Verdict::Different(_)), "{second}");
    }
    assert!(matches!(verdict("mul.rn.f32 %f4, %f1, %f2; add.f32 %f9, %f4, %f3;", fnma), Verdict::Different(_)));
}

/// A mixture of choices is permitted, and a result far from all of them is not.
#[test]
fn mixtures() {
    let body = |kind: &str| {
        let line = format!("mul{kind}.f32 %f4, %f9, %f2; add{kind}.f32 %f9, %f4, %f3;");
        format!("mov.f32 %f9, %f1; {}", line.repeat(6))
    };
    let mixed = body("").replacen("mul.f32 %f4, %f9, %f2; add.f32 %f9, %f4, %f3;", "fma.rn.f32 %f9, %f9, %f2, %f3;", 3);
    let mixed = mixed.replace("mul.", "mul.rn.").replace("add.", "add.rn.");
    let said = verdict(&body(""), &mixed);
    assert!(matches!(said, Verdict::Same | Verdict::NotComparable { .. }), "{said:?}");
    let wrong = mixed.replacen("mul.rn.f32 %f4, %f9, %f2", "mul.rn.f32 %f4, %f9, %f9", 1);
    let said = verdict(&body(".rn"), &wrong);
    assert!(matches!(said, Verdict::Different(_)), "{said:?}");
    let cancelled = "mul.f32 %f4, %f1, %f2; mul.f32 %f5, %f2, %f1; sub.f32 %f9, %f4, %f5;";
    let said = verdict(cancelled, "mov.f32 %f9, 0f42280000;");
    assert!(matches!(said, Verdict::NotComparable { .. } | Verdict::Different(_)), "{said:?}");
}
