"""XLA's ptxas: which toolkit is wrapped, which settings XLA gets, and what is reported to the user on failure. JAX is
not needed. The tests in which XLA compiles are in tests/rust/ptxas_wrapper/doors.rs."""

import os
import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import nvptx_ra.jax  # noqa: E402
from programs import WithPrograms  # noqa: E402

# Records its arguments.
PROGRAM = '#!/bin/sh\nprintf "%s\\n" "$@" > "$NOTES"\n'
REFUSES = '#!/bin/sh\necho "nvptx-ra: there is no bin/ptxas" >&2\nexit 1\n'
BOTH = b"...\0xla_gpu_enable_libnvptxcompiler\0xla_gpu_enable_libnvjitlink\0..."
ONE = b"...\0xla_gpu_enable_libnvptxcompiler\0...\x1bxla_gpu_enable_libnvjitlinkR..."


class Jax(WithPrograms):
    def setUp(self):
        super().setUp()
        self.packages = self.folder / "packages"
        self.program("tools/cuobjdump")
        self.program("tools/nvdisasm")
        program = self.program("nvptx-ra", PROGRAM)
        variables = {"PATH": f"{self.folder / 'tools'}:/usr/bin:/bin", "NVPTX_RA_PROGRAM": str(program)}
        variables["NOTES"] = str(self.folder / "notes")
        self.enterContext(mock.patch.dict(os.environ, variables, clear=True))
        self.enterContext(mock.patch.dict(sys.modules))
        sys.modules.pop("jax", None)
        self.enterContext(mock.patch.object(sys, "path", [str(self.packages), *sys.path]))
        # Hides the packages that are installed on this machine.
        self.enterContext(mock.patch.object(nvptx_ra.jax, "_PACKAGES", ("test_cu13", "test_cuda_nvcc")))
        self.enterContext(mock.patch.object(nvptx_ra.jax, "_PLUGINS", ("test_plugins.cuda13", "test_plugins.cuda12")))

    def plugin(self, content):
        library = self.packages / "test_plugins/cuda12/xla_cuda_plugin.so"
        library.parent.mkdir(parents=True)
        library.write_bytes(content)

    def called(self):
        return Path(os.environ["NOTES"]).read_text().splitlines()

    def test_the_toolkit_that_jax_takes_is_wrapped(self):
        older = self.program("packages/test_cuda_nvcc/bin/ptxas").parents[1]
        self.program("packages/test_cu13/bin/nvlink")  # Of another package: there is no ptxas.
        nvptx_ra.jax.enable()
        root = os.environ["CUDA_ROOT"]
        self.assertEqual(self.called(), ["wrap-cuda", root, "--cuda", str(older)])
        newer = self.program("packages/test_cu13/bin/ptxas").parents[1]
        del os.environ["CUDA_ROOT"]
        nvptx_ra.jax.enable()
        self.assertEqual(self.called()[2:], ["--cuda", str(newer)])

    def test_comparisons_are_asked_for(self):
        self.program("packages/test_cu13/bin/ptxas")
        nvptx_ra.jax.enable()
        self.assertNotIn("NVPTX_RA_CHECK", os.environ)
        nvptx_ra.jax.enable(check=True)
        self.assertEqual(os.environ["NVPTX_RA_CHECK"], "1")

    def test_the_users_toolkit_comes_first_and_is_wrapped_once(self):
        self.program("packages/test_cu13/bin/ptxas")
        os.environ["CUDA_ROOT"] = "/opt/cuda"
        nvptx_ra.jax.enable()
        self.assertEqual(self.called()[2:], ["--cuda", "/opt/cuda"])
        before = dict(os.environ)
        nvptx_ra.jax.enable()
        self.assertEqual(dict(os.environ), before)

    def test_without_packages_the_program_looks_for_a_toolkit(self):
        nvptx_ra.jax.enable()
        self.assertEqual(self.called(), ["wrap-cuda", os.environ["CUDA_ROOT"]])

    def test_xla_is_told_what_it_knows(self):
        os.environ["XLA_FLAGS"] = "--xla_of_the_user=1"
        self.plugin(BOTH)
        nvptx_ra.jax.enable()
        ours = "--xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false"
        self.assertEqual(os.environ["XLA_FLAGS"], f"--xla_of_the_user=1 {ours}")

    def test_xla_is_not_told_what_it_does_not_know(self):
        self.plugin(ONE)
        nvptx_ra.jax.enable()
        self.assertEqual(os.environ["XLA_FLAGS"], "--xla_gpu_enable_libnvptxcompiler=false")

    def test_what_is_missing_is_named(self):
        os.environ["PATH"] = "/nowhere"
        with mock.patch("importlib.metadata.files", lambda name: None):
            with self.assertRaisesRegex(FileNotFoundError, "cuobjdump is missing; pip install nvidia-cuda-cuobjdump"):
                nvptx_ra.jax.enable()

    def test_what_the_program_says_is_said(self):
        self.program("nvptx-ra", REFUSES)
        with self.assertRaisesRegex(FileNotFoundError, "there is no bin/ptxas"):
            nvptx_ra.jax.enable()
        self.assertNotIn("CUDA_ROOT", os.environ)

    def test_disassemblers_of_packages_are_found_by_the_program(self):
        os.environ["PATH"] = "/usr/bin"
        where = {"nvidia-cuda-cuobjdump": "cuobjdump", "nvidia-cuda-nvdisasm": "nvdisasm"}

        def files(package):
            file = mock.Mock(locate=lambda: self.folder / "tools" / where[package])
            file.name = where.get(package)
            return [file] if file.name else None

        with mock.patch("importlib.metadata.files", lambda package: files(package) if package in where else None):
            nvptx_ra.jax.enable()
        self.assertEqual(os.environ["PATH"], f"/usr/bin:{self.folder / 'tools'}")

    def test_after_jax_it_is_too_late(self):
        sys.modules["jax"] = mock.Mock()
        with self.assertRaisesRegex(RuntimeError, "ahead of `import jax`"):
            nvptx_ra.jax.enable()


if __name__ == "__main__":
    unittest.main()
