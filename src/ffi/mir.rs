//! The driver behind `nvptx-ra mir`, which is C++: LLVM's new pass manager has no C API for machine code.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;

use libc::{c_char, c_int};

use super::abi;

/// Runs the driver as the program `name`. Returns its exit status, 2 where an argument holds a NUL, which no argument
/// of a process can. LLVM's option parser ends the process by itself where it does not like the arguments.
pub fn mir_main<S: AsRef<OsStr>>(name: &str, arguments: &[S]) -> i32 {
    let arguments = arguments.iter().map(|argument| argument.as_ref().as_bytes());
    let Ok(owned) = std::iter::once(name.as_bytes()).chain(arguments).map(CString::new).collect::<Result<Vec<_>, _>>()
    else {
        return 2;
    };
    let pointers: Vec<*const c_char> =
        owned.iter().map(|argument| argument.as_ptr()).chain([std::ptr::null()]).collect();
    // SAFETY: as many terminated strings as the count says, and the null behind them, as a main function gets them;
    // they live to the end of the call.
    unsafe { abi::nvptx_ra_mir_main(owned.len() as c_int, pointers.as_ptr()) }
}
