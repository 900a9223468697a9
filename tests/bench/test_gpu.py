"""Tests of the GPU harness, as far as they need no GPU."""

import re
import struct
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().with_name("gpu")))

import driver
import kernels
import manifest
import run
import variants
from manifest import Buffer, Scalar, Struct


class Manifest(unittest.TestCase):
    def test_it_reads_back_what_it_writes(self):
        self.assertEqual(manifest.load(manifest.dump(kernels.KERNELS)), kernels.KERNELS)

    def test_every_kernel_of_the_examples_is_in_it(self):
        examples = Path(__file__).resolve().parents[2] / "examples"
        found = set()
        for path in examples.glob("*.cu"):
            text = re.sub(r"__launch_bounds__\([^)]*\)", "", path.read_text())
            found |= {(path.stem, name) for name in re.findall(r"__global__\s+void\s+(\w+)\(", text)}
        self.assertEqual({(k.example, k.name) for k in kernels.KERNELS}, found)
        self.assertGreaterEqual(len(found), 20)

    def test_every_kernel_writes_something_that_is_compared(self):
        for kernel in kernels.KERNELS:
            self.assertTrue(any(b.written and b.compared for b in kernel.buffers()), kernel.name)


class Packing(unittest.TestCase):
    def test_fields_are_aligned_as_in_c(self):
        view = Struct((Scalar("f64", 1.5), Scalar("s32", 7), Buffer("f32", 1), Scalar("s32", -1)))
        self.assertEqual(manifest.size_of(view), (32, 8))
        packed = manifest.pack(view, iter([0x1234]))
        self.assertEqual(struct.unpack("<di4xQi4x", packed), (1.5, 7, 0x1234, -1))

    def test_buffers_take_their_addresses_in_order(self):
        arguments = (Buffer("f32", 1), Struct((Buffer("s32", 1), Scalar("s32", 3))), Buffer("f64", 1))
        addresses = iter([1, 2, 3])
        packed = [manifest.pack(argument, addresses) for argument in arguments]
        self.assertEqual([p[:8] for p in packed], [struct.pack("<Q", i) for i in (1, 2, 3)])


class Contents(unittest.TestCase):
    def test_equal_seeds_give_equal_bytes(self):
        buffer = Buffer("f32", 100_000, "uniform", -1, 1)
        self.assertEqual(manifest.contents(buffer, 1), manifest.contents(buffer, 1))
        self.assertNotEqual(manifest.contents(buffer, 1), manifest.contents(buffer, 2))
        self.assertEqual(len(manifest.contents(buffer, 1)), 400_000)

    def test_fills_are_what_they_say(self):
        self.assertEqual(manifest.contents(Buffer("u64", 3), 1), bytes(24))
        self.assertEqual(struct.unpack("<3i", manifest.contents(Buffer("s32", 3, "ramp", high=5), 1)), (0, 5, 10))
        whole = struct.unpack("<50d", manifest.contents(Buffer("f64", 50, "integers", -9, 9), 1))
        self.assertTrue(all(value == int(value) and -9 <= value <= 9 for value in whole))
        with self.assertRaises(ValueError):
            manifest.contents(Buffer("f32", 1, "zeroes"), 1)


class Comparison(unittest.TestCase):
    def test_bits_count_not_values(self):
        zeros = struct.pack("<3f", 1, 0.0, 2), struct.pack("<3f", 1, -0.0, 2)
        self.assertEqual(manifest.first_difference(*zeros, "f32"), (1, 0.0, -0.0))
        self.assertIsNone(manifest.first_difference(zeros[0], zeros[0], "f32"))

    def test_equal_nans_are_equal(self):
        nan = struct.pack("<f", float("nan"))
        self.assertIsNone(manifest.first_difference(nan, nan, "f32"))


class Variants(unittest.TestCase):
    def test_each_is_compared_with_one_that_is_run_too(self):
        names = [variant.name for variant in variants.VARIANTS]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(names[0], "stock")
        for at, variant in enumerate(variants.VARIANTS[1:], 1):
            self.assertIn(variant.base, names[:at])
            self.assertIn(variant.outputs_of, names[: at + 1])

    def test_what_keeps_values_is_compared_with_the_same_limit(self):
        by_name = {variant.name: variant for variant in variants.VARIANTS}
        kept = [variant for variant in variants.VARIANTS if any("regalloc" in option for option in variant.options)]
        self.assertTrue(kept)
        for variant in kept:
            self.assertEqual(by_name[variant.base].limit, variant.limit)
            self.assertEqual(by_name[variant.base].options, ())
            self.assertEqual(by_name[variant.base].compiler == "nvcc", variant.compiler == "ptx")


class Differences(unittest.TestCase):
    def test_the_first_of_each_output_is_named(self):
        expected = [("s32", struct.pack("<3i", 1, 2, 3)), ("s32", struct.pack("<2i", 4, 5))]
        found = [expected[0], ("s32", struct.pack("<2i", 4, 6))]
        self.assertEqual(run.differences(expected, found), [{"output": 1, "at": 1, "values": [5, 6]}])
        self.assertEqual(run.differences(expected, expected), [])

    def test_a_smaller_launch_has_one_row_of_blocks(self):
        kernel = kernels.attention("attention")
        self.assertEqual(run.limit_grid(kernel, 4).grid, (4, 1, 1))
        self.assertEqual(run.limit_grid(kernel, None), kernel)


class WithoutGpu(unittest.TestCase):
    def test_a_missing_driver_is_said_in_one_line(self):
        with mock.patch("ctypes.CDLL", side_effect=OSError), self.assertRaises(driver.Unavailable) as caught:
            driver.Driver()
        self.assertEqual(str(caught.exception), "no GPU: there is no libcuda.so.1")


if __name__ == "__main__":
    unittest.main()
