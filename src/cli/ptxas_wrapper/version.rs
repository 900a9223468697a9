//! `--version`: prints ptxas's output and a line of this program. Compiler caches whose keys contain this output then
//! distinguish the results.

use std::process::{ExitCode, Stdio};

use nvptx_ra::error::Error;

use super::deliver;
use super::invocation::Invocation;
use super::real_ptxas::RealPtxas;
use super::settings::Settings;
use crate::ptxas_run::crash;

/// Part of every version output of ptxas. Other output, such as help, does not get the line.
const MARK: &[u8] = b", release ";

/// Runs ptxas and adds the line.
pub(super) fn print(invocation: &Invocation, settings: &Settings, ptxas: &RealPtxas) -> Result<ExitCode, Error> {
    let problem = |error: std::io::Error| Error::file(&ptxas.path, &error);
    let mut command = ptxas.command();
    let done = command.args(&invocation.arguments).stdin(Stdio::inherit()).output().map_err(problem)?;
    crash("ptxas", done.status).iter().for_each(|crash| settings.note(crash));
    let mut text = done.stdout;
    if done.status.success() && text.windows(MARK.len()).any(|window| window == MARK) {
        text.extend_from_slice(line(settings).as_bytes());
    }
    deliver::say(&text, &done.stderr);
    Ok(deliver::end_as(done.status))
}

/// Formats the line. It must not contain `release 13.0` or `V13.0.88`, because programs search the output for the first
/// of each.
fn line(settings: &Settings) -> String {
    format!("nvptx-ra {}, settings {:016x}\n", nvptx_ra::VERSION, hash(settings))
}

/// Returns a hash of the settings that can change the delivered code.
fn hash(settings: &Settings) -> u64 {
    let mut text = format!("{} profiles={:?}", settings.of_search(), settings.profiles);
    if !settings.exclusions.is_empty() {
        text += &format!(" left-out={}", settings.exclusions.as_text());
    }
    // FNV-1a, because the standard library's hash may change with its version.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::ptxas_wrapper::exclusions::Exclusions;
    use crate::ptxas_wrapper::settings::Log;

    /// The line changes with the settings that can change a result, and with no other settings.
    #[test]
    fn settings_in_the_line() {
        let plain = Settings {
            runs: Some(8),
            effort: 4.0,
            more_instructions: 0,
            allow_uncompared: false,
            seconds: None,
            check: false,
            cache: None,
            log: Log::Nowhere,
            about: String::new(),
            report: None,
            profiles: None,
            record: None,
            exclusions: Exclusions::default(),
            dynamic_shared: Vec::new(),
        };
        let first = line(&plain);
        assert!(first.starts_with(&format!("nvptx-ra {}, settings ", nvptx_ra::VERSION)) && first.ends_with('\n'));
        assert!(!first.contains("release") && !first.contains('V'), "{first}");
        let cache = Some(PathBuf::from("/c"));
        assert_eq!(line(&Settings { cache, log: Log::StandardError, ..plain.clone() }), first);
        let profiles = Some(PathBuf::from("/p"));
        let seconds = Some(Duration::from_secs(1));
        let dynamic_shared = vec!["1024".parse().expect("bytes")];
        let mut lines = vec![
            first,
            line(&Settings { profiles, ..plain.clone() }),
            line(&Settings { runs: Some(9), ..plain.clone() }),
            line(&Settings { runs: None, ..plain.clone() }),
            line(&Settings { runs: None, effort: 8.0, ..plain.clone() }),
            line(&Settings { more_instructions: 1, ..plain.clone() }),
            line(&Settings { dynamic_shared, ..plain.clone() }),
            line(&Settings { exclusions: Exclusions::read("k".into()).expect("a name"), ..plain.clone() }),
            line(&Settings { seconds, ..plain }),
        ];
        lines.sort();
        lines.dedup();
        assert_eq!(lines.len(), 9);
    }
}
