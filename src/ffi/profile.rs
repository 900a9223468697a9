//! Profiles on LLVM's modules: what the code of a function is, and choices given to functions as attributes.

use std::fs;

use inkwell::module::Module as OwnedModule;
use llvm_sys::prelude::LLVMModuleRef;

use super::abi::{self, nvptx_ra_response, nvptx_ra_str};
use super::choices::{Function, Module, OFF, merge};
use super::guard::{entry, guard};
use super::response::Response;
use crate::config::{Config, Layers};
use crate::error::Error;
use crate::profile::{Entry, Profile, SMEM_SPILLING, Unfit, code_only, fingerprint};
use crate::target::PtxVersion;

/// The attribute that becomes `.maxnreg`.
const MAXNREG: &str = "nvvm.maxnreg";

/// The name and the hash of each function that a module defines, in its order.
pub fn functions(module: &OwnedModule<'_>) -> Vec<(String, String)> {
    // SAFETY: the module is alive during the call, and nobody else touches it.
    let module = unsafe { Module::new(module.as_mut_ptr()) };
    module.definitions().map(|function| (function.name(), hash(&function.ir()))).collect()
}

/// Gives each function of a module the choices that a profile has for it, for a target with such features.
pub fn replay(module: &OwnedModule<'_>, profile: &Profile, features: &str) -> Unfit {
    // SAFETY: the module is alive during the call, and nobody else touches it.
    replay_in(&unsafe { Module::new(module.as_mut_ptr()) }, profile, features)
}

/// Gives each function of a module those choices of a profile that are attributes, whatever its code is now: for a
/// module that the profile was made for and that is half-way through code generation.
pub fn replay_attributes(module: &OwnedModule<'_>, profile: &Profile) {
    // SAFETY: the module is alive during the call, and nobody else touches it.
    let module = unsafe { Module::new(module.as_mut_ptr()) };
    for function in module.definitions() {
        if let Some(entry) = profile.entry(&function.name()) {
            set_attributes(&module, function, entry);
        }
    }
}

fn hash(ir: &str) -> String {
    fingerprint(&code_only(ir))
}

fn replay_in(module: &Module, profile: &Profile, features: &str) -> Unfit {
    let mut unfit = Unfit::default();
    if !module.is_nvptx() {
        return unfit;
    }
    let knows_smem_spilling = PtxVersion::of_features(features) >= Some(PtxVersion::SMEM_SPILLING);
    for function in module.definitions() {
        let name = function.name();
        let Some(entry) = profile.entry(&name) else { continue };
        if hash(&function.ir()) != entry.hash {
            unfit.changed.push(name);
            continue;
        }
        // The body that is linked later takes the place of stock's.
        if let Some(linked) = &entry.linked {
            module.record(function, OFF);
            unfit.elsewhere.push((name, linked.file.clone()));
            continue;
        }
        // ptxas refuses the whole module for it.
        if entry.smem_spilling && !knows_smem_spilling {
            unfit.ahead.push(name);
            continue;
        }
        set_attributes(module, function, entry);
        if entry.smem_spilling && function.is_kernel() {
            module.insert_directive(function, SMEM_SPILLING);
        }
    }
    unfit
}

/// Gives a function those choices that are attributes.
fn set_attributes(module: &Module, function: Function, Entry { options, maxnreg, linked, .. }: &Entry) {
    if options == OFF || linked.is_some() {
        module.record(function, OFF);
    } else if let Some(merged) = merge(function.recorded().as_deref(), options) {
        module.record(function, &merged);
    }
    if let Some(registers) = maxnreg.filter(|_| linked.is_none()) {
        module.set(function, MAXNREG, &registers.to_string());
    }
}

/// Reads the profile of the options and replays it. What there is to say is a warning.
fn replay_options(module: &Module, config: &Config, target: &str, features: &str) -> Result<Option<String>, Error> {
    let Some(path) = &config.profile else { return Ok(None) };
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    let named = |error: Error| Error { problem: format!("{}: {}", path.display(), error.problem), ..error };
    let profile = Profile::parse(&text).map_err(named)?;
    let again = "run nvptx-ra tune again";
    if profile.cpu != target {
        let problem = format!("made for {}, and this is {target}: every function gets the defaults", profile.cpu);
        return Ok(Some(format!("nvptx-ra: {}: {problem}; {again}", path.display())));
    }
    let unfit = replay_in(module, &profile, features);
    let newer = format!("{again} without it, or use -mattr=+ptx{}", PtxVersion::SMEM_SPILLING.0);
    let warning = unfit.warning(["gets the defaults", "get the defaults"], again, &newer);
    Ok(warning.map(|warning| format!("nvptx-ra: {}: {warning}", path.display())))
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
    features: nvptx_ra_str,
) -> *const nvptx_ra_response {
    entry(
        |error| Response::of_error(&error, false).hand_over(),
        || {
            // SAFETY: the caller promises the texts.
            let [command_line, target, features] =
                [command_line, target, features].map(|text| unsafe { abi::text(text) });
            let config = Config::resolve_valid(&Layers { command_line: &command_line, ..Layers::default() });
            // SAFETY: the caller promises the module.
            match guard(|| replay_options(&unsafe { Module::new(module) }, &config, &target, &features)) {
                Ok(None) => std::ptr::null(),
                Ok(Some(warning)) => Response::of_warning(warning).hand_over(),
                Err(error) => Response::of_error(&error, config.strict).hand_over(),
            }
        },
    )
}
