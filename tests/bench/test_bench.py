"""Tests of a run: the plan that jobs read, the graph, the joined results, and the definition of a loss."""

import json
import tempfile
import unittest
from pathlib import Path

import bench
import diff
import gather
import graph
import losses
import plan
import tables
from tools import Tools


def small_plan(folder):
    module = Path(folder, "in", "ggml__a.bc")
    module.parent.mkdir(exist_ok=True)
    module.touch()
    return plan.Plan(
        folder=str(Path(folder, "run")),
        cache=str(Path(folder, "cache")),
        cpu="sm_90",
        modules={"ggml__a": str(module)},
        compilers=(plan.Compiler("stock"), plan.Compiler("-x=a b", ("-x=a b",)), plan.Compiler("cicc")),
        settings=("own", "32"),
        tools=Tools("llc", "plugin.so", "ptxas", None),
        sources={"ggml": {"lineage": "ggml"}, "fla": {"accelerated": True}},
    )


def kernel(registers=32, spills=0, warps=64):
    return {"registers": registers, "spills": spills, "warps": warps}


class Plans(unittest.TestCase):
    def test_jobs_read_back_what_was_planned(self):
        with tempfile.TemporaryDirectory() as folder:
            written = small_plan(folder)
            written.write()
            self.assertEqual(plan.read(written.path), written)

    def test_kernels_of_triton_get_the_accelerated_processor(self):
        with tempfile.TemporaryDirectory() as folder:
            cpus = [small_plan(folder).cpu_of(module) for module in ("ggml__a", "fla__b")]
        self.assertEqual(cpus, ["sm_90", "sm_90a"])

    def test_register_limits_are_asked_for_and_come_with_the_kernels_own_bounds(self):
        self.assertEqual(bench.settings_of(bench.SETTINGS, ptxas=True), ("own",))
        self.assertEqual(bench.settings_of("32, none", ptxas=True), ("own", "32", "none"))
        self.assertEqual(bench.settings_of("own,32", ptxas=False), ())
        with self.assertRaises(SystemExit):
            bench.settings_of("own;32", ptxas=True)

    def test_the_graph_has_every_job_once_and_limits_wait_for_the_kernels_own_bounds(self):
        with tempfile.TemporaryDirectory() as folder:
            written = small_plan(folder)
            edges = [line for line in graph.lines(written) if line.startswith("build ") and "phony" not in line]
        self.assertEqual(len(edges), 3 * (1 + 2))
        limited = [edge for edge in edges if ".32.json:" in edge]
        self.assertTrue(all(".own.json" in edge for edge in limited) and len(limited) == 3)


class Results(unittest.TestCase):
    def test_missing_results_are_failures_but_a_module_without_nvidias_ptx_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            written = small_plan(folder)
            path = written.compiled(written.compilers[2], "ggml__a")
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps({"error": "cicc: no PTX of this module"}), encoding="utf8")
            failures = gather.gather(written).failures
        self.assertEqual([failure[1] for failure in failures], ["-x=a b", "stock"])

    def test_a_limit_that_stocks_ptx_does_not_fit_into_is_no_failure(self):
        def failed(name, module):
            return (module, name, "32", "ptxas: ptxas fatal   : (C7602) Insufficient registers (32) to compile")

        results = gather.Results(None, failures=[failed("stock", "a"), failed("ours", "a"), failed("ours", "b")])
        gather.set_apart_too_tight(results)
        self.assertEqual(results.too_tight, {"32": ["a"]})
        self.assertEqual([failure[:2] for failure in results.failures], [("b", "ours")])

    def test_both_compilers_names_of_a_static_kernel_are_one(self):
        names = ("_ZL4copyPf", "_Z4copyPf")
        self.assertEqual(len({gather.kernel_key("m", name) for name in names}), 1)
        self.assertNotEqual(gather.kernel_key("m", "_ZLong"), gather.kernel_key("m", "_Zong"))


class Losses(unittest.TestCase):
    def test_a_loss_is_an_occupancy_step_or_sixteen_bytes(self):
        stock = {("m", name): kernel(spills=8) for name in "abcd"}
        ours = {
            ("m", "a"): kernel(spills=23),
            ("m", "b"): kernel(spills=24),
            ("m", "c"): kernel(registers=40, spills=8, warps=48),
            ("m", "d"): kernel(registers=31, spills=8),
        }
        found, gains, changes = losses.compare(stock, ours, "own")
        self.assertEqual([loss.kernel for loss in found], ["b", "c"])
        self.assertEqual((gains, changes), (0, [15, 16, 0, 0]))

    def test_a_gain_elsewhere_hides_no_module(self):
        stock = {"m": {"true_copies": 5, "moves": 9, "imm_copies": 0}, "n": {"true_copies": 50, "moves": 90}}
        ours = {"m": {"true_copies": 6, "moves": 9, "imm_copies": 0}, "n": {"true_copies": 0, "moves": 0}}
        self.assertEqual(losses.risen(stock, ours), {"m": {"true_copies": (5, 6)}})

    def test_ratios_count_kernels_and_files_as_they_say(self):
        stock = {("f", "1"): kernel(10), ("f", "2"): kernel(10), ("g", "3"): kernel(10)}
        ours = {("f", "1"): kernel(20), ("f", "2"): kernel(20), ("g", "3"): kernel(10)}
        keys = sorted(stock)
        self.assertEqual(tables.geometric(ours, stock, keys, "registers"), f"{4 ** (1 / 3):.4f}")
        self.assertEqual(tables.per_file(ours, stock, keys, "registers"), "1.5000")

    def test_a_difference_names_each_count_that_changed(self):
        rows = diff.changed({("m", "k"): {"sass": 5, "stack": 0}}, {("m", "k"): {"sass": 9, "stack": 0}})
        self.assertEqual(rows, [["m", "k", "sass", 5, 9]])


if __name__ == "__main__":
    unittest.main()
