"""A base class for tests that write small programs into the test's own folder."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from nvptx_ra import _program  # noqa: E402


class WithPrograms(unittest.TestCase):
    """A test with a temporary `folder`. Each test searches anew for this project's program."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        _program.path.cache_clear()
        self.addCleanup(_program.path.cache_clear)

    def program(self, name, text="#!/bin/sh\n"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path
