//! Logging, the same in the plugin, the tool and the program in ptxas's place: a line for what each pass has done to a function at
//! the level `debug`, and for each of its decisions at `trace`.

use std::sync::Once;

/// The environment variable that says what is logged: `debug`, `nvptx_ra::passes=trace` …
const VARIABLE: &str = "NVPTX_RA_LOG";

/// Sends what [`VARIABLE`] asks for to standard error; nothing unless it is set. Later calls do nothing, and neither
/// does the first where the program has a logger already. A path in the variable is for the program in ptxas's place,
/// which a compiler with the plugin may start.
pub fn start() {
    if std::env::var_os(VARIABLE).is_some_and(|value| value.as_encoded_bytes().contains(&b'/')) {
        return;
    }
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let environment = env_logger::Env::new().filter_or(VARIABLE, "off");
        // An error means that the program which loaded the plugin logs already: then its choices hold.
        let _ = env_logger::Builder::from_env(environment).format_timestamp(None).try_init();
    });
}
