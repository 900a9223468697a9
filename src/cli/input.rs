//! Opens a command's inputs: files, or standard input for the path `-`, of the kinds that the command accepts.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::ptx::Module;

/// The kinds that are accepted as LLVM IR.
#[cfg(feature = "llvm")]
pub(crate) const IR: [InputKind; 3] = [InputKind::Assembly, InputKind::Bitcode, InputKind::Text];
/// The kinds that contain functions.
#[cfg(feature = "llvm")]
pub(crate) const FUNCTIONS: [InputKind; 6] = [
    InputKind::Assembly,
    InputKind::Bitcode,
    InputKind::MachineCode,
    InputKind::Ptx,
    InputKind::Functions,
    InputKind::Text,
];
/// The kinds that contain functions, without LLVM.
#[cfg(not(feature = "llvm"))]
pub(crate) const FUNCTIONS: [InputKind; 3] = [InputKind::Ptx, InputKind::Functions, InputKind::Text];

/// An input of an accepted kind.
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) kind: InputKind,
    /// The whole content.
    pub(crate) reader: Box<dyn BufRead>,
}

impl Input {
    /// Opens an input. Returns an error if `command` does not accept its kind.
    pub(crate) fn open(path: &Path, command: &str, taken: &[InputKind]) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::file(name(path).as_ref(), &error);
        let mut reader: Box<dyn Read> = if is_stream(path) {
            Box::new(std::io::stdin())
        } else {
            if path.is_dir() {
                return Err(Error::new(ErrorKind::File, format!("{}: a folder", path.display()), "name a file in it"));
            }
            Box::new(File::open(path).map_err(failed)?)
        };
        let mut head = Vec::new();
        reader.by_ref().take(InputKind::ENOUGH as u64).read_to_end(&mut head).map_err(failed)?;
        let kind = InputKind::of(&head, path);
        kind.check(&name(path), command, taken)?;
        let reader = Box::new(Cursor::new(head).chain(BufReader::new(reader)));
        Ok(Self { path: path.to_owned(), kind, reader })
    }

    /// Reads the whole content. Zeros at the end of PTX are removed: NVRTC's output ends with a zero, which programs
    /// write to files. Prints the functions of PTX that cannot be parsed, so that no command omits one silently.
    pub(crate) fn content(mut self) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        let read = self.reader.read_to_end(&mut content);
        read.map_err(|error| Error::file(name(&self.path).as_ref(), &error))?;
        while self.kind == InputKind::Ptx && content.last() == Some(&0) {
            content.pop();
        }
        if self.kind == InputKind::Ptx {
            // If the PTX cannot be split into functions, the command reports the error later.
            let unread = Module::read(&name(&self.path), &content).map(|module| module.unread());
            unread.unwrap_or_default().iter().for_each(|unread| say!("nvptx-ra: {unread}"));
        }
        Ok(content)
    }
}

/// Reads the content of an input of one of these kinds.
pub(crate) fn read(path: &Path, command: &str, taken: &[InputKind]) -> Result<Vec<u8>, Error> {
    Input::open(path, command, taken)?.content()
}

/// Returns whether a path stands for standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns an input's name in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_stream(path) { "standard input".to_owned() } else { path.to_string_lossy().into_owned() }
}
