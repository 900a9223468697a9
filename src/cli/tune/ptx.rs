//! The kernels in a PTX file: their text and their bounds.

use std::collections::BTreeMap;

use nvptx_ra::profile::fingerprint;

/// A kernel's part of a PTX file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// Of all of it.
    pub(super) fingerprint: String,
    /// Threads of a block, where it says how many at most.
    pub(super) threads: Option<u32>,
}

/// The kernels of a file by name. What stands behind a kernel, up to the next function, counts as its part: two files
/// whose parts are the same have the same kernel.
pub(super) fn kernels(ptx: &str) -> BTreeMap<String, Text> {
    let mut kernels = BTreeMap::new();
    let mut current: Option<(String, String)> = None;
    let mut finish = |kernel: Option<(String, String)>| {
        if let Some((name, text)) = kernel {
            kernels.insert(name, Text { fingerprint: fingerprint(&text), threads: threads(&text) });
        }
    };
    for line in ptx.lines() {
        let is_entry = line.contains(".entry ");
        if is_entry || is_function(line) {
            finish(current.take());
        }
        if is_entry {
            let name = line.split(".entry ").nth(1).and_then(|rest| rest.split(['(', ' ']).next()).unwrap_or_default();
            current = Some((name.to_owned(), String::new()));
        }
        if let Some((_, text)) = &mut current {
            text.push_str(line);
            text.push('\n');
        }
    }
    finish(current);
    kernels
}

fn is_function(line: &str) -> bool {
    let line = line.strip_prefix(".visible ").or(line.strip_prefix(".weak ")).unwrap_or(line);
    line.starts_with(".func ")
}

/// The product of the dimensions of `.reqntid`, else of `.maxntid`, ahead of the body.
fn threads(text: &str) -> Option<u32> {
    let head = text.lines().take_while(|line| !line.starts_with('{'));
    let bounds = |name: &str| {
        let line = head.clone().find_map(|line| line.trim_start().strip_prefix(name))?;
        line.split(',').map(|dimension| dimension.trim().parse::<u32>().ok()).product::<Option<u32>>()
    };
    bounds(".reqntid ").or_else(|| bounds(".maxntid "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n.visible .func helper()\n{\n\tret;\n}\n.visible .entry a(\n\t.param .u64 a_param_0\n)\n\
        .maxntid 16, 8, 1\n{\n\tmov.u32 %r1, 1;\n\tret;\n}\n.visible .entry b()\n{\n\tret;\n}\n";

    /// Kernels have their bounds, and their own text alone.
    #[test]
    fn finds_kernels() {
        let found = kernels(PTX);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((found["a"].threads, found["b"].threads), (Some(128), None));
        let changed = kernels(&PTX.replace("%r1, 1", "%r1, 2"));
        assert_ne!(found["a"], changed["a"]);
        assert_eq!(found["b"], changed["b"]);
        assert_eq!(kernels(&PTX.replace("helper()", "other()"))["a"], found["a"]);
    }
}
