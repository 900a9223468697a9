//! The meaning of a ptxas invocation, as far as a search needs it.
//!
//! The arguments are kept exactly as they were given, for the run on the stock PTX.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::argument_parser::{self, ArgumentSources, ParsedArgument, UnreadableArguments};
use super::options::{self, Class, Meaning, Row};

/// The file that ptxas writes by default.
const DEFAULT_OUTPUT: &str = "elf.o";

/// Source of a PTX module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf),
    StandardInput,
    /// The argument of `--input-as-string`.
    Argument,
}

/// One PTX module. ptxas links several into one cubin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub source: Source,
    /// Its bytes. Files and the standard input are read by [`super::inputs::read`].
    pub text: Vec<u8>,
}

impl Input {
    /// Returns the module's name in ptxas's messages.
    pub(crate) fn name(&self) -> String {
        match &self.source {
            Source::File(path) => path.to_string_lossy().into_owned(),
            Source::StandardInput | Source::Argument => "-".into(),
        }
    }
}

/// Bounds that options set for all kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// `--maxrregcount`.
    pub registers: Option<u32>,
    /// `--maxntid`.
    pub threads: Vec<u32>,
    /// `--minnctapersm`.
    pub blocks: Option<u32>,
    /// `--override-directive-values`: the bounds also replace kernels' own directives.
    pub override_directives: bool,
}

/// What this program does for an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// ptxas assembles the stock PTX; then kernels are searched.
    Search,
    /// ptxas prints its version.
    Version,
    /// ptxas runs alone, for this reason.
    PassThrough(String),
}

/// An invocation of ptxas.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// The arguments as they were given, without the program's name. They are passed on verbatim.
    pub arguments: Vec<OsString>,
    /// The PTX modules, in the order of the arguments.
    pub inputs: Vec<Input>,
    pub output: PathBuf,
    /// The processor, for example `sm_90`; `None` for this ptxas's default.
    pub processor: Option<String>,
    /// The optimisation level: 2 or more if kernels are searched.
    pub level: u32,
    /// `--compile-only`: the output is linked later, with other objects.
    pub is_relocatable: bool,
    /// The kernels to compile; if empty, all kernels.
    pub entries: Vec<String>,
    pub bounds: Bounds,
    /// `--register-usage-level`, if given.
    pub register_usage: Option<u32>,
    /// `--split-compile`, if given: the number of threads of one ptxas.
    pub split_compile: Option<u32>,
    /// `--jobserver`: ptxas uses make's jobserver.
    pub jobserver: bool,
    /// `--verbose`: ptxas prints figures of kernels.
    pub verbose: bool,
    pub warnings_as_errors: bool,
    pub no_warnings: bool,
    /// `--warn-on-spills`.
    pub warn_on_spills: bool,
    /// `--warn-on-local-memory-usage`.
    pub warn_on_local_memory: bool,
    /// The arguments with which another PTX module is assembled like this one: all options, also from options files,
    /// without inputs, output and `--verbose`. ptxas writes its options into the cubin as a note, so runs on other
    /// modules get `--verbose` exactly if the invocation has it.
    pub options: Vec<String>,
    /// The same options except those that select kernels: a kernel is judged in a module of its own.
    pub options_of_one_kernel: Vec<String>,
    /// Options that concern one run of ptxas, such as a trace of times. Only the run on the stock PTX gets these
    /// options.
    pub options_of_one_run: Vec<String>,
    /// Other files that ptxas reads. Their contents affect the result like the options.
    pub files: Vec<PathBuf>,
    pub action: Action,
}

impl Invocation {
    /// Parses arguments. Arguments that are not understood completely pass through. `takes_value` returns whether ptxas
    /// takes a value for an option that is in no table, and `None` if ptxas does not know the option.
    pub(crate) fn read(arguments: Vec<OsString>, takes_value: &dyn Fn(&str) -> Option<bool>) -> Self {
        let open = |path: &Path| std::fs::read(path);
        let exists = |name: &str| Path::new(name).exists();
        Self::read_with(arguments, ArgumentSources { open: &open, exists: &exists, takes_value })
    }

    fn read_with(arguments: Vec<OsString>, sources: ArgumentSources<'_>) -> Self {
        let mut invocation = Self {
            arguments,
            inputs: Vec::new(),
            output: DEFAULT_OUTPUT.into(),
            processor: None,
            level: 3,
            is_relocatable: false,
            entries: Vec::new(),
            bounds: Bounds::default(),
            register_usage: None,
            split_compile: None,
            jobserver: false,
            verbose: false,
            warnings_as_errors: false,
            no_warnings: false,
            warn_on_spills: false,
            warn_on_local_memory: false,
            options: Vec::new(),
            options_of_one_kernel: Vec::new(),
            options_of_one_run: Vec::new(),
            files: Vec::new(),
            action: Action::Search,
        };
        if let Err(UnreadableArguments(reason)) = invocation.understand(sources) {
            invocation.action = Action::PassThrough(reason);
        }
        invocation
    }

    fn understand(&mut self, sources: ArgumentSources<'_>) -> Result<(), UnreadableArguments> {
        let text = |argument: &OsString| argument.to_str().map(str::to_owned);
        let arguments: Option<Vec<String>> = self.arguments.iter().map(text).collect();
        let arguments = arguments.ok_or_else(|| UnreadableArguments("an argument is not UTF-8".into()))?;
        let names_files = |row: &Row| row.class == Class::SearchWith(Meaning::OptionFile);
        let words = argument_parser::expand(argument_parser::read(&arguments, sources)?, &names_files, sources, 0)?;
        let mut alone = None;
        for word in words {
            let (row, value, spelling) = match word {
                ParsedArgument::Input(name) => {
                    self.inputs.push(Input { source: source(&name), text: Vec::new() });
                    continue;
                }
                ParsedArgument::Unknown { name, value, spelling } => {
                    if let Err(reason) = options::unknown(&name, value.as_deref(), sources.exists) {
                        alone.get_or_insert_with(|| UnreadableArguments(format!("{name}: {reason}")));
                    }
                    self.options_of_one_kernel.extend(spelling.iter().cloned());
                    self.options.extend(spelling);
                    continue;
                }
                ParsedArgument::Option { row, value, spelling } => (row, value.unwrap_or_default(), spelling),
            };
            let mut because = |reason: &str| {
                alone.get_or_insert_with(|| UnreadableArguments(format!("--{}: {reason}", row.long)));
            };
            match row.class {
                Class::Search => {}
                Class::PassThrough(reason) => because(reason),
                Class::PassThroughUnless(idle, reason) if value != idle => because(reason),
                Class::PassThroughUnless(..) => {}
                Class::OfOneRun => {
                    self.options_of_one_run.extend(spelling);
                    continue;
                }
                Class::SearchWith(Meaning::Text) => {
                    self.inputs.push(Input { source: Source::Argument, text: value.into_bytes() });
                    continue;
                }
                Class::SearchWith(meaning) => {
                    if let Err(UnreadableArguments(reason)) = self.note(meaning, &value) {
                        because(&reason);
                    }
                    if matches!(meaning, Meaning::Output | Meaning::Verbose) {
                        continue;
                    }
                }
            }
            if row.class != Class::SearchWith(Meaning::Entries) {
                self.options_of_one_kernel.extend(spelling.iter().cloned());
            }
            self.options.extend(spelling);
        }
        let asks_for_help =
            |reason: &UnreadableArguments| ["--help:", "--list"].iter().any(|start| reason.0.starts_with(start));
        if self.action == Action::Version && !alone.as_ref().is_some_and(asks_for_help) {
            return Ok(());
        }
        alone.map_or(Ok(()), Err)?;
        if self.inputs.is_empty() {
            return Err(UnreadableArguments("there is no input".into()));
        }
        let count = |source: &Source| self.inputs.iter().filter(|input| input.source == *source).count();
        if count(&Source::StandardInput) > 1 {
            return Err(UnreadableArguments("the standard input can only be read once".into()));
        }
        if ![0, self.inputs.len()].contains(&count(&Source::Argument)) {
            return Err(UnreadableArguments("inputs are both files and strings".into()));
        }
        Ok(())
    }

    /// Returns the PTX file and the processor, for log lines; empty if there is no input.
    pub(crate) fn about(&self) -> String {
        let Some(first) = self.inputs.first() else { return String::new() };
        let name = first.name();
        let others = match self.inputs.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let processor = self.processor.iter().map(|processor| format!(" for {processor}"));
        format!("{name}{others}{}", processor.collect::<String>())
    }

    /// Stores an option's meaning. If an option is repeated, ptxas takes the last value, except for names of kernels.
    fn note(&mut self, meaning: Meaning, value: &str) -> Result<(), UnreadableArguments> {
        match meaning {
            Meaning::Blocks => self.bounds.blocks = Some(number(value)?),
            Meaning::Entries => {
                let names = argument_parser::list(value)?;
                if names.is_empty() {
                    return Err(UnreadableArguments("it names no kernel".into()));
                }
                self.entries.extend(names);
            }
            Meaning::File => self.files.push(value.into()),
            Meaning::Jobserver => self.jobserver = true,
            Meaning::Level => {
                self.level = number(value)?;
                if self.level < 2 {
                    return Err(UnreadableArguments("the optimisation level is below 2".into()));
                }
            }
            Meaning::LocalMemoryWarnings => self.warn_on_local_memory = true,
            Meaning::NoWarnings => self.no_warnings = true,
            Meaning::Output => self.output = value.into(),
            Meaning::OverridesDirectives => self.bounds.override_directives = true,
            Meaning::Processor => {
                if !value.starts_with("sm_") {
                    return Err(UnreadableArguments("no machine code is made".into()));
                }
                self.processor = Some(value.to_owned());
            }
            Meaning::Relocatable => self.is_relocatable = true,
            Meaning::RegisterLimit => self.bounds.registers = Some(number(value)?),
            Meaning::RegisterUsage => self.register_usage = Some(number(value)?),
            Meaning::SpillWarnings => self.warn_on_spills = true,
            Meaning::SplitCompile => self.split_compile = Some(number(value)?),
            Meaning::Threads => {
                if !self.bounds.threads.is_empty() {
                    return Err(UnreadableArguments("it is given twice".into()));
                }
                self.bounds.threads =
                    argument_parser::list(value)?.iter().map(|part| number(part)).collect::<Result<_, _>>()?;
            }
            Meaning::Verbose => self.verbose = true,
            Meaning::Version => self.action = Action::Version,
            Meaning::WarningsAsErrors => self.warnings_as_errors = true,
            // These two options were handled before.
            Meaning::OptionFile | Meaning::Text => {}
        }
        Ok(())
    }
}

fn source(name: &str) -> Source {
    if name == "-" { Source::StandardInput } else { Source::File(name.into()) }
}

/// Parses a decimal number. ptxas accepts other values, too, such as `0x20` and `archmax`.
fn number(value: &str) -> Result<u32, UnreadableArguments> {
    let is_plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    value
        .parse()
        .ok()
        .filter(|_| is_plain)
        .ok_or_else(|| UnreadableArguments(format!("the value '{value}' is not a decimal number")))
}

#[cfg(test)]
mod tests;
