//! What a compiler knows of launches and PTX has no words for: comments at the end of the text.
//!
//! The last lines are some of these:
//! * `// nvptx-ra: dynamic-shared BYTES`: the shared memory that each launch adds to that of the kernels;
//! * `// nvptx-ra: timed`: the caller times the result beside ptxas's own, and takes the faster one;
//! * `// nvptx-ra: candidate`: one of several that the caller times, of which it takes one: no more is done than to give
//!   registers back that ptxas gave up.
//!
//! The Python package has Triton write them (docs/python.md).

/// What stands ahead of a note.
const NOTE: &str = "// nvptx-ra: ";

/// What a text notes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchNote {
    /// Bytes of dynamic shared memory.
    pub(crate) dynamic_shared: Option<u32>,
    /// Whether the result is timed.
    pub(crate) is_timed: bool,
    /// Whether it is one of several that are timed.
    pub(crate) is_candidate: bool,
}

impl LaunchNote {
    /// Reads the lines at the end of a text, the last one first. The first line that is no note ends them.
    pub(crate) fn of(ptx: &str) -> Self {
        let mut note = Self::default();
        for line in ptx.trim_end().lines().rev() {
            match line.strip_prefix(NOTE).and_then(|words| words.split_once(' ').or(Some((words, "")))) {
                Some(("timed", "")) => note.is_timed = true,
                Some(("candidate", "")) => note.is_candidate = true,
                Some(("dynamic-shared", bytes)) => match bytes.parse() {
                    Ok(bytes) => note.dynamic_shared = note.dynamic_shared.or(Some(bytes)),
                    Err(_) => break,
                },
                _ => break,
            }
        }
        note
    }
}

#[cfg(test)]
mod tests {
    use super::LaunchNote;

    fn note(end: &str) -> LaunchNote {
        LaunchNote::of(&format!(".version 8.7\n{end}"))
    }

    /// The notes count where they are the last lines, whatever white space follows; anything else says nothing.
    #[test]
    fn the_last_lines_are_read() {
        let shared = |end: &str| note(end).dynamic_shared;
        assert_eq!(shared("}\n// nvptx-ra: dynamic-shared 49152\n"), Some(49152));
        assert_eq!(shared("}\n// nvptx-ra: dynamic-shared 0\n\n \n"), Some(0));
        assert_eq!(shared("}\n// nvptx-ra: dynamic-shared 1\n// nvptx-ra: dynamic-shared 2"), Some(2));
        for nothing in [
            "",
            "}\n",
            "// nvptx-ra: dynamic-shared 1\n}\n",
            "// nvptx-ra: dynamic-shared -1",
            "// dynamic-shared 1",
            "// nvptx-ra: dynamic-shared 4294967296",
            "} // nvptx-ra: dynamic-shared 1",
        ] {
            assert_eq!(note(nothing), LaunchNote::default(), "{nothing}");
        }
    }

    /// Both notes may stand there, in any order.
    #[test]
    fn timed() {
        assert!(note("}\n// nvptx-ra: timed\n").is_timed && !note("}\n// nvptx-ra: timed 1\n").is_timed);
        let both = LaunchNote { dynamic_shared: Some(8), is_timed: true, is_candidate: false };
        assert_eq!(note("}\n// nvptx-ra: dynamic-shared 8\n// nvptx-ra: timed\n"), both);
        assert_eq!(note("}\n// nvptx-ra: timed\n// nvptx-ra: dynamic-shared 8\n"), both);
        let candidate = LaunchNote { is_timed: false, is_candidate: true, ..both };
        assert_eq!(note("}\n// nvptx-ra: candidate\n// nvptx-ra: dynamic-shared 8\n"), candidate);
    }
}
