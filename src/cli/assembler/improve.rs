//! The search behind the unchanged run.

use nvptx_ra::error::Error;

use super::invocation::Invocation;
use super::real::RealPtxas;
use super::settings::Settings;
use super::unchanged::UnchangedResult;

/// A result that is better than the unchanged one in ptxas's figures.
#[derive(Clone, Debug)]
pub(crate) struct Improved {
    /// The bytes that replace the output file.
    pub cubin: Vec<u8>,
    /// What goes to the standard error in the place of [`UnchangedResult::messages`]: figures and warnings about spills
    /// of this cubin, all other messages those of the user's text. Figures only where the invocation is verbose.
    pub messages: Vec<u8>,
}

/// Searches for a better result. `None` and errors leave the unchanged result as it is; errors go to the log.
///
/// The unchanged result is in its place already. Nothing here may touch the output file or write to the standard streams.
#[expect(clippy::unnecessary_wraps, reason = "a search can fail")]
pub(super) fn improve(
    _invocation: &Invocation,
    _settings: &Settings,
    _real: &RealPtxas,
    _unchanged: &UnchangedResult,
) -> Result<Option<Improved>, Error> {
    Ok(None)
}
