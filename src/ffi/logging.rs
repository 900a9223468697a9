//! Logging, the same in the plugin and the tool.

use std::sync::Once;

/// The environment variable that says what is logged: `debug`, `nvptx_ra::coalesce=trace` …
const VARIABLE: &str = "NVPTX_RA_LOG";

/// Sends what [`VARIABLE`] asks for to standard error; nothing unless it is set. Later calls do nothing, and neither
/// does the first where the program has a logger already.
pub fn start_logging() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let environment = env_logger::Env::new().filter_or(VARIABLE, "off");
        // An error means that the program which loaded the plugin logs already: then its choices hold.
        let _ = env_logger::Builder::from_env(environment).format_timestamp(None).try_init();
    });
}
