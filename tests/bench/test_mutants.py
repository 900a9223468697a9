"""Tests that the table of mutants counts each kind, and that the draw of kernels alternates between groups."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import mutants
import programs

PTX = """.visible .entry {name}(
)
{{
\tret;
}}
"""


def mutant(fault, verdict, has_run=True):
    return {"fault": fault, "verdict": verdict, "has_run": has_run}


class Mutants(unittest.TestCase):
    def test_barriers_are_counted_apart(self):
        found = [
            mutant("store dropped", "different"),
            mutant("store dropped", "survives", has_run=False),
            mutant("barrier gone", "survives"),
            mutant("offset wrong", "refused"),
        ]
        self.assertEqual(
            mutants.table(found),
            [
                ["offset wrong", 1, 0, 1, 0, 0, "100.0 %"],
                ["store dropped", 2, 1, 0, 1, 1, "50.0 %"],
                ["barrier gone", 1, 0, 0, 1, 0, "0.0 %"],
                ["all but barriers", 3, 1, 1, 1, 1, "66.7 %"],
            ],
        )


class Draw(unittest.TestCase):
    def draw(self, count, seed=1):
        with tempfile.TemporaryDirectory() as folder:
            files = {}
            for name, kernels in {"a": 5, "b": 1, "c": 1, "d": 1}.items():
                files[name] = Path(folder, f"{name}.ptx")
                files[name].write_text("".join(PTX.format(name=f"{name}{number}") for number in range(kernels)))
            groups = {"many": [str(files["a"])], "few": [str(files[name]) for name in "bcd"]}
            with mock.patch.object(programs, "files_of", lambda *_: groups):
                drawn = programs.drawn(count, seed, Path(folder, "out"), compilers=[programs.CICC])
            texts = [Path(program.path).read_text(encoding="utf8") for program in drawn]
        for program, text in zip(drawn, texts, strict=True):
            self.assertIn(f".entry {program.kernel}(", text)
            self.assertEqual(text.count(".entry"), 1)
        return [(program.lineage, program.kernel) for program in drawn]

    def test_groups_take_turns(self):
        drawn = self.draw(100)
        self.assertEqual([lineage for lineage, _ in drawn], ["few"] * 3 + ["many"] * 3)
        self.assertEqual(len(set(drawn)), len(drawn))

    def test_less_is_a_part_of_more(self):
        self.assertEqual(self.draw(4), self.draw(100)[:4])
        self.assertEqual(self.draw(100), self.draw(100))


if __name__ == "__main__":
    unittest.main()
