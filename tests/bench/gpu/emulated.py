"""The tasks that the tool does for run.py: it draws the inputs of a launch, and compares two files of PTX without a
GPU."""

import json
import subprocess

STEPS = 20_000_000  # most warp instructions: enough for every launch of a bundle
# Limits for kernels whose own launch is too long for the emulator: number of drawn launches, and warp instructions.
SMALL_LAUNCHES, SMALL_STEPS = 2, 400_000


def ptx_of(folder, variant, kernel):
    return folder / variant / f"{kernel.example}.ptx"


def words_of(shape):
    return ",".join(map(str, shape))


def run(command):
    """Runs a command. Returns (exit status, output, errors)."""
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    done = subprocess.run([str(word) for word in command], check=False, **options)
    return done.returncode, done.stdout, done.stderr.strip()


def record(tool, ptx, kernel, folder, steps=STEPS):
    """Records the launch of a kernel. Returns an error message, empty on success."""
    shape = ["--block", words_of(kernel.block)] if kernel.block else []
    words = ["run", ptx, "--kernel", kernel.name, "--grid", words_of(kernel.grid), *shape, "--seed", kernel.seed]
    status, _, errors = run([tool, *words, "--steps", steps, "--record", folder])
    return errors or f"exit status {status}" if status else ""


def compare(tool, first, second, kernel):
    """Compares two files. Returns the verdict, the reason if it is not `same`, and the number of places that only the
    second file reads."""
    words = ["compare", first, second, "--kernel", kernel.name, "--block", words_of(kernel.block), "--exact", "--json"]
    words += ["--more", 0]
    if kernel.seed is None:
        words += ["--launches", SMALL_LAUNCHES, "--steps", SMALL_STEPS]
    else:
        words += ["--launches", 1, "--grid", words_of(kernel.grid), "--seed", kernel.seed, "--steps", STEPS]
    status, output, errors = run([tool, *words])
    if not output:
        return "differs", errors or f"exit status {status}", 0
    said = json.loads(output)[0]
    reasons = [launch["reason"] for launch in said["launches"] if launch["reason"]]
    verdict = {"different": "differs"}.get(said["verdict"], said["verdict"])
    only_second = sum(launch["new_reads"] for launch in said["launches"])
    return verdict, reasons[-1] if verdict != "same" and reasons else "", only_second


def check(tool, folder, kernel, expected):
    """Returns the verdicts on all variants. Each is compared with the variant whose outputs it must reproduce."""
    verdicts, differences = {}, {}
    for name, of in expected.items():
        one, other = (ptx_of(folder, each, kernel) for each in (of, name))
        verdicts[name], differences[name], _ = ("same", "", 0) if of == name else compare(tool, one, other, kernel)
    named = {"kernel": kernel.name, "example": kernel.example, "source": kernel.source}
    return {**named, "verdicts": verdicts, "differences": differences}
