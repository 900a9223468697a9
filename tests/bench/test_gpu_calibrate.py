"""Tests of the parts of the time model's micro-benchmarks that need no GPU."""

import struct
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().with_name("gpu")))

import gpu_calibrate
import micro
import micro_arithmetic
import micro_check
import micro_code
import micro_memory

NUMBERS = Path(__file__).resolve().parents[2] / "src/sass/time/sm_90.txt"
PROGRAMS = micro_check.programs()
LONG = 1600  # instructions

# A dependent chain of two FFMA in a loop, in nvdisasm's format. Bits 41 to 44 of the second word are the stall count.
LISTING = """
        /*0000*/                   CS2R R4, SR_CLOCKLO ;                /* 0x0000000000047805 */
                                                                        /* 0x000fce0000015000 */
.L_x_0:
        /*0010*/                   FFMA R0, R0, R2, R3 ;                /* 0x0000000200007223 */
                                                                        /* 0x000fc80000000003 */
        /*0020*/                   FFMA R0, R0, R2, R3 ;                /* 0x0000000200007223 */
                                                                        /* 0x000fc80000000003 */
        /*0030*/                   UIADD3 UR4, UR4, -0x1, URZ ;         /* 0xffffffff04047890 */
                                                                        /* 0x000fcc000fffe03f */
        /*0040*/               @P0 BRA `(.L_x_0) ;                      /* 0xfffffffc00980947 */
                                                                        /* 0x000fea000383ffff */
        /*0050*/                   CS2R R6, SR_CLOCKLO ;                /* 0x0000000000067805 */
                                                                        /* 0x000fce0000015000 */
"""
PAIR = replace(next(one for one in micro_arithmetic.LATENCIES if one.number == "latency.fma"), count=2)


class Checks(unittest.TestCase):
    """Instructions that must not occur in a micro-benchmark's machine code."""

    def refused(self, listing, words, one=PAIR):
        found = micro_check.findings(one, listing)
        self.assertTrue(any(words in text for text in found), found)

    def test_what_is_right_has_no_findings(self):
        self.assertEqual(micro_check.findings(PAIR, LISTING), [])

    def test_another_opcode_is_caught(self):
        self.refused(LISTING.replace("FFMA R0, R0, R2, R3", "FADD R0, R0, R2", 1), "FFMA stands 1 times")
        self.refused(LISTING.replace("FFMA R0, R0, R2, R3", "FADD R0, R0, R2", 1), "the loop has FADD as well")

    def test_an_opcode_that_only_begins_alike_is_another(self):
        self.refused(LISTING.replace("FFMA ", "FFMA2 "), "FFMA stands 0 times")

    def test_a_chain_that_is_broken_is_caught(self):
        self.refused(LISTING.replace("FFMA R0, R0, R2, R3", "FFMA R0, R1, R2, R3"), "do not read")

    def test_a_stream_that_waits_is_caught(self):
        self.refused(LISTING, "1 instructions wait", replace(PAIR, order="stream"))

    def test_many_instructions_besides_are_caught(self):
        line = LISTING.splitlines()[8]
        self.assertIn("UIADD3", line)
        self.refused(LISTING.replace(line, "\n".join([line] * 6)), "7 instructions besides")

    def test_a_loop_that_is_unrolled_or_gone_is_caught(self):
        self.refused(LISTING.replace("@P0 BRA `(.L_x_0)", "NOP"), "no loop")
        self.refused(LISTING.replace("SR_CLOCKLO", "SRZ", 1), "read 1 times")

    def test_the_cycles_that_ptxas_leaves_are_read(self):
        loop, _ = micro_check.timed_loop(LISTING)
        self.assertEqual(micro_check.scheduled(PAIR, loop), 4)
        self.assertIsNone(micro_check.scheduled(replace(PAIR, share="sm"), loop))

    def test_a_result_with_a_scoreboard_has_no_fixed_latency(self):
        with_scoreboard = LISTING.replace("0x000fc80000000003", "0x000e280000000003")
        loop, _ = micro_check.timed_loop(with_scoreboard)
        self.assertIsNone(micro_check.scheduled(PAIR, loop))


class Numbers(unittest.TestCase):
    def test_each_line_of_the_file_has_a_value_and_a_source(self):
        known = gpu_calibrate.known_numbers(NUMBERS.read_text(encoding="utf8"))
        self.assertGreater(len(known), 100)
        self.assertTrue(all(source for _, source in known.values()))
        rows = [line for line in NUMBERS.read_text(encoding="utf8").splitlines() if line and line[0] != "#"]
        self.assertEqual(len(rows), len(known), "a number stands twice")

    def test_what_is_measured_has_a_line_in_the_file(self):
        known = gpu_calibrate.known_numbers(NUMBERS.read_text(encoding="utf8"))
        apart = ("icache.cycles.", "dram.bytes")  # the cache sizes and the efficiency are derived from these
        names = [one.number for one in gpu_calibrate.MICROS if not one.number.startswith(apart)]
        self.assertEqual([name for name in names if name not in known], [])
        self.assertEqual(len(names), len(set(names)))

    def test_a_row_has_the_form_of_the_file(self):
        text = gpu_calibrate.row("pipe.fma", 1.0625, "measured: GPU", {"pipe.fma": (1.0, "guide: 128")})
        self.assertEqual(text, "pipe.fma 1.0625 measured: GPU  # 1 guide: 128")
        self.assertEqual(gpu_calibrate.known_numbers(text)["pipe.fma"][0], 1.0625)

    def test_cycles_become_numbers(self):
        named = {one.number: one for one in gpu_calibrate.MICROS}
        self.assertEqual(named["latency.fma"].value(64 * 4), 4)
        self.assertEqual(named["latency.conversion"].value(64 * 23), 18)
        # Eight warps, two on each partition: 128 instructions per partition in 256 cycles.
        self.assertEqual(named["pipe.fma_heavy"].value(256), 2)
        self.assertEqual(named["pipe.half"].value(128), 2)
        # 16 warps that share a unit of the SM: 1,024 instructions in 1,024 cycles.
        self.assertEqual(named["pipe.lsu_issue"].value(1024), 1)
        # 4 warps of one partition: 256 instructions in 1,024 cycles.
        self.assertEqual(named["pipe.lsu"].value(1024), 4)
        self.assertEqual(named["shared.bytes"].value(4096), 128)
        self.assertEqual(named["latency.branch"].value(77, 67), 10)

    def test_a_stream_has_two_warps_of_each_partition_it_measures(self):
        for one in gpu_calibrate.MICROS:
            if one.order == "stream" and one.share != "turn" and not one.number.startswith("icache"):
                self.assertGreaterEqual((one.working or one.warps / micro.PARTITIONS), 2, one.number)

    def test_a_curve_of_fetches_has_two_caches(self):
        fetch = {16: 1.0, 24: 1.0, 32: 1.02, 48: 1.6, 96: 1.7, 128: 1.7, 160: 4.0, 256: 4.1}
        self.assertEqual(micro_code.sizes(fetch), {"icache.l0_bytes": 32 << 10, "icache.l1_bytes": 128 << 10})
        self.assertEqual(micro_code.sizes(dict.fromkeys(fetch, 1.0)), {"icache.l0_bytes": 256 << 10})


class FakeDriver:
    """A GPU whose loops take 100 cycles and 7 cycles per iteration, and whose memory can be written and read."""

    name = "fake"

    def __init__(self):
        self.memory, self.end = {}, 1 << 20
        self.launched = []

    def call(self, name, *arguments):
        assert name == "cuMemsetD8_v2", name

    def kernel(self, code, name):
        return name

    def allocate(self, size):
        self.end += size
        return self.end - size

    def free(self, address):
        pass

    def write(self, address, data):
        self.memory[address] = data

    def read(self, address, size):
        return struct.pack("<QQ", 1000, 1100 + 7 * self.launched[-1]) * (size // 16)

    def launch(self, kernel, grid, block, packed):
        self.launched.append(struct.unpack("<I", packed[-1])[0])


class Running(unittest.TestCase):
    def bench(self):
        with (
            mock.patch.object(gpu_calibrate, "Driver", FakeDriver),
            mock.patch.object(gpu_calibrate.Bench, "attribute", lambda self, which: 2),
        ):
            return gpu_calibrate.Bench(3, 22)

    def test_a_turn_is_what_more_turns_take_more(self):
        self.assertEqual(self.bench().cycles(PAIR, b""), 7)

    def test_a_ring_leads_through_each_line_once_and_back(self):
        bench = self.bench()
        for ring in (micro.Ring(16 << 10), micro.Ring(1 << 20, steps=100)):
            with self.subTest(ring=ring):
                address, start = bench.ring(replace(PAIR, ring=ring))
                memory = bytearray(ring.bytes)
                for place, data in bench.driver.memory.items():
                    if address <= place < address + ring.bytes:
                        memory[place - address : place - address + len(data)] = data
                at, seen = start, set()
                while at not in seen:
                    seen.add(at)
                    (at,) = struct.unpack_from("<Q", memory, at - address)
                self.assertEqual(at, start)
                self.assertEqual(len(seen), ring.steps or ring.bytes // 128)


@unittest.skipUnless(all(PROGRAMS), "needs ptxas and nvdisasm: make setup, or CUDA_PATH=…")
class Compiled(unittest.TestCase):
    """Tests of ptxas's code of the micro-benchmarks. `make gpu-calibrate` tests the micro-benchmarks with long code."""

    def listing(self, one, text=None):
        with tempfile.TemporaryDirectory() as folder:
            return micro_check.assemble(text or micro.module([one]), folder, *PROGRAMS)[1][one.name()]

    def test_each_compiles_to_what_it_should_measure(self):
        micros = [one for one in gpu_calibrate.MICROS if one.count < LONG]
        self.assertGreater(len(micros), 60)
        _, loops, complaints = gpu_calibrate.compiled(micros)
        self.assertEqual(complaints, {})
        self.assertEqual(len(loops), len(micros))

    def test_a_wrong_instruction_in_the_ptx_is_caught(self):
        one = micro_arithmetic.PIPES[0]
        text = micro.module([one]).replace("fma.rn.f32 %a3, %a3, %b0, %c0;", "add.rn.f32 %a3, %a3, %b0;")
        self.assertIn("FFMA stands 56 times in the loop, not 64", micro_check.findings(one, self.listing(one, text)))

    def test_loads_that_ptxas_moves_out_of_the_loop_are_caught(self):
        one = next(one for one in micro_memory.UNITS if one.number == "pipe.lsu")
        text = micro.module([one])
        for i in range(8):
            text = text.replace(f"ld.shared.u32 %a{i}, [%a{i}];", f"ld.shared.u32 %z{i}, [%a{i}];")
        self.assertEqual(micro_check.findings(one, self.listing(one, text)), ["no loop between the reads of the clock"])

    def test_what_ptxas_believes_of_a_matrix_product(self):
        one = next(one for one in micro_arithmetic.MATRICES if one.number == "latency.hmma")
        self.assertEqual(micro_check.scheduled(one, micro_check.timed_loop(self.listing(one))[0]), 24)


if __name__ == "__main__":
    unittest.main()
