//! This tool in the place of ptxas.

pub(crate) mod cache;
#[cfg(test)]
mod child_tests;
pub(crate) mod launch_note;
pub(crate) mod limit;
mod private_folder;
