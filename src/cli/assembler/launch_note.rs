//! What a compiler knows of launches and PTX has no words for: a comment at the end of the text.
//!
//! `// nvptx-ra: dynamic-shared BYTES` is the last line. It says the shared memory that each launch adds to that of the
//! kernels. The Python package has Triton write it (docs/python.md).

/// What stands ahead of the number.
const NOTE: &str = "// nvptx-ra: dynamic-shared ";

/// The bytes of dynamic shared memory that the text notes.
pub(crate) fn dynamic_shared(ptx: &str) -> Option<u32> {
    let (_, bytes) = ptx.trim_end().rsplit_once('\n')?;
    bytes.strip_prefix(NOTE)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::dynamic_shared;

    /// The note counts where it is the last line, whatever white space follows; anything else says nothing.
    #[test]
    fn the_last_line_is_read() {
        let with = |end: &str| dynamic_shared(&format!(".version 8.7\n{end}"));
        assert_eq!(with("}\n// nvptx-ra: dynamic-shared 49152\n"), Some(49152));
        assert_eq!(with("}\n// nvptx-ra: dynamic-shared 0\n\n \n"), Some(0));
        assert_eq!(with("}\n// nvptx-ra: dynamic-shared 1\n// nvptx-ra: dynamic-shared 2"), Some(2));
        for nothing in [
            "",
            "}\n",
            "// nvptx-ra: dynamic-shared 1\n}\n",
            "// nvptx-ra: dynamic-shared -1",
            "// dynamic-shared 1",
            "// nvptx-ra: dynamic-shared 4294967296",
            "} // nvptx-ra: dynamic-shared 1",
        ] {
            assert_eq!(with(nothing), None, "{nothing}");
        }
    }
}
