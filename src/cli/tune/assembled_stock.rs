//! Stock that a build has already assembled. ptxas had the same options that variants get, so the kernels' figures can
//! be read from its output.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use nvptx_ra::sass::cubin::Cubin;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::meaning::Approximation;
use nvptx_ra::tune::judgement::Judgement;
use nvptx_ra::tune::ptxas_output::{PtxasReport, Sass};

use crate::machine::{cubin, machine_code, reported};
use crate::ptxas;
use crate::time::code::Code;

/// ptxas's output for the unchanged file.
#[derive(Clone, Copy)]
pub(crate) struct StockOutput<'a> {
    pub(crate) cubin: &'a [u8],
    /// ptxas's messages.
    pub(crate) messages: &'a str,
    /// Its CPU time.
    pub(crate) took: Duration,
}

/// The kernels of the unchanged file.
pub(super) struct AssembledStock<'a> {
    stock_output: StockOutput<'a>,
    kernels: BTreeMap<String, (PtxasReport, Sass)>,
    /// Bytes of code of each kernel.
    bytes: BTreeMap<String, usize>,
    code: OnceLock<Option<Code>>,
}

impl<'a> AssembledStock<'a> {
    /// Reads the output. `None` if the file lacks some figures, or if the tests do not cover the reading of such code.
    /// `is_verbose` states whether ptxas has printed figures.
    pub(super) fn of(stock_output: StockOutput<'a>, is_verbose: bool) -> Option<Self> {
        let StockOutput { cubin, messages, .. } = stock_output;
        let facts = cubin::facts(cubin).filter(|facts| facts.values().all(|facts| facts.is_kernel))?;
        if !machine_code::is_compared(cubin) {
            return None;
        }
        let reported =
            if is_verbose { ptxas::parse(messages) } else { ptxas::with_advice(reported::reported(cubin)?, messages) };
        let code = machine_code::read(cubin)?;
        let with_code =
            |(name, ptxas_report): (String, PtxasReport)| code.get(&name).map(|&sass| (name, (ptxas_report, sass)));
        let kernels = reported.into_iter().filter_map(with_code).collect();
        let bytes = facts.into_iter().map(|(name, facts)| (name, facts.bytes)).collect();
        Some(Self { stock_output, kernels, bytes, code: OnceLock::new() })
    }

    /// Returns the figures of a kernel as if it had been assembled by itself. Its time is a share of ptxas's time, in
    /// proportion to the bytes of its code.
    pub(super) fn judged(&self, kernel: &str) -> Option<Judgement> {
        let figures = *self.kernels.get(kernel)?;
        let in_all: usize = self.bytes.values().sum();
        let share = *self.bytes.get(kernel)? as f64 / in_all.max(1) as f64;
        let kernels = BTreeMap::from([(kernel.to_owned(), figures)]);
        Some(Judgement { kernels, took: self.stock_output.took.mul_f64(share), ..Judgement::default() })
    }

    /// Whether a kernel is known.
    pub(super) fn has(&self, kernel: &str) -> bool {
        self.kernels.contains_key(kernel)
    }

    /// Whether there is exactly one kernel.
    pub(super) fn has_one(&self) -> bool {
        self.kernels.len() == 1
    }

    /// Returns the figures of the whole file.
    pub(super) fn whole(&self) -> Judgement {
        Judgement { kernels: self.kernels.clone(), took: self.stock_output.took, ..Judgement::default() }
    }

    /// Returns the machine code, if this project's tables cover all of it.
    pub(super) fn code(&self) -> Option<&Code> {
        self.code.get_or_init(|| code_of(self.stock_output.cubin)).as_ref()
    }
}

/// Returns the machine code of a cubin, if this project's tables cover all of it.
pub(super) fn code_of(cubin: &[u8]) -> Option<Code> {
    let machine = Machine::new(&Cubin::read(cubin)?, Approximation::default(), || Err(())).ok()?;
    Some(Code { name: String::new(), machine, facts: cubin::facts(cubin)?, ptx: None })
}
