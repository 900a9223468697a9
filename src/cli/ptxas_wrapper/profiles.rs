//! A folder with a profile for each PTX module. Results of one machine's search are replayed on other machines without
//! a search.

use std::fs;
use std::path::Path;

use nvptx_ra::error::Error;
use nvptx_ra::profile::Profile;

use super::entry::digest;
use super::invocation::{Input, Invocation};

/// Digits of a PTX module's digest in a file's name.
const DIGITS: usize = 16;

/// The program that the comment at the head of a profile states.
const REPLAYED_BY: &str = "nvptx-ra ptxas with NVPTX_RA_PROFILE";

/// Returns the file name of a PTX module's profile. A module has one profile for each processor. It has another profile
/// if its object is linked later, because fewer choices are allowed for such objects.
pub(super) fn name(invocation: &Invocation, input: &Input) -> String {
    let processor = invocation.processor.as_deref().map(|processor| format!("-{processor}"));
    named(invocation, input, &processor.unwrap_or_default())
}

fn named(invocation: &Invocation, input: &Input, processor: &str) -> String {
    let end = if invocation.is_relocatable { "-c" } else { "" };
    format!("{}{processor}{end}.toml", &digest(&input.text)[..DIGITS])
}

/// Reads the profile of a PTX module, if it exists. A file without a processor in its name applies to all processors
/// that have no file of their own.
pub(super) fn read(folder: &Path, invocation: &Invocation, input: &Input) -> Option<String> {
    let names = [name(invocation, input), named(invocation, input, "")];
    names.iter().find_map(|name| fs::read_to_string(folder.join(name)).ok())
}

/// Writes a profile under its name, completely or not at all.
pub(super) fn write(folder: &Path, name: &str, profile: &str) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
    crate::output::write(&folder.join(name), profile.as_bytes())
}

/// Returns a profile without improvements, with the reasons in `notes`.
pub(super) fn of_nothing(processor: &str, notes: &[String]) -> Result<String, Error> {
    Profile::new(processor, Vec::new()).print(REPLAYED_BY, notes)
}

/// Returns whether a profile leaves the module stock.
pub(super) fn says_nothing(profile: &str) -> bool {
    Profile::parse(profile).is_ok_and(|profile| profile.functions.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(arguments: &[&str]) -> Invocation {
        let arguments = [&["--input-as-string", "text"], arguments].concat();
        Invocation::read(arguments.iter().map(Into::into).collect(), &|_| None)
    }

    fn name_of(arguments: &[&str]) -> String {
        let invocation = invocation(arguments);
        name(&invocation, &invocation.inputs[0])
    }

    /// The name of a module's profile depends on the processor and on whether the object is linked later, and on no
    /// other options.
    #[test]
    fn names() {
        let digits = &digest(b"text")[..DIGITS];
        assert_eq!(name_of(&["-arch=sm_90", "-v"]), format!("{digits}-sm_90.toml"));
        assert_eq!(name_of(&["-arch=sm_86", "-c"]), format!("{digits}-sm_86-c.toml"));
    }

    /// The processor's own profile takes precedence over the profile for all processors.
    #[test]
    fn the_own_profile_comes_first() {
        let folder = tempfile::tempdir().expect("there is space");
        let invocation = invocation(&["-arch=sm_90"]);
        let read = || read(folder.path(), &invocation, &invocation.inputs[0]);
        assert_eq!(read(), None);
        for name in [named(&invocation, &invocation.inputs[0], ""), name_of(&["-arch=sm_90"])] {
            write(folder.path(), &name, &name).expect("there is space");
            assert_eq!(read(), Some(name));
        }
    }

    /// A profile without improvements is recognised, and other profiles are not.
    #[test]
    fn nothing() {
        let profile = of_nothing("sm_90", &["k: no better".into()]).expect("text");
        assert!(profile.contains("\n# k: no better\n") && says_nothing(&profile), "{profile}");
        assert!(
            !says_nothing("no profile")
                && !says_nothing(&format!("{profile}[[function]]\nname = \"k\"\nhash = \"0\"\noptions = \"\"\n"))
        );
    }
}
