//! The driver of `nvptx-ra mir`. It is in C++ because LLVM's new pass manager has no C API for machine code.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;

use libc::{c_char, c_int};

use super::abi;

/// Runs the driver as the program `name`. Returns its exit status. The status is 2 if an argument contains a NUL,
/// because an argument of a process cannot contain any. LLVM's option parser ends the process itself if an argument is
/// invalid.
pub fn mir_main<S: AsRef<OsStr>>(name: &str, arguments: &[S]) -> i32 {
    let arguments = arguments.iter().map(|argument| argument.as_ref().as_bytes());
    let Ok(owned) = std::iter::once(name.as_bytes()).chain(arguments).map(CString::new).collect::<Result<Vec<_>, _>>()
    else {
        return 2;
    };
    let pointers: Vec<*const c_char> =
        owned.iter().map(|argument| argument.as_ptr()).chain([std::ptr::null()]).collect();
    // SAFETY: as for a main function, there are as many terminated strings as the count, followed by a null. They live
    // to the end of the call.
    unsafe { abi::nvptx_ra_mir_main(owned.len() as c_int, pointers.as_ptr()) }
}
