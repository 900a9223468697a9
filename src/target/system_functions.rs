//! Functions that no file of a program defines.

/// Functions that the driver or the device runtime defines, so that any file may declare them. Code with `assert`,
/// `free`, `malloc` or `printf` calls them.
pub const SYSTEM_FUNCTIONS: [&str; 4] = ["__assertfail", "free", "malloc", "vprintf"];
