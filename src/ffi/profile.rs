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
use crate::profile::{Entry, Profile, SMEM_SPILLING, Unfit, hash_of_ir, is_hash_of_ir};
use crate::target::PtxVersion;

/// The attribute that becomes `.maxnreg`.
const MAXNREG: &str = "nvvm.maxnreg";

/// The attribute of a kernel that lets ptxas spill to shared memory. Only code generation can write that down.
const WANTS_SMEM_SPILLING: &str = "nvptx-ra-smem-spilling";

/// The attribute of a copy that the shim made of a function.
const COPY_OF: &str = "nvptx-ra-copy-of";

/// What stands in the IR of a function that moves registers between warpgroups: an intrinsic, or inline assembly.
const MOVES_REGISTERS: &str = "setmaxnreg";

/// What a module is marked with whose functions have the choices of a profile for unoptimised code.
const REPLAYED: &str = "nvptx-ra.replayed";

/// The name and the hash of each function that a module defines, in its order.
pub fn functions(module: &OwnedModule<'_>) -> Vec<(String, String)> {
    // SAFETY: the module is alive during the call, and nobody else touches it.
    let module = unsafe { Module::new(module.as_mut_ptr()) };
    module.definitions().map(|function| (function.name(), hash_of_ir(&function.ir()))).collect()
}

/// Gives each function of a module the choices that a profile has for it, for a target with such features.
pub fn replay(module: &OwnedModule<'_>, profile: &Profile, features: &str) -> Unfit {
    // SAFETY: the module is alive during the call, and nobody else touches it.
    replay_in(&unsafe { Module::new(module.as_mut_ptr()) }, profile, features)
}

/// Gives each function of a module those choices of a profile that are attributes, whatever its code is now: for a
/// module that the profile was made for and that is ahead of optimisations, or half-way through code generation.
pub fn replay_attributes(module: &OwnedModule<'_>, profile: &Profile) {
    // SAFETY: the module is alive during the call, and nobody else touches it.
    let module = unsafe { Module::new(module.as_mut_ptr()) };
    for function in module.definitions() {
        if let Some(entry) = profile.entry(&origin(function)) {
            set_attributes(&module, function, entry);
        }
    }
}

/// Does what is left to do at the start of code generation where all attributes are there.
pub fn insert_directives(module: &OwnedModule<'_>) {
    // SAFETY: the module is alive during the call, and nobody else touches it.
    let module = unsafe { Module::new(module.as_mut_ptr()) };
    module.definitions().filter(|&function| wants_smem_spilling(function)).for_each(|kernel| {
        module.insert_directive(kernel, SMEM_SPILLING);
    });
}

/// The name of a function that a profile has: of a copy, that of the function that it is a copy of.
fn origin(function: Function) -> String {
    function.attribute(COPY_OF).unwrap_or_else(|| function.name())
}

fn wants_smem_spilling(function: Function) -> bool {
    function.is_kernel() && function.attribute(WANTS_SMEM_SPILLING).is_some()
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
        if !is_hash_of_ir(&entry.hash, &function.ir()) {
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
        if entry.changes_bounds() && moves_registers(module, function) {
            unfit.limited.push(name);
            continue;
        }
        set_attributes(module, function, entry);
        if wants_smem_spilling(function) {
            module.insert_directive(function, SMEM_SPILLING);
        }
    }
    unfit
}

/// Gives each function of a module that is not optimised yet the choices that a profile for such code has for it.
fn replay_ahead_in(module: &Module, profile: &Profile) -> Unfit {
    let mut unfit = Unfit::default();
    module.mark(REPLAYED);
    for function in module.definitions() {
        let name = function.name();
        match profile.entry(&name) {
            Some(entry) if !is_hash_of_ir(&entry.hash, &function.ir()) => unfit.changed.push(name),
            Some(entry) if entry.changes_bounds() && moves_registers(module, function) => unfit.limited.push(name),
            Some(entry) => set_attributes(module, function, entry),
            None => {}
        }
    }
    unfit
}

/// Does what is left of a profile for unoptimised code where code generation starts. The hashes were compared ahead of
/// LLVM's optimisations; if nobody did that, none of its choices is made.
fn finish_in(module: &Module, profile: &Profile, features: &str) -> Result<Unfit, &'static str> {
    if !module.is_marked(REPLAYED) {
        let has_entry = |function: Function| profile.entry(&function.name()).is_some();
        let problem = "made for code ahead of LLVM's optimisations: every function gets the defaults; compile its source \
                       by clang with -fpass-plugin, or this code by nvptx-ra compile with --optimise auto";
        return if module.definitions().any(has_entry) { Err(problem) } else { Ok(Unfit::default()) };
    }
    let mut unfit = Unfit::default();
    let knows_smem_spilling = PtxVersion::of_features(features) >= Some(PtxVersion::SMEM_SPILLING);
    for kernel in module.definitions().filter(|&function| wants_smem_spilling(function)) {
        if knows_smem_spilling {
            module.insert_directive(kernel, SMEM_SPILLING);
        } else {
            unfit.ahead.push(kernel.name());
        }
    }
    Ok(unfit)
}

/// Whether a function, or any function that it names, has `setmaxnreg`: with fewer registers at entry, that may wait for ever. The
/// numbers of LLVM IR are not read, so any limit counts. O(functions²) texts where one has it.
fn moves_registers(module: &Module, function: Function) -> bool {
    let bodies: Vec<(String, String)> = module.definitions().map(|other| (other.name(), other.ir())).collect();
    if bodies.iter().all(|(_, ir)| !ir.contains(MOVES_REGISTERS)) {
        return false;
    }
    let (mut reached, mut next) = (vec![function.name()], 0);
    while let Some(name) = reached.get(next).cloned() {
        next += 1;
        let Some((_, ir)) = bodies.iter().find(|(other, _)| *other == name) else { continue };
        if ir.contains(MOVES_REGISTERS) {
            return true;
        }
        let is_named =
            |other: &&String| [format!("@{other}"), format!("@\"{other}\"")].iter().any(|name| ir.contains(name));
        let named: Vec<String> = bodies.iter().map(|(other, _)| other).filter(is_named).cloned().collect();
        reached.extend(named.into_iter().filter(|other| !reached.contains(other)).collect::<Vec<_>>());
    }
    false
}

/// Gives a function those choices that are attributes.
fn set_attributes(module: &Module, function: Function, entry: &Entry) {
    let Entry { options, maxnreg, smem_spilling, linked, .. } = entry;
    let attribute = entry.attribute();
    if options == OFF || linked.is_some() {
        module.record(function, OFF);
    } else if let Some(merged) = merge(function.recorded().as_deref(), &attribute) {
        module.record(function, &merged);
    }
    if let Some(registers) = maxnreg.filter(|_| linked.is_none()) {
        module.set(function, MAXNREG, &registers.to_string());
    }
    if *smem_spilling {
        module.set(function, WANTS_SMEM_SPILLING, "");
    }
}

/// Where a profile is replayed.
#[derive(Clone, Copy)]
enum Stage<'a> {
    /// Ahead of LLVM's optimisations.
    Ahead,
    /// At the start of code generation, for a target with such features.
    CodeGeneration(&'a str),
}

/// What to do about a profile that does not fit.
const AGAIN: &str = "run nvptx-ra tune again";

/// Reads the profile of the options and replays it. What there is to say is a warning.
fn replay_options(module: &Module, config: &Config, target: &str, stage: Stage<'_>) -> Result<Option<String>, Error> {
    let Some(path) = &config.profile else { return Ok(None) };
    let said = |warning: &str| format!("nvptx-ra: {}: {warning}", path.display());
    let text = match (fs::read_to_string(path), stage) {
        // Code generation says it.
        (Err(_), Stage::Ahead) => return Ok(None),
        (text, _) => text.map_err(|error| Error::file(path, &error))?,
    };
    let named = |error: Error| Error { problem: format!("{}: {}", path.display(), error.problem), ..error };
    let profile = match (Profile::parse(&text), stage) {
        (Err(_), Stage::Ahead) => return Ok(None),
        (profile, _) => profile.map_err(named)?,
    };
    if matches!(stage, Stage::Ahead) && !profile.unoptimised {
        return Ok(None);
    }
    if profile.cpu != target && !(target.is_empty() && matches!(stage, Stage::Ahead)) {
        let problem = format!("made for {}, and this is {target}: every function gets the defaults", profile.cpu);
        // Of a profile for unoptimised code it is said ahead of the optimisations.
        let is_said = profile.unoptimised && module.is_marked(REPLAYED);
        if matches!(stage, Stage::Ahead) {
            module.mark(REPLAYED);
        }
        return Ok((!is_said).then(|| said(&format!("{problem}; {AGAIN}"))));
    }
    let unfit = match stage {
        Stage::Ahead => replay_ahead_in(module, &profile),
        Stage::CodeGeneration(features) if !profile.unoptimised => replay_in(module, &profile, features),
        Stage::CodeGeneration(features) => match finish_in(module, &profile, features) {
            Ok(unfit) => unfit,
            Err(problem) => return Ok(Some(said(problem))),
        },
    };
    let newer = format!("{AGAIN} without it, or use -mattr=+ptx{}", PtxVersion::SMEM_SPILLING.0);
    let fate = ["gets the defaults", "get the defaults"];
    // Of a profile for unoptimised code it is said ahead of the optimisations.
    let is_said = profile.unoptimised && !matches!(stage, Stage::Ahead);
    let has_choice = |name: &String| profile.entry(name).is_some() && !unfit.changed.contains(name);
    let has_chosen = !is_said && module.definitions().any(|function| has_choice(&function.name()));
    let warning = profile.warning(has_chosen, &unfit, fate, AGAIN, &newer);
    Ok(warning.map(|warning| said(&warning)))
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
            // SAFETY: the caller promises the module.
            unsafe { replay_stage(module, &command_line, &target, Stage::CodeGeneration(&features)) }
        },
    )
}

/// Replays the profile that the options name ahead of LLVM's optimisations. Null where there is nothing to say.
///
/// # Safety
/// `module` is a live module that nobody else touches during the call; the text is live and as long as it says.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_replay_profile_ahead(
    module: LLVMModuleRef,
    command_line: nvptx_ra_str,
) -> *const nvptx_ra_response {
    entry(
        |error| Response::of_error(&error, false).hand_over(),
        || {
            // SAFETY: the caller promises the text.
            let command_line = unsafe { abi::text(command_line) };
            // SAFETY: the caller promises the module.
            let target =
                unsafe { Module::new(module) }.definitions().find_map(|function| function.attribute("target-cpu"));
            // SAFETY: the caller promises the module. Without a target there is none to compare.
            unsafe { replay_stage(module, &command_line, &target.unwrap_or_default(), Stage::Ahead) }
        },
    )
}

/// # Safety
/// `module` is a live module that nobody else touches during the call.
unsafe fn replay_stage(
    module: LLVMModuleRef,
    command_line: &str,
    target: &str,
    stage: Stage<'_>,
) -> *const nvptx_ra_response {
    let config = Config::resolve_valid(&Layers { command_line, ..Layers::default() });
    // SAFETY: the caller promises the module.
    match guard(|| replay_options(&unsafe { Module::new(module) }, &config, target, stage)) {
        Ok(None) => std::ptr::null(),
        Ok(Some(warning)) => Response::of_warning(warning).hand_over(),
        Err(error) => Response::of_error(&error, config.strict).hand_over(),
    }
}
