//! The ptxas wrapper's settings. They are environment variables, because the wrapper's command line is ptxas's.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::logging::{self, Wanted};
use nvptx_ra::tune::objective::Effort;

use super::exclusions::{self, Exclusions};
use crate::dynamic_shared::DynamicShared;

/// The variables that change a search's result, except the number of runs.
pub(super) const OF_SEARCH: [&str; 3] =
    ["NVPTX_RA_MORE_INSTRUCTIONS", "NVPTX_RA_ALLOW_UNCOMPARED", "NVPTX_RA_DYNAMIC_SHARED"];

/// Destination of log lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    Nowhere,
    StandardError,
    /// Appended to a file.
    File(PathBuf),
}

/// The settings from the environment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// `NVPTX_RA_RUNS`: most runs of ptxas for each kernel, regardless of time. 0: ptxas alone. Unset by default.
    pub runs: Option<u32>,
    /// `NVPTX_RA_EFFORT`: CPU time that a search may use, as a multiple of ptxas's own. 0: ptxas alone.
    pub effort: f64,
    /// `NVPTX_RA_MORE_INSTRUCTIONS`: additional machine instructions, in per cent, that a variant with lower spill
    /// costs may have. 0 by default.
    pub more_instructions: u32,
    /// `NVPTX_RA_ALLOW_UNCOMPARED`: whether a variant may win without a proof and without a comparison with stock. This
    /// includes variants that only rename kernels. Off by default.
    pub allow_uncompared: bool,
    /// `NVPTX_RA_SECONDS`: the longest duration of a search. After it, the stock result stays. Unset by default.
    pub seconds: Option<Duration>,
    /// `NVPTX_RA_CHECK`: whether the machine code of each build is compared with its PTX. Off by default.
    pub check: bool,
    /// `NVPTX_RA_CACHE`: the folder of the cache; `None` if it is `off` or no folder is known.
    pub cache: Option<PathBuf>,
    /// `NVPTX_RA_LOG`.
    pub log: Log,
    /// The file and the processor, for log lines. Builds run concurrently, and for several processors.
    pub about: String,
    /// `NVPTX_RA_REPORT`: a file to which a JSON object is appended for each improved kernel, one on each line.
    pub report: Option<PathBuf>,
    /// `NVPTX_RA_PROFILE`: a folder with profiles of PTX modules.
    pub profiles: Option<PathBuf>,
    /// `NVPTX_RA_RECORD`: a folder for PTX modules that a later search can use, if the build itself does not search.
    pub record: Option<PathBuf>,
    /// `NVPTX_RA_UNCHANGED`: exclusions from search results.
    pub exclusions: Exclusions,
    /// `NVPTX_RA_DYNAMIC_SHARED`: bytes of shared memory that launches add, as `[KERNEL=]BYTES`, separated by commas.
    pub dynamic_shared: Vec<DynamicShared>,
}

impl Log {
    /// Returns the value of `NVPTX_RA_LOG`, even if other variables are invalid.
    pub(crate) fn of_environment() -> Self {
        Wanted::of_environment().into()
    }

    /// Returns the file of `NVPTX_RA_LOG`, even if other variables are invalid: compilers may hide the standard error.
    pub(crate) fn if_file() -> Self {
        Some(Self::of_environment()).filter(|log| matches!(log, Self::File(_))).unwrap_or(Self::Nowhere)
    }
}

impl Settings {
    /// Reads the environment. An error contains the variable, its value and the allowed values.
    pub(crate) fn read() -> Result<Self, Error> {
        Self::read_with(&|name| std::env::var_os(name))
    }

    /// Treats an empty variable as unset.
    pub(super) fn read_with(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, Error> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let runs = match given("NVPTX_RA_RUNS") {
            None => None,
            Some(value) => {
                let number = value.to_str().and_then(|value| value.parse().ok());
                Some(number.ok_or_else(|| wrong("NVPTX_RA_RUNS", &value, "a number of runs; 0 for ptxas alone"))?)
            }
        };
        let effort = match given("NVPTX_RA_EFFORT") {
            None => Effort::TIMES,
            Some(value) => {
                let number = value.to_str().and_then(|value| value.parse::<f64>().ok());
                let number = number.filter(|number| (0.0..=Effort::MOST_TIMES).contains(number));
                number.ok_or_else(|| {
                    wrong("NVPTX_RA_EFFORT", &value, "a multiple of ptxas's time, 0 to 1000; 0 for ptxas alone")
                })?
            }
        };
        let more_instructions = match given("NVPTX_RA_MORE_INSTRUCTIONS") {
            None => 0,
            Some(value) => {
                let number =
                    value.to_str().and_then(|value| value.parse().ok()).filter(|&percent: &u32| percent <= 100);
                number.ok_or_else(|| wrong("NVPTX_RA_MORE_INSTRUCTIONS", &value, "a percentage, 0 to 100"))?
            }
        };
        let allow_uncompared = match given("NVPTX_RA_ALLOW_UNCOMPARED") {
            None => false,
            Some(value) if value == "on" => true,
            Some(value) => return Err(wrong("NVPTX_RA_ALLOW_UNCOMPARED", &value, "on")),
        };
        let seconds = match given("NVPTX_RA_SECONDS") {
            None => None,
            Some(value) => {
                let number = value.to_str().and_then(|value| value.parse::<f64>().ok());
                let number = number.filter(|number| number.is_finite() && *number >= 0.0);
                let seconds = number.ok_or_else(|| wrong("NVPTX_RA_SECONDS", &value, "a number of seconds"))?;
                Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
            }
        };
        let check = match given("NVPTX_RA_CHECK") {
            None => false,
            Some(value) if value == "1" || value == "on" => true,
            Some(value) if value == "0" || value == "off" => false,
            Some(value) => return Err(wrong("NVPTX_RA_CHECK", &value, "1 or 0")),
        };
        let cache = cache(&given)?;
        let log = match given(logging::VARIABLE) {
            None => Log::Nowhere,
            Some(value) => {
                Wanted::read(&value).ok_or_else(|| wrong(logging::VARIABLE, &value, logging::ALLOWED))?.into()
            }
        };
        let report = given("NVPTX_RA_REPORT").map(PathBuf::from);
        let profiles = given("NVPTX_RA_PROFILE").map(PathBuf::from);
        let record = given("NVPTX_RA_RECORD").map(PathBuf::from);
        let exclusions = given(exclusions::VARIABLE).map_or_else(|| Ok(Exclusions::default()), Exclusions::read)?;
        let dynamic_shared = match given("NVPTX_RA_DYNAMIC_SHARED") {
            None => Vec::new(),
            Some(value) => {
                let all = value.to_str().map(|text| text.split(',').map(str::parse).collect::<Result<_, _>>());
                let all = all.and_then(Result::ok);
                all.ok_or_else(|| {
                    wrong("NVPTX_RA_DYNAMIC_SHARED", &value, "BYTES or KERNEL=BYTES, separated by commas")
                })?
            }
        };
        Ok(Self {
            runs,
            effort,
            more_instructions,
            allow_uncompared,
            seconds,
            check,
            cache,
            log,
            about: String::new(),
            report,
            profiles,
            record,
            exclusions,
            dynamic_shared,
        })
    }

    /// Returns whether ptxas runs as if the wrapper did not exist.
    pub(crate) fn wants_ptxas_alone(&self) -> bool {
        !self.searches() && self.record.is_none() && self.profiles.is_none() && !self.check
    }

    /// Writes a log line.
    pub(crate) fn note(&self, line: &str) {
        self.log.about(&self.about, line);
    }

    /// Returns whether a search may run.
    pub(crate) fn searches(&self) -> bool {
        self.runs.map_or(self.effort > 0.0, |runs| runs > 0)
    }

    /// Returns why no search runs.
    pub(crate) fn why_not(&self) -> &'static str {
        if self.runs == Some(0) { "NVPTX_RA_RUNS is 0" } else { "NVPTX_RA_EFFORT is 0" }
    }

    /// Formats the settings that can change a search's result. The cache's folder and the log are not among them.
    pub(crate) fn of_search(&self) -> String {
        format!("{} dynamic-shared={:?}", self.of_kernels(), self.dynamic_shared)
    }

    /// Formats the settings of [`Self::of_search`] without the settings that concern kernels by name.
    pub(crate) fn of_kernels(&self) -> String {
        let Self { more_instructions, allow_uncompared, seconds, .. } = self;
        let limits = self.runs.map_or_else(|| format!("effort={}", self.effort), |runs| format!("runs={runs}"));
        let uncompared = if *allow_uncompared { " allow-uncompared" } else { "" };
        format!("{limits} more-instructions={more_instructions} seconds={seconds:?}{uncompared}")
    }
}

impl From<Wanted> for Log {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::File(path) => Self::File(path),
            wanted if wanted.shows_decisions() => Self::StandardError,
            _ => Self::Nowhere,
        }
    }
}

/// Returns the folder of the cache; `None` if it is `off` or no folder is known.
pub(super) fn cache(given: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<PathBuf>, Error> {
    match given("NVPTX_RA_CACHE") {
        Some(value) if value == "off" => Ok(None),
        Some(value) => absolute("NVPTX_RA_CACHE", value).map(Some),
        None => {
            let home = given("HOME").map(|home| PathBuf::from(home).join(".cache"));
            let folder = given("XDG_CACHE_HOME").map(PathBuf::from).or(home);
            Ok(folder.filter(|folder| folder.is_absolute()).map(|folder| folder.join("nvptx-ra")))
        }
    }
}

/// Makes a path absolute, because compilers may start ptxas in another folder.
fn absolute(name: &str, value: OsString) -> Result<PathBuf, Error> {
    let path = PathBuf::from(&value);
    if path.is_absolute() { Ok(path) } else { Err(wrong(name, &value, "an absolute path, or 'off'")) }
}

fn wrong(name: &str, value: &OsStr, allowed: &str) -> Error {
    let problem = format!("{name} is '{}', and ptxas runs alone", value.to_string_lossy());
    Error::new(ErrorKind::Option, problem, format!("set it to {allowed}, or unset it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, String> {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Settings::read_with(&value).map_err(|error| error.to_string())
    }

    /// Without variables, the settings are the defaults; an empty variable counts as unset.
    #[test]
    fn defaults() {
        let none = read(&[]).expect("the defaults");
        let (log, dynamic_shared) = (Log::Nowhere, Vec::new());
        let expected = Settings {
            runs: None,
            effort: Effort::TIMES,
            more_instructions: 0,
            allow_uncompared: false,
            seconds: None,
            check: false,
            cache: None,
            log,
            about: String::new(),
            report: None,
            profiles: None,
            record: None,
            exclusions: Exclusions::default(),
            dynamic_shared,
        };
        assert_eq!(none, expected);
        assert_eq!(read(&[("NVPTX_RA_RUNS", ""), ("NVPTX_RA_CACHE", "")]), Ok(none));
        let cache = |variables: &[(&str, &str)]| read(variables).expect("settings").cache;
        assert_eq!(cache(&[("HOME", "/home/a")]), Some("/home/a/.cache/nvptx-ra".into()));
        assert_eq!(cache(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "/c")]), Some("/c/nvptx-ra".into()));
        assert_eq!(cache(&[("HOME", "/home/a"), ("NVPTX_RA_CACHE", "off")]), None);
    }

    #[test]
    fn values() {
        let all = read(&[
            ("NVPTX_RA_RUNS", "0"),
            ("NVPTX_RA_EFFORT", "2.5"),
            ("NVPTX_RA_MORE_INSTRUCTIONS", "2"),
            ("NVPTX_RA_ALLOW_UNCOMPARED", "on"),
            ("NVPTX_RA_SECONDS", "1.5"),
            ("NVPTX_RA_CHECK", "1"),
            ("NVPTX_RA_CACHE", "/var/cache/x"),
            ("NVPTX_RA_LOG", "/tmp/log.txt"),
            ("NVPTX_RA_REPORT", "r.jsonl"),
            ("NVPTX_RA_PROFILE", "profiles"),
            ("NVPTX_RA_RECORD", "records"),
            ("NVPTX_RA_DYNAMIC_SHARED", "1024,k=49152"),
        ]);
        let expected = Settings {
            runs: Some(0),
            effort: 2.5,
            more_instructions: 2,
            allow_uncompared: true,
            seconds: Some(Duration::from_millis(1500)),
            check: true,
            cache: Some("/var/cache/x".into()),
            log: Log::File("/tmp/log.txt".into()),
            about: String::new(),
            report: Some("r.jsonl".into()),
            profiles: Some("profiles".into()),
            record: Some("records".into()),
            exclusions: Exclusions::default(),
            dynamic_shared: vec!["1024".parse().expect("bytes"), "k=49152".parse().expect("bytes")],
        };
        assert_eq!(all, Ok(expected));
        let check = |value: &str| read(&[("NVPTX_RA_CHECK", value)]).expect("a switch").check;
        assert_eq!(["on", "off", "0"].map(check), [true, false, false]);
        let log = |value: &str| read(&[("NVPTX_RA_LOG", value)]).expect("a filter").log;
        assert_eq!(log("info"), Log::StandardError);
        assert_eq!(log("./log"), Log::File("./log".into()));
        for filter in ["off", "warn", "nvptx_ra::coalesce=trace"] {
            assert_eq!(log(filter), Log::Nowhere, "{filter}");
        }
    }

    /// An error for a wrong value contains the allowed values.
    #[test]
    fn errors() {
        for (name, value, allowed) in [
            ("NVPTX_RA_RUNS", "many", "a number of runs; 0 for ptxas alone"),
            ("NVPTX_RA_RUNS", "-1", "a number of runs; 0 for ptxas alone"),
            ("NVPTX_RA_EFFORT", "-1", "a multiple of ptxas's time, 0 to 1000; 0 for ptxas alone"),
            ("NVPTX_RA_EFFORT", "inf", "a multiple of ptxas's time, 0 to 1000; 0 for ptxas alone"),
            ("NVPTX_RA_MORE_INSTRUCTIONS", "101", "a percentage, 0 to 100"),
            ("NVPTX_RA_ALLOW_UNCOMPARED", "1", "on"),
            ("NVPTX_RA_SECONDS", "nan", "a number of seconds"),
            ("NVPTX_RA_CHECK", "yes", "1 or 0"),
            ("NVPTX_RA_DYNAMIC_SHARED", "much", "BYTES or KERNEL=BYTES, separated by commas"),
            ("NVPTX_RA_CACHE", "here", "an absolute path, or 'off'"),
            ("NVPTX_RA_LOG", "log.txt", logging::ALLOWED),
        ] {
            let expected =
                format!("nvptx-ra: {name} is '{value}', and ptxas runs alone; set it to {allowed}, or unset it");
            assert_eq!(read(&[(name, value)]), Err(expected));
        }
    }
}
