//! `nvptx-ra mir`: a pipeline of the new pass manager on a `.mir` file.

use std::ffi::OsString;

use nvptx_ra::ffi::mir_main;

/// Runs the driver on the arguments behind `mir`, which are LLVM's (`-passes`, `-o`, `-mcpu`, the plugin's own …), and
/// returns the exit status.
pub(crate) fn run(arguments: &[OsString]) -> i32 {
    mir_main("nvptx-ra mir", arguments)
}
