"""The package without its program: which of NVIDIA's programs it uses, which command it runs, and how it reads the
output."""

import json
import logging
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import nvptx_ra  # noqa: E402
from nvptx_ra import _report, _toolkit  # noqa: E402
from programs import WithPrograms  # noqa: E402

# Prints the program's output, and records its arguments and its input.
PROGRAM = """\
#!/bin/sh
printf '%s\\n' "$@" > "$NOTES"
cat >> "$NOTES"
printf 'better'
echo 'a line of the search' >&2
[ "$*" != "tune -o - -" ] || exit 1
"""


class Package(WithPrograms):
    def environment(self, **variables):
        clean = {name: value for name, value in os.environ.items() if name not in {"CUDA_PATH", "NVPTX_RA_PROGRAM"}}
        return mock.patch.dict(os.environ, {**clean, **variables}, clear=True)

    def test_the_toolkit_comes_before_path_and_packages(self):
        of_toolkit, on_path = self.program("cuda/bin/ptxas"), self.program("path/ptxas")
        in_package = self.program("package/ptxas")
        file = mock.Mock(locate=lambda: in_package)
        file.name = "ptxas"
        packages = mock.patch("importlib.metadata.files", lambda name: [file] if name == "nvidia-cuda-nvcc" else None)
        path, toolkit, nothing = str(self.folder / "path"), str(self.folder / "cuda"), str(self.folder / "nothing")
        with packages:
            for variables, found in [
                ({"CUDA_PATH": toolkit, "PATH": path}, of_toolkit),
                ({"CUDA_PATH": nothing, "PATH": path}, on_path),
                ({"CUDA_PATH": "", "PATH": path}, on_path),
                ({"PATH": nothing}, in_package),
            ]:
                with self.environment(**variables):
                    self.assertEqual(_toolkit.find("ptxas"), str(found), variables)
                    # The program uses the first match on PATH.
                    self.assertEqual(_toolkit.environment()["PATH"].split(os.pathsep)[0], str(found.parent))
        with self.environment(PATH=nothing), mock.patch("importlib.metadata.files", lambda name: None):
            self.assertIsNone(_toolkit.find("ptxas"))

    def called(self, function, *arguments, **named):
        """Returns the result of a call, and the arguments and the input that the program got."""
        notes = self.folder / "notes"
        program = self.program("nvptx-ra", PROGRAM)
        for name in _toolkit.PACKAGES:
            self.program(f"cuda/bin/{name}")
        variables = {"NVPTX_RA_PROGRAM": str(program), "NOTES": str(notes), "CUDA_PATH": str(self.folder / "cuda")}
        with self.environment(**variables):
            return function(*arguments, **named), notes.read_text().split("\n")

    def test_arguments_of_a_search(self):
        with self.assertLogs("nvptx_ra", logging.INFO) as logs:
            result, said = self.called(
                nvptx_ra.optimize, "the\ntext", arch="sm_90", runs=3, threads=128, dynamic_shared={"dot": 4, "max": 8}
            )
        self.assertEqual(result, "better")
        options = ["--cpu=sm_90", "--runs=3", "--threads=128", "--dynamic-shared=dot=4", "--dynamic-shared=max=8"]
        self.assertEqual(said, ["tune", *options, "-o", "-", "-", "the", "text"])
        self.assertEqual(logs.output, ["INFO:nvptx_ra:a line of the search"])
        _, said = self.called(nvptx_ra.optimize, "text", dynamic_shared=0)
        self.assertEqual(said, ["tune", "--dynamic-shared=0", "-o", "-", "-", "text"])

    def test_a_failure_is_an_error(self):
        with self.assertRaisesRegex(nvptx_ra.Error, "^a line of the search$"):
            self.called(nvptx_ra.optimize, "text")

    def test_missing_programs_are_named(self):
        nothing = str(self.folder / "nothing")
        with self.environment(PATH=nothing), mock.patch("importlib.metadata.files", lambda name: None):
            missing = r"^ptxas, cuobjdump, nvdisasm: not found; pip install '\.\[cuda\]' in a checkout"
            with self.assertRaisesRegex(nvptx_ra.Error, missing):
                nvptx_ra.optimize("text")

    def test_reports_of_newer_programs_are_read(self):
        live = {"register": "%1", "name": None, "line": 3, "words": 2, "uniform": False, "colour": "red"}
        peak = {"function": "k", "line": None, "words": 2, "instruction": 0, "live": [live]}
        fields = [field for field in _report.Kernel.__dataclass_fields__ if field not in {"ptxas", "peak"}]
        kernel = {**dict.fromkeys(fields), "name": "k", "spill_store_bytes": 4, "spill_load_bytes": 8, "peak": peak}
        report = _report.read(json.dumps({"version": "9", "processor": "sm_90", "kernels": [kernel], "new": 1}))
        self.assertEqual(report["k"].peak.live, [nvptx_ra.LiveValue("%1", None, 3, 2, False)])
        self.assertEqual((report["k"].spill_bytes, report["k"].slots, report["k"].ptxas), (12, None, None))
        with self.assertRaises(KeyError):
            report["l"]


if __name__ == "__main__":
    unittest.main()
