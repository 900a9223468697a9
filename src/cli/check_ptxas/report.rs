//! The folder for a report: the reduced PTX, a description of the fault and of the affected releases of ptxas, and a
//! program that shows the fault on a GPU.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use nvptx_ra::emulate::{Program, Record, record};
use nvptx_ra::error::Error;
use nvptx_ra::reduce::Candidate;
use rustc_hash::FxHasher;

use super::assembler::Assembler;
use super::reduced_launch::launches;
use crate::meaning::Counterexample;
use crate::output;

/// The contents of a report.
pub(super) struct Report<'a> {
    pub(super) kernel: &'a str,
    /// The given PTX, and its number of instructions.
    pub(super) original: &'a str,
    pub(super) before: usize,
    pub(super) small: &'a Candidate,
    pub(super) counterexample: &'a Counterexample,
    pub(super) wrong: &'a Assembler,
    /// Results of other assemblers.
    pub(super) others: Vec<(String, String)>,
    pub(super) extremes: bool,
}

/// The most bytes of memory that a program contains.
const MOST_BYTES: usize = 1 << 18;
/// The longest folder name.
const LONGEST: usize = 60;

/// Returns the folder name of a kernel.
pub(super) fn folder_name(kernel: &str) -> String {
    use std::hash::Hasher as _;
    let plain: String = kernel.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect();
    if plain.len() <= LONGEST {
        return plain;
    }
    let mut hasher = FxHasher::default();
    hasher.write(kernel.as_bytes());
    format!("{}_{:08x}", &plain[..LONGEST], hasher.finish() as u32)
}

/// Writes the folder, and returns it.
pub(super) fn write(report: &Report<'_>, folder: &Path) -> Result<PathBuf, Error> {
    fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
    let launches = launches(&report.small.launch, report.extremes);
    let module = report.small.module().map_err(|error| error.to_string());
    let program = module
        .and_then(|module| record(&Program::new(&module), report.kernel, &launches))
        .and_then(|record| show(report.kernel, &record));
    let mut files = vec![
        ("reduced.ptx", report.small.text.clone()),
        ("original.ptx", report.original.to_owned()),
        ("README.md", readme(report, program.as_ref().err())),
    ];
    files.extend(program.ok().map(|program| ("show.cpp", program)));
    for (name, content) in files {
        output::write(&folder.join(name), content.as_bytes())?;
    }
    Ok(folder.to_owned())
}

fn readme(report: &Report<'_>, without: Option<&String>) -> String {
    let Report { kernel, small, counterexample, wrong, others, .. } = report;
    let arguments: Vec<String> = small
        .launch
        .arguments
        .iter()
        .map(|bytes| match bytes {
            Some(bytes) if bytes.len() <= 8 => {
                format!("--arg {:#x}", bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte)))
            }
            _ => "--arg _".to_owned(),
        })
        .collect();
    let [grid, block] =
        [small.launch.grid, small.launch.block].map(|sizes| sizes.map(|size| size.to_string()).join(","));
    let launch =
        format!("--kernel {kernel} --grid {grid} --block {block} --seed {} {}", small.launch.seed, arguments.join(" "));
    let command = wrong.command(Path::new("reduced.ptx"), cpu(&small.text), Path::new("reduced.cubin")).join(" ");
    let mut text = format!("# {} computes something else than the PTX\n\n", wrong.name());
    _ = writeln!(text, "{}\n", counterexample.text());
    _ = writeln!(text, "`reduced.ptx` has {} instructions, `original.ptx` {}:\n", small.instructions(), report.before);
    _ = writeln!(text, "```\n{}\n```\n", small.text.trim());
    _ = writeln!(text, "| ptxas | the machine code of `reduced.ptx` |\n| --- | --- |\n| {} | wrong |", wrong.name());
    for (name, word) in others {
        _ = writeln!(text, "| {name} | {word} |");
    }
    _ = writeln!(text, "\nThese commands run the PTX and the machine code on the CPU:\n\n```\n{command}");
    _ = writeln!(text, "nvptx-ra run reduced.ptx {launch}\nnvptx-ra run reduced.cubin {launch}\n```\n");
    match without {
        Some(reason) => _ = writeln!(text, "There is no program for a GPU: {reason}."),
        None => {
            text += "On a GPU, `show.cpp` runs the machine code and compares the stored values with the PTX's:\n\n";
            text += "```\ng++ show.cpp -I$CUDA_PATH/include -lcuda -o show && ./show reduced.cubin\n```\n";
        }
    }
    text
}

/// Returns the processor that the PTX specifies.
fn cpu(text: &str) -> &str {
    let target = text.lines().find_map(|line| line.trim().strip_prefix(".target"));
    target.and_then(|words| words.split([',', ' ']).find(|word| !word.is_empty())).unwrap_or("sm_90")
}

const HEAD: &str = r#"// Runs a kernel of a cubin with the launch of the CPU, and compares the stored values with those of its PTX.
// g++ show.cpp -I$CUDA_PATH/include -lcuda -o show && ./show reduced.cubin
#include <cuda.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

static void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS) return;
  const char *text = "";
  cuGetErrorString(result, &text);
  std::printf("%s: %s\n", what, text);
  std::exit(2);
}

// Memory around the address in a parameter, from `start` bytes after the address, before and after the launch.
struct Buffer { int64_t start; std::vector<uint8_t> before, after; CUdeviceptr place; };
"#;

const TAIL: &str = r#"
int main(int count, char **words) {
  check(cuInit(0), "cuInit");
  CUdevice device; CUcontext context; CUmodule module; CUfunction function;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuModuleLoad(&module, count > 1 ? words[1] : "reduced.cubin"), "cuModuleLoad");
  check(cuModuleGetFunction(&function, module, KERNEL), "cuModuleGetFunction");
  for (Buffer &buffer : buffers) {
    check(cuMemAlloc(&buffer.place, buffer.before.size()), "cuMemAlloc");
    check(cuMemcpyHtoD(buffer.place, buffer.before.data(), buffer.before.size()), "cuMemcpyHtoD");
  }
  std::vector<void *> arguments;
  for (std::vector<uint8_t> &parameter : parameters) arguments.push_back(parameter.data());
  for (const Pointer &pointer : pointers) {
    uint64_t address = buffers[pointer.buffer].place - buffers[pointer.buffer].start;
    std::memcpy(parameters[pointer.parameter].data() + pointer.offset, &address, 8);
  }
  check(cuLaunchKernel(function, GRID, BLOCK, 0, nullptr, arguments.data(), nullptr), "cuLaunchKernel");
  check(cuCtxSynchronize(), "cuCtxSynchronize");
  int different = 0;
  for (Buffer &buffer : buffers) {
    std::vector<uint8_t> found(buffer.after.size());
    check(cuMemcpyDtoH(found.data(), buffer.place, found.size()), "cuMemcpyDtoH");
    for (size_t at = 0; at + 4 <= found.size(); at += 4) {
      uint32_t is, should;
      std::memcpy(&is, &found[at], 4);
      std::memcpy(&should, &buffer.after[at], 4);
      if (is != should && ++different <= 16)
        std::printf("byte %lld: 0x%08x, should be 0x%08x\n", (long long)(buffer.start + (int64_t)at), is, should);
    }
  }
  std::printf("%d words differ\n", different);
  return different != 0;
}
"#;

/// Returns the program that shows the fault on a GPU.
fn show(kernel: &str, record: &Record) -> Result<String, String> {
    let all: usize = record.buffers.iter().map(|buffer| buffer.before.len()).sum();
    if all > MOST_BYTES {
        return Err(format!("the launch accesses {all} bytes of memory, and a program may contain {MOST_BYTES}"));
    }
    let bytes = |bytes: &[u8]| {
        // Zeros at the end are omitted, because the program fills each vector with zeros up to its declared length.
        let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes[..used].iter().map(u8::to_string).collect::<Vec<_>>().join(",")
    };
    let mut text = HEAD.to_owned();
    text += "static std::vector<uint8_t> bytes(size_t size, std::vector<uint8_t> first) { first.resize(size); return first; }\n";
    text += "static std::vector<Buffer> buffers = {\n";
    for buffer in &record.buffers {
        let (size, before, after) = (buffer.before.len(), bytes(&buffer.before), bytes(&buffer.after));
        _ = writeln!(text, "  {{{}, bytes({size}, {{{before}}}), bytes({size}, {{{after}}}), 0}},", buffer.start);
    }
    text += "};\nstatic std::vector<std::vector<uint8_t>> parameters = {\n";
    for parameter in &record.parameters {
        _ = writeln!(
            text,
            "  bytes({}, {{{}}}), // {}",
            parameter.bytes.len(),
            bytes(&parameter.bytes),
            parameter.name
        );
    }
    text += "};\n// The parameters that contain addresses of buffers.\nstruct Pointer { size_t parameter, offset, buffer; };\n";
    text += "static const std::vector<Pointer> pointers = {";
    for (number, parameter) in record.parameters.iter().enumerate() {
        for (offset, buffer) in &parameter.pointers {
            _ = write!(text, "{{{number}, {offset}, {buffer}}}, ");
        }
    }
    let [grid, block] = record.shape.map(|sizes| sizes.map(|size| size.to_string()).join(", "));
    _ = writeln!(text, "}};\n#define KERNEL \"{kernel}\"\n#define GRID {grid}\n#define BLOCK {block}");
    Ok(text + TAIL)
}
