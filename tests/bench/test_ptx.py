"""Tests of the PTX counter, on a small function with obvious counts."""

import unittest

import ptx

TEXT = """
.visible .func  (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0
)
;
.visible .entry kernel(
	.param .u64 .ptr .align 1 kernel_param_0
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<3>;
	.reg .b16 	%rs<4>;
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<5>;

// %bb.0:
	mov.b32 	%r1, 0;
	mov.b32 	%r2, %r1;
	mov.pred 	%p1, -1;
	mov.b32 	%r3, %tid.x;
	mov.b64 	%rd1, buffer;
	mov.b64 	%rd2, {%r1, %r2};
	mov.b64 	{%r4, %r5}, %rd2;
	{ .reg .b16 tmp; mov.b32 {tmp, %rs1}, %r3; }
	mov.b32 	%r8, 0f3F800000;
	// begin inline asm
	mov.b32 %r8, %r7;
	// end inline asm
	mov.b32 	%r9, %r8;
$L__BB0_1:                              // =>This Loop Header: Depth=1
                                        //     Child Loop BB0_2 Depth 2
	mov.b32 	%r6, %r5;
$L__BB0_2:                              //   Parent Loop BB0_1 Depth=1
                                        // =>  This Inner Loop Header: Depth=2
	mov.b32 	%r6, %r4;
	@%p1 bra 	$L__BB0_2;
// %bb.3:                               //   in Loop: Header=BB0_1 Depth=1
	setp.eq.b32 	%p2, %r6, 0;
	st.global.b32 	[%rd1], %r6;
	@%p2 bra 	$L__BB0_1;
// %bb.4:
	mov.b32 	%r7, %r6;
	ret;
}
"""


class Counting(unittest.TestCase):
    def setUp(self):
        self.counts = ptx.count(TEXT)

    def test_only_bodies_are_functions(self):
        self.assertEqual(list(self.counts), ["kernel"])
        self.assertTrue(self.counts["kernel"]["entry"])

    def test_moves_are_told_apart_by_family(self):
        kernel = self.counts["kernel"]
        self.assertEqual(kernel["reg_moves"], 5)
        self.assertEqual(kernel["imm_moves"], 3)
        self.assertEqual(kernel["moves"], 8)
        self.assertEqual(kernel["pack"], 1)
        self.assertEqual(kernel["unpack"], 2)
        self.assertEqual(kernel["round_trips"], 1)
        self.assertEqual(kernel["symbol_moves"], 1)
        self.assertEqual(kernel["special_moves"], 1)

    def test_a_copy_of_a_constant_has_a_source_that_nothing_else_defines(self):
        # Only a constant defines %r1. %r8 also has another definition, by inline assembly.
        kernel = self.counts["kernel"]
        self.assertEqual(kernel["imm_copies"], 1)
        self.assertEqual(kernel["true_copies"], 4)

    def test_true_copies_weigh_ten_to_the_loop_depth(self):
        # The copies to %r9 and %r7 are outside of loops, one copy is at depth 1, and one at depth 2.
        self.assertEqual(self.counts["kernel"]["weighted_copies"], 1 + 1 + 10 + 100)

    def test_registers_are_those_declared(self):
        self.assertEqual(self.counts["kernel"]["registers"], 2 + 3 + 9 + 4)


if __name__ == "__main__":
    unittest.main()
