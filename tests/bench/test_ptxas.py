"""Tests of the input written for ptxas and of parsing its output."""

import unittest

import ptxas

TEXT = """.visible .entry first(
	.param .u64 first_param_0
)
.maxntid 256, 1, 1
.maxnreg 80
{
	ret;
}
.visible .func second()
{
	ret;
}
.visible .entry third()
{
	ret;
}
"""

LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    176 bytes stack frame, 356 bytes spill stores, 232 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 176 bytes cumulative stack size
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'l' for 'sm_90'
ptxas info    : Function properties for l
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers
"""


class Limits(unittest.TestCase):
    def test_every_kernel_gets_the_limit_once_and_keeps_its_bounds(self):
        lines = ptxas.with_setting(TEXT, "32").split("\n")
        self.assertEqual(lines.count(".maxnreg 32"), 2)
        self.assertNotIn(".maxnreg 80", lines)
        self.assertIn(".maxntid 256, 1, 1", lines)
        self.assertEqual(lines[lines.index(".visible .func second()") + 1], "{")

    def test_no_bounds_means_no_directive_that_sets_registers(self):
        lines = ptxas.with_setting(TEXT, "none").split("\n")
        self.assertFalse([line for line in lines if line.startswith((".maxnreg", ".maxntid"))])
        self.assertEqual(ptxas.with_setting(TEXT, "own"), TEXT)

    def test_one_block_is_enough_where_no_kernel_says_otherwise(self):
        one = lambda head: ptxas.with_setting(f".visible .entry k()\n{head}{{\n\tret;\n}}", "one").split("\n")
        self.assertEqual(one("")[1:4], [".maxntid 128", ".minnctapersm 1", "{"])
        self.assertEqual(one(".reqntid 64, 1, 1\n")[1:4], [".reqntid 64, 1, 1", ".minnctapersm 1", "{"])
        self.assertEqual(one(".minnctapersm 2\n")[1:3], [".minnctapersm 2", "{"])
        self.assertIn(".visible .func second()\n{", ptxas.with_setting(TEXT, "one"))


class Reading(unittest.TestCase):
    def test_a_kernel_has_the_spills_of_the_functions_listed_behind_it_and_no_others(self):
        nothing = {"stack": 0, "stores": 0, "loads": 0, "shared": 0}
        self.assertEqual(
            ptxas.parse_log(LOG),
            {
                "k": {"registers": 32, "stack": 176, "stores": 360, "loads": 236, "shared": 0, "barriers": 1},
                "l": {"registers": 24, "barriers": 1, **nothing},
            },
        )

    def test_moves_in_disguise_count(self):
        self.assertTrue(ptxas.is_sass_move("IMAD.MOV.U32"))
        self.assertFalse(ptxas.is_sass_move("IMAD.WIDE"))
        self.assertFalse(ptxas.is_sass_move("MOVM.16.MT88"))


if __name__ == "__main__":
    unittest.main()
