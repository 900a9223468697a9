"""Downloads packages from crates.io and PyPI and unpacks them. No package is built or run, except Triton."""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import urllib.request
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urljoin

import tools

FOLDER = tools.ROOT / "target/corpus"
HERE = Path(__file__).resolve().parent


def call(command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def unpacked(sources):
    """Yields (source, folder) for each source. If a package cannot be fetched, an error is printed and the others
    continue."""
    crates = [source for source in sources if "crate" in source]
    vendor = fetch_crates(crates) if crates else None
    for source in sources:
        if "crate" in source:
            yield source, vendor / source["crate"]
        elif "local" in source:
            yield source, tools.ROOT / source["local"]
        elif folder := fetch_sdist(source):
            yield source, folder


def fetch_crates(sources):
    """Vendors all crates at once."""
    wanted = "".join(f'{s["crate"]} = "={s["version"]}"\n' for s in sources)
    manifest = '[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n' + wanted
    folder = FOLDER / "crates"
    if (folder / "Cargo.toml").exists() and (folder / "Cargo.toml").read_text(encoding="utf8") == manifest:
        return folder / "vendor"
    print("corpus: fetching crates:", ", ".join(f"{s['crate']} {s['version']}" for s in sources), flush=True)
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src/lib.rs").touch()
    (folder / "Cargo.toml").write_text(manifest, encoding="utf8")
    try:
        call(["cargo", "vendor", "--quiet", "vendor"], cwd=folder)
    except BaseException:
        (folder / "Cargo.toml").unlink()  # so that the next run fetches again
        raise
    return folder / "vendor"


def fetch_sdist(source):
    """Downloads and unpacks a source distribution. Returns `None` on failure."""
    name = f"{source['sdist'].replace('-', '_')}-{source['version']}"
    folder = FOLDER / "sdist"
    if not (folder / name).exists():
        print(f"corpus: fetching {name}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            (folder / f"{name}.tar.gz").write_bytes(download(source["sdist"], f"{name}.tar.gz"))
        except (OSError, HTTPException, LookupError, ValueError) as error:
            print(f"corpus: {source['name']} is left out: {error}", flush=True)
            return None
        with tarfile.open(folder / f"{name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return folder / name


def download(project, file):
    """Returns the content of a file of a project. pip is not used: it would build the package to find its
    dependencies, which needs PyTorch and a compiler for many packages. Raises LookupError if the file does not
    exist, or if its hash differs from the hash in the index."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + f"/{project}/"
    asked = urllib.request.Request(index, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(asked, timeout=60) as page:
        listed = next((one for one in json.load(page)["files"] if one["filename"] == file), None)
    if not listed:
        raise LookupError(f"{index} has no {file}")
    link = urljoin(index, listed["url"])
    with urllib.request.urlopen(link, timeout=600) as answer:
        content = answer.read()
    for algorithm, digest in listed["hashes"].items():
        if hashlib.new(algorithm, content).hexdigest() != digest:
            raise LookupError(f"{link} is not what {index} says of it")
    return content


def venv_python():
    """Returns the path of Python in the project's virtual environment. The environment is created if it is missing."""
    python = tools.ROOT / "target/venv/bin/python"
    if not python.exists():
        call([sys.executable, "-m", "venv", str(python.parents[1])])
    return str(python)


def pip(arguments):
    call([venv_python(), "-m", "pip", arguments[0], "-q", "--disable-pip-version-check", *arguments[1:]])


def install(wanted, name):
    """Installs packages into the virtual environment, unless a stamp file shows that they are installed."""
    stamp = FOLDER / f"{name}.installed"
    if not stamp.exists() or stamp.read_text(encoding="utf8") != "\n".join(wanted):
        print("corpus: installing with pip:", " ".join(wanted), flush=True)
        pip(["install", "--no-deps", *wanted])
        stamp.write_text("\n".join(wanted), encoding="utf8")


def headers(wanted):
    """Installs packages with headers. Returns their include folders."""
    install(wanted, "headers")
    return next((tools.ROOT / "target/venv/lib").glob("python3*/site-packages/nvidia/cu13/include"))


def triton(source, compiler, arch, modules):
    """Compiles the Triton kernels of a source. Returns the errors, by kernel."""
    environment = dict(os.environ, **source.get("environment", {}))
    try:
        if "sdist" in source:
            install(compiler, "triton")
            folder = fetch_sdist(source)
            if not folder:
                return []
            environment["PYTHONPATH"] = str(folder)
        else:
            install([*compiler, f"{source['package']}=={source['version']}"], source["name"])
    except SystemExit as error:
        return [f"{source['name']}: {str(error).splitlines()[-1]}"]
    script = str(HERE / "triton_kernels.py")
    print(f"corpus: {source['name']}: Triton kernels of {', '.join(source['triton'])}", flush=True)
    command = [venv_python(), script, "--arch", arch, "--prefix", source["name"], str(modules), *source["triton"]]
    if source.get("lenient"):
        command.append("--lenient")
    if "without" in source:
        command += ["--without", *source["without"]]
    output = call(command, env=environment)
    return [line.removeprefix("not compiled: ") for line in output.splitlines() if line.startswith("not compiled: ")]
