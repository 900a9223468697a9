//! Messages of the shim that no response contains.

use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use super::abi::{self, nvptx_ra_str};
use super::guard::entry;
use crate::error::Error;
use crate::input_kind::InputKind;
use crate::printable::printable;

/// Writes a line to standard error. Control characters that a terminal interprets are escaped.
///
/// # Safety
/// `line` must be a string that lives until this function returns.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_say(line: nvptx_ra_str) {
    entry(
        |_| (),
        || {
            // SAFETY: as the caller promises.
            let line = unsafe { abi::text(line) };
            // Standard error may be closed.
            let _ = writeln!(std::io::stderr(), "{}", printable(line.trim_end_matches('\n')));
        },
    );
}

/// The function to call before LLVM ends the process.
static CLEAN_UP: OnceLock<fn()> = OnceLock::new();

/// Sets the function to call before LLVM ends the process. Only the first call has an effect.
pub(super) fn clean_up_with(clean_up: fn()) {
    CLEAN_UP.get_or_init(|| clean_up);
}

/// Calls the clean-up function, before the process ends in the middle of its work.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_clean_up() {
    entry(|_| (), || CLEAN_UP.get().into_iter().for_each(|clean_up| clean_up()));
}

/// Whether an input is LLVM's machine code as text (MIR). If not, prints an error.
///
/// # Safety
/// Both must be strings that live until this function returns.
// SAFETY: the header declares this exact name.
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
