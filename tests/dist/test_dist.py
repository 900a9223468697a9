"""Tests the files of `make dist` as a user without Rust would: each file is installed alone and runs.

The environment has a CUDA toolkit, a shell and, for the plugin, LLVM. DIST is the folder with the built files.

    make dist
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))

from test_wheel import PTX  # noqa: E402

DIST = Path(os.environ["DIST"])

# Prints the path of the program, and the results of `optimize` and `report` on a PTX module.
CALLS = """\
import json, sys, nvptx_ra
ptx = sys.stdin.read()
better = nvptx_ra.optimize(ptx, arch="sm_90", runs=2)
json.dump([nvptx_ra.path(), better != ptx, nvptx_ra.report(ptx)["spills"].peak.words], sys.stdout)
"""


PT_INTERP = 3


def segments(program):
    """Returns the types of an ELF file's segments."""
    data = program.read_bytes()
    (first,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return [struct.unpack_from("<I", data, first + at * size)[0] for at in range(count)]


class Dist(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name).resolve()
        (self.here / "bin").mkdir()
        for name in ("sh", "env"):
            (self.here / "bin" / name).symlink_to(shutil.which(name))
        (self.here / "k.ptx").write_text(PTX)

    def built(self, pattern):
        [path] = DIST.glob(pattern)
        return path

    def run_program(self, *command, **more):
        """Returns the output of a command, with only a shell on PATH."""
        variables = {"HOME": str(self.here), "PATH": str(self.here / "bin"), "LANG": "C.UTF-8"}
        variables |= {"CUDA_PATH": os.environ["CUDA_PATH"], **more}
        self.assertIsNone(shutil.which("cargo", path=variables["PATH"]))
        command = [str(word) for word in command]
        run = subprocess.run(
            command, cwd=self.here, env=variables, input=PTX, capture_output=True, text=True, check=False
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout + run.stderr

    def search(self, program):
        """Returns the log of a program that runs as the ptxas wrapper."""
        log = self.here / "log"
        command = ["ptxas", "-arch=sm_90", "k.ptx", "-o", "k.cubin"]
        self.run_program(program, *command, NVPTX_RA_LOG=str(log), NVPTX_RA_RUNS="2")
        self.assertGreater((self.here / "k.cubin").stat().st_size, 1000)
        return log.read_text(encoding="utf8")

    def test_the_wheel(self):
        wheel = self.built("*.whl")
        self.assertIn("manylinux2014", wheel.name)
        venv.create(self.here / "venv", with_pip=True)
        python = self.here / "venv/bin/python"
        install = ["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]
        self.run_program(python, *install, wheel)
        program, is_better, words = json.loads(self.run_program(python, "-c", CALLS))
        self.assertEqual(Path(program), self.here / "venv/bin/nvptx-ra")
        self.assertTrue(is_better)
        self.assertGreater(words, 64)
        wanted = {
            tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_(2[.\d]+)", Path(program).read_bytes())
        }
        self.assertLessEqual(max(wanted), (2, 17))
        self.assertIn("spills: ", self.search(program))

    def test_the_static_file(self):
        program = self.here / "bin/nvptx-ra"
        shutil.copy(self.built("nvptx-ra-*-linux"), program)
        self.assertRegex(self.run_program("nvptx-ra", "--version"), r"^nvptx-ra \d+\.\d+\.\d+ \(without LLVM\)$")
        self.assertNotIn(PT_INTERP, segments(program), "no loader is asked")
        self.assertIn(PT_INTERP, segments(Path(sys.executable).resolve()))
        self.assertIn("spills: ", self.search("nvptx-ra"))
        better = self.run_program("nvptx-ra", "tune", "k.ptx", "-o", "better.ptx", "--runs", "2")
        self.assertIn("spills", better)

    def test_the_plugin(self):
        shutil.unpack_archive(self.built("*.tar.gz"), self.here)
        [folder] = self.here.glob("nvptx-ra-*")
        for file in folder.glob("lib/cmake/nvptx-ra/*.cmake"):
            self.assertNotIn(str(ROOT), file.read_text(encoding="utf8"), file.name)
        self.assertNotIn("without LLVM", self.run_program(folder / "bin/nvptx-ra", "--version"))
        self.assertIn("spills: ", self.search(folder / "bin/nvptx-ra"))
        clang = Path(os.environ["LLVM_BIN"]) / "clang++"
        plugin = f"-fpass-plugin={folder / 'lib/libnvptx_ra.so'}"

        def compiled(*options):
            options = [
                "-x",
                "cuda",
                "--cuda-device-only",
                "--cuda-gpu-arch=sm_90",
                "-Wno-unknown-cuda-version",
                *options,
            ]
            source = ROOT / "tests/cmake/kernels.cu"
            self.run_program(
                clang, *options, f"--cuda-path={os.environ['CUDA_PATH']}", "-O3", "-S", source, "-o", "k.s"
            )
            return (self.here / "k.s").read_text(encoding="utf8")

        self.assertIn("vsub4", compiled())
        self.assertNotIn("vsub4", compiled(plugin))


if __name__ == "__main__":
    unittest.main()
