//! One invocation whose kernels may get better: what is known of its text, else ptxas on the text as it is and a search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use nvptx_ra::error::Error;

use super::entry::Place;
use super::improve::{Improved, improve, known, say};
use super::invocation::{Input, Invocation, Source};
use super::real::RealPtxas;
use super::settings::Settings;
use super::{deliver, launch_note, unchanged};
use crate::dynamic_shared::DynamicShared;
use crate::{interrupt, output};

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
pub(super) struct Build<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) input: &'a Input,
    pub(super) settings: &'a Settings,
    pub(super) real: &'a RealPtxas,
    /// What is known of the shared memory that launches add: what the text notes, and behind that, so that it counts
    /// first, what the user says.
    pub(super) dynamic_shared: Vec<DynamicShared>,
    /// Where its result is kept.
    pub(super) place: Option<Place>,
}

impl<'a> Build<'a> {
    /// Of an invocation that has one input.
    pub(super) fn new(invocation: &'a Invocation, settings: &'a Settings, real: &'a RealPtxas) -> Self {
        let input = &invocation.inputs[0];
        let place = Place::of(invocation, input, settings, real).unwrap_or_else(|error| {
            settings.log.line(&error.to_string());
            None
        });
        let note = launch_note::dynamic_shared(&String::from_utf8_lossy(&input.text)).map(DynamicShared::of_all);
        let dynamic_shared = note.into_iter().chain(settings.dynamic_shared.iter().cloned()).collect();
        Self { invocation, input, settings, real, dynamic_shared, place }
    }

    /// Does what ptxas would do, or better.
    pub(super) fn run(&self) -> Result<ExitCode, Error> {
        let entry = self.place.as_ref().and_then(Place::get);
        if let Some(entry) = &entry {
            match &entry.choice {
                // The standard input was read already.
                None if self.input.source == Source::StandardInput => {}
                None => return Err(self.real.become_it(&self.invocation.arguments)),
                Some(choice) => {
                    let improved = self.guarded(|| known(self, entry, choice));
                    if let Some(messages) = improved.and_then(|improved| self.put_in_place(improved)) {
                        say(self.settings, &choice.changes);
                        deliver::say(&[], &messages);
                        return Ok(ExitCode::SUCCESS);
                    }
                }
            }
        }
        let unchanged = unchanged::run(self.invocation, self.real)?;
        let is_searched = unchanged.status.success() && entry.is_none_or(|entry| entry.choice.is_some());
        let improved = if is_searched { self.guarded(|| improve(self, &unchanged)) } else { None };
        let messages = improved.and_then(|improved| self.put_in_place(improved));
        deliver::say(&unchanged.output, messages.as_deref().unwrap_or(&unchanged.messages));
        Ok(if interrupt::is_interrupted() { interrupt::exit_code() } else { deliver::end_as(unchanged.status) })
    }

    /// What comes of work that may fail in any way: then the unchanged result stays.
    fn guarded(&self, work: impl FnOnce() -> Result<Option<Improved>, Error>) -> Option<Improved> {
        // A panic is told by the log alone: a compiler's messages are ptxas's.
        std::panic::set_hook(Box::new(|_| {}));
        let done = catch_unwind(AssertUnwindSafe(work));
        let _ = std::panic::take_hook();
        let problem = match done {
            Ok(Ok(improved)) => return improved,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "internal error; please report this".into(),
        };
        self.settings.log.line(&format!("the unchanged result stays: {problem}"));
        None
    }

    /// Puts a cubin where the invocation wants it. The messages on it, where that was done.
    fn put_in_place(&self, improved: Improved) -> Option<Vec<u8>> {
        if interrupt::is_interrupted() {
            return None;
        }
        match output::write(&self.invocation.output, &improved.cubin) {
            Ok(()) => Some(improved.messages),
            Err(error) => {
                self.settings.log.line(&format!("the unchanged result stays: {error}"));
                None
            }
        }
    }
}
