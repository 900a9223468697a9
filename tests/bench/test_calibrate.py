"""Tests of what the fit of the forecast's model starts from and ends with; the fit itself is judged by its figures."""

import unittest

import calibrate


def row(words=0, calls=0, registers=0):
    counts = dict.fromkeys([*calibrate.HELD, "internal_calls", "external_calls"], 0)
    return counts | {name: words for name in calibrate.BASE} | {"internal_calls": calls, "registers": registers}


class Calibrate(unittest.TestCase):
    def test_a_few_registers_above_a_step_are_the_step(self):
        wanted = [1, 32, 33, 32 + calibrate.STEP_REACH, 33 + calibrate.STEP_REACH, 40, 41, 255]
        expected = [1, 32, 32, 32, 33 + calibrate.STEP_REACH, 40, 40, 255]
        self.assertEqual([calibrate.at_step(registers) for registers in wanted], expected)

    def test_the_base_grows_with_what_must_be_held_up_to_all_registers(self):
        self.assertEqual(calibrate.base_of(row()), calibrate.BASE_CONSTANT)
        self.assertGreater(calibrate.base_of(row(words=8)), calibrate.base_of(row(words=7)))
        self.assertEqual(calibrate.base_of(row(words=10_000)), 255)

    def test_a_call_takes_some_registers_at_least(self):
        self.assertEqual(calibrate.least(row()), 1)
        self.assertEqual(calibrate.least(row(calls=1)), calibrate.WITH_CALLS)


if __name__ == "__main__":
    unittest.main()
