"""Tests of learning from recorded searches: gains, the table, and the learned order."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import learned

STOCK = {"cost": 800, "warps": 8, "instructions": 1000}
TRAITS = [1000, 64, 800, 20, 800, 300, 0, 8, 0, 1]


def kernel(lineage, gains, texts=None):
    return learned.Kernel(lineage, "k", TRAITS, gains, texts or {recipe: recipe for recipe in gains})


class Gains(unittest.TestCase):
    def test_signs(self):
        of = lambda **change: learned.gain(STOCK, STOCK | change)
        self.assertEqual(of(), 0.0)
        self.assertEqual(of(cost=1600), 0.0)
        self.assertTrue(all(0.01 < gain < 0.5 for gain in (of(cost=0), of(warps=16), of(instructions=900))))

    def test_only_what_may_win_gains(self):
        figures = STOCK | {"cost": 0}
        tried = lambda wins, *recipes: {"wins": wins, "figures": figures, "text": "t", "recipes": list(recipes)}
        line = {"file": "a__b.ptx", "kernel": "k", "traits": TRAITS, "stock": STOCK}
        found = learned.kernel_of(line | {"tried": [tried(True, "default", "bits"), tried(False, "look"), tried(True, "look")]})
        self.assertEqual(found.lineage, "a")
        self.assertEqual(set(found.gains), {"default", "bits", "look"})
        self.assertGreater(found.gains["look"], 0.0)
        found = learned.kernel_of(line | {"tried": [tried(False, "default")]})
        self.assertEqual(found.gains, {"default": 0.0})


class Order(unittest.TestCase):
    RECIPES = ("default", "one", "two", "best+three")

    def curve(self, gains, teachers, least=0.0):
        return learned.learned(kernel("own", gains), teachers, self.RECIPES, least)

    def test_what_gained_most_elsewhere_comes_first(self):
        teachers = [kernel("a", {"default": 0.0, "one": 0.0, "two": 0.2}), kernel("b", {"default": 0.0, "one": 0.1, "two": 0.2})]
        curve, runs = self.curve({"default": 0.0, "one": 0.0, "two": 0.3}, teachers)
        self.assertEqual((curve, runs), ([0.3, 0.3, 0.3], 3))
        curve, runs = self.curve({"default": 0.0, "one": 0.0, "two": 0.3}, teachers, least=0.01)
        self.assertEqual((curve, runs), ([0.3], 1))

    def test_what_is_of_the_best_waits_for_one(self):
        teachers = [kernel("a", {"default": 0.0, "one": 0.1, "best+three": 0.4})]
        self.assertEqual(self.curve({"default": 0.0, "best+three": 0.4}, teachers)[0], [0.0])
        self.assertEqual(self.curve({"one": 0.1, "best+three": 0.4}, teachers)[0], [0.1, 0.4])

    def test_a_known_text_costs_no_run(self):
        texts = {"default": "t", "one": "t", "two": "u"}
        same = kernel("own", {"default": 0.0, "one": 0.0, "two": 0.1}, texts)
        self.assertEqual(learned.by_list(same, self.RECIPES), ([0.0, 0.1], 2))


class Table(unittest.TestCase):
    def test_written_as_the_program_reads_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "outcomes.txt")
            path.write_text("default one two\n", encoding="utf8")
            with mock.patch.object(learned, "OUTCOMES", path), mock.patch("builtins.print"):
                learned.write([kernel("a b", {"default": 0.0, "two": 0.1234})])
                with self.assertRaises(SystemExit):
                    learned.write([kernel("a", {"other": 0.0})])
            numbers = " ".join(map(str, TRAITS))
            self.assertEqual(path.read_text(encoding="utf8"), f"default one two\na_b {numbers} 0 - 123\n")

    def test_the_table_of_the_program(self):
        lines = learned.OUTCOMES.read_text(encoding="utf8").splitlines()
        recipes = learned.recipes_of_program()
        self.assertTrue(all(len(line.split(" ")) == 1 + len(TRAITS) + len(recipes) for line in lines[1:]))

    def test_trials_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trials")
            line = {"file": "x.ptx", "kernel": "k", "traits": TRAITS, "stock": STOCK, "tried": []}
            path.write_text(json.dumps(line) + "\n", encoding="utf8")
            self.assertEqual([found.lineage for found in learned.read([path])], ["x"])


if __name__ == "__main__":
    unittest.main()
