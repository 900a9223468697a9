//! Compares the machine model with NVIDIA's own sources: occupancies with `cuda_occupancy.h`, and the table of
//! processors with CUDA's core libraries. The programs in `tests/occupancy` get all numbers as input, because the
//! numbers are defined only in the core.
//!
//! Skipped if the headers (`scripts/setup.sh cuda` installs them) or a C++ compiler is missing. With
//! `OCCUPANCY=required` in the environment, as in `make check`, this is a failure.

use std::env;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nvptx_ra::target::machine::{
    Architecture, Launch, MAX_REGISTERS, MAX_THREADS_PER_BLOCK, REGISTERS, SHARED_PER_BLOCK, WARP_SIZE,
};

const KIB: u32 = 1024;

/// Compiles and runs a program of `tests/occupancy` and returns its output. `None` if the header that it includes, or a
/// compiler, is missing.
fn answer(program: &str, header: &str, input: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cuda = env::var_os("CUDA_PATH").map_or_else(|| root.join("target/cuda"), PathBuf::from);
    let include = cuda.join("include");
    let folders = [include.join("cccl"), include];
    let runs = |compiler: &String| Command::new(compiler).arg("--version").output().is_ok();
    let compiler = env::var("CXX").into_iter().chain(["c++", "g++", "clang++"].map(str::to_owned)).find(runs);
    let missing = match &compiler {
        None => "a C++ compiler".to_owned(),
        Some(_) if !folders.iter().any(|folder| folder.join(header).exists()) => format!("{header} of CUDA 13"),
        Some(_) => String::new(),
    };
    if !missing.is_empty() {
        let required = env::var("OCCUPANCY").is_ok_and(|value| value == "required");
        assert!(!required, "{missing} is missing; scripts/setup.sh brings it");
        println!("skipped: {missing} is missing; scripts/setup.sh brings it");
        return None;
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program);
    let source = root.join("tests/occupancy").join(program).with_extension("cpp");
    let mut compile = Command::new(compiler?);
    compile.args(["-std=c++17", "-O1", "-w"]);
    for folder in &folders {
        compile.arg("-I").arg(folder);
    }
    let compiled = compile.arg("-o").arg(&place).arg(source).output().expect("the compiler starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    // The input is a file, because with pipes each process could wait for the other.
    let questions = place.with_extension("in");
    fs::write(&questions, input).expect("the questions can be written");
    let stdin = Stdio::from(File::open(&questions).expect("the questions can be read"));
    let answers = Command::new(&place).stdin(stdin).output().expect("the program starts");
    assert!(answers.status.success(), "{program} failed: {}", answers.status);
    Some(String::from_utf8(answers.stdout).expect("the answers are text"))
}

/// Launches without a register count, and the range of register counts for each.
type Questions = Vec<(Launch, u32, u32)>;

/// Returns launches with every register count, block size and amount of shared memory, followed by launches with
/// carve-outs and barriers.
fn questions(machine: &Architecture) -> Questions {
    let opt_in = machine.shared_opt_in();
    let shared: Vec<(u32, u32)> = vec![
        (0, 0),
        (KIB, 0),
        (0, 16 * KIB),
        (1000, 2345),
        (16 * KIB, 16 * KIB),
        (47 * KIB, 0),
        (47 * KIB, KIB + 1),
        (0, 100 * KIB),
        (0, 227 * KIB),
        (0, opt_in),
        (1, opt_in),
    ];
    let threads = || (32..=MAX_THREADS_PER_BLOCK + 32).step_by(32).chain([1, 33, 100, 1000]);
    let mut questions = Vec::new();
    for (static_shared, dynamic_shared) in shared.iter().copied() {
        for threads in threads() {
            let launch = Launch { static_shared, dynamic_shared, ..Launch::new(0).with_threads(threads) };
            questions.push((launch, 0, MAX_REGISTERS + 3));
            if threads % 96 != 0 {
                continue;
            }
            for carve_out in [None, Some(0), Some(1), Some(33), Some(50), Some(99), Some(100)] {
                for barriers in [0, 1, 2, 3, 16] {
                    let launch = Launch { carve_out, barriers, ..launch };
                    questions.extend([0, 24, 40, 128].map(|registers| (launch, registers, registers)));
                }
            }
        }
    }
    questions
}

/// Returns the input of the program: a machine and its launches.
fn told(machine: &Architecture, questions: &Questions) -> String {
    let mut text = format!(
        "device {} {} {MAX_THREADS_PER_BLOCK} {} {REGISTERS} {SHARED_PER_BLOCK} {} {} {}\n",
        machine.major,
        machine.minor,
        machine.max_warps * WARP_SIZE,
        machine.shared(),
        machine.shared_opt_in(),
        machine.reserved_shared,
    );
    for (launch, first, last) in questions {
        let Launch { static_shared, dynamic_shared, barriers, .. } = launch;
        let threads = launch.threads.expect("is given");
        let carve_out = launch.carve_out.map_or(-1, i64::from);
        writeln!(text, "launch {threads} {static_shared} {dynamic_shared} {barriers} {carve_out} {first} {last}")
            .expect("memory suffices");
    }
    text
}

/// Returns the model's figures of a launch, in the order and units of the header.
fn ours(machine: &Architecture, launch: &Launch) -> [u32; 9] {
    let occupancy = machine.occupancy(launch);
    let limits = occupancy.block_limits;
    let or_none = |limit: Option<u32>| limit.unwrap_or(i32::MAX as u32);
    [
        occupancy.blocks,
        occupancy.limits.bits(),
        limits.warps,
        limits.blocks,
        or_none(limits.registers),
        or_none(limits.shared_memory),
        or_none(limits.barriers),
        occupancy.registers_per_block,
        occupancy.shared_per_block,
    ]
}

/// The model equals every figure of `cuda_occupancy.h`, for every architecture, register count and block size.
#[test]
fn occupancy_is_what_nvidias_header_computes() {
    let questions: Vec<Questions> = Architecture::all().iter().map(questions).collect();
    let input: String = Architecture::all().iter().zip(&questions).map(|(machine, all)| told(machine, all)).collect();
    let Some(answers) = answer("grid", "cuda_occupancy.h", &input) else { return };
    let mut answers = answers.lines();
    let mut compared = 0;
    for (machine, questions) in Architecture::all().iter().zip(&questions) {
        for (launch, first, last) in questions {
            for registers in *first..=*last {
                let launch = launch.with_registers(registers);
                let line = answers.next().expect("an answer for each question");
                let theirs: Vec<u32> = line.split(' ').map_while(|number| number.parse().ok()).collect();
                assert_eq!(theirs, ours(machine, &launch), "theirs, ours: {} {launch:?}: {line}", machine.name);
                compared += 1;
            }
        }
    }
    assert_eq!(answers.next(), None, "no answer without a question");
    println!("{compared} launches on {} architectures compared", questions.len());
}

/// The table equals that of NVIDIA's own libraries, except for two architectures that these libraries lack or have
/// renamed.
#[test]
fn the_table_is_that_of_nvidias_libraries() {
    let capabilities = Architecture::all().iter().map(|machine| format!("{}{}\n", machine.major, machine.minor));
    let Some(answers) = answer("traits", "cuda/__device/arch_traits.h", &capabilities.collect::<String>()) else {
        return;
    };
    let mut unknown = Vec::new();
    assert_eq!(answers.lines().count(), Architecture::all().len());
    for (machine, line) in Architecture::all().iter().zip(answers.lines()) {
        if line == "unknown" {
            unknown.push(machine.name);
            continue;
        }
        let theirs: Vec<u32> = line.split(' ').map_while(|number| number.parse().ok()).collect();
        let ours = [
            machine.max_warps,
            machine.max_blocks,
            machine.shared(),
            SHARED_PER_BLOCK,
            machine.shared_opt_in(),
            machine.reserved_shared,
            REGISTERS,
            REGISTERS,
            MAX_REGISTERS,
            MAX_THREADS_PER_BLOCK,
            WARP_SIZE,
        ];
        assert_eq!(theirs, ours, "theirs, ours: {}", machine.name);
    }
    assert_eq!(unknown, ["sm_72", "sm_101"]);
}
