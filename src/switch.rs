//! `NVPTX_RA=off`: the plugin and the programs in other programs' places do nothing. Every other value is somebody else's.

/// The variable of the environment.
pub const VARIABLE: &str = "NVPTX_RA";

/// Its value that counts.
pub const OFF: &str = "off";

/// What warnings end with.
pub const NOTE: &str = "NVPTX_RA=off turns nvptx-ra off";

/// Whether the environment says so.
pub fn is_off() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == OFF)
}
