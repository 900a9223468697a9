"""Tests of the scores of forecasts."""

import unittest

import judge


def row(module, registers, spilled=0, lineage="one"):
    return {
        "module": module,
        "lineage": lineage,
        "budget": 255,
        "registers": registers,
        "stores": spilled,
        "loads_of_spills": 0,
    }


class Judging(unittest.TestCase):
    def test_the_mean_by_file_counts_each_file_once(self):
        rows = [row("a", 40), row("a", 40), row("a", 40), row("b", 20)]
        line = judge.of_registers(rows, [40, 40, 40, 30])
        self.assertEqual(
            line,
            "4 kernels: error 12.5 %, within 4 75 %, step 100 %; by file 25.0 %, 50 %, 100 %",
        )

    def test_a_step_of_the_occupancy_is_one_of_the_processor(self):
        step = [judge.scores([row("a", 40) | {"cpu": cpu}], [32])[2][0] for cpu in ("sm_86", "sm_90")]
        self.assertEqual(step, [100, 0])

    def test_kernels_are_large_by_what_they_take_not_by_what_is_forecast(self):
        lines = judge.registers("all", [row("a", 63), row("a", 64)], [64, 63])
        self.assertEqual(
            [line.partition(" kernels")[0] for line in lines[1:]], ["all, below 64: 1", "all, from 64 on: 1"]
        )

    def test_a_spill_that_is_missed_and_one_that_is_not_there_count_alike(self):
        rows = [row("a", 32, 8), row("a", 32, 8), row("a", 32), row("a", 32)]
        self.assertIn("2 spill, 2 forecast, 1 of them do: F1 0.50", judge.of_spills(rows, [True, False, True, False]))
        self.assertIn("F1 none", judge.of_spills(rows[2:], [False, False]))

    def test_sizes_are_judged_by_the_factor_that_they_are_off_by(self):
        pairs = [(row("a", 32, 100), 200), (row("a", 32, 100), 50), (row("b", 32, 80), 240)]
        line = judge.of_sizes(pairs)
        # Factors between forecast and measurement: 2 (too high), 2 (too low) and 3. The mean is the cube root of 12,
        # and by file the root of 2 times 3.
        self.assertIn("3 kernels: off by a factor of 2.29, by file 2.45; median 2.00 of what it is", line)
        self.assertIn("within a factor of two 67 %", line)
        self.assertEqual(judge.of_sizes([]), "no kernels")


if __name__ == "__main__":
    unittest.main()
