"""Decisions of the ptxas wrapper, for the logger `nvptx_ra`.

Triton does not show ptxas's output. The wrapper therefore writes its lines to a file of this process, by
NVPTX_RA_LOG, and the lines are read after each compilation. Child processes write to the same file. Their lines are
read after the next compilation here, or at exit.
"""

import atexit
import contextlib
import logging
import os
import re
import shutil
import tempfile
import threading
from pathlib import Path

LOG = logging.getLogger("nvptx_ra")

# The end of warnings.
NOTE = "NVPTX_RA=off turns nvptx-ra off"

VARIABLE = "NVPTX_RA_LOG"

# The module of the wrapper's lines, the levels from the quietest on, and the syntax of a part of a value that names a
# module.
_MODULE = "nvptx_ra::ptxas"
_LEVELS = ("off", "error", "warn", "info", "debug", "trace")
_PART = re.compile(r"(?P<module>nvptx_ra(?:::[A-Za-z0-9_]+)*)(?:\s*=\s*(?P<level>.*))?", re.ASCII | re.DOTALL)

# Part of lines about machine code that computes something else than its PTX.
_DIFFERS = ": checked: different: "

# Parts of lines that give the reason why a PTX module was not searched, and of lines whose reason is the user's
# setting.
_REASONS = ("ptxas runs alone: ", "ptxas runs alone;", "the unchanged result stays: ")
_WANTED = ("NVPTX_RA_RUNS is 0", "NVPTX_RA_EFFORT is 0", "NVPTX_RA is off")


def _part(text):
    """Returns the module and the level of a part of a value."""
    if text.lower() in _LEVELS:
        return "", text.lower()
    named = _PART.fullmatch(text)
    level = "trace" if named and named["level"] is None else named["level"].lower() if named else None
    if level not in _LEVELS:
        raise ValueError(text)
    return named["module"], level


def wanted(value):
    """Parses a value of NVPTX_RA_LOG: returns a path, or None, and whether the lines are shown. The program has the
    same grammar (src/logging.rs), and the tests of both share one list of values."""
    if "/" in value:
        return value, False
    shown, most = False, -1
    for module, level in map(_part, filter(None, map(str.strip, value.split(",")))):
        is_named = not module or f"{_MODULE}::".startswith(f"{module}::")
        if is_named and len(module) >= most:
            shown, most = _LEVELS.index(level) >= _LEVELS.index("info"), len(module)
    return None, shown


class Decisions:
    """Reads the lines of the wrapper as they arrive."""

    def __init__(self):
        self._lock = threading.RLock()
        self._folder = self._file = None
        # The process that created the file: a fork creates another file.
        self._process = None
        self._read = 0
        # An additional file for the lines, if the user named one.
        self._copy = None
        self._is_shown = False
        self._has_warned = False

    def start(self):
        """Makes the wrapper write to a file. The user's value of NVPTX_RA_LOG keeps its effect: `info` shows the lines
        on standard error, and the lines are appended to a path."""
        with self._lock:
            named = os.environ.get(VARIABLE, "")
            if self._process == os.getpid() and named == str(self._file):
                return
            if named != str(self._file):
                try:
                    self._copy, self._is_shown = wanted(named)
                except ValueError:
                    self._copy, self._is_shown = None, False
                    LOG.warning("%s is '%s', and nothing is logged; docs/ptxas.md has its values", VARIABLE, named)
            if self._folder is None:
                self._folder = tempfile.mkdtemp(prefix="nvptx-ra-log-")
                atexit.register(self._end, os.getpid())
            if self._process != os.getpid():
                self._process, self._read = os.getpid(), 0
                self._file = Path(self._folder) / str(self._process)
            os.environ[VARIABLE] = str(self._file)
            if self._is_shown and LOG.getEffectiveLevel() > logging.INFO:
                LOG.setLevel(logging.INFO)
            if self._is_shown and not LOG.hasHandlers():
                LOG.addHandler(logging.StreamHandler())

    def _end(self, process):
        # A forked child also has this handler, and leaves the folder to its parent.
        if process == os.getpid():
            self.read()
            shutil.rmtree(self._folder, ignore_errors=True)

    def read(self):
        """Logs the new lines and returns them."""
        with self._lock:
            if self._file is None:
                return []
            try:
                with self._file.open("rb") as file:
                    file.seek(self._read)
                    content = file.read()
            except FileNotFoundError:
                return []
            # An incomplete line of another process is read the next time.
            content = content[: content.rfind(b"\n") + 1]
            self._read += len(content)
            lines = content.decode(errors="replace").splitlines()
            if self._copy and content:
                with contextlib.suppress(OSError), open(self._copy, "ab") as copy:
                    copy.write(content)
            for line in lines:
                LOG.log(logging.WARNING if _DIFFERS in line else logging.INFO, "%s", line)
                if any(part in line for part in _REASONS) and not any(part in line for part in _WANTED):
                    self.warn(line)
            return lines

    def warn(self, reason):
        """Warns once why nothing was searched."""
        with self._lock:
            if not self._has_warned:
                self._has_warned = True
                LOG.warning("a kernel was not searched: %s; %s", reason, NOTE)


DECISIONS = Decisions()
