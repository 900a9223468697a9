#!/usr/bin/env python3
"""Brings the corpus: downloads the packages of corpus.toml and compiles their CUDA kernels to bitcode.

    fetch.py [SOURCE …]

Into target/corpus/modules, one module per .cu file; what is there already is not compiled again. A file that clang does
not take is named at the end with its first error; such files are few and no failure.
"""

import os
import subprocess
import sys
import tarfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import corpus
import tools

HERE = Path(__file__).resolve().parent
FOLDER = tools.ROOT / "target/corpus"
MODULES = FOLDER / "modules"
CPU = "sm_90"
TIMEOUT = 300  # seconds for one file


def call(command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def fetch_crates(sources):
    """Vendors all crates at once; nothing of them is built."""
    wanted = "".join(f'{s["crate"]} = "={s["version"]}"\n' for s in sources)
    manifest = '[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n' + wanted
    folder = FOLDER / "crates"
    if (folder / "Cargo.toml").exists() and (folder / "Cargo.toml").read_text() == manifest:
        return folder / "vendor"
    print("corpus: fetching crates:", ", ".join(f"{s['crate']} {s['version']}" for s in sources), flush=True)
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src/lib.rs").touch()
    (folder / "Cargo.toml").write_text(manifest)
    try:
        call(["cargo", "vendor", "--quiet", "vendor"], cwd=folder)
    except BaseException:
        (folder / "Cargo.toml").unlink()  # so that the next run fetches again
        raise
    return folder / "vendor"


def fetch_sdist(source):
    """Downloads and unpacks a source distribution."""
    name = f"{source['sdist'].replace('-', '_')}-{source['version']}"
    folder = FOLDER / "sdist"
    if not (folder / name).exists():
        print(f"corpus: fetching {name}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        wanted = f"{source['sdist']}=={source['version']}"
        pip(["download", "--no-deps", "--no-binary", source["sdist"], "-d", str(folder), wanted])
        with tarfile.open(folder / f"{name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return folder / name


def pip(arguments):
    """Runs pip in a virtual environment of our own, made where it is missing."""
    python = tools.ROOT / "target/venv/bin/python"
    if not python.exists():
        call([sys.executable, "-m", "venv", str(python.parents[1])])
    call([str(python), "-m", "pip", arguments[0], "-q", "--disable-pip-version-check", *arguments[1:]])


def fetch_headers(packages):
    """Installs packages of headers; returns their include folder."""
    stamp = FOLDER / "headers"
    if not stamp.exists() or stamp.read_text() != "\n".join(packages):
        print("corpus: installing with pip:", " ".join(packages), flush=True)
        pip(["install", "--no-deps", *packages])
        stamp.write_text("\n".join(packages))
    return next((tools.ROOT / "target/venv/lib").glob("python3*/site-packages/nvidia/cu13/include"))


def commands(source, folder, clang, cuda, headers):
    """(module's path, clang's command) of every file of a source."""
    folder = folder / source["folder"]
    files = {f for pattern in source.get("files", ["**/*.cu"]) for f in folder.glob(pattern)}
    common = [clang, "-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={CPU}", f"--cuda-path={cuda}"]
    common += ["-Wno-unknown-cuda-version", "-O3", "-w", "-std=c++17", "-include", str(HERE / "clang_cuda.h")]
    common += ["-isystem", f"{headers}/cccl", "-isystem", str(headers)]
    common += [f"-I{folder / path}" for path in source.get("include", [])]
    common += [f"-D{define}" for define in source.get("defines", [])]
    for file in sorted(files):
        name = str(file.relative_to(folder).with_suffix("")).replace("/", "_")
        module = MODULES / f"{source['name']}__{name}.bc"
        yield module, [*common, "-emit-llvm", "-c", str(file), "-o", f"{module}.part"]


def compile_module(job):
    """Compiles one file. Returns what became of it; a file without kernels leaves no module."""
    module, command = job
    empty = module.with_suffix(".empty")
    if module.exists() or empty.exists():
        return ""
    outcome = tools.run(command, TIMEOUT)
    part = Path(f"{module}.part")
    if outcome.error:
        part.unlink(missing_ok=True)
        return f"{module.stem}: {outcome.error}"
    text = tools.run([str(Path(command[0]).with_name("llvm-dis")), str(part), "-o", "-"], TIMEOUT).output
    if "ptx_kernel" in text:
        part.rename(module)
    else:
        part.unlink()
        empty.touch()
    return ""


def main():
    listed = tomllib.loads(corpus.LIST.read_text())
    chosen = [s for s in listed["source"] if not sys.argv[1:] or s["name"] in sys.argv[1:]]
    if not chosen:
        sys.exit(f"no such source; there are {', '.join(s['name'] for s in listed['source'])}")
    clang = os.path.join(os.path.dirname(tools.find_llc()), "clang")
    cuda = os.environ.get("CUDA_PATH") or tools.ROOT / "target/cuda"
    MODULES.mkdir(parents=True, exist_ok=True)
    vendor = fetch_crates([s for s in listed["source"] if "crate" in s]) if any("crate" in s for s in chosen) else None
    headers = fetch_headers(listed["python"]["packages"])
    jobs = []
    for source in chosen:
        folder = vendor / source["crate"] if "crate" in source else fetch_sdist(source)
        jobs += commands(source, folder, clang, cuda, headers)
    print(f"corpus: {len(jobs)} files", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [problem for problem in pool.map(compile_module, jobs) if problem]
    for problem in problems:
        print("not compiled:", problem)
    print(f"corpus: {len(list(MODULES.glob('*.bc')))} modules in {MODULES}")


if __name__ == "__main__":
    main()
