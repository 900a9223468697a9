//! `NVPTX_RA=off` turns off the plugin and the programs that take other programs' places. Every other value is ignored.

/// The environment variable.
pub const VARIABLE: &str = "NVPTX_RA";

/// The value that turns the project off.
pub const OFF: &str = "off";

/// The end of warnings.
pub const NOTE: &str = "NVPTX_RA=off turns nvptx-ra off";

/// Whether the environment turns the project off.
pub fn is_off() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == OFF)
}
