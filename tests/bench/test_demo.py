"""Tests of the demo's output."""

import unittest

import demo


class Choices(unittest.TestCase):
    def test_of_many_registers_the_first_is_named(self):
        """A choice may list hundreds of registers, each with its reloads; the demo's table shows only one register."""
        choice = "order=eager;regalloc-registers=%r1:2@1x1@3x1+%rd2:4+%r3:1;no-rename"
        self.assertEqual(demo.shortened(choice), "order=eager;regalloc-registers=%r1 and 2 more;no-rename")
        self.assertEqual(demo.shortened("regalloc-registers=%r1:2"), "regalloc-registers=%r1")
        self.assertEqual(demo.shortened("order=late;maxnreg=64"), "order=late;maxnreg=64")


if __name__ == "__main__":
    unittest.main()
