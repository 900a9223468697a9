"""NVPTX_RA=off disables this package. Other values are ignored."""

import os

from nvptx_ra._decisions import LOG

_TOLD = set()


def is_off(caller):
    """Whether the environment disables the package. Logs this once for each caller."""
    if os.environ.get("NVPTX_RA") != "off":
        return False
    if caller not in _TOLD:
        _TOLD.add(caller)
        LOG.warning("NVPTX_RA is off: %s calls its own ptxas", caller)
    return True
