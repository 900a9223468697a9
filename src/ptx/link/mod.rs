//! A linker that replaces kernel bodies. The head of a kernel stays, and the body comes from another file with
//! everything that it needs, as `llvm-link -override` does for LLVM IR.
//!
//! Both files come from one source, by two compilers. For the other file's symbols, there are two cases.
//! * Data with a name in the source is one object, our own. The host and other files may see it, and code may write it.
//! * Constant data that the compiler created, shared memory and functions may be copied. Clashing names are changed.
//!
//! A kernel for which this is impossible keeps its body, and the reason is reported. The files:
//! * [`names`]: kernels and variables of both files that come from the same source;
//! * [`symbols`]: the kinds of names, and their uses; [`variable`]: the memory of variables;
//! * [`signature`]: whether parameters and launches fit; [`writes`]: the variables that code may write;
//! * [`resolution`]: the resolution of each symbol; [`output`]: the linked file.

mod names;
mod output;
mod resolution;
mod signature;
mod symbols;
#[cfg(test)]
mod tests;
mod variable;
mod writes;

use rustc_hash::FxHashMap;

use super::module::Module;
use super::parts::FunctionHead;
use crate::error::{Error, ErrorKind};
use crate::printable::one_line;
use names::counterparts;
use output::{Replacement, replace};
use resolution::Resolver;
use signature::{Head, same_launches, same_parameters};
use symbols::Symbol;

/// The prefix of the kernels of device constructors and destructors.
const CONSTRUCTORS: &str = "nvptx$device$";

/// Two PTX files by two compilers. Kernels of the other file can replace kernels of our own file.
pub struct Linker<'f, 'a> {
    resolver: Resolver<'f, 'a>,
    own: &'f Module<'a>,
    /// The PTX version of the result, if our own version is older.
    version: Option<&'a str>,
    /// The name of each of our kernels in the other file. Kernels that the other file lacks are left out.
    counterparts: FxHashMap<&'a str, &'a str>,
}

impl<'f, 'a> Linker<'f, 'a> {
    /// Prepares two files. O(bytes).
    ///
    /// # Errors
    /// The files are for different targets, or one of them has directives for all of its code.
    pub fn new(own: &'f Module<'a>, other: &'f Module<'a>) -> Result<Self, Error> {
        let [ours, theirs] = [own, other].map(|module| one_line(module.file().text().name()).to_string());
        let refused =
            |problem: String, remedy: &str| Err(Error::new(ErrorKind::View, format!("{theirs}: {problem}"), remedy));
        let values = |module: &Module<'a>, word: &str| {
            let values = module.header_values(word).into_iter().map(|token| module.file().text().str(token));
            values.collect::<Vec<&str>>()
        };
        let [own_target, other_target] = [own, other].map(|module| values(module, ".target"));
        if !runs_on(&other_target, &own_target) {
            let [theirs, ours_for] = [other_target, own_target].map(|target| target.join(", "));
            return refused(
                format!("the target is {theirs}, and the target of {ours} is {ours_for}"),
                &format!("compile both files for {ours_for}"),
            );
        }
        let [own_size, other_size] = [own, other].map(|module| values(module, ".address_size"));
        if own_size != other_size {
            return refused("the addresses have another size".into(), "compile both files with the same -m64 or -m32");
        }
        let [own_version, other_version] = [own, other].map(Module::version);
        if own_version.is_none() || other_version.is_none() {
            return refused("one of the files has no .version".into(), "give complete PTX files");
        }
        let resolver = Resolver::new(own.file(), other.file());
        if let Some(directive) = resolver.other.directives.iter().find(|one| !resolver.own.directives.contains(one)) {
            return refused(
                format!("'{directive}' is for the whole file, and {ours} lacks the directive"),
                "compile both files with the same options",
            );
        }
        let version = (other_version > own_version).then(|| values(other, ".version")[0]);
        let [ours, theirs] = [own, other].map(|module| {
            let names = module.kernels().map(|body| body.name(module.file()));
            names.collect::<Vec<&str>>()
        });
        Ok(Self { resolver, own, version, counterparts: counterparts(&ours, &theirs) })
    }

    /// Returns the name of our kernel in the other file. `None` if the other file has no such kernel.
    pub fn counterpart(&self, kernel: &str) -> Option<&'a str> {
        self.counterparts.get(kernel).copied()
    }

    /// Returns our file with kernel bodies of the other file, and the kernels that keep their bodies, each with the
    /// reason. All other functions and variables keep every byte. If debug information describes an old body, all debug
    /// information is removed. The source lines of other functions stay for profilers. O(bytes).
    pub fn link<'k>(&self, kernels: &[&'k str]) -> (Vec<u8>, Vec<(&'k str, String)>) {
        let (mut replacements, mut refused) = (Vec::new(), Vec::new());
        for &kernel in kernels {
            match self.replacement(kernel) {
                Ok(replacement) => replacements.push(replacement),
                Err(reason) => refused.push((kernel, reason)),
            }
        }
        replacements.sort_by_key(|replacement| replacement.own);
        replacements.dedup_by_key(|replacement| replacement.own);
        let mut patch = replace(&self.resolver, &replacements);
        if let (Some(version), false) = (self.version, replacements.is_empty()) {
            let text = self.own.file().text();
            let token = self.own.header_values(".version")[0];
            let at = text.start(token);
            patch.pieces.insert(0, (at, at + text.of(token).len(), version.as_bytes().to_vec()));
        }
        (patch.apply(self.own.file().text().bytes()), refused)
    }

    fn replacement(&self, kernel: &str) -> Result<Replacement<'a>, String> {
        let Resolver { own: ours, other: theirs, .. } = &self.resolver;
        if let Some(reason) = self.own.why_fixed() {
            return Err(reason.into());
        }
        if kernel.starts_with(CONSTRUCTORS) {
            return Err("the kernel runs constructors or destructors".into());
        }
        let head = |symbols: &symbols::Symbols<'_, 'a>, name: Option<&str>, which: &str| match name
            .and_then(|name| symbols.symbol(name))
        {
            Some(Symbol::Kernel(head)) => Ok(head),
            _ => Err(format!("{which} has no such kernel")),
        };
        let counterpart = self.counterpart(kernel);
        let [own_head, other_head] =
            [head(ours, Some(kernel), "the input")?, head(theirs, counterpart, "the other file")?];
        let [own_of, other_of] = [Head(ours.file, &own_head), Head(theirs.file, &other_head)];
        same_parameters(own_of, other_of)?;
        same_launches(own_of, other_of)?;
        let item = |symbols: &symbols::Symbols<'_, 'a>, name: &str| {
            let found = symbols.items_of(name).iter().copied().find(|&number| symbols.has_body(number));
            found.ok_or("the kernel has no body")
        };
        let (own, other) = (item(ours, kernel)?, item(theirs, counterpart.unwrap_or(kernel))?);
        let (uses, needs) = self.resolver.needs(other)?;
        if uses.spills_to_shared {
            return Err("the kernel lets ptxas spill to shared memory, which a launch may need".into());
        }
        let parameters = self.parameters(&own_head, &other_head)?;
        let is_taken = |&&name: &&&str| {
            (uses.declares(name) && !parameters.contains_key(name)) || uses.uses.iter().any(|one| one.name == name)
        };
        if let Some(name) = parameters.values().find(is_taken) {
            return Err(format!("'{name}' is the name of a parameter, and has another meaning in the kernel"));
        }
        // Our debug information may refer to labels in the old body. By chance, labels of the new body may have the
        // same names.
        let uses_of_own = ours.uses(own);
        let labels = || uses_of_own.iter().chain([&uses]).flat_map(|uses| &uses.locals);
        if let Some(label) = labels().find(|label| ours.in_strings.contains(*label)) {
            return Err(format!("source lines refer to the label '{label}'"));
        }
        let is_described = labels().any(|label| ours.in_sections.contains(*label));
        let names = || needs.ours.iter().map(|&name| (name, self.resolver.name_of_ours(name)));
        let is_behind = |name: &str| ours.items_of(name).first().is_some_and(|&number| number > own);
        if let Some((_, name)) = names().find(|&(_, name)| is_behind(name)) {
            return Err(format!("the kernel needs '{name}', which the input declares after the kernel"));
        }
        let is_local = |name: &str| {
            let is_parameter = parameters.values().any(|parameter| *parameter == name);
            is_parameter || uses.declares(name) || needs.copied.values().any(|uses| uses.declares(name))
        };
        if let Some((_, name)) = names().find(|&(theirs, ours)| theirs != ours && is_local(ours)) {
            return Err(format!("'{name}' has another meaning in the kernel"));
        }
        if let Some(name) = self.resolver.ignored(&uses_of_own?, &uses)? {
            return Err(format!(
                "the kernel does not use '{name}', which other code may write, but the kernel of the input does"
            ));
        }
        Ok(Replacement { own, other, uses, needs, parameters, is_described })
    }

    /// Returns our parameter name for each parameter name of the other head.
    fn parameters(&self, own: &FunctionHead, other: &FunctionHead) -> Result<FxHashMap<&'a str, &'a str>, String> {
        let Resolver { own: ours, other: theirs, .. } = &self.resolver;
        let lists = own.parameters.iter().flatten().zip(other.parameters.iter().flatten());
        let mut names = FxHashMap::default();
        for (our_parameter, their_parameter) in lists {
            let name = |file: &super::file::File<'a>, one: &super::parts::Declaration| {
                one.declarators.first().and_then(|one| one.name).map(|name| file.text().str(name))
            };
            match (name(ours.file, our_parameter), name(theirs.file, their_parameter)) {
                (Some(one), Some(two)) => drop(names.insert(two, one)),
                (_, None) => {}
                (None, Some(two)) => return Err(format!("the parameter '{two}' has no name in the input")),
            }
        }
        Ok(names)
    }
}

/// Whether code for one target runs on another target. `code` and `on` are the values of `.target`, the processor
/// first.
fn runs_on(code: &[&str], on: &[&str]) -> bool {
    let ([code, code_modes @ ..], [on, on_modes @ ..]) = (code, on) else { return false };
    let number = |cpu: &str| cpu.strip_prefix("sm_").and_then(|rest| rest.parse::<u32>().ok());
    let plain = |cpu: &str| number(cpu.trim_end_matches(['a', 'f']));
    // Code for a plain target runs on all later processors. Code for other targets runs only on its own processor.
    let fits = code == on || number(code).is_some_and(|code| plain(on).is_some_and(|on| code <= on));
    fits && code_modes == on_modes
}
