//! Profiles on LLVM's modules: hashes of functions, and the choices that functions receive as attributes.

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

/// The attribute of a kernel that lets ptxas spill to shared memory. Only code generation can insert the directive for
/// it.
const WANTS_SMEM_SPILLING: &str = "nvptx-ra-smem-spilling";

/// The attribute of a function that the shim has copied from another.
const COPY_OF: &str = "nvptx-ra-copy-of";

/// Identifies IR that moves registers between warpgroups: an intrinsic, or inline assembly.
const MOVES_REGISTERS: &str = "setmaxnreg";

/// The mark of a module whose functions have received the choices of a profile for unoptimised code.
const REPLAYED: &str = "nvptx-ra.replayed";

/// Returns the name and the hash of each function that a module defines, in order.
pub fn functions(module: &OwnedModule<'_>) -> Vec<(String, String)> {
    // SAFETY: the module is alive during the call, and no other code accesses it.
    let module = unsafe { Module::new(module.as_mut_ptr()) };
    module.definitions().map(|function| (function.name(), hash_of_ir(&function.ir()))).collect()
}

/// Applies the choices of a profile to each function of a module, for a target with these features.
pub fn replay(module: &OwnedModule<'_>, profile: &Profile, features: &str) -> Unfit {
    // SAFETY: the module is alive during the call, and no other code accesses it.
    replay_in(&unsafe { Module::new(module.as_mut_ptr()) }, profile, features)
}

/// Applies only the choices that are attributes to each function of a module, whatever the function's code. The profile
/// must have been made for this module. The module is in a state before LLVM's optimisations, or in the middle of code
/// generation.
pub fn replay_attributes(module: &OwnedModule<'_>, profile: &Profile) {
    // SAFETY: the module is alive during the call, and no other code accesses it.
    let module = unsafe { Module::new(module.as_mut_ptr()) };
    for function in module.definitions() {
        if let Some(entry) = profile.entry(&origin(function)) {
            set_attributes(&module, function, entry);
        }
    }
}

/// Inserts the PTX directives that attributes request. Must run at the start of code generation, when all attributes
/// are set.
pub fn insert_directives(module: &OwnedModule<'_>) {
    // SAFETY: the module is alive during the call, and no other code accesses it.
    let module = unsafe { Module::new(module.as_mut_ptr()) };
    module.definitions().filter(|&function| wants_smem_spilling(function)).for_each(|kernel| {
        module.insert_directive(kernel, SMEM_SPILLING);
    });
}

/// Returns the function's name in the profile. For a copy, this is the name of the original.
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
        // The body that is linked later replaces the stock body.
        if let Some(linked) = &entry.linked {
            module.record(function, OFF);
            unfit.elsewhere.push((name, linked.file.clone()));
            continue;
        }
        // ptxas would reject the whole module.
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

/// Applies the choices of a profile for unoptimised code to each function of a module that is not optimised yet.
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

/// Completes the replay of a profile for unoptimised code at the start of code generation. The hashes were compared
/// before LLVM's optimisations. If they were not compared, none of the profile's choices is applied.
fn finish_in(module: &Module, profile: &Profile, features: &str) -> Result<Unfit, &'static str> {
    if !module.is_marked(REPLAYED) {
        let has_entry = |function: Function| profile.entry(&function.name()).is_some();
        let problem = "made for code before LLVM's optimisations: every function gets the defaults; compile the source \
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

/// Whether a function, or any function that it references, contains `setmaxnreg`. With fewer registers at entry,
/// `setmaxnreg` may wait for ever. The register counts in LLVM IR are not read, so any limit is a risk. O(functions²)
/// text searches if a function contains it.
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

/// Sets the choices of a function that are attributes.
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

/// The stage at which a profile is replayed.
#[derive(Clone, Copy)]
enum Stage<'a> {
    /// Before LLVM's optimisations.
    Ahead,
    /// At the start of code generation, for a target with these features.
    CodeGeneration(&'a str),
}

/// The remedy for a profile that does not fit.
const AGAIN: &str = "run nvptx-ra tune again";

/// Reads the profile that the options name and replays it. Returns a warning if the profile does not fit.
fn replay_options(module: &Module, config: &Config, target: &str, stage: Stage<'_>) -> Result<Option<String>, Error> {
    let Some(path) = &config.profile else { return Ok(None) };
    let said = |warning: &str| format!("nvptx-ra: {}: {warning}", path.display());
    let text = match (fs::read_to_string(path), stage) {
        // Code generation reports the error.
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
        let problem = format!("made for {}, but the target is {target}: every function gets the defaults", profile.cpu);
        // For a profile for unoptimised code, the warning was printed before the optimisations.
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
    // For a profile for unoptimised code, the warning was printed before the optimisations.
    let is_said = profile.unoptimised && !matches!(stage, Stage::Ahead);
    let has_choice = |name: &String| profile.entry(name).is_some() && !unfit.changed.contains(name);
    let has_chosen = !is_said && module.definitions().any(|function| has_choice(&function.name()));
    let warning = profile.warning(has_chosen, &unfit, fate, AGAIN, &newer);
    Ok(warning.map(|warning| said(&warning)))
}

/// Replays the profile that the options name. Returns a response with a warning or an error, or null if there is
/// nothing to report.
///
/// # Safety
/// `module` must be a live module that no other code accesses during the call. The texts must be live, and their
/// lengths must be correct.
// SAFETY: the shim declares this exact name.
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

/// Replays the profile that the options name, before LLVM's optimisations run. Returns a response with a warning or an
/// error, or null if there is nothing to report.
///
/// # Safety
/// `module` must be a live module that no other code accesses during the call. The text must be live, and its length
/// must be correct.
// SAFETY: the shim declares this exact name.
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
            // SAFETY: the caller promises the module. Without a target, the comparison of targets is omitted.
            unsafe { replay_stage(module, &command_line, &target.unwrap_or_default(), Stage::Ahead) }
        },
    )
}

/// # Safety
/// `module` must be a live module that no other code accesses during the call.
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
