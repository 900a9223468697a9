//! Verification of what the shim made of the edits.

use super::abi::{nvptx_ra_response, nvptx_ra_view};
use super::compare::compare;
use super::guard::guard;
use super::response::Response;
use super::view;
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
    let result = guard(|| {
        // SAFETY: the caller promises both.
        let (response, after) = unsafe { (Response::lent(response), view::read(after)) };
        let replay = response.and_then(Response::replay);
        let replay = replay.ok_or_else(|| Error::internal("the response did not ask to be verified", None))?;
        let (found, _) = after?;
        let wanted = replay.edits.apply(&replay.function).map_err(Error::from);
        let wanted = wanted.map_err(|error| error.in_function(found.name()))?;
        compare(&wanted.function, &found)
    });
    result.map_or_else(|error| Response::of_error(&error, true).hand_over(), |()| std::ptr::null())
}
