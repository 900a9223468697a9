//! Profiles for two compilers: the body of a kernel may come from the PTX file of another compiler. The body is linked,
//! and the profile's choices are applied to it.

use std::collections::BTreeMap;

use super::PtxOutput;
use super::ptx_profile::{functions_of_ptx, is_hash_of, replay_on_ptx};
use crate::error::Error;
use crate::profile::{Entry, Profile, Unfit, fingerprint};
use crate::ptx::{Body, Linker, Module};

/// A PTX file of another compiler.
#[derive(Clone, Debug)]
pub struct Other {
    /// The file's name, for messages and profiles.
    pub name: String,
    /// Its contents.
    pub text: Vec<u8>,
    /// Its hash.
    pub hash: String,
}

impl Other {
    /// Creates a PTX file from its contents.
    pub fn new(name: &str, text: Vec<u8>) -> Self {
        let hash = fingerprint(&String::from_utf8_lossy(&text));
        Self { name: name.to_owned(), text, hash }
    }
}

/// Returns the hash of the code of each kernel of a file, independent of the compiler that printed it.
pub fn code_hashes(module: &Module<'_>) -> BTreeMap<String, String> {
    module.kernels().map(|body| (body.name(module.file()).to_owned(), fingerprint(&module.code_of(body)))).collect()
}

/// Whether a hash matches the code of a kernel, in the form of [`code_hashes`], or in an older form that includes
/// labels of debug information.
fn is_code_hash(hash: &str, module: &Module<'_>, kernel: &Body) -> bool {
    [module.code_of(kernel), module.code_with_labels_of(kernel)].iter().any(|code| fingerprint(code) == hash)
}

/// Returns a kernel of a file.
fn kernel_of<'m>(module: &'m Module<'_>, name: &str) -> Option<&'m Body> {
    module.kernels().find(|body| body.name(module.file()) == name)
}

/// Replaces bodies of kernels in a PTX file by bodies from other files, and applies the choices for these bodies. The
/// profile's entries for other functions have no effect. Arguments and result are as in [`replay_on_ptx`].
pub fn link_on_ptx(
    name: &str,
    bytes: &[u8],
    others: &[Other],
    profile: &Profile,
    options: &str,
    target: &str,
) -> Result<(PtxOutput, Unfit), Error> {
    let (mut output, mut unfit) = (PtxOutput { text: bytes.to_vec(), ..PtxOutput::default() }, Unfit::default());
    let module = Module::read(name, bytes)?;
    let mut of_file: Vec<Vec<&Entry>> = vec![Vec::new(); others.len()];
    for entry in &profile.functions {
        let (Some(linked), Some(kernel)) = (&entry.linked, kernel_of(&module, &entry.name)) else { continue };
        if !is_code_hash(&linked.replaces, &module, kernel) {
            unfit.changed.push(entry.name.clone());
            continue;
        }
        match others.iter().position(|other| other.hash == linked.hash) {
            Some(at) => of_file[at].push(entry),
            None => unfit.elsewhere.push((entry.name.clone(), linked.file.clone())),
        }
    }
    let mut chosen = Vec::new();
    for (other, entries) in others.iter().zip(of_file).filter(|(_, entries)| !entries.is_empty()) {
        let text = std::mem::take(&mut output.text);
        let [own, theirs] = [Module::read(name, &text)?, Module::read(&other.name, &other.text)?];
        let kernels: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let (linked, refused) = Linker::new(&own, &theirs)?.link(&kernels);
        chosen.extend(entries.into_iter().filter(|entry| refused.iter().all(|(name, _)| *name != entry.name)));
        unfit.changed.extend(refused.into_iter().map(|(name, _)| name.to_owned()));
        output.text = linked;
    }
    // The choices refer to the linked bodies, so the entries get the hashes of these bodies.
    let new: BTreeMap<String, String> = functions_of_ptx(&Module::read(name, &output.text)?).into_iter().collect();
    let entry = |entry: &Entry| {
        let hash = new.get(&entry.name).cloned().unwrap_or_default();
        Entry { hash, linked: None, ..entry.clone() }
    };
    let choices = Profile::new(&profile.cpu, chosen.into_iter().map(entry).collect());
    let (replayed, of_choices) = replay_on_ptx(name, &output.text, &choices, options, target)?;
    unfit.ahead.extend(of_choices.ahead);
    unfit.limited.extend(of_choices.limited);
    Ok((replayed, unfit))
}

/// Applies all choices of a profile: first the choices for the file's own functions, like [`replay_on_ptx`], then the
/// choices for bodies of other files. If the profile was made for LLVM IR, LLVM's plugin has already applied the
/// choices for the file's own functions.
pub fn replay_linked(
    name: &str,
    bytes: &[u8],
    others: &[Other],
    profile: &Profile,
    options: &str,
    target: &str,
) -> Result<(PtxOutput, Unfit), Error> {
    let module = Module::read(name, bytes)?;
    let is_of_ir = profile.functions.iter().any(|entry| {
        let (Some(linked), Some(kernel)) = (&entry.linked, kernel_of(&module, &entry.name)) else { return false };
        is_code_hash(&linked.replaces, &module, kernel) && !is_hash_of(&entry.hash, &module, kernel)
    });
    if is_of_ir {
        return link_on_ptx(name, bytes, others, profile, options, target);
    }
    let of_file = profile.functions.iter().filter(|entry| entry.linked.is_none()).cloned().collect();
    let (first, mut unfit) = replay_on_ptx(name, bytes, &Profile::new(&profile.cpu, of_file), options, target)?;
    let (mut second, of_others) = link_on_ptx(name, &first.text, others, profile, options, target)?;
    unfit.changed.extend(of_others.changed);
    unfit.ahead.extend(of_others.ahead);
    unfit.limited.extend(of_others.limited);
    unfit.elsewhere.extend(of_others.elsewhere);
    second.output.insert_str(0, &first.output);
    second.remarks.splice(0..0, first.remarks);
    Ok((second, unfit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Linked;

    fn file(register: &str, constant: u32) -> String {
        let kernel = |name: &str| {
            format!(
                ".visible .entry {name}(.param .u64 p)\n{{\n\t.reg .b32 {register}<4>;\n\t.reg .b64 %rd<2>;\n\
                 \tld.param.u64 %rd1, [p];\n\tmov.u32 {register}1, {constant};\n\tmov.u32 {register}2, {register}1;\n\
                 \tst.global.u32 [%rd1], {register}2;\n\tret;\n}}\n"
            )
        };
        format!(".version 8.7\n.target sm_90\n.address_size 64\n{}{}", kernel("a"), kernel("b"))
    }

    /// Returns a profile of two kernels: the first keeps its body, and the second gets its body from another file.
    fn profile(own: &str, other: &Other, options: &str) -> Profile {
        let module = Module::read("own.ptx", own.as_bytes()).expect("it is right");
        let codes = code_hashes(&module);
        let entry = |(name, hash): (String, String)| {
            let of_other =
                || Linked { file: other.name.clone(), hash: other.hash.clone(), replaces: codes[&name].clone() };
            let linked = (name == "b").then(of_other);
            let options = if name == "b" { options } else { "off" };
            Entry { name, hash, options: options.into(), linked, ..Entry::default() }
        };
        Profile::new("sm_90", functions_of_ptx(&module).into_iter().map(entry).collect())
    }

    fn replayed(own: &str, others: &[Other], profile: &Profile) -> (String, Unfit) {
        let (output, unfit) =
            replay_linked("own.ptx", own.as_bytes(), others, profile, "verify", "sm_90").expect("it runs");
        (String::from_utf8(output.text).expect("it is text"), unfit)
    }

    /// The body comes from the file that the profile's entry names, and the entry's choices are applied to the body.
    #[test]
    fn bodies_of_another_file() {
        let (own, theirs) = (file("%r", 5), file("%q", 5));
        let other = Other::new("b.ptx", theirs.clone().into_bytes());
        let [own_a, _] = [&own, &theirs].map(|text| text.find(".visible .entry b").expect("it is there"));
        let expected =
            format!("{}{}", &own[..own_a], &theirs[theirs.find(".visible .entry b").expect("it is there")..]);
        assert_eq!(
            replayed(&own, std::slice::from_ref(&other), &profile(&own, &other, "off")),
            (expected, Unfit::default())
        );
        let (changed, unfit) = replayed(&own, std::slice::from_ref(&other), &profile(&own, &other, ""));
        assert!(unfit.is_empty() && changed.starts_with(&own[..own_a]), "{changed}");
        assert!(changed.contains("%q") && !changed.contains("mov.u32 %q2, %q1"), "{changed}");
    }

    /// If the other file is missing, or the contents of either file differ, the kernel keeps its body and is reported.
    #[test]
    fn files_that_are_not_there() {
        let (own, other) = (file("%r", 5), Other::new("b.ptx", file("%q", 5).into_bytes()));
        let elsewhere = Unfit { elsewhere: vec![("b".into(), "b.ptx".into())], ..Unfit::default() };
        for others in [vec![], vec![Other::new("b.ptx", file("%q", 6).into_bytes())]] {
            assert_eq!(replayed(&own, &others, &profile(&own, &other, "")), (own.clone(), elsewhere.clone()));
        }
        let changed = file("%r", 6);
        let (same, unfit) = replayed(&changed, std::slice::from_ref(&other), &profile(&own, &other, "off"));
        assert_eq!((same, unfit.changed), (changed, vec!["a".to_owned(), "b".to_owned()]));
        let warning = elsewhere.warning(["", ""], "", "").expect("there is something to say");
        assert_eq!(
            warning,
            "'b' comes from another compiler's PTX and stays stock; link it with nvptx-ra ptx --profile FILE --also b.ptx"
        );
    }

    /// A profile that was made for LLVM IR has other hashes. LLVM's plugin applies its entries that need no other file.
    #[test]
    fn profiles_of_llvm_ir() {
        let (own, other) = (file("%r", 5), Other::new("b.ptx", file("%q", 5).into_bytes()));
        let mut profile = profile(&own, &other, "off");
        profile.functions.iter_mut().for_each(|entry| entry.hash = "of IR".into());
        let (text, unfit) = replayed(&own.replace("\n}", "\t// A comment.\n}"), &[other], &profile);
        assert!(unfit.is_empty() && text.contains("%q1") && text.contains("%r1"), "{unfit:?}{text}");
    }
}
