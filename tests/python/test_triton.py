"""nvptx-ra in ptxas's place, on a small model of Triton: which ptxas runs, also if other settings name a ptxas, and
what is logged. The tests with Triton itself are in tests/rust/ptxas_wrapper/doors.rs."""

import functools
import logging
import os
import subprocess
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import nvptx_ra.triton  # noqa: E402
from nvptx_ra import _decisions, _switch  # noqa: E402
from programs import WithPrograms  # noqa: E402

# Stands in for the program: it logs LINES, and prints which ptxas would run.
PROGRAM = """\
#!/bin/sh
[ -z "$LINES" ] || printf "$LINES" >> "$NVPTX_RA_LOG"
echo "us in front of $NVPTX_RA_PTXAS"
"""
THEIRS = "#!/bin/sh\necho theirs\n"


class Tool:
    """Triton's way to find a program: the path set by Python code, or else the variable, or else Triton's own path."""

    def __init__(self, variable, default):
        self.variable, self.default = variable, default

    def __set_name__(self, _owner, name):
        self.name = name

    def __get__(self, of, _owner=None):
        path = of.__dict__.get(self.name) or os.environ.get(self.variable) or self.default
        return types.SimpleNamespace(path=path)

    def __set__(self, of, path):
        of.__dict__[self.name] = path


class WithTriton(WithPrograms):
    def setUp(self):
        super().setUp()
        self.bundled = str(self.program("triton/ptxas", THEIRS))
        self.of_torch = str(self.program("torch/bin/ptxas", THEIRS))
        program = str(self.program("nvptx-ra", PROGRAM))
        variables = {"NVPTX_RA_PROGRAM": program, "PATH": os.environ["PATH"], "LINES": "k: no better\\n"}
        self.enterContext(mock.patch.dict(os.environ, variables, clear=True))
        self.enterContext(mock.patch.dict(nvptx_ra.triton._NAMED, clear=True))
        decisions = _decisions.Decisions()
        self.enterContext(mock.patch.object(nvptx_ra.triton, "DECISIONS", decisions))
        self.addCleanup(lambda: decisions._end(os.getpid()))
        log = logging.getLogger("nvptx_ra")
        self.addCleanup(lambda: (log.setLevel(logging.NOTSET), log.handlers.clear()))

        class Nvidia:
            ptxas = Tool("TRITON_PTXAS_PATH", self.bundled)
            ptxas_blackwell = Tool("TRITON_PTXAS_BLACKWELL_PATH", self.bundled)

        knobs = types.SimpleNamespace(nvidia=Nvidia())
        self.knobs = knobs

        @functools.lru_cache
        def get_ptxas_version():
            return knobs.nvidia.ptxas.path

        class Backend:
            def hash(self):
                return get_ptxas_version()

            def make_cubin(self, src, metadata):
                return subprocess.check_output([knobs.nvidia.ptxas.path], stderr=subprocess.DEVNULL, text=True).strip()

        self.backend = Backend()
        triton = types.ModuleType("triton")
        triton.knobs = knobs
        compiler = types.ModuleType("triton.backends.nvidia.compiler")
        compiler.CUDABackend, compiler.get_ptxas_version = Backend, get_ptxas_version
        nvidia = types.ModuleType("triton.backends.nvidia")
        nvidia.compiler = compiler
        modules = {
            "triton": triton,
            "triton.backends": types.ModuleType("triton.backends"),
            "triton.backends.nvidia": nvidia,
            "triton.backends.nvidia.compiler": compiler,
        }
        self.enterContext(mock.patch.dict(sys.modules, modules))
        self.enterContext(mock.patch.object(nvptx_ra.triton._autotuned, "install"))

    def enterContext(self, context):
        """Enters a context. Python has this method since 3.11; the test also runs with earlier versions."""
        result = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return result

    def import_torch(self, always):
        """Acts like `import torch` with a wheel of PyTorch that contains a ptxas."""
        if always or "TRITON_PTXAS_PATH" not in os.environ:
            os.environ["TRITON_PTXAS_PATH"] = self.of_torch

    def compile(self):
        """Returns the key in Triton's cache, and the output of the program that Triton calls."""
        return self.backend.hash(), self.backend.make_cubin("text", {"shared": 8})

    def assert_ours(self, real):
        key, said = self.compile()
        self.assertEqual(said, f"us in front of {real}")
        self.assertTrue(key.endswith("/nvptx_ra/programs/ptxas"), key)


class Places(WithTriton):
    def test_it_is_enabled_ahead_of_torch(self):
        nvptx_ra.triton.enable()
        self.import_torch(always=False)
        self.assert_ours(self.bundled)

    def test_it_is_enabled_behind_torch(self):
        self.import_torch(always=False)
        with self.assertNoLogs("nvptx_ra", "WARNING"):
            nvptx_ra.triton.enable()
            nvptx_ra.triton.enable()
        self.assert_ours(self.of_torch)

    def test_what_takes_the_place_later_does_the_work_and_is_named(self):
        for is_compiled in (False, True):
            nvptx_ra.triton.enable()
            if is_compiled:
                self.compile()
            self.import_torch(always=True)
            with self.assertLogs("nvptx_ra", "WARNING") as logs:
                self.assert_ours(self.of_torch)
            [said] = [line for line in logs.output if "was set to" in line]
            self.assertIn(f"TRITON_PTXAS_PATH was set to {self.of_torch}; nvptx-ra is back in its place", said)
            with self.assertLogs("nvptx_ra", "INFO") as logs:
                self.assert_ours(self.of_torch)
                logging.getLogger("nvptx_ra").info("nothing else")
            self.assertEqual([line for line in logs.output if "was set to" in line], [])

    def test_what_python_names_counts_no_more(self):
        nvptx_ra.triton.enable()
        self.knobs.nvidia.ptxas = self.of_torch
        self.assert_ours(self.of_torch)

    def test_the_users_choice_stays(self):
        os.environ["NVPTX_RA_PTXAS"] = "/the/users/ptxas"
        nvptx_ra.triton.enable()
        self.import_torch(always=True)
        self.assert_ours("/the/users/ptxas")


class Off(WithTriton):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(_switch, "_TOLD", set()))

    def test_nothing_takes_a_place_and_the_log_says_so_once(self):
        os.environ["NVPTX_RA"] = "off"
        before = dict(os.environ)
        with self.assertLogs("nvptx_ra", "WARNING") as logs:
            nvptx_ra.triton.enable()
            nvptx_ra.triton.enable()
        self.assertEqual(logs.output, ["WARNING:nvptx_ra:NVPTX_RA is off: Triton calls its own ptxas"])
        self.assertEqual(dict(os.environ), before)
        self.assertEqual(self.compile(), (self.bundled, "theirs"))

    def test_other_values_are_somebody_elses(self):
        os.environ["NVPTX_RA"] = "target/release/nvptx-ra"
        nvptx_ra.triton.enable()
        self.assert_ours(self.bundled)


class Decisions(WithTriton):
    def logs(self, lines, level="INFO"):
        os.environ["LINES"] = lines
        with self.assertLogs("nvptx_ra", level) as logs:
            self.compile()
        return [(record.levelname, record.getMessage()) for record in logs.records]

    def test_each_decision_is_logged_and_read_once(self):
        nvptx_ra.triton.enable()
        both = [("INFO", "k: 8+8 → 0 bytes"), ("INFO", "l: no better")]
        self.assertEqual(self.logs("k: 8+8 → 0 bytes\\nl: no better\\n"), both)
        self.assertEqual(self.logs("m: no better\\n"), [("INFO", "m: no better")])

    def test_the_first_reason_is_a_warning(self):
        nvptx_ra.triton.enable()
        line = "ptxas runs alone: --new-file: it may name a file"
        self.assertEqual(self.logs(line + "\\n"), [("INFO", line), ("WARNING", f"a kernel was not searched: {line}; {_decisions.NOTE}")])
        self.assertEqual(self.logs(line + "\\n"), [("INFO", line)])

    def test_code_that_differs_is_a_warning(self):
        nvptx_ra.triton.enable(check=True)
        self.assertEqual(os.environ["NVPTX_RA_CHECK"], "1")
        lines = "k: checked: different: at p+0\\nl: checked: same in 4 launches\\n"
        both = [("WARNING", "k: checked: different: at p+0"), ("INFO", "l: checked: same in 4 launches")]
        self.assertEqual(self.logs(lines), both)

    def test_nothing_is_compared_unless_asked_for(self):
        nvptx_ra.triton.enable()
        self.assertNotIn("NVPTX_RA_CHECK", os.environ)

    def test_a_search_that_finds_nothing_is_no_warning(self):
        nvptx_ra.triton.enable()
        wanted = "ptxas runs alone: NVPTX_RA_RUNS is 0"
        off = "ptxas runs alone: NVPTX_RA is off"
        for line in ("k: no better after 8 variants", "nothing to search: no kernel", wanted, off):
            self.assertEqual(self.logs(line + "\\n"), [("INFO", line)])

    def test_a_program_that_says_nothing_is_a_warning(self):
        nvptx_ra.triton.enable()
        [(level, said)] = self.logs("", "WARNING")
        self.assertEqual(level, "WARNING")
        self.assertIn("Triton did not call nvptx-ra", said)

    def test_the_users_own_log_gets_the_lines(self):
        log = self.folder / "log"
        os.environ["NVPTX_RA_LOG"] = str(log)
        nvptx_ra.triton.enable()
        nvptx_ra.triton.enable()
        self.logs("k: no better\\n")
        self.logs("l: no better\\n")
        self.assertEqual(log.read_text(), "k: no better\nl: no better\n")

    def test_the_program_and_python_read_the_same_values(self):
        lines = (ROOT / "tests/golden/log.txt").read_text().splitlines()
        for line in (line for line in lines if not line.startswith("#")):
            value, expected = line.rsplit(" -> ", 1)
            try:
                path, shown = _decisions.wanted(value)
                found = "file" if path == value else "shown" if shown else "not shown"
            except ValueError:
                found = "refused"
            self.assertEqual(found, expected, value)

    def test_a_value_that_is_none_is_a_warning(self):
        os.environ["NVPTX_RA_LOG"] = "log.txt"
        with self.assertLogs("nvptx_ra", "WARNING") as seen:
            nvptx_ra.triton.enable()
        self.assertIn("NVPTX_RA_LOG is 'log.txt', and nothing is logged", seen.output[0])

    def test_info_shows_the_lines(self):
        os.environ.update(NVPTX_RA_LOG="info", LINES="k: no better\\n")
        root = mock.patch.object(logging.getLogger(), "handlers", [])
        with root, mock.patch.object(sys, "stderr") as stderr:
            nvptx_ra.triton.enable()
            self.compile()
        said = "".join(call.args[0] for call in stderr.write.call_args_list)
        self.assertEqual(said, "k: no better\n")


if __name__ == "__main__":
    unittest.main()
