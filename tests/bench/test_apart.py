"""Tests of work in a separate process: its exit status, and the end of its child processes."""

import os
import subprocess
import tempfile
import threading
import unittest
from functools import partial
from pathlib import Path

import apart
import tools


class Apart(unittest.TestCase):
    def test_how_it_ends_is_said(self):
        self.assertEqual(apart.run(lambda: 0, 20), "")
        self.assertIn("ended with status", apart.run(lambda: 3, 20))
        self.assertIn("ended with status", apart.run(os.abort, 20))

    def test_what_it_has_started_is_stopped_with_it(self):
        reads, writes = os.pipe()
        reason = apart.run(lambda: subprocess.run(["sleep", "60"], pass_fds=[writes], check=False).returncode, 1)
        os.close(writes)
        self.assertEqual(reason, "more than 1 s")
        self.assert_ends(partial(os.read, reads, 1))
        os.close(reads)

    def test_a_command_is_stopped_with_what_it_has_started(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = Path(folder, "pipe")
            os.mkfifo(pipe)
            reads = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            outcome = tools.run(["sh", "-c", f"exec 3> {pipe}; sleep 60 & wait"], 1)
            self.assertEqual(outcome.error, "sh: more than 1 s")
            os.set_blocking(reads, True)
            self.assert_ends(partial(os.read, reads, 1))
            os.close(reads)

    def assert_ends(self, read):
        """A reader of the pipe reaches its end, because no process keeps the pipe open."""
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        reader.join(20)
        self.assertFalse(reader.is_alive())


if __name__ == "__main__":
    unittest.main()
