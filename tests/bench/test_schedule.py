"""Tests of reading and rescheduling machine code."""

import unittest

import machine_code
import schedule
from machine_code import Block, Instruction

# A load in a loop, and a guarded exit; in nvdisasm's format.
PRINTED = """\
                                                         // +----------------+-----------+
                                                         // |      GPR       |   PRED    |
                                                         // |  # 0 1 2 10    |  # 0 1    |
                                                         // +----------------+-----------+
.text.kernel:                                            // |                |           |
        /*0000*/                   LDC.64 R0, c[0x0] ;   // |  2 ^ ^         |           |
.L_x_0:                                                  // |                |           |
        /*0010*/              @!P1 LDG.E R2, [R0.64] ;   // |  3 v v ^       |  1   v    |
        /*0020*/                   IADD3 R10, R2, R0 ;   // |  3 v   v  ^    |  1   :    |
        /*0030*/               @P0 EXIT ;                // |  1        :    |  1 v      |
        /*0040*/               @P1 BRA `(.L_x_0) ;       // |  1        :    |  1   v    |
.L_x_1:                                                  // |                |           |
        /*0050*/                   BRA `(.L_x_1);        // |                |           |
"""


def general(*numbers):
    return {("GPR", number) for number in numbers}


def straight(*rows):
    """Returns a block from rows of (opcode, reads, writes). All registers are general registers. A register is live
    from its write, or from the block's start, to its last reader."""
    instructions = [Instruction(opcode, False, general(*reads), general(*writes)) for opcode, reads, writes in rows]
    live = set()
    for instruction in reversed(instructions):
        instruction.live = (live - instruction.writes) | instruction.reads | instruction.writes
        live = instruction.live - instruction.writes | instruction.reads
    return Block("", instructions)


class Reading(unittest.TestCase):
    def setUp(self):
        self.blocks = machine_code.functions_of(PRINTED)["kernel"]

    def test_blocks_end_at_branches_and_labels_but_not_at_guarded_exits(self):
        self.assertEqual([len(block.instructions) for block in self.blocks], [1, 4, 1])
        self.assertEqual([block.label for block in self.blocks], ["", ".L_x_0", ".L_x_1"])

    def test_registers_are_read_off_the_columns_under_their_numbers(self):
        load, add = self.blocks[1].instructions[:2]
        self.assertEqual((load.opcode, load.is_guarded), ("LDG.E", True))
        self.assertEqual(load.reads, {("GPR", 0), ("GPR", 1), ("PRED", 1)})
        self.assertEqual(load.writes, {("GPR", 2)})
        self.assertEqual(add.writes, {("GPR", 10)})
        self.assertIn(("PRED", 1), add.live)

    def test_a_branch_back_is_a_loop_and_the_padding_is_none(self):
        self.assertTrue(machine_code.has_loop(self.blocks))
        self.assertFalse(machine_code.has_loop([self.blocks[0], self.blocks[2]]))

    def test_text_without_registers_has_no_functions(self):
        self.assertEqual(machine_code.functions_of("nothing\n"), {})


class Scheduling(unittest.TestCase):
    # Four loads. Each loaded value is added to a sum at once. This order has the fewest live values; if the loads come
    # first, all four loaded values are live.
    SUM = [("S2R", (), (9,)), ("LDG", (9,), (0,)), ("MOV", (0,), (8,))]
    for number in range(1, 4):
        SUM += [("LDG", (9,), (number,)), ("FADD", (number, 8), (8,))]
    SUM += [("STG", (8, 9), ())]

    def test_loads_go_ahead_of_what_waits_for_them(self):
        dag = schedule.Dag(straight(*self.SUM))
        self.assertEqual(schedule.live_in_order(dag), 3)
        self.assertEqual(schedule.live_by_rule(dag, 28), 5)

    def test_above_the_limit_only_what_takes_no_more_goes_ahead(self):
        dag = schedule.Dag(straight(*self.SUM))
        self.assertEqual(schedule.live_by_rule(dag, 3), 3)
        self.assertEqual(schedule.live_by_rule(dag, 4), 4)

    def test_of_equally_long_ways_that_goes_first_which_takes_fewest(self):
        wide, narrow = ("MOV", (), (0, 1)), ("MOV", (), (2,))
        rows = [narrow, wide, ("FADD", (2,), (3,)), ("FADD", (0, 1), (4,)), ("STG", (3, 4), ())]
        # The narrow instruction is scheduled first, and then the wide instruction exceeds the limit.
        self.assertEqual(schedule.live_by_rule(schedule.Dag(straight(*rows)), 2), 3)

    def test_where_nothing_fits_goes_first_what_takes_fewest_though_another_has_a_longer_way(self):
        narrow, wide = ("MOV", (), (2,)), ("MOV", (), (0, 1))
        rows = [narrow, wide, ("FADD", (2,), (3,)), ("FADD", (0, 1), (4,)), ("FADD", (4,), (5,)), ("STG", (3, 5), ())]
        self.assertEqual(schedule.live_by_rule(schedule.Dag(straight(*rows)), 0), 3)

    def test_what_comes_in_is_live_at_the_start(self):
        self.assertEqual(schedule.live_in_order(schedule.Dag(straight(("STG", (0, 1), ()), ("MOV", (), (2,))))), 2)

    def test_what_nobody_reads_is_gone_at_once(self):
        dag = schedule.Dag(straight(("MOV", (), (0,)), ("MOV", (), (1,)), ("MOV", (), (2,)), ("STG", (1, 2), ())))
        self.assertEqual(schedule.live_in_order(dag), 2)

    def test_a_branch_at_the_end_stays_there(self):
        dag = schedule.Dag(straight(("MOV", (), (0,)), ("STG", (0,), ()), ("MOV", (), (1,)), ("BRA", (), ())))
        self.assertEqual(dag.predecessors[3], {0, 1, 2})

    def test_a_register_written_again_is_a_new_value(self):
        dag = schedule.Dag(straight(("MOV", (), (0,)), ("STG", (0,), ()), ("MOV", (), (0,)), ("STG", (0,), ())))
        self.assertEqual(len(dag.readers), 2)
        self.assertNotIn(1, dag.predecessors[2])

    def test_a_guarded_write_keeps_what_was_there(self):
        block = straight(("MOV", (), (0,)), ("LDG", (1,), (0,)), ("STG", (0,), ()))
        block.instructions[0].live |= general(0)
        self.assertNotIn(0, schedule.Dag(block).predecessors[1])
        block.instructions[1].is_guarded = True
        self.assertIn(0, schedule.Dag(block).predecessors[1])

    def test_loads_stay_between_the_stores_of_their_memory(self):
        dag = schedule.Dag(straight(("STG", (0,), ()), ("LDG", (0,), (1,)), ("LDS", (0,), (2,)), ("STG", (2,), ())))
        self.assertEqual(dag.predecessors, [set(), {0}, set(), {0, 1, 2}])

    def test_barriers_hold_memory_back_and_exchanges_behind_them(self):
        rows = [("STS", (0,), ()), ("BAR", (), ()), ("LDS", (0,), (1,)), ("SHFL", (0,), (2,)), ("FADD", (0,), (3,))]
        dag = schedule.Dag(straight(*rows, ("STG", (1, 2, 3), ())))
        self.assertEqual(dag.predecessors[1:5], [{0}, {1}, {1}, set()])

    def test_what_is_read_behind_the_block_stays_live(self):
        block = straight(("MOV", (), (0,)), ("MOV", (), (1,)), ("BRA", (), ()))
        for instruction in block.instructions[1:]:
            instruction.live |= general(0, 1)
        dag = schedule.Dag(block)
        self.assertEqual(dag.stays, [True, True])
        self.assertEqual(schedule.live_in_order(dag), 2)


class Distance(unittest.TestCase):
    def test_it_is_from_the_best_constant_and_in_parts_of_the_registers(self):
        rows = [(False, 10, 6, 0), (False, 20, 16, 0), (False, 40, 32, 0)]
        mean, relative, constant = schedule.distance(rows, lambda row: row[2], lambda row: row[1])
        self.assertEqual(constant, 4)
        self.assertAlmostEqual(mean, 4 / 3)
        self.assertAlmostEqual(relative, 0.1 / 3)

    def test_groups_without_kernels_have_no_lines(self):
        lines = list(schedule.shown([(False, 10, 6, 6)]))
        self.assertEqual(len(lines), 1 + 3 + 3)
        self.assertFalse(any("with loops" in line for line in lines))


if __name__ == "__main__":
    unittest.main()
