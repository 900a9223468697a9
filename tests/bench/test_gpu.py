"""Tests of the parts of the GPU harness that need no GPU."""

import argparse
import ctypes
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().with_name("gpu")))

import driver
import emulated
import inputs
import intervals
import kernels
import manifest
import choice
import run
import sources
import tools
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
    LISTS = (variants.VARIANTS, variants.BUNDLED)

    def test_each_is_compared_with_one_that_is_run_too(self):
        for listed in self.LISTS:
            names = [variant.name for variant in listed]
            self.assertEqual(len(names), len(set(names)))
            self.assertEqual(names[0], "stock")
            for at, variant in enumerate(listed[1:], 1):
                self.assertIn(variant.base, names[:at])
                self.assertIn(variant.outputs_of, names[: at + 1])

    def test_what_keeps_values_is_compared_with_the_same_limit(self):
        for listed in self.LISTS:
            by_name = {variant.name: variant for variant in listed}
            kept = [variant for variant in listed if any("regalloc" in option for option in variant.options)]
            self.assertTrue(kept)
            for variant in kept:
                base = by_name[variant.base]
                self.assertEqual(base.limit, variant.limit)
                self.assertEqual(base.options, ())
                if variant.compiler == "ptx":
                    self.assertEqual(base.compiler, variant.of)

    def test_no_product_is_left_to_be_fused(self):
        text = "add.f32 %f1; mul.ftz.f32 %f2; sub.rn.f64 %d1; add.f64 %d1; mul.lo.s32 %r1; fma.rn.f32; add.bf16x2 %r2;"
        text += "atom.global.add.f32 %f1;"
        rounded = "add.rn.f32 %f1; mul.rn.ftz.f32 %f2; sub.rn.f64 %d1; add.rn.f64 %d1; mul.lo.s32 %r1; fma.rn.f32; "
        self.assertEqual(sources.with_rounding(text), rounded + "add.rn.bf16x2 %r2;atom.global.add.f32 %f1;")


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


class Intervals(unittest.TestCase):
    def test_a_median_lies_between_two_of_the_values(self):
        self.assertEqual(intervals.of_median(range(1, 16)), (8, 4, 12))
        self.assertEqual(intervals.of_median([3, 1, 2]), (2, 1, 3))

    def test_a_geometric_mean_of_equal_ratios_is_certain(self):
        for value in intervals.of_geometric_mean([2, 2, 2]):
            self.assertAlmostEqual(value, 2)
        mean, low, high = intervals.of_geometric_mean([0.5, 1, 2, 1])
        self.assertAlmostEqual(mean, 1)
        self.assertTrue(0.5 <= low < mean < high <= 2)


def record_in(folder, expected):
    """Returns a record of a kernel with three arguments: the output, the input, and the number of words in each of
    them."""
    pointers = [{"name": f"p{number}", "bytes": "00" * 8, "pointers": [[0, number]]} for number in (0, 1)]
    parameters = [*pointers, {"name": "n", "bytes": "04000000", "pointers": []}]
    buffers = [{"start": 0, "bytes": 256, "stored": [[0, 4, "u32"]]}, {"start": -256, "bytes": 512, "stored": []}]
    launch = {"kernel": "k", "grid": [1, 1, 1], "block": [4, 1, 1], "parameters": parameters, "buffers": buffers}
    Path(folder, "launch.json").write_text(json.dumps(launch))
    given = bytes(256) + bytes(256) + struct.pack("<4I", 5, 6, 7, 8).ljust(256, b"\0")
    Path(folder, "before.bin").write_bytes(given)
    Path(folder, "after.bin").write_bytes(struct.pack("<4I", *expected).ljust(256, b"\0") + given[256:])


class Records(unittest.TestCase):
    def test_pointers_count_from_where_the_buffer_begins(self):
        with tempfile.TemporaryDirectory() as folder:
            record_in(folder, (6, 7, 8, 9))
            given = inputs.of_record(folder)
        self.assertEqual([len(region.content) for region in given.regions], [256, 512])
        self.assertEqual([region.written for region in given.regions], [True, False])
        packed = given.pack([0x1000, 0x2000])
        self.assertEqual(packed, [struct.pack("<Q", 0x1000), struct.pack("<Q", 0x2100), struct.pack("<I", 4)])

    def test_values_count_as_the_emulators_within_a_tolerance(self):
        halves = struct.pack("<2H", 0x3F80, 1)
        expected = [(struct.pack("<2f", 1, 2), [[0, 2, "f32"]]), (b"", []), (halves, [[0, 1, "bf16"]])]
        found = [struct.pack("<2f", 1.0001, 2.1), struct.pack("<2H", 0x3F81, 9)]
        self.assertEqual(inputs.apart(expected, found), (3, 1))
        self.assertTrue(inputs.are_close(float("nan"), float("nan"), "f32"))
        self.assertFalse(inputs.are_close(float("inf"), 1.0, "f32"))
        self.assertFalse(inputs.are_close(1, 2, "u32"))


class FakeCuda:
    """A driver with a memory. Its kernels add the number in their code to each word."""

    def __init__(self):
        self.memory, self.end, self.codes, self.attributes, self.launched = bytearray(1 << 16), 256, [], [], []

    def __getattr__(self, name):
        return lambda *_: 0

    def cuDeviceGetCount(self, count):
        count._obj.value = 1
        return 0

    def cuMemAlloc_v2(self, address, size):
        address._obj.value, self.end = self.end, self.end + -(-size.value // 256) * 256
        return 0

    def cuMemcpyHtoD_v2(self, address, data, size):
        self.memory[address.value : address.value + size.value] = ctypes.string_at(data, size.value)
        return 0

    def cuMemcpyDtoH_v2(self, data, address, size):
        ctypes.memmove(data, bytes(self.memory[address.value : address.value + size.value]), size.value)
        return 0

    def cuModuleLoadData(self, module, code):
        self.codes.append(int(code.value))
        module._obj.value = len(self.codes)
        return 0

    def cuModuleGetFunction(self, function, module, name):
        function._obj.value = module.value
        return 0

    def cuFuncSetAttribute(self, function, attribute, value):
        self.attributes.append((attribute, value.value))
        return 0

    def cuLaunchKernel(self, function, *rest):
        *shape, shared, _stream, arguments, _extra = rest
        self.launched.append((tuple(shape), shared))
        output, given = (struct.unpack("<Q", ctypes.string_at(arguments[i], 8))[0] for i in (0, 1))
        count = struct.unpack("<I", ctypes.string_at(arguments[2], 4))[0]
        for at in range(0, 4 * count, 4):
            (value,) = struct.unpack_from("<I", self.memory, given + at)
            struct.pack_into("<I", self.memory, output + at, value + self.codes[function.value - 1])
        return 0

    def cuEventElapsedTime(self, milliseconds, *_):
        milliseconds._obj.value = 0.5
        return 0


class OnADriver(unittest.TestCase):
    def test_a_variant_that_writes_something_else_differs(self):
        fake = FakeCuda()
        with mock.patch("ctypes.CDLL", return_value=fake), tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            record_in(folder, (6, 7, 8, 10))
            for variant, code in (("stock", "1"), ("right", "1"), ("wrong", "2")):
                (folder / variant).mkdir()
                (folder / variant / "k.ptx").write_text(code)
            kernel = manifest.Kernel("k", "k", (1, 1, 1), (4, 1, 1), seed=1, shared=1 << 16)
            arguments = argparse.Namespace(input=folder, tool="tool", warm_up=1, repeat=7)
            record = lambda *_: shutil.copytree(folder, _[3], dirs_exist_ok=True) and ""  # noqa: E731
            with mock.patch("emulated.record", record):
                expected = {"stock": "stock", "right": "stock", "wrong": "stock"}
                result = run.measure(driver.Driver(), kernel, expected, arguments)
        self.assertEqual(result["verdicts"], {"stock": "same", "right": "same", "wrong": "differs"})
        self.assertEqual(result["differences"]["wrong"], [{"output": 0, "at": 0, "values": [6, 7]}])
        self.assertEqual(result["emulator"], (4, 1))
        self.assertEqual({len(times) for times in result["times"].values()}, {7})
        self.assertEqual(set(fake.launched), {((1, 1, 1, 4, 1, 1), 1 << 16)})
        self.assertEqual(fake.attributes, [(driver.MOST_DYNAMIC_SHARED, 1 << 16)] * 3)
        line = list(run.summary([result], [{"name": "wrong", "base": "stock"}]))[0]
        self.assertEqual(line[:6], ["wrong", "stock", "1", "0", "1", "0"])


def emulator():
    """Returns the tool if it is built and has an emulator."""
    tool = tools.nvptx_ra()
    try:
        done = subprocess.run([tool, "run", "--help"], check=False, capture_output=True, text=True)
    except OSError:
        return None
    return tool if "--record" in done.stdout else None


FAULT = ("setp.gt.u32", "setp.lt.u32")


@unittest.skipUnless(emulator(), "needs nvptx-ra: cargo build --release, or NVPTX_RA=…")
class ByEmulation(unittest.TestCase):
    KERNELS = Path(__file__).resolve().parents[1] / "ptx/kernels"

    def bundle(self, folder, name, fault):
        """Writes a bundle of a file's kernels: unchanged, renamed, and with a fault. Returns the kernels."""
        wrong = lambda text: text.replace(*fault)  # noqa: E731
        text = (self.KERNELS / f"{name}.ptx").read_text()
        self.assertNotEqual(wrong(text), text)
        renamed = subprocess.run(
            [emulator(), "ptx", str(self.KERNELS / f"{name}.ptx"), "--passes=nvptx-rename<rename-all>"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        listed = [variants.Variant(each, "ptx") for each in ("stock", "names", "fault")]
        for variant, content in zip(listed, (text, renamed, wrong(text)), strict=True):
            (folder / variant.name).mkdir()
            (folder / variant.name / f"{name}.ptx").write_text(content)
        (folder / "variants.json").write_text(variants.as_json(listed, {}))
        found = [kernel for kernel in kernels.KERNELS if kernel.example == name]
        drawn = [manifest.Kernel(k.name, name, (4, 1, 1), k.block, (), 1) for k in found]
        (folder / "manifest.json").write_text(manifest.dump([*found, *drawn]))
        return found, drawn

    def results(self, folder, *words):
        """Returns (exit status, run.py's results for the kernels, run.py's output)."""
        command = [sys.executable, run.__file__, "--input", str(folder), "--tool", emulator(), "--emulate"]
        command += ["--json", str(folder / "r.json"), *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        self.assertIn("by emulation", done.stdout, done.stderr)
        return done.returncode, json.loads((folder / "r.json").read_text())["kernels"], done.stdout

    def test_a_fault_is_found_and_what_is_right_passes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            found, drawn = self.bundle(folder, "bitonic_sort", FAULT)
            status, results, text = self.results(folder)
            self.assertEqual(status, 1, text)
            self.assertEqual(len(results), len(found) + len(drawn))
            for result in results:
                verdicts = result["verdicts"]
                self.assertEqual((verdicts["names"], verdicts["fault"]), ("same", "differs"), result)
            status, _, text = self.results(folder, "--variant", "names")
            self.assertEqual(status, 0, text)

    def test_a_record_has_what_the_kernel_stores(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _, (kernel, *_) = self.bundle(folder, "bitonic_sort", FAULT)
            ptx = emulated.ptx_of(folder, "stock", kernel)
            self.assertEqual(emulated.record(emulator(), ptx, kernel, folder / "of"), "")
            given = inputs.of_record(folder / "of")
            pairs = zip(given.regions, given.expected, strict=True)
            written = [content for region, (content, _) in pairs if region.written]
            values, differing = inputs.apart(given.expected, written)
            self.assertGreater(values, 100)
            self.assertEqual(differing, 0)
            before = [region.content for region in given.regions if region.written]
            self.assertGreater(inputs.apart(given.expected, before)[1], 100)


class WithoutGpu(unittest.TestCase):
    def test_a_missing_driver_is_said_in_one_line(self):
        with mock.patch("ctypes.CDLL", side_effect=OSError), self.assertRaises(driver.Unavailable) as caught:
            driver.Driver()
        self.assertEqual(str(caught.exception), "no GPU: there is no libcuda.so.1")


if __name__ == "__main__":
    unittest.main()
