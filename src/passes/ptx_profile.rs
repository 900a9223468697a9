//! Replays profiles on PTX: applies the choices that a search found for each function.

use std::collections::BTreeMap;

use super::ptx::run_step;
use super::{PtxOutput, is_idle};
use crate::config::{
    COPY_COALESCER, Config, LOOP_SHAPE, Layers, REGALLOC, REMAT, RENAME, SCHEDULE, SHARED_ADDRESSES, SIMD_VIDEO,
};
use crate::error::Error;
use crate::profile::{Entry, Profile, SMEM_SPILLING, Unfit, fingerprint};
use crate::ptx::{Body, Module, Patch};
use crate::target::PtxVersion;
use crate::target::machine::Architecture;

/// The passes for a function's choices, in the order of LLVM's pipeline.
const PASSES: [&str; 8] = [SIMD_VIDEO, COPY_COALESCER, SHARED_ADDRESSES, REMAT, SCHEDULE, REGALLOC, LOOP_SHAPE, RENAME];

/// Returns the name and the hash of each function that a module defines, in its order. The hash ignores white space,
/// comments and debug information.
pub fn functions_of_ptx(module: &Module<'_>) -> Vec<(String, String)> {
    let bodies = module.bodies().iter();
    bodies.map(|body| (body.name(module.file()).to_owned(), hash(module, body))).collect()
}

fn hash(module: &Module<'_>, body: &Body) -> String {
    fingerprint(&module.code_of(body))
}

/// Whether a hash matches a function, in the form of [`functions_of_ptx`], or in an older form that includes all of its
/// text.
pub(super) fn is_hash_of(hash: &str, module: &Module<'_>, body: &Body) -> bool {
    hash == self::hash(module, body) || hash == fingerprint(&String::from_utf8_lossy(module.text_of(body)))
}

/// Applies the choices of a profile to the functions of a PTX file; the other functions stay unchanged byte for byte.
/// `name` is the file's name, for messages. `options` apply to all functions and take precedence over the profile.
/// `target` is the architecture.
///
/// # Errors
/// The text cannot be split into statements, an option is wrong, or a pass fails.
pub fn replay_on_ptx(
    name: &str,
    bytes: &[u8],
    profile: &Profile,
    options: &str,
    target: &str,
) -> Result<(PtxOutput, Unfit), Error> {
    let (mut output, mut unfit) = (PtxOutput { text: bytes.to_vec(), ..PtxOutput::default() }, Unfit::default());
    let module = Module::read(name, bytes)?;
    let (mut configs, mut heads, mut names) = (BTreeMap::new(), Patch::default(), Vec::new());
    for body in module.bodies() {
        let function = body.name(module.file());
        let Some(entry) = profile.entry(function) else { continue };
        if !is_hash_of(&entry.hash, &module, body) {
            unfit.changed.push(function.to_owned());
            continue;
        }
        if let Some(linked) = &entry.linked {
            unfit.elsewhere.push((function.to_owned(), linked.file.clone()));
            continue;
        }
        // In an older PTX version, ptxas would refuse the whole file because of the pragma.
        if entry.smem_spilling && module.version() < Some(PtxVersion::SMEM_SPILLING) {
            unfit.ahead.push(function.to_owned());
            continue;
        }
        let is_limited = entry.maxnreg.is_some_and(|registers| !may_be_limited(&module, body, registers, target));
        if is_limited || entry.minnctapersm.is_some() && !wants_blocks(&module, body, target) {
            unfit.limited.push(function.to_owned());
            continue;
        }
        let Entry { maxnreg, smem_spilling, minnctapersm, .. } = entry;
        names.extend(entry.other_name.then(|| module.other_name(body)).flatten());
        let chosen = entry.attribute();
        let config = Config::resolve(&Layers { attribute: &chosen, command_line: options, ..Layers::default() })?;
        if config.enabled {
            configs.insert(function.to_owned(), config);
        }
        if body.launch_bounds(module.file()).is_some() {
            let bounds = [(".maxnreg", *maxnreg), (".minnctapersm", *minnctapersm)];
            let bounds: Vec<(&str, u32)> =
                bounds.into_iter().filter_map(|(directive, value)| Some((directive, value?))).collect();
            heads.append(module.begin(body, &bounds, smem_spilling.then_some(SMEM_SPILLING)));
        }
    }
    if !heads.is_empty() {
        // The bounds are inserted before the passes run, because their results may depend on the bounds.
        output.text = heads.apply(bytes);
    }
    for pass in PASSES {
        let wanted = |function: &str| configs.get(function).filter(|config| is_wanted(pass, config));
        if !configs.values().any(|config| is_wanted(pass, config)) {
            continue;
        }
        let text = std::mem::take(&mut output.text);
        let (patch, _) = run_step(&Module::read(name, &text)?, pass, &wanted, target, &mut output)?;
        output.text = if patch.is_empty() { text } else { patch.apply(&text) };
    }
    if !names.is_empty() {
        output.text = Module::read(name, &output.text)?.with_other_names(&names);
    }
    Ok((output, unfit))
}

/// Whether a kernel may get `.minnctapersm`: only a kernel whose `setmaxnreg` ptxas ignores without that bound. The
/// search has run the kernel with the bound.
fn wants_blocks(module: &Module<'_>, body: &Body, target: &str) -> bool {
    let requests = module.register_requests(body);
    requests.is_some_and(|requests| {
        Architecture::by_name(target).is_ok_and(|architecture| requests.want_blocks(architecture))
    })
}

/// Whether a kernel may get a register limit. A kernel with `setmaxnreg` may get one only if every run can still get
/// the registers that it requests, and not on an unknown architecture.
fn may_be_limited(module: &Module<'_>, body: &Body, registers: u32, target: &str) -> bool {
    let Some(requests) = module.register_requests(body) else { return true };
    Architecture::by_name(target).is_ok_and(|architecture| requests.may_be_limited_to(registers, architecture))
}

/// Whether a pass may change a function with these options.
fn is_wanted(pass: &str, config: &Config) -> bool {
    !is_idle(pass, config)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "// A file.\n.version 8.7\n.target sm_90\n.address_size 64\n\n\
        .entry a(.param .u64 p)\n{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n\
        \tld.global.u32 %r1, [%rd1];\n\tmov.u32 %r2, %r1;\n\tadd.s32 %r3, %r2, 1;\n\tst.global.u32 [%rd1], %r3;\n\tret;\n}\n\n\
        .entry b()\n{\n\t.reg .b32 %r<3>;\n\tmov.u32 %r1, 5;\n\tmov.u32 %r2, %r1;\n\tret;\n}\n";

    fn entry(name: &str, options: &str) -> Entry {
        let module = Module::read("two.ptx", TWO.as_bytes()).expect("it is right");
        let (_, hash) = functions_of_ptx(&module).into_iter().find(|(other, _)| other == name).expect("it is there");
        Entry { name: name.into(), hash, options: options.into(), ..Entry::default() }
    }

    fn replayed(text: &str, entries: Vec<Entry>) -> (String, Unfit) {
        let profile = Profile::new("sm_90", entries);
        let (output, unfit) = replay_on_ptx("two.ptx", text.as_bytes(), &profile, "verify", "sm_90").expect("it runs");
        (String::from_utf8(output.text).expect("it is text"), unfit)
    }

    /// Only functions with choices change, and an entry with `off` changes nothing.
    #[test]
    fn only_what_is_chosen() {
        assert_eq!(replayed(TWO, vec![]), (TWO.into(), Unfit::default()));
        assert_eq!(replayed(TWO, vec![entry("a", "off"), entry("b", "off")]), (TWO.into(), Unfit::default()));
        let (changed, unfit) = replayed(TWO, vec![entry("a", ""), entry("b", "off")]);
        let at = TWO.find(".entry b").expect("there are two");
        assert!(unfit.is_empty() && changed.ends_with(&TWO[at..]) && !changed.contains("mov.u32 %r2, %r1;\n\tadd"));
    }

    /// The register limit and the pragma for spills are inserted into the right kernel, whatever its body.
    #[test]
    fn directives() {
        let limited = Entry { maxnreg: Some(40), smem_spilling: true, ..entry("b", "off") };
        let (changed, _) = replayed(TWO, vec![limited.clone()]);
        let expected = TWO.replace(".entry b()\n{", ".entry b()\n.maxnreg 40\n{\n\t.pragma \"enable_smem_spilling\";");
        assert_eq!(changed, expected);
        let older = TWO.replace("8.7", "8.6");
        let (same, unfit) = replayed(&older, vec![limited]);
        assert_eq!((same, unfit.ahead), (older, vec!["b".to_owned()]));
    }

    /// If a register limit might make `setmaxnreg` wait for ever, neither the limit nor the kernel's other choices are
    /// applied. A limit with enough registers is applied.
    #[test]
    fn limits_beside_setmaxnreg() {
        let asks = "\tsetmaxnreg.inc.sync.aligned.u32 232;\n\tret;\n}\n";
        let text = TWO.replace(".target sm_90", ".target sm_90a").replace("\tmov.u32 %r2, %r1;\n\tret;\n}\n", asks);
        let text = text.replace(".entry b()\n", ".entry b()\n.maxntid 256\n.minnctapersm 1\n");
        let hash = functions_of_ptx(&Module::read("two.ptx", text.as_bytes()).expect("it is right")).swap_remove(1).1;
        let limited = |registers| Entry { hash: hash.clone(), maxnreg: Some(registers), ..entry("b", "") };
        let profile = |registers| Profile::new("sm_90a", vec![limited(registers)]);
        let replayed = |registers| {
            let of = replay_on_ptx("two.ptx", text.as_bytes(), &profile(registers), "verify", "sm_90a");
            let (output, unfit) = of.expect("it runs");
            (String::from_utf8(output.text).expect("it is text"), unfit)
        };
        let (same, unfit) = replayed(80);
        assert_eq!((&same, &unfit.limited), (&text, &vec!["b".to_owned()]));
        let warning = unfit.warning(["keeps its text", "keep their text"], "remove the profile", "newer");
        let expected = "'b' has setmaxnreg, which may wait for ever with the profile's bounds, and keeps its text; remove the profile";
        assert_eq!(warning.as_deref(), Some(expected));
        let (other, unfit) = replayed(240);
        assert!(unfit.is_empty() && other.contains(".maxnreg 240"), "{other}");
    }

    /// `.minnctapersm` is applied only to kernels whose `setmaxnreg` ptxas ignores without it. The other name is given
    /// to the result of all passes.
    #[test]
    fn blocks_and_names() {
        let asks = "\tsetmaxnreg.dec.sync.aligned.u32 40;\n\tsetmaxnreg.inc.sync.aligned.u32 232;\n\tret;\n}\n";
        let text = TWO.replace(".target sm_90", ".target sm_90a").replace("\tmov.u32 %r2, %r1;\n\tret;\n}\n", asks);
        let replayed = |text: &str, name: &str, minnctapersm, other_name| {
            let functions = functions_of_ptx(&Module::read("two.ptx", text.as_bytes()).expect("it is right"));
            let hash = functions.into_iter().find(|(function, _)| function == name).expect("it is there").1;
            let choices = Entry { name: name.into(), hash, minnctapersm, other_name, ..entry("b", "") };
            let profile = Profile::new("sm_90a", vec![choices]);
            let of = replay_on_ptx("two.ptx", text.as_bytes(), &profile, "verify", "sm_90a");
            let (output, unfit) = of.expect("it runs");
            (String::from_utf8(output.text).expect("it is text"), unfit)
        };
        let bounded = text.replace(".entry b()\n", ".entry b()\n.maxntid 384\n");
        let (changed, unfit) = replayed(&bounded, "b", Some(1), false);
        assert!(unfit.is_empty() && changed.contains(".entry b()\n.maxntid 384\n.minnctapersm 1\n{"), "{changed}");
        let (same, unfit) = replayed(&text, "b", Some(1), false);
        assert_eq!((same, unfit.limited), (text, vec!["b".to_owned()]));
        let named = TWO.replace(".entry a(", ".entry cutlass_a(");
        let (changed, _) = replayed(&named, "cutlass_a", None, true);
        assert!(changed.contains(".entry cutlasz_a(") && changed.ends_with(" stands for cutlass_a"), "{changed}");
        assert!(!changed.contains("mov.u32 %r2, %r1;\n\tadd"), "{changed}");
    }

    /// A function whose text has changed since the search keeps its text, and is reported.
    #[test]
    fn other_code() {
        let text = TWO.replace("%r1, 5", "%r1, 6");
        let (same, unfit) = replayed(&text, vec![Entry { maxnreg: Some(40), ..entry("b", "") }]);
        assert_eq!((same, unfit.changed), (text, vec!["b".to_owned()]));
    }
}
