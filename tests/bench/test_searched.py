"""Tests of the search of one kernel."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import launches
import measure
import searched
import tools

PLAN = SimpleNamespace(level=3, attributes="+ptx88", cpu_of=lambda module: "sm_90", tools=None)


def kernel(unoptimised=""):
    return searched.Kernel("candle__m", "k", "k.bc", launches.Launch(256, 1024), False, unoptimised)


class Replays(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def said(self, path, text, also=""):
        profile = self.folder / "profile.toml"
        return searched.replayed_otherwise(kernel("ahead.bc"), path, text, profile, PLAN, "ra", also)

    def test_the_tool_replays_what_is_not_optimised(self):
        for text, error in (("ret;\n", ""), ("exit;\n", "it is replayed otherwise")):

            def replay(command, timeout, text=text):
                self.assertEqual(command[:4], ["ra", "compile", "ahead.bc", "-O3"])
                self.assertIn("--optimise=yes", command)
                Path(command[-1]).write_text(text, encoding="utf8")
                return tools.Outcome("", "", 0.0)

            with mock.patch.object(tools, "run", replay):
                self.assertEqual(self.said("ahead.bc", "ret;\n"), error)

    def test_what_comes_from_another_compiler_is_linked_to_what_is_replayed(self):
        commands = []

        def replay(command, timeout):
            commands.append(command)
            Path(command[-1]).write_text("own\n" if command[1] == "compile" else "linked\n", encoding="utf8")
            return tools.Outcome("", "", 0.0)

        with mock.patch.object(tools, "run", replay):
            self.assertEqual(self.said("ahead.bc", "linked\n", "n.ptx"), "")
            self.assertEqual(self.said("ahead.bc", "own\n", "n.ptx"), "it is replayed otherwise")
        own = commands[1][2]
        self.assertEqual(commands[1][:2], ["ra", "ptx"])
        self.assertEqual(Path(own).read_text(encoding="utf8"), "own\n")
        self.assertIn("--also=n.ptx", commands[1])

    def test_llc_replays_what_is_optimised(self):
        for text, error in (("ret;\n", ""), ("exit;\n", "it is replayed otherwise")):
            with (
                mock.patch.object(measure, "llc_flags", lambda *_: []),
                mock.patch.object(searched, "replace", lambda plan, **_: plan),
                mock.patch.object(measure, "run_llc", lambda *_, text=text: ("", 0.0, 0, text)),
            ):
                self.assertEqual(self.said("k.bc", "ret;\n"), error)


class Launches(unittest.TestCase):
    def test_what_is_known_of_a_launch_is_said(self):
        self.assertEqual(searched.launch_flags(kernel().launch), ["--dynamic-shared=1024", "--threads=256"])
        self.assertEqual(searched.launch_flags(launches.Launch()), [])


if __name__ == "__main__":
    unittest.main()
