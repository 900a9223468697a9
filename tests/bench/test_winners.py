"""Tests of the report on the winners of searches."""

import unittest
from unittest import mock

import launches
import searched
import winners

KERNEL = searched.Kernel("m", "k", "", launches.Launch(), False)


class Winners(unittest.TestCase):
    def test_stock_is_no_winner(self):
        self.assertIsNone(winners.winner_of(KERNEL, {"choice": "stock"}, "", None))

    def test_what_the_tool_says_counts(self):
        said = {"choice": "order=late", "assurance": "proved", "executed": {"ratio": 1.25}}
        self.assertEqual(winners.winner_of(KERNEL, said, "", None), winners.Winner("order=late", "proved", 1.25))
        said |= {"choice": "skip-passes=gvn", "assurance": "neither", "executed": None}
        self.assertEqual(winners.winner_of(KERNEL, said, "", None), winners.Winner("skip-passes=gvn", "neither", None))

    def test_json_of_before_is_made_up_for(self):
        same, other = {"verdict": "same"}, {"verdict": "not comparable"}
        with mock.patch.object(winners, "ratio_by_comparing", lambda *_: 2.0):
            for choice, compared, expected in (
                ("order=late;maxnreg=40", other, "proved"),
                ("order=late;skip-passes=gvn", same, "run"),
                ("unroll=asked", other, "neither"),
                ("also", None, "neither"),
            ):
                said = {"choice": choice, "compared": compared}
                self.assertEqual(winners.winner_of(KERNEL, said, "", None), winners.Winner(choice, expected, 2.0))

    def test_the_ratio_is_that_of_the_json_of_compare(self):
        executed = '[{"executed": [{"instructions": 4}, {"instructions": 6}]}]'
        self.assertEqual(winners.ratio_in(f"a line\n{executed}\n"), 1.5)
        self.assertIsNone(winners.ratio_in('[{"executed": null}]'))
        self.assertIsNone(winners.ratio_in("error: no kernel"))

    def test_sums(self):
        of = [("a", winners.Winner("x", "proved", 1.1)), ("b", winners.Winner("y", "run", 1.11))]
        of += [("c", winners.Winner("z", "neither", None))]
        lines = winners.lines_of(16, of)
        self.assertEqual(lines[1], "16 runs: b: run, × 1.11, y")
        self.assertEqual(lines[2], "16 runs: c: neither, not known, z")
        expected = "16 runs: 1 of 3 winners execute more than 1.1 times stock's PTX instructions, of 1 it is not known"
        self.assertEqual(lines[3], f"{expected}; 1 proved, 1 run, 1 neither")


if __name__ == "__main__":
    unittest.main()
