//! Verification of the function that the shim made by the edits.

use super::abi::{nvptx_ra_response, nvptx_ra_view};
use super::compare::compare;
use super::guard::{entry, guard, take_backtrace};
use super::response::{Replay, Response};
use super::view;
use crate::bundle::Report;
use crate::error::Error;

/// Compares the edited function with the function that the edits describe. Null if they agree.
///
/// # Safety
/// `response` must be null, or returned by [`nvptx_ra_run`](super::run::nvptx_ra_run) and not freed yet. `after` must
/// be a view as `nvptx_ra_run` requires.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_verify_applied(
    response: *const nvptx_ra_response,
    after: *const nvptx_ra_view,
) -> *const nvptx_ra_response {
    entry(
        |error| Response::of_error(&error, true).hand_over(),
        || {
            // SAFETY: the caller promises it.
            let replay = unsafe { Response::lent(response) }.and_then(Response::replay);
            let result = guard(|| {
                let replay =
                    replay.ok_or_else(|| Error::internal("the response did not request verification", None))?;
                // SAFETY: the caller promises it.
                let (found, _) = unsafe { view::read(after) }?;
                let wanted = replay.edits.apply(&replay.function).map_err(Error::from);
                let wanted = wanted.map_err(|error| error.in_function(found.name()))?;
                compare(&wanted.function, &found)
            });
            let Err(error) = result else { return std::ptr::null() };
            let error = match replay {
                Some(replay) => attach_bundle(error, replay),
                None => error,
            };
            Response::of_error(&error, true).hand_over()
        },
    )
}

/// Writes a bundle for a difference and adds the bundle's path to the error. The bundle has the function before the
/// edits.
fn attach_bundle(error: Error, replay: &Replay) -> Error {
    let report = Report { backtrace: take_backtrace(), ..replay.report.clone() };
    guard(|| Ok(report.attach(error.clone(), &replay.config, Some(&replay.function)))).unwrap_or(error)
}
