"""Tests of the tool's figures of processors."""

import unittest
from unittest import mock

import occupancy


class OccupancyTest(unittest.TestCase):
    def test_resident_warps_fall_in_steps(self):
        self.assertEqual(
            [occupancy.resident_warps(n, "sm_90") for n in (16, 32, 33, 40, 41, 64, 128, 255)],
            [64, 64, 48, 48, 40, 32, 16, 8],
        )

    def test_resident_warps_are_those_of_whole_blocks_where_their_size_is_known(self):
        self.assertEqual([occupancy.resident_warps(32, "sm_90", n) for n in (32, 128, 768, 1024)], [32, 64, 48, 64])
        self.assertEqual(
            [occupancy.resident_warps(n, "sm_90", 256) for n in (40, 48, 56, 64, 255)], [48, 40, 32, 32, 8]
        )
        self.assertEqual(occupancy.resident_warps(16, "sm_86", 32), 16)

    def test_a_number_of_registers_that_no_kernel_has_is_the_nearest(self):
        ends = [occupancy.resident_warps(n, "sm_90") for n in (0, 1, 255, 256)]
        self.assertEqual(ends, [64, 64, 8, 8])

    def test_processors_have_the_warps_and_blocks_that_nvidia_documents(self):
        of = {
            cpu: (occupancy.most_warps(cpu), occupancy.table(cpu)["max_blocks"])
            for cpu in ("sm_75", "sm_80", "sm_120a")
        }
        self.assertEqual(of, {"sm_75": (32, 16), "sm_80": (64, 32), "sm_120a": (48, 24)})

    def test_registers_are_given_in_units_of_eight_for_a_thread(self):
        for cpu in ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100"):
            row = occupancy.table(cpu)["warps"]["0"]
            by_hand = [min(occupancy.most_warps(cpu), 4 * (16384 // (-(-n // 8) * 256))) for n in range(1, 256)]
            self.assertEqual(row, by_hand, cpu)

    def test_the_tool_is_asked_once_for_each_processor(self):
        occupancy.table.cache_clear()
        with mock.patch.object(occupancy.subprocess, "run", wraps=occupancy.subprocess.run) as run:
            for cpu in ("sm_90", "sm_86", "sm_90"):
                occupancy.resident_warps(32, cpu)
        self.assertEqual(run.call_count, 2)

    def test_shared_memory_limits_blocks(self):
        of = {size: occupancy.resident_blocks(size << 10, "sm_90") for size in (0, 48, 113, 227, 228)}
        self.assertEqual(of, {0: 228, 48: 4, 113: 2, 227: 1, 228: 0})

    def test_an_unknown_processor_is_an_error_that_names_the_known_ones(self):
        with self.assertRaisesRegex(ValueError, "'gfx90a' is not known; use one of sm_70"):
            occupancy.most_warps("gfx90a")


if __name__ == "__main__":
    unittest.main()
