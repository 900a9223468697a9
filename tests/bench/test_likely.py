"""Tests of the ranges of forecasts."""

import unittest

import likely


def pairs(said, taken, lineage="a"):
    """Returns a kernel for each number of registers, each in its own file."""
    row = {"lineage": lineage, "setting": "own"}
    return [(row | {"module": f"{lineage}{said}-{i}", "registers": n}, said) for i, n in enumerate(taken)]


class Likely(unittest.TestCase):
    def test_a_tenth_takes_less_and_a_tenth_more(self):
        self.assertEqual(likely.ranges(pairs(20, range(1, 41))), [(255, 0.2, 1.8)])

    def test_a_file_counts_once(self):
        [row, said] = pairs(20, [100])[0]
        many = [(row, said)] * 1000
        self.assertEqual(likely.ranges(pairs(20, [20] * 99, "b") + many), [(255, 1.0, 1.0)])

    def test_forecasts_of_too_few_files_share_a_range(self):
        few, enough = likely.ENOUGH_FILES - 1, likely.ENOUGH_FILES
        low, high = pairs(16, [16] * enough), pairs(64, [128] * enough)
        self.assertEqual(likely.ranges(low + high), [(16, 1.0, 1.0), (255, 2.0, 2.0)])
        self.assertEqual(likely.ranges(pairs(16, [16] * few) + high), [(255, 1.0, 2.0)])

    def test_ranges_of_sizes_are_of_stores_and_loads_together(self):
        spilling = [(row | {"stores": 3 * said, "loads_of_spills": said}, said) for row, said in pairs(64, range(40))]
        self.assertEqual(likely.ranges_of_sizes(spilling), [(1 << 30, 4.0, 4.0)])

    def test_a_range_holds_its_forecast(self):
        self.assertEqual(likely.range_of(20, [(16, 1, 1), (32, 1.1, 1.26)]), (20, 25))
        self.assertEqual(likely.range_of(16, [(16, 0.8, 0.9), (32, 1.1, 1.26)]), (13, 16))

    def test_ranges_are_judged_on_lineages_that_they_do_not_know(self):
        some = pairs(20, [20] * 40) + pairs(20, [30] * 40, "b")
        # The other lineage's registers are above the forecast, but the range always includes the forecast.
        self.assertIn("50 % of 80 kernels; by file 50 %", likely.within(some))
        self.assertIn("100 % of 80 kernels", likely.within(pairs(20, [20] * 40) + pairs(20, [20] * 40, "b")))

    def test_one_lineage_alone_has_no_others(self):
        self.assertEqual(likely.ranges([]), [])
        # Without other lineages, the range is the forecast alone.
        self.assertIn("25 % of 40 kernels; by file 25 %", likely.within(pairs(20, [20] * 10 + [30] * 30)))


if __name__ == "__main__":
    unittest.main()
