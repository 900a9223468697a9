//! Compares decoded machine code with the output of NVIDIA's programs: `cuobjdump -sass`, and `ptxas -v`. Skipped if
//! they are not installed, or with `PTXAS=skip` in the environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nvptx_ra::tune::ptxas_output::PtxasReport;

use super::{listing, machine_code, reported};
use crate::ptxas;
use crate::ptxas_wrapper::cuda;

/// Processors, and the PTX version that supports them.
const PROCESSORS: [(u32, &str); 5] = [(75, "8.0"), (80, "8.0"), (90, "8.0"), (100, "8.7"), (120, "8.7")];

/// Processors tested with other releases than the development version. The list is short, because each start of the
/// disassembler takes half a second.
const OF_OTHERS: [u32; 2] = [90, 120];

/// PTX files with loops, jump tables, arrays, shared memory and many live values.
const TEXTS: [&str; 4] = [
    "tests/ptx/smith_waterman.ptx",
    "tests/ptx/unrolled_array.ptx",
    "tests/ptx/kernels/scan.ptx",
    "tests/ptx/compared/shuffled_struct.ptx",
];

/// The second set of options leaves the kernels few registers, so that they spill.
const OPTIONS: [&[&str]; 2] = [&[], &["-maxrregcount=24"]];

/// Returns the installed toolkits: the development version, and the oldest and the newest release for which builds use
/// decoded figures.
fn folders() -> Vec<PathBuf> {
    let doors = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/doors");
    let others = ["triton-3.5.1/triton/backends/nvidia/bin", "cuda-13.5/nvidia/cu13/bin"].map(|name| doors.join(name));
    let is_there = |bin: &PathBuf| bin.join("ptxas").is_file();
    let development = cuda::programs(&["ptxas", "cuobjdump"]);
    let others = others.into_iter().filter(|bin| development.is_some() && is_there(bin));
    development.clone().into_iter().chain(others).collect()
}

/// Adapts a PTX file to another processor, if the processor supports it.
fn for_processor(text: &str, processor: u32, release: &str) -> String {
    let lines = text.lines().map(|line| match line.split_whitespace().next() {
        Some(".version") => format!(".version {release}"),
        Some(".target") => format!(".target sm_{processor}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Instructions are decoded as the disassembler prints them, and figures equal those of `ptxas -v`. If spilled bytes
/// differ, `-v` reports fewer bytes.
#[test]
fn what_is_read_is_what_nvidias_programs_say() {
    let folders = folders();
    let folder = tempfile::tempdir().expect("there is space");
    let (ptx, cubin) = (folder.path().join("a.ptx"), folder.path().join("a.cubin"));
    let (mut kernels, mut spilled, mut same) = (0, 0, 0);
    let is_asked = |bin: &PathBuf, processor| *bin == folders[0] || OF_OTHERS.contains(&processor);
    let cases = folders.iter().flat_map(|bin| PROCESSORS.map(|processor| (bin, processor)));
    let cases = cases.filter(|&(bin, (processor, _))| is_asked(bin, processor)).flat_map(|(bin, processor)| {
        TEXTS.into_iter().flat_map(move |text| OPTIONS.map(|options| (bin, processor, text, options)))
    });
    for (bin, (processor, release), text, options) in cases {
        let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(text)).expect("a text");
        fs::write(&ptx, for_processor(&source, processor, release)).expect("there is space");
        let mut ptxas = Command::new(bin.join("ptxas"));
        ptxas.arg("-v").arg(format!("-arch=sm_{processor}")).args(options).arg(&ptx).arg("-o").arg(&cubin);
        let done = ptxas.output().expect("it starts");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let place = format!("{text} for sm_{processor} by {} {options:?}", bin.display());
        assert!(done.status.success(), "{place}: {said}");
        let bytes = fs::read(&cubin).expect("a cubin");
        assert!(machine_code::is_compared(&bytes), "{place}");
        let done = Command::new(bin.join("cuobjdump")).arg("-sass").arg(&cubin).output().expect("it starts");
        let read = machine_code::read(&bytes).expect("a cubin");
        assert_eq!(read, listing::read(&String::from_utf8_lossy(&done.stdout)), "{place}");
        let printed = ptxas::parse(&said);
        let reported = reported::reported(&bytes).unwrap_or_else(|| panic!("{place}: no figures"));
        assert!(reported.keys().eq(printed.keys()), "{place}");
        for (name, ptxas_report) in &reported {
            let printed = printed[name];
            let bytes = |ptxas_report: &PtxasReport| [ptxas_report.spill_store_bytes, ptxas_report.spill_load_bytes];
            let [spill_store_bytes, spill_load_bytes] = bytes(ptxas_report);
            assert_eq!(
                *ptxas_report,
                PtxasReport { spill_store_bytes, spill_load_bytes, ..printed },
                "{place}: {name}"
            );
            assert!(
                bytes(ptxas_report).iter().zip(bytes(&printed)).all(|(read, said)| *read >= said),
                "{place}: {name}"
            );
            kernels += 1;
            spilled += u32::from(bytes(ptxas_report) != [0; 2]);
            same += u32::from(bytes(ptxas_report) == bytes(&printed));
        }
    }
    assert!(folders.is_empty() || kernels > 30 && spilled > 5, "{kernels} kernels, of which {spilled} spill");
    assert!(same * 20 >= kernels * 19, "{same} of {kernels}");
}
