"""Tests of counting the copies of a loop's body, and of running its machine code."""

import struct
import unittest

import loop_forms
import loop_turns

LISTING = """
		Function : k
        /*0000*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0010*/                   LDG.E R5, desc[UR4][R2.64+0x4] ;
        /*0020*/               @P0 BRA 0x0 ;
        /*0030*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0040*/               @P1 BRA 0x30 ;
        /*0050*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0060*/                   EXIT ;
        /*0070*/                   BRA 0x70;
"""

COUNTED = """
		Function : k
        /*0000*/                   LDC R0, c[0x0][0x228] ;
        /*0010*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0020*/                   IADD3 R0, R0, -0x1, RZ ;
        /*0030*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0040*/               @P0 BRA 0x10 ;
        /*0050*/                   EXIT ;
"""


class LoopFormsTest(unittest.TestCase):
    def test_copies_are_told_by_loop(self):
        instructions = loop_forms.functions_of(LISTING)["k"]
        self.assertEqual(loop_forms.copies_of(instructions, r"LDG\.", 1), "2|1+1")
        self.assertEqual(loop_forms.copies_of(instructions, r"LDG\.", 2), "1|1/2?+1/2?")

    def test_a_loop_that_is_gone_has_no_factor(self):
        straight = [i for i in loop_forms.functions_of(LISTING)["k"] if i.opcode != "BRA"]
        self.assertEqual(loop_forms.copies_of(straight, r"LDG\.", 1), "+4")
        self.assertEqual(loop_forms.factor_of("+4"), "all")
        self.assertEqual(loop_forms.factor_of("4|1+2"), "4")

    def test_names_are_unique(self):
        names = [form.name for form in loop_forms.forms()]
        self.assertEqual(len(names), len(set(names)))


class LoopTurnsTest(unittest.TestCase):
    def test_turns_are_the_loads_that_run(self):
        lines = loop_turns.code_of(COUNTED)["k"]
        for turns in (1, 2, 7):
            words = struct.pack("<QQQIIQQQ", 0, 0, 0, turns, 0, 0, 0, 0)
            self.assertEqual(loop_turns.Thread(lines, words).turns(1), turns)
        words = struct.pack("<QQQIIQQQ", 0, 0, 0, 0, 0, 0, 0, 0)
        self.assertEqual(loop_turns.Thread(lines, words).turns(1), loop_turns.CAP)

    def test_an_addition_carries_and_a_difference_of_equals_does(self):
        thread = loop_turns.Thread([], b"")
        thread.registers.update(R1=0xFFFFFFFF, R2=1, R3=5, R4=5)
        thread.execute("IADD3", [], ["R0", "P1", "R1", "R2", "RZ"])
        self.assertEqual((thread.registers["R0"], thread.predicates["P1"]), (0, True))
        thread.execute("IADD3", [], ["R0", "P1", "R3", "-R4", "RZ"])
        self.assertEqual((thread.registers["R0"], thread.predicates["P1"]), (0, True))
        thread.execute("IADD3", ["X"], ["R0", "R3", "~R4", "RZ", "P1", "!PT"])
        self.assertEqual(thread.registers["R0"], 0)

    def test_wide_comparisons_take_the_low_words(self):
        thread = loop_turns.Thread([], b"")
        thread.registers.update(R0=3, R1=0, R2=5, R3=0)
        thread.execute("ISETP", ["LT", "U32", "AND"], ["P0", "PT", "R0", "R2", "PT"])
        thread.execute("ISETP", ["LT", "AND", "EX"], ["P1", "PT", "R1", "R3", "PT", "P0"])
        self.assertTrue(thread.predicates["P1"])
        thread.execute("ISETP", ["GE", "U32", "AND"], ["P0", "PT", "R0", "R2", "PT"])
        thread.execute("ISETP", ["GE", "AND", "EX"], ["P1", "PT", "R1", "R3", "PT", "P0"])
        self.assertFalse(thread.predicates["P1"])


if __name__ == "__main__":
    unittest.main()
