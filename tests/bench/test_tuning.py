"""Tests of what is tuned, and of how it is held against stock LLVM and cicc."""

import unittest
from types import SimpleNamespace

import tools
import tuning


def judged(spilled, warps=64, instructions=100):
    return {"spill_store_bytes": spilled, "spill_load_bytes": 0, "warps": warps, "sass_instructions": instructions}


def kernel(before, after, name="k", choice=""):
    return {"name": name, "stock": judged(*before), "tuned": judged(*after), "choice": choice}


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

    def test_a_run_of_the_tool_has_a_few_kernels_of_one_module(self):
        kernels = [("m", str(number)) for number in range(4)] + [("n", "0")]
        self.assertEqual(list(tuning.jobs_of(kernels)), [("m", ["0", "1", "2"]), ("m", ["3"]), ("n", ["0"])])


class Judging(unittest.TestCase):
    def test_worse_is_worse_in_any_of_bytes_warps_and_instructions(self):
        stock = (8, 32, 100)
        for after, expected in (((8, 32, 100), False), ((9, 64, 9), True), ((0, 31, 9), True), ((0, 64, 101), True)):
            self.assertEqual(tuning.is_worse(kernel(stock, after)), expected)

    def test_a_gain_of_warps_by_a_limit_is_not_one_without(self):
        gained = [kernel((0, 32), (0, 48), choice=choice) for choice in ("order=late", "order=late;maxnreg=40")]
        self.assertEqual([tuning.gains(of) for of in gained], [(True, True), (True, False)])
        self.assertEqual(tuning.gains(kernel((0, 32), (0, 32))), (False, False))

    def test_a_row_has_sums_and_counts(self):
        rows = [("m", kernel((40, 32, 100), (0, 40, 90))), ("m", kernel((60, 64, 50), (40, 64, 50)))]
        self.assertEqual(
            tuning.row_of("all", rows),
            ["all", "2", "100 → 40", "60 %", "2", "1", "150 → 140", "1", "1", "1"],
        )

    def test_cicc_is_held_against_the_kernels_that_it_compiles(self):
        rows = [("m", kernel((100,), (40,), "_ZL1kv")), ("m", kernel((100,), (0,), "_Z1lv"))]
        said = tuning.against_cicc(rows, {("m", "_Z1kv"): 20})
        self.assertEqual(
            said, "of 1 that cicc compiles, too: 100 → 40 bytes, cicc 20, 75 % of the way; 0 spill no more than cicc's"
        )

    def test_what_is_worse_replayed_otherwise_or_not_tuned_is_named(self):
        results = [
            {"module": "m", "error": "", "same": False, "kernels": [kernel((8, 32), (0, 16))]},
            {"module": "n", "error": "tune: killed", "same": True, "kernels": []},
        ]
        wanted = {tuning.SPILLING: [("m", "k"), ("n", "l")], tuning.OTHERS: []}
        _, bad = tuning.shown(wanted, results, {})
        self.assertEqual(bad, ["worse: m: k", "replayed otherwise: m", "not tuned: n: tune: killed"])

    def test_a_kernel_of_which_no_block_fits_is_left_out(self):
        results = [{"module": "m", "error": "", "same": True, "kernels": [kernel((8, 0), (8, 0))]}]
        lines, bad = tuning.shown({tuning.SPILLING: [("m", "k")]}, results, {})
        self.assertIn("spill: 1 chosen, 1 tuned, of 1 no block fits", lines)
        self.assertEqual(bad, [])


class Output(unittest.TestCase):
    def test_the_object_stands_between_lines_of_progress(self):
        self.assertEqual(tools.object_in('1 of 16 {…}\n{"kernels": [\n]}\n16 of 16\n'), {"kernels": []})


if __name__ == "__main__":
    unittest.main()
