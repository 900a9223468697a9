//! Properties of a launch that a compiler knows and PTX cannot express. They are comments at the end of a PTX file.
//!
//! docs/ptxas.md, "Notes of a compiler", has the format. The Python package makes Triton write these notes
//! (python/nvptx_ra/_launch_notes.py). Only this module reads them.

/// The prefix of a note.
const NOTE: &str = "// nvptx-ra: ";

/// The notes of a PTX file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchNote {
    /// Bytes of dynamic shared memory.
    pub(crate) dynamic_shared: Option<u32>,
    /// Whether the caller times the result.
    pub(crate) is_timed: bool,
    /// Whether the caller times several files, of which this file is one, and keeps one.
    pub(crate) is_candidate: bool,
    /// The last line with a note's prefix that is not a valid note.
    pub(crate) unknown: Option<String>,
}

impl LaunchNote {
    /// Parses the lines at the end of a PTX file, the last line first, up to the first line without a note's prefix.
    pub(crate) fn of(ptx: &str) -> Self {
        let mut note = Self::default();
        for line in ptx.trim_end().lines().rev() {
            let Some(words) = line.strip_prefix(NOTE) else { break };
            match (words, words.strip_prefix("dynamic-shared ").and_then(|bytes| bytes.parse().ok())) {
                ("timed", _) => note.is_timed = true,
                ("candidate", _) => note.is_candidate = true,
                (_, Some(bytes)) => note.dynamic_shared = note.dynamic_shared.or(Some(bytes)),
                _ => note.unknown = note.unknown.or_else(|| Some(line.to_owned())),
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

    /// Notes count only as the last lines, followed by any white space; other lines have no effect.
    #[test]
    fn the_last_lines_are_read() {
        let shared = |end: &str| note(end).dynamic_shared;
        assert_eq!(shared("}\n// nvptx-ra: dynamic-shared 49152\n"), Some(49152));
        assert_eq!(shared("}\n// nvptx-ra: dynamic-shared 0\n\n \n"), Some(0));
        assert_eq!(shared("}\n// nvptx-ra: dynamic-shared 1\n// nvptx-ra: dynamic-shared 2"), Some(2));
        for nothing in
            ["", "}\n", "// nvptx-ra: dynamic-shared 1\n}\n", "// dynamic-shared 1", "} // nvptx-ra: dynamic-shared 1"]
        {
            assert_eq!(note(nothing), LaunchNote::default(), "{nothing}");
        }
    }

    /// An invalid line with a note's prefix is reported. The notes before that line are still parsed.
    #[test]
    fn what_is_no_note_is_told() {
        for words in ["timd", "timed 1", "dynamic-shared", "dynamic-shared -1", "dynamic-shared 4294967296"] {
            let line = format!("// nvptx-ra: {words}");
            let told = LaunchNote { is_timed: true, unknown: Some(line.clone()), ..LaunchNote::default() };
            assert_eq!(note(&format!("}}\n// nvptx-ra: timed\n{line}\n")), told, "{words}");
        }
    }

    /// Several notes are parsed in any order.
    #[test]
    fn timed() {
        assert!(note("}\n// nvptx-ra: timed\n").is_timed);
        let both = LaunchNote { dynamic_shared: Some(8), is_timed: true, ..LaunchNote::default() };
        assert_eq!(note("}\n// nvptx-ra: dynamic-shared 8\n// nvptx-ra: timed\n"), both);
        assert_eq!(note("}\n// nvptx-ra: timed\n// nvptx-ra: dynamic-shared 8\n"), both);
        let candidate = LaunchNote { is_timed: false, is_candidate: true, ..both };
        assert_eq!(note("}\n// nvptx-ra: candidate\n// nvptx-ra: dynamic-shared 8\n"), candidate);
    }
}
