"""Tests of the search for loops with inverted branches, and of the counts of their machine code."""

import unittest

import loop_gains
import loop_machine
from loop_machine import Machine, Placed
from machine_code import Instruction

BEFORE = """.visible .entry k(
)
.maxntid 32, 4, 1
{
$L__BB0_1:
	ld.global.b32 	%r1, [%rd1];
	add.s32 	%r2, %r2, -1;
	setp.eq.b32 	%p1, %r2, 0;
	@%p1 bra 	$L__BB0_2;
	bra.uni 	$L__BB0_1;
$L__BB0_2:
	ret;
}
"""
AFTER = (
    BEFORE.replace("setp.eq", "setp.ne")
    .replace("@%p1 bra 	$L__BB0_2", "@%p1 bra 	$L__BB0_1")
    .replace("bra.uni 	$L__BB0_1", "bra.uni 	$L__BB0_2")
)
LOAD_LINE = 6


def load(register, address=1):
    return Instruction("LDG.E", reads={("GPR", address)}, writes={("GPR", register)})


def add(register):
    return Instruction("FADD", reads={("GPR", register)}, writes={("GPR", 9)})


def looped(copies):
    """Returns a kernel with a loop that has `copies` copies of a load."""
    body = [Placed(LOAD_LINE, ".L_x_1" if k == 0 else "", load(k + 2)) for k in range(copies)]
    branch = Placed(LOAD_LINE + 3, "", Instruction("BRA", is_guarded=True, target=".L_x_1"))
    return Machine(32, 0, (Placed(1, "", Instruction("S2R")), *body, branch))


class LoopGainsTest(unittest.TestCase):
    def test_the_lines_of_a_turned_loop(self):
        self.assertEqual(loop_gains.turned(BEFORE, AFTER), [range(5, 11)])
        self.assertEqual(loop_gains.turned(BEFORE, BEFORE), [])

    def test_the_threads_of_a_block(self):
        self.assertEqual(loop_gains.threads_of(BEFORE, "k"), 128)
        self.assertEqual(loop_gains.threads_of(BEFORE.replace(".maxntid", "// "), "k"), 0)

    def test_copies_and_instructions_of_a_copy(self):
        for copies in (1, 4):
            part = loop_machine.unrolled(looped(copies), BEFORE, range(5, 11))
            self.assertEqual((part.copies, part.of_a_turn, part.is_straight), (copies, (copies + 1) / copies, False))

    def test_a_loop_that_is_gone_is_straight(self):
        code = tuple(placed for placed in looped(4).code if placed.code.opcode != "BRA")
        part = loop_machine.unrolled(Machine(32, 0, code), BEFORE, range(5, 11))
        self.assertEqual((part.copies, part.is_straight), (4, True))

    def test_a_load_is_in_flight_until_its_result_is_touched(self):
        self.assertEqual(loop_machine.in_flight([load(2), add(2), load(3), add(3)], False), 1)
        self.assertEqual(loop_machine.in_flight([load(2), load(3), add(2), load(4)], False), 2)
        self.assertEqual(loop_machine.in_flight([load(2), load(2)], False), 1)

    def test_a_load_at_the_end_of_a_turn_is_in_flight_in_the_next(self):
        body = [load(2), add(3), load(3)]
        self.assertEqual(loop_machine.in_flight(body, False), 2)
        self.assertEqual(loop_machine.in_flight([add(3), load(2), add(4), load(3)], True), 2)


if __name__ == "__main__":
    unittest.main()
