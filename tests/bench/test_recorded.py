"""Tests of recorded times: the pairs of the file, and the scores of predictions against them."""

import argparse
import json
import math
import tempfile
import unittest
from pathlib import Path

import recorded
import recorded_code
import recorded_scores as scores

TEXT = """
[lineages]
causal_attention = "attention"
[[times]]
kernel = "k"
day = "2026-11-26"
page = "p"
of = { stock = 2.0, x = 1.0, y = 3.0 }
[[pair]]
kernel = ["causal_attention", "m"]
a = "stock"
b = ["tuned", "slots"]
between = [0.95, 1.05]
day = "2026-11-26"
page = "q"
note = "n"
"""


def judged(*rows):
    """Returns judged pairs from rows of (lineage, recorded ratio, predicted ratio)."""
    return [scores.Judged(lineage, ratio, ratio, predicted) for lineage, ratio, predicted in rows]


class Pairs(unittest.TestCase):
    def test_each_two_variants_that_were_timed_together_are_a_pair(self):
        pairs = recorded.pairs_of(TEXT)
        found = [(pair.lineage, pair.kernel, pair.a, pair.b, pair.ratio) for pair in pairs]
        self.assertEqual(found[0], ("k", "k", "stock", "x", (0.5, 0.5)))
        self.assertEqual(found[1:3], [("k", "k", "stock", "y", (1.5, 1.5)), ("k", "k", "x", "y", (3.0, 3.0))])
        self.assertEqual(found[3], ("attention", "causal_attention", "stock", "tuned", (0.95, 1.05)))
        self.assertEqual(
            [(pair.kernel, pair.b) for pair in pairs[4:]],
            [("causal_attention", "slots"), ("m", "tuned"), ("m", "slots")],
        )
        self.assertEqual((pairs[5].lineage, pairs[5].page, pairs[5].note), ("m", "q", "n"))

    def test_the_records_are_read(self):
        pairs = recorded.pairs_of(recorded.RECORDS.read_text(encoding="utf8"))
        by = {(pair.kernel, pair.a, pair.b): pair.ratio for pair in pairs}
        self.assertEqual(len(by), len(pairs), "each pair stands once")
        self.assertTrue(all(0 < low <= high for low, high in by.values()))
        self.assertEqual(by["black_scholes", "stock", "order-bottom-up"], (1.34, 1.34))
        self.assertAlmostEqual(by["mul_mat_q6_K", "stock", "tuned"][0], 377 / 332)
        self.assertAlmostEqual(by["cholesky", "local-48", "outside-48"][0], 0.253 / 0.327)

    def test_pairs_as_json_have_paths_and_the_middle_of_a_range(self):
        of = json.loads(recorded.as_json(recorded.pairs_of(TEXT), Path("/r")))
        self.assertEqual((of[0]["a"], of[0]["b"]), ("/r/k/stock.cubin", "/r/k/x.cubin"))
        self.assertEqual((of[0]["manifest"], of[0]["ratio"], of[0]["page"]), ("/r/k/manifest.json", 0.5, "p"))
        self.assertAlmostEqual(of[3]["ratio"], math.sqrt(0.95 * 1.05))

    def test_what_a_folder_lacks_is_missing(self):
        pair = recorded.pairs_of(TEXT)[0]
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "k").mkdir()
            Path(folder, "k/x.cubin").touch()
            self.assertEqual(pair.missing(folder), [f"{folder}/k/stock.cubin", f"{folder}/k/manifest.json"])

    def test_a_launch_has_the_bytes_of_all_its_buffers(self):
        buffer = {"kind": "buffer", "type": "f64", "count": 3}
        struct = {"kind": "struct", "fields": [buffer, {"kind": "scalar", "type": "s32", "value": 1}]}
        self.assertEqual(recorded.bytes_of([{"arguments": [struct, {"kind": "buffer", "type": "u8", "count": 5}]}]), 29)

    def test_large_launches_are_of_dram(self):
        said = {"cycles": {"l2": 2, "dram": 3}, "local_bytes": 0, "instructions": 5, "bound": {"l2": 7, "dram": 8}}
        costs = {name: cost(said) for name, cost in recorded.predictors(recorded.SECOND_LEVEL).items()}
        self.assertEqual(list(costs.values()), [2, 2, 3, 1, 5, 7])
        self.assertEqual(recorded.predictors(recorded.SECOND_LEVEL + 1)["time"](said), 3)

    def test_of_what_the_tool_says_one_kernel_in_one_file_counts(self):
        of = {"cycles": {"l2": 2, "dram": 3}, "reason": None}
        for files, error, found in (
            ([of], "", of),
            ([{"cycles": None, "reason": "a trap"}], "a trap", None),
            ([of, of], "not the JSON", None),
        ):
            text = "a line\n" + json.dumps({"kernels": [{"files": files}]}, indent=1)
            said = recorded.time_of(["printf", "%s", text])
            self.assertEqual((said[0][: len(error)], said[1]), (error, found))
        self.assertIn("exit status", recorded.time_of(["false"])[0])

    def test_a_launch_of_a_product_covers_the_matrices(self):
        for module, name, element, is_right in recorded_code.DIVIDING:
            kernel = recorded_code.dividing(name, element, is_right)
            self.assertEqual(sum(buffer.written for buffer in kernel.buffers()), 1, module)
            self.assertEqual(len(kernel.arguments), 7 if is_right is None else 9)
        kernel = recorded_code.product("q5_0")
        self.assertEqual((kernel.name, kernel.grid, kernel.block), ("mul_mat_q5_0", (64, 4, 1), (32, 4, 1)))
        self.assertEqual([buffer.count for buffer in kernel.buffers()], [4096 * 128 * 22, 512 * 128 * 36, 4096 * 512])


class Scores(unittest.TestCase):
    def test_signs_count_from_three_per_cent_on(self):
        signs = {0.97: -1, 0.971: 0, 1.0: 0, 1.029: 0, 1.03: 1}
        self.assertEqual({ratio: scores.sign_of(ratio) for ratio in signs}, signs)

    def test_the_share_of_right_signs(self):
        of = judged(("a", 1.5, 1.001), ("a", 0.5, 1.2), ("b", 1.01, 0.5), ("c", 0.9, 1.0), ("d", 0.9, 0.8))
        self.assertEqual(scores.share_of_signs(of, [1] * 5), 2 / 4)
        self.assertEqual(scores.share_of_signs(of, scores.by_lineage(of)), 1.5 / 3)
        self.assertIsNone(scores.share_of_signs(judged(("a", 1.0, 2.0)), [1]))

    def test_equal_values_share_a_rank(self):
        self.assertEqual(scores.ranks([3, 1, 3, 7]), [1.5, 0, 1.5, 3])

    def test_rank_correlation(self):
        up = judged(("a", 1, 1), ("a", 2, 1.1), ("b", 3, 9))
        self.assertAlmostEqual(scores.spearman(up, [1, 1, 1]), 1)
        down = judged(("a", 1, 3), ("a", 2, 2), ("b", 3, 1))
        self.assertAlmostEqual(scores.spearman(down, [1, 1, 1]), -1)
        some = judged(("a", 1, 2), ("a", 2, 1), ("b", 3, 3))
        self.assertAlmostEqual(scores.spearman(some, [1, 1, 1]), 0.5)
        self.assertAlmostEqual(scores.spearman(some, [0.5, 0.5, 1]), 7 / 11)
        self.assertIsNone(scores.spearman(judged(("a", 1, 1), ("a", 2, 1)), [1, 1]))
        self.assertIsNone(scores.spearman([], []))

    def test_errors_are_alike_up_and_down(self):
        self.assertAlmostEqual(scores.error_of(scores.Judged("a", 1.0, 1.0, 1.25)), 0.25)
        self.assertAlmostEqual(scores.error_of(scores.Judged("a", 1.0, 1.0, 0.8)), 0.25)

    def test_a_range_has_a_sign_and_a_rank_but_no_error(self):
        of = [scores.Judged("a", 1.2, 1.8, 9), *judged(("a", 1, 1.1))]
        self.assertAlmostEqual(scores.median_error(of, [1, 1]), 0.1)
        self.assertAlmostEqual(scores.spearman(of, [1, 1]), 1)
        self.assertEqual(scores.share_of_signs(of, [1, 1]), 1)

    def test_medians_are_weighted(self):
        of = judged(("a", 1, 1.1), ("a", 1, 1.2), ("a", 1, 1.3), ("b", 1, 1.4))
        self.assertAlmostEqual(scores.median_error(of, [1] * 4), 0.25)
        self.assertAlmostEqual(scores.median_error(of, scores.by_lineage(of)), 0.35)
        self.assertAlmostEqual(scores.median_error(of[:3], [1] * 3), 0.2)
        self.assertIsNone(scores.median_error([], []))

    def test_of_a_pair_with_a_sign_alone_nothing_else_counts(self):
        of = [*judged(("a", 1, 1), ("a", 2, 1.1)), scores.Judged("b", 3, 3, 0.5, True)]
        self.assertEqual(scores.share_of_signs(of, [1, 1, 1]), 1 / 2)
        self.assertAlmostEqual(scores.spearman(of, [1, 1, 1]), 1)
        self.assertAlmostEqual(scores.median_error(of, [1, 1, 1]), (0 + 2 / 1.1 - 1) / 2)

    def test_vetoes_wins_and_claims_are_counted_apart(self):
        of = judged(("a", 1.5, 1.2), ("a", 1.5, 0.9), ("b", 0.5, 0.99), ("b", 1.0, 1.02), ("b", 1.0, 1.2))
        found = scores.scores(of)
        self.assertEqual((found["slower"], found["faster"], found["same"]), ((1, 2), (1, 1), (1, 2)))
        self.assertEqual(found["signs by pairs"], 2 / 3)

    def test_halves_hold_every_lineage_once(self):
        lineages = list("abcdeab")
        fit, aside = scores.halves(lineages, 1)
        self.assertEqual((len(fit), len(aside)), (2, 3))
        self.assertEqual(sorted(fit + aside), list("abcde"))
        self.assertEqual(scores.halves(reversed(lineages), 1), (fit, aside))
        self.assertGreater(len({tuple(scores.halves(lineages, seed)[0]) for seed in range(9)}), 1)
        more, _ = scores.halves([*lineages, "f"], 1)
        self.assertLess(set(fit), set(more) | {"f"})

    def test_what_is_set_aside_does_not_depend_on_what_is_there(self):
        pairs = recorded.pairs_of(TEXT)
        fit, aside = scores.halves(["k", "attention", "m"], 1)
        for half, lineages in (("fit", fit), ("aside", aside), ("all", fit + aside)):
            arguments = argparse.Namespace(half=half, seed=1, only=None)
            self.assertEqual({pair.lineage for pair in recorded.chosen(pairs, pairs, arguments)}, set(lineages))
            self.assertEqual(recorded.chosen(pairs, pairs[:1], arguments), pairs[:1] if "k" in lineages else [])
        self.assertEqual(recorded.chosen(pairs, pairs, argparse.Namespace(half="all", seed=1, only="zz")), [])


if __name__ == "__main__":
    unittest.main()
