//! Kernels under another name. ptxas compiles a kernel differently if its name contains certain words, so a variant may
//! have another name.
//!
//! A file with such a kernel has a comment at its end. The comment restores the kernel's own name in the machine code.

use std::collections::BTreeMap;

use super::body::Body;
use super::module::Module;
use super::token::{Token, TokenKind};
use crate::index::EntityIndex as _;

/// The word in a kernel's name that changes ptxas's behaviour.
const WORD: &str = "cutlass";

/// The prefix of the comment at the end of the file, and the separator of the names in it.
const NOTE: &str = "// nvptx-ra: ";
const BETWEEN: &str = " stands for ";

/// A kernel under another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherName {
    /// The name in the file. It is as long as the kernel's own name, and part of no other name.
    pub name: String,
    /// The kernel's own name.
    pub own: String,
}

impl Module<'_> {
    /// Returns another name for a kernel whose name contains `cutlass`. The other name has the same length, does not
    /// contain this word, and occurs nowhere in the file. `None` if there is no such name, or if the function is no
    /// kernel. O(bytes).
    pub fn other_name(&self, body: &Body) -> Option<OtherName> {
        let own = body.name(self.file());
        if !own.contains(WORD) || body.launch_bounds(self.file()).is_none() {
            return None;
        }
        let (stem, _) = WORD.split_at(WORD.len() - 1);
        let names = ('a'..='z').rev().map(|last| own.replace(WORD, &format!("{stem}{last}")));
        let is_free = |name: &String| {
            let mut parts = self.file().text().bytes().windows(name.len());
            !name.contains(WORD) && !parts.any(|part| part == name.as_bytes())
        };
        names.into_iter().find(is_free).map(|name| OtherName { name, own: own.to_owned() })
    }

    /// Returns the PTX with other names for some kernels. Every word that is a kernel's name is replaced. O(tokens).
    pub fn with_other_names(&self, others: &[OtherName]) -> Vec<u8> {
        let text = self.file().text();
        let by_own: BTreeMap<&[u8], &[u8]> =
            others.iter().map(|other| (other.own.as_bytes(), other.name.as_bytes())).collect();
        let mut bytes = Vec::with_capacity(text.bytes().len());
        for token in (0..text.num_tokens()).map(Token::new) {
            let of = text.of(token);
            let other = by_own.get(of).filter(|_| text.kind(token) == TokenKind::Word);
            bytes.extend_from_slice(other.copied().unwrap_or(of));
        }
        bytes.extend(notes(others));
        bytes
    }
}

/// Returns the comment lines for the end of a file with other names.
pub(super) fn notes(others: &[OtherName]) -> Vec<u8> {
    others.iter().flat_map(|OtherName { name, own }| format!("\n{NOTE}{name}{BETWEEN}{own}").into_bytes()).collect()
}

/// Reads the kernels with other names from the comments at the end of a file.
pub fn other_names(ptx: &[u8]) -> Vec<OtherName> {
    let read = |line: &[u8]| {
        let (name, own) = std::str::from_utf8(line).ok()?.strip_prefix(NOTE)?.split_once(BETWEEN)?;
        (name.len() == own.len() && name != own).then(|| OtherName { name: name.to_owned(), own: own.to_owned() })
    };
    ptx.rsplit(|&byte| byte == b'\n').map_while(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 8.7\n.target sm_90\n.address_size 64\n// my_cutlasz\n.entry my_cutlass(.param .u64 my_cutlass_param_0);\n\
        .entry my_cutlass(.param .u64 my_cutlass_param_0)\n{\n\t.reg .b64 %d<2>;\n\tmov.u64 %d1, my_cutlass;\nmy_cutlass_end:\n\
        \tret;\n}\n.entry plain()\n{\n\tret;\n}\n.func cutlass()\n{\n\tret;\n}\n";

    /// Each word that is the kernel's name changes. Longer names that contain it do not change. The other name is
    /// nowhere else in the file.
    #[test]
    fn words_change() {
        let module = Module::read("k.ptx", TEXT.as_bytes()).expect("it is right");
        let names: Vec<_> = module.bodies().iter().map(|body| module.other_name(body)).collect();
        let other = OtherName { name: "my_cutlasy".into(), own: "my_cutlass".into() };
        assert_eq!(names, [Some(other.clone()), None, None], "plain has no such name, and a function is no kernel");
        let changed = String::from_utf8(module.with_other_names(std::slice::from_ref(&other))).expect("it is text");
        let expected =
            TEXT.replace(".entry my_cutlass(", ".entry my_cutlasy(").replace(", my_cutlass;", ", my_cutlasy;");
        assert_eq!(changed, expected + "\n// nvptx-ra: my_cutlasy stands for my_cutlass");
        assert_eq!(other_names(changed.as_bytes()), [other]);
        assert_eq!(other_names(TEXT.as_bytes()), []);
    }
}
