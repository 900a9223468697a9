//! The results of both ptxas for a PTX file.

use std::path::Path;

use nvptx_ra::error::Error;
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::ptx::Module;
use nvptx_ra::target::machine::Architecture;
use nvptx_ra::tune::predicted::Predicted;
use nvptx_ra::tune::price::Work;

use super::Arguments;
use super::build::Built;
use super::kernel::{Kernel, Side};
use super::toolchain::Toolchain;
use crate::meaning::{self, Meaning, Text};
use crate::ptx_version::{PtxVersion, known_version, of_version};
use crate::tune::agreement::{ComparisonBound, ComparisonSettings};
use crate::tune::predict;
use crate::{dynamic_shared, input, kernel_names};

/// Work for each step that a comparison may execute. It bounds a prediction's work.
const WORK_OF_A_STEP: u64 = 1;

/// The results of both ptxas for a file.
pub(super) struct FilePair {
    /// The file's name in messages.
    pub(super) file: String,
    /// The names of all kernels in the file.
    pub(super) names: Vec<String>,
    /// The wanted kernels that both ptxas can assemble.
    pub(super) kernels: Vec<Kernel>,
    /// The PTX version that both ptxas got instead of the file's own version, because one ptxas does not support the
    /// latter.
    pub(super) version: Option<PtxVersion>,
    /// Reasons why a ptxas fails on the file.
    pub(super) failures: [Option<String>; 2],
    /// Kernels that this project cannot parse, each with a reason.
    pub(super) unread: Vec<String>,
}

impl FilePair {
    /// Returns whether only the new ptxas fails.
    pub(super) fn is_refused(&self) -> bool {
        self.failures[0].is_none() && self.failures[1].is_some()
    }
}

/// Assembles a file with both ptxas, and compares its kernels.
pub(super) fn of(toolchains: &[Toolchain; 2], path: &Path, arguments: &Arguments) -> Result<FilePair, Error> {
    let text = input::read(path, "diff-ptxas", &[InputKind::Ptx, InputKind::Text])?;
    let file = input::name(path);
    let module = Module::read(&file, &text)?;
    let cpu = arguments.cpu.as_deref().unwrap_or(module.target());
    let architecture = Architecture::by_name(cpu)?;
    let own = Text::of(&module);
    let program = &own.program;
    let names: Vec<String> = program.kernels().map(str::to_owned).collect();
    let is_wanted = |name: &str| kernel_names::is_wanted(&arguments.kernels, name);
    let unread = program.unread().iter().filter(|unread| unread.word == ".entry" && is_wanted(&unread.name));
    let mut pair = FilePair {
        unread: unread.map(ToString::to_string).collect(),
        names,
        file: file.clone(),
        kernels: Vec::new(),
        version: None,
        failures: [None, None],
    };
    if !pair.names.iter().any(|name| is_wanted(name)) {
        return Ok(pair);
    }
    let build = |text: &[u8]| {
        let of = |toolchain| Built::new(toolchain, (&file, text), program, cpu, &arguments.options);
        toolchains.each_ref().map(of)
    };
    let mut built = build(&text);
    pair.version = built.iter().filter_map(|built| known_version(built.as_ref().err()?)).min();
    if let Some(version) = pair.version {
        built = build(&of_version(&text, version));
    }
    let built = match built {
        [Ok(old), Ok(new)] => [old, new],
        failed => {
            pair.failures = failed.map(Result::err);
            return Ok(pair);
        }
    };
    let said = dynamic_shared::all_said(path, &arguments.dynamic_shared);
    let fuses = meaning::fuses(&[&arguments.options]);
    let compared = Compared { text: &own, fuses, built: &built, architecture, steps: arguments.steps, ptx: text.len() };
    for body in module.kernels() {
        let name = body.name(module.file());
        if is_wanted(name) {
            let (line, _) = module.file().text().place(module.file().text().start(body.parts.name));
            let dynamic_shared = dynamic_shared::bytes_of(&said, name).unwrap_or(0);
            pair.kernels.push(compared.kernel(name, line as u32, dynamic_shared));
        }
    }
    Ok(pair)
}

/// A file that both ptxas have assembled.
struct Compared<'a> {
    text: &'a Text,
    /// Whether ptxas may fuse products and sums.
    fuses: bool,
    built: &'a [Built; 2],
    architecture: &'a Architecture,
    steps: u64,
    /// Size of the PTX in bytes.
    ptx: usize,
}

impl Compared<'_> {
    fn kernel(&self, name: &str, line: u32, dynamic_shared: u32) -> Kernel {
        let [old, new] = self.built;
        let is_same_code = old.bytes(name).is_some() && old.bytes(name) == new.bytes(name);
        let of_old = self.meaning(old, name, dynamic_shared);
        // The same instructions have the same meaning.
        let of_new = if is_same_code { of_old.clone() } else { self.meaning(new, name, dynamic_shared) };
        let side =
            |built: &Built, meaning| Side { figures: built.figures(name, self.architecture, dynamic_shared), meaning };
        Kernel {
            name: name.to_owned(),
            line,
            sides: [side(old, of_old), side(new, of_new)],
            time: if is_same_code { None } else { self.time(name, dynamic_shared) },
            is_same_code,
        }
    }

    fn meaning(&self, built: &Built, name: &str, dynamic_shared: u32) -> Meaning {
        if self.steps == 0 {
            return Meaning::NotComparable("--steps 0 runs nothing".into());
        }
        let code = match &built.code {
            Ok(code) => code,
            Err(reason) => return Meaning::NotComparable(format!("the machine code: {reason}")),
        };
        let mut launches = meaning::launches(self.steps);
        if dynamic_shared > 0 {
            launches.dynamic_shared = dynamic_shared;
        }
        let code = meaning::Code { machine: &code.machine, cubin: &built.cubin, fuses: self.fuses };
        let compared = self.text.checked(name, &launches).compare(code);
        compared.map_or_else(|error| Meaning::NotComparable(error.problem), |compared| compared.meaning)
    }

    fn time(&self, name: &str, dynamic_shared: u32) -> Option<Predicted> {
        let bound = ComparisonBound::Work(Work(self.steps * WORK_OF_A_STEP));
        let settings =
            ComparisonSettings { dynamic_shared: Some(dynamic_shared), bound, ..ComparisonSettings::default() };
        let [Ok(old), Ok(new)] = self.built.each_ref().map(|built| built.code.as_ref()) else { return None };
        let old = predict::of_stock(old, name, self.ptx, settings)?;
        predict::beside(&old, new, name)
    }
}
