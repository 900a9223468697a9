//! CUDA's programs, for tests that start them.

use std::env;
use std::path::{Path, PathBuf};

/// Returns the folder of CUDA's programs, from `CUDA_PATH` or `scripts/setup.sh cuda`. `None` if one of `names` is
/// missing, or with `PTXAS=skip` in the environment; the test is then skipped.
///
/// # Panics
/// If a program is missing and the environment has `PTXAS=required`.
pub(crate) fn programs(names: &[&str]) -> Option<PathBuf> {
    let wanted = env::var("PTXAS").unwrap_or_default();
    if wanted == "skip" {
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bin = env::var_os("CUDA_PATH").map_or_else(|| root.join("target/cuda"), PathBuf::from).join("bin");
    if let Some(missing) = names.iter().find(|name| !bin.join(name).exists()) {
        let message = format!("{missing} is missing; scripts/setup.sh cuda brings it");
        assert!(wanted != "required", "{message}");
        println!("skipped: {message}");
        return None;
    }
    Some(bin)
}
