//! CUDA's programs, for tests that ask them.

use std::env;
use std::path::{Path, PathBuf};

/// The folder of CUDA's programs, those of `CUDA_PATH` or of `scripts/setup.sh cuda`; `None`, so that the test is skipped,
/// where one of `names` is not there or with `PTXAS=skip` in the environment.
///
/// # Panics
/// Where one is not there and the environment has `PTXAS=required`.
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
