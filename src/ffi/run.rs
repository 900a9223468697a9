//! The main entry, which runs a pass, and the entries that report about a run.

use std::borrow::Cow;
use std::ffi::c_void;
use std::time::Instant;

use super::abi::{self, nvptx_ra_census, nvptx_ra_request, nvptx_ra_response, nvptx_ra_str, nvptx_ra_take_census};
use super::guard::{entry, guard, take_backtrace};
use super::response::Response;
use super::session::Session;
use super::switch::is_off;
use super::view;
use crate::bundle::{GivenOptions, Report};
use crate::check;
use crate::config::{COPY_COALESCER, Config, Injection, Layers};
use crate::error::Error;
use crate::passes::{self, Census, PassOutput, RunContext, Scope};
use crate::spill::lower::{block_shape, lower};
use crate::stats::{Counts, Event, FunctionStats, Work};

/// A request with its strings decoded.
pub(super) struct Request<'a> {
    pub(super) pass: Cow<'a, str>,
    parameters: Cow<'a, str>,
    command_line: Cow<'a, str>,
    attribute: Cow<'a, str>,
    pub(super) target: Cow<'a, str>,
    function: Cow<'a, str>,
    flags: u32,
    view: *const abi::nvptx_ra_view,
    /// The session of the compilation.
    session: Option<&'a Session>,
}

impl<'a> Request<'a> {
    /// # Safety
    /// If `request` is not null, it must point to a live request with live strings and a view that is null or live. All
    /// must stay unchanged during `'a`.
    pub(super) unsafe fn read(request: *const nvptx_ra_request) -> Result<Self, Error> {
        // SAFETY: here and below, the caller promises the request, its strings and its view.
        let request = unsafe { request.as_ref() }.ok_or_else(|| Error::view("no request"))?;
        view::check_version("request", request.version, request.size, size_of::<nvptx_ra_request>())?;
        let known = abi::NVPTX_RA_REQUEST_OPTNONE
            | abi::NVPTX_RA_REQUEST_O0
            | abi::NVPTX_RA_REQUEST_REMARKS
            | abi::NVPTX_RA_REQUEST_SSA
            | abi::NVPTX_RA_REQUEST_COALESCED
            | abi::NVPTX_RA_REQUEST_SUMMARY
            | abi::NVPTX_RA_REQUEST_LINTS;
        if request.flags & !known != 0 {
            return Err(Error::view(format!("the request has unknown flags: {:#x}", request.flags)));
        }
        // SAFETY: as above.
        unsafe {
            let function = request.view.as_ref().map_or(Cow::Borrowed(""), |view| abi::text(view.name));
            Ok(Self {
                pass: abi::text(request.pass),
                parameters: abi::text(request.parameters),
                command_line: abi::text(request.command_line),
                attribute: abi::text(request.attribute),
                target: abi::text(request.target),
                function,
                flags: request.flags,
                view: request.view,
                session: request.session.cast::<Session>().as_ref(),
            })
        }
    }

    pub(super) fn layers(&self) -> Layers<'_> {
        Layers { parameters: &self.parameters, command_line: &self.command_line, attribute: &self.attribute }
    }

    /// Resolves the options. An error if any of them is wrong.
    pub(super) fn resolve(&self) -> Result<Config, Error> {
        self.session.map_or_else(|| Config::resolve(&self.layers()), |session| session.resolve(&self.layers()))
    }

    /// Resolves the options, and ignores wrong ones.
    pub(super) fn resolve_valid(&self) -> Config {
        self.session
            .map_or_else(|| Config::resolve_valid(&self.layers()), |session| session.resolve_valid(&self.layers()))
    }

    pub(super) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Runs the pass. An error or a panic becomes a response without edits.
    ///
    /// # Safety
    /// The request's view must be as [`view::read`] requires.
    unsafe fn run(&self) -> Response {
        // SAFETY: as the caller promises.
        guard(|| unsafe { self.try_run() }).unwrap_or_else(|error| {
            // The error may be in the options themselves.
            let config = guard(|| Ok(self.resolve_valid())).unwrap_or_default();
            // SAFETY: as the caller promises.
            let error = unsafe { self.attach_bundle(error.in_function(&self.function), &config) };
            self.record(&config, || self.failure(error.to_string()));
            Response::of_error(&error, config.strict)
        })
    }

    /// Writes a bundle for a bug and adds the bundle's path to the error. The view is read again because the pass has
    /// consumed the first function. If the pass panics on a function, a replay of the bundle panics, too.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn attach_bundle(&self, error: Error, config: &Config) -> Error {
        if !error.is_bug() {
            return error;
        }
        let backtrace = take_backtrace();
        // SAFETY: as the caller promises.
        let function = guard(|| unsafe { view::read(self.view) }).ok();
        let function = function.as_ref().map(|(function, _)| function);
        let report = Report { backtrace, ..self.report() };
        guard(|| Ok(report.attach(error.clone(), config, function))).unwrap_or(error)
    }

    /// Returns the report about this run for a bundle.
    fn report(&self) -> Report {
        Report {
            llvm: llvm_version(),
            pass: self.pass.clone().into_owned(),
            target: self.target.clone().into_owned(),
            function: self.function.clone().into_owned(),
            options: GivenOptions {
                parameters: self.parameters.clone().into_owned(),
                command_line: self.command_line.clone().into_owned(),
                attribute: self.attribute.clone().into_owned(),
            },
            is_ssa: self.has(abi::NVPTX_RA_REQUEST_SSA),
            is_o0: self.has(abi::NVPTX_RA_REQUEST_O0),
            is_optnone: self.has(abi::NVPTX_RA_REQUEST_OPTNONE),
            ..Report::new()
        }
    }

    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn try_run(&self) -> Result<Response, Error> {
        let config = self.resolve()?;
        let start = Instant::now();
        // SAFETY: as the caller promises.
        let (function, classification) = unsafe { view::read(self.view) }?;
        let crossed = Instant::now();
        let context = RunContext {
            config,
            classification,
            target: self.target.clone().into_owned(),
            is_ssa: self.has(abi::NVPTX_RA_REQUEST_SSA),
            is_o0: self.has(abi::NVPTX_RA_REQUEST_O0),
            is_optnone: self.has(abi::NVPTX_RA_REQUEST_OPTNONE),
            wants_remarks: self.has(abi::NVPTX_RA_REQUEST_REMARKS),
            wants_lints: self.has(abi::NVPTX_RA_REQUEST_LINTS),
            is_coalesced: self.has(abi::NVPTX_RA_REQUEST_COALESCED),
            callees: None,
        };
        if self.pass == COPY_COALESCER
            && let Some(mut collected) = self.session.and_then(Session::collected)
        {
            if !passes::is_excluded(&context) {
                // SAFETY: the creator of the session promises that no other code uses the collection.
                unsafe { collected.as_mut() }.push((function, context.classification));
            }
            return Ok(Response::of_nothing());
        }
        let mut output = passes::run(&self.pass, &function, &context)?;
        // SAFETY: as the caller promises.
        let lowered = lower(&function, &output.edits, unsafe { self.block_shape() })?;
        if let Some(lowered) = &lowered {
            let wrong = |reason| Error::internal(format!("the spill code does not match the edits: {reason}"), None);
            check::lowered::check(&function, &output.edits, lowered).map_err(wrong)?;
        }
        if self.has(abi::NVPTX_RA_REQUEST_SUMMARY) {
            // Without the summary, the forecast computes its own, and reports the error.
            output.summary = guard(|| passes::summarise_coalesced(&function, &output.edits, &context)).unwrap_or(None);
        }
        if let Some(path) = &context.config.stats {
            output.stats.time_ns.add("cross", crate::stats::nanoseconds(crossed - start));
            Event::Run(Box::new(self.statistics(&output, function.num_insts()))).append(path)?;
        }
        let RunContext { config, .. } = context;
        Ok(Response::of_pass(output, lowered.as_deref(), function, config, || self.report()))
    }

    /// Returns the block dimensions of a kernel with a fixed block size. `None` if LLVM does not know them.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn block_shape(&self) -> Option<[u32; 3]> {
        // SAFETY: as the caller promises.
        let text = unsafe { self.view.as_ref().map(|view| abi::text(view.reqntid)) }?;
        block_shape(text.strip_suffix(',').unwrap_or(&text).split(',').map(str::trim))
    }

    /// Returns the statistics of a pass, completed by those that all passes have in common.
    fn statistics(&self, output: &PassOutput, insts: usize) -> FunctionStats {
        let mut work = Work { insts: insts as u64, ..output.stats.clone() };
        for edit in output.edits.edits() {
            work.edits.add(edit.kind(), 1);
        }
        FunctionStats {
            function: self.function.clone().into_owned(),
            pass: self.pass.clone().into_owned(),
            target: self.target.clone().into_owned(),
            work,
        }
    }

    pub(super) fn failure(&self, message: String) -> Event {
        Event::Failure { function: self.function.clone().into_owned(), pass: self.pass.clone().into_owned(), message }
    }

    /// Appends an event to the statistics, if they are requested.
    pub(super) fn record(&self, config: &Config, event: impl FnOnce() -> Event) {
        record(config, event);
    }
}

/// Returns the version of the running LLVM.
fn llvm_version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: all three may be written.
    unsafe { llvm_sys::core::LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// Runs a pass on a view. Never null, never unwinds.
///
/// # Safety
/// `request` must be null or point to a live request, whose pointers are null or point to live memory of the given
/// lengths. None of it may change during the call.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_run(request: *const nvptx_ra_request) -> *const nvptx_ra_response {
    entry(
        // SAFETY: as the caller promises.
        |error| Response::of_error(&error, unsafe { is_strict(request) }).hand_over(),
        || {
            // SAFETY: as the caller promises.
            let response = match unsafe { Request::read(request) } {
                // SAFETY: as the caller promises.
                Ok(request) => unsafe { request.run() },
                Err(error) => Response::of_error(&error, false),
            };
            response.hand_over()
        },
    )
}

/// Whether the options of a request make errors fatal, for errors outside a pass. False if the options are wrong.
///
/// # Safety
/// As for [`nvptx_ra_run`].
pub(super) unsafe fn is_strict(request: *const nvptx_ra_request) -> bool {
    let strict = guard(|| {
        // SAFETY: as the caller promises.
        let request = unsafe { Request::read(request) }?;
        Ok(request.resolve_valid().strict)
    });
    strict.unwrap_or(false)
}

/// Returns how much of a function a pass reads. If the options are wrong, the run reports the error.
///
/// # Safety
/// As for [`nvptx_ra_run`]. `take` must be null, or callable with `function`. The pointer in its result must be null or
/// point to live memory of the given length.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_scope(
    request: *const nvptx_ra_request,
    take: nvptx_ra_take_census,
    function: *mut c_void,
) -> u32 {
    entry(
        |_| abi::NVPTX_RA_SCOPE_WHOLE,
        || {
            // SAFETY: as the caller promises.
            let Ok(request) = (unsafe { Request::read(request) }) else { return abi::NVPTX_RA_SCOPE_WHOLE };
            if is_off() {
                return abi::NVPTX_RA_SCOPE_NOTHING;
            }
            // SAFETY: as the caller promises.
            let census = || unsafe { take.map(|take| read_census(&take(function))).unwrap_or_default() };
            match passes::scope(&request.pass, &request.resolve_valid(), census) {
                Scope::Nothing => abi::NVPTX_RA_SCOPE_NOTHING,
                Scope::Phis => abi::NVPTX_RA_SCOPE_PHIS,
                Scope::Whole => abi::NVPTX_RA_SCOPE_WHOLE,
            }
        },
    )
}

/// # Safety
/// The texts must be live, and their number must be correct.
unsafe fn read_census<'a>(census: &nvptx_ra_census) -> Census<'a> {
    let &nvptx_ra_census { instructions, phis, shared_accesses, two_jumps, assembly, num_assembly } = census;
    // SAFETY: as the caller promises.
    let texts = unsafe { abi::array(assembly, num_assembly, "assembly").unwrap_or_default() };
    // SAFETY: as the caller promises.
    let assembly = texts.iter().map(|&text| unsafe { abi::text(text) }).collect();
    Census { instructions, phis, shared_accesses, two_jumps, assembly }
}

/// Records that the shim could not apply the edits.
///
/// # Safety
/// As for [`nvptx_ra_run`]; `message` must be live.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_report_failure(request: *const nvptx_ra_request, message: nvptx_ra_str) {
    // SAFETY: as the caller promises.
    entry(warn, || unsafe { report(request, |request| request.failure(abi::text(message).into_owned())) });
}

/// Records the times of the shim's phases.
///
/// # Safety
/// As for [`nvptx_ra_run`].
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_report_time(request: *const nvptx_ra_request, flatten_ns: u64, apply_ns: u64) {
    entry(warn, || {
        let shim = |request: &Request<'_>| {
            let mut time_ns = Counts::default();
            time_ns.add("flatten", flatten_ns);
            time_ns.add("apply", apply_ns);
            Event::Shim {
                function: request.function.clone().into_owned(),
                pass: request.pass.clone().into_owned(),
                time_ns,
            }
        };
        // SAFETY: as the caller promises.
        unsafe { report(request, shim) }
    });
}

/// Records LLVM's errors about a clone that was compiled for the forecast. Returns 1 if errors are fatal.
///
/// # Safety
/// The texts must be live, and their lengths must be correct.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_report_clone(
    parameters: nvptx_ra_str,
    command_line: nvptx_ra_str,
    errors: u64,
    warnings: u64,
    first_error: nvptx_ra_str,
) -> u32 {
    entry(
        |_| 0,
        || {
            // SAFETY: the caller promises the texts.
            let [parameters, command_line, first_error] =
                [parameters, command_line, first_error].map(|text| unsafe { abi::text(text) });
            let config =
                Config::resolve_valid(&Layers { parameters: &parameters, command_line: &command_line, attribute: "" });
            let clone = || Event::Clone { errors, warnings, first_error: first_error.into_owned() };
            record(&config, clone);
            config.strict.into()
        },
    )
}

/// # Safety
/// As for [`nvptx_ra_run`].
unsafe fn report(request: *const nvptx_ra_request, event: impl FnOnce(&Request<'_>) -> Event) {
    // SAFETY: as the caller promises.
    match unsafe { Request::read(request) } {
        Ok(request) => request.record(&request.resolve_valid(), || event(&request)),
        Err(error) => warn(error),
    }
}

/// Logs an error in a report about a completed run.
fn warn(error: Error) {
    log::warn!("{error}");
}

/// Appends an event to the statistics, if they are requested. The run is already complete, so an unwritable file or a
/// panic has no further effect.
fn record(config: &Config, event: impl FnOnce() -> Event) {
    let recorded = guard(|| {
        if config.inject == Injection::LatePanic {
            panic!("a panic was asked for by inject=late-panic");
        }
        config.stats.as_ref().map_or(Ok(()), |path| event().append(path))
    });
    recorded.unwrap_or_else(warn);
}
