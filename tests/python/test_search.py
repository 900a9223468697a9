"""Searches of recorded modules by executors: the tasks, the written profiles, and retries after workers are lost."""

import concurrent.futures
import json
import logging
import os
import signal
import sys
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import nvptx_ra  # noqa: E402
from nvptx_ra import _search  # noqa: E402
from programs import WithPrograms  # noqa: E402

try:
    import distributed
except ImportError:
    distributed = None

# Acts like the program: writes a profile next to the only record in its folder. `bad` is refused, and each run of
# `slow` records its parent process.
PROGRAM = """\
#!/bin/sh
[ "$1 $3 $4" = "search --runs=3 --json" ] || exit 1
cd "$2"
text=$(cat *.ptx)
case "$text" in
  bad*) echo 'ptxas refuses it' >&2; exit 1 ;;
  slow*) echo $PPID >> "$BEGUN/$text"; sleep 1 ;;
esac
name=$(sed 's/.*"profile": "\\([^"]*\\)".*/\\1/' *.json)
echo "profile of $text" > "$name"
"""


class LosesWorkers(concurrent.futures.ThreadPoolExecutor):
    """Loses the first `losses` tasks of each module."""

    def __init__(self, losses):
        super().__init__(2)
        self.losses = losses
        self.seen = {}

    def submit(self, function, digest, *arguments):
        self.seen[digest] = self.seen.get(digest, 0) + 1
        if self.seen[digest] <= self.losses:
            future = concurrent.futures.Future()
            future.set_exception(OSError("a worker is lost"))
            return future
        return super().submit(function, digest, *arguments)


class Search(WithPrograms):
    def setUp(self):
        super().setUp()
        self.records = self.folder / "records"
        self.records.mkdir()
        begun = self.folder / "begun"
        begun.mkdir()
        variables = {"NVPTX_RA_PROGRAM": str(self.program("nvptx-ra", PROGRAM)), "BEGUN": str(begun)}
        environment = mock.patch.dict(os.environ, variables)
        environment.start()
        self.addCleanup(environment.stop)

    def record(self, digest, text, profile=None):
        (self.records / f"{digest}.ptx").write_text(text)
        conditions = {"form": 1, "profile": profile or f"{digest}-sm_90.toml", "options": [], "settings": {}}
        (self.records / f"{digest}.json").write_text(json.dumps(conditions))

    def profiles(self):
        return {file.name: file.read_text() for file in self.records.glob("*.toml")}

    def search(self, **named):
        return [file.name for file in nvptx_ra.search(self.records, runs=3, **named)]

    def test_texts_without_a_profile_are_searched(self):
        self.record("a", "one")
        self.record("b", "two")
        self.record("c", "one", profile="a-sm_90.toml")
        (self.records / ".d.json.Xy1").write_text("half")
        (self.records / "b-sm_90.toml").write_text("there already")
        self.assertEqual(self.search(), ["a-sm_90.toml"])
        profiles = {"a-sm_90.toml": "profile of one\n", "b-sm_90.toml": "there already"}
        self.assertEqual(self.profiles(), profiles)
        self.assertEqual(self.search(), [])
        files = {"a.ptx", "a.json", "b.ptx", "b.json", "c.ptx", "c.json", ".d.json.Xy1", *profiles}
        self.assertEqual({file.name for file in self.records.iterdir()}, files)

    def test_a_lost_worker_is_replaced(self):
        self.record("a", "one")
        with self.assertLogs("nvptx_ra", logging.WARNING) as logs, LosesWorkers(3) as executor:
            self.assertEqual(self.search(executor=executor), ["a-sm_90.toml"])
        self.assertEqual(logs.output[0], "WARNING:nvptx_ra:a: OSError: a worker is lost; it is handed out again")
        self.assertEqual((len(logs.output), executor.seen), (3, {"a": 4}))

    def test_losses_have_an_end(self):
        self.record("a", "one")
        error = self.assertRaisesRegex(nvptx_ra.Error, "^a: OSError: a worker is lost$")
        with LosesWorkers(4) as executor, error, self.assertLogs("nvptx_ra", logging.WARNING):
            self.search(executor=executor)
        self.assertEqual((self.profiles(), executor.seen), ({}, {"a": 4}))

    def test_a_refused_text_leaves_the_others(self):
        self.record("a", "bad")
        self.record("b", "two")
        with self.assertRaisesRegex(nvptx_ra.Error, "^a: ptxas refuses it$"):
            self.search()
        self.assertEqual(self.profiles(), {"b-sm_90.toml": "profile of two\n"})

    def test_a_profile_is_written_as_a_whole(self):
        with mock.patch("os.replace", side_effect=OSError), self.assertRaises(OSError):
            _search._write(self.records / "a.toml", b"text")
        self.assertEqual(list(self.records.iterdir()), [])

    @unittest.skipUnless(distributed, "Dask is not installed")
    def test_dask_loses_a_worker(self):
        texts = [f"slow{number}" for number in range(6)]
        for text in texts:
            self.record(text, text)
        cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
        with cluster, distributed.Client(cluster) as client:

            def kill():
                while not any((self.folder / "begun").iterdir()):
                    time.sleep(0.01)
                worker = next((self.folder / "begun").iterdir()).read_text().split()[0]
                os.kill(int(worker), signal.SIGKILL)

            killer = threading.Thread(target=kill)
            killer.start()
            self.search(executor=client.get_executor())
            killer.join()
        begun = sum(len(file.read_text().split()) for file in (self.folder / "begun").iterdir())
        self.assertGreater(begun, len(texts), "no text was begun twice")
        self.assertEqual(self.profiles(), {f"{text}-sm_90.toml": f"profile of {text}\n" for text in texts})


if __name__ == "__main__":
    unittest.main()
