"""Runs each command of the CMake page as a user would, on a project with two kernels.

PLUGIN and NVPTX_RA name the plugin and the tool. A script in cargo's place copies them. Without CMake, CUDA or
LLVM, the tests are skipped unless CMAKE=required is in the environment.

    scripts/with-env.sh python3 -m unittest discover -s tests/cmake
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/cmake.md"

# Stands in for cargo: it copies the built files into the requested folder.
CARGO = """\
#!/bin/sh
[ "$1 $2 $3 $4" = "build --release --locked --target-dir" ] && [ -x "$LLVM_CONFIG" ] || exit 1
mkdir -p "$5/release" && cp "$PLUGIN" "$NVPTX_RA" "$5/release"
"""


def blocks(text):
    """Returns the fenced blocks of a page by their heading, each with its language."""
    of = {}
    for section in re.split(r"^#+ ", text, flags=re.M)[1:]:
        of[section.splitlines()[0]] = re.findall(r"^```(\w*)\n(.*?)^```$", section, flags=re.M | re.S)
    return of


def missing():
    """Returns what the tests need and this machine lacks."""
    paths = [os.environ.get(name, "") for name in ("PLUGIN", "NVPTX_RA")]
    paths += [f"{os.environ.get('CUDA_PATH', '')}/bin/{name}" for name in ("nvcc", "cuobjdump")]
    programs = [name for name in ("cmake", "clang++-22") if not shutil.which(name)]
    return programs + [path for path in paths if not os.path.exists(path)]


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        absent = missing()
        if absent and os.environ.get("CMAKE") == "required":
            raise AssertionError(f"missing: {absent}; scripts/setup.sh cmake brings CMake")
        if absent:
            raise unittest.SkipTest(f"missing: {absent}")
        cls.blocks = blocks(PAGE.read_text(encoding="utf8"))
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.here = Path(folder.name)
        # A home whose path has a space and a letter with a meaning in shells.
        cls.home = cls.here / "a $home"
        (cls.home / "bin").mkdir(parents=True)
        (cls.here / "nvptx-ra").symlink_to(ROOT)
        (cls.home / "bin/cargo").write_text(CARGO)
        (cls.home / "bin/cargo").chmod(0o755)
        (cls.home / "bin/nvptx-ra").symlink_to(os.environ["NVPTX_RA"])
        cls.run_blocks(cls.here, cls.blocks["The package"])

    @classmethod
    def run_blocks(cls, folder, commands, **more):
        """Runs blocks of commands in a folder."""
        path = f"{cls.home}/bin:{os.environ['PATH']}"
        variables = {**os.environ, "HOME": str(cls.home), "PATH": path, "NVPTX_RA_CACHE": "off", **more}
        for _, text in commands:
            command = ["sh", "-e", "-c", text]
            run = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                raise AssertionError(f"{text}\n{run.stdout}{run.stderr}")

    def build(self, heading, lists=None, folder=None):
        """Builds the project of a heading. Returns the library and the log."""
        folder = folder or Path(tempfile.mkdtemp(dir=self.here))
        shutil.copy(ROOT / "tests/cmake/kernels.cu", folder)
        commands = [block for block in self.blocks[heading] if block[0] != "cmake"]
        (folder / "CMakeLists.txt").write_text(lists or self.lists(heading), encoding="utf8")
        log = folder / "log"
        self.run_blocks(folder, commands, NVPTX_RA_LOG=str(log), NVPTX_RA_RUNS="2")
        return folder / "build/libkernels.a", log.read_text(encoding="utf8") if log.exists() else ""

    def lists(self, heading, but=None):
        """Returns the five CMake lines under a heading, without lines that contain `but`."""
        [lists] = [text for language, text in self.blocks[heading] if language == "cmake"]
        self.assertEqual(len(lists.splitlines()), 5)
        return "".join(line for line in lists.splitlines(True) if but is None or but not in line)

    def instructions(self, library, kernel):
        """Counts the machine instructions of a kernel, without the NOPs that pad it."""
        command = [f"{os.environ['CUDA_PATH']}/bin/cuobjdump", "-sass", str(library)]
        sass = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        [body] = [part for part in sass.split("Function : ")[1:] if kernel in part.split("\n", 1)[0]]
        return sum(1 for line in re.findall(r"/\*[0-9a-f]{4}\*/ +(.*);", body) if not line.startswith("NOP"))

    def test_a_flag_is_enough_for_nvcc(self):
        _, log = self.build("nvcc, without a package", self.lists("nvcc", but="nvptx-ra"))
        self.assertIn("spills", log)

    def test_the_target_for_nvcc(self):
        folder = Path(tempfile.mkdtemp(dir=self.here))
        _, log = self.build("nvcc", folder=folder)
        self.assertIn("spills", log)
        both = self.lists("nvcc").replace("nvptx-ra::ptxas", "nvptx-ra::plugin nvptx-ra::ptxas")
        self.build("nvcc", both, folder)

    def test_the_target_for_clang(self):
        folder = Path(tempfile.mkdtemp(dir=self.here))
        plain, log = self.build("clang", self.lists("clang", but="nvptx-ra"), folder)
        before = self.instructions(plain, "subtract")
        ours, more = self.build("clang", folder=folder)
        self.assertLess(self.instructions(ours, "subtract"), before - 20)
        both = self.lists("clang").replace("nvptx-ra::plugin", "nvptx-ra::plugin nvptx-ra::ptxas")
        self.build("clang", both, folder)
        self.assertEqual(log + more, "", "clang has its own ptxas")

    def test_another_version_is_not_found(self):
        lists = self.lists("nvcc").replace("find_package(nvptx-ra", "find_package(nvptx-ra 9.9").replace(" CUDA", "")
        with self.assertRaisesRegex(AssertionError, 'compatible with requested\\s+version "9.9"'):
            self.build("nvcc", lists)


if __name__ == "__main__":
    unittest.main()
