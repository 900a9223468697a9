//! Searches one PTX module that a build has recorded, exactly as the build's ptxas wrapper would have searched it.

use std::fs;
use std::time::Duration;

use nvptx_ra::error::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use super::entry::{CachedChoice, Entry};
use super::improve::{improve, line, line_of};
use super::invocation::{Action, Invocation};
use super::profiles;
use super::real_ptxas::RealPtxas;
use super::records::Record;
use super::settings::Log;
use super::task::{Task, why_alone};
use super::{inputs, stock_run};
use crate::ptxas::{Folder, refusal};
use crate::tune::request::{ChangedKernel, UnchangedKernel};

/// The result of searching a PTX module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) digest: String,
    pub(super) processor: String,
    /// The name of the profile.
    pub(super) profile: String,
    /// The improved kernels.
    pub(super) changes: Vec<ChangedKernel>,
    /// The kernels that stay stock.
    pub(super) left: Vec<UnchangedKernel>,
    pub(super) milliseconds: u64,
}

impl Found {
    /// Formats a line for each kernel.
    pub(super) fn lines(&self) -> Vec<String> {
        let kernels = self.changes.iter().map(line).chain(self.left.iter().map(line_of));
        kernels.map(|kernel| format!("{} for {}: {kernel}", self.digest, self.processor)).collect()
    }

    pub(super) fn took(&self) -> Duration {
        Duration::from_millis(self.milliseconds)
    }
}

/// Searches a PTX module. Returns the result and the profile's contents. The profile leaves the module stock if nothing
/// is better.
///
/// # Errors
/// ptxas does not accept the PTX, or the search ended without a reproducible result.
pub(super) fn search(record: &Record, runs: u32, ptxas: &RealPtxas) -> Result<(Found, String), Error> {
    let of = |problem: &str, remedy: &str| Error::new(ErrorKind::File, format!("{}: {problem}", record.digest), remedy);
    let folder = Folder::new("search")?;
    let [text, output] = ["text.ptx", "text.cubin"].map(|name| folder.path(name));
    fs::write(&text, &record.text).map_err(|error| Error::file(&text, &error))?;
    let mut arguments: Vec<_> = record.conditions.options.iter().map(Into::into).collect();
    arguments.extend(["--output-file".into(), output.into_os_string(), text.into_os_string()]);
    let mut invocation = Invocation::read(arguments, &|name| ptxas.takes_value(name));
    let alone = match &invocation.action {
        Action::Search => why_alone(&invocation),
        Action::PassThrough(reason) => Some(reason.clone()),
        Action::Version => Some("an option asks for the version".into()),
    };
    // A record is not trusted, because its options could refer to any file of the user.
    let alone = alone.or_else(|| (!invocation.files.is_empty()).then(|| "an option names a file".into()));
    if let Err(reason) = alone.map_or(Ok(()), Err).and_then(|()| inputs::read(&mut invocation)) {
        return Err(of(&reason, "remove the record, and build again"));
    }
    if profiles::name(&invocation, &invocation.inputs[0]) != record.conditions.profile {
        return Err(of("the record names the profile of another PTX file", "remove the record, and build again"));
    }
    let mut settings = record.conditions.settings(runs)?;
    // The cache is for this search only. It has an entry exactly if the result is reproducible.
    settings.cache = Some(folder.path("cache"));
    settings.log = Log::of_environment();
    settings.about = format!("{} for {}", record.digest, invocation.processor.as_deref().unwrap_or_default());
    let task = Task::new(&invocation, &settings, ptxas);
    let stock_result = stock_run::run(&invocation, ptxas)?;
    if !stock_result.status.success() {
        let messages = String::from_utf8_lossy(&stock_result.messages);
        return Err(of(refusal(&messages), "search with the ptxas of the build"));
    }
    let searched = improve(&task, &stock_result);
    let Some(Entry { choice, left, milliseconds, processor, .. }) =
        task.place.as_ref().and_then(|place| place.get(None))
    else {
        return Err(searched
            .err()
            .unwrap_or_else(|| of("the search was interrupted, or a run of ptxas failed", "search again")));
    };
    let (profile, changes) = match choice {
        Some(CachedChoice { profile, changes, .. }) => (profile, changes),
        None => {
            let why: Vec<String> = left.iter().map(line_of).collect();
            (profiles::of_nothing(&processor, &why)?, Vec::new())
        }
    };
    let (digest, name) = (record.digest.clone(), record.conditions.profile.clone());
    Ok((Found { digest, processor, profile: name, changes, left, milliseconds }, profile))
}
