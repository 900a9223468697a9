"""Tests of the input and the output of the model's fit. The accuracy of the models is the test of the fit itself."""

import json
import tempfile
import unittest
from pathlib import Path

import calibrate


def row(words=0, **others):
    asked = [*calibrate.HELD, "internal_calls", "external_calls", "doubles", "words_at_double"]
    asked += ["words_at_call", "words_at_division", "wide_divisions", "registers", "min_blocks"]
    held = {name: words for _, factors in calibrate.BASES.values() for name in factors}
    return dict.fromkeys(asked, 0) | held | others


class Rows(unittest.TestCase):
    def test_nothing_is_fitted_to_what_is_held_out(self):
        features = dict.fromkeys(calibrate.HELD, 7)
        report = json.dumps({"kernels": [{"name": "k", "features": features, "budget": 255}]})
        taken = {"registers": 20, "stores": 0, "loads": 0}
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder, "results")
            kernels = {"own": {"stock": {f"{module}/k": taken for module in ("fla__a", "vllm__a")}}}
            results.write_text(json.dumps({"kernels": kernels}))
            for module in ("fla__a", "vllm__a"):
                Path(folder, f"{module}.json").write_text(report)
            rows = calibrate.load(Path(folder), [results])
        self.assertEqual([(row["module"], row["lineage"]) for row in rows], [("fla__a", "fla")])


class Calibrate(unittest.TestCase):
    def test_a_few_registers_above_a_step_are_the_step(self):
        wanted = [32, 32 + calibrate.STEP_REACH, 40, 40 + calibrate.STEP_REACH, 48]
        self.assertEqual([calibrate.taken(registers) for registers in wanted], [32, 32, 40, 40, 48])

    def test_more_are_the_step_where_the_size_of_a_block_is_known(self):
        # An occupancy step reaches four registers if the block size is known, and one register otherwise.
        wanted = [32, 36, 37, 40]
        self.assertEqual([calibrate.taken(registers, any_blocks=True) for registers in wanted], [32, 32, 38, 40])
        self.assertEqual([calibrate.taken(registers) for registers in (33, 34, 36)], [32, 34, 36])

    def test_steps_are_those_of_blocks_of_the_size_that_is_known(self):
        # An SM holds 32 blocks of 32 threads with up to 64 registers, so below 64 there is no step.
        self.assertEqual([calibrate.taken(n, 32, any_blocks=True) for n in (36, 43, 68, 71)], [36, 44, 64, 72])
        # In blocks of 256 threads, an SM holds as many blocks with 56 registers as with 64.
        self.assertEqual([calibrate.taken(n, 256, any_blocks=True) for n in (43, 59, 68)], [40, 60, 64])

    def test_registers_are_given_up_for_warps_where_far_too_few_are_there(self):
        many = {"any_blocks": 1, "varying_words": calibrate.GIVES_UP, "reordered_words": 256}
        self.assertTrue(calibrate.gives_up(many))
        fewer = ({"any_blocks": 0}, {"varying_words": calibrate.GIVES_UP - 1}, {"reordered_words": 255})
        self.assertFalse(any(calibrate.gives_up(many | less) for less in fewer))
        self.assertEqual([calibrate.for_warps(threads) for threads in (32, 128, 768, 1024)], [64, 32, 40, 32])

    def test_elsewhere_registers_are_even_in_the_same_step(self):
        expected = {20.9: 20, 21: 22, 31.2: 32, 32.4: 32, 34.8: 34, 35.2: 36, 255: 256}
        self.assertEqual({wanted: calibrate.taken(wanted) for wanted in expected}, expected)

    def test_the_base_grows_with_what_must_be_held_up_to_all_registers(self):
        for blocks, word in ((0, calibrate.WITHOUT_BLOCKS), (2, calibrate.WITH_BLOCKS)):
            base = lambda words=0, blocks=blocks: calibrate.base_of(row(words, min_blocks=blocks))
            self.assertEqual(base(), calibrate.BASES[word][0])
            self.assertGreater(base(8), base(7))
            self.assertEqual(base(10_000), 255)

    def test_spills_grow_with_what_is_over_the_register_limit_alone(self):
        over = lambda better, order: calibrate.sum_of(  # noqa: E731
            {"reordered_words_over_budget": better, "words_over_budget": order}, calibrate.SPILL_SIZES
        )
        self.assertEqual([over(-40, -8), over(0, 10), over(10, 10)], [16, 56, 116])

    def test_early_loads_cost_registers_where_the_blocks_of_an_sm_are_said(self):
        early = row(early_words=60)
        self.assertGreater(calibrate.base_of(early | {"min_blocks": 1}), calibrate.base_of(early) + 20)

    def test_a_call_takes_some_registers_at_least(self):
        self.assertEqual(calibrate.least(row()), 1)
        self.assertEqual(calibrate.least(row(internal_calls=1)), calibrate.WITH_CALLS)

    def test_a_division_of_doubles_takes_some_registers_beside_what_is_live(self):
        divides = row(doubles=1, words_at_double=30.0)
        self.assertEqual(calibrate.least(divides), 30 + calibrate.WITH_DOUBLE)
        self.assertEqual(calibrate.least(divides | {"words_at_double": 1, "external_calls": 1}), calibrate.WITH_CALLS)
        # Words are live at a call, but no code divides 64-bit floating-point numbers.
        self.assertEqual(calibrate.least(divides | {"doubles": 0}), 1)

    def test_what_is_live_at_external_calls_lies_above_what_they_overwrite(self):
        calls = row(external_calls=1, words_at_call=30.0)
        self.assertEqual(calibrate.least(calls), 30 + calibrate.WITH_EXTERNAL)
        self.assertEqual(calibrate.least(calls | {"words_at_call": 1}), calibrate.WITH_CALLS)
        self.assertEqual(calibrate.least(calls | {"internal_calls": 1}), calibrate.WITH_CALLS)

    def test_a_64_bit_division_takes_some_registers_beside_what_can_be_held(self):
        for live, floor in {0: 20, 14: 34, 235: 255, 236: 1}.items():
            divides = row(wide_divisions=1, words_at_division=float(live))
            self.assertEqual(calibrate.least(divides), floor, live)
            self.assertEqual(calibrate.least(divides | {"wide_divisions": 0}), 1)


if __name__ == "__main__":
    unittest.main()
