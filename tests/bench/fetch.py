#!/usr/bin/env python3
"""Fetches the corpus: downloads the packages of corpus.toml and compiles their kernels.

    fetch.py [--arch sm_90] [--unoptimised] [SOURCE …]

The output folder is target/corpus/ARCH. It gets one .bc module per .cu file from clang, NVIDIA's PTX of the same
file in cicc/, and one .ll module per Triton kernel. Existing files are not compiled again. The few files that a
compiler rejects are listed at the end with the first error, and do not count as a failure. Held-out sources are
fetched only by name. With --unoptimised, only .bc modules from clang's front end, before optimisation, are made, in
target/corpus/ARCH-unoptimised.
"""

import os
import shutil
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import command_line
import corpus
import packages
import tools

HERE = Path(__file__).resolve().parent
TIMEOUT = 600  # seconds for one file


def include_flags(source, folder, headers):
    """Returns the flags for a source's include folders and macros, for both compilers."""
    flags = ["-isystem", f"{headers}/cccl", "-isystem", str(headers)]
    flags += [f"-I{folder / path}" for path in source.get("include", [])]
    if source.get("standins"):
        flags += ["-isystem", str(HERE / "headers")]
    return flags + [f"-D{define}" for define in source.get("defines", [])]


FRONT_END = ["-Xclang", "-disable-llvm-passes"]


def clang_command(file, output, flags, arch, cuda):
    clang = os.path.join(os.path.dirname(tools.find_llc()), "clang")
    command = [clang, "-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={arch}", f"--cuda-path={cuda}"]
    command += ["-Wno-unknown-cuda-version", "-O3", "-w", "-std=c++17", "-include", str(HERE / "clang_cuda.h")]
    return [*command, *flags, "-emit-llvm", "-c", str(file), "-o", str(output)]


def nvcc_command(file, output, flags, arch, cuda):
    command = [f"{cuda}/bin/nvcc", "-ptx", f"-arch={arch}", "-O3", "-w", "-std=c++17", "--expt-relaxed-constexpr"]
    return [*command, "--extended-lambda", *flags, str(file), "-o", str(output)]


def jobs_of(source, folder, modules, headers):
    """Yields (file, path of its module, flags) for every CUDA file of a source."""
    folder = folder / source["folder"]
    flags = include_flags(source, folder, headers)
    files = {file for pattern in source.get("files", ["**/*.cu"]) for file in folder.glob(pattern)}
    for file in sorted(files):
        name = str(file.relative_to(folder).with_suffix("")).replace("/", "_")
        yield file, modules / f"{source['name']}__{name}.bc", flags


def produce(command, output):
    """Runs a compiler that writes `output`. The file appears completely or not at all. Returns the error message."""
    part = Path(command[command.index("-o") + 1])
    outcome = tools.run(command, TIMEOUT)
    if outcome.error:
        part.unlink(missing_ok=True)
        return f"{output.stem}: {outcome.error}"
    part.rename(output)
    return ""


def has_kernels(module):
    disassembler = os.path.join(os.path.dirname(tools.find_llc()), "llvm-dis")
    return "ptx_kernel" in tools.run([disassembler, str(module), "-o", "-"], TIMEOUT).output


def compile_file(job, arch, cuda, unoptimised):
    """Compiles one file with both compilers, or with clang's front end alone. Returns the error messages. A file
    without kernels produces no module."""
    file, module, flags = job
    empty, cicc = module.with_suffix(".empty"), module.parent / "cicc" / f"{module.stem}.ptx"
    if empty.exists():
        return []
    problems = []
    if not module.exists():
        front_end = FRONT_END if unoptimised else []
        problems.append(produce(clang_command(file, f"{module}.part", [*flags, *front_end], arch, cuda), module))
        if module.exists() and not has_kernels(module):
            module.unlink()
            empty.touch()
    if module.exists() and not cicc.exists() and not unoptimised:
        problems.append(produce(nvcc_command(file, f"{cicc}.part", flags, arch, cuda), cicc))
    return [problem for problem in problems if problem]


def check_space(folder):
    """Checks the free space first, because a full disk causes obscure compiler errors."""
    free = shutil.disk_usage(folder).free
    if free < 6 << 30:
        print(f"corpus: {folder} has {free >> 20} MB free, but about 6,000 MB are needed", flush=True)


def main():
    parser = command_line.parser_of(__doc__)
    parser.add_argument("sources", nargs="*", metavar="SOURCE")
    parser.add_argument("--arch", default="sm_90", help="processor (default: %(default)s)")
    parser.add_argument("--unoptimised", action="store_true", help="CUDA modules as emitted by clang's front end")
    options = parser.parse_args()
    listed = tomllib.loads(corpus.LIST.read_text(encoding="utf8"))
    names = [source["name"] for source in listed["source"]]
    if unknown := set(options.sources) - set(names):
        sys.exit(f"unknown source {', '.join(sorted(unknown))}; the sources are {', '.join(names)}")
    is_chosen = lambda s: s["name"] in options.sources if options.sources else not s.get("held_out")  # noqa: E731
    chosen = [source for source in listed["source"] if is_chosen(source)]
    cuda = os.environ.get("CUDA_PATH") or tools.ROOT / "target/cuda"
    modules = corpus.folder_of(options.arch, options.unoptimised)
    (modules / "cicc").mkdir(parents=True, exist_ok=True)
    check_space(modules)

    headers = packages.headers(listed["python"]["packages"])
    jobs = []
    for source, folder in packages.unpacked([s for s in chosen if "triton" not in s]):
        jobs += jobs_of(source, folder, modules, headers)
    print(f"corpus: {len(jobs)} files of CUDA", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compile_job = partial(compile_file, arch=options.arch, cuda=cuda, unoptimised=options.unoptimised)
        results = pool.map(compile_job, jobs)
        problems = [problem for found in results for problem in found]
    for source in chosen:
        if "triton" in source and not options.unoptimised:
            problems += packages.triton(source, listed["python"]["triton"], options.arch, modules)
    for problem in problems:
        print("not compiled:", problem)
    by_kind = [len(list(modules.glob(pattern))) for pattern in ("*.bc", "*.ll", "cicc/*.ptx")]
    print("corpus: {} modules of CUDA, {} of Triton, {} of NVIDIA's PTX in {}".format(*by_kind, modules))


if __name__ == "__main__":
    main()
