"""Tests of the spill plans' table: the definition of moved bytes, the best engine, and the comparison of two builds."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import spill_plans
from launches import Launch
from searched import Kernel


def figures(local_bytes=0, slots=0, instructions=100, **more):
    moved = {"local_bytes": local_bytes, "slots": slots, "moved": local_bytes + slots, "instructions": instructions}
    return moved | {"static": slots, "warps": 64} | more


def answer(name="k", **ways):
    kernel = Kernel("source__module", name, "module.bc", Launch(), False)
    best = {"best": figures(4) | {"engine": "greedy"}}
    return spill_plans.Answer(kernel, 64, {way: figures(8) for way in spill_plans.SHOWN} | best | ways, [])


class SpillPlans(unittest.TestCase):
    def test_slots_are_what_machine_code_moves_beyond_stock_and_spills(self):
        stock = {"local_words": 10, "local_bytes": 24, "shared_words": 4}
        in_shared = {"local_words": 5, "local_bytes": 4, "shared_words": 7}
        self.assertEqual(spill_plans.slot_bytes(stock, in_shared), 12, "16 bytes of an array stay")
        in_local = {"local_words": 12, "local_bytes": 0, "shared_words": 3}
        self.assertEqual(spill_plans.slot_bytes(stock, in_local), 32)

    def test_options_of_a_way(self):
        self.assertEqual(
            spill_plans.options_of("briggs", 64, "threads=128", "regalloc-slack=12"),
            "regalloc=64 allocator=briggs threads=128 regalloc-slack=12",
        )
        self.assertEqual(spill_plans.options_of("auto", 64, "", ""), "regalloc=auto")

    def test_counts_of_kernels(self):
        pairs = [(figures(8), figures(4)), (figures(8), figures(0, slots=12)), (figures(8), figures(8))]
        self.assertEqual(spill_plans.counts_of(pairs), [1, 1, 1])
        self.assertEqual(spill_plans.counts_of(pairs, "local_bytes"), [2, 0, 1])
        fewer = [(figures(8), figures(8) | {"warps": 48})]
        self.assertEqual(spill_plans.counts_of(fewer, "warps"), [0, 1, 0])

    def test_executed_accesses_are_those_beyond_stock(self):
        both = [{"instructions": 9, "local": 1, "shared": 10}, {"instructions": 9, "local": 3, "shared": 15}]
        self.assertEqual(spill_plans.executed_of({"compared": {"executed": both}}), 7)
        self.assertIsNone(spill_plans.executed_of({"compared": {"verdict": "unchanged"}}))
        without = {"compared": {"executed": [{"instructions": 9, "local": 1}] * 2}}
        self.assertIsNone(spill_plans.executed_of(without), "a tool that does not count them")

    def test_tables_name_each_way_and_kernel(self):
        text = "\n".join(spill_plans.shown([answer(price=figures(0, slots=4)), answer("other")]))
        self.assertIn("best: price 0, greedy 2, briggs 0, fatpoint 0", text)
        self.assertIn("source__module other", text)

    def test_two_builds_side_by_side(self):
        plan = SimpleNamespace(tools=SimpleNamespace(plugin=__file__))
        before = spill_plans.as_json([answer(price=figures(8)), answer("gone")], plan)
        lines = list(spill_plans.against([answer(price=figures(0, slots=12)), answer("new")], before))
        (row,) = [line.split() for line in lines if line.startswith("price")][:1]
        self.assertEqual(row, ["price", "1", "8", "12", "+50.0", "%", "0", "1", "0"])
        self.assertIn("  price: source__module k: 8 → 12", lines)

    def test_a_list_is_taken_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "list")
            path.write_text("# what was drawn\nmodule first\n\nmodule second\n", encoding="utf8")
            arguments = SimpleNamespace(list=path)
            self.assertEqual(spill_plans.wanted(None, arguments), [("module", "first"), ("module", "second")])


if __name__ == "__main__":
    unittest.main()
