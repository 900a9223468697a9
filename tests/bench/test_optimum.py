"""Tests of the sums of bounds by source."""

import unittest

import optimum


def function(module, best, necessary, executed=1.0):
    counts = {"copies": 9, "left": 7, "best": best, "necessary": necessary}
    return {"module": module, "function": "k", **counts, **{f"{key}_executed": executed for key in counts}}


class Sums(unittest.TestCase):
    def setUp(self):
        self.totals = optimum.totals_of(
            [function("b__one", 5, 5), function("b__two", 6, 4), function("a__three", 7, 7, executed=2.5)]
        )

    def test_sources_come_in_order_and_the_total_last(self):
        self.assertEqual(list(self.totals), ["a", "b", "total"])

    def test_counts_are_summed_and_functions_are_exact_where_bounds_meet(self):
        self.assertEqual(self.totals["b"]["necessary"], 9)
        self.assertEqual(self.totals["total"]["best"], 18)
        self.assertEqual((self.totals["total"]["exact"], self.totals["total"]["functions"]), (2, 3))

    def test_rows_show_shares_and_weights(self):
        rows = {row[0]: row[1:] for row in optimum.rows_of(self.totals)}
        self.assertEqual(rows["b"], ["2", "18", "14", "11", "9", "50.0"])
        weighted = {row[0]: row[1:] for row in optimum.weighted_rows_of(self.totals)}
        self.assertEqual(weighted["a"], ["2", "2", "2", "2"])

    def test_depths_are_summed_where_functions_have_them(self):
        shallow, deep = {"by_depth": [[3, 2, 1]]}, {"by_depth": [[1, 1, 1], [5, 4, 4]]}
        self.assertEqual(optimum.depths_of([shallow, deep]), [[4, 3, 2], [5, 4, 4]])


if __name__ == "__main__":
    unittest.main()
