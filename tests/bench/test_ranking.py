"""Tests of how rankings are compared."""

import math
import unittest

import ranking


COUNT = len(ranking.ORDERS)


def kernel(forecasts, reals):
    """A kernel whose orders have these forecasts and figures, in the order of the orders; the rest has the last."""
    forecasts, reals = ([*values, *[values[-1]] * (COUNT - len(values))] for values in (forecasts, reals))

    def of(forecast, real):
        judged = {"forecast": {"words": forecast, "registers": forecast, "spills": forecast}}
        return {setting: judged | {"registers": real, "spills": real} for setting in ranking.SETTINGS}

    return {order: of(*both) for order, both in zip(ranking.ORDERS, zip(forecasts, reals, strict=True), strict=True)}


def words(forecast):
    return forecast["words"]


RISING = list(range(COUNT))


class Tau(unittest.TestCase):
    def test_the_same_order_is_one_the_opposite_minus_one_and_no_opinion_nothing(self):
        for forecasts, expected in ((RISING, 1), (RISING[::-1], -1), ([3], 0)):
            found = ranking.ranking([kernel(forecasts, RISING)], "registers", words, ("own",))
            self.assertEqual((found["kernels"], found["pairs"]), (1, COUNT * (COUNT - 1) // 2))
            self.assertAlmostEqual(found["tau"], expected)

    def test_what_ptxas_does_not_tell_apart_is_no_pair(self):
        found = ranking.ranking([kernel(RISING, [9])], "registers", words, ("own",))
        self.assertEqual((found["kernels"], found["pairs"]), (0, 0))
        self.assertTrue(math.isnan(found["tau"]))

    def test_ties_count_as_tau_b_has_them(self):
        # Of six pairs four agree, one is tied in the forecast, one by ptxas.
        counted = ranking.pairs([(1, 1), (2, 2), (2, 3), (3, 3)])
        self.assertEqual(counted, (4, 0, 1, 1, 0))
        self.assertAlmostEqual(ranking.tau(*counted), 4 / 5)


class Choice(unittest.TestCase):
    def test_the_best_forecast_is_taken_only_beyond_the_margin(self):
        kernels = [kernel([100, 89, 95], [40, 30, 20])]
        taken = ranking.choice(kernels, "spills", words, ("own",), 10)
        self.assertEqual((taken["changed"], taken["better"], taken["after"]), (1, 1, 30))
        left = ranking.choice(kernels, "spills", words, ("own",), 20)
        self.assertEqual((left["changed"], left["worse"], left["before"], left["after"]), (0, 0, 40, 40))

    def test_what_gets_worse_is_counted(self):
        worse = ranking.choice([kernel([9, 1, 9], [0, 8, 0])], "spills", words, ("own", "64"), 0)
        self.assertEqual((worse["changed"], worse["worse"], worse["after"]), (2, 2, 16))


class Automatic(unittest.TestCase):
    def test_clearly_fewer_bytes_win_else_clearly_fewer_registers_and_new_spills_never(self):
        def forecasts(source, *others):
            figures = [source, *others, *[source] * (COUNT - 1 - len(others))]
            both = [dict(zip(("spills", "registers"), each, strict=True)) for each in figures]
            return dict(zip(ranking.ORDERS, both, strict=True))

        for source, others, expected in (
            ((100, 255), [(61, 10)], 0),
            ((100, 255), [(60, 255), (60, 99), (50, 255)], 3),
            ((0, 100), [(0, 91), (4, 10)], 0),
            ((0, 100), [(0, 90), (0, 80), (0, 80)], 2),
        ):
            found = ranking.preferred(forecasts(source, *others), ranking.ORDER_AUTO)
            self.assertEqual(found, ranking.ORDERS[expected])

    def test_warps_count_where_bytes_are_the_same(self):
        kernels = [kernel([0], [0])]
        for setting in ranking.SETTINGS:
            kernels[0]["source"][setting] |= {"registers": 100, "forecast": {"spills": 0, "registers": 100}}
            kernels[0]["late"][setting] |= {"registers": 168, "forecast": {"spills": 0, "registers": 10}}
            for order in ranking.ORDERS[2:]:
                kernels[0][order][setting]["forecast"] = {"spills": 0, "registers": 100}
        made = ranking.automatic(kernels, ranking.ORDER_AUTO)
        self.assertEqual((made["changed"], made["better"], made["worse"]), (2, 0, 2))
        told = list(ranking.losses({"m.ll: k": kernels[0]}, ranking.ORDER_AUTO))
        self.assertIn("late: m.ll: k (own): 0 → 0 bytes spilled, 16 → 12 warps", told[0])
        self.assertEqual(len(told), 2)


if __name__ == "__main__":
    unittest.main()
