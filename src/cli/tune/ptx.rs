//! The kernels in a PTX file, and their bounds.

use std::collections::BTreeMap;

/// Returns the kernels of a file by name, each with the most threads of a block, if the file states them.
pub(super) fn kernels(ptx: &str) -> BTreeMap<String, Option<u32>> {
    let mut kernels = BTreeMap::new();
    let mut lines = ptx.lines();
    while let Some(line) = lines.next() {
        let Some((_, rest)) = line.split_once(".entry ") else { continue };
        let name = rest.split(['(', ' ']).next().unwrap_or_default();
        kernels.insert(name.to_owned(), threads(lines.clone()));
    }
    kernels
}

/// Whether the code uses shared memory whose size is known only at launch. The shared memory that is free for spills is
/// then unknown, and a launch may fail because of them.
pub(super) fn sizes_shared_at_launch(ptx: &str) -> bool {
    ptx.lines().any(|line| line.starts_with(".extern .shared") && line.trim_end().ends_with("[];"))
}

/// Returns the product of the dimensions in `.reqntid`, or else in `.maxntid`. Only directives before the body count.
fn threads<'a>(lines: impl Iterator<Item = &'a str> + Clone) -> Option<u32> {
    let head = lines.take_while(|line| !line.starts_with('{'));
    let bounds = |name: &str| {
        let line = head.clone().find_map(|line| line.trim_start().strip_prefix(name))?;
        line.split(',').map(|dimension| dimension.trim().parse::<u32>().ok()).product::<Option<u32>>()
    };
    bounds(".reqntid ").or_else(|| bounds(".maxntid "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of shared memory is known unless a declaration has no size.
    #[test]
    fn shared_memory_of_the_launch() {
        assert!(sizes_shared_at_launch(".version 9.0\n.extern .shared .align 16 .b8 tile[];\n"));
        assert!(!sizes_shared_at_launch(".shared .align 4 .b8 tile[64];\n// .extern .shared .b8 tile[];\n"));
        assert!(!sizes_shared_at_launch(".extern .shared .align 4 .b8 tile[64];\n"));
    }

    /// A kernel has its own bounds, if it states any. Functions are not kernels.
    #[test]
    fn finds_kernels() {
        let ptx = ".version 8.0\n.visible .func helper()\n{\n\tret;\n}\n.visible .entry c()\n{\n\tret;\n}\n\
            .visible .entry a(\n\t.param .u64 a_param_0\n)\n.maxntid 16, 8, 1\n{\n\tret;\n}\n\
            .entry b()\n.maxntid 64\n.reqntid 32, 1\n{\n\tret;\n}\n";
        let found: Vec<_> = kernels(ptx).into_iter().collect();
        assert_eq!(found, [("a".into(), Some(128)), ("b".into(), Some(32)), ("c".into(), None)]);
    }
}
