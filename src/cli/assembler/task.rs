//! An invocation whose kernels may get better, with what is known of it.

use std::time::Instant;

use super::entry::Place;
use super::invocation::{Input, Invocation};
use super::real::RealPtxas;
use super::settings::Settings;

/// Why ptxas is to do it alone, where it is.
pub(super) fn why_alone(invocation: &Invocation) -> Option<String> {
    match &invocation.inputs[..] {
        [_] if invocation.processor.is_none() => Some("no processor is named".into()),
        [_] if invocation.bounds.override_directives => Some("options override the bounds of kernels".into()),
        [_] => None,
        _ => Some("there are several inputs".into()),
    }
}

/// An invocation with one text.
pub(super) struct Task<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) input: &'a Input,
    pub(super) settings: &'a Settings,
    pub(super) real: &'a RealPtxas,
    /// When the work on it began.
    pub(super) start: Instant,
    /// Where its result is kept.
    pub(super) place: Option<Place>,
}

impl<'a> Task<'a> {
    /// Of an invocation that has one input.
    pub(super) fn new(invocation: &'a Invocation, settings: &'a Settings, real: &'a RealPtxas) -> Self {
        let (start, input) = (Instant::now(), &invocation.inputs[0]);
        let place = Place::of(invocation, input, settings, real).unwrap_or_else(|error| {
            settings.note(&error.to_string());
            None
        });
        Self { invocation, input, settings, real, start, place }
    }
}
