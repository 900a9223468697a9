"""Tests of the comparison of forecasts in a run: the settings, the compared kernels, and the tables."""

import json
import tempfile
import unittest
from dataclasses import replace

import forecasts
import gather
import graph
import measure
from test_bench import small_plan


def said(registers, stores=0, budget=255, declared_words=10):
    return {
        "registers": registers,
        "stores": stores,
        "loads": 0,
        "budget": budget,
        "declared_words": declared_words,
    }


def measured(registers, stores=0):
    return {"registers": registers, "stores": stores, "loads": 0}


def results_of(folder, forecast, kernels):
    """Returns results of stock at the kernels' own bounds."""
    return gather.Results(small_plan(folder), kernels={"own": {"stock": kernels}}, forecasts={"own": forecast})


def cells(lines, label):
    return next(line.split() for line in lines if line.startswith(label))


def asking(folder, settings=("own", "32", "none")):
    plan = small_plan(folder)
    return replace(plan, settings=settings, tools=replace(plan.tools, nvptx_ra="nvptx-ra"))


class Forecasts(unittest.TestCase):
    def test_the_forecast_is_asked_once_for_a_module_and_limit_and_never_without_bounds(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = [line for line in graph.lines(asking(folder)) if "/forecast/" in line and line.startswith("build ")]
            unasked = [line for line in graph.lines(small_plan(folder)) if "/forecast/" in line]
        outputs = [line.partition(": ")[0].rpartition("/")[2] for line in lines if "phony" not in line]
        self.assertEqual(outputs, ["ggml__a.own.json", "ggml__a.32.json"])
        self.assertEqual(unasked, [])

    def test_a_forecast_that_fails_is_a_failure_of_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = replace(asking(folder, ("own",)), compilers=())
            path = plan.forecast("ggml__a", "own")
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps({"error": "nvptx-ra: no", "kernels": {}}), encoding="utf8")
            failures = gather.gather(plan).failures
        self.assertEqual(failures, [("ggml__a", "forecast", "own", "nvptx-ra: no")])

    def test_the_report_and_ptxas_name_a_static_kernel_alike(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = asking(folder)
            results = gather.Results(plan, forecasts={"own": {}})
            answer = {"error": "", "kernels": {"_ZL4copyPf": said(30)}}
            gather.add_forecast(results, "ggml__a", "own", answer)
        self.assertEqual(list(results.forecasts["own"]), [("ggml__a", "_Z4copyPf")])

    def test_the_report_s_own_words_are_read(self):
        kernel = {"name": "k", "registers": 40, "spill_store_bytes": 8, "spill_load_bytes": 4, "budget": 64}
        report = {"kernels": [kernel | {"features": {"declared_words": 50.0, "loads": 1.0}}]}
        expected = {"registers": 40, "stores": 8, "loads": 4, "budget": 64, "declared_words": 50.0}
        self.assertEqual(measure.kernels_of_report(json.dumps(report)), {"k": expected})


class Tables(unittest.TestCase):
    def test_registers_are_judged_by_source_and_size_beside_what_is_declared(self):
        forecast = {
            ("ggml__a", "small"): said(30, declared_words=60),
            ("ggml__a", "large"): said(90, declared_words=100),
            ("ggml__a", "not assembled"): said(1),
        }
        kernels = {("ggml__a", "small"): measured(40), ("ggml__a", "large"): measured(100)}
        with tempfile.TemporaryDirectory() as folder:
            lines = list(forecasts.register_table(results_of(folder, forecast, kernels), "own"))
        self.assertIn(": 2 kernels", lines[0])
        # The errors are 25 % and 10 %, none is within 4 registers, and one of two steps is right. The declared words
        # are off by 50 % and 0 %.
        self.assertEqual(cells(lines, "ggml")[2:6], ["2", "17.5", "17.5", "0.0"])
        self.assertEqual(cells(lines, "ggml")[9:11], ["25.0", "25.0"])
        self.assertEqual(cells(lines, "below 64")[2:4], ["1", "25.0"])
        self.assertEqual(cells(lines, "from 64 on")[3:5], ["1", "10.0"])

    def test_no_row_stands_where_there_is_no_kernel(self):
        forecast, kernels = {("ggml__a", "k"): said(30)}, {("ggml__a", "k"): measured(40)}
        with tempfile.TemporaryDirectory() as folder:
            lines = list(forecasts.register_table(results_of(folder, forecast, kernels), "own"))
        self.assertFalse([line for line in lines if line.startswith("from 64 on")])

    def test_spills_are_naively_expected_where_more_is_declared_than_there_is(self):
        forecast = {
            ("ggml__a", "found"): said(32, stores=8, budget=32, declared_words=33),
            ("ggml__a", "missed"): said(32, budget=32, declared_words=40),
            ("ggml__a", "fits"): said(32, budget=32, declared_words=32),
        }
        kernels = {key: measured(32, 0 if key[1] == "fits" else 4) for key in forecast}
        with tempfile.TemporaryDirectory() as folder:
            lines = list(forecasts.spill_table(results_of(folder, forecast, kernels), "own"))
        self.assertEqual(cells(lines, "total")[1:], ["3", "2", "1", "1", "0.67", "2", "2", "1.00"])


if __name__ == "__main__":
    unittest.main()
