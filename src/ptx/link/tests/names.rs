//! Kernels and variables with other names in the other file.

use super::linked;

/// Returns a static kernel as a compiler writes it. All its names begin with the kernel's name.
fn file(name: &str, constant: u32) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry {name}(\n\t.param .u64 {name}_param_0\n)\n{{\n\
         \t.reg .b64 %d<2>;\n\tld.param.u64 %d1, [{name}_param_0];\n\tst.global.u32 [%d1], {constant};\n\tret;\n}}\n"
    )
}

/// The kernel keeps its own name and its parameters' names, whichever compiler wrote our file.
#[test]
fn static_kernels() {
    let (clang, nvcc) = ("_ZL3dotPf", "_Z3dotPf");
    for (own, other) in [(clang, nvcc), (nvcc, clang)] {
        assert_eq!(linked(&file(own, 1), &file(other, 2), &[own]), Ok(file(own, 2)));
        let reason = linked(&file(own, 1), &file(&other.replace("dot", "sum"), 2), &[own]);
        assert_eq!(reason, Err("the other file has no such kernel".into()));
    }
}

/// A static table is one object, also if its names differ by compiler. A table with another initial value is not
/// matched.
#[test]
fn static_tables() {
    let (clang, nvcc) = ("_ZL5table", "table");
    let file = |table: &str, initial: u32, offset: u32| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.const .align 4 .u32 {table}[2] = {{{initial}, 7}};\n\
             .visible .entry k(.param .u64 p)\n{{\n\t.reg .b64 %d<2>;\n\t.reg .b32 %r<2>;\n\tld.param.u64 %d1, [p];\n\
             \tld.const.u32 %r1, [{table}+{offset}];\n\tst.global.u32 [%d1], %r1;\n\tret;\n}}\n"
        )
    };
    for (own, other) in [(clang, nvcc), (nvcc, clang)] {
        assert_eq!(linked(&file(own, 1, 0), &file(other, 1, 4), &["k"]), Ok(file(own, 1, 4)));
        let reason = linked(&file(own, 1, 0), &file(other, 2, 4), &["k"]);
        assert_eq!(reason, Err(format!("the code needs '{other}', which has another initial value in the input")));
        // A parameter of our kernel has the same name as our table.
        let parameter =
            file(own, 1, 0).replace("param .u64 p", &format!("param .u64 {own}")).replace("[p]", &format!("[{own}]"));
        let own_table = parameter.replace(&format!(", [{own}+0]"), ", [%d1]");
        assert_eq!(
            linked(&own_table, &file(other, 1, 4), &["k"]),
            Err(format!("'{own}' has another meaning in the kernel"))
        );
        let with_label = file(other, 1, 4).replace("\tret;", &format!("{own}:\n\tret;"));
        let reason = linked(&file(own, 1, 0), &with_label, &["k"]);
        assert_eq!(reason, Err(format!("'{own}' has another meaning in the kernel")));
    }
}
