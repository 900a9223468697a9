"""Tests of the parts of the comparison of Triton operators that need no GPU."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().with_name("gpu")))

import operator_calls
import operator_inputs
import operator_run
import operator_triton
import operators


class Tuning(unittest.TestCase):
    def test_few_configurations_are_all_tried(self):
        self.assertEqual(operator_triton.spread([1, 2, 3], 6), [1, 2, 3])

    def test_of_many_some_at_even_distances_are_tried(self):
        self.assertEqual(operator_triton.spread(list(range(9)), 3), [1, 4, 7])
        self.assertEqual(operator_triton.spread(list(range(9)), 1), [4])
        for count in range(1, 40):
            for most in range(1, 8):
                chosen = operator_triton.spread(list(range(count)), most)
                self.assertEqual(chosen, sorted(set(chosen)))
                self.assertEqual(len(chosen), min(count, most))


class Code(unittest.TestCase):
    def test_the_order_of_slots_in_the_stack_is_no_difference(self):
        one, other = "STL.64 [R1+0x780], R18 ;", "STL.64 [R1+0x788], R18 ;"
        self.assertEqual(operator_triton.without_places(one), operator_triton.without_places(other))
        other = "STL.64 [R1+0x788], R20 ;"
        self.assertNotEqual(operator_triton.without_places(one), operator_triton.without_places(other))


class Turns(unittest.TestCase):
    def test_both_are_the_first_equally_often(self):
        self.assertEqual(operator_run.turns(2), ["stock", "ours", "ours", "stock"])


class Assignment(unittest.TestCase):
    # One run launches two specialisations of `gemm`, and `sum` once between them.
    SEQUENCE, NAMES = [0, 1, 2], ["gemm", "sum", "gemm"]

    def test_launches_of_a_name_are_told_apart_by_their_order(self):
        events = [("gemm", 10), ("copy", 9), ("sum", 1), ("gemm", 20), ("gemm", 11), ("sum", 2), ("gemm", 21)]
        times = operator_run.assign(events, ["stock", "ours"], self.SEQUENCE, self.NAMES)
        self.assertEqual(times, {"stock": [[10], [1], [20]], "ours": [[11], [2], [21]]})

    def test_launches_of_one_kernel_are_added(self):
        events = [("gemm", 1), ("gemm", 2), ("gemm", 4), ("gemm", 8)]
        times = operator_run.assign(events, ["ours", "stock"], [0, 0], ["gemm"])
        self.assertEqual(times, {"ours": [[3]], "stock": [[12]]})

    def test_a_kernel_has_no_times_if_launches_are_missing(self):
        events = [("gemm", 10), ("sum", 1), ("gemm", 11), ("sum", 2), ("gemm", 21)]
        times = operator_run.assign(events, ["stock", "ours"], self.SEQUENCE, self.NAMES)
        self.assertEqual(times, {"stock": [None, [1], None], "ours": [None, [2], None]})


def figures(local):
    return {"local": local, "registers": 255, "shared": 1024, "warps": 4, "stages": 2}


def kernel(name, changed, ours=(9.0,) * 8):
    times = {"stock": [10.0] * len(ours), "ours": list(ours)}
    known = {"name": name, "changed": changed, "microseconds": times}
    return known | {"stock": figures(16), "ours": figures(8 if changed else 16)}


def output(**said):
    return {"finite": True, "repeats": True, "same": True, "apart": 0.0, "apart_stock": 0.0} | said


class Tables(unittest.TestCase):
    RESULTS = (
        {
            "operator": "gla",
            "kernels": [kernel("forward", True), kernel("backward", False)],
            "outputs": [output()],
            "milliseconds": {"stock": [2.0] * 8, "ours": [1.9] * 8},
        },
        {"operator": "nsa", "error": "stock kernels: more than 150 s"},
    )

    def test_changed_kernels_have_a_line(self):
        row = ["gla: forward", "16 → 8", "255", "1,024", "10.0", "9.0", "-10.00 %", "0.900 … 0.900"]
        self.assertEqual(list(operators.kernel_rows(self.RESULTS)), [row])

    def test_a_kernel_without_times_has_a_line(self):
        untimed = kernel("forward", True)
        del untimed["microseconds"]
        row = list(operators.kernel_rows([{"operator": "gla", "kernels": [untimed]}]))[0]
        self.assertEqual(row, ["gla: forward", "16 → 8", "255", "1,024", "", "", "", ""])
        self.assertEqual(len(row), len(operators.KERNELS))

    def test_compared_operators_have_a_line(self):
        row = ["gla", 2, 2, 1, "2.000", "1.900", "-5.00 %", "same bits"]
        self.assertEqual(list(operators.operator_rows(self.RESULTS)), [row])
        self.assertEqual(len(row), len(operators.OPERATORS))

    def test_the_summary_counts_what_is_certain(self):
        kernels = [kernel("a", True), kernel("b", True, ours=(8, 9, 10, 11, 12, 9, 11, 10))]
        results = [{"operator": "x", "kernels": kernels}]
        lines = list(operators.summary(results))
        self.assertIn("changed kernels: 2, timed 2", lines[0])
        self.assertIn("faster 1, slower 0", lines[0])

    def test_nothing_at_all_makes_a_summary(self):
        self.assertEqual(list(operators.summary([]))[0], "changed kernels: 0, timed 0")


class Verdicts(unittest.TestCase):
    def test_equal_bits(self):
        self.assertEqual(operators.verdict([output(), output()]), "same bits")

    def test_an_output_that_repeats_has_to_be_the_same(self):
        outputs = [output(same=False, apart=0.5), output(repeats=False, same=False, apart=1.0, apart_stock=1.0)]
        self.assertEqual(operators.verdict(outputs), "1 of 2 differ by 5.0e-01")

    def test_an_output_that_does_not_repeat_is_measured_by_the_stock_kernels(self):
        outputs = [output(), output(repeats=False, same=False, apart=0.25, apart_stock=0.5)]
        self.assertEqual(operators.verdict(outputs), "stock differs from itself by 5.0e-01, ours by 2.5e-01")

    def test_numbers_that_are_not_finite_are_told(self):
        self.assertEqual(operators.verdict([output(finite=False)]), "same bits, not finite")


class Ended:
    """A process that has ended."""

    returncode = 1

    def poll(self):
        return self.returncode


class Jobs(unittest.TestCase):
    def job(self, folder, log, said=None):
        (folder / "gla.log").write_text(log)
        if said:
            (folder / "gla.json").write_text(said)
        return operators.Job("gla", folder, Ended(), 0)

    def test_a_process_that_wrote_nothing_has_its_last_line_as_the_error(self):
        with tempfile.TemporaryDirectory() as folder:
            job = self.job(Path(folder), "Traceback\nImportError: no fla\n\n")
            self.assertEqual(job.result()["error"], "start: exit status 1: ImportError: no fla")

    def test_an_operator_without_a_changed_kernel_needs_no_times(self):
        with tempfile.TemporaryDirectory() as folder:
            job = self.job(Path(folder), "", '{"changed": false, "stage": "ready"}')
            self.assertNotIn("error", job.result())

    def test_an_operator_without_times_has_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            job = self.job(Path(folder), "", '{"changed": true, "stage": "ready"}')
            job.killed = "no time left"
            self.assertEqual(job.result()["error"], "ready: no time left")


class Calls(unittest.TestCase):
    def test_nested_outputs_are_flattened_in_order(self):
        self.assertEqual(operator_inputs.flat([1, (2, None, [3]), None]), [1, 2, 3])

    def test_makers_have_the_names_of_files(self):
        self.assertGreater(len(operator_calls.MAKERS), 40)
        self.assertTrue(all(name.isidentifier() for name in operator_calls.MAKERS))


if __name__ == "__main__":
    unittest.main()
