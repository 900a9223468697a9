//! Responses: owned by the library, read by the shim, freed by the library.

use super::abi::{self, nvptx_ra_remark, nvptx_ra_response};
use super::edits::RawEdits;
use super::guard::entry;
use crate::bundle::Report;
use crate::config::{Config, Injection};
use crate::error::Error;
use crate::forecast::Figure;
use crate::function::{EditList, Function, LoweredEdit};
use crate::passes::{FunctionSummary, ModuleOutput, PassOutput, PlacedFinding, Remark, RemarkKind};

/// A response and all data that it points to.
///
/// The raw part is the first field, so that a pointer to it is also a pointer to the whole.
#[repr(C)]
pub(super) struct Response {
    raw: nvptx_ra_response,
    message: String,
    output: String,
    edits: RawEdits,
    remarks: Vec<Remark>,
    figures: Vec<(u32, Figure)>,
    findings: Vec<PlacedFinding>,
    summary: Option<Box<FunctionSummary>>,
    raw_remarks: Vec<nvptx_ra_remark>,
    replay: Option<Replay>,
}

/// The data needed to verify the edited function, and to report a difference.
pub(super) struct Replay {
    pub(super) function: Function,
    pub(super) edits: EditList,
    pub(super) report: Report,
    pub(super) config: Config,
}

impl Response {
    /// Returns the response of a pass that ran. Its edits are those of `lowered`, if there are any. `report` describes
    /// the run in case verification fails.
    pub(super) fn of_pass(
        output: PassOutput,
        lowered: Option<&[LoweredEdit]>,
        function: Function,
        config: Config,
        report: impl FnOnce() -> Report,
    ) -> Self {
        let mut edits = match lowered {
            Some(lowered) => RawEdits::of_lowered(&function, lowered),
            None => RawEdits::new(&function, &output.edits),
        };
        if config.inject == Injection::WrongEdits {
            edits.spoil(&function);
        }
        let status = if edits.edits.is_empty() { abi::NVPTX_RA_STATUS_UNCHANGED } else { abi::NVPTX_RA_STATUS_EDITS };
        let mut response = Self::with_status(status);
        response.raw.strict = config.strict.into();
        response.raw.verify = config.verify.into();
        response.raw.timed = config.stats.is_some().into();
        let limits: Vec<String> = output.limits.iter().map(ToString::to_string).collect();
        response.message = limits.join("\n");
        response.output = output.output;
        response.edits = edits;
        response.remarks = output.remarks;
        response.raw.place = place(output.summary.as_deref());
        response.raw.summarised = output.summary.is_some().into();
        response.summary = output.summary;
        response.replay = config.verify.then(|| Replay { function, edits: output.edits, report: report(), config });
        response
    }

    /// Returns the forecast of a module: the figures of its kernels, if remarks are read, and the findings of the
    /// lints.
    pub(super) fn of_module(output: ModuleOutput, config: &Config, wants_remarks: bool) -> Self {
        let mut response = Self::with_status(abi::NVPTX_RA_STATUS_UNCHANGED);
        response.raw.strict = config.strict.into();
        response.message = output.warnings.join("\n");
        response.output = output.output;
        let limits = output.forecasts.iter().filter_map(|(number, forecast)| Some((*number, forecast.limited_to?)));
        response.edits = RawEdits::of_limits(limits);
        if !response.edits.edits.is_empty() {
            response.raw.status = abi::NVPTX_RA_STATUS_EDITS;
        }
        response.findings = output.findings;
        if !wants_remarks {
            return response;
        }
        let of_kernel = |(number, figures): (usize, Vec<Figure>)| {
            figures.into_iter().map(move |figure| (number as u32, figure)).collect::<Vec<_>>()
        };
        let kernels = output.forecasts.iter().map(|(number, forecast)| (*number, forecast.figures()));
        response.figures = kernels.flat_map(of_kernel).collect();
        response
    }

    /// Returns the response for an error.
    pub(super) fn of_error(error: &Error, strict: bool) -> Self {
        let mut response = Self::with_status(abi::NVPTX_RA_STATUS_ERROR);
        response.raw.strict = strict.into();
        response.raw.timed = 1;
        response.message = error.to_string();
        response
    }

    /// Returns the response of a run without changes and messages.
    pub(super) fn of_nothing() -> Self {
        Self::with_status(abi::NVPTX_RA_STATUS_UNCHANGED)
    }

    /// Returns the response of a run with a message but without an error.
    pub(super) fn of_warning(message: String) -> Self {
        Self { message, ..Self::with_status(abi::NVPTX_RA_STATUS_UNCHANGED) }
    }

    fn with_status(status: u32) -> Self {
        let raw = nvptx_ra_response {
            version: abi::NVPTX_RA_ABI_VERSION,
            size: size_of::<nvptx_ra_response>() as u32,
            status,
            place: abi::NVPTX_RA_NONE,
            ..nvptx_ra_response::default()
        };
        Self {
            raw,
            message: String::new(),
            output: String::new(),
            edits: RawEdits::default(),
            remarks: Vec::new(),
            figures: Vec::new(),
            findings: Vec::new(),
            summary: None,
            raw_remarks: Vec::new(),
            replay: None,
        }
    }

    /// Hands the response over to C++. [`take_back`](Self::take_back) frees it.
    pub(super) fn hand_over(self) -> *const nvptx_ra_response {
        let mut response = Box::new(self);
        let this = &mut *response;
        let of_module = this.figures.iter().map(raw_figure).chain(this.findings.iter().map(raw_finding));
        this.raw_remarks = this.remarks.iter().map(raw_remark).chain(of_module).collect();
        this.raw.message = abi::borrow(&this.message);
        this.raw.output = abi::borrow(&this.output);
        this.raw.edits = this.edits.edits.as_ptr();
        this.raw.num_edits = this.edits.edits.len() as u64;
        this.raw.numbers = this.edits.numbers.as_ptr();
        this.raw.num_numbers = this.edits.numbers.len() as u64;
        this.raw.operands = this.edits.operands.as_ptr();
        this.raw.num_operands = this.edits.operands.len() as u64;
        this.raw.text = abi::borrow(&this.edits.text);
        this.raw.remarks = this.raw_remarks.as_ptr();
        this.raw.num_remarks = this.raw_remarks.len() as u64;
        Box::into_raw(response).cast()
    }

    /// Borrows the response that was handed over.
    ///
    /// # Safety
    /// `raw` must be null or from [`hand_over`](Self::hand_over), and must not be taken back during `'a`.
    pub(super) unsafe fn lent<'a>(raw: *const nvptx_ra_response) -> Option<&'a Self> {
        // SAFETY: the raw part is the first field, and the caller promises the origin of the pointer.
        unsafe { raw.cast::<Self>().as_ref() }
    }

    /// Takes a response back.
    ///
    /// # Safety
    /// `raw` must be null or from [`hand_over`](Self::hand_over), and may be taken back only once.
    pub(super) unsafe fn take_back(raw: *const nvptx_ra_response) -> Option<Box<Self>> {
        // SAFETY: as the caller promises; `hand_over` gave away the pointer to the whole box.
        (!raw.is_null()).then(|| unsafe { Box::from_raw(raw.cast_mut().cast::<Self>()) })
    }

    /// Returns the forecast's summary of the function. `None` for other passes and after an error.
    pub(super) fn summary(&self) -> Option<&FunctionSummary> {
        self.summary.as_deref()
    }

    /// Returns the data for verification, if the response requests it.
    pub(super) fn replay(&self) -> Option<&Replay> {
        self.replay.as_ref()
    }
}

fn place(summary: Option<&FunctionSummary>) -> u32 {
    summary.and_then(|summary| summary.place).map_or(abi::NVPTX_RA_NONE, |inst| inst.0)
}

fn raw_figure((function, figure): &(u32, Figure)) -> nvptx_ra_remark {
    nvptx_ra_remark {
        kind: abi::NVPTX_RA_REMARK_ANALYSIS,
        inst: abi::NVPTX_RA_NONE,
        name: abi::borrow(figure.name),
        message: abi::borrow(figure.label),
        value: abi::borrow(&figure.value),
        function: *function,
        at_place: figure.is_of_peak.into(),
        ..nvptx_ra_remark::default()
    }
}

fn raw_finding(finding: &PlacedFinding) -> nvptx_ra_remark {
    nvptx_ra_remark {
        kind: abi::NVPTX_RA_REMARK_MISSED,
        inst: abi::NVPTX_RA_NONE,
        name: abi::borrow(finding.name),
        message: abi::borrow(&finding.message),
        function: finding.kernel as u32,
        line: finding.line,
        line_function: finding.function as u32,
        ..nvptx_ra_remark::default()
    }
}

fn raw_remark(remark: &Remark) -> nvptx_ra_remark {
    nvptx_ra_remark {
        kind: match remark.kind {
            RemarkKind::Passed => abi::NVPTX_RA_REMARK_PASSED,
            RemarkKind::Missed => abi::NVPTX_RA_REMARK_MISSED,
            RemarkKind::Analysis => abi::NVPTX_RA_REMARK_ANALYSIS,
        },
        inst: remark.inst.map_or(abi::NVPTX_RA_NONE, |inst| inst.0),
        name: abi::borrow(remark.name),
        message: abi::borrow(&remark.message),
        ..nvptx_ra_remark::default()
    }
}

/// Frees a response of any entry.
///
/// # Safety
/// `response` must be null, or returned by an entry of this library and freed only once.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_response_free(response: *const nvptx_ra_response) {
    // SAFETY: the caller promises it.
    entry(|_| (), || drop(unsafe { Response::take_back(response) }));
}
