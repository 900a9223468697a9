//! Functions that no file of a program defines.

/// Functions that the driver or the device runtime defines, so that any file may declare them. `assert`, `free`,
/// `malloc` and `printf` call them.
pub const SYSTEM_FUNCTIONS: [&str; 4] = ["__assertfail", "free", "malloc", "vprintf"];
