//! The entry point that clang, opt and llc look for, and what the plugin decides when a pipeline is built.

use std::ffi::{c_char, c_void};

use super::abi;
use super::guard::entry;
use crate::config::{CoalescerPosition, Config, Layers, RegisterBudget};

/// The layout of the struct below that this LLVM expects; the shim asserts both.
const PLUGIN_API_VERSION: u32 = 2;

/// LLVM's `PassPluginLibraryInfo`.
#[repr(C)]
pub(super) struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register_callbacks: Option<extern "C" fn(*mut c_void)>,
    pre_code_gen: Option<extern "C" fn()>,
}

// Tests of the library are programs, and the shim in them needs LLVM as any program does.
#[cfg(test)]
#[link(name = "LLVM-22")]
unsafe extern "C" {}

pub(super) extern "C" fn register_callbacks(pass_builder: *mut c_void) {
    // SAFETY: LLVM calls this with its own `PassBuilder`, of the version that the shim was compiled for: of another
    // version the shim has registered nothing, and then it does not touch the pointer.
    entry(|_| (), || unsafe { abi::nvptx_ra_register_callbacks(pass_builder) });
}

const INFO: PassPluginLibraryInfo = PassPluginLibraryInfo {
    api_version: PLUGIN_API_VERSION,
    name: c"nvptx-ra".as_ptr(),
    version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
    register_callbacks: Some(register_callbacks),
    pre_code_gen: None,
};

/// Tells LLVM's pass plugin loader who this is.
// SAFETY: the loader looks for this very name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    entry(|_| INFO, || INFO)
}

/// Makes the core ready: called once, when the passes are registered.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_start() {
    // A panic here would only cost the log.
    entry(|_| (), crate::logging::start);
}

/// Which passes are in the pipeline, and where. The defaults where the options are wrong, which is reported elsewhere.
///
/// # Safety
/// The text is live and as long as it says.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_pipeline_of(command_line: abi::nvptx_ra_str) -> abi::nvptx_ra_pipeline {
    entry(
        |_| pipeline(Config::default()),
        || {
            // SAFETY: the caller promises it.
            let command_line = unsafe { abi::text(command_line) };
            pipeline(Config::resolve_valid(&Layers { command_line: &command_line, ..Layers::default() }))
        },
    )
}

fn pipeline(config: Config) -> abi::nvptx_ra_pipeline {
    let Config { position, cssa, rename, forecast, budget, profile, .. } = config;
    let position = match position {
        CoalescerPosition::Off => abi::NVPTX_RA_POSITION_OFF,
        CoalescerPosition::Before => abi::NVPTX_RA_POSITION_BEFORE,
        CoalescerPosition::After => abi::NVPTX_RA_POSITION_AFTER,
        CoalescerPosition::Instead => abi::NVPTX_RA_POSITION_INSTEAD,
    };
    abi::nvptx_ra_pipeline {
        position,
        cssa: cssa.into(),
        rename: rename.into(),
        forecast: forecast.into(),
        budget: (budget != RegisterBudget::Off).into(),
        profile: profile.is_some().into(),
    }
}
