"""Results on disk, stored under a hash of their inputs, so that an interrupted run resumes."""

import gzip
import hashlib
import json
import os
import tempfile
from functools import cache
from pathlib import Path

from tools import ROOT


@cache
def file_hash(path):
    """Returns the hash of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder():
    """Returns the folder of the harness's results, as a string."""
    return os.environ.get("BENCH_CACHE") or str(ROOT / "target/bench/cache")


def key_of(*parts):
    """Returns a key computed from all inputs of a result."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Cache:
    """A folder of JSON values and compressed texts.

    Processes can share it: files appear completely or not at all.
    """

    def __init__(self, folder):
        self.folder = Path(folder)

    def path(self, key, suffix):
        return self.folder / key[:2] / (key[2:] + suffix)

    def get(self, key):
        try:
            return json.loads(self.path(key, ".json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None

    def put(self, key, value):
        self.write(self.path(key, ".json"), json.dumps(value).encode())

    def get_text(self, key):
        try:
            return gzip.decompress(self.path(key, ".gz").read_bytes()).decode()
        except (FileNotFoundError, EOFError, gzip.BadGzipFile):
            return None

    def has_text(self, key):
        return self.path(key, ".gz").exists()

    def put_text(self, key, text):
        self.write(self.path(key, ".gz"), gzip.compress(text.encode(), 1))

    @staticmethod
    def write(path, data):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
