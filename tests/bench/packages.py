"""Brings packages from crates.io and PyPI and unpacks them. Nothing of them is built or run, but Triton."""

import subprocess
import sys
import tarfile
from pathlib import Path

import tools

FOLDER = tools.ROOT / "target/corpus"
HERE = Path(__file__).resolve().parent


def call(command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def unpacked(sources):
    """(source, folder) of each; a package that cannot be had is said, and the rest goes on."""
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
    """Downloads and unpacks a source distribution. None where that fails."""
    name = f"{source['sdist'].replace('-', '_')}-{source['version']}"
    folder = FOLDER / "sdist"
    if not (folder / name).exists():
        print(f"corpus: fetching {name}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        wanted = f"{source['sdist']}=={source['version']}"
        try:
            pip(["download", "--no-deps", "--no-binary", source["sdist"], "-d", str(folder), wanted])
        except SystemExit as error:
            print(f"corpus: {source['name']} is left out: {str(error).splitlines()[-1]}", flush=True)
            return None
        with tarfile.open(folder / f"{name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return folder / name


def venv_python():
    """Python of a virtual environment of our own, made where it is missing."""
    python = tools.ROOT / "target/venv/bin/python"
    if not python.exists():
        call([sys.executable, "-m", "venv", str(python.parents[1])])
    return str(python)


def pip(arguments):
    call([venv_python(), "-m", "pip", arguments[0], "-q", "--disable-pip-version-check", *arguments[1:]])


def install(wanted, name):
    """Installs packages into the virtual environment, unless a stamp says that they are there."""
    stamp = FOLDER / f"{name}.installed"
    if not stamp.exists() or stamp.read_text(encoding="utf8") != "\n".join(wanted):
        print("corpus: installing with pip:", " ".join(wanted), flush=True)
        pip(["install", "--no-deps", *wanted])
        stamp.write_text("\n".join(wanted), encoding="utf8")


def headers(wanted):
    """Installs packages of headers; returns their include folder."""
    install(wanted, "headers")
    return next((tools.ROOT / "target/venv/lib").glob("python3*/site-packages/nvidia/cu13/include"))


def triton(source, compiler, arch, modules):
    """Compiles the Triton kernels of a source. Returns what went wrong, by kernel."""
    try:
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
    output = call(command)
    return [line.removeprefix("not compiled: ") for line in output.splitlines() if line.startswith("not compiled: ")]
