"""Tests of the table of gains by value of an axis."""

import json
import tempfile
import unittest
from pathlib import Path

import gains


def figures(spilled, warps=32, instructions=500):
    return {
        "spill_store_bytes": spilled,
        "spill_load_bytes": 0,
        "warps": warps,
        "sass_instructions": instructions,
    }


def kernel(stock, tried):
    """Returns a kernel in the format of `nvptx-ra tune --json`. `tried` has the figures of each choice, `None` if
    ptxas refused it."""
    return {"stock": stock, "tried": [{"choice": choice, "figures": of} for choice, of in tried.items()]}


class Gains(unittest.TestCase):
    def table(self, kernels):
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder, "results")
            results.write_text("".join(json.dumps({"kernels": [one]}) + "\n" for one in kernels), encoding="utf8")
            text = gains.table([results], [])
        return [line for line in text.splitlines() if not line.startswith("#")]

    def test_values(self):
        choice = (
            "add-passes=sink+slsr;skip=gvn;order=late;order-seed=7;regalloc=255;regalloc-slack=24;maxnreg=80;rename-all"
        )
        expected = {"add-passes=sink", "add-passes=slsr", "skip-passes=gvn", "order=late", "order-seed"}
        expected |= {"regalloc", "maxnreg", "rename-all"}
        self.assertEqual(gains.values(choice), expected)
        self.assertEqual(gains.values("default"), set())

    def test_each_value_gains_beside_those_before(self):
        # `late` improves two kernels. In addition to `late`, `gvn` improves only one more kernel, although `gvn` alone
        # would also improve two.
        first = kernel(figures(100), {"order=late": figures(40), "skip-passes=gvn": figures(60)})
        both = {"order=late": figures(90), "skip=gvn": figures(96), "skip-passes=gvn;order=late": figures(80)}
        second = kernel(figures(100), both)
        self.assertEqual(self.table([first, second]), ["ir-spills order=late 2 70", "ir-spills skip-passes=gvn 1 10"])

    def test_what_is_worse_in_anything_wins_nothing(self):
        tried = {
            "order=late": figures(0, warps=16),
            "order=eager": figures(0, instructions=501),
            "skip-passes=gvn": None,
        }
        self.assertEqual(self.table([kernel(figures(100), tried)]), [])

    def test_kernels_that_spill_nothing_gain_warps(self):
        lacks = kernel(figures(0, warps=32), {"maxnreg=40": figures(0, warps=48)})
        full = kernel(figures(0, warps=64), {"maxnreg=40": figures(0, warps=64, instructions=400)})
        self.assertEqual(self.table([lacks, full]), ["ir-warps maxnreg 1 16"])


if __name__ == "__main__":
    unittest.main()
