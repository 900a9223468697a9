//! Verification of what the shim made of the edits.

use super::abi::{nvptx_ra_response, nvptx_ra_view};
use super::compare::compare;
use super::guard::{entry, guard, take_backtrace};
use super::response::{Replay, Response};
use super::view;
use crate::bundle::Report;
use crate::error::Error;

/// Compares the function after the edits with what they mean. Null where they agree.
///
/// # Safety
/// `response` is null or was returned by [`nvptx_ra_run`](super::run::nvptx_ra_run) and is not freed yet; `after` is a
/// view as `nvptx_ra_run` asks for.
// SAFETY: the header declares this very name.
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
                let replay = replay.ok_or_else(|| Error::internal("the response did not ask to be verified", None))?;
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

/// Writes the bundle of a difference and names it in the error. The function in it is the one that the edits are for.
fn attach_bundle(error: Error, replay: &Replay) -> Error {
    let report = Report { backtrace: take_backtrace(), ..replay.report.clone() };
    guard(|| Ok(report.attach(error.clone(), &replay.config, Some(&replay.function)))).unwrap_or(error)
}
