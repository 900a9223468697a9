//! The kind of an input file, recognised by its content. Every command recognises the same kinds and refuses other
//! kinds by name.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use crate::error::{Error, ErrorKind};

/// The kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// LLVM IR as text.
    Assembly,
    /// Text of no recognised kind, for example only comments. Commands that read text accept it, and their parsers
    /// report the error.
    Text,
    /// LLVM IR as bitcode, with or without a wrapper.
    Bitcode,
    /// Machine code of LLVM as text.
    MachineCode,
    /// Functions in this project's text form.
    Functions,
    /// An allocation problem in this project's text form.
    Problem,
    /// PTX.
    Ptx,
    /// C++ or CUDA.
    Source,
    /// JSON.
    Json,
    /// Machine code for a GPU (cubin).
    Cubin,
    /// A container of cubins and PTX.
    FatBinary,
    /// An object file or program for another machine.
    Elf,
    /// Clang's bundle of code for several targets.
    OffloadBundle,
    /// A library of object files.
    Archive,
    /// Compressed data, with the command that unpacks it.
    Compressed(&'static str),
    /// An empty file.
    Empty,
    /// Bytes that are not text.
    Binary,
}

/// The first bytes of files of other programs.
const MAGIC: [(&[u8], InputKind); 14] = [
    (b"BC\xC0\xDE", InputKind::Bitcode),
    (b"\xDE\xC0\x17\x0B", InputKind::Bitcode),
    (b"\x50\xED\x55\xBA", InputKind::FatBinary),
    (b"\x10\xFF\x10\xAD", InputKind::OffloadBundle),
    (b"__CLANG_OFFLOAD_BUNDLE__", InputKind::OffloadBundle),
    (b"CCOB", InputKind::OffloadBundle),
    (b"!<arch>\n", InputKind::Archive),
    (b"\x1F\x8B", InputKind::Compressed("gzip -d")),
    (b"\x28\xB5\x2F\xFD", InputKind::Compressed("zstd -d")),
    (b"\xFD7zXZ\0", InputKind::Compressed("xz -d")),
    (b"BZh", InputKind::Compressed("bzip2 -d")),
    (b"PK\x03\x04", InputKind::Compressed("unzip")),
    (b"\x04\x22\x4D\x18", InputKind::Compressed("lz4 -d")),
    (b"\x7FELF", InputKind::Elf),
];

/// The offset of the machine in an ELF file, and its value for NVIDIA's GPUs.
const ELF_MACHINE: usize = 18;
const CUDA_MACHINE: [u8; 2] = [190, 0];

impl InputKind {
    /// The number of leading bytes of a file that suffice to recognise its kind.
    pub const ENOUGH: usize = 1 << 16;

    /// Returns the kind of a file that begins with `head`. If the content shows no kind, the file name extension of
    /// `path` decides.
    pub fn of(head: &[u8], path: &Path) -> Self {
        if head.is_empty() {
            return Self::Empty;
        }
        if let Some(&(_, kind)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
            let is_cubin = head.get(ELF_MACHINE..ELF_MACHINE + 2) == Some(&CUDA_MACHINE);
            return if kind == Self::Elf && is_cubin { Self::Cubin } else { kind };
        }
        let text = String::from_utf8_lossy(head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head));
        if let Some(kind) = of_first_line(&text) {
            return kind;
        }
        // A compiler may print functions between its other messages.
        if text.lines().any(|line| line == "mfv 1") {
            return Self::Functions;
        }
        match path.extension().and_then(OsStr::to_str) {
            Some("mir") => Self::MachineCode,
            Some("mfv") => Self::Functions,
            Some("cu" | "cuh" | "cpp" | "cc" | "c" | "h") => Self::Source,
            _ if head.contains(&0) || std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some()) => {
                Self::Binary
            }
            _ => Self::Text,
        }
    }

    /// Refuses an input of a kind that a command does not take. `name` is the input's name, `command` the command's.
    ///
    /// # Errors
    ///
    /// States the kind of the input, the kinds that the command reads, and a remedy.
    pub fn check(self, name: &str, command: &str, taken: &[Self]) -> Result<(), Error> {
        if taken.contains(&self) {
            return Ok(());
        }
        let problem = format!("{name}: this is {self}, and {command} reads {}", said(taken));
        Err(Error::new(ErrorKind::View, problem, self.remedy()))
    }

    /// Returns the remedy for an input of this kind that a command does not take.
    fn remedy(self) -> String {
        let text = match self {
            Self::Assembly | Self::Bitcode | Self::MachineCode if cfg!(not(feature = "llvm")) => {
                "use a build with LLVM; this build has no LLVM"
            }
            Self::Ptx => {
                "ptx, tune, report and allocate read it; for other commands, compile the source with -emit-llvm"
            }
            Self::Source => "compile it first: clang++ -x cuda --cuda-device-only -O3 -gline-tables-only -emit-llvm -c",
            Self::Cubin | Self::FatBinary | Self::Elf | Self::Archive => {
                "report measures it (from standard input, with --sass); for other commands, compile the source with \
                 -emit-llvm"
            }
            Self::OffloadBundle => {
                "clang-offload-bundler and llvm-offload-binary unpack it; or compile with \
                                    --cuda-device-only"
            }
            Self::Compressed(program) => return format!("unpack it: {program}"),
            Self::MachineCode => "report, allocate and mir read it",
            Self::Functions => "report, allocate, optimum and replay read it",
            Self::Problem => "allocate reads it",
            Self::Assembly | Self::Bitcode => "compile, tune, report and allocate read it",
            Self::Json => "stats reads the output of -nvptx-ra-stats=FILE",
            Self::Empty => "check the command that writes this file",
            Self::Text | Self::Binary => "check that this is the right file",
        };
        text.to_owned()
    }
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Assembly => "LLVM IR as text",
            Self::Text => "text of unknown kind",
            Self::Bitcode => "bitcode",
            Self::MachineCode => "machine code (.mir)",
            Self::Functions => "functions in text form (.mfv)",
            Self::Problem => "an allocation problem",
            Self::Ptx => "PTX",
            Self::Source => "C++ or CUDA",
            Self::Json => "JSON",
            Self::Cubin => "machine code for a GPU (cubin)",
            Self::FatBinary => "a fat binary",
            Self::Elf => "an object file or program (ELF)",
            Self::OffloadBundle => "clang's bundle of several targets' code",
            Self::Archive => "an archive of object files",
            Self::Compressed(_) => "compressed",
            Self::Empty => "empty",
            Self::Binary => "binary data of unknown kind",
        })
    }
}

/// Returns the names of the kinds as "a, b or c", without text of unknown kind.
fn said(kinds: &[InputKind]) -> String {
    let names: Vec<String> = kinds.iter().filter(|&&kind| kind != InputKind::Text).map(InputKind::to_string).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the kind of a text, from its first line of code: the first line that is neither empty nor a comment. `None`
/// if that line shows no kind.
fn of_first_line(text: &str) -> Option<InputKind> {
    let line = first_line(text)?;
    let kinds: [(&[&str], InputKind); 7] = [
        (&["mfv "], InputKind::Functions),
        (&["allocation "], InputKind::Problem),
        (&["--- ", "%YAML"], InputKind::MachineCode),
        (&[".version", ".target", ".address_size"], InputKind::Ptx),
        (&SOURCE, InputKind::Source),
        (&["{", "["], InputKind::Json),
        (
            &["source_filename", "target ", "define", "declare", "module asm", "attributes #", "@", "%", "!", "$", "^"],
            InputKind::Assembly,
        ),
    ];
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    let found = kinds.iter().find(|(words, _)| begins(words)).map(|&(_, kind)| kind);
    found.or((line == "---").then_some(InputKind::MachineCode))
}

/// Frequent first words of C++ and CUDA files.
const SOURCE: [&str; 9] =
    ["#include", "#pragma", "#define", "#if", "#undef", "__global__", "template", "namespace", "extern \""];

/// Returns the first line that is neither empty nor a comment. A comment begins with `;` in LLVM IR and with `#` in
/// MIR. PTX has C comments.
fn first_line(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start();
        if let Some(comment) = text.strip_prefix("/*") {
            text = comment.split_once("*/")?.1;
            continue;
        }
        let line = text.lines().next()?.trim_end();
        let is_comment = |begin: &str| line.starts_with(begin) && !SOURCE.iter().any(|word| line.starts_with(word));
        if !["//", ";", "#"].into_iter().any(is_comment) {
            return Some(line);
        }
        text = text.split_once('\n')?.1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(head: &[u8]) -> InputKind {
        InputKind::of(head, Path::new("-"))
    }

    /// Each kind is recognised by its content, whatever its name and the comments before it.
    #[test]
    fn kinds_by_content() {
        let mut elf = *b"\x7FELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\xBE\x00";
        assert_eq!(of(&elf), InputKind::Cubin);
        elf[ELF_MACHINE] = 62;
        assert_eq!(of(&elf), InputKind::Elf);
        let texts: [(&str, InputKind); 14] = [
            ("; comment\n\ndefine void @f() {\n", InputKind::Assembly),
            ("\u{feff}source_filename = \"a\"\n", InputKind::Assembly),
            ("; only comments\n", InputKind::Text),
            ("nonsense\n", InputKind::Text),
            ("# RUN: llc\n# more\n--- |\n", InputKind::MachineCode),
            ("---\nname: k\n", InputKind::MachineCode),
            ("mfv 1\nfunction \"f\"\n", InputKind::Functions),
            ("warning: odd\nnvptx-ra: trace of 'k'\nmfv 1\n", InputKind::Functions),
            ("allocation 1\n", InputKind::Problem),
            ("//\n// Generated by LLVM\n/* a\nb */ /**/\n\n.version 8.8\n.target sm_90\n", InputKind::Ptx),
            (".version 3.2\r\n", InputKind::Ptx),
            ("// A kernel\n#include <cuda.h>\n", InputKind::Source),
            ("{\"kernels\": []}\n", InputKind::Json),
            ("", InputKind::Empty),
        ];
        for (text, kind) in texts {
            assert_eq!(of(text.as_bytes()), kind, "{text}");
        }
        for (magic, kind) in MAGIC {
            assert_eq!(of(&[magic, b" and more"].concat()), kind);
        }
        assert_eq!((of(b"a\0b"), of(b"\xff\xfe")), (InputKind::Binary, InputKind::Binary));
    }

    /// The file name decides only if the content shows no kind.
    #[test]
    fn names_come_second() {
        let named = |text: &str, name: &str| InputKind::of(text.as_bytes(), Path::new(name));
        assert_eq!(named("nonsense", "k.mfv"), InputKind::Functions);
        assert_eq!(named("static int x;", "k.cu"), InputKind::Source);
        assert_eq!(named("mfv 1\n", "k.ll"), InputKind::Functions);
        assert_eq!(named("define void @f()", "k.mfv"), InputKind::Assembly);
    }

    /// Text that is cut in the middle of a character is text.
    #[test]
    fn cut_characters() {
        assert_eq!(of("nonsense ü".as_bytes().split_last().expect("a byte").1), InputKind::Text);
    }

    /// The error names the kind that is not taken, the kinds that are taken, and a remedy.
    #[test]
    fn refusals() {
        let taken = [InputKind::Assembly, InputKind::Bitcode];
        assert_eq!(InputKind::Bitcode.check("k", "compile", &taken), Ok(()));
        let error = InputKind::Ptx.check("k.ptx", "compile", &taken).expect_err("it is PTX").to_string();
        assert_eq!(
            error,
            "nvptx-ra: k.ptx: this is PTX, and compile reads LLVM IR as text or bitcode; ptx, tune, report and allocate \
             read it; for other commands, compile the source with -emit-llvm"
        );
    }
}
