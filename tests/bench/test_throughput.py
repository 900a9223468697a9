"""Tests of the parsing and the arithmetic of throughput.py."""

import unittest

import cost
import throughput

PASSES = """
   ---User Time---   --System Time--   --User+System--   ---Wall Time---  --- Name ---
   0.0526 ( 45.2%)   0.0097 ( 31.0%)   0.0623 ( 42.2%)   0.1936 ( 63.2%)  NVPTX DAG->DAG Pattern Instruction Selection
   0.0008 (  0.7%)   0.0001 (  0.4%)   0.0009 (  0.6%)   0.0010 (  0.3%)  Register Coalescer
"""


class Reading(unittest.TestCase):
    def test_wall_times_are_read_by_name(self):
        times = dict(cost.pass_times(PASSES))
        self.assertEqual(times["Register Coalescer"], 0.0010)
        self.assertEqual(len(times), 2)

    def test_statistics_are_summed_over_functions(self):
        log = '{"insts":3,"time_ns":{"coalesce":2000}}\n{"time_ns":{"flatten":500,"coalesce":1000}}\n'
        instructions, seconds = throughput.read_statistics(log)
        self.assertEqual(instructions, 3)
        self.assertAlmostEqual(seconds["coalesce"], 3e-6)
        self.assertAlmostEqual(seconds["flatten"], 5e-7)

    def test_of_each_phase_the_fastest_run_counts(self):
        runs = [(5, throughput.Counter(a=2.0, b=1.0)), (5, throughput.Counter(a=1.0, b=3.0))]
        self.assertEqual(throughput.fastest(runs), (5, {"a": 1.0, "b": 1.0}))

    def test_rates_are_of_all_our_phases_together(self):
        seconds = throughput.Counter({"flatten": 0.5, "analyses": 0.25, "coalesce": 0.25, "coalescer": 2.0})
        row, total = throughput.rows_of({"m": (4_000_000, seconds)})
        self.assertEqual(row[:3], ["m", "4,000,000", "4.0"])
        self.assertEqual(row[1:], total[1:])
        self.assertIn("2.0", row)


if __name__ == "__main__":
    unittest.main()
