"""Work in a process of its own, because it may hang or crash; what it has started ends with it."""

import os
import signal
import time


def run(work, limit):
    """Runs `work`, which returns an exit status, for at most `limit` seconds. Returns how it ended, empty where well.

    The process leads a group, and the group is what is stopped: a compiler's assembler would run on, and hold the
    output open that others read to its end.
    """
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            status = work()
        finally:
            os._exit(status)
    os.setpgid(child, child)  # whichever of the two is first
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
