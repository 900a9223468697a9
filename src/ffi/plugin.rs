//! The entry point that clang, opt and llc call, and the decisions about a pipeline that is being built.

use std::ffi::{c_char, c_void};

use super::abi;
use super::guard::entry;
use crate::config::{CoalescerPosition, Config, KernelRegisterLimit, Layers, Warn};
use crate::passes::{Place, places};

/// The API version that this LLVM expects. It determines the layout of the struct below; the shim asserts both.
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

// The library's tests are programs, in which the shim must be linked to LLVM as in any program.
#[cfg(test)]
#[link(name = "LLVM-22")]
unsafe extern "C" {}

pub(super) extern "C" fn register_callbacks(pass_builder: *mut c_void) {
    // SAFETY: LLVM calls this with its own `PassBuilder`, of the version for which the shim was compiled. For another
    // version, the shim has registered nothing and does not access the pointer.
    entry(|_| (), || unsafe { abi::nvptx_ra_register_callbacks(pass_builder) });
}

const INFO: PassPluginLibraryInfo = PassPluginLibraryInfo {
    api_version: PLUGIN_API_VERSION,
    name: c"nvptx-ra".as_ptr(),
    version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
    register_callbacks: Some(register_callbacks),
    pre_code_gen: None,
};

/// Returns the plugin's description to LLVM's plugin loader.
// SAFETY: the loader looks for this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    entry(|_| INFO, || INFO)
}

/// Initialises the core. Called once, when the passes are registered.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_start() {
    // A panic here costs only the log.
    entry(|_| (), crate::logging::start);
}

/// Returns the decisions about a pipeline other than its passes. Wrong options are ignored; another entry reports them.
///
/// # Safety
/// The text must be live, and its length must be correct.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_pipeline_of(command_line: abi::nvptx_ra_str) -> abi::nvptx_ra_pipeline {
    // SAFETY: the caller promises it.
    entry(|_| pipeline(&Config::default()), || pipeline(&unsafe { config(command_line) }))
}

/// Returns the `index`-th pass to insert into the pipeline, and its position. An empty name after the last.
///
/// # Safety
/// The text must be live, and its length must be correct.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_place_at(
    command_line: abi::nvptx_ra_str,
    optimises: u32,
    index: u64,
) -> abi::nvptx_ra_place {
    entry(
        |_| abi::nvptx_ra_place::default(),
        || {
            // SAFETY: the caller promises it.
            let places = places(&unsafe { config(command_line) }, optimises != 0);
            let raw = |&Place { pass, anchor, replaces, follows, with_analyses }: &Place| abi::nvptx_ra_place {
                pass: abi::borrow(pass),
                anchor: abi::borrow(anchor),
                replaces: replaces.into(),
                follows: follows.into(),
                with_analyses: with_analyses.into(),
                reserved: 0,
            };
            places.get(index as usize).map(raw).unwrap_or_default()
        },
    )
}

/// # Safety
/// The text must be live, and its length must be correct.
unsafe fn config(command_line: abi::nvptx_ra_str) -> Config {
    // SAFETY: the caller promises it.
    let command_line = unsafe { abi::text(command_line) };
    Config::resolve_valid(&Layers { command_line: &command_line, ..Layers::default() })
}

fn pipeline(config: &Config) -> abi::nvptx_ra_pipeline {
    let coalesces = config.position != CoalescerPosition::Off;
    abi::nvptx_ra_pipeline {
        edits: (config.cssa || coalesces || config.rename).into(),
        coalesces: coalesces.into(),
        forecast: (config.forecast || config.warn.contains(Warn::SPILLS)).into(),
        limits_registers: (config.register_limit != KernelRegisterLimit::Off).into(),
        profile: config.profile.is_some().into(),
    }
}
