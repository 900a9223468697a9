//! Profiles on LLVM's modules: what the code of a function is, and choices given to functions as attributes.

use std::fs;

use inkwell::module::Module as OwnedModule;
use llvm_sys::prelude::LLVMModuleRef;

use super::abi::{self, nvptx_ra_response, nvptx_ra_str};
use super::choices::{Module, OFF, merge};
use super::guard::guard;
use super::response::Response;
use crate::config::{Config, Layers};
use crate::error::Error;
use crate::profile::{Entry, Profile, code_only, fingerprint};

/// The attribute that becomes `.maxnreg`.
const MAXNREG: &str = "nvvm.maxnreg";

/// The name and the hash of each function that a module defines, in its order.
pub fn functions(module: &OwnedModule<'_>) -> Vec<(String, String)> {
    // SAFETY: the module is alive during the call, and nobody else touches it.
    let module = unsafe { Module::new(module.as_mut_ptr()) };
    module.definitions().map(|function| (function.name(), hash(&function.ir()))).collect()
}

/// Gives each function of a module the choices that a profile has for it. Returns the names of those whose code is
/// another one than the profile was made for: they are left as they are.
pub fn replay(module: &OwnedModule<'_>, profile: &Profile) -> Vec<String> {
    // SAFETY: the module is alive during the call, and nobody else touches it.
    replay_in(&unsafe { Module::new(module.as_mut_ptr()) }, profile)
}

fn hash(ir: &str) -> String {
    fingerprint(&code_only(ir))
}

fn replay_in(module: &Module, profile: &Profile) -> Vec<String> {
    let mut changed = Vec::new();
    if !module.is_nvptx() {
        return changed;
    }
    for function in module.definitions() {
        let name = function.name();
        let Some(Entry { hash: expected, options, maxnreg, .. }) = profile.entry(&name) else { continue };
        if hash(&function.ir()) != *expected {
            changed.push(name);
            continue;
        }
        if options == OFF {
            module.record(function, OFF);
        } else if let Some(merged) = merge(function.recorded().as_deref(), options) {
            module.record(function, &merged);
        }
        if let Some(registers) = maxnreg {
            module.set(function, MAXNREG, &registers.to_string());
        }
    }
    changed
}

/// Reads the profile of the options and replays it. What there is to say is a warning.
fn replay_options(module: &Module, config: &Config, target: &str) -> Result<Option<String>, Error> {
    let Some(path) = &config.profile else { return Ok(None) };
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    let named = |error: Error| Error { problem: format!("{}: {}", path.display(), error.problem), ..error };
    let profile = Profile::parse(&text).map_err(named)?;
    let again = "run nvptx-ra tune again";
    if profile.cpu != target {
        let problem = format!("made for {}, and this is {target}: every function gets the defaults", profile.cpu);
        return Ok(Some(format!("nvptx-ra: {}: {problem}; {again}", path.display())));
    }
    let changed = replay_in(module, &profile);
    if changed.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = changed.iter().map(|name| format!("'{name}'")).collect();
    let (names, verb) =
        (names.join(", "), if changed.len() == 1 { "has changed and gets" } else { "have changed and get" });
    Ok(Some(format!("nvptx-ra: {}: {names} {verb} the defaults; {again}", path.display())))
}

/// Replays the profile that the options name. Null where there is nothing to say.
///
/// # Safety
/// `module` is a live module that nobody else touches during the call; the texts are live and as long as they say.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_replay_profile(
    module: LLVMModuleRef,
    command_line: nvptx_ra_str,
    target: nvptx_ra_str,
) -> *const nvptx_ra_response {
    // SAFETY: the caller promises the texts.
    let (command_line, target) = unsafe { (abi::text(command_line), abi::text(target)) };
    let config = guard(|| Ok(Config::resolve_valid(&Layers { command_line: &command_line, ..Layers::default() })))
        .unwrap_or_default();
    // SAFETY: the caller promises the module.
    match guard(|| replay_options(&unsafe { Module::new(module) }, &config, &target)) {
        Ok(None) => std::ptr::null(),
        Ok(Some(warning)) => Response::of_warning(warning).hand_over(),
        Err(error) => Response::of_error(&error, config.strict).hand_over(),
    }
}
