//! ptxas's code of some kernels depends on the kernel's name. Another name is a variant if the developer allows it. The
//! output never contains the other name.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::doors::installed;
use super::outcome::TOOL;
use crate::cuda;

/// Returns a loop with many constants. With one kernel name, ptxas keeps the constants in registers. With another name,
/// ptxas rematerialises the constants in each iteration.
fn text(name: &str) -> String {
    let mut text = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry {name}(.param .u64 {name}_param_0)\n.maxntid 256\n{{\n\
        \t.reg .pred %p<3>;\n\t.reg .f64 %f<60>;\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<3>;\n\
        \tld.param.u64 %rd1, [{name}_param_0];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 8;\n\
        \tadd.s64 %rd1, %rd1, %rd2;\n\tmov.u32 %r2, 0;\nL:\n\tld.global.f64 %f1, [%rd1];\n\
        \tsetp.lt.f64 %p1, %f1, 0d3FF0000000000000;\n\t@%p1 bra E;\n\tmov.f64 %f2, 0d3FF0000000000000;\n"
    );
    // Writing to a string cannot fail.
    for number in 0..40 {
        let [sum, product] = [number + 3, number + 2];
        _ = writeln!(text, "\tfma.rn.f64 %f{sum}, %f{product}, %f1, 0d3F{number:02X}123456789ABC;");
    }
    text + "\tst.global.f64 [%rd1], %f42;\nE:\n\tadd.s64 %rd1, %rd1, 2048;\n\tadd.s32 %r2, %r2, 1;\n\
        \tsetp.lt.u32 %p2, %r2, %r1;\n\t@%p2 bra L;\n\tret;\n}\n"
}

/// Returns all installed versions of ptxas: the development version and the newest one.
fn programs() -> Vec<PathBuf> {
    let newest = installed("cuda-").pop().map(|folder| folder.join("nvidia/cu13/bin/ptxas"));
    let development = cuda::programs(&["ptxas"]).map(|bin| bin.join("ptxas"));
    development.into_iter().chain(newest.filter(|path| path.is_file())).collect()
}

/// Runs the tool on `k.ptx` with options. Returns the log and the messages.
fn run(folder: &Path, ptxas: &Path, options: &[&str], allowed: &str) -> String {
    let mut command = Command::new(TOOL);
    command.arg("ptxas").args(options).args(["-arch=sm_90", "k.ptx", "-o", "k.cubin"]).current_dir(folder);
    for name in ["SECONDS", "REPORT", "PROFILE", "DYNAMIC_SHARED", "CALLERS", "MORE_INSTRUCTIONS"] {
        command.env_remove(format!("NVPTX_RA_{name}"));
    }
    command.env("NVPTX_RA_PTXAS", ptxas).env("NVPTX_RA_RUNS", "2").env("NVPTX_RA_ALLOW_UNCOMPARED", allowed);
    command.env("NVPTX_RA_CACHE", folder.join("cache")).env("NVPTX_RA_LOG", folder.join("log"));
    _ = fs::remove_file(folder.join("log"));
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    fs::read_to_string(folder.join("log")).expect("a log") + &String::from_utf8_lossy(&done.stderr)
}

/// Assembles a PTX module with ptxas itself.
fn assembled(folder: &Path, ptxas: &Path, text: &str) -> Vec<u8> {
    fs::write(folder.join("own.ptx"), text).expect("there is space");
    let mut command = Command::new(ptxas);
    command.args(["-arch=sm_90", "own.ptx", "-o", "own.cubin"]).current_dir(folder);
    assert!(command.status().expect("it starts").success());
    fs::read(folder.join("own.cubin")).expect("a cubin")
}

/// With another name, the kernel needs far fewer registers. The cubin has the kernel's own name. Except for this name,
/// the cubin equals ptxas's cubin of the renamed PTX, byte for byte, after a search and from the cache. Messages have
/// the kernel's own name.
#[test]
fn another_name_wins() {
    for ptxas in programs() {
        let folder = tempfile::tempdir().expect("there is space");
        let folder = folder.path();
        fs::write(folder.join("k.ptx"), text("my_cutlass_loop")).expect("there is space");
        let other = assembled(folder, &ptxas, &text("my_cutlasz_loop"));
        let expected = in_bytes(&other, "my_cutlasz_loop", "my_cutlass_loop");
        for source in ["a search", "the cache"] {
            let said = run(folder, &ptxas, &["-v"], "on");
            assert!(said.contains("my_cutlass_loop: ") && said.contains("other-name; neither"), "{source}: {said}");
            assert!(said.contains("Compiling entry function 'my_cutlass_loop'") && !said.contains("cutlasz"), "{said}");
            let cubin = fs::read(folder.join("k.cubin")).expect("a cubin");
            assert_eq!(places(&cubin, "my_cutlasz_loop"), [0; 0], "{source}");
            // With -v, ptxas records its options in the cubin.
            let plain = run(folder, &ptxas, &[], "on");
            assert!(plain.contains("other-name"), "{plain}");
            let cubin = fs::read(folder.join("k.cubin")).expect("a cubin");
            assert!(cubin == expected, "{source}: {} of {}", ptxas.display(), differing(&cubin, &expected));
        }
    }
}

/// With `-lineinfo`, or with source lines in the PTX, ptxas copies the PTX with the other name into the cubin. The
/// variant is therefore refused, the log gives the reason, and the cubin is ptxas's own.
#[test]
fn names_in_debug_information_stay() {
    let with_lines =
        text("my_cutlass_loop").replace(".visible", ".file 1 \"k.cu\"\n.visible").replace("L:\n", "L:\n\t.loc 1 2 0\n");
    for (text, options) in [(text("my_cutlass_loop"), &["-lineinfo"][..]), (with_lines, &[])] {
        for ptxas in programs() {
            let folder = tempfile::tempdir().expect("there is space");
            let folder = folder.path();
            fs::write(folder.join("k.ptx"), &text).expect("there is space");
            let said = run(folder, &ptxas, options, "on");
            let reason =
                "refused, the first because the machine code has the name my_cutlasz_loop outside its string tables";
            assert!(said.contains(reason) && !said.contains("other-name"), "{said}");
            let found = fs::read(folder.join("k.cubin")).expect("a cubin");
            let mut command = Command::new(&ptxas);
            command.args(options).args(["-arch=sm_90", "k.ptx", "-o", "k.cubin"]).current_dir(folder);
            assert!(command.status().expect("it starts").success());
            assert!(found == fs::read(folder.join("k.cubin")).expect("a cubin"), "{}", ptxas.display());
        }
    }
}

/// A kernel keeps its name if the user has not allowed another one, or if a linker refers to the kernel by its name.
#[test]
fn names_stay() {
    let Some(ptxas) = programs().into_iter().next() else { return };
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    fs::write(folder.join("k.ptx"), text("my_cutlass_loop")).expect("there is space");
    for (options, allowed) in [(&[][..], ""), (&["-c"], "on")] {
        let said = run(folder, &ptxas, options, allowed);
        assert!(said.contains("my_cutlass_loop: ") && !said.contains("other-name"), "{said}");
    }
    fs::write(folder.join("k.ptx"), text("my_loop")).expect("there is space");
    let said = run(folder, &ptxas, &[], "on");
    assert!(said.contains("my_loop: ") && !said.contains("other-name"), "{said}");
}

/// Returns the offsets of a name in bytes.
fn places(bytes: &[u8], name: &str) -> Vec<usize> {
    let parts = bytes.windows(name.len()).enumerate();
    parts.filter(|(_, part)| *part == name.as_bytes()).map(|(at, _)| at).collect()
}

/// Replaces each occurrence of a name in bytes.
fn in_bytes(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    places(bytes, from).into_iter().for_each(|at| changed[at..at + to.len()].copy_from_slice(to.as_bytes()));
    changed
}

/// Counts the bytes that differ.
fn differing(one: &[u8], other: &[u8]) -> String {
    let bytes = one.iter().zip(other).filter(|(one, other)| one != other).count();
    format!("{bytes} bytes differ, {} and {} bytes", one.len(), other.len())
}
