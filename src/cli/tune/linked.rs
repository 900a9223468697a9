//! Code of several compilers under search: the input, and kernels of other compilers' PTX that can replace its kernels.

use std::collections::BTreeMap;
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::passes::{Other, code_hashes, link_on_ptx};
use nvptx_ra::profile::{Entry, Linked, Profile};
use nvptx_ra::ptx::{Linker, Module};
use nvptx_ra::tune::optimisations::Choices;
use nvptx_ra::tune::variant::Variant;

use super::code::{Code, CodeDescriptions, CompiledVariant};
use super::text::{OPTIONS, Text};
use crate::kernel_names;

/// The name of the input's PTX in messages.
const OWN: &str = "the input";

/// The input's code, and other compilers' code of the same source.
pub(super) struct LinkedCode<'a> {
    own: Box<dyn Code + 'a>,
    others: Vec<Other>,
    /// For each other compiler, its kernels that can replace kernels of the input. Each kernel is a separate file: the
    /// input with the body of the other compiler.
    kernels: Vec<BTreeMap<String, Vec<u8>>>,
    /// The hashes of the input's kernels, in PTX.
    hashes: BTreeMap<String, String>,
}

impl<'a> LinkedCode<'a> {
    /// Finds the kernels that can be replaced. Each returned line states why a wanted kernel cannot be replaced.
    ///
    /// # Errors
    /// A file cannot be read, or is for another target.
    pub(super) fn new(
        own: Box<dyn Code + 'a>,
        others: Vec<Other>,
        wanted: &[String],
    ) -> Result<(Self, Vec<String>), Error> {
        let text = own.compile(&own.profile(&|_| None))?;
        let ours = Module::read(OWN, &text)?;
        let hashes = code_hashes(&ours);
        let (mut kernels, mut notes) = (Vec::new(), Vec::new());
        for other in &others {
            let theirs = Module::read(&other.name, &other.text)?;
            let linker = Linker::new(&ours, &theirs)?;
            let names = hashes.keys().map(String::as_str).filter(|name| kernel_names::is_wanted(wanted, name));
            let (mut taken, missing): (Vec<&str>, Vec<&str>) =
                names.partition(|name| linker.counterpart(name).is_some());
            let (linked, refused) = linker.link(&taken);
            for (name, reason) in &refused {
                let kernel = kernel_names::readable(name);
                notes.push(format!("nvptx-ra: kernel '{kernel}' of {} is not taken: {reason}", other.name));
            }
            let missing = missing.len();
            if missing > 0 {
                notes.push(format!("nvptx-ra: {missing} of the kernels are not in {}", other.name));
            }
            taken.retain(|name| refused.iter().all(|(other, _)| other != name));
            let slices = Module::read(&other.name, &linked)?.slices(&taken);
            let slice = |(name, slice): (&&str, Option<Vec<u8>>)| Some(((*name).to_owned(), slice?));
            kernels.push(taken.iter().zip(slices).filter_map(slice).collect());
        }
        Ok((Self { own, others, kernels, hashes }, notes))
    }

    fn other(&self, compiler: u8) -> Option<&Other> {
        self.others.get(usize::from(compiler).checked_sub(1)?)
    }
}

impl Code for LinkedCode<'_> {
    fn cpu(&self) -> &str {
        self.own.cpu()
    }

    fn functions(&self) -> &[(String, String)] {
        self.own.functions()
    }

    fn kernels(&self) -> Result<BTreeMap<String, Option<u32>>, Error> {
        self.own.kernels()
    }

    fn slices(&self, kernels: &[&str]) -> Result<Vec<Box<dyn Code + '_>>, Error> {
        let slices = self.own.slices(kernels)?.into_iter().zip(kernels);
        let mut of_kernels: Vec<Box<dyn Code + '_>> = Vec::new();
        for (own, kernel) in slices {
            let kernel = (*kernel).to_owned();
            let mut texts = BTreeMap::new();
            for (compiler, (other, kernels)) in (1u8..).zip(self.others.iter().zip(&self.kernels)) {
                if let Some(text) = kernels.get(&kernel) {
                    texts.insert(compiler, Text::new(text.clone(), &other.name, self.cpu())?);
                }
            }
            of_kernels.push(Box::new(LinkedKernel { kernel, own, texts }));
        }
        Ok(of_kernels)
    }

    fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error> {
        let own = |entry: &Entry| match &entry.linked {
            Some(_) => Variant::Stock.entry(&entry.name, &entry.hash),
            None => entry.clone(),
        };
        let own = profile.clone().with_functions(profile.functions.iter().map(own).collect());
        let text = self.own.compile(&own)?;
        if profile.functions.iter().all(|entry| entry.linked.is_none()) {
            return Ok(text);
        }
        let (output, unfit) = link_on_ptx(OWN, &text, &self.others, profile, OPTIONS, self.cpu())?;
        match unfit.changed.first() {
            Some(name) => {
                Err(Error::internal("the kernel can be linked only without the others", None).in_function(name))
            }
            None => Ok(output.text),
        }
    }

    fn sizes_shared_at_launch(&self, ptx: &str) -> bool {
        self.own.sizes_shared_at_launch(ptx)
    }

    fn knows_smem_spilling(&self) -> bool {
        self.own.knows_smem_spilling()
    }

    fn choices(&self) -> Choices {
        self.own.choices()
    }

    fn made_by(&self) -> Option<String> {
        self.own.made_by()
    }

    fn why_kept(&self, kernel: &str) -> Option<String> {
        self.own.why_kept(kernel)
    }

    fn name_of(&self, compiler: u8) -> Option<&str> {
        self.other(compiler).map(|other| other.name.as_str())
    }

    fn descriptions(&self) -> &'static CodeDescriptions {
        self.own.descriptions()
    }

    fn profile(&self, variants: &dyn Fn(&str) -> Option<Variant>) -> Profile {
        let entry = |(name, hash): &(String, String)| {
            let variant = variants(name).unwrap_or(Variant::Stock);
            let linked = self.other(variant.compiler()).map(|other| Linked {
                file: other.name.clone(),
                hash: other.hash.clone(),
                replaces: self.hashes.get(name).cloned().unwrap_or_default(),
            });
            Entry { linked, ..variant.entry(name, hash) }
        };
        self.own.profile(variants).with_functions(self.functions().iter().map(entry).collect())
    }
}

/// A kernel with the code of several compilers.
struct LinkedKernel<'a> {
    kernel: String,
    own: Box<dyn Code + 'a>,
    /// The code of each other compiler that has the kernel.
    texts: BTreeMap<u8, Text>,
}

impl Code for LinkedKernel<'_> {
    fn cpu(&self) -> &str {
        self.own.cpu()
    }

    fn functions(&self) -> &[(String, String)] {
        self.own.functions()
    }

    fn kernels(&self) -> Result<BTreeMap<String, Option<u32>>, Error> {
        self.own.kernels()
    }

    fn slices(&self, kernels: &[&str]) -> Result<Vec<Box<dyn Code + '_>>, Error> {
        self.own.slices(kernels)
    }

    fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error> {
        self.own.compile(profile)
    }

    fn compile_variant(
        &self,
        variant: &Variant,
        profile_of: &dyn Fn(&Variant) -> Profile,
        took: Duration,
    ) -> Result<CompiledVariant, Error> {
        if variant.compiler() == 0 {
            return self.own.compile_variant(variant, profile_of, took);
        }
        let missing = || Error::internal("there is no such code of it", None).in_function(&self.kernel);
        let text = self.texts.get(&variant.compiler()).ok_or_else(missing)?;
        text.compile(&text.profile(&|name| (name == self.kernel).then(|| variant.on_code_of(0))))
            .map(CompiledVariant::from)
    }

    fn computed_ahead(&self) -> Duration {
        self.own.computed_ahead()
    }

    fn sizes_shared_at_launch(&self, ptx: &str) -> bool {
        self.own.sizes_shared_at_launch(ptx) || self.texts.values().any(|text| text.sizes_shared_at_launch)
    }

    fn knows_smem_spilling(&self) -> bool {
        self.own.knows_smem_spilling() && self.texts.values().all(Text::knows_smem_spilling)
    }

    fn choices(&self) -> Choices {
        self.own.choices()
    }

    fn why_kept(&self, kernel: &str) -> Option<String> {
        self.own.why_kept(kernel)
    }

    fn compilers(&self) -> Vec<u8> {
        self.texts.keys().copied().collect()
    }

    fn descriptions(&self) -> &'static CodeDescriptions {
        self.own.descriptions()
    }
}
