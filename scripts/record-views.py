#!/usr/bin/env python3
"""Writes benches/recorded: the coalescer's input for kernels of examples/, for cargo bench --bench phases.

Run by hand after a change of the text form or of the examples: scripts/with-env.sh scripts/record-views.py
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Name of the recorded file: example and kernel. About 90, 650 and 2,000 instructions.
RECORDED = {
    "bitonic_sort": ("bitonic_sort", "bitonic_sort"),
    "causal_attention": ("attention", "causal_attention"),
    "search_nonce": ("sha256", "search_nonce"),
}


def views(example):
    """The functions of an example in text form."""
    clang = Path(os.environ["LLVM_BIN"], "clang")
    command = [
        clang,
        "-x",
        "cuda",
        "--cuda-device-only",
        "--cuda-gpu-arch=sm_90",
        f"--cuda-path={os.environ['CUDA_PATH']}",
    ]
    command += [
        "-Wno-unknown-cuda-version",
        "-std=c++17",
        "-O3",
        "-S",
        ROOT / f"examples/{example}.cu",
        "-o",
        os.devnull,
    ]
    command += [f"-fpass-plugin={os.environ['PLUGIN']}", "-mllvm", "-nvptx-ra-trace=view"]
    command += ["-mllvm", "-nvptx-ra-position=before", "-mllvm", "-nvptx-ra-rename=off"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return re.findall(r"^mfv 1\n.*?^end\n", done.stderr, flags=re.DOTALL | re.MULTILINE)


def main():
    for name, (example, kernel) in RECORDED.items():
        text = next((text for text in views(example) if f'\nfunction "{kernel}"\n' in text), None)
        if text is None:
            sys.exit(f"examples/{example}.cu: no kernel {kernel}")
        path = ROOT / f"benches/recorded/{name}.mfv"
        path.write_text(text)
        print(f"{path.relative_to(ROOT)}: {len(text):,} bytes")


if __name__ == "__main__":
    main()
