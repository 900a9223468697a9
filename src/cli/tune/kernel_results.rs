//! Results for kernels, stored by the PTX of the kernel. A result applies in every file that contains the kernel.

use std::collections::BTreeSet;

use nvptx_ra::error::Error;
use nvptx_ra::profile::{Entry, Profile};
use nvptx_ra::tune::ptxas_output::PtxasReport;
use serde::{Deserialize, Serialize};

use super::code::Code as _;
use super::stock;
use super::text::Text;
use super::verdict::{ChangedKernel, UnchangedKernel};
use crate::dynamic_shared::{self, DynamicShared};
use crate::ptxas::PtxasReports;

/// A kernel with everything that its result depends on. Settings that are the same for all kernels of a build are not
/// included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelInput {
    /// Its name.
    pub(crate) kernel: String,
    /// The kernel with everything that it uses, as complete PTX.
    pub(crate) text: Vec<u8>,
    /// Functions that only this kernel reaches, which are compiled with its choices.
    pub(crate) owned: Vec<String>,
    /// What the user states about launches: threads of a block, and bytes of shared memory.
    pub(crate) launch: [Option<u32>; 2],
}

/// The result of a search for a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KernelResult {
    /// The choices for the kernel and for the functions that only it reaches. Empty if the kernel stays unchanged.
    entries: Vec<Entry>,
    verdict: Verdict,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Verdict {
    Better(ChangedKernel),
    Same(UnchangedKernel),
}

/// A lookup of the results of earlier builds.
pub(crate) type Lookup<'a> = dyn Fn(&KernelInput) -> Option<KernelResult> + 'a;

/// The kernels of a PTX module: kernels with a stored result, and kernels to search.
#[derive(Debug, Default)]
pub(super) struct CachedResults {
    /// Names of the kernels to search.
    pub(super) unknown: Vec<String>,
    /// Inputs of the kernels to search. Empty if no results are stored.
    inputs: Vec<KernelInput>,
    /// Choices for all kernels with a stored result.
    entries: Vec<Entry>,
    pub(super) changes: Vec<ChangedKernel>,
    pub(super) unchanged_kernels: Vec<UnchangedKernel>,
}

/// What the user states about launches.
pub(super) struct Launches<'a> {
    pub(super) threads: Option<u32>,
    pub(super) dynamic_shared: &'a [DynamicShared],
}

impl KernelResult {
    /// Whether the result improves the kernel.
    pub(crate) fn is_better(&self) -> bool {
        matches!(self.verdict, Verdict::Better(_))
    }

    /// Whether the result is for this code, and ptxas reports the same registers for stock as in the search.
    fn holds(&self, text: &Text, ptxas_report: Option<&PtxasReport>) -> bool {
        let before = match &self.verdict {
            Verdict::Better(change) => Some(change.before),
            Verdict::Same(kernel) => kernel.cost,
        };
        let is_there =
            |entry: &Entry| text.functions().iter().any(|(name, hash)| (name, hash) == (&entry.name, &entry.hash));
        ptxas_report.is_some_and(|ptxas_report| before.is_none_or(|before| before.registers == ptxas_report.registers))
            && self.entries.iter().all(is_there)
    }
}

impl CachedResults {
    /// Creates the state without known results: all kernels are to be searched.
    pub(super) fn nothing(wanted: Vec<String>) -> Self {
        Self { unknown: wanted, ..Self::default() }
    }

    /// Looks up the results of the wanted kernels. `measured` holds ptxas's figures of the unchanged PTX.
    pub(super) fn of(
        text: &Text,
        wanted: &[String],
        launches: &Launches<'_>,
        measured: &PtxasReports,
        lookup: &Lookup<'_>,
    ) -> Result<Self, Error> {
        let names: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let (texts, owned) = (text.texts_of(&names)?, stock::owned(text, &names)?);
        let mut cached = Self::default();
        for ((kernel, text_of_kernel), owned) in wanted.iter().zip(texts).zip(owned) {
            let launch = [launches.threads, dynamic_shared::bytes_of(launches.dynamic_shared, kernel)];
            let input = KernelInput { kernel: kernel.clone(), text: text_of_kernel, owned, launch };
            match lookup(&input).filter(|answer| answer.holds(text, measured.get(kernel))) {
                Some(KernelResult { entries, verdict }) => {
                    cached.entries.extend(entries);
                    match verdict {
                        Verdict::Better(change) => cached.changes.push(change),
                        Verdict::Same(kernel) => cached.unchanged_kernels.push(kernel),
                    }
                }
                None => {
                    cached.unknown.push(kernel.clone());
                    cached.inputs.push(input);
                }
            }
        }
        Ok(cached)
    }

    /// Returns the number of kernels with a result.
    pub(super) fn count(&self) -> usize {
        self.changes.len() + self.unchanged_kernels.len()
    }

    /// Returns the number of kernels that were searched before. The other kernels with a result have nothing to gain.
    pub(super) fn answered(&self) -> usize {
        self.changes.len() + self.unchanged_kernels.iter().filter(|kernel| kernel.is_searched).count()
    }

    /// Returns a profile with the known choices.
    pub(super) fn join(&self, profile: &Profile) -> Profile {
        let cached = |entry: &Entry| self.entries.iter().find(|cached| cached.name == entry.name);
        let functions = profile.functions.iter().map(|entry| cached(entry).unwrap_or(entry).clone()).collect();
        profile.clone().with_functions(functions)
    }

    /// Returns the new results of the searched kernels, whether the kernels are changed or unchanged.
    pub(super) fn learned(
        self,
        profile: &Profile,
        changes: &[ChangedKernel],
        unchanged_kernels: &[UnchangedKernel],
    ) -> Vec<(KernelInput, KernelResult)> {
        let answer = |input: &KernelInput| {
            let change = changes.iter().find(|change| change.kernel == input.kernel);
            let Some(change) = change else {
                let kernel = unchanged_kernels.iter().find(|kernel| kernel.kernel == input.kernel)?;
                return Some(KernelResult { entries: Vec::new(), verdict: Verdict::Same(kernel.clone()) });
            };
            let own: BTreeSet<&String> = input.owned.iter().chain([&input.kernel]).collect();
            let entries = profile.functions.iter().filter(|entry| own.contains(&entry.name)).cloned().collect();
            Some(KernelResult { entries, verdict: Verdict::Better(change.clone()) })
        };
        self.inputs.into_iter().filter_map(|input| answer(&input).map(|answer| (input, answer))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cached result of an earlier version is read with the current names of options.
    #[test]
    fn of_before() {
        let cost = r#"{"spill_store_bytes":0,"spill_load_bytes":0,"registers":32,"warps":64,"instructions":90}"#;
        let text = format!(
            r#"{{"entries":[{{"name":"k","hash":"1","options":"skip=gvn;order=late"}}],"verdict":{{"Better":{{"kernel":"k",
            "choice":"skip=gvn;order=late;maxnreg=40","agreement":"","before":{cost},"after":{cost}}}}}}}"#
        );
        let answer: KernelResult = serde_json::from_str(&text).expect("it is an answer");
        assert_eq!(answer.entries[0].options, "skip-passes=gvn;order=late");
        let Verdict::Better(change) = answer.verdict else { panic!("it is better") };
        assert_eq!(change.choice, "skip-passes=gvn;order=late;maxnreg=40");
    }
}
