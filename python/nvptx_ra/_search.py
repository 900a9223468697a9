"""Searches of the PTX modules that builds have recorded, on the machines of any executor."""

import collections
import concurrent.futures
import json
import logging
import os
import subprocess
import tempfile
from pathlib import Path

from nvptx_ra import _toolkit
from nvptx_ra._call import Error
from nvptx_ra._program import path

LOG = logging.getLogger("nvptx_ra")

# How often a module is submitted again if its worker is lost.
TRIES = 4


def search(folder, *, runs=16, executor=None):
    """Searches the PTX modules that builds with NVPTX_RA_RUNS=0 and NVPTX_RA_RECORD=`folder` have recorded, and writes
    a profile for each beside it. Builds with NVPTX_RA_PROFILE=`folder` use the profiles. A module with a profile is
    not searched again.

    runs: how many variants of each kernel ptxas judges.
    executor: a `concurrent.futures.Executor`, such as that of Dask (`client.get_executor()`) or of mpi4py; by
    default threads of
        this process. Workers share no files with this process. Each has this package, and NVIDIA's programs as for
        `optimize`.

    Returns the paths of the written profiles. If a module could not be searched, raises `Error` with the reason
    after all others are done.
    """
    if executor is None:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            return search(folder, runs=runs, executor=threads)
    folder = Path(folder)
    written, problems, waiting, tries = [], [], {}, collections.Counter()

    def hand_out(digest):
        tries[digest] += 1
        text, conditions = ((folder / f"{digest}.{end}").read_bytes() for end in ("ptx", "json"))
        waiting[executor.submit(search_text, digest, text, conditions, runs)] = digest

    for digest in _open_texts(folder):
        hand_out(digest)
    while waiting:
        done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            digest = waiting.pop(future)
            try:
                name, profile = future.result()
            except Error as error:
                problems.append(f"{digest}: {error}")
            # The exception for a lost worker depends on the executor.
            except Exception as error:
                said = f"{digest}: {type(error).__name__}: {error}"
                if tries[digest] == TRIES or isinstance(error, concurrent.futures.BrokenExecutor):
                    problems.append(said)
                    continue
                LOG.warning("%s; it is handed out again", said)
                hand_out(digest)
            else:
                _write(folder / name, profile)
                written.append(folder / name)
                LOG.info("%s: searched", digest)
    if problems:
        raise Error("; ".join(sorted(problems)))
    return sorted(written)


def search_text(digest, text, conditions, runs):
    """Searches one module on the machine of this process. Returns the name of its profile, and the profile.

    text, conditions: the content of the two files of a record.
    """
    with tempfile.TemporaryDirectory(prefix="nvptx-ra-") as name:
        folder = Path(name)
        (folder / f"{digest}.ptx").write_bytes(text)
        (folder / f"{digest}.json").write_bytes(conditions)
        command = [path(), "search", name, f"--runs={runs}", "--json"]
        result = subprocess.run(command, capture_output=True, env=_toolkit.environment(), check=False)
        profiles = list(folder.glob("*.toml"))
        if result.returncode == 0 and len(profiles) == 1:
            return profiles[0].name, profiles[0].read_bytes()
    said = result.stderr.decode(errors="replace").strip()
    if result.returncode == 1:
        raise Error(said)
    # The process was killed from outside, for example because its machine shuts down.
    raise RuntimeError(said or f"{command[0]}: exit status {result.returncode}")


def _open_texts(folder):
    """Returns the modules without a profile. If several records share a profile, the first is searched."""
    names = set()
    for record in sorted(folder.glob("[!.]*.json")):
        try:
            name = json.loads(record.read_bytes())["profile"]
        except (ValueError, KeyError) as error:
            raise Error(f"{record}: {error!r}; remove the record, and build again") from None
        if name not in names and not (folder / name).exists():
            yield record.stem
        names.add(name)


def _write(file, content):
    """Writes a file completely or not at all."""
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as new:
        try:
            new.write(content)
            new.close()
            os.chmod(new.name, 0o644)
            os.replace(new.name, file)
        except BaseException:
            os.unlink(new.name)
            raise
