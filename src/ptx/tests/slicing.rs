//! Kernels as separate files.

use crate::ptx::Module;

const FILE: &str = "// Two kernels.\n.version 8.7\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n\
    .extern .func (.param .b32 r) outside(.param .b32 a);\n\
    .func helper();\n\
    .global .align 4 .b32 counter;\n.global .u64 table[1] = {helper};\n.extern .shared .align 16 .b8 tile[];\n\
    .visible .entry a()\n{\n\t.loc 1 2 3, function_name $L__info0, inlined_at 1 5 6\n\t{ call helper; }\n\tret;\n}\n\
    .entry b()\n.maxntid 64\n{\n\t.reg .b64 %rd<2>;\n\tmov.u64 %rd1, table;\n\tret;\n}\n\
    .func helper()\n{\n\t.reg .b32 %r<2>;\n\tmov.u32 %r1, counter;\n\tret;\n}\n\
    .entry c()\n{\n\tret;\n}\n\
    .section .debug_str\n{\n$L__info0:\n.b8 65,0\n}\n.section .debug_abbrev\n{\n.b8 0\n}\n// The end.\n";

fn slice(file: &str, kernel: &str) -> Option<String> {
    let module = Module::read("a.ptx", file.as_bytes()).expect("it is right");
    module.slices(&[kernel]).remove(0).map(|slice| String::from_utf8(slice).expect("it was text"))
}

/// A slice has everything that the kernel refers to directly or indirectly, the items of the whole file, and nothing
/// else. All items keep their bytes and order.
#[test]
fn what_a_kernel_names() {
    let has = |slice: &str, parts: &[&str]| parts.iter().map(|part| slice.contains(part)).collect::<Vec<_>>();
    let parts =
        [".entry a", ".entry b", ".entry c", "helper()", "counter;", "u64 table", "tile[]", "L__info0:", "outside"];
    let of = |kernel| has(&slice(FILE, kernel).expect("it is there"), &parts);
    assert_eq!(of("a"), [true, false, false, true, true, false, false, true, false]);
    assert_eq!(of("b"), [false, true, false, true, true, true, false, false, false]);
    let c = "// Two kernels.\n.version 8.7\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n.entry c()\n{\n\tret;\n}\n// The end.\n";
    assert_eq!(slice(FILE, "c").as_deref(), Some(c));
    assert_eq!(slice(FILE, "d"), None);
}

/// A slice of a slice is the slice, and its functions have the same bytes as in the file.
#[test]
fn slices_of_slices() {
    let whole = Module::read("a.ptx", FILE.as_bytes()).expect("it is right");
    for kernel in ["a", "b", "c"] {
        let once = slice(FILE, kernel).expect("it is there");
        assert_eq!(slice(&once, kernel).as_ref(), Some(&once));
        let part = Module::read("a.ptx", once.as_bytes()).expect("it is right");
        for body in part.bodies() {
            let name = body.name(part.file());
            let other = whole.bodies().iter().find(|other| other.name(whole.file()) == name).expect("it is there");
            assert_eq!(part.text_of(body), whole.text_of(other));
        }
    }
}

/// Debug information that forbids edits stays, so a slice allows no edit that the whole file forbids.
#[test]
fn what_forbids_edits_stays() {
    let file = FILE.replace(".section .debug_abbrev\n{\n.b8 0", ".section .debug_loc\n{\n.b8 0");
    assert_eq!(slice(&file, "c"), Some(file.clone()));
    let module = Module::read("a.ptx", file.as_bytes()).expect("it is right");
    assert!(module.bodies().iter().all(|body| module.why_kept(body).is_some()));
}

/// The head of the file is read.
#[test]
fn headers() {
    let module = Module::read("a.ptx", FILE.as_bytes()).expect("it is right");
    assert_eq!((module.target(), module.version().map(|version| version.0)), ("sm_90", Some(87)));
    assert!(module.sizes_shared_at_launch());
    let c = slice(FILE, "c").expect("it is there");
    assert!(!Module::read("a.ptx", c.as_bytes()).expect("it is right").sizes_shared_at_launch());
}
