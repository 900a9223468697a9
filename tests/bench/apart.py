"""Runs work in a separate process, because the work may hang or crash. The child processes of this process end with
it."""

import os
import signal
import time


def run(work, limit):
    """Runs `work`, which returns an exit status, for at most `limit` seconds. Returns an error message, or an empty
    string on success.

    The process leads a process group, and the whole group is stopped. Otherwise, an assembler that a compiler
    started would keep running and keep the output open. Readers of the output would then wait for its end.
    """
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            status = work()
        finally:
            os._exit(status)
    os.setpgid(child, child)  # both processes call this, because either may run first
    end = time.monotonic() + limit
    try:
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                child = None
                return "" if status == 0 else f"the compiler ended with status {status}"
            time.sleep(0.02)
        return f"more than {limit} s"
    finally:
        if child is not None:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
