//! The forecast of a module, from the responses of the pass `nvptx-forecast` on its functions.

use super::abi::{self, nvptx_ra_request, nvptx_ra_response};
use super::guard::{entry, guard};
use super::response::Response;
use super::run::{Request, is_strict};
use crate::error::Error;
use crate::passes::{FunctionSummary, run_on_module};

/// Forecasts the kernels of a module. Never null, never unwinds.
///
/// # Safety
/// `request` must be as for [`nvptx_ra_run`](super::run::nvptx_ra_run). `responses` must point to `count` responses of
/// that entry that are not freed before this function returns.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_forecast(
    request: *const nvptx_ra_request,
    responses: *const *const nvptx_ra_response,
    count: u64,
) -> *const nvptx_ra_response {
    entry(
        // SAFETY: as the caller promises.
        |error| Response::of_error(&error, unsafe { is_strict(request) }).hand_over(),
        || {
            // SAFETY: as the caller promises.
            let request = match unsafe { Request::read(request) } {
                Ok(request) => request,
                Err(error) => return Response::of_error(&error, false).hand_over(),
            };
            // SAFETY: as the caller promises.
            let result = guard(|| unsafe { try_forecast(&request, responses, count) });
            let response = result.unwrap_or_else(|error| {
                let config = guard(|| Ok(request.resolve_valid())).unwrap_or_default();
                request.record(&config, || request.failure(error.to_string()));
                Response::of_error(&error, config.strict)
            });
            response.hand_over()
        },
    )
}

/// # Safety
/// As for [`nvptx_ra_forecast`].
unsafe fn try_forecast(
    request: &Request<'_>,
    responses: *const *const nvptx_ra_response,
    count: u64,
) -> Result<Response, Error> {
    let config = request.resolve()?;
    // SAFETY: the caller promises the array and what it points to.
    let responses = unsafe { abi::array(responses, count, "responses") }?;
    // SAFETY: as above.
    let functions: Vec<Option<&FunctionSummary>> =
        responses.iter().map(|&response| unsafe { Response::lent(response) }?.summary()).collect();
    let output = run_on_module(&request.pass, &functions, &request.target, &config)?;
    Ok(Response::of_module(output, &config, request.has(abi::NVPTX_RA_REQUEST_REMARKS)))
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::super::abi::nvptx_ra_remark;
    use super::super::run::nvptx_ra_run;
    use super::super::tests::sample::{Answer, Sample, request};
    use super::*;
    use crate::config::{COPY_COALESCER, FORECAST, PRINT_FORECAST};

    /// Returns the answers of two passes on a kernel: of a printing pass, which has no summary, and of the forecast.
    fn answers() -> [Answer; 2] {
        let sample = Sample::new();
        let view = sample.view();
        // SAFETY: the requests, the view and its memory are alive.
        ["print<nvptx-ra-view>", FORECAST].map(|pass| Answer(unsafe { nvptx_ra_run(&request(&view, pass, "")) }))
    }

    fn forecast(pass: &str, target: &str, answers: &[Answer]) -> Answer {
        let mut request = request(ptr::null(), pass, "");
        request.target = abi::borrow(target);
        request.flags = abi::NVPTX_RA_REQUEST_REMARKS;
        let responses: Vec<_> = answers.iter().map(|answer| answer.0).chain([ptr::null()]).collect();
        // SAFETY: the request and the responses are alive.
        Answer(unsafe { nvptx_ra_forecast(&request, responses.as_ptr(), responses.len() as u64) })
    }

    fn remarks(answer: &Answer) -> &[nvptx_ra_remark] {
        // SAFETY: the response is alive.
        unsafe { abi::array(answer.raw().remarks, answer.raw().num_remarks, "remarks") }.expect("as many as it says")
    }

    /// The figures of a kernel carry the kernel's index among the responses, and their place is an instruction of the
    /// kernel's view. Responses without a summary, and null, are skipped.
    #[test]
    fn figures_of_a_kernel() {
        let answers = answers();
        assert_eq!(answers[1].raw().status, abi::NVPTX_RA_STATUS_UNCHANGED, "{}", answers[1].message());
        assert!(answers[1].raw().place < 5 && answers[0].raw().place == abi::NVPTX_RA_NONE);
        let answer = forecast(FORECAST, "sm_90", &answers);
        assert_eq!((answer.raw().status, answer.output().as_str()), (abi::NVPTX_RA_STATUS_UNCHANGED, ""));
        let first = remarks(&answer).first().expect("a kernel has figures");
        // SAFETY: the response is alive.
        let text = unsafe { [abi::text(first.name), abi::text(first.message), abi::text(first.value)] };
        assert_eq!(text, ["FunctionName", "Function Name", "k"]);
        assert!(remarks(&answer).iter().all(|remark| remark.function == 1));
        assert!(remarks(&answer).iter().any(|remark| remark.at_place == 1));
        assert!(forecast(PRINT_FORECAST, "sm_90", &answers).output().starts_with("Function Name: k\n    Registers: "));
    }

    /// On request, the coalescer's answer has the same summary as a forecast that runs after it, even if the coalescer
    /// removes a copy. The answer has no summary if the coalescer excludes the function.
    #[test]
    fn summary_of_the_coalescer() {
        let sample = Sample::new();
        let view = sample.view();
        let run = |pass, parameters, flags| {
            let request = nvptx_ra_request { flags, ..request(&view, pass, parameters) };
            // SAFETY: the request, the view and its memory are alive.
            Answer(unsafe { nvptx_ra_run(&request) })
        };
        let left = run(COPY_COALESCER, "", abi::NVPTX_RA_REQUEST_SUMMARY);
        let own = run(FORECAST, "", 0);
        assert_eq!((left.raw().status, left.raw().summarised), (abi::NVPTX_RA_STATUS_EDITS, 1), "{}", left.message());
        assert_eq!((left.raw().place, own.raw().summarised), (own.raw().place, 1));
        let text = |answers: &[Answer]| forecast(PRINT_FORECAST, "sm_90", answers).output();
        assert_eq!(text(&[left]), text(&[own]));
        assert_eq!(run(COPY_COALESCER, "", 0).raw().summarised, 0);
        let is_left_alone = abi::NVPTX_RA_REQUEST_SUMMARY | abi::NVPTX_RA_REQUEST_OPTNONE;
        assert_eq!(run(COPY_COALESCER, "", is_left_alone).raw().summarised, 0);
    }

    /// Without kernels, the forecast is empty for any processor, and the printing pass reports this. An unknown
    /// processor, a missing request and a missing array are errors.
    #[test]
    fn nothing_and_errors() {
        let answer = forecast(PRINT_FORECAST, "", &[]);
        assert_eq!((answer.output().as_str(), remarks(&answer).len()), ("no kernel\n", 0));
        assert!(forecast(FORECAST, "sm_42", &answers()).message().contains("sm_42"));
        // SAFETY: null is allowed.
        let answer = Answer(unsafe { nvptx_ra_forecast(ptr::null(), ptr::null(), 0) });
        assert_eq!(answer.raw().status, abi::NVPTX_RA_STATUS_ERROR);
        let request = request(ptr::null(), FORECAST, "");
        // SAFETY: null is rejected.
        let answer = Answer(unsafe { nvptx_ra_forecast(&request, ptr::null(), 1) });
        assert!(answer.message().contains("responses: null"), "{}", answer.message());
    }
}
