"""The wheel as a new user installs it: a virtual environment, `pip install`, and calls from Python.

The environment has only Rust and the means to install the wheel: no CUDA toolkit, and no program of this project.
The wheel's extra `cuda` installs NVIDIA's programs. Without a package index, the tests are skipped, or fail with
WHEEL=required in the environment.

    python3 -m unittest discover -s tests/python
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = "lib/python*/site-packages"

# In the first kernel, two hundred values are live at once with at most 64 registers, so ptxas spills. `small` has
# enough registers.
SPILLS = textwrap.dedent("""\
    .version 8.7
    .target sm_90
    .address_size 64

    .visible .entry spills(.param .u64 p)
    .maxntid 1024, 1, 1
    {
    \t.reg .b32 %r<401>;
    \t.reg .b64 %rd<3>;
    \tld.param.u64 %rd1, [p];
    \tcvta.to.global.u64 %rd2, %rd1;
    LOADS
    \tbar.sync 0;
    STORES
    \tret;
    }

    .visible .entry small(.param .u64 q)
    {
    \t.reg .b32 %r<2>;
    \t.reg .b64 %rd<3>;
    \tld.param.u64 %rd1, [q];
    \tcvta.to.global.u64 %rd2, %rd1;
    \tld.global.u32 %r1, [%rd2];
    \tst.global.u32 [%rd2+4], %r1;
    \tret;
    }
""")
LOADS = "\n".join(f"\tld.global.u32 %r{n}, [%rd2+{4 * n}];" for n in range(200))
STORES = "\n".join(
    f"\tadd.s32 %r{n + 200}, %r{n}, %r{199 - n};\n\tst.global.u32 [%rd2+{4 * n}], %r{n + 200};" for n in range(200)
)
PTX = SPILLS.replace("LOADS", LOADS).replace("STORES", STORES)

# A Triton kernel whose launch adds shared memory. The processor for which it is compiled need not be present.
TRITON_KERNEL = """\
import nvptx_ra.triton
nvptx_ra.triton.enable()
nvptx_ra.triton.enable()  # The second time nothing changes.

import json, os, sys
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def total(x, y, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(y, tl.sum(tl.load(x + at), axis=0))

source = ASTSource(fn=total, signature={"x": "*fp32", "y": "*fp32", "n": "constexpr"}, constexprs={(2,): 1024})
kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32))
names = [name for name in os.environ if "PTXAS" in name or name.startswith("NVPTX_RA")]
json.dump({"shared": kernel.metadata.shared, "bytes": len(kernel.asm["cubin"]),
           "environment": {name: os.environ[name] for name in names}}, sys.stdout)
"""

# Stands in for the program: it records its arguments, stores the PTX, and then runs ptxas.
STAND_IN = """\
#!/bin/sh
echo "$@" >> "$CALLS"
[ "$1" = ptxas ] || exit 1
shift
for word in "$@"; do case $word in *.ptx) cp "$word" "$CALLS.ptx";; esac; done
exec "$NVPTX_RA_PTXAS" "$@"
"""


# Variables that affect the build of the wheel. MATURIN_PEP517_ARGS=--profile=dev makes it faster.
KEPT = (
    "CARGO_TARGET_DIR",
    "CARGO_PROFILE_DEV_DEBUG",
    "CARGO_INCREMENTAL",
    "MATURIN_PEP517_ARGS",
    "PIP_INDEX_URL",
    "TMPDIR",
)


def clean_environment(**more):
    """Returns the environment of a user without any settings, with Rust in its usual place."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    home = Path.home()
    rust = {
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(home / ".cargo")),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(home / ".rustup")),
    }
    path = os.pathsep.join([str(Path(rust["CARGO_HOME"]) / "bin"), "/usr/local/bin", "/usr/bin", "/bin"])
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", **rust, **kept, **more}


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.here = Path(cls.folder.name)
        venv.create(cls.here / "venv", with_pip=True)
        cls.python = cls.here / "venv/bin/python"
        install = [cls.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{ROOT}[cuda]"]
        result = subprocess.run(install, env=clean_environment(), capture_output=True, text=True, check=False)
        if result.returncode != 0:
            offline = "No matching distribution" in result.stderr or "Could not find a version" in result.stderr
            if offline and os.environ.get("WHEEL") != "required":
                raise unittest.SkipTest("no package index can be reached")
            raise AssertionError(result.stderr)

    def run_python(self, text, *, status=0, **environment):
        """Returns the output of a program that runs in its own folder."""
        folder = tempfile.mkdtemp(dir=self.here)
        command = [self.python, "-c", text]
        variables = clean_environment(HOME=folder, **environment)
        result = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout if status == 0 else result.stderr

    def ptxas(self, text):
        """Returns the spilled bytes of each kernel, from NVIDIA's own ptxas in the virtual environment."""
        [program] = self.here.glob(f"venv/{PACKAGES}/nvidia/*/bin/ptxas")
        file = self.here / "judged.ptx"
        file.write_text(text)
        command = [program, "-v", "-O3", "-arch=sm_90", file, "-o", self.here / "judged.cubin"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        spills = r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads"
        return {name: int(stores) + int(loads) for name, stores, loads in re.findall(spills, said, re.DOTALL)}

    def test_the_program_is_that_of_the_wheel(self):
        said = self.run_python(
            "import nvptx_ra, subprocess; print(nvptx_ra.path(), flush=True);"
            "subprocess.run([nvptx_ra.path(), '--version'], check=True)"
        )
        program, version = said.splitlines()
        self.assertEqual(Path(program), (self.here / "venv/bin/nvptx-ra").resolve())
        self.assertRegex(version, r"^nvptx-ra \d+\.\d+\.\d+ \(without LLVM\)$")

    def test_nothing_of_nvidia_is_in_it(self):
        files = self.run_python("from importlib import metadata; print(*metadata.files('nvptx-ra'), sep='\\n')").split()
        ours = [file for file in files if "dist-info" not in file and not file.endswith(".pyc")]
        self.assertTrue(all(file.startswith("nvptx_ra/") or file.endswith("/bin/nvptx-ra") for file in ours), ours)
        for name in ("ptxas", "ptxas-blackwell"):
            [program] = self.here.glob(f"venv/{PACKAGES}/nvptx_ra/programs/{name}")
            self.assertLess(program.stat().st_size, 1000)

    def test_optimize(self):
        (self.here / "k.ptx").write_text(PTX)
        text = "import nvptx_ra, sys; ptx = open(sys.argv[1] if sys.argv[1:] else '%s').read();" % (self.here / "k.ptx")
        better = self.run_python(text + "print(nvptx_ra.optimize(ptx, arch='sm_90', runs=6), end='')")
        before, after = self.ptxas(PTX), self.ptxas(better)
        self.assertGreater(before["spills"], 0)
        self.assertLess(after["spills"], before["spills"])
        self.assertEqual(after["small"], 0)
        # A kernel without a better variant keeps every byte.
        self.assertEqual(better[better.index(".visible .entry small") :], PTX[PTX.index(".visible .entry small") :])

    def test_report(self):
        (self.here / "k.ptx").write_text(PTX)
        said = self.run_python(f"""if True:
            import json, nvptx_ra
            report = nvptx_ra.report(open("{self.here}/k.ptx").read(), arch="sm_90", dynamic_shared=1024, ptxas=True)
            kernel = report["spills"]
            assert isinstance(kernel, nvptx_ra.Kernel) and isinstance(kernel.peak.live[0], nvptx_ra.LiveValue)
            print(json.dumps([report.processor, [kernel.name for kernel in report.kernels], kernel.peak.words,
                kernel.dynamic_shared_bytes, kernel.ptxas.spill_store_bytes + kernel.ptxas.spill_load_bytes]))""")
        processor, names, words, shared, spills = json.loads(said)
        self.assertEqual((processor, names, shared), ("sm_90", ["spills", "small"], 1024))
        self.assertGreater(words, 64)
        self.assertEqual(spills, self.ptxas(PTX)["spills"])

    def test_every_field_of_the_report_is_there(self):
        """The classes have all fields of the program's report. The test fails if a new field of the report is missing
        in the classes."""
        (self.here / "k.ptx").write_text(PTX)
        said = self.run_python(f"""if True:
            import dataclasses, json, subprocess, nvptx_ra
            command = [nvptx_ra.path(), "report", "--json", "{self.here}/k.ptx"]
            def check(kind, value):
                names = {{field.name for field in dataclasses.fields(kind)}}
                assert set(value) <= names, set(value) - names
            report = json.loads(subprocess.check_output(command))
            check(nvptx_ra.Report, report)
            for kernel in report["kernels"]:
                check(nvptx_ra.Kernel, kernel)
                check(nvptx_ra.Peak, kernel["peak"])
                for value in kernel["peak"]["live"]:
                    check(nvptx_ra.LiveValue, value)
            print(len(report["kernels"]))""")
        self.assertEqual(said, "2\n")

    def test_errors_are_the_programs(self):
        said = self.run_python("import nvptx_ra; nvptx_ra.report('no PTX at all')", status=1)
        self.assertIn("nvptx_ra._call.Error: nvptx-ra: ", said)

    def triton(self, folder, **environment):
        """Compiles a kernel with a Triton that `scripts/setup.sh doors` has installed, and returns the result."""
        (self.here / "kernel.py").write_text(TRITON_KERNEL)
        text = f"import runpy; runpy.run_path('{self.here}/kernel.py')"
        return json.loads(self.run_python(text, PYTHONPATH=str(folder), **environment))

    def tritons(self):
        """Returns the folders of all installed Tritons, for the Python that runs this test."""
        python = ROOT / f"target/venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}"
        folders = sorted((ROOT / "target/doors").glob("triton-*"))
        if not python.is_dir() or not folders:
            self.skipTest("no Triton in target/doors")
        return folders

    def test_triton_calls_the_program_with_what_it_knows(self):
        stand_in, calls = self.here / "stand-in", self.here / "calls"
        stand_in.write_text(STAND_IN)
        stand_in.chmod(0o755)
        for folder in self.tritons():
            calls.write_text("")
            result = self.triton(folder, NVPTX_RA_PROGRAM=str(stand_in), CALLS=str(calls))
            said = calls.read_text().splitlines()
            self.assertTrue(all(call.startswith("ptxas ") for call in said), said)
            self.assertTrue(any("--gpu-name=sm_90a" in call for call in said), said)
            self.assertGreater(result["shared"], 0)
            self.assertGreater(result["bytes"], 1000)
            ptx = (self.here / "calls.ptx").read_text()
            self.assertTrue(ptx.endswith(f"}}\n// nvptx-ra: dynamic-shared {result['shared']}\n"), ptx[-200:])
            real = Path(result["environment"]["NVPTX_RA_PTXAS"])
            self.assertTrue(real.match("triton/backends/nvidia/bin/ptxas"), real)

    def test_triton_with_the_program_itself(self):
        command = [self.here / "venv/bin/nvptx-ra", "ptxas", "--help"]
        if subprocess.run(command, env=clean_environment(), capture_output=True, check=False).returncode == 2:
            self.skipTest("the program has no command ptxas")
        for folder in self.tritons():
            self.assertGreater(self.triton(folder)["bytes"], 1000)


if __name__ == "__main__":
    unittest.main()
