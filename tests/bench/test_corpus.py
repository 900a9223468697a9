"""Tests of the contents of the corpus, and of the download of source distributions."""

import hashlib
import json
import os
import tempfile
import threading
import tomllib
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

import corpus
import packages


class Modules(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("fla__a.ll", "ggml__b.bc", "vllm__c.ll", "notes.txt"):
            (self.folder / name).touch()

    def names(self, *globs):
        return [Path(path).stem for path in corpus.modules(self.folder, globs)]

    def test_what_is_held_out_is_brought_along_only_where_it_is_named(self):
        with mock.patch.object(corpus, "FOLDER", self.folder.parent):
            self.assertEqual(self.names(), ["fla__a", "ggml__b"])
            self.assertEqual(self.names("vllm__*"), ["vllm__c"])

    def test_nothing_is_held_out_of_a_folder_of_ones_own(self):
        self.assertEqual(self.names(), ["fla__a", "ggml__b", "vllm__c"])

    def test_a_module_of_cuda_may_stand_in_the_folder_beside_it_as_the_front_end_leaves_it(self):
        module = self.folder / "ggml__b.bc"
        self.assertEqual(corpus.unoptimised(module), "")
        beside = Path(self.enterContext(tempfile.TemporaryDirectory(dir=self.folder)), "sm_90")
        for folder in (beside, beside.with_name("sm_90-unoptimised")):
            folder.mkdir()
            (folder / module.name).touch()
        found = corpus.unoptimised(beside / module.name)
        self.assertEqual(found, str(beside.with_name("sm_90-unoptimised") / module.name))
        self.assertEqual(corpus.unoptimised(beside / "fla__a.ll"), "")


class Sources(unittest.TestCase):
    def test_each_has_a_name_of_its_own_a_lineage_a_licence_and_a_place_to_come_from(self):
        sources = tomllib.loads(corpus.LIST.read_text(encoding="utf8"))["source"]
        self.assertEqual(len({source["name"] for source in sources}), len(sources))
        for source in sources:
            self.assertTrue(all(source.get(key) for key in ("lineage", "licence", "holds")), source["name"])
            self.assertEqual(sum(key in source for key in ("crate", "sdist", "package", "local")), 1, source["name"])


class Index(BaseHTTPRequestHandler):
    """A simple package index with one file, for which it states the hash `said`."""

    content, said = b"a distribution", b"a distribution"

    def do_GET(self):
        digest = hashlib.sha256(self.said).hexdigest()
        listed = {"filename": "p-1.tar.gz", "url": "../../files/p-1.tar.gz", "hashes": {"sha256": digest}}
        self.send_response(200)
        self.end_headers()
        page = json.dumps({"files": [listed]}).encode()
        self.wfile.write(self.content if self.path == "/files/p-1.tar.gz" else page)

    def log_message(self, *_):
        pass


class Download(unittest.TestCase):
    def setUp(self):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        index = {"PIP_INDEX_URL": f"http://127.0.0.1:{server.server_port}/simple/", "no_proxy": "127.0.0.1"}
        self.enterContext(mock.patch.dict(os.environ, index))

    def test_a_file_comes_from_where_the_index_says(self):
        self.assertEqual(packages.download("p", "p-1.tar.gz"), Index.content)

    def test_a_file_that_is_not_there_or_not_what_it_should_be_is_an_error(self):
        with self.assertRaisesRegex(LookupError, "/simple/p/ has no p-2.tar.gz"):
            packages.download("p", "p-2.tar.gz")
        with mock.patch.object(Index, "said", b"another"), self.assertRaisesRegex(LookupError, "is not what"):
            packages.download("p", "p-1.tar.gz")


if __name__ == "__main__":
    unittest.main()
