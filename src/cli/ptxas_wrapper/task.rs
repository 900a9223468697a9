//! An invocation whose kernels may improve, with its profile and its cache entry.

use std::time::Instant;

use super::entry::Place;
use super::invocation::{Input, Invocation};
use super::profiles;
use super::real_ptxas::RealPtxas;
use super::settings::Settings;

/// Returns why ptxas must run alone; `None` if a search is possible.
pub(super) fn why_alone(invocation: &Invocation) -> Option<String> {
    match &invocation.inputs[..] {
        [_] if invocation.processor.is_none() => Some("no processor is named".into()),
        [_] if invocation.bounds.override_directives => Some("options override the bounds of kernels".into()),
        [_] => None,
        _ => Some("there are several inputs".into()),
    }
}

/// An invocation with one PTX module.
pub(super) struct Task<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) input: &'a Input,
    pub(super) settings: &'a Settings,
    pub(super) ptxas: &'a RealPtxas,
    /// The module's profile, if the folder of profiles has one.
    pub(super) profile: Option<String>,
    /// When the work began.
    pub(super) start: Instant,
    /// The place of the result in the cache.
    pub(super) place: Option<Place>,
}

impl<'a> Task<'a> {
    /// Makes the task of an invocation with one input.
    pub(super) fn new(invocation: &'a Invocation, settings: &'a Settings, ptxas: &'a RealPtxas) -> Self {
        let (start, input) = (Instant::now(), &invocation.inputs[0]);
        let profile = settings.profiles.as_deref().and_then(|folder| profiles::read(folder, invocation, input));
        let mut task = Self { invocation, input, settings, ptxas, profile, start, place: None };
        if task.may_get_better() || settings.check {
            task.place = Place::of(invocation, input, settings, ptxas).unwrap_or_else(|error| {
                settings.note(&error.to_string());
                None
            });
        }
        task
    }

    /// Returns whether a better result than ptxas's stock run is possible: by a search, or by a profile to replay.
    pub(super) fn may_get_better(&self) -> bool {
        self.settings.searches() || self.profile.is_some()
    }
}
