"""Tests of the selection of kernels to tune, and of the comparison with stock LLVM and cicc."""

import unittest
from types import SimpleNamespace
from unittest import mock

import launches
import measure
import searched
import traffic
import tuning


def judged(spilled, warps=64, instructions=100, local=0, shared=0):
    return {
        "spill_store_bytes": spilled,
        "spill_load_bytes": 0,
        "warps": warps,
        "sass_instructions": instructions,
        "sass_local": local,
        "shared_bytes": shared,
    }


def kernel(before, after, name="k", choice="", compared=None, theirs=None):
    also = [{"choice": "also;order=late", "figures": judged(0)}, {"choice": "also", "figures": judged(*theirs or (0,))}]
    return {
        "name": name,
        "stock": judged(*before),
        "tuned": judged(*after),
        "choice": choice,
        "compared": compared,
        "refused": [],
        "tried": also if theirs else [],
        "from": "n.ptx" if choice.startswith("also") else None,
    }


def tuned(said, module="m", name="k", runs=16, error="", plain=False):
    return tuning.Tuned(searched.Kernel(module, name, "", launches.Launch(), False), runs, error, said, plain)


class Chosen(unittest.TestCase):
    STOCK = {f"m{module}": {f"k{number}": 8 * (number % 2) for number in range(20)} for module in range(3)}

    def chosen(self, **changed):
        return tuning.chosen(self.STOCK, SimpleNamespace(**{"draw": None, "others": 10, "seed": 1} | changed))

    def test_all_that_spill_and_as_many_others_as_asked_for_the_same_for_a_seed(self):
        found = self.chosen()
        self.assertEqual(len(found[tuning.SPILLING]), 30)
        self.assertEqual(len(found[tuning.OTHERS]), 10)
        self.assertTrue(all(not self.STOCK[module][name] for module, name in found[tuning.OTHERS]))
        self.assertEqual(found, self.chosen())
        self.assertNotEqual(found, self.chosen(seed=2))

    def test_fewer_that_spill_where_a_draw_is_asked_for(self):
        found = self.chosen(draw=7, others=100)
        self.assertEqual(len(found[tuning.SPILLING]), 7)
        self.assertEqual(len(found[tuning.OTHERS]), 30)


class Judging(unittest.TestCase):
    def test_worse_is_worse_in_any_of_bytes_warps_and_instructions(self):
        stock = (8, 32, 100)
        for after, expected in (((8, 32, 100), False), ((9, 64, 9), True), ((0, 31, 9), True), ((0, 64, 101), True)):
            self.assertEqual(tuning.is_worse(judged(*after), judged(*stock)), expected)

    def test_code_by_nvidia_is_the_better_one_where_it_is_worse_in_nothing(self):
        stock = (8, 32, 100)
        for theirs, is_better in (((0, 32, 99), True), ((0, 32, 101), False), ((9, 64, 9), False), (None, False)):
            said = kernel(stock, stock, theirs=theirs)
            self.assertEqual(tuning.better_of_both(said), judged(*theirs) if is_better else judged(*stock))
            said["refused"] = [{"choice": "also"}]
            self.assertEqual(tuning.better_of_both(said), judged(*stock))

    def test_what_is_worse_than_the_better_of_both_is_named(self):
        found = [kernel((8, 32), after, theirs=(4, 32), choice="also") for after in ((4, 32), (6, 32))]
        results = [tuned(said, name=name) for said, name in zip(found, "kl", strict=True)]
        wanted = {tuning.SPILLING: [("m", "k"), ("m", "l")], tuning.OTHERS: []}
        lines, bad = tuning.shown(wanted, results, {})
        self.assertEqual(bad, ["worse than NVIDIA's code: m: l"])
        self.assertTrue(any("2 are taken from it" in line and "bytes 16 → 8 → 10" in line for line in lines), lines)

    def test_a_gain_of_warps_by_a_plain_limit_is_none_of_other_code(self):
        def gains(choice, plain=False, after=48):
            return tuning.gains(tuned(kernel((0, 32), (0, after), choice=choice), plain=plain))

        self.assertEqual(gains("order=late"), (True, True, True))
        self.assertEqual(gains("order=late;maxnreg=40"), (True, True, False))
        self.assertEqual(gains("order=late;maxnreg=40", plain=True), (True, False, False))
        self.assertEqual(gains("order=late", after=32), (False, False, False))

    def test_a_plain_limit_does_where_stock_is_no_worse_with_it(self):
        said = kernel((8, 32), (0, 48), choice="order=late;maxnreg=40")
        found = {"error": "", "local_bytes": 8, "instructions": 100}
        plan = tuning.Plan("", "", "sm_90", {}, (tuning.Compiler(tuning.STOCK),), (), None)
        for changed, expected in (({}, True), ({"local_bytes": 9}, False), ({"instructions": 101}, False)):
            with (
                mock.patch.object(measure, "compile_module", lambda *_: ({}, ".entry k()\n{\n")),
                mock.patch.object(traffic, "measured", lambda *_, of=found | changed: of),
            ):
                self.assertEqual(tuning.plain_limit_does(tuned(said).kernel, said, plan), expected)
        self.assertFalse(tuning.plain_limit_does(tuned(said).kernel, said | {"choice": "order=late"}, plan))

    def test_a_row_has_sums_and_counts(self):
        kernels = [kernel((40, 32, 100, 10), (0, 40, 90, 2, 512)), kernel((60, 64, 50), (40, 64, 50))]
        kernels += [kernel((spilled,), (0,)) for spilled in (70, 80)]
        row = tuning.row_of("all", 16, [tuned(of) for of in kernels])
        self.assertEqual(row[:7], ["all", "16", "4", "250 → 40", "84.0 %", "100.0 %", "4"])
        self.assertEqual(row[7:], ["3", "10 → 2", "512", "350 → 340", "1", "1", "1", "1"])
        self.assertEqual(len(row), len(tuning.HEADER))

    def test_cicc_is_held_against_the_kernels_that_it_compiles(self):
        results = [tuned(kernel((100,), (40,)), name="_ZL1kv"), tuned(kernel((100,), (0,)), name="_Z1lv")]
        said = tuning.against_cicc(16, results, {("m", "_Z1kv"): 20})
        expected = "16 runs: of 1 that cicc compiles, too: 100 → 40 bytes, cicc 20; 1 spill more than cicc's"
        self.assertEqual(said, expected)

    def test_what_comparing_said_is_counted_of_the_kernels_that_change(self):
        results = [
            tuned(kernel((8,), (8,), choice="stock")),
            tuned(kernel((8,), (0,), compared={"verdict": "same", "reason": None})),
            tuned(kernel((8,), (0,))),
        ]
        expected = "16 runs: of 2 that change, compared by running: 1 not compared, 1 same; 0 variants refused"
        self.assertEqual(tuning.compared(16, results), expected)

    def test_what_is_worse_or_not_tuned_is_named_for_each_number_of_runs(self):
        results = [
            tuned(kernel((8, 32), (0, 16))),
            tuned(kernel((8, 32), (0, 32)), runs=64),
            tuned(None, "n", "l", error="it is replayed otherwise"),
        ]
        wanted = {tuning.SPILLING: [("m", "k"), ("n", "l")], tuning.OTHERS: []}
        lines, bad = tuning.shown(wanted, results, {})
        self.assertEqual(bad, ["worse: m: k", "not tuned: n: l: it is replayed otherwise"])
        rows = [line.split()[:2] for line in lines if line.startswith("m, ")]
        self.assertEqual(rows, [["m,", "spill"]] * 2)

    def test_a_kernel_of_which_no_block_fits_is_left_out(self):
        lines, bad = tuning.shown({tuning.SPILLING: [("m", "k")]}, [tuned(kernel((8, 0), (8, 0)))], {})
        self.assertIn("1 searches, of 1 no block fits", lines)
        self.assertEqual(bad, [])


if __name__ == "__main__":
    unittest.main()
