//! Kernels that have other names in the other file.

use super::linked;

/// A static kernel as a compiler writes it: everything that belongs to it begins with its name.
fn file(name: &str, constant: u32) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry {name}(\n\t.param .u64 {name}_param_0\n)\n{{\n\
         \t.reg .b64 %d<2>;\n\tld.param.u64 %d1, [{name}_param_0];\n\tst.global.u32 [%d1], {constant};\n\tret;\n}}\n"
    )
}

/// The kernel keeps its own name and those of its parameters, whichever compiler's file is ours.
#[test]
fn static_kernels() {
    let (clang, nvcc) = ("_ZL3dotPf", "_Z3dotPf");
    for (own, other) in [(clang, nvcc), (nvcc, clang)] {
        assert_eq!(linked(&file(own, 1), &file(other, 2), &[own]), Ok(file(own, 2)));
        let reason = linked(&file(own, 1), &file(&other.replace("dot", "sum"), 2), &[own]);
        assert_eq!(reason, Err("the other file has no such kernel".into()));
    }
}
