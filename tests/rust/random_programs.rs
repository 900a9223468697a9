//! ptxas accepts the PTX of random programs.
//!
//! Skipped if ptxas of CUDA 13 is missing (`scripts/setup.sh cuda` installs it), and with `PTXAS=skip` in the
//! environment. With `PTXAS=required`, as in a step of `make check`, a missing ptxas is a failure.

use std::fs;
use std::process::Command;

use nvptx_ra::fuzzing::ptxas::{Contents, program};

use super::cuda;

#[test]
fn ptxas_takes_random_programs() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let folder = tempfile::tempdir().expect("there is space");
    for seed in 1..=4 {
        let contents = Contents { kernels: 50, known_faults: seed % 2 == 0 };
        let path = folder.path().join(format!("{seed}.ptx"));
        fs::write(&path, program(seed, &contents).text).expect("the file can be written");
        let cubin = path.with_extension("cubin");
        let output =
            Command::new(bin.join("ptxas")).args(["-arch", "sm_90", "-O0", "-o"]).args([&cubin, &path]).output();
        let output = output.expect("ptxas starts");
        assert!(output.status.success(), "seed {seed}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
