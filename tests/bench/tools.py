"""The programs that the harness runs: how they are found and run."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LLVM_MAJOR = 22


@dataclass(frozen=True)
class Tools:
    """Paths of programs, `None` if a program is neither found nor needed."""

    llc: str
    plugin: str
    ptxas: str | None
    cuobjdump: str | None
    nvptx_ra: str | None = None  # for the forecast


def find_llc():
    """Returns llc of the LLVM that LLVM_CONFIG names. Without this variable, returns Debian's llc."""
    config = os.environ.get("LLVM_CONFIG") or shutil.which(f"llvm-config-{LLVM_MAJOR}")
    if config:
        folder = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
        return os.path.join(folder, "llc")
    return shutil.which(f"llc-{LLVM_MAJOR}") or f"/usr/lib/llvm-{LLVM_MAJOR}/bin/llc"


def find_cuda(program):
    """Returns a program of the CUDA toolkit: from CUDA_PATH if set, or else from target/cuda or PATH."""
    found = Path(os.environ.get("CUDA_PATH") or ROOT / "target/cuda", "bin", program)
    if os.access(found, os.X_OK):
        return str(found)
    return None if os.environ.get("CUDA_PATH") else shutil.which(program)


def nvptx_ra():
    """Returns the tool: the value of NVPTX_RA, or else cargo's build."""
    return os.environ.get("NVPTX_RA") or str(ROOT / "target/release/nvptx-ra")


def find(plugin, with_ptxas=True, with_sass=True, with_forecast=False):
    """Finds all programs. If a program is missing, prints its name and the command that installs it, and exits."""
    tools = Tools(
        llc=find_llc(),
        plugin=str(Path(plugin or os.environ.get("PLUGIN") or ROOT / "target/release/libnvptx_ra.so").resolve()),
        ptxas=find_cuda("ptxas") if with_ptxas else None,
        cuobjdump=find_cuda("cuobjdump") if with_ptxas and with_sass else None,
        nvptx_ra=nvptx_ra() if with_forecast else None,
    )
    missing = []
    if not os.access(tools.llc, os.X_OK):
        missing.append(f"llc of LLVM {LLVM_MAJOR}: run make setup, or set LLVM_CONFIG to a llvm-config")
    if not os.path.exists(tools.plugin):
        missing.append(f"{tools.plugin}: run cargo build --release, or set PLUGIN")
    if with_forecast and not os.access(tools.nvptx_ra, os.X_OK):
        missing.append(f"{tools.nvptx_ra}: run cargo build --release, set NVPTX_RA, or use --no-forecast")
    if with_ptxas and not tools.ptxas:
        missing.append("ptxas: run make setup, set CUDA_PATH, or use --no-ptxas")
    if with_ptxas and with_sass and not tools.cuobjdump:
        missing.append("cuobjdump: run make setup, set CUDA_PATH, or use --no-sass")
    if missing:
        sys.exit("missing:\n  " + "\n  ".join(missing))
    return tools


def find_ninja():
    """Returns ninja: from PATH, or next to Python, where make bench installs it. Exits if there is no ninja."""
    beside = Path(sys.executable).with_name("ninja")
    found = shutil.which("ninja") or (str(beside) if beside.exists() else None)
    return found or sys.exit("missing:\n  ninja: run scripts/setup.sh bench, or apt-get install ninja-build")


def target_flags(cpu, level=3, attributes="+ptx88"):
    """Returns llc's flags for the target, for any module and compiler."""
    target = ["-mtriple=nvptx64-nvidia-cuda", f"-mcpu={cpu}", f"-mattr={attributes}"]
    return [f"-O{level}", *target, "-fp-contract=fast"]


@dataclass(frozen=True)
class Outcome:
    """The result of a command. `error` is empty if the command succeeds."""

    error: str
    output: str
    seconds: float


def run(command, timeout):
    """Runs a command without input. Output and errors are combined. On a time-out or an interrupt, all child processes
    of the command end with it."""
    start = time.monotonic()
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, start_new_session=True, **options) as done:
        try:
            output, _ = done.communicate(timeout=timeout)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):  # it may have ended during the interrupt
                os.killpg(done.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return Outcome(f"{Path(command[0]).name}: more than {timeout} s", "", time.monotonic() - start)
    seconds = time.monotonic() - start
    output = output.decode("utf8", "replace")
    if done.returncode == 0:
        return Outcome("", output, seconds)
    lines = [line for line in output.splitlines() if "rror" in line or "fatal" in line] or output.splitlines()
    reason = lines[0].strip()[:300] if lines else f"exit status {done.returncode}"
    return Outcome(f"{Path(command[0]).name}: {reason}", output, seconds)


def object_in(output):
    """Returns the JSON object in the tool's output, which also has lines of progress."""
    start = next(line.start() for line in re.finditer("^{", output, re.MULTILINE))
    return json.JSONDecoder().raw_decode(output, start)[0]
