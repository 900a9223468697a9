//! `NVPTX_RA=off` turns off the plugin, the ptxas wrapper and the Python package. Every other value is ignored.

/// The environment variable.
pub const VARIABLE: &str = "NVPTX_RA";

/// The value that turns the project off.
pub const OFF: &str = "off";

/// Text at the end of warnings.
pub const NOTE: &str = "NVPTX_RA=off turns nvptx-ra off";

/// Whether the environment turns the project off.
pub fn is_off() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == OFF)
}
