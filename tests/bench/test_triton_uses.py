"""Tests of the analysis of a Triton kernel's source."""

import unittest
from types import SimpleNamespace

import standins
from triton_uses import integers_of, pointers_of

KERNEL = """
def kernel(x, places, pages, packed, out, width, scale, total):
    row = tl.program_id(0)
    begin = tl.load(places + row)
    end = tl.load(places + row + 1).to(tl.int32)
    page = tl.where(row < total, tl.load(pages + row), 0)
    for i in range(begin, end):
        value = tl.load(x + page * width + i)
        bits = tl.load(packed + i)
        tl.store(out + i, value * scale * ((bits >> 4) & 15))
"""
CALLEE = """
def loads(at, by):
    return tl.load(at + by)
"""
CALLER = """
def kernel(out, first, second):
    tl.store(out, loads(first, second))
"""


def function(source, **known):
    names = source.partition("(")[2].partition(")")[0].split(", ")
    parameters = [SimpleNamespace(name=name) for name in names]
    return SimpleNamespace(src=source, params=parameters, fn=SimpleNamespace(__globals__=known))


class Uses(unittest.TestCase):
    def test_addresses_start_from_pointers(self):
        self.assertEqual(pointers_of(function(KERNEL)), {"x", "places", "pages", "packed", "out"})

    def test_pointers_are_followed_into_callees(self):
        self.assertEqual(pointers_of(function(CALLER, loads=function(CALLEE))), {"out", "first"})

    def test_a_standin_is_no_callee(self):
        self.assertEqual(pointers_of(function(CALLER, loads=standins._of("loads"))), {"out"})

    def test_places_bounds_and_bits_are_integers(self):
        """Loaded values count if addresses or loops use them, or if their bits are used. Values that are only
        multiplied or compared do not count."""
        self.assertEqual(integers_of(function(KERNEL)), {"places", "pages", "packed", "width"})


if __name__ == "__main__":
    unittest.main()
