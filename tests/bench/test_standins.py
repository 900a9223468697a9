"""Tests of the stand-ins for modules that are not installed."""

import importlib
import sys
import tempfile
import unittest
from pathlib import Path

import standins

BROKEN = "import no_such_module\nfrom no_such_module import there\nKNOWN = 7\nraise OSError\nLATER = 8\n"


class Lenient(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        package = Path(folder.name, "broken_package")
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "broken.py").write_text(BROKEN)
        self.addCleanup(sys.path.remove, folder.name)
        self.addCleanup(sys.meta_path.__setitem__, slice(None), list(sys.meta_path))
        self.addCleanup(self.forget)
        sys.path.append(folder.name)

    def forget(self):
        for name in [name for name in sys.modules if name.partition(".")[0] in ("broken_package", "no_such_module")]:
            del sys.modules[name]

    def test_what_an_import_did_not_reach_is_a_standin(self):
        standins.forgive({"broken_package"})
        module = importlib.import_module("broken_package.broken")
        self.assertEqual(module.KNOWN, 7)
        self.assertTrue(standins.is_standin(module.LATER))
        self.assertTrue(standins.is_standin(module.there))

    def test_others_fail_as_they_do(self):
        with self.assertRaises(ModuleNotFoundError):
            importlib.import_module("broken_package.broken")


if __name__ == "__main__":
    unittest.main()
