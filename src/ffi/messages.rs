//! What the shim says by itself, where no response carries it.

use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use super::abi::{self, nvptx_ra_str};
use super::guard::entry;
use crate::error::Error;
use crate::input_kind::InputKind;
use crate::printable::printable;

/// Writes a line to standard error; what a terminal acts on is escaped.
///
/// # Safety
/// `line` is a string that lives until this returns.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_say(line: nvptx_ra_str) {
    entry(
        |_| (),
        || {
            // SAFETY: as the caller promises.
            let line = unsafe { abi::text(line) };
            // Nobody may listen any more.
            let _ = writeln!(std::io::stderr(), "{}", printable(line.trim_end_matches('\n')));
        },
    );
}

/// What is left to do where the process ends in the middle of its work.
static CLEAN_UP: OnceLock<fn()> = OnceLock::new();

/// From now on, this is done where LLVM ends the process. The first of several is.
pub(super) fn clean_up_with(clean_up: fn()) {
    CLEAN_UP.get_or_init(|| clean_up);
}

/// Does what is left to do where the process ends in the middle of its work.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_clean_up() {
    entry(|_| (), || CLEAN_UP.get().into_iter().for_each(|clean_up| clean_up()));
}

/// Whether an input is machine code as text; where it is not, that is said.
///
/// # Safety
/// Both are strings that live until this returns.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_check_machine_code(content: nvptx_ra_str, path: nvptx_ra_str) -> u32 {
    entry(refuse, || {
        // SAFETY: as the caller promises.
        let content = unsafe { abi::array(content.data.cast::<u8>(), content.len, "content") };
        // SAFETY: as the caller promises.
        let path = unsafe { abi::text(path) };
        let checked = content.and_then(|content| {
            let kind = InputKind::of(&content[..content.len().min(InputKind::ENOUGH)], Path::new(&*path));
            let name = if path == "-" { "standard input" } else { &path };
            kind.check(name, "mir", &[InputKind::MachineCode, InputKind::Text])
        });
        checked.map_or_else(refuse, |()| 1)
    })
}

fn refuse(error: Error) -> u32 {
    let _ = writeln!(std::io::stderr(), "{error}");
    0
}
